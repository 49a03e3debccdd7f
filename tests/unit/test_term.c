/* Terms: reader, printer, sort checker, evaluator and simplifier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <z3.h>

#include "base/memory.h"
#include "term/term.h"

/* ---- variables of the tests ---- */

static const struct {
    const char *name;
    ft_sort sort;
} VARIABLES[] = {
    {"x", {FT_SORT_INT, 0}},     {"y", {FT_SORT_INT, 0}},           {"z", {FT_SORT_INT, 0}},
    {"b", {FT_SORT_BOOL, 0}},    {"c", {FT_SORT_BOOL, 0}},          {"v", {FT_SORT_BITVEC, 8}},
    {"w", {FT_SORT_BITVEC, 8}},  {"s", {FT_SORT_BITVEC, 5}},        {"t", {FT_SORT_BITVEC, 64}},
    {"u", {FT_SORT_BITVEC, 64}}, {"a[0].f|g\\h", {FT_SORT_INT, 0}}, {"let", {FT_SORT_INT, 0}},
    {"??1", {FT_SORT_INT, 0}},
};
enum { N_VARIABLES = sizeof VARIABLES / sizeof *VARIABLES, N_PLAIN = 10 };

static bool resolve(void *context, const char *name, size_t length, ft_symbol *symbol,
                    ft_sort *sort)
{
    (void)context;
    for (uint32_t i = 0; i < N_VARIABLES; i++) {
        if (strlen(VARIABLES[i].name) != length || memcmp(VARIABLES[i].name, name, length) != 0)
            continue;
        *symbol = FT_SYM_SHARED(i);
        *sort = VARIABLES[i].sort;
        return true;
    }
    return false;
}

static const char *name_of(void *context, ft_symbol symbol)
{
    (void)context;
    return VARIABLES[FT_SYM_INDEX(symbol)].name;
}

static const ft_scope SCOPE = {.resolve = resolve, .name = name_of};

/* Values by variable; `have` says which are known. */
typedef struct assignment {
    uint64_t bits[N_VARIABLES];
    bool have[N_VARIABLES];
} assignment;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const assignment *a = context;
    if (!a->have[symbol]) return false;
    *value = (ft_value){VARIABLES[symbol].sort, a->bits[symbol]};
    return true;
}

static ft_term_pool *pool;

static int set_up(void **state)
{
    (void)state;
    pool = ft_term_pool_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ft_term_pool_free(pool);
    return 0;
}

static ft_term parse(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_term term = FT_NO_TERM;
    if (ft_term_parse(pool, text, strlen(text), &SCOPE, &term, &err) != FT_OK)
        fail_msg("%s: column %d: %s", text, (int)err.column, err.message);
    assert_int_not_equal(term, FT_NO_TERM);
    return term;
}

static void expect_print(const char *text, const char *expected)
{
    ft_strbuf out = {0};
    ft_term_print(pool, parse(text), &SCOPE, &out);
    assert_string_equal(ft_strbuf_text(&out), expected);
    ft_strbuf_release(&out);
}

static void expect_error(const char *text, ft_status code, unsigned column, const char *part)
{
    ft_error err = FT_ERROR_INIT;
    ft_term term = 4711;
    ft_status status = ft_term_parse(pool, text, strlen(text), &SCOPE, &term, &err);
    if (status != code || err.column != column || !strstr(err.message, part))
        fail_msg("%s: got %d, column %d, `%s'; wanted %d, column %u, `%s'", text, status,
                 (int)err.column, err.message, code, column, part);
    assert_int_equal(err.line, 1);
    assert_int_equal(term, 4711);
}

/* x = 7, y = -7, z = 2, b = true; c unknown; v = 0x8c (-116), w = 3, s unknown, t = 2^63, u unknown
 */
static assignment usual(void)
{
    assignment a = {.bits = {7, (uint64_t)-7, 2, 1, 0, 0x8c, 3, 0, (uint64_t)1 << 63},
                    .have = {true, true, true, true, false, true, true, false, true}};
    return a;
}

static ft_eval_status eval(const char *text, ft_value *value)
{
    assignment a = usual();
    return ft_term_eval(pool, parse(text), look_up, &a, value);
}

static void expect_eval(const char *text, const char *expected)
{
    ft_value value = {{0, 0}, 0};
    ft_strbuf out = {0};
    ft_eval_status status = eval(text, &value);
    if (status != FT_EVAL_OK) fail_msg("%s: status %d", text, status);
    ft_value_print(value, &out);
    if (strcmp(ft_strbuf_text(&out), expected) != 0)
        fail_msg("%s is %s, not %s", text, ft_strbuf_text(&out), expected);
    ft_strbuf_release(&out);
}

static void expect_status(const char *text, ft_eval_status expected)
{
    ft_value value;
    ft_eval_status status = eval(text, &value);
    if (status != expected) fail_msg("%s: status %d, not %d", text, status, expected);
}

/* ---- sorts and values ---- */

static void test_sorts(void **state)
{
    static const char *const GOOD[][2] = {{"Bool", "Bool"},
                                          {" Int ", "Int"},
                                          {"(_ BitVec 32)", "(_ BitVec 32)"},
                                          {"BitVec 1", "(_ BitVec 1)"},
                                          {"( _  BitVec 64 )", "(_ BitVec 64)"}};
    static const char *const BAD[] = {"",          "bool",           "Int Int",          "BitVec 0",
                                      "BitVec 65", "(_ BitVec 8",    "BitVec 8)",        "BitVec x",
                                      "Real",      "(_ BitVec 8) 9", "BitVec 4294967297"};
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        ft_sort sort;
        ft_strbuf out = {0};
        assert_int_equal(ft_sort_parse(GOOD[i][0], strlen(GOOD[i][0]), &sort, NULL), FT_OK);
        ft_sort_print(sort, &out);
        assert_string_equal(ft_strbuf_text(&out), GOOD[i][1]);
        ft_strbuf_release(&out);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_sort sort;
        ft_error err = FT_ERROR_INIT;
        if (ft_sort_parse(BAD[i], strlen(BAD[i]), &sort, &err) != FT_INPUT)
            fail_msg("sort `%s' was accepted", BAD[i]);
        assert_true(err.message[0]);
    }
}

static const ft_sort INT = {FT_SORT_INT, 0}, BOOL = {FT_SORT_BOOL, 0}, BV8 = {FT_SORT_BITVEC, 8},
                     BV3 = {FT_SORT_BITVEC, 3}, BV64 = {FT_SORT_BITVEC, 64};

