#include "store/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "store/internal.h"

/* ---- Words ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned bit;
} SCOPES[] = {
#define FT_ROW(symbol, name, bit, doc) {name, bit},
    FT_SCOPE_TABLE(FT_ROW)
#undef FT_ROW
};
#define N_SCOPES (sizeof SCOPES / sizeof *SCOPES)

bool ft_project_good(const char *name)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    size_t length = strlen(name);
    return length > 0 && length <= FT_PROJECT_LENGTH && strspn(name, GOOD) == length;
}

bool ft_project_listed(const char *projects, const char *name)
{
    char word[FT_PROJECT_LENGTH + 3];
    if (!projects) return true;
    if (!ft_project_good(name)) return false;
    snprintf(word, sizeof word, ",%s,", name);
    return strstr(projects, word) != NULL;
}

ft_status ft_scopes_parse(const char *text, unsigned *scopes, ft_error *err)
{
    unsigned found = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < N_SCOPES &&
               (strlen(SCOPES[i].name) != length || memcmp(SCOPES[i].name, at, length) != 0))
            i++;
        if (i == N_SCOPES)
            return ft_error_set(err, FT_USAGE, "\"%.*s\" is not a scope: use read, submit or admin",
                                (int)(length < 32 ? length : 32), at);
        found |= SCOPES[i].bit;
        at += length + (at[length] == ',');
    }
    if (!found) return ft_error_set(err, FT_USAGE, "a token needs a scope: read, submit or admin");
    *scopes = found;
    return FT_OK;
}

json_t *ft_scopes_json(unsigned scopes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < N_SCOPES; i++)
        if (scopes & SCOPES[i].bit) json_array_append_new(list, json_string(SCOPES[i].name));
    return list;
}

bool ft_token_split(const char *token, char id[FT_TOKEN_ID + 1], char hash[65])
{
    static const char HEX[] = "0123456789abcdef";
    const char *rest = token + sizeof FT_TOKEN_PREFIX - 1;
    if (strlen(token) != FT_TOKEN_LENGTH ||
        strncmp(token, FT_TOKEN_PREFIX, sizeof FT_TOKEN_PREFIX - 1) != 0)
        return false;
    if (strspn(rest, HEX) != FT_TOKEN_ID || rest[FT_TOKEN_ID] != '_' ||
        strspn(rest + FT_TOKEN_ID + 1, HEX) != FT_TOKEN_SECRET)
        return false;
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, token, FT_TOKEN_LENGTH);
    ft_digest_hex(&digest, hash);
    snprintf(id, FT_TOKEN_ID + 1, "%s", rest);
    return true;
}

/* ---- Reading tokens -------------------------------------------------------------------------- */

static json_t *time_or_null(ft_statement *statement, int column)
{
    if (ft_sql_null(statement, column)) return json_null();
    return ft_store_time(ft_sql_int(statement, column));
}

static json_t *token_row(ft_statement *statement)
{
    bool all = ft_sql_null(statement, 4);
    bool over =
        !ft_sql_null(statement, 8) ||
        (!ft_sql_null(statement, 7) && ft_sql_int(statement, 7) <= ft_sql_now(statement->sql));
    return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:I, s:I, s:o, s:o, s:o, s:b}", "token",
                     ft_sql_text(statement, 0), "hash", ft_sql_text(statement, 1), "name",
                     ft_sql_text(statement, 2), "scopes", ft_sql_text(statement, 3), "projects",
                     all ? NULL : ft_sql_text(statement, 4), "rate",
                     (json_int_t)ft_sql_int(statement, 5), "max_upload",
                     (json_int_t)ft_sql_int(statement, 6), "expires", time_or_null(statement, 7),
                     "revoked", time_or_null(statement, 8), "created", time_or_null(statement, 9),
                     "valid", !over);
}

ft_status ft_store_read_tokens(ft_sql *sql, json_t **result, ft_error *err)
{
    ft_statement *statement;
    bool row;
    json_t *tokens = json_array();
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT id, hash, name, scopes, projects, rate, max_upload, "
                                    "expires, revoked, created FROM tokens ORDER BY created, id",
                                    "");
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(tokens, token_row(statement));
    *result = json_pack("{s:o}", "tokens", tokens);
    return status;
}

static ft_status run_tokens(ft_sql *sql, ft_request *request, ft_error *err)
{
    return ft_store_read_tokens(sql, &request->result, err);
}

void ft_store_tokens(ft_store *store, ft_store_done done, void *data)
{
    ft_store_send(store, ft_store_request(run_tokens, false, done, data));
}

/* ---- Projects -------------------------------------------------------------------------------- */

