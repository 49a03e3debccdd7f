/* Long polling: GET /v1/jobs/{job} with Prefer: wait. */
#include <stdio.h>
#include <stdlib.h>

#include "api/internal.h"

typedef struct waiter {
    ft_api *api;
    ft_http_request *request;
    char *job;
    ft_watch *watch;
    uv_timer_t timer;
    bool any_change; /* the client has a version: any other one will do */
    bool expired, asking, again;
} waiter;

static void ask(waiter *w);

static void on_timer_closed(uv_handle_t *handle)
{
    waiter *w = handle->data;
    free(w->job);
    free(w);
}

static ft_http_request *waiter_end(waiter *w)
{
    ft_http_request *request = w->request;
    ft_http_on_gone(request, NULL, NULL);
    ft_dispatch_unwatch(w->watch);
    uv_close((uv_handle_t *)&w->timer, on_timer_closed);
    return request;
}

static bool is_final(const json_t *snapshot)
{
    ft_job_state state;
    const char *name = json_string_value(json_object_get(snapshot, "state"));
    return name && ft_job_state_parse(name, &state) && ft_job_state_final(state);
}

static void on_snapshot(void *data, const ft_error *err, json_t *snapshot)
{
    waiter *w = data;
    char etag[32];
    w->asking = false;
    if (err) {
        ft_http_fail_error(waiter_end(w), err);
        return;
    }
    snprintf(etag, sizeof etag, "%lld",
             (long long)json_integer_value(json_object_get(snapshot, "revision")));
    bool same = ft_matches_etag(w->request, etag);
    bool ready = w->any_change ? !same || is_final(snapshot) : is_final(snapshot);
    if (!ready && !w->expired) {
        if (w->again) ask(w);
        return;
    }
    ft_http_request *request = waiter_end(w);
    if (same)
        ft_reply_not_modified(request, etag);
    else
        ft_reply_job(request, 200, json_incref(snapshot));
}

static void ask(waiter *w)
{
    w->again = w->asking;
    if (w->asking) return;
    w->asking = true;
    ft_store_job(w->api->app->store, w->job, on_snapshot, w);
}

static void on_changed(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)job;
    (void)revision;
    waiter *w = data;
    if (w->any_change || ft_job_state_final(state)) ask(w);
}

static void expire(waiter *w)
{
    w->expired = true;
    ask(w);
}

static void on_time(uv_timer_t *timer)
{
    expire(timer->data);
}

static void on_gone(void *data)
{
    expire(data);
}

void ft_api_wait(ft_api *api, ft_http_request *request, const char *job, uint32_t seconds)
{
    waiter *w = ft_calloc(1, sizeof *w);
    *w = (waiter){.api = api, .request = request, .job = ft_strdup(job)};
    w->any_change = ft_http_header(request, "if-none-match") != NULL;
    w->watch = ft_dispatch_watch(api->app->dispatch, job, on_changed, w);
    w->expired = seconds == 0 || api->closing;
    uv_timer_init(api->app->loop, &w->timer);
    w->timer.data = w;
    uv_timer_start(&w->timer, on_time, (uint64_t)seconds * 1000, 0);
    ft_http_set(request, "Preference-Applied", "wait=%u", seconds);
    ft_http_on_gone(request, on_gone, w);
    ask(w);
}
