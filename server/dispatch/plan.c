#include <string.h>

#include "dispatch/internal.h"

#define PART  ((size_t)128 << 10) /* of a plan, to the store: some milliseconds of its time */
#define AHEAD ((size_t)1 << 20)   /* the worker waits while so much has not gone to the store */

static void store_part(ft_worker *worker);

/* The worker becomes free only now: its lease is renewed for as long as it is busy. */
static void commit(ft_worker *worker)
{
    ft_batch *batch = &worker->batch;
    ft_store *store = worker->dispatch->store;
    assert(ft_batch_makes_plan(batch) && batch->own == 1 && !batch->storing);
    int64_t task = ft_batch_task(batch, 0);
    ft_errand *errand = ft_batch_errand(worker, task);
    if (batch->stored)
        ft_store_plan_end(store, batch->stored, batch->token, task, &batch->plan,
                          ft_batch_on_committed, errand);
    else
        ft_store_plan_commit(store, batch->token, task, &batch->plan, ft_batch_on_committed,
                             errand);
    /* It is asked for its first tasks in the same transaction: the store knows whether it has any.
     */
    ft_job *job = ft_job_find(worker->dispatch, batch->job);
    if (job && !batch->stored) job->ready = FT_BATCH_MAX;
    worker->answered++;
    ft_batch_finish(worker);
    ft_dispatch_pump(worker->dispatch);
}

static void go_on(ft_worker *worker)
{
    ft_batch *batch = &worker->batch;
    assert(batch->storing);
    batch->storing = false;
    store_part(worker);
    if (batch->planned && !batch->storing)
        commit(worker);
    else if (worker->paused && !batch->planned && batch->plan.len < AHEAD)
        ft_worker_resume(worker);
}

static void on_part(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_worker *worker = errand->worker;
    if (err) {
        ft_batch_on_committed(errand, err, NULL);
        return;
    }
    if (ft_errand_fresh(errand) && worker->batch.token == errand->token) {
        if (json_is_true(json_object_get(result, "applied")))
            go_on(worker);
        else
            ft_worker_die(worker, FT_DEATH_STOPPED, "its plan belongs to another worker by now");
    }
    ft_errand_end(errand);
}

/* One at a time, so that no part is stored without those before it. */
static void store_part(ft_worker *worker)
{
    ft_batch *batch = &worker->batch;
    ft_strbuf part = {0};
    if (batch->storing || batch->plan.len < PART) return;
    if (!batch->stored) batch->stored = ft_plan_new();
    ft_strbuf_add(&part, batch->plan.text, PART);
    ft_strbuf_drop(&batch->plan, PART);
    batch->storing = true;
    int64_t task = ft_batch_task(batch, 0);
    ft_store_plan_add(worker->dispatch->store, batch->stored, batch->token, task, &part, on_part,
                      ft_batch_errand(worker, task));
}

/* A plan may be long: it comes in pieces, which go to the store as they are. */
void ft_batch_on_data(ft_worker *worker, const ft_wire_frame *frame)
{
    ft_batch *batch = &worker->batch;
    if (!batch->tasks || !ft_batch_makes_plan(batch) || batch->planned) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "data without a request");
        return;
    }
    if (frame->length > FT_WIRE_MAX_PLAN - batch->plan_bytes) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan of more than %u MiB",
                      FT_WIRE_MAX_PLAN >> 20);
        return;
    }
    batch->plan_bytes += frame->length;
    assert(batch->plan_bytes <= FT_WIRE_MAX_PLAN);
    if (frame->length) ft_strbuf_add(&batch->plan, (const char *)frame->payload, frame->length);
    store_part(worker);
    if (batch->plan.len >= AHEAD) ft_worker_pause(worker);
}

static bool is_whole(ft_worker *worker, const json_t *message)
{
    const json_t *bytes = json_object_get(message, "bytes");
    if (json_is_integer(bytes) && (uint64_t)json_integer_value(bytes) == worker->batch.plan_bytes)
        return true;
    ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan of another length than announced");
    return false;
}

void ft_batch_on_planned(ft_worker *worker, const json_t *message)
{
    ft_batch *batch = &worker->batch;
    if (!ft_batch_token_matches(worker, message)) return;
    if (!ft_batch_makes_plan(batch) || batch->planned) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan without a request");
        return;
    }
    if (!is_whole(worker, message)) return;
    if (!batch->storing) {
        commit(worker);
        return;
    }
    /* The worker has nothing more to send. */
    batch->planned = true;
    ft_worker_limit(worker, 0);
    ft_worker_pause(worker);
}
