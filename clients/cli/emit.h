/* What becomes of reports: compared with what is known, printed, written into files. */
#ifndef FT_CLI_EMIT_H
#define FT_CLI_EMIT_H

#include "job.h"
#include "report/ledger.h"
#include "view.h"

/* Zero-initialise; ft_emit_open, then ft_emit_add for each report, then ft_emit_end. */
typedef struct ft_emit {
    const ft_options *options;
    ft_view view;
    ft_ledger *ledger;
    ft_report_format format;
    bool several;    /* several files were asked about */
    json_t *reports; /* all of them */
} ft_emit;

/* Reads baselines, suppressions and the job of --new-since. On failure *file is the file at fault,
 * or NULL. */
ft_status ft_emit_open(ft_emit *emit, const ft_options *options, ft_session *session, bool several,
                       const char **file, ft_error *err) FT_MUST_CHECK;
/* Takes one report; prints it at once where the format is text. *code is its exit code. `number` is
 * the file's, from 1. */
ft_status ft_emit_add(ft_emit *emit, json_t *report, const char *shown, size_t number,
                      ft_exit *code, ft_error *err) FT_MUST_CHECK;
/* Prints what is printed of all of them together, and writes --report, --write-baseline. */
ft_status ft_emit_end(ft_emit *emit, ft_error *err) FT_MUST_CHECK;
void ft_emit_release(ft_emit *emit);

#endif
