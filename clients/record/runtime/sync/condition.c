/* Condition variables. */
#include <errno.h>
#include <threads.h>

#include "constrained/constrained.h"
#include "exploring/exploring.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/object.h"
#include "state/thread.h"
#include "sync/sync.h"
#include "trace/event.h"

#define CODE __builtin_return_address(0)

static ft_rt_object *condition_at(const pthread_cond_t *condition)
{
    return ft_rt_object_at(FT_RAW_CLASS_CONDITION, condition, 0);
}

static int wait_on(ft_rt_thread *self, const pthread_cond_t *condition,
                   const pthread_mutex_t *mutex, const struct timespec *deadline, uint32_t site)
{
    ft_rt_object *c = condition_at(condition);
    ft_rt_object *m =
        ft_rt_object_at(FT_RAW_CLASS_MUTEX, mutex, (uint32_t)mutex->__data.__kind & 3);
    if (m->owner != self) return EPERM;
    bool kept = m->count > 1; /* a recursive one: glibc unlocks it once, so others wait on */
    FT_RT_SYNC(COND_WAIT, 0, c, site);
    if (!kept) FT_RT_SYNC(RELEASE, FT_FLAG_CONDITION, m, site);
    ft_rt_mutex_release(m);
    FT_RT_ASKS(self, COND_WAKE, 0, c->id, site);
    bool woken;
    do woken = ft_rt_block(self, c, deadline);
    while (self->broke_off);
    uint8_t limited = deadline ? FT_FLAG_TRY : 0;
    FT_RT_SYNC(COND_WAKE, woken ? limited : FT_FLAG_FAILED, c, site);
    ft_rt_turn(self, false);
    FT_RT_ASKS(self, ACQUIRE, FT_FLAG_CONDITION, m->id, site);
    int health = 0;
    if (kept)
        ft_rt_mutex_lock(self, m, NULL);
    else
        health = ft_rt_mutex_lock_behind_wait(self, m, site);
    return health ? health : woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    FT_RT_EXPLORED(ft_rt_x_wait(condition, mutex, FT_RT_X_NO_LIMIT, CODE));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_wait(condition, mutex, &constrained, CODE))
        return constrained;
    FT_RT_HOOK(pthread_cond_wait, condition, mutex);
    return FT_RT_END(wait_on(self, condition, mutex, NULL, FT_RT_SITE));
}

/* The clock of a condition variable's attributes stands in bit 1 of its flags (glibc). */
static clockid_t clock_of(const pthread_cond_t *condition)
{
    return condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until)
{
    FT_RT_EXPLORED(
        ft_rt_x_wait(condition, mutex, ft_rt_x_limit_until(clock_of(condition), until), CODE));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_wait(condition, mutex, &constrained, CODE))
        return constrained;
    FT_RT_HOOK(pthread_cond_timedwait, condition, mutex, until);
    struct timespec deadline = ft_rt_deadline(clock_of(condition), until);
    return FT_RT_END(wait_on(self, condition, mutex, &deadline, FT_RT_SITE));
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until)
{
    FT_RT_EXPLORED(ft_rt_x_wait(condition, mutex, ft_rt_x_limit_until(clock, until), CODE));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_wait(condition, mutex, &constrained, CODE))
        return constrained;
    FT_RT_HOOK(pthread_cond_clockwait, condition, mutex, clock, until);
    struct timespec deadline = ft_rt_deadline(clock, until);
    return FT_RT_END(wait_on(self, condition, mutex, &deadline, FT_RT_SITE));
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    FT_RT_EXPLORED(ft_rt_x_notify(condition, false, CODE));
    FT_RT_CONSTRAINED(SIGNAL, condition, FT_REAL(pthread_cond_signal)(condition));
    FT_RT_HOOK(pthread_cond_signal, condition);
    ft_rt_object *c = condition_at(condition);
    FT_RT_SYNC(SIGNAL, 0, c, FT_RT_SITE);
    ft_rt_wake_first(c);
    return FT_RT_END(0);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    FT_RT_EXPLORED(ft_rt_x_notify(condition, true, CODE));
    FT_RT_CONSTRAINED(BROADCAST, condition, FT_REAL(pthread_cond_broadcast)(condition));
    FT_RT_HOOK(pthread_cond_broadcast, condition);
    ft_rt_object *c = condition_at(condition);
    FT_RT_SYNC(BROADCAST, 0, c, FT_RT_SITE);
    ft_rt_wake_all(c);
    return FT_RT_END(0);
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    FT_RT_EXPLORED(ft_rt_x_condition_init(condition, attributes));
    FT_RT_CONSTRAINED(INIT, condition, FT_REAL(pthread_cond_init)(condition, attributes));
    ft_rt_about_followed(condition, CODE);
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_cond_init)(condition, attributes);
    if (!self) return result;
    FT_RT_BEGINS(condition, condition_at(condition));
    return FT_RT_END(result);
}

