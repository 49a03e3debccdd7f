/* Checks JSON text and finds members in it, without allocating.
 *
 * The server reads the worker's large records this way: it stores their text as it is and needs
 * only a few members of each. Found values are spans of the text, valid as long as it is. */
#ifndef FT_WIRE_SCAN_H
#define FT_WIRE_SCAN_H

#include <stddef.h>

#include "base/status.h"

#define FT_SCAN_DEPTH 64

/* The text of a value, in place; at NULL: the member is absent. */
typedef struct ft_span {
    const char *at;
    size_t length;
} ft_span;

/* A wanted member, and the wanted members of its value where that is an object. */
typedef struct ft_scan_member {
    const char *name;
    struct ft_scan_member *inner; /* NULL: none */
    size_t inner_count;
    ft_span value;
} ft_scan_member;

/* Checks that all of `text` is one JSON object (RFC 8259) that every reader accepts: UTF-8, no
 * U+0000, no unpaired surrogate, integers of at most 18 digits, reals far from overflow, at most
 * FT_SCAN_DEPTH values deep. Fills the wanted members; each may occur once, and no name may contain
 * an escape in an object with wanted members. FT_INPUT. */
ft_status ft_scan_object(const char *text, size_t length, ft_scan_member *members, size_t count,
                         ft_error *err) FT_MUST_CHECK;

/* Read a value that was found; false: it is absent, or of another type. */
bool ft_scan_integer(ft_span value, int64_t *number);
bool ft_scan_number(ft_span value, double *number);
bool ft_scan_string(ft_span value);
bool ft_scan_list(ft_span value);
/* Iterates over a list that was found: *rest is the list at first, and the text behind *element
 * afterwards. false: there is no further element. */
bool ft_scan_next(ft_span *rest, ft_span *element);
/* Copies a string without escapes, cut at size - 1 bytes. size > 0. */
bool ft_scan_word(ft_span value, char *word, size_t size);
bool ft_scan_equals(ft_span value, const char *text); /* a string with this content */
bool ft_scan_same(ft_span a, ft_span b);              /* strings with the same content */

#endif
