/* The daemon from outside: jobs, waiting for them, reports. Expected verdicts are those of the
 * definitions (Wang et al. Fig. 1 and 7), not of the program. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "service/steps.h"

/* Wang et al. Fig. 1. */
static const char FIG1[] = FT_STEPS_HEADER FT_STEPS_ASSIGN("T1", "a", "x")
    FT_STEPS_EVENT("T1", "wait") FT_STEPS_ASSIGN("T1", "x", "(+ 2 a)") FT_STEPS_EVENT("T1", "post")
        FT_STEPS_ASSIGN("T1", "y", "(+ 1 a)") FT_STEPS_EVENT("T1", "wait")
            FT_STEPS_ASSIGN("T1", "x", "(+ 1 a)") FT_STEPS_EVENT("T1", "post")
                FT_STEPS_ASSIGN("T2", "b", "0") FT_STEPS_EVENT("T2", "wait")
                    FT_STEPS_TERM("T2", "assume", "(> x b)")
                        FT_STEPS_TERM("T2", "assert", "(= y 1)") FT_STEPS_EVENT("T2", "post");

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void a_race_to_the_end(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], path[160];
    ft_steps_upload(FT_STEPS_RACY, hash);
    json_t *report = ft_steps_report(hash, "\"checks\":[\"race\"],\"model\":\"observed\"", "done");
    assert_int_equal(ft_steps_count(report, "race", "violation"), 1);
    ft_steps_counts_add_up(report);
    assert_string_equal(json_string_value(json_object_get(report, "state")), "done");
    assert_string_equal(json_string_value(json_object_get(report, "trace")), hash);
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    const char *id = json_string_value(json_object_get(finding, "finding"));
    assert_non_null(id);
    snprintf(path, sizeof path, "/v1/findings/%s", id);
    ft_answer record = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&record, 200, path);
    assert_string_equal(ft_answer_text(&record, "object"), "x");
    snprintf(path, sizeof path, "/v1/findings/%s/witness", id);
    ft_answer witness = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&witness, 200, path);
    assert_string_equal(ft_answer_text(&witness, "format"), "foretell-witness");
    assert_string_equal(ft_answer_text(&witness, "trace"), hash);
    ft_answer_release(&record);
    ft_answer_release(&witness);
    /* A finding has one name. */
    static const char *const ALIASES[] = {"0", "%20", "%2B"};
    const char *dash = strchr(id, '-');
    assert_non_null(dash);
    for (size_t i = 0; i < sizeof ALIASES / sizeof *ALIASES; i++) {
        snprintf(path, sizeof path, "/v1/findings/%.*s%s%s", (int)(dash + 1 - id), id, ALIASES[i],
                 dash + 1);
        record = ft_daemon_get(&ft_steps_server, path);
        ft_steps_expect(&record, 404, path);
        ft_answer_release(&record);
    }
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
    ft_steps_upload(FIG1, hash);
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        snprintf(members, sizeof members, "\"checks\":[\"assertion\"],\"model\":\"%s\"",
                 MODELS[i].model);
        json_t *report = ft_steps_report(hash, members, "done");
        assert_int_equal(ft_steps_count(report, "assertion", "candidates"), 1);
        assert_int_equal(ft_steps_count(report, "assertion", "violation"), MODELS[i].violations);
        ft_steps_counts_add_up(report);
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
    ft_steps_upload(FT_STEPS_RACY, hash);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        snprintf(members, sizeof members, "\"checks\":[],\"properties\":[%s]", ROWS[i].property);
        json_t *report = ft_steps_report(hash, members, "done");
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
    ft_steps_upload(FT_STEPS_RACY, hash);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        ft_steps_create(hash, MEMBERS[i], job);
        json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
        assert_non_null(snapshot);
        assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "failed");
        const json_t *error = json_object_get(snapshot, "error");
        assert_true(json_is_string(json_object_get(error, "code")));
        assert_true(json_string_length(json_object_get(error, "message")) > 0);
        snprintf(path, sizeof path, "/v1/jobs/%s/findings", job);
        ft_answer answer = ft_daemon_get(&ft_steps_server, path);
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
        ft_answer answer = ft_daemon_post(&ft_steps_server, "/v1/jobs", BAD_JOBS[i].body);
        ft_steps_expect(&answer, BAD_JOBS[i].status, BAD_JOBS[i].body);
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
    ft_answer answer = ft_daemon_post(&ft_steps_server, "/v1/jobs", text.text);
    ft_steps_expect(&answer, 400, "deep nesting");
    assert_int_equal(json_integer_value(json_object_get(answer.json, "column")),
                     strlen("{\"properties\":") + 32);
    ft_answer_release(&answer);
    ft_strbuf_clear(&text);
    ft_strbuf_puts(&text, "{\"name\":\"");
    for (int i = 0; i < 5 << 10; i++) ft_strbuf_printf(&text, "%01024d", 0);
    ft_strbuf_puts(&text, "\"}");
    answer = ft_daemon_post(&ft_steps_server, "/v1/jobs", text.text);
    ft_steps_expect(&answer, 413, "a body of 5 MiB");
    ft_answer_release(&answer);
    ft_strbuf_release(&text);
}

