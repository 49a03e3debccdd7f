/* The dispatcher: hands tasks to worker processes, supervises them, and answers for every job.
 *
 * server/api uses this header for changes (uploads, new jobs, cancelling), to wait for jobs and for
 * the list of workers; it reads jobs, reports, findings and traces from store/store.h directly. All
 * functions are for the loop's thread; callbacks run there, never before the requesting function
 * has returned, and exactly once.
 *
 * Workers: `config.workers` processes for plan and solve tasks, and one more, started at the first
 * upload, that only ingests: a client waits for an ingest, so it must not queue behind solving. An
 * idle solving worker takes an ingest too when that worker is busy. The tasks of a worker that dies
 * go back (dispatch/death.h: the consequences of each kind of death), and the worker is started
 * again, with back-off if it dies early.
 *
 * Imports: setup, store, common/base, common/verdict, common/wire. */
#ifndef FT_DISPATCH_DISPATCH_H
#define FT_DISPATCH_DISPATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/digest.h"
#include "base/status.h"
#include "setup/config.h"
#include "store/limits.h"
#include "store/store.h"

typedef struct ft_dispatch ft_dispatch;

/* ---- Life ------------------------------------------------------------------------------------ */

/* Starts the workers and takes up the jobs that the last run left. config and store must outlive
 * the dispatcher. FT_IO: the worker program or the state folder is not usable. */
ft_status ft_dispatch_open(uv_loop_t *loop, const ft_config *config, ft_store *store,
                           ft_dispatch **dispatch, ft_error *err) FT_MUST_CHECK;

/* Kills the workers, gives their tasks back, fails the uploads in progress (FT_IO), drops all
 * watches without calling them, frees the dispatcher, then calls closed(data). Jobs stay in the
 * store as they are and continue at the next start. */
void ft_dispatch_close(ft_dispatch *dispatch, void (*closed)(void *data), void *data);

/* ---- Uploads --------------------------------------------------------------------------------- */

/* A file for the decoded bytes of an upload: nameless (it vanishes with its last descriptor, also
 * when the server is killed), readable and writable, close-on-exec. The caller owns *fd. */
ft_status ft_dispatch_upload_file(ft_dispatch *dispatch, int *fd, ft_error *err) FT_MUST_CHECK;

/* err is NULL on success; meta is then the stored META of docs/records.md, and created is false if
 * the trace was stored before (200 instead of 201). err->code FT_INPUT and so on come from the
 * worker, with line, column or offset of the upload. FT_BUDGET, FT_LIMIT (out of memory) and
 * FT_INTERNAL: the worker did not survive it. meta is the dispatcher's: json_incref to keep it. */
typedef void (*ft_ingest_done)(void *data, const ft_error *err, const json_t *meta, bool created);
typedef struct ft_ingest ft_ingest;

/* Stores the trace, or program, in the file's first `bytes` bytes, whose SHA-256 is `hash` (64 hex
 * digits). Takes the descriptor. Content that is stored or being ingested already is not ingested
 * again. The handle is valid until the callback runs. */
ft_ingest *ft_dispatch_ingest(ft_dispatch *dispatch, int fd, uint64_t bytes, const char *hash,
                              bool program, ft_ingest_done done, void *data);
/* Its progress: `sent` of its bytes are with a worker; waiting: no worker has begun it. */
typedef struct ft_ingest_look {
    bool waiting;
    uint64_t sent;
} ft_ingest_look;
ft_ingest_look ft_dispatch_ingest_look(const ft_ingest *ingest);
/* The client is gone: the callback will not be called; the ingest may still complete. */
void ft_dispatch_ingest_forget(ft_ingest *ingest);

/* ---- Summaries ------------------------------------------------------------------------------- */

/* The result is SUMMARY of docs/api.md, stored or computed now by a worker and stored then.
 * FT_NOT_FOUND: no such trace. FT_BUDGET: too many are being computed, or it took too long.
 * FT_LIMIT, FT_INTERNAL: the worker did not survive it. */
void ft_dispatch_summary(ft_dispatch *dispatch, const char *trace, ft_store_done done, void *data);
/* Likewise INTERVALS, computed anew by a worker for each request. */
void ft_dispatch_intervals(ft_dispatch *dispatch, const char *trace, ft_store_done done,
                           void *data);

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Creates a job from JOB of docs/records.md (with its project), checked superficially by the
 * caller; the result is its SNAPSHOT (store.h), durable. FT_BUDGET: as many as there may be, of the
 * project or of all, have not ended, or the project's time of today is spent. key: as in store.h.
 * FT_NOT_FOUND: spec.trace is not stored. FT_CONFLICT: the key came with another body. `spec` and
 * `key` are not kept. */
void ft_dispatch_job_create(ft_dispatch *dispatch, const json_t *spec, const ft_store_key *key,
                            ft_store_done done, void *data);

/* Cancels a job; workers that are busy with it are killed at once. The result is CHANGE (store.h):
 * "state" is the job's final state ("cancelled", or an earlier one if it had ended: no error).
 * FT_NOT_FOUND. */
void ft_dispatch_job_cancel(ft_dispatch *dispatch, const char *job, ft_store_done done, void *data);

