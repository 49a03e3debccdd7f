/* Branches: what the readers accept, the paths of events, the observed run and the checker. */
#include "tiny_trace.h"

#include "reader_check.h"
#include "verdict/checker.h"

enum { MOST = 32 };

/* ---- reading -------------------------------------------------------------------------------- */

#define HEAD                                                                                       \
    "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T1\",\"T2\"],"                          \
    "\"variables\":{\"x\":0},\"locals\":{\"a\":\"Int\",\"c\":0},\"locks\":{\"l\":\"mutex\"},"      \
    "\"conditions\":[\"k\"],\"barriers\":{\"b\":1},\"onces\":[\"o\"]}\n"
#define T1         "{\"thread\":\"T1\",\"kind\":"
#define IF         T1 "\"if\",\"term\":\"(= c 0)\"}\n"
#define ELSE       T1 "\"else\"}\n"
#define END_IF     T1 "\"end-if\"}\n"
#define SET_A      T1 "\"assign\",\"set\":{\"a\":1}}\n"
#define USE_A      T1 "\"assign\",\"set\":{\"c\":\"a\"}}\n"
#define ON(kind)   T1 "\"" kind "\"}\n"
#define LOCK(kind) T1 "\"" kind "\",\"lock\":\"l\"}\n"
#define COND(kind) T1 "\"" kind "\",\"cond\":\"k\"}\n"

static void test_accepted(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        IF END_IF,
        IF SET_A ELSE END_IF,
        IF IF ELSE END_IF ELSE IF END_IF END_IF,
        IF SET_A ELSE SET_A END_IF USE_A,                      /* assigned in both arms */
        SET_A IF USE_A ELSE END_IF USE_A,                      /* and before */
        IF IF SET_A ELSE SET_A END_IF ELSE SET_A END_IF USE_A, /* in all three */
        IF LOCK("acquire") LOCK("release") ELSE LOCK("acquire") LOCK("release") END_IF,
        LOCK("acquire") IF COND("cond-wait") LOCK("release") COND("cond-wake") LOCK("acquire")
            END_IF LOCK("release"),
        IF ON("tx-begin") IF END_IF ON("tx-end") END_IF,
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        ft_strbuf text = {0};
        ft_strbuf_printf(&text, "%s%s", HEAD, TEXTS[i]);
        ft_trace *trace = reader_accept(text.text, 0);
        assert_int_equal(reader_note(trace, "unclosed-branch"), 0);
        ft_trace_free(trace);
        ft_strbuf_release(&text);
    }
}

static void test_refused(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "@@\"else\"}\n", "without an open");
    reader_refuse(HEAD T1 "@@\"end-if\"}\n", "without an open");
    reader_refuse(HEAD IF "{\"thread\":\"T2\",\"kind\":@@\"end-if\"}\n", "without an open");
    reader_refuse(HEAD IF ELSE T1 "@@\"else\"}\n", "a second \"else\"");
    reader_refuse(HEAD IF END_IF T1 "@@\"end-if\"}\n", "without an open");
    reader_refuse(HEAD "@@" T1 "\"if\"}\n", "needs the member \"term\"");
    reader_refuse(HEAD IF T1 "\"else\",@@\"term\":\"true\"}\n", "does not belong");
    reader_refuse(HEAD IF T1 "@@\"fork\",\"child\":\"T2\"}\n", "cannot stand in an arm");
    reader_refuse(HEAD IF ELSE T1 "@@\"join\",\"child\":\"T2\"}\n", "cannot stand in an arm");
    reader_refuse(HEAD IF T1 "@@\"end\"}\n", "cannot stand in an arm");
    reader_refuse(HEAD IF T1 "@@\"edge-out\",\"edge\":\"e\"}\n", "cannot stand in an arm");
    reader_refuse(HEAD IF T1 "@@\"barrier-arrive\",\"barrier\":\"b\"}\n", "cannot stand");
    reader_refuse(HEAD IF T1 "@@\"once-pass\",\"once\":\"o\"}\n", "cannot stand in an arm");
    reader_refuse(HEAD IF LOCK("acquire") T1 "@@\"else\"}\n", "inside a critical section");
    reader_refuse(HEAD IF LOCK("acquire") T1 "@@\"end-if\"}\n", "inside a critical section");
    reader_refuse(HEAD LOCK("acquire") IF T1 "@@\"release\",\"lock\":\"l\"}\n", "its acquire");
    reader_refuse(HEAD IF LOCK("acquire") IF T1 "@@\"release\",\"lock\":\"l\"}\n", "its acquire");
    reader_refuse(HEAD IF ON("tx-begin") T1 "@@\"end-if\"}\n", "inside a transaction");
    reader_refuse(HEAD ON("tx-begin") IF T1 "@@\"tx-end\"}\n", "its \"tx-begin\"");
    reader_refuse(HEAD IF COND("cond-wait") T1 "@@\"end-if\"}\n", "inside a condition wait");
    reader_refuse(HEAD COND("cond-wait") IF T1 "@@\"cond-wake\",\"cond\":\"k\"}\n",
                  "its \"cond-wait\"");
}

