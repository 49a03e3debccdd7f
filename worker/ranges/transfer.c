/* The transfer functions: what an operator makes of ranges. */
#include "base/contract.h"
#include "ranges/faults.h"
#include "ranges/interval.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* Beyond every bound, and its products with bounds still fit. */
#define INFINITE ((wide)1 << 100)

static ft_sort bits_of(unsigned width)
{
    return (ft_sort){FT_SORT_BITVEC, (uint8_t)width};
}

static uint64_t mask_of(unsigned width)
{
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* ---- truth ----------------------------------------------------------------------------------- */

static ft_range truth(bool may_be_false, bool may_be_true)
{
    if (!may_be_false && !may_be_true) return ft_range_empty();
    return (ft_range){.low = !may_be_false, .high = may_be_true};
}

static bool can_hold(ft_range r)
{
    return r.high >= 1;
}

static bool can_fail(ft_range r)
{
    return r.low <= 0;
}

static ft_range connective(ft_op op, const ft_range *children, uint32_t n)
{
    bool conjunction = op == FT_OP_AND, all = true, some = false;
    for (uint32_t i = 0; i < n; i++) {
        bool premise = op == FT_OP_IMPLIES && i + 1 < n;
        bool hold = premise ? can_fail(children[i]) : can_hold(children[i]);
        bool fail = premise ? can_hold(children[i]) : can_fail(children[i]);
        all &= conjunction ? hold : fail;
        some |= conjunction ? fail : hold;
    }
    return conjunction ? truth(some, all) : truth(all, some);
}

/* ---- Int ------------------------------------------------------------------------------------- */

static wide low_of(ft_range r)
{
    return r.low == INT64_MIN ? -INFINITE : r.low;
}

static wide high_of(ft_range r)
{
    return r.high == INT64_MAX ? INFINITE : r.high;
}

static ft_range bounded(wide low, wide high)
{
    wide top = INT64_MAX - (ft_interval_fault_is(FT_INTERVAL_FAULT_CLAMP) ? 1 : 0);
    if (low > top) low = top;
    if (high > top) high = top;
    if (low < INT64_MIN) low = INT64_MIN;
    if (high < INT64_MIN) high = INT64_MIN;
    return (ft_range){.low = (int64_t)low, .high = (int64_t)high};
}

static wide magnitude(wide a)
{
    return a < 0 ? -a : a;
}

static wide times(wide a, wide b)
{
    if (a == 0 || b == 0) return 0;
    if (magnitude(a) >= INFINITE || magnitude(b) >= INFINITE)
        return (a < 0) == (b < 0) ? INFINITE : -INFINITE;
    return a * b;
}

/* SMT-LIB: the remainder is never negative. */
static wide quotient(wide a, wide b)
{
    wide q = a / b;
    if (a % b < 0) q += b > 0 ? -1 : 1;
    return q;
}

static wide truncated(wide a, wide b)
{
    return a / b;
}

typedef struct hull {
    wide low, high;
    bool any;
} hull;

static void extend(hull *h, wide value)
{
    if (!h->any || value < h->low) h->low = value;
    if (!h->any || value > h->high) h->high = value;
    h->any = true;
}

static void corners(hull *h, wide (*f)(wide a, wide b), wide al, wide ah, wide bl, wide bh)
{
    extend(h, f(al, bl));
    extend(h, f(ah, bh));
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_MUL_CORNERS) && f == times) return;
    extend(h, f(al, bh));
    extend(h, f(ah, bl));
}

/* A quotient is monotone in both arguments where the divisor's sign is fixed. */
static hull divide(wide (*f)(wide a, wide b), wide al, wide ah, wide bl, wide bh)
{
    hull h = {0};
    if (bh >= 1) corners(&h, f, al, ah, bl < 1 ? 1 : bl, bh);
    if (bl <= -1) corners(&h, f, al, ah, bl, bh > -1 ? -1 : bh);
    return h;
}

static ft_range int_quotient(ft_range a, ft_range b)
{
    hull h = divide(quotient, low_of(a), high_of(a), low_of(b), high_of(b));
    return h.any ? bounded(h.low, h.high) : ft_range_empty();
}

