/* The engine on the golden traces, both polarities, and on public traces where they are at hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "oracle/golden.h"
#include "oracle/pipeline.h"
#include "trace/reader.h"
#include "verdict/checker.h"

/* Every wrong trace is reported, not the first alone; the test fails at its end. */
static unsigned n_wrong;

static void report_wrong(const char *trace, const char *text)
{
    n_wrong++;
    print_error("WRONG  %s: %s\n       alone: FT_CASE=%s build/bin/test_golden\n", trace, text,
                trace);
}

typedef struct found {
    const char *want, *have; /* events of the violations */
    uint64_t want_candidates, want_unknown, have_candidates, have_decided;
} found;

static void report_check(const ft_golden *golden, const char *model, ft_check check, found f)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text,
                     "%s under %s: expected %u candidates (%u unknown), violations at events [%s]; "
                     "got %u candidates (%u decided), violations at events [%s]\n       why: %s",
                     ft_check_name(check), model, (unsigned)f.want_candidates,
                     (unsigned)f.want_unknown, f.want, (unsigned)f.have_candidates,
                     (unsigned)f.have_decided, f.have,
                     json_string_value(json_object_get(golden->expected, "why")));
    report_wrong(golden->name, ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}

static void compare_check(const ft_golden *golden, const char *model, ft_check check,
                          const json_t *expected, const ft_pipeline *pipeline)
{
    FT_VEC(ft_claim) violated = {0};
    for (size_t i = 0; i < pipeline->violations.len; i++)
        if (pipeline->violations.data[i].check == check)
            ft_vec_push(&violated, pipeline->violations.data[i].claim);
    char *want = ft_golden_expected_text(expected);
    char *have = ft_golden_claims_text(violated.data, violated.len);
    uint64_t candidates = (uint64_t)json_integer_value(json_object_get(expected, "candidates"));
    uint64_t decided =
        pipeline->count[check][FT_VERDICT_VIOLATION] + pipeline->count[check][FT_VERDICT_SAFE];
    uint64_t unknown = (uint64_t)json_integer_value(json_object_get(expected, "unknown"));
    if (strcmp(want, have) != 0 || candidates != pipeline->candidates[check] ||
        decided + unknown != candidates || unknown != pipeline->count[check][FT_VERDICT_UNKNOWN])
        report_check(
            golden, model, check,
            (found){want, have, candidates, unknown, pipeline->candidates[check], decided});
    free(want);
    free(have);
    ft_vec_release(&violated);
}

static void compare_properties(const ft_golden *golden, const char *model, const json_t *expected,
                               const ft_pipeline *pipeline)
{
    for (size_t p = 0; p < json_array_size(expected); p++) {
        const char *want = json_string_value(json_array_get(expected, p));
        const bool *has = pipeline->property[p];
        const char *have = has[FT_VERDICT_VIOLATION]                          ? "violation"
                           : has[FT_VERDICT_ERROR] || has[FT_VERDICT_UNKNOWN] ? "undecided"
                                                                              : "safe";
        if (strcmp(want, have) == 0) continue;
        char text[200];
        snprintf(text, sizeof text, "property %u under %s: expected %s, got %s", (unsigned)p, model,
                 want, have);
        report_wrong(golden->name, text);
    }
}

static void compare_model(const ft_golden *golden, const char *model, const json_t *expected,
                          const char *encoding)
{
    json_t *checks = json_array();
    ft_pipeline pipeline;
    ft_strbuf why = {0};
    for (int c = 0; c < FT_CHECK_PROPERTY; c++)
        if (json_object_get(expected, ft_check_name((ft_check)c)))
            json_array_append_new(checks, json_string(ft_check_name((ft_check)c)));
    json_t *properties = json_object_get(golden->expected, "properties");
    json_t *spec = json_pack("{s:o, s:o, s:s, s:s, s:s, s:s}", "checks", checks, "properties",
                             properties ? json_incref(properties) : json_array(), "model", model,
                             "per", "event", "encoding", encoding, "wakeups",
                             ft_wakeups_name(ft_golden_wakeups(golden)));
    if (!ft_pipeline_run(golden->trace, spec, &pipeline, &why))
        fail_msg("%s under %s: %s", golden->name, model, ft_strbuf_text(&why));
    for (int c = 0; c < FT_CHECK_PROPERTY; c++) {
        const json_t *check = json_object_get(expected, ft_check_name((ft_check)c));
        if (check) compare_check(golden, model, (ft_check)c, check, &pipeline);
    }
    compare_properties(golden, model, json_object_get(expected, "property"), &pipeline);
    ft_pipeline_release(&pipeline);
    ft_strbuf_release(&why);
    json_decref(spec);
}

