/* Signals that threads of the program send to each other, and wait for.
 *
 * A pending signal is a unit of a channel: of the thread that it is for, or of the process, and of
 * its number. Those of the usual kind are not queued: there is room for one. A signal is modelled
 * where the thread that it is for blocks it and waits for it (sigwait). One that would run a
 * handler in another thread is refused; one for the caller itself, which does not block it, is the
 * system's. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "exploring/needs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "world/inner.h"

enum {
    USUAL = 31, /* numbers up to it are not queued */
    LAST = 64,
    QUEUED = 32,     /* of the others */
    NUMBER = 0xFF00, /* of their model objects */
    PROCESS = 0,     /* maker of those of the process */
    MOST = 64        /* attempts of a wait */
};

static uint64_t masks[FT_X_THREADS]; /* by thread: blocked signals, 1 << number - 1 */

static uint64_t mask_now(void)
{
    sigset_t now;
    uint64_t bits;
    FT_REAL(pthread_sigmask)(SIG_BLOCK, NULL, &now);
    memcpy(&bits, &now, sizeof bits);
    return bits;
}

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

void ft_rt_world_masked(void)
{
    if (ft_rt_world_runs()) masks[ft_rt_x_number()] = mask_now();
}

/* A run need not ask the kernel for it. */
void ft_rt_world_first_mask(void)
{
    masks[0] = mask_now();
}

void ft_rt_world_thread_made(uint32_t child)
{
    masks[child] = masks[ft_rt_x_number()];
}

/* ---- sending */

static int64_t room_for(int number)
{
    return number <= USUAL ? 1 : QUEUED;
}

static uint32_t object_of(uint32_t maker, int number)
{
    return ft_rt_x_model_object(FT_X_CHANNEL, maker, NUMBER + (uint32_t)number, 0);
}

static void send_signal(uint32_t maker, int number, const void *pc)
{
    ft_x_operation o = {.kind = FT_X_TRY_SEND,
                        .object = object_of(maker, number),
                        .value = 1,
                        .value2 = FT_X_ROOM(room_for(number), 1)};
    ft_rt_explore(&o, pc);
}

static bool is_signal(int number)
{
    return number > 0 && number <= LAST;
}

/* To another thread, or the caller. */
int ft_rt_world_signal_thread(uint32_t thread, int number, const char *call, const void *pc)
{
    FT_REQUIRE(thread < FT_X_THREADS);
    if (!is_signal(number)) return number ? EINVAL : 0;
    if (thread == ft_rt_x_number()) ft_rt_world_masked();
    if (!(masks[thread] & bit(number))) ft_rt_world_refuse(FT_RT_WORLD_HANDLER, call, pc);
    send_signal(thread + 1, number, pc);
    return 0;
}

bool ft_rt_world_blocks(int number)
{
    return is_signal(number) && mask_now() & bit(number);
}

int ft_rt_world_signal_process(int number, const char *call, const void *pc)
{
    if (!ft_rt_world_blocks(number)) return FT_REAL(kill)(FT_REAL(getpid)(), number);
    ft_rt_world_masked();
    for (uint32_t t = 0; t < FT_X_THREADS; t++)
        if (ft_rt_x_is_alive(t) && !(masks[t] & bit(number)))
            ft_rt_world_refuse(FT_RT_WORLD_HANDLER, call, pc);
    send_signal(PROCESS, number, pc);
    return 0;
}

int ft_rt_world_pthread_kill(pthread_t to, int number, const void *pc)
{
    int thread = ft_rt_x_number_of(to);
    if (thread < 0) return ESRCH;
    bool own = (uint32_t)thread == ft_rt_x_number();
    if (own && number && !ft_rt_world_blocks(number)) return FT_REAL(pthread_kill)(to, number);
    return ft_rt_world_signal_thread((uint32_t)thread, number, "pthread_kill", pc);
}

int ft_rt_world_raise(int number, const void *pc)
{
    if (!ft_rt_world_blocks(number)) return FT_REAL(raise)(number);
    return ft_rt_world_signal_thread(ft_rt_x_number(), number, "raise", pc) ? -1 : 0;
}

/* ---- waiting */

/* Those of the set that may be pending: in the caller's attempts, all of it that fits. */
static uint32_t attempts_for(uint64_t set, ft_x_attempt *list)
{
    uint32_t n = 0;
    const uint32_t makers[] = {ft_rt_x_number() + 1, PROCESS};
    for (int number = 1; number <= LAST && n + 2 <= MOST; number++)
        for (int i = 0; i < 2 && set & bit(number); i++)
            list[n++] = (ft_x_attempt){.operation = {.kind = FT_X_TEST,
                                                     .object = object_of(makers[i], number),
                                                     .value = FT_X_READABLE,
                                                     .value2 = FT_X_ROOM(room_for(number), 1)}};
    return n;
}

/* Takes one that is pending; 0: there is none any more. */
static int take(const ft_x_attempt *list, uint32_t n, uint64_t set, const void *pc)
{
    for (int number = 1; number <= LAST && n; number++) {
        for (int i = 0; i < 2 && set & bit(number) && n; i++, list++, n--) {
            ft_x_operation o = {
                .kind = FT_X_TRY_RECEIVE, .object = list->operation.object, .value = 1};
            if (ft_rt_x_state(o.object)->value <= 0) continue;
            if (ft_rt_explore_more(&o, pc).outcome == 1) return number;
        }
    }
    return 0;
}

int ft_rt_world_signal_wait(const sigset_t *set, int ms, siginfo_t *info, const void *pc)
{
    uint64_t bits;
    ft_x_attempt list[MOST];
    memcpy(&bits, set, sizeof bits);
    bits &= ~(bit(SIGKILL) | bit(SIGSTOP));
    uint32_t n = attempts_for(bits, list);
    int number = 0;
    for (bool in_time = true; !number && in_time;) {
        in_time = ft_rt_x_wait_for(list, n, ms, pc);
        number = in_time ? take(list, n, bits, pc) : 0;
    }
    if (!number) return ft_rt_world_error(EAGAIN);
    if (info) {
        memset(info, 0, sizeof *info);
        info->si_signo = number;
        info->si_code = SI_USER;
        info->si_pid = ft_rt_x_pid();
        info->si_uid = getuid();
    }
    return number;
}

/* The signal is made pending for the caller, which blocks it, and the system has it handled. */
int ft_rt_world_suspend(const sigset_t *mask, const void *pc)
{
    sigset_t now, wanted;
    FT_REAL(pthread_sigmask)(SIG_BLOCK, NULL, &now);
    sigemptyset(&wanted);
    for (int number = 1; number <= USUAL; number++)
        if (sigismember(mask, number) != 1 && sigismember(&now, number) == 1)
            sigaddset(&wanted, number);
    int number = ft_rt_world_signal_wait(&wanted, -1, NULL, pc);
    FT_REAL(pthread_kill)(pthread_self(), number);
    return FT_REAL(sigsuspend)(mask);
}
