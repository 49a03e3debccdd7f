/* The happens-before graph of a path: its operations and the edges that keep them in its order.
 *
 * All operations on one object are ordered as the path has them (notes on Bergan §3: with the usual
 * edges alone a signal may come first and be lost), but for arrivals of one round of a barrier.
 * Edges that follow from others are left out. */
#ifndef FT_COVER_GRAPH_H
#define FT_COVER_GRAPH_H

#include "cover/trace.h"

struct cover_world;

typedef struct cover_clock {
    uint32_t of[FT_SYM_THREADS]; /* by thread: how many of its operations come before, with it */
} cover_clock;

typedef struct cover_chain {
    uint32_t object;
    uint64_t at;
    uint32_t last;            /* the newest operation, + 1; 0: none */
    uint32_t round, previous; /* of a barrier: in rounds, + 1; 0: none */
    uint32_t first;           /* the epoch's first round, likewise */
} cover_chain;

typedef struct cover_round {
    uint32_t n;
    uint32_t arrivals[FT_SYM_THREADS]; /* operations */
} cover_round;

typedef struct cover_graph {
    struct cover_world *world;
    ft_sym_state *state;
    cover_trace *trace;
    FT_VEC(cover_clock) clocks; /* by operation */
    FT_VEC(cover_chain) chains;
    FT_VEC(cover_round) rounds;
    FT_VEC(uint32_t) before;         /* scratch: operations that come before the one at hand */
    uint32_t counts[FT_SYM_THREADS]; /* operations of each thread */
    uint32_t created[FT_SYM_THREADS], ended[FT_SYM_THREADS]; /* by thread: + 1 */
    uint32_t woken[FT_SYM_THREADS]; /* by thread: the operation that woke it, + 1 */
} cover_graph;

void cover_graph_init(cover_graph *graph, struct cover_world *world, ft_sym_state *state,
                      cover_trace *trace);
void cover_graph_release(cover_graph *graph);
/* Before the step is taken. */
void cover_graph_begin(cover_graph *graph, uint32_t thread);
/* Has the operation the objects and the thread that its node names? A null pointer leads to none.
 */
bool cover_graph_takes(const cover_graph *graph, ft_node_kind kind,
                       const ft_sym_operation *operation);
void cover_graph_add(cover_graph *graph, uint32_t thread, ft_node_kind kind,
                     const ft_sym_operation *operation, uint64_t variant);
void cover_graph_exit(cover_graph *graph, uint32_t thread, const ft_sym_place *place);
void cover_graph_end(cover_graph *graph, uint32_t thread); /* behind the thread's last step */

/* The schedule of a path that ended, without a name, in an order of its nodes that depends on the
 * graph alone. */
void cover_graph_schedule(const struct cover_world *world, const ft_sym_state *state,
                          const cover_trace *trace, ft_schedule_end end, ft_schedule_set *set,
                          ft_schedule *schedule);

#endif
