#include "reader_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "trace/binary.h"

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* Line by line into the one format, whatever the detection would say. */
static ft_status read_as(const ft_format_reader *format, const char *text, size_t size,
                         ft_trace **trace, ft_error *err)
{
    ft_builder *builder = ft_builder_new(format->format);
    void *state = format->open(builder);
    ft_status status = FT_OK;
    uint64_t number = 0;
    for (size_t at = 0; status == FT_OK && at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t end = newline ? (size_t)(newline - text) : size;
        char *line = ft_strndup(text + at, end - at); /* a copy, so that ASan sees its end */
        status = format->line(state, line, end - at, ++number, err);
        free(line);
        at = end + 1;
    }
    if (status == FT_OK) status = format->end(state, err);
    format->close(state);
    if (status != FT_OK) {
        require(err->line > 0, "a refusal without a line");
        ft_builder_free(builder);
        return status;
    }
    return ft_builder_finish(builder, trace, err);
}

static ft_status read_in_pieces(const uint8_t *data, size_t size, size_t piece, ft_trace **trace,
                                ft_error *err)
{
    ft_reader *reader = ft_reader_new();
    ft_status status = FT_OK;
    for (size_t at = 0; status == FT_OK && at < size; at += piece)
        status = ft_reader_feed(reader, data + at, piece < size - at ? piece : size - at, err);
    if (status == FT_OK) status = ft_reader_finish(reader, trace, err);
    ft_reader_free(reader);
    return status;
}

static void print_events(const ft_trace *trace, ft_strbuf *out)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_strbuf_printf(out, "%s ", ft_trace_thread_name(trace, trace->thread[e]));
        ft_trace_print_event(trace, e, out);
        const char *location = ft_trace_location_text(trace, trace->loc[e]);
        ft_strbuf_printf(out, " @%s\n", location ? location : "");
    }
}

static ft_status collect(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static void check_round_trip(const ft_trace *trace)
{
    ft_strbuf text = {0}, before = {0}, after = {0};
    ft_error err = FT_ERROR_INIT;
    ft_trace *again = NULL;
    ft_status status = ft_ndjson_write(trace, collect, &text, &err);
    require(status == FT_OK || status == FT_LIMIT, "a trace that cannot be written");
    if (status == FT_OK) {
        status = ft_trace_read_memory(text.text, text.len, &again, &err);
        if (status != FT_OK)
            fprintf(stderr, "line %llu: %s\n%s", (unsigned long long)err.line, err.message,
                    text.text);
        require(status == FT_OK, "what was written cannot be read");
        print_events(trace, &before);
        print_events(again, &after);
        bool same = strcmp(ft_strbuf_text(&before), ft_strbuf_text(&after)) == 0;
        if (!same) fprintf(stderr, "before:\n%safter:\n%s", before.text, after.text);
        require(same, "what was read again differs");
        ft_trace_free(again);
    }
    ft_strbuf_release(&text);
    ft_strbuf_release(&before);
    ft_strbuf_release(&after);
}

static void compare_pieces(const uint8_t *data, size_t size)
{
    ft_trace *whole = NULL, *pieces = NULL;
    ft_error first = FT_ERROR_INIT, second = FT_ERROR_INIT;
    ft_status a = read_in_pieces(data, size, size ? size : 1, &whole, &first);
    ft_status b = read_in_pieces(data, size, 3, &pieces, &second);
    require(a == b && first.line == second.line && first.column == second.column &&
                strcmp(first.message, second.message) == 0,
            "the pieces make a difference");
    require((a == FT_OK) == (whole != NULL), "a trace and a failure at once");
    ft_trace_free(whole);
    ft_trace_free(pieces);
}

void fuzz_reader(const ft_format_reader *format, const uint8_t *data, size_t size)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    if (read_as(format, (const char *)data, size, &trace, &err) == FT_OK) check_round_trip(trace);
    ft_trace_free(trace);
    compare_pieces(data, size);
}

void fuzz_repair_checksums(uint8_t *data, size_t size)
{
    size_t at = FT_BINARY_HEADER;
    while (size >= at + FT_BINARY_FRAME) {
        size_t length = ft_get_u32(data + at + 4);
        if (length > size - at - FT_BINARY_FRAME) return;
        uLong crc = crc32(crc32(0, NULL, 0), data + at, 12);
        crc = crc32(crc, data + at + FT_BINARY_FRAME, (uInt)length);
        ft_put_u32(data + at + 12, (uint32_t)crc);
        at += FT_BINARY_FRAME + length;
    }
}
