/* Phi_PRP: the claims in the literal encoding (Wang et al. §4.2, §5). */
#include "base/contract.h"
#include "encode/literal.h"

static void next(ft_literal *l, uint32_t e)
{
    FT_REQUIRE(e < l->p->trace->n_events);
    const ft_order *order = l->p->order;
    uint32_t previous = ft_order_previous(order, e), thread = l->p->trace->thread[e];
    if (previous != FT_NO_EVENT)
        ft_literal_assert(l, ft_literal_member(l, previous));
    else if (order->fork_of[thread] != FT_NO_EVENT)
        ft_literal_assert(l, ft_literal_member(l, order->fork_of[thread]));
    ft_literal_assert(l, ft_literal_path(l, e));
    ft_literal_assert(l, ft_session_less(l->s, l->violation, l->time[e]));
}

static bool takes_place(ft_literal *l, uint32_t e, uint32_t variable, bool write,
                        ft_literal_place *at, ft_expr *needs)
{
    const ft_trace *trace = l->p->trace;
    uint32_t i = ft_run_find_access(trace, e, variable, write), count;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    if (i == UINT32_MAX) return false;
    bool conditional = e == l->extra ? ft_remote_conditional(trace, e, &accesses[i])
                                     : ft_access_conditional(trace, e, &accesses[i]);
    *needs = NULL;
    if (conditional && l->p->model != FT_MODEL_CONTROL) *needs = ft_literal_enabled(l, e, at);
    return true;
}

static void claim_race(ft_literal *l, const ft_claim *claim, ft_literal_place *end)
{
    const ft_trace *trace = l->p->trace;
    FT_VEC(ft_expr) ways = {0};
    ft_access sx;
    uint32_t nx;
    const ft_access *ax = ft_trace_accesses(trace, claim->events[0], &sx, &nx);
    next(l, claim->events[0]);
    next(l, claim->events[1]);
    for (uint32_t i = 0; i < nx; i++)
        for (int write = 0; write < 2; write++) {
            ft_expr needs[2];
            if (!ax[i].write && !write) continue;
            if (!takes_place(l, claim->events[1], ax[i].variable, write, end, &needs[1])) continue;
            takes_place(l, claim->events[0], ax[i].variable, ax[i].write, end, &needs[0]);
            ft_vec_push(&ways, ft_session_and(l->s, needs, 2));
        }
    ft_literal_assert(l, ways.len ? ft_session_or(l->s, ways.data, (uint32_t)ways.len)
                                  : ft_session_not(l->s, NULL));
    ft_vec_release(&ways);
}

static void claim_atomicity(ft_literal *l, const ft_claim *claim, ft_literal_place *end,
                            ft_literal_place *departing)
{
    uint32_t remote = claim->events[1];
    assert(l->extra == FT_NO_EVENT || l->extra == remote);
    ft_expr needs;
    if (l->extra == FT_NO_EVENT) {
        ft_literal_assert(l, ft_literal_executed(l, remote));
    } else {
        uint32_t previous = ft_order_previous(l->p->order, remote);
        uint32_t after = ft_order_next(l->p->order, remote);
        if (previous != FT_NO_EVENT) ft_literal_assert(l, ft_literal_member(l, previous));
        ft_literal_assert(l, ft_literal_executed(l, remote));
        if (after != FT_NO_EVENT)
            ft_literal_assert(l, ft_session_less(l->s, l->violation, l->time[after]));
        if (takes_place(l, remote, claim->variable, claim->writes[1], departing, &needs))
            ft_literal_assert(l, needs);
    }
    ft_literal_assert(l, ft_literal_path(l, claim->events[0]));
    ft_literal_assert(l, ft_literal_before(l, claim->events[0], remote));
    next(l, claim->events[2]);
    if (takes_place(l, claim->events[2], claim->variable, claim->writes[2], end, &needs))
        ft_literal_assert(l, needs);
}

