/* Constrained runs: `foretell run` gives a program the schedules that it is to follow, and the
 * runtime (runtime/constrained/) reports there how it went.
 *
 * The file is mapped by both: ft_constrained_header, then the tables. Numbers are those in the
 * whole table, but for threads: these are of the schedule, its first `roots` those that the epoch
 * begins with. Nodes stand schedule by schedule and thread by thread, each thread's in its order.
 *
 * A later epoch begins when all threads that it has have come to the end of the schedule before it.
 * Its selector is a tree of choices over terms, which are evaluated in their order. Where it
 * depends on what loops will compute, the client has found before the run which schedule it takes.
 */
#ifndef FT_RECORD_CONSTRAINED_H
#define FT_RECORD_CONSTRAINED_H

#include <stdint.h>

#define FT_CONSTRAINED_MAGIC    "FTCON004"
#define FT_CONSTRAINED_VARIABLE "FORETELL_SCHEDULE" /* environment: the file's path */

enum { FT_CONSTRAINED_NONE = UINT32_MAX, FT_CONSTRAINED_STOPPED = 89 /* exit status */ };

/* Operations of native programs. symbol, its name in messages */
#define FT_CONSTRAINED_OPERATION_TABLE(X)                                                          \
    X(BEGIN, "the thread's beginning")                                                             \
    X(END, "the thread's end")                                                                     \
    X(EXIT, "the end of the process")                                                              \
    X(CREATE, "the creation of a thread")                                                          \
    X(JOIN, "a join")                                                                              \
    X(INIT, "an initialisation")                                                                   \
    X(DESTROY, "a destruction")                                                                    \
    X(LOCK, "a lock")                                                                              \
    X(TRY_LOCK, "a try-lock")                                                                      \
    X(UNLOCK, "an unlock")                                                                         \
    X(READ_LOCK, "a read-lock")                                                                    \
    X(WRITE_LOCK, "a write-lock")                                                                  \
    X(TRY_READ_LOCK, "a try-read-lock")                                                            \
    X(TRY_WRITE_LOCK, "a try-write-lock")                                                          \
    X(RW_UNLOCK, "an unlock of a read-write lock")                                                 \
    X(WAIT, "a wait for a condition")                                                              \
    X(WAKE, "the return from a wait")                                                              \
    X(SIGNAL, "a signal")                                                                          \
    X(BROADCAST, "a broadcast")                                                                    \
    X(TAKE, "a wait for a semaphore")                                                              \
    X(TRY_TAKE, "an attempt at a semaphore")                                                       \
    X(POST, "a post")                                                                              \
    X(COUNT, "a look at a semaphore")                                                              \
    X(ARRIVE, "an arrival at a barrier")                                                           \
    X(LEAVE, "the way out of a barrier")                                                           \
    X(ONCE, "a call that is made once")                                                            \
    X(ONCE_DONE, "the end of a call that is made once")                                            \
    X(LOAD, "an atomic read")                                                                      \
    X(STORE, "an atomic write")                                                                    \
    X(UPDATE, "an atomic update")                                                                  \
    X(SWAP, "an atomic compare-and-swap")
typedef enum ft_constrained_operation {
#define FT_ROW(symbol, name) FT_CONSTRAINED_##symbol##_OPERATION,
    FT_CONSTRAINED_OPERATION_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_OPERATIONS
} ft_constrained_operation;

/* What the run did. symbol, meaning */
#define FT_CONSTRAINED_OUTCOME_TABLE(X)                                                            \
    X(RUNNING, "it did not come to its end")                                                       \
    X(FOLLOWED, "it ended, and followed the schedule")                                             \
    X(KIND, "a thread came to another operation than the schedule has")                            \
    X(OBJECT, "a thread came to an operation on another object than the schedule has")             \
    X(PLACE, "a thread came to the operation in another place than the schedule has")              \
    X(MORE, "a thread came to an operation that the schedule does not have")                       \
    X(UNCOVERED, "no schedule of the next epoch covers its state")                                 \
    X(LOST, "the next epoch's selector needs a local variable that is nowhere, or a thread's "     \
            "result that was given to pthread_exit")                                               \
    X(THREAD, "a thread was created or joined that the schedule does not have there")              \
    X(EARLY, "the process or a thread ended before the schedule did")                              \
    X(BLOCKED, "the threads wait forever, as the schedule says")
typedef enum ft_constrained_outcome {
#define FT_ROW(symbol, meaning) FT_CONSTRAINED_##symbol##_OUTCOME,
    FT_CONSTRAINED_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_OUTCOMES
} ft_constrained_outcome;

