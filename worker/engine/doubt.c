#include "engine/doubt.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "verdict/checker.h"

/* Each costs an execution of the run. */
enum { MOST_LOCKS = 32 };

struct ft_doubt {
    const ft_trace *trace;
    ft_trace relaxed;   /* its own: kind, flags, object, data, shared_info; else the trace's */
    uint8_t *locks;     /* [locks] */
    uint8_t *variables; /* [shared] 1: its reads are in doubt */
};

/* The overlapping sections of a lock. */
typedef struct overlap {
    ft_doubt *d;
    uint32_t lock;
    uint8_t *opens;    /* [n_events / 8 + 1] a bit: this acquire opens an overlapping section */
    uint32_t *held_by; /* [threads] the acquire of its section, plus 1; 0: none */
    uint32_t *holders; /* threads that hold it */
    uint32_t n_holders;
} overlap;

static bool is_lock_kind(uint8_t kind)
{
    return ft_event_kind_object((ft_event_kind)kind) == FT_OBJECT_LOCK;
}

static bool has_effect(const ft_trace *trace, uint32_t e)
{
    return !(trace->flags[e] & (FT_FLAG_NESTED | FT_FLAG_STRANGER)) &&
           !ft_trace_is_blocked(trace, e);
}

/* ---- overlapping sections -------------------------------------------------------------------- */

static void mark(overlap *o, uint32_t acquire)
{
    o->opens[acquire / 8] |= (uint8_t)(1u << acquire % 8);
}

static bool is_marked(const overlap *o, uint32_t acquire)
{
    return o->opens[acquire / 8] >> acquire % 8 & 1;
}

static void open_section(overlap *o, uint32_t e)
{
    const ft_trace *trace = o->d->trace;
    bool shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
    for (uint32_t i = 0; i < o->n_holders; i++) {
        uint32_t other = o->held_by[o->holders[i]] - 1;
        if (shared && trace->kind[other] == FT_EVENT_ACQUIRE_SHARED) continue;
        mark(o, other);
        mark(o, e);
    }
    uint16_t thread = trace->thread[e];
    if (!o->held_by[thread]) o->holders[o->n_holders++] = thread;
    o->held_by[thread] = e + 1;
}

static void close_section(overlap *o, uint32_t e)
{
    uint16_t thread = o->d->trace->thread[e];
    if (!o->held_by[thread]) return;
    o->held_by[thread] = 0;
    uint32_t i = 0;
    while (o->holders[i] != thread) i++;
    o->holders[i] = o->holders[--o->n_holders];
}

/* False: the lock is given up in condition waits, which the relaxed trace cannot do without. */
static bool find_sections(overlap *o)
{
    const ft_trace *trace = o->d->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (!is_lock_kind(trace->kind[e]) || trace->object[e] != o->lock) continue;
        if (trace->flags[e] & FT_FLAG_CONDITION) return false;
        if (!has_effect(trace, e)) continue;
        if (trace->kind[e] == FT_EVENT_RELEASE)
            close_section(o, e);
        else if (trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED)
            open_section(o, e);
    }
    return true;
}

/* ---- what is in them ------------------------------------------------------------------------- */

/* Kinds that are paired with nothing by their place in the log, or by variables alone. */
static const bool BOUNDED[FT_EVENT_KINDS] = {[FT_EVENT_READ] = true,
                                             [FT_EVENT_WRITE] = true,
                                             [FT_EVENT_ACQUIRE] = true,
                                             [FT_EVENT_ACQUIRE_SHARED] = true,
                                             [FT_EVENT_RELEASE] = true,
                                             [FT_EVENT_TRY_FAILED] = true,
                                             [FT_EVENT_FORK] = true,
                                             [FT_EVENT_JOIN] = true,
                                             [FT_EVENT_BEGIN] = true,
                                             [FT_EVENT_END] = true,
                                             [FT_EVENT_TX_BEGIN] = true,
                                             [FT_EVENT_TX_END] = true,
                                             [FT_EVENT_TRY_FAILED_SHARED] = true};

static bool note_inside(overlap *o, uint32_t e)
{
    const ft_trace *trace = o->d->trace;
    if (!BOUNDED[trace->kind[e]]) return false;
    if (ft_event_kind_object((ft_event_kind)trace->kind[e]) != FT_OBJECT_VARIABLE) return true;
    o->d->variables[trace->object[e]] = 1;
    return true;
}

static bool look_inside(overlap *o)
{
    const ft_trace *trace = o->d->trace;
    memset(o->held_by, 0, trace->threads.len * sizeof *o->held_by);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t *inside = &o->held_by[trace->thread[e]];
        if (*inside && !note_inside(o, e)) return false;
        if (!is_lock_kind(trace->kind[e]) || trace->object[e] != o->lock || !has_effect(trace, e))
            continue;
        if (trace->kind[e] == FT_EVENT_RELEASE)
            *inside = 0;
        else if (is_marked(o, e))
            *inside = e + 1;
    }
    return true;
}

/* ---- the relaxed trace ----------------------------------------------------------------------- */

