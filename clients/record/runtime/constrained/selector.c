/* The selectors of later epochs: terms over the program's memory, while its threads stand still; or
 * the schedules that the client has found before the run. */
#include <stddef.h>
#include <string.h>

#include "constrained/constrained.h"
#include "libc/contract.h"

enum { LOST = 2 }; /* of `undefined` */

typedef ft_constrained_term term;

static const term *kid(const term *t, uint32_t i)
{
    return &ft_rt_c.all.terms[ft_rt_c.all.kids[t->first_kid + i]];
}

static uint64_t mask(unsigned width)
{
    enum { BITS = 64 };
    return UINT64_MAX >> (BITS - width);
}

static int64_t as_signed(uint64_t bits, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

/* ---- operators of two arguments, over the first one's width; b of divisions is not 0 */

#define OPERATOR(name, expression)                                                                 \
    static uint64_t name(uint64_t a, uint64_t b, unsigned width)                                   \
    {                                                                                              \
        (void)width;                                                                               \
        return (uint64_t)(expression);                                                             \
    }
#define SIGNED(x) as_signed(x, width)
OPERATOR(xor_, a ^ b)
OPERATOR(add, a + b)
OPERATOR(sub, a - b)
OPERATOR(mul, a *b)
OPERATOR(udiv, a / b)
OPERATOR(urem, a % b)
OPERATOR(sdiv, SIGNED(b) == -1 ? -a : (uint64_t)(SIGNED(a) / SIGNED(b)))
OPERATOR(srem, SIGNED(b) == -1 ? 0 : SIGNED(a) % SIGNED(b))
OPERATOR(and_, a &b)
OPERATOR(or_, a | b)
OPERATOR(shl, b < width ? a << b : 0)
OPERATOR(lshr, b < width ? a >> b : 0)
OPERATOR(ashr, SIGNED(a) >> (b < width ? b : width - 1))
OPERATOR(ult, a < b)
OPERATOR(ule, a <= b)
OPERATOR(slt, SIGNED(a) < SIGNED(b))
OPERATOR(sle, SIGNED(a) <= SIGNED(b))
OPERATOR(ugt, a > b)
OPERATOR(uge, a >= b)
OPERATOR(sgt, SIGNED(a) > SIGNED(b))
OPERATOR(sge, SIGNED(a) >= SIGNED(b))

static uint64_t (*const OPERATORS[FT_CONSTRAINED_TERMS])(uint64_t, uint64_t, unsigned) = {
    [FT_CONSTRAINED_TERM_XOR] = xor_,    [FT_CONSTRAINED_TERM_BVADD] = add,
    [FT_CONSTRAINED_TERM_BVSUB] = sub,   [FT_CONSTRAINED_TERM_BVMUL] = mul,
    [FT_CONSTRAINED_TERM_BVUDIV] = udiv, [FT_CONSTRAINED_TERM_BVUREM] = urem,
    [FT_CONSTRAINED_TERM_BVSDIV] = sdiv, [FT_CONSTRAINED_TERM_BVSREM] = srem,
    [FT_CONSTRAINED_TERM_BVAND] = and_,  [FT_CONSTRAINED_TERM_BVOR] = or_,
    [FT_CONSTRAINED_TERM_BVXOR] = xor_,  [FT_CONSTRAINED_TERM_BVSHL] = shl,
    [FT_CONSTRAINED_TERM_BVLSHR] = lshr, [FT_CONSTRAINED_TERM_BVASHR] = ashr,
    [FT_CONSTRAINED_TERM_BVULT] = ult,   [FT_CONSTRAINED_TERM_BVULE] = ule,
    [FT_CONSTRAINED_TERM_BVUGT] = ugt,   [FT_CONSTRAINED_TERM_BVUGE] = uge,
    [FT_CONSTRAINED_TERM_BVSLT] = slt,   [FT_CONSTRAINED_TERM_BVSLE] = sle,
    [FT_CONSTRAINED_TERM_BVSGT] = sgt,   [FT_CONSTRAINED_TERM_BVSGE] = sge,
};

static bool is_division(unsigned kind)
{
    return kind >= FT_CONSTRAINED_TERM_BVUDIV && kind <= FT_CONSTRAINED_TERM_BVSREM;
}

/* From left to right. */
static void fold(term *t)
{
    uint64_t value = kid(t, 0)->value;
    unsigned width = kid(t, 0)->width;
    for (uint32_t i = 1; i < t->n_kids; i++) {
        uint64_t by = kid(t, i)->value;
        if (is_division(t->kind) && !by) {
            t->undefined = 1;
            return;
        }
        value = OPERATORS[t->kind](value, by, width) & mask(width);
    }
    t->value = value;
}

/* ---- the other operators */

static void read_memory(term *t, uintptr_t at)
{
    t->value = 0;
    memcpy(&t->value, (const void *)at, (t->width + 7u) / 8);
}

/* A local variable, or what lies in it at the offset. */
static void read_local(term *t)
{
    const ft_rt_follower *f = t->thread < FT_RT_C_THREADS ? ft_rt_c.at[t->thread] : NULL;
    const struct ft_rt_frame *frame;
    const ft_constrained_local *local;
    if (!f || !f->frames || !ft_rt_c_local(f->frames, t, &frame, &local) ||
        local->how == FT_CONSTRAINED_NOWHERE) {
        t->undefined = LOST;
        return;
    }
    uintptr_t base = local->base < FT_CONSTRAINED_REGISTERS ? frame->registers[local->base] : 0;
    base += (uintptr_t)local->offset;
    if (local->how == FT_CONSTRAINED_VALUE)
        t->value = base;
    else
        read_memory(t, base + (uintptr_t)t->offset);
}

/* One that has ended by pthread_exit has left its result with the C library alone. */
static void read_result(term *t)
{
    const ft_rt_follower *f = t->thread < FT_RT_C_THREADS ? ft_rt_c.at[t->thread] : NULL;
    t->undefined = f && f->returned ? 0 : LOST;
    if (!t->undefined) t->value = f->result;
}

static void read_cell(term *t)
{
    uintptr_t from = ft_rt_c.base;
    if (t->base == FT_CONSTRAINED_IN_RESULT) {
        read_result(t);
        return;
    }
    if (t->base == FT_CONSTRAINED_IN_FRAME) {
        read_local(t);
        return;
    }
    if (t->base == FT_CONSTRAINED_IN_THREAD) {
        const ft_rt_follower *f = t->thread < FT_RT_C_THREADS ? ft_rt_c.at[t->thread] : NULL;
        if (!f || !f->local) {
            t->undefined = 1;
            return;
        }
        from = f->local;
    }
    if (t->base == FT_CONSTRAINED_IN_OBJECT) from = (uintptr_t)kid(t, 0)->value;
    read_memory(t, from + (uintptr_t)t->offset);
}

/* and, or: the value that decides; =>: only the last argument's may be it as it is. */
static void connect(term *t)
{
    uint64_t deciding = t->kind != FT_CONSTRAINED_TERM_AND;
    t->value = !deciding;
    for (uint32_t i = 0; i < t->n_kids; i++) {
        bool premise = t->kind == FT_CONSTRAINED_TERM_IMPLIES && i + 1 < t->n_kids;
        if (kid(t, i)->value == (premise ? !deciding : deciding)) t->value = deciding;
    }
}

static void compare(term *t)
{
    bool equal = false;
    for (uint32_t i = 0; i < t->n_kids; i++)
        for (uint32_t k = 0; k < i; k++) equal |= kid(t, i)->value == kid(t, k)->value;
    t->value = equal == (t->kind == FT_CONSTRAINED_TERM_EQ);
}

/* The branch that is not taken may be undefined. */
static void choose(term *t)
{
    const term *taken = kid(t, kid(t, 0)->value ? 1 : 2);
    t->undefined = kid(t, 0)->undefined | taken->undefined;
    t->value = taken->value;
}

static void apply(term *t)
{
    const term *a = t->n_kids ? kid(t, 0) : NULL;
    switch ((ft_constrained_term_kind)t->kind) {
    case FT_CONSTRAINED_TERM_LITERAL:
        t->value = t->bits;
        return;
    case FT_CONSTRAINED_TERM_CELL:
        read_cell(t);
        return;
    case FT_CONSTRAINED_TERM_AND:
    case FT_CONSTRAINED_TERM_OR:
    case FT_CONSTRAINED_TERM_IMPLIES:
        connect(t);
        return;
    case FT_CONSTRAINED_TERM_EQ:
    case FT_CONSTRAINED_TERM_DISTINCT:
        compare(t);
        return;
    case FT_CONSTRAINED_TERM_NOT:
    case FT_CONSTRAINED_TERM_BVNOT:
        t->value = ~a->value;
        return;
    case FT_CONSTRAINED_TERM_BVNEG:
        t->value = -a->value;
        return;
    case FT_CONSTRAINED_TERM_CONCAT:
        t->value = a->value << kid(t, 1)->width | kid(t, 1)->value;
        return;
    case FT_CONSTRAINED_TERM_EXTRACT:
        t->value = a->value >> t->low;
        return;
    case FT_CONSTRAINED_TERM_ZERO_EXTEND:
        t->value = a->value;
        return;
    case FT_CONSTRAINED_TERM_SIGN_EXTEND:
        t->value = (uint64_t)as_signed(a->value, a->width);
        return;
    default:
        fold(t);
    }
}

static void evaluate(term *t)
{
    t->undefined = 0;
    if (t->kind == FT_CONSTRAINED_TERM_ITE) {
        choose(t);
    } else {
        for (uint32_t i = 0; i < t->n_kids; i++) t->undefined |= kid(t, i)->undefined;
        if (!t->undefined) apply(t);
    }
    t->value = t->undefined ? 0 : t->value & mask(t->width);
}

/* A run that departs from the foreseen one may come to another epoch. */
static uint32_t foreseen_for(const ft_constrained_epoch *e)
{
    uint32_t n = ft_rt_c.head->begun; /* epochs behind the first, before this one */
    if (n >= ft_rt_c.head->foreseen) return FT_CONSTRAINED_NONE;
    uint32_t schedule = ft_rt_c.all.foreseen[n];
    bool is_of_epoch = schedule - e->first_schedule < e->n_schedules;
    return is_of_epoch ? schedule : FT_CONSTRAINED_NONE;
}

uint32_t ft_rt_c_select(uint32_t number, bool *lost)
{
    FT_REQUIRE(number < ft_rt_c.head->epochs);
    const ft_constrained_epoch *e = &ft_rt_c.all.epochs[number];
    if (e->n_schedules) return foreseen_for(e);
    for (uint32_t i = 0; i < e->n_terms; i++) evaluate(&ft_rt_c.all.terms[e->first_term + i]);
    const ft_constrained_choice *at = &ft_rt_c.all.choices[e->choice];
    while (at->term != FT_CONSTRAINED_NONE) {
        *lost = ft_rt_c.all.terms[at->term].undefined & LOST;
        if (*lost) return FT_CONSTRAINED_NONE;
        at = &ft_rt_c.all.choices[ft_rt_c.all.terms[at->term].value ? at->yes : at->no];
    }
    return at->schedule;
}
