/* Constrained runs (raw/constrained.h): the program follows schedules of synchronisation, one in
 * each epoch, its threads run in parallel otherwise, and nothing is recorded.
 *
 * A hook of a synchronising call opens its node with ft_rt_c_enter, which waits until the nodes
 * before it are done, does what the call does, and closes it with ft_rt_c_leave. All operations on
 * one object are ordered by a schedule, so real locks and semaphores never wait. Waits for
 * conditions and barriers do not reach the C library: their second nodes wait for the nodes before
 * them, so no wake-up is spurious, and a signal wakes the waiter whose node comes behind it
 * (notes on input-covering schedules, section 2, "Runtime").
 *
 * A thread whose nodes are used up stops before its next operation, or within the wait or barrier
 * that it is in, where another epoch comes behind the schedule. The last one to come there
 * evaluates the epoch's selector, while all threads stand still, and installs its schedule
 * (epochs.c).
 *
 * A thread that comes to something else than its next node leaves the schedule: the process is
 * ended, or all threads go on freely from there. Those that wait in a condition variable then
 * return to their loops.
 *
 * Imports: libc, raw. */
#ifndef FT_RECORD_RT_CONSTRAINED_H
#define FT_RECORD_RT_CONSTRAINED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "raw/constrained.h"

#pragma GCC visibility push(hidden)

/* ---- of this folder alone */

enum { FT_RT_C_THREADS = 64, FT_RT_C_FOLLOWERS = 2 * FT_RT_C_THREADS };

/* The calls that led a thread to where it stands, the innermost first. */
enum { FT_RT_C_FRAMES = 64 };
typedef struct ft_rt_frames {
    uint32_t n; /* 0: not known */
    bool cut;   /* there are more */
    struct ft_rt_frame {
        uintptr_t pc; /* where the call returns to */
        uintptr_t registers[FT_CONSTRAINED_REGISTERS];
    } at[FT_RT_C_FRAMES];
} ft_rt_frames;

/* A thread that follows. */
typedef struct ft_rt_follower {
    uint32_t used;            /* 1: it is some thread's */
    uint32_t thread, created; /* of the schedule at hand; threads it created in the epoch */
    bool open;                /* a node is */
    uint64_t random;
    void *(*start)(void *);
    void *argument;
    pthread_t handle;
    bool known; /* the handle */
    /* where it stands at an epoch's end: */
    uintptr_t local;            /* the thread pointer */
    const ft_rt_frames *frames; /* NULL: the next selector needs none */
    bool returned;              /* it has ended by a return, with the result */
    uintptr_t result;
} ft_rt_follower;

typedef struct ft_rt_constrained_run {
    ft_constrained_header *head;
    ft_constrained_tables all;
    /* of the schedule at hand */
    const ft_constrained_schedule *schedule;
    ft_constrained_thread *threads;
    ft_rt_follower *at[FT_RT_C_THREADS]; /* by thread; NULL: it is not made yet */
    uintptr_t *bound;                    /* by object: its address; 0: not known yet */
    uintptr_t base, end;                 /* of the program */
    ft_rt_follower followers[FT_RT_C_FOLLOWERS];
    uint32_t arrived; /* threads that stand at the epoch's end */
    uint32_t left;    /* 1: some thread has left the schedule: all go on freely */
} ft_rt_constrained_run;
extern ft_rt_constrained_run ft_rt_c;

long ft_rt_c_futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit);
static inline bool ft_rt_c_is_free(void)
{
    return __atomic_load_n(&ft_rt_c.left, __ATOMIC_ACQUIRE);
}
/* Until the thread has done so many nodes; false: some thread has left the schedule meanwhile. */
bool ft_rt_c_await(const ft_constrained_edge *edge);

/* ---- epochs.c */
/* Begins with the schedule: of a later epoch, with its threads bound. */
void ft_rt_c_install(uint32_t schedule);
/* The thread's nodes are used up, and another epoch comes: false once all go on freely; else the
 * thread has nodes of that epoch. */
bool ft_rt_c_arrive(ft_rt_follower *self, const void *pc);
/* No schedule of the next epoch covers the state: UNCOVERED or LOST. */
void ft_rt_c_uncovered(ft_constrained_outcome outcome);
/* ---- selector.c: the schedule that the epoch's selector takes; NONE: none, *lost: because a local
 * variable, or a thread's result, is nowhere */
uint32_t ft_rt_c_select(uint32_t epoch, bool *lost);
/* ---- frames.c */
void ft_rt_c_frames_open(void); /* at the program's start, where some selector needs locals */
/* The calling thread's frames, from that of the program's code which pc returns to outwards. */
void ft_rt_c_find_frames(const void *pc, ft_rt_frames *frames);
/* The frame of the term's variable, and the variable's place in it; false: there is none. */
bool ft_rt_c_local(const ft_rt_frames *frames, const ft_constrained_term *cell,
                   const struct ft_rt_frame **frame, const ft_constrained_local **local);

/* ---- for the other folders */

extern bool ft_rt_constrained; /* threads follow a schedule */

bool ft_rt_c_open(void); /* at the program's start; true: it follows a schedule */
/* False: the calling thread follows none (any more), and the call is done as usual. Else the node
 * is open until ft_rt_c_leave. pc: of the call in the program. */
bool ft_rt_c_enter(ft_constrained_operation operation, const volatile void *object, const void *pc);
void ft_rt_c_leave(void);
/* With an open node: does its time limit pass? */
bool ft_rt_c_times_out(void);

/* ---- calls that do not return to the C library's own */
/* False: as of ft_rt_c_enter. */
bool ft_rt_c_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int *result, const void *pc);
bool ft_rt_c_barrier(pthread_barrier_t *barrier, int *result, const void *pc);
bool ft_rt_c_once(pthread_once_t *once, void (*initialise)(void), const void *pc);
bool ft_rt_c_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                    void *argument, int *result, const void *pc);
bool ft_rt_c_join(pthread_t handle, void **result, int *error, const void *pc);
void ft_rt_c_exit(void); /* the process ends */

/* A hook with nothing but its operation: the real call, once it is its turn. */
#define FT_RT_CONSTRAINED(operation, object, call)                                                 \
    do {                                                                                           \
        if (__builtin_expect(ft_rt_constrained, 0) &&                                              \
            ft_rt_c_enter(FT_CONSTRAINED_##operation##_OPERATION, object,                          \
                          __builtin_return_address(0))) {                                          \
            __typeof__(call) constrained_result = (call);                                          \
            ft_rt_c_leave();                                                                       \
            return constrained_result;                                                             \
        }                                                                                          \
    } while (0)

/* The same of a call that may time out: then `late` is its result, and it is not made. */
#define FT_RT_CONSTRAINED_UNTIL(operation, object, call, late)                                     \
    FT_RT_CONSTRAINED(operation, object, ft_rt_c_times_out() ? (late) : (call))

/* An atomic operation: open until the end of the block. */
static inline void ft_rt_c_close(const bool *open)
{
    if (*open) ft_rt_c_leave();
}
#define FT_RT_CONSTRAINED_SCOPE(operation, object, pc)                                             \
    bool constrained_scope __attribute__((cleanup(ft_rt_c_close), unused)) =                       \
        __builtin_expect(ft_rt_constrained, 0) &&                                                  \
        ft_rt_c_enter(FT_CONSTRAINED_##operation##_OPERATION, object, pc)

#pragma GCC visibility pop

#endif
