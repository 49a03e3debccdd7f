/* The native executor: the search over schedules (explore/executor.h) drives a real program that
 * was built with the compiler wrapper.
 *
 *   ft_native_options options = ft_native_defaults();
 *   options.argv = argv;
 *   ft_native *native;
 *   ft_native_open(&options, &native, err);           starts the program, up to its first choice
 *   ft_x_executor executor = ft_native_executor(native);
 *   ft_x_search(&executor, ...);                      on_class: ft_native_failure(native, run)
 *   ft_native_close(native);                          nothing is left running
 *
 * A run's `result` is 0 where it passed, else the number of its failure: failures of one kind and
 * place have one number. Failures and races live until ft_native_close.
 *
 *   native.c    the interface      tasks.c   from a task to a slot, and back to a run
 *   start.c     the program        facts.c   failures, races, places
 *   anew.c      runs from the program's start
 *
 * Imports: raw, common/base, common/explore. */
#ifndef FT_RECORD_NATIVE_H
#define FT_RECORD_NATIVE_H

#include "explore/executor.h"
#include "raw/exploring.h"

typedef struct ft_native ft_native;

typedef struct ft_native_options {
    char *const *argv; /* the program, found as a shell does, and its arguments; ends with NULL */
    uint32_t workers;  /* runs at once */
    uint32_t seconds;  /* a run without an action for so long is ended: HANG; 0: never */
    bool shows;        /* the program's output is shown; else it is discarded */
    int64_t input_at; /* standard input is a file, and read from there on in each process; -1: no */
    ft_exploring_options run;
} ft_native_options;

/* One worker, rewinding where it can be had, 10,000 steps a run, 5 seconds, races looked for. */
ft_native_options ft_native_defaults(void);

/* The program read its standard input, a pipe or a socket, whose content no further run could have:
 * the run ended there, or ft_native_open failed since the program did so before its first choice.
 */
bool ft_native_asks_input(const ft_native *native);

/* Starts the program and waits for its first choice. Where that fails *native is NULL, but where
 * the program asks for its input (ft_native_asks_input). FT_USAGE: it cannot be started, was not
 * built with the wrapper, or ended before; the message says which. The options may go afterwards,
 * the words of argv may not. */
ft_status ft_native_open(const ft_native_options *options, ft_native **native,
                         ft_error *err) FT_MUST_CHECK;
void ft_native_close(ft_native *native); /* accepts NULL */

/* Valid until ft_native_close. */
ft_x_executor ft_native_executor(ft_native *native);

/* FT_RAW_UNSETS inputs by name that have no value, so far (raw/inputs.h). */
const ft_raw_unset *ft_native_unset_inputs(const ft_native *native);

/* When a search is over: the calling thread, which shared its worker's processor, and what it
 * starts may use all processors again. */
void ft_native_leave_processor(ft_native *native);

/* When the search is over: makes some of its runs again from the program's start, at least one and
 * about as many as half a second allows, and compares them action by action. A run that differs
 * depends on more than the schedule, or shows that runs are not made as they should be. */
ft_status ft_native_check(ft_native *native, uint32_t *checked, uint32_t *differing,
                          ft_error *err) FT_MUST_CHECK;

/* How runs are made; *why (may be NULL): why not by an earlier grade, "" where it is the first. */
ft_exploring_grade ft_native_grade(const ft_native *native, const char **why);

/* Rewinding: how many processes were replaced because a run left something behind that copying
 * memory does not take back; *why: what the first one left behind, "": there is none. */
uint64_t ft_native_replaced(const ft_native *native, const char **why);

/* A place in the code: a module's file and an offset in it, as `addr2line -e MODULE OFFSET` takes
 * it. */
typedef struct ft_native_place {
    const char *module; /* NULL: unknown */
    uint64_t offset;
} ft_native_place;

/* Of a return address in the program: the call before it. */
ft_native_place ft_native_place_of(const ft_native *native, uint64_t pc);

typedef struct ft_native_failure {
    ft_exploring_failure kind;
    int32_t code; /* EXIT: the exit code; SIGNAL: its number */
    uint32_t thread;
    ft_native_place place;
    const char *text;
    uint64_t runs; /* that ended with it */
} ft_native_failure;

/* Of a run that failed; NULL: it passed. */
const ft_native_failure *ft_native_failure_of(const ft_native *native, const ft_x_run *run);
/* All of them, in the order in which they were met. */
size_t ft_native_failures(const ft_native *native, const ft_native_failure **all);

