/* The literal encoding of Wang et al. §4.2, for prefixes as in §5.3: an integer O(t) for each
 * event, HB(t, t') as O(t) < O(t'), every pi-function with all parameters of Definition 4.1, locks
 * and semaphores as shared variables. The violation has a time of its own, O(v): events before it
 * are the members. With the paper's simplification for locks (end of §4.2): an acquire reads a free
 * lock, so only releases and the initial state are its parameters. Beyond the paper: read-write
 * locks and failed attempts as constraints on pairs of sections, signals as a matching.
 *
 * Solver configuration: integer difference logic (arith.solver 1) while no values or semaphores
 * are added up, else the general simplex (2); true as preferred phase. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "encode/literal.h"

ft_expr ft_literal_before(ft_literal *l, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a != b);
    return ft_session_less(l->s, l->time[a], l->time[b]);
}

ft_expr ft_literal_member(ft_literal *l, uint32_t e)
{
    FT_REQUIRE(e < l->p->trace->n_events);
    return ft_session_less(l->s, l->time[e], l->violation);
}

ft_expr ft_literal_path(ft_literal *l, uint32_t e)
{
    ft_lit path = ft_cssa_path(l->cssa, e);
    return path == FT_LIT_TRUE ? NULL : ft_session_literal(l->s, path);
}

ft_expr ft_literal_executed(ft_literal *l, uint32_t e)
{
    return ft_session_and(l->s, (ft_expr[2]){ft_literal_member(l, e), ft_literal_path(l, e)}, 2);
}

void ft_literal_assert(ft_literal *l, ft_expr formula)
{
    ft_session_imply(l->s, FT_LIT_TRUE, formula);
}

ft_expr ft_literal_implied(ft_literal *l, ft_expr premise, ft_expr conclusion)
{
    ft_expr either[2] = {ft_session_not(l->s, premise), conclusion};
    return ft_session_or(l->s, either, 2);
}

/* ---- Phi_PO ------------------------------------------------------------------------------------
 */

static void program_order(ft_literal *l)
{
    const ft_trace *trace = l->p->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t previous = ft_order_previous(l->p->order, e);
        const uint32_t *sources;
        if (previous != FT_NO_EVENT) ft_literal_assert(l, ft_literal_before(l, previous, e));
        uint32_t count = ft_order_hard_sources(l->p->order, e, &sources);
        for (uint32_t i = 0; i < count; i++)
            ft_literal_assert(l, ft_literal_before(l, sources[i], e));
    }
}

/* ---- Phi_PI ------------------------------------------------------------------------------------
 */

/* "w_j is not between": executed before w_i or after the read. initial: w_i is the initial state.
 */
static ft_expr not_between(ft_literal *l, const ft_literal_write *other,
                           const ft_literal_write *chosen, ft_expr read_time)
{
    ft_expr ways[4], path = ft_literal_path(l, other->event);
    uint32_t n = 0;
    if (path) ways[n++] = ft_session_not(l->s, path);
    if (chosen) ways[n++] = ft_literal_before(l, other->event, chosen->event);
    ways[n++] = ft_session_less(l->s, read_time, l->time[other->event]);
    if (other->event == l->extra && l->extra_writes)
        ways[n++] = ft_session_not(l->s, l->extra_writes);
    return ft_session_or(l->s, ways, n);
}

/* Is the value that w writes known, or computed? */
static bool is_known(const ft_literal *l, uint32_t w, uint32_t variable)
{
    if (w == l->extra && w != FT_NO_EVENT)
        return l->p->trace->kind[w] != FT_EVENT_RMW || ft_trace_compares(l->p->trace, w);
    return ft_problem_value_known(l->p, w, variable);
}

/* An unknown value is the one expected, unless the departing rmw finds the value of the run. */
static ft_expr found_of_extra(ft_literal *l, const ft_literal_write *extra)
{
    if (!l->extra_again) return l->found;
    ft_expr either[2] = {l->extra_again, ft_session_equal(l->s, extra->value, l->found)};
    ft_literal_assert(l, ft_session_or(l->s, either, 2));
    return extra->value;
}

