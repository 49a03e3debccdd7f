/* Inside of maker/maker.h: what its files share of a log that becomes a trace. The first pass
 * (maker.c) learns what is there, the second (passes/second_pass.c) makes the events. */
#ifndef FT_RECORD_MAKER_INTERNAL_H
#define FT_RECORD_MAKER_INTERNAL_H

#include "base/map.h"
#include "maker/cells/cells.h"
#include "maker/cells/reuse.h"
#include "maker/log/log.h"
#include "maker/maker.h"
#include "maker/names/stacks.h"
#include "maker/order/addresses_read.h"
#include "maker/order/channels.h"
#include "maker/order/library_locks.h"
#include "maker/symbols/source_lines.h"
#include "maker/symbols/symbols.h"
#include "maker/terms/terms.h"

enum {
    FT_MAKER_MANY = UINT16_MAX + 1, /* no thread has that number */
    FT_MAKER_RECENT = 256,
    FT_MAKER_WORD = 3, /* 1 << that many bytes have room for an address */
    FT_MAKER_AHEAD = 8 /* events whose cells are fetched before they are needed */
};

typedef struct ft_maker_object {
    ft_raw_class class;
    uint64_t address, kind;
    uint32_t id; /* in the builder, once it is used */
    bool declared;
    uint32_t allocation, offset; /* where it lies; FT_NO_ALLOCATION */
    uint32_t frame;              /* on a stack: in ft_maker.frames, + 1; else 0 */
    /* passes/objects.c */
    bool used, initialised, ends; /* the latter two: where others can tell */
    bool hooked;                  /* code with hooks makes, uses or ends it */
    uint32_t user, maker;         /* threads; FT_MAKER_MANY */
    uint32_t variable, block;     /* in the builder */
} ft_maker_object;

typedef struct ft_maker_module {
    char *path;
    uint64_t base;
    uint32_t id; /* in the builder + 1, once it is used */
    bool hashed;
    uint8_t hooks;                /* passes/uninstrumented.c */
    char hash[FT_DIGEST_HEX + 1]; /* "": it cannot be read */
} ft_maker_module;

typedef struct ft_maker_block {
    uint32_t id; /* in the builder, FT_NO_ID: none of its cells is shared */
} ft_maker_block;

/* Of a block of the builder. */
typedef struct ft_maker_use {
    uint64_t admitted; /* bit per thread, by its low bits: it touched the block */
    uint32_t made;     /* the event of the trace that allocates it */
} ft_maker_use;

/* What is known of a cell's content while the log is followed. */
typedef enum ft_maker_content {
    FT_CONTENT_UNSEEN,
    FT_CONTENT_KNOWN,
    FT_CONTENT_LOST
} ft_maker_content;

/* All that a plain access needs to know of a cell: half a cache line. */
typedef struct ft_maker_shadow {
    int64_t value;
    uint64_t touched;  /* the record that touched it last, 0: none */
    uint32_t variable; /* the cell, in the builder */
    uint32_t id;       /* of the value in the builder, FT_NO_VALUE: not asked for yet */
    uint32_t toucher;  /* the thread that touched it, FT_MAKER_MANY: several */
    uint8_t content;   /* ft_maker_content */
    bool guarded;      /* of a block that not all threads need know of (ft_maker_admit) */
    uint16_t life; /* the value is an address in that life of its memory (maker/cells/reuse.h) */
} ft_maker_shadow;

/* An ordered cell, in a recording with terms (passes/ordered_cells.c). */
typedef struct ft_maker_handed {
    uint32_t loc, context; /* of the write that is to be published */
    uint16_t holder;       /* the thread whose terms memory has there (ft_lanes) */
    uint16_t waits; /* the thread in whose list of unpublished cells it is, + 1; 0: in none */
    bool named;     /* it has a variable */
    bool published; /* the trace has the last write: it gave the cell a term */
} ft_maker_handed;

