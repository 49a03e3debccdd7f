/* Order errors: use after free, double free, use before initialisation.
 *
 * A block's frees are paired with its other frees and with the accesses of its variables: those of
 * other threads, and those that come after the free in its own thread. */
#include <stdlib.h>
#include <string.h>

#include "candidate/listed.h"

/* An event of a block. */
typedef struct use {
    uint32_t block, event;
} use;
typedef FT_VEC(use) uses;

typedef struct pass {
    ft_candidates *c;
    uint32_t *block_of;             /* [shared] block of a variable, UINT32_MAX: none */
    uses all;                       /* frees, allocs and accesses, by block, in observed order */
    FT_VEC(uint32_t) frees, allocs; /* of the block at hand */
} pass;

static void find_blocks(pass *p)
{
    const ft_trace *trace = p->c->trace;
    p->block_of = ft_alloc(((size_t)trace->shared.len + 1) * sizeof *p->block_of);
    memset(p->block_of, 0xff, ((size_t)trace->shared.len + 1) * sizeof *p->block_of);
    for (uint32_t b = 0; b < trace->blocks.len; b++)
        for (uint32_t i = 0; i < trace->block_cells[b].count; i++)
            p->block_of[trace->block_cells[b].variables[i]] = b;
}

/* An event that accesses several variables of a block is one use of it. */
static void add_uses(pass *p, uint32_t e)
{
    const ft_trace *trace = p->c->trace;
    if (ft_event_kind_object(trace->kind[e]) == FT_OBJECT_BLOCK) {
        ft_vec_push(&p->all, (use){trace->object[e], e});
        return;
    }
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    size_t first = p->all.len;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = p->block_of[accesses[i].variable];
        bool known = block == UINT32_MAX;
        for (size_t k = first; k < p->all.len && !known; k++) known = p->all.data[k].block == block;
        if (!known) ft_vec_push(&p->all, (use){block, e});
    }
}

static int by_block(const void *a, const void *b)
{
    const use *x = a, *y = b;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* A new allocation that every schedule puts between the two. */
static bool allocated_between(const pass *p, uint32_t f, uint32_t e)
{
    for (size_t i = 0; i < p->allocs.len; i++)
        if (ft_order_before(p->c->order, f, p->allocs.data[i]) &&
            ft_order_before(p->c->order, p->allocs.data[i], e) &&
            ft_order_certain(p->c->trace, p->allocs.data[i], e))
            return true;
    return false;
}

static void pair_up(pass *p, uint32_t f, uint32_t e)
{
    const ft_trace *trace = p->c->trace;
    const ft_order *order = p->c->order;
    if (trace->thread[f] == trace->thread[e] && e <= f) return;
    ft_listed_kind kind =
        trace->kind[e] == FT_EVENT_FREE ? FT_LISTED_DOUBLE_FREE : FT_LISTED_USE_AFTER_FREE;
    bool never = ft_order_before(order, e, f) || allocated_between(p, f, e);
    ft_claim claim = {.kind = FT_CLAIM_AFTER_FREE, .events = {f, e}};
    ft_candidates_list(p->c, kind, &claim, never ? FT_REASON_MUST_HAPPEN_BEFORE : FT_REASONS,
                       UINT32_MAX);
}

static void pair_block(pass *p, const use *list, size_t count)
{
    const ft_trace *trace = p->c->trace;
    p->frees.len = p->allocs.len = 0;
    for (size_t i = 0; i < count; i++) {
        if (trace->kind[list[i].event] == FT_EVENT_FREE) ft_vec_push(&p->frees, list[i].event);
        if (trace->kind[list[i].event] == FT_EVENT_ALLOC) ft_vec_push(&p->allocs, list[i].event);
    }
    for (size_t f = 0; f < p->frees.len; f++)
        for (size_t i = 0; i < count; i++)
            if (trace->kind[list[i].event] != FT_EVENT_ALLOC)
                pair_up(p, p->frees.data[f], list[i].event);
}

static void after_free(ft_candidates *c)
{
    pass p = {.c = c};
    find_blocks(&p);
    for (uint32_t e = 0; e < c->trace->n_events; e++) add_uses(&p, e);
    if (p.all.len) qsort(p.all.data, p.all.len, sizeof *p.all.data, by_block);
    for (size_t i = 0, end; i < p.all.len; i = end) {
        for (end = i; end < p.all.len && p.all.data[end].block == p.all.data[i].block;) end++;
        assert(p.all.data[i].block < c->trace->blocks.len);
        pair_block(&p, p.all.data + i, end - i);
    }
    free(p.block_of);
    ft_vec_release(&p.all);
    ft_vec_release(&p.frees);
    ft_vec_release(&p.allocs);
}

/* If one variable of a block was written outside, all may be: code that fills one member fills the
 * others, and a value that is overwritten before any read leaves no event. */
static void spread_over_blocks(const ft_trace *trace, bool *outside)
{
    for (uint32_t b = 0; b < trace->blocks.len; b++) {
        const ft_block_cells *cells = &trace->block_cells[b];
        bool some = false;
        for (uint32_t i = 0; i < cells->count && !some; i++) some = outside[cells->variables[i]];
        for (uint32_t i = 0; i < cells->count && some; i++) outside[cells->variables[i]] = true;
    }
}

static void mark_block(const ft_block_cells *cells, bool *outside)
{
    for (uint32_t i = 0; i < cells->count; i++) outside[cells->variables[i]] = true;
}

/* The variables that uninstrumented code may have written: those with external writes, and those of
 * memory that is allocated with a content. The writes happened at an unknown time before their
 * events in the trace. */
static bool *written_outside(const ft_trace *trace)
{
    bool *outside = ft_calloc(trace->shared.len + 1, sizeof *outside);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_WRITE && trace->flags[e] & FT_FLAG_SYNTHETIC)
            outside[trace->object[e]] = true;
        else if (trace->kind[e] == FT_EVENT_ALLOC && trace->flags[e] & FT_FLAG_SYNTHETIC)
            mark_block(&trace->block_cells[trace->object[e]], outside);
    spread_over_blocks(trace, outside);
    return outside;
}

