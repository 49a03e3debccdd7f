#include "app/retention.h"

#include <stdlib.h>

#include "base/memory.h"
#include "setup/log.h"

#define DAY_MS ((uint64_t)86400000)

struct ft_retention {
    const ft_app *app;
    uv_timer_t timer;
    bool asking, closed;
};

static void ask(ft_retention *r);

static void free_if_done(ft_retention *r)
{
    if (r->closed && !r->asking) free(r);
}

static void on_removed(void *data, const ft_error *err, json_t *removed)
{
    ft_retention *r = data;
    json_int_t jobs = json_integer_value(json_object_get(removed, "jobs"));
    json_int_t traces = json_integer_value(json_object_get(removed, "traces"));
    r->asking = false;
    if (err)
        ft_log(FT_LOG_ERROR, "retention failed", "reason=\"%s\"", err->message);
    else if (jobs || traces)
        ft_log(FT_LOG_INFO, "removed by retention", "jobs=%lld traces=%lld bytes=%lld",
               (long long)jobs, (long long)traces,
               (long long)json_integer_value(json_object_get(removed, "bytes")));
    if (!uv_is_closing((uv_handle_t *)&r->timer) && json_is_true(json_object_get(removed, "more")))
        ask(r);
    free_if_done(r);
}

static void ask(ft_retention *r)
{
    const ft_config *config = r->app->config;
    r->asking = true;
    ft_store_retain(r->app->store, config->retain_days * DAY_MS, config->retain_bytes, on_removed,
                    r);
}

static void on_timer(uv_timer_t *timer)
{
    ft_retention *r = timer->data;
    if (!r->asking) ask(r);
}

ft_retention *ft_retention_new(const ft_app *app)
{
    const ft_config *config = app->config;
    ft_retention *r = ft_calloc(1, sizeof *r);
    r->app = app;
    uv_timer_init(app->loop, &r->timer);
    r->timer.data = r;
    uv_timer_start(&r->timer, on_timer, 0, config->retain_check_ms);
    return r;
}

static void on_closed(uv_handle_t *handle)
{
    ft_retention *r = handle->data;
    r->closed = true;
    free_if_done(r);
}

void ft_retention_free(ft_retention *retention)
{
    if (retention) uv_close((uv_handle_t *)&retention->timer, on_closed);
}
