/* An acyclic graph that grows edge by edge and shrinks in the opposite order.
 *
 * Incremental topological order after Pearce and Kelly (A dynamic topological sort algorithm for
 * directed acyclic graphs, JEA 2007): an edge that agrees with the current order costs nothing, one
 * that does not searches between its two ends only. Nodes are 0 .. n-1, at first in that order. */
#ifndef FT_SOLVE_CDCL_ORDER_GRAPH_H
#define FT_SOLVE_CDCL_ORDER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ft_order_graph ft_order_graph;

ft_order_graph *ft_order_graph_new(uint32_t n_nodes);
void ft_order_graph_free(ft_order_graph *graph); /* accepts NULL */

/* Adds a -> b with a label (0: none). False: it would close a cycle; nothing is added, and *labels
 * and *count are the nonzero labels on the path from b to a, valid until the next call. */
bool ft_order_graph_add(ft_order_graph *graph, uint32_t a, uint32_t b, uint32_t label,
                        const uint32_t **labels, uint32_t *count);
uint32_t ft_order_graph_edges(const ft_order_graph *graph);
/* The node's place in a total order that all edges agree with. */
uint32_t ft_order_graph_place(const ft_order_graph *graph, uint32_t node);
/* Removes the newest edges until `edges` are left; there must be at least as many. */
void ft_order_graph_undo(ft_order_graph *graph, uint32_t edges);
/* The invariant: places are a permutation, and each edge leads to a later place. */
bool ft_order_graph_is_sound(const ft_order_graph *graph);

#endif
