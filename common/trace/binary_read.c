#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "trace/binary_internal.h"
#include "trace/reader.h"

uint64_t ft_binary_offset(const ft_binary_state *r)
{
    return r->payload ? r->frame + FT_BINARY_FRAME + (uint64_t)(r->c.at - r->payload) : r->frame;
}

static bool unpack(ft_binary_state *r, const unsigned char *payload, uint32_t length, uint32_t raw)
{
    r->raw = ft_vec_grow(r->raw, &r->raw_cap, raw ? raw : 1, 1);
    size_t got = ZSTD_decompress(r->raw, raw, payload, length);
    if (ZSTD_isError(got) || got != raw) return false;
    r->c = (ft_binary_cursor){.at = r->raw, .end = r->raw + raw};
    r->payload = NULL;
    return true;
}

static void read_frame(ft_binary_state *r, const unsigned char *head)
{
    const unsigned char *payload = head + FT_BINARY_FRAME;
    uint32_t length = ft_get_u32(head + 4), raw = ft_get_u32(head + 8);
    uint32_t crc = (uint32_t)crc32(crc32(crc32(0, NULL, 0), head, 12), payload, length);
    unsigned type = head[0];
    if (type == FT_BINARY_FRAME_INPUTS && !r->builder->keep_inputs) return;
    r->payload = payload;
    r->c = (ft_binary_cursor){.at = payload, .end = payload + length};
    if (crc != ft_get_u32(head + 12))
        FT_BINARY_FAIL(r, FT_INPUT, "the frame's checksum is wrong: the file is damaged");
    else if (!ft_binary_knows(type) || head[1] & ~FT_BINARY_ZSTD)
        FT_BINARY_FAIL(r, FT_UNSUPPORTED, "a frame is of a type that this version does not know");
    else if (head[1] & FT_BINARY_ZSTD ? !unpack(r, payload, length, raw) : raw != length)
        FT_BINARY_FAIL(r, FT_INPUT, "the frame does not expand to the length it says");
    if (r->status == FT_OK) ft_binary_payload(r, type);
}

static void read_header(ft_binary_state *r, const unsigned char *head)
{
    r->payload = NULL;
    r->frame = 0;
    if (memcmp(head, FT_BINARY_MAGIC, 4) != 0)
        FT_BINARY_FAIL(r, FT_INPUT, "not a Foretell binary trace");
    else if (head[4] != FT_BINARY_VERSION || head[5] & ~FT_BINARY_CANONICAL || head[7])
        FT_BINARY_FAIL(r, FT_UNSUPPORTED, "binary format version %u; this program reads version %d",
                       head[4], FT_BINARY_VERSION);
    else if (head[6] >= FT_FORMATS)
        FT_BINARY_FAIL(r, FT_INPUT, "the header names a source format that does not exist");
    if (r->status != FT_OK) return;
    r->header = true;
    r->canonical = head[5] & FT_BINARY_CANONICAL;
    r->builder->says_canonical = r->canonical;
    r->builder->trace->format = (ft_format)head[6];
}

/* Before the payload is there to be checked: damage must not look like a file cut short. */
static bool is_plausible(const unsigned char *head)
{
    uint32_t length = ft_get_u32(head + 4), raw = ft_get_u32(head + 8);
    bool packed = head[1] & FT_BINARY_ZSTD;
    return raw <= FT_BINARY_MAX_FRAME && (packed ? length < raw : length == raw) && !head[2] &&
           !head[3];
}

/* Reads what is whole at the buffer's `at`; returns how much that was, 0: more is needed. */
static size_t read_some(ft_binary_state *r, size_t at)
{
    const unsigned char *bytes = r->buffer.data + at;
    size_t have = r->buffer.len - at;
    if (!r->header) {
        if (have < FT_BINARY_HEADER) return 0;
        read_header(r, bytes);
        return FT_BINARY_HEADER;
    }
    r->frame = r->offset + at;
    r->payload = NULL;
    if (r->ended && have) FT_BINARY_FAIL(r, FT_INPUT, "something follows the end of the trace");
    if (have < FT_BINARY_FRAME || r->status != FT_OK) return 0;
    uint32_t length = ft_get_u32(bytes + 4);
    if (!is_plausible(bytes))
        FT_BINARY_FAIL(r, FT_INPUT, "the frame's head is malformed: the file is damaged");
    if (r->status != FT_OK || have - FT_BINARY_FRAME < length) return 0;
    read_frame(r, bytes);
    return FT_BINARY_FRAME + (size_t)length;
}

static bool binary_detect(const char *head, size_t length)
{
    return length >= 4 && memcmp(head, FT_BINARY_MAGIC, 4) == 0;
}

static void *binary_open(ft_builder *builder)
{
    ft_binary_state *r = ft_calloc(1, sizeof *r);
    r->builder = builder;
    r->trace = ft_builder_peek(builder);
    return r;
}

static ft_status binary_chunk(void *state, const void *data, size_t length, ft_error *err)
{
    ft_binary_state *r = state;
    r->err = err;
    if (!length) return r->status;
    ft_vec_reserve(&r->buffer, r->buffer.len + length);
    memcpy(r->buffer.data + r->buffer.len, data, length);
    r->buffer.len += length;
    size_t at = 0, step;
    while (r->status == FT_OK && (step = read_some(r, at)) > 0) at += step;
    memmove(r->buffer.data, r->buffer.data + at, r->buffer.len - at);
    r->buffer.len -= at;
    r->offset += at;
    return r->status;
}

static ft_status binary_end(void *state, ft_error *err)
{
    ft_binary_state *r = state;
    if (r->ended) {
        r->builder->canonical = r->canonical;
        return FT_OK;
    }
    uint64_t end = r->offset + r->buffer.len;
    if (!r->n_blocks)
        return ft_error_offset(err, FT_INPUT, end, "the file is cut short before its first events");
    uint32_t n_events = ft_builder_count(r->builder);
    ft_builder_note(r->builder, "cut-short", n_events - 1,
                    "the file is cut short at byte %llu; the %u events before that were read",
                    (unsigned long long)end, n_events);
    return FT_OK;
}

static void binary_close(void *state)
{
    ft_binary_state *r = state;
    ft_vec_release(&r->buffer);
    ft_vec_release(&r->terms);
    ft_vec_release(&r->actions);
    ft_vec_release(&r->set);
    ft_vec_release(&r->children);
    ft_vec_release(&r->cells);
    ft_vec_release(&r->numbers);
    free(r->raw);
    free(r);
}

const ft_format_reader ft_binary_reader = {
    .format = FT_FORMAT_BINARY,
    .raw = true,
    .detect = binary_detect,
    .open = binary_open,
    .chunk = binary_chunk,
    .end = binary_end,
    .close = binary_close,
};
