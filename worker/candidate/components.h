/* Strongly connected components: which nodes of a graph are on a cycle together. */
#ifndef FT_CANDIDATE_COMPONENTS_H
#define FT_CANDIDATE_COMPONENTS_H

#include <stdint.h>

/* By node, the number of its component; the caller's to free. The edges of node n go to
 * to[first[n]] .. to[first[n + 1] - 1]. Linear in nodes and edges (Tarjan 1972). */
uint32_t *ft_components(uint32_t nodes, const uint32_t *first, const uint32_t *to);

#endif
