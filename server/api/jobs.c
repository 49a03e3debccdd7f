/* Jobs: starting, listing, looking, cancelling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/access.h"
#include "api/polls.h"
#include "api/spec.h"
#include "base/digest.h"
#include "setup/log.h"
#include "webhooks/webhooks.h"
#include "wire/kinds.h"

#define QUERY_LONGEST 200

/* ---- POST /v1/jobs --------------------------------------------------------------------------- */

typedef struct creation {
    ft_api *api;
    ft_http_request *request;
    char *key; /* Idempotency-Key or NULL */
    char body[FT_DIGEST_HEX + 1];
    json_t *spec; /* with its project */
} creation;

static void on_created(void *data, const ft_error *err, json_t *snapshot)
{
    creation *c = data;
    ft_http_request *request = c->request;
    free(c->key);
    json_decref(c->spec);
    free(c);
    if (err && err->code == FT_NOT_FOUND) {
        ft_http_reply_problem(
            request, &(ft_http_problem){422, "unknown-trace", err->message, "/trace", NULL});
    } else if (err && err->code == FT_USAGE) {
        ft_http_reply_problem(
            request, &(ft_http_problem){422, "webhook-refused", err->message, "/webhook", NULL});
    } else if (err && err->code == FT_CONFLICT) {
        ft_http_fail(request, 422, "idempotency-key-reused", "%s", err->message);
    } else if (err && err->code == FT_BUDGET) {
        ft_http_set(request, "Retry-After", "5");
        ft_http_fail(request, 429, "too-many-jobs", "%s", err->message);
    } else if (err) {
        ft_http_fail_error(request, err);
    } else {
        ft_log(FT_LOG_INFO, "job accepted", "request=%llu job=%s known=%s",
               (unsigned long long)ft_http_number(request),
               json_string_value(json_object_get(snapshot, "job")),
               json_is_true(json_object_get(snapshot, "known")) ? "yes" : "no");
        json_object_del(snapshot, "known");
        ft_reply_job(request, 202, json_incref(snapshot));
    }
}

static void create(creation *c)
{
    ft_store_key key = {c->key, c->body};
    ft_dispatch_job_create(c->api->app->dispatch, c->spec, c->key ? &key : NULL, on_created, c);
}

static void on_trace_visible(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    creation *c = data;
    if (err)
        on_created(c, err, NULL);
    else
        create(c);
}

static void hash_body(const json_t *body, char hash[FT_DIGEST_HEX + 1])
{
    ft_digest digest;
    char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
    ft_digest_init(&digest);
    ft_digest_update(&digest, text, strlen(text));
    ft_digest_hex(&digest, hash);
    free(text);
}

static bool is_good_key(ft_http_request *request, const char *key)
{
    size_t length = strlen(key);
    bool good = length > 0 && length <= 255;
    for (size_t i = 0; good && i < length; i++) good = key[i] > ' ' && key[i] < 127;
    if (!good)
        ft_http_fail(request, 400, "idempotency-key",
                     "an Idempotency-Key has 1 to 255 visible ASCII characters");
    return good;
}

static bool too_many(ft_api *api, ft_http_request *request)
{
    json_t *metrics = ft_dispatch_metrics(api->app->dispatch);
    json_int_t active = json_integer_value(json_object_get(metrics, "jobs_active"));
    json_decref(metrics);
    if (active < (json_int_t)api->app->config->max_jobs) return false;
    ft_http_set(request, "Retry-After", "5");
    ft_http_fail(request, 503, "too-many-jobs",
                 "%lld jobs have not ended, the most that max-jobs allows: try again later",
                 (long long)active);
    return true;
}

static bool is_good_spec(ft_http_request *request, const json_t *body)
{
    ft_strbuf pointer = {0};
    ft_error err = FT_ERROR_INIT;
    bool good = ft_spec_check(body, &pointer, &err) == FT_OK;
    if (!good)
        ft_http_reply_problem(request, &(ft_http_problem){422, "invalid-job", err.message,
                                                          ft_strbuf_text(&pointer), NULL});
    ft_strbuf_release(&pointer);
    return good;
}

static bool is_good_webhook(ft_api *api, ft_http_request *request, const json_t *body)
{
    ft_error err = FT_ERROR_INIT;
    const char *url = json_string_value(json_object_get(body, "webhook"));
    bool allowed = api->app->config->webhook_allow_private != 0;
    if (!url || ft_webhook_url_check(url, allowed, &err) == FT_OK) return true;
    ft_http_reply_problem(
        request, &(ft_http_problem){422, "webhook-refused", err.message, "/webhook", NULL});
    return false;
}

/* Programs are stored where traces are. A worker at one keeps to the budget by itself, so that what
 * it found counts. */
