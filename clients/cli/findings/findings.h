/* Reports: compared with the known findings, printed, written into files.
 *
 * A report is fetched page by page (pages.c). Each finding is compared with baselines, suppressions
 * and reviews (report/ledger.h), which decide whether it counts for the exit code. Text is printed
 * at once; other formats need the whole report, or all reports of the command, and are written at
 * the end (emit.c). The formats themselves are those of report/report.h.
 *
 * Imports: remote, files, programs, terminal, common/base, common/report,
 * common/verdict. */
#ifndef FT_CLI_FINDINGS_H
#define FT_CLI_FINDINGS_H

#include <jansson.h>
#include <stdio.h>

#include "base/map.h"
#include "remote/remote.h"
#include "report/ledger.h"
#include "report/report.h"

/* ---- view.c: what the options and the terminal want of a report */

/* Fills the view from the options; width and colour are those of standard output (NO_COLOR, TERM
 * and the window's size are respected). */
void ft_view_init(const ft_options *options, ft_view *view);
/* 0, 1 or 3 (docs/exit-codes.md): of reports whose jobs ended or were stopped. */
ft_exit ft_view_exit(const ft_report *report);

/* ---- emit.c: the reports of a command */

/* The records of one report while it is fetched. */
typedef struct ft_pages {
    struct ft_emit *emit;
    ft_view view;
    const char *file;
    size_t findings;       /* number of findings so far */
    size_t asked;          /* of them, those that a program was asked about */
    ft_intern prints;      /* their fingerprints */
    FT_VEC(size_t) firsts; /* of each of them, the number of its first finding */
    FILE *lists[3];        /* "findings", "undecided", "safe": records as JSON; NULL: none kept */
} ft_pages;

/* Zero-initialise; ft_emit_open, then ft_emit_job for each report, then ft_emit_end. */
typedef struct ft_emit {
    const ft_options *options;
    ft_view view;
    ft_ledger *ledger;
    ft_report_format format;
    bool several;          /* the command has several files */
    ft_intern prints;      /* fingerprints printed so far, of all files */
    ft_intern notes;       /* texts of notes printed so far, of all files */
    FT_VEC(char *) told;   /* of each: where it was printed, "[2] of run.1.ftb" */
    json_t *reports;       /* all of them; without witnesses if the format has none */
    FT_VEC(ft_pages) kept; /* format JSON: the records that `reports` lacks, by report */
} ft_emit;

/* Reads baselines, suppressions and the job of --new-since. On failure *file is the file at fault,
 * or NULL. */
ft_status ft_emit_open(ft_emit *emit, const ft_options *options, ft_remote *remote, bool several,
                       const char **file, ft_error *err) FT_MUST_CHECK;
/* Fetches the report of a job that has ended, and prints it at once if the format is text. `shown`
 * names the trace, `number` (from 1) is the file's; *code is the exit code of this report alone. */
ft_status ft_emit_job(ft_emit *emit, ft_remote *remote, const char *job, const char *shown,
                      size_t number, ft_exit *code, ft_error *err) FT_MUST_CHECK;
/* Prints the document or summary of all reports together, and writes --report, --write-baseline. */
ft_status ft_emit_end(ft_emit *emit, ft_error *err) FT_MUST_CHECK;
/* In place of the two: a report that no job has. Text is not printed: whoever has the answer has
 * printed it. */
ft_status ft_emit_made(ft_emit *emit, json_t *report, const char *shown, ft_exit *code,
                       ft_error *err) FT_MUST_CHECK;
void ft_emit_release(ft_emit *emit);

/* Does the command want a report of an answer that it has printed already? (--format, --report and
 * what makes findings known). */
bool ft_emit_is_text(const ft_options *options); /* no --format but text */
bool ft_emit_is_wanted(const ft_options *options);
/* Opens, makes and ends a report of an answer that no server has; *code is its exit code. *file: as
 * of ft_emit_open. */
ft_status ft_emit_answer(const ft_options *options, json_t *report, const char *shown,
                         ft_exit *code, const char **file, ft_error *err) FT_MUST_CHECK;

/* ---- ask_program.c: findings of a run, asked of all runs (--program) */

/* Data races and deadlocks with a source place for each thread: can the threads be there together
 * (docs/contexts.md)? The answer becomes the record's "context", and `never` is added to its
 * message; the finding stays one. *asked counts them over all pages of a report, some dozens at
 * most. Without the option nothing is done. */
ft_status ft_findings_ask(const ft_options *options, const json_t *findings, size_t *asked,
                          ft_error *err) FT_MUST_CHECK;

/* ---- pages.c: a report, page by page */

/* An ft_job_page whose context is an ft_pages. */
ft_status ft_pages_see(void *pages, json_t *page, ft_error *err);
void ft_pages_release(ft_pages *pages);
/* One JSON value: the report with its kept records, one a line; no newline at the end. */
void ft_pages_print(const ft_pages *pages, const json_t *report, FILE *out);

#endif
