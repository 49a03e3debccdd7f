/* Findings from run to run, and reports in every format: views of what is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "base/map.h"
#include "report/report.h"

enum { REASON_MOST = 2000 };

static const char *const STATES[] = {"open", "confirmed", "false", "fixed"};

static bool is_state(const char *text)
{
    for (size_t i = 0; text && i < sizeof STATES / sizeof *STATES; i++)
        if (strcmp(STATES[i], text) == 0) return true;
    return false;
}

/* ---- /v1/reviews ----------------------------------------------------------------------------- */

static void on_reviews(void *data, const ft_error *err, json_t *page)
{
    ft_http_request *request;
    if (ft_call_end_list(data, err, page, &request)) ft_reply_tagged(request, page);
}

void ft_serve_reviews(ft_api *api, ft_http_request *request)
{
    ft_store_page page;
    char project[FT_PROJECT_LENGTH + 1];
    const char *state = ft_http_query(request, "state");
    if (!ft_query_page(request, &page) ||
        !ft_access_project(request, ft_http_query(request, "project"), project))
        return;
    if (state && !is_state(state))
        ft_http_fail(request, 400, "malformed-query",
                     "\"state\" must be open, confirmed, false or fixed");
    else
        ft_store_reviews(api->app->store, project, state, page, on_reviews,
                         ft_call_new(api, request));
}

static void on_review(void *data, const ft_error *err, json_t *review)
{
    ft_http_request *request;
    if (ft_call_end(data, err, &request)) ft_reply_tagged(request, review);
}

void ft_serve_review(ft_api *api, ft_http_request *request)
{
    char project[FT_PROJECT_LENGTH + 1];
    if (ft_access_project(request, ft_http_query(request, "project"), project))
        ft_store_review(api->app->store, project, ft_http_param(request, 0), on_review,
                        ft_call_new(api, request));
}

static bool refuse(ft_http_request *request, const char *pointer, const char *detail)
{
    ft_http_reply_problem(request,
                          &(ft_http_problem){422, "invalid-review", detail, pointer, NULL});
    return false;
}

static bool is_good(ft_http_request *request, const json_t *body)
{
    const char *name;
    json_t *value, *reason = json_object_get(body, "reason");
    if (!json_is_object(body)) return refuse(request, "", "a review must be an object");
    json_object_foreach((json_t *)(uintptr_t)body, name, value)
    {
        if (strcmp(name, "state") != 0 && strcmp(name, "reason") != 0)
            return refuse(request, "", "a review has no members but state and reason");
    }
    if (!is_state(json_string_value(json_object_get(body, "state"))))
        return refuse(request, "/state", "the state must be open, confirmed, false or fixed");
    if (reason && (!json_is_string(reason) || json_string_length(reason) > REASON_MOST))
        return refuse(request, "/reason", "the reason must be a text of at most 2000 bytes");
    return true;
}

void ft_serve_review_set(ft_api *api, ft_http_request *request, const json_t *body)
{
    char project[FT_PROJECT_LENGTH + 1];
    const char *reason = json_string_value(json_object_get(body, "reason"));
    if (!is_good(request, body) ||
        !ft_access_project(request, ft_http_query(request, "project"), project))
        return;
    ft_store_review_set(api->app->store, project, ft_http_param(request, 0),
                        json_string_value(json_object_get(body, "state")), reason ? reason : "",
                        on_review, ft_call_new(api, request));
}

/* Reviews change without their jobs. */
static uint64_t hash_review(const json_t *review, uint64_t hash)
{
    static const char *const MEMBERS[] = {"state", "reason", "last_job"};
    for (size_t k = 0; review && k < sizeof MEMBERS / sizeof *MEMBERS; k++) {
        const char *text = ft_json_text(review, MEMBERS[k], "");
        hash = ft_hash_bytes(text, strlen(text), hash);
    }
    return hash;
}

void ft_report_tag(const json_t *report, char tag[FT_REPORT_TAG])
{
    uint64_t hash = 0;
    size_t i;
    json_t *each;
    json_array_foreach(json_object_get(report, "findings"), i, each) hash =
        hash_review(json_object_get(each, "review"), hash);
    json_array_foreach(json_object_get(report, "reviews"), i, each) hash = hash_review(each, hash);
    snprintf(tag, FT_REPORT_TAG, "%zu-%llx", ft_json_count(report, "revision"),
             (unsigned long long)hash);
}

/* ---- /v1/jobs/{job}/report ------------------------------------------------------------------- */

