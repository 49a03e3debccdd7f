#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/memory.h"
#include "store/internal.h"
#include "wire/wire.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

ft_status ft_store_job_row(ft_sql *sql, const char *job, ft_job_row *row, ft_error *err)
{
    sqlite3_stmt *statement;
    bool found;
    ft_status status =
        ft_sql_start(sql, &statement, err, "SELECT state, open FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found) return ft_error_set(err, FT_NOT_FOUND, "no job %s", job);
    if (!ft_job_state_parse(ft_sql_text(statement, 0), &row->state))
        return ft_error_set(err, FT_INTERNAL, "job %s is in an unknown state", job);
    row->open = ft_sql_int(statement, 1);
    return FT_OK;
}

ft_status ft_store_job_move(ft_sql *sql, const char *job, ft_job_state to, ft_error *err)
{
    ft_job_row row;
    ft_status status = ft_store_job_row(sql, job, &row, err);
    if (status != FT_OK) return status;
    if (!ft_job_state_may(row.state, to)) {
        return ft_error_set(err, FT_CONFLICT, "a job that is %s cannot become %s",
                            ft_job_state_name(row.state), ft_job_state_name(to));
    }
    return ft_sql_run(sql, NULL, err,
                      "UPDATE jobs SET state = ?2, updated = ?3, revision = revision + 1, "
                      "finished = CASE WHEN ?4 THEN ?3 END WHERE id = ?1",
                      "ttii", job, ft_job_state_name(to), ft_store_now(),
                      (int64_t)ft_job_state_final(to));
}

ft_status ft_store_job_fail(ft_sql *sql, const char *job, const ft_error *cause, ft_error *err)
{
    ft_status status = ft_store_job_move(sql, job, FT_JOB_FAILED, err);
    if (status != FT_OK) return status;
    json_t *error = ft_wire_error_to_json(cause);
    char *text = ft_store_dump(error);
    status =
        ft_sql_run(sql, NULL, err, "UPDATE jobs SET error = ?2, open = 0, ready = 0 WHERE id = ?1",
                   "tt", job, (const char *)text);
    free(text);
    json_decref(error);
    return status;
}

ft_status ft_store_recount(ft_sql *sql, ft_error *err)
{
    return ft_sql_run(
        sql, NULL, err,
        "UPDATE jobs SET "
        "ready = (SELECT count(*) FROM tasks t WHERE t.job = jobs.id AND t.state = 'ready'), "
        "open = (SELECT count(*) FROM tasks t WHERE t.job = jobs.id AND "
        "t.state IN ('ready', 'leased')) WHERE finished IS NULL",
        "");
}

ft_status ft_store_change(ft_sql *sql, const char *job, bool applied, json_t **change,
                          ft_error *err)
{
    sqlite3_stmt *statement;
    bool found;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT state, revision, ready, open FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found) return ft_error_set(err, FT_NOT_FOUND, "no job %s", job);
    *change = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b}", "job", job, "state",
                        ft_sql_text(statement, 0), "revision", (json_int_t)ft_sql_int(statement, 1),
                        "ready", (json_int_t)ft_sql_int(statement, 2), "open",
                        (json_int_t)ft_sql_int(statement, 3), "applied", applied);
    return FT_OK;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

#define SNAPSHOT_COLUMNS                                                                           \
    "id, name, state, trace, model, created, updated, finished, revision, tasks, open, error, n "

static json_t *text_or_null(sqlite3_stmt *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return json_string(ft_sql_text(statement, column));
}

static json_t *time_or_null(sqlite3_stmt *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return ft_store_time(ft_sql_int(statement, column));
}

/* From a row of SNAPSHOT_COLUMNS. */
static ft_status snapshot_row(sqlite3_stmt *statement, json_t **snapshot, ft_error *err)
{
    json_t *error = NULL;
    if (!ft_sql_null(statement, 11)) {
        ft_status status = ft_store_parse(statement, 11, &error, err);
        if (status != FT_OK) return status;
    }
    *snapshot =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:n, s:s, s:o, s:o, s:o, s:I, s:{s:I, s:I}, s:o}",
                  "job", text_or_null(statement, 0), "name", text_or_null(statement, 1), "state",
                  text_or_null(statement, 2), "trace", text_or_null(statement, 3), "model",
                  text_or_null(statement, 4), "memory", "sc", "bound", "scope", "trace", "created",
                  time_or_null(statement, 5), "updated", time_or_null(statement, 6), "finished",
                  time_or_null(statement, 7), "revision", (json_int_t)ft_sql_int(statement, 8),
                  "progress", "tasks", (json_int_t)ft_sql_int(statement, 9), "open",
                  (json_int_t)ft_sql_int(statement, 10), "error", error ? error : json_null());
    return FT_OK;
}

