/* Scheduling: which thread runs, from one hook to the next.
 *
 * The baton: at most one thread runs at a time. A thread that comes to a hook without the baton
 * waits for it, so recorded values are exact and the log needs no lock. Exactly one thread is
 * FT_RT_RUNNING while the baton is taken. A thread that sleeps in a system call is *outside*: it
 * gave the baton up (calls with a hook), or the watchdog took it (all others).
 *   baton.c      turns, blocking and waking      deadlock.c   threads that wait for each other
 *   watchdog.c   calls that sleep unannounced    stall.c      the message if only signals can help
 *   passing.c    time that passes at once        last.c       the program's end comes last
 *   polls.c      threads that poll for ever      late.c       a run that is ended
 *   endless.c    waits for content that nobody sends
 *   kernel.h     threads as the kernel has them
 *   processor.c  all threads on one processor    needs.h      a schedule's or signal's decisions
 *
 * Imports: libc, log, raw, state, common/trace. */
#ifndef FT_RECORD_SCHEDULING_H
#define FT_RECORD_SCHEDULING_H

#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* ---- hooks (baton.c) */
/* Every hook is `if (!ft_rt_enter()) do it plainly; ...; ft_rt_leave();`. enter waits for the
 * baton, writes the pending write and returns the thread; NULL: not recorded, or inside already. */
/* Before a hook that takes a lock or joins. A signal that came before may be handled before or
 * behind it, as long as the thread need not wait; with a seed it is handled behind it, so that
 * handlers also run where their thread holds a lock. */
#define FT_RT_POSTPONE()                                                                           \
    do {                                                                                           \
        if (ft_rt_self && ft_rt_self->signals) ft_rt_self->postpones = true;                       \
    } while (0)
ft_rt_thread *ft_rt_enter(void);
ft_rt_thread *ft_rt_enter_holding(void); /* the same, but a pending write stays pending */
void ft_rt_go_on(ft_rt_thread *self);    /* after enter_holding: writes it */
void ft_rt_leave(ft_rt_thread *self);    /* hands the baton over if the turn has ended */
/* In the middle of a call of the C library, which may hold locks that no hook sees: the turn
 * neither ends nor counts. The caller leaves by clearing `inside`. */
ft_rt_thread *ft_rt_enter_within(void);
/* Around a call of the runtime that may wait for such a lock: the watchdog may take the baton. */
void ft_rt_lend(ft_rt_thread *self);
void ft_rt_take_back(ft_rt_thread *self);
/* Before a call that may sleep: the thread is outside, and its next hook brings it back. */
void ft_rt_outside(ft_rt_thread *self);
void ft_rt_yield(ft_rt_thread *self); /* ends the turn */
/* To the thread that ft_rt_follow_next says; returns with the baton. */
void ft_rt_give_way(ft_rt_thread *self);
/* After a step that made another thread ready: with a seed, the turn may end at the next hook. */
void ft_rt_may_end_turn(ft_rt_thread *self);
/* Replaying: waits until the schedule lets the thread go on; `hook` as in ft_rt_replay_may. */
void ft_rt_turn(ft_rt_thread *self, bool hook);

/* ---- waiting */
/* Gives the baton up until `what` is woken; false: the deadline (NULL: none) passed first. It also
 * returns after a signal handler that ran meanwhile (broke_off). */
bool ft_rt_block(ft_rt_thread *self, const void *what, const struct timespec *deadline);
void ft_rt_wake_all(const void *what);
void ft_rt_wake_first(const void *what); /* the longest waiter */
/* Wakes a blocked thread, with the baton's lock held. */
void ft_rt_wake(ft_rt_thread *thread, bool timed_out);
/* Called before a thread takes `what`. A loop that releases and retakes a lock may hold it at the
 * end of each turn; a thread that has waited through several turns goes first. */
void ft_rt_behind_starved(ft_rt_thread *self, const void *what);
void ft_rt_get_up(ft_rt_thread *self); /* the calling, blocked thread: for its signal handlers */

/* ---- passing.c */
/* With a seed: do so many nanoseconds of sleep or of a time limit pass before another thread goes
 * on? Then they have passed, for the clocks of the program. */
bool ft_rt_time_passes(const ft_rt_thread *self, int64_t ns);
int64_t ft_rt_time_left(const struct timespec *deadline); /* CLOCK_MONOTONIC; in nanoseconds */

/* ---- last.c */
/* The calling thread is about to end the program: with some seeds the other threads, those that
 * never ran above all, go on before that as far as they can. */
void ft_rt_go_last(ft_rt_thread *self);

/* ---- threads */
ft_rt_thread *ft_rt_thread_new(void);         /* ready; NULL: too many */
void ft_rt_thread_starts(ft_rt_thread *self); /* in the new thread: waits for its first turn */
void ft_rt_thread_done(ft_rt_thread *self);   /* gives the baton up for good */
ft_rt_thread *ft_rt_thread_of(pthread_t handle);
ft_rt_thread *ft_rt_thread_at(uint32_t id);    /* NULL: no thread has that number */
int ft_rt_other_tid(const ft_rt_thread *self); /* of a thread that is not stuck; 0: none */
void ft_rt_baton_start(void);                  /* the first thread, and the watchdog */
/* Logs the deadlocks of some threads when the program ends, since no handler has ended them. */
void ft_rt_log_deadlocks(void);

/* ---- processor.c */
/* Around a call by which the calling thread asks for its processors or starts a process: it has all
 * that the program was given. */
void ft_rt_processor_leave(void);
void ft_rt_processor_return(void);
void ft_rt_processor_in_child(void);             /* of fork, which is not recorded */
void ft_rt_processor_show(ft_rt_thread *thread); /* NULL: none. The same until its next turn */
void ft_rt_processor_give_up(void); /* the program places its threads itself from now on */

#pragma GCC visibility pop

#endif
