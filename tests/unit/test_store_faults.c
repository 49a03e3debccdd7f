/* The store when files and memory fail under it: each operation on a file, and each allocation of
 * SQLite, fails in turn under a day's work; and the power goes at each change of a file. After each
 * the store is as it was before the step that failed, or as after it, and sound.
 *
 * FT_STRIDE: every how many-th fault is tried (1: each; default: some, for a run of seconds). */
#include "server_support.h"

#include <dirent.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "service/fault_vfs.h"
#include "store/backup.h"
#include "store/check.h"

static const char HASH[] = "00000000000000000000000000000000000000000000000000000000000000aa";

/* The wall clock of this program, for whoever asks in it. */
#define DAY 86400
static _Atomic int64_t clock_offset; /* seconds */

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    long result = syscall(SYS_gettimeofday, now, NULL);
    now->tv_sec += clock_offset;
    return (int)result;
}

typedef struct day {
    uv_loop_t loop;
    ft_store *store; /* NULL: it did not open */
    char folder[64];
    answer a;
    /* What steps tell later ones. */
    int64_t blob, tasks[4];
    uint64_t token;
    char jobs[2][17];
} day;

/* ---- A day's work, in steps that are one request each -----------------------------------------
 */

static void new_blob(day *d)
{
    ft_store_blob_new(d->store, on_answer, &d->a);
}

static void keep_blob(day *d, const json_t *result)
{
    d->blob = number_of(result, "blob");
}

static char row[FT_STORE_CHUNK];

static void add_row(day *d)
{
    ft_store_blob_add(d->store, d->blob, 0, row, sizeof row, on_answer, &d->a);
}

static void add_last_row(day *d)
{
    ft_store_blob_add(d->store, d->blob, 1, "the end", 7, on_answer, &d->a);
}

static void commit_blob(day *d)
{
    json_t *meta = json_pack("{s:s, s:i}", "trace", HASH, "bytes", 5);
    ft_store_blob_commit(d->store, d->blob, 2, HASH, meta, on_answer, &d->a);
    json_decref(meta);
}

static void drop_blob(day *d)
{
    ft_store_blob_drop(d->store, d->blob, on_answer, &d->a);
}

static void share(day *d)
{
    ft_store_trace_share(d->store, HASH, "team/app", on_answer, &d->a);
}

static void create(day *d, const char *name)
{
    json_t *spec = json_pack("{s:s, s:s}", "trace", HASH, "name", name);
    const ft_store_key key = {name, HASH};
    ft_store_job_create(d->store, spec, &key, 0, on_answer, &d->a);
    json_decref(spec);
}

static void create_first(day *d)
{
    create(d, "first");
}

static void keep_first(day *d, const json_t *result)
{
    snprintf(d->jobs[0], 17, "%s", text_of(result, "job"));
}

static void create_second(day *d)
{
    create(d, "second");
}

static void keep_second(day *d, const json_t *result)
{
    snprintf(d->jobs[1], 17, "%s", text_of(result, "job"));
}

static void lease_one(day *d)
{
    ft_store_lease(d->store, d->jobs[0], 1, 600000, on_answer, &d->a);
}

static void lease_many(day *d)
{
    ft_store_lease(d->store, d->jobs[0], 4, 600000, on_answer, &d->a);
}

static void keep_lease(day *d, const json_t *result)
{
    const json_t *tasks = json_object_get(result, "tasks");
    if (!json_array_size(tasks)) return;
    d->token = (uint64_t)number_of(result, "token");
    for (size_t i = 0; i < json_array_size(tasks) && i < 4; i++)
        d->tasks[i] = number_of(json_array_get(tasks, i), "task");
}

static json_t *record(const char *key, const char *verdict, int count)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "check", "race", "kind", "write-write",
                     "key", key, "verdict", verdict, "count", count, "pairs", count);
}

static void commit_plan(day *d)
{
    json_t *subproblems = json_array();
    for (int i = 0; i < 4; i++)
        json_array_append_new(
            subproblems, json_pack("{s:i, s:s, s:o, s:i}", "subproblem", i, "check", "race", "key",
                                   json_sprintf("race|write-write|r%d", i), "pairs", 1));
    json_t *plan = json_pack(
        "{s:s, s:[], s:{s:i}, s:[o], s:o}", "model", "maximal", "notes", "candidates", "race", 11,
        "records", record("race|write-write|block", "safe", 7), "subproblems", subproblems);
    ft_store_plan_commit(d->store, d->token, d->tasks[0], plan, on_answer, &d->a);
    json_decref(plan);
}

