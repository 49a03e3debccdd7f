/* Files that the user names: opened for an upload as they are, or decoded and read here. */
#ifndef FT_CLI_INPUT_H
#define FT_CLI_INPUT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/digest.h"
#include "trace/trace.h"

typedef struct ft_input {
    FILE *file;           /* seekable, at its start */
    uint64_t bytes;       /* its size */
    const char *encoding; /* "gzip", "zstd" or NULL, by its first bytes; an xz file is decoded */
} ft_input;

/* path "-" is standard input, which is copied to a nameless file. FT_USAGE: cannot be opened. */
ft_status ft_input_open(const char *path, ft_input *input, ft_error *err) FT_MUST_CHECK;
void ft_input_close(ft_input *input);

/* Reads a trace of any format, decoding gzip, zstd and xz. hash (may be NULL) is the SHA-256 of the
 * decoded content, the name under which a server stores it. */
ft_status ft_input_trace(const char *path, ft_trace **trace, char hash[FT_DIGEST_HEX + 1],
                         ft_error *err) FT_MUST_CHECK;

/* Reads a JSON document (duplicate members refused); new reference. FT_INPUT with the place. */
ft_status ft_input_json(const char *path, json_t **json, ft_error *err) FT_MUST_CHECK;

#endif
