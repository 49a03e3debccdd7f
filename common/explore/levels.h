/* Levels of preemptions: first every execution without a preemption, then those with one, ...
 *
 * A preemption is a step of another thread while the running one could go on. A level is complete
 * only if every class was met that has a linearisation with at most that many preemptions. Cutting
 * preemptions inside the search by alternatives loses classes; so levels are enumerated, and never
 * go on from a ⟨configuration, running thread⟩ that was reached before with as few preemptions
 * (notes on symbolic partial-order execution, "Levels"). A class is met once for each thread that
 * may end it, not once for each of its linearisations.
 *
 * Levels find bugs of few preemptions early; ft_x_search (search.h) is the quicker way to all
 * classes. */
#ifndef FT_EXPLORE_LEVELS_H
#define FT_EXPLORE_LEVELS_H

#include "explore/search.h"

typedef struct ft_x_levels_result {
    uint32_t complete;  /* levels that are complete: 0 none, 1 level 0, 2 levels 0 and 1, ... */
    bool all;           /* no level has more: every class was met */
    uint64_t open_runs; /* of the first level that is not complete */
} ft_x_levels_result;

/* Explores level by level, up to `last`. options->complete does not matter. */
ft_status ft_x_levels(const ft_x_executor *executor, const ft_x_options *options, uint32_t last,
                      ft_x_counts *counts, ft_x_levels_result *result, ft_error *err) FT_MUST_CHECK;

#endif
