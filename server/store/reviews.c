/* Findings from run to run: first and last seen, and what people say of them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/fingerprint.h"
#include "store/internal.h"

/* ---- carrying on from job to job ------------------------------------------------------------- */

/* The violations of a job as far as fingerprints go: {"n", "fingerprint", "check", "message",
 * "accesses"}. */
static ft_status read_violations(ft_sql *sql, const char *job, json_t *records, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT json_object('n', n, 'check', \"check\", "
                     "'fingerprint', json_extract(record, '$.fingerprint'), "
                     "'message', ifnull(json_extract(record, '$.message'), ''), "
                     "'accesses', json(ifnull(json_extract(record, '$.accesses'), '[]'))) "
                     "FROM verdicts WHERE job = ?1 AND verdict = 'violation' ORDER BY n",
                     "t", job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        json_t *record;
        status = ft_store_parse(statement, 0, &record, err);
        if (status == FT_OK) json_array_append_new(records, record);
    }
    return status;
}

/* A fixed one that is seen in another job than its last one is open again. */
static ft_status carry_one(ft_sql *sql, const char *job, const json_t *record, ft_error *err)
{
    const char *print = json_string_value(json_object_get(record, "fingerprint"));
    if (!print) return FT_OK;
    ft_status status =
        ft_sql_run(sql, NULL, err, "UPDATE verdicts SET fingerprint = ?3 WHERE job = ?1 AND n = ?2",
                   "tit", job, (int64_t)json_integer_value(json_object_get(record, "n")), print);
    if (status != FT_OK) return status;
    return ft_sql_run(
        sql, NULL, err,
        "INSERT INTO reviews (project, fingerprint, \"check\", message, first_seen, first_job, "
        "last_seen, last_job) SELECT project, ?2, ?3, ?4, ?5, ?1, ?5, ?1 FROM jobs WHERE id = ?1 "
        "ON CONFLICT (project, fingerprint) DO UPDATE SET "
        "jobs = jobs + (last_job <> excluded.last_job), "
        "state = CASE WHEN state = 'fixed' AND last_job <> excluded.last_job THEN 'open' "
        "ELSE state END, "
        "last_seen = excluded.last_seen, last_job = excluded.last_job, message = excluded.message",
        "tttti", job, print, json_string_value(json_object_get(record, "check")),
        json_string_value(json_object_get(record, "message")), ft_store_now());
}

ft_status ft_store_reviews_carry(ft_sql *sql, const char *job, ft_error *err)
{
    size_t i;
    json_t *record, *records = json_array();
    ft_status status = read_violations(sql, job, records, err);
    ft_fingerprints_settle(records, "fingerprint");
    json_array_foreach(records, i, record) if (status == FT_OK) status =
        carry_one(sql, job, record, err);
    json_decref(records);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define COLUMNS                                                                                    \
    "r.project, r.fingerprint, r.state, r.reason, r.\"check\", r.message, r.first_seen, "          \
    "r.first_job, r.last_seen, r.last_job, r.jobs, r.id"

static json_t *row_json(sqlite3_stmt *statement)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "project", ft_sql_text(statement, 0),
        "fingerprint", ft_sql_text(statement, 1), "state", ft_sql_text(statement, 2), "reason",
        ft_sql_text(statement, 3), "check", ft_sql_text(statement, 4), "message",
        ft_sql_text(statement, 5), "first_job", ft_sql_text(statement, 7), "last_job",
        ft_sql_text(statement, 9), "jobs", (json_int_t)ft_sql_int(statement, 10));
    json_object_set_new(row, "first_seen", ft_store_time(ft_sql_int(statement, 6)));
    json_object_set_new(row, "last_seen", ft_store_time(ft_sql_int(statement, 8)));
    return row;
}

ft_status ft_store_review_add(ft_sql *sql, const char *job, int64_t n, json_t *record,
                              ft_error *err)
{
    sqlite3_stmt *statement;
    bool found;
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    if (!verdict || strcmp(verdict, "violation") != 0) return FT_OK;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT " COLUMNS " FROM verdicts v JOIN jobs j ON j.id = v.job JOIN reviews r "
        "ON r.project = j.project AND r.fingerprint = v.fingerprint WHERE v.job = ?1 AND v.n = ?2",
        "ti", job, n);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK || !found) return status;
    json_t *review = row_json(statement);
    json_object_set(record, "fingerprint", json_object_get(review, "fingerprint"));
    json_object_del(review, "check");
    json_object_del(review, "message");
    json_object_set_new(record, "review", review);
    return FT_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

static ft_status run_review(ft_sql *sql, ft_request *request, ft_error *err)
{
    sqlite3_stmt *statement;
    bool found;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT " COLUMNS
                                    " FROM reviews r WHERE r.project = ?1 AND r.fingerprint = ?2",
                                    "tt", (const char *)request->other, (const char *)request->job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found)
        return ft_error_set(err, FT_NOT_FOUND, "no finding of project %.64s has fingerprint %.32s",
                            request->other, request->job);
    request->result = row_json(statement);
    return FT_OK;
}

void ft_store_review(ft_store *store, const char *project, const char *fingerprint,
                     ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_review, false, done, data);
    request->other = ft_strdup(project);
    request->job = ft_strdup(fingerprint);
    ft_store_send(store, request);
}

static ft_status run_review_set(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "UPDATE reviews SET state = ?3, reason = ?4 WHERE project = ?1 AND fingerprint = ?2",
        "tttt", (const char *)request->other, (const char *)request->job,
        json_string_value(json_object_get(request->json, "state")),
        json_string_value(json_object_get(request->json, "reason")));
    return status == FT_OK ? run_review(sql, request, err) : status;
}

void ft_store_review_set(ft_store *store, const char *project, const char *fingerprint,
                         const char *state, const char *reason, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_review_set, true, done, data);
    request->other = ft_strdup(project);
    request->job = ft_strdup(fingerprint);
    request->json = json_pack("{s:s, s:s}", "state", state, "reason", reason);
    ft_store_send(store, request);
}

static ft_status run_reviews(ft_sql *sql, ft_request *request, ft_error *err)
{
    sqlite3_stmt *statement;
    bool row, more = false;
    int64_t before, last = 0;
    json_t *list = json_array();
    request->result = json_pack("{s:o, s:n}", "reviews", list, "next");
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status != FT_OK) return status;
    status = ft_sql_start(sql, &statement, err,
                          "SELECT " COLUMNS " FROM reviews r WHERE r.project = ?1 AND r.id < ?2 "
                          "AND (?3 IS NULL OR r.state = ?3) ORDER BY r.id DESC",
                          "tit", (const char *)request->other, before, (const char *)request->job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        more = request->limit && json_array_size(list) == request->limit;
        if (more) break;
        json_array_append_new(list, row_json(statement));
        last = ft_sql_int(statement, 11);
    }
    if (more) json_object_set_new(request->result, "next", json_sprintf("%lld", (long long)last));
    return status;
}

void ft_store_reviews(ft_store *store, const char *project, const char *state, ft_store_page page,
                      ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_reviews, false, done, data);
    request->other = ft_strdup(project);
    request->job = state ? ft_strdup(state) : NULL;
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->limit = page.limit;
    ft_store_send(store, request);
}
