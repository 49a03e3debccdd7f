#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "findings/findings.h"
#include "remote/remote.h"
#include "terminal/terminal.h"
#include "top_picture.h"

enum { SHOWN_MOST = 50, SHOWN_PLAIN = 10, INTERVAL_SECONDS = 2 };

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool has(const json_t *jobs, const char *id)
{
    size_t i;
    const json_t *job;
    json_array_foreach(jobs, i, job)
    {
        if (strcmp(ft_json_text(job, "job", ""), id) == 0) return true;
    }
    return false;
}

/* With its counts, which lists leave out. A job that is removed meanwhile is left out. */
static ft_status add_job(ft_client *client, const char *id, json_t *jobs, ft_error *err)
{
    ft_error gone = FT_ERROR_INIT;
    json_t *job = NULL;
    if (has(jobs, id)) return FT_OK;
    char *path = ft_job_path("jobs", id, "");
    ft_status status = ft_client_get(client, path, &job, &gone);
    free(path);
    if (status == FT_OK) {
        json_array_append_new(jobs, job);
        return FT_OK;
    }
    return status == FT_NOT_FOUND ? FT_OK : ft_error_set(err, status, "%s", gone.message);
}

static ft_status add_jobs(ft_client *client, const char *state, size_t most, json_t *jobs,
                          ft_error *err)
{
    char path[96];
    size_t i;
    json_t *page = NULL, *job;
    if (json_array_size(jobs) >= most) return FT_OK;
    snprintf(path, sizeof path, "/v1/jobs?limit=%zu%s%s", most, *state ? "&state=" : "", state);
    ft_status status = ft_client_get(client, path, &page, err);
    json_array_foreach(json_object_get(page, "jobs"), i, job)
    {
        if (status == FT_OK && json_array_size(jobs) < most)
            status = add_job(client, ft_json_text(job, "job", "-"), jobs, err);
    }
    json_decref(page);
    return status;
}

/* Those at work, those that wait, then the rest, newest first. New reference. */
static ft_status ask(ft_client *client, size_t most, json_t **state, ft_error *err)
{
    static const char *const ORDER[] = {"solving", "planning", "queued", ""};
    json_t *stats = NULL, *workers = NULL, *jobs = json_array();
    ft_status status = ft_client_get(client, "/v1/stats", &stats, err);
    if (status == FT_OK) status = ft_client_get(client, "/v1/workers", &workers, err);
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER && status == FT_OK; i++)
        status = add_jobs(client, ORDER[i], most, jobs, err);
    if (status == FT_OK)
        *state = json_pack("{s:O, s:O?, s:O?, s:O}", "stats", stats, "workers",
                           json_object_get(workers, "workers"), "nodes",
                           json_object_get(workers, "nodes"), "jobs", jobs);
    json_decref(stats);
    json_decref(workers);
    json_decref(jobs);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

typedef struct screen {
    bool terminal, keys;
    struct termios before;
    ft_top_view view;
} screen;

static void measure(screen *s)
{
    struct winsize window = {0};
    if (!s->terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return;
    if (window.ws_col) s->view.columns = window.ws_col;
    if (window.ws_row) s->view.lines = window.ws_row - 1u;
}

/* The alternate screen, without a cursor; keys come one by one and are not shown. */
static void open_screen(screen *s, const ft_options *options, const char *server)
{
    ft_view view;
    const char *term = getenv("TERM");
    ft_view_init(options, &view);
    s->view = (ft_top_view){server, view.columns, 0, view.color};
    s->terminal = !options->once && !options->json && isatty(STDOUT_FILENO) && term &&
                  strcmp(term, "dumb") != 0;
    s->keys = s->terminal && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &s->before) == 0;
    if (s->keys) {
        struct termios raw = s->before;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    if (s->terminal) fputs("\033[?1049h\033[?25l", stdout);
}

static void close_screen(const screen *s)
{
    if (s->terminal) fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (s->keys) tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
}

static void draw(screen *s, const json_t *state)
{
    ft_strbuf text = {0};
    measure(s);
    ft_top_render(state, &s->view, &text);
    if (s->terminal) {
        fputs("\033[H", stdout);
        for (const char *line = text.text; *line;) {
            size_t length = strcspn(line, "\n");
            printf("%.*s\033[K\r\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
        fputs("\033[J", stdout);
    } else {
        fputs(ft_strbuf_text(&text), stdout);
    }
    fflush(stdout);
    ft_strbuf_release(&text);
}

/* Until it is time again; false: the user has had enough. */
static bool pause_for(const screen *s, unsigned seconds)
{
    struct timespec now;
    char key;
    FT_REQUIRE(seconds > 0 && ft_signals_fd() != 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long until = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + 1000LL * seconds;
    for (;;) {
        struct pollfd wait[2] = {{.fd = ft_signals_fd(), .events = POLLIN},
                                 {.fd = s->keys ? STDIN_FILENO : -1, .events = POLLIN}};
        clock_gettime(CLOCK_MONOTONIC, &now);
        long long left = until - (now.tv_sec * 1000LL + now.tv_nsec / 1000000);
        if (ft_signals_caught()) return false;
        if (left <= 0) return true;
        if (poll(wait, 2, (int)left) <= 0 || !wait[1].revents) continue;
        if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q') return false;
        return true; /* any other key: now */
    }
}

static size_t shown(const screen *s)
{
    if (!s->view.lines) return SHOWN_PLAIN;
    return s->view.lines < SHOWN_MOST ? s->view.lines : SHOWN_MOST;
}

static ft_status show(const ft_options *options, const ft_remote *remote, screen *s, ft_error *err)
{
    json_t *state = NULL;
    measure(s);
    ft_status status = ask(remote->client, shown(s), &state, err);
    if (status == FT_OK && options->json) {
        json_dumpf(state, stdout, JSON_COMPACT);
        fputs("\n", stdout);
        fflush(stdout);
    } else if (status == FT_OK) {
        draw(s, state);
    }
    json_decref(state);
    return status;
}

ft_exit ft_run_top(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    unsigned seconds = options->interval ? options->interval : INTERVAL_SECONDS;
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (status == FT_OK) {
        screen s = {0};
        open_screen(&s, options, options->server ? options->server : "");
        do status = show(options, &remote, &s, &err);
        while (status == FT_OK && !options->once && !ferror(stdout) && pause_for(&s, seconds));
        close_screen(&s);
    }
    ft_remote_close(&remote);
    if (ft_signals_caught()) {
        clearerr(stdout); /* a write that Ctrl-C interrupted is no failed one */
        ft_signals_forget();
        return FT_EXIT_CLEAN;
    }
    if (status != FT_OK) ft_print_error(NULL, &err);
    return status == FT_OK ? FT_EXIT_CLEAN : ft_exit_of(&err);
}