static ft_expr parameter(ft_literal *l, const ft_literal_cell *c, const ft_literal_write *chosen,
                         ft_expr value, ft_expr initial, ft_expr read_time, uint32_t reader)
{
    FT_VEC(ft_expr) all = {0};
    ft_expr from = chosen ? chosen->value : initial;
    if (value && l->found &&
        !is_known(l, chosen ? chosen->event : FT_NO_EVENT, (uint32_t)(c - l->cells)))
        from = chosen && chosen->event == l->extra ? found_of_extra(l, chosen) : l->found;
    if (value && from) ft_vec_push(&all, ft_session_equal(l->s, value, from));
    if (chosen) ft_vec_push(&all, ft_session_less(l->s, l->time[chosen->event], read_time));
    if (chosen) ft_vec_push(&all, ft_literal_path(l, chosen->event));
    if (chosen && chosen->event == l->extra) ft_vec_push(&all, l->extra_writes);
    for (size_t j = 0; j < c->len; j++) {
        const ft_literal_write *other = &c->data[j];
        if (other == chosen || other->event == reader) continue;
        ft_vec_push(&all, not_between(l, other, chosen, read_time));
    }
    ft_expr result = ft_session_and(l->s, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
    return result;
}

/* Definition 4.1: the most recent definition of the same thread, or any of another thread. With
 * branches: any that no later one on all paths to the reader hides. */
static bool is_parameter(ft_literal *l, const ft_literal_cell *c, size_t i, uint32_t reader)
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
            l->p->order->position[other] < l->p->order->position[reader] &&
            ft_problem_certain(l->p, other, reader))
            return false;
    }
    return true;
}

/* reader FT_NO_EVENT: a read of the final state. access UINT32_MAX: free of the model's demand.
 * free_only: the read of an acquire. */
static ft_expr pi(ft_literal *l, uint32_t cell_id, uint32_t reader, uint32_t access, ft_expr value,
                  ft_expr initial, bool free_only, bool avoid_extra)
{
    assert(cell_id < l->n_cells);
    ft_literal_cell *c = &l->cells[cell_id];
    ft_expr read_time = reader == FT_NO_EVENT ? l->violation : l->time[reader];
    FT_VEC(ft_expr) ways = {0};
    bool demanded = access != UINT32_MAX;
    bool computed =
        l->p->model == FT_MODEL_CTP && demanded && ft_trace_is_symbolic_event(l->p->trace, reader);
    bool choosy = l->avoid_unknown && (!demanded || computed) && cell_id < l->n_shared;
    bool at_first = !demanded || ft_problem_allows(l->p, reader, access, FT_NO_EVENT);
    if (at_first && (!choosy || ft_problem_value_known(l->p, FT_NO_EVENT, cell_id)))
        ft_vec_push(&ways, parameter(l, c, NULL, value, initial, read_time, reader));
    for (size_t i = 0; i < c->len; i++) {
        const ft_literal_write *w = &c->data[i];
        if ((free_only && !w->free) || (avoid_extra && w->event == l->extra)) continue;
        if (!is_parameter(l, c, i, reader)) continue;
        if (demanded && !ft_problem_allows(l->p, reader, access, w->event)) continue;
        if (choosy && !is_known(l, w->event, cell_id)) continue;
        ft_vec_push(&ways, parameter(l, c, w, value, initial, read_time, reader));
    }
    ft_expr result =
        ways.len ? ft_session_or(l->s, ways.data, (uint32_t)ways.len) : ft_session_not(l->s, NULL);
    ft_vec_release(&ways);
    return result;
}

ft_expr ft_literal_state_value(void *context, uint32_t variable)
{
    ft_literal_place *at = context;
    ft_literal *l = at->l;
    bool inserted;
    uint64_t *slot = ft_map_slot(&at->done, variable, at->values.len, &inserted);
    if (!inserted) return at->values.data[*slot];
    ft_expr value = ft_session_constant(l->s, l->p->trace->shared_info[variable].sort);
    ft_vec_push(&at->values, value);
    l->found = at->found;
    ft_literal_assert(l, pi(l, variable, at->reader, UINT32_MAX, value,
                            ft_cssa_initial(l->cssa, variable), false, false));
    l->found = NULL;
    return value;
}

