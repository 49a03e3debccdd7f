#include "base/decompress.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/contract.h"
#include "base/memory.h"

enum { OUT = 1 << 18 };
/* `xz -9` needs 65 MiB to decompress. */
static const uint64_t XZ_MEMORY = UINT64_C(256) << 20;

struct ft_decompressor {
    ft_coding coding;
    ft_decompressor_sink sink;
    void *context;
    uint64_t consumed; /* bytes of the stream so far, the piece in hand included */
    bool inside;       /* in the middle of a member or frame */
    z_stream gzip;
    ZSTD_DStream *zstd;
    lzma_stream xz;
    unsigned char out[OUT];
};

typedef struct method {
    ft_status (*open)(ft_decompressor *d, ft_error *err);
    ft_status (*take)(ft_decompressor *d, const unsigned char *data, size_t length, ft_error *err);
    ft_status (*end)(ft_decompressor *d, ft_error *err);
    void (*close)(ft_decompressor *d);
} method;

static ft_status give(ft_decompressor *d, size_t length, ft_error *err)
{
    assert(length <= OUT);
    return length ? d->sink(d->context, d->out, length, err) : FT_OK;
}

static ft_status cut_short(const ft_decompressor *d, ft_error *err)
{
    return ft_error_offset(err, FT_INPUT, d->consumed,
                           "the %s stream is cut short: its end is missing",
                           ft_coding_name(d->coding));
}

static ft_status end_whole(ft_decompressor *d, ft_error *err)
{
    return d->inside ? cut_short(d, err) : FT_OK;
}

/* ---- gzip ------------------------------------------------------------------------------------ */

static ft_status gzip_open(ft_decompressor *d, ft_error *err)
{
    enum { WINDOW = 15, GZIP = 16 }; /* zlib.h, inflateInit2 */
    return inflateInit2(&d->gzip, WINDOW + GZIP) == Z_OK
               ? FT_OK
               : ft_error_set(err, FT_INTERNAL, "zlib does not start");
}

