#include "store_support.h"

/* ---- Opening --------------------------------------------------------------------------------- */

static void test_migrations(void **state)
{
    fixture *f = *state;
    assert_int_equal(version_of(f), ft_store_schema_version());
    assert_true(ft_store_schema_version() >= 1);
    store_trace(f);
    reopen(f);
    ft_store_trace(f->store, HASH, on_answer, &f->a);
    json_decref(expect(&f->loop, &f->a));
}

static void test_newer_schema_refused(void **state)
{
    fixture *f = *state;
    ft_sql sql;
    ft_error err = FT_ERROR_INIT;
    ft_store *store = NULL;
    char back[80];
    close_store(&f->loop, f->store);
    open_at(f->place, &sql);
    const char *newer =
        FT_DIALECTS("PRAGMA user_version = 999", "UPDATE schema_version SET version = 999");
    assert_int_equal(ft_sql_run(&sql, NULL, &err, newer, ""), FT_OK);
    ft_sql_close(&sql);
    assert_int_equal(ft_store_open(&f->loop, f->place, &store, &err), FT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "999"));
    assert_null(store);
    const char *raise = ft_sql_is_address(f->place) ? "UPDATE schema_version SET version ="
                                                    : "PRAGMA user_version =";
    snprintf(back, sizeof back, "%s %d", raise, ft_store_schema_version());
    change_at(f->place, back);
    open_store(f);
}

/* ---- Traces ---------------------------------------------------------------------------------- */

typedef struct chunk {
    bool done, failed, last;
    char first;
    size_t length;
} chunk;

static void on_chunk(void *data, const ft_error *err, const void *bytes, size_t length, bool last)
{
    chunk *c = data;
    *c = (chunk){.done = true, .failed = err != NULL, .last = last, .length = length};
    if (!err) c->first = *(const char *)bytes;
}

static void test_chunks(void **state)
{
    fixture *f = *state;
    char *row = ft_alloc(FT_STORE_CHUNK);
    memset(row, 'x', FT_STORE_CHUNK);
    int64_t blob = new_blob(f);
    add_row(f, blob, 0, row, FT_STORE_CHUNK);
    add_row(f, blob, 1, "yz", 2);
    free(row);
    assert_true(commit_blob(f, blob, 2));
    const chunk expected[] = {{true, false, false, 'x', FT_STORE_CHUNK},
                              {true, false, true, 'y', 2},
                              {true, true, false, 0, 0}};
    for (uint32_t seq = 0; seq < 3; seq++) {
        chunk c = {.done = false};
        ft_store_trace_chunk(f->store, HASH, seq, on_chunk, &c);
        run_until(&f->loop, &c.done);
        assert_int_equal(c.failed, expected[seq].failed);
        assert_int_equal(c.last, expected[seq].last);
        assert_int_equal(c.first, expected[seq].first);
        assert_int_equal(c.length, expected[seq].length);
    }
    ft_store_trace(f->store, HASH, on_answer, &f->a);
    json_t *meta = expect(&f->loop, &f->a);
    assert_int_equal(number_of(meta, "stored_bytes"), FT_STORE_CHUNK + 2);
    json_decref(meta);
}

static void test_same_content_is_stored_once(void **state)
{
    fixture *f = *state;
    store_trace(f);
    int64_t blob = new_blob(f);
    add_row(f, blob, 0, "trace", 5);
    assert_false(commit_blob(f, blob, 1));
    assert_int_equal(query(f, "SELECT count(*) FROM blobs"), 1);
    assert_int_equal(query(f, "SELECT count(*) FROM blob_chunks"), 1);
}

static void test_incomplete_blob(void **state)
{
    fixture *f = *state;
    int64_t blob = new_blob(f);
    json_t *meta = json_pack("{s:i}", "bytes", 5);
    ft_store_blob_commit(f->store, blob, 1, HASH, meta, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_IO);
    json_decref(meta);
    assert_int_equal(query(f, "SELECT count(*) FROM traces"), 0);
    reopen(f);
    assert_int_equal(query(f, "SELECT count(*) FROM blobs"), 0);
}

