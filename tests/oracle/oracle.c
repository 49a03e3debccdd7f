#include "oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/explore.h"

/* The claims that one exploration answers. */
typedef struct query {
    const ft_machine *machine;
    bool switches;
    ft_oracle_answer **answers;
    uint32_t n_answers;
} query;

static ft_tri both(ft_tri a, ft_tri b)
{
    if (a == FT_TRI_NO || b == FT_TRI_NO) return FT_TRI_NO;
    return a == FT_TRI_YES && b == FT_TRI_YES ? FT_TRI_YES : FT_TRI_MAYBE;
}

static ft_tri either(ft_tri a, ft_tri b)
{
    if (a == FT_TRI_YES || b == FT_TRI_YES) return FT_TRI_YES;
    return a == FT_TRI_MAYBE || b == FT_TRI_MAYBE ? FT_TRI_MAYBE : FT_TRI_NO;
}

/* Does the event's access of this kind happen: a guard's reads always, others if it is enabled. */
static ft_tri happens(const ft_trace *trace, uint32_t event, uint32_t variable, bool write,
                      ft_tri enabled)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *list = ft_trace_accesses(trace, event, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].variable == variable && list[i].write == write)
            return list[i].in_guard || (!write && ft_trace_compares(trace, event)) ? FT_TRI_YES
                                                                                   : enabled;
    return FT_TRI_NO;
}

static ft_tri race_at(const ft_machine *machine, const ft_state *state, const ft_claim *claim)
{
    const ft_trace *trace = machine->trace;
    uint32_t a = claim->events[0], b = claim->events[1];
    if (!ft_machine_is_next(machine, state, a) || !ft_machine_is_next(machine, state, b))
        return FT_TRI_NO;
    ft_tri on_a = ft_machine_enabled(machine, state, a),
           on_b = ft_machine_enabled(machine, state, b);
    ft_tri found = FT_TRI_NO;
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        ft_tri write_a = happens(trace, a, v, true, on_a),
               write_b = happens(trace, b, v, true, on_b);
        ft_tri read_a = happens(trace, a, v, false, on_a),
               read_b = happens(trace, b, v, false, on_b);
        found = either(found, both(write_a, either(write_b, read_b)));
        found = either(found, both(write_b, read_a));
    }
    return found;
}

static ft_tri condition_at(const ft_machine *machine, const ft_state *state, uint32_t event,
                           ft_term condition)
{
    if (!ft_machine_is_next(machine, state, event)) return FT_TRI_NO;
    ft_tri holds = ft_machine_holds(machine, state, event, condition);
    return holds == FT_TRI_NO ? FT_TRI_YES : holds == FT_TRI_YES ? FT_TRI_NO : FT_TRI_MAYBE;
}

static ft_tri atomicity_at(const ft_machine *machine, const ft_state *state, const ft_claim *claim)
{
    const ft_trace *trace = machine->trace;
    const uint32_t *e = claim->events;
    if (!ft_machine_has_executed(machine, state, e[1]) || !ft_machine_is_next(machine, state, e[2]))
        return FT_TRI_NO;
    ft_tri last = ft_machine_enabled(machine, state, e[2]);
    ft_tri remote_happened = (ft_tri)state->remote_enabled;
    if (!ft_trace_failed_swap(trace, e[1])) /* where that is not enabled, it would have written */
        remote_happened = happens(trace, e[1], claim->variable, claim->writes[1], remote_happened);
    ft_tri last_happens = happens(trace, e[2], claim->variable, claim->writes[2], last);
    return both(remote_happened, last_happens); /* a member's accesses happen: t_c's did */
}

/* ---- deadlocks, lock errors, order errors ---- */

static ft_tri yes_if(bool holds)
{
    return holds ? FT_TRI_YES : FT_TRI_NO;
}

/* The reader waits for the writer: in a cycle that one waits too, so that it has asked already. */
static bool waits_behind(const ft_trace *trace, uint32_t reader, uint32_t writer)
{
    return trace->kind[reader] == FT_EVENT_ACQUIRE_SHARED &&
           trace->kind[writer] == FT_EVENT_ACQUIRE &&
           trace->object[reader] == trace->object[writer] &&
           trace->lock_kind[trace->object[reader]] == FT_LOCK_WRITER_PREFERRING;
}

