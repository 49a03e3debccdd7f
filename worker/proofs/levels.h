/* Levels: integers that only the sections of one lock change: a count of items, a flag, the ends of
 * a queue; or that only atomic accesses change, each of which is a section of its own. The level of
 * a variable is its value less its initial value. Proofs about stuck threads also count the changes
 * that lead to a value, where no value comes again (pointers of a list).
 *
 * A write changes the level by the same amount in every schedule where its thread has read the
 * variable in the same section, or remembers a value that no other thread can have changed since,
 * or returns what it took (a `busy` flag). Then the level of every state is the sum of what the
 * threads have added so far. A level with another write is blind. */
#ifndef FT_PROOFS_LEVELS_H
#define FT_PROOFS_LEVELS_H

#include "problem/problem.h"

#define FT_LEVELS_MOST  16u
#define FT_LEVEL_ATOMIC UINT32_MAX /* instead of a lock */

/* A write in a section of the lock. */
typedef struct ft_level_change {
    uint32_t event;
    bool blind;     /* `before` is not known */
    int64_t memory; /* bits: the value of the thread's last access, or the initial one */
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

/* A cond-wait, and the levels at the time when its thread releases the lock. */
typedef struct ft_level_wait {
    uint32_t event, condition;
    uint32_t lock;  /* that the wait releases; UINT32_MAX: another kind of lock, or none */
    uint32_t known; /* a bit for each level that is */
    int64_t at[FT_LEVELS_MOST];
} ft_level_wait;

typedef struct ft_levels {
    ft_level all[FT_LEVELS_MOST];
    uint32_t n;
    FT_VEC(ft_level_wait) waits; /* in observed order */
} ft_levels;

/* Embedded: zero-initialise, then ft_levels_release. Finds the levels of the variables that threads
 * access shortly before they wait for conditions. */
void ft_levels_find(ft_levels *levels, const ft_problem *problem);
/* Fills levels->all[0 .. n - 1], whose variables (each of them once) and locks are set. A variable
 * that is not a level has no changes then. */
void ft_levels_follow(ft_levels *levels, const ft_problem *problem);
void ft_levels_release(ft_levels *levels);

/* The invariant: changes and waits are in observed order; a level with a blind change is blind. */
bool ft_levels_are_sound(const ft_levels *levels);

/* The wait of that event; NULL: the event is not a wait. */
const ft_level_wait *ft_levels_wait(const ft_levels *levels, uint32_t event);

#endif
