/* Contexts: each counterexample to a rule of the dissertation, its figure 2.1, the paths through a
 * barrier; and random programs against brute force. FT_SEEDS, FT_SEED_START: which. */
#include "context_cases.h"

static void counterexamples_are_not_impossible(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        for (uint32_t without = 0; without < 1u << FT_CONTEXT_PASSES; without++) {
            oracle_counts counts = {.states_only = without != 0};
            char why[700];
            bool used;
            if (without & (without - 1)) continue; /* each pass left out by itself */
            if (!oracle_compare(CASES[i].text, without, &counts, &used, why, sizeof why))
                fail_msg("%s: %s", CASES[i].name, why);
            if (!used) fail_msg("%s: the program is not used", CASES[i].name);
            assert_true(counts.contexts > 0);
        }
    }
}

/* ---- the dissertation's figure 2.1 ---- */

static const char FIGURE[] =
    "program 1\nobject @nodes 256 align 8\nobject @i 8 align 8\nobject @k 8 align 8\n"
    "object @X 4 align 4\n"
    "function @foo(%a: i64) {\n  b:\n    jump h(i32 0)\n  h(%x: i32):\n    %n = load i32 @X\n"
    "    %m = slt i32 %x, %n\n    branch %m, l, e\n  l:\n    lock %a\n    %d = add i64 %a, 40\n"
    "    %v = load i32 %d\n    store i32 %v, %d\n    unlock %a\n    %y = add i32 %x, 1\n"
    "    jump h(%y)\n  e:\n    return\n}\n"
    "function @bar(%a: i64) {\n  b:\n    lock %a\n    jump h(i32 0)\n  h(%x: i32):\n"
    "    %n = load i32 @X\n    %m = slt i32 %x, %n\n    branch %m, l, e\n  l:\n"
    "    %d = add i64 %a, 40\n    %v = load i32 %d\n    store i32 %v, %d\n"
    "    %y = add i32 %x, 1\n    jump h(%y)\n  e:\n    unlock %a\n    return\n}\n"
    "function @run_a(%p: i64) -> i64 {\n  b:\n    %i = load i64 @i\n    %o = mul i64 %i, 64\n"
    "    %a = add i64 @nodes, %o\n    call @foo(%a)\n    return i64 0\n}\n"
    "function @run_b(%p: i64) -> i64 {\n  b:\n    %i = load i64 @k\n    %o = mul i64 %i, 64\n"
    "    %a = add i64 @nodes, %o\n    call @bar(%a)\n    return i64 0\n}\n"
    "function @main() -> i32 {\n  b:\n    %x = input \"X\" i32\n    store i32 %x, @X\n"
    "    %i = input \"i\" i64\n    %ki = input \"k\" i64\n    %e = ult i64 %i, 4\n"
    "    assume %e\n    %f = ult i64 %ki, 4\n    assume %f\n    store i64 %i, @i\n";

static ft_program *figure(bool equal)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text,
                     "%s%s    %%t = create @run_a, 0\n    %%u = create @run_b, 0\n"
                     "    return i32 0\n}\n",
                     FIGURE,
                     equal ? "    store i64 %i, @k\n"
                           : "    %d = ne i64 %i, %ki\n    assume %d\n    store i64 %ki, @k\n");
    ft_program *p = oracle_program(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return p;
}

static ft_context_answer ask_two(const ft_program *p, ft_context_point a, ft_context_point b,
                                 uint32_t without)
{
    ft_context_options options = {.n = 2, .others = true, .without = without};
    options.threads[0] =
        (ft_context_thread){.name = "Foo", .points = {a}, .calls = {{FT_NO_CALL, 0}}, .n = 1};
    options.threads[1] =
        (ft_context_thread){.name = "Bar", .points = {b}, .calls = {{FT_NO_CALL, 0}}, .n = 1};
    ft_context *c = ft_context_new(p, &options);
    ft_context_answer answer;
    ft_context_answer_all(c, &answer);
    ft_context_free(c);
    return answer;
}

typedef struct asked {
    ft_context_point a, b;
    uint32_t without;
    bool never;
} asked;

static void expect_answers(const ft_program *p, const asked *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ask_two(p, rows[i].a, rows[i].b, rows[i].without).never != rows[i].never)
            fail_msg("row %zu: never is not %d", i, rows[i].never);
}

