/* Accesses in classes that no pass can tell apart, classes in sites. Accesses are first brought
 * together by variable (a counting sort), so that everything after works on a few neighbouring
 * bytes: that is what keeps the pass within reach of the loop that only reads the events. */
#include <stdlib.h>
#include <string.h>

#include "candidate/candidate.h"

typedef struct record {
    uint32_t event, loc;
    uint32_t context; /* thread, segment and lockset, interned */
    uint32_t mode;    /* FT_MODE_*, and SEVERAL for an event of several variables */
} record;

enum { SEVERAL = 8 };

typedef struct context {
    uint32_t thread, segment, lockset;
} context;

typedef struct pass {
    ft_candidates *c;
    uint8_t *contended;
    uint32_t *first; /* [shared + 1] slices of records */
    record *records;
    FT_VEC(context) contexts;
    ft_map context_index;
    uint32_t *segment_now, *hold_now, *context_now; /* per thread */
    uint32_t *slots; /* hash table of one variable: class (or site) + 1, relative */
    size_t slot_cap;
    FT_VEC(ft_class) found;    /* classes of one variable, in order of appearance */
    FT_VEC(uint32_t) site_of;  /* parallel: relative site */
    FT_VEC(uint32_t) class_of; /* per record of one variable: relative class */
    FT_VEC(uint32_t) place;    /* relative class -> final class */
} pass;

bool ft_candidates_skipped(const ft_candidates *c, uint32_t e)
{
    return c->ignored && c->ignored[c->trace->loc[e]];
}

/* ---- by variable ---- */

enum { SEEN = 1, TWO_THREADS = 2, WRITTEN = 4, CONTENDED = 7 };

typedef void (*visit_access)(pass *p, uint32_t e, uint32_t variable, uint32_t mode);

/* Once for each event and variable; mode gathers what the event does to it. */
static inline void each_access(pass *p, uint32_t e, visit_access visit)
{
    const ft_trace *trace = p->c->trace;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mode = (trace->flags[e] & FT_FLAG_ATOMIC) ? FT_MODE_ATOMIC : 0;
        bool repeated = false;
        for (uint32_t j = 0; j < count; j++) {
            if (accesses[j].variable != accesses[i].variable) {
                mode |= SEVERAL;
                continue;
            }
            mode |= accesses[j].write ? FT_MODE_WRITE : FT_MODE_READ;
            repeated |= j < i;
        }
        if (!repeated) visit(p, e, accesses[i].variable, mode);
    }
}

/* Inlined into each walk, so that the visit is no call: a third of the walk's time. */
__attribute__((always_inline)) static inline void each_event(pass *p, visit_access visit)
{
    const ft_trace *trace = p->c->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t kind = trace->kind[e];
        if (kind > FT_EVENT_ASSERT || ft_candidates_skipped(p->c, e)) continue;
        if (kind != FT_EVENT_READ && kind != FT_EVENT_WRITE) {
            each_access(p, e, visit);
            continue;
        }
        uint32_t mode = (kind == FT_EVENT_WRITE ? FT_MODE_WRITE : FT_MODE_READ) |
                        ((trace->flags[e] & FT_FLAG_ATOMIC) ? FT_MODE_ATOMIC : 0);
        visit(p, e, trace->object[e], mode);
    }
}

/* first[] holds each variable's first thread during this walk, and counts in the next. */
static void look(pass *p, uint32_t e, uint32_t variable, uint32_t mode)
{
    uint8_t *state = &p->contended[variable];
    uint32_t thread = p->c->trace->thread[e];
    if (!*state) p->first[variable] = thread;
    *state |= (uint8_t)(SEEN | ((mode & FT_MODE_WRITE) ? WRITTEN : 0) |
                        (p->first[variable] != thread ? TWO_THREADS : 0));
}

static void count(pass *p, uint32_t e, uint32_t variable, uint32_t mode)
{
    (void)e;
    (void)mode;
    if (p->contended[variable] == CONTENDED) p->first[variable + 2]++;
}

