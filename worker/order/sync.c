/* Conditions, barriers and once objects: hard order and the observed wake-ups. */
#include <stdlib.h>
#include <string.h>

#include "order/order.h"

/* ---- hard sources -------------------------------------------------------------------------- */

static const bool HAS_SOURCES[FT_EVENT_KINDS] = {
    [FT_EVENT_JOIN] = true,          [FT_EVENT_EDGE_IN] = true,   [FT_EVENT_BARRIER_ARRIVE] = true,
    [FT_EVENT_BARRIER_LEAVE] = true, [FT_EVENT_ONCE_PASS] = true,
};

uint32_t ft_order_hard_sources(const ft_order *order, uint32_t e, const uint32_t **sources)
{
    FT_CHECK(e < order->trace->n_events); /* asked for every event: too often for release builds */
    uint64_t slice;
    *sources = NULL;
    if (order->position[e] != 0 && !HAS_SOURCES[order->trace->kind[e]]) return 0;
    if (!ft_map_get(&order->sync.source_slice, e, &slice)) return 0;
    assert((slice >> 32) + (uint32_t)slice <= order->sync.sources.len);
    *sources = order->sync.sources.data + (slice >> 32);
    return (uint32_t)slice;
}

/* Arrivals by barrier, in observed order: a barrier's round k is `count` of them in a row. */
typedef struct barrier_pass {
    uint32_t *first;  /* [barriers + 1] slices of sources */
    uint32_t *placed; /* [barriers] arrivals seen so far */
    ft_map round;     /* thread << 32 | barrier -> round of its latest arrival */
} barrier_pass;

typedef struct slice {
    uint32_t first, count;
} slice;

/* The arrivals of a round; count 0: it is incomplete. */
static slice round_of(const ft_order *order, const barrier_pass *pass, uint32_t barrier,
                      uint64_t round)
{
    uint32_t size = order->trace->barrier_count[barrier];
    uint64_t first = pass->first[barrier] + round * size;
    if (first + size > pass->first[barrier + 1]) return (slice){0};
    return (slice){(uint32_t)first, size};
}

static void list_arrivals(ft_order *order, barrier_pass *pass)
{
    const ft_trace *trace = order->trace;
    uint32_t n = trace->barriers.len;
    pass->first = ft_calloc((size_t)n + 2, sizeof *pass->first);
    pass->placed = ft_calloc((size_t)n + 1, sizeof *pass->placed);
    for (uint32_t e = 0; n && e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE) pass->first[trace->object[e] + 1]++;
    for (uint32_t b = 0; b < n; b++) pass->first[b + 1] += pass->first[b];
    ft_vec_reserve(&order->sync.sources, (size_t)pass->first[n] + 1);
    order->sync.sources.len = pass->first[n];
    for (uint32_t e = 0; n && e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_BARRIER_ARRIVE) continue;
        uint32_t b = trace->object[e];
        assert(pass->first[b] + pass->placed[b] < pass->first[b + 1]);
        order->sync.sources.data[pass->first[b] + pass->placed[b]++] = e;
    }
    if (n) memset(pass->placed, 0, n * sizeof *pass->placed);
}

static slice barrier_sources(ft_order *order, barrier_pass *pass, uint32_t e)
{
    const ft_trace *trace = order->trace;
    uint32_t barrier = trace->object[e];
    uint64_t thread = (uint64_t)trace->thread[e] << 32 | barrier, round;
    if (trace->kind[e] == FT_EVENT_BARRIER_ARRIVE) {
        round = pass->placed[barrier]++ / trace->barrier_count[barrier];
        ft_map_put(&pass->round, thread, round);
        return round ? round_of(order, pass, barrier, round - 1) : (slice){0};
    }
    slice arrivals = {0};
    if (ft_map_get(&pass->round, thread, &round)) arrivals = round_of(order, pass, barrier, round);
    if (arrivals.count == 0) ft_map_put(&order->sync.never, e, 1);
    return arrivals;
}

/* The single source of a join, edge-in or once-pass, or FT_NO_EVENT. */
static uint32_t single_source(ft_order *order, uint32_t e)
{
    const ft_trace *trace = order->trace;
    const uint32_t *once_end = order->sync.once_end;
    uint64_t edge;
    bool pass = trace->kind[e] == FT_EVENT_ONCE_PASS;
    if (pass && once_end[trace->object[e]] == FT_NO_EVENT) ft_map_put(&order->sync.never, e, 1);
    if (ft_trace_is_blocked(trace, e)) return FT_NO_EVENT;
    if (trace->kind[e] == FT_EVENT_JOIN) return ft_order_last(order, trace->object[e]);
    if (trace->kind[e] == FT_EVENT_EDGE_IN && ft_map_get(&order->edge_source, e, &edge))
        return (uint32_t)edge;
    return pass ? once_end[trace->object[e]] : FT_NO_EVENT;
}