/* Line 11 of Foo is its lock, line 12 what follows; of Bar 11 is the head of the loop. */
static void figure_2_1(void **state)
{
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        ft_program *p = figure(equal);
        for (uint32_t foo = 4; foo < 6; foo++)
            for (uint32_t bar = 2; bar < 6; bar += 3) {
                ft_context_point a = {0, foo}, b = {1, bar};
                bool never = equal && foo == 5;
                assert_int_equal(ask_two(p, a, b, 0).never, never);
                assert_false(ask_two(p, a, b, 1u << FT_CONTEXT_MUST_HELD).never);
                assert_false(ask_two(p, a, b, 1u << FT_CONTEXT_DEFINITIONS).never);
                if (never) assert_int_equal(ask_two(p, a, b, 0).passes, 1u << FT_CONTEXT_MUST_HELD);
            }
        ft_program_free(p);
    }
}

/* ---- a barrier of n, of which each thread arrives once ---- */

static ft_program *barrier_of(uint32_t n)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text,
                     "program 1\nobject @bar 32 align 8\nfunction @t(%%a: i64) -> i64 {\n  b:\n"
                     "    barrier_wait @bar\n    return i64 0\n}\nfunction @main() -> i32 {\n  b:\n"
                     "    barrier_init @bar, %u\n    jump h(i32 0)\n  h(%%i: i32):\n"
                     "    %%m = ult i32 %%i, %u\n    branch %%m, l, e\n  l:\n"
                     "    %%t = create @t, 0\n    %%j = add i32 %%i, 1\n    jump h(%%j)\n  e:\n",
                     n, n);
    ft_strbuf_printf(&text, "    return i32 0\n}\n");
    ft_program *p = oracle_program(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return p;
}

/* Paths without forks of the scheduler in `fixed`, with them, for few threads, in `all`. */
static ft_context_answer paths_of(uint32_t n, uint32_t without)
{
    static const char *const T[] = {"A", "B", "C", "D", "E", "F", "G"};
    ft_program *p = barrier_of(n);
    ft_context_options options = {.n = n, .without = without, .steps = 10, .fixed_only = n > 4};
    for (uint32_t t = 0; t < n; t++)
        options.threads[t] = (ft_context_thread){
            .name = T[t], .points = {{0, 0}}, .calls = {{FT_NO_CALL, 0}}, .n = 1};
    ft_context *c = ft_context_new(p, &options);
    ft_context_answer answer;
    ft_context_answer_all(c, &answer);
    ft_context_free(c);
    ft_program_free(p);
    return answer;
}

static void paths_through_a_barrier(void **state)
{
    (void)state;
    const uint32_t counts = 1u << FT_CONTEXT_COUNTS, arrived = 1u << FT_CONTEXT_ARRIVED;
    static const uint64_t ALL[] = {2, 8, 42, 264}, KNOWN[] = {1, 2, 6, 24};
    for (uint32_t n = 1; n <= 4; n++) {
        assert_int_equal(paths_of(n, counts | arrived).all.paths, ALL[n - 1]);
        assert_int_equal(paths_of(n, 0).all.paths, KNOWN[n - 1]);
    }
    for (uint32_t n = 1; n <= 7; n++) {
        assert_int_equal(paths_of(n, counts | arrived).fixed.paths, 1 + n * (n + 1) / 2);
        assert_int_equal(paths_of(n, arrived).fixed.paths, n + 1);
        assert_int_equal(paths_of(n, counts).fixed.paths, n + 1);
        assert_int_equal(paths_of(n, 0).fixed.paths, 1);
    }
}

/* ---- threads in lock-step ---- */

/* Behind the barrier in the first round, and in a later one. */
static void rounds_tie_counters_together(void **state)
{
    (void)state;
    ft_program *p = oracle_program(
        "program 1\nobject @bar 32 align 8\nfunction @t(%a: i64) -> i64 {\n  b:\n    jump h(i32 "
        "0)\n"
        "  h(%i: i32):\n    %m = ult i32 %i, 9\n    branch %m, l, e\n  l:\n"
        "    barrier_wait @bar\n    %f = eq i32 %i, 0\n    branch %f, y, n\n  y:\n    yield\n"
        "    jump d\n  n:\n    yield\n    jump d\n  d:\n    %j = add i32 %i, 1\n    jump h(%j)\n"
        "  e:\n    return i64 0\n}\nfunction @main() -> i32 {\n  b:\n    barrier_init @bar, 2\n"
        "    %t = create @t, 0\n    %u = create @t, 0\n    return i32 0\n}\n");
    ft_context_point first = {0, 6}, later = {0, 8};
    const asked rows[] = {
        {first, later, 0, true},
        {first, first, 0, false},
        {later, later, 0, false},
        {first, later, 1u << FT_CONTEXT_MATCHING, false},
        {first, later, 1u << FT_CONTEXT_CONDITIONS, false},
    };
    expect_answers(p, rows, sizeof rows / sizeof *rows);
    ft_program_free(p);
}

