#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/access.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/schedule_sets.h"
#include "store/subtrees.h"
#include "wire/wire.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

ft_status ft_store_job_row(ft_sql *sql, const char *job, ft_job_row *row, ft_error *err)
{
    ft_statement *statement;
    bool found;
    ft_status status = ft_sql_start(
        sql, &statement, err, "SELECT state, open, n, next, last, verdicts FROM jobs WHERE id = ?1",
        "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found) return ft_error_set(err, FT_NOT_FOUND, "no job %s", job);
    if (!ft_job_state_parse(ft_sql_text(statement, 0), &row->state))
        return ft_error_set(err, FT_INTERNAL, "job %s is in an unknown state", job);
    row->open = ft_sql_int(statement, 1);
    row->n = ft_sql_int(statement, 2);
    row->next = ft_sql_int(statement, 3);
    row->last = ft_sql_int(statement, 4);
    row->verdicts = ft_sql_int(statement, 5);
    return FT_OK;
}

ft_status ft_store_job_move(ft_sql *sql, const char *job, ft_job_state to, ft_error *err)
{
    ft_job_row row;
    FT_REQUIRE(job && to < FT_JOB_STATES);
    ft_status status = ft_store_job_row(sql, job, &row, err);
    if (status != FT_OK) return status;
    if (!ft_job_state_may(row.state, to)) {
        return ft_error_set(err, FT_CONFLICT, "a job in state %s cannot become %s",
                            ft_job_state_name(row.state), ft_job_state_name(to));
    }
    status = ft_sql_run(sql, NULL, err,
                        "UPDATE jobs SET state = ?2, updated = ?3, revision = revision + 1, "
                        "finished = CASE WHEN ?4 <> 0 THEN ?3 END WHERE id = ?1",
                        "ttii", job, ft_job_state_name(to), ft_sql_now(sql),
                        (int64_t)ft_job_state_final(to));
    if (status == FT_OK && ft_job_state_final(to)) status = ft_subtrees_drop(sql, job, err);
    if (status == FT_OK && ft_job_state_final(to))
        status = ft_schedule_sets_end(sql, job, to == FT_JOB_DONE, err);
    if (status == FT_OK && ft_job_state_final(to)) status = ft_store_reviews_carry(sql, job, err);
    if (status == FT_OK && ft_job_state_final(to)) status = ft_store_webhooks_note(sql, job, err);
    return status;
}

ft_status ft_store_job_fail(ft_sql *sql, const char *job, const ft_error *cause, ft_error *err)
{
    json_t *error = ft_wire_error_to_json(cause);
    char *text = ft_store_dump(error);
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "UPDATE jobs SET error = ?2, open = 0, ready = 0, dropped = 0 WHERE id = ?1",
                   "tt", job, (const char *)text);
    if (status == FT_OK) status = ft_store_job_move(sql, job, FT_JOB_FAILED, err);
    free(text);
    json_decref(error);
    return status;
}

ft_status ft_store_recount(ft_sql *sql, ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "UPDATE jobs SET (ready, dropped, open) = (SELECT coalesce(sum(alone < 2), 0) + jobs.last "
        "- jobs.next + 1, coalesce(sum(dropped), 0), coalesce(sum((id & " FT_CUBE_BIT ") = 0), 0) "
        "+ jobs.last - jobs.next + 1 FROM tasks WHERE state = 'ready' AND id BETWEEN jobs.n << 28 "
        "AND (jobs.n << 28) + " FT_TASK_NUMBERS ") WHERE finished IS NULL",
        "");
    return status;
}