/* A local that only one arm assigns has no value behind the end-if (Wang et al. §8). */
static void test_locals(void **state)
{
    (void)state;
    const char *words = "before the thread assigned it on every path";
    reader_refuse(HEAD IF SET_A END_IF T1 "\"assign\",\"set\":{\"c\":\"@@a\"}}\n", words);
    reader_refuse(HEAD IF SET_A ELSE END_IF T1 "\"assign\",\"set\":{\"c\":\"@@a\"}}\n", words);
    reader_refuse(HEAD IF ELSE SET_A END_IF T1 "\"assign\",\"set\":{\"c\":\"@@a\"}}\n", words);
    reader_refuse(HEAD IF SET_A ELSE T1 "\"assign\",\"set\":{\"c\":\"@@a\"}}\n", words);
    reader_refuse(HEAD IF IF SET_A END_IF ELSE SET_A END_IF T1 "\"if\",\"term\":\"(= @@a 0)\"}\n",
                  words);
}

/* ---- paths ---------------------------------------------------------------------------------- */

static void assert_paths(const ft_trace *trace, const uint32_t *paths)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (ft_trace_path(trace, e) != paths[e])
            fail_msg("event %u: path %u", e + 1, ft_trace_path(trace, e));
}

static const char NESTED[] = "var x 0\nlocal a 0\n"
                             "T1: if (= x 0)\nT2: if (= x 1)\nT1: a := 1\nT1: if (= x 2)\n"
                             "T1: a := 2\nT1: else\nT1: a := 3\nT1: end-if\nT1: else\nT2: else\n"
                             "T2: a := 4\nT1: a := 5\nT1: end-if\nT1: a := 6\nT2: end-if\n";

/* Ifs are numbered in the order of the trace: event 1, event 2, event 4. */
static const uint32_t NESTED_PATHS[] = {0, 0, 1, 1, 5, 1, 6, 1, 0, 0, 4, 2, 0, 0, 0};

static void test_paths(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace(NESTED);
    static const ft_path PATHS[] = {{0, FT_NO_EVENT, true}, {0, 0, true},  {0, 0, false},
                                    {0, 1, true},           {0, 1, false}, {1, 3, true},
                                    {1, 3, false}};
    assert_int_equal(trace->n_paths, 7);
    for (uint32_t p = 0; p < 7; p++) {
        assert_int_equal(trace->paths[p].parent, PATHS[p].parent);
        assert_int_equal(trace->paths[p].branch, PATHS[p].branch);
        assert_int_equal(trace->paths[p].taken, PATHS[p].taken);
    }
    assert_paths(trace, NESTED_PATHS);
    assert_int_equal(ft_trace_arm(trace, 1, true), 3);
    assert_int_equal(ft_trace_arm(trace, 3, false), 6);
    ft_trace_free(trace);
    trace = tiny_trace("var x 0\nT1: x := 1\n");
    assert_int_equal(trace->n_paths, 0);
    assert_null(trace->path);
    assert_int_equal(ft_trace_path(trace, 0), 0);
    ft_trace_free(trace);
}

