/* The store's part in the queue: retries and their evidence, stealing, results some at a time,
 * limits of projects, retention of projects, the check of a database. */
#include "store_support.h"

#include "store/check.h"
#include "store/limits.h"

static ft_store_blame blame_of(int64_t task, uint32_t retry_ms)
{
    return (ft_store_blame){.task = task,
                            .limit = 3,
                            .verdict = FT_VERDICT_ERROR,
                            .reason = FT_REASON_WORKER_DIED,
                            .text = "it died",
                            .retry_ms = retry_ms,
                            .worker = 1,
                            .pid = 4242,
                            .death = "crashed",
                            .log = "its last words"};
}

static void change_database(const fixture *f, const char *text)
{
    change_at(f->place, text);
}

static void release(json_t *leased)
{
    json_decref(leased);
}

/* ---- Retries --------------------------------------------------------------------------------- */

static void test_a_retry_is_put_off(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 1);
    int64_t task = task_of(leased, 0);
    release(abandon(f, job, token_of(leased), blame_of(task, 10000)));
    release(leased);
    /* The others are there, this one is not until it is due. */
    for (int i = 0; i < 2; i++) {
        leased = lease(f, job, 1);
        assert_int_equal(size_of(leased), 1);
        assert_true(task_of(leased, 0) != task);
        release(leased);
    }
    leased = lease(f, job, 1);
    assert_int_equal(size_of(leased), 0);
    assert_true(number_of(leased, "wait_ms") > 5000 && number_of(leased, "wait_ms") <= 10000);
    assert_int_equal(number_of(json_object_get(leased, "change"), "ready"), 1);
    release(leased);
    change_database(f, "UPDATE tasks SET due = due - 10000 WHERE due > 0");
    leased = lease(f, job, 1);
    assert_int_equal(task_of(leased, 0), task);
    release(leased);
}

/* A clock that was set back must not keep a task for hours. */
static void test_a_clock_set_back(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *held = lease(f, job, 3);
    json_decref(abandon(f, job, token_of(held), (ft_store_blame){.task = 0}));
    release(held);
    change_database(f, "UPDATE tasks SET due = 9000000000000");
    json_t *leased = lease(f, job, 3);
    assert_int_equal(size_of(leased), 3);
    release(leased);
}

static void test_evidence_is_kept(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    for (int death = 1; death <= 3; death++) {
        json_t *leased = lease(f, job, death == 1 ? 3 : 1);
        release(abandon(f, job, token_of(leased), blame_of(task_of(leased, 0), 0)));
        release(leased);
    }
    json_t *report = report_of(f, job, (ft_store_filter){0}, (ft_store_page){0});
    json_t *its = listed(report, "undecided", 0), *deaths = json_object_get(its, "deaths");
    assert_int_equal(json_array_size(deaths), 3);
    const json_t *last = json_array_get(deaths, 2);
    assert_int_equal(number_of(last, "attempt"), 3);
    assert_int_equal(number_of(last, "worker"), 1);
    assert_int_equal(number_of(last, "pid"), 4242);
    assert_string_equal(text_of(last, "death"), "crashed");
    assert_string_equal(text_of(last, "message"), "it died");
    assert_string_equal(text_of(last, "log"), "its last words");
    json_t *snapshot = snapshot_of(f, job);
    assert_int_equal(json_array_size(json_object_get(snapshot, "deaths")), 3);
    release(snapshot);
    release(its);
    release(report);
}

/* The server dies with tasks leased: they show as dropped until somebody has them again. */
static void test_dropped_is_visible(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 2);
    reopen(f);
    assert_false(
        commit(f, token_of(leased), task_of(leased, 0), "race", "race|write-write|r0", "safe"));
    json_t *snapshot = snapshot_of(f, job);
    assert_int_equal(number_of(json_object_get(snapshot, "progress"), "dropped"), 2);
    const json_t *death = json_array_get(json_object_get(snapshot, "deaths"), 0);
    assert_string_equal(text_of(death, "death"), "server-died");
    assert_int_equal(number_of(death, "attempt"), 0);
    ft_store_counts(f->store, on_answer, &f->a);
    json_t *counts = expect(&f->loop, &f->a), *tasks = json_object_get(counts, "tasks");
    assert_int_equal(number_of(tasks, "dropped"), 2);
    assert_int_equal(number_of(tasks, "ready"), 1);
    release(counts);
    release(snapshot);
    release(leased);
    release(lease(f, job, 3));
    snapshot = snapshot_of(f, job);
    assert_null(json_object_get(json_object_get(snapshot, "progress"), "dropped"));
    release(snapshot);
}

