/* foretell top: the picture, and the command on a terminal, in a pipe and as JSON. */
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/top_picture.h"
#include "service/steps.h"

/* ---- The picture ----------------------------------------------------------------------------- */

static json_t *make_state(void)
{
    static const char TEXT[] =
        "{'stats': {'at': 1700000060000, 'started': 1699990000000, 'sample_ms': 10000,"
        "  'now': {'jobs': 2, 'queued': 1204, 'age_ms': 2100, 'running': 2, 'workers_busy': 1,"
        "    'workers_alive': 2, 'workers_memory': 536870912, 'resident_bytes': 62914560,"
        "    'connections': 12, 'violation': 3, 'safe': 2030, 'bounded': 0, 'unknown': 1,"
        "    'error': 0},"
        "  'history': {'at': [1699990000000, 1700000050000, 1700000060000],"
        "    'tasks': [100000, 300, 404], 'requests': [0, 10, 30]}},"
        " 'workers': [{'worker': 0, 'state': 'working', 'kind': 'solve',"
        "    'job': 'aecf15d8e8213be2', 'memory': 268435456, 'busy_ms': 1234, 'tasks': 77,"
        "    'restarts': 1},"
        "   {'worker': 1, 'state': 'idle', 'kind': null, 'job': null, 'memory': 0, 'busy_ms': 0,"
        "    'tasks': 5, 'restarts': 0}],"
        " 'jobs': [{'job': 'aecf15d8e8213be2', 'state': 'solving', 'name': 'bank\\u001b[2Jé',"
        "    'progress': {'done': 150, 'total': 300},"
        "    'checks': {'race': {'violation': 2}, 'lock': {'violation': 1}}},"
        "   {'job': '61f3c0de61f3c0de', 'state': 'done', 'name': null,"
        "    'progress': {'done': 1, 'total': 1}, 'checks': {}}]}";
    char *text = strdup(TEXT);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *state = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(state);
    return state;
}

static ft_strbuf render(size_t columns, size_t lines, bool color)
{
    ft_strbuf out = {0};
    json_t *state = make_state();
    const ft_top_view view = {"http://h:1", columns, lines, color};
    ft_top_render(state, &view, &out);
    json_decref(state);
    return out;
}

static void says_what_is_there(void **state)
{
    (void)state;
    static const char *const PARTS[] = {
        "foretell http://h:1", "up 2.8 h", "jobs 2 ", "queue 1204, waiting 2.1 s",
        "workers 1 of 2 busy, 512 MiB", "server 60 MiB, 12 connections",
        /* 704 verdicts in the 20 s that the samples of the last minute stand for */
        "last minute  35.2 verdicts/s   2.0 requests/s",
        "3 violation, 2030 safe, 0 bounded, 1 unknown",
        "  0 working   solve   aecf15d8e8213be2  256 MiB    1.2 s      77        1",
        "  1 idle      -       -                       -        -       5        0", "150/300"};
    ft_strbuf out = render(100, 0, false);
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (!strstr(out.text, PARTS[i])) fail_msg("no \"%s\" in\n%s", PARTS[i], out.text);
    /* Three findings; what a stranger named the job does not reach the terminal. */
    assert_non_null(strstr(out.text, "       3 bank?[2J\xc3\xa9\n"));
    assert_null(strchr(out.text, '\033'));
    ft_strbuf_release(&out);
    out = render(100, 0, true);
    assert_non_null(strchr(out.text, '\033'));
    assert_null(strstr(out.text, "\033[2J"));
    ft_strbuf_release(&out);
}

/* Of every width, and of no more lines than there are. */
static void fits(void **state)
{
    (void)state;
    for (size_t columns = 1; columns <= 200; columns++) {
        ft_strbuf out = render(columns, 9, false);
        size_t width = 0, lines = 0;
        for (const char *c = out.text; *c; c++) {
            if (*c == '\n') {
                lines++;
                width = 0;
            } else if (((unsigned char)*c & 0xc0) != 0x80) {
                width++;
            }
            assert_true(width <= columns);
        }
        assert_int_equal(lines, 9);
        ft_strbuf_release(&out);
    }
}

