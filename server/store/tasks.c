/* Leases and results. Of a job's tasks those in flight have a row (schema 0008): the plan's, and
 * each subproblem's from its first lease to its verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/schedule_sets.h"
#include "store/subtrees.h"

/* ---- Leases ---------------------------------------------------------------------------------- */

ft_status ft_store_lease_end(ft_sql *sql, uint64_t token, bool alone, int64_t *returned,
                             ft_error *err)
{
    assert(ft_task_state_may(FT_TASK_LEASED, FT_TASK_READY));
    ft_status status =
        ft_sql_run(sql, returned, err,
                   "UPDATE tasks SET state = 'ready', token = NULL, alone = CASE WHEN alone > ?2 "
                   "THEN alone ELSE ?2 END "
                   "WHERE token = ?1 AND id BETWEEN (SELECT low FROM leases WHERE token = ?1) "
                   "AND (SELECT high FROM leases WHERE token = ?1)",
                   "ii", (int64_t)token, (int64_t)alone);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "DELETE FROM leases WHERE token = ?1", "i", (int64_t)token);
}

ft_status ft_store_leases_drop(ft_sql *sql, const char *job, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "DELETE FROM leases WHERE job = " FT_JOB_N, "t", job);
}

/* The lease loses this many tasks. */
static ft_status shrink(ft_sql *sql, uint64_t token, int64_t count, ft_error *err)
{
    ft_status status =
        ft_sql_run(sql, NULL, err, "UPDATE leases SET open = open - ?2 WHERE token = ?1", "ii",
                   (int64_t)token, count);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "DELETE FROM leases WHERE token = ?1 AND open = 0", "i",
                      (int64_t)token);
}

/* The job's tasks are ready again; a job that was being planned waits for it again. */
static ft_status give_back(ft_sql *sql, const char *job, int64_t count, ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err, "UPDATE jobs SET ready = ready + ?2 WHERE id = ?1", "ti", job, count);
    return status == FT_OK ? ft_store_job_requeue(sql, job, err) : status;
}

/* The node that had the lease is gone, or cut off. */
static ft_status drop(ft_sql *sql, uint64_t token, ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "INSERT INTO deaths (job, task, attempt, at, death, message, log) SELECT j.id, t.id, "
        "attempts, ?2, 'server-died', 'the server ended while a worker had it', '' FROM leases l "
        "JOIN tasks t ON t.id BETWEEN l.low AND l.high AND t.token = l.token "
        "JOIN jobs j ON j.n = t.job WHERE l.token = ?1",
        "ii", (int64_t)token, ft_sql_now(sql));
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE jobs SET dropped = dropped + (SELECT open FROM leases WHERE "
                            "token = ?1) WHERE n = (SELECT job FROM leases WHERE token = ?1)",
                            "i", (int64_t)token);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE tasks SET dropped = 1 WHERE token = ?1 AND id BETWEEN "
                      "(SELECT low FROM leases WHERE token = ?1) AND "
                      "(SELECT high FROM leases WHERE token = ?1)",
                      "i", (int64_t)token);
}

static ft_status release(ft_sql *sql, uint64_t token, int64_t low, json_t *jobs, ft_error *err)
{
    char job[FT_STORE_JOB_ID + 1];
    int64_t returned = 0;
    ft_status status = sql->driver->shared ? drop(sql, token, err) : FT_OK;
    if (status == FT_OK) status = ft_store_lease_end(sql, token, false, &returned, err);
    if (status == FT_OK) status = ft_store_task_job(sql, low, job, err);
    if (status != FT_OK) return status;
    json_array_append_new(jobs, json_string(job));
    status = give_back(sql, job, returned, err);
    return status == FT_OK ? ft_store_tell(sql, job, err) : status;
}