static void test_values(void **state)
{
    const struct {
        const char *text;
        ft_sort sort;
        const char *printed; /* NULL: refused */
    } rows[] = {
        {"true", BOOL, "true"},
        {"false", BOOL, "false"},
        {"1", BOOL, NULL},
        {"5", INT, "5"},
        {"-5", INT, "(- 5)"},
        {"(- 5)", INT, "(- 5)"},
        {"-9223372036854775808", INT, "(- 9223372036854775808)"},
        {"9223372036854775807", INT, "9223372036854775807"},
        {"9223372036854775808", INT, NULL},
        {"-9223372036854775809", INT, NULL},
        {"99999999999999999999", INT, NULL},
        {"", INT, NULL},
        {"-", INT, NULL},
        {"5x", INT, NULL},
        {"(- 5", INT, NULL},
        {"#x2a", BV8, "#x2a"},
        {"#x2A", BV8, "#x2a"},
        {"#x02a", BV8, NULL},
        {"#b101", BV3, "#b101"},
        {"#b102", BV3, NULL},
        {"255", BV8, "#xff"},
        {"256", BV8, NULL},
        {"-128", BV8, "#x80"},
        {"-129", BV8, NULL},
        {"(_ bv7 3)", BV3, "#b111"},
        {"(_ bv8 3)", BV3, NULL},
        {"(_ bv7 8)", BV3, NULL},
        {"18446744073709551615", BV64, "#xffffffffffffffff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ft_value value;
        ft_strbuf out = {0};
        ft_status status =
            ft_value_parse(rows[i].text, strlen(rows[i].text), rows[i].sort, &value, NULL);
        if ((status == FT_OK) != (rows[i].printed != NULL)) fail_msg("value `%s'", rows[i].text);
        if (status != FT_OK) continue;
        ft_value_print(value, &out);
        assert_string_equal(ft_strbuf_text(&out), rows[i].printed);
        ft_strbuf_release(&out);
    }
}

/* ---- reader and printer ---- */

static void test_print(void **state)
{
    (void)state;
    expect_print("(> x   (+ y 2))", "(> x (+ y 2))");
    expect_print("(and b c (not b))", "(and b c (not b))");
    expect_print("(- x)", "(- x)");
    expect_print("(- 5)", "(- 5)");
    expect_print("( -  9223372036854775808 )", "(- 9223372036854775808)");
    expect_print("(ite b x (- y))", "(ite b x (- y))");
    expect_print("((_ extract 7 4) v)", "((_ extract 7 4) v)");
    expect_print("((_ zero_extend 3) s)", "((_ zero_extend 3) s)");
    expect_print("((_ sign_extend 56) v)", "((_ sign_extend 56) v)");
    expect_print("(bvadd v #x01)", "(bvadd v #x01)");
    expect_print("(bvadd v (_ bv200 8))", "(bvadd v #xc8)");
    expect_print("(bvxor s #b10101)", "(bvxor s #b10101)");
    expect_print("(+ |x| |a[0].f\\|g\\\\h|)", "(+ x |a[0].f\\|g\\\\h|)");
    expect_print("(+ |let| x) ; a comment", "(+ |let| x)");
    expect_print("(let ((q (+ x 1)) (x y)) (< q x))", "(< (+ x 1) y)");
    expect_print("(let ((x y)) (let ((x (+ x 1))) (* x x)))", "(* (+ y 1) (+ y 1))");
    expect_print("(+ (let ((x y)) x) x)", "(+ y x)");
    expect_print("(let ((true c)) (and true b))", "(and c b)");
}

static void test_grouping(void **state)
{
    (void)state;
    expect_print("(< x y z)", "(and (< x y) (< y z))");
    expect_print("(= x y z)", "(and (= x y) (= y z))");
    expect_print("(- x y z)", "(- x y z)");
    expect_print("(div x y z)", "(div (div x y) z)");
    expect_print("(=> b c (= x y))", "(=> b (=> c (= x y)))");
    expect_print("(xor b c (= x y))", "(xor (xor b c) (= x y))");
    expect_print("(bvadd v w v)", "(bvadd (bvadd v w) v)");
    expect_print("(concat v s w)", "(concat (concat v s) w)");
    expect_print("(distinct x y z)", "(distinct x y z)");
}

static void test_hash_consing(void **state)
{
    (void)state;
    ft_term a = parse("(and (> x 3) (= v #x03))");
    uint32_t count = ft_term_pool_count(pool);
    assert_int_equal(parse("(and  (> x 3) (= v (_ bv3 8)))"), a);
    assert_int_equal(ft_term_pool_count(pool), count);
    for (ft_term t = 1; t <= count; t++) {
        ft_term_node node = ft_term_get(pool, t);
        for (uint32_t i = 0; i < node.n_children; i++) assert_true(node.children[i] < t);
    }
    assert_int_not_equal(parse("(= v #x03)"), parse("(= x 3)"));
}

static void test_errors(void **state)
{
    (void)state;
    expect_error("", FT_INPUT, 1, "empty");
    expect_error("(> foo 1)", FT_INPUT, 4, "unknown variable `foo'");
    expect_error("(> x -1)", FT_INPUT, 6, "(- 1)");
    expect_error("(+ x b)", FT_INPUT, 6, "`+' needs Int arguments, argument 2 is Bool");
    expect_error("(and b (not x))", FT_INPUT, 13, "`not' needs Bool arguments, argument 1 is Int");
    expect_error("(bvadd v s)", FT_INPUT, 10, "(_ BitVec 5)");
    expect_error("(= x b)", FT_INPUT, 6, "one sort");
    expect_error("(ite x y z)", FT_INPUT, 6, "Bool condition");
    expect_error("(ite b x v)", FT_INPUT, 10, "one sort");
    expect_error("(mod x y z)", FT_INPUT, 2, "needs 2 arguments, not 3");
    expect_error("(not)", FT_INPUT, 2, "needs 1 argument, not 0");
    expect_error("(frob x)", FT_INPUT, 2, "unknown operator `frob'");
    expect_error("(+ x y", FT_INPUT, 7, "`)'");
    expect_error("(+ x y))", FT_INPUT, 8, "end of the term");
    expect_error("x y", FT_INPUT, 3, "end of the term");
    expect_error("()", FT_INPUT, 2, "operator");
    expect_error("(+ x [)", FT_INPUT, 6, "|...|");
    expect_error("(+ x \x01)", FT_INPUT, 6, "0x01");
    expect_error("(+ x \xc3\xa4)", FT_INPUT, 6, "0xc3");
    expect_error("|x", FT_INPUT, 1, "|");
    expect_error("|x\\", FT_INPUT, 1, "|");
    expect_error("(+ x 12ab)", FT_INPUT, 6, "neither a number nor a name");
    expect_error("(+ x 9223372036854775808)", FT_INPUT, 6, "64 bits");
    expect_error("(- 9223372036854775809)", FT_INPUT, 4, "64 bits");
    expect_error("#x", FT_INPUT, 1, "hexadecimal");
    expect_error("#xfg", FT_INPUT, 1, "hexadecimal");
    expect_error("#q1", FT_INPUT, 1, "#x");
    expect_error("#x00000000000000000", FT_INPUT, 1, "68 bits");
    expect_error("(_ bv256 8)", FT_INPUT, 4, "8 bits");
    expect_error("(_ bv1 65)", FT_INPUT, 4, "1 .. 64");
    expect_error("((_ extract 8 0) v)", FT_INPUT, 5, "8 > high");
    expect_error("((_ extract 1 2) v)", FT_INPUT, 5, "high >= low");
    expect_error("((_ bvadd 1) v)", FT_INPUT, 5, "no index");
    expect_error("(extract 7 0 v)", FT_INPUT, 2, "((_ extract ...) x)");
    expect_error("((_ zero_extend 57) v)", FT_INPUT, 5, "limit is 64");
    expect_error("(concat t v)", FT_INPUT, 2, "72 bits");
    expect_error("(let ((a x) (a y)) a)", FT_INPUT, 14, "twice");
    expect_error("(let ((a x)) (+ a d))", FT_INPUT, 19, "unknown variable `d'");
    expect_error("(+ (let ((a x)) a) a)", FT_INPUT, 20, "unknown variable `a'");
    expect_error("(forall ((i Int)) b)", FT_INPUT, 2, "unknown operator");
}

static char *repeat(const char *before, unsigned times, const char *middle, const char *after)
{
    ft_strbuf out = {0};
    for (unsigned i = 0; i < times; i++) ft_strbuf_puts(&out, before);
    ft_strbuf_puts(&out, middle);
    for (unsigned i = 0; i < times; i++) ft_strbuf_puts(&out, after);
    return ft_strbuf_take(&out);
}

static ft_status parse_status(char *text, ft_error *err)
{
    ft_term term;
    *err = FT_ERROR_INIT;
    ft_status status = ft_term_parse(pool, text, strlen(text), &SCOPE, &term, err);
    free(text);
    return status;
}

static void test_depth(void **state)
{
    ft_error err;
    (void)state;
    assert_int_equal(parse_status(repeat("(- ", FT_TERM_MAX_DEPTH, "x", ")"), &err), FT_OK);
    assert_int_equal(parse_status(repeat("(- ", FT_TERM_MAX_DEPTH, "(- 5)", ")"), &err), FT_OK);
    assert_int_equal(parse_status(repeat("(- ", FT_TERM_MAX_DEPTH + 1, "x", ")"), &err), FT_LIMIT);
    assert_int_equal(err.column, 3 * FT_TERM_MAX_DEPTH + 1);
    assert_int_equal(parse_status(repeat("(- ", 300000, "x", ")"), &err), FT_LIMIT);
    assert_int_equal(parse_status(repeat("(let ((q ", 100000, "x", ")) q)"), &err), FT_LIMIT);
    assert_int_equal(parse_status(repeat("(", 300000, "x", ")"), &err), FT_INPUT);
    assert_int_equal(parse_status(repeat("(let ((x (- x))) ", 300, "x", ")"), &err), FT_LIMIT);
    assert_int_equal(parse_status(repeat("(let ((x y)) ", 20000, "x", ")"), &err), FT_OK);
    /* 2^40 nodes when written out */
    assert_int_equal(parse_status(repeat("(let ((x (+ x x))) ", 40, "x", ")"), &err), FT_LIMIT);
}

/* Children shared so that the tree has 2^16 leaves: printed and evaluated as a graph. */
static void test_sharing(void **state)
{
    ft_strbuf out = {0};
    ft_value value;
    assignment a = usual();
    char *text = repeat("(let ((x (bvadd x x))) ", 16, "(bvadd x (ite (= |??1| 0) t u))", ")");
    (void)state;
    /* x names t below: the first let binds it */
    ft_strbuf whole = {0};
    ft_strbuf_printf(&whole, "(let ((x (ite (= |??1| 1) t u))) %s)", text);
    ft_term term = parse(ft_strbuf_text(&whole));
    ft_term_print(pool, term, &SCOPE, &out);
    assert_true(out.len < 1500);
    assert_non_null(strstr(ft_strbuf_text(&out), "(let ((???"));
    assert_int_equal(parse(ft_strbuf_text(&out)), term);
    a.have[12] = a.have[9] = true;
    a.bits[12] = 0; /* the first let is u, the last one t */
    a.bits[9] = 5;
    assert_int_equal(ft_term_eval(pool, term, look_up, &a, &value), FT_EVAL_OK);
    assert_int_equal(value.bits, ((uint64_t)5 << 16) + ((uint64_t)1 << 63));
    ft_strbuf_release(&whole);
    ft_strbuf_release(&out);
    free(text);
}

/* ft_term_apply has no depth limit: neither do the evaluator and the printer. */
static void test_deep_application(void **state)
{
    assignment a = usual();
    ft_value value;
    ft_strbuf out = {0};
    ft_term one = parse("1"), term = parse("x");
    (void)state;
    for (int i = 0; i < 200000; i++) {
        ft_term pair[2] = {term, one};
        assert_int_equal(ft_term_apply(pool, FT_OP_ADD, pair, 2, NULL, &term, NULL), FT_OK);
    }
    assert_int_equal(ft_term_eval(pool, term, look_up, &a, &value), FT_EVAL_OK);
    assert_int_equal(value.bits, 200007);
    ft_term_print(pool, term, &SCOPE, &out);
    assert_int_equal(out.len, 200000 * strlen("(+  1)") + 1);
    ft_strbuf_release(&out);
}

typedef struct seen {
    ft_symbol symbols[8];
    size_t n;
} seen;

static void note_symbol(void *context, ft_symbol symbol)
{
    seen *s = context;
    assert_true(s->n < 8);
    s->symbols[s->n++] = symbol;
}

static void test_symbols(void **state)
{
    seen s = {{0}, 0};
    (void)state;
    ft_term_symbols(pool, parse("(and (> y x) (> (+ x y x) z) (> y 3))"), note_symbol, &s);
    assert_int_equal(s.n, 3); /* in the order in which they were made: y, x, z */
    assert_int_equal(s.symbols[0], 1);
    assert_int_equal(s.symbols[1], 0);
    assert_int_equal(s.symbols[2], 2);
}

/* ---- evaluation, against values worked out by hand from the SMT-LIB theories ---- */

static void test_ints(void **state)
{
    (void)state;
    expect_eval("(+ x y z)", "2");
    expect_eval("(- x y z)", "12");
    expect_eval("(- y)", "7");
    expect_eval("(* x y z)", "(- 98)");
    expect_eval("(abs y)", "7");
    expect_eval("(div x z)", "3"); /* Euclidean: the rest is never negative */
    expect_eval("(mod x z)", "1");
    expect_eval("(div y z)", "(- 4)");
    expect_eval("(mod y z)", "1");
    expect_eval("(div x (- z))", "(- 3)");
    expect_eval("(mod x (- z))", "1");
    expect_eval("(div y (- z))", "4");
    expect_eval("(mod y (- z))", "1");
    expect_eval("(mod (- 9223372036854775808) (- z 3))", "0");
    expect_eval("(div y 1)", "(- 7)");
    expect_eval("(< y z x)", "true");
    expect_eval("(< y x z)", "false");
    expect_eval("(>= x x y)", "true");
    expect_eval("(distinct x y z)", "true");
    expect_eval("(distinct x y z x)", "false");
    expect_eval("(= x 7 (- y))", "true");
    expect_eval("(= x 7 8)", "false");
    expect_eval("(- z (- 9223372036854775805))", "9223372036854775807");
}

static void test_bools(void **state)
{
    (void)state;
    expect_eval("(=> b (> x 8))", "false");
    expect_eval("(=> (> x 8) b (> x 8))", "true"); /* right to left: F => (T => F) */
    expect_eval("(=> (=> (> x 8) b) (> x 8))", "false");
    expect_eval("(xor b b b)", "true");
    expect_eval("(xor b (> x 8))", "true");
    expect_eval("(or (> x 8) (not b) (= z 2))", "true");
    expect_eval("(ite (> x 8) x y)", "(- 7)");
}

static void test_bits(void **state)
{
    (void)state; /* v = #x8c: 140 or -116; w = 3 */
    expect_eval("(bvnot v)", "#x73");
    expect_eval("(bvneg v)", "#x74");
    expect_eval("(bvneg #x80)", "#x80");
    expect_eval("(bvadd v v)", "#x18");
    expect_eval("(bvsub w v)", "#x77");
    expect_eval("(bvmul v w)", "#xa4");
    expect_eval("(bvudiv v w)", "#x2e"); /* 140 / 3 = 46 rest 2 */
    expect_eval("(bvurem v w)", "#x02");
    expect_eval("(bvsdiv v w)", "#xda"); /* -116 / 3 = -38 rest -2 */
    expect_eval("(bvsrem v w)", "#xfe");
    expect_eval("(bvsdiv v (bvneg w))", "#x26");
    expect_eval("(bvsrem v (bvneg w))", "#xfe");
    expect_eval("(bvsrem w (bvneg w))", "#x00");
    expect_eval("(bvsrem #x07 (bvneg w))", "#x01");
    expect_eval("(bvsdiv (bvsub v #x0c) (bvsub w #x04))", "#x80"); /* -128 / -1 wraps */
    expect_eval("(bvsrem (bvsub v #x0c) (bvsub w #x04))", "#x00");
    expect_eval("(bvsdiv t (bvneg (bvlshr t #x000000000000003f)))", "#x8000000000000000");
    expect_eval("(bvand v #x0f)", "#x0c");
    expect_eval("(bvor v w)", "#x8f");
    expect_eval("(bvxor v #xff)", "#x73");
    expect_eval("(bvshl v w)", "#x60");
    expect_eval("(bvshl v #x08)", "#x00");
    expect_eval("(bvshl t #x0000000000000040)", "#x0000000000000000");
    expect_eval("(bvlshr v w)", "#x11");
    expect_eval("(bvlshr v #xff)", "#x00");
    expect_eval("(bvashr v w)", "#xf1");
    expect_eval("(bvashr v #x09)", "#xff");
    expect_eval("(bvashr w #x09)", "#x00");
    expect_eval("(bvashr t #x00000000000000ff)", "#xffffffffffffffff");
    expect_eval("(bvult w v)", "true");
    expect_eval("(bvslt w v)", "false");
    expect_eval("(bvsge w v)", "true");
    expect_eval("(bvuge v v)", "true");
    expect_eval("(bvsgt t #x0000000000000000)", "false");
    expect_eval("(concat v #b101)", "#b10001100101");
    expect_eval("((_ extract 3 2) v)", "#b11");
    expect_eval("((_ zero_extend 4) v)", "#x08c");
    expect_eval("((_ sign_extend 4) v)", "#xf8c");
    expect_eval("((_ sign_extend 4) w)", "#x003");
}

static void test_undefined(void **state)
{
    (void)state;
    expect_status("(div x (- z 2))", FT_EVAL_UNDEFINED);
    expect_status("(mod x 0)", FT_EVAL_UNDEFINED);
    expect_status("(div 1 0)", FT_EVAL_UNDEFINED);
    expect_status("(bvudiv v #x00)", FT_EVAL_UNDEFINED);
    expect_status("(bvurem v #x00)", FT_EVAL_UNDEFINED);
    expect_status("(bvsdiv v (bvsub w w))", FT_EVAL_UNDEFINED);
    expect_status("(bvsrem v #x00)", FT_EVAL_UNDEFINED);
    expect_status("(and (> x 8) (= 1 (div x 0)))", FT_EVAL_UNDEFINED);
    expect_status("(or true (= 1 (div x 0)))", FT_EVAL_UNDEFINED);
    expect_status("(=> false (= 1 (mod x 0)))", FT_EVAL_UNDEFINED);
    expect_status("(* 0 (div x 0))", FT_EVAL_UNDEFINED);
    expect_status("(= (div x 0) (div x 0))", FT_EVAL_UNDEFINED);
    expect_eval("(ite b x (div x 0))", "7");
    expect_status("(ite (not b) x (div x 0))", FT_EVAL_UNDEFINED);
    expect_status("(ite (= 0 (div x 0)) x x)", FT_EVAL_UNDEFINED);
    expect_status("(+ x 9223372036854775807)", FT_EVAL_OVERFLOW);
    expect_status("(+ 1 9223372036854775807)", FT_EVAL_OVERFLOW);
    expect_status("(* z 4611686018427387904)", FT_EVAL_OVERFLOW);
    expect_status("(- (- 9223372036854775808) 1)", FT_EVAL_OVERFLOW);
    expect_status("(- (+ (- 9223372036854775807) (- 1)))", FT_EVAL_OVERFLOW);
    expect_status("(abs (- 9223372036854775808))", FT_EVAL_OVERFLOW);
    expect_status("(div (- 9223372036854775808) (- 1))", FT_EVAL_OVERFLOW);
    expect_status("(and false (> (* x 9223372036854775807) 0))", FT_EVAL_OVERFLOW);
    expect_status("(+ (+ x 9223372036854775807) (div x 0))", FT_EVAL_UNDEFINED);
}

static void test_unknown(void **state)
{
    (void)state; /* c, s, u are unknown */
    expect_status("c", FT_EVAL_UNKNOWN);
    expect_status("(and b c)", FT_EVAL_UNKNOWN);
    expect_eval("(and c (not b))", "false");
    expect_eval("(or c b)", "true");
    expect_eval("(=> c b)", "true");
    expect_eval("(=> (not b) c)", "true");
    expect_status("(=> c (not b))", FT_EVAL_UNKNOWN);
    expect_status("(xor c b)", FT_EVAL_UNKNOWN);
    expect_eval("(= u u)", "true");
    expect_eval("(distinct u t u)", "false");
    expect_status("(= u t)", FT_EVAL_UNKNOWN);
    expect_eval("(ite c x 7)", "7");
    expect_status("(ite c x y)", FT_EVAL_UNKNOWN);
    expect_status("(bvudiv u u)", FT_EVAL_UNKNOWN);
    expect_status("(bvudiv u #x0000000000000000)", FT_EVAL_UNDEFINED);
    /* may be undefined, so the connective cannot decide */
    expect_status("(and (not b) (= t (bvudiv t u)))", FT_EVAL_UNKNOWN);
    expect_eval("(and (not b) (= t (bvudiv u t)))", "false");
    expect_status("(= (bvudiv t u) (bvudiv t u))", FT_EVAL_UNKNOWN);
    expect_status("(and (not b) (ite c b (= x (div x 0))))", FT_EVAL_UNKNOWN);
    expect_status("(ite c (div x 0) (mod x 0))", FT_EVAL_UNDEFINED);
}

static void test_simplify(void **state)
{
    (void)state;
    expect_print("(+ 2 3)", "5");
    expect_print("(and b true b)", "b");
    expect_print("(and b false c)", "false");
    expect_print("(and false (= 1 (div x y)))", "(and false (= 1 (div x y)))");
    expect_print("(and false (= 1 (div x 2)))", "false");
    expect_print("(not (not b))", "b");
    expect_print("(+ x 0 y)", "(+ x y)");
    expect_print("(- x 0)", "x");
    expect_print("(- 0 x)", "(- 0 x)");
    expect_print("(* 1 x)", "x");
    expect_print("(* 0 (div x y))", "(* 0 (div x y))");
    expect_print("(+ 9223372036854775807 1)", "(+ 9223372036854775807 1)");
    expect_print("(div 1 0)", "(div 1 0)");
    expect_print("(= (+ x 1) (+ x 1))", "(= (+ x 1) (+ x 1))"); /* x + 1 may overflow */
    expect_print("(= (bvadd v w) (bvadd v w))", "true");
    expect_print("(= b true)", "b");
    expect_print("(= false b)", "(not b)");
    expect_print("(ite true x (div y 0))", "x");
    expect_print("(ite (> x y) z z)", "z");
    expect_print("(ite (> (div x y) 0) z z)", "(ite (> (div x y) 0) z z)");
    expect_print("(bvand v #xff)", "v");
    expect_print("((_ extract 7 0) v)", "v");
    expect_print("(- (- x))", "(- (- x))"); /* overflows at the least Int */
}

/* ---- random terms against a second evaluator and against Z3 ---- */

static uint64_t seed = 42;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static unsigned below(unsigned n)
{
    return (unsigned)(next_random() >> 33) % n;
}

enum { MAX_NODES = 64, MAX_KIDS = 3 };
typedef struct tree {
    const char *op; /* NULL: variable, "": literal */
    ft_sort sort;
    unsigned variable, n, high, low;
    uint64_t bits;
    const struct tree *kids[MAX_KIDS];
} tree;

static const struct {
    const char *op;
    char result, argument; /* b, i: Bool, Int; v: BitVec of the result's or any width */
    unsigned least, most;
} RANDOM_OPS[] = {
    {"not", 'b', 'b', 1, 1},      {"and", 'b', 'b', 1, 3},         {"or", 'b', 'b', 1, 3},
    {"xor", 'b', 'b', 2, 3},      {"=>", 'b', 'b', 2, 3},          {"=", 'b', 'i', 2, 3},
    {"=", 'b', 'b', 2, 3},        {"=", 'b', 'v', 2, 3},           {"distinct", 'b', 'i', 2, 3},
    {"distinct", 'b', 'v', 2, 3}, {"distinct", 'b', 'b', 2, 3},    {"<", 'b', 'i', 2, 3},
    {"<=", 'b', 'i', 2, 3},       {">", 'b', 'i', 2, 3},           {">=", 'b', 'i', 2, 3},
    {"bvult", 'b', 'v', 2, 2},    {"bvule", 'b', 'v', 2, 2},       {"bvugt", 'b', 'v', 2, 2},
    {"bvuge", 'b', 'v', 2, 2},    {"bvslt", 'b', 'v', 2, 2},       {"bvsle", 'b', 'v', 2, 2},
    {"bvsgt", 'b', 'v', 2, 2},    {"bvsge", 'b', 'v', 2, 2},       {"+", 'i', 'i', 1, 3},
    {"-", 'i', 'i', 1, 3},        {"*", 'i', 'i', 1, 3},           {"div", 'i', 'i', 2, 3},
    {"mod", 'i', 'i', 2, 2},      {"abs", 'i', 'i', 1, 1},         {"bvnot", 'v', 'v', 1, 1},
    {"bvneg", 'v', 'v', 1, 1},    {"bvadd", 'v', 'v', 2, 3},       {"bvsub", 'v', 'v', 2, 2},
    {"bvmul", 'v', 'v', 2, 3},    {"bvudiv", 'v', 'v', 2, 2},      {"bvurem", 'v', 'v', 2, 2},
    {"bvsdiv", 'v', 'v', 2, 2},   {"bvsrem", 'v', 'v', 2, 2},      {"bvand", 'v', 'v', 2, 3},
    {"bvor", 'v', 'v', 2, 3},     {"bvxor", 'v', 'v', 2, 3},       {"bvshl", 'v', 'v', 2, 2},
    {"bvlshr", 'v', 'v', 2, 2},   {"bvashr", 'v', 'v', 2, 2},      {"ite", '?', '?', 3, 3},
    {"extract", 'v', '?', 1, 1},  {"zero_extend", 'v', '?', 1, 1}, {"sign_extend", 'v', '?', 1, 1},
    {"concat", 'v', '?', 2, 2},
};
enum { N_RANDOM_OPS = sizeof RANDOM_OPS / sizeof *RANDOM_OPS };

static const ft_sort WIDTHS[] = {{FT_SORT_BITVEC, 8}, {FT_SORT_BITVEC, 5}, {FT_SORT_BITVEC, 64}};

static uint64_t mask(ft_sort sort)
{
    return sort.width == 64 ? UINT64_MAX : ((uint64_t)1 << sort.width) - 1;
}

static uint64_t random_bits(ft_sort sort)
{
    static const uint64_t INTS[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    (uint64_t)-1,
                                    (uint64_t)-2,
                                    (uint64_t)-5,
                                    INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    1u << 31};
    if (sort.kind == FT_SORT_BOOL) return below(2);
    if (sort.kind == FT_SORT_INT) return INTS[below(below(2) ? 8 : 11)];
    uint64_t edge[] = {0, 1, mask(sort), (uint64_t)1 << (sort.width - 1), 3};
    return below(3) ? edge[below(5)] & mask(sort) : next_random() & mask(sort);
}

static const tree *grow(ft_arena *arena, ft_sort sort, unsigned depth);

static tree *leaf(ft_arena *arena, ft_sort sort)
{
    tree *t = ft_arena_calloc(arena, sizeof *t);
    t->sort = sort;
    unsigned at = below(N_PLAIN);
    for (unsigned i = 0; i < N_PLAIN; i++, at = (at + 1) % N_PLAIN) {
        if (!ft_sort_equal(VARIABLES[at].sort, sort) || below(3) == 0) continue;
        t->variable = at;
        return t;
    }
    t->op = "";
    t->bits = random_bits(sort);
    return t;
}

/* concat, extract and extensions, when the result's width allows: false otherwise */
static bool grow_resized(ft_arena *arena, tree *t, unsigned depth)
{
    unsigned width = t->sort.width;
    if (strcmp(t->op, "extract") == 0) {
        ft_sort from = WIDTHS[below(3)];
        if (from.width < width) return false;
        t->low = below(from.width - width + 1u);
        t->high = t->low + width - 1;
        t->kids[0] = grow(arena, from, depth);
        return true;
    }
    if (width < 2) return false;
    unsigned part = 1 + below(width - 1);
    t->high = width - part;
    t->kids[0] = grow(arena, (ft_sort){FT_SORT_BITVEC, (uint8_t)part}, depth);
    if (t->n == 2) t->kids[1] = grow(arena, (ft_sort){FT_SORT_BITVEC, (uint8_t)t->high}, depth);
    return true;
}

static const tree *grow(ft_arena *arena, ft_sort sort, unsigned depth)
{
    static const char KINDS[] = {'b', 'i', 'v'};
    if (depth == 0 || below(5) == 0) return leaf(arena, sort);
    for (;;) {
        unsigned k = below(N_RANDOM_OPS);
        if (RANDOM_OPS[k].result != '?' && RANDOM_OPS[k].result != KINDS[sort.kind]) continue;
        tree *t = ft_arena_calloc(arena, sizeof *t);
        t->op = RANDOM_OPS[k].op;
        t->sort = sort;
        t->n = RANDOM_OPS[k].least + below(RANDOM_OPS[k].most - RANDOM_OPS[k].least + 1);
        if (RANDOM_OPS[k].result == '?') {
            t->kids[0] = grow(arena, BOOL, depth - 1);
            t->kids[1] = grow(arena, sort, depth - 1);
            t->kids[2] = below(4) ? grow(arena, sort, depth - 1) : t->kids[1];
            return t;
        }
        if (RANDOM_OPS[k].argument == '?') {
            if (!grow_resized(arena, t, depth - 1)) continue;
            return t;
        }
        ft_sort argument = RANDOM_OPS[k].argument == 'b'   ? BOOL
                           : RANDOM_OPS[k].argument == 'i' ? INT
                           : sort.kind == FT_SORT_BITVEC   ? sort
                                                           : WIDTHS[below(3)];
        for (unsigned i = 0; i < t->n; i++)
            t->kids[i] = i && below(6) == 0 ? t->kids[0] : grow(arena, argument, depth - 1);
        return t;
    }
}

static void write_tree(const tree *t, ft_strbuf *out)
{
    if (!t->op) {
        ft_strbuf_puts(out, VARIABLES[t->variable].name);
        return;
    }
    if (!*t->op) {
        ft_value_print((ft_value){t->sort, t->bits}, out);
        return;
    }
    if (strcmp(t->op, "extract") == 0)
        ft_strbuf_printf(out, "((_ extract %u %u)", t->high, t->low);
    else if (strstr(t->op, "_extend"))
        ft_strbuf_printf(out, "((_ %s %u)", t->op, t->high);
    else
        ft_strbuf_printf(out, "(%s", t->op);
    for (unsigned i = 0; i < t->n; i++) {
        ft_strbuf_puts(out, " ");
        write_tree(t->kids[i], out);
    }
    ft_strbuf_puts(out, ")");
}

/* The second evaluator: all symbols known; wide integers; returns the status. */
typedef __int128 wide;

static ft_eval_status in_range(wide value, uint64_t *out)
{
    *out = (uint64_t)value;
    return value < INT64_MIN || value > INT64_MAX ? FT_EVAL_OVERFLOW : FT_EVAL_OK;
}

static wide to_wide(uint64_t bits, ft_sort sort)
{
    if (sort.kind == FT_SORT_INT) return (int64_t)bits;
    return (wide)bits - (bits >> (sort.width - 1) & 1 ? (wide)1 << sort.width : 0);
}

static wide floor_mod(wide a, wide b)
{
    wide size = b < 0 ? -b : b, rest = a % size;
    return rest < 0 ? rest + size : rest;
}

#define IS(name) (strcmp(op, name) == 0)

static ft_eval_status reference_int(const char *op, uint64_t x, uint64_t y, uint64_t *out)
{
    wide a = to_wide(x, INT), b = to_wide(y, INT);
    if ((IS("div") || IS("mod")) && b == 0) return FT_EVAL_UNDEFINED;
    if (IS("+")) return in_range(a + b, out);
    if (IS("-")) return in_range(a - b, out);
    if (IS("*")) return in_range(a * b, out);
    if (IS("mod")) return in_range(floor_mod(a, b), out);
    return in_range((a - floor_mod(a, b)) / b, out);
}

static ft_eval_status reference_bits(const char *op, uint64_t x, uint64_t y, ft_sort sort,
                                     uint64_t *out)
{
    wide a = to_wide(x, sort), b = to_wide(y, sort), power = 1;
    bool divides = IS("bvudiv") || IS("bvurem") || IS("bvsdiv") || IS("bvsrem");
    if (divides && y == 0) return FT_EVAL_UNDEFINED;
    for (uint64_t i = 0; i < y && i < 64; i++) power *= 2;
    wide result = IS("bvadd")    ? a + b
                  : IS("bvsub")  ? a - b
                  : IS("bvmul")  ? (wide)((unsigned __int128)a * (unsigned __int128)b)
                  : IS("bvudiv") ? (wide)(x / y)
                  : IS("bvurem") ? (wide)(x % y)
                  : IS("bvsdiv") ? a / b
                  : IS("bvsrem") ? a % b
                  : IS("bvand")  ? (a & b)
                  : IS("bvor")   ? (a | b)
                  : IS("bvxor")  ? (a ^ b)
                  : IS("bvshl")  ? (wide)((unsigned __int128)x * (unsigned __int128)power)
                  : IS("bvlshr") ? (wide)x / power
                                 : (a - floor_mod(a, power)) / power;
    *out = (uint64_t)result & mask(sort);
    return FT_EVAL_OK;
}

static bool reference_compare(const char *op, uint64_t x, uint64_t y, ft_sort sort)
{
    bool is_signed = sort.kind == FT_SORT_INT || strncmp(op, "bvs", 3) == 0;
    wide a = is_signed ? to_wide(x, sort) : (wide)x, b = is_signed ? to_wide(y, sort) : (wide)y;
    if (IS("=")) return x == y;
    if (IS("<") || IS("bvult") || IS("bvslt")) return a < b;
    if (IS("<=") || IS("bvule") || IS("bvsle")) return a <= b;
    if (IS(">") || IS("bvugt") || IS("bvsgt")) return a > b;
    return a >= b;
}

static bool reference_bool(const char *op, const uint64_t *v, unsigned n, ft_sort sort)
{
    bool all = true, any = false, odd = false, implied = v[n - 1], distinct = true, chain = true;
    for (unsigned i = 0; i < n; i++) {
        all = all && v[i];
        any = any || v[i];
        odd = odd != (bool)v[i];
        for (unsigned k = 0; k < i; k++) distinct = distinct && v[i] != v[k];
        if (i + 1 < n) chain = chain && reference_compare(op, v[i], v[i + 1], sort);
    }
    for (unsigned i = n - 1; i-- > 0;) implied = !v[i] || implied;
    return IS("not")        ? !v[0]
           : IS("and")      ? all
           : IS("or")       ? any
           : IS("xor")      ? odd
           : IS("=>")       ? implied
           : IS("distinct") ? distinct
                            : chain;
}

static ft_eval_status reference(const tree *t, const assignment *a, uint64_t *out);

static ft_eval_status reference_unary(const tree *t, uint64_t v, uint64_t *out)
{
    const char *op = t->op;
    ft_sort from = t->kids[0]->sort;
    if (IS("abs")) return in_range(to_wide(v, INT) < 0 ? -to_wide(v, INT) : to_wide(v, INT), out);
    if (IS("-")) return in_range(-to_wide(v, INT), out);
    *out = v;
    if (IS("bvnot")) *out = ~v;
    if (IS("bvneg")) *out = (uint64_t)-to_wide(v, from);
    if (IS("extract")) *out = v >> t->low;
    if (IS("sign_extend")) *out = (uint64_t)to_wide(v, from);
    if (t->sort.kind == FT_SORT_BITVEC) *out &= mask(t->sort);
    return FT_EVAL_OK;
}

static ft_eval_status reference_strict(const tree *t, const uint64_t *v, uint64_t *out)
{
    const char *op = t->op;
    if (t->sort.kind == FT_SORT_BOOL) {
        *out = reference_bool(op, v, t->n, t->kids[0]->sort);
        return FT_EVAL_OK;
    }
    if (t->n == 1) return reference_unary(t, v[0], out);
    if (IS("concat")) {
        *out = v[0] << t->kids[1]->sort.width | v[1];
        return FT_EVAL_OK;
    }
    *out = v[0];
    ft_eval_status status = FT_EVAL_OK;
    for (unsigned i = 1; i < t->n; i++) {
        /* after an overflow only a division by zero still matters */
        uint64_t next;
        ft_eval_status step = t->sort.kind == FT_SORT_INT
                                  ? reference_int(op, *out, v[i], &next)
                                  : reference_bits(op, *out, v[i], t->sort, &next);
        if (step == FT_EVAL_UNDEFINED) return step;
        if (step == FT_EVAL_OVERFLOW) status = step;
        *out = next;
    }
    return status;
}

static ft_eval_status reference(const tree *t, const assignment *a, uint64_t *out)
{
    uint64_t v[MAX_KIDS] = {0};
    ft_eval_status worst = FT_EVAL_OK;
    if (!t->op) {
        *out = a->bits[t->variable];
        return FT_EVAL_OK;
    }
    if (!*t->op) {
        *out = t->bits;
        return FT_EVAL_OK;
    }
    if (strcmp(t->op, "ite") == 0) {
        worst = reference(t->kids[0], a, v);
        return worst ? worst : reference(t->kids[v[0] ? 1 : 2], a, out);
    }
    bool zero_divisor = false,
         division = strstr("div mod", t->op) || strstr(t->op, "div") || strstr(t->op, "rem");
    for (unsigned i = 0; i < t->n; i++) {
        ft_eval_status status = reference(t->kids[i], a, &v[i]);
        if (status == FT_EVAL_UNDEFINED || worst == FT_EVAL_OK) worst = status;
        if (division && i && status == FT_EVAL_OK && v[i] == 0) zero_divisor = true;
    }
    if (zero_divisor) return FT_EVAL_UNDEFINED;
    return worst ? worst : reference_strict(t, v, out);
}

static void random_assignment(assignment *a, const assignment *fixed)
{
    for (unsigned i = 0; i < N_VARIABLES; i++) {
        bool keep = fixed && fixed->have[i];
        a->bits[i] = keep ? fixed->bits[i] : random_bits(VARIABLES[i].sort);
        a->have[i] = true;
    }
}

static void random_root(ft_arena *arena, const tree **root, ft_strbuf *text)
{
    static const ft_sort SORTS[] = {{FT_SORT_BOOL, 0},   {FT_SORT_BOOL, 0},   {FT_SORT_INT, 0},
                                    {FT_SORT_BITVEC, 8}, {FT_SORT_BITVEC, 5}, {FT_SORT_BITVEC, 64}};
    *root = grow(arena, SORTS[below(6)], 1 + below(4));
    ft_strbuf_clear(text);
    write_tree(*root, text);
}

/* Complete assignments: status and value are the reference's. */
static void test_random_known(void **state)
{
    unsigned by_status[4] = {0};
    ft_strbuf text = {0}, again = {0};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        ft_arena *arena = ft_arena_new();
        const tree *root;
        random_root(arena, &root, &text);
        ft_term term = parse(ft_strbuf_text(&text));
        assert_true(ft_sort_equal(ft_term_sort(pool, term), root->sort));
        for (int i = 0; i < 4; i++) {
            assignment a;
            uint64_t bits = 0;
            ft_value value = {{0, 0}, 0};
            random_assignment(&a, NULL);
            ft_eval_status wanted = reference(root, &a, &bits);
            ft_eval_status status = ft_term_eval(pool, term, look_up, &a, &value);
            by_status[wanted]++;
            if (status != wanted || (status == FT_EVAL_OK && value.bits != bits))
                fail_msg("%s: %d %llx, reference %d %llx", ft_strbuf_text(&text), status,
                         (unsigned long long)value.bits, wanted, (unsigned long long)bits);
        }
        ft_strbuf_clear(&again);
        ft_term_print(pool, term, &SCOPE, &again);
        assert_int_equal(parse(ft_strbuf_text(&again)), term);
        ft_arena_free(arena);
    }
    assert_true(by_status[FT_EVAL_OK] > 20000);
    assert_true(by_status[FT_EVAL_UNDEFINED] > 5000);
    assert_true(by_status[FT_EVAL_OVERFLOW] > 1000);
    ft_strbuf_release(&text);
    ft_strbuf_release(&again);
}

