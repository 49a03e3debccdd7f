#include "encode/cssa.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

#include "problem/faults.h"
#include "reduce/intervals/numbers.h"
#include "values/domain.h"

struct ft_cssa {
    const ft_problem *problem;
    ft_session *session;
    uint32_t *action_of;    /* per event: first slot of its accesses in reads, or UINT32_MAX */
    FT_VEC(ft_expr) reads;  /* per access of each symbolic event */
    uint32_t *assigned;     /* likewise of its assignments in values */
    FT_VEC(ft_expr) values; /* per assignment of each symbolic event */
    ft_map constants;       /* vid and sort -> index in known */
    FT_VEC(ft_expr) known;
    ft_lit *paths; /* per path of the trace, NULL: branches come out as in the run, or none */
    ft_lit *taken; /* per if: its then-arm */
};

ft_demand ft_problem_demand(const ft_problem *problem, uint32_t e, uint32_t i)
{
    const ft_trace *trace = problem->trace;
    bool symbolic = ft_trace_is_symbolic_event(trace, e);
    if (problem->model == FT_MODEL_CONTROL) return FT_DEMAND_NOTHING;
    uint32_t value = trace->data[e];
    if (trace->kind[e] == FT_EVENT_RMW) value = trace->updates[value].read;
    bool silent = !symbolic && value == FT_NO_VALUE;
    if (problem->model == FT_MODEL_OBSERVED || silent) return FT_DEMAND_SOURCE;
    if (problem->model == FT_MODEL_CTP && symbolic) return FT_DEMAND_NOTHING;
    return FT_VID_IS_KNOWN(ft_run_vid(problem->run, e, i)) ? FT_DEMAND_VALUE : FT_DEMAND_SOURCE;
}

bool ft_problem_has_value(const ft_problem *problem, uint32_t e, uint32_t i, bool write)
{
    uint8_t kind = problem->trace->kind[e];
    if (problem->fixed && problem->fixed[e / 64] >> e % 64 & 1) return true;
    return write ? kind == FT_EVENT_WRITE || kind == FT_EVENT_RMW
                 : ft_problem_demand(problem, e, i) != FT_DEMAND_NOTHING;
}

bool ft_problem_value_known(const ft_problem *p, uint32_t w, uint32_t variable)
{
    if (w == FT_NO_EVENT) return FT_VID_IS_KNOWN(ft_run_initial_vid(p->run, variable));
    if (p->model == FT_MODEL_CTP && ft_trace_is_symbolic_event(p->trace, w)) return true;
    uint32_t slot = ft_run_find_access(p->trace, w, variable, true);
    return FT_VID_IS_KNOWN(ft_run_vid(p->run, w, slot));
}

bool ft_problem_allows(const ft_problem *p, uint32_t e, uint32_t i, uint32_t w)
{
    ft_demand demand = ft_problem_demand(p, e, i);
    if (demand == FT_DEMAND_NOTHING) return true;
    if (demand == FT_DEMAND_SOURCE) return w == ft_run_source(p->run, e, i);
    if (w != FT_NO_EVENT && p->model == FT_MODEL_CTP && ft_trace_is_symbolic_event(p->trace, w))
        return true;
    ft_access scratch;
    uint32_t count, variable = ft_trace_accesses(p->trace, e, &scratch, &count)[i].variable;
    ft_vid wanted = ft_run_vid(p->run, e, i);
    if (w == FT_NO_EVENT) return ft_run_initial_vid(p->run, variable) == wanted;
    return ft_run_vid(p->run, w, ft_run_find_access(p->trace, w, variable, true)) == wanted;
}

/* ---- constants ---------------------------------------------------------------------------------
 */

static ft_expr of_vid(ft_cssa *c, ft_vid vid, ft_sort sort)
{
    bool inserted;
    /* The unknown values of one event have one identity, whatever their sorts are. */
    uint64_t key = (uint64_t)vid << 32 | (uint64_t)sort.kind << 16 | sort.width;
    uint64_t *slot = ft_map_slot(&c->constants, key, c->known.len, &inserted);
    if (inserted) {
        ft_expr fresh = FT_VID_IS_KNOWN(vid)
                            ? ft_session_value(c->session, ft_run_value(c->problem->run, vid))
                            : ft_session_constant(c->session, sort);
        ft_vec_push(&c->known, fresh);
    }
    assert(*slot < c->known.len);
    return c->known.data[*slot];
}

static ft_sort shared_sort(const ft_cssa *c, uint32_t variable)
{
    return c->problem->trace->shared_info[variable].sort;
}

ft_expr ft_cssa_initial(ft_cssa *c, uint32_t variable)
{
    return of_vid(c, ft_run_initial_vid(c->problem->run, variable), shared_sort(c, variable));
}

