/* Races: all conflicting cross-thread pairs (design §4, Race). */
#include "candidate/candidate.h"

static bool conflict(const ft_class *a, const ft_class *b)
{
    return a->thread != b->thread && ((a->mode | b->mode) & FT_MODE_WRITE) &&
           !(a->mode & b->mode & FT_MODE_ATOMIC);
}

/* Two events of several variables each may conflict on more than one: the pair counts once, at the
 * first variable. */
static bool counted_before(const ft_trace *trace, const ft_class *a, const ft_class *b)
{
    if (!a->only || !b->only) return false;
    ft_access sa, sb;
    uint32_t na, nb;
    const ft_access *xa = ft_trace_accesses(trace, a->only - 1, &sa, &na);
    const ft_access *xb = ft_trace_accesses(trace, b->only - 1, &sb, &nb);
    for (uint32_t i = 0; i < na; i++)
        for (uint32_t j = 0; j < nb; j++)
            if (xa[i].variable == xb[j].variable && (xa[i].write || xb[j].write) &&
                xa[i].variable < a->variable)
                return true;
    return false;
}

static ft_reason prune(const ft_order *order, const ft_class *a, const ft_class *b, uint32_t *lock)
{
    *lock = ft_order_common_lock(order, a->lockset, b->lockset);
    if (*lock != UINT32_MAX) return FT_REASON_LOCKSET;
    if (ft_order_segments_before(order, a->segment, b->segment) ||
        ft_order_segments_before(order, b->segment, a->segment))
        return FT_REASON_MUST_HAPPEN_BEFORE;
    return FT_REASONS;
}

static void pair(ft_candidates *c, uint32_t left, uint32_t right)
{
    const ft_class *a = &c->classes.data[left], *b = &c->classes.data[right];
    if (!conflict(a, b) || counted_before(c->trace, a, b)) return;
    uint32_t lock, x = c->class_events[a->first], y = c->class_events[b->first];
    ft_reason reason = prune(c->order, a, b, &lock);
    ft_claim sample = {.kind = FT_CLAIM_RACE,
                       .events = {x < y ? x : y, x < y ? y : x, FT_NO_EVENT},
                       .variable = a->variable};
    uint8_t kind = (a->mode & b->mode & FT_MODE_WRITE) != 0;
    ft_candidates_account(c, FT_CHECK_RACE, kind, (uint32_t[3]){a->loc, b->loc, FT_NO_LOC}, 2, 0,
                          reason, lock, (uint64_t)a->count * b->count,
                          (ft_block){.left = left, .right = right}, &sample);
}

void ft_candidates_race(ft_candidates *c)
{
    for (uint32_t v = 0; v < c->trace->shared.len; v++) {
        uint32_t first = c->variable_classes[v], end = c->variable_classes[v + 1];
        for (uint32_t i = first; i < end; i++)
            for (uint32_t j = i + 1; j < end; j++)
                pair(c, c->classes_by_variable[i], c->classes_by_variable[j]);
    }
}
