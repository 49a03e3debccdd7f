#include "encode/partial.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "problem/faults.h"
#include "reduce/intervals/intervals.h"
#include "values/chain.h"

bool ft_partial_in(const ft_decider *d, uint32_t e)
{
    FT_REQUIRE(e < d->problem->trace->n_events);
    return !d->cone || d->cone[e];
}

void ft_partial_clause(ft_decider *d, const ft_lit *literals, uint32_t count)
{
    ft_session_clause(d->session, literals, count);
}

void ft_partial_implies(ft_decider *d, ft_lit premise, ft_lit conclusion)
{
    if (premise == FT_LIT_FALSE || conclusion == FT_LIT_TRUE || premise == conclusion) return;
    ft_partial_clause(d, (ft_lit[2]){-premise, conclusion}, 2);
}

static void implies(ft_decider *d, ft_lit premise, ft_lit conclusion)
{
    ft_partial_implies(d, premise, conclusion);
}

ft_lit ft_partial_gate(ft_decider *d, uint32_t a, uint32_t b)
{
    ft_lit before = ft_partial_before(d, a, b);
    if (before == FT_LIT_TRUE || before == FT_LIT_FALSE) return before;
    bool inserted;
    uint64_t *slot = ft_map_slot(&d->gates, (uint64_t)a << 32 | b, 0, &inserted);
    if (!inserted) return (ft_lit)*slot;
    ft_lit gate = ft_session_variable(d->session);
    assert(gate > FT_LIT_TRUE); /* the map's value is not negative */
    *slot = (uint64_t)gate;
    ft_partial_implies(d, gate, before);
    ft_vec_push(&d->asked, (ft_asked){gate, a, b});
    return gate;
}

ft_lit ft_partial_before(ft_decider *d, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a != b && a < d->problem->trace->n_events && b < d->problem->trace->n_events);
    if (ft_order_before(d->problem->order, a, b)) return FT_LIT_TRUE;
    if (ft_order_before(d->problem->order, b, a)) return FT_LIT_FALSE;
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    bool inserted;
    uint64_t *slot = ft_map_slot(&d->atoms, key, 0, &inserted);
    if (inserted) {
        ft_atom atom = {ft_session_variable(d->session), a < b ? a : b, a < b ? b : a};
        *slot = (uint64_t)atom.reversed;
        ft_session_order_atom(d->session, atom.reversed, atom.a, atom.b);
        ft_vec_push(&d->atom_list, atom);
        if (d->bound) ft_bound_atom(d, &atom);
        return a < b ? -atom.reversed : atom.reversed;
    }
    ft_lit reversed = (ft_lit)*slot;
    assert(reversed > FT_LIT_TRUE);
    return a < b ? -reversed : reversed;
}

bool ft_partial_lemma(ft_decider *d, const ft_lemma *lemma)
{
    ft_lit clause[5];
    uint32_t count = 0;
    FT_REQUIRE(lemma->n_premises <= 3 && lemma->n_alternatives <= 2);
    for (uint32_t i = 0; i < lemma->n_premises; i++) clause[count++] = -lemma->premise[i];
    for (uint32_t i = 0; i < lemma->n_alternatives; i++) {
        ft_lit gate = lemma->alternative[i].gate;
        clause[count++] =
            gate ? gate : ft_partial_before(d, lemma->alternative[i].a, lemma->alternative[i].b);
    }
    uint64_t hash = ft_hash_bytes(clause, count * sizeof *clause, count);
    bool inserted;
    ft_map_slot(&d->lemma_seen, hash, 0, &inserted);
    if (!inserted) return false;
    ft_partial_clause(d, clause, count);
    ft_vec_push(&d->lemmas, *lemma);
    return true;
}

