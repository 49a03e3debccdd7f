/* Deciding claims by encodings. A decider is opened for a set of events (the cone) and answers
 * claims over it; the answer SAT comes with a schedule that the independent checker must still
 * confirm. Two implementations: the default partial-order encoding, and the literal encoding of
 * Wang et al. §4, which tests compare it with.
 *
 * Imports: causality, problem, reduce/intervals, solve, solve/cdcl, values, common/base. */
#ifndef FT_ENCODE_DECIDE_H
#define FT_ENCODE_DECIDE_H

#include "base/clock.h"
#include "problem/problem.h"
#include "solve/cdcl/literal.h"

typedef struct ft_decide_stats {
    uint64_t checks; /* calls of the solver */
    uint64_t lemmas; /* constraints added on demand */
    double encode_ms, solve_ms;
    bool decided_by[FT_DECIDERS]; /* what gave an answer other than UNKNOWN */
    bool delayed;                 /* found without a solver (witness/delay.h) */
    /* The solver that the problem names left out constraints: UNSAT still holds, SAT is a guess. Of
     * the last call. */
    bool beyond;
    bool too_large;  /* the claim was not encoded; more time would not help. Of the last call */
    bool lifted;     /* UNSAT holds without the question's bound as well. Of the last call */
    uint32_t sliced; /* events in a claim's cone, or behind the cut that decided it: the most */
    uint32_t events; /* events encoded: the most */
} ft_decide_stats;

/* A question about a claim: can some schedule reach it? */
typedef struct ft_question {
    const ft_claim *claim;
    /* Reads of the claim's final events and of members' terms take known values only: a schedule
     * that needs another value is not found then. */
    bool avoid_unknown;
    uint32_t bound;  /* context switches that it may have (ft_witness_switches), or FT_NO_BOUND */
    double deadline; /* in ft_now_ms, 0: none */
} ft_question;

typedef struct ft_decider ft_decider;

/* cone: one byte an event, nonzero: encoded; NULL: all. It must be closed under program-order
 * predecessors, hard sources, every possible source of its reads and the releases of its sections
 * (reduce/cone.h). The cone is copied. */
ft_decider *ft_decider_new(const ft_problem *problem, const uint8_t *cone);
void ft_decider_free(ft_decider *decider); /* accepts NULL */

/* SAT: witness filled (steps on the heap), within the bound. UNSAT: there is no such schedule;
 * stats->lifted: there is none without the bound either. UNKNOWN: the deadline passed, or the claim
 * is too large to be encoded. stats is added to. */
ft_answer ft_decider_decide(ft_decider *decider, const ft_question *question, ft_witness *witness,
                            ft_decide_stats *stats);

/* Splits the problem's schedules into cubes, which have all of them together: by the sources of the
 * reads that have the fewest, else by the order of sections of the most contended lock. At most
 * FT_CUBES_MOST; fewer than two: nothing to split by. */
enum { FT_CUBES_MOST = 32 };
uint32_t ft_decider_split(ft_decider *decider, ft_cube cubes[FT_CUBES_MOST]);

/* The same question, decided by the literal encoding, which is built anew for each claim. With a
 * bound, and for the claim STUCK, the default encoding answers. */
ft_answer ft_literal_decide(const ft_problem *problem, const ft_question *question,
                            ft_witness *witness, ft_decide_stats *stats);

#endif