static void content_types(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"Content-Type: text/plain", NULL};
    static const char *const JSON[] = {"Content-Type: application/json; charset=utf-8", NULL};
    static const char *const ORIGIN[] = {"Origin: http://elsewhere.example", NULL};
    ft_answer answer = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", TEXT, "{}", 2);
    ft_steps_expect(&answer, 415, "text/plain");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", JSON, "{}", 2);
    ft_steps_expect(&answer, 422, "application/json");
    ft_answer_release(&answer);
    answer = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", ORIGIN, "{}", 2);
    ft_steps_expect(&answer, 403, "another origin");
    ft_answer_release(&answer);
}

static void idempotency_keys(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], body[256], job[64], other[64];
    static const char *const KEY[] = {"Idempotency-Key: 5f3a", NULL};
    ft_steps_upload(FT_STEPS_RACY, hash);
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"name\":\"once\"}", hash);
    ft_answer first = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", KEY, body, strlen(body));
    ft_steps_expect(&first, 202, "first");
    snprintf(job, sizeof job, "%s", ft_answer_text(&first, "job"));
    ft_answer again = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", KEY, body, strlen(body));
    ft_steps_expect(&again, 202, "again");
    assert_string_equal(ft_answer_text(&again, "job"), job);
    ft_answer plain = ft_daemon_post(&ft_steps_server, "/v1/jobs", body);
    snprintf(other, sizeof other, "%s", ft_answer_text(&plain, "job"));
    assert_string_not_equal(other, job);
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"name\":\"twice\"}", hash);
    ft_answer clash = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", KEY, body, strlen(body));
    ft_steps_expect(&clash, 422, "the same key with another body");
    /* What was answered with 2xx is kept, the key with it. */
    ft_daemon_kill(&ft_steps_server);
    assert_true(ft_daemon_start(&ft_steps_server));
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"name\":\"once\"}", hash);
    ft_answer after = ft_daemon_call(&ft_steps_server, "POST", "/v1/jobs", KEY, body, strlen(body));
    ft_steps_expect(&after, 202, "after a crash");
    assert_string_equal(ft_answer_text(&after, "job"), job);
    ft_answer_release(&after);
    ft_answer_release(&first);
    ft_answer_release(&again);
    ft_answer_release(&plain);
    ft_answer_release(&clash);
}

static void etags_and_waiting(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64], path[128], tag[128];
    ft_steps_upload(FT_STEPS_RACY, hash);
    ft_steps_create(hash, "", job);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    ft_answer done = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&done, 200, path);
    assert_string_equal(ft_answer_text(&done, "state"), "done");
    const json_t *progress = json_object_get(done.json, "progress");
    assert_true(json_is_integer(json_object_get(progress, "total")));
    assert_true(json_equal(json_object_get(progress, "done"), json_object_get(progress, "total")));
    snprintf(tag, sizeof tag, "If-None-Match: \"x\", %s", ft_answer_header(&done, "ETag"));
    const char *headers[] = {tag, NULL};
    ft_answer same = ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
    ft_steps_expect(&same, 304, "If-None-Match");
    assert_int_equal(same.body.len, 0);
    /* A job that has ended is not waited for. */
    const char *waiting[] = {"Prefer: wait=60", NULL};
    ft_answer at_once = ft_daemon_call(&ft_steps_server, "GET", path, waiting, NULL, 0);
    ft_steps_expect(&at_once, 200, "Prefer: wait");
    assert_string_equal(ft_answer_header(&at_once, "Preference-Applied"), "wait=60");
    ft_answer nothing = ft_daemon_call(&ft_steps_server, "GET", "/v1/jobs/none", waiting, NULL, 0);
    ft_steps_expect(&nothing, 404, "waiting for nothing");
    ft_answer_release(&done);
    ft_answer_release(&same);
    ft_answer_release(&at_once);
    ft_answer_release(&nothing);
}

