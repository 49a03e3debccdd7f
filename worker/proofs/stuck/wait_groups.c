/* Waits for a condition, in groups that hard order sets apart, and what those say who sleep since
 * one of them (flow.c, own wait and last wait). */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "proofs/stuck/flow_internal.h"

enum { SECTION_EVENTS = 256, SWEEPS = 8 };
#define MOST_GROUPS ((size_t)200)
#define MOST_CLOCKS ((size_t)20 * 1000 * 1000)

typedef ft_stuck_flow flow;
typedef ft_flow_span span;
typedef ft_flow_doing doing;
typedef ft_flow_place place;
typedef ft_flow_measure measure;
typedef ft_flow_group group;

/* ---- groups of waits ------------------------------------------------------------------------- */

/* How many of the thread's events hard order has before e. */
static uint32_t before(const flow *f, uint32_t e, uint32_t thread)
{
    const ft_order *order = f->s->order;
    if (f->s->trace->thread[e] == thread) return order->position[e];
    return order->clock[(size_t)order->segment[e] * order->n_threads + thread];
}

static uint32_t wait_at(const flow *f, size_t i)
{
    return f->levels.waits.data[f->by_group.data[i]].event;
}

/* Waits of one condition, in observed order, as they are in by_group. ends[i]: all before the i-th
 * come before all others, by hard order (and where a thread's waits follow each other, they may as
 * well be of one group). */
static void find_ends(const flow *f, size_t first, size_t n, bool *ends)
{
    uint32_t threads = f->s->order->n_threads, t;
    uint32_t *least = ft_alloc(((size_t)threads + 1) * sizeof *least);
    uint32_t *last = ft_calloc((size_t)threads + 1, sizeof *last); /* wait of each, + 1 */
    uint32_t *previous = ft_alloc((n + 1) * sizeof *previous);     /* likewise */
    memset(least, 0xff, threads * sizeof *least);
    for (size_t i = 0; i < n; i++) {
        t = f->s->trace->thread[wait_at(f, first + i)];
        previous[i] = last[t];
        last[t] = f->s->order->position[wait_at(f, first + i)] + 1;
    }
    for (size_t i = n; i-- > 0;) {
        uint32_t e = wait_at(f, first + i);
        uint32_t thread = f->s->trace->thread[e];
        bool apart = i > 0 && f->s->trace->thread[wait_at(f, first + i - 1)] != thread;
        last[thread] = previous[i];
        for (t = 0; t < threads; t++) {
            if (before(f, e, t) < least[t]) least[t] = before(f, e, t);
            apart &= least[t] >= last[t];
        }
        ends[i] = apart;
    }
    free(least);
    free(last);
    free(previous);
}

/* Is the thread's event there behind all waits of the group? last: of each thread the place of its
 * last wait, + 1. */
static bool is_behind_all(const flow *f, uint32_t thread, uint32_t position, const uint32_t *last)
{
    const ft_order *order = f->s->order;
    uint32_t e = order->thread_events[order->thread_start[thread] + position];
    for (uint32_t t = 0; t < order->n_threads; t++)
        if (last[t] && before(f, e, t) < last[t]) return false;
    return true;
}

static void find_window(const flow *f, group *g)
{
    const ft_order *order = f->s->order;
    uint32_t n = order->n_threads, *last = ft_calloc((size_t)n + 1, sizeof *last);
    g->from = ft_alloc(((size_t)n + 1) * sizeof *g->from);
    g->to = ft_alloc(((size_t)n + 1) * sizeof *g->to);
    memset(g->from, 0xff, n * sizeof *g->from);
    for (uint32_t i = 0; i < g->waits; i++) {
        uint32_t e = wait_at(f, g->first_wait + i);
        last[f->s->trace->thread[e]] = order->position[e] + 1;
        for (uint32_t t = 0; t < n; t++)
            if (before(f, e, t) < g->from[t]) g->from[t] = before(f, e, t);
    }
    for (uint32_t t = 0; t < n; t++) {
        uint32_t low = g->from[t], high = order->thread_start[t + 1] - order->thread_start[t];
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_behind_all(f, t, middle, last))
                high = middle;
            else
                low = middle + 1;
        }
        assert(g->from[t] <= low);
        g->to[t] = low;
    }
    free(last);
}

