#include <stdlib.h>

#include "verdict/machine_internal.h"

static void find_order(ft_machine *m)
{
    const ft_trace *trace = m->trace;
    for (uint32_t t = 0; t < trace->threads.len; t++) m->final[t] = FT_NO_EVENT;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        m->previous[e] = m->final[t];
        m->final[t] = e;
        if (trace->kind[e] == FT_EVENT_FORK) m->forks[trace->object[e]]++;
    }
}

ft_machine *ft_machine_new(const ft_trace *trace)
{
    ft_machine *m = ft_calloc(1, sizeof *m);
    m->trace = trace;
    m->epoch = 1;
    m->evaluated = FT_NO_EVENT;
    m->previous = ft_calloc(trace->n_events, sizeof *m->previous);
    m->final = ft_calloc(trace->threads.len, sizeof *m->final);
    m->forks = ft_calloc(trace->threads.len, sizeof *m->forks);
    m->threads = ft_calloc(trace->threads.len, sizeof *m->threads);
    m->shared = ft_calloc(trace->shared.len, sizeof *m->shared);
    m->locks = ft_calloc(trace->locks.len, sizeof *m->locks);
    m->semaphores = ft_calloc(trace->semaphores.len, sizeof *m->semaphores);
    m->edges = ft_calloc(trace->edges.len, sizeof *m->edges);
    m->branches = ft_calloc(trace->n_paths / 2, sizeof *m->branches);
    find_order(m);
    ft_machine_sync_open(m);
    return m;
}

void ft_machine_free(ft_machine *m)
{
    if (!m) return;
    free(m->previous);
    free(m->final);
    free(m->forks);
    free(m->threads);
    free(m->shared);
    free(m->locks);
    free(m->semaphores);
    free(m->edges);
    free(m->branches);
    ft_machine_sync_close(m);
    ft_map_release(&m->local_slots);
    ft_vec_release(&m->locals);
    ft_vec_release(&m->pending);
    free(m->partial);
    free(m);
}

/* ---- the invariant -------------------------------------------------------------------------- */

static bool threads_are_sound(const ft_machine *m)
{
    for (uint32_t t = 0; t < m->trace->threads.len; t++) {
        thread_cell cell = ft_machine_thread(m, t);
        if (cell.forks > m->forks[t]) return false;
        if (cell.last == FT_NO_EVENT) continue;
        if (cell.last >= m->trace->n_events || m->trace->thread[cell.last] != t) return false;
    }
    return true;
}

static bool writes(const ft_trace *trace, uint32_t e, uint32_t variable)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write && accesses[i].variable == variable) return true;
    return false;
}

static bool values_are_sound(const ft_machine *m)
{
    for (uint32_t v = 0; v < m->trace->shared.len; v++) {
        ft_held held = ft_machine_shared(m, v);
        if (held.known && !ft_sort_equal(held.value.sort, m->trace->shared_info[v].sort))
            return false;
        if (held.source == FT_NO_EVENT) continue;
        if (held.source >= m->trace->n_events || !writes(m->trace, held.source, v)) return false;
    }
    return true;
}

bool ft_machine_is_sound(const ft_machine *m)
{
    return threads_are_sound(m) && values_are_sound(m) && ft_machine_sync_is_sound(m);
}

void ft_machine_reset(ft_machine *m)
{
    FT_CHECK(ft_machine_is_sound(m));
    m->epoch++;
    m->time = 0;
    m->evaluated = FT_NO_EVENT;
    assert(m->epoch != 0);
}

/* ---- reading the state ---------------------------------------------------------------------- */

thread_cell ft_machine_thread(const ft_machine *m, uint32_t t)
{
    assert(t < m->trace->threads.len);
    thread_cell cell = m->threads[t];
    return cell.epoch == m->epoch ? cell : (thread_cell){m->epoch, FT_NO_EVENT, 0};
}

lock_cell ft_machine_lock(const ft_machine *m, uint32_t lock)
{
    assert(lock < m->trace->locks.len);
    lock_cell cell = m->locks[lock];
    return cell.epoch == m->epoch ? cell : (lock_cell){m->epoch, 0, 0, 0};
}