ft_expr ft_cssa_found(ft_cssa *c, uint32_t e)
{
    return of_vid(c, ft_run_vid(c->problem->run, e, 0),
                  shared_sort(c, c->problem->trace->object[e]));
}

ft_expr ft_cssa_read(const ft_cssa *c, uint32_t e, uint32_t i)
{
    FT_REQUIRE(c->action_of[e] != UINT32_MAX && c->action_of[e] + i < c->reads.len);
    ft_expr read = c->reads.data[c->action_of[e] + i];
    assert(read); /* a write has no slot */
    return read;
}

/* The value that the i-th assignment of e computes. */
static ft_expr value_at(const ft_cssa *c, uint32_t e, uint32_t i)
{
    assert(c->assigned[e] != UINT32_MAX && c->assigned[e] + i < c->values.len);
    return c->values.data[c->assigned[e] + i];
}

ft_expr ft_cssa_write(ft_cssa *c, uint32_t e, uint32_t variable)
{
    const ft_trace *trace = c->problem->trace;
    const ft_action *action = ft_trace_action(trace, e);
    if (!action || c->problem->model != FT_MODEL_CTP) {
        uint32_t slot = ft_run_find_access(trace, e, variable, true);
        return of_vid(c, ft_run_vid(c->problem->run, e, slot), shared_sort(c, variable));
    }
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (action->assignments[i].target == FT_SYM_SHARED(variable)) return value_at(c, e, i);
    return NULL;
}

/* ---- branches ----------------------------------------------------------------------------------
 */

static ft_lit both(ft_cssa *c, ft_lit a, ft_lit b)
{
    if (a == FT_LIT_TRUE) return b;
    ft_lit result = ft_session_variable(c->session);
    ft_session_clause(c->session, (ft_lit[2]){-result, a}, 2);
    ft_session_clause(c->session, (ft_lit[2]){-result, b}, 2);
    ft_session_clause(c->session, (ft_lit[3]){result, -a, -b}, 3);
    return result;
}

static void define_paths(ft_cssa *c)
{
    const ft_trace *trace = c->problem->trace;
    if (!trace->n_paths || ft_problem_follows_run(c->problem)) return;
    c->paths = ft_alloc(trace->n_paths * sizeof *c->paths);
    c->taken = ft_alloc((trace->n_paths / 2 + 1) * sizeof *c->taken);
    c->paths[0] = FT_LIT_TRUE;
    for (uint32_t p = 1; p < trace->n_paths; p++) {
        const ft_path *arm = &trace->paths[p];
        assert(arm->parent < p); /* its literal is defined */
        ft_lit *taken = &c->taken[(p - 1) / 2];
        if (arm->taken) *taken = ft_session_variable(c->session);
        c->paths[p] = both(c, c->paths[arm->parent], arm->taken ? *taken : -*taken);
    }
}

ft_lit ft_cssa_path(const ft_cssa *c, uint32_t e)
{
    const ft_trace *trace = c->problem->trace;
    if (c->paths) return c->paths[trace->path[e]];
    return trace->n_paths && (trace->flags[e] & FT_FLAG_PASSED) ? FT_LIT_FALSE : FT_LIT_TRUE;
}

/* ---- locals ------------------------------------------------------------------------------------
 */

/* The value that e assigns to the local; NULL: it does not. */
static ft_expr assigned(const ft_cssa *c, uint32_t e, uint32_t local)
{
    const ft_action *action = ft_trace_action(c->problem->trace, e);
    for (uint32_t i = 0; action && i < action->n_assignments; i++)
        if (action->assignments[i].target == FT_SYM_LOCAL(local)) return value_at(c, e, i);
    return NULL;
}

static ft_expr initial_local(ft_cssa *c, uint32_t local)
{
    const ft_trace *trace = c->problem->trace;
    uint32_t initial = trace->local_info[local].initial;
    if (initial != FT_NO_VALUE) return ft_session_value(c->session, trace->values[initial]);
    return ft_session_constant(c->session, trace->local_info[local].sort);
}

/* a where the literal is true, else b. */
static ft_expr choose(ft_cssa *c, ft_sort sort, ft_lit literal, ft_expr a, ft_expr b)
{
    ft_expr value = ft_session_one_of(c->session, sort, (ft_expr[2]){a, b}, 2);
    ft_session_imply(c->session, literal, ft_session_equal(c->session, value, a));
    ft_session_imply(c->session, -literal, ft_session_equal(c->session, value, b));
    return value;
}

/* The value of a local just before e; behind arms it is the phi-function of their end-ifs (Wang et
 * al. §8): the last assignment that is certain, and those in arms after it where they run. */
