/* The queue as clients meet it: limits of projects, a check that is interrupted, the database's
 * check. A worker that is stopped (SIGSTOP) keeps a job where it is. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/steps.h"

static const char *const ONE_WORKER[] = {"--workers", "1", NULL};
static const char *const LIMITED[] = {"--workers", "1", "--project-jobs", "1", "--project-bytes",
                                      "700",       NULL};

static void beside(const char *program, char path[4096])
{
    ssize_t length = readlink("/proc/self/exe", path, 4000);
    assert_true(length > 0);
    path[length] = '\0';
    snprintf(strrchr(path, '/') + 1, 64, "%s", program);
}

static int start(void **state)
{
    (void)state;
    ft_steps_server.options = ONE_WORKER;
    return ft_daemon_start(&ft_steps_server) ? 0 : -1;
}

static int start_with_limits(void **state)
{
    (void)state;
    ft_steps_server.options = LIMITED;
    return ft_daemon_start(&ft_steps_server) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    ft_daemon_remove(&ft_steps_server);
    return 0;
}

/* The process of the only worker that solves, once it waits for work: one that is stopped while it
 * starts never takes any. */
static pid_t solver(void)
{
    pid_t pid = 0;
    for (time_t until = time(NULL) + FT_DAEMON_PATIENCE_MS / 1000; !pid && time(NULL) < until;) {
        ft_answer answer = ft_daemon_get(&ft_steps_server, "/v1/workers");
        const json_t *worker = json_array_get(json_object_get(answer.json, "workers"), 0);
        const char *state = json_string_value(json_object_get(worker, "state"));
        if (state && strcmp(state, "idle") == 0)
            pid = (pid_t)json_integer_value(json_object_get(worker, "pid"));
        ft_answer_release(&answer);
    }
    assert_true(pid > 0);
    return pid;
}

static ft_answer post_job(const char *trace, const char *project)
{
    char body[256];
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"project\":\"%s\"}", trace, project);
    return ft_daemon_post(&ft_steps_server, "/v1/jobs", body);
}

static void expect_problem(ft_answer answer, long status, const char *code)
{
    ft_steps_expect(&answer, status, code);
    assert_string_equal(ft_answer_text(&answer, "code"), code);
    ft_answer_release(&answer);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void limits_have_their_own_answers(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], job[64];
    ft_steps_upload(FT_STEPS_RACY, trace);
    expect_problem(ft_daemon_post(&ft_steps_server, "/v1/traces", "T1|w(x)|1\nT2|w(x)|2\n"), 409,
                   "project-full");
    ft_answer answer =
        ft_daemon_post(&ft_steps_server, "/v1/traces?project=other", "T1|w(x)|1\nT2|w(x)|2\n");
    ft_steps_expect(&answer, 201, "the upload of another project");
    ft_answer_release(&answer);
    pid_t worker = solver();
    assert_int_equal(kill(worker, SIGSTOP), 0);
    answer = post_job(trace, "default");
    ft_steps_expect(&answer, 202, "the first job");
    snprintf(job, sizeof job, "%s", ft_answer_text(&answer, "job"));
    ft_answer_release(&answer);
    answer = post_job(trace, "default");
    ft_steps_expect(&answer, 429, "the second job");
    assert_string_equal(ft_answer_text(&answer, "code"), "too-many-jobs");
    assert_non_null(strstr(ft_answer_text(&answer, "detail"), "project default has 1 jobs"));
    assert_non_null(ft_answer_header(&answer, "Retry-After"));
    ft_answer_release(&answer);
    answer = post_job(trace, "other");
    ft_steps_expect(&answer, 202, "a job of another project");
    ft_answer_release(&answer);
    assert_int_equal(kill(worker, SIGCONT), 0);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
}

static ft_answer put_limits(const char *body)
{
    return ft_daemon_call(&ft_steps_server, "PUT", "/v1/limits", NULL, body, strlen(body));
}

