#include "wire/wire.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"

typedef enum payload { JSON, BYTES } payload;

static const struct {
    const char *name;
    payload payload;
    bool ends;
} TYPES[FT_WIRE_TYPES] = {
#define FT_ROW(symbol, name, payload, sender, ends) {name, payload, ends},
    FT_WIRE_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_wire_name(ft_wire_type type)
{
    FT_REQUIRE(type < FT_WIRE_TYPES);
    return TYPES[type].name;
}

bool ft_wire_is_json(ft_wire_type type)
{
    FT_REQUIRE(type < FT_WIRE_TYPES);
    return TYPES[type].payload == JSON;
}

bool ft_wire_ends(ft_wire_type type)
{
    FT_REQUIRE(type < FT_WIRE_TYPES);
    return TYPES[type].ends;
}

void ft_wire_header(unsigned char header[FT_WIRE_HEADER], ft_wire_type type, size_t length)
{
    FT_REQUIRE(length <= FT_WIRE_MAX_PAYLOAD && type < FT_WIRE_TYPES);
    memset(header, 0, FT_WIRE_HEADER);
    for (int i = 0; i < 4; i++) header[i] = (unsigned char)(length >> (8 * i));
    header[4] = (unsigned char)type;
}

void ft_wire_frame_bytes(ft_strbuf *out, ft_wire_type type, const void *data, size_t length)
{
    unsigned char header[FT_WIRE_HEADER];
    ft_wire_header(header, type, length);
    ft_strbuf_add(out, (const char *)header, sizeof header);
    if (length) ft_strbuf_add(out, data, length);
}

/* The compact text of an object; heap. */
static char *dump(const json_t *json, size_t *length)
{
    FT_REQUIRE(json_is_object(json));
    char *text = json_dumps(json, JSON_COMPACT);
    assert(text);
    *length = strlen(text);
    return text;
}

void ft_wire_frame_json(ft_strbuf *out, ft_wire_type type, const json_t *json)
{
    size_t length;
    FT_REQUIRE(ft_wire_is_json(type));
    char *text = dump(json, &length);
    ft_wire_frame_bytes(out, type, text, length);
    free(text);
}

/* ---- decoding ---- */

bool ft_wire_decoder_is_sound(const ft_wire_decoder *decoder)
{
    return decoder->taken <= decoder->buffer.len && ft_strbuf_is_sound(&decoder->buffer);
}

void ft_wire_decoder_release(ft_wire_decoder *decoder)
{
    ft_strbuf_release(&decoder->buffer);
    decoder->taken = 0;
}

void ft_wire_decoder_feed(ft_wire_decoder *decoder, const void *data, size_t length)
{
    assert(ft_wire_decoder_is_sound(decoder));
    ft_strbuf_drop(&decoder->buffer, decoder->taken);
    decoder->taken = 0;
    if (length) ft_strbuf_add(&decoder->buffer, data, length);
}

static ft_status check_header(const unsigned char *header, size_t length, ft_error *err)
{
    if (length > FT_WIRE_MAX_PAYLOAD)
        return ft_error_set(err, FT_INPUT,
                            "a frame announces a payload of %zu bytes; the limit is %u", length,
                            FT_WIRE_MAX_PAYLOAD);
    if (header[4] >= FT_WIRE_TYPES)
        return ft_error_set(err, FT_INPUT, "%u is not a frame type", header[4]);
    if (header[5] || header[6] || header[7])
        return ft_error_set(err, FT_INPUT, "the padding of a frame's header is not zero");
    return FT_OK;
}

ft_status ft_wire_decoder_next(ft_wire_decoder *decoder, ft_wire_frame *frame, bool *have,
                               ft_error *err)
{
    assert(ft_wire_decoder_is_sound(decoder));
    size_t available = decoder->buffer.len - decoder->taken, length = 0;
    if (available < FT_WIRE_HEADER) {
        *have = false;
        return FT_OK;
    }
    const unsigned char *header = (unsigned char *)decoder->buffer.text + decoder->taken;
    for (int i = 3; i >= 0; i--) length = length << 8 | header[i];
    ft_status status = check_header(header, length, err);
    if (status) return status;
    *have = available - FT_WIRE_HEADER >= length;
    if (!*have) return FT_OK;
    *frame = (ft_wire_frame){(ft_wire_type)header[4], header + FT_WIRE_HEADER, length};
    decoder->taken += FT_WIRE_HEADER + length;
    assert(ft_wire_decoder_is_sound(decoder));
    return FT_OK;
}

ft_status ft_wire_json(const ft_wire_frame *frame, json_t **json, ft_error *err)
{
    json_error_t problem;
    FT_REQUIRE(ft_wire_is_json(frame->type));
    json_t *parsed =
        json_loadb((const char *)frame->payload, frame->length, JSON_REJECT_DUPLICATES, &problem);
    if (!parsed)
        return ft_error_set(err, FT_INPUT, "the payload of `%s' is not JSON: %s",
                            ft_wire_name(frame->type), problem.text);
    if (!json_is_object(parsed)) {
        json_decref(parsed);
        return ft_error_set(err, FT_INPUT, "the payload of `%s' is not a JSON object",
                            ft_wire_name(frame->type));
    }
    *json = parsed;
    return FT_OK;
}

/* ---- blocking ends ---- */

static ft_status write_all(int fd, const void *data, size_t length, ft_error *err)
{
    const char *at = data;
    while (length > 0) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            return ft_error_set(err, FT_IO, "writing a frame failed: %s", strerror(errno));
        assert((size_t)written <= length);
        at += written;
        length -= (size_t)written;
    }
    return FT_OK;
}

