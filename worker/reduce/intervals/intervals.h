/* Intervals: bounds of the values that events read and write in any schedule, under the model
 * ctp, from mutual exclusion, program order and the terms (Ganai and Wang, Interval analysis for
 * concurrent trace programs using transaction sequence graphs, 2010; their §4).
 *
 * A pipeline: steps.h cuts the threads into steps, transactions.h finds those that need not be
 * interrupted, graph.h makes a graph of them, ranges.h carries ranges along it. evaluate.h has
 * terms and conditions over the domain of ranges/interval.h.
 *
 * Not for restricting a search under a context bound (the schedule of a class that keeps to the
 * transactions may switch more often than another one), nor for claims about two threads that are
 * somewhere at once (a state between transactions is not visited).
 *
 * Imports: problem, ranges, common/base. */
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

/* Why the analysis was left out. symbol, words */
#define FT_INTERVALS_CUT_TABLE(X)                                                                  \
    X(NONE, "")                                                                                    \
    X(FINITE, "the sets of values are finite")                                                     \
    X(EVENTS, "more than 20,000 events")                                                           \
    X(STEPS, "too many steps")                                                                     \
    X(TRANSACTIONS, "too many pairs of transactions")                                              \
    X(WORK, "too many transactions")                                                               \
    X(TIME, "no time left")
typedef enum ft_intervals_cut {
#define FT_ROW(symbol, words) FT_INTERVALS_CUT_##symbol,
    FT_INTERVALS_CUT_TABLE(FT_ROW)
#undef FT_ROW
        FT_INTERVALS_CUTS
} ft_intervals_cut;

const char *ft_intervals_cut_words(ft_intervals_cut cut);

typedef struct ft_intervals_options {
    const uint8_t *cone; /* as for ft_stepping_options */
    const ft_probe *probes;
    uint32_t n_probes;
    uint32_t most_steps; /* beyond any of these the analysis is left out */
    uint64_t work;
    double ms;
    ft_mat_kind kind;           /* the graph */
    ft_propagation propagation; /* along it */
    ft_intervals_cut *cut;      /* made the limit that was passed, else NONE; NULL: not wanted */
} ft_intervals_options;

/* Traces with more events are not looked at, not even for a cone. */
#define FT_INTERVALS_EVENTS 20000u

/* Some 50 ms at most; feasible transactions, with positions. */
ft_intervals_options ft_intervals_limits(void);

/* NULL: not under ctp, the trace has no terms, or it is beyond a limit. */
ft_intervals *ft_intervals_new(const ft_problem *problem, const ft_intervals_options *options);
void ft_intervals_free(ft_intervals *intervals); /* accepts NULL */

/* What event e's access i reads or writes, as a member of a schedule. False: nothing is known of
 * it, or no schedule executes e. */
bool ft_intervals_access(const ft_intervals *intervals, uint32_t e, uint32_t i, ft_range *range);
/* May the read, access i of event e, return what event w wrote (FT_NO_EVENT: the initial value), by
 * the model (ft_problem_allows) and by problem->intervals? */
bool ft_intervals_may_read(const ft_problem *problem, uint32_t e, uint32_t i, uint32_t w);

/* Is the claim's term true wherever its event is next? Of an ASSERTION by these intervals; of a
 * CONDITION by others, made for it. why (may be NULL): the ranges by which it is true are added. */
bool ft_intervals_prove(const ft_intervals *intervals, const ft_claim *claim,
                        const ft_intervals_options *options, ft_strbuf *why);
/* Likewise by intervals of the options' cone, made for the claim. */
bool ft_intervals_prove_alone(const ft_problem *problem, const ft_claim *claim,
                              const ft_intervals_options *options, ft_strbuf *why);

#endif
