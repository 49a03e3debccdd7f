#include "reduce/intervals/execute.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "ranges/faults.h"

void ft_executor_init(ft_executor *x, ft_ranges *r, const ft_probe *probes)
{
    *x = (ft_executor){.r = r, .steps = r->graph->transactions->steps, .probes = probes};
    ft_evaluation_init(&x->evaluation, r->problem->trace->terms, r->domain, &r->terms);
    x->evaluation.shared_slot = r->shared_slot;
    x->spare = ft_alloc(((size_t)r->n_slots + 1) * sizeof *x->spare);
    x->alive = true;
}

void ft_executor_release(ft_executor *x)
{
    while (x->open.len > 0) free(x->open.data[--x->open.len].other);
    ft_vec_release(&x->open);
    ft_vec_release(&x->results);
    ft_evaluation_release(&x->evaluation);
    free(x->spare);
}

static void copy(const ft_executor *x, ft_range *to, const ft_range *from)
{
    memcpy(to, from, x->r->n_slots * sizeof *to);
}

/* Adds to the state. */
static void join_into(const ft_executor *x, ft_range *slots, const ft_range *other)
{
    for (uint32_t k = 0; k < x->r->n_slots; k++)
        slots[k] = x->r->domain->join(x->r->sorts[k], slots[k], other[k]);
}

static void record(ft_executor *x, uint64_t at, ft_sort sort, ft_range range)
{
    if (!x->discard) x->r->values.data[at] = x->r->domain->join(sort, x->r->values.data[at], range);
}

static uint64_t first_of(const ft_executor *x, uint32_t e)
{
    uint64_t first = 0;
    bool found = ft_map_get(&x->r->events, e, &first);
    assert(found); /* of each event of a step */
    (void)found;
    return first;
}

/* ---- plain events ---------------------------------------------------------------------------- */

/* A member's read returns the value in the trace, if that is known. */
static bool read_value(ft_executor *x, uint32_t variable, uint64_t at, uint32_t value,
                       ft_range *slots)
{
    const ft_trace *trace = x->r->problem->trace;
    uint32_t slot = x->r->shared_slot[variable];
    record(x, at, x->r->sorts[slot], slots[slot]);
    if (value == FT_NO_VALUE) return true;
    ft_value known = {x->r->sorts[slot], trace->values[value].bits};
    slots[slot] = x->r->domain->meet(known.sort, slots[slot], x->r->domain->single(known));
    return !x->r->domain->is_empty(slots[slot]);
}

static void write_value(ft_executor *x, uint32_t e, uint32_t variable, uint32_t access, uint64_t at,
                        ft_range *slots)
{
    const ft_run *run = x->r->problem->run;
    uint32_t slot = x->r->shared_slot[variable];
    ft_sort sort = x->r->sorts[slot];
    ft_vid vid = ft_run_vid(run, e, access);
    slots[slot] = FT_VID_IS_KNOWN(vid)
                      ? x->r->domain->single((ft_value){sort, ft_run_value(run, vid).bits})
                      : x->r->domain->any(sort);
    record(x, at, sort, slots[slot]);
}

static bool execute_plain(ft_executor *x, uint32_t e, ft_range *slots)
{
    const ft_trace *trace = x->r->problem->trace;
    uint32_t variable = trace->object[e], value = trace->data[e];
    uint64_t first = first_of(x, e);
    switch ((ft_event_kind)trace->kind[e]) {
    case FT_EVENT_READ:
        return read_value(x, variable, first, value, slots);
    case FT_EVENT_WRITE:
        write_value(x, e, variable, 0, first, slots);
        return true;
    case FT_EVENT_RMW:
        if (!read_value(x, variable, first, trace->updates[value].read, slots)) return false;
        write_value(x, e, variable, 1, first + 1, slots);
        return true;
    default:
        return true;
    }
}

/* ---- symbolic events ------------------------------------------------------------------------- */

static void record_accesses(ft_executor *x, const ft_action *action, uint64_t first, bool writes,
                            const ft_range *slots)
{
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        uint32_t slot = x->r->shared_slot[action->accesses[i].variable];
        if (action->accesses[i].write == writes)
            record(x, first + i, x->r->sorts[slot], slots[slot]);
    }
}

