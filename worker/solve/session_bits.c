/* BitVec values in fewer bits, or as Ints.
 *
 * Each expression has a range, which follows from the ranges of the unknowns in it. The low m bits
 * of a value are enough where the range needs no more: to compute a result whose range needs m bits
 * by an operator whose low bits depend on its operands' low bits alone, and to compare two values
 * whose ranges need m bits. An Int stands for a value where no operation wraps: which unknowns are
 * Ints is the caller's choice (ft_unknown), and where one meets an operator that no Int has, it
 * becomes bits again. */
#include <stdlib.h>

#include "base/contract.h"
#include "ranges/faults.h"
#include "solve/session_z3.h"

/* ---- what a range needs ---------------------------------------------------------------------- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static bool is_single(ft_range range)
{
    return range.ulow == range.uhigh;
}

/* The form for values of the range in so few bits as there can be, and how many that are. */
static ft_z3_form form_for(ft_sort sort, ft_range range, unsigned *bits)
{
    unsigned zero = ft_range_unsigned_width(range), sign = ft_range_signed_width(range);
    *bits = least(zero, sign);
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_NARROW_RESULT) && *bits > 1) --*bits;
    if (*bits < sort.width) return zero <= sign ? FT_Z3_ZERO : FT_Z3_SIGN;
    *bits = sort.width;
    return FT_Z3_PLAIN;
}

/* All values that so many bits can be. */
static ft_range range_of(ft_sort sort, ft_z3_form form, unsigned bits)
{
    if (form == FT_Z3_ZERO) return ft_range_unsigned(sort, 0, ((uint64_t)1 << bits) - 1);
    if (form != FT_Z3_SIGN) return ft_range_any(sort);
    int64_t half = (int64_t)1 << (bits - 1);
    return ft_range_signed(sort, -half, half - 1);
}

/* ---- forms ----------------------------------------------------------------------------------- */

static Z3_ast numeral(ft_z3_session *s, uint64_t bits, unsigned width)
{
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    return Z3_mk_unsigned_int64(s->z3, bits & mask, Z3_mk_bv_sort(s->z3, width));
}

static Z3_ast resized(ft_z3_session *s, Z3_ast ast, unsigned from, unsigned to, bool is_signed)
{
    if (to == from) return ast;
    if (to < from) return Z3_mk_extract(s->z3, to - 1, 0, ast);
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_NARROW_SIGN)) is_signed = false;
    return is_signed ? Z3_mk_sign_ext(s->z3, to - from, ast)
                     : Z3_mk_zero_ext(s->z3, to - from, ast);
}

/* The low m bits of the value, m at most its width. */
static Z3_ast low_bits(ft_z3_session *s, const ft_z3_expr *e, unsigned m)
{
    assert(m > 0 && m <= e->sort.width);
    if (is_single(e->range)) return numeral(s, e->range.ulow, m);
    if (e->form < FT_Z3_UNSIGNED) return resized(s, e->ast, e->bits, m, e->form == FT_Z3_SIGN);
    bool is_signed = e->form == FT_Z3_SIGNED;
    unsigned bits = is_signed ? ft_range_signed_width(e->range) : ft_range_unsigned_width(e->range);
    bits = least(bits, e->sort.width);
    if (m <= bits) return Z3_mk_int2bv(s->z3, m, e->ast);
    return resized(s, Z3_mk_int2bv(s->z3, bits, e->ast), bits, m, is_signed);
}

Z3_ast ft_z3_ast(ft_z3_session *s, ft_expr expression)
{
    const ft_z3_expr *e = ft_z3_expr_of(expression);
    return e->form == FT_Z3_PLAIN ? e->ast : low_bits(s, e, e->sort.width);
}

