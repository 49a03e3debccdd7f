/* Pages, allocations and the making of cells; the look-up of cells in the second pass. */
#include "maker/cells/cells_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "raw/schedule.h"

ft_cells *ft_cells_new(void)
{
    ft_cells *cells = ft_calloc(1, sizeof *cells);
    cells->stacks = UINT64_MAX;
    ft_cells_count_start(cells);
    ft_cells_order_start(cells);
    return cells;
}

void ft_cells_keep_ordered(ft_cells *cells)
{
    FT_REQUIRE(!cells->turn);
    cells->keeps_ordered = true;
}

void ft_cells_tell_ordered(ft_cells *cells)
{
    FT_REQUIRE(!cells->turn);
    cells->tells_ordered = true;
}

static void release_pages(ft_cells *cells)
{
    for (size_t i = 0; i < cells->pages.len; i++) free(cells->pages.data[i]);
    ft_vec_release(&cells->pages);
    ft_map_release(&cells->numbers);
    memset(cells->near, 0, sizeof cells->near);
}

void ft_cells_free(ft_cells *cells)
{
    if (!cells) return;
    release_pages(cells);
    free(cells->empty);
    ft_cells_order_release(cells);
    ft_cells_want_release(cells);
    ft_map_release(&cells->blocks);
    ft_map_release(&cells->starts);
    ft_map_release(&cells->handed);
    ft_vec_release(&cells->granules);
    ft_vec_release(&cells->allocations);
    ft_vec_release(&cells->jumps);
    ft_vec_release(&cells->big);
    ft_vec_release(&cells->regions);
    ft_vec_release(&cells->constants);
    ft_vec_release(&cells->actors);
    ft_vec_release(&cells->fences);
    ft_vec_release(&cells->cells);
    free(cells);
}

/* ---- pages */

page *ft_cells_find_page(ft_cells *cells, uint64_t number, bool make)
{
    uint64_t index;
    page *found = NULL;
    if (ft_map_get(&cells->numbers, number, &index)) {
        found = cells->pages.data[index];
    } else if (cells->settled) {
        found = cells->empty;
    } else if (make) {
        found = ft_calloc(1, sizeof *found);
        found->number = number;
        ft_map_put(&cells->numbers, number, cells->pages.len);
        ft_vec_push(&cells->pages, found);
    }
    if (found) {
        cells->near[number % NEAR].number = number + 1;
        cells->near[number % NEAR].page = found;
    }
    return found;
}

void ft_cells_each_page(ft_cells *cells, uint64_t key, uint64_t to, bool again,
                        void (*visit)(ft_cells *cells, page *p, uint64_t key, uint64_t stop,
                                      bool again))
{
    if (key >= to) return;
    uint64_t first = key / PAGE, last = (to - 1) / PAGE, n = last - first + 1;
    bool all = n > cells->pages.len;
    for (uint64_t i = 0; i < (all ? cells->pages.len : n); i++) {
        page *p = all ? cells->pages.data[i] : page_at(cells, (first + i) * PAGE, false);
        if (!p || p == cells->empty || p->number < first || p->number > last) continue;
        uint64_t from = p->number * PAGE, stop = from + PAGE;
        visit(cells, p, from > key ? from : key, stop < to ? stop : to, again);
    }
}

static void end_life(ft_cells *cells, page *p, uint64_t i)
{
    spot *at = &p->at[i];
    if (!at->slot) return;
    if (cells->settled) {
        at->found = FOUND_NOT_YET;
        return;
    }
    at->lost = (at->lost | ft_cells_written(cells, at)) & (uint8_t)~at->known;
    if (at->slot >> ONE_THREAD == SEVERAL)
        cells->granules.data[(uint32_t)at->slot].until = cells->begun;
    else if (cells->tells_ordered)
        ft_cells_count_ordered(cells, p, i, cells->begun);
    at->slot = 0;
    at->known = 0;
    at->said = 0;
    at->touched = 0;
    at->since = cells->begun;
}

static void end_lives_of(ft_cells *cells, page *p, uint64_t key, uint64_t stop, bool again)
{
    (void)again;
    for (; key < stop; key++) end_life(cells, p, key % PAGE);
}

/* Granules in the range begin a new life at their next access. */
static void end_lives(ft_cells *cells, uint64_t address, uint64_t size)
{
    cells->begun++;
    ft_cells_each_page(cells, address / GRANULE, (address + size + GRANULE - 1) / GRANULE, false,
                       end_lives_of);
}

