#include "session.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/digest.h"
#include "base/memory.h"
#include "engine.h"
#include "pulse.h"
#include "summary.h"
#include "trace/reader.h"
#include "verdict/intake.h"
#include "wire/wire.h"

#define WITNESS_LEVEL 1 /* of zstd: fast, and a tenth of the size already */

typedef struct service {
    int in, out;
    ft_pulse *pulse; /* writes PROGRESS beside the answers: its lock is held over each frame */
    ft_wire_decoder decoder;
    ft_trace *trace; /* the last one loaded, NULL: none */
    char trace_hash[FT_DIGEST_HEX + 1];
    ft_engine *engine; /* of `trace`, NULL: none */
    char *engine_key;  /* its job */
} service;

/* Two kinds of failure run through here: `err` ends the session, `problem` is answered. */

/* ---- answers ---- */

static ft_status send_failed(service *s, const json_t *request, const ft_error *problem,
                             ft_error *err)
{
    json_t *answer = json_object(), *token = json_object_get(request, "token");
    if (token) json_object_set(answer, "token", token);
    json_object_set_new(answer, "error", ft_wire_error_to_json(problem));
    ft_pulse_lock(s->pulse, true);
    ft_status status = ft_wire_write_json(s->out, FT_WIRE_FAILED, answer, err);
    ft_pulse_unlock(s->pulse);
    json_decref(answer);
    return status;
}

/* With a checksum, as the server keeps it for long. An error of zstd's without memory, too. */
static size_t pack(char *to, size_t room, const char *text, size_t length)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t size = (size_t)-ZSTD_error_memory_allocation;
    if (context &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, WITNESS_LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
        size = ZSTD_compress2(context, to, room, text, length);
    ZSTD_freeCCtx(context);
    return size;
}

/* The witness goes ahead of its verdict, packed: the server keeps it as it is. */
static ft_status send_witness(service *s, json_t *record, ft_error *err)
{
    const json_t *witness = json_object_get(record, "witness");
    if (!witness) return FT_OK;
    char *text = json_dumps(witness, JSON_COMPACT);
    size_t length = strlen(text), room = ZSTD_compressBound(length);
    char *packed = ft_alloc(room);
    size_t size = pack(packed, room, text, length);
    ft_status status = FT_OK;
    free(text);
    if (ZSTD_isError(size)) {
        status = ft_error_set(err, FT_INTERNAL, "a witness cannot be packed");
    } else {
        ft_pulse_lock(s->pulse, false);
        status = ft_wire_write(s->out, FT_WIRE_WITNESS, packed, size, err);
        ft_pulse_unlock(s->pulse);
    }
    free(packed);
    if (status == FT_OK) json_object_del(record, "witness");
    return status;
}

/* Takes `answer` and adds the request's token. An answer too large for a frame is a problem, the
 * peer has seen nothing of it then. */
static ft_status answer_with(service *s, const json_t *request, ft_wire_type type, json_t *answer,
                             ft_error *problem, ft_error *err)
{
    ft_error local = FT_ERROR_INIT;
    ft_status status = FT_OK;
    json_t *token = json_object_get(request, "token");
    if (token) json_object_set(answer, "token", token);
    if (type == FT_WIRE_VERDICT)
        status = send_witness(s, json_object_get(answer, "record"), &local);
    if (status == FT_OK) {
        ft_pulse_lock(s->pulse, ft_wire_ends(type));
        status = ft_wire_write_json(s->out, type, answer, &local);
        ft_pulse_unlock(s->pulse);
    }
    json_decref(answer);
    if (status == FT_OK) return FT_OK;
    ft_error_set(status == FT_LIMIT ? problem : err, status, "%s", local.message);
    return status == FT_LIMIT ? FT_OK : status;
}

/* ---- requests ---- */

static ft_status broken_request(ft_wire_type type, const char *member, ft_error *err)
{
    return ft_error_set(err, FT_INPUT, "request `%s': member `%s' is missing or of the wrong type",
                        ft_wire_name(type), member);
}

