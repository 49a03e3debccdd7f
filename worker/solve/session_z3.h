/* The Z3 session, shared by the files that make its expressions. */
#ifndef FT_SOLVE_SESSION_Z3_H
#define FT_SOLVE_SESSION_Z3_H

#include <z3.h>

#include "base/memory.h"
#include "solve/cdcl/order_graph.h"
#include "solve/session_internal.h"

/* How the value of an expression is written. */
typedef enum ft_z3_form {
    FT_Z3_PLAIN,    /* in its own sort */
    FT_Z3_ZERO,     /* BitVec: its low bits, the others are zero */
    FT_Z3_SIGN,     /* BitVec: its low bits, the others are as the highest of them */
    FT_Z3_UNSIGNED, /* BitVec: the Int that its bits are */
    FT_Z3_SIGNED    /* likewise in two's complement */
} ft_z3_form;

/* The expression behind an ft_expr. */
typedef struct ft_z3_expr {
    Z3_ast ast;
    ft_sort sort; /* of the value */
    ft_z3_form form;
    unsigned bits;  /* of a BitVec's ast */
    ft_range range; /* the value lies in there. Kept of a BitVec, once something is narrowed */
} ft_z3_expr;

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
    ft_arena *arena;          /* of the expressions */
    bool narrows;             /* an unknown has fewer bits, or is a number */
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

const ft_z3_expr *ft_z3_expr_of(ft_expr expression);
ft_expr ft_z3_keep(ft_z3_session *session, ft_z3_expr expression);
ft_expr ft_z3_plain(ft_z3_session *session, ft_sort sort, Z3_ast ast);
/* The value in its own sort. */
Z3_ast ft_z3_ast(ft_z3_session *session, ft_expr expression);
Z3_sort ft_z3_sort(const ft_z3_session *session, ft_sort sort);

/* ---- session_bits.c: BitVec values in fewer bits, or as Ints ---- */

ft_expr ft_z3_bits_unknown(ft_z3_session *session, const ft_unknown *known);
/* count > 0, all of the sort. */
ft_expr ft_z3_bits_one_of(ft_z3_session *session, ft_sort sort, const ft_expr *all, uint32_t count);
Z3_ast ft_z3_bits_equal(ft_z3_session *session, ft_expr a, ft_expr b);
/* An operator with a BitVec among its children. */
ft_expr ft_z3_bits_apply(ft_z3_session *session, const ft_term_pool *pool, const ft_term_node *node,
                         const ft_expr *children);

/* ---- session_term.c ---- */

/* The operator over arguments in their own sorts, or over BitVecs of any one width. */
Z3_ast ft_z3_make(ft_z3_session *session, const ft_term_node *node, const Z3_ast *arguments);
/* ft_session_term. */
ft_expr ft_z3_term(ft_session *session, const ft_term_pool *pool, ft_term term, ft_resolve resolve,
                   void *context, ft_expr *defined);

#endif
