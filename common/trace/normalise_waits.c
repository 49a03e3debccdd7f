#include <stdlib.h>

#include "trace/builder_internal.h"

/* How far a thread is in a condition wait: cond-wait, release, then cond-wake and acquire in either
 * order, with nothing of the thread between them. Only a whole one is marked. */
typedef struct wait {
    enum { NO_WAIT, WAITS, RELEASED, WOKEN, ACQUIRED } state;
    uint32_t release, acquire; /* events */
} wait;

typedef struct marker {
    ft_builder *builder;
    uint32_t first, count; /* events that the input did not mark */
} marker;

static void mark(marker *m, uint32_t e)
{
    uint8_t *flags = &m->builder->trace->flags[e];
    if (*flags & FT_FLAG_CONDITION) return;
    *flags |= FT_FLAG_CONDITION;
    if (m->count++ == 0) m->first = e;
}

static void mark_both(marker *m, uint32_t release, uint32_t acquire)
{
    mark(m, release);
    mark(m, acquire);
}

static bool takes_back(const ft_trace *trace, uint32_t release, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE && trace->object[e] == trace->object[release] &&
           !(trace->flags[e] & FT_FLAG_TRY);
}

static wait follow(marker *m, wait at, uint32_t e)
{
    const ft_trace *trace = m->builder->trace;
    ft_event_kind kind = trace->kind[e];
    if (kind == FT_EVENT_COND_WAIT) return (wait){.state = WAITS};
    if (kind == FT_EVENT_RELEASE && at.state == WAITS) return (wait){RELEASED, e, e};
    if (kind == FT_EVENT_COND_WAKE && at.state == RELEASED)
        return (wait){WOKEN, at.release, at.release};
    if (at.state == RELEASED && takes_back(trace, at.release, e))
        return (wait){ACQUIRED, at.release, e};
    if (at.state == WOKEN && takes_back(trace, at.release, e)) mark_both(m, at.release, e);
    if (kind == FT_EVENT_COND_WAKE && at.state == ACQUIRED) mark_both(m, at.release, at.acquire);
    return (wait){.state = NO_WAIT};
}

void ft_builder_note_waits(ft_builder *b, uint32_t first, uint32_t count)
{
    ft_builder_add_note(b, "condition-wait", first, count,
                        "the release after a cond-wait and the acquire beside its cond-wake "
                        "were not marked as part of the condition wait");
}

void ft_builder_mark_waits(ft_builder *b)
{
    const ft_trace *trace = b->trace;
    if (!b->counts[FT_EVENT_COND_WAIT]) return;
    marker m = {.builder = b};
    wait *threads = ft_calloc(trace->threads.len, sizeof *threads);
    for (uint32_t e = 0; e < trace->n_events; e++)
        threads[trace->thread[e]] = follow(&m, threads[trace->thread[e]], e);
    free(threads);
    if (m.count) ft_builder_note_waits(b, m.first, m.count);
}