static void add_group(flow *f, size_t first, size_t n)
{
    const ft_level_wait *wait = &f->levels.waits.data[f->by_group.data[first]];
    group g = {.condition = wait->condition,
               .lock = wait->lock,
               .first_wait = (uint32_t)first,
               .waits = (uint32_t)n,
               .alone = true};
    for (size_t i = first; i < first + n; i++) {
        const ft_level_wait *other = &f->levels.waits.data[f->by_group.data[i]];
        if (f->s->trace->thread[other->event] != f->s->trace->thread[wait->event]) g.alone = false;
        if (other->lock != wait->lock) g.lock = UINT32_MAX;
        f->group_of[f->by_group.data[i]] = (uint32_t)f->groups.len;
    }
    find_window(f, &g);
    ft_vec_push(&f->groups, g);
}

static void group_waits(flow *f, size_t first)
{
    size_t n = f->by_group.len - first, begin = first;
    bool *ends = ft_calloc(n + 1, sizeof *ends);
    if (n * f->s->order->n_threads <= MOST_CLOCKS) find_ends(f, first, n, ends);
    for (size_t i = 1; i <= n && f->groups.len < MOST_GROUPS; i++) {
        if (i < n && !ends[i]) continue;
        add_group(f, begin, first + i - begin);
        begin = first + i;
    }
    free(ends);
}

void ft_flow_find_groups(flow *f)
{
    size_t n = f->levels.waits.len;
    f->group_of = ft_alloc((n + 1) * sizeof *f->group_of);
    memset(f->group_of, 0xff, (n + 1) * sizeof *f->group_of);
    for (uint32_t c = 0; c < f->s->trace->conditions.len && f->groups.len < MOST_GROUPS; c++) {
        size_t first = f->by_group.len;
        for (size_t i = 0; i < n; i++)
            if (f->levels.waits.data[i].condition == c) ft_vec_push(&f->by_group, (uint32_t)i);
        if (f->by_group.len > first) group_waits(f, first);
    }
}

/* Does e wake whoever of the group sleeps? */
static bool wakes_all(const flow *f, const group *g, uint32_t e)
{
    const ft_trace *trace = f->s->trace;
    if (trace->object[e] != g->condition) return false;
    return trace->kind[e] == FT_EVENT_BROADCAST || (g->alone && trace->kind[e] == FT_EVENT_SIGNAL);
}

/* ---- own wait -------------------------------------------------------------------------------- */

/* Where the change is executed behind a wait, with its section of the lock: is such a signal too,
 * in the section, or behind it before the thread may rest? */
static bool has_signal(const flow *f, const group *g, uint32_t lock, uint32_t e)
{
    const ft_order *order = f->s->order;
    uint32_t section = ft_order_section_at(order, e, lock);
    assert(section != FT_NO_SECTION); /* a level changes under its lock alone */
    uint32_t acquire = order->sections.data[section].acquire;
    uint32_t at = e;
    for (uint32_t n = 0; n < SECTION_EVENTS && at != acquire && at != FT_NO_EVENT; n++) {
        if (wakes_all(f, g, at)) return true;
        at = ft_order_previous(order, at);
    }
    at = ft_order_next(order, e);
    for (uint32_t n = 0; n < SECTION_EVENTS && at != FT_NO_EVENT; n++) {
        if (ft_stuck_possible(f->s, at)) return false;
        if (wakes_all(f, g, at)) return true;
        at = ft_order_next(order, at);
    }
    return false;
}

typedef struct reach {
    int64_t from;
    span to;
} reach;

