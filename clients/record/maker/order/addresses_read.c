#include "maker/order/addresses_read.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

/* Addresses are kept by the units that the heap gives out; of a block of more units than MOST
 * nobody asks for each. */
enum { UNIT = 16, MOST = 1 << 16, RECENT = 64 };

typedef struct reader {
    ft_map units;
    uint64_t recent[RECENT]; /* units, by their low bits */
    bool unseen;
} reader;

struct ft_addresses_read {
    FT_VEC(reader) readers; /* by thread */
};

ft_addresses_read *ft_addresses_read_new(void)
{
    return ft_calloc(1, sizeof(ft_addresses_read));
}

void ft_addresses_read_free(ft_addresses_read *known)
{
    if (!known) return;
    for (size_t t = 0; t < known->readers.len; t++) ft_map_release(&known->readers.data[t].units);
    ft_vec_release(&known->readers);
    free(known);
}

static reader *reader_of(ft_addresses_read *known, uint32_t thread)
{
    while (known->readers.len <= thread) ft_vec_push(&known->readers, (reader){0});
    return &known->readers.data[thread];
}

void ft_addresses_read_add(ft_addresses_read *known, uint32_t thread, uint64_t value)
{
    reader *r = reader_of(known, thread);
    uint64_t unit = value / UNIT;
    FT_CHECK(!unit || r->recent[unit % RECENT] != unit || ft_map_get(&r->units, unit, NULL));
    if (r->recent[unit % RECENT] == unit) return;
    r->recent[unit % RECENT] = unit;
    ft_map_put(&r->units, unit, 1);
}

void ft_addresses_read_add_any(ft_addresses_read *known, uint32_t thread)
{
    reader_of(known, thread)->unseen = true;
}

bool ft_addresses_read_within(const ft_addresses_read *known, uint32_t thread, uint64_t address,
                              uint64_t size)
{
    if (thread >= known->readers.len) return false;
    const reader *r = &known->readers.data[thread];
    uint64_t first = address / UNIT, last = (address + size) / UNIT;
    if (r->unseen || last - first > MOST) return true;
    for (uint64_t unit = first; unit <= last; unit++)
        if (ft_map_get(&r->units, unit, NULL)) return true;
    return false;
}
