/* Exploring a program: the search over schedules (common/explore) on the native executor
 * (record/native), from options to failing runs and the word for what was done.
 *
 *   session.c   the search: budget, progress, what came of it
 *   input.c     standard input, the same for all runs
 *   rest.c      an exploration that was interrupted, as a file
 *   kept.c      runs that are worth a recording
 *   needs.c     sleeps and time limits that a run needs to be over first
 *   failing.c   failing runs, the choice that decides
 *   racing.c    runs with data races
 *   outputs.c   outputs of runs that pass, and the user's command that judges them (oracle.h)
 *   order.c     from a run to an order of actions
 *   places.c    places as FILE:LINE
 *   words.c     the lines for people
 *
 * A failing run, or one with a data race, is recorded again under its order of actions
 * (raw/follow.h), and its trace is checked like any other: so reports, fingerprints, baselines and
 * replays need nothing of their own. What was observed in such a run, and its races, have the
 * status `explored`.
 *
 * Imports: options, terminal, record/maker/symbols, record/native, record/raw, common/base,
 * common/explore. */
#ifndef FT_CLI_EXPLORING_H
#define FT_CLI_EXPLORING_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "explore/plan.h"
#include "maker/symbols/symbols.h"
#include "native/native.h"
#include "options/options.h"

/* How runs are made: which plain accesses are scheduling points (the first `n` of
 * ft_explorer.points), and how many rounds in vain a loop makes that counts its tries. */
typedef struct ft_run_setting {
    uint32_t n;
    bool as_one; /* ft_native_points */
    uint32_t polls;
} ft_run_setting;

/* Places in the program as FILE:LINE; zero-initialise. */
typedef struct ft_places {
    ft_symbols *symbols; /* NULL: nobody asked yet */
    FT_VEC(const char *) modules;
} ft_places;

/* An unlikely event that a run needs (explore/delays.h). */
typedef enum ft_need {
    FT_NEEDS_NOTHING,
    FT_NEEDS_DELAY,     /* a sleep or a time limit is over before other threads go on */
    FT_NEEDS_LONG_LIMIT /* a limit of more than five seconds: such failures are set apart */
} ft_need;

/* A run that is worth a recording. */
typedef struct ft_kept_run {
    bool fails;
    ft_run_setting points;
    ft_need need;
    uint32_t preemptions;
    FT_VEC(ft_x_pick) picks;
    ft_strbuf order; /* raw/follow.h; empty where the run did not repeat itself */
} ft_kept_run;

/* Failures that the executor does not know: of a run that passes, by what it wrote. */
#define FT_REFUSED_OUTPUT (UINT64_C(1) << 32) /* and the oracle's exit code */
#define FT_OTHER_OUTPUT   (UINT64_C(1) << 33)

enum { FT_OUTPUT_RUNS = 8 };

typedef struct ft_judged_output {
    bool is_met, is_counted, is_whole;
    int code;   /* the oracle's */
    char *said; /* by it, its first line; NULL: it was not asked */
} ft_judged_output;

/* The outputs of runs that pass. */
typedef struct ft_outputs {
    const char *oracle;              /* NULL: none */
    bool deterministic;              /* all of them should write the same */
    uint64_t different;              /* outputs */
    uint64_t unjudged;               /* runs that wrote more than is kept */
    FT_VEC(ft_judged_output) judged; /* by output, from 1 */
    struct ft_output_run {
        uint64_t output;
        ft_kept_run run;
    } best[FT_OUTPUT_RUNS];
    size_t n_best;
    uint64_t reference; /* the output that others are compared with; 0: not chosen yet */
    ft_strbuf other;    /* its text */
    ft_status status;   /* why the oracle could not be asked */
    ft_error error;
} ft_outputs;

/* The search's means, while it is open. */
typedef struct ft_explorer {
    ft_native *native;
    ft_x_executor executor;
    ft_x_walk walk;
    FT_VEC(uint64_t) points; /* return addresses of accesses that race */
    ft_run_setting setting;  /* of the runs at hand */
    ft_places places;
    ft_outputs outputs;
} ft_explorer;

