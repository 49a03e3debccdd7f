/* The store: traces, jobs, tasks and verdicts in one SQLite file; the only place with SQL.
 *
 * The interface is asynchronous. One thread owns the connection and runs the requests in the order
 * in which they were made; requests that wait together share a transaction, in which a failing one
 * is undone alone. Lengthy requests, such as parts of plans, run one by one, in turn with the
 * others. A callback runs on the loop's thread, after the commit of its request is durable (WAL,
 * synchronous=FULL), never before the requesting function has returned, and exactly once.
 *
 * Callers: server/api uses the functions under "Reading" directly. Every change of a job goes
 * through dispatch.h, which calls the functions under "Changing" and then acts on the outcome.
 *
 * Texts passed in are copied. Times in results are RFC 3339 texts in UTC with milliseconds.
 *
 * Imports: common/base, common/report, common/verdict, common/wire. */
#ifndef FT_STORE_STORE_H
#define FT_STORE_STORE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/status.h"
#include "store/results.h"
#include "store/states.h"
#include "verdict/names.h"

#define FT_STORE_CHUNK                                                                             \
    (1u << 20)             /* a trace is stored in rows of this many bytes, the last less          \
                            */
#define FT_STORE_JOB_ID 16 /* hex digits of a job's id */

typedef struct ft_store ft_store;

/* err is NULL on success; on failure result is NULL. Both are the store's: take a reference with
 * json_incref to keep `result` (it is then the caller's alone: the store forgets it). */
typedef void (*ft_store_done)(void *data, const ft_error *err, json_t *result);

/* ---- Life ------------------------------------------------------------------------------------ */

/* Opens the database at a place: <folder>/foretell.db, which is created, or the PostgreSQL database
 * of an address postgresql://..., which other nodes (node.h) may use at the same time. Applies the
 * migrations it lacks, and recovers from the last run: leases are released under a new epoch,
 * unfinished uploads removed; the jobs in progress are checked first (store/check.h) if that run
 * did not end cleanly. Blocking; for start-up. FT_CONFLICT: another daemon has the folder open.
 * FT_UNSUPPORTED: the schema is newer than this program. FT_IO: the file cannot be opened, is not a
 * database, or is damaged. */
ft_status ft_store_open(uv_loop_t *loop, const char *place, ft_store **store,
                        ft_error *err) FT_MUST_CHECK;

/* Whether a place is the address of a PostgreSQL database. */
bool ft_store_is_address(const char *place);

/* Whether other processes may use the database as well. */
bool ft_store_is_shared(const ft_store *store);
/* Of a shared store, once: calls news with the CHANGE of a job that another node has made, or with
 * NULL: something may have been missed. */
ft_status ft_store_listen(ft_store *store, void (*news)(void *data, const json_t *change),
                          void *data, ft_error *err) FT_MUST_CHECK;
/* No more news are given from now on: `data` may go. */
void ft_store_unlisten(ft_store *store);

/* Of a shared store, before anything is asked: parts of traces that were read are kept in this
 * folder as well, at most so many bytes (store/cache.h). */
void ft_store_keep(ft_store *store, const char *folder, uint64_t bytes);

/* The process ends: a shared database has some seconds for each answer; then it is given up, and
 * what is asked of it fails. More than once is as once. */
void ft_store_hurry(ft_store *store);

/* Runs every request made so far, calls their callbacks, closes the file, frees the store, then
 * calls closed(data). No request may be made after this. */
void ft_store_close(ft_store *store, void (*closed)(void *data), void *data);

bool ft_store_was_unclean(const ft_store *store); /* the run before this one */

/* The schema version that this program writes (the number of migrations). */
int ft_store_schema_version(void);

/* ---- Reading --------------------------------------------------------------------------------- */

/* META of docs/records.md, with "created". FT_NOT_FOUND. */
void ft_store_trace(ft_store *store, const char *hash, ft_store_done done, void *data);

/* One row of the canonical binary form, seq = 0, 1, ... `last` marks the last one. The bytes are
 * valid during the callback. FT_NOT_FOUND: no such trace, or seq is past its end. FT_INTERNAL: of a
 * shared store, its bytes are not those that were stored. */
typedef void (*ft_store_chunk_done)(void *data, const ft_error *err, const void *bytes,
                                    size_t length, bool last);
void ft_store_trace_chunk(ft_store *store, const char *hash, uint32_t seq, ft_store_chunk_done done,
                          void *data);

