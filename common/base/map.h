/* Hash maps with 64-bit keys, and string interning. Iteration order is never part of a result. */
#ifndef FT_BASE_MAP_H
#define FT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* uint64 -> uint64; open addressing. Embedded: zero-initialise, then ft_map_release. */
typedef struct ft_map {
    uint64_t *keys, *values;
    uint8_t *full;
    size_t len, cap;
} ft_map;

void ft_map_release(ft_map *map);
void ft_map_put(ft_map *map, uint64_t key, uint64_t value);        /* inserts or replaces */
bool ft_map_get(const ft_map *map, uint64_t key, uint64_t *value); /* value may be NULL */

/* Returns the place of `key`'s value, inserting `initial` first when the key is new. The place is
 * valid until the next insertion. *inserted (may be NULL) says whether the key was new. */
uint64_t *ft_map_slot(ft_map *map, uint64_t key, uint64_t initial, bool *inserted);

/* Names to dense ids 0, 1, 2, ... in order of first appearance. Embedded: zero-initialise. */
typedef struct ft_intern {
    char **names;      /* names[id], NUL-terminated, owned by the table */
    uint32_t *lengths; /* lengths[id] */
    uint32_t *hashes;  /* hashes[id]: most names need not be looked at */
    uint32_t len;
    uint32_t *slots; /* hash slots: id + 1, 0 when free */
    size_t cap, name_cap;
} ft_intern;

#define FT_NO_ID UINT32_MAX

void ft_intern_release(ft_intern *table);
uint32_t ft_intern_add(ft_intern *table, const char *name, size_t length);
uint32_t ft_intern_find(const ft_intern *table, const char *name, size_t length); /* or FT_NO_ID */

uint64_t ft_hash_bytes(const void *data, size_t length, uint64_t seed);
uint64_t ft_hash_u64(uint64_t value);

#endif
