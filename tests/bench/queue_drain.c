/* Jobs queued and drained through the dispatcher, by worker processes of this program that only
 * burn processor time: what the server itself takes, beside what they take. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "bench/queue.h"
#include "dispatch/dispatch.h"
#include "setup/log.h"
#include "wire/wire.h"

/* ---- The worker -------------------------------------------------------------------------------
 */

static void send_json(ft_wire_type type, json_t *json)
{
    if (ft_wire_write_json(STDOUT_FILENO, type, json, NULL) != FT_OK) _exit(1);
    json_decref(json);
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void burn(int64_t us)
{
    int64_t until = cpu_ns() + us * 1000;
    while (us > 0 && cpu_ns() < until) continue;
}

static void serve_solve(const json_t *request, int64_t task_us)
{
    size_t i;
    json_t *task, *token = json_object_get(request, "token");
    json_array_foreach(json_object_get(request, "tasks"), i, task)
    {
        burn(task_us);
        send_json(FT_WIRE_VERDICT,
                  json_pack("{s:O, s:O, s:o}", "token", token, "task",
                            json_object_get(task, "task"), "record",
                            queue_record(json_incref(json_object_get(task, "key")))));
    }
    send_json(FT_WIRE_SOLVED, json_pack("{s:O}", "token", token));
}

typedef struct receiver {
    ft_wire_decoder decoder;
    ft_digest digest;
    ft_strbuf data;
    json_t *request; /* that the data belongs to */
} receiver;

static void serve_end(receiver *r)
{
    const char *trace = json_string_value(json_object_get(r->request, "trace"));
    char hash[FT_DIGEST_HEX + 1];
    ft_digest_hex(&r->digest, hash);
    if (trace) {
        send_json(FT_WIRE_LOADED, json_pack("{s:s}", "trace", trace));
    } else {
        if (ft_wire_write(STDOUT_FILENO, FT_WIRE_DATA, r->data.text, r->data.len, NULL) != FT_OK)
            _exit(1);
        send_json(FT_WIRE_INGESTED,
                  json_pack("{s:O, s:{s:s, s:I}}", "token", json_object_get(r->request, "token"),
                            "meta", "trace", hash, "bytes", (json_int_t)r->data.len));
    }
    json_decref(r->request);
    r->request = NULL;
    ft_strbuf_clear(&r->data);
}

/* Steals the plan. */
static void send_plan(json_t *token, json_t *plan)
{
    char *text = json_dumps(plan, JSON_COMPACT);
    size_t length = strlen(text);
    if (ft_wire_write(STDOUT_FILENO, FT_WIRE_DATA, text, length, NULL) != FT_OK) _exit(1);
    send_json(FT_WIRE_PLANNED,
              json_pack("{s:O, s:I}", "token", token, "bytes", (json_int_t)length));
    free(text);
    json_decref(plan);
}

static void serve(receiver *r, const ft_wire_frame *frame, int64_t task_us)
{
    json_t *request = NULL;
    if (frame->type == FT_WIRE_DATA) {
        ft_digest_update(&r->digest, frame->payload, frame->length);
        ft_strbuf_add(&r->data, (const char *)frame->payload, frame->length);
        return;
    }
    if (frame->type == FT_WIRE_DATA_END) {
        serve_end(r);
        return;
    }
    if (ft_wire_json(frame, &request, NULL) != FT_OK) _exit(1);
    if (frame->type == FT_WIRE_SOLVE) serve_solve(request, task_us);
    if (frame->type == FT_WIRE_PLAN) {
        json_t *tasks = json_object_get(json_object_get(request, "spec"), "tasks");
        send_plan(json_object_get(request, "token"),
                  queue_plan((unsigned)json_integer_value(tasks)));
    }
    if (frame->type == FT_WIRE_TRACE || frame->type == FT_WIRE_INGEST) {
        r->request = json_incref(request);
        ft_digest_init(&r->digest);
    }
    json_decref(request);
}

int queue_worker_main(void)
{
    receiver r = {.request = NULL};
    int64_t task_us = strtoll(getenv(QUEUE_WORKER_ENVIRONMENT), NULL, 10);
    send_json(FT_WIRE_HELLO, json_pack("{s:i, s:s, s:i}", "protocol", FT_WIRE_PROTOCOL, "version",
                                       "bench", "pid", (int)getpid()));
    for (;;) {
        ft_wire_frame frame;
        bool eof = false;
        if (ft_wire_read(STDIN_FILENO, &r.decoder, &frame, &eof, NULL) != FT_OK) return 1;
        if (eof) return 0;
        serve(&r, &frame, task_us);
    }
}

/* ---- The server -------------------------------------------------------------------------------
 */

typedef struct bench {
    uv_loop_t loop;
    ft_config config;
    ft_store *store;
    ft_dispatch *dispatch;
    char folder[64], trace[FT_DIGEST_HEX + 1];
    unsigned created, ended, jobs;
    bool ingested, closed;
} bench;

static void set_option(bench *b, const char *name, const char *value)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_config_set(&b->config, name, value, &err) != FT_OK) queue_fail(err.message);
}

