/* The inside of exploring.h: exploring.c (the search), findings.c (what came of it) and parts.c
 * (the tasks that a search is shared out as). */
#ifndef FT_WORKER_EXPLORE_INTERNAL_H
#define FT_WORKER_EXPLORE_INTERNAL_H

#include "explore/backend.h"
#include "explore/exploring.h"
#include "explore/plan.h"
#include "verdict/names.h"

/* The best run with a failure: of the fewest switches, then the fewest steps. */
typedef struct ft_program_failure {
    uint64_t key; /* equal for runs that fail alike */
    ft_check check;
    uint32_t switches;
    ft_execution execution;
} ft_program_failure;

/* What the levels of preemptions came to (explore/levels.h). */
typedef struct ft_exploring_levels {
    uint64_t complete, classes, of_next, samples, seen; /* as in ft_x_outcome */
    bool every;                                         /* they are every schedule */
} ft_exploring_levels;

typedef struct ft_exploring {
    const ft_program *program;
    const ft_exploring_progress *progress;
    /* the job */
    bool checks[FT_CHECKS];
    bool wants_points;
    FT_VEC(ft_given_input) inputs;
    uint64_t max_runs, max_steps;
    uint32_t preemptions, max_iterations;
    uint32_t polls, more_polls; /* of the round; of one behind it, 0: none */
    bool cutoffs;     /* the search does not go on from a state that was met (explore/cutoffs.h) */
    bool may_cut_off; /* it begins anew so where executions do not end, or try in vain for long */
    uint32_t few_threads;  /* that a thread makes, of a program that has too many; 0: no bound */
    bool may_go_alone;     /* the search is not shared out where executions are long */
    bool too_many_threads; /* the round was refused for their number */
    bool counted;          /* what atomics hold cannot be followed, so their writes are counted */
    int32_t expect_exit;
    double began, seconds; /* of this task: then it starts no further run */
    double hard_seconds;   /* then the run at hand is cut */
    ft_exploring_share share;
    FT_VEC(ft_symbolic_maker) makers;
    /* what was found */
    ft_points points, fresh; /* of the round; and of the next one, too */
    FT_VEC(ft_program_failure) failures;
    uint64_t runs, classes; /* runs: of all rounds */
    bool anew;              /* there are new points */
    bool widened;           /* some accesses became points without a race */
    bool left_aside;        /* a race whose accesses are no points */
    ft_x_outcome outcome;   /* of the last round, and below */
    bool bounded;
    char *bound;         /* of those that cut runs, one in words; NULL: none that has words did */
    char *open;          /* why some run was left open; NULL: none was */
    json_t *explained;   /* lines about the last round, where they are wanted; NULL: they are not */
    char *proof;         /* that no assertion fails, in words; NULL: none was found */
    char *lingers;       /* where a thread's further rounds were not tried; NULL: nowhere */
    ft_backend *backend; /* while a round runs */
    /* of a search that is shared out */
    ft_x_rest rest; /* of the plan's round */
    ft_x_counts counts;
    ft_exploring_levels levels;
    bool incomplete; /* a run was cut or strayed */
    bool cut_short;  /* the job's time ended before all was searched */
} ft_exploring;

/* ---- exploring.c */

double ft_exploring_now(void);
/* Reads the job, and begins its time. */
ft_status ft_exploring_begin(ft_exploring *x, const json_t *spec, ft_error *err) FT_MUST_CHECK;
void ft_exploring_release(ft_exploring *x);
/* A backend for the points that there are, with its program, which the caller frees after it. */
ft_program *ft_exploring_open(ft_exploring *x);
void ft_exploring_close(ft_exploring *x, ft_program *program);
/* Callbacks of a search (ft_x_options) with the exploration as their context. */
bool ft_exploring_on_run(void *context, const ft_x_run *run);
bool ft_exploring_on_class(void *context, const ft_x_run *run, const ft_unfolding *u,
                           const ft_configuration *c);
bool ft_exploring_should_stop(void *context);
bool ft_exploring_must_stop(void *context); /* the job has no time left */
/* The program has what is not explored: further points where they help (the search begins anew), or
 * a reason why executions are left open. */
void ft_exploring_give_way(ft_exploring *x, ft_error *err);

/* ---- parts.c */

/* What the search counted, of a plan that nobody has to go on with. */
void ft_exploring_sum_up(ft_exploring *x, json_t *plan);

/* Is there more to search than the plan did, for others? */
bool ft_exploring_hands_back(const ft_exploring *x);
/* The same with the search at hand as it is left: adds what is to be shared out to the plan. */
void ft_exploring_hand_back(ft_exploring *x, ft_x_subtrees *open, ft_x_subtrees *proposals,
                            json_t *plan);

/* ---- proving.c */

/* Of a job that looks for failed assertions alone: is there a proof that none fails? Then it is in
 * `proof`, and there is nothing to search. */
bool ft_exploring_prove(ft_exploring *x);

/* ---- findings.c */

/* Was it lowered with a bound on threads (clients/lower/models/threads.c)? */
bool ft_exploring_bounds_threads(const ft_program *program);
/* Sets that bound; false: the program has none. */
bool ft_exploring_bound_threads(ft_program *program, uint32_t most);

bool ft_exploring_has_inputs(const ft_program *program);
bool ft_exploring_has(ft_check check); /* is it one that programs can fail? */
/* Keeps a copy if it is the best run that fails so. */
void ft_exploring_note(ft_exploring *x, const ft_x_run *run, const ft_execution *failed,
                       const ft_interpreter_error *error);
void ft_exploring_take_facts(ft_exploring *x); /* of the round */
ft_status ft_exploring_conclude(ft_exploring *x, json_t **plan, ft_error *err) FT_MUST_CHECK;
/* What was found so far, as a plan without a word for the rest: that is a subproblem of each check
 * (`rests`), or left out. */
json_t *ft_exploring_found(ft_exploring *x, bool rests);
void ft_exploring_add_name(json_t *names, const char *name); /* unless it is there */

#endif
