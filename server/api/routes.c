/* From requests to handlers. */
#include <string.h>
#include <strings.h>

#include "api/access.h"
#include "base/map.h"

typedef struct route {
    const char *method, *pattern;
    ft_route_needs needs;
    ft_serve serve;
    ft_serve_json serve_json;
    const char *doc;
} route;

static const route ROUTES[] = {
#define FT_ROW(method, pattern, needs, serve, serve_json, doc)                                     \
    {method, pattern, FT_NEEDS_##needs, serve, serve_json, doc},
    FT_ROUTE_TABLE(FT_ROW)
#undef FT_ROW
};
#define N_ROUTES (sizeof ROUTES / sizeof *ROUTES)

/* Matches segment by segment; {name} takes one that is not empty. */
static bool matches(const char *pattern, const char *path, ft_http_request *request)
{
    unsigned params = 0;
    while (*pattern && *path) {
        if (*pattern != '{') {
            if (*pattern++ != *path++) return false;
            continue;
        }
        size_t length = strcspn(path, "/");
        if (length == 0) return false;
        ft_http_set_param(request, params++, path, length);
        path += length;
        pattern += strcspn(pattern, "}") + 1;
    }
    return !*pattern && !*path;
}

/* The methods of a path, for Allow; empty: there is no such path. */
static void allowed(ft_http_request *request, ft_strbuf *out)
{
    const char *path = ft_http_path(request);
    for (size_t i = 0; i < N_ROUTES; i++) {
        if (strcmp(path, "*") != 0 && !matches(ROUTES[i].pattern, path, request)) continue;
        if (out->len && strstr(out->text, ROUTES[i].method)) continue;
        bool get = strcmp(ROUTES[i].method, "GET") == 0;
        ft_strbuf_printf(out, "%s%s%s", out->len ? ", " : "", ROUTES[i].method,
                         get ? ", HEAD" : "");
    }
    if (out->len) ft_strbuf_puts(out, ", OPTIONS");
}

static void no_route(ft_http_request *request)
{
    ft_strbuf methods = {0};
    allowed(request, &methods);
    if (methods.len) ft_http_set(request, "Allow", "%s", methods.text);
    if (!methods.len)
        ft_http_fail(request, 404, "not-found",
                     "there is nothing at %.200s: GET /v1/openapi.json lists the routes",
                     ft_http_path(request));
    else if (strcmp(ft_http_method(request), "OPTIONS") == 0)
        ft_http_reply(request, 204, NULL, NULL, 0);
    else
        ft_http_fail(request, 405, "method-not-allowed", "%s is not allowed here: use %s",
                     ft_http_method(request), methods.text);
    ft_strbuf_release(&methods);
}

static bool is_page(ft_http_request *request)
{
    const char *path = ft_http_path(request);
    return strcmp(ft_http_method(request), "GET") == 0 && strcmp(path, "/v1") != 0 &&
           strncmp(path, "/v1/", 4) != 0;
}

/* A browser that follows a link into the dashboard gets its first page, which shows the rest. What
 * belongs to a page (a script, an image) is not asked for as HTML: if it is not there, it is not.
 */
static bool wants_page(ft_http_request *request)
{
    const char *accept = ft_http_header(request, "accept");
    return is_page(request) && strncmp(ft_http_path(request), "/assets/", 8) != 0 && accept &&
           strstr(accept, "text/html");
}

/* A page of another site must not make a browser on this machine change anything. */
static bool is_cross_origin(ft_http_request *request)
{
    const char *origin = ft_http_header(request, "origin");
    const char *host = ft_http_header(request, "host");
    if (!origin || strcmp(ft_http_method(request), "GET") == 0) return false;
    const char *authority = strstr(origin, "://");
    return !host || !authority || strcasecmp(authority + 3, host) != 0;
}

/* RFC 9110 §13.1: what changes things has no strong ETag, so no condition but "it is there" (which
 * is looked at anyway) can be said to hold. */
static bool is_conditional(ft_http_request *request)
{
    const char *match = ft_http_header(request, "if-match");
    return (match && strcmp(match, "*") != 0) || ft_http_header(request, "if-none-match");
}

static void serve(ft_api *api, ft_http_request *request, const route *r)
{
    if (strcmp(r->method, "GET") != 0 && is_conditional(request)) {
        ft_http_fail(request, 412, "precondition-failed",
                     "%s does not support conditions on an ETag here", r->method);
        return;
    }
    if (strcmp(r->method, "GET") != 0) ft_access_audit(api, request, "allowed");
    if (r->serve_json)
        ft_api_take_json(api, request, r->pattern, r->serve_json);
    else
        ft_api_guard(api, request, r->pattern, r->serve, NULL, NULL);
}

void ft_api_route(void *context, ft_http_request *request)
{
    ft_api *api = context;
    const char *method = ft_http_method(request), *path = ft_http_path(request);
    const route *found = NULL;
    for (size_t i = 0; i < N_ROUTES && !found; i++)
        if (strcmp(ROUTES[i].method, method) == 0 && matches(ROUTES[i].pattern, path, request))
            found = &ROUTES[i];
    if (!found && is_page(request) && ft_web_serve(api->web, request)) return;
    if (!found && wants_page(request))
        ft_web_serve_index(api->web, request);
    else if (!found)
        no_route(request);
    else if (is_cross_origin(request))
        ft_http_fail(request, 403, "cross-origin",
                     "requests from pages of other sites are refused");
    else if (ft_access_check(api->access, request, found->needs))
        serve(api, request, found);
}

/* ---- /v1/openapi.json ------------------------------------------------------------------------ */

void ft_serve_openapi(ft_api *api, ft_http_request *request)
{
    (void)api;
    size_t length = strlen(ft_openapi);
    char tag[24];
    snprintf(tag, sizeof tag, "%llx", (unsigned long long)ft_hash_bytes(ft_openapi, length, 0));
    ft_http_set(request, "Cache-Control", "no-cache");
    if (!ft_reply_not_modified(request, tag))
        ft_http_reply(request, 200, "application/json", ft_openapi, length);
}
