/* What a daemon keeps and for how long: back-ups while it runs, retention. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "service/steps.h"
#include "store/check.h"
#include "store/sql.h"
#include "store/sqlite/backup.h"

static void find_program(char program[512])
{
    ssize_t length = readlink("/proc/self/exe", program, 500);
    program[length > 0 ? length : 0] = '\0';
    snprintf(strrchr(program, '/'), 12, "/foretelld");
}

static int command(const char *arguments)
{
    char line[1024], program[512];
    find_program(program);
    snprintf(line, sizeof line, "%s %s 2>/dev/null", program, arguments);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static json_t *report_of(const ft_daemon *daemon, const char *job)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/jobs/%s/findings?safe=1", job);
    ft_answer answer = ft_daemon_get(daemon, path);
    ft_steps_expect(&answer, 200, path);
    json_t *report = json_incref(answer.json);
    ft_answer_release(&answer);
    return report;
}

/* Of a store that is a file. */
#define ONLY_FILES                                                                                 \
    if (getenv("FT_TEST_POSTGRES")) skip()

/* ---- Back-ups -------------------------------------------------------------------------------- */

static void a_backup_is_the_same_daemon(void **state)
{
    (void)state;
    ONLY_FILES;
    char trace[FT_DIGEST_HEX + 1], job[64], arguments[256], file[128];
    assert_true(ft_daemon_start(&ft_steps_server));
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, "", job);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));

    ft_daemon copy = {.pid = 0};
    snprintf(copy.folder, sizeof copy.folder, "/tmp/ft-keep-XXXXXX");
    assert_non_null(mkdtemp(copy.folder));
    snprintf(copy.socket, sizeof copy.socket, "%s/socket", copy.folder);
    snprintf(file, sizeof file, "%s/state", copy.folder);
    assert_int_equal(mkdir(file, 0700), 0);
    snprintf(file, sizeof file, "%s/state/foretell.db", copy.folder);
    snprintf(arguments, sizeof arguments, "backup %s --state %s/state", file,
             ft_steps_server.folder);
    assert_int_equal(command(arguments), 0);
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    /* It never writes over anything. */
    assert_int_equal(command(arguments), 4);
    assert_int_equal(command("backup"), 2);
    snprintf(arguments, sizeof arguments, "backup --state=%s/state %s/y", ft_steps_server.folder,
             copy.folder);
    assert_int_equal(command(arguments), 0); /* options may come first */
    snprintf(arguments, sizeof arguments, "backup %s/z --state %s/state --help >/dev/null",
             copy.folder, ft_steps_server.folder);
    assert_int_equal(command(arguments), 0);
    snprintf(arguments, sizeof arguments, "%s/z", copy.folder);
    assert_int_equal(access(arguments, F_OK), -1); /* help is all that it gave */
    snprintf(arguments, sizeof arguments, "backup %s/x --state /nonexistent", copy.folder);
    assert_int_equal(command(arguments), 4);

    assert_true(ft_daemon_start(&copy));
    json_t *here = report_of(&ft_steps_server, job), *there = report_of(&copy, job);
    assert_true(json_equal(here, there));
    json_decref(here);
    json_decref(there);
    assert_true(ft_daemon_stop(&copy));
    ft_daemon_remove(&copy);
    assert_true(ft_daemon_stop(&ft_steps_server));
}

