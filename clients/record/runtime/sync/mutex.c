/* Mutexes, spin locks and read-write locks. */
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

/* glibc keeps the type in the low bits, also after a static initialiser. */
enum { KIND_BITS = 3, ROBUST_BIT = 16, SHARED_BIT = 128 };

static uint32_t n_robust; /* ever */

/* A forked process may wait for it forever (process/children.c), unless processes share it. Spin
 * locks do not say whether they are shared. */
static inline void tell_child(const pthread_mutex_t *mutex, const void *pc)
{
    if (ft_rt_forked && !(mutex->__data.__kind & SHARED_BIT))
        ft_rt_child_wants(FT_RAW_CLASS_MUTEX, mutex, false, pc);
}

static inline void tell_child_of(const pthread_rwlock_t *lock, bool shared, const void *pc)
{
    if (ft_rt_forked && !lock->__data.__shared)
        ft_rt_child_wants(FT_RAW_CLASS_RWLOCK, lock, shared, pc);
}

static ft_rt_object *mutex_at(const pthread_mutex_t *mutex)
{
    uint32_t kind = (uint32_t)mutex->__data.__kind;
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_MUTEX, mutex, kind & KIND_BITS);
    if (!o->robust && kind & ROBUST_BIT) o->robust = true, n_robust++;
    return o;
}

/* A second lock by the owner; -1: the owner waits. */
static int lock_again(ft_rt_object *o)
{
    assert(o->count);
    if (o->kind == PTHREAD_MUTEX_RECURSIVE) {
        o->count++;
        return 0;
    }
    return o->kind == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : -1;
}

int ft_rt_mutex_lock(ft_rt_thread *self, ft_rt_object *o, const struct timespec *deadline)
{
    if (o->owner == self) {
        int result = lock_again(o);
        if (result >= 0) return result;
    }
    FT_REQUIRE(self == ft_rt_self && o->class == FT_RAW_CLASS_MUTEX);
    self->tries = 0;
    ft_rt_behind_starved(self, o);
    while (o->owner) /* after its time limit a thread still takes a free mutex */
        if (!ft_rt_block(self, o, deadline) && o->owner) return ETIMEDOUT;
    assert(!o->count);
    o->owner = self;
    o->count = 1;
    return 0;
}

static void free_mutex(ft_rt_object *o)
{
    assert(o->owner);
    o->owner = NULL;
    o->count = 0;
    ft_rt_wake_all(o);
}

void ft_rt_mutex_release(ft_rt_object *o)
{
    FT_REQUIRE(o->owner == ft_rt_self);
    assert(o->count);
    if (!--o->count) free_mutex(o);
}

static void pass_health(const ft_rt_object *o, unsigned kind, uint32_t flags, uint32_t site)
{
    if (o->robust) FT_RT_LOG(CHANNEL, flags, FT_RAW_CHANNEL_OF(kind, (uint64_t)o->id), site);
}

/* A thread that locks a robust mutex goes on depending on its health, so it keeps its place among
 * the steps that change the health. */
static void change_health(ft_rt_object *o, ft_rt_health health, uint32_t site)
{
    assert(o->robust && o->health != FT_RT_LOST && o->health != health);
    o->health = health;
    pass_health(o, FT_RAW_CHANNEL_LOCKED, FT_RAW_CHANNEL_IN, site);
    pass_health(o, FT_RAW_CHANNEL_HEALTH, FT_RAW_CHANNEL_OUT, site);
}

static int refuse_lost(const ft_rt_object *o, uint32_t site)
{
    pass_health(o, FT_RAW_CHANNEL_HEALTH, FT_RAW_CHANNEL_IN, site);
    return ENOTRECOVERABLE;
}

/* The thread has just locked it. */
static int note_lock(ft_rt_object *o, uint8_t flags, uint32_t site)
{
    assert(o->owner == ft_rt_self);
    if (o->health == FT_RT_LOST) { /* while it waited */
        free_mutex(o);
        return refuse_lost(o, site);
    }
    pass_health(o, FT_RAW_CHANNEL_HEALTH, FT_RAW_CHANNEL_IN, site);
    FT_RT_SYNC(ACQUIRE, flags, o, site);
    pass_health(o, FT_RAW_CHANNEL_LOCKED, FT_RAW_CHANNEL_OUT | FT_RAW_CHANNEL_PUT, site);
    if (o->health != FT_RT_ABANDONED) return 0;
    o->health = FT_RT_TOLD;
    return EOWNERDEAD;
}

