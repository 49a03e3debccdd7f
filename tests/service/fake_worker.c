#include "service/fake_worker.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "wire/wire.h"

typedef struct fake {
    const char *folder;
    ft_wire_decoder decoder;
} fake;

__attribute__((noreturn)) static void give_up(const char *why)
{
    fprintf(stderr, "fake worker: %s\n", why);
    _exit(99);
}

static void send_json(ft_wire_type type, json_t *json)
{
    if (ft_wire_write_json(STDOUT_FILENO, type, json, NULL) != FT_OK) give_up("cannot write");
    json_decref(json);
}

static void send_bytes(ft_wire_type type, const void *bytes, size_t length)
{
    if (ft_wire_write(STDOUT_FILENO, type, bytes, length, NULL) != FT_OK) give_up("cannot write");
}

static void receive(fake *f, ft_wire_frame *frame)
{
    bool eof = false;
    if (ft_wire_read(STDIN_FILENO, &f->decoder, frame, &eof, NULL) != FT_OK) give_up("cannot read");
    if (eof) _exit(0);
}

/* The DATA frames up to DATA_END. */
static ft_strbuf receive_data(fake *f)
{
    ft_strbuf data = {0};
    ft_wire_frame frame;
    for (receive(f, &frame); frame.type == FT_WIRE_DATA; receive(f, &frame))
        ft_strbuf_add(&data, (const char *)frame.payload, frame.length);
    if (frame.type != FT_WIRE_DATA_END) give_up("data without an end");
    return data;
}

/* True the first time that it is asked for this mark, in whichever process. */
static bool first_time(const fake *f, const char *mark)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/mark-%s", f->folder, mark);
    for (char *at = path.text + strlen(f->folder) + 1; *at; at++)
        if (*at == '|' || *at == '/') *at = '_';
    int fd = open(path.text, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    ft_strbuf_release(&path);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* ---- What it does instead of answering --------------------------------------------------------
 */

static void hang(void)
{
    for (;;) pause();
}

static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    hang();
}

static void be_killed(void)
{
    raise(SIGKILL);
}

static void be_slow(void)
{
    (void)poll(NULL, 0, 1000);
}

static void be_brief(void)
{
    (void)poll(NULL, 0, 300);
}

static void call_refused(void)
{
    signal(SIGSYS, SIG_DFL);
    raise(SIGSYS);
    hang();
}

static void exit_badly(void)
{
    _exit(3);
}

static void exit_memory(void)
{
    _exit(FT_EXIT_NOMEM);
}

static void write_junk(void)
{
    static const char JUNK[] = "segmentation fault, core not dumped";
    if (write(STDOUT_FILENO, JUNK, sizeof JUNK) < 0) give_up("cannot write");
    hang();
}

static void close_output(void)
{
    close(STDOUT_FILENO);
    hang();
}

static void say_and_crash(void)
{
    fputs("prover: assertion failed: order is total\n", stderr);
    crash();
}

/* More than a job with a budget of memory may have. */
static void grow(void)
{
    enum { MIB = 1 << 20 };
    for (int i = 0; i < 256; i++) memset(ft_alloc(MIB), i + 1, MIB);
    hang();
}

/* As much as a plan may have, so that a plan behind it is too much; a task's answer is none of it.
 */
static void flood(void)
{
    char *block = ft_alloc(FT_WIRE_CHUNK);
    memset(block, ' ', FT_WIRE_CHUNK);
    for (size_t sent = 0; sent < FT_WIRE_MAX_PLAN; sent += FT_WIRE_CHUNK)
        send_bytes(FT_WIRE_DATA, block, FT_WIRE_CHUNK);
    free(block);
}

/* A frame larger than any may be. */
static void announce(void)
{
    unsigned char header[FT_WIRE_HEADER];
    ft_wire_header(header, FT_WIRE_VERDICT, FT_WIRE_MAX_PAYLOAD);
    header[0]++;
    if (write(STDOUT_FILENO, header, sizeof header) < 0) give_up("cannot write");
    hang();
}

/* Long, but not silent. */
static void toil(void)
{
    for (int i = 0; i < 12; i++) {
        (void)poll(NULL, 0, 100);
        send_json(FT_WIRE_PROGRESS, json_pack("{s:s}", "text", "still at it"));
    }
}

static const struct {
    const char *name;
    void (*act)(void);
} ACTS[] = {
    {"words", say_and_crash}, {"grow", grow},          {"toil", toil},
    {"hang", hang},           {"crash", crash},        {"killed", be_killed},
    {"exit", exit_badly},     {"memory", exit_memory}, {"junk", write_junk},
    {"close", close_output},  {"call", call_refused},  {"slow", be_slow},
    {"brief", be_brief},      {"flood", flood},        {"announce", announce},
};

/* `what` is an act's name, perhaps with "-once" after it; `mark` tells the occasions apart. True
 * when this is an occasion. */
static bool is_time_for(const fake *f, const char *what, const char *mark)
{
    return strstr(what, "-once") == NULL || first_time(f, mark);
}

