/* Each kind of claim as a query over the base of partial.c: assumptions, and constraints that hold
 * only while the query's literal is true. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "encode/partial.h"
#include "problem/faults.h"
#include "values/chain.h"

static void assume(ft_query *q, ft_lit literal)
{
    FT_REQUIRE(literal != 0);
    if (literal == FT_LIT_TRUE) return;
    if (literal == FT_LIT_FALSE) q->impossible = true;
    ft_vec_push(&q->assumptions, literal);
}

void ft_query_next(ft_decider *d, ft_query *q, uint32_t e)
{
    FT_REQUIRE(e < d->problem->trace->n_events);
    const ft_order *order = d->problem->order;
    uint32_t previous = ft_order_previous(order, e), thread = d->problem->trace->thread[e];
    if (previous != FT_NO_EVENT)
        assume(q, d->reached[previous]);
    else if (order->fork_of[thread] != FT_NO_EVENT)
        assume(q, d->member[order->fork_of[thread]]);
    assume(q, ft_cssa_path(d->cssa, e));
    if (ft_partial_in(d, e)) assume(q, -d->reached[e]);
}

/* ---- reads that the model does not bind ---- */

typedef struct ghost {
    ft_decider *d;
    ft_query *q;
    uint32_t at;   /* event at whose place it reads; FT_NO_EVENT: after all members */
    ft_expr found; /* of a compare-and-swap: unknown values equal what it expects (claim.h, RACE) */
} ghost;

static ghost ghost_of(ft_decider *d, ft_query *q, uint32_t e, uint32_t at)
{
    bool compares = ft_trace_compares(d->problem->trace, e);
    return (ghost){d, q, at, compares ? ft_cssa_found(d->cssa, e) : NULL};
}

static bool is_known(const ghost *g, uint32_t w, uint32_t v)
{
    const ft_problem *p = g->d->problem;
    bool computed = w == FT_NO_EVENT || w != g->q->extra || p->trace->kind[w] != FT_EVENT_RMW ||
                    ft_trace_compares(p->trace, w);
    return computed && ft_problem_value_known(p, w, v);
}

static ft_expr written(ghost *g, uint32_t w, uint32_t v)
{
    if (g->found && !is_known(g, w, v)) return g->found;
    return w == FT_NO_EVENT ? ft_cssa_initial(g->d->cssa, v) : ft_cssa_write(g->d->cssa, w, v);
}

static bool may_see(const ghost *g, uint32_t w, uint32_t v, ft_expr departing)
{
    const ft_problem *p = g->d->problem;
    if (w == g->at || (g->q->avoid_unknown && !is_known(g, w, v))) return false;
    if (w == g->q->extra) return departing != NULL; /* executed by the query, not a member */
    return g->at == FT_NO_EVENT || !ft_order_before(p->order, g->at, w);
}

/* A fresh value, one of those it may read: initial, written by others, or by the departing event.
 */
static ft_expr ghost_unknown(ghost *g, uint32_t v, ft_expr departing)
{
    ft_decider *d = g->d;
    FT_VEC(ft_expr) all = {0};
    ft_expr initial = written(g, FT_NO_EVENT, v);
    if (!g->q->avoid_unknown || ft_problem_value_known(d->problem, FT_NO_EVENT, v))
        ft_vec_push(&all, initial);
    for (uint32_t i = d->writer_first[v]; i < d->writer_first[v + 1]; i++) {
        uint32_t w = d->writers[i];
        if (!may_see(g, w, v, departing)) continue;
        ft_expr value = w == g->q->extra ? departing : written(g, w, v);
        ft_vec_push(&all, value);
    }
    ft_expr result = ft_session_one_of(d->session, d->problem->trace->shared_info[v].sort, all.data,
                                       (uint32_t)all.len);
    ft_vec_release(&all);
    return result;
}

static void ghost_source(ghost *g, ft_ghost_read *read, uint32_t w, ft_expr value,
                         const ft_lit *needs, uint32_t n_needs)
{
    ft_decider *d = g->d;
    ft_source source = {w, ft_session_variable(d->session)};
    for (uint32_t i = 0; i < n_needs; i++)
        ft_partial_clause(d, (ft_lit[2]){-source.from, needs[i]}, 2);
    ft_session_imply(d->session, source.from, ft_session_equal(d->session, read->value, value));
    ft_vec_push(&g->q->sources, source);
    read->count++;
}