ft_status ft_store_read_change(ft_sql *sql, const char *job, bool applied, json_t **change,
                               ft_error *err)
{
    ft_statement *statement;
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

ft_status ft_store_change(ft_sql *sql, const char *job, bool applied, json_t **change,
                          ft_error *err)
{
    json_t *read = NULL;
    ft_status status = ft_store_read_change(sql, job, applied, &read, err);
    if (status == FT_OK && applied) status = ft_node_tell(sql, read, err);
    if (status == FT_OK)
        *change = read;
    else
        json_decref(read);
    return status;
}

ft_status ft_store_tell(ft_sql *sql, const char *job, ft_error *err)
{
    json_t *change = NULL;
    if (!sql->driver->shared) return FT_OK;
    ft_status status = ft_store_change(sql, job, true, &change, err);
    json_decref(change);
    return status;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

#define SNAPSHOT_COLUMNS                                                                           \
    "id, name, state, trace, model, created, updated, finished, revision, tasks, open, error, n, " \
    "project, priority, dropped "

static json_t *text_or_null(ft_statement *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return json_string(ft_sql_text(statement, column));
}

static json_t *time_or_null(ft_statement *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return ft_store_time(ft_sql_int(statement, column));
}

/* From a row of SNAPSHOT_COLUMNS. */
static ft_status snapshot_row(ft_statement *statement, json_t **snapshot, ft_error *err)
{
    json_t *error = NULL;
    if (!ft_sql_null(statement, 11)) {
        ft_status status = ft_store_parse(statement, 11, &error, err);
        if (status != FT_OK) return status;
    }
    *snapshot = json_pack(
        "{s:o, s:o, s:s, s:o, s:o, s:o, s:s, s:n, s:s, s:o, s:o, s:o, s:I, s:{s:I, s:I}, "
        "s:o, s:I}",
        "job", text_or_null(statement, 0), "name", text_or_null(statement, 1), "project",
        ft_sql_text(statement, 13), "state", text_or_null(statement, 2), "trace",
        text_or_null(statement, 3), "model", text_or_null(statement, 4), "memory", "sc", "bound",
        "scope", "trace", "created", time_or_null(statement, 5), "updated",
        time_or_null(statement, 6), "finished", time_or_null(statement, 7), "revision",
        (json_int_t)ft_sql_int(statement, 8), "progress", "tasks",
        (json_int_t)ft_sql_int(statement, 9), "open", (json_int_t)ft_sql_int(statement, 10),
        "error", error ? error : json_null(), "priority", (json_int_t)ft_sql_int(statement, 14));
    if (ft_sql_int(statement, 15) > 0)
        json_object_set_new(json_object_get(*snapshot, "progress"), "dropped",
                            json_integer(ft_sql_int(statement, 15)));
    return FT_OK;
}

/* The columns that lists leave out. */
static ft_status add_details(ft_sql *sql, const char *job, json_t *snapshot, ft_error *err)
{
    ft_statement *statement;
    bool found;
    json_t *spec = NULL, *plan = NULL, *checks = NULL, *deaths = NULL, *explored = NULL;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT spec, coalesce(plan, 'null') FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status == FT_OK) status = ft_store_parse(statement, 0, &spec, err);
    if (status == FT_OK) status = ft_store_parse(statement, 1, &plan, err);
    if (status == FT_OK) status = ft_store_checks(sql, job, plan, &checks, err);
    if (status == FT_OK) status = ft_store_deaths(sql, job, 0, &deaths, err);
    if (status == FT_OK) status = ft_subtrees_progress(sql, job, &explored, err);
    if (status == FT_OK) {
        if (json_array_size(deaths)) json_object_set(snapshot, "deaths", deaths);
        json_object_set(snapshot, "checks", checks);
        json_object_set(snapshot, "spec", spec);
        if (explored) json_object_set(snapshot, "explored", explored);
        if (json_object_get(plan, "statistics"))
            json_object_set(snapshot, "statistics", json_object_get(plan, "statistics"));
    }
    json_decref(spec);
    json_decref(plan);
    json_decref(checks);
    json_decref(deaths);
    json_decref(explored);
    return status;
}

ft_status ft_store_snapshot(ft_sql *sql, const char *job, json_t **snapshot, ft_error *err)
{
    ft_statement *statement;
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

static ft_status list_rows(ft_sql *sql, ft_statement *statement, uint32_t limit, json_t *jobs,
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

static ft_status start_jobs(ft_sql *sql, ft_request *request, int64_t before,
                            ft_statement **statement, ft_error *err)
{
    const json_t *f = request->json;
    return ft_sql_start(
        sql, statement, err,
        "SELECT " SNAPSHOT_COLUMNS "FROM jobs WHERE n < ?1 "
        "AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR trace = ?3) "
        "AND (?4 IS NULL OR project = ?4) AND created >= ?5 "
        "AND (?6 IS NULL OR instr(?6, ',' || project || ',') > 0) "
        "AND (?7 IS NULL OR instr(lower(name), lower(?7)) > 0 OR instr(id, lower(?7)) > 0 "
        "OR instr(trace, lower(?7)) = 1 OR instr(lower(project), lower(?7)) > 0) ORDER BY n DESC "
        "LIMIT ?8",
        "itttitti", before, json_string_value(json_object_get(f, "state")),
        json_string_value(json_object_get(f, "trace")),
        json_string_value(json_object_get(f, "project")),
        (int64_t)json_integer_value(json_object_get(f, "since")), (const char *)request->other,
        json_string_value(json_object_get(f, "search")),
        request->limit > 0 ? (int64_t)request->limit + 1 : INT64_MAX);
}

static ft_status run_jobs(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    int64_t before;
    ft_job_state state;
    const char *named = json_string_value(json_object_get(request->json, "state"));
    if (named && !ft_job_state_parse(named, &state))
        return ft_error_set(err, FT_USAGE, "%.32s is not a job state", named);
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status == FT_OK) status = start_jobs(sql, request, before, &statement, err);
    if (status != FT_OK) return status;
    json_t *jobs = json_array(), *next = NULL;
    request->result = json_pack("{s:o}", "jobs", jobs);
    status = list_rows(sql, statement, request->limit, jobs, &next, err);
    json_object_set_new(request->result, "next", next ? next : json_null());
    return status;
}

void ft_store_jobs(ft_store *store, ft_store_job_filter filter, ft_store_page page,
                   ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_jobs, false, done, data);
    request->json = json_pack("{s:s?, s:s?, s:s?, s:s?, s:I}", "state", filter.state, "trace",
                              filter.trace, "project", filter.project, "search", filter.search,
                              "since", (json_int_t)filter.since);
    request->other = page.projects ? ft_strdup(page.projects) : NULL;
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->limit = page.limit;
    ft_store_send(store, request);
}

#define NAMED(ids)                                                                                 \
    "SELECT " SNAPSHOT_COLUMNS "FROM jobs WHERE id IN (" ids ") AND (?2 IS NULL OR "               \
    "instr(?2, ',' || project || ',') > 0) ORDER BY n DESC"

static ft_status run_jobs_named(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    char *ids = ft_store_dump(request->json);
    json_t *jobs = json_array(), *next = NULL;
    request->result = json_pack("{s:o}", "jobs", jobs);
    ft_status status = ft_sql_start(sql, &statement, err,
                                    FT_DIALECTS(NAMED("SELECT value FROM json_each(?1)"),
                                                NAMED("SELECT json_array_elements_text(?1::json)")),
                                    "tt", (const char *)ids, (const char *)request->other);
    if (status == FT_OK) status = list_rows(sql, statement, 0, jobs, &next, err);
    free(ids);
    return status;
}

void ft_store_jobs_named(ft_store *store, const json_t *ids, const char *projects,
                         ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_jobs_named, false, done, data);
    request->json = json_deep_copy(ids);
    request->other = projects ? ft_strdup(projects) : NULL;
    ft_store_send(store, request);
}

