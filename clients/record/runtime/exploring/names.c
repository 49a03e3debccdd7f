/* Numbers and names of objects. A number is the run's, in the order in which it meets them; the
 * name says what the number means. */
#include <string.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { SLOTS = 2 * FT_EXPLORING_OBJECTS }; /* a power of two */

static struct names {
    ft_exploring_object all[FT_EXPLORING_OBJECTS]; /* by number */
    uintptr_t addresses[FT_EXPLORING_OBJECTS];
    uint16_t by_address[SLOTS]; /* number + 1; 0: free */
    ft_x_object states[FT_EXPLORING_OBJECTS];
} names;

ft_x_object *ft_rt_x_states(void)
{
    return names.states;
}

ft_x_object *ft_rt_x_state(uint32_t object)
{
    FT_REQUIRE(object < ft_rt_x.n_objects);
    return &names.states[object];
}

/* ---- names */

static bool is_static(uintptr_t address, ft_exploring_name *name)
{
    const ft_exploring_header *h = ft_rt_x_header;
    for (uint32_t i = 0; i < h->n_modules; i++) {
        if (address < h->modules[i].from || address >= h->modules[i].to) continue;
        name->space = FT_EXPLORING_STATIC;
        name->maker = (uint16_t)i;
        name->offset = address - h->modules[i].base;
        return true;
    }
    return false;
}

static bool is_heap(uintptr_t address, ft_exploring_name *name)
{
    uint32_t maker;
    if (!ft_rt_x_block_of(address, &maker, &name->number, &name->offset)) return false;
    name->space = FT_EXPLORING_HEAP;
    name->maker = (uint16_t)maker;
    return true;
}

/* A thread's stack and its thread-local memory lie below its thread pointer, those of the next
 * thread perhaps right below: the nearest pointer above counts. */
static bool is_stack(uintptr_t address, ft_exploring_name *name)
{
    uint64_t nearest = UINT64_MAX;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        const ft_rt_x_thread *thread = &ft_rt_x.threads[t];
        const uintptr_t ends[] = {thread->pointer, thread->stack_end};
        for (int i = 0; i < 2; i++) {
            if (address >= ends[i] || ends[i] - address > thread->stack) continue;
            if (ends[i] - address >= nearest) continue;
            nearest = ends[i] - address;
            name->maker = (uint16_t)t;
            name->number = (uint32_t)i;
        }
    }
    name->space = FT_EXPLORING_STACK;
    name->offset = nearest;
    return nearest != UINT64_MAX;
}

static ft_exploring_name name_of(ft_x_class class, uintptr_t address)
{
    ft_exploring_name name = {.class = class};
    if (is_static(address, &name) || is_heap(address, &name) || is_stack(address, &name))
        return name;
    return (ft_exploring_name){.space = FT_EXPLORING_OTHER, .offset = address, .class = class};
}

static bool same_name(const ft_exploring_name *a, const ft_exploring_name *b)
{
    return a->space == b->space && a->maker == b->maker && a->number == b->number &&
           a->offset == b->offset && a->class == b->class;
}

/* ---- numbers */

static uint16_t *find(ft_x_class class, uintptr_t address)
{
    uint64_t hash = (address ^ (uint64_t) class << 57) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(hash >> 40) % SLOTS;; i = (i + 1) % SLOTS) {
        uint16_t number = names.by_address[i];
        if (!number) return &names.by_address[i];
        if (names.addresses[number - 1] == address &&
            names.all[number - 1].name.class == (uint32_t) class)
            return &names.by_address[i];
    }
}

static uint32_t add(uint16_t *slot, const ft_exploring_name *name, uintptr_t address, int64_t fresh)
{
    uint32_t number = ft_rt_x.n_objects;
    if (number == FT_EXPLORING_OBJECTS)
        ft_rt_x_refuse("more synchronisation objects than one run may use", NULL);
    ft_rt_x.n_objects++;
    names.addresses[number] = address;
    names.all[number] = (ft_exploring_object){.name = *name, .initial = {.value = fresh}};
    names.states[number] = names.all[number].initial;
    ft_rt_x.state.n_objects = ft_rt_x.n_objects;
    *slot = (uint16_t)(number + 1);
    if (ft_rt_x.slot) ft_rt_x.slot->objects[number] = names.all[number];
    return number;
}

/* The same place, another object. */
static uint32_t next_generation(uint16_t *slot, uintptr_t address, int64_t fresh)
{
    ft_exploring_name name = names.all[*slot - 1].name;
    name.generation++;
    return add(slot, &name, address, fresh);
}

/* Does the object's block still exist? Then its name is that of the address. */
static bool is_current(const ft_exploring_name *known, ft_x_class class, uintptr_t address)
{
    if (known->space == FT_EXPLORING_STATIC) return true;
    ft_exploring_name now = name_of(class, address);
    return same_name(&now, known);
}

bool ft_rt_x_heap_address(uint32_t object, uintptr_t *address)
{
    if (object >= ft_rt_x.n_objects) return false;
    *address = names.addresses[object];
    return names.all[object].name.space == FT_EXPLORING_HEAP;
}

bool ft_rt_x_has_object(ft_x_class class, const volatile void *at)
{
    uintptr_t address = (uintptr_t)at;
    const uint16_t *slot = find(class, address);
    return *slot && is_current(&names.all[*slot - 1].name, class, address);
}

uint32_t ft_rt_x_object(ft_x_class class, const volatile void *at, int64_t fresh)
{
    uintptr_t address = (uintptr_t)at;
    uint16_t *slot = find(class, address);
    if (*slot && is_current(&names.all[*slot - 1].name, class, address)) return *slot - 1u;
    ft_exploring_name name = name_of(class, address);
    return add(slot, &name, address, fresh);
}

uint32_t ft_rt_x_new_object(ft_x_class class, const volatile void *at, int64_t fresh)
{
    uintptr_t address = (uintptr_t)at;
    uint16_t *slot = find(class, address);
    if (*slot && is_current(&names.all[*slot - 1].name, class, address))
        return next_generation(slot, address, fresh);
    ft_exploring_name name = name_of(class, address);
    return add(slot, &name, address, fresh);
}

uint32_t ft_rt_x_model_object(ft_x_class class, uint32_t maker, uint32_t number, int64_t fresh)
{
    /* No address of a program is that small. */
    uintptr_t address = (uintptr_t)maker << 16 | (number & 0xFFFF);
    uint16_t *slot = find(class, address);
    if (*slot) return *slot - 1u;
    ft_exploring_name name = {
        .space = FT_EXPLORING_MODEL, .maker = (uint16_t)maker, .number = number, .class = class};
    return add(slot, &name, address, fresh);
}

/* ---- the begin of runs */

void ft_rt_x_names_begin(void)
{
    for (uint32_t i = 0; i < ft_rt_x.n_objects; i++) names.all[i].initial = names.states[i];
}

void ft_rt_x_names_to_slot(void)
{
    memcpy(ft_rt_x.slot->objects, names.all, ft_rt_x.n_objects * sizeof *names.all);
    ft_rt_x.state.objects = names.states;
    ft_rt_x.state.n_objects = ft_rt_x.n_objects;
}
