/* Universal causality graphs (Kahlon and Wang, TACAS 2010): refutes claims by what the claim
 * itself, forks and joins, locks, wake-ups and (where the model ties reads to writes) reads-from
 * demand of every schedule that reaches it. docs/causality.md has the rules and why each is valid.
 *
 * An edge a -> b means: in every prefix that reaches the claim both are members and a comes before
 * b (or one of them is an event of the claim that ends the prefix). Seed edges come from the claim
 * and the hard order; induced ones from the rules, to the fixpoint, along chains through any number
 * of threads. A cycle refutes the claim and is kept as the explanation.
 *
 * Soundness holds for every claim, model and number of threads. With two threads that synchronise
 * by hard edges and exclusive locks only, and no data (model `control`), a claim is refuted exactly
 * if it is unreachable (Kahlon and Wang, theorem 1), unless its window passes the limits below.
 *
 * Cost. Preparing: linear in the trace, and for every dependency between threads a step for each
 * thread whose clock it raises. Under `maximal`, each read of a value that several writes give
 * takes k^2 steps, with a few binary searches in each, up to a limit. A claim: only the
 * synchronisation (and tied accesses) between its last causality barrier (§4, chopping) and its
 * events are looked at. With w such events, k threads in the window, h locks held at once: O(k) for
 * each of at most w k clock changes, and h k log w for the rules at each. Claims that the
 * graph cannot tell apart share one answer.
 *
 * Imports: problem, common/base, common/trace. */
#ifndef FT_CAUSALITY_H
#define FT_CAUSALITY_H

#include "base/contract.h"
#include "base/strbuf.h"
#include "problem/problem.h"
#include "trace/show.h"

/* Beyond these a claim is left to the solver, or its window is cut short; never a wrong answer. */
#define FT_CAUSALITY_LANE_EVENTS 4096u  /* of one thread, before its final event */
#define FT_CAUSALITY_EVENTS      16384u /* of all threads */

/*  symbol        text of an edge            */
#define FT_CAUSALITY_WHY_TABLE(X)                                                                  \
    X(PROGRAM_ORDER, "program order")                                                              \
    X(FORK, "fork")                                                                                \
    X(JOIN, "join")                                                                                \
    X(BARRIER, "barrier")                                                                          \
    X(ONCE, "once")                                                                                \
    X(HARD, "hard edge")                                                                           \
    X(LOCK, "lock")             /* sections of one lock do not overlap */                          \
    X(SEMAPHORE, "semaphore")   /* no other post can serve the wait */                             \
    X(CONDITION, "condition")   /* no other signal can wake the waiter */                          \
    X(READS_FROM, "reads from") /* the read must return this write */                              \
    X(OVERWRITES, "overwrites") /* no other write between a write and its read */                  \
    X(CLAIM, "claim")           /* the claim itself wants this order */
typedef enum ft_causality_why {
#define FT_ROW(symbol, text) FT_CAUSALITY_##symbol,
    FT_CAUSALITY_WHY_TABLE(FT_ROW)
#undef FT_ROW
        FT_CAUSALITY_WHYS
} ft_causality_why;
const char *ft_causality_why_text(ft_causality_why why);

typedef struct ft_causality_edge {
    uint32_t from, to; /* events */
    ft_causality_why why;
    uint32_t object; /* LOCK, SEMAPHORE, CONDITION, READS_FROM, OVERWRITES: its id; else 0 */
} ft_causality_edge;
typedef FT_VEC(ft_causality_edge) ft_causality_edges;

/* Which rules to apply; hard edges and the claim's own are always there. */
enum {
    FT_CAUSALITY_LOCKS = 1 << 0,
    FT_CAUSALITY_WAKES = 1 << 1, /* semaphores, conditions */
    FT_CAUSALITY_DATA = 1 << 2,  /* reads that the model ties to one write */
    FT_CAUSALITY_ALL = FT_CAUSALITY_LOCKS | FT_CAUSALITY_WAKES | FT_CAUSALITY_DATA,
    FT_CAUSALITY_WHOLE = 1 << 3 /* no chopping: windows begin with the trace (for tests) */
};

