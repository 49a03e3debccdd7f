#include "cover/live.h"

#include <stdlib.h>

void cover_live_release(cover_live *l)
{
    ft_map_release(&l->registers);
    ft_map_release(&l->counters);
    ft_vec_release(&l->bytes);
}

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

void cover_live_add(cover_live *l, uint32_t frame, uint32_t reg)
{
    ft_map_put(&l->registers, pair(frame, reg), 1);
}

bool cover_live_has(const cover_live *l, uint32_t frame, uint32_t reg)
{
    uint64_t live;
    return ft_map_get(&l->registers, pair(frame, reg), &live) && live;
}

bool cover_live_kill(cover_live *l, uint32_t frame, uint32_t reg)
{
    bool was = cover_live_has(l, frame, reg);
    if (was) ft_map_put(&l->registers, pair(frame, reg), 0);
    return was;
}

void cover_live_add_bytes(cover_live *l, uint32_t object, uint64_t from, uint64_t to)
{
    if (from >= to) return;
    for (size_t i = 0; i < l->bytes.len; i++) {
        const cover_range *r = &l->bytes.data[i];
        if (r->object == object && r->from <= from && to <= r->to) return;
    }
    ft_vec_push(&l->bytes, (cover_range){object, from, to});
}

bool cover_live_has_bytes(const cover_live *l, uint32_t object, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < l->bytes.len; i++) {
        const cover_range *r = &l->bytes.data[i];
        if (r->object == object && r->from < to && from < r->to) return true;
    }
    return false;
}

void cover_live_kill_bytes(cover_live *l, uint32_t object, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < l->bytes.len; i++) {
        cover_range *r = &l->bytes.data[i];
        if (r->object != object || r->from >= to || from >= r->to) continue;
        cover_range left = {object, r->from, from}, right = {object, to, r->to};
        bool has_left = left.from < left.to, has_right = right.from < right.to;
        if (has_left && has_right) {
            *r = left;
            ft_vec_push(&l->bytes, right);
        } else if (has_left || has_right) {
            *r = has_left ? left : right;
        } else {
            l->bytes.data[i--] = l->bytes.data[--l->bytes.len];
        }
    }
}

void cover_live_add_counter(cover_live *l, uint32_t thread, uint32_t text)
{
    ft_map_put(&l->counters, pair(thread, text), 1);
}

bool cover_live_has_counter(const cover_live *l, uint32_t thread, uint32_t text)
{
    return ft_map_get(&l->counters, pair(thread, text), NULL);
}
