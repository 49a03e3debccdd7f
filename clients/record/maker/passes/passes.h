/* The two passes over a raw log that make the events of a trace.
 *
 * The first pass (first_pass.c) reads the log while the program still runs. It fills the inventory,
 * counts which memory threads share (cells/) and learns which channels and locks order threads.
 * Between the passes the shared cells, blocks and objects are declared in the trace's builder.
 * The second pass (second_pass.c) reads the log once more and appends the events: of accesses
 * (event_batches.c the usual ones, many at once; accesses.c all others), of ordered cells, of
 * synchronisation objects, and edges for orders that no event explains. A write by uninstrumented
 * code becomes an event when a read finds it.
 *
 * Imports: cells, inventory, log, names, order, replay, symbols, terms, common/base, common/trace.
 */
#ifndef FT_RECORD_MAKER_PASSES_H
#define FT_RECORD_MAKER_PASSES_H

#include "maker/inventory/inventory.h"
#include "maker/names/names.h"
#include "maker/order/order.h"
#include "maker/passes/memory.h"
#include "maker/passes/objects.h"
#include "maker/passes/ordered_cells.h"
#include "maker/passes/pointer_targets.h"
#include "maker/passes/summary.h"
#include "maker/passes/threads.h"
#include "maker/terms/terms.h"

enum {
    FT_MAKER_RECENT = 256,
    FT_MAKER_LIMITS = 64,
    FT_MAKER_AHEAD = 8 /* events whose cells are fetched before they are needed */
};

/* A value that was met a little before. */
typedef struct ft_maker_recent {
    int64_t value;
    uint32_t id; /* in the builder; FT_NO_VALUE: none */
} ft_maker_recent;

/* A time limit that passed, of the waits at a site. */
typedef struct ft_maker_limit {
    uint64_t site, longest; /* in nanoseconds */
} ft_maker_limit;

/* The state of a thread when the run was ended. */
typedef struct ft_maker_doing {
    uint32_t thread;
    ft_raw_doing doing;
    ft_event_kind kind; /* of what it waits for */
    uint64_t site;      /* of that */
} ft_maker_doing;

/* A log that becomes a trace. Each part is kept by the folder or file that declares it. */
typedef struct ft_maker {
    ft_raw_log *log;
    ft_record_summary *summary;
    ft_inventory inventory; /* first pass; constant behind it */
    ft_cells *cells;
    ft_channels *channels;
    ft_library_locks *locks;
    ft_names names;
    /* first pass */
    ft_raw_taker taker;
    ft_cells_frames frames;
    ft_object_lives objects;
    ft_pointer_targets targets; /* of recordings with terms */
    /* second pass */
    ft_builder *builder;
    ft_terms *terms; /* NULL: recorded without */
    ft_shared_memory memory;
    ft_running_threads threads;
    ft_ordered_cells ordered;
    FT_VEC(ft_maker_doing) doing;
    FT_VEC(ft_maker_limit) limits;           /* by site; the first FT_MAKER_LIMITS of them */
    const char *explored_text;               /* which schedule it followed (maker.h); NULL: none */
    const char *failure_kind, *failure_text; /* how the run failed (maker.h); NULL: it did not */
    uint64_t now;                            /* number of the record at hand */
    uint32_t step; /* which step of its thread the record is (second_pass.c, step_of) */
    /* event_batches.c: the cells of the events at hand; behind them, of those before */
    uint32_t found[FT_RAW_BATCH + FT_MAKER_AHEAD];
    ft_maker_recent recent[FT_MAKER_RECENT]; /* by hash of the value */
} ft_maker;

/* ---- first_pass.c */
/* A program that may still write the log; opaque. */
typedef struct ft_running_program ft_running_program;
ft_running_program *ft_running_program_new(void);
void ft_running_program_end(ft_running_program *program);  /* nothing more is written */
void ft_running_program_free(ft_running_program *program); /* accepts NULL */

/* Follows the log until the program has ended; NULL: it has. */
ft_status ft_maker_first_pass(ft_maker *m, ft_running_program *running,
                              ft_error *err) FT_MUST_CHECK;

/* ---- second_pass.c: from the first pass's result to events in m->builder */
void ft_maker_second_pass(ft_maker *m);

/* ---- summary.c: behind the second pass */
void ft_maker_summarise(ft_maker *m);

/* ---- check.c: for FT_CHECK, between and after the passes */
bool ft_maker_is_sound(const ft_maker *m);

/* ---- notes.c: warnings in the trace's notes, and the summary, about code that the recorder does
 * not see */
