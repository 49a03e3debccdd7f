/* Ties a read to one of several writes of its value, where the needs of events (needs.c) rule out
 * all others. Where several writes remain, the read needs at least the events that each of them
 * needs.
 *
 * Ruled out are
 *  - a write that needs the read: it comes later;
 *  - a write that is overwritten before the read: an overwriting write needs it, and the read needs
 *    the overwriting write;
 *  - where the read's critical section read a value that another section overwrites (a clue): every
 *    write that needs the overwriting one, since that section comes later.
 *
 * In programs that repeat rounds (a barrier's counter of arrivals, the head of a ring) this leaves
 * the write of the read's own round, if anything else tells the round; and each read that is tied
 * helps to tie the next. */
#include <stdlib.h>

#include "causality/internal.h"

enum { CLUES = 4, SECTION_EVENTS = 64, ROUNDS = 4 };
#define MOST_WORK ((uint64_t)100 * 1000 * 1000)

typedef struct put {
    uint32_t variable, thread, position, event;
    ft_vid vid;
} put;

/* Puts by variable, thread and position, those by value by variable, value, thread and position. */
struct ft_ties {
    FT_VEC(put) all, by_value;
    ft_map first;            /* variable -> its first in `all` */
    ft_map first_of;         /* variable << 32 | value -> its first in by_value */
    ft_needs before;         /* of the round before, of all events */
    FT_VEC(uint32_t) firsts; /* of the read at hand: the first write that is left of each thread */
    uint32_t *least;         /* [threads] events that all of these need */
    uint64_t work;
};

/* Puts of one thread, or of one variable and thread. */
typedef struct run {
    const put *at;
    size_t n;
} run;

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_thread(const void *left, const void *right)
{
    const put *a = left, *b = right;
    int order = compare(a->variable, b->variable);
    if (!order) order = compare(a->thread, b->thread);
    return order ? order : compare(a->position, b->position);
}

static int by_value(const void *left, const void *right)
{
    const put *a = left, *b = right;
    int order = compare(a->variable, b->variable);
    if (!order) order = compare(a->vid, b->vid);
    return order ? order : by_thread(left, right);
}

static void list_puts(const ft_causality *c, struct ft_ties *ties)
{
    ft_access scratch;
    uint32_t count;
    for (uint32_t e = 0; e < c->trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (!accesses[i].write) continue;
            put p = {accesses[i].variable, c->trace->thread[e], c->order->position[e], e,
                     ft_run_vid(c->run, e, i)};
            ft_vec_push(&ties->all, p);
            if (ft_causality_has_several_writers(c, p.variable, p.vid))
                ft_vec_push(&ties->by_value, p);
        }
    }
}

static void sort_puts(struct ft_ties *ties)
{
    size_t n = ties->all.len, m = ties->by_value.len;
    if (n) qsort(ties->all.data, n, sizeof(put), by_thread);
    if (m) qsort(ties->by_value.data, m, sizeof(put), by_value);
    for (size_t i = n; i-- > 0;) ft_map_put(&ties->first, ties->all.data[i].variable, i);
    for (size_t i = m; i-- > 0;) {
        const put *p = &ties->by_value.data[i];
        ft_map_put(&ties->first_of, (uint64_t)p->variable << 32 | p->vid, i);
    }
}

/* Those of the thread of the first one, which are of one variable, and where `valued` one value. */
static run run_at(const put *at, const put *end, bool valued)
{
    size_t low = 1, high = (size_t)(end - at);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const put *p = &at[middle];
        if (p->variable == at->variable && p->thread == at->thread &&
            (!valued || p->vid == at->vid))
            low = middle + 1;
        else
            high = middle;
    }
    return (run){at, low};
}