static ft_expr departing_write(ghost *g, uint32_t variable);

/* departing: the value that the query's extra event writes to the variable; NULL: it does not. */
static void ghost_sources(ghost *g, ft_ghost_read *read, ft_expr departing)
{
    ft_decider *d = g->d;
    uint32_t v = read->variable;
    if (!g->q->avoid_unknown || ft_problem_value_known(d->problem, FT_NO_EVENT, v))
        ghost_source(g, read, FT_NO_EVENT, written(g, FT_NO_EVENT, v), NULL, 0);
    for (uint32_t i = d->writer_first[v]; i < d->writer_first[v + 1]; i++) {
        uint32_t w = d->writers[i];
        if (!may_see(g, w, v, departing)) continue;
        if (w == g->q->extra) {
            ghost_source(g, read, w, departing, &g->q->extra_writes, 1);
            continue;
        }
        ft_lit needs[2] = {d->member[w],
                           g->at == FT_NO_EVENT ? FT_LIT_TRUE : ft_partial_before(d, w, g->at)};
        ghost_source(g, read, w, written(g, w, v), needs, 2);
    }
}

/* All events before the claim's in its thread are executed, and so are their hard sources: the
 * value may be the same in every order (values/chain.h). */
static ft_expr ghost_value(ghost *g, uint32_t variable, ft_expr departing)
{
    const ft_decider *d = g->d;
    const ft_writes writes = {d->writer_first, d->writers};
    uint32_t next = g->at == FT_NO_EVENT ? g->q->next : FT_NO_EVENT;
    uint32_t done = next == FT_NO_EVENT ? next : ft_order_previous(d->problem->order, next);
    ft_value value;
    if (done != FT_NO_EVENT && ft_chain_value(d->problem, &writes, done, next, variable, &value))
        return ft_session_value(d->session, value);
    return ghost_unknown(g, variable, departing);
}

