/* Deadlocks: all threads wait for each other, or some while others go on. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "raw/raw.h"
#include "scheduling/baton.h"
#include "scheduling/needs.h"
#include "state/object.h"
#include "state/thread.h"
#include "trace/event.h"

/* Exit status of a program that deadlocked while it was recorded. */
enum { DEADLOCKED = 88, STALL_S = 3, ALONE_S = 1 };

bool ft_rt_is_deadlock(void)
{
    bool blocked = false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        const ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t->state == FT_RT_BLOCKED && !t->timed) blocked = true;
        if (t->state != FT_RT_BLOCKED && t->state != FT_RT_DONE) return false;
        if (t->state == FT_RT_BLOCKED && t->timed) return false;
    }
    return blocked;
}

/* Logs the thread's request as its own record, so that the trace has the deadlock. */
static void log_request(ft_rt_thread *t)
{
    ft_rt_thread *self = ft_rt_self;
    assert(t->state == FT_RT_BLOCKED && t->waits_for);
    if (t->stuck) return;
    ft_rt_self = t;
    FT_RT_LOG(BLOCKED, t->asks.kind, t->asks.flags, t->asks.target, t->asks.site);
    ft_rt_self = self;
    t->stuck = true;
}

void ft_rt_log_requests(void)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t->state == FT_RT_BLOCKED && !ft_rt_feed_starves(t)) log_request(t);
    }
}

/* The only thread that could let it go on: it joins that thread, or waits for its mutex; NULL:
 * several could. */
static ft_rt_thread *holder(const ft_rt_thread *t)
{
    if (t->state != FT_RT_BLOCKED || t->timed || ft_rt_feed_starves(t)) return NULL;
    assert(t->asks.kind != FT_EVENT_JOIN || t->asks.target < ft_rt_baton.n_threads);
    if (t->asks.kind == FT_EVENT_JOIN) return &ft_rt_baton.threads[t->asks.target];
    if (t->asks.kind != FT_EVENT_ACQUIRE) return NULL;
    const ft_rt_object *o = t->waits_for;
    assert(o);
    return o->class == FT_RAW_CLASS_MUTEX ? o->owner : NULL;
}

static bool is_in_cycle(const ft_rt_thread *t)
{
    const ft_rt_thread *at = holder(t);
    for (uint32_t i = 0; at && at != t && i < ft_rt_baton.n_threads; i++) at = holder(at);
    return at == t;
}

static bool is_stuck(const ft_rt_thread *t)
{
    const ft_rt_thread *by = holder(t);
    return !t->stuck && by && (by->stuck || is_in_cycle(t));
}

void ft_rt_log_stuck(ft_rt_thread *self)
{
    if (ft_rt_header->replay || !is_stuck(self)) return;
    ft_rt_hot = FT_RT_NO_THREAD;
    for (ft_rt_thread *t = self; t && !t->stuck; t = holder(t)) log_request(t);
    assert(self->stuck);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
            ft_rt_thread *t = &ft_rt_baton.threads[i];
            const ft_rt_thread *by = holder(t);
            if (t->stuck || !by || !by->stuck) continue;
            log_request(t);
            more = true;
        }
    }
}

void ft_rt_log_due(void)
{
    FT_REQUIRE(ft_rt_baton.lock);
    for (uint32_t i = 0; ft_rt_baton.due && i < ft_rt_baton.n_threads; i++)
        ft_rt_log_stuck(&ft_rt_baton.threads[i]);
    ft_rt_baton.due = false;
}

void ft_rt_log_deadlocks(void)
{
    ft_rt_baton_lock();
    ft_rt_baton.due = true;
    ft_rt_log_due();
    ft_rt_baton_unlock();
}

void ft_rt_end_deadlocked(void)
{
    FT_CHECK(ft_rt_is_deadlock());
    if (ft_rt_header->replay) ft_rt_replay_deadlock();
    ft_rt_say("deadlock: every thread waits for another thread");
    ft_rt_log_requests();
    ft_rt_log_end(FT_RAW_END_DEADLOCK);
    _exit(DEADLOCKED);
}

/* ---- the watchdog's looks */

/* Each waits for a mutex or for the end of a thread, and the thread that could provide it waits
 * too. A handler runs and then lets its thread wait on; it provides neither. */
static bool is_for_ever(void)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        const ft_rt_thread *at = &ft_rt_baton.threads[i];
        if (at->state != FT_RT_BLOCKED) continue;
        for (uint32_t n = 0; at && n < ft_rt_baton.n_threads; n++) at = holder(at);
        if (!at) return false;
    }
    return true;
}

/* Does nobody send the program a signal, as far as the recorder can see? */
static bool is_alone(void)
{
    static const __itimer_which_t clocks[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    if (!ft_rt_header->alone || ft_rt_timers || ft_rt_processes) return false;
    if ((uint32_t)syscall(SYS_getppid) != ft_rt_header->alone) return false;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct itimerval timer;
        if (getitimer(clocks[i], &timer)) return false;
        if (timer.it_value.tv_sec || timer.it_value.tv_usec) return false;
    }
    return true;
}

/* Only handlers could let a thread go on, and none has for a while. */
void ft_rt_look_at_stall(ft_rt_stall *s)
{
    struct timespec now;
    if (ft_rt_baton.runner || ft_rt_replaying || !ft_rt_is_deadlock()) {
        s->since = 0;
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert(now.tv_sec >= s->since);
    if (!s->since) *s = (ft_rt_stall){.since = now.tv_sec};
    bool alone = is_alone();
    if (s->told || now.tv_sec - s->since <= (alone ? ALONE_S : STALL_S)) return;
    s->told = true;
    if (is_for_ever() || alone)
        ft_rt_end_deadlocked();
    else
        ft_rt_stall_tell(ft_rt_baton.threads, ft_rt_baton.n_threads, STALL_S);
}

/* Some threads wait for each other, and no handler has ended that for a while. */
void ft_rt_look_at_cycles(ft_rt_stall *s)
{
    struct timespec now;
    uint64_t which = 0;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (is_stuck(&ft_rt_baton.threads[i])) which += ft_rt_baton.threads[i].waits_since + 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!which || which != s->which) *s = (ft_rt_stall){.since = now.tv_sec, .which = which};
    if (!which || ft_rt_header->replay || now.tv_sec - s->since <= STALL_S) return;
    ft_rt_baton.due = true;
    if (!ft_rt_baton.runner) ft_rt_log_due();
}
