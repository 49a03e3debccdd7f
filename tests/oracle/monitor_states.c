/* Every state that a schedule of a monitor's run reaches, one by one. */
#include <stdlib.h>

#include "oracle/monitor.h"

enum { MOST_STATES = 60000, PLACES = FT_MONITOR_EVENTS + 1 };

typedef struct state {
    uint8_t at[FT_MONITOR_THREADS], asleep[FT_MONITOR_THREADS], holder[FT_MONITOR_LOCKS],
        out[FT_MONITOR_THREADS + 1];
    int8_t value[2];
} state;

typedef struct walk {
    const ft_trace *trace;
    const ft_order *order;
    ft_map been;
    ft_monitor_run *monitor;
} walk;

static bool is_started(const walk *w, const state *s, uint32_t t)
{
    uint32_t fork = w->order->fork_of[t];
    return fork == FT_NO_EVENT || s->at[w->trace->thread[fork]] > w->order->position[fork];
}

static uint32_t next_of(const walk *w, const state *s, uint32_t t)
{
    uint32_t at = w->order->thread_start[t] + s->at[t];
    return at < w->order->thread_start[t + 1] ? w->order->thread_events[at] : FT_NO_EVENT;
}

static int8_t bits_of(const walk *w, uint32_t value)
{
    return (int8_t)(int64_t)w->trace->values[value].bits;
}

static int8_t value_at(const walk *w, uint32_t e)
{
    return bits_of(w, w->trace->data[e]);
}

/* Does its time run out? Asleep it may be woken like others, but need not be. */
static bool is_hurried(const walk *w, uint32_t wake)
{
    return w->trace->flags[wake] & FT_FLAG_FAILED;
}

/* False: not from here. */
static bool step(const walk *w, state *s, uint32_t t)
{
    uint32_t e = next_of(w, s, t);
    if (e == FT_NO_EVENT || !is_started(w, s, t)) return false;
    uint32_t object = w->trace->object[e];
    switch (w->trace->kind[e]) {
    case FT_EVENT_ACQUIRE:
        if (s->holder[object]) return false;
        s->holder[object] = (uint8_t)(t + 1);
        break;
    case FT_EVENT_RELEASE:
        s->holder[object] = 0;
        break;
    case FT_EVENT_READ:
        if (s->value[object] != value_at(w, e)) return false;
        break;
    case FT_EVENT_WRITE:
        s->value[object] = value_at(w, e);
        break;
    case FT_EVENT_RMW:
        if (s->value[object] != bits_of(w, w->trace->updates[w->trace->data[e]].read)) return false;
        s->value[object] = bits_of(w, w->trace->updates[w->trace->data[e]].written);
        break;
    case FT_EVENT_COND_WAIT:
        s->asleep[t] = (uint8_t)(1 + object);
        break;
    case FT_EVENT_COND_WAKE:
        if (s->asleep[t] && !is_hurried(w, e)) return false;
        s->asleep[t] = 0;
        break;
    case FT_EVENT_EDGE_OUT:
        s->out[object] = 1;
        break;
    case FT_EVENT_EDGE_IN:
        if (!s->out[object]) return false;
        break;
    default:
        break;
    }
    s->at[t]++;
    return true;
}

static void visit(walk *w, const state *s);

static void wake_any(walk *w, const state *s, uint32_t condition)
{
    bool any = false;
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        if (s->asleep[t] != 1 + condition) continue;
        state next = *s;
        any = true;
        next.asleep[t] = 0;
        visit(w, &next);
    }
    if (!any) visit(w, s);
}

static void wake_all(walk *w, state *s, uint32_t condition)
{
    for (uint32_t t = 0; t < w->order->n_threads; t++)
        if (s->asleep[t] == 1 + condition) s->asleep[t] = 0;
    visit(w, s);
}

/* Waits for a lock that somebody has, or sleeps. */
static bool is_blocked(const walk *w, const state *s, uint32_t e)
{
    if (w->trace->kind[e] == FT_EVENT_ACQUIRE) return s->holder[w->trace->object[e]];
    return w->trace->kind[e] == FT_EVENT_COND_WAKE && s->asleep[w->trace->thread[e]] &&
           !is_hurried(w, e);
}

static void note_stuck(walk *w, const state *s)
{
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        uint32_t e = next_of(w, s, t);
        if (e != FT_NO_EVENT && is_started(w, s, t) && !is_blocked(w, s, e)) return;
    }
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        uint32_t e = next_of(w, s, t);
        if (e != FT_NO_EVENT && is_started(w, s, t)) w->monitor->stuck[e] = true;
    }
}

static uint8_t *both_at(const ft_monitor_run *monitor, uint32_t thread, uint32_t position,
                        uint32_t other, uint32_t other_position)
{
    size_t row = (size_t)thread * PLACES + position,
           column = (size_t)other * PLACES + other_position;
    return &monitor->both[row * FT_MONITOR_THREADS * PLACES + column];
}

static void note_places(const walk *w, const state *s)
{
    for (uint32_t a = 0; a < w->order->n_threads; a++)
        for (uint32_t b = 0; b < w->order->n_threads; b++)
            *both_at(w->monitor, a, s->at[a], b, s->at[b]) = true;
}

static void visit(walk *w, const state *s)
{
    bool fresh;
    ft_map_slot(&w->been, ft_hash_bytes(s, sizeof *s, 1), 0, &fresh);
    if (!fresh || w->been.len > MOST_STATES) return;
    note_stuck(w, s);
    note_places(w, s);
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        state next = *s;
        uint32_t e = next_of(w, s, t);
        if (!step(w, &next, t)) continue;
        if (w->trace->kind[e] == FT_EVENT_SIGNAL)
            wake_any(w, &next, w->trace->object[e]);
        else if (w->trace->kind[e] == FT_EVENT_BROADCAST)
            wake_all(w, &next, w->trace->object[e]);
        else
            visit(w, &next);
    }
}

bool ft_monitor_walk(ft_monitor_run *monitor)
{
    size_t places = (size_t)FT_MONITOR_THREADS * PLACES;
    walk w = {.trace = monitor->trace, .order = monitor->order, .monitor = monitor};
    monitor->stuck = ft_calloc((size_t)w.trace->n_events + 1, sizeof *monitor->stuck);
    monitor->both = ft_calloc(places * places, sizeof *monitor->both);
    visit(&w, &(state){.at = {0}});
    bool all = w.been.len <= MOST_STATES;
    ft_map_release(&w.been);
    return all;
}

bool ft_monitor_both(const ft_monitor_run *monitor, uint32_t thread, uint32_t position,
                     uint32_t other, uint32_t other_position)
{
    return *both_at(monitor, thread, position, other, other_position);
}
