/* Expressions of an ORDER session: values that are one of few.
 *
 * A root is a list of values of which at most one holds, each with a literal that is true where it
 * does. An expression of one unknown is a table over that unknown's root: it needs no variable and
 * no clause. An expression of several unknowns is evaluated for every combination of their values
 * and becomes a root of its own, defined by a clause for each combination, or, as a condition, a
 * clause for each combination that it excludes. So the solver sees Boolean constraints alone,
 * whatever the terms compute.
 *
 * The tables are exact, or there are none: an expression with too many values or combinations, of
 * an unknown without a list of values, or one whose evaluation overflows is `beyond`. A constraint
 * on it is left out, and gave_up reports that. */
#ifndef FT_SOLVE_SESSION_VALUES_H
#define FT_SOLVE_SESSION_VALUES_H

#include "base/memory.h"
#include "solve/cdcl/cdcl.h"
#include "solve/session_internal.h"

/* Values of one root, combinations of values in one table. */
enum { FT_VALUES_MOST = 512, FT_VALUES_MOST_ROWS = 1 << 15 };

typedef struct ft_order_session {
    ft_session base;
    ft_cdcl *solver;
    ft_arena *arena; /* of the expressions; NULL until there is one */
    bool gave_up;
} ft_order_session;

/* The backend's functions (session_internal.h); their contracts are in session.h. */
ft_expr ft_values_constant(ft_session *session, ft_sort sort);
ft_expr ft_values_choice(ft_session *session, ft_sort sort, const uint64_t *bits, uint32_t count);
ft_expr ft_values_one_of(ft_session *session, ft_sort sort, const ft_expr *all, uint32_t count);
ft_expr ft_values_value(ft_session *session, ft_value value);
ft_expr ft_values_literal(ft_session *session, ft_lit literal);
ft_expr ft_values_equal(ft_session *session, ft_expr a, ft_expr b);
ft_expr ft_values_not(ft_session *session, ft_expr a);
ft_expr ft_values_and(ft_session *session, const ft_expr *all, uint32_t count);
ft_expr ft_values_or(ft_session *session, const ft_expr *all, uint32_t count);
void ft_values_imply(ft_session *session, ft_lit premise, ft_expr formula);
ft_lit ft_values_name(ft_session *session, ft_expr formula);
ft_expr ft_values_term(ft_session *session, const ft_term_pool *pool, ft_term term,
                       ft_resolve resolve, void *context, ft_expr *defined);
bool ft_values_gave_up(ft_session *session);

#endif
