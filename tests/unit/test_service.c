/* The daemon from outside: uploads, jobs, waiting, refusals. Expected verdicts are those of the
 * definitions (docs/trace-format.md, Wang et al. Fig. 1 and 7), not of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "service/daemon.h"

static ft_daemon server;

/* Two unlocked writes and two locked ones: one race. */
static const char RACY[] = "T1|w(x)|a.c:1\n"
                           "T2|w(x)|b.c:1\n"
                           "T1|acq(l)|a.c:2\n"
                           "T1|w(y)|a.c:3\n"
                           "T1|rel(l)|a.c:4\n"
                           "T2|acq(l)|b.c:2\n"
                           "T2|w(y)|b.c:3\n"
                           "T2|rel(l)|b.c:4\n";

#define HEADER                                                                                     \
    "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T1\",\"T2\"],"                          \
    "\"variables\":{\"x\":0,\"y\":0},\"locals\":{\"a\":\"Int\",\"b\":\"Int\"},"                    \
    "\"semaphores\":{\"l\":1}}\n"
#define ASSIGN(thread, target, term)                                                               \
    "{\"thread\":\"" thread "\",\"kind\":\"assign\",\"set\":{\"" target "\":\"" term "\"}}\n"
#define EVENT(thread, kind)                                                                        \
    "{\"thread\":\"" thread "\",\"kind\":\"" kind "\",\"semaphore\":\"l\"}\n"
#define TERM(thread, kind, term)                                                                   \
    "{\"thread\":\"" thread "\",\"kind\":\"" kind "\",\"term\":\"" term "\"}\n"

/* Wang et al. Fig. 1. */
static const char FIG1[] = HEADER ASSIGN("T1", "a", "x") EVENT("T1", "wait")
    ASSIGN("T1", "x", "(+ 2 a)") EVENT("T1", "post") ASSIGN("T1", "y", "(+ 1 a)")
        EVENT("T1", "wait") ASSIGN("T1", "x", "(+ 1 a)") EVENT("T1", "post") ASSIGN("T2", "b", "0")
            EVENT("T2", "wait") TERM("T2", "assume", "(> x b)") TERM("T2", "assert", "(= y 1)")
                EVENT("T2", "post");

static int start(void **state)
{
    (void)state;
    return ft_daemon_start(&server) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    bool clean = ft_daemon_stop(&server);
    ft_daemon_remove(&server);
    return clean ? 0 : -1;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

static void hash_of(const void *data, size_t length, char hex[FT_DIGEST_HEX + 1])
{
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, data, length);
    ft_digest_hex(&digest, hex);
}

static void expect_status(const ft_answer *answer, long status, const char *what)
{
    if (answer->status != status)
        fail_msg("%s: expected %ld, got %ld: %s", what, status, answer->status,
                 ft_strbuf_text(&answer->body));
}

/* Uploads; the hash is that of the text itself. */
static void upload(const char *text, char hash[FT_DIGEST_HEX + 1])
{
    hash_of(text, strlen(text), hash);
    ft_answer answer = ft_daemon_post(&server, "/v1/traces", text);
    if (answer.status != 200) expect_status(&answer, 201, "upload");
    assert_string_equal(ft_answer_text(&answer, "trace"), hash);
    ft_answer_release(&answer);
}

static void create(const char *trace, const char *members, char job[64])
{
    char body[2048];
    snprintf(body, sizeof body, "{\"trace\":\"%s\"%s%s}", trace, *members ? "," : "", members);
    ft_answer answer = ft_daemon_post(&server, "/v1/jobs", body);
    expect_status(&answer, 202, body);
    snprintf(job, 64, "%s", ft_answer_text(&answer, "job"));
    assert_int_not_equal(strlen(job), 0);
    ft_answer_release(&answer);
}

/* Runs a job to its end and gets its report. */
static json_t *report_of(const char *trace, const char *members, const char *state)
{
    char job[64], path[128];
    create(trace, members, job);
    json_t *snapshot = ft_daemon_finish(&server, job, NULL, NULL);
    assert_non_null(snapshot);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), state);
    json_decref(snapshot);
    snprintf(path, sizeof path, "/v1/jobs/%s/findings?safe=1", job);
    ft_answer answer = ft_daemon_get(&server, path);
    expect_status(&answer, 200, path);
    json_t *report = json_incref(answer.json);
    ft_answer_release(&answer);
    return report;
}

