/* Private to the dispatcher: its state, worker slots, jobs in progress, uploads.
 *
 *   worker.c   a worker's process: start, frames in and out, time limits, death, restart
 *   batch.c    plan and solve tasks: lease, load the trace, request, answers
 *   plan.c     the answer to a plan task, or to a part of an exploration
 *   results.c  verdicts on their way to the store, several at a time
 *   watch.c    the supervisor: kills silent and large workers, lets idle ones steal from slow ones
 *   projects.c the projects of the jobs: fairness and limits
 *   ingest.c   uploads
 *   summary.c  summaries of traces
 *   jobs.c     jobs in progress, watches, cancelling, time budgets
 *   fleet.c    other nodes that share the store
 *   look.c     the state for the API: workers, load, metrics
 *   dispatch.c opening, closing, choosing the next work of each worker */
#ifndef FT_DISPATCH_INTERNAL_H
#define FT_DISPATCH_INTERNAL_H

#include "base/contract.h"
#include "base/memory.h"
#include "dispatch/death.h"
#include "dispatch/dispatch.h"
#include "store/limits.h"
#include "wire/wire.h"

#define FT_JOB_ID      (FT_STORE_JOB_ID + 1)
#define FT_HASH        (FT_DIGEST_HEX + 1)
#define FT_BATCH_MAX   32
#define FT_JOB_BUCKETS 4096
#define FT_WORDS_MOST  2048 /* bytes of a worker's standard error that are kept */
/* A worker at an exploration may take so much longer than the job's time: to end the execution at
 * hand, and to execute its findings once more. */
#define FT_EXPLORE_LATE_MS 10000

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
/* Whether a worker may go from one state to the other. */
bool ft_worker_state_may(ft_worker_state from, ft_worker_state to);

typedef struct ft_process ft_process; /* worker.c */
typedef struct ft_project ft_project;
typedef struct ft_job ft_job;
typedef struct ft_tally ft_tally;
typedef struct ft_upload ft_upload;
typedef struct ft_summary ft_summary; /* summary.c */

/* One of a batch: texts into its list. */
typedef struct ft_batch_item {
    int64_t task;
    ft_span check, key;
} ft_batch_item;

/* The tasks that a worker has leased: valid from the lease on, empty (tasks NULL) otherwise. The
 * first `own` are still its own, the others were given to another worker. */
typedef struct ft_batch {
    char job[FT_JOB_ID], trace[FT_HASH];
    ft_task_kind kind;
    uint64_t token;
    char *tasks;    /* owned: LIST of store.h's lease */
    char *explored; /* owned: EXPLORED of its exploration; NULL: it is not one */
    char *set;      /* owned: "set" of certificates' plan, JSON; NULL: they are none */
    ft_batch_item items[FT_BATCH_MAX];
    size_t count; /* of these */
    size_t own;
    size_t next;         /* the first unanswered one */
    ft_results results;  /* not handed to the store */
    ft_tally *tallies;   /* of these */
    ft_strbuf witness;   /* of the verdict that comes next, packed */
    ft_strbuf plan;      /* what came of it and is not with the store */
    uint64_t plan_bytes; /* what came of it */
    ft_plan *stored;     /* its parts with the store; NULL: none */
    bool storing;        /* one of them is on its way there */
    bool planned;        /* all of it has come */
    uint64_t pending;    /* loop time of the first of them */
    uint64_t started;    /* loop time of the request */
    uint64_t turn;       /* loop time of the request or of the last verdict */
    uint32_t subproblem_ms, job_ms;
    uint32_t memory_mb; /* 0: no limit but the process's own */
    uint32_t chunk;     /* the next row of the trace to send */
} ft_batch;

/* The counts of a result that the metrics keep. */
struct ft_tally {
    int64_t task;
    ft_verdict verdict;
    ft_reason reason;
    uint64_t took_ms;
    double solve_ms;
};