ft_expr ft_literal_enabled(ft_literal *l, uint32_t e, ft_literal_place *at)
{
    at->found = ft_trace_compares(l->p->trace, e) ? ft_cssa_found(l->cssa, e) : NULL;
    return ft_cssa_enabled_with(l->cssa, e, &(ft_reads){ft_literal_state_value, at});
}

/* ---- cells ---- */

static void add_write(ft_literal *l, uint32_t cell_id, uint32_t e, ft_expr value, bool free_after)
{
    assert(cell_id < l->n_cells && (value || cell_id >= l->n_shared));
    ft_vec_push(&l->cells[cell_id], (ft_literal_write){e, value, free_after});
}

static uint32_t semaphore_cell(const ft_literal *l, uint32_t e)
{
    return l->n_shared + l->n_locks + l->p->trace->object[e];
}

static void collect_writes(ft_literal *l)
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
        if (ft_cssa_path(l->cssa, e) == FT_LIT_FALSE) continue;
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

/* The time at which e reads the state: its own, or that of the violation. */
static ft_expr look(const ft_literal *l, uint32_t e, bool final)
{
    return final ? l->violation : l->time[e];
}

/* The section is over at that time: at one of its releases (ft_section, otherwise). Times of two
 * threads may be equal, so its opposite is a formula of its own. */
static ft_expr section_over(ft_literal *l, const ft_section *section, ft_expr time)
{
    const ft_section *all = l->p->order->sections.data;
    FT_VEC(ft_expr) ways = {0};
    for (const ft_section *s = section; s; s = ft_section_otherwise(all, s)) {
        if (s->release == FT_NO_EVENT) continue;
        ft_expr both[2] = {ft_session_less(l->s, l->time[s->release], time),
                           ft_literal_path(l, s->release)};
        ft_vec_push(&ways, ft_session_and(l->s, both, 2));
    }
    ft_expr result = ft_literal_any(l, ways.data, ways.len);
    ft_vec_release(&ways);
    return result;
}

/* e happens later than that, or is passed over. */
static ft_expr not_before(ft_literal *l, uint32_t e, ft_expr time)
{
    ft_expr either[2] = {ft_session_less(l->s, time, l->time[e]), NULL},
            path = ft_literal_path(l, e);
    if (path) either[1] = ft_session_not(l->s, path);
    return ft_session_or(l->s, either, path ? 2 : 1);
}

/* The section has begun at that time and is not over. */
static ft_expr section_open(ft_literal *l, const ft_section *section, ft_expr time)
{
    const ft_section *all = l->p->order->sections.data;
    FT_VEC(ft_expr) needs = {0};
    ft_vec_push(&needs, ft_session_less(l->s, l->time[section->acquire], time));
    ft_vec_push(&needs, ft_literal_path(l, section->acquire));
    for (const ft_section *s = section; s; s = ft_section_otherwise(all, s))
        if (s->release != FT_NO_EVENT) ft_vec_push(&needs, not_before(l, s->release, time));
    ft_expr result = ft_session_and(l->s, needs.data, (uint32_t)needs.len);
    ft_vec_release(&needs);
    return result;
}

/* No conflicting section is open. Read-write locks are no variables here: a section has to be over
 * if it began before. */
static ft_expr free_read_write_lock(ft_literal *l, uint32_t e, bool final)
{
    const ft_order *order = l->p->order;
    const ft_section own = {.shared = l->p->trace->kind[e] == FT_EVENT_ACQUIRE_SHARED};
    uint32_t lock = l->p->trace->object[e];
    FT_VEC(ft_expr) all = {0};
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++) {
        const ft_section *s = &order->sections.data[order->lock_sections[i]];
        if (s->thread == l->p->trace->thread[e] || !ft_order_conflict(s, &own)) continue;
        ft_expr either[2] = {not_before(l, s->acquire, look(l, e, final)),
                             section_over(l, s, look(l, e, final))};
        ft_vec_push(&all, ft_session_or(l->s, either, 2));
    }
    ft_expr result = ft_session_and(l->s, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
    return result;
}