/* Unknown symbols: what is said must hold whatever they are. */
static void test_random_unknown(void **state)
{
    unsigned decided = 0, undecided = 0;
    ft_strbuf text = {0};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        ft_arena *arena = ft_arena_new();
        const tree *root;
        assignment part;
        ft_value value = {{0, 0}, 0};
        random_root(arena, &root, &text);
        ft_term term = parse(ft_strbuf_text(&text));
        random_assignment(&part, NULL);
        for (unsigned i = 0; i < N_VARIABLES; i++) part.have[i] = below(3) > 0;
        ft_eval_status status = ft_term_eval(pool, term, look_up, &part, &value);
        *(status == FT_EVAL_UNKNOWN ? &undecided : &decided) += 1;
        for (int i = 0; i < 8 && status != FT_EVAL_UNKNOWN; i++) {
            assignment full;
            uint64_t bits = 0;
            random_assignment(&full, &part);
            ft_eval_status whole = reference(root, &full, &bits);
            /* Ints are mathematical: a completion that the evaluator cannot compute says nothing */
            if (whole == FT_EVAL_OVERFLOW) continue;
            if (status == FT_EVAL_OVERFLOW && whole == FT_EVAL_UNDEFINED) continue;
            if (whole != status || (whole == FT_EVAL_OK && bits != value.bits))
                fail_msg("%s: %d %llx, one completion %d %llx", ft_strbuf_text(&text), status,
                         (unsigned long long)value.bits, whole, (unsigned long long)bits);
        }
        ft_arena_free(arena);
    }
    assert_true(decided > 4000 && undecided > 4000);
    ft_strbuf_release(&text);
}