semaphore_cell ft_machine_semaphore(const ft_machine *m, uint32_t semaphore)
{
    assert(semaphore < m->trace->semaphores.len);
    semaphore_cell cell = m->semaphores[semaphore];
    if (cell.epoch == m->epoch) return cell;
    return (semaphore_cell){m->epoch, m->trace->semaphore_initial[semaphore]};
}

static ft_held held_value(const ft_trace *trace, uint32_t value, uint32_t source)
{
    assert(value == FT_NO_VALUE || value < trace->n_values);
    ft_held held = {.source = source, .known = value != FT_NO_VALUE};
    if (held.known) held.value = trace->values[value];
    return held;
}

ft_held ft_machine_shared(const ft_machine *m, uint32_t variable)
{
    FT_REQUIRE(variable < m->trace->shared.len);
    const value_cell *cell = &m->shared[variable];
    if (cell->epoch == m->epoch) return cell->held;
    return held_value(m->trace, m->trace->shared_info[variable].initial, FT_NO_EVENT);
}

uint32_t ft_machine_edge_out(const ft_machine *m, uint32_t edge)
{
    FT_REQUIRE(edge < m->trace->edges.len);
    edge_cell cell = m->edges[edge];
    return cell.epoch == m->epoch ? cell.out : FT_NO_EVENT;
}

static uint64_t local_key(uint32_t thread, uint32_t local)
{
    return (uint64_t)thread << 32 | local;
}

static ft_held local_state(const ft_machine *m, uint32_t thread, uint32_t local)
{
    uint64_t slot;
    if (ft_map_get(&m->local_slots, local_key(thread, local), &slot) &&
        m->locals.data[slot].epoch == m->epoch)
        return m->locals.data[slot].held;
    return held_value(m->trace, m->trace->local_info[local].initial, FT_NO_EVENT);
}

bool ft_machine_executed(const ft_machine *m, uint32_t e)
{
    FT_REQUIRE(e < m->trace->n_events);
    uint32_t last = ft_machine_thread(m, m->trace->thread[e]).last;
    return last != FT_NO_EVENT && e <= last && !ft_machine_passed(m, e);
}

/* ---- what a step needs ---------------------------------------------------------------------- */

