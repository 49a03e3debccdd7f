/* Programs with open inputs, explored by the symbolic executor: figures 2 and 3 of the paper on
 * symbolic partial-order execution, classes with closed forms, and for each way in which an input
 * can matter a program whose answer is clear by hand, beside its corrected twin. */
#include "symbolic_support.h"

static const ft_symbolic_options RACES = {.races = true};

static void assert_proved(const explored *x)
{
    assert_true(x->finished);
    assert_int_equal(x->more.bounded + x->more.concretised + x->more.unknown, 0);
    assert_int_equal(x->wrong + x->counts.strayed, 0);
}

static uint64_t all_errors(const explored *x)
{
    uint64_t n = 0;
    for (int k = 0; k < FT_PROGRAM_ERRORS; k++) n += x->errors[k];
    return n;
}

/* ---- classes */

/* Four maximal configurations, three with a lost signal, one of them stuck (x < 0, the signal
 * first). */
static void test_figures_2_and_3(void **state)
{
    (void)state;
    explored x = symbolic_explore("program 1\n"
                                  "object @m 40 align 8\n"
                                  "object @c 48 align 8\n"
                                  "function @waits(%a: i64) -> i64 {\n"
                                  "  start:\n"
                                  "    %x = input \"x\" i32\n"
                                  "    lock @m\n"
                                  "    %negative = slt i32 %x, 0\n"
                                  "    branch %negative, yes, no\n"
                                  "  yes:\n"
                                  "    wait @c, @m\n"
                                  "    jump no\n"
                                  "  no:\n"
                                  "    unlock @m\n"
                                  "    return i64 0\n"
                                  "}\n"
                                  "function @main() -> i32 {\n"
                                  "  start:\n"
                                  "    %t = create @waits, 0\n"
                                  "    lock @m\n"
                                  "    signal @c\n"
                                  "    unlock @m\n"
                                  "    join %t\n"
                                  "    return i32 0\n"
                                  "}\n",
                                  &RACES);
    assert_proved(&x);
    assert_int_equal(x.counts.classes, 4);
    assert_int_equal(x.counts.stuck, 1);
    assert_int_equal(x.errors[FT_ERROR_DEADLOCK], 1);
    assert_true(x.least[0] >= UINT64_C(1) << 31); /* x < 0 */
}

/* n threads that take one lock where an input says so: one of their own, the sum of C(n, i) i!; one
 * that all read, nobody or everybody, 1 + n!. */
static void takes_and_joins(int n, bool shared, uint64_t classes)
{
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "program 1\nobject @m 40 align 8\nobject @x 8 align 8\n"
                          "function @takes(%a: i64) -> i64 {\n  start:\n");
    ft_strbuf_puts(&text, shared ? "    %x = load i8 @x\n" : "    %x = input \"x\" i8\n");
    ft_strbuf_puts(&text, "    %is = eq i8 %x, 77\n    branch %is, yes, no\n"
                          "  yes:\n    lock @m\n    unlock @m\n    jump no\n"
                          "  no:\n    return i64 0\n}\n"
                          "function @main() -> i32 {\n  start:\n");
    if (shared) ft_strbuf_puts(&text, "    %in = input \"x\" i8\n    store i8 %in, @x\n");
    for (int i = 0; i < n; i++) ft_strbuf_printf(&text, "    %%t%d = create @takes, 0\n", i);
    for (int i = 0; i < n; i++) ft_strbuf_printf(&text, "    join %%t%d\n", i);
    ft_strbuf_puts(&text, "    return i32 0\n}\n");
    explored x = symbolic_explore(text.text, &RACES);
    ft_strbuf_release(&text);
    assert_proved(&x);
    assert_int_equal(x.counts.classes, classes);
    assert_int_equal(all_errors(&x), 0);
}

static void test_locks_where_inputs_say_so(void **state)
{
    (void)state;
    static const uint64_t OWN[] = {1, 2, 5, 16, 65}, SHARED[] = {1, 2, 3, 7, 25};
    for (int n = 1; n <= 4; n++) {
        takes_and_joins(n, false, OWN[n]);
        takes_and_joins(n, true, SHARED[n]);
    }
}

