/* Traces that a command writes. */
#ifndef FT_CLI_OUTPUT_H
#define FT_CLI_OUTPUT_H

#include "trace/reader.h"

typedef ft_status (*ft_trace_writer)(const ft_trace *trace, ft_sink sink, void *context,
                                     ft_error *err);

/* The writer of a format, or, where that is NULL, of what the ending of `path` means; NULL: none.
 */
ft_trace_writer ft_output_writer(const char *format, const char *path);

/* Writes to path ("-": standard output) beside its place and moves it there whole, so that it may
 * be an input as well and is never half a file. FT_USAGE: it cannot be written. */
ft_status ft_output_trace(const ft_trace *trace, ft_trace_writer write, const char *path,
                          ft_error *err) FT_MUST_CHECK;

/* The same for what writes by itself: the sink's context is the output, which is closed with the
 * status of the writing, and gives its own back. */
typedef struct ft_output ft_output;
ft_status ft_output_open(const char *path, ft_output **output, ft_error *err) FT_MUST_CHECK;
ft_status ft_output_sink(void *output, const void *data, size_t length, ft_error *err);
ft_status ft_output_close(ft_output *output, ft_status status, ft_error *err) FT_MUST_CHECK;

#endif
