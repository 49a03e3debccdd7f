/* Reading traces of any format, in chunks, with a bounded buffer.
 *
 * The format is detected from the first bytes. Malformed input is FT_INPUT with line and column
 * (binary: offset). Limits: a line of at most FT_READER_MAX_LINE bytes, JSON nesting of at most
 * FT_READER_MAX_DEPTH. */
#ifndef FT_TRACE_READER_H
#define FT_TRACE_READER_H

#include "trace/trace.h"

#define FT_READER_MAX_LINE  (1u << 20)
#define FT_READER_MAX_DEPTH 32

typedef struct ft_reader ft_reader;

ft_reader *ft_reader_new(void);
void ft_reader_free(ft_reader *reader); /* accepts NULL */
void ft_reader_keep_inputs(
    ft_reader *reader); /* before the first chunk: trace.h, ft_trace.inputs */
/* Feeds a chunk; after a failure every further call fails the same way. */
ft_status ft_reader_feed(ft_reader *reader, const void *data, size_t length,
                         ft_error *err) FT_MUST_CHECK;
/* Ends the input. The reader is spent afterwards, whatever the status. */
ft_status ft_reader_finish(ft_reader *reader, ft_trace **trace, ft_error *err) FT_MUST_CHECK;

/* For those who take the events away while they are read (verdict/intake.h). Before the first
 * chunk: the builder is told so (ft_builder_flush_to), which ft_reader_builder gives from then on;
 * NULL: it is not made yet. */
void ft_reader_flush_to(ft_reader *reader, void (*flush)(void *context), void *context,
                        uint32_t block);
ft_builder *ft_reader_builder(const ft_reader *reader);
/* Ends the input as ft_reader_finish does, and gives the builder away as it is. */
ft_status ft_reader_end(ft_reader *reader, ft_builder **builder, ft_error *err) FT_MUST_CHECK;

/* Convenience for whole buffers and for files ("-" is standard input), which may be compressed
 * (base/decompress.h). */
ft_status ft_trace_read_memory(const void *data, size_t length, ft_trace **trace,
                               ft_error *err) FT_MUST_CHECK;
ft_status ft_trace_read_file(const char *path, ft_trace **trace, ft_error *err) FT_MUST_CHECK;

/* One file per format implements this (trace/reader_*.c). Line-based formats get whole lines
 * without their line end, numbered from 1; raw formats get the chunks as they come. */
typedef struct ft_format_reader {
    ft_format format;
    bool raw;
    /* head: up to 4096 bytes from the first line that is neither blank nor a comment */
    bool (*detect)(const char *head, size_t length);
    void *(*open)(ft_builder *builder);
    ft_status (*line)(void *state, const char *text, size_t length, uint64_t number, ft_error *err);
    ft_status (*chunk)(void *state, const void *data, size_t length, ft_error *err);
    ft_status (*end)(void *state, ft_error *err); /* before ft_builder_finish */
    void (*close)(void *state);
} ft_format_reader;

extern const ft_format_reader ft_ndjson_reader, ft_std_reader, ft_rapidbin_reader, ft_log_reader,
    ft_binary_reader;

/* Writers: the sink is called with consecutive pieces. */
typedef ft_status (*ft_sink)(void *context, const void *data, size_t length, ft_error *err);
ft_status ft_binary_write(const ft_trace *trace, ft_sink sink, void *context,
                          ft_error *err) FT_MUST_CHECK;
ft_status ft_ndjson_write(const ft_trace *trace, ft_sink sink, void *context,
                          ft_error *err) FT_MUST_CHECK;

#endif