/* The value as the Int of a view; NULL: it is not at hand. */
static Z3_ast as_integer(ft_z3_session *s, const ft_z3_expr *e, ft_number number)
{
    bool is_signed = number == FT_NUMBER_SIGNED;
    if (is_single(e->range))
        return is_signed ? Z3_mk_int64(s->z3, e->range.low, s->integer)
                         : Z3_mk_unsigned_int64(s->z3, e->range.ulow, s->integer);
    if (e->form != FT_Z3_UNSIGNED && e->form != FT_Z3_SIGNED) return NULL;
    bool same = (e->form == FT_Z3_SIGNED) == is_signed;
    same |= ft_interval_fault_is(FT_INTERVAL_FAULT_NUMBER_VIEW);
    return same || e->range.low >= 0 ? e->ast : NULL;
}

/* Are the values at hand as Ints of the view, and one of them no other way? */
static bool are_integers(ft_z3_session *s, const ft_expr *all, uint32_t count, ft_number number)
{
    bool one = false;
    for (uint32_t i = 0; i < count; i++) {
        const ft_z3_expr *e = ft_z3_expr_of(all[i]);
        if (!as_integer(s, e, number)) return false;
        one |= e->form >= FT_Z3_UNSIGNED;
    }
    return one;
}

static ft_expr keep_number(ft_z3_session *s, Z3_ast ast, ft_sort sort, ft_number number,
                           ft_range range)
{
    ft_z3_form form = number == FT_NUMBER_SIGNED ? FT_Z3_SIGNED : FT_Z3_UNSIGNED;
    return ft_z3_keep(s, (ft_z3_expr){ast, sort, form, 0, range});
}

/* ---- comparisons ----------------------------------------------------------------------------- */

typedef Z3_ast (*relation)(Z3_context z3, Z3_ast a, Z3_ast b);
typedef enum compared { BY_BOTH, BY_UNSIGNED, BY_SIGNED } compared;

static const struct {
    relation bits, integers; /* NULL: the operator does not compare */
    compared by;
} RELATIONS[FT_OP_COUNT] = {
    [FT_OP_EQ] = {Z3_mk_eq, Z3_mk_eq, BY_BOTH},
    [FT_OP_DISTINCT] = {Z3_mk_eq, Z3_mk_eq, BY_BOTH},
    [FT_OP_BVULT] = {Z3_mk_bvult, Z3_mk_lt, BY_UNSIGNED},
    [FT_OP_BVULE] = {Z3_mk_bvule, Z3_mk_le, BY_UNSIGNED},
    [FT_OP_BVUGT] = {Z3_mk_bvugt, Z3_mk_gt, BY_UNSIGNED},
    [FT_OP_BVUGE] = {Z3_mk_bvuge, Z3_mk_ge, BY_UNSIGNED},
    [FT_OP_BVSLT] = {Z3_mk_bvslt, Z3_mk_lt, BY_SIGNED},
    [FT_OP_BVSLE] = {Z3_mk_bvsle, Z3_mk_le, BY_SIGNED},
    [FT_OP_BVSGT] = {Z3_mk_bvsgt, Z3_mk_gt, BY_SIGNED},
    [FT_OP_BVSGE] = {Z3_mk_bvsge, Z3_mk_ge, BY_SIGNED},
};

/* The bits in which the comparison of the two is that of the values. */
static unsigned compared_bits(const ft_z3_expr *a, const ft_z3_expr *b, compared by)
{
    unsigned zero = most(ft_range_unsigned_width(a->range), ft_range_unsigned_width(b->range)),
             sign = most(ft_range_signed_width(a->range), ft_range_signed_width(b->range));
    unsigned bits = by == BY_BOTH ? least(zero, sign) : by == BY_UNSIGNED ? zero : sign;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_NARROW_COMPARE) && bits > 1) bits--;
    return least(bits, a->sort.width);
}