static void act(const char *what)
{
    for (size_t i = 0; i < sizeof ACTS / sizeof *ACTS; i++) {
        size_t length = strlen(ACTS[i].name);
        if (strncmp(ACTS[i].name, what, length) != 0) continue;
        if (what[length] == '\0' || strcmp(what + length, "-once") == 0) ACTS[i].act();
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void serve_trace(fake *f, const json_t *request)
{
    ft_strbuf data = receive_data(f);
    json_int_t announced = json_integer_value(json_object_get(request, "bytes"));
    if ((json_int_t)data.len != announced) give_up("a trace of another length than announced");
    ft_strbuf_release(&data);
    send_json(FT_WIRE_LOADED, json_pack("{s:O}", "trace", json_object_get(request, "trace")));
}

/* What was sent before is void; the upload comes again. */
static void ask_again(fake *f, json_t *token)
{
    enum { PIECE = 700000, PIECES = 8 };
    ft_wire_frame frame;
    char *junk = ft_calloc(PIECE, 1);
    for (int i = 0; i < PIECES; i++) send_bytes(FT_WIRE_DATA, junk, PIECE);
    free(junk);
    send_json(FT_WIRE_AGAIN, json_pack("{s:O}", "token", token));
    do receive(f, &frame);
    while (frame.type == FT_WIRE_DATA || frame.type == FT_WIRE_DATA_END);
    if (frame.type != FT_WIRE_INGEST) give_up("the upload does not come again");
}

/* The upload; "again" asks for it once more at its end, "again-early" at its beginning,
 * "again-twice" for ever. */
static ft_strbuf receive_upload(fake *f, json_t *token)
{
    ft_strbuf data = {0};
    ft_wire_frame frame;
    bool asked = false;
    for (;;) {
        receive(f, &frame);
        if (frame.type == FT_WIRE_DATA)
            ft_strbuf_add(&data, (const char *)frame.payload, frame.length);
        else if (frame.type != FT_WIRE_DATA_END)
            give_up("data without an end");
        bool early = strncmp(ft_strbuf_text(&data), "again-early", 11) == 0;
        bool twice = strncmp(ft_strbuf_text(&data), "again-twice", 11) == 0;
        bool again = strncmp(ft_strbuf_text(&data), "again", 5) == 0 && (twice || !asked);
        if (!again && frame.type == FT_WIRE_DATA_END) return data;
        if (!again || (!early && frame.type == FT_WIRE_DATA)) continue;
        asked = true;
        ask_again(f, token);
        ft_strbuf_clear(&data);
    }
}

static void serve_ingest(fake *f, const json_t *request)
{
    json_t *token = json_object_get(request, "token");
    ft_strbuf data = receive_upload(f, token);
    char word[32], hash[FT_DIGEST_HEX + 1];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(ft_strbuf_text(&data), " "),
             ft_strbuf_text(&data));
    if (is_time_for(f, word, "ingest")) act(word);
    if (strcmp(word, "bad") == 0) {
        send_json(FT_WIRE_FAILED,
                  json_pack("{s:O, s:{s:s, s:s, s:i, s:i}}", "token", token, "error", "code",
                            "malformed-input", "message", "it is bad", "line", 3, "column", 7));
        ft_strbuf_release(&data);
        return;
    }
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, data.text, data.len);
    ft_digest_hex(&digest, hash);
    /* In odd pieces, so that rows and frames do not meet. */
    for (size_t at = 0; at < data.len; at += 700001)
        send_bytes(FT_WIRE_DATA, data.text + at, data.len - at < 700001 ? data.len - at : 700001);
    send_json(FT_WIRE_INGESTED, json_pack("{s:O, s:{s:s, s:I}}", "token", token, "meta", "trace",
                                          hash, "bytes", (json_int_t)data.len));
    ft_strbuf_release(&data);
}

/* In odd pieces; steals the plan. "cut" announces more than comes. */
static void send_plan(json_t *token, json_t *plan, const char *does)
{
    enum { PIECE = 701 };
    char *text = json_dumps(plan, JSON_COMPACT);
    size_t length = strlen(text);
    for (size_t at = 0; at < length; at += PIECE)
        send_bytes(FT_WIRE_DATA, text + at, length - at < PIECE ? length - at : PIECE);
    length += strcmp(does, "cut") == 0;
    send_json(FT_WIRE_PLANNED,
              json_pack("{s:O, s:I}", "token", token, "bytes", (json_int_t)length));
    free(text);
    json_decref(plan);
}

