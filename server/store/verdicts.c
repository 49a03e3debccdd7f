/* Records of verdicts: counted, listed, found. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "store/internal.h"

/* The sum of some records of one check and verdict. */
typedef struct tally {
    int64_t records, count, solved, sliced, encoded;
} tally;

/* Of a subproblem that the solver was asked, its events as well. */
static void count_in(tally *t, const ft_result *result)
{
    const ft_record *record = &result->record;
    assert(record->count >= 1);
    bool solved = result->task != 0 && record->events > 0;
    t->records++;
    t->count += record->count;
    t->solved += solved;
    t->sliced += solved ? record->sliced : 0;
    t->encoded += solved ? record->events : 0;
}

static ft_status add_tally(ft_sql *sql, const char *job, int check, int verdict, const tally *t,
                           ft_error *err)
{
    return ft_sql_run(
        sql, NULL, err,
        "INSERT INTO tallies (job, \"check\", verdict, count, solved, sliced, encoded, records) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
        "ON CONFLICT (job, \"check\", verdict) DO UPDATE SET count = tallies.count + ?4, "
        "solved = tallies.solved + ?5, sliced = tallies.sliced + ?6, encoded = tallies.encoded + "
        "?7, "
        "records = tallies.records + ?8",
        "tttiiiii", job, ft_check_name((ft_check)check), ft_verdict_name((ft_verdict)verdict),
        t->count, t->solved, t->sliced, t->encoded, t->records);
}

ft_span ft_store_print_of(ft_span value)
{
    if (!ft_scan_string(value) || memchr(value.at, '\\', value.length)) return (ft_span){NULL, 0};
    return (ft_span){value.at + 1, value.length - 2};
}

static ft_span print_of(const ft_record *record, ft_span text)
{
    ft_scan_member of[] = {{.name = "fingerprint"}};
    bool violation = record->verdict == FT_VERDICT_VIOLATION;
    if (!violation || ft_scan_object(text.at, text.length, of, 1, NULL) != FT_OK)
        return (ft_span){NULL, 0};
    return ft_store_print_of(of[0].value);
}

static ft_status insert(ft_sql *sql, int64_t job, int64_t n, const ft_results *results,
                        const ft_result *result, int64_t now, ft_error *err)
{
    const ft_record *record = &result->record;
    const char *bytes = results->bytes.text;
    const ft_span print = print_of(record, (ft_span){bytes + result->at, result->length});
    return ft_sql_run(
        sql, NULL, err,
        "INSERT INTO verdicts (job, n, task, \"check\", verdict, property, count, pairs, record, "
        "created, witness, fingerprint) VALUES (?1, ?2, nullif(?3, 0), ?4, ?5, nullif(?6, -1), ?7, "
        "?8, ?9, ?10, ?11, ?12)",
        "iiittiiisiBs", job, n, result->task, ft_check_name(record->check),
        ft_verdict_name(record->verdict), record->property, record->count, record->pairs,
        bytes + result->at, result->length, now, bytes + result->witness_at, result->witness_length,
        print.at, print.length);
}

