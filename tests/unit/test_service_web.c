/* The daemon's dashboard: its files, its headers, and that nothing else is served. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "service/steps.h"

static char folder[] = "/tmp/ft-web-XXXXXX";
static char outside[] = "/tmp/ft-web-secret-XXXXXX";
static ft_daemon server;

#define HTML "Accept: text/html,application/xhtml+xml"

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static char script[20000];

static int set_up(void **state)
{
    (void)state;
    char link_path[256];
    assert_non_null(mkdtemp(folder));
    int secret = mkstemp(outside);
    assert_true(secret >= 0 && write(secret, "secret", 6) == 6);
    close(secret);
    make_folder("assets");
    make_folder(".git");
    write_file("index.html", "<!doctype html><title>dashboard</title>");
    memset(script, ';', sizeof script - 1);
    write_file("assets/index-1a2b3c.js", script);
    write_file("assets/style-77.css", "body{}");
    write_file("favicon.svg", "<svg/>");
    write_file(".git/config.txt", "hidden");
    write_file("notes.unknown", "no such type");
    snprintf(link_path, sizeof link_path, "%s/assets/link.js", folder);
    assert_int_equal(symlink(outside, link_path), 0);
    static const char *options[] = {"--web-root", folder, NULL};
    server.options = options;
    return ft_daemon_start(&server) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    bool clean = ft_daemon_stop(&server);
    ft_daemon_remove(&server);
    snprintf(command, sizeof command, "rm -rf %s %s", folder, outside);
    return system(command) == 0 && clean ? 0 : -1;
}

static ft_answer get(const char *path, const char *header)
{
    const char *headers[] = {header, NULL};
    return ft_daemon_call(&server, "GET", path, header ? headers : NULL, NULL, 0);
}

static void expect_policy(const ft_answer *answer)
{
    assert_string_equal(ft_answer_header(answer, "Content-Security-Policy"),
                        "default-src 'none'; script-src 'self'; style-src 'self'; "
                        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
                        "form-action 'none'; frame-ancestors 'none'");
    assert_string_equal(ft_answer_header(answer, "X-Content-Type-Options"), "nosniff");
    assert_null(ft_answer_header(answer, "Access-Control-Allow-Origin"));
}

static void pages_and_assets(void **state)
{
    (void)state;
    static const struct {
        const char *path, *type, *cache;
    } FILES[] = {
        {"/", "text/html; charset=utf-8", "no-cache"},
        {"/index.html", "text/html; charset=utf-8", "no-cache"},
        {"/favicon.svg", "image/svg+xml", "no-cache"},
        {"/assets/style-77.css", "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
        {"/assets/index-1a2b3c.js", "text/javascript; charset=utf-8",
         "public, max-age=31536000, immutable"},
    };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char tag[128];
        ft_answer answer = get(FILES[i].path, NULL);
        ft_steps_expect(&answer, 200, FILES[i].path);
        assert_string_equal(ft_answer_header(&answer, "Content-Type"), FILES[i].type);
        assert_string_equal(ft_answer_header(&answer, "Cache-Control"), FILES[i].cache);
        expect_policy(&answer);
        snprintf(tag, sizeof tag, "If-None-Match: %s", ft_answer_header(&answer, "ETag"));
        ft_answer same = get(FILES[i].path, tag);
        ft_steps_expect(&same, 304, FILES[i].path);
        assert_int_equal(same.body.len, 0);
        ft_answer_release(&same);
        ft_answer_release(&answer);
    }
}

static void packed_and_plain_are_the_same(void **state)
{
    (void)state;
    char out[sizeof script] = "";
    ft_answer answer = get("/assets/index-1a2b3c.js", "Accept-Encoding: br;q=1.0, gzip;q=0.5");
    ft_steps_expect(&answer, 200, "gzip");
    assert_string_equal(ft_answer_header(&answer, "Content-Encoding"), "gzip");
    assert_true(answer.body.len < 1000);
    z_stream stream = {.zalloc = Z_NULL};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = (unsigned char *)answer.body.text;
    stream.avail_in = (uInt)answer.body.len;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = sizeof out;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    assert_string_equal(out, script);
    ft_answer_release(&answer);
    answer = get("/assets/index-1a2b3c.js", "Accept-Encoding: gzip;q=0");
    assert_null(ft_answer_header(&answer, "Content-Encoding"));
    assert_string_equal(answer.body.text, script);
    ft_answer_release(&answer);
}

/* A link into the dashboard is its first page; everything else that is not there is a 404. */
static void deep_links(void **state)
{
    (void)state;
    static const struct {
        const char *path, *accept;
        long status;
    } CASES[] = {
        {"/jobs/61f3c0ffee", HTML, 200},
        {"/findings/61f3-2", HTML, 200},
        {"/jobs/61f3c0ffee", "Accept: application/json", 404},
        {"/jobs/61f3c0ffee", "Accept: */*", 404},
        {"/assets/index-gone.js", HTML, 404},
        {"/v1/nothing", HTML, 404},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_answer answer = get(CASES[i].path, CASES[i].accept);
        ft_steps_expect(&answer, CASES[i].status, CASES[i].path);
        bool page = answer.body.text && strstr(answer.body.text, "<title>dashboard</title>");
        assert_int_equal(page, CASES[i].status == 200);
        ft_answer_release(&answer);
    }
}

