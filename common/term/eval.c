#include <stdlib.h>

#include "base/map.h"
#include "term/internal.h"

/* The value of a term, or why it has none. `partial`, for UNKNOWN only: the term may be undefined,
 * depending on the unknown symbols, so that no connective may hide it. */
typedef struct result {
    ft_eval_status status;
    bool partial;
    uint64_t bits;
} result;

typedef struct run {
    const ft_term_pool *pool;
    ft_lookup lookup;
    void *context;
    const ft_map *places; /* term -> index in done; NULL: evaluate by recursion */
    const result *done;
} run;

static result known(uint64_t bits)
{
    return (result){.status = FT_EVAL_OK, .bits = bits};
}

static result none(ft_eval_status status, bool partial)
{
    return (result){.status = status, .partial = partial};
}

/* ---- arithmetic ---- */

static int64_t as_signed(uint64_t bits, unsigned width)
{
    assert(width >= 1 && width <= 64);
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

#define INT_OP(name, builtin)                                                                      \
    static ft_eval_status name(uint64_t a, uint64_t b, unsigned width, uint64_t *out)              \
    {                                                                                              \
        int64_t value;                                                                             \
        (void)width;                                                                               \
        if (builtin((int64_t)a, (int64_t)b, &value)) return FT_EVAL_OVERFLOW;                      \
        *out = (uint64_t)value;                                                                    \
        return FT_EVAL_OK;                                                                         \
    }
INT_OP(int_add, __builtin_add_overflow)
INT_OP(int_sub, __builtin_sub_overflow)
INT_OP(int_mul, __builtin_mul_overflow)
#undef INT_OP

/* SMT-LIB Ints: a = b * (div a b) + (mod a b) with 0 <= (mod a b) < |b|. */
static ft_eval_status int_div(uint64_t a, uint64_t b, unsigned width, uint64_t *out)
{
    int64_t dividend = (int64_t)a, divisor = (int64_t)b;
    (void)width;
    if (divisor == 0) return FT_EVAL_UNDEFINED;
    if (dividend == INT64_MIN && divisor == -1) return FT_EVAL_OVERFLOW;
    int64_t quotient = dividend / divisor;
    if (dividend % divisor < 0) quotient += divisor > 0 ? -1 : 1;
    *out = (uint64_t)quotient;
    return FT_EVAL_OK;
}

static ft_eval_status int_mod(uint64_t a, uint64_t b, unsigned width, uint64_t *out)
{
    int64_t dividend = (int64_t)a, divisor = (int64_t)b;
    (void)width;
    if (divisor == 0) return FT_EVAL_UNDEFINED;
    int64_t rest = divisor == -1 ? 0 : dividend % divisor;
    *out = (uint64_t)rest;
    if (rest < 0) *out = divisor > 0 ? *out + b : *out - b;
    return FT_EVAL_OK;
}

static ft_eval_status bv_udiv(uint64_t a, uint64_t b, unsigned width, uint64_t *out)
{
    (void)width;
    if (b == 0) return FT_EVAL_UNDEFINED;
    *out = a / b;
    return FT_EVAL_OK;
}

static ft_eval_status bv_urem(uint64_t a, uint64_t b, unsigned width, uint64_t *out)
{
    (void)width;
    if (b == 0) return FT_EVAL_UNDEFINED;
    *out = a % b;
    return FT_EVAL_OK;
}

static ft_eval_status bv_sdiv(uint64_t a, uint64_t b, unsigned width, uint64_t *out)
{
    int64_t dividend = as_signed(a, width), divisor = as_signed(b, width);
    if (divisor == 0) return FT_EVAL_UNDEFINED;
    *out = divisor == -1 ? -(uint64_t)dividend : (uint64_t)(dividend / divisor);
    return FT_EVAL_OK;
}

static ft_eval_status bv_srem(uint64_t a, uint64_t b, unsigned width, uint64_t *out)
{
    int64_t dividend = as_signed(a, width), divisor = as_signed(b, width);
    if (divisor == 0) return FT_EVAL_UNDEFINED;
    *out = divisor == -1 ? 0 : (uint64_t)(dividend % divisor);
    return FT_EVAL_OK;
}

/* Operators that are defined everywhere: an expression over a, b and the arguments' width. */
#define TOTAL_OP(name, expression)                                                                 \
    static ft_eval_status name(uint64_t a, uint64_t b, unsigned width, uint64_t *out)              \
    {                                                                                              \
        (void)width;                                                                               \
        *out = (uint64_t)(expression);                                                             \
        return FT_EVAL_OK;                                                                         \
    }
TOTAL_OP(bool_xor, a != b)
TOTAL_OP(int_lt, (int64_t)a < (int64_t)b)
TOTAL_OP(int_le, (int64_t)a <= (int64_t)b)
TOTAL_OP(int_gt, (int64_t)a > (int64_t)b)
TOTAL_OP(int_ge, (int64_t)a >= (int64_t)b)
TOTAL_OP(bv_add, a + b)
TOTAL_OP(bv_sub, a - b)
TOTAL_OP(bv_mul, a *b)
TOTAL_OP(bv_and, a &b)
TOTAL_OP(bv_or, a | b)
TOTAL_OP(bv_xor, a ^ b)
TOTAL_OP(bv_shl, b < width ? a << b : 0)
TOTAL_OP(bv_lshr, b < width ? a >> b : 0)
TOTAL_OP(bv_ashr, as_signed(a, width) >> (b < width ? b : width - 1))
TOTAL_OP(bv_ult, a < b)
TOTAL_OP(bv_ule, a <= b)
TOTAL_OP(bv_ugt, a > b)
TOTAL_OP(bv_uge, a >= b)
TOTAL_OP(bv_slt, as_signed(a, width) < as_signed(b, width))
TOTAL_OP(bv_sle, as_signed(a, width) <= as_signed(b, width))
TOTAL_OP(bv_sgt, as_signed(a, width) > as_signed(b, width))
TOTAL_OP(bv_sge, as_signed(a, width) >= as_signed(b, width))
#undef TOTAL_OP

typedef ft_eval_status (*binary_op)(uint64_t a, uint64_t b, unsigned width, uint64_t *out);

/* Applied from left to right; `width` is the first argument's. */
static const binary_op BINARY[FT_OP_COUNT] = {
    [FT_OP_XOR] = bool_xor,   [FT_OP_ADD] = int_add,    [FT_OP_SUB] = int_sub,
    [FT_OP_MUL] = int_mul,    [FT_OP_DIV] = int_div,    [FT_OP_MOD] = int_mod,
    [FT_OP_LT] = int_lt,      [FT_OP_LE] = int_le,      [FT_OP_GT] = int_gt,
    [FT_OP_GE] = int_ge,      [FT_OP_BVADD] = bv_add,   [FT_OP_BVSUB] = bv_sub,
    [FT_OP_BVMUL] = bv_mul,   [FT_OP_BVUDIV] = bv_udiv, [FT_OP_BVUREM] = bv_urem,
    [FT_OP_BVSDIV] = bv_sdiv, [FT_OP_BVSREM] = bv_srem, [FT_OP_BVAND] = bv_and,
    [FT_OP_BVOR] = bv_or,     [FT_OP_BVXOR] = bv_xor,   [FT_OP_BVSHL] = bv_shl,
    [FT_OP_BVLSHR] = bv_lshr, [FT_OP_BVASHR] = bv_ashr, [FT_OP_BVULT] = bv_ult,
    [FT_OP_BVULE] = bv_ule,   [FT_OP_BVUGT] = bv_ugt,   [FT_OP_BVUGE] = bv_uge,
    [FT_OP_BVSLT] = bv_slt,   [FT_OP_BVSLE] = bv_sle,   [FT_OP_BVSGT] = bv_sgt,
    [FT_OP_BVSGE] = bv_sge,
};

static bool is_division(ft_op op)
{
    return op == FT_OP_DIV || op == FT_OP_MOD || (op >= FT_OP_BVUDIV && op <= FT_OP_BVSREM);
}

/* ---- terms ---- */

static result eval_term(const run *r, ft_term term);

static result child(const run *r, const ft_term_node *node, uint32_t i)
{
    uint64_t place;
    if (!r->places) return eval_term(r, node->children[i]);
    bool found = ft_map_get(r->places, node->children[i], &place);
    assert(found);
    (void)found;
    return r->done[place];
}

/* The status of a strict operator by those of two arguments: UNDEFINED before OVERFLOW before
 * UNKNOWN. */
static result worse(result a, result b)
{
    if (a.status == FT_EVAL_UNDEFINED || b.status == FT_EVAL_UNDEFINED)
        return none(FT_EVAL_UNDEFINED, false);
    if (a.status == FT_EVAL_OVERFLOW || b.status == FT_EVAL_OVERFLOW)
        return none(FT_EVAL_OVERFLOW, false);
    if (a.status == FT_EVAL_UNKNOWN || b.status == FT_EVAL_UNKNOWN)
        return none(FT_EVAL_UNKNOWN, a.partial || b.partial);
    return known(0);
}

static result apply_binary(ft_op op, unsigned width, result a, result b)
{
    result merged = worse(a, b);
    if (is_division(op) && b.status == FT_EVAL_OK && b.bits == 0)
        return none(FT_EVAL_UNDEFINED, false);
    if (is_division(op) && b.status == FT_EVAL_UNKNOWN)
        merged.partial = merged.status == FT_EVAL_UNKNOWN;
    if (merged.status != FT_EVAL_OK) return merged;
    assert(BINARY[op]);
    merged.status = BINARY[op](a.bits, b.bits, width, &merged.bits);
    return merged;
}

static result eval_fold(const run *r, const ft_term_node *node)
{
    unsigned width = ft_term_sort(r->pool, node->children[0]).width;
    result value = child(r, node, 0);
    if (node->n_children == 1 && node->op == FT_OP_SUB)
        return apply_binary(FT_OP_SUB, width, known(0), value);
    for (uint32_t i = 1; i < node->n_children; i++)
        value = apply_binary(node->op, width, value, child(r, node, i));
    return value;
}

static uint64_t sign_extended(uint64_t bits, unsigned width)
{
    return (uint64_t)as_signed(bits, width);
}

static result eval_unary(const run *r, const ft_term_node *node)
{
    unsigned width = ft_term_sort(r->pool, node->children[0]).width;
    result value = child(r, node, 0);
    if (value.status != FT_EVAL_OK) return value;
    if (node->op == FT_OP_NOT) return known(!value.bits);
    if (node->op == FT_OP_BVNOT) return known(~value.bits);
    if (node->op == FT_OP_BVNEG) return known(-value.bits);
    if (node->op == FT_OP_EXTRACT) return known(value.bits >> node->index[1]);
    if (node->op == FT_OP_SIGN_EXTEND) return known(sign_extended(value.bits, width));
    if (node->op == FT_OP_ZERO_EXTEND) return value;
    assert(node->op == FT_OP_ABS);
    if ((int64_t)value.bits >= 0) return value;
    return value.bits == (uint64_t)INT64_MIN ? none(FT_EVAL_OVERFLOW, false) : known(-value.bits);
}

/* and, or, =>: every argument must be defined, then one argument may decide. */
static result eval_connective(const run *r, const ft_term_node *node)
{
    bool decided = false, deciding = node->op != FT_OP_AND;
    result merged = known(0);
    for (uint32_t i = 0; i < node->n_children; i++) {
        result value = child(r, node, i);
        bool premise = node->op == FT_OP_IMPLIES && i + 1 < node->n_children;
        if (value.status == FT_EVAL_OK && (bool)value.bits == (deciding != premise)) decided = true;
        merged = worse(merged, value);
    }
    bool shaky = merged.status == FT_EVAL_UNKNOWN && merged.partial;
    if (merged.status == FT_EVAL_UNDEFINED || merged.status == FT_EVAL_OVERFLOW || shaky)
        return merged;
    if (decided) return known(deciding);
    return merged.status == FT_EVAL_UNKNOWN ? merged : known(!deciding);
}

static result eval_ite(const run *r, const ft_term_node *node)
{
    result condition = child(r, node, 0);
    if (condition.status == FT_EVAL_OK) return child(r, node, condition.bits ? 1 : 2);
    if (condition.status != FT_EVAL_UNKNOWN) return condition;
    result yes = child(r, node, 1), no = child(r, node, 2);
    bool alike = yes.status == no.status && yes.bits == no.bits;
    if (alike && yes.status == FT_EVAL_UNDEFINED) return yes;
    if (alike && yes.status != FT_EVAL_UNKNOWN && !condition.partial) return yes;
    bool defined = yes.status == FT_EVAL_OK || (yes.status == FT_EVAL_UNKNOWN && !yes.partial);
    defined = defined && (no.status == FT_EVAL_OK || (no.status == FT_EVAL_UNKNOWN && !no.partial));
    return none(FT_EVAL_UNKNOWN, condition.partial || !defined);
}

/* Whether children i and k are equal; UNKNOWN if their values leave that open. */
static result equal_pair(const run *r, const ft_term_node *node, uint32_t i, uint32_t k)
{
    result a = child(r, node, i), b = child(r, node, k), merged = worse(a, b);
    bool itself = node->children[i] == node->children[k];
    if (merged.status == FT_EVAL_UNKNOWN && !merged.partial && itself) return known(true);
    return merged.status == FT_EVAL_OK ? known(a.bits == b.bits) : merged;
}

/* distinct with many arguments: a pair of equal ones decides, once all are defined. */
static result eval_distinct(const run *r, const ft_term_node *node)
{
    result merged = known(0);
    bool equal = false;
    for (uint32_t i = 0; i < node->n_children; i++) merged = worse(merged, child(r, node, i));
    if (merged.status != FT_EVAL_OK && (merged.status != FT_EVAL_UNKNOWN || merged.partial))
        return merged;
    for (uint32_t i = 0; i < node->n_children && !equal; i++)
        for (uint32_t k = 0; k < i && !equal; k++) {
            result pair = equal_pair(r, node, i, k);
            equal = pair.status == FT_EVAL_OK && pair.bits;
        }
    if (equal) return known(false);
    return merged.status == FT_EVAL_UNKNOWN ? merged : known(true);
}

static result eval_concat(const run *r, const ft_term_node *node)
{
    result a = child(r, node, 0), b = child(r, node, 1), merged = worse(a, b);
    if (merged.status != FT_EVAL_OK) return merged;
    return known(a.bits << ft_term_sort(r->pool, node->children[1]).width | b.bits);
}

static result eval_symbol(const run *r, const ft_term_node *node)
{
    ft_value value;
    if (!r->lookup(r->context, node->symbol, &value)) return none(FT_EVAL_UNKNOWN, false);
    assert(ft_sort_equal(value.sort, node->sort) && ft_value_is_sound(value));
    return known(value.bits);
}

static result dispatch(const run *r, const ft_term_node *node)
{
    switch (node->op) {
    case FT_OP_LITERAL:
        return known(node->bits);
    case FT_OP_SYMBOL:
        return eval_symbol(r, node);
    case FT_OP_AND:
    case FT_OP_OR:
    case FT_OP_IMPLIES:
        return eval_connective(r, node);
    case FT_OP_ITE:
        return eval_ite(r, node);
    case FT_OP_EQ:
        return equal_pair(r, node, 0, 1);
    case FT_OP_DISTINCT:
        return eval_distinct(r, node);
    case FT_OP_CONCAT:
        return eval_concat(r, node);
    default:
        return BINARY[node->op] ? eval_fold(r, node) : eval_unary(r, node);
    }
}

static result eval_node(const run *r, const ft_term_node *node)
{
    result value = dispatch(r, node);
    if (value.status != FT_EVAL_OK) value.bits = 0;
    if (node->sort.kind == FT_SORT_BITVEC) value.bits &= ft_bits_mask(node->sort.width);
    assert(!value.partial || value.status == FT_EVAL_UNKNOWN);
    FT_CHECK(ft_value_is_sound(
        (ft_value){node->sort, value.bits})); /* at every node: too slow for release */
    return value;
}

static result eval_term(const run *r, ft_term term)
{
    ft_term_node node = ft_term_get(r->pool, term);
    return eval_node(r, &node);
}

/* Bottom-up over the distinct subterms, for terms that are too deep or too shared for recursion. It
 * evaluates both branches of an `ite`, and uses the result of one. */
static result eval_large(run r, ft_term term)
{
    ft_term_list list = {0};
    ft_map places = {0};
    ft_term_reach(r.pool, term, &list);
    assert(list.len > 0 && !r.places);
    result *done = ft_calloc(list.len, sizeof *done);
    r.places = &places;
    r.done = done;
    for (size_t i = 0; i < list.len; i++) {
        done[i] = eval_term(&r, list.data[i]);
        ft_map_put(&places, list.data[i], i);
    }
    result value = done[list.len - 1];
    free(done);
    ft_map_release(&places);
    ft_vec_release(&list);
    return value;
}

ft_eval_status ft_term_eval_node(const ft_term_pool *pool, const ft_term_node *node,
                                 ft_lookup lookup, void *context, ft_value *value)
{
    run r = {.pool = pool, .lookup = lookup, .context = context};
    result found = eval_node(&r, node);
    if (found.status == FT_EVAL_OK) *value = (ft_value){node->sort, found.bits};
    return found.status;
}

ft_eval_status ft_term_eval(const ft_term_pool *pool, ft_term term, ft_lookup lookup, void *context,
                            ft_value *value)
{
    enum { RECURSIVE = 512 }; /* nodes, so also the recursion's depth */
    FT_REQUIRE(term != FT_NO_TERM && lookup && value);
    run r = {.pool = pool, .lookup = lookup, .context = context};
    result found =
        ft_pool_at(pool, term)->size <= RECURSIVE ? eval_term(&r, term) : eval_large(r, term);
    if (found.status == FT_EVAL_OK) *value = (ft_value){ft_term_sort(pool, term), found.bits};
    return found.status;
}