/* worker "": the real one, beside this program. */
static void open_server(bench *b, const char *worker)
{
    ft_error err = FT_ERROR_INIT;
    queue_folder(b->folder);
    uv_loop_init(&b->loop);
    ft_config_init(&b->config);
    ft_log_set_level(FT_LOG_WARN);
    set_option(b, "state", b->folder);
    set_option(b, "worker", worker);
    set_option(b, "job-ms", "604800000");
    set_option(b, "max-jobs", "1000000");
    if (ft_store_open(&b->loop, b->folder, &b->store, &err) != FT_OK ||
        ft_dispatch_open(&b->loop, &b->config, b->store, &b->dispatch, &err) != FT_OK)
        queue_fail(err.message);
}

static void on_ingested(void *data, const ft_error *err, const json_t *meta, bool created)
{
    bench *b = data;
    (void)created;
    if (err) queue_fail(err->message);
    snprintf(b->trace, sizeof b->trace, "%s", json_string_value(json_object_get(meta, "trace")));
    b->ingested = true;
}

static void upload(bench *b, const char *text, size_t length)
{
    int fd;
    ft_error err = FT_ERROR_INIT;
    ft_digest digest;
    char hash[FT_DIGEST_HEX + 1];
    if (ft_dispatch_upload_file(b->dispatch, &fd, &err) != FT_OK) queue_fail(err.message);
    if (write(fd, text, length) != (ssize_t)length) queue_fail(strerror(errno));
    ft_digest_init(&digest);
    ft_digest_update(&digest, text, length);
    ft_digest_hex(&digest, hash);
    ft_dispatch_ingest(b->dispatch, fd, length, hash, false, on_ingested, b);
    while (!b->ingested) uv_run(&b->loop, UV_RUN_ONCE);
}

static void on_created(void *data, const ft_error *err, json_t *snapshot)
{
    bench *b = data;
    (void)snapshot;
    if (err) queue_fail(err->message);
    b->created++;
}

static void on_changed(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    bench *b = data;
    (void)job;
    (void)revision;
    b->ended += state == FT_JOB_DONE;
    if (ft_job_state_final(state) && state != FT_JOB_DONE) queue_fail("a job was not done");
}

/* Steals the spec. */
static void queue_jobs(bench *b, json_t *spec)
{
    json_object_set_new(spec, "trace", json_string(b->trace));
    for (unsigned i = 0; i < b->jobs; i++)
        ft_dispatch_job_create(b->dispatch, spec, NULL, on_created, b);
    json_decref(spec);
    while (b->created < b->jobs) uv_run(&b->loop, UV_RUN_ONCE);
}

static void on_closed(void *data)
{
    *(bool *)data = true;
}

static void close_server(bench *b)
{
    ft_dispatch_close(b->dispatch, on_closed, &b->closed);
    while (!b->closed) uv_run(&b->loop, UV_RUN_ONCE);
    b->closed = false;
    ft_store_close(b->store, on_closed, &b->closed);
    while (!b->closed) uv_run(&b->loop, UV_RUN_ONCE);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    uv_loop_close(&b->loop);
    ft_config_release(&b->config);
    queue_remove(b->folder);
}

