/* JSON request bodies: collected, then parsed strictly. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/internal.h"
#include "api/json.h"

typedef struct collector {
    ft_api *api;
    const char *pattern;
    ft_serve_json serve;
    ft_strbuf text;
} collector;

static void collector_free(collector *c)
{
    ft_strbuf_release(&c->text);
    free(c);
}

static void on_data(void *context, ft_http_request *request, const void *bytes, size_t length)
{
    (void)request;
    ft_strbuf_add(&((collector *)context)->text, bytes, length);
}

static void on_abort(void *context)
{
    collector_free(context);
}

static void on_end(void *context, ft_http_request *request)
{
    collector *c = context;
    json_t *body = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_json_parse(ft_strbuf_text(&c->text), c->text.len, &body, &err) != FT_OK)
        ft_http_fail_error(request, &err);
    else
        ft_api_guard(c->api, request, c->pattern, NULL, c->serve, body);
    json_decref(body);
    collector_free(c);
}

/* curl's -d says application/x-www-form-urlencoded, so that is let through: what counts is that
 * the body is JSON. */
static bool is_json_type(const char *type)
{
    static const char *const TYPES[] = {"application/json", "application/x-www-form-urlencoded"};
    if (!type) return true;
    size_t length = strcspn(type, "; \t");
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strlen(TYPES[i]) == length && strncasecmp(type, TYPES[i], length) == 0) return true;
    return length > 5 && strncasecmp(type + length - 5, "+json", 5) == 0;
}

void ft_api_take_json(ft_api *api, ft_http_request *request, const char *pattern,
                      ft_serve_json serve)
{
    uint64_t limit = api->app->config->max_body_bytes;
    if (!ft_http_has_body(request)) {
        ft_http_fail(request, 411, "body-missing", "the request needs a JSON body");
        return;
    }
    if (!is_json_type(ft_http_header(request, "content-type"))) {
        ft_http_fail(request, 415, "content-type",
                     "the body must be JSON: send it as "
                     "Content-Type: application/json");
        return;
    }
    collector *c = ft_calloc(1, sizeof *c);
    *c = (collector){.api = api, .pattern = pattern, .serve = serve};
    ft_http_sink sink = {on_data, on_end, on_abort, c};
    if (!ft_http_take_body(request, (ft_http_body_limits){limit, limit}, sink)) collector_free(c);
}