ft_lemma ft_partial_between(const ft_decider *d, ft_lit from, uint32_t write, uint32_t reader,
                            uint32_t other)
{
    FT_REQUIRE(from != 0 && other != write && other != reader);
    ft_lemma lemma = {.premise = {from, d->member[other]}, .n_premises = 2};
    if (write != FT_NO_EVENT) {
        lemma.alternative[lemma.n_alternatives].a = other;
        lemma.alternative[lemma.n_alternatives++].b = write;
    }
    if (reader != FT_NO_EVENT) {
        lemma.alternative[lemma.n_alternatives].a = reader;
        lemma.alternative[lemma.n_alternatives++].b = other;
    }
    return lemma;
}

ft_lit ft_partial_closed(ft_decider *d, const ft_section *section, uint32_t event)
{
    const ft_section *all = d->problem->order->sections.data;
    FT_REQUIRE(section);
    FT_VEC(ft_lit) choice = {0};
    ft_lit closed = ft_session_variable(d->session);
    ft_vec_push(&choice, -closed);
    for (const ft_section *s = section; s; s = ft_section_otherwise(all, s)) {
        if (s->release == FT_NO_EVENT || !ft_partial_in(d, s->release)) continue;
        ft_lit here = ft_session_variable(d->session);
        implies(d, here, d->member[s->release]);
        if (event != FT_NO_EVENT) implies(d, here, ft_partial_gate(d, s->release, event));
        ft_vec_push(&choice, here);
    }
    ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
    return closed;
}

/* A literal that implies that the section is closed, and before the other one's acquire. */
static ft_lit closed_before(ft_decider *d, const ft_section *section, uint32_t acquire)
{
    uint32_t release = section->release;
    if (release == FT_NO_EVENT || !ft_partial_in(d, release))
        return ft_fault_is(FT_FAULT_OPEN_SECTION) ? FT_LIT_TRUE : FT_LIT_FALSE;
    if (section->otherwise != FT_NO_SECTION) return ft_partial_closed(d, section, acquire);
    ft_lit gate = ft_session_variable(d->session);
    if (!ft_fault_is(FT_FAULT_OPEN_SECTION)) implies(d, gate, d->member[release]);
    implies(d, gate, ft_partial_before(d, release, acquire));
    return gate;
}

static bool is_closed_after_acquire(const ft_decider *d, const ft_section *s)
{
    return s->release == FT_NO_EVENT || ft_order_before(d->problem->order, s->acquire, s->release);
}

bool ft_partial_keep_apart(ft_decider *d, uint32_t one, uint32_t other)
{
    uint32_t low = one < other ? one : other, high = one < other ? other : one;
    const ft_section *a = &d->problem->order->sections.data[low];
    const ft_section *b = &d->problem->order->sections.data[high];
    FT_REQUIRE(one != other && a->lock == b->lock);
    assert(is_closed_after_acquire(d, a) && is_closed_after_acquire(d, b));
    if (ft_fault_is(FT_FAULT_NO_RW) && (a->shared || b->shared)) return false;
    uint64_t key = (uint64_t)1 << 63 | (uint64_t)low << 32 | high;
    bool inserted;
    ft_map_slot(&d->lemma_seen, key, 0, &inserted);
    if (!inserted) return false;
    const ft_lit *taken = ft_fault_is(FT_FAULT_PASSED_HOLDS) ? d->reached : d->member;
    ft_lemma lemma = {
        .premise = {taken[a->acquire], taken[b->acquire]}, .n_premises = 2, .n_alternatives = 2};
    lemma.alternative[0].gate = closed_before(d, a, b->acquire);
    lemma.alternative[0].a = a->release == FT_NO_EVENT ? a->acquire : a->release;
    lemma.alternative[0].b = b->acquire;
    lemma.alternative[1].gate = closed_before(d, b, a->acquire);
    lemma.alternative[1].a = b->release == FT_NO_EVENT ? b->acquire : b->release;
    lemma.alternative[1].b = a->acquire;
    return ft_partial_lemma(d, &lemma);
}

/* ---- order ---- */

