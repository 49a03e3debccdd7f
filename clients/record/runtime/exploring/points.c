/* Plain accesses as scheduling points: those of races that were reported, where the explorer asks
 * for it (options.points). So the bug behind a race is found.
 *
 * Accesses depend on each other if they are of one cell of eight bytes. An access of several cells
 * is reported, and the explorer goes on with all of them as if they were of one memory. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { CELL = 8 };

static bool is_point(uint64_t pc)
{
    const ft_exploring_options *o = &ft_rt_x_header->options;
    for (uint32_t i = 0; i < o->n_points; i++)
        if (o->points[i] == pc) return true;
    return false;
}

static uint32_t object_of(uintptr_t address, size_t size)
{
    uintptr_t cell = address / CELL;
    if (ft_rt_x_header->options.points_as_one) return ft_rt_x_model_object(FT_X_MEMORY, 0, 0, 0);
    if ((address + size - 1) / CELL != cell) ft_rt_x.slot->wide_points = 1;
    return ft_rt_x_object(FT_X_MEMORY, (const volatile void *)(cell * CELL), 0);
}

void ft_rt_x_point(const volatile void *address, size_t size, bool writes, const void *pc)
{
    FT_REQUIRE(size > 0);
    if (!ft_rt_x_header->options.n_points || !ft_rt_x.begun) return;
    if (!is_point((uintptr_t)pc)) return;
    ft_x_operation o = {.kind = writes ? FT_X_WRITE : FT_X_READ,
                        .object = object_of((uintptr_t)address, size)};
    ft_rt_explore(&o, pc);
}
