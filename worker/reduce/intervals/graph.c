#include "reduce/intervals/graph.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"

static uint32_t node_at(const ft_graph *g, uint32_t thread, uint32_t state)
{
    uint32_t low = g->base[thread], high = g->base[thread + 1];
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->nodes[middle].state <= state)
            low = middle;
        else
            high = middle;
    }
    assert(g->nodes[low].state == state); /* switches lie between boundaries */
    return low;
}

static void add_nodes(ft_graph *g)
{
    const ft_transactions *t = g->transactions;
    uint32_t n = t->steps->n_threads;
    g->base = ft_calloc((size_t)n + 1, sizeof *g->base);
    for (uint32_t i = 0; i < n; i++) g->base[i + 1] = g->base[i] + t->n_boundaries[i];
    g->n_nodes = g->base[n];
    g->n_transactions = g->n_nodes - n;
    g->nodes = ft_calloc((size_t)g->n_nodes + 1, sizeof *g->nodes);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < t->n_boundaries[i]; k++)
            g->nodes[g->base[i] + k] =
                (ft_graph_node){i, t->boundaries[i][k], k + 1 == t->n_boundaries[i]};
}

/* The switches are sorted by where they start. */
static void add_switches(ft_graph *g)
{
    const ft_transactions *t = g->transactions;
    g->n_switches = (uint32_t)t->switches.len;
    g->first_switch = ft_calloc((size_t)g->n_nodes + 1, sizeof *g->first_switch);
    g->targets = ft_calloc((size_t)g->n_switches + 1, sizeof *g->targets);
    for (uint32_t k = 0; k < g->n_switches; k++) {
        const ft_switch *s = &t->switches.data[k];
        g->first_switch[node_at(g, s->from, s->from_state) + 1]++;
        g->targets[k] = node_at(g, s->to, s->to_state);
    }
    for (uint32_t v = 0; v < g->n_nodes; v++) g->first_switch[v + 1] += g->first_switch[v];
}

ft_graph *ft_graph_new(const ft_transactions *transactions)
{
    FT_REQUIRE(transactions);
    ft_graph *g = ft_calloc(1, sizeof *g);
    g->transactions = transactions;
    add_nodes(g);
    add_switches(g);
    FT_CHECK(ft_graph_is_sound(g));
    return g;
}

void ft_graph_free(ft_graph *g)
{
    if (!g) return;
    free(g->nodes);
    free(g->base);
    free(g->first_switch);
    free(g->targets);
    free(g);
}

bool ft_graph_is_sound(const ft_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t k = g->first_switch[v]; k < g->first_switch[v + 1]; k++) {
            const ft_graph_node *to = &g->nodes[g->targets[k]];
            if (to->thread == g->nodes[v].thread || to->is_end) return false;
            if (g->nodes[v].state == 0) return false;
        }
    return true;
}

void ft_graph_print_node(const ft_graph *g, uint32_t node, ft_strbuf *out)
{
    FT_REQUIRE(node < g->n_nodes);
    const ft_stepping *s = g->transactions->steps;
    const ft_graph_node *v = &g->nodes[node];
    const char *name = ft_trace_thread_name(s->problem->trace, s->threads[v->thread].thread);
    if (v->is_end)
        ft_strbuf_printf(out, "J%s", name);
    else
        ft_strbuf_printf(out, "%u%s", v->state + 1, name);
}
