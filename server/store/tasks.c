/* Leases and results. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"

/* ---- Leasing --------------------------------------------------------------------------------- */

/* One job's share of what was released. */
static ft_status released(ft_sql *sql, const char *job, ft_error *err)
{
    ft_status status =
        ft_sql_run(sql, NULL, err, "UPDATE jobs SET ready = ready + 1 WHERE id = ?1", "t", job);
    return status == FT_OK ? ft_store_job_requeue(sql, job, err) : status;
}

/* *jobs: an array, a job as often as it had a task; the caller's. */
static ft_status release_expired(ft_sql *sql, json_t **jobs, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    json_t *job;
    size_t i;
    *jobs = json_array();
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "UPDATE tasks SET state = 'ready', token = NULL, expires = NULL "
                     "WHERE state = 'leased' AND expires < ?1 RETURNING job",
                     "i", ft_store_now());
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(*jobs, json_string(ft_sql_text(statement, 0)));
    json_array_foreach(*jobs, i, job) if (status == FT_OK) status =
        released(sql, json_string_value(job), err);
    return status;
}

/* The epoch in the upper half tells the runs of the daemon apart. */
static ft_status new_token(ft_sql *sql, int64_t *token, ft_error *err)
{
    return ft_sql_number(sql, token, NULL, err,
                         "UPDATE counters SET next_token = next_token + 1 "
                         "RETURNING (epoch << 32) | (next_token & 4294967295)",
                         "");
}

/* Of a row of id, kind, subproblem and the key and check of its entry. */
#define LEASED_COLUMNS "id, kind, subproblem, entry ->> '$.key', entry ->> '$.check'"

static json_t *text_or_null(sqlite3_stmt *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return json_string(ft_sql_text(statement, column));
}

static json_t *leased_task(sqlite3_stmt *statement)
{
    json_t *task = json_object();
    json_object_set_new(task, "task", json_integer(ft_sql_int(statement, 0)));
    json_object_set_new(task, "subproblem", json_integer(ft_sql_int(statement, 2)));
    json_object_set_new(task, "key", text_or_null(statement, 3));
    json_object_set_new(task, "check", text_or_null(statement, 4));
    return task;
}

/* The furthest that a retry is ever put off: what is due later was put off under another clock. */
#define DUE_MOST ((int64_t)FT_STORE_RETRY_MOST)

/* One kind at a time, and alone what was in a batch that died. */
static ft_status choose(ft_sql *sql, ft_request *request, json_t *tasks, ft_task_kind *kind,
                        int64_t *dropped, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    int64_t now = ft_store_now();
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT " LEASED_COLUMNS ", alone, dropped FROM tasks WHERE job = ?1 "
        "AND state = 'ready' AND (due <= ?3 OR due > ?4) ORDER BY alone, id LIMIT ?2",
        "tiii", (const char *)request->job, (int64_t)request->limit, now, now + DUE_MOST);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        ft_task_kind its;
        bool first = json_array_size(tasks) == 0;
        if (!ft_task_kind_parse(ft_sql_text(statement, 1), &its) || !ft_task_kind_stored(its))
            return ft_error_set(err, FT_INTERNAL, "a task of an unknown kind is stored");
        bool alone = ft_sql_int(statement, 5) != 0 || its == FT_KIND_PLAN;
        if (!first && (alone || its != *kind)) break;
        json_array_append_new(tasks, leased_task(statement));
        *kind = its;
        *dropped += ft_sql_int(statement, 6);
        if (alone) break;
    }
    return status;
}

