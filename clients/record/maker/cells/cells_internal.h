/* Shared by the files of cells/: memory as both passes see it. cells.c has pages, allocations and
 * the second pass, count.c the first pass, order.c the order by forks and joins, wanted.c which
 * batches the second pass needs, check.c the checks of FT_CHECKED builds. */
#ifndef FT_RECORD_CELLS_INTERNAL_H
#define FT_RECORD_CELLS_INTERNAL_H

#include "base/map.h"
#include "maker/cells/cells.h"

enum {
    GRANULE = 8,     /* bytes */
    NOBODY = 0xFFFF, /* instead of a thread */
    ALIGNED = 16,    /* bytes between places where an allocation may begin */
    MAPPED = 4096,   /* bytes; mappings begin at multiples of it, blocks of the heap do not */
    BIG = 4096,      /* bytes; larger allocations are looked through one by one */
    STARTS = 64,     /* such places for which one word says whether an allocation begins there */
    PAGE = 512,      /* granules */
    NEAR = 2048,     /* pages that are found without a look-up */
    CLASSES = 16     /* of threads, by their number: those that read a granule are known by these */
};

/* One life of a granule that two threads touched in no fixed order, or of an ordered one that gets
 * cells. */
typedef struct granule {
    uint64_t address;
    uint16_t first[GRANULE];         /* the thread that touched a byte first */
    uint8_t shared, written, bounds; /* bit per byte; bounds: an access begins there, but see
                                        WHOLE_2 */
    uint8_t whole;                   /* WHOLE_*: atomics that were made there */
    bool parted;                     /* with cells: some of these cover several */
    bool ordered;                    /* as in ft_cell */
    uint8_t left_over; /* bytes that were read with the content of before this life: */
    uint8_t n_cells;   /* its cells, by address from `cell` on */
    uint64_t start;
    uint32_t since, until; /* ft_cells.begun at the start and the end of its life; UINT32_MAX: it
                              does not end */
    uint32_t born;         /* number of allocations before it */
    uint32_t cell;         /* its first shared cell, FT_NO_CELL */
    uint32_t frame;        /* as in ft_cell */
    uint32_t next;         /* with cells: the next one of that address with cells, + 1 */
} granule;

/* All memory that was touched, in pages. A slot is 0 while its granule has no life. In the first
 * pass its low half says which bytes were accessed how (ONE_*), its top half who may do the same
 * again without a further look:
 *   a thread's number + 1   that thread; accesses of others (ONE_HANDED) are ordered before its own
 *   READERS                 the classes of threads from ONE_READERS on: they read it since the last
 *                           write, which is ordered before these reads
 *   GONE                    nobody: it was freed after all accesses, by the thread whose number is
 * in the place of the readers SEVERAL                 unordered: the low half is the number of its
 * granule In the second pass a slot is the number, + 1, of the granule's first life with cells that
 * did not end yet. Most granules belong to one thread for ever: counting their accesses is one look
 * at a slot. */
typedef struct spot {
    uint64_t slot;
    uint64_t content; /* first pass: what the granule held after its last access; second: by byte,
                         the size of the cell that begins there and, from bit 4 on, which of the
                         granule's it is; 0: none */
    uint32_t touched; /* the turn of its last access; second pass: the granule's first cell */
    uint32_t since;   /* first pass: granule.since of this life */
    uint32_t said;    /* first pass: SEVERAL: what the granule has recorded at least, as in ONE_*;
                         else the turn of the last write, 0: none */
    uint8_t known;    /* bit per byte: `content` is known there */
    union {
        uint8_t lost;  /* first pass: bit per byte: its content before this life is not known; other
                          bytes still have it in `content` until they are written or read */
        uint8_t found; /* second pass: FOUND_*, in this life */
    };
    uint16_t writer; /* first pass: whose the last write is, unless the owner's (ONE_WROTE) */
} spot;

/* All that one access needs lies in one cache line. */
typedef struct page {
    spot at[PAGE];
    uint32_t first[PAGE]; /* first pass: the batch in which this life was touched first */
    uint64_t number;
} page;

enum {
    ONE_THREAD = 48,
    ONE_READERS = 32,
    ONE_KNOWN = 31,       /* for its owner: all bytes touched are `known` */
    ONE_BEYOND = 1 << 30, /* no slot has it */
    ONE_WHOLE = 26,
    ONE_HANDED = 25,
    ONE_WROTE = 24, /* the owner itself */
    ONE_TOUCHED = 16,
    ONE_WRITTEN = 8,
    ONE_BOUNDS = 0,
    ONE_BYTES = ((1 << ONE_WROTE) - 1) | 15 << ONE_WHOLE, /* stays when the owner changes */
    GONE = 0xFFFD,
    READERS = 0xFFFE,
    SEVERAL = 0xFFFF
};

/* An atomic access of several bytes in the granule's first half, its second half, or both. BEYOND:
 * it goes beyond the granule. 2: of two bytes at an even address; kept as the lowest bit of the
 * bounds, which a granule always has. */
