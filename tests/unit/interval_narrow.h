/* Terms over BitVecs that a Z3 session keeps in fewer bits or as Ints, against evaluation: a random
 * term over unknowns in random ranges, and values in them. With the unknowns at those values the
 * session has the term's value, also in its model at the full width, and no other. */
#ifndef INTERVAL_NARROW_H
#define INTERVAL_NARROW_H

#include "interval_operators.h"
#include "solve/session.h"

enum { NARROW_UNKNOWNS = 3, NARROW_SAMPLES = 3 };

typedef struct narrow_counts {
    uint64_t terms, checks, late, integers, narrow, conditions;
} narrow_counts;

typedef struct narrow_case {
    operator_case c; /* its sorts, ranges and values are those of the unknowns */
    ft_session *session;
    ft_expr unknown[NARROW_UNKNOWNS];
    bool linear;      /* operators that Ints have; unknowns are mostly Ints of one view */
    ft_number number; /* that view */
    narrow_counts *counts;
} narrow_case;

static inline ft_term narrow_term(narrow_case *n, uint8_t width, uint32_t depth);

static inline ft_term narrow_apply(narrow_case *n, ft_op op, const ft_term *children,
                                   uint32_t count, const uint32_t *index)
{
    ft_term term;
    ft_error err = FT_ERROR_INIT;
    if (ft_term_apply(n->c.pool, op, children, count, index, &term, &err) == FT_OK) return term;
    fprintf(stderr, "%s: %s\n", ft_op_name(op), err.message);
    abort();
}

static inline ft_term narrow_condition(narrow_case *n, uint8_t width, uint32_t depth)
{
    uint32_t pick = ft_random_below(&n->c.random, 10);
    bool is_signed = n->linear && n->number == FT_NUMBER_SIGNED;
    ft_op op = pick < 8 ? (ft_op)(FT_OP_BVULT + pick) : pick < 9 ? FT_OP_EQ : FT_OP_DISTINCT;
    if (n->linear && pick < 8) op = (is_signed ? FT_OP_BVSLT : FT_OP_BVULT) + pick % 4;
    const ft_term both[2] = {narrow_term(n, width, depth - 1), narrow_term(n, width, depth - 1)};
    return narrow_apply(n, op, both, 2, NULL);
}

/* An operator of another width inside. */
static inline ft_term narrow_resize(narrow_case *n, uint8_t width, uint32_t depth)
{
    uint32_t by = 1 + ft_random_below(&n->c.random, 7), pick = ft_random_below(&n->c.random, 3);
    if (pick == 0 && width + by <= 64) {
        uint32_t low = ft_random_below(&n->c.random, by + 1), index[2] = {width - 1u + low, low};
        ft_term wide = narrow_term(n, (uint8_t)(width + by), depth - 1);
        return narrow_apply(n, FT_OP_EXTRACT, &wide, 1, index);
    }
    if (width <= by) return narrow_term(n, width, 0);
    const ft_term parts[2] = {narrow_term(n, (uint8_t)(width - by), depth - 1),
                              narrow_term(n, (uint8_t)by, depth - 1)};
    const uint32_t index[2] = {by, 0};
    if (pick == 1) return narrow_apply(n, FT_OP_CONCAT, parts, 2, NULL);
    bool zero = ft_random_percent(&n->c.random, 50);
    return narrow_apply(n, zero ? FT_OP_ZERO_EXTEND : FT_OP_SIGN_EXTEND, parts, 1, index);
}

static inline ft_term narrow_leaf(narrow_case *n, uint8_t width)
{
    const ft_sort sort = {FT_SORT_BITVEC, width};
    uint32_t first = ft_random_below(&n->c.random, NARROW_UNKNOWNS);
    for (uint32_t k = 0; k < NARROW_UNKNOWNS; k++) {
        uint32_t i = (first + k) % NARROW_UNKNOWNS;
        if (n->c.sorts[i].width == width && ft_random_percent(&n->c.random, 75))
            return ft_term_symbol(n->c.pool, i, sort);
    }
    return ft_term_literal(n->c.pool, (ft_value){sort, operator_value(&n->c, sort)});
}

