#include "api/json.h"

#include <stdbool.h>
#include <string.h>

/* jansson's own limit on nesting is 2048 and cannot be set. */
static ft_status check_depth(const char *text, size_t length, ft_error *err)
{
    unsigned depth = 0;
    uint64_t line = 1, column = 0;
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        column++;
        if (c == '\n') {
            line++;
            column = 0;
        } else if (in_string) {
            in_string = c != '"';
            if (c == '\\' && i + 1 < length && text[i + 1] != '\n') {
                i++;
                column++;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > FT_JSON_DEPTH)
                return ft_error_at(err, FT_INPUT, line, column, "JSON nested deeper than %d levels",
                                   FT_JSON_DEPTH);
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        }
    }
    return FT_OK;
}

ft_status ft_json_parse(const char *text, size_t length, json_t **json, ft_error *err)
{
    json_error_t place;
    ft_status status = check_depth(text, length, err);
    if (status != FT_OK) return status;
    json_t *parsed = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES, &place);
    if (!parsed)
        return ft_error_at(err, FT_INPUT, place.line > 0 ? (uint64_t)place.line : 1,
                           place.column > 0 ? (uint64_t)place.column : 1, "malformed JSON: %s",
                           place.text);
    *json = parsed;
    return FT_OK;
}
