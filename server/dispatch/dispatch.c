#include "dispatch/dispatch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spread.h"
#include "dispatch/internal.h"
#include "setup/log.h"
#include "setup/program.h"

#define RETRY_MS       1000 /* after a failure of the store */
#define HELD_MS        1000 /* likewise one that the node has, though not this worker */
#define AFFINITY_MS    2000 /* of unfairness that a loaded trace is worth */
#define BEAT_MOST_MS   5000 /* what a killed server forgets of the time that jobs have had */
#define WORKER_PROGRAM "foretell-worker"

/* ---- Errands and holds -------------------------------------------------------------------------
 */

void ft_dispatch_hold(ft_dispatch *dispatch)
{
    dispatch->holds++;
}

void ft_dispatch_drop(ft_dispatch *dispatch)
{
    assert(dispatch->holds > 0);
    if (--dispatch->holds > 0) return;
    assert(dispatch->closing);
    void (*closed)(void *) = dispatch->closed;
    void *data = dispatch->closed_data;
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        free(dispatch->workers[i].version);
        free(dispatch->workers[i].progress);
    }
    free(dispatch->workers);
    free(dispatch->worker_path);
    json_decref(dispatch->nodes);
    free(dispatch);
    closed(data);
}

void ft_dispatch_count(ft_dispatch *dispatch, ft_dispatch_metric metric)
{
    FT_REQUIRE(metric < FT_DISPATCH_METRICS);
    dispatch->metrics[metric]++;
}

ft_errand *ft_errand_new(ft_dispatch *dispatch, ft_worker *worker)
{
    ft_errand *errand = ft_calloc(1, sizeof *errand);
    errand->dispatch = dispatch;
    errand->worker = worker;
    errand->generation = worker ? worker->generation : 0;
    ft_dispatch_hold(dispatch);
    return errand;
}

bool ft_errand_fresh(const ft_errand *errand)
{
    return errand->worker && errand->worker->generation == errand->generation &&
           !errand->dispatch->closing;
}

void ft_errand_end(ft_errand *errand)
{
    ft_dispatch *dispatch = errand->dispatch;
    free(errand->tallies);
    free(errand->words);
    json_decref(errand->json);
    free(errand);
    ft_dispatch_drop(dispatch);
}

static void run_list(ft_errand **list)
{
    ft_errand *errand = *list;
    *list = NULL;
    for (ft_errand *next; errand; errand = next) {
        next = errand->next;
        errand->next = NULL; /* it is in no list: `again' may put it into one */
        errand->again(errand);
    }
}

static void on_retry(uv_timer_t *timer)
{
    ft_dispatch *dispatch = timer->data;
    dispatch->store_ailing = false;
    run_list(&dispatch->retries);
    ft_dispatch_pump(dispatch);
}

static void on_beat(uv_timer_t *timer)
{
    ft_batch_renew(timer->data);
    ft_fleet_beat(timer->data);
    ft_project_read_limits(timer->data, NULL);
}

static void on_soon(uv_timer_t *timer)
{
    ft_dispatch *dispatch = timer->data;
    run_list(&dispatch->later);
}

void ft_errand_retry(ft_errand *errand, void (*again)(ft_errand *errand), const ft_error *err)
{
    ft_dispatch *dispatch = errand->dispatch;
    ft_dispatch_count(dispatch, FT_METRIC_STORE_ERRORS);
    ft_log(FT_LOG_ERROR, "the store failed", "job=%s reason=\"%s\"", errand->job, err->message);
    if (dispatch->closing) {
        /* The next start recovers what could not be written. */
        ft_errand_end(errand);
        return;
    }
    FT_REQUIRE(again && !errand->next);
    errand->again = again;
    errand->next = dispatch->retries;
    dispatch->retries = errand;
    dispatch->store_ailing = true;
    uv_timer_start(&dispatch->retry, on_retry, ft_spread(RETRY_MS), 0);
}

