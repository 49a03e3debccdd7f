#include "oracle/explore.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* No padding inside, so this much of a state is its identity. */
#define STATE_BYTES (offsetof(ft_state, maybe) + sizeof(uint8_t))
#define MAX_STATES  (4u << 20)

static size_t slot_of(const ft_exploration *set, const ft_state *state)
{
    size_t at = ft_hash_bytes(state, STATE_BYTES, 7) & (set->cap - 1);
    while (set->slots[at] &&
           memcmp(&set->nodes.data[set->slots[at] - 1].state, state, STATE_BYTES) != 0)
        at = (at + 1) & (set->cap - 1);
    return at;
}

static void grow(ft_exploration *set)
{
    set->cap = set->cap ? 2 * set->cap : 256;
    free(set->slots);
    set->slots = ft_calloc(set->cap, sizeof *set->slots);
    for (size_t i = 0; i < set->nodes.len; i++)
        set->slots[slot_of(set, &set->nodes.data[i].state)] = (uint32_t)(i + 1);
}

static bool insert(ft_exploration *set, const ft_node *node)
{
    if (2 * (set->nodes.len + 1) > set->cap) grow(set);
    size_t at = slot_of(set, &node->state);
    if (set->slots[at]) return false;
    assert(set->nodes.len < MAX_STATES);
    ft_vec_push(&set->nodes, *node);
    set->slots[at] = (uint32_t)set->nodes.len;
    return true;
}

typedef struct search {
    const ft_machine *machine;
    const ft_monitor *monitor;
    bool switches;
    ft_exploration set;
    FT_VEC(ft_node) later; /* one context switch on */
} search;

static void expand(search *s, uint32_t from)
{
    ft_node current = s->set.nodes.data[from];
    for (uint32_t t = 0; t < s->machine->n_threads; t++) {
        ft_state next[FT_MACHINE_BRANCHES];
        uint32_t count = ft_machine_step(s->machine, s->monitor, &current.state, t, next);
        bool away = s->switches && current.state.last && current.state.last != t + 1;
        for (uint32_t k = 0; k < count; k++) {
            uint8_t event = s->machine->events[t][current.state.pos[t]];
            ft_node node = {next[k], from, event, (uint8_t)(current.level + away)};
            if (s->switches) node.state.last = (uint8_t)(t + 1);
            if (away)
                ft_vec_push(&s->later, node);
            else
                insert(&s->set, &node);
        }
    }
}

/* Level by level (a breadth-first search with edges of weight 0 and 1): within a level only steps
 * of the same thread are followed. */
uint64_t ft_explore(const ft_machine *machine, const ft_monitor *monitor, bool switches,
                    ft_visit visit, void *context)
{
    search s = {.machine = machine, .monitor = monitor, .switches = switches};
    ft_node start = {.parent = 0};
    ft_machine_start(machine, &start.state);
    insert(&s.set, &start);
    for (size_t i = 0; i < s.set.nodes.len;) {
        for (; i < s.set.nodes.len; i++) {
            visit(context, &s.set, (uint32_t)i);
            expand(&s, (uint32_t)i);
        }
        for (size_t k = 0; k < s.later.len; k++) insert(&s.set, &s.later.data[k]);
        s.later.len = 0;
    }
    uint64_t visited = s.set.nodes.len;
    ft_vec_release(&s.set.nodes);
    ft_vec_release(&s.later);
    free(s.set.slots);
    return visited;
}

uint32_t ft_explore_path(const ft_exploration *exploration, uint32_t node, uint8_t *events)
{
    uint32_t n = 0;
    for (uint32_t at = node; at != 0; at = exploration->nodes.data[at].parent) n++;
    for (uint32_t at = node, i = n; at != 0; at = exploration->nodes.data[at].parent)
        events[--i] = exploration->nodes.data[at].event;
    return n;
}
