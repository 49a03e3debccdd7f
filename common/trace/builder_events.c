#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/builder_internal.h"

_Static_assert(FT_EVENT_READ == 0 && FT_EVENT_WRITE == 1, "writes are counted by their kinds");

enum { FEWEST = 4096 };

/* ---- room ----------------------------------------------------------------------------------- */

static void size_events(ft_builder *b, size_t cap)
{
    ft_trace *trace = b->trace;
    trace->kind = ft_realloc(trace->kind, cap, sizeof *trace->kind);
    trace->flags = ft_realloc(trace->flags, cap, sizeof *trace->flags);
    trace->thread = ft_realloc(trace->thread, cap, sizeof *trace->thread);
    trace->object = ft_realloc(trace->object, cap, sizeof *trace->object);
    trace->loc = ft_realloc(trace->loc, cap, sizeof *trace->loc);
    trace->data = ft_realloc(trace->data, cap, sizeof *trace->data);
    if (trace->hook) trace->hook = ft_realloc(trace->hook, cap, sizeof *trace->hook);
    if (trace->context) trace->context = ft_realloc(trace->context, cap, sizeof *trace->context);
    b->event_cap = cap;
}

static void make_room(ft_builder *b)
{
    if (b->flush) {
        ft_builder_flush(b);
        return;
    }
    /* Half as much again: the peak stays low where doubling would be felt. */
    size_events(b, b->event_cap < FEWEST ? FEWEST : b->event_cap + b->event_cap / 2);
}

void ft_builder_shrink(ft_builder *b)
{
    assert(b->trace->n_events <= b->event_cap);
    size_events(b, b->trace->n_events);
}

/* The array is there once an event has such a number; those before it have 0. */
static void set_number(const ft_builder *b, uint32_t **numbers, uint32_t e, uint32_t number)
{
    if (!*numbers && !number) return;
    assert(e < b->event_cap);
    if (!*numbers) *numbers = ft_calloc(b->event_cap, sizeof **numbers);
    (*numbers)[e] = number;
}

void ft_builder_set_hook(ft_builder *b, uint32_t e, uint32_t hook)
{
    set_number(b, &b->trace->hook, e, hook);
}

void ft_builder_set_context(ft_builder *b, uint32_t e, uint32_t context)
{
    set_number(b, &b->trace->context, e, context);
}

/* ---- one event ------------------------------------------------------------------------------ */

static uint32_t object_count(const ft_trace *trace, ft_event_kind kind)
{
    switch (ft_event_kind_object(kind)) {
    case FT_OBJECT_VARIABLE:
        return trace->shared.len;
    case FT_OBJECT_LOCK:
        return trace->locks.len;
    case FT_OBJECT_SEMAPHORE:
        return trace->semaphores.len;
    case FT_OBJECT_THREAD:
        return trace->threads.len;
    case FT_OBJECT_EDGE:
        return trace->edges.len;
    case FT_OBJECT_CONDITION:
        return trace->conditions.len;
    case FT_OBJECT_BARRIER:
        return trace->barriers.len;
    case FT_OBJECT_ONCE:
        return trace->onces.len;
    case FT_OBJECT_BLOCK:
        return trace->blocks.len;
    case FT_OBJECT_NONE:
    case FT_OBJECT_CLASSES:
        break;
    }
    return 1;
}

/* How many events more there may be. */
static uint32_t left(ft_builder *b)
{
    assert(b->flushed <= b->max_events && b->trace->n_events <= b->max_events - b->flushed);
    uint32_t n = b->max_events - b->flushed - b->trace->n_events;
    if (!n) ft_error_set(&b->failure, FT_LIMIT, "the trace has more than %u events", b->max_events);
    return b->failure.code == FT_OK ? n : 0;
}

uint32_t ft_builder_raw_event(ft_builder *b, ft_event_kind kind, uint32_t thread, uint32_t object,
                              uint32_t loc, uint32_t data, uint8_t flags)
{
    ft_trace *trace = b->trace;
    if (!left(b)) return 0;
    FT_REQUIRE(kind < FT_EVENT_KINDS && thread < trace->threads.len && loc < trace->n_locations);
    FT_REQUIRE(object < object_count(trace, kind));
    if (trace->n_events == b->event_cap) make_room(b);
    assert(trace->n_events < b->event_cap);
    uint32_t e = trace->n_events++;
    trace->kind[e] = (uint8_t)kind;
    bool action = kind == FT_EVENT_ASSIGN || kind == FT_EVENT_ASSUME;
    trace->flags[e] = flags | ft_builder_aside_flag(b, kind, action ? data : object, loc);
    trace->thread[e] = (uint16_t)thread;
    trace->object[e] = object;
    trace->loc[e] = loc;
    trace->data[e] = data;
    set_number(b, &trace->hook, e, b->hook);
    set_number(b, &trace->context, e, b->context);
    b->counts[kind]++;
    b->any_blocked |= ft_trace_is_blocked(trace, e);
    return b->flushed + e;
}

