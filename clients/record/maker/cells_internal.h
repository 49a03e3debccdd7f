/* Inside of the cells (maker/cells.h): memory as both passes see it. cells.c has the pages, the
 * allocations and the second pass, cells_count.c the first. Not for others. */
#ifndef FT_RECORD_CELLS_INTERNAL_H
#define FT_RECORD_CELLS_INTERNAL_H

#include "base/map.h"
#include "maker/cells.h"

enum {
    GRANULE = 8,     /* bytes */
    NOBODY = 0xFFFF, /* instead of a thread */
    ALIGNED = 16,    /* bytes between places where an allocation may begin */
    BIG = 4096,      /* bytes; larger allocations are looked through one by one */
    STARTS = 64,     /* such places for which one word says whether an allocation begins there */
    PAGE = 512,      /* granules */
    NEAR = 2048      /* pages that are found without a look-up */
};

/* What the first pass learns of one granule in one life, once a second thread touched it. */
typedef struct granule {
    uint64_t address;
    uint16_t first[GRANULE];         /* the thread that touched a byte first */
    uint8_t shared, written, bounds; /* bit per byte; bounds: an access begins there */
    uint8_t n_cells;                 /* shared ones, by address from `cell` on */
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
typedef struct spot {
    uint64_t slot;
    uint64_t content; /* first pass: what the granule held after its last access; second: by byte,
                         the size of the cell that begins there and, from bit 4 on, which of the
                         granule's it is; 0: none */
    uint32_t touched; /* the turn of its last access; second pass: the granule's first cell */
    uint32_t lives;   /* that have ended */
    uint32_t said;    /* first pass: of what the granule says at least this much: as in ONE_* */
    uint8_t known;    /* bit per byte: that is known of the content */
    uint8_t found;    /* second pass: FOUND_*, in this life */
} spot;

/* What one access needs lies in one cache line. */
typedef struct page {
    spot at[PAGE];
} page;

enum { ONE_THREAD = 48, ONE_TOUCHED = 16, ONE_WRITTEN = 8, ONE_BOUNDS = 0, SEVERAL = 0xFFFF };
#define LATER_TOUCHED (UINT64_C(1) << 63)

enum { FOUND_NOT_YET, FOUND_NONE, FOUND_CELLS }; /* spot.found */

/* What plain accesses of one code (raw.h) at one byte of a granule do there. */
typedef struct shape {
    uint64_t bits; /* of the content */
    uint32_t did;  /* as in ONE_*; 0: it goes beyond the granule */
    uint8_t mask;  /* bit per byte */
    bool only_reads;
} shape;

/* A thread, as far as memory is concerned. */
typedef struct actor {
    uint32_t ran; /* its last turn, 0: none yet */
    uint64_t stack, stack_size;
    bool ended, late; /* late: ft_cells_late */
    uint32_t fenced;  /* the turn of its last fence */
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

/* Code without hooks wrote, between these turns (both included), what threads had read before. */
typedef struct fence {
    uint32_t from, to;
} fence;

struct ft_cells {
    shape shapes[FT_RAW_ENTER][GRANULE];
    ft_map numbers; /* address of a page -> its number in pages */
    FT_VEC(page *) pages;
    page *empty; /* second pass: stands for all that are not in pages; nobody writes to it */
    struct {
        uint64_t number; /* of the page, + 1; 0: none */
        page *page;
    } near[NEAR];
    spot *spots[FT_RAW_BATCH]; /* first pass: of the events at hand */
    FT_VEC(granule) granules;
    FT_VEC(allocation) allocations;
    ft_map blocks;        /* address / ALIGNED of allocations -> the latest one */
    ft_map starts;        /* address / ALIGNED / STARTS -> a bit for each that is in blocks */
    FT_VEC(uint32_t) big; /* allocations larger than BIG */
    FT_VEC(region) regions;
    FT_VEC(ft_cell) cells;
    FT_VEC(actor) actors; /* by thread */
    FT_VEC(fence) fences;
    size_t next_fence;  /* second pass: the first that did not begin yet */
    fence fenced;       /* second pass: those that began; the latest `from`, the last `to` */
    uint64_t low, high; /* all allocations lie in between */
    uint32_t turn;      /* which of the threads' turns it is, from 1 */
    uint32_t thread;    /* whose */
    uint64_t touched;   /* granules, in all their lives */
    bool settled;
};

/* ---- cells.c */
page *ft_cells_find_page(ft_cells *cells, uint64_t number, bool make);

static inline page *page_at(ft_cells *cells, uint64_t key, bool make)
{
    uint64_t number = key / PAGE;
    if (cells->near[number % NEAR].number == number + 1) return cells->near[number % NEAR].page;
    return ft_cells_find_page(cells, number, make);
}

/* The latest allocation around the granule before it was born; FT_NO_ALLOCATION. */
uint32_t ft_cells_allocation_of(const ft_cells *cells, const granule *g);
/* Of an address in that allocation, or in none; FT_NO_OWNER. */
uint32_t ft_cells_owner_of(const ft_cells *cells, uint64_t address, uint32_t block);

/* ---- cells_count.c */
void ft_cells_count_start(ft_cells *cells);
actor *ft_cells_actor_of(ft_cells *cells, uint32_t thread);
void ft_cells_next_turn(ft_cells *cells, uint32_t thread);
void ft_cells_turn_to(ft_cells *cells, uint32_t thread);
/* content: of all of it after the access; NULL: the log does not say. */
void ft_cells_count_range(ft_cells *cells, uint64_t address, uint64_t size, uint32_t form,
                          const unsigned char *content);
/* Before the memory begins another life: who else used it? */
void ft_cells_count_free(ft_cells *cells, uint64_t address);

#endif
