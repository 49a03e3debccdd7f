#include "maker/cells_internal.h"

/* The part of a granule, from its byte `from` to `to`, that one access covers. */
typedef struct part {
    unsigned from, to;
    bool read, write;
    bool has_content;
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
    return (uint8_t)(1u << p->from | 1u << p->to);
}

/* Another thread than its first one touches the granule. */
static granule *make_several(ft_cells *cells, uint64_t key, page *in)
{
    uint64_t slot = in->at[key % PAGE].slot;
    granule g = {.address = key * GRANULE,
                 .written = (uint8_t)(slot >> ONE_WRITTEN),
                 .bounds = (uint8_t)(slot >> ONE_BOUNDS),
                 .life = in->at[key % PAGE].lives,
                 .born = (uint32_t)cells->allocations.len,
                 .cell = FT_NO_CELL};
    for (unsigned i = 0; i < GRANULE; i++)
        g.first[i] =
            slot >> ONE_TOUCHED >> i & 1 ? (uint16_t)((slot >> ONE_THREAD) - 1) : (uint16_t)NOBODY;
    in->at[key % PAGE].slot = (uint64_t)SEVERAL << ONE_THREAD | cells->granules.len;
    ft_vec_push(&cells->granules, g);
    return &cells->granules.data[cells->granules.len - 1];
}

static void touch_several(ft_cells *cells, uint64_t key, page *in, const part *p, uint32_t thread)
{
    uint64_t slot = in->at[key % PAGE].slot;
    granule *g = slot >> ONE_THREAD == SEVERAL ? &cells->granules.data[(uint32_t)slot]
                                               : make_several(cells, key, in);
    for (unsigned i = p->from; i < p->to; i++) {
        if (g->first[i] == NOBODY)
            g->first[i] = (uint16_t)thread;
        else if (g->first[i] != thread)
            g->shared |= (uint8_t)(1u << i);
    }
    if (p->write) g->written |= mask_of(p);
    g->bounds |= bounds_of(p);
    in->at[key % PAGE].said = (uint32_t)g->shared << ONE_TOUCHED |
                              (uint32_t)g->written << ONE_WRITTEN |
                              (uint32_t)g->bounds << ONE_BOUNDS;
}

static bool is_untouched_by_others(const ft_cells *cells, uint64_t slot, uint32_t thread)
{
    if (slot >> ONE_THREAD != SEVERAL) return slot >> ONE_THREAD == thread + 1;
    const granule *g = &cells->granules.data[(uint32_t)slot];
    bool alone = !g->shared;
    for (int i = 0; i < GRANULE; i++) alone &= g->first[i] == NOBODY || g->first[i] == thread;
    return alone;
}

/* Did another thread run since that turn? Those that ended meanwhile are late. */
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

/* Who read it before must not come behind the write. Whose it is nobody knows, nor when it was:
 * after the last access that found the old content, and in a turn of whoever ran since then. */
static void add_fence(ft_cells *cells, uint32_t since)
{
    size_t n = cells->fences.len;
    fence *last = n ? &cells->fences.data[n - 1] : NULL;
    for (size_t t = 0; t < cells->actors.len; t++)
        cells->actors.data[t].late |= cells->actors.data[t].ended;
    if (last && last->from == since)
        last->to = cells->turn;
    else
        ft_vec_push(&cells->fences, (fence){since, cells->turn});
}

/* A read that found what no record wrote: code without hooks did, the thread's own or another's. */
static void found(ft_cells *cells, uint64_t key, page *in, uint8_t mask, uint32_t since)
{
    uint64_t *slot = &in->at[key % PAGE].slot;
    granule here = {.address = key * GRANULE, .born = (uint32_t)cells->allocations.len};
    uint32_t block = ft_cells_allocation_of(cells, &here), thread = cells->thread;
    if (block != FT_NO_ALLOCATION && cells->allocations.data[block].turn > since)
        since = cells->allocations.data[block].turn;
    bool several = *slot >> ONE_THREAD == SEVERAL;
    if (several)
        cells->granules.data[(uint32_t)*slot].written |= mask;
    else
        *slot |= (uint64_t)mask << ONE_WRITTEN;
    bool alone = is_untouched_by_others(cells, *slot, thread);
    if (ft_cells_owner_of(cells, here.address, block) == thread && alone) return;
    bool own = since == cells->turn; /* without a lock that it gave back: only racy code sees it */
    if (in->at[key % PAGE].known & mask && since && !own) add_fence(cells, since);
    if (!others_ran(cells, since, thread)) return;
    granule *g = several ? &cells->granules.data[(uint32_t)*slot] : make_several(cells, key, in);
    g->shared |= mask;
}

