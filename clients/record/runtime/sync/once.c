/* Initialisers that run once: pthread_once, call_once, std::call_once, and the guards of C++'s
 * function-local static objects. */
#include <threads.h>

#include "accesses/needs.h"
#include "constrained/constrained.h"
#include "exploring/exploring.h"
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
    const void *pc; /* exploring */
    bool through;
} once_call;

static void end_once(once_call *call)
{
    if (ft_rt_exploring && ft_rt_x_self) {
        ft_rt_x_once_ends(call->once, !call->through, call->pc);
        return;
    }
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_ONCE, call->once, 0);
    (call->through ? once_done : once_left)(o, call->site);
    ft_rt_leave(self);
}

/* end_once runs also where an exception passes (std::call_once): built with -fexceptions. */
static void run_once(const void *once, void (*initialise)(void), uint32_t site, const void *pc)
{
    once_call call __attribute__((cleanup(end_once))) = {.once = once, .site = site, .pc = pc};
    initialise();
    call.through = true;
}

static int explored_once(const void *once, void (*initialise)(void), const void *pc)
{
    if (ft_rt_x_once_begins(once, pc)) run_once(once, initialise, 0, pc);
    return 0;
}

int pthread_once(pthread_once_t *once, void (*initialise)(void))
{
    uint32_t site;
    FT_RT_EXPLORED(explored_once(once, initialise, __builtin_return_address(0)));
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_once(once, initialise, __builtin_return_address(0)))
        return 0;
    FT_RT_HOOK(pthread_once, once, initialise);
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_ONCE, once, 0);
    site = FT_RT_SITE;
    if (!once_starts(self, o, site)) return FT_RT_END(0);
    ft_rt_leave(self);
    run_once(once, initialise, site, NULL);
    return 0;
}

void call_once(once_flag *once, void (*initialise)(void))
{
    if (ft_rt_exploring && ft_rt_x_self) {
        explored_once(once, initialise, __builtin_return_address(0));
        return;
    }
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_once((pthread_once_t *)once, initialise, __builtin_return_address(0)))
        return;
    ft_rt_about(FT_RT_ANY, __builtin_return_address(0));
    ft_rt_thread *self = ft_rt_enter();
    if (!self) {
        FT_REAL(call_once)(once, initialise);
        return;
    }
    uint32_t site = FT_RT_SITE;
    bool first = once_starts(self, ft_rt_object_at(FT_RAW_CLASS_ONCE, once, 0), site);
    ft_rt_leave(self);
    if (first) run_once(once, initialise, site, NULL);
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
    FT_RT_EXPLORED(ft_rt_x_guard_acquire(guard, __builtin_return_address(0)));
    ft_rt_thread *self = ft_rt_self;
    const void *pc = __builtin_return_address(0);
    if (self && !self->inside && self->look.address == (uintptr_t)guard) {
        pc = self->look.pc;
        self->look.address = 0;
    }
    ft_rt_about(FT_RT_ANY, pc);
    self = ft_rt_enter();
    if (!self) return !*(const volatile char *)guard;
    if (ft_rt_following) ft_rt_follow_call(self, __builtin_return_address(0));
    ft_rt_object *o = ft_rt_object_at(FT_RAW_CLASS_ONCE, guard, 0);
    bool starts = once_starts(self, o, ft_rt_site(pc));
    comes_first(self, o);
    return FT_RT_END((int)starts);
}

void __cxa_guard_release(int64_t *guard)
{
    if (ft_rt_exploring && ft_rt_x_self) {
        ft_rt_x_guard_release(guard, true, __builtin_return_address(0));
        return;
    }
    ft_rt_thread *self = ft_rt_enter();
    if (self && ft_rt_following) ft_rt_follow_call(self, __builtin_return_address(0));
    __atomic_store_n((char *)guard, 1, __ATOMIC_RELEASE);
    if (!self) return;
    guards_done = true;
    once_done(ft_rt_object_at(FT_RAW_CLASS_ONCE, guard, 0), FT_RT_SITE);
    ft_rt_leave(self);
}

void __cxa_guard_abort(int64_t *guard)
{
    if (ft_rt_exploring && ft_rt_x_self) {
        ft_rt_x_guard_release(guard, false, __builtin_return_address(0));
        return;
    }
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (ft_rt_following) ft_rt_follow_call(self, __builtin_return_address(0));
    once_left(ft_rt_object_at(FT_RAW_CLASS_ONCE, guard, 0), FT_RT_SITE);
    ft_rt_leave(self);
}