static uint32_t context_of(pass *p, uint32_t e)
{
    const ft_order *order = p->c->order;
    uint32_t t = p->c->trace->thread[e];
    if (p->segment_now[t] == order->segment[e] && p->hold_now[t] == order->hold[e])
        return p->context_now[t];
    p->segment_now[t] = order->segment[e];
    p->hold_now[t] = order->hold[e];
    context now = {t, order->segment[e], ft_order_lockset(order, e)};
    bool inserted;
    uint64_t *slot = ft_map_slot(&p->context_index, (uint64_t)now.segment << 32 | now.lockset,
                                 p->contexts.len, &inserted);
    if (inserted) ft_vec_push(&p->contexts, now);
    return p->context_now[t] = (uint32_t)*slot;
}

static void scatter(pass *p, uint32_t e, uint32_t variable, uint32_t mode)
{
    if (p->contended[variable] != CONTENDED) return;
    p->records[p->first[variable + 1]++] = (record){e, p->c->trace->loc[e], context_of(p, e), mode};
}

static void gather(pass *p)
{
    uint32_t n = p->c->trace->shared.len, threads = p->c->order->n_threads;
    size_t bytes = (threads + 1) * sizeof(uint32_t);
    p->contended = ft_calloc((size_t)n + 1, 1);
    p->first = ft_calloc((size_t)n + 2, sizeof *p->first);
    p->segment_now = memset(ft_alloc(bytes), 0xff, bytes);
    p->hold_now = memset(ft_alloc(bytes), 0xff, bytes);
    p->context_now = ft_alloc(bytes);
    each_event(p, look);
    memset(p->first, 0, ((size_t)n + 2) * sizeof *p->first);
    each_event(p, count);
    for (uint32_t v = 0; v < n; v++) p->first[v + 2] += p->first[v + 1];
    p->records = ft_alloc(((size_t)p->first[n + 1] + 1) * sizeof *p->records);
    each_event(p, scatter);
}

/* ---- classes and sites of one variable ---- */

static void clear_slots(pass *p, size_t entries)
{
    size_t want = 16;
    while (want < 2 * entries) want *= 2;
    if (want > p->slot_cap) {
        free(p->slots);
        p->slots = ft_alloc(want * sizeof *p->slots);
        p->slot_cap = want;
    }
    memset(p->slots, 0, want * sizeof *p->slots);
}

static size_t hash(uint64_t a, uint64_t b)
{
    uint64_t h = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;
    return (size_t)(h ^ h >> 29);
}

static uint32_t class_of_record(pass *p, const record *r, uint32_t variable, size_t mask)
{
    const context *now = &p->contexts.data[r->context];
    uint32_t only = (r->mode & SEVERAL) ? r->event + 1 : 0;
    uint8_t mode = (uint8_t)(r->mode & ~(uint32_t)SEVERAL);
    size_t at = hash((uint64_t)r->loc << 32 | r->context, (uint64_t)only << 8 | mode) & mask;
    for (; p->slots[at]; at = (at + 1) & mask) {
        const ft_class *k = &p->found.data[p->slots[at] - 1];
        if (k->loc == r->loc && k->segment == now->segment && k->lockset == now->lockset &&
            k->only == only && k->mode == mode)
            return p->slots[at] - 1;
    }
    ft_class fresh = {.variable = variable,
                      .loc = r->loc,
                      .thread = now->thread,
                      .segment = now->segment,
                      .lockset = now->lockset,
                      .only = only,
                      .mode = mode};
    ft_vec_push(&p->found, fresh);
    p->slots[at] = (uint32_t)p->found.len;
    return (uint32_t)p->found.len - 1;
}

static bool same_site(const ft_site *s, const ft_class *k)
{
    return s->loc == k->loc && s->lockset == k->lockset && s->only == k->only && s->mode == k->mode;
}

