#include "oracle/state.h"

#include <assert.h>
#include <string.h>

typedef struct view {
    const ft_machine *machine;
    const ft_state *state;
    uint32_t thread;
} view;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const view *v = context;
    const ft_trace *trace = v->machine->trace;
    uint32_t i = FT_SYM_INDEX(symbol);
    if (FT_SYM_IS_LOCAL(symbol)) {
        *value = (ft_value){trace->local_info[i].sort, v->state->local[v->thread][i]};
        return v->state->local_known[v->thread][i] != 0;
    }
    *value = (ft_value){trace->shared_info[i].sort, v->state->shared[i]};
    return v->state->shared_known[i] != 0;
}

static ft_eval_status evaluate(const ft_machine *machine, const ft_state *state, uint32_t thread,
                               ft_term term, ft_value *value)
{
    view v = {machine, state, thread};
    return ft_term_eval(machine->trace->terms, term, look_up, &v, value);
}

typedef enum truth { FALSE_, TRUE_, UNDEFINED, UNKNOWN } truth;

static truth evaluate_bool(const ft_machine *machine, const ft_state *state, uint32_t thread,
                           ft_term term)
{
    if (term == FT_NO_TERM) return TRUE_;
    ft_value value = {FT_BOOL_SORT, 0};
    ft_eval_status status = evaluate(machine, state, thread, term, &value);
    if (status == FT_EVAL_UNDEFINED) return UNDEFINED;
    if (status != FT_EVAL_OK) return UNKNOWN;
    return value.bits ? TRUE_ : FALSE_;
}

/* Can the term be undefined at all? Only a division can (term.h). */
static bool may_be_undefined(const ft_term_pool *pool, ft_term term)
{
    if (term == FT_NO_TERM) return false;
    static const ft_op divisions[] = {FT_OP_DIV,    FT_OP_MOD,    FT_OP_BVUDIV,
                                      FT_OP_BVUREM, FT_OP_BVSDIV, FT_OP_BVSREM};
    ft_term_node node = ft_term_get(pool, term);
    bool divides = false;
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++)
        divides |= node.op == divisions[i];
    for (uint32_t i = 0; i < node.n_children; i++) {
        ft_term_node child = ft_term_get(pool, node.children[i]);
        bool never_zero = child.op == FT_OP_LITERAL && child.bits != 0;
        if (may_be_undefined(pool, node.children[i]) || (divides && i > 0 && !never_zero))
            return true;
    }
    return false;
}

static uint32_t accesses_of(const ft_machine *machine, uint32_t event, const ft_access **accesses,
                            ft_access *scratch)
{
    uint32_t count = 0;
    *accesses = ft_trace_accesses(machine->trace, event, scratch, &count);
    assert(count <= FT_MACHINE_ACCESSES);
    return count;
}

/* ---- models: what a member read must return (docs/models.md) ---- */

/* What a read or rmw returned in the run, as the trace says it. */
static uint32_t value_read(const ft_trace *trace, uint32_t event)
{
    if (trace->kind[event] == FT_EVENT_RMW) return trace->updates[trace->data[event]].read;
    return trace->data[event];
}

static uint32_t value_written(const ft_trace *trace, uint32_t event)
{
    if (trace->kind[event] == FT_EVENT_RMW) return trace->updates[trace->data[event]].written;
    return trace->data[event];
}

static bool same_value(const ft_state *state, uint32_t variable, const ft_seen *seen)
{
    if (seen->known) return state->shared_known[variable] && state->shared[variable] == seen->bits;
    return !state->shared_known[variable] && state->writer[variable] == seen->source;
}

static bool read_conforms(const ft_machine *machine, const ft_state *state, uint32_t event,
                          uint32_t access, uint32_t variable)
{
    const ft_seen *seen = &machine->seen[event][access];
    uint8_t writer = state->writer[variable];
    bool tainted = state->stopped && writer &&
                   machine->trace->thread[writer - 1] + 1u == state->stopped &&
                   machine->index[writer - 1] + 1u == state->pos[state->stopped - 1];
    if (tainted) return false;
    bool symbolic = ft_trace_is_symbolic_event(machine->trace, event);
    bool silent = !symbolic && value_read(machine->trace, event) == FT_NO_VALUE;
    /* Nothing was observed there, so that nothing is what it has to return. */
    if (silent && machine->passed[event]) return machine->model == FT_MODEL_CONTROL;
    switch (machine->model) {
    case FT_MODEL_OBSERVED:
        return writer == seen->source;
    case FT_MODEL_MAXIMAL:
        return silent ? writer == seen->source : same_value(state, variable, seen);
    case FT_MODEL_CONTROL:
        return true;
    case FT_MODEL_CTP:
        if (symbolic) return true;
        return silent ? writer == seen->source : same_value(state, variable, seen);
    case FT_MODELS:
        break;
    }
    return false;
}

