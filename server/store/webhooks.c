#include "store/webhooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/access.h"
#include "store/internal.h"

#define DAY_MS ((int64_t)86400000)

static const char *const STATES[] = {"pending", "sending", "delivered", "failed"};

static json_t *text_or_null(ft_statement *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return json_string(ft_sql_text(statement, column));
}

static json_t *time_or_null(ft_statement *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return ft_store_time(ft_sql_int(statement, column));
}

/* ---- The projects' settings ------------------------------------------------------------------ */

#define WEBHOOK_COLUMNS "project, url, created, changed "

static json_t *webhook_row(ft_statement *statement)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "project", ft_sql_text(statement, 0), "url",
                     text_or_null(statement, 1), "created", time_or_null(statement, 2), "changed",
                     time_or_null(statement, 3));
}

static ft_status read_webhook(ft_sql *sql, const char *project, json_t **webhook, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT " WEBHOOK_COLUMNS "FROM webhooks WHERE project = ?1", "t", project);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status == FT_OK) *webhook = row ? webhook_row(statement) : NULL;
    return status;
}

/* New reference: the secret as its owner gets to see it. */
static ft_status make_secret(json_t **secret, ft_error *err)
{
    char hex[FT_WEBHOOK_SECRET + 1];
    ft_status status = ft_store_random_hex(hex, FT_WEBHOOK_SECRET, err);
    if (status == FT_OK) *secret = json_sprintf("%s%s", FT_WEBHOOK_PREFIX, hex);
    return status;
}

static ft_status write_webhook(ft_sql *sql, const ft_request *request, const char *secret,
                               ft_error *err)
{
    int64_t now = ft_sql_now(sql);
    const json_t *set = request->json;
    return ft_sql_run(
        sql, NULL, err,
        "INSERT INTO webhooks (project, url, secret, created, changed) VALUES (?1, ?2, ?3, ?4, ?4) "
        "ON CONFLICT (project) DO UPDATE SET url = CASE WHEN ?5 <> 0 THEN webhooks.url ELSE "
        "excluded.url END, changed = ?4, "
        "secret = CASE WHEN ?6 <> 0 THEN excluded.secret ELSE webhooks.secret END",
        "tttiii", (const char *)request->job, json_string_value(json_object_get(set, "url")),
        secret, now, (int64_t)json_is_true(json_object_get(set, "keep")),
        (int64_t)json_is_true(json_object_get(set, "renew")));
}

static ft_status run_webhook_set(ft_sql *sql, ft_request *request, ft_error *err)
{
    json_t *before = NULL, *secret = NULL;
    ft_status status = read_webhook(sql, request->job, &before, err);
    bool shown = !before || json_is_true(json_object_get(request->json, "renew"));
    json_decref(before);
    if (status == FT_OK) status = make_secret(&secret, err);
    if (status == FT_OK) status = write_webhook(sql, request, json_string_value(secret), err);
    if (status == FT_OK) status = read_webhook(sql, request->job, &request->result, err);
    if (status == FT_OK && shown) json_object_set(request->result, "secret", secret);
    json_decref(secret);
    return status;
}

void ft_store_webhook_set(ft_store *store, const ft_store_webhook *webhook, ft_store_done done,
                          void *data)
{
    ft_request *request = ft_store_request(run_webhook_set, true, done, data);
    request->job = ft_strdup(webhook->project);
    request->json = json_pack("{s:s?, s:b, s:b}", "url", webhook->url, "keep", webhook->keep,
                              "renew", webhook->renew);
    ft_store_send(store, request);
}

static ft_status run_webhook_drop(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t changed = 0;
    const char *project = request->job;
    ft_status status =
        ft_sql_run(sql, &changed, err, "DELETE FROM webhooks WHERE project = ?1", "t", project);
    if (status == FT_OK && changed == 0)
        return ft_error_set(err, FT_NOT_FOUND, "project %.64s has no webhook", project);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE deliveries SET state = 'failed', ended = ?2, "
                            "error = 'the webhook was removed' "
                            "WHERE project = ?1 AND state = 'pending'",
                            "ti", project, ft_sql_now(sql));
    request->result = json_object();
    return status;
}

void ft_store_webhook_drop(ft_store *store, const char *project, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_webhook_drop, true, done, data);
    request->job = ft_strdup(project);
    ft_store_send(store, request);
}