/* {"summary": SUMMARY of docs/api.md, or null while none of that version is stored}. FT_NOT_FOUND:
 * no such trace. */
void ft_store_summary(ft_store *store, const char *trace, int version, ft_store_done done,
                      void *data);
/* Stores it, in place of another version's; {}. For dispatch. */
void ft_store_summary_save(ft_store *store, const char *trace, int version, const json_t *summary,
                           ft_store_done done, void *data);

/* JOB SNAPSHOT (the body of GET /v1/jobs/{id}):
 *   {"job": ID, "name": TEXT|null, "project": NAME, "state": STATE, "trace": HASH,
 *    "model": NAME|null, "memory": "sc", "bound": null, "scope": "trace",
 *    "created": TIME, "updated": TIME, "finished": TIME|null, "revision": N, "priority": N,
 *    "progress": {"tasks": N, "open": N, "dropped"?: N},
 *                    tasks so far, those without a result, and of these those whose server died
 *    "deaths"?: [{"task", "attempt", "at", "worker", "pid", "death", "message", "log"}...],
 *                    the last 20 times that a worker, or the server, died on one of its tasks
 *    "statistics": the plan's, absent before the job is planned,
 *    "explored"?: of an exploration that is planned: {"subtrees": {"done": N, "open": N}, "rounds":
 *                 N, "classes": N, "runs": N}, the last three of what is committed
 *    "checks": {NAME: {"candidates","violation","safe","bounded","unknown","error"}},
 *                                                     {} until it is planned; a member "pending" is
 *                                                     added where candidates are not decided yet
 *    "error": null | {"code", "message", "line"?, ...}, of a failed job
 *    "spec": JOB}
 * "revision" grows with each change: it is the job's ETag. FT_NOT_FOUND. */
void ft_store_job(ft_store *store, const char *job, ft_store_done done, void *data);

typedef struct ft_store_page {
    const char *cursor;   /* "next" of the page before; NULL: the first page */
    uint32_t limit;       /* 0: everything */
    const char *projects; /* of traces and jobs: only those of ",a,b,"; NULL: all */
} ft_store_page;

/* {"traces": [META without "notes", with "created"...], "next": CURSOR|null}, newest first.
 * FT_USAGE: bad cursor. */
void ft_store_traces(ft_store *store, ft_store_page page, ft_store_done done, void *data);

/* The filter of a list of jobs; NULL, 0: any. */
typedef struct ft_store_job_filter {
    const char *state, *trace, *project;
    const char *search; /* part of the job's name or id, or the beginning of its trace's name */
    int64_t since;      /* created at or after, milliseconds since 1970 */
} ft_store_job_filter;

/* {"jobs": [SNAPSHOT without "checks" and "spec"...], "next": CURSOR|null}, newest first.
 * FT_USAGE: unknown state or cursor. */
void ft_store_jobs(ft_store *store, ft_store_job_filter filter, ft_store_page page,
                   ft_store_done done, void *data);

/* Those of the jobs whose ids are listed (an array of texts), as ft_store_jobs has them: {"jobs":
 * [...]}, newest first. projects: as in ft_store_page. */
void ft_store_jobs_named(ft_store *store, const json_t *ids, const char *projects,
                         ft_store_done done, void *data);

/* The news of a job for a client that has its records up to number `after`: {"job": SNAPSHOT,
 * "records": [{"n": N, "record": RECORD without "witness", with "finding"}...], "more": BOOL}, the
 * records in commit order, those of safe blocks only if `safe`, at most `limit` (then more is
 * true). All read at one moment. FT_NOT_FOUND. */
void ft_store_job_news(ft_store *store, const char *job, int64_t after, uint32_t limit, bool safe,
                       ft_store_done done, void *data);

/* The filter of "findings", "undecided" and "safe" of a report. */
typedef struct ft_store_filter {
    const char *check; /* NULL: every check */
    bool safe;         /* the records of safe blocks too */
    bool brief;        /* without witnesses */
    bool as_text; /* each RECORD as a string, its JSON text: reports may be long; "reviews" lists
                     the reviews that they have */
} ft_store_filter;

#define FT_STORE_REPORT_MOST (8u << 20)

/* REPORT (the body of GET /v1/jobs/{id}/findings; docs/records.md), with "revision" and "next":
 * CURSOR|null added. Each RECORD has "finding": ID added. Counts are of the whole job whatever the
 * page and filter; "undecided" holds bounded ones too. A page is a stretch of records in commit
 * order, which ends behind FT_STORE_REPORT_MOST bytes of them at the latest. Before the job is
 * planned "model" is null and "checks" is {}; a property that is not decided yet has the verdict
 * null. A violation whose witness cannot be read is "undecided", an error, and counted as one;
 * "damaged" lists those of the page: [{"finding", "property"|null, "why"}...]. FT_NOT_FOUND;
 * FT_USAGE: bad check or cursor. */