/* Requests made together share a transaction; a failing one must not take the others along. */
static void test_failure_in_a_group(void **state)
{
    fixture *f = *state;
    int64_t blob = new_blob(f);
    answer good = {0}, bad = {0}, also_good = {0};
    ft_store_blob_add(f->store, blob, 0, "a", 1, on_answer, &good);
    ft_store_blob_add(f->store, blob, 0, "b", 1, on_answer, &bad);
    ft_store_blob_add(f->store, blob, 1, "c", 1, on_answer, &also_good);
    json_decref(expect(&f->loop, &good));
    expect_error(&f->loop, &bad, FT_IO);
    json_decref(expect(&f->loop, &also_good));
    assert_int_equal(query(f, "SELECT count(*) FROM blob_chunks"), 2);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void test_job_needs_its_trace(void **state)
{
    fixture *f = *state;
    json_t *spec = json_pack("{s:s}", "trace", HASH);
    ft_store_job_create(f->store, spec, NULL, 0, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_NOT_FOUND);
    json_decref(spec);
    assert_int_equal(query(f, "SELECT count(*) FROM jobs"), 0);
}

static void test_plan(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *change = plan_job(f, job);
    assert_string_equal(text_of(change, "state"), "solving");
    assert_int_equal(number_of(change, "ready"), 3);
    assert_int_equal(number_of(change, "open"), 3);
    json_decref(change);
    json_t *snapshot = snapshot_of(f, job);
    const json_t *race = counts_of(snapshot, "race");
    assert_string_equal(text_of(snapshot, "model"), "maximal");
    assert_int_equal(number_of(race, "candidates"), 10);
    assert_int_equal(number_of(race, "safe"), 7);
    assert_int_equal(number_of(race, "violation"), 1);
    assert_int_equal(number_of(race, "pending"), 2);
    assert_int_equal(number_of(counts_of(snapshot, "atomicity"), "candidates"), 0);
    json_decref(snapshot);
}

static void test_plan_must_add_up(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 1), *plan = make_plan();
    json_object_set_new(json_object_get(plan, "candidates"), "race", json_integer(11));
    commit_plan(f, leased, plan);
    expect_error(&f->loop, &f->a, FT_INPUT);
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts"), 0);
    json_decref(leased);
}

/* A subproblem's number is its task's: none may be missing, doubled or out of turn. */
static void test_plan_must_count(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 1);
    for (int wrong = 0; wrong <= 2; wrong += 2) {
        json_t *plan = make_plan();
        json_t *second = json_array_get(json_object_get(plan, "subproblems"), 1);
        json_object_set_new(second, "subproblem", json_integer(wrong));
        commit_plan(f, leased, plan);
        expect_error(&f->loop, &f->a, FT_INPUT);
        assert_int_equal(query(f, "SELECT count(*) FROM entries"), 0);
    }
    commit_plan(f, leased, make_plan());
    json_decref(expect(&f->loop, &f->a));
    assert_int_equal(query(f, "SELECT last FROM jobs"), 3);
    json_decref(leased);
}

static void test_plan_without_subproblems(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 1);
    json_t *plan = json_pack("{s:s, s:{}, s:[], s:[]}", "model", "ctp", "candidates", "records",
                             "subproblems");
    commit_plan(f, leased, plan);
    json_t *change = expect(&f->loop, &f->a);
    assert_string_equal(text_of(change, "state"), "done");
    json_decref(change);
    json_decref(leased);
}

static void test_verdicts_finish_the_job(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 32);
    assert_int_equal(size_of(leased), 3);
    uint64_t token = token_of(leased);
    assert_true(commit(f, token, task_of(leased, 0), "race", "race|write-write|r0", "violation"));
    assert_true(commit(f, token, task_of(leased, 1), "race", "race|write-write|r1", "safe"));
    json_t *snapshot = snapshot_of(f, job);
    assert_string_equal(text_of(snapshot, "state"), "solving");
    json_decref(snapshot);
    assert_true(commit(f, token, task_of(leased, 2), "property", "property|before|p0", "safe"));
    snapshot = snapshot_of(f, job);
    assert_string_equal(text_of(snapshot, "state"), "done");
    assert_false(json_is_null(json_object_get(snapshot, "finished")));
    const json_t *race = counts_of(snapshot, "race");
    assert_int_equal(number_of(race, "violation"), 2);
    assert_int_equal(number_of(race, "safe"), 8);
    assert_null(json_object_get(race, "pending"));
    json_decref(snapshot);
    json_decref(leased);
}

static void test_record_must_be_of_its_task(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 32);
    json_t *wrong_key = record("race", "race|write-write|r1", "safe", 1);
    send_result(f->store, job, token_of(leased), task_of(leased, 0), wrong_key, &f->a);
    expect_error(&f->loop, &f->a, FT_INPUT);
    json_t *wrong_count = record("race", "race|write-write|r0", "safe", 2);
    send_result(f->store, job, token_of(leased), task_of(leased, 0), wrong_count, &f->a);
    expect_error(&f->loop, &f->a, FT_INPUT);
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts WHERE task IS NOT NULL"), 0);
    json_decref(wrong_key);
    json_decref(wrong_count);
    json_decref(leased);
}

