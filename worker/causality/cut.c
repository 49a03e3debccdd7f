/* Chopping (Kahlon and Wang §4): where the window of a claim begins.
 *
 * The cut is one place per thread, outside all sections of shared locks and condition waits, such
 * that all events before it together can be executed in observed order: whatever they need in the
 * observed run is among them. No edge of the graph leads from behind the cut to before it, and
 * edges among the events before it agree with the observed order, so no cycle touches them. The
 * greatest such cut before the claim's events is used: the last causality barrier. */
#include <stdlib.h>
#include <string.h>

#include "causality/internal.h"

/* 8 bytes each. Beyond this limit the rest of the trace is left out: windows there are long and the
 * claims are left to the solver. */
#define CUT_STEPS 30000000u

/* ---- the demand of every event -------------------------------------------------------------- */

static ft_cut_log *log_of(ft_cut *cut, uint32_t thread, uint32_t source)
{
    bool inserted;
    uint64_t *slot =
        ft_map_slot(&cut->index, (uint64_t)thread << 32 | source, cut->logs.len, &inserted);
    if (inserted) {
        ft_cut_log fresh = {.thread = thread,
                            .source = source,
                            .next_of_thread = cut->of_thread[thread],
                            .next_of_source = cut->of_source[source]};
        cut->of_thread[thread] = cut->of_source[source] = (uint32_t)cut->logs.len;
        ft_vec_push(&cut->logs, fresh);
    }
    return &cut->logs.data[*slot];
}

static void raise(ft_cut *cut, uint32_t thread, uint32_t source, uint32_t position, uint32_t value)
{
    assert(thread != source);
    ft_cut_log *log = log_of(cut, thread, source);
    ft_cut_step *last = log->steps.len ? &log->steps.data[log->steps.len - 1] : NULL;
    if (last && last->value >= value) return;
    if (last && last->position == position) {
        last->value = value;
        return;
    }
    assert(!last || last->position < position);
    ft_vec_push(&log->steps, (ft_cut_step){position, value});
    cut->steps++;
}

/* How much of the source the event at `position` needs. */
static uint32_t value_at(const ft_cut_log *log, uint32_t position)
{
    size_t low = 0, high = log->steps.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->steps.data[middle].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? log->steps.data[low - 1].value : 0;
}

/* Event e needs event a, and all that a needs. */
static void demand(ft_causality *c, uint32_t e, uint32_t a)
{
    const uint16_t *thread = c->trace->thread;
    const uint32_t *position = c->order->position;
    ft_cut *cut = &c->cut;
    if (a == FT_NO_EVENT || thread[a] == thread[e] || a > e) return;
    const ft_cut_log *own = log_of(cut, thread[e], thread[a]);
    if (own->steps.len && own->steps.data[own->steps.len - 1].value > position[a]) return;
    for (uint32_t i = cut->of_thread[thread[a]]; i != UINT32_MAX;
         i = cut->logs.data[i].next_of_thread) {
        uint32_t source = cut->logs.data[i].source;
        uint32_t value = value_at(&cut->logs.data[i], position[a]);
        if (value && source != thread[e]) raise(cut, thread[e], source, position[e], value);
    }
    raise(cut, thread[e], thread[a], position[e], position[a] + 1);
}

/* The accesses of a variable since its last write. */
typedef struct history {
    uint32_t write; /* FT_NO_EVENT: none yet */
    FT_VEC(uint32_t) reads;
} history;

static void demand_accesses(ft_causality *c, history *of, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!c->tied[accesses[i].variable]) continue;
        history *h = &of[accesses[i].variable];
        demand(c, e, h->write);
        if (!accesses[i].write) {
            bool repeated = h->reads.len && c->trace->thread[h->reads.data[h->reads.len - 1]] ==
                                                c->trace->thread[e];
            if (repeated) h->reads.len--;
            ft_vec_push(&h->reads, e);
            continue;
        }
        for (size_t k = 0; k < h->reads.len; k++) demand(c, e, h->reads.data[k]);
        h->reads.len = 0;
        h->write = e;
    }
}

/* The events on a semaphore or condition stay in their observed order. */
static void demand_last(ft_causality *c, uint32_t *last, uint32_t e)
{
    demand(c, e, last[c->trace->object[e]]);
    last[c->trace->object[e]] = e;
}

/* The wake-up that a member needs bears on its cond-wait as well, so no cut comes between them. */
static void find_asleep(ft_causality *c)
{
    const ft_order *order = c->order;
    for (size_t i = 0; i < order->sync.wakes.len; i++) {
        ft_wake wake = order->sync.wakes.data[i];
        for (uint32_t e = wake.wake; wake.wait != FT_NO_EVENT && e != wake.wait;
             e = ft_order_previous(order, e))
            ft_map_put(&c->cut.asleep, e, wake.wait);
    }
}

static uint32_t *nobody(uint32_t count)
{
    uint32_t *last = ft_alloc(((size_t)count + 1) * sizeof *last);
    memset(last, 0xff, ((size_t)count + 1) * sizeof *last);
    return last;
}

