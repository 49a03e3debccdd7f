/* Levels: integers that the sections of one lock change and nobody else: a count of items, a flag,
 * the ends of a queue; or atomic accesses, each of which is a section of its own. The level of a
 * variable is its value, counted from what it was at first; for standstills, where its values never
 * come again (pointers of a list), how many changes it took to come to a value.
 *
 * Where each write's thread has read the variable in the same section, or remembers it and nobody
 * else can have changed it since, or gives back what it took (a flag for `busy`), what a write
 * changes is the same in every schedule: in every state the level is the sum of what the threads
 * added up to where they are. A level is blind where that is not so. */
#ifndef FT_PROOFS_LEVELS_H
#define FT_PROOFS_LEVELS_H

#include "problem/problem.h"

#define FT_LEVELS_MOST  16u
#define FT_LEVEL_ATOMIC UINT32_MAX /* instead of a lock */

/* A write in a section of the lock. */
typedef struct ft_level_change {
    uint32_t event;
    bool blind;     /* `before` is not known */
    int64_t memory; /* bits: what its thread knows of it, from its last access or the start */
    int64_t before, after;
} ft_level_change;

typedef struct ft_level {
    uint32_t variable, lock;
    uint64_t initial; /* bits */
    uint32_t leading; /* accesses up to this event are initialisation, and say nothing
                         of the level; FT_NO_EVENT: none is */
    bool blind;       /* one of the changes is */
    FT_VEC(ft_level_change) changes; /* in observed order */
} ft_level;

/* A cond-wait, and the levels while its thread gives the lock back. */
typedef struct ft_level_wait {
    uint32_t event, condition;
    uint32_t lock;  /* that the wait gives back; UINT32_MAX: another kind of lock, or none */
    uint32_t known; /* a bit for each level that is */
    int64_t at[FT_LEVELS_MOST];
} ft_level_wait;

typedef struct ft_levels {
    ft_level all[FT_LEVELS_MOST];
    uint32_t n;
    FT_VEC(ft_level_wait) waits; /* in observed order */
} ft_levels;

/* Embedded: zero-initialise, then ft_levels_release. What is read before waits for conditions: */
void ft_levels_find(ft_levels *levels, const ft_problem *problem);
/* Or those of levels->all[0 .. n - 1], whose variables (each of them once) and locks are set. What
 * is none has no changes then. */
void ft_levels_follow(ft_levels *levels, const ft_problem *problem);
void ft_levels_release(ft_levels *levels);

/* The wait of that event; NULL: it is none. */
const ft_level_wait *ft_levels_wait(const ft_levels *levels, uint32_t event);

#endif
