/* Exclusion by semaphores: two threads are never at their places at once, for lack of units. A
 * thread has the units that it waited for and has not posted since; posts that hand units from one
 * semaphore to another (an empty slot, a full slot) neither create nor lose any.
 *
 * Let G be a set of semaphores. For each thread let h be the number of units of G that it waited
 * for so far, less those that it posted. The sum of all h is the initial count of G less its
 * present count, so it is at most the initial count. Two threads are not at their places at once
 * where their h there, together with the least h of each other thread, exceed that. The sets are
 * each semaphore alone, and semaphores that are tied by a unit that some thread took from one and
 * gave to another.
 *
 * Cost. A pass over the trace; a claim: log n for each set that both threads use. */
#ifndef FT_PROOFS_TOKENS_H
#define FT_PROOFS_TOKENS_H

#include <stdbool.h>

#include "order/order.h"

typedef struct ft_tokens ft_tokens;

/* A thread is next at one of the positions from .. to; to UINT32_MAX: at any from `from` on, or at
 * its end. */
typedef struct ft_tokens_place {
    uint32_t thread, from, to;
} ft_tokens_place;

/* NULL: the trace has no semaphores. Both must outlive it. */
ft_tokens *ft_tokens_new(const ft_trace *trace, const ft_order *order);
void ft_tokens_free(ft_tokens *tokens); /* accepts NULL */
/* The invariant: no set has a negative count, and a thread's uses ascend by set. */
bool ft_tokens_are_sound(const ft_tokens *tokens);

/* Are the two threads, which differ, at these places at once in no schedule? */
bool ft_tokens_exclude(const ft_tokens *tokens, const ft_tokens_place *a, const ft_tokens_place *b);

#endif
