#include "http/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"

typedef enum coding_kind { GZIP, ZSTD } coding_kind;

struct ft_decoder {
    coding_kind coding;
    z_stream gzip;
    ZSTD_DStream *zstd;
    const unsigned char *in;
    size_t in_len;
    uint64_t consumed; /* encoded bytes used up */
    bool inside;       /* a member or frame has begun and not ended */
    bool any;          /* at least one has begun */
    bool owing;        /* the last pull filled its buffer: there may be more without input */
};

static const struct {
    const char *name;
    coding_kind coding;
} CODINGS[] = {{"gzip", GZIP}, {"x-gzip", GZIP}, {"zstd", ZSTD}};

static ft_decoder *decoder_open(coding_kind coding)
{
    ft_decoder *decoder = ft_calloc(1, sizeof *decoder);
    decoder->coding = coding;
    if (coding == GZIP) {
        if (inflateInit2(&decoder->gzip, 16 + MAX_WBITS) != Z_OK) ft_out_of_memory();
        return decoder;
    }
    decoder->zstd = ZSTD_createDStream();
    if (!decoder->zstd) ft_out_of_memory();
    ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, FT_DECODE_WINDOW_LOG);
    return decoder;
}

ft_status ft_decoder_new(const char *coding, ft_decoder **decoder, ft_error *err)
{
    if (strcasecmp(coding, "identity") == 0 || !*coding) {
        *decoder = NULL;
        return FT_OK;
    }
    for (size_t i = 0; i < sizeof CODINGS / sizeof *CODINGS; i++) {
        if (strcasecmp(coding, CODINGS[i].name) != 0) continue;
        *decoder = decoder_open(CODINGS[i].coding);
        return FT_OK;
    }
    return ft_error_set(err, FT_UNSUPPORTED,
                        "Content-Encoding \"%.64s\" is not supported: send gzip, zstd or none",
                        coding);
}

void ft_decoder_free(ft_decoder *decoder)
{
    if (!decoder) return;
    if (decoder->coding == GZIP) inflateEnd(&decoder->gzip);
    ZSTD_freeDStream(decoder->zstd);
    free(decoder);
}

void ft_decoder_push(ft_decoder *decoder, const void *data, size_t length)
{
    assert(decoder->in_len == 0);
    decoder->in = data;
    decoder->in_len = length;
}

static void used(ft_decoder *decoder, size_t count)
{
    decoder->in += count;
    decoder->in_len -= count;
    decoder->consumed += count;
}

/* Members may follow one another (RFC 1952 §2.2), so a new one begins where one has ended. */
static ft_status pull_gzip(ft_decoder *decoder, void *to, size_t capacity, size_t *out,
                           ft_error *err)
{
    z_stream *z = &decoder->gzip;
    if (!decoder->inside) inflateReset(z);
    decoder->inside = decoder->any = true;
    z->next_in = (Bytef *)(uintptr_t)decoder->in;
    z->avail_in = (uInt)decoder->in_len;
    z->next_out = to;
    z->avail_out = (uInt)capacity;
    int code = inflate(z, Z_NO_FLUSH);
    used(decoder, decoder->in_len - z->avail_in);
    *out = capacity - z->avail_out;
    if (code == Z_STREAM_END) decoder->inside = false;
    if (code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END) return FT_OK;
    return ft_error_offset(err, FT_INPUT, decoder->consumed,
                           "the gzip stream is corrupt: %s (send it again, or without "
                           "Content-Encoding if it is not compressed)",
                           z->msg ? z->msg : "unknown fault");
}

static ft_status pull_zstd(ft_decoder *decoder, void *to, size_t capacity, size_t *out,
                           ft_error *err)
{
    ZSTD_inBuffer in = {decoder->in, decoder->in_len, 0};
    ZSTD_outBuffer to_buffer = {to, capacity, 0};
    size_t code = ZSTD_decompressStream(decoder->zstd, &to_buffer, &in);
    used(decoder, in.pos);
    *out = to_buffer.pos;
    if (ZSTD_isError(code))
        return ft_error_offset(err, FT_INPUT, decoder->consumed,
                               "the zstd stream is corrupt or needs a window over 8 MiB: %s",
                               ZSTD_getErrorName(code));
    decoder->inside = code != 0;
    decoder->any = true;
    return FT_OK;
}

ft_status ft_decoder_pull(ft_decoder *decoder, void *to, size_t capacity, size_t *out,
                          ft_error *err)
{
    size_t got = 0;
    ft_status status = FT_OK;
    while (status == FT_OK && got == 0 && (decoder->in_len || decoder->owing)) {
        if (!decoder->in_len && !decoder->inside) break;
        size_t before = decoder->in_len;
        status = decoder->coding == GZIP ? pull_gzip(decoder, to, capacity, &got, err)
                                         : pull_zstd(decoder, to, capacity, &got, err);
        decoder->owing = got == capacity;
        if (got == 0 && decoder->in_len == before) break;
    }
    if (status == FT_OK) *out = got;
    return status;
}

ft_status ft_decoder_end(const ft_decoder *decoder, ft_error *err)
{
    if (decoder->any && !decoder->inside) return FT_OK;
    return ft_error_offset(err, FT_INPUT, decoder->consumed,
                           "the %s stream is truncated: it ends within the data",
                           decoder->coding == GZIP ? "gzip" : "zstd");
}