/* ---- allocations */

/* Notes the allocation if it is around the address and later than *latest. True: it is around, and
 * not freed. */
static bool later_of(const ft_cells *cells, uint32_t index, uint64_t address, uint32_t *latest)
{
    const allocation *a = &cells->allocations.data[index];
    bool around = address >= a->address && address - a->address < a->size;
    if (around && (*latest == FT_NO_ALLOCATION || index > *latest)) *latest = index;
    return around && !a->freed;
}

/* The same of the latest allocation that begins there before the granule was born. In the first
 * pass that is always the last one there. */
static bool later_at(const ft_cells *cells, uint64_t at, const granule *g, uint32_t *latest)
{
    uint64_t index = FT_NO_ALLOCATION;
    ft_map_get(&cells->blocks, at, &index);
    while (index != FT_NO_ALLOCATION && index >= g->born) {
        uint32_t far = cells->jumps.data[index].far;
        index = far != index && far >= g->born ? far : cells->allocations.data[index].before;
    }
    return index != FT_NO_ALLOCATION && later_of(cells, (uint32_t)index, g->address, latest);
}

/* The places from first to last where allocations begin, of those that the word stands for. */
static uint64_t starts_in(const ft_cells *cells, uint64_t word, uint64_t first, uint64_t last)
{
    uint64_t bits = 0;
    ft_map_get(&cells->starts, word, &bits);
    if (word == first / STARTS) bits &= UINT64_MAX << first % STARTS;
    if (word == last / STARTS) bits &= UINT64_MAX >> (STARTS - 1 - last % STARTS);
    return bits;
}

/* The latest allocation up to BIG around the granule. The search goes down from its address: one
 * that is not freed does not lie in a later one that begins before it (end_overlaid). */
static uint32_t small_around(const ft_cells *cells, const granule *g)
{
    uint32_t latest = FT_NO_ALLOCATION;
    uint64_t last = g->address / ALIGNED;
    uint64_t first = last > BIG / ALIGNED ? last - BIG / ALIGNED : 0;
    for (uint64_t word = last / STARTS + 1; word-- > first / STARTS;) {
        uint64_t bits = starts_in(cells, word, first, last);
        while (bits) {
            unsigned at = STARTS - 1 - (unsigned)__builtin_clzll(bits);
            if (later_at(cells, word * STARTS + at, g, &latest)) return latest;
            bits &= ~(UINT64_C(1) << at);
        }
    }
    return latest;
}

uint32_t ft_cells_allocation_of(const ft_cells *cells, const granule *g)
{
    uint32_t latest = small_around(cells, g);
    for (size_t i = 0; i < cells->big.len && cells->big.data[i] < g->born; i++)
        later_of(cells, cells->big.data[i], g->address, &latest);
    bool stack = latest != FT_NO_ALLOCATION && cells->allocations.data[latest].stack;
    return stack ? FT_NO_ALLOCATION : latest;
}

uint32_t ft_cells_owner_of(const ft_cells *cells, uint64_t address, uint32_t block)
{
    assert(block == FT_NO_ALLOCATION || block < cells->allocations.len);
    if (block != FT_NO_ALLOCATION) return cells->allocations.data[block].thread;
    for (size_t t = cells->actors.len; t-- > 0;) { /* the memory of a stack is used again */
        const actor *a = &cells->actors.data[t];
        if (address - a->stack < a->stack_size) return (uint32_t)t;
    }
    return FT_NO_OWNER;
}

uint32_t ft_cells_stack_at(const ft_cells *cells, uint64_t address)
{
    return address < cells->stacks ? FT_NO_OWNER
                                   : ft_cells_owner_of(cells, address, FT_NO_ALLOCATION);
}

/* Allocations whose free is not in the log: the one that begins now overlays them. Those up to BIG
 * that begin before it are found behind it by ft_cells_allocation_of too. */
static void end_overlaid(ft_cells *cells, uint64_t address, uint64_t size)
{
    uint64_t first = address / ALIGNED + 1, last = (address + size - 1) / ALIGNED;
    if (!size || size > BIG || first > last) return;
    for (uint64_t word = first / STARTS; word <= last / STARTS; word++) {
        uint64_t bits = starts_in(cells, word, first, last), index;
        for (; bits; bits &= bits - 1)
            if (ft_map_get(&cells->blocks, word * STARTS + (unsigned)__builtin_ctzll(bits), &index))
                cells->allocations.data[index].freed = true;
    }
}

