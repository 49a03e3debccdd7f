/* Kinds of jobs (JOB of docs/records.md): what is asked of which input.
 *
 * A new kind is a row here, a list of members in server/api/spec.c, and a function that plans in
 * worker/serve/job.c. Its input is stored and sent to workers like a trace. */
#ifndef FT_WIRE_KINDS_H
#define FT_WIRE_KINDS_H

#include <jansson.h>
#include <stdbool.h>

/*  symbol    name       input      what it does */
#define FT_JOB_KIND_TABLE(X)                                                                       \
    X(PREDICT, "predict", "trace", "reorders the events of a run")                                 \
    X(EXPLORE, "explore", "program", "runs every schedule and every input of a program")           \
    X(CONTEXT, "context", "program", "asks about places in the middle of a program")               \
    X(COVER, "cover", "program", "finds or checks schedules that cover every input")

typedef enum ft_job_kind {
#define FT_ROW(symbol, name, input, doc) FT_JOB_KIND_##symbol,
    FT_JOB_KIND_TABLE(FT_ROW)
#undef FT_ROW
        FT_JOB_KINDS
} ft_job_kind;

const char *ft_job_kind_name(ft_job_kind kind);
bool ft_job_kind_parse(const char *name, ft_job_kind *kind);
/* The member of JOB that names the input. */
const char *ft_job_kind_input(ft_job_kind kind);
/* Of a JOB: its "kind"; without one (or with one that is not known) EXPLORE where it names a
 * program, else PREDICT. */
ft_job_kind ft_job_kind_of(const json_t *spec);

#endif
