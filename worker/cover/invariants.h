/* What holds wherever an epoch begins, beyond the content that all its arrivals share: comparisons
 * of its unknowns with each other and with constants. They refute schedules of states that no run
 * comes to (Bergan §3.8.1.3: each epoch relies on what the ends of all schedules that lead to it
 * guarantee).
 *
 * Candidates are all comparisons of the places that conditions speak of. They are assumed of every
 * epoch at once, and those that some passage, the end of a schedule with its inputs, does not keep
 * are dropped, until all that are left are kept by all passages: the largest set of them that is
 * inductive (Flanagan and Leino's Houdini). Of these, the ones count that a refuted condition
 * needs.
 *
 * Nothing here is trusted: what is found becomes the epochs' init, which check-closed proves of
 * every arrival (closed.h). */
#ifndef FT_COVER_INVARIANTS_H
#define FT_COVER_INVARIANTS_H

#include "cover/run.h"

/* A schedule's end: under the condition, a run that begins in epoch `from` arrives in epoch `to` as
 * `arrival`. Terms are of the world, over the unknowns and inputs of `from`. Epoch 0 is the entry.
 */
typedef struct cover_passage {
    uint32_t from, to;
    ft_term condition;
    const ft_sym_state *arrival; /* the caller's */
} cover_passage;

/* A condition of a selector's leaf. */
typedef struct cover_claim {
    uint32_t epoch;
    ft_term condition;
    bool never; /* no run that arrives in the epoch satisfies it */
} cover_claim;

typedef struct cover_invariants {
    cover_world *world;
    uint32_t n_epochs;
    const cover_passage *passages;
    size_t n_passages;
    cover_claim *claims;
    size_t n_claims;
    ft_term *init; /* by epoch, of the caller, all FT_NO_TERM: the facts that refute claims */
} cover_invariants;

/* Sets `never` of the claims that the invariants refute, and `init` to the facts that this needs.
 * How many claims are refuted. Where the time or the solver is at its end: 0, and nothing is set.
 */
size_t cover_invariants_find(cover_invariants *invariants);

#endif