/* The best run with a failure: without a long limit, then of the fewest points, without another
 * delay, of the fewest preemptions and steps, in this order, then the first by its picks. */
typedef struct ft_failing {
    ft_native_failure failure; /* its texts are owned by the list's owner */
    char *text, *module;       /* of the failure: what it says and where */
    char *place;               /* FILE:LINE; NULL: not known */
    uint64_t number;           /* ft_outcome_of */
    ft_kept_run run;
    bool confirmed;   /* its picks lead to it again */
    bool unshown;     /* it was recorded, and the recording does not have the failure */
    ft_strbuf needs;  /* for people: the delays that it needs, where and how long; "": none */
    ft_strbuf choice; /* for people: the first choice that decides; "" where none was found */
} ft_failing;

typedef FT_VEC(ft_failing) ft_failing_list;

/* The best run with a data race, for one pair of places; one that passes is better. */
typedef struct ft_racing {
    ft_kept_run run; /* no picks: it was covered by another one's recording, or not confirmed */
    uint32_t looks;  /* runs that were compared with it */
} ft_racing;

typedef FT_VEC(ft_racing) ft_racing_list;

/* An exploration with one setting. */
typedef struct ft_explored_part {
    ft_x_outcome outcome;
    ft_run_setting points;
    char *lingering; /* FILE:LINE of the first loop whose rounds were cut; NULL: none */
} ft_explored_part;

typedef struct ft_exploration {
    ft_explored_part sync;   /* synchronisation alone: no plain access is a point */
    ft_explored_part plain;  /* points.n 0: no plain access was made one */
    bool plain_is_whole;     /* all that race were, with all that depends on them */
    ft_failing_list failing; /* by points, preemptions, steps, picks */
    ft_racing_list racing;   /* by number of the race: ft_native_races */
    size_t races;            /* pairs of places that nothing known orders */
    bool races_are_findings; /* for the word: a check of the recordings has found some */
    ft_exploring_grade grade;
    char *why;                         /* not an earlier grade; "": it is the first */
    char *refused, *strayed;           /* the first such call, and what differed; NULL: none */
    char *rest;                        /* the file from which another process goes on; NULL: none */
    ft_raw_unset unset[FT_RAW_UNSETS]; /* inputs by name that have no value */
    double seconds;                    /* that it took */
    uint32_t steps;                    /* that a run may have */
    uint64_t outputs;                  /* different ones, of runs that pass */
    uint64_t unjudged;                 /* runs that wrote too much for --oracle, --deterministic */
    int64_t input_at; /* where standard input, a file, is read from in each run; -1: it is none */
    ft_strbuf output; /* --deterministic: of the run that another one differs from */
} ft_exploration;

/* Explores for so many seconds at most (0: no bound), of these `plain` with accesses of races as
 * scheduling points (0: as many as are left); the rest is said by the options of `explore`.
 * FT_USAGE: the program cannot be explored; the message says why. The exploration is to be released
 * whatever the status. */
ft_status ft_exploring_run(const ft_options *options, double seconds, double plain,
                           ft_exploration *exploration, ft_error *err) FT_MUST_CHECK;
void ft_exploration_release(ft_exploration *exploration);

/* Was every schedule run, without an "apart from"? */
bool ft_exploration_is_whole(const ft_exploration *exploration);
/* Did it end by itself, within its bounds, and without a call that is not explored? */
bool ft_exploration_ended(const ft_exploration *exploration);
/* Appends one line without its end: "every schedule (6) was run: nothing found". */
void ft_exploration_print(const ft_exploration *exploration, ft_strbuf *out);
/* Failures that are set apart are not recorded, and do not count. */
bool ft_failing_is_apart(const ft_failing *failing);
/* Appends what the failure is: "exit code 1", "signal 6 (Aborted)". */
void ft_failing_print(const ft_failing *failing, ft_strbuf *out);

