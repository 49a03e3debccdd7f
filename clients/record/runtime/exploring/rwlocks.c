/* Read-write locks of an exploration. */
#include <errno.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

static ft_x_kind kind_of(bool write, bool attempt)
{
    if (attempt) return write ? FT_X_TRY_WRITE_LOCK : FT_X_TRY_READ_LOCK;
    return write ? FT_X_WRITE_LOCK : FT_X_READ_LOCK;
}

static bool is_mine(uint32_t object)
{
    return ft_rt_x_state(object)->owner == ft_rt_x_number() + 1;
}

/* Waiting writers keep other threads from reading. Attempts and reads with a limit disregard them,
 * as in a recording. */
static bool prefers_writers(const pthread_rwlock_t *lock)
{
    return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* The C library notices that the writer asks again. */
int ft_rt_x_rwlock(pthread_rwlock_t *lock, bool write, bool try, ft_rt_x_limit limit,
                   const void *pc)
{
    uint32_t object = ft_rt_x_object(FT_X_RWLOCK, lock, 0);
    bool attempt = try || ft_rt_x_limit_is_early(limit, pc);
    if (is_mine(object) && !attempt) return EDEADLK;
    bool queues = !attempt && prefers_writers(lock) && (write || !limit.is_set);
    if (queues && write) ft_rt_explore(&(ft_x_operation){.kind = FT_X_QUEUE, .object = object}, pc);
    ft_x_operation o = {.kind = (uint16_t)kind_of(write, attempt),
                        .object = object,
                        .value = try ? 0 : ft_rt_x_limit_bits(limit, pc)};
    if (queues) o.value |= FT_X_PREFERS_WRITERS;
    ft_x_choice choice = (queues && write ? ft_rt_explore_more : ft_rt_explore)(&o, pc);
    bool done = attempt ? choice.outcome != 0 : choice.variant != FT_X_TIMED_OUT;
    if (!try) ft_rt_x_limit_passed(limit, !done, pc);
    return done ? 0 : try ? EBUSY : ETIMEDOUT;
}

int ft_rt_x_rwlock_unlock(pthread_rwlock_t *lock, const void *pc)
{
    uint32_t object = ft_rt_x_object(FT_X_RWLOCK, lock, 0);
    bool writes = is_mine(object);
    if (!writes && (ft_rt_x_state(object)->owner || !ft_rt_x_state(object)->count))
        ft_rt_x_fail(FT_EXPLORING_FAILED_LOCK, 0,
                     "a read-write lock is unlocked by a thread that does not hold it", pc);
    ft_x_operation o = {.kind = writes ? FT_X_WRITE_UNLOCK : FT_X_READ_UNLOCK, .object = object};
    ft_rt_explore(&o, pc);
    return 0;
}

int ft_rt_x_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    int result = FT_REAL(pthread_rwlock_init)(lock, attributes);
    if (!result) ft_rt_x_new_object(FT_X_RWLOCK, lock, 0);
    return result;
}