/* Guard reads always happen, the others only in an assignment that takes place. */
static bool reads_conform(const ft_machine *machine, const ft_state *state, uint32_t event,
                          bool enabled)
{
    ft_access scratch;
    const ft_access *accesses;
    uint32_t count = accesses_of(machine, event, &accesses, &scratch);
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write || (!accesses[i].in_guard && !enabled)) continue;
        if (!read_conforms(machine, state, event, i, accesses[i].variable)) return false;
    }
    return true;
}

/* With the reads of the observed run an event does what it did there, whatever the values. */
static bool does_as_seen(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    return (machine->model == FT_MODEL_OBSERVED || machine->model == FT_MODEL_MAXIMAL) &&
           !machine->passed[event] && reads_conform(machine, state, event, true);
}

/* ---- effects ---- */

static void note_written(const ft_machine *machine, ft_state *state, uint32_t variable)
{
    if (machine->trace->shared_info[variable].initial == FT_NO_VALUE) state->written[variable] = 1;
}

static void set_shared(const ft_machine *machine, ft_state *state, uint32_t variable,
                       uint32_t event, bool known, uint64_t bits)
{
    note_written(machine, state, variable);
    state->shared[variable] = known ? bits : 0;
    state->shared_known[variable] = known;
    state->writer[variable] = (uint8_t)(event + 1);
}

static void set_target(const ft_machine *machine, ft_state *state, uint32_t event, ft_symbol target,
                       bool known, uint64_t bits)
{
    uint32_t thread = machine->trace->thread[event], i = FT_SYM_INDEX(target);
    if (!FT_SYM_IS_LOCAL(target)) {
        set_shared(machine, state, i, event, known, bits);
        return;
    }
    state->local[thread][i] = known ? bits : 0;
    state->local_known[thread][i] = known;
}

/* All of `set` at once, on the values before; false when a term is undefined. */
static bool assign(const ft_machine *machine, const ft_state *before, uint32_t event,
                   ft_state *after)
{
    const ft_action *action = ft_trace_action(machine->trace, event);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_value value = {FT_BOOL_SORT, 0};
        ft_eval_status status = evaluate(machine, before, machine->trace->thread[event],
                                         action->assignments[i].term, &value);
        if (status == FT_EVAL_UNDEFINED) return false;
        set_target(machine, after, event, action->assignments[i].target, status == FT_EVAL_OK,
                   value.bits);
    }
    return true;
}

/* Does running this event, whose reads do not follow the model or whose condition fails, end its
 * thread? Only the monitored t_r may do so. */
static bool depart(const ft_machine *machine, const ft_monitor *monitor, uint32_t event,
                   ft_state *after)
{
    if (event != monitor->remote) return false;
    after->stopped = (uint8_t)(machine->trace->thread[event] + 1);
    return true;
}

/* A guard that fails, or a term without a value, keeps the event from being a member; as t_r it
 * stops its thread after the guard's reads, which happen whatever the outcome (claim.h). */
static bool step_assign(const ft_machine *machine, const ft_monitor *monitor,
                        const ft_state *before, uint32_t event, bool guard, ft_state *after)
{
    ft_state untouched = *after;
    bool enabled = guard && assign(machine, before, event, after);
    if (!enabled) *after = untouched;
    bool conforms = enabled && reads_conform(machine, before, event, true);
    if (event == monitor->remote) after->remote_enabled = enabled ? FT_TRI_YES : FT_TRI_NO;
    return conforms || depart(machine, monitor, event, after);
}

/* Does a term of it have a value or none, who knows? */
static bool terms_unknown(const ft_machine *machine, const ft_state *before, uint32_t event)
{
    const ft_action *action = ft_trace_action(machine->trace, event);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_value value;
        ft_term term = action->assignments[i].term;
        ft_eval_status status =
            evaluate(machine, before, machine->trace->thread[event], term, &value);
        if (status != FT_EVAL_OK && status != FT_EVAL_UNDEFINED &&
            may_be_undefined(machine->trace->terms, term))
            return true;
    }
    return false;
}

