/* Condition variables, semaphores, barriers and once. */
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <threads.h>

#include "accesses/accesses.h"
#include "accesses/needs.h"
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

/* ---- condition variables */

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
    ft_rt_mutex_lock(self, m, NULL);
    assert(m->owner == self);
    if (!kept) FT_RT_SYNC(ACQUIRE, FT_FLAG_CONDITION, m, site);
    return woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
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
    FT_RT_HOOK(pthread_cond_timedwait, condition, mutex, until);
    struct timespec deadline = ft_rt_deadline(clock_of(condition), until);
    return FT_RT_END(wait_on(self, condition, mutex, &deadline, FT_RT_SITE));
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until)
{
    FT_RT_HOOK(pthread_cond_clockwait, condition, mutex, clock, until);
    struct timespec deadline = ft_rt_deadline(clock, until);
    return FT_RT_END(wait_on(self, condition, mutex, &deadline, FT_RT_SITE));
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    FT_RT_HOOK(pthread_cond_signal, condition);
    ft_rt_object *c = condition_at(condition);
    FT_RT_SYNC(SIGNAL, 0, c, FT_RT_SITE);
    ft_rt_wake_first(c);
    return FT_RT_END(0);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    FT_RT_HOOK(pthread_cond_broadcast, condition);
    ft_rt_object *c = condition_at(condition);
    FT_RT_SYNC(BROADCAST, 0, c, FT_RT_SITE);
    ft_rt_wake_all(c);
    return FT_RT_END(0);
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_cond_init)(condition, attributes);
    if (!self) return result;
    FT_RT_BEGINS(condition, condition_at(condition));
    return FT_RT_END(result);
}

int pthread_cond_destroy(pthread_cond_t *condition)
{
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
    FT_RT_HOOK(cnd_wait, condition, mutex);
    return FT_RT_END(thrd_of(
        wait_on(self, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex, NULL, FT_RT_SITE)));
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                  const struct timespec *restrict until)
{
    FT_RT_HOOK(cnd_timedwait, condition, mutex, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    return FT_RT_END(thrd_of(wait_on(self, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
                                     &deadline, FT_RT_SITE)));
}

int cnd_signal(cnd_t *condition)
{
    FT_RT_HOOK(cnd_signal, condition);
    ft_rt_object *c = condition_at((pthread_cond_t *)condition);
    FT_RT_SYNC(SIGNAL, 0, c, FT_RT_SITE);
    ft_rt_wake_first(c);
    return FT_RT_END(thrd_success);
}

int cnd_broadcast(cnd_t *condition)
{
    FT_RT_HOOK(cnd_broadcast, condition);
    ft_rt_object *c = condition_at((pthread_cond_t *)condition);
    FT_RT_SYNC(BROADCAST, 0, c, FT_RT_SITE);
    ft_rt_wake_all(c);
    return FT_RT_END(thrd_success);
}

int cnd_init(cnd_t *condition)
{
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(cnd_init)(condition);
    if (!self) return result;
    FT_RT_BEGINS(condition, condition_at((pthread_cond_t *)condition));
    return FT_RT_END(result);
}

void cnd_destroy(cnd_t *condition)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) {
        FT_REAL(cnd_destroy)(condition);
        return;
    }
    FT_RT_ENDS(condition, condition_at((pthread_cond_t *)condition));
    ft_rt_leave(self);
}

/* ---- semaphores; `kind` is the initial count */

static ft_rt_object *semaphore_at(sem_t *semaphore)
{
    int value = 0;
    FT_REAL(sem_getvalue)(semaphore, &value);
    return ft_rt_object_at(FT_RAW_CLASS_SEMAPHORE, semaphore, (uint32_t)value);
}

int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(sem_init)(semaphore, shared, value);
    if (!self) return result;
    FT_RT_BEGINS(semaphore, semaphore_at(semaphore));
    if (!result) semaphore_at(semaphore)->count = value;
    return FT_RT_END(result);
}

int sem_destroy(sem_t *semaphore)
{
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
    FT_RT_HOOK(sem_wait, semaphore);
    return FT_RT_END(take_unit(self, semaphore, NULL, false, FT_RT_SITE));
}

