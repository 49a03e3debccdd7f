/* Claim-and-complete: the store's leases and results as the dispatcher asks for them, and a bare
 * loop that writes the same rows with prepared statements in one transaction a batch. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "bench/queue.h"
#include "store/store.h"

enum { BATCH = 32, LANES = 4, ROUNDS = 3 };
#define REQUIRED 18500.0

typedef struct bench {
    uv_loop_t loop;
    ft_store *store;
    char folder[64], job[FT_STORE_JOB_ID + 1];
    unsigned done, lanes;
    json_t *answer;
    bool answered, closed;
} bench;

typedef struct lane {
    bench *b;
} lane;

/* ---- One request after the other --------------------------------------------------------------
 */

static void on_answer(void *data, const ft_error *err, json_t *result)
{
    bench *b = data;
    if (err) queue_fail(err->message);
    b->answer = json_incref(result);
    b->answered = true;
}

static json_t *await(bench *b)
{
    while (!b->answered) uv_run(&b->loop, UV_RUN_ONCE);
    b->answered = false;
    return b->answer;
}

static int64_t number(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

static void store_trace(bench *b)
{
    json_t *meta = json_pack("{s:s, s:i}", "trace", QUEUE_TRACE, "bytes", 5);
    ft_store_blob_new(b->store, on_answer, b);
    json_t *made = await(b);
    int64_t blob = number(made, "blob");
    ft_store_blob_add(b->store, blob, 0, "trace", 5, on_answer, b);
    json_decref(await(b));
    ft_store_blob_commit(b->store, blob, 1, QUEUE_TRACE, meta, on_answer, b);
    json_decref(await(b));
    json_decref(made);
    json_decref(meta);
}

static json_t *tasks_of(const json_t *lease)
{
    return json_loads(json_string_value(json_object_get(lease, "tasks")), 0, NULL);
}

static void plan_job(bench *b, unsigned tasks)
{
    json_t *spec = json_pack("{s:s}", "trace", QUEUE_TRACE), *plan = queue_plan(tasks);
    ft_store_job_create(b->store, spec, NULL, 0, on_answer, b);
    json_t *snapshot = await(b);
    snprintf(b->job, sizeof b->job, "%s", json_string_value(json_object_get(snapshot, "job")));
    ft_store_lease(b->store, b->job, (ft_store_leasing){1, 600000, 0}, on_answer, b);
    json_t *leased = await(b), *list = tasks_of(leased), *task = json_array_get(list, 0);
    char *dumped = json_dumps(plan, JSON_COMPACT);
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, dumped);
    free(dumped);
    ft_store_plan_commit(b->store, (uint64_t)number(leased, "token"), number(task, "task"), &text,
                         on_answer, b);
    json_decref(await(b));
    json_decref(list);
    json_decref(leased);
    json_decref(snapshot);
    json_decref(plan);
    json_decref(spec);
}

static void on_closed(void *data)
{
    *(bool *)data = true;
}

/* address: of a PostgreSQL store; NULL: SQLite in a folder. */
static void open_bench(bench *b, unsigned tasks, const char *address)
{
    ft_error err = FT_ERROR_INIT;
    memset(b, 0, sizeof *b);
    queue_folder(b->folder);
    uv_loop_init(&b->loop);
    if (ft_store_open(&b->loop, address ? address : b->folder, &b->store, &err) != FT_OK)
        queue_fail(err.message);
    store_trace(b);
    plan_job(b, tasks);
}

static void close_store(bench *b)
{
    ft_store_close(b->store, on_closed, &b->closed);
    while (!b->closed) uv_run(&b->loop, UV_RUN_ONCE);
    uv_loop_close(&b->loop);
}

/* ---- The store --------------------------------------------------------------------------------
 */

static void on_leased(void *data, const ft_error *err, json_t *lease);

static void on_committed(void *data, const ft_error *err, json_t *change)
{
    (void)data;
    if (err) queue_fail(err->message);
    if (json_array_size(json_object_get(change, "late"))) queue_fail("a result came too late");
}

