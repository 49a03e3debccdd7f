/* A server that a command talks to, one of its own or one that is there: uploads, jobs, reports. */
#ifndef FT_CLI_JOB_H
#define FT_CLI_JOB_H

#include <jansson.h>

#include "client.h"
#include "findings/view.h"
#include "options/options.h"
#include "private_daemon.h"
#include "terminal/progress.h"
#include "trace/trace.h"

typedef struct ft_remote {
    ft_client *client;
    ft_private_daemon *daemon; /* private one, or NULL */
} ft_remote;

/* Connects to options->server. Without one: starts a private daemon if `may_start`, else connects
 * to the server in the job's URL that is the first argument, else FT_USAGE. Signals are caught from
 * here on. */
ft_status ft_remote_open(const ft_options *options, bool may_start, ft_remote *remote,
                         ft_error *err) FT_MUST_CHECK;
void ft_remote_close(ft_remote *remote);

/* Uploads a file as it is, into the project of spec, and waits until the server has read it;
 * *trace is the trace's name (heap). `shown` is what progress calls the file. */
ft_status ft_job_upload(ft_remote *remote, const json_t *spec, const char *path, const char *shown,
                        ft_progress *progress, char **trace, ft_error *err) FT_MUST_CHECK;

/* JOB of docs/records.md but for its trace, from the options; new reference. On failure *file is
 * the property file at fault, or NULL. */
ft_status ft_job_spec(const ft_options *options, json_t **spec, const char **file,
                      ft_error *err) FT_MUST_CHECK;

/* Starts a job over `trace`, which is the file at `path`: a job without a name is named after it.
 * *job is its id (heap). */
ft_status ft_job_start(ft_remote *remote, const json_t *spec, const char *trace, const char *path,
                       char **job, ft_error *err) FT_MUST_CHECK;

/* After an interruption: cancels the job, and says so; a further one ends the attempt. */
void ft_job_cancel(ft_remote *remote, const char *job);

/* Waits until the job has ended. FT_OK also when it was cancelled; the job's own error when it
 * failed. */
ft_status ft_job_wait(ft_remote *remote, const char *job, const char *shown, ft_progress *progress,
                      ft_error *err) FT_MUST_CHECK;

/* Sees each page of a report as it comes, and may take from its findings what is not needed any
 * more: long reports are never held whole. */
typedef ft_status (*ft_job_page)(void *context, json_t *page, ft_error *err);

/* The report, all pages joined; new reference. see_page may be NULL. */
ft_status ft_job_report(ft_remote *remote, const char *job, bool safe, ft_job_page see_page,
                        void *context, json_t **report, ft_error *err) FT_MUST_CHECK;

/* Writes the witness of the number-th finding (from 1) of `file` into view->witness_dir, if there
 * is one and the finding is listed. */
ft_status ft_job_write_witness(const ft_view *view, const char *file, const json_t *finding,
                               size_t number, ft_error *err) FT_MUST_CHECK;

/* The trace of a witness file: the one at `path`, which must be that one, or, where that is NULL,
 * the one that the server stores. */
ft_status ft_job_trace(const ft_options *options, const json_t *witness, const char *path,
                       ft_trace **trace, ft_error *err) FT_MUST_CHECK;

/* The id in what the user wrote: the id itself or a URL that ends in it. */
const char *ft_job_id(const char *text);
/* "/v1/jobs/ID/findings" and the like; heap. The id is percent-encoded. */
char *ft_job_path(const char *collection, const char *id, const char *rest);

#endif
