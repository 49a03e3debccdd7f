#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "term/internal.h"

bool ft_sort_equal(ft_sort a, ft_sort b)
{
    return a.kind == b.kind && a.width == b.width;
}

const char *ft_sort_text(ft_sort sort, char buffer[FT_SORT_TEXT])
{
    if (sort.kind == FT_SORT_BITVEC)
        snprintf(buffer, FT_SORT_TEXT, "(_ BitVec %u)", sort.width);
    else
        snprintf(buffer, FT_SORT_TEXT, "%s", sort.kind == FT_SORT_INT ? "Int" : "Bool");
    return buffer;
}

void ft_sort_print(ft_sort sort, ft_strbuf *out)
{
    char buffer[FT_SORT_TEXT];
    ft_strbuf_puts(out, ft_sort_text(sort, buffer));
}

/* Splits off the next word of text, which ends at blanks and parentheses. */
static size_t next_word(const char **text, const char *end, const char **word)
{
    while (*text < end && strchr(" \t\r\n", **text) && **text) ++*text;
    *word = *text;
    if (*text < end && (**text == '(' || **text == ')')) return (size_t)(++*text - *word);
    while (*text < end && **text && !strchr(" \t\r\n()", **text)) ++*text;
    return (size_t)(*text - *word);
}

static bool word_is(const char *word, size_t length, const char *expected)
{
    return length == strlen(expected) && memcmp(word, expected, length) == 0;
}