static ft_status run_jobs_open(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row;
    json_t *jobs = json_array();
    request->result = json_pack("{s:o}", "jobs", jobs);
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT spec, id, trace, state, ready, open, spent_ms, "
                     "priority, project, revision FROM jobs WHERE finished IS NULL ORDER BY n",
                     "");
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        json_t *spec;
        status = ft_store_parse(statement, 0, &spec, err);
        if (status != FT_OK) break;
        json_array_append_new(
            jobs,
            json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:I}", "spec", spec, "job",
                      ft_sql_text(statement, 1), "trace", ft_sql_text(statement, 2), "state",
                      ft_sql_text(statement, 3), "ready", (json_int_t)ft_sql_int(statement, 4),
                      "open", (json_int_t)ft_sql_int(statement, 5), "spent_ms",
                      (json_int_t)ft_sql_int(statement, 6), "priority",
                      (json_int_t)ft_sql_int(statement, 7), "project", ft_sql_text(statement, 8),
                      "revision", (json_int_t)ft_sql_int(statement, 9)));
    }
    return status;
}

void ft_store_jobs_open(ft_store *store, ft_store_done done, void *data)
{
    ft_store_send(store, ft_store_request(run_jobs_open, false, done, data));
}

/* ---- Creating and cancelling ----------------------------------------------------------------- */

static const char *project_of(const json_t *spec)
{
    const char *project = json_string_value(json_object_get(spec, "project"));
    return project ? project : FT_PROJECT_DEFAULT;
}

static ft_status insert_job(ft_sql *sql, const char *id, const char *trace, const json_t *spec,
                            ft_error *err)
{
    const char *project = project_of(spec);
    char *text = ft_store_dump(spec);
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "INSERT INTO jobs (id, trace, name, spec, state, tasks, open, ready, created, updated, "
        "project, priority) VALUES (?1, ?2, ?3, ?4, 'queued', 1, 1, 1, ?5, ?5, ?6, ?7)",
        "ttttiti", id, trace, json_string_value(json_object_get(spec, "name")), (const char *)text,
        ft_sql_now(sql), project, (int64_t)json_integer_value(json_object_get(spec, "priority")));
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "INSERT INTO trace_projects (trace, project) VALUES (?1, ?2) "
                            "ON CONFLICT DO NOTHING",
                            "tt", trace, project);
    free(text);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "INSERT INTO tasks (id) VALUES (" FT_JOB_N " << 28)", "t",
                      id);
}

