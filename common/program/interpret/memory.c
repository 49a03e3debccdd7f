#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/interpret/internal.h"

enum { GAP = 64, LOW = 4096 };

static uint64_t rounded_up(uint64_t number, uint64_t align)
{
    return (number + align - 1) & ~(align - 1);
}

bool ft_memory_fits(ft_interpreter *m, uint32_t t, uint64_t size)
{
    if (size <= m->options.max_bytes && m->bytes + size <= m->options.max_bytes) return true;
    return ft_interpreter_fail(m, t, FT_ERROR_LIMIT,
                               "the program's objects take more than %" PRIu64 " bytes",
                               m->options.max_bytes);
}

uint32_t ft_memory_new(ft_interpreter *m, uint64_t *next_base, uint64_t size, uint64_t align)
{
    memory_object o = {.size = size};
    o.base = rounded_up(*next_base, align > 16 ? align : 16);
    o.bytes = ft_calloc(size ? size : 1, 1);
    *next_base = o.base + size + GAP;
    m->bytes += size;
    ft_vec_push(&m->objects, o);
    return (uint32_t)m->objects.len - 1;
}

void ft_memory_release(memory_object *o)
{
    free(o->bytes);
    free(o->pointees);
    free(o->shadow);
    o->bytes = NULL, o->pointees = NULL, o->shadow = NULL;
}

/* Without an object of its own an address means the one around it. Bases ascend with the numbers of
 * the objects of each maker only, so all are looked at: programs seldom do this. */
static uint32_t object_around(const ft_interpreter *m, uint64_t address)
{
    for (uint32_t i = 0; i < m->objects.len; i++) {
        const memory_object *o = &m->objects.data[i];
        if (address >= o->base && address - o->base < (o->size ? o->size : 1)) return i + 1;
    }
    return 0;
}

static const char *outside(const memory_object *o, uint64_t address, char text[80])
{
    int64_t distance = (int64_t)(address - o->base);
    if (distance < 0)
        snprintf(text, 80, "%" PRId64 " bytes before an object of %" PRIu64, -distance, o->size);
    else
        snprintf(text, 80, "at byte %" PRId64 " of an object of %" PRIu64 " bytes", distance,
                 o->size);
    return text;
}

memory_object *ft_memory_at(ft_interpreter *m, uint32_t t, word address, uint64_t n,
                            uint64_t *offset)
{
    char text[80];
    uint32_t number = address.object ? address.object : object_around(m, address.bits);
    if (!number) {
        ft_program_error kind = address.bits < LOW ? FT_ERROR_NULL_ACCESS : FT_ERROR_BOUNDS;
        ft_interpreter_fail(m, t, kind, "no object is at the address 0x%" PRIx64, address.bits);
        return NULL;
    }
    memory_object *o = &m->objects.data[number - 1];
    if (o->freed) {
        ft_interpreter_fail(m, t, FT_ERROR_FREED, "the access is %s, which %s",
                            outside(o, address.bits, text),
                            o->stack_of ? "ended with its function" : "was freed");
        if (!o->stack_of) ft_interpreter_error_at(m, t, o->base);
        return NULL;
    }
    *offset = address.bits - o->base;
    if (*offset > o->size || n > o->size - *offset) {
        ft_interpreter_fail(m, t, FT_ERROR_BOUNDS, "an access of %" PRIu64 " bytes is %s", n,
                            outside(o, address.bits, text));
        return NULL;
    }
    return o;
}

/* The object, for a write. */
static memory_object *writable_at(ft_interpreter *m, uint32_t t, word address, uint64_t n,
                                  uint64_t *offset)
{
    memory_object *o = ft_memory_at(m, t, address, n, offset);
    if (o && o->constant && n) {
        ft_interpreter_fail(m, t, FT_ERROR_CONSTANT, "the object is constant");
        return NULL;
    }
    return o;
}

