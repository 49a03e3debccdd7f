/* Bytes to requests: the guard first, llhttp behind it, and the checks of the head that neither
 * makes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"

static ft_http_request *request_of(llhttp_t *parser)
{
    return ((ft_connection *)parser->data)->request;
}

static int on_url(llhttp_t *parser, const char *at, size_t length)
{
    ft_strbuf_add(&request_of(parser)->url, at, length);
    return 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t length)
{
    ft_strbuf_add(&request_of(parser)->name, at, length);
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t length)
{
    ft_strbuf_add(&request_of(parser)->value, at, length);
    return 0;
}

static int on_value_complete(llhttp_t *parser)
{
    ft_http_request *request = request_of(parser);
    ft_connection *connection = parser->data;
    size_t length = request->value.len;
    while (length &&
           (request->value.text[length - 1] == ' ' || request->value.text[length - 1] == '\t'))
        length--;
    /* Trailers say nothing that a handler may rely on (RFC 9110 §6.5.1). */
    if (!connection->head_complete) {
        ft_http_field field = {
            ft_arena_strndup(request->arena, ft_strbuf_text(&request->name), request->name.len),
            ft_arena_strndup(request->arena, ft_strbuf_text(&request->value), length)};
        for (char *c = field.name; *c; c++) *c = (char)tolower((unsigned char)*c);
        if (strcmp(field.name, "if-match") == 0) request->if_match = true;
        ft_vec_push(&request->fields, field);
    }
    ft_strbuf_clear(&request->name);
    ft_strbuf_clear(&request->value);
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    ft_connection *connection = parser->data;
    ft_http_request *request = connection->request;
    connection->head_complete = true;
    request->method =
        ft_arena_printf(request->arena, "%s", llhttp_method_name((llhttp_method_t)parser->method));
    request->chunked = (parser->flags & F_CHUNKED) != 0;
    request->content_length = (parser->flags & F_CONTENT_LENGTH) ? parser->content_length : 0;
    request->http_1_0 = parser->http_minor == 0;
    parser->upgrade = 0; /* no protocol is offered: Upgrade is ignored (RFC 9110 §7.8) */
    return 0;
}

/* Nothing is done with a body inside llhttp: the span is remembered and handed on outside. */
static int on_body(llhttp_t *parser, const char *at, size_t length)
{
    ft_connection *connection = parser->data;
    connection->span = at;
    connection->span_len = length;
    return HPE_PAUSED;
}

static int on_message_complete(llhttp_t *parser)
{
    ((ft_connection *)parser->data)->message_complete = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t SETTINGS = {.on_url = on_url,
                                           .on_header_field = on_field,
                                           .on_header_value = on_value,
                                           .on_header_value_complete = on_value_complete,
                                           .on_headers_complete = on_headers_complete,
                                           .on_body = on_body,
                                           .on_message_complete = on_message_complete};

/* A fresh parser for each message: nothing of the last one can reach into the next. */
void ft_parser_begin(ft_connection *connection)
{
    const ft_http_limits *limits = &connection->http->limits;
    llhttp_init(&connection->parser, HTTP_REQUEST, &SETTINGS);
    connection->parser.data = connection;
    ft_guard_init(&connection->guard, limits->target_bytes, limits->header_bytes, limits->headers);
    connection->head_complete = connection->message_complete = connection->continued = false;
    connection->in_scanned = connection->in_pos;
}

static bool refuse(ft_connection *connection, int status, const char *code, const char *detail)
{
    ft_connection_refuse(connection, &(ft_http_problem){status, code, detail, NULL, NULL});
    return false;
}

/* ---- The head -------------------------------------------------------------------------------- */

static const ft_http_field *only_field(const ft_http_request *request, const char *name,
                                       unsigned *count)
{
    const ft_http_field *found = NULL;
    *count = 0;
    for (size_t i = 0; i < request->fields.len; i++) {
        if (strcmp(request->fields.data[i].name, name) != 0) continue;
        found = &request->fields.data[i];
        ++*count;
    }
    return found;
}

/* RFC 3986 §3.2.3; the colon may stand alone. */
static bool port_is_well_formed(const char *port)
{
    size_t length = strspn(port, "0123456789");
    return port[length] == '\0' && length <= 5 && strtoul(port, NULL, 10) <= 65535;
}

/* An IPv6 address in brackets: its length with them, 0: it is none. */
static size_t literal_length(const char *host)
{
    char address[64];
    unsigned char bytes[16];
    size_t length = strcspn(host + 1, "]");
    if (host[1 + length] != ']' || length >= sizeof address) return 0;
    snprintf(address, sizeof address, "%.*s", (int)length, host + 1);
    return strchr(address, '%') || uv_inet_pton(AF_INET6, address, bytes) != 0 ? 0 : length + 2;
}

static size_t name_length(const char *host)
{
    size_t length = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-._~!$&'()*+,;=%");
    for (size_t i = 0; i < length; i++)
        if (host[i] == '%' &&
            (!isxdigit((unsigned char)host[i + 1]) || !isxdigit((unsigned char)host[i + 2])))
            return 0;
    return length;
}

/* RFC 3986 §3.2.2, without user information (RFC 9110 §4.2.4) and future kinds of addresses. A
 * comma is allowed in names, and what joins two fields into one: refused. */
static bool host_is_well_formed(const char *host)
{
    size_t length = *host == '[' ? literal_length(host) : name_length(host);
    if (length == 0 || memchr(host, ',', length)) return false;
    return host[length] == '\0' || (host[length] == ':' && port_is_well_formed(host + length + 1));
}

static const char *check_host(const ft_http_request *request)
{
    unsigned count;
    const ft_http_field *host = only_field(request, "host", &count);
    if (count == 0) return request->http_1_0 ? NULL : "the Host header is missing";
    if (count > 1) return "the request has several Host headers";
    return host_is_well_formed(host->value) ? NULL : "the Host header is malformed";
}

bool ft_http_unescape(char *text, bool query)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        char c = *from;
        if (query && c == '+') c = ' ';
        if (c == '%') {
            if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2]))
                return false;
            char hex[3] = {from[1], from[2], 0};
            c = (char)strtol(hex, NULL, 16);
            from += 2;
            if (c == '\0' || (c == '/' && !query)) return false;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

