/* Progress of a replay whose next thread is in a system call (progress.c). Both are called by the
 * watchdog with the baton's lock held. */
#ifndef FT_RECORD_REPLAY_PROGRESS_H
#define FT_RECORD_REPLAY_PROGRESS_H

#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* Kept from one look to the next. */
typedef struct ft_rt_progress {
    const ft_rt_thread *next;
    int64_t used; /* its processor time, in ms */
} ft_rt_progress;

/* The next thread of the schedule waits for another one of the program, and all others wait for
 * their turn or for each other: nothing goes on any more. */
bool ft_rt_progress_is_over(const ft_rt_thread *next);
/* It sleeps for some time, or has used the processor since the last look. */
bool ft_rt_progress_is_made(const ft_rt_thread *next, ft_rt_progress *progress);

#pragma GCC visibility pop

#endif