bool ft_term_digits(const char *digits, size_t length, unsigned radix, uint64_t *bits)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : radix;
        if (digit >= radix) return false;
        if (__builtin_mul_overflow(value, radix, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *bits = value;
    return length > 0;
}

/* (_ BitVec n) or BitVec n */
static bool parse_bitvec(const char *text, const char *end, uint64_t *width)
{
    const char *word;
    size_t length = next_word(&text, end, &word);
    bool indexed = word_is(word, length, "(");
    if (indexed) {
        length = next_word(&text, end, &word);
        if (!word_is(word, length, "_")) return false;
        length = next_word(&text, end, &word);
    }
    if (!word_is(word, length, "BitVec")) return false;
    length = next_word(&text, end, &word);
    if (!ft_term_digits(word, length, 10, width)) return false;
    length = next_word(&text, end, &word);
    if (indexed) {
        if (!word_is(word, length, ")")) return false;
        length = next_word(&text, end, &word);
    }
    return length == 0 && text == end;
}

ft_status ft_sort_parse(const char *text, size_t length, ft_sort *sort, ft_error *err)
{
    FT_REQUIRE(text && sort);
    const char *rest = text, *end = text + length, *word, *after;
    size_t first = next_word(&rest, end, &word);
    bool single = next_word(&rest, end, &after) == 0 && rest == end;
    uint64_t width;
    if (single && word_is(word, first, "Bool")) {
        *sort = FT_BOOL_SORT;
    } else if (single && word_is(word, first, "Int")) {
        *sort = FT_INT_SORT;
    } else if (parse_bitvec(text, end, &width)) {
        if (width < 1 || width > 64)
            return ft_error_set(err, FT_INPUT,
                                "BitVec width %" PRIu64 " is out of range: use 1 to 64", width);
        *sort = (ft_sort){FT_SORT_BITVEC, (uint8_t)width};
        assert(ft_sort_is_sound(*sort));
    } else {
        return ft_error_set(err, FT_INPUT, "`%.*s' is not a sort: use Bool, Int or (_ BitVec n)",
                            length < 60 ? (int)length : 60, text);
    }
    return FT_OK;
}

bool ft_value_is_sound(ft_value value)
{
    if (!ft_sort_is_sound(value.sort)) return false;
    if (value.sort.kind == FT_SORT_BOOL) return value.bits <= 1;
    return value.sort.kind == FT_SORT_INT || value.bits <= ft_bits_mask(value.sort.width);
}

bool ft_value_equal(ft_value a, ft_value b)
{
    return ft_sort_equal(a.sort, b.sort) && a.bits == b.bits;
}

static void print_binary(ft_value value, ft_strbuf *out)
{
    ft_strbuf_puts(out, "#b");
    for (unsigned bit = value.sort.width; bit-- > 0;)
        ft_strbuf_puts(out, (value.bits >> bit & 1) ? "1" : "0");
}

void ft_value_print(ft_value value, ft_strbuf *out)
{
    FT_REQUIRE(out);
    assert(ft_value_is_sound(value));
    switch ((ft_sort_kind)value.sort.kind) {
    case FT_SORT_BOOL:
        ft_strbuf_puts(out, value.bits ? "true" : "false");
        break;
    case FT_SORT_INT:
        if ((int64_t)value.bits < 0)
            ft_strbuf_printf(out, "(- %" PRIu64 ")", -value.bits);
        else
            ft_strbuf_printf(out, "%" PRIu64, value.bits);
        break;
    case FT_SORT_BITVEC:
        if (value.sort.width % 4 == 0)
            ft_strbuf_printf(out, "#x%0*" PRIx64, value.sort.width / 4, value.bits);
        else
            print_binary(value, out);
        break;
    }
}

/* 5, -5 or (- 5): the magnitude in *bits. */
static bool parse_decimal(const char *text, const char *end, bool *negative, uint64_t *bits)
{
    const char *word;
    size_t length = next_word(&text, end, &word);
    bool open = word_is(word, length, "(");
    *negative = false;
    if (open) {
        length = next_word(&text, end, &word);
        if (!word_is(word, length, "-")) return false;
        *negative = true;
        length = next_word(&text, end, &word);
    } else if (length > 1 && *word == '-') {
        *negative = true;
        word++;
        length--;
    }
    if (!ft_term_digits(word, length, 10, bits)) return false;
    length = next_word(&text, end, &word);
    if (open) {
        if (!word_is(word, length, ")")) return false;
        length = next_word(&text, end, &word);
    }
    return length == 0 && text == end;
}

static bool parse_int(const char *text, const char *end, uint64_t *bits)
{
    bool negative;
    uint64_t magnitude;
    if (!parse_decimal(text, end, &negative, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *bits = negative ? -magnitude : magnitude;
    return true;
}

/* (_ bv5 8) */
static bool parse_indexed_bits(const char *text, const char *end, unsigned width, uint64_t *bits)
{
    const char *word;
    uint64_t named;
    size_t length = next_word(&text, end, &word);
    if (!word_is(word, length, "(")) return false;
    length = next_word(&text, end, &word);
    if (!word_is(word, length, "_")) return false;
    length = next_word(&text, end, &word);
    if (length < 3 || memcmp(word, "bv", 2) != 0) return false;
    if (!ft_term_digits(word + 2, length - 2, 10, bits)) return false;
    length = next_word(&text, end, &word);
    if (!ft_term_digits(word, length, 10, &named) || named != width) return false;
    length = next_word(&text, end, &word);
    if (!word_is(word, length, ")")) return false;
    return next_word(&text, end, &word) == 0 && text == end && *bits <= ft_bits_mask(width);
}

static bool parse_bits(const char *text, const char *end, unsigned width, uint64_t *bits)
{
    size_t length = (size_t)(end - text);
    bool negative;
    if (length > 2 && text[0] == '#' && text[1] == 'x')
        return (length - 2) * 4 == width && ft_term_digits(text + 2, length - 2, 16, bits);
    if (length > 2 && text[0] == '#' && text[1] == 'b')
        return length - 2 == width && ft_term_digits(text + 2, length - 2, 2, bits);
    if (parse_indexed_bits(text, end, width, bits)) return true;
    if (!parse_decimal(text, end, &negative, bits)) return false;
    if (!negative) return *bits <= ft_bits_mask(width);
    if (*bits > (uint64_t)1 << (width - 1)) return false;
    *bits = -*bits & ft_bits_mask(width);
    return true;
}

static bool parse_bool(const char *text, const char *end, uint64_t *bits)
{
    size_t length = (size_t)(end - text);
    *bits = word_is(text, length, "true");
    return *bits || word_is(text, length, "false");
}

ft_status ft_value_parse(const char *text, size_t length, ft_sort sort, ft_value *value,
                         ft_error *err)
{
    FT_REQUIRE(text && value && ft_sort_is_sound(sort));
    const char *end = text + length;
    uint64_t bits = 0;
    bool good = false;
    switch ((ft_sort_kind)sort.kind) {
    case FT_SORT_BOOL:
        good = parse_bool(text, end, &bits);
        break;
    case FT_SORT_INT:
        good = parse_int(text, end, &bits);
        break;
    case FT_SORT_BITVEC:
        good = parse_bits(text, end, sort.width, &bits);
        break;
    }
    if (!good) {
        char name[FT_SORT_TEXT];
        return ft_error_set(err, FT_INPUT, "`%.*s' is not a value of sort %s%s",
                            length < 60 ? (int)length : 60, text, ft_sort_text(sort, name),
                            sort.kind == FT_SORT_INT ? " (64 bits, signed)" : "");
    }
    *value = (ft_value){.sort = sort, .bits = bits};
    assert(ft_value_is_sound(*value));
    return FT_OK;
}
