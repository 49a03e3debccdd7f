#include "verdict/machine.h"

#include <assert.h>
#include <stdlib.h>

/* Each cell carries the epoch in which it was last changed: an older one holds its initial value,
 * so that a reset touches nothing. */
typedef struct thread_cell {
    uint32_t epoch, last, forks;
} thread_cell;
typedef struct value_cell {
    uint32_t epoch;
    ft_held held;
} value_cell;
typedef struct lock_cell {
    uint32_t epoch, owner, depth;
} lock_cell;
typedef struct semaphore_cell {
    uint32_t epoch;
    uint64_t count;
} semaphore_cell;
typedef struct edge_cell {
    uint32_t epoch, out;
} edge_cell;
typedef FT_VEC(value_cell) value_cells;
typedef FT_VEC(ft_held) helds;

struct ft_machine {
    const ft_trace *trace;
    uint32_t epoch;
    uint32_t *previous; /* [n_events] event before it in its thread, FT_NO_EVENT: none */
    uint32_t *final;    /* [threads] last event of a thread, FT_NO_EVENT: it has none */
    uint32_t *forks;    /* [threads] fork events of a thread */
    thread_cell *threads;
    value_cell *shared;
    lock_cell *locks;
    semaphore_cell *semaphores;
    edge_cell *edges;
    ft_map local_slots; /* thread and local -> index in locals, made by the first write */
    value_cells locals;
    helds pending;    /* right-hand sides of the event evaluated last */
    uint8_t *partial; /* [n_partial] terms that may divide by zero */
    uint32_t n_partial;
};

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
    m->previous = ft_calloc(trace->n_events, sizeof *m->previous);
    m->final = ft_calloc(trace->threads.len, sizeof *m->final);
    m->forks = ft_calloc(trace->threads.len, sizeof *m->forks);
    m->threads = ft_calloc(trace->threads.len, sizeof *m->threads);
    m->shared = ft_calloc(trace->shared.len, sizeof *m->shared);
    m->locks = ft_calloc(trace->locks.len, sizeof *m->locks);
    m->semaphores = ft_calloc(trace->semaphores.len, sizeof *m->semaphores);
    m->edges = ft_calloc(trace->edges.len, sizeof *m->edges);
    find_order(m);
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
    ft_map_release(&m->local_slots);
    ft_vec_release(&m->locals);
    ft_vec_release(&m->pending);
    free(m->partial);
    free(m);
}

void ft_machine_reset(ft_machine *m)
{
    m->epoch++;
    assert(m->epoch != 0);
}

/* ---- reading the state ---------------------------------------------------------------------- */

static thread_cell thread_state(const ft_machine *m, uint32_t t)
{
    thread_cell cell = m->threads[t];
    return cell.epoch == m->epoch ? cell : (thread_cell){m->epoch, FT_NO_EVENT, 0};
}

static lock_cell lock_state(const ft_machine *m, uint32_t lock)
{
    lock_cell cell = m->locks[lock];
    return cell.epoch == m->epoch ? cell : (lock_cell){m->epoch, 0, 0};
}

static semaphore_cell semaphore_state(const ft_machine *m, uint32_t semaphore)
{
    semaphore_cell cell = m->semaphores[semaphore];
    if (cell.epoch == m->epoch) return cell;
    return (semaphore_cell){m->epoch, m->trace->semaphore_initial[semaphore]};
}

static ft_held held_value(const ft_trace *trace, uint32_t value, uint32_t source)
{
    ft_held held = {.source = source, .known = value != FT_NO_VALUE};
    if (held.known) held.value = trace->values[value];
    return held;
}

ft_held ft_machine_shared(const ft_machine *m, uint32_t variable)
{
    const value_cell *cell = &m->shared[variable];
    if (cell->epoch == m->epoch) return cell->held;
    return held_value(m->trace, m->trace->shared_info[variable].initial, FT_NO_EVENT);
}

uint32_t ft_machine_edge_out(const ft_machine *m, uint32_t edge)
{
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
    uint32_t last = thread_state(m, m->trace->thread[e]).last;
    return last != FT_NO_EVENT && e <= last;
}

/* ---- what a step needs ---------------------------------------------------------------------- */

ft_status ft_machine_next(const ft_machine *m, uint32_t e, ft_error *why)
{
    uint32_t t = m->trace->thread[e];
    thread_cell state = thread_state(m, t);
    if (ft_machine_executed(m, e)) return ft_error_set(why, FT_INPUT, "it was executed already");
    if (m->previous[e] != state.last)
        return ft_error_set(why, FT_INPUT, "event %u comes before it in its thread",
                            m->previous[e] + 1);
    if (state.forks != m->forks[t])
        return ft_error_set(why, FT_INPUT, "thread %s is not forked yet",
                            ft_trace_thread_name(m->trace, t));
    return FT_OK;
}

static ft_status acquire_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    uint32_t lock = m->trace->object[e];
    lock_cell state = lock_state(m, lock);
    bool own = state.depth > 0 && state.owner == m->trace->thread[e];
    if (state.depth == 0 || (own && m->trace->lock_kind[lock] == FT_LOCK_RECURSIVE)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "lock %s is held by %s", ft_trace_object_name(m->trace, e),
                        ft_trace_thread_name(m->trace, state.owner));
}

static ft_status release_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    lock_cell state = lock_state(m, m->trace->object[e]);
    if (state.depth > 0 && state.owner == m->trace->thread[e]) return FT_OK;
    return ft_error_set(why, FT_INPUT, "its thread does not hold lock %s",
                        ft_trace_object_name(m->trace, e));
}

