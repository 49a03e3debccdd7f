/* The search: every execution of a program up to equivalence, each once.
 *
 * A node is a configuration C, events D that are explored already, and one event e that C enables.
 * Its left subtree has the executions that contain C and e, its right subtree those that contain C
 * and none of D and e. A right subtree exists if there is an *alternative*: a configuration J with
 * C whose events conflict with all of D and e (POR-SE §4, notes §2). With `partial` alternatives
 * only e itself must be in conflict: quick to find, never misses an execution, and may now and then
 * start a run that leads nowhere new. Whether a node has a right subtree is decided for good when
 * its left subtree is done, because all events that can be alternatives have been met then.
 *
 * Open inputs. A BRANCH has all its arms everywhere, though inputs may rule one out after the arms
 * that other threads took. A run ends INFEASIBLE where it takes such an arm: it has no class, and
 * none is lost. Branches alone restrict inputs, and a branch conflicts with its other arms alone:
 * so whatever conflicts with an event of a possible configuration can be met without leaving the
 * possible ones, one arm of each branch is always possible, and they all are known. A run that an
 * assumption discards goes on to its end without the thread, and is not a class either.
 *
 * Complete alternatives start no run in vain, and one run at a time.
 *
 * What is found does not depend on the executor's width, nor on its choices; the order does.
 * Imports: base. */
#ifndef FT_EXPLORE_SEARCH_H
#define FT_EXPLORE_SEARCH_H

#include "explore/executor.h"
#include "explore/subtree.h"

typedef struct ft_x_counts {
    uint64_t runs;       /* that the executor made */
    uint64_t classes;    /* maximal configurations */
    uint64_t redundant;  /* runs that ended in no new class */
    uint64_t infeasible; /* runs that no input takes */
    uint64_t discarded;  /* runs in which an assumption does not hold */
    uint64_t stuck;      /* classes in which threads wait for ever */
    uint64_t cut;        /* runs that a bound ended */
    uint64_t lingering;  /* classes in which a thread stood before LINGER (watch.h) */
    uint64_t cut_off;    /* runs that went no further than to cutoffs */
    uint64_t strayed;    /* runs that did not repeat what an equal one did */
    uint64_t events;     /* of ft_x_search: that were met, counted anew in each subtree */
    uint64_t most_events, most_bytes; /* the most that were kept at a time, and all beside */
} ft_x_counts;

typedef struct ft_x_options {
    bool complete;     /* alternatives to all of D, not to its newest event alone */
    bool generic;      /* the generic rule alone, without fast forms (extensions.h) */
    bool cutoffs;      /* does not go on where a state was met before (cutoffs.h) */
    uint64_t max_runs; /* 0: no bound */
    /* Called for each run, in the order that the search alone decides; false ends the search. */
    bool (*on_run)(void *context, const ft_x_run *run);
    /* Called for each run that strayed, with the first step that is not as it was. */
    void (*on_stray)(void *context, const ft_x_run *run, size_t step);
    /* Called for each new class, with its run and its configuration (NULL where the search keeps no
     * unfolding); false ends the search. */
    bool (*on_class)(void *context, const ft_x_run *run, const ft_unfolding *u,
                     const ft_configuration *c);
    void *context;
    /* Asked before each run: whether to stop (a time limit, Ctrl-C). May be NULL. */
    bool (*should_stop)(void *context);
} ft_x_options;

/* Does a thread of the run stand before LINGER at some time? Then what it would do in further
 * rounds was not tried, and the search is not one of every schedule. */
bool ft_x_run_lingers(const ft_x_run *run);
/* Did the run end in a live-lock: stuck, and some threads poll for what nobody will change? */
bool ft_x_run_is_live_lock(const ft_x_run *run);

typedef struct ft_x_tree ft_x_tree;

/* The search of one subtree (subtree.h; copied; NULL: of everything). With complete alternatives
 * only everything. The executor, the options and the counts (which are added to) outlive it. */
ft_x_tree *ft_x_tree_new(const ft_x_executor *executor, const ft_x_options *options,
                         ft_x_counts *counts, const ft_x_subtree *subtree);
void ft_x_tree_free(ft_x_tree *tree);
/* Goes on until it has finished or a bound stops it; may be called again. *finished: every class
 * was found; false where a bound or on_class ended it before, or a run was cut or strayed. */
ft_status ft_x_tree_run(ft_x_tree *tree, bool *finished, ft_error *err) FT_MUST_CHECK;
bool ft_x_tree_ended(const ft_x_tree *tree);    /* nothing is left to run */
bool ft_x_tree_is_whole(const ft_x_tree *tree); /* no run was cut or strayed */
/* How many subtrees wait to be searched. */
size_t ft_x_tree_open(const ft_x_tree *tree);
/* Gives up to `most` of them away, those nearest to the root first: appends their names, which the
 * caller releases. The rest of the search goes on without them, and has ended if it has no more. */
void ft_x_tree_hand_back(ft_x_tree *tree, size_t most, ft_x_subtrees *to);
/* Appends the names of the right subtrees that were proposed since the last call; of those that
 * have one key (ft_x_subtree_key) over all tasks, one is to be searched. */
void ft_x_tree_proposals(ft_x_tree *tree, ft_x_subtrees *to);
size_t ft_x_tree_bytes(const ft_x_tree *tree);
size_t ft_x_tree_events(const ft_x_tree *tree);

/* All of it, by the executor's threads. Fails if the executor does. */
ft_status ft_x_search(const ft_x_executor *executor, const ft_x_options *options,
                      ft_x_counts *counts, bool *finished, ft_error *err) FT_MUST_CHECK;

#endif
