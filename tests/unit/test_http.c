/* server/http over real sockets: a server in a thread, raw bytes from here. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "http/guard.h"
#include "http/http.h"

#define SENT_MAX    (256u << 10)
#define DECODED_MAX (8u << 20)
#define STREAMED    (3u << 20)
#define PIECE       (100u << 10)

/* ---- The server ------------------------------------------------------------------------------ */

static struct {
    uv_loop_t loop;
    uv_async_t stop;
    ft_http *http;
    int port;
    char folder[64], path[96];
    pthread_t thread;
    ft_http_request *waiting; /* the deferred GET /wait */
    size_t streamed;
    uint64_t sum;
} server;

static void sum_data(void *context, ft_http_request *request, const void *bytes, size_t length)
{
    (void)context;
    (void)request;
    (void)bytes;
    server.sum += length;
}

static void sum_end(void *context, ft_http_request *request)
{
    (void)context;
    char text[32];
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)server.sum);
    ft_http_reply(request, 200, "text/plain", text, (size_t)length);
}

static void sum_abort(void *context)
{
    (void)context;
}

static void waiter_gone(void *data)
{
    ft_http_request *request = data;
    server.waiting = NULL;
    ft_http_reply(request, 200, "text/plain", "gone", 4);
}

static void stream_on(void *data, ft_http_request *request, bool ok)
{
    static char piece[PIECE];
    (void)data;
    if (!ok || server.streamed >= STREAMED) {
        ft_http_reply_end(request, ok);
        return;
    }
    size_t length = STREAMED - server.streamed < PIECE ? STREAMED - server.streamed : PIECE;
    memset(piece, 'a' + (int)(server.streamed / PIECE) % 26, sizeof piece);
    server.streamed += length;
    ft_http_reply_data(request, piece, length, stream_on, NULL);
}

static void serve_sum(ft_http_request *request)
{
    server.sum = 0;
    ft_http_take_body(request, (ft_http_body_limits){SENT_MAX, DECODED_MAX},
                      (ft_http_sink){sum_data, sum_end, sum_abort, NULL});
}

static void serve_wait(ft_http_request *request)
{
    server.waiting = request;
    ft_http_on_gone(request, waiter_gone, request);
}

static void serve_release(ft_http_request *request)
{
    ft_http_request *waiting = server.waiting;
    server.waiting = NULL;
    if (waiting) ft_http_reply(waiting, 200, "text/plain", "released", 8);
    ft_http_reply(request, 200, "text/plain", waiting ? "yes" : "no", waiting ? 3 : 2);
}

static void serve_stream(ft_http_request *request)
{
    server.streamed = 0;
    ft_http_reply_start(request, 200, "application/octet-stream", UINT64_MAX);
    stream_on(NULL, request, true);
}

static void serve_echo(ft_http_request *request)
{
    const char *x = ft_http_query(request, "x"), *twice = ft_http_header(request, "x-twice");
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "%s %s x=%s twice=%s", ft_http_method(request), ft_http_path(request),
                     x ? x : "-", twice ? twice : "-");
    ft_http_reply(request, 200, "text/plain", out.text, out.len);
    ft_strbuf_release(&out);
}

static const struct {
    const char *path;
    void (*serve)(ft_http_request *request);
} PATHS[] = {{"/sum", serve_sum},
             {"/wait", serve_wait},
             {"/release", serve_release},
             {"/stream", serve_stream}};

static void on_request(void *context, ft_http_request *request)
{
    (void)context;
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        if (strcmp(ft_http_path(request), PATHS[i].path) == 0) {
            PATHS[i].serve(request);
            return;
        }
    serve_echo(request);
}

static void on_stopped(void *data)
{
    (void)data;
    uv_close((uv_handle_t *)&server.stop, NULL);
}

static void on_stop(uv_async_t *async)
{
    (void)async;
    ft_http_close(server.http, 1000, on_stopped, NULL);
}

static void *run(void *unused)
{
    (void)unused;
    uv_run(&server.loop, UV_RUN_DEFAULT);
    return NULL;
}

