/* Retention: old jobs and traces make room. Little at a time, so that nobody waits behind it. */
#include <stdlib.h>

#include "base/memory.h"
#include "store/internal.h"

#define AT_ONCE    10 /* jobs, and traces */
#define LIMIT_TEXT "LIMIT 10"
#define YOUNG_MS   ((int64_t)3600000) /* a trace that a job may be about to name */

typedef struct removed {
    int64_t jobs, traces, bytes;
} removed;

/* The verdicts refer to the tasks, both to the job. */
static ft_status remove_job(ft_sql *sql, const char *job, removed *r, ft_error *err)
{
    ft_status status = ft_sql_run(sql, NULL, err, "DELETE FROM verdicts WHERE job = ?1", "t", job);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM tasks WHERE job = ?1", "t", job);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "DELETE FROM jobs WHERE id = ?1 AND finished IS NOT NULL", "t", job);
    if (status == FT_OK) r->jobs++;
    return status;
}

/* Names chosen by a statement of one column of texts; a new reference. */
static ft_status choose(ft_sql *sql, json_t **names, ft_error *err, const char *text,
                        int64_t number, const char *name)
{
    sqlite3_stmt *statement;
    bool row;
    *names = json_array();
    ft_status status = ft_sql_start(sql, &statement, err, text, "it", number, name);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(*names, json_string(ft_sql_text(statement, 0)));
    return status;
}

static ft_status remove_trace(ft_sql *sql, const char *trace, removed *r, ft_error *err)
{
    int64_t blob, bytes;
    ft_status status =
        ft_sql_number(sql, &blob, NULL, err, "SELECT blob FROM traces WHERE hash = ?1", "t", trace);
    if (status == FT_OK)
        status = ft_sql_number(sql, &bytes, NULL, err,
                               "SELECT stored_bytes FROM traces WHERE hash = ?1", "t", trace);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM traces WHERE hash = ?1", "t", trace);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM blobs WHERE id = ?1", "i", blob);
    if (status != FT_OK) return status;
    r->traces++;
    r->bytes += bytes;
    return FT_OK;
}

static ft_status remove_all(ft_sql *sql, json_t *names, bool traces, removed *r, ft_error *err)
{
    size_t i;
    json_t *name;
    ft_status status = FT_OK;
    json_array_foreach(names, i, name)
    {
        const char *text = json_string_value(name);
        if (status == FT_OK)
            status = traces ? remove_trace(sql, text, r, err) : remove_job(sql, text, r, err);
    }
    json_decref(names);
    return status;
}

static ft_status remove_old(ft_sql *sql, int64_t before, removed *r, ft_error *err)
{
    json_t *names;
    ft_status status = choose(sql, &names, err,
                              "SELECT id FROM jobs WHERE finished < ?1 AND ?2 IS NULL "
                              "ORDER BY n " LIMIT_TEXT,
                              before, NULL);
    if (status == FT_OK) status = remove_all(sql, names, false, r, err);
    if (status != FT_OK) return status;
    status = choose(sql, &names, err,
                    "SELECT hash FROM traces WHERE created < ?1 AND ?2 IS NULL AND NOT EXISTS "
                    "(SELECT 1 FROM jobs WHERE trace = hash) ORDER BY created " LIMIT_TEXT,
                    before, NULL);
    return status == FT_OK ? remove_all(sql, names, true, r, err) : status;
}

/* The trace whose last use is the oldest, with its jobs; never one that a running job needs. */
static ft_status remove_largest_claim(ft_sql *sql, removed *r, ft_error *err)
{
    json_t *traces, *jobs;
    ft_status status = choose(
        sql, &traces, err,
        "SELECT hash FROM traces t WHERE created < ?1 AND ?2 IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM jobs WHERE trace = t.hash AND finished IS NULL) "
        "ORDER BY max(created, ifnull((SELECT max(finished) FROM jobs WHERE trace = t.hash), 0)) "
        "LIMIT 1",
        ft_store_now() - YOUNG_MS, NULL);
    const char *trace = json_string_value(json_array_get(traces, 0));
    if (status != FT_OK || !trace) {
        json_decref(traces);
        return status;
    }
    status = choose(sql, &jobs, err, "SELECT id FROM jobs WHERE trace = ?2 AND ?1 = 0", 0, trace);
    if (status == FT_OK) status = remove_all(sql, jobs, false, r, err);
    if (status == FT_OK) return remove_all(sql, traces, true, r, err);
    json_decref(traces);
    return status;
}

static ft_status run_retain(ft_sql *sql, ft_request *request, ft_error *err)
{
    removed r = {0};
    int64_t stored = 0, most = request->blob;
    ft_status status = FT_OK;
    if (request->task > 0) status = remove_old(sql, ft_store_now() - request->task, &r, err);
    bool more = r.jobs == AT_ONCE || r.traces == AT_ONCE;
    if (status == FT_OK && most > 0)
        status = ft_sql_number(sql, &stored, NULL, err,
                               "SELECT ifnull(sum(stored_bytes), 0) FROM traces", "");
    int64_t before = r.traces;
    if (status == FT_OK && most > 0 && stored > most) status = remove_largest_claim(sql, &r, err);
    more = more || r.traces > before;
    if (status == FT_OK)
        request->result =
            json_pack("{s:I, s:I, s:I, s:b}", "jobs", (json_int_t)r.jobs, "traces",
                      (json_int_t)r.traces, "bytes", (json_int_t)r.bytes, "more", more);
    return status;
}

void ft_store_retain(ft_store *store, uint64_t age_ms, uint64_t bytes, ft_store_done done,
                     void *data)
{
    ft_request *request = ft_store_request(run_retain, true, done, data);
    request->task = (int64_t)age_ms;
    request->blob = (int64_t)bytes;
    ft_store_send(store, request);
}