static bool cycle_at(const ft_machine *machine, const ft_state *state, const ft_claim *claim)
{
    for (uint32_t i = 0; i < claim->n_events; i++)
        if (!ft_machine_is_next(machine, state, claim->events[i])) return false;
    for (uint32_t i = 0; i < claim->n_events; i++) {
        uint32_t holder = claim->events[(i + 1) % claim->n_events];
        if (waits_behind(machine->trace, claim->events[i], holder)) continue;
        if (!ft_sync_held_against(machine, state, claim->events[i], machine->trace->thread[holder]))
            return false;
    }
    return true;
}

/* The thread was seen to begin and not to end: it may go on. */
static bool is_cut(const ft_machine *machine, uint32_t t)
{
    bool begun = false, ended = false;
    for (uint32_t i = 0; i < machine->length[t]; i++) {
        begun |= machine->trace->kind[machine->events[t][i]] == FT_EVENT_BEGIN;
        ended |= machine->trace->kind[machine->events[t][i]] == FT_EVENT_END;
    }
    return begun && !ended;
}

/* Threads that were not started are nobody's hope: whoever would fork them is blocked. */
static bool stuck_at(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    const ft_trace *trace = machine->trace;
    bool others = false; /* that wait for more than a lock or a child */
    if (!ft_machine_is_next(machine, state, event)) return false;
    for (uint32_t t = 0; t < machine->n_threads; t++) {
        if (state->pos[t] == machine->length[t]) {
            /* Woken, and the trace does not say what for. */
            if (state->waits[t] && state->woken[t]) return false;
            if (is_cut(machine, t)) return false;
            continue;
        }
        uint32_t next = machine->events[t][state->pos[t]];
        if (!ft_machine_is_next(machine, state, next)) continue;
        if (!ft_sync_blocked(machine, state, next)) return false;
        others |= trace->kind[next] != FT_EVENT_JOIN && trace->kind[next] != FT_EVENT_ACQUIRE &&
                  trace->kind[next] != FT_EVENT_ACQUIRE_SHARED;
    }
    return trace->kind[event] != FT_EVENT_JOIN || !others;
}

static ft_tri after_free_at(const ft_machine *machine, const ft_state *state, const ft_claim *claim)
{
    const ft_trace *trace = machine->trace;
    uint32_t freed = claim->events[0], use = claim->events[1];
    uint32_t block = trace->object[freed];
    if (state->block[block] != freed + 1 || !ft_machine_is_next(machine, state, use))
        return FT_TRI_NO;
    if (trace->kind[use] == FT_EVENT_FREE) return FT_TRI_YES;
    ft_tri enabled = ft_machine_enabled(machine, state, use), found = FT_TRI_NO;
    for (uint32_t i = 0; i < trace->block_cells[block].count; i++) {
        uint32_t v = trace->block_cells[block].variables[i];
        found = either(found, happens(trace, use, v, true, enabled));
        found = either(found, happens(trace, use, v, false, enabled));
    }
    return found;
}

/* Some block with the variable has an alloc last, where any of them has allocs. */
static bool is_there(const ft_trace *trace, const ft_state *state, uint32_t variable)
{
    bool allocates = false;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_ALLOC) continue;
        const ft_block_cells *cells = &trace->block_cells[trace->object[e]];
        for (uint32_t i = 0; i < cells->count; i++) {
            if (cells->variables[i] != variable) continue;
            if (state->block[trace->object[e]] == e + 1) return true;
            allocates = true;
        }
    }
    return !allocates;
}

static ft_tri uninitialised_at(const ft_machine *machine, const ft_state *state,
                               const ft_claim *claim)
{
    uint32_t event = claim->events[0];
    if (state->written[claim->variable] || !ft_machine_is_next(machine, state, event))
        return FT_TRI_NO;
    if (!is_there(machine->trace, state, claim->variable)) return FT_TRI_NO;
    return happens(machine->trace, event, claim->variable, false,
                   ft_machine_enabled(machine, state, event));
}