int ft_rt_mutex_lock_behind_wait(ft_rt_thread *self, ft_rt_object *o, uint32_t site)
{
    (void)ft_rt_mutex_lock(self, o, NULL);
    return note_lock(o, FT_FLAG_CONDITION, site);
}

static int lock_mutex(const pthread_mutex_t *mutex, const struct timespec *deadline, bool try,
                      uint32_t site, ft_rt_thread *self)
{
    ft_rt_object *o = mutex_at(mutex);
    if (o->health == FT_RT_LOST) return refuse_lost(o, site);
    bool held = o->owner && !(o->owner == self && o->kind == PTHREAD_MUTEX_RECURSIVE);
    uint8_t flags = try || deadline ? FT_FLAG_TRY : 0;
    FT_RT_ASKS(self, ACQUIRE, 0, o->id, site);
    int result = try && held ? EBUSY : ft_rt_mutex_lock(self, o, deadline);
    if (!result) return note_lock(o, flags, site);
    if (result == EBUSY || result == ETIMEDOUT)
        FT_RT_SYNC(TRY_FAILED, 0, o, site);
    else
        FT_RT_SYNC(ACQUIRE, flags, o, site);
    return result;
}

void ft_rt_mutexes_abandon(ft_rt_thread *self)
{
    size_t at = 0;
    ft_rt_object *o;
    while (n_robust && (o = ft_rt_object_next(&at))) {
        if (o->class != FT_RAW_CLASS_MUTEX || !o->robust || o->owner != self) continue;
        if (ft_rt_following) ft_rt_follow_end(self);
        change_health(o, FT_RT_ABANDONED, 0);
        FT_RT_SYNC(RELEASE, 0, o, 0); /* no line of the program does it */
        free_mutex(o);
    }
}

int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    FT_RT_EXPLORED(ft_rt_x_consistent(mutex));
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(pthread_mutex_consistent)(mutex);
    ft_rt_object *o = mutex_at(mutex);
    bool told = o->health == FT_RT_TOLD;
    if (told) change_health(o, FT_RT_SOUND, FT_RT_SITE);
    return FT_RT_END(told ? 0 : EINVAL);
}

static int unlock_mutex(const pthread_mutex_t *mutex, uint32_t site, const ft_rt_thread *self)
{
    ft_rt_object *o = mutex_at(mutex);
    bool last = o->owner == self && o->count == 1; /* of a recursive one's */
    if (last && o->health == FT_RT_TOLD) change_health(o, FT_RT_LOST, site);
    FT_RT_SYNC(RELEASE, 0, o, site);
    if (o->owner != self) return o->kind == PTHREAD_MUTEX_NORMAL ? 0 : EPERM;
    ft_rt_mutex_release(o);
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    FT_RT_EXPLORED(ft_rt_x_mutex_init(mutex, attributes));
    FT_RT_CONSTRAINED(INIT, mutex, FT_REAL(pthread_mutex_init)(mutex, attributes));
    ft_rt_about_followed(mutex, CODE);
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_mutex_init)(mutex, attributes);
    if (ft_rt_forked) ft_rt_child_makes(mutex);
    if (!self) return result;
    FT_RT_BEGINS(mutex, mutex_at(mutex));
    return FT_RT_END(result);
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    FT_RT_CONSTRAINED(DESTROY, mutex, FT_REAL(pthread_mutex_destroy)(mutex));
    FT_RT_HOOK(pthread_mutex_destroy, mutex);
    FT_RT_ENDS(mutex, mutex_at(mutex));
    return FT_RT_END(FT_REAL(pthread_mutex_destroy)(mutex));
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    FT_RT_EXPLORED(ft_rt_x_lock(mutex, FT_RT_X_NO_LIMIT, CODE));
    FT_RT_CONSTRAINED(LOCK, mutex, FT_REAL(pthread_mutex_lock)(mutex));
    tell_child(mutex, CODE);
    FT_RT_POSTPONE();
    FT_RT_HOOK(pthread_mutex_lock, mutex);
    return FT_RT_END(lock_mutex(mutex, NULL, false, FT_RT_SITE, self));
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    FT_RT_EXPLORED(ft_rt_x_try_lock(mutex, CODE));
    FT_RT_CONSTRAINED(TRY_LOCK, mutex, FT_REAL(pthread_mutex_trylock)(mutex));
    FT_RT_HOOK(pthread_mutex_trylock, mutex);
    return FT_RT_END(lock_mutex(mutex, NULL, true, FT_RT_SITE, self));
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    FT_RT_EXPLORED(ft_rt_x_lock(mutex, ft_rt_x_limit_until(CLOCK_REALTIME, until), CODE));
    FT_RT_CONSTRAINED_UNTIL(LOCK, mutex, FT_REAL(pthread_mutex_lock)(mutex), ETIMEDOUT);
    FT_RT_HOOK(pthread_mutex_timedlock, mutex, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    return FT_RT_END(lock_mutex(mutex, &deadline, false, FT_RT_SITE, self));
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    FT_RT_EXPLORED(ft_rt_x_lock(mutex, ft_rt_x_limit_until(clock, until), CODE));
    FT_RT_CONSTRAINED_UNTIL(LOCK, mutex, FT_REAL(pthread_mutex_lock)(mutex), ETIMEDOUT);
    FT_RT_HOOK(pthread_mutex_clocklock, mutex, clock, until);
    struct timespec deadline = ft_rt_deadline(clock, until);
    return FT_RT_END(lock_mutex(mutex, &deadline, false, FT_RT_SITE, self));
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    FT_RT_EXPLORED(ft_rt_x_unlock(mutex, CODE));
    FT_RT_CONSTRAINED(UNLOCK, mutex, FT_REAL(pthread_mutex_unlock)(mutex));
    FT_RT_HOOK(pthread_mutex_unlock, mutex);
    return FT_RT_END(unlock_mutex(mutex, FT_RT_SITE, self));
}

