#include "base/contract.h"
#include "remote.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/files.h"
#include "report/report.h"
#include "terminal/terminal.h"
#include "wire/wire.h"

enum { WAIT_SECONDS = 2, LOOK_SECONDS = 1, PAGE_LIMIT = 500 };

/* ---- the server ------------------------------------------------------------------------------ */

/* The server in the URL of a job, as `submit` prints it; heap, NULL: the argument is none. */
static char *named(const ft_options *options)
{
    const char *text = options->arguments.len > 0 ? options->arguments.data[0] : "";
    const char *path = strstr(text, "/v1/jobs/");
    if (!path || strncmp(text, "http", 4) != 0) return NULL;
    return ft_strndup(text, (size_t)(path - text));
}

ft_status ft_remote_open(const ft_options *options, bool may_start, ft_remote *remote,
                         ft_error *err)
{
    *remote = (ft_remote){0};
    char *server = options->server ? ft_strdup(options->server) : may_start ? NULL : named(options);
    if (!server && !may_start)
        return ft_error_set(
            err, FT_USAGE,
            "no server is named: give --server http://HOST:PORT or set FORETELL_SERVER");
    FT_REQUIRE(!remote->client && !remote->daemon);
    ft_signals_catch();
    ft_status status = FT_OK;
    if (!server) status = ft_private_daemon_start(options->workers, &remote->daemon, err);
    const char *own = remote->daemon ? ft_private_daemon_server(remote->daemon) : server;
    if (!status) status = ft_client_open(own, &remote->client, err);
    if (status) ft_remote_close(remote);
    free(server);
    return status;
}

void ft_remote_close(ft_remote *remote)
{
    ft_client_close(remote->client);
    ft_private_daemon_stop(remote->daemon);
    *remote = (ft_remote){0};
}

const char *ft_job_id(const char *text)
{
    const char *slash = strrchr(text, '/');
    return slash ? slash + 1 : text;
}

char *ft_job_path(const char *collection, const char *id, const char *rest)
{
    ft_strbuf path = {0};
    FT_REQUIRE(collection[0] != '/' && id);
    char *escaped = curl_easy_escape(NULL, id, 0);
    ft_strbuf_printf(&path, "/v1/%s/%s%s", collection, escaped ? escaped : "", rest);
    curl_free(escaped);
    return ft_strbuf_take(&path);
}

/* ---- starting ------------------------------------------------------------------------------- */

static ft_status take_name(const ft_reply *reply, const char *member, char **name, ft_error *err)
{
    const char *text = ft_json_text(reply->json, member, NULL);
    if (!text && reply->location) text = ft_job_id(reply->location);
    if (!text || !*text)
        return ft_error_set(err, FT_IO, "the server's response does not name the %s", member);
    FT_REQUIRE(!*name); /* it would be lost */
    *name = ft_strdup(text);
    return FT_OK;
}

static bool is_over_program(const json_t *spec)
{
    return json_object_get(spec, "program") != NULL;
}

/* A trace belongs to the project of the job that is to be over it; a program likewise. */
static char *upload_path(const json_t *spec)
{
    const char *project = json_string_value(json_object_get(spec, "project"));
    char *escaped = project ? curl_easy_escape(NULL, project, 0) : NULL;
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "/v1/%s%s%s", is_over_program(spec) ? "programs" : "traces",
                     escaped ? "?project=" : "", escaped ? escaped : "");
    curl_free(escaped);
    return ft_strbuf_take(&path);
}

typedef struct sending {
    const char *shown;
    ft_progress *progress;
    uint64_t bytes;
    unsigned percent; /* said last */
} sending;

static void say_part(const sending *s, const char *state, unsigned percent)
{
    char details[64];
    snprintf(details, sizeof details, "%u%% of %" PRIu64 " MiB", percent, (s->bytes >> 20) + 1);
    ft_progress_say(s->progress, s->shown, state, details);
}

static void show_sent(void *context, uint64_t bytes)
{
    sending *s = context;
    unsigned percent = s->bytes ? (unsigned)(bytes * 100 / s->bytes) : 100;
    assert(percent <= 100 && percent >= s->percent);
    if (percent == s->percent) return;
    s->percent = percent;
    say_part(s, "uploading", percent);
}

