#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "setup/log.h"

#define BATCH_MS      1000            /* a batch should take about this long ... */
#define UNSTORED_MS   ((uint64_t)500) /* after the first result that could not be stored ... */
#define UNSTORED_MOST ((uint64_t)30000)
#define GROWTH        4 /* ... but is no more than so many times the one before */

bool ft_batch_is_sound(const ft_batch *batch)
{
    if (!batch->tasks) return batch->count == 0 && batch->token == 0;
    return batch->count > 0 && batch->count <= FT_BATCH_MAX && batch->own <= batch->count &&
           batch->next <= batch->count && batch->token != 0 &&
           (batch->kind == FT_KIND_PLAN || batch->kind == FT_KIND_SOLVE ||
            batch->kind == FT_KIND_EXPLORE);
}

bool ft_batch_makes_plan(const ft_batch *batch)
{
    return batch->kind == FT_KIND_PLAN || batch->kind == FT_KIND_EXPLORE;
}

void ft_batch_clear(ft_batch *batch)
{
    free(batch->tasks);
    free(batch->explored);
    free(batch->set);
    ft_results_release(&batch->results);
    ft_strbuf_release(&batch->witness);
    ft_strbuf_release(&batch->plan);
    ft_plan_drop(batch->stored);
    free(batch->tallies);
    memset(batch, 0, sizeof *batch);
}

int64_t ft_batch_task(const ft_batch *batch, size_t index)
{
    return index < batch->count ? batch->items[index].task : 0;
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
        .retry_ms = (uint32_t)errand->dispatch->config->retry_ms,
        .worker = errand->worker_index,
        .pid = errand->pid,
        .death = death->name,
        .log = errand->words,
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

void ft_batch_give_back(ft_dispatch *dispatch, const char *job, uint64_t token, int64_t task,
                        ft_death death, const char *text, const ft_worker *worker)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    snprintf(errand->job, sizeof errand->job, "%s", job);
    snprintf(errand->text, sizeof errand->text, "%s", text);
    errand->token = token;
    errand->task = task;
    errand->death = death;
    if (worker) {
        errand->worker_index = (int)worker->index;
        errand->pid = worker->last_pid;
        errand->words = ft_strdup(worker->words);
    }
    abandon(errand);
}

/* Workers answer in order, so the first unanswered task is the one that it died on. */
void ft_batch_lost(ft_worker *worker, ft_death death, const char *text)
{
    ft_batch *batch = &worker->batch;
    if (!batch->tasks) return;
    assert(ft_batch_is_sound(batch));
    ft_batch_flush(worker);
    ft_project_end(worker);
    int64_t task = batch->next < batch->own ? ft_batch_task(batch, batch->next) : 0;
    ft_batch_give_back(worker->dispatch, batch->job, batch->token, task, death, text, worker);
    ft_batch_clear(batch);
}

/* ---- Request --------------------------------------------------------------------------------- */

/* A solve task's time runs anew with each verdict. */
void ft_batch_limit(ft_worker *worker, uint64_t more_ms)
{
    const ft_batch *batch = &worker->batch;
    uint64_t ms = ft_batch_makes_plan(batch) ? batch->job_ms : batch->subproblem_ms;
    const ft_job *job = ft_job_find(worker->dispatch, batch->job);
    if (job && job->explores) more_ms += FT_EXPLORE_LATE_MS;
    ft_worker_limit(worker, ms + worker->dispatch->config->grace_ms + more_ms);
}

/* Where nobody would take the parts, to split costs the time until then. */
static bool may_split(const ft_dispatch *dispatch)
{
    uint64_t workers = dispatch->worker_count - 1;
    if (dispatch->fleet_workers > workers) workers = dispatch->fleet_workers;
    return dispatch->config->split_ms > 0 && workers > 1;
}

/* Of all nodes. */
static uint64_t workers_of(const ft_dispatch *dispatch)
{
    uint64_t workers = dispatch->worker_count - 1;
    return dispatch->fleet_workers > workers ? dispatch->fleet_workers : workers;
}

/* A part is short while others wait for work, and never takes all of the time that is left. */
static uint64_t soft_ms(const ft_worker *worker, const ft_job *job)
{
    enum { LEAST = 20, WAITING = 8 };
    const ft_dispatch *dispatch = worker->dispatch;
    uint64_t ms = dispatch->config->explore_ms, left = ft_job_left(job);
    uint64_t workers = workers_of(dispatch);
    if (workers > 1 && job->ready < workers) ms /= WAITING;
    if (worker->batch.kind == FT_KIND_PLAN) return ms <= left / 2 ? ms : 0;
    if (ms > left / 2) ms = left / 2;
    return ms > LEAST ? ms : LEAST;
}

