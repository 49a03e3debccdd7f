/* The process: start and end of the recording, its threads, child processes, signals and timers.
 *
 * The recording starts in the first constructor that runs and ends in the last destructor, or in
 * _exit. Each thread is known from its creation to its end. Child processes run unrecorded. Signal
 * handlers run as code of their thread, with the baton.
 *
 * Imports: accesses, annotations, assembly, constrained, exploring, files, inputs, libc, log,
 * memory, raw, replay, scheduling, state, sync, world, common/trace. */
#ifndef FT_RECORD_PROCESS_H
#define FT_RECORD_PROCESS_H

#include <pthread.h>

#pragma GCC visibility push(hidden)

/* ---- threads.c */
/* pthread_create, called at pc; function: the program's own that the thread runs, for its place. */
int ft_rt_create_from(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument, const void *function, const void *pc);
int ft_rt_join(pthread_t handle, void **result, const void *pc); /* pthread_join, called at pc */
/* In a process that was just forked: it has the parent's log mapped and none of its threads, so it
 * runs unrecorded. */
void ft_rt_in_child(void);

/* ---- children.c: before a process begins, which gets the descriptors and can end */
void ft_rt_give_away(const void *pc);
/* After all that the program does before a fork (pthread_atfork). */
void ft_rt_fork_prepare(void);
/* At the end: what forked processes waited for (raw/raw.h, ft_raw_want). */
void ft_rt_log_wants(void);

/* ---- signals.c */
/* The program starts with the signals ignored and blocked that were so in the recording. */
void ft_rt_signals_start(void);

#pragma GCC visibility pop

#endif
