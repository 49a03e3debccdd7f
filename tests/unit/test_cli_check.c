/* The foretell program as a whole, run beside this test: exit codes, what goes to which stream, the
 * private daemon's life, and the commands that talk to a daemon that stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "service/daemon.h"

#define EXAMPLE(name) FT_SOURCE_DIR "/examples/" name

static char folder[] = "/tmp/foretell-cli-XXXXXX"; /* TMPDIR of every run */

/* ---- running -------------------------------------------------------------------------------- */

typedef struct run {
    int code; /* exit code, or minus the signal */
    ft_strbuf out, err;
} run;

typedef struct started {
    pid_t pid;
    int in, out, err;
} started;

static void program_path(char path[512])
{
    ssize_t length = readlink("/proc/self/exe", path, 511);
    assert_true(length > 0);
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash, 512 - (size_t)(slash - path), "/foretell");
}

static int closed = -1; /* a standard stream that programs are started without */

static started start(const char *const *words)
{
    int in[2], out[2], err[2];
    char path[512];
    program_path(path);
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0), dup2(out[1], 1), dup2(err[1], 2);
        if (closed >= 0) close(closed);
        execv(path, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    assert_true(pid > 0);
    close(in[0]), close(out[1]), close(err[1]);
    return (started){pid, in[1], out[0], err[0]};
}

/* Reads both streams to their ends, so that neither can fill up. */
static void drain(started *s, run *result)
{
    struct pollfd ends[2] = {{.fd = s->out, .events = POLLIN}, {.fd = s->err, .events = POLLIN}};
    ft_strbuf *texts[2] = {&result->out, &result->err};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        assert_true(poll(ends, 2, FT_DAEMON_PATIENCE_MS) > 0);
        for (int i = 0; i < 2; i++) {
            char piece[4096];
            if (ends[i].fd < 0 || !ends[i].revents) continue;
            ssize_t got = read(ends[i].fd, piece, sizeof piece);
            if (got > 0) ft_strbuf_add(texts[i], piece, (size_t)got);
            if (got > 0) continue;
            close(ends[i].fd);
            ends[i].fd = -1;
        }
    }
}