static bool accessed(ft_interpreter *m, uint32_t t, memory_object *o, uint64_t offset, uint64_t n,
                     int kind)
{
    return !m->options.races || ft_race_access(m, t, o, offset, n, kind);
}

/* Tells of an access that was carried out; width 0: of a range of bytes. */
static void tell(const ft_interpreter *m, uint32_t t, const memory_object *o, uint64_t offset,
                 uint64_t n, int kind, uint8_t width, uint64_t value)
{
    if (!m->options.access || o->constant || !n) return;
    ft_interpreter_access a = {.thread = t,
                               .place = ft_interpreter_place_of(m, t),
                               .writes = kind == PLAIN_WRITE || kind == ATOMIC_WRITE,
                               .atomic = kind == ATOMIC_READ || kind == ATOMIC_WRITE,
                               .address = o->base + offset,
                               .bytes = n,
                               .width = width,
                               .value = value};
    m->options.access(m->options.context, &a);
}

static bool atomic_now(const ft_interpreter *m, uint32_t t)
{
    const ft_instruction *in = ft_interpreter_instruction(m, t);
    return in && ft_instruction_row_of(in->code)->effect == FT_EFFECT_VISIBLE;
}

static uint64_t get_bytes(const unsigned char *from, uint64_t n)
{
    uint64_t bits = 0;
    for (uint64_t i = 0; i < n; i++) bits |= (uint64_t)from[i] << (8 * i);
    return bits;
}

static void forget_pointees(memory_object *o, uint64_t offset, uint64_t n)
{
    if (!o->pointees || !n) return;
    for (uint64_t cell = offset / 8; cell <= (offset + n - 1) / 8; cell++) o->pointees[cell] = 0;
}

static void set_pointee(memory_object *o, uint64_t offset, uint32_t object)
{
    if (!o->pointees && !object) return;
    if (!o->pointees) o->pointees = ft_calloc(o->size / 8 + 1, sizeof *o->pointees);
    o->pointees[offset / 8] = object;
}

/* A thread's own stack is part of its state. */
static void changes(ft_interpreter *m, uint32_t t, const memory_object *o)
{
    m->threads.data[t].changes += o->stack_of != t + 1;
}

bool ft_memory_load(ft_interpreter *m, uint32_t t, word address, uint8_t width, word *result)
{
    uint64_t offset, n = (width + 7u) / 8;
    memory_object *o = ft_memory_at(m, t, address, n, &offset);
    int kind = atomic_now(m, t) ? ATOMIC_READ : PLAIN_READ;
    if (!o || !accessed(m, t, o, offset, n, kind)) return false;
    result->bits = get_bytes(o->bytes + offset, n) & ft_width_mask(width);
    tell(m, t, o, offset, n, kind, width, result->bits);
    bool whole = width == 64 && offset % 8 == 0 && o->pointees;
    result->object = whole ? o->pointees[offset / 8] : 0;
    return true;
}

bool ft_memory_store(ft_interpreter *m, uint32_t t, word address, uint8_t width, word stored)
{
    uint64_t offset, n = (width + 7u) / 8;
    memory_object *o = writable_at(m, t, address, n, &offset);
    int kind = atomic_now(m, t) ? ATOMIC_WRITE : PLAIN_WRITE;
    if (!o || !accessed(m, t, o, offset, n, kind)) return false;
    tell(m, t, o, offset, n, kind, width, stored.bits);
    if (get_bytes(o->bytes + offset, n) !=
        (n < 8 ? stored.bits & ft_width_mask((uint8_t)(8 * n)) : stored.bits))
        changes(m, t, o);
    for (uint64_t i = 0; i < n; i++) o->bytes[offset + i] = (unsigned char)(stored.bits >> (8 * i));
    forget_pointees(o, offset, n);
    if (width == 64 && offset % 8 == 0) set_pointee(o, offset, stored.object);
    return true;
}