static ft_status join_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    uint32_t child = m->trace->object[e];
    if (thread_state(m, child).last == m->final[child]) return FT_OK;
    return ft_error_set(why, FT_INPUT, "thread %s has not ended: event %u is still to come",
                        ft_trace_thread_name(m->trace, child), m->final[child] + 1);
}

ft_status ft_machine_ready(const ft_machine *m, uint32_t e, uint32_t edge_out, ft_error *why)
{
    const ft_trace *trace = m->trace;
    ft_event_kind kind = trace->kind[e];
    if (trace->flags[e] & (FT_FLAG_NESTED | FT_FLAG_STRANGER)) return FT_OK;
    if (kind == FT_EVENT_ACQUIRE) return acquire_ready(m, e, why);
    if (kind == FT_EVENT_RELEASE) return release_ready(m, e, why);
    if (kind == FT_EVENT_JOIN) return join_ready(m, e, why);
    if (kind == FT_EVENT_WAIT && semaphore_state(m, trace->object[e]).count == 0)
        return ft_error_set(why, FT_INPUT, "semaphore %s is at 0", ft_trace_object_name(trace, e));
    if (kind == FT_EVENT_EDGE_IN && edge_out != FT_NO_EVENT && !ft_machine_executed(m, edge_out))
        return ft_error_set(why, FT_INPUT, "the edge-out %s, event %u, is still to come",
                            ft_trace_object_name(trace, e), edge_out + 1);
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

/* Whether a division by zero is possible in the term at all: an unknown value in it leaves open
 * whether it is defined only then. Children come before their parents in a pool. */
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

typedef struct evaluation {
    const ft_machine *machine;
    uint32_t thread;
} evaluation;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const evaluation *in = context;
    ft_held held = FT_SYM_IS_LOCAL(symbol)
                       ? local_state(in->machine, in->thread, FT_SYM_INDEX(symbol))
                       : ft_machine_shared(in->machine, FT_SYM_INDEX(symbol));
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
    const ft_action *action = ft_trace_action(m->trace, e);
    uint32_t thread = m->trace->thread[e];
    m->pending.len = 0;
    if (!action) return FT_OUTCOME_TRUE;
    ft_outcome outcome = ft_machine_condition(m, thread, action->guard);
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

ft_held ft_machine_pending(const ft_machine *m, uint32_t e, uint32_t variable)
{
    const ft_action *action = ft_trace_action(m->trace, e);
    if (!action) return held_value(m->trace, m->trace->data[e], e);
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
    m->locals.data[slot] = (value_cell){m->epoch, held};
}

void ft_machine_write(ft_machine *m, uint32_t e)
{
    const ft_trace *trace = m->trace;
    const ft_action *action = ft_trace_action(trace, e);
    if (trace->kind[e] == FT_EVENT_WRITE)
        m->shared[trace->object[e]] = (value_cell){m->epoch, held_value(trace, trace->data[e], e)};
    for (uint32_t i = 0; action && i < action->n_assignments; i++) {
        ft_symbol target = action->assignments[i].target;
        ft_held held = m->pending.data[i];
        if (FT_SYM_IS_LOCAL(target))
            write_local(m, trace->thread[e], FT_SYM_INDEX(target), held);
        else
            m->shared[FT_SYM_INDEX(target)] = (value_cell){m->epoch, held};
    }
}

static void acquire(ft_machine *m, uint32_t lock, uint32_t thread)
{
    lock_cell state = lock_state(m, lock);
    bool again =
        state.depth > 0 && state.owner == thread && m->trace->lock_kind[lock] == FT_LOCK_RECURSIVE;
    m->locks[lock] = (lock_cell){m->epoch, thread, again ? state.depth + 1 : 1};
}

static void release(ft_machine *m, uint32_t lock, uint32_t thread)
{
    lock_cell state = lock_state(m, lock);
    if (state.depth == 0 || state.owner != thread) return;
    m->locks[lock] = (lock_cell){m->epoch, thread, state.depth - 1};
}

static void synchronise(ft_machine *m, uint32_t e)
{
    const ft_trace *trace = m->trace;
    ft_event_kind kind = trace->kind[e];
    uint32_t object = trace->object[e];
    if (trace->flags[e] & (FT_FLAG_NESTED | FT_FLAG_STRANGER)) return;
    if (kind == FT_EVENT_ACQUIRE) acquire(m, object, trace->thread[e]);
    if (kind == FT_EVENT_RELEASE) release(m, object, trace->thread[e]);
    if (kind == FT_EVENT_EDGE_OUT) m->edges[object] = (edge_cell){m->epoch, e};
    if (kind == FT_EVENT_FORK) {
        thread_cell child = thread_state(m, object);
        child.forks++;
        m->threads[object] = child;
    }
    if (kind == FT_EVENT_WAIT || kind == FT_EVENT_POST) {
        semaphore_cell state = semaphore_state(m, object);
        if (kind == FT_EVENT_POST) state.count++;
        if (kind == FT_EVENT_WAIT && state.count > 0) state.count--;
        m->semaphores[object] = state;
    }
}

void ft_machine_advance(ft_machine *m, uint32_t e)
{
    synchronise(m, e);
    uint32_t t = m->trace->thread[e];
    thread_cell state = thread_state(m, t);
    state.last = e;
    m->threads[t] = state;
}
