#include "trace/json_line.h"
#include "base/contract.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/reader.h"

void ft_json_release(ft_json_line *json)
{
    free(json->scratch);
    *json = (ft_json_line){0};
}

ft_status ft_json_fail(const ft_json_line *json, size_t at, ft_error *err, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return ft_error_at(err, FT_INPUT, json->number, at + 1, "%s", message);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool ft_json_blank(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && is_space(text[at])) at++;
    return at == length;
}

/* Bytes of the UTF-8 sequence at text[0], 0 if it is not one (RFC 3629: shortest form, no
 * surrogates, nothing past U+10FFFF). */
static size_t utf8_length(const char *text, size_t length)
{
    static const struct {
        unsigned char lead_low, lead_high, second_low, second_high, bytes;
    } ROWS[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) return 1; /* nearly always */
    for (size_t row = 0; row < sizeof ROWS / sizeof *ROWS; row++) {
        if (bytes[0] < ROWS[row].lead_low || bytes[0] > ROWS[row].lead_high) continue;
        size_t want = ROWS[row].bytes;
        if (want > length) return 0;
        if (want > 1 && (bytes[1] < ROWS[row].second_low || bytes[1] > ROWS[row].second_high))
            return 0;
        for (size_t i = 2; i < want; i++)
            if ((bytes[i] & 0xc0) != 0x80) return 0;
        return want;
    }
    return 0;
}

bool ft_line_is_comment(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && is_space(text[at])) at++;
    if (at < length && text[at] == '#') return true;
    return length - at >= 2 && text[at] == '/' && text[at + 1] == '/';
}

ft_status ft_line_check(const char *text, size_t length, uint64_t number, ft_error *err)
{
    FT_REQUIRE(text || !length);
    for (size_t at = 0; at < length;) {
        unsigned char byte = (unsigned char)text[at];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return ft_error_at(err, FT_INPUT, number, at + 1,
                               "control character 0x%02x: this is not a text trace", byte);
        size_t bytes = utf8_length(text + at, length - at);
        if (!bytes)
            return ft_error_at(err, FT_INPUT, number, at + 1,
                               "byte 0x%02x is not valid UTF-8: write the trace in UTF-8", byte);
        at += bytes;
    }
    return FT_OK;
}

/* ---- checking: each function moves *at over one construct ------------------------------------ */

static void skip_space(const ft_json_line *json, size_t *at)
{
    while (*at < json->length && is_space(json->text[*at])) ++*at;
}

static bool hex4(const ft_json_line *json, size_t at, uint32_t *unit)
{
    if (json->length - at < 4) return false;
    *unit = 0;
    for (size_t i = 0; i < 4; i++) {
        char c = json->text[at + i];
        uint32_t digit;
        if (is_digit(c))
            digit = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint32_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (uint32_t)(c - 'A') + 10;
        else
            return false;
        *unit = *unit << 4 | digit;
    }
    return true;
}

/* The escape at `at` (its backslash): the code point, and how many bytes it takes; 0: malformed. */
static size_t escape_length(const ft_json_line *json, size_t at, uint32_t *code)
{
    static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
    if (json->length - at < 2) return 0;
    char c = json->text[at + 1];
    if (c != 'u') {
        const char *found = c ? strchr(FROM, c) : NULL;
        if (!found) return 0;
        *code = (uint32_t)TO[found - FROM];
        return 2;
    }
    uint32_t low;
    if (!hex4(json, at + 2, code) || (*code >= 0xdc00 && *code <= 0xdfff)) return 0;
    if (*code < 0xd800 || *code > 0xdbff) return 6;
    if (json->length - at < 12 || json->text[at + 6] != '\\' || json->text[at + 7] != 'u' ||
        !hex4(json, at + 8, &low) || low < 0xdc00 || low > 0xdfff)
        return 0;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

static ft_status check_escape(const ft_json_line *json, size_t *at, ft_error *err)
{
    uint32_t code;
    size_t bytes = escape_length(json, *at, &code);
    if (!bytes) return ft_json_fail(json, *at, err, "malformed escape sequence in a string");
    if (code == 0) return ft_json_fail(json, *at, err, "a string may not contain NUL");
    *at += bytes;
    return FT_OK;
}

/* Bytes up to the first that is not printable ASCII or ends or escapes something. */
static size_t plain_length(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && text[at] >= 0x20 && text[at] < 0x7f && text[at] != '"' &&
           text[at] != '\\')
        at++;
    return at;
}

