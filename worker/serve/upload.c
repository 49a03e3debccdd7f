#include <inttypes.h>
#include <string.h>

#include "serve/internal.h"
#include "trace/reader.h"
#include "verdict/intake.h"

ft_status ft_exchange_data(ft_service *s, ft_wire_frame *frame, ft_error *err)
{
    bool eof;
    ft_status status = ft_wire_read(s->in, &s->decoder, frame, &eof, err);
    if (status) return status;
    if (eof) return ft_error_set(err, FT_INPUT, "the input ends in the middle of an upload");
    if (frame->type == FT_WIRE_DATA_END || frame->type == FT_WIRE_DATA) return FT_OK;
    return ft_error_set(err, FT_INPUT, "`%s' in the middle of an upload",
                        ft_wire_name(frame->type));
}

/* ---- stored traces and programs ---- */

/* The upload is a trace or a program, by its first bytes. */
typedef struct arriving {
    ft_reader *reader;
    ft_strbuf program;
    bool is_program;
    uint64_t bytes;
} arriving;

static void take_part(arriving *in, const ft_wire_frame *frame, ft_error *problem)
{
    if (!in->bytes) in->is_program = ft_explored_is_binary(frame->payload, frame->length);
    in->bytes += frame->length;
    if (problem->code != FT_OK) return;
    if (in->is_program) {
        ft_strbuf_add(&in->program, (const char *)frame->payload, frame->length);
        return;
    }
    ft_status status = ft_reader_feed(in->reader, frame->payload, frame->length, problem);
    (void)status; /* kept in problem */
}

/* Reads DATA frames up to DATA_END. After a problem the rest is skipped, so that the next request
 * is found at its beginning. */
static ft_status receive_data(ft_exchange *exchange, arriving *in, ft_error *err)
{
    for (;;) {
        ft_wire_frame frame;
        ft_status status = ft_exchange_data(exchange->service, &frame, err);
        if (status || frame.type == FT_WIRE_DATA_END) return status;
        take_part(in, &frame, &exchange->problem);
    }
}

/* The service has neither where there is a problem. */
static ft_status receive_trace(ft_exchange *exchange, uint64_t *bytes, ft_error *err)
{
    ft_service *s = exchange->service;
    ft_error *problem = &exchange->problem;
    arriving in = {.reader = ft_reader_new()};
    ft_status status = receive_data(exchange, &in, err), made = FT_OK;
    bool good = status == FT_OK && problem->code == FT_OK;
    if (good && in.is_program)
        made = ft_explored_read(in.program.text, in.program.len, &s->program, problem);
    else if (good)
        made = ft_reader_finish(in.reader, &s->trace, problem);
    if (made) s->trace = NULL, s->program = NULL;
    *bytes = in.bytes;
    ft_reader_free(in.reader);
    ft_strbuf_release(&in.program);
    assert(status || (s->trace || s->program) == (problem->code == FT_OK));
    return status;
}

ft_status ft_serve_load(ft_exchange *exchange, ft_error *err)
{
    const char *hash;
    uint64_t bytes;
    ft_service *s = exchange->service;
    const json_t *announced = json_object_get(exchange->body, "bytes");
    ft_status status = ft_exchange_text(exchange, "trace", &hash, err);
    if (status) return status;
    if (strlen(hash) != FT_DIGEST_HEX) return ft_exchange_broken(exchange, "trace", err);
    if (!json_is_integer(announced)) return ft_exchange_broken(exchange, "bytes", err);
    ft_service_forget_trace(s);
    status = receive_trace(exchange, &bytes, err);
    if (status || exchange->problem.code != FT_OK) return status;
    if ((json_int_t)bytes != json_integer_value(announced)) {
        ft_service_forget_trace(s);
        ft_error_set(&exchange->problem, FT_INPUT,
                     "the stored trace has %" PRIu64 " bytes, not %" PRId64, bytes,
                     (int64_t)json_integer_value(announced));
        return FT_OK;
    }
    assert(!s->engine);
    memcpy(s->trace_hash, hash, sizeof s->trace_hash);
    return ft_answer_with(exchange, FT_WIRE_LOADED, json_pack("{s:s}", "trace", hash), err);
}

