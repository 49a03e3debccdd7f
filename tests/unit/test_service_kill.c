/* What is killed in the middle: workers, and the server itself. The verdicts must be those of an
 * undisturbed run, each exactly once. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/strbuf.h"
#include "service/daemon.h"

#define THREADS    6
#define ROUNDS     4
#define KILLS      4
#define JOB_FORMAT "{\"trace\":\"%s\",\"checks\":[\"race\"],\"per\":\"event\",\"name\":\"%s\"}"

/* Each thread hands a value on under a lock and touches shared variables without one: races that
 * the locks allow, and pairs that only the order of the sections refutes. */
static void generate(ft_strbuf *out)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int t = 0; t < THREADS; t++) {
            int next = (t + 1) % THREADS;
            ft_strbuf_printf(out, "T%d|w(v%d)|r%dt%da\n", t, t, round, t);
            ft_strbuf_printf(out, "T%d|acq(l)|r%dt%db\n", t, round, t);
            ft_strbuf_printf(out, "T%d|r(f)|r%dt%dc\n", t, round, t);
            ft_strbuf_printf(out, "T%d|w(f)|r%dt%dd\n", t, round, t);
            ft_strbuf_printf(out, "T%d|rel(l)|r%dt%de\n", t, round, t);
            ft_strbuf_printf(out, "T%d|r(v%d)|r%dt%df\n", t, next, round, t);
            ft_strbuf_printf(out, "T%d|w(v%d)|r%dt%dg\n", t, next, round, t);
        }
}

static ft_daemon server;

static int clean_up(void **state)
{
    (void)state;
    ft_daemon_remove(&server);
    return 0;
}

static void upload(char hash[FT_DIGEST_HEX + 1])
{
    ft_strbuf text = {0};
    generate(&text);
    ft_answer answer = ft_daemon_post(&server, "/v1/traces", text.text);
    if (answer.status != 201 && answer.status != 200)
        fail_msg("upload: %ld %s", answer.status, ft_strbuf_text(&answer.body));
    snprintf(hash, FT_DIGEST_HEX + 1, "%s", ft_answer_text(&answer, "trace"));
    ft_answer_release(&answer);
    ft_strbuf_release(&text);
}

static void create(const char *hash, const char *name, char job[64])
{
    char body[512];
    snprintf(body, sizeof body, JOB_FORMAT, hash, name);
    ft_answer answer = ft_daemon_post(&server, "/v1/jobs", body);
    if (answer.status != 202) fail_msg("job: %ld %s", answer.status, ft_strbuf_text(&answer.body));
    snprintf(job, 64, "%s", ft_answer_text(&answer, "job"));
    ft_answer_release(&answer);
}

/* A block of pruned candidates has no key: what it says is its name. */
static void name_of(const json_t *record, char *name, size_t size)
{
    const char *key = json_string_value(json_object_get(record, "key"));
    const char *reason =
        json_string_value(json_object_get(json_object_get(record, "reason"), "text"));
    if (key)
        snprintf(name, size, "%s", key);
    else
        snprintf(name, size, "%s x %lld: %s", json_string_value(json_object_get(record, "message")),
                 (long long)json_integer_value(json_object_get(record, "count")), reason);
}

static void add_records(json_t *verdicts, const json_t *list)
{
    size_t i;
    const json_t *record;
    char name[1024];
    json_array_foreach(list, i, record)
    {
        name_of(record, name, sizeof name);
        if (json_object_get(verdicts, name)) fail_msg("two verdicts for %s", name);
        json_object_set(verdicts, name, json_object_get(record, "verdict"));
    }
}

/* {key: verdict} of every record of a finished job; each once, and the counts add up. */
static json_t *verdicts_of(const char *job, json_t **counts)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/jobs/%s/findings?safe=1", job);
    ft_answer answer = ft_daemon_get(&server, path);
    assert_int_equal(answer.status, 200);
    json_t *verdicts = json_object();
    add_records(verdicts, json_object_get(answer.json, "findings"));
    add_records(verdicts, json_object_get(answer.json, "undecided"));
    add_records(verdicts, json_object_get(answer.json, "safe"));
    *counts = json_incref(json_object_get(answer.json, "checks"));
    const json_t *race = json_object_get(*counts, "race");
    json_int_t sum = 0;
    static const char *const PARTS[] = {"violation", "safe", "bounded", "unknown", "error"};
    for (size_t i = 0; i < 5; i++) sum += json_integer_value(json_object_get(race, PARTS[i]));
    assert_int_equal(sum, json_integer_value(json_object_get(race, "candidates")));
    ft_answer_release(&answer);
    return verdicts;
}

static void finish(const char *job, void (*each)(void *data, const json_t *snapshot), void *data)
{
    json_t *snapshot = ft_daemon_finish(&server, job, each, data);
    assert_non_null(snapshot);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "done");
    json_decref(snapshot);
}

