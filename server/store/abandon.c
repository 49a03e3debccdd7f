/* Tasks that got no result: handed back, poisoned, out of time. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/spread.h"
#include "store/internal.h"
#include "store/subtrees.h"

#define AT_ONCE 500 /* subproblems of a job that is out of time */

/* The model as planned; new text. */
static ft_status planned_model(ft_sql *sql, const char *job, char **model, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err, "SELECT model FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    *model = ft_strdup(row ? ft_sql_text(statement, 0) : "");
    return FT_OK;
}

typedef struct end {
    ft_verdict verdict;
    ft_reason reason;
    const char *text;
    json_t *deaths; /* borrowed; NULL: nobody died on it */
} end;

static ft_status give_up(ft_results *results, int64_t task, const json_t *entry, const char *model,
                         const end *how, ft_error *err)
{
    json_t *record = ft_store_record_given_up(entry, model, how->verdict, how->reason, how->text);
    if (json_array_size(how->deaths)) json_object_set(record, "deaths", how->deaths);
    ft_status status = ft_store_results_add(results, task, record, err);
    json_decref(record);
    return status;
}

/* ---- Evidence -------------------------------------------------------------------------------- */

static ft_status add_death(ft_sql *sql, const ft_request *request, int64_t attempt, ft_error *err)
{
    const json_t *e = request->json;
    return ft_sql_run(
        sql, NULL, err,
        "INSERT INTO deaths (job, task, attempt, at, worker, pid, death, message, log) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        "tiiiiittt", (const char *)request->job, request->blame.task, attempt, ft_sql_now(sql),
        (int64_t)json_integer_value(json_object_get(e, "worker")),
        (int64_t)json_integer_value(json_object_get(e, "pid")),
        json_string_value(json_object_get(e, "death")), (const char *)request->other,
        json_string_value(json_object_get(e, "log")));
}

static json_t *death_of(ft_statement *s, bool with_task)
{
    json_t *worker = ft_sql_null(s, 3) ? json_null() : json_integer(ft_sql_int(s, 3));
    json_t *pid = ft_sql_null(s, 4) ? json_null() : json_integer(ft_sql_int(s, 4));
    json_t *death =
        json_pack("{s:I, s:o, s:o, s:o, s:s, s:s, s:s}", "attempt", (json_int_t)ft_sql_int(s, 1),
                  "at", ft_store_time(ft_sql_int(s, 2)), "worker", worker, "pid", pid, "death",
                  ft_sql_text(s, 5), "message", ft_sql_text(s, 6), "log", ft_sql_text(s, 7));
    if (with_task) json_object_set_new(death, "task", json_integer(ft_sql_int(s, 0)));
    return death;
}

ft_status ft_store_deaths(ft_sql *sql, const char *job, int64_t task, json_t **deaths,
                          ft_error *err)
{
    ft_statement *statement;
    bool row;
    *deaths = json_array();
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT task, attempt, at, worker, pid, death, message, log FROM deaths "
                     "WHERE job = ?1 AND (?2 = 0 OR task = ?2) ORDER BY id DESC LIMIT 20",
                     "ti", job, task);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_insert_new(*deaths, 0, death_of(statement, task == 0));
    return status;
}

/* ---- Poison ---------------------------------------------------------------------------------- */

/* A cube that workers die on decides its subproblem. */
static ft_status find_poisoned(ft_sql *sql, int64_t task, int64_t *poisoned, ft_error *err)
{
    *poisoned = task;
    return ft_task_is_cube(task) ? ft_cubes_parent(sql, task, poisoned, NULL, err) : FT_OK;
}

static ft_status settle_poisoned(ft_sql *sql, const ft_request *request, int64_t parent,
                                 ft_error *err)
{
    if (!ft_task_is_cube(request->blame.task)) return FT_OK;
    ft_cube_counts counts = {.gone = json_array()};
    ft_status status = ft_cubes_settle(sql, parent, &counts, err);
    if (status == FT_OK) status = ft_cubes_count(sql, request->job, &counts, err);
    json_decref(counts.gone);
    return status;
}

