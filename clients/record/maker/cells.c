#include "maker/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum { GRANULE = 8, NOBODY = 0xFFFF, ALIGNED = 16, BIG = 4096 };

/* What the first pass learns of one granule in one life. */
typedef struct granule {
    uint64_t address;
    uint16_t first[GRANULE];         /* the thread that touched a byte first */
    uint8_t shared, written, bounds; /* bit per byte; bounds: an access begins there */
    uint8_t known;                   /* bit per byte: its content is known */
    unsigned char content[GRANULE];
    uint32_t born;    /* how many allocations there were before */
    uint64_t touched; /* the record of its last access */
    uint32_t cell;    /* its first shared cell, FT_NO_CELL */
} granule;

/* A thread, as far as memory is concerned. */
typedef struct actor {
    uint64_t ran; /* its last record, 0: none yet */
    uint64_t stack, stack_size;
    bool ended, late; /* late: ft_cells_late */
} actor;

typedef struct allocation {
    uint64_t address, size;
    uint64_t record; /* when */
    uint32_t thread; /* whose */
    uint32_t before; /* the one before at the same address, FT_NO_ALLOCATION */
    bool zeroed;
} allocation;

/* Memory with a known content at its start. */
typedef struct region {
    uint64_t address, size;
    const unsigned char *content; /* NULL: zeros; in the log */
} region;

struct ft_cells {
    ft_map live; /* address / GRANULE -> granule */
    FT_VEC(granule) granules;
    FT_VEC(allocation) allocations;
    ft_map blocks;        /* address / ALIGNED of allocations -> the latest one */
    FT_VEC(uint32_t) big; /* allocations larger than BIG */
    FT_VEC(region) regions;
    FT_VEC(ft_cell) cells;
    size_t next;          /* second pass: the next granule to live */
    uint64_t low, high;   /* all allocations lie in between */
    FT_VEC(actor) actors; /* by thread */
    uint64_t now;         /* number of the record */
    bool settled;
};

ft_cells *ft_cells_new(void)
{
    return ft_calloc(1, sizeof(ft_cells));
}

void ft_cells_free(ft_cells *cells)
{
    if (!cells) return;
    ft_map_release(&cells->live);
    ft_map_release(&cells->blocks);
    ft_vec_release(&cells->granules);
    ft_vec_release(&cells->allocations);
    ft_vec_release(&cells->big);
    ft_vec_release(&cells->regions);
    ft_vec_release(&cells->actors);
    ft_vec_release(&cells->cells);
    free(cells);
}

enum { DEAD = -1 };

/* Granules in the range begin a new life at their next access. */
static void end_lives(ft_cells *cells, uint64_t address, uint64_t size)
{
    uint64_t from = address / GRANULE, to = (address + size + GRANULE - 1) / GRANULE;
    if (to - from <= cells->live.len) {
        for (uint64_t g = from; g < to; g++)
            if (ft_map_get(&cells->live, g, NULL)) ft_map_put(&cells->live, g, (uint64_t)DEAD);
        return;
    }
    for (size_t i = 0; i < cells->live.cap; i++)
        if (cells->live.full[i] && cells->live.keys[i] >= from && cells->live.keys[i] < to)
            cells->live.values[i] = (uint64_t)DEAD;
}

static granule *new_granule(ft_cells *cells, uint64_t key)
{
    ft_vec_push(&cells->granules, (granule){.address = key * GRANULE, .cell = FT_NO_CELL});
    granule *g = &cells->granules.data[cells->granules.len - 1];
    for (int i = 0; i < GRANULE; i++) g->first[i] = NOBODY;
    g->bounds = 1;
    g->born = (uint32_t)cells->allocations.len;
    return g;
}

/* The granule that lives at `key`; born now if there is none. */
static granule *granule_at(ft_cells *cells, uint64_t key)
{
    uint64_t *slot = ft_map_slot(&cells->live, key, (uint64_t)DEAD, NULL);
    if (*slot != (uint64_t)DEAD) return &cells->granules.data[*slot];
    if (cells->settled) {
        *slot = cells->next++;
        return &cells->granules.data[*slot];
    }
    *slot = cells->granules.len;
    return new_granule(cells, key);
}