static ft_status gzip_step(ft_decompressor *d, ft_error *err)
{
    d->gzip.next_out = d->out;
    d->gzip.avail_out = OUT;
    d->inside = true;
    int code = inflate(&d->gzip, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return ft_error_offset(err, FT_INPUT, d->consumed - d->gzip.avail_in,
                               "the gzip stream is damaged: %s",
                               d->gzip.msg ? d->gzip.msg : "zlib refuses it");
    ft_status status = give(d, OUT - d->gzip.avail_out, err);
    if (status == FT_OK && code == Z_STREAM_END) {
        d->inside = false;
        inflateReset(&d->gzip);
    }
    return status;
}

/* Zeros may follow the last member (RFC 1952 says nothing; tapes and gzip do it). */
static void skip_padding(ft_decompressor *d)
{
    while (d->gzip.avail_in && *d->gzip.next_in == 0) {
        d->gzip.next_in++;
        d->gzip.avail_in--;
    }
}

static ft_status gzip_take(ft_decompressor *d, const unsigned char *data, size_t length,
                           ft_error *err)
{
    ft_status status = FT_OK;
    d->gzip.next_in = (z_const Bytef *)data;
    d->gzip.avail_in = (uInt)length;
    do {
        if (!d->inside) skip_padding(d);
        if (!d->inside && !d->gzip.avail_in) break;
        status = gzip_step(d, err);
    } while (status == FT_OK && (d->gzip.avail_in || !d->gzip.avail_out));
    return status;
}

static void gzip_close(ft_decompressor *d)
{
    inflateEnd(&d->gzip);
}

/* ---- zstd ------------------------------------------------------------------------------------ */

static ft_status zstd_open(ft_decompressor *d, ft_error *err)
{
    d->zstd = ZSTD_createDStream();
    return d->zstd ? FT_OK : ft_error_set(err, FT_INTERNAL, "zstd does not start");
}

static ft_status zstd_take(ft_decompressor *d, const unsigned char *data, size_t length,
                           ft_error *err)
{
    ZSTD_inBuffer in = {.src = data, .size = length};
    ZSTD_outBuffer out = {.pos = 0};
    do {
        out = (ZSTD_outBuffer){.dst = d->out, .size = OUT};
        size_t hint = ZSTD_decompressStream(d->zstd, &out, &in);
        if (ZSTD_isError(hint))
            return ft_error_offset(err, FT_INPUT, d->consumed - (length - in.pos),
                                   "the zstd stream is damaged: %s", ZSTD_getErrorName(hint));
        d->inside = hint != 0;
        ft_status status = give(d, out.pos, err);
        if (status != FT_OK) return status;
    } while (in.pos < in.size || (d->inside && out.pos == out.size));
    return FT_OK;
}

static void zstd_close(ft_decompressor *d)
{
    ZSTD_freeDStream(d->zstd);
}

/* ---- xz -------------------------------------------------------------------------------------- */

static const char *xz_error(lzma_ret code)
{
    return code == LZMA_MEMLIMIT_ERROR  ? "it needs more than 256 MiB to decompress"
           : code == LZMA_OPTIONS_ERROR ? "it has options that this liblzma does not know"
           : code == LZMA_FORMAT_ERROR  ? "what follows is not an xz stream"
                                        : "its data is corrupt";
}

static ft_status xz_open(ft_decompressor *d, ft_error *err)
{
    d->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&d->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK
               ? FT_OK
               : ft_error_set(err, FT_INTERNAL, "liblzma does not start");
}

static ft_status xz_run(ft_decompressor *d, lzma_action action, ft_error *err)
{
    lzma_ret code = LZMA_OK;
    do {
        d->xz.next_out = d->out;
        d->xz.avail_out = OUT;
        code = lzma_code(&d->xz, action);
        if (code == LZMA_BUF_ERROR && action == LZMA_FINISH) return cut_short(d, err);
        if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
            return ft_error_offset(err, FT_INPUT, d->consumed - d->xz.avail_in,
                                   "the xz stream is damaged: %s", xz_error(code));
        ft_status status = give(d, OUT - d->xz.avail_out, err);
        if (status != FT_OK) return status;
    } while (code != LZMA_STREAM_END &&
             (d->xz.avail_in || !d->xz.avail_out || action == LZMA_FINISH));
    return FT_OK;
}

static ft_status xz_take(ft_decompressor *d, const unsigned char *data, size_t length,
                         ft_error *err)
{
    d->xz.next_in = data;
    d->xz.avail_in = length;
    return xz_run(d, LZMA_RUN, err);
}

static ft_status xz_end(ft_decompressor *d, ft_error *err)
{
    d->xz.next_in = NULL;
    d->xz.avail_in = 0;
    return xz_run(d, LZMA_FINISH, err);
}

static void xz_close(ft_decompressor *d)
{
    lzma_end(&d->xz);
}

/* ---- as it is -------------------------------------------------------------------------------- */

static ft_status plain_open(ft_decompressor *d, ft_error *err)
{
    (void)d;
    (void)err;
    return FT_OK;
}

static ft_status plain_take(ft_decompressor *d, const unsigned char *data, size_t length,
                            ft_error *err)
{
    return d->sink(d->context, data, length, err);
}

static void plain_close(ft_decompressor *d)
{
    (void)d;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const method METHODS[FT_CODINGS + 1] = {
    [FT_CODING_GZIP] = {gzip_open, gzip_take, end_whole, gzip_close},
    [FT_CODING_ZSTD] = {zstd_open, zstd_take, end_whole, zstd_close},
    [FT_CODING_XZ] = {xz_open, xz_take, xz_end, xz_close},
    [FT_CODINGS] = {plain_open, plain_take, end_whole, plain_close}};

ft_status ft_decompressor_open(ft_coding coding, ft_decompressor_sink sink, void *context,
                               ft_decompressor **decoder, ft_error *err)
{
    FT_REQUIRE(coding <= FT_CODINGS && sink && decoder);
    ft_decompressor *d = ft_calloc(1, sizeof *d);
    *d = (ft_decompressor){.coding = coding, .sink = sink, .context = context};
    ft_status status = METHODS[coding].open(d, err);
    if (status == FT_OK)
        *decoder = d;
    else
        free(d);
    return status;
}

ft_status ft_decompressor_feed(ft_decompressor *decoder, const void *data, size_t length,
                               ft_error *err)
{
    FT_REQUIRE(decoder && (data || !length));
    if (!length) return FT_OK;
    decoder->consumed += length;
    return METHODS[decoder->coding].take(decoder, data, length, err);
}

ft_status ft_decompressor_end(ft_decompressor *decoder, ft_error *err)
{
    FT_REQUIRE(decoder);
    return METHODS[decoder->coding].end(decoder, err);
}

void ft_decompressor_close(ft_decompressor *decoder)
{
    if (!decoder) return;
    METHODS[decoder->coding].close(decoder);
    free(decoder);
}
