/* Kinds of tasks; states of jobs and tasks, and which may follow which. The store refuses any other
 * change. */
#ifndef FT_STORE_STATES_H
#define FT_STORE_STATES_H

#include <stdbool.h>

/* One row a kind of work for a worker. What a task puts out is committed together with its end.
 * Only the stored kinds are rows of the table tasks; an ingest lives and dies with its upload, a
 * summary and intervals with the requests for them.
 *  symbol  name      stored  inputs                        outputs */
#define FT_TASK_KIND_TABLE(X)                                                                      \
    X(INGEST, "ingest", false, "upload", "trace")                                                  \
    X(PLAN, "plan", true, "trace or program, job", "verdicts, solve or explore tasks")             \
    X(SOLVE, "solve", true, "trace, job, subproblem", "verdict")                                   \
    X(EXPLORE, "explore", true, "program, job, subtrees", "verdicts, explore tasks")               \
    X(SUMMARY, "summary", false, "trace", "summary")                                               \
    X(INTERVALS, "intervals", false, "trace", "ranges and graphs")

/*  symbol     name         final  may become (names, space-separated) */
#define FT_JOB_STATE_TABLE(X)                                                                      \
    X(QUEUED, "queued", false, "planning failed cancelled")                                        \
    X(PLANNING, "planning", false, "queued solving done failed cancelled")                         \
    X(SOLVING, "solving", false, "done cancelled")                                                 \
    X(DONE, "done", true, "")                                                                      \
    X(FAILED, "failed", true, "")                                                                  \
    X(CANCELLED, "cancelled", true, "")

/*  ready: waits for a worker. leased: a worker has it, under a fencing token. done: its result is
 *  committed. poisoned: given up, a verdict that says so is committed (of a plan: the job failed).
 */
#define FT_TASK_STATE_TABLE(X)                                                                     \
    X(READY, "ready", false, "leased poisoned cancelled")                                          \
    X(LEASED, "leased", false, "ready done poisoned cancelled")                                    \
    X(DONE, "done", true, "")                                                                      \
    X(POISONED, "poisoned", true, "")                                                              \
    X(CANCELLED, "cancelled", true, "")

typedef enum ft_task_kind {
#define FT_ROW(symbol, name, stored, inputs, outputs) FT_KIND_##symbol,
    FT_TASK_KIND_TABLE(FT_ROW)
#undef FT_ROW
        FT_TASK_KINDS
} ft_task_kind;
typedef enum ft_job_state {
#define FT_ROW(symbol, name, final, next) FT_JOB_##symbol,
    FT_JOB_STATE_TABLE(FT_ROW)
#undef FT_ROW
        FT_JOB_STATES
} ft_job_state;
typedef enum ft_task_state {
#define FT_ROW(symbol, name, final, next) FT_TASK_##symbol,
    FT_TASK_STATE_TABLE(FT_ROW)
#undef FT_ROW
        FT_TASK_STATES
} ft_task_state;

const char *ft_task_kind_name(ft_task_kind kind);
bool ft_task_kind_parse(const char *name, ft_task_kind *kind);

const char *ft_job_state_name(ft_job_state state);
bool ft_job_state_parse(const char *name, ft_job_state *state);
bool ft_job_state_final(ft_job_state state);
bool ft_job_state_may(ft_job_state from, ft_job_state to);

const char *ft_task_state_name(ft_task_state state);
bool ft_task_state_parse(const char *name, ft_task_state *state);
bool ft_task_state_final(ft_task_state state);
bool ft_task_state_may(ft_task_state from, ft_task_state to);

#endif
