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
 * classes. Configurations are distinguished by their names (names.h), so no events are kept:
 * about 30 bytes a place, and the prefixes that are still to run. */
#ifndef FT_EXPLORE_LEVELS_H
#define FT_EXPLORE_LEVELS_H

#include "explore/names.h"
#include "explore/search.h"

enum { FT_X_LEVELS = 64 };

typedef struct ft_x_levels_result {
    uint32_t complete;  /* levels that are complete: 0 none, 1 level 0, 2 levels 0 and 1, ... */
    bool all;           /* no level has more: every class was met */
    bool done;          /* there is nothing more to run, complete or not */
    uint64_t open_runs; /* of the first level that is not complete */
    uint64_t classes;   /* of the complete levels */
    uint64_t met;       /* classes, those of the level at hand included */
} ft_x_levels_result;

typedef struct ft_x_levels ft_x_levels;

/* The executor, options (options->complete does not matter) and counts outlive it. `classes` gets
 * the name of each class; the caller's, and may have some. */
ft_x_levels *ft_x_levels_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts, ft_x_names *classes);
void ft_x_levels_free(ft_x_levels *levels);
/* Goes on level by level up to `last`, until a bound stops it; may be called again. A level in
 * which a run was cut or strayed is not complete, and none behind it. */
ft_status ft_x_levels_run(ft_x_levels *levels, uint32_t last, ft_x_levels_result *result,
                          ft_error *err) FT_MUST_CHECK;
size_t ft_x_levels_bytes(const ft_x_levels *levels);

/* All of it. */
ft_status ft_x_levels_all(const ft_x_executor *executor, const ft_x_options *options, uint32_t last,
                          ft_x_counts *counts, ft_x_levels_result *result,
                          ft_error *err) FT_MUST_CHECK;

#endif