void ft_cut_init(ft_causality *c)
{
    const ft_trace *trace = c->trace;
    ft_cut *cut = &c->cut;
    uint32_t threads = c->order->n_threads;
    find_asleep(c);
    cut->of_thread = nobody(threads);
    cut->of_source = nobody(threads);
    cut->known = ft_calloc((size_t)threads + 1, sizeof *cut->known);
    cut->at = ft_calloc((size_t)threads + 1, sizeof *cut->at);
    uint32_t *semaphore = nobody(trace->semaphores.len), *condition = nobody(trace->conditions.len);
    history *variables = ft_calloc((size_t)trace->shared.len + 1, sizeof *variables);
    for (uint32_t v = 0; v < trace->shared.len; v++) variables[v].write = FT_NO_EVENT;
    for (uint32_t e = 0; e < trace->n_events && cut->steps < CUT_STEPS; e++) {
        const uint32_t *sources;
        uint32_t count = ft_order_hard_sources(c->order, e, &sources);
        ft_object_class object = ft_event_kind_object(trace->kind[e]);
        for (uint32_t i = 0; i < count; i++) demand(c, e, sources[i]);
        if (object == FT_OBJECT_SEMAPHORE) demand_last(c, semaphore, e);
        if (object == FT_OBJECT_CONDITION) demand_last(c, condition, e);
        demand_accesses(c, variables, e);
        cut->known[trace->thread[e]] = c->order->position[e] + 1;
    }
    for (uint32_t v = 0; v < trace->shared.len; v++) ft_vec_release(&variables[v].reads);
    free(variables);
    free(semaphore);
    free(condition);
}

void ft_cut_release(ft_cut *cut)
{
    for (size_t i = 0; i < cut->logs.len; i++) ft_vec_release(&cut->logs.data[i].steps);
    ft_vec_release(&cut->logs);
    ft_map_release(&cut->index);
    ft_map_release(&cut->asleep);
    free(cut->of_thread);
    free(cut->of_source);
    free(cut->known);
    free(cut->at);
    ft_vec_release(&cut->lowered);
}

/* ---- placing the cut ------------------------------------------------------------------------ */

/* The earliest acquire of a shared lock that is held before e, or the cond-wait that is not over,
 * by position; e's own: none. */
static uint32_t earliest_held(const ft_causality *c, uint32_t e)
{
    const ft_order *order = c->order;
    ft_hold hold = order->holds.data[order->hold[e]];
    uint32_t earliest = order->position[e];
    for (uint32_t i = 0; i < hold.count; i++) {
        const ft_section *s = &order->sections.data[order->hold_sections.data[hold.first + i]];
        if (c->lock_shared[s->lock] && order->position[s->acquire] < earliest)
            earliest = order->position[s->acquire];
    }
    uint64_t wait;
    if (ft_map_get(&c->cut.asleep, e, &wait) && order->position[wait] < earliest)
        earliest = order->position[wait];
    return earliest;
}

/* No shared lock is held after e, the last event of its thread. */
static bool ends_free(const ft_causality *c, uint32_t e)
{
    const ft_order *order = c->order;
    ft_hold hold = order->holds.data[order->hold[e]];
    if (ft_order_opens(c->trace, e)) return false;
    for (uint32_t i = 0; i < hold.count; i++) {
        uint32_t s = order->hold_sections.data[hold.first + i];
        if (c->lock_shared[order->sections.data[s].lock] && s != order->section_of[e]) return false;
    }
    return true;
}

/* The last place at or before `position` where the thread holds no shared lock. */
static uint32_t free_place(const ft_causality *c, uint32_t thread, uint32_t position)
{
    const ft_order *order = c->order;
    const uint32_t *events = order->thread_events + order->thread_start[thread];
    uint32_t length = order->thread_start[thread + 1] - order->thread_start[thread];
    if (position >= length) {
        if (length == 0 || ends_free(c, events[length - 1])) return length;
        position = length - 1;
    }
    for (;;) {
        uint32_t earlier = earliest_held(c, events[position]);
        assert(earlier <= position);
        if (earlier == position) return position;
        position = earlier;
    }
}

static void lower(ft_causality *c, uint32_t thread, uint32_t position)
{
    ft_cut *cut = &c->cut;
    if (position >= cut->at[thread]) return;
    cut->at[thread] = free_place(c, thread, position);
    ft_vec_push(&cut->lowered, thread);
}

/* The first event of the log's thread that needs more of the source than the cut has, as a place.
 */
static uint32_t unmet(const ft_cut_log *log, uint32_t available)
{
    size_t low = 0, high = log->steps.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->steps.data[middle].value <= available)
            low = middle + 1;
        else
            high = middle;
    }
    return low < log->steps.len ? log->steps.data[low].position : UINT32_MAX;
}

void ft_cut_place(ft_causality *c)
{
    assert(c->cut.at && c->cut.known); /* prepared: the graph is not idle */
    const ft_causality_window *w = &c->window;
    const uint16_t *thread = c->trace->thread;
    const uint32_t *position = c->order->position, *start = c->order->thread_start;
    ft_cut *cut = &c->cut;
    cut->lowered.len = 0;
    if (c->rules & FT_CAUSALITY_WHOLE) return; /* all of `at` is 0 from the beginning */
    for (uint32_t t = 0; t < c->order->n_threads; t++) {
        cut->at[t] = start[t + 1] - start[t];
        if (cut->known[t] < cut->at[t]) lower(c, t, cut->known[t]);
        if (cut->at[t] && !ends_free(c, c->order->thread_events[start[t + 1] - 1]))
            lower(c, t, cut->at[t] - 1);
    }
    for (uint32_t i = 0; i < w->n_finals; i++)
        lower(c, thread[w->finals[i]], position[w->finals[i]]);
    for (uint32_t i = 0; i < w->n_extras; i++)
        lower(c, thread[w->extras[i]], position[w->extras[i]]);
    for (size_t i = 0; i < w->lowerings.len; i++)
        lower(c, w->lowerings.data[i].thread, w->lowerings.data[i].position);
    while (cut->lowered.len > 0) {
        uint32_t source = cut->lowered.data[--cut->lowered.len];
        for (uint32_t i = cut->of_source[source]; i != UINT32_MAX;
             i = cut->logs.data[i].next_of_source) {
            uint32_t first = unmet(&cut->logs.data[i], cut->at[source]);
            if (first != UINT32_MAX) lower(c, cut->logs.data[i].thread, first);
        }
    }
}
