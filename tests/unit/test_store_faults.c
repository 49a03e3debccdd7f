/* The store when files fail under it: each operation on a file fails in turn under a day's work
 * (store_day.h), once or from then on; after it the store is as it was before the step that failed,
 * or as after it, and sound. The files are real ones, the store has its thread; test_store_sweep
 * has more kinds of faults, and without these two the time to try each.
 *
 * FT_STRIDE: every how many-th fault is tried (1: each; default: some, for a run of seconds). */
#include "store_day.h"

#include <dirent.h>

#include "store/sqlite/backup.h"
#include "store_fault.h"

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
    size_t step = 0;
    snprintf(when, sizeof when, "fault %llu%s", (unsigned long long)nth, stays ? " on" : "");
    open_day(&d);
    f->arm(nth, stays);
    while (step < STEP_COUNT && take(&d, step)) step++;
    bool struck = f->struck() > 0;
    if (step < STEP_COUNT) check_refusal(&d.a.err, when);
    if (stays || step == STEP_COUNT) {
        if (d.store) close_store(&d.loop, d.store);
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

static void sweep(const fault *f, uint64_t by)
{
    uint64_t days = 0, nth = 1;
    for (bool over = false; !over; nth += by, days++) {
        over = bad_day(f, nth, false);
        if (!over) (void)bad_day(f, nth, true);
    }
    print_message("%s: %llu of some %llu faults, each once and to stay\n", f->name,
                  (unsigned long long)days, (unsigned long long)nth);
    assert_true(days > 5);
}

static void test_files_fail(void **state)
{
    (void)state;
    sweep(&FILES, stride(211));
}

static void test_memory_fails(void **state)
{
    (void)state;
    sweep(&MEMORY, 4999);
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
    for (size_t i = 0; i < STEP_COUNT / 3; i++) assert_true(take(&d, i));
    while (!back_up(d.folder, nth)) nth += by;
    assert_true(nth > 10);
    end_day(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_fail),
        cmocka_unit_test(test_memory_fails),
        cmocka_unit_test(test_backups_fail),
    };
    install_memory();
    ft_fault_vfs_install();
    undisturbed_day();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    forget_day();
    ft_fault_vfs_remove();
    return failed;
}