static long long count_of(const json_t *report, const char *check, const char *member)
{
    return json_integer_value(
        json_object_get(json_object_get(json_object_get(report, "checks"), check), member));
}

static void expect_counts_add_up(const json_t *report)
{
    static const char *const PARTS[] = {"violation", "safe", "bounded", "unknown", "error"};
    const char *check;
    json_t *counts;
    json_object_foreach(json_object_get(report, "checks"), check, counts)
    {
        long long sum = 0;
        for (size_t i = 0; i < 5; i++) sum += count_of(report, check, PARTS[i]);
        assert_int_equal(sum, count_of(report, check, "candidates"));
    }
}

/* ---- Traces ---------------------------------------------------------------------------------- */

static void upload_and_known_again(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], location[128];
    hash_of(RACY, strlen(RACY), hash);
    snprintf(location, sizeof location, "/v1/traces/%s", hash);
    ft_answer first = ft_daemon_post(&server, "/v1/traces", RACY);
    expect_status(&first, 201, "first upload");
    assert_string_equal(ft_answer_header(&first, "Location"), location);
    assert_string_equal(ft_answer_text(&first, "trace"), hash);
    assert_string_equal(ft_answer_text(&first, "format"), "std");
    assert_int_equal(json_integer_value(json_object_get(first.json, "events")), 8);
    assert_int_equal(json_integer_value(json_object_get(first.json, "threads")), 2);
    ft_answer again = ft_daemon_post(&server, "/v1/traces", RACY);
    expect_status(&again, 200, "second upload");
    assert_string_equal(ft_answer_header(&again, "Location"), location);
    ft_answer_release(&first);
    ft_answer_release(&again);
}

static void trace_and_content(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], path[128], tag[128];
    upload(RACY, hash);
    snprintf(path, sizeof path, "/v1/traces/%s", hash);
    ft_answer meta = ft_daemon_get(&server, path);
    expect_status(&meta, 200, path);
    assert_string_equal(ft_answer_text(&meta, "default_model"), "observed");
    snprintf(tag, sizeof tag, "If-None-Match: %s", ft_answer_header(&meta, "ETag"));
    const char *headers[] = {tag, NULL};
    ft_answer same = ft_daemon_call(&server, "GET", path, headers, NULL, 0);
    expect_status(&same, 304, path);
    snprintf(path, sizeof path, "/v1/traces/%s/content", hash);
    ft_answer content = ft_daemon_get(&server, path);
    expect_status(&content, 200, path);
    assert_int_equal(content.body.len,
                     json_integer_value(json_object_get(meta.json, "stored_bytes")));
    /* The canonical form is a format like any other: it can be uploaded itself. */
    ft_answer binary =
        ft_daemon_call(&server, "POST", "/v1/traces", NULL, content.body.text, content.body.len);
    assert_true(binary.status == 201 || binary.status == 200);
    assert_int_equal(json_integer_value(json_object_get(binary.json, "events")), 8);
    ft_answer_release(&meta);
    ft_answer_release(&same);
    ft_answer_release(&content);
    ft_answer_release(&binary);
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
    hash_of(TEXT, strlen(TEXT), hash);
    size_t length = gzip(TEXT, coded, sizeof coded);
    ft_answer answer = ft_daemon_call(&server, "POST", "/v1/traces", GZIP, coded, length);
    expect_status(&answer, 201, "gzip");
    assert_string_equal(ft_answer_text(&answer, "trace"), hash);
    ft_answer_release(&answer);
    length = ZSTD_compress(coded, sizeof coded, TEXT, strlen(TEXT), 3);
    answer = ft_daemon_call(&server, "POST", "/v1/traces", ZSTD, coded, length);
    expect_status(&answer, 200, "zstd");
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
    {"unknown member", HEADER WRITE_X "{\"thread\":\"T1\",\"kind\":\"begin\",\"colour\":\"red\"}\n",
     3},
    {"undeclared thread", HEADER WRITE_X "{\"thread\":\"T9\",\"kind\":\"begin\"}\n", 3},
    {"undeclared variable", HEADER "{\"thread\":\"T1\",\"kind\":\"read\",\"variable\":\"nope\"}\n",
     2},
    {"ill-sorted term", HEADER WRITE_X TERM("T1", "assume", "(+ x true)"), 3},
    {"term of the wrong sort", HEADER WRITE_X TERM("T1", "assert", "(+ x 1)"), 3},
    {"NaN", HEADER "{\"thread\":\"T1\",\"kind\":\"write\",\"variable\":\"x\",\"value\":NaN}\n", 2},
    {"duplicate key", HEADER "{\"thread\":\"T1\",\"thread\":\"T2\",\"kind\":\"tx-begin\"}\n", 2},
    {"cut line", HEADER "{\"thread\":\"T1\",\"kind\":\"wri", 2},
    {"no events", HEADER, 0},
};

