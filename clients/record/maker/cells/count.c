/* The first pass over memory: who accessed which bytes, and in which order. */
#include "maker/cells/cells_internal.h"

#include <string.h>

#include "base/contract.h"

/* The part of a granule, from its byte `from` to `to`, that one access covers. */
typedef struct part {
    unsigned from, to;
    bool read, write;
    bool has_content;
    uint8_t whole;    /* WHOLE_* */
    uint64_t content; /* after the access, at its bytes */
} part;

static inline uint8_t mask_of(const part *p)
{
    return (uint8_t)(((1u << (p->to - p->from)) - 1) << p->from);
}

static inline uint64_t bits_of(const part *p)
{
    return UINT64_MAX >> (8 * (GRANULE - (p->to - p->from))) << 8 * p->from;
}

static inline uint8_t bounds_of(const part *p)
{
    return (uint8_t)(((1u << p->from | 1u << p->to) & ~1u) | (p->whole & WHOLE_2 ? 1 : 0));
}

static inline uint64_t did_of(const part *p)
{
    uint64_t mask = mask_of(p), written = mask << ONE_WRITTEN | UINT64_C(1) << ONE_WROTE;
    return mask << ONE_TOUCHED | (p->write ? written : 0) | (uint64_t)bounds_of(p) << ONE_BOUNDS |
           (uint64_t)(p->whole & WHOLES) << ONE_WHOLE;
}

static uint32_t frame_at(const ft_cells *cells, uint64_t address)
{
    uint32_t thread = cells->frames ? ft_cells_stack_at(cells, address) : FT_NO_OWNER;
    return thread != FT_NO_OWNER ? cells->frames->frame(cells->frames->of, thread, address) : 0;
}

/* The granule becomes one of several threads, that touch it in no fixed order. Who touched which of
 * its bytes before is known if it was one thread alone. */
static granule *make_several(ft_cells *cells, uint64_t key, page *in)
{
    spot *at = &in->at[key % PAGE];
    uint64_t slot = at->slot, owner = slot >> ONE_THREAD;
    assert(owner != SEVERAL);
    bool alone = owner < GONE && !(slot >> ONE_HANDED & 1), gone = owner == GONE;
    uint8_t touched = (uint8_t)(slot >> ONE_TOUCHED);
    granule g = {.address = key * GRANULE,
                 .shared = alone ? 0 : touched,
                 .written = gone ? UINT8_MAX : (uint8_t)(slot >> ONE_WRITTEN),
                 .bounds = (uint8_t)(slot >> ONE_BOUNDS),
                 .whole = slot >> ONE_WHOLE & WHOLES,
                 .left_over = touched & (uint8_t) ~(uint8_t)(slot >> ONE_WRITTEN),
                 .start = at->content,
                 .since = at->since,
                 .until = UINT32_MAX,
                 .born = (uint32_t)cells->allocations.len,
                 .frame = frame_at(cells, key * GRANULE),
                 .cell = FT_NO_CELL};
    for (unsigned i = 0; i < GRANULE; i++) {
        g.first[i] = alone && touched >> i & 1 ? (uint16_t)(owner - 1) : (uint16_t)NOBODY;
        if (gone) g.first[i] = (uint16_t)(slot >> ONE_READERS); /* who freed it */
    }
    at->slot = (uint64_t)SEVERAL << ONE_THREAD | cells->granules.len;
    at->said = 0;
    ft_cells_want(cells, in->first[key % PAGE], at->touched);
    ft_vec_push(&cells->granules, g);
    return &cells->granules.data[cells->granules.len - 1];
}

static uint32_t said_of(const granule *g)
{
    return (uint32_t)g->shared << ONE_TOUCHED | (uint32_t)g->written << ONE_WRITTEN |
           (uint32_t)g->bounds << ONE_BOUNDS | (uint32_t)g->whole << ONE_WHOLE |
           UINT32_C(1) << ONE_WROTE;
}

