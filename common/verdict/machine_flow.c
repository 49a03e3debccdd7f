#include "verdict/machine_flow.h"

#include <stdlib.h>

#include "verdict/machine_internal.h"

ft_machine_room ft_machine_room_of(const ft_trace *trace)
{
    return (ft_machine_room){.threads = trace->threads.len,
                             .shared = trace->shared.len,
                             .locks = trace->locks.len,
                             .semaphores = trace->semaphores.len,
                             .edges = trace->edges.len,
                             .conditions = trace->conditions.len,
                             .blocks = trace->blocks.len};
}

#define GROW(m, room, table)                                                                       \
    ((m)->table =                                                                                  \
         ft_grow_zeroed((m)->table, &(room)->table, (m)->trace->table.len, sizeof *(m)->table))

void ft_machine_grow(ft_machine *m, ft_machine_room *room)
{
    m->flowing = true;
    GROW(m, room, threads);
    GROW(m, room, shared);
    GROW(m, room, locks);
    GROW(m, room, semaphores);
    GROW(m, room, edges);
    GROW(m, room, conditions);
    GROW(m, room, blocks);
}

static uint32_t waits_since(const ft_machine *m, uint32_t thread, uint32_t condition)
{
    uint64_t since = 0;
    bool waits = ft_map_get(&m->waiting, (uint64_t)thread << 32 | condition, &since);
    return waits && since >> 32 == m->epoch ? (uint32_t)since : UINT32_MAX;
}

/* A signal wakes one waiter whose wait began before it, and the earliest such signal is used first.
 * So of the signals after a waiter's cond-wait no more are needed than there are waiters, and of
 * the broadcasts only the last. */
void ft_machine_forget_notices(ft_machine *m, uint32_t condition, const uint32_t *waiters,
                               size_t n_waiters)
{
    condition_cell *cell = &m->conditions[condition];
    size_t kept = 0, last = cell->notices.len;
    uint32_t *since = ft_calloc(n_waiters, sizeof *since);
    size_t *before = ft_calloc(n_waiters, sizeof *before); /* of the unused since then */
    for (size_t w = 0; w < n_waiters; w++) since[w] = waits_since(m, waiters[w], condition);
    while (last && !cell->notices.data[last - 1].all) last--;
    for (size_t i = 0; i < cell->notices.len; i++) {
        ft_notice notice = cell->notices.data[i];
        bool serves = notice.all && i + 1 == last && n_waiters;
        for (size_t w = 0; !notice.all && !notice.used && w < n_waiters; w++)
            if (notice.time > since[w]) serves |= before[w]++ < n_waiters;
        if (serves) cell->notices.data[kept++] = notice;
    }
    assert(kept <= cell->notices.len);
    cell->notices.len = kept;
    free(since);
    free(before);
}

size_t ft_machine_count_notices(const ft_machine *m, uint32_t condition)
{
    return m->conditions[condition].notices.len;
}
