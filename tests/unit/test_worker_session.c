/* The worker process: requests and answers over its pipes, its limits, its exit codes. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "wire/wire.h"

typedef struct worker {
    pid_t pid;
    int in, out; /* our ends: requests, answers */
    ft_wire_decoder decoder;
} worker;

static char *program; /* foretell-worker beside this test, NULL: not built */

static worker start(const char *argument, const char *value)
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    worker w = {.pid = fork(), .in = in[1], .out = out[0]};
    assert_true(w.pid >= 0);
    if (w.pid == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(quiet, 2) < 0) _exit(99);
        execl(program, "foretell-worker", argument, value, (char *)NULL);
        _exit(99);
    }
    close(in[0]);
    close(out[1]);
    return w;
}

static int exit_code(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Ends the worker's input; its exit code. */
static int finish(worker *w)
{
    close(w->in);
    int code = exit_code(w->pid);
    close(w->out);
    ft_wire_decoder_release(&w->decoder);
    return code;
}

static void send(worker *w, ft_wire_type type, json_t *body)
{
    ft_error err = FT_ERROR_INIT;
    assert_non_null(body);
    if (ft_wire_write_json(w->in, type, body, &err) != FT_OK) fail_msg("%s", err.message);
    json_decref(body);
}

static void send_bytes(worker *w, const char *data, size_t length, size_t piece)
{
    for (size_t at = 0; at < length; at += piece) {
        size_t part = length - at < piece ? length - at : piece;
        assert_int_equal(ft_wire_write(w->in, FT_WIRE_DATA, data + at, part, NULL), FT_OK);
    }
    assert_int_equal(ft_wire_write(w->in, FT_WIRE_DATA_END, NULL, 0, NULL), FT_OK);
}

static ft_wire_frame receive(worker *w)
{
    ft_wire_frame frame = {.type = FT_WIRE_TYPES};
    ft_error err = FT_ERROR_INIT;
    bool eof = false;
    if (ft_wire_read(w->out, &w->decoder, &frame, &eof, &err) != FT_OK || eof)
        fail_msg("no answer: %s", eof ? "the worker is gone" : err.message);
    return frame;
}

/* The next answer, which must be of the given type; caller owns it. */
static json_t *expect(worker *w, ft_wire_type type)
{
    ft_wire_frame frame = receive(w);
    json_t *json = NULL;
    while (frame.type == FT_WIRE_PROGRESS && type != FT_WIRE_PROGRESS) frame = receive(w);
    if (frame.type != type)
        fail_msg("%s instead of %s: %.*s", ft_wire_name(frame.type), ft_wire_name(type),
                 (int)frame.length, (const char *)frame.payload);
    assert_int_equal(ft_wire_json(&frame, &json, NULL), FT_OK);
    return json;
}

static void expect_hello(worker *w)
{
    json_t *hello = expect(w, FT_WIRE_HELLO);
    assert_int_equal(json_integer_value(json_object_get(hello, "protocol")), FT_WIRE_PROTOCOL);
    assert_int_equal(json_integer_value(json_object_get(hello, "pid")), w->pid);
    assert_string_equal(json_string_value(json_object_get(hello, "version")), FT_VERSION);
    json_decref(hello);
}

/* Steals it. */
static void check_failed(json_t *failed, int token, const char *code, int line, const char *part)
{
    const json_t *problem = json_object_get(failed, "error");
    assert_int_equal(json_integer_value(json_object_get(failed, "token")), token);
    assert_string_equal(json_string_value(json_object_get(problem, "code")), code);
    assert_int_equal(json_integer_value(json_object_get(problem, "line")), line);
    assert_non_null(strstr(json_string_value(json_object_get(problem, "message")), part));
    json_decref(failed);
}

static void expect_failed(worker *w, int token, const char *code, int line, const char *part)
{
    check_failed(expect(w, FT_WIRE_FAILED), token, code, line, part);
}

static worker start_ready(void)
{
    worker w = start(NULL, NULL);
    expect_hello(&w);
    return w;
}

static void read_file(const char *path, ft_strbuf *out)
{
    char chunk[4096];
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        ft_strbuf_add(out, chunk, got);
    fclose(file);
}

/* Wang et al., figure 1: the assertion holds in the run; ctp has a violation, maximal has none. */
#define FIGURE_1 FT_SOURCE_DIR "/tests/golden/fig1.ndjson"

static void ingest(worker *w, int token, const ft_strbuf *upload, ft_strbuf *canonical,
                   json_t **meta)
{
    send(w, FT_WIRE_INGEST, json_pack("{s:i}", "token", token));
    send_bytes(w, upload->text, upload->len, 7);
    ft_wire_frame frame = receive(w);
    for (; frame.type == FT_WIRE_DATA || frame.type == FT_WIRE_PROGRESS; frame = receive(w))
        if (frame.type == FT_WIRE_DATA)
            ft_strbuf_add(canonical, (const char *)frame.payload, frame.length);
    assert_int_equal(frame.type, FT_WIRE_INGESTED);
    assert_int_equal(ft_wire_json(&frame, meta, NULL), FT_OK);
    assert_int_equal(json_integer_value(json_object_get(*meta, "token")), token);
}

static void hash_of(const ft_strbuf *text, char hex[FT_DIGEST_HEX + 1])
{
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, text->text, text->len);
    ft_digest_hex(&digest, hex);
}