/* Whoever may look into the state folder may not read what is in it. */
static void the_database_is_private(void **state)
{
    (void)state;
    ONLY_FILES;
    static const char *const NAMES[] = {"foretell.db", "foretell.db-wal", "foretell.db-shm"};
    char path[128];
    struct stat info;
    ft_daemon open = {.pid = 0};
    snprintf(open.folder, sizeof open.folder, "/tmp/ft-keep-XXXXXX");
    assert_non_null(mkdtemp(open.folder));
    snprintf(open.socket, sizeof open.socket, "%s/socket", open.folder);
    snprintf(path, sizeof path, "%s/state", open.folder);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_true(ft_daemon_start(&open));
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(path, sizeof path, "%s/state/%s", open.folder, NAMES[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    assert_true(ft_daemon_stop(&open));
    ft_daemon_remove(&open);
}

/* What only looks makes no state folder. */
static void commands_that_look_make_nothing(void **state)
{
    (void)state;
    static const char *const COMMANDS[] = {"token list", "token revoke x", "limit list"};
    char arguments[160], folder[96];
    snprintf(folder, sizeof folder, "%s/nothing", ft_steps_server.folder);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        snprintf(arguments, sizeof arguments, "%s --state %s", COMMANDS[i], folder);
        assert_int_equal(command(arguments), 4);
        assert_int_equal(access(folder, F_OK), -1);
    }
}

/* A copy that is damaged is told from one that is not. */
static void damage_is_found(void **state)
{
    (void)state;
    ONLY_FILES;
    char from[128], file[128];
    ft_error err = FT_ERROR_INIT;
    snprintf(from, sizeof from, "%s/state", ft_steps_server.folder);
    snprintf(file, sizeof file, "%s/copy.db", ft_steps_server.folder);
    if (ft_backup_write(from, file, &err) != FT_OK) fail_msg("%s", err.message);
    if (ft_backup_check(file, &err) != FT_OK) fail_msg("%s", err.message);
    FILE *copy = fopen(file, "r+");
    assert_non_null(copy);
    assert_int_equal(fseek(copy, 0, SEEK_END), 0);
    long size = ftell(copy);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    for (long at = 4096; at + 4096 <= size; at += 4096) {
        fseek(copy, at, SEEK_SET);
        assert_int_equal(fwrite(junk, 1, sizeof junk, copy), sizeof junk);
    }
    fclose(copy);
    assert_int_equal(ft_backup_check(file, &err), FT_IO);
    unlink(file);
}

static unsigned count_parts(const char *folder)
{
    unsigned count = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (const struct dirent *entry; (entry = readdir(all));)
        count += strstr(entry->d_name, ".part-") != NULL;
    closedir(all);
    return count;
}

/* A state folder with so much in it that a copy takes a while. */
static void make_large(const char *folder)
{
    char from[128], file[128];
    sqlite3 *db;
    ft_error err = FT_ERROR_INIT;
    snprintf(from, sizeof from, "%s/state", ft_steps_server.folder);
    snprintf(file, sizeof file, "%s/foretell.db", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    if (ft_backup_write(from, file, &err) != FT_OK) fail_msg("%s", err.message);
    assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TABLE ballast (bytes BLOB);"
                                  "INSERT INTO ballast VALUES (randomblob(50000000));",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

static pid_t start_backup(const char *folder, const char *file)
{
    char program[512];
    find_program(program);
    pid_t pid = fork();
    if (pid != 0) return pid;
    execl(program, program, "backup", file, "--state", folder, (char *)NULL);
    _exit(127);
}

/* Sends the signal once the copy is begun. False: it was whole before that. */
static bool interrupt_backup(const char *folder, const char *file, int number)
{
    char part[192];
    int status;
    pid_t pid = start_backup(folder, file);
    snprintf(part, sizeof part, "%s.part-%d", file, (int)pid);
    while (access(part, F_OK) != 0 && access(file, F_OK) != 0) {
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    }
    kill(pid, number);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (access(file, F_OK) == 0) return false;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
    return true;
}

static void an_interrupted_backup_leaves_nothing(void **state)
{
    (void)state;
    ONLY_FILES;
    static const int NUMBERS[] = {SIGINT, SIGTERM, SIGHUP};
    char folder[96], file[128];
    snprintf(folder, sizeof folder, "%s/large", ft_steps_server.folder);
    snprintf(file, sizeof file, "%s/copy.db", folder);
    make_large(folder);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        while (!interrupt_backup(folder, file, NUMBERS[i])) unlink(file);
        assert_int_equal(count_parts(folder), 0);
    }
}

static void make_file(const char *folder, const char *name, pid_t pid, const char *rest)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s.part-%d%s", folder, name, (int)pid, rest);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* What a backup of the same name left when it was killed goes; nothing else does. */
static void stale_parts_go(void **state)
{
    (void)state;
    ONLY_FILES;
    char from[128], folder[96], path[192];
    ft_error err = FT_ERROR_INIT;
    pid_t gone = fork();
    if (gone == 0) _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    snprintf(from, sizeof from, "%s/state", ft_steps_server.folder);
    snprintf(folder, sizeof folder, "%s/parts", ft_steps_server.folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    make_file(folder, "a.db", gone, "");
    make_file(folder, "a.db", gone, "-journal");
    make_file(folder, "a.db", getpid(), "-journal");
    make_file(folder, "a.db", getppid(), "");
    make_file(folder, "a.db", gone, "x");
    make_file(folder, "aa.db", gone, "");
    snprintf(path, sizeof path, "%s/a.db.part-0%d", folder, (int)gone);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/a.db", folder);
    if (ft_backup_write(from, path, &err) != FT_OK) fail_msg("%s", err.message);
    assert_int_equal(count_parts(folder), 4);
    /* Nothing is removed where there is nothing to write. */
    make_file(folder, "a.db", gone, "");
    assert_int_equal(ft_backup_write(from, path, &err), FT_CONFLICT);
    assert_int_equal(count_parts(folder), 5);
}

/* ---- Retention ------------------------------------------------------------------------------- */

/* Turns the daemon's clock back for what it has: as if all was done two days ago. */
static void age_everything(void)
{
    char database[512];
    ft_sql sql = {.driver = NULL};
    ft_error err = FT_ERROR_INIT;
    ft_daemon_database(&ft_steps_server, database);
    ft_status status = ft_sql_open_existing(&sql, database, &err);
    if (status == FT_OK)
        status = ft_sql_script(&sql,
                               "UPDATE jobs SET created = created - 172800000, "
                               "finished = finished - 172800000;"
                               "UPDATE traces SET created = created - 172800000;",
                               &err);
    ft_sql_close(&sql);
    if (status != FT_OK) fail_msg("%s", err.message);
}

static void await_status(const char *path, long status)
{
    long last = 0;
    for (int i = 0; i < 100000 && last != status; i++) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, path);
        last = answer.status;
        ft_answer_release(&answer);
    }
    assert_int_equal(last, status);
}

static void expect_sound(void)
{
    char database[512];
    ft_error err = FT_ERROR_INIT;
    ft_daemon_database(&ft_steps_server, database);
    if (ft_store_check_file(database, &err) != FT_OK) fail_msg("%s", err.message);
}

static void old_jobs_go(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"--retain-days", "1", "--retain-check-ms", "100", NULL};
    char trace[FT_DIGEST_HEX + 1], old[64], path[128];
    ft_steps_server.options = OPTIONS;
    assert_true(ft_daemon_start(&ft_steps_server));
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, "", old);
    json_decref(ft_daemon_finish(&ft_steps_server, old, NULL, NULL));
    age_everything();
    snprintf(path, sizeof path, "/v1/jobs/%s", old);
    await_status(path, 404);
    snprintf(path, sizeof path, "/v1/traces/%s", trace);
    await_status(path, 404);
    /* It can be sent anew. */
    ft_answer answer = ft_daemon_post(&ft_steps_server, "/v1/traces", FT_STEPS_RACY);
    ft_steps_expect(&answer, 201, "the trace again");
    ft_answer_release(&answer);
    assert_true(ft_daemon_stop(&ft_steps_server));
    expect_sound();
}

