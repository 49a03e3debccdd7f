/* A Boolean solver with order atoms: conflict-driven clause learning over an acyclic graph.
 *
 * Incremental: variables, clauses, limits and order atoms may come between checks. Two watched
 * literals, first-UIP learning with minimisation (Een and Sorensson, An extensible SAT-solver, SAT
 * 2003), learnt clauses ranked by LBD (Audemard and Simon, Predicting learnt clauses quality, IJCAI
 * 2009).
 *
 * A variable that no clause needs gets no value during the search, and is false in the model. So a
 * clause with an open negative literal needs no decision, and the search decides only for clauses
 * without one: most variables of a large encoding are never assigned. Order atoms have no such
 * default; an unassigned atom has the value in the model that the graph's topological order gives
 * it.
 *
 * Every literal that a function takes belongs to a variable of this solver, or is FT_LIT_TRUE or
 * FT_LIT_FALSE.
 *
 * Imports: common/base. */
#ifndef FT_SOLVE_CDCL_H
#define FT_SOLVE_CDCL_H

#include <stdbool.h>

#include "solve/cdcl/literal.h"

typedef struct ft_cdcl ft_cdcl;

ft_cdcl *ft_cdcl_new(void);
void ft_cdcl_free(ft_cdcl *solver); /* accepts NULL */

ft_lit ft_cdcl_variable(ft_cdcl *solver);
void ft_cdcl_clause(ft_cdcl *solver, const ft_lit *literals, uint32_t count);
void ft_cdcl_at_most(ft_cdcl *solver, const ft_lit *literals, uint32_t count, uint32_t k);

/* As in session.h. An atom's literal is a variable that no clause has used yet. */
void ft_cdcl_order_begin(ft_cdcl *solver, uint32_t n_nodes);
void ft_cdcl_order_edge(ft_cdcl *solver, uint32_t a, uint32_t b);
void ft_cdcl_order_atom(ft_cdcl *solver, ft_lit literal, uint32_t a, uint32_t b);

/* timeout in milliseconds of wall time, 0: none; passed: UNKNOWN. */
ft_answer ft_cdcl_check(ft_cdcl *solver, const ft_lit *assumptions, uint32_t count,
                        uint32_t timeout_ms);
bool ft_cdcl_true(const ft_cdcl *solver, ft_lit literal); /* in the last SAT model */
uint32_t ft_cdcl_core(const ft_cdcl *solver, const ft_lit **core);

#endif