enum { WHOLE_LOW = 1, WHOLE_HIGH = 2, WHOLE_8 = 4, WHOLE_BEYOND = 8, WHOLE_2 = 16, WHOLES = 15 };

enum { FOUND_NOT_YET, FOUND_NONE, FOUND_CELLS }; /* spot.found */

/* The effect of an access of one code (raw.h) at one byte of a granule. */
typedef struct shape {
    uint64_t bits;  /* of the content */
    uint64_t reads; /* all ones: it only reads; else 0 */
    uint64_t own;   /* bits of the slot that allow the fast path: ONE_KNOWN, `did` and the owner */
    uint32_t did;   /* as in ONE_*; ONE_BEYOND: it goes beyond the granule */
    uint8_t mask;   /* bit per byte */
} shape;

/* A vector clock: by thread, the turn up to which all of its accesses are ordered before. */
typedef struct clock {
    FT_VEC(uint32_t) turns;  /* 0 of threads beyond its end */
    uint32_t least[CLASSES]; /* the least turn of a class's threads in `turns` */
} clock;

/* A thread. */
typedef struct actor {
    uint32_t ran; /* its last turn, 0: none yet */
    uint64_t stack, stack_size;
    bool ended, late; /* late: ft_cells_late */
    uint32_t fenced;  /* the turn of its last fence */
    clock began, now; /* order by forks and joins: before its begin, and before its next access */
    uint32_t held;    /* critical sections and transactions that it is in */
    bool forked;      /* since it entered the outermost of them */
    /* while memory is freed: the granule in it that the thread touched last */
    uint64_t last_key;
    uint32_t last_turn; /* 0: none */
} actor;

typedef struct allocation {
    uint64_t address, size;
    uint32_t turn;   /* when */
    uint32_t thread; /* whose */
    uint32_t before; /* the one before at the same address, FT_NO_ALLOCATION */
    bool told;       /* ft_cells_extent.told */
    bool zeroed;
    bool freed; /* first pass: and not begun again */
    bool stack; /* a thread's stack: earlier blocks there are gone; it has no name */
    const unsigned char *content; /* of a whole mapping, in the log; NULL: not known */
} allocation;

/* From an allocation to earlier ones at the same address. */
typedef struct jump {
    uint32_t
        far; /* one so much earlier that log n of these and of `before` lead to any; itself: none */
    uint32_t depth; /* number of earlier ones */
} jump;

/* The last look-up of an allocation. */
typedef struct place {
    uint64_t key;
    uint32_t block, born;
    bool alone; /* no allocation begins near it */
} place;

/* Memory with a known content at its start. */
typedef struct region {
    uint64_t address, size;
    const unsigned char *content; /* NULL: zeros; in the log */
    bool own;                     /* variables of the C library, which is not instrumented */
} region;

/* Between these turns, both included, an external write changed what threads had read before. */
typedef struct fence {
    uint32_t from, to;
} fence;

struct ft_cells {
    shape shapes[FT_RAW_ENTER * GRANULE]; /* of code * GRANULE + byte */
    ft_map numbers;                       /* address of a page -> its number in pages */
    FT_VEC(page *) pages;
    page *empty; /* second pass: stands for pages without cells; never written */
    struct {
        uint64_t number; /* of the page, + 1; 0: none */
        page *page;
    } near[NEAR];
    FT_VEC(granule) granules;
    FT_VEC(allocation) allocations;
    FT_VEC(jump) jumps;   /* by allocation, between the passes */
    ft_map blocks;        /* address / ALIGNED of allocations -> the latest one */
    ft_map starts;        /* address / ALIGNED / STARTS -> a bit for each that is in blocks */
    FT_VEC(uint32_t) big; /* allocations larger than BIG */
    FT_VEC(region) regions;
    FT_VEC(region) constants;   /* read-only memory of modules */
    bool used;                  /* find_use: some of the memory was touched */
    bool own_regions;           /* regions that come now are the C library's */
    ft_cells_judge *leaves_out; /* NULL: nothing */
    void *judge;
    const ft_cells_frames *frames; /* NULL: nobody knows */
    uint64_t stacks;               /* no stack begins below it */
    FT_VEC(ft_cell) cells;
    FT_VEC(actor) actors; /* by thread */
    FT_VEC(fence) fences;
    size_t next_fence; /* second pass: the first fence that did not begin yet */
    fence fenced;      /* second pass: of those that began, the latest `from` and the latest `to` */
    uint64_t low, high; /* all allocations lie in between */
    uint32_t begun;     /* number of times that some memory began a new life so far */
    uint32_t turn;      /* which of the threads' turns it is, from 1 */
    uint32_t thread;    /* whose */
    uint64_t touched;   /* granules, in all their lives */
    place looked;
    bool freed_for_good; /* the memory that is being freed is not a mapping: those may be reused at
                            once, unseen */
    /* wanted.c */
    uint32_t batch;         /* of events, the last that came, from 1 */
    bool batched;           /* ft_cells_in_batches */
    bool wants;             /* first pass: that batch is wanted */
    FT_VEC(uint32_t) turns; /* by turn: the batch at its start */
    FT_VEC(int32_t)
    wanted;             /* by batch: first pass: ranges that begin there, less those that ended
                           right before; second: is it wanted? */
    bool in_batch;      /* first pass: an event of it was there */
    bool keeps_ordered; /* ft_cells_keep_ordered */
    bool tells_ordered; /* ft_cells_tell_ordered */
    ft_map handed;      /* first pass, with that: key of a granule on a stack -> its frame */
    bool settled;
    uint32_t begun_before, turns_before; /* second pass: `begun` and `turn` after the first */
};

