/* Accesses in classes that no pass can tell apart, classes in sites. A counting sort first puts the
 * accesses of each variable together, so that everything after it works on a few neighbouring
 * bytes: the pass takes little longer than a loop that only reads the events. */
#include <stdlib.h>
#include <string.h>

#include "candidate/candidate.h"

typedef struct record {
    uint32_t event, loc, segment;
    uint32_t how; /* lockset << MODE_BITS | mode */
} record;

enum { MODE_BITS = 4 };

/* A variable's accesses, as the first walk finds them. */
typedef struct variable {
    uint32_t state;   /* its first thread, and SEEN, SHARED, WRITTEN */
    uint32_t records; /* their number; later: the end of those found so far */
} variable;

typedef struct pass {
    ft_candidates *c;
    variable *variables;
    record *records;
    /* of one variable */
    FT_VEC(uint32_t) slots;   /* hash table: relative class, or site, + 1 */
    FT_VEC(uint32_t) last;    /* per class: its last event so far */
    FT_VEC(uint32_t) site_of; /* per class: site */
    FT_VEC(ft_class) unsorted;
} pass;

bool ft_candidates_skipped(const ft_candidates *c, uint32_t e)
{
    FT_CHECK(e < c->trace->n_events); /* asked for every event: too often for release builds */
    bool aside =
        c->trace->flags[e] & FT_FLAG_SYNTHETIC && ft_event_kind_may_stand_aside(c->trace->kind[e]);
    return aside || (c->ignored && c->ignored[c->trace->loc[e]]);
}

/* ---- the walks ---- */

typedef void (*visit_access)(pass *p, uint32_t e, uint32_t variable, uint8_t mode);

/* Once for each event and variable; mode gathers what the event does to it. */
static inline void each_access(pass *p, uint32_t e, visit_access visit)
{
    const ft_trace *trace = p->c->trace;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t mode = (trace->flags[e] & FT_FLAG_ATOMIC) ? FT_MODE_ATOMIC : 0;
        bool repeated = false;
        for (uint32_t j = 0; j < count; j++) {
            if (accesses[j].variable != accesses[i].variable) {
                mode |= FT_MODE_SEVERAL;
                continue;
            }
            mode |= accesses[j].write ? FT_MODE_WRITE : FT_MODE_READ;
            repeated |= j < i;
        }
        if (!repeated) visit(p, e, accesses[i].variable, mode);
    }
}

/* Inlined into each walk, and the visit into it: calls would take a third of the walk's time. */
__attribute__((always_inline)) static inline void each_event(pass *p, visit_access visit)
{
    const ft_trace *trace = p->c->trace;
    const uint8_t *kinds = trace->kind;
    for (uint32_t e = 0, n = trace->n_events; e < n; e++) {
        uint8_t kind = kinds[e];
        if (kind > FT_EVENT_ASSERT && kind != FT_EVENT_RMW && kind != FT_EVENT_IF) continue;
        if (ft_candidates_skipped(p->c, e)) continue;
        if (kind != FT_EVENT_READ && kind != FT_EVENT_WRITE) {
            each_access(p, e, visit);
            continue;
        }
        uint8_t mode = (kind == FT_EVENT_WRITE ? FT_MODE_WRITE : FT_MODE_READ) |
                       ((trace->flags[e] & FT_FLAG_ATOMIC) ? FT_MODE_ATOMIC : 0);
        visit(p, e, trace->object[e], mode);
    }
}

enum { THREAD = 0xffff, SEEN = 1 << 16, SHARED = 1 << 17, WRITTEN = 1 << 18 };

static inline void look(pass *p, uint32_t e, uint32_t v, uint8_t mode)
{
    variable *now = &p->variables[v];
    uint32_t state = now->state, thread = p->c->trace->thread[e];
    if (!state) state = SEEN | thread;
    if ((state & THREAD) != thread) state |= SHARED;
    if (mode & FT_MODE_WRITE) state |= WRITTEN;
    *now = (variable){state, now->records + 1};
}

