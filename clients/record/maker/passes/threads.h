/* Threads while the second pass follows the log, and the orders between them that the trace has as
 * edges without a synchronisation object. Owner: edges.c; second_pass.c keeps how far they are. */
#ifndef FT_RECORD_MAKER_THREADS_H
#define FT_RECORD_MAKER_THREADS_H

#include "base/map.h"
#include "base/memory.h"

typedef struct ft_running_thread {
    uint64_t ran;  /* its last record */
    uint32_t seen; /* the last event that its records made, FT_NO_EVENT: none so far */
    uint32_t seen_at, forked_at; /* locations of that event and of its FORK */
    uint64_t forked;             /* the record; UINT64_MAX: not yet */
    uint64_t function;           /* site of the function that it runs; 0: not known */
    bool begun, ended;
    bool gives;         /* it makes blocks that others touch */
    uint32_t last_edge; /* the edge out of its end, FT_NO_ID: none */
    uint32_t steps;     /* so far (raw.h) */
    bool ignored;       /* its accesses are not candidates */
    uint32_t swapped;   /* 2, 1: accesses still to come whose hooks came in the other order */
} ft_running_thread;

typedef struct ft_running_threads {
    FT_VEC(ft_running_thread) all; /* by thread */
    ft_map ordered; /* reader << 16 | other -> the record up to which they are ordered */
    uint32_t n_edges;
    uint32_t last; /* the thread of the last record */
} ft_running_threads;

void ft_running_threads_init(ft_running_threads *threads, size_t n);
void ft_running_threads_release(ft_running_threads *threads);

#endif
