/* The daemon from outside: uploads, their refusals, and what every path has in common. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "api/internal.h"
#include "base/memory.h"
#include "service/steps.h"

/* ---- Traces ---------------------------------------------------------------------------------- */

static void upload_and_known_again(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], location[128];
    ft_steps_hash(FT_STEPS_RACY, strlen(FT_STEPS_RACY), hash);
    snprintf(location, sizeof location, "/v1/traces/%s", hash);
    ft_answer first = ft_daemon_post(&ft_steps_server, "/v1/traces", FT_STEPS_RACY);
    ft_steps_expect(&first, 201, "first upload");
    assert_string_equal(ft_answer_header(&first, "Location"), location);
    assert_string_equal(ft_answer_text(&first, "trace"), hash);
    assert_string_equal(ft_answer_text(&first, "format"), "std");
    assert_int_equal(json_integer_value(json_object_get(first.json, "events")), 8);
    assert_int_equal(json_integer_value(json_object_get(first.json, "threads")), 2);
    ft_answer again = ft_daemon_post(&ft_steps_server, "/v1/traces", FT_STEPS_RACY);
    ft_steps_expect(&again, 200, "second upload");
    assert_string_equal(ft_answer_header(&again, "Location"), location);
    ft_answer_release(&first);
    ft_answer_release(&again);
}

static void trace_and_content(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], path[128], tag[128];
    ft_steps_upload(FT_STEPS_RACY, hash);
    snprintf(path, sizeof path, "/v1/traces/%s", hash);
    ft_answer meta = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&meta, 200, path);
    assert_string_equal(ft_answer_text(&meta, "default_model"), "observed");
    snprintf(tag, sizeof tag, "If-None-Match: %s", ft_answer_header(&meta, "ETag"));
    const char *headers[] = {tag, NULL};
    ft_answer same = ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
    ft_steps_expect(&same, 304, path);
    snprintf(path, sizeof path, "/v1/traces/%s/content", hash);
    ft_answer content = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&content, 200, path);
    assert_int_equal(content.body.len,
                     json_integer_value(json_object_get(meta.json, "stored_bytes")));
    /* The canonical form is a format like any other: it can be uploaded itself. */
    ft_answer binary = ft_daemon_call(&ft_steps_server, "POST", "/v1/traces", NULL,
                                      content.body.text, content.body.len);
    assert_true(binary.status == 201 || binary.status == 200);
    assert_int_equal(json_integer_value(json_object_get(binary.json, "events")), 8);
    ft_answer_release(&meta);
    ft_answer_release(&same);
    ft_answer_release(&content);
    ft_answer_release(&binary);
}

static void list_of_traces(void **state)
{
    (void)state;
    char first[FT_DIGEST_HEX + 1], second[FT_DIGEST_HEX + 1], path[128] = "/v1/traces?limit=1";
    ft_steps_upload("T1|w(x)|first\nT2|w(x)|2\n", first);
    ft_steps_upload("T1|w(x)|second\nT2|w(x)|2\n", second);
    const char *const newest[] = {second, first};
    for (int page = 0; page < 2; page++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, path);
        ft_steps_expect(&answer, 200, path);
        const json_t *list = json_object_get(answer.json, "traces");
        assert_int_equal(json_array_size(list), 1);
        const json_t *name = json_object_get(json_array_get(list, 0), "trace");
        assert_string_equal(json_string_value(name), newest[page]);
        snprintf(path, sizeof path, "/v1/traces?limit=1&after=%s", ft_answer_text(&answer, "next"));
        ft_answer_release(&answer);
    }
}

static size_t gzip(const char *text, unsigned char *to, size_t capacity)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = to;
    z.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return capacity - z.avail_out;
}