static void show_reading(const json_t *upload, const char *shown, ft_progress *progress)
{
    sending s = {.shown = shown, .progress = progress, .bytes = ft_json_count(upload, "bytes")};
    uint64_t read = ft_json_count(upload, "read");
    say_part(&s, ft_json_text(upload, "state", "reading"),
             s.bytes ? (unsigned)(read * 100 / s.bytes) : 100);
}

/* The server takes its time with a large trace: asks until it has read it. *upload is an answer of
 * GET /v1/uploads/{upload}, replaced by the last one. */
static ft_status await_reading(ft_remote *remote, ft_reply *upload, const char *shown,
                               ft_progress *progress, ft_error *err)
{
    ft_status status = FT_OK;
    char *path = upload->location ? ft_strdup(upload->location) : NULL;
    while (!status && path && json_is_null(json_object_get(upload->json, "trace"))) {
        const json_t *error = json_object_get(upload->json, "error");
        if (json_is_object(error)) {
            ft_wire_error_from_json(error, err);
            status = err->code;
            break;
        }
        show_reading(upload->json, shown, progress);
        ft_request request = {.method = "GET", .path = path, .wait = LOOK_SECONDS};
        ft_reply_release(upload);
        status = ft_client_send(remote->client, &request, upload, err);
    }
    if (status == FT_NOT_FOUND) /* what is missing is not the user's file */
        status = err->code = FT_IO;
    free(path);
    return status;
}

ft_status ft_job_upload(ft_remote *remote, const json_t *spec, const char *path, const char *shown,
                        ft_progress *progress, char **trace, ft_error *err)
{
    ft_input input;
    ft_progress_say(progress, shown, "uploading", ""); /* standard input may let us wait */
    ft_status status = ft_input_open(path, &input, err);
    if (status) return status;
    char *url = upload_path(spec);
    sending s = {shown, progress, input.bytes, 0};
    ft_request request = {.method = "POST",
                          .path = url,
                          .file = input.file,
                          .file_bytes = input.bytes,
                          .encoding = input.encoding,
                          .wait = LOOK_SECONDS,
                          .sent = show_sent,
                          .context = &s};
    ft_reply reply = {0};
    status = ft_client_send(remote->client, &request, &reply, err);
    if (!status && reply.status == 202)
        status = await_reading(remote, &reply, shown, progress, err);
    if (!status) status = take_name(&reply, "trace", trace, err);
    ft_reply_release(&reply);
    free(url);
    ft_input_close(&input);
    return status;
}

static void set_text(json_t *spec, const char *member, const char *text)
{
    if (text) json_object_set_new(spec, member, json_string(text));
}

static json_t *check_names(const ft_options *options)
{
    json_t *checks = json_array();
    for (unsigned i = 0; i < FT_CHECKS; i++)
        if (options->checks[i]) json_array_append_new(checks, json_string(ft_check_name(i)));
    return checks;
}

static void set_budget(const ft_options *options, json_t *spec)
{
    if (!options->budget && !options->subproblem_budget && !options->memory) return;
    json_t *budget = json_object();
    if (options->budget)
        json_object_set_new(budget, "job_ms", json_integer((json_int_t)options->budget * 1000));
    if (options->subproblem_budget)
        json_object_set_new(budget, "subproblem_ms",
                            json_integer((json_int_t)options->subproblem_budget * 1000));
    if (options->memory)
        json_object_set_new(budget, "memory_mb", json_integer((json_int_t)options->memory));
    json_object_set_new(spec, "budget", budget);
}

static ft_status add_properties(const char *path, json_t *properties, ft_error *err)
{
    json_t *json = NULL;
    ft_status status = ft_input_json(path, &json, err);
    if (status) return status;
    if (json_is_array(json))
        json_array_extend(properties, json);
    else if (json_is_object(json))
        json_array_append(properties, json);
    else
        status = ft_error_set(err, FT_INPUT, "is neither a property nor an array of properties");
    json_decref(json);
    return status;
}

/* A number where it is one; anything else is for the server to refuse. */
static void set_number(json_t *spec, const char *member, const char *text)
{
    char *end = NULL;
    if (!text) return;
    long number = strtol(text, &end, 10);
    bool whole = end != text && *end == '\0' && *text != ' ' && *text != '+';
    json_object_set_new(spec, member, whole ? json_integer(number) : json_string(text));
}