/* So that each worker of all nodes finds some, and the queue does not grow beyond that. */
static uint64_t parts_of(const ft_dispatch *dispatch, const ft_job *job)
{
    enum { EACH = 4, MOST = 64 };
    uint64_t workers = workers_of(dispatch);
    uint64_t wanted = workers * EACH < MOST ? workers * EACH : MOST;
    return wanted > job->ready ? wanted - job->ready : 1;
}

static void put_share(const ft_worker *worker, const ft_job *job, ft_strbuf *request)
{
    const ft_batch *batch = &worker->batch;
    if (batch->explored) ft_strbuf_printf(request, ",\"explored\":%s", batch->explored);
    if (!job->explores || !worker->dispatch->config->explore_ms) return;
    ft_strbuf_printf(request, ",\"soft_ms\":%llu,\"parts\":%llu",
                     (unsigned long long)soft_ms(worker, job),
                     (unsigned long long)parts_of(worker->dispatch, job));
}

static ft_wire_type request_of(ft_task_kind kind)
{
    return kind == FT_KIND_PLAN    ? FT_WIRE_PLAN
           : kind == FT_KIND_SOLVE ? FT_WIRE_SOLVE
                                   : FT_WIRE_EXPLORE;
}

static void send_request(ft_worker *worker, const ft_job *job)
{
    ft_batch *batch = &worker->batch;
    bool plan = batch->kind == FT_KIND_PLAN, solve = batch->kind == FT_KIND_SOLVE;
    assert(ft_batch_is_sound(batch) && batch->tasks && batch->next == 0);
    assert(strcmp(worker->loaded, batch->trace) == 0 && strcmp(job->id, batch->job) == 0);
    char *spec = json_dumps(job->spec, JSON_COMPACT);
    ft_strbuf request = {0}, frame = {0};
    ft_strbuf_printf(&request,
                     "{\"token\":%llu,\"trace\":\"%s\",\"spec\":", (unsigned long long)batch->token,
                     batch->trace);
    ft_strbuf_puts(&request, spec);
    if (!plan) ft_strbuf_puts(&request, ",\"tasks\":");
    if (!plan) ft_strbuf_puts(&request, batch->tasks);
    if (solve && may_split(worker->dispatch))
        ft_strbuf_printf(&request, ",\"split_ms\":%llu",
                         (unsigned long long)worker->dispatch->config->split_ms);
    if (solve && batch->set) ft_strbuf_printf(&request, ",\"set\":%s", batch->set);
    if (!solve) put_share(worker, job, &request);
    ft_strbuf_puts(&request, "}");
    ft_worker_enter(worker, FT_WORKER_WORKING);
    batch->started = batch->turn = uv_now(worker->dispatch->loop);
    ft_batch_limit(worker, 0);
    ft_wire_frame_bytes(&frame, request_of(batch->kind), request.text, request.len);
    ft_worker_send(worker, &frame, NULL);
    ft_strbuf_release(&request);
    free(spec);
    ft_dispatch_count(worker->dispatch, FT_METRIC_BATCHES);
}

void ft_batch_finish(ft_worker *worker)
{
    ft_batch_flush(worker);
    ft_project_end(worker);
    ft_batch_clear(&worker->batch);
    ft_worker_idle(worker);
    if (worker->paused) ft_worker_resume(worker);
}

/* The tasks were not begun, or are no longer wanted: they go back without blame. */
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
        /* A part that is damaged stays so: the task is given up in the end. */
        ft_death death = err->code == FT_INTERNAL ? FT_DEATH_REFUSED : FT_DEATH_STOPPED;
        ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
        ft_worker_die(worker, death, "its trace cannot be read: %.200s", err->message);
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
    worker->loaded_bytes = (uint64_t)json_integer_value(json_object_get(meta, "bytes"));
    ft_worker_limit_trace(worker, worker->loaded_bytes);
    json_t *message = json_pack("{s:s, s:O}", "trace", worker->batch.trace, "bytes",
                                json_object_get(meta, "stored_bytes"));
    ft_worker_send_json(worker, FT_WIRE_TRACE, message);
    json_decref(message);
    next_chunk(worker);
    ft_errand_end(errand);
}

void ft_batch_load(ft_worker *worker)
{
    ft_worker_enter(worker, FT_WORKER_LOADING);
    worker->sending = true;
    worker->loaded[0] = '\0';
    ft_worker_limit_trace(worker, 0);
    ft_dispatch_count(worker->dispatch, FT_METRIC_TRACES_SENT);
    ft_store_trace(worker->dispatch->store, worker->batch.trace, on_trace,
                   ft_errand_new(worker->dispatch, worker));
}

