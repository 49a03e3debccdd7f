/* GET /v1/traces, /v1/traces/{trace}, /v1/programs/{program} and their contents. */
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/digest.h"

/* The content behind a name never changes. */
static void set_lasting(ft_http_request *request)
{
    ft_http_set(request, "Cache-Control", "immutable, max-age=31536000");
}

static void on_trace(void *data, const ft_error *err, json_t *meta)
{
    ft_http_request *request;
    if (!ft_call_end(data, err, &request)) return;
    const char *hash = json_string_value(json_object_get(meta, "trace"));
    set_lasting(request);
    if (ft_reply_not_modified(request, hash)) return;
    json_t *view = json_incref(meta);
    json_t *links = json_object();
    const char *kind = ft_is_program(meta) ? "programs" : "traces";
    json_object_set_new(links, "self", json_sprintf("/v1/%s/%s", kind, hash));
    json_object_set_new(links, "content", json_sprintf("/v1/%s/%s/content", kind, hash));
    json_object_set_new(view, "links", links);
    ft_http_reply_json(request, 200, view);
}

bool ft_is_program(const json_t *meta)
{
    const char *format = json_string_value(json_object_get(meta, "format"));
    return format && strcmp(format, "program") == 0;
}

void ft_serve_trace_meta(ft_api *api, ft_http_request *request)
{
    ft_store_trace(api->app->store, ft_http_param(request, 0), on_trace, ft_call_new(api, request));
}

void ft_serve_program_meta(ft_api *api, ft_http_request *request)
{
    ft_serve_trace_meta(api, request);
}

static void on_traces(void *data, const ft_error *err, json_t *page)
{
    ft_http_request *request;
    if (ft_call_end_list(data, err, page, &request)) ft_reply_tagged(request, page);
}

void ft_serve_traces(ft_api *api, ft_http_request *request)
{
    ft_store_page page;
    if (!ft_query_page(request, &page)) return;
    ft_store_traces(api->app->store, page, on_traces, ft_call_new(api, request));
}

/* ---- Content --------------------------------------------------------------------------------- */

typedef struct content {
    ft_api *api;
    ft_http_request *request;
    char hash[FT_DIGEST_HEX + 1];
    uint32_t seq;
    bool last;
} content;

static void end_content(content *c, bool whole)
{
    ft_http_request *request = c->request;
    free(c);
    ft_http_reply_end(request, whole);
}

static void on_chunk(void *data, const ft_error *err, const void *bytes, size_t length, bool last);

static void on_drained(void *data, ft_http_request *request, bool ok)
{
    (void)request;
    content *c = data;
    if (!ok || c->last) {
        end_content(c, ok);
        return;
    }
    ft_store_trace_chunk(c->api->app->store, c->hash, c->seq++, on_chunk, c);
}

static void on_chunk(void *data, const ft_error *err, const void *bytes, size_t length, bool last)
{
    content *c = data;
    if (err && c->seq == 1) {
        ft_http_request *request = c->request;
        free(c);
        ft_http_fail_error(request, err);
        return;
    }
    if (err) {
        end_content(c, false);
        return;
    }
    c->last = last;
    if (c->seq == 1) {
        set_lasting(c->request);
        if (ft_reply_same_bytes(c->request, c->hash)) {
            free(c);
            return;
        }
        ft_http_set(c->request, "Content-Disposition", "attachment; filename=\"%.16s.ft\"",
                    c->hash);
        ft_http_reply_start(c->request, 200, "application/octet-stream", UINT64_MAX);
        c->last = last || ft_http_is_head(c->request);
    }
    ft_http_reply_data(c->request, bytes, length, on_drained, c);
}

void ft_serve_content(ft_api *api, ft_http_request *request)
{
    const char *hash = ft_http_param(request, 0);
    if (strlen(hash) != FT_DIGEST_HEX) {
        ft_http_fail(request, 404, "not-found", "no trace has this name");
        return;
    }
    content *c = ft_calloc(1, sizeof *c);
    *c = (content){.api = api, .request = request};
    memcpy(c->hash, hash, FT_DIGEST_HEX);
    ft_store_trace_chunk(api->app->store, c->hash, c->seq++, on_chunk, c);
}
