/* The dispatcher against workers that misbehave: service/fake_worker.h. */
#include "dispatch_support.h"

/* ---- Uploads --------------------------------------------------------------------------------- */

static void test_upload(void **state)
{
    fixture *f = *state;
    stored s = upload_text(f, "good");
    assert_false(s.failed);
    assert_true(s.created);
    assert_string_equal(s.trace, f->hash);
    s = upload_text(f, "good");
    assert_false(s.failed);
    assert_false(s.created);
}

static void test_bad_upload(void **state)
{
    fixture *f = *state;
    stored s = upload_text(f, "bad trace");
    assert_true(s.failed);
    assert_int_equal(s.err.code, FT_INPUT);
    assert_int_equal(s.err.line, 3);
    assert_int_equal(s.err.column, 7);
    ft_store_trace(f->store, f->hash, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_NOT_FOUND);
}

static void test_same_upload_twice_at_once(void **state)
{
    fixture *f = *state;
    stored one = {.done = false}, two = {.done = false};
    upload(f, "good", 4, &one);
    upload(f, "good", 4, &two);
    run_until(&f->loop, &one.done);
    run_until(&f->loop, &two.done);
    assert_false(one.failed || two.failed);
    assert_true(one.created && !two.created);
    json_t *metrics = ft_dispatch_metrics(f->dispatch);
    assert_int_equal(number_of(metrics, "ingests"), 1);
    json_decref(metrics);
}

typedef struct piece {
    bool done, last;
    ft_strbuf *into;
} piece;

static void on_piece(void *data, const ft_error *err, const void *bytes, size_t length, bool last)
{
    piece *p = data;
    assert_null(err);
    ft_strbuf_add(p->into, bytes, length);
    p->done = true;
    p->last = last;
}

/* Larger than a frame, a row and the rows that may wait for the store together. */
static void upload_large(fixture *f, const char *first)
{
    size_t length = 9 * FT_STORE_CHUNK + 17;
    char *bytes = ft_alloc(length);
    for (size_t i = 0; i < length; i++) bytes[i] = (char)('a' + i % 23);
    memcpy(bytes, first, strlen(first));
    stored s = {.done = false};
    upload(f, bytes, length, &s);
    run_until(&f->loop, &s.done);
    if (s.failed) fail_msg("%s", s.err.message);
    ft_strbuf back = {0};
    piece p = {.into = &back};
    for (uint32_t seq = 0; !p.last; seq++) {
        p.done = false;
        ft_store_trace_chunk(f->store, f->hash, seq, on_piece, &p);
        run_until(&f->loop, &p.done);
    }
    assert_int_equal(back.len, length);
    assert_memory_equal(back.text, bytes, length);
    ft_strbuf_release(&back);
    free(bytes);
}

static void test_large_upload(void **state)
{
    upload_large(*state, "large");
}

/* What a worker wants from its beginning is given so, and what it had made of it is not kept. */
static void test_upload_again(void **state)
{
    fixture *f = *state;
    upload_large(f, "again");
    upload_large(f, "again-early");
    stored s = upload_text(f, "again, short");
    if (s.failed) fail_msg("%s", s.err.message);
    s = upload_text(f, "again-twice");
    assert_true(s.failed);
    assert_int_equal(s.err.code, FT_INTERNAL);
    assert_false(upload_text(f, "good").failed);
}

static void test_upload_survives_a_death(void **state)
{
    fixture *f = *state;
    stored s = upload_text(f, "crash-once");
    if (s.failed) fail_msg("%s", s.err.message);
    assert_true(s.created);
}

static void test_upload_that_kills(void **state)
{
    static const struct {
        const char *text;
        ft_status status;
    } CASES[] = {{"crash", FT_INTERNAL}, {"memory", FT_LIMIT}, {"junk", FT_INTERNAL}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        stored s = upload_text(f, CASES[i].text);
        assert_true(s.failed);
        assert_string_equal(ft_status_name(s.err.code), ft_status_name(CASES[i].status));
    }
    assert_false(upload_text(f, "good").failed);
}