/* The columns that lists leave out. */
static ft_status add_details(ft_sql *sql, const char *job, json_t *snapshot, ft_error *err)
{
    sqlite3_stmt *statement;
    bool found;
    json_t *spec = NULL, *plan = NULL, *checks = NULL;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT spec, ifnull(plan, 'null') FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status == FT_OK) status = ft_store_parse(statement, 0, &spec, err);
    if (status == FT_OK) status = ft_store_parse(statement, 1, &plan, err);
    if (status == FT_OK) status = ft_store_checks(sql, job, plan, &checks, err);
    if (status == FT_OK) {
        json_object_set(snapshot, "checks", checks);
        json_object_set(snapshot, "spec", spec);
        if (json_object_get(plan, "statistics"))
            json_object_set(snapshot, "statistics", json_object_get(plan, "statistics"));
    }
    json_decref(spec);
    json_decref(plan);
    json_decref(checks);
    return status;
}

ft_status ft_store_snapshot(ft_sql *sql, const char *job, json_t **snapshot, ft_error *err)
{
    sqlite3_stmt *statement;
    bool found;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT " SNAPSHOT_COLUMNS "FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found) return ft_error_set(err, FT_NOT_FOUND, "no job %s", job);
    status = snapshot_row(statement, snapshot, err);
    if (status == FT_OK) status = add_details(sql, job, *snapshot, err);
    return status;
}

static ft_status run_job(ft_sql *sql, ft_request *request, ft_error *err)
{
    return ft_store_snapshot(sql, request->job, &request->result, err);
}

void ft_store_job(ft_store *store, const char *job, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_job, false, done, data);
    request->job = ft_strdup(job);
    ft_store_send(store, request);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static ft_status list_rows(ft_sql *sql, sqlite3_stmt *statement, uint32_t limit, json_t *jobs,
                           json_t **next, ft_error *err)
{
    bool row;
    int64_t last = 0;
    ft_status status;
    while ((status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        if (limit > 0 && json_array_size(jobs) == limit) {
            *next = json_sprintf("%lld", (long long)last);
            return FT_OK;
        }
        json_t *job;
        status = snapshot_row(statement, &job, err);
        if (status != FT_OK) return status;
        json_array_append_new(jobs, job);
        last = ft_sql_int(statement, 12);
    }
    return status;
}

static ft_status run_jobs(ft_sql *sql, ft_request *request, ft_error *err)
{
    sqlite3_stmt *statement;
    int64_t before;
    ft_job_state state;
    if (request->job && !ft_job_state_parse(request->job, &state))
        return ft_error_set(err, FT_USAGE, "no job state is called %.32s", request->job);
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status != FT_OK) return status;
    status = ft_sql_start(sql, &statement, err,
                          "SELECT " SNAPSHOT_COLUMNS "FROM jobs WHERE n < ?1 "
                          "AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR trace = ?3) "
                          "ORDER BY n DESC",
                          "itt", before, (const char *)request->job, (const char *)request->other);
    if (status != FT_OK) return status;
    json_t *jobs = json_array(), *next = NULL;
    request->result = json_pack("{s:o}", "jobs", jobs);
    status = list_rows(sql, statement, request->limit, jobs, &next, err);
    json_object_set_new(request->result, "next", next ? next : json_null());
    return status;
}

void ft_store_jobs(ft_store *store, const char *state, const char *trace, ft_store_page page,
                   ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_jobs, false, done, data);
    request->job = state ? ft_strdup(state) : NULL;
    request->other = trace ? ft_strdup(trace) : NULL;
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->limit = page.limit;
    ft_store_send(store, request);
}

