/* What the runtime and the maker both expect of the next event, so that what comes as expected need
 * not be written: only how many such events there were.
 *
 * Each thread expects the site that followed last time behind the site it is at (behind a return,
 * behind the call that it returns from). Each site expects its address and its value to grow by as
 * much as they did; that changes when they have grown twice by something else. A site whose last
 * unexpected value was that of the event before expects this to be so again: it copies. */
#ifndef FT_RECORD_PREDICT_H
#define FT_RECORD_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "raw.h"

/* One cache line. */
typedef struct ft_raw_site {
    uint64_t key; /* return address | code << FT_RAW_CODE_SHIFT */
    uint64_t address, value;
    uint64_t delta, leap; /* of the value: expected; the last one that was not */
    int32_t stride, jump; /* the same of the address */
    uint32_t next;        /* the site behind it */
    uint32_t after;       /* call: the site behind the return; access: 1: it copies */
    uint64_t change;      /* of an update: written minus read */
} ft_raw_site;

enum { FT_RAW_CODE_SHIFT = 56 };

static inline unsigned ft_raw_code(const ft_raw_site *site)
{
    return (unsigned)(site->key >> FT_RAW_CODE_SHIFT);
}

static inline uint64_t ft_raw_pc(const ft_raw_site *site)
{
    return site->key & ((UINT64_C(1) << FT_RAW_CODE_SHIFT) - 1);
}

static inline uint64_t ft_raw_next_address(const ft_raw_site *site)
{
    return site->address + (uint64_t)(int64_t)site->stride;
}

/* `last`: of the access before, whatever its thread; 0 at first. */
static inline uint64_t ft_raw_next_value(const ft_raw_site *site, uint64_t last)
{
    uint64_t value = site->value + site->delta;
    return site->after ? last : value;
}

/* The site learns of an access that it did not expect. */
static inline void ft_raw_learn_address(ft_raw_site *site, uint64_t address)
{
    int32_t jump = (int32_t)(address - site->address);
    if (jump == site->jump) site->stride = jump;
    site->jump = jump;
    site->address = address;
}

static inline void ft_raw_learn_value(ft_raw_site *site, uint64_t value, uint64_t last)
{
    site->after = value == last;
    uint64_t leap = value - site->value;
    if (leap == site->leap) site->delta = leap;
    site->leap = leap;
    site->value = value;
}

static inline uint64_t ft_raw_zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63);
}

static inline uint64_t ft_raw_unzigzag(uint64_t coded)
{
    return coded >> 1 ^ (uint64_t) - (int64_t)(coded & 1);
}

/* Length codes: bytes of a difference. */
static inline unsigned ft_raw_length(unsigned code)
{
    return code + (code == 7);
}

/* The least code from 1 for that number. */
static inline unsigned ft_raw_length_code(uint64_t coded)
{
    unsigned bytes = (71u - (unsigned)__builtin_clzll(coded | 1)) / 8;
    return bytes > 6 ? 7 : bytes;
}

#endif
