/* Functions that the log calls and that folders above it define. */
#ifndef FT_RECORD_LOG_NEEDS_H
#define FT_RECORD_LOG_NEEDS_H

#include "log/log.h"
#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* scheduling/: after an atomic access that left the value as it was. Ends the turn if the thread
 * seems to wait for another one in a loop. */
void ft_rt_may_spin(ft_rt_thread *self, uintptr_t address, int64_t value);

/* scheduling/: the calling thread's record of these bytes, which may begin with its TURN, or a
 * plain write whose record has no value yet. */
void ft_rt_polls_meet(const unsigned char *record, const unsigned char *end);
void ft_rt_polls_meet_write(uintptr_t address);

/* replay/: in place of the record, while a schedule is followed. */
void ft_rt_replay_record(ft_rt_thread *self, ft_raw_operation operation, const uint64_t *operands);
/* A step of that kind is done, or will be before the thread's next hook. */
void ft_rt_replay_step(ft_rt_thread *self, uint32_t kind, uint32_t site);

/* memory/: logs the library with that code, if it is new. */
void ft_rt_log_library(uintptr_t pc);

#pragma GCC visibility pop

#endif
