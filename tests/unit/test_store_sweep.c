/* Every place of a day's work (store_day.h) at which something can fail under the store. The day is
 * led in one thread with its files in memory; before each step this process is forked once for each
 * place in it, so that nothing is done twice to get there.
 *
 * - Operations on files, and SQLite's allocations, fail once or from then on: the step is refused
 *   with a reason, all or nothing of it is there, and the day goes on.
 * - Allocations of jansson and libuv end the daemon (base/memory.h), so it dies at each.
 * - The power goes before each change of a file: what was not synchronised is lost, or there, or
 *   there in part, in any order.
 *
 * FT_STRIDE: every how many-th place is tried (1: each, which takes an hour; default: some, for a
 * run of seconds). FT_FIRST, FT_LAST: only these of each kind's places, counted from 1, so that
 * several runs can share them. */
#include "store_day.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "one_thread.h"
#include "service/memory_vfs.h"
#include "store_fault.h"

#define CUTS     8  /* chances at each change: everything, nothing, the rest by chance */
#define PATIENT  60 /* seconds for a child */
#define FOLLOWED 8  /* steps after the one with the fault */

static day today;
static size_t present; /* the step under way */

static const char *step_name(void)
{
    return present < STEP_COUNT ? STEPS[present].name : "end";
}

/* ---- Children -------------------------------------------------------------------------------- */

static struct {
    unsigned running, most, wrong;
    uint64_t tried;
    uint64_t *number; /* from a child to its parent */
} children;

static void reap(void)
{
    int status;
    if (wait(&status) < 0) abort();
    children.running--;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    children.wrong++;
    fprintf(stderr, "in step \"%s\" a child ended with status %#x\n", step_name(),
            (unsigned)status);
}

static void reap_all(void)
{
    while (children.running) reap();
}

/* As fork: true in the child, which must end by finish. What fails in it is told, and ends it. */
static bool branch(void)
{
    while (children.running >= children.most) reap();
    if (children.wrong > 9) fail_msg("too much goes wrong");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) abort();
    if (child > 0) {
        children.running++;
        children.tried++;
        return false;
    }
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    alarm(PATIENT);
    return true;
}

/* With an entry where somebody looks for the database with other means than SQLite's. */
static void make_child_folder(char folder[64])
{
    char entry[96];
    make_quick_folder(folder);
    snprintf(entry, sizeof entry, "%s/foretell.db", folder);
    FILE *file = fopen(entry, "we");
    if (!file || fclose(file) != 0) abort();
}

/* The loop's descriptors are shared until then, and the parent holds the lock of its folder. */
static void separate(void)
{
    assert_int_equal(uv_loop_fork(&today.loop), 0);
    make_child_folder(today.folder);
}

static void remove_quick_folder(const char *folder)
{
    DIR *all = opendir(folder);
    for (const struct dirent *entry; all && (entry = readdir(all));)
        (void)unlinkat(dirfd(all), entry->d_name, 0);
    if (all) closedir(all);
    assert_int_equal(rmdir(folder), 0);
}

/* The child's end: closed well, with these steps' content, or one more's. */
static void finish(day *d, size_t steps, const char *when)
{
    check_content(d->folder, steps, when);
    close_store(&d->loop, d->store);
    assert_int_equal(uv_loop_close(&d->loop), 0);
    remove_quick_folder(d->folder);
    _exit(0);
}

/* Of one whose daemon is dead, at any depth of its calls. */
static void start_anew(const char *when)
{
    day after = {.store = NULL};
    make_child_folder(after.folder);
    uv_loop_init(&after.loop);
    open_soundly(&after, when);
    finish(&after, present, when);
}

static void begin(void)
{
    children.tried = 0;
    children.wrong = 0;
    open_day(&today);
}

static void take_today(void)
{
    if (!take(&today, present)) fail_msg("%s: %s", STEPS[present].name, today.a.err.message);
}

static void end(const char *what, uint64_t places)
{
    reap_all();
    print_message("%s: %llu places, %llu trials\n", what, (unsigned long long)places,
                  (unsigned long long)children.tried);
    end_day(&today);
    ft_memory_vfs_clear();
    assert_int_equal(children.wrong, 0);
    assert_true(children.tried > 20 || getenv("FT_FIRST") || getenv("FT_LAST"));
}

/* ---- Places of a step ------------------------------------------------------------------------ */

static bool is_wanted(uint64_t place, uint64_t by)
{
    const char *first = getenv("FT_FIRST"), *last = getenv("FT_LAST");
    return place % by == 0 && (!first || place >= strtoull(first, NULL, 10)) &&
           (!last || place <= strtoull(last, NULL, 10));
}

static uint64_t count_places(const fault *f)
{
    reap_all();
    if (branch()) {
        separate();
        f->arm(0, false);
        take_today();
        *children.number = f->count();
        remove_quick_folder(today.folder);
        _exit(0);
    }
    reap_all();
    children.tried--;
    return *children.number;
}

static void name_place(char when[128], const fault *f, uint64_t nth, const char *how)
{
    snprintf(when, 128, "%s, %llu of step \"%s\"%s", f->name, (unsigned long long)nth, step_name(),
             how);
}

