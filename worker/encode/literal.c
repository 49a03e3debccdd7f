/* The literal encoding of Wang et al. §4.2, for prefixes as in §5.3: an integer O(t) for each
 * event, HB(t, t') as O(t) < O(t'), every pi-function with all parameters of Definition 4.1, locks
 * and semaphores as shared variables. The violation has a time of its own, O(v): events before it
 * are the members. With the paper's simplification for locks (end of §4.2): an acquire reads a free
 * lock, so only releases and the initial state are its parameters.
 *
 * Solver configuration: integer difference logic (arith.solver 1) while no values or semaphores
 * are added up, else the general simplex (2); true as preferred phase. */
#include <stdlib.h>
#include <string.h>

#include "encode/decide.h"

typedef struct cell_write {
    uint32_t event;
    ft_expr value; /* NULL for locks */
    bool free;     /* locks: a release */
} cell_write;

typedef FT_VEC(cell_write) cell;

typedef struct literal {
    const ft_problem *p;
    ft_session *s;
    ft_cssa *cssa;
    ft_expr *time; /* O(e) */
    ft_expr violation;
    cell *cells; /* shared variables, then locks, then semaphores */
    uint32_t n_shared, n_locks, n_cells;
    uint32_t extra;       /* executed, exempt from the model; FT_NO_EVENT */
    ft_expr extra_writes; /* NULL: true */
    bool avoid_unknown;   /* reads that the model does not bind take known values only */
    ft_expr *count;       /* per event: value of its semaphore after it */
} literal;

static ft_expr before(literal *l, uint32_t a, uint32_t b)
{
    return ft_session_less(l->s, l->time[a], l->time[b]);
}

static ft_expr is_member(literal *l, uint32_t e)
{
    return ft_session_less(l->s, l->time[e], l->violation);
}

static void assert_it(literal *l, ft_expr formula)
{
    ft_session_imply(l->s, FT_LIT_TRUE, formula);
}

static ft_expr implied(literal *l, ft_expr premise, ft_expr conclusion)
{
    ft_expr either[2] = {ft_session_not(l->s, premise), conclusion};
    return ft_session_or(l->s, either, 2);
}

/* ---- Phi_PO ------------------------------------------------------------------------------------
 */

static void program_order(literal *l)
{
    const ft_trace *trace = l->p->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t previous = ft_order_previous(l->p->order, e), sources[2];
        if (previous != FT_NO_EVENT) assert_it(l, before(l, previous, e));
        uint32_t count = ft_order_hard_sources(l->p->order, e, sources);
        for (uint32_t i = 0; i < count; i++) assert_it(l, before(l, sources[i], e));
    }
}

/* ---- Phi_PI ------------------------------------------------------------------------------------
 */

/* "w_j is not between": executed before w_i or after the read. initial: w_i is the initial state.
 */
static ft_expr not_between(literal *l, const cell_write *other, const cell_write *chosen,
                           ft_expr read_time)
{
    ft_expr ways[3];
    uint32_t n = 0;
    if (chosen) ways[n++] = before(l, other->event, chosen->event);
    ways[n++] = ft_session_less(l->s, read_time, l->time[other->event]);
    if (other->event == l->extra && l->extra_writes)
        ways[n++] = ft_session_not(l->s, l->extra_writes);
    return ft_session_or(l->s, ways, n);
}

