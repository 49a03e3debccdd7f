/* Merging runs of one program: the branching trace, what is refused, and that no run is lost. */
#include "tiny_trace.h"

#include "reader_check.h"
#include "trace/merge.h"
#include "verdict/checker.h"

enum { MOST_RUNS = 4 };

static const char *const NAMES[MOST_RUNS] = {"one", "two", "three", "four"};

static ft_status merge_texts(const char *const *texts, uint32_t n, ft_trace **merged, ft_error *err)
{
    ft_trace *traces[MOST_RUNS] = {NULL};
    for (uint32_t i = 0; i < n; i++) traces[i] = tiny_trace(texts[i]);
    ft_status status = ft_trace_merge((const ft_trace *const *)traces, NAMES, n, merged, err);
    for (uint32_t i = 0; i < n; i++) ft_trace_free(traces[i]);
    return status;
}

static ft_trace *merged_of(const char *const *texts, uint32_t n)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *merged = NULL;
    if (merge_texts(texts, n, &merged, &err)) fail_msg("%s", err.message);
    return merged;
}

static void expect_merged(const char *const *texts, uint32_t n, const char *expected)
{
    ft_trace *merged = merged_of(texts, n);
    reader_expect_events(merged, expected);
    assert_int_equal(merged->n_notes, 0);
    ft_trace_free(merged);
}

/* ---- Wang et al. Fig. 11 --------------------------------------------------------------------- */

#define VARS      "var x 0\nvar y 0\nlocal a\nlocal b\n"
#define FORKS     "T0: fork T1 @1\nT0: fork T2 @2\n"
#define FOO(c)    "T1: a := y @11\nT1: assume " c " @12\n"
#define FOO_THEN  FOO("(= a 0)") "T1: x := 1 @13\nT1: a := (+ x 1) @14\nT1: x := a @15\n"
#define FOO_ELSE  FOO("(not (= a 0))") "T1: x := 0 @17\n"
#define BAR(c)    "T2: b := x @21\nT2: assume " c " @22\n"
#define BAR_THEN  BAR("(= b 0)") "T2: y := 1 @23\nT2: b := (+ y 1) @24\nT2: y := b @25\n"
#define BAR_ELSE  BAR("(not (= b 0))") "T2: y := 0 @27\n"
#define JOINS     "T0: join T2 @3\nT0: join T1 @4\nT0: assert (distinct x y) @5\n"
#define FOO_FIRST VARS FORKS FOO_THEN BAR_ELSE JOINS
#define BAR_FIRST VARS FORKS BAR_THEN FOO_ELSE JOINS

static void test_fig11(void **state)
{
    (void)state;
    static const char *const RUNS[] = {FOO_FIRST, BAR_FIRST, FOO_FIRST, BAR_FIRST};
    static const char EXPECTED[] =
        "T0 fork T1\nT0 fork T2\n"
        "T1 a := y\nT1 if (= a 0)\nT1 x := 1\nT1 a := (+ x 1)\nT1 x := a\nT1 else\nT1 x := 0\n"
        "T1 end-if\n"
        "T2 b := x\nT2 if (not (= b 0))\nT2 y := 0\nT2 else\nT2 y := 1\nT2 b := (+ y 1)\n"
        "T2 y := b\nT2 end-if\n"
        "T0 join T2\nT0 join T1\nT0 assert (distinct x y)\n";
    expect_merged(RUNS, 2, EXPECTED);
    expect_merged(RUNS, 4, EXPECTED); /* further runs of the same ways add nothing */
}

/* Neither run alone has a schedule in which the assertion fails: T1's then-arm needs y = 0 and T2's
 * needs x = 0, and only together do they leave x = y = 2. */
static void test_finds_more(void **state)
{
    (void)state;
    static const char *const RUNS[] = {FOO_FIRST, BAR_FIRST};
    uint32_t steps[] = {0, 1, 2, 3, 10, 11, 4, 5, 6, 7, 9, 13, 14, 15, 16, 17, 18, 19};
    ft_trace *merged = merged_of(RUNS, 2);
    ft_observe_run(merged);
    assert_int_equal(merged->broken, FT_NO_EVENT);
    ft_witness witness = {.model = FT_MODEL_CTP,
                          .bound = FT_NO_BOUND,
                          .claim = {.kind = FT_CLAIM_ASSERTION, .events = {20}},
                          .n_steps = sizeof steps / sizeof *steps,
                          .steps = steps};
    ft_error err = FT_ERROR_INIT;
    ft_checker *checker = ft_checker_new(merged);
    if (ft_checker_check(checker, &witness, NULL, &err)) fail_msg("%s", err.message);
    ft_checker_free(checker);
    ft_trace_free(merged);
}

