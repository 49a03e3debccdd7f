#include "wire/scan.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

#define INTEGER_DIGITS 18
#define REAL_DIGITS    64 /* before the point: no double overflows with an exponent of two digits */

typedef struct scanner {
    const unsigned char *at, *end;
    const char *problem;
} scanner;

static bool fail(scanner *s, const char *problem)
{
    assert(!s->problem && s->at <= s->end); /* the scan stops at the first problem */
    s->problem = problem;
    return false;
}

static void skip_space(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

static bool take(scanner *s, char c)
{
    if (s->at == s->end || *s->at != (unsigned char)c) return false;
    s->at++;
    return true;
}

/* ---- Strings --------------------------------------------------------------------------------- */

static bool take_hex(scanner *s, unsigned *code)
{
    *code = 0;
    if (s->end - s->at < 4) return false;
    for (int i = 0; i < 4; i++) {
        unsigned c = *s->at++, digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32) - 'a' + 10;
        else
            return false;
        *code = *code << 4 | digit;
    }
    return true;
}

/* Past the backslash of an escape. */
static bool scan_escape(scanner *s)
{
    unsigned code, low;
    if (s->at == s->end) return false;
    unsigned char c = *s->at++;
    if (c != 'u') return c != '\0' && strchr("\"\\/bfnrt", c) != NULL;
    if (!take_hex(s, &code) || code == 0) return false;
    if (code < 0xd800 || code > 0xdfff) return true;
    return code < 0xdc00 && take(s, '\\') && take(s, 'u') && take_hex(s, &low) && low >= 0xdc00 &&
           low <= 0xdfff;
}

/* A character of several bytes (Unicode, table 3-7). */
static bool scan_multibyte(scanner *s)
{
    assert(s->at < s->end && *s->at >= 0x80);
    unsigned first = *s->at++, more, low = 0x80, high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf)
        more = 1;
    else if ((first & 0xf0) == 0xe0)
        more = 2;
    else if (first >= 0xf0 && first <= 0xf4)
        more = 3;
    else
        return false;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
    for (; more > 0; more--, low = 0x80, high = 0xbf) {
        if (s->at == s->end || *s->at < low || *s->at > high) return false;
        s->at++;
    }
    return true;
}

/* The bytes of a string that need no further look: ASCII but controls, quote and backslash. */
static const bool PLAIN[256] = {
    [' '] = true, ['!'] = true, ['#' ... '['] = true, [']' ... 0x7f] = true};

/* Past a string that begins here. */
static bool scan_string(scanner *s)
{
    if (!take(s, '"')) return fail(s, "a string is missing");
    for (;;) {
        const unsigned char *at = s->at, *end = s->end;
        while (at < end && PLAIN[*at]) at++;
        s->at = at;
        if (at == end) return fail(s, "a string has no end");
        unsigned char c = *at;
        if (c >= 0x80) {
            if (!scan_multibyte(s)) return fail(s, "a string is not UTF-8");
            continue;
        }
        s->at++;
        if (c == '"') return true;
        if (c < 0x20) return fail(s, "a string contains a control character");
        if (!scan_escape(s)) return fail(s, "a string contains a bad escape");
    }
}

/* ---- Other values ---------------------------------------------------------------------------- */

static size_t take_digits(scanner *s)
{
    const unsigned char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') s->at++;
    return (size_t)(s->at - from);
}

static bool scan_exponent(scanner *s)
{
    bool negative = take(s, '-');
    if (!negative) (void)take(s, '+');
    size_t digits = take_digits(s);
    return digits > 0 && digits <= (negative ? 3u : 2u);
}

static bool scan_number(scanner *s)
{
    (void)take(s, '-');
    bool zero = s->at < s->end && *s->at == '0', real = false;
    size_t digits = take_digits(s);
    bool good = digits > 0 && (!zero || digits == 1);
    if (good && take(s, '.')) {
        real = true;
        good = take_digits(s) > 0;
    }
    if (good && (take(s, 'e') || take(s, 'E'))) {
        real = true;
        good = scan_exponent(s);
    }
    if (good && digits <= (real ? REAL_DIGITS : INTEGER_DIGITS)) return true;
    return fail(s, "a number is malformed or too large");
}