static ft_expr parameter(literal *l, const cell *c, const cell_write *chosen, ft_expr value,
                         ft_expr initial, ft_expr read_time, uint32_t reader)
{
    FT_VEC(ft_expr) all = {0};
    ft_expr from = chosen ? chosen->value : initial;
    if (value && from) ft_vec_push(&all, ft_session_equal(l->s, value, from));
    if (chosen) ft_vec_push(&all, ft_session_less(l->s, l->time[chosen->event], read_time));
    if (chosen && chosen->event == l->extra) ft_vec_push(&all, l->extra_writes);
    for (size_t j = 0; j < c->len; j++) {
        const cell_write *other = &c->data[j];
        if (other == chosen || other->event == reader) continue;
        ft_vec_push(&all, not_between(l, other, chosen, read_time));
    }
    ft_expr result = ft_session_and(l->s, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
    return result;
}

/* Definition 4.1: the most recent definition of the same thread, or any of another thread. */
static bool is_parameter(literal *l, const cell *c, size_t i, uint32_t reader)
{
    const ft_trace *trace = l->p->trace;
    uint32_t w = c->data[i].event;
    if (reader == FT_NO_EVENT) return true;
    if (w == reader) return false;
    if (trace->thread[w] != trace->thread[reader]) return true;
    if (l->p->order->position[w] > l->p->order->position[reader]) return false;
    for (size_t j = 0; j < c->len; j++) {
        uint32_t other = c->data[j].event;
        if (trace->thread[other] == trace->thread[w] && other != reader &&
            l->p->order->position[other] > l->p->order->position[w] &&
            l->p->order->position[other] < l->p->order->position[reader])
            return false;
    }
    return true;
}

/* reader FT_NO_EVENT: a read of the final state. access UINT32_MAX: free of the model's demand.
 * free_only: the read of an acquire. */
static ft_expr pi(literal *l, uint32_t cell_id, uint32_t reader, uint32_t access, ft_expr value,
                  ft_expr initial, bool free_only, bool avoid_extra)
{
    cell *c = &l->cells[cell_id];
    ft_expr read_time = reader == FT_NO_EVENT ? l->violation : l->time[reader];
    FT_VEC(ft_expr) ways = {0};
    bool demanded = access != UINT32_MAX;
    bool choosy = l->avoid_unknown && !demanded && cell_id < l->n_shared;
    if (demanded ? ft_problem_allows(l->p, reader, access, FT_NO_EVENT)
                 : !choosy || ft_problem_value_known(l->p, FT_NO_EVENT, cell_id))
        ft_vec_push(&ways, parameter(l, c, NULL, value, initial, read_time, reader));
    for (size_t i = 0; i < c->len; i++) {
        const cell_write *w = &c->data[i];
        if ((free_only && !w->free) || (avoid_extra && w->event == l->extra)) continue;
        if (!is_parameter(l, c, i, reader)) continue;
        if (demanded && !ft_problem_allows(l->p, reader, access, w->event)) continue;
        if (choosy && w->event != l->extra && !ft_problem_value_known(l->p, w->event, cell_id))
            continue;
        ft_vec_push(&ways, parameter(l, c, w, value, initial, read_time, reader));
    }
    ft_expr result =
        ways.len ? ft_session_or(l->s, ways.data, (uint32_t)ways.len) : ft_session_not(l->s, NULL);
    ft_vec_release(&ways);
    return result;
}

typedef struct place {
    literal *l;
    uint32_t reader; /* the departing event, or FT_NO_EVENT: the final state */
    ft_map done;
    FT_VEC(ft_expr) values;
} place;

static ft_expr state_value(void *context, uint32_t variable)
{
    place *at = context;
    literal *l = at->l;
    bool inserted;
    uint64_t *slot = ft_map_slot(&at->done, variable, at->values.len, &inserted);
    if (!inserted) return at->values.data[*slot];
    ft_expr value = ft_session_constant(l->s, l->p->trace->shared_info[variable].sort);
    ft_vec_push(&at->values, value);
    assert_it(l, pi(l, variable, at->reader, UINT32_MAX, value, ft_cssa_initial(l->cssa, variable),
                    false, false));
    return value;
}

/* ---- cells ---- */

static void add_write(literal *l, uint32_t cell_id, uint32_t e, ft_expr value, bool free_after)
{
    ft_vec_push(&l->cells[cell_id], (cell_write){e, value, free_after});
}

static uint32_t semaphore_cell(const literal *l, uint32_t e)
{
    return l->n_shared + l->n_locks + l->p->trace->object[e];
}

static void collect_writes(literal *l)
{
    const ft_trace *trace = l->p->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] == FT_EVENT_POST || trace->kind[e] == FT_EVENT_WAIT) {
            l->count[e] = ft_session_constant(l->s, FT_INT_SORT);
            add_write(l, semaphore_cell(l, e), e, l->count[e], false);
        }
        if (ft_order_effective(trace, e))
            add_write(l, l->n_shared + trace->object[e], e, NULL,
                      trace->kind[e] == FT_EVENT_RELEASE);
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write)
                add_write(l, accesses[i].variable, e,
                          e == l->extra ? ft_session_constant(
                                              l->s, trace->shared_info[accesses[i].variable].sort)
                                        : ft_cssa_write(l->cssa, e, accesses[i].variable),
                          false);
    }
}