static bool is_heap(const ft_cells *cells, uint64_t key)
{
    return key * GRANULE >= cells->low && key * GRANULE < cells->high;
}

/* The bytes that are not what they were, or that nobody is known to have written. */
static uint8_t strange_bytes(const ft_cells *cells, uint64_t key, const page *in, const part *p)
{
    uint64_t differ = in->at[key % PAGE].content ^ p->content;
    uint8_t strange = 0, known = in->at[key % PAGE].known;
    bool heap = is_heap(cells, key);
    for (unsigned i = p->from; i < p->to; i++)
        if (known >> i & 1 ? differ >> 8 * i & 0xFF : heap) strange |= (uint8_t)(1u << i);
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

static inline void touch(ft_cells *cells, uint64_t key, const part *p)
{
    page *in = page_at(cells, key, true);
    uint64_t *slot = &in->at[key % PAGE].slot, mask = mask_of(p);
    uint64_t did = mask << ONE_TOUCHED | (p->write ? mask << ONE_WRITTEN : 0) |
                   (uint64_t)bounds_of(p) << ONE_BOUNDS;
    uint32_t since = in->at[key % PAGE].touched;
    cells->touched += !*slot;
    in->at[key % PAGE].touched = cells->turn;
    if (!*slot || *slot >> ONE_THREAD == cells->thread + 1)
        *slot |= did | 1 | (uint64_t)(cells->thread + 1) << ONE_THREAD;
    else
        touch_several(cells, key, in, p, cells->thread);
    follow_content(cells, key, in, p, since);
}

static bool is_read(uint32_t form)
{
    return form != FT_RAW_FORM_WRITE && form != FT_RAW_FORM_ATOMIC_WRITE;
}

static bool is_write(uint32_t form)
{
    return form != FT_RAW_FORM_READ && form != FT_RAW_FORM_ATOMIC_READ;
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
                  .has_content = content != NULL};
        for (uint64_t i = at; content && i < stop; i++)
            p.content |= (uint64_t)content[i - address] << 8 * (i % GRANULE);
        touch(cells, key, &p);
        at = stop;
    }
}

actor *ft_cells_actor_of(ft_cells *cells, uint32_t thread)
{
    while (cells->actors.len <= thread) ft_vec_push(&cells->actors, (actor){0});
    return &cells->actors.data[thread];
}

void ft_cells_next_turn(ft_cells *cells, uint32_t thread)
{
    cells->turn++;
    cells->thread = thread;
    ft_cells_actor_of(cells, thread)->ran = cells->turn;
}

void ft_cells_turn_to(ft_cells *cells, uint32_t thread)
{
    if (!cells->turn || cells->thread != thread) ft_cells_next_turn(cells, thread);
}

/* ---- plain accesses, the most of the log */

static void fill_shape(ft_cells *cells, uint32_t code, unsigned from)
{
    part p = {.from = from, .to = from + (1u << code % 8), .write = is_write(code / 8)};
    if (code % 8 >= FT_RAW_RANGE || p.to > GRANULE) return;
    uint32_t mask = mask_of(&p);
    cells->shapes[code][from] =
        (shape){.bits = bits_of(&p),
                .did = mask << ONE_TOUCHED | (p.write ? mask << ONE_WRITTEN : 0) |
                       (uint32_t)bounds_of(&p) << ONE_BOUNDS,
                .mask = (uint8_t)mask,
                .only_reads = !p.write};
}