ft_status ft_store_verdicts_add(ft_sql *sql, const char *job, const ft_results *results,
                                size_t count, ft_error *err)
{
    ft_job_row row;
    int64_t n = 0, now = ft_sql_now(sql);
    FT_REQUIRE(count <= results->count);
    tally tallies[FT_CHECKS][FT_VERDICTS] = {{{0}}};
    ft_status status = ft_store_job_row(sql, job, &row, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "UPDATE jobs SET verdicts = verdicts + ?2 WHERE n = ?1",
                            "ii", row.n, (int64_t)count);
    if (status == FT_OK) n = row.verdicts;
    for (size_t i = 0; i < count && status == FT_OK; i++) {
        const ft_result *result = &results->items[i];
        status = insert(sql, row.n, ++n, results, result, now, err);
        count_in(&tallies[result->record.check][result->record.verdict], result);
    }
    for (int c = 0; c < FT_CHECKS; c++)
        for (int v = 0; v < FT_VERDICTS; v++)
            if (status == FT_OK && tallies[c][v].records > 0)
                status = add_tally(sql, job, c, v, &tallies[c][v], err);
    return status;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static json_t *zero_counts(int64_t candidates)
{
    json_t *counts = json_pack("{s:I}", "candidates", (json_int_t)candidates);
    for (int v = 0; v < FT_VERDICTS; v++)
        json_object_set_new(counts, ft_verdict_name((ft_verdict)v), json_integer(0));
    return counts;
}

/* Undecided candidates are counted too, so that the counts add up at any moment. */
static void add_pending(json_t *counts)
{
    json_int_t open = json_integer_value(json_object_get(counts, "candidates"));
    for (int v = 0; v < FT_VERDICTS; v++)
        open -= json_integer_value(json_object_get(counts, ft_verdict_name((ft_verdict)v)));
    if (open != 0) json_object_set_new(counts, "pending", json_integer(open));
}

ft_status ft_store_checks(ft_sql *sql, const char *job, const json_t *plan, json_t **checks,
                          ft_error *err)
{
    ft_statement *statement;
    bool row;
    const char *name;
    json_t *candidates, *counts, *out = json_object();
    json_object_foreach(json_object_get(plan, "candidates"), name, candidates)
        json_object_set_new(out, name, zero_counts(json_integer_value(candidates)));
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT \"check\", verdict, count FROM tallies WHERE job = ?1", "t", job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        counts = json_object_get(out, ft_sql_text(statement, 0));
        json_object_set_new(counts, ft_sql_text(statement, 1),
                            json_integer(ft_sql_int(statement, 2)));
    }
    json_object_foreach(out, name, counts) add_pending(counts);
    if (status != FT_OK) {
        json_decref(out);
        return status;
    }
    *checks = out;
    return FT_OK;
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* The verdict of a property that has records of several candidates is the gravest of theirs. */
static ft_status property_record(ft_sql *sql, const char *job, int64_t property, json_t **record,
                                 ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT record FROM verdicts WHERE job = " FT_JOB_N
        " AND \"check\" = 'property' AND property = ?2 "
        "ORDER BY CASE verdict WHEN 'violation' THEN 0 WHEN 'error' THEN 1 WHEN 'unknown' THEN 2 "
        "WHEN 'bounded' THEN 3 ELSE 4 END, " FT_PLAN_ORDER " LIMIT 1",
        "ti", job, property);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    return ft_store_parse(statement, 0, record, err);
}

/* Without a record: undecided while the job runs, and after a job that did not get to its end. */
static json_t *unrecorded(ft_job_state state)
{
    if (state != FT_JOB_DONE) return json_pack("{s:n, s:n}", "verdict", "reason");
    return json_pack("{s:s, s:{s:s, s:s}}", "verdict", ft_verdict_name(FT_VERDICT_SAFE), "reason",
                     "pass", ft_reason_name(FT_REASON_CONSTANT), "text",
                     "no event or pair of events of the trace can violate it");
}

static json_t *property_line(const json_t *property, size_t index, const json_t *record,
                             ft_job_state state)
{
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    bool violated = verdict && strcmp(verdict, ft_verdict_name(FT_VERDICT_VIOLATION)) == 0;
    bool decided = record && (violated || ft_job_state_final(state));
    json_t *line = decided ? json_pack("{s:O, s:O?}", "verdict", json_object_get(record, "verdict"),
                                       "reason", json_object_get(record, "reason"))
                           : unrecorded(record ? FT_JOB_SOLVING : state);
    json_t *name = json_object_get(property, "name");
    if (!name) name = json_object_get(record, "name");
    json_object_set_new(line, "property", json_integer((json_int_t)index));
    json_object_set(line, "name", name ? name : json_null());
    json_object_set(line, "kind", json_object_get(property, "kind"));
    return line;
}

