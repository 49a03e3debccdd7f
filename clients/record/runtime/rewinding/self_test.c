/* The self-test of what contexts and rewinding rely on. It runs in a forked child: it changes the
 * heap, and a C library with other insides may end it in any way. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"
#include "rewinding/rewinding.h"

typedef enum code {
    OK,
    BAD_THREAD,
    BAD_LOCALS,
    BAD_END,
    BAD_JOIN,
    BAD_REWIND,
    BAD_CRASH,
    CODES
} code;

/* FIRST: the exit status of OK, which no C library ends with by itself. */
enum { FIRST = 40, RUNS = 3, ROUNDS = 4, LOCAL = 5, MORE = 1 << 16 };

static void leave(code c)
{
    syscall(SYS_exit_group, FIRST + (int)c);
    __builtin_unreachable();
}

static ft_rt_context *made;
static pthread_key_t last;
static __thread int local = LOCAL;
static int result, run; /* rewound: no run has been, whenever one begins */

static struct {
    uint32_t runs, moves;
    const uint32_t *at; /* moves */
} * kept;

/* The last round is behind all other destructors; the C library would end the kernel thread next.
 */
static void end_context(void *round)
{
    if ((uintptr_t)round < ROUNDS) {
        pthread_setspecific(last, (void *)((uintptr_t)round + 1));
        return;
    }
    ft_rt_context_ends(made);
    ft_rt_context_switch(made, ft_rt_rewinding_first());
    leave(BAD_END);
}

/* The stack protector's value lies behind the thread register, and must be the same for all. */
static uintptr_t guard(void)
{
    uintptr_t value;
    __asm__ volatile("mov %%fs:0x28, %0" : "=r"(value));
    return value;
}

static void *body(void *argument)
{
    bool own = pthread_equal(pthread_self(), (pthread_t)made->fs) && local == LOCAL && !errno;
    if (!own || guard() != *(const uintptr_t *)argument) leave(BAD_LOCALS);
    local = LOCAL + 1;
    errno = EDOM;
    pthread_setspecific(last, (void *)1);
    ft_rt_context_switch(made, ft_rt_rewinding_first());
    if (local != LOCAL + 1 || errno != EDOM) leave(BAD_LOCALS);
    return &result;
}

static void use_context(void)
{
    pthread_t handle;
    void *got = NULL;
    bool foreign;
    uintptr_t here = guard();
    ft_rt_context *self = ft_rt_rewinding_first();
    if (ft_rt_context_make(&made, &handle, NULL, body, &here, &foreign)) leave(BAD_THREAD);
    errno = ERANGE;
    ft_rt_context_switch(self, made);
    if (local != LOCAL || errno != ERANGE) leave(BAD_LOCALS);
    ft_rt_context_switch(self, made);
    if (ft_rt_context_join(handle, &got) || got != &result) leave(BAD_JOIN);
}

/* Memory from beyond the break is zeros in each run. */
static void use_break(void)
{
    const char *memory = FT_REAL(sbrk)(MORE);
    if (memory == (void *)-1) return;
    for (size_t i = 0; i < MORE; i++)
        if (memory[i]) leave(BAD_REWIND);
    memset((char *)(uintptr_t)memory, 1, MORE);
}

static void count_run(void)
{
    if (++kept->runs == RUNS) leave(OK);
}

static void go_on(const char *spoilt)
{
    if (spoilt) leave(BAD_REWIND);
}

static void crashed(int number, const siginfo_t *info)
{
    (void)number;
    (void)info;
    leave(BAD_CRASH);
}

static void hung(void) {}

/* So that a test without end has one. */
static void limit_time(void)
{
    enum { SECONDS = 5 };
    struct itimerspec once = {.it_value = {SECONDS, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    int timer = 0;
    if (!syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer))
        syscall(SYS_timer_settime, timer, 0, &once, NULL);
}

static void run_test(void)
{
    limit_time();
    kept = ft_rt_kept(sizeof *kept);
    if (!kept || pthread_key_create(&last, end_context)) leave(BAD_THREAD);
    kept->at = &kept->moves;
    const ft_rt_rewinding_calls calls = {count_run,    go_on,     crashed,
                                         hung,         &kept->at, .patience_ms = UINT32_MAX,
                                         .reserve = 1, .track = 1};
    if (ft_rt_rewinding_start(&calls)) leave(BAD_THREAD);
    if (run) leave(BAD_REWIND);
    run = 1;
    for (int i = 0; i < 2; i++) use_context(); /* of those in reserve, and another one */
    use_break();
    ft_rt_rewinding_end();
}

static const char *const complaints[] = {
    [OK] = NULL,
    [BAD_THREAD] = "a thread cannot be made without a kernel thread",
    [BAD_LOCALS] = "thread-local memory is not where it is expected",
    [BAD_END] = "a thread does not end as expected",
    [BAD_JOIN] = "a thread is not joined as expected",
    [BAD_REWIND] = "memory is not as it was",
    [BAD_CRASH] = "a thread without a kernel thread crashes",
};

const char *ft_rt_rewinding_test(void)
{
    int status = 0;
    const char *why = ft_rt_contexts_check();
    if (why) return why;
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (child < 0) return "the process cannot be copied";
    if (!child) {
        run_test();
        leave(BAD_END);
    }
    while (syscall(SYS_wait4, child, &status, 0, NULL) < 0 && errno == EINTR) continue;
    int how = WIFEXITED(status) ? WEXITSTATUS(status) - FIRST : BAD_CRASH;
    return how >= 0 && how < CODES ? complaints[how] : complaints[BAD_CRASH];
}
