/* Which tasks are whose: leased, stolen, renewed. batch.c does the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "setup/log.h"

/* ---- Leasing --------------------------------------------------------------------------------- */

static void fill_items(ft_batch *batch)
{
    ft_span rest = {batch->tasks, strlen(batch->tasks)}, text;
    ft_scan_member of[] = {{.name = "task"}, {.name = "check"}, {.name = "key"}};
    while (batch->count < FT_BATCH_MAX && ft_scan_next(&rest, &text)) {
        ft_batch_item *item = &batch->items[batch->count++];
        if (ft_scan_object(text.at, text.length, of, 3, NULL) != FT_OK ||
            !ft_scan_integer(of[0].value, &item->task))
            abort();
        item->check = of[1].value;
        item->key = of[2].value;
    }
}

static void fill(ft_worker *worker, const ft_job *job, const json_t *lease)
{
    ft_batch *batch = &worker->batch;
    const char *kind = json_string_value(json_object_get(lease, "kind"));
    ft_batch_clear(batch);
    snprintf(batch->job, sizeof batch->job, "%s", job->id);
    snprintf(batch->trace, sizeof batch->trace, "%s", job->trace);
    if (!ft_task_kind_parse(kind, &batch->kind)) abort();
    batch->token = (uint64_t)json_integer_value(json_object_get(lease, "token"));
    batch->tasks = ft_strdup(json_string_value(json_object_get(lease, "tasks")));
    const char *explored = json_string_value(json_object_get(lease, "explored"));
    const char *set = json_string_value(json_object_get(lease, "set"));
    batch->explored = explored ? ft_strdup(explored) : NULL;
    batch->set = set ? ft_strdup(set) : NULL;
    fill_items(batch);
    batch->subproblem_ms = job->subproblem_ms;
    batch->job_ms = job->job_ms;
    batch->memory_mb = job->memory_mb;
    batch->own = batch->count;
}

static void take_lease(ft_worker *worker, ft_job *job, const json_t *lease)
{
    fill(worker, job, lease);
    ft_batch_start(worker, job);
}

/* The worker has died, or the job has ended, while its tasks were being leased. */
static void return_lease(const ft_errand *errand, const json_t *lease)
{
    uint64_t token = (uint64_t)json_integer_value(json_object_get(lease, "token"));
    ft_batch_give_back(errand->dispatch, errand->job, token, 0, FT_DEATH_STOPPED,
                       "no worker is free", NULL);
}

/* Its ready tasks are put off: nobody asks before the first of them is due. */
static void put_off(ft_job *job, const json_t *lease)
{
    const json_t *wait = json_object_get(lease, "wait_ms");
    ft_dispatch *dispatch = job->dispatch;
    if (!json_is_integer(wait)) return;
    job->wait = uv_now(dispatch->loop) + (uint64_t)json_integer_value(wait);
    ft_dispatch_wake(dispatch, job->wait);
}

/* The lease for an idle worker, or what it was for is gone. */
static void use_lease(ft_errand *errand, ft_job *job, const json_t *lease)
{
    ft_worker *worker = errand->worker;
    bool fresh = ft_errand_fresh(errand);
    bool empty = !json_is_integer(json_object_get(lease, "token"));
    if (fresh && job && !empty) {
        take_lease(worker, job, lease);
        return;
    }
    if (!empty) return_lease(errand, lease);
    if (job && empty) put_off(job, lease);
    if (!fresh) return;
    ft_project_end(worker);
    ft_worker_enter(worker, FT_WORKER_IDLE);
}

static void on_leased(void *data, const ft_error *err, json_t *lease)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    ft_job *job = ft_job_find(dispatch, errand->job);
    use_lease(errand, job, lease);
    if (err) {
        if (job && job->ready == 0) job->ready = 1;
        ft_errand_retry(errand, ft_errand_end, err);
        return;
    }
    ft_job_changed(dispatch, json_object_get(lease, "change"));
    ft_errand_end(errand);
}

/* The worker belongs to the job from here on. */
static ft_errand *lease_errand(ft_worker *worker, ft_job *job)
{
    assert(ft_worker_is_sound(worker) && worker->state == FT_WORKER_IDLE);
    ft_worker_enter(worker, FT_WORKER_LEASING);
    worker->busy_since = worker->heard = uv_now(worker->dispatch->loop);
    ft_project_begin(worker, job);
    ft_watch_start(worker->dispatch);
    ft_errand *errand = ft_errand_new(worker->dispatch, worker);
    snprintf(errand->job, sizeof errand->job, "%s", job->id);
    return errand;
}