static bool writes_shared(const ft_machine *machine, uint32_t event)
{
    ft_access scratch;
    const ft_access *accesses;
    uint32_t count = accesses_of(machine, event, &accesses, &scratch);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write) return true;
    return false;
}

/* As t_r, an event with a guard that nobody knows: its guard's reads happen either way, and its
 * thread need not go on. */
static uint32_t step_assign_branches(const ft_machine *machine, const ft_monitor *monitor,
                                     const ft_state *before, uint32_t event, ft_state *next)
{
    const ft_action *action = ft_trace_action(machine->trace, event);
    truth guard = evaluate_bool(machine, before, machine->trace->thread[event], action->guard);
    if (guard == TRUE_ && terms_unknown(machine, before, event)) guard = UNKNOWN;
    if (guard != UNKNOWN || does_as_seen(machine, before, event))
        return step_assign(machine, monitor, before, event, guard == TRUE_ || guard == UNKNOWN,
                           &next[0]);
    ft_state after = next[0];
    after.maybe = 1;
    next[0] = next[1] = after;
    uint32_t count = step_assign(machine, monitor, before, event, true, &next[0]);
    if (!count) next[0] = after;
    count += step_assign(machine, monitor, before, event, false, &next[count]);
    if (event != monitor->remote || writes_shared(machine, event)) return count;
    after.maybe = before->maybe;
    after.stopped = (uint8_t)(machine->trace->thread[event] + 1);
    after.remote_enabled = FT_TRI_MAYBE;
    next[count++] = after;
    return count;
}

/* An assume or assert as a member, or as a t_r that fails or departs. */
static uint32_t step_condition(const ft_machine *machine, const ft_monitor *monitor,
                               const ft_state *before, uint32_t event, ft_state *next)
{
    const ft_trace *trace = machine->trace;
    truth holds =
        evaluate_bool(machine, before, trace->thread[event], ft_trace_action(trace, event)->guard);
    bool conforms = reads_conform(machine, before, event, false) && holds != UNDEFINED;
    bool failed = trace->kind[event] == FT_EVENT_ASSERT && (trace->flags[event] & FT_FLAG_FAILED);
    bool as_seen = holds == UNKNOWN && does_as_seen(machine, before, event);
    if (conforms && (holds == TRUE_ || failed || as_seen)) return 1;
    if (conforms && holds == UNKNOWN) {
        /* As t_r it happens either way: its thread need not go on. */
        next[1] = next[0];
        next[0].maybe = 1;
        return depart(machine, monitor, event, &next[1]) ? 2 : 1;
    }
    return depart(machine, monitor, event, &next[0]);
}

static void go(const ft_machine *machine, uint32_t event, bool holds, ft_state *after)
{
    if (holds)
        after->held |= machine->arms.bit[event];
    else
        after->failed |= machine->arms.bit[event];
}

static uint32_t go_either_way(const ft_machine *machine, uint32_t event, ft_state *next)
{
    next[1] = next[0];
    go(machine, event, true, &next[0]);
    go(machine, event, false, &next[1]);
    return 2;
}

/* An if never stops its thread but by a term without a value; with the reads of the run it goes the
 * way that it went there. */
static uint32_t step_if(const ft_machine *machine, const ft_monitor *monitor,
                        const ft_state *before, uint32_t event, ft_state *next)
{
    truth holds = evaluate_bool(machine, before, machine->trace->thread[event],
                                ft_trace_action(machine->trace, event)->guard);
    bool conforms = reads_conform(machine, before, event, false) && holds != UNDEFINED;
    if (!conforms) return depart(machine, monitor, event, &next[0]);
    if (holds == UNKNOWN && machine->model == FT_MODEL_CTP) {
        next[0].maybe = 1;
        return go_either_way(machine, event, next);
    }
    bool held = (machine->held & machine->arms.bit[event]) != 0;
    go(machine, event, holds == UNKNOWN ? held : holds == TRUE_, &next[0]);
    return 1;
}

static uint32_t write_plain(const ft_machine *machine, uint32_t event, ft_state *after)
{
    const ft_trace *trace = machine->trace;
    uint32_t value = value_written(trace, event);
    set_shared(machine, after, trace->object[event], event, value != FT_NO_VALUE,
               trace->values[value].bits);
    return 1;
}

