/* The transfer functions against evaluation: a random operator over random ranges, and values in
 * them. What the operator makes of the values lies in what it makes of the ranges; a condition that
 * has a value there leaves them in the ranges that it is refined to. */
#ifndef INTERVAL_OPERATORS_H
#define INTERVAL_OPERATORS_H

#include <stdio.h>

#include "oracle/generate.h"
#include "reduce/intervals/evaluate.h"

enum { OPERANDS = 4, SAMPLES = 12 };

typedef struct operator_case {
    ft_random random;
    ft_term_pool *pool;
    ft_sort sorts[OPERANDS];
    ft_range ranges[OPERANDS];
    uint64_t values[OPERANDS];
    ft_op op;
    char *why;
    size_t size;
} operator_case;

static inline uint64_t operator_bits(operator_case *c)
{
    uint64_t high = ft_random_below(&c->random, UINT32_MAX),
             low = ft_random_below(&c->random, UINT32_MAX);
    return high << 32 | low;
}

/* Small, at a limit of 64 bits or of the width, or anything. */
static inline uint64_t operator_value(operator_case *c, ft_sort sort)
{
    uint64_t mask = sort.kind != FT_SORT_BITVEC || sort.width == 64
                        ? UINT64_MAX
                        : ((uint64_t)1 << sort.width) - 1;
    uint64_t small = (uint64_t)ft_random_below(&c->random, 9) - 4;
    if (sort.kind == FT_SORT_BOOL) return ft_random_below(&c->random, 2);
    switch (ft_random_below(&c->random, 5)) {
    case 0:
        return operator_bits(c) & mask;
    case 1:
        return ((mask >> 1) + small) & mask;
    case 2:
        return ((uint64_t)ft_random_below(&c->random, 70)) & mask;
    default:
        return small & mask;
    }
}

static inline void operator_range(operator_case *c, int i)
{
    c->ranges[i] = ft_range_empty();
    for (uint32_t k = 1 + ft_random_below(&c->random, 3); k > 0; k--)
        c->ranges[i] =
            ft_range_join(c->sorts[i], c->ranges[i],
                          ft_range_single((ft_value){c->sorts[i], operator_value(c, c->sorts[i])}));
    if (ft_random_percent(&c->random, 10)) c->ranges[i] = ft_range_any(c->sorts[i]);
}

/* A value of the range: its ends, or one that happens to lie in it. */
static inline void operator_sample(operator_case *c, int i)
{
    ft_range r = c->ranges[i];
    bool bits = c->sorts[i].kind == FT_SORT_BITVEC;
    uint64_t mask =
        bits && c->sorts[i].width < 64 ? ((uint64_t)1 << c->sorts[i].width) - 1 : UINT64_MAX;
    for (int k = 0; k < 40; k++) {
        uint64_t near = (uint64_t)ft_random_below(&c->random, 4);
        const uint64_t tries[] = {
            (uint64_t)r.low + near, (uint64_t)r.high - near, bits ? r.ulow + near : (uint64_t)r.low,
            bits ? r.uhigh - near : (uint64_t)r.high, operator_value(c, c->sorts[i])};
        c->values[i] = tries[ft_random_below(&c->random, 5)] & mask;
        if (ft_range_holds(c->sorts[i], r, c->values[i])) return;
    }
    c->values[i] = (uint64_t)r.low & mask;
}

static inline bool operator_look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const operator_case *c = context;
    *value = (ft_value){c->sorts[symbol], c->values[symbol]};
    return true;
}

static inline ft_sort operator_sort(operator_case *c, ft_op op, int i)
{
    static const uint8_t widths[] = {1, 2, 5, 8, 16, 31, 32, 33, 63, 64};
    bool equality = op == FT_OP_EQ || op == FT_OP_DISTINCT || op == FT_OP_ITE;
    if (op == FT_OP_ITE && i == 0) return FT_BOOL_SORT;
    if (i > 0 && !(op == FT_OP_ITE && i == 1) && op != FT_OP_CONCAT) return c->sorts[i - 1];
    uint8_t width = widths[ft_random_below(&c->random, op == FT_OP_CONCAT ? 6 : 10)];
    uint32_t pick = ft_random_below(&c->random, 3);
    if (equality && pick == 0) return FT_BOOL_SORT;
    if ((equality && pick == 1) || (op >= FT_OP_ADD && op <= FT_OP_GE)) return FT_INT_SORT;
    if (op < FT_OP_ITE) return FT_BOOL_SORT;
    if ((op == FT_OP_ZERO_EXTEND || op == FT_OP_SIGN_EXTEND) && width > 56) width = 8;
    return (ft_sort){FT_SORT_BITVEC, width};
}

