#include "maker/terms/symbolic_memory.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"

enum { GRANULE = 8 };

typedef struct granule {
    uint64_t key;
    ft_lane lanes[GRANULE];
} granule;

typedef FT_VEC(uint32_t) granule_list;

struct ft_lanes {
    ft_map places; /* address / GRANULE -> index in granules */
    FT_VEC(granule) granules;
    FT_VEC(granule_list) written; /* by thread: granules with a lane of its own, perhaps */
};

ft_lanes *ft_lanes_new(void)
{
    return ft_calloc(1, sizeof(ft_lanes));
}

void ft_lanes_free(ft_lanes *l)
{
    if (!l) return;
    for (size_t i = 0; i < l->written.len; i++) ft_vec_release(&l->written.data[i]);
    ft_vec_release(&l->written);
    ft_vec_release(&l->granules);
    ft_map_release(&l->places);
    free(l);
}

ft_lane ft_lanes_get(const ft_lanes *l, uint64_t address)
{
    uint64_t index;
    if (!ft_map_get(&l->places, address / GRANULE, &index)) return (ft_lane){0};
    return l->granules.data[index].lanes[address % GRANULE];
}

static void remember(ft_lanes *l, uint16_t thread, uint32_t index)
{
    while (l->written.len <= thread) ft_vec_push(&l->written, (granule_list){0});
    granule_list *list = &l->written.data[thread];
    if (!list->len || list->data[list->len - 1] != index) ft_vec_push(list, index);
}

void ft_lanes_put(ft_lanes *l, uint64_t address, ft_lane lane)
{
    FT_REQUIRE(!lane.term || lane.index < GRANULE);
    uint64_t key = address / GRANULE;
    if (!lane.term && !ft_map_get(&l->places, key, NULL)) return;
    bool inserted;
    uint64_t index = *ft_map_slot(&l->places, key, l->granules.len, &inserted);
    if (inserted) ft_vec_push(&l->granules, (granule){.key = key});
    l->granules.data[index].lanes[address % GRANULE] = lane;
    if (lane.term) remember(l, lane.thread, (uint32_t)index);
}

static void forget_granules(ft_lanes *l, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < l->places.cap; i++) {
        if (!l->places.full[i]) continue;
        granule *g = &l->granules.data[l->places.values[i]];
        for (uint64_t b = 0; b < GRANULE; b++)
            if (l->places.keys[i] * GRANULE + b - address < size) g->lanes[b] = (ft_lane){0};
    }
}

void ft_lanes_forget(ft_lanes *l, uint64_t address, uint64_t size)
{
    if (size / GRANULE > l->places.len) {
        forget_granules(l, address, size);
        return;
    }
    for (uint64_t i = 0; i < size; i++) ft_lanes_put(l, address + i, (ft_lane){0});
}

static bool is_of(const granule *g, uint16_t thread)
{
    bool any = false;
    for (int b = 0; b < GRANULE; b++) any |= g->lanes[b].term && g->lanes[b].thread == thread;
    return any;
}

void ft_lanes_drain(ft_lanes *l, uint16_t thread, void (*visit)(void *, ft_lane),
                    bool (*stays)(void *, uint64_t), void *context)
{
    if (thread >= l->written.len) return;
    granule_list *list = &l->written.data[thread];
    size_t n = list->len;
    list->len = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t index = list->data[i];
        granule *g = &l->granules.data[index];
        assert(index < l->granules.len && list->len <= i);
        if (!is_of(g, thread)) continue;
        if (stays && stays(context, g->key * GRANULE)) {
            list->data[list->len++] = index;
            continue;
        }
        for (int b = 0; b < GRANULE; b++) {
            ft_lane *lane = &g->lanes[b];
            if (!lane->term || lane->thread != thread) continue;
            visit(context, *lane);
            *lane = (ft_lane){0};
        }
    }
}