static void signal_workers(int signal)
{
    size_t i;
    const json_t *worker;
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/workers");
    json_array_foreach(json_object_get(answer.json, "workers"), i, worker)
    {
        json_int_t pid = json_integer_value(json_object_get(worker, "pid"));
        if (pid > 1) kill((pid_t)pid, signal);
    }
    ft_answer_release(&answer);
}

/* With its workers stopped a job cannot go on: a wait for news of it lasts as long as it may. */
static void waiting_in_vain(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64], path[128], tag[64] = "If-None-Match: \"none\"";
    ft_steps_upload(FT_STEPS_RACY, hash);
    signal_workers(SIGSTOP);
    ft_steps_create(hash, "", job);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    struct timespec from, to;
    long status = 200;
    while (status == 200) {
        const char *headers[] = {"Prefer: wait=1", tag, NULL};
        clock_gettime(CLOCK_MONOTONIC, &from);
        ft_answer answer = ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        status = answer.status;
        const char *etag = ft_answer_header(&answer, "ETag");
        if (etag) snprintf(tag, sizeof tag, "If-None-Match: %.40s", etag);
        ft_answer_release(&answer);
    }
    signal_workers(SIGCONT);
    assert_int_equal(status, 304);
    assert_true((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >= 990);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "done");
    json_decref(snapshot);
}

static void lists_and_pages(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], jobs[3][64], path[256] = "/v1/jobs?limit=2";
    ft_steps_upload(FT_STEPS_RACY, hash);
    for (int i = 0; i < 3; i++) ft_steps_create(hash, "\"checks\":[\"race\"]", jobs[i]);
    int seen = 0;
    for (int page = 0; page < 2; page++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, path);
        ft_steps_expect(&answer, 200, path);
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
    static const char *const BAD[] = {
        "/v1/jobs?limit=0",    "/v1/jobs?limit=x",    "/v1/jobs?limit=-1", "/v1/jobs?after=%21",
        "/v1/jobs?after=%2B1", "/v1/jobs?after=%201", "/v1/jobs?after=01", "/v1/jobs?state=sleepy"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, BAD[i]);
        ft_steps_expect(&answer, 400, BAD[i]);
        ft_answer_release(&answer);
    }
}

static void cancelling(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64], path[128];
    ft_steps_upload(FT_STEPS_RACY, hash);
    ft_steps_create(hash, "", job);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    ft_answer answer = ft_daemon_call(&ft_steps_server, "DELETE", path, NULL, NULL, 0);
    ft_steps_expect(&answer, 204, path);
    ft_answer_release(&answer);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    const char *ended = json_string_value(json_object_get(snapshot, "state"));
    assert_true(strcmp(ended, "cancelled") == 0 || strcmp(ended, "done") == 0);
    json_decref(snapshot);
    answer = ft_daemon_call(&ft_steps_server, "DELETE", "/v1/jobs/none", NULL, NULL, 0);
    ft_steps_expect(&answer, 404, "DELETE of nothing");
    ft_answer_release(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_to_the_end), cmocka_unit_test(models_of_figure_1),
        cmocka_unit_test(properties),        cmocka_unit_test(failing_plans),
        cmocka_unit_test(malformed_jobs),    cmocka_unit_test(large_and_deep_job_bodies),
        cmocka_unit_test(content_types),     cmocka_unit_test(idempotency_keys),
        cmocka_unit_test(etags_and_waiting), cmocka_unit_test(waiting_in_vain),
        cmocka_unit_test(lists_and_pages),   cmocka_unit_test(cancelling),
    };
    return cmocka_run_group_tests(tests, ft_steps_start, ft_steps_stop);
}
