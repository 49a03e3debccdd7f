#include <assert.h>
#include <stdlib.h>

#include "trace/builder_internal.h"

/* Most integers are small: those from SMALLEST on have their ids in a table, in chunks that are
 * made when they are needed. Above the first ALWAYS of them a chunk is made where it will be
 * filled: there are WORTH values or more for each that is there. One that was not made never is,
 * since its values stand elsewhere by then. */
enum { CHUNK = 1 << 12, CHUNKS = 1 << 14, ALWAYS = 1 << 6, WORTH = 1 << 9, FEWEST = 1 << 6 };
#define SMALLEST (-(INT64_C(1) << 16))

static uint32_t append(ft_builder *b, ft_value value)
{
    ft_trace *trace = b->trace;
    trace->values =
        ft_vec_grow(trace->values, &b->value_cap, trace->n_values + 1u, sizeof *trace->values);
    trace->values[trace->n_values] = value;
    return trace->n_values++;
}

static uint32_t not_made[1]; /* stands for chunks that are not */

static uint32_t *make_chunk(ft_builder *b, uint64_t number)
{
    bool worth = number < ALWAYS || b->n_chunks <= b->trace->n_values / WORTH;
    if (number >= b->end_of_chunks) b->end_of_chunks = (uint32_t)number + 1;
    b->n_chunks += worth;
    return worth ? ft_calloc(CHUNK, sizeof(uint32_t)) : not_made;
}

/* Where the id of a small integer stands; NULL: it is not small. */
static uint32_t *small_slot(ft_builder *b, uint64_t bits)
{
    uint64_t place = bits - (uint64_t)SMALLEST;
    if (place >= (uint64_t)CHUNK * CHUNKS) return NULL;
    if (!b->small_values) b->small_values = ft_calloc_sparse(CHUNKS, sizeof *b->small_values);
    uint32_t **chunk = &b->small_values[place / CHUNK];
    if (!*chunk) *chunk = make_chunk(b, place / CHUNK);
    return *chunk == not_made ? NULL : &(*chunk)[place % CHUNK];
}

static size_t sort_of(ft_value value)
{
    size_t sort = value.sort.kind == FT_SORT_BITVEC ? 1u + value.sort.width : value.sort.kind;
    assert(sort < FT_VALUE_SORTS);
    return sort;
}

/* The slot of the value, or the free one where it belongs. The values themselves stand beside: what
 * is asked for one after the other often has ids, and so lies, one after the other. */
static size_t slot_of(const ft_builder *b, ft_value value)
{
    const ft_value *values = b->trace->values;
    size_t mask = b->value_slot_cap - 1, i = ft_hash_u64(value.bits + sort_of(value)) & mask;
    while (b->value_slots[i] && (values[b->value_slots[i]].bits != value.bits ||
                                 sort_of(values[b->value_slots[i]]) != sort_of(value)))
        i = (i + 1) & mask;
    return i;
}

static void grow_slots(ft_builder *b)
{
    uint32_t *old = b->value_slots;
    size_t n = b->value_slot_cap;
    b->value_slot_cap = n ? n * 2 : FEWEST;
    b->value_slots = ft_calloc(b->value_slot_cap, sizeof *b->value_slots);
    for (size_t i = 0; i < n; i++)
        if (old[i]) b->value_slots[slot_of(b, b->trace->values[old[i]])] = old[i];
    free(old);
}

static uint32_t large_id(ft_builder *b, ft_value value)
{
    if ((size_t)b->n_large * 2 >= b->value_slot_cap) grow_slots(b);
    uint32_t *id = &b->value_slots[slot_of(b, value)];
    if (*id) return *id;
    b->n_large++;
    return *id = append(b, value);
}

uint32_t ft_builder_value(ft_builder *b, ft_value value)
{
    uint32_t *small = value.sort.kind == FT_SORT_INT ? small_slot(b, value.bits) : NULL;
    if (small) {
        if (!*small) *small = append(b, value);
        return *small;
    }
    return large_id(b, value);
}

void ft_builder_release_values(ft_builder *b)
{
    free(b->value_slots);
    for (uint32_t i = 0; i < b->end_of_chunks; i++)
        if (b->small_values[i] != not_made) free(b->small_values[i]);
    free(b->small_values);
}
