#include "oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/explore.h"

/* The claims that one exploration answers. */
typedef struct query {
    const ft_machine *machine;
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
            return list[i].in_guard ? FT_TRI_YES : enabled;
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

static bool executed(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    return state->pos[machine->trace->thread[event]] > machine->index[event];
}

static ft_tri atomicity_at(const ft_machine *machine, const ft_state *state, const ft_claim *claim)
{
    const ft_trace *trace = machine->trace;
    const uint32_t *e = claim->events;
    if (!executed(machine, state, e[1]) || !ft_machine_is_next(machine, state, e[2]))
        return FT_TRI_NO;
    ft_tri last = ft_machine_enabled(machine, state, e[2]);
    ft_tri remote_happened =
        happens(trace, e[1], claim->variable, claim->writes[1], (ft_tri)state->remote_enabled);
    ft_tri last_happens = happens(trace, e[2], claim->variable, claim->writes[2], last);
    return both(remote_happened, last_happens); /* a member's accesses happen: t_c's did */
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
    case FT_CLAIM_KINDS:
        break;
    }
    return FT_TRI_NO;
}

static void visit(void *context, const ft_state *state)
{
    query *q = context;
    for (uint32_t i = 0; i < q->n_answers; i++) {
        ft_oracle_answer *answer = q->answers[i];
        if (answer->violated) continue;
        ft_tri found = claim_at(q->machine, state, &answer->claim);
        if (found == FT_TRI_YES && !state->maybe)
            answer->violated = true;
        else if (found != FT_TRI_NO)
            answer->unknown = true;
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
static void answer_all(const ft_machine *machine, ft_oracle_result *result)
{
    size_t n = result->answers.len;
    bool *done = ft_calloc(n + 1, sizeof *done);
    ft_oracle_answer **group = ft_calloc(n + 1, sizeof *group);
    for (size_t i = 0; i < n; i++) {
        ft_monitor monitor = monitor_of(&result->answers.data[i].claim);
        query q = {machine, group, 0};
        for (size_t k = i; k < n; k++) {
            ft_oracle_answer *answer = &result->answers.data[k];
            if (done[k] || !same_monitor(monitor, monitor_of(&answer->claim))) continue;
            group[q.n_answers++] = answer;
            done[k] = true;
        }
        if (q.n_answers) result->states += ft_explore(machine, &monitor, visit, &q);
    }
    for (size_t i = 0; i < n; i++)
        result->answers.data[i].unknown &= !result->answers.data[i].violated;
    free(done);
    free(group);
}

void ft_oracle_enumerate(const ft_trace *trace, const ft_oracle_job *job, ft_oracle_result *result)
{
    ft_machine *machine = ft_alloc(sizeof *machine);
    ft_machine_init(machine, trace, job->model);
    ft_oracle_candidates(trace, job, result);
    answer_all(machine, result);
    free(machine);
}