static ft_status take(ft_sql *sql, const json_t *tasks, int64_t token, uint32_t lease_ms,
                      ft_error *err)
{
    size_t index;
    json_t *task;
    int64_t expires = ft_store_now() + lease_ms;
    assert(ft_task_state_may(FT_TASK_READY, FT_TASK_LEASED));
    json_array_foreach(tasks, index, task)
    {
        ft_status status = ft_sql_run(
            sql, NULL, err,
            "UPDATE tasks SET state = 'leased', token = ?2, expires = ?3, dropped = 0 "
            "WHERE id = ?1",
            "iii", (int64_t)json_integer_value(json_object_get(task, "task")), token, expires);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

static void describe_lease(json_t *result, int64_t token, ft_task_kind kind)
{
    json_object_set_new(result, "token", json_integer(token));
    json_object_set_new(result, "kind", json_string(ft_task_kind_name(kind)));
}

static ft_status lease_chosen(ft_sql *sql, ft_request *request, json_t *tasks, ft_task_kind kind,
                              int64_t dropped, ft_error *err)
{
    int64_t token;
    ft_status status = new_token(sql, &token, err);
    if (status == FT_OK) status = take(sql, tasks, token, request->lease_ms, err);
    if (status == FT_OK && kind == FT_KIND_PLAN)
        status = ft_store_job_move(sql, request->job, FT_JOB_PLANNING, err);
    if (status == FT_OK) {
        status =
            ft_sql_run(sql, NULL, err,
                       "UPDATE jobs SET ready = ready - ?2, dropped = dropped - ?3 "
                       "WHERE id = ?1",
                       "tii", (const char *)request->job, (int64_t)json_array_size(tasks), dropped);
    }
    if (status == FT_OK) describe_lease(request->result, token, kind);
    return status;
}

/* Until the first of the tasks that were put off is due; absent without one. */
static ft_status add_wait(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t due = 0, now = ft_store_now();
    ft_status status = ft_sql_number(sql, &due, NULL, err,
                                     "SELECT ifnull(min(due), 0) FROM tasks WHERE job = ?1 "
                                     "AND state = 'ready'",
                                     "t", (const char *)request->job);
    if (status == FT_OK && due > now)
        json_object_set_new(request->result, "wait_ms", json_integer(due - now));
    return status;
}

static ft_status run_lease(ft_sql *sql, ft_request *request, ft_error *err)
{
    json_t *tasks = json_array(), *change, *expired;
    ft_task_kind kind = FT_KIND_SOLVE;
    int64_t dropped = 0;
    request->result = json_pack("{s:n, s:n, s:o}", "token", "kind", "tasks", tasks);
    ft_status status = release_expired(sql, &expired, err);
    json_decref(expired);
    if (status == FT_OK) status = choose(sql, request, tasks, &kind, &dropped, err);
    bool empty = json_array_size(tasks) == 0;
    if (status == FT_OK && !empty) status = lease_chosen(sql, request, tasks, kind, dropped, err);
    if (status == FT_OK && empty) status = add_wait(sql, request, err);
    if (status == FT_OK) status = ft_store_change(sql, request->job, true, &change, err);
    if (status == FT_OK) json_object_set_new(request->result, "change", change);
    return status;
}

void ft_store_lease(ft_store *store, const char *job, uint32_t most, uint32_t lease_ms,
                    ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_lease, true, done, data);
    request->job = ft_strdup(job);
    request->limit = most;
    request->lease_ms = lease_ms;
    ft_store_send(store, request);
}

/* ---- Stealing -------------------------------------------------------------------------------- */

/* One task, if the old lease still holds it: from then on a result under the old one is fenced. */
static ft_status move_task(ft_sql *sql, ft_request *request, int64_t task, int64_t token,
                           json_t *tasks, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "UPDATE tasks SET token = ?3, expires = ?4 WHERE id = ?1 AND state = 'leased' "
        "AND token = ?2 RETURNING " LEASED_COLUMNS,
        "iiii", task, (int64_t)request->token, token, ft_store_now() + request->lease_ms);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    json_array_append_new(tasks, leased_task(statement));
    return ft_sql_next(sql, statement, &row, err);
}

