/* The problem that every pass and encoding starts from: the trace with its order and observed run,
 * the model, and the rules that depend on the model alone (docs/models.md).
 *
 * The slice (slice.h) says which reads can matter under the model. faults.h has the mistakes that
 * the tests' build of the engine can switch on.
 *
 * Imports: order, common/base, common/trace, common/verdict. */
#ifndef FT_PROBLEM_H
#define FT_PROBLEM_H

#include "base/contract.h"
#include "order/order.h"
#include "order/run.h"
#include "problem/slice.h"
#include "verdict/claim.h"

/* A choice that splits the schedules of a problem: where a read takes its value from, or in which
 * order two events are executed. Every schedule has one of SOURCE, for some write, and ABSENT for
 * a read, and can be had with ORDER or its opposite. */
typedef enum ft_choice_kind {
    FT_CHOICE_SOURCE, /* the access of event, a read that is executed, returns what `other` wrote */
    FT_CHOICE_ABSENT, /* event is not executed */
    FT_CHOICE_ORDER   /* event before other */
} ft_choice_kind;
typedef struct ft_choice {
    ft_choice_kind kind;
    uint32_t event;
    uint32_t access; /* SOURCE */
    uint32_t other;  /* SOURCE: the write, FT_NO_EVENT: the initial value. ORDER: the later one */
} ft_choice;
/* All of them: a part of the problem's schedules. */
enum { FT_CUBE_CHOICES = 3 };
typedef struct ft_cube {
    ft_choice choices[FT_CUBE_CHOICES];
    uint32_t count;
} ft_cube;

typedef struct ft_problem {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    ft_model model;
    ft_wakeups wakeups;
    const uint64_t *fixed; /* a bit an event: its accesses have the values of the run, symbolic as
                              they are (values/fixed.h); NULL: none is known to */
    ft_solver solver;      /* AUTO: a decider's own choice, and never a guess (decide.h, beyond) */
    const ft_term *conditions; /* [n_conditions] terms that claims evaluate, at any event */
    uint32_t n_conditions;
    const ft_slice *slice; /* reads whose value can matter (problem/slice.h); NULL: all */
    const struct ft_domains *domains; /* what reads can return (values/domain.h); NULL: anything */
    const struct ft_intervals *intervals; /* sources of reads (reduce/intervals/intervals.h); NULL:
                                             any write that the order allows */
    /* Of reads, for Z3 (solve/session.h, ft_unknown); NULL: not used. */
    const struct ft_intervals *bounds; /* constraints */
    const struct ft_intervals *widths; /* BitVecs in fewer bits */
    const struct ft_numbers *numbers;  /* BitVecs that are Ints (reduce/intervals/numbers.h) */
    const ft_cube *cube; /* what is asked about is its schedules alone; a decider may take more;
                            NULL: all schedules */
    struct ft_causality *causality; /* whose edges the default encoding assumes with a claim; NULL:
                                       none */
} ft_problem;

/* Below, e, a and w are events of the trace, but for FT_NO_EVENT where it is named. */

/* No schedule executes e: ft_order_never, a wake-up that `wakeups` rules out or, where branches
 * come out as in the run, an event that the run passed over. */
bool ft_problem_never(const ft_problem *problem, uint32_t e);

/* Branches (Wang et al. §8). Every executed read returns what it returned in the run (observed,
 * maximal): so branches come out as they did. */
bool ft_problem_follows_run(const ft_problem *problem);
/* Is `a`, which comes before e in the hard order, executed whenever e is executed or next? */
bool ft_problem_certain(const ft_problem *problem, uint32_t a, uint32_t e);

/* Is e a lock error by its thread's own earlier events (claim.h, LOCK_ERROR)? */
bool ft_problem_lock_error(const ft_problem *problem, uint32_t e);
/* Does each request of the claim, a DEADLOCK, wait for a lock that the thread of the next request
 * holds there? The locks of a thread at an event depend on its own earlier events alone. */
bool ft_problem_cycle(const ft_problem *problem, const ft_claim *claim);
/* Is the variable one of those that the block holds (alloc, free)? */
bool ft_problem_in_block(const ft_trace *trace, uint32_t block, uint32_t variable);

/* A condition that holds whatever its variables are: the literal `true` (terms are simplified). */
bool ft_problem_is_true(const ft_problem *problem, ft_term term);

/* The model's demand on the i-th access of event e, a read (verdict/checker.h). */
typedef enum ft_demand {
    FT_DEMAND_SOURCE, /* its observed write */
    FT_DEMAND_VALUE,  /* its observed value, which is known */
    FT_DEMAND_NOTHING /* the state's value */
} ft_demand;
ft_demand ft_problem_demand(const ft_problem *problem, uint32_t e, uint32_t i);

/* Has the i-th access of event e the value of the run in every state that is considered: a read by
 * the model's demand, a write because the trace has its value, or by `fixed`? */
bool ft_problem_has_value(const ft_problem *problem, uint32_t e, uint32_t i, bool write);

/* May that read return what event w wrote (FT_NO_EVENT: the initial value)? Order apart; where
 * values are compared by the solver, true. */
bool ft_problem_allows(const ft_problem *problem, uint32_t e, uint32_t i, uint32_t w);

/* Is the value that event w (FT_NO_EVENT: the initial state) leaves in the variable known, or
 * computed? */
bool ft_problem_value_known(const ft_problem *problem, uint32_t w, uint32_t variable);

/* May the term divide by zero, whatever its variables are? Syntactic. */
bool ft_problem_may_be_undefined(const ft_term_pool *pool, ft_term term);

/* May the event's guard fail or its terms be undefined, whatever its reads? Syntactic. */
bool ft_event_conditional(const ft_trace *trace, uint32_t e);

/* Does a non-guard access of e need e to be enabled? (claim.h, RACE) */
bool ft_access_conditional(const ft_trace *trace, uint32_t e, const ft_access *access);
/* Does an access of t_r need it to be enabled? (claim.h, ATOMICITY) */
bool ft_remote_conditional(const ft_trace *trace, uint32_t e, const ft_access *access);

#endif