static void touch_several(ft_cells *cells, uint64_t key, page *in, const part *p, uint32_t thread)
{
    uint64_t slot = in->at[key % PAGE].slot;
    granule *g = slot >> ONE_THREAD == SEVERAL ? &cells->granules.data[(uint32_t)slot]
                                               : make_several(cells, key, in);
    assert(g->address == key * GRANULE && thread != NOBODY);
    for (unsigned i = p->from; i < p->to; i++) {
        if (g->first[i] == NOBODY)
            g->first[i] = (uint16_t)thread;
        else if (g->first[i] != thread)
            g->shared |= (uint8_t)(1u << i);
    }
    if (p->write) g->written |= mask_of(p);
    g->bounds |= bounds_of(p);
    g->whole |= p->whole & WHOLES;
    in->at[key % PAGE].said = said_of(g);
}

/* ---- while all accesses of the granule are ordered */

static bool is_heap(const ft_cells *cells, uint64_t key)
{
    return key * GRANULE >= cells->low && key * GRANULE < cells->high;
}

static bool is_in_order(uint64_t slot)
{
    uint64_t owner = slot >> ONE_THREAD;
    return owner && (owner < GONE || owner == READERS);
}

/* Are all accesses to the granule ordered before the current thread's next one? */
static bool is_behind(const ft_cells *cells, const spot *at)
{
    uint64_t owner = at->slot >> ONE_THREAD;
    if (owner < GONE)
        return ft_cells_order_now(cells, cells->thread, (uint32_t)owner - 1, at->touched);
    for (uint32_t class = 0; class < CLASSES; class ++)
        if (at->slot >> ONE_READERS >> class & 1 &&
            !ft_cells_order_class(cells, cells->thread, class, at->touched))
            return false;
    return true;
}

/* Of a granule that several threads touched in order: is its last write ordered before the thread's
 * next access? */
static inline bool is_behind_write(const ft_cells *cells, const spot *at, uint32_t thread)
{
    return !at->said || ft_cells_order_now(cells, thread, at->writer, at->said);
}

/* The allocation around the granule; near the last look-up, with no other in between, the same
 * again. */
static uint32_t block_around(ft_cells *cells, uint64_t key)
{
    place *last = &cells->looked;
    const uint64_t near = STARTS * ALIGNED / GRANULE;
    granule here = {.address = key * GRANULE, .born = (uint32_t)cells->allocations.len};
    if (last->alone && last->born == here.born && key >= last->key &&
        key / near == last->key / near) {
        const allocation *block = &cells->allocations.data[last->block];
        if (here.address - block->address < block->size) return last->block;
    }
    uint64_t starts = 0;
    ft_map_get(&cells->starts, key / near, &starts);
    *last = (place){key, ft_cells_allocation_of(cells, &here), here.born, !starts};
    last->alone &= last->block != FT_NO_ALLOCATION;
    return last->block;
}

/* Is the memory's allocation ordered before its first thread's first access, and is it not freed?
 */
static bool is_made_before(ft_cells *cells, uint64_t key, uint32_t first)
{
    if (!is_heap(cells, key)) return true;
    uint32_t index = block_around(cells, key);
    if (index == FT_NO_ALLOCATION) return true;
    const allocation *block = &cells->allocations.data[index];
    return !block->freed && ft_cells_order_began(cells, first, block->thread, block->turn);
}

static void note_frame(ft_cells *cells, uint64_t key)
{
    uint32_t frame = frame_at(cells, key * GRANULE);
    if (frame || ft_map_get(&cells->handed, key, NULL)) ft_map_put(&cells->handed, key, frame);
}

/* A new thread touches the granule. False: not in order with the others. */
static bool admit(ft_cells *cells, uint64_t key, spot *at, bool writes)
{
    uint32_t thread = cells->thread;
    uint64_t slot = at->slot, owner = slot >> ONE_THREAD,
             readers = slot >> ONE_READERS & UINT16_MAX;
    if (cells->keeps_ordered || !is_in_order(slot)) return false;
    if (owner != READERS) {
        uint32_t last = (uint32_t)owner - 1;
        assert(last != thread && last < cells->actors.len);
        if (!(slot >> ONE_HANDED & 1) && !is_made_before(cells, key, last)) return false;
        if (slot >> ONE_WROTE & 1) at->writer = (uint16_t)last;
        readers = UINT64_C(1) << last % CLASSES;
    }
    uint64_t before = (slot & ONE_BYTES) | UINT64_C(1) << ONE_HANDED;
    if (cells->tells_ordered && !(slot >> ONE_HANDED & 1)) note_frame(cells, key);
    if (is_behind(cells, at)) {
        at->slot = before | (uint64_t)(thread + 1) << ONE_THREAD;
        return true;
    }
    if (writes || !is_behind_write(cells, at, thread)) return false;
    readers |= UINT64_C(1) << thread % CLASSES;
    at->slot = before | readers << ONE_READERS | (uint64_t)READERS << ONE_THREAD;
    return true;
}