static ft_status poison_solve(ft_sql *sql, const ft_request *request, ft_error *err)
{
    int64_t poisoned = 0;
    const ft_store_blame *blame = &request->blame;
    end how = {blame->verdict, blame->reason, request->other, NULL};
    json_t *entry = NULL;
    char *model = NULL;
    ft_entries entries = {.first = 0};
    ft_results results = {.items = NULL};
    ft_status status = ft_store_task_entry(sql, &entries, blame->task, &entry, err);
    if (status == FT_OK) status = find_poisoned(sql, blame->task, &poisoned, err);
    if (status == FT_OK) status = ft_store_deaths(sql, request->job, blame->task, &how.deaths, err);
    if (status == FT_OK) status = planned_model(sql, request->job, &model, err);
    if (status == FT_OK) status = give_up(&results, poisoned, entry, model, &how, err);
    if (status == FT_OK) status = ft_store_verdicts_add(sql, request->job, &results, 1, err);
    if (status == FT_OK) status = settle_poisoned(sql, request, poisoned, err);
    json_decref(how.deaths);
    json_decref(entry);
    free(model);
    ft_entries_release(&entries);
    ft_results_release(&results);
    return status == FT_OK ? ft_store_task_count_down(sql, request->job, 1, err) : status;
}

/* The verdicts of the rest, as nobody can say them. */
static ft_status poison_end(ft_sql *sql, const ft_request *request, ft_error *err)
{
    ft_job_row row;
    const ft_store_blame *blame = &request->blame;
    end how = {blame->verdict, blame->reason, request->other, NULL};
    char *model = NULL;
    ft_entries entries = {.first = 0};
    ft_results results = {.items = NULL};
    ft_status status = ft_store_job_row(sql, request->job, &row, err);
    if (status == FT_OK) status = planned_model(sql, request->job, &model, err);
    for (int64_t i = 1; i <= row.last && status == FT_OK; i++) {
        json_t *entry = NULL;
        int64_t task = FT_TASK_ID(row.n, i);
        status = ft_store_task_entry(sql, &entries, task, &entry, err);
        if (status == FT_OK) status = give_up(&results, task, entry, model, &how, err);
        json_decref(entry);
        if (status == FT_OK)
            status = ft_sql_run(sql, NULL, err, "DELETE FROM tasks WHERE id = ?1", "i", task);
    }
    if (status == FT_OK)
        status = ft_store_verdicts_add(sql, request->job, &results, results.count, err);
    free(model);
    ft_entries_release(&entries);
    ft_results_release(&results);
    return status == FT_OK ? ft_store_task_count_down(sql, request->job, row.last, err) : status;
}

static ft_status poison_subtree(ft_sql *sql, const ft_request *request, ft_error *err)
{
    bool ends = false;
    int64_t task = request->blame.task;
    ft_status status = ft_subtrees_is_end(sql, task, &ends, err);
    if (status == FT_OK) status = ft_subtrees_give_up(sql, request->job, task, request->other, err);
    return status == FT_OK && ends ? poison_end(sql, request, err) : status;
}

static ft_status poison(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool applied;
    const ft_store_blame *blame = &request->blame;
    ft_status status =
        ft_store_task_end(sql, blame->task, request->token, FT_TASK_POISONED, &applied, err);
    assert(status != FT_OK || applied);
    if (status != FT_OK) return status;
    if (ft_task_is_subtree(blame->task)) return poison_subtree(sql, request, err);
    if (FT_TASK_NUMBER(blame->task) > 0) return poison_solve(sql, request, err);
    ft_error cause = FT_ERROR_INIT;
    ft_error_set(&cause, blame->verdict == FT_VERDICT_UNKNOWN ? FT_BUDGET : FT_INTERNAL,
                 "the job cannot be planned: %s", request->other);
    return ft_store_job_fail(sql, request->job, &cause, err);
}