/* The merged trace is also what people read back. */
static ft_status append(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static void test_written(void **state)
{
    (void)state;
    static const char *const RUNS[] = {FOO_FIRST, BAR_FIRST};
    ft_trace *merged = merged_of(RUNS, 2), *again;
    ft_strbuf text = {0}, two = {0};
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_ndjson_write(merged, append, &text, &err), FT_OK);
    again = reader_accept(text.text, 0);
    assert_int_equal(ft_ndjson_write(again, append, &two, &err), FT_OK);
    assert_string_equal(text.text, two.text);
    ft_strbuf_release(&text);
    ft_strbuf_release(&two);
    ft_trace_free(again);
    ft_trace_free(merged);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

#define X "var x 0\nlocal a 0\nmutex l\n"

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *runs[MOST_RUNS];
        const char *expected;
    } ROWS[] = {
        /* an empty arm; relations of which one negates the other */
        {{X "T1: assume (> a 0) @1\nT1: x := 1 @2\nT1: x := 3 @3\n",
          X "T1: assume (<= a 0) @1\nT1: x := 3 @3\n"},
         "T1 if (> a 0)\nT1 x := 1\nT1 end-if\nT1 x := 3\n"},
        {{X "T1: assume (= a 0) @1\nT1: x := 3 @3\n",
          X "T1: assume (distinct a 0) @1\nT1: x := 1 @2\nT1: x := 3 @3\n"},
         "T1 if (= a 0)\nT1 else\nT1 x := 1\nT1 end-if\nT1 x := 3\n"},
        /* a condition that does not negate the other is kept */
        {{X "T1: assume (= a 0) @1\nT1: x := 1 @2\n", X "T1: assume (= a 5) @1\nT1: x := 2 @3\n"},
         "T1 if (= a 0)\nT1 x := 1\nT1 else\nT1 assume (= a 5)\nT1 x := 2\nT1 end-if\n"},
        /* a switch of three cases */
        {{X "T1: assume (= a 0) @1\nT1: x := 1 @2\nT1: x := 9 @9\n",
          X "T1: assume (= a 5) @1\nT1: x := 9 @9\n",
          X "T1: assume (= a 7) @1\nT1: x := 3 @4\nT1: x := 9 @9\n",
          X "T1: assume (= a 7) @1\nT1: x := 3 @4\nT1: x := 9 @9\n"},
         "T1 if (= a 0)\nT1 x := 1\nT1 else\nT1 if (= a 5)\nT1 else\nT1 assume (= a 7)\n"
         "T1 x := 3\nT1 end-if\nT1 end-if\nT1 x := 9\n"},
        /* a branch in an arm that only later runs know */
        {{X "T1: assume (= a 0) @1\nT1: x := 9 @9\n",
          X "T1: assume (not (= a 0)) @1\nT1: assume (= x 1) @2\nT1: x := 2 @3\nT1: x := 9 @9\n",
          X "T1: assume (not (= a 0)) @1\nT1: assume (not (= x 1)) @2\nT1: x := 9 @9\n"},
         "T1 if (= a 0)\nT1 else\nT1 if (= x 1)\nT1 x := 2\nT1 end-if\nT1 end-if\nT1 x := 9\n"},
        /* a loop that one run goes through once more */
        {{X "T1: assume (< a 9) @1\nT1: a := (+ a 1) @2\nT1: assume (>= a 9) @1\nT1: x := a @3\n",
          X "T1: assume (< a 9) @1\nT1: a := (+ a 1) @2\nT1: assume (< a 9) @1\n"
            "T1: a := (+ a 1) @2\nT1: assume (>= a 9) @1\nT1: x := a @3\n"},
         "T1 assume (< a 9)\nT1 a := (+ a 1)\nT1 if (>= a 9)\nT1 else\nT1 a := (+ a 1)\n"
         "T1 assume (>= a 9)\nT1 end-if\nT1 x := a\n"},
        /* the arms take a lock at the same place: they do not meet while they hold it */
        {{X "T1: assume (= a 0) @1\nT1: acq l @5\nT1: x := 1 @2\nT1: rel l @6\nT1: a := 9 @9\n",
          X "T1: assume (not (= a 0)) @1\nT1: acq l @5\nT1: x := 2 @3\nT1: rel l @6\n"
            "T1: a := 9 @9\n"},
         "T1 if (= a 0)\nT1 acquire l\nT1 x := 1\nT1 release l\nT1 else\nT1 acquire l\n"
         "T1 x := 2\nT1 release l\nT1 end-if\nT1 a := 9\n"},
        /* other threads stay where the first run had them, and joins behind what they wait for */
        {{X "T1: fork T2 @1\nT2: assume (= x 0) @5\nT1: a := 1 @2\nT2: x := 1 @6\nT1: join T2 @3\n",
          X "T1: fork T2 @1\nT1: a := 1 @2\nT2: assume (not (= x 0)) @5\nT2: x := 2 @7\n"
            "T1: join T2 @3\n"},
         "T1 fork T2\nT2 if (= x 0)\nT1 a := 1\nT2 x := 1\nT2 else\nT2 x := 2\nT2 end-if\n"
         "T1 join T2\n"},
        /* without locations a branch shows by conditions that negate each other */
        {{X "T1: assume (= a 0)\nT1: x := 1\n", X "T1: assume (not (= a 0))\nT1: x := 2\n"},
         "T1 if (= a 0)\nT1 x := 1\nT1 else\nT1 x := 2\nT1 end-if\n"},
        /* tables are united: y and U are new */
        {{X "T1: assume (= a 0) @1\n", X "var y 4\nT1: assume (not (= a 0)) @1\nT1: y := x @2\n"},
         "T1 if (= a 0)\nT1 else\nT1 y := x\nT1 end-if\n"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        uint32_t n = 0;
        while (n < MOST_RUNS && ROWS[i].runs[n]) n++;
        expect_merged(ROWS[i].runs, n, ROWS[i].expected);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *runs[2], *words[3];
    } ROWS[] = {
        {{X "T1: x := 1 @p.c:1\n", X "T1: x := 1 @p.c:2\n"},
         {"thread T1", "assign at p.c:1", "two: assign at p.c:2"}},
        {{X "T1: x := 1 @p.c:1\n", X "T1: x := 1 @p.c:1\nT1: x := 2 @p.c:2\n"},
         {"thread T1", "the end of the thread", "two: assign at p.c:2"}},
        {{X "T1: x := 1 @p.c:1\n", X "T1: x := 2 @p.c:1\n"}, {"without a branch", "p.c:1", ""}},
        {{X "T1: x := 1 @p.c:1\n", X "T1: x := 1 @p.c:1\nT3: x := 2 @p.c:2\n"},
         {"thread T3", "without a branch", "p.c:2"}},
        {{X "T1: assume (= a 0) @p.c:1\nT1: acq l @p.c:2\n",
          X "T1: assume (not (= a 0)) @p.c:1\nT1: x := 2 @p.c:3\n"},
         {"thread T1", "assume at p.c:1", "cannot be joined again"}},
        {{X "T1: assume (= a 0) @p.c:1\nT1: fork T2 @p.c:2\nT2: x := 1 @p.c:9\n",
          X "T1: assume (not (= a 0)) @p.c:1\nT1: x := 2 @p.c:3\n"},
         {"thread T1", "assume at p.c:1", "cannot be joined again"}},
        {{X "T1: assume (= a 0) @p.c:1\nT1: x := 2 @p.c:3\n",
          X "T1: assume (not (= a 0)) @p.c:1\nT1: r x 0 @p.c:4\n"},
         {"thread T1", "read at p.c:4", "a plain access"}},
        {{X "T1: x := 1\n", "var x 0\nmutex l\nT1: acq l\nT1: w x 1\n"},
         {"two has no symbolic events", "", ""}},
        {{X "T1: x := 1\n", "var x 7\nT1: x := 1\n"}, {"two: variable x", "initial value", ""}},
        {{X "T1: x := 1\n", "var x 0\nrec l\nT1: x := 1\n"}, {"two: lock l", "kind", ""}},
        {{X "sem s 1\nT1: x := 1\n", "var x 0\nsem s 2\nT1: x := 1\n"},
         {"two: semaphore s", "initial count", ""}},
        {{X "block m x\nT1: x := 1\n", "var x 0\nvar z 0\nblock m x z\nT1: x := 1\n"},
         {"two: block m", "set of variables", ""}},
        {{X "T1: x := 1\n", "var a 0\nT1: a := 1\n"}, {"a is a shared variable in one", "", ""}},
        {{X "T1: x := 1\n", X "T1: if (= a 0)\nT1: end-if\n"},
         {"two has branches already", "", ""}},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        ft_trace *merged = NULL;
        ft_error err = FT_ERROR_INIT;
        assert_int_equal(merge_texts(ROWS[i].runs, 2, &merged, &err), FT_INPUT);
        assert_null(merged);
        for (int w = 0; w < 3; w++)
            if (!strstr(err.message, ROWS[i].words[w]))
                fail_msg("row %zu: no \"%s\" in: %s", i, ROWS[i].words[w], err.message);
    }
}

