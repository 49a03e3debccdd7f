/* Memory accesses: the hooks of the compiler's instrumentation (-fsanitize=thread).
 *
 * A plain access has a hook before it, an atomic one is done by the hook. Library calls and others
 * without instrumentation are recorded as ranges that are read or written in one piece; their hooks
 * call the functions below before the real function does it. Function entries and exits (frames.c)
 * give every access its stack.
 *
 * Imports: constrained, exploring, libc, log, raw, replay, scheduling, state, common/trace. */
#ifndef FT_RECORD_ACCESSES_H
#define FT_RECORD_ACCESSES_H

#include "log/hot.h"
#include "replay/replay.h"
#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* ---- access.c: ranges. Code without hooks is about to access that memory in one piece */
void ft_rt_read_range(const void *memory, size_t size, const void *pc);
void ft_rt_write_range(void *memory, size_t size, const void *pc);
/* A range that is copied without being looked at: what is uninitialised there stays so. */
void ft_rt_read_blindly(const void *memory, size_t size, const void *pc);
/* A range that leaves the program: nothing that the thread does next depends on it, so the writers
 * of a long one are not searched for. */
void ft_rt_read_outgoing(const void *memory, size_t size, const void *pc);
/* Opens a call with up to `ranges` ranges: the turn does not end before they are all accessed. */
void ft_rt_settle(uint32_t ranges);

/* The hooks before a read, whose value is in the log when they return, and before a write. */
void ft_rt_read(const void *address, uint64_t size, const void *pc);
void ft_rt_write(void *address, uint64_t size, const void *pc);

/* For the handler of a fault, with the baton. take: the pending write, if it is of the memory at
 * the faulting address, for it has not happened; put: back again. */
ft_rt_pending ft_rt_take_pending(ft_rt_thread *self, uintptr_t at);
void ft_rt_put_pending(ft_rt_thread *self, ft_rt_pending taken);

/* Touches memory that the program is about to read: if that faults, its handler runs as if there
 * were no hook. */
static FT_RT_INLINE void ft_rt_touch_now(const volatile void *memory)
{
    (void)*(const volatile unsigned char *)memory;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The same; if a witness ends before the read, the memory may be unmapped by its schedule. */
static FT_RT_INLINE void ft_rt_touch(const volatile void *memory)
{
    if (FT_RT_UNLIKELY(ft_rt_replaying) && ft_rt_replay_ends()) return;
    ft_rt_touch_now(memory);
}

#pragma GCC visibility pop

#endif
