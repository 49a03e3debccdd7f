/* Slow clients: more of them than there are connections, in every way to be slow, and somebody who
 * asks meanwhile is answered. The long form is tests/service/slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "service/steps.h"

#define CLIENTS 200 /* with room for 100 */

static int set_up(void **state)
{
    static const char *const OPTIONS[] = {"--max-connections", "100", NULL};
    ft_steps_server.options = OPTIONS;
    return ft_steps_start(state);
}

static int dial(int receive_buffer)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)ft_steps_server.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (receive_buffer)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* The daemon's word for it, as time passes there and not here. */
static long long metric(const char *name)
{
    char line[128];
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/metrics");
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(ft_strbuf_text(&answer.body), line);
    long long value = at ? strtoll(at + strlen(line), NULL, 10) : -1;
    ft_answer_release(&answer);
    return value;
}

static void await_probe(void)
{
    long status = 0;
    for (int i = 0; i < 100000 && status != 200; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, "/live");
        status = answer.status;
        assert_true(status == 200 || status == 503 || status == 0);
        ft_answer_release(&answer);
    }
    assert_int_equal(status, 200);
}

#define BIG "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"

static const struct {
    const char *name, *bytes;
    size_t repeated; /* times the bytes are sent */
    int receive_buffer;
} WAYS[] = {
    {"silence", "", 1, 0},
    {"slow headers", "GET /live HTTP/1.1\r\nHost: localhost\r\nX-a: ", 1, 0},
    {"slow body",
     "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nT1|w(x)|a\n", 1,
     0},
    {"slow chunks",
     "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
     "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a",
     1, 0},
    {"idle after an answer", "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n", 1, 0},
    {"slow read", BIG, 20, 1024},
};

static void crowd(size_t way)
{
    int fds[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = dial(WAYS[way].receive_buffer);
        for (size_t k = 0; k < WAYS[way].repeated; k++)
            (void)!send(fds[i], WAYS[way].bytes, strlen(WAYS[way].bytes),
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    await_probe();
    for (int i = 0; i < CLIENTS; i++) close(fds[i]);
    await_probe();
}

static void crowds_keep_nobody_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) crowd(i);
    assert_true(metric("foretell_http_connections_displaced_total") > 0);
    assert_true(metric("foretell_http_connections_total") >= CLIENTS);
}

/* Who waits for us is not thrown out: an event stream keeps its place against a crowd. */
static void streams_keep_their_places(void **state)
{
    (void)state;
    static const char REQUEST[] =
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int follower = dial(0);
    assert_true(send(follower, REQUEST, sizeof REQUEST - 1, MSG_NOSIGNAL) > 0);
    char piece[4096];
    assert_true(recv(follower, piece, sizeof piece, 0) > 0);
    crowd(1);
    crowd(1);
    struct pollfd open = {.fd = follower, .events = POLLIN | POLLRDHUP};
    while (poll(&open, 1, 0) == 1 && !(open.revents & (POLLRDHUP | POLLHUP)))
        assert_true(recv(follower, piece, sizeof piece, 0) > 0);
    assert_false(open.revents & (POLLRDHUP | POLLHUP));
    close(follower);
}

/* Ten thousand in the long form (tests/bench/http); here a few, and each is answered at the end. */
static void many_long_polls(void **state)
{
    (void)state;
    enum { POLLS = 80 };
    char trace[FT_DIGEST_HEX + 1], job[64], request[256], path[128], piece[8192];
    int fds[POLLS];
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, "\"checks\":[\"race\"]", job);
    snprintf(request, sizeof request,
             "GET /v1/jobs/%s HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=30\r\n\r\n", job);
    for (int i = 0; i < POLLS; i++) {
        fds[i] = dial(0);
        assert_true(send(fds[i], request, strlen(request), MSG_NOSIGNAL) > 0);
    }
    await_probe();
    for (int i = 0; i < POLLS; i++) {
        struct pollfd wait = {.fd = fds[i], .events = POLLIN};
        assert_int_equal(poll(&wait, 1, FT_DAEMON_PATIENCE_MS), 1);
        ssize_t got = recv(fds[i], piece, sizeof piece - 1, 0);
        assert_true(got > 0);
        piece[got] = '\0';
        assert_non_null(strstr(piece, "HTTP/1.1 200 "));
        assert_non_null(strstr(piece, "\"state\":\"done\""));
        close(fds[i]);
    }
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    ft_answer answer = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&answer, 200, path);
    ft_answer_release(&answer);
}

