/* The HTTP front end over a Unix socket: the first byte seeds how the rest is cut into pieces. What
 * comes back must not depend on the cuts, every connection must end with its client, and no request
 * may be left behind. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_INPUT 16384
#define MOST_TURNS 3000 /* of the loop for one connection; a slow one takes some 100 */
#define SENT_MAX   4096
#define DECODED    65536

static struct {
    uv_loop_t loop;
    ft_http *http;
    struct sockaddr_un at;
    uv_timer_t later;         /* the deferred request's */
    ft_http_request *waiting; /* at most one: requests of a connection come in turn */
    uint64_t sum;
    int streamed;
} server;

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* ---- Handlers of every kind ------------------------------------------------------------------ */

static void on_later(uv_timer_t *timer)
{
    (void)timer;
    ft_http_request *request = server.waiting;
    server.waiting = NULL;
    if (request) ft_http_reply(request, 200, "text/plain", "waited", 6);
}

static void wait_for_turn(ft_http_request *request)
{
    require(!server.waiting, "two requests at once on a connection");
    server.waiting = request;
    uv_timer_start(&server.later, on_later, 0, 0);
}

static void on_gone(void *data)
{
    require(server.waiting == data, "a client gone twice");
    server.waiting = NULL;
    ft_http_reply(data, 200, "text/plain", "waited", 6);
}

static void take_in(void *context, ft_http_request *request, const void *bytes, size_t length)
{
    const char *how = context;
    for (size_t i = 0; i < length; i++)
        server.sum = server.sum * 31 + ((const unsigned char *)bytes)[i];
    if (strcmp(how, "/early") == 0) ft_http_reply(request, 200, "text/plain", "enough", 6);
}

static void on_end(void *context, ft_http_request *request)
{
    ft_strbuf out = {0};
    (void)context;
    ft_strbuf_printf(&out, "%llu", (unsigned long long)server.sum);
    ft_http_reply(request, 200, "text/plain", out.text, out.len);
    ft_strbuf_release(&out);
}

static void on_abort(void *context)
{
    (void)context;
    server.waiting = NULL;
}

static void serve_body(ft_http_request *request, const char *how)
{
    server.sum = 7;
    ft_http_take_body(request, (ft_http_body_limits){SENT_MAX, DECODED},
                      (ft_http_sink){take_in, on_end, on_abort, (void *)(uintptr_t)how});
}

static void serve_wait(ft_http_request *request, const char *how)
{
    (void)how;
    wait_for_turn(request);
    ft_http_on_gone(request, on_gone, request);
}

static void stream_on(void *data, ft_http_request *request, bool ok)
{
    (void)data;
    if (!ok || server.streamed++ == 3)
        ft_http_reply_end(request, ok);
    else
        ft_http_reply_data(request, "some of it", 10, stream_on, NULL);
}

static void serve_stream(ft_http_request *request, const char *how)
{
    (void)how;
    server.streamed = 0;
    ft_http_reply_start(request, 200, "text/plain", UINT64_MAX);
    stream_on(NULL, request, true);
}

static void serve_nothing(ft_http_request *request, const char *how)
{
    (void)how;
    ft_http_fail(request, 404, "not-found", "there is no %.100s", ft_http_path(request));
}

static void serve_echo(ft_http_request *request)
{
    const char *x = ft_http_query(request, "x"), *y = ft_http_header(request, "y");
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "%s%s %s x=%s y=%s", ft_http_method(request),
                     ft_http_is_head(request) ? "(HEAD)" : "", ft_http_path(request), x ? x : "-",
                     y ? y : "-");
    for (int i = 0; i < 40; i++) ft_strbuf_puts(&out, " long enough to be packed");
    ft_http_set(request, "X-Y", "%s", y ? y : "");
    ft_http_reply(request, 200, "text/plain", out.text, out.len);
    ft_strbuf_release(&out);
}

static const struct {
    const char *path;
    void (*serve)(ft_http_request *request, const char *how);
} PATHS[] = {{"/sum", serve_body},
             {"/early", serve_body},
             {"/wait", serve_wait},
             {"/stream", serve_stream},
             {"/none", serve_nothing}};

static void on_request(void *context, ft_http_request *request)
{
    (void)context;
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        if (strcmp(ft_http_path(request), PATHS[i].path) == 0) {
            PATHS[i].serve(request, PATHS[i].path);
            return;
        }
    serve_echo(request);
}

static void remove_socket(void)
{
    unlink(server.at.sun_path);
}

static void start_server(void)
{
    const ft_http_limits limits = {.connections = 4,
                                   .target_bytes = 256,
                                   .header_bytes = 1024,
                                   .headers = 12,
                                   .header_ms = 60000,
                                   .idle_ms = 60000,
                                   .linger_ms = 60000,
                                   .body_rate = 1};
    ft_error err = FT_ERROR_INIT;
    server.at.sun_family = AF_UNIX;
    snprintf(server.at.sun_path, sizeof server.at.sun_path, "/tmp/fuzz-http-%d", (int)getpid());
    uv_loop_init(&server.loop);
    uv_timer_init(&server.loop, &server.later);
    server.http = ft_http_new(&server.loop, &limits, (ft_http_handler){on_request, NULL});
    ft_status status = ft_http_listen_unix(server.http, server.at.sun_path, &err);
    require(status == FT_OK, err.message);
    atexit(remove_socket);
}

/* ---- The client ------------------------------------------------------------------------------ */