/* Ingests a trace of two threads and loads its canonical form. */
static void load_text(worker *w, const ft_strbuf *upload, const char *model,
                      char hash[FT_DIGEST_HEX + 1])
{
    ft_strbuf canonical = {0};
    json_t *ingested, *loaded;
    hash_of(upload, hash);
    ingest(w, 7, upload, &canonical, &ingested);
    json_t *meta = json_object_get(ingested, "meta");
    assert_string_equal(json_string_value(json_object_get(meta, "trace")), hash);
    assert_string_equal(json_string_value(json_object_get(meta, "format")), "ndjson");
    assert_string_equal(json_string_value(json_object_get(meta, "default_model")), model);
    assert_int_equal(json_integer_value(json_object_get(meta, "bytes")), upload->len);
    assert_int_equal(json_integer_value(json_object_get(meta, "stored_bytes")), canonical.len);
    assert_int_equal(json_integer_value(json_object_get(meta, "threads")), 2);
    json_decref(ingested);

    send(w, FT_WIRE_TRACE,
         json_pack("{s:s,s:I}", "trace", hash, "bytes", (json_int_t)canonical.len));
    send_bytes(w, canonical.text, canonical.len, 1000);
    loaded = expect(w, FT_WIRE_LOADED);
    assert_string_equal(json_string_value(json_object_get(loaded, "trace")), hash);
    json_decref(loaded);
    ft_strbuf_release(&canonical);
}

static void load_figure(worker *w, char hash[FT_DIGEST_HEX + 1])
{
    ft_strbuf upload = {0};
    read_file(FIGURE_1, &upload);
    load_text(w, &upload, "ctp", hash);
    ft_strbuf_release(&upload);
}

static json_t *assertion_job(const char *hash, const char *model)
{
    return json_pack("{s:s,s:[s],s:s}", "trace", hash, "checks", "assertion", "model", model);
}

/* Its pieces and its end. */
static json_t *receive_plan(worker *w, int token)
{
    ft_strbuf text = {0};
    ft_wire_frame frame = receive(w);
    for (; frame.type == FT_WIRE_DATA || frame.type == FT_WIRE_PROGRESS; frame = receive(w)) {
        if (frame.type == FT_WIRE_PROGRESS) continue;
        assert_in_range(frame.length, 1, FT_WIRE_CHUNK);
        ft_strbuf_add(&text, (const char *)frame.payload, frame.length);
    }
    json_t *planned = NULL;
    assert_int_equal(frame.type, FT_WIRE_PLANNED);
    assert_int_equal(ft_wire_json(&frame, &planned, NULL), FT_OK);
    assert_int_equal(json_integer_value(json_object_get(planned, "token")), token);
    assert_int_equal(json_integer_value(json_object_get(planned, "bytes")), text.len);
    json_t *plan = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(plan);
    json_object_set_new(planned, "plan", plan);
    ft_strbuf_release(&text);
    return planned;
}