/* ---- one thread: a body of @main */

static explored explore_body(const char *objects, const char *body)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "program 1\n%s\nfunction @main() -> i32 {\n  start:\n%s}\n", objects,
                     body);
    explored x = symbolic_explore(text.text, &RACES);
    ft_strbuf_release(&text);
    return x;
}

typedef struct body {
    const char *name, *objects, *text;
    ft_program_error error; /* NONE: proved */
    uint64_t classes;
    uint64_t input; /* of the failing class, where there is one value alone; UINT64_MAX: any */
} body;

#define ANY UINT64_MAX
static const body BODIES[] = {
    {"a value that one input has", "",
     "    %x = input \"x\" i32\n    %y = mul i32 %x, 3\n    %e = eq i32 %y, 21\n"
     "    branch %e, bad, good\n  bad:\n    fail \"x is 7\"\n  good:\n    return i32 0\n",
     FT_ERROR_ASSERTION, 2, 7},
    {"what an assumption excludes", "",
     "    %x = input \"x\" i32\n    %small = ult i32 %x, 7\n    assume %small\n"
     "    %y = mul i32 %x, 3\n    %e = ne i32 %y, 21\n    assert \"x is not 7\" %e\n"
     "    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"a division", "", "    %x = input \"x\" i8\n    %y = udiv i8 9, %x\n    return i32 0\n",
     FT_ERROR_DIVISION, 2, 0},
    {"a division that overflows", "",
     "    %x = input \"x\" i8\n    %y = sdiv i8 128, %x\n    return i32 0\n", FT_ERROR_DIVISION, 2,
     ANY},
    {"a division by an odd number", "",
     "    %x = input \"x\" i8\n    %o = or i8 %x, 1\n    %y = udiv i8 9, %o\n    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"a shift", "", "    %x = input \"x\" i8\n    %y = shl i8 1, %x\n    return i32 0\n",
     FT_ERROR_SHIFT, 2, ANY},
    {"a masked shift", "",
     "    %x = input \"x\" i8\n    %k = and i8 %x, 7\n    %y = shl i8 1, %k\n    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"an index one too far", "object @a 10",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ule i64 %z, 10\n    assume %in\n"
     "    %p = add i64 @a, %z\n    %v = load i8 %p\n    return i32 0\n",
     FT_ERROR_BOUNDS, 2, 10},
    {"an index that fits", "object @a 10",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 %z, 10\n    assume %in\n"
     "    %p = add i64 @a, %z\n    %v = load i8 %p\n    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"a store at an unknown place", "object @a 40 align 8",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 %z, 10\n    assume %in\n"
     "    %o = shl i64 %z, 2\n    %p = add i64 @a, %o\n    store i32 7, %p\n"
     "    %v = load i32 @a+12\n    %e = ne i32 %v, 7\n    assert \"not there\" %e\n"
     "    return i32 0\n",
     FT_ERROR_ASSERTION, 2, 3},
    {"a store, and a load of the same place", "object @a 40 align 8",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 %z, 10\n    assume %in\n"
     "    %o = shl i64 %z, 2\n    %p = add i64 @a, %o\n    store i32 7, %p\n"
     "    %v = load i32 %p\n    %e = eq i32 %v, 7\n    assert \"it is there\" %e\n"
     "    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"a table", "object @a 4 constant { 0: \"\\01\\02\\04\\08\" }",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 %z, 4\n    assume %in\n"
     "    %p = add i64 @a, %z\n    %v = load i8 %p\n    %e = ne i8 %v, 4\n"
     "    assert \"not 4\" %e\n    return i32 0\n",
     FT_ERROR_ASSERTION, 2, 2},
    {"addresses in a table",
     "object @a 24 align 8 { 0: @b 8: @c 16: @b }\nobject @b 1\nobject @c 1",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 %z, 3\n    assume %in\n"
     "    %o = shl i64 %z, 3\n    %p = add i64 @a, %o\n    %q = load i64 %p\n    store i8 1, %q\n"
     "    %v = load i8 @c\n    %e = ne i8 %v, 1\n    assert \"not c\" %e\n    return i32 0\n",
     FT_ERROR_ASSERTION, 3, 1},
    {"a chosen object", "object @b 1\nobject @c 1",
     "    %x = input \"x\" i1\n    %p = select i64 %x, @b, @c\n    store i8 1, %p\n"
     "    %v = load i8 @b\n    %e = ne i8 %v, 1\n    assert \"not b\" %e\n    return i32 0\n",
     FT_ERROR_ASSERTION, 2, 1},
    {"a null pointer for one input", "object @b 1",
     "    %x = input \"x\" i8\n    %is = eq i8 %x, 200\n    %p = select i64 %is, 0, @b\n"
     "    store i8 1, %p\n    return i32 0\n",
     FT_ERROR_NULL_ACCESS, 2, 200},
    {"a switch", "",
     "    %x = input \"x\" i8\n    switch i8 %x, other, 1: one, 2: two, 3: one\n"
     "  one:\n    return i32 0\n  two:\n    fail \"two\"\n  other:\n    return i32 0\n",
     FT_ERROR_ASSERTION, 3, 2},
    {"a loop as long as the input", "",
     "    %x = input \"x\" i8\n    %in = ult i8 %x, 5\n    assume %in\n"
     "    jump loop(i8 0, i8 0)\n"
     "  loop(%i: i8, %sum: i8):\n    %more = ult i8 %i, %x\n    branch %more, again, done\n"
     "  again:\n    %j = add i8 %i, 1\n    %s = add i8 %sum, %j\n    jump loop(%j, %s)\n"
     "  done:\n    %e = ne i8 %sum, 6\n    assert \"not 1 + 2 + 3\" %e\n    return i32 0\n",
     FT_ERROR_ASSERTION, 5, 3},
    {"a size", "",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 %z, 4\n    assume %in\n"
     "    %p = alloc %z\n    %q = add i64 %p, 2\n    store i8 1, %q\n    free %p\n"
     "    return i32 0\n",
     FT_ERROR_BOUNDS, 2, ANY}, /* too small, or not */
    {"the last byte of a size", "",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %in = ult i64 0, %z\n    assume %in\n"
     "    %p = alloc %z\n    %q = add i64 %p, %z\n    %r = sub i64 %q, 1\n    store i8 1, %r\n"
     "    %s = size %r\n    %one = eq i64 %s, 1\n    assert \"one is left\" %one\n"
     "    free %p\n    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"one byte behind a size", "",
     "    %x = input \"x\" i8\n    %z = zext i64 %x\n    %p = alloc %z\n"
     "    %q = add i64 %p, %z\n    store i8 1, %q\n    return i32 0\n",
     FT_ERROR_BOUNDS, 1, ANY},
    {"bytes of a word", "object @a 8 align 8",
     "    %x = input \"x\" i32\n    store i32 %x, @a\n    %b = load i8 @a+1\n"
     "    store i8 0, @a+2\n    %y = load i32 @a\n    %h = lshr i32 %y, 16\n"
     "    %l = and i32 %h, 255\n    %z = eq i32 %l, 0\n    assert \"cleared\" %z\n"
     "    %e = ne i32 %y, 0x01004102\n    assert \"not this word\" %e\n    return i32 0\n",
     FT_ERROR_ASSERTION, 2, ANY},
    {"a copy", "object @a 8 align 8\nobject @b 8 align 8",
     "    %x = input \"x\" i16\n    store i16 %x, @a+1\n    copy @b, @a, 4\n"
     "    %y = load i16 @b+1\n    %e = eq i16 %x, %y\n    assert \"the same\" %e\n"
     "    return i32 0\n",
     FT_ERROR_NONE, 1, ANY},
    {"a function by its address",
     "object @f 16 align 8 { 0: @good 8: @bad }\n"
     "function @good() {\n  s:\n    return\n}\n"
     "function @bad() {\n  s:\n    fail \"bad\"\n}",
     "    %x = input \"x\" i1\n    %z = zext i64 %x\n    %o = shl i64 %z, 3\n"
     "    %p = add i64 @f, %o\n    %q = load i64 %p\n    call_at %q()\n    return i32 0\n",
     FT_ERROR_ASSERTION, 2, 1},
    {"a float of few values", "",
     "    %x = input \"x\" i8\n    %in = ult i8 %x, 4\n    assume %in\n    %f = utof i64 %x\n"
     "    %h = fmul i64 %f, 0x3fe0000000000000\n    %e = feq i64 %h, 0x3ff0000000000000\n"
     "    %n = eq i1 %e, 0\n    assert \"not 1.0\" %n\n    return i32 0\n",
     FT_ERROR_ASSERTION, 4, 2},
    {"a condition twice", "",
     "    %x = input \"x\" i32\n    %a = slt i32 %x, 5\n    branch %a, less, more\n"
     "  less:\n    %b = slt i32 %x, 9\n    assert \"implied\" %b\n    return i32 0\n"
     "  more:\n    %c = slt i32 3, %x\n    assert \"implied too\" %c\n    return i32 0\n",
     FT_ERROR_NONE, 2, ANY},
};

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        const body *b = &BODIES[i];
        explored x = explore_body(b->objects, b->text);
        uint64_t failing = all_errors(&x);
        bool good = x.finished && !x.wrong && !x.more.unknown && !x.more.bounded &&
                    x.counts.classes == b->classes &&
                    (b->error ? failing && x.errors[b->error] == failing : !failing);
        if (b->input != ANY) good = good && x.least[0] == b->input && x.most[0] == b->input;
        if (!good)
            fail_msg("%s: %s%u classes, %u failing (%u of the kind), input %llu to %llu", b->name,
                     x.finished ? "" : "not finished, ", (unsigned)x.counts.classes,
                     (unsigned)failing, (unsigned)x.errors[b->error],
                     (unsigned long long)x.least[0], (unsigned long long)x.most[0]);
    }
}