static int start(void **state)
{
    (void)state;
    ft_http_limits limits = ft_http_default_limits;
    limits.connections = 8;
    limits.target_bytes = 1024;
    limits.header_bytes = 4096;
    limits.headers = 20;
    limits.header_ms = 300;
    limits.idle_ms = 700;
    ft_error err = FT_ERROR_INIT;
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&server.loop);
    uv_async_init(&server.loop, &server.stop, on_stop);
    server.http = ft_http_new(&server.loop, &limits, (ft_http_handler){on_request, NULL});
    if (ft_http_listen_tcp(server.http, "127.0.0.1", 0, &server.port, &err) != FT_OK) return -1;
    snprintf(server.folder, sizeof server.folder, "/tmp/ft-http-XXXXXX");
    if (!mkdtemp(server.folder)) return -1;
    snprintf(server.path, sizeof server.path, "%s/socket", server.folder);
    if (ft_http_listen_unix(server.http, server.path, &err) != FT_OK) return -1;
    return pthread_create(&server.thread, NULL, run, NULL);
}

static int stop(void **state)
{
    (void)state;
    uv_async_send(&server.stop);
    pthread_join(server.thread, NULL);
    int left = uv_loop_close(&server.loop);
    unlink(server.path);
    rmdir(server.folder);
    return left;
}

/* ---- The client ------------------------------------------------------------------------------ */

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* The peer may have answered and closed already, so a failed send is no failure of the test. */
static void send_bytes(int fd, const void *data, size_t length)
{
    for (const char *at = data; length;) {
        ssize_t put = send(fd, at, length, MSG_NOSIGNAL);
        if (put <= 0) return;
        at += put;
        length -= (size_t)put;
    }
}

static void send_text(int fd, const char *text)
{
    send_bytes(fd, text, strlen(text));
}

/* Reads until `until` was seen, or the end; fails after ten seconds of silence. */
static void receive(int fd, ft_strbuf *out, const char *until)
{
    char piece[4096];
    while (!until || !out->len || !strstr(out->text, until)) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 10000), 1);
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0) return;
        ft_strbuf_add(out, piece, (size_t)got);
    }
}

/* Sends, reads to the end of the connection (the request asks for it, or is refused). */
static ft_strbuf exchange(const void *data, size_t length)
{
    ft_strbuf out = {0};
    int fd = dial();
    send_bytes(fd, data, length);
    receive(fd, &out, NULL);
    close(fd);
    return out;
}

static void expect(const char *request, size_t length, const char *status, const char *text)
{
    ft_strbuf answer = exchange(request, length);
    char line[64];
    snprintf(line, sizeof line, "HTTP/1.1 %s ", status);
    if (strncmp(ft_strbuf_text(&answer), line, strlen(line)) != 0 || !strstr(answer.text, text))
        fail_msg("for %.200s\nexpected %s with \"%s\", got\n%s", request, status, text,
                 ft_strbuf_text(&answer));
    ft_strbuf_release(&answer);
}

static void expect_text(const char *request, const char *status, const char *text)
{
    expect(request, strlen(request), status, text);
}

/* ---- Heads ----------------------------------------------------------------------------------- */

#define HOST  "Host: localhost\r\n"
#define CLOSE "Connection: close\r\n"

