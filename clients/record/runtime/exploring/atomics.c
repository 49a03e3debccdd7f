/* Atomics of an exploration. The hook does the operation itself, when it is the thread's turn; the
 * model has the same content, so that the search knows what an operation would do elsewhere. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* An atomic whose content is not the model's was written without a hook, or plainly: by whoever
 * made a new object there. */
static uint32_t object_of(const volatile void *address, int64_t content)
{
    uint32_t o = ft_rt_x_object(FT_X_ATOMIC, address, content);
    if (ft_rt_x_state(o)->value == content) return o;
    return ft_rt_x_new_object(FT_X_ATOMIC, address, content);
}

void ft_rt_x_atomic(ft_x_kind kind, const volatile void *address, unsigned bytes, int64_t content,
                    int64_t value, int64_t value2, const void *pc)
{
    ft_x_operation o = {.kind = (uint16_t)kind,
                        .object = object_of(address, content),
                        .value = value,
                        .value2 = kind == FT_X_UPDATE ? FT_X_UPDATE_OF(value2, bytes) : value2};
    ft_rt_explore(&o, pc);
    bool writes = kind != FT_X_LOAD && !(kind == FT_X_SWAP && content != value);
    ft_rt_x_atomic_access(address, bytes, writes, pc);
}
