/* The execution machine of the independent checker: executes a trace's events one by one, in the
 * order that the caller chooses, under sequential consistency. Only the checker and the observed
 * run use it; nothing that encodes may include it.
 *
 * State: the last executed event of each thread; the value and last writer of each shared variable;
 * the locals of each thread; owner, depth and readers of each lock; the count of each semaphore;
 * the last executed edge-out of each edge; the notices of each condition variable; the last alloc
 * or free of each block. The machine knows nothing of models and claims. */
#ifndef FT_VERDICT_MACHINE_H
#define FT_VERDICT_MACHINE_H

#include "trace/trace.h"
#include "verdict/names.h"

/* The content of a variable. */
typedef struct ft_held {
    ft_value value;  /* meaningful if known */
    uint32_t source; /* event that wrote it, FT_NO_EVENT: the initial value */
    bool known;
} ft_held;

/* The result of evaluating an event: its guard or condition, and its terms. */
typedef enum ft_outcome {
    FT_OUTCOME_TRUE,      /* holds (or there is none) and every term is defined */
    FT_OUTCOME_FALSE,     /* the guard or condition is false */
    FT_OUTCOME_UNDEFINED, /* a term divides by zero */
    FT_OUTCOME_UNDECIDED  /* depends on an unknown value or left the 64-bit range */
} ft_outcome;

typedef struct ft_machine ft_machine;
ft_machine *ft_machine_new(const ft_trace *trace); /* linear in the trace; in the initial state */
void ft_machine_free(ft_machine *machine);         /* accepts NULL */
void ft_machine_reset(ft_machine *machine);        /* back to the initial state, in constant time */

bool ft_machine_executed(const ft_machine *machine, uint32_t e);
/* Is e in an arm that its thread did not take? The thread skips such an event: it is not a step. */
bool ft_machine_passed(const ft_machine *machine, uint32_t e);
/* Has the thread executed all its events, but those that it may skip? */
bool ft_machine_ended(const ft_machine *machine, uint32_t thread);
/* Open: the next step of its thread decides the arm of an if, whatever the condition (model
 * control); then several events may be next in a thread. False at first; survives a reset. */
void ft_machine_leave_branches_open(ft_machine *machine, bool open);

/* FT_INPUT unless e is the next event of its thread and the thread is started: every fork of it in
 * the trace was executed. `why` (may be NULL) says what is missing. */
ft_status ft_machine_next(const ft_machine *machine, uint32_t e, ft_error *why) FT_MUST_CHECK;

/* FT_INPUT where synchronisation blocks e: lock taken (or, for an attempt that failed, free),
 * semaphore at 0, child not at its end, nothing woke its thread, a round of its barrier incomplete,
 * its once object not initialised, its partner not executed. The partner: the edge-out of an
 * edge-in (FT_NO_EVENT: none); with FT_WAKEUPS_OBSERVED the signal of a cond-wake. */
ft_status ft_machine_ready(const ft_machine *machine, uint32_t e, uint32_t partner,
                           ft_error *why) FT_MUST_CHECK;

/* Does the thread hold the lock, in either mode? */
bool ft_machine_holds_lock(const ft_machine *machine, uint32_t thread, uint32_t lock);
/* Does e wait for this thread: it holds the lock of an acquire in a mode that blocks it, has begun
 * and not ended the initialiser of a once-pass, or is the child of a join (and has an event left)?
 */
bool ft_machine_keeps_waiting(const ft_machine *machine, uint32_t thread, uint32_t e);

/* Has a thread begun the initialiser of the once object? */
bool ft_machine_once_begun(const ft_machine *machine, uint32_t once);

/* Which signals can wake a waiter; FT_WAKEUPS_ANY at first. Survives a reset. */
void ft_machine_set_wakeups(ft_machine *machine, ft_wakeups wakeups);

/* The last executed alloc or free of the block, FT_NO_EVENT: none. */
uint32_t ft_machine_block(const ft_machine *machine, uint32_t block);
/* Was the variable written, of a block's variable: since its last alloc? */
bool ft_machine_written(const ft_machine *machine, uint32_t variable);

ft_held ft_machine_shared(const ft_machine *machine, uint32_t variable);
/* The same for a symbol of a term that the thread evaluates. */
ft_held ft_machine_symbol(const ft_machine *machine, uint32_t thread, ft_symbol symbol);
uint32_t ft_machine_edge_out(const ft_machine *machine, uint32_t edge); /* last executed */

/* A Bool term over shared variables and the thread's locals. */
ft_outcome ft_machine_condition(const ft_machine *machine, uint32_t thread, ft_term condition);

/* Is the condition of e, a symbolic event, defined for all values of its variables? */
bool ft_machine_is_defined(ft_machine *machine, uint32_t e);

/* Evaluates e in the current state. The values that it would write are pending until the next call:
 * ft_machine_pending, _write and (for an if) _advance take the event evaluated last. */
ft_outcome ft_machine_evaluate(ft_machine *machine, uint32_t e);
/* The pending value of e's write of a shared variable, source e. */
ft_held ft_machine_pending(const ft_machine *machine, uint32_t e, uint32_t variable);
void ft_machine_write(ft_machine *machine, uint32_t e); /* performs the pending writes at once */
/* Makes the value that an rmw wrote unknown: it read another value than in the observed run. */
void ft_machine_forget(ft_machine *machine, uint32_t e);

/* A whole step at once, in a trace without branches: e, a plain read or write, if it is next in its
 * started thread and (a read) reads from `source`. False: it is not, and nothing was done. */
bool ft_machine_read(ft_machine *machine, uint32_t e, uint32_t source);
bool ft_machine_overwrite(ft_machine *machine, uint32_t e);

/* Makes e the last executed event of its thread and performs its synchronisation, even against
 * ft_machine_next and ft_machine_ready (the observed run goes on after an event that is not
 * explained). Events of a thread come in program order. */
void ft_machine_advance(ft_machine *machine, uint32_t e);

/* ---- the observed run, as the checker needs it ---------------------------------------------- */

/* One slot for each shared access of an event, in the order of ft_trace_accesses, and one for each
 * edge-in and cond-wake. */
typedef struct ft_observed {
    uint32_t *first;  /* [n_events + 1] first slot of an event */
    uint32_t *source; /* reads: the write read from, FT_NO_EVENT: initial, the event itself: it was
                         passed over; edge-in: its edge-out
                         (the latest before it), FT_NO_EVENT: unconstrained; cond-wake: the
                         signal or broadcast that woke it (observe.c), FT_NO_EVENT: none;
                         writes: unused */
    uint32_t *value;  /* index in `values`, 0: unknown */
    ft_value *values; /* what the accesses read or wrote; index 0 is unused */
} ft_observed;
ft_observed *ft_observed_new(const ft_trace *trace);
/* The invariant: slots in the order of events, values in the table, and each read's source an event
 * before it that writes its variable (or the initial value). */
bool ft_observed_is_sound(const ft_trace *trace, const ft_observed *observed);
void ft_observed_free(ft_observed *observed); /* accepts NULL */

#endif