ft_expr ft_literal_free_lock(ft_literal *l, uint32_t e, bool final)
{
    uint32_t lock = l->p->trace->object[e];
    if (ft_lock_kind_has_readers((ft_lock_kind)l->p->trace->lock_kind[lock]))
        return free_read_write_lock(l, e, final);
    return pi(l, l->n_shared + lock, final ? FT_NO_EVENT : e, UINT32_MAX, NULL, NULL, true, false);
}

ft_expr ft_literal_any(ft_literal *l, const ft_expr *alternatives, size_t count)
{
    return count ? ft_session_or(l->s, alternatives, (uint32_t)count) : ft_session_not(l->s, NULL);
}

/* The condition for a failed attempt: a section that makes it fail is open. NULL: its own is. */
static ft_expr held_lock(ft_literal *l, uint32_t e, bool final)
{
    const ft_trace *trace = l->p->trace;
    const ft_order *order = l->p->order;
    const ft_section attempt = {.shared = trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED};
    uint32_t lock = trace->object[e], own = ft_order_section_at(order, e, lock);
    if (own != FT_NO_SECTION && trace->lock_kind[lock] != FT_LOCK_RECURSIVE &&
        ft_order_conflict(&order->sections.data[own], &attempt))
        return NULL;
    FT_VEC(ft_expr) open = {0};
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++) {
        const ft_section *s = &order->sections.data[order->lock_sections[i]];
        if (s->thread == trace->thread[e] || !ft_order_conflict(s, &attempt)) continue;
        ft_vec_push(&open, section_open(l, s, look(l, e, final)));
    }
    ft_expr result = ft_literal_any(l, open.data, open.len);
    ft_vec_release(&open);
    return result;
}

/* The condition for a cond-wake: a signal of its own or a broadcast since its cond-wait. */
static ft_expr woken(ft_literal *l, uint32_t e)
{
    const ft_order_sync *sync = &l->p->order->sync;
    const ft_wake *wake = ft_order_wake(l->p->order, e);
    uint32_t condition = l->p->trace->object[e];
    FT_VEC(ft_expr) taken = {0};
    for (uint32_t i = sync->condition_first[condition];
         wake->wait != FT_NO_EVENT && i < sync->condition_first[condition + 1]; i++) {
        uint32_t s = sync->signals[i];
        if (l->p->wakeups == FT_WAKEUPS_OBSERVED && s != wake->signal) continue;
        ft_literal_match m = {s, ft_session_variable(l->s)};
        ft_session_imply(l->s, m.literal, ft_literal_executed(l, s));
        ft_session_imply(l->s, m.literal, ft_literal_before(l, wake->wait, s));
        ft_session_imply(l->s, m.literal, ft_literal_before(l, s, e));
        ft_vec_push(&l->matches, m);
        ft_vec_push(&taken, ft_session_literal(l->s, m.literal));
    }
    ft_expr result = ft_literal_any(l, taken.data, taken.len);
    ft_vec_release(&taken);
    return result;
}

static void constrain_lock(ft_literal *l, uint32_t e)
{
    const ft_trace *trace = l->p->trace;
    if (ft_problem_never(l->p, e) || ft_trace_is_blocked(l->p->trace, e))
        ft_literal_assert(l, ft_session_not(l->s, ft_literal_executed(l, e)));
    if (!ft_order_opens(trace, e)) return;
    ft_literal_assert(
        l, ft_literal_implied(l, ft_literal_executed(l, e), ft_literal_free_lock(l, e, false)));
}

/* A member of its kind needs one of these; NULL: it needs none (encode/sync.c). */
ft_expr ft_literal_ways(ft_literal *l, uint32_t e, bool final)
{
    const ft_trace *trace = l->p->trace;
    if (trace->kind[e] == FT_EVENT_TRY_FAILED || trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED)
        return held_lock(l, e, final);
    bool wakes = trace->kind[e] == FT_EVENT_COND_WAKE && !(trace->flags[e] & FT_FLAG_FAILED) &&
                 l->p->wakeups != FT_WAKEUPS_SPURIOUS;
    return wakes ? woken(l, e) : NULL;
}

static void constrain_ways(ft_literal *l, uint32_t e)
{
    ft_expr needed = ft_literal_ways(l, e, false);
    if (needed) ft_literal_assert(l, ft_literal_implied(l, ft_literal_executed(l, e), needed));
}

