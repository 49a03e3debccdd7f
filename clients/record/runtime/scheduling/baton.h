/* The baton's inside, for baton.c, deadlock.c and watchdog.c alone. All is done with its lock held
 * but where it is said. */
#ifndef FT_RECORD_BATON_H
#define FT_RECORD_BATON_H

#include "libc/contract.h"
#include "scheduling/scheduling.h"

enum { FT_RT_MS = 1000000 }; /* in nanoseconds */

#pragma GCC visibility push(hidden)

extern struct ft_rt_baton {
    uint32_t lock; /* futex: 0 free, 1 held, 2 held and waited for */
    ft_rt_thread *runner;
    ft_rt_thread *sleeper; /* has been granted the baton and is to be woken when the lock is free */
    ft_rt_thread *threads;
    uint32_t n_threads;
    uint64_t waits;        /* ever, for their order */
    uint64_t random;       /* state; 0: round robin */
    uint64_t hooks;        /* on the long way */
    bool due;              /* a deadlock of some threads is to be logged */
    ft_rt_thread *starved; /* was woken and found what it waited for gone, time and again; */
    const void *missed;    /* that; NULL: nobody was */
} ft_rt_baton;

void ft_rt_baton_lock(void);
void ft_rt_baton_unlock(void);
void ft_rt_baton_pass_on(uint32_t from); /* to whoever is ready, behind that thread first */
void ft_rt_baton_done(ft_rt_thread *thread, bool runs); /* it has ended, with the baton or not */
/* For FT_CHECK: at most one thread runs, and it is the runner; blocked ones wait for something. */
bool ft_rt_baton_is_sound(void);
bool ft_rt_is_past(const struct timespec *deadline, const struct timespec *now);

/* ---- deadlock.c */
/* Nobody is ready: fine while somebody is outside or waits with a deadline. */
bool ft_rt_is_deadlock(void);
void ft_rt_end_deadlocked(void); /* says so, and ends the process */
/* So that the trace has it: what each blocked thread waits for. */
void ft_rt_log_requests(void);
/* A deadlock of some threads while others go on is in the trace as soon as it is there; those that
 * wait for its threads are stuck too. */
void ft_rt_log_stuck(ft_rt_thread *self);
/* The same where there are handlers: one of them could do anything, and is waited for a while, the
 * watchdog says how long. By the thread with the baton, or the watchdog where no thread has it. */
void ft_rt_log_due(void);
/* What the watchdog keeps between its looks. */
typedef struct ft_rt_stall {
    time_t since; /* 0: somebody goes on */
    bool told;
    uint64_t which; /* waits, of those that wait for each other */
} ft_rt_stall;
void ft_rt_look_at_stall(ft_rt_stall *s);
void ft_rt_look_at_cycles(ft_rt_stall *s);

/* ---- processor.c */
void ft_rt_processor_start(void);
void ft_rt_processor_follow(ft_rt_thread *self); /* it has got the baton */
/* Called by the watchdog; runner: the thread that has the baton and does not sleep, else NULL. */
void ft_rt_processor_watch(ft_rt_thread *runner);

/* ---- stall.c: every thread has waited for another one that long, and there are handlers */
void ft_rt_stall_tell(const ft_rt_thread *threads, uint32_t n, uint32_t seconds);

/* ---- watchdog.c */
bool ft_rt_watchdog_start(void);

#pragma GCC visibility pop

#endif
