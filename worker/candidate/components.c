#include "candidate/components.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"

/* Nodes are numbered as they are reached; a node's `low` is the least number that it reaches on the
 * stack. Depth-first without recursion, since a chain may be as long as the trace. */
typedef struct walk {
    const uint32_t *first, *to;
    uint32_t *number, *low, *next; /* number 0: not reached; next: its next edge */
    uint32_t *component;           /* UINT32_MAX: none yet */
    FT_VEC(uint32_t) path, stack;
    uint32_t reached, components;
} walk;

static void enter(walk *w, uint32_t node)
{
    w->number[node] = w->low[node] = ++w->reached;
    w->next[node] = w->first[node];
    ft_vec_push(&w->path, node);
    ft_vec_push(&w->stack, node);
}

static void lower(walk *w, uint32_t node, uint32_t to)
{
    if (w->low[node] > to) w->low[node] = to;
}

static void leave(walk *w, uint32_t node)
{
    w->path.len--;
    if (w->path.len) lower(w, w->path.data[w->path.len - 1], w->low[node]);
    if (w->low[node] != w->number[node]) return;
    for (uint32_t member = UINT32_MAX; member != node;) {
        assert(w->stack.len > 0);
        member = w->stack.data[--w->stack.len];
        w->component[member] = w->components;
    }
    w->components++;
}

static void walk_from(walk *w, uint32_t root)
{
    enter(w, root);
    while (w->path.len) {
        uint32_t node = w->path.data[w->path.len - 1];
        if (w->next[node] == w->first[node + 1]) {
            leave(w, node);
            continue;
        }
        uint32_t to = w->to[w->next[node]++];
        if (!w->number[to])
            enter(w, to);
        else if (w->component[to] == UINT32_MAX)
            lower(w, node, w->number[to]);
    }
}

uint32_t *ft_components(uint32_t nodes, const uint32_t *first, const uint32_t *to)
{
    FT_REQUIRE(first && to);
    size_t n = (size_t)nodes + 1;
    walk w = {.first = first,
              .to = to,
              .number = ft_calloc(n, sizeof *w.number),
              .low = ft_calloc(n, sizeof *w.low),
              .next = ft_calloc(n, sizeof *w.next),
              .component = ft_alloc(n * sizeof *w.component)};
    for (uint32_t i = 0; i < nodes; i++) w.component[i] = UINT32_MAX;
    for (uint32_t i = 0; i < nodes; i++)
        if (!w.number[i]) walk_from(&w, i);
    assert(w.reached == nodes && w.stack.len == 0 && w.path.len == 0);
    free(w.number);
    free(w.low);
    free(w.next);
    ft_vec_release(&w.path);
    ft_vec_release(&w.stack);
    return w.component;
}
