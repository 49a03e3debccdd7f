/* The engine's whole pipeline (plan, then every subproblem) run in this process, its records read
 * back and checked as any client would. */
#ifndef FT_TEST_PIPELINE_H
#define FT_TEST_PIPELINE_H

#include "oracle/oracle.h"

typedef struct ft_finding {
    ft_check check;
    uint32_t property; /* or FT_ORACLE_NO_PROPERTY */
    ft_claim claim;    /* of its checked witness */
    uint32_t switches; /* of that witness */
    uint32_t bound;    /* of its record, FT_NO_BOUND: none */
    bool observed;     /* said to have happened in the observed run */
} ft_finding;

#define FT_PIPELINE_PROPERTIES 8

typedef struct ft_pipeline {
    FT_VEC(ft_finding) violations;
    uint64_t candidates[FT_CHECKS];         /* as the plan says */
    uint64_t count[FT_CHECKS][FT_VERDICTS]; /* records' counts, by verdict */
    /* of the unknown ones: those whose budget ran out, or that are beyond the solver named */
    uint64_t timeouts[FT_CHECKS];
    uint64_t open[FT_CHECKS]; /* of the unknown ones: those that depend on an unknown value */
    bool property[FT_PIPELINE_PROPERTIES]
                 [FT_VERDICTS]; /* verdicts that some record of the property has */
} ft_pipeline;

/* Runs the job of `spec` (borrowed). False: something is wrong with the answers as such (a call
 * failed, counts do not add up, a violation without a witness that the checker accepts); `why`
 * says what. Release `out` either way. */
bool ft_pipeline_run(ft_trace *trace, const json_t *spec, ft_pipeline *out, ft_strbuf *why);
/* Likewise a job with the model maximal, the trace taken for a long one (ft_engine_take_for_long).
 */
bool ft_pipeline_run_long(ft_trace *trace, const json_t *spec, ft_pipeline *out, ft_strbuf *why);
void ft_pipeline_release(ft_pipeline *pipeline);

typedef struct ft_pipeline_options {
    const char *per, *encoding;
    const char *bound;      /* context_bound: a number, "auto", or NULL: none */
    const char *solver;     /* NULL: auto */
    uint32_t subproblem_ms; /* budget; 0: the default */
    bool as_long;           /* for ft_pipeline_run_long */
} ft_pipeline_options;

/* A job's JSON: checks, properties, model and wake-ups of `job`, the rest as given. */
json_t *ft_pipeline_spec(const ft_trace *trace, const ft_oracle_job *job,
                         const ft_pipeline_options *options);

#endif
