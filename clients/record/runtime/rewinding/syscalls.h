/* What a run changes in the kernel.
 *
 * A copy of the process has descriptors, mappings, signal handlers and the like of its own; memory
 * that is copied back has not. So every system call of a run is looked at, whoever makes it: the
 * kernel reports each by a signal (syscall user dispatch, Linux 5.11), at a cost of about a
 * microsecond. The table in syscalls.c says which calls leave nothing behind, which can be taken
 * back (descriptors that the run opened, mappings that it made, handlers that it set), and the rest
 * spoils the run's process (ft_rt_rewinding_spoil). What processes share anyway, contents of files
 * and pipes and the positions in them, is none of its business.
 *
 * The runtime's own calls in a run are looked at like others, but for those through
 * ft_rt_syscalls_watch(false). */
#ifndef FT_RECORD_SYSCALLS_H
#define FT_RECORD_SYSCALLS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* By the explorer, once. False: the kernel cannot report calls. */
bool ft_rt_syscalls_start(void);
/* Are calls reported from now on? Returns whether they were. */
bool ft_rt_syscalls_watch(bool watch);
/* By the explorer, unwatched: after a run that was not spoilt. */
void ft_rt_syscalls_take_back(void);

#pragma GCC visibility pop

#endif
