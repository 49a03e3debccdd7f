/* The code of source lines: the addresses in a program's file that its debug information (libdw)
 * has for a line. */
#ifndef FT_RECORD_LINE_RANGES_H
#define FT_RECORD_LINE_RANGES_H

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct ft_line_range {
    uint64_t from, to; /* from <= address < to, from the file's load address */
} ft_line_range;

typedef FT_VEC(ft_line_range) ft_line_ranges;

typedef struct ft_source_line {
    const char *file;    /* its name without folders; borrowed */
    uint32_t line, last; /* of a statement that may take several: its last line */
    ft_line_ranges code; /* empty: the debug information has none */
} ft_source_line;

/* Fills `code` of each of the n lines; the caller releases them. FT_INPUT: the file has no debug
 * information. */
ft_status ft_line_ranges_find(const char *program, ft_source_line *lines, size_t n,
                              ft_error *err) FT_MUST_CHECK;

#endif