static ft_status get_text(const json_t *request, ft_wire_type type, const char *member,
                          const char **text, ft_error *err)
{
    *text = json_string_value(json_object_get(request, member));
    return *text ? FT_OK : broken_request(type, member, err);
}

/* The next frame of an upload or trace: DATA or DATA_END. */
static ft_status next_data(service *s, ft_wire_frame *frame, ft_error *err)
{
    bool eof;
    ft_status status = ft_wire_read(s->in, &s->decoder, frame, &eof, err);
    if (status) return status;
    if (eof) return ft_error_set(err, FT_INPUT, "the input ends in the middle of an upload");
    if (frame->type == FT_WIRE_DATA_END || frame->type == FT_WIRE_DATA) return FT_OK;
    return ft_error_set(err, FT_INPUT, "`%s' in the middle of an upload",
                        ft_wire_name(frame->type));
}

/* Reads DATA frames up to DATA_END into the reader. After a problem the rest is read over, so that
 * the next request is found where it begins. */
static ft_status receive_data(service *s, ft_reader *reader, uint64_t *bytes, ft_error *problem,
                              ft_error *err)
{
    for (;;) {
        ft_wire_frame frame;
        ft_status status = next_data(s, &frame, err);
        if (status || frame.type == FT_WIRE_DATA_END) return status;
        *bytes += frame.length;
        if (problem->code != FT_OK) continue;
        status = ft_reader_feed(reader, frame.payload, frame.length, problem);
        (void)status; /* kept in problem */
    }
}

/* *trace is NULL if *problem says why. */
static ft_status receive_trace(service *s, uint64_t *bytes, ft_trace **trace, ft_error *problem,
                               ft_error *err)
{
    ft_reader *reader = ft_reader_new();
    *trace = NULL;
    *bytes = 0;
    ft_status status = receive_data(s, reader, bytes, problem, err);
    if (status == FT_OK && problem->code == FT_OK &&
        ft_reader_finish(reader, trace, problem) != FT_OK)
        *trace = NULL;
    ft_reader_free(reader);
    return status;
}

static void forget_engine(service *s)
{
    ft_engine_free(s->engine);
    free(s->engine_key);
    s->engine = NULL;
    s->engine_key = NULL;
}

static void forget_trace(service *s)
{
    forget_engine(s);
    ft_trace_free(s->trace);
    s->trace = NULL;
    s->trace_hash[0] = 0;
}

static ft_status serve_trace(service *s, const json_t *request, ft_error *problem, ft_error *err)
{
    const char *hash;
    uint64_t bytes;
    const json_t *announced = json_object_get(request, "bytes");
    ft_status status = get_text(request, FT_WIRE_TRACE, "trace", &hash, err);
    if (status) return status;
    if (strlen(hash) != FT_DIGEST_HEX) return broken_request(FT_WIRE_TRACE, "trace", err);
    if (!json_is_integer(announced)) return broken_request(FT_WIRE_TRACE, "bytes", err);
    forget_trace(s);
    status = receive_trace(s, &bytes, &s->trace, problem, err);
    if (status || problem->code != FT_OK) return status;
    if ((json_int_t)bytes != json_integer_value(announced)) {
        forget_trace(s);
        ft_error_set(problem, FT_INPUT, "the stored trace has %" PRIu64 " bytes, not %" PRId64,
                     bytes, (int64_t)json_integer_value(announced));
        return FT_OK;
    }
    memcpy(s->trace_hash, hash, sizeof s->trace_hash);
    return answer_with(s, request, FT_WIRE_LOADED, json_pack("{s:s}", "trace", hash), problem, err);
}

typedef struct outlet {
    service *service;
    ft_strbuf pending; /* less than a chunk */
    uint64_t bytes;
    ft_error *err; /* filled when the stream fails */
} outlet;

