#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"

/* For the metrics. */
static ft_tally tally_of(const ft_worker *worker, const ft_result *result)
{
    return (ft_tally){.task = result->task,
                      .verdict = result->record.verdict,
                      .reason = result->record.reason,
                      .took_ms = uv_now(worker->dispatch->loop) - worker->batch.turn,
                      .solve_ms = result->record.solve_ms};
}

ft_status ft_batch_take_record(ft_worker *worker, const ft_record_members *members, ft_span text,
                               ft_error *err)
{
    ft_record record;
    ft_batch *batch = &worker->batch;
    ft_results *results = &batch->results;
    assert(batch->next < batch->own && results->count < batch->count);
    const ft_batch_item *item = &batch->items[batch->next];
    ft_status status = ft_record_read(members, &record, err);
    if (status == FT_OK) status = ft_record_check_entry(&record, item->check, item->key, err);
    if (status == FT_OK)
        status = ft_results_take(results, item->task, &record, text, batch->witness.text,
                                 batch->witness.len, err);
    ft_strbuf_clear(&batch->witness);
    if (status != FT_OK) return status;
    if (!batch->tallies) batch->tallies = ft_calloc(batch->count, sizeof *batch->tallies);
    if (results->count == 1) batch->pending = uv_now(worker->dispatch->loop);
    const ft_result *result = &results->items[results->count - 1];
    batch->tallies[results->count - 1] = tally_of(worker, result);
    batch->turn = uv_now(worker->dispatch->loop);
    batch->next++;
    assert(results->count <= batch->next && ft_batch_is_sound(batch));
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
        assert(t->verdict < FT_VERDICTS && t->reason < FT_REASONS);
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

void ft_batch_flush(ft_worker *worker)
{
    ft_batch *batch = &worker->batch;
    if (batch->results.count == 0) return;
    assert(batch->tallies && batch->tasks);
    /* No task is to blame for a failure: each record was checked before it was taken. */
    ft_errand *errand = ft_batch_errand(worker, 0);
    errand->tally_count = batch->results.count;
    errand->tallies = batch->tallies;
    batch->tallies = NULL;
    ft_store_results_commit(worker->dispatch->store, batch->job, batch->token, &batch->results,
                            on_committed, errand);
}