/* ---- C11's mutexes wrap pthread's; the C library calls its own functions, not the hooks */

static int thrd_of(int result)
{
    if (result == ETIMEDOUT) return thrd_timedout;
    if (result == EBUSY) return thrd_busy;
    return result ? thrd_error : thrd_success;
}

#define MTX(name, parameters, arguments, operation, call, explored)                                \
    int name parameters                                                                            \
    {                                                                                              \
        pthread_mutex_t *mutex = (pthread_mutex_t *)m;                                             \
        FT_RT_EXPLORED(thrd_of(explored));                                                         \
        FT_RT_CONSTRAINED(operation, m, FT_REAL(name)(arguments));                                 \
        FT_RT_HOOK(name, arguments);                                                               \
        return FT_RT_END(thrd_of(call));                                                           \
    }
MTX(mtx_lock, (mtx_t * m), m, LOCK, lock_mutex(mutex, NULL, false, FT_RT_SITE, self),
    ft_rt_x_lock(mutex, FT_RT_X_NO_LIMIT, CODE))
MTX(mtx_trylock, (mtx_t * m), m, TRY_LOCK, lock_mutex(mutex, NULL, true, FT_RT_SITE, self),
    ft_rt_x_try_lock(mutex, CODE))
MTX(mtx_unlock, (mtx_t * m), m, UNLOCK, unlock_mutex(mutex, FT_RT_SITE, self),
    ft_rt_x_unlock(mutex, CODE))

int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
    FT_RT_EXPLORED(thrd_of(
        ft_rt_x_lock((pthread_mutex_t *)m, ft_rt_x_limit_until(CLOCK_REALTIME, until), CODE)));
    FT_RT_CONSTRAINED_UNTIL(LOCK, m, FT_REAL(mtx_lock)(m), thrd_timedout);
    FT_RT_HOOK(mtx_timedlock, m, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    return FT_RT_END(
        thrd_of(lock_mutex((const pthread_mutex_t *)m, &deadline, false, FT_RT_SITE, self)));
}

int mtx_init(mtx_t *m, int type)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_spin_init(m);
    FT_RT_CONSTRAINED(INIT, m, FT_REAL(mtx_init)(m, type));
    ft_rt_about_followed(m, CODE);
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(mtx_init)(m, type);
    if (!self) return result;
    FT_RT_BEGINS(m, mutex_at((pthread_mutex_t *)m));
    return FT_RT_END(result);
}

void mtx_destroy(mtx_t *m)
{
    FT_RT_CONSTRAINED_SCOPE(DESTROY, m, CODE);
    ft_rt_about_followed(m, CODE);
    ft_rt_thread *self = ft_rt_enter();
    if (self) FT_RT_ENDS(m, mutex_at((pthread_mutex_t *)m));
    FT_REAL(mtx_destroy)(m);
    if (self) ft_rt_leave(self);
}

/* ---- spin locks: a mutex that never sleeps looks the same from outside */

static ft_rt_object *spin_at(const volatile void *spin)
{
    return ft_rt_object_at(FT_RAW_CLASS_MUTEX, (const void *)(uintptr_t)spin, PTHREAD_MUTEX_NORMAL);
}

