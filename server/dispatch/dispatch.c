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

static void on_beat(uv_timer_t *timer)
{
    ft_batch_renew(timer->data);
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
    init_timer(d, &d->beat);
    uv_timer_start(&d->beat, on_beat, config->lease_ms / 4, config->lease_ms / 4);
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
    ft_summary_close(dispatch);
    for (unsigned i = 0; i < dispatch->worker_count; i++) ft_worker_close(&dispatch->workers[i]);
    ft_jobs_close(dispatch);
    run_list(&dispatch->later);
    for (ft_errand *errand = dispatch->retries, *next; errand; errand = next) {
        next = errand->next;
        ft_errand_end(errand);
    }
    uv_close((uv_handle_t *)&dispatch->retry, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->soon, on_timer_closed);
    uv_close((uv_handle_t *)&dispatch->beat, on_timer_closed);
    ft_dispatch_drop(dispatch);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* Bytes resident, 0: not known. */
static uint64_t memory_of(const ft_worker *worker)
{
    char path[64];
    unsigned long long all = 0, resident = 0;
    if (!worker->process) return 0;
    snprintf(path, sizeof path, "/proc/%d/statm", ft_worker_pid(worker));
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%llu %llu", &all, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool is_busy(const ft_worker *worker)
{
    return worker->batch.tasks || worker->upload || worker->summary;
}

static json_t *describe(const ft_worker *worker)
{
    uint64_t memory = memory_of(worker), now = uv_now(worker->dispatch->loop);
    json_int_t busy_ms = is_busy(worker) ? (json_int_t)(now - worker->busy_since) : 0;
    const ft_batch *batch = &worker->batch;
    const char *kind = NULL;
    if (batch->tasks) kind = ft_task_kind_name(batch->kind);
    if (worker->upload) kind = ft_task_kind_name(FT_KIND_INGEST);
    if (worker->summary) kind = ft_task_kind_name(FT_KIND_SUMMARY);
    size_t open = json_array_size(batch->tasks) - batch->next;
    json_t *pid = worker->process ? json_integer(ft_worker_pid(worker)) : json_null();
    return json_pack(
        "{s:i, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o}", "worker",
        (int)worker->index, "pid", pid, "role", worker->ingests ? "ingest" : "solve", "state",
        ft_worker_state_name(worker->state), "kind", text_or_null(kind), "job",
        text_or_null(batch->tasks ? batch->job : NULL), "trace", text_or_null(worker->loaded),
        "memory", memory ? json_integer((json_int_t)memory) : json_null(), "busy_ms", busy_ms,
        "batch", (json_int_t)open, "tasks", (json_int_t)worker->answered, "restarts",
        (json_int_t)worker->restarts, "version", text_or_null(worker->version), "progress",
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

json_t *ft_dispatch_load(const ft_dispatch *dispatch)
{
    uint64_t queued = 0, running = 0, memory = 0, age = 0, tasks = 0;
    json_t *load = json_object();
    for (const ft_job *job = dispatch->jobs; job; job = job->next) {
        uint64_t waits = uv_now(dispatch->loop) - job->since;
        queued += job->ready;
        if (job->ready && !job->running && waits > age) age = waits;
    }
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        const ft_batch *batch = &dispatch->workers[i].batch;
        running += json_array_size(batch->tasks) - batch->next;
        memory += memory_of(&dispatch->workers[i]);
    }
    for (int v = 0; v < FT_VERDICTS; v++) {
        tasks += dispatch->times.tasks[v];
        json_object_set_new(load, ft_verdict_name((ft_verdict)v),
                            json_integer((json_int_t)dispatch->times.tasks[v]));
    }
    json_t *levels =
        json_pack("{s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:I}", "queued", (json_int_t)queued,
                  "running", (json_int_t)running, "age_ms", (json_int_t)age, "jobs",
                  (int)dispatch->job_count, "workers_alive", (int)count_workers(dispatch, false),
                  "workers_busy", (int)count_workers(dispatch, true), "workers_memory",
                  (json_int_t)memory, "tasks", (json_int_t)tasks);
    json_object_update(load, levels);
    json_decref(levels);
    return load;
}

ft_dispatch_times ft_dispatch_task_times(const ft_dispatch *dispatch)
{
    return dispatch->times;
}

bool ft_dispatch_ready(const ft_dispatch *dispatch)
{
    return dispatch->recovered && count_workers(dispatch, false) > 0;
}