/* ---- bounds */

static const char ENDLESS[] = "program 1\n"
                              "function @main() -> i32 {\n"
                              "  start:\n"
                              "    %x = input \"x\" i32\n"
                              "    jump loop(i32 0)\n"
                              "  loop(%i: i32):\n"
                              "    %more = ult i32 %i, %x\n"
                              "    branch %more, again, done\n"
                              "  again:\n"
                              "    %j = add i32 %i, 1\n"
                              "    jump loop(%j)\n"
                              "  done:\n"
                              "    %e = ne i32 %x, 3\n"
                              "    assert \"not 3\" %e\n"
                              "    return i32 0\n"
                              "}\n";

/* A bound on iterations cuts the rest, and what it cuts is not complete. */
static void test_iterations(void **state)
{
    (void)state;
    ft_symbolic_options options = {.races = true, .max_iterations = 6};
    explored x = symbolic_explore(ENDLESS, &options);
    assert_false(x.finished);
    assert_int_equal(x.counts.classes, 7);
    assert_int_equal(x.errors[FT_ERROR_ASSERTION], 1);
    assert_true(x.least[0] == 3 && x.more.bounded > 0);
    options.max_iterations = 2;
    x = symbolic_explore(ENDLESS, &options);
    assert_true(!x.finished && x.counts.classes == 3 && !all_errors(&x));
}