void ft_batch_lease(ft_worker *worker, ft_job *job)
{
    ft_dispatch *dispatch = worker->dispatch;
    /* The rest of a job is shared out rather than left to one worker. */
    assert(dispatch->worker_count > 1 && job->batch >= 1);
    uint64_t workers = dispatch->worker_count - 1, most = job->batch;
    if (dispatch->fleet_workers > workers) workers = dispatch->fleet_workers;
    uint64_t share = job->ready / workers;
    if (most > share) most = share > job->group ? share / job->group * job->group : job->group;
    job->ready -= most < job->ready ? most : job->ready;
    const ft_store_leasing leasing = {.most = (uint32_t)most,
                                      .lease_ms = (uint32_t)dispatch->config->lease_ms,
                                      .workers = (uint32_t)job->project->limits[FT_LIMIT_WORKERS]};
    ft_store_lease(dispatch->store, job->id, leasing, on_leased, lease_errand(worker, job));
}

/* ---- Stealing -------------------------------------------------------------------------------- */

static void steal(ft_errand *errand);

static void on_stolen(void *data, const ft_error *err, json_t *lease)
{
    ft_errand *errand = data;
    if (err) {
        /* Until it is known whose they are, nobody does them. */
        ft_errand_retry(errand, steal, err);
        return;
    }
    ft_dispatch_count(errand->dispatch, FT_METRIC_STEALS);
    on_leased(errand, NULL, lease);
}

static void steal(ft_errand *errand)
{
    ft_store_steal(errand->dispatch->store, errand->job, errand->token, errand->json,
                   (uint32_t)errand->dispatch->config->lease_ms, on_stolen, errand);
}

void ft_batch_steal(ft_worker *thief, ft_worker *from, size_t count)
{
    ft_batch *batch = &from->batch;
    ft_job *job = ft_job_find(from->dispatch, batch->job);
    assert(job && thief != from && ft_batch_is_sound(batch));
    assert(count > 0 && batch->next + count < batch->own); /* the one at hand stays */
    ft_errand *errand = lease_errand(thief, job);
    errand->token = batch->token;
    errand->json = json_array();
    batch->own -= count;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(errand->json, json_integer(ft_batch_task(batch, batch->own + i)));
    json_t *recall =
        json_pack("{s:I, s:I}", "token", (json_int_t)batch->token, "keep", (json_int_t)batch->own);
    ft_worker_send_json(from, FT_WIRE_RECALL, recall);
    json_decref(recall);
    steal(errand);
}

/* ---- Renewing -------------------------------------------------------------------------------- */

static void on_extended(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    if (err) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
        ft_log(FT_LOG_ERROR, "leases cannot be renewed", "reason=\"%s\"", err->message);
    } else {
        ft_fleet_take_up(errand->dispatch, json_object_get(result, "released"));
    }
    ft_errand_end(errand);
}

/* Of the jobs that had some since the last time. */
static json_t *spent_times(const ft_dispatch *dispatch)
{
    json_t *spent = json_object();
    for (ft_job *job = dispatch->jobs; job; job = job->next) {
        uint64_t ms = ft_job_spent(job);
        if (ms == job->told_ms) continue;
        job->told_ms = ms;
        json_object_set_new(spent, job->id, json_integer((json_int_t)ms));
    }
    return spent;
}

/* The projects' use of workers since the last request. */
static json_t *fresh_usage(ft_dispatch *dispatch)
{
    json_t *usage = json_object();
    for (ft_project *project = dispatch->projects; project; project = project->next) {
        if (project->fresh_ms == 0) continue;
        json_object_set_new(usage, project->name, json_integer((json_int_t)project->fresh_ms));
        project->used_ms += project->fresh_ms;
        project->fresh_ms = 0;
    }
    ft_projects_sweep(dispatch);
    return usage;
}

/* The supervisor ends a batch that takes too long; its lease lasts as long as its worker does. */
void ft_batch_renew(ft_dispatch *dispatch)
{
    json_t *tokens = json_array();
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        const ft_batch *batch = &dispatch->workers[i].batch;
        if (batch->tasks) json_array_append_new(tokens, json_integer((json_int_t)batch->token));
    }
    json_t *beat = json_pack("{s:o, s:o, s:o}", "tokens", tokens, "spent", spent_times(dispatch),
                             "usage", fresh_usage(dispatch));
    bool idle =
        json_array_size(tokens) == 0 && json_object_size(json_object_get(beat, "usage")) == 0;
    if (idle) {
        json_decref(beat);
        return;
    }
    ft_store_extend(dispatch->store, beat, (uint32_t)dispatch->config->lease_ms, on_extended,
                    ft_errand_new(dispatch, NULL));
}