/* The results of a batch and the claim of the next one go out together, as they do when a worker
 * has answered the last of its tasks. */
static void complete(lane *l, const json_t *lease, const json_t *tasks)
{
    size_t i;
    json_t *task;
    ft_error err = FT_ERROR_INIT;
    ft_results results = {.items = NULL};
    json_array_foreach(tasks, i, task)
    {
        json_t *record = queue_record(json_incref(json_object_get(task, "key")));
        char *text = json_dumps(record, JSON_COMPACT);
        if (ft_results_add(&results, number(task, "task"), text, strlen(text), NULL, 0, &err) !=
            FT_OK)
            queue_fail(err.message);
        free(text);
        json_decref(record);
    }
    l->b->done += (unsigned)results.count;
    ft_store_results_commit(l->b->store, l->b->job, (uint64_t)number(lease, "token"), &results,
                            on_committed, l);
    ft_store_lease(l->b->store, l->b->job, (ft_store_leasing){BATCH, 600000, 0}, on_leased, l);
}

static void on_leased(void *data, const ft_error *err, json_t *lease)
{
    lane *l = data;
    if (err) queue_fail(err->message);
    json_t *tasks = tasks_of(lease);
    if (json_array_size(tasks) == 0)
        l->b->lanes--;
    else
        complete(l, lease, tasks);
    json_decref(tasks);
}

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

typedef struct taken {
    double wall, cpu;
} taken;

#define TENTHS 10

/* tenths (may be NULL): the times at which each of them was completed. */
static taken claim_all(bench *b, unsigned tasks, double tenths[TENTHS])
{
    unsigned passed = 0;
    lane lanes[LANES];
    double wall = queue_seconds(), cpu = cpu_seconds();
    b->lanes = LANES;
    for (unsigned i = 0; i < LANES; i++) {
        lanes[i].b = b;
        ft_store_lease(b->store, b->job, (ft_store_leasing){BATCH, 600000, 0}, on_leased,
                       &lanes[i]);
    }
    while (b->lanes) {
        uv_run(&b->loop, UV_RUN_ONCE);
        for (; tenths && passed < TENTHS && b->done >= tasks / TENTHS * (passed + 1); passed++)
            tenths[passed] = queue_seconds();
    }
    taken t = {queue_seconds() - wall, cpu_seconds() - cpu};
    if (b->done != tasks) queue_fail("not every task was completed");
    return t;
}

static taken run_store(unsigned tasks, const char *address)
{
    bench b;
    open_bench(&b, tasks, address);
    taken t = claim_all(&b, tasks, NULL);
    close_store(&b);
    queue_remove(b.folder);
    return t;
}

/* ---- The bare loop ----------------------------------------------------------------------------
 */

#define TASK_OF_JOB ((int64_t)1 << 28) /* the plan of the first job; subproblems follow */

static sqlite3_stmt *prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        queue_fail(sqlite3_errmsg(db));
    return statement;
}

static void step(sqlite3 *db, sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE) queue_fail(sqlite3_errmsg(db));
    sqlite3_reset(statement);
}

typedef struct bare {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *lease, *claim, *done, *over, *verdict, *job, *leased, *tally;
    char *record;
} bare;