void ft_cells_count_start(ft_cells *cells)
{
    for (uint32_t code = 0; code < 8 * FT_RAW_FORMS; code++)
        for (unsigned from = 0; from < GRANULE; from++) fill_shape(cells, code, from);
}

static void count_other(ft_cells *cells, const ft_raw_event *e, uint64_t value)
{
    uint32_t form = e->code / 8, size = 1u << e->code % 8;
    unsigned from = e->address % GRANULE;
    if (from + size > GRANULE) {
        ft_cells_count_range(cells, e->address, size, form, (const unsigned char *)&value);
        return;
    }
    part p = {.from = from,
              .to = from + size,
              .read = is_read(form),
              .write = is_write(form),
              .has_content = true};
    p.content = value << 8 * from & bits_of(&p);
    touch(cells, e->address / GRANULE, &p);
}

/* Nothing that the granule does not say yet, and no read of what nobody wrote. False: it is
 * something else, and nothing was done. */
static inline bool count_usual(spot *at, const shape *s, unsigned from, uint64_t value,
                               uint32_t turn, uint32_t thread)
{
    uint64_t slot = at->slot, now = at->content, differ = (now ^ value << 8 * from) & s->bits;
    bool own = slot >> ONE_THREAD == thread + 1;
    uint32_t said = own ? (uint32_t)slot : at->said;
    uint8_t known = at->known;
    if (!s->did || s->did & ~said) return false;
    if (s->only_reads && (differ || s->mask & ~known)) return false;
    at->touched = turn;
    at->content = now ^ differ;
    at->known = known | s->mask;
    return true;
}

/* All of them are on their way from memory before the first is needed: a program with much of it
 * waits for little else. */
static void find_spots(ft_cells *cells, const ft_raw_event *events, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = events[i].address / GRANULE;
        cells->spots[i] = &page_at(cells, key, true)->at[key % PAGE];
        __builtin_prefetch(cells->spots[i], 1);
    }
}

void ft_cells_count_events(ft_cells *cells, uint32_t thread, const ft_raw_event *events, uint32_t n)
{
    ft_cells_turn_to(cells, thread);
    find_spots(cells, events, n);
    uint32_t turn = cells->turn;
    for (uint32_t i = 0; i < n; i++) {
        const ft_raw_event *e = &events[i];
        if (e->code >= FT_RAW_ENTER) continue;
        unsigned from = e->address % GRANULE;
        uint64_t value = (uint64_t)(e->code / 8 == FT_RAW_FORM_UPDATE ? e->written : e->value);
        if (!count_usual(cells->spots[i], &cells->shapes[e->code][from], from, value, turn, thread))
            count_other(cells, e, value);
    }
}

/* ---- memory that ends */

/* The granules of a page that one other thread than the freeing one used, each thread's latest. */
static void find_last_uses(ft_cells *cells, const page *p, uint64_t key, uint64_t stop)
{
    for (; key < stop; key++) {
        uint64_t thread = p->at[key % PAGE].slot >> ONE_THREAD;
        if (!thread || thread == SEVERAL || thread == cells->thread + 1) continue;
        actor *a = &cells->actors.data[thread - 1];
        if (p->at[key % PAGE].touched < a->last_turn) continue;
        a->last_turn = p->at[key % PAGE].touched;
        a->last_key = key;
    }
}

/* What a thread touched last of memory that another one frees is shared with that one. What it
 * touched before is not kept: where that can come behind the free, the last mostly can. */
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
    if (cells->actors.len < 2 || !ft_map_get(&cells->blocks, address / ALIGNED, &index)) return;
    const allocation *block = &cells->allocations.data[index];
    uint64_t key = block->address / GRANULE,
             to = (block->address + block->size + GRANULE - 1) / GRANULE;
    if (block->address != address) return;
    while (key < to) {
        uint64_t stop = (key / PAGE + 1) * PAGE < to ? (key / PAGE + 1) * PAGE : to;
        const page *p = page_at(cells, key, false);
        if (p) find_last_uses(cells, p, key, stop);
        key = stop;
    }
    share_last_uses(cells);
}