/* ---- external writes: by uninstrumented code */

static bool is_untouched_by_others(const ft_cells *cells, uint64_t slot, uint32_t thread)
{
    if (slot >> ONE_THREAD != SEVERAL)
        return slot >> ONE_THREAD == thread + 1 && !(slot >> ONE_HANDED & 1);
    const granule *g = &cells->granules.data[(uint32_t)slot];
    bool alone = !g->shared;
    for (int i = 0; i < GRANULE; i++) alone &= g->first[i] == NOBODY || g->first[i] == thread;
    return alone;
}

/* Did other threads run since that turn? Those that ended since may have written late. */
static bool others_ran(ft_cells *cells, uint32_t since, uint32_t thread)
{
    bool any = false;
    for (uint32_t t = 0; t < cells->actors.len; t++) {
        actor *a = &cells->actors.data[t];
        if (t == thread || a->ran <= since) continue;
        a->late |= a->ended;
        any = true;
    }
    return any;
}

/* Threads that read the memory before must stay before the external write. Its thread and time are
 * not known: it came after the last access that found the old content, in a turn of any thread that
 * ran since then. */
static void add_fence(ft_cells *cells, uint32_t since)
{
    size_t n = cells->fences.len;
    fence *last = n ? &cells->fences.data[n - 1] : NULL;
    assert(since && since < cells->turn);
    for (size_t t = 0; t < cells->actors.len; t++)
        cells->actors.data[t].late |= cells->actors.data[t].ended;
    if (last && last->from == since)
        last->to = cells->turn;
    else
        ft_vec_push(&cells->fences, (fence){since, cells->turn});
}

/* Does the memory on the thread's stack belong to a call that began after that turn, its last
 * access? */
static bool is_anew(const ft_cells *cells, uint32_t thread, uint64_t address, uint32_t touched)
{
    return cells->frames && cells->frames->since(cells->frames->of, thread, address) > touched;
}

/* A read found a content that no record wrote: uninstrumented code did, of this thread or another.
 */
static void found(ft_cells *cells, uint64_t key, page *in, uint8_t mask, uint32_t since)
{
    spot *at = &in->at[key % PAGE];
    granule here = {.address = key * GRANULE, .born = (uint32_t)cells->allocations.len};
    uint32_t block = ft_cells_allocation_of(cells, &here), thread = cells->thread;
    if (block != FT_NO_ALLOCATION && cells->allocations.data[block].turn > since)
        since = cells->allocations.data[block].turn;
    bool alone = is_untouched_by_others(cells, at->slot, thread);
    bool own =
        ft_cells_owner_of(cells, here.address, block) == thread &&
        (alone || (block == FT_NO_ALLOCATION && is_anew(cells, thread, here.address, since)));
    if (own && at->slot >> ONE_THREAD != SEVERAL) {
        at->slot |= (uint64_t)mask << ONE_WRITTEN | UINT64_C(1) << ONE_WROTE;
        at->said = cells->turn;
        return;
    }
    bool several = at->slot >> ONE_THREAD == SEVERAL;
    granule *g = several ? &cells->granules.data[(uint32_t)at->slot] : make_several(cells, key, in);
    g->written |= mask;
    g->left_over &= (uint8_t)~mask;
    if (own) return;
    /* In the same turn no lock was released in between: only racy code can find it so. */
    bool here_and_now = since == cells->turn;
    if (at->known & mask && since && !here_and_now) add_fence(cells, since);
    if (others_ran(cells, since, thread)) g->shared |= mask;
}

uint8_t ft_cells_written(const ft_cells *cells, const spot *at)
{
    if (at->slot >> ONE_THREAD == SEVERAL) return cells->granules.data[(uint32_t)at->slot].written;
    return (uint8_t)(at->slot >> ONE_WRITTEN);
}

/* The byte that the program's variable began with; false: it is not in such a variable. */
static bool began_with(const ft_cells *cells, uint64_t address, unsigned char *byte)
{
    const region *r = ft_cells_region_of(cells, address, 1);
    if (!r || r->own) return false;
    *byte = r->content ? r->content[address - r->address] : 0;
    return true;
}