/* ---- random programs: every run is a path of the merged trace ---------------------------------
 */

typedef struct random_program {
    uint64_t seed;
    uint32_t line;   /* of the next statement */
    ft_strbuf *runs; /* [n] */
    uint32_t n;
} random_program;

static uint32_t draw(random_program *p, uint32_t below)
{
    p->seed = ft_hash_u64(p->seed + 1);
    return (uint32_t)(p->seed >> 33) % below;
}

/* One block of statements, written for the runs in `in`; each run goes its own way at a branch. */
static void write_block(random_program *p, unsigned in, uint32_t depth)
{
    uint32_t statements = 1 + draw(p, 3);
    for (uint32_t s = 0; s < statements; s++) {
        uint32_t line = p->line++;
        bool branch = depth < 3 && draw(p, 2) == 0;
        unsigned taken = 0;
        for (uint32_t r = 0; r < p->n; r++) {
            if (!(in >> r & 1)) continue;
            bool holds = draw(p, 2);
            if (holds) taken |= 1u << r;
            if (branch)
                ft_strbuf_printf(&p->runs[r], "T1: assume %s @%u\n",
                                 holds ? "(= a 0)" : "(not (= a 0))", line);
            else
                ft_strbuf_printf(&p->runs[r], "T1: a := (+ a %u) @%u\n", line, line);
        }
        if (!branch) continue;
        write_block(p, taken, depth + 1);
        if (draw(p, 3)) write_block(p, in & ~taken, depth + 1);
    }
}

