#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "commands.h"
#include "findings/findings.h"
#include "remote/remote.h"
#include "terminal/terminal.h"

typedef struct checked {
    const char *path;
    char *job;    /* NULL: it did not come to a job */
    bool ended;   /* the job has */
    ft_exit code; /* of this file alone */
} checked;

static ft_exit fail(const char *path, const ft_error *err, ft_progress *progress)
{
    ft_progress_end(progress);
    return ft_fail(path, err);
}

static void start(ft_remote *remote, const json_t *spec, checked *file, ft_progress *progress)
{
    ft_error err = FT_ERROR_INIT;
    char *trace = NULL;
    ft_status status =
        ft_job_upload(remote, spec, file->path, ft_shown_path(file->path), progress, &trace, &err);
    if (!status) status = ft_job_start(remote, spec, trace, file->path, &file->job, &err);
    if (status) file->code = fail(file->path, &err, progress);
    free(trace);
}

static void finish(ft_remote *remote, ft_emit *emit, checked *file, size_t number,
                   ft_progress *progress)
{
    ft_error err = FT_ERROR_INIT;
    const char *name = ft_shown_path(file->path);
    FT_REQUIRE(file->job && !file->ended && number > 0);
    ft_status status = ft_job_wait(remote, file->job, name, progress, &err);
    ft_progress_end(progress);
    file->ended = status == FT_OK;
    if (!status) status = ft_emit_job(emit, remote, file->job, name, number, &file->code, &err);
    if (status) file->code = fail(file->path, &err, progress);
}

/* Jobs of all files run at once; their reports come in the order of the files. */
static ft_exit check_files(ft_remote *remote, ft_emit *emit, const json_t *spec, checked *files,
                           size_t count)
{
    ft_error err = FT_ERROR_INIT;
    ft_progress progress;
    ft_progress_init(&progress, emit->options->quiet);
    ft_exit worst = FT_EXIT_CLEAN;
    for (size_t i = 0; i < count && !ft_signals_caught(); i++)
        start(remote, spec, &files[i], &progress);
    for (size_t i = 0; i < count && !ft_signals_caught(); i++) {
        if (files[i].job) finish(remote, emit, &files[i], i + 1, &progress);
        worst = ft_exit_worse(worst, files[i].code);
    }
    ft_progress_release(&progress);
    if (!ft_signals_caught() && ft_emit_end(emit, &err)) {
        ft_print_error(NULL, &err);
        worst = ft_exit_worse(worst, ft_exit_of(&err));
    }
    return worst;
}

/* Nobody waits for them any more, and others do. A private daemon ends with this process. */
static void leave_jobs(ft_remote *remote, bool detach, const checked *files, size_t count)
{
    FT_REQUIRE(ft_signals_caught());
    if (remote->daemon) return;
    for (size_t i = 0; i < count; i++) {
        if (!files[i].job || files[i].ended) continue;
        if (detach)
            fprintf(stderr, "foretell: job %s continues; to wait for it: foretell show --wait %s\n",
                    files[i].job, files[i].job);
        else
            ft_job_cancel(remote, files[i].job);
    }
}

static checked *new_files(const ft_options *options)
{
    checked *files = ft_calloc(options->arguments.len, sizeof *files);
    for (size_t i = 0; i < options->arguments.len; i++) files[i].path = options->arguments.data[i];
    return files;
}

ft_exit ft_run_check(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    json_t *spec = NULL;
    const char *file = NULL;
    ft_remote remote = {0};
    ft_emit emit = {0};
    ft_exit worst = FT_EXIT_CLEAN;
    size_t count = options->arguments.len;
    ft_status status = ft_job_spec(options, &spec, &file, &err);
    if (!status) status = ft_remote_open(options, true, &remote, &err);
    if (!status) status = ft_emit_open(&emit, options, &remote, count > 1, &file, &err);
    if (status) {
        ft_print_error(file, &err);
        worst = ft_exit_of(&err);
    } else {
        checked *files = new_files(options);
        worst = check_files(&remote, &emit, spec, files, count);
        if (ft_signals_caught()) leave_jobs(&remote, options->detach, files, count);
        for (size_t i = 0; i < count; i++) free(files[i].job);
        free(files);
    }
    ft_emit_release(&emit);
    ft_remote_close(&remote);
    json_decref(spec);
    return worst;
}
