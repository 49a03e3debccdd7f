/* Sleeping threads bound the levels, and levels exclude places where threads wait forever.
 *
 * Let thread T sleep at condition c in a final state, since its wait w. Waits for c that hard order
 * puts before w or behind its wake-up (those of other phases of the program) play no part in it.
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
 * sum, and what others' sleep says, leave nothing are dropped, until nothing changes. Where
 * something is left, the same is asked with somebody asleep at each condition: if nobody can be,
 * those places are dropped too. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "proofs/stuck/flow_internal.h"

enum { ROUNDS = 8, MOST_ASSUMED = 64 /* groups */ };
#define MOST_PLACES ((size_t)60 * 1000)
#define MOST_WORK   ((uint64_t)400 * 1000 * 1000)
#define MOST_UNIT   ((int64_t)1 << 24) /* so that as many as there are events fit */

typedef ft_stuck_flow flow;
typedef ft_flow_span span;
typedef ft_flow_doing doing;
typedef ft_flow_place place;
typedef ft_flow_measure measure;
typedef ft_flow_change change;

/* ---- measures -------------------------------------------------------------------------------- */

static int64_t weight(const measure *z, uint32_t level)
{
    assert(z->plus != z->minus);
    return (z->plus == level) - (z->minus == level);
}

static void find_measures(flow *f)
{
    const ft_level *all = f->levels.all;
    for (uint32_t i = 0; i < f->levels.n; i++)
        f->measures[f->n++] = (measure){i, UINT32_MAX, all[i].blind};
    for (uint32_t i = 0; i < f->levels.n; i++)
        for (uint32_t k = 0; k < i && f->n < FT_FLOW_MOST; k++)
            if (all[i].lock == all[k].lock && all[i].changes.len && all[k].changes.len &&
                !all[i].blind && !all[k].blind)
                f->measures[f->n++] = (measure){i, k, false};
}

/* ---- the changes ----------------------------------------------------------------------------- */

