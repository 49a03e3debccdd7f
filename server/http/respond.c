/* Responses. */
#include <stdlib.h>
#include <string.h>

#include "http/internal.h"

#define FULL_S 30 /* seconds to wait for a disk that is full */

static const struct {
    int status;
    const char *reason;
} REASONS[] = {{200, "OK"},
               {201, "Created"},
               {202, "Accepted"},
               {204, "No Content"},
               {304, "Not Modified"},
               {400, "Bad Request"},
               {401, "Unauthorized"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {406, "Not Acceptable"},
               {408, "Request Timeout"},
               {409, "Conflict"},
               {411, "Length Required"},
               {412, "Precondition Failed"},
               {413, "Content Too Large"},
               {414, "URI Too Long"},
               {415, "Unsupported Media Type"},
               {417, "Expectation Failed"},
               {422, "Unprocessable Content"},
               {429, "Too Many Requests"},
               {431, "Request Header Fields Too Large"},
               {500, "Internal Server Error"},
               {501, "Not Implemented"},
               {503, "Service Unavailable"},
               {505, "HTTP Version Not Supported"},
               {507, "Insufficient Storage"}};

/* "Not Found" */
static const char *reason_of(int status)
{
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++)
        if (REASONS[i].status == status) return REASONS[i].reason;
    return "Unknown";
}