void ft_maker_add_notes(ft_maker *m);

/* ---- memory.c: before the second pass */
void ft_maker_declare_memory(ft_maker *m); /* all cells but the ordered ones, and their blocks */
void ft_maker_declare_cell(ft_maker *m, uint32_t c);
static inline uint32_t ft_maker_block_of(const ft_maker *m, uint32_t c)
{
    return m->memory.blocks.data[ft_cells_get(m->cells, c)->allocation];
}

/* ---- edges.c: orders between threads that no synchronisation object explains */
uint32_t ft_maker_edge(ft_maker *m); /* a new one */
void ft_maker_edge_event(ft_maker *m, ft_event_kind kind, uint32_t thread, uint32_t edge);
/* All that `other` did so far is ordered before what the thread does from now on. */
void ft_maker_order_after(ft_maker *m, uint32_t thread, uint32_t other);
/* The same of all other threads, where the cells want it (ft_cells_is_fenced). */
void ft_maker_fence(ft_maker *m, uint32_t thread);
/* The thread touches the cell, perhaps as the first of its block. Where uninstrumented code may
 * have handed it the block, what the block's maker and users did so far is ordered before. */
void ft_maker_admit(ft_maker *m, uint32_t c, uint32_t thread);
static inline bool ft_maker_is_admitted(const ft_maker *m, uint32_t c, uint32_t thread)
{
    if (!m->memory.shadows[c].guarded) return true;
    return m->memory.uses.data[ft_maker_block_of(m, c)].admitted >> thread % 64 & 1;
}

/* ---- accesses.c: events of accesses, one record at a time */
void ft_maker_event(ft_maker *m, ft_event_kind kind, const ft_raw_record *r, uint32_t id,
                    uint64_t site, uint32_t value, uint8_t flags);
/* A cell's content as the trace has it, an address in that life of its memory. */
ft_value ft_maker_value(const ft_maker *m, uint32_t cell, int64_t value, uint16_t life);
ft_terms_place ft_maker_place(ft_maker *m, const ft_raw_record *r, uint64_t site);
void ft_maker_access(ft_maker *m, const ft_raw_record *r);
/* Is there a free cell (pointer_targets.h) of that size at the address, which the thread may access
 * in any schedule? Then *variable is its number in the trace. */
bool ft_maker_is_target(ft_maker *m, uint32_t thread, uint64_t address, uint64_t size,
                        uint32_t *variable);
/* The cell's content that the record has; false: none. */
bool ft_maker_content_of(const ft_raw_record *r, const ft_cell *cell, bool written, int64_t *value);
/* The thread read that value in the cell. */
void ft_maker_learn(ft_maker *m, uint32_t thread, const ft_cell *cell, bool known, int64_t value);
/* The life of the address that the value may be. */
uint16_t ft_maker_life_of(const ft_maker *m, uint32_t c, int64_t value);
/* The trace has that content of the cell now. */
void ft_maker_touch(ft_maker *m, uint32_t c, uint32_t t, ft_content now, int64_t value,
                    uint16_t life);
/* A SHOWN record: where memory differs from what was known, the thread's own uninstrumented code
 * wrote it. */
void ft_maker_show(ft_maker *m, const ft_raw_record *r);
void ft_maker_benign(ft_maker *m, uint64_t address, uint64_t size);

/* ---- event_batches.c: events of one thread that follow each other, many at once; the unusual
 * ones among them go to ft_maker_access */
void ft_maker_keep_events(ft_maker *m, const ft_raw_record *r);

/* ---- ordered_cells.c */
/* An access of the cell, between ft_terms_begin and ft_terms_end. */
void ft_maker_ordered_access(ft_maker *m, const ft_raw_record *r, uint32_t c);
/* Does the address lie in an ordered cell? `maker` is an ft_maker. */
bool ft_maker_is_ordered(void *maker, uint64_t address);
/* Before the event of a fork, or of a thread's end. */
void ft_maker_publish(ft_maker *m, const ft_raw_record *r);

/* ---- objects.c */
void ft_maker_meet_object(ft_maker *m, const ft_raw_record *r); /* first pass, all records */
void ft_maker_declare_objects(ft_maker *m);                     /* before the second pass */
void ft_maker_use_object(ft_maker *m, const ft_raw_record *r);  /* before the event of a SYNC */
void ft_maker_initialise_object(ft_maker *m, const ft_raw_record *r);
void ft_maker_destroy_object(ft_maker *m, const ft_raw_record *r);
void ft_maker_reclaim_object(ft_maker *m, const ft_raw_record *r);

#endif
