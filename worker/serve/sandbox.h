/* Confinement of a worker: what a process that reads strangers' traces may ask of the kernel.
 *
 * A system call beyond the list ends the process (SIGSYS), which the server reports as itself. A
 * few that libraries try and do without are answered with an error instead. New threads are let be
 * (the solver's timers), new processes and programs, files and sockets are not; memory is never
 * executable. */
#ifndef FT_SERVE_SANDBOX_H
#define FT_SERVE_SANDBOX_H

#include "base/status.h"

#define FT_SANDBOX_MOST 43 /* what OpenSSH's sandbox allows */

/* Both for the calling thread and those that it starts; the process cannot undo them.
 * FT_UNSUPPORTED: this kernel (or the sandbox around this process) has no such filter. */
ft_status ft_sandbox_calls(ft_error *err) FT_MUST_CHECK; /* seccomp: the list */
ft_status ft_sandbox_files(ft_error *err) FT_MUST_CHECK; /* Landlock: no file at all */

#endif