void ft_http_set(ft_http_request *request, const char *name, const char *format, ...)
{
    char value[2048];
    assert(!request->started); /* the head is not out yet */
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    for (char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    ft_strbuf_printf(&request->headers, "%s: %s\r\n", name, value);
}

void ft_http_vary(ft_http_request *request, const char *name)
{
    size_t i = 0;
    while (i < FT_HTTP_VARY && request->vary[i] && strcmp(request->vary[i], name) != 0) i++;
    assert(i < FT_HTTP_VARY);
    request->vary[i] = name;
}

/* ---- If-Match -------------------------------------------------------------------------------- */

/* The strong ETag that was set, with its quotes; NULL: none, or a weak one. */
static const char *strong_tag(ft_http_request *request, size_t *length)
{
    static const char NAME[] = "ETag: \"";
    const char *text = ft_strbuf_text(&request->headers), *at = strstr(text, NAME);
    if (!at || (at != text && at[-1] != '\n')) return NULL;
    at += sizeof NAME - 2;
    *length = strcspn(at, "\r");
    return at;
}

static bool is_unmatched(ft_http_request *request)
{
    size_t length = 0;
    if (!request->if_match) return false;
    const char *list = ft_http_header(request, "if-match"), *tag = strong_tag(request, &length);
    while (*list) {
        list += strspn(list, " \t,");
        if (strcmp(list, "*") == 0) return false;
        size_t one = strcspn(list, ",");
        while (one && (list[one - 1] == ' ' || list[one - 1] == '\t')) one--;
        if (tag && one == length && memcmp(list, tag, length) == 0) return false;
        list += strcspn(list, ",");
    }
    return true;
}

bool ft_http_refuse_unmatched(ft_http_request *request)
{
    if (!is_unmatched(request)) return false;
    ft_http_fail(request, 412, "precondition-failed",
                 "none of the ETags in If-Match is the current one: GET the resource again");
    return true;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

/* Whether what is left of the request's body may be read and dropped to keep the connection. */
static bool body_is_small(const ft_connection *connection)
{
    const ft_http_request *request = connection->request;
    if (connection->message_complete) return true;
    bool waits = request->expects && !connection->continued;
    return !waits && !request->chunked && request->content_length <= FT_HTTP_DISCARD;
}

static bool must_close(const ft_http_request *request)
{
    const ft_connection *connection = request->connection;
    return !request->keep_alive || connection->last || connection->http->closing ||
           !body_is_small(connection);
}

/* RFC 9110 §8.6: no length with 204; 304 sends none as it would be the other answer's. */
static bool has_length(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static void put_vary(const ft_http_request *request, ft_strbuf *out)
{
    for (size_t i = 0; i < FT_HTTP_VARY && request->vary[i]; i++) {
        ft_strbuf_puts(out, i == 0 ? "Vary: " : ", ");
        ft_strbuf_puts(out, request->vary[i]);
    }
    if (request->vary[0]) ft_strbuf_puts(out, "\r\n");
}

static void put_digits(ft_strbuf *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    ft_strbuf_add(out, digits + at, sizeof digits - at);
}

#define PUT(out, literal) ft_strbuf_add(out, literal, sizeof(literal) - 1)

/* Without printf: formats would cost as much as the rest of a response. */
static void put_head(ft_http_request *request, ft_strbuf *out, int status, const char *type,
                     uint64_t length)
{
    request->close = must_close(request);
    request->chunked_out = length == UINT64_MAX && !request->http_1_0;
    if (length == UINT64_MAX && request->http_1_0) request->close = true;
    PUT(out, "HTTP/1.1 ");
    put_digits(out, (uint64_t)status);
    PUT(out, " ");
    ft_strbuf_puts(out, reason_of(status));
    PUT(out, "\r\nDate: ");
    ft_strbuf_puts(out, ft_http_date(request->http));
    if (type) {
        PUT(out, "\r\nContent-Type: ");
        ft_strbuf_puts(out, type);
        PUT(out, "\r\nX-Content-Type-Options: nosniff");
    }
    if (request->chunked_out) {
        PUT(out, "\r\nTransfer-Encoding: chunked");
    } else if (has_length(status) && length != UINT64_MAX) {
        PUT(out, "\r\nContent-Length: ");
        put_digits(out, length);
    }
    if (request->close)
        PUT(out, "\r\nConnection: close");
    else if (request->http_1_0)
        PUT(out, "\r\nConnection: keep-alive");
    PUT(out, "\r\n");
    put_vary(request, out);
    ft_strbuf_add(out, ft_strbuf_text(&request->headers), request->headers.len);
    PUT(out, "\r\n");
}

static void count(ft_http_request *request, int status)
{
    FT_REQUIRE(status >= 200 && status < 600);
    ft_http_stats *stats = &request->http->stats;
    stats->by_status[status]++;
}

const uint32_t ft_http_bucket_ms[FT_HTTP_BUCKETS - 1] = {1, 2, 5, 10, 50, 100, 1000, 5000, 30000};

static void count_latency(ft_http_request *request)
{
    ft_http_stats *stats = &request->http->stats;
    if (!request->dispatched) return;
    uint64_t took = uv_now(request->http->loop) - request->began;
    int i = 0;
    while (i < FT_HTTP_BUCKETS - 1 && took > ft_http_bucket_ms[i]) i++;
    stats->latency[i]++;
    stats->latency_ms += took;
}

static void answered(ft_http_request *request)
{
    assert(request->started && !request->answered);
    request->answered = true;
    count_latency(request);
    ft_connection *connection = request->connection;
    if (!connection) {
        ft_request_settle(request);
        return;
    }
    if (request->close) connection->last = true;
    ft_connection_answered(connection);
}

void ft_http_reply(ft_http_request *request, int status, const char *type, const void *body,
                   size_t length)
{
    FT_REQUIRE(body || length == 0);
    assert(!request->started && !request->answered);
    if (status == 200 && ft_http_refuse_unmatched(request)) return;
    count(request, status);
    if (request->connection) {
        ft_strbuf *out = &request->http->scratch, packed = {0};
        if (ft_http_encode(request, type, body, length, &packed)) {
            body = packed.text;
            length = packed.len;
        }
        ft_strbuf_clear(out);
        put_head(request, out, status, type, length);
        request->started = true;
        if (!request->head && has_length(status) && length) ft_strbuf_add(out, body, length);
        ft_strbuf_release(&packed);
        ft_connection_send(request->connection, out->text, out->len);
        if (out->len > FT_HTTP_SCRATCH) ft_strbuf_release(out);
    }
    request->started = true; /* also when its client is gone */
    answered(request);
}

void ft_http_reply_json(ft_http_request *request, int status, json_t *body)
{
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    assert(text);
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "%s\n", text);
    free(text);
    ft_http_reply(request, status, "application/json", out.text, out.len);
    ft_strbuf_release(&out);
}

/* ---- Problems -------------------------------------------------------------------------------- */

/* Details quote what clients sent, which need not be UTF-8. */
static json_t *text_of(const char *text)
{
    json_t *json = json_string(text);
    if (json) return json;
    char *copy = ft_strdup(text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 126) *c = '?';
    json = json_string(copy);
    free(copy);
    return json;
}

static void put_place(json_t *body, const ft_error *place)
{
    if (place->line) json_object_set_new(body, "line", json_integer((json_int_t)place->line));
    if (place->column) json_object_set_new(body, "column", json_integer((json_int_t)place->column));
    if (place->has_offset)
        json_object_set_new(body, "offset", json_integer((json_int_t)place->offset));
}

void ft_http_reply_problem(ft_http_request *request, const ft_http_problem *problem)
{
    FT_REQUIRE(problem->status >= 400 && problem->detail && problem->code);
    json_t *body = json_pack("{s:s, s:s, s:i, s:o, s:s}", "type", "about:blank", "title",
                             reason_of(problem->status), "status", problem->status, "detail",
                             text_of(problem->detail), "code", problem->code);
    assert(body);
    if (problem->pointer) json_object_set_new(body, "pointer", text_of(problem->pointer));
    if (problem->place) put_place(body, problem->place);
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "%s\n", text);
    free(text);
    ft_http_reply(request, problem->status, "application/problem+json", out.text, out.len);
    ft_strbuf_release(&out);
}

void ft_http_fail(ft_http_request *request, int status, const char *code, const char *format, ...)
{
    char detail[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    ft_http_reply_problem(request, &(ft_http_problem){status, code, detail, NULL, NULL});
}

void ft_http_fail_error(ft_http_request *request, const ft_error *err)
{
    FT_REQUIRE(err->code != FT_OK);
    if (err->code == FT_FULL) ft_http_set(request, "Retry-After", "%d", FULL_S);
    ft_http_reply_problem(request,
                          &(ft_http_problem){ft_status_http(err->code), ft_status_name(err->code),
                                             err->message, NULL, err});
}

/* ---- Streams --------------------------------------------------------------------------------- */

void ft_http_reply_start(ft_http_request *request, int status, const char *type, uint64_t length)
{
    assert(!request->started && !request->answered);
    count(request, status);
    request->started = request->streaming = true;
    if (!request->connection) return;
    ft_strbuf out = {0};
    put_head(request, &out, status, type, length);
    size_t total = out.len;
    ft_connection_write(request->connection, ft_strbuf_take(&out), total);
}

void ft_http_reply_data(ft_http_request *request, const void *bytes, size_t length,
                        ft_http_drained drained, void *data)
{
    assert(request->streaming && !request->answered);
    ft_connection *connection = request->connection;
    if (!connection || request->head || length == 0) {
        drained(data, request, connection != NULL);
        return;
    }
    assert(!connection->drained);
    connection->drained = drained;
    connection->drained_data = data;
    ft_strbuf out = {0};
    if (request->chunked_out) ft_strbuf_printf(&out, "%zx\r\n", length);
    ft_strbuf_add(&out, bytes, length);
    if (request->chunked_out) ft_strbuf_puts(&out, "\r\n");
    size_t total = out.len;
    ft_connection_write(connection, ft_strbuf_take(&out), total);
    if (connection->writing == 0) ft_connection_drained(connection, false);
}

void ft_http_reply_end(ft_http_request *request, bool whole)
{
    assert(request->streaming && !request->answered);
    ft_connection *connection = request->connection;
    if (connection && !whole) {
        request->answered = true;
        ft_connection_close(connection);
        return;
    }
    if (connection && request->chunked_out && !request->head)
        ft_connection_write(connection, ft_strdup("0\r\n\r\n"), 5);
    answered(request);
}
