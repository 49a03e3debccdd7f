/* Private to the store. A request goes to the store's thread, is run there, and comes back to the
 * loop's thread with its result. */
#ifndef FT_STORE_INTERNAL_H
#define FT_STORE_INTERNAL_H

#include "base/contract.h"
#include "store/cubes.h"
#include "store/entries.h"
#include "store/migrations.h"
#include "store/sql.h"
#include "store/store.h"

/* Each kind of request uses the members that it needs. */
typedef struct ft_request ft_request;
struct ft_request {
    ft_request *next;
    ft_status (*run)(ft_sql *sql, ft_request *request, ft_error *err); /* on the store's thread */
    bool writes;
    ft_store_done done; /* one of done and chunk_done */
    ft_store_chunk_done chunk_done;
    void *data;

    char *job;          /* owned: a job, trace or finding id */
    char *other;        /* owned: a second text */
    char *third;        /* owned */
    json_t *json;       /* a reference */
    ft_results results; /* owned */
    ft_plan *plan;      /* a reference */
    bool lengthy;       /* shares no transaction: nobody's answer waits for its end */
    int64_t task, blob;
    uint64_t token;
    uint32_t seq, limit, lease_ms;
    bool safe, brief;
    bool as_text;         /* ft_store_filter */
    ft_store_blame blame; /* its text is `other` */
    ft_error cause;

    ft_status status; /* of the request, once it was run */
    ft_error err;
    json_t *result;
    void *bytes; /* owned: of a chunk, in or out */
    size_t length;
    bool last;
};

/* A zeroed request; hand it over with ft_store_send, which frees it after its callback. */
ft_request *ft_store_request(ft_status (*run)(ft_sql *, ft_request *, ft_error *), bool writes,
                             ft_store_done done, void *data);
void ft_store_send(ft_store *store, ft_request *request);

/* RFC 3339 with milliseconds; new reference. */
json_t *ft_store_time(int64_t milliseconds);
/* Parses a column that holds JSON; new reference. FT_INTERNAL. */
ft_status ft_store_parse(ft_statement *statement, int column, json_t **json,
                         ft_error *err) FT_MUST_CHECK;
char *ft_store_dump(const json_t *json); /* compact; free with free() */
/* The job's plan as it is stored, an object ({} before it): a new reference. And a write of it. */
ft_status ft_store_plan_read(ft_sql *sql, const char *job, json_t **plan,
                             ft_error *err) FT_MUST_CHECK;
ft_status ft_store_plan_write(ft_sql *sql, const char *job, const json_t *plan,
                              ft_error *err) FT_MUST_CHECK;
/* A cursor's text to a number; NULL gives `first`. FT_USAGE. */
ft_status ft_store_cursor(const char *text, int64_t first, int64_t *cursor,
                          ft_error *err) FT_MUST_CHECK;

ft_status ft_store_random_hex(char *text, size_t digits, ft_error *err) FT_MUST_CHECK;

/* For whoever opens the file: the lock of the state folder (FT_CONFLICT: a daemon has it, and had
 * it for so long), the schema of this program. */
ft_status ft_store_lock_folder(const char *folder, unsigned patience_ms, int *lock,
                               ft_error *err) FT_MUST_CHECK;
/* {"tokens": [...]} of ft_store_tokens; new reference also on failure. */
ft_status ft_store_read_tokens(ft_sql *sql, json_t **result, ft_error *err) FT_MUST_CHECK;

/* On the store's thread: a part of it was not stored, so it cannot be committed any more. */
void ft_plan_spoil(ft_plan *plan);

/* {"race": {"candidates", ...}} of a job, from its plan's candidates and its verdicts. */
ft_status ft_store_checks(ft_sql *sql, const char *job, const json_t *plan, json_t **checks,
                          ft_error *err) FT_MUST_CHECK;
/* SNAPSHOT of store.h. */
ft_status ft_store_snapshot(ft_sql *sql, const char *job, json_t **snapshot,
                            ft_error *err) FT_MUST_CHECK;
/* CHANGE of store.h. */
ft_status ft_store_read_change(ft_sql *sql, const char *job, bool applied, json_t **change,
                               ft_error *err) FT_MUST_CHECK;
/* Of a change that is announced to other nodes (node.h) if it was applied. */
ft_status ft_store_change(ft_sql *sql, const char *job, bool applied, json_t **change,
                          ft_error *err) FT_MUST_CHECK;