static const struct {
    const char *request, *status, *text;
} HEADS[] = {
    {"GET /a%20b?x=%26+1 HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "GET /a b x=& 1 twice=-"},
    {"\r\nGET /a HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "GET /a"},
    {"GET http://other/b HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "GET /b"},
    {"GET /t HTTP/1.1\r\n" HOST CLOSE "X-Twice: 1 \r\nx-twice:2\r\n\r\n", "200", "twice=1, 2"},
    {"OPTIONS * HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "OPTIONS *"},
    {"GET /a HTTP/1.0\r\n\r\n", "200", "GET /a"},
    {"GET /a HTTP/1.1\r\n" HOST "Connection: close, upgrade\r\nUpgrade: h2c\r\n\r\n", "200", "/a"},
    {"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n", "400", "Host header is missing"},
    {"GET /a HTTP/1.1\r\n" HOST HOST "\r\n", "400", "several Host"},
    {"GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n", "400", "Host header is malformed"},
    {"GET /a HTTP/1.1\r\nHost: user@a\r\n\r\n", "400", "Host header is malformed"},
    {"GET /a HTTP/1.1\r\nHost: a:b\r\n\r\n", "400", "Host header is malformed"},
    {"GET /a HTTP/1.1\r\nHost: \r\n\r\n", "400", "Host header is malformed"},
    {"GET /a HTTP/1.1\r\nHost: a b\r\n\r\n", "400", "Host header is malformed"},
    {"GET /a HTTP/1.1\r\nHost: [::1]:80\r\n" CLOSE "\r\n", "200", "GET /a"},
    {"GET /a HTTP/1.1\r\n" HOST "A: b\rC: d\r\n\r\n", "400", "carriage return"},
    {"GET /a HTTP/1.1\r\n" HOST "\r\r\n\r\n", "400", "carriage return"},
    {"GET /a HTTP/1.1\r\n" HOST "A: b\r\n\rX", "400", "carriage return"},
    {"GET /a HTTP/1.1\n" HOST "\r\n", "400", "without a carriage return"},
    {"GET /a HTTP/1.1\r\n" HOST "A: b\nC: d\r\n\r\n", "400", "without a carriage return"},
    {"GET /a HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n", "400", "folded"},
    {"GET /a HTTP/1.1\r\n" HOST "A: b\r\n\tc\r\n\r\n", "400", "folded"},
    {"GET /a HTTP/1.1\r\n" HOST ": b\r\n\r\n", "400", "has no name"},
    {"GET /a HTTP/1.1\r\n" HOST "A b\r\n\r\n", "400", "header name"},
    {"GET /a HTTP/1.1\r\n" HOST "A : b\r\n\r\n", "400", "header name"},
    {"GET /a HTTP/1.1\r\n" HOST "Ab\r\n\r\n", "400", "colon"},
    {"GET /a HTTP/1.1\r\n" HOST "A: \001\r\n\r\n", "400", "malformed"},
    {"GET /%zz HTTP/1.1\r\n" HOST "\r\n", "400", "percent"},
    {"GET /a%00 HTTP/1.1\r\n" HOST "\r\n", "400", "percent"},
    {"GET /a%2fb HTTP/1.1\r\n" HOST "\r\n", "400", "percent"},
    {"GET a HTTP/1.1\r\n" HOST "\r\n", "400", "malformed"},
    {"GET /a HTTP/2.0\r\n" HOST "\r\n", "505", "HTTP/1.1"},
    {"GET /a HTTP/1.2\r\n" HOST "\r\n", "505", "HTTP/1.1"},
    {"GET /a\r\n\r\n", "400", "HTTP/1.1"},
    {"NEWS /a HTTP/1.1\r\n" HOST "\r\n", "501", "method"},
    {"get /a HTTP/1.1\r\n" HOST "\r\n", "501", "method"},
    {"CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", "501", "CONNECT"},
    {"\026\003\001\002", "400", "malformed"},
    {"POST /sum HTTP/1.1\r\n" HOST "Expect: tea\r\nContent-Length: 1\r\n\r\n", "417", "100"},
    {"POST /sum HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", "400",
     "malf"},
    {"POST /sum HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", "400", "malformed"},
    {"POST /sum HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400",
     "malformed"},
    {"POST /sum HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", "501", "chunked"},
    {"POST /sum HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", "400", "malformed"},
    {"POST /sum HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", "1.0"},
};

static void heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof HEADS / sizeof *HEADS; i++)
        expect_text(HEADS[i].request, HEADS[i].status, HEADS[i].text);
}

static void long_heads(void **state)
{
    (void)state;
    ft_strbuf target = {0}, header = {0}, many = {0};
    ft_strbuf_printf(&target, "GET /%02000d HTTP/1.1\r\n" HOST "\r\n", 0);
    expect_text(target.text, "414", "request line");
    ft_strbuf_printf(&header, "GET / HTTP/1.1\r\n" HOST "A: %05000d\r\n\r\n", 0);
    expect_text(header.text, "431", "too long");
    ft_strbuf_puts(&many, "GET / HTTP/1.1\r\n" HOST);
    for (int i = 0; i < 30; i++) ft_strbuf_puts(&many, "A: b\r\n");
    ft_strbuf_puts(&many, "\r\n");
    expect_text(many.text, "431", "too many");
    ft_strbuf_release(&target);
    ft_strbuf_release(&header);
    ft_strbuf_release(&many);
}

static void nul_in_a_header(void **state)
{
    (void)state;
    static const char REQUEST[] = "GET /a HTTP/1.1\r\n" HOST "A: b\0c\r\n\r\n";
    expect(REQUEST, sizeof REQUEST - 1, "400", "NUL");
}

/* However the bytes are cut into packets, the answers are the same. */
static void byte_by_byte(void **state)
{
    (void)state;
    static const char REQUEST[] =
        "POST /sum HTTP/1.1\r\n" HOST CLOSE "Transfer-Encoding: chunked\r\n\r\n"
        "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n";
    ft_strbuf out = {0};
    int fd = dial();
    for (size_t i = 0; i < sizeof REQUEST - 1; i++) send_bytes(fd, REQUEST + i, 1);
    receive(fd, &out, NULL);
    close(fd);
    assert_non_null(strstr(ft_strbuf_text(&out), "HTTP/1.1 200 "));
    assert_non_null(strstr(out.text, "\r\n\r\n5"));
    ft_strbuf_release(&out);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void post(const char *coding, const void *body, size_t length, const char *status,
                 const char *text)
{
    ft_strbuf request = {0};
    ft_strbuf_printf(&request, "POST /sum HTTP/1.1\r\n" HOST CLOSE "Content-Length: %zu\r\n",
                     length);
    if (coding) ft_strbuf_printf(&request, "Content-Encoding: %s\r\n", coding);
    ft_strbuf_puts(&request, "\r\n");
    ft_strbuf_add(&request, body, length);
    expect(request.text, request.len, status, text);
    ft_strbuf_release(&request);
}

static size_t gzip(const void *from, size_t length, void *to, size_t capacity)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)from;
    z.avail_in = (uInt)length;
    z.next_out = to;
    z.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return capacity - z.avail_out;
}

static void plain_bodies(void **state)
{
    (void)state;
    static char body[SENT_MAX + 1];
    post(NULL, "hello", 5, "200", "\r\n\r\n5");
    post("identity", "hello", 5, "200", "\r\n\r\n5");
    post(NULL, body, SENT_MAX, "200", "\r\n\r\n262144");
    post(NULL, body, SENT_MAX + 1, "413", "the limit is");
    post("br", "hello", 5, "415", "send gzip, zstd or none");
    post("gzip, gzip", "hello", 5, "415", "send gzip, zstd or none");
    expect_text("POST /sum HTTP/1.1\r\n" HOST CLOSE "Content-Length: 0\r\n\r\n", "200",
                "\r\n\r\n0");
}

static void coded_bodies(void **state, const char *coding, char *coded, size_t length)
{
    (void)state;
    post(coding, coded, length, "200", "\r\n\r\n500000");
    post(coding, coded, length - 5, "400", "is truncated");
    post(coding, coded, 3, "400", "is truncated");
    post(coding, "", 0, "400", "is truncated");
    post(coding, "this is not compressed at all", 29, "400", "corrupt");
    char *twice = ft_alloc(2 * length);
    memcpy(twice, coded, length);
    memcpy(twice + length, coded, length);
    post(coding, twice, 2 * length, "200", "\r\n\r\n1000000");
    memcpy(twice + length, "trailing rubbish", 16);
    post(coding, twice, length + 16, "400", "corrupt");
    free(twice);
}

static void gzip_bodies(void **state)
{
    static char body[500000], coded[10000];
    coded_bodies(state, "gzip", coded, gzip(body, sizeof body, coded, sizeof coded));
}

static void zstd_bodies(void **state)
{
    static char body[500000], coded[10000];
    size_t length = ZSTD_compress(coded, sizeof coded, body, sizeof body, 3);
    assert_false(ZSTD_isError(length));
    coded_bodies(state, "zstd", coded, length);
}

/* Small as sent, large when decoded: refused at the limit. */
static void bombs(void **state)
{
    (void)state;
    size_t size = 64u << 20;
    char *body = ft_calloc(1, size), *coded = ft_alloc(SENT_MAX);
    post("gzip", coded, gzip(body, size, coded, SENT_MAX), "413", "after decoding");
    size_t length = ZSTD_compress(coded, SENT_MAX, body, size, 3);
    assert_false(ZSTD_isError(length));
    post("zstd", coded, length, "413", "after decoding");
    length = ZSTD_compress(coded, SENT_MAX, body, DECODED_MAX, 3);
    post("zstd", coded, length, "200", "\r\n\r\n8388608");
    free(body);
    free(coded);
}

static const char *const BAD_CHUNKS[] = {"x\r\n",         "\r\n",           "3\r\nabcd\r\n",
                                         "3 \r\nabc\r\n", "3\nabc\r\n",     "3\rXabc\r\n",
                                         "-1\r\n",        "3\r\nabc\rX0\r", "1000000000000000\r\n"};

static void chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD_CHUNKS / sizeof *BAD_CHUNKS; i++) {
        ft_strbuf request = {0};
        ft_strbuf_printf(&request,
                         "POST /sum HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n%s",
                         BAD_CHUNKS[i]);
        expect(request.text, request.len, "400", "problem+json");
        ft_strbuf_release(&request);
    }
}