/* Rendering a large job takes long: it is done beside the loop. */
typedef struct viewing {
    uv_work_t work;
    ft_api *api;
    ft_http_request *request;
    ft_report_format format;
    json_t *report;
    ft_strbuf text;
} viewing;

/* A page of findings shows names that strangers chose: the browser is to run nothing of it. */
static void set_headers(ft_http_request *request, const json_t *report, ft_report_format format)
{
    if (format == FT_REPORT_HTML)
        ft_http_set(request, "Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    ft_http_set(request, "Content-Disposition", "inline; filename=\"%s.%s\"",
                ft_json_text(report, "job", "report"), ft_report_format_ending(format));
}

/* Says in the report that it has only the first findings. */
static void note_cut(json_t *report)
{
    if (!json_is_string(json_object_get(report, "next"))) return;
    json_array_append_new(
        json_object_get(report, "notes"),
        json_pack(
            "{s:s, s:n, s:s}", "code", "report-cut", "event", "text",
            "this report is truncated: it has the job's first findings and the counts of all of "
            "them; GET /v1/jobs/{job}/findings lists the others page by page"));
}

static void viewing_end(viewing *v)
{
    ft_turn_end(v->api);
    ft_strbuf_release(&v->text);
    json_decref(v->report);
    free(v);
}

static void render(uv_work_t *work)
{
    viewing *v = work->data;
    const ft_view view = {.columns = FT_VIEW_COLUMNS};
    note_cut(v->report);
    json_object_del(v->report, "revision");
    json_object_del(v->report, "next");
    ft_report *model = ft_report_new(v->report, ft_json_text(v->report, "trace", "a trace"));
    ft_report_render(model, v->format, &view, &v->text);
    ft_report_free(model);
}

static void on_rendered(uv_work_t *work, int status)
{
    viewing *v = work->data;
    const char *media = ft_report_format_media(v->format);
    bool is_text = strncmp(media, "text/", 5) == 0;
    ft_strbuf type = {0};
    ft_strbuf_printf(&type, "%s%s", media, is_text ? "; charset=utf-8" : "");
    set_headers(v->request, v->report, v->format);
    if (status == 0)
        ft_http_reply(v->request, 200, type.text, ft_strbuf_text(&v->text), v->text.len);
    else
        ft_http_fail(v->request, 503, "stopping", "the server is stopping");
    ft_strbuf_release(&type);
    viewing_end(v);
}

static void on_view(void *data, const ft_error *err, json_t *report)
{
    viewing *v = data;
    char tag[FT_REPORT_TAG], etag[FT_REPORT_TAG + 16];
    ft_note_damage(v->api, report);
    if (err) {
        ft_http_fail_error(v->request, err);
        viewing_end(v);
        return;
    }
    ft_report_tag(report, tag);
    snprintf(etag, sizeof etag, "%s-%s", ft_report_format_name(v->format), tag);
    ft_http_set(v->request, "Cache-Control", "no-cache");
    ft_http_vary(v->request, "Accept");
    if (ft_reply_not_modified(v->request, etag)) {
        viewing_end(v);
        return;
    }
    v->report = json_incref(report);
    v->work.data = v;
    uv_queue_work(v->api->app->loop, &v->work, render, on_rendered);
}

static void begin_view(void *data)
{
    viewing *v = data;
    ft_store_report(v->api->app->store, ft_http_param(v->request, 0), (ft_store_filter){0},
                    (ft_store_page){NULL, 0, NULL}, on_view, v);
}

void ft_serve_view(ft_api *api, ft_http_request *request)
{
    const char *name = ft_http_query(request, "format"),
               *accept = ft_http_header(request, "accept");
    ft_report_format format = FT_REPORT_JSON;
    if (name && !ft_report_format_parse(name, &format)) {
        ft_http_fail(request, 400, "malformed-query",
                     "\"format\" must be text, json, sarif, junit, gitlab, github, html or "
                     "markdown");
        return;
    }
    if (!name && !ft_report_format_accept(accept, FT_REPORT_JSON, &format)) {
        ft_http_fail(request, 406, "not-acceptable",
                     "the report is available as text/plain, application/json, "
                     "application/sarif+json, application/xml (JUnit), text/html and "
                     "text/markdown");
        return;
    }
    viewing *v = ft_calloc(1, sizeof *v);
    *v = (viewing){.api = api, .request = request, .format = format};
    ft_turn_take(api, request, begin_view, v);
}