static ft_status properties(ft_sql *sql, const char *job, const json_t *spec, ft_job_state state,
                            json_t *out, ft_error *err)
{
    size_t index;
    json_t *property;
    json_array_foreach(json_object_get(spec, "properties"), index, property)
    {
        json_t *record = NULL;
        ft_status status = property_record(sql, job, (int64_t)index, &record, err);
        if (status != FT_OK) return status;
        json_array_append_new(out, property_line(property, index, record, state));
        json_decref(record);
    }
    return FT_OK;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* Columns of a verdict: its record, number, verdict, witness. */
#define RECORD_COLUMNS "record, n, verdict, witness"

/* Where a report's page begins. While a job runs its records come in the order of their commits,
 * which a client can page through without missing any; when it has ended, in the order of the plan,
 * which is the same whatever number of workers there were. A client that began before the end goes
 * on in the order of the commits. */
typedef struct page_start {
    bool planned;  /* in the order of the plan */
    int64_t after; /* the number of the last record of the page before; 0: the first page */
} page_start;

/* The first letter of a cursor in the order of the plan. */
#define PLANNED "p"

static ft_status find_start(const char *cursor, ft_job_state state, page_start *start,
                            ft_error *err)
{
    start->planned =
        cursor ? strncmp(cursor, PLANNED, strlen(PLANNED)) == 0 : ft_job_state_final(state);
    return ft_store_cursor(cursor && start->planned ? cursor + strlen(PLANNED) : cursor, 0,
                           &start->after, err);
}

static json_t *next_start(const page_start *start, int64_t last)
{
    return json_sprintf("%s%lld", start->planned ? PLANNED : "", (long long)last);
}

/* Adds the text of a witness that is kept apart; nothing without one. */
static ft_status witness_text(ft_statement *statement, ft_strbuf *text, ft_error *err)
{
    size_t length;
    const void *bytes = ft_sql_bytes(statement, 3, &length);
    return bytes ? ft_witness_read(bytes, length, text, err) : FT_OK;
}

static ft_status parse_record(ft_statement *statement, const char *job, json_t **record,
                              ft_error *err)
{
    ft_status status = ft_store_parse(statement, 0, record, err);
    if (status != FT_OK) return status;
    json_object_set_new(*record, "finding",
                        json_sprintf("%s-%lld", job, (long long)ft_sql_int(statement, 1)));
    return FT_OK;
}

/* With its review and its witness; without one if that is NULL. */
static ft_status add_parsed(ft_sql *sql, ft_statement *statement, const char *job,
                            const ft_strbuf *witness, json_t **entry, ft_error *err)
{
    json_t *record = NULL;
    ft_status status = parse_record(statement, job, &record, err);
    if (status == FT_OK && !witness) json_object_del(record, "witness");
    if (status == FT_OK && witness && witness->len > 0)
        json_object_set_new(record, "witness", json_loadb(witness->text, witness->len, 0, NULL));
    if (status == FT_OK)
        status = ft_store_review_add(sql, job, ft_sql_int(statement, 1), record, err);
    if (status == FT_OK)
        *entry = record;
    else
        json_decref(record);
    return status;
}

/* Adds the text of an object with this value as the member, in its place if it has one. */
static void set_member(const char *object, const char *name, const json_t *value, ft_strbuf *text)
{
    size_t length = strlen(object);
    ft_scan_member of[] = {{.name = name}};
    char *dumped = ft_store_dump(value);
    bool sound = ft_scan_object(object, length, of, 1, NULL) == FT_OK;
    const char *from = of[0].value.at, *to = from ? from + of[0].value.length : NULL;
    if (!sound || !from) from = to = object + length - (length > 0); /* before the closing brace */
    ft_strbuf_add(text, object, (size_t)(from - object));
    if (sound && !of[0].value.at) ft_strbuf_printf(text, ",\"%s\":", name);
    if (sound) ft_strbuf_puts(text, dumped);
    ft_strbuf_puts(text, to);
    free(dumped);
}

/* The text of a record with the project's fingerprint and what it knows of it. */
static void reviewed_text(const char *record, const json_t *added, ft_strbuf *text)
{
    ft_strbuf first = {0};
    set_member(record, "fingerprint", json_object_get(added, "fingerprint"), &first);
    set_member(ft_strbuf_text(&first), "review", json_object_get(added, "review"), text);
    ft_strbuf_release(&first);
}

static void splice_witness(const ft_strbuf *witness, ft_strbuf *record)
{
    if (witness->len == 0 || record->len == 0) return;
    ft_strbuf_cut(record, record->len - 1); /* the closing brace */
    ft_strbuf_puts(record, ",\"witness\":");
    ft_strbuf_add(record, witness->text, witness->len);
    ft_strbuf_puts(record, "}");
}

/* As it is stored, for reports may be long, with the member "finding". Reviews are listed in the
 * report's "reviews" as well. */
static ft_status add_text(ft_sql *sql, ft_statement *statement, const char *job,
                          const ft_strbuf *witness, json_t *report, json_t **entry, ft_error *err)
{
    ft_strbuf text = {0};
    int64_t n = ft_sql_int(statement, 1);
    json_t *added = json_pack("{s:s}", "verdict", ft_sql_text(statement, 2));
    ft_status status = ft_store_review_add(sql, job, n, added, err);
    const json_t *review = json_object_get(added, "review");
    if (status == FT_OK && review) {
        reviewed_text(ft_sql_text(statement, 0), added, &text);
        json_array_append(json_object_get(report, "reviews"), (json_t *)(uintptr_t)review);
    } else {
        ft_strbuf_puts(&text, ft_sql_text(statement, 0));
    }
    splice_witness(witness, &text);
    if (text.len > 0) ft_strbuf_cut(&text, text.len - 1); /* the closing brace */
    ft_strbuf_printf(&text, ",\"finding\":\"%s-%lld\"}", job, (long long)n);
    if (status == FT_OK) *entry = json_stringn_nocheck(text.text, text.len);
    ft_strbuf_release(&text);
    json_decref(added);
    return status;
}

/* The row of a violation whose witness is damaged. */
static ft_status add_damaged(ft_sql *sql, ft_statement *statement, const ft_request *request,
                             const char *why, json_t *report, json_t **entry, ft_error *err)
{
    json_t *record = NULL;
    ft_status status = parse_record(statement, request->job, &record, err);
    if (status != FT_OK) return status;
    ft_store_record_damaged(record, why, json_object_get(report, "damaged"));
    status = ft_store_report_damaged(sql, request->job, report, record, err);
    if (status == FT_OK && request->as_text) {
        char *text = ft_store_dump(record);
        *entry = json_string_nocheck(text);
        free(text);
    } else if (status == FT_OK) {
        *entry = json_incref(record);
    }
    json_decref(record);
    return status;
}

/* The report's list for each verdict. */
static const char *const LISTS[FT_VERDICTS] = {
    [FT_VERDICT_VIOLATION] = "findings", [FT_VERDICT_SAFE] = "safe",
    [FT_VERDICT_BOUNDED] = "undecided",  [FT_VERDICT_UNKNOWN] = "undecided",
    [FT_VERDICT_ERROR] = "undecided",
};

/* *bytes grows by what the record and its witness have. */
static ft_status add_record(ft_sql *sql, ft_statement *statement, const ft_request *request,
                            json_t *report, size_t *bytes, ft_error *err)
{
    ft_verdict verdict = FT_VERDICT_ERROR;
    ft_strbuf witness = {0};
    ft_error damage = FT_ERROR_INIT;
    json_t *entry = NULL;
    ft_status status = FT_OK;
    if (!ft_verdict_parse(ft_sql_text(statement, 2), &verdict)) verdict = FT_VERDICT_ERROR;
    if (witness_text(statement, &witness, &damage) != FT_OK) {
        verdict = FT_VERDICT_ERROR;
        status = add_damaged(sql, statement, request, damage.message, report, &entry, err);
    } else if (request->as_text) {
        status = add_text(sql, statement, request->job, &witness, report, &entry, err);
    } else {
        status =
            add_parsed(sql, statement, request->job, request->brief ? NULL : &witness, &entry, err);
    }
    size_t length;
    (void)ft_sql_bytes(statement, 0, &length);
    *bytes += length + (request->brief ? 0 : witness.len);
    ft_strbuf_release(&witness);
    if (status == FT_OK) json_array_append_new(json_object_get(report, LISTS[verdict]), entry);
    return status;
}

#define ASKED                                                                                      \
    "job = " FT_JOB_N " AND (?3 IS NULL OR \"check\" = ?3) AND (?4 <> 0 OR verdict <> 'safe') "

/* The task of the record that ended the page before; NULL: the plan decided it, or it is the first
 * page. */
#define LAST_TASK "(SELECT task FROM verdicts WHERE job = " FT_JOB_N " AND n = ?2)"

#define AT_ONCE      "500" /* records: a database may send all that a statement finds */
#define AT_ONCE_ROWS 500

/* Each streams from an index: a page must not cost a sort of all records of its job. The plus signs
 * keep SQLite from the other index. */
static const char COMMITTED[] =
    "SELECT " RECORD_COLUMNS " FROM verdicts WHERE " ASKED "AND n > ?2 ORDER BY n LIMIT " AT_ONCE;
static const char BY_PLAN[] =
    "SELECT " RECORD_COLUMNS " FROM verdicts WHERE " ASKED
    "AND n > ?2 AND +task IS NULL AND " LAST_TASK " IS NULL ORDER BY n LIMIT " AT_ONCE;
static const char BY_TASKS[] = "SELECT " RECORD_COLUMNS " FROM verdicts WHERE +" ASKED
                               "AND task " FT_JOB_TASKS " AND task > coalesce(" LAST_TASK ", 0) "
                               "ORDER BY task LIMIT " AT_ONCE;

/* A page while it fills. */
typedef struct report_page {
    json_t *report;
    int64_t last;   /* the number of its last record */
    uint32_t taken; /* records */
    size_t bytes;
    bool full; /* and there is a further record */
} report_page;

/* *rows: so many were found. */
static ft_status add_some(ft_sql *sql, ft_request *request, const char *text, int64_t after,
                          report_page *page, unsigned *rows, ft_error *err)
{
    ft_statement *statement;
    bool row;
    *rows = 0;
    ft_status status = ft_sql_start(sql, &statement, err, text, "titi", (const char *)request->job,
                                    after, (const char *)request->other, (int64_t)request->safe);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        page->full = (request->limit > 0 && page->taken++ == request->limit) ||
                     page->bytes >= FT_STORE_REPORT_MOST;
        if (page->full) break;
        status = add_record(sql, statement, request, page->report, &page->bytes, err);
        if (status != FT_OK) break;
        page->last = ft_sql_int(statement, 1);
        ++*rows;
    }
    return status;
}