static ft_status flush(outlet *out)
{
    ft_pulse_lock(out->service->pulse, false);
    ft_status status = ft_wire_write(out->service->out, FT_WIRE_DATA, ft_strbuf_text(&out->pending),
                                     out->pending.len, out->err);
    ft_pulse_unlock(out->service->pulse);
    ft_strbuf_clear(&out->pending);
    return status;
}

static ft_status send_piece(void *context, const void *data, size_t length, ft_error *err)
{
    outlet *out = context;
    const char *at = data;
    out->bytes += length;
    while (length > 0) {
        size_t room = FT_WIRE_CHUNK - out->pending.len, part = length < room ? length : room;
        ft_strbuf_add(&out->pending, at, part);
        at += part;
        length -= part;
        if (out->pending.len == FT_WIRE_CHUNK && flush(out) != FT_OK)
            return ft_error_set(err, FT_IO, "the server is gone");
    }
    return FT_OK;
}

/* ---- uploads ---- */

typedef struct ingest {
    outlet out;
    ft_intake *intake;
    ft_digest digest;
    uint64_t bytes;
} ingest;

static void begin_ingest(ingest *in, uint32_t block)
{
    ft_intake_free(in->intake);
    in->intake = ft_intake_new(block, send_piece, &in->out);
    ft_digest_init(&in->digest);
    in->bytes = in->out.bytes = 0;
    ft_strbuf_clear(&in->out.pending);
}

/* One DATA frame. After a problem the rest is read over, so that the next request is found where it
 * begins. */
static void take_data(ingest *in, const ft_wire_frame *frame, ft_error *problem)
{
    in->bytes += frame->length;
    if (problem->code != FT_OK) return;
    ft_digest_update(&in->digest, frame->payload, frame->length);
    ft_status status = ft_intake_feed(in->intake, frame->payload, frame->length, problem);
    (void)status; /* kept in problem */
}

/* Asks for the upload from its beginning; what is on its way is passed over. */
static ft_status ask_again(service *s, ingest *in, const json_t *request, ft_error *err)
{
    ft_wire_frame frame;
    bool eof;
    json_t *again = json_pack("{s:O?}", "token", json_object_get(request, "token"));
    ft_pulse_lock(s->pulse, false);
    ft_status status = ft_wire_write_json(s->out, FT_WIRE_AGAIN, again, err);
    ft_pulse_unlock(s->pulse);
    json_decref(again);
    do {
        if (status == FT_OK) status = ft_wire_read(s->in, &s->decoder, &frame, &eof, err);
        if (status == FT_OK && eof)
            status = ft_error_set(err, FT_INPUT, "the input ends in the middle of an upload");
    } while (status == FT_OK && (frame.type == FT_WIRE_DATA || frame.type == FT_WIRE_DATA_END));
    if (status == FT_OK && frame.type != FT_WIRE_INGEST)
        status = ft_error_set(err, FT_INPUT, "`%s' in the middle of an upload",
                              ft_wire_name(frame.type));
    begin_ingest(in, 0);
    return status;
}

static ft_status end_ingest(ingest *in, ft_error *problem)
{
    if (problem->code == FT_OK && ft_intake_finish(in->intake, problem) == FT_OK &&
        !ft_intake_again(in->intake) && in->out.pending.len > 0)
        return flush(&in->out);
    return FT_OK;
}

/* Feeds the upload up to its end. */
static ft_status receive_upload(service *s, ingest *in, const json_t *request, ft_error *problem,
                                ft_error *err)
{
    for (;;) {
        ft_wire_frame frame;
        ft_status status = next_data(s, &frame, err);
        if (status) return status;
        if (frame.type == FT_WIRE_DATA)
            take_data(in, &frame, problem);
        else
            status = end_ingest(in, problem);
        bool again = problem->code == FT_OK && ft_intake_again(in->intake);
        if (status == FT_OK && again) status = ask_again(s, in, request, err);
        if (status || (frame.type == FT_WIRE_DATA_END && !again)) return status;
    }
}