/* Is this no compare-and-swap that is known to find something else than in the run? */
static bool finds_again(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    uint32_t variable = machine->trace->object[event];
    return !ft_trace_compares(machine->trace, event) || !state->shared_known[variable] ||
           state->shared[variable] == machine->seen[event][0].bits;
}

static bool finds_value_again(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    uint32_t variable = machine->trace->object[event];
    return machine->seen[event][0].known && state->shared_known[variable] &&
           state->shared[variable] == machine->seen[event][0].bits;
}

/* As t_r an update whose read departs writes all the same, and nobody knows what where it finds
 * another value than in the run; but a compare-and-swap what it wrote in the run, or nothing. */
static uint32_t step_update(const ft_machine *machine, const ft_monitor *monitor,
                            const ft_state *before, uint32_t event, ft_state *after)
{
    bool found = machine->observing || finds_again(machine, before, event);
    if (found) write_plain(machine, event, after);
    if (event == monitor->remote) after->remote_enabled = found ? FT_TRI_YES : FT_TRI_NO;
    if (machine->observing || reads_conform(machine, before, event, true)) return 1;
    if (!ft_trace_compares(machine->trace, event) && !finds_value_again(machine, before, event))
        set_shared(machine, after, machine->trace->object[event], event, false, 0);
    return depart(machine, monitor, event, after);
}

/* Under control every access of an event happens, and nothing is computed (Wang et al. §7.2). */
static uint32_t step_without_values(const ft_machine *machine, uint32_t event,
                                    ft_state next[FT_MACHINE_BRANCHES])
{
    if (machine->trace->kind[event] == FT_EVENT_IF) return go_either_way(machine, event, next);
    ft_access scratch;
    const ft_access *accesses;
    uint32_t count = accesses_of(machine, event, &accesses, &scratch);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write) note_written(machine, &next[0], accesses[i].variable);
    return 1;
}

/* The event's effect; next[0] is the state with the thread moved on. */
static uint32_t perform(const ft_machine *machine, const ft_monitor *monitor, const ft_state *state,
                        uint32_t event, ft_state *next)
{
    const ft_trace *trace = machine->trace;
    ft_event_kind kind = (ft_event_kind)trace->kind[event];
    bool data = ft_event_kind_object(kind) == FT_OBJECT_VARIABLE ||
                ft_trace_is_symbolic_event(trace, event);
    if (!data) return ft_sync_step(machine, event, next);
    if (machine->model == FT_MODEL_CONTROL) return step_without_values(machine, event, next);
    if (kind == FT_EVENT_WRITE) return write_plain(machine, event, &next[0]);
    if (kind == FT_EVENT_RMW) return step_update(machine, monitor, state, event, &next[0]);
    if (kind == FT_EVENT_ASSIGN) return step_assign_branches(machine, monitor, state, event, next);
    if (kind == FT_EVENT_IF) return step_if(machine, monitor, state, event, next);
    if (kind != FT_EVENT_READ) return step_condition(machine, monitor, state, event, next);
    return reads_conform(machine, state, event, true) || depart(machine, monitor, event, &next[0]);
}

static bool in_place(const ft_machine *machine, const ft_monitor *monitor, const ft_state *state,
                     uint32_t event)
{
    if (monitor->avoid != FT_NO_LOC && machine->trace->loc[event] == monitor->avoid) return false;
    if (event != monitor->remote || monitor->first == FT_NO_EVENT) return true;
    return ft_machine_has_executed(machine, state, monitor->first);
}

bool ft_machine_is_next(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    uint32_t thread = machine->trace->thread[event];
    uint8_t forker = machine->forker[thread];
    if (state->pos[thread] != machine->index[event] || state->stopped == thread + 1) return false;
    return !forker || ft_machine_has_executed(machine, state, forker - 1u);
}

bool ft_machine_on_path(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    return (machine->arms.then[event] & ~state->held) == 0 &&
           (machine->arms.other[event] & ~state->failed) == 0;
}

bool ft_machine_has_executed(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    return state->pos[machine->trace->thread[event]] > machine->index[event] &&
           ft_machine_on_path(machine, state, event);
}

bool ft_machine_thread_ended(const ft_machine *machine, const ft_state *state, uint32_t thread)
{
    return state->pos[thread] == machine->length[thread] && state->stopped != thread + 1;
}

/* A thread that has stopped stays where it is. */
static void pass_over(const ft_machine *machine, ft_state *state, uint32_t thread)
{
    while (state->stopped != thread + 1 && state->pos[thread] < machine->length[thread] &&
           !ft_machine_on_path(machine, state, machine->events[thread][state->pos[thread]]))
        state->pos[thread]++;
}