static void encode_static_order(ft_decider *d)
{
    const ft_order *order = d->problem->order;
    ft_session_order_begin(d->session, d->problem->trace->n_events);
    for (uint32_t e = 0; e < d->problem->trace->n_events; e++) {
        if (!ft_partial_in(d, e)) continue;
        uint32_t previous = ft_order_previous(order, e);
        const uint32_t *sources;
        if (previous != FT_NO_EVENT) ft_session_order_edge(d->session, previous, e);
        uint32_t count = ft_order_hard_sources(order, e, &sources);
        for (uint32_t i = 0; i < count; i++) ft_session_order_edge(d->session, sources[i], e);
    }
}

/* ---- membership --------------------------------------------------------------------------------
 */

/* An event in an arm is executed if its path holds, and otherwise passed over as soon as it is next
 * in its thread. */
static ft_lit executed_on(ft_decider *d, uint32_t e, uint32_t previous, ft_lit path)
{
    bool runs = ft_fault_is(FT_FAULT_PASSED_RUNS) && path != FT_LIT_FALSE;
    if (path == FT_LIT_TRUE || runs) return d->reached[e];
    ft_partial_clause(d, (ft_lit[3]){-d->reached[previous], path, d->reached[e]}, 3);
    if (path == FT_LIT_FALSE) return FT_LIT_FALSE;
    ft_lit member = ft_session_variable(d->session);
    implies(d, member, d->reached[e]);
    implies(d, member, path);
    ft_partial_clause(d, (ft_lit[3]){-d->reached[e], -path, member}, 3);
    return member;
}

static void encode_membership(ft_decider *d)
{
    const ft_order *order = d->problem->order;
    const ft_trace *trace = d->problem->trace;
    for (uint32_t i = 0; i < trace->n_events; i++) {
        uint32_t e = order->thread_events[i];
        if (!ft_partial_in(d, e)) continue;
        d->events++;
        uint32_t previous = ft_order_previous(order, e);
        assert(previous == FT_NO_EVENT || d->reached[previous] > FT_LIT_TRUE);
        d->reached[e] = ft_session_variable(d->session);
        if (previous != FT_NO_EVENT) implies(d, d->reached[e], d->reached[previous]);
        d->member[e] = executed_on(d, e, previous, ft_cssa_path(d->cssa, e));
        if (ft_problem_never(d->problem, e) || ft_trace_is_blocked(trace, e))
            ft_partial_clause(d, (ft_lit[1]){-d->member[e]}, 1);
    }
}

static void encode_hard_order(ft_decider *d)
{
    for (uint32_t e = 0; e < d->problem->trace->n_events; e++) {
        if (!ft_partial_in(d, e)) continue;
        uint8_t kind = d->problem->trace->kind[e];
        if (kind == FT_EVENT_JOIN && ft_fault_is(FT_FAULT_NO_JOIN)) continue;
        if (kind == FT_EVENT_BARRIER_LEAVE && ft_fault_is(FT_FAULT_NO_BARRIER)) continue;
        const uint32_t *sources;
        uint32_t count = ft_order_hard_sources(d->problem->order, e, &sources);
        const ft_lit *past = ft_fault_is(FT_FAULT_PASSED_BLOCKS) ? d->member : d->reached;
        for (uint32_t i = 0; i < count; i++) {
            assert(ft_partial_in(d, sources[i])); /* the cone is closed */
            implies(d, d->member[e], past[sources[i]]);
        }
    }
}

/* ---- reads -------------------------------------------------------------------------------------
 */

