/* Threads as the kernel has them (/proc/self/task). The files may be missing: then nothing is
 * known. */
#ifndef FT_RECORD_SCHEDULING_KERNEL_H
#define FT_RECORD_SCHEDULING_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The letter of its state, 0: not known. status (or NULL): as wait() would have it, once it is a
 * zombie. */
char ft_rt_kernel_state(int tid, int *status);
int64_t ft_rt_kernel_used(int tid); /* its processor time, in ms */

/* The system call that a thread sleeps in: */
typedef enum ft_rt_call_kind {
    FT_RT_CALL_OTHER, /* none of the others, or not known */
    FT_RT_CALL_SLEEP, /* some time passes */
    FT_RT_CALL_WAIT   /* a futex without a time limit, of this process if it shares no memory */
} ft_rt_call_kind;
ft_rt_call_kind ft_rt_kernel_call(int tid);

enum { FT_RT_CALL_FDS = 64 };
/* The descriptors whose content a thread waits for, without a time limit, in its system call;
 * returns how many. 0: it does something else, waits for room to write, or that is not known. */
int ft_rt_kernel_waits(int tid, int fds[FT_RT_CALL_FDS]);

#pragma GCC visibility pop

#endif