/* A 4xx problem with a place and a code; the trace is not stored; the daemon goes on. */
static void expect_refused(const char *name, const char *const *headers, const void *bytes,
                           size_t length, const char *decoded_hash, int line)
{
    char path[128];
    ft_answer answer = ft_daemon_call(&server, "POST", "/v1/traces", headers, bytes, length);
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
    answer = ft_daemon_get(&server, path);
    expect_status(&answer, 404, name);
    ft_answer_release(&answer);
}

static void malformed_texts(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1];
    for (size_t i = 0; i < sizeof MALFORMED / sizeof *MALFORMED; i++) {
        size_t length = strlen(MALFORMED[i].text);
        hash_of(MALFORMED[i].text, length, hash);
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
    hash_of(junk, sizeof junk, hash);
    expect_refused("binary junk", NULL, junk, sizeof junk, hash, 0);
    static const char UNSEEN[] = "T7|w(x)|1\nT8|w(x)|2\n";
    hash_of(UNSEEN, strlen(UNSEEN), hash);
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
    ft_strbuf_puts(&text, HEADER "{\"thread\":\"T1\",\"kind\":");
    for (int i = 0; i < 100000; i++) ft_strbuf_puts(&text, "[");
    ft_strbuf_puts(&text, "\n");
    hash_of(text.text, text.len, hash);
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
    hash_of(text, length, hash);
    expect_refused("a 64 MiB line", NULL, text, length, hash, 1);
    free(text);
}

static void errors_of_the_program_are_stored(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1];
    upload("T1|acq(l)|1\nT2|rel(l)|2\nT1|rel(l)|3\nT2|w(x)|4\n", hash);
    upload(HEADER WRITE_X TERM("T2", "assert", "(= x 0)"), hash);
    json_t *report = report_of(hash, "\"checks\":[\"assertion\"]", "done");
    assert_int_equal(count_of(report, "assertion", "violation"), 1);
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(finding, "status")), "observed");
    json_decref(report);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void a_race_to_the_end(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], path[160];
    upload(RACY, hash);
    json_t *report = report_of(hash, "\"checks\":[\"race\"],\"model\":\"observed\"", "done");
    assert_int_equal(count_of(report, "race", "violation"), 1);
    expect_counts_add_up(report);
    assert_string_equal(json_string_value(json_object_get(report, "state")), "done");
    assert_string_equal(json_string_value(json_object_get(report, "trace")), hash);
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    const char *id = json_string_value(json_object_get(finding, "finding"));
    assert_non_null(id);
    snprintf(path, sizeof path, "/v1/findings/%s", id);
    ft_answer record = ft_daemon_get(&server, path);
    expect_status(&record, 200, path);
    assert_string_equal(ft_answer_text(&record, "object"), "x");
    snprintf(path, sizeof path, "/v1/findings/%s/witness", id);
    ft_answer witness = ft_daemon_get(&server, path);
    expect_status(&witness, 200, path);
    assert_string_equal(ft_answer_text(&witness, "format"), "foretell-witness");
    assert_string_equal(ft_answer_text(&witness, "trace"), hash);
    ft_answer_release(&record);
    ft_answer_release(&witness);
    json_decref(report);
}

static void models_of_figure_1(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int violations;
    } MODELS[] = {{"observed", 0}, {"maximal", 0}, {"ctp", 1}, {"auto", 1}};
    char hash[FT_DIGEST_HEX + 1], members[128];
    upload(FIG1, hash);
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        snprintf(members, sizeof members, "\"checks\":[\"assertion\"],\"model\":\"%s\"",
                 MODELS[i].model);
        json_t *report = report_of(hash, members, "done");
        assert_int_equal(count_of(report, "assertion", "candidates"), 1);
        assert_int_equal(count_of(report, "assertion", "violation"), MODELS[i].violations);
        expect_counts_add_up(report);
        json_decref(report);
    }
}

