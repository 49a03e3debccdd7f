/* Who gets in: tokens, scopes, projects, limits, the audit log. Everything here must fail for
 * somebody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <curl/curl.h>

#include "service/steps.h"

#define TOKEN 96 /* room for one */

/* ---- The command ----------------------------------------------------------------------------- */

/* foretelld ARGUMENTS with the daemon's store: its exit code, its standard output. */
static int command(const ft_daemon *daemon, const char *arguments, char *out, size_t size)
{
    char line[2048], program[512], place[FT_DAEMON_PLACE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    *strrchr(program, '/') = '\0';
    ft_daemon_place(daemon, place);
    snprintf(line, sizeof line, "%s/foretelld %s %s 2>/dev/null", program, arguments, place);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t got = fread(out, 1, size - 1, pipe);
    out[got] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void make_token(const char *options, char token[TOKEN])
{
    char arguments[256], out[256];
    snprintf(arguments, sizeof arguments, "token create %s", options);
    assert_int_equal(command(&ft_steps_server, arguments, out, sizeof out), 0);
    out[strcspn(out, "\n")] = '\0';
    assert_true(strncmp(out, "foretell_", 9) == 0 && strlen(out) < TOKEN);
    snprintf(token, TOKEN, "%.95s", out);
}

static ft_answer call(const char *method, const char *path, const char *token, const char *body)
{
    char header[TOKEN + 64];
    const char *headers[] = {header, NULL};
    snprintf(header, sizeof header, "Authorization: Bearer %s", token ? token : "");
    return ft_daemon_call(&ft_steps_server, method, path, token ? headers : NULL, body,
                          body ? strlen(body) : 0);
}

static void expect(const char *method, const char *path, const char *token, const char *body,
                   long status, const char *code)
{
    ft_answer answer = call(method, path, token, body);
    ft_steps_expect(&answer, status, path);
    if (code) assert_string_equal(ft_answer_text(&answer, "code"), code);
    if (status == 401)
        assert_int_equal(strncmp(ft_answer_header(&answer, "WWW-Authenticate"), "Bearer ", 7), 0);
    assert_null(ft_answer_header(&answer, "Access-Control-Allow-Origin"));
    ft_answer_release(&answer);
}

/* The daemon reads the tokens every second. */
static void await_status(const char *path, const char *token, long status)
{
    long last = 0;
    for (int i = 0; i < 100000 && last != status; i++) {
        ft_answer answer = call("GET", path, token, NULL);
        last = answer.status;
        ft_answer_release(&answer);
    }
    assert_int_equal(last, status);
}

/* ---- Before a token -------------------------------------------------------------------------- */

static void open_until_a_token_exists(void **state)
{
    (void)state;
    expect("GET", "/v1/jobs", NULL, NULL, 200, NULL);
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/access");
    assert_true(json_is_true(json_object_get(answer.json, "open")));
    assert_int_equal(json_array_size(json_object_get(answer.json, "scopes")), 3);
    ft_answer_release(&answer);
    /* A web page whose name was given the address of this machine. */
    static const struct {
        const char *host, *status;
    } HOSTS[] = {{"evil.example", "403"},   {"localhost.evil.example", "403"},
                 {"127.0.0.1.evil", "403"}, {"localhost:1", "200"},
                 {"127.0.0.1", "200"},      {"[::1]:7411", "200"}};
    for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++) {
        char request[256], wanted[32];
        snprintf(request, sizeof request,
                 "GET /v1/jobs HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", HOSTS[i].host);
        snprintf(wanted, sizeof wanted, "HTTP/1.1 %s ", HOSTS[i].status);
        ft_strbuf out = ft_daemon_raw(&ft_steps_server, request, strlen(request));
        if (strncmp(ft_strbuf_text(&out), wanted, strlen(wanted)) != 0)
            fail_msg("%s: %s", HOSTS[i].host, ft_strbuf_text(&out));
        ft_strbuf_release(&out);
    }
}

static void strangers_need_a_token(void **state)
{
    (void)state;
    char out[1024];
    ft_daemon fresh = {.pid = 0};
    snprintf(fresh.folder, sizeof fresh.folder, "/tmp/ft-access-XXXXXX");
    assert_non_null(mkdtemp(fresh.folder));
    assert_true(ft_daemon_make_store(&fresh));
    /* It ends by itself, with the exit code of a daemon that could not start. */
    assert_int_equal(command(&fresh, "--listen 0.0.0.0:0", out, sizeof out), 4);
    assert_int_equal(command(&fresh, "--listen nowhere:0", out, sizeof out), 2);
    ft_daemon_remove(&fresh);
}

/* ---- With tokens ----------------------------------------------------------------------------- */

static char reader[TOKEN], sender[TOKEN], admin[TOKEN], team_a[TOKEN], team_b[TOKEN], both[TOKEN];

static void wrong_tokens(void **state)
{
    (void)state;
    char forged[TOKEN];
    make_token("--name reader --scopes read", reader);
    await_status("/v1/jobs", NULL, 401);
    make_token("--name sender --scopes submit", sender);
    make_token("--name admin --scopes admin", admin);
    await_status("/v1/audit", admin, 200);
    expect("GET", "/v1/jobs", NULL, NULL, 401, "token-missing");
    snprintf(forged, sizeof forged, "%s", reader);
    forged[strlen(forged) - 1] = forged[strlen(forged) - 1] == '0' ? '1' : '0';
#define UNKNOWN                                                                                    \
    "foretell_0123456789abcdef_"                                                                   \
    "0000000000000000000000000000000000000000000000000000000000000000"
    static const char *const BAD[] = {
        "",      "x",           "foretell_",    "foretell_0123456789abcdef_",
        UNKNOWN, "' OR 1=1 --", "Bearer Bearer"};
    expect("GET", "/v1/jobs", forged, NULL, 401, "invalid-token");
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        expect("GET", "/v1/jobs", BAD[i], NULL, 401, "invalid-token");
    /* What a page or a load balancer asks for before it has a token. */
    static const char *const FREE[] = {"/", "/live", "/ready", "/v1", "/v1/openapi.json"};
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
        expect("GET", FREE[i], NULL, NULL, 200, NULL);
}

static void the_socket_needs_one_too(void **state)
{
    (void)state;
    char line[512], out[64] = "";
    snprintf(line, sizeof line,
             "curl -s -o /dev/null -w '%%{http_code}' --unix-socket %s http://localhost/v1/jobs",
             ft_steps_server.socket);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t got = fread(out, 1, sizeof out - 1, pipe);
    int status = pclose(pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) skip();
    assert_true(got > 0);
    assert_string_equal(out, "401");
}

static void scopes(void **state)
{
    (void)state;
    static const char *const READ[] = {"/v1/jobs",   "/v1/traces",       "/v1/workers", "/metrics",
                                       "/v1/jobs/x", "/v1/findings/x-1", "/v1/traces/x"};
    for (size_t i = 0; i < sizeof READ / sizeof *READ; i++)
        expect("GET", READ[i], sender, NULL, 403, "insufficient-scope");
    expect("POST", "/v1/traces", reader, FT_STEPS_RACY, 403, "insufficient-scope");
    expect("POST", "/v1/jobs", reader, "{}", 403, "insufficient-scope");
    expect("DELETE", "/v1/jobs/x", reader, NULL, 403, "insufficient-scope");
    expect("GET", "/v1/audit", reader, NULL, 403, "insufficient-scope");
    expect("GET", "/v1/jobs", reader, NULL, 200, NULL);
    expect("POST", "/v1/traces", sender, FT_STEPS_RACY, 201, NULL);
    expect("GET", "/v1/jobs", admin, NULL, 200, NULL);
    ft_answer answer = call("GET", "/v1/access", reader, NULL);
    ft_steps_expect(&answer, 200, "/v1/access");
    assert_false(json_is_true(json_object_get(answer.json, "open")));
    assert_int_equal(json_array_size(json_object_get(answer.json, "scopes")), 1);
    ft_answer_release(&answer);
}

static ft_answer create_job(const char *token, const char *trace, const char *members)
{
    char body[256];
    snprintf(body, sizeof body, "{\"trace\":\"%s\"%s}", trace, members);
    return call("POST", "/v1/jobs", token, body);
}

static void await_end(const char *token, const char *job)
{
    char path[128], header[TOKEN + 64];
    const char *headers[] = {header, "Prefer: wait=60", NULL};
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    snprintf(header, sizeof header, "Authorization: Bearer %s", token);
    ft_answer answer = ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
    ft_steps_expect(&answer, 200, path);
    assert_string_equal(ft_answer_text(&answer, "state"), "done");
    ft_answer_release(&answer);
}

static size_t listed(const char *path, const char *token, const char *member)
{
    ft_answer answer = call("GET", path, token, NULL);
    ft_steps_expect(&answer, 200, path);
    size_t count = json_array_size(json_object_get(answer.json, member));
    ft_answer_release(&answer);
    return count;
}

static void projects_are_apart(void **state)
{
    (void)state;
    static const char TRACE[] = "T1|w(secret)|a.c:1\nT2|w(secret)|b.c:1\n";
    char hash[FT_DIGEST_HEX + 1], job[64], path[160];
    make_token("--name a --scopes read,submit --projects a", team_a);
    make_token("--name b --scopes read,submit --projects b/x", team_b);
    make_token("--name both --scopes read,submit --projects a,b/x", both);
    await_status("/v1/jobs", both, 200);
    ft_steps_hash(TRACE, strlen(TRACE), hash);
    expect("POST", "/v1/traces", team_a, TRACE, 201, NULL);
    snprintf(path, sizeof path, "/v1/traces/%s", hash);
    expect("GET", path, team_a, NULL, 200, NULL);
    expect("GET", path, team_b, NULL, 404, "not-found");
    ft_answer answer = create_job(team_b, hash, "");
    ft_steps_expect(&answer, 422, "a job on another project's trace");
    assert_string_equal(ft_answer_text(&answer, "code"), "unknown-trace");
    ft_answer_release(&answer);
    answer = create_job(team_a, hash, ",\"project\":\"b/x\"");
    ft_steps_expect(&answer, 403, "a job in another project");
    ft_answer_release(&answer);
    answer = create_job(both, hash, "");
    ft_steps_expect(&answer, 403, "a job in no project");
    ft_answer_release(&answer);
    answer = create_job(team_a, hash, "");
    ft_steps_expect(&answer, 202, "a job in its own project");
    assert_string_equal(ft_answer_text(&answer, "project"), "a");
    snprintf(job, sizeof job, "%s", ft_answer_text(&answer, "job"));
    ft_answer_release(&answer);
    await_end(team_a, job);

    static const char *const PATHS[] = {"/v1/jobs/%s", "/v1/jobs/%s/findings", "/v1/jobs/%s/events",
                                        "/v1/findings/%s-1", "/v1/findings/%s-1/witness"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        ft_strbuf named = {0};
        ft_strbuf_puts(&named, PATHS[i]);
        char *at = strstr(named.text, "%s");
        snprintf(path, sizeof path, "%.*s%s%s", (int)(at - named.text), named.text, job, at + 2);
        ft_strbuf_release(&named);
        expect("GET", path, team_a, NULL, 200, NULL);
        expect("GET", path, both, NULL, 200, NULL);
        expect("GET", path, team_b, NULL, 404, "not-found");
    }
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    expect("DELETE", path, team_b, NULL, 404, "not-found");
    assert_int_equal(listed("/v1/jobs", team_a, "jobs"), 1);
    assert_int_equal(listed("/v1/jobs", team_b, "jobs"), 0);
    assert_int_equal(listed("/v1/traces", team_b, "traces"), 0);
    assert_true(listed("/v1/traces", reader, "traces") >= 2);
    /* The same bytes from the other project: new to it, and seen by it from then on. */
    expect("POST", "/v1/traces", team_b, TRACE, 201, NULL);
    expect("POST", "/v1/traces", team_b, TRACE, 200, NULL);
    assert_int_equal(listed("/v1/traces", team_b, "traces"), 1);
    expect("POST", "/v1/traces?project=a", team_b, TRACE, 403, "project-not-allowed");
}

static void sql_in_every_field(void **state)
{
    (void)state;
    static const char *const QUERIES[] = {"/v1/jobs?state='%20OR%201=1--",
                                          "/v1/jobs?after=1;DROP%20TABLE%20jobs",
                                          "/v1/jobs?limit=1%20OR%201"};
    for (size_t i = 0; i < sizeof QUERIES / sizeof *QUERIES; i++)
        expect("GET", QUERIES[i], reader, NULL, 400, NULL);
    static const char *const EMPTY[] = {"/v1/jobs?project='%20OR%20''='", "/v1/jobs?trace=%25",
                                        "/v1/jobs?search=%25'%20OR%201=1--",
                                        "/v1/jobs?since=2999-01-01T00:00:00Z"};
    for (size_t i = 0; i < sizeof EMPTY / sizeof *EMPTY; i++)
        assert_int_equal(listed(EMPTY[i], reader, "jobs"), 0);
    expect("GET", "/v1/jobs?search=%ff", reader, NULL, 400, "malformed-query");
    expect("GET", "/v1/jobs?since=yesterday", reader, NULL, 400, "malformed-query");
    expect("POST", "/v1/traces?project=a'b", admin, "T1|w(x)|a\n", 422, "invalid-project");
    assert_true(listed("/v1/jobs?project=a&since=2020-01-01", reader, "jobs") == 1);
}

/* Whatever a field holds is text: no field ends a statement, none widens what is seen. */
static void sql_in_headers_and_bodies(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"' OR '1'='1", "'; DROP TABLE jobs; --", "\" OR 1=1 --",
                                        "1); DELETE FROM tokens; --",
                                        "%' UNION SELECT hash FROM tokens --"};
    static const char *const BODIES[] = {
        "{\"trace\":\"%s\"}", "{\"trace\":\"%064d\",\"name\":\"%s\"}",
        "{\"trace\":\"%064d\",\"project\":\"%s\"}", "{\"trace\":\"%064d\",\"checks\":[\"%s\"]}",
        "{\"trace\":\"%064d\",\"model\":\"%s\"}"};
    size_t before = listed("/v1/jobs", admin, "jobs");
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        char token[TOKEN + 64], key[128], body[512], path[512], quoted[128] = "";
        for (const char *c = WORDS[i]; *c; c++)
            snprintf(quoted + strlen(quoted), sizeof quoted - strlen(quoted),
                     *c == '"' ? "\\\"" : "%c", *c);
        snprintf(token, sizeof token, "Authorization: Bearer %s", admin);
        snprintf(key, sizeof key, "Idempotency-Key: %s", WORDS[i]);
        const char *headers[] = {token, key, NULL};
        for (size_t k = 0; k < sizeof BODIES / sizeof *BODIES; k++) {
            const char *second = strstr(BODIES[k], "%064d");
            if (second)
                snprintf(body, sizeof body, "%.*s%064d", (int)(second - BODIES[k]), BODIES[k], 0);
            else
                body[0] = '\0';
            const char *rest = second ? second + 5 : BODIES[k], *at = strstr(rest, "%s");
            size_t used = strlen(body);
            snprintf(body + used, sizeof body - used, "%.*s%s%s", (int)(at - rest), rest, quoted,
                     at + 2);
            ft_answer answer =
                ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", headers, body, strlen(body));
            if (answer.status != 400 && answer.status != 422)
                fail_msg("%s: %ld", body, answer.status);
            ft_answer_release(&answer);
        }
        char *escaped = curl_easy_escape(NULL, WORDS[i], 0);
        static const char *const PATHS[] = {"/v1/jobs/", "/v1/traces/", "/v1/findings/",
                                            "/v1/reviews/"};
        for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
            snprintf(path, sizeof path, "%s%s", PATHS[k], escaped);
            expect("GET", path, admin, NULL, 404, NULL);
        }
        curl_free(escaped);
        expect("GET", "/v1/jobs", WORDS[i], NULL, 401, "invalid-token");
    }
    assert_int_equal(listed("/v1/jobs", admin, "jobs"), before);
}

