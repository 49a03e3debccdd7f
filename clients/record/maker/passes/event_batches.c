/* The second pass's fast path: plain accesses of whole cells, a batch of events at a time, straight
 * into the trace's columns. */
#include <string.h>

#include "base/contract.h"
#include "maker/passes/passes.h"

/* The position in a batch of one thread's events. Loops work on a copy. */
typedef struct walk {
    uint32_t i;              /* the next event */
    uint32_t step;           /* of the last access */
    uint32_t context, shown; /* shown: without calls that the library makes */
    bool in_context;         /* `context` is up to date */
} walk;

static inline void pass_call(ft_maker *m, const ft_raw_record *r, walk *w)
{
    ft_stacks_follow(m->names.stacks, r->thread, &r->events[w->i]);
    w->in_context = false;
}

static void look_up(ft_maker *m, uint32_t thread, walk *w)
{
    w->context = ft_stacks_context(m->names.stacks, thread);
    w->shown = ft_names_shown(&m->names, w->context);
    w->in_context = true;
}

/* Moves to the next event that accesses a cell. */
static void pass_others(ft_maker *m, const ft_raw_record *r, walk *walked)
{
    walk w = *walked;
    for (; w.i < r->n_events && m->found[w.i] == FT_NO_CELL; w.i++) {
        if (r->events[w.i].code < FT_RAW_ENTER)
            w.step++;
        else
            pass_call(m, r, &w);
    }
    *walked = w;
}

