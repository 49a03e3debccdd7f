/* Synchronisation: which events are blocked, and the effects of those that are executed. */
#include <stdlib.h>

#include "verdict/machine_internal.h"

enum { NO_EFFECT = FT_FLAG_NESTED | FT_FLAG_STRANGER };

/* ---- set up ---------------------------------------------------------------------------------- */

static void find_initialisers(ft_machine *m)
{
    const ft_trace *trace = m->trace;
    m->once_begin = ft_calloc(trace->onces.len, sizeof *m->once_begin);
    m->once_end = ft_calloc(trace->onces.len, sizeof *m->once_end);
    for (uint32_t o = 0; o < trace->onces.len; o++) m->once_begin[o] = m->once_end[o] = FT_NO_EVENT;
    for (uint32_t e = trace->n_events; trace->onces.len && e-- > 0;) {
        if (trace->kind[e] == FT_EVENT_ONCE_BEGIN) m->once_begin[trace->object[e]] = e;
        if (trace->kind[e] == FT_EVENT_ONCE_END) m->once_end[trace->object[e]] = e;
    }
}

static void sort_arrivals(ft_machine *m)
{
    const ft_trace *trace = m->trace;
    uint32_t n = trace->barriers.len, total = 0, *first = ft_calloc((size_t)n + 2, sizeof *first);
    for (uint32_t e = 0; n && e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE) first[trace->object[e] + 2]++, total++;
    for (uint32_t b = 0; b < n; b++) first[b + 2] += first[b + 1];
    m->arrivals = ft_calloc(total, sizeof *m->arrivals);
    for (uint32_t e = 0; n && e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE)
            m->arrivals[first[trace->object[e] + 1]++] = e;
    m->arrival_first = first;
}

/* A round is as many arrivals, in observed order, as the barrier counts; a thread leaves the round
 * of its last arrival. */
static void number_rounds(ft_machine *m)
{
    const ft_trace *trace = m->trace;
    ft_map last = {0}; /* thread and barrier -> round */
    uint32_t *seen = ft_calloc(trace->barriers.len, sizeof *seen);
    bool inserted;
    for (uint32_t e = 0; trace->barriers.len && e < trace->n_events; e++) {
        if (ft_event_kind_object(trace->kind[e]) != FT_OBJECT_BARRIER) continue;
        uint32_t barrier = trace->object[e];
        uint64_t key = (uint64_t)trace->thread[e] << 32 | barrier, round = UINT32_MAX;
        if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE) {
            round = seen[barrier]++ / trace->barrier_count[barrier];
            *ft_map_slot(&last, key, round, &inserted) = round;
        } else {
            ft_map_get(&last, key, &round);
        }
        ft_map_slot(&m->round, e, round, &inserted);
    }
    ft_map_release(&last);
    free(seen);
}

void ft_machine_sync_open(ft_machine *m)
{
    m->conditions = ft_calloc(m->trace->conditions.len, sizeof *m->conditions);
    m->blocks = ft_calloc(m->trace->blocks.len, sizeof *m->blocks);
    find_initialisers(m);
    sort_arrivals(m);
    number_rounds(m);
}

void ft_machine_sync_close(ft_machine *m)
{
    for (uint32_t c = 0; c < m->trace->conditions.len; c++)
        ft_vec_release(&m->conditions[c].notices);
    free(m->conditions);
    free(m->blocks);
    free(m->once_begin);
    free(m->once_end);
    free(m->arrival_first);
    free(m->arrivals);
    ft_map_release(&m->reading);
    ft_map_release(&m->waiting);
    ft_map_release(&m->round);
}