/* ---- input.c */

int64_t ft_input_position(void); /* of standard input; -1: it is not a file */
bool ft_input_passes(void);      /* it is gone when it was read: a pipe, a socket */
/* From now on standard input is a file with all that it has, which is waited for. */
ft_status ft_input_keep(ft_error *err) FT_MUST_CHECK;

/* ---- places.c */

/* FILE:LINE; without debug information the file and the offset in it. */
void ft_places_print(ft_places *places, const ft_native_place *place, ft_strbuf *out);
char *ft_places_text(ft_places *places, const ft_native_place *place); /* heap */
void ft_places_release(ft_places *places);

/* ---- kept.c: for session.c, failing.c and racing.c */

/* Is the run better than that one (which may have no picks)?
 * Then it takes its place. */
bool ft_kept_note(ft_kept_run *kept, ft_explorer *explorer, const ft_x_run *run);
int ft_kept_compare(const ft_kept_run *a, const ft_kept_run *b);
/* Runs the first n picks again, with that setting, to the end. */
ft_status ft_kept_run_again(ft_explorer *explorer, ft_run_setting setting, const ft_x_pick *picks,
                            size_t n, ft_x_run *run, ft_error *err) FT_MUST_CHECK;
void ft_kept_release(ft_kept_run *kept);

/* ---- needs.c: of the run that the executor finished last */

ft_need ft_needs_of(ft_explorer *explorer, const ft_x_run *run);
/* "needs the sleep of 1 s at FILE:LINE to end first"; "" where it needs nothing. */
void ft_needs_print(ft_explorer *explorer, const ft_x_run *run, ft_strbuf *out);

/* ---- failing.c: for session.c alone */

/* Keeps the run if it is the best one with its failure. */
void ft_failing_note(ft_failing_list *all, ft_explorer *explorer, const ft_x_run *run);
/* Sorts; runs each again, and finds its order and the choice that decides. */
ft_status ft_failing_conclude(ft_failing_list *all, ft_explorer *explorer,
                              ft_error *err) FT_MUST_CHECK;

/* ---- racing.c: for session.c alone */

/* Keeps the run if it is the best one with one of its races. */
void ft_racing_note(ft_racing_list *all, ft_explorer *explorer, const ft_x_run *run);
/* How many there are that differ in their lines or in which of the accesses write. */
size_t ft_racing_count(ft_explorer *explorer);
/* Runs a few of them again, so that each race is in one of these, and finds their orders. */
ft_status ft_racing_conclude(ft_racing_list *all, ft_explorer *explorer,
                             ft_error *err) FT_MUST_CHECK;

/* ---- outputs.c: for session.c, failing.c and kept.c alone */

/* The number of the run's failure; 0: it passes. */
uint64_t ft_outcome_of(ft_explorer *explorer, const ft_x_run *run);
/* Counts the output of a run that passes. True: no run that passes had it before. */
bool ft_outputs_note(ft_explorer *explorer, const ft_x_run *run);
/* After the search: with --deterministic, outputs that differ are one more failure. The error of an
 * oracle that could not be asked. */
ft_status ft_outputs_conclude(ft_explorer *explorer, ft_failing_list *failing,
                              ft_error *err) FT_MUST_CHECK;
/* Fills in what failed, of a failure of the output; the run was made just now. */
void ft_outputs_explain(ft_explorer *explorer, ft_failing *failing, const ft_x_run *run);
/* The names of those that were counted, at most outputs.judged.len; and counting on from them,
 * before the first run. */
size_t ft_outputs_names(const ft_explorer *explorer, ft_native_output_name *names);
void ft_outputs_resume(ft_explorer *explorer, const ft_native_output_name *names, size_t n);
void ft_outputs_release(ft_outputs *outputs);

/* ---- order.c */

/* The order of actions of the run that the executor finished last. */
void ft_order_print(const ft_native *native, const ft_x_run *run, ft_strbuf *out);

#endif