/* ---- Fencing and recovery -------------------------------------------------------------------- */

static void test_one_verdict_per_task(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 1);
    assert_true(
        commit(f, token_of(leased), task_of(leased, 0), "race", "race|write-write|r0", "safe"));
    assert_false(commit(f, token_of(leased), task_of(leased, 0), "race", "race|write-write|r0",
                        "violation"));
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts WHERE task IS NOT NULL"), 1);
    json_decref(leased);
}

static void test_stale_token_is_fenced(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *first = lease(f, job, 1);
    json_decref(abandon(f, job, token_of(first), (ft_store_blame){.task = 0}));
    json_t *second = lease(f, job, 1);
    assert_int_equal(task_of(first, 0), task_of(second, 0));
    assert_true(token_of(second) > token_of(first));
    assert_false(
        commit(f, token_of(first), task_of(first, 0), "race", "race|write-write|r0", "safe"));
    assert_true(commit(f, token_of(second), task_of(second, 0), "race", "race|write-write|r0",
                       "violation"));
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts WHERE verdict = 'violation'"), 2);
    json_decref(first);
    json_decref(second);
}

static void test_recovery(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *old = lease(f, job, 2);
    assert_true(commit(f, token_of(old), task_of(old, 0), "race", "race|write-write|r0", "safe"));
    reopen(f);
    ft_store_jobs_open(f->store, on_answer, &f->a);
    json_t *open = expect(&f->loop, &f->a);
    const json_t *row = json_array_get(json_object_get(open, "jobs"), 0);
    assert_string_equal(text_of(row, "job"), job);
    assert_int_equal(number_of(row, "ready"), 2);
    assert_int_equal(number_of(row, "open"), 2);
    assert_false(commit(f, token_of(old), task_of(old, 1), "race", "race|write-write|r1", "safe"));
    json_t *again = lease(f, job, 32);
    assert_int_equal(size_of(again), 2);
    assert_int_equal(task_of(again, 0), task_of(old, 1));
    assert_true(token_of(again) > token_of(old));
    json_decref(open);
    json_decref(old);
    json_decref(again);
}

static void test_recovery_of_a_plan(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_decref(lease(f, job, 1));
    reopen(f);
    json_t *snapshot = snapshot_of(f, job);
    assert_string_equal(text_of(snapshot, "state"), "queued");
    json_decref(snapshot);
    json_decref(plan_job(f, job));
}

static void test_expired_lease_is_released(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    ft_store_lease(f->store, job, (ft_store_leasing){3, 0, 0}, on_answer, &f->a);
    json_t *first = read_tasks(expect(&f->loop, &f->a)), *second = NULL;
    /* A lease of no length is over with the next millisecond. */
    do {
        json_decref(second);
        second = lease(f, job, 3);
    } while (size_of(second) == 0);
    assert_int_equal(size_of(second), 3);
    assert_true(token_of(second) > token_of(first));
    json_decref(first);
    json_decref(second);
}

/* ---- Giving up ------------------------------------------------------------------------------- */

static void test_poison(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    for (int death = 1; death <= 3; death++) {
        json_t *leased = lease(f, job, death == 1 ? 3 : 1);
        assert_int_equal(size_of(leased), death == 1 ? 3 : 1);
        ft_store_blame blame = {.task = task_of(leased, 0),
                                .limit = 3,
                                .verdict = FT_VERDICT_ERROR,
                                .reason = FT_REASON_WORKER_DIED,
                                .text = "it died"};
        json_t *change = abandon(f, job, token_of(leased), blame);
        assert_int_equal(json_is_true(json_object_get(change, "poisoned")), death == 3);
        assert_int_equal(number_of(change, "ready"), death == 3 ? 2 : 3);
        json_decref(change);
        json_decref(leased);
    }
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts WHERE verdict = 'error'"), 1);
    assert_int_equal(query(f, "SELECT count(*) FROM tasks WHERE state = 'poisoned'"), 1);
    /* The others of the batch are leased alone from now on. */
    json_t *leased = lease(f, job, 32);
    assert_int_equal(size_of(leased), 1);
    json_decref(leased);
    json_t *report = report_of(f, job, (ft_store_filter){0}, (ft_store_page){0});
    json_t *its = listed(report, "undecided", 0);
    assert_string_equal(text_of(its, "key"), "race|write-write|r0");
    assert_string_equal(text_of(its, "kind"), "write-write");
    assert_string_equal(text_of(its, "model"), "maximal");
    assert_int_equal(number_of(its, "count"), 1);
    assert_int_equal(number_of(its, "pairs"), 4);
    const json_t *reason = json_object_get(its, "reason");
    assert_string_equal(text_of(reason, "pass"), "worker-died");
    assert_string_equal(text_of(reason, "text"), "it died");
    json_decref(its);
    json_decref(report);
}

