/* Who sleeps says what levels are, and levels say who can be at rest.
 *
 * Let thread T sleep at condition c in a standstill, since its wait w.
 *
 *   own wait    No signal that wakes T for sure (a broadcast, or any, where T's thread alone waits
 *               for c) comes behind w. So the level moves on from what it is at w by changes alone
 *               that no such signal goes with.
 *   last wait   Let v be the last wait for c of all threads. A signal behind v wakes one that
 *               sleeps, not T, and no one a second time: there are as many wake-ups behind v. Where
 *               no thread, from any place outside of the lock to where it may rest, without a wait
 *               for c in between, adds more to the level than its signals allow and its wake-ups
 *               take, the level is in the end at most what it is at v.
 *
 * A level in the end is the sum of what each thread added up to where it rests. Places where that
 * sum, and what others' sleep says, leave nothing are dropped, until nothing changes. */
#include <stdlib.h>
#include <string.h>

#include "reduce/standstill_internal.h"
#include "reduce/standstill_levels.h"

enum {
    CONDITIONS = 16,
    PAIRS = 8,
    MOST = FT_LEVELS_MOST + PAIRS, /* measures */
    SECTION_EVENTS = 256,
    SWEEPS = 8,
    ROUNDS = 8
};
#define MOST_PLACES ((size_t)100 * 1000)
#define MOST_WORK   ((uint64_t)400 * 1000 * 1000)
#define MOST_UNIT   ((int64_t)1 << 24) /* so that as many as there are events fit */
#define FAR         ((int64_t)1 << 62)

/* A level, or the difference of two of one lock. */
typedef struct measure {
    uint32_t plus, minus; /* levels; minus: UINT32_MAX: none */
    bool blind;           /* no sum: the level is */
} measure;

typedef struct span {
    int64_t low, high;
} span;

#define ANYTHING ((span){-FAR, FAR})
#define NOTHING  ((span){FAR, -FAR})

/* What a thread did so far. */
typedef struct doing {
    uint32_t has_written;            /* a bit for each level */
    int64_t written[FT_LEVELS_MOST]; /* last */
    int64_t added[MOST];             /* to each measure that is not blind */
} doing;

/* Where a thread may be at rest. */
typedef struct place {
    uint32_t thread, position;
    uint32_t wait; /* the cond-wait that it sleeps since; FT_NO_EVENT: it does not */
    doing by_then;
    span bounds[MOST]; /* of each measure in any standstill with the thread there */
} place;

/* A condition that somebody waits for. */
typedef struct condition {
    uint32_t id, lock; /* lock: UINT32_MAX: not one for all waits */
    bool alone;        /* one thread alone waits for it */
    span last[MOST];   /* "last wait", of each measure */
} condition;

struct ft_standstill_flow {
    const ft_standstill *s;
    ft_levels levels;
    measure measures[MOST];
    uint32_t n;
    condition conditions[CONDITIONS];
    uint32_t n_conditions;
    FT_VEC(place) places; /* by thread and position */
    uint32_t *first;      /* [threads + 1] slices of places */
    uint64_t work;
    bool idle;
};

typedef struct ft_standstill_flow flow;

