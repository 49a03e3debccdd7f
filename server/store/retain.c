/* Retention: old jobs and traces make room. Little at a time, so that nobody waits behind it. */
#include <stdlib.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/subtrees.h"

#define AT_ONCE    10 /* jobs, and traces */
#define LIMIT_TEXT "LIMIT 10"
#define YOUNG_MS   ((int64_t)3600000) /* a trace that a job may be about to name */
#define USAGE_DAYS 30
#define ROWS       2000 /* of jobs, at once */

typedef struct removed {
    int64_t jobs, traces, bytes;
    int64_t room; /* rows of jobs that may still be removed; 0: the rest comes next time */
} removed;

static ft_status remove_entries(ft_sql *sql, const char *job, removed *r, ft_error *err)
{
    int64_t gone = 0;
    ft_status status = ft_sql_run(sql, &gone, err,
                                  "DELETE FROM entries WHERE id IN (SELECT id FROM entries "
                                  "WHERE id " FT_JOB_TASKS " LIMIT ?2)",
                                  "ti", job, r->room);
    r->room -= gone;
    return status;
}

/* The last of its verdicts; what is left is sound by itself, of a job that did not get to its end.
 */
static ft_status cut_verdicts(ft_sql *sql, const char *job, const ft_job_row *row, int64_t left,
                              ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "UPDATE tallies SET count = tallies.count - s.count, records = tallies.records - s.records "
        "FROM (SELECT \"check\" AS c, verdict AS v, sum(count) AS count, count(*) AS records "
        "FROM verdicts WHERE job = ?2 AND n > ?3 GROUP BY 1, 2) AS s "
        "WHERE job = ?1 AND \"check\" = s.c AND verdict = s.v",
        "tii", job, row->n, left);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM tallies WHERE job = ?1 AND records = 0",
                            "t", job);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM verdicts WHERE job = ?1 AND n > ?2", "ii",
                            row->n, left);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE jobs SET verdicts = ?2, state = 'cancelled', revision = revision + 1 "
                      "WHERE n = ?1",
                      "ii", row->n, left);
}

/* *all says whether none are left, which the room does not: it may have been just enough. */
static ft_status remove_verdicts(ft_sql *sql, const char *job, removed *r, bool *all, ft_error *err)
{
    ft_job_row row;
    ft_status status = ft_store_job_row(sql, job, &row, err);
    if (status != FT_OK) return status;
    int64_t left = row.verdicts > r->room ? row.verdicts - r->room : 0;
    r->room -= row.verdicts - left;
    *all = left == 0;
    if (left > 0) return cut_verdicts(sql, job, &row, left, err);
    return ft_sql_run(sql, NULL, err, "DELETE FROM verdicts WHERE job = ?1", "i", row.n);
}

/* As far as there is room. The verdicts refer to the job. */
static ft_status remove_job(ft_sql *sql, const char *job, removed *r, ft_error *err)
{
    bool all = false;
    if (r->room == 0) return FT_OK;
    ft_status status =
        ft_sql_run(sql, NULL, err, "DELETE FROM tasks WHERE id " FT_JOB_TASKS, "t", job);
    if (status == FT_OK) status = ft_cubes_drop(sql, job, err);
    if (status == FT_OK) status = ft_subtrees_forget(sql, job, err);
    if (status == FT_OK) status = remove_entries(sql, job, r, err);
    if (status == FT_OK && r->room > 0) status = remove_verdicts(sql, job, r, &all, err);
    if (status != FT_OK || !all) return status;
    status = ft_sql_run(sql, NULL, err, "DELETE FROM jobs WHERE id = ?1 AND finished IS NOT NULL",
                        "t", job);
    if (status == FT_OK) r->jobs++;
    return status;
}