void ft_store_report(ft_store *store, const char *job, ft_store_filter filter, ft_store_page page,
                     ft_store_done done, void *data);

/* RECORD with "finding" and "job" added, by finding id "<job>-<n>"; its "witness" is the WITNESS
 * (absent when the verdict is no violation); "damaged" as in a report. FT_NOT_FOUND. */
void ft_store_finding(ft_store *store, const char *finding, ft_store_done done, void *data);

/* ---- Reviews: findings from run to run ------------------------------------------------------- */

/* REVIEW (schema/review.schema.json) of a project's finding. FT_NOT_FOUND. */
void ft_store_review(ft_store *store, const char *project, const char *fingerprint,
                     ft_store_done done, void *data);
/* Changes its state and reason: the REVIEW as it is then. FT_NOT_FOUND. The caller has checked the
 * state: open, confirmed, false or fixed. */
void ft_store_review_set(ft_store *store, const char *project, const char *fingerprint,
                         const char *state, const char *reason, ft_store_done done, void *data);
/* {"reviews": [REVIEW...], "next": CURSOR|null} of a project, newest first. state NULL: any.
 * FT_USAGE: bad cursor. */
void ft_store_reviews(ft_store *store, const char *project, const char *state, ft_store_page page,
                      ft_store_done done, void *data);

/* ---- Access (store/access.h) ------------------------------------------------------------------
 */

/* {"tokens": [{"token": ID, "hash": HEX, "name", "scopes": "read,submit", "projects": ",a,b,"|null,
 * "rate", "max_upload", "created", "expires": TIME|null, "revoked": TIME|null, "valid": BOOL}...]},
 * the revoked and expired ones too. */
void ft_store_tokens(ft_store *store, ft_store_done done, void *data);

/* {}. FT_NOT_FOUND: there is none of that name in these projects (",a,b,"). */
void ft_store_job_visible(ft_store *store, const char *job, const char *projects,
                          ft_store_done done, void *data);
void ft_store_trace_visible(ft_store *store, const char *trace, const char *projects,
                            ft_store_done done, void *data);
/* The project may see the trace from now on: {"created": BOOL}, false: it could before.
 * FT_CONFLICT: it would have more than `most` stored bytes (0: no limit). The next retention
 * removes a trace that no project may see. */
void ft_store_trace_share(ft_store *store, const char *trace, const char *project, uint64_t most,
                          ft_store_done done, void *data);

/* Steals the reference: {"token": ID|null, "peer", "action", "outcome"}. The last 100,000 are kept.
 * A failure is not reported. */
void ft_store_audit_add(ft_store *store, json_t *entry);
/* {"entries": [{"at": TIME, ...}], "next": CURSOR|null}, newest first. FT_USAGE: bad cursor. */
void ft_store_audit(ft_store *store, ft_store_page page, ft_store_done done, void *data);

/* One step of the retention. Removes jobs that ended more than age_ms ago, traces of that age that
 * no job names, and, while more than `bytes` of traces are stored, the least recently used trace
 * with its jobs; 0: no such limit. Projects may have limits of their own (store/limits.h); a trace
 * over a project's bytes stays for other projects. Traces of jobs in progress and of the last hour
 * stay.
 * {"jobs": n, "traces": n, "bytes": n, "more": BOOL}; more: ask again. */
void ft_store_retain(ft_store *store, uint64_t age_ms, uint64_t bytes, ft_store_done done,
                     void *data);

/* For /metrics: {"jobs": {STATE: n}, "tasks": {STATE: n}, "verdicts": {VERDICT: n}, "traces": n,
 * "trace_bytes": n, "stored_bytes": n, "parts_fetched": n, "parts_kept": n, "parts_damaged": n,
 * "commits": n, "requests": n}. Tasks are ready, leased, dropped (ready again, as their server
 * died) or ended. Verdicts are records; parts (of ft_sql) and the last two count since start. */
void ft_store_counts(ft_store *store, ft_store_done done, void *data);