static void constrain_lock(literal *l, uint32_t e)
{
    const ft_trace *trace = l->p->trace;
    if (!ft_order_effective(trace, e) || trace->kind[e] != FT_EVENT_ACQUIRE) return;
    ft_expr free_lock =
        pi(l, l->n_shared + trace->object[e], e, UINT32_MAX, NULL, NULL, true, false);
    assert_it(l, implied(l, is_member(l, e), free_lock));
}

static ft_expr initial_count(literal *l, uint32_t e)
{
    return ft_session_value(
        l->s, (ft_value){FT_INT_SORT, l->p->trace->semaphore_initial[l->p->trace->object[e]]});
}

static ft_expr zero(literal *l)
{
    return ft_session_value(l->s, (ft_value){FT_INT_SORT, 0});
}

static void constrain_semaphore(literal *l, uint32_t e)
{
    bool wait = l->p->trace->kind[e] == FT_EVENT_WAIT;
    if (!wait && l->p->trace->kind[e] != FT_EVENT_POST) return;
    ft_expr found = ft_session_constant(l->s, FT_INT_SORT);
    ft_expr all[3] = {
        pi(l, semaphore_cell(l, e), e, UINT32_MAX, found, initial_count(l, e), false, false),
        ft_session_equal(l->s, l->count[e], ft_session_add(l->s, found, wait ? -1 : 1)),
        wait ? ft_session_less(l->s, zero(l), found) : NULL};
    assert_it(l, implied(l, is_member(l, e), ft_session_and(l->s, all, 3)));
}

static void constrain_reads(literal *l, uint32_t e)
{
    const ft_trace *trace = l->p->trace;
    if (e == l->extra) return;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    bool symbolic = ft_trace_is_symbolic_event(trace, e);
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write) continue;
        ft_expr value = NULL;
        if (l->p->model == FT_MODEL_CTP && symbolic) {
            value = ft_cssa_read(l->cssa, e, i);
        } else if (l->p->model == FT_MODEL_CTP) {
            ft_vid vid = ft_run_vid(l->p->run, e, i);
            if (FT_VID_IS_KNOWN(vid)) value = ft_session_value(l->s, ft_run_value(l->p->run, vid));
        }
        ft_expr choice = pi(l, accesses[i].variable, e, i, value,
                            ft_cssa_initial(l->cssa, accesses[i].variable), false, true);
        assert_it(l, implied(l, is_member(l, e), choice));
    }
    if (ft_event_conditional(trace, e) && !(trace->flags[e] & FT_FLAG_FAILED))
        assert_it(l, implied(l, is_member(l, e), ft_cssa_enabled(l->cssa, e)));
}

/* ---- Phi_PRP ---- */

static void next(literal *l, uint32_t e)
{
    const ft_order *order = l->p->order;
    uint32_t previous = ft_order_previous(order, e), thread = l->p->trace->thread[e];
    if (previous != FT_NO_EVENT)
        assert_it(l, is_member(l, previous));
    else if (order->fork_of[thread] != FT_NO_EVENT)
        assert_it(l, is_member(l, order->fork_of[thread]));
    assert_it(l, ft_session_less(l->s, l->violation, l->time[e]));
}

static bool takes_place(literal *l, uint32_t e, uint32_t variable, bool write, place *at,
                        ft_expr *needs)
{
    const ft_trace *trace = l->p->trace;
    uint32_t i = ft_run_find_access(trace, e, variable, write), count;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    if (i == UINT32_MAX) return false;
    *needs = NULL;
    if (ft_access_conditional(trace, e, &accesses[i]))
        *needs = ft_cssa_enabled_with(l->cssa, e, &(ft_reads){state_value, at});
    return true;
}

