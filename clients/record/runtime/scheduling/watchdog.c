/* The watchdog: a thread of the runtime that looks every few milliseconds for states that no hook
 * sees: a thread that sleeps in a call without a hook, or spins; waits whose time limit has passed;
 * threads that wait for each other; a thread that has ended without its hook. */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "raw/raw.h"
#include "scheduling/baton.h"
#include "scheduling/kernel.h"
#include "scheduling/needs.h"
#include "state/thread.h"

enum { WATCH_MS = 5, SPIN_MS = 1000, LOOK = 100 /* times */ };

static bool sleeps(int tid)
{
    char state = ft_rt_kernel_state(tid, NULL);
    return state == 'S' || state == 'D';
}

static void end_timed_waits(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t->state != FT_RT_BLOCKED || !t->timed || !ft_rt_is_past(&t->deadline, &now)) continue;
        ft_rt_wake(t, true);
    }
}

/* In the runtime, where the baton is not taken from it. */
static bool is_at_work(const ft_rt_thread *t)
{
    return __atomic_load_n(&t->inside, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&t->lent, __ATOMIC_SEQ_CST);
}

/* Takes the baton away; false if its runner came to a hook at this very moment, or has come to one
 * since it had that many events left. The runner sets `inside` and then checks whether it still has
 * the baton, without a fence between: the barrier here, on all cores, stands for that fence. */
static bool steal(ft_rt_thread *runner, int64_t left)
{
    assert(ft_rt_baton.lock && ft_rt_baton.runner == runner);
    __atomic_store_n(&ft_rt_hot, FT_RT_NO_THREAD, __ATOMIC_SEQ_CST);
    __atomic_store_n(&ft_rt_baton.runner, NULL, __ATOMIC_SEQ_CST);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (!is_at_work(runner) && runner->left == left) return true;
    __atomic_store_n(&ft_rt_baton.runner, runner, __ATOMIC_SEQ_CST);
    return false;
}

/* By which the watchdog sees a runner move. */
typedef struct seen {
    const ft_rt_thread *runner;
    uint64_t hooks;
    int64_t left;
    int64_t used; /* processor time when it moved, in ms; -1: not looked at yet */
} seen;

/* The thread waits for others in a loop without a recorded access (inline assembly), or computes
 * for long in uninstrumented code. Its last access has happened. */
static bool spins(const ft_rt_thread *runner, seen *s)
{
    int64_t used = ft_rt_kernel_used(runner->tid);
    if (s->used < 0) s->used = used;
    return used - s->used >= SPIN_MS;
}

static bool take(ft_rt_thread *runner, int64_t left)
{
    if (!steal(runner, left)) return false;
    assert(!ft_rt_self && runner->state == FT_RT_RUNNING);
    ft_rt_self = runner; /* whose records these are */
    ft_rt_flush(runner);
    FT_RT_LOG(UNSEEN, runner->id);
    ft_rt_self = NULL;
    runner->state = FT_RT_OUTSIDE;
    return true;
}

/* A runner that sleeps in a call without a hook is outside, and so is one that spins. */
static void take_from_sleeper(seen *before)
{
    ft_rt_thread *runner = ft_rt_baton.runner;
    seen now = {runner, ft_rt_baton.hooks, runner ? runner->left : 0, -1};
    bool moved =
        now.runner != before->runner || now.hooks != before->hooks || now.left != before->left;
    if (moved) *before = now;
    if (moved || !runner || !runner->tid || is_at_work(runner)) return;
    if (!sleeps(runner->tid) && !spins(runner, before)) return;
    if (take(runner, now.left)) ft_rt_baton_pass_on(runner->id);
}

bool ft_rt_seize(void)
{
    ft_rt_thread *runner = ft_rt_baton.runner;
    FT_REQUIRE(ft_rt_baton.lock);
    return !runner || (!is_at_work(runner) && take(runner, runner->left));
}

/* ---- threads that ended in no way that a hook sees: by the system call itself, or by a filter of
 * system calls that ends the thread alone */

/* The process's first thread stays visible until the process ends, with its exit status. */
static bool is_no_more(const ft_rt_thread *t, int *status)
{
    if (t->state == FT_RT_DONE || !t->tid) return false;
    int process = (int)syscall(SYS_getpid);
    if (t->tid == process) return ft_rt_kernel_state(t->tid, status) == 'Z';
    return syscall(SYS_tgkill, process, t->tid, 0) && errno == ESRCH;
}

/* If it had the baton, its END is the last record. */
static void bury(ft_rt_thread *t)
{
    bool ran = ft_rt_baton.runner == t;
    assert(t->state != FT_RT_DONE && ran == (t->state == FT_RT_RUNNING));
    if (ran) {
        ft_rt_hot = FT_RT_NO_THREAD;
        ft_rt_self = t;
        ft_rt_flush(t);
        ft_rt_log(FT_RAW_END, NULL, 0);
        ft_rt_self = NULL;
    }
    ft_rt_baton_done(t, ran);
}

/* False: there was none. */
static bool bury_all(int *status)
{
    bool any = false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        if (!is_no_more(&ft_rt_baton.threads[i], status)) continue;
        bury(&ft_rt_baton.threads[i]);
        any = true;
    }
    return any;
}

/* Called by the process's last thread: the process ends as the thread that ended without a hook. */
static void end_as(int status)
{
    if (WIFSIGNALED(status)) syscall(SYS_kill, syscall(SYS_getpid), WTERMSIG(status));
    syscall(SYS_exit, WEXITSTATUS(status));
}

/* Main's thread too: the process goes on until all have ended. */
static bool are_done(void)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (ft_rt_baton.threads[i].state != FT_RT_DONE) return false;
    return true;
}

static void *watch(void *unused)
{
    seen before = {0};
    ft_rt_stall stalled = {.since = 0}, cycles = {.since = 0}, starved = {.since = 0};
    bool buried = false;
    int status = 0;
    (void)unused;
    for (uint32_t looks = 1, ended = false; !ended; looks++) {
        struct timespec pause = {.tv_nsec = (long)WATCH_MS * FT_RT_MS};
        syscall(SYS_nanosleep, &pause, NULL);
        ft_rt_baton_lock();
        if (ft_rt_header->replay) ft_rt_replay_watch();
        if (!ft_rt_replaying && !ft_rt_feed_records()) end_timed_waits();
        take_from_sleeper(&before);
        if (looks % LOOK == 0) buried = bury_all(&status) && are_done();
        if (!ft_rt_baton.runner) ft_rt_baton_pass_on(0);
        ft_rt_processor_watch(ft_rt_baton.runner);
        ft_rt_look_at_stall(&stalled);
        ft_rt_look_at_polls();
        if (looks % LOOK == 0) ft_rt_look_at_waits(&starved);
        if (__atomic_load_n(&ft_rt_header->late, __ATOMIC_RELAXED))
            ft_rt_end_overdue(FT_RAW_END_LATE);
        if (ft_rt_signals_handled()) ft_rt_look_at_cycles(&cycles);
        ended = are_done();
        ft_rt_baton_unlock();
    }
    if (buried) end_as(status);
    return NULL; /* as the process's last thread, which ends it */
}

/* The small stack is none where the program's thread-local memory, which lies in it too, is large.
 */
bool ft_rt_watchdog_start(void)
{
    pthread_t watchdog;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    size_t usual = 0;
    pthread_attr_getstacksize(&attributes, &usual);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    int code = FT_REAL(pthread_create)(&watchdog, &attributes, watch, NULL);
    if (code && !pthread_attr_setstacksize(&attributes, usual))
        code = FT_REAL(pthread_create)(&watchdog, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}