static void assign_sites(pass *p, size_t first_site)
{
    ft_candidates *c = p->c;
    clear_slots(p, p->found.len);
    size_t mask = 15;
    while (mask + 1 < 2 * p->found.len) mask = 2 * mask + 1;
    p->site_of.len = 0;
    for (size_t i = 0; i < p->found.len; i++) {
        const ft_class *k = &p->found.data[i];
        size_t at =
            hash((uint64_t)k->loc << 32 | k->lockset, (uint64_t)k->only << 8 | k->mode) & mask;
        while (p->slots[at] && !same_site(&c->sites.data[first_site + p->slots[at] - 1], k))
            at = (at + 1) & mask;
        if (!p->slots[at]) {
            ft_site fresh = {.variable = k->variable,
                             .loc = k->loc,
                             .lockset = k->lockset,
                             .only = k->only,
                             .mode = k->mode};
            ft_vec_push(&c->sites, fresh);
            p->slots[at] = (uint32_t)(c->sites.len - first_site);
        }
        ft_site *site = &c->sites.data[first_site + p->slots[at] - 1];
        site->count++;
        site->events += k->count;
        site->threads |= c->order->n_threads > 64 ? UINT64_MAX : (uint64_t)1 << k->thread;
        ft_vec_push(&p->site_of, p->slots[at] - 1);
    }
}

/* Moves the variable's classes to their final places, site by site, and their events after them. */
static void settle(pass *p, size_t first_site, const record *records, uint32_t n_records)
{
    ft_candidates *c = p->c;
    uint32_t next = (uint32_t)c->classes.len, at = (uint32_t)(records - p->records);
    for (size_t s = first_site; s < c->sites.len; s++) {
        c->sites.data[s].first = next;
        next += c->sites.data[s].count;
        c->sites.data[s].count = 0;
    }
    ft_vec_reserve(&c->classes, next);
    c->classes.len = next;
    p->place.len = 0;
    for (size_t i = 0; i < p->found.len; i++) {
        ft_site *site = &c->sites.data[first_site + p->site_of.data[i]];
        uint32_t place = site->first + site->count++;
        c->classes.data[place] = p->found.data[i];
        ft_vec_push(&p->place, place);
    }
    for (size_t i = 0; i < p->found.len; i++) {
        ft_class *k = &c->classes.data[p->place.data[i]];
        k->first = at;
        at += k->count;
        k->count = 0;
    }
    for (uint32_t i = 0; i < n_records; i++) {
        ft_class *k = &c->classes.data[p->place.data[p->class_of.data[i]]];
        c->class_events[k->first + k->count++] = records[i].event;
    }
}

static void classify(pass *p, uint32_t variable)
{
    ft_candidates *c = p->c;
    const record *records = p->records + p->first[variable];
    uint32_t n = p->first[variable + 1] - p->first[variable];
    size_t mask = 15, first_site = c->sites.len;
    if (n == 0) return;
    clear_slots(p, n);
    while (mask + 1 < 2 * (size_t)n) mask = 2 * mask + 1;
    p->found.len = p->class_of.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = class_of_record(p, &records[i], variable, mask);
        p->found.data[k].count++;
        ft_vec_push(&p->class_of, k);
    }
    assign_sites(p, first_site);
    settle(p, first_site, records, n);
}

static void pass_release(pass *p)
{
    free(p->contended);
    free(p->first);
    free(p->records);
    free(p->segment_now);
    free(p->hold_now);
    free(p->context_now);
    free(p->slots);
    ft_vec_release(&p->contexts);
    ft_map_release(&p->context_index);
    ft_vec_release(&p->found);
    ft_vec_release(&p->site_of);
    ft_vec_release(&p->class_of);
    ft_vec_release(&p->place);
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
    ft_candidates *c = ft_calloc(1, sizeof *c);
    *c = (ft_candidates){
        .trace = trace, .order = order, .run = run, .per_event = per_event, .ignored = ignored};
    pass p = {.c = c};
    uint32_t n = trace->shared.len;
    c->ignored_events = count_ignored(c);
    gather(&p);
    c->class_events = ft_alloc(((size_t)p.first[n] + 1) * sizeof *c->class_events);
    c->variable_classes = ft_alloc(((size_t)n + 1) * sizeof *c->variable_classes);
    c->variable_sites = ft_alloc(((size_t)n + 1) * sizeof *c->variable_sites);
    for (uint32_t v = 0; v <= n; v++) {
        c->variable_classes[v] = (uint32_t)c->classes.len;
        c->variable_sites[v] = (uint32_t)c->sites.len;
        if (v < n) classify(&p, v);
    }
    pass_release(&p);
    return c;
}
