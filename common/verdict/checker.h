/* The independent checker: executes a witness step by step from the initial state and confirms the
 * violation at its end. It shares no code with the encoder, the pruning passes or the tests'
 * oracle. Definitions: claim.h.
 *
 * State: the position of each thread; for each shared variable its last write (event) and value;
 * locals; lock owners and depth; semaphore counts. A step must be next in its thread, its thread
 * forked (if any event forks it), its join's child at its end, its edge-in's edge-out executed, its
 * lock free (or recursive and its own), its semaphore positive, its guard true and its terms
 * defined, and each of its reads must satisfy the model:
 *   observed: read from the write that it read from in the observed run (or the initial value);
 *   maximal:  return the value it returned then (an unknown value equals only itself: the same
 *             write or the same initial value);
 *   ctp:      whatever the state holds, for symbolic events; a plain read must return its value.
 * A plain read without a value must read from its observed write in every model.
 * An if may come out either way; its thread then passes over the events of the other arm, which are
 * no steps and claim nothing. Under control it goes the way that the steps go.
 * An assert is a member only if its condition holds, or if it failed in the observed run
 * (FT_FLAG_FAILED). A release flagged STRANGER and NESTED operations have no effect. */
#ifndef FT_VERDICT_CHECKER_H
#define FT_VERDICT_CHECKER_H

#include "verdict/claim.h"

/* The values that a witness reads and writes: one row for each step that the witness file describes
 * (claim.h) and for each final event of the claim, in the order of steps. */
typedef struct ft_reading_row {
    uint32_t event;
    uint32_t step;   /* 0-based; the number of steps: a final event */
    uint32_t access; /* which of the event's accesses the row is about: the first, or the one that
                        its address leads to (ft_trace_reaches_one_of) */
    bool value_known;
    ft_value value;  /* read or written */
    uint32_t source; /* reads: the write event read from, FT_NO_EVENT: the initial value */
    bool departs;    /* a read that differs from the observed run: in its value, or in its source
                        where a value is unknown */
    bool observed_known;
    ft_value observed; /* what that access read or wrote in the observed run */
} ft_reading_row;
typedef struct ft_reading {
    ft_reading_row *rows;
    uint32_t n_rows;
    ft_symbol_value *symbols; /* ASSERTION, CONDITION: those of the condition that is false, in the
                                 final state; else none */
    uint32_t n_symbols;
} ft_reading;
void ft_reading_release(ft_reading *reading);

typedef struct ft_checker ft_checker; /* per trace: the observed run's sources and values */
ft_checker *ft_checker_new(const ft_trace *trace);
void ft_checker_free(ft_checker *checker); /* accepts NULL */

/* FT_OK: the witness was executed and the violation confirmed; then the witness is sound. FT_INPUT:
 * it is not a witness; err says which step fails and why. FT_UNSUPPORTED: an unknown value or an
 * overflow leaves it undecided.
 * reading (may be NULL) is filled on FT_OK; release it. */
ft_status ft_checker_check(ft_checker *checker, const ft_witness *witness, ft_reading *reading,
                           ft_error *err) FT_MUST_CHECK;

/* Trials: building a schedule step by step from the initial state, by the rules for a witness's
 * members. ft_checker_check ends the trial. */
void ft_checker_begin(ft_checker *checker, ft_model model, ft_wakeups wakeups);
/* Executes e. False: e is not next in its thread, is blocked, reads a value that the model forbids,
 * is not enabled, or an unknown value leaves that open; nothing was done. */
bool ft_checker_try(ft_checker *checker, uint32_t e);

/* Executes the observed order of a fresh trace (at ingest): sets `initial` of undeclared
 * variables to the value first read before any write; sets FT_FLAG_FAILED on asserts that fail and
 * FT_FLAG_PASSED on the events of the arms that were not taken, which it does not execute;
 * sets trace->broken and broken_text at the first event that the semantics does not explain (a lock
 * taken while held by another, a read no write explains, an assume that fails, a semaphore below
 * zero, an event before its fork or of a joined thread, ...) and keeps going after it. */
void ft_observe_run(ft_trace *trace);

#endif
