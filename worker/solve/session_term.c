/* Terms to Z3 expressions. */
#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "solve/session_z3.h"

typedef struct pair {
    ft_expr value, defined; /* defined NULL: always */
} pair;

typedef struct translation {
    ft_z3_session *s;
    const ft_term_pool *pool;
    ft_resolve resolve;
    void *context;
    ft_map done; /* term -> index in pairs */
    FT_VEC(pair) pairs;
} translation;

typedef Z3_ast (*make_unary)(Z3_context, Z3_ast);
typedef Z3_ast (*make_binary)(Z3_context, Z3_ast, Z3_ast);
typedef Z3_ast (*make_nary)(Z3_context, unsigned, Z3_ast const *);

/* How an operator folds over its arguments. Chains (a < b < c) become conjunctions of pairs. */
static const struct {
    make_unary unary;
    make_binary fold, chain;
    make_nary nary;
    bool divides;
} MAKE[FT_OP_COUNT] = {
    [FT_OP_NOT] = {.unary = Z3_mk_not},
    [FT_OP_AND] = {.nary = Z3_mk_and},
    [FT_OP_OR] = {.nary = Z3_mk_or},
    [FT_OP_XOR] = {.fold = Z3_mk_xor},
    [FT_OP_EQ] = {.chain = Z3_mk_eq},
    [FT_OP_DISTINCT] = {.nary = Z3_mk_distinct},
    [FT_OP_ADD] = {.nary = Z3_mk_add},
    [FT_OP_SUB] = {.unary = Z3_mk_unary_minus, .nary = Z3_mk_sub},
    [FT_OP_MUL] = {.nary = Z3_mk_mul},
    [FT_OP_DIV] = {.fold = Z3_mk_div, .divides = true},
    [FT_OP_MOD] = {.fold = Z3_mk_mod, .divides = true},
    [FT_OP_LT] = {.chain = Z3_mk_lt},
    [FT_OP_LE] = {.chain = Z3_mk_le},
    [FT_OP_GT] = {.chain = Z3_mk_gt},
    [FT_OP_GE] = {.chain = Z3_mk_ge},
    [FT_OP_BVNOT] = {.unary = Z3_mk_bvnot},
    [FT_OP_BVNEG] = {.unary = Z3_mk_bvneg},
    [FT_OP_BVADD] = {.fold = Z3_mk_bvadd},
    [FT_OP_BVSUB] = {.fold = Z3_mk_bvsub},
    [FT_OP_BVMUL] = {.fold = Z3_mk_bvmul},
    [FT_OP_BVUDIV] = {.fold = Z3_mk_bvudiv, .divides = true},
    [FT_OP_BVUREM] = {.fold = Z3_mk_bvurem, .divides = true},
    [FT_OP_BVSDIV] = {.fold = Z3_mk_bvsdiv, .divides = true},
    [FT_OP_BVSREM] = {.fold = Z3_mk_bvsrem, .divides = true},
    [FT_OP_BVAND] = {.fold = Z3_mk_bvand},
    [FT_OP_BVOR] = {.fold = Z3_mk_bvor},
    [FT_OP_BVXOR] = {.fold = Z3_mk_bvxor},
    [FT_OP_BVSHL] = {.fold = Z3_mk_bvshl},
    [FT_OP_BVLSHR] = {.fold = Z3_mk_bvlshr},
    [FT_OP_BVASHR] = {.fold = Z3_mk_bvashr},
    [FT_OP_BVULT] = {.chain = Z3_mk_bvult},
    [FT_OP_BVULE] = {.chain = Z3_mk_bvule},
    [FT_OP_BVUGT] = {.chain = Z3_mk_bvugt},
    [FT_OP_BVUGE] = {.chain = Z3_mk_bvuge},
    [FT_OP_BVSLT] = {.chain = Z3_mk_bvslt},
    [FT_OP_BVSLE] = {.chain = Z3_mk_bvsle},
    [FT_OP_BVSGT] = {.chain = Z3_mk_bvsgt},
    [FT_OP_BVSGE] = {.chain = Z3_mk_bvsge},
    [FT_OP_CONCAT] = {.fold = Z3_mk_concat},
};

static ft_expr zero_of(ft_z3_session *s, ft_sort sort)
{
    return ft_session_value(&s->base, (ft_value){sort, 0});
}

/* Operators outside the table: those with indices or a shape of their own. */
static Z3_ast make_special(ft_z3_session *s, const ft_term_node *node, const Z3_ast *args)
{
    Z3_context z3 = s->z3;
    if (node->op == FT_OP_EXTRACT)
        return Z3_mk_extract(z3, node->index[0], node->index[1], args[0]);
    if (node->op == FT_OP_ZERO_EXTEND) return Z3_mk_zero_ext(z3, node->index[0], args[0]);
    if (node->op == FT_OP_SIGN_EXTEND) return Z3_mk_sign_ext(z3, node->index[0], args[0]);
    if (node->op == FT_OP_ABS)
        return Z3_mk_ite(z3, Z3_mk_lt(z3, args[0], ft_z3_ast(s, zero_of(s, FT_INT_SORT))),
                         Z3_mk_unary_minus(z3, args[0]), args[0]);
    if (node->op == FT_OP_ITE) return Z3_mk_ite(z3, args[0], args[1], args[2]);
    assert(node->op == FT_OP_IMPLIES && node->n_children >= 2); /* every other one has a row */
    Z3_ast result = args[node->n_children - 1];                 /* => is right-associative */
    for (uint32_t i = node->n_children - 1; i > 0; i--)
        result = Z3_mk_implies(z3, args[i - 1], result);
    return result;
}