static double used(int who)
{
    struct rusage use;
    getrusage(who, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* Runs the jobs to their end and prints what both sides took; `what` says what a job is. */
static int drain(bench *b, json_t *spec, const char *what)
{
    ft_dispatch_watch(b->dispatch, NULL, on_changed, b);
    double wall = queue_seconds(), server = used(RUSAGE_SELF);
    queue_jobs(b, spec);
    while (b->ended < b->jobs) uv_run(&b->loop, UV_RUN_ONCE);
    wall = queue_seconds() - wall;
    server = used(RUSAGE_SELF) - server;
    json_t *metrics = ft_dispatch_metrics(b->dispatch);
    double tasks = (double)json_integer_value(json_object_get(metrics, "verdicts_committed"));
    json_int_t batches = json_integer_value(json_object_get(metrics, "batches"));
    json_decref(metrics);
    close_server(b);
    double workers = used(RUSAGE_CHILDREN);
    printf("%u jobs of %s queued and drained in %.1f s: %.0f tasks, %lld requests to workers\n"
           "server %.2f s of CPU (%.1f us a task), workers %.2f s (%.1f us a task): %.2f %%\n",
           b->jobs, what, wall, tasks, (long long)batches, server, server / tasks * 1e6, workers,
           workers / tasks * 1e6, server / workers * 100);
    return 0;
}

int queue_drain(unsigned jobs, unsigned tasks, unsigned task_us)
{
    bench b = {.jobs = jobs};
    char text[96];
    snprintf(text, sizeof text, "%u", task_us);
    setenv(QUEUE_WORKER_ENVIRONMENT, text, 1);
    open_server(&b, "/proc/self/exe");
    upload(&b, "trace", 5);
    snprintf(text, sizeof text, "%u tasks of %u us", tasks, task_us);
    return drain(&b, json_pack("{s:i}", "tasks", (int)tasks), text);
}

/* Rounds of four threads: what one reads, two others may have written. */
static ft_strbuf trace_of(unsigned rounds)
{
    static const struct {
        int thread;
        const char *kind;
        char variable;
        int value;
    } ROUND[] = {{1, "write", 'x', 5}, {1, "write", 'f', 1}, {3, "read", 'f', 1},
                 {3, "write", 'g', 1}, {4, "write", 'f', 1}, {2, "read", 'g', 1},
                 {2, "read", 'f', 1},  {2, "write", 'x', 6}};
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T1\",\"T2\","
                          "\"T3\",\"T4\"],\"variables\":{");
    for (unsigned i = 0; i < rounds; i++)
        ft_strbuf_printf(&text, "%s\"x%u\":0,\"f%u\":0,\"g%u\":0", i ? "," : "", i, i, i);
    ft_strbuf_puts(&text, "}}\n");
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned k = 0; k < sizeof ROUND / sizeof *ROUND; k++)
            ft_strbuf_printf(&text,
                             "{\"thread\":\"T%d\",\"kind\":\"%s\",\"variable\":\"%c%u\","
                             "\"value\":%d,\"loc\":\"a.c:%u\"}\n",
                             ROUND[k].thread, ROUND[k].kind, ROUND[k].variable, i, ROUND[k].value,
                             10 * i + k + 1);
    return text;
}

static int drain_races(unsigned jobs, const ft_strbuf *text, const char *what)
{
    bench b = {.jobs = jobs};
    open_server(&b, "");
    upload(&b, text->text, text->len);
    return drain(&b, json_pack("{s:[s]}", "checks", "race"), what);
}

int queue_real(unsigned jobs, unsigned rounds)
{
    char what[96];
    ft_strbuf text = trace_of(rounds);
    snprintf(what, sizeof what, "a trace of %u events", 8 * rounds);
    int code = drain_races(jobs, &text, what);
    ft_strbuf_release(&text);
    return code;
}

int queue_file(unsigned jobs, const char *path)
{
    char piece[64 * 1024];
    size_t got;
    ft_strbuf text = {0};
    FILE *file = fopen(path, "re");
    if (!file) queue_fail(strerror(errno));
    while ((got = fread(piece, 1, sizeof piece, file)) > 0) ft_strbuf_add(&text, piece, got);
    fclose(file);
    int code = drain_races(jobs, &text, path);
    ft_strbuf_release(&text);
    return code;
}
