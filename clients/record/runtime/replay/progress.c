/* Does a replay get anywhere while it waits for a thread that is in a system call? The kernel says
 * in which one: a sleep and processor time are progress, and a wait for other threads of the
 * program, none of which may go on before it, never ends. */
#include "replay/progress.h"
#include "libc/contract.h"
#include "scheduling/kernel.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/state.h"

static bool is_held(const ft_rt_thread *t)
{
    if (t->state == FT_RT_READY || t->state == FT_RT_DONE) return true;
    if (t->state == FT_RT_BLOCKED) return !t->timed && !t->interrupted;
    if (t->state != FT_RT_OUTSIDE || !t->tid) return false;
    return ft_rt_kernel_call(t->tid) == FT_RT_CALL_WAIT;
}

bool ft_rt_progress_is_over(const ft_rt_thread *next)
{
    const ft_rt_thread *t;
    FT_REQUIRE(next);
    if (next->state != FT_RT_OUTSIDE || ft_rt_timers || ft_rt_processes) return false;
    if (ft_rt_signals_handled()) return false;
    for (uint32_t i = 0; (t = ft_rt_thread_at(i)); i++)
        if (!is_held(t)) return false;
    return true;
}

bool ft_rt_progress_is_made(const ft_rt_thread *next, ft_rt_progress *p)
{
    FT_REQUIRE(next);
    bool same = p->next == next;
    int64_t used = next->tid ? ft_rt_kernel_used(next->tid) : 0, before = p->used;
    if (!same || used != before) *p = (ft_rt_progress){next, used};
    if (same && used > before) return true;
    bool outside = next->state == FT_RT_OUTSIDE && next->tid;
    return outside && ft_rt_kernel_call(next->tid) == FT_RT_CALL_SLEEP;
}