static void index_writers(ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t n = trace->shared.len, *first = ft_calloc((size_t)n + 2, sizeof *first);
    FT_VEC(uint32_t) pairs = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        if (!ft_partial_in(d, e) || ft_problem_never(d->problem, e)) continue;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (!accesses[i].write) continue;
            first[accesses[i].variable + 2]++;
            ft_vec_push(&pairs, accesses[i].variable);
            ft_vec_push(&pairs, e);
        }
    }
    for (uint32_t v = 0; v < n; v++) first[v + 2] += first[v + 1];
    d->writers = ft_alloc((pairs.len / 2 + 1) * sizeof *d->writers);
    for (size_t i = 0; i < pairs.len; i += 2)
        d->writers[first[pairs.data[i] + 1]++] = pairs.data[i + 1];
    d->writer_first = first;
    ft_vec_release(&pairs);
}

/* For each thread, the last write of the variable that the hard order puts before e and that is
 * executed whenever e is: an earlier write is overwritten in between. */
static void last_writes(const ft_decider *d, uint32_t e, uint32_t variable, uint32_t *last)
{
    const ft_order *order = d->problem->order;
    memset(last, 0xff, order->n_threads * sizeof *last);
    for (uint32_t i = d->writer_first[variable]; i < d->writer_first[variable + 1]; i++) {
        uint32_t w = d->writers[i], t = d->problem->trace->thread[w];
        if (w == e || !ft_order_before(order, w, e) || !ft_problem_certain(d->problem, w, e))
            continue;
        if (last[t] == FT_NO_EVENT || order->position[last[t]] < order->position[w]) last[t] = w;
    }
}

static bool overwritten(const ft_decider *d, uint32_t w, const uint32_t *last)
{
    const ft_order *order = d->problem->order;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        if (last[t] == FT_NO_EVENT || last[t] == w) continue;
        if (w == FT_NO_EVENT || ft_order_before(order, w, last[t])) return true;
        if (ft_fault_is(FT_FAULT_OVER_PRUNED) && w + 2 < last[t]) return true;
    }
    return false;
}

/* The only write that the read may read from. The hard order of a run keeps it possible. */
static void find_own_source(ft_decider *d, ft_read *read)
{
    uint32_t e = read->event, w = ft_run_source(d->problem->run, e, read->access);
    bool initial = w == FT_NO_EVENT && !ft_fault_is(FT_FAULT_LOST_INITIAL);
    bool written = w != FT_NO_EVENT && w != e && ft_partial_in(d, w) &&
                   !ft_problem_never(d->problem, w) && !ft_order_before(d->problem->order, e, w);
    if (initial || written) ft_vec_push(&d->sources, (ft_source){w, 0});
}

static void find_sources(ft_decider *d, ft_read *read, uint32_t *last)
{
    const ft_order *order = d->problem->order;
    uint32_t v = read->variable, e = read->event;
    read->first = (uint32_t)d->sources.len;
    if (ft_problem_demand(d->problem, e, read->access) == FT_DEMAND_SOURCE) {
        find_own_source(d, read);
        read->count = (uint32_t)d->sources.len - read->first;
        return;
    }
    last_writes(d, e, v, last);
    bool initial = !ft_fault_is(FT_FAULT_LOST_INITIAL);
    if (initial && !overwritten(d, FT_NO_EVENT, last) &&
        ft_intervals_may_read(d->problem, e, read->access, FT_NO_EVENT))
        ft_vec_push(&d->sources, (ft_source){FT_NO_EVENT, 0});
    for (uint32_t i = d->writer_first[v]; i < d->writer_first[v + 1]; i++) {
        uint32_t w = d->writers[i];
        if (w == e || ft_order_before(order, e, w) || overwritten(d, w, last)) continue;
        if (ft_intervals_may_read(d->problem, e, read->access, w))
            ft_vec_push(&d->sources, (ft_source){w, 0});
    }
    read->count = (uint32_t)d->sources.len - read->first;
    assert(read->count <= d->writer_first[v + 1] - d->writer_first[v] + 1);
}

static ft_expr source_value(ft_decider *d, uint32_t w, uint32_t variable)
{
    return w == FT_NO_EVENT ? ft_cssa_initial(d->cssa, variable)
                            : ft_cssa_write(d->cssa, w, variable);
}