uint32_t ft_order_awaited(const ft_order *order, uint32_t e)
{
    FT_REQUIRE(e < order->trace->n_events);
    const ft_trace *trace = order->trace;
    if (!ft_trace_is_blocked(trace, e)) return FT_NO_EVENT;
    if (trace->kind[e] == FT_EVENT_JOIN) return ft_order_last(order, trace->object[e]);
    return trace->kind[e] == FT_EVENT_ONCE_PASS ? order->sync.once_end[trace->object[e]]
                                                : FT_NO_EVENT;
}

static void note_sources(ft_order *order, uint32_t e, slice own, uint32_t single)
{
    ft_order_sync *sync = &order->sync;
    uint32_t fork = order->position[e] == 0 ? order->fork_of[order->trace->thread[e]] : FT_NO_EVENT;
    if (single == e) single = FT_NO_EVENT;
    if (fork != FT_NO_EVENT || single != FT_NO_EVENT) {
        slice all = {(uint32_t)sync->sources.len, 0};
        if (fork != FT_NO_EVENT) ft_vec_push(&sync->sources, fork);
        for (uint32_t i = 0; i < own.count; i++) {
            uint32_t source = sync->sources.data[own.first + i];
            ft_vec_push(&sync->sources, source);
        }
        if (single != FT_NO_EVENT) ft_vec_push(&sync->sources, single);
        all.count = (uint32_t)sync->sources.len - all.first;
        own = all;
    }
    assert(own.first + own.count <= sync->sources.len);
    if (own.count) ft_map_put(&sync->source_slice, e, (uint64_t)own.first << 32 | own.count);
}

/* The first event of the kind, by once object. */
static uint32_t *find_onces(const ft_trace *trace, ft_event_kind kind)
{
    uint32_t n = trace->onces.len, *found = ft_alloc(((size_t)n + 1) * sizeof *found);
    memset(found, 0xff, ((size_t)n + 1) * sizeof *found);
    for (uint32_t e = 0; n && e < trace->n_events; e++)
        if (trace->kind[e] == kind && found[trace->object[e]] == FT_NO_EVENT)
            found[trace->object[e]] = e;
    return found;
}

bool ft_order_initialises(const ft_order *order, uint32_t e, uint32_t once)
{
    FT_REQUIRE(e < order->trace->n_events && once < order->trace->onces.len);
    const uint16_t *thread = order->trace->thread;
    uint32_t begin = order->sync.once_begin[once], end = order->sync.once_end[once];
    if (begin == FT_NO_EVENT || thread[begin] != thread[e]) return false;
    if (order->position[begin] >= order->position[e]) return false;
    return end == FT_NO_EVENT ||
           (thread[end] == thread[e] && order->position[e] <= order->position[end]);
}

static void find_sources(ft_order *order)
{
    const ft_trace *trace = order->trace;
    barrier_pass pass = {0};
    list_arrivals(order, &pass);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t kind = trace->kind[e];
        if (order->position[e] != 0 && !HAS_SOURCES[kind]) continue;
        slice own = {0};
        if (kind == FT_EVENT_BARRIER_ARRIVE || kind == FT_EVENT_BARRIER_LEAVE)
            own = barrier_sources(order, &pass, e);
        note_sources(order, e, own, single_source(order, e));
    }
    free(pass.first);
    free(pass.placed);
    ft_map_release(&pass.round);
}

/* ---- wake-ups ------------------------------------------------------------------------------ */

typedef struct waiter {
    uint32_t wait, signal; /* signal FT_NO_EVENT: still waiting, or passed over in the run */
    bool wakes;            /* the run wakes it, and its wait does not time out */
} waiter;
typedef FT_VEC(waiter) waiters;

static bool is_passed(const ft_trace *trace, uint32_t e)
{
    return (trace->flags[e] & FT_FLAG_PASSED) != 0;
}

static void signal_waiters(const ft_trace *trace, waiters *queue, uint32_t e, bool all)
{
    for (size_t i = 0; !is_passed(trace, e) && i < queue->len; i++) {
        waiter *w = &queue->data[i];
        if (!w->wakes || w->signal != FT_NO_EVENT || is_passed(trace, w->wait)) continue;
        assert(w->wait < e);
        w->signal = e;
        if (!all) return;
    }
}

static void wake_waiter(ft_order *order, waiters *queue, uint32_t e)
{
    const ft_trace *trace = order->trace;
    ft_wake wake = {e, FT_NO_EVENT, FT_NO_EVENT};
    for (size_t i = queue->len; i-- > 0;) {
        if (trace->thread[queue->data[i].wait] != trace->thread[e]) continue;
        wake.wait = queue->data[i].wait;
        wake.signal = queue->data[i].signal;
        memmove(queue->data + i, queue->data + i + 1, (queue->len - i - 1) * sizeof *queue->data);
        queue->len--;
        break;
    }
    assert(wake.wait == FT_NO_EVENT || wake.wait < e);
    assert(wake.signal == FT_NO_EVENT || (wake.wait < wake.signal && wake.signal < e));
    ft_map_put(&order->sync.wake_of, e, order->sync.wakes.len);
    ft_vec_push(&order->sync.wakes, wake);
}