/* By variable of a recorded program (it has steps): the thread that allocated its block, + 1; 0: it
 * is in none. */
static uint32_t *makers_of(const ft_trace *trace)
{
    uint32_t *makers = ft_calloc(trace->shared.len + 1, sizeof *makers);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_ALLOC) continue;
        const ft_block_cells *cells = &trace->block_cells[trace->object[e]];
        for (uint32_t i = 0; i < cells->count; i++)
            makers[cells->variables[i]] = trace->thread[e] + 1u;
    }
    return makers;
}

/* The recorder does not always see the first content of a program's memory: stacks of threads and
 * memory that the system maps have one, and uninstrumented code may fill a block that the calling
 * thread has just allocated, before other threads know it. So a value that the allocating thread
 * reads may have been there before another thread's write. Only blocks have an allocating thread.
 */
static bool may_be_filled(const uint32_t *makers, const ft_trace *trace, uint32_t variable,
                          uint32_t read)
{
    return makers && (!makers[variable] || makers[variable] == trace->thread[read] + 1u);
}

/* Reads that in the run came after another thread's write of a variable without initial value. The
 * formats that declare nothing do not say that a variable has none. */
static void uninitialised(ft_candidates *c)
{
    const ft_trace *trace = c->trace;
    if (trace->format == FT_FORMAT_STD || trace->format == FT_FORMAT_LOG) return;
    bool *outside = written_outside(trace);
    uint32_t *makers = trace->hook ? makers_of(trace) : NULL;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        if (trace->kind[e] == FT_EVENT_RMW) continue;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t variable = accesses[i].variable;
            if (accesses[i].write || trace->shared_info[variable].initial != FT_NO_VALUE) continue;
            if (outside[variable] || may_be_filled(makers, trace, variable, e)) continue;
            uint32_t source = ft_run_source(c->run, e, i);
            if (source == FT_NO_EVENT || trace->thread[source] == trace->thread[e]) continue;
            ft_claim claim = {.kind = FT_CLAIM_UNINITIALISED, .events = {e}, .variable = variable};
            /* With blocks, an allocation may come after the source. */
            bool never = trace->blocks.len == 0 && ft_order_before(c->order, source, e) &&
                         ft_order_certain(trace, source, e);
            ft_candidates_list(c, FT_LISTED_UNINITIALISED, &claim,
                               never ? FT_REASON_MUST_HAPPEN_BEFORE : FT_REASONS, UINT32_MAX);
        }
    }
    free(outside);
    free(makers);
    FT_CHECK(ft_candidates_add_up(c, FT_CHECK_ORDER));
}

void ft_candidates_order(ft_candidates *c)
{
    FT_REQUIRE(c->run);
    if (c->trace->blocks.len) after_free(c);
    uninitialised(c);
}