static void test_upload_out_of_time(void **state)
{
    fixture *f = *state;
    set_option(f, "ingest-ms", "1000");
    stored s = upload_text(f, "hang");
    assert_true(s.failed);
    assert_int_equal(s.err.code, FT_BUDGET);
}

static void test_forgotten_upload(void **state)
{
    fixture *f = *state;
    stored s = {.done = false};
    ft_dispatch_ingest_forget(upload(f, "good", 4, &s));
    stored other = upload_text(f, "good, too");
    assert_false(other.failed);
    while (upload_text(f, "good").created) fail_msg("the forgotten upload was not stored");
    assert_false(s.done);
}

static void test_uploads_are_limited(void **state)
{
    fixture *f = *state;
    stored one = {.done = false}, two = {.done = false};
    set_option(f, "max-ingests", "1");
    upload(f, "one", 3, &one);
    upload(f, "two", 3, &two);
    assert_false(two.done);
    run_until(&f->loop, &two.done);
    assert_int_equal(two.err.code, FT_BUDGET);
    run_until(&f->loop, &one.done);
    assert_false(one.failed);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void test_job(void **state)
{
    check_job(*state, "safe violation safe", NULL, (tally){.safe = 2, .violation = 1});
    check_job(*state, "", NULL, (tally){.safe = 0});
}

static void test_many_tasks(void **state)
{
    ft_strbuf script = {0};
    for (int i = 0; i < 300; i++) ft_strbuf_puts(&script, i % 3 ? "safe " : "violation ");
    check_job(*state, script.text, NULL, (tally){.safe = 200, .violation = 100});
    ft_strbuf_release(&script);
    /* Far fewer requests than tasks: batches grow. */
    assert_true(metric(*state, "batches") < 100);
}

static void test_death_in_a_batch(void **state)
{
    static const char *const WAYS[] = {"crash-once",     "exit-once",  "killed-once", "memory-once",
                                       "junk-once",      "close-once", "twice-once",  "stale-once",
                                       "other-key-once", "call-once"};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        ft_strbuf script = {0};
        ft_strbuf_printf(&script, "violation safe safe safe safe safe %s safe violation safe",
                         WAYS[i]);
        check_job(f, script.text, NULL, (tally){.safe = 8, .violation = 2});
        ft_strbuf_release(&script);
    }
    assert_true(metric(f, "worker_deaths") >= (int64_t)(sizeof WAYS / sizeof *WAYS) - 1);
}

/* A task that takes longer than its lease stays its worker's while the worker lives. */
static void test_leases_are_renewed(void **state)
{
    fixture *f = *state;
    close_server(f);
    set_option(f, "lease-ms", "200");
    open_server(f);
    check_job(f, "slow brief brief safe", NULL, (tally){.safe = 4});
    assert_int_equal(metric(f, "results_fenced"), 0);
    assert_int_equal(metric(f, "verdicts_committed"), 4);
    assert_int_equal(metric(f, "batches"), 5); /* the plan, and each task once */
}

static void test_poison(void **state)
{
    fixture *f = *state;
    check_job(f, "safe safe crash safe violation", NULL,
              (tally){.safe = 3, .violation = 1, .error = 1});
    assert_int_equal(metric(f, "tasks_poisoned"), 1);
    assert_int_equal(metric(f, "worker_deaths"), 3);
    check_job(f, "safe call violation", NULL, (tally){.safe = 1, .violation = 1, .error = 1});
    assert_int_equal(metric(f, "tasks_poisoned"), 2);
    assert_int_equal(metric(f, "worker_deaths"), 5);
}

static void test_poison_by_killing(void **state)
{
    check_job(*state, "safe killed", NULL, (tally){.safe = 1, .error = 1});
    assert_int_equal(metric(*state, "worker_deaths"), 10);
}

static void test_poison_by_memory(void **state)
{
    check_job(*state, "safe memory", NULL, (tally){.safe = 1, .unknown = 1});
}