/* Names of tokens come from the command line, and are shown by it. */
static void sql_in_a_name(void **state)
{
    (void)state;
    char token[TOKEN], out[8192];
    make_token("--name \"x'); DROP TABLE tokens; --\" --scopes read", token);
    await_status("/v1/jobs", token, 200);
    assert_int_equal(command(&ft_steps_server, "token list --json", out, sizeof out), 0);
    assert_non_null(strstr(out, "\"name\":\"x'); DROP TABLE tokens; --\""));
    assert_non_null(strstr(out, "\"name\":\"reader\""));
}

static void limits_of_a_token(void **state)
{
    (void)state;
    char slow[TOKEN], small[TOKEN], body[2000];
    make_token("--name slow --scopes read --rate 1", slow);
    make_token("--name small --scopes submit --max-upload 100", small);
    await_status("/v1/jobs", small, 403);
    /* Of a burst of requests one a second passes. */
    unsigned refused = 0;
    for (int i = 0; i < 20; i++) {
        ft_answer answer = call("GET", "/v1/jobs", slow, NULL);
        assert_true(answer.status == 200 || answer.status == 429);
        if (answer.status == 429) {
            refused++;
            assert_string_equal(ft_answer_header(&answer, "Retry-After"), "1");
        }
        ft_answer_release(&answer);
    }
    assert_true(refused > 0);
    memset(body, 'T', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    ft_answer answer = call("POST", "/v1/traces", small, body);
    ft_steps_expect(&answer, 413, "a large upload");
    ft_answer_release(&answer);
}

/* A client that reads all jobs' events until the daemon ends them. */
static pid_t follow_events(const char *token)
{
    pid_t child = fork();
    if (child != 0) return child;
    ft_answer answer = call("GET", "/v1/events", token, NULL);
    bool whole = answer.status == 200 && strstr(ft_strbuf_text(&answer.body), "event: ready");
    _exit(whole ? 0 : 1);
}

static void await_streams(const char *line)
{
    bool seen = false;
    for (int i = 0; i < 100000 && !seen; i++) {
        ft_answer answer = call("GET", "/metrics", admin, NULL);
        seen = strstr(ft_strbuf_text(&answer.body), line) != NULL;
        ft_answer_release(&answer);
    }
    assert_true(seen);
}

static void revoked(void **state)
{
    (void)state;
    char arguments[128], out[4096];
    int ended = -1;
    pid_t follower = follow_events(reader);
    await_streams("\nforetell_event_streams 1\n");
    snprintf(arguments, sizeof arguments, "token revoke %.16s", reader + 9);
    assert_int_equal(command(&ft_steps_server, arguments, out, sizeof out), 0);
    await_status("/v1/jobs", reader, 401);
    assert_int_equal(waitpid(follower, &ended, 0), follower);
    assert_int_equal(ended, 0);
    await_streams("\nforetell_event_streams 0\n");
    assert_int_equal(command(&ft_steps_server, "token revoke 0000000000000000", out, sizeof out),
                     4);
    assert_int_equal(command(&ft_steps_server, "token list --json", out, sizeof out), 0);
    assert_null(strstr(out, "hash"));
    assert_non_null(strstr(out, "\"name\":\"reader\""));
    assert_int_equal(command(&ft_steps_server, "token create --scopes all", out, sizeof out), 2);
    assert_int_equal(command(&ft_steps_server, "token create --projects 'a b'", out, sizeof out),
                     2);
    assert_int_equal(
        command(&ft_steps_server, "token create --name \"$(printf 'a\\nb')\"", out, sizeof out), 2);
}

/* Of a flood of refusals only some are kept: asks until the log has one of this kind. */
static void await_refusal(const char *outcome)
{
    bool seen = false;
    for (int i = 0; i < 100000 && !seen; i++) {
        ft_answer refused = call("GET", "/v1/audit", team_a, NULL);
        ft_answer answer = call("GET", "/v1/audit?limit=500", admin, NULL);
        seen = strstr(ft_strbuf_text(&answer.body), outcome) != NULL;
        ft_answer_release(&refused);
        ft_answer_release(&answer);
    }
    assert_true(seen);
}

static void the_audit_log(void **state)
{
    (void)state;
    await_refusal("\"outcome\":\"insufficient-scope\"");
    ft_answer answer = call("GET", "/v1/audit?limit=500", admin, NULL);
    ft_steps_expect(&answer, 200, "/v1/audit");
    const char *text = answer.body.text;
    assert_non_null(strstr(text, "\"action\":\"POST /v1/jobs\""));
    assert_non_null(strstr(text, "\"outcome\":\"insufficient-scope\""));
    assert_non_null(strstr(text, "\"outcome\":\"invalid-token\""));
    assert_non_null(strstr(text, "\"action\":\"token create "));
    /* Ids are there, secrets are not. */
    char id[17];
    snprintf(id, sizeof id, "%.16s", team_a + 9);
    assert_non_null(strstr(text, id));
    assert_null(strstr(text, team_a + 26));
    ft_answer_release(&answer);
}

/* What changes something is in the log with the number of its request, a job with its id. */
static void the_log(void **state)
{
    (void)state;
    char path[128], line[1024];
    unsigned long long request = 0, audited = 0;
    snprintf(path, sizeof path, "%s/log", ft_steps_server.folder);
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    bool accepted = false;
    while (fgets(line, sizeof line, log)) {
        char *at = strstr(line, "request="), *job = strstr(line, "job=");
        if (!at) continue;
        request = strtoull(at + 8, NULL, 10);
        assert_true(request > 0);
        if (strstr(line, "\"audit\"") && strstr(line, "action=\"POST /v1/jobs\" outcome=allowed"))
            audited = request;
        if (!strstr(line, "\"job accepted\"")) continue;
        assert_non_null(job);
        assert_int_equal(strspn(job + 4, "0123456789abcdef"), 16);
        assert_int_equal(request, audited);
        accepted = true;
    }
    fclose(log);
    assert_true(accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_until_a_token_exists),
        cmocka_unit_test(strangers_need_a_token),
        cmocka_unit_test(wrong_tokens),
        cmocka_unit_test(the_socket_needs_one_too),
        cmocka_unit_test(scopes),
        cmocka_unit_test(projects_are_apart),
        cmocka_unit_test(sql_in_every_field),
        cmocka_unit_test(sql_in_headers_and_bodies),
        cmocka_unit_test(sql_in_a_name),
        cmocka_unit_test(limits_of_a_token),
        cmocka_unit_test(revoked),
        cmocka_unit_test(the_audit_log),
        cmocka_unit_test(the_log),
    };
    return cmocka_run_group_tests(tests, ft_steps_start, ft_steps_stop);
}