ft_status ft_store_release_expired(ft_sql *sql, json_t **jobs, ft_error *err)
{
    ft_statement *statement;
    bool row = true;
    int64_t now = ft_sql_now(sql);
    ft_status status = FT_OK;
    *jobs = json_array();
    while (row && status == FT_OK) {
        status =
            ft_sql_start(sql, &statement, err,
                         FT_DIALECTS("SELECT token, low FROM leases WHERE expires < ?1 LIMIT 1",
                                     "SELECT token, low FROM leases JOIN jobs ON n = job "
                                     "WHERE expires < ?1 LIMIT 1 FOR UPDATE SKIP LOCKED"),
                         "i", now);
        if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
        if (status != FT_OK || !row) continue;
        int64_t token = ft_sql_int(statement, 0), low = ft_sql_int(statement, 1);
        status = ft_sql_next(sql, statement, &row, err);
        row = true;
        if (status == FT_OK) status = release(sql, (uint64_t)token, low, *jobs, err);
    }
    return status;
}

ft_status ft_store_leases_return(ft_sql *sql, ft_error *err)
{
    bool row = true;
    ft_status status = FT_OK;
    json_t *jobs = json_array();
    while (row && status == FT_OK) {
        ft_statement *statement;
        status = ft_sql_start(sql, &statement, err,
                              "SELECT token, low FROM leases WHERE token BETWEEN ?1 AND ?2 LIMIT 1",
                              "ii", sql->epoch << 32, (sql->epoch << 32) + UINT32_MAX);
        if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
        if (status != FT_OK || !row) continue;
        int64_t token = ft_sql_int(statement, 0), low = ft_sql_int(statement, 1);
        status = release(sql, (uint64_t)token, low, jobs, err);
    }
    json_decref(jobs);
    return status;
}

/* ---- Leasing --------------------------------------------------------------------------------- */

/* The tasks of one job that a lease takes. */
typedef struct taking {
    ft_job_row job;
    int64_t ids[FT_STORE_LEASE_MOST]; /* ascending */
    size_t count;
    size_t fresh;    /* of these, the last ones: never leased before */
    int64_t dropped; /* of these, those that their server's death gave back */
    int64_t token;
} taking;

static void put_span(ft_strbuf *text, const char *name, ft_span value)
{
    ft_strbuf_puts(text, name);
    ft_strbuf_add(text, value.at, value.length);
}

static ft_status add_subtree(ft_sql *sql, int64_t id, ft_strbuf *text, ft_error *err)
{
    ft_strbuf_printf(text, "%s{\"task\":%lld,\"subtree\":", text->len > 1 ? "," : "",
                     (long long)id);
    ft_status status = ft_subtrees_name(sql, id, text, err);
    ft_strbuf_puts(text, "}");
    return status;
}

static ft_status add_task(ft_sql *sql, ft_entries *entries, int64_t id, ft_strbuf *text,
                          ft_error *err)
{
    static const ft_span NOTHING = {"null", 4};
    ft_entry entry = {NOTHING, NOTHING, NOTHING};
    int64_t number = FT_TASK_NUMBER(id);
    ft_status status = FT_OK;
    ft_strbuf cube = {0};
    int64_t subproblem = id;
    if (ft_task_is_subtree(id)) return add_subtree(sql, id, text, err);
    if (number > 0) status = ft_entries_find(sql, entries, id, &entry, err);
    if (status != FT_OK) return status;
    if (ft_task_is_cube(id)) status = ft_cubes_parent(sql, id, &subproblem, &cube, err);
    ft_strbuf_printf(text, "%s{\"task\":%lld,\"subproblem\":%lld", text->len > 1 ? "," : "",
                     (long long)id, (long long)FT_TASK_NUMBER(subproblem) - 1);
    put_span(text, ",\"key\":", entry.key);
    put_span(text, ",\"check\":", entry.check);
    if (cube.len > 0) ft_strbuf_printf(text, ",\"cube\":%s", cube.text);
    ft_strbuf_puts(text, "}");
    ft_strbuf_release(&cube);
    return status;
}