static void test_poison_by_junk(void **state)
{
    check_job(*state, "junk safe", NULL, (tally){.safe = 1, .error = 1});
    assert_int_equal(metric(*state, "worker_malformed"), 3);
}

/* It costs the task that it was for, and no other. */
static void test_poison_by_too_much(void **state)
{
    check_job(*state, "safe flood violation", NULL, (tally){.safe = 1, .violation = 1, .error = 1});
    assert_int_equal(metric(*state, "worker_malformed"), 3);
    check_job(*state, "violation safe announce", NULL,
              (tally){.safe = 1, .violation = 1, .error = 1});
    assert_int_equal(metric(*state, "worker_malformed"), 6);
    assert_int_equal(metric(*state, "tasks_poisoned"), 2);
}

static void test_refused_task(void **state)
{
    check_job(*state, "safe refuse safe", NULL, (tally){.safe = 2, .error = 1});
    assert_int_equal(metric(*state, "worker_deaths"), 0);
}

static void test_hang_is_unknown_at_once(void **state)
{
    check_job(*state, "safe hang safe", limits(300, 60000), (tally){.safe = 2, .unknown = 1});
    assert_int_equal(metric(*state, "worker_timeouts"), 1);
}

static void test_job_out_of_time(void **state)
{
    check_job(*state, "safe hang hang hang", limits(60000, 700), (tally){.safe = 1, .unknown = 3});
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void check_failed_plan(fixture *f, const char *does, json_t *members, const char *code,
                              const char *words)
{
    char id[17];
    json_t *spec = json_pack("{s:s}", "plan_does", does);
    json_object_update(spec, members);
    json_decref(members);
    upload_text(f, "good");
    create_job(f, "safe", spec, id);
    json_t *snapshot = wait_for(f, id);
    const json_t *error = json_object_get(snapshot, "error");
    assert_string_equal(text_of(snapshot, "state"), "failed");
    assert_string_equal(text_of(error, "code"), code);
    if (!strstr(text_of(error, "message"), words)) fail_msg("%s", text_of(error, "message"));
    json_decref(snapshot);
}

static void test_failed_plan(void **state)
{
    check_failed_plan(*state, "fail", json_object(), "usage", "no such location");
    check_failed_plan(*state, "crash", json_object(), "internal", "crashed");
    check_failed_plan(*state, "call", json_object(), "internal", "made a forbidden system call");
    check_failed_plan(*state, "miscount", json_object(), "internal", "add up");
    check_failed_plan(*state, "cut", json_object(), "internal", "another length");
    check_failed_plan(*state, "hang", limits(100, 300), "budget-exhausted", "300 ms");
}

/* It costs that attempt: what another worker plans is taken. */
static void test_plan_of_too_much(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    create_job(f, "safe violation", json_pack("{s:s}", "plan_does", "flood-once"), id);
    json_t *snapshot = wait_for(f, id), *deaths = json_object_get(snapshot, "deaths");
    const json_t *death = json_array_get(deaths, 0);
    assert_string_equal(text_of(snapshot, "state"), "done");
    assert_int_equal(json_array_size(deaths), 1);
    assert_string_equal(text_of(death, "death"), "malformed");
    if (!strstr(text_of(death, "message"), "a plan of more than 256 MiB"))
        fail_msg("%s", text_of(death, "message"));
    assert_int_equal(metric(f, "worker_malformed"), 1);
    json_decref(snapshot);
}

static void test_plan_again(void **state)
{
    check_job(*state, "safe", json_pack("{s:s}", "plan_does", "crash-once"), (tally){.safe = 1});
}

/* ---- Cancelling, restarting, sharing --------------------------------------------------------- */

static void test_cancel(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    waiting w = {.ended = false};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_changed, &w);
    create_job(f, "hang hang hang", NULL, id);
    run_until(&f->loop, &w.solving);
    uint64_t asked = uv_hrtime();
    ft_dispatch_job_cancel(f->dispatch, id, on_answer, &f->a);
    json_t *change = expect(&f->loop, &f->a);
    assert_string_equal(text_of(change, "state"), "cancelled");
    json_decref(change);
    ft_dispatch_unwatch(watch);
    /* Its workers are free for another job. */
    check_job(f, "safe safe", NULL, (tally){.safe = 2});
    assert_true(uv_hrtime() - asked < 5000000000);
    ft_dispatch_job_cancel(f->dispatch, "0123456789abcdef", on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_NOT_FOUND);
}

