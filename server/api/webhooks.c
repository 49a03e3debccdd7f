/* Webhooks and their deliveries: for admins. */
#include "store/webhooks.h"

#include <string.h>

#include "api/access.h"
#include "webhooks/webhooks.h"

/* ---- /v1/webhooks ---------------------------------------------------------------------------- */

static void on_webhooks(void *data, const ft_error *err, json_t *list)
{
    ft_http_request *request;
    if (ft_call_end(data, err, &request)) ft_reply_tagged(request, list);
}

void ft_serve_webhooks(ft_api *api, ft_http_request *request)
{
    ft_store_webhooks(api->app->store, ft_access_projects(request), on_webhooks,
                      ft_call_new(api, request));
}

/* With the secret, where there is one, this once. */
static void on_set(void *data, const ft_error *err, json_t *webhook)
{
    ft_http_request *request;
    if (!ft_call_end(data, err, &request)) return;
    ft_http_set(request, "Cache-Control", "no-store");
    ft_http_reply_json(request, 200, json_incref(webhook));
}

static bool refuse(ft_http_request *request, const char *pointer, const char *detail)
{
    ft_http_reply_problem(request,
                          &(ft_http_problem){422, "invalid-webhook", detail, pointer, NULL});
    return false;
}

static bool is_good_url(ft_api *api, ft_http_request *request, const json_t *url)
{
    ft_error err = FT_ERROR_INIT;
    const char *text = json_string_value(url);
    bool allowed = api->app->config->webhook_allow_private != 0;
    if (!url || json_is_null(url)) return true;
    if (!text || strlen(text) != json_string_length(url))
        return refuse(request, "/url", "the URL must be a string or null");
    if (ft_webhook_url_check(text, allowed, &err) == FT_OK) return true;
    return refuse(request, "/url", err.message);
}

static bool is_good(ft_api *api, ft_http_request *request, const json_t *body)
{
    const char *name;
    json_t *value;
    if (!json_is_object(body)) return refuse(request, "", "a webhook must be an object");
    json_object_foreach((json_t *)(uintptr_t)body, name, value)
    {
        if (strcmp(name, "project") != 0 && strcmp(name, "url") != 0 && strcmp(name, "renew") != 0)
            return refuse(request, "", "a webhook has no members but project, url and renew");
    }
    const json_t *project = json_object_get(body, "project");
    const json_t *renew = json_object_get(body, "renew");
    if (project && !json_is_string(project))
        return refuse(request, "/project", "the project must be a string");
    if (renew && !json_is_boolean(renew))
        return refuse(request, "/renew", "renew must be true or false");
    return is_good_url(api, request, json_object_get(body, "url"));
}

void ft_serve_webhook_set(ft_api *api, ft_http_request *request, const json_t *body)
{
    char project[FT_PROJECT_LENGTH + 1];
    const json_t *url = json_object_get(body, "url");
    if (!is_good(api, request, body) ||
        !ft_access_project(request, json_string_value(json_object_get(body, "project")), project))
        return;
    ft_store_webhook webhook = {.project = project,
                                .url = json_string_value(url),
                                .keep = !url,
                                .renew = json_is_true(json_object_get(body, "renew"))};
    ft_store_webhook_set(api->app->store, &webhook, on_set, ft_call_new(api, request));
}

static void on_dropped(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_http_request *request;
    if (ft_call_end(data, err, &request)) ft_http_reply(request, 204, NULL, NULL, 0);
}

void ft_serve_webhook_drop(ft_api *api, ft_http_request *request)
{
    char project[FT_PROJECT_LENGTH + 1];
    if (ft_access_project(request, ft_http_query(request, "project"), project))
        ft_store_webhook_drop(api->app->store, project, on_dropped, ft_call_new(api, request));
}

/* ---- /v1/deliveries -------------------------------------------------------------------------- */

static void on_deliveries(void *data, const ft_error *err, json_t *page)
{
    ft_http_request *request;
    if (ft_call_end_list(data, err, page, &request)) ft_reply_tagged(request, page);
}

void ft_serve_deliveries(ft_api *api, ft_http_request *request)
{
    ft_store_page page;
    if (ft_query_page(request, &page))
        ft_store_deliveries(api->app->store, ft_http_query(request, "state"),
                            ft_http_query(request, "job"), page, on_deliveries,
                            ft_call_new(api, request));
}

static void on_repeated(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_api *api = ((ft_call *)data)->api;
    ft_http_request *request;
    if (!ft_call_end(data, err, &request)) return;
    ft_webhooks_poke(api->app->webhooks);
    ft_http_reply(request, 204, NULL, NULL, 0);
}

void ft_serve_delivery_repeat(ft_api *api, ft_http_request *request)
{
    ft_store_delivery_repeat(api->app->store, ft_http_param(request, 0),
                             ft_access_projects(request), on_repeated, ft_call_new(api, request));
}