static void claim_race(literal *l, const ft_claim *claim, place *end)
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
    assert_it(l, ways.len ? ft_session_or(l->s, ways.data, (uint32_t)ways.len)
                          : ft_session_not(l->s, NULL));
    ft_vec_release(&ways);
}

static void claim_atomicity(literal *l, const ft_claim *claim, place *end, place *departing)
{
    uint32_t remote = claim->events[1];
    ft_expr needs;
    if (l->extra == FT_NO_EVENT) {
        assert_it(l, is_member(l, remote));
    } else {
        uint32_t previous = ft_order_previous(l->p->order, remote);
        uint32_t after = ft_order_next(l->p->order, remote);
        if (previous != FT_NO_EVENT) assert_it(l, is_member(l, previous));
        assert_it(l, is_member(l, remote));
        if (after != FT_NO_EVENT) assert_it(l, ft_session_less(l->s, l->violation, l->time[after]));
        if (takes_place(l, remote, claim->variable, claim->writes[1], departing, &needs))
            assert_it(l, needs);
    }
    assert_it(l, before(l, claim->events[0], remote));
    next(l, claim->events[2]);
    if (takes_place(l, claim->events[2], claim->variable, claim->writes[2], end, &needs))
        assert_it(l, needs);
}

static void executable(literal *l, uint32_t e, place *end)
{
    const ft_trace *trace = l->p->trace;
    uint32_t sources[2], count = ft_order_hard_sources(l->p->order, e, sources);
    for (uint32_t i = 0; i < count; i++) assert_it(l, is_member(l, sources[i]));
    if (trace->kind[e] == FT_EVENT_ASSIGN || trace->kind[e] == FT_EVENT_ASSUME)
        assert_it(l, ft_cssa_enabled_with(l->cssa, e, &(ft_reads){state_value, end}));
    if (trace->kind[e] == FT_EVENT_WAIT) {
        ft_expr found = ft_session_constant(l->s, FT_INT_SORT);
        assert_it(l, pi(l, semaphore_cell(l, e), FT_NO_EVENT, UINT32_MAX, found,
                        initial_count(l, e), false, false));
        assert_it(l, ft_session_less(l->s, zero(l), found));
    }
    if (trace->kind[e] == FT_EVENT_ACQUIRE && ft_order_effective(trace, e))
        assert_it(l, pi(l, l->n_shared + trace->object[e], FT_NO_EVENT, UINT32_MAX, NULL, NULL,
                        true, false));
}

static void claim_false(literal *l, uint32_t e, ft_term term, place *end)
{
    next(l, e);
    assert_it(l, ft_cssa_false_with(l->cssa, e, term, &(ft_reads){state_value, end}));
}

static void property(literal *l, const ft_claim *claim, place *end, place *departing)
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
                assert_it(l, ft_session_less(l->s, l->violation, l->time[e]));
        break;
    case FT_CLAIM_KINDS:
        break;
    }
}

/* ---- life ---- */

/* What the departing event writes is what its terms say of the state it reads. */
static void define_departing(literal *l, place *departing)
{
    if (l->extra == FT_NO_EVENT) return;
    ft_reads reads = {state_value, departing};
    l->extra_writes = ft_cssa_enabled_with(l->cssa, l->extra, &reads);
    for (uint32_t v = 0; v < l->n_shared; v++)
        for (size_t i = 0; i < l->cells[v].len; i++)
            if (l->cells[v].data[i].event == l->extra)
                assert_it(l, ft_session_equal(l->s, l->cells[v].data[i].value,
                                              ft_cssa_write_with(l->cssa, l->extra, v, &reads)));
}

static bool adds_up(const ft_problem *p)
{
    return p->trace->semaphores.len > 0 || ft_run_symbolic(p->run);
}

