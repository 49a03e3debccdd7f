#include "dispatch/internal.h"

/* It comes in pieces and goes to the store as it is: it may be long. */
void ft_batch_on_data(ft_worker *worker, const ft_wire_frame *frame)
{
    ft_batch *batch = &worker->batch;
    if (!batch->tasks || batch->kind != FT_KIND_PLAN) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "data that nobody asked for");
        return;
    }
    if (frame->length > FT_WIRE_MAX_PLAN - batch->plan.len) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan of more than %u MiB",
                      FT_WIRE_MAX_PLAN >> 20);
        return;
    }
    if (frame->length) ft_strbuf_add(&batch->plan, (const char *)frame->payload, frame->length);
}

static bool is_whole(ft_worker *worker, const json_t *message)
{
    const json_t *bytes = json_object_get(message, "bytes");
    if (json_is_integer(bytes) && (uint64_t)json_integer_value(bytes) == worker->batch.plan.len)
        return true;
    ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan of another length than it says");
    return false;
}

void ft_batch_on_planned(ft_worker *worker, const json_t *message)
{
    ft_batch *batch = &worker->batch;
    if (!ft_batch_token_matches(worker, message)) return;
    if (batch->kind != FT_KIND_PLAN) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan that nobody asked for");
        return;
    }
    if (!is_whole(worker, message)) return;
    int64_t task = ft_batch_task(batch, 0);
    ft_store_plan_commit(worker->dispatch->store, batch->token, task, &batch->plan,
                         ft_batch_on_committed, ft_batch_errand(worker, task));
    /* It is asked for its first tasks in the same transaction: the store knows whether it has any.
     */
    ft_job *job = ft_job_find(worker->dispatch, batch->job);
    if (job) job->ready = FT_BATCH_MAX;
    worker->answered++;
    ft_batch_finish(worker);
    ft_dispatch_pump(worker->dispatch);
}
