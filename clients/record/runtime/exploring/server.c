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

static uint32_t own; /* the server that this process is, or copies of which it is */

/* The explorer's thread that waits for a server is on its processor too: they take turns. */
static void stay_on_processor(void)
{
    cpu_set_t all, one;
    if (syscall(SYS_sched_getaffinity, 0, sizeof all, &all) <= 0) return;
    if (!ft_exploring_processor(ft_rt_x_header, own, &all, &one)) return;
    syscall(SYS_sched_setaffinity, 0, sizeof one, &one);
}

static uint64_t now(void)
{
    struct timespec at;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static ft_exploring_server *server(void)
{
    return ft_exploring_server_at(ft_rt_x_header, own);
}

static ft_exploring_slot *own_slot(uint32_t i)
{
    return ft_exploring_slot_at(ft_rt_x_header, own + i * ft_rt_x_header->servers);
}

/* Tasks are looked for round and round; NULL: there is none. */
static ft_exploring_slot *next_wanted(void)
{
    ft_exploring_server *v = server();
    uint32_t n = ft_rt_x_header->slots / ft_rt_x_header->servers;
    for (uint32_t i = 0; i < n; i++) {
        ft_exploring_slot *s = own_slot((v->next + i) % n);
        if (__atomic_load_n(&s->state, __ATOMIC_SEQ_CST) != FT_EXPLORING_WANTED) continue;
        v->next = (v->next + i) % n;
        return s;
    }
    return NULL;
}

static void step_up(uint32_t *word, const uint32_t *sleeps)
{
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(sleeps, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* No task is left: whoever waits for runs looks at them now. */
static void tell(void)
{
    ft_exploring_server *v = server();
    if (!v->made) return;
    uint64_t pace = (now() - v->since) / v->made;
    __atomic_store_n(&v->pace_ns, pace < UINT32_MAX ? (uint32_t)pace + 1 : UINT32_MAX,
                     __ATOMIC_RELAXED);
    v->made = 0;
    step_up(&v->over, &v->awaited);
    step_up(&ft_rt_x_header->overs, &ft_rt_x_header->sleeps);
}

static ft_exploring_slot *await_wanted(void)
{
    ft_exploring_server *v = server();
    ft_exploring_slot *s = next_wanted();
    if (s && v->since) return s;
    for (tell(); !s; s = next_wanted()) {
        uint32_t wanted = __atomic_load_n(&v->wanted, __ATOMIC_SEQ_CST);
        __atomic_store_n(&v->sleeps, 1, __ATOMIC_SEQ_CST);
        if ((s = next_wanted())) break;
        syscall(SYS_futex, &v->wanted, FUTEX_WAIT, wanted, NULL, NULL, 0);
    }
    __atomic_store_n(&v->sleeps, 0, __ATOMIC_RELAXED);
    v->since = now();
    return s;
}

ft_exploring_slot *ft_rt_x_await_task(void)
{
    ft_exploring_server *v = server();
    ft_exploring_slot *s = await_wanted();
    if (__atomic_load_n(&v->doomed, __ATOMIC_RELAXED)) return NULL;
    v->next++;
    __atomic_store_n(&s->state, FT_EXPLORING_RUNNING, __ATOMIC_RELEASE);
    return s;
}

void ft_rt_x_report(ft_exploring_slot *s, int status)
{
    s->status = status;
    __atomic_store_n(&s->state, FT_EXPLORING_OVER, __ATOMIC_SEQ_CST);
    server()->made++;
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
static void look_at_end(int status, bool rewinds)
{
    ft_exploring_slot *running = NULL;
    for (uint32_t i = 0; i < ft_rt_x_header->slots / ft_rt_x_header->servers && !running; i++)
        if (__atomic_load_n(&own_slot(i)->state, __ATOMIC_ACQUIRE) == FT_EXPLORING_RUNNING)
            running = own_slot(i);
    if (running)
        ft_rt_x_report(running, status);
    else if (rewinds && status && !server()->doomed)
        ft_rt_x_fall_back("its process ends when it is to be rewound");
}

/* A server: returns in the copies, with the slot whose task is next. */
static ft_exploring_slot *serve(void)
{
    ft_exploring_server *v = server();
    for (;;) {
        int status = 0;
        bool rewinds =
            __atomic_load_n(&ft_rt_x_header->grade, __ATOMIC_ACQUIRE) == FT_EXPLORING_REWIND;
        ft_exploring_slot *s = await_wanted();
        v->doomed = 0;
        if (!rewinds) s = ft_rt_x_await_task();
        pid_t run = copy();
        if (!run) return s;
        __atomic_store_n(&v->pid, (uint32_t)run, __ATOMIC_RELEASE);
        while (run > 0 && syscall(SYS_wait4, run, &status, 0, NULL) != run) continue;
        __atomic_store_n(&v->pid, 0, __ATOMIC_RELEASE);
        look_at_end(run > 0 ? status : -1, rewinds);
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
    for (own = 0; own < ft_rt_x_header->servers; own++) {
        if (FT_REAL(_Fork)()) continue;
        end_with(self);
        stay_on_processor();
        return serve();
    }
    watch();
    return NULL;
}

/* The explorer starts a process for each run, and waits for it itself. */
static ft_exploring_slot *serve_once(void)
{
    own = (ft_rt_x_only_slot - 1) % ft_rt_x_header->servers;
    stay_on_processor();
    return ft_exploring_slot_at(ft_rt_x_header, ft_rt_x_only_slot - 1);
}

static __attribute__((noreturn)) void end_once(void)
{
    ft_rt_x_report(ft_rt_x.slot, 0);
    tell();
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