/* The texts of a statement of one column; a new reference, NULL on failure. */
static ft_status collect(ft_sql *sql, ft_statement *statement, json_t **names, ft_error *err)
{
    bool row;
    ft_status status;
    json_t *found = json_array();
    while ((status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(found, json_string(ft_sql_text(statement, 0)));
    if (status != FT_OK) {
        json_decref(found);
        found = NULL;
    }
    *names = found;
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

/* A project without a limit of its own has the server's. */
static ft_status remove_old_jobs(ft_sql *sql, int64_t now, int64_t age, removed *r, ft_error *err)
{
    json_t *jobs;
    ft_statement *chosen;
    ft_status status = ft_sql_start(
        sql, &chosen, err,
        "SELECT id FROM jobs LEFT JOIN project_limits USING (project) WHERE finished < ?1 - CASE "
        "WHEN retain_days IS NULL THEN nullif(?2, 0) ELSE nullif(retain_days, 0) * 86400000 END "
        "ORDER BY n " LIMIT_TEXT,
        "ii", now, age);
    if (status == FT_OK) status = collect(sql, chosen, &jobs, err);
    return status == FT_OK ? remove_all(sql, jobs, false, r, err) : status;
}

static ft_status remove_old(ft_sql *sql, int64_t age, removed *r, ft_error *err)
{
    json_t *traces;
    ft_statement *chosen;
    int64_t now = ft_sql_now(sql);
    ft_status status = remove_old_jobs(sql, now, age, r, err);
    if (status != FT_OK || age == 0) return status;
    status = ft_sql_start(sql, &chosen, err,
                          "SELECT hash FROM traces WHERE created < ?1 AND NOT EXISTS "
                          "(SELECT 1 FROM jobs WHERE trace = hash) ORDER BY created " LIMIT_TEXT,
                          "i", now - age);
    if (status == FT_OK) status = collect(sql, chosen, &traces, err);
    return status == FT_OK ? remove_all(sql, traces, true, r, err) : status;
}

#define UNUSED_TRACE(later)                                                                        \
    "SELECT hash FROM traces t WHERE created < ?1 AND NOT EXISTS "                                 \
    "(SELECT 1 FROM jobs WHERE trace = t.hash AND finished IS NULL) ORDER BY " later               \
    "(created, coalesce((SELECT max(finished) FROM jobs WHERE trace = t.hash), 0)) LIMIT 1"

/* The trace whose last use is the oldest, with its jobs; never one that a running job needs. */
static ft_status remove_largest_claim(ft_sql *sql, removed *r, ft_error *err)
{
    json_t *traces, *jobs;
    ft_statement *chosen;
    ft_status status =
        ft_sql_start(sql, &chosen, err, FT_DIALECTS(UNUSED_TRACE("max"), UNUSED_TRACE("greatest")),
                     "i", ft_sql_now(sql) - YOUNG_MS);
    if (status == FT_OK) status = collect(sql, chosen, &traces, err);
    if (status != FT_OK) return status;
    const char *trace = json_string_value(json_array_get(traces, 0));
    if (trace) {
        status =
            ft_sql_start(sql, &chosen, err, "SELECT id FROM jobs WHERE trace = ?1", "t", trace);
        if (status == FT_OK) status = collect(sql, chosen, &jobs, err);
        if (status == FT_OK) status = remove_all(sql, jobs, false, r, err);
    }
    if (status == FT_OK && r->room > 0) return remove_all(sql, traces, true, r, err);
    json_decref(traces);
    return status;
}

/* ---- Of one project -------------------------------------------------------------------------- */

#define UNUSED_SHARE(later)                                                                        \
    "SELECT p.project, p.trace FROM trace_projects p JOIN traces t ON t.hash = p.trace "           \
    "JOIN project_limits l ON l.project = p.project AND l.retain_bytes > 0 "                       \
    "WHERE (SELECT sum(stored_bytes) FROM trace_projects JOIN traces ON hash = trace "             \
    "WHERE project = l.project) > l.retain_bytes AND t.created < ?1 AND NOT EXISTS "               \
    "(SELECT 1 FROM jobs j WHERE j.trace = p.trace AND j.project = p.project "                     \
    "AND j.finished IS NULL) ORDER BY " later "(t.created, "                                       \
    "coalesce((SELECT max(finished) FROM jobs j WHERE j.trace = p.trace "                          \
    "AND j.project = p.project), 0)) LIMIT 1"

/* The trace unused for longest of a project with more bytes than it may keep, never one that a
 * running job of it needs; NULL without one. */
static ft_status find_full(ft_sql *sql, char **project, char **trace, ft_error *err)
{
    ft_statement *statement;
    bool row = false;
    *project = *trace = NULL;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    FT_DIALECTS(UNUSED_SHARE("max"), UNUSED_SHARE("greatest")), "i",
                                    ft_sql_now(sql) - YOUNG_MS);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    *project = ft_strdup(ft_sql_text(statement, 0));
    *trace = ft_strdup(ft_sql_text(statement, 1));
    return FT_OK;
}

/* The project's part in the trace; the trace itself when nobody else has one. */
static ft_status remove_share(ft_sql *sql, const char *project, const char *trace, removed *r,
                              ft_error *err)
{
    json_t *jobs;
    ft_statement *chosen;
    int64_t others = 0;
    ft_status status =
        ft_sql_start(sql, &chosen, err, "SELECT id FROM jobs WHERE trace = ?1 AND project = ?2",
                     "tt", trace, project);
    if (status == FT_OK) status = collect(sql, chosen, &jobs, err);
    if (status == FT_OK) status = remove_all(sql, jobs, false, r, err);
    if (status != FT_OK || r->room == 0) return status;
    status =
        ft_sql_run(sql, NULL, err, "DELETE FROM trace_projects WHERE trace = ?1 AND project = ?2",
                   "tt", trace, project);
    if (status == FT_OK)
        status = ft_sql_number(sql, &others, NULL, err,
                               "SELECT (SELECT count(*) FROM trace_projects WHERE trace = ?1) + "
                               "(SELECT count(*) FROM jobs WHERE trace = ?1)",
                               "t", trace);
    if (status != FT_OK || others > 0) return status;
    return remove_trace(sql, trace, r, err);
}

static ft_status retain_projects(ft_sql *sql, removed *r, bool *more, ft_error *err)
{
    char *project, *trace;
    ft_status status = find_full(sql, &project, &trace, err);
    if (status == FT_OK && project) {
        *more = true;
        status = remove_share(sql, project, trace, r, err);
    }
    free(project);
    free(trace);
    return status;
}

/* Removes traces of no project and no job: their project had no room for them when they were read.
 */
static ft_status remove_unseen(ft_sql *sql, removed *r, ft_error *err)
{
    json_t *traces;
    ft_statement *chosen;
    ft_status status =
        ft_sql_start(sql, &chosen, err,
                     "SELECT hash FROM traces WHERE created < ?1 AND NOT EXISTS "
                     "(SELECT 1 FROM trace_projects WHERE trace = hash) AND NOT EXISTS "
                     "(SELECT 1 FROM jobs WHERE trace = hash) " LIMIT_TEXT,
                     "i", ft_sql_now(sql) - YOUNG_MS);
    if (status == FT_OK) status = collect(sql, chosen, &traces, err);
    return status == FT_OK ? remove_all(sql, traces, true, r, err) : status;
}

/* ---- Together -------------------------------------------------------------------------------- */

static ft_status forget_usage(ft_sql *sql, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "DELETE FROM project_usage WHERE day < ?1", "i",
                      ft_sql_now(sql) / FT_STORE_DAY_MS - USAGE_DAYS);
}

static ft_status run_retain(ft_sql *sql, ft_request *request, ft_error *err)
{
    removed r = {.room = ROWS};
    bool more = false;
    int64_t stored = 0, most = request->blob;
    ft_status status = ft_sql_lock(sql, "retention", "", err);
    if (status == FT_OK) status = forget_usage(sql, err);
    if (status == FT_OK) status = remove_old(sql, request->task, &r, err);
    if (status == FT_OK) status = retain_projects(sql, &r, &more, err);
    if (status == FT_OK) status = remove_unseen(sql, &r, err);
    more = more || r.room == 0 || r.jobs >= AT_ONCE || r.traces >= AT_ONCE;
    if (status == FT_OK && most > 0)
        status = ft_sql_number(sql, &stored, NULL, err,
                               "SELECT coalesce(sum(stored_bytes), 0) FROM traces", "");
    int64_t before = r.traces;
    if (status == FT_OK && most > 0 && stored > most) status = remove_largest_claim(sql, &r, err);
    more = more || r.room == 0 || r.traces > before;
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
    request->lengthy = true;
    request->task = (int64_t)age_ms;
    request->blob = (int64_t)bytes;
    ft_store_send(store, request);
}
