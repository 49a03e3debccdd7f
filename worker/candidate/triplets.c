/* Triplets: pairs of one transaction's accesses with those of other threads, counted class by
 * class, and site by site where there are many. */
#include "candidate/candidate.h"

/* A lock held from a to b that excludes one of the remote lockset; UINT32_MAX: none. */
static uint32_t common_span_lock(const ft_order *order, uint32_t a, uint32_t b, uint32_t remote)
{
    ft_hold hold = order->holds.data[order->hold[a]];
    const uint32_t *offset = order->lockset_offset.data;
    for (uint32_t i = 0; i < hold.count; i++) {
        uint32_t s = order->hold_sections.data[hold.first + i];
        const ft_section *section = &order->sections.data[s];
        if (ft_order_section_at(order, b, section->lock) != s) continue;
        for (uint32_t k = offset[remote]; k < offset[remote + 1]; k++) {
            uint32_t word = order->locksets.data[k]; /* lock << 1 | shared */
            if (word >> 1 == section->lock && !(section->shared && (word & 1))) return word >> 1;
        }
    }
    return UINT32_MAX;
}

static bool is_ordered(const ft_candidates *c, const ft_local_pair_class *local,
                       const ft_class *remote)
{
    return ft_order_segments_before(c->order, remote->segment, local->segment[0]) ||
           ft_order_segments_before(c->order, local->segment[1], remote->segment);
}

/* Triplets of a pair class with remote events that no pass can tell apart. */
typedef struct triplets {
    uint32_t local, remote; /* a pair class, a class: the events are like its own */
    bool remote_write;
    ft_check check;
    uint32_t property;
    ft_reason reason;
    uint32_t lock;
    uint64_t events; /* remote ones */
    bool ordered;    /* by hard order, whatever else refutes them */
} triplets;

static void account(ft_candidates *c, const triplets *t)
{
    const ft_local_pair_class *local = &c->local_pairs.data[t->local];
    const ft_class *remote = &c->classes.data[t->remote];
    const uint32_t *events = c->pair_events.data + 2 * (size_t)local->first;
    uint64_t count = (local->count + local->more) * t->events;
    ft_claim sample = {.kind = FT_CLAIM_ATOMICITY,
                       .events = {events[0], remote->first, events[1]},
                       .variable = local->variable,
                       .writes = {local->write[0], t->remote_write, local->write[1]}};
    if (count == 0) return;
    /* Pairs that are only counted have no events to walk over: each of them is refuted. */
    assert(t->reason != FT_REASONS || local->more == 0);
    if (t->reason == FT_REASON_ATOMIC_SECTION && t->ordered) c->passes[t->check].by_order += count;
    ft_candidates_account(
        c, &(ft_claim_block){
               .check = t->check,
               .kind = (uint8_t)(local->write[0] << 2 | t->remote_write << 1 | local->write[1]),
               .loc = {local->loc[0], remote->loc, local->loc[1]},
               .n_locs = 3,
               .property = t->property,
               .reason = t->reason,
               .lock = t->lock,
               .count = count,
               .block = {t->local, t->remote, t->remote_write},
               .sample = &sample});
}

static void account_ordered(ft_candidates *c, triplets t, uint64_t events)
{
    if (t.reason == FT_REASONS) t.reason = FT_REASON_MUST_HAPPEN_BEFORE;
    t.events = events;
    t.ordered = true;
    account(c, &t);
}

static void with_class(ft_candidates *c, triplets t, uint32_t remote)
{
    const ft_local_pair_class *local = &c->local_pairs.data[t.local];
    const ft_class *class = &c->classes.data[remote];
    if (class->thread == local->thread) return;
    t.remote = remote;
    if (is_ordered(c, local, class)) {
        account_ordered(c, t, class->count);
        return;
    }
    t.events = class->count;
    account(c, &t);
}

/* A class of another thread: if there is any, the first or the last in the order of threads is one.
 */
static uint32_t one_of_others(const ft_candidates *c, const ft_site *site, uint32_t thread)
{
    uint32_t class = c->threaded[site->first];
    if (c->classes.data[class].thread != thread) return class;
    return c->threaded[site->first + site->count - 1];
}

/* The same for a site with many classes: those that are refuted are accounted together. */
static void with_many(ft_candidates *c, triplets t, const ft_site *site)
{
    const ft_local_pair_class *local = &c->local_pairs.data[t.local];
    const ft_segments stretch = {local->segment[0], local->segment[1], (uint16_t)local->thread};
    uint64_t open = ft_candidates_open_events(c, &stretch, site),
             all = ft_candidates_other_events(c, &stretch, site);
    ft_open_slice slice;
    uint32_t at = site->first;
    assert(open <= all && all <= site->events);
    t.remote = one_of_others(c, site, local->thread);
    t.events = open;
    account_ordered(c, t, all - open);
    if (t.reason != FT_REASONS) {
        account(c, &t);
        return;
    }
    while (ft_candidates_next_open(c, &stretch, site, &at, &slice))
        for (uint32_t i = slice.first; i < slice.end; i++) with_class(c, t, c->threaded[i]);
}

/* One set of locks is held at all events of a site. */
static void with_site(ft_candidates *c, triplets t, const ft_site *site)
{
    const ft_local_pair_class *local = &c->local_pairs.data[t.local];
    const uint32_t *events = c->pair_events.data + 2 * (size_t)local->first;
    if (!ft_pattern_unserialisable(local->write[0], t.remote_write, local->write[1])) return;
    t.lock = common_span_lock(c->order, events[0], events[1], site->lockset);
    t.reason = t.lock != UINT32_MAX ? FT_REASON_ATOMIC_SECTION : FT_REASONS;
    if (site->count >= FT_MANY_CLASSES) {
        with_many(c, t, site);
        return;
    }
    for (uint32_t i = 0; i < site->count; i++) with_class(c, t, site->first + i);
}

void ft_candidates_match_remotes(ft_candidates *c, ft_check check, size_t first_pair,
                                 uint32_t property)
{
    FT_REQUIRE(first_pair <= c->local_pairs.len && c->pair_events.len % 2 == 0);
    for (size_t i = first_pair; i < c->local_pairs.len; i++) {
        uint32_t v = c->local_pairs.data[i].variable;
        triplets t = {.local = (uint32_t)i, .check = check, .property = property};
        for (uint32_t s = c->variable_sites[v]; s < c->variable_sites[v + 1]; s++) {
            const ft_site *site = &c->sites.data[s];
            t.remote_write = false;
            if (site->mode & FT_MODE_READ) with_site(c, t, site);
            t.remote_write = true;
            if (site->mode & FT_MODE_WRITE) with_site(c, t, site);
        }
    }
    FT_CHECK(ft_candidates_add_up(c, check));
}
