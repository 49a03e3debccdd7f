/* The events that each event needs along hard order and tied reads alone, as vector clocks over the
 * whole trace. A claim that these refute does not need a graph of its own. Events of a thread share
 * a row until one of them needs more than the row holds. */
#include <stdlib.h>
#include <string.h>

#include "causality/internal.h"

#define NEEDS_ENTRIES ((size_t)1 << 25)
#define MOST_WRITES                                                                                \
    64 /* of a variable, the first that can be: later ones are needed less often                   \
        */

typedef struct pass {
    ft_causality *c;
    ft_needs *needs;
    uint32_t *current; /* [threads] the row that holds now */
    uint32_t fresh;    /* the row made for the event at hand, UINT32_MAX: none */
} pass;

static uint32_t row_count(const ft_needs *needs)
{
    return (uint32_t)(needs->clocks.len / needs->width);
}

/* Beyond the limit further needs are left out: there are fewer then, but each is right. */
static bool make_fresh(pass *p, uint32_t thread)
{
    ft_needs *needs = p->needs;
    if (p->fresh != UINT32_MAX) return true;
    if (needs->clocks.len + needs->width > NEEDS_ENTRIES) return false;
    ft_vec_reserve(&needs->clocks, needs->clocks.len + needs->width);
    p->fresh = row_count(needs);
    memcpy(needs->clocks.data + needs->clocks.len,
           needs->clocks.data + (size_t)p->current[thread] * needs->width,
           needs->width * sizeof *needs->clocks.data);
    needs->clocks.len += needs->width;
    p->current[thread] = p->fresh;
    return true;
}

uint32_t ft_needs_of(const ft_needs *needs, uint32_t e, uint32_t thread)
{
    assert(needs->row && thread < needs->width);
    return needs->clocks.data[(size_t)needs->row[e] * needs->width + thread];
}

static uint32_t needed(const ft_causality *c, uint32_t e, uint32_t thread)
{
    if (c->trace->thread[e] == thread) return c->order->position[e] + 1;
    return ft_needs_of(&c->needs, e, thread);
}

/* The event at hand, of that thread, needs the first `count` events of the thread `of`. */
static void need_so_many(pass *p, uint32_t thread, uint32_t of, uint32_t count)
{
    if (of == thread ||
        count <= p->needs->clocks.data[(size_t)p->current[thread] * p->needs->width + of])
        return;
    assert(count <= p->c->order->thread_start[of + 1] - p->c->order->thread_start[of]);
    if (make_fresh(p, thread))
        p->needs->clocks.data[(size_t)p->fresh * p->needs->width + of] = count;
}

static void need(pass *p, uint32_t e, uint32_t source)
{
    uint32_t thread = p->c->trace->thread[e];
    if (source == FT_NO_EVENT || source >= e || p->c->trace->thread[source] == thread) return;
    for (uint32_t t = 0; t < p->needs->width; t++)
        if (t != thread) need_so_many(p, thread, t, needed(p->c, source, t));
}

/* While further ties are looked for (ties.c), from the needs of e that are known so far. Where
 * several sources are possible, e needs the events that all of them need. */
static void need_one_of_several(pass *p, uint32_t e, uint32_t i)
{
    uint32_t thread = p->c->trace->thread[e];
    p->needs->row[e] = p->current[thread];
    const uint32_t *least = ft_ties_settle(p->c, e, i);
    for (uint32_t t = 0; least && t < p->needs->width; t++) need_so_many(p, thread, t, least[t]);
}

static void need_sources(pass *p, uint32_t e)
{
    const ft_causality *c = p->c;
    const uint32_t *sources;
    ft_access scratch;
    uint32_t count = ft_order_hard_sources(c->order, e, &sources), source;
    for (uint32_t i = 0; i < count; i++) need(p, e, sources[i]);
    if (c->order->position[e] == 0) need(p, e, c->order->fork_of[c->trace->thread[e]]);
    const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write) continue;
        if (c->tied[accesses[i].variable] && ft_causality_tie(c, e, i, &source))
            need(p, e, source);
        else if (c->ties)
            need_one_of_several(p, e, i);
    }
}

/* From counts at [i + 1] to the places where slices begin; returns how many items there are. */
static size_t sum_up(uint32_t *first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) first[i + 1] += first[i];
    return first[n];
}

/* Items were put in from each slice's beginning, which moved to its end. */
static void move_back(uint32_t *first, uint32_t n)
{
    memmove(first + 1, first, n * sizeof *first);
    first[0] = 0;
}

static void list_blocks(ft_needs *needs, const ft_trace *trace)
{
    uint32_t n = trace->shared.len, *first = ft_calloc((size_t)n + 1, sizeof *first);
    for (uint32_t b = 0; b < trace->blocks.len; b++)
        for (uint32_t i = 0; i < trace->block_cells[b].count; i++)
            first[trace->block_cells[b].variables[i] + 1]++;
    needs->blocks = ft_calloc(sum_up(first, n) + 1, sizeof *needs->blocks);
    for (uint32_t b = 0; b < trace->blocks.len; b++)
        for (uint32_t i = 0; i < trace->block_cells[b].count; i++)
            needs->blocks[first[trace->block_cells[b].variables[i]]++] = b;
    move_back(first, n);
    needs->of_variable = first;
}