/* A node of a fleet has its parts on disk now (store/cache.h). */
static void note_held(ft_dispatch *dispatch, const char *trace)
{
    if (!ft_store_is_shared(dispatch->store) || ft_batch_holds(dispatch, trace)) return;
    snprintf(dispatch->held[dispatch->held_next], FT_HASH, "%s", trace);
    dispatch->held_next = (dispatch->held_next + 1) % FT_HELD_MOST;
}

bool ft_batch_holds(const ft_dispatch *dispatch, const char *trace)
{
    for (unsigned i = 0; i < FT_HELD_MOST; i++)
        if (strcmp(dispatch->held[i], trace) == 0) return true;
    return false;
}

void ft_batch_on_loaded(ft_worker *worker, const json_t *message)
{
    const char *trace = json_string_value(json_object_get(message, "trace"));
    if (worker->sending || !trace || strcmp(trace, worker->batch.trace) != 0) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "it loaded another trace than the one sent");
        return;
    }
    snprintf(worker->loaded, sizeof worker->loaded, "%s", trace);
    note_held(worker->dispatch, trace);
    const ft_job *job = ft_job_find(worker->dispatch, worker->batch.job);
    if (worker->summary) {
        ft_summary_ask(worker);
    } else if (job) {
        send_request(worker, job);
    } else {
        withdraw(worker);
    }
}

void ft_batch_start(ft_worker *worker, const ft_job *job)
{
    if (strcmp(worker->loaded, job->trace) == 0)
        send_request(worker, job);
    else
        ft_batch_load(worker);
}

/* Its leases are over: other parts of the same subproblem have decided it. */
void ft_batch_drop(ft_dispatch *dispatch, const json_t *tokens)
{
    size_t t;
    const json_t *token;
    json_array_foreach(tokens, t, token) for (unsigned i = 0; i < dispatch->worker_count; i++)
    {
        ft_worker *worker = &dispatch->workers[i];
        bool its = worker->batch.tasks &&
                   worker->batch.token == (uint64_t)json_integer_value(token) &&
                   worker->batch.next < worker->batch.own;
        if (its) ft_worker_die(worker, FT_DEATH_STOPPED, "its subproblem is decided");
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static bool is_token(ft_worker *worker, bool there, int64_t token)
{
    if (there && (uint64_t)token == worker->batch.token) return true;
    ft_worker_die(worker, FT_DEATH_MALFORMED, "an answer to another request");
    return false;
}

bool ft_batch_token_matches(ft_worker *worker, const json_t *message)
{
    const json_t *token = json_object_get(message, "token");
    return is_token(worker, json_is_integer(token), (int64_t)json_integer_value(token));
}

/* A store that failed has time to recover before the job's tasks are done anew: longer each time.
 */
static void back_off(ft_dispatch *dispatch, const char *id)
{
    ft_job *job = ft_job_find(dispatch, id);
    if (!job) return;
    unsigned doublings = job->unstored < 8 ? job->unstored : 8;
    uint64_t wait = UNSTORED_MS << doublings;
    job->unstored++;
    job->wait = uv_now(dispatch->loop) + (wait < UNSTORED_MOST ? wait : UNSTORED_MOST);
    ft_dispatch_wake(dispatch, job->wait);
}

static void recovered(ft_dispatch *dispatch, const char *id)
{
    ft_job *job = ft_job_find(dispatch, id);
    if (job) job->unstored = 0;
}

void ft_batch_on_committed(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    if (!err) {
        recovered(dispatch, errand->job);
        if (!json_is_true(json_object_get(result, "applied")))
            ft_dispatch_count(dispatch, FT_METRIC_FENCED);
        ft_batch_drop(dispatch, json_object_get(result, "gone"));
        ft_job_changed(dispatch, result);
        ft_errand_end(errand);
        return;
    }
    /* Whether the worker or the store is at fault: the task has no result, and its lease ends. */
    bool store = err->code == FT_IO || err->code == FT_FULL;
    ft_death death = store ? FT_DEATH_STOPPED : FT_DEATH_MALFORMED;
    char text[320];
    snprintf(text, sizeof text, "%s: %.200s", ft_death_of(death)->text, err->message);
    if (death == FT_DEATH_STOPPED) {
        ft_dispatch_count(dispatch, FT_METRIC_STORE_ERRORS);
        back_off(dispatch, errand->job);
    }
    ft_log(FT_LOG_ERROR, "result cannot be stored", "job=%s task=%lld reason=\"%s\"", errand->job,
           (long long)errand->task, err->message);
    ft_batch_give_back(dispatch, errand->job, errand->token, errand->task, death, text,
                       errand->worker);
    if (ft_errand_fresh(errand) && errand->worker->batch.token == errand->token) {
        errand->worker->batch.next = errand->worker->batch.own;
        ft_worker_die(errand->worker, death, "%.200s", err->message);
    }
    ft_errand_end(errand);
}

ft_errand *ft_batch_errand(ft_worker *worker, int64_t task)
{
    ft_errand *errand = ft_errand_new(worker->dispatch, worker);
    snprintf(errand->job, sizeof errand->job, "%s", worker->batch.job);
    errand->token = worker->batch.token;
    errand->task = task;
    return errand;
}

static bool is_next(const ft_batch *batch, ft_span task)
{
    int64_t id;
    return batch->kind == FT_KIND_SOLVE && batch->next < batch->count &&
           ft_scan_integer(task, &id) && id == ft_batch_task(batch, batch->next);
}

void ft_batch_on_witness(ft_worker *worker, const ft_wire_frame *frame)
{
    ft_batch *batch = &worker->batch;
    if (batch->kind != FT_KIND_SOLVE || batch->witness.len > 0 || frame->length == 0) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a witness without a task");
        return;
    }
    ft_strbuf_add(&batch->witness, (const char *)frame->payload, frame->length);
}

/* The record goes to the store as it is: records are most of what workers write and jobs store. */
void ft_batch_on_verdict(ft_worker *worker, const ft_wire_frame *frame)
{
    ft_record_members record;
    ft_record_members_init(&record);
    ft_scan_member of[] = {{.name = "token"},
                           {.name = "task"},
                           {.name = "record", record.of, FT_RECORD_MEMBERS, {NULL, 0}}};
    ft_error err = FT_ERROR_INIT;
    int64_t token = 0;
    ft_batch *batch = &worker->batch;
    if (ft_scan_object((const char *)frame->payload, frame->length, of, 3, &err) != FT_OK) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a verdict frame: %.200s", err.message);
        return;
    }
    bool there = ft_scan_integer(of[0].value, &token);
    if (!is_token(worker, there, token)) return;
    if (!is_next(batch, of[1].value)) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a verdict for another task than the next one");
        return;
    }
    assert(ft_batch_is_sound(batch));
    ft_batch_limit(worker, 0);
    if (batch->next >= batch->own) {
        /* It had begun the task before it was recalled; another worker has it now. */
        batch->next++;
        ft_strbuf_clear(&batch->witness);
        ft_dispatch_count(worker->dispatch, FT_METRIC_FENCED);
        return;
    }
    if (ft_batch_take_record(worker, &record, of[2].value, &err) != FT_OK) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "%.200s", err.message);
        return;
    }
    worker->answered++;
}