static bool is_authority_end(char c)
{
    return c == '/' || c == '?' || c == '\0';
}

/* RFC 9112 §3.2.2: the authority of an absolute form counts, not Host. Returns where it ends, NULL:
 * it is none. */
static char *take_authority(ft_http_request *request, char *authority)
{
    char *end = authority;
    while (!is_authority_end(*end)) end++;
    char *host = ft_arena_strndup(request->arena, authority, (size_t)(end - authority));
    for (size_t i = 0; i < request->fields.len; i++)
        if (strcmp(request->fields.data[i].name, "host") == 0) request->fields.data[i].value = host;
    return host_is_well_formed(host) ? end : NULL;
}

/* RFC 9112 §3.2: origin form, absolute form or the asterisk. */
static const char *split_target(ft_http_request *request)
{
    char *path = request->target = ft_strbuf_take(&request->url);
    if (!path) return "the request has no target";
    if (strcmp(path, "*") == 0 && strcmp(request->method, "OPTIONS") == 0) {
        request->path = ft_arena_strndup(request->arena, path, 1);
        return NULL;
    }
    if (strncasecmp(path, "http://", 7) == 0) {
        path = take_authority(request, path + 7);
        if (!path) return "the host in the request target is malformed";
    } else if (*path != '/') {
        return "the request target must start with a slash";
    }
    if (strchr(path, '#')) return "the request target has a fragment";
    size_t length = strcspn(path, "?");
    request->path = ft_arena_strndup(request->arena, length ? path : "/", length ? length : 1);
    if (path[length] == '?')
        request->query =
            ft_arena_strndup(request->arena, path + length + 1, strlen(path + length + 1));
    return ft_http_unescape(request->path, false)
               ? NULL
               : "the percent-encoding of the request target is malformed";
}

/* RFC 9112 §6.1 and §6.3: where chunked does not come last nobody knows where the body ends; with
 * another coding before it somebody else may. */
static int check_coding(ft_http_request *request, const char **text)
{
    const char *coding = ft_http_header(request, "transfer-encoding");
    if (!coding || strcasecmp(coding, "chunked") == 0) return 0;
    const char *comma = strrchr(coding, ','), *last = comma ? comma + 1 : coding;
    last += strspn(last, " \t");
    bool chunked = strcasecmp(last, "chunked") == 0;
    *text = chunked ? "only the transfer coding \"chunked\" is supported"
                    : "the last transfer coding must be \"chunked\"";
    return chunked ? 501 : 400;
}

/* RFC 9110 §8.6: one number; llhttp has read it. */
static bool length_is_good(const ft_http_request *request)
{
    unsigned count;
    const ft_http_field *length = only_field(request, "content-length", &count);
    return count == 0 || (count == 1 && *length->value &&
                          strspn(length->value, "0123456789") == strlen(length->value));
}