static void list_allocs(ft_needs *needs, const ft_trace *trace)
{
    uint32_t n = trace->blocks.len, *first = ft_calloc((size_t)n + 1, sizeof *first);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_ALLOC) first[trace->object[e] + 1]++;
    needs->allocs = ft_calloc(sum_up(first, n) + 1, sizeof *needs->allocs);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_ALLOC) needs->allocs[first[trace->object[e]]++] = e;
    move_back(first, n);
    needs->of_block = first;
}

void ft_needs_find(ft_causality *c)
{
    FT_REQUIRE(!c->needs.row);
    ft_needs *needs = &c->needs;
    uint32_t n = c->trace->n_events;
    needs->width = c->order->n_threads;
    needs->row = ft_calloc((size_t)n + 1, sizeof *needs->row);
    for (uint32_t t = 0; t < needs->width; t++) ft_vec_push(&needs->clocks, 0);
    pass p = {c, needs, ft_calloc((size_t)needs->width + 1, sizeof *p.current), UINT32_MAX};
    for (uint32_t e = 0; e < n; e++) {
        p.fresh = UINT32_MAX;
        need_sources(&p, e);
        needs->row[e] = p.current[c->trace->thread[e]];
    }
    free(p.current);
    FT_CHECK(ft_needs_is_sound(c));
    list_blocks(needs, c->trace);
    list_allocs(needs, c->trace);
}

void ft_needs_release(ft_needs *needs)
{
    free(needs->row);
    ft_vec_release(&needs->clocks);
    free(needs->of_variable);
    free(needs->blocks);
    free(needs->of_block);
    free(needs->allocs);
}

/* Does `root` need e, or is it e? */
static bool is_needed(const ft_causality *c, uint32_t root, uint32_t e)
{
    return root != FT_NO_EVENT && needed(c, root, c->trace->thread[e]) > c->order->position[e];
}

/* The event that has been executed where e is next: the one before it in its thread, or its fork.
 */
static uint32_t before(const ft_causality *c, uint32_t e)
{
    uint32_t previous = ft_order_previous(c->order, e);
    return previous != FT_NO_EVENT ? previous : c->order->fork_of[c->trace->thread[e]];
}

typedef struct allocs {
    const uint32_t *events;
    uint32_t count;
} allocs;

/* Those of the i-th block with the variable; false: it is in no more. */
static bool allocs_of(const ft_needs *needs, uint32_t variable, uint32_t i, allocs *found)
{
    uint32_t at = needs->of_variable[variable] + i;
    if (at >= needs->of_variable[variable + 1]) return false;
    const uint32_t *first = needs->of_block + needs->blocks[at];
    *found = (allocs){needs->allocs + first[0], first[1] - first[0]};
    return true;
}

/* Every alloc of a block with the variable comes before the write, which is executed, if at all. */
static bool is_kept(const ft_causality *c, uint32_t w, uint32_t variable)
{
    allocs found;
    for (uint32_t i = 0; allocs_of(&c->needs, variable, i, &found); i++)
        for (uint32_t k = 0; k < found.count; k++)
            if (!ft_order_before(c->order, found.events[k], w) && !is_needed(c, w, found.events[k]))
                return false;
    return true;
}

/* An event that no write which is kept comes before in the run. */
static uint32_t last_alloc(const ft_needs *needs, uint32_t variable)
{
    allocs found;
    uint32_t last = 0;
    for (uint32_t i = 0; allocs_of(needs, variable, i, &found); i++)
        if (found.count && found.events[found.count - 1] > last)
            last = found.events[found.count - 1];
    return last;
}

bool ft_causality_writes_before(ft_causality *c, const ft_claim *claim, const uint32_t *first,
                                const uint32_t *events)
{
    uint32_t v = claim->variable, looks = MOST_WRITES;
    FT_REQUIRE(first && events);
    if (claim->kind != FT_CLAIM_UNINITIALISED || c->idle) return false;
    if (!c->needs.row) ft_needs_find(c);
    uint32_t root = before(c, claim->events[0]), last = last_alloc(&c->needs, v);
    for (uint32_t i = first[v]; i < first[v + 1] && events[i] < claim->events[0]; i++) {
        if (events[i] < last) continue;
        if (looks-- == 0) break;
        if (is_needed(c, root, events[i]) && is_kept(c, events[i], v)) return true;
    }
    return false;
}

/* ---- swaps that have to succeed -------------------------------------------------------------- */

