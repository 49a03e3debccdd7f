/* How exploring.h sees the executor of programs (symbolic.h): what a failing run did wrong, and
 * what was left open. */
#ifndef FT_WORKER_EXPLORE_BACKEND_H
#define FT_WORKER_EXPLORE_BACKEND_H

#include "explore/executor.h"
#include "explore/symbolic.h"
#include "program/witness/witness.h"

/* An input that the job gives: all values that are read of it. The others are open. */
typedef struct ft_given_input {
    const char *name;
    uint64_t value;
} ft_given_input;

typedef struct ft_backend_options {
    const ft_given_input *inputs;
    size_t n_inputs;
    int32_t expect_exit;             /* the exit code that is no failure */
    uint64_t max_steps;              /* actions of a run; 0: the executor's default */
    uint32_t max_iterations;         /* of one arm of a branch on inputs; 0: no bound */
    const ft_symbolic_maker *makers; /* of threads from 1 on: their numbers */
    size_t n_makers;
    uint32_t polls;                     /* fruitless rounds that are counted; 0: the default */
    bool cutoffs;                       /* the executor names states (symbolic.h) */
    bool values;                        /* of atomics, where there are inputs (symbolic.h) */
    bool (*should_stop)(void *context); /* asked within long steps; true: the run is cut */
    void *context;
} ft_backend_options;

typedef struct ft_backend ft_backend;

/* The program and the options' arrays outlive it. */
ft_backend *ft_backend_new(const ft_program *program, const ft_backend_options *options);
void ft_backend_free(ft_backend *backend); /* accepts NULL */
const ft_x_executor *ft_backend_executor(const ft_backend *backend);
/* What the newest run did wrong: its inputs, schedule and claim, into *execution, which is zero.
 * False: nothing. `expected`: the exit code that is none. */
bool ft_backend_failure(const ft_backend *backend, const ft_x_run *run, int32_t expected,
                        ft_execution *execution, ft_interpreter_error *error);
/* Why some run counts neither as one that ended well nor as one that failed; NULL: none does. Valid
 * until the next call. */
const char *ft_backend_left_open(ft_backend *backend);
/* As ft_symbolic_makers. */
const ft_symbolic_maker *ft_backend_makers(const ft_backend *backend, size_t *n);
/* As ft_symbolic_has_too_many_threads. */
bool ft_backend_has_too_many_threads(const ft_backend *backend);
/* FILE:LINE of a thread that lingered; NULL: none did. Valid until the next call. */
const char *ft_backend_lingers(ft_backend *backend);
/* What was counted, cut and left open, as lines of text. */
void ft_backend_explain(const ft_backend *backend, void (*line)(void *context, const char *text),
                        void *context);
/* The bounds cut some run. */
bool ft_backend_bounded(const ft_backend *backend);
/* Of the reasons for which runs were cut, in words, the first by the alphabet, which is the same in
 * whichever order they ran; NULL: none was. Valid as long as the backend. */
const char *ft_backend_bound(const ft_backend *backend);

#endif