/* The value that the state holds for the variable at the ghost's place. */
static ft_expr ghost_read(void *context, uint32_t variable)
{
    ghost *g = context;
    ft_query *q = g->q;
    for (size_t i = 0; i < q->reads.len; i++)
        if (q->reads.data[i].variable == variable && q->reads.data[i].at == g->at)
            return q->reads.data[i].value;
    /* First, because it may add reads of its own: a read's sources are one slice. */
    ft_expr departing = NULL;
    if (g->at == FT_NO_EVENT && q->extra != FT_NO_EVENT &&
        ft_run_find_access(g->d->problem->trace, q->extra, variable, true) != UINT32_MAX)
        departing = departing_write(g, variable);
    ft_ghost_read read = {.variable = variable,
                          .at = g->at,
                          .value = ghost_value(g, variable, departing),
                          .first = (uint32_t)q->sources.len};
    ghost_sources(g, &read, departing);
    assert(read.first + read.count == q->sources.len);
    FT_VEC(ft_lit) choice = {0};
    ft_vec_push(&choice, -q->active);
    for (uint32_t i = 0; i < read.count; i++)
        ft_vec_push(&choice, q->sources.data[read.first + i].from);
    ft_partial_clause(g->d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
    ft_vec_push(&q->reads, read);
    return read.value;
}

/* Does the rmw find the value of the run, where it reads that source? *if_equal: it does if it
 * finds that value, as terms compute it. */
static bool finds_again(const ft_decider *d, uint32_t e, uint32_t i, uint32_t w, ft_expr *if_equal)
{
    const ft_problem *p = d->problem;
    ft_vid wanted = ft_run_vid(p->run, e, i), there;
    uint32_t variable = p->trace->object[e];
    bool computed =
        w != FT_NO_EVENT && p->model == FT_MODEL_CTP && ft_trace_is_symbolic_event(p->trace, w);
    *if_equal = computed && FT_VID_IS_KNOWN(wanted)
                    ? ft_session_value(d->session, ft_run_value(p->run, wanted))
                    : NULL;
    if (computed) return *if_equal != NULL;
    there = w == FT_NO_EVENT
                ? ft_run_initial_vid(p->run, variable)
                : ft_run_vid(p->run, w, ft_run_find_access(p->trace, w, variable, true));
    return ft_problem_allows(p, e, i, w) || (FT_VID_IS_KNOWN(wanted) && there == wanted);
}

/* known: what the rmw wrote in the run. other: what it writes where it finds another value; NULL:
 * anything. */
typedef struct made {
    ft_expr value, known, other;
} made;

static void make(ft_decider *d, const ft_source *source, ft_expr found, uint32_t e, uint32_t i,
                 const made *m)
{
    ft_session *s = d->session;
    ft_expr wanted, same = NULL;
    bool again = finds_again(d, e, i, source->write, &wanted);
    if (wanted) same = ft_session_equal(s, found, wanted);
    if (again) {
        ft_expr known[2] = {same ? ft_session_not(s, same) : NULL,
                            ft_session_equal(s, m->value, m->known)};
        ft_session_imply(s, source->from, same ? ft_session_or(s, known, 2) : known[1]);
    }
    if (m->other && (same || !again)) {
        ft_expr other[2] = {same, ft_session_equal(s, m->value, m->other)};
        ft_session_imply(s, source->from, same ? ft_session_or(s, other, 2) : other[1]);
    }
}

/* An rmw writes the run's value where it finds the run's value; else its result is unknown, and a
 * later compare-and-swap may find the value that it expects. */
static ft_expr update(ghost *g, uint32_t variable)
{
    ft_decider *d = g->d;
    ft_query *q = g->q;
    uint32_t e = q->extra, i = ft_run_find_access(d->problem->trace, e, variable, false);
    assert(e != FT_NO_EVENT && i != UINT32_MAX); /* an rmw reads what it writes */
    ghost there = ghost_of(d, q, e, e);
    ft_sort sort = d->problem->trace->shared_info[variable].sort;
    made m = {.known = ft_cssa_write(d->cssa, e, variable), .other = g->found};
    m.value = g->found ? ft_session_one_of(d->session, sort, (ft_expr[2]){m.known, m.other}, 2)
                       : ft_session_constant(d->session, sort);
    ft_expr found = ghost_read(&there, variable);
    for (size_t k = 0; k < q->reads.len; k++) {
        ft_ghost_read read = q->reads.data[k];
        if (read.variable != variable || read.at != e) continue;
        for (uint32_t n = 0; n < read.count; n++)
            make(d, &q->sources.data[read.first + n], found, e, i, &m);
    }
    return m.value;
}

static ft_expr departing_write(ghost *g, uint32_t variable)
{
    const ft_trace *trace = g->d->problem->trace;
    uint32_t e = g->q->extra;
    assert(e != FT_NO_EVENT);
    bool forgets = trace->kind[e] == FT_EVENT_RMW && !ft_trace_compares(trace, e);
    bool wrote = forgets && ft_problem_value_known(g->d->problem, e, variable);
    if (wrote && !ft_fault_is(FT_FAULT_FORGETFUL)) return update(g, variable);
    if (g->found && !is_known(g, e, variable)) return g->found;
    ghost there = ghost_of(g->d, g->q, e, e);
    return ft_cssa_write_with(g->d->cssa, e, variable, &(ft_reads){ghost_read, &there});
}

static bool is_control(const ft_decider *d)
{
    return d->problem->model == FT_MODEL_CONTROL;
}

static ft_expr enabled_at(ft_decider *d, ft_query *q, uint32_t e, uint32_t place)
{
    ghost g = ghost_of(d, q, e, place);
    if (is_control(d) || q->impossible) return NULL;
    if (ft_fault_is(FT_FAULT_OWN_READ_BOUND)) return ft_cssa_enabled(d->cssa, e);
    return ft_cssa_enabled_with(d->cssa, e, &(ft_reads){ghost_read, &g});
}

/* ---- the kinds of claims ---- */

/* At least one conflict takes place: both accesses of it happen. */
static void ask_race(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t x = claim->events[0], y = claim->events[1], nx, ny;
    ft_access sx, sy;
    const ft_access *ax = ft_trace_accesses(trace, x, &sx, &nx);
    const ft_access *ay = ft_trace_accesses(trace, y, &sy, &ny);
    bool needs[4] = {false}; /* bit 0: x enabled, bit 1: y enabled */
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++) {
            if (ax[i].variable != ay[j].variable || !(ax[i].write || ay[j].write)) continue;
            needs[ft_access_conditional(trace, x, &ax[i]) | ft_access_conditional(trace, y, &ay[j])
                                                                << 1] = true;
        }
    ft_query_next(d, q, x);
    ft_query_next(d, q, y);
    if (needs[0]) return;
    ft_expr ways[3];
    uint32_t n_ways = 0;
    ft_expr ex = needs[1] || needs[3] ? enabled_at(d, q, x, FT_NO_EVENT) : NULL;
    ft_expr ey = needs[2] || needs[3] ? enabled_at(d, q, y, FT_NO_EVENT) : NULL;
    if (needs[1]) ways[n_ways++] = ex;
    if (needs[2]) ways[n_ways++] = ey;
    if (needs[3]) ways[n_ways++] = ft_session_and(d->session, (ft_expr[2]){ex, ey}, 2);
    if (n_ways == 0)
        q->impossible = true;
    else
        ft_session_imply(d->session, q->active, ft_session_or(d->session, ways, n_ways));
}