static void test_inputs_and_sizes(void **state)
{
    (void)state;
    static const char READS[] = "program 1\nfunction @main() -> i32 {\n  start:\n    jump loop\n"
                                "  loop:\n    %x = input \"x\" i8\n    %e = eq i8 %x, 0\n"
                                "    branch %e, done, loop\n  done:\n    return i32 0\n}\n";
    ft_symbolic_options options = {.max_inputs = 4};
    explored x = symbolic_explore(READS, &options);
    assert_true(!x.finished && x.counts.classes == 4 && x.more.bounded > 0);
    static const char SIZE[] = "program 1\nfunction @main() -> i32 {\n  start:\n"
                               "    %x = input \"x\" i16\n    %z = zext i64 %x\n    %p = alloc %z\n"
                               "    free %p\n    return i32 0\n}\n";
    x = symbolic_explore(SIZE, &RACES);
    assert_true(x.more.bounded > 0 && !x.more.concretised && !all_errors(&x)); /* large ones */
}

/* ---- several threads */

static const char WITHDRAW[] = "program 1\n"
                               "object @m 40 align 8\n"
                               "object @balance 4 align 4\n"
                               "function @withdraws(%%n: i64) -> i64 {\n"
                               "  start:\n"
                               "    %%k = trunc i32 %%n\n"
                               "    lock @m\n"
                               "    %%b = load i32 @balance\n"
                               "%s"
                               "    %%e = sle i32 %%k, %%b\n"
                               "    branch %%e, take, out\n"
                               "  take:\n"
                               "%s"
                               "    %%b2 = load i32 @balance\n"
                               "    %%b3 = sub i32 %%b2, %%k\n"
                               "    store i32 %%b3, @balance\n"
                               "%s"
                               "  out:\n"
                               "%s"
                               "    return i64 0\n"
                               "}\n"
                               "function @main() -> i32 {\n"
                               "  start:\n"
                               "    %%x = input \"amount\" i32\n"
                               "    %%above = slt i32 0, %%x\n"
                               "    assume %%above\n"
                               "    %%fits = sle i32 %%x, %d\n"
                               "    assume %%fits\n"
                               "    store i32 100, @balance\n"
                               "    %%y = zext i64 %%x\n"
                               "    %%t = create @withdraws, %%y\n"
                               "    %%u = create @withdraws, %%y\n"
                               "    join %%t\n"
                               "    join %%u\n"
                               "    %%b = load i32 @balance\n"
                               "    %%ok = sle i32 0, %%b\n"
                               "    assert \"balance >= 0\" %%ok\n"
                               "    return i32 0\n"
                               "}\n";