/* The first write of a cell, in a recording with terms. */
typedef struct ft_maker_birth {
    uint32_t thread, turn; /* turn: of ft_cells_turn_now, 0: it is not written yet */
} ft_maker_birth;

typedef FT_VEC(uint32_t) ft_maker_cells;

/* A value that was met a little before. */
typedef struct ft_maker_recent {
    int64_t value;
    uint32_t id; /* in the builder; FT_NO_VALUE: none */
} ft_maker_recent;

/* A thread in the second pass. */
typedef struct ft_maker_actor {
    uint64_t ran;    /* its last record */
    uint64_t forked; /* the record; UINT64_MAX: not yet */
    bool begun, ended;
    bool gives;         /* it makes blocks that others touch */
    uint32_t last_edge; /* the edge out of its end, FT_NO_ID: none */
    uint32_t steps;     /* so far (raw.h) */
    bool ignored;       /* its accesses are no candidates */
    uint32_t swapped;   /* 2, 1: accesses still to come whose hooks came in the other order */
} ft_maker_actor;

/* What is known of each: 0 nothing yet, 1 no, 2 yes. */
typedef FT_VEC(uint8_t) ft_maker_marks;

typedef struct ft_maker {
    ft_raw_log *log;
    ft_raw_taker taker; /* first pass */
    ft_cells_frames stack_frames;
    ft_cells *cells;
    ft_symbols *symbols;
    ft_source_lines *lines;
    ft_builder *builder;
    ft_terms *terms; /* NULL: recorded without */
    ft_map places;   /* return address -> location, of those that are no site */
    ft_record_summary *summary;
    const ft_annotations *annotations; /* NULL: none */
    FT_VEC(ft_maker_module) modules;
    FT_VEC(char *) words; /* that the program was started with; none: nobody knows */
    ft_stacks *stacks;
    FT_VEC(uint64_t) sites;            /* return addresses */
    FT_VEC(ft_raw_frame) frames;       /* that have something which threads share */
    FT_VEC(uint32_t) locations;        /* by site, + 1; 0: not looked up yet */
    FT_VEC(uint8_t) own_memory;        /* by site: 0: not looked up yet; else 1, or 2: it is */
    FT_VEC(uint8_t) hooked;            /* likewise */
    ft_maker_marks library;            /* likewise: it is in the C++ library (names/call_sites.c) */
    ft_maker_marks allocators;         /* likewise: in a function that allocates for others */
    FT_VEC(uint8_t) library_locations; /* by location: 1: it is */
    ft_map askers;                     /* context -> the one in it that asked, FT_NO_CONTEXT */
    ft_map asked;                      /* site << 32 | location: they are told to belong together */
    ft_map shown;                      /* context -> ft_maker_shown */
    uint32_t context;                  /* of the record at hand */
    bool calls;                        /* something that ran was compiled with the hooks */
    ft_map code;                       /* address -> location */
    FT_VEC(ft_maker_object) objects;
    FT_VEC(uint32_t) parents; /* by thread */
    FT_VEC(uint32_t) children;
    FT_VEC(uint32_t) threads;      /* by thread: builder's id + 1 */
    FT_VEC(ft_maker_actor) actors; /* by thread */
    ft_map ordered; /* reader << 16 | other -> the record up to which they are ordered */
    uint32_t n_edges;
    uint32_t unseen_values;        /* told so far (passes/accesses.c, read_unseen) */
    FT_VEC(uint64_t) born;         /* by allocation: its record */
    FT_VEC(uint32_t) makers;       /* by allocation: its site */
    FT_VEC(uint8_t) of_library;    /* likewise: 1: the C++ library asked, for what is there */
    FT_VEC(ft_maker_block) blocks; /* by allocation */
    FT_VEC(ft_maker_use) used;     /* by block of the builder */
    ft_known *known;
    uint64_t heap, heap_size;           /* ft_cells_heap */
    ft_map live;                        /* address -> allocation */
    ft_maker_shadow *shadows;           /* by cell */
    ft_maker_handed *handed;            /* by cell; NULL: recorded without terms */
    ft_maker_birth *births;             /* by cell, likewise */
    FT_VEC(ft_maker_cells) unpublished; /* by thread: what it is to publish, perhaps */
    ft_map uses;                        /* hash of a name -> how often it was given */
    ft_channels *channels;
    ft_hidden *hidden;
    ft_lives lives;
    uint32_t n_allocations;
    uint32_t unjoined; /* first pass: threads that were started and not joined */
    /* the cells of the events at hand (ft_cells_find); behind them, of those before */
    uint32_t found[FT_RAW_BATCH + FT_MAKER_AHEAD];
    ft_maker_recent recent[FT_MAKER_RECENT]; /* by hash of the value */
    uint64_t now;                            /* number of the record */
    uint32_t step;                           /* which the record is (step_of) */
} ft_maker;