static void body_limit_of_chunks(void **state)
{
    (void)state;
    ft_strbuf request = {0};
    ft_strbuf_puts(&request, "POST /sum HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 300; i++) ft_strbuf_printf(&request, "400\r\n%01024d\r\n", 0);
    ft_strbuf_puts(&request, "0\r\n\r\n");
    expect(request.text, request.len, "413", "as sent");
    ft_strbuf_release(&request);
}

static void cut_requests(void **state)
{
    (void)state;
    static const char *const CUT[] = {"GET /a HT", "POST /sum HTTP/1.1\r\n" HOST
                                                   "Content-Length: 10\r\n\r\nabc"};
    for (size_t i = 0; i < 2; i++) {
        ft_strbuf out = {0};
        int fd = dial();
        send_text(fd, CUT[i]);
        shutdown(fd, SHUT_WR);
        receive(fd, &out, NULL);
        assert_non_null(strstr(ft_strbuf_text(&out), "400 "));
        close(fd);
        ft_strbuf_release(&out);
    }
}

static void expect_continue(void **state)
{
    (void)state;
    ft_strbuf out = {0};
    int fd = dial();
    send_text(fd, "POST /sum HTTP/1.1\r\n" HOST CLOSE
                  "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    receive(fd, &out, "\r\n\r\n");
    assert_string_equal(out.text, "HTTP/1.1 100 Continue\r\n\r\n");
    send_text(fd, "abc");
    receive(fd, &out, NULL);
    assert_non_null(strstr(out.text, "\r\n\r\n3"));
    close(fd);
    ft_strbuf_release(&out);
    expect_text("POST /sum HTTP/1.1\r\n" HOST
                "Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n",
                "413", "limit");
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void pipelining_in_order(void **state)
{
    (void)state;
    static const char REQUESTS[] = "GET /1 HTTP/1.1\r\n" HOST "\r\n"
                                   "POST /sum HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd"
                                   "POST /x HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd"
                                   "HEAD /3 HTTP/1.1\r\n" HOST "\r\n"
                                   "GET /4 HTTP/1.1\r\n" HOST CLOSE "\r\n"
                                   "GET /5 HTTP/1.1\r\n" HOST "\r\n";
    ft_strbuf out = exchange(REQUESTS, sizeof REQUESTS - 1);
    const char *at = ft_strbuf_text(&out);
    static const char *const ORDER[] = {"GET /1", "\r\n\r\n4", "POST /x", "HTTP/1.1 200", "GET /4"};
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
        at = strstr(at, ORDER[i]);
        if (!at) fail_msg("%s is missing in\n%s", ORDER[i], out.text);
        at += strlen(ORDER[i]);
    }
    assert_null(strstr(out.text, "GET /3"));
    assert_null(strstr(out.text, "/5"));
    ft_strbuf_release(&out);
}

static void deferred_answers(void **state)
{
    (void)state;
    ft_strbuf out = {0}, other = {0};
    int fd = dial();
    send_text(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\nGET /after HTTP/1.1\r\n" HOST CLOSE "\r\n");
    /* The server has read /wait once a request that came later is answered with "yes". */
    while (!strstr(ft_strbuf_text(&other), "\r\n\r\nyes")) {
        ft_strbuf_release(&other);
        other = exchange("GET /release HTTP/1.1\r\n" HOST CLOSE "\r\n",
                         strlen("GET /release HTTP/1.1\r\n" HOST CLOSE "\r\n"));
    }
    receive(fd, &out, NULL);
    char *released = strstr(ft_strbuf_text(&out), "released");
    assert_non_null(released);
    assert_non_null(strstr(released, "GET /after"));
    close(fd);
    ft_strbuf_release(&out);
    ft_strbuf_release(&other);
}

static void half_closed_waiter_is_told(void **state)
{
    (void)state;
    ft_strbuf out = {0};
    int fd = dial();
    send_text(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    shutdown(fd, SHUT_WR);
    receive(fd, &out, NULL);
    assert_non_null(strstr(ft_strbuf_text(&out), "gone"));
    close(fd);
    ft_strbuf_release(&out);
}

static void chunked_answer(void **state)
{
    (void)state;
    ft_strbuf out = exchange("GET /stream HTTP/1.1\r\n" HOST CLOSE "\r\n",
                             strlen("GET /stream HTTP/1.1\r\n" HOST CLOSE "\r\n"));
    char *body = strstr(ft_strbuf_text(&out), "\r\n\r\n");
    assert_non_null(strstr(out.text, "Transfer-Encoding: chunked\r\n"));
    assert_non_null(body);
    size_t total = 0;
    for (char *at = body + 4;;) {
        char *end;
        size_t length = strtoul(at, &end, 16);
        assert_memory_equal(end, "\r\n", 2);
        if (length == 0) break;
        assert_int_equal(end[2], 'a' + (int)(total / PIECE) % 26);
        total += length;
        at = end + 2 + length + 2;
    }
    assert_int_equal(total, STREAMED);
    assert_string_equal(out.text + out.len - 5, "0\r\n\r\n");
    ft_strbuf_release(&out);
}

/* The client leaves in the middle of a long answer; the server goes on. */
static void leaving_early(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        ft_strbuf out = {0};
        int fd = dial();
        send_text(fd, i % 2 ? "GET /stream HTTP/1.1\r\n" HOST "\r\n"
                            : "GET /wait HTTP/1.1\r\n" HOST "\r\n");
        if (i % 2) receive(fd, &out, "\r\n\r\n");
        struct linger reset = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(fd);
        ft_strbuf_release(&out);
    }
    expect_text("GET /a HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "GET /a");
}

static void time_limits(void **state)
{
    (void)state;
    static const char *const SLOW[] = {"GET /a HTTP/1.1\r\nHos", "POST /sum HTTP/1.1\r\n" HOST
                                                                 "Content-Length: 10\r\n\r\nabc"};
    for (size_t i = 0; i < 2; i++) {
        ft_strbuf out = exchange(SLOW[i], strlen(SLOW[i]));
        assert_non_null(strstr(ft_strbuf_text(&out), "HTTP/1.1 408 "));
        ft_strbuf_release(&out);
    }
    ft_strbuf idle = exchange("", 0);
    assert_int_equal(idle.len, 0);
}

/* Clients that wait for the server keep their places; others that stall do not (test_service_slow).
 */
static void connection_limit(void **state)
{
    (void)state;
    int held[8];
    for (int i = 0; i < 8; i++) {
        held[i] = dial();
        send_text(held[i], "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    }
    ft_strbuf out = exchange("GET /a HTTP/1.1\r\n" HOST "\r\n", 28);
    assert_non_null(strstr(ft_strbuf_text(&out), "HTTP/1.1 503 "));
    ft_strbuf_release(&out);
    for (int i = 0; i < 8; i++) close(held[i]);
}

static void unix_socket(void **state)
{
    (void)state;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    ft_strbuf out = {0};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(to.sun_path, server.path, strlen(server.path));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    send_text(fd, "GET /u HTTP/1.1\r\n" HOST CLOSE "\r\n");
    receive(fd, &out, NULL);
    assert_non_null(strstr(ft_strbuf_text(&out), "GET /u"));
    close(fd);
    ft_strbuf_release(&out);
}

static void answer_headers(void **state)
{
    (void)state;
    expect_text("GET /a HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "\r\nDate: ");
    expect_text("GET /a HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", " GMT\r\n");
    expect_text("HEAD /a HTTP/1.1\r\n" HOST CLOSE "\r\n", "200", "Content-Length: 18\r\n");
    expect_text("GET /a HTTP/1.1\r\n\r\n", "400", "\"code\":\"malformed-request\"");
    expect_text("GET /a HTTP/1.1\r\n\r\n", "400", "application/problem+json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads),
        cmocka_unit_test(long_heads),
        cmocka_unit_test(nul_in_a_header),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(plain_bodies),
        cmocka_unit_test(gzip_bodies),
        cmocka_unit_test(zstd_bodies),
        cmocka_unit_test(bombs),
        cmocka_unit_test(chunks),
        cmocka_unit_test(body_limit_of_chunks),
        cmocka_unit_test(cut_requests),
        cmocka_unit_test(expect_continue),
        cmocka_unit_test(pipelining_in_order),
        cmocka_unit_test(deferred_answers),
        cmocka_unit_test(half_closed_waiter_is_told),
        cmocka_unit_test(chunked_answer),
        cmocka_unit_test(leaving_early),
        cmocka_unit_test(time_limits),
        cmocka_unit_test(unix_socket),
        cmocka_unit_test(answer_headers),
        cmocka_unit_test(connection_limit),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