static void ask_false(ft_decider *d, ft_query *q, uint32_t e, ft_term term)
{
    ghost g = {d, q, FT_NO_EVENT, NULL};
    q->next = e;
    ft_query_next(d, q, e);
    if (is_control(d)) { /* a term that is not always true may be false */
        q->impossible |= ft_problem_is_true(d->problem, term);
        return;
    }
    ft_session_imply(d->session, q->active,
                     ft_cssa_false_with(d->cssa, e, term, &(ft_reads){ghost_read, &g}));
}

/* The access of t_c' takes place in the final state. */
static void ask_last_access(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t e = claim->events[2], count;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    uint32_t i = ft_run_find_access(trace, e, claim->variable, claim->writes[2]);
    /* Events before t_c' may be skipped. */
    if (!ft_fault_is(FT_FAULT_OFF_PATH)) assume(q, ft_cssa_path(d->cssa, claim->events[0]));
    ft_query_next(d, q, e);
    if (i >= count || !ft_access_conditional(trace, e, &accesses[i])) return;
    ft_session_imply(d->session, q->active, enabled_at(d, q, e, FT_NO_EVENT));
}

static void ask_order(ft_decider *d, ft_query *q, uint32_t a, uint32_t b)
{
    ft_lit before = ft_partial_before(d, a, b);
    assume(q, before);
    if (before == FT_LIT_TRUE || before == FT_LIT_FALSE) return;
    ft_lemma lemma = {.premise = {q->active}, .n_premises = 1, .n_alternatives = 1};
    lemma.alternative[0].a = a;
    lemma.alternative[0].b = b;
    ft_partial_lemma(d, &lemma);
}

/* t_r obeys the model: an ordinary member. */
static void ask_atomicity_member(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    assume(q, d->member[claim->events[1]]);
    ask_order(d, q, claim->events[0], claim->events[1]);
    ask_last_access(d, q, claim);
}

/* t_r departs from the model and its thread stops there. With nothing but reads that happen
 * whatever the state, its place does not matter and the end will do; otherwise it is executed as
 * the query's extra event. */
static void ask_atomicity_departing(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t e = claim->events[1], count;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    bool reads = false, writes = false;
    for (uint32_t i = 0; i < count; i++) {
        reads |= !accesses[i].write;
        writes |= accesses[i].write;
    }
    uint32_t i = ft_run_find_access(trace, e, claim->variable, claim->writes[1]);
    assert(i < count); /* the claim names an access of t_r */
    bool conditional = ft_remote_conditional(trace, e, &accesses[i]);
    ft_query_next(d, q, e);
    if (!reads || is_control(d) || ft_fault_is(FT_FAULT_NO_DEPARTURE)) q->impossible = true;
    if (q->impossible) return;
    /* With a bound its place matters. */
    if (writes || conditional || q->bounded) {
        assert(q->extra == FT_NO_EVENT);
        q->extra = e;
        ft_expr enabled = enabled_at(d, q, e, e);
        q->extra_writes = ft_session_name(d->session, enabled);
        if (conditional) assume(q, q->extra_writes);
        ask_order(d, q, claim->events[0], e);
    }
    ask_last_access(d, q, claim);
}

