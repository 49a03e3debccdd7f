/* What the files of the dispatcher share: its state, worker slots, jobs in progress, uploads.
 *
 *   worker.c   a worker's process: start, frames in and out, time limits, death, restart
 *   batch.c    plan and solve tasks: lease, load the trace, request, results
 *   ingest.c   uploads
 *   summary.c  summaries of traces
 *   jobs.c     jobs in progress, watches, cancelling, time budgets
 *   dispatch.c opening, closing, choosing who does what next, looking */
#ifndef FT_DISPATCH_INTERNAL_H
#define FT_DISPATCH_INTERNAL_H

#include "base/memory.h"
#include "dispatch/death.h"
#include "dispatch/dispatch.h"
#include "wire/wire.h"

#define FT_JOB_ID    (FT_STORE_JOB_ID + 1)
#define FT_HASH      (FT_DIGEST_HEX + 1)
#define FT_BATCH_MAX 32

/* down: no process, a restart is due. starting: hello awaited. leasing: its tasks are being leased.
 * loading: it gets the trace of its batch. working: it has a plan or solve request. */
#define FT_WORKER_STATE_TABLE(X)                                                                   \
    X(DOWN, "down")                                                                                \
    X(STARTING, "starting")                                                                        \
    X(IDLE, "idle")                                                                                \
    X(LEASING, "leasing")                                                                          \
    X(LOADING, "loading")                                                                          \
    X(WORKING, "working")                                                                          \
    X(INGESTING, "ingesting")

typedef enum ft_worker_state {
#define FT_ROW(symbol, name) FT_WORKER_##symbol,
    FT_WORKER_STATE_TABLE(FT_ROW)
#undef FT_ROW
        FT_WORKER_STATES
} ft_worker_state;
const char *ft_worker_state_name(ft_worker_state state);

typedef struct ft_process ft_process; /* worker.c */
typedef struct ft_upload ft_upload;
typedef struct ft_summary ft_summary; /* summary.c */

/* The tasks a worker has: valid from the lease on, empty (tasks NULL) otherwise. */
typedef struct ft_batch {
    char job[FT_JOB_ID], trace[FT_HASH];
    ft_task_kind kind;
    uint64_t token;
    json_t *tasks;    /* a reference; of store.h's lease */
    size_t next;      /* the first unanswered one */
    uint64_t started; /* loop time of the request */
    uint64_t turn;    /* loop time of the request or of the last verdict */
    uint32_t subproblem_ms, job_ms;
    uint32_t chunk; /* the next row of the trace to send */
} ft_batch;

typedef struct ft_worker {
    ft_dispatch *dispatch;
    unsigned index;
    bool ingests; /* the reserved one */
    ft_worker_state state;
    ft_process *process; /* NULL while down */
    uint64_t generation; /* grows with each death: late callbacks compare it */
    uv_timer_t deadline, respawn;
    unsigned young_deaths; /* in a row, without an answer between */
    uint64_t restarts, answered;
    uint64_t busy_since;
    char loaded[FT_HASH];     /* "": no trace */
    char *version, *progress; /* owned, may be NULL */
    ft_batch batch;
    ft_upload *upload;   /* while ingesting */
    ft_summary *summary; /* while at one; its trace is batch.trace then, the batch has no tasks */
    bool sending;        /* a trace or upload is not wholly handed to the pipe */
} ft_worker;

typedef struct ft_job {
    struct ft_job *next;
    ft_dispatch *dispatch;
    char id[FT_JOB_ID], trace[FT_HASH];
    json_t *spec;
    ft_job_state state;
    uint64_t ready;   /* tasks to lease; a hint, the store knows */
    unsigned running; /* workers leasing, loading or working for it */
    uint32_t batch;   /* tasks to lease at once */
    uint64_t served;  /* milliseconds of worker time, for fairness */
    uint64_t since;   /* loop time since which no worker has been at it */
    uint32_t subproblem_ms, job_ms;
    bool started; /* its time runs */
    uv_timer_t deadline;
} ft_job;

struct ft_watch {
    ft_watch *next;
    ft_dispatch *dispatch;
    char *job; /* owned; NULL: every job */
    ft_watch_changed changed;
    void *data;
    bool removed;
};

struct ft_ingest {
    ft_ingest *next;
    ft_ingest_done done; /* NULL: forgotten */
    void *data;
};

struct ft_upload {
    ft_upload *next;
    ft_dispatch *dispatch;
    char hash[FT_HASH];
    int fd;
    uint64_t bytes, sent;
    ft_ingest *waiters;
    bool queued;       /* waits for a worker */
    ft_worker *worker; /* NULL: none */
    uint64_t token;
    unsigned deaths[FT_DEATHS];
    int64_t blob;     /* -1: none */
    uint32_t seq;     /* rows written */
    unsigned writing; /* rows asked for, not confirmed */
    ft_strbuf row;    /* the row being filled */
    ft_error failure; /* of the store */
    unsigned holds;   /* the list's and one for each errand */
    bool finished;    /* answered, out of the list */
};

struct ft_dispatch {
    uv_loop_t *loop;
    const ft_config *config;
    ft_store *store;
    char *worker_path; /* owned */
    ft_worker *workers;
    unsigned worker_count; /* with the reserved one, which is the last */
    ft_job *jobs;
    unsigned job_count;
    ft_watch *watches;
    unsigned notifying;
    ft_upload *uploads;
    unsigned upload_count;
    ft_summary *summaries;
    uint64_t ingest_token;
    uint64_t metrics[FT_DISPATCH_METRICS];
    ft_dispatch_times times;
    uv_timer_t retry, soon, beat;      /* beat: leases are renewed */
    struct ft_errand *retries, *later; /* errands for the two timers */
    bool recovered, store_ailing, closing;
    unsigned holds; /* handles and store requests not finished */
    void (*closed)(void *data);
    void *closed_data;
};