int sem_trywait(sem_t *semaphore)
{
    FT_RT_HOOK(sem_trywait, semaphore);
    return FT_RT_END(take_unit(self, semaphore, NULL, true, FT_RT_SITE));
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    FT_RT_HOOK(sem_timedwait, semaphore, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    return FT_RT_END(take_unit(self, semaphore, &deadline, false, FT_RT_SITE));
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    FT_RT_HOOK(sem_clockwait, semaphore, clock, until);
    struct timespec deadline = ft_rt_deadline(clock, until);
    return FT_RT_END(take_unit(self, semaphore, &deadline, false, FT_RT_SITE));
}

int sem_post(sem_t *semaphore)
{
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
    FT_RT_HOOK(sem_getvalue, semaphore, value);
    const ft_rt_object *s = semaphore_at(semaphore);
    int count = (int)s->count;
    look(s, FT_RT_SITE);
    ft_rt_leave(self);
    ft_rt_write_range(value, sizeof *value, __builtin_return_address(0));
    *value = count;
    return 0;
}

/* ---- barriers; `kind` is how many make a round */

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                         unsigned count)
{
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_barrier_init)(barrier, attributes, count);
    if (!self) return result;
    if (!result) FT_RT_BEGINS(barrier, ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, count));
    if (!result) ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, count);
    return FT_RT_END(result);
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    FT_RT_HOOK(pthread_barrier_destroy, barrier);
    FT_RT_ENDS(barrier, ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, 1));
    return FT_RT_END(FT_REAL(pthread_barrier_destroy)(barrier));
}

static int arrive(ft_rt_thread *self, ft_rt_object *b, uint32_t site)
{
    uint32_t round = b->generation;
    assert(b->count < b->kind);
    FT_RT_SYNC(BARRIER_ARRIVE, 0, b, site);
    bool last = ++b->count >= b->kind;
    if (last) {
        b->count = 0;
        b->generation++;
        ft_rt_wake_all(b);
    }
    FT_RT_ASKS(self, BARRIER_LEAVE, 0, b->id, site);
    assert(b->count < b->kind && last == (b->generation != round));
    while (b->generation == round) ft_rt_block(self, b, NULL);
    FT_RT_SYNC(BARRIER_LEAVE, 0, b, site);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    FT_RT_HOOK(pthread_barrier_wait, barrier);
    return FT_RT_END(arrive(self, ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, 1), FT_RT_SITE));
}

/* ---- once, and C++'s guards of function-local statics */

static void log_before(const ft_rt_object *o, uint32_t site)
{
    if (o->generation) FT_RT_LOG(SYNC, FT_EVENT_ONCE_PASS, 0, o->generation - 1, site);
}

/* True: the caller runs the initialiser and then calls once_done. */
static bool once_starts(ft_rt_thread *self, ft_rt_object *o, uint32_t site)
{
    FT_RT_ASKS(self, ONCE_PASS, 0, o->id, site);
    while (o->owner) ft_rt_block(self, o, NULL);
    log_before(o, site);
    if (o->count) {
        FT_RT_SYNC(ONCE_PASS, 0, o, site);
        return false;
    }
    assert(!o->owner && !o->count);
    o->owner = self;
    FT_RT_SYNC(ONCE_BEGIN, 0, o, site);
    return true;
}

static void once_done(ft_rt_object *o, uint32_t site)
{
    FT_RT_SYNC(ONCE_END, 0, o, site);
    o->owner = NULL;
    o->count = 1;
    ft_rt_wake_all(o);
}

/* The initialiser threw an exception, so the next thread runs it again. In a trace an object is
 * initialised once: from here on it is a new object, and each thread that reaches it passes the old
 * one first. */
static void once_left(ft_rt_object *o, uint32_t site)
{
    FT_RT_SYNC(ONCE_END, 0, o, site);
    o->owner = NULL;
    o->passed = NULL;
    ft_rt_object_again(o);
    ft_rt_wake_all(o);
}

typedef struct once_call {
    const void *once;
    uint32_t site;
    bool through;
} once_call;

static void end_once(once_call *call)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_ONCE, call->once, 0);
    (call->through ? once_done : once_left)(o, call->site);
    ft_rt_leave(self);
}

