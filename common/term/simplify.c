#include <string.h>

#include "term/internal.h"

/* A rule holds for every value of every symbol, unknown ones included, and keeps each child that
 * can be undefined or overflow: a child is dropped only if it is `total`. */

static bool no_symbols(void *context, ft_symbol symbol, ft_value *value)
{
    (void)context;
    (void)symbol;
    (void)value;
    return false;
}

static bool all_literals(const ft_term_pool *pool, const ft_term_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        if (!ft_pool_is_literal(pool, node->children[i])) return false;
    return node->n_children > 0;
}

static bool is_bits(const ft_term_pool *pool, ft_term term, uint64_t bits)
{
    const ft_pool_node *node = ft_pool_at(pool, term);
    return node->op == FT_OP_LITERAL && node->bits == bits;
}

static bool is_ones(const ft_term_pool *pool, ft_term term)
{
    return is_bits(pool, term, ft_bits_mask(ft_term_sort(pool, term).width));
}

static bool is_total(const ft_term_pool *pool, ft_term term)
{
    return ft_pool_at(pool, term)->total;
}

static ft_term boolean(ft_term_pool *pool, bool value)
{
    return ft_term_literal(pool, (ft_value){.sort = FT_BOOL_SORT, .bits = value});
}

static ft_term negation(ft_term_pool *pool, ft_term term)
{
    ft_term_node node = {.op = FT_OP_NOT, .sort = FT_BOOL_SORT, .n_children = 1, .children = &term};
    return ft_term_simplify(pool, &node, &term);
}

static ft_term rule_not(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    ft_term_node inner = ft_term_get(pool, kids[0]);
    return inner.op == node->op ? inner.children[0] : FT_NO_TERM;
}

/* Drops the neutral literals among the children from `from` on; keeps at least one child. */
static void drop_children(const ft_term_pool *pool, ft_term_node *node, ft_term *kids,
                          uint32_t from, uint64_t neutral)
{
    uint32_t kept = 0;
    assert(from < node->n_children && node->children == kids);
    for (uint32_t i = 0; i < node->n_children; i++) {
        bool last = kept == 0 && i + 1 == node->n_children;
        if (i >= from && !last && is_bits(pool, kids[i], neutral)) continue;
        kids[kept++] = kids[i];
    }
    assert(kept > 0);
    node->n_children = kept;
}

static void drop_repeated(ft_term_node *node, ft_term *kids)
{
    enum { FEW = 64 }; /* the search is quadratic */
    uint32_t kept = 0;
    if (node->n_children > FEW) return;
    for (uint32_t i = 0; i < node->n_children; i++) {
        uint32_t k = 0;
        while (k < kept && kids[k] != kids[i]) k++;
        if (k == kept) kids[kept++] = kids[i];
    }
    node->n_children = kept;
}

static ft_term rule_and_or(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    bool neutral = node->op == FT_OP_AND, absorbed = false, total = true;
    drop_children(pool, node, kids, 0, neutral);
    drop_repeated(node, kids);
    for (uint32_t i = 0; i < node->n_children; i++) {
        absorbed = absorbed || is_bits(pool, kids[i], !neutral);
        total = total && is_total(pool, kids[i]);
    }
    if (absorbed && total) return boolean(pool, !neutral);
    return node->n_children == 1 ? kids[0] : FT_NO_TERM;
}

static ft_term rule_xor(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    for (int i = 0; i < 2; i++) {
        if (is_bits(pool, kids[i], 0)) return kids[1 - i];
        if (is_bits(pool, kids[i], 1)) return negation(pool, kids[1 - i]);
    }
    return FT_NO_TERM;
}

static ft_term rule_implies(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    if (is_bits(pool, kids[0], 1)) return kids[1];
    if (is_bits(pool, kids[1], 0)) return negation(pool, kids[0]);
    if (is_bits(pool, kids[0], 0) && is_total(pool, kids[1])) return boolean(pool, true);
    if (is_bits(pool, kids[1], 1) && is_total(pool, kids[0])) return boolean(pool, true);
    return FT_NO_TERM;
}

static ft_term rule_ite(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    if (ft_pool_is_literal(pool, kids[0])) return is_bits(pool, kids[0], 1) ? kids[1] : kids[2];
    if (kids[1] == kids[2] && is_total(pool, kids[0])) return kids[1];
    if (node->sort.kind != FT_SORT_BOOL) return FT_NO_TERM;
    if (is_bits(pool, kids[1], 1) && is_bits(pool, kids[2], 0)) return kids[0];
    if (is_bits(pool, kids[1], 0) && is_bits(pool, kids[2], 1)) return negation(pool, kids[0]);
    return FT_NO_TERM;
}

