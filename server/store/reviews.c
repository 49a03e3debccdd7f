/* Findings from run to run: first and last seen, and what people say of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/fingerprint.h"
#include "store/internal.h"

/* ---- carrying on from job to job ------------------------------------------------------------- */

/* A violation as far as this goes. */
typedef struct violation {
    int64_t n;
    size_t place;     /* in the order of the plan */
    char *print;      /* owned; "": it has none */
    bool known;       /* that is stored with its verdict */
    char *check;      /* owned */
    char *message;    /* owned: JSON, as it stands in the record; "": none */
    json_t *settling; /* borrowed; NULL: nobody shares its fingerprint */
} violation;

typedef struct violations {
    violation *items;
    size_t count, room;
} violations;

static void release(violations *v)
{
    for (size_t i = 0; i < v->count; i++) {
        free(v->items[i].print);
        free(v->items[i].check);
        free(v->items[i].message);
    }
    free(v->items);
}

static ft_status add_violation(ft_statement *statement, violations *v, ft_error *err)
{
    ft_error why = FT_ERROR_INIT;
    const char *text = ft_sql_text(statement, 3);
    ft_scan_member of[] = {{.name = "fingerprint"}, {.name = "message"}};
    if (!*text) return ft_error_set(err, FT_IO, "the store failed: out of memory");
    if (ft_scan_object(text, strlen(text), of, 2, &why) != FT_OK)
        return ft_error_set(err, FT_INTERNAL, "the store holds malformed JSON: %s", why.message);
    v->items = ft_vec_grow(v->items, &v->room, v->count + 1, sizeof *v->items);
    violation *its = &v->items[v->count];
    *its = (violation){
        .n = ft_sql_int(statement, 0), .place = v->count++, .known = !ft_sql_null(statement, 1)};
    const ft_span print = ft_store_print_of(of[0].value);
    its->print = its->known ? ft_strdup(ft_sql_text(statement, 1))
                            : ft_strndup(print.at ? print.at : "", print.length);
    its->check = ft_strdup(ft_sql_text(statement, 2));
    its->message = of[1].value.at ? ft_strndup(of[1].value.at, of[1].value.length) : ft_strdup("");
    return FT_OK;
}

