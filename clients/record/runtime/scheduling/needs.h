/* Decisions that the baton asks for and that folders above it take: a schedule that is followed,
 * inputs that are fed, signals, symbolic notes. */
#ifndef FT_RECORD_SCHEDULING_NEEDS_H
#define FT_RECORD_SCHEDULING_NEEDS_H

#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* ---- replay/replay.c: called by the thread with the baton, or with the baton's lock held */
/* The running thread comes to its next step, or back from one: true if it may do it. False: the
 * baton is for another thread (ft_rt_replay_next). `hook`: it stands before the step that its
 * fields `kind` and `pc` describe. */
bool ft_rt_replay_may(ft_rt_thread *self, bool hook);
/* The thread whose turn it is, if it can go on; NULL: none can at the moment. */
ft_rt_thread *ft_rt_replay_next(void);
void ft_rt_replay_born(ft_rt_thread *child, ft_rt_thread *parent);
/* The signal whose handler the thread has to run next, 0: something else. */
int ft_rt_replay_handles(const ft_rt_thread *self);
/* The schedule says that its wait ends by its time limit. */
bool ft_rt_replay_times_out(const ft_rt_thread *thread);
/* The waiter of `what` that a signal wakes: the one that the schedule has go on next, else one that
 * is not to sleep at its end, nor until its time limit; NULL: any. */
ft_rt_thread *ft_rt_replay_waiter(const void *what);
void ft_rt_replay_watch(void);    /* called now and then: ends a replay without progress */
void ft_rt_replay_deadlock(void); /* all threads wait for each other */

/* ---- replay/follow.c: while ft_rt_following (state/state.h) */
/* The thread is at a hook whose place its field `pc` has: waits for its turn if it is an action. */
void ft_rt_follow_hook(ft_rt_thread *self);
void ft_rt_follow_resumed(ft_rt_thread *self); /* it has the baton again, inside a call */
/* The thread whose turn it is, if it can go on. NULL: none can at the moment, or the program does
 * something else and the order has ended. */
ft_rt_thread *ft_rt_follow_next(void);
ft_rt_thread *ft_rt_follow_waiter(const void *what); /* that a signal wakes; NULL: any */
void ft_rt_follow_born(ft_rt_thread *child, const ft_rt_thread *parent);

/* ---- replay/feed.c */
bool ft_rt_feed_records(void); /* is this a recording that is fed? */
/* Does the thread wait for input that arrives only if another thread goes on? */
bool ft_rt_feed_starves(const ft_rt_thread *thread);
void ft_rt_feed_ends(void) __attribute__((noreturn)); /* no thread goes on */

/* ---- inputs/channels.c */
/* A pipe, socket pair or event descriptor that the program made and gave to no other process, as
 * far as its hooks have seen. */
bool ft_rt_fd_is_own(int fd);

/* ---- memory/map.c */
bool ft_rt_map_shares(void); /* memory that other processes may write */

/* ---- inputs/clock.c */
void ft_rt_clock_passes(int64_t ns); /* the program's clocks are put on */

/* ---- process/signals.c */
bool ft_rt_signals_handled(void); /* the program has handlers: no wait lasts forever for sure */
bool ft_rt_signals_wait(void);    /* for the calling thread, which does not block them */
bool ft_rt_signal_waits(const ft_rt_thread *thread, int number); /* 0: false */
bool ft_rt_signals_blocked(int number); /* by the calling thread, as in a handler that masks it */
/* Runs the handlers of signals that wait (replaying: of those that the schedule has now). The
 * thread has the baton and is inside before and after. False: one of them wants the call that it
 * interrupted to end. */
bool ft_rt_signals_deliver(ft_rt_thread *self);

/* ---- annotations/symbolic.c */
void ft_sym_flush(void); /* logs the calling thread's notes */

#pragma GCC visibility pop

#endif