static inline ft_term narrow_term(narrow_case *n, uint8_t width, uint32_t depth)
{
    uint32_t pick = ft_random_below(&n->c.random, 20);
    if (depth == 0) return narrow_leaf(n, width);
    if (n->linear && pick < 3) pick = 3;
    if (pick < 3) return narrow_resize(n, width, depth);
    if (pick < 5) {
        const ft_term three[3] = {narrow_condition(n, width, depth),
                                  narrow_term(n, width, depth - 1),
                                  narrow_term(n, width, depth - 1)};
        return narrow_apply(n, FT_OP_ITE, three, 3, NULL);
    }
    if (pick < 6) {
        ft_term one = narrow_term(n, width, depth - 1);
        bool negate = n->linear || ft_random_percent(&n->c.random, 50);
        return narrow_apply(n, negate ? FT_OP_BVNEG : FT_OP_BVNOT, &one, 1, NULL);
    }
    ft_op op = pick < 14 ? (ft_op)(FT_OP_BVADD + pick % 3)
                         : (ft_op)(FT_OP_BVADD + ft_random_below(&n->c.random, 13));
    if (n->linear) op = pick < 19 ? (ft_op)(FT_OP_BVADD + pick % 2) : FT_OP_BVMUL;
    const ft_term both[2] = {narrow_term(n, width, depth - 1),
                             narrow_term(n, width, n->linear && pick == 19 ? 0 : depth - 1)};
    return narrow_apply(n, op, both, 2, NULL);
}

/* Small ranges more often than large ones: there are fewer bits only then. */
static inline void narrow_unknown(narrow_case *n, uint32_t i)
{
    ft_random *random = &n->c.random;
    operator_range(&n->c, (int)i);
    if (ft_random_percent(random, 60)) {
        const ft_sort sort = n->c.sorts[i];
        uint64_t mask = sort.width == 64 ? UINT64_MAX : ((uint64_t)1 << sort.width) - 1;
        n->c.ranges[i] = ft_range_join(
            sort, ft_range_single((ft_value){sort, ft_random_below(random, 20) & mask}),
            ft_range_single((ft_value){sort, ((uint64_t)ft_random_below(random, 24) - 4) & mask}));
    }
    ft_unknown known = {.sort = n->c.sorts[i],
                        .range = n->c.ranges[i],
                        .bounds = ft_random_percent(random, 50),
                        .width = ft_random_percent(random, 70),
                        .number = FT_NUMBER_BITS};
    if (ft_random_percent(random, n->linear ? 90 : 4)) known.number = n->number;
    n->counts->integers += known.number != FT_NUMBER_BITS;
    n->counts->narrow += known.width && ft_range_width(known.range) < known.sort.width;
    n->unknown[i] = ft_session_unknown(n->session, &known);
}

static inline ft_expr narrow_resolve(void *context, ft_symbol symbol)
{
    const narrow_case *n = context;
    return n->unknown[symbol];
}

static inline const char *narrow_name(void *context, ft_symbol symbol)
{
    (void)context;
    return &"x\0y\0z"[2 * symbol];
}

static inline bool narrow_fails(const narrow_case *n, ft_term term, ft_value value,
                                const char *what)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%s: value %llu of ", what, (unsigned long long)value.bits);
    ft_term_print(n->c.pool, term, &(ft_scope){.name = narrow_name}, &text);
    for (int i = 0; i < NARROW_UNKNOWNS; i++)
        ft_strbuf_printf(&text, ", %llu", (unsigned long long)n->c.values[i]);
    snprintf(n->c.why, n->c.size, "%s", ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return false;
}

