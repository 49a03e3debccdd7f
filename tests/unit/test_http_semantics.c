/* Semantics (RFC 9110): methods, conditions, negotiation, limits, the order of answers. */
#include "http_rules.h"

#include <time.h>
#include <zlib.h>

#define H                  RULE_HOST
#define GET(path, fields)  "GET " path " HTTP/1.1\r\n" H fields "\r\n"
#define HEAD(path, fields) "HEAD " path " HTTP/1.1\r\n" H fields "\r\n"
#define POST(path, fields, length, body)                                                           \
    "POST " path " HTTP/1.1\r\n" H fields "Content-Length: " length "\r\n\r\n" body
#define JOBS "/v1/jobs"
#define JSON "Content-Type: application/json\r\n"
#define READ                                                                                       \
    {                                                                                              \
        "\"pointer\":\"/trace\""                                                                   \
    }

/* ---- Rows ------------------------------------------------------------------------------------ */

static const rule METHODS[] = {
    {"9110 9.3.2, HEAD has no body",
     HEAD("/live", ""),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Length: 5\r\n", "!live\n"}},
    {"9110 9.3.2, of nothing",
     HEAD("/nothing", ""),
     0,
     404,
     GOES_ON,
     {"\r\nContent-Type: application/problem+json\r\n", "!\"status\""}},
    {"9110 9.3.2, of a stream",
     HEAD("/v1/events", ""),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Type: text/event-stream", "!event:"}},
    {"9110 15.5.6, POST where there is GET",
     POST("/live", "", "0", ""),
     0,
     405,
     GOES_ON,
     {"\r\nAllow: GET, HEAD, OPTIONS\r\n"}},
    {"9110 15.5.6, DELETE of a list",
     "DELETE /v1/jobs HTTP/1.1\r\n" H "\r\n",
     0,
     405,
     GOES_ON,
     {"\r\nAllow: POST, GET, HEAD, OPTIONS\r\n"}},
    {"9110 15.5.6, PATCH",
     "PATCH /v1/jobs/x HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}",
     0,
     405,
     GOES_ON,
     {"\r\nAllow: GET, HEAD, DELETE, OPTIONS\r\n"}},
    {"9110 9.3.5, DELETE with a body",
     "DELETE /v1/jobs/x HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}",
     0,
     404,
     GOES_ON,
     {"not-found"}},
    {"9110 9.3.3, POST to what cannot be posted to",
     POST("/v1/nothing", "", "0", ""),
     0,
     404,
     GOES_ON,
     {NULL}},
    {"6454, a page of another site",
     POST(JOBS, JSON "Origin: http://evil.example\r\n", "11", "{\"trace\":1}"),
     0,
     403,
     GOES_ON,
     {"cross-origin", "!Access-Control-Allow"}},
    {"6454, a page without a name",
     POST(JOBS, JSON "Origin: null\r\n", "11", "{\"trace\":1}"),
     0,
     403,
     GOES_ON,
     {"cross-origin"}},
    {"CORS, a preflight",
     "OPTIONS /v1/jobs HTTP/1.1\r\n" H "Origin: http://evil.example\r\n"
     "Access-Control-Request-Method: POST\r\n\r\n",
     0,
     204,
     GOES_ON,
     {"!Access-Control-Allow"}},
    {"CORS, a simple request",
     GET("/live", "Origin: http://evil.example\r\n"),
     0,
     200,
     GOES_ON,
     {"!Access-Control-Allow"}},
};

static const rule EXPECTATIONS[] = {
    {"9110 10.1.1, another one",
     POST(JOBS, JSON "Expect: tea\r\n", "11", "{\"trace\":1}"),
     0,
     417,
     ENDS,
     {NULL}},
    {"9110 10.1.1, two",
     POST(JOBS, JSON "Expect: 100-continue, tea\r\n", "11", "{\"trace\":1}"),
     0,
     417,
     ENDS,
     {NULL}},
    {"9110 10.1.1, in any case; the body is there",
     POST(JOBS, JSON "Expect: 100-CONTINUE\r\n", "11", "{\"trace\":1}"), 0, 422, GOES_ON, READ},
    {"9110 10.1.1, without a body",
     GET("/live", "Expect: 100-continue\r\n"),
     0,
     200,
     GOES_ON,
     {"live\n"}},
    {"9110 10.1.1, ignored of 1.0",
     "POST /v1/jobs HTTP/1.0\r\n" H JSON "Expect: 100-continue\r\n"
     "Content-Length: 11\r\n\r\n{\"trace\":1}",
     0, 422, ENDS, READ},
};

static const rule CONTENT[] = {
    {"9110 8.3, JSON", POST(JOBS, JSON, "11", "{\"trace\":1}"), 0, 422, GOES_ON, READ},
    {"9110 8.3, with a parameter",
     POST(JOBS, "Content-Type: Application/JSON; charset=utf-8\r\n", "11", "{\"trace\":1}"), 0, 422,
     GOES_ON, READ},
    {"9110 15.5.16, a text",
     POST(JOBS, "Content-Type: text/plain\r\n", "11", "{\"trace\":1}"),
     0,
     415,
     GOES_ON,
     {"content-type"}},
    {"9110 15.5.16, nothing between the slashes",
     POST(JOBS, "Content-Type: /\r\n", "11", "{\"trace\":1}"),
     0,
     415,
     GOES_ON,
     {"content-type"}},
    {"9110 15.5.16, two types",
     POST(JOBS, JSON "Content-Type: text/plain\r\n", "11", "{\"trace\":1}"),
     0,
     415,
     GOES_ON,
     {"content-type"}},
    {"9110 8.4, identity", POST(JOBS, JSON "Content-Encoding: identity\r\n", "11", "{\"trace\":1}"),
     0, 422, GOES_ON, READ},
    {"9110 8.4, unknown",
     POST(JOBS, JSON "Content-Encoding: br\r\n", "11", "{\"trace\":1}"),
     0,
     415,
     GOES_ON,
     {"\r\nAccept-Encoding: gzip, zstd\r\n"}},
    {"9110 8.4, nested",
     POST("/v1/traces", "Content-Encoding: gzip, gzip\r\n", "11", "{\"trace\":1}"),
     0,
     415,
     GOES_ON,
     {"\r\nAccept-Encoding: gzip, zstd\r\n"}},
    {"9110 8.4, nested in two fields",
     POST("/v1/traces",
          "Content-Encoding: zstd\r\n"
          "Content-Encoding: gzip\r\n",
          "11", "{\"trace\":1}"),
     0,
     415,
     GOES_ON,
     {NULL}},
    {"9110 8.4, not what it says",
     POST(JOBS, JSON "Content-Encoding: gzip\r\n", "11", "{\"trace\":1}"),
     0,
     400,
     ENDS,
     {"malformed-input"}},
    {"8259, cut", POST(JOBS, JSON, "8", "{\"trace\""), 0, 400, GOES_ON, {"\"line\":1"}},
    {"8259, twice the same name",
     POST(JOBS, JSON, "22", "{\"trace\":1, \"trace\":2}"),
     0,
     400,
     GOES_ON,
     {NULL}},
    {"8259, NUL", RULE_BYTES(POST(JOBS, JSON, "11", "{\"trace\":\0}")), 400, GOES_ON, {NULL}},
    {"8259, no UTF-8", POST(JOBS, JSON, "13", "{\"trace\":\"\377\"}"), 0, 400, GOES_ON, {NULL}},
    {"8259, something behind it",
     POST(JOBS, JSON, "13", "{\"trace\":1}{}"),
     0,
     400,
     GOES_ON,
     {NULL}},
};

static const rule CONDITIONS[] = {
    {"9110 13.1.1, If-Match of something untagged",
     GET("/live", "If-Match: \"x\"\r\n"),
     0,
     412,
     GOES_ON,
     {"precondition-failed"}},
    {"9110 13.1.1, If-Match: *", GET("/live", "If-Match: *\r\n"), 0, 200, GOES_ON, {"live\n"}},
    {"9110 13.1.1, weak tags never match",
     GET(JOBS, "If-Match: W/\"x\"\r\n"),
     0,
     412,
     GOES_ON,
     {"precondition-failed"}},
    {"9110 13.2.1, ignored where there is nothing",
     GET("/nothing", "If-Match: \"x\"\r\n"),
     0,
     404,
     GOES_ON,
     {"not-found"}},
    {"9110 13.1.2, another tag",
     GET(JOBS, "If-None-Match: \"x\"\r\n"),
     0,
     200,
     GOES_ON,
     {"\"jobs\":"}},
    {"9110 13.1.2, *", GET(JOBS, "If-None-Match: *\r\n"), 0, 304, GOES_ON, {"!\"jobs\":"}},
    {"9110 13.1.2, * for HEAD", HEAD(JOBS, "If-None-Match: *\r\n"), 0, 304, GOES_ON, {NULL}},
    {"9110 13.1.2, malformed", GET(JOBS, "If-None-Match: x\"\r\n"), 0, 200, GOES_ON, {NULL}},
    {"9110 13.1.2, of what changes things",
     POST(JOBS, JSON "If-None-Match: *\r\n", "11", "{\"trace\":1}"),
     0,
     412,
     GOES_ON,
     {"precondition-failed"}},
    {"9110 13.1.1, of what changes things",
     "DELETE /v1/jobs/x HTTP/1.1\r\n" H "If-Match: \"1\"\r\n\r\n",
     0,
     412,
     GOES_ON,
     {"precondition-failed"}},
    {"9110 13.1.3, no date to compare with",
     GET(JOBS, "If-Modified-Since: Sat, 01 Jan 2050 "
               "00:00:00 GMT\r\n"),
     0,
     200,
     GOES_ON,
     {NULL}},
    {"9110 13.1.4, no date to compare with",
     GET(JOBS, "If-Unmodified-Since: Sat, 01 Jan 2000 "
               "00:00:00 GMT\r\n"),
     0,
     200,
     GOES_ON,
     {NULL}},
    {"9110 14.2, Range may be ignored",
     GET("/live", "Range: bytes=0-0\r\n"),
     0,
     200,
     GOES_ON,
     {"live\n", "!Content-Range"}},
    {"9110 14.2, whatever it says",
     GET("/live", "Range: bytes=5-1,x\r\n"),
     0,
     200,
     GOES_ON,
     {"live\n"}},
    {"9110 13.1.5, If-Range with it",
     GET("/live", "Range: bytes=0-0\r\nIf-Range: \"x\"\r\n"),
     0,
     200,
     GOES_ON,
     {"live\n"}},
};

/* /v1/openapi.json is long enough to be worth compressing. */
#define SPEC "/v1/openapi.json"
static const rule NEGOTIATION[] = {
    {"9110 12.5.3, nothing said",
     GET(SPEC, ""),
     0,
     200,
     GOES_ON,
     {"\r\nVary: Accept-Encoding\r\n", "!\r\nContent-Encoding:"}},
    {"9110 12.5.3, gzip",
     GET(SPEC, "Accept-Encoding: gzip\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: gzip\r\n", "\r\nVary: Accept-Encoding\r\n"}},
    {"9110 12.5.3, zstd",
     GET(SPEC, "Accept-Encoding: ZSTD\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: zstd\r\n"}},
    {"9110 12.5.3, unknown ones",
     GET(SPEC, "Accept-Encoding: br, deflate\r\n"),
     0,
     200,
     GOES_ON,
     {"!\r\nContent-Encoding:"}},
    {"9110 12.5.3, empty",
     GET(SPEC, "Accept-Encoding: \r\n"),
     0,
     200,
     GOES_ON,
     {"!\r\nContent-Encoding:"}},
    {"9110 12.4.2, not acceptable",
     GET(SPEC, "Accept-Encoding: gzip;q=0\r\n"),
     0,
     200,
     GOES_ON,
     {"!\r\nContent-Encoding:"}},
    {"9110 12.4.2, nor with three digits",
     GET(SPEC, "Accept-Encoding: gzip ; q=0.000\r\n"),
     0,
     200,
     GOES_ON,
     {"!\r\nContent-Encoding:"}},
    {"9110 12.4.2, the heavier",
     GET(SPEC, "Accept-Encoding: zstd;q=0.1, gzip;q=0.9\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: gzip\r\n"}},
    {"9110 12.4.2, the heavier, turned",
     GET(SPEC, "Accept-Encoding: gzip;q=0.001, zstd\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: zstd\r\n"}},
    {"9110 12.4.2, identity preferred",
     GET(SPEC, "Accept-Encoding: identity, gzip;q=0.5\r\n"),
     0,
     200,
     GOES_ON,
     {"!\r\nContent-Encoding:"}},
    {"9110 12.5.3, anything",
     GET(SPEC, "Accept-Encoding: *\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: "}},
    {"9110 12.5.3, anything but",
     GET(SPEC, "Accept-Encoding: *, zstd;q=0\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: gzip\r\n"}},
    {"9110 12.5.3, nothing at all",
     GET(SPEC, "Accept-Encoding: *;q=0\r\n"),
     0,
     200,
     GOES_ON,
     {"!\r\nContent-Encoding:"}},
    {"9110 12.5.3, no identity: even short ones",
     GET("/live", "Accept-Encoding: gzip, identity;q=0\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: gzip\r\n"}},
    {"9110 12.5.3, in two fields",
     GET(SPEC, "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Encoding: gzip\r\n"}},
    {"9110 12.5.1, a page",
     GET("/", "Accept: text/html\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Type: text/html", "\r\nVary: Accept"}},
    {"9110 12.5.1, a document",
     GET("/", "Accept: application/json\r\n"),
     0,
     200,
     GOES_ON,
     {"\r\nContent-Type: application/json\r\n", "\r\nVary: Accept"}},
};

/* ---- Long ones ------------------------------------------------------------------------------- */

static void expect_long(const char *section, const char *before, size_t zeros, const char *behind,
                        int status, rule_end end)
{
    ft_strbuf bytes = {0};
    ft_strbuf_puts(&bytes, before);
    for (size_t i = 0; i < zeros; i++) ft_strbuf_add(&bytes, "0", 1);
    ft_strbuf_puts(&bytes, behind);
    rule one = {section, bytes.text, bytes.len, status, end, {NULL}};
    rules_run(&one, 1);
    ft_strbuf_release(&bytes);
}

static void repeat(ft_strbuf *out, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) ft_strbuf_puts(out, text);
}

static void limits(void **state)
{
    (void)state;
    expect_long("9110 15.5.15, a target", "GET /", 9000, " HTTP/1.1\r\n" H "\r\n", 414, ENDS);
    expect_long("9110 15.5.15, a query", "GET /live?", 9000, " HTTP/1.1\r\n" H "\r\n", 414, ENDS);
    expect_long("9112 3, at least 8,000 bytes", "GET /live?", 8000, " HTTP/1.1\r\n" H "\r\n", 200,
                GOES_ON);
    expect_long("9112 3, a method", "A", 9000, " / HTTP/1.1\r\n" H "\r\n", 414, ENDS);
    expect_long("6585 5, a value", "GET /live HTTP/1.1\r\n" H "A: ", 20000, "\r\n\r\n", 431, ENDS);
    expect_long("6585 5, a name", "GET /live HTTP/1.1\r\n" H "A", 20000, ": b\r\n\r\n", 431, ENDS);
    expect_long("6585 5, a host", "GET /live HTTP/1.1\r\nHost: ", 20000, "\r\n\r\n", 431, ENDS);
    ft_strbuf many = {0};
    ft_strbuf_puts(&many, "GET /live HTTP/1.1\r\n" H);
    repeat(&many, "A: b\r\n", 100);
    ft_strbuf_puts(&many, "\r\n");
    expect_long("6585 5, many fields", many.text, 0, "", 431, ENDS);
    ft_strbuf_clear(&many);
    repeat(&many, "\r\n", 10000);
    expect_long("9112 2.2, endless empty lines", many.text, 0, "", 414, ENDS);
    ft_strbuf_release(&many);
}

#define CHUNKED "POST /v1/jobs HTTP/1.1\r\n" H JSON "Transfer-Encoding: chunked\r\n\r\n"

static void limits_of_chunks(void **state)
{
    (void)state;
    ft_strbuf many = {0};
    expect_long("9112 7.1.1, an extension", CHUNKED "b;", 300, "\r\n{\"trace\":1}\r\n0\r\n\r\n",
                400, ENDS);
    expect_long("9112 7.1.2, a trailer", CHUNKED "b\r\n{\"trace\":1}\r\n0\r\nA: ", 20000,
                "\r\n\r\n", 431, ENDS);
    ft_strbuf_puts(&many, CHUNKED "b\r\n{\"trace\":1}\r\n0\r\n");
    repeat(&many, "A: b\r\n", 120);
    ft_strbuf_puts(&many, "\r\n");
    expect_long("9112 7.1.2, many trailers", many.text, 0, "", 431, ENDS);
    ft_strbuf_release(&many);
}

/* ---- Pairs of answers ------------------------------------------------------------------------ */

static ft_strbuf exchange(const char *request, rule_answer *answer)
{
    ft_strbuf out = ft_daemon_raw(&ft_steps_server, request, strlen(request));
    const char *at = ft_strbuf_text(&out);
    bool head = strncmp(request, "HEAD ", 5) == 0;
    assert_true(rule_next(&at, at + out.len, head, answer));
    return out;
}

static char job[64], trace[FT_DIGEST_HEX + 1], finding[80];

static int set_up(void **state)
{
    if (ft_steps_start(state) != 0) return -1;
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, "\"checks\":[\"race\"]", job);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
    char path[160];
    snprintf(path, sizeof path, "/v1/jobs/%s/findings", job);
    ft_answer report = ft_daemon_get(&ft_steps_server, path);
    const json_t *first = json_array_get(json_object_get(report.json, "findings"), 0);
    snprintf(finding, sizeof finding, "%s", json_string_value(json_object_get(first, "finding")));
    ft_answer_release(&report);
    return 0;
}

