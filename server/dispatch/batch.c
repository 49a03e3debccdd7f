#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "log.h"

#define FAST_MS 500  /* a batch below this doubles the next one ... */
#define SLOW_MS 2000 /* ... and one above this halves it: about a second each */

static void clear(ft_batch *batch)
{
    json_decref(batch->tasks);
    memset(batch, 0, sizeof *batch);
}

static int64_t task_id(const ft_batch *batch, size_t index)
{
    return json_integer_value(json_object_get(json_array_get(batch->tasks, index), "task"));
}

/* The worker's part of the job is over, however it ended. */
static void count_out(ft_dispatch *dispatch, const ft_worker *worker, const char *job_id)
{
    ft_job *job = ft_job_find(dispatch, job_id);
    if (!job) return;
    assert(job->running > 0);
    if (--job->running == 0) job->since = uv_now(dispatch->loop);
    job->served += uv_now(dispatch->loop) - worker->busy_since;
}

/* ---- Giving back ----------------------------------------------------------------------------- */

static void on_abandoned(void *data, const ft_error *err, json_t *result);

static void abandon(ft_errand *errand)
{
    const ft_death_row *death = ft_death_of(errand->death);
    ft_store_blame blame = {
        .task = death->limit > 0 ? errand->task : 0,
        .limit = death->limit,
        .verdict = death->verdict,
        .reason = death->reason,
        .text = errand->text,
    };
    ft_store_abandon(errand->dispatch->store, errand->job, errand->token, blame, on_abandoned,
                     errand);
}

static void on_abandoned(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    if (err) {
        ft_errand_retry(errand, abandon, err);
        return;
    }
    if (json_is_true(json_object_get(result, "poisoned"))) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_POISONED);
        ft_log(FT_LOG_WARN, "task given up", "job=%s task=%lld reason=\"%s\"", errand->job,
               (long long)errand->task, errand->text);
    }
    ft_job_changed(errand->dispatch, result);
    ft_errand_end(errand);
}

static void give_back(ft_dispatch *dispatch, const char *job, uint64_t token, int64_t task,
                      ft_death death, const char *text)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    snprintf(errand->job, sizeof errand->job, "%s", job);
    snprintf(errand->text, sizeof errand->text, "%s", text);
    errand->token = token;
    errand->task = task;
    errand->death = death;
    abandon(errand);
}

/* Workers answer in order, so the first unanswered task is the one that it died on. */
void ft_batch_lost(ft_worker *worker, ft_death death, const char *text)
{
    ft_batch *batch = &worker->batch;
    if (!batch->tasks) return;
    count_out(worker->dispatch, worker, batch->job);
    int64_t task = batch->next < json_array_size(batch->tasks) ? task_id(batch, batch->next) : 0;
    give_back(worker->dispatch, batch->job, batch->token, task, death, text);
    clear(batch);
}

/* ---- Request --------------------------------------------------------------------------------- */

/* A solve task's time runs anew with each verdict. */
static void limit_request(ft_worker *worker)
{
    const ft_batch *batch = &worker->batch;
    uint64_t ms = batch->kind == FT_KIND_PLAN ? batch->job_ms : batch->subproblem_ms;
    ft_worker_limit(worker, ms + worker->dispatch->config->grace_ms);
}

static void send_request(ft_worker *worker, const ft_job *job)
{
    ft_batch *batch = &worker->batch;
    bool plan = batch->kind == FT_KIND_PLAN;
    json_t *request = json_pack("{s:I, s:s, s:O}", "token", (json_int_t)batch->token, "trace",
                                batch->trace, "spec", job->spec);
    if (!plan) json_object_set(request, "tasks", batch->tasks);
    worker->state = FT_WORKER_WORKING;
    batch->started = batch->turn = uv_now(worker->dispatch->loop);
    limit_request(worker);
    ft_worker_send_json(worker, plan ? FT_WIRE_PLAN : FT_WIRE_SOLVE, request);
    json_decref(request);
    ft_dispatch_count(worker->dispatch, FT_METRIC_BATCHES);
}

/* Answered in full: the worker is free. */
static void finish(ft_worker *worker)
{
    count_out(worker->dispatch, worker, worker->batch.job);
    clear(&worker->batch);
    ft_worker_idle(worker);
}

