#include "trace/reader.h"

#include "trace/builder_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

enum { HEAD = 4096, PIECE = 1 << 18 };

/* In the order of detection: the first that recognises the head has it. */
static const ft_format_reader *const READERS[] = {&ft_binary_reader, &ft_ndjson_reader,
                                                  &ft_std_reader, &ft_log_reader};

struct ft_reader {
    const ft_format_reader *format; /* NULL until detected */
    ft_builder *builder;
    void *state;
    ft_strbuf head; /* input so far, while the format is not known */
    ft_strbuf line; /* the beginning of a line whose end has not come yet */
    uint64_t lines;
    bool spent, keep_inputs;
    void (*flush)(void *context); /* ft_reader_flush_to */
    void *flush_context;
    uint32_t block;
    ft_error failure; /* the first one; every later call repeats it */
};

ft_reader *ft_reader_new(void)
{
    return ft_calloc(1, sizeof(ft_reader));
}

static void release(ft_reader *reader)
{
    if (reader->state) reader->format->close(reader->state);
    reader->state = NULL;
    ft_builder_free(reader->builder);
    reader->builder = NULL;
    ft_strbuf_release(&reader->head);
    ft_strbuf_release(&reader->line);
    reader->spent = true;
}

void ft_reader_keep_inputs(ft_reader *reader)
{
    reader->keep_inputs = true;
}

void ft_reader_flush_to(ft_reader *reader, void (*flush)(void *context), void *context,
                        uint32_t block)
{
    reader->flush = flush;
    reader->flush_context = context;
    reader->block = block;
}

ft_builder *ft_reader_builder(const ft_reader *reader)
{
    return reader->builder;
}

void ft_reader_free(ft_reader *reader)
{
    if (!reader) return;
    release(reader);
    free(reader);
}

static ft_status report(ft_reader *reader, ft_error *err)
{
    if (err && err->code == FT_OK) *err = reader->failure;
    return reader->failure.code;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static ft_status give_line(ft_reader *reader, const char *text, size_t length)
{
    uint64_t number = ++reader->lines;
    if (length && text[length - 1] == '\r') length--;
    if (length > FT_READER_MAX_LINE)
        return ft_error_at(&reader->failure, FT_LIMIT, number, FT_READER_MAX_LINE + 1,
                           "the line is longer than %u bytes", FT_READER_MAX_LINE);
    ft_status status = reader->format->line(reader->state, text, length, number, &reader->failure);
    assert((status == FT_OK) == (reader->failure.code == FT_OK));
    return status;
}

static ft_status keep_line(ft_reader *reader, const char *text, size_t length)
{
    /* One byte more than a line may have, for a carriage return before its end. */
    size_t room = FT_READER_MAX_LINE + 1 - reader->line.len;
    if (length > room)
        return ft_error_at(&reader->failure, FT_LIMIT, reader->lines + 1, FT_READER_MAX_LINE + 1,
                           "the line is longer than %u bytes", FT_READER_MAX_LINE);
    if (length) ft_strbuf_add(&reader->line, text, length);
    return FT_OK;
}

static ft_status end_line(ft_reader *reader, const char *text, size_t length)
{
    if (!reader->line.len) return give_line(reader, text, length);
    ft_status status = keep_line(reader, text, length);
    if (status != FT_OK) return status;
    status = give_line(reader, reader->line.text, reader->line.len);
    ft_strbuf_clear(&reader->line);
    return status;
}

static ft_status feed_lines(ft_reader *reader, const char *text, size_t length)
{
    const char *end = text + length, *newline;
    while (text < end && (newline = memchr(text, '\n', (size_t)(end - text))) != NULL) {
        ft_status status = end_line(reader, text, (size_t)(newline - text));
        if (status != FT_OK) return status;
        text = newline + 1;
    }
    return keep_line(reader, text, (size_t)(end - text));
}

static ft_status feed_raw(ft_reader *reader, const char *text, size_t length)
{
    while (length) { /* in pieces: what a format keeps back stays small */
        size_t piece = length < PIECE ? length : PIECE;
        ft_status status = reader->format->chunk(reader->state, text, piece, &reader->failure);
        if (status != FT_OK) return status;
        text += piece;
        length -= piece;
    }
    return FT_OK;
}

static ft_status feed_format(ft_reader *reader, const char *text, size_t length)
{
    return reader->format->raw ? feed_raw(reader, text, length) : feed_lines(reader, text, length);
}

/* ---- detection ------------------------------------------------------------------------------ */

static size_t byte_order_mark(const char *head, size_t length)
{
    return length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static bool has_magic(const char *head, size_t length, const char *magic, size_t magic_length)
{
    return length >= magic_length && memcmp(head, magic, magic_length) == 0;
}

static bool is_gzip(const char *head, size_t length)
{
    return has_magic(head, length, "\x1f\x8b", 2);
}

static bool is_zstd(const char *head, size_t length)
{
    return has_magic(head, length, "\x28\xb5\x2f\xfd", 4);
}

static bool is_blank(const char *head, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r\n", head[i]) || !head[i]) return false;
    return true;
}

static bool is_text(const char *head, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)head[i] < 0x20 && !is_blank(head + i, 1)) return false;
    return true;
}