/* ---- Reports that nobody takes ------------------------------------------------------------------
 */

#define UNTAKEN ((size_t)256 << 20) /* bytes of answers from which on no report is begun */
#define KERNELS ((size_t)4 << 20)   /* of each answer, which are no longer the daemon's */
#define READERS 80

/* One race at each of `races` pairs of locations, with file names of `length` bytes: its report is
 * as large as one page may be. */
static void create_large_job(int races, int length, char job[64])
{
    char trace[FT_DIGEST_HEX + 1];
    ft_strbuf text = {0};
    char *name = malloc((size_t)length + 1);
    assert_non_null(name);
    memset(name, 'd', (size_t)length);
    name[length] = '\0';
    for (int i = 0; i < races; i++)
        for (int thread = 1; thread <= 2; thread++)
            ft_strbuf_printf(&text, "T%d|w(x%d)|%s%d.c:%d\n", thread, i, name, thread, i + 1);
    free(name);
    ft_steps_upload(text.text, trace);
    ft_strbuf_release(&text);
    ft_steps_create(trace, "\"checks\":[\"race\"]", job);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "done");
    json_decref(snapshot);
}

/* What has come of an answer so far, at most `size` - 1 bytes; they stay to be read. */
static void peek(int fd, char *piece, size_t size)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, FT_DAEMON_PATIENCE_MS), 1);
    ssize_t got = recv(fd, piece, size - 1, MSG_PEEK);
    assert_true(got > 0);
    piece[got] = '\0';
}

/* All ask at once and take nothing. Few reports are made at a time, so that the later ones see what
 * the earlier ones left: had each begun at once, none would have been refused. */
static void reports_that_nobody_takes(void **state)
{
    (void)state;
    char job[64], path[128], request[256], piece[512];
    int fds[READERS];
    size_t given = 0;
    create_large_job(150, 20000, job);
    snprintf(path, sizeof path, "/v1/jobs/%s/findings", job);
    ft_answer answer = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&answer, 200, path);
    size_t length = answer.body.len;
    ft_answer_release(&answer);
    assert_true(length > KERNELS && READERS * (length - KERNELS) > UNTAKEN + 4 * length);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    for (int i = 0; i < READERS; i++) {
        fds[i] = dial(1024);
        assert_true(send(fds[i], request, strlen(request), MSG_NOSIGNAL) > 0);
    }
    for (int i = 0; i < READERS; i++) {
        peek(fds[i], piece, sizeof piece);
        if (strstr(piece, "HTTP/1.1 200 ")) {
            given++;
            continue;
        }
        assert_non_null(strstr(piece, "HTTP/1.1 503 "));
        assert_non_null(strstr(piece, "Retry-After: 5\r\n"));
        assert_non_null(strstr(piece, "too-many-reports"));
    }
    assert_true(given * length > UNTAKEN && given < READERS);
    await_probe();
    for (int i = 0; i < READERS; i++) close(fds[i]);
    long status = 503;
    for (int i = 0; i < 100000 && status == 503; i++) {
        answer = ft_daemon_get(&ft_steps_server, path);
        status = answer.status;
        ft_answer_release(&answer);
    }
    assert_int_equal(status, 200);
}

/* With fewer descriptors than connections are wanted it serves as many as it can, and says so. */
static void few_descriptors(void **state)
{
    (void)state;
    struct rlimit few = {.rlim_cur = 800, .rlim_max = 800};
    char path[96], line[512];
    bool said = false;
    ft_daemon small = {.pid = 0};
    static const char *const OPTIONS[] = {"--max-connections", "5000", NULL};
    small.options = OPTIONS;
    pid_t child = fork();
    if (child == 0) {
        bool good = setrlimit(RLIMIT_NOFILE, &few) == 0 && ft_daemon_start(&small);
        ft_answer answer = ft_daemon_get(&small, "/live");
        good = good && answer.status == 200;
        snprintf(path, sizeof path, "%s/log", small.folder);
        FILE *log = fopen(path, "r");
        while (log && fgets(line, sizeof line, log))
            said = said || strstr(line, "\"fewer connections than configured\"");
        ft_daemon_remove(&small);
        _exit(good && said ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds_keep_nobody_out), cmocka_unit_test(streams_keep_their_places),
        cmocka_unit_test(many_long_polls),        cmocka_unit_test(reports_that_nobody_takes),
        cmocka_unit_test(few_descriptors),
    };
    return cmocka_run_group_tests(tests, set_up, ft_steps_stop);
}