static void ask_token(ft_decider *d, ft_query *q, uint32_t e)
{
    FT_VEC(ft_lit) choice = {0};
    ft_partial_late_wait(d, e);
    ft_vec_push(&choice, -q->active);
    for (size_t i = 0; i < d->tokens.len; i++)
        if (d->tokens.data[i].wait == e) ft_vec_push(&choice, d->tokens.data[i].match);
    ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
}

/* A cond-wake was woken, or a section that makes an attempt fail is open. */
static void ask_way(ft_decider *d, ft_query *q, uint32_t e)
{
    FT_VEC(ft_lit) choice = {0};
    ft_partial_late_ways(d, e);
    ft_vec_push(&choice, -q->active);
    for (size_t i = 0; i < d->ways.len; i++) {
        if (d->ways.data[i].event != e) continue;
        ft_lit taken = d->ways.data[i].taken;
        ft_vec_push(&choice, taken);
        if (d->problem->trace->kind[e] == FT_EVENT_COND_WAKE) continue;
        uint32_t s = d->problem->order->section_of[d->ways.data[i].by];
        const ft_section *all = d->problem->order->sections.data;
        for (const ft_section *own = &all[s]; own; own = ft_section_otherwise(all, own)) {
            if (own->release == FT_NO_EVENT) continue;
            ft_lit still[3] = {-q->active, -taken, -d->member[own->release]};
            ft_partial_clause(d, still, 3);
        }
    }
    ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
}

static void ask_free_lock(ft_decider *d, ft_query *q, uint32_t e)
{
    const ft_trace *trace = d->problem->trace;
    const ft_order *order = d->problem->order;
    const ft_section own = {.shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED};
    uint32_t lock = trace->object[e];
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++) {
        const ft_section *s = &order->sections.data[order->lock_sections[i]];
        if (s->thread == trace->thread[e] || !ft_order_conflict(s, &own) ||
            !ft_partial_in(d, s->acquire))
            continue;
        ft_lit closed = s->otherwise != FT_NO_SECTION ? ft_partial_closed(d, s, FT_NO_EVENT)
                        : s->release == FT_NO_EVENT   ? FT_LIT_FALSE
                                                      : d->member[s->release];
        ft_partial_clause(d, (ft_lit[3]){-q->active, -d->member[s->acquire], closed}, 3);
    }
}

/* Could e be executed alone from the final state? */
static void ask_executable(ft_decider *d, ft_query *q, uint32_t e)
{
    const ft_trace *trace = d->problem->trace;
    const ft_order *order = d->problem->order;
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(order, e, &sources);
    for (uint32_t i = 0; i < count; i++) assume(q, d->reached[sources[i]]);
    uint32_t awaited = ft_order_awaited(order, e);
    if (awaited != FT_NO_EVENT)
        assume(q, ft_partial_in(d, awaited) ? d->reached[awaited] : FT_LIT_FALSE);
    ghost g = {d, q, FT_NO_EVENT, NULL};
    if (ft_trace_is_symbolic_event(trace, e) && !is_control(d) && !q->impossible)
        ft_session_imply(d->session, q->active,
                         ft_cssa_executable_with(d->cssa, e, &(ft_reads){ghost_read, &g}));
    q->impossible |= ft_problem_never(d->problem, e);
    if (trace->kind[e] == FT_EVENT_WAIT) ask_token(d, q, e);
    if (ft_partial_has_ways(d, e)) ask_way(d, q, e);
    if (ft_order_opens(trace, e)) ask_free_lock(d, q, e);
}

static void ask_co_enabled(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t x = claim->events[0], y = claim->events[1];
    ft_query_next(d, q, x);
    ft_query_next(d, q, y);
    ask_executable(d, q, x);
    /* Each alone: two waits need not find two units. */
    bool same_question = trace->kind[x] == FT_EVENT_WAIT && trace->kind[y] == FT_EVENT_WAIT &&
                         trace->object[x] == trace->object[y];
    if (!same_question) ask_executable(d, q, y);
}

static void ask_before(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    ft_query_next(d, q, claim->events[0]);
    ask_executable(d, q, claim->events[0]);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->loc[e] != claim->avoid || !ft_partial_in(d, e)) continue;
        assume(q, -d->member[e]);
    }
}

static void ask_lock_error(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    q->impossible |= !ft_problem_lock_error(d->problem, claim->events[0]);
    ft_query_next(d, q, claim->events[0]);
}

