/* Types: how the source of a program sees the bits of a variable.
 *
 * A sort (term.h) is what solvers compute with: 32 bits are 32 bits. A type adds what a person
 * needs in order to read them: a sign, an address, the fraction of a float. It changes no verdict.
 */
#ifndef FT_TERM_TYPE_H
#define FT_TERM_TYPE_H

#include "term/term.h"

/* How a value is written. */
typedef enum ft_look {
    FT_LOOK_NONE,     /* not known: signed, and hexadecimal where only an address is as large */
    FT_LOOK_SIGNED,   /* -20 */
    FT_LOOK_UNSIGNED, /* 4294967276 */
    FT_LOOK_POINTER,  /* 0x55d0a2c0, NULL */
    FT_LOOK_FLAGS,    /* 0x10 */
    FT_LOOK_TRUTH,    /* true */
    FT_LOOK_LETTER,   /* 'a', and -20 where it cannot be printed */
    FT_LOOK_FLOAT     /* 2.5 */
} ft_look;

/* Types have their place in the table as their code in binary traces: new ones go to its end.
 *  symbol, name in NDJSON, bits, look */
#define FT_TYPE_TABLE(X)                                                                           \
    X(NONE, "", 0, NONE) /* not known */                                                           \
    X(INT8, "int8", 8, SIGNED)                                                                     \
    X(INT16, "int16", 16, SIGNED)                                                                  \
    X(INT32, "int32", 32, SIGNED)                                                                  \
    X(INT64, "int64", 64, SIGNED)                                                                  \
    X(UINT8, "uint8", 8, UNSIGNED)                                                                 \
    X(UINT16, "uint16", 16, UNSIGNED)                                                              \
    X(UINT32, "uint32", 32, UNSIGNED)                                                              \
    X(UINT64, "uint64", 64, UNSIGNED)                                                              \
    X(BOOL, "bool", 8, TRUTH)                                                                      \
    X(CHAR, "char", 8, LETTER)                                                                     \
    X(POINTER, "pointer", 64, POINTER)                                                             \
    X(FLAGS8, "flags8", 8, FLAGS)                                                                  \
    X(FLAGS16, "flags16", 16, FLAGS)                                                               \
    X(FLAGS32, "flags32", 32, FLAGS)                                                               \
    X(FLAGS64, "flags64", 64, FLAGS)                                                               \
    X(FLOAT32, "float32", 32, FLOAT)                                                               \
    X(FLOAT64, "float64", 64, FLOAT)
typedef enum ft_type {
#define FT_ROW(symbol, name, bits, look) FT_TYPE_##symbol,
    FT_TYPE_TABLE(FT_ROW)
#undef FT_ROW
        FT_TYPES
} ft_type;

const char *ft_type_name(ft_type type);
unsigned ft_type_bits(ft_type type); /* 0 for FT_TYPE_NONE */
ft_look ft_type_look(ft_type type);
/* False: there is no type of that name; *type is as it was. */
bool ft_type_parse(const char *name, size_t length, ft_type *type);
/* The type with that look and width; FT_TYPE_NONE: there is none. */
ft_type ft_type_of(ft_look look, unsigned bits);

/* Adds the value as its type says. An Int holds the type's bits, sign-extended or not. */
void ft_type_print(ft_type type, ft_value value, ft_strbuf *out);
/* The same where the width is that of the sort; an Int has 64 bits. */
void ft_look_print(ft_look look, ft_value value, ft_strbuf *out);

#endif
