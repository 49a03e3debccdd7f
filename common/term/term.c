#include "term/term.h"

#include <stdlib.h>
#include <string.h>

#include "term/internal.h"

/* Shapes of FT_OP_TABLE:
 *   LEAF          made by ft_term_literal and ft_term_symbol, never applied
 *   BOOLS         Bool ... -> Bool
 *   ITE           Bool T T -> T
 *   SAME_TO_BOOL  T T ... -> Bool
 *   INTS          Int ... -> Int
 *   INTS_TO_BOOL  Int Int ... -> Bool
 *   BITS          (_ BitVec n) ... -> (_ BitVec n)
 *   BITS_TO_BOOL  (_ BitVec n) ... -> Bool
 *   CONCAT        BitVecs of any widths -> BitVec of their sum, at most 64
 *   EXTRACT       (_ BitVec n), indices n > high >= low -> (_ BitVec high - low + 1)
 *   EXTEND        (_ BitVec n), index k -> (_ BitVec n + k), at most 64 */
typedef enum shape {
    LEAF,
    BOOLS,
    ITE,
    SAME_TO_BOOL,
    INTS,
    INTS_TO_BOOL,
    BITS,
    BITS_TO_BOOL,
    CONCAT,
    EXTRACT,
    EXTEND
} shape;

static const struct {
    const char *name;
    shape shape;
} OPS[FT_OP_COUNT] = {
#define FT_ROW(symbol, name, shape) {name, shape},
    FT_OP_TABLE(FT_ROW)
#undef FT_ROW
};

/* How an operator groups more than two arguments (SMT-LIB 2.6, §3.9: attributes of functions). The
 * pool keeps MANY as one node, the other groupings as nested binary terms. */
typedef enum grouping { FIXED, MANY, CHAIN, LEFT, RIGHT } grouping;

static const struct {
    uint8_t least, most; /* most matters for FIXED only */
    grouping grouping;
} ARITY[FT_OP_COUNT] = {
    [FT_OP_NOT] = {1, 1, FIXED},         [FT_OP_AND] = {1, 0, MANY},
    [FT_OP_OR] = {1, 0, MANY},           [FT_OP_XOR] = {2, 0, LEFT},
    [FT_OP_IMPLIES] = {2, 0, RIGHT},     [FT_OP_ITE] = {3, 3, FIXED},
    [FT_OP_EQ] = {2, 0, CHAIN},          [FT_OP_DISTINCT] = {2, 0, MANY},
    [FT_OP_ADD] = {1, 0, MANY},          [FT_OP_SUB] = {1, 0, MANY},
    [FT_OP_MUL] = {1, 0, MANY},          [FT_OP_DIV] = {2, 0, LEFT},
    [FT_OP_MOD] = {2, 2, FIXED},         [FT_OP_ABS] = {1, 1, FIXED},
    [FT_OP_LT] = {2, 0, CHAIN},          [FT_OP_LE] = {2, 0, CHAIN},
    [FT_OP_GT] = {2, 0, CHAIN},          [FT_OP_GE] = {2, 0, CHAIN},
    [FT_OP_BVNOT] = {1, 1, FIXED},       [FT_OP_BVNEG] = {1, 1, FIXED},
    [FT_OP_BVADD] = {2, 0, LEFT},        [FT_OP_BVSUB] = {2, 2, FIXED},
    [FT_OP_BVMUL] = {2, 0, LEFT},        [FT_OP_BVUDIV] = {2, 2, FIXED},
    [FT_OP_BVUREM] = {2, 2, FIXED},      [FT_OP_BVSDIV] = {2, 2, FIXED},
    [FT_OP_BVSREM] = {2, 2, FIXED},      [FT_OP_BVAND] = {2, 0, LEFT},
    [FT_OP_BVOR] = {2, 0, LEFT},         [FT_OP_BVXOR] = {2, 0, LEFT},
    [FT_OP_BVSHL] = {2, 2, FIXED},       [FT_OP_BVLSHR] = {2, 2, FIXED},
    [FT_OP_BVASHR] = {2, 2, FIXED},      [FT_OP_BVULT] = {2, 2, FIXED},
    [FT_OP_BVULE] = {2, 2, FIXED},       [FT_OP_BVUGT] = {2, 2, FIXED},
    [FT_OP_BVUGE] = {2, 2, FIXED},       [FT_OP_BVSLT] = {2, 2, FIXED},
    [FT_OP_BVSLE] = {2, 2, FIXED},       [FT_OP_BVSGT] = {2, 2, FIXED},
    [FT_OP_BVSGE] = {2, 2, FIXED},       [FT_OP_CONCAT] = {2, 0, LEFT},
    [FT_OP_EXTRACT] = {1, 1, FIXED},     [FT_OP_ZERO_EXTEND] = {1, 1, FIXED},
    [FT_OP_SIGN_EXTEND] = {1, 1, FIXED},
};

const char *ft_op_name(ft_op op)
{
    FT_REQUIRE(op < FT_OP_COUNT);
    return OPS[op].name;
}