static ft_status run_visible(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool found;
    int64_t one;
    bool trace = request->safe;
    const char *what = trace ? "trace" : "job";
    ft_status status;
    if (trace)
        status = ft_sql_number(sql, &one, &found, err,
                               "SELECT 1 FROM trace_projects WHERE trace = ?1 AND "
                               "instr(?2, ',' || project || ',') > 0",
                               "tt", (const char *)request->job, (const char *)request->other);
    else
        status = ft_sql_number(
            sql, &one, &found, err,
            "SELECT 1 FROM jobs WHERE id = ?1 AND instr(?2, ',' || project || ',') > 0", "tt",
            (const char *)request->job, (const char *)request->other);
    if (status == FT_OK && !found)
        return ft_error_set(err, FT_NOT_FOUND, "no %s %.64s", what, request->job);
    request->result = json_object();
    return status;
}

static void ask_visible(ft_store *store, const char *name, bool trace, const char *projects,
                        ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_visible, false, done, data);
    request->job = ft_strdup(name);
    request->other = ft_strdup(projects);
    request->safe = trace;
    ft_store_send(store, request);
}

void ft_store_job_visible(ft_store *store, const char *job, const char *projects,
                          ft_store_done done, void *data)
{
    ask_visible(store, job, false, projects, done, data);
}

void ft_store_trace_visible(ft_store *store, const char *trace, const char *projects,
                            ft_store_done done, void *data)
{
    ask_visible(store, trace, true, projects, done, data);
}

/* An upload may become larger in the store, and others may have come before it. */
static ft_status check_bytes(ft_sql *sql, const ft_request *request, ft_error *err)
{
    int64_t stored = 0;
    ft_status status = ft_sql_number(sql, &stored, NULL, err,
                                     "SELECT coalesce(sum(stored_bytes), 0) FROM trace_projects "
                                     "JOIN traces ON hash = trace WHERE project = ?1",
                                     "t", (const char *)request->other);
    if (status != FT_OK || stored <= request->task) return status;
    return ft_error_set(err, FT_CONFLICT,
                        "with this trace, project %s would have %lld bytes of stored traces, more "
                        "than its limit of %lld",
                        request->other, (long long)stored, (long long)request->task);
}

static ft_status run_trace_share(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t added;
    ft_status status = ft_sql_run(sql, &added, err,
                                  "INSERT INTO trace_projects (trace, project) VALUES (?1, ?2) "
                                  "ON CONFLICT DO NOTHING",
                                  "tt", (const char *)request->job, (const char *)request->other);
    bool limited = status == FT_OK && added && request->task > 0;
    if (limited) status = ft_sql_lock(sql, "bytes", request->other, err);
    if (limited && status == FT_OK) status = check_bytes(sql, request, err);
    if (status == FT_OK) request->result = json_pack("{s:b}", "created", added != 0);
    return status;
}

void ft_store_trace_share(ft_store *store, const char *trace, const char *project, uint64_t most,
                          ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_trace_share, true, done, data);
    request->task = (int64_t)most;
    request->job = ft_strdup(trace);
    request->other = ft_strdup(project);
    ft_store_send(store, request);
}

/* ---- Audit ----------------------------------------------------------------------------------- */

#define AUDIT_ROWS 100000 /* kept */

static ft_status run_audit_add(ft_sql *sql, ft_request *request, ft_error *err)
{
    const json_t *entry = request->json;
    request->result = json_object();
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "INSERT INTO audit (at, token, peer, action, outcome) "
                   "VALUES (?1, ?2, ?3, ?4, ?5)",
                   "itttt", ft_sql_now(sql), json_string_value(json_object_get(entry, "token")),
                   json_string_value(json_object_get(entry, "peer")),
                   json_string_value(json_object_get(entry, "action")),
                   json_string_value(json_object_get(entry, "outcome")));
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?1", "i",
                            (int64_t)AUDIT_ROWS);
    return status;
}

void ft_store_audit_add(ft_store *store, json_t *entry)
{
    ft_request *request = ft_store_request(run_audit_add, true, NULL, NULL);
    request->json = entry;
    ft_store_send(store, request);
}

static ft_status run_audit(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row;
    int64_t before, last = 0;
    json_t *entries = json_array();
    request->result = json_pack("{s:o, s:n}", "entries", entries, "next");
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status != FT_OK) return status;
    status = ft_sql_start(sql, &statement, err,
                          "SELECT id, at, token, peer, action, outcome FROM audit WHERE id < ?1 "
                          "ORDER BY id DESC LIMIT ?2",
                          "ii", before, (int64_t)request->limit);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        last = ft_sql_int(statement, 0);
        json_array_append_new(
            entries,
            json_pack("{s:o, s:s?, s:s, s:s, s:s}", "at", ft_store_time(ft_sql_int(statement, 1)),
                      "token", ft_sql_null(statement, 2) ? NULL : ft_sql_text(statement, 2), "peer",
                      ft_sql_text(statement, 3), "action", ft_sql_text(statement, 4), "outcome",
                      ft_sql_text(statement, 5)));
    }
    if (status == FT_OK && last > 1 && json_array_size(entries) == request->limit)
        json_object_set_new(request->result, "next", json_sprintf("%lld", (long long)last));
    return status;
}

void ft_store_audit(ft_store *store, ft_store_page page, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_audit, false, done, data);
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->limit = page.limit;
    ft_store_send(store, request);
}