static inline uint32_t operator_arity(operator_case *c, ft_op op)
{
    if (op == FT_OP_NOT || op == FT_OP_ABS || op == FT_OP_BVNOT || op == FT_OP_BVNEG ||
        op >= FT_OP_EXTRACT)
        return 1;
    if (op == FT_OP_SUB && ft_random_percent(&c->random, 20)) return 1;
    if (op == FT_OP_ITE) return 3;
    bool many = op == FT_OP_AND || op == FT_OP_OR || op == FT_OP_ADD || op == FT_OP_MUL ||
                op == FT_OP_DISTINCT || op == FT_OP_IMPLIES;
    return many ? 2 + ft_random_below(&c->random, 2) : 2;
}

static inline bool operator_term(operator_case *c, uint32_t n, ft_term *term)
{
    ft_term children[OPERANDS];
    uint32_t index[2] = {0};
    for (uint32_t i = 0; i < n; i++) {
        c->sorts[i] = operator_sort(c, c->op, (int)i);
        children[i] = ft_term_symbol(c->pool, i, c->sorts[i]);
    }
    if (n == 2 && c->op != FT_OP_CONCAT && ft_random_percent(&c->random, 5))
        children[1] = children[0];
    if (c->op == FT_OP_EXTRACT) {
        index[1] = ft_random_below(&c->random, c->sorts[0].width);
        index[0] = index[1] + ft_random_below(&c->random, c->sorts[0].width - index[1]);
    }
    if (c->op > FT_OP_EXTRACT) index[0] = 1 + ft_random_below(&c->random, 8);
    ft_error err = FT_ERROR_INIT;
    return ft_term_apply(c->pool, c->op, children, n, index, term, &err) == FT_OK;
}

static inline bool operator_fails(const operator_case *c, const char *what, uint32_t n,
                                  ft_sort sort, ft_range range)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%s of %s: (", what, ft_op_name(c->op));
    for (uint32_t i = 0; i < n; i++) {
        ft_strbuf_printf(&text, "%lld in ", (long long)c->values[i]);
        ft_range_print(c->sorts[i], c->ranges[i], &text);
        ft_strbuf_puts(&text, i + 1 < n ? ", " : ") gives ");
    }
    ft_range_print(sort, range, &text);
    snprintf(c->why, c->size, "%s", ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return false;
}

/* Values that the condition has, in the ranges that are left. */
static inline bool operator_compare_refined(operator_case *c, ft_evaluation *v, ft_term term,
                                            uint32_t n, bool value)
{
    ft_range rest[OPERANDS];
    for (uint32_t i = 0; i < n; i++) rest[i] = c->ranges[i];
    ft_evaluation_move(v, rest);
    bool possible = ft_refine(v, term, value);
    for (uint32_t i = 0; i < n; i++)
        if (!possible || !ft_range_holds(c->sorts[i], rest[i], c->values[i]))
            return operator_fails(c, value ? "refinement to true" : "refinement to false", n,
                                  c->sorts[i], possible ? rest[i] : ft_range_empty());
    return true;
}

static inline bool operator_compare(operator_case *c, ft_term term, uint32_t n)
{
    const uint32_t slots[OPERANDS] = {0, 1, 2, 3};
    ft_evaluation v;
    bool fine = true;
    ft_evaluation_init(&v, c->pool, ft_intervals_domain(), NULL);
    v.shared_slot = slots;
    for (int k = 0; k < SAMPLES && fine; k++) {
        ft_value value;
        if (k % 4 == 0)
            for (uint32_t i = 0; i < n; i++) operator_range(c, (int)i);
        for (uint32_t i = 0; i < n; i++) operator_sample(c, (int)i);
        if (ft_term_eval(c->pool, term, operator_look_up, c, &value) != FT_EVAL_OK) continue;
        ft_evaluation_move(&v, c->ranges);
        ft_range range = ft_evaluate(&v, term);
        if (ft_range_is_empty(range) || !ft_range_holds(value.sort, range, value.bits))
            fine = operator_fails(c, "range", n, value.sort, range);
        if (fine && value.sort.kind == FT_SORT_BOOL)
            fine = operator_compare_refined(c, &v, term, n, value.bits != 0);
    }
    ft_evaluation_release(&v);
    return fine;
}

/* False: a value is missed, and `why` says which. */
static inline bool operator_compare_seed(uint64_t seed, char *why, size_t size)
{
    operator_case c = {.pool = ft_term_pool_new(), .why = why, .size = size};
    ft_random_init(&c.random, seed);
    bool fine = true;
    for (int op = FT_OP_NOT; op < FT_OP_COUNT && fine; op++) {
        ft_term term;
        c.op = (ft_op)op;
        uint32_t n = operator_arity(&c, c.op);
        if (operator_term(&c, n, &term)) fine = operator_compare(&c, term, n);
    }
    ft_term_pool_free(c.pool);
    return fine;
}

#endif
