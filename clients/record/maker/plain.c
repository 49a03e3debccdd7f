/* The second pass is made of this: loops over a batch of events that each do one thing. */
#include "maker/maker_internal.h"

/* An access that becomes an event, of those at hand. */
typedef struct kept {
    uint32_t event, cell, value, step, context;
} kept;

typedef struct batch {
    ft_maker *maker;
    const ft_raw_event *events;
    uint32_t thread; /* of the log */
    uint32_t n;      /* of those kept and not yet appended */
    kept kept[FT_RAW_BATCH];
} batch;

static uint32_t location_of(ft_maker *m, uint32_t site)
{
    uint32_t known = site < m->locations.len ? m->locations.data[site] : 0;
    return known ? known - 1 : ft_maker_location(m, site);
}

static void fill_rows(const batch *b, const kept *from, const ft_builder_rows *rows, uint32_t n)
{
    ft_maker *m = b->maker;
    uint16_t thread = (uint16_t)ft_maker_thread(m, b->thread);
    for (uint32_t i = 0; i < n; i++) {
        const ft_raw_event *e = &b->events[from[i].event];
        rows->kind[i] = e->code / 8 == FT_RAW_FORM_READ ? FT_EVENT_READ : FT_EVENT_WRITE;
        rows->loc[i] = location_of(m, e->site);
    }
    for (uint32_t i = 0; i < n; i++) {
        rows->flags[i] = 0;
        rows->thread[i] = thread;
        rows->object[i] = m->variables.data[from[i].cell];
    }
    for (uint32_t i = 0; i < n; i++) {
        rows->data[i] = from[i].value;
        rows->hook[i] = from[i].step;
        rows->context[i] = from[i].context;
    }
    if (ft_builder_has_no_flags(m->builder)) return;
    for (uint32_t i = 0; i < n; i++)
        rows->flags[i] = ft_builder_access_flags(m->builder, rows->object[i], rows->loc[i]);
}

static void append_kept(batch *b)
{
    for (uint32_t at = 0, n; at < b->n; at += n) {
        ft_builder_rows rows = ft_builder_room(b->maker->builder);
        if (!rows.n) break; /* the trace is full */
        n = rows.n < b->n - at ? rows.n : b->n - at;
        fill_rows(b, b->kept + at, &rows, n);
        ft_builder_append(b->maker->builder, n);
    }
    b->maker->summary->kept += b->n;
    b->n = 0;
}

static inline uint32_t value_of(ft_maker *m, int64_t value)
{
    uint32_t place = (uint32_t)((uint64_t)value * UINT64_C(0x9E3779B97F4A7C15) >> 56);
    _Static_assert(FT_MAKER_RECENT == 256, "eight bits of hash");
    if (m->recent[place].value != value || !m->recent[place].id) {
        ft_value integer = {.sort = FT_INT_SORT, .bits = (uint64_t)value};
        m->recent[place].value = value;
        m->recent[place].id = ft_builder_value(m->builder, integer);
    }
    return m->recent[place].id;
}

/* A plain access of one whole cell that needs no external write. False: it is something else, and
 * nothing was done. */
static inline bool touch(batch *b, const ft_raw_event *e, uint32_t c, uint64_t now, uint32_t *value)
{
    ft_maker_shadow *s = &b->maker->shadows[c];
    uint32_t form = e->code / 8;
    bool same = s->content == FT_CONTENT_KNOWN && s->value == e->value;
    if (form != FT_RAW_FORM_WRITE && (form != FT_RAW_FORM_READ || !same)) return false;
    if (!same || !s->id) s->id = value_of(b->maker, e->value);
    if (s->touched && s->toucher != b->thread)
        s->toucher = FT_MAKER_MANY;
    else
        s->toucher = b->thread;
    s->content = FT_CONTENT_KNOWN;
    s->value = e->value;
    s->touched = now;
    *value = s->id;
    return true;
}

static void keep_other(batch *b, const ft_raw_event *e, uint32_t step, uint32_t context)
{
    ft_maker *m = b->maker;
    ft_raw_record one;
    append_kept(b);
    m->step = step;
    ft_builder_hook(m->builder, step);
    ft_builder_in_context(m->builder, context);
    ft_raw_record_of(e, b->thread, &one);
    ft_maker_access(m, &one);
}

void ft_maker_keep_events(ft_maker *m, const ft_raw_record *r)
{
    batch b;
    bool in_context = false;
    uint32_t step = m->actors.data[r->thread].steps, context = FT_NO_CONTEXT, n = r->n_events;
    uint64_t now = m->now;
    b.maker = m;
    b.events = r->events;
    b.thread = r->thread;
    b.n = 0;
    ft_cells_find(m->cells, r->events, n, m->found);
    for (uint32_t i = 0; i < n; i++) {
        const ft_raw_event *e = &r->events[i];
        uint32_t c = m->found[i], value;
        if (e->code >= FT_RAW_ENTER) {
            ft_stacks_follow(m->stacks, r->thread, e);
            in_context = false;
            continue;
        }
        now++;
        step++;
        if (c == FT_NO_CELL) continue;
        if (!in_context) context = ft_stacks_context(m->stacks, r->thread);
        in_context = true;
        if (c != FT_SEVERAL_CELLS && touch(&b, e, c, now, &value)) {
            b.kept[b.n++] = (kept){i, c, value, step, context};
            continue;
        }
        m->now = now;
        keep_other(&b, e, step, context);
    }
    append_kept(&b);
    m->now = now;
    m->actors.data[r->thread].steps = step;
}