/* ---- Stealing and results -------------------------------------------------------------------- */

static json_t *result_of(int64_t task, const char *check, const char *key)
{
    json_t *its = record(check, key, "safe", 1);
    return json_pack("{s:I, s:o}", "task", (json_int_t)task, "record", its);
}

static json_t *commit_all(fixture *f, const char *job, uint64_t token, json_t *results)
{
    send_results(f->store, job, token, results, &f->a);
    return expect(&f->loop, &f->a);
}

/* Whoever a task was taken from cannot have its verdict any more; all others' count. */
static void test_stolen_tasks_are_fenced(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *old = lease(f, job, 3);
    json_t *ids = json_pack("[I]", (json_int_t)task_of(old, 1));
    ft_store_steal(f->store, job, token_of(old), ids, 600000, on_answer, &f->a);
    json_t *stolen = read_tasks(expect(&f->loop, &f->a));
    assert_int_equal(size_of(stolen), 1);
    assert_true(token_of(stolen) != token_of(old));
    json_t *results = json_array();
    json_array_append_new(results, result_of(task_of(old, 0), "race", "race|write-write|r0"));
    json_array_append_new(results, result_of(task_of(old, 1), "race", "race|write-write|r1"));
    json_t *change = commit_all(f, job, token_of(old), results);
    const json_t *late = json_object_get(change, "late");
    assert_true(json_is_true(json_object_get(change, "applied")));
    assert_int_equal(json_array_size(late), 1);
    assert_int_equal(json_integer_value(json_array_get(late, 0)), task_of(old, 1));
    assert_int_equal(number_of(change, "open"), 2);
    release(change);
    assert_true(
        commit(f, token_of(stolen), task_of(old, 1), "race", "race|write-write|r1", "safe"));
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts WHERE task IS NOT NULL"), 2);
    /* What is finished cannot be taken, nor what another lease holds. */
    ft_store_steal(f->store, job, token_of(old), ids, 600000, on_answer, &f->a);
    json_t *nothing = read_tasks(expect(&f->loop, &f->a));
    assert_int_equal(size_of(nothing), 0);
    release(nothing);
    json_decref(ids);
    release(stolen);
    release(old);
}

/* One bad record among good ones: nothing of the request is stored. */
static void test_results_are_all_or_none(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 3), *results = json_array();
    json_array_append_new(results, result_of(task_of(leased, 0), "race", "race|write-write|r0"));
    json_array_append_new(results, result_of(task_of(leased, 1), "race", "race|write-write|r0"));
    send_results(f->store, job, token_of(leased), results, &f->a);
    expect_error(&f->loop, &f->a, FT_INPUT);
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts WHERE task IS NOT NULL"), 0);
    assert_int_equal(query(f, "SELECT count(*) FROM tasks WHERE state = 'leased'"), 3);
    release(leased);
}

/* ---- Budgets and limits ---------------------------------------------------------------------- */

