/* What the daemon tells of itself and of traces: statistics, workers, summaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/steps.h"

static int set_up(void **state)
{
    static const char *const OPTIONS[] = {"--sample-ms", "10", NULL};
    ft_steps_server.options = OPTIONS;
    return ft_steps_start(state);
}

static json_t *get(const char *path, const char *header)
{
    const char *headers[] = {header, NULL};
    ft_answer answer =
        ft_daemon_call(&ft_steps_server, "GET", path, header ? headers : NULL, NULL, 0);
    ft_steps_expect(&answer, 200, path);
    json_t *json = json_incref(answer.json);
    ft_answer_release(&answer);
    return json;
}

static long long number(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    if (!json_is_integer(value)) fail_msg("%s is no number", member);
    return json_integer_value(value);
}

static const char *text(const json_t *object, const char *member)
{
    const char *value = json_string_value(json_object_get(object, member));
    return value ? value : "";
}

/* ---- Statistics ------------------------------------------------------------------------------ */

static long long sum(const json_t *history, const char *series)
{
    size_t i;
    json_t *value;
    long long all = 0;
    const json_t *column = json_object_get(history, series);
    assert_int_equal(json_array_size(column), json_array_size(json_object_get(history, "at")));
    json_array_foreach(column, i, value) all += json_integer_value(value);
    return all;
}

/* The history's sums are what is counted since start, once the last sample is in. */
static void history_adds_up(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1];
    ft_steps_upload(FT_STEPS_RACY, trace);
    json_decref(ft_steps_report(trace, "\"checks\":[\"race\"]", "done"));
    long long tasks = 0, told = -1;
    for (int i = 0; i < 10000 && told != tasks; i++) {
        json_t *stats = get("/v1/stats", NULL);
        const json_t *now = json_object_get(stats, "now");
        const json_t *history = json_object_get(stats, "history");
        tasks = number(now, "tasks");
        told = sum(history, "tasks");
        assert_int_equal(number(stats, "sample_ms"), 10);
        assert_int_equal(number(now, "workers_alive") <= 3, 1);
        assert_true(number(now, "resident_bytes") > 1000000);
        assert_true(number(now, "workers_memory") > 1000000);
        assert_int_equal(number(now, "violation") + number(now, "safe") + number(now, "bounded") +
                             number(now, "unknown") + number(now, "error"),
                         tasks);
        assert_true(sum(history, "violation") <= number(now, "violation"));
        /* More points than there is room for would show as an endless list. */
        assert_true(json_array_size(json_object_get(history, "at")) <= 360);
        json_decref(stats);
    }
    assert_true(tasks >= 1);
    assert_int_equal(told, tasks);
}

static void workers(void **state)
{
    (void)state;
    json_t *document = get("/v1/workers", NULL), *worker;
    size_t i;
    assert_int_equal(json_array_size(json_object_get(document, "workers")), 3);
    json_array_foreach(json_object_get(document, "workers"), i, worker)
    {
        bool runs = json_is_integer(json_object_get(worker, "pid"));
        if (runs) assert_true(number(worker, "memory") > 100000);
        assert_true(number(worker, "busy_ms") >= 0);
    }
    json_decref(document);
}

static void metrics(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"\nforetell_task_seconds_count{verdict=\"violation\"} ",
                                        "\nforetell_queue_age_milliseconds ",
                                        "\nforetell_workers_resident_bytes ",
                                        "\nforetell_event_streams 0\n",
                                        "\nforetell_http_request_seconds_bucket{le=\"0.001\"} ",
                                        "\nforetell_http_request_seconds_bucket{le=\"+Inf\"} "};
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/metrics");
    ft_steps_expect(&answer, 200, "/metrics");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strstr(answer.body.text, NAMES[i]))
            fail_msg("%s is missing in\n%s", NAMES[i], answer.body.text);
    ft_answer_release(&answer);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static const json_t *line(const json_t *summary, const char *list, const char *member,
                          const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(summary, list), i, entry)
    {
        if (strcmp(text(entry, member), name) == 0) return entry;
    }
    fail_msg("%s has no %s", list, name);
    return NULL;
}