static void later_of(const ft_cells *cells, uint32_t index, uint64_t address, uint32_t *latest)
{
    const allocation *a = &cells->allocations.data[index];
    bool around = address >= a->address && address - a->address < a->size;
    if (around && (*latest == FT_NO_ALLOCATION || index > *latest)) *latest = index;
}

/* The latest allocation around the granule before it was born. */
static uint32_t allocation_of(const ft_cells *cells, const granule *g)
{
    uint32_t latest = FT_NO_ALLOCATION;
    for (uint64_t n = 0, at = g->address / ALIGNED; n <= BIG / ALIGNED && n <= at; n++) {
        uint64_t index;
        if (!ft_map_get(&cells->blocks, at - n, &index)) continue;
        while (index != FT_NO_ALLOCATION && index >= g->born)
            index = cells->allocations.data[index].before;
        if (index != FT_NO_ALLOCATION) later_of(cells, (uint32_t)index, g->address, &latest);
    }
    for (size_t i = 0; i < cells->big.len && cells->big.data[i] < g->born; i++)
        later_of(cells, cells->big.data[i], g->address, &latest);
    return latest;
}

static uint32_t owner_of(const ft_cells *cells, uint64_t address, uint32_t block)
{
    if (block != FT_NO_ALLOCATION) return cells->allocations.data[block].thread;
    for (uint32_t t = 0; t < cells->actors.len; t++) {
        const actor *a = &cells->actors.data[t];
        if (address - a->stack < a->stack_size) return t;
    }
    return FT_NO_OWNER;
}

static bool is_untouched_by_others(const granule *g, uint32_t thread)
{
    bool alone = !g->shared;
    for (int i = 0; i < GRANULE; i++) alone &= g->first[i] == NOBODY || g->first[i] == thread;
    return alone;
}

/* Did another thread run since that record? Those that ended meanwhile are late. */
static bool others_ran(ft_cells *cells, uint64_t since, uint32_t thread)
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

/* A read that found what no record wrote: code without hooks did, the thread's own or another's. */
static void found(ft_cells *cells, granule *g, uint8_t mask, uint32_t thread)
{
    uint32_t block = allocation_of(cells, g);
    uint64_t since = g->touched;
    if (block != FT_NO_ALLOCATION && cells->allocations.data[block].record > since)
        since = cells->allocations.data[block].record;
    g->written |= mask;
    if (owner_of(cells, g->address, block) == thread && is_untouched_by_others(g, thread)) return;
    if (others_ran(cells, since, thread)) g->shared |= mask;
}

/* The part of a granule, from its byte `from` to `to`, that one access covers. */
typedef struct part {
    unsigned from, to;
    const unsigned char *bytes; /* what was there after the access; NULL: not kept */
    bool read, write;
} part;

static uint8_t mask_of(const part *p)
{
    return (uint8_t)(((1u << (p->to - p->from)) - 1) << p->from);
}

static bool is_heap(const ft_cells *cells, const granule *g)
{
    return g->address >= cells->low && g->address < cells->high;
}

static void follow_content(ft_cells *cells, granule *g, const part *p, uint32_t thread)
{
    uint8_t mask = mask_of(p), strange = 0;
    for (unsigned i = p->from; i < p->to && p->bytes; i++) {
        uint8_t bit = (uint8_t)(1u << i);
        bool same = g->known & bit && g->content[i] == p->bytes[i - p->from];
        if (!same && (g->known & bit || is_heap(cells, g))) strange |= bit;
        g->content[i] = p->bytes[i - p->from];
    }
    if (p->read && !p->write && strange) found(cells, g, strange, thread);
    if (p->bytes)
        g->known |= mask;
    else if (p->write)
        g->known &= (uint8_t)~mask;
}

