/* The executor of programs with given inputs: it runs the interpreter for the search over schedules
 * (explore/executor.h).
 *
 * Visible instructions become actions of the kinds that the search has; accesses do not, so what is
 * called complete holds for programs without races, which the interpreter looks for in every run.
 * An atomic section is one action, dependent on every other section. An error is an action of its
 * own, the end of the process: it depends on everything.
 *
 * Not taken (FT_UNSUPPORTED, with the place): an operation within an atomic section, plain writes
 * to what atomic instructions use in between. Initialising and destroying an object are actions
 * that concern no other thread; misuse by others at the same time is found where a run has it.
 *
 * Imports: common/base, common/explore, common/program, common/program/interpret,
 * common/program/witness, common/report, common/verdict, symbolic. */
#ifndef FT_WORKER_EXPLORE_CONCRETE_H
#define FT_WORKER_EXPLORE_CONCRETE_H

#include "explore/executor.h"
#include "program/interpret/interpreter.h"

typedef struct ft_concrete ft_concrete;

/* A run of more than max_steps steps is cut; 0: 100,000. The program outlives the executor; inputs
 * are asked for in each run anew, and must be the same. */
ft_concrete *ft_concrete_new(const ft_program *program, const ft_interpreter_options *options,
                             uint64_t max_steps);
void ft_concrete_free(ft_concrete *concrete); /* accepts NULL */
/* One run at a time. Valid while `concrete` is. */
ft_x_executor ft_concrete_executor(ft_concrete *concrete);

/* How a run ended, from ft_x_run.result. */
typedef struct ft_concrete_result {
    ft_interpreter_state state; /* GOING: cut */
    ft_program_error error;     /* FAILED, STOPPED */
    int32_t exit_code;          /* EXITED */
} ft_concrete_result;
ft_concrete_result ft_concrete_result_of(uint64_t result);
/* The steps of the newest run for ft_interpreter_step; valid until the next one begins. */
const ft_x_pick *ft_concrete_steps(const ft_concrete *concrete, size_t *n);
/* The error of the newest run that had one. */
const ft_interpreter_error *ft_concrete_error(const ft_concrete *concrete);

#endif