void ft_machine_set_wakeups(ft_machine *m, ft_wakeups wakeups)
{
    m->wakeups = wakeups;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Readers of all locks, as the locks count them and as the table has them. */
static bool readers_are_sound(const ft_machine *m)
{
    uint64_t counted = 0, known = 0;
    for (uint32_t l = 0; l < m->trace->locks.len; l++) {
        lock_cell cell = ft_machine_lock(m, l);
        if (cell.depth > 0 && (cell.owner >= m->trace->threads.len || cell.readers > 0))
            return false;
        counted += cell.readers;
    }
    for (size_t i = 0; i < m->reading.cap; i++)
        known += m->reading.full[i] && m->reading.values[i] == m->epoch;
    return counted == known;
}

bool ft_machine_sync_is_sound(const ft_machine *m)
{
    for (uint32_t c = 0; c < m->trace->conditions.len; c++) {
        const condition_cell *cell = &m->conditions[c];
        for (size_t i = 0; cell->epoch == m->epoch && i < cell->notices.len; i++)
            if (cell->notices.data[i].time > m->time) return false;
    }
    for (uint32_t b = 0; b < m->trace->blocks.len; b++) {
        uint32_t last = ft_machine_block(m, b);
        if (last != FT_NO_EVENT && m->trace->object[last] != b) return false;
    }
    return readers_are_sound(m);
}

static uint64_t key_of(const ft_machine *m, uint32_t e)
{
    return (uint64_t)m->trace->thread[e] << 32 | m->trace->object[e];
}

static bool thread_reads(const ft_machine *m, uint32_t thread, uint32_t lock)
{
    uint64_t epoch;
    return ft_map_get(&m->reading, (uint64_t)thread << 32 | lock, &epoch) && epoch == m->epoch;
}

static bool reads_lock(const ft_machine *m, uint32_t e)
{
    return thread_reads(m, m->trace->thread[e], m->trace->object[e]);
}

bool ft_machine_holds_lock(const ft_machine *m, uint32_t thread, uint32_t lock)
{
    lock_cell state = ft_machine_lock(m, lock);
    return (state.depth > 0 && state.owner == thread) || thread_reads(m, thread, lock);
}

static ft_status held(const ft_machine *m, uint32_t e, lock_cell state, ft_error *why)
{
    if (state.depth > 0)
        return ft_error_set(why, FT_INPUT, "lock %s is held by %s",
                            ft_trace_object_name(m->trace, e),
                            ft_trace_thread_name(m->trace, state.owner));
    return ft_error_set(why, FT_INPUT, "lock %s is held for reading%s",
                        ft_trace_object_name(m->trace, e),
                        reads_lock(m, e) ? " by its own thread" : "");
}

static ft_status acquire_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    lock_cell state = ft_machine_lock(m, m->trace->object[e]);
    bool own = state.depth > 0 && state.owner == m->trace->thread[e];
    bool again = own && m->trace->lock_kind[m->trace->object[e]] == FT_LOCK_RECURSIVE;
    bool shared = m->trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
    if (again || (state.depth == 0 && (shared || state.readers == 0))) return FT_OK;
    return held(m, e, state, why);
}

static ft_status release_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    lock_cell state = ft_machine_lock(m, m->trace->object[e]);
    if (state.depth > 0 && state.owner == m->trace->thread[e]) return FT_OK;
    if (reads_lock(m, e)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "its thread does not hold lock %s",
                        ft_trace_object_name(m->trace, e));
}

/* An attempt fails only while something stands in its way. */
static ft_status try_failed_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    const ft_trace *trace = m->trace;
    lock_cell state = ft_machine_lock(m, trace->object[e]);
    bool own = state.depth > 0 && state.owner == trace->thread[e];
    bool again = own && trace->lock_kind[trace->object[e]] == FT_LOCK_RECURSIVE;
    bool shared = trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED;
    if ((state.depth > 0 && !again) || (!shared && state.readers > 0)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "lock %s is free: the attempt would not have failed",
                        ft_trace_object_name(trace, e));
}

static void acquire(ft_machine *m, uint32_t e)
{
    uint32_t lock = m->trace->object[e], thread = m->trace->thread[e];
    lock_cell state = ft_machine_lock(m, lock);
    bool inserted;
    if (m->trace->kind[e] == FT_EVENT_ACQUIRE_SHARED) {
        *ft_map_slot(&m->reading, key_of(m, e), 0, &inserted) = m->epoch;
        state.readers++;
    } else {
        bool again = state.depth > 0 && state.owner == thread &&
                     m->trace->lock_kind[lock] == FT_LOCK_RECURSIVE;
        state.owner = thread;
        state.depth = again ? state.depth + 1 : 1;
    }
    m->locks[lock] = state;
}