/* As text: a request to a worker is made of it, nothing else. */
static ft_status add_tasks(ft_sql *sql, const taking *t, json_t *result, ft_error *err)
{
    ft_strbuf text = {0};
    ft_entries entries = {.first = 0};
    ft_status status = FT_OK;
    ft_strbuf_puts(&text, "[");
    for (size_t i = 0; i < t->count && status == FT_OK; i++)
        status = add_task(sql, &entries, t->ids[i], &text, err);
    ft_strbuf_puts(&text, "]");
    json_object_set_new(result, "tasks", json_stringn_nocheck(text.text, text.len));
    ft_strbuf_release(&text);
    ft_entries_release(&entries);
    if (status == FT_OK && t->count && FT_TASK_NUMBER(t->ids[0]) > 0)
        status = ft_schedule_sets_give(sql, t->job.n, result, err);
    if (status != FT_OK || !t->count || !ft_task_is_subtree(t->ids[0])) return status;
    char *state = NULL;
    status = ft_subtrees_state(sql, t->job.n, &state, err);
    if (state) json_object_set_new(result, "explored", json_string_nocheck(state));
    free(state);
    return status;
}

/* The furthest that a retry is ever put off: what is due later was put off under another clock. */
#define DUE_MOST ((int64_t)FT_STORE_RETRY_MOST)

#define RETURNED                                                                                   \
    "WHERE state = 'ready' AND alone = ?1 AND id BETWEEN ?2 AND ?3 AND (due <= ?4 OR due > ?5) "   \
    "ORDER BY id LIMIT ?6"

/* Those that somebody had before: in batches, or what was in a batch that died, each alone. */
static ft_status take_returned(ft_sql *sql, taking *t, bool alone, size_t most, ft_error *err)
{
    ft_statement *statement;
    bool row;
    int64_t now = ft_sql_now(sql);
    ft_status status = ft_sql_start(
        sql, &statement, err,
        FT_DIALECTS("SELECT id, dropped FROM tasks INDEXED BY tasks_ready " RETURNED,
                    "SELECT id, dropped FROM tasks " RETURNED " FOR UPDATE SKIP LOCKED"),
        "iiiiii", (int64_t)alone, FT_TASK_ID(t->job.n, 0), FT_TASK_ID(t->job.n, FT_TASK_MOST), now,
        now + DUE_MOST, (int64_t)most);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        t->ids[t->count++] = ft_sql_int(statement, 0);
        t->dropped += ft_sql_int(statement, 1);
    }
    return status;
}

static bool is_plan(const taking *t)
{
    return t->count > 0 && FT_TASK_NUMBER(t->ids[0]) == 0;
}

static ft_task_kind kind_of(const taking *t)
{
    if (is_plan(t)) return FT_KIND_PLAN;
    return ft_task_is_subtree(t->ids[0]) ? FT_KIND_EXPLORE : FT_KIND_SOLVE;
}

static ft_status choose(ft_sql *sql, uint32_t limit, taking *t, ft_error *err)
{
    size_t most = limit < FT_STORE_LEASE_MOST ? limit : FT_STORE_LEASE_MOST;
    ft_status status = take_returned(sql, t, false, most, err);
    if (status != FT_OK || is_plan(t)) return status;
    int64_t next = t->job.state == FT_JOB_SOLVING ? t->job.next : t->job.last + 1;
    for (; t->count < most && next <= t->job.last; next++, t->fresh++)
        t->ids[t->count++] = FT_TASK_ID(t->job.n, next);
    return t->count == 0 && most > 0 ? take_returned(sql, t, true, 1, err) : FT_OK;
}

static ft_status take_one(ft_sql *sql, const taking *t, size_t index, ft_error *err)
{
    assert(index < t->count && FT_TASK_JOB(t->ids[index]) == t->job.n);
    int64_t id = t->ids[index];
    if (index + t->fresh >= t->count)
        return ft_sql_run(sql, NULL, err,
                          "INSERT INTO tasks (id, state, token) VALUES (?1, 'leased', ?2)", "ii",
                          id, t->token);
    return ft_sql_run(sql, NULL, err,
                      "UPDATE tasks SET state = 'leased', token = ?2, dropped = 0 WHERE id = ?1",
                      "ii", id, t->token);
}