static ft_range int_remainder(ft_range a, ft_range b)
{
    wide most = magnitude(low_of(b)), other = magnitude(high_of(b)), least = 1;
    if (low_of(b) > 0) least = low_of(b);
    if (high_of(b) < 0) least = -high_of(b);
    if (other > most) most = other;
    if (most == 0) return ft_range_empty();
    if (low_of(a) >= 0 && high_of(a) < least) return a;
    wide high = most - 1;
    if (low_of(a) >= 0 && high_of(a) < high) high = high_of(a);
    return bounded(0, high);
}

static ft_range int_binary(ft_op op, ft_range a, ft_range b)
{
    hull h = {0};
    switch (op) {
    case FT_OP_ADD:
        return bounded(low_of(a) + low_of(b), high_of(a) + high_of(b));
    case FT_OP_SUB:
        return bounded(low_of(a) - high_of(b), high_of(a) - low_of(b));
    case FT_OP_MUL:
        corners(&h, times, low_of(a), high_of(a), low_of(b), high_of(b));
        return bounded(h.low, h.high);
    case FT_OP_DIV:
        return int_quotient(a, b);
    case FT_OP_MOD:
        return int_remainder(a, b);
    default:
        return ft_range_any(FT_INT_SORT);
    }
}

static ft_range int_magnitude(ft_range a)
{
    if (a.low >= 0) return a;
    wide low = a.high <= 0 ? -high_of(a) : 0, high = -low_of(a);
    if (high_of(a) > high) high = high_of(a);
    return bounded(low, high);
}

/* ---- BitVec ---------------------------------------------------------------------------------- */

/* The number that the bits are, of numbers that may lie outside of the width: exact where all of
 * them are in one turn of 2^width. */
static ft_range turned(unsigned width, wide low, wide high, bool is_signed, unsigned *wraps)
{
    ft_sort sort = bits_of(width);
    wide turn = (wide)1 << width, base = is_signed ? -(turn >> 1) : 0, first = low - base;
    wide turns = first >= 0 ? first / turn : -((turn - 1 - first) / turn);
    if (turns != 0 || high - base >= turn)
        *wraps |= is_signed ? FT_WRAPS_SIGNED : FT_WRAPS_UNSIGNED;
    if (high - base - turns * turn >= turn) return ft_range_any(sort);
    low -= turns * turn;
    high -= turns * turn;
    return is_signed ? ft_range_signed(sort, (int64_t)low, (int64_t)high)
                     : ft_range_unsigned(sort, (uint64_t)low, (uint64_t)high);
}

static ft_range both_views(unsigned width, ft_range as_unsigned, ft_range as_signed)
{
    return ft_range_meet(bits_of(width), as_unsigned, as_signed);
}

static ft_range bv_add(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    return both_views(w, turned(w, (wide)a.ulow + b.ulow, (wide)a.uhigh + b.uhigh, false, wraps),
                      turned(w, (wide)a.low + b.low, (wide)a.high + b.high, true, wraps));
}

static ft_range bv_sub(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    return both_views(
        w, turned(w, (wide)a.ulow - (wide)b.uhigh, (wide)a.uhigh - (wide)b.ulow, false, wraps),
        turned(w, (wide)a.low - b.high, (wide)a.high - b.low, true, wraps));
}

static ft_range bv_mul(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    ft_sort sort = bits_of(w);
    ft_range as_unsigned = ft_range_any(sort), as_signed = as_unsigned;
    uwide low = (uwide)a.ulow * b.ulow, high = (uwide)a.uhigh * b.uhigh;
    hull h = {0};
    corners(&h, times, a.low, a.high, b.low, b.high);
    if (high <= mask_of(w))
        as_unsigned = ft_range_unsigned(sort, (uint64_t)low, (uint64_t)high);
    else
        *wraps |= FT_WRAPS_UNSIGNED;
    if (h.low >= as_signed.low && h.high <= as_signed.high)
        as_signed = ft_range_signed(sort, (int64_t)h.low, (int64_t)h.high);
    else
        *wraps |= FT_WRAPS_SIGNED;
    return both_views(w, as_unsigned, as_signed);
}

static ft_range bv_udiv(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    *wraps |= FT_WRAPS_SIGNED;
    if (b.uhigh == 0) return ft_range_empty();
    return ft_range_unsigned(bits_of(w), a.ulow / b.uhigh, a.uhigh / (b.ulow ? b.ulow : 1));
}

static ft_range bv_urem(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    *wraps |= FT_WRAPS_SIGNED;
    if (b.uhigh == 0) return ft_range_empty();
    if (a.uhigh < b.ulow) return a;
    return ft_range_unsigned(bits_of(w), 0, a.uhigh < b.uhigh - 1 ? a.uhigh : b.uhigh - 1);
}