static void compressed_uploads_are_the_same_trace(void **state)
{
    (void)state;
    unsigned char coded[1024];
    char hash[FT_DIGEST_HEX + 1];
    static const char *const GZIP[] = {"Content-Encoding: gzip", NULL};
    static const char *const ZSTD[] = {"Content-Encoding: zstd", "Transfer-Encoding: chunked",
                                       NULL};
    static const char TEXT[] = "T1|w(x)|1\nT2|w(x)|2\nT1|r(z)|3\n";
    ft_steps_hash(TEXT, strlen(TEXT), hash);
    size_t length = gzip(TEXT, coded, sizeof coded);
    ft_answer answer = ft_daemon_call(&ft_steps_server, "POST", "/v1/traces", GZIP, coded, length);
    ft_steps_expect(&answer, 201, "gzip");
    assert_string_equal(ft_answer_text(&answer, "trace"), hash);
    ft_answer_release(&answer);
    length = ZSTD_compress(coded, sizeof coded, TEXT, strlen(TEXT), 3);
    answer = ft_daemon_call(&ft_steps_server, "POST", "/v1/traces", ZSTD, coded, length);
    ft_steps_expect(&answer, 200, "zstd");
    assert_string_equal(ft_answer_text(&answer, "trace"), hash);
    ft_answer_release(&answer);
}

/* ---- Malformed uploads ----------------------------------------------------------------------- */

#define WRITE_X "{\"thread\":\"T1\",\"kind\":\"write\",\"variable\":\"x\",\"value\":1}\n"

static const struct {
    const char *name, *text;
    int line; /* of the fault; 0: none expected */
} MALFORMED[] = {
    {"empty", "", 0},
    {"blank", "\n\n", 0},
    {"words", "this is no trace at all\n", 1},
    {"wrong schema", "{\"format\":\"foretell\",\"version\":99,\"threads\":[\"T1\"]}\n" WRITE_X, 1},
    {"no header", WRITE_X, 1},
    {"unknown member",
     FT_STEPS_HEADER WRITE_X "{\"thread\":\"T1\",\"kind\":\"begin\",\"colour\":\"red\"}\n", 3},
    {"undeclared thread", FT_STEPS_HEADER WRITE_X "{\"thread\":\"T9\",\"kind\":\"begin\"}\n", 3},
    {"undeclared variable",
     FT_STEPS_HEADER "{\"thread\":\"T1\",\"kind\":\"read\",\"variable\":\"nope\"}\n", 2},
    {"ill-sorted term", FT_STEPS_HEADER WRITE_X FT_STEPS_TERM("T1", "assume", "(+ x true)"), 3},
    {"term of the wrong sort", FT_STEPS_HEADER WRITE_X FT_STEPS_TERM("T1", "assert", "(+ x 1)"), 3},
    {"NaN",
     FT_STEPS_HEADER "{\"thread\":\"T1\",\"kind\":\"write\",\"variable\":\"x\",\"value\":NaN}\n",
     2},
    {"duplicate key",
     FT_STEPS_HEADER "{\"thread\":\"T1\",\"thread\":\"T2\",\"kind\":\"tx-begin\"}\n", 2},
    {"cut line", FT_STEPS_HEADER "{\"thread\":\"T1\",\"kind\":\"wri", 2},
    {"no events", FT_STEPS_HEADER, 0},
};

/* A 4xx problem with a place and a code; the trace is not stored; the daemon goes on. */
static void expect_refused(const char *name, const char *const *headers, const void *bytes,
                           size_t length, const char *decoded_hash, int line)
{
    char path[128];
    ft_answer answer =
        ft_daemon_call(&ft_steps_server, "POST", "/v1/traces", headers, bytes, length);
    if (answer.status < 400 || answer.status > 499)
        fail_msg("%s: status %ld: %s", name, answer.status, ft_strbuf_text(&answer.body));
    assert_string_equal(ft_answer_header(&answer, "Content-Type"), "application/problem+json");
    assert_int_equal(json_integer_value(json_object_get(answer.json, "status")), answer.status);
    assert_int_not_equal(strlen(ft_answer_text(&answer, "code")), 0);
    assert_int_not_equal(strlen(ft_answer_text(&answer, "detail")), 0);
    if (line && json_integer_value(json_object_get(answer.json, "line")) != line)
        fail_msg("%s: line %d expected: %s", name, line, answer.body.text);
    ft_answer_release(&answer);
    if (!decoded_hash) return;
    snprintf(path, sizeof path, "/v1/traces/%s", decoded_hash);
    answer = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&answer, 404, name);
    ft_answer_release(&answer);
}