/* Values are compared under ctp, where the read or the write is symbolic. */
static void encode_value(ft_decider *d, const ft_read *read, const ft_source *source)
{
    const ft_problem *p = d->problem;
    if (p->model != FT_MODEL_CTP) return;
    bool symbolic_write =
        source->write != FT_NO_EVENT && ft_trace_is_symbolic_event(p->trace, source->write);
    ft_expr value;
    if (ft_trace_is_symbolic_event(p->trace, read->event)) {
        value = ft_cssa_read(d->cssa, read->event, read->access);
    } else {
        ft_vid vid = ft_run_vid(p->run, read->event, read->access);
        /* A read without a value keeps its source and returns whatever that computes. */
        if (!symbolic_write || ft_problem_demand(p, read->event, read->access) != FT_DEMAND_VALUE)
            return;
        value = ft_session_value(d->session, ft_run_value(p->run, vid));
    }
    ft_expr same =
        ft_session_equal(d->session, value, source_value(d, source->write, read->variable));
    ft_session_imply(d->session, source->from, same);
}

static void encode_chain(ft_decider *d, const ft_read *read)
{
    uint32_t e = read->event;
    ft_value value;
    if (!ft_trace_is_symbolic_event(d->problem->trace, e)) return;
    const ft_writes writes = {d->writer_first, d->writers};
    if (!ft_chain_value(d->problem, &writes, e, e, read->variable, &value)) return;
    ft_expr same = ft_session_equal(d->session, ft_cssa_read(d->cssa, e, read->access),
                                    ft_session_value(d->session, value));
    ft_session_imply(d->session, d->member[e], same);
}

/* Where values are computed, only initial values can be unknown. */
static void avoid_unknown(ft_decider *d, const ft_read *read, const ft_source *source)
{
    const ft_problem *p = d->problem;
    if (p->model != FT_MODEL_CTP || source->write != FT_NO_EVENT) return;
    if (!ft_trace_is_symbolic_event(p->trace, read->event)) return;
    if (ft_problem_value_known(p, FT_NO_EVENT, read->variable)) return;
    if (d->avoid == FT_LIT_TRUE) d->avoid = ft_session_variable(d->session);
    ft_partial_clause(d, (ft_lit[2]){-d->avoid, -source->from}, 2);
}

static void encode_read(ft_decider *d, ft_read *read, uint32_t *last)
{
    find_sources(d, read, last);
    ft_lit member = d->member[read->event];
    FT_VEC(ft_lit) choice = {0};
    ft_vec_push(&choice, -member);
    for (uint32_t i = 0; i < read->count; i++) {
        ft_source *source = &d->sources.data[read->first + i];
        assert(source->write != read->event && source->from == 0);
        source->from = read->count == 1 ? member : ft_session_variable(d->session);
        ft_vec_push(&choice, source->from);
        if (source->write != FT_NO_EVENT) {
            implies(d, source->from, d->member[source->write]);
            implies(d, source->from, ft_partial_before(d, source->write, read->event));
        }
        encode_value(d, read, source);
        avoid_unknown(d, read, source);
    }
    if (read->count != 1) ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
    encode_chain(d, read);
}

static void encode_reads(ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t *last = ft_alloc((size_t)trace->threads.len * sizeof *last);
    d->read_first = ft_alloc(((size_t)trace->n_events + 1) * sizeof *d->read_first);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        d->read_first[e] = (uint32_t)d->reads.len;
        ft_access scratch;
        uint32_t count;
        if (d->member[e] == FT_LIT_FALSE) continue;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; d->problem->model != FT_MODEL_CONTROL && i < count; i++) {
            if (accesses[i].write || !ft_slice_needs(d->problem->slice, e, accesses[i].variable))
                continue;
            ft_read read = {.event = e, .access = i, .variable = accesses[i].variable};
            encode_read(d, &read, last);
            ft_vec_push(&d->reads, read);
        }
    }
    d->read_first[trace->n_events] = (uint32_t)d->reads.len;
    free(last);
}

