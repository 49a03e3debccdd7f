/* The executor of programs with open inputs: it runs symbolic states for the search over schedules
 * (explore/executor.h), so that the search comes to every schedule and every input, up to
 * equivalence.
 *
 * Visible instructions become actions of the kinds that the search has. A condition on inputs that
 * the thread's causes leave open becomes a BRANCH, an action of its own; a run whose branches no
 * input takes together ends INFEASIBLE, one in which an assumption fails DISCARDED. What an
 * instruction does wrong for some inputs alone (a division, an access, an assertion) is a branch
 * too. An error is an action of its own, the end of the process: it depends on everything.
 *
 * A run that ended is judged: a model of its branches gives inputs, and the interpreter executes
 * inputs and schedule (and looks for races). What it says is the run's result. Where it does not
 * come to the symbolic run's end, the run counts as `unknown`, and is not a finding.
 *
 * An atomic section is two actions, which depend on those of every other section. Where the program
 * has inputs, atomic updates and swaps are writes whatever they read, unless `values` says
 * otherwise. A thread that polls stands before AWAIT or LINGER; one that goes round within a step,
 * and changes nothing, before an AWAIT of nothing.
 *
 * Not taken (FT_UNSUPPORTED, with the place): an operation within an atomic section, and, where the
 * program has no input, plain writes to what atomic instructions use in between. Initialising and
 * destroying an object are actions that concern no other thread; misuse by others at the same time
 * is found where a run has it.
 *
 * Imports: common/base, common/explore, common/program, common/program/interpret,
 * common/program/witness, common/report, common/verdict, modular, symbolic. */
#ifndef FT_WORKER_EXPLORE_SYMBOLIC_H
#define FT_WORKER_EXPLORE_SYMBOLIC_H

#include "base/strbuf.h"
#include "explore/executor.h"
#include "explore/judgement.h"

typedef struct ft_symbolic ft_symbolic;

/* 0, NULL and false: the default. */
typedef struct ft_symbolic_options {
    bool races;
    uint64_t max_steps;        /* actions of a run; 100,000 */
    uint64_t max_instructions; /* of one step; 10 million */
    uint64_t max_bytes;        /* of all objects; 256 MiB */
    uint32_t max_threads;      /* FT_INTERPRETER_THREADS */
    uint32_t max_iterations;   /* how often a thread takes one arm of a branch; no bound */
    uint32_t max_inputs;       /* values that a run reads; no bound */
    /* Of programs with inputs: atomics have values, as in those without; FT_UNSUPPORTED where
     * inputs decide one. Threads that poll by swaps and updates are seen only so. */
    bool values;
    uint32_t polls;        /* fruitless rounds of a thread that counts them; 3 */
    uint32_t solver_ms;    /* of one question to the solver; 2000 */
    int32_t expect_exit;   /* the exit code that is no failure; 0 */
    size_t snapshot_bytes; /* states kept to go back to; 256 MiB */
    bool cutoffs;          /* the executor names states (explore/cutoffs.h) */
    /* Inputs that are given, as in ft_interpreter_options; NULL: all are open. */
    bool (*input)(void *context, const char *name, uint8_t width, uint64_t *value);
    /* Asked now and then while a step runs; true: the run is cut. May be NULL. */
    bool (*should_stop)(void *context);
    void *context;
} ft_symbolic_options;

/* The program outlives the executor. */
ft_symbolic *ft_symbolic_new(const ft_program *program, const ft_symbolic_options *options);
void ft_symbolic_free(ft_symbolic *symbolic); /* accepts NULL */
/* Who made a thread: its maker, and as which of the maker's threads (from 0). */
typedef struct ft_symbolic_maker {
    uint32_t thread, child;
} ft_symbolic_maker;

/* Threads have numbers in the order in which they are met, main's being 0. Others understand names
 * of subtrees (explore/subtree.h) once they number threads alike: the makers of threads 1, 2, ...,
 * *n of them; and, before the first run, which ones there are to be. */
const ft_symbolic_maker *ft_symbolic_makers(const ft_symbolic *symbolic, size_t *n);
void ft_symbolic_number(ft_symbolic *symbolic, const ft_symbolic_maker *makers, size_t n);

/* One run at a time. Valid while `symbolic` is. ft_x_run.result is read by ft_judgement_of:
 * EXITED, FAILED with its error, or STOPPED (a limit, or unknown). */
ft_x_executor ft_symbolic_executor(ft_symbolic *symbolic);
/* Did the run race? With cutoffs also one that was cut. */
bool ft_symbolic_races(const ft_x_run *run);

/* One value that the program read, in the order in which the interpreter reads them. */
typedef struct ft_symbolic_input {
    const char *name; /* the program's */
    uint64_t value;
    uint8_t width;
} ft_symbolic_input;

/* The newest run that the interpreter executed: what it did, with which inputs and steps. Valid
 * until the next run begins. */
typedef struct ft_symbolic_judged {
    const ft_interpreter_error *error; /* FAILED, STOPPED */
    const ft_symbolic_input *inputs;
    size_t n_inputs;
    const ft_x_pick *steps; /* thread and variant for ft_interpreter_step */
    size_t n_steps;
} ft_symbolic_judged;
ft_symbolic_judged ft_symbolic_judged_of(const ft_symbolic *symbolic);

/* What was counted over all runs, for reports and for the word: `complete` needs that bounded,
 * concretised and unknown are 0, and that no atomics overlap. */
typedef struct ft_symbolic_counts {
    uint64_t bounded;     /* runs that a bound cut: max_iterations, max_inputs, max_steps, ... */
    uint64_t concretised; /* values out of many of which a few were tried */
    uint64_t unknown;     /* runs that the solver or the interpreter could not confirm */
    uint64_t disagreed; /* of those: the interpreter came to another end. Always a fault of ours */
    uint64_t branches;  /* decided by inputs, in all runs */
    uint64_t questions, cached,
        solved;                  /* whether conditions can hold; answered without Z3, by Z3 */
    uint64_t solver_unknown;     /* that Z3 left open */
    uint64_t snapshots, resumed; /* made; runs that began at one */
    uint64_t replayed, steps;    /* steps done again behind it; all steps */
    size_t state_bytes;          /* of the newest snapshot, what it shares included */
    size_t snapshot_bytes;       /* of those kept now */
} ft_symbolic_counts;
ft_symbolic_counts ft_symbolic_counts_of(const ft_symbolic *symbolic);

/* Atomics at different addresses share bytes, which the search takes for independent: "FILE:LINE"
 * of one. False: no run had such. */
bool ft_symbolic_overlaps(const ft_symbolic *symbolic, ft_strbuf *place);
/* Was a run refused since it makes more threads than the search takes? */
bool ft_symbolic_has_too_many_threads(const ft_symbolic *symbolic);
/* Where a thread lingered (explore/watch.h), the first such place of the program: "FILE:LINE".
 * False: none did. */
bool ft_symbolic_lingers(const ft_symbolic *symbolic, ft_strbuf *place);

/* Why runs were cut, and how many: *n reasons. Of many different ones, the last counts the rest. */
enum { FT_SYMBOLIC_CUTS = 8 };
typedef struct ft_symbolic_cut {
    char reason[200];
    uint64_t runs;
} ft_symbolic_cut;
const ft_symbolic_cut *ft_symbolic_cuts(const ft_symbolic *symbolic, size_t *n);
/* The n-th question (from 0) that the solver left open; false: there are no more. */
bool ft_symbolic_open(const ft_symbolic *symbolic, size_t n, ft_strbuf *text);

#endif
