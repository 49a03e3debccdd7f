/* Leases and results. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"

/* ---- Leasing --------------------------------------------------------------------------------- */

static ft_status release_expired(ft_sql *sql, ft_error *err)
{
    int64_t released;
    ft_status status = ft_sql_run(sql, &released, err,
                                  "UPDATE tasks SET state = 'ready', token = NULL, expires = NULL "
                                  "WHERE state = 'leased' AND expires < ?1",
                                  "i", ft_store_now());
    if (status == FT_OK && released > 0) status = ft_store_recount(sql, err);
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

static json_t *leased_task(sqlite3_stmt *statement, ft_error *err)
{
    json_t *entry = NULL;
    if (!ft_sql_null(statement, 3) && ft_store_parse(statement, 3, &entry, err) != FT_OK)
        return NULL;
    json_t *task =
        json_pack("{s:I, s:I, s:O?, s:O?}", "task", (json_int_t)ft_sql_int(statement, 0),
                  "subproblem", (json_int_t)ft_sql_int(statement, 2), "key",
                  json_object_get(entry, "key"), "check", json_object_get(entry, "check"));
    json_decref(entry);
    return task;
}

/* One kind at a time, and alone what was in a batch that died. */
static ft_status choose(ft_sql *sql, ft_request *request, json_t *tasks, ft_task_kind *kind,
                        ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT id, kind, subproblem, entry, alone FROM tasks WHERE job = ?1 "
                     "AND state = 'ready' ORDER BY priority DESC, alone, id LIMIT ?2",
                     "ti", (const char *)request->job, (int64_t)request->limit);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        ft_task_kind its;
        bool first = json_array_size(tasks) == 0;
        if (!ft_task_kind_parse(ft_sql_text(statement, 1), &its) || !ft_task_kind_stored(its))
            return ft_error_set(err, FT_INTERNAL, "a task of an unknown kind is stored");
        bool alone = ft_sql_int(statement, 4) != 0 || its == FT_KIND_PLAN;
        if (!first && (alone || its != *kind)) break;
        json_t *task = leased_task(statement, err);
        if (!task) return FT_INTERNAL;
        json_array_append_new(tasks, task);
        *kind = its;
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
            "UPDATE tasks SET state = 'leased', token = ?2, expires = ?3 WHERE id = ?1", "iii",
            (int64_t)json_integer_value(json_object_get(task, "task")), token, expires);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

static ft_status lease_chosen(ft_sql *sql, ft_request *request, json_t *tasks, ft_task_kind kind,
                              ft_error *err)
{
    int64_t token;
    ft_status status = new_token(sql, &token, err);
    if (status == FT_OK) status = take(sql, tasks, token, request->lease_ms, err);
    if (status == FT_OK && kind == FT_KIND_PLAN)
        status = ft_store_job_move(sql, request->job, FT_JOB_PLANNING, err);
    if (status == FT_OK) {
        status = ft_sql_run(sql, NULL, err, "UPDATE jobs SET ready = ready - ?2 WHERE id = ?1",
                            "ti", (const char *)request->job, (int64_t)json_array_size(tasks));
    }
    if (status != FT_OK) return status;
    json_object_set_new(request->result, "token", json_integer(token));
    json_object_set_new(request->result, "kind", json_string(ft_task_kind_name(kind)));
    return FT_OK;
}

static ft_status run_lease(ft_sql *sql, ft_request *request, ft_error *err)
{
    json_t *tasks = json_array(), *change;
    ft_task_kind kind = FT_KIND_SOLVE;
    request->result = json_pack("{s:n, s:n, s:o}", "token", "kind", "tasks", tasks);
    ft_status status = release_expired(sql, err);
    if (status == FT_OK) status = choose(sql, request, tasks, &kind, err);
    if (status == FT_OK && json_array_size(tasks) > 0)
        status = lease_chosen(sql, request, tasks, kind, err);
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

static ft_status run_extend(ft_sql *sql, ft_request *request, ft_error *err)
{
    char *tokens = ft_store_dump(request->json);
    request->result = json_object();
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "UPDATE tasks SET expires = ?2 WHERE state = 'leased' "
                   "AND token IN (SELECT value FROM json_each(?1))",
                   "ti", (const char *)tokens, ft_store_now() + (int64_t)request->lease_ms);
    free(tokens);
    return status;
}

void ft_store_extend(ft_store *store, const json_t *tokens, uint32_t lease_ms, ft_store_done done,
                     void *data)
{
    ft_request *request = ft_store_request(run_extend, true, done, data);
    request->json = json_deep_copy(tokens);
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

ft_status ft_store_task_count_down(ft_sql *sql, const char *job, ft_error *err)
{
    int64_t open;
    ft_status status =
        ft_sql_number(sql, &open, NULL, err,
                      "UPDATE jobs SET open = open - 1, updated = ?2, revision = revision + 1 "
                      "WHERE id = ?1 RETURNING open",
                      "ti", job, ft_store_now());
    if (status == FT_OK && open == 0) status = ft_store_job_move(sql, job, FT_JOB_DONE, err);
    return status;
}

static bool same_text(const json_t *a, const json_t *b, const char *member)
{
    const json_t *in_a = json_object_get(a, member), *in_b = json_object_get(b, member);
    return json_is_string(in_a) && json_equal(in_a, in_b);
}

static ft_status check_result(const json_t *record, const json_t *entry, ft_error *err)
{
    ft_status status = ft_store_record_check(record, err);
    if (status != FT_OK) return status;
    if (!same_text(record, entry, "check") || !same_text(record, entry, "key"))
        return ft_error_set(err, FT_INPUT, "a record is not of its task's check and key");
    if (json_integer_value(json_object_get(record, "count")) != 1)
        return ft_error_set(err, FT_INPUT, "a subproblem's record counts for one candidate");
    return FT_OK;
}

static ft_status run_verdict(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool applied = false;
    ft_task_row row = {.entry = NULL};
    ft_status status = ft_store_task_row(sql, request->task, &row, err);
    if (status == FT_OK) status = check_result(request->json, row.entry, err);
    if (status == FT_OK)
        status = ft_store_task_end(sql, request->task, request->token, FT_TASK_DONE, &applied, err);
    if (status == FT_OK && applied)
        status = ft_store_verdict_add(sql, row.job, request->task, request->json, err);
    if (status == FT_OK && applied) status = ft_store_task_count_down(sql, row.job, err);
    if (status == FT_OK) status = ft_store_change(sql, row.job, applied, &request->result, err);
    json_decref(row.entry);
    return status;
}

void ft_store_verdict_commit(ft_store *store, uint64_t token, int64_t task, const json_t *record,
                             ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_verdict, true, done, data);
    request->token = token;
    request->task = task;
    /* Shared with the loop's thread, which only lets go of it: jansson counts atomically. */
    request->json = json_incref((json_t *)(uintptr_t)record);
    ft_store_send(store, request);
}
