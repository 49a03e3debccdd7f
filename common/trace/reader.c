#include "trace/reader.h"
#include "base/contract.h"

#include "base/decompress.h"
#include "trace/builder_internal.h"
#include "trace/json_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 4096,               /* what formats are detected by */
    MARK = 3,                  /* bytes of a byte order mark */
    LONGEST_COMMENT = 1 << 16, /* a head that is nothing but comments and blank lines */
    PIECE = 1 << 18            /* of raw formats */
};

/* In the order of detection: the first that recognises the head has it. */
static const ft_format_reader *const READERS[] = {
    &ft_binary_reader, &ft_rapidbin_reader, &ft_ndjson_reader, &ft_std_reader, &ft_log_reader};

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
    FT_REQUIRE(flush && block && !reader->format && !reader->head.len);
    reader->flush = flush;
    reader->flush_context = context;
    reader->block = block;
}

ft_builder *ft_reader_builder(const ft_reader *reader)
{
    FT_REQUIRE(reader);
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
    assert(!reader->format->raw);
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
    assert(reader->line.len <= FT_READER_MAX_LINE + 1);
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
    return length >= MARK && memcmp(head, "\xef\xbb\xbf", MARK) == 0 ? MARK : 0;
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

/* Where the first line begins that is neither blank nor a comment; the length: nowhere yet. */
static size_t content_of(const char *head, size_t length)
{
    size_t at = 0;
    while (at < length) {
        const char *newline = memchr(head + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - head) : length;
        if (!ft_json_blank(head + at, end - at) && !ft_line_is_comment(head + at, end - at))
            return at;
        at = newline ? end + 1 : length;
    }
    return length;
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

static const char *const STILL_CODED[FT_CODINGS] = {
#define STILL_CODED_ROW(symbol, name, magic) "the input is still compressed with " name,
    FT_CODING_TABLE(STILL_CODED_ROW)
#undef STILL_CODED_ROW
};

static const char *describe(const char *head, size_t length)
{
    if (is_blank(head, length)) return "the input is empty";
    for (size_t i = 0; i < FT_CODINGS; i++)
        if (ft_coding_is((ft_coding)i, head, length)) return STILL_CODED[i];
    return is_text(head, length) ? "this is not a trace" : "this is binary data, not a trace";
}

static ft_status refuse(ft_reader *reader, const char *head, size_t content, size_t shown)
{
    uint64_t line = 1;
    for (size_t i = 0; shown && i < content; i++) line += head[i] == '\n';
    return ft_error_at(&reader->failure, FT_INPUT, line, 1,
                       "%s: write Foretell NDJSON (its first line is an object that starts with "
                       "{\"format\":\"foretell\"), RAPID STD (thread|op(object)|location) or a "
                       "comma-separated log (thread,OP,object,location,number), or give Foretell "
                       "binary or RapidBin",
                       describe(head + content, shown));
}

/* Opens the format that the head shows and hands it all input so far. */
static ft_status start(ft_reader *reader)
{
    assert(!reader->format && !reader->state && !reader->builder);
    const char *head = ft_strbuf_text(&reader->head);
    size_t length = reader->head.len, skip = byte_order_mark(head, length);
    head += skip;
    length -= skip;
    size_t content = content_of(head, length), left = length - content;
    size_t shown = left < HEAD ? left : (size_t)HEAD;
    reader->format = detect(head + content, shown);
    if (!reader->format) return refuse(reader, head, content, shown);
    reader->builder = ft_builder_new(reader->format->format);
    if (reader->keep_inputs) ft_builder_keep_inputs(reader->builder);
    if (reader->flush)
        ft_builder_flush_to(reader->builder, reader->flush, reader->flush_context, reader->block);
    reader->state = reader->format->open(reader->builder);
    ft_status status = feed_format(reader, head, length);
    ft_strbuf_release(&reader->head);
    return status;
}

/* Bytes that the head lacks before a format is chosen. */
static size_t missing_head(const ft_reader *reader)
{
    const char *head = ft_strbuf_text(&reader->head);
    size_t length = reader->head.len, skip = byte_order_mark(head, length);
    if (length < HEAD + MARK) return HEAD + MARK - length;
    bool comments = content_of(head + skip, length - skip) == length - skip;
    return comments && length < LONGEST_COMMENT ? LONGEST_COMMENT - length : 0;
}

/* ---- the interface -------------------------------------------------------------------------- */

ft_status ft_reader_feed(ft_reader *reader, const void *data, size_t length, ft_error *err)
{
    assert(!reader->spent || reader->failure.code != FT_OK);
    if (reader->failure.code != FT_OK) return report(reader, err);
    if (!length) return FT_OK;
    const char *text = data;
    while (!reader->format && length) {
        size_t missing = missing_head(reader), take = length < missing ? length : missing;
        assert(missing); /* else the format would have been chosen */
        ft_strbuf_add(&reader->head, text, take);
        text += take;
        length -= take;
        if (!missing_head(reader) && start(reader) != FT_OK) return report(reader, err);
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
    /* A caller that takes events away may keep the builder until the reader is freed. */
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
