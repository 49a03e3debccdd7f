/* A thread of the recorded program, as the runtime keeps it from its creation on. */
#ifndef FT_RECORD_THREAD_H
#define FT_RECORD_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "state/state.h"
#include "state/writes.h"

#pragma GCC visibility push(hidden)

enum { FT_RT_THREADS = 4096 };  /* created in all, more end the recording; then at once */
enum { FT_RT_ANYWHERE = -1 };   /* ft_rt_thread.processor */
#define FT_RT_NOBODY UINT32_MAX /* ft_rt_thread.actor */
#define FT_RT_ANY    UINT32_MAX /* ft_rt_thread.kind */

typedef enum ft_rt_state {
    FT_RT_READY,   /* waits for the baton */
    FT_RT_RUNNING, /* has the baton */
    FT_RT_BLOCKED, /* waits until `waits_for` is woken; perhaps until `deadline` */
    FT_RT_OUTSIDE, /* in a system call; comes back by itself */
    FT_RT_DONE
} ft_rt_state;

/* An atomic that was read again and again, or changed to the value it had (scheduling/baton.c). */
typedef struct ft_rt_spin {
    uintptr_t address;
    int64_t value;
    int64_t left; /* in that turn, after the last time */
    uint32_t times;
} ft_rt_spin;

/* What a thread waits for, logged if it waits forever (raw/raw.h, BLOCKED). */
typedef struct ft_rt_request {
    uint32_t kind, flags; /* of the event (trace/event.h) */
    uint32_t target;      /* object or thread */
    uint32_t site;
} ft_rt_request;

typedef struct ft_rt_thread {
    uint32_t id;
    ft_rt_state state;
    uint32_t go;     /* futex: whether the baton was handed over (scheduling/baton.c) */
    int tid;         /* the kernel's, 0 before it runs */
    int told;        /* fed: its tid in the recording, which the program gets; 0: not asked yet */
    int processor;   /* that it has to be on, or FT_RT_ANYWHERE (scheduling/processor.c) */
    bool leaves;     /* it keeps the processors that the program gave it */
    bool inside;     /* in the runtime: hooks that happen now (signals) are ignored */
    uint32_t closes; /* calls of dlclose that it is in */
    bool lent; /* inside, in a call that may wait for others: the watchdog may take the baton */
    pthread_t handle;
    uintptr_t stack_end; /* first address after its stack, once it runs */
    const void *waits_for;
    ft_rt_request asks;   /* of its last wait */
    uint64_t waits_since; /* order of the waits, for first come, first served */
    uint32_t tries;       /* waits in the current call: each time another thread was faster */
    bool timed, timed_out;
    struct timespec deadline; /* CLOCK_MONOTONIC */
    bool stuck;               /* it waits forever, and the log has its request */
    bool parked;              /* waits for the baton, without a lock */
    bool interrupted;         /* blocked, but up for a signal handler */
    bool broke_off, restarts; /* its last wait ended by a handler alone; the call then goes on */
    uint64_t signals;         /* that wait for their handlers: 1 << (number - 1) */
    bool takes;               /* replaying: it is at the step that a handler begins with */
    bool postpones; /* its handlers may run behind the hook that begins (FT_RT_POSTPONE) */
    int64_t left;   /* events left in this turn */
    ft_rt_late late;
    ft_rt_pending pending;
    ft_rt_held held; /* only with a pending write */
    ft_rt_look look;
    ft_rt_spin spin;
    uint32_t ignores; /* open regions whose accesses are not candidates */
    void *(*start)(void *);
    void *argument;
    uint32_t tried; /* site of the last try to join it that found it running, 0: none */
    bool gone;      /* done, and the kernel is done with it too */
    bool masked;    /* all signals are blocked until it starts; then `mask` is restored */
    sigset_t mask;
    uint32_t parent, number, children; /* who created it, as which, and how many it created */
    uint32_t follows;   /* its actor in an order that is followed, FT_RT_NOBODY: none */
    bool on_descriptor; /* following: the current hook is a call on a descriptor */
    /* replaying */
    uint32_t actor;            /* its number in the schedule, FT_RT_NOBODY: none */
    uint32_t steps;            /* done (raw/raw.h, FT_RAW_STEPS) */
    uint32_t inputs, passages; /* fed: inputs, and steps on channels */
    bool live;                 /* it is not fed any more */
    bool starves;              /* it asks, without a time limit, for input that is used up */
    uint32_t kind;             /* ft_event_kind of the current hook, FT_RT_ANY: not known yet */
    const void *pc;            /* its caller, NULL: not known yet */
    uintptr_t address;         /* of the memory that it is about to access */
    uint64_t size;             /* 0: none, or not known */
    bool atomic;               /* following: the access is an atomic one */
    uintptr_t object;          /* following: that it is about to synchronise on; 0: not known */
} ft_rt_thread;

extern __thread ft_rt_thread *ft_rt_self; /* NULL: not recorded (before start, after fork) */

#pragma GCC visibility pop

#endif