typedef struct ft_worker {
    ft_dispatch *dispatch;
    unsigned index;
    bool ingests; /* the reserved one */
    ft_worker_state state;
    ft_process *process; /* NULL while down */
    uint64_t generation; /* grows with each death: late callbacks compare it */
    uv_timer_t deadline, respawn;
    uv_timer_t quiet;      /* its frames are read again then */
    unsigned young_deaths; /* in a row, without an answer between */
    uint64_t restarts, answered;
    uint64_t busy_since;
    uint64_t accounted;  /* loop time up to which what it does is on the project's account */
    uint64_t heard;      /* loop time of its last frame, or of the last that was asked of it */
    bool heartbeats;     /* a request without a frame now and then means that it is stuck */
    bool paused;         /* it is not listened to */
    ft_project *project; /* of what it does now; NULL: of nobody */
    char job[FT_JOB_ID]; /* likewise */
    int last_pid;        /* its process's, also when that is gone */
    char words[FT_WORDS_MOST + 1]; /* the last that it wrote to standard error */
    char loaded[FT_HASH];          /* "": no trace */
    uint64_t loaded_bytes;         /* of it, or of what it is loading, as it was uploaded */
    char *version, *progress;      /* owned, may be NULL */
    ft_batch batch;
    ft_upload *upload;   /* while ingesting */
    ft_summary *summary; /* while at one; its trace is batch.trace then, the batch has no tasks */
    bool sending;        /* a trace or upload is not wholly handed to the pipe */
} ft_worker;

/* Those whose jobs are in progress. */
struct ft_project {
    struct ft_project *next;
    char *name;                 /* owned */
    unsigned jobs;              /* in progress */
    unsigned running;           /* workers at them */
    uint64_t served;            /* milliseconds of worker time, for fairness */
    uint64_t used_ms;           /* today, as the store knew */
    uint64_t fresh_ms;          /* today, not reported to the store */
    uint64_t limits[FT_LIMITS]; /* 0: none */
};

/* Of the time of an exploration: its first half, up to a little before its end, and then. */
typedef enum ft_stage { FT_STAGE_EARLY, FT_STAGE_HALF, FT_STAGE_END } ft_stage;

struct ft_job {
    /* The members that are read of every job whenever a worker has nothing to do stand together. */
    ft_job *next;
    ft_project *project;
    uint64_t ready; /* tasks to lease; a hint, the store knows */
    uint64_t wait;  /* loop time until which its ready tasks are put off */
    int64_t priority;
    uint64_t served;   /* milliseconds of worker time, for fairness */
    unsigned running;  /* workers leasing, loading or working for it */
    bool expired;      /* reported to the store */
    bool explores;     /* a program: it ends a little before its time is over */
    ft_stage stage;    /* of that time */
    ft_stage reported; /* the last one that the store was asked to act on */
    char trace[FT_HASH];
    char id[FT_JOB_ID];
    ft_job *chain; /* of its bucket */
    ft_dispatch *dispatch;
    json_t *spec;
    ft_job_state state;
    uint32_t batch;           /* tasks to lease at once */
    uint32_t group;           /* a multiple of this, where there are so many */
    double task_ms;           /* a task, lately; 0: not known */
    uint64_t revision, round; /* as last heard of; of the look that saw it last */
    uint64_t since;           /* loop time since which no worker has been at it */
    uint32_t subproblem_ms, job_ms, memory_mb;
    uint64_t spent_ms; /* of job_ms, up to clock; only what a worker is at it counts */
    uint64_t clock;    /* loop time since which its time runs, while it runs */
    uint64_t told_ms;  /* of spent_ms, what the store knows */
    unsigned unstored; /* results in a row that the store did not take */
    uv_timer_t deadline;
};

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
    const ft_upload *upload; /* NULL: refused */
    ft_ingest_done done;     /* NULL: forgotten */
    void *data;
};