static void properties(void **state)
{
    (void)state;
    static const struct {
        const char *property, *verdict;
    } ROWS[] = {
        {"{\"kind\":\"co-enabled\",\"locations\":[\"a.c:1\",\"b.c:1\"]}", "violation"},
        {"{\"kind\":\"co-enabled\",\"locations\":[\"a.c:3\",\"b.c:3\"]}", "safe"},
        {"{\"kind\":\"before\",\"first\":\"a.c:1\",\"then\":\"b.c:1\"}", "violation"},
        {"{\"kind\":\"before\",\"first\":\"a.c:1\",\"then\":\"a.c:3\"}", "safe"},
        {"{\"kind\":\"transaction\",\"from\":\"a.c:2\",\"to\":\"a.c:4\"}", "safe"},
    };
    char hash[FT_DIGEST_HEX + 1], members[512];
    upload(RACY, hash);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        snprintf(members, sizeof members, "\"checks\":[],\"properties\":[%s]", ROWS[i].property);
        json_t *report = report_of(hash, members, "done");
        const json_t *verdict = json_array_get(json_object_get(report, "properties"), 0);
        if (strcmp(json_string_value(json_object_get(verdict, "verdict")), ROWS[i].verdict) != 0)
            fail_msg("%s: %s expected", ROWS[i].property, ROWS[i].verdict);
        json_decref(report);
    }
}

/* What needs the trace to be seen shows when the job is planned. */
static void failing_plans(void **state)
{
    (void)state;
    static const char *const MEMBERS[] = {
        "\"model\":\"ctp\"",
        "\"checks\":[],\"properties\":[{\"kind\":\"before\",\"first\":\"no\",\"then\":\"a.c:1\"}]",
        "\"checks\":[],\"properties\":[{\"kind\":\"assertion\",\"event\":1,\"term\":\"(> x\"}]",
    };
    char hash[FT_DIGEST_HEX + 1], job[64], path[128];
    upload(RACY, hash);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        create(hash, MEMBERS[i], job);
        json_t *snapshot = ft_daemon_finish(&server, job, NULL, NULL);
        assert_non_null(snapshot);
        assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "failed");
        const json_t *error = json_object_get(snapshot, "error");
        assert_true(json_is_string(json_object_get(error, "code")));
        assert_true(json_string_length(json_object_get(error, "message")) > 0);
        snprintf(path, sizeof path, "/v1/jobs/%s/findings", job);
        ft_answer answer = ft_daemon_get(&server, path);
        assert_string_equal(ft_answer_text(&answer, "state"), "failed");
        ft_answer_release(&answer);
        json_decref(snapshot);
    }
}

#define HASH0 "\"trace\":\"0000000000000000000000000000000000000000000000000000000000000000\""

