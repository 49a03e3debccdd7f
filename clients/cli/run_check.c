#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "signals.h"

typedef struct checked {
    const char *path;
    char *job;        /* NULL: it did not come to a job */
    ft_exit code;     /* of this file alone */
    ft_report report; /* --json: printed when all are there */
} checked;

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static ft_exit fail(const char *path, const ft_error *err, ft_progress *progress)
{
    ft_progress_end(progress);
    /* Trouble with the server is not about the file. */
    bool ours = ft_exit_of(err) == FT_EXIT_SERVER;
    ft_print_error(ours ? NULL : shown(path), err);
    return ft_exit_of(err);
}

static void start(ft_session *session, const json_t *spec, checked *file, ft_progress *progress)
{
    ft_error err = FT_ERROR_INIT;
    char *trace = NULL;
    ft_progress_say(progress, shown(file->path), "uploading", "");
    ft_status status = ft_job_upload(session, file->path, &trace, &err);
    if (!status) status = ft_job_start(session, spec, trace, &file->job, &err);
    if (status) file->code = fail(file->path, &err, progress);
    free(trace);
}

static void finish(ft_session *session, const ft_options *options, const ft_view *view,
                   checked *file, ft_progress *progress)
{
    ft_error err = FT_ERROR_INIT;
    ft_report *report = &file->report;
    ft_status status = ft_job_wait(session, file->job, view->file, progress, &err);
    ft_progress_end(progress);
    if (!status) status = ft_report_fetch(session, file->job, view, options->json, report, &err);
    if (status) {
        file->code = fail(file->path, &err, progress);
        return;
    }
    file->code = ft_view_exit(report->json);
    if (options->json) {
        json_object_set_new(report->json, "file", json_string(view->file));
    } else {
        ft_report_print_rest(view, report);
        ft_report_release(report);
    }
}

/* Of one file its report, of several {"reports": [...]}. */
static void print_json(checked *files, size_t count)
{
    const char *separator = "";
    if (count > 1) fputs("{\"reports\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        if (!files[i].report.json) continue;
        fputs(separator, stdout);
        ft_report_print_json(&files[i].report);
        separator = ",\n";
    }
    if (count > 1) fputs("]}", stdout);
    if (count > 1 || *separator) fputs("\n", stdout);
}

/* Jobs of all files run at once; their reports come in the order of the files. */
static ft_exit check_files(ft_session *session, const ft_options *options, const json_t *spec,
                           checked *files, size_t count)
{
    ft_progress progress;
    ft_progress_init(&progress, options->quiet);
    ft_exit worst = FT_EXIT_CLEAN;
    for (size_t i = 0; i < count && !ft_signals_caught(); i++)
        start(session, spec, &files[i], &progress);
    for (size_t i = 0; i < count && !ft_signals_caught(); i++) {
        ft_view view;
        ft_view_init(&view);
        view.file = shown(files[i].path);
        view.full = options->full;
        view.show_safe = options->show_safe;
        view.explain = options->explain;
        view.quiet = options->quiet;
        view.witness_dir = options->witness_dir;
        view.private_server = session->daemon != NULL;
        view.file_number = count > 1 ? i + 1 : 0;
        if (files[i].job) finish(session, options, &view, &files[i], &progress);
        worst = ft_exit_worse(worst, files[i].code);
    }
    ft_progress_release(&progress);
    if (options->json && !ft_signals_caught()) print_json(files, count);
    for (size_t i = 0; i < count; i++) ft_report_release(&files[i].report);
    return worst;
}

ft_exit ft_run_check(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    json_t *spec = NULL;
    const char *file = NULL;
    ft_session session = {0};
    ft_status status = ft_job_spec(options, &spec, &file, &err);
    if (!status) status = ft_session_open(options, true, &session, &err);
    if (status) {
        ft_print_error(file, &err);
        json_decref(spec);
        return ft_exit_of(&err);
    }
    size_t count = options->arguments.len;
    checked *files = ft_calloc(count, sizeof *files);
    for (size_t i = 0; i < count; i++) files[i].path = options->arguments.data[i];
    ft_exit worst = check_files(&session, options, spec, files, count);
    ft_session_close(&session);
    for (size_t i = 0; i < count; i++) free(files[i].job);
    free(files);
    json_decref(spec);
    return worst;
}