static ft_tri claim_at(const ft_machine *machine, const ft_state *state, const ft_claim *claim)
{
    switch (claim->kind) {
    case FT_CLAIM_RACE:
        return race_at(machine, state, claim);
    case FT_CLAIM_ASSERTION:
        return condition_at(machine, state, claim->events[0],
                            ft_trace_action(machine->trace, claim->events[0])->guard);
    case FT_CLAIM_CONDITION:
        return condition_at(machine, state, claim->events[0], claim->condition);
    case FT_CLAIM_ATOMICITY:
        return atomicity_at(machine, state, claim);
    case FT_CLAIM_CO_ENABLED:
        return both(ft_machine_executable(machine, state, claim->events[0]),
                    ft_machine_executable(machine, state, claim->events[1]));
    case FT_CLAIM_BEFORE:
        return ft_machine_executable(machine, state, claim->events[0]);
    case FT_CLAIM_LOCK_ERROR:
        return yes_if(ft_machine_is_next(machine, state, claim->events[0]));
    case FT_CLAIM_DEADLOCK:
        return yes_if(cycle_at(machine, state, claim));
    case FT_CLAIM_STUCK:
        return yes_if(stuck_at(machine, state, claim->events[0]));
    case FT_CLAIM_AFTER_FREE:
        return after_free_at(machine, state, claim);
    case FT_CLAIM_UNINITIALISED:
        return uninitialised_at(machine, state, claim);
    case FT_CLAIM_FAILURE:
        return yes_if(ft_machine_is_next(machine, state, claim->events[0]));
    case FT_CLAIM_KINDS:
        break;
    }
    return FT_TRI_NO;
}

/* ---- answers ---- */

/* The switches that the claim's own last events add; those of a race, of a deadlock and of two
 * events enabled at once come in the order that needs the fewest. */
static uint32_t final_switches(const ft_trace *trace, const ft_claim *claim, uint32_t last)
{
    uint32_t n = ft_claim_events(claim), first = claim->kind == FT_CLAIM_ATOMICITY    ? 2
                                                 : claim->kind == FT_CLAIM_AFTER_FREE ? 1
                                                                                      : 0;
    uint32_t switches = 0;
    bool free_order = claim->kind == FT_CLAIM_RACE || claim->kind == FT_CLAIM_DEADLOCK ||
                      claim->kind == FT_CLAIM_CO_ENABLED;
    for (uint32_t i = first; free_order && i < n; i++)
        if (last == trace->thread[claim->events[i]] + 1u) return n - 1;
    for (uint32_t i = first; i < n; i++) {
        uint32_t thread = trace->thread[claim->events[i]] + 1u;
        switches += last && thread != last;
        last = thread;
    }
    return switches;
}

static void keep_schedule(ft_oracle_answer *answer, const ft_exploration *exploration,
                          uint32_t node, uint32_t switches)
{
    if (answer->violated && switches >= answer->switches) return;
    answer->violated = true;
    answer->switches = switches;
    answer->n_steps = (uint8_t)ft_explore_path(exploration, node, answer->steps);
}

static void visit(void *context, const ft_exploration *exploration, uint32_t number)
{
    query *q = context;
    const ft_node *node = &exploration->nodes.data[number];
    for (uint32_t i = 0; i < q->n_answers; i++) {
        ft_oracle_answer *answer = q->answers[i];
        if (answer->violated && (!q->switches || answer->switches <= node->level)) continue;
        ft_tri found = claim_at(q->machine, &node->state, &answer->claim);
        if (found == FT_TRI_NO) continue;
        uint32_t switches =
            node->level + final_switches(q->machine->trace, &answer->claim, node->state.last);
        if (found == FT_TRI_YES && !node->state.maybe) {
            keep_schedule(answer, exploration, number, switches);
            continue;
        }
        answer->unknown = true;
        if (switches < answer->maybe_switches) answer->maybe_switches = switches;
    }
}