/* How many of them are before the position. */
static size_t count_before(run r, uint32_t position)
{
    size_t low = 0, high = r.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r.at[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many of the thread's events are before the read: its own, or those that it needs. */
static uint32_t behind(const ft_causality *c, uint32_t e, uint32_t thread)
{
    return c->trace->thread[e] == thread ? c->order->position[e]
                                         : ft_needs_of(&c->needs, e, thread);
}

/* Of each thread the last write before the read: it overwrote every write that it needs. */
static uint32_t overwritten(const ft_causality *c, struct ft_ties *ties, uint32_t e,
                            uint32_t variable, uint32_t thread, bool *any)
{
    uint64_t first;
    uint32_t most = 0;
    if (!ft_map_get(&ties->first, variable, &first)) return 0;
    const put *at = ties->all.data + first, *end = ties->all.data + ties->all.len;
    for (run r; at < end && at->variable == variable; at += r.n, ties->work++) {
        r = run_at(at, end, false);
        size_t n = count_before(r, behind(c, e, at->thread));
        if (!n) continue;
        *any = true;
        const put *last = &r.at[n - 1];
        uint32_t needs =
            last->thread == thread ? last->position : ft_needs_of(&c->needs, last->event, thread);
        if (needs > most) most = needs;
    }
    return most;
}

/* ---- clues ----------------------------------------------------------------------------------- */

/* Before the event, its section read the variable from that source. */
typedef struct clue {
    const ft_section *section;
    uint32_t variable, source;
} clue;

typedef struct clues {
    clue all[CLUES];
    uint32_t n;
} clues;

static void add_clues(const ft_causality *c, uint32_t r, const ft_section *section, clues *found)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(c->trace, r, &scratch, &count);
    for (uint32_t i = 0; i < count && found->n < CLUES; i++) {
        clue one = {section, accesses[i].variable, FT_NO_EVENT};
        if (!accesses[i].write && ft_causality_tie(c, r, i, &one.source))
            found->all[found->n++] = one;
    }
}

static clues clues_at(const ft_causality *c, uint32_t e)
{
    const ft_order *order = c->order;
    ft_hold hold = order->holds.data[order->hold[e]];
    clues found = {.n = 0};
    const uint32_t *events = order->thread_events + order->thread_start[c->trace->thread[e]];
    for (uint32_t i = 0; i < hold.count; i++) {
        const ft_section *s = &order->sections.data[order->hold_sections.data[hold.first + i]];
        uint32_t end = order->position[e], at = order->position[s->acquire];
        if (end - at > SECTION_EVENTS) at = end - SECTION_EVENTS;
        for (; at < end && found.n < CLUES; at++) add_clues(c, events[at], s, &found);
    }
    return found;
}

/* Does the write come behind the source of what was read, in another section of the lock? */
static bool overwrites(const ft_causality *c, const struct ft_ties *ties, const put *w,
                       const clue *seen)
{
    uint32_t source = seen->source;
    uint32_t section = ft_order_section_at(c->order, w->event, seen->section->lock);
    if (section == FT_NO_SECTION || w->event == source) return false;
    if (!ft_order_conflict(&c->order->sections.data[section], seen->section)) return false;
    if (source == FT_NO_EVENT) return true;
    if (w->thread == c->trace->thread[source]) return w->position > c->order->position[source];
    return ft_needs_of(&ties->before, w->event, c->trace->thread[source]) >
           c->order->position[source];
}

/* The position of the write's thread at which its section of the lock ends. */
static uint32_t end_of(const ft_causality *c, const put *w, uint32_t lock)
{
    uint32_t section = ft_order_section_at(c->order, w->event, lock);
    uint32_t release =
        section == FT_NO_SECTION ? FT_NO_EVENT : c->order->sections.data[section].release;
    return release == FT_NO_EVENT ? w->position + 1 : c->order->position[release];
}

/* Do the needs of the write, or its own section, overwrite the value that was read? */
static bool is_later(const ft_causality *c, struct ft_ties *ties, const put *w, const clue *seen)
{
    uint64_t first;
    if (!ft_map_get(&ties->first, seen->variable, &first)) return false;
    const put *at = ties->all.data + first, *end = ties->all.data + ties->all.len;
    for (run r; at < end && at->variable == seen->variable; at += r.n, ties->work++) {
        r = run_at(at, end, false);
        if (at->thread == seen->section->thread) continue;
        uint32_t until = at->thread == w->thread ? end_of(c, w, seen->section->lock)
                                                 : ft_needs_of(&ties->before, w->event, at->thread);
        size_t n = count_before(r, until);
        if (n && overwrites(c, ties, &r.at[n - 1], seen)) return true;
    }
    return false;
}

/* Does it come behind the read, wherever both are executed? */
static bool is_behind(const ft_causality *c, struct ft_ties *ties, const put *w, uint32_t e,
                      const clues *seen)
{
    if (ft_needs_of(&ties->before, w->event, c->trace->thread[e]) > c->order->position[e])
        return true;
    for (uint32_t i = 0; i < seen->n; i++)
        if (is_later(c, ties, w, &seen->all[i])) return true;
    return false;
}

/* How many of the run are before one that comes behind the read. */
static size_t count_until(const ft_causality *c, struct ft_ties *ties, run r, uint32_t e,
                          const clues *seen)
{
    size_t low = 0, high = r.n;
    if (r.at->thread == c->trace->thread[e]) return count_before(r, c->order->position[e]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_behind(c, ties, &r.at[middle], e, seen))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* The writes that a read may still return, of each thread the first one. */
typedef struct left_over {
    size_t n; /* of all threads, the initial value one of them */
    uint32_t one;
    bool initial;
} left_over;

static void find_left(const ft_causality *c, struct ft_ties *ties, uint32_t e, const put *at,
                      left_over *left)
{
    const put *end = ties->by_value.data + ties->by_value.len;
    uint32_t variable = at->variable;
    ft_vid vid = at->vid;
    clues seen = clues_at(c, e);
    bool any = false;
    ties->firsts.len = 0;
    for (run r; at < end && at->variable == variable && at->vid == vid; at += r.n) {
        r = run_at(at, end, true);
        size_t from = count_before(r, overwritten(c, ties, e, variable, at->thread, &any)),
               to = count_until(c, ties, r, e, &seen);
        if (from >= to) continue;
        assert(to <= r.n && r.at[from].vid == vid);
        left->n += to - from;
        left->one = r.at[from].event;
        ft_vec_push(&ties->firsts, left->one);
    }
    left->initial = ft_run_initial_vid(c->run, variable) == vid && !any;
    if (!left->initial) return;
    left->n++;
    left->one = FT_NO_EVENT;
}

/* How many events of the thread a write needs, itself included, as far as it is known by now. */
static uint32_t needed_by(const ft_causality *c, const struct ft_ties *ties, uint32_t e,
                          uint32_t write, uint32_t thread)
{
    if (c->trace->thread[write] == thread) return c->order->position[write] + 1;
    return ft_needs_of(write < e ? &c->needs : &ties->before, write, thread);
}

/* The events that all of `firsts` need; later writes of a thread need no fewer. */
static void find_least(const ft_causality *c, struct ft_ties *ties, uint32_t e)
{
    for (uint32_t t = 0; t < c->needs.width; t++) {
        uint32_t least = UINT32_MAX;
        for (size_t i = 0; i < ties->firsts.len; i++) {
            uint32_t needed = needed_by(c, ties, e, ties->firsts.data[i], t);
            if (needed < least) least = needed;
        }
        assert(least != UINT32_MAX); /* at least one write remains */
        ties->least[t] = least;
    }
    ties->work += c->needs.width * ties->firsts.len;
}

const uint32_t *ft_ties_settle(ft_causality *c, uint32_t e, uint32_t i)
{
    struct ft_ties *ties = c->ties;
    FT_REQUIRE(ties && e < c->trace->n_events);
    ft_access scratch;
    uint32_t count;
    uint64_t first;
    left_over left = {0};
    uint32_t variable = ft_trace_accesses(c->trace, e, &scratch, &count)[i].variable;
    uint64_t key = (uint64_t)variable << 32 | ft_run_vid(c->run, e, i);
    if (ft_problem_demand(&c->problem, e, i) != FT_DEMAND_VALUE || ties->work > MOST_WORK ||
        !ft_map_get(&ties->first_of, key, &first))
        return NULL;
    find_left(c, ties, e, ties->by_value.data + first, &left);
    if (left.n == 1) ft_map_put(&c->settled, (uint64_t)e << 32 | i, left.one);
    if (left.initial || !left.n) return NULL;
    find_least(c, ties, e);
    return ties->least;
}

static void look_again(ft_causality *c, struct ft_ties *ties)
{
    ft_needs_release(&ties->before);
    ties->before = c->needs;
    c->needs = (ft_needs){0};
    ft_needs_find(c);
}

void ft_ties_find(ft_causality *c)
{
    struct ft_ties ties = {0};
    list_puts(c, &ties);
    if (ties.by_value.len) {
        sort_puts(&ties);
        ft_needs_find(c);
        ties.least = ft_calloc((size_t)c->needs.width + 1, sizeof *ties.least);
        c->ties = &ties;
        for (int round = 0; round < ROUNDS; round++) {
            size_t settled = c->settled.len;
            look_again(c, &ties);
            if (round > 0 && c->settled.len == settled) break;
        }
        c->ties = NULL;
        /* Claims are refuted by ties that have edges in the graph: those have an explanation. */
        ft_needs_release(&c->needs);
        c->needs = (ft_needs){0};
        ft_needs_release(&ties.before);
    }
    free(ties.least);
    ft_vec_release(&ties.firsts);
    ft_vec_release(&ties.all);
    ft_vec_release(&ties.by_value);
    ft_map_release(&ties.first);
    ft_map_release(&ties.first_of);
}
