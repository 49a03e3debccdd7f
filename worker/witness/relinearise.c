#include "witness/relinearise.h"

#include <stdlib.h>
#include <string.h>

/* A step waits for earlier accesses of a cell: a read for the writes before it, a write for all
 * accesses before it. */
typedef struct need {
    uint32_t cell, before;
    bool write;
} need;

typedef struct cell {
    uint32_t accesses, writes;
} cell;

typedef struct pass {
    const ft_order *order;
    const ft_trace *trace;
    const uint32_t *steps;
    uint32_t count;
    uint32_t base[FT_OBJECT_CLASSES]; /* first cell of the class's objects */
    uint32_t n_cells;
    cell *cells;
    uint32_t *first; /* [count + 1] slices of needs */
    FT_VEC(need) needs;
    uint32_t *start; /* [threads + 1] slices of queue */
    uint32_t *queue; /* steps by thread */
    uint32_t *done;  /* per thread: steps executed */
    FT_VEC(uint32_t) live;
} pass;

static void number_cells(pass *p)
{
    const ft_trace *trace = p->trace;
    const uint32_t sizes[FT_OBJECT_CLASSES] = {[FT_OBJECT_VARIABLE] = trace->shared.len,
                                               [FT_OBJECT_LOCK] = trace->locks.len,
                                               [FT_OBJECT_SEMAPHORE] = trace->semaphores.len,
                                               [FT_OBJECT_CONDITION] = trace->conditions.len,
                                               [FT_OBJECT_BARRIER] = trace->barriers.len,
                                               [FT_OBJECT_ONCE] = trace->onces.len};
    for (int c = 0; c < FT_OBJECT_CLASSES; c++) {
        p->base[c] = p->n_cells;
        p->n_cells += sizes[c];
    }
    p->cells = ft_calloc((size_t)p->n_cells + 1, sizeof *p->cells);
}

static void add_need(pass *p, uint32_t at, bool write)
{
    assert(at < p->n_cells);
    const cell *c = &p->cells[at];
    ft_vec_push(&p->needs, ((need){at, write ? c->accesses : c->writes, write}));
}

/* An event may access one cell twice, and a block may have a million cells. The event's own
 * accesses count only after all of its needs are listed, so that they never wait for each other. */
static void perform(pass *p, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        cell *c = &p->cells[p->needs.data[i].cell];
        c->accesses++;
        c->writes += p->needs.data[i].write;
    }
}

static void add_needs(pass *p, uint32_t e)
{
    const ft_trace *trace = p->trace;
    ft_object_class class = ft_event_kind_object((ft_event_kind)trace->kind[e]);
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        add_need(p, p->base[FT_OBJECT_VARIABLE] + accesses[i].variable, accesses[i].write);
    if (class == FT_OBJECT_BLOCK) {
        const ft_block_cells *block = &trace->block_cells[trace->object[e]];
        for (uint32_t i = 0; i < block->count; i++)
            add_need(p, p->base[FT_OBJECT_VARIABLE] + block->variables[i], true);
    }
    if (class == FT_OBJECT_LOCK || class == FT_OBJECT_SEMAPHORE || class == FT_OBJECT_CONDITION ||
        class == FT_OBJECT_BARRIER || class == FT_OBJECT_ONCE)
        add_need(p, p->base[class] + trace->object[e], true);
}

static void index_steps(pass *p)
{
    uint32_t threads = p->order->n_threads;
    p->first = ft_alloc(((size_t)p->count + 1) * sizeof *p->first);
    p->start = ft_calloc((size_t)threads + 2, sizeof *p->start);
    p->queue = ft_alloc(((size_t)p->count + 1) * sizeof *p->queue);
    p->done = ft_calloc((size_t)threads + 1, sizeof *p->done);
    for (uint32_t i = 0; i < p->count; i++) {
        p->first[i] = (uint32_t)p->needs.len;
        p->start[p->trace->thread[p->steps[i]] + 2]++;
        add_needs(p, p->steps[i]);
        perform(p, p->first[i], (uint32_t)p->needs.len);
    }
    p->first[p->count] = (uint32_t)p->needs.len;
    for (uint32_t t = 0; t < threads; t++) p->start[t + 2] += p->start[t + 1];
    for (uint32_t i = 0; i < p->count; i++)
        p->queue[p->start[p->trace->thread[p->steps[i]] + 1]++] = i;
    for (uint32_t t = 0; t < threads; t++)
        if (p->start[t] < p->start[t + 1]) ft_vec_push(&p->live, t);
    assert(threads == 0 || p->start[threads] == p->count);
    memset(p->cells, 0, p->n_cells * sizeof *p->cells);
}

