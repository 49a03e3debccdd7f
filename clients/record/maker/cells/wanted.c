/* Which batches of events the second pass needs. Only granules of several threads have cells
 * (make_several). Accesses after a granule became one are marked when they come; those before lie
 * between its first access in that life and the turn of its last one. */
#include <stdlib.h>

#include "base/contract.h"
#include "maker/cells/cells_internal.h"

void ft_cells_in_batches(ft_cells *cells)
{
    FT_REQUIRE(!cells->turn);
    cells->batched = true;
}

void ft_cells_next_batch(ft_cells *cells)
{
    if (cells->batched && cells->batch < UINT32_MAX) cells->batch++;
}

void ft_cells_want_turn(ft_cells *cells)
{
    if (cells->batched) ft_vec_push(&cells->turns, cells->batch);
}

void ft_cells_want(ft_cells *cells, uint32_t first, uint32_t turn)
{
    uint32_t last = turn < cells->turns.len ? cells->turns.data[turn] : cells->batch;
    if (!cells->batched || last == UINT32_MAX) return;
    assert(first <= last);
    while (cells->wanted.len < (size_t)last + 2) ft_vec_push(&cells->wanted, 0);
    cells->wanted.data[first]++;
    cells->wanted.data[last + 1]--;
}

void ft_cells_want_settle(ft_cells *cells)
{
    int32_t open = 0;
    for (size_t i = 0; i < cells->wanted.len; i++) {
        open += cells->wanted.data[i];
        assert(open >= 0);
        cells->wanted.data[i] = open;
    }
    cells->batch = 0;
}

void ft_cells_want_release(ft_cells *cells)
{
    ft_vec_release(&cells->turns);
    ft_vec_release(&cells->wanted);
}

bool ft_cells_wants(const ft_cells *cells)
{
    size_t next = (size_t)cells->batch + 1;
    if (!cells->batched || next >= UINT32_MAX) return true;
    return next < cells->wanted.len && cells->wanted.data[next];
}
