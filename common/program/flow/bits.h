/* Sets of small numbers as words of bits, for the analyses of this folder and their users. */
#ifndef FT_PROGRAM_FLOW_BITS_H
#define FT_PROGRAM_FLOW_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* The words that hold n bits, at least one. */
static inline uint32_t ft_bits_words(uint32_t n)
{
    return n / 64 + 1;
}

static inline bool ft_bits_has(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* Returns whether the number is new. */
static inline bool ft_bits_add(uint64_t *bits, uint32_t i)
{
    bool fresh = !ft_bits_has(bits, i);
    bits[i / 64] |= UINT64_C(1) << i % 64;
    return fresh;
}

/* Returns whether a number is new in `to`. */
static inline bool ft_bits_join(uint64_t *to, const uint64_t *from, uint32_t words)
{
    bool changed = false;
    for (uint32_t w = 0; w < words; w++) {
        changed |= (from[w] & ~to[w]) != 0;
        to[w] |= from[w];
    }
    return changed;
}

static inline bool ft_bits_meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & b[w]) return true;
    return false;
}

static inline bool ft_bits_empty(const uint64_t *bits, uint32_t words)
{
    return !ft_bits_meet(bits, bits, words);
}

#endif