static void commit_results(day *d)
{
    json_t *results =
        json_pack("[{s:I, s:o}, {s:I, s:o}]", "task", (json_int_t)d->tasks[0], "record",
                  record("race|write-write|r0", "violation", 1), "task", (json_int_t)d->tasks[1],
                  "record", record("race|write-write|r1", "safe", 1));
    ft_store_results_commit(d->store, d->jobs[0], d->token, results, on_answer, &d->a);
}

static void beat(day *d)
{
    json_t *news = json_pack("{s:[I], s:{s:i}, s:{s:i}}", "tokens", (json_int_t)d->token, "spent",
                             d->jobs[0], 100, "usage", "default", 100);
    ft_store_extend(d->store, news, 600000, on_answer, &d->a);
}

static void abandon(day *d)
{
    const ft_store_blame blame = {.task = d->tasks[2],
                                  .limit = 1,
                                  .verdict = FT_VERDICT_ERROR,
                                  .reason = FT_REASON_WORKER_DIED,
                                  .text = "it died",
                                  .death = "crash",
                                  .log = "aargh"};
    ft_store_abandon(d->store, d->jobs[0], d->token, blame, on_answer, &d->a);
}

static void commit_last(day *d)
{
    json_t *its = record("race|write-write|r3", "safe", 1);
    ft_store_verdict_commit(d->store, d->token, d->tasks[0], its, on_answer, &d->a);
    json_decref(its);
}

static void report(day *d)
{
    ft_store_report(d->store, d->jobs[0], (ft_store_filter){.safe = true},
                    (ft_store_page){.limit = 0}, on_answer, &d->a);
}

static void list(day *d)
{
    ft_store_jobs(d->store, (ft_store_job_filter){.state = NULL}, (ft_store_page){.limit = 10},
                  on_answer, &d->a);
}

static void cancel_second(day *d)
{
    ft_store_job_cancel(d->store, d->jobs[1], on_answer, &d->a);
}

static void retain(day *d)
{
    clock_offset = 2 * DAY;
    ft_store_retain(d->store, DAY * 1000, 0, on_answer, &d->a);
}

static const struct {
    const char *name;
    void (*ask)(day *d);
    void (*keep)(day *d, const json_t *result); /* may be NULL */
} STEPS[] = {
    {"blob new", new_blob, keep_blob},
    {"row", add_row, NULL},
    {"last row", add_last_row, NULL},
    {"blob commit", commit_blob, NULL},
    {"share", share, NULL},
    {"blob new again", new_blob, keep_blob},
    {"blob drop", drop_blob, NULL},
    {"first job", create_first, keep_first},
    {"second job", create_second, keep_second},
    {"lease of the plan", lease_one, keep_lease},
    {"plan", commit_plan, NULL},
    {"lease", lease_many, keep_lease},
    {"heartbeat", beat, NULL},
    {"results", commit_results, NULL},
    {"abandon", abandon, NULL},
    {"list", list, NULL},
    {"lease again", lease_one, keep_lease},
    {"last result", commit_last, NULL},
    {"report", report, NULL},
    {"cancel", cancel_second, NULL},
    {"retain", retain, NULL},
    {"retain more", retain, NULL},
};
#define STEP_COUNT (sizeof STEPS / sizeof *STEPS)

/* Runs one step; false with d->a.err. */
static bool take(day *d, size_t step)
{
    d->a = (answer){.done = false};
    STEPS[step].ask(d);
    run_until(&d->loop, &d->a.done);
    json_t *result = d->a.result;
    d->a.result = NULL;
    if (!d->a.failed && STEPS[step].keep) STEPS[step].keep(d, result);
    json_decref(result);
    return !d->a.failed;
}

/* ---- What the store has -----------------------------------------------------------------------
 */

/* Everything that a start does not change: what was leased counts as ready, what was being planned
 * as queued, an upload in progress as nothing. */
