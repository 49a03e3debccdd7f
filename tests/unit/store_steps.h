/* A day's work of the store, in steps that are one request each and walk its statements, and what
 * it must have after each: for tests that make some of it fail. */
#ifndef FT_TESTS_STORE_STEPS_H
#define FT_TESTS_STORE_STEPS_H

#include "server_support.h"

#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <zstd.h>

#include "store/access.h"
#include "store/limits.h"
#include "store/webhooks.h"

static const char HASH[] = "00000000000000000000000000000000000000000000000000000000000000aa";
static const char PRINT[] = "00000000000000000000000000000000000000000000000000000000000000bb";
static const char TEAM[] = ",default,team/app,";

/* The wall clock of this program, for whoever asks in it, in seconds: each day begins at noon,
 * whenever the tests run, because what a project used is counted by calendar days. */
#define DAY 86400
static _Atomic int64_t clock_start, clock_offset; /* from the real time to noon; later that day */

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    long result = syscall(SYS_gettimeofday, now, NULL);
    now->tv_sec += clock_start + clock_offset;
    return (int)result;
}

typedef enum role { FIRST, CANCELLED, FAILED, EXPIRED, ROLES } role;
static const char *const NAMES[ROLES] = {"first", "cancelled", "failed", "expired"};

typedef struct day {
    uv_loop_t loop;
    ft_store *store; /* NULL: it did not open */
    char folder[64];
    answer a;
    /* What steps tell later ones. */
    int64_t blob, tasks[4], stolen;
    uint64_t token, stolen_token;
    uint64_t sending;                                           /* the delivery's token */
    char jobs[ROLES][17], delivery[17], told[17], token_id[17]; /* told: job of the delivery */
} day;

/* ---- Life ------------------------------------------------------------------------------------ */

/* Which fails as a request does. */
static void start(day *d)
{
    if (d->store) close_store(&d->loop, d->store);
    d->store = NULL;
    d->a.failed = ft_store_open(&d->loop, d->folder, &d->store, &d->a.err) != FT_OK;
    d->a.done = true;
}

/* As after a run that did not end well: everything is looked at. */
static void start_unclean(day *d)
{
    ft_strbuf path = {0};
    sqlite3 *db = NULL;
    if (d->store) close_store(&d->loop, d->store);
    d->store = NULL;
    ft_strbuf_printf(&path, "%s/foretell.db", d->folder);
    if (sqlite3_open(path.text, &db) == SQLITE_OK)
        sqlite3_exec(db, "UPDATE counters SET running = 1", NULL, NULL, NULL);
    sqlite3_close(db);
    ft_strbuf_release(&path);
    start(d);
}

static void set_limits(day *d)
{
    const bool given[FT_LIMITS] = {[FT_LIMIT_JOBS] = true, [FT_LIMIT_RETAIN_BYTES] = true};
    const int64_t values[FT_LIMITS] = {[FT_LIMIT_JOBS] = 9, [FT_LIMIT_RETAIN_BYTES] = 1000};
    d->a.failed = ft_limits_set(d->folder, "team/app", given, values, &d->a.err) != FT_OK;
    d->a.done = true;
}

static void make_token(day *d)
{
    const ft_token_options options = {.name = "ops", .scopes = "admin"};
    char token[FT_TOKEN_LENGTH + 1];
    d->a.failed = ft_token_create(d->folder, &options, token, &d->a.err) != FT_OK;
    d->a.done = true;
    if (!d->a.failed) snprintf(d->token_id, sizeof d->token_id, "%.16s", strchr(token, '_') + 1);
}