ft_status ft_machine_next(const ft_machine *m, uint32_t e, ft_error *why)
{
    FT_REQUIRE(e < m->trace->n_events && !m->flowing);
    uint32_t t = m->trace->thread[e];
    thread_cell state = ft_machine_thread(m, t);
    assert(state.forks <= m->forks[t]);
    if (ft_machine_executed(m, e)) return ft_error_set(why, FT_INPUT, "it was executed already");
    branch_choice choice;
    ft_status status = ft_machine_reach(m, e, &choice, why);
    if (status) return status;
    if (state.forks != m->forks[t])
        return ft_error_set(why, FT_INPUT, "thread %s is not forked yet",
                            ft_trace_thread_name(m->trace, t));
    return FT_OK;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

static bool may_divide_by_zero(const ft_term_pool *pool, const ft_term_node *node)
{
    static const ft_op DIVISIONS[] = {FT_OP_DIV,    FT_OP_MOD,    FT_OP_BVUDIV,
                                      FT_OP_BVUREM, FT_OP_BVSDIV, FT_OP_BVSREM};
    bool division = false;
    for (size_t i = 0; i < sizeof DIVISIONS / sizeof *DIVISIONS; i++)
        division = division || node->op == DIVISIONS[i];
    for (uint32_t i = 1; division && i < node->n_children; i++) {
        ft_term_node divisor = ft_term_get(pool, node->children[i]);
        if (divisor.op != FT_OP_LITERAL || divisor.bits == 0) return true;
    }
    return false;
}

/* Whether a division by zero is possible in the term at all; if not, it is defined though it has
 * unknown values. Children come before their parents in a pool. */
static bool is_partial(ft_machine *m, ft_term term)
{
    const ft_term_pool *pool = m->trace->terms;
    if (term >= m->n_partial) {
        uint32_t count = ft_term_pool_count(pool) + 1;
        m->partial = ft_realloc(m->partial, count, sizeof *m->partial);
        for (ft_term t = m->n_partial ? m->n_partial : 1; t < count; t++) {
            ft_term_node node = ft_term_get(pool, t);
            m->partial[t] = may_divide_by_zero(pool, &node);
            for (uint32_t i = 0; i < node.n_children; i++)
                m->partial[t] |= m->partial[node.children[i]];
        }
        m->n_partial = count;
    }
    return m->partial[term] != 0;
}

bool ft_machine_is_defined(ft_machine *m, uint32_t e)
{
    const ft_action *action = ft_trace_action(m->trace, e);
    return action->guard == FT_NO_TERM || !is_partial(m, action->guard);
}

typedef struct evaluation {
    const ft_machine *machine;
    uint32_t thread;
} evaluation;

ft_held ft_machine_symbol(const ft_machine *m, uint32_t thread, ft_symbol symbol)
{
    return FT_SYM_IS_LOCAL(symbol) ? local_state(m, thread, FT_SYM_INDEX(symbol))
                                   : ft_machine_shared(m, FT_SYM_INDEX(symbol));
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const evaluation *in = context;
    ft_held held = ft_machine_symbol(in->machine, in->thread, symbol);
    if (held.known) *value = held.value;
    return held.known;
}

ft_outcome ft_machine_condition(const ft_machine *m, uint32_t thread, ft_term condition)
{
    static const ft_outcome OTHERWISE[] = {[FT_EVAL_UNDEFINED] = FT_OUTCOME_UNDEFINED,
                                           [FT_EVAL_UNKNOWN] = FT_OUTCOME_UNDECIDED,
                                           [FT_EVAL_OVERFLOW] = FT_OUTCOME_UNDECIDED};
    if (condition == FT_NO_TERM) return FT_OUTCOME_TRUE;
    evaluation in = {m, thread};
    ft_value value;
    ft_eval_status status = ft_term_eval(m->trace->terms, condition, look_up, &in, &value);
    if (status != FT_EVAL_OK) return OTHERWISE[status];
    return value.bits ? FT_OUTCOME_TRUE : FT_OUTCOME_FALSE;
}

/* TRUE: defined, though its value may be unknown. */
static ft_outcome evaluate_term(ft_machine *m, uint32_t thread, ft_term term, ft_held *held)
{
    evaluation in = {m, thread};
    ft_eval_status status = ft_term_eval(m->trace->terms, term, look_up, &in, &held->value);
    held->known = status == FT_EVAL_OK;
    if (held->known) return FT_OUTCOME_TRUE;
    if (status == FT_EVAL_UNDEFINED) return FT_OUTCOME_UNDEFINED;
    return is_partial(m, term) ? FT_OUTCOME_UNDECIDED : FT_OUTCOME_TRUE;
}

ft_outcome ft_machine_evaluate(ft_machine *m, uint32_t e)
{
    FT_REQUIRE(e < m->trace->n_events);
    const ft_action *action = ft_trace_action(m->trace, e);
    uint32_t thread = m->trace->thread[e];
    m->evaluated = e;
    m->pending.len = 0;
    if (!action) return FT_OUTCOME_TRUE;
    ft_outcome outcome = ft_machine_condition(m, thread, action->guard);
    m->condition = outcome;
    bool undecided = outcome == FT_OUTCOME_UNDECIDED, undefined = outcome == FT_OUTCOME_UNDEFINED;
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_held held = {.source = e};
        ft_outcome term = evaluate_term(m, thread, action->assignments[i].term, &held);
        undecided = undecided || term == FT_OUTCOME_UNDECIDED;
        undefined = undefined || term == FT_OUTCOME_UNDEFINED;
        ft_vec_push(&m->pending, held);
    }
    if (outcome == FT_OUTCOME_FALSE) return FT_OUTCOME_FALSE;
    if (undefined) return FT_OUTCOME_UNDEFINED;
    return undecided ? FT_OUTCOME_UNDECIDED : FT_OUTCOME_TRUE;
}

/* The value id that a plain event writes. */
static uint32_t written_value(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_RMW ? trace->updates[trace->data[e]].written : trace->data[e];
}

ft_held ft_machine_pending(const ft_machine *m, uint32_t e, uint32_t variable)
{
    const ft_action *action = ft_trace_action(m->trace, e);
    if (!action) return held_value(m->trace, written_value(m->trace, e), e);
    assert(m->evaluated == e && m->pending.len == action->n_assignments);
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (action->assignments[i].target == FT_SYM_SHARED(variable)) return m->pending.data[i];
    return (ft_held){.source = e};
}

