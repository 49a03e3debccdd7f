/* Broken traces: what keeps its verdict, and that it is true whatever happened at the break. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/doubt.h"
#include "engine/engine.h"
#include "trace/reader.h"
#include "trace_support.h"
#include "verdict/checker.h"

/* ---- verdicts by key: each event has a location of its own ---- */

static ft_trace *read_trace(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    if (ft_trace_read_memory(text, strlen(text), &trace, &err) != FT_OK)
        fail_msg("%s\n%s", err.message, text);
    ft_observe_run(trace);
    return trace;
}

static void add_verdict(json_t *verdicts, const json_t *record)
{
    const char *key = json_string_value(json_object_get(record, "key"));
    if (key) json_object_set(verdicts, key, json_object_get(record, "verdict"));
}

static json_t *verdicts_of(ft_trace *trace, const char *model)
{
    ft_error err = FT_ERROR_INIT;
    ft_engine *engine = NULL;
    json_t *spec = json_pack("{s:[s, s], s:s}", "checks", "race", "atomicity", "model", model);
    json_t *plan = NULL, *record, *verdicts = json_object(), *each;
    size_t i;
    if (ft_engine_new(trace, "", spec, &engine, &err) != FT_OK) fail_msg("%s", err.message);
    if (ft_engine_plan(engine, &plan, &err) != FT_OK) fail_msg("%s", err.message);
    json_array_foreach(json_object_get(plan, "records"), i, each) add_verdict(verdicts, each);
    for (i = 0; i < json_array_size(json_object_get(plan, "subproblems")); i++) {
        if (ft_engine_solve(engine, (uint32_t)i, NULL, &record, &err) != FT_OK)
            fail_msg("%s", err.message);
        add_verdict(verdicts, record);
        json_decref(record);
    }
    json_decref(plan);
    json_decref(spec);
    ft_engine_free(engine);
    return verdicts;
}

static void expect(const char *text, const char *key, const char *verdict)
{
    ft_trace *trace = read_trace(text);
    json_t *verdicts = verdicts_of(trace, "observed");
    const char *found = json_string_value(json_object_get(verdicts, key));
    if (!found || strcmp(found, verdict) != 0)
        fail_msg("%s: expected %s, found %s in\n%s", key, verdict, found ? found : "none", text);
    json_decref(verdicts);
    ft_trace_free(trace);
}

/* ---- by hand ---- */

#define OVERLAP "T1|acq(l)|o1\nT1|w(x)|a1\nT2|acq(l)|o2\nT1|rel(l)|o3\nT2|w(x)|b1\nT2|rel(l)|o4\n"

/* Another lock, fork and join decide without the lock that two threads held. */
static void test_apart_from_the_lock(void **state)
{
    (void)state;
    static const char TEXT[] = "T1|fork(T2)|f\nT1|acq(m)|m1\nT1|w(y)|a2\nT1|rel(m)|m2\n"
                               "T2|acq(m)|m3\nT2|w(y)|b2\nT2|rel(m)|m4\n" OVERLAP
                               "T2|w(u)|b3\nT1|join(T2)|j\nT1|w(u)|a4\n";
    ft_trace *trace = read_trace(TEXT);
    assert_int_not_equal(trace->broken, FT_NO_EVENT);
    ft_trace_free(trace);
    expect(TEXT, "race|write-write|a2|b2", "safe");
    expect(TEXT, "race|write-write|a4|b3", "safe");
    expect(TEXT, "race|write-write|a1|b1", "unknown"); /* the lock itself protects it */
}

static void test_forked_before(void **state)
{
    (void)state;
    expect("T0|w(g)|c1\nT0|fork(T1)|f1\nT0|fork(T2)|f2\n" OVERLAP "T2|w(g)|b9\n",
           "race|write-write|b9|c1", "safe");
    expect("T0|fork(T1)|f1\nT0|fork(T2)|f2\n" OVERLAP "T0|w(g)|c1\nT2|w(g)|b9\n",
           "race|write-write|b9|c1", "violation");
}

/* What was read in the overlapping sections is in doubt: the read keeps nothing in order. */
static void test_reads_in_doubt(void **state)
{
    (void)state;
    static const char TEXT[] = "T1|acq(l)|o1\nT2|acq(l)|o2\nT1|w(g)|a0\nT1|w(x)|a1\nT2|r(x)|b1\n"
                               "T1|rel(l)|o3\nT2|rel(l)|o4\nT2|w(g)|b2\n";
    ft_trace *trace = read_trace(TEXT);
    ft_doubt *doubt = ft_doubt_new(trace);
    assert_non_null(doubt);
    assert_int_equal(ft_doubt_locks(doubt)[0], 1);
    assert_int_equal(ft_doubt_relaxed(doubt)->broken, FT_NO_EVENT);
    ft_doubt_free(doubt);
    ft_trace_free(trace);
    expect(TEXT, "race|write-write|a0|b2", "unknown");
}

static void test_all_in_doubt(void **state)
{
    (void)state;
    /* Another kind of break; and sections that hand something over by more than variables. */
    static const char *const TEXTS[] = {"T2|w(x)|1\nT1|fork(T2)|2\nT1|w(y)|3\nT2|w(y)|4\n",
                                        "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"A\","
                                        "\"B\"],\"locks\":{\"l\":\"mutex\"},"
                                        "\"semaphores\":{\"s\":0}}\n"
                                        "{\"thread\":\"A\",\"kind\":\"acquire\",\"lock\":\"l\"}\n"
                                        "{\"thread\":\"B\",\"kind\":\"acquire\",\"lock\":\"l\"}\n"
                                        "{\"thread\":\"A\",\"kind\":\"post\",\"semaphore\":\"s\"}\n"
                                        "{\"thread\":\"A\",\"kind\":\"release\",\"lock\":\"l\"}\n"
                                        "{\"thread\":\"B\",\"kind\":\"release\",\"lock\":\"l\"}\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        ft_trace *trace = read_trace(TEXTS[i]);
        assert_int_not_equal(trace->broken, FT_NO_EVENT);
        assert_null(ft_doubt_new(trace));
        ft_trace_free(trace);
    }
}

