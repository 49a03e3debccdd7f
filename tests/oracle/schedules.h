/* Small concurrent programs and all their schedules, by brute force: what the search over schedules
 * (explore/search.h) is held against. It shares the vocabulary of actions with the search, and
 * neither its states, nor its dependence, nor its events: those are written anew here.
 *
 * A program is one list of instructions a thread: operations of explore/action.h, and local
 * instructions on registers and plain variables that run together with the operation before them.
 * The result of an operation (an attempt's success, a value read, an arm) goes into register 0. */
#ifndef FT_TEST_SCHEDULES_H
#define FT_TEST_SCHEDULES_H

#include "base/map.h"
#include "base/strbuf.h"
#include "explore/executor.h"

enum { SCHEDULE_CODE = 64, SCHEDULE_OBJECTS = 24, SCHEDULE_REGISTERS = 4, SCHEDULE_GLOBALS = 8 };

/* Local instructions, behind the kinds of operations. */
enum {
    LOCAL_SET = FT_X_KINDS, /* global[object] = value */
    LOCAL_PUT,              /* global[object] = register[other] + value */
    LOCAL_GET,              /* register[other] = global[object] */
    LOCAL_SKIP_IF,          /* if register[other] == value, skip value2 instructions (may be < 0) */
    LOCAL_SKIP_UNLESS,      /* the same if it is not */
    LOCAL_ADD,              /* register[other] += value */
    LOCAL_COPY,             /* register[other] = register[0] */
    LOCAL_USE, /* the next operation's `value` (value = 0) or `value2` (1) += register */
    LOCAL_NEED /* unless register[other] == value: the process ends, failed */
};

typedef struct schedule_program {
    uint32_t n_threads;
    uint32_t length[FT_X_THREADS];
    ft_x_operation code[FT_X_THREADS][SCHEDULE_CODE];
    int64_t initial[SCHEDULE_OBJECTS]; /* semaphores, atomics */
    uint32_t polls; /* rounds with equal results before LINGER; 0: threads spin for ever */
} schedule_program;

typedef struct schedule_classes {
    uint64_t schedules;                     /* all interleavings; UINT64_MAX: more than the limit */
    uint64_t classes, stuck, failing, ends; /* ends: different final states of the others */
    ft_intern names;                        /* of the maximal configurations */
} schedule_classes;

/* Enumerates every configuration. False: more than `limit`; nothing is known then. */
bool ft_schedules_enumerate(const schedule_program *p, uint64_t limit, schedule_classes *found);
/* All interleavings, one by one; UINT64_MAX: more than the limit. With at most `preemptions` of
 * them; adds the names of the maximal configurations to `names`, unless NULL. */
uint64_t ft_schedules_count(const schedule_program *p, uint32_t preemptions, uint64_t limit,
                            ft_intern *names);
void ft_schedules_release(schedule_classes *found);

/* The name of the configuration that the steps make; heap. NULL: they are no execution. */
char *ft_schedules_name(const schedule_program *p, const ft_x_action *steps, size_t n);

/* Every reachable state, each once, without AWAIT and LINGER (polls = 0): the ends, as text. A
 * live-lock is an end: states that lead to each other and nowhere else. False: more than `limit`
 * states. */
bool ft_schedules_ends(const schedule_program *p, uint32_t limit, ft_intern *ends);
/* The end of the execution, in the same words; heap. */
char *ft_schedules_end(const schedule_program *p, const ft_x_action *steps, size_t n);

/* An executor of the program, `width` runs at once that come back in an order by the seed. Its
 * interface may be given to several threads (`threads`). */
typedef struct schedule_executor schedule_executor;
schedule_executor *ft_schedules_executor(const schedule_program *p, uint32_t width, uint64_t seed);
ft_x_executor ft_schedules_interface(schedule_executor *e);
void ft_schedules_executor_free(schedule_executor *e);
/* Runs of more steps (at most 250) are cut, and steps have fingerprints of states. Before the
 * interface is taken. */
void ft_schedules_bound(schedule_executor *e, uint32_t steps);

/* A random program of two to four threads; every kind of operation occurs in some. */
schedule_program ft_schedules_random(uint64_t seed);
/* One with loops that wait by attempts. `counted`: some of them count their rounds and give up. */
schedule_program ft_schedules_random_polls(uint64_t seed, bool counted);
void ft_schedules_print(const schedule_program *p, ft_strbuf *out);

#endif
