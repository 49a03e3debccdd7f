/* Files that a command writes. */
#ifndef FT_CLI_OUTPUT_H
#define FT_CLI_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "trace/reader.h"

typedef ft_status (*ft_trace_writer)(const ft_trace *trace, ft_sink sink, void *context,
                                     ft_error *err);

/* The writer of a format, or, where that is NULL, of what the ending of `path` means; where it
 * means none, of the format `otherwise`, which may be NULL as well, unless the ending says that the
 * file is packed. FT_USAGE: the format is not told. */
ft_status ft_output_choose(const char *format, const char *path, const char *otherwise,
                           ft_trace_writer *writer, ft_error *err) FT_MUST_CHECK;

/* Does that path mean standard output ("-", or a file or pipe that it goes to)? */
bool ft_output_is_standard(const char *path);

/* Where a plain file of that name is written: behind links, also where it is not there yet; heap.
 * NULL: errno says why there is no such place. */
char *ft_output_place(const char *path);

/* A file that a command writes, closed with the status of the writing, whose own status closing
 * gives back. A plain file is written without a name, or beside its place, and moved there whole
 * (a link stays), so that it may be an input as well and is never half a file; a device, a pipe or
 * standard output ("-", and whatever path means it) is written where it is. FT_USAGE: it cannot be
 * written; the message names it. */
typedef struct ft_output ft_output;
ft_status ft_output_open(const char *path, ft_output **output, ft_error *err) FT_MUST_CHECK;
ft_status ft_output_sink(void *output, const void *data, size_t length, ft_error *err);
FILE *ft_output_file(ft_output *output);
ft_status ft_output_close(ft_output *output, ft_status status, ft_error *err) FT_MUST_CHECK;

/* Writes a trace there. */
ft_status ft_output_trace(const ft_trace *trace, ft_trace_writer write, const char *path,
                          ft_error *err) FT_MUST_CHECK;
/* The same of a JSON document. */
ft_status ft_output_json(const json_t *json, const char *path, ft_error *err) FT_MUST_CHECK;

#endif
