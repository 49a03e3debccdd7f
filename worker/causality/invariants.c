/* Checkers of the causality graph: of its indexes, of the window of one claim and of explanations.
 */
#include "causality/internal.h"

/* ---- prepared once --------------------------------------------------------------------------- */

static bool nodes_are_sound(const ft_causality *c)
{
    for (uint32_t t = 0; t < c->order->n_threads; t++)
        for (uint32_t i = c->node_first[t]; i < c->node_first[t + 1]; i++) {
            if (c->trace->thread[c->nodes[i]] != t) return false;
            if (i > c->node_first[t] && c->nodes[i - 1] >= c->nodes[i]) return false;
        }
    return true;
}

static bool log_is_sound(const ft_order *order, const ft_cut_log *log)
{
    uint32_t length = order->thread_start[log->thread + 1] - order->thread_start[log->thread];
    uint32_t of = order->thread_start[log->source + 1] - order->thread_start[log->source];
    if (log->thread == log->source) return false;
    for (size_t i = 0; i < log->steps.len; i++) {
        ft_cut_step step = log->steps.data[i];
        if (step.position >= length || step.value == 0 || step.value > of) return false;
        if (i == 0) continue;
        ft_cut_step before = log->steps.data[i - 1];
        if (before.position >= step.position || before.value >= step.value) return false;
    }
    return true;
}

bool ft_causality_is_sound(const ft_causality *c)
{
    for (size_t i = 0; i < c->cut.logs.len; i++)
        if (!log_is_sound(c->order, &c->cut.logs.data[i])) return false;
    return nodes_are_sound(c);
}

/* The needs of e: no fewer than those of the event before it, and executed before e in the run. */
static bool row_is_sound(const ft_causality *c, uint32_t e)
{
    const ft_order *order = c->order;
    uint32_t own = c->trace->thread[e], previous = ft_order_previous(order, e);
    for (uint32_t t = 0; t < c->needs.width; t++) {
        uint32_t count = ft_needs_of(&c->needs, e, t);
        if (t == own) continue;
        if (previous != FT_NO_EVENT && count < ft_needs_of(&c->needs, previous, t)) return false;
        uint32_t length = order->thread_start[t + 1] - order->thread_start[t];
        if (count > length) return false;
        if (count > 0 && order->thread_events[order->thread_start[t] + count - 1] >= e)
            return false;
    }
    return true;
}

bool ft_needs_is_sound(const ft_causality *c)
{
    for (uint32_t e = 0; e < c->trace->n_events; e++)
        if (!row_is_sound(c, e)) return false;
    return true;
}

/* ---- the window of one claim ------------------------------------------------------------------
 */

/* Along a lane, positions ascend between its bounds, and clocks never lose an event. */
static bool lane_is_sound(const ft_causality *c, uint32_t index)
{
    const ft_causality_window *w = &c->window;
    const ft_causality_lane *lane = &w->lanes.data[index];
    for (size_t i = 0; i < lane->rows.len; i++) {
        const ft_row *row = &w->rows.data[lane->rows.data[i]];
        if (row->lane != index || c->trace->thread[row->event] != lane->thread) return false;
        if (row->position != c->order->position[row->event]) return false;
        if (row->position < lane->low || row->position >= lane->limit) return false;
        if (i > 0 && w->rows.data[lane->rows.data[i - 1]].position >= row->position) return false;
    }
    return true;
}

/* At the fixpoint: each edge has raised the clock of its target, and no row precedes itself. */
static bool is_settled(const ft_causality_window *w)
{
    for (size_t i = 0; i < w->links.len; i++) {
        const ft_causality_link *link = &w->links.data[i];
        const ft_row *from = &w->rows.data[link->from], *to = &w->rows.data[link->to];
        const uint32_t *clock = ft_causality_window_clock(w, link->to);
        if (from->event != link->edge.from || to->event != link->edge.to) return false;
        if (from->lane == to->lane || clock[from->lane] <= from->position) return false;
        const uint32_t *given = ft_causality_window_clock(w, link->from);
        for (uint32_t lane = 0; lane < w->n_lanes; lane++)
            if (clock[lane] < given[lane]) return false;
    }
    for (uint32_t r = 0; r < w->rows.len; r++)
        if (ft_causality_window_clock(w, r)[w->rows.data[r].lane] > w->rows.data[r].position)
            return false;
    return true;
}

bool ft_causality_window_is_sound(const ft_causality *c)
{
    const ft_causality_window *w = &c->window;
    size_t rows = 0;
    for (uint32_t i = 0; i < w->n_lanes; i++) {
        if (!lane_is_sound(c, i)) return false;
        rows += w->lanes.data[i].rows.len;
    }
    if (rows != w->rows.len) return false;
    if (w->refuted || w->abandoned) return true;
    return w->queue.len == 0 && w->pending.len == 0 && is_settled(w);
}

/* ---- explanations ---------------------------------------------------------------------------- */

bool ft_causality_is_cycle(const ft_causality_edges *edges)
{
    for (size_t i = 0; i < edges->len; i++)
        if (edges->data[i].to != edges->data[(i + 1) % edges->len].from) return false;
    return edges->len > 1;
}
