/* Grades that make a process for each run: the program stands at its first choice and is copied
 * there, or it is started again and comes to its first choice anew. */
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* By the system call: no handler that the program registered runs. */
static __attribute__((noreturn)) void end_run(void)
{
    syscall(SYS_exit_group, 0);
    __builtin_unreachable();
}

/* Nothing is left running when the process that it belongs to is gone. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (syscall(SYS_getppid) != parent) syscall(SYS_exit_group, 0);
}

/* Two threads that take turns do so faster on one processor. */
static void stay_on_processor(uint32_t slot)
{
    cpu_set_t all, one;
    if (syscall(SYS_sched_getaffinity, 0, sizeof all, &all) <= 0) return;
    uint32_t n = (uint32_t)CPU_COUNT(&all);
    if (n < 2) return;
    CPU_ZERO(&one);
    for (uint32_t cpu = 0, nth = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && nth++ == slot % n) CPU_SET(cpu, &one);
    syscall(SYS_sched_setaffinity, 0, sizeof one, &one);
}

static bool is_wanted(const ft_exploring_slot *s)
{
    return __atomic_load_n(&s->state, __ATOMIC_SEQ_CST) == FT_EXPLORING_WANTED;
}

static void await_wanted(ft_exploring_slot *s)
{
    for (uint32_t i = ft_rt_x_header->options.spins; i && !is_wanted(s); i--) ft_exploring_pause();
    while (!is_wanted(s)) {
        __atomic_store_n(&s->sleeps, 1, __ATOMIC_SEQ_CST);
        uint32_t state = __atomic_load_n(&s->state, __ATOMIC_SEQ_CST);
        if (state != FT_EXPLORING_WANTED)
            syscall(SYS_futex, &s->state, FUTEX_WAIT, state, NULL, NULL, 0);
    }
    __atomic_store_n(&s->sleeps, 0, __ATOMIC_RELAXED);
}

bool ft_rt_x_await_task(ft_exploring_slot *s)
{
    await_wanted(s);
    if (__atomic_load_n(&s->doomed, __ATOMIC_RELAXED)) return false;
    __atomic_store_n(&s->state, FT_EXPLORING_RUNNING, __ATOMIC_RELEASE);
    return true;
}

void ft_rt_x_report(ft_exploring_slot *s, int status)
{
    s->status = status;
    __atomic_store_n(&s->state, FT_EXPLORING_OVER, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&s->awaited, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &s->state, FUTEX_WAKE, 1, NULL, NULL, 0);
    __atomic_fetch_add(&ft_rt_x_header->overs, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ft_rt_x_header->sleeps, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &ft_rt_x_header->overs, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint64_t now(void)
{
    struct timespec at;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* The copy's number; 0 in the copy. */
static pid_t copy(void)
{
    pid_t self = (pid_t)syscall(SYS_getpid);
    uint64_t start = now();
    pid_t run = FT_REAL(_Fork)();
    if (!run)
        end_with(self);
    else
        __atomic_store_n(&ft_rt_x_header->rewinding.fork_ns, now() - start, __ATOMIC_RELAXED);
    return run;
}

/* A copy that rewinds takes tasks and reports runs itself, but for its last run where that ended
 * the process. */
static void look_at_end(ft_exploring_slot *s, int status, bool rewinds)
{
    uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
    if (state == FT_EXPLORING_RUNNING)
        ft_rt_x_report(s, status);
    else if (rewinds && status && !s->doomed)
        ft_rt_x_fall_back("its process ends when it is to be rewound");
}

/* A server for one slot: returns in the copies. */
static void serve_slot(ft_exploring_slot *s)
{
    for (;;) {
        int status = 0;
        bool rewinds =
            __atomic_load_n(&ft_rt_x_header->grade, __ATOMIC_ACQUIRE) == FT_EXPLORING_REWIND;
        await_wanted(s);
        s->doomed = 0;
        if (!rewinds) ft_rt_x_await_task(s);
        pid_t run = copy();
        if (!run) return;
        __atomic_store_n(&s->pid, (uint32_t)run, __ATOMIC_RELEASE);
        while (run > 0 && syscall(SYS_wait4, run, &status, 0, NULL) != run) continue;
        __atomic_store_n(&s->pid, 0, __ATOMIC_RELEASE);
        look_at_end(s, run > 0 ? status : -1, rewinds);
    }
}

/* The process at its first choice stays, so that its servers end with it. It ends with the
 * explorer, whose child it may not be (scripts). */
static void watch(void)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    FT_REAL(sigaction)(SIGCHLD, &ignore, NULL);
    for (;;) {
        if (syscall(SYS_kill, ft_rt_x_header->explorer, 0)) syscall(SYS_exit_group, 0);
        syscall(SYS_nanosleep, &pause, NULL);
    }
}

ft_exploring_slot *ft_rt_x_serve_copies(void)
{
    pid_t self = (pid_t)syscall(SYS_getpid);
    for (uint32_t i = 0; i < ft_rt_x_header->slots; i++) {
        pid_t server = FT_REAL(_Fork)();
        if (server) continue;
        ft_exploring_slot *s = ft_exploring_slot_at(ft_rt_x_header, i);
        end_with(self);
        stay_on_processor(i);
        serve_slot(s);
        return s;
    }
    watch();
    return NULL;
}

/* The explorer starts a process for each run, and waits for it itself. */
static ft_exploring_slot *serve_once(void)
{
    uint32_t slot = ft_rt_x_only_slot - 1;
    stay_on_processor(slot);
    return ft_exploring_slot_at(ft_rt_x_header, slot);
}

static __attribute__((noreturn)) void end_once(void)
{
    ft_rt_x_report(ft_rt_x.slot, 0);
    end_run();
}

const ft_rt_x_grade ft_rt_x_grade_fork = {.serve = ft_rt_x_serve_copies,
                                          .create = ft_rt_x_kernel_create,
                                          .hand_over = ft_rt_x_kernel_hand_over,
                                          .leave = ft_rt_x_kernel_leave,
                                          .join = ft_rt_x_kernel_join,
                                          .detach = ft_rt_x_kernel_detach,
                                          .end_run = end_run};
const ft_rt_x_grade ft_rt_x_grade_anew = {.serve = serve_once,
                                          .create = ft_rt_x_kernel_create,
                                          .hand_over = ft_rt_x_kernel_hand_over,
                                          .leave = ft_rt_x_kernel_leave,
                                          .join = ft_rt_x_kernel_join,
                                          .detach = ft_rt_x_kernel_detach,
                                          .end_run = end_once};