/* Is the granule read-only memory of a module? Not if a block or a stack lies there by now:
 * libraries may be unloaded, and lie between blocks in the range that counts as the heap. */
static bool is_constant(ft_cells *cells, uint64_t key)
{
    uint64_t address = key * GRANULE;
    for (size_t i = 0; i < cells->constants.len; i++) {
        const region *r = &cells->constants.data[i];
        if (address - r->address < r->size)
            return ft_cells_owner_of(cells, address, block_around(cells, key)) == FT_NO_OWNER;
    }
    return false;
}

/* The bytes that changed without a record, or that no record wrote. Bytes of the heap that no
 * record wrote are left over from earlier lives: the padding of structures, for instance. */
static uint8_t strange_bytes(ft_cells *cells, uint64_t key, const page *in, const part *p)
{
    const spot *at = &in->at[key % PAGE];
    uint64_t differ = at->content ^ p->content;
    uint8_t strange = 0, fresh = mask_of(p) & (uint8_t)~at->known;
    uint8_t gone = at->lost | ft_cells_written(cells, at);
    bool heap = is_heap(cells, key);
    for (unsigned i = p->from; i < p->to; i++) {
        unsigned char begun;
        bool differs = differ >> 8 * i & 0xFF;
        if (fresh >> i & 1 && heap)
            differs |= gone >> i & 1;
        else if (fresh >> i & 1)
            differs = !(gone >> i & 1) && began_with(cells, key * GRANULE + i, &begun) &&
                      begun != (unsigned char)(p->content >> 8 * i);
        if (differs) strange |= (uint8_t)(1u << i);
    }
    if (strange && is_constant(cells, key)) strange = 0;
    if (heap && at->slot >> ONE_THREAD == SEVERAL)
        cells->granules.data[(uint32_t)at->slot].left_over |= fresh & (uint8_t)~strange;
    return strange;
}

static inline void follow_content(ft_cells *cells, uint64_t key, page *in, const part *p,
                                  uint32_t since)
{
    uint64_t *content = &in->at[key % PAGE].content, bits = bits_of(p);
    uint8_t *known = &in->at[key % PAGE].known, mask = mask_of(p);
    if (!p->has_content) {
        if (p->write) *known &= (uint8_t)~mask;
        return;
    }
    bool usual = (*known & mask) == mask && !((*content ^ p->content) & bits);
    if (p->read && !p->write && !usual) {
        uint8_t strange = strange_bytes(cells, key, in, p);
        if (strange) found(cells, key, in, strange, since);
    }
    *content = (*content & ~bits) | p->content;
    *known |= mask;
}

/* So that count_own need not look at the bytes. */
static inline void note_known(spot *at)
{
    if (at->slot >> ONE_THREAD >= GONE) return;
    uint64_t unknown = (uint8_t)(at->slot >> ONE_TOUCHED) & ~(uint32_t)at->known;
    at->slot &= ~(UINT64_C(1) << ONE_KNOWN);
    at->slot |= (uint64_t)!unknown << ONE_KNOWN;
}

static inline void touch(ft_cells *cells, uint64_t key, const part *p)
{
    page *in = page_at(cells, key, true);
    spot *at = &in->at[key % PAGE];
    uint32_t since = at->touched;
    uint64_t me = cells->thread + 1;
    if (!at->slot) {
        cells->touched++;
        at->slot = me << ONE_THREAD;
        in->first[key % PAGE] = cells->batch;
    }
    if (at->slot >> ONE_THREAD == me || admit(cells, key, at, p->write)) {
        at->slot |= did_of(p);
        if (p->write) at->said = cells->turn;
    } else {
        touch_several(cells, key, in, p, cells->thread);
    }
    at->touched = cells->turn;
    follow_content(cells, key, in, p, since);
    note_known(at);
    cells->wants |= at->slot >> ONE_THREAD == SEVERAL;
}

static bool is_read(uint32_t form)
{
    return form != FT_RAW_FORM_WRITE && form != FT_RAW_FORM_ATOMIC_WRITE;
}

static bool is_write(uint32_t form)
{
    return form != FT_RAW_FORM_READ && form != FT_RAW_FORM_ATOMIC_READ;
}

