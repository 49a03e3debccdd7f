/* Synchronisation objects in the heap: a call on one is a read of its memory, so that a free that
 * nothing orders behind it is a race, and a call behind the free a failure.
 *
 * The second half of a call that is two actions is none: whoever is woken may free the object. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

static bool is_use(const ft_x_operation *o)
{
    switch (ft_x_kind_class((ft_x_kind)o->kind)) {
    case FT_X_MUTEX:
    case FT_X_CONDITION:
    case FT_X_SEMAPHORE:
    case FT_X_RWLOCK:
    case FT_X_BARRIER:
        return o->kind != FT_X_WAKE && o->kind != FT_X_LEAVE;
    default:
        return false;
    }
}

void ft_rt_x_uses(const ft_x_operation *o, const void *pc)
{
    uintptr_t address;
    if (!ft_rt_x.begun || !is_use(o) || !ft_rt_x_heap_address(o->object, &address)) return;
    const volatile void *at = (const volatile void *)address;
    ft_rt_x_point(at, 1, false, pc);
    if (ft_rt_x_block_is_freed(address))
        ft_rt_x_fail(FT_EXPLORING_FAILED_MEMORY, 1,
                     "a synchronisation object is used after its memory was freed", pc);
    ft_rt_x_atomic_access(at, 1, false, pc);
}