static json_t *describe(ingest *in)
{
    char hash[FT_DIGEST_HEX + 1];
    ft_digest_hex(&in->digest, hash);
    ft_intake_trace known = ft_intake_result(in->intake);
    json_t *meta = known.whole ? ft_engine_trace_meta(known.trace, hash)
                               : ft_engine_tables_meta(known.trace, known.n_events, known.valued,
                                                       known.symbolic, hash);
    json_object_set_new(meta, "bytes", json_integer((json_int_t)in->bytes));
    json_object_set_new(meta, "stored_bytes", json_integer((json_int_t)in->out.bytes));
    return meta;
}

static ft_status serve_ingest(service *s, const json_t *request, ft_error *problem, ft_error *err)
{
    ft_error lost = FT_ERROR_INIT;
    ingest in = {.out = {.service = s, .err = &lost}};
    begin_ingest(&in, FT_INTAKE_BLOCK);
    ft_status status = receive_upload(s, &in, request, problem, err);
    if (lost.code != FT_OK) status = ft_error_set(err, lost.code, "%s", lost.message);
    if (status == FT_OK && problem->code == FT_OK)
        status = answer_with(s, request, FT_WIRE_INGESTED,
                             json_pack("{s:o}", "meta", describe(&in)), problem, err);
    ft_intake_free(in.intake);
    ft_strbuf_release(&in.out.pending);
    return status;
}

/* The engine for the request's trace and job; the last one if it is the same. NULL: see *problem.
 */
static ft_status find_engine(service *s, const json_t *request, ft_wire_type type,
                             ft_error *problem, ft_error *err)
{
    const char *hash;
    const json_t *spec = json_object_get(request, "spec");
    ft_status status = get_text(request, type, "trace", &hash, err);
    if (status) return status;
    if (!json_is_object(spec)) return broken_request(type, "spec", err);
    if (!s->trace || strcmp(hash, s->trace_hash) != 0) {
        ft_error_set(problem, FT_CONFLICT, "trace %s is not loaded: send it first", hash);
        return FT_OK;
    }
    char *key = json_dumps(spec, JSON_SORT_KEYS | JSON_COMPACT);
    if (s->engine && strcmp(key, s->engine_key) == 0) {
        free(key);
        return FT_OK;
    }
    forget_engine(s);
    if (ft_engine_new(s->trace, s->trace_hash, spec, &s->engine, problem) == FT_OK)
        s->engine_key = key;
    else
        free(key);
    return FT_OK;
}

static int put_plan(const char *text, size_t length, void *data)
{
    outlet *out = data;
    if (out->bytes + length > FT_WIRE_MAX_PLAN) {
        out->bytes += length;
        return -1;
    }
    return send_piece(out, text, length, NULL) == FT_OK ? 0 : -1;
}

/* *bytes beyond FT_WIRE_MAX_PLAN: it was not sent to its end. */
static ft_status send_plan(service *s, const json_t *plan, uint64_t *bytes, ft_error *err)
{
    outlet out = {.service = s, .err = err};
    ft_status status = FT_OK;
    int failed = json_dump_callback(plan, put_plan, &out, JSON_COMPACT);
    if (!failed && out.pending.len > 0) status = flush(&out);
    if (failed && out.bytes <= FT_WIRE_MAX_PLAN)
        status = ft_error_set(err, FT_INTERNAL, "the plan cannot be sent");
    *bytes = out.bytes;
    ft_strbuf_release(&out.pending);
    return status;
}

