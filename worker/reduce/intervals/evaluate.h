/* Terms over ranges: what a term can be where each variable is in its range, and what a condition
 * says of the variables where it holds. */
#ifndef FT_INTERVALS_EVALUATE_H
#define FT_INTERVALS_EVALUATE_H

#include "ranges/interval.h"

#define FT_NO_SLOT UINT32_MAX

/* Per term of a pool, over all evaluations so far: its range, and FT_WRAPS_*. */
typedef struct ft_term_ranges {
    ft_range *range; /* [terms + 1]; empty: never evaluated */
    uint8_t *wraps;
} ft_term_ranges;

/* One state of all variables, by slot, and one thread's view of it. */
typedef struct ft_evaluation {
    const ft_term_pool *pool;
    const ft_range_domain *domain;
    ft_range *state;
    const uint32_t *shared_slot, *local_slot; /* by variable; FT_NO_SLOT: anything */
    ft_range *memo;                           /* [terms + 1] */
    uint32_t *stamp;                          /* likewise: the memo is of the state `now` */
    uint32_t now;
    ft_term_ranges *seen; /* added to; NULL: not wanted */
} ft_evaluation;

/* The terms of the pool must not grow meanwhile. */
void ft_evaluation_init(ft_evaluation *evaluation, const ft_term_pool *pool,
                        const ft_range_domain *domain, ft_term_ranges *seen);
void ft_evaluation_release(ft_evaluation *evaluation);
/* The state, or what is in it, has changed. */
void ft_evaluation_move(ft_evaluation *evaluation, ft_range *state);

/* Empty: undefined in every state. */
ft_range ft_evaluate(ft_evaluation *evaluation, ft_term term);
/* The state where the condition has this value: ranges are met with what it says. False: nowhere.
 */
bool ft_refine(ft_evaluation *evaluation, ft_term condition, bool value);

#endif
