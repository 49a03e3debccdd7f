/* Semaphores; the `kind` of their objects is the initial count. */
#include <errno.h>
#include <limits.h>
#include <semaphore.h>

#include "accesses/accesses.h"
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

static ft_rt_object *semaphore_at(sem_t *semaphore)
{
    int value = 0;
    FT_REAL(sem_getvalue)(semaphore, &value);
    return ft_rt_object_at(FT_RAW_CLASS_SEMAPHORE, semaphore, (uint32_t)value);
}

int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    FT_RT_EXPLORED(ft_rt_x_semaphore_init(semaphore, shared, value));
    FT_RT_CONSTRAINED(INIT, semaphore, FT_REAL(sem_init)(semaphore, shared, value));
    ft_rt_about_followed(semaphore, __builtin_return_address(0));
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(sem_init)(semaphore, shared, value);
    if (!self) return result;
    FT_RT_BEGINS(semaphore, semaphore_at(semaphore));
    if (!result) semaphore_at(semaphore)->count = value;
    return FT_RT_END(result);
}

int sem_destroy(sem_t *semaphore)
{
    FT_RT_CONSTRAINED(DESTROY, semaphore, FT_REAL(sem_destroy)(semaphore));
    FT_RT_HOOK(sem_destroy, semaphore);
    FT_RT_ENDS(semaphore, semaphore_at(semaphore));
    return FT_RT_END(FT_REAL(sem_destroy)(semaphore));
}

static int fail_with(int code)
{
    errno = code;
    return -1;
}

/* The thread goes on depending on the count, so it keeps its place among the steps that change it.
 */
static void look(const ft_rt_object *s, uint32_t site)
{
    FT_RT_LOG(CHANNEL, FT_RAW_CHANNEL_IN,
              FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_COUNTED, (uint64_t)s->id), site);
    FT_RT_LOG(CHANNEL, FT_RAW_CHANNEL_OUT,
              FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_LOOKED, (uint64_t)s->id), site);
}

static int find_none(const ft_rt_object *s, uint32_t site, int code)
{
    look(s, site);
    return fail_with(code);
}

static int take_unit(ft_rt_thread *self, sem_t *semaphore, const struct timespec *deadline,
                     bool try, uint32_t site)
{
    ft_rt_object *s = semaphore_at(semaphore);
    if (try && !s->count) return find_none(s, site, EAGAIN);
    FT_RT_ASKS(self, WAIT, 0, s->id, site);
    self->tries = 0;
    if (!try) ft_rt_behind_starved(self, s);
    while (!s->count) {
        if (!ft_rt_block(self, s, deadline)) return find_none(s, site, ETIMEDOUT);
        if (self->broke_off && !self->restarts) return fail_with(EINTR);
    }
    assert(s->count && s->count <= INT_MAX);
    s->count--;
    FT_RT_SYNC(WAIT, try || deadline ? FT_FLAG_TRY : 0, s, site);
    return 0;
}

int sem_wait(sem_t *semaphore)
{
    FT_RT_EXPLORED(ft_rt_x_take(semaphore, false, FT_RT_X_NO_LIMIT, CODE));
    FT_RT_CONSTRAINED(TAKE, semaphore, FT_REAL(sem_wait)(semaphore));
    FT_RT_HOOK(sem_wait, semaphore);
    return FT_RT_END(take_unit(self, semaphore, NULL, false, FT_RT_SITE));
}

int sem_trywait(sem_t *semaphore)
{
    FT_RT_EXPLORED(ft_rt_x_take(semaphore, true, FT_RT_X_NO_LIMIT, CODE));
    FT_RT_CONSTRAINED(TRY_TAKE, semaphore, FT_REAL(sem_trywait)(semaphore));
    FT_RT_HOOK(sem_trywait, semaphore);
    return FT_RT_END(take_unit(self, semaphore, NULL, true, FT_RT_SITE));
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    FT_RT_EXPLORED(
        ft_rt_x_take(semaphore, false, ft_rt_x_limit_until(CLOCK_REALTIME, until), CODE));
    FT_RT_CONSTRAINED_UNTIL(TAKE, semaphore, FT_REAL(sem_wait)(semaphore), fail_with(ETIMEDOUT));
    FT_RT_HOOK(sem_timedwait, semaphore, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    return FT_RT_END(take_unit(self, semaphore, &deadline, false, FT_RT_SITE));
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    FT_RT_EXPLORED(ft_rt_x_take(semaphore, false, ft_rt_x_limit_until(clock, until), CODE));
    FT_RT_CONSTRAINED_UNTIL(TAKE, semaphore, FT_REAL(sem_wait)(semaphore), fail_with(ETIMEDOUT));
    FT_RT_HOOK(sem_clockwait, semaphore, clock, until);
    struct timespec deadline = ft_rt_deadline(clock, until);
    return FT_RT_END(take_unit(self, semaphore, &deadline, false, FT_RT_SITE));
}

int sem_post(sem_t *semaphore)
{
    FT_RT_EXPLORED(ft_rt_x_post(semaphore, CODE));
    FT_RT_CONSTRAINED(POST, semaphore, FT_REAL(sem_post)(semaphore));
    FT_RT_HOOK(sem_post, semaphore);
    ft_rt_object *s = semaphore_at(semaphore);
    if (s->count == INT_MAX) return FT_RT_END(fail_with(EOVERFLOW));
    s->count++;
    FT_RT_SYNC(POST, 0, s, FT_RT_SITE);
    ft_rt_wake_all(s);
    return FT_RT_END(0);
}

int sem_getvalue(sem_t *semaphore, int *value)
{
    FT_RT_EXPLORED(ft_rt_x_count(semaphore, value, CODE));
    FT_RT_CONSTRAINED(COUNT, semaphore, FT_REAL(sem_getvalue)(semaphore, value));
    FT_RT_HOOK(sem_getvalue, semaphore, value);
    const ft_rt_object *s = semaphore_at(semaphore);
    int count = (int)s->count;
    look(s, FT_RT_SITE);
    ft_rt_leave(self);
    ft_rt_write_range(value, sizeof *value, __builtin_return_address(0));
    *value = count;
    return 0;
}
