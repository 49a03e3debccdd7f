/* Exploring a program: the search over schedules (common/explore) on the native executor
 * (record/native), from options to failing runs and the word for what was done.
 *
 *   session.c   the search: budget, progress, what came of it    failing.c   failing runs, the
 * choice that decides order.c     from a failing run to an order of actions    words.c     the
 * lines for people
 *
 * A failing run is recorded again under its order of actions (raw/follow.h), and its trace is
 * checked like any other: so reports, fingerprints, baselines and replays need nothing of their
 * own. What was observed in such a run has the status `explored`.
 *
 * Imports: options, terminal, record/maker/symbols, record/native, record/raw, common/base,
 * common/explore. */
#ifndef FT_CLI_EXPLORING_H
#define FT_CLI_EXPLORING_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "explore/plan.h"
#include "native/native.h"
#include "options/options.h"

/* The best run with a failure: of the fewest preemptions, then the fewest steps, then the first by
 * its picks. */
typedef struct ft_failing {
    ft_native_failure failure; /* its texts are owned by the list's owner */
    char *text, *module;       /* of the failure: what it says and where */
    uint64_t number;           /* ft_x_run.result */
    uint32_t preemptions;
    FT_VEC(ft_x_pick) picks;
    bool confirmed;   /* its picks lead to it again */
    ft_strbuf order;  /* raw/follow.h; empty where it is not confirmed */
    ft_strbuf choice; /* for people: the first choice that decides; "" where none was found */
} ft_failing;

typedef FT_VEC(ft_failing) ft_failing_list;

typedef struct ft_exploration {
    ft_x_outcome outcome;
    ft_failing_list failing; /* by preemptions, steps, picks */
    size_t races;            /* pairs of places */
    ft_exploring_grade grade;
    char *why;               /* not an earlier grade; "": it is the first */
    char *refused, *strayed; /* the first such call, and what differed; NULL: none */
    char *lingering;         /* FILE:LINE of the first loop whose rounds were cut; NULL: none */
    double seconds;          /* that it took */
    uint32_t steps, polls;   /* that a run may have; rounds in vain of a loop that polls */
} ft_exploration;

/* Explores for so many seconds at most (0: no bound); the rest is said by the options of `explore`.
 * FT_USAGE: the program cannot be explored; the message says why. The exploration is to be released
 * whatever the status. */
ft_status ft_exploring_run(const ft_options *options, double seconds, ft_exploration *exploration,
                           ft_error *err) FT_MUST_CHECK;
void ft_exploration_release(ft_exploration *exploration);

/* Was every schedule run, without an "apart from"? */
bool ft_exploration_is_whole(const ft_exploration *exploration);
/* Appends one line without its end: "every schedule (6) was run: nothing found". */
void ft_exploration_print(const ft_exploration *exploration, ft_strbuf *out);
/* Appends what the failure is: "exit code 1", "signal 6 (Aborted)". */
void ft_failing_print(const ft_failing *failing, ft_strbuf *out);

/* ---- failing.c: for session.c alone */

/* Keeps the run if it is the best one with its failure. */
void ft_failing_note(ft_failing_list *all, const ft_native *native, const ft_x_world *world,
                     ft_x_walk *walk, const ft_x_run *run);
/* Sorts; runs each again, and finds its order and the choice that decides. */
ft_status ft_failing_conclude(ft_failing_list *all, const ft_native *native,
                              const ft_x_executor *executor, ft_error *err) FT_MUST_CHECK;

/* ---- order.c */

/* The order of actions of the run that the executor finished last. */
void ft_order_print(const ft_native *native, const ft_x_run *run, ft_strbuf *out);

#endif
