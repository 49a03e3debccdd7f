/* Shared memory while the second pass follows the log: the content of each cell as the trace has
 * it so far, and the blocks that cells lie in.
 *
 * Owner: memory.c declares cells and blocks before the pass; accesses.c and event_batches.c keep
 * the contents, edges.c says who may know of a block. */
#ifndef FT_RECORD_MAKER_MEMORY_H
#define FT_RECORD_MAKER_MEMORY_H

#include "base/map.h"
#include "base/memory.h"
#include "maker/cells/cells.h"
#include "maker/cells/reuse.h"
#include "maker/order/addresses_read.h"

enum {
    FT_SEVERAL_THREADS = UINT16_MAX + 1, /* no thread has that number */
    FT_WORD_SHIFT = 3                    /* 1 << that many bytes have room for an address */
};

/* The knowledge about a cell's content while the log is followed. */
typedef enum ft_content {
    FT_CONTENT_UNSEEN, /* nobody touched it so far */
    FT_CONTENT_KNOWN,
    FT_CONTENT_LOST /* written, and the log does not say with what */
} ft_content;

/* All that a plain access needs to know of a cell: half a cache line. */
typedef struct ft_shadow {
    int64_t value;
    uint64_t touched;  /* the record that touched it last, 0: none */
    uint32_t variable; /* the cell, in the builder */
    uint32_t id;       /* of the value in the builder, FT_NO_VALUE: not asked for yet */
    uint32_t toucher;  /* the thread that touched it, or FT_SEVERAL_THREADS */
    uint8_t content;   /* ft_content */
    bool guarded;      /* of a block that not all threads need know of (ft_maker_admit) */
    uint16_t life;     /* the value is an address in that life of its memory (cells/reuse.h) */
} ft_shadow;
_Static_assert(sizeof(ft_shadow) == 32, "two shadows in a cache line");

/* A block of the builder. */
typedef struct ft_block_use {
    uint64_t admitted; /* bit per thread, by its low bits: it touched the block */
    uint32_t made;     /* the event of the trace that allocates it */
} ft_block_use;

/* The first write of a cell, in a recording with terms. */
typedef struct ft_first_write {
    uint32_t thread, turn; /* turn: of ft_cells_turn_now, 0: it is not written yet */
} ft_first_write;

typedef struct ft_shared_memory {
    ft_shadow *shadows;           /* by cell */
    ft_first_write *first_writes; /* by cell; NULL: recorded without terms */
    FT_VEC(uint32_t) blocks;      /* by allocation: id in the builder; FT_NO_ID: no shared cell */
    FT_VEC(ft_block_use) uses;    /* by block of the builder */
    FT_VEC(uint64_t) born;        /* by allocation, as far as the log is followed: its record */
    ft_map live;                  /* address -> the allocation that begins there now */
    uint64_t heap, heap_size;     /* ft_cells_heap */
    uint32_t unseen_values;       /* made so far (accesses.c, read_unseen) */
    ft_addresses_read *addresses_read;
    ft_lives lives;
} ft_shared_memory;

void ft_shared_memory_release(ft_shared_memory *memory);

/* May it be an address of the heap? */
static inline bool ft_shared_memory_reaches_heap(const ft_shared_memory *memory, int64_t value)
{
    return (uint64_t)value - memory->heap <= memory->heap_size;
}

#endif
