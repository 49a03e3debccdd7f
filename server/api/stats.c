/* GET /v1/stats: the queue now and in the last while, in memory, sampled by a timer. */
#include "api/stats.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES 360

/* A level is what it was when the sample was taken; else what came since the sample before. */
#define SERIES_TABLE(X)                                                                            \
    X("queued", true)                                                                              \
    X("running", true)                                                                             \
    X("age_ms", true)                                                                              \
    X("jobs", true)                                                                                \
    X("workers_alive", true)                                                                       \
    X("workers_busy", true)                                                                        \
    X("workers_memory", true)                                                                      \
    X("resident_bytes", true)                                                                      \
    X("connections", true)                                                                         \
    X("streams", true)                                                                             \
    X("requests", false)                                                                           \
    X("tasks", false)                                                                              \
    X("violation", false)                                                                          \
    X("safe", false)                                                                               \
    X("bounded", false)                                                                            \
    X("unknown", false)                                                                            \
    X("error", false)

static const struct {
    const char *name;
    bool level;
} SERIES[] = {
#define FT_ROW(name, level) {name, level},
    SERIES_TABLE(FT_ROW)
#undef FT_ROW
};
#define N_SERIES (sizeof SERIES / sizeof *SERIES)

typedef struct sample {
    json_int_t at; /* milliseconds since 1970 */
    json_int_t values[N_SERIES];
} sample;

struct ft_stats {
    ft_api *api;
    uv_timer_t timer;
    sample ring[SAMPLES];
    size_t taken;
    json_int_t before[N_SERIES]; /* of what is counted, at the last sample */
};

static json_int_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (json_int_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The dispatcher's counts, with those of the api. New reference. */
static json_t *gather(const ft_stats *stats)
{
    size_t resident = 0;
    const ft_http_stats *http = ft_http_statistics(stats->api->http);
    json_t *all = ft_dispatch_load(stats->api->app->dispatch);
    uv_resident_set_memory(&resident);
    json_object_set_new(all, "resident_bytes", json_integer((json_int_t)resident));
    json_object_set_new(all, "connections", json_integer(http->open));
    json_object_set_new(all, "streams", json_integer(stats->api->stream_count));
    json_object_set_new(all, "requests", json_integer((json_int_t)http->requests));
    return all;
}

static void take_sample(ft_stats *stats)
{
    sample *s = &stats->ring[stats->taken++ % SAMPLES];
    json_t *all = gather(stats);
    s->at = now_ms();
    for (size_t i = 0; i < N_SERIES; i++) {
        json_int_t value = json_integer_value(json_object_get(all, SERIES[i].name));
        s->values[i] = SERIES[i].level ? value : value - stats->before[i];
        stats->before[i] = value;
    }
    json_decref(all);
}

static void on_timer(uv_timer_t *timer)
{
    take_sample(timer->data);
}

ft_stats *ft_stats_new(ft_api *api)
{
    ft_stats *stats = ft_calloc(1, sizeof *stats);
    uint64_t every = api->app->config->sample_ms;
    stats->api = api;
    uv_timer_init(api->app->loop, &stats->timer);
    stats->timer.data = stats;
    uv_timer_start(&stats->timer, on_timer, every, every);
    return stats;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void ft_stats_free(ft_stats *stats)
{
    if (stats) uv_close((uv_handle_t *)&stats->timer, on_closed);
}

/* Columns, as plots take them. */
static json_t *history(const ft_stats *stats)
{
    size_t count = stats->taken < SAMPLES ? stats->taken : SAMPLES;
    json_t *columns = json_object(), *at = json_array();
    json_object_set_new(columns, "at", at);
    for (size_t k = 0; k < count; k++)
        json_array_append_new(at,
                              json_integer(stats->ring[(stats->taken - count + k) % SAMPLES].at));
    for (size_t i = 0; i < N_SERIES; i++) {
        json_t *column = json_array();
        json_object_set_new(columns, SERIES[i].name, column);
        for (size_t k = 0; k < count; k++) {
            const sample *s = &stats->ring[(stats->taken - count + k) % SAMPLES];
            json_array_append_new(column, json_integer(s->values[i]));
        }
    }
    return columns;
}

void ft_serve_stats(ft_api *api, ft_http_request *request)
{
    json_t *document = json_pack("{s:I, s:I, s:I, s:o, s:o}", "at", now_ms(), "started",
                                 (json_int_t)api->started * 1000, "sample_ms",
                                 (json_int_t)api->app->config->sample_ms, "now", gather(api->stats),
                                 "history", history(api->stats));
    ft_reply_tagged(request, document);
    json_decref(document);
}
