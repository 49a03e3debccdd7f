#include "maker/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum {
    GRANULE = 8,
    NOBODY = 0xFFFF,
    ALIGNED = 16,
    BIG = 4096,
    STARTS = 64,
    PAGE = 512, /* granules */
    NEAR = 256  /* pages that are found without a look-up */
};

/* What the first pass learns of one granule in one life, once a second thread touched it. */
typedef struct granule {
    uint64_t address;
    uint16_t first[GRANULE];         /* the thread that touched a byte first */
    uint8_t shared, written, bounds; /* bit per byte; bounds: an access begins there */
    uint32_t life;                   /* which one, counted from 0 */
    uint32_t born;                   /* how many allocations there were before */
    uint32_t cell;                   /* its first shared cell, FT_NO_CELL */
    uint32_t next;                   /* with cells: the next one of that address with cells, + 1 */
} granule;

/* All of memory that was touched, in pages. A slot is 0 while its granule has no life. In the first
 * pass it says then what one thread did there (ONE_*), or which granule it is (SEVERAL). In the
 * second pass only granules that have cells in some life are told of: LATER, and whether it was
 * touched in this life. Most granules belong to one thread for ever: a pass over their accesses is
 * one look at a slot. */
typedef struct page {
    struct {
        uint64_t slot;
        uint64_t content; /* first pass: what the granule held after its last access */
        uint32_t touched; /* the turn of its last access */
        uint32_t lives;   /* that have ended */
        uint8_t known;    /* bit per byte: that is known of the content */
    } at[PAGE];           /* what one access needs lies in one cache line */
} page;

enum { ONE_THREAD = 48, ONE_TOUCHED = 16, ONE_WRITTEN = 8, ONE_BOUNDS = 0, SEVERAL = 0xFFFF };
#define LATER_TOUCHED (UINT64_C(1) << 63)

/* A thread, as far as memory is concerned. */
typedef struct actor {
    uint32_t ran; /* its last turn, 0: none yet */
    uint64_t stack, stack_size;
    bool ended, late; /* late: ft_cells_late */
    /* of the memory that is being freed: the granule that the thread touched last */
    uint64_t last_key;
    uint32_t last_turn; /* 0: none */
} actor;

typedef struct allocation {
    uint64_t address, size;
    uint32_t turn;   /* when */
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
    ft_map numbers; /* address of a page -> its number in pages */
    FT_VEC(page *) pages;
    struct {
        uint64_t number; /* of the page, + 1; 0: none */
        page *page;
    } near[NEAR];
    FT_VEC(granule) granules;
    FT_VEC(allocation) allocations;
    ft_map blocks;        /* address / ALIGNED of allocations -> the latest one */
    ft_map starts;        /* address / ALIGNED / STARTS -> a bit for each that is in blocks */
    FT_VEC(uint32_t) big; /* allocations larger than BIG */
    FT_VEC(region) regions;
    FT_VEC(ft_cell) cells;
    FT_VEC(actor) actors; /* by thread */
    uint64_t low, high;   /* all allocations lie in between */
    uint32_t turn;        /* which of the threads' turns it is, from 1 */
    uint32_t thread;      /* whose */
    uint64_t touched;     /* granules, in all their lives */
    bool settled;
};

ft_cells *ft_cells_new(void)
{
    return ft_calloc(1, sizeof(ft_cells));
}

void ft_cells_free(ft_cells *cells)
{
    if (!cells) return;
    for (size_t i = 0; i < cells->pages.len; i++) free(cells->pages.data[i]);
    ft_vec_release(&cells->pages);
    ft_map_release(&cells->numbers);
    ft_map_release(&cells->blocks);
    ft_map_release(&cells->starts);
    ft_vec_release(&cells->granules);
    ft_vec_release(&cells->allocations);
    ft_vec_release(&cells->big);
    ft_vec_release(&cells->regions);
    ft_vec_release(&cells->actors);
    ft_vec_release(&cells->cells);
    free(cells);
}

/* ---- pages */