static ft_status check_string(const ft_json_line *json, size_t *at, ft_error *err)
{
    size_t begin = (*at)++;
    for (;;) {
        *at += plain_length(json->text + *at, json->length - *at);
        if (*at == json->length) break;
        unsigned char byte = (unsigned char)json->text[*at];
        if (byte == '"') return ++*at, FT_OK;
        if (byte == '\\') {
            ft_status status = check_escape(json, at, err);
            if (status != FT_OK) return status;
            continue;
        }
        if (byte < 0x20)
            return ft_json_fail(json, *at, err, "control character 0x%02x in a string", byte);
        size_t bytes = utf8_length(json->text + *at, json->length - *at);
        if (!bytes) return ft_json_fail(json, *at, err, "byte 0x%02x is not valid UTF-8", byte);
        *at += bytes;
    }
    return ft_json_fail(json, begin, err, "this string is not closed before the end of the line");
}

static ft_status check_number(const ft_json_line *json, size_t *at, ft_error *err)
{
    size_t begin = *at;
    if (json->text[*at] == '-') ++*at;
    size_t digits = *at;
    while (*at < json->length && is_digit(json->text[*at])) ++*at;
    if (*at == digits) return ft_json_fail(json, begin, err, "malformed number");
    if (*at - digits > 1 && json->text[digits] == '0')
        return ft_json_fail(json, begin, err, "a number may not begin with 0");
    if (*at < json->length && (json->text[*at] == '.' || (json->text[*at] | 0x20) == 'e'))
        return ft_json_fail(json, begin, err,
                            "numbers are integers here: no fraction and no exponent");
    return FT_OK;
}

static const struct {
    const char *word;
    ft_json_type type;
} WORDS[] = {{"true", FT_JSON_TRUE}, {"false", FT_JSON_FALSE}, {"null", FT_JSON_NULL}};
enum { N_WORDS = sizeof WORDS / sizeof *WORDS };

static size_t word_end(const ft_json_line *json, size_t at)
{
    while (at < json->length && ((json->text[at] | 0x20) >= 'a' && (json->text[at] | 0x20) <= 'z'))
        at++;
    return at;
}

static ft_json_type word_type(const ft_json_line *json, size_t at, size_t end)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (strlen(WORDS[i].word) == end - at && !memcmp(WORDS[i].word, json->text + at, end - at))
            return WORDS[i].type;
    return FT_JSON_NONE;
}

static ft_status check_word(const ft_json_line *json, size_t *at, ft_error *err)
{
    assert(*at < json->length);
    size_t end = word_end(json, *at);
    if (end == *at) {
        unsigned char byte = (unsigned char)json->text[*at];
        if (byte < 0x20 || byte >= 0x7f)
            return ft_json_fail(json, *at, err, "unexpected byte 0x%02x: not JSON", byte);
        return ft_json_fail(json, *at, err, "unexpected '%c': expected a JSON value", byte);
    }
    if (word_type(json, *at, end) == FT_JSON_NONE)
        return ft_json_fail(json, *at, err,
                            "'%.*s' is not a JSON value: expected an integer, a string, true, "
                            "false, an object or an array",
                            (int)(end - *at > 20 ? 20 : end - *at), json->text + *at);
    *at = end;
    return FT_OK;
}

static ft_status check_value(const ft_json_line *json, size_t *at, unsigned depth, ft_error *err);

static ft_status check_key(const ft_json_line *json, size_t *at, ft_error *err)
{
    skip_space(json, at);
    if (*at >= json->length || json->text[*at] != '"')
        return ft_json_fail(json, *at, err, "expected a member name in double quotes");
    ft_status status = check_string(json, at, err);
    if (status != FT_OK) return status;
    skip_space(json, at);
    if (*at >= json->length || json->text[*at] != ':')
        return ft_json_fail(json, *at, err, "expected ':' after the member name");
    ++*at;
    return FT_OK;
}

static ft_status check_container(const ft_json_line *json, size_t *at, unsigned depth,
                                 ft_error *err)
{
    assert(*at < json->length && depth <= FT_READER_MAX_DEPTH);
    bool object = json->text[*at] == '{';
    char close = object ? '}' : ']';
    if (depth == FT_READER_MAX_DEPTH)
        return ft_json_fail(json, *at, err, "JSON is nested more than %d deep",
                            FT_READER_MAX_DEPTH);
    ++*at;
    skip_space(json, at);
    if (*at < json->length && json->text[*at] == close) return ++*at, FT_OK;
    for (;;) {
        ft_status status = object ? check_key(json, at, err) : FT_OK;
        if (status == FT_OK) status = check_value(json, at, depth + 1, err);
        if (status != FT_OK) return status;
        skip_space(json, at);
        if (*at >= json->length)
            return ft_json_fail(json, *at, err, "the line ends where ',' or '%c' is expected",
                                close);
        char c = json->text[*at];
        if (c != ',' && c != close)
            return ft_json_fail(json, *at, err, "expected ',' or '%c'", close);
        ++*at;
        if (c == close) return FT_OK;
    }
}

static ft_status check_value(const ft_json_line *json, size_t *at, unsigned depth, ft_error *err)
{
    skip_space(json, at);
    if (*at >= json->length)
        return ft_json_fail(json, *at, err, "the line ends where a value is expected");
    char c = json->text[*at];
    if (c == '{' || c == '[') return check_container(json, at, depth, err);
    if (c == '"') return check_string(json, at, err);
    if (c == '-' || is_digit(c)) return check_number(json, at, err);
    return check_word(json, at, err);
}