/* ---- threads that have ended ---- */

/* Behind its join no thread is at a place any more, and before it there it may be; nor beside a
 * thread that was created behind the join. */
static void joined_threads_have_ended(void **state)
{
    (void)state;
    ft_program *p = oracle_program(
        "program 1\nobject @id 8 align 8\nfunction @t(%a: i64) -> i64 {\n  b:\n    yield\n"
        "    return i64 0\n}\nfunction @u(%a: i64) -> i64 {\n  b:\n    yield\n"
        "    return i64 0\n}\nfunction @main() -> i32 {\n  b:\n    %t = create @t, 0\n"
        "    store i64 %t, @id\n    yield\n    %i = load i64 @id\n    %r = join %i\n"
        "    yield\n    %u = create @u, 0\n    return i32 0\n}\n");
    ft_context_point in_t = {0, 0}, in_u = {1, 0}, before = {2, 2}, behind = {2, 5};
    const asked rows[] = {
        {in_t, before, 0, false},
        {in_t, behind, 0, true},
        {in_t, in_u, 0, true},
        {in_t, behind, 1u << FT_CONTEXT_JOINED, false},
        {in_t, in_u, 1u << FT_CONTEXT_JOINED, false},
    };
    expect_answers(p, rows, sizeof rows / sizeof *rows);
    assert_int_equal(ask_two(p, in_t, behind, 0).passes, 1u << FT_CONTEXT_JOINED);
    ft_program_free(p);
}

/* ---- functions that are called once, locks that are tried or taken again ---- */

static void once_tried_and_again(void **state)
{
    (void)state;
    ft_program *p = oracle_program(
        "program 1\nobject @f 4 align 4\nobject @l 40 align 8\nobject @m 40 align 8\n"
        "function @i() {\n  b:\n    yield\n    return\n}\n"
        "function @t(%a: i64) -> i64 {\n  b:\n    once @f, @i\n    yield\n"
        "    %r = try_lock @l\n    %z = eq i32 %r, 0\n    branch %z, y, d\n  y:\n    yield\n"
        "    unlock @l\n    jump d\n  d:\n    yield\n    return i64 0\n}\n"
        "function @u(%a: i64) -> i64 {\n  b:\n    lock @l\n    yield\n    unlock @l\n"
        "    lock @m\n    lock @m\n    unlock @m\n    yield\n    unlock @m\n    yield\n"
        "    return i64 0\n}\n"
        "function @main() -> i32 {\n  b:\n    mutex_init recursive @m\n    %t = create @t, 0\n"
        "    %s = create @t, 0\n    %u = create @u, 0\n    %v = create @u, 0\n"
        "    return i32 0\n}\n");
    const uint32_t once = 1u << FT_CONTEXT_ONCE, must = 1u << FT_CONTEXT_MUST_HELD;
    ft_context_point in_i = {0, 0}, at_once = {1, 0}, behind = {1, 1}, tried = {1, 5},
                     not_tried = {1, 8}, holds = {2, 1}, again = {2, 6}, given = {2, 8};
    const asked rows[] = {
        {in_i, in_i, 0, true},        {in_i, behind, 0, true},     {in_i, at_once, 0, false},
        {in_i, behind, once, false},  {tried, holds, 0, true},     {tried, tried, 0, true},
        {not_tried, holds, 0, false}, {tried, holds, must, false}, {again, again, 0, true},
        {again, given, 0, false},
    };
    expect_answers(p, rows, sizeof rows / sizeof *rows);
    ft_program_free(p);
}

static void write_plain(flow_random *r, uint64_t seed, ft_strbuf *out)
{
    (void)seed;
    oracle_write(r, out);
}

static uint32_t leave_out_none(uint64_t seed)
{
    (void)seed;
    return 0;
}

static void no_state_of_a_run_is_impossible(void **state)
{
    (void)state;
    oracle_counts counts = {0};
    (void)oracle_compare_seeds(60, write_plain, leave_out_none, &counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counterexamples_are_not_impossible),
        cmocka_unit_test(figure_2_1),
        cmocka_unit_test(paths_through_a_barrier),
        cmocka_unit_test(rounds_tie_counters_together),
        cmocka_unit_test(joined_threads_have_ended),
        cmocka_unit_test(once_tried_and_again),
        cmocka_unit_test(no_state_of_a_run_is_impossible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