Z3_ast ft_z3_make(ft_z3_session *s, const ft_term_node *node, const Z3_ast *args)
{
    uint32_t n = node->n_children;
    assert(n > 0 && node->op < FT_OP_COUNT);
    if (n == 1 && MAKE[node->op].unary) return MAKE[node->op].unary(s->z3, args[0]);
    if (MAKE[node->op].nary) return MAKE[node->op].nary(s->z3, n, args);
    if (MAKE[node->op].fold) {
        Z3_ast result = args[0];
        for (uint32_t i = 1; i < n; i++) result = MAKE[node->op].fold(s->z3, result, args[i]);
        return result;
    }
    if (!MAKE[node->op].chain) return make_special(s, node, args);
    if (n == 2) return MAKE[node->op].chain(s->z3, args[0], args[1]);
    FT_VEC(Z3_ast) links = {0};
    for (uint32_t i = 1; i < n; i++) {
        Z3_ast link = MAKE[node->op].chain(s->z3, args[i - 1], args[i]);
        ft_vec_push(&links, link);
    }
    Z3_ast result = Z3_mk_and(s->z3, (unsigned)links.len, links.data);
    ft_vec_release(&links);
    return result;
}

static pair translate(translation *t, ft_term term);

static bool has_bits(const translation *t, const ft_term_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        if (ft_term_sort(t->pool, node->children[i]).kind == FT_SORT_BITVEC) return true;
    return false;
}

static ft_expr make(translation *t, const ft_term_node *node, const ft_expr *args)
{
    if (t->s->narrows && has_bits(t, node)) return ft_z3_bits_apply(t->s, t->pool, node, args);
    FT_VEC(Z3_ast) asts = {0};
    for (uint32_t i = 0; i < node->n_children; i++) {
        Z3_ast ast = ft_z3_ast(t->s, args[i]);
        ft_vec_push(&asts, ast);
    }
    ft_expr result = ft_z3_plain(t->s, node->sort, ft_z3_make(t->s, node, asts.data));
    ft_vec_release(&asts);
    return result;
}

static pair translate_ite(translation *t, const ft_term_node *node)
{
    pair c = translate(t, node->children[0]);
    pair a = translate(t, node->children[1]);
    pair b = translate(t, node->children[2]);
    Z3_context z3 = t->s->z3;
    ft_expr branch = NULL, values[3] = {c.value, a.value, b.value};
    if (a.defined || b.defined) {
        Z3_ast yes = a.defined ? ft_z3_ast(t->s, a.defined) : Z3_mk_true(z3);
        Z3_ast no = b.defined ? ft_z3_ast(t->s, b.defined) : Z3_mk_true(z3);
        branch = ft_z3_plain(t->s, FT_BOOL_SORT, Z3_mk_ite(z3, ft_z3_ast(t->s, c.value), yes, no));
    }
    ft_expr both[2] = {c.defined, branch};
    return (pair){make(t, node, values), ft_session_and(&t->s->base, both, 2)};
}

static pair translate_apply(translation *t, const ft_term_node *node)
{
    FT_VEC(ft_expr) args = {0};
    FT_VEC(ft_expr) defined = {0};
    ft_session *session = &t->s->base;
    for (uint32_t i = 0; i < node->n_children; i++) {
        pair child = translate(t, node->children[i]);
        ft_vec_push(&args, child.value);
        ft_vec_push(&defined, child.defined);
        if (i == 0 || !MAKE[node->op].divides) continue;
        ft_expr zero = zero_of(t->s, ft_term_sort(t->pool, node->children[i]));
        ft_expr nonzero = ft_session_not(session, ft_session_equal(session, child.value, zero));
        ft_vec_push(&defined, nonzero);
    }
    pair result = {make(t, node, args.data),
                   ft_session_and(session, defined.data, (uint32_t)defined.len)};
    ft_vec_release(&args);
    ft_vec_release(&defined);
    return result;
}

static pair translate(translation *t, ft_term term)
{
    uint64_t at;
    if (ft_map_get(&t->done, term, &at)) {
        assert(at < t->pairs.len);
        return t->pairs.data[at];
    }
    ft_term_node node = ft_term_get(t->pool, term);
    pair result;
    if (node.op == FT_OP_LITERAL)
        result = (pair){ft_session_value(&t->s->base, (ft_value){node.sort, node.bits}), NULL};
    else if (node.op == FT_OP_SYMBOL)
        result = (pair){t->resolve(t->context, node.symbol), NULL};
    else if (node.op == FT_OP_ITE)
        result = translate_ite(t, &node);
    else
        result = translate_apply(t, &node);
    assert(result.value);
    ft_vec_push(&t->pairs, result);
    ft_map_put(&t->done, term, t->pairs.len - 1);
    return result;
}

ft_expr ft_z3_term(ft_session *session, const ft_term_pool *pool, ft_term term, ft_resolve resolve,
                   void *context, ft_expr *defined)
{
    translation t = {.s = ft_z3_of(session), .pool = pool, .resolve = resolve, .context = context};
    pair result = translate(&t, term);
    ft_map_release(&t.done);
    ft_vec_release(&t.pairs);
    if (defined) *defined = result.defined;
    return result.value;
}
