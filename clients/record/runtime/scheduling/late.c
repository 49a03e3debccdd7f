/* Ends of a run that would go on for ever, or too long: the log gets what each thread does. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/raw.h"
#include "scheduling/baton.h"
#include "scheduling/kernel.h"
#include "state/thread.h"

enum { LIVE_LOCKED = 88 }; /* exit status, as of a deadlock */

static void log_doing(const ft_rt_thread *t)
{
    if (t->state == FT_RT_DONE || !t->tid) return;
    bool sleeps = t->state == FT_RT_OUTSIDE && ft_rt_kernel_state(t->tid, NULL) == 'S';
    if (t->state == FT_RT_BLOCKED)
        FT_RT_LOG(DOING, t->id, FT_RAW_DOING_WAITS, t->asks.kind, t->asks.site);
    else
        FT_RT_LOG(DOING, t->id, sleeps ? FT_RAW_DOING_SLEEPS : FT_RAW_DOING_RUNS, 0, 0);
}

void ft_rt_end_due(void)
{
    ft_raw_end why = ft_rt_baton.why;
    FT_REQUIRE(ft_rt_baton.lock);
    if (!why || !ft_rt_logging) return;
    ft_rt_polling = false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) log_doing(&ft_rt_baton.threads[i]);
    ft_rt_log_end(why);
    if (why == FT_RAW_END_LATE) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    ft_rt_say(why == FT_RAW_END_LIVE_LOCK
                  ? "live-lock: every thread polls values that no thread changes"
                  : "deadlock: every thread waits for another thread, or for content that only "
                    "another thread can send");
    _exit(LIVE_LOCKED);
}

void ft_rt_end_overdue(ft_raw_end why)
{
    FT_REQUIRE(why == FT_RAW_END_LATE || why == FT_RAW_END_LIVE_LOCK || why == FT_RAW_END_ENDLESS);
    ft_rt_baton.why = why;
    if (ft_rt_seize()) ft_rt_end_due();
}
