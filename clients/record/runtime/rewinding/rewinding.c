/* The explorer's loop, and the signals that give it control. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"
#include "rewinding/rewinding.h"
#include "rewinding/signals.h"
#include "rewinding/snapshot.h"
#include "rewinding/syscalls.h"

/* The C library keeps this signal for itself and masks it nowhere: it cancels threads, which the
 * recorder refuses. */
enum { TICK = 32, TICK_MS = 20, STACK = 256 << 10, SIGNAL_STACK = 64 << 10 };

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

static struct explorer {
    ft_rt_rewinding_calls calls;
    ft_rt_context explorer;
    ft_rt_context at_first_choice;
    ft_rt_context left; /* where an ended run's last context is put, for nobody */
    const char *why;    /* there is no snapshot */
    const char *spoilt;
    bool in_run;
    uint64_t runs, cost;
    uint32_t seen, ticks; /* value of *moves, and the ticks since it changed */
    char signal_stack[SIGNAL_STACK];
    char stack[STACK];
} * explorer;

static ft_rt_context first;

ft_rt_context *ft_rt_rewinding_first(void)
{
    return &first;
}

bool ft_rt_rewinds(void)
{
    return explorer != NULL;
}

void ft_rt_rewinding_spoil(const char *why)
{
    if (explorer && !explorer->spoilt) explorer->spoilt = why;
}

bool ft_rt_rewinding_in_run(void)
{
    return explorer && explorer->in_run;
}

uint64_t ft_rt_rewinding_cost(void)
{
    return explorer ? explorer->cost : 0;
}

/* ---- signals */

static bool handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    ft_rt_kernel_action a = {handler, (unsigned long)(flags | SA_SIGINFO | FT_RT_RESTORER),
                             ft_rt_syscalls_return, 0};
    return !syscall(SYS_rt_sigaction, number, &a, NULL, FT_RT_MASK_SIZE);
}

/* The program has no handler of its own, and does not ignore it. */
static bool is_default(int number)
{
    ft_rt_kernel_action a;
    return !syscall(SYS_rt_sigaction, number, NULL, &a, FT_RT_MASK_SIZE) && !a.handler;
}

/* The stack that it runs on is left as it is: the next signal begins at its end again. */
static void crash(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (!explorer->in_run) {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        FT_REAL(sigaction)(number, &plain, NULL);
        return; /* it happens again */
    }
    explorer->calls.crashed(number, info);
    ft_rt_rewinding_end();
}

/* On the running thread's own stack, so that it can be switched away from and come back; the next
 * tick may come before it does. */
static void tick(int number, siginfo_t *info, void *unused)
{
    const ft_rt_rewinding_calls *c = &explorer->calls;
    int error = errno;
    (void)number;
    (void)info;
    (void)unused;
    uint32_t moves = __atomic_load_n(*c->moves, __ATOMIC_RELAXED);
    if (!explorer->in_run || moves != explorer->seen) {
        explorer->seen = moves;
        explorer->ticks = 0;
    } else if (++explorer->ticks * TICK_MS >= c->patience_ms) {
        explorer->ticks = 0;
        c->hung();
    }
    errno = error;
}

/* Ticks of the processor time of the only thread: one that sleeps in a call without a hook is not
 * seen here, but by the explorer outside, which ends the process. */
static bool start_ticks(void)
{
    enum { THREAD_ID = 4, NANOSECONDS = 1000000 };
    struct itimerspec each = {{0, (long)TICK_MS * NANOSECONDS}, {0, (long)TICK_MS * NANOSECONDS}};
    struct sigevent event;
    int timer = 0;
    memset(&event, 0, sizeof event);
    event.sigev_notify = THREAD_ID;
    event.sigev_signo = TICK;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    return handle(TICK, tick, SA_RESTART | SA_NODEFER) &&
           !syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) &&
           !syscall(SYS_timer_settime, timer, 0, &each, NULL);
}

/* A program's own alternate stack is left for good. */
static bool use_signal_stack(void)
{
    stack_t s = {.ss_sp = explorer->signal_stack, .ss_size = SIGNAL_STACK};
    return !syscall(SYS_sigaltstack, &s, NULL);
}

static bool start_signals(void)
{
    if (!use_signal_stack() || !start_ticks()) return false;
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (is_default(fatal[i]) && !handle(fatal[i], crash, SA_ONSTACK | SA_NODEFER)) return false;
    return true;
}

/* ---- the loop */

static uint64_t now(void)
{
    struct timespec at;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* The mappings are looked at after the first runs and then after some: that takes much longer than
 * a rewind. Calls that change them say so themselves. */
static bool is_audited(void)
{
    enum { FIRST_RUNS = 8, EACH = 512 };
    return explorer->runs < FIRST_RUNS || explorer->runs % EACH == 0;
}

/* A spoilt process is not used again. */
static void go_back(void)
{
    if (explorer->spoilt) return;
    uint64_t start = now();
    ft_rt_syscalls_take_back();
    ft_rt_snapshot_rewind();
    uint64_t took = now() - start;
    if (!explorer->cost || took < explorer->cost) explorer->cost = took;
    if (is_audited() && !ft_rt_snapshot_audit())
        explorer->spoilt = "it maps memory or loads a library";
}

static void explore(void)
{
    const struct explorer *e = explorer;
    explorer->why = ft_rt_snapshot_take((uintptr_t)e->at_first_choice.sp, e->calls.track);
    if (!explorer->why && !start_signals()) explorer->why = "signals cannot be handled";
    if (explorer->why) ft_rt_context_switch(&explorer->explorer, &e->at_first_choice);
    for (;; explorer->runs++) {
        e->calls.next(e->spoilt);
        explorer->spoilt = NULL;
        explorer->ticks = 0;
        explorer->in_run = true;
        ft_rt_syscalls_watch(true);
        ft_rt_context_switch(&explorer->explorer, &e->at_first_choice);
        e->calls.ended();
        go_back();
    }
}

const char *ft_rt_rewinding_start(const ft_rt_rewinding_calls *calls)
{
    FT_REQUIRE(calls->ended && calls->next && calls->crashed && calls->hung && calls->moves &&
               !explorer);
    const char *why = ft_rt_contexts_start();
    if (why) return why;
    struct explorer *e = ft_rt_kept(sizeof *e);
    if (!e) return "there is no memory for the explorer's stack (ulimit -v)";
    if (!ft_rt_syscalls_start()) return "the kernel does not report system calls (Linux 5.11 does)";
    ft_rt_contexts_reserve(calls->reserve);
    e->calls = *calls;
    e->explorer = ft_rt_context_on(e->stack, sizeof e->stack, explore);
    e->at_first_choice.fs = first.fs = (uintptr_t)pthread_self();
    explorer = e;
    ft_rt_context_switch(&e->at_first_choice, &e->explorer); /* comes back for each run */
    if (e->why) explorer = NULL;
    return e->why;
}

void ft_rt_rewinding_end(void)
{
    FT_REQUIRE(explorer && explorer->in_run);
    ft_rt_syscalls_watch(false);
    explorer->in_run = false;
    ft_rt_context_switch(&explorer->left, &explorer->explorer);
    __builtin_unreachable();
}