static ft_status add_lease(ft_sql *sql, const taking *t, uint32_t lease_ms, ft_error *err)
{
    assert(t->count > 0 && t->token > 0);
    int64_t low = t->ids[0], high = low;
    for (size_t i = 1; i < t->count; i++) {
        if (t->ids[i] < low) low = t->ids[i];
        if (t->ids[i] > high) high = t->ids[i];
    }
    return ft_sql_run(sql, NULL, err,
                      "INSERT INTO leases (token, job, low, high, open, expires) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                      "iiiiii", t->token, t->job.n, low, high, (int64_t)t->count,
                      ft_sql_now(sql) + lease_ms);
}

static void describe_lease(json_t *result, int64_t token, ft_task_kind kind)
{
    json_object_set_new(result, "token", json_integer(token));
    json_object_set_new(result, "kind", json_string(ft_task_kind_name(kind)));
}

static ft_status lease_chosen(ft_sql *sql, ft_request *request, taking *t, ft_error *err)
{
    assert(ft_task_state_may(FT_TASK_READY, FT_TASK_LEASED));
    assert(t->count > 0 && t->count <= FT_STORE_LEASE_MOST && t->fresh <= t->count);
    ft_status status = FT_OK;
    t->token = ++sql->token;
    for (size_t i = 0; i < t->count && status == FT_OK; i++) status = take_one(sql, t, i, err);
    if (status == FT_OK) status = add_lease(sql, t, request->lease_ms, err);
    if (status == FT_OK && is_plan(t))
        status = ft_store_job_move(sql, request->job, FT_JOB_PLANNING, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE jobs SET ready = ready - ?2, dropped = dropped - ?3, "
                            "next = next + ?4 WHERE n = ?1",
                            "iiii", t->job.n, (int64_t)t->count, t->dropped, (int64_t)t->fresh);
    if (status == FT_OK) describe_lease(request->result, t->token, kind_of(t));
    return status;
}

/* Until the first of the tasks that were put off is due; absent without one. */
static ft_status add_wait(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t due = 0, now = ft_sql_now(sql);
    ft_status status = ft_sql_number(
        sql, &due, NULL, err,
        "SELECT coalesce(min(due), 0) FROM tasks WHERE id " FT_JOB_TASKS " AND state = 'ready' "
        "AND alone < 2",
        "t", (const char *)request->job);
    if (status == FT_OK && due > now)
        json_object_set_new(request->result, "wait_ms", json_integer(due - now));
    return status;
}

/* *full: the project has as many workers as it may, whatever nodes they are on. */
static ft_status check_workers(ft_sql *sql, const ft_request *request, bool *full, ft_error *err)
{
    int64_t busy = 0;
    *full = false;
    if (!sql->driver->shared || request->seq == 0) return FT_OK;
    ft_status status = ft_sql_number(sql, &busy, NULL, err,
                                     "SELECT count(*) FROM leases l JOIN jobs j ON j.n = l.job "
                                     "WHERE j.project = (SELECT project FROM jobs WHERE id = ?1)",
                                     "t", (const char *)request->job);
    *full = busy >= (int64_t)request->seq;
    return status;
}

static ft_status lock_workers(ft_sql *sql, const ft_request *request, ft_error *err)
{
    if (!sql->driver->shared || request->seq == 0) return FT_OK;
    return ft_sql_run(sql, NULL, err,
                      FT_DIALECTS("SELECT ?1",
                                  "SELECT pg_advisory_xact_lock(hashtextextended("
                                  "'workers ' || project, 0)) FROM jobs WHERE id = ?1"),
                      "t", (const char *)request->job);
}

#define FULL_MS 200 /* until somebody asks again for a worker of a project that has all */