static ft_status run_steal(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t token;
    size_t i;
    json_t *id, *change, *tasks = json_array();
    request->result = json_pack("{s:n, s:n, s:o}", "token", "kind", "tasks", tasks);
    ft_status status = new_token(sql, &token, err);
    json_array_foreach(request->json, i, id) if (status == FT_OK) status =
        move_task(sql, request, json_integer_value(id), token, tasks, err);
    if (status == FT_OK && json_array_size(tasks) > 0)
        describe_lease(request->result, token, FT_KIND_SOLVE);
    if (status == FT_OK) status = ft_store_change(sql, request->job, true, &change, err);
    if (status == FT_OK) json_object_set_new(request->result, "change", change);
    return status;
}

void ft_store_steal(ft_store *store, const char *job, uint64_t token, const json_t *tasks,
                    uint32_t lease_ms, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_steal, true, done, data);
    request->job = ft_strdup(job);
    request->token = token;
    request->json = json_deep_copy(tasks);
    request->lease_ms = lease_ms;
    ft_store_send(store, request);
}

/* ---- Renewing -------------------------------------------------------------------------------- */

static ft_status add_spent(ft_sql *sql, const json_t *spent, ft_error *err)
{
    ft_status status = FT_OK;
    const char *job;
    json_t *ms;
    json_object_foreach((json_t *)(uintptr_t)spent, job, ms)
    {
        if (status == FT_OK)
            status = ft_sql_run(sql, NULL, err,
                                "UPDATE jobs SET spent_ms = max(spent_ms, ?2) WHERE id = ?1", "ti",
                                job, (int64_t)json_integer_value(ms));
    }
    return status;
}

static ft_status add_usage(ft_sql *sql, const json_t *usage, ft_error *err)
{
    ft_status status = FT_OK;
    const char *project;
    json_t *ms;
    json_object_foreach((json_t *)(uintptr_t)usage, project, ms)
    {
        if (status == FT_OK)
            status = ft_sql_run(sql, NULL, err,
                                "INSERT INTO project_usage VALUES (?1, ?2, ?3) "
                                "ON CONFLICT (project, day) DO UPDATE SET ms = ms + ?3",
                                "tii", project, ft_store_now() / FT_STORE_DAY_MS,
                                (int64_t)json_integer_value(ms));
    }
    return status;
}

static ft_status run_extend(ft_sql *sql, ft_request *request, ft_error *err)
{
    char *tokens = ft_store_dump(json_object_get(request->json, "tokens"));
    json_t *expired = NULL;
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "UPDATE tasks SET expires = ?2 WHERE state = 'leased' "
                   "AND token IN (SELECT value FROM json_each(?1))",
                   "ti", (const char *)tokens, ft_store_now() + (int64_t)request->lease_ms);
    free(tokens);
    if (status == FT_OK) status = add_spent(sql, json_object_get(request->json, "spent"), err);
    if (status == FT_OK) status = add_usage(sql, json_object_get(request->json, "usage"), err);
    if (status == FT_OK) status = release_expired(sql, &expired, err);
    request->result = json_pack("{s:o*}", "released", expired);
    return status;
}

void ft_store_extend(ft_store *store, json_t *beat, uint32_t lease_ms, ft_store_done done,
                     void *data)
{
    ft_request *request = ft_store_request(run_extend, true, done, data);
    request->json = beat;
    request->lease_ms = lease_ms;
    ft_store_send(store, request);
}

/* ---- Results --------------------------------------------------------------------------------- */

ft_status ft_store_task_row(ft_sql *sql, int64_t task, ft_task_row *out, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT job, kind, ifnull(entry, 'null') FROM tasks WHERE id = ?1", "i", task);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) return ft_error_set(err, FT_NOT_FOUND, "no task %lld", (long long)task);
    if (!ft_task_kind_parse(ft_sql_text(statement, 1), &out->kind))
        return ft_error_set(err, FT_INTERNAL, "a task of an unknown kind is stored");
    snprintf(out->job, sizeof out->job, "%s", ft_sql_text(statement, 0));
    return ft_store_parse(statement, 2, &out->entry, err);
}