/* Each signal wakes at most one waiter. */
static void limit_signals(ft_literal *l)
{
    const ft_order_sync *sync = &l->p->order->sync;
    FT_VEC(ft_lit) taken = {0};
    for (uint32_t i = 0;
         l->p->trace->conditions.len && i < sync->condition_first[l->p->trace->conditions.len];
         i++) {
        if (l->p->trace->kind[sync->signals[i]] != FT_EVENT_SIGNAL) continue;
        taken.len = 0;
        for (size_t k = 0; k < l->matches.len; k++)
            if (l->matches.data[k].signal == sync->signals[i])
                ft_vec_push(&taken, l->matches.data[k].literal);
        ft_session_at_most(l->s, taken.data, (uint32_t)taken.len, 1);
    }
    ft_vec_release(&taken);
}

static ft_expr initial_count(ft_literal *l, uint32_t e)
{
    return ft_session_value(
        l->s, (ft_value){FT_INT_SORT, l->p->trace->semaphore_initial[l->p->trace->object[e]]});
}

static ft_expr zero(ft_literal *l)
{
    return ft_session_value(l->s, (ft_value){FT_INT_SORT, 0});
}

ft_expr ft_literal_unit_left(ft_literal *l, uint32_t e)
{
    ft_expr found = ft_session_constant(l->s, FT_INT_SORT);
    ft_expr both[2] = {pi(l, semaphore_cell(l, e), FT_NO_EVENT, UINT32_MAX, found,
                          initial_count(l, e), false, false),
                       ft_session_less(l->s, zero(l), found)};
    return ft_session_and(l->s, both, 2);
}

static void constrain_semaphore(ft_literal *l, uint32_t e)
{
    bool wait = l->p->trace->kind[e] == FT_EVENT_WAIT;
    if (!wait && l->p->trace->kind[e] != FT_EVENT_POST) return;
    ft_expr found = ft_session_constant(l->s, FT_INT_SORT);
    ft_expr all[3] = {
        pi(l, semaphore_cell(l, e), e, UINT32_MAX, found, initial_count(l, e), false, false),
        ft_session_equal(l->s, l->count[e], ft_session_add(l->s, found, wait ? -1 : 1)),
        wait ? ft_session_less(l->s, zero(l), found) : NULL};
    ft_literal_assert(
        l, ft_literal_implied(l, ft_literal_executed(l, e), ft_session_and(l->s, all, 3)));
}

static void constrain_branch(ft_literal *l, uint32_t e)
{
    ft_lit taken, condition = ft_cssa_branch(l->cssa, e, &taken);
    ft_expr same = ft_session_equal(l->s, ft_session_literal(l->s, taken),
                                    ft_session_literal(l->s, condition));
    ft_literal_assert(l, ft_literal_implied(l, ft_literal_executed(l, e), same));
}

/* The i-th access of e reads what the model wants. */
static ft_expr obeys(ft_literal *l, uint32_t e, uint32_t i, uint32_t variable)
{
    ft_expr value = NULL;
    if (l->p->model == FT_MODEL_CTP && ft_trace_is_symbolic_event(l->p->trace, e)) {
        value = ft_cssa_read(l->cssa, e, i);
    } else if (l->p->model == FT_MODEL_CTP) {
        ft_vid vid = ft_run_vid(l->p->run, e, i);
        if (ft_problem_demand(l->p, e, i) == FT_DEMAND_VALUE)
            value = ft_session_value(l->s, ft_run_value(l->p->run, vid));
    }
    return pi(l, variable, e, i, value, ft_cssa_initial(l->cssa, variable), false, true);
}

static void constrain_reads(ft_literal *l, uint32_t e)
{
    const ft_trace *trace = l->p->trace;
    if (e == l->extra || l->p->model == FT_MODEL_CONTROL) return;
    if (ft_cssa_path(l->cssa, e) == FT_LIT_FALSE) return;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write) continue;
        ft_expr choice = obeys(l, e, i, accesses[i].variable);
        ft_literal_assert(l, ft_literal_implied(l, ft_literal_executed(l, e), choice));
    }
    if (ft_event_conditional(trace, e) && !(trace->flags[e] & FT_FLAG_FAILED))
        ft_literal_assert(
            l, ft_literal_implied(l, ft_literal_executed(l, e), ft_cssa_enabled(l->cssa, e)));
    if (trace->kind[e] == FT_EVENT_IF && l->p->model == FT_MODEL_CTP) constrain_branch(l, e);
}

