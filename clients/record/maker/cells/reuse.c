#include "maker/cells/reuse.h"

#include <stdlib.h>

#include "base/contract.h"

void ft_lives_release(ft_lives *l)
{
    ft_vec_release(&l->stretches);
}

/* One more than its size: the address behind it. */
void ft_lives_add(ft_lives *l, uint64_t address, uint64_t size)
{
    ft_vec_push(&l->stretches, (ft_lives_stretch){.from = address, .blocks = 1});
    ft_vec_push(&l->stretches, (ft_lives_stretch){.from = address + size + 1, .blocks = -1});
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const ft_lives_stretch *)a)->from, y = ((const ft_lives_stretch *)b)->from;
    return (x > y) - (x < y);
}

static bool is_sound(const ft_lives *l)
{
    for (size_t i = 0; i < l->stretches.len; i++) {
        const ft_lives_stretch *s = &l->stretches.data[i];
        if (s->blocks < 0 || (i && s[-1].from >= s->from)) return false;
    }
    return true;
}

void ft_lives_settle(ft_lives *l)
{
    ft_lives_stretch *all = l->stretches.data;
    size_t n = 0;
    int64_t around = 0;
    if (!l->stretches.len) return;
    qsort(all, l->stretches.len, sizeof *all, by_address);
    for (size_t i = 0; i < l->stretches.len; i++) {
        around += all[i].blocks;
        if (!n || all[n - 1].from != all[i].from) all[n++].from = all[i].from;
        all[n - 1].blocks = around;
    }
    l->stretches.len = n;
    assert(around == 0);
    FT_CHECK(is_sound(l));
}

/* The last stretch that begins there or before it; its length is l->stretches.len: none. */
static size_t stretch_at(const ft_lives *l, uint64_t address)
{
    size_t low = 0, high = l->stretches.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->stretches.data[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : l->stretches.len;
}

static void come_again(ft_lives *l)
{
    l->low = l->stretches.data[0].from;
    l->span = l->stretches.data[l->stretches.len - 1].from - l->low;
}

void ft_lives_begin(ft_lives *l, uint64_t address, uint64_t size)
{
    size_t i = stretch_at(l, address);
    if (i == l->stretches.len) i = 0;
    for (; i < l->stretches.len && l->stretches.data[i].from <= address + size; i++) {
        ft_lives_stretch *s = &l->stretches.data[i];
        if (s->blocks && s->begun++ && !l->span) come_again(l);
    }
}

uint16_t ft_lives_of(const ft_lives *l, int64_t value)
{
    size_t i = ft_lives_reach(l, value) ? stretch_at(l, (uint64_t)value) : l->stretches.len;
    if (i == l->stretches.len) return 0;
    uint32_t begun = l->stretches.data[i].begun;
    return (uint16_t)(begun ? begun - 1 : 0);
}
