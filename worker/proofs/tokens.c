#include "proofs/tokens.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/partition.h"

#define NO_SET UINT32_MAX

/* A wait or post of a thread, for a semaphore of a set. */
typedef struct change {
    uint32_t position;
    int32_t has;   /* units that the thread has after it */
    int32_t least; /* of `has` from here on */
} change;

/* A thread's changes in a set. */
typedef struct use {
    uint32_t set, thread;
    uint32_t first, n; /* in changes */
    int32_t least;     /* of what the thread has anywhere, 0 at first */
} use;

typedef struct set {
    int64_t units; /* at first */
    int64_t least; /* the sum of the threads' least */
    bool broken;   /* in the run a wait took a unit that no recorded post gave */
} set;

struct ft_tokens {
    const ft_trace *trace;
    const ft_order *order;
    uint32_t *tied;         /* [semaphores] a partition */
    uint32_t *together;     /* [semaphores] the set of those tied to it, NO_SET: it is alone */
    FT_VEC(set) sets;       /* the semaphores' own first */
    FT_VEC(use) uses;       /* by thread, then by set */
    uint32_t *uses_of;      /* [threads + 1] slices */
    FT_VEC(change) changes; /* by use, in program order */
};

/* ---- the sets */

static bool is_wait(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_WAIT && !ft_trace_is_blocked(trace, e);
}

/* A post returns the unit that its thread waited for last. */
static void tie_those_of(ft_tokens *t, uint32_t thread)
{
    const ft_trace *trace = t->trace;
    FT_VEC(uint32_t) held = {0};
    for (uint32_t i = t->order->thread_start[thread]; i < t->order->thread_start[thread + 1]; i++) {
        uint32_t e = t->order->thread_events[i];
        if (is_wait(trace, e)) ft_vec_push(&held, trace->object[e]);
        if (trace->kind[e] == FT_EVENT_POST && held.len)
            ft_partition_join(t->tied, trace->object[e], held.data[--held.len]);
    }
    ft_vec_release(&held);
}

static void make_sets(ft_tokens *t)
{
    uint32_t n = t->trace->semaphores.len;
    for (uint32_t thread = 0; thread < t->order->n_threads; thread++) tie_those_of(t, thread);
    for (uint32_t s = 0; s < n; s++) {
        t->together[s] = NO_SET;
        ft_vec_push(&t->sets, (set){.units = t->trace->semaphore_initial[s]});
    }
    for (uint32_t s = 0; s < n; s++) {
        uint32_t root = ft_partition_root(t->tied, s);
        if (root == s) continue;
        if (t->together[root] == NO_SET) {
            t->together[root] = (uint32_t)t->sets.len;
            ft_vec_push(&t->sets, (set){.units = t->trace->semaphore_initial[root]});
        }
        t->together[s] = t->together[root];
        t->sets.data[t->together[s]].units += t->trace->semaphore_initial[s];
    }
}

static void find_broken(ft_tokens *t)
{
    const ft_trace *trace = t->trace;
    int64_t *units = ft_calloc(trace->semaphores.len + 1, sizeof *units);
    for (uint32_t s = 0; s < trace->semaphores.len; s++) units[s] = trace->semaphore_initial[s];
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t s = trace->object[e];
        if (trace->kind[e] == FT_EVENT_POST) units[s]++;
        if (!is_wait(trace, e) || --units[s] >= 0) continue;
        t->sets.data[s].broken = true;
        if (t->together[s] != NO_SET) t->sets.data[t->together[s]].broken = true;
    }
    free(units);
}

/* ---- the threads' changes */

static void add_change(ft_tokens *t, use *u, uint32_t position, int32_t by)
{
    assert(!u->n || t->changes.data[u->first + u->n - 1].position < position);
    int32_t had = u->n ? t->changes.data[u->first + u->n - 1].has : 0;
    ft_vec_push(&t->changes, (change){.position = position, .has = had + by});
    u->n++;
    if (had + by < u->least) u->least = had + by;
}

static void find_least(ft_tokens *t, const use *u)
{
    for (uint32_t i = u->n; i-- > 0;) {
        change *c = &t->changes.data[u->first + i];
        c->least = i + 1 < u->n && c[1].least < c->has ? c[1].least : c->has;
        assert(c->least <= c->has && c->least >= u->least);
    }
}