/* The least number by -1 wraps. */
static ft_range bv_sdiv(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    ft_range any = ft_range_any(bits_of(w));
    hull h = divide(truncated, a.low, a.high, b.low, b.high);
    *wraps |= FT_WRAPS_UNSIGNED;
    if (!h.any) return ft_range_empty();
    if (a.low == any.low && b.low <= -1 && b.high >= -1) {
        *wraps |= FT_WRAPS_SIGNED;
        return any;
    }
    return ft_range_signed(bits_of(w), (int64_t)h.low, (int64_t)h.high);
}

static ft_range bv_srem(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    wide most = magnitude(b.low), other = magnitude(b.high);
    *wraps |= FT_WRAPS_UNSIGNED;
    if (other > most) most = other;
    if (most == 0) return ft_range_empty();
    wide low = a.low >= 0 ? 0 : -(most - 1), high = a.high <= 0 ? 0 : most - 1;
    if (a.low < 0 && low < a.low) low = a.low;
    if (a.high > 0 && high > a.high) high = a.high;
    return ft_range_signed(bits_of(w), (int64_t)low, (int64_t)high);
}

/* All ones up to the highest bit that is set. */
static uint64_t filled(uint64_t bits)
{
    return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0;
}

static bool constants(ft_range a, ft_range b)
{
    return a.ulow == a.uhigh && b.ulow == b.uhigh;
}

static ft_range bv_and(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    (void)wraps;
    uint64_t low = constants(a, b) ? a.ulow & b.ulow : 0;
    uint64_t high = a.uhigh < b.uhigh ? a.uhigh : b.uhigh;
    return ft_range_unsigned(bits_of(w), low, constants(a, b) ? low : high);
}

static ft_range bv_or(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    (void)wraps;
    uint64_t low = a.ulow > b.ulow ? a.ulow : b.ulow, high = filled(a.uhigh | b.uhigh);
    if (constants(a, b)) low = high = a.ulow | b.ulow;
    return ft_range_unsigned(bits_of(w), low, high);
}

static ft_range bv_xor(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    (void)wraps;
    uint64_t low = 0, high = filled(a.uhigh | b.uhigh);
    if (constants(a, b)) low = high = a.ulow ^ b.ulow;
    return ft_range_unsigned(bits_of(w), low, high);
}

static ft_range bv_shl(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    (void)wraps;
    if (b.ulow >= w) return ft_range_unsigned(bits_of(w), 0, 0);
    if (b.uhigh >= w || (uwide)a.uhigh << b.uhigh > mask_of(w)) return ft_range_any(bits_of(w));
    return ft_range_unsigned(bits_of(w), a.ulow << b.ulow, a.uhigh << b.uhigh);
}

static ft_range bv_lshr(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    (void)wraps;
    uint64_t low = b.uhigh >= w ? 0 : a.ulow >> b.uhigh;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_SHIFT) && b.ulow < w) low = a.ulow >> b.ulow;
    return ft_range_unsigned(bits_of(w), low, b.ulow >= w ? 0 : a.uhigh >> b.ulow);
}

static wide shifted(wide a, wide by)
{
    return (int64_t)a >> (unsigned)by;
}

static ft_range bv_ashr(ft_range a, ft_range b, unsigned w, unsigned *wraps)
{
    uint64_t least = b.ulow < w ? b.ulow : w - 1, most = b.uhigh < w ? b.uhigh : w - 1;
    hull h = {0};
    (void)wraps;
    corners(&h, shifted, a.low, a.high, (wide)least, (wide)most);
    return ft_range_signed(bits_of(w), (int64_t)h.low, (int64_t)h.high);
}

typedef ft_range (*bits_op)(ft_range a, ft_range b, unsigned width, unsigned *wraps);
static const bits_op BITS[FT_OP_COUNT] = {
    [FT_OP_BVADD] = bv_add,   [FT_OP_BVSUB] = bv_sub,   [FT_OP_BVMUL] = bv_mul,
    [FT_OP_BVUDIV] = bv_udiv, [FT_OP_BVUREM] = bv_urem, [FT_OP_BVSDIV] = bv_sdiv,
    [FT_OP_BVSREM] = bv_srem, [FT_OP_BVAND] = bv_and,   [FT_OP_BVOR] = bv_or,
    [FT_OP_BVXOR] = bv_xor,   [FT_OP_BVSHL] = bv_shl,   [FT_OP_BVLSHR] = bv_lshr,
    [FT_OP_BVASHR] = bv_ashr,
};