static void malformed_texts(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1];
    for (size_t i = 0; i < sizeof MALFORMED / sizeof *MALFORMED; i++) {
        size_t length = strlen(MALFORMED[i].text);
        ft_steps_hash(MALFORMED[i].text, length, hash);
        expect_refused(MALFORMED[i].name, NULL, MALFORMED[i].text, length, hash, MALFORMED[i].line);
    }
}

static void malformed_bytes(void **state)
{
    (void)state;
    static const char *const GZIP[] = {"Content-Encoding: gzip", NULL};
    static const char *const BROTLI[] = {"Content-Encoding: br", NULL};
    char hash[FT_DIGEST_HEX + 1];
    unsigned char coded[1024], junk[4096];
    uint32_t seed = 12345;
    for (size_t i = 0; i < sizeof junk; i++) {
        seed = seed * 1664525u + 1013904223u;
        junk[i] = (unsigned char)(seed >> 24);
    }
    ft_steps_hash(junk, sizeof junk, hash);
    expect_refused("binary junk", NULL, junk, sizeof junk, hash, 0);
    static const char UNSEEN[] = "T7|w(x)|1\nT8|w(x)|2\n";
    ft_steps_hash(UNSEEN, strlen(UNSEEN), hash);
    size_t length = gzip(UNSEEN, coded, sizeof coded);
    expect_refused("cut gzip", GZIP, coded, length - 6, hash, 0);
    expect_refused("no gzip", GZIP, UNSEEN, strlen(UNSEEN), hash, 0);
    expect_refused("unknown coding", BROTLI, UNSEEN, strlen(UNSEEN), hash, 0);
}

static void deep_nesting(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    char hash[FT_DIGEST_HEX + 1];
    ft_strbuf_puts(&text, FT_STEPS_HEADER "{\"thread\":\"T1\",\"kind\":");
    for (int i = 0; i < 100000; i++) ft_strbuf_puts(&text, "[");
    ft_strbuf_puts(&text, "\n");
    ft_steps_hash(text.text, text.len, hash);
    expect_refused("deep nesting", NULL, text.text, text.len, hash, 2);
    ft_strbuf_release(&text);
}

/* The reader's line limit is 1 MiB; the whole upload is far below the limit of uploads. */
static void very_long_line(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1];
    size_t length = 64u << 20;
    char *text = ft_alloc(length);
    memset(text, 'T', length);
    ft_steps_hash(text, length, hash);
    expect_refused("a 64 MiB line", NULL, text, length, hash, 1);
    free(text);
}

/* ---- Uploads that take their time ------------------------------------------------------------ */

static void signal_workers(int number)
{
    size_t i;
    json_t *worker;
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/workers");
    json_array_foreach(json_object_get(answer.json, "workers"), i, worker)
    {
        pid_t pid = (pid_t)json_integer_value(json_object_get(worker, "pid"));
        if (pid > 0) assert_int_equal(kill(pid, number), 0);
    }
    ft_answer_release(&answer);
}

static ft_answer upload_for(const char *prefer, const char *text)
{
    const char *headers[] = {prefer, NULL};
    return ft_daemon_call(&ft_steps_server, "POST", "/v1/traces", headers, text, strlen(text));
}

static ft_answer wait_for_upload(const char *prefer, const char *path)
{
    const char *headers[] = {prefer, NULL};
    return ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
}

