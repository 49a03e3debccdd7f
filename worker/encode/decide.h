/* Deciding claims by encodings. A decider is opened for a set of events (the cone) and answers
 * claims over it; the answer SAT comes with a schedule that the independent checker must still
 * confirm. Two implementations: the default partial-order encoding, and the literal encoding of
 * Wang et al. §4 as the yardstick. */
#ifndef FT_ENCODE_DECIDE_H
#define FT_ENCODE_DECIDE_H

#include "encode/problem.h"

typedef struct ft_decide_stats {
    uint64_t checks; /* calls of the solver */
    uint64_t lemmas; /* constraints added on demand */
    double encode_ms, solve_ms;
    bool decided_by[FT_DECIDERS]; /* what gave an answer other than UNKNOWN */
    bool delayed;                 /* found without a solver (reduce/delay.h) */
    /* The solver that the problem names was not told everything: UNSAT holds all the same, SAT is a
     * guess. Of the last call. */
    bool beyond;
    uint32_t
        sliced; /* events in the cone of a claim, or behind the cut that decided it: the most */
    uint32_t events; /* events encoded: the most */
} ft_decide_stats;

typedef struct ft_decider ft_decider;

/* cone: one byte an event, nonzero: encoded; NULL: all. It must be closed under program-order
 * predecessors, hard sources, every possible source of its reads and the releases of its sections
 * (reduce/cone.h). The cone is copied. */
ft_decider *ft_decider_new(const ft_problem *problem, const uint8_t *cone);
void ft_decider_free(ft_decider *decider); /* accepts NULL */

/* SAT: witness filled (steps on the heap). avoid_unknown: own reads of the claim's final events,
 * and the reads of terms of members, take known values only: what is left out then may be reached
 * all the same. bound: context switches it may have (ft_witness_switches), FT_NO_BOUND:
 * any number. UNSAT: *lifted says whether there is none without the bound either. UNKNOWN: the
 * timeout (milliseconds, 0: none) passed, or the claim is too large to be encoded. stats is added
 * to. */
ft_answer ft_decider_decide(ft_decider *decider, const ft_claim *claim, bool avoid_unknown,
                            uint32_t bound, uint32_t timeout_ms, ft_witness *witness,
                            ft_decide_stats *stats, bool *lifted);

/* The same question to the literal encoding: everything encoded anew for each claim. With a bound,
 * and for the claim STUCK, the default encoding answers. */
ft_answer ft_literal_decide(const ft_problem *problem, const ft_claim *claim, bool avoid_unknown,
                            uint32_t bound, uint32_t timeout_ms, ft_witness *witness,
                            ft_decide_stats *stats, bool *lifted);

double ft_now_ms(void); /* monotonic */

#endif