static bool scan_literal(scanner *s)
{
    static const char *const LITERALS[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(LITERALS[i]);
        if ((size_t)(s->end - s->at) < length || memcmp(s->at, LITERALS[i], length) != 0) continue;
        s->at += length;
        return true;
    }
    return fail(s, "a value is missing");
}

typedef struct wanted {
    ft_scan_member *members;
    size_t count;
} wanted;

static bool scan_value(scanner *s, unsigned depth, wanted w);

/* *member: the wanted one with this name, NULL: not wanted. */
static bool find_member(scanner *s, const wanted *w, ft_span name, ft_scan_member **member)
{
    *member = NULL;
    assert(name.length >= 2 && name.at[0] == '"' && name.at[name.length - 1] == '"');
    if (memchr(name.at, '\\', name.length)) return fail(s, "a member's name contains an escape");
    for (size_t i = 0; i < w->count && !*member; i++) {
        const char *its = w->members[i].name;
        if (*its != name.at[1]) continue; /* the empty name ends in a quote there */
        if (strncmp(its, name.at + 1, name.length - 2) == 0 && its[name.length - 2] == '\0')
            *member = &w->members[i];
    }
    return !*member || !(*member)->value.at || fail(s, "a member occurs twice");
}

static ft_span span_of(const unsigned char *from, const unsigned char *to)
{
    return (ft_span){(const char *)from, (size_t)(to - from)};
}

static bool scan_member(scanner *s, unsigned depth, const wanted *w)
{
    ft_scan_member *member = NULL;
    skip_space(s);
    const unsigned char *from = s->at;
    if (!scan_string(s)) return false;
    if (w->count > 0 && !find_member(s, w, span_of(from, s->at), &member)) return false;
    skip_space(s);
    if (!take(s, ':')) return fail(s, "a colon is missing");
    skip_space(s);
    from = s->at;
    const wanted inner = {member ? member->inner : NULL, member ? member->inner_count : 0};
    if (!scan_value(s, depth, inner)) return false;
    assert(s->at > from && s->at <= s->end);
    if (member) member->value = span_of(from, s->at);
    return true;
}

/* Past the opening bracket of an object or an array. */
static bool scan_rest(scanner *s, unsigned depth, bool object, wanted w)
{
    static const wanted NOTHING = {NULL, 0};
    char close = object ? '}' : ']';
    skip_space(s);
    if (take(s, close)) return true;
    do {
        if (object ? !scan_member(s, depth, &w) : !scan_value(s, depth, NOTHING)) return false;
        skip_space(s);
    } while (take(s, ','));
    return take(s, close) || fail(s, "a comma or a bracket is missing");
}

static bool scan_value(scanner *s, unsigned depth, wanted w)
{
    assert(depth <= FT_SCAN_DEPTH);
    skip_space(s);
    if (s->at == s->end) return fail(s, "the text ends too early");
    if (*s->at == '"') return scan_string(s);
    if (*s->at == '-' || (*s->at >= '0' && *s->at <= '9')) return scan_number(s);
    if (*s->at != '{' && *s->at != '[') return scan_literal(s);
    if (depth == FT_SCAN_DEPTH) return fail(s, "its values are nested too deep");
    bool object = *s->at++ == '{';
    return scan_rest(s, depth + 1, object, w);
}

static void forget(ft_scan_member *members, size_t count)
{
    FT_REQUIRE(members || count == 0);
    for (size_t i = 0; i < count; i++) {
        members[i].value = (ft_span){NULL, 0};
        forget(members[i].inner, members[i].inner_count);
    }
}