static void test_unclosed(void **state)
{
    (void)state;
    ft_trace *trace = reader_accept(HEAD IF SET_A IF ELSE SET_A, 0);
    static const uint32_t PATHS[] = {0, 1, 1, 1, 4};
    assert_int_equal(reader_note(trace, "unclosed-branch"), 2);
    assert_paths(trace, PATHS);
    ft_trace_free(trace);
}

static ft_status append(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static void assert_equal_events(const ft_trace *a, const ft_trace *b, bool flags)
{
    assert_int_equal(a->n_events, b->n_events);
    assert_int_equal(a->n_paths, b->n_paths);
    assert_int_equal(a->n_notes, b->n_notes);
    for (uint32_t e = 0; e < a->n_events; e++) {
        assert_int_equal(a->kind[e], b->kind[e]);
        assert_int_equal(ft_trace_path(a, e), ft_trace_path(b, e));
        if (flags) assert_int_equal(a->flags[e], b->flags[e]);
    }
}

/* The observed run decides which arms were taken: NDJSON does not have it, the binary form does. */
static void test_round_trips(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace(NESTED), *again;
    ft_error err = FT_ERROR_INIT;
    ft_strbuf text = {0}, bytes = {0};
    ft_observe_run(trace);
    assert_int_equal(ft_ndjson_write(trace, append, &text, &err), FT_OK);
    assert_int_equal(ft_trace_read_memory(text.text, text.len, &again, &err), FT_OK);
    assert_equal_events(trace, again, false);
    assert_false(again->flags[4] & FT_FLAG_PASSED);
    ft_trace_free(again);
    assert_int_equal(ft_binary_write(trace, append, &bytes, &err), FT_OK);
    assert_int_equal(ft_trace_read_memory(bytes.text, bytes.len, &again, &err), FT_OK);
    assert_equal_events(trace, again, true);
    ft_trace_free(again);
    ft_trace_free(trace);
    ft_strbuf_release(&text);
    ft_strbuf_release(&bytes);
}

/* ---- the observed run ------------------------------------------------------------------------ */

static void assert_passed(const char *text, const char *events, const char *broken)
{
    ft_trace *trace = tiny_trace(text);
    uint32_t passed[MOST], n = tiny_numbers(events, passed, MOST);
    ft_observe_run(trace);
    for (uint32_t e = 0, i = 0; e < trace->n_events; e++) {
        bool expected = i < n && passed[i] == e;
        if (((trace->flags[e] & FT_FLAG_PASSED) != 0) != expected)
            fail_msg("event %u of\n%s", e + 1, text);
        i += expected;
    }
    if (broken)
        assert_non_null(trace->broken_text ? strstr(trace->broken_text, broken) : NULL);
    else
        assert_null(trace->broken_text);
    ft_trace_free(trace);
}

static void test_observed(void **state)
{
    (void)state;
    assert_passed(NESTED, "5 12", NULL);
    assert_passed("var x 0\nT1: if (= x 1)\nT1: x := 2\nT1: else\nT1: x := 1\nT1: end-if\n"
                  "T1: assume (= x 1)\n",
                  "2", NULL);
    /* What is passed over takes no lock, fails no condition, and hides its inner ifs. */
    assert_passed("var x 0\nmutex l\nT1: if (= x 1)\nT2: acq l\nT1: acq l\nT1: assume (= x 9)\n"
                  "T1: if (= x 0)\nT1: x := 7\nT1: end-if\nT1: rel l\nT2: rel l\nT1: end-if\n"
                  "T2: assume (= x 0)\n",
                  "3 4 5 6 7 8", NULL);
    assert_passed("var x 0\nT1: if (= x 1)\nT1: x := 2\nT2: join T1\nT2: x := 3\n", "2", NULL);
    assert_passed("var x\nT1: w x\nT1: if (= x 1)\nT1: else\nT1: w x\nT1: end-if\n", "4",
                  "which arm was taken");
    assert_passed("var x 0\nT1: if (= (div 1 x) 1)\nT1: end-if\n", "", "divides by zero");
}

/* ---- the checker ----------------------------------------------------------------------------- */

/* Wang et al. Fig. 11, in the order in which T1 goes first. */
#define FIG11                                                                                      \
    "var x 0\nvar y 0\nlocal a\nlocal b\n"                                                         \
    "T0: fork T1\nT0: fork T2\n"                                                                   \
    "T1: a := y\nT1: if (= a 0)\nT1: x := 1\nT1: a := (+ x 1)\nT1: x := a\nT1: else\n"             \
    "T1: x := 0\nT1: end-if\n"                                                                     \
    "T2: b := x\nT2: if (= b 0)\nT2: y := 1\nT2: b := (+ y 1)\nT2: y := b\nT2: else\n"             \
    "T2: y := 0\nT2: end-if\n"                                                                     \
    "T0: join T2\nT0: join T1\nT0: assert (distinct x y)\n"
#define PHI                                                                                        \
    "var x 0\nlocal a 0\nT1: if (= x 0)\nT1: a := 1\nT1: else\nT1: a := 2\nT1: end-if\n"           \
    "T1: assert (= a 1)\nT2: x := 1\n"
#define TAIL                                                                                       \
    "var x 0\nT1: fork T2\nT3: x := 5\nT2: if (= x 0)\nT2: x := 1\nT1: join T2\nT1: x := 7\n"      \
    "T3: x := 8\n"
#define ASLEEP                                                                                     \
    "var x 1\nsem s 0\nT1: if (= x 0)\nT1: wait s\nT1: else\nT1: x := 2\nT1: end-if\nT2: wait s\n"
#define BAD(m) FT_INPUT, m

static const struct {
    const char *name, *trace;
    ft_model model;
    ft_claim_kind claim;
    const char *events, *steps;
    ft_status status;
    const char *message; /* part of the refusal */
} CHECKS[] = {
    {"both then", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21",
     "1 2 3 4 11 12 5 6 7 8 10 13 14 15 16 18 19 20", FT_OK, NULL},
    {"as in the run", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21",
     "1 2 3 4 5 6 7 8 10 11 12 16 17 18 19 20", BAD("the condition holds there")},
    {"the other arm", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21", "1 2 3 4 11 12 17",
     BAD("an arm that its thread did not take")},
    {"the run's arm, not taken here", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21",
     "1 2 11 12 13 14 15 16 18 3 4 5", BAD("an arm that its thread did not take")},
    {"an else is a step", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21", "1 2 3 4 5 6 7 10",
     BAD("event 8 comes before it")},
    {"an arm is not skipped", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21", "1 2 3 4 8",
     BAD("event 7 comes before it")},
    {"an end-if is a step", FIG11, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "21",
     "1 2 3 4 5 6 7 8 10 11 12 16 17 19", BAD("thread T2 has not ended")},
    {"a claim in an arm", FIG11, FT_MODEL_CTP, FT_CLAIM_CO_ENABLED, "9 18",
     "1 2 11 12 13 14 15 16 3 4 8", FT_OK, NULL},
    {"a claim in an arm not taken", FIG11, FT_MODEL_CTP, FT_CLAIM_CO_ENABLED, "9 11", "1 2 3 4",
     BAD("an arm that its thread did not take")},
    {"an arm of the run, observed", FIG11, FT_MODEL_OBSERVED, FT_CLAIM_RACE, "5 11", "1 2 3 4",
     FT_OK, NULL},
    {"another arm, observed", FIG11, FT_MODEL_OBSERVED, FT_CLAIM_ASSERTION, "21", "1 2 11",
     BAD("from another write")},
    {"another arm, maximal", FIG11, FT_MODEL_MAXIMAL, FT_CLAIM_ASSERTION, "21", "1 2 11",
     BAD("another value")},
    {"the local of the arm taken", PHI, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "6", "7 1 3 4 5", FT_OK,
     NULL},
    {"the local of the other arm", PHI, FT_MODEL_CTP, FT_CLAIM_ASSERTION, "6", "1 2 3 5",
     BAD("the condition holds there")},
    {"the condition's read races", PHI, FT_MODEL_CTP, FT_CLAIM_RACE, "1 7", "", FT_OK, NULL},
    {"the thread ends in an arm not taken", TAIL, FT_MODEL_CTP, FT_CLAIM_RACE, "6 7", "1 2 3 5",
     FT_OK, NULL},
    {"the thread ends in an arm taken", TAIL, FT_MODEL_CTP, FT_CLAIM_RACE, "6 7", "1 3 5",
     BAD("thread T2 has not ended")},
    {"no arm is known", "var x 1\nT1: if (= (div 1 x) 1)\nT1: x := 2\nT1: end-if\nT2: x := 0\n",
     FT_MODEL_CTP, FT_CLAIM_RACE, "2 4", "4 1", BAD("divides by zero")},
    {"control: both arms of the run's other way", FIG11, FT_MODEL_CONTROL, FT_CLAIM_ASSERTION, "21",
     "1 2 3 4 8 9 10 11 12 13 14 15 16 18 19 20", FT_OK, NULL},
    {"control: both arms of one if", FIG11, FT_MODEL_CONTROL, FT_CLAIM_ASSERTION, "21",
     "1 2 3 4 5 6 7 8 9", BAD("an arm that its thread did not take")},
    {"control: no arm of an if", FIG11, FT_MODEL_CONTROL, FT_CLAIM_ASSERTION, "21", "1 2 3 4 8 10",
     BAD("event 9 comes before it")},
    {"control: the thread ends early", TAIL, FT_MODEL_CONTROL, FT_CLAIM_RACE, "6 7", "1 2 3 5",
     FT_OK, NULL},
    {"control: a joined thread stays ended", TAIL, FT_MODEL_CONTROL, FT_CLAIM_RACE, "6 7",
     "1 2 3 5 4", BAD("an arm that its thread did not take")},
    {"control: some way is blocked", ASLEEP, FT_MODEL_CONTROL, FT_CLAIM_STUCK, "6", "1", FT_OK,
     NULL},
    {"control: stuck in an arm", ASLEEP, FT_MODEL_CONTROL, FT_CLAIM_STUCK, "2", "1", FT_OK, NULL},
    {"stuck beside a thread that goes on", ASLEEP, FT_MODEL_CTP, FT_CLAIM_STUCK, "6", "1",
     BAD("not blocked")},
    {"stuck at the end", ASLEEP, FT_MODEL_CTP, FT_CLAIM_STUCK, "6", "1 3 4 5", FT_OK, NULL},
};

static void test_checker(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS; i++) {
        ft_trace *trace = tiny_trace(CHECKS[i].trace);
        ft_observe_run(trace);
        uint32_t steps[MOST];
        ft_witness witness = {.model = CHECKS[i].model,
                              .bound = FT_NO_BOUND,
                              .claim = {.kind = CHECKS[i].claim},
                              .steps = steps};
        witness.n_steps = tiny_numbers(CHECKS[i].steps, steps, MOST);
        tiny_numbers(CHECKS[i].events, witness.claim.events, MOST);
        ft_error err = FT_ERROR_INIT;
        ft_checker *checker = ft_checker_new(trace);
        ft_status status = ft_checker_check(checker, &witness, NULL, &err);
        bool words = !CHECKS[i].message || strstr(err.message, CHECKS[i].message);
        if (status != CHECKS[i].status || !words)
            fail_msg("%s: %s: %s", CHECKS[i].name, ft_status_name(status), err.message);
        ft_checker_free(checker);
        ft_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_locals),   cmocka_unit_test(test_paths),
        cmocka_unit_test(test_unclosed), cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_observed), cmocka_unit_test(test_checker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