/* Per event: a cond-wait whose thread was woken in the run. A thread that sleeps to the end of the
 * run, or whose wait times out, was not: the signals in between woke other waiters. */
static bool *find_woken(const ft_trace *trace)
{
    bool *woken = ft_calloc((size_t)trace->n_events + 1, sizeof *woken);
    bool *wakes = ft_calloc((size_t)trace->threads.len + 1, sizeof *wakes);
    for (uint32_t e = trace->n_events; e-- > 0;) {
        uint32_t thread = trace->thread[e];
        bool slept = ft_trace_is_blocked(trace, e) || (trace->flags[e] & FT_FLAG_FAILED);
        if (trace->kind[e] == FT_EVENT_COND_WAKE) wakes[thread] = !slept;
        if (trace->kind[e] != FT_EVENT_COND_WAIT) continue;
        woken[e] = wakes[thread];
        wakes[thread] = false;
    }
    free(wakes);
    return woken;
}

static void pair_wakes(ft_order *order)
{
    const ft_trace *trace = order->trace;
    bool *woken = find_woken(trace);
    waiters *queues = ft_calloc((size_t)trace->conditions.len + 1, sizeof *queues);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t kind = trace->kind[e];
        if (ft_event_kind_object(kind) != FT_OBJECT_CONDITION) continue;
        waiters *queue = &queues[trace->object[e]];
        if (kind == FT_EVENT_COND_WAIT)
            ft_vec_push(queue, (waiter){e, FT_NO_EVENT, woken[e]});
        else if (kind == FT_EVENT_COND_WAKE)
            wake_waiter(order, queue, e);
        else
            signal_waiters(trace, queue, e, kind == FT_EVENT_BROADCAST);
    }
    for (uint32_t c = 0; c < trace->conditions.len; c++) ft_vec_release(&queues[c]);
    free(queues);
    free(woken);
}

static void list_signals(ft_order *order)
{
    const ft_trace *trace = order->trace;
    uint32_t n = trace->conditions.len, *first = ft_calloc((size_t)n + 2, sizeof *first);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_SIGNAL || trace->kind[e] == FT_EVENT_BROADCAST)
            first[trace->object[e] + 2]++;
    for (uint32_t c = 0; c < n; c++) first[c + 2] += first[c + 1];
    order->sync.signals = ft_alloc(((size_t)first[n + 1] + 1) * sizeof *order->sync.signals);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_SIGNAL || trace->kind[e] == FT_EVENT_BROADCAST)
            order->sync.signals[first[trace->object[e] + 1]++] = e;
    assert(first[0] == 0); /* filled up to the end of each slice, where the next one begins */
    order->sync.condition_first = first;
}

const ft_wake *ft_order_wake(const ft_order *order, uint32_t wake)
{
    FT_REQUIRE(wake < order->trace->n_events && order->trace->kind[wake] == FT_EVENT_COND_WAKE);
    uint64_t index = 0;
    bool found = ft_map_get(&order->sync.wake_of, wake, &index);
    assert(found && index < order->sync.wakes.len);
    return &order->sync.wakes.data[index];
}

bool ft_order_never(const ft_order *order, uint32_t e)
{
    FT_REQUIRE(e < order->trace->n_events);
    const ft_trace *trace = order->trace;
    uint8_t kind = trace->kind[e];
    if (kind == FT_EVENT_COND_WAKE) return ft_order_wake(order, e)->wait == FT_NO_EVENT;
    if (kind == FT_EVENT_BARRIER_LEAVE || kind == FT_EVENT_ONCE_PASS)
        return ft_map_get(&order->sync.never, e, NULL);
    return ft_order_opens(trace, e) &&
           ft_order_section_at(order, e, trace->object[e]) != FT_NO_SECTION;
}

/* ---- life ---------------------------------------------------------------------------------- */

void ft_order_sync_init(ft_order *order)
{
    order->sync.once_begin = find_onces(order->trace, FT_EVENT_ONCE_BEGIN);
    order->sync.once_end = find_onces(order->trace, FT_EVENT_ONCE_END);
    find_sources(order);
    if (order->trace->conditions.len == 0) return;
    pair_wakes(order);
    list_signals(order);
}

void ft_order_sync_release(ft_order_sync *sync)
{
    ft_vec_release(&sync->wakes);
    ft_map_release(&sync->wake_of);
    free(sync->condition_first);
    free(sync->signals);
    ft_vec_release(&sync->sources);
    ft_map_release(&sync->source_slice);
    ft_map_release(&sync->never);
    free(sync->once_begin);
    free(sync->once_end);
}
