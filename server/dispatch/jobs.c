#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "log.h"

/* ---- Watches --------------------------------------------------------------------------------- */

ft_watch *ft_dispatch_watch(ft_dispatch *dispatch, const char *job, ft_watch_changed changed,
                            void *data)
{
    ft_watch *watch = ft_calloc(1, sizeof *watch);
    watch->dispatch = dispatch;
    watch->job = job ? ft_strdup(job) : NULL;
    watch->changed = changed;
    watch->data = data;
    watch->next = dispatch->watches;
    dispatch->watches = watch;
    return watch;
}

static void sweep(ft_dispatch *dispatch)
{
    for (ft_watch **at = &dispatch->watches; *at;) {
        ft_watch *watch = *at;
        if (!watch->removed) {
            at = &watch->next;
            continue;
        }
        *at = watch->next;
        free(watch->job);
        free(watch);
    }
}

void ft_dispatch_unwatch(ft_watch *watch)
{
    if (!watch) return;
    watch->removed = true;
    if (watch->dispatch->notifying == 0) sweep(watch->dispatch);
}

static void notify(ft_dispatch *dispatch, const char *job, uint64_t revision, ft_job_state state)
{
    dispatch->notifying++;
    for (ft_watch *watch = dispatch->watches; watch; watch = watch->next) {
        if (watch->removed || (watch->job && strcmp(watch->job, job) != 0)) continue;
        watch->changed(watch->data, job, revision, state);
    }
    if (--dispatch->notifying == 0) sweep(dispatch);
}

/* ---- Jobs in progress ------------------------------------------------------------------------ */

ft_job *ft_job_find(const ft_dispatch *dispatch, const char *id)
{
    for (ft_job *job = dispatch->jobs; job; job = job->next)
        if (strcmp(job->id, id) == 0) return job;
    return NULL;
}

/* A budget of the spec, or the configured one. */
static uint32_t budget(const json_t *spec, const char *name, uint64_t standard)
{
    const json_t *value = json_object_get(json_object_get(spec, "budget"), name);
    json_int_t ms = json_is_integer(value) ? json_integer_value(value) : (json_int_t)standard;
    if (ms < 1) ms = 1;
    return ms < INT32_MAX ? (uint32_t)ms : INT32_MAX;
}

/* The worker is told what the supervisor holds it to. */
static json_t *spec_with_budget(const json_t *spec, const ft_job *job)
{
    json_t *copy = json_deep_copy(spec);
    json_object_set_new(copy, "budget",
                        json_pack("{s:I, s:I}", "subproblem_ms", (json_int_t)job->subproblem_ms,
                                  "job_ms", (json_int_t)job->job_ms));
    return copy;
}

/* A new job starts with the least service of those in progress: it neither waits until they have
 * had as little as it, nor counts as far behind. */
static uint64_t least_served(const ft_dispatch *dispatch)
{
    uint64_t least = UINT64_MAX;
    for (const ft_job *job = dispatch->jobs; job; job = job->next)
        if (job->served < least) least = job->served;
    return least == UINT64_MAX ? 0 : least;
}

ft_job *ft_job_add(ft_dispatch *dispatch, const char *id, const char *trace, const json_t *spec,
                   ft_job_state state, uint64_t ready)
{
    ft_job *job = ft_calloc(1, sizeof *job);
    snprintf(job->id, sizeof job->id, "%s", id);
    snprintf(job->trace, sizeof job->trace, "%s", trace);
    job->dispatch = dispatch;
    job->state = state;
    job->ready = ready;
    job->batch = 1;
    job->served = least_served(dispatch);
    job->since = uv_now(dispatch->loop);
    job->subproblem_ms = budget(spec, "subproblem_ms", dispatch->config->subproblem_ms);
    job->job_ms = budget(spec, "job_ms", dispatch->config->job_ms);
    job->spec = spec_with_budget(spec, job);
    uv_timer_init(dispatch->loop, &job->deadline);
    job->deadline.data = job;
    ft_dispatch_hold(dispatch);
    ft_job **end = &dispatch->jobs;
    while (*end) end = &(*end)->next;
    *end = job;
    dispatch->job_count++;
    return job;
}

static void on_job_closed(uv_handle_t *handle)
{
    ft_job *job = handle->data;
    ft_dispatch *dispatch = job->dispatch;
    json_decref(job->spec);
    free(job);
    ft_dispatch_drop(dispatch);
}

static void job_remove(ft_job *job)
{
    ft_job **at = &job->dispatch->jobs;
    while (*at != job) at = &(*at)->next;
    *at = job->next;
    job->dispatch->job_count--;
    uv_close((uv_handle_t *)&job->deadline, on_job_closed);
}

void ft_jobs_close(ft_dispatch *dispatch)
{
    while (dispatch->jobs) job_remove(dispatch->jobs);
    for (ft_watch *watch = dispatch->watches; watch; watch = watch->next) watch->removed = true;
    if (dispatch->notifying == 0) sweep(dispatch);
}