/* Where Ints become bits again Z3 may be slow. */
static inline ft_answer narrow_check(narrow_case *n, const ft_lit *literals)
{
    ft_answer answer = ft_session_check(n->session, literals, NARROW_UNKNOWNS + 1, 60);
    n->counts->checks++;
    n->counts->late += answer == FT_ANSWER_UNKNOWN;
    return answer;
}

/* With the unknowns at their values, the term has its value and no other. */
static inline bool narrow_agrees(narrow_case *n, ft_term term, ft_expr expression, ft_expr defined)
{
    ft_value value;
    ft_lit literals[NARROW_UNKNOWNS + 1];
    ft_session *s = n->session;
    for (uint32_t i = 0; i < NARROW_UNKNOWNS; i++) operator_sample(&n->c, (int)i);
    if (ft_term_eval(n->c.pool, term, operator_look_up, &n->c, &value) != FT_EVAL_OK) return true;
    for (uint32_t i = 0; i < NARROW_UNKNOWNS; i++) {
        const ft_value at = {n->c.sorts[i], n->c.values[i]};
        if (!ft_range_holds(at.sort, n->c.ranges[i], at.bits)) return true; /* none was found */
        literals[i] =
            ft_session_name(s, ft_session_equal(s, n->unknown[i], ft_session_value(s, at)));
    }
    ft_lit *last = &literals[NARROW_UNKNOWNS];
    *last = ft_session_name(s, ft_session_equal(s, expression, ft_session_value(s, value)));
    ft_answer answer = narrow_check(n, literals);
    if (answer == FT_ANSWER_UNSAT) return narrow_fails(n, term, value, "not possible");
    if (answer == FT_ANSWER_SAT && ft_session_bits(s, expression) != value.bits)
        return narrow_fails(n, term, value, "not the one of the model");
    *last = -*last;
    if (narrow_check(n, literals) == FT_ANSWER_SAT)
        return narrow_fails(n, term, value, "not the only one");
    *last = -ft_session_name(s, defined);
    if (defined && narrow_check(n, literals) == FT_ANSWER_SAT)
        return narrow_fails(n, term, value, "taken for undefined");
    return true;
}

/* False: the session has another value, and `why` says of which term. */
static inline bool narrow_compare_seed(uint64_t seed, narrow_counts *counts, char *why, size_t size)
{
    static const uint8_t widths[] = {1, 3, 4, 5, 8, 8, 9, 12, 32, 64}; /* wide circuits are slow */
    narrow_case n = {.c = {.pool = ft_term_pool_new(), .why = why, .size = size},
                     .session = ft_session_open(FT_SESSION_BOOLEAN_VALUES),
                     .counts = counts};
    ft_expr defined;
    bool fine = true;
    ft_random_init(&n.c.random, seed);
    n.linear = ft_random_percent(&n.c.random, 50);
    n.number = FT_NUMBER_UNSIGNED + ft_random_below(&n.c.random, 2);
    uint8_t width = widths[ft_random_below(&n.c.random, 10)];
    uint32_t depth = width > 12 ? 1 : 2 + ft_random_below(&n.c.random, 2);
    for (uint32_t i = 0; i < NARROW_UNKNOWNS; i++) {
        n.c.sorts[i] = (ft_sort){FT_SORT_BITVEC, width};
        narrow_unknown(&n, i);
    }
    bool condition = ft_random_percent(&n.c.random, 40);
    ft_term term = condition ? narrow_condition(&n, width, depth) : narrow_term(&n, width, depth);
    ft_expr expression = ft_session_term(n.session, n.c.pool, term, narrow_resolve, &n, &defined);
    counts->terms++;
    counts->conditions += condition;
    for (int k = 0; k < NARROW_SAMPLES && fine; k++)
        fine = narrow_agrees(&n, term, expression, defined);
    ft_session_close(n.session);
    ft_term_pool_free(n.c.pool);
    return fine;
}

#endif