static void values(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *duration, *bytes;
    } ROWS[] = {
        {0, "0 ms", "0 B"},           {999, "999 ms", "999 B"},      {1500, "1.5 s", "1.5 KiB"},
        {99000, "99 s", "97 KiB"},    {180e3, "3.0 min", "176 KiB"}, {7200e3, "2.0 h", "6.9 MiB"},
        {864000e3, "10 d", "824 MiB"}};
    char text[24];
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        ft_top_duration(ROWS[i].value, text);
        assert_string_equal(text, ROWS[i].duration);
        ft_top_bytes(ROWS[i].value, text);
        assert_string_equal(text, ROWS[i].bytes);
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

static void program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    assert_non_null(slash);
    snprintf(slash, size - (size_t)(slash - path), "/foretell");
}

static int run(const char *options, char *out, size_t size)
{
    char path[512], line[1024];
    program(path, sizeof path);
    snprintf(line, sizeof line, "%s top --server http://127.0.0.1:%d %s 2>&1", path,
             ft_steps_server.port, options);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t got = fread(out, 1, size - 1, pipe);
    out[got] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void once(void **state)
{
    (void)state;
    static char out[1 << 20];
    char trace[FT_DIGEST_HEX + 1];
    ft_steps_upload(FT_STEPS_RACY, trace);
    json_decref(ft_steps_report(trace, "\"checks\":[\"race\"],\"name\":\"the one\"", "done"));
    assert_int_equal(run("--once", out, sizeof out), 0);
    assert_non_null(strstr(out, "workers 0 of"));
    assert_non_null(strstr(out, "       1 the one\n"));
    assert_null(strchr(out, '\033'));
    assert_int_equal(run("--once --json", out, sizeof out), 0);
    json_t *document = json_loads(out, 0, NULL);
    assert_non_null(document);
    assert_true(json_array_size(json_object_get(document, "workers")) >= 2);
    json_t *job = json_array_get(json_object_get(document, "jobs"), 0);
    assert_string_equal(json_string_value(json_object_get(job, "name")), "the one");
    json_decref(document);
    assert_int_equal(run("--once --server http://127.0.0.1:1", out, sizeof out), 4);
}

/* On a terminal of 40 columns until the text is seen; then the keys are pressed. The exit code, or
 * -1. */
static int on_terminal(const char *until, const char *keys, ft_strbuf *seen)
{
    char path[512], server[64], piece[4096];
    struct winsize window = {.ws_row = 12, .ws_col = 40};
    int terminal, status = -1;
    bool pressed = false;
    program(path, sizeof path);
    snprintf(server, sizeof server, "http://127.0.0.1:%d", ft_steps_server.port);
    pid_t child = forkpty(&terminal, NULL, NULL, &window);
    if (child == 0) {
        setenv("TERM", "xterm", 1);
        setenv("NO_COLOR", "1", 1);
        execl(path, path, "top", "--server", server, (char *)NULL);
        _exit(127);
    }
    struct pollfd wait = {.fd = terminal, .events = POLLIN};
    while (poll(&wait, 1, FT_DAEMON_PATIENCE_MS) > 0) {
        ssize_t got = read(terminal, piece, sizeof piece);
        if (got <= 0) break;
        ft_strbuf_add(seen, piece, (size_t)got);
        if (pressed || !strstr(seen->text, until)) continue;
        pressed = write(terminal, keys, strlen(keys)) == (ssize_t)strlen(keys);
    }
    close(terminal);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* q, Ctrl-C, and another key before q: the terminal is as before. */
static void until_a_key(void **state)
{
    (void)state;
    static const char *const KEYS[] = {"q", "\003", " q"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        ft_strbuf seen = {0};
        assert_int_equal(on_terminal("STATE     KIND", KEYS[i], &seen), 0);
        assert_int_equal(strncmp(seen.text, "\033[?1049h\033[?25l", 14), 0);
        const char *end = "\033[?25h\033[?1049l";
        assert_string_equal(seen.text + seen.len - strlen(end), end);
        assert_null(strstr(seen.text, "\033[31m")); /* NO_COLOR */
        ft_strbuf_release(&seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_there),
        cmocka_unit_test(fits),
        cmocka_unit_test(values),
        cmocka_unit_test(once),
        cmocka_unit_test(until_a_key),
    };
    return cmocka_run_group_tests(tests, ft_steps_start, ft_steps_stop);
}