/* With room for one byte everything old goes that no running job needs, and nothing young. */
static void a_full_store_makes_room(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"--retain-bytes", "1", "--retain-check-ms", "100", NULL};
    static const char YOUNG[] = "T1|w(y)|young\nT2|w(y)|2\n";
    char trace[FT_DIGEST_HEX + 1], young[FT_DIGEST_HEX + 1], job[64], path[128];
    ft_steps_server.options = OPTIONS;
    assert_true(ft_daemon_start(&ft_steps_server));
    ft_steps_upload(FT_STEPS_RACY, trace);
    ft_steps_create(trace, "", job);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
    age_everything();
    ft_steps_upload(YOUNG, young);
    snprintf(path, sizeof path, "/v1/traces/%s", trace);
    await_status(path, 404);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    await_status(path, 404);
    json_decref(ft_steps_report(young, "", "done"));
    assert_true(ft_daemon_stop(&ft_steps_server));
    expect_sound();
}

static int tear_down(void **state)
{
    (void)state;
    ft_daemon_remove(&ft_steps_server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backup_is_the_same_daemon),
        cmocka_unit_test(the_database_is_private),
        cmocka_unit_test(commands_that_look_make_nothing),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(an_interrupted_backup_leaves_nothing),
        cmocka_unit_test(stale_parts_go),
        cmocka_unit_test(old_jobs_go),
        cmocka_unit_test(a_full_store_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
