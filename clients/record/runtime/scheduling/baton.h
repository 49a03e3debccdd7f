/* The inside of the scheduler, for the files of scheduling/ alone. All functions are called with
 * the baton's lock held unless their comment says otherwise. */
#ifndef FT_RECORD_BATON_H
#define FT_RECORD_BATON_H

#include "libc/contract.h"
#include "raw/raw.h"
#include "scheduling/scheduling.h"

enum { FT_RT_MS = 1000000 }; /* in nanoseconds */

#pragma GCC visibility push(hidden)

typedef enum ft_rt_order { FT_RT_NO_ORDER, FT_RT_ANY_ORDER, FT_RT_LATEST_FIRST } ft_rt_order;

extern struct ft_rt_baton {
    uint32_t lock;         /* futex: 0 free, 1 held, 2 held and waited for */
    ft_rt_thread *runner;  /* has the baton; NULL: no thread has */
    ft_rt_thread *sleeper; /* got the baton and is to be woken when the lock is free */
    ft_rt_thread *threads;
    uint32_t n_threads;
    uint64_t waits;        /* number of all waits so far, for their order */
    uint64_t random;       /* state; 0: round robin */
    uint64_t hooks;        /* number of hooks on the long way so far */
    ft_raw_end why;        /* the run is to end so; OPEN: it is not */
    bool due;              /* a deadlock of some threads is to be logged */
    ft_rt_thread *starved; /* was woken several times, and another thread was always faster */
    const void *missed;    /* the object that it waits for; NULL: no thread starves */
    ft_rt_thread *last;    /* goes on when no other thread can; NULL: none */
    ft_rt_order order;     /* of the others then */
    struct timespec until; /* after which it goes on in any case (CLOCK_MONOTONIC) */
} ft_rt_baton;

void ft_rt_baton_lock(void);
void ft_rt_baton_unlock(void);
void ft_rt_baton_pass_on(uint32_t from); /* to a ready thread, the next one after `from` first */
void ft_rt_baton_done(ft_rt_thread *thread, bool runs); /* it has ended; runs: with the baton */
/* For FT_CHECK: at most one thread runs, and it is the runner; blocked ones wait for something. */
bool ft_rt_baton_is_sound(void);
bool ft_rt_is_past(const struct timespec *deadline, const struct timespec *now);

/* ---- deadlock.c */
/* Does every thread wait for another one? Not if one is outside or waits with a deadline. */
bool ft_rt_is_deadlock(void);
void ft_rt_end_deadlocked(void); /* prints it, and ends the process */
/* Logs the request of each blocked thread, so that the trace has the deadlock. */
void ft_rt_log_requests(void);
/* Logs a deadlock of some threads while others go on, if `self`, about to block, closes its cycle.
 * Threads that wait for a thread of the cycle are stuck too. */
void ft_rt_log_stuck(ft_rt_thread *self);
/* The same for a program with signal handlers, any of which could end the deadlock: it is logged
 * when the watchdog has seen it for a while. Called by the thread with the baton, or by the
 * watchdog if no thread has it. */
void ft_rt_log_due(void);
/* Kept by the watchdog from one look to the next. */
typedef struct ft_rt_stall {
    time_t since;   /* 0: a thread goes on */
    bool told;      /* the message was printed */
    uint64_t which; /* sum of the waits in cycles: another one is another deadlock */
} ft_rt_stall;
void ft_rt_look_at_stall(ft_rt_stall *s);
void ft_rt_look_at_cycles(ft_rt_stall *s);

/* ---- processor.c */
void ft_rt_processor_start(void);
void ft_rt_processor_follow(ft_rt_thread *self); /* it has got the baton */
/* Called by the watchdog; runner: the thread that has the baton and does not sleep, else NULL. */
void ft_rt_processor_watch(ft_rt_thread *runner);

/* ---- passing.c */
/* The limit of the wait that the thread asks for has passed, so long it was. */
void ft_rt_log_expired(const ft_rt_thread *self, int64_t ns);

/* ---- stall.c: prints that every thread has waited for another one that long, while only a signal
 * handler could let one go on */
void ft_rt_stall_tell(const ft_rt_thread *threads, uint32_t n, uint32_t seconds);

/* ---- polls.c */
/* Called by the watchdog: ends a run in which every thread has polled unchanged values for a while,
 * so that none of them will ever go on. */
void ft_rt_look_at_polls(void);

/* Can only its own threads change what the program sees? Signals, children, timers, other processes
 * and fed inputs may do so at any time. */
bool ft_rt_is_closed(void);

/* ---- endless.c */
/* Called by the watchdog: ends a run in which every thread has waited for a while, and some for
 * content of descriptors that no other process has. */
void ft_rt_look_at_waits(ft_rt_stall *s);

/* ---- late.c */
/* Ends the run, with what each thread does in the log: at once if the baton can be had, else when
 * the turn at hand ends. Called by the watchdog. */
void ft_rt_end_overdue(ft_raw_end why);
void ft_rt_end_due(void); /* does so if it is due */

/* ---- watchdog.c */
bool ft_rt_seize(void); /* takes the baton from whoever has it; false: not at this moment */
bool ft_rt_watchdog_start(void);

#pragma GCC visibility pop

#endif
