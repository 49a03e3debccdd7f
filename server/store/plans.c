/* Plans: what a planning worker found becomes verdicts and solve tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"

/* ---- Checking -------------------------------------------------------------------------------- */

static ft_status check_subproblem(const json_t *entry, ft_error *err)
{
    ft_check check;
    const char *name = json_string_value(json_object_get(entry, "check"));
    const json_t *number = json_object_get(entry, "subproblem");
    const json_t *pairs = json_object_get(entry, "pairs");
    bool good = name && ft_check_parse(name, &check) && json_is_integer(number) &&
                json_integer_value(number) >= 0 && json_is_integer(pairs) &&
                json_integer_value(pairs) >= 0 && json_is_string(json_object_get(entry, "key"));
    if (good) return FT_OK;
    return ft_error_set(err, FT_INPUT, "a plan's subproblem lacks its number, check, key or pairs");
}

static void count(json_t *counts, const char *check, int64_t candidates)
{
    json_int_t before = json_integer_value(json_object_get(counts, check));
    json_object_set_new(counts, check, json_integer(before + candidates));
}

/* Every candidate is counted exactly once: by a record or by a subproblem. */
static ft_status check_sums(const json_t *candidates, const json_t *counts, ft_error *err)
{
    for (int c = 0; c < FT_CHECKS; c++) {
        const char *name = ft_check_name((ft_check)c);
        json_int_t planned = json_integer_value(json_object_get(candidates, name));
        json_int_t counted = json_integer_value(json_object_get(counts, name));
        if (planned == counted) continue;
        return ft_error_set(err, FT_INPUT,
                            "the plan has %lld candidates of %s, but its records and subproblems "
                            "add up to %lld",
                            (long long)planned, name, (long long)counted);
    }
    return FT_OK;
}

static ft_status read_records(const json_t *records, ft_results *results, json_t *counts,
                              ft_error *err)
{
    ft_status status = FT_OK;
    for (size_t i = 0; i < json_array_size(records) && status == FT_OK; i++) {
        status = ft_store_results_add(results, 0, json_array_get(records, i), err);
        if (status != FT_OK) break;
        const ft_record *record = &results->items[i].record;
        count(counts, ft_check_name(record->check), record->count);
    }
    return status;
}

/* *results: its records. */
static ft_status check_plan(const json_t *plan, ft_results *results, ft_error *err)
{
    const json_t *candidates = json_object_get(plan, "candidates");
    const json_t *records = json_object_get(plan, "records");
    const json_t *subproblems = json_object_get(plan, "subproblems");
    if (!json_is_object(candidates) || !json_is_array(records) || !json_is_array(subproblems) ||
        !json_is_string(json_object_get(plan, "model")))
        return ft_error_set(err, FT_INPUT,
                            "a plan lacks its model, candidates, records or subproblems");
    json_t *counts = json_object();
    ft_status status = read_records(records, results, counts, err);
    for (size_t i = 0; i < json_array_size(subproblems) && status == FT_OK; i++) {
        const json_t *entry = json_array_get(subproblems, i);
        status = check_subproblem(entry, err);
        if (status == FT_OK) count(counts, json_string_value(json_object_get(entry, "check")), 1);
    }
    if (status == FT_OK) status = check_sums(candidates, counts, err);
    json_decref(counts);
    return status;
}

/* ---- Storing --------------------------------------------------------------------------------- */

static ft_status store_subproblems(ft_sql *sql, const char *job, const json_t *subproblems,
                                   ft_error *err)
{
    size_t index;
    json_t *entry;
    json_array_foreach(subproblems, index, entry)
    {
        char *text = ft_store_dump(entry);
        ft_status status = ft_sql_run(
            sql, NULL, err,
            "INSERT INTO tasks (job, kind, subproblem, entry) VALUES (?1, ?2, ?3, ?4)", "ttit", job,
            ft_task_kind_name(FT_KIND_SOLVE),
            (int64_t)json_integer_value(json_object_get(entry, "subproblem")), (const char *)text);
        free(text);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

static ft_status store_head(ft_sql *sql, const char *job, const json_t *plan, ft_error *err)
{
    json_t *notes = json_object_get(plan, "notes");
    json_t *kept = json_pack("{s:O, s:O*, s:O*}", "candidates", json_object_get(plan, "candidates"),
                             "notes", notes, "statistics", json_object_get(plan, "statistics"));
    char *text = ft_store_dump(kept);
    int64_t added = (int64_t)json_array_size(json_object_get(plan, "subproblems"));
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "UPDATE jobs SET model = ?2, plan = ?3, tasks = tasks + ?4, open = ?4, ready = ?4 "
        "WHERE id = ?1",
        "ttti", job, json_string_value(json_object_get(plan, "model")), (const char *)text, added);
    free(text);
    json_decref(kept);
    if (status != FT_OK) return status;
    return ft_store_job_move(sql, job, added > 0 ? FT_JOB_SOLVING : FT_JOB_DONE, err);
}

static ft_status run_plan(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool applied = false;
    ft_task_row row = {.entry = NULL};
    ft_results *records = &request->results;
    ft_status status = check_plan(request->json, records, err);
    if (status == FT_OK) status = ft_store_task_row(sql, request->task, &row, err);
    json_decref(row.entry);
    if (status == FT_OK)
        status = ft_store_task_end(sql, request->task, request->token, FT_TASK_DONE, &applied, err);
    if (status == FT_OK && applied && records->count > 0)
        status = ft_store_verdicts_add(sql, row.job, records, records->count, err);
    if (status == FT_OK && applied)
        status =
            store_subproblems(sql, row.job, json_object_get(request->json, "subproblems"), err);
    if (status == FT_OK && applied) status = store_head(sql, row.job, request->json, err);
    if (status == FT_OK) status = ft_store_change(sql, row.job, applied, &request->result, err);
    return status;
}

void ft_store_plan_commit(ft_store *store, uint64_t token, int64_t task, const json_t *plan,
                          ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_plan, true, done, data);
    request->token = token;
    request->task = task;
    /* Shared with the loop's thread, which only lets go of it: jansson counts atomically. */
    request->json = json_incref((json_t *)(uintptr_t)plan);
    ft_store_send(store, request);
}

static ft_status run_plan_fail(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool applied = false;
    ft_task_row row = {.entry = NULL};
    ft_status status = ft_store_task_row(sql, request->task, &row, err);
    json_decref(row.entry);
    if (status == FT_OK)
        status = ft_store_task_end(sql, request->task, request->token, FT_TASK_DONE, &applied, err);
    if (status == FT_OK && applied) status = ft_store_job_fail(sql, row.job, &request->cause, err);
    if (status == FT_OK) status = ft_store_change(sql, row.job, applied, &request->result, err);
    return status;
}

void ft_store_plan_fail(ft_store *store, uint64_t token, int64_t task, const ft_error *error,
                        ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_plan_fail, true, done, data);
    request->token = token;
    request->task = task;
    request->cause = *error;
    ft_store_send(store, request);
}