ft_status ft_scan_object(const char *text, size_t length, ft_scan_member *members, size_t count,
                         ft_error *err)
{
    const unsigned char *from = (const unsigned char *)text;
    scanner s = {from, from + length, NULL};
    FT_REQUIRE(text || length == 0);
    forget(members, count);
    skip_space(&s);
    bool good = take(&s, '{') || fail(&s, "it is not an object");
    if (good) good = scan_rest(&s, 1, true, (wanted){members, count});
    skip_space(&s);
    if (good && s.at < s.end) good = fail(&s, "text follows the object");
    assert(good == !s.problem && s.at <= s.end);
    return good ? FT_OK : ft_error_set(err, FT_INPUT, "malformed JSON: %s", s.problem);
}

/* ---- Values that were found ------------------------------------------------------------------ */

bool ft_scan_number(ft_span value, double *number)
{
    char text[REAL_DIGITS * 2];
    if (!value.at || value.length >= sizeof text) return false;
    if (*value.at != '-' && (*value.at < '0' || *value.at > '9')) return false;
    memcpy(text, value.at, value.length);
    text[value.length] = '\0';
    *number = strtod(text, NULL);
    return true;
}

bool ft_scan_integer(ft_span value, int64_t *number)
{
    int64_t sum = 0;
    if (!value.at) return false;
    bool negative = *value.at == '-';
    if (value.length - negative > INTEGER_DIGITS) return false; /* a real, or no number */
    for (size_t i = negative; i < value.length; i++) {
        if (value.at[i] < '0' || value.at[i] > '9') return false;
        sum = sum * 10 + (value.at[i] - '0');
    }
    *number = negative ? -sum : sum;
    return true;
}

bool ft_scan_string(ft_span value)
{
    return value.at && *value.at == '"';
}

bool ft_scan_list(ft_span value)
{
    return value.at && *value.at == '[';
}

bool ft_scan_next(ft_span *rest, ft_span *element)
{
    if (!rest->at || rest->length == 0) return false;
    const unsigned char *from = (const unsigned char *)rest->at, *end = from + rest->length;
    scanner s = {from, end, NULL};
    skip_space(&s);
    if (!take(&s, '[') && !take(&s, ',')) return false;
    skip_space(&s);
    from = s.at;
    if (from == end || *from == ']' || !scan_value(&s, 1, (wanted){NULL, 0})) return false;
    *element = span_of(from, s.at);
    *rest = span_of(s.at, end);
    return true;
}

bool ft_scan_word(ft_span value, char *word, size_t size)
{
    FT_REQUIRE(size > 0);
    if (!ft_scan_string(value) || memchr(value.at, '\\', value.length)) return false;
    size_t length = value.length - 2 < size - 1 ? value.length - 2 : size - 1;
    memcpy(word, value.at + 1, length);
    word[length] = '\0';
    return true;
}

static bool is_plain(ft_span string)
{
    return !memchr(string.at, '\\', string.length);
}

bool ft_scan_same(ft_span a, ft_span b)
{
    if (!ft_scan_string(a) || !ft_scan_string(b)) return false;
    if (a.length == b.length && memcmp(a.at, b.at, a.length) == 0) return true;
    if (is_plain(a) && is_plain(b)) return false;
    json_t *decoded = json_loadb(b.at, b.length, JSON_DECODE_ANY, NULL);
    bool same = decoded && ft_scan_equals(a, json_string_value(decoded));
    json_decref(decoded);
    return same;
}

bool ft_scan_equals(ft_span value, const char *text)
{
    size_t length = strlen(text);
    if (!ft_scan_string(value)) return false;
    if (is_plain(value))
        return value.length - 2 == length && memcmp(value.at + 1, text, length) == 0;
    json_t *decoded = json_loadb(value.at, value.length, JSON_DECODE_ANY, NULL);
    bool equal = decoded && json_string_length(decoded) == length &&
                 memcmp(json_string_value(decoded), text, length) == 0;
    json_decref(decoded);
    return equal;
}