/* A done job's last worker may still have its final frame to send; any other end of a job makes
 * what its workers do useless. */
static void stop_workers(ft_dispatch *dispatch, const char *job)
{
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        ft_worker *worker = &dispatch->workers[i];
        bool busy = worker->batch.tasks && strcmp(worker->batch.job, job) == 0;
        bool unanswered = busy && worker->batch.next < json_array_size(worker->batch.tasks);
        if (unanswered) ft_worker_die(worker, FT_DEATH_STOPPED, "job %s has ended", job);
    }
}

static void job_end(ft_dispatch *dispatch, ft_job *job, ft_job_state state)
{
    char id[FT_JOB_ID];
    snprintf(id, sizeof id, "%s", job->id);
    ft_dispatch_count(dispatch, FT_METRIC_JOBS_ENDED);
    ft_log(FT_LOG_INFO, "job ended", "job=%s state=%s", id, ft_job_state_name(state));
    job_remove(job);
    stop_workers(dispatch, id);
}

void ft_job_changed(ft_dispatch *dispatch, const json_t *change)
{
    const char *id = json_string_value(json_object_get(change, "job"));
    const char *name = json_string_value(json_object_get(change, "state"));
    uint64_t revision = (uint64_t)json_integer_value(json_object_get(change, "revision"));
    ft_job_state state;
    if (dispatch->closing || !id || !name || !ft_job_state_parse(name, &state)) return;
    ft_job *job = ft_job_find(dispatch, id);
    if (job) {
        job->state = state;
        job->ready = (uint64_t)json_integer_value(json_object_get(change, "ready"));
        if (ft_job_state_final(state)) job_end(dispatch, job, state);
    }
    if (json_is_true(json_object_get(change, "applied"))) notify(dispatch, id, revision, state);
    ft_dispatch_pump(dispatch);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void on_expired(void *data, const ft_error *err, json_t *result);

static void expire(ft_errand *errand)
{
    ft_store_job_expire(errand->dispatch->store, errand->job, errand->text, on_expired, errand);
}

static void on_expired(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    if (err) {
        ft_errand_retry(errand, expire, err);
        return;
    }
    ft_job_changed(errand->dispatch, result);
    ft_errand_end(errand);
}

static void on_deadline(uv_timer_t *timer)
{
    const ft_job *job = timer->data;
    ft_errand *errand = ft_errand_new(job->dispatch, NULL);
    snprintf(errand->job, sizeof errand->job, "%s", job->id);
    snprintf(errand->text, sizeof errand->text, "the job's budget of %u ms ran out", job->job_ms);
    ft_log(FT_LOG_WARN, "job out of time", "job=%s job_ms=%u", job->id, job->job_ms);
    expire(errand);
}

void ft_job_start_clock(ft_job *job)
{
    if (job->started) return;
    job->started = true;
    uv_timer_start(&job->deadline, on_deadline, job->job_ms, 0);
}

/* ---- Creating and cancelling ----------------------------------------------------------------- */

static void answer(ft_errand *errand, const ft_error *err, json_t *result)
{
    if (errand->done) errand->done(errand->data, err, result);
    ft_errand_end(errand);
}

static void answer_error(ft_errand *errand)
{
    answer(errand, &errand->err, NULL);
}

static void on_created(void *data, const ft_error *err, json_t *snapshot)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    if (!err && !dispatch->closing && !json_is_true(json_object_get(snapshot, "known"))) {
        const char *id = json_string_value(json_object_get(snapshot, "job"));
        ft_job_add(dispatch, id, json_string_value(json_object_get(snapshot, "trace")),
                   json_object_get(snapshot, "spec"), FT_JOB_QUEUED, 1);
        ft_dispatch_count(dispatch, FT_METRIC_JOBS_CREATED);
        ft_log(FT_LOG_INFO, "job created", "job=%s", id);
        notify(dispatch, id, 1, FT_JOB_QUEUED);
        ft_dispatch_pump(dispatch);
    }
    answer(errand, err, snapshot);
}

void ft_dispatch_job_create(ft_dispatch *dispatch, const json_t *spec, const ft_store_key *key,
                            ft_store_done done, void *data)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    errand->done = done;
    errand->data = data;
    if (dispatch->job_count < dispatch->config->max_jobs) {
        ft_store_job_create(dispatch->store, spec, key, on_created, errand);
        return;
    }
    ft_error_set(&errand->err, FT_BUDGET, "%u jobs are in progress already; try again later",
                 dispatch->job_count);
    ft_errand_soon(errand, answer_error);
}

static void on_cancelled(void *data, const ft_error *err, json_t *change)
{
    ft_errand *errand = data;
    if (!err) ft_job_changed(errand->dispatch, change);
    answer(errand, err, change);
}

void ft_dispatch_job_cancel(ft_dispatch *dispatch, const char *job, ft_store_done done, void *data)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    errand->done = done;
    errand->data = data;
    ft_store_job_cancel(dispatch->store, job, on_cancelled, errand);
}