/* A compare-and-swap of an ATOMICITY claim, and the value that it has to find. */
typedef struct swap {
    const ft_causality *c;
    const ft_claim *claim;
    uint32_t which; /* of the claim's events */
    ft_vid found;
    uint32_t overwrites; /* a write that is executed before the swap; FT_NO_EVENT: none is known */
} swap;

static bool is_other(ft_vid vid, ft_vid found)
{
    return FT_VID_IS_KNOWN(vid) && vid != found;
}

static ft_vid written_by(const ft_causality *c, uint32_t e, uint32_t variable)
{
    return ft_run_vid(c->problem.run, e, ft_run_find_access(c->trace, e, variable, true));
}

/* t_c if it writes, or the write that it has to read from. */
static uint32_t write_before(const ft_causality *c, const ft_claim *claim)
{
    uint32_t e = claim->events[0], source = FT_NO_EVENT;
    if (ft_run_find_access(c->trace, e, claim->variable, true) != UINT32_MAX) return e;
    uint32_t i = ft_run_find_access(c->trace, e, claim->variable, false);
    return i != UINT32_MAX && ft_causality_tie(c, e, i, &source) ? source : FT_NO_EVENT;
}

/* May t_c' find the value that t_r left? An event that reads and writes is executed whole,
 * whichever of its two accesses the claim is about. Where its read departs from the model, the
 * value that it writes is known only of a compare-and-swap. */
static bool may_leave(const swap *s)
{
    const ft_causality *c = s->c;
    uint32_t remote = s->claim->events[1];
    if (ft_run_find_access(c->trace, remote, s->claim->variable, true) == UINT32_MAX) return false;
    if (c->trace->kind[remote] == FT_EVENT_RMW && !ft_trace_compares(c->trace, remote)) return true;
    return !is_other(written_by(c, remote, s->claim->variable), s->found);
}

/* May the swap find the value of the write? */
static bool may_find(const swap *s, uint32_t w)
{
    const ft_causality *c = s->c;
    const uint32_t *events = s->claim->events;
    if (w == events[1]) return s->which == 2 && may_leave(s);
    if (is_needed(c, w, events[2]) || (s->which == 1 && is_needed(c, w, events[1]))) return false;
    if (s->overwrites != FT_NO_EVENT && w != s->overwrites && is_needed(c, s->overwrites, w))
        return false;
    return !is_other(written_by(c, w, s->claim->variable), s->found);
}

static bool misses(const swap *s, const uint32_t *first, const uint32_t *events)
{
    uint32_t v = s->claim->variable;
    bool initial = s->overwrites == FT_NO_EVENT &&
                   !is_other(ft_run_initial_vid(s->c->problem.run, v), s->found);
    if (initial) return false;
    for (uint32_t i = first[v]; i < first[v + 1]; i++)
        if (may_find(s, events[i])) return false;
    return true;
}

/* Members read what they read in the run, or its value, so they write what they wrote there. */
bool ft_causality_swap_misses(ft_causality *c, const ft_claim *claim, const uint32_t *first,
                              const uint32_t *events)
{
    bool as_in_run = c->problem.model == FT_MODEL_OBSERVED || c->problem.model == FT_MODEL_MAXIMAL;
    if (claim->kind != FT_CLAIM_ATOMICITY || !as_in_run || c->idle) return false;
    if (!c->needs.row) ft_needs_find(c);
    swap s = {.c = c, .claim = claim, .overwrites = write_before(c, claim)};
    for (s.which = 1; s.which < 3; s.which++) {
        uint32_t e = claim->events[s.which];
        if (!claim->writes[s.which] || !ft_trace_compares(c->trace, e)) continue;
        s.found =
            ft_run_vid(c->problem.run, e, ft_run_find_access(c->trace, e, claim->variable, false));
        if (FT_VID_IS_KNOWN(s.found) && misses(&s, first, events)) return true;
    }
    return false;
}

bool ft_needs_before(ft_causality *c, uint32_t next, uint32_t e)
{
    if (!c->needs.row) ft_needs_find(c);
    return is_needed(c, before(c, next), e);
}

/* The needs of a member are executed before it. So no member needs a final event, since all members
 * come before it, and t_c does not need t_r, which comes after it. The reads of t_r may depart. */
bool ft_needs_refute(ft_causality *c, const ft_claim *claim, uint32_t members)
{
    uint32_t count = ft_claim_events(claim), roots[FT_CLAIM_MAX_EVENTS] = {0};
    FT_REQUIRE(count <= FT_CLAIM_MAX_EVENTS && members <= count);
    if (!c->needs.row) ft_needs_find(c);
    for (uint32_t i = 0; i < count; i++)
        roots[i] = i == 0 && members > 0 ? claim->events[i] : before(c, claim->events[i]);
    if (members > 1 && is_needed(c, roots[0], claim->events[1])) return true;
    for (uint32_t k = members; k < count; k++)
        for (uint32_t i = 0; i < count; i++)
            if (i != k && is_needed(c, roots[i], claim->events[k])) return true;
    return false;
}
