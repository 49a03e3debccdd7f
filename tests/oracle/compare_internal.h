/* What the comparisons share. Private to compare*.c. */
#ifndef FT_TEST_COMPARE_INTERNAL_H
#define FT_TEST_COMPARE_INTERNAL_H

#include "oracle/compare.h"
#include "oracle/generate.h"
#include "oracle/pipeline.h"

#define FT_COMPARE_PROPERTIES 3

typedef struct subject {
    uint64_t seed;
    ft_trace *trace;
    ft_oracle_job job;
    ft_oracle_property properties[FT_COMPARE_PROPERTIES];
    ft_oracle_result oracle;    /* of job.model */
    const char *ignored;        /* a location, or NULL */
    ft_comparison_stats *stats; /* or NULL */
    ft_strbuf *why;
} subject;

/* Says what differs; returns false. claim may be NULL. */
bool ft_compare_differs(subject *s, const char *what, const ft_claim *claim, const char *oracle,
                        const char *engine);
/* Runs the subject's job with these members. Only what the literal encoding leaves unknown by time
 * stays in pipeline->timeouts, and in the statistics: to the others a timeout is a mismatch. */
bool ft_compare_run(subject *s, const char *what, const ft_pipeline_options *options,
                    ft_pipeline *pipeline);
/* The oracle's answer to the claim of a finding, or NULL: no such candidate. */
const ft_oracle_answer *ft_compare_answer(const subject *s, const ft_finding *finding);
/* Does the pipeline have a finding for the answer's claim? */
bool ft_compare_found(const ft_pipeline *pipeline, const ft_oracle_answer *answer);

/* compare_shapes.c: into the statistics. */
void ft_compare_count_shapes(const ft_trace *trace, ft_comparison_stats *stats);
void ft_compare_count_claim(const ft_trace *trace, const ft_oracle_answer *answer,
                            ft_comparison_stats *stats);
bool ft_compare_with_checker(subject *s); /* compare_checker.c */
bool ft_compare_bounds(subject *s);       /* compare_bound.c */

#endif
