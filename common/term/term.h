/* Terms: hash-consed, sort-checked expressions in SMT-LIB 2 concrete syntax.
 *
 * Sorts are Bool, Int (mathematical; literals and evaluation are limited to 64 bits signed) and
 * (_ BitVec n), 1 <= n <= 64. A pool owns its terms. A term is an index into its pool; equal terms
 * have equal indices, and children have smaller indices than their parents.
 *
 * Evaluation is strict, except that `ite` evaluates only the branch that it takes. Division and
 * remainder by zero are undefined for Int and for BitVec alike (an event whose term is undefined is
 * infeasible). An Int result beyond 64 bits is reported as FT_EVAL_OVERFLOW.
 * `and`, `or` and `=>` evaluate all their arguments.
 *
 * Imports: common/base. */
#ifndef FT_TERM_TERM_H
#define FT_TERM_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

typedef enum ft_sort_kind { FT_SORT_BOOL, FT_SORT_INT, FT_SORT_BITVEC } ft_sort_kind;

typedef struct ft_sort {
    uint8_t kind;  /* ft_sort_kind */
    uint8_t width; /* bits of a BitVec, else 0 */
} ft_sort;

#define FT_BOOL_SORT ((ft_sort){FT_SORT_BOOL, 0})
#define FT_INT_SORT  ((ft_sort){FT_SORT_INT, 0})

bool ft_sort_equal(ft_sort a, ft_sort b);
/* "Bool", "Int", "(_ BitVec 32)"; also accepts "BitVec 32" on reading. */
ft_status ft_sort_parse(const char *text, size_t length, ft_sort *sort,
                        ft_error *err) FT_MUST_CHECK;
void ft_sort_print(ft_sort sort, ft_strbuf *out);

/* A concrete value. Bool: bits 0 or 1; Int: bits is an int64_t; BitVec: zero-extended. */
typedef struct ft_value {
    ft_sort sort;
    uint64_t bits;
} ft_value;

bool ft_value_equal(ft_value a, ft_value b);
void ft_value_print(ft_value value, ft_strbuf *out); /* true, 5, (- 5), #x0000002a or #b101 */
/* A literal of the given sort; Int also accepts -5, BitVec also accepts a decimal that fits. */
ft_status ft_value_parse(const char *text, size_t length, ft_sort sort, ft_value *value,
                         ft_error *err) FT_MUST_CHECK;

/* Operators. Columns: symbol, SMT-LIB name, shape (the sorts of operands and result: term.c).
 * Indexed operators (extract, zero_extend, sign_extend) keep their indices in the node. */
#define FT_OP_TABLE(X)                                                                             \
    X(LITERAL, "", LEAF)                                                                           \
    X(SYMBOL, "", LEAF)                                                                            \
    X(NOT, "not", BOOLS)                                                                           \
    X(AND, "and", BOOLS)                                                                           \
    X(OR, "or", BOOLS)                                                                             \
    X(XOR, "xor", BOOLS)                                                                           \
    X(IMPLIES, "=>", BOOLS)                                                                        \
    X(ITE, "ite", ITE)                                                                             \
    X(EQ, "=", SAME_TO_BOOL)                                                                       \
    X(DISTINCT, "distinct", SAME_TO_BOOL)                                                          \
    X(ADD, "+", INTS)                                                                              \
    X(SUB, "-", INTS)                                                                              \
    X(MUL, "*", INTS)                                                                              \
    X(DIV, "div", INTS)                                                                            \
    X(MOD, "mod", INTS)                                                                            \
    X(ABS, "abs", INTS)                                                                            \
    X(LT, "<", INTS_TO_BOOL)                                                                       \
    X(LE, "<=", INTS_TO_BOOL)                                                                      \
    X(GT, ">", INTS_TO_BOOL)                                                                       \
    X(GE, ">=", INTS_TO_BOOL)                                                                      \
    X(BVNOT, "bvnot", BITS)                                                                        \
    X(BVNEG, "bvneg", BITS)                                                                        \
    X(BVADD, "bvadd", BITS)                                                                        \
    X(BVSUB, "bvsub", BITS)                                                                        \
    X(BVMUL, "bvmul", BITS)                                                                        \
    X(BVUDIV, "bvudiv", BITS)                                                                      \
    X(BVUREM, "bvurem", BITS)                                                                      \
    X(BVSDIV, "bvsdiv", BITS)                                                                      \
    X(BVSREM, "bvsrem", BITS)                                                                      \
    X(BVAND, "bvand", BITS)                                                                        \
    X(BVOR, "bvor", BITS)                                                                          \
    X(BVXOR, "bvxor", BITS)                                                                        \
    X(BVSHL, "bvshl", BITS)                                                                        \
    X(BVLSHR, "bvlshr", BITS)                                                                      \
    X(BVASHR, "bvashr", BITS)                                                                      \
    X(BVULT, "bvult", BITS_TO_BOOL)                                                                \
    X(BVULE, "bvule", BITS_TO_BOOL)                                                                \
    X(BVUGT, "bvugt", BITS_TO_BOOL)                                                                \
    X(BVUGE, "bvuge", BITS_TO_BOOL)                                                                \
    X(BVSLT, "bvslt", BITS_TO_BOOL)                                                                \
    X(BVSLE, "bvsle", BITS_TO_BOOL)                                                                \
    X(BVSGT, "bvsgt", BITS_TO_BOOL)                                                                \
    X(BVSGE, "bvsge", BITS_TO_BOOL)                                                                \
    X(CONCAT, "concat", CONCAT)                                                                    \
    X(EXTRACT, "extract", EXTRACT)                                                                 \
    X(ZERO_EXTEND, "zero_extend", EXTEND)                                                          \
    X(SIGN_EXTEND, "sign_extend", EXTEND)