/* %s: the job, or the trace. */
static const struct {
    const char *path;
    const char *name;
} TAGGED[] = {
    {"/v1/jobs/%s", job},
    {"/v1/jobs/%s/findings", job},
    {"/v1/jobs/%s/report", job},
    {"/v1/findings/%s", finding},
    {"/v1/findings/%s/witness", finding},
    {"/v1/traces/%s", trace},
    {"/v1/traces/%s/summary", trace},
    {"/v1/traces/%s/content", trace},
    {"/v1/jobs%.0s", job},
    {"/v1/traces%.0s", trace},
    {"/v1/workers%.0s", job},
};
#define N_TAGGED (sizeof TAGGED / sizeof *TAGGED)

static void put_request(ft_strbuf *out, const char *method, size_t row, const char *fields)
{
    char path[160];
    const char *percent = strchr(TAGGED[row].path, '%');
    bool named = percent[1] == 's';
    snprintf(path, sizeof path, "%.*s%s%s", (int)(percent - TAGGED[row].path), TAGGED[row].path,
             named ? TAGGED[row].name : "", percent + (named ? 2 : 4));
    ft_strbuf_printf(out, "%s %s HTTP/1.1\r\n" H "Connection: close\r\n%s\r\n", method, path,
                     fields);
}

static void same_header(const rule_answer *a, const rule_answer *b, const char *name,
                        const char *what)
{
    char one[256], two[256];
    const char *first = rule_header(a, name, one), *second = rule_header(b, name, two);
    if (!first != !second || (first && strcmp(first, second) != 0))
        fail_msg("%s: %s is \"%s\" and \"%s\"", what, name, first ? first : "absent",
                 second ? second : "absent");
}

