#include "dispatch/dispatch.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dispatch/internal.h"
#include "log.h"

#define RETRY_MS       1000 /* after a failure of the store */
#define AFFINITY_MS    2000 /* of unfairness that a loaded trace is worth */
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
    free(dispatch);
    closed(data);
}

void ft_dispatch_count(ft_dispatch *dispatch, ft_dispatch_metric metric)
{
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
    free(errand);
    ft_dispatch_drop(dispatch);
}

static void run_list(ft_errand **list)
{
    ft_errand *errand = *list;
    *list = NULL;
    for (ft_errand *next; errand; errand = next) {
        next = errand->next;
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
    errand->again = again;
    errand->next = dispatch->retries;
    dispatch->retries = errand;
    dispatch->store_ailing = true;
    uv_timer_start(&dispatch->retry, on_retry, RETRY_MS, 0);
}

void ft_errand_soon(ft_errand *errand, void (*again)(ft_errand *errand))
{
    ft_dispatch *dispatch = errand->dispatch;
    errand->again = again;
    errand->next = dispatch->later;
    dispatch->later = errand;
    uv_timer_start(&dispatch->soon, on_soon, 0, 0);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static ft_worker *reserved(const ft_dispatch *dispatch)
{
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
    worker = reserved(dispatch);
    bool due = uv_is_active((uv_handle_t *)&worker->respawn);
    if (ft_ingest_waiting(dispatch) && worker->state == FT_WORKER_DOWN && !due)
        ft_worker_start(worker);
}

/* How far a job is behind the others, in milliseconds of worker time; less goes first. */
static int64_t standing(const ft_job *job, const ft_worker *worker)
{
    bool loaded = strcmp(worker->loaded, job->trace) == 0;
    return (int64_t)job->served - (loaded ? AFFINITY_MS : 0);
}

/* Fewest workers first, then least served, where a trace that is loaded already counts for some. */
static bool better(const ft_job *job, const ft_worker *worker, const ft_job *than,
                   const ft_worker *its)
{
    if (!than) return true;
    if (job->running != than->running) return job->running < than->running;
    return standing(job, worker) < standing(than, its);
}

static bool choose(const ft_dispatch *dispatch, ft_job **job, ft_worker **worker)
{
    *job = NULL;
    for (unsigned i = 0; i + 1 < dispatch->worker_count; i++) {
        ft_worker *w = &dispatch->workers[i];
        if (w->state != FT_WORKER_IDLE) continue;
        for (ft_job *j = dispatch->jobs; j; j = j->next) {
            if (j->ready == 0 || !better(j, w, *job, *worker)) continue;
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
        ft_job_add(dispatch, id, json_string_value(json_object_get(row, "trace")),
                   json_object_get(row, "spec"), state,
                   (uint64_t)json_integer_value(json_object_get(row, "ready")));
        ft_log(FT_LOG_INFO, "job taken up again", "job=%s state=%s", id, ft_job_state_name(state));
    }
    dispatch->recovered = true;
    ft_dispatch_pump(dispatch);
    ft_errand_end(errand);
}

static void recover_jobs(ft_errand *errand)
{
    ft_store_jobs_open(errand->dispatch->store, on_jobs, errand);
}

/* The worker program lies beside this one unless it is named. */
static ft_status find_worker(const ft_config *config, char **path, ft_error *err)
{
    ft_strbuf found = {0};
    if (*config->worker) {
        ft_strbuf_puts(&found, config->worker);
    } else {
        char own[4096];
        size_t length = sizeof own;
        if (uv_exepath(own, &length) != 0)
            return ft_error_set(err, FT_IO, "cannot tell where foretelld is; use --worker");
        char *slash = strrchr(own, '/');
        size_t folder = slash ? (size_t)(slash - own) + 1 : 0;
        ft_strbuf_add(&found, own, folder);
        ft_strbuf_puts(&found, WORKER_PROGRAM);
    }
    ft_status status = FT_OK;
    if (access(found.text, X_OK) != 0) {
        status = ft_error_set(err, FT_IO, "cannot run the worker %s: %s; use --worker", found.text,
                              strerror(errno));
    }
    *path = ft_strbuf_take(&found);
    return status;
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
    ft_status status = find_worker(config, &path, err);
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
    d->worker_count = solvers + 1;
    d->workers = ft_calloc(d->worker_count, sizeof *d->workers);
    init_timer(d, &d->retry);
    init_timer(d, &d->soon);
    for (unsigned i = 0; i < d->worker_count; i++)
        ft_worker_init(&d->workers[i], d, i, i == solvers);
    for (unsigned i = 0; i < solvers; i++) ft_worker_start(&d->workers[i]);
    recover_jobs(ft_errand_new(d, NULL));
    *dispatch = d;
    return FT_OK;
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
    ft_dispatch_hold(dispatch);
    ft_ingest_close(dispatch);
    for (unsigned i = 0; i < dispatch->worker_count; i++) ft_worker_close(&dispatch->workers[i]);
    ft_jobs_close(dispatch);
    run_list(&dispatch->later);
    for (ft_errand *errand = dispatch->retries, *next; errand; errand = next) {
        next = errand->next;
        ft_errand_end(errand);
    }
    uv_close((uv_handle_t *)&dispatch->retry, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->soon, on_timer_closed);
    ft_dispatch_drop(dispatch);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *describe(const ft_worker *worker)
{
    const ft_batch *batch = &worker->batch;
    const char *kind = NULL;
    if (batch->tasks) kind = ft_task_kind_name(batch->kind);
    if (worker->upload) kind = ft_task_kind_name(FT_KIND_INGEST);
    size_t open = json_array_size(batch->tasks) - batch->next;
    json_t *pid = worker->process ? json_integer(ft_worker_pid(worker)) : json_null();
    return json_pack("{s:i, s:o, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "worker",
                     (int)worker->index, "pid", pid, "role", worker->ingests ? "ingest" : "solve",
                     "state", ft_worker_state_name(worker->state), "kind", text_or_null(kind),
                     "job", text_or_null(batch->tasks ? batch->job : NULL), "trace",
                     text_or_null(worker->loaded), "batch", (json_int_t)open, "tasks",
                     (json_int_t)worker->answered, "restarts", (json_int_t)worker->restarts,
                     "version", text_or_null(worker->version), "progress",
                     text_or_null(worker->progress));
}

json_t *ft_dispatch_workers(const ft_dispatch *dispatch)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < dispatch->worker_count; i++)
        json_array_append_new(list, describe(&dispatch->workers[i]));
    return list;
}

static bool alive(const ft_worker *worker)
{
    return worker->state != FT_WORKER_DOWN && worker->state != FT_WORKER_STARTING;
}

static unsigned count_workers(const ft_dispatch *dispatch, bool busy)
{
    unsigned count = 0;
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        const ft_worker *worker = &dispatch->workers[i];
        count += alive(worker) && !(busy && worker->state == FT_WORKER_IDLE);
    }
    return count;
}

json_t *ft_dispatch_metrics(const ft_dispatch *dispatch)
{
    static const char *const NAMES[] = {
#define FT_ROW(symbol, name, gauge, doc) name,
        FT_DISPATCH_METRIC_TABLE(FT_ROW)
#undef FT_ROW
    };
    json_t *metrics = json_object();
    for (int m = 0; m < FT_DISPATCH_METRICS; m++)
        json_object_set_new(metrics, NAMES[m], json_integer((json_int_t)dispatch->metrics[m]));
    json_object_set_new(metrics, NAMES[FT_METRIC_JOBS_ACTIVE], json_integer(dispatch->job_count));
    json_object_set_new(metrics, NAMES[FT_METRIC_WORKERS_BUSY],
                        json_integer(count_workers(dispatch, true)));
    json_object_set_new(metrics, NAMES[FT_METRIC_WORKERS_ALIVE],
                        json_integer(count_workers(dispatch, false)));
    return metrics;
}

bool ft_dispatch_ready(const ft_dispatch *dispatch)
{
    return dispatch->recovered && count_workers(dispatch, false) > 0;
}