/* Every place of every step: once, and if it may be, to stay. */
static void sweep(const fault *f, uint64_t by, void (*at)(const fault *f, uint64_t nth, bool stays),
                  bool may_stay)
{
    uint64_t places = 0;
    begin();
    for (present = 0; present < STEP_COUNT; present++) {
        uint64_t count = count_places(f);
        for (uint64_t nth = 1; nth <= count; nth++) {
            if (!is_wanted(++places, by)) continue;
            if (branch()) at(f, nth, false);
            if (may_stay && branch()) at(f, nth, true);
        }
        reap_all();
        if (by == 1) print_message("%s: places to %llu\n", step_name(), (unsigned long long)places);
        take_today();
    }
    end(f->name, places);
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* What a fault may have left in the store's memory shows in the steps after it. */
static size_t end_of_trial(void)
{
    size_t steps = present + 1 + FOLLOWED;
    return steps < STEP_COUNT ? steps : STEP_COUNT;
}

/* Goes on after the fault as the dispatcher does, asks again, or after it stayed starts anew. */
static void be_refused(const fault *f, uint64_t nth, bool stays)
{
    char when[128];
    size_t step = present, last = end_of_trial();
    name_place(when, f, nth, stays ? " and all after it" : "");
    separate();
    f->arm(nth, stays);
    while (step < last && take(&today, step)) step++;
    if (f->struck() == 0) fail_msg("%s: did not come about", when);
    if (step < last) check_refusal(&today.a.err, when);
    if (stays && today.store) {
        close_store(&today.loop, today.store);
        today.store = NULL;
    }
    f->arm(0, false);
    for (; !stays && step < last; step++)
        if (!take(&today, step))
            fail_msg("%s: then %s: %s", when, STEPS[step].name, today.a.err.message);
    if (!today.store) open_soundly(&today, when);
    finish(&today, step, when);
}

static void test_files_fail(void **state)
{
    (void)state;
    sweep(&FILES, stride(37), be_refused, true);
}

static void test_memory_fails(void **state)
{
    (void)state;
    sweep(&MEMORY, stride(499), be_refused, true);
}

/* ---- What ends the daemon -------------------------------------------------------------------- */

static struct {
    uint64_t count, fail_at;
} library;

static void die_at(uint64_t nth, bool stays)
{
    (void)stays;
    library.count = 0;
    library.fail_at = nth;
}

static uint64_t library_count(void)
{
    return library.count;
}

static const fault LIBRARIES = {"allocations of jansson and libuv", die_at, library_count,
                                library_count};

static void pass(void)
{
    if (++library.count != library.fail_at) return;
    char when[128];
    name_place(when, &LIBRARIES, library.fail_at, ", where it dies");
    library.fail_at = 0;
    ft_memory_vfs_crash();
    remove_quick_folder(today.folder); /* the child's own; its files are in memory */
    start_anew(when);
}

static void *passing_malloc(size_t size)
{
    pass();
    return malloc(size);
}

static void *passing_calloc(size_t count, size_t size)
{
    pass();
    return calloc(count, size);
}

static void *passing_realloc(void *block, size_t size)
{
    pass();
    return realloc(block, size);
}

static void be_killed(const fault *f, uint64_t nth, bool stays)
{
    separate();
    f->arm(nth, stays);
    take_today();
    fail_msg("place %llu of %s was not there", (unsigned long long)nth, f->name);
}

static void test_libraries_end_it(void **state)
{
    (void)state;
    sweep(&LIBRARIES, stride(97), be_killed, false);
}

/* ---- Losing power ---------------------------------------------------------------------------- */

static struct {
    uint64_t changes, by;
} power;

static void lose_power(uint32_t chance)
{
    char when[128];
    snprintf(when, sizeof when, "no power before change %llu, in step \"%s\", chance %u",
             (unsigned long long)power.changes, step_name(), chance);
    ft_memory_vfs_clear();
    ft_fault_vfs_cut(chance < 2 ? chance : (uint32_t)power.changes * 7919 + chance,
                     ft_memory_vfs_put);
    ft_fault_vfs_watch(NULL, NULL, NULL);
    start_anew(when);
}

static void before_change(void *data)
{
    (void)data;
    if (!is_wanted(++power.changes, power.by)) return;
    for (uint32_t chance = 0; chance < CUTS; chance++)
        if (branch()) lose_power(chance);
    reap_all(); /* they share the lock of the folder */
}

/* As it happens of its own in a longer log. */
static void checkpoint(void)
{
    ft_strbuf path = {0};
    sqlite3 *db;
    ft_strbuf_printf(&path, "%s/foretell.db", today.folder);
    assert_int_equal(sqlite3_open(path.text, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    ft_strbuf_release(&path);
}

static void test_power_goes(void **state)
{
    (void)state;
    power.changes = 0;
    power.by = stride(101);
    begin();
    ft_fault_vfs_watch(today.folder, before_change, NULL);
    for (present = 0; present < STEP_COUNT; present++) {
        take_today();
        if (present % 7 == 6) checkpoint();
        reap_all();
    }
    close_store(&today.loop, today.store);
    today.store = NULL;
    reap_all();
    ft_fault_vfs_watch(NULL, NULL, NULL);
    end("losses of power", power.changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_fail),
        cmocka_unit_test(test_memory_fails),
        cmocka_unit_test(test_libraries_end_it),
        cmocka_unit_test(test_power_goes),
    };
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    children.most = processors > 0 ? (unsigned)processors : 1;
    children.number = mmap(NULL, sizeof *children.number, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (children.number == MAP_FAILED) abort();
    json_set_alloc_funcs(passing_malloc, free);
    (void)uv_replace_allocator(passing_malloc, passing_realloc, passing_calloc, free);
    install_memory();
    ft_memory_vfs_install();
    ft_fault_vfs_install();
    undisturbed_day();
    ft_memory_vfs_clear();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    forget_day();
    ft_fault_vfs_remove();
    ft_memory_vfs_remove();
    return failed;
}
