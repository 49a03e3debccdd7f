/* Verdicts: claims, witnesses and the independent checker (checker.h) that executes them. A claim
 * is a violation that is claimed to be reachable, a witness a schedule that reaches it. This
 * comment is the definition that the encodings, the passes, the checker and the tests' oracle
 * implement.
 *
 * A witness's steps are events in the order of execution. All but the claim's own events are
 * *members*, and the members are a *prefix* of the trace: with an event come those before it in its
 * thread (but for arms that are not taken), the fork of its thread, all of a joined child, the
 * edge-out of an edge-in, and the writes that its reads return. Executed from the initial state
 * each of them is possible at its step (checker.h): synchronisation does not block it, its guard
 * holds, its terms are defined, and the model allows the values that it reads (names.h). An acquire
 * needs every earlier section of its lock that is in the prefix closed. Whether the events after
 * the violation could still be executed is irrelevant (Wang et al. §5.3). The claim's events:
 *
 *   RACE        events[0], events[1]: neither is a step; after the last step both are next in their
 *               threads and at least one conflict between them takes place: both accesses of it
 *               happen (a guard's reads always, other accesses only if the event is enabled: its
 *               guard holds and its terms are defined, own reads taken from the final state). A
 *               compare-and-swap is not enabled where it is known to find something else than in
 *               the run: it reads that, and writes nothing.
 *   ASSERTION   events[0]: not a step; next in its thread after the last step; its condition is
 *               definitely false there (shared variables from the final state, whatever the model
 *               says of its reads; locals as the thread has them).
 *   CONDITION   like ASSERTION for `condition`, a term over shared variables and the thread's
 *               locals, evaluated when events[0] (of any kind) is next in its thread.
 *   ATOMICITY   events[0..2] = t_c, t_r, t_c' on `variable`, in the pattern given by writes[0..2].
 *               t_c is an ordinary member and a step; t_r is a later step: it is executed (its
 *               access takes place), and if its reads depart from the model (or it is a failing
 *               assume or assert) its thread has no further step, and no member reads what it
 *               wrote; t_c' is not a step: after the last step it is next in its thread and its
 *               access takes place, its own reads exempt. What a departing t_r writes is what its
 *               terms compute; an rmw has none, so that what it writes is unknown unless it finds
 *               the value that it found in the run: the value in the trace is what its statement
 *               made of the value in the trace, and many statements leave the same concrete
 *               event (Wang et al. §2). A compare-and-swap
 *               writes what it wrote in the run, or nothing. Under `ctp` what has
 *               terms does not depart: members may read what it wrote. As t_r a failed
 *               compare-and-swap (ft_trace_failed_swap) reads only if its guard holds: elsewhere it
 *               succeeds, and what it then writes, before t_c' looks, the trace does not say. (One
 *               that comes last may succeed: it reads all the same, and nothing comes after it. One
 *               that succeeded in the run fails where its guard does not hold: it reads.)
 *   CO_ENABLED  events[0], events[1] of different threads: both next after the last step, each
 *               could be executed alone from there (acquire: lock free or, recursive, its own;
 *               wait: count > 0; join, edge-in: fulfilled; assign, assume: enabled; own reads
 *               exempt from the model). Two cond-wakes were woken by a broadcast, or each by a
 *               signal of its own.
 *   BEFORE      events[0] is next after the last step and could be executed (as in CO_ENABLED);
 *               no step is at location `avoid`.
 *   LOCK_ERROR  events[0] is next after the last step, and by its thread's own earlier events it
 *               is a lock error: the acquire of a lock that its thread holds and may not take
 *               again, or the release of one that its thread does not hold.
 *   DEADLOCK    events[0 .. n_events - 1], n_events > 1, requests of distinct threads: acquires
 *               that wait (not FT_FLAG_TRY), once-passes, joins likewise. All are next after the
 *               last step, and the thread of events[i + 1] (for the last one, of events[0]) has
 *               what events[i] asks for: it holds the lock in a mode that keeps the request
 *               waiting; has begun the once object's initialiser and not ended it; is the thread
 *               that is joined. Where events[i] takes a writer-preferring lock for reading (which
 *               its thread may hold for reading already), events[i + 1] may also be a request for
 *               the same lock for writing: the reader waits for the writer that waits.
 *   STUCK       events[0], a semaphore wait, cond-wake, join or barrier-leave, is next after the
 *               last step and blocked; every other thread that was started and has an event left
 *               has a next event that is blocked too: a blocked acquire, wait, cond-wake or join
 *               (not FT_FLAG_TRY, FT_FLAG_FAILED), barrier-leave, or once-pass whose
 *               initialiser was begun (else its thread would run it). (Nobody waits at an edge-in:
 *               it says what came before.) No thread that is cut (ft_trace_find_cut) has executed
 *               all its events: what it does behind them could end the waiting. Where events[0] is
 *               a join, all blocked ones are joins and acquires (who waits for a stuck thread is
 *               not a finding of its own).
 *   AFTER_FREE  events[0], a free, is a step and the last alloc or free of its block among the
 *               steps; events[1], an access of one of its variables or a free of the same block, is
 *               next after the last step and its access takes place, its own reads exempt.
 *   UNINITIALISED  events[0] reads `variable`, is next after the last step, and the read takes
 *               place; no step writes the variable (of a block: none since its last alloc). Where
 *               the trace allocates blocks with the variable, the last alloc or free of one of them
 *               among the steps is an alloc: before it other memory may be at that address.
 *   FAILURE     events[0] is next after the last step, the steps are in the observed order, and the
 *               trace says that its run ended badly there (ft_trace_failure). No other schedule is
 *               claimed to end so.
 *
 * Imports: common/base, common/trace. */