static void begin_allocation(ft_cells *cells, uint64_t address, uint64_t size, uint32_t thread)
{
    assert(cells->turn || cells->settled);
    uint32_t index = (uint32_t)cells->allocations.len;
    end_lives(cells, address, size);
    if (cells->settled) return;
    end_overlaid(cells, address, size);
    uint64_t *block = ft_map_slot(&cells->blocks, address / ALIGNED, FT_NO_ALLOCATION, NULL);
    uint64_t before = *block;
    *block = index;
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

/* The allocation of the record before, if it begins at that address; NULL: it does not. */
static allocation *just_made(ft_cells *cells, uint64_t address)
{
    size_t n = cells->allocations.len;
    allocation *last = n ? &cells->allocations.data[n - 1] : NULL;
    return last && last->address == address && !last->stack ? last : NULL;
}

static void start_as_zeros(ft_cells *cells, page *p, uint64_t key, uint64_t stop, bool again)
{
    (void)cells, (void)again;
    for (; key < stop; key++) p->at[key % PAGE].content = p->at[key % PAGE].lost = 0;
}

static void lose_start(ft_cells *cells, page *p, uint64_t key, uint64_t stop, bool again)
{
    (void)cells, (void)again;
    for (; key < stop; key++) p->at[key % PAGE].lost = UINT8_MAX;
}

static void find_use(ft_cells *cells, page *p, uint64_t key, uint64_t stop, bool again)
{
    (void)again;
    for (; key < stop; key++) cells->used |= p->at[key % PAGE].slot != 0;
}

/* A module's memory that was touched before this record began with another content. */
static void begin_region(ft_cells *cells, uint64_t address, uint64_t size,
                         const unsigned char *content)
{
    cells->used = false;
    ft_cells_each_page(cells, address / GRANULE, (address + size + GRANULE - 1) / GRANULE, false,
                       find_use);
    if (!cells->used)
        ft_vec_push(&cells->regions, (region){address, size, content, cells->own_regions});
}

static void begin_as_zeros(ft_cells *cells, uint64_t address, uint64_t size)
{
    allocation *block = just_made(cells, address);
    if (!block) {
        begin_region(cells, address, size, NULL);
        return;
    }
    block->zeroed = block->told = true;
    ft_cells_each_page(cells, address / GRANULE, (address + block->size + GRANULE - 1) / GRANULE,
                       false, start_as_zeros);
}

/* The granule's bytes from `from` on begin with that content. */
static inline void begin_granule(spot *at, const unsigned char *content, unsigned from,
                                 unsigned bytes)
{
    uint64_t value = 0, bits = UINT64_MAX >> (8 * (GRANULE - bytes)) << 8 * from;
    if (bytes == GRANULE)
        memcpy(&value, content, GRANULE);
    else
        for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)content[i] << 8 * (from + i);
    at->content = (at->content & ~bits) | value;
    at->lost &= (uint8_t) ~(((1u << bytes) - 1) << from);
}

static void begin_with(ft_cells *cells, const allocation *block, const unsigned char *content,
                       uint64_t n)
{
    uint64_t first = block->address / GRANULE,
             stop = (block->address + block->size + GRANULE - 1) / GRANULE;
    if (!n) ft_cells_each_page(cells, first, stop, false, lose_start);
    for (uint64_t i = 0, to = n < block->size ? n : block->size; i < to;) {
        uint64_t at = block->address + i;
        unsigned from = at % GRANULE, most = GRANULE - from;
        unsigned bytes = to - i < most ? (unsigned)(to - i) : most;
        begin_granule(&page_at(cells, at / GRANULE, true)->at[at / GRANULE % PAGE], content + i,
                      from, bytes);
        i += bytes;
    }
}

/* The C library maps stacks where large blocks may have been unmapped unseen. A stack inside a
 * living block is memory that the program provided. */
static void begin_stack(ft_cells *cells, const actor *a, uint32_t thread)
{
    uint64_t start;
    uint32_t block = ft_cells_block_at(cells, a->stack, &start);
    bool own = block != FT_NO_ALLOCATION && !cells->allocations.data[block].freed;
    ft_vec_push(&cells->big, (uint32_t)cells->allocations.len);
    ft_vec_push(&cells->allocations, (allocation){.address = a->stack,
                                                  .size = thread && !own ? a->stack_size : 0,
                                                  .turn = cells->turn,
                                                  .thread = thread,
                                                  .before = FT_NO_ALLOCATION,
                                                  .stack = true});
}