/* Nothing was asked yet, or what was asked is of no use any more: back without blame. */
static void withdraw(ft_worker *worker)
{
    ft_batch_lost(worker, FT_DEATH_STOPPED, "the job has ended");
    ft_worker_idle(worker);
    ft_dispatch_pump(worker->dispatch);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void next_chunk(ft_worker *worker);

static void on_chunk(void *data, const ft_error *err, const void *bytes, size_t length, bool last)
{
    ft_errand *errand = data;
    ft_worker *worker = errand->worker;
    if (!ft_errand_fresh(errand)) {
        ft_errand_end(errand);
        return;
    }
    if (err) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
        ft_worker_die(worker, FT_DEATH_STOPPED, "its trace cannot be read: %.200s", err->message);
        ft_errand_end(errand);
        return;
    }
    ft_strbuf frames = {0};
    ft_wire_frame_bytes(&frames, FT_WIRE_DATA, bytes, length);
    if (last) ft_wire_frame_bytes(&frames, FT_WIRE_DATA_END, "", 0);
    worker->sending = !last;
    ft_worker_send(worker, &frames, last ? NULL : next_chunk);
    ft_errand_end(errand);
}

/* One chunk at a time, each when the pipe has taken the one before. */
static void next_chunk(ft_worker *worker)
{
    ft_store_trace_chunk(worker->dispatch->store, worker->batch.trace, worker->batch.chunk++,
                         on_chunk, ft_errand_new(worker->dispatch, worker));
}

static void on_trace(void *data, const ft_error *err, json_t *meta)
{
    ft_errand *errand = data;
    ft_worker *worker = errand->worker;
    if (!ft_errand_fresh(errand)) {
        ft_errand_end(errand);
        return;
    }
    if (err) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
        ft_worker_die(worker, FT_DEATH_STOPPED, "its trace cannot be read: %.200s", err->message);
        ft_errand_end(errand);
        return;
    }
    json_t *message = json_pack("{s:s, s:O}", "trace", worker->batch.trace, "bytes",
                                json_object_get(meta, "stored_bytes"));
    ft_worker_send_json(worker, FT_WIRE_TRACE, message);
    json_decref(message);
    next_chunk(worker);
    ft_errand_end(errand);
}

void ft_batch_load(ft_worker *worker)
{
    worker->state = FT_WORKER_LOADING;
    worker->sending = true;
    worker->loaded[0] = '\0';
    ft_worker_limit(worker, worker->dispatch->config->ingest_ms);
    ft_dispatch_count(worker->dispatch, FT_METRIC_TRACES_SENT);
    ft_store_trace(worker->dispatch->store, worker->batch.trace, on_trace,
                   ft_errand_new(worker->dispatch, worker));
}

void ft_batch_on_loaded(ft_worker *worker, const json_t *message)
{
    const char *trace = json_string_value(json_object_get(message, "trace"));
    if (worker->sending || !trace || strcmp(trace, worker->batch.trace) != 0) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "it loaded another trace than it was sent");
        return;
    }
    snprintf(worker->loaded, sizeof worker->loaded, "%s", trace);
    const ft_job *job = ft_job_find(worker->dispatch, worker->batch.job);
    if (worker->summary) {
        ft_summary_ask(worker);
    } else if (job) {
        send_request(worker, job);
    } else {
        withdraw(worker);
    }
}

/* ---- Leasing --------------------------------------------------------------------------------- */

static void fill(ft_worker *worker, const ft_job *job, const json_t *lease)
{
    ft_batch *batch = &worker->batch;
    const char *kind = json_string_value(json_object_get(lease, "kind"));
    clear(batch);
    snprintf(batch->job, sizeof batch->job, "%s", job->id);
    snprintf(batch->trace, sizeof batch->trace, "%s", job->trace);
    if (!ft_task_kind_parse(kind, &batch->kind)) abort();
    batch->token = (uint64_t)json_integer_value(json_object_get(lease, "token"));
    batch->tasks = json_incref(json_object_get(lease, "tasks"));
    batch->subproblem_ms = job->subproblem_ms;
    batch->job_ms = job->job_ms;
}

static void take_lease(ft_worker *worker, ft_job *job, const json_t *lease)
{
    fill(worker, job, lease);
    ft_job_start_clock(job);
    if (strcmp(worker->loaded, job->trace) == 0) {
        send_request(worker, job);
    } else {
        ft_batch_load(worker);
    }
}

/* The worker has died, or the job has ended, while its tasks were being leased. */
static void return_lease(const ft_errand *errand, const json_t *lease)
{
    uint64_t token = (uint64_t)json_integer_value(json_object_get(lease, "token"));
    give_back(errand->dispatch, errand->job, token, 0, FT_DEATH_STOPPED, "nobody to do it");
}