static ft_status run_lease(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool full = false;
    json_t *change, *expired;
    taking t = {.count = 0};
    request->result = json_pack("{s:n, s:n}", "token", "kind");
    ft_status status = ft_store_release_expired(sql, &expired, err);
    json_decref(expired);
    if (status == FT_OK) status = ft_store_job_row(sql, request->job, &t.job, err);
    if (status == FT_OK) status = lock_workers(sql, request, err);
    if (status == FT_OK) status = check_workers(sql, request, &full, err);
    if (status == FT_OK && !full) status = choose(sql, request->limit, &t, err);
    if (status == FT_OK) status = add_tasks(sql, &t, request->result, err);
    if (status == FT_OK && t.count > 0) status = lease_chosen(sql, request, &t, err);
    if (status == FT_OK && t.count == 0) status = add_wait(sql, request, err);
    if (full) json_object_set_new(request->result, "wait_ms", json_integer(FULL_MS));
    if (status == FT_OK)
        status = ft_store_read_change(sql, request->job, t.count > 0, &change, err);
    if (status == FT_OK) json_object_set_new(request->result, "change", change);
    return status;
}

void ft_store_lease(ft_store *store, const char *job, ft_store_leasing leasing, ft_store_done done,
                    void *data)
{
    ft_request *request = ft_store_request(run_lease, true, done, data);
    request->job = ft_strdup(job);
    request->limit = leasing.most;
    request->lease_ms = leasing.lease_ms;
    request->seq = leasing.workers;
    ft_store_send(store, request);
}

/* ---- Stealing -------------------------------------------------------------------------------- */

/* One task, if the old lease still holds it: from then on a result under the old one is fenced. */
static ft_status move_task(ft_sql *sql, int64_t task, uint64_t old, taking *t, ft_error *err)
{
    int64_t changed = 0;
    ft_status status =
        ft_sql_run(sql, &changed, err, "UPDATE tasks SET token = ?3 WHERE id = ?1 AND token = ?2",
                   "iii", task, (int64_t)old, t->token);
    assert(t->count < FT_STORE_LEASE_MOST && changed <= 1);
    if (changed > 0) t->ids[t->count++] = task;
    return status;
}

static ft_status move_lease(ft_sql *sql, ft_request *request, taking *t, ft_error *err)
{
    ft_status status = add_lease(sql, t, request->lease_ms, err);
    if (status == FT_OK) status = shrink(sql, request->token, (int64_t)t->count, err);
    if (status == FT_OK) describe_lease(request->result, t->token, FT_KIND_SOLVE);
    return status;
}

static ft_status run_steal(ft_sql *sql, ft_request *request, ft_error *err)
{
    size_t i;
    taking t = {.count = 0};
    json_t *id, *change;
    request->result = json_pack("{s:n, s:n}", "token", "kind");
    ft_status status = ft_store_job_row(sql, request->job, &t.job, err);
    t.token = ++sql->token;
    json_array_foreach(request->json, i, id)
    {
        if (status != FT_OK || t.count == FT_STORE_LEASE_MOST) break;
        status = move_task(sql, json_integer_value(id), request->token, &t, err);
    }
    if (status == FT_OK) status = add_tasks(sql, &t, request->result, err);
    if (status == FT_OK && t.count > 0) status = move_lease(sql, request, &t, err);
    if (status == FT_OK) status = ft_store_read_change(sql, request->job, true, &change, err);
    if (status == FT_OK) json_object_set_new(request->result, "change", change);
    return status;
}

void ft_store_steal(ft_store *store, const char *job, uint64_t token, const json_t *tasks,
                    uint32_t lease_ms, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_steal, true, done, data);
    request->job = ft_strdup(job);
    request->token = token;
    request->json = json_deep_copy(tasks);
    request->lease_ms = lease_ms;
    ft_store_send(store, request);
}

/* ---- Renewing -------------------------------------------------------------------------------- */

static ft_status add_spent(ft_sql *sql, const json_t *spent, ft_error *err)
{
    ft_status status = FT_OK;
    const char *job;
    json_t *ms;
    json_object_foreach((json_t *)(uintptr_t)spent, job, ms)
    {
        if (status == FT_OK)
            status = ft_sql_run(sql, NULL, err,
                                "UPDATE jobs SET spent_ms = CASE WHEN spent_ms > ?2 THEN spent_ms "
                                "ELSE ?2 END WHERE id = ?1",
                                "ti", job, (int64_t)json_integer_value(ms));
    }
    return status;
}