static void encode_branch(ft_decider *d, uint32_t e)
{
    ft_lit taken, condition = ft_cssa_branch(d->cssa, e, &taken);
    ft_partial_clause(d, (ft_lit[3]){-d->member[e], -condition, taken}, 3);
    ft_partial_clause(d, (ft_lit[3]){-d->member[e], condition, -taken}, 3);
}

static void encode_guards(ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    if (ft_fault_is(FT_FAULT_NO_GUARD) || d->problem->model == FT_MODEL_CONTROL) return;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (d->member[e] == FT_LIT_FALSE || !ft_event_conditional(trace, e)) continue;
        if (trace->flags[e] & FT_FLAG_FAILED) continue;
        ft_session_imply(d->session, d->member[e], ft_cssa_enabled(d->cssa, e));
        if (trace->kind[e] == FT_EVENT_IF && d->problem->model == FT_MODEL_CTP &&
            !ft_fault_is(FT_FAULT_FREE_BRANCH))
            encode_branch(d, e);
    }
}

/* ---- eager lemmas ------------------------------------------------------------------------------
 */

enum { EAGER_LIMIT = 150000 };

static uint64_t count_lemmas(const ft_decider *d)
{
    uint64_t total = 0;
    for (size_t i = 0; i < d->reads.len; i++) {
        uint32_t v = d->reads.data[i].variable;
        total += (uint64_t)d->reads.data[i].count * (d->writer_first[v + 1] - d->writer_first[v]);
    }
    for (uint32_t l = 0; l < d->problem->trace->locks.len; l++) {
        uint64_t n = d->problem->order->lock_first[l + 1] - d->problem->order->lock_first[l];
        total += n * n / 2;
    }
    return total;
}

static void separate_read(ft_decider *d, const ft_read *read)
{
    for (uint32_t i = 0; i < read->count; i++) {
        ft_source source = d->sources.data[read->first + i];
        for (uint32_t k = d->writer_first[read->variable]; k < d->writer_first[read->variable + 1];
             k++) {
            uint32_t other = d->writers[k];
            if (other == source.write || other == read->event) continue;
            if (ft_order_before(d->problem->order, read->event, other)) continue;
            if (source.write != FT_NO_EVENT &&
                ft_order_before(d->problem->order, other, source.write))
                continue;
            ft_lemma lemma = ft_partial_between(d, source.from, source.write, read->event, other);
            ft_partial_lemma(d, &lemma);
        }
    }
}

static void encode_eagerly(ft_decider *d)
{
    const ft_order *order = d->problem->order;
    if (ft_fault_is(FT_FAULT_NO_BETWEEN) || ft_fault_is(FT_FAULT_NO_MUTEX)) return;
    for (uint32_t l = 0; l < d->problem->trace->locks.len; l++)
        for (uint32_t i = order->lock_first[l]; i < order->lock_first[l + 1]; i++)
            for (uint32_t k = i + 1; k < order->lock_first[l + 1]; k++) {
                uint32_t a = order->lock_sections[i], b = order->lock_sections[k];
                const ft_section *x = &order->sections.data[a], *y = &order->sections.data[b];
                if (x->thread == y->thread || !ft_order_conflict(x, y) ||
                    !ft_partial_in(d, x->acquire) || !ft_partial_in(d, y->acquire))
                    continue;
                ft_partial_keep_apart(d, a, b);
            }
    for (size_t i = 0; i < d->reads.len; i++) separate_read(d, &d->reads.data[i]);
}

/* ---- semaphores --------------------------------------------------------------------------------
 */

/* Each member wait takes a unit of its own, an initial one or an earlier post's: by Hall's theorem
 * the same as a count that never falls below zero. */