static inline ft_maker_recent *recent_of(ft_maker *m, int64_t value)
{
    _Static_assert(FT_MAKER_RECENT == 256, "eight bits of hash");
    return &m->recent[(uint64_t)value * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

/* A value that is written was mostly met a little before. */
static inline uint32_t value_of(ft_maker *m, int64_t value)
{
    ft_maker_recent *recent = recent_of(m, value);
    if (recent->value != value || !recent->id) {
        ft_value integer = {.sort = FT_INT_SORT, .bits = (uint64_t)value};
        *recent = (ft_maker_recent){value, ft_builder_value(m->builder, integer)};
    }
    return recent->id;
}

/* Is it an access of one whole cell that needs no external write? */
static inline bool is_plain(const ft_raw_event *e, const ft_shadow *s)
{
    uint32_t form = e->code / 8;
    return form == FT_RAW_FORM_WRITE ||
           (form == FT_RAW_FORM_READ && s->content == FT_CONTENT_KNOWN && s->value == e->value);
}

/* The id of a value that may be an address of reused memory: a read has the life that the value had
 * when it was written. */
static uint32_t address_of(ft_maker *m, int64_t value, bool reads, const ft_shadow *s,
                           uint16_t *life)
{
    if (reads && s->id) return s->id;
    if (!reads) *life = ft_lives_of(&m->memory.lives, value);
    ft_value told = {.sort = FT_INT_SORT, .bits = (uint64_t)ft_lives_told(value, *life)};
    return ft_builder_value(m->builder, told);
}

/* Notes a plain access; returns the value's id. */
static inline uint32_t touch(ft_maker *m, uint32_t thread, uint64_t now, const ft_raw_event *e,
                             ft_shadow *s)
{
    int64_t value = e->value;
    bool same = s->content == FT_CONTENT_KNOWN && s->value == value;
    if (e->code == 8 * FT_RAW_FORM_READ + FT_WORD_SHIFT &&
        ft_shared_memory_reaches_heap(&m->memory, value))
        ft_addresses_read_add(m->memory.addresses_read, thread, (uint64_t)value);
    if (ft_lives_reach(&m->memory.lives, value) && e->code % 8 == FT_WORD_SHIFT) {
        s->id = address_of(m, value, e->code / 8 == FT_RAW_FORM_READ, s, &s->life);
    } else {
        if (same && s->id)
            *recent_of(m, value) = (ft_maker_recent){value, s->id};
        else
            s->id = value_of(m, value);
        s->life = 0;
    }
    s->toucher = s->touched && s->toucher != thread ? (uint32_t)FT_SEVERAL_THREADS : thread;
    s->content = FT_CONTENT_KNOWN;
    s->value = value;
    s->touched = now;
    return s->id;
}

static inline uint32_t location_of(ft_maker *m, uint32_t site)
{
    uint32_t known = site < m->names.locations.len ? m->names.locations.data[site] : 0;
    return known ? known - 1 : ft_names_location(&m->names, site);
}

/* Puts accesses into the rows, up to `stop` or the first that is not plain; returns how many. now:
 * the record number of the batch's first access, less its step. */
static uint32_t keep_plain(ft_maker *m, const ft_raw_record *r, uint64_t now, uint32_t stop,
                           const ft_builder_rows *to, walk *walked)
{
    const ft_builder_rows rows = *to;
    const ft_raw_event *events = r->events;
    const uint32_t *found = m->found;
    ft_shadow *shadows = m->memory.shadows;
    uint32_t n = 0, thread = r->thread;
    walk w = *walked;
    for (; w.i < stop; w.i++) {
        const ft_raw_event *e = &events[w.i];
        uint32_t c = found[w.i], next = found[w.i + FT_MAKER_AHEAD];
        if (next < FT_SEVERAL_CELLS) __builtin_prefetch(&shadows[next], 1);
        if (e->code >= FT_RAW_ENTER) {
            pass_call(m, r, &w);
            continue;
        }
        if (c == FT_SEVERAL_CELLS ||
            (c != FT_NO_CELL && !(is_plain(e, &shadows[c]) && ft_maker_is_admitted(m, c, thread))))
            break;
        w.step++;
        if (c == FT_NO_CELL) continue;
        if (!w.in_context) look_up(m, thread, &w);
        rows.kind[n] = e->code / 8 == FT_RAW_FORM_READ ? FT_EVENT_READ : FT_EVENT_WRITE;
        rows.object[n] = shadows[c].variable;
        rows.data[n] = touch(m, thread, now + w.step, e, &shadows[c]);
        rows.loc[n] = location_of(m, e->site);
        rows.hook[n] = w.step;
        rows.context[n] = w.shown;
        if (ft_names_in_library(&m->names, rows.loc[n])) {
            ft_names_place spot = ft_names_place_of(&m->names, e->site, rows.loc[n], w.context);
            rows.loc[n] = spot.loc;
            rows.context[n] = spot.context;
        }
        n++;
    }
    *walked = w;
    return n;
}

/* Fills the columns that are the same for all rows, and appends the rows. */
static void append_rows(ft_maker *m, uint32_t thread, const ft_builder_rows *rows, uint32_t n)
{
    uint16_t id = (uint16_t)ft_names_thread(&m->names, thread);
    assert(n <= rows->n);
    if (!n) return;
    for (uint32_t i = 0; i < n; i++) rows->thread[i] = id;
    memset(rows->flags, 0, n);
    for (uint32_t i = 0; i < n && !ft_builder_has_no_flags(m->builder); i++)
        rows->flags[i] =
            ft_builder_access_flags(m->builder, rows->object[i], rows->loc[i], rows->context[i]);
    ft_builder_append(m->builder, n);
    m->summary->kept += n;
}

/* An event that is not plain. */
static void keep_other(ft_maker *m, const ft_raw_record *r, uint64_t now, walk *w)
{
    ft_raw_record one;
    w->step++;
    if (!w->in_context) look_up(m, r->thread, w);
    m->now = now + w->step;
    m->step = w->step;
    ft_builder_hook(m->builder, w->step);
    ft_names_enter(&m->names, w->context);
    ft_raw_record_of(&r->events[w->i++], r->thread, &one);
    ft_maker_access(m, &one);
}

void ft_maker_keep_events(ft_maker *m, const ft_raw_record *r)
{
    FT_REQUIRE(r->events && r->n_events <= FT_RAW_BATCH && !m->terms);
    bool full = false;
    const uint32_t before = m->threads.all.data[r->thread].steps;
    walk w = {.step = before};
    uint64_t now = m->now - w.step;
    ft_cells_find(m->cells, r->events, r->n_events, m->found);
    for (pass_others(m, r, &w); w.i < r->n_events; pass_others(m, r, &w)) {
        ft_builder_rows rows = ft_builder_room(m->builder);
        full = !rows.n; /* the trace */
        if (full) break;
        uint32_t left = r->n_events - w.i, stop = w.i + (left < rows.n ? left : rows.n);
        append_rows(m, r->thread, &rows, keep_plain(m, r, now, stop, &rows, &w));
        if (w.i < stop) keep_other(m, r, now, &w);
    }
    assert(full || w.i == r->n_events);
    assert(full || w.step == before + r->n_events - r->sum->calls); /* each access is a step */
    m->now = now + w.step;
    m->threads.all.data[r->thread].steps = w.step;
}