static void limits_over_http(void **state)
{
    (void)state;
    static const char *const BAD[] = {"[]",
                                      "{\"project\":7}",
                                      "{\"project\":\"a b\"}",
                                      "{\"project\":\"p\",\"jobs\":-1}",
                                      "{\"project\":\"p\",\"jobs\":\"1\"}",
                                      "{\"project\":\"p\",\"used_ms\":1}"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_answer refused = put_limits(BAD[i]);
        ft_steps_expect(&refused, 422, BAD[i]);
        ft_answer_release(&refused);
    }
    ft_answer answer = put_limits("{\"project\":\"p\",\"jobs\":3,\"memory_mb\":0}");
    ft_steps_expect(&answer, 204, "limits");
    ft_answer_release(&answer);
    answer = put_limits("{\"project\":\"p\",\"jobs\":null}");
    ft_steps_expect(&answer, 204, "fewer limits");
    ft_answer_release(&answer);
    answer = ft_daemon_get(&ft_steps_server, "/v1/limits");
    const json_t *p = json_array_get(json_object_get(answer.json, "limits"), 0);
    assert_int_equal(json_array_size(json_object_get(answer.json, "limits")), 1);
    assert_string_equal(json_string_value(json_object_get(p, "project")), "p");
    assert_true(json_is_null(json_object_get(p, "jobs")));
    assert_int_equal(json_integer_value(json_object_get(p, "memory_mb")), 0);
    assert_true(json_is_integer(json_object_get(p, "memory_mb")));
    const json_t *defaults = json_object_get(answer.json, "defaults");
    assert_int_equal(json_integer_value(json_object_get(defaults, "jobs")), 1);
    ft_answer_release(&answer);
    for (int i = 0; i < 2; i++) {
        answer = ft_daemon_call(&ft_steps_server, "DELETE", "/v1/limits?project=p", NULL, NULL, 0);
        ft_steps_expect(&answer, i ? 404 : 204, "no limits");
        ft_answer_release(&answer);
    }
}

static int command_on(const char *place, const char *arguments, ft_strbuf *out)
{
    char program[4096], line[8192], text[4096];
    beside("foretelld", program);
    snprintf(line, sizeof line, "'%s' %s %s 2>&1", program, arguments, place);
    FILE *pipe = popen(line, "r");
    size_t length = fread(text, 1, sizeof text - 1, pipe);
    ft_strbuf_add(out, text, length);
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int command(const char *arguments, ft_strbuf *out)
{
    char place[FT_DAEMON_PLACE];
    ft_daemon_place(&ft_steps_server, place);
    return command_on(place, arguments, out);
}

static void the_commands(void **state)
{
    (void)state;
    ft_strbuf out = {0};
    assert_int_equal(command("--check-database", &out), 0);
    assert_non_null(strstr(out.text, "is sound"));
    ft_strbuf_clear(&out);
    assert_int_equal(command("limit set team/app --jobs 3 --workers 0", &out), 0);
    assert_int_equal(command("limit list --json", &out), 0);
    assert_non_null(strstr(out.text, "\"team/app\":{\"jobs\":3,\"workers\":0}"));
    assert_int_equal(command("limit set team/app --jobs many", &out), 2);
    assert_int_equal(command("limit set", &out), 2);
    ft_strbuf_release(&out);
}

/* Files that root makes there would keep the daemon out. */
static void only_the_owner_commands(void **state)
{
    (void)state;
    static const char *const COMMANDS[] = {"limit set team/app --jobs 3", "limit list",
                                           "token create --name ops", "token list",
                                           "token revoke 61f3c0ffee61f3c0"};
    enum { NOBODY = 65534 };
    ft_strbuf out = {0};
    char folder[128] = "/", place[160];
    if (geteuid() == 0) {
        snprintf(folder, sizeof folder, "%s/nobodys", ft_steps_server.folder);
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
    }
    snprintf(place, sizeof place, "--state '%s'", folder);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        ft_strbuf_clear(&out);
        assert_int_equal(command_on(place, COMMANDS[i], &out), 2);
        assert_non_null(strstr(out.text, "belongs to another user"));
    }
    assert_int_equal(command_on(place, "limit --help", &out), 0);
    if (geteuid() == 0) assert_int_equal(rmdir(folder), 0); /* nothing was made in it */
    ft_strbuf_release(&out);
}

/* ---- An interrupted check ---------------------------------------------------------------------
 */

/* What it says goes to the file `said`. */
static pid_t start_check(const char *file, bool detach, const char *said)
{
    char program[4096], server[64];
    beside("foretell", program);
    snprintf(server, sizeof server, "http://127.0.0.1:%d", ft_steps_server.port);
    pid_t pid = fork();
    if (pid != 0) return pid;
    FILE *told = freopen(said, "w", stderr);
    if (!told || !freopen("/dev/null", "w", stdout)) _exit(99);
    execl(program, program, "check", file, "--server", server, "--project", "checked",
          detach ? "--detach" : NULL, (char *)NULL);
    _exit(99);
}

