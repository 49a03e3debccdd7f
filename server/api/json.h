/* Strict JSON for request bodies. */
#ifndef FT_API_JSON_H
#define FT_API_JSON_H

#include <jansson.h>

#include "base/status.h"

#define FT_JSON_DEPTH 32

/* Parses an object or array. FT_INPUT with line and column: malformed, duplicate keys, NaN, numbers
 * out of range, nesting deeper than FT_JSON_DEPTH. New reference. */
ft_status ft_json_parse(const char *text, size_t length, json_t **json,
                        ft_error *err) FT_MUST_CHECK;

#endif