/* Doubled with each death on the task, so that what a worker died of has time to pass. */
static int64_t due_after(ft_sql *sql, const ft_request *request, int64_t attempts)
{
    int64_t doublings = attempts - 1 < 16 ? attempts - 1 : 16;
    int64_t wait = (int64_t)request->blame.retry_ms << doublings;
    if (wait > FT_STORE_RETRY_MOST) wait = FT_STORE_RETRY_MOST;
    return ft_sql_now(sql) + (int64_t)ft_spread((uint64_t)wait);
}

/* *attempts: of the blamed task with this death; 0 when this lease does not hold it any more. */
static ft_status add_attempt(ft_sql *sql, const ft_request *request, int64_t *attempts,
                             ft_error *err)
{
    bool held;
    int64_t before = 0;
    *attempts = 0;
    ft_status status = ft_sql_number(sql, &before, &held, err,
                                     "SELECT attempts FROM tasks WHERE id = ?1 AND token = ?2",
                                     "ii", request->blame.task, (int64_t)request->token);
    if (status != FT_OK || !held) return status;
    *attempts = before + 1;
    status = ft_sql_run(sql, NULL, err, "UPDATE tasks SET attempts = ?3, due = ?2 WHERE id = ?1",
                        "iii", request->blame.task, due_after(sql, request, *attempts), *attempts);
    return status == FT_OK ? add_death(sql, request, *attempts, err) : status;
}

ft_status ft_store_job_requeue(ft_sql *sql, const char *job, ft_error *err)
{
    ft_job_row row;
    ft_status status = ft_store_job_row(sql, job, &row, err);
    if (status == FT_OK && row.state == FT_JOB_PLANNING)
        status = ft_store_job_move(sql, job, FT_JOB_QUEUED, err);
    return status;
}

static ft_status give_back(ft_sql *sql, const ft_request *request, int64_t *returned, ft_error *err)
{
    ft_status status =
        ft_store_lease_end(sql, request->token, request->blame.task != 0, returned, err);
    if (status != FT_OK || *returned == 0) return status;
    status = ft_sql_run(sql, NULL, err, "UPDATE jobs SET ready = ready + ?2 WHERE id = ?1", "ti",
                        (const char *)request->job, *returned);
    if (status == FT_OK) status = ft_store_job_requeue(sql, request->job, err);
    return status;
}

static ft_status run_abandon(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t attempts = 0, returned = 0;
    ft_status status = FT_OK;
    if (request->blame.task) status = add_attempt(sql, request, &attempts, err);
    bool poisoned = attempts > 0 && attempts >= request->blame.limit;
    if (status == FT_OK && poisoned) status = poison(sql, request, err);
    if (status == FT_OK) status = give_back(sql, request, &returned, err);
    bool applied = poisoned || returned > 0;
    if (status == FT_OK)
        status = ft_store_change(sql, request->job, applied, &request->result, err);
    if (status == FT_OK) json_object_set_new(request->result, "poisoned", json_boolean(poisoned));
    return status;
}

void ft_store_abandon(ft_store *store, const char *job, uint64_t token, ft_store_blame blame,
                      ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_abandon, true, done, data);
    request->job = ft_strdup(job);
    request->token = token;
    request->blame = blame;
    request->other = ft_strdup(blame.text ? blame.text : "");
    request->json =
        json_pack("{s:i, s:i, s:s, s:s}", "worker", blame.worker, "pid", blame.pid, "death",
                  blame.death ? blame.death : "", "log", blame.log ? blame.log : "");
    ft_store_send(store, request);
}

/* ---- Out of time ----------------------------------------------------------------------------- */

/* The state while several tasks of a job are given up. */
typedef struct giving {
    ft_job_row job;
    char *model; /* owned */
    ft_entries entries;
    ft_results results;
} giving;

