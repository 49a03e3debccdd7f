/* The Z3 session, shared by the files that make its expressions. */
#ifndef FT_SOLVE_SESSION_Z3_H
#define FT_SOLVE_SESSION_Z3_H

#include <z3.h>

#include "base/memory.h"
#include "solve/cdcl/order_graph.h"
#include "solve/session_internal.h"

typedef struct ft_z3_atom {
    ft_lit literal;
    uint32_t a, b;
} ft_z3_atom;

typedef struct ft_z3_session ft_z3_session;
struct ft_z3_session {
    ft_session base;
    Z3_context z3;
    Z3_solver solver;
    Z3_params params;
    Z3_model model;
    Z3_sort boolean, integer;
    FT_VEC(Z3_ast) variables; /* variables.data[v]; 0 unused, 1 is true */
    FT_VEC(Z3_ast) scratch;
    FT_VEC(int8_t) cached;    /* per variable, in the last model: 0 unasked, 1 true, -1 false */
    ft_order_graph *order;    /* NULL: no order */
    FT_VEC(ft_z3_atom) atoms; /* by the propagator's id */
    FT_VEC(uint32_t) scopes;  /* edges at each push */
    FT_VEC(unsigned) conflict;
    FT_VEC(ft_lit) core; /* of the last UNSAT */
    uint32_t timeout;
    char trouble[160];
    ft_z3_session *next_open;
};

/* Asserts that this is a Z3 session: the others' expressions are not Z3's. */
ft_z3_session *ft_z3_of(ft_session *session);

/* ft_session_term (session_term.c). */
ft_expr ft_z3_term(ft_session *session, const ft_term_pool *pool, ft_term term, ft_resolve resolve,
                   void *context, ft_expr *defined);

#endif