/* RFC 9110 §9.3.2: what GET would have sent. */
static void head_is_get_without_its_body(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"Content-Type", "Content-Length",   "ETag", "Cache-Control",
                                        "Vary",         "Content-Encoding", "Link"};
    for (size_t i = 0; i < N_TAGGED; i++) {
        ft_strbuf get = {0}, head = {0};
        rule_answer got, headed;
        put_request(&get, "GET", i, "Accept-Encoding: gzip\r\n");
        put_request(&head, "HEAD", i, "Accept-Encoding: gzip\r\n");
        ft_strbuf one = exchange(get.text, &got), two = exchange(head.text, &headed);
        assert_int_equal(got.status, 200);
        assert_int_equal(headed.status, 200);
        assert_int_equal(two.len, headed.head_length + 2);
        for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
            same_header(&got, &headed, NAMES[k], get.text);
        ft_strbuf_release(&one);
        ft_strbuf_release(&two);
        ft_strbuf_release(&get);
        ft_strbuf_release(&head);
    }
}

/* RFC 9110 §15.4.5: what a 200 would have said; §13.1.2: tags are compared weakly, in lists. */
static void not_modified(size_t row, const char *coding)
{
    static const char *const NAMES[] = {"ETag", "Cache-Control", "Vary", "Content-Location",
                                        "Expires"};
    static const char *const LISTS[] = {"%s", "\"x\", %s", "W/\"a,b\" ,, %s , \"y\""};
    ft_strbuf get = {0};
    rule_answer got, same;
    char tag[256], list[400], fields[600];
    put_request(&get, "GET", row, coding);
    ft_strbuf one = exchange(get.text, &got);
    assert_int_equal(got.status, 200);
    if (!rule_header(&got, "ETag", tag)) fail_msg("%s: no ETag", get.text);
    const char *opaque = tag + (strncmp(tag, "W/", 2) == 0 ? 2 : 0);
    for (size_t k = 0; k < 2 * sizeof LISTS / sizeof *LISTS; k++) {
        ft_strbuf again = {0};
        char weak[300];
        snprintf(weak, sizeof weak, "W/%s", opaque);
        const char *percent = strchr(LISTS[k / 2], '%');
        snprintf(list, sizeof list, "%.*s%s%s", (int)(percent - LISTS[k / 2]), LISTS[k / 2],
                 k % 2 ? weak : opaque, percent + 2);
        snprintf(fields, sizeof fields, "%sIf-None-Match: %s\r\n", coding, list);
        put_request(&again, "GET", row, fields);
        ft_strbuf two = exchange(again.text, &same);
        if (same.status != 304) fail_msg("%s: %d", again.text, same.status);
        assert_int_equal(two.len, same.head_length + 2);
        for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++)
            same_header(&got, &same, NAMES[n], again.text);
        assert_null(rule_header(&same, "Content-Length", list));
        assert_null(rule_header(&same, "Content-Type", list));
        ft_strbuf_release(&two);
        ft_strbuf_release(&again);
    }
    ft_strbuf_release(&one);
    ft_strbuf_release(&get);
}