static void release(ft_machine *m, uint32_t e)
{
    uint32_t lock = m->trace->object[e];
    lock_cell state = ft_machine_lock(m, lock);
    bool inserted;
    if (state.depth > 0 && state.owner == m->trace->thread[e]) {
        state.depth--;
    } else if (reads_lock(m, e)) {
        assert(state.readers > 0);
        *ft_map_slot(&m->reading, key_of(m, e), 0, &inserted) = 0;
        state.readers--;
    }
    m->locks[lock] = state;
}

/* ---- condition variables --------------------------------------------------------------------- */

static void wait_on(ft_machine *m, uint32_t e)
{
    ft_map_put(&m->waiting, key_of(m, e), (uint64_t)m->epoch << 32 | m->time);
}

/* When the thread of e began the wait that it is in, 0: it is in none. */
static uint32_t waits_since(const ft_machine *m, uint32_t e)
{
    uint64_t since;
    bool waits = ft_map_get(&m->waiting, key_of(m, e), &since) && since >> 32 == m->epoch;
    return waits ? (uint32_t)since : 0;
}

static void notify(ft_machine *m, uint32_t e)
{
    condition_cell *cell = &m->conditions[m->trace->object[e]];
    if (cell->epoch != m->epoch) cell->notices.len = 0;
    cell->epoch = m->epoch;
    assert(cell->notices.len == 0 || cell->notices.data[cell->notices.len - 1].time < m->time);
    ft_notice notice = {e, m->time, m->trace->kind[e] == FT_EVENT_BROADCAST, false};
    ft_vec_push(&cell->notices, notice);
}

/* The signal that wakes the waiter of e. An order of events is executable if every woken waiter can
 * be given a broadcast, or a signal of its own, since its cond-wait: then it works to wake, at each
 * signal, the waiter whose cond-wake comes first. Cond-wakes come in the order of the schedule; for
 * the first of them, the earliest signal that fits is the one that fits the fewest others (Glover,
 * Maximum matching in a convex bipartite graph). */
static ft_notice *notice_for(const ft_machine *m, uint32_t e, uint32_t partner)
{
    condition_cell *cell = &m->conditions[m->trace->object[e]];
    uint32_t since = waits_since(m, e);
    if (cell->epoch != m->epoch) return NULL;
    ft_notice *found = NULL;
    for (size_t i = cell->notices.len; i-- > 0 && cell->notices.data[i].time > since;) {
        ft_notice *notice = &cell->notices.data[i];
        if (m->wakeups == FT_WAKEUPS_OBSERVED && notice->event != partner) continue;
        if (notice->all) return notice;
        if (!notice->used) found = notice;
    }
    return found;
}

static ft_status wake_ready(const ft_machine *m, uint32_t e, uint32_t partner, ft_error *why)
{
    bool free = m->wakeups == FT_WAKEUPS_SPURIOUS || (m->trace->flags[e] & FT_FLAG_FAILED);
    if (!waits_since(m, e))
        return ft_error_set(why, FT_INPUT, "its thread does not wait on %s",
                            ft_trace_object_name(m->trace, e));
    if (free || notice_for(m, e, partner)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "nothing woke its thread since its cond-wait on %s",
                        ft_trace_object_name(m->trace, e));
}

static void wake(ft_machine *m, uint32_t e)
{
    bool free = m->wakeups == FT_WAKEUPS_SPURIOUS || (m->trace->flags[e] & FT_FLAG_FAILED);
    /* With fixed pairs a signal serves its own waiter alone, so none need be marked. */
    ft_notice *notice =
        free || m->wakeups == FT_WAKEUPS_OBSERVED ? NULL : notice_for(m, e, FT_NO_EVENT);
    assert(!notice || notice->all || !notice->used); /* a signal wakes one waiter */
    if (notice) notice->used = true;
    ft_map_put(&m->waiting, key_of(m, e), 0);
}

/* ---- barriers, once, joins ------------------------------------------------------------------- */

