/* Checks JSON text and finds members in it, without building anything. */
#ifndef FT_WIRE_SCAN_H
#define FT_WIRE_SCAN_H

#include <stddef.h>

#include "base/status.h"

#define FT_SCAN_DEPTH 64

/* A value's text as it stands there; at NULL: there is none. */
typedef struct ft_span {
    const char *at;
    size_t length;
} ft_span;

/* A member that is wanted, and members of its value where that is an object. */
typedef struct ft_scan_member {
    const char *name;
    struct ft_scan_member *inner; /* NULL: none */
    size_t inner_count;
    ft_span value;
} ft_scan_member;

/* All of `text` must be one JSON object (RFC 8259) that every reader takes: UTF-8, no U+0000 and no
 * half of a surrogate pair, integers of at most 18 digits, reals far from overflow, at most
 * FT_SCAN_DEPTH values deep. Finds the members, which may be there once, and where one is wanted of
 * an object no name may have escapes. FT_INPUT. */
ft_status ft_scan_object(const char *text, size_t length, ft_scan_member *members, size_t count,
                         ft_error *err) FT_MUST_CHECK;

/* Of a value that was found; false: it is none, or not of that type. */
bool ft_scan_integer(ft_span value, int64_t *number);
bool ft_scan_number(ft_span value, double *number);
bool ft_scan_string(ft_span value);
bool ft_scan_list(ft_span value);
/* The elements of a list that was checked: *rest is the list at first, and what follows *element
 * afterwards. false: there are no more. */
bool ft_scan_next(ft_span *rest, ft_span *element);
/* Copies a string without escapes, cut at size - 1. */
bool ft_scan_word(ft_span value, char *word, size_t size);
bool ft_scan_equals(ft_span value, const char *text); /* a string with this content */
bool ft_scan_same(ft_span a, ft_span b);              /* strings with the same content */

#endif