static void on_leased(void *data, const ft_error *err, json_t *lease)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    bool fresh = ft_errand_fresh(errand);
    ft_job *job = ft_job_find(dispatch, errand->job);
    bool empty = json_array_size(json_object_get(lease, "tasks")) == 0;
    if (fresh && job && !empty) {
        take_lease(errand->worker, job, lease);
    } else {
        count_out(dispatch, errand->worker, errand->job);
        if (!empty) return_lease(errand, lease);
        if (fresh) errand->worker->state = FT_WORKER_IDLE;
    }
    if (err) {
        if (job && job->ready == 0) job->ready = 1;
        ft_errand_retry(errand, ft_errand_end, err);
        return;
    }
    ft_job_changed(dispatch, json_object_get(lease, "change"));
    ft_errand_end(errand);
}

void ft_batch_lease(ft_worker *worker, ft_job *job)
{
    ft_dispatch *dispatch = worker->dispatch;
    /* The rest of a job is shared out rather than left to one worker. */
    uint64_t share = job->ready / (dispatch->worker_count - 1), most = job->batch;
    if (most > share) most = share > 0 ? share : 1;
    job->ready -= most < job->ready ? most : job->ready;
    job->running++;
    worker->state = FT_WORKER_LEASING;
    worker->busy_since = uv_now(dispatch->loop);
    ft_errand *errand = ft_errand_new(dispatch, worker);
    snprintf(errand->job, sizeof errand->job, "%s", job->id);
    ft_store_lease(dispatch->store, job->id, (uint32_t)most, (uint32_t)dispatch->config->lease_ms,
                   on_leased, errand);
}

static void on_extended(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_errand *errand = data;
    if (err) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
        ft_log(FT_LOG_ERROR, "leases not renewed", "reason=\"%s\"", err->message);
    }
    ft_errand_end(errand);
}

/* The supervisor ends a batch that takes too long; its lease lasts as long as its worker does. */
void ft_batch_renew(ft_dispatch *dispatch)
{
    json_t *tokens = json_array();
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        const ft_batch *batch = &dispatch->workers[i].batch;
        if (batch->tasks) json_array_append_new(tokens, json_integer((json_int_t)batch->token));
    }
    if (json_array_size(tokens))
        ft_store_extend(dispatch->store, tokens, (uint32_t)dispatch->config->lease_ms, on_extended,
                        ft_errand_new(dispatch, NULL));
    json_decref(tokens);
}

/* ---- Results --------------------------------------------------------------------------------- */

static bool token_matches(ft_worker *worker, const json_t *message)
{
    const json_t *token = json_object_get(message, "token");
    if (json_is_integer(token) && (uint64_t)json_integer_value(token) == worker->batch.token)
        return true;
    ft_worker_die(worker, FT_DEATH_MALFORMED, "an answer to another request");
    return false;
}

static void on_committed(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    if (!err) {
        if (!json_is_true(json_object_get(result, "applied")))
            ft_dispatch_count(dispatch, FT_METRIC_FENCED);
        ft_job_changed(dispatch, result);
        ft_errand_end(errand);
        return;
    }
    /* The worker's fault or the store's: either way the task has no result and its lease ends. */
    ft_death death = err->code == FT_IO ? FT_DEATH_STOPPED : FT_DEATH_MALFORMED;
    char text[320];
    snprintf(text, sizeof text, "%s: %.200s", ft_death_of(death)->text, err->message);
    if (death == FT_DEATH_STOPPED) ft_dispatch_count(dispatch, FT_METRIC_STORE_ERRORS);
    ft_log(FT_LOG_ERROR, "result not stored", "job=%s task=%lld reason=\"%s\"", errand->job,
           (long long)errand->task, err->message);
    give_back(dispatch, errand->job, errand->token, errand->task, death, text);
    if (ft_errand_fresh(errand) && errand->worker->batch.token == errand->token) {
        errand->worker->batch.next = json_array_size(errand->worker->batch.tasks);
        ft_worker_die(errand->worker, death, "%.200s", err->message);
    }
    ft_errand_end(errand);
}

static void on_verdict_committed(void *data, const ft_error *err, json_t *result)
{
    const ft_errand *errand = data;
    ft_verdict verdict;
    if (json_is_true(json_object_get(result, "applied"))) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_VERDICTS);
        if (ft_verdict_parse(errand->text, &verdict)) {
            errand->dispatch->times.tasks[verdict]++;
            errand->dispatch->times.ms[verdict] += errand->took;
        }
    }
    on_committed(data, err, result);
}