/* One application under check. */
typedef struct use {
    const ft_term_pool *pool;
    ft_op op;
    const ft_term *children;
    uint32_t n, index[2];
    uint32_t culprit;
    ft_error *err;
} use;

static ft_sort arg_sort(const use *u, uint32_t i)
{
    return ft_term_sort(u->pool, u->children[i]);
}

static ft_status check_arity(const use *u)
{
    const char *name = OPS[u->op].name;
    unsigned least = ARITY[u->op].least;
    bool fixed = ARITY[u->op].grouping == FIXED;
    if (u->n >= least && (!fixed || u->n <= ARITY[u->op].most)) return FT_OK;
    return ft_error_set(u->err, FT_INPUT, "`%s' takes %s%u argument%s, not %u", name,
                        fixed ? "" : "at least ", least, least == 1 ? "" : "s", u->n);
}

static ft_status check_kind(use *u, uint32_t from, ft_sort_kind kind, const char *what)
{
    for (uint32_t i = from; i < u->n; i++) {
        char text[FT_SORT_TEXT];
        if (arg_sort(u, i).kind == kind) continue;
        u->culprit = i + 1;
        return ft_error_set(u->err, FT_INPUT, "`%s' takes %s arguments; argument %u is %s",
                            OPS[u->op].name, what, i + 1, ft_sort_text(arg_sort(u, i), text));
    }
    return FT_OK;
}

/* All arguments from `from` on have one sort. */
static ft_status check_same(use *u, uint32_t from)
{
    for (uint32_t i = from + 1; i < u->n; i++) {
        char first[FT_SORT_TEXT], other[FT_SORT_TEXT];
        if (ft_sort_equal(arg_sort(u, from), arg_sort(u, i))) continue;
        u->culprit = i + 1;
        return ft_error_set(
            u->err, FT_INPUT,
            "`%s' takes arguments of one sort; argument %u is %s, argument %u is %s",
            OPS[u->op].name, from + 1, ft_sort_text(arg_sort(u, from), first), i + 1,
            ft_sort_text(arg_sort(u, i), other));
    }
    return FT_OK;
}

static ft_status check_ite(use *u, ft_sort *sort)
{
    if (arg_sort(u, 0).kind != FT_SORT_BOOL) {
        char text[FT_SORT_TEXT];
        u->culprit = 1;
        return ft_error_set(u->err, FT_INPUT, "`ite' takes a Bool condition; argument 1 is %s",
                            ft_sort_text(arg_sort(u, 0), text));
    }
    *sort = arg_sort(u, 1);
    return check_same(u, 1);
}

static ft_status check_bits(use *u, ft_sort *sort)
{
    ft_status status = check_kind(u, 0, FT_SORT_BITVEC, "BitVec");
    *sort = arg_sort(u, 0);
    return status ? status : check_same(u, 0);
}

static ft_status too_wide(const use *u, uint64_t width)
{
    return ft_error_set(u->err, FT_INPUT, "`%s' would make a BitVec of %llu bits; the limit is 64",
                        OPS[u->op].name, (unsigned long long)width);
}

static ft_status check_concat(use *u, ft_sort *sort)
{
    uint64_t width = 0;
    ft_status status = check_kind(u, 0, FT_SORT_BITVEC, "BitVec");
    if (status) return status;
    for (uint32_t i = 0; i < u->n; i++) width += arg_sort(u, i).width;
    if (width > 64) return too_wide(u, width);
    *sort = (ft_sort){FT_SORT_BITVEC, (uint8_t)width};
    return FT_OK;
}

static ft_status check_extract(use *u, ft_sort *sort)
{
    ft_status status = check_kind(u, 0, FT_SORT_BITVEC, "BitVec");
    if (status) return status;
    unsigned width = arg_sort(u, 0).width;
    if (u->index[0] >= width || u->index[1] > u->index[0])
        return ft_error_set(u->err, FT_INPUT,
                            "(_ extract %u %u) does not fit an argument of %u bits: use "
                            "(_ extract high low) with %u > high >= low",
                            u->index[0], u->index[1], width, width);
    *sort = (ft_sort){FT_SORT_BITVEC, (uint8_t)(u->index[0] - u->index[1] + 1)};
    return FT_OK;
}

static ft_status check_extend(use *u, ft_sort *sort)
{
    ft_status status = check_kind(u, 0, FT_SORT_BITVEC, "BitVec");
    if (status) return status;
    uint64_t width = (uint64_t)arg_sort(u, 0).width + u->index[0];
    if (width > 64) return too_wide(u, width);
    *sort = (ft_sort){FT_SORT_BITVEC, (uint8_t)width};
    return FT_OK;
}