static void encode_wait(ft_decider *d, uint32_t wait)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t semaphore = trace->object[wait];
    FT_REQUIRE(trace->kind[wait] == FT_EVENT_WAIT);
    FT_VEC(ft_lit) choice = {0};
    ft_vec_push(&choice, -d->member[wait]);
    if (trace->semaphore_initial[semaphore] > 0) {
        ft_token token = {wait, FT_NO_EVENT, ft_session_variable(d->session)};
        ft_vec_push(&d->tokens, token);
        ft_vec_push(&choice, token.match);
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_POST || trace->object[e] != semaphore) continue;
        if (!ft_partial_in(d, e) || ft_order_before(d->problem->order, wait, e)) continue;
        ft_token token = {wait, e, ft_session_variable(d->session)};
        implies(d, token.match, d->member[e]);
        implies(d, token.match, ft_partial_before(d, e, wait));
        ft_vec_push(&d->tokens, token);
        ft_vec_push(&choice, token.match);
    }
    ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
}

/* At most k of the tokens from this post (FT_NO_EVENT: initial units of this semaphore). */
static void limit_tokens(ft_decider *d, uint32_t post, uint32_t semaphore, uint32_t k)
{
    FT_VEC(ft_lit) taken = {0};
    for (size_t i = 0; i < d->tokens.len; i++) {
        const ft_token *token = &d->tokens.data[i];
        if (token->post != post || d->problem->trace->object[token->wait] != semaphore) continue;
        ft_vec_push(&taken, token->match);
    }
    ft_session_at_most(d->session, taken.data, (uint32_t)taken.len, k);
    ft_vec_release(&taken);
}

static void encode_semaphores(ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_WAIT && ft_partial_in(d, e)) encode_wait(d, e);
    if (ft_fault_is(FT_FAULT_NO_TOKEN)) return;
    for (uint32_t s = 0; s < trace->semaphores.len; s++)
        limit_tokens(d, FT_NO_EVENT, s, trace->semaphore_initial[s]);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_POST && ft_partial_in(d, e))
            limit_tokens(d, e, trace->object[e], 1);
}

void ft_partial_late_wait(ft_decider *d, uint32_t wait)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t semaphore = trace->object[wait];
    if (ft_partial_in(d, wait)) return;
    for (size_t i = 0; i < d->tokens.len; i++)
        if (d->tokens.data[i].wait == wait) return;
    encode_wait(d, wait);
    limit_tokens(d, FT_NO_EVENT, semaphore, trace->semaphore_initial[semaphore]);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_POST && trace->object[e] == semaphore && ft_partial_in(d, e))
            limit_tokens(d, e, semaphore, 1);
}

/* ---- life --------------------------------------------------------------------------------------
 */

/* The cone has what comes before its events in their threads, and their hard sources. */
static bool cone_is_closed(const ft_problem *problem, const uint8_t *cone)
{
    const ft_order *order = problem->order;
    for (uint32_t e = 0; cone && e < problem->trace->n_events; e++) {
        const uint32_t *sources;
        uint32_t previous = ft_order_previous(order, e);
        if (!cone[e]) continue;
        if (previous != FT_NO_EVENT && !cone[previous]) return false;
        uint32_t count = ft_order_hard_sources(order, e, &sources);
        for (uint32_t i = 0; i < count; i++)
            if (!cone[sources[i]]) return false;
    }
    return true;
}

/* Literals are those of defined variables, slices lie within their arrays, atoms are ordered. */
static bool base_is_sound(const ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        bool in = ft_partial_in(d, e);
        if (in ? d->reached[e] <= FT_LIT_TRUE : d->reached[e] != FT_LIT_FALSE) return false;
        if (!in && d->member[e] != FT_LIT_FALSE) return false;
        if (d->read_first[e] > d->read_first[e + 1]) return false;
    }
    for (size_t i = 0; i < d->reads.len; i++) {
        const ft_read *read = &d->reads.data[i];
        if (read->first + read->count > d->sources.len) return false;
        for (uint32_t k = read->first; k < read->first + read->count; k++)
            if (d->sources.data[k].from == 0) return false;
    }
    for (size_t i = 0; i < d->atom_list.len; i++)
        if (d->atom_list.data[i].a >= d->atom_list.data[i].b) return false;
    for (size_t i = 0; i < d->tokens.len; i++)
        if (trace->kind[d->tokens.data[i].wait] != FT_EVENT_WAIT || !d->tokens.data[i].match)
            return false;
    return d->read_first[trace->n_events] == d->reads.len;
}

