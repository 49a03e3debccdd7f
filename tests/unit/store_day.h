/* A day's work of the store, step by step, and what it must have after each: for tests that make
 * some of it fail. */
#ifndef FT_TESTS_STORE_DAY_H
#define FT_TESTS_STORE_DAY_H

#include "store/check.h"
#include "store_steps.h"

static const struct {
    const char *name;
    void (*ask)(day *d);
    void (*keep)(day *d, const json_t *result); /* may be NULL */
    bool reads; /* the answer is as long on every such day: ids and times are */
} STEPS[] = {
    {"first start", start, NULL, false},
    {"limits", set_limits, NULL, false},
    {"token", make_token, NULL, false},
    {"blob new", new_blob, keep_blob, false},
    {"row", add_row, NULL, false},
    {"last row", add_last_row, NULL, false},
    {"blob commit", commit_blob, NULL, false},
    {"share", share, NULL, false},
    {"share again", share_more, NULL, false},
    {"blob new again", new_blob, keep_blob, false},
    {"blob drop", drop_blob, NULL, false},
    {"trace", read_trace, NULL, true},
    {"trace row", read_row, NULL, false},
    {"traces", list_traces, NULL, true},
    {"see trace", see_trace, NULL, false},
    {"save summary", save_summary, NULL, false},
    {"summary", read_summary, NULL, true},
    {"room", ask_for_room, NULL, false},
    {"webhook", set_webhook, NULL, false},
    {"webhooks", list_webhooks, NULL, true},
    {"first job", create_first, keep_job, false},
    {"first job again", create_first, keep_job, false},
    {"job to cancel", create_cancelled, keep_job, false},
    {"job to fail", create_failed, keep_job, false},
    {"job to expire", create_expired, keep_job, false},
    {"brief lease", lease_briefly, NULL, false},
    {"lease of a plan", lease_what_ran_out, keep_lease, false},
    {"plan", commit_plan, NULL, false},
    {"open jobs", list_open, NULL, true},
    {"lease", lease_first, keep_lease, false},
    {"start while leased", start, NULL, false},
    {"lease after start", lease_first, keep_lease, false},
    {"unclean start", start_unclean, NULL, false},
    {"lease again", lease_first, keep_lease, false},
    {"heartbeat", beat, NULL, false},
    {"results", commit_results, NULL, false},
    {"steal", steal, keep_stolen, false},
    {"abandon", abandon, NULL, false},
    {"late result", come_late, NULL, false},
    {"stolen result", commit_stolen, NULL, false},
    {"lease of what failed", lease_later, keep_last, false},
    {"abandon for good", abandon_for_good, NULL, false},
    {"jobs", list, NULL, true},
    {"some jobs", list_some, NULL, true},
    {"named jobs", list_named, NULL, true},
    {"job", read_job, NULL, true},
    {"see job", see_job, NULL, false},
    {"news", read_news, NULL, true},
    {"report", report, NULL, true},
    {"part of a report", report_part, NULL, true},
    {"finding", read_finding, NULL, true},
    {"review", read_review, NULL, true},
    {"set review", review, NULL, false},
    {"reviews", list_reviews, NULL, true},
    {"tokens", list_tokens, NULL, true},
    {"audit", audit, NULL, false},
    {"limits list", list_limits, NULL, true},
    {"counts", count_all, NULL, false},
    {"probe", probe, NULL, false},
    {"cancel", cancel, NULL, false},
    {"lease to fail", lease_failed, keep_lease, false},
    {"failing plan", fail_plan, NULL, false},
    {"lease to expire", lease_expired, keep_lease, false},
    {"plan to expire", commit_plan, NULL, false},
    {"expire", expire, NULL, false},
    {"take a delivery", take_deliveries, keep_delivery, false},
    {"delivery fails", give_delivery_up, NULL, false},
    {"repeat it", repeat_delivery, NULL, false},
    {"take another", take_deliveries, keep_delivery, false},
    {"delivery made", end_delivery, NULL, false},
    {"deliveries", list_deliveries, NULL, true},
    {"drop webhook", drop_webhook, NULL, false},
    {"revoke token", revoke_token, NULL, false},
    {"retain of a project", retain_of_project, NULL, false},
    {"retain bytes", retain_bytes, NULL, false},
    {"retain", retain, NULL, false},
    {"last start", start, NULL, false},
};
#define STEP_COUNT (sizeof STEPS / sizeof *STEPS)

static size_t expected_length[STEP_COUNT];

static void check_answer(size_t step, const json_t *result)
{
    size_t length = json_dumpb(result, NULL, 0, 0);
    if (!expected_length[step]) expected_length[step] = length;
    if (expected_length[step] == length) return;
    char *text = json_dumps(result, 0);
    fail_msg("%s: another answer than on a calm day: %s", STEPS[step].name, text);
}

/* Runs one step; false with d->a.err. */
static bool take(day *d, size_t step)
{
    d->a = (answer){.done = false};
    STEPS[step].ask(d);
    run_until(&d->loop, &d->a.done);
    json_t *result = d->a.result;
    d->a.result = NULL;
    if (!d->a.failed && STEPS[step].keep) STEPS[step].keep(d, result);
    if (!d->a.failed && STEPS[step].reads) check_answer(step, result);
    json_decref(result);
    return !d->a.failed;
}

