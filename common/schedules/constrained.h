/* A run of a program in the interpreter under a set: which threads may take their next step, and
 * whether the run is still one of the schedule at hand. It is what a native runtime does, in the
 * language's own interpreter: the oracle of the search and of its certificates.
 *
 * A run begins in the entry, with the schedule that the caller selects. When it ends as a schedule
 * that goes on in another epoch, ft_constrained_go_on begins that one.
 *
 * With dynamic inputs (dynamic.h) the schedule at hand is one of those that are possible; an
 * operation on which they do not agree waits until the interpreter's threads have read what decides
 * between them.
 *
 * Names of objects of the heap and the stack are bound to the address of their first operation;
 * the object has to be one that the name's thread made. */
#ifndef FT_SCHEDULES_CONSTRAINED_H
#define FT_SCHEDULES_CONSTRAINED_H

#include "program/interpret/interpreter.h"
#include "schedules/schedules.h"

/* What a thread may do. */
#define FT_CONSTRAINED_TABLE(X)                                                                    \
    X(FOLLOWS, "follows", "it may take the step")                                                  \
    X(WAITS, "waits", "nodes that come before are not done, or the program makes it wait")         \
    X(AT_END, "at the end", "its nodes are used up")                                               \
    X(EXITS, "exits", "it may end the process before its nodes are used up")                       \
    X(DIVERGES, "diverges", "its next operation is not its next node")                             \
    X(ENDLESS, "endless", "it goes round for ever, in a loop without synchronisation")             \
    X(GONE, "gone", "it has ended, or does not exist")
typedef enum ft_constrained_look {
#define FT_ROW(symbol, name, meaning) FT_CONSTRAINED_##symbol,
    FT_CONSTRAINED_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_LOOKS
} ft_constrained_look;
const char *ft_constrained_look_name(ft_constrained_look look);

typedef struct ft_constrained {
    const ft_schedule_set *set;
    uint32_t epoch; /* the one at hand */
    const ft_schedule *schedule;
    const ft_program *program;
    uint32_t *first;     /* by thread of the schedule: its first node in `following` */
    uint32_t *following; /* nodes, thread by thread */
    uint32_t *number;    /* by node: its number in its thread, from 0 */
    uint64_t *bound;     /* by object of the schedule: its address; 0: not bound yet */
    /* By number of the interpreter's thread. */
    uint32_t names[FT_INTERPRETER_THREADS];   /* in the schedule's threads; FT_NO_ID: it has none */
    uint32_t parent[FT_INTERPRETER_THREADS];  /* FT_NO_ID: none in this epoch */
    uint32_t nth[FT_INTERPRETER_THREADS];     /* of the parent; without one the epoch's thread, or
                                                 FT_NO_ID: it is not the epoch's any more */
    uint32_t created[FT_INTERPRETER_THREADS]; /* in this epoch */
    uint32_t old;                             /* objects that are older than it */
    uint32_t reads;                           /* inputs that were read before it */
    uint32_t done[FT_SCHEDULE_THREADS];       /* by thread of the schedule: its nodes so far */
    /* Of an epoch with dynamic inputs; NULL: it has none. */
    bool *possible;     /* by schedule of the epoch */
    uint64_t *given;    /* by input of the set: the epoch's that are not dynamic, and unknowns */
    uint32_t schedules; /* of the epoch */
} ft_constrained;

/* Of the entry epoch; the set is valid and outlives it. */
void ft_constrained_init(ft_constrained *run, const ft_program *program, const ft_schedule_set *set,
                         const ft_schedule *schedule);
/* The same with the schedules that the values leave possible: `value` knows inputs that are not
 * dynamic; of others it is not asked. FT_NOT_FOUND: an input is not known, or no schedule is
 * possible. */
ft_status ft_constrained_begin(ft_constrained *run, const ft_program *program,
                               const ft_schedule_set *set, ft_schedule_value value, void *context,
                               ft_error *err) FT_MUST_CHECK;
void ft_constrained_copy(ft_constrained *to, const ft_constrained *from);
void ft_constrained_release(ft_constrained *run);

/* FOLLOWS and EXITS: *variant is the one to take. */
ft_constrained_look ft_constrained_next(const ft_constrained *run,
                                        const ft_interpreter *interpreter, uint32_t thread,
                                        uint64_t *variant);
/* Takes the step. DIVERGES: the thread has ended, and its next node is not `end`. Else FOLLOWS. */
ft_constrained_look ft_constrained_step(ft_constrained *run, ft_interpreter *interpreter,
                                        uint32_t thread, uint64_t variant);
/* Does a thread wait for an input, or for what a loop computes, that decides what it may do? */
bool ft_constrained_awaits_input(const ft_constrained *run, const ft_interpreter *interpreter);
/* Are all nodes done? */
bool ft_constrained_is_done(const ft_constrained *run);

/* How a run ended. */
#define FT_CONSTRAINED_END_TABLE(X)                                                                \
    X(SAME, "same", "as the schedule: every node is done")                                         \
    X(EPOCH, "epoch", "as the schedule, which goes on in another epoch")                           \
    X(OUTSIDE, "outside", "the next epoch does not have this state")                               \
    X(UNCOVERED, "uncovered", "the next epoch has no schedule for this state and these inputs")    \
    X(PREFIX, "prefix", "the process has ended before that")                                       \
    X(DISCARDED, "discarded", "an assumption does not hold: the run does not count")               \
    X(DIVERGED, "diverged", "a thread does something else than its next node")                     \
    X(STUCK, "stuck", "no thread can go on, and nodes are left")                                   \
    X(ENDLESS_RUN, "endless",                                                                      \
      "a thread goes round for ever; the others follow as far as they can")                        \
    X(STOPPED, "stopped", "a step has no end within the interpreter's bound")
typedef enum ft_constrained_end {
#define FT_ROW(symbol, name, meaning) FT_CONSTRAINED_##symbol,
    FT_CONSTRAINED_END_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_ENDS
} ft_constrained_end;
const char *ft_constrained_end_name(ft_constrained_end end);

/* The end, once no thread follows or exits; *thread: the first that diverges, else FT_NO_ID. */
ft_constrained_end ft_constrained_end_of(const ft_constrained *run,
                                         const ft_interpreter *interpreter, uint32_t *thread);

/* At the end EPOCH: begins the schedule's next epoch with the schedule that its selector takes.
 * `value` is asked for inputs that are not dynamic, `thread` and `n` being those of the next epoch;
 * it may be NULL. With dynamic inputs the run begins with the schedules that are possible. The run
 * is of that schedule from then on: EPOCH. Else it is as before: OUTSIDE, UNCOVERED, the error
 * says why. */
ft_constrained_end ft_constrained_go_on(ft_constrained *run, const ft_interpreter *interpreter,
                                        ft_schedule_value value, void *context, ft_error *err);

/* Threads of the interpreter, as bits, that wait, and that only each other or ended threads could
 * wake: a deadlock, whatever the others do. A lock is released by its owner, a thread is joined
 * when it ends; all else may come from any thread. */
uint64_t ft_constrained_deadlock(const ft_interpreter *interpreter);

#endif
