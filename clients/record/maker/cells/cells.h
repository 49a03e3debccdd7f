/* Cells: the pieces of memory that become shared variables of the trace.
 *
 * The first pass watches memory in *granules* of eight bytes. A granule's life ends when its memory
 * is allocated again (malloc, a new thread's stack), so an address that is reused is another
 * variable. Between the passes each granule that threads share is cut into cells, at the ends of
 * the accesses that were made to it, so that no two different bytes are ever taken for one. A cell
 * is shared if two threads accessed it, one of them wrote, and forks and joins do not order their
 * accesses. An access that covers several cells becomes several events.
 *
 * Ordered granules. Most memory is initialised before the threads are forked that use it, or read
 * after they are joined. If any two accesses of different threads to a granule, one of them a
 * write, are ordered by program order, forks and joins alone (the *hard* order; other hard edges
 * are not considered, which only keeps more granules), then they come in that order in every
 * schedule. So
 *   - no two of them can be next at once (races), and none can come between two of another thread,
 *     unless that thread forks and joins in its critical section: such a join orders nothing here;
 *   - all writes are ordered among themselves and each read with all of them, so a read reads the
 *     same write in every schedule and orders threads no more than forks do;
 *   - a free counts as a write. An access after it, wherever in the block, or another free, counts
 *     as unordered; so does an allocation that is not ordered before the first access (use after
 *     free, use before initialisation);
 *   - a read that finds a value which no access wrote (uninstrumented code did, perhaps for another
 *     thread) makes its granule unordered, unless it lies in the reading thread's own memory that
 *     no other thread touched: then the value counts as that thread's write. A variable of the
 *     program begins with its file's content, or with what the first thread alone left in it before
 *     it created another; a mapped file with its content. Content left over in a new heap block is
 *     not such a beginning: a thread that copies a structure with its padding learns of nobody;
 *   - accesses that are atomic, ignored or benign only take candidates away.
 * No verdict depends on an ordered granule, and it gets no cells. The first pass keeps for each the
 * last write and the reads since (Flanagan & Freund, PLDI 2009, section 3, with the hard order in
 * the place of happens-before). The first unordered access makes a granule one of *several* threads
 * for the rest of its life. Its shared bytes are those that two threads touched then, and all that
 * were touched before a second thread came. Terms flow through ordered memory too: recordings with
 * terms get cells for it that say so (ft_cell.ordered).
 *
 * Both passes get the same records in the same order.
 *
 * Imports: log, raw, common/base, common/trace. */
#ifndef FT_RECORD_CELLS_H
#define FT_RECORD_CELLS_H

#include <stdbool.h>

#include "maker/log/log.h"

typedef struct ft_cells ft_cells;

/* One shared cell. */
typedef struct ft_cell {
    uint64_t address;
    uint32_t size; /* bytes, 1 to 8 */
    uint32_t
        allocation; /* number of the ALLOC or BEGIN record it lies in, from 0; FT_NO_ALLOCATION */
    uint64_t allocated_at; /* that record's address */
    uint32_t owner;   /* the thread that allocated it, or on whose stack it lies; FT_NO_OWNER */
    uint32_t frame;   /* on a stack: what ft_cells_frames.frame returned; else 0 */
    bool has_initial; /* its memory begins with a known content: `initial` */
    bool left_over;   /* ... left over from an earlier life: other schedules may find another */
    bool ordered; /* no verdict depends on it, but terms go through it (ft_cells_tell_ordered) */
    int64_t initial;
} ft_cell;

#define FT_NO_ALLOCATION UINT32_MAX
#define FT_NO_CELL       UINT32_MAX
#define FT_SEVERAL_CELLS (UINT32_MAX - 1)
#define FT_NO_OWNER      UINT32_MAX

ft_cells *ft_cells_new(void);
/* Before the first pass: ordered granules are shared like all others. */
void ft_cells_keep_ordered(ft_cells *cells);
/* Before the first pass: ordered granules get cells that say so. */
void ft_cells_tell_ordered(ft_cells *cells);
/* Before the first pass: the second pass will get events in the same batches. */
void ft_cells_in_batches(ft_cells *cells);
void ft_cells_free(ft_cells *cells); /* accepts NULL */