/* The part of the granule that an atomic access makes one whole (WHOLE_*). */
static uint8_t whole_of(uint32_t form, uint64_t address, uint64_t size)
{
    bool atomic = form != FT_RAW_FORM_READ && form != FT_RAW_FORM_WRITE;
    if (!atomic || size < 2 || size > 8) return 0;
    unsigned from = (unsigned)(address % GRANULE), to = from + (unsigned)size;
    if (to > GRANULE) return WHOLE_BEYOND;
    if (size == 2 && from % 2 == 0) return WHOLE_2;
    if (to <= GRANULE / 2) return WHOLE_LOW;
    return from < GRANULE / 2 ? WHOLE_8 : WHOLE_HIGH;
}

void ft_cells_count_range(ft_cells *cells, uint64_t address, uint64_t size, uint32_t form,
                          const unsigned char *content)
{
    for (uint64_t at = address, end = address + size; at < end;) {
        uint64_t key = at / GRANULE, stop = (key + 1) * GRANULE < end ? (key + 1) * GRANULE : end;
        part p = {.from = (unsigned)(at % GRANULE),
                  .to = (unsigned)(stop - key * GRANULE),
                  .read = is_read(form),
                  .write = is_write(form),
                  .has_content = content != NULL,
                  .whole = whole_of(form, address, size)};
        for (uint64_t i = at; content && i < stop; i++)
            p.content |= (uint64_t)content[i - address] << 8 * (i % GRANULE);
        touch(cells, key, &p);
        at = stop;
    }
}

/* Counts a write of the bytes from `from` on that are known to have had another content; returns
 * the end of them. */
static unsigned count_changed(ft_cells *cells, uint64_t key, uint64_t now, unsigned from,
                              unsigned to)
{
    page *in = page_at(cells, key, false);
    const spot *at = in ? &in->at[key % PAGE] : NULL;
    if (!at || !at->slot) return to;
    uint64_t differ = at->content ^ now;
    part p = {.from = from, .write = true, .has_content = true};
    for (p.to = from; p.to < to && at->known >> p.to & 1 && differ >> 8 * p.to & 0xFF; p.to++) {
    }
    if (p.to == from) return from + 1;
    p.content = now & bits_of(&p);
    touch(cells, key, &p);
    return p.to;
}

static void make_whole(ft_cells *cells, page *p, uint64_t key, uint64_t stop, bool again)
{
    (void)again;
    for (; key < stop; key++) {
        spot *at = &p->at[key % PAGE];
        if (at->slot >> ONE_THREAD == SEVERAL)
            cells->granules.data[(uint32_t)at->slot].whole |= WHOLE_BEYOND;
        else if (at->slot)
            at->slot |= (uint64_t)WHOLE_BEYOND << ONE_WHOLE;
    }
}

/* A damaged log may say any size. */
void ft_cells_count_whole(ft_cells *cells, uint64_t address, uint64_t size)
{
    ft_cells_each_page(cells, address / GRANULE, (address + size + GRANULE - 1) / GRANULE, false,
                       make_whole);
}

enum { MOST_REGIONS = 4096 };

/* A byte that no record touched so far begins with that value. */
static void begin_anew(ft_cells *cells, uint64_t address, const unsigned char *byte)
{
    uint64_t key = address / GRANULE;
    const page *in = page_at(cells, key, false);
    const region *r = ft_cells_region_of(cells, address, 1);
    if (!r || (in && in->at[key % PAGE].known >> address % GRANULE & 1)) return;
    if (*byte == (r->content ? r->content[address - r->address] : 0)) return;
    region *last = &cells->regions.data[cells->regions.len - 1], one = {address, 1, byte, r->own};
    bool longer = last->content && last->address + last->size == address &&
                  last->content + last->size == byte;
    if (longer)
        last->size++;
    else if (cells->regions.len < MOST_REGIONS)
        ft_vec_push(&cells->regions, one);
}

/* Is the content as it was at the start, in memory that no record touched? */
static bool is_as_begun(ft_cells *cells, uint64_t address, const unsigned char *content, uint64_t n)
{
    static const unsigned char zeros[GRANULE];
    const region *r = ft_cells_region_of(cells, address, n);
    if (!r || page_at(cells, address / GRANULE, false)) return false;
    return !memcmp(content, r->content ? r->content + (address - r->address) : zeros, n);
}

