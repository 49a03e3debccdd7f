/* The daemon's event streams: what they tell, resuming, heartbeats, limits, slow clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/steps.h"

static int set_up(void **state)
{
    static const char *const OPTIONS[] = {"--max-streams", "3", "--heartbeat-ms", "200", NULL};
    ft_steps_server.options = OPTIONS;
    return ft_steps_start(state);
}

/* ---- A client of streams --------------------------------------------------------------------- */

typedef struct client {
    int fd;
    ft_strbuf got;
} client;

static client open_stream(const char *path, const char *header)
{
    client c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    int small = 65536; /* so that a client that does not read is felt */
    setsockopt(c.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    char request[512];
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)ft_steps_server.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(c.fd, (struct sockaddr *)&to, sizeof to), 0);
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
                          path, header);
    assert_int_equal(send(c.fd, request, (size_t)length, MSG_NOSIGNAL), length);
    return c;
}

/* Reads until the text is there; false: the stream ended, or nothing came. */
static bool read_until(client *c, const char *text)
{
    char piece[65536];
    while (!strstr(ft_strbuf_text(&c->got), text)) {
        struct pollfd wait = {.fd = c->fd, .events = POLLIN};
        if (poll(&wait, 1, FT_DAEMON_PATIENCE_MS) != 1) return false;
        ssize_t got = recv(c->fd, piece, sizeof piece, 0);
        if (got <= 0) return false;
        ft_strbuf_add(&c->got, piece, (size_t)got);
    }
    return true;
}

static void expect_text(client *c, const char *text)
{
    if (!read_until(c, text))
        fail_msg("\"%s\" did not come, but %s", text, ft_strbuf_text(&c->got));
}

static void close_stream(client *c)
{
    close(c->fd);
    ft_strbuf_release(&c->got);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) n++;
    return n;
}

/* The id of the last event of that name. */
static void last_id(const char *text, const char *name, char header[128])
{
    char line[64];
    const char *found = NULL;
    snprintf(line, sizeof line, "event: %s\nid: ", name);
    for (const char *at = text; (at = strstr(at, line)) != NULL; at++) found = at;
    assert_non_null(found);
    found += strlen(line);
    snprintf(header, 128, "Last-Event-ID: %.*s\r\n", (int)strcspn(found, "\n"), found);
}

/* The daemon learns a little later that a client has gone. */
static void await_no_streams(void)
{
    bool seen = false;
    for (int i = 0; i < 100000 && !seen; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, "/metrics");
        seen = strstr(ft_strbuf_text(&answer.body), "\nforetell_event_streams 0\n") != NULL;
        ft_answer_release(&answer);
    }
    assert_true(seen);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void a_job_to_its_end(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], job[64], path[128], resume[128];
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, "\"checks\":[\"race\"]", job);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    client c = open_stream(path, "");
    expect_text(&c, "0\r\n\r\n");
    const char *text = c.got.text;
    assert_non_null(strstr(text, "Content-Type: text/event-stream"));
    assert_non_null(strstr(text, "retry: 2000\n"));
    assert_int_equal(count(text, "event: finding\n"), 1);
    assert_int_equal(count(text, "event: end\n"), 1);
    assert_true(count(text, "event: job\n") >= 1);
    assert_non_null(strstr(text, "\"state\":\"done\""));
    assert_null(strstr(text, "\"witness\""));
    assert_non_null(strstr(text, "\"finding\":\""));
    /* The finding comes before the state that says that all is done. */
    assert_true(strstr(text, "event: finding\n") < strstr(text, "event: end\n"));

    last_id(text, "end", resume);
    client again = open_stream(path, resume);
    expect_text(&again, "HTTP/1.1 204 ");
    last_id(text, "finding", resume);
    client rest = open_stream(path, resume);
    expect_text(&rest, "0\r\n\r\n");
    assert_int_equal(count(rest.got.text, "event: finding\n"), 0);
    assert_int_equal(count(rest.got.text, "event: end\n"), 1);
    close_stream(&again);
    close_stream(&rest);
    close_stream(&c);
}

/* A job of many findings: each comes once, whoever looks when, and however often it comes back. */
static void every_finding_once(void **state)
{
    (void)state;
    enum { PAIRS = 150 };
    ft_strbuf trace = {0};
    char hash[FT_DIGEST_HEX + 1], job[64], path[128], resume[128] = "";
    for (int i = 0; i < PAIRS; i++) ft_strbuf_printf(&trace, "T1|w(x%d)|a.c:%d\n", i, i + 1);
    for (int i = 0; i < PAIRS; i++) ft_strbuf_printf(&trace, "T2|w(x%d)|b.c:%d\n", i, i + 1);
    ft_steps_upload(trace.text, hash);
    ft_steps_create(hash, "\"checks\":[\"race\"]", job);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    unsigned findings = 0, ends = 0;
    for (int visit = 0; visit < 1000 && !ends; visit++) {
        await_no_streams();
        client c = open_stream(path, resume);
        /* Goes away after the first finding that it gets, in the middle of the job. */
        (void)read_until(&c, visit < 20 ? "event: finding\n" : "0\r\n\r\n");
        char *whole = strrchr(c.got.text, '}');
        assert_non_null(whole);
        while (*whole && strncmp(whole, "}\n\n", 3) != 0) whole--;
        whole[1] = '\0';
        findings += count(c.got.text, "event: finding\n");
        ends += count(c.got.text, "event: end\n");
        const char *last = NULL;
        for (const char *at = c.got.text; (at = strstr(at, "\nid: ")) != NULL; at++) last = at + 5;
        if (last)
            snprintf(resume, sizeof resume, "Last-Event-ID: %.*s\r\n", (int)strcspn(last, "\n"),
                     last);
        close_stream(&c);
    }
    assert_int_equal(findings, PAIRS);
    assert_int_equal(ends, 1);
    ft_strbuf_release(&trace);
}

