/* A path of the program: one execution under a deterministic scheduler, instruction by instruction,
 * for the slice (slice.h), and its synchronisation as nodes, for the schedule (graph.h). */
#ifndef FT_COVER_TRACE_H
#define FT_COVER_TRACE_H

#include "base/map.h"
#include "cover/control.h"
#include "schedules/schedules.h"
#include "symbolic/follow.h"

/* Which schedule is preferred. */
#define COVER_ORDER_TABLE(X)                                                                       \
    X(THREAD, "thread", "the running thread as long as it can, else the first one that can")       \
    X(TRACE, "trace", "the threads take turns at each operation")                                  \
    X(SEED, "seed", "at random, from the seed")
typedef enum cover_order {
#define FT_ROW(symbol, name, meaning) COVER_ORDER_##symbol,
    COVER_ORDER_TABLE(FT_ROW)
#undef FT_ROW
        COVER_ORDERS
} cover_order;

/* What an entry of the trace is. */
typedef enum cover_entry_kind {
    COVER_STEP,      /* an instruction that concerns the thread alone, or an access */
    COVER_OPERATION, /* an operation that schedules order */
    COVER_LOOP,      /* the way out of a loop that is taken as a function (program/loops.h) */
    COVER_ATTEMPT    /* the operation at which the thread stands when the path ends */
} cover_entry_kind;

typedef struct cover_access {
    uint32_t object;
    bool writes, unknown; /* unknown: the place is a term */
    uint64_t at, n;
} cover_access;

typedef struct cover_entry {
    uint8_t kind; /* cover_entry_kind */
    bool fails;   /* the process ends here, or the execution does not count */
    uint32_t thread, frame, instruction;
    uint32_t terms, n_terms;       /* in the trace's terms: what was decided there */
    uint32_t accesses, n_accesses; /* in the trace's accesses */
    uint32_t target;               /* in the function's targets; FT_NO_ID: none */
    uint32_t callee;               /* the frame that begins here; FT_NO_ID: none */
    uint32_t peer; /* of a join: the thread; of COVER_LOOP the loop; else FT_NO_ID */
} cover_entry;

typedef struct cover_frame {
    uint32_t thread, function; /* the function's index in the program */
    uint32_t parent;           /* frame; FT_NO_ID: the thread's first */
    uint32_t call;             /* the instruction there */
    uint32_t depth;            /* from 1 */
} cover_frame;

/* An operation that was carried out. Objects are numbers of the state and offsets in them. */
typedef struct cover_operation {
    uint8_t kind; /* ft_node_kind */
    bool timed_out;
    bool last;             /* an arrival: of its round */
    uint32_t thread, peer; /* FT_NO_ID: none */
    uint32_t object, other;
    uint64_t at, other_at;
    uint32_t function, instruction; /* the function's symbol; FT_NO_SYMBOL: none */
    ft_position position;           /* in the source, of the call of a model */
    uint32_t edges, n_edges;
} cover_operation;

typedef struct cover_thread {
    uint32_t parent, nth;    /* who created it, and which of his; of the first 0, 0 */
    uint32_t created;        /* how many it has created in this path */
    uint32_t frame;          /* the frame at hand; FT_NO_ID: none yet */
    uint32_t base;           /* its first frame */
    uint32_t last;           /* its newest entry + 1; 0: none */
    bool open;               /* the newest entry is done anew */
    cover_entry next;        /* the operation that it stands before; instruction FT_NO_ID: none */
    cover_entry begun;       /* the operation that it was within when the epoch began; likewise */
    uint32_t operation;      /* the entry of its newest operation, + 1; 0: none */
    uint32_t last_operation; /* in the trace's operations, + 1; 0: none */
    uint32_t round;          /* of the barrier that it arrived at last */
    uint64_t since;          /* since when it waits for a condition */
} cover_thread;

typedef struct cover_trace {
    const cover_control *control;
    FT_VEC(cover_entry) entries;
    FT_VEC(cover_frame) frames;
    FT_VEC(cover_access) accesses;
    FT_VEC(ft_term) terms;
    FT_VEC(cover_operation) operations;
    FT_VEC(uint32_t) edges;
    FT_VEC(uint32_t) abstracts; /* by object of the state: its abstract object (pointers.h) */
    cover_thread threads[FT_SYM_THREADS];
    uint32_t n_threads;
    bool endless; /* at its end a thread goes round for ever, in a loop without synchronisation */
} cover_trace;

void cover_trace_release(cover_trace *trace);
/* A trace of a path from the state on: threads that it has begun with are within their calls. */
void cover_trace_begin(cover_trace *trace, const cover_control *control, const ft_sym_state *state);
/* The follower of a world whose context is a cover_trace *. */
void cover_trace_follow(cover_trace *trace, const ft_sym_state *state, const ft_sym_note *note);
/* The thread carries out the operation that it stands before, or its second step: its entry. */
cover_entry *cover_trace_operation(cover_trace *trace, uint32_t thread, cover_entry_kind kind);

#endif
