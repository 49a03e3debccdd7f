/* Steps of the tests of the store: one trace, jobs over it, plans, leases, verdicts. */
#ifndef FT_TESTS_STORE_SUPPORT_H
#define FT_TESTS_STORE_SUPPORT_H

#include "server_support.h"

static const char HASH[] = "00000000000000000000000000000000000000000000000000000000000000aa";

typedef struct fixture {
    uv_loop_t loop;
    ft_store *store;
    char folder[64], place[PLACE_MOST];
    answer a;
} fixture;

static inline void open_store(fixture *f)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_store_open(&f->loop, f->place, &f->store, &err) != FT_OK) fail_msg("%s", err.message);
}

static inline void reopen(fixture *f)
{
    close_store(&f->loop, f->store);
    open_store(f);
}

static inline int setup(void **state)
{
    fixture *f = ft_calloc(1, sizeof *f);
    make_folder(f->folder);
    make_place(f->folder, f->place);
    uv_loop_init(&f->loop);
    open_store(f);
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    fixture *f = *state;
    close_store(&f->loop, f->store);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    remove_place(f->folder);
    remove_folder(f->folder);
    free(f);
    return 0;
}

static inline int64_t query(const fixture *f, const char *text)
{
    return number_at(f->place, text);
}

static inline int64_t version_of(const fixture *f)
{
    ft_sql sql;
    int64_t version = 0;
    ft_error err = FT_ERROR_INIT;
    open_at(f->place, &sql);
    if (ft_sql_version(&sql, &version, &err) != FT_OK) fail_msg("%s", err.message);
    ft_sql_close(&sql);
    return version;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static inline int64_t new_blob(fixture *f)
{
    ft_store_blob_new(f->store, on_answer, &f->a);
    json_t *result = expect(&f->loop, &f->a);
    int64_t blob = number_of(result, "blob");
    json_decref(result);
    return blob;
}

static inline void add_row(fixture *f, int64_t blob, uint32_t seq, const char *bytes, size_t length)
{
    ft_store_blob_add(f->store, blob, seq, bytes, length, on_answer, &f->a);
    json_decref(expect(&f->loop, &f->a));
}

static inline bool commit_blob(fixture *f, int64_t blob, uint32_t rows)
{
    json_t *meta = json_pack("{s:s, s:i}", "trace", HASH, "bytes", 5);
    ft_store_blob_commit(f->store, blob, rows, HASH, meta, on_answer, &f->a);
    json_t *result = expect(&f->loop, &f->a);
    bool created = json_is_true(json_object_get(result, "created"));
    json_decref(result);
    json_decref(meta);
    return created;
}

static inline void store_trace(fixture *f)
{
    int64_t blob = new_blob(f);
    add_row(f, blob, 0, "trace", 5);
    assert_true(commit_blob(f, blob, 1));
}

static inline void create_job(fixture *f, char id[17])
{
    json_t *spec = json_pack("{s:s, s:s, s:[{s:s, s:s}, {s:s, s:s}]}", "trace", HASH, "name",
                             "a job", "properties", "kind", "before", "name", "first", "kind",
                             "co-enabled", "name", "second");
    ft_store_job_create(f->store, spec, NULL, 0, on_answer, &f->a);
    json_decref(spec);
    json_t *snapshot = expect(&f->loop, &f->a);
    assert_string_equal(text_of(snapshot, "state"), "queued");
    snprintf(id, 17, "%s", text_of(snapshot, "job"));
    assert_int_equal(strlen(id), 16);
    json_decref(snapshot);
}

/* The text of its tasks read. */
static inline json_t *read_tasks(json_t *leased)
{
    const char *text = text_of(leased, "tasks");
    json_t *tasks = json_loads(text, 0, NULL);
    assert_true(json_is_array(tasks));
    json_object_set_new(leased, "tasks", tasks);
    return leased;
}

static inline json_t *lease(fixture *f, const char *job, uint32_t most)
{
    ft_store_lease(f->store, job, (ft_store_leasing){most, 600000, 0}, on_answer, &f->a);
    return read_tasks(expect(&f->loop, &f->a));
}

static inline uint64_t token_of(const json_t *leased)
{
    return (uint64_t)number_of(leased, "token");
}

static inline size_t size_of(const json_t *leased)
{
    return json_array_size(json_object_get(leased, "tasks"));
}

static inline int64_t task_of(const json_t *leased, size_t index)
{
    return number_of(json_array_get(json_object_get(leased, "tasks"), index), "task");
}

static inline json_t *record(const char *check, const char *key, const char *verdict, int count)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i}", "check", check, "key", key, "verdict", verdict,
                     "count", count, "pairs", 2 * count);
}

