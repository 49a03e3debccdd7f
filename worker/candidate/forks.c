/* Locks and forked processes. A process that is forked while another thread holds a lock has the
 * lock as it is, and nobody there who gives it back: where it waits for the lock, it waits forever.
 *
 * A recording says which locks a forked process waited for (FT_EDGE_PROCESS). The claim is that the
 * thread is next at the fork while another one is next at the release that ends its section. */
#include <stdlib.h>
#include <string.h>

#include "candidate/listed.h"

/* A lock that a forked process waits for. */
typedef struct want {
    uint32_t fork; /* edge-out */
    uint32_t lock;
    bool shared;
} want;

/* The number behind the word, 0: another edge. *rest: what stands behind it. */
static unsigned long process_of(const ft_trace *trace, uint32_t e, const char **rest)
{
    size_t n = sizeof FT_EDGE_PROCESS - 1;
    if (trace->kind[e] != FT_EVENT_EDGE_OUT) return 0;
    const char *name = trace->edges.names[trace->object[e]];
    if (strncmp(name, FT_EDGE_PROCESS " ", n + 1) != 0) return 0;
    char *end;
    unsigned long number = strtoul(name + n + 1, &end, 10);
    *rest = end;
    return number;
}

static uint32_t find_fork(const ft_trace *trace, unsigned long process)
{
    const char *rest;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (process_of(trace, e, &rest) == process && *rest == '.') return e;
    return FT_NO_EVENT;
}

static bool find_want(const ft_trace *trace, uint32_t e, want *found)
{
    const char *rest;
    unsigned long process = process_of(trace, e, &rest);
    bool reads = process && strncmp(rest, " reads ", 7) == 0;
    if (!process || (!reads && strncmp(rest, " locks ", 7) != 0)) return false;
    const char *name = rest + 7;
    *found = (want){.fork = find_fork(trace, process),
                    .lock = ft_intern_find(&trace->locks, name, strlen(name)),
                    .shared = reads};
    return found->fork != FT_NO_EVENT && found->lock != FT_NO_ID;
}

uint32_t ft_forks_wanting(const ft_trace *trace, uint32_t fork, uint32_t lock)
{
    FT_REQUIRE(fork < trace->n_events);
    want one;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (find_want(trace, e, &one) && one.fork == fork && one.lock == lock) return e;
    return FT_NO_EVENT;
}

static ft_reason reason_of(const ft_candidates *c, uint32_t release, uint32_t fork, uint32_t *lock)
{
    const ft_order *order = c->order;
    *lock = ft_order_common_lock(order, ft_order_lockset(order, release),
                                 ft_order_lockset(order, fork));
    if (*lock != UINT32_MAX) return FT_REASON_LOCKSET;
    if (ft_order_before_next(order, release, fork) || ft_order_before_next(order, fork, release))
        return FT_REASON_MUST_HAPPEN_BEFORE;
    return FT_REASONS;
}

static void list_want(ft_candidates *c, want w)
{
    const ft_trace *trace = c->trace;
    const ft_order *order = c->order;
    for (uint32_t i = order->lock_first[w.lock]; i < order->lock_first[w.lock + 1]; i++) {
        const ft_section *s = &order->sections.data[order->lock_sections[i]];
        if (s->thread == trace->thread[w.fork] || s->release == FT_NO_EVENT) continue;
        if (s->shared && w.shared) continue;
        uint32_t lock;
        ft_reason reason = reason_of(c, s->release, w.fork, &lock);
        ft_claim claim = {.kind = FT_CLAIM_CO_ENABLED, .events = {s->release, w.fork}};
        ft_candidates_list(c, FT_LISTED_FORK, &claim, reason, lock);
    }
}

void ft_candidates_forks(ft_candidates *c)
{
    want w;
    for (uint32_t e = 0; c->trace->edges.len && e < c->trace->n_events; e++)
        if (find_want(c->trace, e, &w)) list_want(c, w);
}