/* ---- What the store has ---------------------------------------------------------------------- */

/* Everything that a start does not change: what was leased counts as ready, what was being planned
 * as queued, what was being sent as pending, an upload in progress as nothing. */
static const char CONTENT[] =
    "SELECT 'trace ' || hash || ' ' || stored_bytes FROM traces UNION ALL "
    "SELECT 'seen by ' || project FROM trace_projects UNION ALL "
    "SELECT 'summary ' || version || summary FROM trace_summaries UNION ALL "
    "SELECT 'token ' || name || ' ' || ifnull(revoked > 0, 0) FROM tokens UNION ALL "
    "SELECT 'limit ' || project || ' ' || jobs FROM project_limits UNION ALL "
    "SELECT 'used ' || project || ' ' || ms FROM project_usage UNION ALL "
    "SELECT 'webhook ' || project || ' ' || url FROM webhooks UNION ALL "
    "SELECT 'delivery ' || url || ' ' || replace(state, 'sending', 'pending') || ' attempts ' || "
    "attempts FROM deliveries UNION ALL "
    "SELECT 'review ' || fingerprint || ' ' || state || ' jobs ' || jobs FROM reviews UNION ALL "
    "SELECT 'key ' || key FROM idempotency_keys UNION ALL "
    "SELECT 'job ' || name || ' ' || replace(state, 'planning', 'queued') || ' open ' || open || "
    "' verdicts ' || verdicts || ' spent ' || spent_ms || ' ' || project FROM jobs UNION ALL "
    "SELECT 'task ' || id || ' ' || replace(state, 'leased', 'ready') || ' deaths ' || attempts "
    "FROM tasks UNION ALL "
    "SELECT 'death ' || task || ' ' || death FROM deaths WHERE death <> 'server-died' UNION ALL "
    "SELECT 'verdict ' || n || ' ' || ifnull(task, 0) || ' ' || verdict || ' ' || count FROM "
    "verdicts UNION ALL "
    "SELECT 'tally ' || \"check\" || ' ' || verdict || ' ' || records FROM tallies ORDER BY 1";

static char *content_of(const char *folder)
{
    ft_strbuf path = {0}, out = {0};
    sqlite3 *db;
    sqlite3_stmt *statement;
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    assert_int_equal(sqlite3_open_v2(path.text, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, CONTENT, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW)
        ft_strbuf_printf(&out, "%s\n", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    ft_strbuf_release(&path);
    return ft_strbuf_take(&out);
}

/* expected[i]: after i steps of the undisturbed day; of none: once it was opened. */
static char *expected[STEP_COUNT + 1];

/* In memory where that can be had: what is synchronised is known without a disk. */
static void make_quick_folder(char folder[64])
{
    bool memory = access("/dev/shm", W_OK) == 0;
    snprintf(folder, 64, "%s/foretell-test-XXXXXX", memory ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) abort();
}

static void open_day(day *d)
{
    *d = (day){.store = NULL};
    clock_start = DAY / 2 - time(NULL) % DAY;
    clock_offset = 0;
    make_quick_folder(d->folder);
    uv_loop_init(&d->loop);
}

static void open_soundly(day *d, const char *when)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_store_open(&d->loop, d->folder, &d->store, &err) != FT_OK)
        fail_msg("%s: it does not open: %s", when, err.message);
}

static void end_day(day *d)
{
    if (d->store) close_store(&d->loop, d->store);
    assert_int_equal(uv_loop_close(&d->loop), 0);
    remove_folder(d->folder);
}

static void check_sound(const char *file, const char *when)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_store_check_file(file, &err) != FT_OK) fail_msg("%s: %s", when, err.message);
}

/* It must be as after `least` steps, or one more. */
static void check_content(const char *folder, size_t least, const char *when)
{
    char *now = content_of(folder);
    size_t most = least < STEP_COUNT ? least + 1 : least;
    if (strcmp(now, expected[least]) != 0 && strcmp(now, expected[most]) != 0)
        fail_msg("%s: after %zu steps there is\n%s--- rather than\n%s--- or\n%s", when, least, now,
                 expected[least], expected[most]);
    free(now);
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    check_sound(path.text, when);
    ft_strbuf_release(&path);
}

static void check_refusal(const ft_error *err, const char *when)
{
    if ((err->code != FT_IO && err->code != FT_FULL) || !*err->message)
        fail_msg("%s: %s: \"%s\"", when, ft_status_name(err->code), err->message);
}

static void undisturbed_day(void)
{
    day d;
    open_day(&d);
    for (size_t i = 0; i < STEP_COUNT; i++) {
        if (!take(&d, i)) fail_msg("%s: %s", STEPS[i].name, d.a.err.message);
        expected[i + 1] = content_of(d.folder);
    }
    expected[0] = ft_strdup(expected[1]);
    end_day(&d);
}

static void forget_day(void)
{
    for (size_t i = 0; i <= STEP_COUNT; i++) free(expected[i]);
}

#endif