static void not_modified_says_what_ok_would(void **state)
{
    (void)state;
    /* The workers' document may change between two requests. */
    for (size_t i = 0; i + 1 < N_TAGGED; i++) {
        not_modified(i, "");
        not_modified(i, "Accept-Encoding: gzip\r\n");
    }
}

/* RFC 9110 §13.1.1 and §8.8.3.2: If-Match is for strong tags; the content's is one. */
static void matches_strongly(void **state)
{
    (void)state;
    char fields[200];
    static const struct {
        const char *form;
        int status;
    } FORMS[] = {{"If-Match: \"%s\"\r\n", 200},
                 {"If-Match: \"x\", \"%s\"\r\n", 200},
                 {"If-Match: W/\"%s\"\r\n", 412},
                 {"If-Match: \"x%s\"\r\n", 412},
                 {"If-Match: \"x\"\r\nIf-None-Match: \"%s\"\r\n", 412}};
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        ft_strbuf get = {0};
        rule_answer got;
        const char *percent = strchr(FORMS[i].form, '%');
        snprintf(fields, sizeof fields, "%.*s%s%s", (int)(percent - FORMS[i].form), FORMS[i].form,
                 trace, percent + 2);
        put_request(&get, "GET", 7, fields);
        ft_strbuf out = exchange(get.text, &got);
        if (got.status != FORMS[i].status) fail_msg("%s: %d", fields, got.status);
        ft_strbuf_release(&out);
        ft_strbuf_release(&get);
    }
}

