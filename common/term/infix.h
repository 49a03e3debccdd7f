/* Terms as a programmer writes them: infix, in C's notation, with the parentheses that C's
 * precedence asks for, and around comparisons of comparisons.
 *
 *   (= (bvadd (bvadd #x5a r1) #x78) #x12c)      90 + a[1].balance + 120 == 300
 *   (not (bvslt r1 #x14))                       a[1].balance >= 20
 *   (ite (= a 0) (bvand m #x10) n)              a == 0 ? m & 0x10 : n
 *
 * This is for people: it cannot be read back. Conversions that change no value are left out, a
 * conversion to fewer bits is a cast. Literals look like what they are compared or computed with,
 * operands of `&`, `|` and `^` are hexadecimal. A term that would fill a screen ends in "...". */
#ifndef FT_TERM_INFIX_H
#define FT_TERM_INFIX_H

#include "term/type.h"

/* How tightly an operator binds, loosest first. */
typedef enum ft_rank {
    FT_RANK_CHOICE, /* ?: */
    FT_RANK_OR,
    FT_RANK_AND,
    FT_RANK_BIT_OR,
    FT_RANK_BIT_XOR,
    FT_RANK_BIT_AND,
    FT_RANK_EQUALITY,
    FT_RANK_ORDER,
    FT_RANK_SHIFT,
    FT_RANK_SUM,
    FT_RANK_PRODUCT,
    FT_RANK_PREFIX,
    FT_RANK_ATOM
} ft_rank;

/* Symbols, as the caller calls them. */
typedef struct ft_infix {
    /* Adds the symbol's text, in parentheses if it binds less tightly than `rank`. */
    void (*name)(void *context, ft_symbol symbol, ft_rank rank, ft_strbuf *out);
    /* How values of the symbol look. */
    ft_look (*look)(void *context, ft_symbol symbol);
    void *context;
} ft_infix;

/* Adds the term, in parentheses if it binds less tightly than `rank`. */
void ft_infix_print(const ft_term_pool *pool, ft_term term, const ft_infix *names, ft_rank rank,
                    ft_strbuf *out);
/* How the term's value looks, as far as its symbols and operators say. */
ft_look ft_infix_look(const ft_term_pool *pool, ft_term term, const ft_infix *names);

/* The operator of a comparison of two values, "=="; NULL: the term is something else. Its operands
 * are the term's two children; `negated`: of the term's negation. */
const char *ft_infix_comparison(const ft_term_pool *pool, ft_term term, bool negated);

#endif