/* The id of the only job of the project that has not ended; waits for it. It is there before the
 * client has heard of it. */
static void await_job(char job[64])
{
    *job = '\0';
    for (time_t until = time(NULL) + FT_DAEMON_PATIENCE_MS / 1000; !*job && time(NULL) < until;) {
        ft_answer answer =
            ft_daemon_get(&ft_steps_server, "/v1/jobs?project=checked&limit=1&state=planning");
        const json_t *found = json_array_get(json_object_get(answer.json, "jobs"), 0);
        const char *id = json_string_value(json_object_get(found, "job"));
        snprintf(job, 64, "%s", id ? id : "");
        ft_answer_release(&answer);
    }
    assert_true(*job != '\0');
}

static void expect_said(const char *said, const char *what)
{
    char text[512];
    FILE *file = fopen(said, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (!strstr(text, what)) fail_msg("\"%s\" is not in: %s", what, text);
}

static void interrupt_check(bool detach, const char *state)
{
    char job[64], file[128], said[128], expected[128], trace[FT_DIGEST_HEX + 1];
    int status;
    ft_steps_upload(FT_STEPS_RACY, trace);
    snprintf(file, sizeof file, "%s/racy.std", ft_steps_server.folder);
    snprintf(said, sizeof said, "%s/said", ft_steps_server.folder);
    FILE *written = fopen(file, "w");
    fputs(FT_STEPS_RACY, written);
    fclose(written);
    pid_t worker = solver();
    assert_int_equal(kill(worker, SIGSTOP), 0);
    pid_t check = start_check(file, detach, said);
    await_job(job);
    assert_int_equal(kill(check, SIGINT), 0);
    assert_int_equal(waitpid(check, &status, 0), check);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    snprintf(expected, sizeof expected, "job %s %s", job, detach ? "continues" : "was cancelled");
    expect_said(said, expected);
    if (detach) assert_int_equal(kill(worker, SIGCONT), 0);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), state);
    json_decref(snapshot);
}

static void an_interrupted_check_cancels(void **state)
{
    (void)state;
    interrupt_check(false, "cancelled");
}

static void a_detached_one_goes_on(void **state)
{
    (void)state;
    interrupt_check(true, "done");
}

/* A stopped worker is told from a slow one: its task is tried again by another, not given up. */
static void a_stopped_worker_is_replaced(void **state)
{
    (void)state;
    static const char *const QUICK[] = {"--workers", "1", "--silence-ms", "1500", NULL};
    char trace[FT_DIGEST_HEX + 1], job[64];
    ft_steps_server.options = QUICK;
    assert_true(ft_daemon_start(&ft_steps_server));
    ft_steps_upload(FT_STEPS_RACY, trace);
    assert_int_equal(kill(solver(), SIGSTOP), 0);
    ft_steps_create(trace, "", job);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    const json_t *death = json_array_get(json_object_get(snapshot, "deaths"), 0);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "done");
    assert_string_equal(json_string_value(json_object_get(death, "death")), "silent");
    json_decref(snapshot);
}

/* Ctrl-C reaches a whole group of processes: the server ends, and its workers with it, no earlier.
 */
static void what_a_terminal_sends_is_for_the_server(void **state)
{
    (void)state;
    char trace[FT_DIGEST_HEX + 1], job[64];
    pid_t worker = solver();
    ft_steps_upload(FT_STEPS_RACY, trace);
    assert_int_equal(kill(worker, SIGINT), 0);
    assert_int_equal(kill(worker, SIGHUP), 0);
    ft_steps_create(trace, "", job);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), "done");
    assert_null(json_object_get(snapshot, "deaths"));
    json_decref(snapshot);
    assert_int_equal(solver(), worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits_have_their_own_answers, start_with_limits, stop),
        cmocka_unit_test_setup_teardown(limits_over_http, start_with_limits, stop),
        cmocka_unit_test_setup_teardown(the_commands, start, stop),
        cmocka_unit_test_setup_teardown(only_the_owner_commands, start, stop),
        cmocka_unit_test_setup_teardown(an_interrupted_check_cancels, start, stop),
        cmocka_unit_test_setup_teardown(a_detached_one_goes_on, start, stop),
        cmocka_unit_test_teardown(a_stopped_worker_is_replaced, stop),
        cmocka_unit_test_setup_teardown(what_a_terminal_sends_is_for_the_server, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
