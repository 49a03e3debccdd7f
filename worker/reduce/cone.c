#include "reduce/cone.h"

#include <stdlib.h>
#include <string.h>

#include "reduce/intervals/intervals.h"

typedef struct pass {
    const ft_problem *p;
    uint32_t *frontier, *done, *limit; /* per thread */
    FT_VEC(uint32_t) dirty;
    uint32_t *writer_first, *writers; /* by variable */
    uint32_t *post_first, *posts;     /* by semaphore */
} pass;

/* Events by object: slices first[object] .. first[object + 1] of the result. */
static uint32_t *index_posts(const ft_trace *trace, uint32_t **first)
{
    uint32_t n = trace->semaphores.len, total = 0;
    *first = ft_calloc((size_t)n + 2, sizeof **first);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_POST) (*first)[trace->object[e] + 2]++, total++;
    for (uint32_t s = 0; s < n; s++) (*first)[s + 2] += (*first)[s + 1];
    uint32_t *posts = ft_alloc(((size_t)total + 1) * sizeof *posts);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_POST) posts[(*first)[trace->object[e] + 1]++] = e;
    return posts;
}

static uint32_t *index_writers(const ft_trace *trace, uint32_t **first)
{
    uint32_t n = trace->shared.len, total = 0, count;
    ft_access scratch;
    *first = ft_calloc((size_t)n + 2, sizeof **first);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write) (*first)[accesses[i].variable + 2]++, total++;
    }
    for (uint32_t v = 0; v < n; v++) (*first)[v + 2] += (*first)[v + 1];
    uint32_t *writers = ft_alloc(((size_t)total + 1) * sizeof *writers);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write) writers[(*first)[accesses[i].variable + 1]++] = e;
    }
    return writers;
}

static void include(pass *c, uint32_t e)
{
    uint32_t thread = c->p->trace->thread[e], want = c->p->order->position[e] + 1;
    if (want > c->limit[thread]) return; /* never a member, nor its successors */
    if (c->frontier[thread] >= want) return;
    if (c->done[thread] == c->frontier[thread]) ft_vec_push(&c->dirty, thread);
    c->frontier[thread] = want;
}

/* Events from `final` on, and what comes after it in the hard order, are no members. */
static void cut_after(pass *c, uint32_t final)
{
    const ft_order *order = c->p->order;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        uint32_t low = 0, high = order->thread_start[t + 1] - order->thread_start[t];
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            uint32_t e = order->thread_events[order->thread_start[t] + middle];
            if (e == final || ft_order_before(order, final, e))
                high = middle;
            else
                low = middle + 1;
        }
        if (low < c->limit[t]) c->limit[t] = low;
    }
}

static void include_writer(pass *c, uint32_t e, uint32_t w)
{
    if (w != e && !ft_order_before(c->p->order, e, w)) include(c, w);
}

/* demand: the model's demand holds for the read. Of a read that is tied, the variable's other
 * writes are not visited: there may be as many as the trace has events. */
static void include_writers(pass *c, uint32_t e, uint32_t access, uint32_t variable, bool demand)
{
    if (demand && ft_problem_demand(c->p, e, access) == FT_DEMAND_SOURCE) {
        uint32_t source = ft_run_source(c->p->run, e, access);
        if (source != FT_NO_EVENT) include_writer(c, e, source);
        return;
    }
    for (uint32_t i = c->writer_first[variable]; i < c->writer_first[variable + 1]; i++) {
        uint32_t w = c->writers[i];
        if (!demand || ft_intervals_may_read(c->p, e, access, w)) include_writer(c, e, w);
    }
}

/* The signals that may wake the cond-wake. */
static void include_signals(pass *c, uint32_t e)
{
    const ft_order *order = c->p->order;
    uint32_t condition = c->p->trace->object[e], wait = ft_order_wake(order, e)->wait;
    const uint32_t *first = order->sync.condition_first;
    if (wait == FT_NO_EVENT || (c->p->trace->flags[e] & FT_FLAG_FAILED)) return;
    for (uint32_t i = first[condition]; i < first[condition + 1]; i++) {
        uint32_t s = order->sync.signals[i];
        if (!ft_order_before(order, s, wait) && !ft_order_before(order, e, s)) include(c, s);
    }
}

