#include "top_picture.h"
#include "base/contract.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/report.h"

#define LINE_MOST 1024
#define BAR_MOST  24
#define MINUTE_MS 60000.0

enum { PLAIN, BOLD, DIM, RED, GREEN, YELLOW };
static const char *const CODES[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m"};

typedef struct painter {
    const json_t *state;
    const ft_top_view *view;
    ft_strbuf *out;
    size_t lines;
} painter;

/* ---- Values ---------------------------------------------------------------------------------- */

void ft_top_duration(double ms, char text[24])
{
    static const struct {
        double unit, below;
        const char *name;
    } UNITS[] = {{1, 1000, "ms"},
                 {1000, 100e3, "s"},
                 {60e3, 100 * 60e3, "min"},
                 {3600e3, 100 * 3600e3, "h"},
                 {86400e3, 1e300, "d"}};
    size_t i = 0;
    while (ms >= UNITS[i].below) i++;
    snprintf(text, 24, i == 0 || ms / UNITS[i].unit >= 10 ? "%.0f %s" : "%.1f %s",
             ms / UNITS[i].unit, UNITS[i].name);
}

void ft_top_bytes(double bytes, char text[24])
{
    static const char *const NAMES[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    for (; bytes >= 1024 && i + 1 < sizeof NAMES / sizeof *NAMES; i++) bytes /= 1024;
    snprintf(text, 24, i == 0 || bytes >= 10 ? "%.0f %s" : "%.1f %s", bytes, NAMES[i]);
}

static double number(const json_t *object, const char *member)
{
    return json_number_value(json_object_get(object, member));
}

static const char *word(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "-";
}

/* The series' rate a second over the last minute; negative: not known yet. */
static double rate(const json_t *stats, const char *series)
{
    const json_t *history = json_object_get(stats, "history");
    const json_t *at = json_object_get(history, "at"), *values = json_object_get(history, series);
    double sum = 0, now = number(stats, "at"), from = now;
    size_t count = json_array_size(at);
    double every = number(stats, "sample_ms");
    for (size_t i = count; i-- > 0;) {
        double time = json_number_value(json_array_get(at, i));
        if (time < now - MINUTE_MS) break;
        sum += json_number_value(json_array_get(values, i));
        from = time - every;
    }
    return from < now ? sum * 1000 / (now - from) : -1;
}

static json_int_t violations(const json_t *job)
{
    const char *check;
    json_t *counts;
    json_int_t sum = 0;
    json_object_foreach(json_object_get(job, "checks"), check, counts) sum +=
        json_integer_value(json_object_get(counts, "violation"));
    return sum;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Bytes of the first `columns` characters of UTF-8. */
static size_t cut(const char *text, size_t columns)
{
    size_t i = 0;
    for (; text[i]; i++) {
        bool starts = ((unsigned char)text[i] & 0xc0) != 0x80;
        if (starts && columns-- == 0) return i;
    }
    return i;
}

/* The text's control characters become '?': that is done before it is cut, colours come after. */
static void put_line(painter *p, int style, const char *text)
{
    ft_strbuf safe = {0};
    bool colored = p->view->color && style != PLAIN;
    if (p->view->lines && p->lines >= p->view->lines) return;
    ft_view_safe_text(text, &safe);
    size_t length = cut(ft_strbuf_text(&safe), p->view->columns);
    assert(!strchr(ft_strbuf_text(&safe), '\n')); /* it would be two lines */
    if (colored) ft_strbuf_puts(p->out, CODES[style]);
    ft_strbuf_add(p->out, ft_strbuf_text(&safe), length);
    if (colored) ft_strbuf_puts(p->out, "\033[0m");
    ft_strbuf_puts(p->out, "\n");
    p->lines++;
    assert(!p->view->lines || p->lines <= p->view->lines);
    ft_strbuf_release(&safe);
}

static void put_head(painter *p)
{
    char line[LINE_MOST], clock[16], age[24];
    const json_t *stats = json_object_get(p->state, "stats");
    time_t now = (time_t)(number(stats, "at") / 1000);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(clock, sizeof clock, "%H:%M:%S", &parts);
    ft_top_duration(number(stats, "at") - number(stats, "started"), age);
    snprintf(line, sizeof line, "foretell %s  %s, up %s", p->view->server, clock, age);
    put_line(p, BOLD, line);
}

static void put_load(painter *p)
{
    char line[LINE_MOST], age[24], memory[24], own[24];
    const json_t *now = json_object_get(json_object_get(p->state, "stats"), "now");
    ft_top_duration(number(now, "age_ms"), age);
    ft_top_bytes(number(now, "workers_memory"), memory);
    ft_top_bytes(number(now, "resident_bytes"), own);
    snprintf(line, sizeof line, "jobs %.0f   queue %.0f, waiting %s   running %.0f",
             number(now, "jobs"), number(now, "queued"), age, number(now, "running"));
    put_line(p, PLAIN, line);
    snprintf(line, sizeof line, "workers %.0f of %.0f busy, %s   server %s, %.0f connections",
             number(now, "workers_busy"), number(now, "workers_alive"), memory, own,
             number(now, "connections"));
    put_line(p, PLAIN, line);
}

#define NODES_MOST 8 /* lines */

static void put_node(painter *p, const json_t *node)
{
    char line[LINE_MOST];
    const char *name = json_string_value(json_object_get(node, "name"));
    snprintf(line, sizeof line,
             "node    %.24s %.0f, workers %.0f of %.0f busy, %.0f tasks, heard %.1f s ago",
             name ? name : "", number(node, "node"), number(node, "busy"), number(node, "workers"),
             number(node, "tasks"), number(node, "silent_ms") / 1000);
    put_line(p, PLAIN, line);
}

/* Of a fleet: all of its nodes, and a line for each of the first. */
static void put_nodes(painter *p)
{
    char line[LINE_MOST];
    size_t i;
    const json_t *node, *nodes = json_object_get(p->state, "nodes");
    double workers = 0, busy = 0;
    json_array_foreach(nodes, i, node)
    {
        workers += number(node, "workers");
        busy += number(node, "busy");
    }
    if (!nodes) return;
    snprintf(line, sizeof line, "fleet   %zu nodes, workers %.0f of %.0f busy",
             json_array_size(nodes), busy, workers);
    put_line(p, PLAIN, line);
    json_array_foreach(nodes, i, node) if (i < NODES_MOST) put_node(p, node);
}

static void put_rates(painter *p)
{
    char line[LINE_MOST];
    const json_t *stats = json_object_get(p->state, "stats");
    const json_t *now = json_object_get(stats, "now");
    double tasks = rate(stats, "tasks"), requests = rate(stats, "requests");
    if (tasks >= 0) {
        snprintf(line, sizeof line, "last minute  %.1f verdicts/s   %.1f requests/s", tasks,
                 requests);
        put_line(p, PLAIN, line);
    }
    snprintf(line, sizeof line,
             "since start  %.0f violation, %.0f safe, %.0f bounded, %.0f unknown, %.0f error",
             number(now, "violation"), number(now, "safe"), number(now, "bounded"),
             number(now, "unknown"), number(now, "error"));
    put_line(p, number(now, "violation") > 0 ? RED : PLAIN, line);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void put_workers(painter *p)
{
    char line[LINE_MOST], memory[24], busy[24];
    size_t i;
    const json_t *worker;
    put_line(p, PLAIN, "");
    snprintf(line, sizeof line, "%3s %-9s %-7s %-16s %8s %8s %7s %8s", "#", "STATE", "KIND", "JOB",
             "MEMORY", "BUSY", "TASKS", "RESTARTS");
    put_line(p, DIM, line);
    json_array_foreach(json_object_get(p->state, "workers"), i, worker)
    {
        const char *state = word(worker, "state");
        bool idle = strcmp(state, "idle") == 0, down = strcmp(state, "down") == 0;
        ft_top_bytes(number(worker, "memory"), memory);
        ft_top_duration(number(worker, "busy_ms"), busy);
        snprintf(line, sizeof line, "%3.0f %-9.9s %-7.7s %-16.16s %8s %8s %7.0f %8.0f",
                 number(worker, "worker"), state, word(worker, "kind"), word(worker, "job"),
                 number(worker, "memory") > 0 ? memory : "-", idle || down ? "-" : busy,
                 number(worker, "tasks"), number(worker, "restarts"));
        put_line(p, down ? RED : idle ? DIM : PLAIN, line);
    }
}

static void make_bar(const json_t *job, size_t width, char *bar)
{
    const json_t *progress = json_object_get(job, "progress");
    double total = number(progress, "total"), done = number(progress, "done");
    size_t full = total > 0 ? (size_t)((double)width * done / total) : 0;
    FT_REQUIRE(width <= BAR_MOST);
    for (size_t i = 0; i < width; i++) bar[i] = i < full ? '#' : '.';
    bar[width] = '\0';
}

static int job_style(const json_t *job)
{
    const char *state = word(job, "state");
    if (violations(job) > 0 || strcmp(state, "failed") == 0) return RED;
    if (strcmp(state, "done") == 0) return GREEN;
    return strcmp(state, "solving") == 0 || strcmp(state, "planning") == 0 ? YELLOW : DIM;
}

static void put_jobs(painter *p)
{
    char line[LINE_MOST], bar[BAR_MOST + 1], count[48];
    size_t i, width = p->view->columns > 72 ? (p->view->columns - 72) / 2 + 4 : 4;
    const json_t *job;
    if (width > BAR_MOST) width = BAR_MOST;
    put_line(p, PLAIN, "");
    snprintf(line, sizeof line, "%-16s %-9s %-*s %15s %8s %s", "JOB", "STATE", (int)width, "",
             "TASKS", "FINDINGS", "NAME");
    put_line(p, DIM, line);
    json_array_foreach(json_object_get(p->state, "jobs"), i, job)
    {
        const json_t *progress = json_object_get(job, "progress");
        make_bar(job, width, bar);
        snprintf(count, sizeof count, "%.0f/%.0f", number(progress, "done"),
                 number(progress, "total"));
        snprintf(line, sizeof line, "%-16.16s %-9.9s %s %15s %8lld %.400s", word(job, "job"),
                 word(job, "state"), bar, count, (long long)violations(job), word(job, "name"));
        put_line(p, job_style(job), line);
    }
}

void ft_top_render(const json_t *state, const ft_top_view *view, ft_strbuf *out)
{
    painter p = {state, view, out, 0};
    FT_REQUIRE(json_is_object(state) && view->columns > 0);
    put_head(&p);
    put_load(&p);
    put_nodes(&p);
    put_rates(&p);
    put_workers(&p);
    put_jobs(&p);
}
