#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "dispatch/internal.h"
#include "setup/log.h"
#include "store/access.h"
#include "wire/kinds.h"

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

/* Ids are random. */
static size_t bucket_of(const char *id)
{
    return (size_t)(ft_hash_bytes(id, strlen(id), 0) % FT_JOB_BUCKETS);
}

ft_job *ft_job_find(const ft_dispatch *dispatch, const char *id)
{
    for (ft_job *job = dispatch->buckets[bucket_of(id)]; job; job = job->chain)
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

/* The worker gets the limits that the supervisor enforces, and no members that are the queue's. */
static json_t *spec_with_budget(const json_t *spec, const ft_job *job)
{
    json_t *copy = json_deep_copy(spec);
    json_object_del(copy, "priority");
    json_object_set_new(copy, "budget",
                        json_pack("{s:I, s:I}", "subproblem_ms", (json_int_t)job->subproblem_ms,
                                  "job_ms", (json_int_t)job->job_ms));
    return copy;
}

/* The least of what the job, its project and the server allow; 0: the process's own limit holds. */
static uint32_t memory_limit(const ft_job *job, const json_t *spec)
{
    uint64_t most = job->project->limits[FT_LIMIT_MEMORY_MB];
    uint64_t own = budget(spec, "memory_mb", UINT32_MAX);
    if (most == 0 || own < most) most = own;
    return most < job->dispatch->config->worker_memory_mb ? (uint32_t)most : 0;
}

/* A new job starts with the least service of its project's: it neither waits until they have had as
 * little as it, nor counts as far behind. */
static uint64_t least_served(const ft_dispatch *dispatch, const ft_project *project)
{
    uint64_t least = UINT64_MAX;
    for (const ft_job *job = dispatch->jobs; job; job = job->next)
        if (job->project == project && job->served < least) least = job->served;
    return least == UINT64_MAX ? 0 : least;
}

static int64_t integer_of(const json_t *row, const char *member, int64_t without)
{
    const json_t *value = json_object_get(row, member);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : without;
}

static void read_row(ft_job *job, const json_t *row)
{
    const json_t *spec = json_object_get(row, "spec");
    snprintf(job->id, sizeof job->id, "%s", json_string_value(json_object_get(row, "job")));
    snprintf(job->trace, sizeof job->trace, "%s", json_string_value(json_object_get(row, "trace")));
    job->ready = (uint64_t)integer_of(row, "ready", 1);
    job->revision = (uint64_t)integer_of(row, "revision", 1);
    job->spent_ms = job->told_ms = (uint64_t)integer_of(row, "spent_ms", 0);
    job->priority = integer_of(row, "priority", 0);
    job->subproblem_ms = budget(spec, "subproblem_ms", job->dispatch->config->subproblem_ms);
    job->job_ms = budget(spec, "job_ms", job->dispatch->config->job_ms);
    job->memory_mb = memory_limit(job, spec);
    job->spec = spec_with_budget(spec, job);
    job->explores = ft_job_kind_of(spec) == FT_JOB_KIND_EXPLORE;
    job->batch = job->group = ft_job_kind_group(ft_job_kind_of(spec));
}

static void list_job(ft_dispatch *dispatch, ft_job *job)
{
    ft_job **end = &dispatch->jobs, **bucket = &dispatch->buckets[bucket_of(job->id)];
    while (*end) end = &(*end)->next;
    *end = job;
    job->chain = *bucket;
    *bucket = job;
    dispatch->job_count++;
}

ft_job *ft_job_add(ft_dispatch *dispatch, const json_t *row, ft_job_state state)
{
    FT_REQUIRE(!ft_job_state_final(state));
    assert(!ft_job_find(dispatch, json_string_value(json_object_get(row, "job"))));
    ft_job *job = ft_calloc(1, sizeof *job);
    job->dispatch = dispatch;
    job->state = state;
    job->project = ft_project_enter(dispatch, json_string_value(json_object_get(row, "project")));
    job->served = least_served(dispatch, job->project);
    job->since = uv_now(dispatch->loop);
    read_row(job, row);
    uv_timer_init(dispatch->loop, &job->deadline);
    job->deadline.data = job;
    ft_dispatch_hold(dispatch);
    list_job(dispatch, job);
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
    at = &job->dispatch->buckets[bucket_of(job->id)];
    while (*at != job) at = &(*at)->chain;
    *at = job->chain;
    assert(job->dispatch->job_count > 0);
    job->dispatch->job_count--;
    ft_project_leave(job->dispatch, job->project);
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
        bool unanswered = busy && worker->batch.next < worker->batch.own;
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

static void close_in_time(ft_job *job);

void ft_job_changed(ft_dispatch *dispatch, const json_t *change)
{
    const char *id = json_string_value(json_object_get(change, "job"));
    const char *name = json_string_value(json_object_get(change, "state"));
    uint64_t revision = (uint64_t)json_integer_value(json_object_get(change, "revision"));
    ft_job_state state;
    if (dispatch->closing || !id || !name || !ft_job_state_parse(name, &state)) return;
    ft_job *job = ft_job_find(dispatch, id);
    if (job) {
        assert(!ft_job_state_final(job->state)); /* a final state ends its being in progress */
        job->state = state;
        if (revision > job->revision) job->revision = revision;
        job->ready = (uint64_t)json_integer_value(json_object_get(change, "ready"));
        if (ft_job_state_final(state))
            job_end(dispatch, job, state);
        else
            close_in_time(job);
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
    ft_dispatch *dispatch = errand->dispatch;
    bool more = json_is_true(json_object_get(result, "more")) && !dispatch->closing;
    if (more) stop_workers(dispatch, errand->job);
    ft_job_changed(dispatch, result);
    if (more)
        expire(errand);
    else
        ft_errand_end(errand);
}

void ft_job_expire(ft_job *job, const char *text)
{
    FT_REQUIRE(text);
    job->expired = true;
    ft_errand *errand = ft_errand_new(job->dispatch, NULL);
    snprintf(errand->job, sizeof errand->job, "%s", job->id);
    snprintf(errand->text, sizeof errand->text, "%s", text);
    expire(errand);
}

/* At the end what is open of an exploration is left so, and what was done gets its word. */
static void on_closed(void *data, const ft_error *err, json_t *result);

static void close_job(ft_errand *errand)
{
    ft_store_job_close(errand->dispatch->store, errand->job, errand->task == FT_STAGE_END,
                       on_closed, errand);
}

static void on_closed(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    if (err) {
        ft_errand_retry(errand, close_job, err);
        return;
    }
    ft_batch_drop(errand->dispatch, json_object_get(result, "gone"));
    ft_job_changed(errand->dispatch, result);
    ft_errand_end(errand);
}

/* A plan keeps to the time by itself, so that what it found counts. */
static void close_in_time(ft_job *job)
{
    if (job->reported >= job->stage || job->state != FT_JOB_SOLVING) return;
    job->reported = job->stage;
    ft_errand *errand = ft_errand_new(job->dispatch, NULL);
    errand->task = job->stage;
    snprintf(errand->job, sizeof errand->job, "%s", job->id);
    close_job(errand);
}

static void start_deadline(ft_job *job);

static void on_deadline(uv_timer_t *timer)
{
    ft_job *job = timer->data;
    char text[80];
    if (job->explores && job->stage < FT_STAGE_END) {
        job->stage++;
        start_deadline(job);
        close_in_time(job);
        return;
    }
    snprintf(text, sizeof text, "the job's budget of %u ms is exhausted", job->job_ms);
    ft_log(FT_LOG_WARN, "job budget exhausted", "job=%s job_ms=%u", job->id, job->job_ms);
    ft_job_expire(job, text);
}

uint64_t ft_job_spent(const ft_job *job)
{
    assert(!job->running || uv_now(job->dispatch->loop) >= job->clock);
    return job->spent_ms + (job->running ? uv_now(job->dispatch->loop) - job->clock : 0);
}

static uint64_t left_until(const ft_job *job, uint64_t ms)
{
    uint64_t spent = ft_job_spent(job);
    return ms > spent ? ms - spent : 0;
}

static uint64_t end_of(const ft_job *job)
{
    return job->explores ? job->job_ms - job->job_ms / 10 : job->job_ms;
}

uint64_t ft_job_left(const ft_job *job)
{
    return left_until(job, end_of(job));
}

static void start_deadline(ft_job *job)
{
    uint64_t ms = end_of(job);
    if (job->explores && job->stage == FT_STAGE_EARLY) ms = job->job_ms / 2;
    if (job->stage == FT_STAGE_END) ms = job->job_ms + FT_EXPLORE_LATE_MS;
    uv_timer_start(&job->deadline, on_deadline, left_until(job, ms), 0);
}

void ft_job_begin(ft_job *job)
{
    assert(job->running < job->dispatch->worker_count);
    if (job->running++ > 0) return;
    job->clock = uv_now(job->dispatch->loop);
    if (!job->expired) start_deadline(job);
}

void ft_job_end(ft_job *job)
{
    assert(job->running > 0);
    if (job->running > 1) {
        job->running--;
        return;
    }
    job->spent_ms = ft_job_spent(job);
    job->running = 0;
    job->since = uv_now(job->dispatch->loop);
    uv_timer_stop(&job->deadline);
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
        if (!ft_job_find(dispatch, id)) ft_job_add(dispatch, snapshot, FT_JOB_QUEUED);
        ft_dispatch_count(dispatch, FT_METRIC_JOBS_CREATED);
        ft_log(FT_LOG_INFO, "job created", "job=%s", id);
        notify(dispatch, id, 1, FT_JOB_QUEUED);
        ft_dispatch_pump(dispatch);
    }
    answer(errand, err, snapshot);
}

static bool may_create(const ft_dispatch *dispatch, const char *project, ft_error *err)
{
    if (dispatch->job_count >= dispatch->config->max_jobs)
        return ft_error_set(
                   err, FT_BUDGET,
                   "%u jobs have not ended, the most that max-jobs allows: try again later",
                   dispatch->job_count) == FT_OK;
    if (ft_project_out_of_time(dispatch, project))
        return ft_error_set(err, FT_BUDGET,
                            "project %s has used its %llu s of worker time for today (UTC)",
                            project,
                            (unsigned long long)ft_dispatch_limit(dispatch, project,
                                                                  FT_LIMIT_SECONDS)) == FT_OK;
    return true;
}

void ft_dispatch_job_create(ft_dispatch *dispatch, const json_t *spec, const ft_store_key *key,
                            ft_store_done done, void *data)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    const char *project = json_string_value(json_object_get(spec, "project"));
    if (!project) project = FT_PROJECT_DEFAULT;
    errand->done = done;
    errand->data = data;
    if (may_create(dispatch, project, &errand->err)) {
        uint64_t most = ft_dispatch_limit(dispatch, project, FT_LIMIT_JOBS);
        ft_store_job_create(dispatch->store, spec, key, (uint32_t)most, on_created, errand);
        return;
    }
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