/* Sizes follow the measured times of the job's tasks. */
static void adapt(ft_worker *worker)
{
    const ft_batch *batch = &worker->batch;
    ft_job *job = ft_job_find(worker->dispatch, batch->job);
    if (!job || batch->next == 0) return;
    uint64_t took = uv_now(worker->dispatch->loop) - batch->started;
    double task_ms = (double)took / (double)batch->next;
    job->task_ms = job->task_ms > 0 ? (job->task_ms + task_ms) / 2 : task_ms;
    double fit = job->task_ms > 0 ? BATCH_MS / job->task_ms : FT_BATCH_MAX;
    assert(job->batch >= 1 && job->batch <= FT_BATCH_MAX);
    uint32_t most = job->batch * GROWTH < FT_BATCH_MAX ? job->batch * GROWTH : FT_BATCH_MAX;
    uint32_t tasks = fit < 1 ? 1 : fit < most ? (uint32_t)fit : most;
    job->batch = tasks <= job->group ? job->group : tasks / job->group * job->group;
}

void ft_batch_on_solved(ft_worker *worker, const json_t *message)
{
    if (!ft_batch_token_matches(worker, message)) return;
    ft_batch *batch = &worker->batch;
    if (batch->kind != FT_KIND_SOLVE || batch->next < batch->own) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "it ended the request with unanswered tasks");
        return;
    }
    adapt(worker);
    ft_batch_finish(worker);
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
        int64_t task = ft_batch_task(batch, 0);
        ft_log(FT_LOG_INFO, "job cannot be planned", "job=%s reason=\"%s\"", batch->job,
               error.message);
        ft_store_plan_fail(worker->dispatch->store, batch->token, task, &error,
                           ft_batch_on_committed, ft_batch_errand(worker, task));
        ft_batch_finish(worker);
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