typedef struct ft_constrained_schedule {
    uint32_t first_thread, n_threads;
    uint32_t next;                 /* the epoch behind it; NONE: it is the last */
    uint32_t first_bound, n_bound; /* by thread of that epoch: which thread here */
    uint32_t awaited;              /* threads that come to its end, and have not ended; of the last
                                      epoch 0, unless they wait there forever */
} ft_constrained_schedule;

typedef struct ft_constrained_thread {
    uint32_t parent, nth; /* the nth that the parent creates, from 1; a root: NONE, 0 */
    uint32_t first, n;    /* its nodes */
    /* by the runtime */
    uint32_t done;   /* futex: how many of them are done */
    uint32_t sleeps; /* 1: some thread may wait for `done` */
} ft_constrained_thread;

typedef struct ft_constrained_node {
    uint32_t operation; /* ft_constrained_operation */
    uint32_t object;    /* from 1; 0: none */
    uint32_t peer;      /* thread; NONE: none */
    uint32_t timed_out; /* 1: its time limit passes; of LEAVE: it is the one that arrived last */
    uint32_t first_edge, n_edges;
    uint32_t first_range, n_ranges; /* of its place; 0 ranges: any place */
    uint64_t when;                  /* by the runtime: from 1 */
} ft_constrained_node;

typedef uint32_t ft_constrained_number;

/* So many nodes of the thread come before. */
typedef struct ft_constrained_edge {
    uint32_t thread, n;
} ft_constrained_edge;

typedef struct ft_constrained_range {
    uint64_t from, to; /* from <= return address - 1 - load address < to */
} ft_constrained_range;

/* ---- selectors */

typedef struct ft_constrained_epoch {
    uint32_t choice; /* the root */
    uint32_t first_term, n_terms;
    uint32_t locals;                      /* 1: some term is a local variable */
    uint32_t first_schedule, n_schedules; /* n 0: its choices say which; else `foreseen` does, which
                                             of these, and it has no choices */
} ft_constrained_epoch;

typedef struct ft_constrained_choice {
    uint32_t term; /* NONE: a leaf */
    uint32_t yes, no;
    uint32_t schedule; /* leaf; NONE: none covers it */
} ft_constrained_choice;

/* Terms over bit-vectors and truths, as SMT-LIB has them (term/term.h). A division by zero is
 * undefined, and so is all that has it; what is undefined does not hold. symbol */
/* clang-format off */
#define FT_CONSTRAINED_TERM_TABLE(X)                                                               \
    X(LITERAL) X(CELL) X(NOT) X(AND) X(OR) X(XOR) X(IMPLIES) X(ITE) X(EQ) X(DISTINCT) X(BVNOT)     \
    X(BVNEG) X(BVADD) X(BVSUB) X(BVMUL) X(BVUDIV) X(BVUREM) X(BVSDIV) X(BVSREM) X(BVAND) X(BVOR)   \
    X(BVXOR) X(BVSHL) X(BVLSHR) X(BVASHR) X(BVULT) X(BVULE) X(BVUGT) X(BVUGE) X(BVSLT) X(BVSLE)    \
    X(BVSGT) X(BVSGE) X(CONCAT) X(EXTRACT) X(ZERO_EXTEND) X(SIGN_EXTEND)
/* clang-format on */
typedef enum ft_constrained_term_kind {
#define FT_ROW(symbol) FT_CONSTRAINED_TERM_##symbol,
    FT_CONSTRAINED_TERM_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_TERMS
} ft_constrained_term_kind;

/* Where a cell is. */
typedef enum ft_constrained_base {
    FT_CONSTRAINED_IN_PROGRAM, /* from its load address */
    FT_CONSTRAINED_IN_THREAD,  /* from the thread pointer of a thread of the epoch */
    FT_CONSTRAINED_IN_OBJECT,  /* from the address that its argument is */
    FT_CONSTRAINED_IN_FRAME,   /* a local variable of a thread's function: see `locals` */
    FT_CONSTRAINED_IN_RESULT,  /* what a thread has returned, which has ended */
    FT_CONSTRAINED_BASES
} ft_constrained_base;

/* A local variable of a function that stands at a call: in which frames of the thread it is, by
 * from <= return address - 1 - load address < to, and where. */
typedef enum ft_constrained_how {
    FT_CONSTRAINED_NOWHERE, /* the function stands there, and its variable has no place */
    FT_CONSTRAINED_VALUE,   /* its value is base + offset */
    FT_CONSTRAINED_MEMORY   /* it is the memory at base + offset */
} ft_constrained_how;

