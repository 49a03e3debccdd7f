/* A server and its jobs: uploads, waiting, reports.
 *
 * A command talks to the server that the user names, or to a private one that it starts, over a
 * Unix socket in a temporary folder, and stops afterwards (private_daemon.h). Requests are HTTP
 * (client.h). A job is started over an uploaded trace, waited for, and its report is fetched page
 * by page, because the report of a long trace may not fit into memory.
 *
 * Imports: options, terminal, files, common/base, common/report, common/trace,
 * common/wire. */
#ifndef FT_CLI_REMOTE_H
#define FT_CLI_REMOTE_H

#include <jansson.h>

#include "client.h"
#include "options/options.h"
#include "private_daemon.h"
#include "terminal/terminal.h"
#include "trace/trace.h"

typedef struct ft_remote {
    ft_client *client;
    ft_private_daemon *daemon; /* a private one, or NULL */
} ft_remote;

/* Connects to options->server. Without one: starts a private daemon if `may_start`, else connects
 * to the server in the job's URL that is the first argument, else FT_USAGE. From here on signals
 * are noted (terminal.h). */
ft_status ft_remote_open(const ft_options *options, bool may_start, ft_remote *remote,
                         ft_error *err) FT_MUST_CHECK;
void ft_remote_close(ft_remote *remote);

/* Uploads a file as it is, into the project of spec, and waits until the server has read it;
 * *trace is the trace's name (heap). `shown` is the file's name in progress lines. */
ft_status ft_job_upload(ft_remote *remote, const json_t *spec, const char *path, const char *shown,
                        ft_progress *progress, char **trace, ft_error *err) FT_MUST_CHECK;

/* JOB of docs/records.md but for its trace, from the options; new reference. On failure *file is
 * the property file at fault, or NULL. */
ft_status ft_job_spec(const ft_options *options, json_t **spec, const char **file,
                      ft_error *err) FT_MUST_CHECK;

/* A job whose spec has a member "program" (of any value) is over a program: that is uploaded, and
 * named there. Starts a job over `trace`, which is the file at `path`: a job without a name is
 * named after it. *job is its id (heap). */
ft_status ft_job_start(ft_remote *remote, const json_t *spec, const char *trace, const char *path,
                       char **job, ft_error *err) FT_MUST_CHECK;

/* After an interruption: cancels the job and reports that; a further interruption ends the attempt.
 */
void ft_job_cancel(ft_remote *remote, const char *job);

/* Waits until the job has ended. FT_OK also when it was cancelled; the job's own error when it
 * failed. */
ft_status ft_job_wait(ft_remote *remote, const char *job, const char *shown, ft_progress *progress,
                      ft_error *err) FT_MUST_CHECK;

/* Gets each page of a report as it arrives. It may remove from the findings what is not needed any
 * more, so that a long report is never held whole. */
typedef ft_status (*ft_job_page)(void *context, json_t *page, ft_error *err);

/* The report, all pages joined; new reference. see_page may be NULL. */
ft_status ft_job_report(ft_remote *remote, const char *job, bool safe, ft_job_page see_page,
                        void *context, json_t **report, ft_error *err) FT_MUST_CHECK;

/* Reads the trace of a witness: the file at `path`, whose content must be the one that the witness
 * names, or, if that is NULL, the trace that the server stores. */
ft_status ft_job_trace(const ft_options *options, const json_t *witness, const char *path,
                       ft_trace **trace, ft_error *err) FT_MUST_CHECK;

/* The id in a word of the user: the id itself or a URL that ends in it. */
const char *ft_job_id(const char *text);
/* "/v1/jobs/ID/findings" and the like; heap. The id is percent-encoded. */
char *ft_job_path(const char *collection, const char *id, const char *rest);

#endif