static void a_summary(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], path[128];
    ft_steps_upload(FT_STEPS_RACY, trace);
    snprintf(path, sizeof path, "/v1/traces/%s/summary", trace);
    json_t *summary = get(path, NULL);
    assert_string_equal(text(summary, "trace"), trace);
    assert_int_equal(number(summary, "events"), 8);
    assert_int_equal(number(json_object_get(summary, "kinds"), "write"), 4);
    assert_int_equal(number(json_object_get(summary, "kinds"), "acquire"), 2);
    const json_t *entry = line(summary, "threads", "thread", "T1");
    assert_int_equal(number(entry, "events"), 4);
    assert_int_equal(number(entry, "first"), 1);
    assert_int_equal(number(entry, "last"), 5);
    entry = line(summary, "variables", "variable", "x");
    assert_int_equal(number(entry, "writes"), 2);
    assert_int_equal(number(entry, "reads"), 0);
    assert_int_equal(number(entry, "threads"), 2);
    assert_int_equal(number(entry, "handovers"), 1);
    entry = line(summary, "locks", "lock", "l");
    assert_int_equal(number(entry, "acquires"), 2);
    assert_int_equal(number(entry, "threads"), 2);
    entry = line(summary, "locations", "location", "a.c:3");
    assert_int_equal(number(entry, "events"), 1);
    const json_t *timeline = json_object_get(summary, "timeline");
    assert_int_equal(number(timeline, "columns"), 8);
    const json_t *row = json_array_get(json_object_get(timeline, "counts"), 0);
    static const int FIRST[] = {1, 0, 1, 1, 1, 0, 0, 0};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(json_integer_value(json_array_get(row, i)), FIRST[i]);
    json_decref(summary);
}

/* 3 threads, 1,000 events in turns, 300 variables of which two are shared. */
static void a_larger_summary(void **state)
{
    (void)state;
    ft_strbuf trace = {0};
    char hash[FT_DIGEST_HEX + 1], path[128];
    for (int i = 0; i < 1000; i++) {
        int thread = i % 3;
        if (i % 10 == 0)
            ft_strbuf_printf(&trace, "T%d|r(shared)|s.c:1\n", thread);
        else
            ft_strbuf_printf(&trace, "T%d|w(own%d_%d)|s.c:%d\n", thread, thread, i % 100, i);
    }
    ft_strbuf_puts(&trace, "T0|fork(T9)|s.c:2\nT9|w(shared)|s.c:3\n");
    ft_steps_upload(trace.text, hash);
    snprintf(path, sizeof path, "/v1/traces/%s/summary", hash);
    json_t *summary = get(path, NULL);
    const json_t *hottest = json_array_get(json_object_get(summary, "variables"), 0);
    assert_string_equal(text(hottest, "variable"), "shared");
    assert_int_equal(number(hottest, "reads"), 100);
    assert_int_equal(number(hottest, "writes"), 1);
    assert_int_equal(number(hottest, "threads"), 4);
    assert_int_equal(json_array_size(json_object_get(summary, "variables")), 200);
    assert_int_equal(number(json_object_get(summary, "totals"), "variables"), 271);
    assert_string_equal(text(line(summary, "threads", "thread", "T9"), "parent"), "T0");
    const json_t *timeline = json_object_get(summary, "timeline");
    assert_int_equal(number(timeline, "columns"), 167);
    assert_int_equal(number(timeline, "events_per_column"), 6);
    long long all = 0;
    size_t i, k;
    json_t *row, *cell;
    json_array_foreach(json_object_get(timeline, "counts"), i, row) json_array_foreach(row, k, cell)
        all += json_integer_value(cell);
    assert_int_equal(all, 1002);
    json_decref(summary);
    ft_strbuf_release(&trace);
}

/* Computed for each request, by a worker. */
static void intervals_are_computed(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], path[128];
    ft_steps_upload(FT_STEPS_RACY, trace);
    snprintf(path, sizeof path, "/v1/traces/%s/intervals", trace);
    for (int i = 0; i < 2; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, path);
        ft_steps_expect(&answer, 200, path);
        assert_non_null(strstr(answer.body.text, trace));
        assert_non_null(strstr(answer.body.text, "\"left_out\""));
        ft_answer_release(&answer);
    }
    ft_answer answer = ft_daemon_get(
        &ft_steps_server, "/v1/traces/"
                          "0000000000000000000000000000000000000000000000000000000000000000"
                          "/intervals");
    ft_steps_expect(&answer, 404, "intervals of no trace");
    ft_answer_release(&answer);
}