/* (let ((x 3) ...) (= TERM VALUE)) must simplify to true in Z3. */
static bool z3_agrees(Z3_context z3, const char *term, const assignment *a, ft_value value)
{
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "(assert (let (");
    for (unsigned i = 0; i < N_PLAIN; i++) {
        ft_strbuf_printf(&text, "(%s ", VARIABLES[i].name);
        ft_value_print((ft_value){VARIABLES[i].sort, a->bits[i]}, &text);
        ft_strbuf_puts(&text, ")");
    }
    ft_strbuf_printf(&text, ") (= %s ", term);
    ft_value_print(value, &text);
    ft_strbuf_puts(&text, ")))");
    Z3_ast_vector parsed =
        Z3_parse_smtlib2_string(z3, ft_strbuf_text(&text), 0, NULL, NULL, 0, NULL, NULL);
    Z3_ast_vector_inc_ref(z3, parsed);
    bool agrees =
        Z3_ast_vector_size(z3, parsed) == 1 &&
        Z3_get_bool_value(z3, Z3_simplify(z3, Z3_ast_vector_get(z3, parsed, 0))) == Z3_L_TRUE;
    Z3_ast_vector_dec_ref(z3, parsed);
    ft_strbuf_release(&text);
    return agrees;
}

static void test_random_z3(void **state)
{
    Z3_config config = Z3_mk_config();
    Z3_context z3 = Z3_mk_context(config);
    unsigned compared = 0;
    ft_strbuf text = {0};
    (void)state;
    Z3_del_config(config);
    for (int round = 0; round < 1500; round++) {
        ft_arena *arena = ft_arena_new();
        const tree *root;
        assignment a;
        ft_value value;
        random_root(arena, &root, &text);
        random_assignment(&a, NULL);
        ft_term term = parse(ft_strbuf_text(&text));
        if (ft_term_eval(pool, term, look_up, &a, &value) == FT_EVAL_OK) {
            compared++;
            if (!z3_agrees(z3, ft_strbuf_text(&text), &a, value))
                fail_msg("Z3 disagrees on %s", ft_strbuf_text(&text));
        }
        ft_arena_free(arena);
    }
    assert_true(compared > 500);
    ft_strbuf_release(&text);
    Z3_del_context(z3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sorts),     TEST(test_values),       TEST(test_print),
        TEST(test_grouping),  TEST(test_hash_consing), TEST(test_errors),
        TEST(test_depth),     TEST(test_sharing),      TEST(test_deep_application),
        TEST(test_symbols),   TEST(test_ints),         TEST(test_bools),
        TEST(test_bits),      TEST(test_undefined),    TEST(test_unknown),
        TEST(test_simplify),  TEST(test_random_known), TEST(test_random_unknown),
        TEST(test_random_z3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
