/* All runs of a program under a schedule, for all inputs of its condition at once: symbolic
 * execution along the schedule's order, in which each decision that inputs leave open forks. One
 * order of the nodes stands for all of them where accesses that conflict are ordered.
 *
 * It shares the set's data structure and the language's symbolic execution with the search, and
 * nothing else: certificates rest on it (certify.h). The end of the process comes last, when the
 * other threads are as far as the schedule lets them. */
#ifndef FT_COVER_CONSTRAINED_H
#define FT_COVER_CONSTRAINED_H

#include "cover/run.h"

#define COVER_LEAF_TABLE(X)                                                                        \
    X(GOOD, "the process ends, or all threads do")                                                 \
    X(DISCARDED, "an assumption does not hold")                                                    \
    X(DIVERGES, "a thread does something else than its next node")                                 \
    X(STUCK, "nodes are left, and the threads that have them cannot go on")                        \
    X(ENDLESS, "a thread goes round for ever without synchronisation; the others follow")          \
    X(OPEN, "the nodes are used up, and a thread could go on")                                     \
    X(ROUND, "with `merges`: a round of a loop comes back to a state that stands for it")
typedef enum cover_leaf_kind {
#define FT_ROW(symbol, meaning) COVER_LEAF_##symbol,
    COVER_LEAF_TABLE(FT_ROW)
#undef FT_ROW
        COVER_LEAVES
} cover_leaf_kind;

/* An access of a leaf's path. It comes behind its thread's node number `from` (from 1, 0: none) and
 * before or at node number `to`. */
typedef struct cover_touch {
    uint32_t thread, object, from, to; /* thread: of the schedule */
    uint64_t at, n;
    ft_term term; /* an unknown place; FT_NO_TERM: `at` */
    bool writes, atomic;
    ft_sym_place place;
} cover_touch;

typedef struct cover_leaf {
    cover_leaf_kind kind;
    bool deadlocks; /* threads wait that only each other could wake */
    bool fails;     /* a thread fails: the error */
    ft_sym_error error;
    ft_sym_place place; /* DIVERGES, STUCK, ENDLESS: where the thread stands */
    uint32_t thread; /* ENDLESS: of the schedule, or FT_NO_ID; DIVERGES: that ends without a node */
    uint32_t node;   /* DIVERGES, STUCK: the node that it should have done; FT_NO_ID: none */
    const ft_term *terms; /* what the inputs of the path satisfy: all its decisions */
    size_t n_terms;
    const cover_touch *touches;
    size_t n_touches;
    const ft_sym_state *state; /* OPEN: an epoch begins there */
    uint64_t idle;             /* OPEN: threads of the world that could go on and have no node */
} cover_leaf;

/* Where a path does a node that another schedule does not have there (schedules/dynamic.h). */
typedef struct cover_parting {
    uint32_t node;        /* of the schedule; FT_NO_ID: behind its end */
    uint32_t other;       /* the other schedule, in the epoch */
    ft_term possible;     /* when that one is possible, by what was read */
    const ft_term *terms; /* as in a leaf, so far */
    size_t n_terms;
} cover_parting;

/* How often paths were merged. */
typedef struct cover_merged {
    uint64_t met, summarised; /* ways that met another one; loops whose rounds are one path */
} cover_merged;

typedef struct cover_following {
    cover_world *world;
    const ft_schedule_set *set;
    uint32_t epoch; /* in the set; with `part` alone */
    const ft_schedule *schedule;
    const ft_sym_state *begin; /* of its epoch; NULL: the entry */
    ft_term condition;         /* of the world: inputs that select the schedule */
    void (*leaf)(void *context, const cover_leaf *leaf);
    /* NULL: the epoch has no dynamic inputs. Of each other schedule the first on a path; and the
     * condition, a term of the world, under which a schedule is possible when the inputs of the set
     * with known[i] are. */
    void (*part)(void *context, const cover_parting *parting);
    ft_term (*possible)(void *context, uint32_t schedule, const bool *known);
    void *context;
    uint64_t max_leaves; /* 0: 20,000 */
    /* Ways of a thread between two operations that meet again are one path, and rounds of a loop
     * are (merge.c). Then paths stand for more than there is: what holds on all of them holds; that
     * something does not shows nothing. */
    bool merges;
    uint32_t rounds;      /* of a loop that are followed before it is summarised; 0: 4 */
    cover_merged *merged; /* is added to; may be NULL */
} cover_following;

/* Calls `leaf` for every path. FT_BUDGET, FT_LIMIT, FT_UNSUPPORTED: some were left out. */
ft_status cover_follow_all(const cover_following *following, ft_error *err) FT_MUST_CHECK;

#endif
