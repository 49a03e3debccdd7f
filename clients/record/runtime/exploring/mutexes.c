/* Mutexes and spin locks of an exploration. */
#include <errno.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { KIND_BITS = 3 }; /* glibc keeps the type there, also after a static initialiser */

static int kind_of(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & KIND_BITS;
}

static bool is_mine(uint32_t object)
{
    return ft_rt_x_state(object)->owner == ft_rt_x_number() + 1;
}

static ft_x_operation about(ft_x_kind kind, uint32_t mutex, int type)
{
    return (ft_x_operation){.kind = (uint16_t)kind,
                            .object = mutex,
                            .value = type == PTHREAD_MUTEX_RECURSIVE ? FT_X_RECURSIVE : 0};
}

int ft_rt_x_lock(pthread_mutex_t *mutex, ft_rt_x_limit limit, const void *pc)
{
    uint32_t o = ft_rt_x_object(FT_X_MUTEX, mutex, 0);
    int type = kind_of(mutex);
    bool attempt = ft_rt_x_limit_is_early(limit, pc);
    if (type == PTHREAD_MUTEX_ERRORCHECK && is_mine(o)) return EDEADLK;
    ft_x_operation lock = about(attempt ? FT_X_TRY_LOCK : FT_X_LOCK, o, type);
    lock.value |= ft_rt_x_limit_bits(limit, pc);
    ft_x_choice choice = ft_rt_explore(&lock, pc);
    bool in_time = attempt ? choice.outcome != 0 : choice.variant != FT_X_TIMED_OUT;
    ft_rt_x_limit_passed(limit, !in_time, pc);
    return in_time ? 0 : ETIMEDOUT;
}

int ft_rt_x_spin_lock(const volatile void *spin, bool try, const void *pc)
{
    ft_x_operation lock = {.kind = try ? FT_X_TRY_LOCK : FT_X_LOCK,
                           .object = ft_rt_x_object(FT_X_MUTEX, spin, 0)};
    uint64_t outcome = ft_rt_explore(&lock, pc).outcome;
    return try && !outcome ? EBUSY : 0;
}

int ft_rt_x_spin_unlock(const volatile void *spin, const void *pc)
{
    ft_x_operation unlock = {.kind = FT_X_UNLOCK, .object = ft_rt_x_object(FT_X_MUTEX, spin, 0)};
    if (!is_mine(unlock.object))
        ft_rt_x_fail(FT_EXPLORING_FAILED_LOCK, 0,
                     "a spin lock is unlocked by a thread that does not hold it", pc);
    ft_rt_explore(&unlock, pc);
    return 0;
}

void ft_rt_x_spin_init(const volatile void *spin)
{
    ft_rt_x_new_object(FT_X_MUTEX, spin, 0);
}

int ft_rt_x_try_lock(pthread_mutex_t *mutex, const void *pc)
{
    uint32_t o = ft_rt_x_object(FT_X_MUTEX, mutex, 0);
    ft_x_operation lock = about(FT_X_TRY_LOCK, o, kind_of(mutex));
    return ft_rt_explore(&lock, pc).outcome ? 0 : EBUSY;
}

/* Of a lock that another thread holds, or nobody: the C library does not notice for mutexes of the
 * usual type, and the lock is in no state that the standard knows. */
int ft_rt_x_unlock(pthread_mutex_t *mutex, const void *pc)
{
    uint32_t o = ft_rt_x_object(FT_X_MUTEX, mutex, 0);
    int type = kind_of(mutex);
    bool checks = type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE;
    if (!is_mine(o) && checks) return EPERM;
    if (!is_mine(o))
        ft_rt_x_fail(FT_EXPLORING_FAILED_LOCK, 0,
                     "a mutex is unlocked by a thread that does not hold it", pc);
    ft_x_operation unlock = about(FT_X_UNLOCK, o, type);
    ft_rt_explore(&unlock, pc);
    return 0;
}

int ft_rt_x_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    int result = FT_REAL(pthread_mutex_init)(mutex, attributes);
    if (!result) ft_rt_x_new_object(FT_X_MUTEX, mutex, 0);
    return result;
}