ft_decider *ft_partial_open(const ft_problem *problem, const uint8_t *cone, ft_session_kind kind)
{
    FT_REQUIRE(problem && (unsigned)kind < FT_SESSION_KINDS);
    FT_CHECK(cone_is_closed(problem, cone));
    ft_decider *d = ft_calloc(1, sizeof *d);
    size_t n = problem->trace->n_events;
    d->problem = problem;
    d->avoid = FT_LIT_TRUE;
    if (cone) d->cone = memcpy(ft_alloc(n), cone, n);
    d->session = ft_session_open(kind);
    encode_static_order(d);
    d->member = ft_alloc(n * sizeof *d->member);
    d->reached = problem->trace->n_paths ? ft_alloc(n * sizeof *d->reached) : d->member;
    for (size_t e = 0; e < n; e++) d->member[e] = d->reached[e] = FT_LIT_FALSE;
    index_writers(d);
    d->cssa = ft_cssa_new(problem, d->session, d->cone);
    encode_membership(d);
    encode_hard_order(d);
    encode_reads(d);
    encode_guards(d);
    encode_semaphores(d);
    ft_partial_sync(d);
    bool computed = problem->model == FT_MODEL_CTP && ft_run_symbolic(problem->run);
    if (computed && count_lemmas(d) <= EAGER_LIMIT) encode_eagerly(d);
    d->base_beyond = ft_session_gave_up(d->session);
    d->name = kind == FT_SESSION_ORDER ? FT_DECIDED_BY_ORDER : FT_DECIDED_BY_Z3;
    d->schedule = ft_schedule_new(d);
    FT_CHECK(base_is_sound(d));
    return d;
}

ft_session_kind ft_partial_z3_kind(const ft_problem *problem)
{
    bool computed = problem->model == FT_MODEL_CTP && ft_run_symbolic(problem->run);
    return computed ? FT_SESSION_BOOLEAN_VALUES : FT_SESSION_BOOLEAN;
}

ft_decider *ft_decider_new(const ft_problem *problem, const uint8_t *cone)
{
    FT_REQUIRE(problem);
    ft_session_kind kind =
        problem->solver == FT_SOLVER_Z3 ? ft_partial_z3_kind(problem) : FT_SESSION_ORDER;
    ft_decider *d = ft_partial_open(problem, cone, kind);
    if (!d->base_beyond || problem->solver != FT_SOLVER_AUTO) return d;
    ft_decider_free(d);
    return ft_partial_open(problem, cone, ft_partial_z3_kind(problem));
}

void ft_decider_free(ft_decider *d)
{
    if (!d) return;
    ft_decider_free(d->by_z3);
    ft_schedule_free(d->schedule);
    ft_cssa_free(d->cssa);
    ft_session_close(d->session);
    free(d->cone);
    if (d->reached != d->member) free(d->reached);
    free(d->member);
    free(d->writer_first);
    free(d->writers);
    free(d->read_first);
    ft_map_release(&d->atoms);
    ft_vec_release(&d->atom_list);
    ft_bound_free(d->bound);
    ft_map_release(&d->lemma_seen);
    ft_vec_release(&d->reads);
    ft_vec_release(&d->sources);
    ft_vec_release(&d->tokens);
    free(d->units_out);
    ft_vec_release(&d->ways);
    ft_vec_release(&d->asked);
    ft_map_release(&d->gates);
    ft_vec_release(&d->lemmas);
    free(d);
}
