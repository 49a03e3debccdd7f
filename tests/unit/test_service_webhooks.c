/* Webhooks: what receivers are sent, that nothing is lost, and where nothing is ever sent. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/digest.h"
#include "service/receiver.h"
#include "service/steps.h"

#define SECRET 96

/* A receiver that says nothing costs its time-out once; one that answers late on a busy machine
 * would be asked again, and what the tests count would be another number. */
static const char *const OPEN[] = {"--webhook-allow-private",
                                   "1",
                                   "--webhook-retry-ms",
                                   "50",
                                   "--webhook-timeout-ms",
                                   "4000",
                                   NULL};
static const char *const CLOSED[] = {"--webhook-retry-ms", "50", NULL};

static ft_receiver *receiver;
static char secret[SECRET];

/* ---- Steps ----------------------------------------------------------------------------------- */

static ft_answer call(const char *method, const char *path, const char *body)
{
    return ft_daemon_call(&ft_steps_server, method, path, NULL, body, body ? strlen(body) : 0);
}

static void expect(const char *method, const char *path, const char *body, long status)
{
    ft_answer answer = call(method, path, body);
    ft_steps_expect(&answer, status, body ? body : path);
    ft_answer_release(&answer);
}

static void restart(const char *const *options)
{
    ft_steps_server.options = options;
    assert_true(ft_daemon_start(&ft_steps_server));
}

/* The project's webhook is the receiver; its secret is kept. */
static void set_up(const char *project)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"project\":\"%s\",\"url\":\"http://127.0.0.1:%d/hook?a=%%20b\",\"renew\":true}",
             project, ft_receiver_port(receiver));
    ft_answer answer = call("PUT", "/v1/webhooks", body);
    ft_steps_expect(&answer, 200, body);
    snprintf(secret, sizeof secret, "%s", ft_answer_text(&answer, "secret"));
    assert_int_equal(strncmp(secret, "whsec_", 6), 0);
    assert_int_equal(strlen(secret), 6 + 64);
    assert_string_equal(ft_answer_header(&answer, "Cache-Control"), "no-store");
    ft_answer_release(&answer);
}

/* A job of the project that has ended; its id. */
static void run_job(const char *members, char job[64])
{
    char trace[FT_DIGEST_HEX + 1];
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, members, job);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_non_null(snapshot);
    assert_null(json_object_get(json_object_get(snapshot, "spec"), "webhook"));
    json_decref(snapshot);
}

/* New reference: the job's only delivery, once it is in that state. */
static json_t *await_delivery(const char *job, const char *state)
{
    char path[128];
    json_t *found = NULL;
    time_t until = time(NULL) + FT_DAEMON_PATIENCE_MS / 1000;
    snprintf(path, sizeof path, "/v1/deliveries?job=%s", job);
    while (!found && time(NULL) < until) {
        ft_answer answer = call("GET", path, NULL);
        ft_steps_expect(&answer, 200, path);
        json_t *one = json_array_get(json_object_get(answer.json, "deliveries"), 0);
        const char *is = json_string_value(json_object_get(one, "state"));
        if (is && strcmp(is, state) == 0) found = json_incref(one);
        ft_answer_release(&answer);
    }
    assert_non_null(found);
    return found;
}

static void await_state(const char *job, const char *state)
{
    json_decref(await_delivery(job, state));
}

/* As the documentation tells receivers to do it. */
static void check_signature(const char *request)
{
    char signature[160], expected[FT_DIGEST_HEX + 1];
    ft_hmac hmac;
    snprintf(signature, sizeof signature, "%s", ft_receiver_header(request, "Foretell-Signature"));
    char *comma = strchr(signature, ',');
    assert_non_null(comma);
    *comma = '\0';
    assert_int_equal(strncmp(signature, "t=", 2), 0);
    assert_int_equal(strncmp(comma + 1, "v1=", 3), 0);
    long long age = (long long)time(NULL) - strtoll(signature + 2, NULL, 10);
    assert_in_range(age + 60, 0, 120);
    const char *body = ft_receiver_body(request);
    ft_hmac_init(&hmac, secret, strlen(secret));
    ft_hmac_update(&hmac, signature + 2, strlen(signature + 2));
    ft_hmac_update(&hmac, ".", 1);
    ft_hmac_update(&hmac, body, strlen(body));
    ft_hmac_hex(&hmac, expected);
    assert_string_equal(comma + 4, expected);
}

