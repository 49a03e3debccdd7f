/* Races: all conflicting cross-thread pairs, counted site by site. */
#include <stdlib.h>

#include "candidate/candidate.h"

typedef struct pass {
    ft_candidates *c;
    uint64_t *concurrent; /* per thread: bit u: it is u, or no event of either is ordered with the
                             other's; 0 with more than 64 threads */
    uint64_t open_to;     /* what all threads of the left site are concurrent with */
    uint64_t *of_thread;  /* events of the left site, by thread */
    ft_claim sample;
} pass;

static bool conflict(const ft_site *a, const ft_site *b)
{
    return ((a->mode | b->mode) & FT_MODE_WRITE) && !(a->mode & b->mode & FT_MODE_ATOMIC);
}

/* Two events of several variables each may conflict on more than one: the pair counts once, at the
 * first variable. */
static bool counted_before(const ft_trace *trace, const ft_site *a, const ft_site *b)
{
    if (!a->only || !b->only) return false;
    ft_access sa, sb;
    uint32_t na, nb;
    const ft_access *xa = ft_trace_accesses(trace, a->only - 1, &sa, &na);
    const ft_access *xb = ft_trace_accesses(trace, b->only - 1, &sb, &nb);
    for (uint32_t i = 0; i < na; i++)
        for (uint32_t j = 0; j < nb; j++)
            if (xa[i].variable == xb[j].variable && (xa[i].write || xb[j].write) &&
                xa[i].variable < a->variable)
                return true;
    return false;
}

bool ft_candidates_open(const ft_candidates *c, const ft_class *a, const ft_class *b)
{
    FT_REQUIRE(a && b);
    return a->thread != b->thread && !ft_order_segments_before(c->order, a->segment, b->segment) &&
           !ft_order_segments_before(c->order, b->segment, a->segment);
}

/* Two threads without any order between them, fork and join apart: their last segments know
 * nothing of each other. */
static void find_concurrent(pass *p)
{
    const ft_order *order = p->c->order;
    uint32_t n = order->n_threads;
    for (uint32_t t = 0; t < n && n <= 64; t++) {
        p->concurrent[t] = (uint64_t)1 << t;
        for (uint32_t u = 0; u < n; u++) {
            uint32_t a = ft_order_last(order, t), b = ft_order_last(order, u);
            if (t == u || a == FT_NO_EVENT || b == FT_NO_EVENT) continue;
            const uint32_t *knows = order->clock + (size_t)order->segment[a] * n;
            const uint32_t *known = order->clock + (size_t)order->segment[b] * n;
            if (knows[u] == 0 && known[t] == 0) p->concurrent[t] |= (uint64_t)1 << u;
        }
    }
}

/* Makes a site the left one. */
static void enter(pass *p, const ft_site *a)
{
    const ft_class *classes = p->c->classes.data;
    p->open_to = UINT64_MAX;
    for (uint32_t i = a->first; i < a->first + a->count; i++) {
        p->of_thread[classes[i].thread] += classes[i].count;
        p->open_to &= p->concurrent[classes[i].thread];
    }
}

static void leave(pass *p, const ft_site *a)
{
    const ft_class *classes = p->c->classes.data;
    for (uint32_t i = a->first; i < a->first + a->count; i++) p->of_thread[classes[i].thread] = 0;
}

/* Pairs of events of different threads; a is the left site. */
static uint64_t cross_pairs(const pass *p, const ft_site *a, const ft_site *b)
{
    const ft_class *classes = p->c->classes.data;
    uint64_t total = a->events * b->events;
    assert(a->events && total / a->events == b->events); /* fewer than 2^32 each */
    if (!(a->threads & b->threads)) return total;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        total -= p->of_thread[classes[i].thread] * classes[i].count;
    assert(total <= a->events * b->events && (a != b || total % 2 == 0));
    return a == b ? total / 2 : total;
}

/* Pairs that the hard order leaves open. */
static uint64_t open_pairs(const pass *p, const ft_site *a, const ft_site *b)
{
    const ft_class *classes = p->c->classes.data;
    uint64_t open = 0;
    if (b->count >= FT_MANY_CLASSES) {
        for (uint32_t i = a->first; i < a->first + a->count; i++) {
            ft_segments s = {classes[i].segment, classes[i].segment, classes[i].thread};
            open += ft_candidates_open_events(p->c, &s, b) * classes[i].count;
        }
        return a == b ? open / 2 : open;
    }
    for (uint32_t i = a->first; i < a->first + a->count; i++)
        for (uint32_t j = a == b ? i + 1 : b->first; j < b->first + b->count; j++)
            if (ft_candidates_open(p->c, &classes[i], &classes[j]))
                open += (uint64_t)classes[i].count * classes[j].count;
    return open;
}

