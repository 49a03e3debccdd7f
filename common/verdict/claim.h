/* Claims and witnesses: what is said to be reachable, and the schedule that reaches it.
 *
 * A witness's steps are events in the order of execution. All but the claim's own events are
 * members in the sense of design §4 (Prefix). The claim's events:
 *
 *   RACE        events[0], events[1]: neither is a step; after the last step both are next in their
 *               threads and at least one conflict between them takes place: both accesses of it
 *               happen (a guard's reads always, other accesses only if the event is enabled: its
 *               guard holds and its terms are defined, own reads taken from the final state).
 *   ASSERTION   events[0]: not a step; next in its thread after the last step; its condition is
 *               definitely false there (shared variables from the final state, whatever the model
 *               says of its reads; locals as the thread has them).
 *   CONDITION   like ASSERTION for `condition`, a term over shared variables and the thread's
 *               locals, evaluated when events[0] (of any kind) is next in its thread.
 *   ATOMICITY   events[0..2] = t_c, t_r, t_c' on `variable`, in the pattern given by writes[0..2].
 *               t_c is an ordinary member and a step; t_r is a later step: it is executed (its
 *               access takes place), and if its reads depart from the model (or it is a failing
 *               assume or assert) its thread has no further step, and no member reads what it
 *               wrote under `observed` and `maximal`; t_c' is not a step: after the last step it
 *               is next in its thread and its access takes place, its own reads exempt.
 *   CO_ENABLED  events[0], events[1] of different threads: both next after the last step, each
 *               could be executed alone from there (acquire: lock free or, recursive, its own;
 *               wait: count > 0; join, edge-in: fulfilled; assign, assume: enabled; own reads
 *               exempt from the model).
 *   BEFORE      events[0] is next after the last step and could be executed (as in CO_ENABLED);
 *               no step is at location `avoid`.
 */
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
    X(BEFORE, "before", 1)
typedef enum ft_claim_kind {
#define FT_ROW(symbol, name, events) FT_CLAIM_##symbol,
    FT_CLAIM_TABLE(FT_ROW)
#undef FT_ROW
        FT_CLAIM_KINDS
} ft_claim_kind;
const char *ft_claim_kind_name(ft_claim_kind kind);
uint32_t ft_claim_kind_events(ft_claim_kind kind); /* how many of `events` are used */
uint32_t
ft_claim_first_final(ft_claim_kind kind); /* index of the first of `events` that comes after
                                             the last step: 2 for ATOMICITY, else 0 */

typedef struct ft_claim {
    ft_claim_kind kind;
    uint32_t events[3];
    uint32_t variable; /* ATOMICITY: shared variable */
    bool writes[3];    /* ATOMICITY: which of the three accesses are writes */
    ft_term condition; /* CONDITION */
    uint32_t avoid;    /* BEFORE: location id */
} ft_claim;

/* The five unserialisable patterns: RWR, RWW, WRW, WWR, WWW (Wang et al. §5.1). */
bool ft_pattern_unserialisable(bool first_write, bool remote_write, bool last_write);

typedef struct ft_witness {
    ft_model model;
    ft_claim claim;
    uint32_t n_steps;
    uint32_t *steps; /* events in execution order; heap, owned */
} ft_witness;
void ft_witness_release(ft_witness *witness);
uint32_t ft_witness_switches(const ft_trace *trace, const ft_witness *witness); /* thread changes,
                             the claim's own last events included */

/* Steps that a witness file describes in full, counted from its end; earlier ones carry their event
 * and thread alone, so that a long prefix does not make a long record. */
#define FT_WITNESS_FULL_STEPS 1000u

/* The witness file (schema/witness.schema.json): format, version, trace hash, model, claim, and
 * the steps with names, locations, texts and values, so that it can be read without the trace.
 * `reading` may be NULL or the checker's annotations (checker.h). Returns a new reference. */
struct ft_reading;
json_t *ft_witness_to_json(const ft_trace *trace, const char *trace_hash, const ft_witness *witness,
                           const struct ft_reading *reading);
/* Reads the parts the checker needs (event numbers, claim, model); FT_INPUT names the JSON path.
 * Conditions are parsed into trace->terms. */
ft_status ft_witness_from_json(const json_t *json, ft_trace *trace, ft_witness *witness,
                               ft_error *err) FT_MUST_CHECK;

#endif