static explored withdraw(bool apart, int most)
{
    char text[4000];
    snprintf(text, sizeof text, WITHDRAW, apart ? "    unlock @m\n" : "",
             apart ? "    lock @m\n" : "",
             apart ? "    unlock @m\n    jump out\n" : "    jump out\n",
             apart ? "" : "    unlock @m\n", most);
    return symbolic_explore(text, &RACES);
}

/* Two withdrawals of the same amount, checked in one section and done in another one: the balance
 * can be overdrawn where the amount is more than half of it. */
static void test_check_then_withdraw(void **state)
{
    (void)state;
    explored x = withdraw(true, 100);
    assert_proved(&x);
    assert_true(x.errors[FT_ERROR_ASSERTION] > 0 && x.errors[FT_ERROR_ASSERTION] == all_errors(&x));
    assert_true(x.least[0] > 50 && x.most[0] <= 100);
    x = withdraw(true, 50);
    assert_proved(&x);
    assert_int_equal(all_errors(&x), 0);
    x = withdraw(false, 100);
    assert_proved(&x);
    assert_int_equal(all_errors(&x), 0);
}

/* What other threads decided may rule an arm out: no run counts, and no class is lost. */
static void test_arms_exclude_each_other(void **state)
{
    (void)state;
    explored x = symbolic_explore("program 1\n"
                                  "object @x 4 align 4\n"
                                  "object @low 1\n"
                                  "object @high 1\n"
                                  "function @below(%a: i64) -> i64 {\n"
                                  "  start:\n"
                                  "    %x = load i32 @x\n"
                                  "    %is = ult i32 %x, 10\n"
                                  "    branch %is, yes, no\n"
                                  "  yes:\n"
                                  "    store i8 1, @low\n"
                                  "    jump no\n"
                                  "  no:\n"
                                  "    return i64 0\n"
                                  "}\n"
                                  "function @above(%a: i64) -> i64 {\n"
                                  "  start:\n"
                                  "    %x = load i32 @x\n"
                                  "    %is = ult i32 20, %x\n"
                                  "    branch %is, yes, no\n"
                                  "  yes:\n"
                                  "    store i8 1, @high\n"
                                  "    jump no\n"
                                  "  no:\n"
                                  "    return i64 0\n"
                                  "}\n"
                                  "function @main() -> i32 {\n"
                                  "  start:\n"
                                  "    %in = input \"x\" i32\n"
                                  "    store i32 %in, @x\n"
                                  "    %t = create @below, 0\n"
                                  "    %u = create @above, 0\n"
                                  "    join %t\n"
                                  "    join %u\n"
                                  "    %a = load i8 @low\n"
                                  "    %b = load i8 @high\n"
                                  "    %both = and i8 %a, %b\n"
                                  "    %ok = eq i8 %both, 0\n"
                                  "    assert \"not both\" %ok\n"
                                  "    return i32 0\n"
                                  "}\n",
                                  &RACES);
    assert_proved(&x);
    assert_int_equal(x.counts.classes, 3);
    assert_true(x.counts.infeasible > 0);
    assert_int_equal(all_errors(&x), 0);
}