static Z3_ast compare(ft_z3_session *s, ft_op op, ft_expr first, ft_expr second)
{
    const ft_expr both[2] = {first, second};
    const ft_z3_expr *a = ft_z3_expr_of(first), *b = ft_z3_expr_of(second);
    assert(a->sort.width == b->sort.width && RELATIONS[op].bits);
    for (int number = FT_NUMBER_UNSIGNED; number <= FT_NUMBER_SIGNED; number++) {
        compared by = number == FT_NUMBER_SIGNED ? BY_SIGNED : BY_UNSIGNED;
        if (RELATIONS[op].by != BY_BOTH && RELATIONS[op].by != by) continue;
        if (are_integers(s, both, 2, (ft_number)number))
            return RELATIONS[op].integers(s->z3, as_integer(s, a, (ft_number)number),
                                          as_integer(s, b, (ft_number)number));
    }
    unsigned bits = compared_bits(a, b, RELATIONS[op].by);
    return RELATIONS[op].bits(s->z3, low_bits(s, a, bits), low_bits(s, b, bits));
}

Z3_ast ft_z3_bits_equal(ft_z3_session *s, ft_expr a, ft_expr b)
{
    return compare(s, FT_OP_EQ, a, b);
}

/* Neighbours, or of DISTINCT all pairs. */
static Z3_ast compare_all(ft_z3_session *s, const ft_term_node *node, const ft_expr *children)
{
    FT_VEC(Z3_ast) links = {0};
    bool distinct = node->op == FT_OP_DISTINCT;
    for (uint32_t i = 1; i < node->n_children; i++)
        for (uint32_t k = distinct ? 0 : i - 1; k < i; k++) {
            Z3_ast link = compare(s, node->op, children[k], children[i]);
            if (distinct) link = Z3_mk_not(s->z3, link);
            ft_vec_push(&links, link);
        }
    Z3_ast result =
        links.len == 1 ? links.data[0] : Z3_mk_and(s->z3, (unsigned)links.len, links.data);
    ft_vec_release(&links);
    return result;
}

/* ---- unknowns -------------------------------------------------------------------------------- */

static void limit(ft_z3_session *s, ft_op op, ft_expr value, ft_value bound)
{
    Z3_solver_assert(s->z3, s->solver, compare(s, op, value, ft_session_value(&s->base, bound)));
}

/* Adds the part of the range that the bit-vector's width does not imply. */
static void limit_to(ft_z3_session *s, ft_expr value, ft_range range)
{
    const ft_z3_expr *e = ft_z3_expr_of(value);
    ft_sort sort = e->sort;
    ft_range known = range_of(sort, e->form, e->bits);
    bool by_sign = e->form != FT_Z3_ZERO && e->form != FT_Z3_UNSIGNED;
    bool by_size = e->form != FT_Z3_SIGN && e->form != FT_Z3_SIGNED;
    bool open = e->form >= FT_Z3_UNSIGNED; /* an Int can be anything */
    if (by_sign && (open || range.low > known.low))
        limit(s, FT_OP_BVSGE, value, ft_range_bound(sort, range.low));
    if (by_sign && (open || range.high < known.high))
        limit(s, FT_OP_BVSLE, value, ft_range_bound(sort, range.high));
    if (by_size && (open || range.ulow > known.ulow))
        limit(s, FT_OP_BVUGE, value, (ft_value){sort, range.ulow});
    if (by_size && (open || range.uhigh < known.uhigh))
        limit(s, FT_OP_BVULE, value, (ft_value){sort, range.uhigh});
}

static ft_range hull_of(const ft_unknown *known)
{
    ft_range hull = known->range, list = ft_range_empty();
    for (uint32_t i = 0; i < known->count; i++)
        list = ft_range_join(known->sort, list,
                             ft_range_single((ft_value){known->sort, known->bits[i]}));
    if (known->count) hull = ft_range_meet(known->sort, hull, list);
    return ft_range_is_empty(hull) ? known->range : hull;
}

/* What limit_to says: one view of a range does not always follow from the other. */
static ft_range limited(ft_sort sort, ft_z3_form form, ft_range range)
{
    if (form == FT_Z3_ZERO || form == FT_Z3_UNSIGNED)
        return ft_range_unsigned(sort, range.ulow, range.uhigh);
    if (form == FT_Z3_PLAIN) return range;
    return ft_range_signed(sort, range.low, range.high);
}