static const char CONTENT[] =
    "SELECT 'trace ' || hash || ' ' || stored_bytes FROM traces UNION ALL "
    "SELECT 'seen by ' || project FROM trace_projects UNION ALL "
    "SELECT 'job ' || name || ' ' || replace(state, 'planning', 'queued') || ' open ' || open || "
    "' verdicts ' || verdicts FROM jobs UNION ALL "
    "SELECT 'task ' || id || ' ' || replace(state, 'leased', 'ready') || ' deaths ' || attempts "
    "FROM tasks UNION ALL "
    "SELECT 'verdict ' || n || ' ' || ifnull(task, 0) || ' ' || verdict || ' ' || count FROM "
    "verdicts UNION ALL "
    "SELECT 'tally ' || \"check\" || ' ' || verdict || ' ' || records FROM tallies ORDER BY 1";

static char *content_of(const char *folder)
{
    ft_strbuf path = {0}, out = {0};
    sqlite3 *db;
    sqlite3_stmt *statement;
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    assert_int_equal(sqlite3_open_v2(path.text, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, CONTENT, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW)
        ft_strbuf_printf(&out, "%s\n", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    ft_strbuf_release(&path);
    return ft_strbuf_take(&out);
}

/* expected[i]: after i steps of the undisturbed day. */
static char *expected[STEP_COUNT + 1];

/* In memory where that can be had: what is synchronised is known without a disk. */
static void make_quick_folder(char folder[64])
{
    bool memory = access("/dev/shm", W_OK) == 0;
    snprintf(folder, 64, "%s/foretell-test-XXXXXX", memory ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) abort();
}

static void open_day(day *d)
{
    *d = (day){.store = NULL};
    clock_offset = 0;
    make_quick_folder(d->folder);
    uv_loop_init(&d->loop);
}

static ft_status open_store(day *d, ft_error *err)
{
    return ft_store_open(&d->loop, d->folder, &d->store, err);
}

static void open_soundly(day *d, const char *when)
{
    ft_error err = FT_ERROR_INIT;
    if (open_store(d, &err) != FT_OK) fail_msg("%s: it does not open: %s", when, err.message);
}

static void end_day(day *d)
{
    if (d->store) close_store(&d->loop, d->store);
    assert_int_equal(uv_loop_close(&d->loop), 0);
    remove_folder(d->folder);
}

static void check_sound(const char *file, const char *when)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_store_check_file(file, &err) != FT_OK) fail_msg("%s: %s", when, err.message);
}

/* It must be as after `least` steps, or one more. */
static void check_content(const char *folder, size_t least, const char *when)
{
    char *now = content_of(folder);
    size_t most = least < STEP_COUNT ? least + 1 : least;
    if (strcmp(now, expected[least]) != 0 && strcmp(now, expected[most]) != 0)
        fail_msg("%s: after %zu steps there is\n%s--- rather than\n%s--- or\n%s", when, least, now,
                 expected[least], expected[most]);
    free(now);
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    check_sound(path.text, when);
    ft_strbuf_release(&path);
}

static void undisturbed_day(void)
{
    day d;
    open_day(&d);
    open_soundly(&d, "undisturbed");
    expected[0] = content_of(d.folder);
    for (size_t i = 0; i < STEP_COUNT; i++) {
        if (!take(&d, i)) fail_msg("%s: %s", STEPS[i].name, d.a.err.message);
        expected[i + 1] = content_of(d.folder);
    }
    end_day(&d);
}

/* ---- One fault a day --------------------------------------------------------------------------
 */

typedef struct fault {
    void (*arm)(uint64_t nth, bool stays); /* 0: disarms */
    uint64_t (*count)(void);               /* of what could fail, since it was armed */
    uint64_t (*struck)(void);
} fault;

static void check_refusal(const ft_error *err, const char *when)
{
    if (err->code != FT_IO || !*err->message)
        fail_msg("%s: %s: \"%s\"", when, ft_status_name(err->code), err->message);
}

/* Goes on after the fault as the dispatcher does: asks again. */
static void go_on(day *d, size_t step, const fault *f, const char *when)
{
    f->arm(0, false);
    for (size_t i = step; i < STEP_COUNT; i++)
        if (!take(d, i)) fail_msg("%s: then %s: %s", when, STEPS[i].name, d->a.err.message);
}

