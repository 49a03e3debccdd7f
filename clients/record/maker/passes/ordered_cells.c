/* Ordered cells (ft_cell.ordered) in a recording with terms. What one thread writes there, another
 * finds in every schedule, so the trace needs nothing unless the value is a term, which may differ.
 *
 * Each thread uses such a cell like its own memory. Before it forks a thread or ends, which is what
 * orders others after it, it *publishes* the cells that have a term: an assignment to the cell's
 * variable. A thread that finds a published value reads the variable, once, and goes on with a term
 * of its own. A value without a term is a constant for every reader: it was computed from
 * constants, on a path that its thread takes in every schedule with that order.
 *
 * Most ordered cells never get a term (buffers that are filled, handed to a thread and joined):
 * they have no variable and no events. */
#include <stdlib.h>

#include "base/contract.h"
#include "maker/passes/passes.h"

void ft_ordered_cells_release(ft_ordered_cells *cells)
{
    for (size_t t = 0; t < cells->unpublished.len; t++) ft_vec_release(&cells->unpublished.data[t]);
    ft_vec_release(&cells->unpublished);
    free(cells->all);
}

static void wait_to_publish(ft_maker *m, uint32_t thread, uint32_t c)
{
    ft_ordered_cell *h = &m->ordered.all[c];
    if (h->waits == thread + 1) return;
    h->waits = (uint16_t)(thread + 1);
    while (m->ordered.unpublished.len <= thread)
        ft_vec_push(&m->ordered.unpublished, (ft_cell_list){0});
    ft_vec_push(&m->ordered.unpublished.data[thread], c);
}

static void put_down(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    ft_ordered_cell *h = &m->ordered.all[c];
    h->holder = (uint16_t)r->thread;
    h->published = false;
    if (!ft_terms_gives(m->terms, ft_cells_get(m->cells, c))) return;
    h->loc = ft_names_locate(&m->names, r->site);
    h->context = m->names.context;
    wait_to_publish(m, r->thread, c);
}

/* The read of a published cell is not a step: whatever the access is, in every schedule it comes
 * after the publishing thread's end or fork. */
static void read_plainly(ft_maker *m, const ft_raw_record *r, uint32_t c, int64_t value)
{
    bool atomic = r->form != FT_RAW_FORM_READ;
    uint32_t seen = ft_builder_value(m->builder, ft_maker_value(m, c, value, 0));
    ft_maker_event(m, FT_EVENT_READ, r, m->memory.shadows[c].variable, r->site, seen,
                   atomic ? FT_FLAG_ATOMIC : 0);
}

/* The cell holds another thread's value. If it is not the published one, uninstrumented code wrote
 * it, in the same order (ft_cells): a constant. */
static void take_over(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    assert(m->ordered.all[c].named && m->memory.shadows[c].content == FT_CONTENT_KNOWN);
    int64_t value, published = m->memory.shadows[c].value;
    bool known = ft_maker_content_of(r, cell, false, &value);
    ft_maker_learn(m, r->thread, cell, known, value);
    if (known && value != published) {
        m->ordered.all[c].published = false;
        return;
    }
    m->summary->kept++;
    ft_builder_hook(m->builder, 0);
    if (ft_terms_take_over(m->terms, cell, m->memory.shadows[c].variable, published))
        m->ordered.all[c].holder = (uint16_t)r->thread;
    else
        read_plainly(m, r, c, published);
    ft_builder_hook(m->builder, m->step);
}

void ft_maker_ordered_access(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    FT_REQUIRE(m->terms && ft_cells_get(m->cells, c)->ordered);
    const ft_ordered_cell *h = &m->ordered.all[c];
    bool stores = r->form == FT_RAW_FORM_WRITE || r->form == FT_RAW_FORM_ATOMIC_WRITE;
    if (!stores && h->published && h->holder != r->thread) take_over(m, r, c);
    if (stores || ft_raw_updates(r->form)) put_down(m, r, c);
}

bool ft_maker_is_ordered(void *context, uint64_t address)
{
    const ft_maker *m = context;
    return ft_cells_is_ordered(m->cells, address);
}

/* Does the cell's memory still have the same life? */
static bool is_living(const ft_maker *m, uint32_t c)
{
    uint32_t skip;
    return ft_cells_at(m->cells, ft_cells_get(m->cells, c)->address, &skip) == c;
}

static void publish_cell(ft_maker *m, const ft_raw_record *r, uint32_t c)
{
    ft_ordered_cell *h = &m->ordered.all[c];
    const ft_cell *cell = ft_cells_get(m->cells, c);
    ft_terms_place place = {r->thread, ft_names_thread(&m->names, r->thread), h->loc, m->step};
    int64_t value;
    if (h->holder != r->thread || h->published || !is_living(m, c)) return;
    if (!ft_terms_has(m->terms, place, cell, &value)) return;
    if (!h->named) ft_maker_declare_cell(m, c);
    h->named = true;
    uint16_t life = ft_maker_life_of(m, c, value);
    ft_names_enter(&m->names, h->context);
    h->published =
        ft_terms_publish(m->terms, place, cell, m->memory.shadows[c].variable, life != 0);
    assert(m->memory.shadows[c].variable < ft_builder_peek(m->builder)->shared.len);
    if (h->published) ft_maker_touch(m, c, r->thread, FT_CONTENT_KNOWN, value, life);
    m->summary->kept += h->published;
}

void ft_maker_publish(ft_maker *m, const ft_raw_record *r)
{
    if (r->thread >= m->ordered.unpublished.len) return;
    ft_cell_list *list = &m->ordered.unpublished.data[r->thread];
    uint32_t context = m->names.context;
    for (size_t i = 0; i < list->len; i++) {
        m->ordered.all[list->data[i]].waits = 0;
        publish_cell(m, r, list->data[i]);
    }
    list->len = 0;
    ft_names_enter(&m->names, context);
}