/* An assumption in one thread, and the end of the process in another one that may come before. */
static void test_assumption_after_the_end(void **state)
{
    (void)state;
    explored x = symbolic_explore("program 1\n"
                                  "object @x 4 align 4\n"
                                  "object @m 40 align 8\n"
                                  "function @assumes(%a: i64) -> i64 {\n"
                                  "  start:\n"
                                  "    lock @m\n"
                                  "    unlock @m\n"
                                  "    %x = load i32 @x\n"
                                  "    %is = ult i32 %x, 10\n"
                                  "    assume %is\n"
                                  "    return i64 0\n"
                                  "}\n"
                                  "function @main() -> i32 {\n"
                                  "  start:\n"
                                  "    %in = input \"x\" i32\n"
                                  "    store i32 %in, @x\n"
                                  "    %t = create @assumes, 0\n"
                                  "    lock @m\n"
                                  "    unlock @m\n"
                                  "    %ok = ult i32 %in, 20\n"
                                  "    assert \"x < 20\" %ok\n"
                                  "    return i32 0\n"
                                  "}\n",
                                  &RACES);
    assert_proved(&x);
    assert_true(x.errors[FT_ERROR_ASSERTION] > 0 && x.least[0] >= 20);
}

/* Two threads store at places that inputs say: a race where they are equal, and in no other case;
 * one at a place that is known. */
static void test_races_at_unknown_places(void **state)
{
    (void)state;
    static const char TEXT[] = "program 1\n"
                               "object @a 16 align 8\n"
                               "function @one(%%i: i64) -> i64 {\n"
                               "  start:\n"
                               "    %%k = and i64 %%i, %u\n"
                               "    %%p = add i64 @a, %%k\n"
                               "    store i8 1, %%p\n"
                               "    return i64 0\n"
                               "}\n"
                               "function @other(%%i: i64) -> i64 {\n"
                               "  start:\n"
                               "    %%k = or i64 %%i, %u\n"
                               "    %%l = and i64 %%k, 15\n"
                               "    %%p = add i64 @a, %%l\n"
                               "    %%v = load i8 %%p\n"
                               "    return i64 0\n"
                               "}\n"
                               "function @main() -> i32 {\n"
                               "  start:\n"
                               "    %%x = input \"x\" i8\n"
                               "    %%y = input \"y\" i8\n"
                               "    %%i = zext i64 %%x\n"
                               "    %%j = zext i64 %%y\n"
                               "    %%t = create @one, %%i\n"
                               "    %%u = create @other, %%j\n"
                               "    join %%t\n"
                               "    join %%u\n"
                               "    return i32 0\n"
                               "}\n";
    static const struct {
        unsigned one, other; /* the places are i & one, and (j | other) & 15 */
        bool races;
    } CASES[] = {{7, 0, true}, {7, 8, false}, {15, 8, true}, {14, 1, false}, {15, 15, true}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[2000];
        snprintf(text, sizeof text, TEXT, CASES[i].one, CASES[i].other);
        explored x = symbolic_explore(text, &RACES);
        assert_int_equal(x.wrong, 0);
        assert_int_equal(x.errors[FT_ERROR_RACE] > 0, CASES[i].races);
        if (!CASES[i].races) assert_proved(&x);
    }
}

