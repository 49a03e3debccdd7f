/* Files that the user names: traces and documents that a command reads, and everything it writes.
 *
 * Inputs are opened for an upload as they are, or decoded (gzip, zstd, xz) and read here. An output
 * never replaces a file before it is whole: it is written without a name, or beside its place, and
 * then moved there, so that it may be an input of the same command too. "-" is standard input or
 * output.
 *
 * Imports: terminal, common/base, common/trace. */
#ifndef FT_CLI_FILES_H
#define FT_CLI_FILES_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/digest.h"
#include "trace/reader.h"
#include "trace/trace.h"

/* ---- input.c */

typedef struct ft_input {
    FILE *file;           /* seekable, at its start */
    uint64_t bytes;       /* its size */
    const char *encoding; /* "gzip", "zstd" or NULL, by its first bytes; xz is decoded */
} ft_input;

/* Standard input and pipes are copied to a nameless file first. FT_USAGE: cannot be opened. */
ft_status ft_input_open(const char *path, ft_input *input, ft_error *err) FT_MUST_CHECK;
void ft_input_close(ft_input *input);

/* Reads a trace of any format, decoding gzip, zstd and xz. hash (may be NULL) is the SHA-256 of the
 * decoded content, the name under which a server stores it. */
ft_status ft_input_trace(const char *path, ft_trace **trace, char hash[FT_DIGEST_HEX + 1],
                         ft_error *err) FT_MUST_CHECK;

/* Reads a JSON document (duplicate members are refused); new reference. FT_INPUT with the place. */
ft_status ft_input_json(const char *path, json_t **json, ft_error *err) FT_MUST_CHECK;

/* ---- output.c */

typedef ft_status (*ft_trace_writer)(const ft_trace *trace, ft_sink sink, void *context,
                                     ft_error *err);

/* Chooses the writer of a trace: by `format`; if that is NULL, by the ending of `path`; if that
 * means none, by `otherwise`, which may be NULL too, unless the ending is one of a packed file.
 * FT_USAGE: none of the three names a format. */
ft_status ft_output_choose(const char *format, const char *path, const char *otherwise,
                           ft_trace_writer *writer, ft_error *err) FT_MUST_CHECK;

/* Does the path mean standard output: "-", or the file or pipe that standard output is? */
bool ft_output_is_standard(const char *path);

/* Where a plain file of that name is written: the end of its links, which need not exist yet; heap.
 * NULL: errno says why there is no such place. */
char *ft_output_place(const char *path);

/* A file that is being written. A plain file appears at its place when it is closed with FT_OK, and
 * a link stays a link; a device, a pipe and standard output are written in place. Closing takes the
 * status of the writing and returns it, or the status of closing. FT_USAGE: it cannot be written;
 * the message names it. */
typedef struct ft_output ft_output;
ft_status ft_output_open(const char *path, ft_output **output, ft_error *err) FT_MUST_CHECK;
ft_status ft_output_sink(void *output, const void *data, size_t length, ft_error *err);
FILE *ft_output_file(ft_output *output);
ft_status ft_output_close(ft_output *output, ft_status status, ft_error *err) FT_MUST_CHECK;

/* Writes a trace, or a JSON document, to `path`. */
ft_status ft_output_trace(const ft_trace *trace, ft_trace_writer write, const char *path,
                          ft_error *err) FT_MUST_CHECK;
ft_status ft_output_json(const json_t *json, const char *path, ft_error *err) FT_MUST_CHECK;

#endif