ft_status ft_job_spec(const ft_options *options, json_t **spec, const char **file, ft_error *err)
{
    json_t *made = json_object(), *properties = json_array(), *ignored = json_array(),
           *without = json_array();
    *file = NULL;
    ft_status status = FT_OK;
    for (size_t i = 0; !status && i < options->properties.len; i++) {
        status = add_properties(options->properties.data[i], properties, err);
        if (status) *file = options->properties.data[i];
    }
    for (size_t i = 0; i < options->ignored.len; i++)
        json_array_append_new(ignored, json_string(options->ignored.data[i]));
    for (size_t i = 0; i < options->without.len; i++)
        json_array_append_new(without, json_string(options->without.data[i]));
    if (options->any_check || options->properties.len)
        json_object_set_new(made, "checks", check_names(options));
    set_text(made, "model", options->model);
    set_text(made, "per", options->per);
    set_text(made, "encoding", options->encoding);
    set_text(made, "solver", options->solver);
    set_text(made, "wakeups", options->wakeups);
    set_number(made, "context_bound", options->context_bound);
    set_number(made, "priority", options->priority);
    set_text(made, "name", options->name);
    set_text(made, "project", options->project);
    set_text(made, "webhook", options->webhook);
    set_budget(options, made);
    if (json_array_size(properties)) json_object_set(made, "properties", properties);
    if (json_array_size(ignored)) json_object_set(made, "ignore_locations", ignored);
    if (json_array_size(without)) json_object_set(made, "without", without);
    json_decref(properties);
    json_decref(ignored);
    json_decref(without);
    if (status)
        json_decref(made);
    else
        *spec = made;
    return status;
}

/* A job that was given no name gets the one of its file; standard input has none. */
static void name_after(json_t *body, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (json_object_get(body, "name") || strcmp(path, "-") == 0) return;
    set_text(body, "name", base);
}

ft_status ft_job_start(ft_remote *remote, const json_t *spec, const char *trace, const char *path,
                       char **job, ft_error *err)
{
    FT_REQUIRE(*trace && !json_object_get(spec, "trace"));
    json_t *body = json_copy((json_t *)(uintptr_t)spec);
    json_object_set_new(body, is_over_program(spec) ? "program" : "trace", json_string(trace));
    name_after(body, path);
    ft_request request = {.method = "POST", .path = "/v1/jobs", .json = body, .patient = true};
    ft_reply reply = {0};
    ft_status status = ft_client_send(remote->client, &request, &reply, err);
    if (!status) status = take_name(&reply, "job", job, err);
    ft_reply_release(&reply);
    json_decref(body);
    return status;
}