static ft_status add_rows(ft_sql *sql, ft_request *request, const char *text, int64_t after,
                          report_page *page, ft_error *err)
{
    ft_status status = FT_OK;
    unsigned rows = AT_ONCE_ROWS;
    while (status == FT_OK && !page->full && rows == AT_ONCE_ROWS) {
        status = add_some(sql, request, text, after, page, &rows, err);
        after = page->last;
    }
    return status;
}

static ft_status add_records(ft_sql *sql, ft_request *request, const page_start *start,
                             json_t *report, ft_error *err)
{
    report_page page = {.report = report, .last = start->after};
    const char *text = start->planned ? BY_PLAN : COMMITTED;
    if (request->as_text) json_object_set_new(report, "reviews", json_array());
    ft_status status = add_rows(sql, request, text, start->after, &page, err);
    if (status == FT_OK && start->planned)
        status = add_rows(sql, request, BY_TASKS, start->after, &page, err);
    if (page.full) json_object_set_new(report, "next", next_start(start, page.last));
    ft_store_damage_note(report);
    return status;
}

typedef struct job_texts {
    ft_job_state state;
    json_t *spec, *plan;
} job_texts;

static ft_status report_head(ft_sql *sql, const char *job, json_t **report, job_texts *texts,
                             ft_error *err)
{
    ft_statement *statement;
    bool found;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT state, trace, model, revision, spec, coalesce(plan, "
                                    "'null'), coalesce(error, 'null'), "
                                    "finished, project FROM jobs WHERE id = ?1",
                                    "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found) return ft_error_set(err, FT_NOT_FOUND, "no job %s", job);
    json_t *error = NULL;
    if (!ft_job_state_parse(ft_sql_text(statement, 0), &texts->state))
        return ft_error_set(err, FT_INTERNAL, "job %s is in an unknown state", job);
    status = ft_store_parse(statement, 4, &texts->spec, err);
    if (status == FT_OK) status = ft_store_parse(statement, 5, &texts->plan, err);
    if (status == FT_OK) status = ft_store_parse(statement, 6, &error, err);
    if (status != FT_OK) return status;
    *report = json_pack("{s:s, s:s, s:s, s:s?, s:s, s:I, s:o, s:n, s:[], s:[], s:[]}", "job", job,
                        "state", ft_sql_text(statement, 0), "trace", ft_sql_text(statement, 1),
                        "model", ft_sql_null(statement, 2) ? NULL : ft_sql_text(statement, 2),
                        "memory", "sc", "revision", (json_int_t)ft_sql_int(statement, 3), "error",
                        error, "next", "properties", "findings", "undecided");
    json_object_set_new(*report, "finished",
                        ft_sql_null(statement, 7) ? json_null()
                                                  : ft_store_time(ft_sql_int(statement, 7)));
    json_object_set_new(*report, "project", json_string(ft_sql_text(statement, 8)));
    return FT_OK;
}

/* What the plan counted, and the events of the subproblems that the solver was asked. */
static ft_status statistics(ft_sql *sql, const char *job, const json_t *plan, json_t *report,
                            ft_error *err)
{
    static const char *const KEYS[] = {"subproblems", "sliced", "encoded"};
    ft_statement *statement;
    bool row;
    const json_t *planned = json_object_get(plan, "statistics");
    if (!planned) return FT_OK;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT coalesce(sum(solved), 0), coalesce(sum(sliced), 0), coalesce(sum(encoded), 0) "
        "FROM tallies WHERE job = ?1",
        "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    json_t *whole = json_deep_copy(planned);
    for (int i = 0; i < 3; i++)
        json_object_set_new(json_object_get(whole, "events"), KEYS[i],
                            json_integer((json_int_t)ft_sql_int(statement, i)));
    json_object_set_new(report, "statistics", whole);
    return FT_OK;
}

static ft_status fill_report(ft_sql *sql, ft_request *request, const job_texts *texts,
                             const page_start *start, ft_error *err)
{
    json_t *report = request->result, *checks = NULL;
    json_t *notes = json_object_get(texts->plan, "notes");
    if (notes) {
        json_object_set(report, "notes", notes);
    } else {
        json_object_set_new(report, "notes", json_array());
    }
    if (request->safe) json_object_set_new(report, "safe", json_array());
    json_object_set_new(report, "damaged", json_array());
    ft_status status = ft_store_checks(sql, request->job, texts->plan, &checks, err);
    if (status != FT_OK) return status;
    json_object_set_new(report, "checks", checks);
    status = properties(sql, request->job, texts->spec, texts->state,
                        json_object_get(report, "properties"), err);
    if (status == FT_OK) status = statistics(sql, request->job, texts->plan, report, err);
    if (status == FT_OK) status = add_records(sql, request, start, report, err);
    return status;
}

static ft_status run_report(ft_sql *sql, ft_request *request, ft_error *err)
{
    job_texts texts = {0};
    ft_check check;
    page_start start;
    if (request->other && !ft_check_parse(request->other, &check))
        return ft_error_set(err, FT_USAGE, "no check is called %.32s", request->other);
    ft_status status = report_head(sql, request->job, &request->result, &texts, err);
    if (status == FT_OK) status = find_start(request->third, texts.state, &start, err);
    if (status == FT_OK) status = fill_report(sql, request, &texts, &start, err);
    json_decref(texts.spec);
    json_decref(texts.plan);
    return status;
}

void ft_store_report(ft_store *store, const char *job, ft_store_filter filter, ft_store_page page,
                     ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_report, false, done, data);
    request->job = ft_strdup(job);
    request->other = filter.check ? ft_strdup(filter.check) : NULL;
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->safe = filter.safe;
    request->brief = filter.brief;
    request->as_text = filter.as_text;
    request->limit = page.limit;
    ft_store_send(store, request);
}

