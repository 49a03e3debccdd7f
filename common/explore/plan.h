/* The plan: which schedules of a program are run in which order, and the word for what was done.
 *
 *   1. levels 0, 1 and 2 of preemptions, each finished before the next (levels.h)
 *   2. every schedule, up to equivalence (search.h)
 *   3. where that did not end: the levels behind, as far as they come
 *   4. and the rest of the budget: samples (sampling.h)
 *
 * With cutoffs (cutoffs.h) the second step comes first: it ends also where threads go round without
 * end, and levels do not.
 *
 * Each step has a share of the budget (plan.c), and what one leaves goes to the next. A budget in
 * runs gives the same result whatever the executor's width; one in seconds may stop anywhere.
 *
 * The word never says more than was done: `every` needs a search that ended by itself without a run
 * that was cut or strayed; a level counts as complete only where levels.h says so. What the plan
 * cannot know (data races, polling that was cut) the caller adds to the word. */
#ifndef FT_EXPLORE_PLAN_H
#define FT_EXPLORE_PLAN_H

#include "base/strbuf.h"
#include "explore/levels.h"

#define FT_X_ALL_PREEMPTIONS UINT32_MAX

/* What a plan left, so that another one can go on with the search for every schedule. Levels that
 * were not complete begin again where that had not begun; else they are not begun anew. Embedded:
 * zero-initialise. */
typedef struct ft_x_rest {
    bool has_begun;         /* the search for every schedule had */
    bool incomplete;        /* a run of it was cut or strayed */
    uint32_t levels;        /* that are complete */
    uint64_t level_classes; /* of those */
    ft_x_counts tree;       /* of the search so far */
    ft_x_counts others;     /* of levels and samples */
    ft_x_subtrees open;     /* that are left */
} ft_x_rest;

void ft_x_rest_release(ft_x_rest *rest);

typedef struct ft_x_plan {
    uint32_t preemptions; /* the last level; FT_X_ALL_PREEMPTIONS: all schedules */
    uint64_t max_runs;    /* besides those of the rest; 0: no bound */
    double seconds;       /* 0: no bound */
    uint64_t seed;        /* of the samples */
    ft_x_rest *rest;      /* in: where to go on; out: what is left; NULL: neither */
    bool cutoffs;         /* of the search for every schedule; the executor names states */
    uint64_t max_bytes;   /* that a search may keep before it counts as not finished; 0: no bound */
    /* As in ft_x_options; all may be NULL. */
    bool (*on_run)(void *context, const ft_x_run *run);
    bool (*on_class)(void *context, const ft_x_run *run, const ft_unfolding *u,
                     const ft_configuration *c);
    void (*on_stray)(void *context, const ft_x_run *run, size_t step);
    bool (*should_stop)(void *context);
    /* Asked of a search that stopped: nobody goes on with it, so that `rest` has nothing open. */
    bool (*drops_rest)(void *context);
    void *context;
} ft_x_plan;

/* How far it came. */
#define FT_X_COVER_TABLE(X)                                                                        \
    X(NOTHING, "nothing", "no schedule was run")                                                   \
    X(SAMPLED, "sampled", "some schedules")                                                        \
    X(BOUNDED, "bounded", "all that there are, but some runs were ended by a bound")               \
    X(LEVELS, "preemptions", "every schedule with few preemptions")                                \
    X(EVERY, "every", "every schedule")

typedef enum ft_x_cover {
#define FT_ROW(symbol, name, doc) FT_X_COVER_##symbol,
    FT_X_COVER_TABLE(FT_ROW)
#undef FT_ROW
        FT_X_COVERS
} ft_x_cover;

/* Why it ended. */
#define FT_X_STOP_TABLE(X)                                                                         \
    X(END, "end", "nothing was left to run")                                                       \
    X(RUNS, "runs", "the number of runs")                                                          \
    X(TIME, "time", "the time")                                                                    \
    X(ASKED, "asked", "it was asked to stop")

typedef enum ft_x_stop {
#define FT_ROW(symbol, name, doc) FT_X_STOP_##symbol,
    FT_X_STOP_TABLE(FT_ROW)
#undef FT_ROW
        FT_X_STOPS
} ft_x_stop;

typedef struct ft_x_outcome {
    ft_x_cover cover;
    ft_x_stop stop;
    uint64_t classes;  /* EVERY: all; LEVELS: of the complete ones; else different ones seen */
    uint32_t level;    /* LEVELS: the last complete one */
    uint64_t of_next;  /* LEVELS: further classes, of the level behind that was begun */
    uint64_t seen;     /* different classes altogether */
    uint64_t samples;  /* random schedules */
    ft_x_counts tree;  /* of the search for every schedule, as far as it came */
    ft_x_counts total; /* of all steps; classes: `seen` */
} ft_x_outcome;

/* Runs the plan. Fails if the executor does; the outcome then holds for what was done before. */
ft_status ft_x_explore(const ft_x_executor *executor, const ft_x_plan *plan, ft_x_outcome *outcome,
                       ft_error *err) FT_MUST_CHECK;

const char *ft_x_cover_name(ft_x_cover cover);
const char *ft_x_stop_name(ft_x_stop stop);
/* Appends the word: "every schedule (6)", "every schedule with at most 2 preemptions (20,412),
 * 1,300 of 3", "sampled (512)". */
void ft_x_outcome_print(const ft_x_outcome *outcome, ft_strbuf *out);

#endif