void ft_cells_count_shown(ft_cells *cells, uint64_t address, const unsigned char *content,
                          uint64_t n)
{
    for (uint64_t at = address, end = address + n; at < end;) {
        uint64_t key = at / GRANULE, stop = (key + 1) * GRANULE < end ? (key + 1) * GRANULE : end;
        uint64_t now = 0, first = at;
        at = stop;
        if (is_as_begun(cells, first, content + (first - address), stop - first)) continue;
        for (uint64_t i = first; i < stop; i++) {
            now |= (uint64_t)content[i - address] << 8 * (i % GRANULE);
            begin_anew(cells, i, content + (i - address));
        }
        for (unsigned from = first % GRANULE, to = (unsigned)(stop - key * GRANULE); from < to;)
            from = count_changed(cells, key, now, from, to);
    }
}

actor *ft_cells_actor_of(ft_cells *cells, uint32_t thread)
{
    while (cells->actors.len <= thread) ft_vec_push(&cells->actors, (actor){0});
    return &cells->actors.data[thread];
}

void ft_cells_next_turn(ft_cells *cells, uint32_t thread)
{
    assert(cells->turn < UINT32_MAX);
    cells->turn++;
    cells->thread = thread;
    ft_cells_actor_of(cells, thread)->ran = cells->turn;
    if (!cells->settled) ft_cells_want_turn(cells);
}

void ft_cells_turn_to(ft_cells *cells, uint32_t thread)
{
    if (!cells->turn || cells->thread != thread) ft_cells_next_turn(cells, thread);
}

/* ---- plain accesses, the most of the log */

static const uint64_t owner_bits = (uint64_t)UINT16_MAX << ONE_THREAD;

static void fill_shape(ft_cells *cells, uint32_t code, unsigned from)
{
    part p = {.from = from,
              .to = from + (1u << code % 8),
              .write = is_write(code / 8),
              .whole = whole_of(code / 8, from, UINT64_C(1) << code % 8)};
    bool inside = code % 8 < FT_RAW_RANGE && p.to <= GRANULE;
    uint64_t did = inside ? did_of(&p) : ONE_BEYOND;
    shape *s = &cells->shapes[code * GRANULE + from];
    *s = (shape){.own = owner_bits | UINT64_C(1) << ONE_KNOWN | did, .did = (uint32_t)did};
    if (!inside) return;
    s->bits = bits_of(&p);
    s->reads = p.write ? 0 : UINT64_MAX;
    s->mask = mask_of(&p);
}

void ft_cells_count_start(ft_cells *cells)
{
    for (uint32_t code = 0; code < 8 * FT_RAW_FORMS; code++)
        for (unsigned from = 0; from < GRANULE; from++) fill_shape(cells, code, from);
}

static __attribute__((noinline)) void count_other(ft_cells *cells, uint64_t address, uint32_t code,
                                                  uint64_t value)
{
    uint32_t form = code / 8, size = 1u << code % 8;
    unsigned from = address % GRANULE;
    if (from + size > GRANULE) {
        ft_cells_count_range(cells, address, size, form, (const unsigned char *)&value);
        return;
    }
    part p = {.from = from,
              .to = from + size,
              .read = is_read(form),
              .write = is_write(form),
              .has_content = true,
              .whole = whole_of(form, from, size)};
    p.content = value << 8 * from & bits_of(&p);
    touch(cells, address / GRANULE, &p);
}

/* The accesses that a thread other than the owner may make there without a change of state. */
static inline uint32_t said_to_others(ft_cells *cells, const spot *at, uint32_t thread)
{
    uint64_t owner = at->slot >> ONE_THREAD;
    if (owner == SEVERAL) {
        cells->wants = true;
        return at->said;
    }
    bool reads = owner == READERS && at->slot >> ONE_READERS >> thread % CLASSES & 1 &&
                 is_behind_write(cells, at, thread);
    return reads ? (uint32_t)at->slot : 0;
}

/* The fast path: an access to the thread's own granule that changes at most its content. False: it
 * is not that, and nothing was done. other: all bits that a slot of the thread does not have. */
static inline bool count_own(spot *at, const shape *s, uint64_t bits, uint64_t other, uint32_t turn)
{
    uint64_t differ = (at->content ^ bits) & s->bits;
    if (((at->slot ^ other) & s->own) | (differ & s->reads)) return false;
    at->touched = turn;
    at->said ^= (at->said ^ turn) & ~(uint32_t)s->reads;
    at->content ^= differ;
    return true;
}