/* The index behind the arm that starts at e: at its else, its end-if or the end. */
static uint32_t arm_end(const ft_trace *trace, uint32_t e)
{
    for (uint32_t depth = 0; e < trace->n_events; e++) {
        if (trace->kind[e] == FT_EVENT_IF) depth++;
        if (depth == 0 && (trace->kind[e] == FT_EVENT_ELSE || trace->kind[e] == FT_EVENT_END_IF))
            break;
        if (trace->kind[e] == FT_EVENT_END_IF) depth--;
    }
    return e;
}

static bool same_text(const ft_trace *a, uint32_t i, const ft_trace *b, uint32_t j)
{
    return strcmp(ft_trace_location_text(a, a->loc[i]), ft_trace_location_text(b, b->loc[j])) == 0;
}

/* Walks through the merged trace as the run goes; what it does must be there, and nothing else. */
static void assert_is_path(const ft_trace *merged, const ft_trace *run)
{
    uint32_t e = 0, i = 0;
    while (e < merged->n_events) {
        ft_event_kind kind = merged->kind[e];
        if (kind == FT_EVENT_ELSE) e = arm_end(merged, e + 1); /* from the end of a then-arm */
        if (kind == FT_EVENT_ELSE || kind == FT_EVENT_END_IF) {
            e++;
            continue;
        }
        assert_true(i < run->n_events);
        assert_true(same_text(merged, e, run, i));
        if (kind == FT_EVENT_IF) {
            ft_strbuf one = {0}, two = {0};
            ft_trace_print_event(merged, e, &one);
            ft_trace_print_event(run, i, &two);
            bool holds = strcmp(one.text + 3, two.text + 7) == 0; /* behind "if " and "assume " */
            ft_strbuf_release(&one);
            ft_strbuf_release(&two);
            if (!holds) e = arm_end(merged, e + 1);
        }
        e++;
        i++;
    }
    assert_int_equal(i, run->n_events);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        ft_strbuf texts[MOST_RUNS] = {{0}};
        random_program p = {.seed = seed, .line = 1, .runs = texts, .n = MOST_RUNS};
        const char *runs[MOST_RUNS];
        for (uint32_t r = 0; r < p.n; r++) ft_strbuf_puts(&texts[r], "local a 0\n");
        write_block(&p, (1u << p.n) - 1, 0);
        for (uint32_t r = 0; r < p.n; r++) runs[r] = texts[r].text;
        ft_trace *merged = merged_of(runs, p.n);
        for (uint32_t r = 0; r < p.n; r++) {
            ft_trace *run = tiny_trace(runs[r]);
            assert_is_path(merged, run);
            ft_trace_free(run);
            ft_strbuf_release(&texts[r]);
        }
        ft_trace_free(merged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fig11),   cmocka_unit_test(test_finds_more),
        cmocka_unit_test(test_written), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
