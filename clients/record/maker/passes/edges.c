/* Orders that the trace has as hard edges, since no synchronisation event explains them: around
 * external writes, and to blocks whose address a thread cannot have read. */
#include <stdlib.h>

#include "base/contract.h"
#include "maker/passes/passes.h"

void ft_running_threads_init(ft_running_threads *threads, size_t n)
{
    FT_REQUIRE(n && !threads->all.len);
    for (size_t t = 0; t < n; t++)
        ft_vec_push(&threads->all, (ft_running_thread){.forked = t ? UINT64_MAX : 0,
                                                       .last_edge = FT_NO_ID,
                                                       .seen = FT_NO_EVENT});
}

void ft_running_threads_release(ft_running_threads *threads)
{
    ft_vec_release(&threads->all);
    ft_map_release(&threads->ordered);
}

uint32_t ft_maker_edge(ft_maker *m)
{
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "external %u", ++m->threads.n_edges);
    uint32_t id = ft_builder_edge(m->builder, name.text, name.len);
    assert(id + 1 == ft_builder_peek(m->builder)->edges.len);
    ft_strbuf_release(&name);
    return id;
}

void ft_maker_edge_event(ft_maker *m, ft_event_kind kind, uint32_t t, uint32_t edge)
{
    ft_builder_hook(m->builder, 0);
    ft_builder_event(m->builder, kind, ft_names_thread(&m->names, t), edge, FT_NO_LOC, FT_NO_VALUE,
                     0);
    ft_builder_hook(m->builder, m->step);
}

void ft_maker_order_after(ft_maker *m, uint32_t reader, uint32_t other)
{
    FT_REQUIRE(reader != other);
    ft_running_thread *a = &m->threads.all.data[other];
    uint64_t *known = ft_map_slot(&m->threads.ordered, (uint64_t)reader << 16 | other, 0, NULL);
    if (!a->begun || *known >= a->ran || (a->ended && a->last_edge == FT_NO_ID)) return;
    assert(a->ran <= m->now);
    *known = m->now;
    uint32_t edge = a->ended ? a->last_edge : ft_maker_edge(m);
    if (!a->ended) ft_maker_edge_event(m, FT_EVENT_EDGE_OUT, other, edge);
    ft_maker_edge_event(m, FT_EVENT_EDGE_IN, reader, edge);
}

void ft_maker_fence(ft_maker *m, uint32_t thread)
{
    if (!m->threads.all.data[thread].begun || !ft_cells_is_fenced(m->cells, thread)) return;
    for (uint32_t t = 0; t < m->threads.all.len; t++)
        if (t != thread && m->threads.all.data[t].ran) ft_maker_order_after(m, thread, t);
}

/* Did other threads exist when it was allocated? Else only descendants of its maker can touch it.
 */
static bool had_company(const ft_maker *m, uint32_t maker, uint64_t born)
{
    for (uint32_t t = 0; t < m->threads.all.len; t++)
        if (t != maker && m->threads.all.data[t].forked < born) return true;
    return false;
}

static ft_block_use *use_of(const ft_maker *m, const ft_cell *cell)
{
    return &m->memory.uses.data[m->memory.blocks.data[cell->allocation]];
}

static bool is_admitted(const ft_maker *m, const ft_cell *cell, uint32_t thread)
{
    return use_of(m, cell)->admitted >> thread % 64 & 1;
}

/* May the thread have the block's address? By a value that it read, through a channel from the
 * block's maker, or because its parent had it when it forked the thread. */
static bool may_know(const ft_maker *m, const ft_cell *cell, uint32_t thread)
{
    ft_cells_extent at = ft_cells_extent_of(m->cells, cell->allocation);
    uint64_t born = m->memory.born.data[cell->allocation];
    if (ft_channels_behind(m->channels, thread, cell->owner) > use_of(m, cell)->made) return true;
    for (uint32_t t = thread;; t = m->inventory.parents.data[t]) {
        bool made = t == cell->owner, had = t != thread && is_admitted(m, cell, t);
        if (made || had ||
            ft_addresses_read_within(m->memory.addresses_read, t, at.address, at.size))
            return true;
        if (!t || m->threads.all.data[t].forked < born) return false;
    }
}

void ft_maker_admit(ft_maker *m, uint32_t c, uint32_t thread)
{
    if (ft_maker_is_admitted(m, c, thread)) return;
    const ft_cell *cell = ft_cells_get(m->cells, c);
    assert(cell->owner < m->threads.all.len && cell->allocation < m->memory.born.len);
    m->memory.shadows[c].guarded =
        had_company(m, cell->owner, m->memory.born.data[cell->allocation]);
    bool free = ft_raw_log_header(m->log)->unordered_hand_overs || may_know(m, cell, thread);
    uint32_t n = free ? 0 : (uint32_t)m->threads.all.len;
    for (uint32_t t = 0; t < n; t++)
        if (t != thread && (t == cell->owner || is_admitted(m, cell, t)))
            ft_maker_order_after(m, thread, t);
    use_of(m, cell)->admitted |= UINT64_C(1) << thread % 64;
}
