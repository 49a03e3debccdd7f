/* The ledger knows which findings are not new: by baselines, suppressions, annotations in the
 * source, reviews. It decides which findings count for the exit code.
 *
 * Baseline: a report in JSON, or lines "FINGERPRINT [SOURCE-FINGERPRINT] [text]"; blank lines and
 * what follows a '#' are ignored.
 *
 * Suppressions, one a line:
 *   ignore CHECK[,CHECK...]|all [KEY=GLOB]... until=YYYY-MM-DD|never -- REASON
 * KEY: at (the location, or its file alone), function, thread (these of one access), object,
 * fingerprint. The reason and until are required.
 *
 * Annotation in the source, in a comment on an access's line or on a line of its own above it:
 *   foretell: ignore CHECK[,CHECK...]|all [until=YYYY-MM-DD] -- REASON */
#ifndef FT_REPORT_LEDGER_H
#define FT_REPORT_LEDGER_H

#include "report/report.h"
#include "verdict/names.h"

typedef struct ft_ledger ft_ledger;

/* today: "YYYY-MM-DD"; a suppression holds up to and including the day that `until` names. */
ft_ledger *ft_ledger_new(const char *today);
void ft_ledger_free(ft_ledger *ledger); /* accepts NULL */

/* Adds a baseline; `name` is how its findings are said to be known ("in baseline.txt"). FT_INPUT
 * with line and column. */
ft_status ft_ledger_add_baseline(ft_ledger *ledger, const char *text, size_t length,
                                 const char *name, ft_error *err) FT_MUST_CHECK;
void ft_ledger_add_report(ft_ledger *ledger, const json_t *report, const char *name);
/* Adds the suppressions of a file called `name`. FT_INPUT with line and column. */
ft_status ft_ledger_add_suppressions(ft_ledger *ledger, const char *text, size_t length,
                                     const char *name, ft_error *err) FT_MUST_CHECK;
/* Reads source lines under this folder: for annotations, source fingerprints and the views. A
 * file that is not there has the lines of the trace. */
void ft_ledger_set_source(ft_ledger *ledger, const char *root);
/* Files under this folder (absolute) are named by their path from there (ft_report_set_root).
 * Annotations are read in them, next to lines that are still the lines of the trace. */
void ft_ledger_set_root(ft_ledger *ledger, const char *root);
/* Findings that the server has seen in an earlier job of the project are known. */
void ft_ledger_only_new(ft_ledger *ledger);
/* Findings that are set apart are new ones like the others. */
void ft_ledger_count_apart(ft_ledger *ledger);
/* Only findings of these checks count; NULL: of every check. */
void ft_ledger_fail_on(ft_ledger *ledger, const bool *checks);

/* Sets standing, why and fails of each finding, the lines of accesses, the source fingerprints, and
 * the members of their JSON; adds notes for suppressions that have expired. */
void ft_ledger_apply(const ft_ledger *ledger, ft_report *report);

/* A line of a baseline for each finding that is not suppressed, below a line that explains the
 * file.
 */
void ft_ledger_write_baseline(const ft_report *report, ft_strbuf *out);

#endif