/* A semaphore whose count is the input: with 0 its taker waits for ever. */
static void test_open_count(void **state)
{
    (void)state;
    explored x = symbolic_explore("program 1\n"
                                  "object @s 32 align 8\n"
                                  "function @takes(%a: i64) -> i64 {\n"
                                  "  start:\n"
                                  "    %r = sem_wait @s\n"
                                  "    return i64 0\n"
                                  "}\n"
                                  "function @main() -> i32 {\n"
                                  "  start:\n"
                                  "    %x = input \"x\" i2\n"
                                  "    %z = zext i64 %x\n"
                                  "    sem_init @s, %z\n"
                                  "    %t = create @takes, 0\n"
                                  "    join %t\n"
                                  "    return i32 0\n"
                                  "}\n",
                                  &RACES);
    assert_proved(&x);
    assert_int_equal(x.counts.classes, 4);
    assert_int_equal(x.errors[FT_ERROR_DEADLOCK], 1);
    assert_true(x.least[0] == 0 && x.most[0] == 0);
}

/* Two threads write atomically, one at @x, the other so many bytes behind it. */
static bool overlaps(const char *first, unsigned behind, const char *second, bool input)
{
    char text[1024];
    bool finished;
    ft_x_counts counts;
    ft_strbuf place = {0};
    ft_error err = FT_ERROR_INIT;
    snprintf(text, sizeof text,
             "program 1\n"
             "object @x 16 align 8\n"
             "function @writes(%%a: i64) -> i64 {\n"
             "  start:\n"
             "    atomic_store relaxed %s 0, @x+%u\n"
             "    return i64 0\n"
             "}\n"
             "function @main() -> i32 {\n"
             "  start:\n"
             "%s"
             "    %%t = create @writes, 0\n"
             "    atomic_store relaxed %s 0, @x\n"
             "    join %%t\n"
             "    return i32 0\n"
             "}\n",
             second, behind, input ? "    %in = input \"x\" i32\n" : "", first);
    ft_program *p = symbolic_program(text);
    ft_symbolic *symbolic = ft_symbolic_new(p, &RACES);
    ft_x_executor executor = ft_symbolic_executor(symbolic);
    assert_int_equal(ft_x_search(&executor, &(ft_x_options){0}, &counts, &finished, &err), FT_OK);
    bool does = ft_symbolic_overlaps(symbolic, &place);
    assert_int_equal(does, place.len > 0);
    ft_strbuf_release(&place);
    ft_symbolic_free(symbolic);
    ft_program_free(p);
    return does;
}

/* Of 1, 2, 4 and 8 bytes, at each distance up to 8, either of them first. */
static void test_overlapping_atomics(void **state)
{
    static const char *const WIDTHS[] = {"i8", "i16", "i32", "i64"};
    (void)state;
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = 0; b < 4; b++)
            for (unsigned d = 1; d <= 8; d++) {
                assert_int_equal(overlaps(WIDTHS[a], d, WIDTHS[b], false), d < 1U << a);
                assert_int_equal(overlaps(WIDTHS[a], d, WIDTHS[b], true), d < 1U << a);
            }
    assert_false(overlaps("i32", 0, "i32", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_2_and_3),
        cmocka_unit_test(test_locks_where_inputs_say_so),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_inputs_and_sizes),
        cmocka_unit_test(test_check_then_withdraw),
        cmocka_unit_test(test_arms_exclude_each_other),
        cmocka_unit_test(test_assumption_after_the_end),
        cmocka_unit_test(test_races_at_unknown_places),
        cmocka_unit_test(test_open_count),
        cmocka_unit_test(test_overlapping_atomics),
    };
    return cmocka_run_group_tests_name("symbolic", tests, NULL, NULL);
}