static const ft_format_reader *detect(const char *head, size_t length)
{
    bool text = is_text(head, length);
    for (size_t i = 0; i < sizeof READERS / sizeof *READERS; i++) {
        if (!READERS[i]->raw && !text) continue;
        if (READERS[i]->detect(head, length)) return READERS[i];
    }
    return NULL;
}

static const char *describe(const char *head, size_t length)
{
    if (is_blank(head, length)) return "the input is empty";
    if (is_gzip(head, length)) return "the input is still compressed with gzip";
    if (is_zstd(head, length)) return "the input is still compressed with zstd";
    return is_text(head, length) ? "this is not a trace" : "this is binary data, not a trace";
}

static ft_status refuse(ft_reader *reader, const char *head, size_t length)
{
    return ft_error_at(&reader->failure, FT_INPUT, 1, 1,
                       "%s: expected Foretell NDJSON (its first line is an object that starts with "
                       "{\"format\":\"foretell\"), Foretell binary, RAPID STD "
                       "(thread|op(object)|location) or a comma-separated log",
                       describe(head, length));
}

/* Opens the format that the head shows and hands it all input so far. */
static ft_status start(ft_reader *reader)
{
    const char *head = ft_strbuf_text(&reader->head);
    size_t length = reader->head.len, skip = byte_order_mark(head, length);
    head += skip;
    length -= skip;
    size_t shown = length < HEAD ? length : (size_t)HEAD;
    reader->format = detect(head, shown);
    if (!reader->format) return refuse(reader, head, shown);
    reader->builder = ft_builder_new(reader->format->format);
    if (reader->keep_inputs) ft_builder_keep_inputs(reader->builder);
    if (reader->flush)
        ft_builder_flush_to(reader->builder, reader->flush, reader->flush_context, reader->block);
    reader->state = reader->format->open(reader->builder);
    ft_status status = feed_format(reader, head, length);
    ft_strbuf_release(&reader->head);
    return status;
}

/* ---- the interface -------------------------------------------------------------------------- */

ft_status ft_reader_feed(ft_reader *reader, const void *data, size_t length, ft_error *err)
{
    assert(!reader->spent || reader->failure.code != FT_OK);
    if (reader->failure.code != FT_OK) return report(reader, err);
    if (!length) return FT_OK;
    const char *text = data;
    if (!reader->format) {
        size_t missing = HEAD + 3 - reader->head.len, take = length < missing ? length : missing;
        ft_strbuf_add(&reader->head, text, take);
        text += take;
        length -= take;
        if (reader->head.len == HEAD + 3 && start(reader) != FT_OK) return report(reader, err);
    }
    if (length && feed_format(reader, text, length) != FT_OK) return report(reader, err);
    return FT_OK;
}

static ft_status finish(ft_reader *reader)
{
    if (reader->failure.code != FT_OK) return reader->failure.code;
    ft_status status = reader->format ? FT_OK : start(reader);
    if (status == FT_OK && reader->line.len) status = end_line(reader, "", 0);
    if (status == FT_OK) status = reader->format->end(reader->state, &reader->failure);
    return status;
}