/* ---- Errands: what a store callback needs to know ---------------------------------------------
 */

typedef struct ft_errand {
    struct ft_errand *next;
    ft_dispatch *dispatch;
    void (*again)(struct ft_errand *errand); /* of errands that wait for a timer */
    ft_worker *worker;                       /* may be NULL */
    uint64_t generation;                     /* of the worker, when the errand began */
    ft_upload *upload;
    ft_summary *summary;
    char job[FT_JOB_ID];
    int64_t task;
    uint64_t token;
    uint64_t took; /* milliseconds for the task */
    ft_death death;
    char text[320];
    ft_store_done done; /* the caller's, with its data */
    ft_ingest_done ingest_done;
    void *data;
    ft_error err;
} ft_errand;

/* Holds the dispatcher open until ft_errand_end. */
ft_errand *ft_errand_new(ft_dispatch *dispatch, ft_worker *worker);
/* Whether the worker is still the process that the errand was made for. */
bool ft_errand_fresh(const ft_errand *errand);
void ft_errand_end(ft_errand *errand);
/* Runs errand->again in about a second; the store failed. */
void ft_errand_retry(ft_errand *errand, void (*again)(ft_errand *errand), const ft_error *err);
/* Runs errand->again from the loop, at once. */
void ft_errand_soon(ft_errand *errand, void (*again)(ft_errand *errand));

void ft_dispatch_hold(ft_dispatch *dispatch);
void ft_dispatch_drop(ft_dispatch *dispatch); /* the last one of a closing dispatcher frees it */
void ft_dispatch_count(ft_dispatch *dispatch, ft_dispatch_metric metric);
/* Gives work to idle workers. Cheap; call it after whatever may allow some. */
void ft_dispatch_pump(ft_dispatch *dispatch);

/* ---- worker.c -------------------------------------------------------------------------------- */

void ft_worker_init(ft_worker *worker, ft_dispatch *dispatch, unsigned index, bool ingests);
void ft_worker_start(ft_worker *worker);
int ft_worker_pid(const ft_worker *worker); /* of one that has a process */
/* Ends the process, gives its work back, starts a new one (unless closing). */
void ft_worker_die(ft_worker *worker, ft_death death, const char *format, ...) FT_PRINTF(3, 4);
/* Kills the workers, closes the timers. */
void ft_worker_close(ft_worker *worker);
void ft_worker_limit(ft_worker *worker, uint64_t ms); /* starts the time limit anew; 0: none */
void ft_worker_idle(ft_worker *worker);               /* a request was answered */
/* Sends whole frames; takes the buffer's text. sent (may be NULL) is called once the pipe has taken
 * them, not after a death. */
void ft_worker_send(ft_worker *worker, ft_strbuf *frames, void (*sent)(ft_worker *worker));
void ft_worker_send_json(ft_worker *worker, ft_wire_type type, const json_t *json);
void ft_worker_pause(ft_worker *worker);  /* reads no frames ... */
void ft_worker_resume(ft_worker *worker); /* ... until then */

/* ---- batch.c --------------------------------------------------------------------------------- */

void ft_batch_lease(ft_worker *worker, ft_job *job);
void ft_batch_renew(ft_dispatch *dispatch); /* the leases of all busy workers */
void ft_batch_load(ft_worker *worker);      /* sends it batch.trace */
void ft_batch_on_loaded(ft_worker *worker, const json_t *message);
void ft_batch_on_planned(ft_worker *worker, const json_t *message);
void ft_batch_on_verdict(ft_worker *worker, const json_t *message);
void ft_batch_on_solved(ft_worker *worker, const json_t *message);
void ft_batch_on_failed(ft_worker *worker, const json_t *message);
/* The worker died or was stopped: its tasks go back. */
void ft_batch_lost(ft_worker *worker, ft_death death, const char *text);

/* ---- ingest.c -------------------------------------------------------------------------------- */

bool ft_ingest_waiting(const ft_dispatch *dispatch);
void ft_ingest_start(ft_worker *worker); /* takes the upload that waits longest */
void ft_ingest_on_data(ft_worker *worker, const void *bytes, size_t length);
void ft_ingest_on_ingested(ft_worker *worker, const json_t *message);
void ft_ingest_on_failed(ft_worker *worker, const json_t *message);
void ft_ingest_lost(ft_worker *worker, ft_death death, const char *text);
void ft_ingest_close(ft_dispatch *dispatch); /* fails all uploads */

/* ---- summary.c ------------------------------------------------------------------------------- */

bool ft_summary_waiting(const ft_dispatch *dispatch);
void ft_summary_start(ft_worker *worker); /* takes the one that waits longest */
void ft_summary_ask(ft_worker *worker);   /* its trace is loaded */
void ft_summary_on_summarized(ft_worker *worker, const json_t *message);
void ft_summary_failed(ft_worker *worker, const ft_error *error);
void ft_summary_lost(ft_worker *worker, ft_death death, const char *text);
void ft_summary_close(ft_dispatch *dispatch); /* fails all */

/* ---- jobs.c ---------------------------------------------------------------------------------- */

ft_job *ft_job_find(const ft_dispatch *dispatch, const char *id); /* NULL: not in progress */
ft_job *ft_job_add(ft_dispatch *dispatch, const char *id, const char *trace, const json_t *spec,
                   ft_job_state state, uint64_t ready);
void ft_job_start_clock(ft_job *job); /* with the first lease of this run */
/* Takes in a CHANGE: updates or ends the job in progress, calls the watches, pumps. */
void ft_job_changed(ft_dispatch *dispatch, const json_t *change);
void ft_jobs_close(ft_dispatch *dispatch);

#endif