/* Computed once: the second time, and after a restart, it comes from the store. */
static void summaries_are_kept(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], path[128], tag[128];
    ft_steps_upload(FT_STEPS_RACY, trace);
    snprintf(path, sizeof path, "/v1/traces/%s/summary", trace);
    ft_answer first = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&first, 200, path);
    snprintf(tag, sizeof tag, "If-None-Match: %s", ft_answer_header(&first, "ETag"));
    assert_true(ft_daemon_stop(&ft_steps_server));
    assert_true(ft_daemon_start(&ft_steps_server));
    const char *headers[] = {tag, NULL};
    ft_answer again = ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
    ft_steps_expect(&again, 304, path);
    ft_answer answer = ft_daemon_get(&ft_steps_server, "/metrics");
    assert_non_null(strstr(answer.body.text, "\nforetell_summaries_total 0\n"));
    ft_answer_release(&answer);
    ft_answer_release(&first);
    ft_answer_release(&again);
    answer = ft_daemon_get(&ft_steps_server,
                           "/v1/traces/"
                           "0000000000000000000000000000000000000000000000000000000000000000"
                           "/summary");
    ft_steps_expect(&answer, 404, "summary of no trace");
    ft_answer_release(&answer);
}

/* ---- The list of jobs ------------------------------------------------------------------------ */

static size_t listed(const char *path)
{
    json_t *page = get(path, NULL);
    size_t count = json_array_size(json_object_get(page, "jobs"));
    json_decref(page);
    return count;
}

static void lists_are_narrowed(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], job[64], path[256];
    ft_steps_upload("T1|w(n)|n.c:1\nT2|w(n)|n.c:2\n", trace);
    ft_steps_create(trace, "\"name\":\"Nightly % run\",\"project\":\"team/one\"", job);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
    assert_int_equal(listed("/v1/jobs?project=team/one"), 1);
    assert_int_equal(listed("/v1/jobs?project=team"), 0);
    assert_int_equal(listed("/v1/jobs?search=nightly"), 1);
    assert_int_equal(listed("/v1/jobs?search=%25%20RUN"), 1);
    assert_int_equal(listed("/v1/jobs?search=TEAM/"), 1);
    assert_int_equal(listed("/v1/jobs?search=absent"), 0);
    snprintf(path, sizeof path, "/v1/jobs?search=%.12s", trace);
    assert_int_equal(listed(path), 1);
    snprintf(path, sizeof path, "/v1/jobs?search=%.8s&state=done", job);
    assert_int_equal(listed(path), 1);
    assert_true(listed("/v1/jobs?since=2020-01-01") >= 1);
    assert_int_equal(listed("/v1/jobs?since=2999-01-01"), 0);
    assert_int_equal(listed("/v1/jobs?since=99999999999"), 0);
    ft_answer page = ft_daemon_get(&ft_steps_server, "/v1/jobs?limit=1&since=2020-01-01");
    assert_non_null(strstr(ft_answer_header(&page, "Link"), "&since=2020-01-01"));
    char tag[128];
    snprintf(tag, sizeof tag, "If-None-Match: %s", ft_answer_header(&page, "ETag"));
    const char *headers[] = {tag, NULL};
    ft_answer same = ft_daemon_call(&ft_steps_server, "GET", "/v1/jobs?limit=1&since=2020-01-01",
                                    headers, NULL, 0);
    ft_steps_expect(&same, 304, "the same page");
    ft_answer_release(&page);
    ft_answer_release(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_adds_up),
        cmocka_unit_test(workers),
        cmocka_unit_test(metrics),
        cmocka_unit_test(a_summary),
        cmocka_unit_test(a_larger_summary),
        cmocka_unit_test(intervals_are_computed),
        cmocka_unit_test(summaries_are_kept),
        cmocka_unit_test(lists_are_narrowed),
    };
    return cmocka_run_group_tests(tests, set_up, ft_steps_stop);
}
