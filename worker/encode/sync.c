/* Conditions and failed attempts in the partial-order encoding.
 *
 * A cond-wake takes a signal or broadcast between its cond-wait and itself, each signal at most
 * once. An order with such a matching can be executed: a signal that must wake a waiter wakes the
 * one whose matched signal comes first among those that still wait, and the other waiters keep
 * their signals (an exchange argument), so wake-ups of other waiters do not break the matching. */
#include "base/contract.h"
#include "encode/partial.h"
#include "problem/faults.h"

static bool is_attempt(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_TRY_FAILED || trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED;
}

/* ---- cond-wakes ---------------------------------------------------------------------------- */

static void add_signal(ft_decider *d, const ft_wake *wake, uint32_t signal)
{
    const ft_order *order = d->problem->order;
    assert(wake->wait != wake->wake && signal != wake->wait && signal != wake->wake);
    if (!ft_partial_in(d, signal) || ft_order_before(order, signal, wake->wait) ||
        ft_order_before(order, wake->wake, signal))
        return;
    ft_lit taken = ft_session_variable(d->session);
    ft_partial_implies(d, taken, d->member[signal]);
    ft_partial_implies(d, taken, ft_partial_before(d, wake->wait, signal));
    ft_partial_implies(d, taken, ft_partial_before(d, signal, wake->wake));
    ft_vec_push(&d->asked, (ft_asked){taken, wake->wait, signal});
    ft_vec_push(&d->asked, (ft_asked){taken, signal, wake->wake});
    ft_vec_push(&d->ways, (ft_way){wake->wake, signal, taken});
}

static void add_signals(ft_decider *d, uint32_t e)
{
    const ft_order *order = d->problem->order;
    const ft_wake *wake = ft_order_wake(order, e);
    assert(wake && wake->wake == e);
    uint32_t condition = d->problem->trace->object[e];
    if (wake->wait == FT_NO_EVENT) return;
    if (d->problem->wakeups == FT_WAKEUPS_OBSERVED) {
        if (wake->signal != FT_NO_EVENT) add_signal(d, wake, wake->signal);
        return;
    }
    const uint32_t *first = order->sync.condition_first;
    for (uint32_t i = first[condition]; i < first[condition + 1]; i++)
        add_signal(d, wake, order->sync.signals[i]);
}

/* Each signal of the condition wakes at most one waiter. */
static void limit_signals(ft_decider *d, uint32_t condition)
{
    const ft_trace *trace = d->problem->trace;
    const ft_order_sync *sync = &d->problem->order->sync;
    FT_VEC(ft_lit) taken = {0};
    if (ft_fault_is(FT_FAULT_SIGNAL_TWICE)) return;
    for (uint32_t i = sync->condition_first[condition]; i < sync->condition_first[condition + 1];
         i++) {
        uint32_t signal = sync->signals[i];
        if (trace->kind[signal] != FT_EVENT_SIGNAL || !ft_partial_in(d, signal)) continue;
        taken.len = 0;
        for (size_t k = 0; k < d->ways.len; k++)
            if (d->ways.data[k].by == signal) ft_vec_push(&taken, d->ways.data[k].taken);
        ft_session_at_most(d->session, taken.data, (uint32_t)taken.len, 1);
    }
    ft_vec_release(&taken);
}

/* ---- failed attempts ----------------------------------------------------------------------- */

/* The section is open when e is executed: its acquire comes before e, and its release does not. */
static void add_holder(ft_decider *d, const ft_section *section, uint32_t e)
{
    const ft_order *order = d->problem->order;
    uint32_t release = section->release;
    assert(section->acquire != e && release != e);
    if (!ft_partial_in(d, section->acquire) || ft_order_before(order, e, section->acquire)) return;
    bool ends = release != FT_NO_EVENT && ft_partial_in(d, release);
    bool always = section->otherwise == FT_NO_SECTION;
    if (ends && always && ft_order_before(order, release, e)) return;
    ft_lit taken = ft_session_variable(d->session);
    ft_partial_implies(d, taken, d->member[section->acquire]);
    ft_partial_implies(d, taken, ft_partial_before(d, section->acquire, e));
    ft_vec_push(&d->asked, (ft_asked){taken, section->acquire, e});
    for (const ft_section *s = section; s; s = ft_section_otherwise(order->sections.data, s)) {
        if (s->release == FT_NO_EVENT || !ft_partial_in(d, s->release)) continue;
        ft_lit open[3] = {-taken, -d->member[s->release], ft_partial_gate(d, e, s->release)};
        ft_partial_clause(d, open, 3);
    }
    ft_vec_push(&d->ways, (ft_way){e, section->acquire, taken});
}

static void add_holders(ft_decider *d, uint32_t e)
{
    const ft_order *order = d->problem->order;
    const ft_trace *trace = d->problem->trace;
    const ft_section attempt = {.shared = trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED};
    uint32_t lock = trace->object[e];
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++) {
        const ft_section *section = &order->sections.data[order->lock_sections[i]];
        if (section->thread != trace->thread[e] && ft_order_conflict(section, &attempt))
            add_holder(d, section, e);
    }
}

/* Does its own thread hold the lock in a mode that makes the attempt fail? */
static bool fails_by_itself(const ft_decider *d, uint32_t e)
{
    const ft_order *order = d->problem->order;
    const ft_trace *trace = d->problem->trace;
    uint32_t own = ft_order_section_at(order, e, trace->object[e]);
    if (own == FT_NO_SECTION || trace->lock_kind[trace->object[e]] == FT_LOCK_RECURSIVE)
        return false;
    return trace->kind[e] == FT_EVENT_TRY_FAILED || !order->sections.data[own].shared;
}

/* ---- both ---------------------------------------------------------------------------------- */

bool ft_partial_has_ways(const ft_decider *d, uint32_t e)
{
    const ft_trace *trace = d->problem->trace;
    if (ft_fault_is(FT_FAULT_NO_SIGNAL) && trace->kind[e] == FT_EVENT_COND_WAKE) return false;
    if (ft_fault_is(FT_FAULT_TRY_FREE) && is_attempt(trace, e)) return false;
    if (is_attempt(trace, e)) return !fails_by_itself(d, e);
    return trace->kind[e] == FT_EVENT_COND_WAKE && !(trace->flags[e] & FT_FLAG_FAILED) &&
           d->problem->wakeups != FT_WAKEUPS_SPURIOUS;
}

static void add_ways(ft_decider *d, uint32_t e)
{
    if (is_attempt(d->problem->trace, e))
        add_holders(d, e);
    else
        add_signals(d, e);
}

void ft_partial_late_ways(ft_decider *d, uint32_t e)
{
    if (ft_partial_in(d, e)) return;
    for (size_t i = 0; i < d->ways.len; i++)
        if (d->ways.data[i].event == e) return;
    add_ways(d, e);
    if (d->problem->trace->kind[e] == FT_EVENT_COND_WAKE)
        limit_signals(d, d->problem->trace->object[e]);
}

void ft_partial_sync(ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    FT_VEC(ft_lit) choice = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (!ft_partial_in(d, e) || !ft_partial_has_ways(d, e)) continue;
        size_t first = d->ways.len;
        add_ways(d, e);
        choice.len = 0;
        ft_vec_push(&choice, -d->member[e]);
        for (size_t i = first; i < d->ways.len; i++) ft_vec_push(&choice, d->ways.data[i].taken);
        ft_partial_clause(d, choice.data, (uint32_t)choice.len);
    }
    ft_vec_release(&choice);
    for (uint32_t c = 0; c < trace->conditions.len; c++) limit_signals(d, c);
}
