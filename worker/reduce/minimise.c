#include "reduce/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "encode/decide.h"

typedef struct pass {
    const ft_order *order;
    const ft_trace *trace;
    ft_checker *checker;
    ft_witness *best;
    ft_witness trial; /* steps: same capacity as best's */
    double deadline;
    bool timed_out;
} pass;

static bool holds(pass *p)
{
    if (ft_now_ms() > p->deadline) {
        p->timed_out = true;
        return false;
    }
    ft_error err = FT_ERROR_INIT;
    return ft_checker_check(p->checker, &p->trial, NULL, &err) == FT_OK;
}

static void keep(pass *p)
{
    uint32_t *steps = p->best->steps;
    p->best->steps = p->trial.steps;
    p->best->n_steps = p->trial.n_steps;
    p->trial.steps = steps;
}

/* ---- dropping members -------------------------------------------------------------------------
 */

/* The trial without the last `drop` steps of the thread. */
static void without_tail(pass *p, uint32_t thread, uint32_t steps_of_thread, uint32_t drop)
{
    uint32_t kept = 0, seen = 0;
    for (uint32_t i = 0; i < p->best->n_steps; i++) {
        uint32_t e = p->best->steps[i];
        if (p->trace->thread[e] == thread && seen++ >= steps_of_thread - drop) continue;
        p->trial.steps[kept++] = e;
    }
    p->trial.n_steps = kept;
}

static uint32_t count_steps(const pass *p, uint32_t thread)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->best->n_steps; i++)
        count += p->trace->thread[p->best->steps[i]] == thread;
    return count;
}

/* Drops as much of the thread's tail as stays a witness; large cuts first, single events last. */
static bool shorten_thread(pass *p, uint32_t thread)
{
    bool shortened = false;
    uint32_t count = count_steps(p, thread);
    for (uint32_t drop = count; drop > 0 && !p->timed_out;) {
        without_tail(p, thread, count, drop);
        if (holds(p)) {
            keep(p);
            shortened = true;
            count -= drop;
            if (drop > count) drop = count;
        } else {
            drop = drop > 1 ? drop / 2 : 0;
        }
    }
    return shortened;
}

static void drop_members(pass *p)
{
    bool again = true;
    while (again && !p->timed_out) {
        again = false;
        for (uint32_t t = p->order->n_threads; t-- > 0 && !p->timed_out;)
            again |= shorten_thread(p, t);
    }
}

/* ---- fewer context switches ---------------------------------------------------------------------
 */

/* Steps that must keep their order: program order, hard order, conflicting accesses, operations on
 * one lock or semaphore. Any other order of them is as good a witness. */
typedef struct graph {
    uint32_t n;
    FT_VEC(uint32_t) edges; /* from, to (indices of steps) */
    uint32_t *first, *targets, *waiting;
    uint32_t *index_of; /* event -> step index + 1 */
} graph;

static void edge(graph *g, uint32_t from, uint32_t to)
{
    if (from == UINT32_MAX || from == to) return;
    ft_vec_push(&g->edges, from);
    ft_vec_push(&g->edges, to);
}

typedef struct cell {
    uint32_t last_write;
    FT_VEC(uint32_t) readers;
} cell;

static void access_edges(graph *g, cell *c, uint32_t step, bool write)
{
    edge(g, c->last_write, step);
    if (!write) {
        ft_vec_push(&c->readers, step);
        return;
    }
    for (size_t i = 0; i < c->readers.len; i++) edge(g, c->readers.data[i], step);
    c->readers.len = 0;
    c->last_write = step;
}

static cell *cell_of(cell *cells, const ft_trace *trace, uint32_t e)
{
    if (trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_RELEASE)
        return &cells[trace->shared.len + trace->object[e]];
    if (trace->kind[e] == FT_EVENT_WAIT || trace->kind[e] == FT_EVENT_POST)
        return &cells[trace->shared.len + trace->locks.len + trace->object[e]];
    return NULL;
}