static uint32_t round_of(const ft_machine *m, uint32_t e)
{
    uint64_t round = UINT32_MAX;
    ft_map_get(&m->round, e, &round);
    return (uint32_t)round;
}

/* Did all arrivals of the round happen? */
static bool round_complete(const ft_machine *m, uint32_t barrier, uint32_t round)
{
    uint64_t count = m->trace->barrier_count[barrier];
    assert(count > 0 && m->arrival_first[barrier] <= m->arrival_first[barrier + 1]);
    uint64_t first = m->arrival_first[barrier] + round * count;
    if (round == UINT32_MAX || first + count > m->arrival_first[barrier + 1]) return false;
    for (uint64_t i = first; i < first + count; i++)
        if (!ft_machine_executed(m, m->arrivals[i])) return false;
    return true;
}

static ft_status barrier_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    uint32_t round = round_of(m, e), barrier = m->trace->object[e];
    bool arrives = m->trace->kind[e] == FT_EVENT_BARRIER_ARRIVE;
    if (arrives && round == 0) return FT_OK;
    if (round_complete(m, barrier, arrives ? round - 1 : round)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "%s of barrier %s has arrivals still to come",
                        arrives ? "the round before" : "its round",
                        ft_trace_object_name(m->trace, e));
}

static ft_status once_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    uint32_t end = m->once_end[m->trace->object[e]];
    if (end != FT_NO_EVENT && ft_machine_executed(m, end)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "the initialiser of %s has not ended",
                        ft_trace_object_name(m->trace, e));
}

static ft_status join_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    uint32_t child = m->trace->object[e];
    if (ft_machine_ended(m, child)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "thread %s has not ended: event %u is still to come",
                        ft_trace_thread_name(m->trace, child), m->final[child] + 1);
}

bool ft_machine_once_begun(const ft_machine *m, uint32_t once)
{
    uint32_t begin = m->once_begin[once];
    return begin != FT_NO_EVENT && ft_machine_executed(m, begin);
}

static bool initialises(const ft_machine *m, uint32_t thread, uint32_t once)
{
    uint32_t begin = m->once_begin[once], end = m->once_end[once];
    return ft_machine_once_begun(m, once) && m->trace->thread[begin] == thread &&
           (end == FT_NO_EVENT || !ft_machine_executed(m, end));
}

bool ft_machine_keeps_waiting(const ft_machine *m, uint32_t thread, uint32_t e)
{
    uint32_t object = m->trace->object[e];
    if (m->trace->kind[e] == FT_EVENT_ONCE_PASS) return initialises(m, thread, object);
    if (m->trace->kind[e] == FT_EVENT_JOIN) return object == thread;
    lock_cell state = ft_machine_lock(m, object);
    if (state.depth > 0 && state.owner == thread) return true;
    return m->trace->kind[e] == FT_EVENT_ACQUIRE && thread_reads(m, thread, object);
}

/* ---- memory ---------------------------------------------------------------------------------- */

uint32_t ft_machine_block(const ft_machine *m, uint32_t block)
{
    block_cell cell = m->blocks[block];
    return cell.epoch == m->epoch ? cell.last : FT_NO_EVENT;
}

static bool contains(const ft_block_cells *cells, uint32_t variable)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (cells->variables[i] == variable) return true;
    return false;
}

bool ft_machine_written(const ft_machine *m, uint32_t variable)
{
    const ft_trace *trace = m->trace;
    value_cell cell = m->shared[variable];
    if (cell.epoch != m->epoch || cell.held.source == FT_NO_EVENT) return false;
    for (uint32_t b = 0; b < trace->blocks.len; b++) {
        if (ft_machine_block(m, b) != FT_NO_EVENT && m->blocks[b].allocated > cell.time &&
            contains(&trace->block_cells[b], variable))
            return false;
    }
    return true;
}

/* ---- the tables ------------------------------------------------------------------------------ */

typedef ft_status ready(const ft_machine *m, uint32_t e, ft_error *why);

static ft_status wait_ready(const ft_machine *m, uint32_t e, ft_error *why)
{
    if (ft_machine_semaphore(m, m->trace->object[e]).count > 0) return FT_OK;
    return ft_error_set(why, FT_INPUT, "semaphore %s is at 0", ft_trace_object_name(m->trace, e));
}

