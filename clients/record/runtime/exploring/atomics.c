/* Atomics of an exploration. The hook does the operation itself, when it is the thread's turn; the
 * model has the same content, so that the search knows what an operation would do elsewhere. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* ---- wide ones: the model has a hash of the content, of 64 bits */

enum { WIDE = 16, LANE = 8 };

static bool has_wide; /* in this run */

/* Operations of several sizes on one memory are of different objects: their order would not be
 * explored. */
static void refuse_sizes(const void *pc)
{
    ft_rt_x_refuse("an atomic is accessed in several sizes", pc);
}

/* Apart from narrow ones at the same address. */
static const volatile void *wide_at(const volatile void *address, uintptr_t back)
{
    return (const volatile char *)address - back + 1;
}

static bool is_in_wide(const volatile void *address)
{
    for (uintptr_t back = 0; back < WIDE; back += LANE)
        if (ft_rt_x_has_object(FT_X_ATOMIC, wide_at(address, back))) return true;
    return false;
}

static bool has_narrow(const volatile void *address, size_t size)
{
    for (size_t i = 0; i < size; i += LANE)
        if (ft_rt_x_has_object(FT_X_ATOMIC, (const volatile char *)address + i)) return true;
    return false;
}

/* An atomic whose content is not the model's was written without a hook, or plainly: by whoever
 * made a new object there. */
static uint32_t object_at(const volatile void *address, int64_t content)
{
    uint32_t o = ft_rt_x_object(FT_X_ATOMIC, address, content);
    if (ft_rt_x_state(o)->value == content) return o;
    return ft_rt_x_new_object(FT_X_ATOMIC, address, content);
}

bool ft_rt_x_wide_atomic(ft_x_kind kind, const volatile void *address, size_t size,
                         const int64_t hashes[3], const void *pc)
{
    if (has_narrow(address, size)) refuse_sizes(pc);
    has_wide = true;
    ft_x_operation o = {.kind = (uint16_t)kind,
                        .object = object_at(wide_at(address, 0), hashes[0]),
                        .value = hashes[1],
                        .value2 = hashes[2]};
    bool done = ft_rt_explore(&o, pc).outcome;
    ft_rt_x_atomic_access(address, size, kind == FT_X_STORE || done, pc);
    return done;
}

/* ---- the others */

static uint32_t object_of(const volatile void *address, int64_t content, const void *pc)
{
    if (has_wide && is_in_wide(address)) refuse_sizes(pc);
    return object_at(address, content);
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