static const struct {
    const char *body;
    long status;
    const char *pointer; /* NULL: none; "": the whole document */
} BAD_JOBS[] = {
    {"", 411, NULL},
    {"{", 400, NULL},
    {"[1,]", 400, NULL},
    {"{" HASH0 ",\"name\":NaN}", 400, NULL},
    {"{" HASH0 "," HASH0 "}", 400, NULL},
    {"[]", 422, ""},
    {"{}", 422, ""},
    {"{" HASH0 "}", 422, "/trace"},
    {"{\"trace\":\"abc\"}", 422, "/trace"},
    {"{\"trace\":5}", 422, "/trace"},
    {"{" HASH0 ",\"colour\":1}", 422, "/colour"},
    {"{" HASH0 ",\"a/b~c\":1}", 422, "/a~1b~0c"},
    {"{" HASH0 ",\"model\":\"best\"}", 422, "/model"},
    {"{" HASH0 ",\"model\":1}", 422, "/model"},
    {"{" HASH0 ",\"checks\":\"race\"}", 422, "/checks"},
    {"{" HASH0 ",\"checks\":[\"race\",\"luck\"]}", 422, "/checks/1"},
    {"{" HASH0 ",\"checks\":[\"property\"]}", 422, "/checks/0"},
    {"{" HASH0 ",\"checks\":[\"race\",\"race\"]}", 422, "/checks"},
    {"{" HASH0 ",\"checks\":[]}", 422, "/checks"},
    {"{" HASH0 ",\"per\":\"thread\"}", 422, "/per"},
    {"{" HASH0 ",\"encoding\":\"utf-8\"}", 422, "/encoding"},
    {"{" HASH0 ",\"budget\":{\"job_ms\":0}}", 422, "/budget/job_ms"},
    {"{" HASH0 ",\"budget\":{\"job_ms\":1.5}}", 422, "/budget/job_ms"},
    {"{" HASH0 ",\"budget\":{\"hours\":1}}", 422, "/budget/hours"},
    {"{" HASH0 ",\"ignore_locations\":[\"a\",7]}", 422, "/ignore_locations/1"},
    {"{" HASH0 ",\"properties\":[{}]}", 422, "/properties/0"},
    {"{" HASH0 ",\"properties\":[{\"kind\":\"luck\"}]}", 422, "/properties/0/kind"},
    {"{" HASH0 ",\"properties\":[{\"kind\":\"before\",\"first\":\"a\"}]}", 422, "/properties/0"},
    {"{" HASH0 ",\"properties\":[{\"kind\":\"before\",\"first\":\"a\",\"then\":1}]}", 422,
     "/properties/0/then"},
    {"{" HASH0 ",\"properties\":[{\"kind\":\"co-enabled\",\"locations\":[\"a\"]}]}", 422,
     "/properties/0/locations"},
    {"{" HASH0 ",\"properties\":[{\"kind\":\"assertion\",\"term\":\"true\"}]}", 422,
     "/properties/0"},
    {"{" HASH0 ",\"properties\":[{\"kind\":\"assertion\",\"term\":\"true\",\"event\":0}]}", 422,
     "/properties/0/event"},
};

static void malformed_jobs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD_JOBS / sizeof *BAD_JOBS; i++) {
        ft_answer answer = ft_daemon_post(&server, "/v1/jobs", BAD_JOBS[i].body);
        expect_status(&answer, BAD_JOBS[i].status, BAD_JOBS[i].body);
        const json_t *pointer = json_object_get(answer.json, "pointer");
        if (BAD_JOBS[i].pointer &&
            (!pointer || strcmp(json_string_value(pointer), BAD_JOBS[i].pointer) != 0))
            fail_msg("%s: pointer %s expected: %s", BAD_JOBS[i].body, BAD_JOBS[i].pointer,
                     answer.body.text);
        if (answer.status == 400)
            assert_true(json_integer_value(json_object_get(answer.json, "line")) == 1 &&
                        json_integer_value(json_object_get(answer.json, "column")) > 0);
        ft_answer_release(&answer);
    }
}

static void large_and_deep_job_bodies(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "{\"properties\":");
    for (int i = 0; i < 1000; i++) ft_strbuf_puts(&text, "[");
    ft_answer answer = ft_daemon_post(&server, "/v1/jobs", text.text);
    expect_status(&answer, 400, "deep nesting");
    assert_int_equal(json_integer_value(json_object_get(answer.json, "column")),
                     strlen("{\"properties\":") + 32);
    ft_answer_release(&answer);
    ft_strbuf_clear(&text);
    ft_strbuf_puts(&text, "{\"name\":\"");
    for (int i = 0; i < 5 << 10; i++) ft_strbuf_printf(&text, "%01024d", 0);
    ft_strbuf_puts(&text, "\"}");
    answer = ft_daemon_post(&server, "/v1/jobs", text.text);
    expect_status(&answer, 413, "a body of 5 MiB");
    ft_answer_release(&answer);
    ft_strbuf_release(&text);
}

static void content_types(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"Content-Type: text/plain", NULL};
    static const char *const JSON[] = {"Content-Type: application/json; charset=utf-8", NULL};
    static const char *const ORIGIN[] = {"Origin: http://elsewhere.example", NULL};
    ft_answer answer = ft_daemon_call(&server, "POST", "/v1/jobs", TEXT, "{}", 2);
    expect_status(&answer, 415, "text/plain");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&server, "POST", "/v1/jobs", JSON, "{}", 2);
    expect_status(&answer, 422, "application/json");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&server, "POST", "/v1/jobs", ORIGIN, "{}", 2);
    expect_status(&answer, 403, "another origin");
    ft_answer_release(&answer);
}