/* ---- log/validate.c: does the record fit to what came before? */
bool ft_maker_is_sound(const ft_maker *m, const ft_raw_record *r);

/* ---- names/names.c: how what is kept is called, and which of the builder's things it is */
/* NULL: none lies there. */
ft_maker_module *ft_maker_module_at(const ft_maker *m, uint64_t pc);
uint32_t ft_maker_module_id(ft_maker *m, ft_maker_module *module);
void ft_maker_hash(ft_maker_module *module); /* once */
/* A site of the libraries whose allocations are no steps (raw/schedule.h). */
bool ft_maker_is_own_memory(ft_maker *m, uint64_t site);
uint32_t ft_maker_location(ft_maker *m, uint64_t site); /* FT_NO_LOC: not known */
/* Of code that is no site: branches. `context` is the maker. */
uint32_t ft_maker_location_at(void *context, uint64_t pc);
uint32_t ft_maker_thread(ft_maker *m, uint32_t t);
uint32_t ft_maker_object_id(ft_maker *m, uint64_t index);
const char *ft_maker_class_name(ft_raw_class class);
/* Declare all of them, before the second pass. */
void ft_maker_name_cells(ft_maker *m); /* but for the ordered ones */
void ft_maker_name_cell(ft_maker *m, uint32_t c);
void ft_maker_name_blocks(ft_maker *m); /* behind the cells */
void ft_maker_know_lives(ft_maker *m);  /* behind the blocks */

/* Says to which location the code there belongs. */
void ft_maker_keep_site(ft_maker *m, uint64_t pc, uint32_t loc);

/* ---- names/call_sites.c: code of the C++ library has the places that ask for it */
typedef struct ft_maker_spot {
    uint32_t loc, context;
} ft_maker_spot;
/* A location that is new, of code there. */
void ft_maker_note_location(ft_maker *m, uint64_t pc, uint32_t loc);
/* The place of what the site, which is at that location, does in that context. */
ft_maker_spot ft_maker_asked_at(ft_maker *m, uint64_t site, uint32_t loc, uint32_t context);
/* The context without the calls that the library makes. */
uint32_t ft_maker_shown(ft_maker *m, uint32_t context);
/* The location of what the record at hand does at that site; the event that comes next has the
 * context that goes with it. */
uint32_t ft_maker_locate(ft_maker *m, uint64_t site);
void ft_maker_in_context(ft_maker *m, uint32_t context); /* the record at hand is */
/* First pass: the site that asks for what the thread does at that one now. */
uint32_t ft_maker_asking_site(ft_maker *m, uint32_t thread, uint32_t site, bool *of_library);
static inline bool ft_maker_in_library(const ft_maker *m, uint32_t loc)
{
    return loc < m->library_locations.len && m->library_locations.data[loc];
}

/* ---- passes/accesses.c: events, above all of memory */
void ft_maker_event(ft_maker *m, ft_event_kind kind, const ft_raw_record *r, uint32_t id,
                    uint64_t site, uint32_t value, uint8_t flags);
