/* Disjoint sets of numbers (union-find, Tarjan 1975), as an array of parents: the members of a set
 * have the same root, and a root is its own parent. */
#ifndef FT_BASE_PARTITION_H
#define FT_BASE_PARTITION_H

#include "base/memory.h"

/* The numbers 0 to n - 1, each in a set of its own. Heap; the caller frees it. */
static inline uint32_t *ft_partition_new(uint32_t n)
{
    uint32_t *parents = ft_alloc(((size_t)n + 1) * sizeof *parents);
    for (uint32_t i = 0; i < n; i++) parents[i] = i;
    return parents;
}

static inline uint32_t ft_partition_root(uint32_t *parents, uint32_t member)
{
    while (parents[member] != member) member = parents[member] = parents[parents[member]];
    return member;
}

static inline void ft_partition_join(uint32_t *parents, uint32_t a, uint32_t b)
{
    parents[ft_partition_root(parents, a)] = ft_partition_root(parents, b);
}

#endif
