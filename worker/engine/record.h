/* Verdict records (docs/records.md, RECORD): self-contained JSON for one candidate or block. */
#ifndef FT_ENGINE_RECORD_H
#define FT_ENGINE_RECORD_H

#include <jansson.h>

#include "candidate/candidate.h"
#include "causality/causality.h"
#include "encode/decide.h"
#include "engine/passes.h"
#include "engine/spec.h"
#include "order/run.h"
#include "trace/show.h"
#include "verdict/checker.h"
#include "witness/minimise.h"

typedef struct ft_record_context {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    const ft_spec *spec;
    const char *trace_hash;
    ft_model model;
    bool apart;    /* atomicity violations that the program allows are (docs/findings.md) */
    ft_show *show; /* of the trace, not owned; it keeps what it found for later records */
    /* ft_record_new sets these for itself */
    const ft_reading *reading; /* of the decision at hand, like the witness */
    const ft_witness *witness;
} ft_record_context;

/* The decision on a candidate or a block of candidates, as the record gives it. */
typedef struct ft_decision {
    ft_verdict verdict;
    ft_reason reason;
    const char *text; /* more than the reason's doc, or NULL */
    bool observed;    /* a violation of the observed run itself */
    bool certain;     /* safe: whatever happened where the trace is broken (doubt.h) */
    bool bounded;     /* decided for schedules of at most `bound` context switches alone */
    uint32_t bound;
    uint64_t count, pairs;
    uint32_t lock;                   /* for the reason, UINT32_MAX: none */
    const uint64_t *passes;          /* [FT_REASONS] claims refuted by each, or NULL */
    const ft_causality_edges *cycle; /* of the first claim refuted by causality, or NULL */
    const ft_witness *witness;       /* violations, or NULL */
    const ft_reading *reading;
    const ft_minimised *minimised;
    const ft_decide_stats *stats;
    const ft_pass_tally *tallies; /* [FT_PASSES] of the passes asked, or NULL */
    double total_ms;
} ft_decision;

/* "race|write-write|a.c:3|b.c:4": the identity of a group in its job. Heap. */
char *ft_record_key(const ft_record_context *context, const ft_group *group);

/* The one pass that refuted something, MIXED for several, `none` for none. */
ft_reason ft_record_reason(const uint64_t passes[FT_REASONS], ft_reason none);

/* New reference. A broken trace turns safe into unknown here, the one place all verdicts
 * pass, unless the decision is certain. */
json_t *ft_record_new(const ft_record_context *context, const ft_group *group,
                      const ft_decision *decision);

#endif