static page *find_page(ft_cells *cells, uint64_t number, bool make)
{
    uint64_t index;
    page *found = NULL;
    if (ft_map_get(&cells->numbers, number, &index)) {
        found = cells->pages.data[index];
    } else if (make) {
        found = ft_calloc(1, sizeof *found);
        ft_map_put(&cells->numbers, number, cells->pages.len);
        ft_vec_push(&cells->pages, found);
    }
    if (found) {
        cells->near[number % NEAR].number = number + 1;
        cells->near[number % NEAR].page = found;
    }
    return found;
}

static inline page *page_at(ft_cells *cells, uint64_t key, bool make)
{
    uint64_t number = key / PAGE;
    if (cells->near[number % NEAR].number == number + 1) return cells->near[number % NEAR].page;
    return find_page(cells, number, make);
}

static void end_life(ft_cells *cells, page *p, uint64_t i)
{
    if (!p->at[i].slot) return;
    if (!cells->settled) {
        p->at[i].slot = 0;
        p->at[i].known = 0;
        p->at[i].touched = 0;
        p->at[i].lives++;
    } else if (p->at[i].slot & LATER_TOUCHED) {
        p->at[i].slot &= ~LATER_TOUCHED;
        p->at[i].lives++;
    }
}

/* Granules in the range begin a new life at their next access. */
static void end_lives(ft_cells *cells, uint64_t address, uint64_t size)
{
    uint64_t key = address / GRANULE, to = (address + size + GRANULE - 1) / GRANULE;
    while (key < to) {
        uint64_t stop = (key / PAGE + 1) * PAGE < to ? (key / PAGE + 1) * PAGE : to;
        page *p = page_at(cells, key, false);
        for (; p && key < stop; key++) end_life(cells, p, key % PAGE);
        key = stop;
    }
}

/* ---- first pass */

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
}

static void later_of(const ft_cells *cells, uint32_t index, uint64_t address, uint32_t *latest)
{
    const allocation *a = &cells->allocations.data[index];
    bool around = address >= a->address && address - a->address < a->size;
    if (around && (*latest == FT_NO_ALLOCATION || index > *latest)) *latest = index;
}

/* The latest of the allocations that begin there, if it is around the granule. */
static void later_at(const ft_cells *cells, uint64_t at, const granule *g, uint32_t *latest)
{
    uint64_t index = FT_NO_ALLOCATION;
    ft_map_get(&cells->blocks, at, &index);
    while (index != FT_NO_ALLOCATION && index >= g->born)
        index = cells->allocations.data[index].before;
    if (index != FT_NO_ALLOCATION) later_of(cells, (uint32_t)index, g->address, latest);
}

