/* Internals of the literal encoding, shared by its two files: literal.c builds Phi_PO, Phi_VD and
 * Phi_PI, literal_claims.c Phi_PRP (Wang et al. §4.2). */
#ifndef FT_ENCODE_LITERAL_H
#define FT_ENCODE_LITERAL_H

#include "encode/cssa.h"
#include "encode/decide.h"

typedef struct ft_literal_write {
    uint32_t event;
    ft_expr value; /* NULL for locks */
    bool free;     /* locks: a release */
} ft_literal_write;
typedef FT_VEC(ft_literal_write) ft_literal_cell;

typedef struct ft_literal_match { /* a cond-wake takes the signal */
    uint32_t signal;
    ft_lit literal;
} ft_literal_match;

typedef struct ft_literal {
    const ft_problem *p;
    ft_session *s;
    ft_cssa *cssa;
    ft_expr *time; /* O(e) */
    ft_expr violation;
    ft_literal_cell *cells; /* shared variables, then locks, then semaphores */
    uint32_t n_shared, n_locks, n_cells;
    uint32_t extra;       /* executed, exempt from the model; FT_NO_EVENT */
    ft_expr extra_writes; /* NULL: true */
    ft_expr extra_again;  /* it is an rmw, and finds what it found in the run; NULL: never */
    ft_expr found;        /* set while a place's state is encoded */
    bool avoid_unknown;   /* reads that the model does not bind take known values only */
    ft_expr *count;       /* per event: value of its semaphore after it */
    FT_VEC(ft_literal_match) matches;
} ft_literal;

/* Where reads that the model does not bind take place. */
typedef struct ft_literal_place {
    ft_literal *l;
    uint32_t reader; /* the departing event, or FT_NO_EVENT: the final state */
    ft_expr found;   /* of a compare-and-swap: unknown values equal what it expects */
    ft_map done;
    FT_VEC(ft_expr) values;
} ft_literal_place;

ft_expr ft_literal_before(ft_literal *l, uint32_t a, uint32_t b); /* O(a) < O(b) */
ft_expr ft_literal_member(ft_literal *l, uint32_t e); /* in arms: or passed over on the way */
ft_expr ft_literal_executed(ft_literal *l, uint32_t e);
ft_expr ft_literal_path(ft_literal *l, uint32_t e); /* ft_cssa_path; NULL: outside arms */
void ft_literal_assert(ft_literal *l, ft_expr formula);
ft_expr ft_literal_implied(ft_literal *l, ft_expr premise, ft_expr conclusion);
ft_expr ft_literal_any(ft_literal *l, const ft_expr *alternatives, size_t count);
/* For ft_reads: the variable's value at a place. */
ft_expr ft_literal_state_value(void *place, uint32_t variable);
/* ft_cssa_enabled_with at a place. */
ft_expr ft_literal_enabled(ft_literal *l, uint32_t e, ft_literal_place *at);
/* The conditions for e: on its lock, and on signals or holders (NULL: none); in the final state, or
 * at its own time. */
ft_expr ft_literal_free_lock(ft_literal *l, uint32_t e, bool final);
ft_expr ft_literal_ways(ft_literal *l, uint32_t e, bool final);
/* The semaphore of the wait e has a unit left in the final state. */
ft_expr ft_literal_unit_left(ft_literal *l, uint32_t e);

/* literal_claims.c: asserts the claim. */
void ft_literal_property(ft_literal *l, const ft_claim *claim, ft_literal_place *end,
                         ft_literal_place *departing);

#endif