/* ---- life ---- */

/* An rmw writes the value of the run where it finds the value of the run. */
static void find_again(ft_literal *l, ft_literal_place *departing)
{
    const ft_trace *trace = l->p->trace;
    uint32_t e = l->extra, v = trace->object[e];
    if (trace->kind[e] != FT_EVENT_RMW || ft_trace_compares(trace, e)) return;
    if (!ft_problem_value_known(l->p, e, v)) return;
    uint32_t i = ft_run_find_access(trace, e, v, false);
    ft_vid wanted = ft_run_vid(l->p->run, e, i);
    l->extra_again = obeys(l, e, i, v);
    if (!FT_VID_IS_KNOWN(wanted)) return;
    ft_expr either[2] = {l->extra_again, NULL}, found = ft_literal_state_value(departing, v);
    either[1] =
        ft_session_equal(l->s, found, ft_session_value(l->s, ft_run_value(l->p->run, wanted)));
    l->extra_again = ft_session_or(l->s, either, 2);
}

/* The departing rmw writes what it wrote in the run, if that holds. */
static ft_expr as_in_run(ft_literal *l, ft_expr condition)
{
    uint32_t v = l->p->trace->object[l->extra];
    ft_expr known = NULL;
    for (size_t i = 0; i < l->cells[v].len; i++)
        if (l->cells[v].data[i].event == l->extra)
            known = ft_session_equal(l->s, l->cells[v].data[i].value,
                                     ft_cssa_write(l->cssa, l->extra, v));
    return ft_literal_implied(l, condition, known);
}

/* The departing event writes what its terms compute from the state that it reads. */
static void define_departing(ft_literal *l, ft_literal_place *departing)
{
    if (l->extra == FT_NO_EVENT) return;
    find_again(l, departing);
    ft_reads reads = {ft_literal_state_value, departing};
    l->extra_writes = ft_literal_enabled(l, l->extra, departing);
    for (uint32_t v = 0; v < l->n_shared; v++)
        for (size_t i = 0; i < l->cells[v].len; i++)
            if (l->cells[v].data[i].event == l->extra)
                ft_literal_assert(
                    l, ft_session_equal(l->s, l->cells[v].data[i].value,
                                        ft_cssa_write_with(l->cssa, l->extra, v, &reads)));
    if (l->extra_again) ft_literal_assert(l, as_in_run(l, l->extra_again));
}

static bool adds_up(const ft_problem *p)
{
    return p->trace->semaphores.len > 0 || ft_run_symbolic(p->run);
}

