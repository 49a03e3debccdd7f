#include <stdio.h>
#include <string.h>

#include "dispatch/internal.h"

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *describe(const ft_worker *worker)
{
    uint64_t memory = ft_worker_memory(worker), now = uv_now(worker->dispatch->loop);
    json_int_t busy_ms = ft_worker_busy(worker) ? (json_int_t)(now - worker->busy_since) : 0;
    uint64_t since = worker->heard > worker->busy_since ? worker->heard : worker->busy_since;
    json_int_t silent_ms = ft_worker_busy(worker) ? (json_int_t)(now - since) : 0;
    const ft_batch *batch = &worker->batch;
    const char *kind = NULL;
    if (batch->tasks) kind = ft_task_kind_name(batch->kind);
    if (worker->upload) kind = ft_task_kind_name(FT_KIND_INGEST);
    if (worker->summary) kind = ft_task_kind_name(ft_summary_kind(worker->summary));
    size_t open = batch->own > batch->next ? batch->own - batch->next : 0;
    json_t *pid = worker->process ? json_integer(ft_worker_pid(worker)) : json_null();
    return json_pack(
        "{s:i, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "worker",
        (int)worker->index, "pid", pid, "role", worker->ingests ? "ingest" : "solve", "state",
        ft_worker_state_name(worker->state), "kind", text_or_null(kind), "job",
        text_or_null(batch->tasks ? batch->job : NULL), "trace", text_or_null(worker->loaded),
        "memory", memory ? json_integer((json_int_t)memory) : json_null(), "busy_ms", busy_ms,
        "silent_ms", silent_ms, "batch", (json_int_t)open, "tasks", (json_int_t)worker->answered,
        "restarts", (json_int_t)worker->restarts, "version", text_or_null(worker->version),
        "progress", text_or_null(worker->progress));
}

json_t *ft_dispatch_workers(const ft_dispatch *dispatch)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < dispatch->worker_count; i++)
        json_array_append_new(list, describe(&dispatch->workers[i]));
    return list;
}

const json_t *ft_dispatch_nodes(const ft_dispatch *dispatch)
{
    return ft_store_is_shared(dispatch->store) ? dispatch->nodes : NULL;
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
        running += batch->own > batch->next ? batch->own - batch->next : 0;
        memory += ft_worker_memory(&dispatch->workers[i]);
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
    bool works = count_workers(dispatch, false) > 0 || dispatch->worker_count == 1;
    return dispatch->recovered && works;
}