static ft_status check_shape(use *u, ft_sort *sort)
{
    switch (OPS[u->op].shape) {
    case LEAF:
        break;
    case BOOLS:
        *sort = FT_BOOL_SORT;
        return check_kind(u, 0, FT_SORT_BOOL, "Bool");
    case ITE:
        return check_ite(u, sort);
    case SAME_TO_BOOL:
        *sort = FT_BOOL_SORT;
        return check_same(u, 0);
    case INTS:
        *sort = FT_INT_SORT;
        return check_kind(u, 0, FT_SORT_INT, "Int");
    case INTS_TO_BOOL:
        *sort = FT_BOOL_SORT;
        return check_kind(u, 0, FT_SORT_INT, "Int");
    case BITS:
        return check_bits(u, sort);
    case BITS_TO_BOOL: {
        ft_status status = check_bits(u, sort);
        *sort = FT_BOOL_SORT;
        return status;
    }
    case CONCAT:
        return check_concat(u, sort);
    case EXTRACT:
        return check_extract(u, sort);
    case EXTEND:
        return check_extend(u, sort);
    }
    return ft_error_set(u->err, FT_INPUT, "a literal or a variable takes no arguments");
}

static ft_status check(const ft_term_pool *pool, ft_op op, const ft_term *children,
                       uint32_t n_children, const uint32_t *index, ft_sort *sort, uint32_t *culprit,
                       ft_error *err)
{
    use u = {.pool = pool, .op = op, .children = children, .n = n_children, .err = err};
    ft_sort found = FT_BOOL_SORT;
    if (index) memcpy(u.index, index, sizeof u.index);
    ft_status status = check_arity(&u);
    if (!status) status = check_shape(&u, &found);
    *culprit = u.culprit;
    if (!status) *sort = found;
    return status;
}

bool ft_term_is_well_sorted(const ft_term_pool *pool, const ft_term_node *node)
{
    ft_sort sort;
    uint32_t culprit;
    if (OPS[node->op].shape == LEAF) return node->n_children == 0;
    ft_status status =
        check(pool, node->op, node->children, node->n_children, node->index, &sort, &culprit, NULL);
    return status == FT_OK && ft_sort_equal(sort, node->sort);
}

/* Makes the term of a checked application in the pool's form. */
static ft_term make(ft_term_pool *pool, ft_op op, ft_term *kids, uint32_t n, const uint32_t *index)
{
    ft_term_node node = {.op = op, .n_children = n, .children = kids};
    uint32_t culprit;
    if (index) memcpy(node.index, index, sizeof node.index);
    ft_status status = check(pool, op, kids, n, index, &node.sort, &culprit, NULL);
    assert(status == FT_OK);
    (void)status;
    ft_term term = ft_term_simplify(pool, &node, kids);
    assert(ft_sort_equal(ft_term_sort(pool, term), node.sort));
    return term;
}

static ft_term make_pair(ft_term_pool *pool, ft_op op, ft_term a, ft_term b)
{
    ft_term kids[2] = {a, b};
    return make(pool, op, kids, 2, NULL);
}

static ft_term make_chain(ft_term_pool *pool, ft_op op, ft_term *kids, uint32_t n)
{
    for (uint32_t i = 0; i + 1 < n; i++) kids[i] = make_pair(pool, op, kids[i], kids[i + 1]);
    return make(pool, FT_OP_AND, kids, n - 1, NULL);
}

static ft_term make_grouped(ft_term_pool *pool, ft_op op, ft_term *kids, uint32_t n,
                            const uint32_t *index)
{
    ft_term result;
    grouping how = n > 2 ? ARITY[op].grouping : FIXED;
    switch (how) {
    case FIXED:
    case MANY:
        break;
    case CHAIN:
        return make_chain(pool, op, kids, n);
    case LEFT:
        result = kids[0];
        for (uint32_t i = 1; i < n; i++) result = make_pair(pool, op, result, kids[i]);
        return result;
    case RIGHT:
        result = kids[n - 1];
        for (uint32_t i = n - 1; i-- > 0;) result = make_pair(pool, op, kids[i], result);
        return result;
    }
    return make(pool, op, kids, n, index);
}

ft_status ft_term_apply_at(ft_term_pool *pool, ft_op op, const ft_term *children,
                           uint32_t n_children, const uint32_t *index, ft_term *term,
                           uint32_t *culprit, ft_error *err)
{
    enum { FEW = 8 };
    FT_REQUIRE(pool && op < FT_OP_COUNT && OPS[op].shape != LEAF && term && culprit);
    ft_term few[FEW], *kids = few;
    ft_sort sort;
    ft_status status = check(pool, op, children, n_children, index, &sort, culprit, err);
    if (status) return status;
    /* The children may lie in the pool itself, which moves when it grows. */
    if (n_children > FEW) kids = ft_alloc(n_children * sizeof *kids);
    memcpy(kids, children, n_children * sizeof *kids);
    uint32_t own[2] = {index ? index[0] : 0, index && OPS[op].shape == EXTRACT ? index[1] : 0};
    bool indexed = OPS[op].shape == EXTRACT || OPS[op].shape == EXTEND;
    *term = make_grouped(pool, op, kids, n_children, indexed ? own : NULL);
    if (kids != few) free(kids);
    assert(*term != FT_NO_TERM && *term < pool->nodes.len);
    return FT_OK;
}

ft_status ft_term_apply(ft_term_pool *pool, ft_op op, const ft_term *children, uint32_t n_children,
                        const uint32_t *index, ft_term *term, ft_error *err)
{
    uint32_t culprit;
    return ft_term_apply_at(pool, op, children, n_children, index, term, &culprit, err);
}