/* A client that reads nothing while the job runs holds nobody up, and misses no finding. */
static void a_slow_client(void **state)
{
    (void)state;
    enum { PAIRS = 200 };
    ft_strbuf trace = {0};
    char hash[FT_DIGEST_HEX + 1], job[64], path[128];
    for (int i = 0; i < PAIRS; i++) ft_strbuf_printf(&trace, "T1|w(y%d)|slow.c:%d\n", i, i + 1);
    for (int i = 0; i < PAIRS; i++) ft_strbuf_printf(&trace, "T2|w(y%d)|tail.c:%d\n", i, i + 1);
    ft_steps_upload(trace.text, hash);
    ft_steps_create(hash, "\"checks\":[\"race\"]", job);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    client c = open_stream(path, "");
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_non_null(snapshot);
    json_decref(snapshot);
    expect_text(&c, "0\r\n\r\n");
    assert_int_equal(count(c.got.text, "event: finding\n"), PAIRS);
    assert_int_equal(count(c.got.text, "event: end\n"), 1);
    close_stream(&c);
    ft_strbuf_release(&trace);
}

static void not_there_and_head(void **state)
{
    (void)state;
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/jobs/0123456789abcdef/events");
    ft_steps_expect(&answer, 404, "events of no job");
    assert_string_equal(ft_answer_header(&answer, "Content-Type"), "application/problem+json");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&ft_steps_server, "HEAD", "/v1/events", NULL, NULL, 0);
    ft_steps_expect(&answer, 200, "HEAD");
    assert_string_equal(ft_answer_header(&answer, "Content-Type"),
                        "text/event-stream; charset=utf-8");
    ft_answer_release(&answer);
}

/* ---- The list of jobs ------------------------------------------------------------------------ */

static void the_feed(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], job[64], other[64], resume[128], needle[128];
    await_no_streams();
    ft_steps_upload(FT_STEPS_RACY, trace);
    client c = open_stream("/v1/events", "");
    expect_text(&c, "event: ready\n");
    expect_text(&c, "\n:\n\n"); /* a heartbeat */
    ft_steps_create(trace, "", job);
    snprintf(needle, sizeof needle, "data: {\"job\":\"%s\"", job);
    expect_text(&c, needle);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
    expect_text(&c, "\"state\":\"done\"");
    last_id(c.got.text, "job", resume);
    close_stream(&c);

    ft_steps_create(trace, "", other);
    json_decref(ft_daemon_finish(&ft_steps_server, other, NULL, NULL));
    c = open_stream("/v1/events", resume);
    snprintf(needle, sizeof needle, "data: {\"job\":\"%s\"", other);
    expect_text(&c, needle);
    snprintf(needle, sizeof needle, "data: {\"job\":\"%s\"", job);
    assert_null(strstr(c.got.text, needle));
    close_stream(&c);

    c = open_stream("/v1/events", "Last-Event-ID: 123abc-7\r\n");
    expect_text(&c, "event: reset\n");
    close_stream(&c);
}

static void too_many_streams(void **state)
{
    (void)state;
    client open[3];
    await_no_streams();
    for (int i = 0; i < 3; i++) {
        open[i] = open_stream("/v1/events", "");
        expect_text(&open[i], "event: ready\n");
    }
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/events");
    ft_steps_expect(&answer, 503, "a fourth stream");
    assert_string_equal(ft_answer_text(&answer, "code"), "too-many-streams");
    ft_answer_release(&answer);
    for (int i = 0; i < 3; i++) close_stream(&open[i]);
    /* Their places are free again. */
    await_no_streams();
    answer = ft_daemon_call(&ft_steps_server, "HEAD", "/v1/events", NULL, NULL, 0);
    ft_steps_expect(&answer, 200, "a stream after them");
    ft_answer_release(&answer);
}

/* Streams that are open do not keep the daemon from ending (ft_steps_stop checks its exit code). */
static void open_at_the_end(void **state)
{
    (void)state;
    await_no_streams();
    client c = open_stream("/v1/events", "");
    expect_text(&c, "event: ready\n");
    assert_true(ft_daemon_stop(&ft_steps_server));
    expect_text(&c, "0\r\n\r\n");
    close_stream(&c);
    assert_true(ft_daemon_start(&ft_steps_server));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_to_its_end), cmocka_unit_test(every_finding_once),
        cmocka_unit_test(a_slow_client),    cmocka_unit_test(not_there_and_head),
        cmocka_unit_test(the_feed),         cmocka_unit_test(too_many_streams),
        cmocka_unit_test(open_at_the_end),
    };
    return cmocka_run_group_tests(tests, set_up, ft_steps_stop);
}
