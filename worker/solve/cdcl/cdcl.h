/* A Boolean solver that knows order: conflict-driven clause learning with an acyclic graph inside.
 *
 * Incremental: variables, clauses, limits and order atoms may come between checks. Two watched
 * literals, first-UIP learning with minimisation (Een and Sorensson, An extensible SAT-solver, SAT
 * 2003), learnt clauses ranked by LBD (Audemard and Simon, Predicting learnt clauses quality, IJCAI
 * 2009).
 *
 * A variable that no clause needs gets no value: "false" is what it then has in the model. So a
 * clause with a negative literal left is satisfied as it stands, and a decision is made only for
 * clauses without one: most variables of a large encoding are never touched. Order atoms have no
 * such default; in the model an untouched one has the value that the graph's topological order
 * gives it.
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
