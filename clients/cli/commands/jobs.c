#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "files/files.h"
#include "findings/findings.h"
#include "remote/remote.h"
#include "terminal/terminal.h"

static void dump(const json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(1));
    fputs("\n", stdout);
}

/* ---- submit --------------------------------------------------------------------------------- */

static void print_job(const ft_options *options, const ft_remote *remote, const char *job)
{
    const char *base = ft_client_base(remote->client);
    bool socket = options->server && strncmp(options->server, "unix:", 5) == 0;
    if (options->json)
        printf("{\"job\": \"%s\", \"location\": \"/v1/jobs/%s\"}\n", job, job);
    else if (socket)
        printf("%s\n", job);
    else
        printf("%s/v1/jobs/%s\n", base, job);
}

ft_exit ft_run_submit(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    json_t *spec = NULL;
    char *trace = NULL, *job = NULL;
    const char *file = NULL, *path = options->arguments.data[0];
    ft_progress progress;
    ft_progress_init(&progress, options->quiet || !isatty(STDERR_FILENO));
    ft_status status = ft_job_spec(options, &spec, &file, &err);
    if (!status) status = ft_remote_open(options, false, &remote, &err);
    if (!status) {
        status = ft_job_upload(&remote, spec, path, path, &progress, &trace, &err);
        ft_progress_release(&progress);
        file = status ? path : NULL;
    }
    if (!status) status = ft_job_start(&remote, spec, trace, path, &job, &err);
    if (!status) print_job(options, &remote, job);
    ft_exit code = status ? ft_fail(file, &err) : FT_EXIT_CLEAN;
    free(trace);
    free(job);
    json_decref(spec);
    ft_remote_close(&remote);
    return code;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static ft_status all_jobs(ft_remote *remote, json_t *jobs, ft_error *err)
{
    ft_strbuf path = {0};
    ft_strbuf_puts(&path, "/v1/jobs");
    ft_status status = FT_OK;
    for (bool more = true; more && !status;) {
        json_t *page = NULL;
        status = ft_client_get(remote->client, path.text, &page, err);
        const char *next = status ? NULL : ft_json_text(page, "next", NULL);
        json_t *list = json_object_get(page, "jobs");
        if (list) json_array_extend(jobs, list);
        more = next != NULL;
        ft_strbuf_clear(&path);
        if (more) ft_strbuf_printf(&path, "/v1/jobs?after=%s", next);
        json_decref(page);
    }
    ft_strbuf_release(&path);
    return status;
}

static void print_jobs(const json_t *jobs)
{
    size_t index;
    json_t *job;
    ft_strbuf out = {0};
    json_array_foreach(jobs, index, job)
    {
        const char *name = ft_json_text(job, "name", NULL);
        ft_strbuf_printf(&out, "%-16s  %-9s  %-24s  %-8s  %.12s", ft_json_text(job, "job", "?"),
                         ft_json_text(job, "state", "?"), ft_json_text(job, "created", "?"),
                         ft_json_text(job, "model", "-"), ft_json_text(job, "trace", "?"));
        if (name) ft_strbuf_puts(&out, "  ");
        if (name) ft_view_safe_text(name, &out);
        ft_strbuf_puts(&out, "\n");
    }
    fputs(ft_strbuf_text(&out), stdout);
    ft_strbuf_release(&out);
}

ft_exit ft_run_jobs(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    json_t *jobs = json_array();
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (!status) status = all_jobs(&remote, jobs, &err);
    if (!status && options->json) {
        json_t *out = json_pack("{s:O}", "jobs", jobs);
        dump(out);
        json_decref(out);
    } else if (!status) {
        print_jobs(jobs);
    }
    json_decref(jobs);
    ft_remote_close(&remote);
    return status ? ft_fail(NULL, &err) : FT_EXIT_CLEAN;
}

/* ---- show ----------------------------------------------------------------------------------- */

/* The job's own error, where it failed; its trace as what stands in for a file name. */
static ft_status look(ft_remote *remote, const char *job, char **shown, ft_error *err)
{
    json_t *snapshot = NULL;
    char *path = ft_job_path("jobs", job, "");
    ft_status status = ft_client_get(remote->client, path, &snapshot, err);
    free(path);
    if (status) return status;
    ft_strbuf text = {0};
    const char *name = ft_json_text(snapshot, "name", NULL);
    const json_t *error = json_object_get(snapshot, "error");
    if (name)
        ft_strbuf_puts(&text, name);
    else
        ft_strbuf_printf(&text, "trace %.12s", ft_json_text(snapshot, "trace", "?"));
    if (strcmp(ft_json_text(snapshot, "state", ""), "failed") == 0)
        status = ft_error_set(err, ft_status_from_name(ft_json_text(error, "code", "internal")),
                              "%s", ft_json_text(error, "message", "the job failed"));
    *shown = ft_strbuf_take(&text);
    json_decref(snapshot);
    return status;
}

static ft_status show_report(ft_remote *remote, ft_emit *emit, const char *job, ft_exit *code,
                             ft_error *err)
{
    char *shown = NULL;
    ft_status status = look(remote, job, &shown, err);
    if (!status) status = ft_emit_job(emit, remote, job, shown, 1, code, err);
    if (!status) status = ft_emit_end(emit, err);
    free(shown);
    return status;
}

static ft_status show(ft_remote *remote, const ft_options *options, const char **file,
                      ft_exit *code, ft_error *err)
{
    const char *job = ft_job_id(options->arguments.data[0]);
    ft_emit emit = {0};
    ft_progress progress;
    ft_progress_init(&progress, options->quiet);
    ft_status status = ft_emit_open(&emit, options, remote, false, file, err);
    if (!status && options->wait) status = ft_job_wait(remote, job, job, &progress, err);
    ft_progress_release(&progress);
    if (!status) {
        *file = options->arguments.data[0];
        status = show_report(remote, &emit, job, code, err);
    }
    ft_emit_release(&emit);
    return status;
}

ft_exit ft_run_show(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    ft_exit code = FT_EXIT_CLEAN;
    const char *file = NULL;
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (!status) status = show(&remote, options, &file, &code, &err);
    ft_remote_close(&remote);
    return status ? ft_fail(file, &err) : code;
}

/* ---- cancel, witness ------------------------------------------------------------------------ */

/* Prints the state in which the job has ended, which may have been before. */
static ft_status cancel(ft_remote *remote, const char *job, ft_error *err)
{
    char *path = ft_job_path("jobs", job, "");
    json_t *snapshot = NULL;
    ft_request request = {.method = "DELETE", .path = path};
    ft_reply reply = {0};
    ft_status status = ft_client_send(remote->client, &request, &reply, err);
    if (!status) status = ft_client_get(remote->client, path, &snapshot, err);
    if (!status) printf("%s\n", ft_json_text(snapshot, "state", "?"));
    json_decref(snapshot);
    ft_reply_release(&reply);
    free(path);
    return status;
}

ft_exit ft_run_cancel(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    const char *job = options->arguments.data[0];
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (!status) status = cancel(&remote, ft_job_id(job), &err);
    ft_remote_close(&remote);
    return status ? ft_fail(job, &err) : FT_EXIT_CLEAN;
}

ft_exit ft_run_witness(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    json_t *witness = NULL;
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (!status) {
        const char *finding = ft_job_id(options->arguments.data[0]);
        char *path = ft_job_path("findings", finding, "/witness");
        status = ft_client_get(remote.client, path, &witness, &err);
        free(path);
    }
    if (!status) status = ft_output_json(witness, options->output ? options->output : "-", &err);
    json_decref(witness);
    ft_remote_close(&remote);
    return status ? ft_fail(NULL, &err) : FT_EXIT_CLEAN;
}
