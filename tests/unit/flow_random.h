/* Random numbers for tests over programs, whose names oracle/generate.h has for traces. */
#ifndef FT_TESTS_FLOW_RANDOM_H
#define FT_TESTS_FLOW_RANDOM_H

#include <stdint.h>

typedef struct flow_random {
    uint64_t state;
} flow_random;

/* Marsaglia: Xorshift RNGs, with a multiplication behind. */
static inline uint32_t flow_random_below(flow_random *r, uint32_t bound)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return (uint32_t)((r->state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % bound;
}

#endif