/* The first thread's stack was in use before its BEGIN record. */
static void begin_thread(ft_cells *cells, const ft_raw_record *r)
{
    actor *a = ft_cells_actor_of(cells, r->thread);
    a->stack = r->operands[0];
    a->stack_size = r->operands[1];
    if (a->stack < cells->stacks) cells->stacks = a->stack;
    if (r->thread) end_lives(cells, a->stack, a->stack_size);
    if (!cells->settled) begin_stack(cells, a, r->thread);
}

static bool keeps_order(const ft_cells *cells)
{
    return !cells->settled || cells->tells_ordered;
}

/* Accesses after it belong to a later turn than those before. */
static void synchronise(ft_cells *cells, const ft_raw_record *r)
{
    if (keeps_order(cells)) ft_cells_order_sync(cells, r->thread, r->operands[0]);
    ft_cells_next_turn(cells, r->thread);
}

static void fork_thread(ft_cells *cells, const ft_raw_record *r)
{
    if (keeps_order(cells)) ft_cells_order_fork(cells, r->thread, (uint32_t)r->operands[1]);
    ft_cells_next_turn(cells, r->thread);
}

static void join_thread(ft_cells *cells, const ft_raw_record *r)
{
    if (keeps_order(cells)) ft_cells_order_join(cells, r->thread, (uint32_t)r->operands[1]);
}

static void end_thread(ft_cells *cells, const ft_raw_record *r)
{
    ft_cells_actor_of(cells, r->thread)->ended = true;
}

static void allocate(ft_cells *cells, const ft_raw_record *r)
{
    begin_allocation(cells, r->operands[1], r->operands[2], r->thread);
}

static void release(ft_cells *cells, const ft_raw_record *r)
{
    if (!cells->settled) ft_cells_count_free(cells, r->operands[1]);
}

static void fill_with_zeros(ft_cells *cells, const ft_raw_record *r)
{
    if (!cells->settled) begin_as_zeros(cells, r->operands[0], r->operands[1]);
}

static void fill(ft_cells *cells, const ft_raw_record *r)
{
    if (cells->settled) return;
    allocation *block = just_made(cells, r->operands[0]);
    bool mapping = block && r->operands[0] % MAPPED == 0 && r->length == block->size;
    if (mapping) block->content = r->text;
    if (block) block->told = true;
    if (block)
        begin_with(cells, block, r->text, r->length);
    else
        begin_region(cells, r->operands[0], r->length, r->text);
}

/* The records of its writable memory's content come next. */
static void meet_module(ft_cells *cells, const ft_raw_record *r)
{
    cells->own_regions = ft_schedule_is_c_library((const char *)r->text, r->length);
}

static void meet_constants(ft_cells *cells, const ft_raw_record *r)
{
    region constant = {.address = r->operands[0], .size = r->operands[1]};
    if (!cells->settled) ft_vec_push(&cells->constants, constant);
}

static void look_at_own(ft_cells *cells, const ft_raw_record *r)
{
    if (!cells->settled) ft_cells_count_shown(cells, r->operands[0], r->text, r->length);
}

static void join_parts(ft_cells *cells, const ft_raw_record *r)
{
    if (!cells->settled) ft_cells_count_whole(cells, r->operands[0], r->operands[1]);
}

static void (*const appliers[FT_RAW_OPERATIONS])(ft_cells *, const ft_raw_record *) = {
    [FT_RAW_FORK] = fork_thread,     [FT_RAW_JOIN] = join_thread,
    [FT_RAW_BEGIN] = begin_thread,   [FT_RAW_END] = end_thread,
    [FT_RAW_SYNC] = synchronise,     [FT_RAW_MARK] = synchronise,
    [FT_RAW_ALLOC] = allocate,       [FT_RAW_FREE] = release,
    [FT_RAW_ZERO] = fill_with_zeros, [FT_RAW_MEMORY] = fill,
    [FT_RAW_SHOWN] = look_at_own,    [FT_RAW_MODULE] = meet_module,
    [FT_RAW_WHOLE] = join_parts,     [FT_RAW_CONSTANT] = meet_constants,
};