static void test_poisoned_plan(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 1);
    ft_store_blame blame = {.task = task_of(leased, 0),
                            .limit = 1,
                            .verdict = FT_VERDICT_ERROR,
                            .reason = FT_REASON_WORKER_DIED,
                            .text = "boom"};
    json_t *change = abandon(f, job, token_of(leased), blame);
    assert_string_equal(text_of(change, "state"), "failed");
    json_t *snapshot = snapshot_of(f, job);
    assert_non_null(strstr(text_of(json_object_get(snapshot, "error"), "message"), "boom"));
    json_decref(snapshot);
    json_decref(change);
    json_decref(leased);
}

static void test_expire(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 1);
    ft_store_job_expire(f->store, job, "no time", on_answer, &f->a);
    json_t *change = expect(&f->loop, &f->a);
    assert_string_equal(text_of(change, "state"), "done");
    assert_int_equal(number_of(change, "open"), 0);
    assert_false(commit(f, token_of(leased), task_of(leased, 0), "race", "race|write-write|r0",
                        "violation"));
    json_t *snapshot = snapshot_of(f, job);
    assert_int_equal(number_of(counts_of(snapshot, "race"), "unknown"), 2);
    assert_int_equal(number_of(counts_of(snapshot, "property"), "unknown"), 1);
    json_decref(snapshot);
    json_decref(change);
    json_decref(leased);
}

static void test_cancel(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *leased = lease(f, job, 1);
    for (int time = 0; time < 2; time++) {
        ft_store_job_cancel(f->store, job, on_answer, &f->a);
        json_t *change = expect(&f->loop, &f->a);
        assert_string_equal(text_of(change, "state"), "cancelled");
        assert_int_equal(json_is_true(json_object_get(change, "applied")), time == 0);
        json_decref(change);
    }
    assert_false(
        commit(f, token_of(leased), task_of(leased, 0), "race", "race|write-write|r0", "safe"));
    json_decref(leased);
    leased = lease(f, job, 32);
    assert_int_equal(size_of(leased), 0);
    json_decref(leased);
    ft_store_job_cancel(f->store, "0123456789abcdef", on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_NOT_FOUND);
}

/* ---- State tables ---------------------------------------------------------------------------- */

static void test_states(void **state)
{
    (void)state;
    assert_true(ft_job_state_may(FT_JOB_QUEUED, FT_JOB_PLANNING));
    assert_true(ft_job_state_may(FT_JOB_PLANNING, FT_JOB_DONE));
    assert_false(ft_job_state_may(FT_JOB_QUEUED, FT_JOB_DONE));
    for (int from = 0; from < FT_JOB_STATES; from++)
        for (int to = 0; to < FT_JOB_STATES; to++)
            if (ft_job_state_final((ft_job_state)from))
                assert_false(ft_job_state_may((ft_job_state)from, (ft_job_state)to));
    assert_true(ft_task_state_may(FT_TASK_LEASED, FT_TASK_READY));
    assert_false(ft_task_state_may(FT_TASK_READY, FT_TASK_DONE));
    assert_false(ft_task_state_may(FT_TASK_DONE, FT_TASK_READY));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_migrations),
        TEST(test_newer_schema_refused),
        TEST(test_chunks),
        TEST(test_same_content_is_stored_once),
        TEST(test_incomplete_blob),
        TEST(test_failure_in_a_group),
        TEST(test_job_needs_its_trace),
        TEST(test_plan),
        TEST(test_plan_must_add_up),
        TEST(test_plan_must_count),
        TEST(test_plan_without_subproblems),
        TEST(test_verdicts_finish_the_job),
        TEST(test_record_must_be_of_its_task),
        TEST(test_one_verdict_per_task),
        TEST(test_stale_token_is_fenced),
        TEST(test_recovery),
        TEST(test_recovery_of_a_plan),
        TEST(test_expired_lease_is_released),
        TEST(test_poison),
        TEST(test_poisoned_plan),
        TEST(test_expire),
        TEST(test_cancel),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