static void touch(ft_cells *cells, granule *g, const part *p, uint32_t thread)
{
    follow_content(cells, g, p, thread);
    g->touched = cells->now;
    for (unsigned i = p->from; i < p->to; i++) {
        if (g->first[i] == NOBODY)
            g->first[i] = (uint16_t)thread;
        else if (g->first[i] != thread)
            g->shared |= (uint8_t)(1u << i);
    }
    if (p->write) g->written |= mask_of(p);
    g->bounds |= (uint8_t)(1u << p->from);
    if (p->to < GRANULE) g->bounds |= (uint8_t)(1u << p->to);
}

/* What memory held after the access; NULL: the log does not say. `scratch` backs it. */
static const unsigned char *content_after(const ft_raw_record *r, unsigned char scratch[GRANULE])
{
    if (r->text || r->size > GRANULE) return r->length == r->size ? r->text : NULL;
    uint64_t bits = (uint64_t)(r->form == FT_RAW_FORM_UPDATE ? r->written : r->value);
    for (int i = 0; i < GRANULE; i++) scratch[i] = (unsigned char)(bits >> (8 * i));
    return scratch;
}

static void count_access(ft_cells *cells, const ft_raw_record *r)
{
    unsigned char scratch[GRANULE];
    const unsigned char *bytes = content_after(r, scratch);
    bool read = r->form != FT_RAW_FORM_WRITE && r->form != FT_RAW_FORM_ATOMIC_WRITE;
    bool write = r->form != FT_RAW_FORM_READ && r->form != FT_RAW_FORM_ATOMIC_READ;
    for (uint64_t at = r->address, end = r->address + r->size; at < end;) {
        uint64_t key = at / GRANULE, stop = (key + 1) * GRANULE < end ? (key + 1) * GRANULE : end;
        granule *g = granule_at(cells, key);
        part p = {.from = (unsigned)(at % GRANULE),
                  .to = (unsigned)(stop - key * GRANULE),
                  .bytes = bytes ? bytes + (at - r->address) : NULL,
                  .read = read,
                  .write = write};
        if (!cells->settled) touch(cells, g, &p, r->thread);
        at = stop;
    }
}

static void begin_allocation(ft_cells *cells, uint64_t address, uint64_t size, uint32_t thread)
{
    uint64_t before = FT_NO_ALLOCATION;
    uint32_t index = (uint32_t)cells->allocations.len;
    end_lives(cells, address, size);
    if (cells->settled) return;
    ft_map_get(&cells->blocks, address / ALIGNED, &before);
    ft_map_put(&cells->blocks, address / ALIGNED, index);
    if (size > BIG) ft_vec_push(&cells->big, index);
    ft_vec_push(&cells->allocations, (allocation){.address = address,
                                                  .size = size,
                                                  .record = cells->now,
                                                  .thread = thread,
                                                  .before = (uint32_t)before});
    if (!cells->high || address < cells->low) cells->low = address;
    if (address + size > cells->high) cells->high = address + size;
}

/* Zeros right behind an allocation are calloc's. */
static void begin_as_zeros(ft_cells *cells, uint64_t address, uint64_t size)
{
    size_t n = cells->allocations.len;
    if (n && cells->allocations.data[n - 1].address == address)
        cells->allocations.data[n - 1].zeroed = true;
    else
        ft_vec_push(&cells->regions, (region){address, size, NULL});
}

static actor *actor_of(ft_cells *cells, uint32_t thread)
{
    while (cells->actors.len <= thread) ft_vec_push(&cells->actors, (actor){0});
    return &cells->actors.data[thread];
}

/* The first thread's stack was in use before it could be told of. */
static void begin_thread(ft_cells *cells, actor *a, const ft_raw_record *r)
{
    a->stack = r->operands[0];
    a->stack_size = r->operands[1];
    if (r->thread) end_lives(cells, a->stack, a->stack_size);
}

static void apply(ft_cells *cells, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    actor *a = actor_of(cells, r->thread);
    a->ran = ++cells->now;
    if (r->access)
        count_access(cells, r);
    else if (r->operation == FT_RAW_ALLOC)
        begin_allocation(cells, o[1], o[2], r->thread);
    else if (r->operation == FT_RAW_BEGIN)
        begin_thread(cells, a, r);
    else if (r->operation == FT_RAW_END)
        a->ended = true;
    else if (r->operation == FT_RAW_ZERO && !cells->settled)
        begin_as_zeros(cells, o[0], o[1]);
    else if (r->operation == FT_RAW_MEMORY && !cells->settled)
        ft_vec_push(&cells->regions, (region){o[0], r->length, r->text});
}

