/* A job's specification and its properties, read from JSON and resolved against the trace
 * (docs/records.md, JOB and PROPERTY). */
#ifndef FT_ENGINE_SPEC_H
#define FT_ENGINE_SPEC_H

#include <jansson.h>

#include "trace/trace.h"
#include "verdict/claim.h"

#define FT_DEFAULT_SUBPROBLEM_MS 20000u
#define FT_DEFAULT_JOB_MS        300000u

#define FT_PROPERTY_TABLE(X)                                                                       \
    X(ASSERTION, "assertion", "a term that holds before an event, or before each at a location")   \
    X(CO_ENABLED, "co-enabled", "two locations are never next and executable at once")             \
    X(BEFORE, "before", "no `then` executes before the first `first`")                             \
    X(TRANSACTION, "transaction", "each stretch from `from` to the next `to` is atomic")
typedef enum ft_property_kind {
#define FT_ROW(symbol, name, doc) FT_PROPERTY_##symbol,
    FT_PROPERTY_TABLE(FT_ROW)
#undef FT_ROW
        FT_PROPERTY_KINDS
} ft_property_kind;
const char *ft_property_kind_name(ft_property_kind kind);

typedef struct ft_stretch {
    uint32_t from, to; /* events of one thread */
} ft_stretch;

typedef struct ft_property {
    ft_property_kind kind;
    char *name;                   /* given, or a description made from its members */
    FT_VEC(ft_claim) claims;      /* all that would violate it; empty for TRANSACTION */
    FT_VEC(ft_stretch) stretches; /* TRANSACTION */
} ft_property;

/* How many context switches a schedule may have (Wang et al. §6). */
typedef struct ft_context_bound {
    enum { FT_BOUND_NONE, FT_BOUND_FIXED, FT_BOUND_AUTO } mode; /* AUTO: 1, 2, ... as needed */
    uint32_t switches;                                          /* FIXED */
} ft_context_bound;
#define FT_MAX_CONTEXT_BOUND 100u

typedef struct ft_spec {
    bool checks[FT_CHECKS];
    bool model_given;
    ft_model model; /* if given */
    bool per_event, literal;
    ft_context_bound context_bound;
    ft_wakeups wakeups;
    ft_solver solver;
    uint64_t without; /* passes that are not asked, by ft_pass_id */
    uint32_t subproblem_ms;
    uint8_t *ignored; /* per location id, or NULL */
    FT_VEC(ft_property) properties;
} ft_spec;

/* Members of the spec that only the server needs (trace, name, budget.job_ms) are accepted. The
 * terms of properties are parsed into the trace's pool. FT_USAGE names the member. */
ft_status ft_spec_parse(const json_t *json, ft_trace *trace, ft_spec *spec,
                        ft_error *err) FT_MUST_CHECK;
void ft_spec_release(ft_spec *spec);

#endif
