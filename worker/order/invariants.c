/* Checkers of the order and of the observed run: everything that later passes rely on. */
#include "order/order.h"
#include "order/run.h"

/* ---- threads and clocks ---------------------------------------------------------------------- */

static bool threads_are_sound(const ft_order *order)
{
    const ft_trace *trace = order->trace;
    if (order->thread_start[0] != 0) return false;
    if (order->thread_start[order->n_threads] != trace->n_events) return false;
    for (uint32_t t = 0; t < order->n_threads; t++)
        for (uint32_t i = order->thread_start[t]; i < order->thread_start[t + 1]; i++) {
            uint32_t e = order->thread_events[i];
            if (e >= trace->n_events || trace->thread[e] != t) return false;
            if (order->position[e] != i - order->thread_start[t]) return false;
            if (order->position[e] > 0 && order->thread_events[i - 1] >= e) return false;
        }
    return true;
}

static const uint32_t *clock_at(const ft_order *order, uint32_t e)
{
    return order->clock + (size_t)order->segment[e] * order->n_threads;
}

/* The event is in its thread's latest segment, or begins a new one, whose clock has lost nothing.
 */
static bool segment_goes_on(const ft_order *order, uint32_t e)
{
    uint32_t previous = ft_order_previous(order, e);
    if (order->segment[e] >= order->n_segments) return false;
    if (order->segment_thread[order->segment[e]] != order->trace->thread[e]) return false;
    if (previous == FT_NO_EVENT || order->segment[previous] == order->segment[e]) return true;
    if (order->segment[previous] > order->segment[e]) return false;
    const uint32_t *before = clock_at(order, previous), *now = clock_at(order, e);
    for (uint32_t t = 0; t < order->n_threads; t++)
        if (now[t] < before[t]) return false;
    return true;
}

/* A clock counts only events that the run executed earlier, so the hard order has no cycle. */
static bool clock_is_earlier(const ft_order *order, uint32_t e)
{
    const uint32_t *clock = clock_at(order, e);
    for (uint32_t t = 0; t < order->n_threads; t++) {
        uint32_t start = order->thread_start[t];
        if (clock[t] > order->thread_start[t + 1] - start) return false;
        if (clock[t] > 0 && order->thread_events[start + clock[t] - 1] >= e) return false;
    }
    return true;
}

static bool sources_are_sound(const ft_order *order, uint32_t e)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(order, e, &sources);
    for (uint32_t i = 0; i < count; i++) {
        if (sources[i] >= order->trace->n_events || sources[i] == e) return false;
        if (sources[i] < e && !ft_order_before(order, sources[i], e)) return false;
    }
    return true;
}

static bool clocks_are_sound(const ft_order *order)
{
    uint32_t checked = 0; /* segments begin in the order of their numbers */
    for (uint32_t e = 0; e < order->trace->n_events; e++) {
        if (!segment_goes_on(order, e) || !sources_are_sound(order, e)) return false;
        if (order->segment[e] > checked) return false;
        if (order->segment[e] < checked) continue;
        if (!clock_is_earlier(order, e)) return false;
        checked++;
    }
    return checked == order->n_segments;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static bool section_is_sound(const ft_order *order, uint32_t id)
{
    const ft_trace *trace = order->trace;
    const ft_section *s = &order->sections.data[id];
    if (order->section_of[s->acquire] != id || !ft_order_opens(trace, s->acquire)) return false;
    if (trace->thread[s->acquire] != s->thread || trace->object[s->acquire] != s->lock)
        return false;
    if (s->otherwise != FT_NO_SECTION) {
        if (s->otherwise <= id || s->otherwise >= order->sections.len) return false;
        const ft_section *other = &order->sections.data[s->otherwise];
        if (other->thread != s->thread || other->lock != s->lock) return false;
    }
    if (s->release == FT_NO_EVENT) return true;
    return s->acquire < s->release && order->section_of[s->release] == id &&
           trace->kind[s->release] == FT_EVENT_RELEASE && trace->object[s->release] == s->lock &&
           trace->thread[s->release] == s->thread;
}

/* Sections of a hold state are sorted by lock, and its lockset names just their locks. */
static bool hold_is_sound(const ft_order *order, const ft_hold *hold)
{
    if (hold->lockset + 1 >= order->lockset_offset.len) return false;
    uint32_t first = order->lockset_offset.data[hold->lockset];
    if (order->lockset_offset.data[hold->lockset + 1] - first != hold->count) return false;
    for (uint32_t i = 0; i < hold->count; i++) {
        const ft_section *s = &order->sections.data[order->hold_sections.data[hold->first + i]];
        uint32_t word = order->locksets.data[first + i];
        if (word != (s->lock << 1 | s->shared)) return false;
        if (i > 0 && order->locksets.data[first + i - 1] >> 1 > s->lock) return false;
    }
    return true;
}

/* Each section held at e is one of its thread, entered before e and not closed before it. */
static bool holds_open_sections(const ft_order *order, uint32_t e)
{
    if (order->hold[e] >= order->holds.len) return false;
    ft_hold hold = order->holds.data[order->hold[e]];
    for (uint32_t i = 0; i < hold.count; i++) {
        const ft_section *s = &order->sections.data[order->hold_sections.data[hold.first + i]];
        if (s->thread != order->trace->thread[e] || s->acquire >= e || s->release < e) return false;
    }
    return true;
}

/* Every section is listed once, with its lock, in the order of the acquires. */
static bool lock_index_is_sound(const ft_order *order)
{
    uint32_t n_locks = order->trace->locks.len;
    if (order->lock_first[0] != 0 || order->lock_first[n_locks] != order->sections.len)
        return false;
    for (uint32_t l = 0; l < n_locks; l++)
        for (uint32_t i = order->lock_first[l]; i < order->lock_first[l + 1]; i++) {
            uint32_t s = order->lock_sections[i];
            if (order->sections.data[s].lock != l) return false;
            if (i > order->lock_first[l] && order->lock_sections[i - 1] >= s) return false;
        }
    return true;
}

static bool locks_are_sound(const ft_order *order)
{
    for (uint32_t s = 0; s < order->sections.len; s++)
        if (!section_is_sound(order, s)) return false;
    for (size_t h = 0; h < order->holds.len; h++)
        if (!hold_is_sound(order, &order->holds.data[h])) return false;
    for (uint32_t e = 0; e < order->trace->n_events; e++)
        if (!holds_open_sections(order, e)) return false;
    return lock_index_is_sound(order);
}

bool ft_order_is_sound(const ft_order *order)
{
    return threads_are_sound(order) && clocks_are_sound(order) && locks_are_sound(order);
}

/* ---- the observed run ------------------------------------------------------------------------ */

static bool access_is_sound(const ft_run *run, const ft_trace *trace, uint32_t e, uint32_t i,
                            const ft_access *access)
{
    uint32_t source = ft_run_source(run, e, i);
    if (access->write) return source == e;
    if (source == FT_NO_EVENT) return true;
    return source < e && ft_run_find_access(trace, source, access->variable, true) != UINT32_MAX;
}

bool ft_run_is_sound(const ft_run *run, const ft_trace *trace)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!access_is_sound(run, trace, e, i, &accesses[i])) return false;
    }
    return true;
}