/* Calls changed(data, job, revision, state) after each committed change of the job until it is
 * unwatched; not for changes made before. So: read the snapshot after watching, not before. The job
 * need not exist. Unwatching inside `changed` is allowed. `job` NULL: every job. */
typedef struct ft_watch ft_watch;
typedef void (*ft_watch_changed)(void *data, const char *job, uint64_t revision,
                                 ft_job_state state);
ft_watch *ft_dispatch_watch(ft_dispatch *dispatch, const char *job, ft_watch_changed changed,
                            void *data);
void ft_dispatch_unwatch(ft_watch *watch); /* accepts NULL */

/* A limit of the project (store/limits.h): its own or the configuration's; 0: no limit. Changes
 * apply within seconds. */
uint64_t ft_dispatch_limit(const ft_dispatch *dispatch, const char *project, ft_limit limit);

/* ---- Looking --------------------------------------------------------------------------------- */

/* [{"worker": 0, "pid": 123|null, "role": "solve"|"ingest", "state": STATE (FT_WORKER_STATE_TABLE),
 *   "kind": TASK KIND|null, "job": ID|null, "trace": HASH|null loaded, "batch": n unanswered,
 *   "silent_ms": n since its last frame while it works,
 *   "memory": BYTES resident|null, "busy_ms": n since its current work began,
 *   "tasks": n answered, "restarts": n, "version": TEXT|null, "progress": TEXT|null}...]
 * New reference. */
json_t *ft_dispatch_workers(const ft_dispatch *dispatch);

/* The nodes that share the store (store.h, ft_store_beat), as they were seconds ago; NULL: it is
 * not shared. Borrowed. */
const json_t *ft_dispatch_nodes(const ft_dispatch *dispatch);

/* The load, each member an integer: "queued" tasks, "running" ones, "age_ms" (how long a job with
 * queued tasks has had no worker, at most), "jobs", "workers_alive", "workers_busy",
 * "workers_memory" (bytes resident), and since start "tasks" (verdicts of solve tasks) and one
 * member a verdict. New reference. */
json_t *ft_dispatch_load(const ft_dispatch *dispatch);

/* Times of solve tasks, by verdict and by the pass that decided them, and the solver's share. */
typedef struct ft_dispatch_times {
    uint64_t tasks[FT_VERDICTS], ms[FT_VERDICTS];
    uint64_t pass_tasks[FT_REASONS], pass_ms[FT_REASONS];
    double solve_ms;
} ft_dispatch_times;
ft_dispatch_times ft_dispatch_task_times(const ft_dispatch *dispatch);

/* Counters since start, for /metrics: one object, each member an integer, named as in
 * FT_DISPATCH_METRIC_TABLE (snake case, no prefix). New reference. */
json_t *ft_dispatch_metrics(const ft_dispatch *dispatch);

/*  symbol            name                gauge  one line for # HELP */
#define FT_DISPATCH_METRIC_TABLE(X)                                                                \
    X(INGESTS, "ingests", false, "Uploads ingested by a worker.")                                  \
    X(INGESTS_FAILED, "ingests_failed", false, "Uploads refused or failed.")                       \
    X(INGESTS_KNOWN, "ingests_known", false, "Uploads of traces that were stored already.")        \
    X(JOBS_CREATED, "jobs_created", false, "Jobs accepted.")                                       \
    X(JOBS_ENDED, "jobs_ended", false, "Jobs done, failed or cancelled.")                          \
    X(BATCHES, "batches", false, "Requests sent to workers for plan and solve tasks.")             \
    X(VERDICTS, "verdicts_committed", false, "Verdicts committed from workers.")                   \
    X(FENCED, "results_fenced", false, "Results discarded because their lease had expired.")       \
    X(POISONED, "tasks_poisoned", false, "Tasks given up after repeated worker deaths.")           \
    X(STEALS, "steals", false, "Times that an idle worker took tasks from a slow one.")            \
    X(DEATHS, "worker_deaths", false, "Workers that died or were killed.")                         \
    X(TIMEOUTS, "worker_timeouts", false, "Workers killed for exceeding a time limit.")            \
    X(MALFORMED, "worker_malformed", false, "Workers killed for violating the protocol.")          \
    X(SUMMARIES, "summaries", false, "Summaries of traces computed.")                              \
    X(STORE_ERRORS, "store_errors", false, "Store requests that failed.")                          \
    X(TRACES_SENT, "traces_sent", false, "Traces streamed to a worker.")                           \
    X(JOBS_ACTIVE, "jobs_active", true, "Jobs not ended.")                                         \
    X(WORKERS_BUSY, "workers_busy", true, "Workers with a request.")                               \
    X(WORKERS_ALIVE, "workers_alive", true, "Workers that have started.")

typedef enum ft_dispatch_metric {
#define FT_ROW(symbol, name, gauge, doc) FT_METRIC_##symbol,
    FT_DISPATCH_METRIC_TABLE(FT_ROW)
#undef FT_ROW
        FT_DISPATCH_METRICS
} ft_dispatch_metric;

/* For /ready: a worker has started, and the jobs of the last run are resumed. */
bool ft_dispatch_ready(const ft_dispatch *dispatch);

#endif
