/* The oracle on hand-made traces with known answers (tests/golden), and the generator's promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/generate.h"
#include "oracle/golden.h"
#include "oracle/oracle.h"
#include "verdict/checker.h"

static uint32_t location_of(const ft_trace *trace, const json_t *text)
{
    for (uint32_t l = 1; l < trace->n_locations; l++)
        if (strcmp(trace->locations[l].text, json_string_value(text)) == 0) return l;
    fail_msg("no event at %s", json_string_value(text));
    return FT_NO_LOC;
}

static ft_term parse_term(const ft_trace *trace, const json_t *text)
{
    ft_scope scope = ft_trace_scope(trace);
    ft_error err = FT_ERROR_INIT;
    ft_term term = FT_NO_TERM;
    const char *s = json_string_value(text);
    assert_int_equal(ft_term_parse(trace->terms, s, strlen(s), &scope, &term, &err), FT_OK);
    return term;
}

static ft_oracle_property property_of(const ft_trace *trace, const json_t *json)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    ft_oracle_property p = {.kind = FT_ORACLE_ASSERTION_AT, .event = FT_NO_EVENT};
    if (strcmp(kind, "assertion") == 0) {
        const json_t *event = json_object_get(json, "event");
        if (event)
            p.event = (uint32_t)json_integer_value(event) - 1;
        else
            p.from = location_of(trace, json_object_get(json, "location"));
        p.condition = parse_term(trace, json_object_get(json, "term"));
    } else if (strcmp(kind, "co-enabled") == 0) {
        const json_t *locations = json_object_get(json, "locations");
        p.kind = FT_ORACLE_CO_ENABLED_AT;
        p.from = location_of(trace, json_array_get(locations, 0));
        p.to = location_of(trace, json_array_get(locations, 1));
    } else if (strcmp(kind, "before") == 0) {
        p.kind = FT_ORACLE_BEFORE_AT;
        p.from = location_of(trace, json_object_get(json, "first"));
        p.to = location_of(trace, json_object_get(json, "then"));
    } else {
        p.kind = FT_ORACLE_TRANSACTION_AT;
        p.from = location_of(trace, json_object_get(json, "from"));
        p.to = location_of(trace, json_object_get(json, "to"));
    }
    return p;
}

static void compare_check(const ft_golden *golden, const char *model, ft_check check,
                          const json_t *expected, const ft_oracle_result *result)
{
    FT_VEC(ft_claim) violated = {0};
    json_int_t candidates = 0, unknown = 0;
    for (size_t i = 0; i < result->answers.len; i++) {
        const ft_oracle_answer *answer = &result->answers.data[i];
        if (answer->check != check) continue;
        candidates++;
        unknown += answer->unknown;
        if (answer->violated) ft_vec_push(&violated, answer->claim);
    }
    char *want = ft_golden_expected_text(expected);
    char *have = ft_golden_claims_text(violated.data, violated.len);
    assert_int_equal(unknown, json_integer_value(json_object_get(expected, "unknown")));
    json_int_t want_candidates = json_integer_value(json_object_get(expected, "candidates"));
    if (strcmp(want, have) != 0 || candidates != want_candidates)
        fail_msg("%s, %s under %s: expected %d candidates, violated: %s; the oracle has %d: %s",
                 golden->name, ft_check_name(check), model, (int)want_candidates, want,
                 (int)candidates, have);
    free(want);
    free(have);
    ft_vec_release(&violated);
}

static void compare_properties(const ft_golden *golden, const char *model, const json_t *expected,
                               const ft_oracle_result *result)
{
    for (uint32_t p = 0; p < json_array_size(expected); p++) {
        bool violated = false, want;
        for (size_t i = 0; i < result->answers.len; i++)
            violated |= result->answers.data[i].property == p && result->answers.data[i].violated;
        want = strcmp(json_string_value(json_array_get(expected, p)), "violation") == 0;
        if (want != violated)
            fail_msg("%s, property %u under %s: the oracle says %s", golden->name, p, model,
                     violated ? "violation" : "safe");
    }
}

static void compare_model(const ft_golden *golden, const char *name, const json_t *checks)
{
    ft_oracle_property properties[8];
    const json_t *listed = json_object_get(golden->expected, "properties");
    ft_oracle_job job = {.properties = properties,
                         .n_properties = (uint32_t)json_array_size(listed),
                         .wakeups = ft_golden_wakeups(golden)};
    ft_oracle_result result;
    assert_true(ft_model_parse(name, &job.model));
    assert_true(job.n_properties <= 8);
    for (uint32_t i = 0; i < job.n_properties; i++)
        properties[i] = property_of(golden->trace, json_array_get(listed, i));
    for (int c = 0; c < FT_CHECKS; c++)
        job.checks[c] = json_object_get(checks, ft_check_name((ft_check)c)) != NULL;
    ft_oracle_enumerate(golden->trace, &job, &result);
    for (int c = 0; c < FT_CHECK_PROPERTY; c++)
        if (job.checks[c])
            compare_check(golden, name, (ft_check)c,
                          json_object_get(checks, ft_check_name((ft_check)c)), &result);
    compare_properties(golden, name, json_object_get(checks, "property"), &result);
    ft_oracle_release(&result);
}

static void compare_golden(void *context, const ft_golden *golden)
{
    (void)context;
    const char *model;
    json_t *checks;
    json_object_foreach(json_object_get(golden->expected, "verdicts"), model, checks)
        compare_model(golden, model, checks);
}

static void test_golden_answers(void **state)
{
    (void)state;
    unsigned count = ft_golden_each(FT_SOURCE_DIR "/tests/golden", compare_golden, NULL);
    assert_true(count >= 70);
}

/* ---- the generator ---- */

