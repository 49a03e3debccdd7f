#include <stdlib.h>
#include <time.h>

#include "api/access.h"
#include "api/feed.h"
#include "api/polls.h"
#include "api/stats.h"
#include "setup/log.h"

#define CLOSE_GRACE_MS 3000 /* for answers on their way */

static ft_status open_access(ft_api *api, ft_error *err)
{
    const ft_config *config = api->app->config;
    char address[64];
    int port;
    bool strangers = false;
    ft_status status = FT_OK;
    if (*config->listen) {
        status = ft_config_listen(config, address, &port, err);
        strangers = status == FT_OK && !ft_config_is_loopback(address);
    }
    return status == FT_OK ? ft_access_open(api, strangers, &api->access, err) : status;
}

static ft_status listen_all(ft_api *api, ft_error *err)
{
    const ft_config *config = api->app->config;
    char address[64];
    int port;
    ft_status status = FT_OK;
    if (!*config->listen && !*config->socket)
        return ft_error_set(err, FT_USAGE, "the server has no address: set listen or socket");
    if (*config->listen) {
        status = ft_config_listen(config, address, &port, err);
        if (status == FT_OK) status = ft_http_listen_tcp(api->http, address, port, &api->port, err);
    }
    if (status == FT_OK && *config->socket)
        status = ft_http_listen_unix(api->http, config->socket, err);
    return status;
}

static void on_http_closed(void *data)
{
    ft_api *api = data;
    void (*closed)(void *data) = api->closed;
    void *closed_data = api->closed_data;
    ft_web_free(api->web);
    ft_event_feed_free(api->feed);
    ft_access_close(api->access);
    ft_stats_free(api->stats);
    ft_polls_free(api->polls);
    free(api);
    if (closed) closed(closed_data);
}

/* Descriptors that connections do not get: the store's, listeners, log; those of uploads; pipes and
 * files of workers and webhooks. */
#define OTHER_FILES     64
#define FILES_OF_WORKER 8

static uint32_t fit_connections(const ft_config *config)
{
    uint32_t wanted = (uint32_t)config->max_connections;
    uint32_t reserve =
        OTHER_FILES + FT_UPLOADS_MOST + FILES_OF_WORKER * (uint32_t)(config->workers + 1);
    uint32_t fit = ft_http_fit_connections(wanted, reserve);
    if (fit < wanted)
        ft_log(FT_LOG_WARN, "fewer connections than configured",
               "max-connections=%u connections=%u reason=\"the limit of open files\"", wanted, fit);
    return fit;
}

ft_status ft_api_open(ft_app *app, ft_api **api, ft_error *err)
{
    const ft_config *config = app->config;
    ft_http_limits limits = ft_http_default_limits;
    limits.connections = fit_connections(config);
    limits.header_bytes = (uint32_t)config->max_header_bytes;
    limits.header_ms = (uint32_t)config->header_ms;
    limits.idle_ms = (uint32_t)config->idle_ms;
    ft_api *opened = ft_calloc(1, sizeof *opened);
    opened->app = app;
    opened->started = (int64_t)time(NULL);
    opened->web = ft_web_open(config->web_root);
    opened->feed = ft_event_feed_new(opened);
    opened->stats = ft_stats_new(opened);
    opened->polls = ft_polls_new(opened);
    opened->http = ft_http_new(app->loop, &limits, (ft_http_handler){ft_api_route, opened});
    ft_status status = open_access(opened, err);
    if (status == FT_OK) status = listen_all(opened, err);
    if (status == FT_OK) {
        *api = opened;
        return FT_OK;
    }
    /* It watches the dispatcher, which will not outlive the server's handles here. */
    ft_event_feed_free(opened->feed);
    opened->feed = NULL;
    ft_access_close(opened->access);
    opened->access = NULL;
    ft_stats_free(opened->stats);
    opened->stats = NULL;
    ft_polls_free(opened->polls);
    opened->polls = NULL;
    ft_http_close(opened->http, 0, on_http_closed, opened);
    return status;
}

int ft_api_port(const ft_api *api)
{
    return api->port;
}

void ft_api_close(ft_api *api, void (*closed)(void *data), void *data)
{
    api->closing = true;
    api->closed = closed;
    api->closed_data = data;
    ft_api_forget_uploads(api);
    ft_http_close(api->http, CLOSE_GRACE_MS, on_http_closed, api);
}
