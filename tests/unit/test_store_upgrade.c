/* Databases of earlier versions: made from their migrations alone, with rows in every state
 * (service/upgrade), then opened by this version. What they had is kept, and the work goes on. */
#include "store_support.h"

#include <sqlite3.h>

#include "store/check.h"
#include "store/webhooks.h"

#define QUEUED    "00000000000000a1"
#define PLANNING  "00000000000000a2"
#define SOLVING   "00000000000000a3"
#define DONE      "00000000000000a4"
#define FAILED    "00000000000000a5"
#define CANCELLED "00000000000000a6"
#define OLD_LEASE 7 /* of task 6 */

extern const char *const ft_migrations[];

/* ---- Making one ------------------------------------------------------------------------------ */

static sqlite3 *open_database(const fixture *f)
{
    ft_strbuf path = {0};
    sqlite3 *db;
    ft_strbuf_printf(&path, "%s/foretell.db", f->folder);
    assert_int_equal(sqlite3_open(path.text, &db), SQLITE_OK);
    ft_strbuf_release(&path);
    return db;
}

static void execute(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
}

#define ROWS_FIT 7 /* the last version with the tables that the rows below were written for */

/* Rows that only a version from `since` on has. Newer ones may have none of their own. */
static void add_rows(sqlite3 *db, int since)
{
    char path[256], text[16384];
    snprintf(path, sizeof path, FT_SOURCE_DIR "/tests/service/upgrade/%d.sql", since);
    FILE *file = fopen(path, "re");
    if (!file) return;
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_true(length > 0 && length < sizeof text - 1);
    fclose(file);
    text[length] = '\0';
    execute(db, text);
}