/* ---- uploads ---- */

typedef struct ingest {
    ft_outlet out; /* the canonical form */
    ft_intake *intake;
    ft_digest digest; /* of the upload */
    uint64_t bytes;   /* of it */
} ingest;

static void begin_ingest(ingest *in, uint32_t block)
{
    ft_intake_free(in->intake);
    in->intake = ft_intake_new(block, ft_outlet_send, &in->out);
    ft_digest_init(&in->digest);
    in->bytes = in->out.bytes = 0;
    ft_strbuf_clear(&in->out.pending);
}

/* Feeds one DATA frame. After a problem the rest is skipped, so that the next request is found at
 * its beginning. */
static void take_data(ingest *in, const ft_wire_frame *frame, ft_error *problem)
{
    in->bytes += frame->length;
    if (problem->code != FT_OK) return;
    ft_digest_update(&in->digest, frame->payload, frame->length);
    ft_status status = ft_intake_feed(in->intake, frame->payload, frame->length, problem);
    (void)status; /* kept in problem */
}

/* Asks for the upload from its beginning, and skips the frames that are on their way. */
static ft_status ask_again(ft_exchange *exchange, ingest *in, ft_error *err)
{
    ft_wire_frame frame;
    bool eof;
    ft_service *s = exchange->service;
    assert(!exchange->ended && ft_intake_again(in->intake));
    json_t *again = json_pack("{s:O?}", "token", json_object_get(exchange->body, "token"));
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
    bool whole = problem->code == FT_OK && ft_intake_finish(in->intake, problem) == FT_OK;
    return whole && !ft_intake_again(in->intake) ? ft_outlet_flush(&in->out) : FT_OK;
}

/* Feeds the upload up to its end. */
static ft_status receive_upload(ft_exchange *exchange, ingest *in, ft_error *err)
{
    for (;;) {
        ft_wire_frame frame;
        ft_status status = ft_exchange_data(exchange->service, &frame, err);
        if (status) return status;
        if (frame.type == FT_WIRE_DATA)
            take_data(in, &frame, &exchange->problem);
        else
            status = end_ingest(in, &exchange->problem);
        bool again = exchange->problem.code == FT_OK && ft_intake_again(in->intake);
        if (status == FT_OK && again) status = ask_again(exchange, in, err);
        if (status || (frame.type == FT_WIRE_DATA_END && !again)) return status;
    }
}

static json_t *describe(ingest *in)
{
    char hash[FT_DIGEST_HEX + 1];
    assert(in->out.pending.len == 0); /* all of it is sent */
    ft_digest_hex(&in->digest, hash);
    ft_intake_trace known = ft_intake_result(in->intake);
    json_t *meta = known.whole ? ft_engine_trace_meta(known.trace, hash)
                               : ft_engine_tables_meta(known.trace, known.n_events, known.valued,
                                                       known.symbolic, hash);
    json_object_set_new(meta, "bytes", json_integer((json_int_t)in->bytes));
    json_object_set_new(meta, "stored_bytes", json_integer((json_int_t)in->out.bytes));
    return meta;
}

ft_status ft_serve_ingest(ft_exchange *exchange, ft_error *err)
{
    const char *of = json_string_value(json_object_get(exchange->body, "of"));
    if (of && strcmp(of, "program") == 0) return ft_serve_ingest_program(exchange, err);
    ft_error lost = FT_ERROR_INIT;
    ingest in = {.out = {.service = exchange->service, .err = &lost}};
    begin_ingest(&in, FT_INTAKE_BLOCK);
    ft_status status = receive_upload(exchange, &in, err);
    if (lost.code != FT_OK) status = ft_error_set(err, lost.code, "%s", lost.message);
    if (status == FT_OK && exchange->problem.code == FT_OK)
        status = ft_answer_with(exchange, FT_WIRE_INGESTED,
                                json_pack("{s:o}", "meta", describe(&in)), err);
    ft_intake_free(in.intake);
    ft_strbuf_release(&in.out.pending);
    return status;
}