static json_t *plan(worker *w, int token, const char *hash, const char *model)
{
    send(w, FT_WIRE_PLAN,
         json_pack("{s:i,s:s,s:o}", "token", token, "trace", hash, "spec",
                   assertion_job(hash, model)));
    return receive_plan(w, token);
}

/* Of a violation, ahead of its verdict. */
static void expect_witness(worker *w, const char *hash)
{
    ft_wire_frame frame = receive(w);
    assert_int_equal(frame.type, FT_WIRE_WITNESS);
    unsigned long long size = ZSTD_getFrameContentSize(frame.payload, frame.length);
    assert_true(size > 0 && size < 100000);
    char *text = ft_alloc(size);
    assert_int_equal(ZSTD_decompress(text, size, frame.payload, frame.length), size);
    json_t *witness = json_loadb(text, size, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(witness, "trace")), hash);
    assert_true(json_array_size(json_object_get(witness, "steps")) > 0);
    json_decref(witness);
    free(text);
}

/* Every subproblem of the plan as a task numbered from 100. */
static json_t *tasks_of(const json_t *planned)
{
    size_t i;
    json_t *sub, *tasks = json_array();
    json_array_foreach(json_object_get(json_object_get(planned, "plan"), "subproblems"), i, sub)
    {
        json_array_append_new(tasks, json_pack("{s:I,s:O,s:O}", "task", (json_int_t)(100 + i),
                                               "subproblem", json_object_get(sub, "subproblem"),
                                               "key", json_object_get(sub, "key")));
    }
    return tasks;
}

/* Solves all of the plan's tasks and checks that the one assertion has the verdict. */
static void solve(worker *w, int token, const char *hash, const char *model, json_t *tasks,
                  const char *verdict)
{
    size_t count = json_array_size(tasks);
    send(w, FT_WIRE_SOLVE,
         json_pack("{s:i,s:s,s:o,s:O}", "token", token, "trace", hash, "spec",
                   assertion_job(hash, model), "tasks", tasks));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(verdict, "violation") == 0) expect_witness(w, hash);
        json_t *answer = expect(w, FT_WIRE_VERDICT), *record = json_object_get(answer, "record");
        assert_null(json_object_get(record, "witness"));
        assert_int_equal(json_integer_value(json_object_get(answer, "token")), token);
        assert_int_equal(json_integer_value(json_object_get(answer, "task")), 100 + i);
        assert_string_equal(json_string_value(json_object_get(record, "verdict")), verdict);
        json_decref(answer);
    }
    json_t *solved = expect(w, FT_WIRE_SOLVED);
    assert_int_equal(json_integer_value(json_object_get(solved, "token")), token);
    json_decref(solved);
}

static void test_way_of_the_data(void **state)
{
    char hash[FT_DIGEST_HEX + 1];
    worker w = start_ready();
    (void)state;
    load_figure(&w, hash);
    json_t *planned = plan(&w, 1, hash, "ctp"), *tasks = tasks_of(planned);
    assert_int_equal(json_array_size(tasks), 1);
    solve(&w, 2, hash, "ctp", tasks, "violation");
    solve(&w, 3, hash, "ctp", tasks, "violation"); /* the same engine once more */
    json_decref(planned);
    json_decref(tasks);

    planned = plan(&w, 4, hash, "maximal"); /* another job on the same trace */
    tasks = tasks_of(planned);
    solve(&w, 5, hash, "maximal", tasks, "safe");
    json_decref(planned);
    json_decref(tasks);
    assert_int_equal(finish(&w), 0);
}