uint32_t ft_builder_event(ft_builder *b, ft_event_kind kind, uint32_t thread, uint32_t object,
                          uint32_t loc, uint32_t value, uint8_t flags)
{
    bool access = kind == FT_EVENT_READ || kind == FT_EVENT_WRITE;
    assert(kind != FT_EVENT_ASSIGN && kind != FT_EVENT_ASSUME && kind != FT_EVENT_ASSERT);
    assert(kind != FT_EVENT_IF && kind != FT_EVENT_RMW);
    assert(!access || value < b->trace->n_values);
    if (ft_event_kind_object(kind) == FT_OBJECT_NONE) object = 0;
    return ft_builder_raw_event(b, kind, thread, object, loc, access ? value : 0, flags);
}

/* ---- many accesses --------------------------------------------------------------------------- */

ft_builder_rows ft_builder_room(ft_builder *b)
{
    ft_trace *trace = b->trace;
    uint32_t n = left(b);
    if (!n) return (ft_builder_rows){.n = 0};
    if (trace->n_events == b->event_cap) make_room(b);
    if (!trace->hook) trace->hook = ft_calloc(b->event_cap, sizeof *trace->hook);
    if (!trace->context) trace->context = ft_calloc(b->event_cap, sizeof *trace->context);
    uint32_t at = trace->n_events, room = (uint32_t)b->event_cap - at;
    return (ft_builder_rows){.n = room < n ? room : n,
                             .kind = trace->kind + at,
                             .flags = trace->flags + at,
                             .thread = trace->thread + at,
                             .object = trace->object + at,
                             .loc = trace->loc + at,
                             .data = trace->data + at,
                             .hook = trace->hook + at,
                             .context = trace->context + at};
}

/* Loops that compilers make vectors of. */
static bool are_below(const uint32_t *numbers, uint32_t n, uint32_t limit)
{
    uint32_t seen = limit; /* the top bit of a number, or of what is left up to the limit */
    for (uint32_t i = 0; i < n; i++) seen |= numbers[i] | (limit - 1 - numbers[i]);
    return !(seen >> 31);
}

static uint32_t latest_thread(const uint16_t *threads, uint32_t n)
{
    uint16_t most = 0;
    for (uint32_t i = 0; i < n; i++) most = threads[i] > most ? threads[i] : most;
    return most;
}

static uint32_t count_writes(const uint8_t *kinds, uint32_t n)
{
    uint32_t writes = 0;
    uint8_t bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        writes += kinds[i];
        bits |= kinds[i];
    }
    assert(bits <= FT_EVENT_WRITE);
    return writes;
}

void ft_builder_append(ft_builder *b, uint32_t n)
{
    ft_trace *trace = b->trace;
    uint32_t at = trace->n_events, writes = count_writes(trace->kind + at, n);
    if (!n) return;
    assert(n <= b->event_cap - at);
    assert(latest_thread(trace->thread + at, n) < trace->threads.len);
    assert(are_below(trace->object + at, n, trace->shared.len));
    assert(are_below(trace->loc + at, n, trace->n_locations));
    assert(are_below(trace->data + at, n, trace->n_values));
    b->counts[FT_EVENT_WRITE] += writes;
    b->counts[FT_EVENT_READ] += n - writes;
    trace->n_events += n;
}

/* ---- what is taken away while the trace grows -------------------------------------------------
 */

ft_status ft_builder_check_blocked(ft_builder *b, ft_error *err)
{
    const ft_trace *trace = b->trace;
    if (!b->any_blocked) return FT_OK;
    if (!b->stopped) b->stopped = ft_calloc(UINT16_MAX + 1, sizeof *b->stopped);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (b->stopped[trace->thread[e]])
            return ft_error_set(err, FT_INPUT,
                                "event %u: %s was blocked for ever at an event before it",
                                b->flushed + e + 1, ft_trace_thread_name(trace, trace->thread[e]));
        b->stopped[trace->thread[e]] = ft_trace_is_blocked(trace, e);
    }
    return FT_OK;
}

void ft_builder_flush_to(ft_builder *b, void (*flush)(void *context), void *context, uint32_t block)
{
    FT_REQUIRE(flush && block && !b->trace->n_events);
    b->flush = flush;
    b->flush_context = context;
    size_events(b, block);
}

void ft_builder_flush(ft_builder *b)
{
    FT_REQUIRE(b->flush);
    if (ft_builder_check_blocked(b, &b->failure) == FT_OK) b->flush(b->flush_context);
    assert(b->trace->n_events <= b->event_cap);
    b->flushed += b->trace->n_events;
    b->flowing = true;
    b->trace->n_events = 0;
}

void ft_builder_need_all(ft_builder *b)
{
    b->needs_all = true;
}

uint32_t ft_builder_count(const ft_builder *b)
{
    return b->flushed + b->trace->n_events;
}
