/* One line of JSON, read strictly, with the place of everything in it.
 *
 * ft_json_read checks the whole line first; after that members and elements are pulled one by one
 * and cannot fail. Stricter than RFC 8259: numbers are integers, nesting is limited to
 * FT_READER_MAX_DEPTH, strings hold no NUL, nothing follows the value. No allocation per token. */
#ifndef FT_TRACE_JSON_LINE_H
#define FT_TRACE_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum ft_json_type {
    FT_JSON_NONE, /* no value: an absent member */
    FT_JSON_NULL,
    FT_JSON_FALSE,
    FT_JSON_TRUE,
    FT_JSON_INTEGER,
    FT_JSON_STRING,
    FT_JSON_ARRAY,
    FT_JSON_OBJECT
} ft_json_type;

typedef struct ft_json_value {
    ft_json_type type;
    size_t begin, end; /* its bytes in the line: [begin, end), quotes and brackets included */
    const char *text;  /* STRING: decoded; INTEGER: as written; else NULL. Not NUL-terminated;
                          valid until the next ft_json_read */
    size_t length;
} ft_json_value;

/* Embedded: zero-initialise, then ft_json_release. Reused for line after line. */
typedef struct ft_json_line {
    const char *text; /* the caller's; must outlive the reading of the line */
    size_t length;
    uint64_t number; /* of the line, 1-based */
    char *scratch;   /* decoded strings that contain escapes */
    size_t scratch_len, scratch_cap;
} ft_json_line;

void ft_json_release(ft_json_line *json);

/* True if the line holds nothing but white space. */
bool ft_json_blank(const char *text, size_t length);

/* Checks the line and returns its single value. FT_INPUT with line and column otherwise. */
ft_status ft_json_read(ft_json_line *json, const char *text, size_t length, uint64_t number,
                       ft_json_value *value, ft_error *err) FT_MUST_CHECK;

/* Pulls the contents of an OBJECT or ARRAY value of the line read last, in the order written; each
 * container at most once per line. False at its end. */
typedef struct ft_json_cursor {
    size_t at;
} ft_json_cursor;
ft_json_cursor ft_json_enter(const ft_json_value *container);
bool ft_json_next_member(ft_json_line *json, ft_json_cursor *cursor, ft_json_value *key,
                         ft_json_value *value);
bool ft_json_next_element(ft_json_line *json, ft_json_cursor *cursor, ft_json_value *value);

/* 1-based byte column in the line of byte `offset` of a string's decoded text. */
uint64_t ft_json_column(const ft_json_line *json, const ft_json_value *string, size_t offset);

/* Fails with FT_INPUT at a byte of the line. */
ft_status ft_json_fail(const ft_json_line *json, size_t at, ft_error *err, const char *format, ...)
    FT_PRINTF(4, 5);

/* For the other line formats. A comment: its first bytes that are not blank are # or //. */
bool ft_line_is_comment(const char *text, size_t length);
/* FT_INPUT with the column of the first byte that is neither valid
 * UTF-8 nor printable (names end up in JSON and on terminals); tabs pass. */
ft_status ft_line_check(const char *text, size_t length, uint64_t number,
                        ft_error *err) FT_MUST_CHECK;

#endif