uint32_t ft_machine_step(const ft_machine *machine, const ft_monitor *monitor,
                         const ft_state *state, uint32_t thread, ft_state next[FT_MACHINE_BRANCHES])
{
    if (state->pos[thread] >= machine->length[thread]) return 0;
    uint32_t event = machine->events[thread][state->pos[thread]];
    if (!ft_machine_is_next(machine, state, event) || !ft_sync_ready(machine, state, event))
        return 0;
    if (!in_place(machine, monitor, state, event) || ft_trace_is_blocked(machine->trace, event))
        return 0;
    next[0] = *state;
    next[0].pos[thread]++;
    if (event == monitor->remote) next[0].remote_enabled = FT_TRI_YES;
    uint32_t count = perform(machine, monitor, state, event, next);
    for (uint32_t i = 0; i < count; i++) pass_over(machine, &next[i], thread);
    return count;
}

bool ft_machine_complete(const ft_machine *machine, const ft_state *state)
{
    for (uint32_t t = 0; t < machine->n_threads; t++)
        if (!ft_machine_thread_ended(machine, state, t)) return false;
    return true;
}

static bool is_literal_true(const ft_term_pool *pool, ft_term term)
{
    ft_term_node node = ft_term_get(pool, term);
    return node.op == FT_OP_LITERAL && node.bits != 0;
}

ft_tri ft_machine_holds(const ft_machine *machine, const ft_state *state, uint32_t event,
                        ft_term condition)
{
    if (machine->model == FT_MODEL_CONTROL)
        return is_literal_true(machine->trace->terms, condition) ? FT_TRI_YES : FT_TRI_NO;
    truth value = evaluate_bool(machine, state, machine->trace->thread[event], condition);
    if (value == UNKNOWN) return FT_TRI_MAYBE;
    return value == FALSE_ ? FT_TRI_NO : FT_TRI_YES;
}

ft_tri ft_machine_enabled(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    const ft_action *action = ft_trace_action(machine->trace, event);
    if (machine->model == FT_MODEL_CONTROL) return FT_TRI_YES;
    if (!action) return finds_again(machine, state, event) ? FT_TRI_YES : FT_TRI_NO;
    uint32_t thread = machine->trace->thread[event];
    truth guard = evaluate_bool(machine, state, thread, action->guard);
    bool branch = machine->trace->kind[event] == FT_EVENT_IF;
    if ((guard == FALSE_ && !branch) || guard == UNDEFINED) return FT_TRI_NO;
    bool unknown =
        guard == UNKNOWN && (!branch || may_be_undefined(machine->trace->terms, action->guard));
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_value value;
        ft_eval_status status =
            evaluate(machine, state, thread, action->assignments[i].term, &value);
        if (status == FT_EVAL_UNDEFINED) return FT_TRI_NO;
        unknown |= status != FT_EVAL_OK &&
                   may_be_undefined(machine->trace->terms, action->assignments[i].term);
    }
    return unknown && !does_as_seen(machine, state, event) ? FT_TRI_MAYBE : FT_TRI_YES;
}

ft_tri ft_machine_executable(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    if (!ft_machine_is_next(machine, state, event) || !ft_sync_ready(machine, state, event))
        return FT_TRI_NO;
    if (machine->trace->kind[event] == FT_EVENT_RMW) return FT_TRI_YES; /* whatever it finds */
    if (machine->trace->kind[event] != FT_EVENT_ASSERT)
        return ft_machine_enabled(machine, state, event);
    if (machine->model == FT_MODEL_CONTROL) return FT_TRI_YES;
    /* A failing assert is executed: that is how it fails. An undefined one is not. */
    ft_term condition = ft_trace_action(machine->trace, event)->guard;
    if (!may_be_undefined(machine->trace->terms, condition)) return FT_TRI_YES;
    truth holds = evaluate_bool(machine, state, machine->trace->thread[event], condition);
    if (holds == UNKNOWN && !does_as_seen(machine, state, event)) return FT_TRI_MAYBE;
    return holds == UNDEFINED ? FT_TRI_NO : FT_TRI_YES;
}

/* ---- set-up ---- */

