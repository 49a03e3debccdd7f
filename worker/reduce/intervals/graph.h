/* Transaction sequence graphs (Ganai and Wang §4.1): what a propagation walks.
 *
 * The nodes are the boundaries of each thread, ascending. A transaction leads from a boundary to
 * the next one of its thread: from node k to node k + 1. A switch leads from a node to one of
 * another thread, and a transaction follows it. The plain graph (the paper's CCFG), in which each
 * step is a transaction, has the same structure. */
#ifndef FT_INTERVALS_GRAPH_H
#define FT_INTERVALS_GRAPH_H

#include "reduce/intervals/transactions.h"

typedef struct ft_graph_node {
    uint32_t thread, state; /* control state: steps that are done */
    bool is_end;            /* no transaction leads on */
} ft_graph_node;

typedef struct ft_graph {
    const ft_transactions *transactions;
    uint32_t n_nodes, n_transactions, n_switches;
    ft_graph_node *nodes;
    uint32_t *base;         /* [threads + 1] a thread's nodes are base[i] .. base[i + 1] - 1 */
    uint32_t *first_switch; /* [nodes + 1] slices of targets */
    uint32_t *targets;      /* nodes */
} ft_graph;

ft_graph *ft_graph_new(const ft_transactions *transactions);
void ft_graph_free(ft_graph *graph); /* accepts NULL */
/* No switch stays in its thread, leaves a start or leads to an end. */
bool ft_graph_is_sound(const ft_graph *graph);
/* "3a", "Ja": the step that is next, and the thread. */
void ft_graph_print_node(const ft_graph *graph, uint32_t node, ft_strbuf *out);

#endif
