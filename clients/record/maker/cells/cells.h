/* Cells: the pieces of memory that become shared variables of the trace.
 *
 * Memory is seen in granules of eight bytes. A granule lives from one allocation of its memory to
 * the next (malloc, a new thread's stack), so an address that is used again is another variable.
 * What threads touched byte by byte is counted in a first pass over the log; a *cell* is then a
 * run of bytes between the ends of accesses, and it is shared if two threads touched it, one wrote,
 * and what they did there was not ordered by forks and joins. Accesses that cover several cells
 * become several events, so that no two different bytes are ever taken for one.
 *
 * What is ordered. Most memory is initialised before the threads are forked that use it, and read
 * when they are joined. Where, in one life of a granule, any two accesses of different threads one
 * of which writes are ordered by program order, forks and joins alone, they come in that order in
 * every schedule (the *hard* order; other hard edges are not looked at, which only keeps more). So
 *   - no two of them can be next at once (races), and none can come between two of another thread,
 *     unless that one forks and joins in its critical section: such a join orders nothing here;
 *   - all writes of it are ordered among themselves, and each read with all of them, so it reads
 *     the same write in every schedule that has it, and ties no thread to others than forks do;
 *   - a free counts as a write, and an access behind it (wherever in the block: nobody need have
 *     been there before), or another free, as one without order; so does an allocation that is not
 * ordered before the first access (use after free, before initialisation);
 *   - a read that finds what no access wrote (code without hooks did, perhaps another thread's)
 *     makes its granule one without order, unless it lies in the reading thread's own memory that
 *     nobody else touched: then it counts as that thread's write. A variable of the program begins
 *     with what its file has, or with what the first thread alone left in it before it created
 *     another one, and a mapped file with its content. What was left over in a block
 *     when it was allocated is no such thing: who copies a structure with its filling has not
 *     heard of anybody;
 *   - that accesses are atomic, ignored or benign only takes candidates away.
 * No verdict depends on such a granule, and it has no cells. What follows for each is Flanagan &
 * Freund (PLDI 2009, section 3), with that order in the place of happens-before: the last write,
 * and the reads since, by granule. The first access without order makes it one of several for the
 * rest of its life, whose cells are those of the bytes that two threads touched, or anybody before
 * a second thread did. Terms flow through memory: recordings with terms have cells for what is
 * ordered too, apart from the others (ft_cell.ordered).
 *
 * Both passes feed the same records in the same order.
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
        allocation; /* which of the ALLOC and BEGIN records it lies in, from 0; FT_NO_ALLOCATION */
    uint64_t allocated_at; /* that record's address */
    uint32_t owner;   /* the thread that allocated it, or on whose stack it lies; FT_NO_OWNER */
    uint32_t frame;   /* on a stack: ft_cells_frames.frame; else 0 */
    bool has_initial; /* memory that begins with a known content */
    bool left_over;   /* ... that is what was left over there: other schedules may find another */
    bool ordered;     /* ft_cells_tell_ordered: no verdict depends on it, but terms go through it */
    int64_t initial;
} ft_cell;

#define FT_NO_ALLOCATION UINT32_MAX
#define FT_NO_CELL       UINT32_MAX
#define FT_SEVERAL_CELLS (UINT32_MAX - 1)
#define FT_NO_OWNER      UINT32_MAX

ft_cells *ft_cells_new(void);
/* Before the first pass: nothing is dropped because of the order alone. */
void ft_cells_keep_ordered(ft_cells *cells);
/* Before the first pass: what is dropped because of the order alone gets cells that say so. */
void ft_cells_tell_ordered(ft_cells *cells);
/* Before the first pass: the second one gets the same batches of events. */
void ft_cells_in_batches(ft_cells *cells);
void ft_cells_free(ft_cells *cells); /* accepts NULL */