void ft_job_cancel(ft_remote *remote, const char *job)
{
    ft_error err = FT_ERROR_INIT;
    char *path = ft_job_path("jobs", job, "");
    ft_request request = {.method = "DELETE", .path = path};
    ft_reply reply = {0};
    ft_signals_set_aside();
    if (ft_client_send(remote->client, &request, &reply, &err) == FT_OK)
        fprintf(stderr, "foretell: job %s was cancelled\n", job);
    ft_signals_bring_back();
    ft_reply_release(&reply);
    free(path);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void show_progress(const json_t *snapshot, const char *shown, ft_progress *progress)
{
    const json_t *tasks = json_object_get(snapshot, "progress"), *counts;
    size_t all = ft_json_count(tasks, "tasks"), open = ft_json_count(tasks, "open"), found = 0;
    const char *name;
    json_object_foreach(json_object_get(snapshot, "checks"), name, counts) found +=
        ft_json_count(counts, "violation");
    ft_strbuf details = {0};
    const json_t *explored = json_object_get(snapshot, "explored"),
                 *subtrees = json_object_get(explored, "subtrees");
    if (explored)
        ft_strbuf_printf(&details, "%zu subtrees done, %zu open, %zu classes, %zu found",
                         ft_json_count(subtrees, "done"), ft_json_count(subtrees, "open"),
                         ft_json_count(explored, "classes"), found);
    else if (all)
        ft_strbuf_printf(&details, "%zu of %zu steps, %zu found", all > open ? all - open : 0, all,
                         found);
    ft_progress_say(progress, shown, ft_json_text(snapshot, "state", "?"),
                    ft_strbuf_text(&details));
    ft_strbuf_release(&details);
}

static ft_status job_error(const json_t *snapshot, ft_error *err)
{
    const json_t *error = json_object_get(snapshot, "error");
    ft_status code = ft_status_from_name(ft_json_text(error, "code", "internal"));
    return ft_error_at(err, code == FT_OK ? FT_INTERNAL : code, ft_json_count(error, "line"),
                       ft_json_count(error, "column"), "%s",
                       ft_json_text(error, "message", "the job failed without a reason"));
}

static bool is_final(const char *state)
{
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

/* One poll: *ended once the job has. The ETag keeps an unchanged job from being sent again. */
static ft_status poll_job(ft_remote *remote, const char *path, char **etag, const char *shown,
                          ft_progress *progress, bool *ended, ft_error *err)
{
    ft_request request = {.method = "GET", .path = path, .etag = *etag, .wait = WAIT_SECONDS};
    ft_reply reply = {0};
    ft_status status = ft_client_send(remote->client, &request, &reply, err);
    if (!status && reply.json) {
        const char *state = ft_json_text(reply.json, "state", "?");
        show_progress(reply.json, shown, progress);
        *ended = is_final(state);
        if (strcmp(state, "failed") == 0) status = job_error(reply.json, err);
        free(*etag);
        *etag = reply.etag;
        reply.etag = NULL;
    }
    ft_reply_release(&reply);
    return status;
}

ft_status ft_job_wait(ft_remote *remote, const char *job, const char *shown, ft_progress *progress,
                      ft_error *err)
{
    FT_REQUIRE(*job);
    char *path = ft_job_path("jobs", job, ""), *etag = NULL;
    bool ended = false;
    ft_status status = FT_OK;
    while (!status && !ended) status = poll_job(remote, path, &etag, shown, progress, &ended, err);
    free(path);
    free(etag);
    return status;
}

/* ---- reports -------------------------------------------------------------------------------- */

static void join_page(json_t *whole, const json_t *page)
{
    static const char *const lists[] = {"findings", "undecided", "safe"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        json_t *list = json_object_get(whole, lists[i]), *more = json_object_get(page, lists[i]);
        if (list && more) json_array_extend(list, more);
    }
}

static ft_status report_page(ft_remote *remote, const char *job, bool safe, const char *cursor,
                             json_t **page, ft_error *err)
{
    char *escaped = cursor ? curl_easy_escape(NULL, cursor, 0) : NULL;
    ft_strbuf rest = {0};
    ft_strbuf_printf(&rest, "/findings?limit=%d%s%s%s", PAGE_LIMIT, safe ? "&safe=1" : "",
                     escaped ? "&after=" : "", escaped ? escaped : "");
    char *path = ft_job_path("jobs", job, rest.text);
    ft_status status = ft_client_get(remote->client, path, page, err);
    curl_free(escaped);
    ft_strbuf_release(&rest);
    free(path);
    return status;
}

ft_status ft_job_report(ft_remote *remote, const char *job, bool safe, ft_job_page see_page,
                        void *context, json_t **report, ft_error *err)
{
    json_t *whole = NULL;
    ft_status status = report_page(remote, job, safe, NULL, &whole, err);
    if (!status && see_page) status = see_page(context, whole, err);
    char *cursor = NULL;
    const char *next = status ? NULL : ft_json_text(whole, "next", NULL);
    while (!status && next) {
        json_t *page = NULL;
        free(cursor);
        cursor = ft_strdup(next);
        status = report_page(remote, job, safe, cursor, &page, err);
        if (!status && see_page) status = see_page(context, page, err);
        if (!status) join_page(whole, page);
        json_object_set(whole, "next", json_object_get(page, "next"));
        next = status ? NULL : ft_json_text(whole, "next", NULL);
        json_decref(page);
    }
    free(cursor);
    if (status) {
        json_decref(whole);
        return status;
    }
    assert(whole && !next);
    json_object_del(whole, "next");
    json_object_del(whole, "revision");
    *report = whole;
    return FT_OK;
}
