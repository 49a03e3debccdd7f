/* The control flow of one function by its blocks: which blocks follow which, where the sides of a
 * branch come together, and which blocks depend on it.
 *
 * Paths end at a virtual end behind each block that has no target (a return, an exit, a failure). A
 * block from which no path leads there gets an edge to it, the last such block first, so that every
 * block has a postdominator. A callee that does not return is not seen here: pointers.h has
 * ft_flow_may_end for it.
 *
 * Imports: base, program. */
#ifndef FT_PROGRAM_FLOW_GRAPH_H
#define FT_PROGRAM_FLOW_GRAPH_H

#include "program/dominators.h"
#include "program/flow/bits.h"

typedef struct ft_graph {
    uint32_t n, words;      /* blocks; words of a set of blocks */
    uint64_t *after;        /* n sets: the blocks to which one or more edges lead */
    uint64_t *postdominate; /* n sets: the blocks on each path from the block to the end, with it */
    uint32_t *join;         /* by block: its immediate postdominator; FT_NO_BLOCK: the end */
    ft_dominators dominators;
} ft_graph;

void ft_graph_init(ft_graph *graph, const ft_function *function);
void ft_graph_release(ft_graph *graph);

/* The targets of the block's last instruction, n of them; a block may occur twice. */
const ft_target *ft_block_targets(const ft_function *function, uint32_t block, uint32_t *n);
/* Does a path of at least one edge lead from a to b? a = b: is the block in a circle? */
bool ft_graph_leads(const ft_graph *graph, uint32_t a, uint32_t b);
bool ft_graph_postdominates(const ft_graph *graph, uint32_t a,
                            uint32_t b); /* a, of b; also a = b */
/* Does whether the block is executed depend on how the branch at the end of `branch` goes? */
bool ft_graph_controls(const ft_graph *graph, const ft_function *function, uint32_t branch,
                       uint32_t block);
/* The blocks of the side of `branch` that begins at `target`: those before the branch's immediate
 * postdominator. `side` has graph->words words, which are overwritten. */
void ft_graph_side(const ft_graph *graph, const ft_function *function, uint32_t branch,
                   uint32_t target, uint64_t *side);
/* Is the edge from a to b the back edge of a natural loop: does b dominate a? Both are reached. */
bool ft_graph_is_back(const ft_graph *graph, uint32_t a, uint32_t b);
/* The blocks of the natural loops with that head; false: it is not a head. */
bool ft_graph_loop(const ft_graph *graph, const ft_function *function, uint32_t head,
                   uint64_t *blocks);

#endif
