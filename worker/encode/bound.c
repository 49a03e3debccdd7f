/* The context bound (Wang et al. §6): how many context switches a schedule has.
 *
 * A schedule is cut into segments of one thread each, numbered from 0; `at least k` of an event is
 * a literal that implies nothing more than "in segment k or later". Segments are monotone along a
 * thread, an order between two threads puts the later event in a later segment, and each segment
 * below the highest level has one owner. A query assumes that no member is beyond its bound: these
 * assumptions are the bound, so a core without them is a proof for all bounds. */
#include <stdlib.h>

#include "base/contract.h"
#include "encode/partial.h"

struct ft_bound {
    uint32_t levels;
    FT_VEC(ft_lit) at_least; /* n_events literals for each level, from level 1 */
    FT_VEC(ft_lit) owners;   /* n_threads literals for each segment */
    ft_map limits;  /* thread << 32 | level -> no member of the thread is at that level or later */
    uint32_t extra; /* of the last bounded query */
    ft_lit active;
};

static ft_lit at_least(const ft_decider *d, uint32_t e, uint32_t level)
{
    if (level == 0) return FT_LIT_TRUE;
    assert(d->bound && level <= d->bound->levels);
    return d->bound->at_least.data[(size_t)(level - 1) * d->problem->trace->n_events + e];
}

/* as_extra: the query's extra event is executed though it is not a member. */
static ft_lit executed(const ft_decider *d, uint32_t e, bool as_extra)
{
    return as_extra && e == d->bound->extra ? d->bound->active : d->member[e];
}

/* Where `from` is before `to`, which is of another thread, `to` is in a later segment. */
static void later_segment(ft_decider *d, ft_lit order, uint32_t from, uint32_t to, uint32_t level,
                          bool as_extra)
{
    ft_lit clause[5] = {-executed(d, from, as_extra), -executed(d, to, as_extra), -order,
                        -at_least(d, from, level - 1), at_least(d, to, level)};
    ft_partial_clause(d, clause, 5);
}

/* A hard source that is passed over is in the segment of the events around it. */
static void later_than_source(ft_decider *d, uint32_t source, uint32_t e, uint32_t level,
                              bool as_extra)
{
    ft_lit clause[4] = {-d->reached[source], -executed(d, e, as_extra),
                        -at_least(d, source, level - 1), at_least(d, e, level)};
    ft_partial_clause(d, clause, 4);
}

static void atom_level(ft_decider *d, const ft_atom *atom, uint32_t level, bool as_extra)
{
    const uint16_t *thread = d->problem->trace->thread;
    assert(atom->a < atom->b && atom->reversed > FT_LIT_TRUE);
    if (thread[atom->a] == thread[atom->b]) return;
    later_segment(d, -atom->reversed, atom->a, atom->b, level, as_extra);
    later_segment(d, atom->reversed, atom->b, atom->a, level, as_extra);
}

static void event_level(ft_decider *d, uint32_t e, uint32_t level, bool as_extra)
{
    const ft_trace *trace = d->problem->trace;
    const ft_order *order = d->problem->order;
    const uint32_t *sources;
    uint32_t previous = ft_order_previous(order, e);
    assert(level > 0 && (size_t)level * order->n_threads <= d->bound->owners.len);
    ft_lit owner = d->bound->owners.data[(level - 1) * order->n_threads + trace->thread[e]];
    ft_partial_implies(d, at_least(d, e, level), at_least(d, e, level - 1));
    if (previous != FT_NO_EVENT)
        ft_partial_implies(d, at_least(d, previous, level), at_least(d, e, level));
    uint32_t count = ft_order_hard_sources(order, e, &sources);
    for (uint32_t i = 0; i < count; i++)
        if (trace->thread[sources[i]] != trace->thread[e])
            later_than_source(d, sources[i], e, level, as_extra);
    ft_lit owned[4] = {-executed(d, e, as_extra), -at_least(d, e, level - 1), at_least(d, e, level),
                       owner};
    ft_partial_clause(d, owned, 4);
}

static void add_level(ft_decider *d)
{
    ft_bound *b = d->bound;
    uint32_t n = d->problem->trace->n_events, threads = d->problem->order->n_threads;
    uint32_t level = ++b->levels;
    for (uint32_t e = 0; e < n; e++) ft_vec_push(&b->at_least, ft_session_variable(d->session));
    for (uint32_t t = 0; t < threads; t++) ft_vec_push(&b->owners, ft_session_variable(d->session));
    ft_session_at_most(d->session, b->owners.data + (size_t)(level - 1) * threads, threads, 1);
    for (uint32_t e = 0; e < n; e++)
        if (ft_partial_in(d, e)) event_level(d, e, level, false);
    for (size_t i = 0; i < d->atom_list.len; i++)
        atom_level(d, &d->atom_list.data[i], level, false);
}

void ft_bound_free(ft_bound *b)
{
    if (!b) return;
    ft_vec_release(&b->at_least);
    ft_vec_release(&b->owners);
    ft_map_release(&b->limits);
    free(b);
}

