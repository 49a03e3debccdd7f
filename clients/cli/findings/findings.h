/* What becomes of reports: compared with what is known, printed, written into files. */
#ifndef FT_CLI_EMIT_H
#define FT_CLI_EMIT_H

#include <stdio.h>

#include "base/map.h"
#include "remote/remote.h"
#include "report/ledger.h"
#include "view.h"

/* The records of one report while it is fetched. */
typedef struct ft_pages {
    struct ft_emit *emit;
    ft_view view;
    const char *file;
    size_t findings;       /* numbered so far */
    ft_intern prints;      /* their fingerprints */
    FT_VEC(size_t) firsts; /* of each of them, the number of its first finding */
    FILE *lists[3]; /* "findings", "undecided", "safe": records as JSON; NULL: none, or not kept */
} ft_pages;

/* Zero-initialise; ft_emit_open, then ft_emit_job for each report, then ft_emit_end. */
typedef struct ft_emit {
    const ft_options *options;
    ft_view view;
    ft_ledger *ledger;
    ft_report_format format;
    bool several;          /* several files were asked about */
    ft_intern prints;      /* fingerprints told so far, of all files */
    ft_intern notes;       /* texts of notes printed so far, of all files */
    FT_VEC(char *) told;   /* of each: "[2] of run.1.ftb" */
    json_t *reports;       /* all of them; without witnesses where the format needs none */
    FT_VEC(ft_pages) kept; /* format JSON: of each report what `reports` lacks */
} ft_emit;

/* Reads baselines, suppressions and the job of --new-since. On failure *file is the file at fault,
 * or NULL. */
ft_status ft_emit_open(ft_emit *emit, const ft_options *options, ft_remote *remote, bool several,
                       const char **file, ft_error *err) FT_MUST_CHECK;
/* Fetches the report of a job that has ended, and prints it at once where the format is text.
 * `shown` names the trace; *code is its exit code. `number` is the file's, from 1. */
ft_status ft_emit_job(ft_emit *emit, ft_remote *remote, const char *job, const char *shown,
                      size_t number, ft_exit *code, ft_error *err) FT_MUST_CHECK;
/* Prints what is printed of all of them together, and writes --report, --write-baseline. */
ft_status ft_emit_end(ft_emit *emit, ft_error *err) FT_MUST_CHECK;
void ft_emit_release(ft_emit *emit);

/* pages.c: a report, page by page. ft_pages_see is an ft_job_page with a ft_pages for context. */
ft_status ft_pages_see(void *pages, json_t *page, ft_error *err);
void ft_pages_release(ft_pages *pages);
/* One JSON value: the report with its kept records, one a line; no newline at the end. */
void ft_pages_print(const ft_pages *pages, const json_t *report, FILE *out);

#endif
