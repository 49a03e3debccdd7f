/* Terms: reader, printer, sort checker, evaluator and simplifier. */
#include "term/internal.h"
#include "term_support.h"

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

static const ft_sort BV8 = {FT_SORT_BITVEC, 8}, BV3 = {FT_SORT_BITVEC, 3},
                     BV64 = {FT_SORT_BITVEC, 64};

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
    assert_true(ft_term_pool_is_sound(pool));
}

/* Each way to break the pool is seen, and put right again it is sound. */
static void test_pool_sound(void **state)
{
    (void)state;
    ft_term sum = parse("(> (+ x y) 3)"), bits = parse("(bvadd v w)");
    ft_pool_node *node = &pool->nodes.data[sum];
    ft_term *child = &pool->children.data[pool->nodes.data[bits].first];
    assert_true(ft_term_pool_is_sound(pool));
    node->depth++;
    assert_false(ft_term_pool_is_sound(pool));
    node->depth--;
    node->sort = FT_INT_SORT;
    assert_false(ft_term_pool_is_sound(pool));
    node->sort = FT_BOOL_SORT;
    *child = parse("x"); /* not of v's sort */
    assert_false(ft_term_pool_is_sound(pool));
    *child = bits; /* of itself */
    assert_false(ft_term_pool_is_sound(pool));
    *child = parse("v");
    assert_true(ft_term_pool_is_sound(pool));
}

static void test_errors(void **state)
{
    (void)state;
    expect_error("", FT_INPUT, 1, "empty");
    expect_error("(> foo 1)", FT_INPUT, 4, "unknown variable `foo'");
    expect_error("(> x -1)", FT_INPUT, 6, "(- 1)");
    expect_error("(+ x b)", FT_INPUT, 6, "`+' takes Int arguments; argument 2 is Bool");
    expect_error("(and b (not x))", FT_INPUT, 13, "`not' takes Bool arguments; argument 1 is Int");
    expect_error("(bvadd v s)", FT_INPUT, 10, "(_ BitVec 5)");
    expect_error("(= x b)", FT_INPUT, 6, "one sort");
    expect_error("(ite x y z)", FT_INPUT, 6, "Bool condition");
    expect_error("(ite b x v)", FT_INPUT, 10, "one sort");
    expect_error("(mod x y z)", FT_INPUT, 2, "takes 2 arguments, not 3");
    expect_error("(not)", FT_INPUT, 2, "takes 1 argument, not 0");
    expect_error("(frob x)", FT_INPUT, 2, "unknown operator `frob'");
    expect_error("(+ x y", FT_INPUT, 7, "`)'");
    expect_error("(+ x y))", FT_INPUT, 8, "end of the term");
    expect_error("x y", FT_INPUT, 3, "end of the term");
    expect_error("()", FT_INPUT, 2, "operator");
    expect_error("(+ x [)", FT_INPUT, 6, "|name|");
    expect_error("(+ x \x01)", FT_INPUT, 6, "0x01");
    expect_error("(+ x \xc3\xa4)", FT_INPUT, 6, "0xc3");
    expect_error("|x", FT_INPUT, 1, "|");
    expect_error("|x\\", FT_INPUT, 1, "|");
    expect_error("(+ x 12ab)", FT_INPUT, 6, "neither a number nor a name");
    expect_error("(+ x 9223372036854775808)", FT_INPUT, 6, "64-bit");
    expect_error("(- 9223372036854775809)", FT_INPUT, 4, "64-bit");
    expect_error("#x", FT_INPUT, 1, "hexadecimal");
    expect_error("#xfg", FT_INPUT, 1, "hexadecimal");
    expect_error("#q1", FT_INPUT, 1, "#x");
    expect_error("#x00000000000000000", FT_INPUT, 1, "68 bits");
    expect_error("(_ bv256 8)", FT_INPUT, 4, "8 bits");
    expect_error("(_ bv1 65)", FT_INPUT, 4, "1 to 64");
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
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sorts),    TEST(test_values),       TEST(test_print),
        TEST(test_grouping), TEST(test_hash_consing), TEST(test_errors),
        TEST(test_depth),    TEST(test_sharing),      TEST(test_deep_application),
        TEST(test_symbols),  TEST(test_ints),         TEST(test_bools),
        TEST(test_bits),     TEST(test_undefined),    TEST(test_unknown),
        TEST(test_simplify), TEST(test_pool_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
