#include "program/flow/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

const ft_target *ft_block_targets(const ft_function *f, uint32_t block, uint32_t *n)
{
    const ft_block *b = &f->blocks.data[block];
    *n = 0;
    if (!b->n_instructions) return NULL;
    const ft_instruction *last = &f->instructions.data[b->instructions + b->n_instructions - 1];
    *n = last->n_targets;
    return *n ? &f->targets.data[last->targets] : NULL;
}

static uint64_t *row(uint64_t *rows, const ft_graph *g, uint32_t block)
{
    return rows + (size_t)block * g->words;
}

static const uint64_t *row_of(const uint64_t *rows, const ft_graph *g, uint32_t block)
{
    return rows + (size_t)block * g->words;
}

/* Backwards, since most edges lead to later blocks. */
static void find_after(ft_graph *g, const ft_function *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = g->n; b-- > 0;) {
            uint32_t n;
            const ft_target *targets = ft_block_targets(f, b, &n);
            for (uint32_t i = 0; i < n; i++) {
                changed |= ft_bits_add(row(g->after, g, b), targets[i].block);
                changed |=
                    ft_bits_join(row(g->after, g, b), row(g->after, g, targets[i].block), g->words);
            }
        }
    }
}

/* ---- postdominators ---- */

/* Marks the blocks from which a path leads to the end. */
static void find_ending(const ft_graph *g, const ft_function *f, const bool *edge, bool *ends)
{
    for (uint32_t b = 0; b < g->n; b++) {
        uint32_t n;
        (void)ft_block_targets(f, b, &n);
        ends[b] = !n || edge[b];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = g->n; b-- > 0;) {
            uint32_t n;
            const ft_target *targets = ft_block_targets(f, b, &n);
            for (uint32_t i = 0; i < n && !ends[b]; i++)
                if (ends[targets[i].block]) changed = ends[b] = true;
        }
    }
}

/* edge: the blocks that get an edge to the end. */
static void give_edges(const ft_graph *g, const ft_function *f, bool *edge)
{
    bool *ends = ft_calloc(g->n, sizeof *ends);
    for (;;) {
        uint32_t b = g->n;
        find_ending(g, f, edge, ends);
        while (b > 0 && ends[b - 1]) b--;
        if (!b) break;
        edge[b - 1] = true;
    }
    free(ends);
}

static bool narrow(ft_graph *g, const ft_function *f, const bool *edge, uint32_t b)
{
    uint32_t n;
    bool changed = false;
    const ft_target *targets = ft_block_targets(f, b, &n);
    uint64_t *mine = row(g->postdominate, g, b);
    for (uint32_t w = 0; w < g->words; w++) {
        uint64_t all = n && !edge[b] ? UINT64_MAX : 0;
        for (uint32_t i = 0; i < n && all; i++) all &= row(g->postdominate, g, targets[i].block)[w];
        if (w == b / 64) all |= UINT64_C(1) << b % 64;
        changed |= (mine[w] & all) != mine[w];
        mine[w] &= all;
    }
    return changed;
}

static uint32_t count(const uint64_t *bits, uint32_t words)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++) n += (uint32_t)__builtin_popcountll(bits[w]);
    return n;
}

/* Of the strict postdominators, which are a chain, the nearest has the most of its own. */
static uint32_t nearest(const ft_graph *g, uint32_t b)
{
    uint32_t best = FT_NO_BLOCK, most = 0;
    const uint64_t *mine = row_of(g->postdominate, g, b);
    for (uint32_t c = 0; c < g->n; c++) {
        uint32_t many = count(row_of(g->postdominate, g, c), g->words);
        if (c == b || !ft_bits_has(mine, c) || many <= most) continue;
        best = c;
        most = many;
    }
    return best;
}

static void find_postdominators(ft_graph *g, const ft_function *f)
{
    bool *edge = ft_calloc(g->n, sizeof *edge);
    give_edges(g, f, edge);
    memset(g->postdominate, 0xff, (size_t)g->n * g->words * sizeof *g->postdominate);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = g->n; b-- > 0;) changed |= narrow(g, f, edge, b);
    }
    for (uint32_t b = 0; b < g->n; b++) g->join[b] = nearest(g, b);
    free(edge);
}