static void idempotency_keys(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], body[256], job[64], other[64];
    static const char *const KEY[] = {"Idempotency-Key: 5f3a", NULL};
    upload(RACY, hash);
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"name\":\"once\"}", hash);
    ft_answer first = ft_daemon_call(&server, "POST", "/v1/jobs", KEY, body, strlen(body));
    expect_status(&first, 202, "first");
    snprintf(job, sizeof job, "%s", ft_answer_text(&first, "job"));
    ft_answer again = ft_daemon_call(&server, "POST", "/v1/jobs", KEY, body, strlen(body));
    expect_status(&again, 202, "again");
    assert_string_equal(ft_answer_text(&again, "job"), job);
    ft_answer plain = ft_daemon_post(&server, "/v1/jobs", body);
    snprintf(other, sizeof other, "%s", ft_answer_text(&plain, "job"));
    assert_string_not_equal(other, job);
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"name\":\"twice\"}", hash);
    ft_answer clash = ft_daemon_call(&server, "POST", "/v1/jobs", KEY, body, strlen(body));
    expect_status(&clash, 422, "the same key with another body");
    ft_answer_release(&first);
    ft_answer_release(&again);
    ft_answer_release(&plain);
    ft_answer_release(&clash);
}

static void etags_and_waiting(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64], path[128], tag[128];
    upload(RACY, hash);
    create(hash, "", job);
    json_decref(ft_daemon_finish(&server, job, NULL, NULL));
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    ft_answer done = ft_daemon_get(&server, path);
    expect_status(&done, 200, path);
    assert_string_equal(ft_answer_text(&done, "state"), "done");
    const json_t *progress = json_object_get(done.json, "progress");
    assert_true(json_is_integer(json_object_get(progress, "total")));
    assert_true(json_equal(json_object_get(progress, "done"), json_object_get(progress, "total")));
    snprintf(tag, sizeof tag, "If-None-Match: \"x\", W/%s", ft_answer_header(&done, "ETag"));
    const char *headers[] = {tag, NULL};
    ft_answer same = ft_daemon_call(&server, "GET", path, headers, NULL, 0);
    expect_status(&same, 304, "If-None-Match");
    assert_int_equal(same.body.len, 0);
    /* A job that has ended is not waited for. */
    const char *waiting[] = {"Prefer: wait=60", NULL};
    ft_answer at_once = ft_daemon_call(&server, "GET", path, waiting, NULL, 0);
    expect_status(&at_once, 200, "Prefer: wait");
    assert_string_equal(ft_answer_header(&at_once, "Preference-Applied"), "wait=60");
    ft_answer nothing = ft_daemon_call(&server, "GET", "/v1/jobs/none", waiting, NULL, 0);
    expect_status(&nothing, 404, "waiting for nothing");
    ft_answer_release(&done);
    ft_answer_release(&same);
    ft_answer_release(&at_once);
    ft_answer_release(&nothing);
}

static void lists_and_pages(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], jobs[3][64], path[256] = "/v1/jobs?limit=2";
    upload(RACY, hash);
    for (int i = 0; i < 3; i++) create(hash, "\"checks\":[\"race\"]", jobs[i]);
    int seen = 0;
    for (int page = 0; page < 2; page++) {
        ft_answer answer = ft_daemon_get(&server, path);
        expect_status(&answer, 200, path);
        const json_t *list = json_object_get(answer.json, "jobs");
        for (size_t i = 0; i < json_array_size(list) && seen < 3; i++) {
            const json_t *job = json_object_get(json_array_get(list, i), "job");
            assert_string_equal(json_string_value(job), jobs[2 - seen]);
            seen++;
        }
        assert_true(json_array_size(list) <= 2);
        snprintf(path, sizeof path, "/v1/jobs?limit=2&after=%s", ft_answer_text(&answer, "next"));
        ft_answer_release(&answer);
    }
    assert_int_equal(seen, 3);
    static const char *const BAD[] = {"/v1/jobs?limit=0", "/v1/jobs?limit=x", "/v1/jobs?limit=-1",
                                      "/v1/jobs?after=%21", "/v1/jobs?state=sleepy"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_answer answer = ft_daemon_get(&server, BAD[i]);
        expect_status(&answer, 400, BAD[i]);
        ft_answer_release(&answer);
    }
}