static ft_expr value_of_local(ft_cssa *c, uint32_t e, uint32_t local)
{
    typedef struct definition {
        ft_lit path;
        ft_expr value;
    } definition;
    const ft_order *order = c->problem->order;
    FT_VEC(definition) arms = {0};
    ft_expr value = NULL;
    for (uint32_t at = ft_order_previous(order, e); at != FT_NO_EVENT && !value;
         at = ft_order_previous(order, at)) {
        ft_lit path = ft_cssa_path(c, at);
        if (path == FT_LIT_FALSE) continue;
        ft_expr here = assigned(c, at, local);
        if (here && (ft_problem_certain(c->problem, at, e) || ft_fault_is(FT_FAULT_NO_PHI)))
            value = here;
        else if (here)
            ft_vec_push(&arms, (definition){path, here});
    }
    if (!value) value = initial_local(c, local);
    while (arms.len > 0) {
        definition arm = arms.data[--arms.len];
        value = choose(c, c->problem->trace->local_info[local].sort, arm.path, arm.value, value);
    }
    ft_vec_release(&arms);
    return value;
}

typedef struct place {
    ft_cssa *c;
    uint32_t e;
    const ft_reads *reads; /* NULL: the event's own */
    bool may_fail;         /* its condition may be false */
} place;

static ft_expr resolve(void *context, ft_symbol symbol)
{
    place *p = context;
    if (FT_SYM_IS_LOCAL(symbol)) return value_of_local(p->c, p->e, FT_SYM_INDEX(symbol));
    if (p->reads) return p->reads->shared(p->reads->context, symbol);
    uint32_t i = ft_run_find_access(p->c->problem->trace, p->e, symbol, false);
    assert(i != UINT32_MAX); /* a symbol of the action is one of its reads */
    return ft_cssa_read(p->c, p->e, i);
}

/* A compare-and-swap finds the value that it found in the run. For a member's own read the model
 * requires that anyway. */
static ft_expr found_again(place *p)
{
    ft_cssa *c = p->c;
    uint32_t variable = c->problem->trace->object[p->e];
    if (!p->reads || ft_fault_is(FT_FAULT_BLIND_SWAP)) return NULL;
    return ft_session_equal(c->session, p->reads->shared(p->reads->context, variable),
                            ft_cssa_found(c, p->e));
}

static ft_expr enabled(place *p)
{
    const ft_trace *trace = p->c->problem->trace;
    const ft_action *action = ft_trace_action(trace, p->e);
    if (ft_trace_compares(trace, p->e)) return found_again(p);
    if (!action) return NULL;
    ft_session *s = p->c->session;
    FT_VEC(ft_expr) all = {0};
    ft_expr defined;
    if (action->guard != FT_NO_TERM) {
        ft_expr guard = ft_session_term(s, trace->terms, action->guard, resolve, p, &defined);
        if (trace->kind[p->e] != FT_EVENT_IF && !p->may_fail) ft_vec_push(&all, guard);
        ft_vec_push(&all, defined);
    }
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        if (!ft_problem_may_be_undefined(trace->terms, action->assignments[i].term)) continue;
        ft_session_term(s, trace->terms, action->assignments[i].term, resolve, p, &defined);
        ft_vec_push(&all, defined);
    }
    ft_expr result = ft_session_and(s, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
    return result;
}

ft_expr ft_cssa_enabled(ft_cssa *c, uint32_t e)
{
    return enabled(&(place){.c = c, .e = e});
}

ft_lit ft_cssa_branch(ft_cssa *c, uint32_t e, ft_lit *taken)
{
    const ft_trace *trace = c->problem->trace;
    FT_REQUIRE(taken && c->taken && trace->kind[e] == FT_EVENT_IF);
    place p = {.c = c, .e = e};
    ft_expr condition = ft_session_term(c->session, trace->terms, ft_trace_action(trace, e)->guard,
                                        resolve, &p, NULL);
    *taken = c->taken[(ft_trace_arm(trace, e, true) - 1) / 2];
    return ft_session_name(c->session, condition);
}

ft_expr ft_cssa_enabled_with(ft_cssa *c, uint32_t e, const ft_reads *reads)
{
    return enabled(&(place){.c = c, .e = e, .reads = reads});
}

ft_expr ft_cssa_executable_with(ft_cssa *c, uint32_t e, const ft_reads *reads)
{
    const ft_trace *trace = c->problem->trace;
    bool assertion = trace->kind[e] == FT_EVENT_ASSERT;
    if (assertion && !ft_problem_may_be_undefined(trace->terms, ft_trace_action(trace, e)->guard))
        return NULL;
    return enabled(&(place){.c = c, .e = e, .reads = reads, .may_fail = assertion});
}