static ft_status give_up_one(ft_sql *sql, const ft_request *request, giving *g, int64_t task,
                             ft_error *err)
{
    json_t *entry = NULL;
    const end how = {FT_VERDICT_UNKNOWN, FT_REASON_BUDGET, request->other, NULL};
    ft_status status = ft_store_task_entry(sql, &g->entries, task, &entry, err);
    if (status == FT_OK) status = give_up(&g->results, task, entry, g->model, &how, err);
    json_decref(entry);
    return status;
}

/* Those in flight, and some of those that nobody had yet. */
static ft_status give_up_some(ft_sql *sql, const ft_request *request, giving *g, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT id FROM tasks WHERE id " FT_JOB_TASKS
                                    " AND state IN ('ready', 'leased') AND kind = 'solve' "
                                    "AND (id & " FT_CUBE_BIT ") = 0",
                                    "t", (const char *)request->job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        status = give_up_one(sql, request, g, ft_sql_int(statement, 0), err);
    int64_t *next = &g->job.next;
    for (; *next <= g->job.last && g->results.count < AT_ONCE && status == FT_OK; ++*next)
        status = give_up_one(sql, request, g, FT_TASK_ID(g->job.n, *next), err);
    if (status != FT_OK || g->results.count == 0) return status;
    return ft_store_verdicts_add(sql, request->job, &g->results, g->results.count, err);
}

/* None of those in flight is anybody's any more. */
static ft_status close_tasks(ft_sql *sql, const ft_request *request, const giving *g, ft_error *err)
{
    const char *job = request->job;
    ft_status status = ft_cubes_drop(sql, job, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE tasks SET state = 'poisoned', token = NULL "
                            "WHERE id " FT_JOB_TASKS " AND state IN ('ready', 'leased')",
                            "t", job);
    if (status == FT_OK) status = ft_store_leases_drop(sql, job, err);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE jobs SET next = ?2, ready = last - ?2 + 1, open = last - ?2 + 1, "
                      "dropped = 0, updated = ?3, revision = revision + 1 WHERE id = ?1",
                      "tii", job, g->job.next, ft_sql_now(sql));
}

static ft_status end_job(ft_sql *sql, ft_request *request, ft_job_state state, ft_error *err)
{
    if (state == FT_JOB_SOLVING) return ft_store_job_move(sql, request->job, FT_JOB_DONE, err);
    ft_error cause = FT_ERROR_INIT;
    ft_error_set(&cause, FT_BUDGET, "%s before the job was planned", request->other);
    return ft_store_job_fail(sql, request->job, &cause, err);
}

static ft_status expire_some(ft_sql *sql, ft_request *request, giving *g, bool *more, ft_error *err)
{
    ft_status status = planned_model(sql, request->job, &g->model, err);
    if (status == FT_OK) status = give_up_some(sql, request, g, err);
    if (status == FT_OK) status = close_tasks(sql, request, g, err);
    *more = g->job.next <= g->job.last;
    if (status == FT_OK && !*more) status = end_job(sql, request, g->job.state, err);
    return status;
}

static ft_status run_job_expire(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool more = false;
    giving g = {.model = NULL};
    ft_status status = ft_store_job_row(sql, request->job, &g.job, err);
    if (status != FT_OK) return status;
    bool applied = !ft_job_state_final(g.job.state);
    if (applied) status = expire_some(sql, request, &g, &more, err);
    free(g.model);
    ft_entries_release(&g.entries);
    ft_results_release(&g.results);
    if (status == FT_OK)
        status = ft_store_change(sql, request->job, applied, &request->result, err);
    if (status == FT_OK) json_object_set_new(request->result, "more", json_boolean(more));
    return status;
}

void ft_store_job_expire(ft_store *store, const char *job, const char *text, ft_store_done done,
                         void *data)
{
    ft_request *request = ft_store_request(run_job_expire, true, done, data);
    request->job = ft_strdup(job);
    request->other = ft_strdup(text);
    request->lengthy = true;
    ft_store_send(store, request);
}