void ft_graph_init(ft_graph *graph, const ft_function *function)
{
    FT_REQUIRE(graph && function && function->blocks.len);
    graph->n = (uint32_t)function->blocks.len;
    graph->words = ft_bits_words(graph->n);
    graph->after = ft_calloc((size_t)graph->n * graph->words, sizeof *graph->after);
    graph->postdominate = ft_calloc((size_t)graph->n * graph->words, sizeof *graph->after);
    graph->join = ft_calloc(graph->n, sizeof *graph->join);
    ft_dominators_init(&graph->dominators, function);
    find_after(graph, function);
    find_postdominators(graph, function);
}

void ft_graph_release(ft_graph *graph)
{
    free(graph->after);
    free(graph->postdominate);
    free(graph->join);
    ft_dominators_release(&graph->dominators);
}

/* ---- questions ---- */

bool ft_graph_leads(const ft_graph *graph, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a < graph->n && b < graph->n);
    return ft_bits_has(row_of(graph->after, graph, a), b);
}

bool ft_graph_postdominates(const ft_graph *graph, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a < graph->n && b < graph->n);
    return ft_bits_has(row_of(graph->postdominate, graph, b), a);
}

/* Ferrante, Ottenstein, Warren: The Program Dependence Graph, definition 3. */
bool ft_graph_controls(const ft_graph *graph, const ft_function *function, uint32_t branch,
                       uint32_t block)
{
    uint32_t n;
    const ft_target *targets = ft_block_targets(function, branch, &n);
    if (block != branch && ft_graph_postdominates(graph, block, branch)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (ft_graph_postdominates(graph, block, targets[i].block)) return n > 1;
    return false;
}

void ft_graph_side(const ft_graph *graph, const ft_function *function, uint32_t branch,
                   uint32_t target, uint64_t *side)
{
    FT_VEC(uint32_t) open = {0};
    uint32_t stop = graph->join[branch];
    memset(side, 0, graph->words * sizeof *side);
    if (target != stop && ft_bits_add(side, target)) ft_vec_push(&open, target);
    while (open.len) {
        uint32_t n, b = open.data[--open.len];
        const ft_target *targets = ft_block_targets(function, b, &n);
        for (uint32_t i = 0; i < n; i++)
            if (targets[i].block != stop && ft_bits_add(side, targets[i].block))
                ft_vec_push(&open, targets[i].block);
    }
    ft_vec_release(&open);
}

bool ft_graph_is_back(const ft_graph *graph, uint32_t a, uint32_t b)
{
    return ft_dominates(&graph->dominators, b, a);
}

/* Does an edge lead from a to b? */
static bool has_edge(const ft_function *function, uint32_t a, uint32_t b)
{
    uint32_t n;
    const ft_target *targets = ft_block_targets(function, a, &n);
    for (uint32_t i = 0; i < n; i++)
        if (targets[i].block == b) return true;
    return false;
}

bool ft_graph_loop(const ft_graph *graph, const ft_function *function, uint32_t head,
                   uint64_t *blocks)
{
    bool found = false;
    memset(blocks, 0, graph->words * sizeof *blocks);
    if (!ft_is_reached(&graph->dominators, head)) return false;
    ft_bits_add(blocks, head);
    for (uint32_t a = 0; a < graph->n; a++)
        if (ft_is_reached(&graph->dominators, a) && has_edge(function, a, head) &&
            ft_graph_is_back(graph, a, head)) {
            ft_bits_add(blocks, a);
            found = true;
        }
    for (bool changed = found; changed;) {
        changed = false;
        for (uint32_t b = 0; b < graph->n; b++) {
            uint32_t n;
            const ft_target *targets = ft_block_targets(function, b, &n);
            if (!ft_is_reached(&graph->dominators, b)) continue;
            for (uint32_t i = 0; i < n; i++)
                if (targets[i].block != head && ft_bits_has(blocks, targets[i].block))
                    changed |= ft_bits_add(blocks, b);
        }
    }
    return found;
}
