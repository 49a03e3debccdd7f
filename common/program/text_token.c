#include "program/text_token.h"

#include <string.h>

#include "base/contract.h"

#define FAIL(t, ...)                                                                               \
    ft_error_at((t)->err, FT_INPUT, (t)->token.line, (t)->token.column, __VA_ARGS__)

void ft_tokens_init(ft_tokens *tokens, const char *text, size_t length, ft_error *err)
{
    FT_REQUIRE(tokens && (text || !length));
    *tokens = (ft_tokens){.text = text, .length = length, .line = 1, .err = err};
}

void ft_tokens_release(ft_tokens *tokens)
{
    ft_strbuf_release(&tokens->token.text);
}

static char here(const ft_tokens *t)
{
    return t->at < t->length ? t->text[t->at] : '\0';
}

static void skip_blanks(ft_tokens *t)
{
    for (; t->at < t->length; t->at++) {
        char c = t->text[t->at];
        if (c == ';') {
            const char *end = memchr(t->text + t->at, '\n', t->length - t->at);
            t->at = end ? (size_t)(end - t->text) : t->length;
            c = here(t);
        }
        if (c == '\n')
            t->line++, t->line_start = t->at + 1;
        else if (c != ' ' && c != '\t' && c != '\r')
            return;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           (c && strchr("_.$", c));
}

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static ft_status quoted(ft_tokens *t)
{
    for (t->at++; here(t) != '"'; t->at++) {
        char c = here(t);
        if (t->at >= t->length || c == '\n') return FAIL(t, "the quotes are not closed");
        if (c == '\\') {
            int high = t->at + 2 < t->length ? hex_digit(t->text[t->at + 1]) : -1;
            int low = high >= 0 ? hex_digit(t->text[t->at + 2]) : -1;
            if (low < 0) return FAIL(t, "two hexadecimal digits must follow a \\ in quotes");
            c = (char)(high * 16 + low);
            t->at += 2;
        }
        ft_strbuf_add(&t->token.text, &c, 1);
    }
    t->at++;
    return FT_OK;
}

static void plain(ft_tokens *t)
{
    size_t from = t->at;
    while (is_name(here(t))) t->at++;
    ft_strbuf_add(&t->token.text, t->text + from, t->at - from);
}

static ft_status signed_name(ft_tokens *t, ft_token_kind kind)
{
    t->token.kind = kind;
    t->at++;
    if (here(t) == '"') {
        if (quoted(t) != FT_OK) return t->err ? t->err->code : FT_INPUT;
    } else {
        plain(t);
    }
    if (!t->token.text.len || memchr(t->token.text.text, '\0', t->token.text.len))
        return FAIL(t, "a name must follow the %c", kind == FT_TOKEN_SYMBOL ? '@' : '%');
    return FT_OK;
}

static ft_status number(ft_tokens *t)
{
    bool negative = here(t) == '-';
    t->token.kind = FT_TOKEN_NUMBER;
    t->at += negative || here(t) == '+';
    bool hex = here(t) == '0' && t->at + 1 < t->length && t->text[t->at + 1] == 'x';
    t->at += hex ? 2 : 0;
    uint64_t base = hex ? 16 : 10, value = 0;
    size_t from = t->at;
    for (int digit; (digit = hex_digit(here(t))) >= 0 && (uint64_t)digit < base; t->at++) {
        if (value > (UINT64_MAX - (uint64_t)digit) / base)
            return FAIL(t, "the number is too large");
        value = value * base + (uint64_t)digit;
    }
    if (t->at == from) return FAIL(t, "a number must follow the sign");
    if (is_name(here(t))) return FAIL(t, "this is not a number");
    t->token.number = negative ? 0 - value : value;
    return FT_OK;
}

/* Digits alone are a number; a word may also begin with one. */
static bool starts_number(const ft_tokens *t)
{
    char c = here(t), next = t->at + 1 < t->length ? t->text[t->at + 1] : '\0';
    return is_digit(c) || ((c == '-' || c == '+') && is_digit(next));
}

ft_status ft_tokens_next(ft_tokens *tokens)
{
    ft_tokens *t = tokens;
    skip_blanks(t);
    ft_strbuf_clear(&t->token.text);
    t->token.line = t->line;
    t->token.column = t->at - t->line_start + 1;
    char c = here(t);
    if (t->at >= t->length) return t->token.kind = FT_TOKEN_END, FT_OK;
    if (c == '%') return signed_name(t, FT_TOKEN_REGISTER);
    if (c == '@') return signed_name(t, FT_TOKEN_SYMBOL);
    if (c == '"') return t->token.kind = FT_TOKEN_STRING, quoted(t);
    if (starts_number(t)) return number(t);
    if (c == '-' && t->at + 1 < t->length && t->text[t->at + 1] == '>')
        return t->token.kind = FT_TOKEN_ARROW, t->at += 2, FT_OK;
    if (is_name(c)) return t->token.kind = FT_TOKEN_WORD, plain(t), FT_OK;
    if (!c || !strchr("(){},:=!", c))
        return FAIL(t, "a character that no program has: byte 0x%02x", (unsigned char)c);
    t->token.kind = FT_TOKEN_SIGN;
    t->token.sign = c;
    t->at++;
    return FT_OK;
}