static ft_status read_violations(ft_sql *sql, const char *job, violations *v, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT n, fingerprint, \"check\", record FROM verdicts WHERE job = " FT_JOB_N
                     " AND verdict = 'violation' ORDER BY " FT_PLAN_ORDER,
                     "t", job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        status = add_violation(statement, v, err);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const violation *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_print(const void *a, const void *b)
{
    const violation *x = a, *y = b;
    int prints = strcmp(x->print, y->print);
    return prints ? prints : by_place(a, b);
}

static bool shares(const violations *v, size_t i)
{
    const violation *its = v->items;
    return *its[i].print && ((i > 0 && strcmp(its[i - 1].print, its[i].print) == 0) ||
                             (i + 1 < v->count && strcmp(its[i + 1].print, its[i].print) == 0));
}

/* The places of a record's accesses, and nothing else of them: there may be many records. */
static json_t *places_of(ft_span accesses)
{
    size_t i;
    json_t *access, *all = json_loadb(accesses.at, accesses.length, 0, NULL), *out = json_array();
    json_array_foreach(all, i, access) json_array_append_new(
        out, json_pack("{s:O?}", "location", json_object_get(access, "location")));
    json_decref(all);
    return out;
}

/* Reads the record again for the members that numbering needs: many violations need none. */
static ft_status settling(ft_sql *sql, const char *job, violation *its, json_t *shared,
                          ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_scan_member of[] = {{.name = "accesses"}};
    its->settling = json_pack("{s:s}", "fingerprint", its->print);
    json_array_append_new(shared, its->settling);
    ft_status status = ft_sql_start(
        sql, &statement, err, "SELECT record FROM verdicts WHERE job = " FT_JOB_N " AND n = ?2",
        "ti", job, its->n);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    const char *record = ft_sql_text(statement, 0);
    if (ft_scan_object(record, strlen(record), of, 1, NULL) == FT_OK && of[0].value.at)
        json_object_set_new(its->settling, "accesses", places_of(of[0].value));
    return ft_sql_next(sql, statement, &row, err);
}

/* Only those that share a fingerprint with others need more of their records than that. */
static ft_status settle(ft_sql *sql, const char *job, violations *v, ft_error *err)
{
    ft_status status = FT_OK;
    json_t *shared = json_array();
    if (v->count > 1) qsort(v->items, v->count, sizeof *v->items, by_print);
    for (size_t i = 0; i < v->count && status == FT_OK; i++)
        if (shares(v, i)) status = settling(sql, job, &v->items[i], shared, err);
    if (status != FT_OK) {
        json_decref(shared);
        return status;
    }
    ft_fingerprints_settle(shared, "fingerprint");
    for (size_t i = 0; i < v->count; i++) {
        violation *its = &v->items[i];
        const char *print = json_string_value(json_object_get(its->settling, "fingerprint"));
        if (!print || strcmp(print, its->print) == 0) continue;
        free(its->print);
        its->print = ft_strdup(print);
        its->known = false;
    }
    if (v->count > 1) qsort(v->items, v->count, sizeof *v->items, by_place);
    json_decref(shared);
    return FT_OK;
}

/* A fixed one that is seen in another job than its last one is open again. */
static ft_status carry_one(ft_sql *sql, const char *job, const char *project, const violation *its,
                           ft_error *err)
{
    ft_status status = FT_OK;
    if (!*its->print) return FT_OK;
    if (!its->known)
        status =
            ft_sql_run(sql, NULL, err,
                       "UPDATE verdicts SET fingerprint = ?3 WHERE job = " FT_JOB_N " AND n = ?2",
                       "tit", job, its->n, (const char *)its->print);
    if (status != FT_OK) return status;
    json_t *message = json_loads(its->message, JSON_DECODE_ANY, NULL);
    status = ft_sql_run(
        sql, NULL, err,
        "INSERT INTO reviews (project, fingerprint, \"check\", message, first_seen, first_job, "
        "last_seen, last_job) VALUES (?6, ?2, ?3, coalesce(?4, ''), ?5, ?1, ?5, ?1) "
        "ON CONFLICT (project, fingerprint) DO UPDATE SET "
        "jobs = reviews.jobs + CASE WHEN reviews.last_job <> excluded.last_job THEN 1 ELSE 0 END, "
        "state = CASE WHEN reviews.state = 'fixed' AND reviews.last_job <> excluded.last_job "
        "THEN 'open' ELSE reviews.state END, "
        "last_seen = excluded.last_seen, last_job = excluded.last_job, message = excluded.message",
        "ttttit", job, (const char *)its->print, (const char *)its->check,
        json_string_value(message), ft_sql_now(sql), project);
    json_decref(message);
    return status;
}

static ft_status carry(ft_sql *sql, const char *job, const violations *v, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err, "SELECT project FROM jobs WHERE id = ?1", "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    char *project = ft_strdup(ft_sql_text(statement, 0));
    status = ft_sql_next(sql, statement, &row, err);
    for (size_t i = 0; i < v->count && status == FT_OK; i++)
        status = carry_one(sql, job, project, &v->items[i], err);
    free(project);
    return status;
}

ft_status ft_store_reviews_carry(ft_sql *sql, const char *job, ft_error *err)
{
    int64_t some = 0;
    violations v = {.items = NULL};
    ft_status status = ft_sql_number(
        sql, &some, NULL, err,
        "SELECT EXISTS (SELECT 1 FROM tallies WHERE job = ?1 AND verdict = 'violation')", "t", job);
    if (status != FT_OK || !some) return status;
    status = read_violations(sql, job, &v, err);
    if (status == FT_OK) status = settle(sql, job, &v, err);
    if (status == FT_OK) status = carry(sql, job, &v, err);
    release(&v);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define COLUMNS                                                                                    \
    "r.project, r.fingerprint, r.state, r.reason, r.\"check\", r.message, r.first_seen, "          \
    "r.first_job, r.last_seen, r.last_job, r.jobs, r.id"

static json_t *row_json(ft_statement *statement)
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
    ft_statement *statement;
    bool found;
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    if (!verdict || strcmp(verdict, "violation") != 0) return FT_OK;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT " COLUMNS " FROM jobs j JOIN verdicts v ON v.job = j.n JOIN reviews r "
                     "ON r.project = j.project AND r.fingerprint = v.fingerprint WHERE j.id = ?1 "
                     "AND v.n = ?2 AND j.finished IS NOT NULL",
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
    ft_statement *statement;
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
    ft_statement *statement;
    bool row, more = false;
    int64_t before, last = 0;
    json_t *list = json_array();
    request->result = json_pack("{s:o, s:n}", "reviews", list, "next");
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status != FT_OK) return status;
    status = ft_sql_start(sql, &statement, err,
                          "SELECT " COLUMNS " FROM reviews r WHERE r.project = ?1 AND r.id < ?2 "
                          "AND (?3 IS NULL OR r.state = ?3) ORDER BY r.id DESC LIMIT ?4",
                          "titi", (const char *)request->other, before, (const char *)request->job,
                          request->limit > 0 ? (int64_t)request->limit + 1 : INT64_MAX);
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
