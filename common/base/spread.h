/* Delays that differ from one process to the next, so that those that failed together do not all
 * try again at once. */
#ifndef FT_BASE_SPREAD_H
#define FT_BASE_SPREAD_H

#include <stdint.h>
#include <sys/random.h>

/* Three quarters of it to all of it, at random. */
static inline uint64_t ft_spread(uint64_t ms)
{
    unsigned char chance = 0;
    if (getrandom(&chance, 1, 0) != 1) chance = 0;
    return ms - ms / 4 * chance / 255;
}

#endif
