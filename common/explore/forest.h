/* The search as a forest: subtrees (subtree.h) that are searched side by side, each with an
 * unfolding of its own, which is given back when the subtree is done.
 *
 * The work is done in rounds. In each, every one of a fixed number of *lanes* makes a number of
 * runs; between rounds, what was proposed is compared and subtrees are divided and dealt out. None
 * of it depends on how many threads work on the lanes, so neither does what was run when the search
 * ends by itself or by its number of runs. A subtree whose unfolding has grown beyond a bound is
 * handed back in parts, which begin with nothing: so memory is bounded by the lanes, not by the
 * number of classes. */
#ifndef FT_EXPLORE_FOREST_H
#define FT_EXPLORE_FOREST_H

#include "explore/search.h"

typedef struct ft_x_forest ft_x_forest;

/* The executor, the options (complete: false) and the counts (which are added to between rounds)
 * outlive it. With executor->threads above 1 the callbacks come from several threads, never two at
 * a time. It begins with everything. */
ft_x_forest *ft_x_forest_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts);
void ft_x_forest_free(ft_x_forest *forest); /* accepts NULL */

/* Puts a subtree in place of everything, or beside those that were put there before; copied. Before
 * the first run. *is_part*: others search the rest of the program, so right subtrees outside of
 * this one that are proposed are kept apart; else they are searched here too. */
void ft_x_forest_add(ft_x_forest *forest, const ft_x_subtree *subtree, bool is_part);
/* Ends the search and appends the names of the subtrees that are open (they are the caller's).
 * Searched by whomever, they have what this search would still have found. */
void ft_x_forest_take(ft_x_forest *forest, ft_x_subtrees *to);
/* Appends the proposals that were kept apart, each once, and forgets them. */
void ft_x_forest_proposals(ft_x_forest *forest, ft_x_subtrees *to);

/* Runs of a lane in the first round and in later ones, and the events that a subtree may have
 * before it is handed back in parts. Before the first run; the defaults serve well. */
void ft_x_forest_grain(ft_x_forest *forest, uint32_t first, uint32_t later, uint64_t events);

/* As ft_x_tree_run. */
ft_status ft_x_forest_run(ft_x_forest *forest, bool *finished, ft_error *err) FT_MUST_CHECK;
bool ft_x_forest_ended(const ft_x_forest *forest);    /* nothing is left to run */
bool ft_x_forest_is_whole(const ft_x_forest *forest); /* no run was cut or strayed */

typedef struct ft_x_forest_size {
    uint64_t events, bytes;           /* at the end of the last round */
    uint64_t all_events;              /* that were met, also those that were given back */
    uint64_t most_events, most_bytes; /* at the end of any round */
    uint64_t subtrees;                /* that were begun */
} ft_x_forest_size;
ft_x_forest_size ft_x_forest_size_of(const ft_x_forest *forest);
/* The counts of events and bytes, which are of all rounds. */
void ft_x_forest_count(const ft_x_forest *forest, ft_x_counts *counts);

#endif
