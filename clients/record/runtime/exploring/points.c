/* Plain accesses as scheduling points: those of races that were reported, where the explorer asks
 * for it (options.points). So the bug behind a race is found. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

static bool is_point(uint64_t pc)
{
    const ft_exploring_options *o = &ft_rt_x_header->options;
    for (uint32_t i = 0; i < o->n_points; i++)
        if (o->points[i] == pc) return true;
    return false;
}

/* The eight bytes of its begin: accesses that race have one of them in common, nearly always. */
void ft_rt_x_point(const volatile void *address, size_t size, bool writes, const void *pc)
{
    (void)size;
    if (!ft_rt_x_header->options.n_points || !ft_rt_x.begun) return;
    if (!is_point((uintptr_t)pc)) return;
    uintptr_t cell = (uintptr_t)address & ~(uintptr_t)7;
    ft_x_operation o = {.kind = writes ? FT_X_WRITE : FT_X_READ,
                        .object = ft_rt_x_object(FT_X_MEMORY, (const volatile void *)cell, 0)};
    ft_rt_explore(&o, pc);
}
