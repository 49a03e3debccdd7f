/* Mutexes and spin locks of an exploration.
 *
 * The health of a robust mutex changes under its lock alone, so a thread that has locked it, or was
 * kept out, knows it from its own past: it is no action, and stands in the object's `value`, which
 * the model does not use. A thread that ends unlocks the robust mutexes that it holds. */
#include <errno.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* glibc keeps the type there, also after a static initialiser */
enum { KIND_BITS = 3, ROBUST_BIT = 16 };

/* Of a robust mutex; 0: of another one. */
enum { SOUND = 1, ABANDONED, TOLD, LOST };

static uint32_t n_robust; /* in this run */

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

/* ---- robust ones */

static int64_t *health_of(uint32_t object)
{
    return &ft_rt_x_state(object)->value;
}

static void note_robust(const pthread_mutex_t *mutex, uint32_t object)
{
    if (!(mutex->__data.__kind & ROBUST_BIT) || *health_of(object)) return;
    *health_of(object) = SOUND;
    n_robust++;
}

/* A lost one is nobody's: it is given back at once. */
int ft_rt_x_locked(uint32_t object, const void *pc)
{
    int64_t *health = health_of(object);
    if (*health == ABANDONED) {
        *health = TOLD;
        return EOWNERDEAD;
    }
    if (*health != LOST) return 0;
    ft_rt_explore_more(&(ft_x_operation){.kind = FT_X_UNLOCK, .object = object}, pc);
    return ENOTRECOVERABLE;
}

int ft_rt_x_consistent(const pthread_mutex_t *mutex)
{
    int64_t *health = health_of(ft_rt_x_object(FT_X_MUTEX, mutex, 0));
    if (*health != TOLD) return EINVAL;
    *health = SOUND;
    return 0;
}

void ft_rt_x_abandon(void)
{
    for (uint32_t i = 0; i < ft_rt_x.n_objects && n_robust; i++) {
        if (ft_rt_x.slot->objects[i].name.class != FT_X_MUTEX) continue;
        if (!is_mine(i) || !*health_of(i)) continue;
        while (is_mine(i)) /* a recursive one: once for each time that it was locked */
            ft_rt_explore(&(ft_x_operation){.kind = FT_X_UNLOCK, .object = i}, NULL);
        *health_of(i) = ABANDONED; /* before another thread goes on */
    }
}

/* ---- the calls */

int ft_rt_x_lock(pthread_mutex_t *mutex, ft_rt_x_limit limit, const void *pc)
{
    uint32_t o = ft_rt_x_object(FT_X_MUTEX, mutex, 0);
    int type = kind_of(mutex);
    note_robust(mutex, o);
    bool attempt = ft_rt_x_limit_is_early(limit, pc);
    if (type == PTHREAD_MUTEX_ERRORCHECK && is_mine(o)) return EDEADLK;
    ft_x_operation lock = about(attempt ? FT_X_TRY_LOCK : FT_X_LOCK, o, type);
    lock.value |= ft_rt_x_limit_bits(limit, pc);
    ft_x_choice choice = ft_rt_explore(&lock, pc);
    bool in_time = attempt ? choice.outcome != 0 : choice.variant != FT_X_TIMED_OUT;
    ft_rt_x_limit_passed(limit, !in_time, pc);
    if (in_time) return ft_rt_x_locked(o, pc);
    return *health_of(o) == LOST ? ENOTRECOVERABLE : ETIMEDOUT;
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
    note_robust(mutex, o);
    if (ft_rt_explore(&lock, pc).outcome) return ft_rt_x_locked(o, pc);
    return *health_of(o) == LOST ? ENOTRECOVERABLE : EBUSY;
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
    if (*health_of(o) == TOLD && !is_mine(o)) *health_of(o) = LOST;
    return 0;
}

int ft_rt_x_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    int result = FT_REAL(pthread_mutex_init)(mutex, attributes);
    if (!result) ft_rt_x_new_object(FT_X_MUTEX, mutex, 0);
    return result;
}