/* The sections that may make the attempt fail. */
static void include_holders(pass *c, uint32_t e)
{
    const ft_order *order = c->p->order;
    uint32_t lock = c->p->trace->object[e];
    for (uint32_t i = order->lock_first[lock]; i < order->lock_first[lock + 1]; i++) {
        const ft_section *section = &order->sections.data[order->lock_sections[i]];
        if (section->thread != c->p->trace->thread[e] &&
            !ft_order_before(order, e, section->acquire))
            include(c, section->acquire);
    }
}

/* `own`: e is an event of the claim, and the model does not bind its reads. */
static void need(pass *c, uint32_t e, bool own)
{
    const ft_trace *trace = c->p->trace;
    const ft_order *order = c->p->order;
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(order, e, &sources), n_accesses;
    for (uint32_t i = 0; i < count; i++) include(c, sources[i]);
    uint32_t awaited = own ? ft_order_awaited(order, e) : FT_NO_EVENT;
    if (awaited != FT_NO_EVENT) include(c, awaited);
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &n_accesses);
    for (uint32_t i = 0; i < n_accesses; i++)
        if (!accesses[i].write && c->p->model != FT_MODEL_CONTROL &&
            !(own && !ft_trace_is_symbolic_event(trace, e) && !ft_trace_compares(trace, e)) &&
            ft_slice_needs(c->p->slice, e, accesses[i].variable))
            include_writers(c, e, i, accesses[i].variable, !own);
    if (order->section_of[e] != FT_NO_SECTION) {
        const ft_section *all = order->sections.data, *s = &all[order->section_of[e]];
        for (; s; s = ft_section_otherwise(all, s))
            if (s->release != FT_NO_EVENT) include(c, s->release);
    }
    if (trace->kind[e] == FT_EVENT_COND_WAKE) include_signals(c, e);
    if (trace->kind[e] == FT_EVENT_TRY_FAILED || trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED)
        include_holders(c, e);
    if (trace->kind[e] != FT_EVENT_WAIT) return;
    uint32_t semaphore = trace->object[e];
    for (uint32_t i = c->post_first[semaphore]; i < c->post_first[semaphore + 1]; i++)
        if (!ft_order_before(order, e, c->posts[i])) include(c, c->posts[i]);
}

/* An alloc makes the variable's earlier writes harmless. */
static void include_allocs(pass *c, uint32_t variable)
{
    const ft_trace *trace = c->p->trace;
    for (uint32_t e = 0; trace->blocks.len && e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_ALLOC) continue;
        ft_block_cells cells = trace->block_cells[trace->object[e]];
        for (uint32_t i = 0; i < cells.count; i++)
            if (cells.variables[i] == variable) include(c, e);
    }
}

/* Every thread has to come to a stop: all of its events may matter. */
static void include_all(pass *c)
{
    const ft_order *order = c->p->order;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        uint32_t count = order->thread_start[t + 1] - order->thread_start[t];
        if (count > c->limit[t]) count = c->limit[t];
        if (count) include(c, order->thread_events[order->thread_start[t] + count - 1]);
    }
}

static void include_condition(pass *c, const ft_claim *claim);

static void start(pass *c, const ft_claim *claim)
{
    for (uint32_t i = ft_claim_first_final(claim->kind); i < ft_claim_events(claim); i++)
        cut_after(c, claim->events[i]);
    for (uint32_t i = 0; i < ft_claim_events(claim); i++) {
        uint32_t e = claim->events[i], previous = ft_order_previous(c->p->order, e);
        if (previous != FT_NO_EVENT) include(c, previous);
        need(c, e, true);
        /* t_c, and t_r, which may be a member; a free */
        if (i < ft_claim_first_final(claim->kind)) include(c, e);
    }
    if (claim->kind == FT_CLAIM_UNINITIALISED) include_allocs(c, claim->variable);
    if (claim->kind == FT_CLAIM_STUCK) include_all(c);
    include_condition(c, claim);
}

typedef struct condition_reader {
    pass *c;
    uint32_t e;
} condition_reader;