static void finish(started *s, run *result)
{
    int status;
    drain(s, result);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    result->code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static run run_with(const void *input, size_t length, const char *const *words)
{
    started s = start(words);
    const char *at = input;
    while (length > 0) {
        ssize_t put = write(s.in, at, length);
        if (put <= 0) break;
        at += put;
        length -= (size_t)put;
    }
    close(s.in);
    run result = {0};
    finish(&s, &result);
    return result;
}

#define RUN(...) run_with(NULL, 0, (const char *const[]){"foretell", __VA_ARGS__, NULL})

static void release(run *result)
{
    ft_strbuf_release(&result->out);
    ft_strbuf_release(&result->err);
}

static void expect_code(const run *result, int code)
{
    if (result->code != code)
        fail_msg("code %d, not %d\n%s%s", result->code, code, ft_strbuf_text(&result->out),
                 ft_strbuf_text(&result->err));
}

static void expect_text(const ft_strbuf *text, const char *part)
{
    if (!strstr(ft_strbuf_text(text), part))
        fail_msg("no \"%s\" in:\n%s", part, ft_strbuf_text(text));
}

static json_t *expect_json(const run *result)
{
    json_error_t why;
    json_t *json = json_loads(ft_strbuf_text(&result->out), JSON_REJECT_DUPLICATES, &why);
    if (!json) fail_msg("%s in:\n%s", why.text, ft_strbuf_text(&result->out));
    return json;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void path_of(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", folder, name);
}

static void write_file(const char *path, const void *data, size_t length)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static ft_strbuf read_file(const char *path)
{
    ft_strbuf text = {0};
    char piece[4096];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0) ft_strbuf_add(&text, piece, got);
    fclose(file);
    return text;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    unsetenv("FORETELL_SERVER");
    return mkdtemp(folder) && setenv("TMPDIR", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* How many private daemons' folders there are. */
static int leftovers;
static int count_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info;
    const char *name = path + ftw->base;
    leftovers += type == FTW_D && ftw->level == 1 && strncmp(name, "foretell-", 9) == 0;
    return 0;
}

static void expect_no_leftovers(void)
{
    leftovers = 0;
    assert_int_equal(nftw(folder, count_entry, 16, FTW_PHYS), 0);
    assert_int_equal(leftovers, 0);
}

/* ---- check ---------------------------------------------------------------------------------- */

static json_int_t count(const json_t *report, const char *check, const char *verdict)
{
    const json_t *counts = json_object_get(json_object_get(report, "checks"), check);
    return json_integer_value(json_object_get(counts, verdict));
}

/* Wang et al. 2010, Fig. 1: the assertion is violated under ctp, not under maximal. */
static void models_decide_the_exit_code(void **state)
{
    (void)state;
    run ctp = RUN("check", "--check", "assertion", "--json", EXAMPLE("fig1.ndjson"));
    expect_code(&ctp, 1);
    json_t *report = expect_json(&ctp);
    assert_int_equal(count(report, "assertion", "violation"), 1);
    assert_string_equal(json_string_value(json_object_get(report, "model")), "ctp");
    json_decref(report);
    release(&ctp);
    run maximal =
        RUN("check", "--check", "assertion", "--model", "maximal", EXAMPLE("fig1.ndjson"));
    expect_code(&maximal, 0);
    expect_text(&maximal.out, "foretell: no findings in");
    release(&maximal);
    expect_no_leftovers();
}

static void a_broken_file_does_not_hide_the_others(void **state)
{
    (void)state;
    char bad[128], message[256];
    path_of(bad, "bad.ndjson");
    static const char text[] = "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"a\"]}\n"
                               "{\"thread\":\"b\",\"kind\":\"begin\"}\n";
    write_file(bad, text, sizeof text - 1);
    snprintf(message, sizeof message, "%s:2:", bad);
    run result = RUN("check", bad, EXAMPLE("fig1.ndjson"), "/nonexistent");
    expect_code(&result, 2);
    expect_text(&result.err, message);
    expect_text(&result.err, "/nonexistent: cannot be opened");
    expect_text(&result.out, "1 assertion failure predicted in " EXAMPLE("fig1.ndjson"));
    release(&result);
    expect_no_leftovers();
}

static void several_files_give_several_reports(void **state)
{
    (void)state;
    run result = RUN("check", "--json", EXAMPLE("fig1.ndjson"), EXAMPLE("fig9b.ndjson"));
    expect_code(&result, 1);
    json_t *json = expect_json(&result), *reports = json_object_get(json, "reports");
    assert_int_equal(json_array_size(reports), 2);
    const char *second = json_string_value(json_object_get(json_array_get(reports, 1), "file"));
    assert_string_equal(second, EXAMPLE("fig9b.ndjson"));
    json_decref(json);
    release(&result);
}

/* Races that take different times to decide: of the last location pairs the solver is asked. */
static void write_many_races(const char *path)
{
    enum { PLACES = 40 };
    ft_strbuf text = {0};
    for (int t = 1; t <= 3; t++) {
        for (int i = 0; i < PLACES; i++) {
            ft_strbuf_printf(&text, "T%d|acq(l%d)|%d\nT%d|w(x%d)|t%d.c:%d\nT%d|rel(l%d)|%d\n", t,
                             i % 7, i, t, i, t, i, t, i % 7, i);
            ft_strbuf_printf(&text, "T%d|%c(y%d)|t%d.c:1%02d\n", t, i % 2 ? 'r' : 'w', i % 9, t, i);
            if (i % 5 == t) ft_strbuf_printf(&text, "T%d|w(x%d)|t%d.c:2%02d\n", t, i, t, i);
        }
    }
    write_file(path, text.text, text.len);
    ft_strbuf_release(&text);
}

/* Whatever the number of workers, and which of them ends first. */
static void findings_in_one_order(void **state)
{
    (void)state;
    static const char *const FORMATS[] = {"text", "markdown", "github"};
    static const char *const WORKERS[] = {"1", "4", "4", "1", "4"};
    char path[128];
    path_of(path, "many.std");
    write_many_races(path);
    for (size_t f = 0; f < sizeof FORMATS / sizeof *FORMATS; f++) {
        char *first = NULL;
        for (size_t i = 0; i < sizeof WORKERS / sizeof *WORKERS; i++) {
            run result = RUN("check", "-q", "--workers", WORKERS[i], "--format", FORMATS[f], path);
            expect_code(&result, 1);
            if (!first) first = ft_strdup(ft_strbuf_text(&result.out));
            assert_string_equal(first, ft_strbuf_text(&result.out));
            release(&result);
        }
        free(first);
    }
}

static void standard_input_and_gzip(void **state)
{
    (void)state;
    ft_strbuf plain = read_file(EXAMPLE("fig1.ndjson"));
    run result = run_with(plain.text, plain.len,
                          (const char *const[]){"foretell", "check", "-q", "-", NULL});
    expect_code(&result, 1);
    expect_text(&result.out, " in <stdin> (model ctp");
    assert_int_equal(result.err.len, 0);
    release(&result);
    char packed[128];
    path_of(packed, "fig1.gz");
    gzFile file = gzopen(packed, "wb");
    assert_int_equal(gzwrite(file, plain.text, (unsigned)plain.len), plain.len);
    assert_int_equal(gzclose(file), Z_OK);
    result = RUN("check", "-q", packed);
    expect_code(&result, 1);
    release(&result);
    ft_strbuf whole = read_file(packed);
    write_file(packed, whole.text, whole.len / 2);
    result = RUN("check", "-q", packed);
    expect_code(&result, 2);
    expect_text(&result.err, packed);
    release(&result);
    ft_strbuf_release(&whole);
    ft_strbuf_release(&plain);
}

/* What cannot be said is no success, and what was closed is not what is opened next. */
static void streams_that_are_closed(void **state)
{
    (void)state;
    static const struct {
        int stream;
        const char *words[6], *says;
    } rows[] = {
        {0, {"foretell", "check", "-q", "-"}, "<stdin>: cannot be read"},
        {1, {"foretell", "check", "-q", EXAMPLE("bank.ndjson")}, "standard output"},
        {1,
         {"foretell", "convert", "--to", "ndjson", EXAMPLE("bank.ndjson"), "-"},
         "standard output"},
        {1, {"foretell", "--help"}, "standard output"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *words[7] = {NULL};
        for (size_t k = 0; k < 6; k++) words[k] = rows[i].words[k];
        closed = rows[i].stream;
        run result = run_with(NULL, 0, words);
        closed = -1;
        expect_code(&result, 2);
        expect_text(&result.err, rows[i].says);
        release(&result);
    }
    expect_no_leftovers();
}

static void properties_alone_and_malformed(void **state)
{
    (void)state;
    run result = RUN("check", "--json", "--property", EXAMPLE("properties/violated.json"),
                     EXAMPLE("bank.ndjson"));
    expect_code(&result, 1);
    json_t *report = expect_json(&result);
    assert_int_equal(count(report, "property", "violation"), 4);
    assert_null(json_object_get(json_object_get(report, "checks"), "race"));
    json_decref(report);
    release(&result);
    result = RUN("check", "--property", EXAMPLE("properties/proved.json"), EXAMPLE("bank.ndjson"));
    expect_code(&result, 0);
    release(&result);
    result =
        RUN("check", "--property", EXAMPLE("properties/malformed.json"), EXAMPLE("bank.ndjson"));
    expect_code(&result, 2);
    expect_text(&result.err, "/properties/0");
    release(&result);
}

static void no_server_is_four(void **state)
{
    (void)state;
    run result = RUN("check", "--server", "unix:/nonexistent/socket", EXAMPLE("fig1.ndjson"));
    expect_code(&result, 4);
    assert_int_equal(result.out.len, 0);
    release(&result);
    result = RUN("jobs");
    expect_code(&result, 2);
    expect_text(&result.err, "FORETELL_SERVER");
    release(&result);
}

/* ---- the private daemon --------------------------------------------------------------------- */

static void await_text(started *s, const char *part)
{
    ft_strbuf seen = {0};
    while (!strstr(ft_strbuf_text(&seen), part)) {
        char piece[256];
        struct pollfd wait = {.fd = s->err, .events = POLLIN};
        assert_true(poll(&wait, 1, FT_DAEMON_PATIENCE_MS) > 0);
        ssize_t got = read(s->err, piece, sizeof piece);
        assert_true(got > 0);
        ft_strbuf_add(&seen, piece, (size_t)got);
    }
    ft_strbuf_release(&seen);
}

static pid_t only_child(pid_t parent)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    fclose(file);
    return (pid_t)strtol(text, NULL, 10);
}

/* The program waits for its standard input, its daemon is up: then the signal comes. */
static void interrupt_with(int number)
{
    started s = start((const char *const[]){"foretell", "check", "-", NULL});
    await_text(&s, "uploading");
    pid_t daemon_pid = only_child(s.pid);
    assert_int_equal(kill(s.pid, number), 0);
    run result = {0};
    finish(&s, &result);
    close(s.in);
    assert_int_equal(result.code, -number);
    assert_true(daemon_pid > 0);
    assert_int_equal(kill(daemon_pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    release(&result);
    expect_no_leftovers();
}

static void signals_take_the_daemon_along(void **state)
{
    (void)state;
    interrupt_with(SIGINT);
    interrupt_with(SIGTERM);
    interrupt_with(SIGHUP);
}

/* ---- witnesses ------------------------------------------------------------------------------ */

static json_t *swap_two_steps(const char *path)
{
    json_t *witness = json_load_file(path, 0, NULL);
    assert_non_null(witness);
    json_t *steps = json_object_get(witness, "steps");
    assert_true(json_array_size(steps) >= 2);
    json_t *first = json_incref(json_array_get(steps, 0));
    json_array_remove(steps, 0);
    json_array_insert_new(steps, 1, first);
    return witness;
}

/* Fig. 1's first two steps are T1's, in program order: swapped they are no execution. */
static void witnesses_are_executed(void **state)
{
    (void)state;
    char found[128], witness[128], tampered[128];
    path_of(found, "found");
    path_of(witness, "found/fig1.ndjson.1.json");
    path_of(tampered, "tampered.json");
    run result =
        RUN("check", "-q", "--check", "assertion", "--witness-dir", found, EXAMPLE("fig1.ndjson"));
    expect_code(&result, 1);
    release(&result);
    result = RUN("verify", witness, EXAMPLE("fig1.ndjson"));
    expect_code(&result, 0);
    expect_text(&result.out, "confirmed: assertion");
    release(&result);
    json_t *json = swap_two_steps(witness);
    assert_int_equal(json_dump_file(json, tampered, 0), 0);
    json_decref(json);
    result = RUN("verify", tampered, EXAMPLE("fig1.ndjson"));
    expect_code(&result, 1);
    expect_text(&result.out, "not confirmed: ");
    release(&result);
    result = RUN("verify", witness, EXAMPLE("fig7.ndjson"));
    expect_code(&result, 2);
    release(&result);
}

static void conversion_keeps_the_events(void **state)
{
    (void)state;
    char binary[128], back[128];
    path_of(binary, "bank.ftb");
    path_of(back, "bank.ndjson");
    const char *const files[] = {EXAMPLE("bank.ndjson"), binary, back};
    run result = RUN("convert", EXAMPLE("bank.ndjson"), binary);
    expect_code(&result, 0);
    release(&result);
    result = RUN("convert", binary, back);
    expect_code(&result, 0);
    release(&result);
    json_t *kinds[3];
    for (int i = 0; i < 3; i++) {
        result = RUN("stats", "--json", files[i]);
        expect_code(&result, 0);
        json_t *stats = expect_json(&result);
        kinds[i] = json_incref(json_object_get(stats, "kinds"));
        assert_int_equal(json_integer_value(json_object_get(stats, "events")), 36);
        json_decref(stats);
        release(&result);
    }
    assert_true(json_equal(kinds[0], kinds[1]) && json_equal(kinds[0], kinds[2]));
    for (int i = 0; i < 3; i++) json_decref(kinds[i]);
    result = RUN("convert", EXAMPLE("bank.ndjson"), "bank.what");
    expect_code(&result, 2);
    expect_text(&result.err, "--to");
    release(&result);
}

/* Whatever it is: the command says which file, and that it is no success. */
static void outputs_that_cannot_be_written(void **state)
{
    (void)state;
    static const char *const rows[][5] = {
        {"convert", EXAMPLE("bank.ndjson"), "/dev/full/none.ndjson"},
        {"convert", "--to", "ndjson", EXAMPLE("bank.ndjson"), "/dev/full"},
        {"merge", EXAMPLE("branch_run1.ndjson"), EXAMPLE("branch_run2.ndjson"), "-o", "/dev/full"},
        {"check", EXAMPLE("bank.ndjson"), "-o", "/dev/full"},
        {"check", EXAMPLE("bank.ndjson"), "--json", "-o", "/dev/full"},
        {"check", EXAMPLE("bank.ndjson"), "--report=sarif=/dev/full/none.sarif"},
        {"check", EXAMPLE("bank.ndjson"), "--write-baseline", "/dev/full"},
        {"check", EXAMPLE("bank.ndjson"), "--witness-dir", "/dev/full/none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *words[7] = {"foretell"};
        for (size_t k = 0; k < 5; k++) words[k + 1] = rows[i][k];
        run result = run_with(NULL, 0, words);
        expect_code(&result, 2);
        expect_text(&result.err, "/dev/full");
        expect_text(&result.err, "cannot be");
        release(&result);
    }
}

/* A pipe is written and stays one; of a link the file behind it is written. */
static void outputs_stay_what_they_are(void **state)
{
    (void)state;
    char pipe_path[128], link_path[128], file[128], text[1 << 16];
    struct stat there;
    path_of(pipe_path, "pipe.ndjson");
    path_of(link_path, "link.ndjson");
    path_of(file, "behind.ndjson");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int end = open(pipe_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(end >= 0);
    run result = RUN("convert", EXAMPLE("bank.ndjson"), pipe_path);
    expect_code(&result, 0);
    release(&result);
    assert_true(lstat(pipe_path, &there) == 0 && S_ISFIFO(there.st_mode));
    assert_true(read(end, text, sizeof text) > 0);
    assert_memory_equal(text, "{\"format\":\"foretell\"", 20);
    result = RUN("check", "-q", "--check", "assertion", "-o", pipe_path, EXAMPLE("bank.ndjson"));
    expect_code(&result, 1);
    release(&result);
    assert_true(lstat(pipe_path, &there) == 0 && S_ISFIFO(there.st_mode));
    assert_true(read(end, text, sizeof text) > 0);
    close(end);
    int made = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(made >= 0);
    close(made);
    assert_int_equal(symlink(file, link_path), 0);
    result = RUN("convert", EXAMPLE("bank.ndjson"), link_path);
    expect_code(&result, 0);
    release(&result);
    assert_true(lstat(link_path, &there) == 0 && S_ISLNK(there.st_mode));
    assert_true(stat(file, &there) == 0 && there.st_size > 1000);
}

/* Wang et al. 2010, Fig. 11: neither run has the arms that fail together. */
static void merged_runs_show_what_no_run_has(void **state)
{
    (void)state;
    static const char *const runs[] = {EXAMPLE("branch_run1.ndjson"),
                                       EXAMPLE("branch_run2.ndjson")};
    char both[128];
    path_of(both, "both.ndjson");
    run result = RUN("merge", runs[0], runs[1], "-o", both);
    expect_code(&result, 0);
    release(&result);
    for (int i = 0; i < 2; i++) {
        result = RUN("check", "-q", "--check", "assertion", runs[i]);
        expect_code(&result, 0);
        release(&result);
    }
    result = RUN("check", "-q", "--check", "assertion", both);
    expect_code(&result, 1);
    expect_text(&result.out, "1 assertion failure predicted");
    release(&result);
}

/* ---- a daemon that stays -------------------------------------------------------------------- */

static char *first_line(const ft_strbuf *text)
{
    const char *start_of = ft_strbuf_text(text);
    return strndup(start_of, strcspn(start_of, "\n"));
}

static char *first_finding(const char *job)
{
    run result = RUN("show", "--wait", "--json", job);
    expect_code(&result, 1);
    json_t *report = expect_json(&result);
    const json_t *record = json_array_get(json_object_get(report, "findings"), 0);
    char *finding = strdup(json_string_value(json_object_get(record, "finding")));
    json_decref(report);
    release(&result);
    return finding;
}

static void commands_with_a_server(void **state)
{
    (void)state;
    ft_daemon daemon_process = {0};
    char server[128], witness[128];
    path_of(witness, "fetched.json");
    assert_true(ft_daemon_start(&daemon_process));
    snprintf(server, sizeof server, "http://127.0.0.1:%d", daemon_process.port);
    setenv("FORETELL_SERVER", server, 1);
    run result = RUN("submit", "--name", "by hand", "--check", "assertion", EXAMPLE("fig1.ndjson"));
    expect_code(&result, 0);
    char *job = first_line(&result.out);
    assert_int_equal(strncmp(job, server, strlen(server)), 0);
    release(&result);
    char *finding = first_finding(job);
    result = RUN("show", job);
    expect_code(&result, 1);
    expect_text(&result.out, "foretell witness ");
    expect_text(&result.out, "1 assertion failure predicted in by hand (");
    release(&result);
    result = RUN("jobs");
    expect_code(&result, 0);
    expect_text(&result.out, "by hand");
    release(&result);
    result = RUN("witness", finding, "-o", witness);
    expect_code(&result, 0);
    release(&result);
    result = RUN("verify", witness);
    expect_code(&result, 0);
    release(&result);
    result = RUN("cancel", job); /* which has ended already */
    expect_code(&result, 0);
    assert_string_equal(result.out.text, "done\n");
    release(&result);
    result = RUN("show", "0000000000000000");
    expect_code(&result, 2);
    release(&result);
    /* A URL names its server. */
    unsetenv("FORETELL_SERVER");
    result = RUN("show", job);
    expect_code(&result, 1);
    release(&result);
    result = RUN("show", strrchr(job, '/') + 1);
    expect_code(&result, 2);
    expect_text(&result.err, "no server is named");
    release(&result);
    free(job);
    free(finding);
    assert_true(ft_daemon_stop(&daemon_process));
    ft_daemon_remove(&daemon_process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_decide_the_exit_code),
        cmocka_unit_test(a_broken_file_does_not_hide_the_others),
        cmocka_unit_test(several_files_give_several_reports),
        cmocka_unit_test(findings_in_one_order),
        cmocka_unit_test(standard_input_and_gzip),
        cmocka_unit_test(streams_that_are_closed),
        cmocka_unit_test(properties_alone_and_malformed),
        cmocka_unit_test(no_server_is_four),
        cmocka_unit_test(signals_take_the_daemon_along),
        cmocka_unit_test(witnesses_are_executed),
        cmocka_unit_test(conversion_keeps_the_events),
        cmocka_unit_test(outputs_that_cannot_be_written),
        cmocka_unit_test(outputs_stay_what_they_are),
        cmocka_unit_test(merged_runs_show_what_no_run_has),
        cmocka_unit_test(commands_with_a_server),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
