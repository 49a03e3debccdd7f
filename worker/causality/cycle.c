/* The explanation: a cycle with the fewest edges between threads, and its text. */
#include <stdlib.h>
#include <string.h>

#include "causality/internal.h"

static const char *const TEXTS[FT_CAUSALITY_WHYS] = {
#define FT_ROW(symbol, text) [FT_CAUSALITY_##symbol] = text,
    FT_CAUSALITY_WHY_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_causality_why_text(ft_causality_why why)
{
    FT_REQUIRE((unsigned)why < FT_CAUSALITY_WHYS);
    return TEXTS[why];
}

/* ---- search --------------------------------------------------------------------------------- */

#define UNSEEN   UINT32_MAX
#define BY_ORDER (UINT32_MAX - 1) /* reached from the row before it in its thread */

typedef struct search {
    ft_causality *c;
    uint32_t start;
    uint32_t *by;                  /* per row: link that it was reached by, or one of the above */
    FT_VEC(uint32_t) now, further; /* rows at this number of links, and at one more */
} search;

static uint32_t row_before(const ft_causality_window *w, uint32_t row)
{
    const ft_row *r = &w->rows.data[row];
    const ft_causality_lane *lane = &w->lanes.data[r->lane];
    uint32_t before = UINT32_MAX;
    for (size_t low = 0, high = lane->rows.len; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (w->rows.data[lane->rows.data[middle]].position < r->position) {
            before = lane->rows.data[middle];
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return before;
}

/* How a member leads to the end of the claim: the member is a root or the source of an edge into a
 * final event, or one of these follows it in its thread. */
typedef struct way_out {
    uint32_t event;                /* FT_NO_EVENT: it does not */
    const ft_causality_edge *edge; /* into a final event, or NULL */
} way_out;

static way_out way_out_after(const ft_causality *c, uint32_t e)
{
    const ft_causality_window *w = &c->window;
    const uint16_t *thread = c->trace->thread;
    const uint32_t *position = c->order->position;
    for (uint32_t i = 0; i < w->n_roots; i++)
        if (thread[w->roots[i]] == thread[e] && position[w->roots[i]] >= position[e])
            return (way_out){w->roots[i], NULL};
    for (size_t i = 0; i < w->last.len; i++) {
        uint32_t from = w->last.data[i].from;
        if (thread[from] == thread[e] && position[from] >= position[e])
            return (way_out){from, &w->last.data[i]};
    }
    return (way_out){FT_NO_EVENT, NULL};
}

static void reach(search *s, uint32_t row, uint32_t by)
{
    if (s->by[row] != UNSEEN) return;
    s->by[row] = by;
    if (by == BY_ORDER)
        ft_vec_push(&s->now, row);
    else
        ft_vec_push(&s->further, row);
}

static void expand(search *s, uint32_t row)
{
    const ft_causality_window *w = &s->c->window;
    const ft_row *r = &w->rows.data[row];
    uint32_t next = ft_causality_window_row_from(w, &w->lanes.data[r->lane], r->position + 1);
    if (next != UINT32_MAX) reach(s, next, BY_ORDER);
    for (uint32_t i = r->out; i != UINT32_MAX; i = w->links.data[i].next)
        reach(s, w->links.data[i].to, i);
}

/* From the start to itself, or to a row with a way out. UINT32_MAX: no way. */
static uint32_t find(search *s, bool out)
{
    ft_vec_push(&s->now, s->start);
    bool first = true;
    while (s->now.len > 0 || s->further.len > 0) {
        if (s->now.len == 0) {
            for (size_t i = 0; i < s->further.len; i++) ft_vec_push(&s->now, s->further.data[i]);
            s->further.len = 0;
        }
        uint32_t row = s->now.data[--s->now.len];
        if (out && way_out_after(s->c, s->c->window.rows.data[row].event).event != FT_NO_EVENT)
            return row;
        if (!out && !first && row == s->start) return row;
        first = false;
        expand(s, row);
    }
    return UINT32_MAX;
}

/* ---- the list of edges ---------------------------------------------------------------------- */

static void append(ft_causality *c, ft_causality_edge edge)
{
    ft_causality_edges *cycle = &c->window.cycle;
    ft_causality_edge *last = cycle->len ? &cycle->data[cycle->len - 1] : NULL;
    if (edge.from == edge.to) return;
    if (last && last->why == FT_CAUSALITY_PROGRAM_ORDER && edge.why == last->why)
        last->to = edge.to;
    else
        ft_vec_push(cycle, edge);
}

static void append_order(ft_causality *c, uint32_t from, uint32_t to)
{
    append(c, (ft_causality_edge){from, to, FT_CAUSALITY_PROGRAM_ORDER, 0});
}

/* The way that the search found from its start to `end`, in order. */
static void append_way(search *s, uint32_t end)
{
    const ft_causality_window *w = &s->c->window;
    ft_causality_edges way = {0};
    uint32_t row = end;
    while (row != s->start || way.len == 0) {
        uint32_t by = s->by[row];
        if (by == UNSEEN) break; /* the start, reached by nothing */
        if (by == BY_ORDER) {
            uint32_t before = row_before(w, row);
            assert(before != UINT32_MAX); /* the search came from there */
            ft_vec_push(&way,
                        (ft_causality_edge){w->rows.data[before].event, w->rows.data[row].event,
                                            FT_CAUSALITY_PROGRAM_ORDER, 0});
            row = before;
        } else {
            assert(w->links.data[by].to == row);
            ft_vec_push(&way, w->links.data[by].edge);
            row = w->links.data[by].from;
        }
    }
    for (size_t i = way.len; i-- > 0;) append(s->c, way.data[i]);
    ft_vec_release(&way);
}

static void search_start(search *s, ft_causality *c, uint32_t start)
{
    size_t rows = c->window.rows.len;
    *s = (search){.c = c, .start = start, .by = ft_alloc((rows + 1) * sizeof *s->by)};
    memset(s->by, 0xff, (rows + 1) * sizeof *s->by);
}

static void search_release(search *s)
{
    free(s->by);
    ft_vec_release(&s->now);
    ft_vec_release(&s->further);
}

bool ft_cycle_through(ft_causality *c, uint32_t row)
{
    assert(row < c->window.rows.len);
    search s;
    c->window.cycle.len = 0;
    search_start(&s, c, row);
    bool found = find(&s, false) != UINT32_MAX;
    if (found) append_way(&s, row);
    search_release(&s);
    assert(!found || ft_causality_is_cycle(&c->window.cycle));
    return found;
}

/* ---- edges from behind the end -------------------------------------------------------------- */

static bool is_final(const ft_causality_window *w, uint32_t e)
{
    for (uint32_t i = 0; i < w->n_finals; i++)
        if (w->finals[i] == e) return true;
    return false;
}

/* Appends the way from e, a member, to the last event that it leads to: a root, or a final event.
 */
static bool way_to_end(ft_causality *c, uint32_t e, uint32_t *last)
{
    *last = e;
    if (is_final(&c->window, e)) return true;
    if (way_out_after(c, e).event == FT_NO_EVENT) {
        const ft_causality_lane *lane = ft_causality_window_lane(c, c->trace->thread[e]);
        uint32_t row = UINT32_MAX;
        if (lane) row = ft_causality_window_row_from(&c->window, lane, c->order->position[e]);
        if (row == UINT32_MAX) return false;
        search s;
        search_start(&s, c, row);
        uint32_t end = find(&s, true);
        append_order(c, e, c->window.rows.data[row].event);
        if (end != UINT32_MAX) append_way(&s, end);
        if (end != UINT32_MAX) *last = c->window.rows.data[end].event;
        search_release(&s);
        if (end == UINT32_MAX) return false;
    }
    way_out out = way_out_after(c, *last);
    append_order(c, *last, out.event);
    if (out.edge) append(c, *out.edge);
    *last = out.edge ? out.edge->to : out.event;
    return true;
}

bool ft_cycle_outside(ft_causality *c, ft_causality_edge edge)
{
    const ft_causality_window *w = &c->window;
    uint32_t final = FT_NO_EVENT, last;
    for (uint32_t i = 0; i < w->n_finals; i++)
        if (c->trace->thread[w->finals[i]] == c->trace->thread[edge.from]) final = w->finals[i];
    c->window.cycle.len = 0;
    if (final == FT_NO_EVENT || !way_to_end(c, edge.to, &last)) return false;
    if (c->trace->thread[last] == c->trace->thread[final])
        append_order(c, last, final);
    else
        append(c, (ft_causality_edge){last, final, FT_CAUSALITY_CLAIM, 0});
    append_order(c, final, edge.from);
    append(c, edge);
    assert(ft_causality_is_cycle(&c->window.cycle));
    return true;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_event(const ft_trace *trace, ft_show *show, uint32_t e, ft_strbuf *out)
{
    ft_show_event(show, e, out);
    ft_strbuf_printf(out, " by %s", ft_trace_thread_name(trace, trace->thread[e]));
    const char *at = ft_trace_location_text(trace, trace->loc[e]);
    if (at)
        ft_strbuf_printf(out, " at %s", at);
    else
        ft_strbuf_printf(out, " (event %u)", e + 1);
}

const char *ft_causality_object(const ft_trace *trace, const ft_causality_edge *edge)
{
    const ft_intern *const names[FT_CAUSALITY_WHYS] = {
        [FT_CAUSALITY_LOCK] = &trace->locks,
        [FT_CAUSALITY_SEMAPHORE] = &trace->semaphores,
        [FT_CAUSALITY_CONDITION] = &trace->conditions,
        [FT_CAUSALITY_READS_FROM] = &trace->shared,
        [FT_CAUSALITY_OVERWRITES] = &trace->shared};
    return names[edge->why] ? names[edge->why]->names[edge->object] : NULL;
}

void ft_causality_print(const ft_trace *trace, ft_show *show, const ft_causality_edges *cycle,
                        ft_strbuf *out)
{
    for (size_t i = 0; i < cycle->len; i++) {
        const ft_causality_edge *edge = &cycle->data[i];
        const char *object = ft_causality_object(trace, edge);
        print_event(trace, show, edge->from, out);
        ft_strbuf_printf(out, " -> (%s%s%s) ", TEXTS[edge->why], object ? " " : "",
                         object ? object : "");
    }
    if (cycle->len) print_event(trace, show, cycle->data[0].from, out);
}