/* A thread's own earlier events determine the locks that it holds when its request is next. */
static void ask_deadlock(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    q->impossible |= !ft_problem_cycle(d->problem, claim);
    for (uint32_t i = 0; i < claim->n_events; i++) ft_query_next(d, q, claim->events[i]);
}

/* An access of e to the block takes place in the final state, or e frees it. */
static void ask_use(ft_decider *d, ft_query *q, uint32_t e, uint32_t block)
{
    const ft_trace *trace = d->problem->trace;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    bool uses = trace->kind[e] == FT_EVENT_FREE && trace->object[e] == block, conditional = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!ft_problem_in_block(trace, block, accesses[i].variable)) continue;
        bool depends = ft_access_conditional(trace, e, &accesses[i]);
        conditional |= depends;
        uses |= !depends;
    }
    q->impossible |= !uses && !conditional;
    if (!uses && conditional)
        ft_session_imply(d->session, q->active, enabled_at(d, q, e, FT_NO_EVENT));
}

static void ask_after_free(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t f = claim->events[0], block = trace->object[f];
    assume(q, d->member[f]);
    ft_query_next(d, q, claim->events[1]);
    ask_use(d, q, claim->events[1], block);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (ft_event_kind_object(trace->kind[e]) != FT_OBJECT_BLOCK || e == f) continue;
        if (trace->object[e] != block || !ft_partial_in(d, e)) continue;
        ft_lit earlier[3] = {-q->active, -d->member[e], ft_partial_gate(d, e, f)};
        ft_partial_clause(d, earlier, 3);
    }
}

/* The write, where it is a member, comes before an alloc of a block with the variable. */
static void ask_forgotten(ft_decider *d, ft_query *q, uint32_t w, uint32_t variable)
{
    const ft_trace *trace = d->problem->trace;
    FT_VEC(ft_lit) choice = {0};
    ft_vec_push(&choice, -q->active);
    ft_vec_push(&choice, -d->member[w]);
    for (uint32_t a = 0; trace->blocks.len && a < trace->n_events; a++) {
        if (trace->kind[a] != FT_EVENT_ALLOC || !ft_partial_in(d, a)) continue;
        if (!ft_problem_in_block(trace, trace->object[a], variable)) continue;
        ft_lit gate = ft_session_variable(d->session);
        ft_partial_implies(d, gate, d->member[a]);
        ft_partial_implies(d, gate, ft_partial_gate(d, w, a));
        ft_vec_push(&choice, gate);
    }
    ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
}

/* No member frees the block of alloc a after it. */
static void ask_kept(ft_decider *d, ft_lit gate, uint32_t a)
{
    const ft_trace *trace = d->problem->trace;
    for (uint32_t f = 0; f < trace->n_events; f++) {
        if (trace->kind[f] != FT_EVENT_FREE || trace->object[f] != trace->object[a]) continue;
        if (!ft_partial_in(d, f)) continue;
        ft_lit earlier[3] = {-gate, -d->member[f], ft_partial_gate(d, f, a)};
        ft_partial_clause(d, earlier, 3);
    }
}

/* Some block with the variable is allocated at the end, where the trace allocates any. */
static void ask_there(ft_decider *d, ft_query *q, uint32_t variable)
{
    const ft_trace *trace = d->problem->trace;
    FT_VEC(ft_lit) choice = {0};
    bool allocates = false;
    ft_vec_push(&choice, -q->active);
    for (uint32_t a = 0; trace->blocks.len && a < trace->n_events; a++) {
        if (trace->kind[a] != FT_EVENT_ALLOC) continue;
        if (!ft_problem_in_block(trace, trace->object[a], variable)) continue;
        allocates = true;
        if (!ft_partial_in(d, a)) continue;
        ft_lit gate = ft_session_variable(d->session);
        ft_partial_implies(d, gate, d->member[a]);
        ask_kept(d, gate, a);
        ft_vec_push(&choice, gate);
    }
    if (allocates) ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    ft_vec_release(&choice);
}