static void complete_spec(const ft_api *api, json_t *spec)
{
    const char *input = ft_job_kind_input(ft_job_kind_of(spec));
    if (strcmp(input, "trace") == 0) return;
    json_t *given = json_object_get(spec, "budget"),
           *budget = given ? json_copy(given) : json_object();
    json_object_set(spec, "trace", json_object_get(spec, input));
    if (!json_object_get(budget, "job_ms"))
        json_object_set_new(budget, "job_ms", json_integer((json_int_t)api->app->config->job_ms));
    json_object_set_new(spec, "budget", budget);
}

void ft_serve_job_create(ft_api *api, ft_http_request *request, const json_t *body)
{
    const char *key = ft_http_header(request, "idempotency-key");
    if (!is_good_spec(request, body) || !is_good_webhook(api, request, body)) return;
    if (key && !is_good_key(request, key)) return;
    if (too_many(api, request)) return;
    const char *wanted = json_string_value(json_object_get(body, "project"));
    char project[FT_PROJECT_LENGTH + 1];
    if (!ft_access_project(request, wanted, project)) return;
    creation *c = ft_calloc(1, sizeof *c);
    *c = (creation){.api = api, .request = request, .key = key ? ft_strdup(key) : NULL};
    hash_body(body, c->body);
    c->spec = json_copy((json_t *)(uintptr_t)body);
    json_object_set_new(c->spec, "project", json_string(project));
    complete_spec(api, c->spec);
    const char *projects = ft_access_projects(request);
    if (projects)
        ft_store_trace_visible(api->app->store,
                               json_string_value(json_object_get(c->spec, "trace")), projects,
                               on_trace_visible, c);
    else
        create(c);
}

/* ---- GET /v1/jobs ---------------------------------------------------------------------------- */

static void on_jobs(void *data, const ft_error *err, json_t *page)
{
    ft_http_request *request;
    size_t i;
    json_t *job;
    if (!ft_call_end_list(data, err, page, &request)) return;
    json_array_foreach(json_object_get(page, "jobs"), i, job) ft_job_view(job);
    ft_reply_tagged(request, page);
}

/* Digits: seconds since 1970. Else an RFC 3339 date or time in UTC. False: a 400 was answered. */
static bool query_since(ft_http_request *request, int64_t *since)
{
    const char *text = ft_http_query(request, "since");
    struct tm parts = {0};
    *since = 0;
    if (!text) return true;
    const char *end = strptime(text, "%Y-%m-%d", &parts);
    if (end && *end == 'T') end = strptime(end + 1, "%H:%M:%S", &parts);
    if (end && *end == '.') end += 1 + strspn(end + 1, "0123456789");
    if (end && strcmp(end, "Z") == 0) end++;
    bool digits = *text && strlen(text) <= 12 && strspn(text, "0123456789") == strlen(text);
    if (digits)
        *since = (int64_t)strtoll(text, NULL, 10) * 1000;
    else if (end && *end == '\0')
        *since = (int64_t)timegm(&parts) * 1000;
    else
        ft_http_fail(request, 400, "malformed-query",
                     "\"since\" must be a date, a time in UTC or seconds since 1970");
    return digits || (end && *end == '\0');
}

/* A name that is no UTF-8 cannot be in the store either. */
static bool query_text(ft_http_request *request, const char *name, const char **text)
{
    *text = ft_http_query(request, name);
    json_t *good = *text ? json_string(*text) : NULL;
    bool bad = *text && (!good || strlen(*text) > QUERY_LONGEST);
    json_decref(good);
    if (bad)
        ft_http_fail(request, 400, "malformed-query", "\"%s\" must be UTF-8 of at most %d bytes",
                     name, QUERY_LONGEST);
    return !bad;
}

void ft_serve_jobs(ft_api *api, ft_http_request *request)
{
    ft_store_page page;
    ft_store_job_filter filter = {0};
    if (!ft_query_page(request, &page) || !query_since(request, &filter.since) ||
        !query_text(request, "state", &filter.state) ||
        !query_text(request, "trace", &filter.trace) ||
        !query_text(request, "project", &filter.project) ||
        !query_text(request, "search", &filter.search))
        return;
    if (filter.search && !*filter.search) filter.search = NULL;
    ft_store_jobs(api->app->store, filter, page, on_jobs, ft_call_new(api, request));
}

/* ---- GET and DELETE /v1/jobs/{job} ----------------------------------------------------------- */

void ft_serve_job(ft_api *api, ft_http_request *request)
{
    uint32_t seconds;
    bool waits = ft_prefer_wait(api, request, &seconds);
    ft_polls_answer(api->polls, request, ft_http_param(request, 0), waits ? &seconds : NULL);
}

static void on_cancelled(void *data, const ft_error *err, json_t *change)
{
    (void)change;
    ft_http_request *request;
    if (ft_call_end(data, err, &request)) ft_http_reply(request, 204, NULL, NULL, 0);
}

void ft_serve_job_cancel(ft_api *api, ft_http_request *request)
{
    ft_dispatch_job_cancel(api->app->dispatch, ft_http_param(request, 0), on_cancelled,
                           ft_call_new(api, request));
}