static uint32_t slot_of(const ft_executor *x, ft_symbol symbol)
{
    return FT_SYM_IS_LOCAL(symbol) ? x->evaluation.local_slot[FT_SYM_INDEX(symbol)]
                                   : x->r->shared_slot[FT_SYM_INDEX(symbol)];
}

/* All right-hand sides first, in the state before. */
static bool assign(ft_executor *x, const ft_action *action, uint64_t first, ft_range *slots)
{
    bool defined = true;
    x->results.len = 0;
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_range result = ft_evaluate(&x->evaluation, action->assignments[i].term);
        defined &= !x->r->domain->is_empty(result);
        ft_vec_push(&x->results, result);
    }
    if (!defined) return false;
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        uint32_t slot = slot_of(x, action->assignments[i].target);
        slots[slot] = x->results.data[i];
        record(x, first + action->n_accesses + i, x->r->sorts[slot], slots[slot]);
    }
    return true;
}

typedef struct symbols {
    ft_executor *x;
    ft_range *into;
    const ft_range *slots;
} symbols;

static void record_symbol(void *context, ft_symbol symbol)
{
    symbols *s = context;
    uint32_t slot = slot_of(s->x, symbol);
    *s->into = s->x->r->domain->join(s->x->r->sorts[slot], *s->into, s->slots[slot]);
    s->into++;
}

static void record_symbols(ft_executor *x, ft_term term, ft_range *into, const ft_range *slots)
{
    symbols s = {x, into, slots};
    if (!x->discard) ft_term_symbols(x->r->problem->trace->terms, term, record_symbol, &s);
}

/* An assertion that failed in the run, which went on, stops nobody. */
static bool stops(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] != FT_EVENT_IF &&
           !(trace->kind[e] == FT_EVENT_ASSERT && (trace->flags[e] & FT_FLAG_FAILED));
}

static bool execute_action(ft_executor *x, uint32_t e, const ft_action *action, ft_range *slots)
{
    uint64_t first = first_of(x, e);
    bool late = ft_interval_fault_is(FT_INTERVAL_FAULT_READ_AFTER);
    ft_evaluation_move(&x->evaluation, slots);
    if (!late) record_accesses(x, action, first, false, slots);
    if (action->guard != FT_NO_TERM) {
        ft_range holds = ft_evaluate(&x->evaluation, action->guard);
        uint64_t at = first + action->n_accesses + action->n_assignments;
        record(x, at, FT_BOOL_SORT, holds);
        if (x->r->problem->trace->kind[e] == FT_EVENT_ASSERT)
            record_symbols(x, action->guard, x->r->values.data + at + 1, slots);
        if (stops(x->r->problem->trace, e) && !ft_refine(&x->evaluation, action->guard, true))
            return false;
    }
    if (!assign(x, action, first, slots)) return false;
    if (late) record_accesses(x, action, first, false, slots);
    record_accesses(x, action, first, true, slots);
    return true;
}

static bool execute_event(ft_executor *x, uint32_t e, ft_range *slots)
{
    const ft_action *action = ft_trace_action(x->r->problem->trace, e);
    x->r->work++;
    if (ft_problem_never(x->r->problem, e)) return false;
    return action ? execute_action(x, e, action, slots) : execute_plain(x, e, slots);
}

/* ---- arms ------------------------------------------------------------------------------------ */

/* Both arms begin where the condition says so; the then-arm is executed first. */
static void open_arms(ft_executor *x, uint32_t e, ft_range *slots)
{
    const ft_action *action = ft_trace_action(x->r->problem->trace, e);
    ft_open_arm arm = {.other = ft_alloc(((size_t)x->r->n_slots + 1) * sizeof *arm.other)};
    copy(x, arm.other, slots);
    if (x->alive) {
        ft_evaluation_move(&x->evaluation, arm.other);
        arm.other_alive = ft_refine(&x->evaluation, action->guard, false);
        ft_evaluation_move(&x->evaluation, slots);
        x->alive = ft_refine(&x->evaluation, action->guard, true);
    }
    ft_vec_push(&x->open, arm);
}

