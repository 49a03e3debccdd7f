/* The inside of exploring.h: exploring.c (the search) and findings.c (what came of it). */
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

typedef struct ft_exploring {
    const ft_program *program;
    const ft_exploring_progress *progress;
    /* the job */
    bool checks[FT_CHECKS];
    bool wants_points;
    FT_VEC(ft_given_input) inputs;
    uint64_t max_runs, max_steps;
    uint32_t preemptions, max_iterations;
    int32_t expect_exit;
    double seconds, began;
    /* what was found */
    ft_points points, fresh; /* of the round; and of the next one, too */
    FT_VEC(ft_program_failure) failures;
    uint64_t runs, classes; /* runs: of all rounds */
    bool anew;              /* there are new points */
    bool widened;           /* some accesses became points without a race */
    bool left_aside;        /* a race whose accesses are no points */
    ft_x_outcome outcome;   /* of the last round, and below */
    bool bounded;
    char *open;          /* why some run was left open; NULL: none was */
    ft_backend *backend; /* while a round runs */
} ft_exploring;

/* ---- findings.c */

bool ft_exploring_has(ft_check check); /* is it one that programs can fail? */
/* Keeps a copy if it is the best run that fails so. */
void ft_exploring_note(ft_exploring *x, const ft_x_run *run, const ft_execution *failed,
                       const ft_interpreter_error *error);
void ft_exploring_take_facts(ft_exploring *x); /* of the round */
ft_status ft_exploring_conclude(ft_exploring *x, json_t **plan, ft_error *err) FT_MUST_CHECK;
void ft_exploring_add_name(json_t *names, const char *name); /* unless it is there */

#endif