ft_status ft_store_task_end(ft_sql *sql, int64_t task, uint64_t token, ft_task_state to,
                            bool *applied, ft_error *err)
{
    int64_t changed;
    assert(ft_task_state_may(FT_TASK_LEASED, to) && ft_task_state_final(to));
    ft_status status = ft_sql_run(sql, &changed, err,
                                  "UPDATE tasks SET state = ?3, token = NULL, expires = NULL "
                                  "WHERE id = ?1 AND state = 'leased' AND token = ?2",
                                  "iit", task, (int64_t)token, ft_task_state_name(to));
    *applied = changed == 1;
    return status;
}

ft_status ft_store_task_count_down(ft_sql *sql, const char *job, int64_t count, ft_error *err)
{
    int64_t open;
    ft_status status =
        ft_sql_number(sql, &open, NULL, err,
                      "UPDATE jobs SET open = open - ?3, updated = ?2, revision = revision + 1 "
                      "WHERE id = ?1 RETURNING open",
                      "tii", job, ft_store_now(), count);
    if (status == FT_OK && open == 0) status = ft_store_job_move(sql, job, FT_JOB_DONE, err);
    return status;
}

/* The fence: *held tells whether the lease still holds the task; then the record must be of it. */
static ft_status look_at_task(ft_sql *sql, const ft_request *request, size_t index, bool *held,
                              ft_error *err)
{
    sqlite3_stmt *statement;
    const ft_record record = ft_results_record(&request->results, index);
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT ifnull(entry, '{}') FROM tasks WHERE id = ?1 AND state = 'leased' AND token = ?2 "
        "AND job = ?3",
        "iit", request->results.items[index].task, (int64_t)request->token,
        (const char *)request->job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, held, err);
    if (status != FT_OK || !*held) return status;
    return ft_record_check_entry(&record, ft_sql_text(statement, 0), err);
}

static ft_status take_result(ft_sql *sql, const ft_request *request, size_t index, bool *applied,
                             ft_error *err)
{
    assert(ft_task_state_may(FT_TASK_LEASED, FT_TASK_DONE));
    ft_status status = look_at_task(sql, request, index, applied, err);
    if (status != FT_OK || !*applied) return status;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE tasks SET state = 'done', token = NULL, expires = NULL "
                      "WHERE id = ?1",
                      "i", request->results.items[index].task);
}

/* Those in time come first in the request's results then. */
static ft_status take_results(ft_sql *sql, ft_request *request, size_t *count, json_t *late,
                              ft_error *err)
{
    ft_result *items = request->results.items;
    *count = 0;
    for (size_t i = 0; i < request->results.count; i++) {
        bool applied = false;
        ft_status status = take_result(sql, request, i, &applied, err);
        if (status != FT_OK) return status;
        if (applied)
            items[(*count)++] = items[i];
        else
            json_array_append_new(late, json_integer(items[i].task));
    }
    return FT_OK;
}

static ft_status run_results(ft_sql *sql, ft_request *request, ft_error *err)
{
    size_t count = 0;
    json_t *late = json_array();
    ft_status status = take_results(sql, request, &count, late, err);
    if (status == FT_OK && count > 0)
        status = ft_store_verdicts_add(sql, request->job, &request->results, count, err);
    if (status == FT_OK && count > 0)
        status = ft_store_task_count_down(sql, request->job, (int64_t)count, err);
    if (status == FT_OK)
        status = ft_store_change(sql, request->job, count > 0, &request->result, err);
    if (status == FT_OK) json_object_set(request->result, "late", late);
    json_decref(late);
    return status;
}

void ft_store_results_commit(ft_store *store, const char *job, uint64_t token, ft_results *results,
                             ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_results, true, done, data);
    request->job = ft_strdup(job);
    request->token = token;
    request->results = *results;
    *results = (ft_results){.items = NULL};
    ft_store_send(store, request);
}
