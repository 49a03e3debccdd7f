#include "input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "terminal/signals.h"
#include "trace/reader.h"

enum { PIECE = 1 << 16 };

/* ---- opening -------------------------------------------------------------------------------- */

/* read(), but a noted signal ends the wait as well: -1. */
static ssize_t read_some(int fd, char *piece, size_t size)
{
    struct pollfd ends[2] = {{.fd = fd, .events = POLLIN},
                             {.fd = ft_signals_fd(), .events = POLLIN}};
    while (poll(ends, 2, -1) < 0 && errno == EINTR && !ft_signals_caught()) {
    }
    errno = EINTR;
    return ft_signals_caught() ? -1 : read(fd, piece, size);
}

static ft_status copy_out(FILE *from, FILE **copy, ft_error *err)
{
    char piece[PIECE];
    FILE *to = tmpfile();
    if (!to) return ft_error_set(err, FT_IO, "cannot make a temporary file: %s", strerror(errno));
    ssize_t got;
    while ((got = read_some(fileno(from), piece, sizeof piece)) > 0)
        if (fwrite(piece, 1, (size_t)got, to) != (size_t)got) break;
    if (got || ferror(to) || fflush(to)) {
        if (got < 0)
            ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
        else
            ft_error_set(err, FT_IO, "cannot be copied: %s", strerror(errno));
        fclose(to);
        return err->code;
    }
    rewind(to);
    *copy = to;
    return FT_OK;
}

static const char *encoding_of(FILE *file)
{
    unsigned char head[4] = {0};
    size_t got = fread(head, 1, sizeof head, file);
    rewind(file);
    if (got >= 2 && head[0] == 0x1f && head[1] == 0x8b) return "gzip";
    if (got == 4 && memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0) return "zstd";
    return NULL;
}

/* Pipes become files, whose size is known and whose start can be looked at. */
static ft_status make_seekable(FILE **file, struct stat *info, ft_error *err)
{
    if (fstat(fileno(*file), info))
        return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(info->st_mode)) return ft_error_set(err, FT_USAGE, "is a folder, not a trace");
    if (S_ISREG(info->st_mode) && *file != stdin) return FT_OK;
    FILE *copy = NULL;
    ft_status status = copy_out(*file, &copy, err);
    if (status) return status;
    if (*file != stdin) fclose(*file);
    *file = copy;
    return fstat(fileno(copy), info) ? ft_error_set(err, FT_IO, "%s", strerror(errno)) : FT_OK;
}

ft_status ft_input_open(const char *path, ft_input *input, ft_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) return ft_error_set(err, FT_USAGE, "cannot be opened: %s", strerror(errno));
    struct stat info;
    ft_status status = make_seekable(&file, &info, err);
    if (status) {
        if (file != stdin) fclose(file);
        return status;
    }
    *input =
        (ft_input){.file = file, .bytes = (uint64_t)info.st_size, .encoding = encoding_of(file)};
    return FT_OK;
}

void ft_input_close(ft_input *input)
{
    if (input->file && input->file != stdin) fclose(input->file);
    *input = (ft_input){0};
}

/* ---- decoding ------------------------------------------------------------------------------- */

typedef struct sink {
    ft_reader *reader;
    ft_digest digest;
} sink;

static ft_status give(sink *to, const void *data, size_t length, ft_error *err)
{
    ft_digest_update(&to->digest, data, length);
    return ft_reader_feed(to->reader, data, length, err);
}

static ft_status read_plain(FILE *file, sink *to, ft_error *err)
{
    char piece[PIECE];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0) {
        ft_status status = give(to, piece, got, err);
        if (status) return status;
    }
    return FT_OK;
}

