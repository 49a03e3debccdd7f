/* The inside of the analysis of pointers, for the files of this folder alone. */
#ifndef FT_PROGRAM_FLOW_INTERNAL_H
#define FT_PROGRAM_FLOW_INTERNAL_H

#include "base/contract.h"
#include "base/memory.h"
#include "program/flow/pointers.h"

/* Nodes of the analysis are sets of abstract objects: the registers of all functions, the contents
 * of abstract objects, the results of functions, and one for the results of threads. */
struct ft_flow {
    const ft_program *program;
    uint32_t n_functions, n_objects, words;
    FT_VEC(ft_abstract) abstracts;
    uint32_t **made;     /* by function and instruction: its abstract object */
    uint64_t *nodes;     /* sets, `words` each */
    uint32_t *registers; /* by function: its first register's node */
    uint32_t contents, results, joined, n_nodes;
    uint64_t *constants; /* by symbol: the set of it alone */
    ft_graph *graphs;
    ft_effects *effects;
    uint32_t function_words;
    FT_VEC(uint32_t) targets;
    uint32_t **first_target, **n_targets; /* by function and instruction */
    bool changed;
};

void flow_find_effects(ft_flow *flow);
void flow_release_effects(ft_flow *flow);

static inline uint64_t *flow_node(const ft_flow *flow, uint32_t node)
{
    assert(node < flow->n_nodes);
    return flow->nodes + (size_t)node * flow->words;
}

static inline const ft_function *flow_function(const ft_flow *flow, uint32_t f)
{
    assert(f < flow->n_functions);
    return &flow->program->functions.data[f];
}

#endif
