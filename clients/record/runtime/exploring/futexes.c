/* Futexes of an exploration: C++20 waits on atomics, semaphores, latches and barriers, and locks of
 * the program's own. The kernel looks at the word and queues the waiter under a lock of its own,
 * which a waker takes too. So a futex is a mutex and a condition variable of the model, named by
 * its word, and needs no kind of action of its own. */
#include <errno.h>
#include <linux/futex.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { OPERATION = 1, VALUE = 2, TIMEOUT = 3, MASK = 5 };

static int command_of(const long *a)
{
    return (int)a[OPERATION] & FUTEX_CMD_MASK;
}

static ft_x_operation on_lock(ft_x_kind kind, const long *a)
{
    return (ft_x_operation){.kind = (uint16_t)kind,
                            .object = ft_rt_x_object(FT_X_MUTEX, (void *)a[0], 0)};
}

static ft_x_choice act(ft_x_operation o, const void *pc)
{
    return ft_rt_explore_more(&o, pc);
}

static ft_rt_x_limit limit_of(const long *a)
{
    const struct timespec *t = (const struct timespec *)a[TIMEOUT];
    if (!t) return FT_RT_X_NO_LIMIT;
    if (command_of(a) == FUTEX_WAIT) return ft_rt_x_limit_after(t);
    return ft_rt_x_limit_until(
        a[OPERATION] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, t);
}

static int32_t look(const long *a, const void *pc)
{
    const volatile int32_t *word = (const volatile int32_t *)a[0];
    ft_rt_x_atomic(FT_X_LOAD, word, sizeof *word, *word, 0, 0, pc);
    return *word;
}

/* 0, or an errno. */
static int wait_on(const long *a, const void *pc)
{
    ft_rt_x_limit limit = limit_of(a);
    ft_x_operation lock = on_lock(FT_X_LOCK, a), unlock = on_lock(FT_X_UNLOCK, a);
    ft_rt_explore(&lock, pc);
    if (look(a, pc) != (int32_t)a[VALUE]) return act(unlock, pc), EAGAIN;
    ft_x_operation o = {.kind = FT_X_WAIT,
                        .object = ft_rt_x_object(FT_X_CONDITION, (void *)a[0], 0),
                        .other = lock.object};
    act(o, pc);
    o.kind = FT_X_WAKE;
    o.value = ft_rt_x_limit_bits(limit, pc);
    if (ft_rt_x_header->options.spurious) o.value |= FT_X_SPURIOUS;
    bool passed = act(o, pc).variant == FT_X_TIMED_OUT;
    ft_rt_x_limit_passed(limit, passed, pc);
    act(unlock, pc);
    return passed ? ETIMEDOUT : 0;
}

static long wake(const long *a, const void *pc)
{
    long woken = 0, most = (int)a[VALUE];
    ft_x_operation lock = on_lock(FT_X_LOCK, a);
    ft_rt_explore(&lock, pc);
    ft_x_operation o = {.kind = FT_X_SIGNAL,
                        .object = ft_rt_x_object(FT_X_CONDITION, (void *)a[0], 0)};
    if (most >= FT_X_THREADS) {
        o.kind = FT_X_BROADCAST;
        woken = __builtin_popcountll(act(o, pc).outcome);
    } else {
        while (woken < most && act(o, pc).variant) woken++;
    }
    act(on_lock(FT_X_UNLOCK, a), pc);
    return woken;
}

bool ft_rt_x_futex(const long *a, long *result, const void *pc)
{
    int command = command_of(a);
    bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    bool any = command == FUTEX_WAIT || command == FUTEX_WAKE ||
               (uint32_t)a[MASK] == FUTEX_BITSET_MATCH_ANY;
    if ((!waits && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET) || !any) return false;
    ft_rt_x_self->in_call = true;
    ft_rt_x_call_begins();
    int error = waits ? wait_on(a, pc) : 0;
    *result = error ? -1 : waits ? 0 : wake(a, pc);
    ft_rt_x_self->in_call = false;
    if (error) errno = error;
    return true;
}
