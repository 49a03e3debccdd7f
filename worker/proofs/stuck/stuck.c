#include "proofs/stuck/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

enum { SECTION_EVENTS = 256, BEHIND_SECTION = 64, ROUNDS = 8, ALARMS = 8 };

typedef ft_stuck_state state;

/* ---- where a thread may rest, whatever the others do ----------------------------------------- */

bool ft_stuck_may_wait(const ft_trace *trace, uint32_t e)
{
    static const bool WAITS[FT_EVENT_KINDS] = {
        [FT_EVENT_ACQUIRE] = true,   [FT_EVENT_ACQUIRE_SHARED] = true, [FT_EVENT_WAIT] = true,
        [FT_EVENT_COND_WAKE] = true, [FT_EVENT_BARRIER_LEAVE] = true,  [FT_EVENT_JOIN] = true,
        [FT_EVENT_ONCE_PASS] = true,
    };
    if (trace->flags[e] & FT_FLAG_TRY || !WAITS[trace->kind[e]]) return false;
    return trace->kind[e] != FT_EVENT_COND_WAKE || !(trace->flags[e] & FT_FLAG_FAILED);
}

static bool is_acquire(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
}

static bool holds(const ft_stuck *s, uint32_t e, uint32_t lock)
{
    return ft_order_section_at(s->order, e, lock) != FT_NO_SECTION;
}

bool ft_stuck_possible(const ft_stuck *s, uint32_t e)
{
    if (!ft_stuck_may_wait(s->trace, e)) return false;
    if (!is_acquire(s->trace, e)) return true;
    if (!ft_order_effective(s->trace, e)) return false;
    return s->lock_stuck[s->trace->object[e]] || holds(s, e, s->trace->object[e]);
}

static uint64_t stuck_key(uint32_t lock, uint32_t thread)
{
    return (uint64_t)lock << 16 | thread;
}

/* In the order of a thread's events: the last one stays. */
static void add_stuck_holder(ft_stuck *s, uint32_t e)
{
    const ft_order *order = s->order;
    ft_hold hold = order->holds.data[order->hold[e]];
    for (uint32_t i = 0; i < hold.count; i++) {
        uint32_t section = order->hold_sections.data[hold.first + i];
        ft_map_put(&s->stuck, stuck_key(order->sections.data[section].lock, s->trace->thread[e]),
                   order->position[e] + 1);
    }
}

static void find_stuck_holders(ft_stuck *s)
{
    ft_map_release(&s->stuck);
    s->stuck = (ft_map){0};
    for (uint32_t e = 0; e < s->trace->n_events; e++)
        if (ft_stuck_possible(s, e)) add_stuck_holder(s, e);
    for (size_t i = 0; i < s->order->sections.len; i++) { /* it may end with it */
        const ft_section *section = &s->order->sections.data[i];
        if (section->release == FT_NO_EVENT)
            ft_map_put(&s->stuck, stuck_key(section->lock, section->thread), UINT32_MAX);
    }
}

static bool any_stuck(const ft_stuck *s, uint32_t lock)
{
    for (uint32_t t = 0; t < s->order->n_threads; t++)
        if (ft_map_get(&s->stuck, stuck_key(lock, t), NULL)) return true;
    return false;
}

/* At first any lock may keep others waiting; then those alone that somebody may wait with, for
 * something that may keep it waiting. After some rounds what is left may be too many. */
static void find_stuck_locks(ft_stuck *s)
{
    uint32_t n = s->trace->locks.len;
    bool fewer = true;
    s->lock_stuck = ft_alloc((size_t)n + 1);
    memset(s->lock_stuck, true, (size_t)n + 1);
    for (int round = 0; round < ROUNDS && fewer; round++) {
        find_stuck_holders(s);
        fewer = false;
        for (uint32_t lock = 0; lock < n; lock++) {
            if (!s->lock_stuck[lock] || any_stuck(s, lock)) continue;
            s->lock_stuck[lock] = false;
            fewer = true;
        }
    }
}