/* ---- cells.c */
page *ft_cells_find_page(ft_cells *cells, uint64_t number, bool make);

static inline page *page_at(ft_cells *cells, uint64_t key, bool make)
{
    uint64_t number = key / PAGE;
    if (cells->near[number % NEAR].number == number + 1) return cells->near[number % NEAR].page;
    return ft_cells_find_page(cells, number, make);
}

/* Calls visit for each existing page with granules in the range: those from key up to stop. The
 * range may be far larger than the memory that was ever touched in it. */
void ft_cells_each_page(ft_cells *cells, uint64_t key, uint64_t to, bool again,
                        void (*visit)(ft_cells *cells, page *p, uint64_t key, uint64_t stop,
                                      bool again));

/* The latest region that has all of these bytes, outside of allocations; NULL: none. */
const region *ft_cells_region_of(const ft_cells *cells, uint64_t address, uint64_t size);
/* The latest allocation around the granule before it was born; FT_NO_ALLOCATION. */
uint32_t ft_cells_allocation_of(const ft_cells *cells, const granule *g);
/* The thread that owns an address in that allocation, or in none; FT_NO_OWNER. */
uint32_t ft_cells_owner_of(const ft_cells *cells, uint64_t address, uint32_t block);

/* ---- check.c: after ft_cells_settle */
bool ft_cells_is_sound(const ft_cells *cells);
/* Is each of the cells that were found all of what its event accesses? */
bool ft_cells_are_found(const ft_cells *cells, const ft_raw_event *events, uint32_t n,
                        const uint32_t *found);

/* ---- count.c */
void ft_cells_count_start(ft_cells *cells);
actor *ft_cells_actor_of(ft_cells *cells, uint32_t thread);
/* Which bytes were written in this life. */
uint8_t ft_cells_written(const ft_cells *cells, const spot *at);
void ft_cells_next_turn(ft_cells *cells, uint32_t thread);
void ft_cells_turn_to(ft_cells *cells, uint32_t thread);
/* content: of the whole range after the access; NULL: not known. */
void ft_cells_count_range(ft_cells *cells, uint64_t address, uint64_t size, uint32_t form,
                          const unsigned char *content);
/* The content of the thread's own memory: where it differs, its own uninstrumented code wrote it.
 */
void ft_cells_count_shown(ft_cells *cells, uint64_t address, const unsigned char *content,
                          uint64_t n);
/* The last accesses there were parts of one atomic. */
void ft_cells_count_whole(ft_cells *cells, uint64_t address, uint64_t size);
/* The block is freed: other threads' accesses to it may come after the free. */
void ft_cells_count_free(ft_cells *cells, uint64_t address);
/* The life of a granule ends: if several threads touched it in order, it gets ordered cells. */
void ft_cells_count_ordered(ft_cells *cells, page *p, uint64_t i, uint32_t until);

/* ---- wanted.c */
/* A batch of events comes now, in either pass. */
void ft_cells_next_batch(ft_cells *cells);
/* First pass, at the start of each turn. */
void ft_cells_want_turn(ft_cells *cells);
/* The second pass needs the batches from that one up to the end of the turn. */
void ft_cells_want(ft_cells *cells, uint32_t first, uint32_t turn);
/* Between the passes. */
void ft_cells_want_settle(ft_cells *cells);
void ft_cells_want_release(ft_cells *cells);

/* ---- order.c: the first pass; if ft_cells_tell_ordered, the second as well */
void ft_cells_order_start(ft_cells *cells);
void ft_cells_order_again(ft_cells *cells); /* between them */
void ft_cells_order_release(ft_cells *cells);
void ft_cells_order_fork(ft_cells *cells, uint32_t parent, uint32_t child);
void ft_cells_order_join(ft_cells *cells, uint32_t thread, uint32_t child);
/* A record with that ft_event_kind. */
void ft_cells_order_sync(ft_cells *cells, uint32_t thread, uint64_t kind);
/* Is all that `other` did up to that turn ordered before the thread's begin? */
bool ft_cells_order_began(const ft_cells *cells, uint32_t thread, uint32_t other, uint32_t turn);
/* Is all that the other threads of the class did up to that turn ordered before what the thread
 * does now? */
bool ft_cells_order_class(const ft_cells *cells, uint32_t thread, uint32_t class, uint32_t turn);

static inline bool ft_cells_order_now(const ft_cells *cells, uint32_t thread, uint32_t other,
                                      uint32_t turn)
{
    const clock *now = &cells->actors.data[thread].now;
    return thread == other || (other < now->turns.len && turn <= now->turns.data[other]);
}

#endif
