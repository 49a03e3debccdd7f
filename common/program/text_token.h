/* Tokens of the text form, for its reader alone. */
#ifndef FT_PROGRAM_TEXT_TOKEN_H
#define FT_PROGRAM_TEXT_TOKEN_H

#include "base/status.h"
#include "base/strbuf.h"

typedef enum ft_token_kind {
    FT_TOKEN_END,
    FT_TOKEN_WORD,     /* letters, digits and _.$ */
    FT_TOKEN_REGISTER, /* %name */
    FT_TOKEN_SYMBOL,   /* @name */
    FT_TOKEN_STRING,   /* "..." */
    FT_TOKEN_NUMBER,   /* 5, -5, 0x1f; +5 behind a symbol */
    FT_TOKEN_ARROW,    /* -> */
    FT_TOKEN_SIGN      /* one of ( ) { } , : = ! */
} ft_token_kind;

typedef struct ft_token {
    ft_token_kind kind;
    char sign;
    uint64_t number;       /* two's complement */
    ft_strbuf text;        /* the name or the bytes, decoded */
    uint64_t line, column; /* where it begins, from 1 */
} ft_token;

typedef struct ft_tokens {
    const char *text;
    size_t length, at, line_start;
    uint64_t line;
    ft_token token; /* the one to be looked at */
    ft_error *err;
} ft_tokens;

void ft_tokens_init(ft_tokens *tokens, const char *text, size_t length, ft_error *err);
void ft_tokens_release(ft_tokens *tokens);
/* Reads the next one into `token`. */
ft_status ft_tokens_next(ft_tokens *tokens) FT_MUST_CHECK;

#endif