bool ft_stuck_ends_with(const ft_stuck *s, uint32_t thread, uint32_t lock)
{
    uint64_t behind;
    return ft_map_get(&s->stuck, stuck_key(lock, thread), &behind) && behind == UINT32_MAX;
}

bool ft_stuck_may_be_unstarted(const ft_stuck *s, uint32_t thread)
{
    const ft_order *order = s->order;
    for (uint32_t fork = order->fork_of[thread]; fork != FT_NO_EVENT;
         fork = order->fork_of[s->trace->thread[fork]]) {
        const uint32_t *events = order->thread_events + order->thread_start[s->trace->thread[fork]];
        for (uint32_t i = 0; i < order->position[fork]; i++)
            if (ft_stuck_possible(s, events[i])) return true;
    }
    return false;
}

/* ---- what has been executed ------------------------------------------------------------------ */

static bool is_executed(const ft_stuck *s, uint32_t e)
{
    assert(s->now);
    return e != FT_NO_EVENT && s->order->position[e] < s->now->reached[s->trace->thread[e]];
}

/* Notes that e is executed, and all that comes before it in its thread. */
static void execute(ft_stuck *s, uint32_t e)
{
    uint32_t thread = s->trace->thread[e], want = s->order->position[e] + 1;
    if (s->now->reached[thread] < want) s->now->reached[thread] = want;
}

static void execute_needs(ft_stuck *s, uint32_t e)
{
    const uint32_t *sources;
    ft_access scratch;
    uint32_t count = ft_order_hard_sources(s->order, e, &sources), source;
    for (uint32_t i = 0; i < count; i++) execute(s, sources[i]);
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!accesses[i].write && ft_causality_tie(s->causality, e, i, &source) &&
            source != FT_NO_EVENT)
            execute(s, source);
}

static uint32_t event_at(const ft_stuck *s, uint32_t thread, uint32_t position)
{
    assert(s->order->thread_start[thread] + position < s->order->thread_start[thread + 1]);
    return s->order->thread_events[s->order->thread_start[thread] + position];
}

static uint32_t events_of(const ft_stuck *s, uint32_t thread)
{
    return s->order->thread_start[thread + 1] - s->order->thread_start[thread];
}

static void close_needs(ft_stuck *s)
{
    state *now = s->now;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t t = 0; t < s->order->n_threads; t++)
            for (; now->closed[t] < now->reached[t]; more = true)
                execute_needs(s, event_at(s, t, now->closed[t]++));
    }
}

/* ---- was the waiter there first? ------------------------------------------------------------- */

/* Is the write known to come after the other one (FT_NO_EVENT: the initial state), by order or
 * since its own section reads that one before? */
static bool is_behind(const ft_stuck *s, uint32_t write, uint32_t source, uint32_t variable,
                      uint32_t from)
{
    ft_access scratch;
    uint32_t count, read_from, thread = s->trace->thread[write];
    if (source == FT_NO_EVENT || ft_order_before(s->order, source, write)) return true;
    for (uint32_t at = s->order->position[from]; at <= s->order->position[write]; at++) {
        uint32_t e = event_at(s, thread, at);
        const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!accesses[i].write && accesses[i].variable == variable &&
                ft_causality_tie(s->causality, e, i, &read_from) && read_from == source)
                return true;
    }
    return false;
}

/* Does the section overwrite the value that the read must return? */
static bool overwrites(const ft_stuck *s, const ft_section *section, uint32_t variable,
                       uint32_t source)
{
    ft_access scratch;
    uint32_t count, thread = section->thread, from = s->order->position[section->acquire],
                    to = section->release == FT_NO_EVENT ? events_of(s, thread)
                                                         : s->order->position[section->release];
    for (uint32_t at = from; at < to && at - from < SECTION_EVENTS; at++) {
        uint32_t e = event_at(s, thread, at);
        if (e == source) continue;
        const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write && accesses[i].variable == variable &&
                is_behind(s, e, source, variable, section->acquire))
                return true;
    }
    return false;
}