static ft_expr fresh_number(ft_z3_session *s, ft_sort sort, ft_number number, ft_range range)
{
    Z3_ast ast = Z3_mk_fresh_const(s->z3, "n", s->integer);
    ft_expr value = keep_number(s, ast, sort, number, range);
    ft_range within = limited(sort, ft_z3_expr_of(value)->form, range);
    limit_to(s, value, within);
    return keep_number(s, ast, sort, number, within);
}

static ft_expr fresh_bits(ft_z3_session *s, ft_sort sort, ft_range range, bool width)
{
    ft_z3_expr e = {.sort = sort, .form = FT_Z3_PLAIN, .bits = sort.width};
    if (width) e.form = form_for(sort, range, &e.bits);
    e.ast = Z3_mk_fresh_const(s->z3, "v", Z3_mk_bv_sort(s->z3, e.bits));
    e.range = range_of(sort, e.form, e.bits);
    return ft_z3_keep(s, e);
}

ft_expr ft_z3_bits_unknown(ft_z3_session *s, const ft_unknown *known)
{
    bool narrow = known->width || known->number;
    ft_range range = narrow ? hull_of(known) : known->range;
    s->narrows |= narrow;
    if (narrow && is_single(range))
        return ft_session_value(&s->base, (ft_value){known->sort, range.ulow});
    if (known->number != FT_NUMBER_BITS) return fresh_number(s, known->sort, known->number, range);
    ft_expr value = fresh_bits(s, known->sort, range, known->width);
    if (!known->bounds) return value;
    limit_to(s, value, range);
    ft_z3_expr bounded = *ft_z3_expr_of(value);
    bounded.range = limited(bounded.sort, bounded.form, range);
    return ft_z3_keep(s, bounded);
}

ft_expr ft_z3_bits_one_of(ft_z3_session *s, ft_sort sort, const ft_expr *all, uint32_t count)
{
    ft_range range = ft_range_empty();
    for (uint32_t i = 0; i < count; i++)
        range = ft_range_join(sort, range, ft_z3_expr_of(all[i])->range);
    for (int number = FT_NUMBER_UNSIGNED; number <= FT_NUMBER_SIGNED; number++)
        if (are_integers(s, all, count, (ft_number)number))
            return fresh_number(s, sort, (ft_number)number, range);
    return fresh_bits(s, sort, range, true);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* The low bits of the result depend on the same bits of the operands. */
static bool is_modular(ft_op op)
{
    return op == FT_OP_BVADD || op == FT_OP_BVSUB || op == FT_OP_BVMUL || op == FT_OP_BVNEG ||
           op == FT_OP_BVNOT || op == FT_OP_BVAND || op == FT_OP_BVOR || op == FT_OP_BVXOR;
}

static ft_range range_of_result(const ft_term_pool *pool, const ft_term_node *node,
                                const ft_expr *children, unsigned *wraps)
{
    ft_range few[8] = {{0}}, *ranges = few;
    if (node->n_children > 8) ranges = ft_alloc(node->n_children * sizeof *ranges);
    for (uint32_t i = 0; i < node->n_children; i++) {
        const ft_z3_expr *e = ft_z3_expr_of(children[i]);
        ranges[i] = e->sort.kind == FT_SORT_BITVEC ? e->range : ft_range_any(e->sort);
    }
    ft_range result = ft_range_apply(pool, node, ranges, wraps);
    if (ranges != few) free(ranges);
    /* Empty: undefined, so nobody asks what it is. */
    return ft_range_is_empty(result) ? ft_range_any(node->sort) : result;
}

/* The result as an Int, of children that are; NULL: no Int operator gives it. */
static Z3_ast make_integer(ft_z3_session *s, const ft_term_node *node, const ft_expr *children,
                           ft_number number, unsigned wraps)
{
    uint32_t from = node->op == FT_OP_ITE, n = node->n_children, unknowns = 0;
    bool extends = (node->op == FT_OP_ZERO_EXTEND && number == FT_NUMBER_UNSIGNED) ||
                   (node->op == FT_OP_SIGN_EXTEND && number == FT_NUMBER_SIGNED);
    unsigned view = number == FT_NUMBER_SIGNED ? FT_WRAPS_SIGNED : FT_WRAPS_UNSIGNED;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_NUMBER_WRAPS)) wraps = 0;
    if ((!extends && (wraps & view)) || !are_integers(s, children + from, n - from, number))
        return NULL;
    FT_VEC(Z3_ast) args = {0};
    for (uint32_t i = from; i < n; i++) {
        Z3_ast arg = as_integer(s, ft_z3_expr_of(children[i]), number);
        unknowns += !is_single(ft_z3_expr_of(children[i])->range);
        ft_vec_push(&args, arg);
    }
    Z3_ast result = NULL;
    if (extends) result = args.data[0];
    if (node->op == FT_OP_ITE)
        result = Z3_mk_ite(s->z3, ft_z3_ast(s, children[0]), args.data[0], args.data[1]);
    if (node->op == FT_OP_BVADD) result = Z3_mk_add(s->z3, n, args.data);
    if (node->op == FT_OP_BVSUB) result = Z3_mk_sub(s->z3, n, args.data);
    if (node->op == FT_OP_BVNEG) result = Z3_mk_unary_minus(s->z3, args.data[0]);
    if (node->op == FT_OP_BVMUL && unknowns < 2) result = Z3_mk_mul(s->z3, n, args.data);
    ft_vec_release(&args);
    return result;
}