/* RFC 9110 §6.6.1 and §5.6.7. */
static void the_date(void **state)
{
    (void)state;
    rule_answer answer;
    char value[256];
    struct tm parts = {0};
    ft_strbuf out = exchange(GET("/live", "Connection: close\r\n"), &answer);
    const char *date = rule_header(&answer, "Date", value);
    assert_non_null(date);
    const char *end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    assert_true(end && *end == '\0' && strlen(date) == 29);
    assert_true(labs((long)(timegm(&parts) - time(NULL))) <= 10);
    ft_strbuf_release(&out);
}

/* RFC 9112 §9.3.2: answers in the order of the requests, also where one takes a worker's time and
 * the next is answered from memory. */
static void pipelining(void **state)
{
    (void)state;
    static const int STATUS[] = {201, 200, 200, 404, 422, 304, 200};
    ft_strbuf sent = {0};
    rule_answer answer;
    static const char FRESH[] = "T1|w(pipelined)|a.c:1\nT2|w(pipelined)|b.c:1\n";
    ft_strbuf_printf(&sent, "POST /v1/traces HTTP/1.1\r\n" H "Content-Length: %zu\r\n\r\n%s",
                     sizeof FRESH - 1, FRESH);
    ft_strbuf_puts(&sent, GET("/live", "") HEAD("/live", "") GET("/nothing", ""));
    ft_strbuf_puts(&sent, POST(JOBS, JSON, "11", "{\"trace\":1}"));
    ft_strbuf_puts(&sent, GET("/v1/traces", "If-None-Match: *\r\n") RULE_PROBE);
    ft_strbuf out = ft_daemon_raw(&ft_steps_server, sent.text, sent.len);
    const char *at = ft_strbuf_text(&out), *end = at + out.len;
    for (size_t i = 0; i < sizeof STATUS / sizeof *STATUS; i++) {
        assert_true(rule_next(&at, end, i == 2, &answer));
        assert_int_equal(answer.status, STATUS[i]);
    }
    assert_ptr_equal(at, end);
    ft_strbuf_release(&out);
    ft_strbuf_release(&sent);
}