static ft_status add_usage(ft_sql *sql, const json_t *usage, ft_error *err)
{
    ft_status status = FT_OK;
    const char *project;
    json_t *ms;
    json_object_foreach((json_t *)(uintptr_t)usage, project, ms)
    {
        if (status == FT_OK)
            status = ft_sql_run(
                sql, NULL, err,
                "INSERT INTO project_usage VALUES (?1, ?2, ?3) "
                "ON CONFLICT (project, day) DO UPDATE SET ms = project_usage.ms + ?3",
                "tii", project, ft_sql_now(sql) / FT_STORE_DAY_MS, (int64_t)json_integer_value(ms));
    }
    return status;
}

static ft_status run_extend(ft_sql *sql, ft_request *request, ft_error *err)
{
    char *tokens = ft_store_dump(json_object_get(request->json, "tokens"));
    json_t *expired = NULL;
    ft_status status = ft_sql_run(
        sql, NULL, err,
        FT_DIALECTS(
            "UPDATE leases SET expires = ?2 WHERE token IN (SELECT value FROM json_each(?1))",
            "UPDATE leases SET expires = ?2 WHERE token IN "
            "(SELECT value::bigint FROM json_array_elements_text(?1::json) AS value)"),
        "ti", (const char *)tokens, ft_sql_now(sql) + (int64_t)request->lease_ms);
    free(tokens);
    if (status == FT_OK) status = add_spent(sql, json_object_get(request->json, "spent"), err);
    if (status == FT_OK) status = add_usage(sql, json_object_get(request->json, "usage"), err);
    if (status == FT_OK) status = ft_store_release_expired(sql, &expired, err);
    request->result = json_pack("{s:o*}", "released", expired);
    return status;
}

void ft_store_extend(ft_store *store, json_t *beat, uint32_t lease_ms, ft_store_done done,
                     void *data)
{
    ft_request *request = ft_store_request(run_extend, true, done, data);
    request->json = beat;
    request->lease_ms = lease_ms;
    ft_store_send(store, request);
}

/* ---- Results --------------------------------------------------------------------------------- */

ft_status ft_store_task_job(ft_sql *sql, int64_t task, char job[FT_STORE_JOB_ID + 1], ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err, "SELECT id FROM jobs WHERE n = ?1", "i",
                                    FT_TASK_JOB(task));
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) return ft_error_set(err, FT_NOT_FOUND, "no task %lld", (long long)task);
    snprintf(job, FT_STORE_JOB_ID + 1, "%s", ft_sql_text(statement, 0));
    return FT_OK;
}

ft_status ft_store_task_entry(ft_sql *sql, ft_entries *entries, int64_t task, json_t **entry,
                              ft_error *err)
{
    ft_entry its;
    ft_status status = ft_entries_find(sql, entries, task, &its, err);
    if (status == FT_OK) *entry = json_loadb(its.text.at, its.text.length, 0, NULL);
    return status;
}

static ft_status end_task(ft_sql *sql, int64_t task, uint64_t token, ft_task_state to,
                          bool *applied, ft_error *err)
{
    int64_t changed;
    assert(ft_task_state_may(FT_TASK_LEASED, to) && ft_task_state_final(to));
    ft_status status =
        to == FT_TASK_DONE
            ? ft_sql_run(sql, &changed, err, "DELETE FROM tasks WHERE id = ?1 AND token = ?2", "ii",
                         task, (int64_t)token)
            : ft_sql_run(sql, &changed, err,
                         "UPDATE tasks SET state = ?3, token = NULL WHERE id = ?1 AND token = ?2",
                         "iit", task, (int64_t)token, ft_task_state_name(to));
    assert(status != FT_OK || changed <= 1); /* a task has one row */
    *applied = status == FT_OK && changed == 1;
    return status;
}

ft_status ft_store_task_end(ft_sql *sql, int64_t task, uint64_t token, ft_task_state to,
                            bool *applied, ft_error *err)
{
    ft_status status = end_task(sql, task, token, to, applied, err);
    return status == FT_OK && *applied ? shrink(sql, token, 1, err) : status;
}