static void cancelling(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64], path[128];
    upload(RACY, hash);
    create(hash, "", job);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    ft_answer answer = ft_daemon_call(&server, "DELETE", path, NULL, NULL, 0);
    expect_status(&answer, 204, path);
    ft_answer_release(&answer);
    json_t *snapshot = ft_daemon_finish(&server, job, NULL, NULL);
    const char *ended = json_string_value(json_object_get(snapshot, "state"));
    assert_true(strcmp(ended, "cancelled") == 0 || strcmp(ended, "done") == 0);
    json_decref(snapshot);
    answer = ft_daemon_call(&server, "DELETE", "/v1/jobs/none", NULL, NULL, 0);
    expect_status(&answer, 404, "DELETE of nothing");
    ft_answer_release(&answer);
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
        ft_answer answer = ft_daemon_get(&server, PATHS[i]);
        expect_status(&answer, 404, PATHS[i]);
        assert_string_equal(ft_answer_header(&answer, "Content-Type"), "application/problem+json");
        ft_answer_release(&answer);
    }
}

static void methods(void **state)
{
    (void)state;
    ft_answer answer = ft_daemon_call(&server, "PUT", "/v1/jobs", NULL, "{}", 2);
    expect_status(&answer, 405, "PUT");
    assert_string_equal(ft_answer_header(&answer, "Allow"), "POST, GET, HEAD, OPTIONS");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&server, "OPTIONS", "/v1/jobs/x", NULL, NULL, 0);
    expect_status(&answer, 204, "OPTIONS");
    assert_string_equal(ft_answer_header(&answer, "Allow"), "GET, HEAD, DELETE, OPTIONS");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&server, "HEAD", "/live", NULL, NULL, 0);
    expect_status(&answer, 200, "HEAD");
    assert_int_equal(answer.body.len, 0);
    ft_answer_release(&answer);
}

static void health_and_metrics(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"/", "/live", "/ready", "/v1/workers", "/v1/openapi.json"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        ft_answer answer = ft_daemon_get(&server, PATHS[i]);
        expect_status(&answer, 200, PATHS[i]);
        ft_answer_release(&answer);
    }
    ft_answer answer = ft_daemon_get(&server, "/metrics");
    expect_status(&answer, 200, "/metrics");
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

/* Every route that the daemon serves is in schema/openapi.yaml. */
static void openapi_is_complete(void **state)
{
    (void)state;
    static char text[65536];
    const char *path, *method;
    json_t *operations, *operation;
    FILE *file = fopen(FT_SOURCE_DIR "/schema/openapi.yaml", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ft_answer answer = ft_daemon_get(&server, "/v1/openapi.json");
    json_object_foreach(json_object_get(answer.json, "paths"), path, operations)
    {
        char key[128], line[32];
        snprintf(key, sizeof key, "\n  %s:\n", path);
        const char *at = strstr(text, key);
        if (!at) fail_msg("schema/openapi.yaml lacks %s", path);
        const char *end = strstr(at + strlen(key), "\n  /");
        json_object_foreach(operations, method, operation)
        {
            snprintf(line, sizeof line, "\n    %s:", method);
            const char *found = strstr(at, line);
            if (!found || (end && found > end)) fail_msg("openapi.yaml lacks %s %s", method, path);
        }
    }
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
        ft_strbuf out = ft_daemon_raw(&server, RAW[i].bytes, strlen(RAW[i].bytes));
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
        cmocka_unit_test(compressed_uploads_are_the_same_trace),
        cmocka_unit_test(malformed_texts),
        cmocka_unit_test(malformed_bytes),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(very_long_line),
        cmocka_unit_test(errors_of_the_program_are_stored),
        cmocka_unit_test(a_race_to_the_end),
        cmocka_unit_test(models_of_figure_1),
        cmocka_unit_test(properties),
        cmocka_unit_test(failing_plans),
        cmocka_unit_test(malformed_jobs),
        cmocka_unit_test(large_and_deep_job_bodies),
        cmocka_unit_test(content_types),
        cmocka_unit_test(idempotency_keys),
        cmocka_unit_test(etags_and_waiting),
        cmocka_unit_test(lists_and_pages),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(not_there),
        cmocka_unit_test(methods),
        cmocka_unit_test(health_and_metrics),
        cmocka_unit_test(openapi_is_complete),
        cmocka_unit_test(raw_requests),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
