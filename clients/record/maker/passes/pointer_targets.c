#include "maker/passes/pointer_targets.h"

#include <stdlib.h>

#include "base/contract.h"
#include "maker/cells/cells.h"
#include "trace/event.h"

enum { GRANULE_SHIFT = 3, LONGEST_RANGE = 1 << 16 };

void ft_pointer_targets_release(ft_pointer_targets *t)
{
    ft_map_release(&t->loud);
    ft_map_release(&t->lasting);
    ft_map_release(&t->in_cells);
    ft_vec_release(&t->sets);
    ft_vec_release(&t->sections);
}

static uint32_t *sections_of(ft_pointer_targets *t, uint32_t thread)
{
    while (t->sections.len <= thread) ft_vec_push(&t->sections, 0);
    return &t->sections.data[thread];
}

static bool is_quiet(const ft_pointer_targets *t, uint32_t thread)
{
    return thread == 0 && !t->others;
}

/* ---- sets */

static void add(ft_pointer_targets *t, uint64_t address, uint64_t item)
{
    bool inserted;
    uint64_t at = *ft_map_slot(&t->in_cells, address, t->sets.len, &inserted);
    if (inserted) ft_vec_push(&t->sets, (ft_target_set){0});
    assert(at < t->sets.len);
    ft_target_set *set = &t->sets.data[at];
    if (set->n > FT_TARGETS_MOST) return;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i] == item) return;
    if (set->n < FT_TARGETS_MOST) set->items[set->n] = item;
    set->n++;
}

const ft_target_set *ft_pointer_targets_values(const ft_pointer_targets *t, uint64_t address)
{
    uint64_t at;
    if (!ft_map_get(&t->in_cells, address, &at)) return NULL;
    const ft_target_set *set = &t->sets.data[at];
    return set->n > FT_TARGETS_MOST ? NULL : set;
}

/* ---- accesses */

static bool is_atomic(ft_raw_form form)
{
    return form != FT_RAW_FORM_READ && form != FT_RAW_FORM_WRITE;
}

static void make_loud(ft_pointer_targets *t, uint64_t address, uint64_t size)
{
    if (size > LONGEST_RANGE) t->too_large = true;
    if (!size || t->too_large) return;
    uint64_t last = (address + size - 1) >> GRANULE_SHIFT;
    for (uint64_t granule = address >> GRANULE_SHIFT; granule <= last; granule++)
        ft_map_put(&t->loud, granule, 1);
}

void ft_pointer_targets_access(ft_pointer_targets *t, const ft_raw_record *r)
{
    FT_REQUIRE(r->access);
    bool atomic = is_atomic(r->form), whole = atomic && r->size <= FT_RAW_WORD;
    bool updates = ft_raw_updates(r->form);
    if (whole && r->form != FT_RAW_FORM_ATOMIC_READ)
        add(t, r->address, (uint64_t)(updates ? r->written : r->value));
    if ((!whole || *sections_of(t, r->thread)) && !is_quiet(t, r->thread))
        make_loud(t, r->address, r->size);
}

void ft_pointer_targets_event(ft_pointer_targets *t, uint32_t thread, const ft_raw_event *event)
{
    ft_raw_record one;
    ft_raw_record_of(event, thread, &one);
    ft_pointer_targets_access(t, &one);
}

/* ---- threads, sections and memory */

static void meet_section(ft_pointer_targets *t, uint32_t thread, uint64_t kind)
{
    uint32_t *sections = sections_of(t, thread);
    if (kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED || kind == FT_EVENT_TX_BEGIN)
        ++*sections;
    if ((kind == FT_EVENT_RELEASE || kind == FT_EVENT_TX_END) && *sections) --*sections;
}

void ft_pointer_targets_meet(ft_pointer_targets *t, const ft_raw_record *r, uint32_t allocation)
{
    FT_REQUIRE(!r->access);
    bool quiet = is_quiet(t, r->thread);
    if (r->operation == FT_RAW_SYNC || r->operation == FT_RAW_MARK)
        meet_section(t, r->thread, r->operands[0]);
    else if (r->operation == FT_RAW_FORK)
        t->others++;
    else if (r->operation == FT_RAW_JOIN && t->others)
        t->others--;
    else if ((r->operation == FT_RAW_ALLOC || r->operation == FT_RAW_BEGIN) && quiet)
        ft_map_put(&t->lasting, allocation, 1);
    else if (r->operation == FT_RAW_FREE && !quiet && ft_map_get(&t->lasting, allocation, NULL))
        ft_map_put(&t->lasting, allocation, 0);
}

bool ft_pointer_targets_are_free(const ft_pointer_targets *t, uint64_t address, uint32_t allocation)
{
    uint64_t lasting = 1;
    if (t->too_large || ft_map_get(&t->loud, address >> GRANULE_SHIFT, NULL)) return false;
    if (allocation == FT_NO_ALLOCATION) return true;
    return ft_map_get(&t->lasting, allocation, &lasting) && lasting;
}