static ft_status serve_plan(service *s, const json_t *request, ft_error *problem, ft_error *err)
{
    json_t *plan;
    ft_status status = find_engine(s, request, FT_WIRE_PLAN, problem, err);
    if (status || problem->code != FT_OK) return status;
    if (ft_engine_plan(s->engine, &plan, problem) != FT_OK) {
        forget_engine(s);
        return FT_OK;
    }
    size_t subproblems = json_array_size(json_object_get(plan, "subproblems"));
    uint64_t bytes = 0;
    status = send_plan(s, plan, &bytes, err);
    json_decref(plan);
    if (status) return status;
    if (bytes <= FT_WIRE_MAX_PLAN)
        return answer_with(s, request, FT_WIRE_PLANNED,
                           json_pack("{s:I}", "bytes", (json_int_t)bytes), problem, err);
    forget_engine(s);
    ft_error_set(problem, FT_LIMIT,
                 "the plan is too large: %zu subproblems, and no more than %u MiB of them may be "
                 "in one job; check one thing at a time, by location, or a shorter trace",
                 subproblems, FT_WIRE_MAX_PLAN >> 20);
    return FT_OK;
}

static ft_status solve_task(service *s, const json_t *request, const json_t *task,
                            ft_error *problem, ft_error *err)
{
    json_t *id = json_object_get(task, "task"), *number = json_object_get(task, "subproblem");
    json_int_t subproblem = json_integer_value(number);
    json_t *record;
    if (!id) return broken_request(FT_WIRE_SOLVE, "tasks.task", err);
    if (!json_is_integer(number) || subproblem < 0 || subproblem > (json_int_t)UINT32_MAX)
        return broken_request(FT_WIRE_SOLVE, "tasks.subproblem", err);
    if (ft_engine_solve(s->engine, (uint32_t)subproblem,
                        json_string_value(json_object_get(task, "key")), &record,
                        problem) != FT_OK) {
        forget_engine(s);
        return FT_OK;
    }
    return answer_with(s, request, FT_WIRE_VERDICT,
                       json_pack("{s:O,s:o}", "task", id, "record", record), problem, err);
}

/* ---- recalled tasks ---- */

static bool is_readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 0) > 0;
}

/* A frame that is there already, without waiting for one. */
static ft_status take_frame(service *s, ft_wire_frame *frame, bool *have, ft_error *err)
{
    bool eof = false;
    ft_status status = ft_wire_decoder_next(&s->decoder, frame, have, err);
    if (status || *have || !is_readable(s->in)) return status;
    status = ft_wire_read(s->in, &s->decoder, frame, &eof, err);
    if (status == FT_OK && eof) status = ft_error_set(err, FT_IO, "the server is gone");
    *have = status == FT_OK;
    return status;
}

/* Lowers *keep by what the server took back since it was asked last. */
static ft_status hear_recalls(service *s, const json_t *request, size_t *keep, ft_error *err)
{
    ft_wire_frame frame;
    json_t *recall;
    for (;;) {
        bool have = false;
        ft_status status = take_frame(s, &frame, &have, err);
        if (status || !have) return status;
        if (frame.type != FT_WIRE_RECALL)
            return ft_error_set(err, FT_INPUT, "`%s' in the middle of a request",
                                ft_wire_name(frame.type));
        status = ft_wire_json(&frame, &recall, err);
        if (status) return status;
        json_int_t kept = json_integer_value(json_object_get(recall, "keep"));
        bool ours = json_equal(json_object_get(recall, "token"), json_object_get(request, "token"));
        if (ours && kept >= 0 && (size_t)kept < *keep) *keep = (size_t)kept;
        json_decref(recall);
    }
}

static ft_status solve_tasks(service *s, const json_t *request, const json_t *tasks,
                             ft_error *problem, ft_error *err)
{
    size_t keep = json_array_size(tasks);
    for (size_t i = 0; i < keep; i++) {
        ft_pulse_say(s->pulse, "task %zu of %zu", i + 1, keep);
        ft_status status = solve_task(s, request, json_array_get(tasks, i), problem, err);
        if (status == FT_OK && problem->code == FT_OK)
            status = hear_recalls(s, request, &keep, err);
        if (status || problem->code != FT_OK) return status;
    }
    return FT_OK;
}