/* Checks the head that was read and splits the target. *status and *text: the refusal. */
static bool check_head(ft_http_request *request, int *status, const char **text)
{
    unsigned count;
    const ft_http_field *expect = only_field(request, "expect", &count);
    request->expects = count == 1 && strcasecmp(expect->value, "100-continue") == 0;
    *status = check_coding(request, text);
    if (*status) return false;
    *status = 501;
    *text = "CONNECT is not supported";
    if (strcmp(request->method, "CONNECT") == 0) return false;
    *status = 400;
    *text = "HTTP/1.0 has no transfer codings";
    if (request->chunked && request->http_1_0) return false;
    *text = "the Content-Length is malformed";
    if (!length_is_good(request)) return false;
    *text = check_host(request);
    if (!*text) *text = split_target(request);
    if (*text) return false;
    *status = 417;
    *text = "the only expectation supported is 100-continue";
    return count == 0 || request->expects;
}

/* RFC 9112 §9.3. llhttp takes Proxy-Connection for Connection. */
static bool keeps_alive(ft_http_request *request)
{
    bool kept = false;
    for (const char *at = ft_http_header(request, "connection"); at && *at;) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ", \t");
        if (length == 5 && strncasecmp(at, "close", length) == 0) return false;
        if (length == 10 && strncasecmp(at, "keep-alive", length) == 0) kept = true;
        at += length;
    }
    return kept || !request->http_1_0;
}

static bool head_done(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    int status;
    const char *text;
    request->head = strcmp(request->method, "HEAD") == 0;
    request->keep_alive = keeps_alive(request);
    int major = connection->parser.http_major, minor = connection->parser.http_minor;
    if (major != 1 || minor > 1)
        return refuse(connection, 505, "http-version",
                      "this server supports HTTP/1.1 and HTTP/1.0");
    if (!check_head(request, &status, &text))
        return refuse(connection, status, "malformed-request", text);
    if (request->head) request->method = ft_arena_strndup(request->arena, "GET", 3);
    if (request->chunked)
        ft_guard_body_chunked(&connection->guard);
    else
        ft_guard_body_length(&connection->guard, request->content_length);
    ft_connection_enter(connection, FT_PHASE_BODY);
    connection->body_began = uv_now(connection->http->loop);
    return true;
}

static bool refuse_llhttp(ft_connection *connection, llhttp_errno_t code)
{
    /* The guard has refused methods that are not tokens. */
    if (code == HPE_INVALID_METHOD)
        return refuse(connection, 501, "unknown-method", "this server does not know the method");
    if (code == HPE_INVALID_VERSION || code == HPE_PAUSED_H2_UPGRADE)
        return refuse(connection, 505, "http-version",
                      "this server supports HTTP/1.1 and HTTP/1.0");
    ft_strbuf detail = {0};
    const char *reason = llhttp_get_error_reason(&connection->parser);
    ft_strbuf_printf(&detail, "the request is malformed: %s",
                     reason && *reason ? reason : llhttp_errno_name(code));
    refuse(connection, 400, "malformed-request", detail.text);
    ft_strbuf_release(&detail);
    return false;
}

/* ---- Feeding --------------------------------------------------------------------------------- */

static bool scan(ft_connection *connection)
{
    size_t used;
    ft_guard_fault fault =
        ft_guard_scan(&connection->guard, connection->in + connection->in_scanned,
                      connection->in_len - connection->in_scanned, &used);
    connection->in_scanned += used;
    if (fault == FT_GUARD_NONE) return true;
    int status = ft_guard_fault_status(fault);
    return refuse(connection, status, status == 400 ? "malformed-request" : "limit-exceeded",
                  ft_guard_fault_text(fault));
}

static bool agree(ft_connection *connection)
{
    ft_guard_state state = connection->guard.state;
    bool spent = connection->in_pos == connection->in_scanned && connection->span_len == 0;
    bool head_ended = state >= FT_GUARD_HEAD_END || connection->guard.trailers;
    if (spent && head_ended == connection->head_complete &&
        (state == FT_GUARD_END) == connection->message_complete)
        return true;
    if (!spent && head_ended && connection->head_complete) return true;
    return refuse(connection, 400, "malformed-request",
                  "the headers do not say clearly where the request ends");
}

bool ft_parser_feed(ft_connection *connection)
{
    if (!scan(connection)) return false;
    bool had_head = connection->head_complete;
    size_t length = connection->in_scanned - connection->in_pos;
    const char *from = connection->in + connection->in_pos;
    if (llhttp_get_errno(&connection->parser) == HPE_PAUSED) llhttp_resume(&connection->parser);
    llhttp_errno_t code = llhttp_execute(&connection->parser, from, length);
    if (code != HPE_OK && code != HPE_PAUSED) return refuse_llhttp(connection, code);
    connection->in_pos = code == HPE_OK
                             ? connection->in_scanned
                             : (size_t)(llhttp_get_error_pos(&connection->parser) - connection->in);
    if (!had_head && connection->head_complete) return head_done(connection) && agree(connection);
    return agree(connection);
}