static void change_arm(ft_executor *x, ft_range *slots)
{
    ft_open_arm *arm = &x->open.data[x->open.len - 1];
    bool alive = x->alive;
    copy(x, x->spare, slots);
    copy(x, slots, arm->other);
    copy(x, arm->other, x->spare);
    x->alive = arm->other_alive;
    arm->other_alive = alive;
}

static void close_arms(ft_executor *x, ft_range *slots)
{
    ft_open_arm arm = x->open.data[--x->open.len];
    if (arm.other_alive && !x->alive)
        copy(x, slots, arm.other);
    else if (arm.other_alive && !ft_interval_fault_is(FT_INTERVAL_FAULT_ONE_ARM))
        join_into(x, slots, arm.other);
    x->alive |= arm.other_alive;
    free(arm.other);
}

static bool is_structure(ft_event_kind kind)
{
    return kind == FT_EVENT_IF || kind == FT_EVENT_ELSE || kind == FT_EVENT_END_IF;
}

/* In an arm that began in an earlier transaction: it may be taken or not. */
static void execute_perhaps(ft_executor *x, uint32_t e, ft_range *slots)
{
    ft_range *before = ft_alloc(((size_t)x->r->n_slots + 1) * sizeof *before);
    copy(x, before, slots);
    bool done = execute_event(x, e, slots);
    if (!done)
        copy(x, slots, before);
    else if (!ft_interval_fault_is(FT_INTERVAL_FAULT_STRONG_ARM))
        join_into(x, slots, before);
    free(before);
}

static void execute_in_arms(ft_executor *x, uint32_t e, ft_range *slots)
{
    ft_event_kind kind = (ft_event_kind)x->r->problem->trace->kind[e];
    bool unknown = x->open.len == 0 && ft_trace_path(x->r->problem->trace, e) != 0;
    if (unknown) {
        if (x->alive) execute_perhaps(x, e, slots);
        return;
    }
    if (x->alive && (kind == FT_EVENT_IF || !is_structure(kind)))
        x->alive = execute_event(x, e, slots);
    if (kind == FT_EVENT_IF) open_arms(x, e, slots);
    if (kind == FT_EVENT_ELSE && x->open.len > 0) change_arm(x, slots);
    if (kind == FT_EVENT_END_IF && x->open.len > 0) close_arms(x, slots);
}

/* Some arm that is open can go on. */
static bool any_alive(const ft_executor *x)
{
    bool alive = x->alive;
    for (size_t k = 0; k < x->open.len; k++) alive |= x->open.data[k].other_alive;
    return alive;
}

static void look(ft_executor *x, uint32_t number, ft_range *slots)
{
    ft_evaluation_move(&x->evaluation, slots);
    ft_range value = ft_evaluate(&x->evaluation, x->probes[number].term);
    ft_range *seen = &x->r->probes.data[number];
    *seen = x->r->domain->join(FT_BOOL_SORT, *seen, value);
    if (number == 0) record_symbols(x, x->probes[0].term, x->r->probe_symbols.data, slots);
}

/* An else or end-if is next behind either arm. */
static void execute_probe(ft_executor *x, uint32_t number, ft_range *slots)
{
    ft_event_kind kind = (ft_event_kind)x->r->problem->trace->kind[x->probes[number].event];
    if (x->discard) return;
    if (x->alive) look(x, number, slots);
    if (x->open.len == 0 || (kind != FT_EVENT_ELSE && kind != FT_EVENT_END_IF)) return;
    const ft_open_arm *arm = &x->open.data[x->open.len - 1];
    if (arm->other_alive) look(x, number, arm->other);
}

bool ft_executor_step(ft_executor *x, uint32_t i, uint32_t p, ft_range *slots)
{
    const ft_step *step = &x->steps->threads[i].steps[p];
    x->evaluation.local_slot = x->r->local_slot[i];
    if (step->probe != FT_NO_PROBE) execute_probe(x, step->probe, slots);
    for (uint32_t place = step->first; place < step->first + step->count; place++) {
        execute_in_arms(x, ft_stepping_event(x->steps, i, place), slots);
        if (!any_alive(x)) break;
    }
    return any_alive(x);
}

bool ft_executor_close(ft_executor *x, ft_range *slots)
{
    while (x->open.len > 0) close_arms(x, slots);
    bool alive = x->alive;
    x->alive = true;
    return alive;
}