int pthread_cond_destroy(pthread_cond_t *condition)
{
    FT_RT_CONSTRAINED(DESTROY, condition, FT_REAL(pthread_cond_destroy)(condition));
    FT_RT_HOOK(pthread_cond_destroy, condition);
    FT_RT_ENDS(condition, condition_at(condition));
    return FT_RT_END(0);
}

/* ---- C11's condition variables wrap pthread's; the C library calls its own functions, not the
 * hooks */

static int thrd_of(int result)
{
    return result == ETIMEDOUT ? thrd_timedout : result ? thrd_error : thrd_success;
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    FT_RT_EXPLORED(thrd_of(ft_rt_x_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
                                        FT_RT_X_NO_LIMIT, CODE)));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, &constrained, CODE))
        return thrd_of(constrained);
    FT_RT_HOOK(cnd_wait, condition, mutex);
    return FT_RT_END(thrd_of(
        wait_on(self, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex, NULL, FT_RT_SITE)));
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                  const struct timespec *restrict until)
{
    FT_RT_EXPLORED(thrd_of(ft_rt_x_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
                                        ft_rt_x_limit_until(CLOCK_REALTIME, until), CODE)));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, &constrained, CODE))
        return thrd_of(constrained);
    FT_RT_HOOK(cnd_timedwait, condition, mutex, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    return FT_RT_END(thrd_of(wait_on(self, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
                                     &deadline, FT_RT_SITE)));
}

int cnd_signal(cnd_t *condition)
{
    FT_RT_EXPLORED(thrd_of(ft_rt_x_notify((pthread_cond_t *)condition, false, CODE)));
    FT_RT_CONSTRAINED(SIGNAL, condition, FT_REAL(cnd_signal)(condition));
    FT_RT_HOOK(cnd_signal, condition);
    ft_rt_object *c = condition_at((pthread_cond_t *)condition);
    FT_RT_SYNC(SIGNAL, 0, c, FT_RT_SITE);
    ft_rt_wake_first(c);
    return FT_RT_END(thrd_success);
}

int cnd_broadcast(cnd_t *condition)
{
    FT_RT_EXPLORED(thrd_of(ft_rt_x_notify((pthread_cond_t *)condition, true, CODE)));
    FT_RT_CONSTRAINED(BROADCAST, condition, FT_REAL(cnd_broadcast)(condition));
    FT_RT_HOOK(cnd_broadcast, condition);
    ft_rt_object *c = condition_at((pthread_cond_t *)condition);
    FT_RT_SYNC(BROADCAST, 0, c, FT_RT_SITE);
    ft_rt_wake_all(c);
    return FT_RT_END(thrd_success);
}

int cnd_init(cnd_t *condition)
{
    FT_RT_EXPLORED(thrd_of(ft_rt_x_condition_init((pthread_cond_t *)condition, NULL)));
    FT_RT_CONSTRAINED(INIT, condition, FT_REAL(cnd_init)(condition));
    ft_rt_about_followed(condition, CODE);
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(cnd_init)(condition);
    if (!self) return result;
    FT_RT_BEGINS(condition, condition_at((pthread_cond_t *)condition));
    return FT_RT_END(result);
}

void cnd_destroy(cnd_t *condition)
{
    FT_RT_CONSTRAINED_SCOPE(DESTROY, condition, CODE);
    ft_rt_about_followed(condition, CODE);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) {
        FT_REAL(cnd_destroy)(condition);
        return;
    }
    FT_RT_ENDS(condition, condition_at((pthread_cond_t *)condition));
    ft_rt_leave(self);
}