static void open_bare(bare *x, const bench *b)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell.db", b->folder);
    if (sqlite3_open(path.text, &x->db) != SQLITE_OK) queue_fail("cannot open the database");
    ft_strbuf_release(&path);
    sqlite3_exec(x->db,
                 "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384",
                 NULL, NULL, NULL);
    x->begin = prepare(x->db, "BEGIN IMMEDIATE");
    x->commit = prepare(x->db, "COMMIT");
    x->lease = prepare(x->db, "INSERT INTO leases (token, job, low, high, open, expires) "
                              "VALUES (?1, 1, ?2, ?3, 32, 1)");
    x->claim = prepare(x->db, "INSERT INTO tasks (id, state, token) VALUES (?1, 'leased', ?2)");
    x->done = prepare(x->db, "DELETE FROM tasks WHERE id = ?1 AND token = ?2");
    x->over = prepare(x->db, "DELETE FROM leases WHERE token = ?1");
    x->verdict = prepare(x->db, "INSERT INTO verdicts (job, n, task, \"check\", verdict, count, "
                                "pairs, record, created) VALUES (1, ?2, ?3, 'race', 'safe', 1, 3, "
                                "?4, 1)");
    x->job = prepare(x->db, "UPDATE jobs SET open = open - ?2, verdicts = verdicts + ?2, "
                            "revision = revision + 1 WHERE id = ?1");
    x->leased =
        prepare(x->db, "UPDATE jobs SET ready = ready - ?2, next = next + ?2 WHERE id = ?1");
    x->tally =
        prepare(x->db, "INSERT INTO tallies (job, \"check\", verdict, count, solved, sliced, "
                       "encoded, records) VALUES (?1, 'race', 'safe', ?2, ?2, ?2, ?2, ?2) "
                       "ON CONFLICT DO UPDATE SET count = count + ?2, records = records + ?2");
    json_t *record = queue_record(queue_key(0));
    x->record = json_dumps(record, JSON_COMPACT);
    json_decref(record);
}

static void close_bare(bare *x)
{
    sqlite3_stmt *const all[] = {x->begin, x->commit,  x->lease, x->claim,  x->done,
                                 x->over,  x->verdict, x->job,   x->leased, x->tally};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sqlite3_finalize(all[i]);
    sqlite3_close(x->db);
    free(x->record);
}

static void of_job(bare *x, sqlite3_stmt *statement, const char *job, unsigned count)
{
    sqlite3_bind_text(statement, 1, job, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, count);
    step(x->db, statement);
}

static void claim(bare *x, const char *job, int64_t first, unsigned count, int64_t token)
{
    for (unsigned i = 0; i < count; i++) {
        sqlite3_bind_int64(x->claim, 1, first + i);
        sqlite3_bind_int64(x->claim, 2, token);
        step(x->db, x->claim);
    }
    if (count == 0) return;
    sqlite3_bind_int64(x->lease, 1, token);
    sqlite3_bind_int64(x->lease, 2, first);
    sqlite3_bind_int64(x->lease, 3, first + count - 1);
    step(x->db, x->lease);
    of_job(x, x->leased, job, count);
}

static void finish(bare *x, const char *job, int64_t first, unsigned count, int64_t token)
{
    for (unsigned i = 0; i < count; i++) {
        sqlite3_bind_int64(x->done, 1, first + i);
        sqlite3_bind_int64(x->done, 2, token);
        step(x->db, x->done);
        sqlite3_bind_int64(x->verdict, 2, first + i - TASK_OF_JOB);
        sqlite3_bind_int64(x->verdict, 3, first + i);
        sqlite3_bind_text(x->verdict, 4, x->record, -1, SQLITE_STATIC);
        step(x->db, x->verdict);
    }
    if (count == 0) return;
    sqlite3_bind_int64(x->over, 1, token);
    step(x->db, x->over);
    of_job(x, x->job, job, count);
    of_job(x, x->tally, job, count);
}

/* One transaction completes a batch and claims the next one. */
static taken bare_loop(bare *x, const char *job, unsigned tasks)
{
    double wall = queue_seconds(), cpu = cpu_seconds();
    unsigned claimed = 0, finished = 0;
    while (finished < tasks) {
        unsigned had = claimed - finished, left = tasks - claimed;
        unsigned fresh = left < BATCH ? left : BATCH;
        step(x->db, x->begin);
        finish(x, job, TASK_OF_JOB + 1 + finished, had, finished);
        claim(x, job, TASK_OF_JOB + 1 + claimed, fresh, claimed);
        step(x->db, x->commit);
        finished = claimed;
        claimed += fresh;
    }
    return (taken){queue_seconds() - wall, cpu_seconds() - cpu};
}

