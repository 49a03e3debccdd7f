/* Configurations as numbers: equal configurations get the same number, from 0 in the order in which
 * they come. Exact: a hash only says where to look. */
#ifndef FT_EXPLORE_CONFIGURATIONS_H
#define FT_EXPLORE_CONFIGURATIONS_H

#include "base/map.h"
#include "base/memory.h"
#include "explore/unfolding.h"

/* Embedded: zero-initialise. */
typedef struct ft_configurations {
    ft_map by_hash;
    FT_VEC(size_t) first; /* by number: where its events begin, and behind the last one their end */
    FT_VEC(uint32_t)
    last; /* of each the last events of its threads, without the empty ones behind */
} ft_configurations;

/* The number of the configuration, of threads below `threads`. *is_new (may be NULL): it was not
 * there. */
uint32_t ft_configurations_add(ft_configurations *all, const ft_configuration *c, uint32_t threads,
                               bool *is_new);
size_t ft_configurations_bytes(const ft_configurations *all);
void ft_configurations_release(ft_configurations *all);

#endif
