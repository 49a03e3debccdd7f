/* Intervals: bounds of the values that events read and write in any schedule, under the model
 * ctp, from mutual exclusion, program order and the terms (Ganai and Wang, Interval analysis for
 * concurrent trace programs using transaction sequence graphs, 2010; their §4).
 *
 * A pipeline: steps.h cuts the threads into steps, transactions.h finds those that need not be
 * interrupted, graph.h makes a graph of them, ranges.h carries ranges along it. interval.h is the
 * domain, with its transfer functions in transfer.c; evaluate.h has terms and conditions.
 *
 * Not for restricting a search under a context bound (the schedule of a class that keeps to the
 * transactions may switch more often than another one), nor for claims about two threads that are
 * somewhere at once (a state between transactions is not visited).
 *
 * Imports: problem, common/base, common/term. */
#ifndef FT_INTERVALS_INTERVALS_H
#define FT_INTERVALS_INTERVALS_H

#include "reduce/intervals/ranges.h"

typedef struct ft_intervals {
    const ft_problem *problem;
    ft_stepping *steps;
    ft_transactions *transactions;
    ft_graph *graph;
    ft_ranges *ranges;
    double ms;
} ft_intervals;

typedef struct ft_intervals_options {
    const uint8_t *cone; /* as for ft_stepping_options */
    const ft_probe *probes;
    uint32_t n_probes;
    uint32_t most_steps; /* beyond any of these the analysis is left out */
    uint64_t work;
    double ms;
} ft_intervals_options;

/* Some 50 ms at most. */
ft_intervals_options ft_intervals_limits(void);

/* NULL: not under ctp, the trace has no terms, or it is beyond a limit. */
ft_intervals *ft_intervals_new(const ft_problem *problem, const ft_intervals_options *options);
void ft_intervals_free(ft_intervals *intervals); /* accepts NULL */

/* What event e's access i reads or writes, as a member of a schedule. False: nothing is known of
 * it, or no schedule executes e. */
bool ft_intervals_access(const ft_intervals *intervals, uint32_t e, uint32_t i, ft_range *range);
/* Is the assertion's condition true wherever it is next? */
bool ft_intervals_hold(const ft_intervals *intervals, uint32_t assertion);

/* Is the claim's term true wherever its event is next? Of an ASSERTION by these intervals; of a
 * CONDITION with others, made for it. */
bool ft_intervals_prove(const ft_intervals *intervals, const ft_claim *claim,
                        const ft_intervals_options *options);

#endif