typedef struct ft_native_race {
    ft_native_place place[2];
    ft_exploring_race race; /* of the first run that had it */
} ft_native_race;

/* Pairs of places, each once. */
size_t ft_native_races(const ft_native *native, const ft_native_race **all);
/* The numbers in it of the run's races; returns how many. Valid until the next run is finished. */
size_t ft_native_run_races(const ft_native *native, const ft_x_run *run, const uint32_t **numbers);

/* Accesses that are scheduling points of the runs from now on: those at the return addresses, as of
 * ft_exploring_race; at most FT_EXPLORING_RACES * 2 of them. as_one: they depend on each other as
 * if all were of one memory. No run may be under way. Places at which threads lingered, and the
 * sample of ft_native_check, are those of the runs from now on. */
void ft_native_points(ft_native *native, const uint64_t *points, size_t n, bool as_one);
/* Rounds in vain of a loop that counts its tries, in the runs from now on. Likewise. */
void ft_native_polls(ft_native *native, uint32_t rounds);
/* Did an access that was a scheduling point lie in several cells of memory? Then points have to be
 * as one: some of their dependences were not seen. */
bool ft_native_has_wide_points(const ft_native *native);

/* A place at which threads of some run counted their fruitless rounds, and did not go on after as
 * many as the options say: further rounds were not tried. False: there are no more than i. */
bool ft_native_lingering(const ft_native *native, size_t i, ft_native_place *place);

/* The standard output of a run, where options.run.keeps_output is set: its first
 * FT_EXPLORING_OUTPUT bytes. */
typedef struct ft_native_text {
    const char *bytes; /* the executor's; NULL: not kept */
    size_t size;
    bool is_whole; /* the run wrote no more */
} ft_native_text;
/* Of runs that passed and have that `output`: their text stays until it is forgotten. */
ft_native_text ft_native_output(const ft_native *native, uint64_t output);
void ft_native_forget_output(ft_native *native, uint64_t output);
/* Of the run that ft_x_executor.finish gave last, until the next one begins. */
ft_native_text ft_native_last_output(const ft_native *native);
/* An output's name is the same in every process. Names of outputs that another process met get the
 * first numbers, from 1; before the first run. */
typedef struct ft_native_output_name {
    uint64_t a, b;
} ft_native_output_name;
ft_native_output_name ft_native_name_of_output(const ft_native *native, uint64_t output);
void ft_native_name_output(ft_native *native, ft_native_output_name name);

/* The first call that no exploration does and that ended a run; NULL: none. *place: where. */
const char *ft_native_refused(const ft_native *native, ft_native_place *place);
/* The first difference in the run that did not follow its prefix; NULL: none strayed. */
const char *ft_native_strayed(const ft_native *native);

/* Where the thread stood at that run's end: the return address of the call; 0: it had ended. */
uint64_t ft_native_pending_pc(const ft_native *native, uint32_t thread);

/* The threads that were met, by number, each behind its parent; returns how many. */
size_t ft_native_threads(const ft_native *native, const ft_exploring_thread **all);
/* Gives them the numbers that they had in another process, which ft_native_threads listed. Before
 * the first run. False: these cannot be threads of this program. */
bool ft_native_name_threads(ft_native *native, const ft_exploring_thread *all, size_t n);
/* Is the place in the program itself, not in a library? */
bool ft_native_is_program(const ft_native *native, const ft_native_place *place);

/* The sleep or time limit that the thread of a step had to wait for. */
typedef struct ft_native_delay {
    uint32_t ms;   /* 0: nothing */
    bool is_limit; /* the time limit of its wait passed; else it slept */
    uint64_t pc;   /* return address of that call */
} ft_native_delay;
/* By step of the run that ft_x_executor.finish gave last; valid until the next one. */
const ft_native_delay *ft_native_delays(const ft_native *native);

/* Where a step was made. */
typedef struct ft_native_origin {
    uint64_t pc;   /* return address of its call in the program; 0: none */
    uint32_t call; /* as in ft_exploring_step */
    bool in_call;  /* likewise */
} ft_native_origin;
/* Of step i of the run that ft_x_executor.finish gave last. */
ft_native_origin ft_native_step_origin(const ft_native *native, size_t i);

#endif