static bool is_extra(const ft_decider *d, const ft_atom *atom)
{
    return d->bound->extra != FT_NO_EVENT &&
           (atom->a == d->bound->extra || atom->b == d->bound->extra);
}

void ft_bound_atom(ft_decider *d, const ft_atom *atom)
{
    ft_atom copy = *atom; /* the list may grow */
    for (uint32_t level = 1; level <= d->bound->levels; level++) {
        atom_level(d, &copy, level, false);
        if (is_extra(d, &copy)) atom_level(d, &copy, level, true);
    }
}

/* ---- queries ------------------------------------------------------------------------------- */

/* The literal: no member of the thread is at the level or later. */
static ft_lit thread_limit(ft_decider *d, uint32_t thread, uint32_t level)
{
    const ft_order *order = d->problem->order;
    bool inserted;
    uint64_t key = (uint64_t)thread << 32 | level;
    uint64_t *slot = ft_map_slot(&d->bound->limits, key, 0, &inserted);
    if (!inserted) return (ft_lit)*slot;
    ft_lit limit = ft_session_variable(d->session);
    *slot = (uint64_t)limit;
    for (uint32_t i = order->thread_start[thread]; i < order->thread_start[thread + 1]; i++) {
        uint32_t e = order->thread_events[i];
        if (!ft_partial_in(d, e)) break;
        ft_lit clause[3] = {-limit, -d->member[e], -at_least(d, e, level)};
        ft_partial_clause(d, clause, 3);
    }
    return limit;
}

/* The number of runs of one thread among the final events. */
static uint32_t count_runs(const ft_trace *trace, const ft_claim *claim)
{
    uint32_t count = 1;
    for (uint32_t i = ft_claim_first_final(claim->kind) + 1; i < ft_claim_events(claim); i++)
        count += trace->thread[claim->events[i]] != trace->thread[claim->events[i - 1]];
    return count;
}

/* May a final event of the thread come first? Those of an unordered claim take the best order
 * (ft_witness_switches), others the claim's. */
static bool may_be_first(const ft_trace *trace, const ft_claim *claim, uint32_t thread)
{
    bool alike = ft_claim_is_unordered(claim->kind);
    uint32_t first = ft_claim_first_final(claim->kind);
    uint32_t end = alike ? ft_claim_events(claim) : first + 1;
    for (uint32_t i = first; i < end; i++)
        if (trace->thread[claim->events[i]] == thread) return true;
    return false;
}

/* The extra event is executed though it is not a member: it gets the constraints of members. */
static void place_extra(ft_decider *d, const ft_query *q)
{
    d->bound->extra = q->extra;
    d->bound->active = q->active;
    if (q->extra == FT_NO_EVENT) return;
    for (uint32_t level = 1; level <= d->bound->levels; level++) {
        event_level(d, q->extra, level, true);
        for (size_t i = 0; i < d->atom_list.len; i++)
            if (is_extra(d, &d->atom_list.data[i]))
                atom_level(d, &d->atom_list.data[i], level, true);
    }
}

/* The last member is in segment `bound - (runs - 1)` if its thread also has the first final event,
 * else in the one before. */
void ft_bound_assume(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    FT_REQUIRE(q->bounded && q->bound != FT_NO_BOUND);
    const ft_trace *trace = d->problem->trace;
    uint32_t runs = count_runs(trace, claim), bound = q->bound;
    q->first_limit = (uint32_t)q->assumptions.len;
    if (runs > bound + 1) {
        ft_vec_push(&q->assumptions, FT_LIT_FALSE);
        return;
    }
    if (!d->bound) d->bound = ft_calloc(1, sizeof *d->bound);
    d->bound->extra = FT_NO_EVENT;
    while (d->bound->levels <= bound) add_level(d);
    place_extra(d, q);
    for (uint32_t t = 0; t < d->problem->order->n_threads; t++) {
        uint32_t level = bound + 1 - runs + may_be_first(trace, claim, t);
        ft_lit limit = thread_limit(d, t, level);
        ft_vec_push(&q->assumptions, limit);
        if (q->extra == FT_NO_EVENT || trace->thread[q->extra] != t) continue;
        ft_lit clause[3] = {-q->active, -limit, -at_least(d, q->extra, level)};
        ft_partial_clause(d, clause, 3);
    }
}

bool ft_bound_in_core(const ft_decider *d, const ft_query *q)
{
    FT_REQUIRE(q->first_limit <= q->assumptions.len);
    const ft_lit *core;
    uint32_t count = ft_session_core(d->session, &core);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = q->first_limit; k < q->assumptions.len; k++)
            if (core[i] == q->assumptions.data[k]) return true;
    return false;
}

uint32_t ft_bound_segment(const ft_decider *d, uint32_t e)
{
    uint32_t level = 0;
    FT_REQUIRE(d->bound);
    while (level < d->bound->levels && ft_session_true(d->session, at_least(d, e, level + 1)))
        level++;
    return level;
}