/* What this node says of itself (steals an object, shown to all), and what all have said: {"nodes":
 * [{"node": EPOCH, "name": HOST, "pid": N, "own": BOOL, "started": TIME, "seen": TIME, "silent_ms":
 * N, ...what it said}...], "released": [JOB...]}, without those that were silent for long. Leases
 * past their time are released on the way. Of a store that is not shared: the own node alone. */
void ft_store_beat(ft_store *store, json_t *state, ft_store_done done, void *data);

/* {}: the database answers. For /ready; at once when it is known that it does not. */
void ft_store_probe(ft_store *store, ft_store_done done, void *data);

/* ---- Changing (for dispatch) ------------------------------------------------------------------
 *
 * CHANGE, the result of the functions below for the job that they change:
 *   {"job": ID, "state": STATE, "revision": N, "ready": N, "open": N, "applied": true|false}
 * ready: tasks that can be leased now. open: tasks without a result, the leased ones too. applied
 * is false if the fencing token was no longer valid: nothing was changed. */

/* Starts the rows of a trace being ingested: {"blob": N}. */
void ft_store_blob_new(ft_store *store, ft_store_done done, void *data);
/* Adds the next row (at most FT_STORE_CHUNK bytes; all but the last exactly that). {}. */
void ft_store_blob_add(ft_store *store, int64_t blob, uint32_t seq, const void *bytes,
                       size_t length, ft_store_done done, void *data);
/* Makes the blob the content of the trace `hash`, and drops it when that trace is there already:
 * {"created": BOOL, "meta": META as stored}. FT_IO: some of its `rows` rows are missing. */
void ft_store_blob_commit(ft_store *store, int64_t blob, uint32_t rows, const char *hash,
                          const json_t *meta, ft_store_done done, void *data);
void ft_store_blob_drop(ft_store *store, int64_t blob, ft_store_done done, void *data);

/* An Idempotency-Key of the job's project, and the hash of the body that came with it. */
typedef struct ft_store_key {
    const char *key, *body;
} ft_store_key;
#define FT_STORE_KEY_DAYS 7 /* remembered */

/* A new job in state queued with its plan task; SNAPSHOT. most: jobs that its project may have that
 * have not ended (0: any number), one more is FT_BUDGET. key may be NULL; with one that came with
 * the same body before, nothing is made: the SNAPSHOT of that job with "known": true.
 * FT_NOT_FOUND: no such trace (spec.trace). FT_USAGE: the spec has none, or names a webhook and its
 * project has none set up (store/webhooks.h). FT_CONFLICT: the key came with another body. */
void ft_store_job_create(ft_store *store, const json_t *spec, const ft_store_key *key,
                         uint32_t most, ft_store_done done, void *data);

/* Cancels the job and its open tasks: CHANGE; applied is false if it had ended before.
 * FT_NOT_FOUND. */
void ft_store_job_cancel(ft_store *store, const char *job, ft_store_done done, void *data);

/* The job's time ran out: each open solve task gets a verdict unknown (reason budget, `text`) and
 * the job is done; a job that is not planned yet has failed. CHANGE with "more": BOOL, true: those
 * were some hundreds of its tasks, ask again; none is leased then. applied is false if it had ended
 * before. */
void ft_store_job_expire(ft_store *store, const char *job, const char *text, ft_store_done done,
                         void *data);

/* The time of an exploration is almost over (all): its subtrees are no tasks any more, and a last
 * task has the word for what was done. Or half of it is: there is a task more, for the first levels
 * of preemptions. CHANGE, with "gone": tokens of leases that are over; applied is false if there
 * was nothing left to do. */
void ft_store_job_close(ft_store *store, const char *job, bool all, ft_store_done done, void *data);

/* {"jobs": [{"job", "trace", "state", "ready", "open", "spec", "spent_ms", "priority", "project",
 * "revision"}...]}, those not ended, oldest first. */
void ft_store_jobs_open(ft_store *store, ft_store_done done, void *data);

#define FT_STORE_LEASE_MOST 64 /* tasks */
typedef struct ft_store_leasing {
    uint32_t most;     /* tasks */
    uint32_t lease_ms; /* that the lease lasts */
    uint32_t workers; /* of a shared store: leases that the job's project may have; 0: any number */
} ft_store_leasing;
/* Leases ready tasks of one kind to one worker: {"token": T, "kind":
 * NAME, "tasks": LIST, "change": CHANGE}, where LIST is the JSON text of
 * [{"task": ID, "subproblem": K, "key": TEXT, "check": NAME}...], in the order of their ids; of a
 * part of an exploration [{"task": ID, "subtree": TEXT}], and "explored": EXPLORED as JSON text;
 * no tasks: none was ready (token and kind are then null); "wait_ms" is the time until the first
 * task that was put off is due. A task from a batch whose worker died is leased alone. Expired
 * leases are released first. */