static int by_thread(const void *left, const void *right)
{
    const change *a = left, *b = right;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void list_changes(flow *f)
{
    const ft_stuck *s = f->s;
    for (uint32_t level = 0; level < f->levels.n; level++)
        for (size_t i = 0; i < f->levels.all[level].changes.len; i++) {
            const ft_level_change *c = &f->levels.all[level].changes.data[i];
            change one = {s->trace->thread[c->event], s->order->position[c->event], level,
                          c->before, c->after};
            ft_vec_push(&f->changes, one);
        }
    if (f->changes.len) qsort(f->changes.data, f->changes.len, sizeof(change), by_thread);
}

static void find_units(flow *f)
{
    for (uint32_t m = 0; m < f->n; m++) f->unit[m] = MOST_UNIT;
    for (size_t i = 0; i < f->changes.len; i++)
        for (uint32_t m = 0; m < f->n; m++) {
            const change *c = &f->changes.data[i];
            int64_t size = weight(&f->measures[m], c->level) * (c->after - c->before);
            if (size < 0) size = -size;
            if (size && size < f->unit[m]) f->unit[m] = size;
        }
}

ft_flow_walk ft_flow_begin(const flow *f, uint32_t thread, uint32_t position)
{
    change key = {.thread = thread, .position = position};
    size_t low = 0, high = f->changes.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_thread(&f->changes.data[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    FT_REQUIRE(thread < f->s->order->n_threads);
    return (ft_flow_walk){f, low};
}

void ft_flow_go_on(ft_flow_walk *w, uint32_t thread, uint32_t position, ft_flow_doing *now)
{
    const flow *f = w->flow;
    for (; w->next < f->changes.len; w->next++) {
        const change *c = &f->changes.data[w->next];
        if (c->thread != thread || c->position != position) return;
        assert(c->level < f->levels.n);
        now->has_written |= 1u << c->level;
        now->written[c->level] = c->after;
        for (uint32_t m = 0; m < f->n; m++)
            if (!f->measures[m].blind)
                now->added[m] += weight(&f->measures[m], c->level) * (c->after - c->before);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

static void add_place(flow *f, uint32_t thread, uint32_t position, uint32_t wake,
                      const doing *by_then)
{
    place p = {.thread = thread,
               .position = position,
               .wait = UINT32_MAX,
               .group = UINT32_MAX,
               .by_then = *by_then};
    const ft_level_wait *wait = NULL;
    if (wake != FT_NO_EVENT && f->s->trace->kind[wake] == FT_EVENT_COND_WAKE)
        wait = ft_levels_wait(&f->levels, ft_order_wake(f->s->order, wake)->wait);
    if (wait) p.wait = (uint32_t)(wait - f->levels.waits.data);
    if (wait) p.group = f->group_of[p.wait];
    assert(f->n <= FT_FLOW_MOST && (p.group == UINT32_MAX || p.group < f->groups.len));
    for (uint32_t m = 0; m < f->n; m++) p.bounds[m] = FT_FLOW_ANYTHING;
    ft_vec_push(&f->places, p);
}

static void find_places_of(flow *f, uint32_t thread)
{
    const ft_stuck *s = f->s;
    const uint32_t *events = s->order->thread_events + s->order->thread_start[thread];
    uint32_t n = s->order->thread_start[thread + 1] - s->order->thread_start[thread];
    ft_flow_walk w = ft_flow_begin(f, thread, 0);
    doing by_then = {0};
    if (ft_stuck_may_be_unstarted(s, thread)) add_place(f, thread, 0, FT_NO_EVENT, &by_then);
    for (uint32_t at = 0; at < n && f->places.len < MOST_PLACES; at++) {
        if (ft_stuck_possible(s, events[at])) add_place(f, thread, at, events[at], &by_then);
        ft_flow_go_on(&w, thread, at, &by_then);
    }
    add_place(f, thread, n, FT_NO_EVENT, &by_then);
}

static void find_places(flow *f)
{
    uint32_t n = f->s->order->n_threads;
    f->first = ft_calloc((size_t)n + 2, sizeof *f->first);
    for (uint32_t t = 0; t < n; t++) {
        find_places_of(f, t);
        f->first[t + 1] = (uint32_t)f->places.len;
    }
    f->idle |= f->places.len >= MOST_PLACES;
}

/* Changes are those of one thread after the other, in program order; places likewise; each measure
 * is of levels that exist, and its unit is positive. */
static bool flow_is_sound(const flow *f)
{
    for (size_t i = 1; i < f->changes.len; i++)
        if (by_thread(&f->changes.data[i - 1], &f->changes.data[i]) > 0) return false;
    for (uint32_t m = 0; m < f->n; m++) {
        const measure *z = &f->measures[m];
        if (z->plus >= f->levels.n || (z->minus != UINT32_MAX && z->minus >= f->levels.n))
            return false;
        if (f->unit[m] <= 0 || f->unit[m] > MOST_UNIT) return false;
    }
    for (uint32_t t = 0; t < f->s->order->n_threads; t++)
        for (uint32_t i = f->first[t]; i < f->first[t + 1]; i++)
            if (f->places.data[i].thread != t ||
                (i > f->first[t] && f->places.data[i - 1].position > f->places.data[i].position))
                return false;
    return true;
}

ft_stuck_flow *ft_stuck_flow_new(const ft_stuck *s)
{
    flow *f = ft_calloc(1, sizeof *f);
    f->s = s;
    f->idle = s->problem->wakeups != FT_WAKEUPS_ANY;
    if (f->idle) return f;
    ft_levels_find(&f->levels, s->problem);
    f->idle = f->levels.n == 0;
    if (f->idle) return f;
    find_measures(f);
    list_changes(f);
    find_units(f);
    ft_flow_find_groups(f);
    find_places(f);
    FT_CHECK(flow_is_sound(f));
    if (!f->idle) ft_flow_bound_places(f);
    return f;
}

void ft_stuck_flow_free(ft_stuck_flow *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->groups.len; i++) {
        free(f->groups.data[i].from);
        free(f->groups.data[i].to);
    }
    ft_levels_release(&f->levels);
    ft_vec_release(&f->changes);
    ft_vec_release(&f->groups);
    ft_vec_release(&f->by_group);
    ft_vec_release(&f->places);
    free(f->group_of);
    free(f->first);
    free(f);
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* The sums of a thread's changes at the places where it may wait forever. */
typedef struct done {
    bool any; /* there is such a place */
    span added[FT_FLOW_MOST];
    span written[FT_LEVELS_MOST];
    uint32_t has_written; /* a bit for each level: at all these places */
} done;

/* Of each measure: what it can be in the end, and the sum of what the threads can have added. */
typedef struct guess {
    span end[FT_FLOW_MOST], sum[FT_FLOW_MOST];
    uint32_t assumed;         /* a group: somebody sleeps there; UINT32_MAX: none */
    span there[FT_FLOW_MOST]; /* what can be then, over the places that are left */
} guess;

/* A claim, and what is known of it. */
typedef struct question {
    const place *at;
    const uint32_t *reached; /* [threads] */
    bool *awake;             /* [groups] nobody sleeps there */
    done *done;              /* [threads] */
} question;

static void add_doing(const flow *f, const doing *one, done *all)
{
    all->any = true;
    all->has_written &= one->has_written;
    for (uint32_t m = 0; m < f->n; m++) ft_flow_include(&all->added[m], one->added[m]);
    for (uint32_t level = 0; level < f->levels.n; level++)
        if (one->has_written >> level & 1)
            ft_flow_include(&all->written[level], one->written[level]);
}

static void empty(span *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) all[i] = FT_FLOW_NOTHING;
}

static void begin_done(done *all)
{
    *all = (done){.has_written = UINT32_MAX};
    empty(all->added, FT_FLOW_MOST);
    empty(all->written, FT_LEVELS_MOST);
}

static void include_there(const flow *f, const place *p, guess *g)
{
    for (uint32_t m = 0; m < f->n; m++) {
        ft_flow_include(&g->there[m], p->bounds[m].low);
        ft_flow_include(&g->there[m], p->bounds[m].high);
    }
}

static bool intersect_there(const flow *f, guess *g)
{
    bool left = true;
    for (uint32_t m = 0; m < f->n && g->assumed != UINT32_MAX; m++) {
        g->end[m] = ft_flow_intersect(g->end[m], g->there[m]);
        left &= !ft_flow_is_empty(g->end[m]);
    }
    return left;
}

/* With the thread there, and elsewhere as `before` says: is anything left? before: NULL at first.
 */
static bool may_be_at(const flow *f, const question *q, const place *p, const guess *g,
                      const done *before)
{
    if (p->group != UINT32_MAX && q->awake[p->group]) return false;
    for (uint32_t m = 0; m < f->n; m++) {
        span end = ft_flow_intersect(g->end[m], p->bounds[m]);
        int64_t added = p->by_then.added[m];
        if (before && !f->measures[m].blind)
            end = ft_flow_intersect(end, (span){g->sum[m].low - before->added[m].low + added,
                                                g->sum[m].high - before->added[m].high + added});
        if (ft_flow_is_empty(end)) return false;
    }
    return true;
}

/* Over the places that are left. */
static void look_at_thread(flow *f, const question *q, uint32_t thread, guess *g, bool again)
{
    done now;
    begin_done(&now);
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
        const place *p = &f->places.data[i];
        if (p->position < q->reached[thread] ||
            !may_be_at(f, q, p, g, again ? &q->done[thread] : NULL))
            continue;
        add_doing(f, &p->by_then, &now);
        if (p->group != UINT32_MAX && p->group == g->assumed) include_there(f, p, g);
    }
    f->work += f->first[thread + 1] - f->first[thread];
    q->done[thread] = now;
}

static int by_place(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
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
        span sum = {0, 0}, last = FT_FLOW_NOTHING;
        bool written = false;
        for (uint32_t t = 0; t < n; t++) {
            sum = (span){sum.low + all[t].added[m].low, sum.high + all[t].added[m].high};
            if (m >= f->levels.n) continue;
            written |= all[t].has_written >> m & 1;
            if (!ft_flow_is_empty(all[t].written[m])) {
                ft_flow_include(&last, all[t].written[m].low);
                ft_flow_include(&last, all[t].written[m].high);
            }
        }
        if (!written) ft_flow_include(&last, 0);
        g->sum[m] = sum;
        if (!f->measures[m].blind) g->end[m] = ft_flow_intersect(g->end[m], sum);
        if (m < f->levels.n) g->end[m] = ft_flow_intersect(g->end[m], last);
        if (ft_flow_is_empty(g->end[m])) return false;
    }
    return true;
}

/* One more look at all threads; false: nothing is left. The claim's thread is nowhere else. */
static bool look(flow *f, const question *q, guess *g, bool again)
{
    empty(g->there, FT_FLOW_MOST);
    for (uint32_t t = 0; t < f->s->order->n_threads; t++) {
        if (t == q->at->thread) {
            begin_done(&q->done[t]);
            add_doing(f, &q->at->by_then, &q->done[t]);
        } else {
            look_at_thread(f, q, t, g, again);
        }
        if (!q->done[t].any) return false;
    }
    return intersect_there(f, g) && guess_end(f, q->done, g);
}

/* assumed: see guess. */
static bool is_refuted(flow *f, const question *q, uint32_t assumed)
{
    guess g = {.assumed = assumed}, before;
    memcpy(g.end, q->at->bounds, sizeof g.end);
    for (int round = 0; round < ROUNDS; round++) {
        before = g;
        if (!look(f, q, &g, round > 0)) return true;
        if (round > 1 && memcmp(before.end, g.end, f->n * sizeof *g.end) == 0) break;
    }
    return false;
}

/* Where nobody can sleep in a group, that is known from then on. True: of some more. */
static bool find_awake(flow *f, const question *q)
{
    bool more = false;
    for (uint32_t i = 0; i < f->groups.len && f->work <= MOST_WORK; i++) {
        if (q->awake[i] || i == q->at->group || !is_refuted(f, q, i)) continue;
        q->awake[i] = more = true;
    }
    return more;
}

bool ft_stuck_flow_refutes(ft_stuck_flow *f, uint32_t event, const uint32_t *reached)
{
    FT_REQUIRE(event < f->s->trace->n_events && reached);
    if (f->idle || f->work > MOST_WORK) return false;
    question q = {.at = place_of(f, f->s->trace->thread[event], f->s->order->position[event]),
                  .reached = reached};
    if (!q.at) return false;
    q.done = ft_calloc((size_t)f->s->order->n_threads + 1, sizeof *q.done);
    q.awake = ft_calloc(f->groups.len + 1, sizeof *q.awake);
    bool refuted = is_refuted(f, &q, UINT32_MAX);
    while (!refuted && f->groups.len <= MOST_ASSUMED && find_awake(f, &q))
        refuted = is_refuted(f, &q, UINT32_MAX);
    free(q.done);
    free(q.awake);
    return refuted;
}
