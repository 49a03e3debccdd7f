/* Request bodies, from the parser to the sink of a handler. */
#include <string.h>

#include "http/internal.h"

#define PIECE (32u << 10) /* decoded bytes at a time */
#define SLICE                                                                                      \
    (1u << 20) /* decoded bytes until others get their turn: a little can decode to a lot */

static void too_long(ft_connection *connection, const char *what, uint64_t limit)
{
    ft_strbuf detail = {0};
    ft_strbuf_printf(&detail, "the body exceeds the limit of %llu bytes %s",
                     (unsigned long long)limit, what);
    ft_http_problem problem = {413, "limit-exceeded", detail.text, NULL, NULL};
    ft_connection_refuse(connection, &problem);
    ft_strbuf_release(&detail);
}

static void corrupt(ft_connection *connection, const ft_error *err)
{
    ft_http_problem problem = {400, ft_status_name(FT_INPUT), err->message, NULL, err};
    ft_connection_refuse(connection, &problem);
}

bool ft_http_take_body(ft_http_request *request, ft_http_body_limits limits, ft_http_sink sink)
{
    assert(request->body == FT_BODY_NONE && !request->answered);
    const char *coding = ft_http_header(request, "content-encoding");
    ft_error err = FT_ERROR_INIT;
    if (coding && ft_decoder_new(coding, &request->decoder, &err) != FT_OK) {
        ft_http_set(request, "Accept-Encoding", "gzip, zstd");
        ft_http_fail(request, 415, "content-encoding", "%s", err.message);
        return false;
    }
    request->limits = limits;
    if (request->content_length > limits.sent) {
        ft_http_fail(request, 413, "limit-exceeded", "the body has %llu bytes; the limit is %llu",
                     (unsigned long long)request->content_length, (unsigned long long)limits.sent);
        return false;
    }
    request->sink = sink;
    request->body = FT_BODY_TAKEN;
    return true;
}

/* Gives bytes to the sink; false when the body is over for it. */
static bool give(ft_connection *connection, const char *bytes, size_t length)
{
    ft_http_request *request = connection->request;
    request->decoded += length;
    if (request->decoded > request->limits.decoded) {
        too_long(connection, "after decoding", request->limits.decoded);
        return false;
    }
    assert(request->body == FT_BODY_TAKEN && request->decoded <= request->limits.decoded);
    request->in_callback++;
    request->sink.data(request->sink.context, request, bytes, length);
    ft_request_leave(request);
    if (connection->phase == FT_PHASE_CLOSED) return false;
    if (request->answered) request->body = FT_BODY_ENDED;
    return request->body == FT_BODY_TAKEN;
}

static bool give_decoded(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    char piece[PIECE];
    ft_error err = FT_ERROR_INIT;
    if (!connection->span_pushed)
        ft_decoder_push(request->decoder, connection->span, connection->span_len);
    connection->span_pushed = true;
    size_t slice = 0;
    for (;;) {
        size_t length = 0;
        if (ft_decoder_pull(request->decoder, piece, sizeof piece, &length, &err) != FT_OK) {
            corrupt(connection, &err);
            return true;
        }
        if (length == 0) {
            connection->span_pushed = false;
            connection->span_len = 0;
            return true;
        }
        if (!give(connection, piece, length)) return true;
        slice += length;
        if (slice < SLICE) continue;
        connection->yielded = true;
        return false;
    }
}

static void discard(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    connection->span_len = 0;
    if (request->sent <= FT_HTTP_DISCARD) return;
    if (request->answered)
        connection->last = true;
    else
        too_long(connection, "for a body that is discarded", FT_HTTP_DISCARD);
}

bool ft_body_deliver(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    assert(connection->span_len > 0);
    if (!connection->span_pushed) request->sent += connection->span_len;
    if (request->body != FT_BODY_TAKEN) {
        connection->span_pushed = false;
        discard(connection);
        return true;
    }
    if (request->sent > request->limits.sent) {
        too_long(connection, "as sent", request->limits.sent);
        return true;
    }
    if (request->decoder) return give_decoded(connection);
    size_t length = connection->span_len;
    connection->span_len = 0;
    give(connection, connection->span, length);
    return true;
}

bool ft_body_finish(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    ft_error err = FT_ERROR_INIT;
    if (request->body == FT_BODY_TAKEN && request->decoder &&
        ft_decoder_end(request->decoder, &err) != FT_OK) {
        corrupt(connection, &err);
        return true;
    }
    bool taken = request->body == FT_BODY_TAKEN;
    assert(request->body != FT_BODY_ENDED && connection->span_len == 0);
    request->body = FT_BODY_ENDED;
    if (!taken) return true;
    request->in_callback++;
    request->sink.end(request->sink.context, request);
    ft_request_leave(request);
    return true;
}