/* After a request that failed the worker serves the next one. */
static void test_failed_requests(void **state)
{
    static const char BAD[] = "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T1\"]}\n"
                              "{\"thread\":\"T1\",\"kind\":\"begin\"}\n"
                              "{\"thread\":\"T9\",\"kind\":\"begin\"}\n";
    char hash[FT_DIGEST_HEX + 1], other[FT_DIGEST_HEX + 1];
    worker w = start_ready();
    (void)state;
    send(&w, FT_WIRE_INGEST, json_pack("{s:i}", "token", 1));
    send_bytes(&w, BAD, sizeof BAD - 1, 10);
    expect_failed(&w, 1, "malformed-input", 3, "T9");

    send(&w, FT_WIRE_INGEST, json_pack("{s:i}", "token", 2));
    send_bytes(&w, NULL, 0, 1);
    expect_failed(&w, 2, "malformed-input", 1, "empty");

    memset(other, 'a', FT_DIGEST_HEX);
    other[FT_DIGEST_HEX] = 0;
    send(&w, FT_WIRE_PLAN,
         json_pack("{s:i,s:s,s:o}", "token", 3, "trace", other, "spec",
                   assertion_job(other, "ctp")));
    expect_failed(&w, 3, "conflict", 0, "not loaded");

    load_figure(&w, hash);
    send(&w, FT_WIRE_PLAN,
         json_pack("{s:i,s:s,s:o}", "token", 4, "trace", hash, "spec",
                   assertion_job(hash, "clairvoyant")));
    expect_failed(&w, 4, "usage", 0, "model");

    send(&w, FT_WIRE_TRACE, json_pack("{s:s,s:i}", "trace", hash, "bytes", 5));
    send_bytes(&w, "junk\n", 5, 5);
    json_t *failed = expect(&w, FT_WIRE_FAILED);
    assert_null(json_object_get(failed, "token"));
    json_decref(failed);

    load_figure(&w, hash);
    json_decref(plan(&w, 5, hash, "ctp"));
    assert_int_equal(finish(&w), 0);
}

/* Loads a trace of `writes` racing writes by each of two threads, no two at one location, and asks
 * for its races' plan with token 1: a subproblem for each pair, its key with both paths. */
static void ask_large_plan(worker *w, int writes, int path, char hash[FT_DIGEST_HEX + 1])
{
    ft_strbuf text = {0};
    char *name = ft_alloc((size_t)path + 1);
    memset(name, 'd', (size_t)path);
    name[path] = '\0';
    ft_strbuf_puts(&text, "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T1\",\"T2\"],"
                          "\"variables\":{\"x\":0}}\n");
    for (int i = 0; i < 2 * writes; i++)
        ft_strbuf_printf(&text,
                         "{\"thread\":\"T%d\",\"kind\":\"write\",\"variable\":\"x\",\"value\":1,"
                         "\"loc\":\"%s.c:%d\"}\n",
                         i % 2 + 1, name, i + 1);
    free(name);
    load_text(w, &text, "maximal", hash);
    ft_strbuf_release(&text);
    send(w, FT_WIRE_PLAN,
         json_pack("{s:i,s:s,s:{s:s,s:[s]}}", "token", 1, "trace", hash, "spec", "trace", hash,
                   "checks", "race"));
}

/* More subproblems than a frame can carry. */
static void test_large_plan(void **state)
{
    enum { WRITES = 300 };
    char hash[FT_DIGEST_HEX + 1];
    worker w = start_ready();
    (void)state;
    ask_large_plan(&w, WRITES, 80, hash);
    json_t *planned = receive_plan(&w, 1);
    const json_t *list = json_object_get(json_object_get(planned, "plan"), "subproblems");
    assert_true(json_integer_value(json_object_get(planned, "bytes")) > FT_WIRE_MAX_PAYLOAD);
    assert_int_equal(json_array_size(list), WRITES * WRITES);
    json_decref(planned);
    load_figure(&w, hash);
    json_decref(plan(&w, 2, hash, "ctp"));
    assert_int_equal(finish(&w), 0);
}