/* False at the end of the answers. */
static bool receive(int fd, ft_strbuf *out)
{
    char piece[4096];
    for (;;) {
        ssize_t got = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0) return false;
        ft_strbuf_add(out, piece, (size_t)got);
    }
}

static void turn(int fd, ft_strbuf *out)
{
    uv_run(&server.loop, UV_RUN_NOWAIT);
    (void)receive(fd, out);
}

/* seed 0: in one piece. */
static ft_strbuf converse(const uint8_t *data, size_t size, uint32_t seed)
{
    ft_strbuf out = {0};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(connect(fd, (struct sockaddr *)&server.at, sizeof server.at) == 0, "no connection");
    for (size_t at = 0, length; at < size; at += length) {
        seed = seed * 1103515245u + 12345u;
        size_t most = seed & 0x10000 ? 3 : 64;
        length = seed ? 1 + (seed >> 17) % most : size;
        if (length > size - at) length = size - at;
        ssize_t sent = send(fd, data + at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0 && (size_t)sent < length) length = (size_t)sent;
        turn(fd, &out);
    }
    /* Time for what is deferred: the end of the client may spare the server an answer. */
    for (int i = 0; i < 12; i++) turn(fd, &out);
    shutdown(fd, SHUT_WR);
    int turns = 0;
    while (receive(fd, &out) && turns++ < MOST_TURNS) uv_run(&server.loop, UV_RUN_NOWAIT);
    require(turns < MOST_TURNS, "a connection that does not end with its client");
    close(fd);
    for (turns = 0; ft_http_statistics(server.http)->open && turns < MOST_TURNS; turns++)
        uv_run(&server.loop, UV_RUN_NOWAIT);
    require(turns < MOST_TURNS, "a connection is left behind");
    require(!server.waiting, "a request is left behind");
    return out;
}

/* ---- What may differ ------------------------------------------------------------------------- */

static char *find(const ft_strbuf *text, size_t from, const char *what)
{
    return from < text->len ? memmem(text->text + from, text->len - from, what, strlen(what))
                            : NULL;
}

static size_t count(const ft_strbuf *text, size_t from, const char *what)
{
    size_t n = 0;
    for (const char *at; (at = find(text, from, what)); from = (size_t)(at - text->text) + 1) n++;
    return n;
}

static void mask_dates(ft_strbuf *out)
{
    static const char DATE[] = "\r\nDate: ";
    for (char *at = find(out, 0, DATE); at; at = find(out, (size_t)(at - out->text), DATE))
        for (at += sizeof DATE - 1; *at && *at != '\r'; at++) *at = '-';
}

/* Whether a connection is kept after an answer depends on how much of a request to refuse was
 * seen. */
static void drop_closes(ft_strbuf *out)
{
    static const char CLOSE[] = "Connection: close\r\n";
    for (char *at; (at = find(out, 0, CLOSE));) {
        size_t after = (size_t)(at - out->text) + sizeof CLOSE - 1;
        memmove(at, out->text + after, out->len - after + 1);
        out->len -= sizeof CLOSE - 1;
    }
}

/* Takes the refusal of a malformed request off the end: which fault is told first depends on the
 * cuts, since the guard looks ahead of the parser. True: there was one. */
static bool drop_refusal(ft_strbuf *out)
{
    static const char *const REFUSALS[] = {"400", "413", "414", "417", "431", "501", "505"};
    static const char LINE[] = "HTTP/1.1 ";
    char *last = NULL;
    for (char *at = find(out, 0, LINE); at; at = find(out, (size_t)(at - out->text) + 1, LINE))
        last = at;
    for (size_t i = 0; last && i < sizeof REFUSALS / sizeof *REFUSALS; i++)
        if (strncmp(last + sizeof LINE - 1, REFUSALS[i], 3) == 0) {
            out->len = (size_t)(last - out->text);
            *last = '\0';
            return true;
        }
    return false;
}

/* A malformed request may have had its answer, or not yet, when the fault showed. */
static bool agree(ft_strbuf *a, ft_strbuf *b)
{
    mask_dates(a);
    mask_dates(b);
    drop_closes(a);
    drop_closes(b);
    bool refused = drop_refusal(a);
    refused |= drop_refusal(b);
    const ft_strbuf *longer = a->len > b->len ? a : b;
    size_t common = a->len < b->len ? a->len : b->len;
    if (memcmp(ft_strbuf_text(a), ft_strbuf_text(b), common) != 0) return false;
    if (longer->len == common) return true;
    return refused && count(longer, common, "\r\nDate: -") <= 1;
}

/* Whether "100 Continue" is sent, and with it whether the connection can be kept, may depend on
 * what has arrived already (RFC 9110 §10.1.1). */
static bool has_expectation(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 6 <= size; i++)
        if (strncasecmp((const char *)data + i, "expect", 6) == 0) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > MOST_INPUT) return 0;
    if (!server.http) start_server();
    ft_strbuf whole = converse(data + 1, size - 1, 0);
    ft_strbuf parts = converse(data + 1, size - 1, data[0] + 1u);
    require(!whole.len || strncmp(whole.text, "HTTP/1.1 ", 9) == 0, "no HTTP comes back");
    if (!has_expectation(data, size) && !agree(&whole, &parts)) {
        fprintf(stderr, "in one piece:\n%s\n---- in pieces:\n%s\n", ft_strbuf_text(&whole),
                ft_strbuf_text(&parts));
        require(false, "the cuts make a difference");
    }
    ft_strbuf_release(&whole);
    ft_strbuf_release(&parts);
    return 0;
}