void ft_store_lease(ft_store *store, const char *job, ft_store_leasing leasing, ft_store_done done,
                    void *data);

/* Moves tasks (an array of ids) from the lease `token` to a new one, for another worker: as
 * ft_store_lease, with those that the lease still held. Results under the old lease are late. */
void ft_store_steal(ft_store *store, const char *job, uint64_t token, const json_t *tasks,
                    uint32_t lease_ms, ft_store_done done, void *data);

/* The heartbeat; steals {"tokens": [T...], "spent": {JOB: ms...}, "usage": {PROJECT: ms...}}:
 * leases under these tokens last for lease_ms from now on, so much of the jobs' time budgets is
 * spent, so much more worker time was given to the projects today. Leases past their time are
 * released:
 * {"released": [JOB...]}. */
void ft_store_extend(ft_store *store, json_t *beat, uint32_t lease_ms, ft_store_done done,
                     void *data);

/* In one transaction: the plan's records become verdicts, its subproblems solve tasks, the plan
 * task is done, the job solving (or done, without subproblems). CHANGE. FT_INPUT: the plan is not
 * PLAN of docs/records.md, its subproblems are not numbered 0, 1, ..., or its counts do not add
 * up. Takes the text. */
void ft_store_plan_commit(ft_store *store, uint64_t token, int64_t task, ft_strbuf *plan,
                          ft_store_done done, void *data);

/* A plan too long for one transaction comes in parts, each of them made one of its own: nothing of
 * it is seen before the last. Made and dropped on the loop's thread; drop accepts NULL. */
typedef struct ft_plan ft_plan;
ft_plan *ft_plan_new(void);
void ft_plan_drop(ft_plan *plan);
/* The next bytes of its text: {"applied": BOOL}, false: the task is not leased under this token any
 * more. Takes the text. FT_INPUT: as far as can be seen, it is not PLAN. */
void ft_store_plan_add(ft_store *store, ft_plan *plan, uint64_t token, int64_t task,
                       ft_strbuf *part, ft_store_done done, void *data);
/* The plan's last bytes, and then as ft_store_plan_commit. To be called when all earlier parts were
 * answered. */
void ft_store_plan_end(ft_store *store, ft_plan *plan, uint64_t token, int64_t task,
                       ft_strbuf *part, ft_store_done done, void *data);

/* In one transaction, of each result (store/results.h): the record becomes the task's verdict, the
 * task is done; the job is done if these were its last tasks. CHANGE with "late": the tasks that
 * the lease no longer holds (they are not changed); applied: some were in time. FT_INPUT, nothing
 * is changed: a record is not one of its task (its check and key must be the subproblem's, its
 * count 1). Takes what is in results. */
void ft_store_results_commit(ft_store *store, const char *job, uint64_t token, ft_results *results,
                             ft_store_done done, void *data);

/* The worker reports that the job cannot be planned: the job fails. CHANGE. */
void ft_store_plan_fail(ft_store *store, uint64_t token, int64_t task, const ft_error *error,
                        ft_store_done done, void *data);

/* The consequences for the task on which a worker died. */
typedef struct ft_store_blame {
    int64_t task;       /* 0: no task is blamed, all go back */
    uint32_t limit;     /* number of deaths that poison the task */
    ft_verdict verdict; /* of a poisoned one: error or unknown */
    ft_reason reason;   /* likewise: worker-died or budget */
    const char *text;   /* one sentence about the death */
    uint32_t retry_ms;  /* delay after the first death, doubled with each further one */
    int worker, pid;    /* evidence: the process that died, */
    const char *death;  /* how (a name), */
    const char *log;    /* and the end of its standard error */
} ft_store_blame;
#define FT_STORE_RETRY_MOST 30000 /* longest delay of a retry, in milliseconds */
#define FT_STORE_DAY_MS     ((int64_t)86400000)

/* Gives back the tasks still leased under `token`: CHANGE with "poisoned": BOOL. The blamed one's
 * attempts grow, the evidence is kept, and it is poisoned at the limit (a solve task with its
 * verdict, which has the evidence as "deaths", a plan task by failing its job); if a task is
 * blamed, the others are leased alone from now on. */
void ft_store_abandon(ft_store *store, const char *job, uint64_t token, ft_store_blame blame,
                      ft_store_done done, void *data);

#endif