void ft_errand_soon(ft_errand *errand, void (*again)(ft_errand *errand))
{
    ft_dispatch *dispatch = errand->dispatch;
    FT_REQUIRE(again && !errand->next);
    errand->again = again;
    errand->next = dispatch->later;
    dispatch->later = errand;
    uv_timer_start(&dispatch->soon, on_soon, 0, 0);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static ft_worker *reserved(const ft_dispatch *dispatch)
{
    assert(dispatch->workers[dispatch->worker_count - 1].ingests);
    return &dispatch->workers[dispatch->worker_count - 1];
}

static ft_worker *idle_for_ingest(const ft_dispatch *dispatch)
{
    for (unsigned i = dispatch->worker_count; i-- > 0;)
        if (dispatch->workers[i].state == FT_WORKER_IDLE) return &dispatch->workers[i];
    return NULL;
}

static void pump_ingests(ft_dispatch *dispatch)
{
    ft_worker *worker;
    while (ft_ingest_waiting(dispatch) && (worker = idle_for_ingest(dispatch)) != NULL)
        ft_ingest_start(worker);
    while (ft_summary_waiting(dispatch) && (worker = idle_for_ingest(dispatch)) != NULL)
        ft_summary_start(worker);
    worker = reserved(dispatch);
    bool due = uv_is_active((uv_handle_t *)&worker->respawn);
    bool waiting = ft_ingest_waiting(dispatch) || ft_summary_waiting(dispatch);
    if (waiting && worker->state == FT_WORKER_DOWN && !due) ft_worker_start(worker);
}

/* How far a job is behind the others, in milliseconds of worker time; less goes first. */
static int64_t standing(const ft_job *job, const ft_worker *worker)
{
    bool loaded = strcmp(worker->loaded, job->trace) == 0;
    int64_t worth = loaded                                         ? AFFINITY_MS
                    : ft_batch_holds(worker->dispatch, job->trace) ? HELD_MS
                                                                   : 0;
    return (int64_t)job->served - worth;
}

/* Between projects: fewest workers, then least served. In one: the highest priority, then fewest
 * workers, then least served, where a trace that is loaded already counts for some. */
static bool better(const ft_job *job, const ft_worker *worker, const ft_job *than,
                   const ft_worker *its)
{
    if (!than) return true;
    const ft_project *ours = job->project, *theirs = than->project;
    if (ours->running != theirs->running) return ours->running < theirs->running;
    if (ours != theirs && ours->served != theirs->served) return ours->served < theirs->served;
    if (ours != theirs) return false;
    if (job->priority != than->priority) return job->priority > than->priority;
    if (job->running != than->running) return job->running < than->running;
    return standing(job, worker) < standing(than, its);
}

static bool may_go(const ft_dispatch *dispatch, const ft_job *job)
{
    return job->ready > 0 && !job->expired && job->wait <= uv_now(dispatch->loop) &&
           ft_project_may_run(job->project);
}

static bool choose(const ft_dispatch *dispatch, ft_job **job, ft_worker **worker)
{
    *job = NULL;
    for (unsigned i = 0; i + 1 < dispatch->worker_count; i++) {
        ft_worker *w = &dispatch->workers[i];
        assert(!w->ingests); /* jobs never wait for the reserved worker */
        if (w->state != FT_WORKER_IDLE) continue;
        for (ft_job *j = dispatch->jobs; j; j = j->next) {
            if (!may_go(dispatch, j) || !better(j, w, *job, *worker)) continue;
            *job = j;
            *worker = w;
        }
    }
    return *job != NULL;
}

void ft_dispatch_pump(ft_dispatch *dispatch)
{
    if (dispatch->closing || dispatch->store_ailing) return;
    pump_ingests(dispatch);
    ft_job *job;
    ft_worker *worker = NULL;
    while (choose(dispatch, &job, &worker)) ft_batch_lease(worker, job);
}

static void on_wake(uv_timer_t *timer)
{
    ft_dispatch *dispatch = timer->data;
    ft_dispatch_pump(dispatch);
    for (const ft_job *job = dispatch->jobs; job; job = job->next)
        if (job->ready > 0 && job->wait > uv_now(dispatch->loop))
            ft_dispatch_wake(dispatch, job->wait);
}

void ft_dispatch_wake(ft_dispatch *dispatch, uint64_t at)
{
    uint64_t now = uv_now(dispatch->loop), wait = at > now ? at - now : 0;
    if (dispatch->closing) return;
    if (uv_is_active((uv_handle_t *)&dispatch->wake) &&
        uv_timer_get_due_in(&dispatch->wake) <= wait)
        return;
    uv_timer_start(&dispatch->wake, on_wake, wait, 0);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void recover_jobs(ft_errand *errand);

static void on_jobs(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    if (err) {
        ft_errand_retry(errand, recover_jobs, err);
        return;
    }
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(result, "jobs"), index, row)
    {
        const char *id = json_string_value(json_object_get(row, "job"));
        ft_job_state state;
        if (dispatch->closing || ft_job_find(dispatch, id)) continue;
        if (!ft_job_state_parse(json_string_value(json_object_get(row, "state")), &state)) continue;
        ft_job_add(dispatch, row, state);
        ft_log(FT_LOG_INFO, "job resumed", "job=%s state=%s", id, ft_job_state_name(state));
    }
    dispatch->recovered = true;
    ft_dispatch_pump(dispatch);
    ft_errand_end(errand);
}

static void recover_jobs(ft_errand *errand)
{
    ft_store_jobs_open(errand->dispatch->store, on_jobs, errand);
}

static void init_timer(ft_dispatch *dispatch, uv_timer_t *timer)
{
    uv_timer_init(dispatch->loop, timer);
    timer->data = dispatch;
    ft_dispatch_hold(dispatch);
}

ft_status ft_dispatch_open(uv_loop_t *loop, const ft_config *config, ft_store *store,
                           ft_dispatch **dispatch, ft_error *err)
{
    char *path = NULL;
    ft_status status = ft_program_path(config->worker, WORKER_PROGRAM, "worker", &path, err);
    if (status != FT_OK) {
        free(path);
        return status;
    }
    ft_dispatch *d = ft_calloc(1, sizeof *d);
    d->loop = loop;
    d->config = config;
    d->store = store;
    d->worker_path = path;
    unsigned solvers = (unsigned)config->workers;
    if (solvers == 0) solvers = uv_available_parallelism();
    if (!ft_config_solves(config)) solvers = 0;
    d->worker_count = solvers + 1;
    d->workers = ft_calloc(d->worker_count, sizeof *d->workers);
    init_timer(d, &d->retry);
    init_timer(d, &d->soon);
    init_timer(d, &d->beat);
    init_timer(d, &d->tick);
    init_timer(d, &d->wake);
    init_timer(d, &d->poll);
    uint64_t beat_ms = config->lease_ms / 4 < BEAT_MOST_MS ? config->lease_ms / 4 : BEAT_MOST_MS;
    uv_timer_start(&d->beat, on_beat, beat_ms, beat_ms);
    ft_ingest_sweep(config->state);
    for (unsigned i = 0; i < d->worker_count; i++)
        ft_worker_init(&d->workers[i], d, i, i == solvers);
    for (unsigned i = 0; i < solvers; i++) ft_worker_start(&d->workers[i]);
    ft_project_read_limits(d, recover_jobs);
    ft_fleet_beat(d);
    *dispatch = d;
    return ft_fleet_open(d, err);
}

/* ---- Closing --------------------------------------------------------------------------------- */

static void on_timer_closed(uv_handle_t *handle)
{
    ft_dispatch_drop(handle->data);
}

void ft_dispatch_close(ft_dispatch *dispatch, void (*closed)(void *data), void *data)
{
    dispatch->closing = true;
    dispatch->closed = closed;
    dispatch->closed_data = data;
    ft_store_unlisten(dispatch->store);
    ft_dispatch_hold(dispatch);
    ft_ingest_close(dispatch);
    ft_summary_close(dispatch);
    for (unsigned i = 0; i < dispatch->worker_count; i++) ft_worker_close(&dispatch->workers[i]);
    ft_batch_renew(dispatch);
    ft_jobs_close(dispatch);
    ft_projects_close(dispatch);
    run_list(&dispatch->later);
    for (ft_errand *errand = dispatch->retries, *next; errand; errand = next) {
        next = errand->next;
        ft_errand_end(errand);
    }
    uv_close((uv_handle_t *)&dispatch->retry, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->soon, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->beat, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->tick, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->wake, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->poll, on_timer_closed);
    ft_dispatch_drop(dispatch);
}
