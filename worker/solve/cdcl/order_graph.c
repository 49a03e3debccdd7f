#include "solve/cdcl/order_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"

#define NONE UINT32_MAX

typedef struct edge {
    uint32_t from, to, label;
    uint32_t next_out, next_in;
} edge;

struct ft_order_graph {
    uint32_t n;
    uint32_t *out, *in; /* first edge of each node */
    uint32_t *place;    /* topological order: place of each node */
    uint32_t *came_by;  /* forward search: edge by which a node was reached */
    uint32_t *mark;
    uint32_t stamp;
    FT_VEC(edge) edges;
    FT_VEC(uint32_t) forward, backward, places, labels;
};

ft_order_graph *ft_order_graph_new(uint32_t n)
{
    ft_order_graph *g = ft_calloc(1, sizeof *g);
    size_t bytes = ((size_t)n + 1) * sizeof(uint32_t);
    g->n = n;
    g->out = memset(ft_alloc(bytes), 0xff, bytes);
    g->in = memset(ft_alloc(bytes), 0xff, bytes);
    g->place = ft_alloc(bytes);
    g->came_by = ft_alloc(bytes);
    g->mark = memset(ft_alloc(bytes), 0, bytes);
    for (uint32_t i = 0; i < n; i++) g->place[i] = i;
    return g;
}

void ft_order_graph_free(ft_order_graph *g)
{
    if (!g) return;
    free(g->out);
    free(g->in);
    free(g->place);
    free(g->came_by);
    free(g->mark);
    ft_vec_release(&g->edges);
    ft_vec_release(&g->forward);
    ft_vec_release(&g->backward);
    ft_vec_release(&g->places);
    ft_vec_release(&g->labels);
    free(g);
}

/* Nodes reachable from b whose place is at most a's; true if a is among them. */
static bool search_forward(ft_order_graph *g, uint32_t a, uint32_t b)
{
    uint32_t limit = g->place[a];
    g->forward.len = 0;
    g->stamp++;
    g->mark[b] = g->stamp;
    g->came_by[b] = NONE;
    ft_vec_push(&g->forward, b);
    for (size_t i = 0; i < g->forward.len; i++) {
        uint32_t node = g->forward.data[i];
        if (node == a) return true;
        for (uint32_t e = g->out[node]; e != NONE; e = g->edges.data[e].next_out) {
            uint32_t to = g->edges.data[e].to;
            if (g->mark[to] == g->stamp || g->place[to] > limit) continue;
            g->mark[to] = g->stamp;
            g->came_by[to] = e;
            ft_vec_push(&g->forward, to);
        }
    }
    return false;
}

static void search_backward(ft_order_graph *g, uint32_t a, uint32_t b)
{
    uint32_t limit = g->place[b];
    g->backward.len = 0;
    g->stamp++;
    g->mark[a] = g->stamp;
    ft_vec_push(&g->backward, a);
    for (size_t i = 0; i < g->backward.len; i++) {
        uint32_t node = g->backward.data[i];
        for (uint32_t e = g->in[node]; e != NONE; e = g->edges.data[e].next_in) {
            uint32_t from = g->edges.data[e].from;
            if (g->mark[from] == g->stamp || g->place[from] < limit) continue;
            g->mark[from] = g->stamp;
            ft_vec_push(&g->backward, from);
        }
    }
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* Sorts nodes by place, using a scratch of (place, node) pairs packed into 64 bits. */
static int by_packed_place(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static void sort_by_place(const ft_order_graph *g, uint32_t *nodes, size_t count)
{
    uint64_t small[64], *packed = count <= 64 ? small : ft_alloc(count * sizeof *packed);
    for (size_t i = 0; i < count; i++) packed[i] = (uint64_t)g->place[nodes[i]] << 32 | nodes[i];
    qsort(packed, count, sizeof *packed, by_packed_place);
    for (size_t i = 0; i < count; i++) nodes[i] = (uint32_t)packed[i];
    if (packed != small) free(packed);
}

/* Sorts the nodes that reach a before those that b reaches, in the places that both sets have. */
static void reorder(ft_order_graph *g)
{
    sort_by_place(g, g->backward.data, g->backward.len);
    sort_by_place(g, g->forward.data, g->forward.len);
    assert(g->backward.len > 0 && g->forward.len > 0);
    g->places.len = 0;
    for (size_t i = 0; i < g->backward.len; i++)
        ft_vec_push(&g->places, g->place[g->backward.data[i]]);
    for (size_t i = 0; i < g->forward.len; i++)
        ft_vec_push(&g->places, g->place[g->forward.data[i]]);
    qsort(g->places.data, g->places.len, sizeof *g->places.data, by_number);
    for (size_t i = 0; i < g->backward.len; i++) g->place[g->backward.data[i]] = g->places.data[i];
    for (size_t i = 0; i < g->forward.len; i++)
        g->place[g->forward.data[i]] = g->places.data[g->backward.len + i];
}

static void explain(ft_order_graph *g, uint32_t a)
{
    g->labels.len = 0;
    for (uint32_t e = g->came_by[a]; e != NONE; e = g->came_by[g->edges.data[e].from])
        if (g->edges.data[e].label) ft_vec_push(&g->labels, g->edges.data[e].label);
}

bool ft_order_graph_add(ft_order_graph *g, uint32_t a, uint32_t b, uint32_t label,
                        const uint32_t **labels, uint32_t *count)
{
    FT_REQUIRE(g && a < g->n && b < g->n && labels && count);
    if (g->place[a] > g->place[b] || a == b) {
        if (search_forward(g, a, b)) {
            explain(g, a);
            *labels = g->labels.data;
            *count = (uint32_t)g->labels.len;
            return false;
        }
        search_backward(g, a, b);
        reorder(g);
    }
    assert(g->place[a] < g->place[b]); /* every edge agrees with the places: no cycle */
    ft_vec_push(&g->edges, (edge){a, b, label, g->out[a], g->in[b]});
    g->out[a] = g->in[b] = (uint32_t)g->edges.len - 1;
    return true;
}

uint32_t ft_order_graph_edges(const ft_order_graph *g)
{
    return (uint32_t)g->edges.len;
}

uint32_t ft_order_graph_place(const ft_order_graph *g, uint32_t node)
{
    FT_REQUIRE(node < g->n);
    return g->place[node];
}

void ft_order_graph_undo(ft_order_graph *g, uint32_t edges)
{
    FT_REQUIRE(g && edges <= g->edges.len);
    while (g->edges.len > edges) {
        edge last = g->edges.data[--g->edges.len];
        assert(g->out[last.from] == g->edges.len && g->in[last.to] == g->edges.len);
        g->out[last.from] = last.next_out;
        g->in[last.to] = last.next_in;
    }
}

bool ft_order_graph_is_sound(const ft_order_graph *g)
{
    uint8_t *taken = ft_calloc((size_t)g->n + 1, 1);
    bool sound = true;
    for (uint32_t i = 0; i < g->n && sound; i++) {
        sound = g->place[i] < g->n && !taken[g->place[i]];
        if (sound) taken[g->place[i]] = 1;
    }
    free(taken);
    for (size_t e = 0; e < g->edges.len && sound; e++)
        sound = g->place[g->edges.data[e].from] < g->place[g->edges.data[e].to];
    return sound;
}