static void ask_uninitialised(ft_decider *d, ft_query *q, const ft_claim *claim)
{
    const ft_trace *trace = d->problem->trace;
    uint32_t e = claim->events[0], v = claim->variable, count;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    uint32_t i = ft_run_find_access(trace, e, v, false);
    q->impossible |= i == UINT32_MAX;
    ft_query_next(d, q, e);
    if (i < count && ft_access_conditional(trace, e, &accesses[i]))
        ft_session_imply(d->session, q->active, enabled_at(d, q, e, FT_NO_EVENT));
    for (uint32_t k = d->writer_first[v]; k < d->writer_first[v + 1]; k++)
        if (d->writers[k] != e) ask_forgotten(d, q, d->writers[k], v);
    ask_there(d, q, v);
}

static void ask(ft_decider *d, ft_query *q, const ft_claim *claim, bool departing)
{
    switch (claim->kind) {
    case FT_CLAIM_RACE:
        ask_race(d, q, claim);
        break;
    case FT_CLAIM_ASSERTION:
        ask_false(d, q, claim->events[0],
                  ft_trace_action(d->problem->trace, claim->events[0])->guard);
        break;
    case FT_CLAIM_CONDITION:
        ask_false(d, q, claim->events[0], claim->condition);
        break;
    case FT_CLAIM_ATOMICITY:
        if (departing)
            ask_atomicity_departing(d, q, claim);
        else
            ask_atomicity_member(d, q, claim);
        break;
    case FT_CLAIM_CO_ENABLED:
        ask_co_enabled(d, q, claim);
        break;
    case FT_CLAIM_BEFORE:
        ask_before(d, q, claim);
        break;
    case FT_CLAIM_LOCK_ERROR:
        ask_lock_error(d, q, claim);
        break;
    case FT_CLAIM_DEADLOCK:
        ask_deadlock(d, q, claim);
        break;
    case FT_CLAIM_STUCK:
        ft_query_stuck(d, q, claim->events[0]);
        break;
    case FT_CLAIM_AFTER_FREE:
        ask_after_free(d, q, claim);
        break;
    case FT_CLAIM_UNINITIALISED:
        ask_uninitialised(d, q, claim);
        break;
    case FT_CLAIM_FAILURE: /* of the observed run alone: never asked */
    case FT_CLAIM_KINDS:
        break;
    }
}

/* ---- the loop ---- */

/* One way to ask the question, and the place for its answers. */
typedef struct attempt {
    const ft_question *question;
    bool departing; /* atomicity: t_r's read departs from the model */
    ft_witness *witness;
    ft_decide_stats *stats;
} attempt;

static void fill_witness(const ft_decider *d, const ft_query *q, const attempt *of,
                         const uint32_t *order, uint32_t count)
{
    const ft_claim *claim = of->question->claim;
    assert(of->witness && (order || count == 0));
    ft_witness *witness = of->witness;
    bool append = claim->kind == FT_CLAIM_ATOMICITY && of->departing && q->extra == FT_NO_EVENT;
    *witness = (ft_witness){.model = d->problem->model,
                            .wakeups = d->problem->wakeups,
                            .bound = q->bounded ? q->bound : FT_NO_BOUND,
                            .claim = *claim,
                            .n_steps = count + append,
                            .steps = ft_alloc(((size_t)count + 1) * sizeof *witness->steps)};
    if (count) memcpy(witness->steps, order, count * sizeof *order);
    if (append) witness->steps[count] = claim->events[1];
}

static ft_answer solve(ft_decider *d, ft_query *q, const attempt *of)
{
    ft_decide_stats *stats = of->stats;
    double deadline = of->question->deadline;
    for (;;) {
        double start = ft_now_ms();
        if (deadline > 0 && start >= deadline) return FT_ANSWER_UNKNOWN;
        uint32_t left = deadline > 0 ? (uint32_t)(deadline - start) + 1 : 0;
        ft_answer answer =
            ft_session_check(d->session, q->assumptions.data, (uint32_t)q->assumptions.len, left);
        double solved = ft_now_ms();
        stats->checks++;
        stats->solve_ms += solved - start;
        if (answer != FT_ANSWER_SAT) return answer;
        const uint32_t *order;
        uint32_t count;
        size_t lemmas = d->lemmas.len;
        ft_linear linear = ft_linearise(d, q, &order, &count);
        stats->lemmas += d->lemmas.len - lemmas;
        stats->encode_ms += ft_now_ms() - solved;
        if (linear == FT_LINEAR_REFINED) continue;
        fill_witness(d, q, of, order, count);
        return FT_ANSWER_SAT;
    }
}