static ft_monitor monitor_of(const ft_claim *claim)
{
    ft_monitor monitor = FT_NO_MONITOR;
    if (claim->kind == FT_CLAIM_ATOMICITY) {
        monitor.first = claim->events[0];
        monitor.remote = claim->events[1];
    }
    if (claim->kind == FT_CLAIM_BEFORE) monitor.avoid = claim->avoid;
    return monitor;
}

static bool same_monitor(ft_monitor a, ft_monitor b)
{
    return a.first == b.first && a.remote == b.remote && a.avoid == b.avoid;
}

/* Claims with the same monitor share an exploration. */
static void answer_all(const ft_machine *machine, bool switches, ft_oracle_result *result)
{
    size_t n = result->answers.len;
    bool *done = ft_calloc(n + 1, sizeof *done);
    ft_oracle_answer **group = ft_calloc(n + 1, sizeof *group);
    for (size_t i = 0; i < n; i++) {
        ft_monitor monitor = monitor_of(&result->answers.data[i].claim);
        query q = {machine, switches, group, 0};
        for (size_t k = i; k < n; k++) {
            ft_oracle_answer *answer = &result->answers.data[k];
            if (done[k] || !same_monitor(monitor, monitor_of(&answer->claim))) continue;
            group[q.n_answers++] = answer;
            done[k] = true;
        }
        if (q.n_answers) result->states += ft_explore(machine, &monitor, switches, visit, &q);
    }
    for (size_t i = 0; i < n; i++)
        result->answers.data[i].unknown &= !result->answers.data[i].violated;
    free(done);
    free(group);
}

void ft_oracle_enumerate(const ft_trace *trace, const ft_oracle_job *job, ft_oracle_result *result)
{
    ft_machine *machine = ft_alloc(sizeof *machine);
    ft_machine_init(machine, trace, job->model, job->wakeups);
    ft_oracle_candidates(trace, job, result);
    answer_all(machine, job->switches, result);
    free(machine);
}

/* ---- one schedule ---- */

/* The states that the schedule's steps may lead to: a signal may wake any of several waiters. */
typedef struct states {
    FT_VEC(ft_state) list;
} states;

static void advance(const ft_machine *machine, const ft_monitor *monitor, const states *from,
                    uint32_t event, states *to)
{
    uint32_t thread = machine->trace->thread[event];
    to->list.len = 0;
    for (size_t i = 0; i < from->list.len; i++) {
        const ft_state *state = &from->list.data[i];
        ft_state next[FT_MACHINE_BRANCHES];
        if (!ft_machine_is_next(machine, state, event)) continue;
        uint32_t count = ft_machine_step(machine, monitor, state, thread, next);
        for (uint32_t k = 0; k < count; k++) ft_vec_push(&to->list, next[k]);
    }
}

static ft_judgement judge_end(const ft_machine *machine, const states *ends, const ft_claim *claim)
{
    ft_judgement best = FT_JUDGED_WRONG;
    for (size_t i = 0; i < ends->list.len; i++) {
        ft_tri found = claim_at(machine, &ends->list.data[i], claim);
        if (found == FT_TRI_YES && !ends->list.data[i].maybe) return FT_JUDGED_RIGHT;
        if (found != FT_TRI_NO) best = FT_JUDGED_UNKNOWN;
    }
    return best;
}

ft_judgement ft_oracle_judge(const ft_trace *trace, const ft_witness *witness)
{
    ft_machine *machine = ft_alloc(sizeof *machine);
    ft_monitor monitor = monitor_of(&witness->claim);
    states now = {0}, then = {0};
    ft_state start;
    ft_machine_init(machine, trace, witness->model, witness->wakeups);
    ft_machine_start(machine, &start);
    ft_vec_push(&now.list, start);
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        advance(machine, &monitor, &now, witness->steps[i], &then);
        states swap = now;
        now = then;
        then = swap;
    }
    ft_judgement judgement = judge_end(machine, &now, &witness->claim);
    ft_vec_release(&now.list);
    ft_vec_release(&then.list);
    free(machine);
    return judgement;
}
