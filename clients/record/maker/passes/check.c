/* Checks of the passes' shared state, for builds with FT_CHECKED. */
#include <stdlib.h>

#include "maker/passes/passes.h"

static bool are_cells_declared(const ft_maker *m)
{
    const ft_trace *trace = ft_builder_peek(m->builder);
    uint32_t n = ft_cells_count_of(m->cells);
    bool *taken = ft_calloc((size_t)trace->shared.len + 1, sizeof *taken), sound = true;
    for (uint32_t c = 0; c < n && sound; c++) {
        const ft_shadow *s = &m->memory.shadows[c];
        bool named = !ft_cells_get(m->cells, c)->ordered || m->ordered.all[c].named;
        if (!named) continue;
        sound = s->variable < trace->shared.len && !taken[s->variable] &&
                s->content <= FT_CONTENT_LOST && s->touched <= m->now;
        if (sound) taken[s->variable] = true;
    }
    free(taken);
    return sound;
}

/* Only cells of blocks of the heap are guarded, and each of those blocks is in the trace. */
static bool are_guards_sound(const ft_maker *m)
{
    for (uint32_t c = 0; c < ft_cells_count_of(m->cells); c++) {
        const ft_cell *cell = ft_cells_get(m->cells, c);
        if (!m->memory.shadows[c].guarded) continue;
        if (cell->allocation >= m->memory.blocks.len) return false;
        if (m->memory.blocks.data[cell->allocation] >= m->memory.uses.len) return false;
    }
    return true;
}

static bool are_threads_sound(const ft_maker *m)
{
    for (size_t t = 0; t < m->threads.all.len; t++) {
        const ft_running_thread *one = &m->threads.all.data[t];
        if (one->ran > m->now || one->swapped > 2) return false;
        if (one->last_edge != FT_NO_ID && !one->ended) return false;
    }
    return m->threads.all.len == m->inventory.parents.len;
}

/* A thread's list has each cell that says it waits there. */
static bool are_lists_sound(const ft_maker *m)
{
    for (size_t t = 0; t < m->ordered.unpublished.len; t++) {
        const ft_cell_list *list = &m->ordered.unpublished.data[t];
        for (size_t i = 0; i < list->len; i++)
            if (!ft_cells_get(m->cells, list->data[i])->ordered) return false;
    }
    return true;
}

bool ft_maker_is_sound(const ft_maker *m)
{
    return m->memory.blocks.len == m->inventory.allocations.len &&
           m->memory.born.len <= m->memory.blocks.len && are_cells_declared(m) &&
           are_guards_sound(m) && are_threads_sound(m) && are_lists_sound(m);
}