/* First pass: accesses of other sizes and all records that begin or end memory. */
void ft_cells_count(ft_cells *cells, const ft_raw_record *record);
/* First pass: events, while they are read (ft_raw_taker), and the end of their batch. */
void ft_cells_take_run(void *cells, ft_raw_run *run);
void ft_cells_take_other(void *cells, uint32_t thread, const ft_raw_event *access);
void ft_cells_end_batch(ft_cells *cells, uint32_t thread);
/* First pass: the allocation that the address lies in by now, FT_NO_ALLOCATION, and its start. */
uint32_t ft_cells_block_at(const ft_cells *cells, uint64_t address, uint64_t *start);
/* Memory that is no thing of the program: it gets no cells. Asked of what lies in no allocation. */
typedef bool ft_cells_judge(void *context, uint64_t address);
void ft_cells_leave_out(ft_cells *cells, ft_cells_judge *judge, void *context);
/* First pass: who knows of the calls that threads are in. */
typedef struct ft_cells_frames {
    void *of;
    /* of an address on the thread's stack: what is kept as ft_cell.frame */
    uint32_t (*frame)(void *of, uint32_t thread, uint64_t address);
    /* the turn in which the call began that has the address; 0: not known */
    uint32_t (*since)(void *of, uint32_t thread, uint64_t address);
} ft_cells_frames;
void ft_cells_know_frames(ft_cells *cells, const ft_cells_frames *frames); /* kept */
/* Which turn of the threads it is; changes. */
const uint32_t *ft_cells_turn_now(const ft_cells *cells);
/* First pass: the thread on whose stack the address lies by now; FT_NO_OWNER. */
uint32_t ft_cells_stack_at(const ft_cells *cells, uint64_t address);
/* Between the passes: names the cells; from now on records are fed to ft_cells_follow, and every
 * access is looked up by ft_cells_find, piece by piece by ft_cells_at. */
void ft_cells_settle(ft_cells *cells);
void ft_cells_follow(ft_cells *cells, const ft_raw_record *record);
/* After the second pass, which has to have met the same turns and lives as the first. */
void ft_cells_end(const ft_cells *cells);

/* Is a write by code without hooks found after that thread's end, which may have done it? */
bool ft_cells_late(const ft_cells *cells, uint32_t thread);

/* Second pass: the thread goes on now, with a batch of events (of records, ft_cells_follow is
 * told).
 */
void ft_cells_turn(ft_cells *cells, uint32_t thread);
/* Second pass: may an event of the batch that comes next be of a cell? False: none is, and nobody
 * needs to look. */
bool ft_cells_wants(const ft_cells *cells);
/* Is all that others did so far to stay before what it does now, since code without hooks writes in
 * this or a later of its turns what they had read? Asked behind the above; true once a fence. */
bool ft_cells_is_fenced(ft_cells *cells, uint32_t thread);

/* Second pass, if ft_cells_tell_ordered: is all that `other` did up to that turn
 * (ft_cells_turn_now) before what the thread does now, by forks and joins? */
bool ft_cells_is_behind(const ft_cells *cells, uint32_t thread, uint32_t other, uint32_t turn);
/* Second pass: does the address lie in a granule whose cells are ordered? */
bool ft_cells_is_ordered(ft_cells *cells, uint64_t address);

uint32_t ft_cells_count_of(const ft_cells *cells);
const ft_cell *ft_cells_get(const ft_cells *cells, uint32_t cell);
uint64_t ft_cells_granules(const ft_cells *cells); /* seen at all */
/* Where the memory of an ALLOC or BEGIN record lies: of the latter, a stack (of size 0: it is the
 * first thread's, or in another allocation). */
typedef struct ft_cells_extent {
    uint64_t address, size;
    bool stack;
    bool told; /* what it begins with: nobody's content, or zeros, or a file's */
} ft_cells_extent;
/* Where allocations of the heap were: behind `low`, so many bytes and the one behind them. */
uint64_t ft_cells_heap(const ft_cells *cells, uint64_t *low);
ft_cells_extent ft_cells_extent_of(const ft_cells *cells, uint32_t allocation);

/* The shared cell at `address`, whose size is then how far it goes; else FT_NO_CELL, with *skip
 * the number of bytes from there that lie in none (up to the next granule). */
uint32_t ft_cells_at(ft_cells *cells, uint64_t address, uint32_t *skip);
/* Is that range, which has shared cells, such that an atomic there covers several of them? */
bool ft_cells_is_parted(ft_cells *cells, uint64_t address, uint64_t size);
/* What each of the events accesses: the shared cell that is all of it, FT_NO_CELL where it touches
 * none (and for calls and returns), FT_SEVERAL_CELLS where it has to be looked up piece by piece.
 */
void ft_cells_find(ft_cells *cells, const ft_raw_event *events, uint32_t n, uint32_t *found);

#endif