static void executable(ft_literal *l, uint32_t e, ft_literal_place *end)
{
    const ft_trace *trace = l->p->trace;
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(l->p->order, e, &sources);
    for (uint32_t i = 0; i < count; i++) ft_literal_assert(l, ft_literal_member(l, sources[i]));
    uint32_t awaited = ft_order_awaited(l->p->order, e);
    if (awaited != FT_NO_EVENT) ft_literal_assert(l, ft_literal_member(l, awaited));
    if (l->p->model != FT_MODEL_CONTROL && ft_trace_is_symbolic_event(trace, e))
        ft_literal_assert(
            l, ft_cssa_executable_with(l->cssa, e, &(ft_reads){ft_literal_state_value, end}));
    if (trace->kind[e] == FT_EVENT_WAIT) ft_literal_assert(l, ft_literal_unit_left(l, e));
    if (ft_problem_never(l->p, e)) ft_literal_assert(l, ft_session_not(l->s, NULL));
    if (ft_order_opens(trace, e)) ft_literal_assert(l, ft_literal_free_lock(l, e, true));
    ft_literal_assert(l, ft_literal_ways(l, e, true));
}

static void claim_false(ft_literal *l, uint32_t e, ft_term term, ft_literal_place *end)
{
    next(l, e);
    if (l->p->model == FT_MODEL_CONTROL) { /* a term that is not always true may be false */
        if (ft_problem_is_true(l->p, term)) ft_literal_assert(l, ft_session_not(l->s, NULL));
        return;
    }
    ft_literal_assert(
        l, ft_cssa_false_with(l->cssa, e, term, &(ft_reads){ft_literal_state_value, end}));
}

/* An access of e to the block takes place in the final state, or e frees it. */
static void claim_use(ft_literal *l, uint32_t e, uint32_t block, ft_literal_place *end)
{
    const ft_trace *trace = l->p->trace;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    FT_VEC(ft_expr) uses = {0};
    if (trace->kind[e] == FT_EVENT_FREE && trace->object[e] == block)
        ft_vec_push(&uses, (ft_expr)NULL);
    for (uint32_t i = 0; i < count; i++) {
        ft_expr needs;
        if (ft_problem_in_block(trace, block, accesses[i].variable) &&
            takes_place(l, e, accesses[i].variable, accesses[i].write, end, &needs))
            ft_vec_push(&uses, needs);
    }
    ft_literal_assert(l, ft_literal_any(l, uses.data, uses.len));
    ft_vec_release(&uses);
}

static void claim_after_free(ft_literal *l, const ft_claim *claim, ft_literal_place *end)
{
    const ft_trace *trace = l->p->trace;
    uint32_t f = claim->events[0], block = trace->object[f];
    ft_literal_assert(l, ft_literal_executed(l, f));
    next(l, claim->events[1]);
    claim_use(l, claim->events[1], block, end);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (ft_event_kind_object(trace->kind[e]) == FT_OBJECT_BLOCK && trace->object[e] == block &&
            e != f)
            ft_literal_assert(
                l, ft_literal_implied(l, ft_literal_executed(l, e), ft_literal_before(l, e, f)));
}

