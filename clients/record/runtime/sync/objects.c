/* The table of synchronisation objects, by address. */
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/raw.h"
#include "state/object.h"
#include "state/state.h"
#include "sync/sync.h"

/* Open addressing by address; a removed slot keeps its place until the table is rebuilt. The
 * objects themselves never move, since threads wait in them. */
enum { FIRST_SLOTS = 1 << 12, CHUNK = 1 << 10, BYTES_PER_SLOT = 4 };

static ft_rt_object removed;

static struct {
    ft_rt_object **slots;
    size_t n_slots; /* a power of two */
    size_t taken;   /* slots that are not free */
    size_t alive;
    ft_rt_object *chunk; /* where objects are made */
    uint32_t left;       /* in it */
    uint32_t n;          /* ever made */
} objects;

/* For FT_CHECK. */
static bool is_sound(void)
{
    size_t alive = 0, taken = 0;
    for (size_t i = 0; i < objects.n_slots; i++) {
        const ft_rt_object *o = objects.slots[i];
        taken += o != NULL;
        alive += o && o != &removed;
        if (o && o != &removed && (o->id >= objects.n || o->class >= FT_RAW_CLASSES)) return false;
    }
    return alive == objects.alive && taken == objects.taken;
}

static size_t slot_of(uintptr_t address)
{
    assert(objects.n_slots && !(objects.n_slots & (objects.n_slots - 1)));
    return (size_t)(((address >> 3) * 0x9E3779B97F4A7C15u) >> 32) & (objects.n_slots - 1);
}

static ft_rt_object **find(uintptr_t address)
{
    if (!objects.n_slots) return NULL;
    for (size_t at = slot_of(address);; at = (at + 1) % objects.n_slots) {
        ft_rt_object **slot = &objects.slots[at];
        if (!*slot) return NULL;
        if (*slot != &removed && (*slot)->address == address) return slot;
    }
}

static void put(ft_rt_object *o)
{
    size_t at = slot_of(o->address);
    assert(objects.taken < objects.n_slots); /* or the search would not end */
    while (objects.slots[at]) at = (at + 1) % objects.n_slots;
    objects.slots[at] = o;
    objects.taken++;
}

static void make_room(void)
{
    ft_rt_object **before = objects.slots;
    size_t n = objects.n_slots;
    if (objects.taken < n / 2) return;
    objects.n_slots = FIRST_SLOTS;
    while (objects.n_slots <= objects.alive * 4) objects.n_slots *= 2;
    objects.slots = ft_rt_map(objects.n_slots * sizeof(ft_rt_object *));
    objects.taken = 0;
    for (size_t i = 0; i < n; i++)
        if (before[i] && before[i] != &removed) put(before[i]);
    assert(objects.taken == objects.alive && objects.taken < objects.n_slots / 2);
    FT_CHECK(is_sound());
    if (before) syscall(SYS_munmap, before, n * sizeof(ft_rt_object *));
}

static void remove_at(ft_rt_object **slot)
{
    assert(objects.alive && *slot && *slot != &removed);
    *slot = &removed;
    objects.alive--;
}

static ft_rt_object *make(ft_raw_class class, uintptr_t address, uint32_t kind)
{
    FT_REQUIRE(class < FT_RAW_CLASSES);
    FT_CHECK(!find(address));
    make_room();
    if (!objects.left) {
        objects.chunk = ft_rt_map(CHUNK * sizeof(ft_rt_object));
        objects.left = CHUNK;
    }
    ft_rt_object *o = &objects.chunk[--objects.left];
    *o = (ft_rt_object){.address = address, .class = class, .id = objects.n++, .kind = kind};
    if (class == FT_RAW_CLASS_SEMAPHORE) o->count = kind; /* sem_open makes one unseen */
    put(o);
    objects.alive++;
    FT_RT_LOG(OBJECT, class, address, kind);
    return o;
}

ft_rt_object *ft_rt_object_at(ft_raw_class class, const void *address, uint32_t kind)
{
    ft_rt_object **slot = find((uintptr_t)address);
    if (slot && (*slot)->class == class) return *slot;
    if (slot) remove_at(slot);
    return make(class, (uintptr_t)address, kind);
}

ft_rt_object *ft_rt_object_known(ft_raw_class class, const volatile void *address)
{
    ft_rt_object **slot = find((uintptr_t)address);
    return slot && (*slot)->class == class ? *slot : NULL;
}

void ft_rt_object_again(ft_rt_object *o)
{
    FT_REQUIRE(o->class == FT_RAW_CLASS_ONCE);
    assert(o->id < objects.n);
    o->generation = o->id + 1;
    o->id = objects.n++;
    FT_RT_LOG(OBJECT, o->class, o->address, o->kind);
}

/* Calls `end` (NULL: nothing) for each object in that range, and removes it. */
static void end_all(const void *address, size_t size, void (*end)(const ft_rt_object *, uint32_t),
                    uint32_t site)
{
    uintptr_t from = (uintptr_t)address, to = from + size;
    if (!objects.alive) return;
    assert(objects.alive <= objects.taken);
    bool few = size / BYTES_PER_SLOT < objects.n_slots;
    for (uintptr_t a = from; few && a < to; a += BYTES_PER_SLOT) {
        ft_rt_object **slot = find(a);
        if (slot && end) end(*slot, site);
        if (slot) remove_at(slot);
    }
    for (size_t i = 0; !few && i < objects.n_slots; i++) {
        ft_rt_object **slot = &objects.slots[i];
        if (!*slot || *slot == &removed) continue;
        if ((*slot)->address < from || (*slot)->address >= to) continue;
        if (end) end(*slot, site);
        remove_at(slot);
    }
}

void ft_rt_object_forget(const void *address, size_t size)
{
    end_all(address, size, NULL, 0);
}

static void log_reclaimed(const ft_rt_object *o, uint32_t site)
{
    FT_RT_LOG(RECLAIMED, site, o->id);
}

void ft_rt_object_reclaim(const void *address, size_t size, uint32_t site)
{
    end_all(address, size, ft_rt_objects_told() ? log_reclaimed : NULL, site);
}

/* A program with one thread so far has one thread there in every schedule, so all schedules agree
 * on which steps are logged. */
bool ft_rt_objects_told(void)
{
    return ft_rt_header->threads > 1;
}

void ft_rt_object_begins(const ft_rt_object *o, uint32_t site)
{
    FT_RT_LOG(INITIALISED, site, o->id);
}

void ft_rt_object_ends(const ft_rt_object *o, uint32_t site)
{
    uintptr_t address = o->address;
    assert(o->id < objects.n);
    FT_RT_LOG(DESTROYED, site, o->id);
    ft_rt_object **slot = find(address);
    if (slot) remove_at(slot);
}

ft_rt_object *ft_rt_object_next(size_t *at)
{
    while (*at < objects.n_slots) {
        ft_rt_object *o = objects.slots[(*at)++];
        if (o && o != &removed) return o;
    }
    return NULL;
}