struct ft_upload {
    ft_upload *next;
    ft_dispatch *dispatch;
    char hash[FT_HASH];
    int fd;
    uint64_t bytes, sent;
    ft_ingest *waiters;
    bool program;      /* else a trace */
    bool queued;       /* waits for a worker */
    bool again;        /* its worker wants it from the beginning, and what it sent is void */
    bool given;        /* a part is on its way to the worker, who is given the next one then */
    unsigned rounds;   /* how often its worker was given it from the beginning */
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

#define FT_HELD_MOST 16

struct ft_dispatch {
    uv_loop_t *loop;
    const ft_config *config;
    ft_store *store;
    char *worker_path; /* owned */
    ft_worker *workers;
    unsigned worker_count; /* with the reserved one, which is the last */
    ft_job *jobs;
    ft_job *buckets[FT_JOB_BUCKETS]; /* the same by id */
    unsigned job_count;
    ft_project *projects;
    json_t *limits; /* of ft_store_limits; NULL: not read yet */
    ft_watch *watches;
    unsigned notifying;
    ft_upload *uploads;
    unsigned upload_count;
    ft_summary *summaries;
    uint64_t ingest_token;
    uint64_t metrics[FT_DISPATCH_METRICS];
    ft_dispatch_times times;
    uv_timer_t retry, soon, beat; /* beat: leases are renewed */
    uv_timer_t tick, wake;        /* tick: while somebody works; wake: put-off tasks are due */
    uint64_t limits_read;         /* loop time */
    bool reading_limits;
    struct ft_errand *retries, *later; /* errands for the two timers */
    bool recovered, store_ailing, closing;
    uv_timer_t poll; /* of a shared store: its jobs are looked at */
    bool looking, look_again, beating;
    uint64_t round;                   /* of such looks */
    json_t *nodes;                    /* of ft_store_beat; NULL: not heard of yet */
    uint64_t fleet_workers;           /* of all of them */
    char held[FT_HELD_MOST][FT_HASH]; /* traces that were loaded here last, of a shared store */
    unsigned held_next;               /* the one that goes next */
    char inbox[64 * 1024];            /* what was read of some worker and is taken out at once */
    unsigned holds;                   /* handles and store requests not finished */
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
    ft_tally *tallies; /* owned: of the results committed */
    size_t tally_count;
    json_t *json; /* a reference */
    ft_death death;
    int worker_index, pid; /* of a death */
    char *words;           /* owned: the last that it wrote to standard error */
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
/* The same at this loop time at the latest. */
void ft_dispatch_wake(ft_dispatch *dispatch, uint64_t at);

/* ---- worker.c -------------------------------------------------------------------------------- */

/* Changes the state; the change must be one of the table in worker.c. */
void ft_worker_enter(ft_worker *worker, ft_worker_state state);
/* The invariant, in constant time: a process in every state but down; the batch, upload and summary
 * that the state needs, and the job and project of what it does. */
bool ft_worker_is_sound(const ft_worker *worker);
void ft_worker_init(ft_worker *worker, ft_dispatch *dispatch, unsigned index, bool ingests);
void ft_worker_start(ft_worker *worker);
int ft_worker_pid(const ft_worker *worker);         /* of one that has a process */
uint64_t ft_worker_memory(const ft_worker *worker); /* bytes resident, 0: not known */
/* Ends the process, gives its work back, starts a new one (unless closing). */
void ft_worker_die(ft_worker *worker, ft_death death, const char *format, ...) FT_PRINTF(3, 4);
/* Kills the workers, closes the timers. */
void ft_worker_close(ft_worker *worker);
void ft_worker_limit(ft_worker *worker, uint64_t ms); /* starts the time limit anew; 0: none */
void ft_worker_limit_trace(ft_worker *worker, uint64_t bytes); /* to what a trace may take */
void ft_worker_idle(ft_worker *worker);                        /* a request was answered */
bool ft_worker_busy(const ft_worker *worker);
/* Sends whole frames; takes the buffer's text. sent (may be NULL) is called once the pipe has taken
 * them, not after a death. */
void ft_worker_send(ft_worker *worker, ft_strbuf *frames, void (*sent)(ft_worker *worker));
void ft_worker_send_json(ft_worker *worker, ft_wire_type type, const json_t *json);
void ft_worker_pause(ft_worker *worker);  /* reads no frames ... */
void ft_worker_resume(ft_worker *worker); /* ... until then */

/* ---- batch.c, batch_lease.c ------------------------------------------------------------------ */

void ft_batch_lease(ft_worker *worker, ft_job *job);
/* Takes the last `count` unstarted tasks of `from` for the idle worker `thief`. */
void ft_batch_steal(ft_worker *thief, ft_worker *from, size_t count);
void ft_batch_drop(ft_dispatch *dispatch, const json_t *tokens); /* ends what is done under them */
bool ft_batch_holds(const ft_dispatch *dispatch, const char *trace); /* it was loaded here lately */
void ft_batch_renew(ft_dispatch *dispatch); /* the leases of all busy workers */
void ft_batch_load(ft_worker *worker);      /* sends it batch.trace */
/* Asks a worker for what it was leased, its trace first if it has another one. */
void ft_batch_start(ft_worker *worker, const ft_job *job);
void ft_batch_on_loaded(ft_worker *worker, const json_t *message);
void ft_batch_on_witness(ft_worker *worker, const ft_wire_frame *frame);
void ft_batch_on_verdict(ft_worker *worker, const ft_wire_frame *frame);
void ft_batch_on_solved(ft_worker *worker, const json_t *message);
void ft_batch_on_failed(ft_worker *worker, const json_t *message);
/* The worker died or was stopped: its tasks go back. */
void ft_batch_lost(ft_worker *worker, ft_death death, const char *text);
/* Gives back the tasks under a token; task 0: nobody is to blame. */
void ft_batch_give_back(ft_dispatch *dispatch, const char *job, uint64_t token, int64_t task,
                        ft_death death, const char *text, const ft_worker *worker);
void ft_batch_clear(ft_batch *batch);
/* The invariant, in constant time: counts in order, a token and tasks together. */
bool ft_batch_is_sound(const ft_batch *batch);
bool ft_batch_makes_plan(const ft_batch *batch); /* its answer is in the form of a plan */
/* Starts the time of its next answer anew, with so much that the worker is not listened to. */
void ft_batch_limit(ft_worker *worker, uint64_t more_ms);
int64_t ft_batch_task(const ft_batch *batch, size_t index);
/* What the store answered to a result: also when it failed. */
void ft_batch_on_committed(void *data, const ft_error *err, json_t *result);
ft_errand *ft_batch_errand(ft_worker *worker, int64_t task);
void ft_batch_finish(ft_worker *worker); /* answered in full: the worker is free */
/* false: it was not, and the worker is dead. */
bool ft_batch_token_matches(ft_worker *worker, const json_t *message);

/* ---- plan.c ---------------------------------------------------------------------------------- */

void ft_batch_on_data(ft_worker *worker, const ft_wire_frame *frame);
void ft_batch_on_planned(ft_worker *worker, const json_t *message);

/* ---- results.c ------------------------------------------------------------------------------- */

/* Takes the record of the batch's next task. FT_INPUT: it is not one of this task. */
ft_status ft_batch_take_record(ft_worker *worker, const ft_record_members *members, ft_span text,
                               ft_error *err) FT_MUST_CHECK;
/* Hands what was taken to the store. */
void ft_batch_flush(ft_worker *worker);

/* ---- watch.c --------------------------------------------------------------------------------- */

void ft_watch_start(ft_dispatch *dispatch); /* ticks from now on until nobody works */

/* ---- projects.c ------------------------------------------------------------------------------ */

/* The project of a job that comes into progress, one more of its jobs. */
ft_project *ft_project_enter(ft_dispatch *dispatch, const char *name);
void ft_project_leave(ft_dispatch *dispatch, ft_project *project);
/* The worker is at something of the job from now on, or not any more. */
void ft_project_begin(ft_worker *worker, ft_job *job);
void ft_project_end(ft_worker *worker);
/* Puts the worker's time so far on the account of its project; `job` may be NULL. */
void ft_project_account(ft_worker *worker, ft_job *job);
bool ft_project_may_run(const ft_project *project);
void ft_projects_sweep(ft_dispatch *dispatch); /* forgets those that nothing is left of */
/* Reads the limits anew; then(errand) runs afterwards, whatever came of it (NULL: nothing). */
void ft_project_read_limits(ft_dispatch *dispatch, void (*then)(ft_errand *errand));
/* Whether the project's time of today is spent. */
bool ft_project_out_of_time(const ft_dispatch *dispatch, const char *project);
void ft_project_check_time(ft_dispatch *dispatch); /* ends the jobs of those out of time */
void ft_projects_close(ft_dispatch *dispatch);

/* ---- ingest.c -------------------------------------------------------------------------------- */

bool ft_ingest_waiting(const ft_dispatch *dispatch);
void ft_ingest_start(ft_worker *worker); /* takes the upload that waits longest */
void ft_ingest_on_data(ft_worker *worker, const void *bytes, size_t length);
void ft_ingest_on_ingested(ft_worker *worker, const json_t *message);
void ft_ingest_on_failed(ft_worker *worker, const json_t *message);
void ft_ingest_on_again(ft_worker *worker, const json_t *message);
void ft_ingest_lost(ft_worker *worker, ft_death death, const char *text);
void ft_ingest_close(ft_dispatch *dispatch); /* fails all uploads */
void ft_ingest_sweep(const char *folder);    /* removes what a killed server left of them */

/* ---- summary.c ------------------------------------------------------------------------------- */

bool ft_summary_waiting(const ft_dispatch *dispatch);
void ft_summary_start(ft_worker *worker);                /* takes the one that waits longest */
void ft_summary_ask(ft_worker *worker);                  /* its trace is loaded */
ft_task_kind ft_summary_kind(const ft_summary *summary); /* SUMMARY or INTERVALS */
void ft_summary_on_summarized(ft_worker *worker, const json_t *message);
void ft_summary_failed(ft_worker *worker, const ft_error *error);
void ft_summary_lost(ft_worker *worker, ft_death death, const char *text);
void ft_summary_close(ft_dispatch *dispatch); /* fails all */

/* ---- fleet.c --------------------------------------------------------------------------------- */

ft_status ft_fleet_open(ft_dispatch *dispatch, ft_error *err) FT_MUST_CHECK;
void ft_fleet_look(ft_dispatch *dispatch); /* at all jobs in progress */
/* rows: of ft_store_jobs_open. */
void ft_fleet_take_jobs(ft_dispatch *dispatch, const json_t *rows);
/* Jobs with leases that ran out. */
void ft_fleet_take_up(ft_dispatch *dispatch, const json_t *released);
void ft_fleet_beat(ft_dispatch *dispatch);

/* ---- jobs.c ---------------------------------------------------------------------------------- */

ft_job *ft_job_find(const ft_dispatch *dispatch, const char *id); /* NULL: not in progress */
/* row: as of ft_store_jobs_open; what is absent is as of a new job. */
ft_job *ft_job_add(ft_dispatch *dispatch, const json_t *row, ft_job_state state);
/* A worker more, or less, is at it: its time runs while there is one. */
void ft_job_begin(ft_job *job);
void ft_job_end(ft_job *job);
uint64_t ft_job_spent(const ft_job *job);          /* milliseconds of its time, up to now */
uint64_t ft_job_left(const ft_job *job);           /* of that, up to its end */
void ft_job_expire(ft_job *job, const char *text); /* its time, or its project's, is spent */
/* Takes in a CHANGE: updates or ends the job in progress, calls the watches, pumps. */
void ft_job_changed(ft_dispatch *dispatch, const json_t *change);
void ft_jobs_close(ft_dispatch *dispatch);

#endif