/* ---- pulling: the line is known to be well-formed -------------------------------------------- */

static size_t utf8_put(char *to, uint32_t code)
{
    assert(code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Decoding never lengthens a string and each is pulled once, so the line's length is room enough
 * and the texts handed out stay where they are. */
static void decode(ft_json_line *json, ft_json_value *value)
{
    if (json->scratch_cap < json->length) {
        assert(json->scratch_len == 0);
        json->scratch_cap = json->length;
        json->scratch = ft_realloc(json->scratch, json->scratch_cap, 1);
    }
    assert(value->length <= json->scratch_cap - json->scratch_len);
    char *to = json->scratch + json->scratch_len;
    value->text = to;
    for (size_t at = value->begin + 1; at < value->end - 1;) {
        if (json->text[at] != '\\') {
            *to++ = json->text[at++];
            continue;
        }
        uint32_t code = 0;
        at += escape_length(json, at, &code);
        to += utf8_put(to, code);
    }
    value->length = (size_t)(to - value->text);
    json->scratch_len += value->length;
}

static ft_json_type type_at(const ft_json_line *json, size_t begin, size_t end)
{
    char c = json->text[begin];
    if (c == '{') return FT_JSON_OBJECT;
    if (c == '[') return FT_JSON_ARRAY;
    if (c == '"') return FT_JSON_STRING;
    if (c == '-' || is_digit(c)) return FT_JSON_INTEGER;
    return word_type(json, begin, end);
}

static void pull_checked(ft_json_line *json, size_t begin, size_t end, ft_json_value *value)
{
    *value = (ft_json_value){.type = type_at(json, begin, end), .begin = begin, .end = end};
    if (value->type == FT_JSON_INTEGER) {
        value->text = json->text + value->begin;
        value->length = value->end - value->begin;
    } else if (value->type == FT_JSON_STRING) {
        value->text = json->text + value->begin + 1;
        value->length = value->end - value->begin - 2;
        if (memchr(value->text, '\\', value->length)) decode(json, value);
    }
}

static void pull_value(ft_json_line *json, size_t *at, ft_json_value *value)
{
    skip_space(json, at);
    size_t begin = *at;
    ft_status status = check_value(json, at, 0, NULL);
    assert(status == FT_OK);
    (void)status;
    pull_checked(json, begin, *at, value);
}

ft_status ft_json_read(ft_json_line *json, const char *text, size_t length, uint64_t number,
                       ft_json_value *value, ft_error *err)
{
    json->text = text;
    json->length = length;
    json->number = number;
    json->scratch_len = 0;
    size_t begin = 0;
    skip_space(json, &begin);
    size_t end = begin;
    ft_status status = check_value(json, &end, 0, err);
    if (status != FT_OK) return status;
    size_t at = end;
    skip_space(json, &at);
    if (at < length) return ft_json_fail(json, at, err, "unexpected text after the JSON value");
    pull_checked(json, begin, end, value);
    return FT_OK;
}

ft_json_cursor ft_json_enter(const ft_json_value *container)
{
    assert(container->type == FT_JSON_OBJECT || container->type == FT_JSON_ARRAY);
    return (ft_json_cursor){.at = container->begin + 1};
}

/* Moves over white space and one comma; false at the closing bracket. */
static bool next_item(const ft_json_line *json, ft_json_cursor *cursor)
{
    skip_space(json, &cursor->at);
    if (json->text[cursor->at] == ',') {
        cursor->at++;
        return true;
    }
    return json->text[cursor->at] != '}' && json->text[cursor->at] != ']';
}

bool ft_json_next_member(ft_json_line *json, ft_json_cursor *cursor, ft_json_value *key,
                         ft_json_value *value)
{
    if (!next_item(json, cursor)) return false;
    pull_value(json, &cursor->at, key);
    skip_space(json, &cursor->at);
    cursor->at++; /* ':' */
    pull_value(json, &cursor->at, value);
    return true;
}

bool ft_json_next_element(ft_json_line *json, ft_json_cursor *cursor, ft_json_value *value)
{
    if (!next_item(json, cursor)) return false;
    pull_value(json, &cursor->at, value);
    return true;
}

uint64_t ft_json_column(const ft_json_line *json, const ft_json_value *string, size_t offset)
{
    assert(string->type == FT_JSON_STRING);
    char ignored[4];
    size_t at = string->begin + 1, decoded = 0;
    while (at < string->end - 1 && decoded < offset) {
        uint32_t code = 0;
        if (json->text[at] != '\\') {
            at++;
            decoded++;
            continue;
        }
        at += escape_length(json, at, &code);
        decoded += utf8_put(ignored, code);
    }
    return at + 1;
}