ft_status ft_store_task_count_down(ft_sql *sql, const char *job, int64_t count, ft_error *err)
{
    ft_job_row row;
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "UPDATE jobs SET open = open - ?3, updated = ?2, revision = revision + 1 "
                   "WHERE id = ?1",
                   "tii", job, ft_sql_now(sql), count);
    if (status == FT_OK) status = ft_store_job_row(sql, job, &row, err);
    if (status == FT_OK && row.open == 0) status = ft_store_job_move(sql, job, FT_JOB_DONE, err);
    return status;
}

/* The fence: *applied is set if the lease holds the task; then the record must be the task's. */
static ft_status take_result(ft_sql *sql, const ft_request *request, size_t index,
                             ft_entries *entries, bool *applied, ft_error *err)
{
    int64_t task = request->results.items[index].task;
    ft_entry entry = {.text = {NULL, 0}};
    const ft_record record = ft_results_record(&request->results, index);
    ft_status status = end_task(sql, task, request->token, FT_TASK_DONE, applied, err);
    if (status != FT_OK || !*applied) return status;
    if (FT_TASK_NUMBER(task) > 0) status = ft_entries_find(sql, entries, task, &entry, err);
    return status == FT_OK ? ft_record_check_entry(&record, entry.check, entry.key, err) : status;
}

/* Moves the results that came in time to the front of the request's. */
static ft_status take_results(ft_sql *sql, ft_request *request, int64_t job, size_t *count,
                              json_t *late, ft_error *err)
{
    ft_result *items = request->results.items;
    ft_entries entries = {.first = 0};
    ft_status status = FT_OK;
    *count = 0;
    for (size_t i = 0; i < request->results.count && status == FT_OK; i++) {
        bool applied = false, its = FT_TASK_JOB(items[i].task) == job;
        if (its) status = take_result(sql, request, i, &entries, &applied, err);
        if (!applied) {
            json_array_append_new(late, json_integer(items[i].task));
            continue;
        }
        const ft_result taken = items[i]; /* all of them stay: this may be tried again */
        items[i] = items[*count];
        items[(*count)++] = taken;
    }
    assert(*count <= request->results.count);
    ft_entries_release(&entries);
    return status;
}

/* ---- Results with cubes ---------------------------------------------------------------------- */

/* The outcome of a request's results if some are of cubes or split their tasks. */
typedef struct outcome {
    ft_results decided; /* verdicts */
    size_t taken;       /* of the lease's tasks */
    ft_cube_counts counts;
} outcome;

static ft_span text_of(const ft_results *results, size_t index)
{
    const ft_result *result = &results->items[index];
    return (ft_span){results->bytes.text + result->at, result->length};
}

/* The cubes into which a worker split a task; none of one that is a cube itself. */
static ft_span cubes_of(const ft_results *results, size_t index)
{
    const ft_result *result = &results->items[index];
    bool may = result->record.verdict == FT_VERDICT_UNKNOWN && !ft_task_is_cube(result->task);
    return may ? ft_cubes_of(text_of(results, index)) : (ft_span){NULL, 0};
}

static bool have_cubes(const ft_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        if (ft_task_is_cube(results->items[i].task) || cubes_of(results, i).at) return true;
    return false;
}

static ft_status take_decided(const ft_results *results, size_t index, ft_results *decided,
                              ft_error *err)
{
    const ft_result *result = &results->items[index];
    const ft_record record = ft_results_record(results, index);
    return ft_results_take(decided, result->task, &record, text_of(results, index),
                           results->bytes.text + result->witness_at, result->witness_length, err);
}

static ft_status take_one_result(ft_sql *sql, const ft_request *request, size_t index,
                                 ft_entries *entries, outcome *o, bool *applied, ft_error *err)
{
    const ft_results *results = &request->results;
    int64_t task = results->items[index].task;
    ft_span cubes = cubes_of(results, index);
    if (cubes.at) return ft_cubes_split(sql, task, request->token, cubes, applied, &o->counts, err);
    ft_status status = take_result(sql, request, index, entries, applied, err);
    if (status != FT_OK || !*applied) return status;
    if (!ft_task_is_cube(task)) return take_decided(results, index, &o->decided, err);
    return ft_cubes_take(sql, results, index, &o->decided, &o->counts, err);
}