ft_status ft_reader_end(ft_reader *reader, ft_builder **builder, ft_error *err)
{
    assert(!reader->spent || reader->failure.code != FT_OK);
    if (finish(reader) == FT_OK) {
        *builder = reader->builder;
        reader->builder = NULL;
    }
    /* Who takes events away may hold on to the builder until the reader is freed. */
    if (!reader->flush || !reader->builder) release(reader);
    reader->spent = true;
    return report(reader, err);
}

ft_status ft_reader_finish(ft_reader *reader, ft_trace **trace, ft_error *err)
{
    ft_builder *builder = NULL;
    ft_status status = ft_reader_end(reader, &builder, err);
    if (status != FT_OK) return status;
    ft_status finished = ft_builder_finish(builder, trace, &reader->failure);
    assert((finished == FT_OK) == (reader->failure.code == FT_OK));
    return finished == FT_OK ? FT_OK : report(reader, err);
}

ft_status ft_trace_read_memory(const void *data, size_t length, ft_trace **trace, ft_error *err)
{
    ft_reader *reader = ft_reader_new();
    ft_status status = ft_reader_feed(reader, data, length, err);
    if (status == FT_OK) status = ft_reader_finish(reader, trace, err);
    ft_reader_free(reader);
    return status;
}

/* ---- files, perhaps compressed -------------------------------------------------------------- */

/* A decompressor takes input as it comes and feeds the reader; `end` says whether it was whole. */
typedef struct source {
    ft_reader *reader;
    ft_error *err;
    uint64_t consumed; /* bytes of the file so far */
    z_stream gzip;
    ZSTD_DStream *zstd;
    bool inside; /* in the middle of a member or frame */
    unsigned char *out;
} source;

typedef struct decoder {
    const char *name;
    ft_status (*open)(source *s);
    ft_status (*take)(source *s, const unsigned char *data, size_t length);
    void (*close)(source *s);
} decoder;

static ft_status plain_take(source *s, const unsigned char *data, size_t length)
{
    return ft_reader_feed(s->reader, data, length, s->err);
}

static ft_status gzip_open(source *s)
{
    enum { WINDOW = 15, GZIP = 16 }; /* zlib.h, inflateInit2 */
    return inflateInit2(&s->gzip, WINDOW + GZIP) == Z_OK
               ? FT_OK
               : ft_error_set(s->err, FT_INTERNAL, "zlib does not start");
}

static ft_status gzip_step(source *s)
{
    s->gzip.next_out = s->out;
    s->gzip.avail_out = PIECE;
    s->inside = true;
    int code = inflate(&s->gzip, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return ft_error_offset(s->err, FT_INPUT, s->consumed - s->gzip.avail_in,
                               "the gzip stream is damaged: %s",
                               s->gzip.msg ? s->gzip.msg : "zlib refuses it");
    ft_status status = ft_reader_feed(s->reader, s->out, PIECE - s->gzip.avail_out, s->err);
    if (status == FT_OK && code == Z_STREAM_END) {
        s->inside = false;
        inflateReset(&s->gzip);
    }
    return status;
}

/* Zeros may follow the last member (RFC 1952 says nothing; tapes and gzip do it). */
static void skip_padding(source *s)
{
    while (s->gzip.avail_in && *s->gzip.next_in == 0) {
        s->gzip.next_in++;
        s->gzip.avail_in--;
    }
}

static ft_status gzip_take(source *s, const unsigned char *data, size_t length)
{
    ft_status status = FT_OK;
    s->gzip.next_in = (z_const Bytef *)data;
    s->gzip.avail_in = (uInt)length;
    do {
        if (!s->inside) skip_padding(s);
        if (!s->inside && !s->gzip.avail_in) break;
        status = gzip_step(s);
    } while (status == FT_OK && (s->gzip.avail_in || !s->gzip.avail_out));
    return status;
}

static void gzip_close(source *s)
{
    inflateEnd(&s->gzip);
}

static ft_status zstd_open(source *s)
{
    s->zstd = ZSTD_createDStream();
    return s->zstd ? FT_OK : ft_error_set(s->err, FT_INTERNAL, "zstd does not start");
}

static ft_status zstd_take(source *s, const unsigned char *data, size_t length)
{
    ZSTD_inBuffer in = {.src = data, .size = length};
    ZSTD_outBuffer out = {.pos = 0};
    do {
        out = (ZSTD_outBuffer){.dst = s->out, .size = PIECE};
        size_t hint = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(hint))
            return ft_error_offset(s->err, FT_INPUT, s->consumed - (length - in.pos),
                                   "the zstd stream is damaged: %s", ZSTD_getErrorName(hint));
        s->inside = hint != 0;
        ft_status status = ft_reader_feed(s->reader, s->out, out.pos, s->err);
        if (status != FT_OK) return status;
    } while (in.pos < in.size || (s->inside && out.pos == out.size));
    return FT_OK;
}

