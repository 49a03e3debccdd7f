/* The second pass is made of this: loops over a batch of events that each do one thing. */
#include "maker/maker_internal.h"

/* What of some events that follow each other becomes events of the trace. */
typedef struct batch {
    ft_maker *maker;
    uint32_t thread; /* of the log */
    uint16_t id;     /* in the builder */
    bool flagged;    /* there are accesses that are no candidates */
    uint32_t n;      /* of the rows that are filled and not yet appended */
    ft_builder_rows rows;
    int64_t last; /* value that was read */
    uint32_t last_id;
} batch;

static uint32_t location_of(ft_maker *m, uint32_t site)
{
    uint32_t known = site < m->locations.len ? m->locations.data[site] : 0;
    return known ? known - 1 : ft_maker_location(m, site);
}

static void append_rows(batch *b)
{
    if (b->n) ft_builder_append(b->maker->builder, b->n);
    b->rows.n = b->n = 0;
}

/* False: the trace is full. */
static bool make_room(batch *b)
{
    append_rows(b);
    b->id = (uint16_t)ft_maker_thread(b->maker, b->thread);
    b->flagged = !ft_builder_has_no_flags(b->maker->builder);
    b->rows = ft_builder_room(b->maker->builder);
    return b->rows.n;
}

static inline void put_row(batch *b, const ft_raw_event *e, uint32_t variable, uint32_t value,
                           uint32_t step, uint32_t context)
{
    const ft_builder_rows *rows = &b->rows;
    uint32_t loc = location_of(b->maker, e->site);
    b->maker->summary->kept++;
    if (b->n == rows->n && !make_room(b)) return;
    uint32_t i = b->n++;
    rows->kind[i] = e->code / 8 == FT_RAW_FORM_READ ? FT_EVENT_READ : FT_EVENT_WRITE;
    rows->flags[i] = 0;
    rows->thread[i] = b->id;
    rows->object[i] = variable;
    rows->loc[i] = loc;
    rows->data[i] = value;
    rows->hook[i] = step;
    rows->context[i] = context;
    if (b->flagged)
        rows->flags[i] = ft_builder_access_flags(b->maker->builder, variable, rows->loc[i]);
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

/* What is written was mostly read just before. */
static inline uint32_t written_id(batch *b, int64_t value)
{
    return b->last_id && b->last == value ? b->last_id : value_of(b->maker, value);
}

/* A plain access of one whole cell that needs no external write; *value: its id. False: it is
 * something else, and nothing was done. */
static inline bool touch(batch *b, const ft_raw_event *e, ft_maker_shadow *s, uint64_t now,
                         uint32_t *value)
{
    uint32_t form = e->code / 8;
    bool same = s->content == FT_CONTENT_KNOWN && s->value == e->value;
    if (form != FT_RAW_FORM_WRITE && (form != FT_RAW_FORM_READ || !same)) return false;
    if (!same || !s->id) s->id = written_id(b, e->value);
    s->toucher = s->touched && s->toucher != b->thread ? (uint32_t)FT_MAKER_MANY : b->thread;
    s->content = FT_CONTENT_KNOWN;
    s->value = e->value;
    s->touched = now;
    b->last = e->value;
    *value = b->last_id = s->id;
    return true;
}

static void keep_other(batch *b, const ft_raw_event *e, uint32_t step, uint32_t context)
{
    ft_maker *m = b->maker;
    ft_raw_record one;
    append_rows(b);
    m->step = step;
    ft_builder_hook(m->builder, step);
    ft_builder_in_context(m->builder, context);
    ft_raw_record_of(e, b->thread, &one);
    ft_maker_access(m, &one);
}

void ft_maker_keep_events(ft_maker *m, const ft_raw_record *r)
{
    batch b = {.maker = m, .thread = r->thread};
    bool in_context = false;
    uint32_t step = m->actors.data[r->thread].steps, context = FT_NO_CONTEXT, n = r->n_events;
    uint64_t now = m->now;
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
        if (c != FT_SEVERAL_CELLS && touch(&b, e, &m->shadows[c], now, &value)) {
            put_row(&b, e, m->variables.data[c], value, step, context);
            continue;
        }
        m->now = now;
        keep_other(&b, e, step, context);
    }
    append_rows(&b);
    m->now = now;
    m->actors.data[r->thread].steps = step;
}
