/* Hash maps with 64-bit keys, and string interning.
 *
 * Both are open-addressing tables whose capacity is a power of two and which are at most three
 * quarters full. The order of their slots is never part of a result. Their checkers walk the whole
 * table, so FT_CHECK runs them when a table grows or is released, not at each insertion. */
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

/* The invariant: capacity and load as above, `len` slots are full, each key is found in its slot.
 */
bool ft_map_is_sound(const ft_map *map);

/* Names to dense ids 0, 1, 2, ... in order of first appearance. Embedded: zero-initialise. */
typedef struct ft_intern {
    char **names;      /* names[id], NUL-terminated, owned by the table */
    uint32_t *lengths; /* lengths[id] */
    uint32_t *hashes;  /* hashes[id]: compared before the names are */
    uint32_t len;
    uint32_t *slots; /* hash slots: id + 1, 0 when free */
    size_t cap, name_cap;
} ft_intern;

#define FT_NO_ID UINT32_MAX

void ft_intern_release(ft_intern *table);
uint32_t ft_intern_add(ft_intern *table, const char *name, size_t length);
uint32_t ft_intern_find(const ft_intern *table, const char *name, size_t length); /* or FT_NO_ID */

/* The invariant: capacity and load as above, no two names are equal, each name is found as its id
 * and ends in a NUL byte at its length. */
bool ft_intern_is_sound(const ft_intern *table);

uint64_t ft_hash_bytes(const void *data, size_t length, uint64_t seed);
uint64_t ft_hash_u64(uint64_t value);

#endif