static void on_file(uv_fs_event_t *event, const char *name, int events, int status)
{
    (void)events;
    (void)status;
    bool *seen = event->data;
    *seen = *seen || (name && strncmp(name, "mark-", 5) == 0);
}

/* The server stops while a worker is in the middle of a batch, and starts again. */
static void test_restart_continues(void **state)
{
    fixture *f = *state;
    char id[17];
    bool marked = false;
    uv_fs_event_t event = {.data = &marked};
    upload_text(f, "good");
    uv_fs_event_init(&f->loop, &event);
    uv_fs_event_start(&event, on_file, f->folder, 0);
    create_job(f, "safe violation hang-once safe", NULL, id);
    run_until(&f->loop, &marked);
    uv_close((uv_handle_t *)&event, NULL);
    close_server(f);
    open_server(f);
    json_t *snapshot = wait_for(f, id);
    const json_t *race = json_object_get(json_object_get(snapshot, "checks"), "race");
    assert_string_equal(text_of(snapshot, "state"), "done");
    assert_int_equal(number_of(race, "violation"), 1);
    assert_int_equal(number_of(race, "safe"), 3);
    json_decref(snapshot);
}

/* Where other nodes may be the reason, a store waits for longer than this test. */
static void on_tick(uv_timer_t *timer)
{
    static unsigned ticks;
    fixture *f = timer->data;
    bool seen = ft_store_is_shared(f->store) ? ++ticks > 200 : metric(f, "store_errors") > 0;
    if (seen) uv_close((uv_handle_t *)timer, NULL);
}

/* Nobody else can write until the transaction ends. */
static void hold_all(ft_sql *sql)
{
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_sql_begin(sql, &err);
    if (status == FT_OK)
        status = ft_sql_script(
            sql, FT_DIALECTS("SELECT 1", "LOCK TABLE jobs, nodes IN ACCESS EXCLUSIVE MODE"), &err);
    if (status != FT_OK) fail_msg("%s", err.message);
}

/* Somebody holds the database for longer than the store waits, in the middle of a job. What could
 * not be written is tried again: nothing is lost, nothing counted twice. */
static void test_store_fails_for_a_while(void **state)
{
    fixture *f = *state;
    char id[17];
    ft_strbuf script = {0};
    ft_sql other;
    uv_timer_t tick = {.data = f};
    for (int i = 0; i < 40; i++) ft_strbuf_puts(&script, "violation safe ");
    upload_text(f, "good");
    waiting w = {.ended = false};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_changed, &w);
    create_job(f, script.text, NULL, id);
    run_until(&f->loop, &w.solving);
    open_at(f->place, &other);
    hold_all(&other);
    uv_timer_init(&f->loop, &tick);
    uv_timer_start(&tick, on_tick, 1, 1);
    while (!uv_is_closing((uv_handle_t *)&tick)) uv_run(&f->loop, UV_RUN_ONCE);
    assert_false(w.ended);
    ft_sql_rollback(&other);
    ft_sql_close(&other);
    run_until(&f->loop, &w.ended);
    ft_dispatch_unwatch(watch);
    json_t *snapshot = snapshot_of(f, id);
    const json_t *race = json_object_get(json_object_get(snapshot, "checks"), "race");
    assert_int_equal(number_of(race, "violation"), 40);
    assert_int_equal(number_of(race, "safe"), 40);
    json_decref(snapshot);
    ft_strbuf_release(&script);
}

