/* Synchronisation in the oracle's machine: locks, semaphores, conditions, barriers, once objects.
 */
#include <string.h>

#include "oracle/state.h"

/* ---- set-up: what the observed run fixes ---- */

/* What was passed over in the run fixes nothing.
 *
 * A barrier's rounds are its arrivals in observed order, `count` at a time; a leave belongs to its
 * thread's last arrival. */
static void find_rounds(ft_machine *machine)
{
    const ft_trace *trace = machine->trace;
    uint32_t arrivals[FT_ORACLE_BARRIERS] = {0};
    uint8_t latest[FT_ORACLE_THREADS][FT_ORACLE_BARRIERS] = {{0}};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t barrier = trace->object[e], thread = trace->thread[e];
        if (machine->passed[e]) continue;
        if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE)
            latest[thread][barrier] =
                (uint8_t)(arrivals[barrier]++ / trace->barrier_count[barrier] + 1);
        if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE || trace->kind[e] == FT_EVENT_BARRIER_LEAVE)
            machine->round[e] = latest[thread][barrier];
    }
}

/* The waiter that a signal takes in the observed run is the one that has waited longest, among
 * those that were woken at all: that slept neither to the end nor until their time was up. */
typedef struct queue {
    uint32_t waits[FT_ORACLE_EVENTS], n; /* cond-waits not yet over, in order */
    uint8_t signal[FT_ORACLE_EVENTS];    /* that took it: event + 1 */
} queue;

static void take_waiters(queue *q, uint32_t signal, bool all)
{
    for (uint32_t i = 0; i < q->n; i++) {
        if (q->signal[i]) continue;
        q->signal[i] = (uint8_t)(signal + 1);
        if (!all) return;
    }
}

static uint8_t leave_queue(queue *q, const ft_trace *trace, uint32_t thread)
{
    for (uint32_t i = 0; i < q->n; i++) {
        if (trace->thread[q->waits[i]] != thread) continue;
        uint8_t signal = q->signal[i];
        q->n--;
        for (uint32_t k = i; k < q->n; k++) {
            q->waits[k] = q->waits[k + 1];
            q->signal[k] = q->signal[k + 1];
        }
        return signal;
    }
    return 0;
}

static bool is_ever_woken(const ft_trace *trace, uint32_t wait)
{
    for (uint32_t e = wait + 1; e < trace->n_events; e++) {
        if (trace->thread[e] != trace->thread[wait] || trace->kind[e] != FT_EVENT_COND_WAKE)
            continue;
        return !(trace->flags[e] & (FT_FLAG_FAILED | FT_FLAG_BLOCKED));
    }
    return false;
}

static void find_wakers(ft_machine *machine, uint32_t condition)
{
    const ft_trace *trace = machine->trace;
    queue q = {.n = 0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (ft_event_kind_object(trace->kind[e]) != FT_OBJECT_CONDITION ||
            trace->object[e] != condition || machine->passed[e] || ft_trace_is_blocked(trace, e))
            continue;
        if (trace->kind[e] == FT_EVENT_COND_WAIT) {
            if (!is_ever_woken(trace, e)) continue;
            q.signal[q.n] = 0;
            q.waits[q.n++] = e;
        } else if (trace->kind[e] == FT_EVENT_COND_WAKE) {
            machine->waker[e] = leave_queue(&q, trace, trace->thread[e]);
        } else {
            take_waiters(&q, e, trace->kind[e] == FT_EVENT_BROADCAST);
        }
    }
}

void ft_sync_init(ft_machine *machine)
{
    const ft_trace *trace = machine->trace;
    find_rounds(machine);
    for (uint32_t c = 0; c < trace->conditions.len; c++) find_wakers(machine, c);
    for (uint32_t e = 0; e < trace->n_events; e++)
        for (int end = 0; end < 2; end++) {
            uint8_t *first = end ? machine->once_end : machine->once_begin;
            if (trace->kind[e] == (end ? FT_EVENT_ONCE_END : FT_EVENT_ONCE_BEGIN) &&
                !first[trace->object[e]])
                first[trace->object[e]] = (uint8_t)(e + 1);
        }
}

/* ---- may it go on? ---- */

static bool edge_open(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    uint8_t source = machine->edge_source[event];
    return !source || ft_machine_has_executed(machine, state, source - 1u);
}

static bool no_effect(const ft_trace *trace, uint32_t event)
{
    return (trace->flags[event] & (FT_FLAG_NESTED | FT_FLAG_STRANGER)) != 0;
}

/* Have all arrivals of the round been executed, and are they as many as the barrier counts? */
static bool round_over(const ft_machine *machine, const ft_state *state, uint32_t barrier,
                       uint32_t round)
{
    const ft_trace *trace = machine->trace;
    uint32_t arrived = 0;
    for (uint32_t e = 0; e < trace->n_events; e++)
        arrived += trace->kind[e] == FT_EVENT_BARRIER_ARRIVE && trace->object[e] == barrier &&
                   machine->round[e] == round && ft_machine_has_executed(machine, state, e);
    return arrived == trace->barrier_count[barrier];
}