/* A day on which the n-th thing fails, for once or from then on. True: there is no n-th. */
static bool bad_day(const fault *f, uint64_t nth, bool stays)
{
    day d;
    char when[64];
    ft_error err = FT_ERROR_INIT;
    size_t step = 0;
    bool struck = false;
    snprintf(when, sizeof when, "fault %llu%s", (unsigned long long)nth, stays ? " on" : "");
    open_day(&d);
    f->arm(nth, stays);
    if (open_store(&d, &err) != FT_OK) {
        check_refusal(&err, when);
        struck = true;
        f->arm(0, false);
        open_soundly(&d, when);
    }
    while (step < STEP_COUNT && take(&d, step)) step++;
    struck = struck || f->struck() > 0;
    if (step < STEP_COUNT) check_refusal(&d.a.err, when);
    if (stays || step == STEP_COUNT) {
        close_store(&d.loop, d.store);
        f->arm(0, false);
        open_soundly(&d, when);
        check_content(d.folder, step, when);
    } else {
        go_on(&d, step, f, when);
        check_content(d.folder, STEP_COUNT, when);
    }
    end_day(&d);
    return !struck;
}

static uint64_t stride(uint64_t standard)
{
    const char *text = getenv("FT_STRIDE");
    uint64_t value = text ? strtoull(text, NULL, 10) : standard;
    return value ? value : 1;
}

static void sweep(const fault *f, const char *name, uint64_t standard)
{
    uint64_t days = 0, nth = 1, by = stride(standard);
    for (bool over = false; !over; nth += by, days++) {
        over = bad_day(f, nth, false);
        if (!over) (void)bad_day(f, nth, true);
    }
    print_message("%s: %llu of some %llu faults, each once and to stay\n", name,
                  (unsigned long long)days, (unsigned long long)nth);
    assert_true(days > 10);
}

static const fault FILES = {ft_fault_vfs_fail, ft_fault_vfs_count, ft_fault_vfs_struck};

static void test_files_fail(void **state)
{
    (void)state;
    sweep(&FILES, "operations on files", 71);
}

/* ---- SQLite's memory ---------------------------------------------------------------------------
 */

static struct {
    sqlite3_mem_methods real;
    pthread_mutex_t mutex;
    uint64_t count, struck, fail_at;
    bool stays;
} memory = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool memory_strikes(void)
{
    pthread_mutex_lock(&memory.mutex);
    uint64_t n = ++memory.count;
    bool now = memory.fail_at && (n == memory.fail_at || (memory.stays && n > memory.fail_at));
    if (now) memory.struck++;
    pthread_mutex_unlock(&memory.mutex);
    return now;
}

static void *faulty_malloc(int size)
{
    return memory_strikes() ? NULL : memory.real.xMalloc(size);
}

static void *faulty_realloc(void *block, int size)
{
    return memory_strikes() ? NULL : memory.real.xRealloc(block, size);
}

static void memory_fail(uint64_t nth, bool stays)
{
    pthread_mutex_lock(&memory.mutex);
    memory.count = memory.struck = 0;
    memory.fail_at = nth;
    memory.stays = stays;
    pthread_mutex_unlock(&memory.mutex);
}

static uint64_t memory_count(void)
{
    return memory.count;
}

static uint64_t memory_struck(void)
{
    return memory.struck;
}

static const fault MEMORY = {memory_fail, memory_count, memory_struck};

/* Before SQLite's first use; without its small-block pools, so that every allocation counts. */
static void install_memory(void)
{
    sqlite3_mem_methods faulty;
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real);
    faulty = memory.real;
    faulty.xMalloc = faulty_malloc;
    faulty.xRealloc = faulty_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty) != SQLITE_OK) abort();
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

static void test_memory_fails(void **state)
{
    (void)state;
    sweep(&MEMORY, "SQLite's allocations", 1499);
}

/* ---- Losing power ------------------------------------------------------------------------------
 */

#define CUTS   4 /* chances at each change: nothing, everything, by chance twice */
#define PLACES 512

/* What was left, to be looked at between two steps. */
static struct {
    uint64_t changes, by, looked;
    size_t steps; /* taken and answered: the main thread writes it while the store rests */
    size_t count;
    struct {
        char folder[64];
        size_t steps;
        uint64_t change;
    } left[PLACES];
} power;