/* end_once runs also where an exception passes (std::call_once): built with -fexceptions. */
static void run_once(const void *once, void (*initialise)(void), uint32_t site)
{
    once_call call __attribute__((cleanup(end_once))) = {.once = once, .site = site};
    initialise();
    call.through = true;
}

int pthread_once(pthread_once_t *once, void (*initialise)(void))
{
    uint32_t site;
    FT_RT_HOOK(pthread_once, once, initialise);
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_ONCE, once, 0);
    site = FT_RT_SITE;
    if (!once_starts(self, o, site)) return FT_RT_END(0);
    ft_rt_leave(self);
    run_once(once, initialise, site);
    return 0;
}

void call_once(once_flag *once, void (*initialise)(void))
{
    ft_rt_about(FT_RT_ANY, __builtin_return_address(0));
    ft_rt_thread *self = ft_rt_enter();
    if (!self) {
        FT_REAL(call_once)(once, initialise);
        return;
    }
    uint32_t site = FT_RT_SITE;
    bool first = once_starts(self, ft_rt_object_at(FT_RAW_CLASS_ONCE, once, 0), site);
    ft_rt_leave(self);
    if (first) run_once(once, initialise, site);
}

int __cxa_guard_acquire(int64_t *guard);
void __cxa_guard_release(int64_t *guard);
void __cxa_guard_abort(int64_t *guard);

/* The first byte of a guard is 1 once its object is made (Itanium C++ ABI, 3.3.3). Compiled code
 * reads it atomically and calls __cxa_guard_acquire if it is 0. Both together are one event: a
 * thread that has passed the guard once finds the object made in every schedule; a thread that
 * finds it made at its first read would have called, and waited, in another schedule. */

static bool guards_done; /* has any guard been released? */

enum { BITS = 64, WORDS = FT_RT_THREADS / BITS, MAPS = 64 /* at a time */ };

static uint64_t *new_bits(void)
{
    static uint64_t *rest;
    static uint32_t n;
    if (!n) rest = ft_rt_map((size_t)MAPS * WORDS * sizeof *rest);
    if (!n) n = MAPS;
    assert(n <= MAPS);
    n--;
    rest += WORDS;
    return rest - WORDS;
}

/* False: the thread has passed it before. */
static bool comes_first(const ft_rt_thread *self, ft_rt_object *o)
{
    uint64_t bit = UINT64_C(1) << self->id % BITS;
    assert(self->id < FT_RT_THREADS);
    if (!o->passed) o->passed = new_bits();
    bool first = !(o->passed[self->id / BITS] & bit);
    o->passed[self->id / BITS] |= bit;
    return first;
}

bool ft_rt_guard_passed(const ft_rt_thread *self, const volatile void *address, const void *pc)
{
    ft_rt_object *o = guards_done ? ft_rt_object_known(FT_RAW_CLASS_ONCE, address) : NULL;
    if (!o || !o->count) return false;
    if (!comes_first(self, o)) return true;
    uint32_t site = ft_rt_site(pc);
    log_before(o, site);
    FT_RT_SYNC(ONCE_PASS, 0, o, site);
    return true;
}

int __cxa_guard_acquire(int64_t *guard)
{
    ft_rt_thread *self = ft_rt_self;
    const void *pc = __builtin_return_address(0);
    if (self && !self->inside && self->look.address == (uintptr_t)guard) {
        pc = self->look.pc;
        self->look.address = 0;
    }
    ft_rt_about(FT_RT_ANY, pc);
    self = ft_rt_enter();
    if (!self) return !*(const volatile char *)guard;
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_ONCE, guard, 0);
    bool starts = once_starts(self, o, ft_rt_site(pc));
    comes_first(self, o);
    return FT_RT_END((int)starts);
}

void __cxa_guard_release(int64_t *guard)
{
    ft_rt_thread *self = ft_rt_enter();
    __atomic_store_n((char *)guard, 1, __ATOMIC_RELEASE);
    if (!self) return;
    guards_done = true;
    once_done(ft_rt_object_at(FT_RAW_CLASS_ONCE, guard, 0), FT_RT_SITE);
    ft_rt_leave(self);
}

void __cxa_guard_abort(int64_t *guard)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    once_left(ft_rt_object_at(FT_RAW_CLASS_ONCE, guard, 0), FT_RT_SITE);
    ft_rt_leave(self);
}