static span meet(span a, span b)
{
    return (span){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

static void include(span *all, int64_t value)
{
    if (value < all->low) all->low = value;
    if (value > all->high) all->high = value;
}

static bool is_empty(span a)
{
    return a.low > a.high;
}

/* ---- measures -------------------------------------------------------------------------------- */

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

static int64_t weight(const measure *z, uint32_t level)
{
    return (z->plus == level) - (z->minus == level);
}

static void find_measures(flow *f)
{
    const ft_level *all = f->levels.all;
    for (uint32_t i = 0; i < f->levels.n; i++)
        f->measures[f->n++] = (measure){i, UINT32_MAX, all[i].blind};
    for (uint32_t i = 0; i < f->levels.n; i++)
        for (uint32_t k = 0; k < i && f->n < MOST; k++)
            if (all[i].lock == all[k].lock && all[i].changes.len && all[k].changes.len &&
                !all[i].blind && !all[k].blind)
                f->measures[f->n++] = (measure){i, k, false};
}

/* ---- the changes, in observed order ---------------------------------------------------------- */

typedef struct walk {
    const flow *f;
    size_t next[FT_LEVELS_MOST];
} walk;

static void do_change(const flow *f, uint32_t level, const ft_level_change *c, doing *now)
{
    now->has_written |= 1u << level;
    now->written[level] = c->after;
    for (uint32_t m = 0; m < f->n; m++)
        if (!f->measures[m].blind)
            now->added[m] += weight(&f->measures[m], level) * (c->after - c->before);
}

/* What e does, on top of what is in `now`. Of each event in turn. */
static void walk_on(walk *w, uint32_t e, doing *now)
{
    for (uint32_t level = 0; level < w->f->levels.n; level++) {
        const ft_level *l = &w->f->levels.all[level];
        size_t *next = &w->next[level];
        for (; *next < l->changes.len && l->changes.data[*next].event == e; ++*next)
            do_change(w->f, level, &l->changes.data[*next], now);
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

static condition *find_condition(flow *f, uint32_t id)
{
    for (uint32_t i = 0; i < f->n_conditions; i++)
        if (f->conditions[i].id == id) return &f->conditions[i];
    return NULL;
}

static void find_conditions(flow *f)
{
    uint32_t thread[CONDITIONS];
    for (size_t i = 0; i < f->levels.waits.len; i++) {
        const ft_level_wait *wait = &f->levels.waits.data[i];
        uint32_t by = f->s->trace->thread[wait->event];
        condition *c = find_condition(f, wait->condition);
        if (!c && f->n_conditions == CONDITIONS) continue;
        if (!c) {
            c = &f->conditions[f->n_conditions];
            *c = (condition){.id = wait->condition, .lock = wait->lock, .alone = true};
            thread[f->n_conditions++] = by;
        }
        if (thread[c - f->conditions] != by) c->alone = false;
        if (c->lock != wait->lock) c->lock = UINT32_MAX;
    }
}

/* Does e wake whoever sleeps at the condition? */
static bool wakes_all(const flow *f, const condition *c, uint32_t e)
{
    const ft_trace *trace = f->s->trace;
    if (trace->object[e] != c->id) return false;
    return trace->kind[e] == FT_EVENT_BROADCAST || (c->alone && trace->kind[e] == FT_EVENT_SIGNAL);
}

/* ---- own wait -------------------------------------------------------------------------------- */

/* Where the change is executed behind a wait, with its section of the lock: is such a signal too,
 * in the section, or behind it before the thread may rest? */
static bool has_signal(const flow *f, const condition *c, uint32_t lock, uint32_t e)
{
    const ft_order *order = f->s->order;
    uint32_t acquire = order->sections.data[ft_order_section_at(order, e, lock)].acquire;
    uint32_t at = e;
    for (uint32_t n = 0; n < SECTION_EVENTS && at != acquire && at != FT_NO_EVENT; n++) {
        if (wakes_all(f, c, at)) return true;
        at = ft_order_previous(order, at);
    }
    at = ft_order_next(order, e);
    for (uint32_t n = 0; n < SECTION_EVENTS && at != FT_NO_EVENT; n++) {
        if (ft_standstill_may_rest(f->s, at)) return false;
        if (wakes_all(f, c, at)) return true;
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
static bool extend(const reaches *all, const ft_level_change *change)
{
    reach *from = reach_of(all, change->before), *to = reach_of(all, change->after);
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

/* Between which values the level can be that goes on from each by changes without a signal; false:
 * they are too many to follow, or can begin anywhere. */
static bool find_reaches(flow *f, const condition *c, uint32_t level, reaches *all)
{
    const ft_level *l = &f->levels.all[level];
    silent_changes silent = {0};
    bool more = true, blind = false;
    for (size_t i = 0; i < l->changes.len && !blind; i++) {
        if (has_signal(f, c, l->lock, l->changes.data[i].event)) continue;
        ft_vec_push(&silent, l->changes.data[i]);
        blind = l->changes.data[i].blind;
    }
    list_values(&silent, all);
    for (int sweep = 0; sweep < SWEEPS && more && !blind;
         sweep++) { /* to and fro: chains either way */
        more = false;
        for (size_t i = 0; i < silent.len; i++)
            more |= extend(all, &silent.data[sweep % 2 ? silent.len - 1 - i : i]);
    }
    ft_vec_release(&silent);
    return !more;
}

static void bound_by_own_wait(flow *f, const condition *c, uint32_t level)
{
    reaches all = {0};
    if (find_reaches(f, c, level, &all))
        for (size_t i = 0; i < f->places.len; i++) {
            place *p = &f->places.data[i];
            const ft_level_wait *wait = ft_levels_wait(&f->levels, p->wait);
            if (!wait || wait->condition != c->id || !(wait->known >> level & 1)) continue;
            const reach *r = reach_of(&all, wait->at[level]);
            span to = r ? r->to : (span){wait->at[level], wait->at[level]};
            p->bounds[level] = meet(p->bounds[level], to);
        }
    ft_vec_release(&all);
}

/* ---- last wait ------------------------------------------------------------------------------- */

enum { UP, DOWN, WAYS };

/* Of each thread, measure and way the most that is added beyond what signals allow, from some place
 * outside of the lock on, where the last wait can be. There is none before a broadcast, which would
 * wake T, or before a wait. */
typedef struct excess {
    flow *f;
    const condition *c;
    int64_t *most;      /* [threads * MOST * WAYS] */
    bool *inside;       /* [threads] of the lock */
    int64_t unit[MOST]; /* what a signal allows */
    bool over[MOST][WAYS];
} excess;

static int64_t *most_of(excess *x, uint32_t thread)
{
    return &x->most[(size_t)thread * MOST * WAYS];
}

static void raise_all(excess *x, uint32_t thread, int64_t units)
{
    int64_t *most = most_of(x, thread);
    for (uint32_t m = 0; m < x->f->n; m++)
        for (uint32_t way = 0; way < WAYS; way++) most[m * WAYS + way] += units * x->unit[m];
}

/* Places so far do not count. */
static void forget_all(excess *x, uint32_t thread)
{
    for (uint32_t i = 0; i < x->f->n * WAYS; i++) most_of(x, thread)[i] = -FAR / 2;
}

/* The thread may be here while another one waits for the last time. */
static void begin_here(excess *x, uint32_t thread)
{
    for (uint32_t i = 0; i < x->f->n * WAYS; i++)
        if (most_of(x, thread)[i] < 0) most_of(x, thread)[i] = 0;
}

static void rest_here(excess *x, uint32_t thread)
{
    for (uint32_t m = 0; m < x->f->n; m++)
        for (uint32_t way = 0; way < WAYS; way++)
            x->over[m][way] |= most_of(x, thread)[m * WAYS + way] > 0;
}

static void add_here(excess *x, uint32_t thread, const int64_t *added)
{
    int64_t *most = most_of(x, thread);
    for (uint32_t m = 0; m < x->f->n; m++) {
        most[m * WAYS + UP] += added[m];
        most[m * WAYS + DOWN] -= added[m];
    }
}

/* What e does to sleepers of the condition. */
static void wake_here(excess *x, uint32_t thread, uint32_t e)
{
    uint8_t kind = x->f->s->trace->kind[e];
    if (kind == FT_EVENT_SIGNAL) raise_all(x, thread, -1);
    if (kind == FT_EVENT_COND_WAKE) raise_all(x, thread, 1);
    if (kind == FT_EVENT_BROADCAST || kind == FT_EVENT_COND_WAIT) forget_all(x, thread);
}

static void follow_lock(excess *x, uint32_t thread, uint32_t e)
{
    const ft_order *order = x->f->s->order;
    uint32_t section = order->section_of[e];
    if (section == FT_NO_SECTION || order->sections.data[section].lock != x->c->lock) return;
    x->inside[thread] = order->sections.data[section].release != e;
}

static bool is_of(const flow *f, const condition *c, uint32_t e)
{
    static const bool OF[FT_EVENT_KINDS] = {[FT_EVENT_SIGNAL] = true,
                                            [FT_EVENT_BROADCAST] = true,
                                            [FT_EVENT_COND_WAIT] = true,
                                            [FT_EVENT_COND_WAKE] = true};
    return OF[f->s->trace->kind[e]] && f->s->trace->object[e] == c->id;
}

static void follow_threads(excess *x)
{
    const ft_trace *trace = x->f->s->trace;
    walk w = {.f = x->f};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t thread = trace->thread[e];
        doing now = {0};
        walk_on(&w, e, &now);
        if (ft_standstill_may_rest(x->f->s, e)) rest_here(x, thread);
        if (now.has_written) add_here(x, thread, now.added);
        if (is_of(x->f, x->c, e)) wake_here(x, thread, e);
        follow_lock(x, thread, e);
        if (!x->inside[thread]) begin_here(x, thread);
    }
    for (uint32_t t = 0; t < x->f->s->order->n_threads; t++) rest_here(x, t);
}

/* The least that a change adds or takes. */
static void find_units(excess *x)
{
    walk w = {.f = x->f};
    for (uint32_t m = 0; m < x->f->n; m++) x->unit[m] = MOST_UNIT;
    for (uint32_t e = 0; e < x->f->s->trace->n_events; e++) {
        doing now = {0};
        walk_on(&w, e, &now);
        for (uint32_t m = 0; now.has_written && m < x->f->n; m++) {
            int64_t size = now.added[m] < 0 ? -now.added[m] : now.added[m];
            if (size && size < x->unit[m]) x->unit[m] = size;
        }
    }
}

/* Of the measure at all waits for the condition; empty: it is not known at one of them, or has
 * another lock. */
static span at_waits(const flow *f, const condition *c, uint32_t m)
{
    span at = NOTHING;
    if (f->levels.all[f->measures[m].plus].lock != c->lock) return at;
    for (size_t i = 0; i < f->levels.waits.len; i++) {
        const ft_level_wait *wait = &f->levels.waits.data[i];
        if (wait->condition != c->id) continue;
        if (!has_measure(f, m, wait)) return NOTHING;
        include(&at, measure_at(f, m, wait));
    }
    return at;
}

static void bound_by_last_wait(flow *f, condition *c)
{
    uint32_t n = f->s->order->n_threads;
    excess x = {.f = f, .c = c};
    x.most = ft_calloc((size_t)n * MOST * WAYS + 1, sizeof *x.most);
    x.inside = ft_calloc((size_t)n + 1, sizeof *x.inside);
    find_units(&x);
    follow_threads(&x);
    for (uint32_t m = 0; m < f->n; m++) {
        span at = at_waits(f, c, m);
        c->last[m] = ANYTHING;
        if (f->measures[m].blind || is_empty(at)) continue;
        if (!x.over[m][UP]) c->last[m].high = at.high;
        if (!x.over[m][DOWN]) c->last[m].low = at.low;
    }
    free(x.most);
    free(x.inside);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void add_place(flow *f, uint32_t thread, uint32_t position, uint32_t wake,
                      const doing *by_then)
{
    place p = {.thread = thread, .position = position, .wait = FT_NO_EVENT, .by_then = *by_then};
    if (wake != FT_NO_EVENT && f->s->trace->kind[wake] == FT_EVENT_COND_WAKE)
        p.wait = ft_order_wake(f->s->order, wake)->wait;
    for (uint32_t m = 0; m < f->n; m++) p.bounds[m] = ANYTHING;
    ft_vec_push(&f->places, p);
}

static int by_place(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void sort_places(flow *f)
{
    uint32_t n = f->s->order->n_threads;
    f->first = ft_calloc((size_t)n + 2, sizeof *f->first);
    if (f->places.len) qsort(f->places.data, f->places.len, sizeof(place), by_place);
    for (size_t i = 0; i < f->places.len; i++) f->first[f->places.data[i].thread + 1]++;
    for (uint32_t t = 0; t < n; t++) f->first[t + 1] += f->first[t];
}

static void find_places(flow *f)
{
    const ft_standstill *s = f->s;
    uint32_t n = s->order->n_threads;
    doing *by_then = ft_calloc((size_t)n + 1, sizeof *by_then);
    walk w = {.f = f};
    for (uint32_t t = 0; t < n; t++)
        if (ft_standstill_may_be_unstarted(s, t)) add_place(f, t, 0, FT_NO_EVENT, &by_then[t]);
    for (uint32_t e = 0; e < s->trace->n_events && f->places.len < MOST_PLACES; e++) {
        uint32_t t = s->trace->thread[e];
        if (ft_standstill_may_rest(s, e)) add_place(f, t, s->order->position[e], e, &by_then[t]);
        walk_on(&w, e, &by_then[t]);
    }
    for (uint32_t t = 0; t < n; t++)
        add_place(f, t, s->order->thread_start[t + 1] - s->order->thread_start[t], FT_NO_EVENT,
                  &by_then[t]);
    f->idle |= f->places.len >= MOST_PLACES;
    free(by_then);
    sort_places(f);
}

static void bound_places(flow *f)
{
    for (uint32_t i = 0; i < f->n_conditions; i++) {
        condition *c = &f->conditions[i];
        if (c->lock == UINT32_MAX) continue;
        for (uint32_t level = 0; level < f->levels.n; level++)
            if (f->levels.all[level].lock == c->lock) bound_by_own_wait(f, c, level);
        bound_by_last_wait(f, c);
        for (size_t k = 0; k < f->places.len; k++) {
            place *p = &f->places.data[k];
            const ft_level_wait *wait = ft_levels_wait(&f->levels, p->wait);
            if (!wait || wait->condition != c->id) continue;
            for (uint32_t m = 0; m < f->n; m++) p->bounds[m] = meet(p->bounds[m], c->last[m]);
        }
    }
}

ft_standstill_flow *ft_standstill_flow_new(const ft_standstill *s)
{
    flow *f = ft_calloc(1, sizeof *f);
    f->s = s;
    f->idle = s->problem->wakeups != FT_WAKEUPS_ANY;
    if (f->idle) return f;
    ft_levels_find(&f->levels, s->problem);
    f->idle = f->levels.n == 0;
    if (f->idle) return f;
    find_measures(f);
    find_conditions(f);
    find_places(f);
    if (!f->idle) bound_places(f);
    return f;
}

void ft_standstill_flow_free(ft_standstill_flow *f)
{
    if (!f) return;
    ft_levels_release(&f->levels);
    ft_vec_release(&f->places);
    free(f->first);
    free(f);
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* What a thread can have done where it may be at rest. */
typedef struct done {
    bool any; /* there is such a place */
    span added[MOST];
    span written[FT_LEVELS_MOST];
    uint32_t has_written; /* a bit for each level: at all these places */
} done;

/* Of each measure: what it can be in the end, and the sum of what the threads can have added. */
typedef struct guess {
    span end[MOST], sum[MOST];
} guess;

static void add_doing(const flow *f, const doing *one, done *all)
{
    all->any = true;
    all->has_written &= one->has_written;
    for (uint32_t m = 0; m < f->n; m++) include(&all->added[m], one->added[m]);
    for (uint32_t level = 0; level < f->levels.n; level++)
        if (one->has_written >> level & 1) include(&all->written[level], one->written[level]);
}

static void begin_done(done *all)
{
    *all = (done){.has_written = UINT32_MAX};
    for (uint32_t m = 0; m < MOST; m++) all->added[m] = NOTHING;
    for (uint32_t level = 0; level < FT_LEVELS_MOST; level++) all->written[level] = NOTHING;
}

/* With the thread there, and elsewhere as `before` says: is anything left? before: NULL at first.
 */
static bool may_be_at(const flow *f, const place *p, const guess *g, const done *before)
{
    for (uint32_t m = 0; m < f->n; m++) {
        span end = meet(g->end[m], p->bounds[m]);
        int64_t added = p->by_then.added[m];
        if (before && !f->measures[m].blind)
            end = meet(end, (span){g->sum[m].low - before->added[m].low + added,
                                   g->sum[m].high - before->added[m].high + added});
        if (is_empty(end)) return false;
    }
    return true;
}

/* Over the places that are left from that position on. */
static void look_at_thread(flow *f, uint32_t thread, uint32_t from, const guess *g, bool again,
                           done *all)
{
    done now;
    begin_done(&now);
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
        const place *p = &f->places.data[i];
        if (p->position >= from && may_be_at(f, p, g, again ? all : NULL))
            add_doing(f, &p->by_then, &now);
    }
    f->work += f->first[thread + 1] - f->first[thread];
    *all = now;
}

static const place *place_of(const flow *f, uint32_t thread, uint32_t position)
{
    place key = {.thread = thread, .position = position};
    return bsearch(&key, f->places.data, f->places.len, sizeof key, by_place);
}

/* A level in the end is the sum of what was added, and what one of the threads wrote last, or what
 * it was at first. False: nothing is left. */
static bool guess_end(const flow *f, const done *all, guess *g)
{
    uint32_t n = f->s->order->n_threads;
    for (uint32_t m = 0; m < f->n; m++) {
        span sum = {0, 0}, last = NOTHING;
        bool written = false;
        for (uint32_t t = 0; t < n; t++) {
            sum = (span){sum.low + all[t].added[m].low, sum.high + all[t].added[m].high};
            if (m >= f->levels.n) continue;
            written |= all[t].has_written >> m & 1;
            if (!is_empty(all[t].written[m])) {
                include(&last, all[t].written[m].low);
                include(&last, all[t].written[m].high);
            }
        }
        if (!written) include(&last, 0);
        g->sum[m] = sum;
        if (!f->measures[m].blind) g->end[m] = meet(g->end[m], sum);
        if (m < f->levels.n) g->end[m] = meet(g->end[m], last);
        if (is_empty(g->end[m])) return false;
    }
    return true;
}

/* One more look at all threads; false: nothing is left. The one of `at` is nowhere else. */
static bool look(flow *f, const uint32_t *reached, const place *at, guess *g, done *all, bool again)
{
    for (uint32_t t = 0; t < f->s->order->n_threads; t++) {
        if (t != at->thread) look_at_thread(f, t, reached[t], g, again, &all[t]);
        if (t == at->thread) begin_done(&all[t]);
        if (t == at->thread) add_doing(f, &at->by_then, &all[t]);
        if (!all[t].any) return false;
    }
    return guess_end(f, all, g);
}

bool ft_standstill_flow_refutes(ft_standstill_flow *f, uint32_t event, const uint32_t *reached)
{
    if (f->idle || f->work > MOST_WORK) return false;
    const place *at = place_of(f, f->s->trace->thread[event], f->s->order->position[event]);
    if (!at) return false;
    guess g, before;
    done *all = ft_calloc((size_t)f->s->order->n_threads + 1, sizeof *all);
    memcpy(g.end, at->bounds, sizeof g.end);
    bool left = true;
    for (int round = 0; round < ROUNDS && left; round++) {
        before = g;
        left = look(f, reached, at, &g, all, round > 0);
        if (round > 1 && memcmp(before.end, g.end, f->n * sizeof *g.end) == 0) break;
    }
    free(all);
    return !left;
}