/* ---- at random: a run, and the same run with a section logged too early ---- */

enum { RUNNERS = 3, LINES = 30 };

typedef struct step {
    uint32_t thread, op, object; /* op: r w a(cquire) l(et go) */
    uint32_t place;              /* its location, whatever its place in the log */
} step;

static uint32_t make_run(uint64_t *random, step *steps)
{
    uint32_t holder[3] = {0}, holds[RUNNERS] = {0}, n = 0;
    while (n < LINES) {
        uint32_t t = rnd(random, RUNNERS), l = rnd(random, 3), op = rnd(random, 4);
        if (op == 0 && !holds[t] && !holder[l]) {
            holder[l] = t + 1, holds[t] = l + 1;
            steps[n] = (step){t, 'a', l, n};
        } else if (op == 1 && holds[t]) {
            steps[n] = (step){t, 'l', holds[t] - 1, n};
            holder[holds[t] - 1] = 0;
            holds[t] = 0;
        } else {
            steps[n] = (step){t, rnd(random, 2) ? 'r' : 'w', rnd(random, 5), n};
        }
        n++;
    }
    return n;
}

static char *text_of(const step *steps, uint32_t n)
{
    ft_strbuf out = {0};
    for (uint32_t i = 0; i < n; i++) {
        const step *s = &steps[i];
        bool lock = s->op == 'a' || s->op == 'l';
        const char *op = s->op == 'a' ? "acq" : s->op == 'l' ? "rel" : s->op == 'r' ? "r" : "w";
        ft_strbuf_printf(&out, "T%u|%s(%c%u)|p%02u\n", s->thread, op, lock ? 'l' : 'x', s->object,
                         s->place);
    }
    return ft_strbuf_take(&out);
}

static bool commutes(const step *a, const step *b, uint32_t other)
{
    if (a->thread == b->thread) return false;
    if (a->thread == other || b->thread == other) return true;
    bool locks = (a->op == 'a' || a->op == 'l') == (b->op == 'a' || b->op == 'l');
    return !locks || a->object != b->object || (a->op == 'r' && b->op == 'r');
}

/* An acquire, and perhaps events behind it, come before the release that it waited for: past the
 * other holder's events, and past nothing of third threads that matters. False: no such place. */
static bool log_early(uint64_t *random, step *steps, uint32_t n)
{
    uint32_t at = rnd(random, n), moved = 0, most = 1 + rnd(random, 3), other = RUNNERS;
    while (at < n && steps[at].op != 'a') at++;
    if (at == n) return false;
    for (uint32_t i = at; i-- > 0 && other == RUNNERS;)
        if (steps[i].op == 'l' && steps[i].object == steps[at].object) other = steps[i].thread;
    if (other == RUNNERS || other == steps[at].thread) return false;
    uint32_t thread = steps[at].thread, back = 1 + rnd(random, 6);
    for (uint32_t from = at; from < n && moved < most; from++) {
        if (steps[from].thread != thread) continue;
        if (steps[from].op == 'l') break;
        step s = steps[from];
        uint32_t to = from;
        for (uint32_t k = 0; k < back && to > 0 && commutes(&s, &steps[to - 1], other); k++, to--)
            steps[to] = steps[to - 1];
        steps[to] = s;
        moved++;
    }
    return true;
}

static uint32_t compare(const char *run, const char *log, const char *model)
{
    uint32_t kept = 0;
    ft_trace *true_trace = read_trace(run), *trace = read_trace(log);
    assert_int_equal(true_trace->broken, FT_NO_EVENT);
    if (trace->broken != FT_NO_EVENT) {
        json_t *right = verdicts_of(true_trace, model), *found = verdicts_of(trace, model),
               *verdict;
        const char *key;
        json_object_foreach(found, key, verdict)
        {
            const char *is = json_string_value(json_object_get(right, key));
            if (strcmp(json_string_value(verdict), "safe") != 0) continue;
            kept++;
            if (is && strcmp(is, "violation") == 0)
                fail_msg("%s under %s is called safe\nrun:\n%s\nlog:\n%s", key, model, run, log);
        }
        json_decref(right);
        json_decref(found);
    }
    ft_trace_free(true_trace);
    ft_trace_free(trace);
    return kept;
}

static void test_random_logs(void **state)
{
    (void)state;
    enum { RUNS = 20000 };
    static const char *const MODELS[] = {"observed", "control"};
    uint64_t random = 11;
    uint32_t kept = 0;
    for (int i = 0; i < RUNS; i++) {
        step steps[LINES];
        uint32_t n = make_run(&random, steps);
        char *run = text_of(steps, n);
        if (log_early(&random, steps, n)) {
            char *log = text_of(steps, n);
            kept += compare(run, log, MODELS[i % 2]);
            free(log);
        }
        free(run);
    }
    print_message("%u verdicts kept\n", kept);
    assert_true(kept > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart_from_the_lock), cmocka_unit_test(test_forked_before),
        cmocka_unit_test(test_reads_in_doubt),      cmocka_unit_test(test_all_in_doubt),
        cmocka_unit_test(test_random_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
