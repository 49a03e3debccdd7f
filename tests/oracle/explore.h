/* Every reachable state of a machine, each visited once. Private to the oracle. */
#ifndef FT_TEST_EXPLORE_H
#define FT_TEST_EXPLORE_H

#include "oracle/state.h"

/* A reached state: where it was reached from, and by which event. */
typedef struct ft_node {
    ft_state state;
    uint32_t parent; /* node; its own number at the start */
    uint8_t event, level;
} ft_node;

typedef struct ft_exploration {
    FT_VEC(ft_node) nodes; /* in order of discovery */
    uint32_t *slots;       /* hash: node + 1, 0: free */
    size_t cap;            /* a power of two */
} ft_exploration;

/* Visits every state that steps reach from the initial one, itself included; returns how many.
 * switches: states are told apart by the thread of their last step (state.last) and visited by
 * context switches so far (the node's level), fewest first; else the levels are all 0. */
typedef void (*ft_visit)(void *context, const ft_exploration *exploration, uint32_t node);
uint64_t ft_explore(const ft_machine *machine, const ft_monitor *monitor, bool switches,
                    ft_visit visit, void *context);
/* The events that lead to a node, in order; returns how many. */
uint32_t ft_explore_path(const ft_exploration *exploration, uint32_t node, uint8_t *events);

#endif