#define SEEDS 2000

static void test_generated_runs_are_feasible(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ft_trace *trace = ft_generate(seed);
        if (trace->broken != FT_NO_EVENT) {
            char *dump = ft_oracle_dump(trace);
            fail_msg("seed %u: %s\n%s", (unsigned)seed, trace->broken_text, dump);
        }
        ft_trace_free(trace);
    }
}

static void test_same_seed_same_trace(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        ft_trace *a = ft_generate(seed), *b = ft_generate(seed), *c = ft_generate(seed + 1000);
        char *text_a = ft_oracle_dump(a), *text_b = ft_oracle_dump(b), *text_c = ft_oracle_dump(c);
        assert_string_equal(text_a, text_b);
        assert_string_not_equal(text_a, text_c);
        free(text_a);
        free(text_b);
        free(text_c);
        ft_trace_free(a);
        ft_trace_free(b);
        ft_trace_free(c);
    }
}

static void test_every_kind_and_flag_occurs(void **state)
{
    (void)state;
    bool kinds[FT_EVENT_KINDS] = {false};
    unsigned flags = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ft_trace *trace = ft_generate(seed);
        for (uint32_t e = 0; e < trace->n_events; e++) {
            kinds[trace->kind[e]] = true;
            flags |= trace->flags[e];
        }
        ft_trace_free(trace);
    }
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (!kinds[k]) fail_msg("no event of kind %s", ft_event_kind_name((ft_event_kind)k));
    const unsigned all = FT_FLAG_ATOMIC | FT_FLAG_FAILED | FT_FLAG_CONDITION | FT_FLAG_STRANGER |
                         FT_FLAG_NESTED | FT_FLAG_TRY | FT_FLAG_PASSED;
    assert_int_equal(flags & all, all);
}

/* A sample is a trace under a model with at least one candidate of the check, or one property. */
static void count_samples(ft_trace *trace, ft_model model, uint64_t seed,
                          unsigned samples[FT_CHECKS][2])
{
    ft_oracle_property properties[3];
    bool any[FT_CHECKS] = {false}, violated[FT_CHECKS] = {false};
    ft_oracle_job job = {.model = model, .properties = properties};
    ft_oracle_result result;
    job.n_properties = ft_generate_properties(trace, seed, properties, 3);
    for (int c = 0; c < FT_CHECKS; c++) job.checks[c] = true;
    ft_oracle_enumerate(trace, &job, &result);
    bool any_property[3] = {false}, violated_property[3] = {false};
    for (size_t i = 0; i < result.answers.len; i++) {
        const ft_oracle_answer *answer = &result.answers.data[i];
        any[answer->check] = true;
        violated[answer->check] |= answer->violated;
        if (answer->check != FT_CHECK_PROPERTY) continue;
        any_property[answer->property] = true;
        violated_property[answer->property] |= answer->violated;
    }
    for (int c = 0; c < FT_CHECK_PROPERTY; c++)
        if (any[c]) samples[c][violated[c]]++;
    for (uint32_t p = 0; p < job.n_properties; p++)
        if (any_property[p]) samples[FT_CHECK_PROPERTY][violated_property[p]]++;
    ft_oracle_release(&result);
}

static void test_samples_are_balanced(void **state)
{
    (void)state;
    /* A lock error is reached by the run itself: its samples are all violated. */
    static const ft_check checks[] = {FT_CHECK_RACE,     FT_CHECK_ATOMICITY, FT_CHECK_ASSERTION,
                                      FT_CHECK_DEADLOCK, FT_CHECK_ORDER,     FT_CHECK_PROPERTY};
    unsigned samples[FT_CHECKS][2] = {{0}};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ft_trace *trace = ft_generate(seed);
        ft_grade grade = ft_generate_grade(seed);
        count_samples(trace, FT_MODEL_OBSERVED, seed, samples);
        if (grade != FT_GRADE_OBSERVED) count_samples(trace, FT_MODEL_MAXIMAL, seed, samples);
        if (grade == FT_GRADE_SYMBOLIC) count_samples(trace, FT_MODEL_CTP, seed, samples);
        ft_trace_free(trace);
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        unsigned safe = samples[checks[i]][0], violated = samples[checks[i]][1];
        print_message("%s: %u samples violated, %u safe\n", ft_check_name(checks[i]), violated,
                      safe);
        assert_true(safe + violated >= 300);
        assert_true(4 * violated >= safe + violated);
        assert_true(4 * safe >= safe + violated);
    }
}

static void test_permuted_trace_is_feasible(void **state)
{
    (void)state;
    unsigned found = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        ft_trace *trace = ft_generate(seed);
        uint32_t order[FT_ORACLE_EVENTS];
        if (ft_oracle_reorder(trace, FT_MODEL_OBSERVED, seed, order)) {
            ft_trace *other = ft_oracle_permute(trace, order);
            assert_int_equal(other->n_events, trace->n_events);
            assert_int_equal(other->broken, FT_NO_EVENT);
            ft_trace_free(other);
            found++;
        }
        ft_trace_free(trace);
    }
    assert_true(found >= 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_answers),
        cmocka_unit_test(test_generated_runs_are_feasible),
        cmocka_unit_test(test_same_seed_same_trace),
        cmocka_unit_test(test_every_kind_and_flag_occurs),
        cmocka_unit_test(test_samples_are_balanced),
        cmocka_unit_test(test_permuted_trace_is_feasible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