/* ---- Without a daemon ------------------------------------------------------------------------ */

static void hmac_by_the_rfc(void **state)
{
    (void)state;
    /* RFC 4231 §4.2, §4.3, §4.7. */
    static const char LONG[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    unsigned char key[131];
    char hex[FT_DIGEST_HEX + 1];
    ft_hmac hmac;
    memset(key, 0x0b, 20);
    ft_hmac_init(&hmac, key, 20);
    ft_hmac_update(&hmac, "Hi There", 8);
    ft_hmac_hex(&hmac, hex);
    assert_string_equal(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    ft_hmac_init(&hmac, "Jefe", 4);
    ft_hmac_update(&hmac, "what do ya want ", 16);
    ft_hmac_update(&hmac, "for nothing?", 12);
    ft_hmac_hex(&hmac, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, 131);
    ft_hmac_init(&hmac, key, 131);
    ft_hmac_update(&hmac, LONG, strlen(LONG));
    ft_hmac_hex(&hmac, hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static const char *const PRIVATE[] = {"127.0.0.1",
                                      "127.1",
                                      "0x7f.1",
                                      "0x7f000001",
                                      "2130706433",
                                      "017700000001",
                                      "0177.0.0.1",
                                      "0.0.0.0",
                                      "0",
                                      "10.1.2.3",
                                      "100.64.0.1",
                                      "100.127.255.255",
                                      "169.254.169.254",
                                      "172.16.0.1",
                                      "172.31.255.255",
                                      "192.168.0.1",
                                      "192.0.0.8",
                                      "192.0.2.1",
                                      "198.18.0.1",
                                      "198.51.100.7",
                                      "203.0.113.9",
                                      "224.0.0.1",
                                      "239.1.1.1",
                                      "255.255.255.255",
                                      "[::1]",
                                      "[::]",
                                      "[::ffff:7f00:1]",
                                      "[::ffff:127.0.0.1]",
                                      "[::127.0.0.1]",
                                      "[::ffff:10.0.0.1]",
                                      "[64:ff9b::10.0.0.1]",
                                      "[64:ff9b:1::1]",
                                      "[fe80::1]",
                                      "[fec0::1]",
                                      "[fc00::1]",
                                      "[fd12:3456::1]",
                                      "[ff02::1]",
                                      "[2002:7f00:1::]",
                                      "[2001::1]",
                                      "[2001:db8::1]",
                                      "[100::1]",
                                      "[3fff::1]",
                                      "[4000::1]"};
static const char *const PUBLIC[] = {
    "8.8.8.8",           "1.1.1.1",    "100.63.255.255",   "100.128.0.0",
    "172.15.0.1",        "172.32.0.1", "192.169.0.1",      "126.0.0.1",
    "128.0.0.1",         "198.17.0.1", "198.20.0.1",       "223.255.255.1",
    "[2606:4700::1111]", "[2a00::1]",  "[::ffff:8.8.8.8]", "[64:ff9b::8.8.8.8]"};

static void private_addresses(void **state)
{
    (void)state;
    bool number;
    for (size_t i = 0; i < sizeof PRIVATE / sizeof *PRIVATE; i++) {
        if (ft_host_is_public(PRIVATE[i], &number)) fail_msg("%s is public", PRIVATE[i]);
        if (!number) fail_msg("%s is no number", PRIVATE[i]);
    }
    for (size_t i = 0; i < sizeof PUBLIC / sizeof *PUBLIC; i++) {
        if (!ft_host_is_public(PUBLIC[i], &number)) fail_msg("%s is private", PUBLIC[i]);
        if (!number) fail_msg("%s is no number", PUBLIC[i]);
    }
    assert_true(ft_host_is_public("example.org", &number));
    assert_false(number);
    const struct sockaddr unix_socket = {.sa_family = AF_UNIX};
    assert_false(ft_address_is_public(&unix_socket));
}

/* Runs foretell-webhook as the daemon does; new reference: its answer. */
static json_t *send_once(const char *url, bool private, const char *environment)
{
    char line[1600], program[512];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(line, sizeof line,
             "echo '{\"url\":\"%s\",\"body\":\"{}\",\"headers\":[\"X-A: b\"],\"timeout_ms\":2000,"
             "\"private\":%s}' | %s %s/foretell-webhook",
             url, private ? "true" : "false", environment, program);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    json_t *answer = json_loadf(pipe, 0, NULL);
    assert_int_equal(pclose(pipe), 0);
    assert_non_null(answer);
    return answer;
}

/* Where the connection is made, behind the resolution of names: what leads to this machine is not
 * connected to, in whatever words. */
static void connections_are_refused(void **state)
{
    (void)state;
    static const char *const HOSTS[] = {"localhost", "127.0.0.1",          "127.1",
                                        "0x7f.1",    "2130706433",         "0",
                                        "[::1]",     "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"};
    char url[128];
    ft_receiver_script(receiver, NULL, 0);
    for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++) {
        snprintf(url, sizeof url, "http://%s:%d/", HOSTS[i], ft_receiver_port(receiver));
        json_t *answer = send_once(url, false, "");
        const char *error = json_string_value(json_object_get(answer, "error"));
        if (!error || !strstr(error, "public internet"))
            fail_msg("%s: %s", url, error ? error : "answered");
        json_decref(answer);
    }
    assert_int_equal(ft_receiver_count(receiver), 0);
    /* The same name, where it is allowed. */
    snprintf(url, sizeof url, "http://localhost:%d/", ft_receiver_port(receiver));
    json_t *answer = send_once(url, true, "");
    assert_int_equal(json_integer_value(json_object_get(answer, "status")), 204);
    json_decref(answer);
    assert_int_equal(ft_receiver_count(receiver), 1);
}

/* Neither proxies of the environment nor other protocols are ways around. */
static void no_way_around(void **state)
{
    (void)state;
    static const char *const URLS[] = {"file:///etc/passwd", "gopher://127.0.0.1:1/",
                                       "ftp://127.0.0.1/", "dict://127.0.0.1:1/"};
    char environment[256];
    int port = ft_receiver_port(receiver);
    ft_receiver_script(receiver, NULL, 0);
    snprintf(environment, sizeof environment,
             "http_proxy=http://127.0.0.1:%d all_proxy=http://127.0.0.1:%d "
             "HTTPS_PROXY=http://127.0.0.1:%d",
             port, port, port);
    json_t *answer = send_once("http://127.0.0.1:1/", true, environment);
    assert_non_null(json_object_get(answer, "error"));
    json_decref(answer);
    for (size_t i = 0; i < sizeof URLS / sizeof *URLS; i++) {
        answer = send_once(URLS[i], true, "");
        assert_non_null(json_object_get(answer, "error"));
        json_decref(answer);
    }
    assert_int_equal(ft_receiver_count(receiver), 0);
}

/* ---- What is sent ---------------------------------------------------------------------------- */

static void signed_and_whole(void **state)
{
    (void)state;
    char job[64];
    set_up("default");
    ft_receiver_script(receiver, NULL, 0);
    run_job("\"name\":\"a \\\"name\\\"\",\"checks\":[\"race\"]", job);
    const char *request = ft_receiver_request(receiver, 0);
    assert_non_null(request);
    assert_int_equal(strncmp(request, "POST /hook?a=%20b HTTP/1.1\r\n", 28), 0);
    assert_string_equal(ft_receiver_header(request, "Content-Type"), "application/json");
    assert_string_equal(ft_receiver_header(request, "Foretell-Event"), "job.ended");
    assert_string_equal(ft_receiver_header(request, "Foretell-Attempt"), "1");
    check_signature(request);
    json_t *told = json_loads(ft_receiver_body(request), 0, NULL);
    assert_string_equal(json_string_value(json_object_get(told, "job")), job);
    assert_string_equal(json_string_value(json_object_get(told, "state")), "done");
    assert_string_equal(json_string_value(json_object_get(told, "name")), "a \"name\"");
    assert_string_equal(json_string_value(json_object_get(told, "delivery")),
                        ft_receiver_header(request, "Foretell-Delivery"));
    json_t *race = json_object_get(json_object_get(told, "checks"), "race");
    assert_int_equal(json_integer_value(json_object_get(race, "violation")), 1);
    json_decref(told);
    json_t *delivery = await_delivery(job, "delivered");
    assert_int_equal(json_integer_value(json_object_get(delivery, "status")), 204);
    json_decref(delivery);
}

/* 500 and 302 are failures, and a redirect leads nowhere. */
static void again_until_it_is_taken(void **state)
{
    (void)state;
    static const int SCRIPT[] = {500, 302, FT_RECEIVER_SILENT, 200};
    char job[64], id[64], body[4096];
    ft_receiver_script(receiver, SCRIPT, 4);
    run_job("\"checks\":[\"race\"]", job);
    for (int i = 0; i < 4; i++) {
        const char *request = ft_receiver_request(receiver, i);
        assert_non_null(request);
        assert_int_equal(strncmp(request, "POST /hook?", 11), 0);
        assert_int_equal(strtol(ft_receiver_header(request, "Foretell-Attempt"), NULL, 10), i + 1);
        check_signature(request);
        if (i == 0) {
            snprintf(id, sizeof id, "%s", ft_receiver_header(request, "Foretell-Delivery"));
            snprintf(body, sizeof body, "%s", ft_receiver_body(request));
        }
        assert_string_equal(ft_receiver_header(request, "Foretell-Delivery"), id);
        assert_string_equal(ft_receiver_body(request), body);
        /* Nobody else waits behind a receiver that says nothing. */
        if (i == 2) expect("GET", "/live", NULL, 200);
    }
    json_t *delivery = await_delivery(job, "delivered");
    assert_int_equal(json_integer_value(json_object_get(delivery, "attempts")), 4);
    json_decref(delivery);
    assert_int_equal(ft_receiver_count(receiver), 4);
}

static void an_endless_answer(void **state)
{
    (void)state;
    static const int SCRIPT[] = {FT_RECEIVER_LONG};
    char job[64];
    ft_receiver_script(receiver, SCRIPT, 1);
    run_job("\"checks\":[\"lock\"]", job);
    await_state(job, "delivered");
    assert_int_equal(ft_receiver_count(receiver), 1);
}

static void given_up(void **state)
{
    (void)state;
    static const int SCRIPT[] = {410};
    char job[64], path[128];
    ft_receiver_script(receiver, SCRIPT, 1);
    run_job("\"checks\":[\"race\"]", job);
    json_t *delivery = await_delivery(job, "failed");
    assert_int_equal(json_integer_value(json_object_get(delivery, "attempts")), 1);
    ft_answer audit = call("GET", "/v1/audit?limit=500", NULL);
    assert_non_null(
        strstr(audit.body.text, json_string_value(json_object_get(delivery, "delivery"))));
    ft_answer_release(&audit);
    ft_answer metrics = call("GET", "/metrics", NULL);
    assert_non_null(strstr(metrics.body.text, "\nforetell_webhook_failures_total 1\n"));
    ft_answer_release(&metrics);
    /* By hand it is made once more. */
    snprintf(path, sizeof path, "/v1/deliveries/%s/repeat",
             json_string_value(json_object_get(delivery, "delivery")));
    expect("POST", path, NULL, 204);
    await_state(job, "delivered");
    expect("POST", "/v1/deliveries/0000000000000000/repeat", NULL, 404);
    json_decref(delivery);
}

/* A job of another project, and one that names a URL of its own. */
static void who_is_told(void **state)
{
    (void)state;
    char job[64], members[256], body[256], trace[FT_DIGEST_HEX + 1];
    ft_receiver_script(receiver, NULL, 0);
    run_job("\"checks\":[\"race\"],\"project\":\"quiet\"", job);
    snprintf(members, sizeof members,
             "\"checks\":[\"race\"],\"project\":\"other\",\"webhook\":\"http://127.0.0.1:%d/own\"",
             ft_receiver_port(receiver));
    ft_steps_upload(FT_STEPS_RACY, trace);
    snprintf(body, sizeof body,
             "{\"trace\":\"%s\",\"project\":\"other\",\"webhook\":\"http://h/\"}", trace);
    ft_answer answer = call("POST", "/v1/jobs", body);
    ft_steps_expect(&answer, 422, "no secret yet");
    assert_string_equal(ft_answer_text(&answer, "pointer"), "/webhook");
    ft_answer_release(&answer);
    expect("PUT", "/v1/webhooks", "{\"project\":\"other\"}", 200);
    run_job(members, job);
    await_state(job, "delivered");
    assert_int_equal(ft_receiver_count(receiver), 1);
    assert_int_equal(strncmp(ft_receiver_request(receiver, 0), "POST /own ", 10), 0);
    /* The secret was shown once. */
    ft_answer list = call("GET", "/v1/webhooks", NULL);
    assert_null(strstr(list.body.text, "whsec_"));
    assert_non_null(strstr(list.body.text, "\"other\""));
    ft_answer_release(&list);
    expect("DELETE", "/v1/webhooks?project=other", NULL, 204);
    expect("DELETE", "/v1/webhooks?project=other", NULL, 404);
}

static void bad_settings(void **state)
{
    (void)state;
    static const char *const BAD[] = {"{\"url\":\"ftp://h/\"}",
                                      "{\"url\":\"http://\"}",
                                      "{\"url\":\"h\"}",
                                      "{\"url\":\"http://a:b@h/\"}",
                                      "{\"url\":\"http://a@h/\"}",
                                      "{\"url\":\"http://h/ x\"}",

                                      "{\"url\":7}",
                                      "{\"hook\":\"http://h/\"}",
                                      "{\"project\":\"a b\"}",
                                      "{\"renew\":1}",
                                      "[]"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        expect("PUT", "/v1/webhooks", BAD[i], 422);
    expect("GET", "/v1/deliveries?state=lost", NULL, 400);
}

/* ---- Nothing is lost ------------------------------------------------------------------------- */

/* The receiver is away, then the server: what was owed is delivered. */
static void over_a_crash(void **state)
{
    (void)state;
    char job[64];
    int port = ft_receiver_port(receiver);
    ft_receiver_close(receiver);
    run_job("\"checks\":[\"race\"]", job);
    ft_daemon_kill(&ft_steps_server);
    receiver = ft_receiver_open(port);
    assert_non_null(receiver);
    restart(OPEN);
    const char *request = ft_receiver_request(receiver, 0);
    assert_non_null(request);
    assert_non_null(strstr(request, job));
    check_signature(request);
    await_state(job, "delivered");
}

/* Killed while the receiver has it: it comes again, under the same name. */
static void at_least_once(void **state)
{
    (void)state;
    static const int SCRIPT[] = {FT_RECEIVER_SILENT};
    char job[64], id[64];
    ft_receiver_script(receiver, SCRIPT, 1);
    run_job("\"checks\":[\"race\"]", job);
    const char *request = ft_receiver_request(receiver, 0);
    assert_non_null(request);
    snprintf(id, sizeof id, "%s", ft_receiver_header(request, "Foretell-Delivery"));
    ft_daemon_kill(&ft_steps_server);
    restart(OPEN);
    request = ft_receiver_request(receiver, 1);
    assert_non_null(request);
    assert_string_equal(ft_receiver_header(request, "Foretell-Delivery"), id);
    await_state(job, "delivered");
}

/* ---- Where nothing is sent ------------------------------------------------------------------- */

/* An address that was allowed once is not any more: the connection is refused, not only the
 * setting. */
static void private_receivers_are_refused(void **state)
{
    (void)state;
    char job[64], body[256], trace[FT_DIGEST_HEX + 1];
    assert_true(ft_daemon_stop(&ft_steps_server));
    restart(CLOSED);
    ft_receiver_script(receiver, NULL, 0);
    ft_steps_upload(FT_STEPS_RACY, trace);
    for (size_t i = 0; i < sizeof PRIVATE / sizeof *PRIVATE; i++) {
        snprintf(body, sizeof body, "{\"url\":\"http://%s:%d/\"}", PRIVATE[i],
                 ft_receiver_port(receiver));
        expect("PUT", "/v1/webhooks", body, 422);
        snprintf(body, sizeof body, "{\"trace\":\"%s\",\"webhook\":\"https://%s/\"}", trace,
                 PRIVATE[i]);
        expect("POST", "/v1/jobs", body, 422);
    }
    expect("PUT", "/v1/webhooks", "{\"url\":\"http://LocalHost./\"}", 422);
    expect("PUT", "/v1/webhooks", "{\"url\":\"http://a.localhost:1/\"}", 422);
    run_job("\"checks\":[\"race\"]", job);
    json_t *delivery = NULL;
    for (int i = 0; i < 100000; i++) {
        delivery = await_delivery(job, "pending");
        if (json_integer_value(json_object_get(delivery, "attempts")) > 0) break;
        json_decref(delivery);
    }
    const char *error = json_string_value(json_object_get(delivery, "error"));
    assert_non_null(error);
    assert_non_null(strstr(error, "public internet"));
    json_decref(delivery);
    assert_int_equal(ft_receiver_count(receiver), 0);
}

static bool answers(const char *const *headers, long status)
{
    ft_answer get = ft_daemon_call(&ft_steps_server, "GET", "/v1/deliveries", headers, NULL, 0);
    bool right = get.status == status;
    ft_answer_release(&get);
    return right;
}

/* The daemon of a shared store reads the tokens every second; until it has seen one it is open. */
static void expect_by(const char *const *headers, long status)
{
    char address[512];
    bool shared = ft_daemon_address(&ft_steps_server, address);
    for (int i = 0; shared && i < 100000; i++)
        if (answers(NULL, 401) && answers(headers, status)) break;
    assert_true(answers(headers, status));
}

/* Last, for it makes tokens: the settings are for admins, each in their projects. */
static void for_admins(void **state)
{
    (void)state;
    static const struct {
        const char *options, *body;
        long put, get;
    } ROWS[] = {{"--scopes admin --projects a", "{\"project\":\"a\"}", 200, 200},
                {"--scopes admin --projects a", "{\"project\":\"default\"}", 403, 200},
                {"--scopes submit,read", "{\"project\":\"a\"}", 403, 403}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char line[2048], token[128], header[192], program[512], place[FT_DAEMON_PLACE];
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = '\0';
        *strrchr(program, '/') = '\0';
        ft_daemon_place(&ft_steps_server, place);
        snprintf(line, sizeof line, "%s/foretelld token create %s %s 2>/dev/null", program,
                 ROWS[i].options, place);
        FILE *pipe = popen(line, "r");
        assert_non_null(fgets(token, sizeof token, pipe));
        assert_int_equal(pclose(pipe), 0);
        snprintf(header, sizeof header, "Authorization: Bearer %.100s", token);
        header[strcspn(header, "\n")] = '\0';
        const char *headers[] = {header, NULL};
        expect_by(headers, ROWS[i].get);
        ft_answer put = ft_daemon_call(&ft_steps_server, "PUT", "/v1/webhooks", headers,
                                       ROWS[i].body, strlen(ROWS[i].body));
        ft_steps_expect(&put, ROWS[i].put, ROWS[i].options);
        ft_answer get = ft_daemon_call(&ft_steps_server, "GET", "/v1/deliveries", headers, NULL, 0);
        ft_steps_expect(&get, ROWS[i].get, ROWS[i].options);
        /* The deliveries so far are of other projects. */
        if (get.status == 200)
            assert_int_equal(json_array_size(json_object_get(get.json, "deliveries")), 0);
        ft_answer_release(&put);
        ft_answer_release(&get);
        /* A token that was revoked is refused from the next request on, in a shared store after a
         * second. */
        snprintf(line, sizeof line, "%s/foretelld token revoke %.16s %s", program,
                 token + sizeof "foretell_" - 1, place);
        assert_int_equal(system(line), 0);
        expect_by(headers, 401);
    }
}

static int start(void **state)
{
    receiver = ft_receiver_open(0);
    ft_steps_server.options = OPEN;
    return receiver && ft_steps_start(state) == 0 ? 0 : -1;
}

static int stop(void **state)
{
    int code = ft_steps_stop(state);
    ft_receiver_close(receiver);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_by_the_rfc),
        cmocka_unit_test(private_addresses),
        cmocka_unit_test(connections_are_refused),
        cmocka_unit_test(no_way_around),
        cmocka_unit_test(signed_and_whole),
        cmocka_unit_test(again_until_it_is_taken),
        cmocka_unit_test(an_endless_answer),
        cmocka_unit_test(given_up),
        cmocka_unit_test(who_is_told),
        cmocka_unit_test(bad_settings),
        cmocka_unit_test(over_a_crash),
        cmocka_unit_test(at_least_once),
        cmocka_unit_test(private_receivers_are_refused),
        cmocka_unit_test(for_admins),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
