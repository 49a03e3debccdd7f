#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"

uint64_t ft_hash_u64(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9u;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

uint64_t ft_hash_bytes(const void *data, size_t length, uint64_t seed)
{
    FT_REQUIRE(data || length == 0);
    const unsigned char *bytes = data;
    uint64_t hash = ft_hash_u64(seed ^ length);
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = ft_hash_u64(hash ^ word);
        bytes += 8;
        length -= 8;
    }
    uint64_t tail = 0;
    if (length) memcpy(&tail, bytes, length);
    return ft_hash_u64(hash ^ tail);
}

/* There is a free slot, so that every search ends. */
static bool has_room(size_t len, size_t cap)
{
    return cap == 0 ? len == 0 : (cap & (cap - 1)) == 0 && len * 4 <= cap * 3;
}

static size_t find_slot(const ft_map *map, uint64_t key)
{
    assert(map->len < map->cap);
    size_t i = ft_hash_u64(key) & (map->cap - 1);
    while (map->full[i] && map->keys[i] != key) i = (i + 1) & (map->cap - 1);
    return i;
}

bool ft_map_is_sound(const ft_map *map)
{
    size_t full = 0;
    if (!has_room(map->len, map->cap)) return false;
    for (size_t i = 0; i < map->cap; i++) {
        if (map->full[i] && find_slot(map, map->keys[i]) != i) return false;
        full += map->full[i];
    }
    return full == map->len;
}

void ft_map_release(ft_map *map)
{
    FT_CHECK(ft_map_is_sound(map));
    free(map->keys);
    free(map->values);
    free(map->full);
    *map = (ft_map){0};
}

static void map_grow(ft_map *map)
{
    ft_map old = *map;
    assert(old.cap <= SIZE_MAX / 2);
    map->cap = old.cap ? old.cap * 2 : 16;
    map->keys = ft_calloc(map->cap, sizeof *map->keys);
    map->values = ft_calloc(map->cap, sizeof *map->values);
    map->full = ft_calloc(map->cap, 1);
    for (size_t i = 0; i < old.cap; i++) {
        if (!old.full[i]) continue;
        size_t at = find_slot(map, old.keys[i]);
        map->full[at] = 1;
        map->keys[at] = old.keys[i];
        map->values[at] = old.values[i];
    }
    FT_CHECK(ft_map_is_sound(map));
    ft_map_release(&old);
}

uint64_t *ft_map_slot(ft_map *map, uint64_t key, uint64_t initial, bool *inserted)
{
    if (map->len * 4 >= map->cap * 3) map_grow(map);
    size_t at = find_slot(map, key);
    if (inserted) *inserted = !map->full[at];
    if (!map->full[at]) {
        map->full[at] = 1;
        map->keys[at] = key;
        map->values[at] = initial;
        map->len++;
    }
    return &map->values[at];
}

void ft_map_put(ft_map *map, uint64_t key, uint64_t value)
{
    *ft_map_slot(map, key, value, NULL) = value;
}

bool ft_map_get(const ft_map *map, uint64_t key, uint64_t *value)
{
    if (!map->cap) return false;
    size_t at = find_slot(map, key);
    if (!map->full[at]) return false;
    if (value) *value = map->values[at];
    return true;
}

void ft_intern_release(ft_intern *table)
{
    FT_CHECK(ft_intern_is_sound(table));
    for (uint32_t i = 0; i < table->len; i++) free(table->names[i]);
    free(table->names);
    free(table->lengths);
    free(table->hashes);
    free(table->slots);
    *table = (ft_intern){0};
}

static uint32_t hash_of(const char *name, size_t length)
{
    return (uint32_t)ft_hash_bytes(name, length, 0);
}

static size_t name_slot(const ft_intern *table, const char *name, size_t length, uint32_t hash)
{
    assert(table->len < table->cap);
    size_t i = hash & (table->cap - 1);
    for (; table->slots[i]; i = (i + 1) & (table->cap - 1)) {
        uint32_t id = table->slots[i] - 1;
        assert(id < table->len);
        if (table->hashes[id] == hash && table->lengths[id] == length &&
            memcmp(table->names[id], name, length) == 0)
            break;
    }
    return i;
}

bool ft_intern_is_sound(const ft_intern *table)
{
    size_t used = 0;
    if (!has_room(table->len, table->cap) || table->len > table->name_cap) return false;
    for (size_t i = 0; i < table->cap; i++) {
        uint32_t id = table->slots[i] - 1;
        if (!table->slots[i]) continue;
        used++;
        if (id >= table->len || table->names[id][table->lengths[id]] != 0) return false;
        if (hash_of(table->names[id], table->lengths[id]) != table->hashes[id]) return false;
        if (name_slot(table, table->names[id], table->lengths[id], table->hashes[id]) != i)
            return false;
    }
    return used == table->len;
}

/* No two names are equal, so each goes to the first free slot. */
static void intern_grow(ft_intern *table)
{
    FT_CHECK(ft_intern_is_sound(table));
    table->cap = table->cap ? table->cap * 2 : 32;
    free(table->slots);
    table->slots = ft_calloc(table->cap, sizeof *table->slots);
    for (uint32_t id = 0; id < table->len; id++) {
        size_t i = table->hashes[id] & (table->cap - 1);
        while (table->slots[i]) i = (i + 1) & (table->cap - 1);
        table->slots[i] = id + 1;
    }
}

uint32_t ft_intern_add(ft_intern *table, const char *name, size_t length)
{
    FT_REQUIRE(name && length <= UINT32_MAX);
    assert(table->len < FT_NO_ID - 1);
    if ((size_t)table->len * 4 >= table->cap * 3) intern_grow(table);
    uint32_t hash = hash_of(name, length);
    size_t at = name_slot(table, name, length, hash);
    if (table->slots[at]) return table->slots[at] - 1;
    if (table->len == table->name_cap) {
        table->name_cap = table->name_cap ? table->name_cap * 2 : 16;
        table->names = ft_realloc(table->names, table->name_cap, sizeof *table->names);
        table->lengths = ft_realloc(table->lengths, table->name_cap, sizeof *table->lengths);
        table->hashes = ft_realloc(table->hashes, table->name_cap, sizeof *table->hashes);
    }
    table->names[table->len] = ft_strndup(name, length);
    table->lengths[table->len] = (uint32_t)length;
    table->hashes[table->len] = hash;
    table->slots[at] = ++table->len;
    return table->len - 1;
}

uint32_t ft_intern_find(const ft_intern *table, const char *name, size_t length)
{
    FT_REQUIRE(name || length == 0);
    if (!table->cap) return FT_NO_ID;
    uint32_t slot = table->slots[name_slot(table, name, length, hash_of(name, length))];
    return slot ? slot - 1 : FT_NO_ID;
}
