/* The state that every part of the runtime shares: the run's flags, threads, objects, writes.
 *
 * The runtime is linked into the recorded program. It allocates nothing by malloc, uses nothing of
 * libforetell but headers of tables, and is never instrumented itself.
 *
 * The folders hand these structures on to each other; each has one owner that changes it:
 *   state/state.h   flags of the run                          process/, log/, replay/
 *   state/thread.h  ft_rt_thread, one for each thread         scheduling/
 *   state/writes.h  a thread's accesses not yet in the log    accesses/, log/
 *   state/object.h  ft_rt_object, a mutex or the like         sync/
 *
 * Imports: raw. */
#ifndef FT_RECORD_STATE_H
#define FT_RECORD_STATE_H

#include <stdbool.h>

#include "raw/raw.h"

/* Hidden: hooks reach these without a detour by a table of addresses. */
#pragma GCC visibility push(hidden)

extern ft_raw_header *ft_rt_header; /* of the mapped log; NULL: nothing is recorded (log/) */
extern bool ft_rt_logging;          /* false: the recording has ended, the baton goes on (log/) */
extern bool ft_rt_following;        /* an order of actions does, in a recording (replay/) */
extern bool ft_rt_replaying;        /* a schedule decides which thread goes on (replay/) */
extern bool ft_rt_feeding;          /* threads get the inputs of another run (replay/) */
/* The program has started other processes, or armed a timer, so signals may come from outside
 * (process/). */
extern bool ft_rt_processes, ft_rt_timers;
extern bool ft_rt_forked; /* this is a child of the recorded process, and not recorded (process/) */

#pragma GCC visibility pop

#endif