static bool round_open(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    uint32_t round = machine->round[event], barrier = machine->trace->object[event];
    if (machine->trace->kind[event] == FT_EVENT_BARRIER_LEAVE)
        return round > 0 && round_over(machine, state, barrier, round);
    return round <= 1 || round_over(machine, state, barrier, round - 1);
}

static bool once_done(const ft_machine *machine, const ft_state *state, uint32_t once)
{
    uint8_t end = machine->once_end[once];
    return end && ft_machine_has_executed(machine, state, end - 1u);
}

static bool once_begun(const ft_machine *machine, const ft_state *state, uint32_t once)
{
    uint8_t begin = machine->once_begin[once];
    return begin && ft_machine_has_executed(machine, state, begin - 1u);
}

static bool may_acquire(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    const ft_trace *trace = machine->trace;
    uint32_t lock = trace->object[event];
    if (no_effect(trace, event)) return true;
    if (trace->kind[event] == FT_EVENT_ACQUIRE_SHARED) return !state->owner[lock];
    return !state->owner[lock] && !state->readers[lock];
}

/* A failed attempt: the lock is held in a mode that refuses it. A recursive lock never refuses its
 * own holder. */
static bool may_fail(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    const ft_trace *trace = machine->trace;
    uint32_t lock = trace->object[event];
    if (trace->kind[event] == FT_EVENT_TRY_FAILED_SHARED) return state->owner[lock] != 0;
    bool own = state->owner[lock] == trace->thread[event] + 1u;
    if (own && trace->lock_kind[lock] == FT_LOCK_RECURSIVE) return false;
    return state->owner[lock] != 0 || state->readers[lock] != 0;
}

static bool may_wake(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    const ft_trace *trace = machine->trace;
    uint32_t thread = trace->thread[event];
    if (state->waits[thread] != trace->object[event] + 1) return false;
    bool timed_out = (trace->flags[event] & FT_FLAG_FAILED) != 0;
    return timed_out || machine->wakeups == FT_WAKEUPS_SPURIOUS || state->woken[thread];
}

bool ft_sync_ready(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    const ft_trace *trace = machine->trace;
    uint32_t object = trace->object[event];
    switch ((ft_event_kind)trace->kind[event]) {
    case FT_EVENT_ACQUIRE:
    case FT_EVENT_ACQUIRE_SHARED:
        return may_acquire(machine, state, event);
    case FT_EVENT_TRY_FAILED:
    case FT_EVENT_TRY_FAILED_SHARED:
        return may_fail(machine, state, event);
    case FT_EVENT_WAIT:
        return state->count[object] > 0;
    case FT_EVENT_JOIN:
        return ft_machine_thread_ended(machine, state, object);
    case FT_EVENT_EDGE_IN:
        return edge_open(machine, state, event);
    case FT_EVENT_COND_WAKE:
        return may_wake(machine, state, event);
    case FT_EVENT_BARRIER_ARRIVE:
    case FT_EVENT_BARRIER_LEAVE:
        return round_open(machine, state, event);
    case FT_EVENT_ONCE_PASS:
        return once_done(machine, state, object);
    case FT_EVENT_READ:
    case FT_EVENT_WRITE:
    case FT_EVENT_ASSIGN:
    case FT_EVENT_ASSUME:
    case FT_EVENT_ASSERT:
    case FT_EVENT_FORK:
    case FT_EVENT_BEGIN:
    case FT_EVENT_END:
    case FT_EVENT_RELEASE:
    case FT_EVENT_POST:
    case FT_EVENT_TX_BEGIN:
    case FT_EVENT_TX_END:
    case FT_EVENT_EDGE_OUT:
    case FT_EVENT_COND_WAIT:
    case FT_EVENT_SIGNAL:
    case FT_EVENT_BROADCAST:
    case FT_EVENT_ONCE_BEGIN:
    case FT_EVENT_ONCE_END:
    case FT_EVENT_RMW:
    case FT_EVENT_ALLOC:
    case FT_EVENT_FREE:
    case FT_EVENT_IF:
    case FT_EVENT_ELSE:
    case FT_EVENT_END_IF:
    case FT_EVENT_KINDS:
        break;
    }
    return true;
}

bool ft_sync_blocked(const ft_machine *machine, const ft_state *state, uint32_t event)
{
    static const bool waits[FT_EVENT_KINDS] = {
        [FT_EVENT_ACQUIRE] = true,   [FT_EVENT_ACQUIRE_SHARED] = true,
        [FT_EVENT_WAIT] = true,      [FT_EVENT_COND_WAKE] = true,
        [FT_EVENT_JOIN] = true,      [FT_EVENT_BARRIER_LEAVE] = true,
        [FT_EVENT_ONCE_PASS] = true,
    };
    const ft_trace *trace = machine->trace;
    if (!waits[trace->kind[event]] || (trace->flags[event] & FT_FLAG_TRY)) return false;
    /* The first to come runs the initialiser: what it does then is not in the trace. */
    if (trace->kind[event] == FT_EVENT_ONCE_PASS &&
        !once_begun(machine, state, trace->object[event]))
        return false;
    return !ft_sync_ready(machine, state, event);
}