static void apply(ft_cells *cells, const ft_raw_record *r)
{
    ft_cells_turn_to(cells, r->thread);
    if (r->access && !cells->settled)
        ft_cells_count_range(cells, r->address, r->size, r->form,
                             r->length == r->size ? r->text : NULL);
    if (!r->access && appliers[r->operation]) appliers[r->operation](cells, r);
}

void ft_cells_count(ft_cells *cells, const ft_raw_record *record)
{
    apply(cells, record);
}

void ft_cells_follow(ft_cells *cells, const ft_raw_record *record)
{
    apply(cells, record);
}

uint32_t ft_cells_block_at(const ft_cells *cells, uint64_t address, uint64_t *start)
{
    granule here = {.address = address / GRANULE * GRANULE,
                    .born = (uint32_t)cells->allocations.len};
    uint32_t block = ft_cells_allocation_of(cells, &here);
    if (block != FT_NO_ALLOCATION) *start = cells->allocations.data[block].address;
    return block;
}

/* ---- between them */

static int64_t bytes_as_value(const unsigned char *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++) value |= (uint64_t)bytes[i] << (8 * i);
    uint32_t shift = 64 - 8 * size;
    return (int64_t)(value << shift) >> shift;
}

/* Later regions overlay earlier ones: contents come after zeros. */
const region *ft_cells_region_of(const ft_cells *cells, uint64_t address, uint64_t size)
{
    for (size_t i = cells->regions.len; i-- > 0;) {
        const region *r = &cells->regions.data[i];
        if (address >= r->address && address - r->address + size <= r->size) return r;
    }
    return NULL;
}

/* The content of a cell outside of all allocations when the program starts. */
static void find_initial(const ft_cells *cells, ft_cell *cell)
{
    const region *r = ft_cells_region_of(cells, cell->address, cell->size);
    if (!r) return;
    cell->has_initial = true;
    if (r->content)
        cell->initial = bytes_as_value(r->content + (cell->address - r->address), cell->size);
}

static void lie_in(const allocation *block, const granule *g, ft_cell *cell)
{
    unsigned from = cell->address % GRANULE, mask = ((1u << cell->size) - 1) << from;
    unsigned char start[GRANULE];
    cell->allocated_at = block->address;
    uint64_t offset = cell->address - block->address;
    bool told = block->content && offset + cell->size <= block->size;
    cell->has_initial = block->zeroed || told;
    if (told) cell->initial = bytes_as_value(block->content + offset, cell->size);
    if (cell->has_initial || (g->left_over & mask) != mask) return;
    for (unsigned i = 0; i < cell->size; i++)
        start[i] = (unsigned char)(g->start >> 8 * (from + i));
    cell->has_initial = cell->left_over = true;
    cell->initial = bytes_as_value(start, cell->size);
}

/* Did an atomic access cover several of the granule's cells? */
static bool is_parted(const granule *g)
{
    unsigned inside = (g->whole & WHOLE_8 ? 0xFE : 0) | (g->whole & WHOLE_LOW ? 0x0E : 0) |
                      (g->whole & WHOLE_HIGH ? 0xE0 : 0) | (g->bounds & 1 ? 0xAA : 0);
    return g->whole & WHOLE_BEYOND || (g->n_cells > 1 && g->bounds & inside);
}

void ft_cells_know_frames(ft_cells *cells, const ft_cells_frames *frames)
{
    cells->frames = frames;
}

const uint32_t *ft_cells_turn_now(const ft_cells *cells)
{
    return &cells->turn;
}

void ft_cells_leave_out(ft_cells *cells, ft_cells_judge *judge, void *context)
{
    cells->leaves_out = judge;
    cells->judge = context;
}

static void add_cells(ft_cells *cells, granule *g)
{
    unsigned conflict = g->shared & g->written;
    bool ordered = g->ordered;
    uint32_t block = conflict ? ft_cells_allocation_of(cells, g) : FT_NO_ALLOCATION;
    bool asked = conflict && block == FT_NO_ALLOCATION && cells->leaves_out;
    if (asked && cells->leaves_out(cells->judge, g->address)) conflict = 0;
    for (unsigned from = 0, to; from < GRANULE; from = to) {
        for (to = from + 1; to < GRANULE && !(g->bounds >> to & 1);) to++;
        if (!(conflict >> from & 1)) continue;
        assert(to <= GRANULE);
        ft_cell cell = {.address = g->address + from,
                        .size = to - from,
                        .allocation = block,
                        .frame = g->frame,
                        .ordered = ordered};
        cell.owner = ft_cells_owner_of(cells, cell.address, block);
        if (block == FT_NO_ALLOCATION)
            find_initial(cells, &cell);
        else
            lie_in(&cells->allocations.data[block], g, &cell);
        if (g->cell == FT_NO_CELL) g->cell = (uint32_t)cells->cells.len;
        g->n_cells++;
        ft_vec_push(&cells->cells, cell);
    }
    g->parted = !ordered && is_parted(g);
}