static ft_status run_webhooks(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row;
    json_t *webhooks = json_array();
    request->result = json_pack("{s:o}", "webhooks", webhooks);
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT " WEBHOOK_COLUMNS "FROM webhooks WHERE ?1 IS NULL OR "
                                    "instr(?1, ',' || project || ',') > 0 ORDER BY project",
                                    "t", (const char *)request->other);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(webhooks, webhook_row(statement));
    return status;
}

void ft_store_webhooks(ft_store *store, const char *projects, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_webhooks, false, done, data);
    request->other = projects ? ft_strdup(projects) : NULL;
    ft_store_send(store, request);
}

/* ---- What jobs have to do with them ---------------------------------------------------------- */

ft_status ft_store_job_webhook(ft_sql *sql, const char *job, const char *project, const char *url,
                               ft_error *err)
{
    bool known;
    int64_t one;
    ft_status status = ft_sql_number(sql, &one, &known, err,
                                     "SELECT 1 FROM webhooks WHERE project = ?1", "t", project);
    if (status == FT_OK && !known)
        return ft_error_set(err, FT_USAGE,
                            "project %.64s has no webhook secret yet: an admin creates one with "
                            "PUT /v1/webhooks",
                            project);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "INSERT INTO job_webhooks (job, url) VALUES (?1, ?2)", "tt",
                      job, url);
}

/* New text: what the receivers are sent. */
static ft_status make_body(ft_sql *sql, const char *job, const char *delivery, char **body,
                           ft_error *err)
{
    static const char *const KEPT[] = {"job",   "name",    "project",  "state",  "trace",
                                       "model", "created", "finished", "checks", "error"};
    json_t *snapshot;
    ft_status status = ft_store_snapshot(sql, job, &snapshot, err);
    if (status != FT_OK) return status;
    json_t *told = json_pack("{s:s, s:s}", "event", "job.ended", "delivery", delivery);
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        json_object_set(told, KEPT[i], json_object_get(snapshot, KEPT[i]));
    json_object_set_new(told, "findings", json_sprintf("/v1/jobs/%s/findings", job));
    *body = ft_store_dump(told);
    json_decref(told);
    json_decref(snapshot);
    return FT_OK;
}

static ft_status add_delivery(ft_sql *sql, const char *job, const char *project, const char *url,
                              ft_error *err)
{
    char id[FT_STORE_JOB_ID + 1], *body = NULL;
    int64_t now = ft_sql_now(sql);
    ft_status status = ft_store_random_hex(id, FT_STORE_JOB_ID, err);
    if (status == FT_OK) status = make_body(sql, job, id, &body, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "INSERT INTO deliveries (id, job, project, url, body, due, created) "
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                            "ttttti", (const char *)id, job, project, url, (const char *)body, now);
    free(body);
    return status;
}

/* The rows are read before anything is written. */
ft_status ft_store_webhooks_note(ft_sql *sql, const char *job, ft_error *err)
{
    ft_statement *statement;
    bool row;
    json_t *found = json_array(), *one;
    size_t i;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT w.project, w.url FROM jobs j JOIN webhooks w ON w.project = j.project "
                     "WHERE j.id = ?1 AND w.url IS NOT NULL UNION "
                     "SELECT j.project, u.url FROM jobs j JOIN job_webhooks u ON u.job = j.id "
                     "JOIN webhooks w ON w.project = j.project WHERE j.id = ?1",
                     "t", job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(
            found, json_pack("[s, s]", ft_sql_text(statement, 0), ft_sql_text(statement, 1)));
    json_array_foreach(found, i, one)
    {
        if (status == FT_OK)
            status = add_delivery(sql, job, json_string_value(json_array_get(one, 0)),
                                  json_string_value(json_array_get(one, 1)), err);
    }
    json_decref(found);
    return status;
}

/* ---- The list -------------------------------------------------------------------------------- */

static json_t *delivery_row(ft_statement *statement)
{
    bool pending = strcmp(ft_sql_text(statement, 5), "pending") == 0;
    bool answered = !ft_sql_null(statement, 7);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "delivery",
                     ft_sql_text(statement, 1), "job", ft_sql_text(statement, 2), "project",
                     ft_sql_text(statement, 3), "url", ft_sql_text(statement, 4), "state",
                     ft_sql_text(statement, 5), "attempts", (json_int_t)ft_sql_int(statement, 6),
                     "status", answered ? json_integer(ft_sql_int(statement, 7)) : json_null(),
                     "error", text_or_null(statement, 8), "created", time_or_null(statement, 9),
                     "due", pending ? time_or_null(statement, 10) : json_null(), "ended",
                     time_or_null(statement, 11));
}

