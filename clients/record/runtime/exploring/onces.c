/* Initialisers that run once, of an exploration. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* An initialiser that ended before the first choice has ended in every run; a call is not an
 * action. */
static bool is_done_before(uint32_t object)
{
    return ft_rt_x.begun && ft_rt_x.slot->objects[object].initial.value;
}

/* True: the caller runs the initialiser and then calls end. */
bool ft_rt_x_once_begins(const volatile void *once, const void *pc)
{
    ft_x_operation o = {.kind = FT_X_ONCE_BEGIN, .object = ft_rt_x_object(FT_X_ONCE, once, 0)};
    if (is_done_before(o.object)) return false;
    return ft_rt_explore(&o, pc).outcome;
}

/* left: by an exception, and the next thread runs it again. */
void ft_rt_x_once_ends(const volatile void *once, bool left, const void *pc)
{
    ft_x_operation o = {
        .kind = FT_X_ONCE_END, .object = ft_rt_x_object(FT_X_ONCE, once, 0), .value = left};
    ft_rt_explore(&o, pc);
}

/* ---- guards of C++'s function-local static objects: compiled code reads the guard's first byte as
 * an atomic, and calls acquire where it is 0. Whether an atomic byte is a guard shows too late, so
 * a guard is an atomic that is written under a lock. */

static ft_x_operation lock_of(int64_t *guard, ft_x_kind kind)
{
    return (ft_x_operation){.kind = (uint16_t)kind, .object = ft_rt_x_object(FT_X_MUTEX, guard, 0)};
}

int ft_rt_x_guard_acquire(int64_t *guard, const void *pc)
{
    volatile int8_t *byte = (volatile int8_t *)guard;
    ft_x_operation o = lock_of(guard, FT_X_LOCK);
    ft_rt_explore(&o, pc);
    ft_rt_x_atomic(FT_X_LOAD, byte, 1, *byte, 0, 0, pc);
    if (!*byte) return 1;
    o.kind = FT_X_UNLOCK;
    ft_rt_explore(&o, pc);
    return 0;
}

void ft_rt_x_guard_release(int64_t *guard, bool done, const void *pc)
{
    volatile int8_t *byte = (volatile int8_t *)guard;
    ft_x_operation o = lock_of(guard, FT_X_UNLOCK);
    if (done) {
        ft_rt_x_atomic(FT_X_STORE, byte, 1, *byte, 1, 0, pc);
        *byte = 1;
    }
    ft_rt_explore(&o, pc);
}