/* A release by a thread that does not hold the lock: an event without effect. */
static void take_effect_away(ft_doubt *d, uint32_t e, uint32_t lock)
{
    d->relaxed.kind[e] = FT_EVENT_RELEASE;
    d->relaxed.flags[e] = FT_FLAG_STRANGER;
    d->relaxed.object[e] = lock;
    d->relaxed.data[e] = 0;
}

static bool accesses_doubted(const ft_doubt *d, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(d->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (d->variables[accesses[i].variable]) return true;
    return false;
}

/* False: a variable in doubt is read by more than plain reads. */
static bool relax(ft_doubt *d, uint32_t lock)
{
    const ft_trace *trace = d->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (is_lock_kind(trace->kind[e]) && trace->object[e] == lock) {
            take_effect_away(d, e, lock);
        } else if (accesses_doubted(d, e)) {
            if (trace->kind[e] == FT_EVENT_READ) take_effect_away(d, e, lock);
            if (trace->kind[e] != FT_EVENT_READ && trace->kind[e] != FT_EVENT_WRITE) return false;
        }
    }
    return true;
}

static bool doubt_lock(ft_doubt *d, uint32_t lock)
{
    const ft_trace *trace = d->trace;
    overlap o = {.d = d,
                 .lock = lock,
                 .opens = ft_calloc(trace->n_events / 8 + 1, 1),
                 .held_by = ft_calloc(trace->threads.len, sizeof *o.held_by),
                 .holders = ft_calloc(trace->threads.len, sizeof *o.holders)};
    d->locks[lock] = 1;
    bool bounded = find_sections(&o) && look_inside(&o);
    free(o.opens);
    free(o.held_by);
    free(o.holders);
    return bounded && relax(d, lock);
}

static void *copied(const void *array, size_t count, size_t size)
{
    void *copy = ft_alloc(count * size);
    if (count) memcpy(copy, array, count * size);
    return copy;
}

static ft_doubt *open(const ft_trace *trace)
{
    ft_doubt *d = ft_calloc(1, sizeof *d);
    size_t n = trace->n_events;
    d->trace = trace;
    d->relaxed = *trace;
    d->relaxed.kind = copied(trace->kind, n, sizeof *trace->kind);
    d->relaxed.flags = copied(trace->flags, n, sizeof *trace->flags);
    d->relaxed.object = copied(trace->object, n, sizeof *trace->object);
    d->relaxed.data = copied(trace->data, n, sizeof *trace->data);
    d->relaxed.shared_info =
        copied(trace->shared_info, trace->shared.len, sizeof *trace->shared_info);
    d->locks = ft_calloc(trace->locks.len, 1);
    d->variables = ft_calloc(trace->shared.len, 1);
    return d;
}

/* Doubts the lock of the first break, then that of the first break that is left, and so on. */
static bool settle(ft_doubt *d)
{
    for (int i = 0; i < MOST_LOCKS && d->relaxed.broken != FT_NO_EVENT; i++) {
        uint32_t e = d->relaxed.broken;
        if (!is_lock_kind(d->trace->kind[e]) || d->locks[d->trace->object[e]]) return false;
        if (!doubt_lock(d, d->trace->object[e])) return false;
        ft_observe_run(&d->relaxed);
    }
    return d->relaxed.broken == FT_NO_EVENT;
}

ft_doubt *ft_doubt_new(const ft_trace *trace)
{
    FT_REQUIRE(trace);
    if (trace->broken == FT_NO_EVENT || trace->n_paths) return NULL;
    ft_doubt *d = open(trace);
    if (settle(d)) return d;
    ft_doubt_free(d);
    return NULL;
}

void ft_doubt_free(ft_doubt *d)
{
    if (!d) return;
    free(d->relaxed.kind);
    free(d->relaxed.flags);
    free(d->relaxed.object);
    free(d->relaxed.data);
    free(d->relaxed.shared_info);
    free(d->locks);
    free(d->variables);
    free(d);
}

ft_trace *ft_doubt_relaxed(const ft_doubt *d)
{
    assert(d->relaxed.broken == FT_NO_EVENT && d->relaxed.n_events == d->trace->n_events);
    return (ft_trace *)(uintptr_t)&d->relaxed;
}

const uint8_t *ft_doubt_locks(const ft_doubt *d)
{
    return d->locks;
}

static bool is_monotone(ft_claim_kind kind)
{
    return kind != FT_CLAIM_LOCK_ERROR && kind != FT_CLAIM_DEADLOCK && kind != FT_CLAIM_STUCK;
}

bool ft_doubt_allows(const ft_doubt *d, const ft_claim *claim)
{
    if (!is_monotone(claim->kind)) return false;
    for (uint32_t i = 0; i < ft_claim_events(claim); i++) {
        uint32_t e = claim->events[i];
        FT_REQUIRE(e < d->trace->n_events);
        if (is_lock_kind(d->trace->kind[e]) && d->locks[d->trace->object[e]]) return false;
        if (accesses_doubted(d, e)) return false;
    }
    return true;
}
