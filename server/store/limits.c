#include "store/limits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/access.h"
#include "store/folder.h"
#include "store/internal.h"

/* In the order of the columns of project_limits. */
static const struct {
    const char *name, *doc;
} LIMITS[] = {
#define FT_ROW(symbol, name, doc) {name, doc},
    FT_LIMIT_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_limit_name(ft_limit limit)
{
    return LIMITS[limit].name;
}

const char *ft_limit_doc(ft_limit limit)
{
    return LIMITS[limit].doc;
}

bool ft_limit_parse(const char *name, ft_limit *limit)
{
    for (int i = 0; i < FT_LIMITS; i++) {
        if (strcmp(LIMITS[i].name, name) != 0) continue;
        *limit = (ft_limit)i;
        return true;
    }
    return false;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static json_t *limits_of(json_t *projects, const char *project)
{
    json_t *limits = json_object_get(projects, project);
    if (limits) return limits;
    limits = json_object();
    json_object_set_new(projects, project, limits);
    return limits;
}

static ft_status read_limits(ft_sql *sql, json_t *projects, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT project, jobs, workers, bytes, seconds, memory_mb, retain_days, "
                     "retain_bytes FROM project_limits",
                     "");
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        json_t *limits = limits_of(projects, ft_sql_text(statement, 0));
        for (int i = 0; i < FT_LIMITS; i++)
            if (!ft_sql_null(statement, i + 1))
                json_object_set_new(limits, LIMITS[i].name,
                                    json_integer(ft_sql_int(statement, i + 1)));
    }
    return status;
}

static ft_status read_usage(ft_sql *sql, json_t *projects, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err, "SELECT project, ms FROM project_usage WHERE day = ?1",
                     "i", ft_sql_now(sql) / FT_STORE_DAY_MS);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_object_set_new(limits_of(projects, ft_sql_text(statement, 0)), "used_ms",
                            json_integer(ft_sql_int(statement, 1)));
    return status;
}

static ft_status read_all(ft_sql *sql, json_t **result, ft_error *err)
{
    json_t *projects = json_object();
    *result = json_pack("{s:o}", "projects", projects);
    ft_status status = read_limits(sql, projects, err);
    return status == FT_OK ? read_usage(sql, projects, err) : status;
}

static ft_status run_limits(ft_sql *sql, ft_request *request, ft_error *err)
{
    return read_all(sql, &request->result, err);
}

void ft_store_limits(ft_store *store, ft_store_done done, void *data)
{
    ft_store_send(store, ft_store_request(run_limits, false, done, data));
}

/* ---- Setting --------------------------------------------------------------------------------- */

static const char *const SET[] = {
    "UPDATE project_limits SET jobs = nullif(?2, -1) WHERE project = ?1",
    "UPDATE project_limits SET workers = nullif(?2, -1) WHERE project = ?1",
    "UPDATE project_limits SET bytes = nullif(?2, -1) WHERE project = ?1",
    "UPDATE project_limits SET seconds = nullif(?2, -1) WHERE project = ?1",
    "UPDATE project_limits SET memory_mb = nullif(?2, -1) WHERE project = ?1",
    "UPDATE project_limits SET retain_days = nullif(?2, -1) WHERE project = ?1",
    "UPDATE project_limits SET retain_bytes = nullif(?2, -1) WHERE project = ?1",
};
_Static_assert(sizeof SET / sizeof *SET == FT_LIMITS, "one statement a limit");

static ft_status set_all(ft_sql *sql, const char *project, const bool given[FT_LIMITS],
                         const int64_t values[FT_LIMITS], ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err, "INSERT INTO project_limits (project) VALUES (?1) ON CONFLICT DO NOTHING",
        "t", project);
    for (int i = 0; i < FT_LIMITS && status == FT_OK; i++)
        if (given[i]) status = ft_sql_run(sql, NULL, err, SET[i], "ti", project, values[i]);
    return status;
}

static ft_status run_set(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool given[FT_LIMITS];
    int64_t values[FT_LIMITS];
    for (int i = 0; i < FT_LIMITS; i++) {
        const json_t *value = json_object_get(request->json, LIMITS[i].name);
        given[i] = value != NULL;
        values[i] = json_is_integer(value) ? json_integer_value(value) : FT_LIMIT_UNSET;
    }
    request->result = json_object();
    return set_all(sql, request->job, given, values, err);
}

void ft_store_limits_set(ft_store *store, const char *project, const json_t *limits,
                         ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_set, true, done, data);
    request->job = ft_strdup(project);
    request->json = json_deep_copy(limits);
    ft_store_send(store, request);
}

static ft_status run_drop(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t changed = 0;
    const char *project = request->job;
    request->result = json_object();
    ft_status status = ft_sql_run(sql, &changed, err,
                                  "DELETE FROM project_limits WHERE project = ?1", "t", project);
    if (status == FT_OK && changed == 0)
        return ft_error_set(err, FT_NOT_FOUND, "project %.64s has no limits of its own", project);
    return status;
}

void ft_store_limits_drop(ft_store *store, const char *project, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_drop, true, done, data);
    request->job = ft_strdup(project);
    ft_store_send(store, request);
}

/* ---- Room ------------------------------------------------------------------------------------ */

static ft_status run_room(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t stored = 0;
    request->result = json_object();
    ft_status status = ft_sql_number(sql, &stored, NULL, err,
                                     "SELECT coalesce(sum(stored_bytes), 0) FROM trace_projects "
                                     "JOIN traces ON hash = trace WHERE project = ?1",
                                     "t", (const char *)request->job);
    if (status != FT_OK || stored < request->task) return status;
    return ft_error_set(err, FT_CONFLICT,
                        "project %s has %lld bytes of stored traces; its limit is %lld",
                        request->job, (long long)stored, (long long)request->task);
}

void ft_store_room(ft_store *store, const char *project, uint64_t bytes, ft_store_done done,
                   void *data)
{
    ft_request *request = ft_store_request(run_room, false, done, data);
    request->job = ft_strdup(project);
    request->task = (int64_t)bytes;
    ft_store_send(store, request);
}

/* ---- The command ----------------------------------------------------------------------------- */

ft_status ft_limits_set(const char *folder, const char *project, const bool given[FT_LIMITS],
                        const int64_t values[FT_LIMITS], ft_error *err)
{
    ft_store_folder opened = {.lock = -1};
    if (!ft_project_good(project))
        return ft_error_set(
            err, FT_USAGE,
            "\"%.64s\" is not a project: use 1 to %d letters, digits, '.', '_', '-', '/'", project,
            FT_PROJECT_LENGTH);
    ft_status status = ft_store_folder_open(folder, &opened, err);
    if (status == FT_OK) status = ft_sql_begin(&opened.sql, err);
    if (status == FT_OK) status = set_all(&opened.sql, project, given, values, err);
    if (status == FT_OK) status = ft_sql_commit(&opened.sql, err);
    ft_store_folder_close(&opened);
    return status;
}

ft_status ft_limits_list(const char *folder, json_t **list, ft_error *err)
{
    ft_store_folder opened = {.lock = -1};
    *list = NULL;
    ft_status status = ft_store_folder_open(folder, &opened, err);
    if (status == FT_OK) status = read_all(&opened.sql, list, err);
    ft_store_folder_close(&opened);
    if (status == FT_OK) return FT_OK;
    json_decref(*list);
    *list = NULL;
    return status;
}