static void revoke_token(day *d)
{
    d->a.failed = ft_token_revoke(d->folder, d->token_id, &d->a.err) != FT_OK;
    d->a.done = true;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

/* Some pages of the database; shorter than the rows of real traces, for the number of pages is no
 * matter. */
static char row[20000];

static void new_blob(day *d)
{
    ft_store_blob_new(d->store, on_answer, &d->a);
}

static void keep_blob(day *d, const json_t *result)
{
    d->blob = number_of(result, "blob");
}

static void add_row(day *d)
{
    memset(row, 'x', sizeof row);
    ft_store_blob_add(d->store, d->blob, 0, row, sizeof row, on_answer, &d->a);
}

static void add_last_row(day *d)
{
    ft_store_blob_add(d->store, d->blob, 1, "the end", 7, on_answer, &d->a);
}

static void commit_blob(day *d)
{
    json_t *meta = json_pack("{s:s, s:i}", "trace", HASH, "bytes", 5);
    ft_store_blob_commit(d->store, d->blob, 2, HASH, meta, on_answer, &d->a);
    json_decref(meta);
}

static void drop_blob(day *d)
{
    ft_store_blob_drop(d->store, d->blob, on_answer, &d->a);
}

static void share(day *d)
{
    ft_store_trace_share(d->store, HASH, "team/app", 0, on_answer, &d->a);
}

static void share_more(day *d)
{
    ft_store_trace_share(d->store, HASH, "default", 0, on_answer, &d->a);
}

static void on_chunk(void *data, const ft_error *err, const void *bytes, size_t length, bool last)
{
    (void)bytes, (void)last;
    if (!err) assert_int_equal(length, sizeof row);
    on_answer(data, err, NULL);
}

static void read_row(day *d)
{
    ft_store_trace_chunk(d->store, HASH, 0, on_chunk, &d->a);
}

static void read_trace(day *d)
{
    ft_store_trace(d->store, HASH, on_answer, &d->a);
}

static void list_traces(day *d)
{
    ft_store_traces(d->store, (ft_store_page){.limit = 10, .projects = TEAM}, on_answer, &d->a);
}

static void see_trace(day *d)
{
    ft_store_trace_visible(d->store, HASH, TEAM, on_answer, &d->a);
}

static void save_summary(day *d)
{
    json_t *summary = json_pack("{s:i}", "threads", 2);
    ft_store_summary_save(d->store, HASH, 3, summary, on_answer, &d->a);
    json_decref(summary);
}

static void read_summary(day *d)
{
    ft_store_summary(d->store, HASH, 3, on_answer, &d->a);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void create(day *d, role who)
{
    const char *project = who == CANCELLED ? "default" : "team/app";
    json_t *spec =
        json_pack("{s:s, s:s, s:s}", "trace", HASH, "name", NAMES[who], "project", project);
    const ft_store_key key = {NAMES[who], HASH};
    if (who == EXPIRED) json_object_set_new(spec, "webhook", json_string("https://example.org/2"));
    ft_store_job_create(d->store, spec, &key, 9, on_answer, &d->a);
    json_decref(spec);
}

static void create_first(day *d)
{
    create(d, FIRST);
}

static void create_cancelled(day *d)
{
    create(d, CANCELLED);
}

static void create_failed(day *d)
{
    create(d, FAILED);
}

static void create_expired(day *d)
{
    create(d, EXPIRED);
}

static void keep_job(day *d, const json_t *result)
{
    for (int who = 0; who < ROLES; who++)
        if (strcmp(NAMES[who], text_of(result, "name")) == 0)
            snprintf(d->jobs[who], 17, "%s", text_of(result, "job"));
}

static json_t *tasks_of(const json_t *leased)
{
    return json_loads(text_of(leased, "tasks"), 0, NULL);
}

static void keep_lease(day *d, const json_t *result)
{
    json_t *tasks = tasks_of(result);
    if (json_array_size(tasks)) d->token = (uint64_t)number_of(result, "token");
    for (size_t i = 0; i < json_array_size(tasks) && i < 4; i++)
        d->tasks[i] = number_of(json_array_get(tasks, i), "task");
    json_decref(tasks);
}

/* For whoever lets it run out. */
static void lease_briefly(day *d)
{
    ft_store_lease(d->store, d->jobs[FIRST], (ft_store_leasing){1, 1, 0}, on_answer, &d->a);
}

static void lease_first(day *d)
{
    ft_store_lease(d->store, d->jobs[FIRST], (ft_store_leasing){4, 600000, 0}, on_answer, &d->a);
}

static void lease_failed(day *d)
{
    ft_store_lease(d->store, d->jobs[FAILED], (ft_store_leasing){1, 600000, 0}, on_answer, &d->a);
}

static void lease_expired(day *d)
{
    ft_store_lease(d->store, d->jobs[EXPIRED], (ft_store_leasing){1, 600000, 0}, on_answer, &d->a);
}

/* A violation has what reviews are made of. */
static json_t *record(const char *key, const char *verdict, int count)
{
    json_t *its =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "check", "race", "kind", "write-write", "key",
                  key, "verdict", verdict, "count", count, "pairs", count);
    if (strcmp(verdict, "violation") == 0) {
        json_object_set_new(its, "fingerprint", json_string(PRINT));
        json_object_set_new(its, "message", json_string("a race"));
    }
    return its;
}

static void commit_plan(day *d)
{
    json_t *subproblems = json_array();
    for (int i = 0; i < 4; i++)
        json_array_append_new(
            subproblems, json_pack("{s:i, s:s, s:o, s:i}", "subproblem", i, "check", "race", "key",
                                   json_sprintf("race|write-write|r%d", i), "pairs", 1));
    json_t *plan = json_pack(
        "{s:s, s:[], s:{s:i}, s:[o], s:o}", "model", "maximal", "notes", "candidates", "race", 11,
        "records", record("race|write-write|block", "safe", 7), "subproblems", subproblems);
    char *dumped = json_dumps(plan, JSON_COMPACT);
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, dumped);
    free(dumped);
    ft_store_plan_commit(d->store, d->token, d->tasks[0], &text, on_answer, &d->a);
    json_decref(plan);
}