static void a_slow_upload_can_be_followed(void **state)
{
    (void)state;
    static const char TEXT[] = "T1|w(slow)|a.c:1\nT2|w(slow)|b.c:1\n";
    char path[128], hash[FT_DIGEST_HEX + 1];
    ft_steps_hash(TEXT, sizeof TEXT - 1, hash);
    snprintf(path, sizeof path, "/v1/uploads/%s", hash);
    signal_workers(SIGSTOP);
    ft_answer posted = upload_for("Prefer: wait=1", TEXT);
    ft_answer meanwhile = wait_for_upload("Prefer: wait=1", path);
    signal_workers(SIGCONT);
    ft_steps_expect(&posted, 202, "an upload that nobody reads");
    assert_string_equal(ft_answer_header(&posted, "Location"), path);
    assert_string_equal(ft_answer_header(&posted, "Preference-Applied"), "wait=1");
    assert_int_equal(json_integer_value(json_object_get(posted.json, "bytes")), sizeof TEXT - 1);
    ft_steps_expect(&meanwhile, 200, path);
    assert_true(json_is_null(json_object_get(meanwhile.json, "trace")));
    assert_string_not_equal(ft_answer_text(&meanwhile, "state"), "stored");
    ft_answer after = wait_for_upload("Prefer: wait=60", path);
    ft_steps_expect(&after, 200, path);
    assert_string_equal(ft_answer_text(&after, "state"), "stored");
    assert_string_equal(ft_answer_text(&after, "trace"), hash);
    ft_answer_release(&posted);
    ft_answer_release(&meanwhile);
    ft_answer_release(&after);
    snprintf(path, sizeof path, "/v1/traces/%s", hash);
    after = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&after, 200, path);
    ft_answer_release(&after);
}

static void a_refused_one_says_why_later(void **state)
{
    (void)state;
    static const char TEXT[] = FT_STEPS_HEADER "{\"thread\":\"T1\",\"kind\":\"zap\"}\n";
    ft_answer posted = upload_for("Prefer: wait=0", TEXT);
    ft_steps_expect(&posted, 202, "an upload that nobody waits for");
    ft_answer after = wait_for_upload("Prefer: respond-async, Wait = \"60\"",
                                      ft_answer_header(&posted, "Location"));
    ft_steps_expect(&after, 200, "its end");
    assert_string_equal(ft_answer_text(&after, "state"), "refused");
    const json_t *error = json_object_get(after.json, "error");
    assert_string_equal(json_string_value(json_object_get(error, "code")), "malformed-input");
    assert_int_equal(json_integer_value(json_object_get(error, "line")), 2);
    ft_answer_release(&posted);
    ft_answer_release(&after);
    after = ft_daemon_get(&ft_steps_server, "/v1/uploads/none");
    ft_steps_expect(&after, 404, "an upload that was none");
    ft_answer_release(&after);
}

static void errors_of_the_program_are_stored(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1];
    ft_steps_upload("T1|acq(l)|1\nT2|rel(l)|2\nT1|rel(l)|3\nT2|w(x)|4\n", hash);
    ft_steps_upload(FT_STEPS_HEADER WRITE_X FT_STEPS_TERM("T2", "assert", "(= x 0)"), hash);
    json_t *report = ft_steps_report(hash, "\"checks\":[\"assertion\"]", "done");
    assert_int_equal(ft_steps_count(report, "assertion", "violation"), 1);
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(finding, "status")), "observed");
    json_decref(report);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void not_there(void **state)
{
    (void)state;
    static const char *const PATHS[] = {
        "/v2",          "/v1/traces/abc",  "/v1/traces/abc/content",    "/v1/jobs/abc",
        "/v1/jobs/",    "/v1/jobs/a/b",    "/v1/jobs/abc/findings",     "/v1/findings/abc-1",
        "/v1/findings", "/v1/jobs/%2e%2e", "/v1/findings/abc-1/witness"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, PATHS[i]);
        ft_steps_expect(&answer, 404, PATHS[i]);
        assert_string_equal(ft_answer_header(&answer, "Content-Type"), "application/problem+json");
        ft_answer_release(&answer);
    }
}

static void methods(void **state)
{
    (void)state;
    ft_answer answer = ft_daemon_call(&ft_steps_server, "PUT", "/v1/jobs", NULL, "{}", 2);
    ft_steps_expect(&answer, 405, "PUT");
    assert_string_equal(ft_answer_header(&answer, "Allow"), "POST, GET, HEAD, OPTIONS");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&ft_steps_server, "OPTIONS", "/v1/jobs/x", NULL, NULL, 0);
    ft_steps_expect(&answer, 204, "OPTIONS");
    assert_string_equal(ft_answer_header(&answer, "Allow"), "GET, HEAD, DELETE, OPTIONS");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&ft_steps_server, "HEAD", "/live", NULL, NULL, 0);
    ft_steps_expect(&answer, 200, "HEAD");
    assert_int_equal(answer.body.len, 0);
    ft_answer_release(&answer);
}