/* The same of an access that the thread did not make to the granule before. */
static bool count_more(spot *at, const shape *s, uint64_t bits, uint32_t turn)
{
    uint64_t differ = (at->content ^ bits) & s->bits;
    if (s->did == ONE_BEYOND || (differ | (uint8_t)(s->mask & ~at->known)) & s->reads) return false;
    at->slot |= s->did;
    at->touched = turn;
    at->said = s->reads ? at->said : turn;
    at->content ^= differ;
    at->known |= s->mask;
    note_known(at);
    return true;
}

/* The same of a granule that others touched too. */
static bool count_shared(ft_cells *cells, spot *at, const shape *s, uint64_t bits)
{
    uint64_t differ = (at->content ^ bits) & s->bits;
    if (s->did & ~said_to_others(cells, at, cells->thread)) return false;
    if ((differ | (uint8_t)(s->mask & ~at->known)) & s->reads) return false;
    at->touched = cells->turn;
    at->content ^= differ;
    at->known |= s->mask;
    return true;
}

static __attribute__((noinline)) bool count_less_usual(ft_cells *cells, spot *at, const shape *s,
                                                       uint64_t bits)
{
    if (at->slot >> ONE_THREAD == cells->thread + 1) return count_more(at, s, bits, cells->turn);
    return count_shared(cells, at, s, bits);
}

static inline void count_event(ft_cells *cells, uint64_t address, uint32_t code, uint64_t value,
                               uint64_t other, uint32_t turn)
{
    uint64_t key = address / GRANULE;
    unsigned from = address % GRANULE;
    uint64_t bits = value << 8 * from;
    spot *at = &page_at(cells, key, true)->at[key % PAGE];
    const shape *s = &cells->shapes[code * GRANULE + from];
    if (count_own(at, s, bits, other, turn)) return;
    if (!count_less_usual(cells, at, s, bits)) count_other(cells, address, code, value);
}

static inline void begin_batch(ft_cells *cells, uint32_t thread)
{
    if (cells->in_batch) return;
    ft_cells_turn_to(cells, thread);
    ft_cells_next_batch(cells);
    cells->wants = false;
    cells->in_batch = true;
}

/* All bits that no slot of the current thread has. */
static inline uint64_t bits_of_others(const ft_cells *cells)
{
    return (uint64_t)(cells->thread + 1) << ONE_THREAD | ~owner_bits;
}

void ft_cells_take_run(void *of, ft_raw_run *run)
{
    ft_cells *cells = of;
    ft_raw_run r = *run;
    ft_raw_event e;
    FT_REQUIRE(!cells->settled);
    if (!ft_raw_run_take(&r, &e)) return;
    begin_batch(cells, r.thread);
    assert(cells->thread == r.thread);
    uint64_t other = bits_of_others(cells);
    uint32_t turn = cells->turn;
    do {
        count_event(cells, e.address, e.code, (uint64_t)e.written, other, turn);
    } while (ft_raw_run_take(&r, &e));
    *run = r;
}

void ft_cells_take_other(void *of, uint32_t thread, const ft_raw_event *e)
{
    ft_cells *cells = of;
    begin_batch(cells, thread);
    count_event(cells, e->address, e->code, (uint64_t)e->written, bits_of_others(cells),
                cells->turn);
}

void ft_cells_end_batch(ft_cells *cells, uint32_t thread)
{
    begin_batch(cells, thread); /* of calls alone */
    assert(cells->thread == thread);
    if (cells->wants) ft_cells_want(cells, cells->batch, cells->turn);
    cells->in_batch = false;
}

/* ---- memory that ends */

/* In a granule of several threads the free is one more write, to all that others touched. */
static void free_several(ft_cells *cells, granule *g)
{
    for (unsigned i = 0; i < GRANULE; i++)
        if (g->first[i] != NOBODY && g->first[i] != cells->thread) g->shared |= (uint8_t)(1u << i);
    g->written |= g->shared;
}

/* Accesses after the free will be unordered. */
static void end_order(ft_cells *cells, uint64_t key, page *in)
{
    spot *at = &in->at[key % PAGE];
    if (!at->slot) {
        in->first[key % PAGE] = cells->batch;
        at->touched = cells->turn;
    }
    at->slot = (at->slot & (ONE_BYTES | 1 << ONE_HANDED)) | (uint64_t)cells->thread << ONE_READERS |
               (uint64_t)GONE << ONE_THREAD;
}