/* Addresses keep their objects where whole cells are copied to whole cells. */
static void copy_pointees(memory_object *to, uint64_t at, const memory_object *from, uint64_t of,
                          uint64_t n)
{
    bool apart = at % 8 != of % 8;
    uint64_t first = (8 - at % 8) % 8, cells = n < first ? 0 : (n - first) / 8;
    uint32_t *kept = NULL;
    if (!apart && from->pointees && cells) {
        kept = ft_alloc(cells * sizeof *kept);
        memcpy(kept, from->pointees + (of + first) / 8, cells * sizeof *kept);
    }
    forget_pointees(to, at, n);
    for (uint64_t i = 0; kept && i < cells; i++) set_pointee(to, at + first + 8 * i, kept[i]);
    free(kept);
}

bool ft_memory_copy(ft_interpreter *m, uint32_t t, word to, word from, uint64_t n, bool overlap)
{
    uint64_t at, of;
    memory_object *source = ft_memory_at(m, t, from, n, &of);
    if (!source) return false;
    memory_object *target = writable_at(m, t, to, n, &at);
    if (!target) return false;
    uint64_t apart = at > of ? at - of : of - at;
    if (!overlap && source == target && at != of && apart < n)
        return ft_interpreter_fail(m, t, FT_ERROR_OVERLAP,
                                   "%" PRIu64 " bytes are copied over a distance of %" PRIu64, n,
                                   apart);
    if (!accessed(m, t, source, of, n, PLAIN_READ) || !accessed(m, t, target, at, n, PLAIN_WRITE))
        return false;
    tell(m, t, source, of, n, PLAIN_READ, 0, 0);
    tell(m, t, target, at, n, PLAIN_WRITE, 0, 0);
    if (n && memcmp(target->bytes + at, source->bytes + of, n) != 0) changes(m, t, target);
    memmove(target->bytes + at, source->bytes + of, n);
    copy_pointees(target, at, source, of, n);
    return true;
}

bool ft_memory_fill(ft_interpreter *m, uint32_t t, word to, uint8_t byte, uint64_t n)
{
    uint64_t offset;
    memory_object *o = writable_at(m, t, to, n, &offset);
    if (!o || !accessed(m, t, o, offset, n, PLAIN_WRITE)) return false;
    tell(m, t, o, offset, n, PLAIN_WRITE, 0, 0);
    for (uint64_t i = 0; i < n; i++)
        if (o->bytes[offset + i] != byte) {
            changes(m, t, o);
            break;
        }
    memset(o->bytes + offset, byte, n);
    forget_pointees(o, offset, n);
    return true;
}

bool ft_memory_free(ft_interpreter *m, uint32_t t, word address)
{
    if (!address.bits) return true;
    uint32_t number = address.object ? address.object : object_around(m, address.bits);
    memory_object *o = number ? &m->objects.data[number - 1] : NULL;
    if (!o || !o->heap || address.bits != o->base)
        return ft_interpreter_fail(m, t, FT_ERROR_BAD_FREE,
                                   "0x%" PRIx64 " is not what alloc returned", address.bits);
    if (o->freed) {
        ft_interpreter_fail(m, t, FT_ERROR_DOUBLE_FREE, "the object was freed before");
        return ft_interpreter_error_at(m, t, o->base);
    }
    if (!accessed(m, t, o, 0, o->size, PLAIN_WRITE)) return false;
    tell(m, t, o, 0, o->size, PLAIN_WRITE, 0, 0);
    o->freed = true;
    m->threads.data[t].changes++;
    m->bytes -= o->size;
    ft_memory_release(o);
    return true;
}

bool ft_memory_size(ft_interpreter *m, uint32_t t, word address, uint64_t *size)
{
    uint64_t offset;
    const memory_object *o = ft_memory_at(m, t, address, 0, &offset);
    if (o) *size = o->size - offset;
    return o != NULL;
}