static void nothing_else_is_served(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"/assets/link.js",
                                        "/.git/config.txt",
                                        "/notes.unknown",
                                        "/assets",
                                        "/assets/",
                                        "//index.html",
                                        "/assets/../index.html",
                                        "/assets/..%2findex.html",
                                        "/assets/%2e%2e/index.html",
                                        "/%2e%2e/etc/passwd",
                                        "/..\\index.html",
                                        "/index.html/",
                                        "/index.html%00.js",
                                        "/assets/style-77.css/",
                                        "/etc/passwd"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        char request[256];
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", PATHS[i]);
        ft_strbuf out = ft_daemon_raw(&server, request, strlen(request));
        if (strncmp(ft_strbuf_text(&out), "HTTP/1.1 404 ", 13) != 0 &&
            strncmp(ft_strbuf_text(&out), "HTTP/1.1 400 ", 13) != 0)
            fail_msg("%s: %s", PATHS[i], ft_strbuf_text(&out));
        assert_null(strstr(out.text, "secret"));
        ft_strbuf_release(&out);
    }
}

static void programs_get_json(void **state)
{
    (void)state;
    ft_answer answer = get("/", "Accept: application/json");
    ft_steps_expect(&answer, 200, "/");
    assert_string_equal(ft_answer_text(&answer, "name"), "foretell");
    ft_answer_release(&answer);
    answer = get("/v1", NULL);
    ft_steps_expect(&answer, 200, "/v1");
    assert_string_equal(ft_answer_text(&answer, "name"), "foretell");
    ft_answer_release(&answer);
}

static void without_a_dashboard(void **state)
{
    (void)state;
    static const char *const NOWHERE[] = {"--web-root", "/nonexistent", NULL};
    ft_daemon other = {.options = NOWHERE};
    assert_true(ft_daemon_start(&other));
    static const char *const PATHS[] = {"/", "/jobs/1"};
    for (size_t i = 0; i < 2; i++) {
        const char *headers[] = {HTML, NULL};
        ft_answer answer = ft_daemon_call(&other, "GET", PATHS[i], headers, NULL, 0);
        ft_steps_expect(&answer, 200, PATHS[i]);
        assert_non_null(strstr(answer.body.text, "its dashboard was not built"));
        expect_policy(&answer);
        ft_answer_release(&answer);
    }
    assert_true(ft_daemon_stop(&other));
    ft_daemon_remove(&other);
}

/* JSON is packed too, for whoever asks for it. */
static void json_is_packed(void **state)
{
    (void)state;
    static const char *const CODINGS[] = {"gzip", "zstd"};
    for (size_t i = 0; i < 2; i++) {
        char header[64];
        snprintf(header, sizeof header, "Accept-Encoding: %s", CODINGS[i]);
        ft_answer packed = get("/v1/openapi.json", header);
        ft_answer plain = get("/v1/openapi.json", NULL);
        ft_steps_expect(&packed, 200, header);
        assert_string_equal(ft_answer_header(&packed, "Content-Encoding"), CODINGS[i]);
        assert_true(packed.body.len < plain.body.len / 2);
        assert_null(ft_answer_header(&plain, "Content-Encoding"));
        ft_answer_release(&packed);
        ft_answer_release(&plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_assets),  cmocka_unit_test(packed_and_plain_are_the_same),
        cmocka_unit_test(deep_links),        cmocka_unit_test(nothing_else_is_served),
        cmocka_unit_test(programs_get_json), cmocka_unit_test(without_a_dashboard),
        cmocka_unit_test(json_is_packed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
