/* Confinement of a worker: the system calls that a process may use that reads untrusted traces.
 *
 * A system call that is not on the list ends the process (SIGSYS), which the server reports as
 * such. A few calls that libraries try and can do without return an error instead. New threads are
 * allowed (the solver's timers); new processes and programs, files and sockets are not; memory is
 * never executable. */
#ifndef FT_SERVE_SANDBOX_H
#define FT_SERVE_SANDBOX_H

#include "base/status.h"

#define FT_SANDBOX_MOST 43 /* as many as OpenSSH's sandbox allows */

/* Both hold for the calling thread and those that it starts; the process cannot undo them.
 * FT_UNSUPPORTED: this kernel (or the sandbox around this process) has no such filter. */
ft_status ft_sandbox_calls(ft_error *err) FT_MUST_CHECK; /* seccomp: the list */
ft_status ft_sandbox_files(ft_error *err) FT_MUST_CHECK; /* Landlock: no file at all */
bool ft_sandbox_filters_calls(void);                     /* has ft_sandbox_calls succeeded? */

#endif