static ft_status serve_solve(service *s, const json_t *request, ft_error *problem, ft_error *err)
{
    const json_t *tasks = json_object_get(request, "tasks");
    ft_status status = find_engine(s, request, FT_WIRE_SOLVE, problem, err);
    if (status || problem->code != FT_OK) return status;
    if (!json_is_array(tasks)) return broken_request(FT_WIRE_SOLVE, "tasks", err);
    status = solve_tasks(s, request, tasks, problem, err);
    if (status || problem->code != FT_OK) return status;
    return answer_with(s, request, FT_WIRE_SOLVED, json_object(), problem, err);
}

static ft_status serve_summarize(service *s, const json_t *request, ft_error *problem,
                                 ft_error *err)
{
    const char *hash;
    ft_status status = get_text(request, FT_WIRE_SUMMARIZE, "trace", &hash, err);
    if (status) return status;
    if (!s->trace || strcmp(hash, s->trace_hash) != 0) {
        ft_error_set(problem, FT_CONFLICT, "trace %s is not loaded: send it first", hash);
        return FT_OK;
    }
    return answer_with(s, request, FT_WIRE_SUMMARIZED,
                       json_pack("{s:o}", "summary", ft_summary_new(s->trace)), problem, err);
}

/* One that crossed with the end of its request. */
static ft_status serve_recall(service *s, const json_t *request, ft_error *problem, ft_error *err)
{
    (void)s;
    (void)request;
    (void)problem;
    (void)err;
    return FT_OK;
}

static const struct {
    ft_wire_type type;
    ft_status (*serve)(service *s, const json_t *request, ft_error *problem, ft_error *err);
} REQUESTS[] = {
    {FT_WIRE_TRACE, serve_trace},   {FT_WIRE_INGEST, serve_ingest},
    {FT_WIRE_PLAN, serve_plan},     {FT_WIRE_SOLVE, serve_solve},
    {FT_WIRE_RECALL, serve_recall}, {FT_WIRE_SUMMARIZE, serve_summarize},
};

static ft_status serve_frame(service *s, const ft_wire_frame *frame, ft_error *err)
{
    enum { COUNT = sizeof REQUESTS / sizeof *REQUESTS };
    size_t row = 0;
    json_t *request;
    ft_error problem = FT_ERROR_INIT;
    while (row < COUNT && REQUESTS[row].type != frame->type) row++;
    if (row == COUNT)
        return ft_error_set(err, FT_INPUT, "`%s' is no request", ft_wire_name(frame->type));
    ft_status status = ft_wire_json(frame, &request, err);
    if (status) return status;
    ft_pulse_begin(s->pulse, ft_wire_name(frame->type));
    status = REQUESTS[row].serve(s, request, &problem, err);
    ft_pulse_end(s->pulse);
    if (status == FT_OK && problem.code != FT_OK) status = send_failed(s, request, &problem, err);
    json_decref(request);
    return status;
}

static ft_status say_hello(service *s, ft_error *err)
{
    json_t *hello = json_pack("{s:i,s:s,s:i,s:b}", "protocol", FT_WIRE_PROTOCOL, "version",
                              FT_VERSION, "pid", (int)getpid(), "heartbeats", s->pulse != NULL);
    ft_status status = ft_wire_write_json(s->out, FT_WIRE_HELLO, hello, err);
    json_decref(hello);
    return status;
}

ft_status ft_worker_serve(int in, int out, ft_error *err)
{
    service s = {.in = in, .out = out, .pulse = ft_pulse_new(out)};
    bool eof = false;
    ft_status status = say_hello(&s, err);
    while (status == FT_OK) {
        ft_wire_frame frame;
        status = ft_wire_read(in, &s.decoder, &frame, &eof, err);
        if (status || eof) break;
        status = serve_frame(&s, &frame, err);
    }
    ft_pulse_free(s.pulse);
    forget_trace(&s);
    ft_wire_decoder_release(&s.decoder);
    return status;
}
