/* Claims and the witness document: both ways, and hostile documents. */
#include "tiny_trace.h"

#include "verdict/checker.h"

static const char TRACE[] = "var x 0\nvar y 0\nlocal a 0\nT1: w x 1 @a.c:1\nT2: r x 1 @b.c:2\n"
                            "T1: y := (+ x 1) @a.c:3\nT2: w y 5\nT1: w x 7\n";

static ft_trace *open_trace(void)
{
    ft_trace *trace = tiny_trace(TRACE);
    ft_observe_run(trace);
    return trace;
}

static void test_patterns(void **state)
{
    (void)state;
    static const char *const UNSERIALISABLE[] = {"RWR", "RWW", "WRW", "WWR", "WWW"};
    for (int bits = 0; bits < 8; bits++) {
        char text[4] = {bits & 4 ? 'W' : 'R', bits & 2 ? 'W' : 'R', bits & 1 ? 'W' : 'R', 0};
        bool listed = false;
        for (size_t i = 0; i < 5; i++) listed = listed || strcmp(text, UNSERIALISABLE[i]) == 0;
        assert_int_equal(ft_pattern_unserialisable(bits & 4, bits & 2, bits & 1), listed);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    assert_string_equal(ft_claim_kind_name(FT_CLAIM_CO_ENABLED), "co-enabled");
    assert_int_equal(ft_claim_events(&(ft_claim){.kind = FT_CLAIM_ATOMICITY}), 3);
    assert_int_equal(ft_claim_events(&(ft_claim){.kind = FT_CLAIM_CONDITION}), 1);
    assert_int_equal(ft_claim_first_final(FT_CLAIM_ATOMICITY), 2);
    assert_int_equal(ft_claim_first_final(FT_CLAIM_RACE), 0);
}

static void test_switches(void **state)
{
    (void)state;
    ft_trace *trace = open_trace();
    uint32_t steps[] = {0, 1, 2};
    ft_witness witness = {
        .bound = FT_NO_BOUND, .claim = {.kind = FT_CLAIM_RACE, .events = {3, 4}}, .steps = steps};
    assert_int_equal(ft_witness_switches(trace, &witness), 1); /* T2 | T1 */
    witness.n_steps = 1;
    /* Racing accesses are next at once: the one of the thread that ran last comes first. */
    assert_int_equal(ft_witness_switches(trace, &witness), 1); /* T1 T1 | T2 */
    witness.n_steps = 3;
    assert_int_equal(ft_witness_switches(trace, &witness), 3); /* T1 | T2 | T1 T1 | T2 */
    witness.claim = (ft_claim){.kind = FT_CLAIM_ATOMICITY, .events = {0, 1, 2}};
    witness.n_steps = 2;
    assert_int_equal(ft_witness_switches(trace, &witness), 2); /* T1 | T2 | T1 */
    ft_trace_free(trace);
}

static const char *text_of(const json_t *json, const char *member)
{
    return json_string_value(json_object_get(json, member));
}

static json_int_t number_of(const json_t *json, const char *member)
{
    return json_integer_value(json_object_get(json, member));
}

static ft_witness make_witness(const ft_claim *claim, const uint32_t *steps, uint32_t count)
{
    ft_witness witness = {
        .bound = FT_NO_BOUND, .model = FT_MODEL_MAXIMAL, .claim = *claim, .n_steps = count};
    witness.steps = ft_calloc(count, sizeof *steps);
    for (uint32_t i = 0; i < count; i++) witness.steps[i] = steps[i];
    return witness;
}

static void test_document(void **state)
{
    (void)state;
    ft_trace *trace = open_trace();
    ft_checker *checker = ft_checker_new(trace);
    ft_claim claim = {.kind = FT_CLAIM_RACE, .events = {2, 3}};
    ft_witness witness = make_witness(&claim, (uint32_t[]){0, 1}, 2);
    ft_reading reading = {0};
    assert_int_equal(ft_checker_check(checker, &witness, &reading, NULL), FT_OK);
    json_t *json = ft_witness_to_json(trace, "abc", &witness, &reading, NULL);
    assert_string_equal(text_of(json, "format"), "foretell-witness");
    assert_int_equal(number_of(json, "version"), 1);
    assert_string_equal(text_of(json, "trace"), "abc");
    assert_string_equal(text_of(json, "model"), "maximal");
    assert_string_equal(text_of(json, "memory"), "sc");
    assert_int_equal(number_of(json, "members"), 2);
    assert_int_equal(number_of(json, "switches"), 2);
    const json_t *step = json_array_get(json_object_get(json, "steps"), 1);
    assert_int_equal(number_of(step, "event"), 2);
    assert_string_equal(text_of(step, "thread"), "T2");
    assert_string_equal(text_of(step, "kind"), "read");
    assert_string_equal(text_of(step, "object"), "x");
    assert_string_equal(text_of(step, "location"), "b.c:2");
    assert_string_equal(text_of(step, "value"), "1");
    assert_string_equal(text_of(step, "observed_value"), "1");
    assert_int_equal(number_of(step, "source"), 1);
    assert_true(json_is_null(json_object_get(step, "function")));
    assert_true(json_is_false(json_object_get(step, "departs")));
    const json_t *final = json_object_get(json, "final");
    assert_int_equal(json_array_size(final), 2);
    assert_int_equal(number_of(json_array_get(final, 0), "event"), 3);
    assert_string_equal(text_of(json_array_get(final, 1), "value"), "5");
    assert_true(json_is_null(json_object_get(json_array_get(final, 1), "location")));
    json_decref(json);
    ft_reading_release(&reading);
    ft_witness_release(&witness);
    assert_null(witness.steps);
    ft_checker_free(checker);
    ft_trace_free(trace);
}

static void check_round_trip(ft_trace *trace, const ft_claim *claim)
{
    ft_witness witness = make_witness(claim, (uint32_t[]){1, 0, 2}, 3), back = {0};
    json_t *json = ft_witness_to_json(trace, "abc", &witness, NULL, NULL);
    ft_error err = FT_ERROR_INIT;
    if (ft_witness_from_json(json, trace, &back, &err)) fail_msg("%s", err.message);
    assert_int_equal(back.model, witness.model);
    assert_int_equal(back.n_steps, 3);
    assert_memory_equal(back.steps, witness.steps, 3 * sizeof *back.steps);
    assert_int_equal(back.claim.kind, claim->kind);
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        assert_int_equal(back.claim.events[i], claim->events[i]);
    assert_int_equal(back.claim.variable, claim->variable);
    for (int i = 0; i < 3; i++) assert_int_equal(back.claim.writes[i], claim->writes[i]);
    assert_int_equal(back.claim.condition, claim->condition);
    assert_int_equal(back.claim.avoid, claim->avoid);
    ft_witness_release(&back);
    ft_witness_release(&witness);
    json_decref(json);
}

/* What the job allowed is there where it is not the default. */
static void test_options(void **state)
{
    (void)state;
    ft_trace *trace = open_trace();
    const ft_claim claim = {.kind = FT_CLAIM_RACE, .events = {2, 3}};
    for (int wakeups = 0; wakeups < FT_WAKEUPS_KINDS; wakeups++) {
        ft_witness witness = make_witness(&claim, (uint32_t[]){0}, 1), back = {0};
        witness.wakeups = (ft_wakeups)wakeups;
        witness.bound = wakeups == FT_WAKEUPS_ANY ? FT_NO_BOUND : (uint32_t)wakeups - 1;
        json_t *json = ft_witness_to_json(trace, "abc", &witness, NULL, NULL);
        assert_true(!json_object_get(json, "wakeups") == (wakeups == FT_WAKEUPS_ANY));
        assert_true(!json_object_get(json, "bound") == (wakeups == FT_WAKEUPS_ANY));
        assert_int_equal(ft_witness_from_json(json, trace, &back, NULL), FT_OK);
        assert_int_equal(back.wakeups, wakeups);
        assert_int_equal(back.bound, witness.bound);
        json_decref(json);
        ft_witness_release(&back);
        ft_witness_release(&witness);
    }
    ft_trace_free(trace);
}

static void test_round_trips(void **state)
{
    (void)state;
    ft_trace *trace = open_trace();
    ft_term condition;
    ft_scope scope = ft_trace_scope(trace);
    assert_int_equal(ft_term_parse(trace->terms, "(> (+ x a) 3)", 13, &scope, &condition, NULL),
                     FT_OK);
    const ft_claim claims[] = {
        {.kind = FT_CLAIM_RACE, .events = {3, 4}},
        {.kind = FT_CLAIM_ASSERTION, .events = {4}},
        {.kind = FT_CLAIM_CONDITION, .events = {4}, .condition = condition},
        {.kind = FT_CLAIM_ATOMICITY,
         .events = {0, 1, 4},
         .variable = 0,
         .writes = {true, false, true}},
        {.kind = FT_CLAIM_ATOMICITY,
         .events = {2, 3, 4},
         .variable = 1,
         .writes = {false, true, false}},
        {.kind = FT_CLAIM_CO_ENABLED, .events = {3, 4}},
        {.kind = FT_CLAIM_BEFORE, .events = {4}, .avoid = trace->loc[2]},
        {.kind = FT_CLAIM_LOCK_ERROR, .events = {2}},
        {.kind = FT_CLAIM_DEADLOCK, .events = {4, 0, 3}, .n_events = 3},
        {.kind = FT_CLAIM_STUCK, .events = {1}},
        {.kind = FT_CLAIM_AFTER_FREE, .events = {1, 0}},
        {.kind = FT_CLAIM_UNINITIALISED, .events = {3}, .variable = 1},
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) check_round_trip(trace, &claims[i]);
    ft_trace_free(trace);
}

#define HEAD                                                                                       \
    "\"format\": \"foretell-witness\", \"version\": 1, \"model\": \"ctp\", \"memory\": \"sc\""
#define RACE "\"claim\": {\"kind\": \"race\", \"events\": [4, 5]}"
#define CLAIM(kind, events, rest)                                                                  \
    "{" HEAD ", \"steps\": [], \"claim\": {\"kind\": \"" kind "\", \"events\": " events rest "}}"
#define STEPS(steps) "{" HEAD ", " RACE ", \"steps\": " steps "}"

static const struct {
    const char *json, *path; /* path NULL: accepted */
} DOCUMENTS[] = {
    {STEPS("[]"), NULL},
    {STEPS("[{\"event\": 1}, {\"event\": 5}]"), NULL},
    {"[]", "witness: "},
    {"7", "witness: "},
    {"{}", "format: "},
    {"{\"format\": 1}", "format: "},
    {"{\"format\": \"other\"}", "format: "},
    {"{\"format\": \"foretell-witness\"}", "version: "},
    {"{\"format\": \"foretell-witness\", \"version\": 2}", "version: "},
    {"{\"format\": \"foretell-witness\", \"version\": 1.0}", "version: "},
    {"{\"format\": \"foretell-witness\", \"version\": 1, \"model\": \"x\"}", "model: "},
    {"{\"format\": \"foretell-witness\", \"version\": 1, \"model\": \"ctp\"}", "memory: "},
    {"{\"format\": \"foretell-witness\", \"version\": 1, \"model\": \"ctp\", \"memory\": \"tso\"}",
     "memory: "},
    {"{" HEAD "}", "claim: "},
    {"{" HEAD ", \"claim\": []}", "claim: "},
    {"{" HEAD ", \"claim\": {}}", "claim.kind: "},
    {CLAIM("hunch", "[1]", ""), "claim.kind: "},
    {CLAIM("race", "[1]", ""), "claim.events: "},
    {CLAIM("race", "[1, 2, 3]", ""), "claim.events: "},
    {CLAIM("race", "{}", ""), "claim.events: "},
    {CLAIM("race", "[1, \"2\"]", ""), "claim.events[1]: "},
    {CLAIM("race", "[0, 2]", ""), "claim.events[0]: "},
    {CLAIM("race", "[1, 6]", ""), "claim.events[1]: "},
    {CLAIM("race", "[1, -1]", ""), "claim.events[1]: "},
    {CLAIM("race", "[1, 4294967297]", ""), "claim.events[1]: "},
    {CLAIM("race", "[1, 9223372036854775807]", ""), "claim.events[1]: "},
    {CLAIM("race", "[1, 1.5]", ""), "claim.events[1]: "},
    {CLAIM("atomicity", "[1, 2, 5]", ""), "claim.variable: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": 3"), "claim.variable: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": \"nobody\""), "claim.variable: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": \"a\""), "claim.variable: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": \"x\""), "claim.pattern: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": \"x\", \"pattern\": \"WR\""),
     "claim.pattern: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": \"x\", \"pattern\": \"WRx\""),
     "claim.pattern: "},
    {CLAIM("atomicity", "[1, 2, 5]", ", \"variable\": \"x\", \"pattern\": \"WRW\""), NULL},
    {CLAIM("condition", "[1]", ""), "claim.condition: "},
    {CLAIM("condition", "[1]", ", \"condition\": 1"), "claim.condition: "},
    {CLAIM("condition", "[1]", ", \"condition\": \"(> x\""), "claim.condition: "},
    {CLAIM("condition", "[1]", ", \"condition\": \"(> nobody 1)\""), "claim.condition: "},
    {CLAIM("condition", "[1]", ", \"condition\": \"(+ x 1)\""), "claim.condition: "},
    {CLAIM("condition", "[1]", ", \"condition\": \"(> x 1)\""), NULL},
    {CLAIM("before", "[1]", ""), "claim.avoid: "},
    {CLAIM("before", "[1]", ", \"avoid\": \"z.c:1\""), "claim.avoid: "},
    {CLAIM("before", "[1]", ", \"avoid\": \"b.c:2\""), NULL},
    {"{" HEAD ", " RACE "}", "steps: "},
    {STEPS("{}"), "steps: "},
    {STEPS("[1]"), "steps[0]: "},
    {STEPS("[{}]"), "steps[0].event: "},
    {STEPS("[{\"event\": 1}, {\"event\": null}]"), "steps[1].event: "},
    {STEPS("[{\"event\": 1}, {\"event\": 6}]"), "steps[1].event: "},
    {STEPS("[{\"event\": 0}]"), "steps[0].event: "},
    {STEPS("[{}, {}, {}, {}, {}, {}]"), "steps: "},
    {CLAIM("deadlock", "[1]", ""), "claim.events: "},
    {CLAIM("deadlock", "7", ""), "claim.events: "},
    {CLAIM("deadlock", "[1, 2, 3]", ""), NULL},
    {CLAIM("deadlock", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", ""),
     "claim.events: "},
    {CLAIM("stuck", "[1, 2]", ""), "claim.events: "},
    {CLAIM("after-free", "[1]", ""), "claim.events: "},
    {CLAIM("uninitialised", "[1]", ""), "claim.variable: "},
    {CLAIM("uninitialised", "[1]", ", \"variable\": \"x\""), NULL},
    {"{" HEAD ", " RACE ", \"steps\": [], \"wakeups\": \"never\"}", "wakeups: "},
    {"{" HEAD ", " RACE ", \"steps\": [], \"wakeups\": 1}", "wakeups: "},
    {"{" HEAD ", " RACE ", \"steps\": [], \"wakeups\": \"spurious\"}", NULL},
    {"{" HEAD ", " RACE ", \"steps\": [], \"bound\": -1}", "bound: "},
    {"{" HEAD ", " RACE ", \"steps\": [], \"bound\": 4294967295}", "bound: "},
    {"{" HEAD ", " RACE ", \"steps\": [], \"bound\": \"2\"}", "bound: "},
    {"{" HEAD ", " RACE ", \"steps\": [], \"bound\": 0}", NULL},
};