/* Operators over bits whose result is not that of an Int operator. */
static bool is_bitwise(ft_op op)
{
    return op >= FT_OP_BVAND && op <= FT_OP_BVASHR;
}

static ft_range bv_not(ft_range a, unsigned w)
{
    ft_sort sort = bits_of(w);
    return both_views(w, ft_range_unsigned(sort, mask_of(w) - a.uhigh, mask_of(w) - a.ulow),
                      ft_range_signed(sort, -1 - a.high, -1 - a.low));
}

static ft_range concatenated(ft_range a, ft_range b, unsigned low_width, unsigned width)
{
    return ft_range_unsigned(bits_of(width), a.ulow << low_width | b.ulow,
                             a.uhigh << low_width | b.uhigh);
}

static ft_range extracted(ft_range a, unsigned high, unsigned low)
{
    unsigned width = high - low + 1;
    uint64_t first = a.ulow >> low, last = a.uhigh >> low;
    if (last - first > mask_of(width)) return ft_range_any(bits_of(width));
    uint64_t from = first & mask_of(width), to = last & mask_of(width);
    if (from > to) return ft_range_any(bits_of(width));
    return ft_range_unsigned(bits_of(width), from, to);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static ft_range equality(ft_sort sort, ft_range a, ft_range b)
{
    if (ft_range_is_empty(ft_range_meet(sort, a, b))) return truth(true, false);
    bool same = ft_range_is_single(a) && ft_range_equal(a, b);
    return truth(!same, true);
}

static ft_range less_signed(ft_range a, ft_range b, bool or_equal)
{
    bool always = or_equal ? high_of(a) <= low_of(b) : high_of(a) < low_of(b);
    bool sometimes = or_equal ? low_of(a) <= high_of(b) : low_of(a) < high_of(b);
    return truth(!always, sometimes);
}

static ft_range less_unsigned(ft_range a, ft_range b, bool or_equal)
{
    bool always = or_equal ? a.uhigh <= b.ulow : a.uhigh < b.ulow;
    bool sometimes = or_equal ? a.ulow <= b.uhigh : a.ulow < b.uhigh;
    return truth(!always, sometimes);
}

/* GT and GE are LT and LE with their arguments exchanged. */
static const struct {
    bool compares, is_unsigned, or_equal, exchanged;
} LESS[FT_OP_COUNT] = {
    [FT_OP_LT] = {true, false, false, false},    [FT_OP_LE] = {true, false, true, false},
    [FT_OP_GT] = {true, false, false, true},     [FT_OP_GE] = {true, false, true, true},
    [FT_OP_BVULT] = {true, true, false, false},  [FT_OP_BVULE] = {true, true, true, false},
    [FT_OP_BVUGT] = {true, true, false, true},   [FT_OP_BVUGE] = {true, true, true, true},
    [FT_OP_BVSLT] = {true, false, false, false}, [FT_OP_BVSLE] = {true, false, true, false},
    [FT_OP_BVSGT] = {true, false, false, true},  [FT_OP_BVSGE] = {true, false, true, true},
};

static ft_range less(ft_op op, ft_range a, ft_range b)
{
    ft_range first = LESS[op].exchanged ? b : a, second = LESS[op].exchanged ? a : b;
    bool bits = op >= FT_OP_BVSLT && op <= FT_OP_BVSGE;
    if (LESS[op].is_unsigned || (bits && ft_interval_fault_is(FT_INTERVAL_FAULT_UNSIGNED)))
        return less_unsigned(first, second, LESS[op].or_equal);
    return less_signed(first, second, LESS[op].or_equal);
}

/* ---- all ------------------------------------------------------------------------------------- */

static ft_range comparison(const ft_term_pool *pool, const ft_term_node *node,
                           const ft_range *children)
{
    ft_sort sort = ft_term_sort(pool, node->children[0]);
    bool may_fail = false, may_hold = true;
    for (uint32_t i = 0; i < node->n_children; i++)
        for (uint32_t k = i + 1; k < node->n_children; k++) {
            if (node->op != FT_OP_DISTINCT && k != i + 1) continue;
            ft_range pair = LESS[node->op].compares ? less(node->op, children[i], children[k])
                                                    : equality(sort, children[i], children[k]);
            if (node->children[i] == node->children[k] && !LESS[node->op].compares)
                pair = truth(false, true);
            if (node->op == FT_OP_DISTINCT) pair = truth(can_hold(pair), can_fail(pair));
            may_fail |= can_fail(pair);
            may_hold &= can_hold(pair);
        }
    return truth(may_fail, may_hold);
}

static ft_range folded(const ft_term_pool *pool, const ft_term_node *node, const ft_range *children,
                       unsigned *wraps)
{
    unsigned width = ft_term_sort(pool, node->children[0]).width;
    ft_range result = children[0];
    for (uint32_t i = 1; i < node->n_children; i++) {
        if (ft_range_is_empty(result)) return result;
        result = BITS[node->op] ? BITS[node->op](result, children[i], width, wraps)
                                : int_binary(node->op, result, children[i]);
    }
    return result;
}

static ft_range exclusive(const ft_range *children, uint32_t n)
{
    ft_range result = children[0];
    for (uint32_t i = 1; i < n; i++) {
        ft_range b = children[i];
        bool differ = (can_hold(result) && can_fail(b)) || (can_fail(result) && can_hold(b));
        bool agree = (can_hold(result) && can_hold(b)) || (can_fail(result) && can_fail(b));
        result = truth(agree, differ);
    }
    return result;
}

static ft_range unary(const ft_term_pool *pool, const ft_term_node *node, ft_range a,
                      unsigned *wraps)
{
    ft_sort from = ft_term_sort(pool, node->children[0]);
    const ft_range zero = {0};
    switch (node->op) {
    case FT_OP_NOT:
        return truth(can_hold(a), can_fail(a));
    case FT_OP_SUB:
        return int_binary(FT_OP_SUB, zero, a);
    case FT_OP_ABS:
        return int_magnitude(a);
    case FT_OP_BVNOT:
        *wraps |= FT_WRAPS_UNSIGNED | FT_WRAPS_SIGNED;
        return bv_not(a, from.width);
    case FT_OP_BVNEG:
        return bv_sub(ft_range_unsigned(from, 0, 0), a, from.width, wraps);
    case FT_OP_EXTRACT:
        return extracted(a, node->index[0], node->index[1]);
    case FT_OP_ZERO_EXTEND:
        return ft_range_unsigned(node->sort, a.ulow, a.uhigh);
    case FT_OP_SIGN_EXTEND:
        return ft_range_signed(node->sort, a.low, a.high);
    default:
        return ft_range_any(node->sort);
    }
}

static ft_range choice(const ft_term_node *node, const ft_range *children)
{
    ft_range result = ft_range_empty();
    if (can_hold(children[0])) result = children[1];
    if (can_fail(children[0])) result = ft_range_join(node->sort, result, children[2]);
    return result;
}

static bool mixes_widths(ft_op op)
{
    return op == FT_OP_CONCAT || op == FT_OP_EXTRACT || op == FT_OP_ZERO_EXTEND ||
           op == FT_OP_SIGN_EXTEND;
}

ft_range ft_range_apply(const ft_term_pool *pool, const ft_term_node *node,
                        const ft_range *children, unsigned *wraps)
{
    FT_REQUIRE(node->n_children > 0 && wraps);
    ft_op op = node->op;
    if (op == FT_OP_ITE) return choice(node, children);
    for (uint32_t i = 0; i < node->n_children; i++)
        if (ft_range_is_empty(children[i])) return ft_range_empty();
    if (is_bitwise(op) || mixes_widths(op)) *wraps |= FT_WRAPS_UNSIGNED | FT_WRAPS_SIGNED;
    if (op == FT_OP_AND || op == FT_OP_OR || op == FT_OP_IMPLIES)
        return connective(op, children, node->n_children);
    if (op == FT_OP_XOR) return exclusive(children, node->n_children);
    if (op == FT_OP_EQ || op == FT_OP_DISTINCT || LESS[op].compares)
        return comparison(pool, node, children);
    if (op == FT_OP_CONCAT)
        return concatenated(children[0], children[1], ft_term_sort(pool, node->children[1]).width,
                            node->sort.width);
    if (node->n_children == 1) return unary(pool, node, children[0], wraps);
    return folded(pool, node, children, wraps);
}