static void test_spent_time_is_kept(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *beat = json_pack("{s:[], s:{s:i}, s:{s:i}}", "tokens", "spent", job, 1234, "usage",
                             "default", 500);
    ft_store_extend(f->store, json_deep_copy(beat), 1000, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    ft_store_extend(f->store, beat, 1000, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    reopen(f);
    ft_store_jobs_open(f->store, on_answer, &f->a);
    json_t *open = expect(&f->loop, &f->a);
    const json_t *row = json_array_get(json_object_get(open, "jobs"), 0);
    assert_int_equal(number_of(row, "spent_ms"), 1234);
    assert_string_equal(text_of(row, "project"), "default");
    release(open);
    ft_store_limits(f->store, on_answer, &f->a);
    json_t *limits = expect(&f->loop, &f->a);
    const json_t *its = json_object_get(json_object_get(limits, "projects"), "default");
    assert_int_equal(number_of(its, "used_ms"), 1000);
    release(limits);
}

static void set_limit(const fixture *f, const char *project, ft_limit limit, int64_t value)
{
    bool given[FT_LIMITS] = {false};
    int64_t values[FT_LIMITS] = {0};
    ft_error err = FT_ERROR_INIT;
    given[limit] = true;
    values[limit] = value;
    if (ft_limits_set(f->place, project, given, values, &err) != FT_OK) fail_msg("%s", err.message);
}

static void test_limits_of_projects(void **state)
{
    fixture *f = *state;
    ft_error err = FT_ERROR_INIT;
    json_t *list;
    set_limit(f, "a", FT_LIMIT_JOBS, 7);
    set_limit(f, "a", FT_LIMIT_WORKERS, 0);
    set_limit(f, "b", FT_LIMIT_BYTES, 9);
    set_limit(f, "b", FT_LIMIT_BYTES, FT_LIMIT_UNSET);
    if (ft_limits_list(f->place, &list, &err) != FT_OK) fail_msg("%s", err.message);
    const json_t *a = json_object_get(json_object_get(list, "projects"), "a");
    const json_t *b = json_object_get(json_object_get(list, "projects"), "b");
    assert_int_equal(json_object_size(a), 2);
    assert_int_equal(number_of(a, "jobs"), 7);
    assert_int_equal(number_of(a, "workers"), 0);
    assert_int_equal(json_object_size(b), 0);
    json_decref(list);
    bool given[FT_LIMITS] = {false};
    int64_t values[FT_LIMITS] = {0};
    assert_int_equal(ft_limits_set(f->place, "no, project", given, values, &err), FT_USAGE);
}

static void test_room_of_a_project(void **state)
{
    fixture *f = *state;
    store_trace(f);
    ft_store_trace_share(f->store, HASH, "a", 0, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    ft_store_room(f->store, "a", 6, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    ft_store_room(f->store, "a", 5, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_CONFLICT);
    ft_store_room(f->store, "b", 5, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    /* There was room before it, but not for it; what the project had it keeps. */
    ft_store_trace_share(f->store, HASH, "b", 4, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_CONFLICT);
    ft_store_trace_share(f->store, HASH, "b", 5, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    ft_store_trace_share(f->store, HASH, "b", 4, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
}

static void test_jobs_of_a_project(void **state)
{
    fixture *f = *state;
    char first[17];
    store_trace(f);
    create_job(f, first);
    json_t *spec = json_pack("{s:s, s:s}", "trace", HASH, "project", "other");
    json_t *same = json_pack("{s:s}", "trace", HASH);
    ft_store_job_create(f->store, spec, NULL, 1, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    ft_store_job_create(f->store, same, NULL, 1, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_BUDGET);
    ft_store_job_cancel(f->store, first, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    ft_store_job_create(f->store, same, NULL, 1, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    json_decref(spec);
    json_decref(same);
}

/* ---- Retention of projects ------------------------------------------------------------------- */

static json_t *retain(fixture *f, uint64_t age_ms, uint64_t bytes)
{
    ft_store_retain(f->store, age_ms, bytes, on_answer, &f->a);
    return expect(&f->loop, &f->a);
}

static void cancel(fixture *f, const char *job)
{
    ft_store_job_cancel(f->store, job, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
}

/* Days of its own: longer, shorter or none at all. */
static void test_days_of_a_project(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    cancel(f, job);
    change_database(f, "UPDATE jobs SET finished = finished - 5 * 86400000");
    set_limit(f, "default", FT_LIMIT_RETAIN_DAYS, 10);
    release(retain(f, 86400000, 0));
    assert_int_equal(query(f, "SELECT count(*) FROM jobs"), 1);
    set_limit(f, "default", FT_LIMIT_RETAIN_DAYS, 0);
    release(retain(f, 86400000, 0));
    assert_int_equal(query(f, "SELECT count(*) FROM jobs"), 1);
    set_limit(f, "default", FT_LIMIT_RETAIN_DAYS, 2);
    json_t *removed = retain(f, 0, 0);
    assert_int_equal(number_of(removed, "jobs"), 1);
    release(removed);
}

/* A trace that no project had room for goes, once nobody can be about to name it. */
static void test_a_trace_that_nobody_sees(void **state)
{
    fixture *f = *state;
    store_trace(f);
    change_database(f, "DELETE FROM trace_projects");
    release(retain(f, 0, 0));
    assert_int_equal(query(f, "SELECT count(*) FROM traces"), 1);
    change_database(f, "UPDATE traces SET created = created - 2 * 86400000");
    release(retain(f, 0, 0));
    assert_int_equal(query(f, "SELECT count(*) FROM traces"), 0);
    assert_int_equal(query(f, "SELECT count(*) FROM blobs"), 0);
}

/* Over its bytes a project loses what it has not used for longest, never what one of its running
 * jobs needs; what others have of the same trace stays. */
static void test_bytes_of_a_project(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    ft_store_trace_share(f->store, HASH, "other", 0, on_answer, &f->a);
    release(expect(&f->loop, &f->a));
    change_database(f, "UPDATE traces SET created = created - 2 * 86400000");
    set_limit(f, "default", FT_LIMIT_RETAIN_BYTES, 1);
    release(retain(f, 0, 0));
    assert_int_equal(query(f, "SELECT count(*) FROM trace_projects"), 2);
    assert_int_equal(query(f, "SELECT count(*) FROM jobs"), 1);
    json_t *leased = lease(f, job, 3);
    assert_int_equal(size_of(leased), 3);
    release(leased);
    cancel(f, job);
    json_t *removed = retain(f, 0, 0);
    assert_int_equal(number_of(removed, "jobs"), 1);
    assert_int_equal(number_of(removed, "traces"), 0);
    release(removed);
    assert_int_equal(query(f, "SELECT count(*) FROM trace_projects WHERE project = 'other'"), 1);
    set_limit(f, "other", FT_LIMIT_RETAIN_BYTES, 1);
    removed = retain(f, 0, 0);
    assert_int_equal(number_of(removed, "traces"), 1);
    release(removed);
    assert_int_equal(query(f, "SELECT count(*) FROM blob_chunks"), 0);
}

/* ---- The check ------------------------------------------------------------------------------- */

static ft_status check(const fixture *f, ft_error *err)
{
    *err = (ft_error)FT_ERROR_INIT;
    return check_at(f->place, err);
}

/* Damages one thing after the other, each told by its name, and puts it right again. */
static void test_the_check_finds(void **state)
{
    static const struct {
        const char *harm, *word, *heal;
    } CASES[] = {
        {"UPDATE jobs SET next = next + 1", "without a verdict", "UPDATE jobs SET next = next - 1"},
        {"INSERT INTO tasks (id, state) SELECT (n << 28) + 9, 'poisoned' FROM jobs",
         "without a verdict", "DELETE FROM tasks"},
        {"INSERT INTO leases VALUES (9, 1, 1, 2, 1, 0)", "differ from their range",
         "DELETE FROM leases"},
        {"INSERT INTO tasks (id, state) VALUES (26575110144, 'cancelled')", "of no job",
         "DELETE FROM tasks"},
        {"UPDATE verdicts SET task = (job + 1) << 28 WHERE n = 1; UPDATE jobs SET last = 2",
         "in another job", "UPDATE verdicts SET task = NULL; UPDATE jobs SET last = 3"},
        {"UPDATE verdicts SET task = (job << 28) + 2 WHERE n = 1; UPDATE jobs SET last = 2",
         "are not finished", "UPDATE verdicts SET task = NULL; UPDATE jobs SET last = 3"},
        {"UPDATE jobs SET finished = 1", "have ended", "UPDATE jobs SET finished = NULL"},
        {"UPDATE jobs SET verdicts = verdicts + 1", "numbered",
         "UPDATE jobs SET verdicts = verdicts - 1"},
        {"UPDATE tallies SET count = count + 1", "tallies", "UPDATE tallies SET count = count - 1"},
        {"UPDATE traces SET stored_bytes = 4", "traces with missing rows",
         "UPDATE traces SET stored_bytes = 5"},
        {"UPDATE jobs SET tasks = 1, last = 0", "without tasks",
         "UPDATE jobs SET tasks = 4, last = 3"},
    };
    fixture *f = *state;
    char job[17];
    ft_error err;
    planned(f, job);
    if (check(f, &err) != FT_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        change_database(f, CASES[i].harm);
        assert_int_equal(check(f, &err), FT_IO);
        if (!strstr(err.message, CASES[i].word)) fail_msg("%s", err.message);
        change_database(f, CASES[i].heal);
        if (check(f, &err) != FT_OK) fail_msg("%zu: %s", i, err.message);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_retry_is_put_off),      TEST(test_a_clock_set_back),
        TEST(test_evidence_is_kept),        TEST(test_dropped_is_visible),
        TEST(test_stolen_tasks_are_fenced), TEST(test_results_are_all_or_none),
        TEST(test_spent_time_is_kept),      TEST(test_limits_of_projects),
        TEST(test_room_of_a_project),       TEST(test_jobs_of_a_project),
        TEST(test_days_of_a_project),       TEST(test_bytes_of_a_project),
        TEST(test_the_check_finds),         TEST(test_a_trace_that_nobody_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