static ft_term rule_equal(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    bool equal = node->op == FT_OP_EQ;
    if (node->n_children != 2) return FT_NO_TERM;
    if (kids[0] == kids[1] && is_total(pool, kids[0])) return boolean(pool, equal);
    if (ft_term_sort(pool, kids[0]).kind != FT_SORT_BOOL) return FT_NO_TERM;
    for (int i = 0; i < 2; i++)
        if (ft_pool_is_literal(pool, kids[i]))
            return is_bits(pool, kids[i], equal) ? kids[1 - i] : negation(pool, kids[1 - i]);
    return FT_NO_TERM;
}

/* Each partial sum of (+ a b ...), from left to right, may overflow. So only neutral children are
 * dropped: merging or moving others could lose an overflow. */
static ft_term rule_sum(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    bool minus = node->op == FT_OP_SUB;
    if (minus && node->n_children == 1) return FT_NO_TERM;
    drop_children(pool, node, kids, minus, node->op == FT_OP_MUL);
    return node->n_children == 1 ? kids[0] : FT_NO_TERM;
}

static ft_term rule_neutral_zero(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    if (is_bits(pool, kids[1], 0)) return kids[0];
    return is_bits(pool, kids[0], 0) ? kids[1] : FT_NO_TERM;
}

static ft_term rule_right_zero(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    return is_bits(pool, kids[1], 0) ? kids[0] : FT_NO_TERM;
}

static ft_term rule_right_one(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    return is_bits(pool, kids[1], 1) ? kids[0] : FT_NO_TERM;
}

static ft_term rule_bvmul(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    if (is_bits(pool, kids[1], 1)) return kids[0];
    return is_bits(pool, kids[0], 1) ? kids[1] : FT_NO_TERM;
}

static ft_term rule_bvand(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    (void)node;
    if (is_ones(pool, kids[1])) return kids[0];
    return is_ones(pool, kids[0]) ? kids[1] : FT_NO_TERM;
}

static ft_term rule_same_width(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    return node->sort.width == ft_term_sort(pool, kids[0]).width ? kids[0] : FT_NO_TERM;
}

static ft_term (*const RULES[FT_OP_COUNT])(ft_term_pool *, ft_term_node *, ft_term *) = {
    [FT_OP_NOT] = rule_not,
    [FT_OP_AND] = rule_and_or,
    [FT_OP_OR] = rule_and_or,
    [FT_OP_XOR] = rule_xor,
    [FT_OP_IMPLIES] = rule_implies,
    [FT_OP_ITE] = rule_ite,
    [FT_OP_EQ] = rule_equal,
    [FT_OP_DISTINCT] = rule_equal,
    [FT_OP_ADD] = rule_sum,
    [FT_OP_SUB] = rule_sum,
    [FT_OP_MUL] = rule_sum,
    [FT_OP_DIV] = rule_right_one,
    [FT_OP_BVNOT] = rule_not,
    [FT_OP_BVNEG] = rule_not,
    [FT_OP_BVADD] = rule_neutral_zero,
    [FT_OP_BVOR] = rule_neutral_zero,
    [FT_OP_BVXOR] = rule_neutral_zero,
    [FT_OP_BVSUB] = rule_right_zero,
    [FT_OP_BVSHL] = rule_right_zero,
    [FT_OP_BVLSHR] = rule_right_zero,
    [FT_OP_BVASHR] = rule_right_zero,
    [FT_OP_BVMUL] = rule_bvmul,
    [FT_OP_BVAND] = rule_bvand,
    [FT_OP_BVUDIV] = rule_right_one,
    [FT_OP_EXTRACT] = rule_same_width,
    [FT_OP_ZERO_EXTEND] = rule_same_width,
    [FT_OP_SIGN_EXTEND] = rule_same_width,
};

ft_term ft_term_simplify(ft_term_pool *pool, ft_term_node *node, ft_term *kids)
{
    ft_value value;
    assert(node->children == kids && node->n_children > 0);
    if (all_literals(pool, node) &&
        ft_term_eval_node(pool, node, no_symbols, NULL, &value) == FT_EVAL_OK)
        return ft_term_literal(pool, value);
    ft_term simpler = RULES[node->op] ? RULES[node->op](pool, node, kids) : FT_NO_TERM;
    return simpler != FT_NO_TERM ? simpler : ft_pool_intern(pool, node);
}