/* What places start from. symbol, DWARF's number of the register (x86-64) */
#define FT_CONSTRAINED_REGISTER_TABLE(X)                                                           \
    X(RBX, 3) X(RBP, 6) X(R12, 12) X(R13, 13) X(R14, 14) X(R15, 15)
typedef enum ft_constrained_register {
#define FT_ROW(symbol, number) FT_CONSTRAINED_##symbol,
    FT_CONSTRAINED_REGISTER_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_RSP, /* behind the call */
    FT_CONSTRAINED_CFA,     /* before the function's own call */
    FT_CONSTRAINED_REGISTERS,
    FT_CONSTRAINED_ZERO = FT_CONSTRAINED_REGISTERS /* 0 */
} ft_constrained_register;

typedef struct ft_constrained_local {
    uint64_t from, to;
    int64_t offset;
    uint32_t how, base; /* ft_constrained_how, ft_constrained_register */
} ft_constrained_local;

typedef struct ft_constrained_term {
    uint8_t kind;               /* ft_constrained_term_kind */
    uint8_t width;              /* bits; a truth has 1 */
    uint8_t low;                /* EXTRACT: the lowest bit */
    uint8_t base;               /* CELL: ft_constrained_base */
    uint32_t thread;            /* CELL: of the epoch */
    int64_t offset;             /* CELL */
    uint64_t bits;              /* LITERAL */
    uint32_t first_kid, n_kids; /* terms before it */
    /* CELL in a frame: where the variable is, and which of so many frames that have one it is, from
     * the outermost */
    uint32_t first_local, n_locals, which, frames;
    /* by the runtime */
    uint64_t value;
    uint32_t undefined; /* bits: 1 by a division, 2 by content that is nowhere */
} ft_constrained_term;

/* ---- the file: the header, and behind it these tables, of which those that need it are aligned */

/* foreseen: the schedule of each epoch behind the first, in the run's order; NONE: none covers it.
 */
#define FT_CONSTRAINED_TABLES(X)                                                                   \
    X(ft_constrained_node, nodes)                                                                  \
    X(ft_constrained_range, ranges)                                                                \
    X(ft_constrained_local, locals)                                                                \
    X(ft_constrained_term, terms)                                                                  \
    X(ft_constrained_schedule, schedules)                                                          \
    X(ft_constrained_thread, threads)                                                              \
    X(ft_constrained_edge, edges)                                                                  \
    X(ft_constrained_number, bound)                                                                \
    X(ft_constrained_epoch, epochs)                                                                \
    X(ft_constrained_choice, choices)                                                              \
    X(ft_constrained_number, kids)                                                                 \
    X(ft_constrained_number, foreseen)

typedef struct ft_constrained_header {
    char magic[8];
    uint64_t bytes;                       /* of the file */
#define FT_ROW(type, name) uint32_t name; /* how many there are */
    FT_CONSTRAINED_TABLES(FT_ROW)
#undef FT_ROW
    uint32_t objects, globals; /* the first so many are the same in every epoch */
    uint32_t first;            /* the schedule that the run begins with */
    uint32_t stops;  /* 1: a run that leaves the schedule is ended; 0: it goes on freely */
    uint32_t prefix; /* 1: the process may end before its schedule */
    uint32_t notes;  /* 1: nodes get `when` */
    uint64_t delays; /* a seed: random delays are made before operations; 0: none */
    /* by the runtime */
    uint32_t taken;    /* 1: the runtime came up */
    uint32_t outcome;  /* ft_constrained_outcome, the first one that is not FOLLOWED */
    uint32_t thread;   /* of the others: which thread, */
    uint32_t node;     /* its node (NONE: they were used up), */
    uint32_t found;    /* and the operation that it came to */
    uint32_t schedule; /* the newest */
    uint32_t begun;    /* futex: epochs that began behind the first */
    uint32_t disorder; /* 1: some operation of an earlier epoch came too soon */
    uint64_t path;     /* a hash of all schedules so far, in their order */
    uint64_t pc;       /* from the program's load address; 0: not known */
    uint64_t clock;    /* of `when` */
} ft_constrained_header;

typedef struct ft_constrained_tables {
#define FT_ROW(type, name) type *name;
    FT_CONSTRAINED_TABLES(FT_ROW)
#undef FT_ROW
} ft_constrained_tables;

/* The tables of a file that is mapped. */
static inline ft_constrained_tables ft_constrained_tables_of(ft_constrained_header *head)
{
    ft_constrained_tables t;
    char *at = (char *)(head + 1);
#define FT_ROW(type, name)                                                                         \
    t.name = (type *)(void *)at;                                                                   \
    at += head->name * sizeof(type);
    FT_CONSTRAINED_TABLES(FT_ROW)
#undef FT_ROW
    return t;
}

#endif
