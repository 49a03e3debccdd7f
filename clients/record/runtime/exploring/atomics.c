/* Atomics of an exploration. The hook does the operation itself, when it is the thread's turn; the
 * model has the same content, so that the search knows what an operation would do elsewhere. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* ---- wide ones: as memory, whose writes are counted. Plain accesses have the even addresses. */

enum { WIDE = 16, LANE = 8 };

static bool has_wide; /* in this run */

/* Operations of several sizes on one memory are of different objects: their order would not be
 * explored. */
static void refuse_sizes(const void *pc)
{
    ft_rt_x_refuse("an atomic is accessed in several sizes", pc);
}

static bool is_in_wide(const volatile void *address)
{
    for (uintptr_t back = 0; back < WIDE; back += LANE)
        if (ft_rt_x_has_object(FT_X_MEMORY, (const volatile char *)address - back + 1)) return true;
    return false;
}

static uint32_t wide_object(const volatile void *address, size_t size, const void *pc)
{
    for (size_t i = 0; i < size; i += LANE)
        if (ft_rt_x_has_object(FT_X_ATOMIC, (const volatile char *)address + i)) refuse_sizes(pc);
    has_wide = true;
    if (ft_rt_x_header->options.points_as_one) return ft_rt_x_model_object(FT_X_MEMORY, 0, 0, 0);
    if (ft_rt_x_header->options.n_points && ft_rt_x.slot) ft_rt_x.slot->wide_points = 1;
    return ft_rt_x_object(FT_X_MEMORY, (const volatile char *)address + 1, 0);
}

void ft_rt_x_wide_atomic(bool reads, bool writes, const volatile void *address, size_t size,
                         const void *pc)
{
    ft_x_operation o = {.kind = writes ? FT_X_WRITE : FT_X_READ,
                        .object = wide_object(address, size, pc)};
    ft_rt_explore(&o, pc);
    if (reads) ft_rt_x_edge_at(o.object, false);
    if (writes) ft_rt_x_edge_at(o.object, true);
    ft_rt_x_atomic_access(address, size, writes, pc);
}

/* ---- the others */

/* An atomic whose content is not the model's was written without a hook, or plainly: by whoever
 * made a new object there. */
static uint32_t object_of(const volatile void *address, int64_t content, const void *pc)
{
    if (has_wide && is_in_wide(address)) refuse_sizes(pc);
    uint32_t o = ft_rt_x_object(FT_X_ATOMIC, address, content);
    if (ft_rt_x_state(o)->value == content) return o;
    return ft_rt_x_new_object(FT_X_ATOMIC, address, content);
}

void ft_rt_x_atomic(ft_x_kind kind, const volatile void *address, unsigned bytes, int64_t content,
                    int64_t value, int64_t value2, const void *pc)
{
    ft_x_operation o = {.kind = (uint16_t)kind,
                        .object = object_of(address, content, pc),
                        .value = value,
                        .value2 = kind == FT_X_UPDATE ? FT_X_UPDATE_OF(value2, bytes) : value2};
    ft_rt_explore(&o, pc);
    bool writes = kind != FT_X_LOAD && !(kind == FT_X_SWAP && content != value);
    ft_rt_x_atomic_access(address, bytes, writes, pc);
}