/* Does a read before e in the section return what `other` overwrites? Then the section is the first
 * of the two, which exclude each other. */
static bool reads_before(const ft_stuck *s, const ft_section *section, uint32_t e,
                         const ft_section *other)
{
    ft_access scratch;
    uint32_t count, source, end = s->order->position[e],
                            from = s->order->position[section->acquire];
    if (end - from > SECTION_EVENTS) from = end - SECTION_EVENTS;
    for (uint32_t at = from; at < end; at++) {
        uint32_t r = event_at(s, section->thread, at);
        const ft_access *accesses = ft_trace_accesses(s->trace, r, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!accesses[i].write && ft_causality_tie(s->causality, r, i, &source) &&
                overwrites(s, other, accesses[i].variable, source))
                return true;
    }
    return false;
}

/* The section of the lock that e is in, or a little behind; NULL: none. */
static const ft_section *section_near(const ft_stuck *s, uint32_t e, uint32_t lock)
{
    const ft_order *order = s->order;
    uint32_t section = ft_order_section_at(order, e, lock), at = order->position[e];
    for (uint32_t back = 0; section == FT_NO_SECTION && back < BEHIND_SECTION && at > 0; back++) {
        uint32_t closes = order->section_of[event_at(s, s->trace->thread[e], --at)];
        if (closes != FT_NO_SECTION && order->sections.data[closes].lock == lock) section = closes;
    }
    return section == FT_NO_SECTION ? NULL : &order->sections.data[section];
}

/* Where both are executed: does the cond-wait come before the signal in every schedule? */
static bool comes_first(const ft_stuck *s, uint32_t wait, uint32_t signal)
{
    const ft_order *order = s->order;
    if (ft_order_before(order, wait, signal)) return true;
    if (s->trace->thread[wait] == s->trace->thread[signal]) return false;
    ft_hold hold = order->holds.data[order->hold[wait]];
    for (uint32_t i = 0; i < hold.count; i++) {
        const ft_section *mine = &order->sections.data[order->hold_sections.data[hold.first + i]];
        const ft_section *other = section_near(s, signal, mine->lock);
        if (other && ft_order_conflict(mine, other) && reads_before(s, mine, wait, other))
            return true;
    }
    return false;
}

static bool *find_only_sleepers(const ft_trace *trace)
{
    uint32_t n = trace->conditions.len, *sleeper = ft_alloc(((size_t)n + 1) * sizeof *sleeper);
    bool *only = ft_alloc((size_t)n + 1);
    memset(sleeper, 0xff, ((size_t)n + 1) * sizeof *sleeper);
    memset(only, true, (size_t)n + 1);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_COND_WAIT) continue;
        uint32_t *who = &sleeper[trace->object[e]], thread = trace->thread[e];
        if (*who != UINT32_MAX && *who != thread) only[trace->object[e]] = false;
        *who = thread;
    }
    free(sleeper);
    return only;
}

/* Of the next signals in the run, those that wake every sleeping thread and find this waiter
 * asleep. */
static void find_alarms_of(ft_stuck *s, uint32_t wait, bool only_sleeper)
{
    const ft_order_sync *sync = &s->order->sync;
    uint32_t c = s->trace->object[wait], low = sync->condition_first[c],
             end = sync->condition_first[c + 1], high = end, looked = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sync->signals[middle] < wait)
            low = middle + 1;
        else
            high = middle;
    }
    ft_map_put(&s->alarms_of, wait, s->alarms.len);
    for (; low < end && looked < ALARMS; low++, looked++) {
        uint32_t signal = sync->signals[low];
        bool all = only_sleeper || s->trace->kind[signal] == FT_EVENT_BROADCAST;
        if (all && comes_first(s, wait, signal)) ft_vec_push(&s->alarms, signal);
    }
    ft_vec_push(&s->alarms, FT_NO_EVENT);
}

