/* Concurrent static single assignment (Wang et al. §4.1): an expression for every shared read,
 * every write and every local definition. Reads are fresh constants under ctp; where the model
 * fixes the value, they are that value. */
#ifndef FT_ENCODE_CSSA_H
#define FT_ENCODE_CSSA_H

#include "problem/problem.h"
#include "solve/session.h"

typedef struct ft_cssa ft_cssa;
ft_cssa *ft_cssa_new(const ft_problem *problem, ft_session *session, const uint8_t *cone);
void ft_cssa_free(ft_cssa *cssa); /* accepts NULL */
/* The i-th access, a read of a symbolic event in the cone whose path can hold. */
ft_expr ft_cssa_read(const ft_cssa *cssa, uint32_t e, uint32_t i);
ft_expr ft_cssa_write(ft_cssa *cssa, uint32_t e, uint32_t variable);
ft_expr ft_cssa_initial(ft_cssa *cssa, uint32_t variable);
ft_expr ft_cssa_found(ft_cssa *cssa, uint32_t e); /* what a compare-and-swap found in the run */
/* The condition for e to be a member: its guard or condition (an if has none) is true and all its
 * terms are defined. NULL: true. */
ft_expr ft_cssa_enabled(ft_cssa *cssa, uint32_t e);

/* The ifs around e take the arms with e; FT_LIT_TRUE outside arms. Means nothing where one of these
 * ifs is not executed. */
ft_lit ft_cssa_path(const ft_cssa *cssa, uint32_t e);
/* The value of the condition of the if e; *taken: its then-arm is taken. Where values are computed,
 * the two are equal for an if that is executed. */
ft_lit ft_cssa_branch(ft_cssa *cssa, uint32_t e, ft_lit *taken);

/* Evaluates at event e with other values for its shared reads: shared(context, variable). */
typedef struct ft_reads {
    ft_expr (*shared)(void *context, uint32_t variable);
    void *context;
} ft_reads;
/* Guard true and all terms defined; NULL: true. */
ft_expr ft_cssa_enabled_with(ft_cssa *cssa, uint32_t e, const ft_reads *reads);
/* Likewise, but an assertion may be false: it is executed, and fails. NULL: true. */
ft_expr ft_cssa_executable_with(ft_cssa *cssa, uint32_t e, const ft_reads *reads);
/* Like ft_cssa_write, for an event executed with these reads. An rmw other than a compare-and-swap
 * then writes an unknown value (claim.h, ATOMICITY). */
ft_expr ft_cssa_write_with(ft_cssa *cssa, uint32_t e, uint32_t variable, const ft_reads *reads);
/* `term` is defined and false just before e. */
ft_expr ft_cssa_false_with(ft_cssa *cssa, uint32_t e, ft_term term, const ft_reads *reads);

#endif