static int by_from(const void *left, const void *right)
{
    const reach *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

typedef FT_VEC(reach) reaches;
typedef FT_VEC(ft_level_change) silent_changes;

static reach *reach_of(const reaches *all, int64_t from)
{
    reach key = {.from = from};
    return all->len ? bsearch(&key, all->data, all->len, sizeof key, by_from) : NULL;
}

/* True: it grew. */
static bool extend(const reaches *all, const ft_level_change *by)
{
    reach *from = reach_of(all, by->before), *to = reach_of(all, by->after);
    assert(from && to); /* every value of a change is listed */
    span before = from->to;
    if (to->to.low < from->to.low) from->to.low = to->to.low;
    if (to->to.high > from->to.high) from->to.high = to->to.high;
    return before.low != from->to.low || before.high != from->to.high;
}

static void list_values(const silent_changes *silent, reaches *all)
{
    for (size_t i = 0; i < silent->len; i++) {
        int64_t before = silent->data[i].before, after = silent->data[i].after;
        ft_vec_push(all, ((reach){before, {before, before}}));
        ft_vec_push(all, ((reach){after, {after, after}}));
    }
    if (!all->len) return;
    qsort(all->data, all->len, sizeof *all->data, by_from);
    size_t n = 1;
    for (size_t i = 1; i < all->len; i++)
        if (all->data[i].from != all->data[n - 1].from) all->data[n++] = all->data[i];
    all->len = n;
}

static bool is_in_window(const flow *f, const group *g, uint32_t e)
{
    uint32_t thread = f->s->trace->thread[e], position = f->s->order->position[e];
    return position >= g->from[thread] && position < g->to[thread];
}

/* False: one of them can begin anywhere. */
static bool list_silent(const flow *f, const group *g, const ft_level *level,
                        silent_changes *silent)
{
    for (size_t i = 0; i < level->changes.len; i++) {
        const ft_level_change *c = &level->changes.data[i];
        if (!is_in_window(f, g, c->event) || has_signal(f, g, level->lock, c->event)) continue;
        if (c->blind) return false;
        ft_vec_push(silent, *c);
    }
    return true;
}

/* Between which values the level can be that goes on from each by changes without a signal; false:
 * they are too many to follow. Sweeps to and fro, since chains go either way. */
static bool find_reaches(const silent_changes *silent, reaches *all)
{
    bool more = true;
    list_values(silent, all);
    for (int sweep = 0; sweep < SWEEPS && more; sweep++) {
        more = false;
        for (size_t i = 0; i < silent->len; i++)
            more |= extend(all, &silent->data[sweep % 2 ? silent->len - 1 - i : i]);
    }
    return !more;
}

/* The wait that the place's thread sleeps since, where it is of the group; else NULL. */
static const ft_level_wait *sleeps_since(const flow *f, const group *g, const place *p)
{
    if (p->group != (uint32_t)(g - f->groups.data)) return NULL;
    assert(p->wait < f->levels.waits.len && f->group_of[p->wait] == p->group);
    return &f->levels.waits.data[p->wait];
}

static void bound_by_own_wait(flow *f, const group *g, uint32_t level)
{
    silent_changes silent = {0};
    reaches all = {0};
    bool known = list_silent(f, g, &f->levels.all[level], &silent) && find_reaches(&silent, &all);
    for (size_t i = 0; i < f->places.len && known; i++) {
        place *p = &f->places.data[i];
        const ft_level_wait *wait = sleeps_since(f, g, p);
        if (!wait || !(wait->known >> level & 1)) continue;
        const reach *r = reach_of(&all, wait->at[level]);
        span to = r ? r->to : (span){wait->at[level], wait->at[level]};
        p->bounds[level] = ft_flow_intersect(p->bounds[level], to);
    }
    ft_vec_release(&silent);
    ft_vec_release(&all);
}

/* ---- last wait ------------------------------------------------------------------------------- */

enum { UP, DOWN, WAYS };

/* Of each measure and way the most that a thread adds beyond what signals allow, from some place
 * outside of the lock on, where the last wait can be. There is none before a broadcast, which would
 * wake T, or before a wait. */
typedef struct excess {
    const flow *f;
    const group *g;
    int64_t most[FT_FLOW_MOST][WAYS];
    bool over[FT_FLOW_MOST][WAYS];
} excess;

static void raise_all(excess *x, int64_t signals)
{
    for (uint32_t m = 0; m < x->f->n; m++)
        for (uint32_t way = 0; way < WAYS; way++) x->most[m][way] += signals * x->f->unit[m];
}

/* Places so far do not count. */
static void forget_all(excess *x)
{
    for (uint32_t m = 0; m < x->f->n; m++)
        for (uint32_t way = 0; way < WAYS; way++) x->most[m][way] = -FT_FLOW_FAR / 2;
}

/* The thread may be here while another one waits for the last time. */
static void begin_here(excess *x)
{
    for (uint32_t m = 0; m < x->f->n; m++)
        for (uint32_t way = 0; way < WAYS; way++)
            if (x->most[m][way] < 0) x->most[m][way] = 0;
}

static void stuck_here(excess *x)
{
    for (uint32_t m = 0; m < x->f->n; m++)
        for (uint32_t way = 0; way < WAYS; way++) x->over[m][way] |= x->most[m][way] > 0;
}

static void add_here(excess *x, const doing *now)
{
    for (uint32_t m = 0; m < x->f->n; m++) {
        x->most[m][UP] += now->added[m];
        x->most[m][DOWN] -= now->added[m];
    }
}

/* The effect of e on the group's sleepers. */
static void wake_here(excess *x, uint32_t e)
{
    static const bool OF[FT_EVENT_KINDS] = {[FT_EVENT_SIGNAL] = true,
                                            [FT_EVENT_BROADCAST] = true,
                                            [FT_EVENT_COND_WAIT] = true,
                                            [FT_EVENT_COND_WAKE] = true};
    uint8_t kind = x->f->s->trace->kind[e];
    if (!OF[kind] || x->f->s->trace->object[e] != x->g->condition) return;
    if (kind == FT_EVENT_SIGNAL)
        raise_all(x, -1);
    else if (kind == FT_EVENT_COND_WAKE)
        raise_all(x, 1);
    else
        forget_all(x);
}

static void follow_thread(excess *x, uint32_t thread)
{
    const flow *f = x->f;
    const ft_order *order = f->s->order;
    const uint32_t *events = order->thread_events + order->thread_start[thread];
    uint32_t n = order->thread_start[thread + 1] - order->thread_start[thread], at;
    ft_flow_walk w = ft_flow_begin(f, thread, x->g->from[thread]);
    forget_all(x);
    for (at = x->g->from[thread]; at < n; at++) {
        uint32_t e = events[at];
        doing now = {0};
        if (ft_order_section_at(order, e, x->g->lock) == FT_NO_SECTION) begin_here(x);
        if (ft_stuck_possible(f->s, e)) stuck_here(x);
        if (at >= x->g->to[thread]) return;
        ft_flow_go_on(&w, thread, at, &now);
        if (now.has_written) add_here(x, &now);
        wake_here(x, e);
    }
    stuck_here(x);
}

static bool has_measure(const flow *f, uint32_t m, const ft_level_wait *wait)
{
    const measure *z = &f->measures[m];
    return wait->known >> z->plus & 1 && (z->minus == UINT32_MAX || wait->known >> z->minus & 1);
}

static int64_t measure_at(const flow *f, uint32_t m, const ft_level_wait *wait)
{
    const measure *z = &f->measures[m];
    return wait->at[z->plus] - (z->minus == UINT32_MAX ? 0 : wait->at[z->minus]);
}

/* Of the measure at all waits of the group; empty: it is not known at one of them. */
static span at_waits(const flow *f, const group *g, uint32_t m)
{
    span at = FT_FLOW_NOTHING;
    for (uint32_t i = 0; i < g->waits; i++) {
        const ft_level_wait *wait = &f->levels.waits.data[f->by_group.data[g->first_wait + i]];
        if (!has_measure(f, m, wait)) return FT_FLOW_NOTHING;
        ft_flow_include(&at, measure_at(f, m, wait));
    }
    return at;
}

static void bound_by_last_wait(flow *f, group *g)
{
    excess x = {.f = f, .g = g};
    for (uint32_t t = 0; t < f->s->order->n_threads; t++) follow_thread(&x, t);
    for (uint32_t m = 0; m < f->n; m++) {
        span at = at_waits(f, g, m);
        g->last[m] = FT_FLOW_ANYTHING;
        if (f->measures[m].blind || ft_flow_is_empty(at)) continue;
        if (!x.over[m][UP]) g->last[m].high = at.high;
        if (!x.over[m][DOWN]) g->last[m].low = at.low;
    }
    for (size_t i = 0; i < f->places.len; i++) {
        place *p = &f->places.data[i];
        for (uint32_t m = 0; sleeps_since(f, g, p) && m < f->n; m++)
            p->bounds[m] = ft_flow_intersect(p->bounds[m], g->last[m]);
    }
}

void ft_flow_bound_places(flow *f)
{
    for (size_t i = 0; i < f->groups.len; i++) {
        group *g = &f->groups.data[i];
        if (g->lock == UINT32_MAX) continue;
        for (uint32_t level = 0; level < f->levels.n; level++)
            if (f->levels.all[level].lock == g->lock) bound_by_own_wait(f, g, level);
        bound_by_last_wait(f, g);
    }
}
