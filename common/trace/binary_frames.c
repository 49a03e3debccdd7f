#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "base/contract.h"
#include "trace/binary_out.h"

enum { WORTH_TRYING = 64 };

static void send(ft_binary_out *out, const void *data, size_t length)
{
    if (out->status == FT_OK) out->status = out->sink(out->context, data, length, out->err);
}

void ft_binary_out_open(ft_binary_out *out, int level, ft_format format, unsigned flags)
{
    FT_REQUIRE(out->sink && format < FT_FORMATS && flags <= UINT8_MAX);
    unsigned char head[FT_BINARY_HEADER] = {[4] = FT_BINARY_VERSION, (unsigned char)flags};
    memcpy(head, FT_BINARY_MAGIC, 4);
    head[6] = (unsigned char)format;
    out->status = FT_OK;
    out->level = level;
    out->zstd = ZSTD_createCCtx();
    if (out->zstd)
        send(out, head, sizeof head);
    else
        out->status = ft_error_set(out->err, FT_INTERNAL, "zstd has no memory for a compressor");
}

/* Returns 0 where that does not pay. */
static size_t pack(ft_binary_out *out, const void *raw, size_t length)
{
    if (length < WORTH_TRYING) return 0;
    out->packed = ft_vec_grow(out->packed, &out->packed_cap, ZSTD_compressBound(length), 1);
    size_t packed =
        ZSTD_compressCCtx(out->zstd, out->packed, out->packed_cap, raw, length, out->level);
    assert(ZSTD_isError(packed) || packed <= out->packed_cap);
    return ZSTD_isError(packed) || packed >= length ? 0 : packed;
}

void ft_binary_out_frame(ft_binary_out *out, ft_binary_frame type, const void *raw, size_t length)
{
    if (out->status != FT_OK) return;
    if (length > FT_BINARY_MAX_FRAME) {
        out->status = ft_error_set(out->err, FT_LIMIT,
                                   "a single name or term of the trace takes more than %d bytes",
                                   (int)FT_BINARY_MAX_FRAME);
        return;
    }
    size_t packed = pack(out, raw, length), stored = packed ? packed : length;
    assert(stored <= length && length <= UINT32_MAX);
    const void *payload = packed ? out->packed : raw;
    unsigned char head[FT_BINARY_FRAME] = {(unsigned char)type, packed ? FT_BINARY_ZSTD : 0};
    ft_put_u32(head + 4, (uint32_t)stored);
    ft_put_u32(head + 8, (uint32_t)length);
    uLong crc = crc32(crc32(0, NULL, 0), head, 12);
    ft_put_u32(head + 12, (uint32_t)crc32(crc, payload, (uInt)stored));
    send(out, head, sizeof head);
    send(out, payload, stored);
}

void ft_binary_out_close(ft_binary_out *out)
{
    ZSTD_freeCCtx(out->zstd);
    free(out->packed);
}