static void find_alarms(ft_stuck *s)
{
    bool *only = find_only_sleepers(s->trace);
    for (uint32_t e = 0; e < s->trace->n_events; e++)
        if (s->trace->kind[e] == FT_EVENT_COND_WAIT)
            find_alarms_of(s, e, only[s->trace->object[e]]);
    free(only);
}

/* ---- life ------------------------------------------------------------------------------------ */

ft_stuck *ft_stuck_new(const ft_problem *problem, const ft_causality *causality)
{
    FT_REQUIRE(problem);
    const ft_trace *trace = problem->trace;
    ft_stuck *s = ft_calloc(1, sizeof *s);
    *s = (ft_stuck){.problem = problem,
                    .trace = trace,
                    .order = problem->order,
                    .causality = causality,
                    .idle = trace->n_paths > 0 || trace->broken != FT_NO_EVENT};
    if (s->idle) return s;
    uint32_t n = s->order->n_threads;
    s->cut = ft_calloc((size_t)n + 1, sizeof *s->cut);
    ft_trace_find_cut(trace, s->cut);
    s->states = ft_calloc(2 * (size_t)n + 1, sizeof *s->states);
    find_stuck_locks(s);
    if (trace->conditions.len) find_alarms(s);
    ft_stuck_find_monitors(s);
    ft_stuck_sum_up(s);
    s->flow = ft_stuck_flow_new(s);
    return s;
}

void ft_stuck_free(ft_stuck *s)
{
    if (!s) return;
    for (uint32_t i = 0; s->states && i < 2 * s->order->n_threads; i++) {
        free(s->states[i].reached);
        free(s->states[i].closed);
    }
    free(s->states);
    ft_stuck_flow_free(s->flow);
    ft_stuck_release_monitors(s);
    free(s->cut);
    free(s->lock_stuck);
    free(s->waited);
    ft_vec_release(&s->alarms);
    ft_map_release(&s->alarms_of);
    ft_map_release(&s->stuck);
    free(s);
}

/* ---- reasons for a thread to wait forever ----------------------------------------------- */

static bool may_lack_lock(const ft_stuck *s, uint32_t e)
{
    uint32_t lock = s->trace->object[e], self = s->trace->thread[e];
    uint64_t behind;
    if (holds(s, e, lock)) return true;
    for (uint32_t t = 0; t < s->order->n_threads; t++)
        if (t != self && ft_map_get(&s->stuck, stuck_key(lock, t), &behind) &&
            behind > s->now->reached[t])
            return true;
    return false;
}

static bool may_lack_unit(const ft_stuck *s, uint32_t e)
{
    return s->waited[s->trace->object[e]];
}

static bool may_lack_source(const ft_stuck *s, uint32_t e)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(s->order, e, &sources);
    uint32_t awaited = ft_order_awaited(s->order, e);
    if (ft_order_never(s->order, e) || (awaited != FT_NO_EVENT && !is_executed(s, awaited)))
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (!is_executed(s, sources[i])) return true;
    /* Of a thread without events nothing is known. */
    return count == 0 && awaited == FT_NO_EVENT;
}

static bool may_lack_initialiser(const ft_stuck *s, uint32_t e)
{
    return !is_executed(s, s->order->sync.once_end[s->trace->object[e]]);
}

static bool is_woken(const ft_stuck *s, uint32_t wait)
{
    uint64_t first;
    if (!ft_map_get(&s->alarms_of, wait, &first)) return false;
    for (const uint32_t *alarm = s->alarms.data + first; *alarm != FT_NO_EVENT; alarm++)
        if (is_executed(s, *alarm)) return true;
    return false;
}