static void fail_plan(day *d)
{
    ft_error cause = FT_ERROR_INIT;
    (void)ft_error_set(&cause, FT_INPUT, "it cannot be planned");
    ft_store_plan_fail(d->store, d->token, d->tasks[0], &cause, on_answer, &d->a);
}

static void beat(day *d)
{
    json_t *news = json_pack("{s:[I], s:{s:i}, s:{s:i}}", "tokens", (json_int_t)d->token, "spent",
                             d->jobs[FIRST], 100, "usage", "team/app", 100);
    ft_store_extend(d->store, news, 600000, on_answer, &d->a);
}

/* A violation comes with its witness. */
static void add_result(ft_results *results, int64_t task, const char *key, const char *verdict)
{
    static const char WITNESS[] = "{\"steps\":[]}";
    char packed[128];
    ft_error err = FT_ERROR_INIT;
    json_t *its = record(key, verdict, 1);
    char *text = json_dumps(its, JSON_COMPACT);
    size_t length = 0;
    if (strcmp(verdict, "violation") == 0)
        length = ZSTD_compress(packed, sizeof packed, WITNESS, strlen(WITNESS), 1);
    if (ft_results_add(results, task, text, strlen(text), packed, length, &err) != FT_OK)
        fail_msg("%s", err.message);
    free(text);
    json_decref(its);
}

static void commit(day *d, uint64_t token, ft_results *results)
{
    ft_store_results_commit(d->store, d->jobs[FIRST], token, results, on_answer, &d->a);
}

static void commit_results(day *d)
{
    ft_results results = {0};
    add_result(&results, d->tasks[0], "race|write-write|r0", "violation");
    add_result(&results, d->tasks[1], "race|write-write|r1", "safe");
    commit(d, d->token, &results);
}

static void steal(day *d)
{
    json_t *tasks = json_pack("[I]", (json_int_t)d->tasks[3]);
    ft_store_steal(d->store, d->jobs[FIRST], d->token, tasks, 600000, on_answer, &d->a);
    json_decref(tasks);
}