/* spec.script lists what each subproblem does. */
static void serve_plan(fake *f, const json_t *request)
{
    const json_t *spec = json_object_get(request, "spec");
    const char *does = json_string_value(json_object_get(spec, "plan_does"));
    const json_t *script = json_object_get(spec, "script");
    json_t *list = json_array(), *token = json_object_get(request, "token");
    if (!does) does = "";
    if (is_time_for(f, does, "plan")) act(does);
    if (strcmp(does, "fail") == 0) {
        send_bytes(FT_WIRE_DATA, "{\"model\"", 8);
        send_json(FT_WIRE_FAILED, json_pack("{s:O, s:{s:s, s:s}}", "token", token, "error", "code",
                                            "usage", "message", "no such location"));
        json_decref(list);
        return;
    }
    size_t count = json_array_size(script);
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:i, s:o}", "subproblem", (int)i, "check", "race", "pairs",
                            1, "key",
                            json_sprintf("race|write-write|%d|%s", (int)i,
                                         json_string_value(json_array_get(script, i)))));
    }
    bool lies = strcmp(does, "miscount") == 0;
    send_plan(token,
              json_pack("{s:s, s:[], s:{s:i}, s:[], s:o}", "model", "ctp", "notes", "candidates",
                        "race", (int)count + lies, "records", "subproblems", list),
              does);
}

static void send_verdict(const json_t *token, const json_t *task, const char *key,
                         const char *verdict)
{
    json_t *record =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "check", "race", "kind", "write-write", "key",
                  key, "verdict", verdict, "count", 1, "pairs", 1);
    json_t *message = json_pack("{s:o, s:o}", "task", json_deep_copy(json_object_get(task, "task")),
                                "record", record);
    json_object_set_new(message, "token", json_deep_copy(token));
    send_json(FT_WIRE_VERDICT, message);
}

static void serve_task(const fake *f, const json_t *token, const json_t *task)
{
    const char *key = json_string_value(json_object_get(task, "key"));
    const char *does = strrchr(key, '|') + 1;
    bool odd = is_time_for(f, does, key);
    if (strncmp(does, "twice", 5) == 0 && odd) send_verdict(token, task, key, "safe");
    if (strncmp(does, "stale", 5) == 0 && odd) {
        json_t *old = json_integer(json_integer_value(token) - 1);
        send_verdict(old, task, key, "safe");
        json_decref(old);
        return;
    }
    if (strncmp(does, "other-key", 9) == 0 && odd) {
        send_verdict(token, task, "race|write-write|elsewhere", "safe");
        return;
    }
    if (odd) act(does);
    send_verdict(token, task, key, strcmp(does, "violation") == 0 ? "violation" : "safe");
}

/* What the server takes back while the tasks are done. */
static void hear_recalls(fake *f, const json_t *token, size_t *keep)
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&ready, 1, 0) > 0) {
        ft_wire_frame frame;
        json_t *recall;
        receive(f, &frame);
        if (frame.type != FT_WIRE_RECALL || ft_wire_json(&frame, &recall, NULL) != FT_OK)
            give_up("not a recall");
        if (json_equal(json_object_get(recall, "token"), token))
            *keep = (size_t)json_integer_value(json_object_get(recall, "keep"));
        json_decref(recall);
    }
}

static void serve_recall(fake *f, const json_t *request)
{
    (void)f;
    (void)request;
}

static void serve_solve(fake *f, const json_t *request)
{
    size_t index, keep = json_array_size(json_object_get(request, "tasks"));
    json_t *task, *token = json_object_get(request, "token");
    json_array_foreach(json_object_get(request, "tasks"), index, task)
    {
        hear_recalls(f, token, &keep);
        if (index >= keep) break;
        const char *key = json_string_value(json_object_get(task, "key"));
        if (strcmp(strrchr(key, '|'), "|refuse") == 0) {
            send_json(FT_WIRE_FAILED, json_pack("{s:O, s:{s:s, s:s}}", "token", token, "error",
                                                "code", "internal", "message", "I cannot"));
            return;
        }
        serve_task(f, token, task);
    }
    send_json(FT_WIRE_SOLVED, json_pack("{s:O}", "token", token));
}

static const struct {
    ft_wire_type type;
    void (*serve)(fake *f, const json_t *request);
} REQUESTS[] = {
    {FT_WIRE_TRACE, serve_trace}, {FT_WIRE_INGEST, serve_ingest}, {FT_WIRE_PLAN, serve_plan},
    {FT_WIRE_SOLVE, serve_solve}, {FT_WIRE_RECALL, serve_recall},
};

static void serve(fake *f, const ft_wire_frame *frame)
{
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++) {
        if (REQUESTS[i].type != frame->type) continue;
        json_t *request;
        if (ft_wire_json(frame, &request, NULL) != FT_OK) give_up("bad JSON");
        REQUESTS[i].serve(f, request);
        json_decref(request);
        return;
    }
    give_up("not a request");
}

int fake_worker_main(const char *folder)
{
    fake f = {.folder = folder};
    send_json(FT_WIRE_HELLO,
              json_pack("{s:i, s:s, s:i, s:b}", "protocol", FT_WIRE_PROTOCOL, "version", "fake",
                        "pid", (int)getpid(), "heartbeats", true));
    for (;;) {
        ft_wire_frame frame;
        receive(&f, &frame);
        serve(&f, &frame);
    }
}