static bool may_sleep(const ft_stuck *s, uint32_t e)
{
    const ft_wake *wake = ft_order_wake(s->order, e);
    if (wake->wait == FT_NO_EVENT) return true;
    switch (s->problem->wakeups) {
    case FT_WAKEUPS_SPURIOUS:
        return false;
    case FT_WAKEUPS_OBSERVED:
        return !is_executed(s, wake->signal) || !comes_first(s, wake->wait, wake->signal);
    default:
        return !is_woken(s, wake->wait);
    }
}

static bool (*const LACKS[FT_EVENT_KINDS])(const ft_stuck *, uint32_t) = {
    [FT_EVENT_ACQUIRE] = may_lack_lock,
    [FT_EVENT_ACQUIRE_SHARED] = may_lack_lock,
    [FT_EVENT_WAIT] = may_lack_unit,
    [FT_EVENT_COND_WAKE] = may_sleep,
    [FT_EVENT_BARRIER_LEAVE] = may_lack_source,
    [FT_EVENT_JOIN] = may_lack_source,
    [FT_EVENT_ONCE_PASS] = may_lack_initialiser,
};

/* May the thread that is next at e wait there forever, given all that is known to be executed? */
static bool may_stay(const ft_stuck *s, uint32_t e)
{
    if (!ft_stuck_possible(s, e)) return false;
    if (s->now->joins_only && s->trace->kind[e] != FT_EVENT_JOIN && !is_acquire(s->trace, e))
        return false;
    assert(LACKS[s->trace->kind[e]]); /* each kind that may wait has a reason */
    return LACKS[s->trace->kind[e]](s, e);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static bool is_started(const ft_stuck *s, uint32_t thread)
{
    uint32_t fork = s->order->fork_of[thread];
    return s->now->reached[thread] > 0 || fork == FT_NO_EVENT || is_executed(s, fork);
}

/* To where the thread may rest; true: it went on. */
static bool go_on(ft_stuck *s, uint32_t thread)
{
    uint32_t *reached = &s->now->reached[thread], before = *reached, n = events_of(s, thread);
    if (!is_started(s, thread)) return false;
    while (*reached < n && !may_stay(s, event_at(s, thread, *reached))) ++*reached;
    assert(*reached >= before && *reached <= n);
    if (*reached == n && s->cut[thread]) s->now->refuted = true;
    return *reached != before;
}

/* Of all final states in which that thread came to that event, or further: claims later in the
 * thread begin with what is known of those before. */
static state *state_at(ft_stuck *s, uint32_t event)
{
    uint32_t n = s->order->n_threads, thread = s->trace->thread[event];
    bool joins_only = s->trace->kind[event] == FT_EVENT_JOIN;
    state *at = &s->states[2 * thread + joins_only];
    if (!at->reached) {
        at->reached = ft_calloc((size_t)n + 1, sizeof *at->reached);
        at->closed = ft_calloc((size_t)n + 1, sizeof *at->closed);
    }
    if (at->position > s->order->position[event]) {
        memset(at->reached, 0, n * sizeof *at->reached);
        memset(at->closed, 0, n * sizeof *at->closed);
        at->refuted = false;
    }
    at->position = s->order->position[event];
    at->joins_only = joins_only;
    if (at->reached[thread] < at->position) at->reached[thread] = at->position;
    return at;
}

bool ft_stuck_refutes(ft_stuck *s, const ft_claim *claim)
{
    FT_REQUIRE(s && claim);
    if (claim->kind != FT_CLAIM_STUCK || s->idle) return false;
    uint32_t event = claim->events[0], fork = s->order->fork_of[s->trace->thread[event]];
    s->now = state_at(s, event);
    if (fork != FT_NO_EVENT) execute(s, fork);
    for (bool more = true; more && !s->now->refuted;) {
        close_needs(s);
        more = false;
        for (uint32_t t = 0; t < s->order->n_threads; t++) more |= go_on(s, t);
    }
    return s->now->refuted || is_executed(s, event) || ft_stuck_is_in_no_known_state(s, event) ||
           ft_stuck_flow_refutes(s->flow, event, s->now->reached) ||
           ft_stuck_is_in_no_state(s, event);
}