int pthread_spin_init(pthread_spinlock_t *spin, int shared)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_spin_init(spin);
    ft_rt_about_followed((const void *)(uintptr_t)spin, CODE);
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_spin_init)(spin, shared);
    if (!self) return result;
    FT_RT_BEGINS(spin, spin_at(spin));
    return FT_RT_END(result);
}

int pthread_spin_destroy(pthread_spinlock_t *spin)
{
    FT_RT_HOOK(pthread_spin_destroy, spin);
    FT_RT_ENDS(spin, spin_at(spin));
    return FT_RT_END(FT_REAL(pthread_spin_destroy)(spin));
}

int pthread_spin_lock(pthread_spinlock_t *spin)
{
    FT_RT_EXPLORED(ft_rt_x_spin_lock(spin, false, CODE));
    FT_RT_CONSTRAINED(LOCK, spin, FT_REAL(pthread_spin_lock)(spin));
    FT_RT_POSTPONE();
    FT_RT_HOOK(pthread_spin_lock, spin);
    ft_rt_object *o = spin_at(spin);
    FT_RT_ASKS(self, ACQUIRE, 0, o->id, FT_RT_SITE);
    ft_rt_mutex_lock(self, o, NULL);
    FT_RT_SYNC(ACQUIRE, 0, o, FT_RT_SITE);
    return FT_RT_END(0);
}

int pthread_spin_trylock(pthread_spinlock_t *spin)
{
    FT_RT_EXPLORED(ft_rt_x_spin_lock(spin, true, CODE));
    FT_RT_CONSTRAINED(TRY_LOCK, spin, FT_REAL(pthread_spin_trylock)(spin));
    FT_RT_HOOK(pthread_spin_trylock, spin);
    ft_rt_object *o = spin_at(spin);
    bool held = o->owner != NULL;
    if (!held) ft_rt_mutex_lock(self, o, NULL);
    if (held)
        FT_RT_SYNC(TRY_FAILED, 0, o, FT_RT_SITE);
    else
        FT_RT_SYNC(ACQUIRE, FT_FLAG_TRY, o, FT_RT_SITE);
    return FT_RT_END(held ? EBUSY : 0);
}

int pthread_spin_unlock(pthread_spinlock_t *spin)
{
    FT_RT_EXPLORED(ft_rt_x_spin_unlock(spin, CODE));
    FT_RT_CONSTRAINED(UNLOCK, spin, FT_REAL(pthread_spin_unlock)(spin));
    FT_RT_HOOK(pthread_spin_unlock, spin);
    ft_rt_object *o = spin_at(spin);
    FT_RT_SYNC(RELEASE, 0, o, FT_RT_SITE);
    if (o->owner == self) free_mutex(o);
    return FT_RT_END(0);
}

/* ---- read-write locks: `count` readers, or an owner that writes */

static ft_rt_object *rwlock_at(const pthread_rwlock_t *lock)
{
    bool writers = lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
    return ft_rt_object_at(FT_RAW_CLASS_RWLOCK, lock,
                           writers ? FT_RAW_RWLOCK_WRITERS : FT_RAW_RWLOCK_READERS);
}

static bool is_taken(const ft_rt_object *o, bool write)
{
    return o->owner || (write && o->count);
}

/* Waiting writers keep other threads from reading, too. Attempts and timed waits disregard them: an
 * attempt that failed for a waiting writer would say in the trace that one held the lock. */
static bool is_refused(const ft_rt_object *o, bool write, bool waits)
{
    bool behind = !write && waits && o->kind == FT_RAW_RWLOCK_WRITERS && o->writers;
    return behind || is_taken(o, write);
}

static void wait_for(ft_rt_thread *self, ft_rt_object *o, bool write,
                     const struct timespec *deadline)
{
    bool given_up = false;
    o->writers += write;
    while (is_refused(o, write, !deadline) && !given_up) given_up = !ft_rt_block(self, o, deadline);
    o->writers -= write;
    if (given_up && write && !o->writers) ft_rt_wake_all(o); /* readers that waited behind it */
}

