/* Blocks of the heap that the run makes: each is the n-th of its thread, so that what lies in it
 * has a name. Blocks from before the first choice are at the same address in every run. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* A block is found by any page that it takes a part of; blocks of many pages stand apart. */
enum { BUCKETS = 4096, PAGE_BITS = 12, LARGE = 1 << 18, NODES = 1 << 22 };

typedef struct block {
    uintptr_t start;
    size_t size;
    uint32_t maker, number;
} block;

typedef struct node {
    uintptr_t page;
    uint32_t block, next; /* next: + 1; 0: none */
} node;

static struct blocks {
    block *all;
    node *nodes;
    uint32_t n_blocks, n_nodes, free_block, free_node; /* free ones: + 1, chained */
    uint32_t buckets[BUCKETS];
    uint32_t large; /* chain of large blocks' nodes */
    uint32_t made[FT_X_THREADS];
} blocks;

static void start(void)
{
    if (blocks.all) return;
    blocks.all = ft_rt_map(NODES * sizeof *blocks.all);
    blocks.nodes = ft_rt_map(NODES * sizeof *blocks.nodes);
}

static uint32_t *bucket_of(uintptr_t page)
{
    return &blocks.buckets[page * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

static void add_node(uint32_t *chain, uintptr_t page, uint32_t b)
{
    uint32_t n = blocks.free_node;
    if (n)
        blocks.free_node = blocks.nodes[n - 1].next;
    else
        n = ++blocks.n_nodes;
    assert(n <= NODES);
    blocks.nodes[n - 1] = (node){.page = page, .block = b, .next = *chain};
    *chain = n;
}

static void drop_node(uint32_t *chain, uint32_t b)
{
    for (; *chain; chain = &blocks.nodes[*chain - 1].next) {
        uint32_t n = *chain;
        if (blocks.nodes[n - 1].block != b) continue;
        *chain = blocks.nodes[n - 1].next;
        blocks.nodes[n - 1].next = blocks.free_node;
        blocks.free_node = n;
        return;
    }
}

static void index_block(uint32_t b, bool adds)
{
    const block *x = &blocks.all[b];
    uintptr_t first = x->start >> PAGE_BITS, last = (x->start + x->size - 1) >> PAGE_BITS;
    if (x->size >= LARGE) {
        if (adds)
            add_node(&blocks.large, 0, b);
        else
            drop_node(&blocks.large, b);
        return;
    }
    for (uintptr_t page = first; page <= last; page++) {
        if (adds)
            add_node(bucket_of(page), page, b);
        else
            drop_node(bucket_of(page), b);
    }
}

static uint32_t in_chain(uint32_t n, uintptr_t address)
{
    for (; n; n = blocks.nodes[n - 1].next) {
        const block *x = &blocks.all[blocks.nodes[n - 1].block];
        if (address - x->start < x->size) return blocks.nodes[n - 1].block + 1;
    }
    return 0;
}

/* The block's index + 1; 0: none. */
static uint32_t find(uintptr_t address)
{
    if (!blocks.n_blocks) return 0;
    uint32_t found = in_chain(*bucket_of(address >> PAGE_BITS), address);
    return found ? found : in_chain(blocks.large, address);
}

bool ft_rt_x_block_of(uintptr_t address, uint32_t *maker, uint32_t *number, uint64_t *offset)
{
    uint32_t b = find(address);
    if (!b) return false;
    *maker = blocks.all[b - 1].maker;
    *number = blocks.all[b - 1].number;
    *offset = address - blocks.all[b - 1].start;
    return true;
}

void ft_rt_x_block_begins(const void *memory, size_t size, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    if (!self || !ft_rt_x.begun || !memory || !size || ft_rt_is_own(pc)) return;
    start();
    uint32_t b = blocks.free_block;
    if (b)
        blocks.free_block = (uint32_t)blocks.all[b - 1].size;
    else
        b = ++blocks.n_blocks;
    assert(b <= NODES);
    blocks.all[b - 1] = (block){.start = (uintptr_t)memory,
                                .size = size,
                                .maker = self->number,
                                .number = ++blocks.made[self->number]};
    index_block(b - 1, true);
}

void ft_rt_x_block_ends(const void *memory)
{
    if (!ft_rt_x_self || !memory || !blocks.n_blocks) return;
    uint32_t b = find((uintptr_t)memory);
    if (!b || blocks.all[b - 1].start != (uintptr_t)memory) return;
    index_block(b - 1, false);
    blocks.all[b - 1] = (block){.size = blocks.free_block};
    blocks.free_block = b;
}