/* Inflates what `stream` has; *whole says whether a gzip member ended with it. */
static ft_status inflate_piece(z_stream *stream, sink *to, bool *whole, ft_error *err)
{
    unsigned char out[PIECE];
    while (stream->avail_in > 0) {
        if (*whole && inflateReset(stream) != Z_OK)
            return ft_error_set(err, FT_INTERNAL, "zlib cannot be reset");
        stream->next_out = out;
        stream->avail_out = sizeof out;
        int code = inflate(stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END)
            return ft_error_set(err, FT_INPUT, "is damaged gzip: %s",
                                stream->msg ? stream->msg : "no progress");
        *whole = code == Z_STREAM_END;
        ft_status status = give(to, out, sizeof out - stream->avail_out, err);
        if (status) return status;
    }
    return FT_OK;
}

static ft_status read_gzip(FILE *file, sink *to, ft_error *err)
{
    unsigned char piece[PIECE];
    z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return ft_error_set(err, FT_INTERNAL, "zlib cannot be started");
    bool whole = false;
    ft_status status = FT_OK;
    size_t got;
    while (!status && (got = fread(piece, 1, sizeof piece, file)) > 0) {
        stream.next_in = piece;
        stream.avail_in = (unsigned)got;
        status = inflate_piece(&stream, to, &whole, err);
    }
    inflateEnd(&stream);
    if (!status && !whole) return ft_error_set(err, FT_INPUT, "is gzip that was cut short");
    return status;
}

static ft_status decompress_piece(ZSTD_DStream *stream, ZSTD_inBuffer *in, sink *to, size_t *left,
                                  ft_error *err)
{
    unsigned char data[PIECE];
    bool full = false; /* a full buffer may leave output behind in the stream */
    while (in->pos < in->size || full) {
        ZSTD_outBuffer out = {data, sizeof data, 0};
        *left = ZSTD_decompressStream(stream, &out, in);
        if (ZSTD_isError(*left))
            return ft_error_set(err, FT_INPUT, "is damaged zstd: %s", ZSTD_getErrorName(*left));
        full = out.pos == out.size;
        ft_status status = give(to, data, out.pos, err);
        if (status) return status;
    }
    return FT_OK;
}

static ft_status read_zstd(FILE *file, sink *to, ft_error *err)
{
    unsigned char piece[PIECE];
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream) return ft_error_set(err, FT_INTERNAL, "zstd cannot be started");
    size_t left = 1, got;
    ft_status status = FT_OK;
    while (!status && (got = fread(piece, 1, sizeof piece, file)) > 0) {
        ZSTD_inBuffer in = {piece, got, 0};
        status = decompress_piece(stream, &in, to, &left, err);
    }
    ZSTD_freeDStream(stream);
    if (!status && left) return ft_error_set(err, FT_INPUT, "is zstd that was cut short");
    return status;
}

static ft_status read_all(const ft_input *input, sink *to, ft_error *err)
{
    ft_status status = !input->encoding                       ? read_plain(input->file, to, err)
                       : strcmp(input->encoding, "gzip") == 0 ? read_gzip(input->file, to, err)
                                                              : read_zstd(input->file, to, err);
    if (!status && ferror(input->file))
        return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    return status;
}

ft_status ft_input_trace(const char *path, ft_trace **trace, char hash[FT_DIGEST_HEX + 1],
                         ft_error *err)
{
    ft_input input;
    ft_status status = ft_input_open(path, &input, err);
    if (status) return status;
    sink to = {.reader = ft_reader_new()};
    ft_reader_keep_inputs(to.reader);
    ft_digest_init(&to.digest);
    status = read_all(&input, &to, err);
    if (!status) status = ft_reader_finish(to.reader, trace, err);
    if (!status && hash) ft_digest_hex(&to.digest, hash);
    ft_reader_free(to.reader);
    ft_input_close(&input);
    return status;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

ft_status ft_input_json(const char *path, json_t **json, ft_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!file) return ft_error_set(err, FT_USAGE, "cannot be opened: %s", strerror(errno));
    json_error_t why;
    json_t *loaded = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    if (file != stdin) fclose(file);
    if (!loaded) {
        uint64_t line = why.line > 0 ? (uint64_t)why.line : 0;
        return ft_error_at(err, FT_INPUT, line, why.column > 0 ? (uint64_t)why.column : 0,
                           "this is no JSON document: %s", why.text);
    }
    *json = loaded;
    return FT_OK;
}