/* `unknown` may differ: whoever runs out of time runs out of it somewhere. */
static void expect_same(const json_t *reference, const json_t *verdicts)
{
    const char *key;
    const json_t *verdict;
    assert_int_equal(json_object_size(reference), json_object_size(verdicts));
    json_object_foreach((json_t *)(uintptr_t)reference, key, verdict)
    {
        const char *before = json_string_value(verdict);
        const char *after = json_string_value(json_object_get(verdicts, key));
        if (!after) fail_msg("no verdict for %s", key);
        if (strcmp(before, "unknown") == 0 || strcmp(after, "unknown") == 0) continue;
        if (strcmp(before, after) != 0) fail_msg("%s: %s, then %s", key, before, after);
    }
}

static void expect_same_job(const json_t *reference, const char *job)
{
    json_t *counts, *verdicts = verdicts_of(job, &counts);
    expect_same(reference, verdicts);
    json_decref(counts);
    json_decref(verdicts);
}

/* The undisturbed run. */
static json_t *reference_run(char hash[FT_DIGEST_HEX + 1])
{
    char job[64];
    json_t *counts;
    upload(hash);
    create(hash, "undisturbed", job);
    finish(job, NULL, NULL);
    json_t *verdicts = verdicts_of(job, &counts);
    const json_t *race = json_object_get(counts, "race");
    assert_true(json_integer_value(json_object_get(race, "violation")) > 0);
    assert_true(json_integer_value(json_object_get(race, "safe")) > 0);
    json_decref(counts);
    return verdicts;
}

typedef struct killer {
    int left, killed;
} killer;

/* Kills every worker that has something to do. */
static void kill_workers(void *data, const json_t *snapshot)
{
    killer *k = data;
    size_t i;
    const json_t *worker;
    (void)snapshot;
    if (k->left-- <= 0) return;
    ft_answer answer = ft_daemon_get(&server, "/v1/workers");
    json_array_foreach(json_object_get(answer.json, "workers"), i, worker)
    {
        json_int_t pid = json_integer_value(json_object_get(worker, "pid"));
        const char *state = json_string_value(json_object_get(worker, "state"));
        if (pid <= 1 || !state || strcmp(state, "idle") == 0) continue;
        if (kill((pid_t)pid, SIGKILL) == 0) k->killed++;
    }
    ft_answer_release(&answer);
}

static void killed_workers(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64];
    assert_true(ft_daemon_start(&server));
    json_t *reference = reference_run(hash);
    create(hash, "workers killed", job);
    killer k = {KILLS, 0};
    kill_workers(&k, NULL);
    finish(job, kill_workers, &k);
    print_message("workers killed: %d\n", k.killed);
    assert_true(k.killed > 0);
    expect_same_job(reference, job);
    json_decref(reference);
    assert_true(ft_daemon_stop(&server));
}

/* Follows the job until it has so many verdicts, or has ended: then false. */
static bool await_verdicts(const char *job, json_int_t wanted)
{
    char path[128], tag[64] = "If-None-Match: \"none\"";
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    for (;;) {
        const char *headers[] = {"Prefer: wait=20", tag, NULL};
        ft_answer answer = ft_daemon_call(&server, "GET", path, headers, NULL, 0);
        assert_true(answer.status == 200 || answer.status == 304);
        const char *etag = ft_answer_header(&answer, "ETag");
        if (etag) snprintf(tag, sizeof tag, "If-None-Match: %.40s", etag);
        const json_t *progress = json_object_get(answer.json, "progress");
        bool enough = json_integer_value(json_object_get(progress, "done")) >= wanted;
        bool ended = strcmp(ft_answer_text(&answer, "state"), "done") == 0;
        ft_answer_release(&answer);
        if (enough || ended) return !ended;
    }
}

static void killed_server(void **state)
{
    (void)state;
    char hash[FT_DIGEST_HEX + 1], job[64];
    assert_true(ft_daemon_start(&server));
    json_t *reference = reference_run(hash);
    int interrupted = 0;
    for (int round = 0; round < 3; round++) {
        create(hash, "server killed", job);
        interrupted += await_verdicts(job, round);
        ft_daemon_kill(&server);
        assert_true(ft_daemon_start(&server));
        finish(job, NULL, NULL);
        expect_same_job(reference, job);
    }
    assert_true(interrupted > 0);
    json_decref(reference);
    assert_true(ft_daemon_stop(&server));
}

/* What was answered 2xx is there after a kill. */
static void acknowledged_is_durable(void **state)
{
    (void)state;
    char path[128], trace[FT_DIGEST_HEX + 1];
    assert_true(ft_daemon_start(&server));
    for (int i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "T1|w(x)|%d\nT2|w(x)|b\n", i);
        ft_answer answer = ft_daemon_post(&server, "/v1/traces", text);
        assert_int_equal(answer.status, 201);
        snprintf(trace, sizeof trace, "%s", ft_answer_text(&answer, "trace"));
        ft_answer_release(&answer);
        ft_daemon_kill(&server);
        assert_true(ft_daemon_start(&server));
        snprintf(path, sizeof path, "/v1/traces/%s", trace);
        answer = ft_daemon_get(&server, path);
        assert_int_equal(answer.status, 200);
        ft_answer_release(&answer);
    }
    assert_true(ft_daemon_stop(&server));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(killed_workers, clean_up),
        cmocka_unit_test_teardown(killed_server, clean_up),
        cmocka_unit_test_teardown(acknowledged_is_durable, clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