static void compare_golden(void *context, const ft_golden *golden)
{
    const char *model;
    json_t *expected;
    json_object_foreach(json_object_get(golden->expected, "verdicts"), model, expected)
        compare_model(golden, model, expected, context);
}

static void compare_all(const char *encoding)
{
    char text[16];
    snprintf(text, sizeof text, "%s", encoding);
    n_wrong = 0;
    unsigned traces = ft_golden_each(FT_SOURCE_DIR "/tests/golden", compare_golden, text);
    if (n_wrong) fail_msg("%u wrong verdicts, listed above (encoding %s)", n_wrong, encoding);
    assert_true(traces >= 70);
}

static void test_golden_default(void **state)
{
    (void)state;
    compare_all("default");
}

static void test_golden_literal(void **state)
{
    (void)state;
    compare_all("literal");
}

/* ---- public traces ---- */

static const char *corpus_folder(void)
{
    const char *folder = getenv("FT_CORPUS");
    return folder ? folder : FT_SOURCE_DIR "/../shared/corpus";
}

static bool has_pair(const ft_trace *trace, const ft_pipeline *pipeline, const json_t *pair)
{
    const char *a = json_string_value(json_array_get(pair, 0));
    const char *b = json_string_value(json_array_get(pair, 1));
    for (size_t i = 0; i < pipeline->violations.len; i++) {
        const uint32_t *e = pipeline->violations.data[i].claim.events;
        const char *x = ft_trace_location_text(trace, trace->loc[e[0]]);
        const char *y = ft_trace_location_text(trace, trace->loc[e[1]]);
        if (!x || !y || !a || !b) continue;
        if ((!strcmp(x, a) && !strcmp(y, b)) || (!strcmp(x, b) && !strcmp(y, a))) return true;
    }
    return false;
}

static void check_public(const char *name, const json_t *expected, const json_t *defaults)
{
    ft_strbuf path = {0}, why = {0};
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_pipeline pipeline;
    const json_t *pairs = json_object_get(expected, "pairs");
    const json_t *must = json_object_get(expected, "must_include");
    ft_strbuf_printf(&path, "%s/%s", corpus_folder(), name);
    if (ft_trace_read_file(path.text, &trace, &err) != FT_OK) fail_msg("%s: %s", name, err.message);
    ft_observe_run(trace);
    json_t *spec = json_pack("{s:[O], s:O, s:s}", "checks", json_object_get(defaults, "check"),
                             "model", json_object_get(defaults, "model"), "per", "event");
    if (!ft_pipeline_run(trace, spec, &pipeline, &why))
        fail_msg("%s: %s", name, ft_strbuf_text(&why));
    if (pairs && (json_int_t)pipeline.violations.len != json_integer_value(pairs))
        fail_msg("%s: expected %d racy pairs, got %u", name, (int)json_integer_value(pairs),
                 (unsigned)pipeline.violations.len);
    for (size_t i = 0; i < json_array_size(must); i++)
        if (!has_pair(trace, &pipeline, json_array_get(must, i)))
            fail_msg("%s: the injected pair is missing", name);
    json_decref(spec);
    ft_pipeline_release(&pipeline);
    ft_trace_free(trace);
    ft_strbuf_release(&path);
    ft_strbuf_release(&why);
}

/* The large scaling trace is a benchmark, not a unit test. */
#define LARGE "jigsaw"

static void test_public_traces(void **state)
{
    (void)state;
    ft_strbuf path = {0};
    json_error_t err;
    const char *name;
    json_t *expected;
    ft_strbuf_printf(&path, "%s/expected.json", corpus_folder());
    if (access(path.text, R_OK) != 0) {
        print_message("skipped: no public traces at %s\n", corpus_folder());
        ft_strbuf_release(&path);
        skip();
    }
    json_t *all = json_load_file(path.text, 0, &err);
    assert_non_null(all);
    json_object_foreach(json_object_get(all, "traces"), name, expected) if (!strstr(name, LARGE))
        check_public(name, expected, all);
    json_decref(all);
    ft_strbuf_release(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_default),
        cmocka_unit_test(test_golden_literal),
        cmocka_unit_test(test_public_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