/* Is the claim unreachable without the bound too? The core need not be minimal, so this is asked.
 */
static bool holds_without_bound(ft_decider *d, ft_query *q, const attempt *of)
{
    double now = ft_now_ms();
    ft_witness found = {0};
    ft_question question = *of->question;
    if (question.deadline > 0) question.deadline = now + (question.deadline - now) / 2;
    attempt unbounded = *of;
    unbounded.question = &question;
    unbounded.witness = &found;
    assert(q->first_limit <= q->assumptions.len);
    q->bounded = false;
    q->assumptions.len = q->first_limit;
    ft_answer answer = solve(d, q, &unbounded);
    ft_witness_release(&found);
    return answer == FT_ANSWER_UNSAT;
}

static ft_answer ask_solver(ft_decider *d, ft_query *q, const attempt *of)
{
    if (q->impossible) return FT_ANSWER_UNSAT;
    of->stats->too_large |= q->given_up && !d->beyond;
    if (q->given_up) return FT_ANSWER_UNKNOWN;
    if (q->bounded) ft_bound_assume(d, q, of->question->claim);
    ft_answer answer = solve(d, q, of);
    if (answer != FT_ANSWER_UNSAT || !q->bounded || !ft_bound_in_core(d, q)) return answer;
    of->stats->lifted &= holds_without_bound(d, q, of);
    return answer;
}

static ft_answer query(ft_decider *d, const attempt *of)
{
    double start = ft_now_ms();
    const ft_question *question = of->question;
    ft_query q = {.bounded = question->bound != FT_NO_BOUND && !ft_fault_is(FT_FAULT_BOUND_OFF),
                  .bound = question->bound,
                  .active = ft_session_variable(d->session),
                  .extra = FT_NO_EVENT,
                  .next = FT_NO_EVENT,
                  .extra_writes = FT_LIT_FALSE,
                  .avoid_unknown = question->avoid_unknown};
    assume(&q, q.active);
    if (question->avoid_unknown) assume(&q, d->avoid);
    ask(d, &q, question->claim, of->departing);
    d->beyond = ft_session_gave_up(d->session) || d->base_beyond;
    q.given_up |= d->beyond && d->problem->solver == FT_SOLVER_AUTO;
    if (!q.impossible) ft_query_causality(d, &q, question->claim, of->departing);
    if (!q.impossible && d->problem->cube) ft_query_cube(d, &q);
    of->stats->encode_ms += ft_now_ms() - start;
    assert(q.assumptions.data[0] == q.active);
    ft_answer answer = ask_solver(d, &q, of);
    of->stats->decided_by[d->name] |= answer != FT_ANSWER_UNKNOWN;
    ft_partial_clause(d, (ft_lit[1]){-q.active}, 1);
    ft_vec_release(&q.reads);
    ft_vec_release(&q.sources);
    ft_vec_release(&q.assumptions);
    return answer;
}

/* Z3 decides what the own solver cannot, if the job leaves the choice. */
static bool is_open(const ft_decider *d, ft_answer answer)
{
    return answer == FT_ANSWER_UNKNOWN && d->beyond && d->problem->solver == FT_SOLVER_AUTO;
}

static ft_answer query_any(ft_decider *d, const attempt *of)
{
    ft_answer answer = query(d, of);
    of->stats->beyond |= d->beyond;
    if (!is_open(d, answer)) return answer;
    if (!d->by_z3) d->by_z3 = ft_partial_open(d->problem, d->cone, ft_partial_z3_kind(d->problem));
    return query(d->by_z3, of);
}

ft_answer ft_decider_decide(ft_decider *d, const ft_question *question, ft_witness *witness,
                            ft_decide_stats *stats)
{
    FT_REQUIRE(d && question && question->claim && witness && stats);
    attempt of = {.question = question, .witness = witness, .stats = stats};
    if (stats->events < d->events) stats->events = d->events;
    stats->lifted = true;
    stats->beyond = stats->too_large = false;
    ft_answer answer = query_any(d, &of);
    if (question->claim->kind != FT_CLAIM_ATOMICITY || answer == FT_ANSWER_SAT) return answer;
    of.departing = true;
    ft_answer other = query_any(d, &of);
    if (other == FT_ANSWER_SAT) return other;
    return answer == FT_ANSWER_UNKNOWN ? answer : other;
}