static ft_status found_record(ft_sql *sql, ft_statement *statement, const char *job,
                              json_t **record, ft_error *err)
{
    ft_strbuf witness = {0};
    ft_error damage = FT_ERROR_INIT;
    json_t *damaged = json_array();
    ft_status status;
    if (witness_text(statement, &witness, &damage) == FT_OK) {
        status = add_parsed(sql, statement, job, &witness, record, err);
    } else {
        status = parse_record(statement, job, record, err);
        if (status == FT_OK) ft_store_record_damaged(*record, damage.message, damaged);
    }
    if (status == FT_OK) json_object_set(*record, "damaged", damaged);
    json_decref(damaged);
    ft_strbuf_release(&witness);
    return status;
}

static ft_status run_finding(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool found = false;
    char job[FT_STORE_JOB_ID + 1];
    int64_t n = -1;
    const char *dash = strchr(request->job, '-');
    if (dash && dash - request->job == FT_STORE_JOB_ID) {
        snprintf(job, sizeof job, "%s", request->job);
        if (ft_store_cursor(dash + 1, -1, &n, NULL) != FT_OK) n = -1;
    }
    if (n < 0) return ft_error_set(err, FT_NOT_FOUND, "no finding %.64s", request->job);
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT " RECORD_COLUMNS " FROM verdicts WHERE job = " FT_JOB_N " AND n = ?2",
                     "ti", (const char *)job, n);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &found, err);
    if (status != FT_OK) return status;
    if (!found) return ft_error_set(err, FT_NOT_FOUND, "no finding %.64s", request->job);
    status = found_record(sql, statement, job, &request->result, err);
    if (status == FT_OK) json_object_set_new(request->result, "job", json_string(job));
    return status;
}

void ft_store_finding(ft_store *store, const char *finding, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_finding, false, done, data);
    request->job = ft_strdup(finding);
    ft_store_send(store, request);
}
