/* Sets of jobs over covering schedules (schema 0013). A plan's set goes with each lease of the
 * certificates, which are subproblems; when all have their verdicts, the answer among the job's
 * notes is completed by them (report/certificates.h). For server/store alone. */
#ifndef FT_STORE_SCHEDULE_SETS_H
#define FT_STORE_SCHEDULE_SETS_H

#include <jansson.h>

#include "store/sql.h"
#include "wire/scan.h"

/* After the plan: its "set", as JSON. */
ft_status ft_schedule_sets_add(ft_sql *sql, int64_t job, ft_span set, ft_error *err) FT_MUST_CHECK;
/* Adds "set" to a lease: a string with the JSON; nothing where the job has none. */
ft_status ft_schedule_sets_give(ft_sql *sql, int64_t job, json_t *lease,
                                ft_error *err) FT_MUST_CHECK;
/* The job has ended; done: all of its certificates have a verdict. */
ft_status ft_schedule_sets_end(ft_sql *sql, const char *job, bool done,
                               ft_error *err) FT_MUST_CHECK;

#endif