bool ft_sync_held_against(const ft_machine *machine, const ft_state *state, uint32_t request,
                          uint32_t thread)
{
    const ft_trace *trace = machine->trace;
    uint32_t object = trace->object[request];
    if (trace->kind[request] == FT_EVENT_JOIN) return object == thread;
    if (trace->kind[request] == FT_EVENT_ONCE_PASS)
        return once_begun(machine, state, object) && !once_done(machine, state, object) &&
               trace->thread[machine->once_begin[object] - 1u] == thread;
    if (state->owner[object] == thread + 1) return true;
    return trace->kind[request] == FT_EVENT_ACQUIRE && (state->readers[object] >> thread & 1u);
}

/* ---- effects ---- */

static void acquire(const ft_trace *trace, uint32_t event, ft_state *state)
{
    uint32_t lock = trace->object[event], thread = trace->thread[event];
    if (trace->kind[event] == FT_EVENT_ACQUIRE_SHARED)
        state->readers[lock] |= (uint8_t)(1u << thread);
    else
        state->owner[lock] = (uint8_t)(thread + 1);
}

static void release(const ft_trace *trace, uint32_t event, ft_state *state)
{
    uint32_t lock = trace->object[event], thread = trace->thread[event];
    if (state->owner[lock] == thread + 1) state->owner[lock] = 0;
    state->readers[lock] &= (uint8_t) ~(1u << thread);
}

/* Under `observed` a waiter is woken by what woke it in the run alone; under `spurious` it does not
 * matter. */
static bool may_take(const ft_machine *machine, const ft_state *state, uint32_t signal,
                     uint32_t thread)
{
    const ft_trace *trace = machine->trace;
    if (state->waits[thread] != trace->object[signal] + 1 || state->woken[thread]) return false;
    if (machine->wakeups != FT_WAKEUPS_OBSERVED) return machine->wakeups == FT_WAKEUPS_ANY;
    for (uint32_t i = state->pos[thread]; i < machine->length[thread]; i++) {
        uint32_t event = machine->events[thread][i];
        if (trace->kind[event] == FT_EVENT_COND_WAKE && ft_machine_on_path(machine, state, event))
            return machine->waker[event] == signal + 1;
    }
    return false;
}

static void broadcast(const ft_machine *machine, uint32_t event, ft_state *state)
{
    for (uint32_t t = 0; t < machine->n_threads; t++)
        if (may_take(machine, state, event, t)) state->woken[t] = 1;
}

/* One successor for each waiter that it may wake. */
static uint32_t signal(const ft_machine *machine, uint32_t event,
                       ft_state next[FT_MACHINE_BRANCHES])
{
    ft_state before = next[0];
    uint32_t count = 0;
    for (uint32_t t = 0; t < machine->n_threads; t++) {
        if (!may_take(machine, &before, event, t)) continue;
        next[count] = before;
        next[count++].woken[t] = 1;
    }
    return count ? count : 1;
}

static void change_block(const ft_machine *machine, uint32_t event, ft_state *state)
{
    const ft_trace *trace = machine->trace;
    const ft_block_cells *cells = &trace->block_cells[trace->object[event]];
    state->block[trace->object[event]] = (uint8_t)(event + 1);
    if (trace->kind[event] != FT_EVENT_ALLOC) return;
    for (uint32_t i = 0; i < cells->count; i++) state->written[cells->variables[i]] = 0;
}

uint32_t ft_sync_step(const ft_machine *machine, uint32_t event, ft_state next[FT_MACHINE_BRANCHES])
{
    const ft_trace *trace = machine->trace;
    uint32_t object = trace->object[event], thread = trace->thread[event];
    ft_event_kind kind = (ft_event_kind)trace->kind[event];
    if (no_effect(trace, event)) return 1;
    if (kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED)
        acquire(trace, event, &next[0]);
    if (kind == FT_EVENT_RELEASE) release(trace, event, &next[0]);
    if (kind == FT_EVENT_WAIT) next[0].count[object]--;
    if (kind == FT_EVENT_POST) next[0].count[object]++;
    if (kind == FT_EVENT_COND_WAIT) next[0].waits[thread] = (uint8_t)(object + 1);
    if (kind == FT_EVENT_COND_WAIT || kind == FT_EVENT_COND_WAKE) next[0].woken[thread] = 0;
    if (kind == FT_EVENT_COND_WAKE) next[0].waits[thread] = 0;
    if (kind == FT_EVENT_BROADCAST) broadcast(machine, event, &next[0]);
    if (kind == FT_EVENT_ALLOC || kind == FT_EVENT_FREE) change_block(machine, event, &next[0]);
    return kind == FT_EVENT_SIGNAL ? signal(machine, event, next) : 1;
}