/* More than the server takes: the worker stops there by itself, says why, and goes on. */
static void test_too_large_plan(void **state)
{
    enum { WRITES = 100, PATH = FT_WIRE_MAX_PLAN / (2 * WRITES * WRITES) + 1000 };
    char hash[FT_DIGEST_HEX + 1];
    uint64_t bytes = 0;
    worker w = start_ready();
    (void)state;
    ask_large_plan(&w, WRITES, PATH, hash);
    ft_wire_frame frame = receive(&w);
    for (; frame.type == FT_WIRE_DATA || frame.type == FT_WIRE_PROGRESS; frame = receive(&w))
        if (frame.type == FT_WIRE_DATA) bytes += frame.length;
    assert_in_range(bytes, FT_WIRE_MAX_PLAN / 2, FT_WIRE_MAX_PLAN);
    json_t *failed = NULL;
    assert_int_equal(frame.type, FT_WIRE_FAILED);
    assert_int_equal(ft_wire_json(&frame, &failed, NULL), FT_OK);
    check_failed(failed, 1, "limit-exceeded", 0, "10000 subproblems");
    load_figure(&w, hash);
    json_decref(plan(&w, 2, hash, "ctp"));
    assert_int_equal(finish(&w), 0);
}

static void expect_protocol_error(const void *bytes, size_t length)
{
    worker w = start_ready();
    assert_int_equal(write(w.in, bytes, length), length);
    assert_int_equal(finish(&w), 2);
}

static void expect_refused(ft_wire_type type, const char *payload)
{
    ft_strbuf frame = {0};
    ft_wire_frame_bytes(&frame, type, payload, strlen(payload));
    expect_protocol_error(frame.text, frame.len);
    ft_strbuf_release(&frame);
}

static void test_protocol_errors(void **state)
{
    (void)state;
    expect_protocol_error("GET / HTTP/1.1\r\n\r\n", 18);
    expect_protocol_error("\1\0\0\0", 4); /* a cut header */
    expect_refused(FT_WIRE_DATA, "x");    /* outside an upload */
    expect_refused(FT_WIRE_HELLO, "{}");
    expect_refused(FT_WIRE_INGEST, "{\"token\":1}"); /* no DATA_END */
    expect_refused(FT_WIRE_PLAN, "{\"token\":1,\"token\":1}");
    expect_refused(FT_WIRE_PLAN, "{\"token\":1}");
    expect_refused(FT_WIRE_TRACE, "{\"trace\":\"abc\",\"bytes\":1}");
    expect_refused(FT_WIRE_SOLVE, "[]");
}

static void test_quiet_end(void **state)
{
    worker w = start_ready();
    (void)state;
    assert_int_equal(finish(&w), 0);
}

/* Reads a line of /proc/<pid>/<file> that begins with `name`; "" if there is none. */
static void proc_line(pid_t pid, const char *file, const char *name, char line[256])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *text = fopen(path, "r");
    assert_non_null(text);
    while (fgets(line, 256, text))
        if (strncmp(line, name, strlen(name)) == 0) break;
    if (feof(text)) line[0] = 0;
    fclose(text);
}

static unsigned long long limit_of(pid_t pid, const char *name)
{
    char line[256];
    unsigned long long soft = 0, hard = 1;
    proc_line(pid, "limits", name, line);
    assert_true(strlen(line) > strlen(name));
    if (sscanf(line + strlen(name), "%llu %llu", &soft, &hard) != 2) return UINT64_MAX;
    assert_true(soft == hard);
    return soft;
}

static void test_confinement(void **state)
{
    char line[256];
    worker w = start("--memory-mb", "512");
    (void)state;
    expect_hello(&w);
    proc_line(w.pid, "status", "NoNewPrivs:", line);
    assert_string_equal(line, "NoNewPrivs:\t1\n");
    assert_int_equal(limit_of(w.pid, "Max core file size"), 0);
    assert_int_equal(limit_of(w.pid, "Max file size"), 0);
#if !defined(__SANITIZE_ADDRESS__)
    assert_int_equal(limit_of(w.pid, "Max address space"), 512ull << 20);
    assert_int_equal(limit_of(w.pid, "Max open files"), 3);
#endif
    assert_int_equal(finish(&w), 0);
}