typedef enum ft_op {
#define FT_OP_ENUM(symbol, name, shape) FT_OP_##symbol,
    FT_OP_TABLE(FT_OP_ENUM)
#undef FT_OP_ENUM
        FT_OP_COUNT
} ft_op;

const char *ft_op_name(ft_op op);

typedef uint32_t ft_term; /* index in a pool; FT_NO_TERM: absent (a guard that is true) */
#define FT_NO_TERM 0u

/* A variable of terms: an index chosen by the user of the pool. The trace model numbers shared
 * variables FT_SYM_SHARED(i) and thread-local ones FT_SYM_LOCAL(i). */
typedef uint32_t ft_symbol;
#define FT_SYM_LOCAL_BIT     0x80000000u
#define FT_SYM_SHARED(index) ((ft_symbol)(index))
#define FT_SYM_LOCAL(index)  ((ft_symbol)(index) | FT_SYM_LOCAL_BIT)
#define FT_SYM_IS_LOCAL(s)   (((s)&FT_SYM_LOCAL_BIT) != 0)
#define FT_SYM_INDEX(s)      ((s) & ~FT_SYM_LOCAL_BIT)

typedef struct ft_term_pool ft_term_pool;

ft_term_pool *ft_term_pool_new(void);
void ft_term_pool_free(ft_term_pool *pool);            /* accepts NULL */
uint32_t ft_term_pool_count(const ft_term_pool *pool); /* terms are 1 .. count */
/* The invariant: no two terms are equal and each is found in the hash table, operands come before
 * the term and have the sorts that its operator takes, and kept depths and sizes are right. Linear:
 * FT_CHECK runs it when the hash table grows and when the pool is freed. */
bool ft_term_pool_is_sound(const ft_term_pool *pool);

/* Read-only view of a node; `children` stays valid until the next term is made. */
typedef struct ft_term_node {
    ft_op op;
    ft_sort sort;
    uint32_t n_children;
    const ft_term *children;
    uint64_t bits;     /* LITERAL: the value's bits */
    ft_symbol symbol;  /* SYMBOL */
    uint32_t index[2]; /* EXTRACT: high, low; ZERO_EXTEND, SIGN_EXTEND: bits added, 0 */
} ft_term_node;
ft_term_node ft_term_get(const ft_term_pool *pool, ft_term term);
ft_sort ft_term_sort(const ft_term_pool *pool, ft_term term);

ft_term ft_term_literal(ft_term_pool *pool, ft_value value);
ft_term ft_term_symbol(ft_term_pool *pool, ft_symbol symbol, ft_sort sort);
/* Sort-checks and simplifies (constant folding, neutral elements; never drops a possible division
 * by zero or overflow). index: NULL or two indices for the indexed operators.
 *
 * Forms that the pool holds: `and`, `or`, `+`, `*` and `distinct` with two or more children, `-`
 * with one (minus) or more, every other operator with its one, two or (ite) three. Longer chains of
 * = and < become conjunctions of pairs; `=>` groups to the right, the other operators to the left.
 * Partial results of Int operators, from left to right, must each fit into 64 bits. */
ft_status ft_term_apply(ft_term_pool *pool, ft_op op, const ft_term *children, uint32_t n_children,
                        const uint32_t *index, ft_term *term, ft_error *err) FT_MUST_CHECK;

/* Names for the reader and the printer. resolve: finds the symbol and sort of a name, or returns
 * false (the reader then reports the name with its column). */
typedef struct ft_scope {
    bool (*resolve)(void *context, const char *name, size_t length, ft_symbol *symbol,
                    ft_sort *sort);
    const char *(*name)(void *context, ft_symbol symbol);
    void *context;
} ft_scope;

/* Reads one term from text[0..length). |Quoted symbols| and (let ...) are accepted; between the
 * bars a backslash makes a bar or a backslash literal. Errors carry the 1-based column in `text`,
 * and line
 * 1. FT_LIMIT: with its lets expanded, the term is nested more than FT_TERM_MAX_DEPTH deep or has
 * more than 2^20 nodes. The printer binds shared subterms of large terms with let; reading its text
 * gives the same term. */
#define FT_TERM_MAX_DEPTH 256
ft_status ft_term_parse(ft_term_pool *pool, const char *text, size_t length, const ft_scope *scope,
                        ft_term *term, ft_error *err) FT_MUST_CHECK;
void ft_term_print(const ft_term_pool *pool, ft_term term, const ft_scope *scope, ft_strbuf *out);

typedef enum ft_eval_status {
    FT_EVAL_OK,
    FT_EVAL_UNDEFINED, /* division by zero */
    FT_EVAL_UNKNOWN,   /* depends on a symbol whose value is unknown */
    FT_EVAL_OVERFLOW   /* an Int left the 64-bit range */
} ft_eval_status;

/* lookup returns false for a symbol whose value is unknown. A result is UNKNOWN if it depends on
 * such a symbol; (and false unknown) is false, (or true unknown) is true, and `=` of an unknown
 * symbol with itself is true. */
typedef bool (*ft_lookup)(void *context, ft_symbol symbol, ft_value *value);
ft_eval_status ft_term_eval(const ft_term_pool *pool, ft_term term, ft_lookup lookup, void *context,
                            ft_value *value);

/* A symbol, and what it holds somewhere. */
typedef struct ft_symbol_value {
    ft_symbol symbol;
    bool known;
    ft_value value; /* meaningful if known */
} ft_symbol_value;

/* Calls visit once for each distinct symbol in the term, in index order of the symbol terms. */
void ft_term_symbols(const ft_term_pool *pool, ft_term term,
                     void (*visit)(void *context, ft_symbol symbol), void *context);

#endif