static void make_database(const fixture *f, int version)
{
    char text[64];
    sqlite3 *db = open_database(f);
    execute(db, "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON");
    int fit = version < ROWS_FIT ? version : ROWS_FIT;
    for (int i = 0; i < fit; i++) execute(db, ft_migrations[i]);
    for (int i = 1; i <= fit; i++) add_rows(db, i);
    for (int i = fit; i < version; i++) execute(db, ft_migrations[i]);
    for (int i = fit + 1; i <= version; i++) add_rows(db, i);
    snprintf(text, sizeof text, "PRAGMA user_version = %d", version);
    execute(db, text);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ---- What it must have ----------------------------------------------------------------------- */

static void check_state(fixture *f, const char *job, const char *state)
{
    json_t *snapshot = snapshot_of(f, job);
    assert_string_equal(text_of(snapshot, "state"), state);
    json_decref(snapshot);
}

static void check_jobs(fixture *f)
{
    check_state(f, QUEUED, "queued");
    check_state(f, PLANNING, "queued"); /* its planner is gone */
    check_state(f, SOLVING, "solving");
    check_state(f, DONE, "done");
    check_state(f, CANCELLED, "cancelled");
    json_t *failed = snapshot_of(f, FAILED);
    assert_string_equal(text_of(failed, "state"), "failed");
    assert_string_equal(text_of(json_object_get(failed, "error"), "message"), "it was bad");
    json_decref(failed);
    assert_int_equal(query(f, "SELECT count(*) FROM blobs"), 1);
}

static void check_counts(const json_t *of, int violation, int safe, int other)
{
    const json_t *race = counts_of(of, "race");
    assert_int_equal(number_of(race, "violation"), violation);
    assert_int_equal(number_of(race, "safe"), safe);
    assert_int_equal(number_of(race, "unknown") + number_of(race, "error"), other);
}

static void check_report(fixture *f)
{
    json_t *report = report_of(f, DONE, (ft_store_filter){.safe = true}, (ft_store_page){0});
    check_counts(report, 1, 2, 1);
    json_t *finding = listed(report, "findings", 0);
    assert_string_equal(text_of(finding, "message"), "of an earlier version");
    json_decref(finding);
    json_decref(report);
    ft_store_finding(f->store, DONE "-2", on_answer, &f->a);
    finding = expect(&f->loop, &f->a);
    assert_true(json_is_object(json_object_get(finding, "witness")));
    json_decref(finding);
}

static void check_tokens(fixture *f)
{
    ft_store_tokens(f->store, on_answer, &f->a);
    json_t *result = expect(&f->loop, &f->a);
    const json_t *tokens = json_object_get(result, "tokens"), *token;
    size_t i;
    assert_int_equal(json_array_size(tokens), 2);
    json_array_foreach(tokens, i, token)
    {
        bool ops = strcmp(text_of(token, "name"), "ops") == 0;
        assert_string_equal(text_of(token, "scopes"), ops ? "admin" : "submit,read");
        assert_int_equal(json_is_true(json_object_get(token, "valid")), ops);
    }
    json_decref(result);
    ft_store_job_visible(f->store, DONE, ",team/app,", on_answer, &f->a);
    json_decref(expect(&f->loop, &f->a));
    ft_store_job_visible(f->store, DONE, ",other,", on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_NOT_FOUND);
}

/* What was sent with a key before gives the job of then. */
static void check_keys(fixture *f)
{
    const ft_store_key key = {"its key", "its body"};
    json_t *spec = json_pack("{s:s, s:s}", "trace", HASH, "project", "team/app");
    ft_store_job_create(f->store, spec, &key, 0, on_answer, &f->a);
    json_decref(spec);
    json_t *snapshot = expect(&f->loop, &f->a);
    assert_true(json_is_true(json_object_get(snapshot, "known")));
    assert_string_equal(text_of(snapshot, "job"), DONE);
    json_decref(snapshot);
}

static void check_reviews(fixture *f)
{
    ft_store_review(f->store, "team/app", "cc", on_answer, &f->a);
    json_t *review = expect(&f->loop, &f->a);
    assert_string_equal(text_of(review, "state"), "confirmed");
    json_decref(review);
}

static void check_webhooks(fixture *f)
{
    ft_store_deliveries_take(f->store, (ft_store_sending){9, 9, 1000}, on_answer, &f->a);
    json_t *taken = expect(&f->loop, &f->a);
    assert_int_equal(json_array_size(json_object_get(taken, "deliveries")), 2);
    json_decref(taken);
}

/* ---- The work that was left ------------------------------------------------------------------ */

static void solve_all(fixture *f, const char *job)
{
    char key[32];
    for (;;) {
        json_t *leased = lease(f, job, 1);
        if (size_of(leased) == 0) {
            json_decref(leased);
            return;
        }
        const json_t *task = json_array_get(json_object_get(leased, "tasks"), 0);
        snprintf(key, sizeof key, "%s", text_of(task, "key"));
        assert_true(
            commit(f, token_of(leased), task_of(leased, 0), text_of(task, "check"), key, "safe"));
        json_decref(leased);
    }
}

static void work_on(fixture *f)
{
    assert_false(
        commit(f, OLD_LEASE, (int64_t)3 << 28 | 3, "race", "race|write-write|r2", "violation"));
    solve_all(f, SOLVING);
    check_state(f, SOLVING, "done");
    json_t *snapshot = snapshot_of(f, SOLVING);
    check_counts(snapshot, 1, 3, 1);
    json_decref(snapshot);
    const char *const waiting[] = {QUEUED, PLANNING};
    for (size_t i = 0; i < 2; i++) {
        json_decref(plan_job(f, waiting[i]));
        solve_all(f, waiting[i]);
        check_state(f, waiting[i], "done");
    }
}

static void check_sound(const fixture *f)
{
    char path[96];
    ft_error err = FT_ERROR_INIT;
    snprintf(path, sizeof path, "%s/foretell.db", f->folder);
    if (ft_store_check_file(path, &err) != FT_OK) fail_msg("%s", err.message);
}

/* Parts of what a version has. */
static const struct {
    int since;
    void (*check)(fixture *f);
} PARTS[] = {{1, check_jobs}, {1, check_report},  {2, check_tokens},
             {2, check_keys}, {3, check_reviews}, {6, check_webhooks}};

static void upgrade_from(fixture *f, int version)
{
    make_database(f, version);
    open_store(f);
    assert_int_equal(query(f, "PRAGMA user_version"), ft_store_schema_version());
    check_sound(f);
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (version >= PARTS[i].since) PARTS[i].check(f);
    work_on(f);
    reopen(f);
    check_report(f);
    check_sound(f);
    close_store(&f->loop, f->store);
}

static void test_upgrades(void **state)
{
    (void)state;
    for (int version = 1; version <= ft_store_schema_version(); version++) {
        fixture f = {.store = NULL};
        print_message("from version %d\n", version);
        make_folder(f.folder);
        snprintf(f.place, sizeof f.place, "%s", f.folder);
        uv_loop_init(&f.loop);
        upgrade_from(&f, version);
        assert_int_equal(uv_loop_close(&f.loop), 0);
        remove_folder(f.folder);
    }
}

/* A migration that fails leaves the database as it was, for the older version to go on with. */
static void test_failing_migration(void **state)
{
    (void)state;
    fixture f = {.store = NULL};
    ft_error err = FT_ERROR_INIT;
    make_folder(f.folder);
    snprintf(f.place, sizeof f.place, "%s", f.folder);
    uv_loop_init(&f.loop);
    make_database(&f, 4);
    sqlite3 *db = open_database(&f);
    execute(db, "CREATE TABLE deaths (it INTEGER)"); /* which version 5 makes */
    sqlite3_close(db);
    assert_int_equal(ft_store_open(&f.loop, f.folder, &f.store, &err), FT_IO);
    assert_non_null(strstr(err.message, "deaths"));
    assert_int_equal(query(&f, "PRAGMA user_version"), 4);
    assert_int_equal(query(&f, "SELECT count(*) FROM pragma_table_info('jobs') "
                               "WHERE name = 'spent_ms'"),
                     0);
    assert_int_equal(query(&f, "SELECT count(*) FROM jobs"), 6);
    assert_int_equal(uv_loop_close(&f.loop), 0);
    remove_folder(f.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upgrades),
        cmocka_unit_test(test_failing_migration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
