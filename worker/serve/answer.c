#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory.h"
#include "serve/internal.h"

#define WITNESS_LEVEL 1 /* of zstd: fast, and its output is a tenth of the text */

ft_status ft_answer_problem(ft_exchange *exchange, ft_error *err)
{
    FT_REQUIRE(exchange->problem.code != FT_OK && !exchange->ended);
    exchange->ended = true;
    json_t *answer = json_object(), *token = json_object_get(exchange->body, "token");
    if (token) json_object_set(answer, "token", token);
    json_object_set_new(answer, "error", ft_wire_error_to_json(&exchange->problem));
    ft_pulse_lock(exchange->service->pulse, true);
    ft_status status = ft_wire_write_json(exchange->service->out, FT_WIRE_FAILED, answer, err);
    ft_pulse_unlock(exchange->service->pulse);
    json_decref(answer);
    return status;
}

/* With a checksum, as the server stores the result for long. Returns zstd's error code on failure,
 * for lack of memory too. */
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

/* Sends the witness before its verdict, packed as the server stores it. */
static ft_status send_witness(ft_service *s, json_t *record, ft_error *err)
{
    const json_t *witness = json_object_get(record, "witness");
    if (!witness) return FT_OK;
    char *text = json_dumps(witness, JSON_COMPACT);
    assert(text); /* a witness of the engine is printable */
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

ft_status ft_answer_with(ft_exchange *exchange, ft_wire_type type, json_t *answer, ft_error *err)
{
    FT_REQUIRE(answer && type != FT_WIRE_FAILED && exchange->problem.code == FT_OK);
    assert(!exchange->ended); /* nothing follows the message that ends a request */
    ft_error local = FT_ERROR_INIT;
    ft_status status = FT_OK;
    json_t *token = json_object_get(exchange->body, "token");
    if (token) json_object_set(answer, "token", token);
    if (type == FT_WIRE_VERDICT)
        status = send_witness(exchange->service, json_object_get(answer, "record"), &local);
    if (status == FT_OK) {
        ft_pulse_lock(exchange->service->pulse, ft_wire_ends(type));
        status = ft_wire_write_json(exchange->service->out, type, answer, &local);
        ft_pulse_unlock(exchange->service->pulse);
    }
    json_decref(answer);
    exchange->ended = status == FT_OK && ft_wire_ends(type);
    if (status == FT_OK) return FT_OK;
    ft_error_set(status == FT_LIMIT ? &exchange->problem : err, status, "%s", local.message);
    return status == FT_LIMIT ? FT_OK : status;
}

static ft_status send_chunk(ft_outlet *out)
{
    assert(out->pending.len > 0 && out->pending.len <= FT_WIRE_CHUNK);
    ft_pulse_lock(out->service->pulse, false);
    ft_status status = ft_wire_write(out->service->out, FT_WIRE_DATA, ft_strbuf_text(&out->pending),
                                     out->pending.len, out->err);
    ft_pulse_unlock(out->service->pulse);
    ft_strbuf_clear(&out->pending);
    return status;
}

ft_status ft_outlet_flush(ft_outlet *out)
{
    return out->pending.len > 0 ? send_chunk(out) : FT_OK;
}

ft_status ft_outlet_send(void *context, const void *data, size_t length, ft_error *err)
{
    ft_outlet *out = context;
    const char *at = data;
    FT_REQUIRE(out->service && (data || length == 0));
    assert(out->pending.len < FT_WIRE_CHUNK);
    out->bytes += length;
    while (length > 0) {
        size_t room = FT_WIRE_CHUNK - out->pending.len, part = length < room ? length : room;
        ft_strbuf_add(&out->pending, at, part);
        at += part;
        length -= part;
        if (out->pending.len == FT_WIRE_CHUNK && send_chunk(out) != FT_OK)
            return ft_error_set(err, FT_IO, "the server closed the connection");
    }
    return FT_OK;
}
