/* The classes of a site that the hard order leaves open to a stretch of another thread. Programs
 * with barriers or work queues have a class for each segment in between: thousands of one site.
 * Along a thread the classes before the stretch are the first, and those after it the last. */
#include <stdlib.h>

#include "candidate/candidate.h"

typedef struct entry {
    uint32_t class;
    uint16_t thread;
} entry;

/* Classes of one thread are in the order of their segments as they are. */
static int by_thread(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

static void index_site(ft_candidates *c, const ft_site *site, entry *entries)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < site->count; i++)
        entries[i] = (entry){site->first + i, c->classes.data[site->first + i].thread};
    qsort(entries, site->count, sizeof *entries, by_thread);
    for (uint32_t i = 0; i < site->count; i++) {
        events += c->classes.data[entries[i].class].count;
        c->threaded[site->first + i] = entries[i].class;
        c->threaded_events[site->first + i] = events;
    }
    assert(events == site->events);
}

void ft_candidates_index_classes(ft_candidates *c)
{
    uint32_t most = 0;
    for (size_t s = 0; s < c->sites.len; s++)
        if (c->sites.data[s].count > most) most = c->sites.data[s].count;
    if (most < FT_MANY_CLASSES) return;
    entry *entries = ft_alloc(most * sizeof *entries);
    c->threaded = ft_alloc(c->classes.len * sizeof *c->threaded);
    c->threaded_events = ft_alloc(c->classes.len * sizeof *c->threaded_events);
    for (size_t s = 0; s < c->sites.len; s++)
        if (c->sites.data[s].count >= FT_MANY_CLASSES) index_site(c, &c->sites.data[s], entries);
    free(entries);
}

static const ft_class *class_at(const ft_candidates *c, uint32_t at)
{
    return &c->classes.data[c->threaded[at]];
}

typedef bool (*is_past)(const ft_candidates *c, const ft_segments *stretch, const ft_class *class);

static bool is_of_later_thread(const ft_candidates *c, const ft_segments *s, const ft_class *class)
{
    (void)c;
    return class->thread > s->thread;
}

static bool is_not_before(const ft_candidates *c, const ft_segments *s, const ft_class *class)
{
    return !ft_order_segments_before(c->order, class->segment, s->first);
}

static bool is_behind(const ft_candidates *c, const ft_segments *s, const ft_class *class)
{
    return ft_order_segments_before(c->order, s->last, class->segment);
}

/* The first place in [low, high) whose class is past the stretch; `high`: none. */
static uint32_t first_past(const ft_candidates *c, const ft_segments *s, is_past past, uint32_t low,
                           uint32_t high)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (past(c, s, class_at(c, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* All classes of the next other thread. */
static bool next_thread(const ft_candidates *c, const ft_segments *s, const ft_site *site,
                        uint32_t *at, ft_open_slice *slice)
{
    uint32_t end = site->first + site->count;
    while (*at < end) {
        ft_segments of = {.thread = class_at(c, *at)->thread};
        *slice = (ft_open_slice){*at, first_past(c, &of, is_of_later_thread, *at, end)};
        *at = slice->end;
        if (of.thread != s->thread) return true;
    }
    return false;
}

bool ft_candidates_next_open(const ft_candidates *c, const ft_segments *s, const ft_site *site,
                             uint32_t *at, ft_open_slice *slice)
{
    FT_REQUIRE(c->threaded && site->count >= FT_MANY_CLASSES && *at >= site->first);
    FT_REQUIRE(s->first <= s->last);
    while (next_thread(c, s, site, at, slice)) {
        slice->first = first_past(c, s, is_not_before, slice->first, slice->end);
        slice->end = first_past(c, s, is_behind, slice->first, slice->end);
        if (slice->first < slice->end) return true;
    }
    return false;
}

static uint64_t slice_events(const ft_candidates *c, const ft_site *site, ft_open_slice slice)
{
    assert(slice.first < slice.end && slice.end <= site->first + site->count);
    uint64_t before = slice.first > site->first ? c->threaded_events[slice.first - 1] : 0;
    return c->threaded_events[slice.end - 1] - before;
}

typedef bool (*next_slice)(const ft_candidates *c, const ft_segments *s, const ft_site *site,
                           uint32_t *at, ft_open_slice *slice);

static uint64_t sum_events(const ft_candidates *c, const ft_segments *s, const ft_site *site,
                           next_slice next)
{
    ft_open_slice slice;
    uint64_t events = 0;
    for (uint32_t at = site->first; next(c, s, site, &at, &slice);)
        events += slice_events(c, site, slice);
    return events;
}

uint64_t ft_candidates_open_events(const ft_candidates *c, const ft_segments *s,
                                   const ft_site *site)
{
    return sum_events(c, s, site, ft_candidates_next_open);
}

uint64_t ft_candidates_other_events(const ft_candidates *c, const ft_segments *s,
                                    const ft_site *site)
{
    return sum_events(c, s, site, next_thread);
}