static void tell_ordered(ft_cells *cells)
{
    for (size_t p = 0; p < cells->pages.len; p++)
        for (uint64_t i = 0; i < PAGE; i++)
            if (cells->pages.data[p]->at[i].slot)
                ft_cells_count_ordered(cells, cells->pages.data[p], i, UINT32_MAX);
}

/* Links the lives of each address in order: so the second pass meets them. */
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

static jump jump_behind(const jump *all, uint32_t index, uint32_t before)
{
    if (before == FT_NO_ALLOCATION) return (jump){index, 0};
    assert(before < index);
    const jump *b = &all[before], *c = &all[b->far];
    bool doubles = b->depth - c->depth == c->depth - all[c->far].depth;
    return (jump){doubles ? c->far : before, b->depth + 1};
}

/* A busy program allocates one address ten thousand times, and each cell needs its own allocation.
 * Jumps as in Myers (An applicative random-access stack, 1983) find it in a logarithm of steps. */
static void make_jumps(ft_cells *cells)
{
    for (uint32_t i = 0; i < cells->allocations.len; i++) {
        jump made = jump_behind(cells->jumps.data, i, cells->allocations.data[i].before);
        ft_vec_push(&cells->jumps, made);
    }
}

static int by_start(const void *a, const void *b)
{
    uint32_t x = ((const fence *)a)->from, y = ((const fence *)b)->from;
    return (x > y) - (x < y);
}

void ft_cells_settle(ft_cells *cells)
{
    FT_REQUIRE(!cells->settled); /* a log that ends at its limit may end inside a batch */
    make_jumps(cells);
    if (cells->tells_ordered) tell_ordered(cells);
    for (size_t i = 0; i < cells->granules.len; i++) add_cells(cells, &cells->granules.data[i]);
    release_pages(cells); /* from now on all pages without cells are `empty` */
    link_lives(cells);
    cells->empty = ft_calloc(1, sizeof *cells->empty);
    if (cells->fences.len)
        qsort(cells->fences.data, cells->fences.len, sizeof *cells->fences.data, by_start);
    ft_cells_want_settle(cells);
    if (cells->tells_ordered) ft_cells_order_again(cells);
    cells->begun_before = cells->begun;
    cells->turns_before = cells->turn;
    cells->turn = cells->begun = 0;
    cells->settled = true;
    FT_CHECK(ft_cells_is_sound(cells));
}

void ft_cells_end(const ft_cells *cells)
{
    FT_REQUIRE(cells->settled);
    assert(cells->begun == cells->begun_before);
    assert(cells->turn == cells->turns_before);
}

void ft_cells_turn(ft_cells *cells, uint32_t thread)
{
    ft_cells_turn_to(cells, thread);
    ft_cells_next_batch(cells);
}