static bool contended(const variable *v)
{
    return (~v->state & (SHARED | WRITTEN)) == 0;
}

static inline void scatter(pass *p, uint32_t e, uint32_t v, uint8_t mode)
{
    const ft_order *order = p->c->order;
    if (!contended(&p->variables[v])) return;
    p->records[p->variables[v].records++] =
        (record){e, p->c->trace->loc[e], order->segment[e],
                 order->holds.data[order->hold[e]].lockset << MODE_BITS | mode};
}

/* After the second walk: the end of the last variable that has records. */
static uint32_t end_of_records(const pass *p)
{
    uint32_t n = p->c->trace->shared.len;
    return n ? p->variables[n - 1].records : 0;
}

static void gather(pass *p)
{
    uint32_t n = p->c->trace->shared.len, total = 0;
    p->variables = ft_calloc((size_t)n + 1, sizeof *p->variables);
    each_event(p, look);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t records = contended(&p->variables[v]) ? p->variables[v].records : 0;
        p->variables[v].records = total;
        total += records;
    }
    p->records = ft_alloc(((size_t)total + 1) * sizeof *p->records);
    each_event(p, scatter);
    assert(total == 0 || total == end_of_records(p));
}

/* ---- classes and sites of one variable ---- */

/* Room for twice as many entries; returns the mask. */
static size_t clear_slots(pass *p, size_t entries)
{
    size_t want = 16;
    while (want < 2 * entries) want *= 2;
    ft_vec_reserve(&p->slots, want);
    memset(p->slots.data, 0, want * sizeof *p->slots.data);
    return want - 1;
}

static size_t hash_of(uint32_t loc, uint32_t segment, uint32_t how)
{
    uint64_t h =
        ((uint64_t)loc << 32 | segment) * 0x9e3779b97f4a7c15u ^ (uint64_t)how * 0xc2b2ae3d27d4eb4fu;
    return (size_t)(h >> 32);
}

static bool of_class(const record *r, const ft_class *k)
{
    return k->loc == r->loc && k->segment == r->segment &&
           (k->lockset << MODE_BITS | k->mode) == r->how;
}

static void add_class(pass *p, const record *r)
{
    ft_class fresh = {.loc = r->loc,
                      .segment = r->segment,
                      .lockset = r->how >> MODE_BITS,
                      .first = r->event,
                      .count = 1,
                      .thread = p->c->order->segment_thread[r->segment],
                      .mode = r->how & ((1u << MODE_BITS) - 1)};
    ft_vec_push(&p->c->classes, fresh);
    ft_vec_push(&p->last, r->event);
}

static void add_record(pass *p, const record *r, size_t first_class, size_t mask)
{
    ft_candidates *c = p->c;
    if (r->how & FT_MODE_SEVERAL) {
        add_class(p, r);
        return;
    }
    size_t at = hash_of(r->loc, r->segment, r->how) & mask;
    for (; p->slots.data[at]; at = (at + 1) & mask) {
        uint32_t relative = p->slots.data[at] - 1;
        ft_class *k = &c->classes.data[first_class + relative];
        if (!of_class(r, k)) continue;
        assert(p->last.data[relative] < r->event); /* an event is in a class once */
        c->next_event[p->last.data[relative]] = r->event;
        p->last.data[relative] = r->event;
        k->count++;
        return;
    }
    add_class(p, r);
    p->slots.data[at] = (uint32_t)p->last.len;
}

static void find_classes(pass *p, const record *records, uint32_t count)
{
    size_t mask = clear_slots(p, count), first = p->c->classes.len;
    p->last.len = 0;
    for (uint32_t i = 0; i < count; i++) add_record(p, &records[i], first, mask);
}

static bool same_site(const ft_site *s, const ft_class *k)
{
    return s->loc == k->loc && s->lockset == k->lockset && s->mode == k->mode &&
           !(k->mode & FT_MODE_SEVERAL);
}

