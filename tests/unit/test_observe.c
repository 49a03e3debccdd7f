/* The run over the observed order at ingest: breaks, failed assertions, initial values. */
#include "tiny_trace.h"

#include "verdict/checker.h"

static const struct {
    const char *name, *trace;
    uint32_t broken; /* 1-based, 0: none */
    const char *text;
} RUNS[] = {
    {"lock taken while held", "var x\nmutex l\nT1: acq l\nT2: acq l\nT1: rel l\nT2: rel l\n", 2,
     "lock l is held by T1"},
    {"mutex taken twice", "mutex l\nT1: acq l\nT1: acq l\n", 2, "lock l is held by T1"},
    {"recursive taken twice", "rec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: rel l\n", 0, NULL},
    {"stranger's release", "mutex l\nT1: acq l\nT2: rel l\nT1: rel l\n", 0, NULL},
    {"semaphore below zero", "sem s 1\nT1: wait s\nT2: wait s\n", 2, "semaphore s is at 0"},
    {"read that no write explains", "var x 0\nT1: w x 1\nT2: r x 2\n", 2, "the variable holds 1"},
    {"read of another initial value", "var x 0\nT2: r x 2\n", 1, "the variable holds 0"},
    {"two first values", "var x\nT1: r x 1\nT2: r x 2\n", 2, "the variable holds 1"},
    {"read of an unknown value", "var x 0\nT1: w x\nT2: r x 2\n", 0, NULL},
    {"assume fails", "var x 0\nT1: x := 1\nT2: assume (= x 0)\n", 2, "condition is false"},
    {"guard fails", "var x 0\nT1: x := 1 if (= x 7)\n", 1, "condition is false"},
    {"assert fails", "var x 0\nT1: assert (= x 1)\nT1: w x 2\n", 0, NULL},
    {"division by zero", "var x 0\nT1: x := (div 1 x)\n", 1, "divides by zero"},
    {"unknown condition", "var x\nT1: assume (= x 0)\n", 0, NULL},
    {"event before its fork", "var x\nT2: w x\nT1: fork T2\nT1: w x\n", 1, "not forked"},
    {"event of a joined thread", "var x\nT2: w x\nT1: join T2\nT1: w x\nT2: w x\n", 2,
     "thread T2 has not ended"},
    {"edge-in before its edge-out", "var x\nT2: in e\nT2: w x\nT1: out e\n", 1, "the edge-out e"},
    {"the first of two breaks", "sem s 0\nmutex l\nT1: acq l\nT2: wait s\nT2: acq l\nT1: rel l\n",
     2, "semaphore s"},
};

static void test_observed_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof RUNS / sizeof *RUNS; i++) {
        ft_trace *trace = tiny_trace(RUNS[i].trace);
        ft_observe_run(trace);
        uint32_t broken = trace->broken == FT_NO_EVENT ? 0 : trace->broken + 1;
        if (broken != RUNS[i].broken)
            fail_msg("%s: broken at %u: %s", RUNS[i].name, broken, trace->broken_text);
        if (RUNS[i].text)
            assert_non_null(strstr(trace->broken_text, RUNS[i].text));
        else
            assert_null(trace->broken_text);
        ft_trace_free(trace);
    }
}

static void test_failed_flag(void **state)
{
    (void)state;
    ft_trace *trace =
        tiny_trace("var x 0\nT1: assert (= x 1)\nT1: assert (= x 0)\nT1: assert true\n");
    ft_observe_run(trace);
    assert_true(trace->flags[0] & FT_FLAG_FAILED);
    assert_false(trace->flags[1] & FT_FLAG_FAILED);
    assert_false(trace->flags[2] & FT_FLAG_FAILED);
    ft_trace_free(trace);
}

static void test_initial_values(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace("var x\nvar y\nvar z 3\nvar u\nlocal a 0\nT1: a := x\nT1: r x 5\n"
                                 "T1: w y 1\nT1: r y 1\nT1: r z 3\nT1: r u\nT1: r x 5\n");
    ft_observe_run(trace);
    const ft_variable *info = trace->shared_info;
    assert_int_not_equal(info[0].initial, FT_NO_VALUE);
    assert_int_equal(trace->values[info[0].initial].bits, 5);
    assert_int_equal(info[1].initial, FT_NO_VALUE);
    assert_int_equal(trace->values[info[2].initial].bits, 3);
    assert_int_equal(info[3].initial, FT_NO_VALUE);
    assert_int_equal(trace->broken, FT_NO_EVENT);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observed_run),
        cmocka_unit_test(test_failed_flag),
        cmocka_unit_test(test_initial_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