static void include_symbol(void *context, ft_symbol symbol)
{
    condition_reader *reader = context;
    if (!FT_SYM_IS_LOCAL(symbol)) include_writers(reader->c, reader->e, 0, symbol, false);
}

static void include_condition(pass *c, const ft_claim *claim)
{
    condition_reader reader = {c, claim->events[0]};
    if (claim->kind == FT_CLAIM_CONDITION)
        ft_term_symbols(c->p->trace->terms, claim->condition, include_symbol, &reader);
}

static void close_cone(pass *c)
{
    const ft_order *order = c->p->order;
    while (c->dirty.len > 0) {
        uint32_t t = c->dirty.data[--c->dirty.len];
        const uint32_t *events = order->thread_events + order->thread_start[t];
        assert(c->frontier[t] <= order->thread_start[t + 1] - order->thread_start[t]);
        while (c->done[t] < c->frontier[t]) need(c, events[c->done[t]++], false);
    }
}

static bool is_inside(const pass *c, uint32_t e)
{
    return c->p->order->position[e] < c->frontier[c->p->trace->thread[e]];
}

/* May the event be a member? Where it may not, the cone need not hold it. */
static bool is_allowed(const pass *c, uint32_t e)
{
    return c->p->order->position[e] < c->limit[c->p->trace->thread[e]];
}

/* Members have their hard sources inside, and entered sections their releases; nothing beyond a
 * thread's limit is a member. */
static bool is_closed(const pass *c)
{
    const ft_order *order = c->p->order;
    for (uint32_t e = 0; e < c->p->trace->n_events; e++) {
        const uint32_t *sources;
        if (!is_inside(c, e)) continue;
        if (!is_allowed(c, e)) return false;
        uint32_t count = ft_order_hard_sources(order, e, &sources);
        for (uint32_t i = 0; i < count; i++)
            if (is_allowed(c, sources[i]) && !is_inside(c, sources[i])) return false;
        if (order->section_of[e] == FT_NO_SECTION) continue;
        uint32_t release = order->sections.data[order->section_of[e]].release;
        if (release != FT_NO_EVENT && is_allowed(c, release) && !is_inside(c, release))
            return false;
    }
    return true;
}

/* No final event of the claim is a member; the events before it in its thread are, unless another
 * final event keeps them out. */
static bool has_finals_outside(const pass *c, const ft_claim *claim, const uint8_t *cone)
{
    for (uint32_t i = ft_claim_first_final(claim->kind); i < ft_claim_events(claim); i++) {
        uint32_t previous = ft_order_previous(c->p->order, claim->events[i]);
        if (cone[claim->events[i]]) return false;
        if (previous != FT_NO_EVENT && is_allowed(c, previous) && !cone[previous]) return false;
    }
    return true;
}

uint32_t ft_cone_compute(const ft_problem *problem, const ft_claim *claim, uint8_t *cone)
{
    FT_REQUIRE(problem && claim && cone);
    FT_CHECK(ft_claim_is_sound(problem->trace, claim));
    const ft_order *order = problem->order;
    uint32_t threads = order->n_threads, total = 0;
    pass c = {.p = problem,
              .frontier = ft_calloc(threads, sizeof *c.frontier),
              .done = ft_calloc(threads, sizeof *c.done),
              .limit = ft_alloc(threads * sizeof *c.limit)};
    memset(c.limit, 0xff, threads * sizeof *c.limit);
    c.writers = index_writers(problem->trace, &c.writer_first);
    c.posts = index_posts(problem->trace, &c.post_first);
    start(&c, claim);
    close_cone(&c);
    memset(cone, 0, problem->trace->n_events);
    for (uint32_t t = 0; t < threads; t++) {
        total += c.frontier[t];
        for (uint32_t i = 0; i < c.frontier[t]; i++)
            cone[order->thread_events[order->thread_start[t] + i]] = 1;
    }
    assert(total <= problem->trace->n_events);
    FT_CHECK(is_closed(&c) && has_finals_outside(&c, claim, cone));
    free(c.frontier);
    free(c.done);
    free(c.limit);
    free(c.writer_first);
    free(c.writers);
    free(c.post_first);
    free(c.posts);
    ft_vec_release(&c.dirty);
    return total;
}