void ft_cells_count(ft_cells *cells, const ft_raw_record *record)
{
    apply(cells, record);
}

void ft_cells_follow(ft_cells *cells, const ft_raw_record *record)
{
    apply(cells, record);
}

static int64_t bytes_as_value(const unsigned char *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++) value |= (uint64_t)bytes[i] << (8 * i);
    uint32_t shift = 64 - 8 * size;
    return (int64_t)(value << shift) >> shift;
}

/* What a cell outside of all allocations holds when the program starts. */
static void find_initial(const ft_cells *cells, ft_cell *cell)
{
    for (size_t i = cells->regions.len; i-- > 0;) { /* contents lie over the zeros before them */
        const region *r = &cells->regions.data[i];
        uint64_t offset = cell->address - r->address;
        if (cell->address < r->address || offset + cell->size > r->size) continue;
        cell->has_initial = true;
        cell->initial = r->content ? bytes_as_value(r->content + offset, cell->size) : 0;
        return;
    }
}

static void lie_in(const allocation *block, ft_cell *cell)
{
    cell->allocated_at = block->address;
    cell->has_initial = block->zeroed;
}

static void add_cells(ft_cells *cells, granule *g)
{
    unsigned conflict = g->shared & g->written;
    uint32_t block = conflict ? allocation_of(cells, g) : FT_NO_ALLOCATION;
    for (unsigned from = 0, to; from < GRANULE; from = to) {
        for (to = from + 1; to < GRANULE && !(g->bounds >> to & 1);) to++;
        if (!(conflict >> from & 1)) continue;
        ft_cell cell = {.address = g->address + from, .size = to - from, .allocation = block};
        cell.owner = owner_of(cells, cell.address, block);
        if (block == FT_NO_ALLOCATION)
            find_initial(cells, &cell);
        else
            lie_in(&cells->allocations.data[block], &cell);
        if (g->cell == FT_NO_CELL) g->cell = (uint32_t)cells->cells.len;
        ft_vec_push(&cells->cells, cell);
    }
}

void ft_cells_settle(ft_cells *cells)
{
    for (size_t i = 0; i < cells->granules.len; i++) add_cells(cells, &cells->granules.data[i]);
    ft_map_release(&cells->live);
    ft_map_release(&cells->blocks);
    cells->live = (ft_map){0};
    cells->blocks = (ft_map){0};
    cells->settled = true;
}

bool ft_cells_late(const ft_cells *cells, uint32_t thread)
{
    return thread < cells->actors.len && cells->actors.data[thread].late;
}

uint32_t ft_cells_count_of(const ft_cells *cells)
{
    return (uint32_t)cells->cells.len;
}

uint64_t ft_cells_granules(const ft_cells *cells)
{
    return cells->granules.len;
}

const ft_cell *ft_cells_get(const ft_cells *cells, uint32_t cell)
{
    return &cells->cells.data[cell];
}

uint32_t ft_cells_at(const ft_cells *cells, uint64_t address, uint32_t *skip)
{
    uint64_t index, key = address / GRANULE, next = (key + 1) * GRANULE;
    *skip = (uint32_t)(next - address);
    if (!ft_map_get(&cells->live, key, &index) || index == (uint64_t)DEAD) return FT_NO_CELL;
    const granule *g = &cells->granules.data[index];
    if (g->cell == FT_NO_CELL) return FT_NO_CELL;
    for (uint32_t c = g->cell; c < cells->cells.len; c++) {
        const ft_cell *cell = &cells->cells.data[c];
        if (cell->address >= next || cell->address < g->address) break;
        if (cell->address == address) return c;
        if (cell->address > address) {
            *skip = (uint32_t)(cell->address - address);
            break;
        }
    }
    return FT_NO_CELL;
}