/* RFC 9110 §8.8.3: a changed job has another tag. §15.3.3, §10.2.2: where the new one is. */
static void where_new_things_are(void **state)
{
    (void)state;
    char body[160], location[160];
    snprintf(body, sizeof body, "{\"trace\":\"%s\"}", trace);
    ft_answer made = ft_daemon_post(&ft_steps_server, JOBS, body);
    ft_steps_expect(&made, 202, JOBS);
    snprintf(location, sizeof location, "/v1/jobs/%s", ft_answer_text(&made, "job"));
    assert_string_equal(ft_answer_header(&made, "Location"), location);
    json_decref(ft_daemon_finish(&ft_steps_server, ft_answer_text(&made, "job"), NULL, NULL));
    ft_answer done = ft_daemon_get(&ft_steps_server, location);
    snprintf(location, sizeof location, "%s", ft_answer_header(&done, "ETag"));
    assert_string_not_equal(ft_answer_header(&made, "ETag"), location);
    ft_answer_release(&made);
    ft_answer_release(&done);
}

#define TEST(name, rules)                                                                          \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        rules_run(rules, sizeof(rules) / sizeof *(rules));                                         \
    }
TEST(methods, METHODS)
TEST(expectations, EXPECTATIONS)
TEST(content, CONTENT)
TEST(conditions, CONDITIONS)
TEST(negotiation, NEGOTIATION)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods),
        cmocka_unit_test(expectations),
        cmocka_unit_test(content),
        cmocka_unit_test(conditions),
        cmocka_unit_test(negotiation),
        cmocka_unit_test(limits),
        cmocka_unit_test(limits_of_chunks),
        cmocka_unit_test(head_is_get_without_its_body),
        cmocka_unit_test(not_modified_says_what_ok_would),
        cmocka_unit_test(matches_strongly),
        cmocka_unit_test(the_date),
        cmocka_unit_test(pipelining),
        cmocka_unit_test(where_new_things_are),
    };
    return cmocka_run_group_tests(tests, set_up, ft_steps_stop);
}