/* Alloc a is executed, and no free of its block after it. */
static ft_expr allocated_last(ft_literal *l, uint32_t a)
{
    const ft_trace *trace = l->p->trace;
    FT_VEC(ft_expr) all = {0};
    ft_vec_push(&all, ft_literal_executed(l, a));
    for (uint32_t f = 0; f < trace->n_events; f++)
        if (trace->kind[f] == FT_EVENT_FREE && trace->object[f] == trace->object[a])
            ft_vec_push(
                &all, ft_literal_implied(l, ft_literal_executed(l, f), ft_literal_before(l, f, a)));
    ft_expr both = ft_session_and(l->s, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
    return both;
}

/* Some block with the variable is allocated at the end, where the trace allocates any. */
static void claim_there(ft_literal *l, uint32_t variable)
{
    const ft_trace *trace = l->p->trace;
    FT_VEC(ft_expr) there = {0};
    for (uint32_t a = 0; trace->blocks.len && a < trace->n_events; a++)
        if (trace->kind[a] == FT_EVENT_ALLOC &&
            ft_problem_in_block(trace, trace->object[a], variable))
            ft_vec_push(&there, allocated_last(l, a));
    if (there.len) ft_literal_assert(l, ft_literal_any(l, there.data, there.len));
    ft_vec_release(&there);
}

static void claim_uninitialised(ft_literal *l, const ft_claim *claim, ft_literal_place *end)
{
    const ft_trace *trace = l->p->trace;
    ft_expr needs = ft_session_not(l->s, NULL);
    next(l, claim->events[0]);
    takes_place(l, claim->events[0], claim->variable, false, end, &needs);
    ft_literal_assert(l, needs);
    const ft_literal_cell *writes = &l->cells[claim->variable];
    FT_VEC(ft_expr) forgotten = {0};
    for (size_t i = 0; i < writes->len; i++) {
        uint32_t w = writes->data[i].event;
        forgotten.len = 0;
        for (uint32_t a = 0; trace->blocks.len && a < trace->n_events; a++) {
            if (trace->kind[a] != FT_EVENT_ALLOC ||
                !ft_problem_in_block(trace, trace->object[a], claim->variable))
                continue;
            ft_expr both[2] = {ft_literal_executed(l, a), ft_literal_before(l, w, a)};
            ft_vec_push(&forgotten, ft_session_and(l->s, both, 2));
        }
        ft_literal_assert(l, ft_literal_implied(l, ft_literal_executed(l, w),
                                                ft_literal_any(l, forgotten.data, forgotten.len)));
    }
    ft_vec_release(&forgotten);
    claim_there(l, claim->variable);
}

static void claim_nexts(ft_literal *l, const ft_claim *claim, bool possible)
{
    for (uint32_t i = 0; i < ft_claim_events(claim); i++) next(l, claim->events[i]);
    if (!possible) ft_literal_assert(l, ft_session_not(l->s, NULL));
}

void ft_literal_property(ft_literal *l, const ft_claim *claim, ft_literal_place *end,
                         ft_literal_place *departing)
{
    const ft_trace *trace = l->p->trace;
    switch (claim->kind) {
    case FT_CLAIM_RACE:
        claim_race(l, claim, end);
        break;
    case FT_CLAIM_ASSERTION:
        claim_false(l, claim->events[0], ft_trace_action(trace, claim->events[0])->guard, end);
        break;
    case FT_CLAIM_CONDITION:
        claim_false(l, claim->events[0], claim->condition, end);
        break;
    case FT_CLAIM_ATOMICITY:
        claim_atomicity(l, claim, end, departing);
        break;
    case FT_CLAIM_CO_ENABLED:
        for (int i = 0; i < 2; i++) {
            next(l, claim->events[i]);
            executable(l, claim->events[i], end);
        }
        break;
    case FT_CLAIM_BEFORE:
        next(l, claim->events[0]);
        executable(l, claim->events[0], end);
        for (uint32_t e = 0; e < trace->n_events; e++)
            if (trace->loc[e] == claim->avoid)
                ft_literal_assert(l, ft_session_not(l->s, ft_literal_executed(l, e)));
        break;
    case FT_CLAIM_LOCK_ERROR:
        claim_nexts(l, claim, ft_problem_lock_error(l->p, claim->events[0]));
        break;
    case FT_CLAIM_DEADLOCK:
        claim_nexts(l, claim, ft_problem_cycle(l->p, claim));
        break;
    case FT_CLAIM_AFTER_FREE:
        claim_after_free(l, claim, end);
        break;
    case FT_CLAIM_UNINITIALISED:
        claim_uninitialised(l, claim, end);
        break;
    case FT_CLAIM_STUCK:   /* ft_literal_decide hands it on */
    case FT_CLAIM_FAILURE: /* likewise */
    case FT_CLAIM_KINDS:
        break;
    }
}