/* The first pair of different threads, for display: there is one where cross_pairs is positive. */
static void find_sample(pass *p, const ft_site *a, const ft_site *b)
{
    const ft_class *classes = p->c->classes.data;
    for (uint32_t i = a->first; i < a->first + a->count; i++)
        for (uint32_t j = b->first; j < b->first + b->count; j++) {
            uint32_t x = classes[i].first, y = classes[j].first;
            if (classes[i].thread == classes[j].thread) continue;
            p->sample.events[0] = x < y ? x : y;
            p->sample.events[1] = x < y ? y : x;
            p->sample.variable = a->variable;
            return;
        }
}

static void account(pass *p, uint32_t left, uint32_t right, ft_reason reason, uint32_t lock,
                    uint64_t count)
{
    const ft_site *a = &p->c->sites.data[left], *b = &p->c->sites.data[right];
    if (count == 0) return;
    find_sample(p, a, b);
    assert(p->sample.events[0] < p->sample.events[1] && p->sample.variable == a->variable);
    uint8_t kind = (a->mode & b->mode & FT_MODE_WRITE) != 0;
    ft_candidates_account(p->c, &(ft_claim_block){.check = FT_CHECK_RACE,
                                                  .kind = kind,
                                                  .loc = {a->loc, b->loc, FT_NO_LOC},
                                                  .n_locs = 2,
                                                  .reason = reason,
                                                  .lock = lock,
                                                  .count = count,
                                                  .block = {.left = left, .right = right},
                                                  .sample = &p->sample});
}

/* Of pairs that locks refute: how many the hard order refutes as well, as far as that is cheap. */
static void count_ordered(pass *p, const ft_site *a, const ft_site *b, uint64_t total)
{
    ft_pass_counts *passes = &p->c->passes[FT_CHECK_RACE];
    if ((b->threads & ~p->open_to) == 0 || passes->order_open) return;
    p->c->counted_class_pairs += (uint64_t)a->count * b->count;
    passes->order_open = p->c->counted_class_pairs > FT_MAX_COUNTED_CLASS_PAIRS;
    if (passes->order_open) return;
    uint64_t open = open_pairs(p, a, b);
    assert(open <= total);
    passes->by_order += total - open;
}

static void pair(pass *p, uint32_t left, uint32_t right)
{
    const ft_site *a = &p->c->sites.data[left], *b = &p->c->sites.data[right];
    if (!conflict(a, b) || counted_before(p->c->trace, a, b)) return;
    uint64_t total = cross_pairs(p, a, b);
    if (total == 0) return;
    uint32_t lock = ft_order_common_lock(p->c->order, a->lockset, b->lockset);
    if (lock != UINT32_MAX) {
        account(p, left, right, FT_REASON_LOCKSET, lock, total);
        count_ordered(p, a, b, total);
        return;
    }
    uint64_t open = (b->threads & ~p->open_to) == 0 ? total : open_pairs(p, a, b);
    assert(open <= total);
    account(p, left, right, FT_REASON_MUST_HAPPEN_BEFORE, UINT32_MAX, total - open);
    account(p, left, right, FT_REASONS, UINT32_MAX, open);
}

void ft_candidates_race(ft_candidates *c)
{
    size_t threads = (size_t)c->order->n_threads + 1;
    pass p = {.c = c,
              .concurrent = ft_calloc(threads, sizeof *p.concurrent),
              .of_thread = ft_calloc(threads, sizeof *p.of_thread),
              .sample = {.kind = FT_CLAIM_RACE, .events = {0, 0, FT_NO_EVENT}}};
    find_concurrent(&p);
    for (uint32_t v = 0; v < c->trace->shared.len; v++)
        for (uint32_t i = c->variable_sites[v]; i < c->variable_sites[v + 1]; i++) {
            enter(&p, &c->sites.data[i]);
            for (uint32_t j = i; j < c->variable_sites[v + 1]; j++) pair(&p, i, j);
            leave(&p, &c->sites.data[i]);
        }
    free(p.concurrent);
    free(p.of_thread);
    FT_CHECK(ft_candidates_add_up(c, FT_CHECK_RACE));
}