/* m bits of each child that is a BitVec, or all of its own where m is 0. */
static Z3_ast make_from(ft_z3_session *s, const ft_term_node *node, const ft_expr *children,
                        unsigned m)
{
    FT_VEC(Z3_ast) args = {0};
    for (uint32_t i = 0; i < node->n_children; i++) {
        const ft_z3_expr *e = ft_z3_expr_of(children[i]);
        bool bits = e->sort.kind == FT_SORT_BITVEC;
        Z3_ast arg = bits ? low_bits(s, e, m ? m : e->sort.width) : ft_z3_ast(s, children[i]);
        ft_vec_push(&args, arg);
    }
    Z3_ast result = ft_z3_make(s, node, args.data);
    ft_vec_release(&args);
    return result;
}

static ft_expr make_bits(ft_z3_session *s, const ft_term_node *node, const ft_expr *children,
                         ft_range range)
{
    ft_z3_expr e = {.sort = node->sort, .range = range};
    bool extends = node->op == FT_OP_ZERO_EXTEND || node->op == FT_OP_SIGN_EXTEND;
    e.form = form_for(node->sort, range, &e.bits);
    if (extends && e.bits <= ft_z3_expr_of(children[0])->sort.width)
        e.ast = low_bits(s, ft_z3_expr_of(children[0]), e.bits);
    else if (is_modular(node->op) || node->op == FT_OP_ITE)
        e.ast = make_from(s, node, children, e.bits);
    else
        e.ast = resized(s, make_from(s, node, children, 0), node->sort.width, e.bits, false);
    return ft_z3_keep(s, e);
}

ft_expr ft_z3_bits_apply(ft_z3_session *s, const ft_term_pool *pool, const ft_term_node *node,
                         const ft_expr *children)
{
    unsigned wraps = 0;
    if (RELATIONS[node->op].bits)
        return ft_z3_plain(s, FT_BOOL_SORT, compare_all(s, node, children));
    ft_range range = range_of_result(pool, node, children, &wraps);
    if (is_single(range)) return ft_session_value(&s->base, (ft_value){node->sort, range.ulow});
    for (int number = FT_NUMBER_UNSIGNED; number <= FT_NUMBER_SIGNED; number++) {
        Z3_ast ast = make_integer(s, node, children, (ft_number)number, wraps);
        if (ast) return keep_number(s, ast, node->sort, (ft_number)number, range);
    }
    return make_bits(s, node, children, range);
}