static bool is_state(const char *name)
{
    for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++)
        if (strcmp(STATES[i], name) == 0) return true;
    return false;
}

static ft_status run_deliveries(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row;
    int64_t before, last = 0;
    const char *state = json_string_value(json_object_get(request->json, "state"));
    const char *job = json_string_value(json_object_get(request->json, "job"));
    json_t *list = json_array();
    request->result = json_pack("{s:o, s:n}", "deliveries", list, "next");
    if (state && !is_state(state))
        return ft_error_set(
            err, FT_USAGE,
            "%.32s is not a state of deliveries: use pending, sending, delivered or "
            "failed",
            state);
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status == FT_OK)
        status = ft_sql_start(sql, &statement, err,
                              "SELECT n, id, job, project, url, state, attempts, status, error, "
                              "created, due, ended FROM deliveries WHERE n < ?1 "
                              "AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR job = ?3) "
                              "AND (?4 IS NULL OR instr(?4, ',' || project || ',') > 0) "
                              "ORDER BY n DESC LIMIT ?5",
                              "ittti", before, state, job, (const char *)request->other,
                              (int64_t)request->limit);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        last = ft_sql_int(statement, 0);
        json_array_append_new(list, delivery_row(statement));
    }
    if (status == FT_OK && last > 1 && json_array_size(list) == request->limit)
        json_object_set_new(request->result, "next", json_sprintf("%lld", (long long)last));
    return status;
}

void ft_store_deliveries(ft_store *store, const char *state, const char *job, ft_store_page page,
                         ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_deliveries, false, done, data);
    request->json = json_pack("{s:s?, s:s?}", "state", state, "job", job);
    request->other = page.projects ? ft_strdup(page.projects) : NULL;
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->limit = page.limit;
    ft_store_send(store, request);
}

static ft_status run_repeat(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t may;
    bool found;
    const char *delivery = request->job;
    request->result = json_object();
    ft_status status = ft_sql_number(sql, &may, &found, err,
                                     "SELECT ended IS NOT NULL AND EXISTS "
                                     "(SELECT 1 FROM webhooks w WHERE w.project = d.project) "
                                     "FROM deliveries d WHERE id = ?1 AND "
                                     "(?2 IS NULL OR instr(?2, ',' || project || ',') > 0)",
                                     "tt", delivery, (const char *)request->other);
    if (status == FT_OK && !found)
        return ft_error_set(err, FT_NOT_FOUND, "no delivery %.32s", delivery);
    if (status == FT_OK && !may)
        return ft_error_set(err, FT_CONFLICT,
                            "delivery %.32s has not ended, or its project no longer has a webhook",
                            delivery);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE deliveries SET state = 'pending', attempts = 0, due = ?2, "
                      "ended = NULL, token = NULL WHERE id = ?1",
                      "ti", delivery, ft_sql_now(sql));
}

void ft_store_delivery_repeat(ft_store *store, const char *delivery, const char *projects,
                              ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_repeat, true, done, data);
    request->job = ft_strdup(delivery);
    request->other = projects ? ft_strdup(projects) : NULL;
    ft_store_send(store, request);
}

/* ---- Attempts -------------------------------------------------------------------------------- */

/* A project whose receiver is slow must not take every sender. */
static ft_status choose(ft_sql *sql, const ft_request *request, json_t *list, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT d.id, d.job, d.project, d.url, d.body, w.secret, d.attempts + 1 FROM "
        "(SELECT *, row_number() OVER (PARTITION BY project ORDER BY due, n) + (SELECT count(*) "
        "FROM deliveries s WHERE s.project = p.project AND s.state = 'sending') AS place "
        "FROM deliveries p WHERE state = 'pending' AND due <= ?1) d "
        "JOIN webhooks w ON w.project = d.project WHERE place <= ?2 ORDER BY due, n LIMIT ?3",
        "iii", ft_sql_now(sql), (int64_t)request->seq, (int64_t)request->limit);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "delivery", ft_sql_text(statement, 0),
                      "job", ft_sql_text(statement, 1), "project", ft_sql_text(statement, 2), "url",
                      ft_sql_text(statement, 3), "body", ft_sql_text(statement, 4), "secret",
                      ft_sql_text(statement, 5), "attempt", (json_int_t)ft_sql_int(statement, 6)));
    return status;
}

