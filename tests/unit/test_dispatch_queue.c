/* The dispatcher's queue: fairness in tasks (not in seconds), priorities, limits, stealing,
 * budgets, signs of life, evidence. */
#include "dispatch_support.h"

static json_t *project(const char *name)
{
    return json_pack("{s:s}", "project", name);
}

static char *repeated(const char *word, int times)
{
    ft_strbuf script = {0};
    for (int i = 0; i < times; i++) ft_strbuf_printf(&script, "%s ", word);
    return ft_strbuf_take(&script);
}

static void restart(fixture *f, const char *name, const char *value)
{
    close_server(f);
    set_option(f, name, value);
    open_server(f);
}

static void change_database(const fixture *f, const char *sql)
{
    change_at(f->place, sql);
}

static bool is_done(fixture *f, const char *job)
{
    json_t *snapshot = snapshot_of(f, job);
    bool done = is_final(snapshot);
    json_decref(snapshot);
    return done;
}

/* The last undecided record of a job; new reference. */
static json_t *undecided(fixture *f, const char *job)
{
    json_t *report = report_of(f, job), *list = json_object_get(report, "undecided");
    json_t *record = json_incref(json_array_get(list, json_array_size(list) - 1));
    json_decref(report);
    assert_non_null(record);
    return record;
}

/* ---- Fairness -------------------------------------------------------------------------------- */

typedef struct count {
    fixture *f;
    int64_t verdicts;
    bool reached;
} count;

static void on_count(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)job;
    (void)revision;
    (void)state;
    count *c = data;
    c->reached = c->reached || metric(c->f, "verdicts_committed") >= c->verdicts;
}

static void await_verdicts(fixture *f, int64_t verdicts)
{
    count c = {f, verdicts, metric(f, "verdicts_committed") >= verdicts};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_count, &c);
    run_until(&f->loop, &c.reached);
    ft_dispatch_unwatch(watch);
}

/* One job of a project beside many of another: it waits for the batches that are under way, not for
 * the queue. Measured in verdicts of the others between its creation and its end. With
 * FT_LONG set: a thousand jobs. */
static void test_many_jobs_starve_nobody(void **state)
{
    enum { TASKS = 20, BATCH = 32, WORKERS = 2, TURNS = 3 };
    fixture *f = *state;
    int jobs = getenv("FT_LONG") ? 990 : 60;
    char id[17], *script = repeated("safe", TASKS);
    upload_text(f, "good");
    for (int i = 0; i < jobs; i++) create_job(f, script, project("crowd"), id);
    await_verdicts(f, 50);
    int64_t before = metric(f, "verdicts_committed");
    create_job(f, "safe safe safe", project("lone"), id);
    json_decref(wait_for(f, id));
    int64_t others = metric(f, "verdicts_committed") - before - 3;
    if (getenv("FT_LONG")) printf("tasks of others meanwhile: %lld\n", (long long)others);
    assert_true(others <= TURNS * WORKERS * BATCH);
    assert_true(metric(f, "jobs_active") > 0);
    free(script);
}

/* In one project what has the higher priority goes first, whatever came before it. */
static void test_priorities(void **state)
{
    fixture *f = *state;
    char low[4][17], high[17];
    restart(f, "workers", "1");
    upload_text(f, "good");
    char *script = repeated("safe", 40);
    for (int i = 0; i < 4; i++) create_job(f, script, json_pack("{s:i}", "priority", -1), low[i]);
    create_job(f, script, json_pack("{s:i}", "priority", 5), high);
    json_decref(wait_for(f, high));
    int done = 0;
    for (int i = 0; i < 4; i++) done += is_done(f, low[i]);
    assert_true(done <= 1);
    for (int i = 0; i < 4; i++) json_decref(wait_for(f, low[i]));
    free(script);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static unsigned busy_for(const fixture *f, const char *job)
{
    unsigned busy = 0;
    size_t i;
    json_t *worker, *workers = ft_dispatch_workers(f->dispatch);
    json_array_foreach(workers, i, worker) busy += strcmp(text_of(worker, "job"), job) == 0;
    json_decref(workers);
    return busy;
}

typedef struct most_busy {
    fixture *f;
    const char *job;
    unsigned most;
} most_busy;

static void on_busy(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)job;
    (void)revision;
    (void)state;
    most_busy *m = data;
    unsigned busy = busy_for(m->f, m->job);
    if (busy > m->most) m->most = busy;
}