/* ---- effects -------------------------------------------------------------------------------- */

static void write_local(ft_machine *m, uint32_t thread, uint32_t local, ft_held held)
{
    bool inserted;
    uint64_t slot =
        *ft_map_slot(&m->local_slots, local_key(thread, local), m->locals.len, &inserted);
    if (inserted) ft_vec_push(&m->locals, (value_cell){0});
    assert(slot < m->locals.len);
    m->locals.data[slot] = (value_cell){m->epoch, m->time, held};
}

static void write_shared(ft_machine *m, uint32_t variable, ft_held held)
{
    assert(variable < m->trace->shared.len && held.source != FT_NO_EVENT);
    assert(!held.known || ft_sort_equal(held.value.sort, m->trace->shared_info[variable].sort));
    m->shared[variable] = (value_cell){m->epoch, m->time, held};
}

void ft_machine_write(ft_machine *m, uint32_t e)
{
    const ft_trace *trace = m->trace;
    const ft_action *action = ft_trace_action(trace, e);
    assert(!action || (m->evaluated == e && m->pending.len == action->n_assignments));
    if (trace->kind[e] == FT_EVENT_WRITE || trace->kind[e] == FT_EVENT_RMW)
        write_shared(m, trace->object[e], held_value(trace, written_value(trace, e), e));
    for (uint32_t i = 0; action && i < action->n_assignments; i++) {
        ft_symbol target = action->assignments[i].target;
        ft_held held = m->pending.data[i];
        if (FT_SYM_IS_LOCAL(target))
            write_local(m, trace->thread[e], FT_SYM_INDEX(target), held);
        else
            write_shared(m, FT_SYM_INDEX(target), held);
    }
}

void ft_machine_forget(ft_machine *m, uint32_t e)
{
    if (m->trace->kind[e] == FT_EVENT_RMW)
        write_shared(m, m->trace->object[e], (ft_held){.source = e});
}

void ft_machine_advance(ft_machine *m, uint32_t e)
{
    FT_REQUIRE(e < m->trace->n_events);
    assert(m->time < UINT32_MAX);
    m->time++;
    ft_machine_synchronise(m, e);
    ft_machine_branch(m, e);
    uint32_t t = m->trace->thread[e];
    thread_cell state = ft_machine_thread(m, t);
    assert(m->flowing || state.last == FT_NO_EVENT || state.last < e);
    state.last = e;
    m->threads[t] = state;
}

/* ---- plain accesses ------------------------------------------------------------------------- */

/* ft_machine_next for a trace without branches. */
static bool is_next(const ft_machine *m, uint32_t e)
{
    uint32_t t = m->trace->thread[e];
    assert(e < m->trace->n_events && !m->flowing);
    const thread_cell *state = &m->threads[t];
    if (m->trace->n_paths) return false;
    if (state->epoch != m->epoch) return m->previous[e] == FT_NO_EVENT && m->forks[t] == 0;
    return m->previous[e] == state->last && state->forks == m->forks[t];
}

static void go_past(ft_machine *m, uint32_t e)
{
    thread_cell *state = &m->threads[m->trace->thread[e]];
    if (state->epoch != m->epoch) *state = (thread_cell){m->epoch, FT_NO_EVENT, 0};
    assert(state->last == FT_NO_EVENT || state->last < e);
    state->last = e;
    m->time++;
}

bool ft_machine_read(ft_machine *m, uint32_t e, uint32_t source)
{
    FT_REQUIRE(m->trace->kind[e] == FT_EVENT_READ);
    const value_cell *cell = &m->shared[m->trace->object[e]];
    uint32_t found = cell->epoch == m->epoch ? cell->held.source : FT_NO_EVENT;
    if (found != source || !is_next(m, e)) return false;
    go_past(m, e);
    return true;
}

bool ft_machine_overwrite(ft_machine *m, uint32_t e)
{
    FT_REQUIRE(m->trace->kind[e] == FT_EVENT_WRITE);
    if (!is_next(m, e)) return false;
    write_shared(m, m->trace->object[e], held_value(m->trace, m->trace->data[e], e));
    go_past(m, e);
    return true;
}
