#include <math.h>
#include <string.h>

#include "symbolic/internal.h"

int64_t sym_signed(uint64_t bits, uint8_t width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

/* ---- terms ---- */

ft_term sym_apply(ft_sym_world *w, ft_op op, const ft_term *kids, uint32_t n, uint32_t high,
                  uint32_t low)
{
    uint32_t index[2] = {high, low};
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(w->pool, op, kids, n, index, &made, NULL);
    assert(status == FT_OK); /* sorts are ours */
    (void)status;
    return made;
}

static ft_term two(ft_sym_world *w, ft_op op, ft_term a, ft_term b)
{
    ft_term kids[2] = {a, b};
    return sym_apply(w, op, kids, 2, 0, 0);
}

static ft_term three(ft_sym_world *w, ft_term c, ft_term a, ft_term b)
{
    ft_term kids[3] = {c, a, b};
    return sym_apply(w, FT_OP_ITE, kids, 3, 0, 0);
}

ft_term sym_literal(ft_sym_world *w, uint8_t width, uint64_t bits)
{
    return ft_term_literal(w->pool,
                           (ft_value){{FT_SORT_BITVEC, width}, bits & ft_width_mask(width)});
}

ft_term sym_not(ft_sym_world *w, ft_term t)
{
    return sym_apply(w, FT_OP_NOT, &t, 1, 0, 0);
}

ft_term sym_and(ft_sym_world *w, ft_term a, ft_term b)
{
    return two(w, FT_OP_AND, a, b);
}

static bool is_literal(const ft_sym_world *w, ft_term t, uint64_t *bits)
{
    ft_term_node node = ft_term_get(w->pool, t);
    *bits = node.bits;
    return node.op == FT_OP_LITERAL;
}

/* (ite c L M) of literals, such as a truth value that became a number. */
static bool is_choice_of_literals(const ft_sym_world *w, ft_term t, ft_term *c, uint64_t *l,
                                  uint64_t *m)
{
    ft_term_node node = ft_term_get(w->pool, t);
    if (node.op != FT_OP_ITE) return false;
    *c = node.children[0];
    ft_term yes = node.children[1], no = node.children[2];
    return is_literal(w, yes, l) && is_literal(w, no, m);
}

ft_term sym_truth(ft_sym_world *w, value v)
{
    if (v.term) return v.term;
    return ft_term_literal(w->pool, (ft_value){FT_BOOL_SORT, v.bits & 1});
}

ft_term sym_bits(ft_sym_world *w, value v, uint8_t width)
{
    if (!v.term) return sym_literal(w, width, v.bits);
    if (width > 1) return v.term;
    return three(w, v.term, sym_literal(w, 1, 1), sym_literal(w, 1, 0));
}

/* A Bool as a value. */
static value truth(const ft_sym_world *w, ft_term t)
{
    uint64_t bits;
    if (is_literal(w, t, &bits)) return sym_number(bits);
    return (value){.term = t};
}

/* (= bits n), looking through a choice of literals. */
ft_term sym_is(ft_sym_world *w, ft_term bits, uint64_t n)
{
    ft_term c;
    uint64_t l, m;
    ft_sort sort = ft_term_sort(w->pool, bits);
    if (is_choice_of_literals(w, bits, &c, &l, &m)) {
        if (l == n && m == n) return sym_truth(w, sym_number(1));
        if (l != n && m != n) return sym_truth(w, sym_number(0));
        return l == n ? c : sym_not(w, c);
    }
    return two(w, FT_OP_EQ, bits, sym_literal(w, sort.width, n));
}

value sym_of_bits(ft_sym_world *w, ft_term bits, uint8_t width)
{
    uint64_t number;
    if (is_literal(w, bits, &number)) return sym_number(number);
    if (width > 1) return (value){.term = bits};
    return truth(w, sym_is(w, bits, 1));
}

/* ---- numbers ---- */

static uint64_t divide(ft_code code, uint8_t width, uint64_t a, uint64_t b)
{
    int64_t x = sym_signed(a, width), y = sym_signed(b, width);
    switch (code) {
    case FT_CODE_UDIV:
        return a / b;
    case FT_CODE_UREM:
        return a % b;
    case FT_CODE_SDIV:
        return (uint64_t)(x / y);
    default:
        return (uint64_t)(x % y);
    }
}

static uint64_t compute(ft_code code, uint8_t width, uint64_t a, uint64_t b)
{
    int64_t x = sym_signed(a, width), y = sym_signed(b, width);
    switch (code) {
    case FT_CODE_ADD:
        return a + b;
    case FT_CODE_SUB:
        return a - b;
    case FT_CODE_MUL:
        return a * b;
    case FT_CODE_AND:
        return a & b;
    case FT_CODE_OR:
        return a | b;
    case FT_CODE_XOR:
        return a ^ b;
    case FT_CODE_SHL:
        return a << b;
    case FT_CODE_LSHR:
        return a >> b;
    case FT_CODE_ASHR:
        return (uint64_t)(x >> b);
    case FT_CODE_EQ:
        return a == b;
    case FT_CODE_NE:
        return a != b;
    case FT_CODE_ULT:
        return a < b;
    case FT_CODE_ULE:
        return a <= b;
    case FT_CODE_SLT:
        return x < y;
    case FT_CODE_SLE:
        return x <= y;
    default:
        return divide(code, width, a, b);
    }
}

static bool compares(ft_code code)
{
    return code >= FT_CODE_EQ && code <= FT_CODE_SLE;
}

/* ---- instructions ---- */

static const uint8_t OPERATORS[FT_CODES] = {
    [FT_CODE_ADD] = FT_OP_BVADD,   [FT_CODE_SUB] = FT_OP_BVSUB,   [FT_CODE_MUL] = FT_OP_BVMUL,
    [FT_CODE_UDIV] = FT_OP_BVUDIV, [FT_CODE_SDIV] = FT_OP_BVSDIV, [FT_CODE_UREM] = FT_OP_BVUREM,
    [FT_CODE_SREM] = FT_OP_BVSREM, [FT_CODE_AND] = FT_OP_BVAND,   [FT_CODE_OR] = FT_OP_BVOR,
    [FT_CODE_XOR] = FT_OP_BVXOR,   [FT_CODE_SHL] = FT_OP_BVSHL,   [FT_CODE_LSHR] = FT_OP_BVLSHR,
    [FT_CODE_ASHR] = FT_OP_BVASHR, [FT_CODE_ULT] = FT_OP_BVULT,   [FT_CODE_ULE] = FT_OP_BVULE,
    [FT_CODE_SLT] = FT_OP_BVSLT,   [FT_CODE_SLE] = FT_OP_BVSLE,
};

/* Sums keep their number in one place, (bvadd x n), so that an address minus its object's base is
 * an offset. */
static ft_term sum(ft_sym_world *w, uint8_t width, ft_term a, ft_term b)
{
    uint64_t n = 0, more;
    if (is_literal(w, a, &n)) {
        ft_term t = a;
        a = b;
        b = t;
    }
    if (!is_literal(w, b, &n)) return two(w, FT_OP_BVADD, a, b);
    ft_term_node node = ft_term_get(w->pool, a);
    if (node.op == FT_OP_BVADD && is_literal(w, node.children[1], &more)) {
        a = node.children[0];
        if (!sym_fault_is(SYM_FAULT_SUM_NUMBER)) n += more;
    }
    return two(w, FT_OP_BVADD, a, sym_literal(w, width, n));
}

static value equality(ft_sym_world *w, bool equal, uint8_t width, value a, value b)
{
    ft_term t;
    if (width == 1)
        t = two(w, FT_OP_EQ, sym_truth(w, a), sym_truth(w, b));
    else if (!b.term)
        t = sym_is(w, a.term, b.bits);
    else if (!a.term)
        t = sym_is(w, b.term, a.bits);
    else
        t = two(w, FT_OP_EQ, a.term, b.term);
    return truth(w, equal ? t : sym_not(w, t));
}

/* Of truth values, without bits in between. */
static bool logic(ft_sym_world *w, ft_code code, value a, value b, value *r)
{
    static const uint8_t LOGIC[FT_CODES] = {
        [FT_CODE_AND] = FT_OP_AND, [FT_CODE_MUL] = FT_OP_AND, [FT_CODE_OR] = FT_OP_OR,
        [FT_CODE_XOR] = FT_OP_XOR, [FT_CODE_ADD] = FT_OP_XOR, [FT_CODE_SUB] = FT_OP_XOR};
    if (code == FT_CODE_OR && sym_fault_is(SYM_FAULT_TRUTH_XOR)) code = FT_CODE_XOR;
    if (!LOGIC[code]) return false;
    *r = truth(w, two(w, (ft_op)LOGIC[code], sym_truth(w, a), sym_truth(w, b)));
    return true;
}

value sym_binary(ft_sym_world *w, ft_code code, uint8_t width, value a, value b)
{
    value r;
    if (!a.term && !b.term) {
        uint64_t bits = compute(code, width, a.bits, b.bits);
        return sym_number(compares(code) ? bits : bits & ft_width_mask(width));
    }
    if (code == FT_CODE_EQ || code == FT_CODE_NE)
        return equality(w, code == FT_CODE_EQ, width, a, b);
    if (width == 1 && logic(w, code, a, b, &r)) return r;
    ft_term x = sym_bits(w, a, width), y = sym_bits(w, b, width);
    if (code == FT_CODE_ADD) return sym_of_bits(w, sum(w, width, x, y), width);
    if (code == FT_CODE_SUB && !b.term)
        return sym_of_bits(w, sum(w, width, x, sym_literal(w, width, -b.bits)), width);
    if (code == FT_CODE_SLT && sym_fault_is(SYM_FAULT_UNSIGNED_LESS)) code = FT_CODE_ULT;
    if (code == FT_CODE_ULE && sym_fault_is(SYM_FAULT_OR_EQUAL)) code = FT_CODE_ULT;
    if (code == FT_CODE_ASHR && sym_fault_is(SYM_FAULT_LOGICAL_SHIFT)) code = FT_CODE_LSHR;
    ft_term t = two(w, (ft_op)OPERATORS[code], x, y);
    return compares(code) ? truth(w, t) : sym_of_bits(w, t, width);
}

/* The bits from low on, through sums of parts and choices of literals. */
ft_term sym_extract(ft_sym_world *w, ft_term t, uint32_t high, uint32_t low)
{
    ft_term c;
    uint64_t l, m;
    ft_term_node node = ft_term_get(w->pool, t);
    uint8_t width = (uint8_t)(high - low + 1);
    if (width == node.sort.width) return t;
    if (is_choice_of_literals(w, t, &c, &l, &m))
        return three(w, c, sym_literal(w, width, l >> low), sym_literal(w, width, m >> low));
    if (node.op == FT_OP_EXTRACT)
        return sym_extract(w, node.children[0], high + node.index[1], low + node.index[1]);
    if (node.op == FT_OP_ZERO_EXTEND || node.op == FT_OP_SIGN_EXTEND) {
        uint8_t of = ft_term_sort(w->pool, node.children[0]).width;
        if (high < of) return sym_extract(w, node.children[0], high, low);
        if (low >= of && node.op == FT_OP_ZERO_EXTEND) return sym_literal(w, width, 0);
    }
    return sym_apply(w, FT_OP_EXTRACT, &t, 1, high, low);
}

static ft_term extended(ft_sym_world *w, ft_op op, ft_term t, uint8_t from, uint8_t width)
{
    ft_term c;
    uint64_t l, m;
    if (sym_fault_is(SYM_FAULT_NO_SIGN)) op = FT_OP_ZERO_EXTEND;
    bool sign = op == FT_OP_SIGN_EXTEND;
    if (!is_choice_of_literals(w, t, &c, &l, &m))
        return sym_apply(w, op, &t, 1, (uint32_t)(width - from), 0);
    if (sign) l = (uint64_t)sym_signed(l, from), m = (uint64_t)sym_signed(m, from);
    return three(w, c, sym_literal(w, width, l), sym_literal(w, width, m));
}

value sym_unary(ft_sym_world *w, ft_code code, uint8_t from, uint8_t width, value a)
{
    if (!a.term) {
        uint64_t bits = code == FT_CODE_SEXT ? (uint64_t)sym_signed(a.bits, from) : a.bits;
        return sym_number(bits & ft_width_mask(width));
    }
    ft_term t = sym_bits(w, a, from);
    uint32_t low =
        sym_fault_is(SYM_FAULT_HIGH_PART) && code == FT_CODE_TRUNC ? (uint32_t)(from - width) : 0;
    if (code == FT_CODE_TRUNC)
        return sym_of_bits(w, sym_extract(w, t, low + width - 1u, low), width);
    return sym_of_bits(
        w,
        extended(w, code == FT_CODE_SEXT ? FT_OP_SIGN_EXTEND : FT_OP_ZERO_EXTEND, t, from, width),
        width);
}

value sym_choice(ft_sym_world *w, ft_term condition, value a, value b, uint8_t width)
{
    uint64_t bits;
    if (sym_fault_is(SYM_FAULT_OTHER_CHOICE)) condition = sym_not(w, condition);
    if (is_literal(w, condition, &bits)) return bits ? a : b;
    if (!a.term && !b.term && a.bits == b.bits) return sym_number(a.bits);
    if (width == 1) return truth(w, three(w, condition, sym_truth(w, a), sym_truth(w, b)));
    return sym_of_bits(w, three(w, condition, sym_bits(w, a, width), sym_bits(w, b, width)), width);
}

value sym_update(ft_sym_world *w, ft_update update, uint8_t width, value v, value x)
{
    static const ft_code CODES[FT_UPDATES] = {
        [FT_UPDATE_ADD] = FT_CODE_ADD, [FT_UPDATE_SUB] = FT_CODE_SUB,
        [FT_UPDATE_AND] = FT_CODE_AND, [FT_UPDATE_OR] = FT_CODE_OR,
        [FT_UPDATE_XOR] = FT_CODE_XOR, [FT_UPDATE_NAND] = FT_CODE_AND};
    bool sign = (update == FT_UPDATE_SMAX && !sym_fault_is(SYM_FAULT_SIGNED_MAX)) ||
                update == FT_UPDATE_SMIN;
    if (update == FT_UPDATE_NAND && sym_fault_is(SYM_FAULT_NAND_IS_AND)) update = FT_UPDATE_AND;
    switch (update) {
    case FT_UPDATE_EXCHANGE:
        return x;
    case FT_UPDATE_SMAX:
    case FT_UPDATE_UMAX: /* v where x < v */
    case FT_UPDATE_SMIN:
    case FT_UPDATE_UMIN: {
        bool least = update == FT_UPDATE_SMIN || update == FT_UPDATE_UMIN;
        value less = sym_binary(w, sign ? FT_CODE_SLT : FT_CODE_ULT, width, x, v);
        return sym_choice(w, sym_truth(w, less), least ? x : v, least ? v : x, width);
    }
    case FT_UPDATE_NAND:
        return sym_binary(w, FT_CODE_XOR, width, sym_binary(w, FT_CODE_AND, width, v, x),
                          sym_number(ft_width_mask(width)));
    default:
        return sym_binary(w, CODES[update], width, v, x);
    }
}

ft_term sym_goes_wrong(ft_sym_world *w, ft_code code, uint8_t width, value a, value b, bool *wrong)
{
    uint64_t least = UINT64_C(1) << (width - 1), ones = ft_width_mask(width);
    bool divides = code >= FT_CODE_UDIV && code <= FT_CODE_SREM;
    bool sign = code == FT_CODE_SDIV || code == FT_CODE_SREM;
    bool shifts = code == FT_CODE_SHL || code == FT_CODE_LSHR || code == FT_CODE_ASHR;
    *wrong = false;
    if (!divides && !shifts) return FT_NO_TERM;
    if (!a.term && !b.term) {
        *wrong = shifts ? b.bits >= width : !b.bits || (sign && a.bits == least && b.bits == ones);
        return FT_NO_TERM;
    }
    ft_term y = sym_bits(w, b, width);
    ft_op far = sym_fault_is(SYM_FAULT_SHIFT_FAR) ? FT_OP_BVUGT : FT_OP_BVUGE;
    if (shifts) return two(w, far, y, sym_literal(w, width, width));
    ft_term zero = sym_is(w, y, sym_fault_is(SYM_FAULT_DIVIDES_ZERO) ? 2 : 0);
    if (!sign || sym_fault_is(SYM_FAULT_DIVIDES_LEAST)) return zero;
    ft_term over = sym_and(w, sym_is(w, sym_bits(w, a, width), least), sym_is(w, y, ones));
    return two(w, FT_OP_OR, zero, over);
}

unsigned sym_multiple(const ft_term_pool *pool, ft_term t, uint64_t *rest)
{
    ft_term_node node = ft_term_get(pool, t);
    uint64_t r0 = 0, r1 = 0;
    unsigned k0, k1, least;
    *rest = 0;
    switch (node.op) {
    case FT_OP_LITERAL:
        *rest = node.bits;
        return 64;
    case FT_OP_BVADD:
        k0 = sym_multiple(pool, node.children[0], &r0);
        k1 = sym_multiple(pool, node.children[1], &r1);
        least = k0 < k1 ? k0 : k1;
        *rest = r0 + r1;
        break;
    case FT_OP_BVMUL: /* by 2^k */
    case FT_OP_BVSHL: {
        ft_term_node by = ft_term_get(pool, node.children[1]);
        k0 = sym_multiple(pool, node.children[0], &r0);
        if (by.op != FT_OP_LITERAL) return 0;
        unsigned zeros = node.op == FT_OP_BVSHL ? (unsigned)by.bits
                         : by.bits              ? (unsigned)__builtin_ctzll(by.bits)
                                                : 64;
        if (zeros >= 64) return 0;
        least = k0 + zeros > 64 ? 64 : k0 + zeros;
        *rest = node.op == FT_OP_BVSHL ? r0 << zeros : r0 * by.bits;
        break;
    }
    case FT_OP_ZERO_EXTEND:
    case FT_OP_SIGN_EXTEND: {
        unsigned of = ft_term_sort(pool, node.children[0]).width;
        least = sym_multiple(pool, node.children[0], rest);
        if (least > of) least = of;
        break;
    }
    default:
        return 0;
    }
    if (least > node.sort.width) least = node.sort.width;
    if (least < 64) *rest &= (UINT64_C(1) << least) - 1;
    return least;
}

/* ---- floats, of numbers ---- */

static double as_double(uint8_t width, uint64_t bits)
{
    union {
        uint64_t u;
        double d;
    } wide = {.u = bits};
    union {
        uint32_t u;
        float f;
    } narrow = {.u = (uint32_t)bits};
    return width == 64 ? wide.d : (double)narrow.f;
}

static uint64_t of_double(uint8_t width, double d)
{
    union {
        double d;
        uint64_t u;
    } wide = {.d = d};
    union {
        float f;
        uint32_t u;
    } narrow = {.f = (float)d};
    return width == 64 ? wide.u : narrow.u;
}

static bool whole(ft_code code, uint8_t width, double a, uint64_t *r)
{
    double t = trunc(a), most = ldexp(1, code == FT_CODE_FTOS ? width - 1 : width);
    if (!(t < most && t >= (code == FT_CODE_FTOS ? -most : 0))) return false;
    *r = code == FT_CODE_FTOS ? (uint64_t)(int64_t)t : (uint64_t)t;
    *r &= ft_width_mask(width);
    return true;
}

static uint64_t of_whole(ft_code code, uint8_t from, uint8_t width, uint64_t a)
{
    bool sign = code == FT_CODE_STOF;
    int64_t x = sym_signed(a, from);
    if (width == 64) return of_double(64, sign ? (double)x : (double)a);
    union {
        float f;
        uint32_t u;
    } narrow = {.f = sign ? (float)x : (float)a};
    return narrow.u;
}

bool sym_float(ft_code code, uint8_t from, uint8_t width, uint64_t a, uint64_t b, uint64_t *r)
{
    double x = as_double(from, a), y = as_double(from, b);
    switch (code) {
    case FT_CODE_FADD:
        return *r = of_double(width, x + y), true;
    case FT_CODE_FSUB:
        return *r = of_double(width, x - y), true;
    case FT_CODE_FMUL:
        return *r = of_double(width, x * y), true;
    case FT_CODE_FDIV:
        return *r = of_double(width, x / y), true;
    case FT_CODE_FREM:
        return *r = of_double(width, fmod(x, y)), true;
    case FT_CODE_FEQ:
        return *r = x == y, true;
    case FT_CODE_FLT:
        return *r = x < y, true;
    case FT_CODE_FLE:
        return *r = x <= y, true;
    case FT_CODE_FNAN:
        return *r = isnan(x) || isnan(y), true;
    case FT_CODE_FTOF:
        return *r = of_double(width, x), true;
    case FT_CODE_FTOS:
    case FT_CODE_FTOU:
        return whole(code, width, x, r);
    default:
        return *r = of_whole(code, from, width, a), true;
    }
}