/* An ordered granule stays so if its free is ordered after all accesses. */
static void free_ordered(ft_cells *cells, uint64_t key, page *in, bool again)
{
    spot *at = &in->at[key % PAGE];
    if (!again && is_in_order(at->slot) && is_behind(cells, at))
        end_order(cells, key, in);
    else
        free_several(cells, make_several(cells, key, in));
}

/* Notes the granule in the freed memory that its only thread touched last, for each other thread.
 */
static void find_last_use(ft_cells *cells, uint64_t key, const spot *at)
{
    uint32_t thread = (uint32_t)(at->slot >> ONE_THREAD) - 1;
    assert(thread < cells->actors.len);
    actor *a = &cells->actors.data[thread];
    if (thread == cells->thread || at->touched < a->last_turn) return;
    a->last_turn = at->touched;
    a->last_key = key;
}

/* The granules of a page whose memory is freed. again: it was freed before. */
static void free_granules(ft_cells *cells, page *p, uint64_t key, uint64_t stop, bool again)
{
    for (; key < stop; key++) {
        uint64_t slot = p->at[key % PAGE].slot, thread = slot >> ONE_THREAD;
        if (thread == SEVERAL) {
            free_several(cells, &cells->granules.data[(uint32_t)slot]);
        } else if (thread >= GONE || slot >> ONE_HANDED & 1) {
            free_ordered(cells, key, p, again);
        } else {
            if (thread) find_last_use(cells, key, &p->at[key % PAGE]);
            if (cells->freed_for_good) end_order(cells, key, p);
        }
    }
}

/* The granule that a thread touched last in memory that another thread frees becomes shared with
 * it. Earlier ones are not kept: if they can come after the free, the last one mostly can. */
static void share_last_uses(ft_cells *cells)
{
    for (size_t t = 0; t < cells->actors.len; t++) {
        actor *a = &cells->actors.data[t];
        if (!a->last_turn) continue;
        a->last_turn = 0;
        page *in = page_at(cells, a->last_key, true);
        uint8_t did = (uint8_t)(in->at[a->last_key % PAGE].slot >> ONE_TOUCHED);
        granule *g = make_several(cells, a->last_key, in);
        g->shared |= did;
        g->written |= did;
    }
}

void ft_cells_count_free(ft_cells *cells, uint64_t address)
{
    uint64_t index;
    if (!ft_map_get(&cells->blocks, address / ALIGNED, &index)) return;
    allocation *block = &cells->allocations.data[index];
    uint64_t key = block->address / GRANULE,
             to = (block->address + block->size + GRANULE - 1) / GRANULE;
    if (block->address != address) return;
    bool again = block->freed;
    block->freed = true;
    cells->freed_for_good = block->address % MAPPED;
    if (block->size <= BIG) { /* nobody may have touched it so far */
        page_at(cells, key, true);
        page_at(cells, to - 1, true);
    }
    if (cells->actors.len > 1) ft_cells_each_page(cells, key, to, again, free_granules);
    share_last_uses(cells);
}

/* ---- ordered granules, for recordings with terms */

void ft_cells_count_ordered(ft_cells *cells, page *p, uint64_t i, uint32_t until)
{
    const spot *at = &p->at[i];
    assert(!cells->settled && cells->tells_ordered && i < PAGE);
    uint64_t key = p->number * PAGE + i, frame = 0;
    if (at->slot >> ONE_THREAD == SEVERAL || !(at->slot >> ONE_HANDED & 1)) return;
    ft_map_get(&cells->handed, key, &frame);
    ft_vec_push(&cells->granules, (granule){.address = key * GRANULE,
                                            .shared = (uint8_t)(at->slot >> ONE_TOUCHED),
                                            .written = (uint8_t)(at->slot >> ONE_WRITTEN),
                                            .bounds = (uint8_t)(at->slot >> ONE_BOUNDS),
                                            .whole = at->slot >> ONE_WHOLE & WHOLES,
                                            .since = at->since,
                                            .until = until,
                                            .born = (uint32_t)cells->allocations.len,
                                            .frame = (uint32_t)frame,
                                            .cell = FT_NO_CELL,
                                            .ordered = true});
}