ft_status ft_wire_write(int fd, ft_wire_type type, const void *data, size_t length, ft_error *err)
{
    unsigned char header[FT_WIRE_HEADER];
    if (length > FT_WIRE_MAX_PAYLOAD)
        return ft_error_set(err, FT_LIMIT, "the payload of `%s' has %zu bytes; the limit is %u",
                            ft_wire_name(type), length, FT_WIRE_MAX_PAYLOAD);
    ft_wire_header(header, type, length);
    ft_status status = write_all(fd, header, sizeof header, err);
    return status ? status : write_all(fd, data, length, err);
}

ft_status ft_wire_write_json(int fd, ft_wire_type type, const json_t *json, ft_error *err)
{
    size_t length;
    FT_REQUIRE(ft_wire_is_json(type));
    char *text = dump(json, &length);
    ft_status status = ft_wire_write(fd, type, text, length, err);
    free(text);
    return status;
}

ft_status ft_wire_read(int fd, ft_wire_decoder *decoder, ft_wire_frame *frame, bool *eof,
                       ft_error *err)
{
    enum { CHUNK = 64 * 1024 };
    char chunk[CHUNK];
    bool have = false;
    for (;;) {
        ft_status status = ft_wire_decoder_next(decoder, frame, &have, err);
        if (status) return status;
        if (have) break;
        assert(decoder->buffer.len - decoder->taken < FT_WIRE_HEADER + FT_WIRE_MAX_PAYLOAD);
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ft_error_set(err, FT_IO, "reading a frame failed: %s", strerror(errno));
        if (got == 0 && decoder->buffer.len > decoder->taken)
            return ft_error_set(err, FT_INPUT, "the stream ends within a frame");
        if (got == 0) break;
        ft_wire_decoder_feed(decoder, chunk, (size_t)got);
    }
    *eof = !have;
    return FT_OK;
}

/* ---- errors ---- */

static void set_position(json_t *json, const char *name, uint64_t value)
{
    uint64_t most = (uint64_t)LLONG_MAX;
    json_object_set_new(json, name, json_integer((json_int_t)(value < most ? value : most)));
}

/* Messages quote input, which need not be UTF-8, and may be cut in the middle of a character. */
static json_t *text_json(const char *text)
{
    json_t *json = json_string(text);
    if (json) return json;
    char *plain = ft_strdup(text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 128) *c = '?';
    json = json_string(plain);
    free(plain);
    return json;
}

json_t *ft_wire_error_to_json(const ft_error *err)
{
    FT_REQUIRE(err->code != FT_OK);
    json_t *json = json_object();
    json_object_set_new(json, "code", json_string(ft_status_name(err->code)));
    json_object_set_new(json, "message", text_json(err->message));
    if (err->line) set_position(json, "line", err->line);
    if (err->column) set_position(json, "column", err->column);
    if (err->has_offset) set_position(json, "offset", err->offset);
    return json;
}

static uint64_t get_position(const json_t *json, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(json, name));
    return value > 0 ? (uint64_t)value : 0;
}

void ft_wire_error_from_json(const json_t *json, ft_error *err)
{
    const char *code = json_string_value(json_object_get(json, "code"));
    const char *message = json_string_value(json_object_get(json, "message"));
    ft_status status = code ? ft_status_from_name(code) : FT_INTERNAL;
    if (status == FT_OK) status = FT_INTERNAL;
    if (err->code != FT_OK) return;
    ft_error_at(err, status, get_position(json, "line"), get_position(json, "column"), "%s",
                message ? message : "the worker failed and gave no reason");
    err->has_offset = json_is_integer(json_object_get(json, "offset"));
    err->offset = err->has_offset ? get_position(json, "offset") : 0;
    assert(err->code != FT_OK);
}
