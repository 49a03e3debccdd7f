/* Checkers of the candidates: classes and sites partition the accesses, and every claim is counted
 * once. */
#include "candidate/candidate.h"

/* ---- classes and sites ----------------------------------------------------------------------- */

/* Its events ascend, and are of its thread, segment, location and lockset. */
static bool class_is_sound(const ft_candidates *c, const ft_class *class)
{
    const ft_trace *trace = c->trace;
    uint32_t e = class->first, before = 0;
    if (class->count == 0 || ((class->mode & FT_MODE_SEVERAL) && class->count > 1)) return false;
    for (uint32_t i = 0; i < class->count; i++) {
        if (e >= trace->n_events || (i > 0 && e <= before)) return false;
        if (trace->thread[e] != class->thread || trace->loc[e] != class->loc) return false;
        if (c->order->segment[e] != class->segment) return false;
        if (ft_order_lockset(c->order, e) != class->lockset) return false;
        before = e;
        if (i + 1 < class->count) e = c->next_event[e];
    }
    return true;
}

static bool site_is_sound(const ft_candidates *c, const ft_site *site)
{
    uint64_t events = 0;
    for (uint32_t i = site->first; i < site->first + site->count; i++) {
        const ft_class *class = &c->classes.data[i];
        if (!class_is_sound(c, class) || class->loc != site->loc) return false;
        if (class->lockset != site->lockset || class->mode != site->mode) return false;
        events += class->count;
    }
    return site->count > 0 && events == site->events;
}

bool ft_candidates_is_sound(const ft_candidates *c)
{
    for (uint32_t v = 0; v < c->trace->shared.len; v++) {
        uint32_t at = c->variable_classes[v];
        for (uint32_t s = c->variable_sites[v]; s < c->variable_sites[v + 1]; s++) {
            const ft_site *site = &c->sites.data[s];
            if (site->variable != v || site->first != at || !site_is_sound(c, site)) return false;
            at += site->count;
        }
        if (at != c->variable_classes[v + 1]) return false;
    }
    return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum { MOST_WALKED = 20000 };

static bool count_one(void *context, const ft_claim *claim)
{
    (void)claim;
    return ++*(uint64_t *)context <= MOST_WALKED;
}

static bool group_is_sound(const ft_candidates *c, const ft_group *group)
{
    uint64_t pruned = 0, walked = 0;
    for (int i = 0; i < FT_REASONS; i++) pruned += group->pruned[i];
    if (pruned > group->pairs) return false;
    uint64_t left = group->pairs - pruned;
    if (group->blocks.len == 0) return left <= 1 || group->check == FT_CHECK_PROPERTY;
    if (left > MOST_WALKED) return true;
    ft_candidates_each(c, group, NULL, count_one, &walked);
    return walked == left;
}

bool ft_candidates_add_up(const ft_candidates *c, ft_check check)
{
    uint64_t claims = c->overflow[check];
    for (size_t g = 0; g < c->groups.len; g++) {
        const ft_group *group = &c->groups.data[g];
        if (group->check != check) continue;
        if (!group_is_sound(c, group)) return false;
        claims += group->pairs;
    }
    for (size_t i = 0; i < c->pruned.len; i++)
        if (c->pruned.data[i].check == check) claims += c->pruned.data[i].count;
    return claims == c->passes[check].claims;
}