static void zstd_close(source *s)
{
    ZSTD_freeDStream(s->zstd);
}

static ft_status nothing_to_open(source *s)
{
    (void)s;
    return FT_OK;
}

static void nothing_to_close(source *s)
{
    (void)s;
}

static const decoder PLAIN = {"plain", nothing_to_open, plain_take, nothing_to_close};
static const decoder GZIP = {"gzip", gzip_open, gzip_take, gzip_close};
static const decoder ZSTD = {"zstd", zstd_open, zstd_take, zstd_close};

/* Fills the buffer as far as the file goes, so that the first call sees the magic. */
static ft_status read_piece(int fd, unsigned char *buffer, size_t *length, ft_error *err)
{
    *length = 0;
    while (*length < PIECE) {
        ssize_t got = read(fd, buffer + *length, PIECE - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ft_error_set(err, FT_IO, "cannot read: %s", strerror(errno));
        if (got == 0) break;
        *length += (size_t)got;
    }
    return FT_OK;
}

static ft_status take_all(source *s, const decoder *d, int fd, unsigned char *buffer, size_t length)
{
    ft_status status = FT_OK;
    while (status == FT_OK && length) {
        s->consumed += length;
        status = d->take(s, buffer, length);
        if (status == FT_OK) status = read_piece(fd, buffer, &length, s->err);
    }
    if (status == FT_OK && s->inside)
        status = ft_error_offset(s->err, FT_INPUT, s->consumed,
                                 "the %s stream is cut short: its end is missing", d->name);
    return status;
}

static ft_status read_fd(int fd, ft_reader *reader, ft_error *err)
{
    unsigned char *buffer = ft_alloc(2 * (size_t)PIECE);
    source s = {.reader = reader, .err = err, .out = buffer + PIECE};
    size_t length;
    ft_status status = read_piece(fd, buffer, &length, err);
    const char *head = (const char *)buffer;
    const decoder *d = &PLAIN;
    if (status == FT_OK && is_gzip(head, length)) d = &GZIP;
    if (status == FT_OK && is_zstd(head, length)) d = &ZSTD;
    if (status == FT_OK) status = d->open(&s);
    if (status == FT_OK) {
        status = take_all(&s, d, fd, buffer, length);
        d->close(&s);
    }
    free(buffer);
    return status;
}

static ft_status open_file(const char *path, int *fd, ft_error *err)
{
    struct stat info;
    *fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return ft_error_set(err, errno == ENOENT ? FT_NOT_FOUND : FT_USAGE, "cannot open %s: %s",
                            path, strerror(errno));
    if (fstat(*fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(*fd);
        return ft_error_set(err, FT_USAGE, "%s is a directory", path);
    }
    return FT_OK;
}

ft_status ft_trace_read_file(const char *path, ft_trace **trace, ft_error *err)
{
    int fd;
    ft_status status = open_file(path, &fd, err);
    if (status != FT_OK) return status;
    ft_reader *reader = ft_reader_new();
    status = read_fd(fd, reader, err);
    if (status == FT_OK) status = ft_reader_finish(reader, trace, err);
    ft_reader_free(reader);
    if (fd != STDIN_FILENO) close(fd);
    return status;
}