static void literal_open(ft_literal *l, const ft_problem *p, uint32_t extra)
{
    const ft_trace *trace = p->trace;
    *l = (ft_literal){
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

static void literal_close(ft_literal *l)
{
    for (uint32_t i = 0; i < l->n_cells; i++) ft_vec_release(&l->cells[i]);
    ft_cssa_free(l->cssa);
    ft_session_close(l->s);
    free(l->cells);
    free(l->time);
    free(l->count);
    ft_vec_release(&l->matches);
}

static void place_release(ft_literal_place *at)
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

static bool steps_keep_program_order(const ft_literal *l, const ft_witness *witness)
{
    const ft_order *order = l->p->order;
    uint32_t *next = ft_calloc((size_t)order->n_threads + 1, sizeof *next);
    bool kept = true;
    for (uint32_t i = 0; i < witness->n_steps && kept; i++) {
        uint32_t e = witness->steps[i], t = l->p->trace->thread[e];
        kept = order->position[e] >= next[t];
        next[t] = order->position[e] + 1;
    }
    free(next);
    return kept;
}

static void read_schedule(ft_literal *l, const ft_claim *claim, ft_witness *witness)
{
    int64_t end = ft_session_integer(l->s, l->violation);
    FT_VEC(timed) steps = {0};
    for (uint32_t e = 0; e < l->p->trace->n_events; e++) {
        int64_t time = ft_session_integer(l->s, l->time[e]);
        if (time < end && ft_session_true(l->s, ft_cssa_path(l->cssa, e)))
            ft_vec_push(&steps, (timed){time, e});
    }
    if (steps.len) qsort(steps.data, steps.len, sizeof *steps.data, by_time);
    *witness = (ft_witness){.model = l->p->model,
                            .wakeups = l->p->wakeups,
                            .bound = FT_NO_BOUND,
                            .claim = *claim,
                            .n_steps = (uint32_t)steps.len,
                            .steps = ft_alloc((steps.len + 1) * sizeof *witness->steps)};
    for (size_t i = 0; i < steps.len; i++) witness->steps[i] = steps.data[i].event;
    FT_CHECK(steps_keep_program_order(l, witness));
    ft_vec_release(&steps);
}

static ft_answer ask_solver(ft_literal *l, double deadline, ft_decide_stats *stats)
{
    double start = ft_now_ms();
    if (deadline > 0 && start >= deadline) return FT_ANSWER_UNKNOWN;
    ft_answer answer =
        ft_session_check(l->s, NULL, 0, deadline > 0 ? (uint32_t)(deadline - start) + 1 : 0);
    stats->solve_ms += ft_now_ms() - start;
    stats->checks++;
    return answer;
}

/* departs: atomicity, t_r's read departs from the model. */
static ft_answer ask(const ft_problem *p, const ft_question *question, bool departs,
                     ft_witness *witness, ft_decide_stats *stats)
{
    ft_literal l;
    double start = ft_now_ms();
    const ft_claim *claim = question->claim;
    literal_open(&l, p, departs ? claim->events[1] : FT_NO_EVENT);
    l.avoid_unknown = question->avoid_unknown;
    ft_literal_place end = {.l = &l, .reader = FT_NO_EVENT},
                     departing = {.l = &l, .reader = l.extra};
    collect_writes(&l);
    program_order(&l);
    define_departing(&l, &departing);
    for (uint32_t e = 0; e < p->trace->n_events; e++) {
        constrain_lock(&l, e);
        constrain_ways(&l, e);
        constrain_semaphore(&l, e);
        constrain_reads(&l, e);
    }
    ft_literal_property(&l, claim, &end, &departing);
    limit_signals(&l);
    stats->encode_ms += ft_now_ms() - start;
    ft_answer answer = ask_solver(&l, question->deadline, stats);
    if (stats->events < p->trace->n_events) stats->events = p->trace->n_events;
    stats->decided_by[FT_DECIDED_BY_LITERAL] |= answer != FT_ANSWER_UNKNOWN;
    if (answer == FT_ANSWER_SAT) read_schedule(&l, claim, witness);
    place_release(&end);
    place_release(&departing);
    literal_close(&l);
    return answer;
}

/* Context bounds and the claim STUCK have no literal encoding: the default encoding answers. */
static ft_answer hand_on(const ft_problem *p, const ft_question *question, ft_witness *witness,
                         ft_decide_stats *stats)
{
    ft_decider *decider = ft_decider_new(p, NULL);
    ft_answer answer = ft_decider_decide(decider, question, witness, stats);
    ft_decider_free(decider);
    return answer;
}

ft_answer ft_literal_decide(const ft_problem *p, const ft_question *question, ft_witness *witness,
                            ft_decide_stats *stats)
{
    FT_REQUIRE(p && question && question->claim && witness && stats);
    ft_claim_kind kind = question->claim->kind;
    if (question->bound != FT_NO_BOUND || kind == FT_CLAIM_STUCK)
        return hand_on(p, question, witness, stats);
    stats->lifted = true;
    ft_answer answer = ask(p, question, false, witness, stats);
    bool departs = kind == FT_CLAIM_ATOMICITY && p->model != FT_MODEL_CONTROL;
    if (!departs || answer == FT_ANSWER_SAT) return answer;
    ft_answer other = ask(p, question, true, witness, stats);
    if (other == FT_ANSWER_SAT) return other;
    return answer == FT_ANSWER_UNKNOWN ? answer : other;
}