static ready *const READY[FT_EVENT_KINDS] = {
    [FT_EVENT_ACQUIRE] = acquire_ready,
    [FT_EVENT_ACQUIRE_SHARED] = acquire_ready,
    [FT_EVENT_RELEASE] = release_ready,
    [FT_EVENT_TRY_FAILED] = try_failed_ready,
    [FT_EVENT_JOIN] = join_ready,
    [FT_EVENT_TRY_FAILED_SHARED] = try_failed_ready,
    [FT_EVENT_WAIT] = wait_ready,
    [FT_EVENT_BARRIER_ARRIVE] = barrier_ready,
    [FT_EVENT_BARRIER_LEAVE] = barrier_ready,
    [FT_EVENT_ONCE_PASS] = once_ready,
};

ft_status ft_machine_ready(const ft_machine *m, uint32_t e, uint32_t partner, ft_error *why)
{
    const ft_trace *trace = m->trace;
    FT_REQUIRE(e < trace->n_events && (partner == FT_NO_EVENT || partner < trace->n_events));
    if (trace->flags[e] & NO_EFFECT) return FT_OK;
    if (trace->kind[e] == FT_EVENT_COND_WAKE) return wake_ready(m, e, partner, why);
    if (trace->kind[e] == FT_EVENT_EDGE_IN && partner != FT_NO_EVENT &&
        !ft_machine_executed(m, partner))
        return ft_error_set(why, FT_INPUT, "the edge-out %s, event %u, is still to come",
                            ft_trace_object_name(trace, e), partner + 1);
    return READY[trace->kind[e]] ? READY[trace->kind[e]](m, e, why) : FT_OK;
}

static void fork_thread(ft_machine *m, uint32_t e)
{
    uint32_t child = m->trace->object[e];
    thread_cell state = ft_machine_thread(m, child);
    state.forks++;
    assert(m->flowing || state.forks <= m->forks[child]);
    m->threads[child] = state;
}

static void change_semaphore(ft_machine *m, uint32_t e)
{
    uint32_t semaphore = m->trace->object[e];
    semaphore_cell state = ft_machine_semaphore(m, semaphore);
    assert(state.count < UINT64_MAX);
    if (m->trace->kind[e] == FT_EVENT_POST) state.count++;
    if (m->trace->kind[e] == FT_EVENT_WAIT && state.count > 0) state.count--;
    m->semaphores[semaphore] = state;
}

static void send_edge(ft_machine *m, uint32_t e)
{
    m->edges[m->trace->object[e]] = (edge_cell){m->epoch, e};
}

static void change_block(ft_machine *m, uint32_t e)
{
    uint32_t block = m->trace->object[e];
    uint32_t allocated = m->blocks[block].epoch == m->epoch ? m->blocks[block].allocated : 0;
    if (m->trace->kind[e] == FT_EVENT_ALLOC) allocated = m->time;
    m->blocks[block] = (block_cell){m->epoch, e, allocated};
}

static void (*const EFFECT[FT_EVENT_KINDS])(ft_machine *m, uint32_t e) = {
    [FT_EVENT_ACQUIRE] = acquire,       [FT_EVENT_ACQUIRE_SHARED] = acquire,
    [FT_EVENT_RELEASE] = release,       [FT_EVENT_FORK] = fork_thread,
    [FT_EVENT_WAIT] = change_semaphore, [FT_EVENT_POST] = change_semaphore,
    [FT_EVENT_EDGE_OUT] = send_edge,    [FT_EVENT_COND_WAIT] = wait_on,
    [FT_EVENT_COND_WAKE] = wake,        [FT_EVENT_SIGNAL] = notify,
    [FT_EVENT_BROADCAST] = notify,      [FT_EVENT_ALLOC] = change_block,
    [FT_EVENT_FREE] = change_block,
};

void ft_machine_synchronise(ft_machine *m, uint32_t e)
{
    if (m->trace->flags[e] & NO_EFFECT) return;
    if (EFFECT[m->trace->kind[e]]) EFFECT[m->trace->kind[e]](m, e);
}
