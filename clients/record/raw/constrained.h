/* Constrained runs: `foretell run` gives a program the schedule that it is to follow, and the
 * runtime (runtime/constrained/) reports there how it went.
 *
 * The file is mapped by both: ft_constrained_header, then
 *   ft_constrained_thread[threads], ft_constrained_node[nodes], ft_constrained_edge[edges],
 *   ft_constrained_range[ranges]
 * Nodes stand thread by thread, each thread's in its order.
 */
#ifndef FT_RECORD_CONSTRAINED_H
#define FT_RECORD_CONSTRAINED_H

#include <stdint.h>

#define FT_CONSTRAINED_MAGIC    "FTCON001"
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
    X(THREAD, "a thread was created or joined that the schedule does not have there")              \
    X(EARLY, "the process or a thread ended before the schedule did")
typedef enum ft_constrained_outcome {
#define FT_ROW(symbol, meaning) FT_CONSTRAINED_##symbol##_OUTCOME,
    FT_CONSTRAINED_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONSTRAINED_OUTCOMES
} ft_constrained_outcome;

typedef struct ft_constrained_header {
    char magic[8];
    uint64_t bytes; /* of the file */
    uint32_t threads, nodes, edges, ranges, objects;
    uint32_t stops;  /* 1: a run that leaves the schedule is ended; 0: it goes on freely */
    uint32_t prefix; /* 1: the process may end before its schedule */
    uint32_t notes;  /* 1: nodes get `when` */
    uint64_t delays; /* a seed: random delays are made before operations; 0: none */
    /* by the runtime */
    uint32_t taken;   /* 1: the runtime came up */
    uint32_t outcome; /* ft_constrained_outcome, the first one that is not FOLLOWED */
    uint32_t thread;  /* of the others: which thread, */
    uint32_t node;    /* its node (NONE: they were used up), */
    uint32_t found;   /* and the operation that it came to */
    uint64_t pc;      /* from the program's load address; 0: not known */
    uint64_t clock;   /* of `when` */
} ft_constrained_header;

typedef struct ft_constrained_thread {
    uint32_t parent, nth; /* the nth that the parent creates, from 1; the first: NONE, 0 */
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

/* So many nodes of the thread come before. */
typedef struct ft_constrained_edge {
    uint32_t thread, n;
} ft_constrained_edge;

typedef struct ft_constrained_range {
    uint64_t from, to; /* from <= return address - 1 - load address < to */
} ft_constrained_range;

#endif
