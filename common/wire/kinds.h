/* Kinds of jobs (JOB of docs/records.md): what is asked of which input.
 *
 * A new kind is a row here, a list of members in server/api/spec.c, and a function that plans in
 * worker/serve/job.c. Its input is stored and sent to workers like a trace. */
#ifndef FT_WIRE_KINDS_H
#define FT_WIRE_KINDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* group: so many subproblems that follow each other share most of their work, and are given to one
 * worker together (certificates of one schedule: worker/cover/plan.h); a hint.
 *
 *  symbol    name       input      group  what it does */
#define FT_JOB_KIND_TABLE(X)                                                                       \
    X(PREDICT, "predict", "trace", 1, "reorders the events of a run")                              \
    X(EXPLORE, "explore", "program", 1, "runs every schedule and every input of a program")        \
    X(CONTEXT, "context", "program", 1, "asks about places in the middle of a program")            \
    X(COVER, "cover", "program", 7, "finds or checks schedules that cover every input")

typedef enum ft_job_kind {
#define FT_ROW(symbol, name, input, group, doc) FT_JOB_KIND_##symbol,
    FT_JOB_KIND_TABLE(FT_ROW)
#undef FT_ROW
        FT_JOB_KINDS
} ft_job_kind;

const char *ft_job_kind_name(ft_job_kind kind);
bool ft_job_kind_parse(const char *name, ft_job_kind *kind);
/* The member of JOB that names the input. */
const char *ft_job_kind_input(ft_job_kind kind);
/* Subproblems that are best given to one worker together; at least 1. */
uint32_t ft_job_kind_group(ft_job_kind kind);
/* Of a JOB: its "kind"; without one (or with one that is not known) EXPLORE where it names a
 * program, else PREDICT. */
ft_job_kind ft_job_kind_of(const json_t *spec);

#endif
