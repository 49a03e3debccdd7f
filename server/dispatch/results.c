#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"

static double solve_ms(const json_t *record)
{
    const json_t *ms = json_object_get(json_object_get(record, "stats"), "solve_ms");
    return json_is_number(ms) ? json_number_value(ms) : 0;
}

/* For the metrics; a reason that is not known counts as a dead worker's, which no worker says. */
static ft_tally tally_of(ft_worker *worker, const json_t *record)
{
    ft_batch *batch = &worker->batch;
    const json_t *reason = json_object_get(record, "reason");
    const char *pass = json_string_value(json_object_get(reason, "pass"));
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    ft_tally tally = {.task = ft_batch_task(batch, batch->next),
                      .verdict = FT_VERDICT_ERROR,
                      .reason = FT_REASON_WORKER_DIED,
                      .took_ms = uv_now(worker->dispatch->loop) - batch->turn,
                      .solve_ms = solve_ms(record)};
    if (!ft_verdict_parse(verdict, &tally.verdict)) assert(false);
    if (pass && !ft_reason_parse(pass, &tally.reason)) tally.reason = FT_REASON_WORKER_DIED;
    return tally;
}

/* With the record's own text, so that the store need not write it anew. */
static json_t *result_of(const ft_worker *worker, const json_t *task, json_t *record)
{
    const char *text;
    size_t length;
    json_t *result =
        json_pack("{s:O, s:O}", "task", json_object_get(task, "task"), "record", record);
    if (ft_wire_member(worker->frame, "record", &text, &length))
        json_object_set_new(result, "text", json_stringn_nocheck(text, length));
    return result;
}

ft_status ft_results_add(ft_worker *worker, json_t *record, ft_error *err)
{
    ft_batch *batch = &worker->batch;
    const json_t *task = json_array_get(batch->tasks, batch->next);
    ft_status status = ft_store_result_check(record, task, err);
    if (status != FT_OK) return status;
    if (!batch->results) {
        batch->results = json_array();
        batch->pending = uv_now(worker->dispatch->loop);
        batch->tallies = ft_calloc(json_array_size(batch->tasks), sizeof *batch->tallies);
    }
    batch->tallies[json_array_size(batch->results)] = tally_of(worker, record);
    json_array_append_new(batch->results, result_of(worker, task, record));
    batch->turn = uv_now(worker->dispatch->loop);
    batch->next++;
    return FT_OK;
}

static bool is_late(const json_t *late, int64_t task)
{
    size_t i;
    json_t *id;
    json_array_foreach((json_t *)(uintptr_t)late, i,
                       id) if (json_integer_value(id) == task) return true;
    return false;
}

static void count(const ft_errand *errand, const json_t *late)
{
    ft_dispatch_times *times = &errand->dispatch->times;
    for (uint64_t i = 0; i < errand->tally_count; i++) {
        const ft_tally *t = &errand->tallies[i];
        bool in_time = !is_late(late, t->task);
        ft_dispatch_count(errand->dispatch, in_time ? FT_METRIC_VERDICTS : FT_METRIC_FENCED);
        if (!in_time) continue;
        times->tasks[t->verdict]++;
        times->ms[t->verdict] += t->took_ms;
        times->pass_tasks[t->reason]++;
        times->pass_ms[t->reason] += t->took_ms;
        times->solve_ms += t->solve_ms;
    }
}

static void on_committed(void *data, const ft_error *err, json_t *result)
{
    if (!err) count(data, json_object_get(result, "late"));
    ft_batch_on_committed(data, err, result);
}

void ft_results_flush(ft_worker *worker)
{
    ft_batch *batch = &worker->batch;
    if (!batch->results) return;
    /* Nobody is to blame: each record was looked at before it was taken. */
    ft_errand *errand = ft_batch_errand(worker, 0);
    errand->tally_count = json_array_size(batch->results);
    errand->tallies = batch->tallies;
    batch->tallies = NULL;
    ft_store_results_commit(worker->dispatch->store, batch->job, batch->token, batch->results,
                            on_committed, errand);
    batch->results = NULL;
}