typedef struct ft_causality_stats {
    uint64_t asked, refuted;
    uint64_t built;      /* graphs: claims whose answer was not known from an earlier one */
    uint64_t abandoned;  /* graphs that passed a limit */
    uint64_t events;     /* nodes of all graphs built */
    uint64_t edges;      /* seed and induced edges of all graphs built, program order apart */
    uint32_t max_events; /* of one graph */
} ft_causality_stats;

typedef struct ft_causality ft_causality;

/* What `problem` points to must outlive the graph. On a broken trace, and on one with branches
 * (whose threads need not execute all that stands before a final event), nothing is refuted. */
ft_causality *ft_causality_new(const ft_problem *problem, unsigned rules);
void ft_causality_free(ft_causality *causality); /* accepts NULL */

/* Is the claim refuted? Then `why` (may be NULL; cleared first) is the cycle: each edge begins
 * where the one before it ends, the first where the last ends. The cycle is empty where the graph
 * reached its limits and only the clocks of needed events (below) refute the claim. Kinds of claims
 * that the graph has no rules for are never refuted. */
bool ft_causality_refutes(ft_causality *causality, const ft_claim *claim, ft_causality_edges *why);
/* Do the clocks of needed events (needs.c) refute the claim by themselves? They refute less than
 * the graph, without building it. */
bool ft_causality_refutes_at_once(ft_causality *causality, const ft_claim *claim);
/* Do those clocks show that every schedule in which `next` is next in its thread has executed e?
 * Then the same holds for the events before e in its thread, and for those after `next` in its own.
 * A RACE of the two is refuted, either way round, and so is an ATOMICITY where t_r comes before
 * t_c, or t_c' before t_r. */
bool ft_causality_needs(ft_causality *causality, uint32_t next, uint32_t e);
/* Does the graph refute (limits apart) all that the closure under hard order, tied reads and held
 * locks refutes, so that the closure need not be asked? */
bool ft_causality_covers(const ft_causality *causality, const ft_claim *claim);

/* UNINITIALISED: do the predecessors of the read need (by hard order and tied reads) a write of the
 * variable that no later alloc can undo? Then the claim is refuted. The variable's writes:
 * events[first[variable]] .. events[first[variable + 1] - 1]. */
bool ft_causality_writes_before(ft_causality *causality, const ft_claim *claim,
                                const uint32_t *first, const uint32_t *events);

/* ATOMICITY: is t_r, or t_c', a compare-and-swap that has to write and never finds the value that
 * it found in the run? For `observed` and `maximal`. It never finds the value if each write of that
 * value is overwritten before (by t_c, or by the write that t_c has to read from), needs t_c', or
 * (for t_r) needs t_r itself. Every write of the variable is examined. The variable's writes: as
 * above. */
bool ft_causality_swap_misses(ft_causality *causality, const ft_claim *claim, const uint32_t *first,
                              const uint32_t *events);

/* Must the i-th access of e, a read, return what *source wrote (FT_NO_EVENT: the initial value) in
 * every schedule of the problem's model that executes it? */
bool ft_causality_tie(const ft_causality *causality, uint32_t e, uint32_t i, uint32_t *source);

/* Appends the edges that hold for a surviving claim and that hard order does not imply by itself:
 * order that an encoding may assume together with the claim. A claim of none: nothing. */
void ft_causality_holds(ft_causality *causality, const ft_claim *claim, ft_causality_edges *edges);

const ft_causality_stats *ft_causality_get_stats(const ft_causality *causality);

/* The name of the edge's lock, semaphore, condition or variable; NULL: it has none. */
const char *ft_causality_object(const ft_trace *trace, const ft_causality_edge *edge);
/* "release l by T1 at a.c:3 -> (lock l) acquire l by T2 at b.c:5 -> ...": a cycle, ending where it
 * began. */
void ft_causality_print(const ft_trace *trace, ft_show *show, const ft_causality_edges *cycle,
                        ft_strbuf *out);

#endif