/* A job whose tasks never end must not keep another one from its turn. */
static void test_fair(void **state)
{
    fixture *f = *state;
    char slow[17];
    upload_text(f, "good");
    create_job(f, "hang hang hang hang hang hang", limits(500, 60000), slow);
    check_job(f, "safe safe safe", NULL, (tally){.safe = 3});
    json_t *snapshot = snapshot_of(f, slow);
    assert_string_not_equal(text_of(snapshot, "state"), "done");
    json_decref(snapshot);
    json_decref(wait_for(f, slow));
}

/* Somebody waits for an ingest: it does not queue behind solving. */
static void test_ingest_beside_solving(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    waiting w = {.ended = false};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_changed, &w);
    create_job(f, "hang hang hang hang", NULL, id);
    run_until(&f->loop, &w.solving);
    ft_dispatch_unwatch(watch);
    stored s = upload_text(f, "another");
    assert_false(s.failed);
    json_t *snapshot = snapshot_of(f, id);
    assert_string_equal(text_of(snapshot, "state"), "solving");
    json_decref(snapshot);
}

static void test_jobs_are_limited(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    set_option(f, "max-jobs", "1");
    create_job(f, "hang", NULL, id);
    json_t *spec = make_spec(f, "safe", NULL);
    ft_dispatch_job_create(f->dispatch, spec, NULL, on_answer, &f->a);
    assert_false(f->a.done);
    expect_error(&f->loop, &f->a, FT_BUDGET);
    json_decref(spec);
}

static void test_workers_are_listed(void **state)
{
    fixture *f = *state;
    check_job(f, "safe", NULL, (tally){.safe = 1});
    json_t *workers = ft_dispatch_workers(f->dispatch);
    assert_int_equal(json_array_size(workers), 3);
    assert_string_equal(text_of(json_array_get(workers, 0), "role"), "solve");
    assert_string_equal(text_of(json_array_get(workers, 2), "role"), "ingest");
    json_decref(workers);
    assert_true(ft_dispatch_ready(f->dispatch));
}

static void test_missing_worker(void **state)
{
    (void)state;
    uv_loop_t loop;
    ft_config config;
    ft_dispatch *dispatch = NULL;
    ft_error err = FT_ERROR_INIT;
    uv_loop_init(&loop);
    ft_config_init(&config);
    assert_int_equal(ft_config_set(&config, "worker", "/nonexistent/worker", &err), FT_OK);
    assert_int_equal(ft_dispatch_open(&loop, &config, NULL, &dispatch, &err), FT_IO);
    assert_non_null(strstr(err.message, "/nonexistent/worker"));
    ft_config_release(&config);
    assert_int_equal(uv_loop_close(&loop), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const char *folder = getenv(FAKE_WORKER_ENVIRONMENT);
    if (folder) return fake_worker_main(folder);
    const struct CMUnitTest tests[] = {
        TEST(test_upload),
        TEST(test_bad_upload),
        TEST(test_same_upload_twice_at_once),
        TEST(test_large_upload),
        TEST(test_upload_again),
        TEST(test_upload_survives_a_death),
        TEST(test_upload_that_kills),
        TEST(test_upload_out_of_time),
        TEST(test_forgotten_upload),
        TEST(test_uploads_are_limited),
        TEST(test_job),
        TEST(test_many_tasks),
        TEST(test_death_in_a_batch),
        TEST(test_leases_are_renewed),
        TEST(test_poison),
        TEST(test_poison_by_killing),
        TEST(test_poison_by_memory),
        TEST(test_poison_by_junk),
        TEST(test_poison_by_too_much),
        TEST(test_refused_task),
        TEST(test_hang_is_unknown_at_once),
        TEST(test_job_out_of_time),
        TEST(test_failed_plan),
        TEST(test_plan_of_too_much),
        TEST(test_plan_again),
        TEST(test_cancel),
        TEST(test_restart_continues),
        TEST(test_store_fails_for_a_while),
        TEST(test_fair),
        TEST(test_ingest_beside_solving),
        TEST(test_jobs_are_limited),
        TEST(test_workers_are_listed),
        cmocka_unit_test(test_missing_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
