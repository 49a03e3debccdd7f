/* A brute-force oracle for small traces: which candidate claims are reachable, found by walking
 * every reachable state. It is the third separate semantics of the product, beside the encoder and
 * the checker, and shares no code with either; definitions: verdict/claim.h. */
#ifndef FT_TEST_ORACLE_H
#define FT_TEST_ORACLE_H

#include "trace/trace.h"
#include "verdict/claim.h"

/* A trace beyond these limits is refused by assertion. */
#define FT_ORACLE_EVENTS     96
#define FT_ORACLE_THREADS    6
#define FT_ORACLE_SHARED     6
#define FT_ORACLE_LOCALS     4
#define FT_ORACLE_LOCKS      6
#define FT_ORACLE_SEMAPHORES 4
#define FT_ORACLE_CONDITIONS 4
#define FT_ORACLE_BARRIERS   4
#define FT_ORACLE_ONCES      4
#define FT_ORACLE_BLOCKS     4
#define FT_ORACLE_IFS        16

#define FT_ORACLE_NO_PROPERTY UINT32_MAX

typedef enum ft_oracle_property_kind {
    FT_ORACLE_ASSERTION_AT,  /* `condition` before `event`, or before every event at `from` */
    FT_ORACLE_CO_ENABLED_AT, /* events at `from` and at `to` */
    FT_ORACLE_BEFORE_AT,     /* first `from`, then `to` */
    FT_ORACLE_TRANSACTION_AT /* stretches from an event at `from` to the next at `to` */
} ft_oracle_property_kind;

typedef struct ft_oracle_property {
    ft_oracle_property_kind kind;
    uint32_t event;    /* ASSERTION_AT; FT_NO_EVENT: every event at `from` */
    uint32_t from, to; /* location ids */
    ft_term condition; /* ASSERTION_AT */
} ft_oracle_property;

typedef struct ft_oracle_job {
    bool checks[FT_CHECKS]; /* FT_CHECK_PROPERTY is ignored: the properties say it */
    const ft_oracle_property *properties;
    uint32_t n_properties;
    ft_model model;
    ft_wakeups wakeups;
    bool switches; /* also find the fewest context switches of every violation */
} ft_oracle_job;

/* One candidate and its answer. A claim is violated, or depends on an unknown value, or neither. */
typedef struct ft_oracle_answer {
    ft_check check;
    uint32_t property; /* index, or FT_ORACLE_NO_PROPERTY */
    ft_claim claim;    /* events of a symmetric claim in ascending order */
    bool violated;
    bool unknown;            /* not violated for certain, but with some value of an unknown */
    uint32_t maybe_switches; /* the fewest with which it is violated with some value of an unknown,
                                if the job asks for switches; UINT32_MAX: never */
    /* A violating schedule: of those with the fewest context switches, if the job asks for them. */
    uint32_t switches; /* Wang et al. §6, counted as by ft_witness_switches */
    uint8_t steps[FT_ORACLE_EVENTS], n_steps;
} ft_oracle_answer;

typedef struct ft_oracle_result {
    FT_VEC(ft_oracle_answer) answers; /* by check, then property */
    uint64_t states;                  /* explored */
} ft_oracle_result;

/* Every candidate of the job with its answer; release the result. */
void ft_oracle_enumerate(const ft_trace *trace, const ft_oracle_job *job, ft_oracle_result *result);
void ft_oracle_release(ft_oracle_result *result);

/* What the oracle says of a schedule: is it a witness of its claim (bounds apart)? */
typedef enum ft_judgement { FT_JUDGED_WRONG, FT_JUDGED_RIGHT, FT_JUDGED_UNKNOWN } ft_judgement;
ft_judgement ft_oracle_judge(const ft_trace *trace, const ft_witness *witness);

/* The candidates alone, none answered. */
void ft_oracle_candidates(const ft_trace *trace, const ft_oracle_job *job,
                          ft_oracle_result *result);

/* Whether two claims are the same (symmetric ones in either order of their events, cycles from any
 * of their requests). */
bool ft_oracle_claim_equal(const ft_claim *a, const ft_claim *b);

/* The kind that groups claims of one check apart: of a lock error, deadlock or order error the
 * words of docs/records.md; else "". */
const char *ft_oracle_claim_kind(const ft_trace *trace, const ft_claim *claim);

/* Does a term read a variable whose initial value nobody knows? Recordings have that, NDJSON does
 * not. */
bool ft_oracle_reads_unborn(const ft_trace *trace);

/* Another feasible order of all events under `model` (any wake-ups), chosen at random, or false
 * when the search finds none that differs, or NDJSON cannot say it. order: room for n_events. */
bool ft_oracle_reorder(const ft_trace *trace, ft_model model, uint64_t seed, uint32_t *order);

/* A new trace with the events of `trace` in this order (through NDJSON), observed and unbroken. */
ft_trace *ft_oracle_permute(const ft_trace *trace, const uint32_t *order);

/* The trace as NDJSON text, for messages. Heap text, caller frees. */
char *ft_oracle_dump(const ft_trace *trace);

#endif
