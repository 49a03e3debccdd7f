/* What every encoding starts from: the trace with its order and observed run, the model, and the
 * rules that depend on the model alone (docs/models.md). */
#ifndef FT_PROBLEM_H
#define FT_PROBLEM_H

#include "order/order.h"
#include "order/run.h"
#include "problem/slice.h"
#include "solve/session.h"
#include "verdict/claim.h"

typedef struct ft_problem {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    ft_model model;
    ft_wakeups wakeups;
    ft_solver solver;      /* AUTO: a decider's own choice, and never a guess (decide.h, beyond) */
    const ft_slice *slice; /* reads whose value can matter (problem/slice.h); NULL: all */
    const struct ft_domains *domains; /* what reads can return (values/domain.h); NULL: anything */
    struct ft_causality *causality; /* whose edges the default encoding assumes with a claim; NULL:
                                       none */
} ft_problem;

/* No schedule executes e (ft_order_never, what `wakeups` rules out, and, where branches come out as
 * in the run, what the run passed over). */
bool ft_problem_never(const ft_problem *problem, uint32_t e);

/* Branches (Wang et al. §8). Every executed read returns what it returned in the run (observed,
 * maximal): so branches come out as they did. */
bool ft_problem_follows_run(const ft_problem *problem);
/* Is `a`, which comes before e in the hard order, executed whenever e is executed or next? */
bool ft_problem_certain(const ft_problem *problem, uint32_t a, uint32_t e);

/* Is e a lock error by its thread's own earlier events (claim.h, LOCK_ERROR)? */
bool ft_problem_lock_error(const ft_problem *problem, uint32_t e);
/* Does each request of the claim, a DEADLOCK, wait for a lock that the thread of the next one holds
 * there? What a thread holds at an event is fixed by its own earlier events. */
bool ft_problem_cycle(const ft_problem *problem, const ft_claim *claim);
/* Is the variable one of those that the block holds (alloc, free)? */
bool ft_problem_in_block(const ft_trace *trace, uint32_t block, uint32_t variable);

/* A condition that holds whatever its variables are: the literal `true` (terms are simplified). */
bool ft_problem_is_true(const ft_problem *problem, ft_term term);

/* What the model demands of the i-th access of event e, a read (verdict/checker.h). */
typedef enum ft_demand {
    FT_DEMAND_SOURCE, /* its observed write */
    FT_DEMAND_VALUE,  /* its observed value, which is known */
    FT_DEMAND_NOTHING /* the state's value */
} ft_demand;
ft_demand ft_problem_demand(const ft_problem *problem, uint32_t e, uint32_t i);

/* May that read return what event w wrote (FT_NO_EVENT: the initial value)? Order apart; where
 * values are compared by the solver, true. */
bool ft_problem_allows(const ft_problem *problem, uint32_t e, uint32_t i, uint32_t w);

/* Is what event w (FT_NO_EVENT: the initial state) writes to the variable known, or computed? */
bool ft_problem_value_known(const ft_problem *problem, uint32_t w, uint32_t variable);

/* Concurrent static single assignment (Wang et al. §4.1): an expression for every shared read,
 * every write and every local definition. Reads are fresh constants under ctp; where the model
 * fixes the value, they are that value. */
typedef struct ft_cssa ft_cssa;
ft_cssa *ft_cssa_new(const ft_problem *problem, ft_session *session, const uint8_t *cone);
void ft_cssa_free(ft_cssa *cssa);                                  /* accepts NULL */
ft_expr ft_cssa_read(const ft_cssa *cssa, uint32_t e, uint32_t i); /* i-th access, a read */
ft_expr ft_cssa_write(ft_cssa *cssa, uint32_t e, uint32_t variable);
ft_expr ft_cssa_initial(ft_cssa *cssa, uint32_t variable);
ft_expr ft_cssa_found(ft_cssa *cssa, uint32_t e); /* by a compare-and-swap, in the run */
/* What e needs to be a member: its guard or condition (an if: none) with all terms defined; NULL:
 * true. */
ft_expr ft_cssa_enabled(ft_cssa *cssa, uint32_t e);

/* The ifs around e come out so that e runs; FT_LIT_TRUE outside arms. Says nothing for ifs that are
 * not executed. */
ft_lit ft_cssa_path(const ft_cssa *cssa, uint32_t e);
/* What the condition of the if e comes to; *taken: its then-arm is taken. Where values are
 * computed, these are equal for an if that is executed. */
ft_lit ft_cssa_branch(ft_cssa *cssa, uint32_t e, ft_lit *taken);

/* Evaluates at event e with other values for its shared reads: shared(context, variable). */
typedef struct ft_reads {
    ft_expr (*shared)(void *context, uint32_t variable);
    void *context;
} ft_reads;
/* Guard true and all terms defined; NULL: true. */
ft_expr ft_cssa_enabled_with(ft_cssa *cssa, uint32_t e, const ft_reads *reads);
/* Likewise, but an assert that fails is executed: that is how it fails. NULL: true. */
ft_expr ft_cssa_executable_with(ft_cssa *cssa, uint32_t e, const ft_reads *reads);
/* Like ft_cssa_write, for an event executed with these reads: what an rmw other than a
 * compare-and-swap would write then, nobody knows (claim.h, ATOMICITY). */
ft_expr ft_cssa_write_with(ft_cssa *cssa, uint32_t e, uint32_t variable, const ft_reads *reads);
/* `term` is defined and false just before e. */
ft_expr ft_cssa_false_with(ft_cssa *cssa, uint32_t e, ft_term term, const ft_reads *reads);
/* May the event's guard fail or its terms be undefined, whatever its reads? Syntactic. */
bool ft_event_conditional(const ft_trace *trace, uint32_t e);

/* Does a non-guard access of e need e to be enabled? (claim.h, RACE) */
bool ft_access_conditional(const ft_trace *trace, uint32_t e, const ft_access *access);
/* Does an access of t_r need it to be enabled? (claim.h, ATOMICITY) */
bool ft_remote_conditional(const ft_trace *trace, uint32_t e, const ft_access *access);

#endif