static ft_status run_jobs_open(ft_sql *sql, ft_request *request, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    json_t *jobs = json_array();
    request->result = json_pack("{s:o}", "jobs", jobs);
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT spec, id, trace, state, ready, open FROM jobs "
                                    "WHERE finished IS NULL ORDER BY n",
                                    "");
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        json_t *spec;
        status = ft_store_parse(statement, 0, &spec, err);
        if (status != FT_OK) break;
        json_array_append_new(jobs, json_pack("{s:o, s:s, s:s, s:s, s:I, s:I}", "spec", spec, "job",
                                              ft_sql_text(statement, 1), "trace",
                                              ft_sql_text(statement, 2), "state",
                                              ft_sql_text(statement, 3), "ready",
                                              (json_int_t)ft_sql_int(statement, 4), "open",
                                              (json_int_t)ft_sql_int(statement, 5)));
    }
    return status;
}

void ft_store_jobs_open(ft_store *store, ft_store_done done, void *data)
{
    ft_store_send(store, ft_store_request(run_jobs_open, false, done, data));
}

/* ---- Creating and cancelling ----------------------------------------------------------------- */

static ft_status new_id(char id[FT_STORE_JOB_ID + 1], ft_error *err)
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char bytes[FT_STORE_JOB_ID / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return ft_error_set(err, FT_IO, "the system gives no random bytes");
    for (size_t i = 0; i < sizeof bytes; i++) {
        id[2 * i] = DIGITS[bytes[i] >> 4];
        id[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    id[FT_STORE_JOB_ID] = '\0';
    return FT_OK;
}

static ft_status insert_job(ft_sql *sql, const char *id, const char *trace, const json_t *spec,
                            ft_error *err)
{
    char *text = ft_store_dump(spec);
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "INSERT INTO jobs (id, trace, name, spec, state, tasks, open, ready, created, updated) "
        "VALUES (?1, ?2, ?3, ?4, 'queued', 1, 1, 1, ?5, ?5)",
        "tttti", id, trace, json_string_value(json_object_get(spec, "name")), (const char *)text,
        ft_store_now());
    free(text);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "INSERT INTO tasks (job, kind) VALUES (?1, 'plan')", "t", id);
}

static ft_status run_job_create(ft_sql *sql, ft_request *request, ft_error *err)
{
    char id[FT_STORE_JOB_ID + 1];
    bool known;
    int64_t one;
    const char *trace = json_string_value(json_object_get(request->json, "trace"));
    if (!trace) return ft_error_set(err, FT_USAGE, "trace: the job names none");
    ft_status status =
        ft_sql_number(sql, &one, &known, err, "SELECT 1 FROM traces WHERE hash = ?1", "t", trace);
    if (status != FT_OK) return status;
    if (!known) {
        return ft_error_set(err, FT_NOT_FOUND,
                            "trace: %.64s is not stored here; upload it to /v1/traces first",
                            trace);
    }
    status = new_id(id, err);
    if (status == FT_OK) status = insert_job(sql, id, trace, request->json, err);
    if (status == FT_OK) status = ft_store_snapshot(sql, id, &request->result, err);
    return status;
}

void ft_store_job_create(ft_store *store, const json_t *spec, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_job_create, true, done, data);
    request->json = json_deep_copy(spec);
    ft_store_send(store, request);
}

static ft_status run_job_cancel(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_job_row row;
    ft_status status = ft_store_job_row(sql, request->job, &row, err);
    if (status != FT_OK) return status;
    bool applied = !ft_job_state_final(row.state);
    if (applied) status = ft_store_job_move(sql, request->job, FT_JOB_CANCELLED, err);
    if (applied && status == FT_OK) {
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE tasks SET state = 'cancelled', token = NULL, expires = NULL "
                            "WHERE job = ?1 AND state IN ('ready', 'leased')",
                            "t", request->job);
    }
    if (applied && status == FT_OK) {
        status = ft_sql_run(sql, NULL, err, "UPDATE jobs SET open = 0, ready = 0 WHERE id = ?1",
                            "t", request->job);
    }
    if (status == FT_OK)
        status = ft_store_change(sql, request->job, applied, &request->result, err);
    return status;
}

void ft_store_job_cancel(ft_store *store, const char *job, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_job_cancel, true, done, data);
    request->job = ft_strdup(job);
    ft_store_send(store, request);
}