uint32_t ft_maker_edge(ft_maker *m); /* a new one */
void ft_maker_edge_event(ft_maker *m, ft_event_kind kind, uint32_t t, uint32_t edge);
/* What a cell's content is in the trace, an address in that life of its memory. */
ft_value ft_maker_value(const ft_maker *m, uint32_t cell, int64_t value, uint16_t life);
ft_terms_place ft_maker_place(ft_maker *m, const ft_raw_record *r, uint64_t site);
void ft_maker_access(ft_maker *m, const ft_raw_record *r);
/* What all others did so far stays before what the thread does from now on, where that is wanted.
 */
void ft_maker_fence(ft_maker *m, uint32_t thread);
/* The thread touches the cell, perhaps as the first of its block. What code without hooks gave it
 * it must not have earlier: what the block's maker, and who touched it, did so far comes before. */
void ft_maker_admit(ft_maker *m, uint32_t c, uint32_t thread);
/* What the record says of the cell's content; false: nothing. */
bool ft_maker_content_of(const ft_raw_record *r, const ft_cell *cell, bool written, int64_t *value);
/* A value that the thread read in the cell. */
void ft_maker_learn(ft_maker *m, uint32_t thread, const ft_cell *cell, bool known, int64_t value);
/* The life of the address that the value may be. */
uint16_t ft_maker_life_of(const ft_maker *m, uint32_t c, int64_t value);
/* The trace has that content of the cell now. */
void ft_maker_touch(ft_maker *m, uint32_t c, uint32_t t, ft_maker_content now, int64_t value,
                    uint16_t life);
/* A record of SHOWN: what differs there from what was known is the thread's own external write. */
void ft_maker_show(ft_maker *m, const ft_raw_record *r);
void ft_maker_benign(ft_maker *m, uint64_t address, uint64_t size);

/* ---- passes/ordered_cells.c: ordered cells, through which terms go from thread to thread */
/* The access, between ft_terms_begin and ft_terms_end. */
void ft_maker_hand(ft_maker *m, const ft_raw_record *r, uint32_t c);
/* Does it lie in such a cell? `context` is the maker. */
bool ft_maker_is_handed(void *context, uint64_t address);
/* Before the event of a fork, or of a thread's end. */
void ft_maker_publish(ft_maker *m, const ft_raw_record *r);

/* ---- passes/objects.c: those that begin or end while others may use them */
void ft_maker_meet_object(ft_maker *m, const ft_raw_record *r); /* first pass, all records */
void ft_maker_declare_objects(ft_maker *m);                     /* before the second pass */
void ft_maker_use_object(ft_maker *m, const ft_raw_record *r);  /* before the event of a SYNC */
void ft_maker_initialise_object(ft_maker *m, const ft_raw_record *r);
void ft_maker_destroy_object(ft_maker *m, const ft_raw_record *r);
void ft_maker_reclaim_object(ft_maker *m, const ft_raw_record *r);

/* ---- passes/uninstrumented.c: code without hooks, and notes of what was not seen */
void ft_maker_foreign(ft_maker *m);
/* Is the site's code the program's, built with hooks, or of the C or C++ library, which do for it
 * what it asks for? True also where that cannot be told. */
bool ft_maker_is_hooked(ft_maker *m, uint64_t site);

/* May it be an address of the heap? */
static inline bool ft_maker_reaches_heap(const ft_maker *m, int64_t value)
{
    return (uint64_t)value - m->heap <= m->heap_size;
}

static inline bool ft_maker_is_admitted(const ft_maker *m, uint32_t c, uint32_t thread)
{
    if (!m->shadows[c].guarded) return true;
    uint32_t block = m->blocks.data[ft_cells_get(m->cells, c)->allocation].id;
    return m->used.data[block].admitted >> thread % 64 & 1;
}

/* ---- passes/event_batches.c: the usual among what is kept, many at once */
/* Events of one thread that follow each other; the others among them go to ft_maker_access. */
void ft_maker_keep_events(ft_maker *m, const ft_raw_record *r);

/* ---- passes/second_pass.c: the second pass */
void ft_maker_follow(ft_maker *m);

#endif