static ft_status take_with_cubes(ft_sql *sql, const ft_request *request, int64_t job, outcome *o,
                                 json_t *late, ft_error *err)
{
    ft_entries entries = {.first = 0};
    ft_status status = FT_OK;
    for (size_t i = 0; i < request->results.count && status == FT_OK; i++) {
        int64_t task = request->results.items[i].task;
        bool applied = false;
        if (FT_TASK_JOB(task) == job)
            status = take_one_result(sql, request, i, &entries, o, &applied, err);
        o->taken += applied;
        if (!applied) json_array_append_new(late, json_integer(task));
    }
    ft_entries_release(&entries);
    return status;
}

static ft_status store_outcome(ft_sql *sql, const ft_request *request, const outcome *o,
                               ft_error *err)
{
    size_t count = o->decided.count;
    ft_status status = FT_OK;
    if (o->taken > 0) status = shrink(sql, request->token, (int64_t)o->taken, err);
    if (status == FT_OK) status = ft_cubes_count(sql, request->job, &o->counts, err);
    if (status == FT_OK && count > 0)
        status = ft_store_verdicts_add(sql, request->job, &o->decided, count, err);
    if (status == FT_OK && o->taken > 0)
        status = ft_store_task_count_down(sql, request->job, (int64_t)count, err);
    return status;
}

/* The change says which leases are over, for the nodes that have them. */
static ft_status tell_outcome(ft_sql *sql, ft_request *request, const outcome *o, ft_error *err)
{
    ft_status status = ft_store_read_change(sql, request->job, o->taken > 0, &request->result, err);
    if (status != FT_OK) return status;
    if (json_array_size(o->counts.gone)) json_object_set(request->result, "gone", o->counts.gone);
    return o->taken > 0 ? ft_node_tell(sql, request->result, err) : FT_OK;
}

static ft_status run_with_cubes(ft_sql *sql, ft_request *request, int64_t job, json_t *late,
                                ft_error *err)
{
    outcome o = {.counts = {.gone = json_array()}};
    ft_status status = take_with_cubes(sql, request, job, &o, late, err);
    if (status == FT_OK) status = store_outcome(sql, request, &o, err);
    if (status == FT_OK) status = tell_outcome(sql, request, &o, err);
    json_decref(o.counts.gone);
    ft_results_release(&o.decided);
    return status;
}

static ft_status run_plainly(ft_sql *sql, ft_request *request, int64_t job, json_t *late,
                             ft_error *err)
{
    size_t count = 0;
    ft_status status = take_results(sql, request, job, &count, late, err);
    if (status == FT_OK && count > 0) status = shrink(sql, request->token, (int64_t)count, err);
    if (status == FT_OK && count > 0)
        status = ft_store_verdicts_add(sql, request->job, &request->results, count, err);
    if (status == FT_OK && count > 0)
        status = ft_store_task_count_down(sql, request->job, (int64_t)count, err);
    return status == FT_OK ? ft_store_change(sql, request->job, count > 0, &request->result, err)
                           : status;
}

static ft_status run_results(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_job_row job;
    json_t *late = json_array();
    ft_status status = ft_store_job_row(sql, request->job, &job, err);
    if (status == FT_OK)
        status = have_cubes(&request->results) ? run_with_cubes(sql, request, job.n, late, err)
                                               : run_plainly(sql, request, job.n, late, err);
    if (status == FT_OK) json_object_set(request->result, "late", late);
    json_decref(late);
    return status;
}

void ft_store_results_commit(ft_store *store, const char *job, uint64_t token, ft_results *results,
                             ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_results, true, done, data);
    request->job = ft_strdup(job);
    request->token = token;
    request->results = *results;
    *results = (ft_results){.items = NULL};
    ft_store_send(store, request);
}
