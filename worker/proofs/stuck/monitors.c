/* Locks that waits for conditions give back, and what their states (states.c) say of
 * claims. */
#include <stdlib.h>

#include "base/contract.h"
#include "proofs/stuck/internal.h"

enum { MONITORS = 4 };

static bool is_monitor(const ft_stuck *s, uint32_t lock)
{
    for (size_t i = 0; i < s->monitors.len; i++)
        if (s->monitors.data[i].lock == lock) return true;
    return false;
}

void ft_stuck_find_monitors(ft_stuck *s)
{
    for (uint32_t e = 0; e < s->trace->n_events && s->monitors.len < MONITORS; e++)
        if (s->trace->kind[e] == FT_EVENT_RELEASE && (s->trace->flags[e] & FT_FLAG_CONDITION) &&
            !is_monitor(s, s->trace->object[e]))
            ft_vec_push(&s->monitors, (ft_monitor){.lock = s->trace->object[e]});
}

static const ft_monitor_states *states_of(ft_stuck *s, size_t i)
{
    assert(i < s->monitors.len);
    ft_monitor *monitor = &s->monitors.data[i];
    if (!monitor->asked) monitor->states = ft_monitor_states_new(s, monitor->lock);
    monitor->asked = true;
    return monitor->states;
}

bool ft_stuck_is_in_no_known_state(const ft_stuck *s, uint32_t event)
{
    for (size_t i = 0; i < s->monitors.len; i++)
        if (s->monitors.data[i].asked && ft_monitor_states_lack(s->monitors.data[i].states, event))
            return true;
    return false;
}

bool ft_stuck_is_in_no_state(ft_stuck *s, uint32_t event)
{
    for (size_t i = 0; i < s->monitors.len; i++)
        if (ft_monitor_states_lack(states_of(s, i), event)) return true;
    return false;
}

/* ---- claims of threads that are somewhere at once -------------------------------------------- */

static ft_stretch next_at(const ft_stuck *s, uint32_t e)
{
    return (ft_stretch){s->trace->thread[e], s->order->position[e], s->order->position[e]};
}

static bool are_apart(ft_stuck *s, const ft_stretch *a, const ft_stretch *b)
{
    for (size_t i = 0; i < s->monitors.len && a->thread != b->thread; i++)
        if (ft_monitor_states_keep_apart(states_of(s, i), a, b)) return true;
    return false;
}

static bool all_next(ft_stuck *s, const ft_claim *claim)
{
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        for (uint32_t k = 0; k < i; k++) {
            ft_stretch a = next_at(s, claim->events[i]), b = next_at(s, claim->events[k]);
            if (are_apart(s, &a, &b)) return true;
        }
    return false;
}

/* The other thread's access comes while this one is somewhere behind its first. */
static bool between(ft_stuck *s, const ft_claim *claim)
{
    ft_stretch behind = next_at(s, claim->events[0]), other = next_at(s, claim->events[1]);
    behind.from++;
    behind.to = s->order->position[claim->events[2]];
    return are_apart(s, &behind, &other);
}

static bool after_free(ft_stuck *s, const ft_claim *claim)
{
    ft_stretch freed = next_at(s, claim->events[0]), next = next_at(s, claim->events[1]);
    freed.from++;
    freed.to = s->order->thread_start[freed.thread + 1] - s->order->thread_start[freed.thread];
    return are_apart(s, &freed, &next);
}

static void note_alloc(ft_stuck *s, uint32_t alloc)
{
    const ft_block_cells *cells = &s->trace->block_cells[s->trace->object[alloc]];
    for (uint32_t i = 0; i < cells->count; i++) {
        bool fresh;
        uint64_t *first = ft_map_slot(&s->alloc_of, cells->variables[i], alloc, &fresh);
        if (!fresh) *first = FT_NO_EVENT;
    }
}

/* Does no alloc make forgotten what the event writes? Then those of the variable come before it:
 * there is one at most. */
static bool is_kept(ft_stuck *s, uint32_t write, uint32_t variable)
{
    uint64_t alloc;
    for (; s->allocs_seen < s->trace->n_events; s->allocs_seen++)
        if (s->trace->kind[s->allocs_seen] == FT_EVENT_ALLOC) note_alloc(s, s->allocs_seen);
    return !ft_map_get(&s->alloc_of, variable, &alloc) ||
           (alloc != FT_NO_EVENT && ft_order_before(s->order, (uint32_t)alloc, write));
}

/* Is what the read returned in the run written whenever it is next? */
static bool is_written(ft_stuck *s, const ft_claim *claim)
{
    uint32_t read = claim->events[0],
             i = ft_run_find_access(s->trace, read, claim->variable, false), write;
    if (i == UINT32_MAX) return false;
    write = ft_run_source(s->problem->run, read, i);
    if (write == FT_NO_EVENT || !is_kept(s, write, claim->variable)) return false;
    ft_stretch before = next_at(s, write), next = next_at(s, read);
    before.from = 0;
    return are_apart(s, &before, &next);
}

bool ft_stuck_keeps_apart(ft_stuck *s, const ft_claim *claim)
{
    FT_REQUIRE(s && claim && (unsigned)claim->kind < FT_CLAIM_KINDS);
    static bool (*const RULES[FT_CLAIM_KINDS])(ft_stuck *, const ft_claim *) = {
        [FT_CLAIM_RACE] = all_next,         [FT_CLAIM_CO_ENABLED] = all_next,
        [FT_CLAIM_DEADLOCK] = all_next,     [FT_CLAIM_ATOMICITY] = between,
        [FT_CLAIM_AFTER_FREE] = after_free, [FT_CLAIM_UNINITIALISED] = is_written,
    };
    return !s->idle && RULES[claim->kind] && RULES[claim->kind](s, claim);
}

void ft_stuck_release_monitors(ft_stuck *s)
{
    for (size_t i = 0; i < s->monitors.len; i++) ft_monitor_states_free(s->monitors.data[i].states);
    ft_vec_release(&s->monitors);
    ft_map_release(&s->alloc_of);
}
