/* Blocks of the heap that the run makes: each is the n-th of its thread, so that what lies in it
 * has a name. Blocks from before the first choice are at the same address in every run. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* A block is found by any page that it takes a part of; blocks of many pages stand apart. */
/* RETAINED: bytes of freed blocks that stay apart; later ones do not. */
enum { RETAINED = 1 << 28 };

enum { BUCKETS = 4096, PAGE_BITS = 12, LARGE = 1 << 18 };
/* Tables grow by chunks: a rewind copies what there is of them. */
enum { CHUNK = 1 << 12, CHUNKS = 1 << 10, MOST = CHUNK * CHUNKS };

typedef struct block {
    uintptr_t start;
    size_t size;
    uint32_t maker, number;
    bool freed; /* it stays apart until the run ends */
} block;

typedef struct node {
    uintptr_t page;
    uint32_t block, next; /* next: + 1; 0: none */
} node;

static struct blocks {
    block *all[CHUNKS];
    node *nodes[CHUNKS];
    uint32_t n_blocks, n_nodes, free_block, free_node; /* free ones: + 1, chained */
    uint32_t buckets[BUCKETS];
    uint32_t large; /* chain of large blocks' nodes */
    uint32_t made[FT_X_THREADS];
    size_t retained;
} blocks;

static block *block_of(uint32_t b)
{
    return &blocks.all[b / CHUNK][b % CHUNK];
}

static node *node_of(uint32_t n)
{
    return &blocks.nodes[n / CHUNK][n % CHUNK];
}

/* The index + 1 of a new one; 0: there are too many. */
static uint32_t another_block(void)
{
    uint32_t b = blocks.free_block;
    if (b) {
        blocks.free_block = (uint32_t)block_of(b - 1)->size;
        return b;
    }
    if (blocks.n_blocks == MOST) return 0;
    b = blocks.n_blocks++;
    if (b % CHUNK == 0) blocks.all[b / CHUNK] = ft_rt_map(CHUNK * sizeof(block));
    return b + 1;
}

static uint32_t another_node(void)
{
    uint32_t n = blocks.free_node;
    if (n) {
        blocks.free_node = node_of(n - 1)->next;
        return n;
    }
    if (blocks.n_nodes == MOST) return 0;
    n = blocks.n_nodes++;
    if (n % CHUNK == 0) blocks.nodes[n / CHUNK] = ft_rt_map(CHUNK * sizeof(node));
    return n + 1;
}

static uint32_t *bucket_of(uintptr_t page)
{
    return &blocks.buckets[page * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

static void add_node(uint32_t *chain, uintptr_t page, uint32_t b)
{
    uint32_t n = another_node();
    if (!n) return; /* the block has no name then */
    *node_of(n - 1) = (node){.page = page, .block = b, .next = *chain};
    *chain = n;
}

static void drop_node(uint32_t *chain, uint32_t b)
{
    for (; *chain; chain = &node_of(*chain - 1)->next) {
        uint32_t n = *chain;
        if (node_of(n - 1)->block != b) continue;
        *chain = node_of(n - 1)->next;
        node_of(n - 1)->next = blocks.free_node;
        blocks.free_node = n;
        return;
    }
}

static void index_block(uint32_t b, bool adds)
{
    const block *x = block_of(b);
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
    for (; n; n = node_of(n - 1)->next) {
        const block *x = block_of(node_of(n - 1)->block);
        if (address - x->start < x->size) return node_of(n - 1)->block + 1;
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
    *maker = block_of(b - 1)->maker;
    *number = block_of(b - 1)->number;
    *offset = address - block_of(b - 1)->start;
    return true;
}

bool ft_rt_x_block_is_freed(uintptr_t address)
{
    uint32_t b = find(address);
    return b && block_of(b - 1)->freed;
}

void ft_rt_x_block_begins(const void *memory, size_t size, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    if (!self || !memory || !size) return;
    ft_rt_x_fresh(memory, size);
    if (ft_rt_is_own(pc)) return;
    uint32_t b = another_block();
    if (!b) return;
    *block_of(b - 1) = (block){.start = (uintptr_t)memory,
                               .size = size,
                               .maker = self->number,
                               .number = ++blocks.made[self->number]};
    index_block(b - 1, true);
}

/* The index + 1 of the block that begins there; 0: none. */
static uint32_t block_at(const void *memory)
{
    uint32_t b = ft_rt_x_self && memory ? find((uintptr_t)memory) : 0;
    return b && block_of(b - 1)->start == (uintptr_t)memory ? b : 0;
}

void ft_rt_x_block_ends(const void *memory)
{
    uint32_t b = block_at(memory);
    if (!b || block_of(b - 1)->freed) return;
    index_block(b - 1, false);
    *block_of(b - 1) = (block){.size = blocks.free_block};
    blocks.free_block = b;
}

bool ft_rt_x_block_freed(const void *memory, const void *pc)
{
    uint32_t b = block_at(memory);
    if (!b) return false;
    block *x = block_of(b - 1);
    if (x->freed) ft_rt_x_fail(FT_EXPLORING_FAILED_MEMORY, 1, "memory is freed twice", pc);
    if (!ft_rt_x.begun || blocks.retained + x->size > RETAINED) return false;
    ft_rt_x_point(memory, x->size, true, pc);
    if (x->freed) ft_rt_x_fail(FT_EXPLORING_FAILED_MEMORY, 1, "memory is freed twice", pc);
    x->freed = true;
    blocks.retained += x->size;
    ft_rt_x_freed(memory, x->size, pc);
    return true;
}