static void keep_stolen(day *d, const json_t *result)
{
    d->stolen_token = (uint64_t)number_of(result, "token");
    json_t *tasks = tasks_of(result);
    d->stolen = number_of(json_array_get(tasks, 0), "task");
    json_decref(tasks);
}

static void blame(day *d, uint32_t limit)
{
    clock_offset = limit == 1 ? 100 : 10; /* when it is tried again at the latest */
    const ft_store_blame its = {.task = d->tasks[2],
                                .limit = limit,
                                .verdict = FT_VERDICT_ERROR,
                                .reason = FT_REASON_WORKER_DIED,
                                .text = "it died",
                                .retry_ms = 1000,
                                .death = "crash",
                                .log = "aargh"};
    ft_store_abandon(d->store, d->jobs[FIRST], d->token, its, on_answer, &d->a);
}

static void abandon(day *d)
{
    blame(d, 3);
}

static void abandon_for_good(day *d)
{
    blame(d, 1);
}

/* Of a task that somebody else has by now. */
static void come_late(day *d)
{
    ft_results results = {0};
    add_result(&results, d->tasks[3], "race|write-write|r3", "violation");
    commit(d, d->token, &results);
}

static void commit_stolen(day *d)
{
    ft_results results = {0};
    add_result(&results, d->stolen, "race|write-write|r3", "safe");
    commit(d, d->stolen_token, &results);
}

static void lease_what_ran_out(day *d)
{
    clock_offset = 10;
    lease_first(d);
}

static void lease_later(day *d)
{
    clock_offset = 100;
    lease_first(d);
}

static void keep_last(day *d, const json_t *result)
{
    keep_lease(d, result);
    d->tasks[2] = d->tasks[0];
}

static void cancel(day *d)
{
    ft_store_job_cancel(d->store, d->jobs[CANCELLED], on_answer, &d->a);
}