/* Before each change of a file; for the store's thread. */
static void cut(void *data)
{
    (void)data;
    if (power.changes++ % power.by != 0) return;
    for (uint32_t seed = 0; seed < CUTS; seed++) {
        size_t at = power.count++;
        if (power.count > PLACES) abort();
        make_quick_folder(power.left[at].folder);
        ft_fault_vfs_cut(power.left[at].folder,
                         seed < 2 ? seed : (uint32_t)power.changes * 7919 + seed);
        power.left[at].steps = power.steps;
        power.left[at].change = power.changes;
    }
}

static void look_at(size_t at)
{
    day d = {.store = NULL};
    char when[64];
    snprintf(d.folder, sizeof d.folder, "%s", power.left[at].folder);
    snprintf(when, sizeof when, "no power before change %llu, chance %zu",
             (unsigned long long)power.left[at].change, at % CUTS);
    uv_loop_init(&d.loop);
    open_soundly(&d, when);
    check_content(d.folder, power.left[at].steps, when);
    end_day(&d);
    power.looked++;
}

static void look_at_all(void)
{
    for (size_t i = 0; i < power.count; i++) look_at(i);
    power.count = 0;
}

/* As it happens of its own in a longer log. */
static void checkpoint(const day *d)
{
    ft_strbuf path = {0};
    sqlite3 *db;
    ft_strbuf_printf(&path, "%s/foretell.db", d->folder);
    assert_int_equal(sqlite3_open(path.text, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    ft_strbuf_release(&path);
}

static void test_power_goes(void **state)
{
    (void)state;
    day d;
    power.by = stride(47);
    open_day(&d);
    ft_fault_vfs_watch(d.folder, cut, NULL);
    open_soundly(&d, "watched");
    look_at_all();
    for (size_t i = 0; i < STEP_COUNT; i++) {
        if (!take(&d, i)) fail_msg("%s: %s", STEPS[i].name, d.a.err.message);
        look_at_all();
        power.steps = i + 1;
        if (i % 7 == 6) checkpoint(&d);
        look_at_all();
    }
    close_store(&d.loop, d.store);
    d.store = NULL;
    look_at_all();
    ft_fault_vfs_watch(NULL, NULL, NULL);
    print_message("power: %llu states left by %llu changes\n", (unsigned long long)power.looked,
                  (unsigned long long)power.changes);
    assert_true(power.looked > 50);
    end_day(&d);
}

/* ---- Backups -----------------------------------------------------------------------------------
 */

/* Entries of a folder. */
static unsigned count_files(const char *folder)
{
    unsigned count = 0;
    DIR *all = opendir(folder);
    while (all && readdir(all)) count++;
    if (all) closedir(all);
    return count - 2;
}

/* A backup that fails says so and leaves nothing. True: it did not. */
static bool back_up(const char *from, uint64_t nth)
{
    char folder[64], when[64];
    ft_strbuf file = {0};
    ft_error err = FT_ERROR_INIT;
    make_quick_folder(folder);
    snprintf(when, sizeof when, "backup, fault %llu", (unsigned long long)nth);
    ft_strbuf_printf(&file, "%s/copy.db", folder);
    ft_fault_vfs_fail(nth, true);
    ft_status status = ft_backup_write(from, file.text, &err);
    ft_fault_vfs_fail(0, false);
    if (status == FT_OK)
        check_sound(file.text, when);
    else
        check_refusal(&err, when);
    assert_int_equal(count_files(folder), status == FT_OK);
    ft_strbuf_release(&file);
    remove_folder(folder);
    return status == FT_OK;
}

static void test_backups_fail(void **state)
{
    (void)state;
    day d;
    uint64_t nth = 1, by = stride(7);
    open_day(&d);
    open_soundly(&d, "before backups");
    for (size_t i = 0; i < 11; i++) assert_true(take(&d, i));
    while (!back_up(d.folder, nth)) nth += by;
    assert_true(nth > 10);
    end_day(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_fail),
        cmocka_unit_test(test_memory_fails),
        cmocka_unit_test(test_power_goes),
        cmocka_unit_test(test_backups_fail),
    };
    memset(row, 'x', sizeof row);
    install_memory();
    ft_fault_vfs_install();
    undisturbed_day();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i <= STEP_COUNT; i++) free(expected[i]);
    ft_fault_vfs_remove();
    return failed;
}
