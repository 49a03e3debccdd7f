/* The answer about a context (docs/contexts.md; "context-answer" of a job's notes) as a record: one
 * candidate, of the check `context`. Threads that a run gets to their places are a finding, `never`
 * is safe, and what is not refuted is unknown. */
#ifndef FT_REPORT_CONTEXTS_H
#define FT_REPORT_CONTEXTS_H

#include <jansson.h>

/* RECORD of docs/records.md; new reference. */
json_t *ft_context_record(const json_t *answer);

#endif
