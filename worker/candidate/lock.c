/* Lock errors (Wang et al. §5.2): a lock taken by a thread that holds it and may not take it again,
 * or released by a thread that does not hold it. What a thread holds at an event is fixed by its
 * own earlier events, so the candidates are these events, and the question is whether they are
 * reached. */
#include "candidate/listed.h"

static bool is_acquire(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
}

/* A reader may read once more: it is blocked there, if at all, by a writer that waits. */
static bool is_double_lock(const ft_candidates *c, uint32_t e)
{
    const ft_trace *trace = c->trace;
    if (!is_acquire(trace, e)) return false;
    if (trace->flags[e] & FT_FLAG_STRANGER) return true;
    if (trace->flags[e] & FT_FLAG_TRY) return false; /* it would have failed and gone on */
    uint32_t own = ft_order_section_at(c->order, e, trace->object[e]);
    if (!ft_order_effective(trace, e) || own == FT_NO_SECTION) return false;
    return trace->kind[e] == FT_EVENT_ACQUIRE || !c->order->sections.data[own].shared;
}

/* FT_LISTED_KINDS: no lock error. had: the thread took the lock before. */
static ft_listed_kind error_kind(const ft_candidates *c, uint32_t e, bool had)
{
    const ft_trace *trace = c->trace;
    if (is_double_lock(c, e)) return FT_LISTED_DOUBLE_LOCK;
    if (trace->kind[e] != FT_EVENT_RELEASE || !(trace->flags[e] & FT_FLAG_STRANGER))
        return FT_LISTED_KINDS;
    return had ? FT_LISTED_DOUBLE_UNLOCK : FT_LISTED_UNLOCK_BY_STRANGER;
}

void ft_candidates_lock(ft_candidates *c)
{
    const ft_trace *trace = c->trace;
    ft_map taken = {0}; /* thread and lock: it was taken before */
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (ft_event_kind_object(trace->kind[e]) != FT_OBJECT_LOCK) continue;
        uint64_t key = (uint64_t)trace->thread[e] << 32 | trace->object[e], unused;
        ft_listed_kind kind = error_kind(c, e, ft_map_get(&taken, key, &unused));
        bool inserted;
        if (is_acquire(trace, e)) ft_map_slot(&taken, key, 0, &inserted);
        if (kind == FT_LISTED_KINDS) continue;
        ft_claim claim = {.kind = FT_CLAIM_LOCK_ERROR, .events = {e}};
        ft_candidates_list(c, kind, &claim, FT_REASONS, UINT32_MAX);
    }
    ft_map_release(&taken);
    FT_CHECK(ft_candidates_add_up(c, FT_CHECK_LOCK));
}