static bool is_ready(const pass *p, uint32_t step)
{
    for (uint32_t i = p->first[step]; i < p->first[step + 1]; i++) {
        need n = p->needs.data[i];
        const cell *c = &p->cells[n.cell];
        if ((n.write ? c->accesses : c->writes) != n.before) return false;
    }
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(p->order, p->steps[step], &sources);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = p->trace->thread[sources[i]], at = p->order->position[sources[i]];
        if (p->start[t] + p->done[t] == p->start[t + 1]) continue;
        if (p->order->position[p->steps[p->queue[p->start[t] + p->done[t]]]] <= at) return false;
    }
    return true;
}

static uint32_t head(const pass *p, uint32_t thread)
{
    return p->queue[p->start[thread] + p->done[thread]];
}

/* The thread with steps left whose next step came first among those that can go. */
static uint32_t pick(const pass *p)
{
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < p->live.len; i++) {
        uint32_t t = p->live.data[i];
        if ((best == UINT32_MAX || head(p, t) < head(p, best)) && is_ready(p, head(p, t))) best = t;
    }
    return best;
}

static bool is_over(const pass *p, uint32_t thread)
{
    return p->start[thread] + p->done[thread] == p->start[thread + 1];
}

static void execute(pass *p, uint32_t thread, uint32_t *out)
{
    assert(!is_over(p, thread));
    uint32_t step = head(p, thread);
    assert(step < p->count && p->trace->thread[p->steps[step]] == thread);
    *out = p->steps[step];
    perform(p, p->first[step], p->first[step + 1]);
    p->done[thread]++;
    for (size_t i = 0; is_over(p, thread) && i < p->live.len; i++)
        if (p->live.data[i] == thread) p->live.data[i] = p->live.data[--p->live.len];
}

static uint32_t run_long(pass *p, uint32_t *out)
{
    uint32_t thread = UINT32_MAX, n = 0;
    while (n < p->count) {
        if (thread == UINT32_MAX || is_over(p, thread) || !is_ready(p, head(p, thread)))
            thread = pick(p);
        if (thread == UINT32_MAX) break;
        execute(p, thread, &out[n++]);
    }
    return n;
}

/* The same steps, each once, and each thread's in their order. */
static bool is_permutation(const pass *p, const uint32_t *out)
{
    uint32_t *at = ft_calloc((size_t)p->order->n_threads + 1, sizeof *at);
    bool same = true;
    for (uint32_t i = 0; i < p->count && same; i++) {
        uint32_t t = p->trace->thread[out[i]], place = p->start[t] + at[t]++;
        same = place < p->start[t + 1] && p->steps[p->queue[place]] == out[i];
    }
    free(at);
    return same;
}

void ft_relinearise(const ft_order *order, const uint32_t *steps, uint32_t count, uint32_t *out)
{
    FT_REQUIRE(order && (count == 0 || (steps && out && steps != out)));
    pass p = {.order = order, .trace = order->trace, .steps = steps, .count = count};
    number_cells(&p);
    index_steps(&p);
    /* The first step left can always be executed, unless the steps were not a schedule. */
    if (run_long(&p, out) < count && count) memcpy(out, steps, count * sizeof *out);
    FT_CHECK(is_permutation(&p, out));
    free(p.cells);
    free(p.first);
    free(p.start);
    free(p.queue);
    free(p.done);
    ft_vec_release(&p.needs);
    ft_vec_release(&p.live);
}