/* The latest allocation around the granule before it was born. */
static uint32_t allocation_of(const ft_cells *cells, const granule *g)
{
    uint32_t latest = FT_NO_ALLOCATION;
    uint64_t last = g->address / ALIGNED;
    uint64_t first = last > BIG / ALIGNED ? last - BIG / ALIGNED : 0;
    for (uint64_t word = first / STARTS; word <= last / STARTS; word++) {
        uint64_t bits = 0;
        ft_map_get(&cells->starts, word, &bits);
        if (word == first / STARTS) bits &= UINT64_MAX << first % STARTS;
        if (word == last / STARTS) bits &= UINT64_MAX >> (STARTS - 1 - last % STARTS);
        for (; bits; bits &= bits - 1)
            later_at(cells, word * STARTS + (unsigned)__builtin_ctzll(bits), g, &latest);
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

/* A read that found what no record wrote: code without hooks did, the thread's own or another's. */
static void found(ft_cells *cells, uint64_t key, page *in, uint8_t mask, uint32_t since)
{
    uint64_t *slot = &in->at[key % PAGE].slot;
    granule here = {.address = key * GRANULE, .born = (uint32_t)cells->allocations.len};
    uint32_t block = allocation_of(cells, &here), thread = cells->thread;
    if (block != FT_NO_ALLOCATION && cells->allocations.data[block].turn > since)
        since = cells->allocations.data[block].turn;
    bool several = *slot >> ONE_THREAD == SEVERAL;
    if (several)
        cells->granules.data[(uint32_t)*slot].written |= mask;
    else
        *slot |= (uint64_t)mask << ONE_WRITTEN;
    bool alone = is_untouched_by_others(cells, *slot, thread);
    if (owner_of(cells, here.address, block) == thread && alone) return;
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

/* content: of all of it after the access; NULL: the log does not say. */
static void count_range(ft_cells *cells, uint64_t address, uint64_t size, uint32_t form,
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

static actor *actor_of(ft_cells *cells, uint32_t thread)
{
    while (cells->actors.len <= thread) ft_vec_push(&cells->actors, (actor){0});
    return &cells->actors.data[thread];
}

static void next_turn(ft_cells *cells, uint32_t thread)
{
    cells->turn++;
    cells->thread = thread;
    actor_of(cells, thread)->ran = cells->turn;
}

static void turn_to(ft_cells *cells, uint32_t thread)
{
    if (!cells->turn || cells->thread != thread) next_turn(cells, thread);
}

void ft_cells_count_events(ft_cells *cells, uint32_t thread, const ft_raw_event *events, uint32_t n)
{
    turn_to(cells, thread);
    for (uint32_t i = 0; i < n; i++) {
        const ft_raw_event *e = &events[i];
        if (e->code >= FT_RAW_ENTER) continue;
        unsigned from = e->address % GRANULE, size = 1u << e->code % 8;
        uint32_t form = e->code / 8;
        uint64_t value = (uint64_t)(form == FT_RAW_FORM_UPDATE ? e->written : e->value);
        part p = {.from = from,
                  .to = from + size,
                  .read = is_read(form),
                  .write = is_write(form),
                  .has_content = true};
        p.content = value << 8 * from;
        if (from + size > GRANULE) {
            count_range(cells, e->address, size, form, (const unsigned char *)&value);
        } else {
            p.content &= bits_of(&p);
            touch(cells, e->address / GRANULE, &p);
        }
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
    *ft_map_slot(&cells->starts, address / ALIGNED / STARTS, 0, NULL) |=
        UINT64_C(1) << address / ALIGNED % STARTS;
    if (size > BIG) ft_vec_push(&cells->big, index);
    ft_vec_push(&cells->allocations, (allocation){.address = address,
                                                  .size = size,
                                                  .turn = cells->turn,
                                                  .thread = thread,
                                                  .before = (uint32_t)before});
    if (!cells->high || address < cells->low) cells->low = address;
    if (address + size > cells->high) cells->high = address + size;
}

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

static void end_allocation(ft_cells *cells, uint64_t address)
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

/* Zeros right behind an allocation are calloc's. */
static void begin_as_zeros(ft_cells *cells, uint64_t address, uint64_t size)
{
    size_t n = cells->allocations.len;
    if (n && cells->allocations.data[n - 1].address == address)
        cells->allocations.data[n - 1].zeroed = true;
    else
        ft_vec_push(&cells->regions, (region){address, size, NULL});
}

/* The first thread's stack was in use before it could be told of. */
static void begin_thread(ft_cells *cells, const ft_raw_record *r)
{
    actor *a = actor_of(cells, r->thread);
    a->stack = r->operands[0];
    a->stack_size = r->operands[1];
    if (r->thread) end_lives(cells, a->stack, a->stack_size);
}

static void apply(ft_cells *cells, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    turn_to(cells, r->thread);
    if (r->access && !cells->settled)
        count_range(cells, r->address, r->size, r->form, r->length == r->size ? r->text : NULL);
    if (r->access) return;
    if (r->operation == FT_RAW_ALLOC)
        begin_allocation(cells, o[1], o[2], r->thread);
    else if (r->operation == FT_RAW_FREE && !cells->settled)
        end_allocation(cells, o[1]);
    else if (r->operation == FT_RAW_SYNC || r->operation == FT_RAW_MARK)
        next_turn(cells, r->thread); /* what comes behind it is later than what was before */
    else if (r->operation == FT_RAW_BEGIN)
        begin_thread(cells, r);
    else if (r->operation == FT_RAW_END)
        actor_of(cells, r->thread)->ended = true;
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

/* ---- between them */

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

/* The second pass meets the lives of an address in their order. */
static void link_lives(ft_cells *cells)
{
    for (size_t i = cells->granules.len; i-- > 0;) {
        granule *g = &cells->granules.data[i];
        if (g->cell == FT_NO_CELL) continue;
        uint64_t key = g->address / GRANULE,
                 *slot = &page_at(cells, key, true)->at[key % PAGE].slot;
        g->next = (uint32_t)*slot;
        *slot = i + 1;
    }
}

void ft_cells_settle(ft_cells *cells)
{
    for (size_t i = 0; i < cells->granules.len; i++) add_cells(cells, &cells->granules.data[i]);
    for (size_t i = 0; i < cells->pages.len; i++)
        memset(cells->pages.data[i], 0, sizeof *cells->pages.data[i]);
    link_lives(cells);
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
    return cells->touched;
}

const ft_cell *ft_cells_get(const ft_cells *cells, uint32_t cell)
{
    return &cells->cells.data[cell];
}

/* ---- second pass */

bool ft_cells_may_be(ft_cells *cells, uint64_t address, uint64_t size)
{
    for (uint64_t key = address / GRANULE; key <= (address + size - 1) / GRANULE; key++) {
        page *p = page_at(cells, key, true);
        if (p->at[key % PAGE].slot) return true;
    }
    return false;
}

/* The granule with cells that lives at the slot, which is touched now; NULL: none. */
static const granule *living(ft_cells *cells, page *p, uint64_t i)
{
    uint64_t *slot = &p->at[i].slot;
    if (!*slot) return NULL;
    *slot |= LATER_TOUCHED;
    uint32_t index = (uint32_t)*slot;
    while (index && cells->granules.data[index - 1].life < p->at[i].lives)
        index = cells->granules.data[index - 1].next;
    *slot = index ? LATER_TOUCHED | index : 0;
    if (!index || cells->granules.data[index - 1].life != p->at[i].lives) return NULL;
    return &cells->granules.data[index - 1];
}

uint32_t ft_cells_at(ft_cells *cells, uint64_t address, uint32_t *skip)
{
    uint64_t key = address / GRANULE, next = (key + 1) * GRANULE;
    *skip = (uint32_t)(next - address);
    page *p = page_at(cells, key, false);
    const granule *g = p ? living(cells, p, key % PAGE) : NULL;
    if (!g) return FT_NO_CELL;
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

/* The cell of the granule that the access covers, no more and no less. */
static uint32_t exact_cell(const ft_cells *cells, const granule *g, uint64_t address, uint32_t size)
{
    for (uint32_t c = g->cell; c < cells->cells.len; c++) {
        const ft_cell *cell = &cells->cells.data[c];
        if (cell->address == address) return cell->size == size ? c : FT_SEVERAL_CELLS;
        if (cell->address > address || cell->address < g->address) break;
    }
    return FT_SEVERAL_CELLS;
}

static inline uint32_t find_cell(ft_cells *cells, uint64_t address, uint32_t size)
{
    uint64_t key = address / GRANULE;
    if (address % GRANULE + size > GRANULE)
        return ft_cells_may_be(cells, address, size) ? FT_SEVERAL_CELLS : FT_NO_CELL;
    page *p = page_at(cells, key, true);
    if (!p->at[key % PAGE].slot) return FT_NO_CELL;
    const granule *g = living(cells, p, key % PAGE);
    return g ? exact_cell(cells, g, address, size) : FT_NO_CELL;
}

void ft_cells_find(ft_cells *cells, const ft_raw_event *events, uint32_t n, uint32_t *found)
{
    for (uint32_t i = 0; i < n; i++)
        found[i] = events[i].code >= FT_RAW_ENTER
                       ? FT_NO_CELL
                       : find_cell(cells, events[i].address, 1u << events[i].code % 8);
}
