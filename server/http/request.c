#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/internal.h"

ft_http_request *ft_request_new(ft_connection *connection)
{
    ft_http *http = connection->http;
    ft_http_request *request = ft_calloc(1, sizeof *request);
    request->http = http;
    request->connection = connection;
    request->arena = ft_arena_new();
    request->next = http->requests;
    if (request->next) request->next->previous = request;
    http->requests = request;
    return request;
}

static void request_free(ft_http_request *request)
{
    ft_http *http = request->http;
    assert(!request->connection && !request->in_callback && request->body != FT_BODY_TAKEN);
    if (request->next) request->next->previous = request->previous;
    if (request->previous)
        request->previous->next = request->next;
    else
        http->requests = request->next;
    ft_decoder_free(request->decoder);
    ft_strbuf_release(&request->url);
    ft_strbuf_release(&request->name);
    ft_strbuf_release(&request->value);
    ft_strbuf_release(&request->headers);
    ft_vec_release(&request->fields);
    free(request->target);
    ft_arena_free(request->arena);
    free(request);
    ft_http_settle(http);
}

void ft_request_settle(ft_http_request *request)
{
    if (request->connection || request->in_callback) return;
    if (request->dispatched && !request->answered) return;
    request_free(request);
}

void ft_request_leave(ft_http_request *request)
{
    assert(request->in_callback > 0);
    request->in_callback--;
    ft_request_settle(request);
}

void ft_request_tell_gone(ft_http_request *request)
{
    void (*gone)(void *data) = request->gone;
    if (!gone || request->answered) return;
    request->gone = NULL;
    request->in_callback++;
    gone(request->gone_data);
    ft_request_leave(request);
}

void ft_request_abort_body(ft_http_request *request)
{
    bool taken = request->body == FT_BODY_TAKEN;
    request->body = FT_BODY_ENDED;
    if (taken) request->sink.abort(request->sink.context);
}

/* ---- What handlers ask ----------------------------------------------------------------------- */

const char *ft_http_method(const ft_http_request *request)
{
    return request->method;
}

bool ft_http_is_head(const ft_http_request *request)
{
    return request->head;
}

uint64_t ft_http_number(const ft_http_request *request)
{
    return request->number;
}

const char *ft_http_path(const ft_http_request *request)
{
    return request->path;
}

bool ft_http_has_body(const ft_http_request *request)
{
    return request->chunked || request->content_length > 0;
}

const char *ft_http_param(const ft_http_request *request, unsigned index)
{
    FT_REQUIRE(index < FT_HTTP_PARAMS);
    return request->params[index];
}

void ft_http_set_param(ft_http_request *request, unsigned index, const char *text, size_t length)
{
    FT_REQUIRE(index < FT_HTTP_PARAMS && text);
    request->params[index] = ft_arena_strndup(request->arena, text, length);
}

void ft_http_keep(ft_http_request *request, const void *bytes, size_t length)
{
    request->kept = ft_arena_alloc(request->arena, length);
    memcpy(request->kept, bytes, length);
}

const void *ft_http_kept(const ft_http_request *request)
{
    return request->kept;
}

void ft_http_set_user(ft_http_request *request, void *user)
{
    request->user = user;
}

void *ft_http_user(const ft_http_request *request)
{
    return request->user;
}

void ft_http_peer(const ft_http_request *request, char peer[64])
{
    const ft_connection *connection = request->connection;
    struct sockaddr_storage from;
    int length = sizeof from;
    snprintf(peer, 64, "%s", connection && connection->pipe ? "unix" : "");
    if (!connection || connection->pipe) return;
    if (uv_tcp_getpeername(&connection->io.tcp, (struct sockaddr *)&from, &length) == 0)
        (void)uv_ip_name((const struct sockaddr *)&from, peer, 64);
}

void ft_http_on_gone(ft_http_request *request, void (*gone)(void *data), void *data)
{
    request->gone = gone;
    request->gone_data = data;
}

const char *ft_http_header(ft_http_request *request, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < request->fields.len; i++) {
        const ft_http_field *field = &request->fields.data[i];
        if (strcmp(field->name, name) != 0) continue;
        found =
            found ? ft_arena_printf(request->arena, "%s, %s", found, field->value) : field->value;
    }
    return found;
}

const char *ft_http_query(ft_http_request *request, const char *name)
{
    for (const char *at = request->query; at && *at;) {
        size_t length = strcspn(at, "&");
        char *pair = ft_arena_strndup(request->arena, at, length);
        char *value = strchr(pair, '=');
        if (value) *value++ = '\0';
        at += length + (at[length] == '&');
        if (!ft_http_unescape(pair, true) || strcmp(pair, name) != 0) continue;
        if (!value) return "";
        return ft_http_unescape(value, true) ? value : "";
    }
    return NULL;
}