bool ft_cells_is_fenced(ft_cells *cells, uint32_t thread)
{
    FT_REQUIRE(cells->settled);
    fence *now = &cells->fenced;
    actor *a = ft_cells_actor_of(cells, thread);
    for (; cells->next_fence < cells->fences.len; cells->next_fence++) {
        const fence *next = &cells->fences.data[cells->next_fence];
        assert(next->from >= now->from);
        if (next->from > cells->turn) break;
        now->from = next->from;
        if (next->to > now->to) now->to = next->to;
    }
    if (a->fenced >= now->from || cells->turn > now->to) return false;
    a->fenced = cells->turn;
    return true;
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

uint64_t ft_cells_heap(const ft_cells *cells, uint64_t *low)
{
    *low = cells->low;
    return cells->high - cells->low;
}

ft_cells_extent ft_cells_extent_of(const ft_cells *cells, uint32_t index)
{
    FT_REQUIRE(index < cells->allocations.len);
    const allocation *a = &cells->allocations.data[index];
    return (ft_cells_extent){a->address, a->size, a->stack, a->told};
}

const ft_cell *ft_cells_get(const ft_cells *cells, uint32_t cell)
{
    FT_REQUIRE(cell < cells->cells.len);
    return &cells->cells.data[cell];
}

/* ---- second pass */

/* False: no cell lies there in any life. */
static bool may_be_cell(ft_cells *cells, uint64_t address, uint64_t size)
{
    for (uint64_t key = address / GRANULE; key <= (address + size - 1) / GRANULE; key++) {
        page *p = page_at(cells, key, true);
        if (p->at[key % PAGE].slot) return true;
    }
    return false;
}

/* The granule with cells that is alive at the slot; NULL: none. */
static const granule *living(const ft_cells *cells, page *p, uint64_t i)
{
    uint64_t *slot = &p->at[i].slot;
    while (*slot && cells->granules.data[*slot - 1].until <= cells->begun)
        *slot = cells->granules.data[*slot - 1].next;
    const granule *g = *slot ? &cells->granules.data[*slot - 1] : NULL;
    return g && g->since <= cells->begun ? g : NULL;
}

uint32_t ft_cells_at(ft_cells *cells, uint64_t address, uint32_t *skip)
{
    FT_REQUIRE(cells->settled);
    uint64_t key = address / GRANULE, next = (key + 1) * GRANULE;
    *skip = (uint32_t)(next - address);
    page *p = page_at(cells, key, false);
    const granule *g = p ? living(cells, p, key % PAGE) : NULL;
    if (!g) return FT_NO_CELL;
    for (uint32_t c = g->cell; c < g->cell + g->n_cells; c++) {
        const ft_cell *cell = &cells->cells.data[c];
        if (cell->address == address) return c;
        if (cell->address > address) {
            *skip = (uint32_t)(cell->address - address);
            break;
        }
    }
    return FT_NO_CELL;
}

bool ft_cells_is_parted(ft_cells *cells, uint64_t address, uint64_t size)
{
    for (uint64_t key = address / GRANULE; key <= (address + size - 1) / GRANULE; key++) {
        page *p = page_at(cells, key, false);
        const granule *g = p ? living(cells, p, key % PAGE) : NULL;
        if (g && g->parted) return true;
    }
    return false;
}

bool ft_cells_is_ordered(ft_cells *cells, uint64_t address)
{
    uint64_t key = address / GRANULE;
    page *p = page_at(cells, key, false);
    const granule *g = p ? living(cells, p, key % PAGE) : NULL;
    return g && g->ordered;
}

/* Notes the cells of this life in the spot, so that a look at it is enough. */
static void note_cells(ft_cells *cells, page *p, uint64_t i)
{
    const granule *g = living(cells, p, i);
    p->at[i].found = g ? FOUND_CELLS : FOUND_NONE;
    if (!g) return;
    p->at[i].touched = g->cell;
    p->at[i].content = 0;
    for (uint32_t c = g->cell; c < g->cell + g->n_cells; c++) {
        const ft_cell *cell = &cells->cells.data[c];
        p->at[i].content |= (uint64_t)(cell->size | (c - g->cell) << 4)
                            << 8 * (cell->address % GRANULE);
    }
}

/* The cell that the access covers exactly. */
static inline uint32_t find_cell(ft_cells *cells, uint64_t address, uint32_t size)
{
    uint64_t key = address / GRANULE, i = key % PAGE;
    if (address % GRANULE + size > GRANULE)
        return may_be_cell(cells, address, size) ? FT_SEVERAL_CELLS : FT_NO_CELL;
    page *p = page_at(cells, key, true);
    const spot *at = &p->at[i];
    if (!at->slot) return FT_NO_CELL;
    if (at->found == FOUND_NOT_YET) note_cells(cells, p, i);
    if (at->found == FOUND_NONE) return FT_NO_CELL;
    uint32_t cell = (uint32_t)(at->content >> 8 * (address % GRANULE)) & 0xFF;
    return (cell & 15) == size ? at->touched + (cell >> 4) : FT_SEVERAL_CELLS;
}

void ft_cells_find(ft_cells *cells, const ft_raw_event *events, uint32_t n, uint32_t *found)
{
    FT_REQUIRE(cells->settled && n <= FT_RAW_BATCH);
    for (uint32_t i = 0; i < n; i++)
        found[i] = events[i].code >= FT_RAW_ENTER
                       ? FT_NO_CELL
                       : find_cell(cells, events[i].address, 1u << events[i].code % 8);
    FT_CHECK(ft_cells_are_found(cells, events, n, found));
}
