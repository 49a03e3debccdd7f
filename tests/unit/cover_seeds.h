/* How many seeds tests of covering schedules take: FT_SEEDS and FT_SEED_START. */
#ifndef FT_TESTS_COVER_SEEDS_H
#define FT_TESTS_COVER_SEEDS_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* FT_SEEDS, else `seeds`; under AddressSanitizer, where a certified set takes about a second, that
 * divided by `share`. */
static inline uint64_t usual(uint64_t seeds, uint64_t share)
{
#if defined __SANITIZE_ADDRESS__
    seeds /= share;
#else
    (void)share;
#endif
    return number("FT_SEEDS", seeds);
}

#endif
