#include "runtime.h"

/* By address, open addressing; a removed slot keeps its place. */
enum { SLOTS = 1 << 18, REMOVED = 1 };

static struct {
    ft_rt_object *slots;
    uint32_t n;
} objects;

static size_t slot_of(uintptr_t address)
{
    return (size_t)(((address >> 3) * 0x9E3779B97F4A7C15u) >> (64 - 18));
}

static ft_rt_object *find(uintptr_t address)
{
    if (!objects.slots) return NULL;
    for (size_t at = slot_of(address);; at = (at + 1) % SLOTS) {
        ft_rt_object *o = &objects.slots[at];
        if (o->address == address) return o;
        if (!o->address) return NULL;
    }
}

static ft_rt_object *make(ft_raw_class class, uintptr_t address, uint32_t kind)
{
    if (!objects.slots) objects.slots = ft_rt_map(SLOTS * sizeof *objects.slots);
    if (objects.n == SLOTS / 2) {
        ft_rt_say("more synchronisation objects than the recorder keeps");
        __builtin_abort();
    }
    size_t at = slot_of(address);
    while (objects.slots[at].address > REMOVED) at = (at + 1) % SLOTS;
    ft_rt_object *o = &objects.slots[at];
    *o = (ft_rt_object){.address = address, .class = class, .id = objects.n++, .kind = kind};
    FT_RT_LOG(OBJECT, class, address, kind);
    return o;
}

ft_rt_object *ft_rt_object_at(ft_raw_class class, const void *address, uint32_t kind)
{
    ft_rt_object *o = find((uintptr_t)address);
    if (o && o->class == class) return o;
    if (o) o->address = REMOVED;
    return make(class, (uintptr_t)address, kind);
}

void ft_rt_object_forget(const void *address, size_t size)
{
    uintptr_t from = (uintptr_t)address, to = from + size;
    if (!objects.slots) return;
    if (size / 4 < SLOTS) {
        for (uintptr_t a = from; a < to; a += 4) {
            ft_rt_object *o = find(a);
            if (o) o->address = REMOVED;
        }
        return;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        ft_rt_object *o = &objects.slots[i];
        if (o->address >= from && o->address < to && o->address > REMOVED) o->address = REMOVED;
    }
}

ft_rt_object *ft_rt_object_next(size_t *at)
{
    if (!objects.slots) return NULL;
    while (*at < SLOTS)
        if (objects.slots[(*at)++].address > REMOVED) return &objects.slots[*at - 1];
    return NULL;
}