#ifndef FT_VERDICT_CLAIM_H
#define FT_VERDICT_CLAIM_H

#include <jansson.h>

#include "trace/trace.h"
#include "verdict/names.h"

#define FT_CLAIM_TABLE(X)                                                                          \
    X(RACE, "race", 2)                                                                             \
    X(ASSERTION, "assertion", 1)                                                                   \
    X(CONDITION, "condition", 1)                                                                   \
    X(ATOMICITY, "atomicity", 3)                                                                   \
    X(CO_ENABLED, "co-enabled", 2)                                                                 \
    X(BEFORE, "before", 1)                                                                         \
    X(LOCK_ERROR, "lock-error", 1)                                                                 \
    X(DEADLOCK, "deadlock", 0) /* n_events */                                                      \
    X(STUCK, "stuck", 1)                                                                           \
    X(AFTER_FREE, "after-free", 2)                                                                 \
    X(UNINITIALISED, "uninitialised", 1)                                                           \
    X(FAILURE, "failure", 1)
typedef enum ft_claim_kind {
#define FT_ROW(symbol, name, events) FT_CLAIM_##symbol,
    FT_CLAIM_TABLE(FT_ROW)
#undef FT_ROW
        FT_CLAIM_KINDS
} ft_claim_kind;
const char *ft_claim_kind_name(ft_claim_kind kind);
uint32_t ft_claim_first_final(
    ft_claim_kind kind); /* index of the first of `events` that comes after
                            the last step: 2 for ATOMICITY, 1 for AFTER_FREE, else 0 */

/* Its events are all next at once, in no order: RACE, DEADLOCK, CO_ENABLED. */
bool ft_claim_is_unordered(ft_claim_kind kind);

#define FT_CLAIM_MAX_EVENTS 32u /* threads in one cycle of requests */

typedef struct ft_claim {
    ft_claim_kind kind;
    uint32_t events[FT_CLAIM_MAX_EVENTS];
    uint32_t n_events; /* DEADLOCK; 0 elsewhere: the kind says it */
    uint32_t variable; /* ATOMICITY, UNINITIALISED: shared variable */
    bool writes[3];    /* ATOMICITY: which of the three accesses are writes */
    ft_term condition; /* CONDITION */
    uint32_t avoid;    /* BEFORE: location id */
} ft_claim;

/* A deadlock, or a thread that waits for ever, that the observed run itself ended in: its events
 * are those that were blocked (FT_FLAG_BLOCKED). */
bool ft_claim_was_blocked(const ft_trace *trace, const ft_claim *claim);
uint32_t ft_claim_events(const ft_claim *claim); /* how many of `events` are used */
/* The claim is well formed: a known kind, distinct events of the trace, and the variable, condition
 * or location that the kind needs. */
bool ft_claim_is_sound(const ft_trace *trace, const ft_claim *claim);

/* The five unserialisable patterns: RWR, RWW, WRW, WWR, WWW (Wang et al. §5.1). */
bool ft_pattern_unserialisable(bool first_write, bool remote_write, bool last_write);

#define FT_NO_BOUND UINT32_MAX

typedef struct ft_witness {
    ft_model model;
    ft_wakeups wakeups; /* what a cond-wake needs (machine.h) */
    uint32_t bound;     /* context switches it may have at most, FT_NO_BOUND: any number */
    ft_claim claim;
    uint32_t n_steps;
    uint32_t *steps; /* events in execution order; heap, owned */
} ft_witness;
void ft_witness_release(ft_witness *witness);
/* The claim is well formed, and the steps are distinct events of the trace, each thread's in
 * program order. Every witness that the checker accepts is sound. */
bool ft_witness_is_sound(const ft_trace *trace, const ft_witness *witness);
/* The number of context switches, those to the claim's final events included; the final events of
 * an unordered claim count in the order that has the fewest. */
uint32_t ft_witness_switches(const ft_trace *trace, const ft_witness *witness);

/* A witness file describes every step of a witness of up to FT_WITNESS_SHORT steps, and the last
 * FT_WITNESS_FULL_STEPS of a longer one, with the claim's own events. The other steps are runs: of
 * consecutive steps of a thread the file has the first and the last, so that a long prefix does not
 * make a long record. */
#define FT_WITNESS_SHORT      200u
#define FT_WITNESS_FULL_STEPS 16u
/* The first of the last steps that are all described. */
uint32_t ft_witness_full_from(const ft_witness *witness);

/* The witness file (schema/witness.schema.json): format, version, trace hash, model, claim, and
 * the steps with names, locations, texts and values, so that it can be read without the trace.
 * `reading` may be NULL or the checker's annotations (checker.h). Returns a new reference.
 *
 * `text`, `value` and `observed_value` of a step are for machines: terms and values in SMT-LIB.
 * What people read (trace/show.h) is in `display`, `display_value` and `display_observed`, where it
 * is something else. */
struct ft_reading;
struct ft_show;
json_t *ft_witness_to_json(const ft_trace *trace, const char *trace_hash, const ft_witness *witness,
                           const struct ft_reading *reading, struct ft_show *show);
/* Reads the parts the checker needs (event numbers, claim, model); FT_INPUT names the JSON path.
 * Conditions are parsed into trace->terms. */
ft_status ft_witness_from_json(const json_t *json, ft_trace *trace, ft_witness *witness,
                               ft_error *err) FT_MUST_CHECK;

#endif