ft_expr ft_cssa_write_with(ft_cssa *c, uint32_t e, uint32_t variable, const ft_reads *reads)
{
    const ft_action *action = ft_trace_action(c->problem->trace, e);
    place p = {.c = c, .e = e, .reads = reads};
    for (uint32_t i = 0; action && i < action->n_assignments; i++)
        if (action->assignments[i].target == FT_SYM_SHARED(variable))
            return ft_session_term(c->session, c->problem->trace->terms,
                                   action->assignments[i].term, resolve, &p, NULL);
    if (c->problem->trace->kind[e] == FT_EVENT_RMW && !ft_trace_compares(c->problem->trace, e))
        return ft_session_constant(c->session, shared_sort(c, variable));
    return ft_cssa_write(c, e, variable);
}

ft_expr ft_cssa_false_with(ft_cssa *c, uint32_t e, ft_term term, const ft_reads *reads)
{
    place p = {.c = c, .e = e, .reads = reads};
    ft_expr defined;
    ft_expr value =
        ft_session_term(c->session, c->problem->trace->terms, term, resolve, &p, &defined);
    ft_expr both[2] = {ft_session_not(c->session, value), defined};
    return ft_session_and(c->session, both, 2);
}

/* ---- reads -------------------------------------------------------------------------------------
 */

static void add_range(const ft_problem *p, uint32_t e, uint32_t i, uint32_t variable,
                      ft_unknown *read)
{
    const ft_intervals *from = p->bounds ? p->bounds : p->widths;
    ft_range range;
    if (!from && p->numbers) from = p->numbers->intervals;
    if (!from || !ft_intervals_access(from, e, i, &range)) return;
    read->range = range;
    read->bounds = p->bounds;
    read->width = p->widths;
    if (p->numbers) read->number = ft_numbers_shared(p->numbers, variable);
}

/* A fresh unknown, with what is known of the values that the read can have. */
static ft_expr unknown_read(ft_cssa *c, uint32_t e, uint32_t i, uint32_t variable)
{
    const ft_problem *p = c->problem;
    const ft_domain *domain = p->domains ? ft_domains_read(p->domains, e, i) : NULL;
    ft_sort sort = shared_sort(c, variable);
    ft_unknown read = {.sort = sort, .range = ft_range_any(sort)};
    if (domain && !domain->any && domain->count > 0) {
        read.bits = domain->bits;
        read.count = domain->count;
    }
    add_range(p, e, i, variable, &read);
    return ft_session_unknown(c->session, &read);
}

/* ---- construction ------------------------------------------------------------------------------
 */

static void define_event(ft_cssa *c, uint32_t e)
{
    const ft_trace *trace = c->problem->trace;
    const ft_action *action = ft_trace_action(trace, e);
    if (!action || ft_cssa_path(c, e) == FT_LIT_FALSE) return;
    c->action_of[e] = (uint32_t)c->reads.len;
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        uint32_t variable = action->accesses[i].variable;
        ft_expr read = NULL;
        if (!action->accesses[i].write)
            read = c->problem->model == FT_MODEL_CTP
                       ? unknown_read(c, e, i, variable)
                       : of_vid(c, ft_run_vid(c->problem->run, e, i), shared_sort(c, variable));
        ft_vec_push(&c->reads, read);
    }
    place p = {.c = c, .e = e};
    c->assigned[e] = (uint32_t)c->values.len;
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_expr value = ft_session_term(c->session, trace->terms, action->assignments[i].term,
                                        resolve, &p, NULL);
        assert(value);
        ft_vec_push(&c->values, value);
    }
}

ft_cssa *ft_cssa_new(const ft_problem *problem, ft_session *session, const uint8_t *cone)
{
    FT_REQUIRE(problem && session);
    ft_cssa *c = ft_calloc(1, sizeof *c);
    size_t n = problem->trace->n_events;
    c->problem = problem;
    c->session = session;
    c->action_of = memset(ft_alloc((n + 1) * sizeof *c->action_of), 0xff, n * sizeof *c->action_of);
    c->assigned = memset(ft_alloc((n + 1) * sizeof *c->assigned), 0xff, n * sizeof *c->assigned);
    define_paths(c);
    if (!ft_run_symbolic(problem->run)) return c;
    const ft_order *order = problem->order;
    for (uint32_t i = 0; i < problem->trace->n_events; i++) {
        uint32_t e = order->thread_events[i];
        if (!cone || cone[e]) define_event(c, e);
    }
    return c;
}

void ft_cssa_free(ft_cssa *c)
{
    if (!c) return;
    free(c->action_of);
    free(c->assigned);
    free(c->paths);
    free(c->taken);
    ft_vec_release(&c->reads);
    ft_vec_release(&c->values);
    ft_vec_release(&c->known);
    ft_map_release(&c->constants);
    free(c);
}
