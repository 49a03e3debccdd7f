/* Exclusion by semaphores. A thread that has waited for a unit of some semaphore and has not posted
 * one since has it; handed from semaphore to semaphore (an empty slot, a full slot) units are
 * neither made nor lost.
 *
 * Let G be a set of semaphores. Of each thread let h be how many units of G it waited for so far,
 * less those that it posted. All h together are what G began with less what its semaphores hold
 * now, so no more than what it began with. Two threads are not at their places at once where their
 * h there, with the least that each other thread's h can be, add up to more. The sets that are
 * looked at: each semaphore alone, and those that are tied by a unit that some thread got from one
 * and gave to another.
 *
 * Cost. A pass over the trace; a claim: log n for each set that both threads use. */
#ifndef FT_PROOFS_TOKENS_H
#define FT_PROOFS_TOKENS_H

#include <stdbool.h>

#include "order/order.h"

typedef struct ft_tokens ft_tokens;

/* A thread is next at one of these positions; to UINT32_MAX: or at any behind `from`, or at its
 * end. */
typedef struct ft_tokens_place {
    uint32_t thread, from, to;
} ft_tokens_place;

/* NULL: the trace has no semaphores. Both must outlive it. */
ft_tokens *ft_tokens_new(const ft_trace *trace, const ft_order *order);
void ft_tokens_free(ft_tokens *tokens); /* accepts NULL */

/* Are the two threads, which differ, in no schedule at such places at once? */
bool ft_tokens_exclude(const ft_tokens *tokens, const ft_tokens_place *a, const ft_tokens_place *b);

#endif