static void literal_open(literal *l, const ft_problem *p, uint32_t extra)
{
    const ft_trace *trace = p->trace;
    *l = (literal){
        .p = p, .extra = extra, .n_shared = trace->shared.len, .n_locks = trace->locks.len};
    l->n_cells = l->n_shared + l->n_locks + trace->semaphores.len;
    l->s = ft_session_open(adds_up(p) ? FT_SESSION_INTEGER_SUMS : FT_SESSION_INTEGER);
    l->cssa = ft_cssa_new(p, l->s, NULL);
    l->cells = ft_calloc(l->n_cells + 1, sizeof *l->cells);
    l->time = ft_alloc((size_t)trace->n_events * sizeof *l->time);
    l->count = ft_calloc(trace->n_events, sizeof *l->count);
    l->violation = ft_session_order_variable(l->s);
    for (uint32_t e = 0; e < trace->n_events; e++) l->time[e] = ft_session_order_variable(l->s);
}

static void literal_close(literal *l)
{
    for (uint32_t i = 0; i < l->n_cells; i++) ft_vec_release(&l->cells[i]);
    ft_cssa_free(l->cssa);
    ft_session_close(l->s);
    free(l->cells);
    free(l->time);
    free(l->count);
}

static void place_release(place *at)
{
    ft_map_release(&at->done);
    ft_vec_release(&at->values);
}

typedef struct timed {
    int64_t time;
    uint32_t event;
} timed;

static int by_time(const void *left, const void *right)
{
    const timed *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static void read_schedule(literal *l, const ft_claim *claim, ft_witness *witness)
{
    int64_t end = ft_session_integer(l->s, l->violation);
    FT_VEC(timed) steps = {0};
    for (uint32_t e = 0; e < l->p->trace->n_events; e++) {
        int64_t time = ft_session_integer(l->s, l->time[e]);
        if (time < end) ft_vec_push(&steps, (timed){time, e});
    }
    if (steps.len) qsort(steps.data, steps.len, sizeof *steps.data, by_time);
    *witness = (ft_witness){.model = l->p->model,
                            .claim = *claim,
                            .n_steps = (uint32_t)steps.len,
                            .steps = ft_alloc((steps.len + 1) * sizeof *witness->steps)};
    for (size_t i = 0; i < steps.len; i++) witness->steps[i] = steps.data[i].event;
    ft_vec_release(&steps);
}

static ft_answer ask(const ft_problem *p, const ft_claim *claim, bool departs, bool avoid_unknown,
                     uint32_t timeout_ms, ft_witness *witness, ft_decide_stats *stats)
{
    literal l;
    double start = ft_now_ms();
    literal_open(&l, p, departs ? claim->events[1] : FT_NO_EVENT);
    l.avoid_unknown = avoid_unknown;
    place end = {.l = &l, .reader = FT_NO_EVENT}, departing = {.l = &l, .reader = l.extra};
    collect_writes(&l);
    program_order(&l);
    define_departing(&l, &departing);
    for (uint32_t e = 0; e < p->trace->n_events; e++) {
        constrain_lock(&l, e);
        constrain_semaphore(&l, e);
        constrain_reads(&l, e);
    }
    property(&l, claim, &end, &departing);
    double encoded = ft_now_ms();
    ft_answer answer = ft_session_check(l.s, NULL, 0, timeout_ms);
    stats->encode_ms += encoded - start;
    stats->solve_ms += ft_now_ms() - encoded;
    stats->checks++;
    stats->events = p->trace->n_events;
    if (answer == FT_ANSWER_SAT) read_schedule(&l, claim, witness);
    place_release(&end);
    place_release(&departing);
    literal_close(&l);
    return answer;
}

ft_answer ft_literal_decide(const ft_problem *p, const ft_claim *claim, bool avoid_unknown,
                            uint32_t timeout_ms, ft_witness *witness, ft_decide_stats *stats)
{
    ft_answer answer = ask(p, claim, false, avoid_unknown, timeout_ms, witness, stats);
    if (claim->kind != FT_CLAIM_ATOMICITY || answer == FT_ANSWER_SAT) return answer;
    ft_answer other = ask(p, claim, true, avoid_unknown, timeout_ms, witness, stats);
    if (other == FT_ANSWER_SAT) return other;
    return answer == FT_ANSWER_UNKNOWN ? answer : other;
}
