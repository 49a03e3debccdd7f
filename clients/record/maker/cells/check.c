/* Checks of the cells, for builds with FT_CHECKED. */
#include "maker/cells/cells_internal.h"

/* In a granule's bytes, ascending and disjoint. */
static bool are_apart(const ft_cells *cells, const granule *g)
{
    uint64_t from = g->address;
    for (uint32_t c = g->cell; c < g->cell + g->n_cells; c++) {
        const ft_cell *cell = &cells->cells.data[c];
        if (cell->address < from || !cell->size || cell->ordered != g->ordered) return false;
        from = cell->address + cell->size;
    }
    return from <= g->address + GRANULE;
}

/* The next life of the same memory begins after this one's end. */
static bool is_before_next(const ft_cells *cells, const granule *g)
{
    if (!g->next) return true;
    const granule *next = &cells->granules.data[g->next - 1];
    return g->next <= cells->granules.len && next->address == g->address && next->since >= g->until;
}

static bool lies_in_block(const ft_cells *cells, const granule *g)
{
    uint32_t index = cells->cells.data[g->cell].allocation;
    if (index == FT_NO_ALLOCATION) return true;
    if (index >= cells->allocations.len) return false;
    const allocation *block = &cells->allocations.data[index];
    return !block->stack && g->address - block->address < block->size;
}

static bool are_fences_sorted(const ft_cells *cells)
{
    for (size_t i = 0; i < cells->fences.len; i++) {
        const fence *f = &cells->fences.data[i];
        if (f->from > f->to || (i && f[-1].from > f->from)) return false;
    }
    return true;
}

bool ft_cells_is_sound(const ft_cells *cells)
{
    uint64_t n = 0;
    for (size_t i = 0; i < cells->granules.len; i++) {
        const granule *g = &cells->granules.data[i];
        if (g->since > g->until) return false;
        if (g->cell == FT_NO_CELL) continue;
        if (!g->n_cells || g->cell != n || g->cell + g->n_cells > cells->cells.len) return false;
        if (!are_apart(cells, g) || !is_before_next(cells, g) || !lies_in_block(cells, g))
            return false;
        n += g->n_cells;
    }
    return n == cells->cells.len && are_fences_sorted(cells);
}

bool ft_cells_are_found(const ft_cells *cells, const ft_raw_event *events, uint32_t n,
                        const uint32_t *found)
{
    for (uint32_t i = 0; i < n; i++) {
        if (found[i] == FT_NO_CELL || found[i] == FT_SEVERAL_CELLS) continue;
        if (found[i] >= cells->cells.len || events[i].code >= FT_RAW_ENTER) return false;
        const ft_cell *cell = &cells->cells.data[found[i]];
        if (cell->address != events[i].address || cell->size != 1u << events[i].code % 8)
            return false;
    }
    return true;
}