static void test_hostile_documents(void **state)
{
    (void)state;
    ft_trace *trace = open_trace();
    for (size_t i = 0; i < sizeof DOCUMENTS / sizeof *DOCUMENTS; i++) {
        json_t *json = json_loads(DOCUMENTS[i].json, JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        ft_error err = FT_ERROR_INIT;
        ft_witness witness = {.n_steps = 77};
        const char *path = DOCUMENTS[i].path;
        ft_status status = ft_witness_from_json(json, trace, &witness, &err);
        if (status != (path ? FT_INPUT : FT_OK) ||
            (path && strncmp(err.message, path, strlen(path)) != 0))
            fail_msg("%s: %s", DOCUMENTS[i].json, err.message);
        if (status == FT_OK)
            ft_witness_release(&witness);
        else
            assert_int_equal(witness.n_steps, 77);
        json_decref(json);
    }
    ft_error err = FT_ERROR_INIT;
    ft_witness witness;
    assert_int_equal(ft_witness_from_json(NULL, trace, &witness, &err), FT_INPUT);
    ft_trace_free(trace);
}

/* Names that are not UTF-8, should a reader let them through, still make a document. */
static void test_foreign_bytes(void **state)
{
    (void)state;
    ft_trace *trace = open_trace();
    trace->locations[trace->loc[0]].text = "caf\xe9.c:1";
    ft_witness witness = {.bound = FT_NO_BOUND, .claim = {.kind = FT_CLAIM_RACE, .events = {0, 3}}};
    json_t *json = ft_witness_to_json(trace, "abc", &witness, NULL, NULL);
    const json_t *final = json_array_get(json_object_get(json, "final"), 0);
    assert_string_equal(text_of(final, "location"), "caf?.c:1");
    json_decref(json);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),          cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_switches),          cmocka_unit_test(test_document),
        cmocka_unit_test(test_round_trips),       cmocka_unit_test(test_options),
        cmocka_unit_test(test_hostile_documents), cmocka_unit_test(test_foreign_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