static taken run_bare(unsigned tasks)
{
    bench b;
    bare x;
    open_bench(&b, tasks, NULL);
    close_store(&b);
    open_bare(&x, &b);
    taken t = bare_loop(&x, b.job, tasks);
    close_bare(&x);
    queue_remove(b.folder);
    return t;
}

/* ---- Together ---------------------------------------------------------------------------------
 */

static int by_wall(const void *a, const void *b)
{
    double x = ((const taken *)a)->wall, y = ((const taken *)b)->wall;
    return (x > y) - (x < y);
}

static double print(const char *what, taken *rounds, unsigned tasks)
{
    qsort(rounds, ROUNDS, sizeof *rounds, by_wall);
    const taken *t = &rounds[ROUNDS / 2];
    printf("%-22s %9.0f tasks/s %8.1f us of CPU a task\n", what, tasks / t->wall,
           t->cpu / tasks * 1e6);
    return tasks / t->wall;
}

int queue_claim(unsigned tasks)
{
    taken ours[ROUNDS], theirs[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        theirs[i] = run_bare(tasks);
        ours[i] = run_store(tasks, NULL);
    }
    printf("claim-and-complete, batches of at most %d, verdicts included, synchronous=FULL;\n"
           "medians of %d rounds of %u tasks\n",
           BATCH, ROUNDS, tasks);
    double loop = print("bare SQLite loop", theirs, tasks), rate = print("the store", ours, tasks);
    double required = loop / 3 < REQUIRED ? loop / 3 : REQUIRED;
    printf("ratio %.2f; required: %.0f tasks/s: %s\n", rate / loop, required,
           rate >= required ? "met" : "NOT MET");
    return rate >= required ? 0 : 1;
}

int queue_claim_once(unsigned tasks)
{
    taken t = run_store(tasks, NULL);
    printf("%u tasks, %.0f tasks/s\n", tasks, tasks / t.wall);
    return 0;
}

static taken bare_postgres(const char *address, unsigned tasks)
{
    bench b;
    open_bench(&b, tasks, address);
    close_store(&b);
    queue_remove(b.folder);
    return (taken){queue_bare_postgres(address, tasks), 0};
}

int queue_claim_postgres(unsigned tasks)
{
    taken ours[ROUNDS], theirs[ROUNDS];
    char address[512];
    for (int i = 0; i < ROUNDS; i++) {
        queue_postgres_schema(2 * i, address, sizeof address);
        theirs[i] = bare_postgres(address, tasks);
        queue_postgres_schema(2 * i + 1, address, sizeof address);
        ours[i] = run_store(tasks, address);
    }
    printf("claim-and-complete on PostgreSQL, batches of at most %d, verdicts included;\n"
           "medians of %d rounds of %u tasks\n",
           BATCH, ROUNDS, tasks);
    double loop = print("bare libpq loop", theirs, tasks), rate = print("the store", ours, tasks);
    printf("ratio %.2f; required: a third: %s\n", rate / loop,
           rate >= loop / 3 ? "met" : "NOT MET");
    return rate >= loop / 3 ? 0 : 1;
}

/* Whether the last tenth of a long queue goes as fast as the others. */
int queue_long_postgres(unsigned tasks)
{
    bench b;
    char address[512];
    double tenths[TENTHS], start;
    queue_postgres_schema(0, address, sizeof address);
    open_bench(&b, tasks, address);
    start = queue_seconds();
    taken t = claim_all(&b, tasks, tenths);
    close_store(&b);
    queue_remove(b.folder);
    printf("%u tasks drained on PostgreSQL in %.0f s, %.0f tasks/s; by tenths", tasks, t.wall,
           tasks / t.wall);
    for (unsigned i = 0; i < TENTHS; i++)
        printf(" %.0f", tasks / TENTHS / (tenths[i] - (i > 0 ? tenths[i - 1] : start)));
    double last = tenths[TENTHS - 1] - tenths[TENTHS - 2], mean = t.wall / TENTHS;
    printf("; the last one %.2f of the mean\n", mean / last);
    return mean / last >= 0.75 ? 0 : 1;
}
