#include "problem/problem.h"

#include "problem/faults.h"

bool ft_problem_never(const ft_problem *problem, uint32_t e)
{
    FT_REQUIRE(e < problem->trace->n_events);
    const ft_trace *trace = problem->trace;
    if (ft_order_never(problem->order, e)) return true;
    if ((trace->flags[e] & FT_FLAG_PASSED) && ft_problem_follows_run(problem)) return true;
    return problem->wakeups == FT_WAKEUPS_OBSERVED && trace->kind[e] == FT_EVENT_COND_WAKE &&
           !(trace->flags[e] & FT_FLAG_FAILED) &&
           ft_order_wake(problem->order, e)->signal == FT_NO_EVENT;
}

bool ft_problem_follows_run(const ft_problem *problem)
{
    return problem->model == FT_MODEL_OBSERVED || problem->model == FT_MODEL_MAXIMAL;
}

bool ft_problem_certain(const ft_problem *problem, uint32_t a, uint32_t e)
{
    FT_REQUIRE(a < problem->trace->n_events && e < problem->trace->n_events);
    if (ft_fault_is(FT_FAULT_PASSED_HIDES)) return true;
    if (ft_problem_follows_run(problem)) return !(problem->trace->flags[a] & FT_FLAG_PASSED);
    return ft_order_certain(problem->trace, a, e);
}

bool ft_problem_lock_error(const ft_problem *problem, uint32_t e)
{
    FT_REQUIRE(e < problem->trace->n_events);
    const ft_trace *trace = problem->trace;
    if (ft_event_kind_object(trace->kind[e]) != FT_OBJECT_LOCK) return false;
    if (trace->flags[e] & FT_FLAG_STRANGER) return true;
    uint32_t own = ft_order_section_at(problem->order, e, trace->object[e]);
    if (!ft_order_opens(trace, e) || trace->flags[e] & FT_FLAG_TRY) return false;
    return own != FT_NO_SECTION &&
           (trace->kind[e] == FT_EVENT_ACQUIRE || !problem->order->sections.data[own].shared);
}

static bool waits_for(const ft_problem *problem, uint32_t request, uint32_t holder)
{
    const ft_trace *trace = problem->trace;
    const ft_order *order = problem->order;
    const ft_section wanted = {.shared = trace->kind[request] == FT_EVENT_ACQUIRE_SHARED};
    if (trace->flags[request] & FT_FLAG_TRY) return false;
    if (ft_order_waits_behind(trace, request, holder)) return true;
    if (trace->kind[request] == FT_EVENT_ONCE_PASS)
        return ft_order_initialises(order, holder, trace->object[request]);
    if (trace->kind[request] == FT_EVENT_JOIN)
        return trace->object[request] == trace->thread[holder];
    if (!ft_order_opens(trace, request)) return false;
    uint32_t held = ft_order_section_at(order, holder, trace->object[request]);
    return held != FT_NO_SECTION && ft_order_conflict(&order->sections.data[held], &wanted);
}

bool ft_problem_cycle(const ft_problem *problem, const ft_claim *claim)
{
    FT_REQUIRE(claim->kind == FT_CLAIM_DEADLOCK && claim->n_events <= FT_CLAIM_MAX_EVENTS);
    for (uint32_t i = 0; i < claim->n_events; i++)
        if (!waits_for(problem, claim->events[i], claim->events[(i + 1) % claim->n_events]))
            return false;
    return claim->n_events > 1;
}

bool ft_problem_in_block(const ft_trace *trace, uint32_t block, uint32_t variable)
{
    FT_REQUIRE(block < trace->blocks.len);
    const ft_block_cells *cells = &trace->block_cells[block];
    uint32_t low = 0, high = cells->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cells->variables[middle] < variable)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cells->count && cells->variables[low] == variable;
}

bool ft_problem_is_true(const ft_problem *problem, ft_term term)
{
    if (term == FT_NO_TERM) return true;
    ft_term_node node = ft_term_get(problem->trace->terms, term);
    return node.op == FT_OP_LITERAL && node.bits != 0;
}

bool ft_problem_may_be_undefined(const ft_term_pool *pool, ft_term term)
{
    if (term == FT_NO_TERM) return false;
    ft_term_node node = ft_term_get(pool, term);
    if (node.op == FT_OP_DIV || node.op == FT_OP_MOD || node.op == FT_OP_BVUDIV ||
        node.op == FT_OP_BVUREM || node.op == FT_OP_BVSDIV || node.op == FT_OP_BVSREM)
        return true;
    for (uint32_t i = 0; i < node.n_children; i++)
        if (ft_problem_may_be_undefined(pool, node.children[i])) return true;
    return false;
}

bool ft_event_conditional(const ft_trace *trace, uint32_t e)
{
    FT_REQUIRE(e < trace->n_events);
    const ft_action *action = ft_trace_action(trace, e);
    if (!action) return ft_trace_compares(trace, e);
    if (action->guard != FT_NO_TERM) return true;
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (ft_problem_may_be_undefined(trace->terms, action->assignments[i].term)) return true;
    return false;
}

bool ft_access_conditional(const ft_trace *trace, uint32_t e, const ft_access *access)
{
    if (ft_trace_compares(trace, e)) return access->write;
    return !access->in_guard && ft_event_conditional(trace, e);
}

bool ft_remote_conditional(const ft_trace *trace, uint32_t e, const ft_access *access)
{
    bool swap = ft_trace_failed_swap(trace, e) && !ft_fault_is(FT_FAULT_FAILED_SWAP);
    return swap || ft_access_conditional(trace, e, access);
}
