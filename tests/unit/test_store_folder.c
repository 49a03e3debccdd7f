/* What only a store in a state folder has: its lock, its file, what it does after a crash. */
#include "store_support.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "store/check.h"

/* ---- Opening --------------------------------------------------------------------------------- */

static void test_second_daemon_refused(void **state)
{
    fixture *f = *state;
    ft_error err = FT_ERROR_INIT;
    ft_store *store = NULL;
    assert_int_equal(ft_store_open(&f->loop, f->folder, &store, &err), FT_CONFLICT);
}

/* A child that a killed daemon was starting has its lock for a moment still. */
static void test_lock_for_a_moment(void **state)
{
    fixture *f = *state;
    char path[128];
    int ends[2];
    char byte;
    close_store(&f->loop, f->store);
    snprintf(path, sizeof path, "%s/lock", f->folder);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_RDWR);
        bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!locked || write(ends[1], "!", 1) != 1) _exit(1);
        poll(NULL, 0, 300); /* while the daemon starts */
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    open_store(f);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

static void test_no_database(void **state)
{
    (void)state;
    uv_loop_t loop;
    char folder[64];
    ft_strbuf path = {0};
    make_folder(folder);
    uv_loop_init(&loop);
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    FILE *file = fopen(path.text, "we");
    assert_non_null(file);
    for (int i = 0; i < 4096; i++) fputs("not a database ", file);
    fclose(file);
    ft_error err = FT_ERROR_INIT;
    ft_store *store = NULL;
    assert_int_equal(ft_store_open(&loop, folder, &store, &err), FT_IO);
    assert_int_equal(uv_loop_close(&loop), 0);
    ft_strbuf_release(&path);
    remove_folder(folder);
}

/* ---- The check ------------------------------------------------------------------------------- */

static void test_references_are_checked(void **state)
{
    fixture *f = *state;
    char job[17];
    ft_error err = FT_ERROR_INIT;
    planned(f, job);
    change_at(f->place, "PRAGMA foreign_keys = OFF; UPDATE jobs SET trace = 'gone'");
    assert_int_equal(check_at(f->place, &err), FT_IO);
    assert_non_null(strstr(err.message, "refers to a missing row"));
    change_at(f->place, "UPDATE jobs SET trace = (SELECT hash FROM traces)");
}

/* A run that did not end cleanly is followed by a check; a clean one is not. */
static void test_checked_after_a_crash(void **state)
{
    fixture *f = *state;
    char job[17];
    ft_error err = FT_ERROR_INIT;
    planned(f, job);
    reopen(f);
    assert_false(ft_store_was_unclean(f->store));
    close_store(&f->loop, f->store);
    change_at(f->place, "UPDATE counters SET running = 1");
    open_store(f);
    assert_true(ft_store_was_unclean(f->store));
    close_store(&f->loop, f->store);
    change_at(f->place, "UPDATE tallies SET count = count + 1; UPDATE counters SET running = 1");
    assert_int_equal(ft_store_open(&f->loop, f->place, &f->store, &err), FT_IO);
    assert_non_null(strstr(err.message, "damaged"));
    change_at(f->place, "UPDATE tallies SET count = count - 1");
    open_store(f);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What a start after a crash reads does not grow with what is stored: damage in a job that has
 * ended is found by the whole check alone, which takes far longer. */
static void test_a_large_database_starts_quickly(void **state)
{
    fixture *f = *state;
    char job[17];
    ft_error err = FT_ERROR_INIT;
    planned(f, job);
    close_store(&f->loop, f->store);
    change_at(
        f->place,
        "UPDATE jobs SET finished = 1, state = 'failed'; UPDATE jobs SET next = last + 1;"
        "WITH RECURSIVE i (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM i WHERE n < 200000) "
        "INSERT INTO verdicts (job, n, \"check\", verdict, count, pairs, record, created) "
        "SELECT jobs.n, i.n, 'race', 'safe', 1, 1, '{}', 1 FROM jobs, i;"
        "UPDATE counters SET running = 1");
    double start = cpu_seconds();
    open_store(f);
    double opened = cpu_seconds() - start;
    assert_true(ft_store_was_unclean(f->store));
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell.db", f->folder);
    start = cpu_seconds();
    assert_int_equal(ft_store_check_file(path.text, &err), FT_IO);
    double checked = cpu_seconds() - start;
    assert_non_null(strstr(err.message, "not numbered"));
    ft_strbuf_release(&path);
    if (opened * 4 > checked) fail_msg("%.3f s to open, %.3f s to check", opened, checked);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_second_daemon_refused),   TEST(test_lock_for_a_moment),
        cmocka_unit_test(test_no_database), TEST(test_references_are_checked),
        TEST(test_checked_after_a_crash),   TEST(test_a_large_database_starts_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