static void test_workers_of_a_project(void **state)
{
    fixture *f = *state;
    char id[17];
    restart(f, "project-workers", "1");
    upload_text(f, "good");
    most_busy m = {f, id, 0};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_busy, &m);
    create_job(f, "brief brief brief brief", project("a"), id);
    check_job(f, "brief safe", project("b"), (tally){.safe = 2});
    json_decref(wait_for(f, id));
    ft_dispatch_unwatch(watch);
    assert_int_equal(m.most, 1);
}

static void refuse_job(fixture *f, const char *name, const char *words)
{
    json_t *spec = make_spec(f, "safe", project(name));
    ft_dispatch_job_create(f->dispatch, spec, NULL, on_answer, &f->a);
    json_decref(spec);
    run_until(&f->loop, &f->a.done);
    assert_true(f->a.failed);
    assert_int_equal(f->a.err.code, FT_BUDGET);
    if (!strstr(f->a.err.message, words)) fail_msg("%s", f->a.err.message);
    f->a = (answer){.done = false};
}

static void test_jobs_of_a_project(void **state)
{
    fixture *f = *state;
    char id[17];
    set_option(f, "project-jobs", "1");
    upload_text(f, "good");
    create_job(f, "hang", project("a"), id);
    refuse_job(f, "a", "project a has 1 jobs");
    check_job(f, "safe", project("b"), (tally){.safe = 1});
}

/* The day's time is spent: what is open ends as unknown, and nothing new begins. */
static void test_time_of_a_project(void **state)
{
    fixture *f = *state;
    char id[17];
    restart(f, "project-seconds", "1");
    upload_text(f, "good");
    create_job(f, "safe hang hang", project("a"), id);
    json_decref(wait_for(f, id));
    json_t *record = undecided(f, id);
    const json_t *reason = json_object_get(record, "reason");
    assert_string_equal(text_of(record, "verdict"), "unknown");
    assert_string_equal(text_of(reason, "pass"), "budget");
    assert_non_null(strstr(text_of(reason, "text"), "the project has used its 1 s"));
    json_decref(record);
    refuse_job(f, "a", "for today");
    check_job(f, "safe", project("b"), (tally){.safe = 1});
}

/* ---- Stealing -------------------------------------------------------------------------------- */

/* A worker stays behind with a long task: what it has not begun goes to the other one, each verdict
 * once. */
static void test_a_slow_worker_gives(void **state)
{
    fixture *f = *state;
    ft_strbuf script = {0};
    for (int i = 0; i < 90; i++) ft_strbuf_puts(&script, "safe ");
    ft_strbuf_puts(&script, "slow brief brief brief safe safe safe safe safe safe safe safe");
    check_job(f, script.text, NULL, (tally){.safe = 102});
    assert_true(metric(f, "steals") > 0);
    assert_int_equal(metric(f, "verdicts_committed"), 102);
    assert_int_equal(metric(f, "worker_deaths"), 0);
    ft_strbuf_release(&script);
}

/* ---- Signs of life --------------------------------------------------------------------------- */

static void test_silent_and_slow(void **state)
{
    fixture *f = *state;
    restart(f, "silence-ms", "500");
    check_job(f, "toil safe", NULL, (tally){.safe = 2});
    assert_int_equal(metric(f, "worker_deaths"), 0);
    check_job(f, "safe hang-once safe", NULL, (tally){.safe = 3});
    assert_int_equal(metric(f, "worker_deaths"), 1);
    assert_int_equal(metric(f, "worker_timeouts"), 0);
}

static void test_evidence(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    create_job(f, "safe words safe", NULL, id);
    json_decref(wait_for(f, id));
    json_t *record = undecided(f, id), *deaths = json_object_get(record, "deaths"), *death;
    size_t i;
    assert_string_equal(text_of(record, "verdict"), "error");
    assert_int_equal(json_array_size(deaths), 3);
    json_array_foreach(deaths, i, death)
    {
        assert_int_equal(number_of(death, "attempt"), i + 1);
        assert_string_equal(text_of(death, "death"), "crashed");
        assert_non_null(strstr(text_of(death, "message"), "signal 11"));
        assert_non_null(strstr(text_of(death, "log"), "assertion failed: order is total"));
        assert_true(number_of(death, "pid") > 0 && number_of(death, "worker") < 2);
    }
    json_decref(record);
}

/* ---- Budgets --------------------------------------------------------------------------------- */