static void add_use(ft_tokens *t, uint32_t thread, uint32_t which)
{
    const ft_trace *trace = t->trace;
    use u = {.set = which, .thread = thread, .first = (uint32_t)t->changes.len};
    uint32_t start = t->order->thread_start[thread];
    for (uint32_t i = start; i < t->order->thread_start[thread + 1]; i++) {
        uint32_t e = t->order->thread_events[i], s = trace->object[e];
        bool posts = trace->kind[e] == FT_EVENT_POST;
        if (!posts && !is_wait(trace, e)) continue;
        if (s == which || t->together[s] == which) add_change(t, &u, i - start, posts ? -1 : 1);
    }
    assert(u.n > 0 && u.first + u.n == t->changes.len);
    find_least(t, &u);
    t->sets.data[which].least += u.least;
    ft_vec_push(&t->uses, u);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Adds a use for each set that the thread has changes in, in the order of the sets. */
static void add_uses_of(ft_tokens *t, uint32_t thread)
{
    FT_VEC(uint32_t) used = {0};
    for (uint32_t i = t->order->thread_start[thread]; i < t->order->thread_start[thread + 1]; i++) {
        uint32_t e = t->order->thread_events[i], s = t->trace->object[e];
        if (t->trace->kind[e] != FT_EVENT_POST && !is_wait(t->trace, e)) continue;
        ft_vec_push(&used, s);
        if (t->together[s] != NO_SET) ft_vec_push(&used, t->together[s]);
    }
    if (used.len) qsort(used.data, used.len, sizeof *used.data, by_number);
    for (size_t i = 0; i < used.len; i++)
        if (!i || used.data[i] != used.data[i - 1]) add_use(t, thread, used.data[i]);
    ft_vec_release(&used);
}

bool ft_tokens_are_sound(const ft_tokens *t)
{
    for (size_t i = 0; i < t->sets.len; i++)
        if (t->sets.data[i].units < 0 || t->sets.data[i].least > 0) return false;
    for (uint32_t thread = 0; thread < t->order->n_threads; thread++)
        for (uint32_t i = t->uses_of[thread]; i < t->uses_of[thread + 1]; i++) {
            const use *u = &t->uses.data[i];
            if (u->thread != thread || u->set >= t->sets.len || u->least > 0) return false;
            if (i > t->uses_of[thread] && u[-1].set >= u->set) return false;
        }
    return t->uses_of[t->order->n_threads] == t->uses.len;
}

ft_tokens *ft_tokens_new(const ft_trace *trace, const ft_order *order)
{
    FT_REQUIRE(trace && order);
    uint32_t n = trace->semaphores.len;
    if (!n) return NULL;
    ft_tokens *t = ft_calloc(1, sizeof *t);
    *t = (ft_tokens){.trace = trace,
                     .order = order,
                     .tied = ft_partition_new(n),
                     .together = ft_calloc(n, sizeof *t->together),
                     .uses_of = ft_calloc((size_t)order->n_threads + 1, sizeof *t->uses_of)};
    make_sets(t);
    find_broken(t);
    for (uint32_t thread = 0; thread < order->n_threads; thread++) {
        t->uses_of[thread] = (uint32_t)t->uses.len;
        add_uses_of(t, thread);
    }
    t->uses_of[order->n_threads] = (uint32_t)t->uses.len;
    FT_CHECK(ft_tokens_are_sound(t));
    return t;
}

void ft_tokens_free(ft_tokens *t)
{
    if (!t) return;
    free(t->tied);
    free(t->together);
    free(t->uses_of);
    ft_vec_release(&t->sets);
    ft_vec_release(&t->uses);
    ft_vec_release(&t->changes);
    free(t);
}

/* ---- claims */

/* The number of changes before that position. */
static uint32_t changes_before(const ft_tokens *t, const use *u, uint32_t position)
{
    uint32_t from = 0, to = u->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (t->changes.data[u->first + middle].position < position)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The least number of units that the thread has at that place. */
static int64_t least_at(const ft_tokens *t, const use *u, const ft_tokens_place *p)
{
    const change *all = t->changes.data + u->first;
    uint32_t i = changes_before(t, u, p->from);
    int64_t least = i ? all[i - 1].has : 0;
    if (p->to == UINT32_MAX) return i < u->n && all[i].least < least ? all[i].least : least;
    for (; i < u->n && all[i].position < p->to; i++)
        if (all[i].has < least) least = all[i].has;
    return least;
}

static bool set_excludes(const ft_tokens *t, const use *mine, const ft_tokens_place *a,
                         const use *other, const ft_tokens_place *b)
{
    const set *s = &t->sets.data[mine->set];
    int64_t others = s->least - mine->least - other->least;
    assert(others <= 0 && s->units >= 0);
    return !s->broken && least_at(t, mine, a) + least_at(t, other, b) + others > s->units;
}

bool ft_tokens_exclude(const ft_tokens *t, const ft_tokens_place *a, const ft_tokens_place *b)
{
    FT_REQUIRE(t && a->thread != b->thread && a->from <= a->to && b->from <= b->to);
    uint32_t i = t->uses_of[a->thread], end = t->uses_of[a->thread + 1];
    uint32_t k = t->uses_of[b->thread], stop = t->uses_of[b->thread + 1];
    while (i < end && k < stop) {
        const use *mine = &t->uses.data[i], *other = &t->uses.data[k];
        if (mine->set == other->set && set_excludes(t, mine, a, other, b)) return true;
        if (mine->set <= other->set) i++;
        if (other->set <= mine->set) k++;
    }
    return false;
}