static ft_errand *result_errand(ft_worker *worker, int64_t task)
{
    ft_errand *errand = ft_errand_new(worker->dispatch, worker);
    snprintf(errand->job, sizeof errand->job, "%s", worker->batch.job);
    errand->token = worker->batch.token;
    errand->task = task;
    return errand;
}

void ft_batch_on_planned(ft_worker *worker, const json_t *message)
{
    if (!token_matches(worker, message)) return;
    if (worker->batch.kind != FT_KIND_PLAN) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a plan that nobody asked for");
        return;
    }
    int64_t task = task_id(&worker->batch, 0);
    ft_store_plan_commit(worker->dispatch->store, worker->batch.token, task,
                         json_object_get(message, "plan"), on_committed,
                         result_errand(worker, task));
    worker->answered++;
    finish(worker);
    ft_dispatch_pump(worker->dispatch);
}

void ft_batch_on_verdict(ft_worker *worker, const json_t *message)
{
    if (!token_matches(worker, message)) return;
    ft_batch *batch = &worker->batch;
    const json_t *task = json_object_get(message, "task");
    bool expected = batch->kind == FT_KIND_SOLVE && batch->next < json_array_size(batch->tasks) &&
                    json_is_integer(task) &&
                    json_integer_value(task) == task_id(batch, batch->next);
    if (!expected) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a verdict out of turn");
        return;
    }
    int64_t id = task_id(batch, batch->next++);
    worker->answered++;
    limit_request(worker);
    const json_t *record = json_object_get(message, "record");
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    ft_errand *errand = result_errand(worker, id);
    snprintf(errand->text, sizeof errand->text, "%s", verdict ? verdict : "");
    errand->took = uv_now(worker->dispatch->loop) - batch->turn;
    batch->turn += errand->took;
    ft_store_verdict_commit(worker->dispatch->store, batch->token, id, record, on_verdict_committed,
                            errand);
}

static void adapt(ft_worker *worker)
{
    ft_job *job = ft_job_find(worker->dispatch, worker->batch.job);
    if (!job) return;
    uint64_t took = uv_now(worker->dispatch->loop) - worker->batch.started;
    size_t size = json_array_size(worker->batch.tasks);
    if (took < FAST_MS && size >= job->batch && job->batch < FT_BATCH_MAX) job->batch *= 2;
    if (took > SLOW_MS && size <= job->batch && job->batch > 1) job->batch /= 2;
}

void ft_batch_on_solved(ft_worker *worker, const json_t *message)
{
    if (!token_matches(worker, message)) return;
    ft_batch *batch = &worker->batch;
    if (batch->kind != FT_KIND_SOLVE || batch->next < json_array_size(batch->tasks)) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "an end with tasks unanswered");
        return;
    }
    adapt(worker);
    finish(worker);
    ft_dispatch_pump(worker->dispatch);
}

/* The worker lives and says that it cannot: a job that it cannot plan has failed; a task that it
 * cannot solve is tried again, alone. */
void ft_batch_on_failed(ft_worker *worker, const json_t *message)
{
    ft_batch *batch = &worker->batch;
    ft_error error = FT_ERROR_INIT;
    ft_wire_error_from_json(json_object_get(message, "error"), &error);
    if (worker->summary && !worker->sending) {
        ft_summary_failed(worker, &error);
        return;
    }
    if (worker->sending) {
        ft_worker_die(worker, FT_DEATH_REFUSED, "%.200s", error.message);
        return;
    }
    if (worker->state == FT_WORKER_WORKING && batch->kind == FT_KIND_PLAN) {
        int64_t task = task_id(batch, 0);
        ft_log(FT_LOG_INFO, "job cannot be planned", "job=%s reason=\"%s\"", batch->job,
               error.message);
        ft_store_plan_fail(worker->dispatch->store, batch->token, task, &error, on_committed,
                           result_errand(worker, task));
        finish(worker);
    } else {
        char text[320];
        snprintf(text, sizeof text, "%s: %.200s", ft_death_of(FT_DEATH_REFUSED)->text,
                 error.message);
        ft_log(FT_LOG_WARN, "worker failed a task", "worker=%u job=%s reason=\"%s\"", worker->index,
               batch->job, error.message);
        ft_batch_lost(worker, FT_DEATH_REFUSED, text);
        ft_worker_idle(worker);
    }
    ft_dispatch_pump(worker->dispatch);
}