static int run_with(const char *argument, const char *value)
{
    worker w = start(argument, value);
    return finish(&w);
}

static void test_arguments(void **state)
{
    char text[64] = "";
    worker w = start("--version", NULL);
    (void)state;
    assert_true(read(w.out, text, sizeof text - 1) > 0);
    assert_string_equal(text, "foretell-worker " FT_VERSION "\n");
    assert_int_equal(finish(&w), 0);
    assert_int_equal(run_with("--help", NULL), 0);
    assert_int_equal(run_with("--memory-mb", "12x"), 2);
    assert_int_equal(run_with("--memory-mb", "-1"), 2);
    assert_int_equal(run_with("--memory-mb", "1"), 2);
    assert_int_equal(run_with("--frobnicate", NULL), 2);
    assert_int_equal(run_with("file", NULL), 2);
}

static void find_program(void)
{
    char path[4096];
    ft_strbuf found = {0};
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    *strrchr(path, '/') = 0;
    ft_strbuf_printf(&found, "%s/foretell-worker", path);
    if (access(ft_strbuf_text(&found), X_OK) == 0) program = ft_strbuf_take(&found);
    ft_strbuf_release(&found);
}

/* Long traces are not kept: one that must be is asked for again. */
static void long_trace(ft_strbuf *text, bool early_join)
{
    ft_strbuf_puts(text, "T0|fork(T1)|a.c:1\n");
    for (int i = 0; i < 70000; i++) ft_strbuf_puts(text, i % 2 ? "T1|w(x)|b.c:1\n" : "T0|r(x)|\n");
    if (early_join) ft_strbuf_puts(text, "T0|join(T1)|a.c:2\nT1|w(x)|b.c:2\n");
    for (int i = 0; i < 70000; i++) ft_strbuf_puts(text, "T2|r(y)|c.c:1\n");
}

static void assert_long(const json_t *ingested, json_int_t events, const char *note)
{
    const json_t *meta = json_object_get(ingested, "meta");
    assert_int_equal(json_integer_value(json_object_get(meta, "events")), events);
    const json_t *first = json_array_get(json_object_get(meta, "notes"), 0);
    const char *code = json_string_value(json_object_get(first, "code"));
    assert_string_equal(code ? code : "none", note);
}

static void test_long_traces(void **state)
{
    (void)state;
    worker w = start_ready();
    ft_strbuf plain = {0}, early = {0}, canonical = {0};
    json_t *ingested;
    long_trace(&plain, false);
    ingest(&w, 1, &plain, &canonical, &ingested);
    assert_long(ingested, 140001, "none");
    json_decref(ingested);
    long_trace(&early, true);
    send(&w, FT_WIRE_INGEST, json_pack("{s:i}", "token", 2));
    send_bytes(&w, early.text, early.len, 100000);
    json_t *again = expect(&w, FT_WIRE_AGAIN);
    assert_int_equal(json_integer_value(json_object_get(again, "token")), 2);
    json_decref(again);
    ft_strbuf_clear(&canonical);
    ingest(&w, 2, &early, &canonical, &ingested);
    assert_long(ingested, 140003, "early-join");
    json_decref(ingested);
    ft_strbuf_release(&plain);
    ft_strbuf_release(&early);
    ft_strbuf_release(&canonical);
    assert_int_equal(finish(&w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_traces),     cmocka_unit_test(test_large_plan),
        cmocka_unit_test(test_too_large_plan),  cmocka_unit_test(test_way_of_the_data),
        cmocka_unit_test(test_failed_requests), cmocka_unit_test(test_protocol_errors),
        cmocka_unit_test(test_quiet_end),       cmocka_unit_test(test_confinement),
        cmocka_unit_test(test_arguments),
    };
    signal(SIGPIPE, SIG_IGN);
    find_program();
    if (!program) {
        puts("skipped: foretell-worker is not built");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(program);
    return failed;
}