static int take(ft_rt_thread *self, ft_rt_object *o, bool write, bool try,
                const struct timespec *deadline, uint32_t site)
{
    self->asks =
        (ft_rt_request){write ? FT_EVENT_ACQUIRE : FT_EVENT_ACQUIRE_SHARED, 0, o->id, site};
    self->tries = 0;
    if (!try) ft_rt_behind_starved(self, o);
    if (!try) wait_for(self, o, write, deadline);
    if (is_taken(o, write)) {
        if (write)
            FT_RT_SYNC(TRY_FAILED, 0, o, site);
        else
            FT_RT_SYNC(TRY_FAILED_SHARED, 0, o, site);
        return try ? EBUSY : ETIMEDOUT;
    }
    uint8_t flags = try || deadline ? FT_FLAG_TRY : 0;
    assert(!o->owner && (!write || !o->count));
    if (write) {
        o->owner = self;
        FT_RT_SYNC(ACQUIRE, flags, o, site);
    } else {
        o->count++;
        FT_RT_SYNC(ACQUIRE_SHARED, flags, o, site);
    }
    return 0;
}

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    FT_RT_EXPLORED(ft_rt_x_rwlock_init(lock, attributes));
    FT_RT_CONSTRAINED(INIT, lock, FT_REAL(pthread_rwlock_init)(lock, attributes));
    ft_rt_about_followed(lock, CODE);
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_rwlock_init)(lock, attributes);
    if (ft_rt_forked) ft_rt_child_makes(lock);
    if (!self) return result;
    FT_RT_BEGINS(lock, rwlock_at(lock));
    return FT_RT_END(result);
}

int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    FT_RT_CONSTRAINED(DESTROY, lock, FT_REAL(pthread_rwlock_destroy)(lock));
    FT_RT_HOOK(pthread_rwlock_destroy, lock);
    FT_RT_ENDS(lock, rwlock_at(lock));
    return FT_RT_END(FT_REAL(pthread_rwlock_destroy)(lock));
}

#define RWLOCK(name, write, try, operation)                                                        \
    int pthread_rwlock_##name(pthread_rwlock_t *lock)                                              \
    {                                                                                              \
        FT_RT_EXPLORED(ft_rt_x_rwlock(lock, write, try, FT_RT_X_NO_LIMIT, CODE));                  \
        FT_RT_CONSTRAINED(operation, lock, FT_REAL(pthread_rwlock_##name)(lock));                  \
        if (!try) tell_child_of(lock, !write, CODE);                                               \
        FT_RT_POSTPONE();                                                                          \
        FT_RT_HOOK(pthread_rwlock_##name, lock);                                                   \
        return FT_RT_END(take(self, rwlock_at(lock), write, try, NULL, FT_RT_SITE));               \
    }
RWLOCK(rdlock, false, false, READ_LOCK)
RWLOCK(wrlock, true, false, WRITE_LOCK)
RWLOCK(tryrdlock, false, true, TRY_READ_LOCK)
RWLOCK(trywrlock, true, true, TRY_WRITE_LOCK)

#define RWLOCK_UNTIL(name, write)                                                                  \
    int pthread_rwlock_timed##name(pthread_rwlock_t *lock, const struct timespec *until)           \
    {                                                                                              \
        FT_RT_EXPLORED(                                                                            \
            ft_rt_x_rwlock(lock, write, false, ft_rt_x_limit_until(CLOCK_REALTIME, until), CODE)); \
        FT_RT_HOOK(pthread_rwlock_timed##name, lock, until);                                       \
        struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);                          \
        return FT_RT_END(take(self, rwlock_at(lock), write, false, &deadline, FT_RT_SITE));        \
    }                                                                                              \
    int pthread_rwlock_clock##name(pthread_rwlock_t *lock, clockid_t clock,                        \
                                   const struct timespec *until)                                   \
    {                                                                                              \
        FT_RT_EXPLORED(                                                                            \
            ft_rt_x_rwlock(lock, write, false, ft_rt_x_limit_until(clock, until), CODE));          \
        FT_RT_HOOK(pthread_rwlock_clock##name, lock, clock, until);                                \
        struct timespec deadline = ft_rt_deadline(clock, until);                                   \
        return FT_RT_END(take(self, rwlock_at(lock), write, false, &deadline, FT_RT_SITE));        \
    }
RWLOCK_UNTIL(rdlock, false)
RWLOCK_UNTIL(wrlock, true)

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    FT_RT_EXPLORED(ft_rt_x_rwlock_unlock(lock, CODE));
    FT_RT_CONSTRAINED(RW_UNLOCK, lock, FT_REAL(pthread_rwlock_unlock)(lock));
    FT_RT_HOOK(pthread_rwlock_unlock, lock);
    ft_rt_object *o = rwlock_at(lock);
    assert(!o->owner || !o->count); /* one writer or some readers */
    FT_RT_SYNC(RELEASE, 0, o, FT_RT_SITE);
    if (o->owner == self)
        o->owner = NULL;
    else if (o->count)
        o->count--;
    ft_rt_wake_all(o);
    return FT_RT_END(0);
}