/* The job that this key made before; NULL in request->result: none. */
static ft_status find_key(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row;
    char job[FT_STORE_JOB_ID + 1];
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT body, job FROM idempotency_keys WHERE project = ?1 AND key = ?2", "tt",
                     project_of(request->json), (const char *)request->other);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    if (strcmp(ft_sql_text(statement, 0), request->third) != 0)
        return ft_error_set(err, FT_CONFLICT, "this Idempotency-Key was used for another job");
    snprintf(job, sizeof job, "%s", ft_sql_text(statement, 1));
    status = ft_store_snapshot(sql, job, &request->result, err);
    if (status == FT_OK) json_object_set_new(request->result, "known", json_true());
    return status;
}

static ft_status add_key(ft_sql *sql, const ft_request *request, const char *job, ft_error *err)
{
    int64_t now = ft_sql_now(sql);
    ft_status status = ft_sql_run(sql, NULL, err, "DELETE FROM idempotency_keys WHERE created < ?1",
                                  "i", now - (int64_t)FT_STORE_KEY_DAYS * 86400000);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "INSERT INTO idempotency_keys (project, key, body, job, created) "
                      "VALUES (?1, ?2, ?3, ?4, ?5)",
                      "tttti", project_of(request->json), (const char *)request->other,
                      (const char *)request->third, job, now);
}

/* Its URL is nothing for those who read the job, nor for workers. */
static ft_status insert_with_webhook(ft_sql *sql, const char *id, const char *trace,
                                     const json_t *spec, ft_error *err)
{
    const char *url = json_string_value(json_object_get(spec, "webhook"));
    json_t *kept = json_copy((json_t *)(uintptr_t)spec);
    json_object_del(kept, "webhook");
    ft_status status = insert_job(sql, id, trace, kept, err);
    if (status == FT_OK && url) status = ft_store_job_webhook(sql, id, project_of(kept), url, err);
    json_decref(kept);
    return status;
}

/* Exact however many are being created at once. */
static ft_status check_room(ft_sql *sql, const ft_request *request, ft_error *err)
{
    int64_t open = 0;
    const char *project = project_of(request->json);
    if (request->limit == 0) return FT_OK;
    ft_status status = ft_sql_lock(sql, "jobs", project, err);
    if (status == FT_OK)
        status = ft_sql_number(sql, &open, NULL, err,
                               "SELECT count(*) FROM jobs WHERE finished IS NULL AND project = ?1",
                               "t", project);
    if (status != FT_OK || open < (int64_t)request->limit) return status;
    return ft_error_set(err, FT_BUDGET,
                        "project %s has %lld jobs that have not ended, its limit: "
                        "wait for one to end",
                        project, (long long)open);
}

static ft_status run_job_create(ft_sql *sql, ft_request *request, ft_error *err)
{
    char id[FT_STORE_JOB_ID + 1];
    bool known;
    int64_t one;
    const char *trace = json_string_value(json_object_get(request->json, "trace"));
    if (!trace) return ft_error_set(err, FT_USAGE, "trace: the job does not name a trace");
    ft_status status = request->other ? find_key(sql, request, err) : FT_OK;
    if (status != FT_OK || request->result) return status;
    status =
        ft_sql_number(sql, &one, &known, err, "SELECT 1 FROM traces WHERE hash = ?1", "t", trace);
    if (status != FT_OK) return status;
    if (!known) {
        return ft_error_set(err, FT_NOT_FOUND,
                            "trace: %.64s is not stored here; upload it to /v1/traces first",
                            trace);
    }
    status = check_room(sql, request, err);
    if (status == FT_OK) status = ft_store_random_hex(id, FT_STORE_JOB_ID, err);
    if (status == FT_OK) status = insert_with_webhook(sql, id, trace, request->json, err);
    if (status == FT_OK && request->other) status = add_key(sql, request, id, err);
    if (status == FT_OK) status = ft_store_snapshot(sql, id, &request->result, err);
    return status == FT_OK ? ft_store_tell(sql, id, err) : status;
}

void ft_store_job_create(ft_store *store, const json_t *spec, const ft_store_key *key,
                         uint32_t most, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_job_create, true, done, data);
    request->limit = most;
    request->other = key ? ft_strdup(key->key) : NULL;
    request->third = key ? ft_strdup(key->body) : NULL;
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
    if (applied && status == FT_OK) status = ft_cubes_drop(sql, request->job, err);
    if (applied && status == FT_OK) {
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE tasks SET state = 'cancelled', token = NULL "
                            "WHERE id " FT_JOB_TASKS " AND state IN ('ready', 'leased')",
                            "t", request->job);
    }
    if (applied && status == FT_OK) status = ft_store_leases_drop(sql, request->job, err);
    if (applied && status == FT_OK) {
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE jobs SET open = 0, ready = 0, dropped = 0 WHERE id = ?1", "t",
                            request->job);
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