/* The site of a class, among the variable's sites so far. */
static uint32_t site_of(pass *p, uint32_t v, const ft_class *k, size_t first_site, size_t mask)
{
    ft_candidates *c = p->c;
    uint32_t *slots = p->slots.data;
    size_t at = hash_of(k->loc, k->lockset, k->mode) & mask;
    while (slots[at] && !same_site(&c->sites.data[first_site + slots[at] - 1], k))
        at = (at + 1) & mask;
    if (!slots[at]) {
        ft_site fresh = {.variable = v,
                         .loc = k->loc,
                         .lockset = k->lockset,
                         .only = (k->mode & FT_MODE_SEVERAL) ? k->first + 1 : 0,
                         .mode = k->mode};
        ft_vec_push(&c->sites, fresh);
        slots[at] = (uint32_t)(c->sites.len - first_site);
    }
    return (uint32_t)first_site + slots[at] - 1;
}

/* Sorts the classes of one variable, the last so far, by site. */
static void find_sites(pass *p, uint32_t v)
{
    ft_candidates *c = p->c;
    uint32_t first = c->variable_classes[v], n = (uint32_t)c->classes.len - first;
    size_t first_site = c->sites.len, mask = clear_slots(p, n);
    p->site_of.len = p->unsorted.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ft_class *k = &c->classes.data[first + i];
        uint32_t s = site_of(p, v, k, first_site, mask);
        ft_site *site = &c->sites.data[s];
        site->count++;
        site->events += k->count;
        site->threads |= c->order->n_threads > 64 ? UINT64_MAX : (uint64_t)1 << k->thread;
        ft_vec_push(&p->site_of, s);
        ft_vec_push(&p->unsorted, *k);
    }
    for (size_t s = first_site; s < c->sites.len; s++) {
        c->sites.data[s].first = first;
        first += c->sites.data[s].count;
        c->sites.data[s].count = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        ft_site *site = &c->sites.data[p->site_of.data[i]];
        c->classes.data[site->first + site->count++] = p->unsorted.data[i];
    }
    assert(first == c->classes.len);
}

static void classify(pass *p)
{
    ft_candidates *c = p->c;
    uint32_t n = c->trace->shared.len, at = 0;
    c->next_event = ft_alloc(((size_t)c->trace->n_events + 1) * sizeof *c->next_event);
    c->variable_classes = ft_alloc(((size_t)n + 1) * sizeof *c->variable_classes);
    c->variable_sites = ft_alloc(((size_t)n + 1) * sizeof *c->variable_sites);
    for (uint32_t v = 0; v <= n; v++) {
        c->variable_classes[v] = (uint32_t)c->classes.len;
        c->variable_sites[v] = (uint32_t)c->sites.len;
        if (v == n || p->variables[v].records == at) continue;
        find_classes(p, p->records + at, p->variables[v].records - at);
        find_sites(p, v);
        at = p->variables[v].records;
    }
}

static void pass_release(pass *p)
{
    free(p->variables);
    free(p->records);
    ft_vec_release(&p->slots);
    ft_vec_release(&p->last);
    ft_vec_release(&p->site_of);
    ft_vec_release(&p->unsorted);
}

static uint64_t count_ignored(const ft_candidates *c)
{
    uint64_t total = 0;
    for (uint32_t e = 0; c->ignored && e < c->trace->n_events; e++)
        total += ft_candidates_skipped(c, e);
    return total;
}

ft_candidates *ft_candidates_new(const ft_trace *trace, const ft_order *order, const ft_run *run,
                                 bool per_event, const uint8_t *ignored)
{
    FT_REQUIRE(trace && order);
    ft_candidates *c = ft_calloc(1, sizeof *c);
    *c = (ft_candidates){
        .trace = trace, .order = order, .run = run, .per_event = per_event, .ignored = ignored};
    pass p = {.c = c};
    c->ignored_events = count_ignored(c);
    gather(&p);
    classify(&p);
    ft_candidates_index_classes(c);
    pass_release(&p);
    FT_CHECK(ft_candidates_is_sound(c));
    return c;
}
