/* A job's report, printed while it comes: findings of long reports are never held all at once. */
#ifndef FT_CLI_REPORT_H
#define FT_CLI_REPORT_H

#include <stdio.h>

#include "job.h"

enum { FT_REPORT_LISTS = 3 };

/* Text: findings are on standard output already and left out of `json` but for what the summary
 * needs. JSON: the records of each list are in a file, and the list in `json` is empty. */
typedef struct ft_report {
    json_t *json;
    FILE *records[FT_REPORT_LISTS]; /* NULL: none */
} ft_report;

/* Fetches the report of a job that has ended, writes witness files, and prints findings unless
 * `as_json` or the view is quiet. */
ft_status ft_report_fetch(ft_session *session, const char *job, const ft_view *view, bool as_json,
                          ft_report *report, ft_error *err) FT_MUST_CHECK;
void ft_report_release(ft_report *report);

/* What ft_report_fetch has not printed of a report as text. */
void ft_report_print_rest(const ft_view *view, const ft_report *report);
/* One JSON value, a record a line; without a newline at the end. */
void ft_report_print_json(const ft_report *report);

#endif
