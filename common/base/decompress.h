/* Decompression of what users give: gzip, zstd and xz, detected by the first bytes.
 *
 * A decompressor takes a stream in pieces of any length and hands the decoded bytes to a sink.
 * Members or frames may follow one another. Damage and missing ends are FT_INPUT with the offset in
 * the compressed stream. */
#ifndef FT_BASE_DECOMPRESS_H
#define FT_BASE_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* symbol, name, first bytes */
#define FT_CODING_TABLE(X)                                                                         \
    X(GZIP, "gzip", "\x1f\x8b")                                                                    \
    X(ZSTD, "zstd", "\x28\xb5\x2f\xfd")                                                            \
    X(XZ, "xz", "\xfd\x37zXZ\0")
typedef enum ft_coding {
#define FT_CODING_ENUM(symbol, name, magic) FT_CODING_##symbol,
    FT_CODING_TABLE(FT_CODING_ENUM)
#undef FT_CODING_ENUM
        FT_CODINGS /* not compressed */
} ft_coding;

const char *ft_coding_name(ft_coding coding);
/* Whether a stream that begins so has that coding. */
bool ft_coding_is(ft_coding coding, const void *head, size_t length);
/* The coding of a stream that begins so; up to six bytes matter. */
ft_coding ft_coding_of(const void *head, size_t length);

typedef struct ft_decompressor ft_decompressor;
typedef ft_status (*ft_decompressor_sink)(void *context, const void *data, size_t length,
                                          ft_error *err);

/* FT_CODINGS: bytes go to the sink as they come. */
ft_status ft_decompressor_open(ft_coding coding, ft_decompressor_sink sink, void *context,
                               ft_decompressor **decoder, ft_error *err) FT_MUST_CHECK;
/* A failure of the sink ends the stream and is returned. */
ft_status ft_decompressor_feed(ft_decompressor *decoder, const void *data, size_t length,
                               ft_error *err) FT_MUST_CHECK;
/* After the last piece: FT_INPUT where the end of the stream is missing. */
ft_status ft_decompressor_end(ft_decompressor *decoder, ft_error *err) FT_MUST_CHECK;
void ft_decompressor_close(ft_decompressor *decoder); /* accepts NULL */

#endif