static void expire(day *d)
{
    ft_store_job_expire(d->store, d->jobs[EXPIRED], "its time is over", on_answer, &d->a);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void report(day *d)
{
    ft_store_report(d->store, d->jobs[FIRST], (ft_store_filter){.safe = true},
                    (ft_store_page){.limit = 0}, on_answer, &d->a);
}

static void report_part(day *d)
{
    ft_store_report(d->store, d->jobs[FIRST], (ft_store_filter){.check = "race", .as_text = true},
                    (ft_store_page){.limit = 2, .cursor = "1"}, on_answer, &d->a);
}

static void list(day *d)
{
    ft_store_jobs(d->store, (ft_store_job_filter){.state = NULL}, (ft_store_page){.limit = 10},
                  on_answer, &d->a);
}

static void list_some(day *d)
{
    const ft_store_job_filter filter = {
        .state = "done", .trace = HASH, .search = "fir", .since = 1};
    ft_store_jobs(d->store, filter, (ft_store_page){.limit = 1, .projects = TEAM}, on_answer,
                  &d->a);
}

static void list_named(day *d)
{
    json_t *ids = json_pack("[s, s]", d->jobs[FIRST], d->jobs[FAILED]);
    ft_store_jobs_named(d->store, ids, TEAM, on_answer, &d->a);
    json_decref(ids);
}

static void list_open(day *d)
{
    ft_store_jobs_open(d->store, on_answer, &d->a);
}

static void read_job(day *d)
{
    ft_store_job(d->store, d->jobs[FIRST], on_answer, &d->a);
}

static void see_job(day *d)
{
    ft_store_job_visible(d->store, d->jobs[FIRST], TEAM, on_answer, &d->a);
}

static void read_news(day *d)
{
    ft_store_job_news(d->store, d->jobs[FIRST], 0, 10, true, on_answer, &d->a);
}

static void read_finding(day *d)
{
    char finding[32];
    snprintf(finding, sizeof finding, "%s-2", d->jobs[FIRST]);
    ft_store_finding(d->store, finding, on_answer, &d->a);
}

static void read_review(day *d)
{
    ft_store_review(d->store, "team/app", PRINT, on_answer, &d->a);
}

static void review(day *d)
{
    ft_store_review_set(d->store, "team/app", PRINT, "confirmed", "seen", on_answer, &d->a);
}

static void list_reviews(day *d)
{
    ft_store_reviews(d->store, "team/app", "confirmed", (ft_store_page){.limit = 10}, on_answer,
                     &d->a);
}

static void list_tokens(day *d)
{
    ft_store_tokens(d->store, on_answer, &d->a);
}

/* Nobody hears of the entry, so what is listed after it stands for it. */
static void audit(day *d)
{
    ft_store_audit_add(d->store, json_pack("{s:n, s:s, s:s, s:s}", "token", "peer", "unix",
                                           "action", "POST /v1/jobs", "outcome", "allowed"));
    ft_store_audit(d->store, (ft_store_page){.limit = 10}, on_answer, &d->a);
}

static void count_all(day *d)
{
    ft_store_counts(d->store, on_answer, &d->a);
}

static void probe(day *d)
{
    ft_store_probe(d->store, on_answer, &d->a);
}

static void list_limits(day *d)
{
    ft_store_limits(d->store, on_answer, &d->a);
}

static void ask_for_room(day *d)
{
    ft_store_room(d->store, "team/app", 1 << 30, on_answer, &d->a);
}

/* ---- Webhooks -------------------------------------------------------------------------------- */

static void set_webhook(day *d)
{
    const ft_store_webhook its = {.project = "team/app", .url = "https://example.org/1"};
    ft_store_webhook_set(d->store, &its, on_answer, &d->a);
}

static void list_webhooks(day *d)
{
    ft_store_webhooks(d->store, TEAM, on_answer, &d->a);
}

static void take_deliveries(day *d)
{
    ft_store_deliveries_take(d->store, (ft_store_sending){1, 1, 60000}, on_answer, &d->a);
}

static void keep_delivery(day *d, const json_t *result)
{
    const json_t *first = json_array_get(json_object_get(result, "deliveries"), 0);
    if (!first) return;
    snprintf(d->delivery, sizeof d->delivery, "%s", text_of(first, "delivery"));
    d->sending = (uint64_t)json_integer_value(json_object_get(first, "token"));
    snprintf(d->told, sizeof d->told, "%s", text_of(first, "job"));
}

static void give_delivery_up(day *d)
{
    const ft_store_outcome its = {.status = 500, .error = "it says 500", .again_ms = -1};
    ft_store_delivery_end(d->store, d->delivery, d->sending, &its, on_answer, &d->a);
}

static void repeat_delivery(day *d)
{
    ft_store_delivery_repeat(d->store, d->delivery, TEAM, on_answer, &d->a);
}

static void end_delivery(day *d)
{
    const ft_store_outcome its = {.delivered = true, .status = 200};
    ft_store_delivery_end(d->store, d->delivery, d->sending, &its, on_answer, &d->a);
}

/* Of the job that the last one was about: which that is depends on whether two ended within one
 * millisecond. */
static void list_deliveries(day *d)
{
    ft_store_deliveries(d->store, "delivered", d->told, (ft_store_page){.limit = 10}, on_answer,
                        &d->a);
}

static void drop_webhook(day *d)
{
    ft_store_webhook_drop(d->store, "team/app", on_answer, &d->a);
}

/* ---- Later ----------------------------------------------------------------------------------- */

/* A project has its own limit. */
static void retain_of_project(day *d)
{
    clock_offset = DAY;
    ft_store_retain(d->store, 0, 0, on_answer, &d->a);
}

static void retain_bytes(day *d)
{
    clock_offset = DAY;
    ft_store_retain(d->store, 0, 1000, on_answer, &d->a);
}

static void retain(day *d)
{
    clock_offset = 2 * DAY;
    ft_store_retain(d->store, (uint64_t)DAY * 1000, 0, on_answer, &d->a);
}

#endif
