#include "explore/configurations.h"

#include <stdlib.h>
#include <string.h>

static uint32_t width_of(const ft_configuration *c, uint32_t width)
{
    while (width && !c->last[width - 1]) width--;
    return width;
}

static bool is_same(const ft_configurations *all, uint32_t number, const ft_configuration *c,
                    uint32_t width)
{
    size_t first = all->first.data[number];
    if (all->first.data[number + 1] - first != width) return false;
    return !width || memcmp(all->last.data + first, c->last, width * sizeof *c->last) == 0;
}

uint32_t ft_configurations_add(ft_configurations *all, const ft_configuration *c, uint32_t threads,
                               bool *is_new)
{
    uint32_t width = width_of(c, threads);
    uint64_t key = ft_hash_bytes(c->last, width * sizeof *c->last, width);
    if (!all->first.len) ft_vec_push(&all->first, 0);
    for (;; key++) {
        bool inserted;
        uint32_t number = (uint32_t)*ft_map_slot(&all->by_hash, key, all->first.len - 1, &inserted);
        if (!inserted && !is_same(all, number, c, width)) continue;
        if (is_new) *is_new = inserted;
        if (!inserted) return number;
        for (uint32_t t = 0; t < width; t++) ft_vec_push(&all->last, c->last[t]);
        ft_vec_push(&all->first, all->last.len);
        return number;
    }
}

size_t ft_configurations_bytes(const ft_configurations *all)
{
    return all->first.cap * sizeof(size_t) + all->last.cap * sizeof(uint32_t) +
           all->by_hash.cap * (2 * sizeof(uint64_t) + 1);
}

void ft_configurations_release(ft_configurations *all)
{
    ft_map_release(&all->by_hash);
    ft_vec_release(&all->first);
    ft_vec_release(&all->last);
}