void ft_machine_start(const ft_machine *machine, ft_state *state)
{
    const ft_trace *trace = machine->trace;
    memset(state, 0, sizeof *state);
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        uint32_t initial = trace->shared_info[v].initial;
        state->shared_known[v] = initial != FT_NO_VALUE;
        state->shared[v] = initial == FT_NO_VALUE ? 0 : trace->values[initial].bits;
    }
    for (uint32_t s = 0; s < trace->semaphores.len; s++)
        state->count[s] = (uint8_t)trace->semaphore_initial[s];
    for (uint32_t t = 0; t < trace->threads.len; t++) {
        for (uint32_t v = 0; v < trace->locals.len; v++) {
            uint32_t initial = trace->local_info[v].initial;
            state->local_known[t][v] = initial != FT_NO_VALUE;
            state->local[t][v] = initial == FT_NO_VALUE ? 0 : trace->values[initial].bits;
        }
    }
}

/* For the writes among the accesses it is noted as well, and never asked. */
static void note_reads(ft_machine *machine, const ft_state *state, uint32_t event)
{
    ft_access scratch;
    const ft_access *accesses;
    uint32_t count = accesses_of(machine, event, &accesses, &scratch);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t variable = accesses[i].variable;
        machine->seen[event][i] = (ft_seen){
            state->writer[variable], state->shared_known[variable] != 0, state->shared[variable]};
        bool plain = ft_event_kind_object(machine->trace->kind[event]) == FT_OBJECT_VARIABLE;
        uint32_t given = plain ? value_read(machine->trace, event) : FT_NO_VALUE;
        if (!accesses[i].write && given != FT_NO_VALUE) {
            machine->seen[event][i].known = true;
            machine->seen[event][i].bits = machine->trace->values[given].bits;
        }
    }
}

/* Runs the observed order once to see what each read returned: memory alone, computed from the
 * assignments whatever the model. Any reads are let through by taking every event in turn for t_r,
 * which never stops here. */
static void observe(ft_machine *machine)
{
    const ft_model model = machine->model;
    ft_state state, next[FT_MACHINE_BRANCHES];
    ft_machine_start(machine, &state);
    machine->model = FT_MODEL_CTP;
    machine->observing = true;
    for (uint32_t e = 0; e < machine->trace->n_events; e++) {
        machine->passed[e] = !ft_machine_on_path(machine, &state, e);
        note_reads(machine, &state, e);
        if (machine->passed[e] || ft_trace_is_blocked(machine->trace, e)) continue;
        ft_monitor monitor = {FT_NO_EVENT, e, FT_NO_LOC};
        next[0] = state;
        uint32_t count = perform(machine, &monitor, &state, e, next);
        assert(count > 0);
        state = next[0];
        state.stopped = state.maybe = 0;
    }
    machine->observing = false;
    machine->model = model;
    machine->held = state.held;
}

void ft_machine_init(ft_machine *machine, const ft_trace *trace, ft_model model, ft_wakeups wakeups)
{
    assert(trace->n_events <= FT_ORACLE_EVENTS && trace->threads.len <= FT_ORACLE_THREADS);
    assert(trace->shared.len <= FT_ORACLE_SHARED && trace->locals.len <= FT_ORACLE_LOCALS);
    assert(trace->locks.len <= FT_ORACLE_LOCKS && trace->semaphores.len <= FT_ORACLE_SEMAPHORES);
    assert(trace->barriers.len <= FT_ORACLE_BARRIERS && trace->onces.len <= FT_ORACLE_ONCES);
    assert(trace->blocks.len <= FT_ORACLE_BLOCKS);
    memset(machine, 0, sizeof *machine);
    machine->trace = trace;
    machine->model = model;
    machine->wakeups = wakeups;
    machine->n_threads = trace->threads.len;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        machine->index[e] = machine->length[t];
        machine->events[t][machine->length[t]++] = (uint8_t)e;
        if (trace->kind[e] == FT_EVENT_FORK) machine->forker[trace->object[e]] = (uint8_t)(e + 1);
        for (uint32_t f = 0; trace->kind[e] == FT_EVENT_EDGE_IN && f < e; f++)
            if (trace->kind[f] == FT_EVENT_EDGE_OUT && trace->object[f] == trace->object[e])
                machine->edge_source[e] = (uint8_t)(f + 1);
    }
    ft_arms_init(&machine->arms, trace);
    observe(machine);
    ft_sync_init(machine);
    for (uint32_t e = 0; e < trace->n_events; e++) /* ft_observe_run's opinion */
        assert(machine->passed[e] == ((trace->flags[e] & FT_FLAG_PASSED) != 0));
}