static void test_memory_of_a_job(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    create_job(f, "safe grow safe", json_pack("{s:{s:i}}", "budget", "memory_mb", 100), id);
    json_decref(wait_for(f, id));
    json_t *record = undecided(f, id);
    const json_t *last = json_array_get(json_object_get(record, "deaths"), 1);
    assert_string_equal(text_of(record, "verdict"), "unknown");
    assert_string_equal(text_of(json_object_get(record, "reason"), "pass"), "budget");
    assert_string_equal(text_of(last, "death"), "out-of-memory");
    assert_non_null(strstr(text_of(last, "message"), "exceeded the budget of 100 MiB"));
    json_decref(record);
}

static void on_time(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
    uv_close((uv_handle_t *)timer, NULL);
}

static void let_pass(fixture *f, uint64_t ms)
{
    bool passed = false;
    uv_timer_t timer = {.data = &passed};
    uv_timer_init(&f->loop, &timer);
    uv_timer_start(&timer, on_time, ms, 0);
    run_until(&f->loop, &passed);
}

/* What a job had of its time it has had, whatever the server did since. */
static void test_job_time_survives_a_restart(void **state)
{
    fixture *f = *state;
    char id[17];
    upload_text(f, "good");
    waiting w = {.ended = false};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_changed, &w);
    create_job(f, "safe hang", limits(600000, 600000), id);
    run_until(&f->loop, &w.solving);
    ft_dispatch_unwatch(watch);
    let_pass(f, 300);
    close_server(f);
    open_server(f);
    ft_store_jobs_open(f->store, on_answer, &f->a);
    json_t *open = expect(&f->loop, &f->a);
    int64_t spent = number_of(json_array_get(json_object_get(open, "jobs"), 0), "spent_ms");
    json_decref(open);
    assert_true(spent >= 250 && spent < 60000);
    close_server(f);
    change_database(f, "UPDATE jobs SET spent_ms = 599990");
    open_server(f);
    json_decref(wait_for(f, id));
    json_t *record = undecided(f, id);
    assert_non_null(strstr(text_of(json_object_get(record, "reason"), "text"), "600000 ms"));
    json_decref(record);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

/* The only worker is deep in a task; a second after the cancelling it has done another job. */
/* A result that cannot be stored is done anew, but not again and again at once. */
static void test_a_failing_store_is_given_time(void **state)
{
    fixture *f = *state;
    char job[17];
    change_database(f, FT_DIALECTS("CREATE TRIGGER no BEFORE INSERT ON verdicts WHEN NEW.task IS "
                                   "NOT NULL BEGIN SELECT RAISE(ABORT, 'no'); END",
                                   "ALTER TABLE verdicts ADD CONSTRAINT no CHECK (task IS NULL)"));
    upload_text(f, "good");
    create_job(f, "safe", NULL, job);
    let_pass(f, 3000);
    int64_t batches = metric(f, "batches");
    assert_in_range(batches, 2, 8); /* the plan, then after 0, 0.5, 1.5, ... seconds */
    assert_false(is_done(f, job));
    change_database(f, FT_DIALECTS("DROP TRIGGER no", "ALTER TABLE verdicts DROP CONSTRAINT no"));
    json_t *snapshot = wait_for(f, job);
    assert_string_equal(text_of(snapshot, "state"), "done");
    json_decref(snapshot);
}

static void test_cancelling_frees_within_a_second(void **state)
{
    fixture *f = *state;
    char id[17];
    restart(f, "workers", "1");
    upload_text(f, "good");
    waiting w = {.ended = false};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, NULL, on_changed, &w);
    create_job(f, "hang", limits(600000, 600000), id);
    run_until(&f->loop, &w.solving);
    ft_dispatch_unwatch(watch);
    let_pass(f, 50);
    ft_dispatch_job_cancel(f->dispatch, id, on_answer, &f->a);
    uint64_t asked = uv_hrtime();
    json_decref(expect(&f->loop, &f->a));
    check_job(f, "safe", NULL, (tally){.safe = 1});
    assert_true(uv_hrtime() - asked < 1000000000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const char *folder = getenv(FAKE_WORKER_ENVIRONMENT);
    if (folder) return fake_worker_main(folder);
    const struct CMUnitTest tests[] = {
        TEST(test_many_jobs_starve_nobody),
        TEST(test_priorities),
        TEST(test_workers_of_a_project),
        TEST(test_jobs_of_a_project),
        TEST(test_time_of_a_project),
        TEST(test_a_slow_worker_gives),
        TEST(test_silent_and_slow),
        TEST(test_evidence),
        TEST(test_memory_of_a_job),
        TEST(test_job_time_survives_a_restart),
        TEST(test_cancelling_frees_within_a_second),
        TEST(test_a_failing_store_is_given_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