static ft_status mark(ft_sql *sql, const json_t *list, int64_t expires, ft_error *err)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        ft_status status = ft_sql_run(
            sql, NULL, err,
            "UPDATE deliveries SET state = 'sending', attempts = attempts + 1, "
            "token = ?2, expires = ?3 WHERE id = ?1",
            "tii", json_string_value(json_object_get(one, "delivery")), ++sql->token, expires);
        if (status != FT_OK) return status;
        json_object_set_new(one, "token", json_integer(sql->token));
    }
    return FT_OK;
}

/* Of a node that is gone, or cut off. Where one process alone sends, the next start does this: its
 * clock may jump. */
static ft_status take_back(ft_sql *sql, ft_error *err)
{
    if (!sql->driver->shared) return FT_OK;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE deliveries SET state = 'pending', token = NULL "
                      "WHERE state = 'sending' AND coalesce(expires, 0) < ?1",
                      "i", ft_sql_now(sql));
}

ft_status ft_store_deliveries_return(ft_sql *sql, ft_error *err)
{
    return ft_sql_run(sql, NULL, err,
                      "UPDATE deliveries SET state = 'pending', token = NULL "
                      "WHERE state = 'sending' AND token BETWEEN ?1 AND ?2",
                      "ii", sql->epoch << 32, (sql->epoch << 32) + UINT32_MAX);
}

static ft_status add_wait(ft_sql *sql, json_t *result, ft_error *err)
{
    int64_t due, now = ft_sql_now(sql);
    bool found;
    ft_status status = ft_sql_number(
        sql, &due, &found, err,
        FT_DIALECTS("SELECT due FROM deliveries WHERE state = 'pending' ORDER BY due LIMIT 1",
                    "SELECT due FROM (SELECT least((SELECT min(due) FROM deliveries WHERE state = "
                    "'pending'), (SELECT min(expires) FROM deliveries WHERE state = 'sending')) "
                    "AS due) AS d WHERE due IS NOT NULL"),
        "");
    if (status == FT_OK)
        json_object_set_new(result, "wait",
                            found ? json_integer(due > now ? due - now : 0) : json_null());
    return status;
}

static ft_status run_take(ft_sql *sql, ft_request *request, ft_error *err)
{
    json_t *list = json_array();
    request->result = json_pack("{s:o}", "deliveries", list);
    ft_status status = ft_sql_lock(sql, "deliveries", "", err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM deliveries WHERE ended < ?1", "i",
                            ft_sql_now(sql) - (int64_t)FT_DELIVERY_DAYS * DAY_MS);
    if (status == FT_OK) status = take_back(sql, err);
    if (status == FT_OK) status = choose(sql, request, list, err);
    if (status == FT_OK) status = mark(sql, list, ft_sql_now(sql) + request->lease_ms, err);
    if (status == FT_OK) status = add_wait(sql, request->result, err);
    return status;
}

void ft_store_deliveries_take(ft_store *store, ft_store_sending sending, ft_store_done done,
                              void *data)
{
    ft_request *request = ft_store_request(run_take, true, done, data);
    request->limit = sending.most;
    request->seq = sending.each;
    request->lease_ms = sending.lease_ms;
    ft_store_send(store, request);
}

static ft_status run_end(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t now = ft_sql_now(sql), again = request->task, one;
    bool wanted = true;
    ft_status status = ft_sql_number(sql, &one, &wanted, err,
                                     "SELECT 1 FROM deliveries d JOIN webhooks w ON "
                                     "w.project = d.project WHERE d.id = ?1",
                                     "t", (const char *)request->job);
    if (status != FT_OK) return status;
    bool over = request->safe || again < 0 || !wanted;
    const char *state = request->safe ? "delivered" : over ? "failed" : "pending";
    request->result = json_object();
    return ft_sql_run(sql, NULL, err,
                      "UPDATE deliveries SET state = ?2, status = nullif(?3, 0), error = ?4, "
                      "due = ?5, ended = CASE WHEN ?6 <> 0 THEN ?7 END, token = NULL "
                      "WHERE id = ?1 AND state = 'sending' AND token = ?8",
                      "ttitiiii", (const char *)request->job, state, request->blob,
                      (const char *)request->other, now + (over ? 0 : again), (int64_t)over, now,
                      (int64_t)request->token);
}

void ft_store_delivery_end(ft_store *store, const char *delivery, uint64_t token,
                           const ft_store_outcome *outcome, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_end, true, done, data);
    request->job = ft_strdup(delivery);
    request->token = token;
    request->other = outcome->error ? ft_strdup(outcome->error) : NULL;
    request->safe = outcome->delivered;
    request->blob = outcome->status;
    request->task = outcome->again_ms;
    ft_store_send(store, request);
}