static void step_edges(graph *g, const pass *p, cell *cells, uint32_t *last_of_thread,
                       uint32_t step)
{
    uint32_t e = p->best->steps[step], sources[2], count;
    edge(g, last_of_thread[p->trace->thread[e]], step);
    last_of_thread[p->trace->thread[e]] = step;
    count = ft_order_hard_sources(p->order, e, sources);
    for (uint32_t i = 0; i < count; i++)
        if (g->index_of[sources[i]]) edge(g, g->index_of[sources[i]] - 1, step);
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(p->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        access_edges(g, &cells[accesses[i].variable], step, accesses[i].write);
    cell *c = cell_of(cells, p->trace, e);
    if (c) access_edges(g, c, step, true);
}

static void index_edges(graph *g)
{
    g->first = ft_calloc((size_t)g->n + 2, sizeof *g->first);
    g->waiting = ft_calloc((size_t)g->n + 1, sizeof *g->waiting);
    g->targets = ft_alloc((g->edges.len / 2 + 1) * sizeof *g->targets);
    for (size_t i = 0; i < g->edges.len; i += 2) {
        g->first[g->edges.data[i] + 2]++;
        g->waiting[g->edges.data[i + 1]]++;
    }
    for (uint32_t i = 0; i < g->n; i++) g->first[i + 2] += g->first[i + 1];
    for (size_t i = 0; i < g->edges.len; i += 2)
        g->targets[g->first[g->edges.data[i] + 1]++] = g->edges.data[i + 1];
}

static void graph_build(graph *g, const pass *p)
{
    size_t n_cells = (size_t)p->trace->shared.len + p->trace->locks.len + p->trace->semaphores.len;
    cell *cells = ft_calloc(n_cells + 1, sizeof *cells);
    uint32_t *last = ft_alloc(((size_t)p->order->n_threads + 1) * sizeof *last);
    memset(last, 0xff, ((size_t)p->order->n_threads + 1) * sizeof *last);
    for (size_t i = 0; i < n_cells; i++) cells[i].last_write = UINT32_MAX;
    *g = (graph){.n = p->best->n_steps};
    g->index_of = ft_calloc(p->trace->n_events, sizeof *g->index_of);
    for (uint32_t i = 0; i < g->n; i++) {
        g->index_of[p->best->steps[i]] = i + 1;
        step_edges(g, p, cells, last, i);
    }
    for (size_t i = 0; i < n_cells; i++) ft_vec_release(&cells[i].readers);
    free(cells);
    free(last);
    index_edges(g);
}

static void graph_release(graph *g)
{
    ft_vec_release(&g->edges);
    free(g->first);
    free(g->targets);
    free(g->waiting);
    free(g->index_of);
}

/* Runs one thread for as long as it can go, then the thread whose next step comes first. */
static void run_long(pass *p, graph *g)
{
    FT_VEC(uint32_t) ready = {0};
    uint32_t thread = UINT32_MAX;
    p->trial.n_steps = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->waiting[i] == 0) ft_vec_push(&ready, i);
    while (ready.len > 0) {
        size_t pick = 0;
        for (size_t i = 0; i < ready.len; i++) {
            if (p->trace->thread[p->best->steps[ready.data[i]]] == thread) {
                pick = i;
                break;
            }
            if (ready.data[i] < ready.data[pick]) pick = i;
        }
        uint32_t step = ready.data[pick];
        ready.data[pick] = ready.data[--ready.len];
        thread = p->trace->thread[p->best->steps[step]];
        p->trial.steps[p->trial.n_steps++] = p->best->steps[step];
        for (uint32_t i = g->first[step]; i < g->first[step + 1]; i++)
            if (--g->waiting[g->targets[i]] == 0) ft_vec_push(&ready, g->targets[i]);
    }
    ft_vec_release(&ready);
}

static void relinearise(pass *p)
{
    graph g;
    graph_build(&g, p);
    run_long(p, &g);
    graph_release(&g);
    if (p->trial.n_steps == p->best->n_steps &&
        ft_witness_switches(p->trace, &p->trial) < ft_witness_switches(p->trace, p->best) &&
        holds(p))
        keep(p);
}

void ft_minimise(const ft_order *order, ft_checker *checker, ft_witness *witness, double budget_ms,
                 ft_minimised *result)
{
    pass p = {.order = order,
              .trace = order->trace,
              .checker = checker,
              .best = witness,
              .trial = *witness,
              .deadline = ft_now_ms() + budget_ms};
    result->members_before = witness->n_steps;
    result->switches_before = ft_witness_switches(p.trace, witness);
    p.trial.steps = ft_alloc(((size_t)witness->n_steps + 1) * sizeof *p.trial.steps);
    drop_members(&p);
    relinearise(&p);
    free(p.trial.steps);
    result->members = witness->n_steps;
    result->switches = ft_witness_switches(p.trace, witness);
    result->complete = !p.timed_out;
}