/* Two subproblems of race (r0, r1), one of property 0 (p0), a block of 7 safe races, and a
 * violation of the observed run. */
static inline json_t *make_plan(void)
{
    json_t *p0 = json_pack("{s:i, s:s, s:s, s:i, s:i}", "subproblem", 2, "check", "property", "key",
                           "property|before|p0", "pairs", 1, "property", 0);
    return json_pack("{s:s, s:[{s:s}], s:{s:i, s:i, s:i}, s:[o, o], s:[{s:i, s:s, s:s, s:i}, "
                     "{s:i, s:s, s:s, s:i}, o]}",
                     "model", "maximal", "notes", "text", "a note", "candidates", "race", 10,
                     "atomicity", 0, "property", 1, "records", record("race", "block", "safe", 7),
                     record("race", "seen", "violation", 1), "subproblems", "subproblem", 0,
                     "check", "race", "key", "race|write-write|r0", "pairs", 4, "subproblem", 1,
                     "check", "race", "key", "race|write-write|r1", "pairs", 3, p0);
}

/* Steals the plan. */
static inline void commit_plan(fixture *f, const json_t *leased, json_t *plan)
{
    char *dumped = json_dumps(plan, JSON_COMPACT);
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, dumped);
    free(dumped);
    ft_store_plan_commit(f->store, token_of(leased), task_of(leased, 0), &text, on_answer, &f->a);
    json_decref(plan);
}

static inline json_t *plan_job(fixture *f, const char *job)
{
    json_t *leased = lease(f, job, 32), *plan = make_plan();
    assert_string_equal(text_of(leased, "kind"), "plan");
    commit_plan(f, leased, plan);
    json_decref(leased);
    json_t *change = expect(&f->loop, &f->a);
    assert_true(json_is_true(json_object_get(change, "applied")));
    return change;
}

static inline void planned(fixture *f, char job[17])
{
    store_trace(f);
    create_job(f, job);
    json_decref(plan_job(f, job));
}

static inline void job_of(const fixture *f, int64_t task, char job[17])
{
    ft_sql sql;
    ft_statement *statement;
    bool row = false;
    ft_error err = FT_ERROR_INIT;
    open_at(f->place, &sql);
    ft_status status =
        ft_sql_start(&sql, &statement, &err, "SELECT id FROM jobs WHERE n = ?1", "i", task >> 28);
    if (status == FT_OK) status = ft_sql_next(&sql, statement, &row, &err);
    if (status != FT_OK || !row) fail_msg("%s", err.message);
    snprintf(job, 17, "%s", ft_sql_text(statement, 0));
    ft_sql_close(&sql);
}

static inline bool commit(fixture *f, uint64_t token, int64_t task, const char *check,
                          const char *key, const char *verdict)
{
    char job[17];
    json_t *its = record(check, key, verdict, 1);
    job_of(f, task, job);
    send_result(f->store, job, token, task, its, &f->a);
    json_decref(its);
    json_t *change = expect(&f->loop, &f->a);
    bool applied = json_is_true(json_object_get(change, "applied"));
    json_decref(change);
    return applied;
}

static inline json_t *snapshot_of(fixture *f, const char *job)
{
    ft_store_job(f->store, job, on_answer, &f->a);
    return expect(&f->loop, &f->a);
}

static inline json_t *abandon(fixture *f, const char *job, uint64_t token, ft_store_blame blame)
{
    ft_store_abandon(f->store, job, token, blame, on_answer, &f->a);
    return expect(&f->loop, &f->a);
}

/* A record of a report; new reference. */
static inline json_t *listed(const json_t *report, const char *list, size_t index)
{
    const json_t *text = json_array_get(json_object_get(report, list), index);
    json_t *record = json_loads(json_string_value(text), 0, NULL);
    assert_non_null(record);
    return record;
}

static inline json_t *report_of(fixture *f, const char *job, ft_store_filter filter,
                                ft_store_page page)
{
    filter.as_text =
        true; /* as the API asks; what people say of findings is in test_service_reviews */
    ft_store_report(f->store, job, filter, page, on_answer, &f->a);
    return expect(&f->loop, &f->a);
}

static inline const json_t *counts_of(const json_t *of, const char *check)
{
    return json_object_get(json_object_get(of, "checks"), check);
}

#endif