/* Tells them of the job, where there are any. */
ft_status ft_store_tell(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;

/* In SQL: jobs.n of the job ?1, and the ids of its tasks (entries.h). */
#define FT_JOB_N "(SELECT n FROM jobs WHERE id = ?1)"
/* The order of a job's verdicts that does not depend on which of its tasks ended first: what the
 * plan decided, then the plan's subproblems, whose tasks are numbered as they are. */
#define FT_PLAN_ORDER "coalesce(task, 0), n"
#define FT_JOB_TASKS  "BETWEEN " FT_JOB_N " << 28 AND (" FT_JOB_N " << 28) + " FT_TASK_NUMBERS

/* A row of jobs as far as changes need it. FT_NOT_FOUND. */
typedef struct ft_job_row {
    ft_job_state state;
    int64_t n, open, verdicts;
    int64_t next, last; /* numbers of tasks: the first never leased, the plan's last */
} ft_job_row;
ft_status ft_store_job_row(ft_sql *sql, const char *job, ft_job_row *row,
                           ft_error *err) FT_MUST_CHECK;
/* The job has failed with this error. */
ft_status ft_store_job_fail(ft_sql *sql, const char *job, const ft_error *cause,
                            ft_error *err) FT_MUST_CHECK;
/* A job whose plan task goes back goes back into the queue; nothing otherwise. */
ft_status ft_store_job_requeue(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;
/* Changes a job's state if the table allows it (else FT_CONFLICT), its revision and times. */
ft_status ft_store_job_move(ft_sql *sql, const char *job, ft_job_state to,
                            ft_error *err) FT_MUST_CHECK;

/* The job of a task. FT_NOT_FOUND. */
ft_status ft_store_task_job(ft_sql *sql, int64_t task, char job[FT_STORE_JOB_ID + 1],
                            ft_error *err) FT_MUST_CHECK;
/* The plan's entry for a subproblem, parsed; new reference. */
ft_status ft_store_task_entry(ft_sql *sql, ft_entries *entries, int64_t task, json_t **entry,
                              ft_error *err) FT_MUST_CHECK;
/* The fence: ends a task only for the holder of its present lease; *applied tells. */
ft_status ft_store_task_end(ft_sql *sql, int64_t task, uint64_t token, ft_task_state to,
                            bool *applied, ft_error *err) FT_MUST_CHECK;
/* Hands back the tasks still leased under the token: *returned. alone: leased in no batch any more.
 */
ft_status ft_store_lease_end(ft_sql *sql, uint64_t token, bool alone, int64_t *returned,
                             ft_error *err) FT_MUST_CHECK;
/* *jobs: an array, a job as often as it had a lease that has run out; the caller's. */
ft_status ft_store_release_expired(ft_sql *sql, json_t **jobs, ft_error *err) FT_MUST_CHECK;
/* Gives back the leases of this node, which ends. */
ft_status ft_store_leases_return(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* No lease holds any of the job's tasks. */
ft_status ft_store_leases_drop(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;
/* So many tasks less are open; the job is done with its last one. */
ft_status ft_store_task_count_down(ft_sql *sql, const char *job, int64_t count,
                                   ft_error *err) FT_MUST_CHECK;

/* Adds the first `count` of these verdicts to a job and its tallies. */
ft_status ft_store_verdicts_add(ft_sql *sql, const char *job, const ft_results *results,
                                size_t count, ft_error *err) FT_MUST_CHECK;
/* The record's text, as ft_results_add. FT_INPUT. */
ft_status ft_store_results_add(ft_results *results, int64_t task, const json_t *record,
                               ft_error *err) FT_MUST_CHECK;
/* A fingerprint without its quotes, of a record's member; NULL: it is none. */
ft_span ft_store_print_of(ft_span value);
/* For a job that has ended: settles the fingerprints of its violations (report/fingerprint.h) and
 * carries them on to the reviews of its project. */
ft_status ft_store_reviews_carry(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;
/* Gives the n-th record of a job its settled fingerprint and "review"; nothing before the job has
 * ended, and to what is no violation. */
ft_status ft_store_review_add(ft_sql *sql, const char *job, int64_t n, json_t *record,
                              ft_error *err) FT_MUST_CHECK;
/* Of a job that has ended: its deliveries (store/webhooks.h). */
ft_status ft_store_webhooks_note(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;
/* Those that this node sends are pending again, as it ends. */
ft_status ft_store_deliveries_return(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* The URL that a new job of the project names. FT_USAGE: the project has no webhook. */
ft_status ft_store_job_webhook(ft_sql *sql, const char *job, const char *project, const char *url,
                               ft_error *err) FT_MUST_CHECK;
/* [{"attempt", "at", "worker", "pid", "death", "message", "log"}...] of a task, or (task 0) with
 * "task" of a job's last ones; oldest first. New reference. */
ft_status ft_store_deaths(ft_sql *sql, const char *job, int64_t task, json_t **deaths,
                          ft_error *err) FT_MUST_CHECK;
/* RECORD of a violation (with "finding") as an error: its witness cannot be read. Listed in
 * `damaged`: {"finding", "property"|null, "why"}. */
void ft_store_record_damaged(json_t *record, const char *why, json_t *damaged);
/* The report's counts and property with that record, one of its "damaged", as an error. */
ft_status ft_store_report_damaged(ft_sql *sql, const char *job, json_t *report,
                                  const json_t *record, ft_error *err) FT_MUST_CHECK;
/* Adds a note where "damaged" of the report has some. */
void ft_store_damage_note(json_t *report);
/* A record that says that a subproblem was given up; new reference. */
json_t *ft_store_record_given_up(const json_t *entry, const char *model, ft_verdict verdict,
                                 ft_reason reason, const char *text);

/* For start-up, when no task is leased: counts the open tasks of each job not ended anew. */
ft_status ft_store_recount(ft_sql *sql, ft_error *err) FT_MUST_CHECK;

#endif