/* First pass: each record that is not a batch of events. */
void ft_cells_count(ft_cells *cells, const ft_raw_record *record);
/* First pass: events, while they are read (ft_raw_taker), and the end of each batch. */
void ft_cells_take_run(void *cells, ft_raw_run *run);
void ft_cells_take_other(void *cells, uint32_t thread, const ft_raw_event *access);
void ft_cells_end_batch(ft_cells *cells, uint32_t thread);
/* First pass: the allocation around the address at this point, or FT_NO_ALLOCATION; its start. */
uint32_t ft_cells_block_at(const ft_cells *cells, uint64_t address, uint64_t *start);
/* Is the address, outside of all allocations, in memory that is not to get cells? */
typedef bool ft_cells_judge(void *context, uint64_t address);
void ft_cells_leave_out(ft_cells *cells, ft_cells_judge *judge, void *context);
/* First pass: the frames of the calls that threads are in. */
typedef struct ft_cells_frames {
    void *of;
    /* a number for the frame around an address on the thread's stack, kept as ft_cell.frame */
    uint32_t (*frame)(void *of, uint32_t thread, uint64_t address);
    /* the turn in which that frame's call began; 0: not known */
    uint32_t (*since)(void *of, uint32_t thread, uint64_t address);
} ft_cells_frames;
void ft_cells_know_frames(ft_cells *cells, const ft_cells_frames *frames); /* kept */
/* Where the number of the current turn is kept. */
const uint32_t *ft_cells_turn_now(const ft_cells *cells);
/* First pass: the thread on whose stack the address lies at this point; FT_NO_OWNER. */
uint32_t ft_cells_stack_at(const ft_cells *cells, uint64_t address);
/* Between the passes: makes the cells. From now on records go to ft_cells_follow, and accesses are
 * looked up by ft_cells_find, or piece by piece by ft_cells_at. */
void ft_cells_settle(ft_cells *cells);
void ft_cells_follow(ft_cells *cells, const ft_raw_record *record);
/* After the second pass, which has to have met the same turns and lives as the first. */
void ft_cells_end(const ft_cells *cells);

/* Was an external write (by uninstrumented code) found after that thread's end which it may have
 * made? */
bool ft_cells_late(const ft_cells *cells, uint32_t thread);

/* Second pass: the thread runs now, with a batch of events (ft_cells_follow sees other records). */
void ft_cells_turn(ft_cells *cells, uint32_t thread);
/* Second pass: may the next batch have an event of a cell? False: it can be skipped. */
bool ft_cells_wants(const ft_cells *cells);
/* Second pass, after ft_cells_turn: may the thread's uninstrumented code, in this turn or a later
 * one, have written what other threads had read before? Then all that they did so far is to be
 * ordered before what the thread does now. True once a thread and fence. */
bool ft_cells_is_fenced(ft_cells *cells, uint32_t thread);

/* Second pass, with ft_cells_tell_ordered: do forks and joins order all that `other` did up to that
 * turn (ft_cells_turn_now) before what the thread does now? */
bool ft_cells_is_behind(const ft_cells *cells, uint32_t thread, uint32_t other, uint32_t turn);
/* Second pass: does the address lie in a granule whose cells are ordered? */
bool ft_cells_is_ordered(ft_cells *cells, uint64_t address);

uint32_t ft_cells_count_of(const ft_cells *cells);
const ft_cell *ft_cells_get(const ft_cells *cells, uint32_t cell);
uint64_t ft_cells_granules(const ft_cells *cells); /* seen at all */
/* The memory of an ALLOC record, or the stack of a BEGIN record (size 0: it is the first thread's,
 * or lies in another allocation). */
typedef struct ft_cells_extent {
    uint64_t address, size;
    bool stack;
    bool told; /* the log says what it begins with: nothing defined, zeros or a file's content */
} ft_cells_extent;
/* The range of addresses of all allocations: its size, and its start *low. */
uint64_t ft_cells_heap(const ft_cells *cells, uint64_t *low);
ft_cells_extent ft_cells_extent_of(const ft_cells *cells, uint32_t allocation);

/* The cell that begins at `address`; else FT_NO_CELL, with *skip the number of bytes from there
 * that lie in no cell (up to the next granule at most). */
uint32_t ft_cells_at(ft_cells *cells, uint64_t address, uint32_t *skip);
/* Does an atomic access in that range cover several cells? */
bool ft_cells_is_parted(ft_cells *cells, uint64_t address, uint64_t size);
/* For each event the cell that it accesses as a whole; FT_NO_CELL where it touches none (also for
 * calls and returns); FT_SEVERAL_CELLS where ft_cells_at has to look piece by piece. */
void ft_cells_find(ft_cells *cells, const ft_raw_event *events, uint32_t n, uint32_t *found);

#endif