static void health_and_metrics(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"/",      "/v1",         "/live",
                                        "/ready", "/v1/workers", "/v1/openapi.json"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, PATHS[i]);
        ft_steps_expect(&answer, 200, PATHS[i]);
        ft_answer_release(&answer);
    }
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/metrics");
    ft_steps_expect(&answer, 200, "/metrics");
    static const char *const NAMES[] = {"\nforetell_queue_depth ",
                                        "foretell_jobs{state=\"done\"}",
                                        "foretell_verdicts{verdict=\"violation\"}",
                                        "foretell_workers{state=",
                                        "foretell_tasks{state=",
                                        "foretell_http_requests_total{status=\"200\"}"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strstr(answer.body.text, NAMES[i]))
            fail_msg("%s is missing in\n%s", NAMES[i], answer.body.text);
    ft_answer_release(&answer);
}

/* The description has the routes of the table and no others (their answers: openapi.py). */
static void openapi_is_complete(void **state)
{
    (void)state;
    static const struct {
        const char *method, *pattern;
    } ROUTES[] = {
#define FT_ROW(method, pattern, needs, serve, serve_json, doc) {method, pattern},
        FT_ROUTE_TABLE(FT_ROW)
#undef FT_ROW
    };
    size_t described = 0, count = sizeof ROUTES / sizeof *ROUTES;
    const char *path;
    json_t *operations;
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/openapi.json");
    ft_steps_expect(&answer, 200, "/v1/openapi.json");
    const json_t *paths = json_object_get(answer.json, "paths");
    for (size_t i = 0; i < count; i++) {
        char method[16] = "";
        for (size_t k = 0; ROUTES[i].method[k] && k < sizeof method - 1; k++)
            method[k] = (char)(ROUTES[i].method[k] | 0x20);
        if (!json_object_get(json_object_get(paths, ROUTES[i].pattern), method))
            fail_msg("schema/openapi.yaml lacks %s %s", ROUTES[i].method, ROUTES[i].pattern);
    }
    json_object_foreach((json_t *)(uintptr_t)paths, path, operations)
    {
        described += json_object_size(operations);
        described -= json_object_get(operations, "parameters") != NULL;
    }
    assert_int_equal(described, count);
    ft_answer_release(&answer);
}

static const struct {
    const char *bytes, *answer;
} RAW[] = {
    {"GET /live HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 "},
    {"GET /live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 "},
    {"GET /live HTTP/1.1\r\nHost: a\rX: y\r\n\r\n", "HTTP/1.1 400 "},
    {"GET /live HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", "HTTP/1.1 400 "},
    {"GET /live HTTP/1.1\r\nHost: a\r\n\r\n"
     "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"
     "GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "live\nHTTP/1.1 404 "},
};

static void raw_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof RAW / sizeof *RAW; i++) {
        ft_strbuf out = ft_daemon_raw(&ft_steps_server, RAW[i].bytes, strlen(RAW[i].bytes));
        if (!strstr(ft_strbuf_text(&out), RAW[i].answer))
            fail_msg("%s expected, got %s", RAW[i].answer, ft_strbuf_text(&out));
        ft_strbuf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upload_and_known_again),
        cmocka_unit_test(trace_and_content),
        cmocka_unit_test(list_of_traces),
        cmocka_unit_test(compressed_uploads_are_the_same_trace),
        cmocka_unit_test(malformed_texts),
        cmocka_unit_test(malformed_bytes),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(very_long_line),
        cmocka_unit_test(a_slow_upload_can_be_followed),
        cmocka_unit_test(a_refused_one_says_why_later),
        cmocka_unit_test(errors_of_the_program_are_stored),
        cmocka_unit_test(not_there),
        cmocka_unit_test(methods),
        cmocka_unit_test(health_and_metrics),
        cmocka_unit_test(openapi_is_complete),
        cmocka_unit_test(raw_requests),
    };
    return cmocka_run_group_tests(tests, ft_steps_start, ft_steps_stop);
}
