/* Reports as text: summary lines, exit codes, schedules. The reports are written by hand after
 * docs/records.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "remote/client.h"
#include "report/internal.h"

static json_t *parse(const char *text)
{
    json_error_t why;
    json_t *json = json_loads(text, 0, &why);
    if (!json) fail_msg("%s at %d", why.text, why.position);
    return json;
}

static const ft_view plain = {.columns = 100};
static const char FILE_NAME[] = "dir/bank.ndjson";

static void render(const ft_view *view, json_t *report, ft_strbuf *out)
{
    ft_report *model = ft_report_new(report, FILE_NAME);
    ft_report_render(model, FT_REPORT_TEXT, view, out);
    ft_report_free(model);
}

/* The schedule alone of a report that has this one finding. */
static void render_schedule(const ft_view *view, const json_t *record, ft_strbuf *out)
{
    json_t *report = json_pack("{s:[O]}", "findings", record);
    ft_report *model = ft_report_new(report, FILE_NAME);
    ft_text_schedule(view, &model->findings.data[0], out);
    ft_report_free(model);
    json_decref(report);
}

static void has(const ft_strbuf *text, const char *part)
{
    if (!strstr(ft_strbuf_text(text), part)) fail_msg("no \"%s\" in:\n%s", part, text->text);
}

static void has_not(const ft_strbuf *text, const char *part)
{
    if (strstr(ft_strbuf_text(text), part)) fail_msg("\"%s\" in:\n%s", part, text->text);
}

/* ---- summary and exit code ------------------------------------------------------------------ */

#define COUNTS(candidates, violation, safe, unknown)                                               \
    "{\"candidates\": " #candidates ", \"violation\": " #violation ", \"safe\": " #safe            \
    ", \"bounded\": 0, \"unknown\": " #unknown ", \"error\": 0}"

#define CHECK(name, ...)      "\"" name "\": " COUNTS(__VA_ARGS__)
#define MODEL_AND(model, ...) "\"model\": \"" model "\", \"checks\": {" __VA_ARGS__ "}"
#define DONE(model, ...)      "{\"state\": \"done\", " MODEL_AND(model, __VA_ARGS__)

static const struct {
    const char *report, *line;
    ft_exit code;
} SUMMARIES[] = {
    {DONE("ctp", CHECK("race", 10, 2, 8, 0) ", " CHECK("atomicity", 3, 1, 2, 0) ", " CHECK(
                     "assertion", 1, 0, 1, 0) ", " CHECK("lock", 0, 0, 0, 0)) ", \"findings\": []}",
     "SUMMARY: foretell: 2 races, 1 atomicity violation predicted in "
     "dir/bank.ndjson (model ctp, 14 candidates: 3 violations, 11 safe)\n",
     FT_EXIT_FINDINGS},
    {DONE("maximal", CHECK("race", 1, 0, 1, 0)) ", \"findings\": []}",
     "SUMMARY: foretell: no findings in dir/bank.ndjson (model maximal, 1 candidate: 1 safe)\n",
     FT_EXIT_CLEAN},
    {DONE("ctp", CHECK("race", 4, 0, 3, 1)) ", \"findings\": []}",
     "SUMMARY: foretell: nothing found, not everything decided, in dir/bank.ndjson (model ctp, "
     "4 candidates: 3 safe, 1 unknown)\n",
     FT_EXIT_INCOMPLETE},
    {"{\"state\": \"cancelled\", " MODEL_AND("ctp", "") ", \"findings\": []}",
     "SUMMARY: foretell: no findings in dir/bank.ndjson (model ctp, 0 candidates), job "
     "cancelled\n",
     FT_EXIT_INCOMPLETE},
    {DONE("ctp", CHECK("race", 2, 1, 0, 1) ", " CHECK(
                     "lock", 1, 1, 0,
                     0)) ", \"findings\": "
                         "[{\"check\": \"lock\", \"status\": \"observed\", \"count\": 1}]}",
     "SUMMARY: foretell: 1 race predicted; 1 lock error observed in dir/bank.ndjson (model ctp, "
     "3 candidates: 2 violations, 1 unknown)\n",
     FT_EXIT_FINDINGS},
};

static void summaries(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SUMMARIES / sizeof SUMMARIES[0]; i++) {
        json_t *report = parse(SUMMARIES[i].report);
        ft_strbuf out = {0};
        ft_report *model = ft_report_new(report, FILE_NAME);
        ft_report_summary(model, 0, &plain, &out);
        assert_string_equal(out.text, SUMMARIES[i].line);
        assert_int_equal(ft_view_exit(model), SUMMARIES[i].code);
        ft_report_free(model);
        ft_strbuf_release(&out);
        json_decref(report);
    }
}

/* ---- a finding ------------------------------------------------------------------------------ */

#define STEP(event, thread, kind, object, text, value, observed, departs)                          \
    "{\"event\": " #event ", \"thread\": \"" thread "\", \"kind\": \"" kind                        \
    "\", \"object\": " object ", \"location\": \"b.c:" #event                                      \
    "\", \"function\": null, \"text\": \"" text "\", \"value\": " value                            \
    ", \"observed_value\": " observed ", \"source\": null, \"departs\": " departs "}"

static const char race_report[] =
    "{\"job\": \"1\", \"state\": \"done\", \"model\": \"maximal\", \"checks\": {\"race\": " COUNTS(
        1, 1, 0,
        0) "}, \"findings\": [{\"finding\": \"7f-3\", \"fingerprint\": \"0123456789abcdef\", "
           "\"check\": \"race\", "
           "\"kind\": \"read-write\", \"verdict\": \"violation\", \"status\": \"predicted\", "
           "\"count\": 1, \"pairs\": 30, \"object\": \"x\", "
           "\"message\": \"read of x by T1 at b.c:3 races with write of x by T2 at b.c:9\", "
           "\"accesses\": [{\"event\": 3, \"thread\": \"T1\", \"access\": \"read\", \"object\": "
           "\"x\", "
           "\"location\": \"b.c:3\", \"function\": \"pay\", \"text\": \"read x = 1\", "
           "\"locks\": [\"l\", \"m\"], \"shared\": [\"m\"]}, {\"event\": 9, \"thread\": \"T2\", "
           "\"access\": \"write\", "
           "\"object\": \"x\", \"location\": \"b.c:9\", \"function\": null, \"text\": \"write x = "
           "5\", "
           "\"locks\": []}], \"witness\": {\"claim\": {\"kind\": \"race\", \"events\": [3, 9]}, "
           "\"members\": 3, \"switches\": 3, \"unreduced\": {\"members\": 11, \"switches\": 5}, "
           "\"steps\": [" STEP(7, "T2", "write", "\"y\"", "write y = 2", "\"2\"", "\"2\"", "false") ", " STEP(
               1, "T1", "read", "\"y\"",
               "read y = 0", "\"2\"",
               "\"0\"",
               "true") ", " STEP(2, "T1", "acquire", "\"l\"", "acquire l", "null", "null",
                                 "false") "], \"final\": [" STEP(3, "T1", "read", "\"x\"",
                                                                 "read x = 1", "\"1\"",
                                                                 "\"1\"",
                                                                 "false") ", " STEP(9, "T2",
                                                                                    "write",
                                                                                    "\"x\"",
                                                                                    "write x = 5",
                                                                                    "\"5\"",
                                                                                    "\"5\"",
                                                                                    "false") "]}}],"
                                                                                             " "
                                                                                             "\"not"
                                                                                             "es\":"
                                                                                             " [{"
                                                                                             "\"cod"
                                                                                             "e\": "
                                                                                             "\"imp"
                                                                                             "lied-"
                                                                                             "relea"
                                                                                             "se\","
                                                                                             " \"ev"
                                                                                             "ent\""
                                                                                             ": "
                                                                                             "12, "
                                                                                             "\"cou"
                                                                                             "nt\":"
                                                                                             " 3, "
                                                                                             "\"tex"
                                                                                             "t\": "
                                                                                             "\"a "
                                                                                             "relea"
                                                                                             "se "
                                                                                             "of l "
                                                                                             "was "
                                                                                             "impli"
                                                                                             "ed\"}"
                                                                                             "]}";

static void a_finding_says_what_where_and_how(void **state)
{
    (void)state;
    json_t *report = parse(race_report);
    ft_strbuf out = {0};
    render(&plain, report, &out);
    static const char *const ORDER[] = {"Data race on x",
                                        "A thread reads x",
                                        "b.c:3 in pay",
                                        "holding l, m (for reading)\n",
                                        "b.c:9",
                                        "A schedule that hits it",
                                        "--- switch to T1 ---",
                                        "=>  race  b.c:9",
                                        "The observed run differs",
                                        "Reproduce: ",
                                        "Fingerprint: 0123456789abcdef\n",
                                        "SUMMARY: "};
    const char *at = ft_strbuf_text(&out);
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
        const char *next = strstr(at, ORDER[i]);
        if (!next) fail_msg("no \"%s\" in:\n%s", ORDER[i], at);
        at = next;
    }
    has(&out, "read of x by T1 at b.c:3 races with write of x by T2 at b.c:9");
    has(&out, "b.c:3 in pay");
    has(&out, "holding l, m (for reading)\n");
    has(&out, "holding no lock\n");
    has(&out, "One of 30 event combinations");
    has(&out, "3 steps, 3 context switches (reduced from 11 and 5)");
    has(&out, "read y = 2 (observed: 0)");
    has(&out, "--- switch to T1 ---");
    has(&out, "=>  race  b.c:9");
    has(&out, "The observed run differs: there T1 (b.c:1) read y = 0; here it reads 2");
    has(&out, "foretell witness 7f-3");
    has(&out, "note: a release of l was implied (event 12) (3 times)\n");
    has_not(&out, "\033");
    ft_strbuf_release(&out);
    json_decref(report);
}

static void quiet_is_the_summary_alone(void **state)
{
    (void)state;
    json_t *report = parse(race_report);
    ft_view view = plain;
    view.quiet = true;
    ft_strbuf out = {0};
    render(&view, report, &out);
    assert_int_equal(strncmp(out.text, "SUMMARY: foretell: 1 race predicted", 35), 0);
    assert_ptr_equal(strchr(out.text, '\n'), out.text + out.len - 1);
    ft_strbuf_release(&out);
    json_decref(report);
}

/* Threads side by side: each thread's texts begin in one column of its own. */
static size_t column_of(const char *text, const char *part)
{
    const char *at = strstr(text, part), *line = at;
    if (!at) fail_msg("no \"%s\" in:\n%s", part, text);
    while (line > text && line[-1] != '\n') line--;
    return (size_t)(at - line);
}

static void threads_have_columns(void **state)
{
    (void)state;
    json_t *report = parse(race_report);
    const json_t *record = json_array_get(json_object_get(report, "findings"), 0);
    ft_strbuf out = {0};
    render_schedule(&plain, record, &out);
    size_t first = column_of(out.text, "write y = 2"), second = column_of(out.text, "acquire l");
    assert_true(second > first);
    assert_int_equal(column_of(out.text, "write x = 5"), first);
    assert_int_equal(column_of(out.text, "read y = 2"), second);
    ft_strbuf_clear(&out);
    ft_view narrow = plain;
    narrow.columns = 40;
    render_schedule(&narrow, record, &out);
    assert_true(column_of(out.text, "acquire l") < column_of(out.text, "write y = 2") + 12);
    assert_null(strstr(out.text, "step  where"));
    has(&out, "--- switch to T2 ---");
    ft_strbuf_release(&out);
    json_decref(report);
}

static void colours_only_when_wanted(void **state)
{
    (void)state;
    json_t *report = parse(race_report);
    ft_view view = plain;
    view.color = true;
    ft_strbuf out = {0};
    render(&view, report, &out);
    has(&out, "\033[31m");
    ft_strbuf_release(&out);
    json_decref(report);
}

/* ---- folding -------------------------------------------------------------------------------- */

static json_t *long_record(size_t quiet_steps)
{
    json_t *record = parse("{\"object\": \"x\", \"witness\": {\"claim\": {\"kind\": \"race\", "
                           "\"events\": []}, \"steps\": [], \"final\": []}}");
    json_t *steps = json_object_get(json_object_get(record, "witness"), "steps");
    for (size_t i = 0; i < quiet_steps; i++)
        json_array_append_new(steps, json_pack("{s:I, s:s, s:s, s:s, s:s}", "event",
                                               (json_int_t)i + 1, "thread", "T1", "kind", "acquire",
                                               "object", "l", "text", "acquire l"));
    json_array_append_new(steps,
                          json_pack("{s:i, s:s, s:s, s:s, s:s}", "event", 9999, "thread", "T1",
                                    "kind", "write", "object", "x", "text", "write x"));
    return record;
}

/* Of 20 quiet steps and one on the object, the two at either end stay: 17 are folded. */
static void long_stretches_are_folded(void **state)
{
    (void)state;
    json_t *record = long_record(20);
    ft_strbuf out = {0};
    render_schedule(&plain, record, &out);
    has(&out, "... 17 more steps of T1\n");
    has(&out, "write x");
    has_not(&out, "event 10 ");
    ft_strbuf_clear(&out);
    ft_view full = plain;
    full.full = true;
    render_schedule(&full, record, &out);
    has_not(&out, "more steps");
    has(&out, "event 10 ");
    ft_strbuf_release(&out);
    json_decref(record);
}

static void short_stretches_are_not_folded(void **state)
{
    (void)state;
    json_t *record = long_record(6);
    ft_strbuf out = {0};
    render_schedule(&plain, record, &out);
    has_not(&out, "more steps");
    ft_strbuf_release(&out);
    json_decref(record);
}

/* ---- others --------------------------------------------------------------------------------- */

static void order_tells_the_difference(void **state)
{
    (void)state;
    json_t *record = parse("{\"witness\": {\"claim\": {\"events\": []}, \"steps\": [" STEP(
        5, "T2", "write", "\"x\"", "write x", "null", "null",
        "false") ", " STEP(2, "T1", "write", "\"x\"", "write x", "null", "null",
                           "false") "], \"final\": []}}");
    ft_strbuf out = {0};
    json_t *report = json_pack("{s:[O]}", "findings", record);
    render(&plain, report, &out);
    json_decref(report);
    has(&out, "\"write x\" of T1 (b.c:2) came before \"write x\" of T2 (b.c:5)");
    ft_strbuf_release(&out);
    json_decref(record);
}

static const char EXPLAINED[] =
    "{\"state\": \"done\", \"findings\": [], \"undecided\": [], \"safe\": [{\"check\": \"race\", "
    "\"verdict\": \"safe\", \"count\": 1, \"key\": \"race|a.c:3|b.c:4\", \"stats\": {\"total_ms\": "
    "1},"
    "\"reason\": {\"pass\": \"causality\", \"cycle\": ["
    "{\"location\": \"a.c:2\", \"text\": \"release l\", \"thread\": \"T1\", \"why\": \"lock\", "
    "\"object\": \"l\"}, {\"location\": \"b.c:1\", \"text\": \"acquire l\", \"thread\": \"T2\", "
    "\"why\": \"claim\", \"object\": null}]}}, {\"check\": \"race\", \"verdict\": \"safe\", "
    "\"count\": 1, \"key\": \"k\", \"reason\": {\"pass\": \"unsat\"}, \"stats\": {\"total_ms\": 2, "
    "\"sliced\": 7, \"events\": 40, \"rounds\": 3}}], \"statistics\": {\"checks\": {\"race\": "
    "{\"pairs\": 9, \"left\": {\"lockset\": 5, \"must-happen-before\": null, \"causality\": 1}}}, "
    "\"all\": {}, \"events\": {\"trace\": 90, \"reads\": 20, \"reads_needed\": 6, \"variables\": "
    "4, "
    "\"variables_contended\": 2, \"subproblems\": 1, \"sliced\": 7, \"encoded\": 40}}}";

static void explanations_say_the_cycle_and_the_counts(void **state)
{
    (void)state;
    json_t *report = parse(EXPLAINED);
    ft_strbuf out = {0};
    ft_text_explanations(report, &out);
    has(&out, "race|a.c:3|b.c:4: causality (1.0 ms)\n");
    has(&out, " a.c:2 release l (T1) is before b.c:1: lock l\n");
    has(&out, " b.c:1 acquire l (T2) is before a.c:2: claim\n");
    has(&out, "(events: 90 traced, 7 after slicing, 40 encoded; 3 solver rounds, 2.0 ms)");
    has(&out,
        "  race               9                   5         not counted                   1\n");
    has(&out, "90 in the trace; of 1 candidate decided by the solver 7 after slicing, 40 encoded");
    has(&out, "6 of 20; variables contended: 2 of 4");
    ft_strbuf_release(&out);
    json_decref(report);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    ft_strbuf out = {0};
    ft_view_safe_text("a\033[2Jb\nc\x7f", &out);
    assert_string_equal(out.text, "a?[2Jb?c?");
    ft_strbuf_release(&out);
}

static void witness_files_do_not_collide(void **state)
{
    (void)state;
    ft_view view = plain;
    view.witness_dir = "found";
    char *single = ft_view_witness_path(&view, FILE_NAME, 2);
    view.file_number = 3;
    char *third = ft_view_witness_path(&view, FILE_NAME, 2);
    assert_string_equal(single, "found/bank.ndjson.2.json");
    assert_string_equal(third, "found/3-bank.ndjson.2.json");
    free(single);
    free(third);
}

static void problems_become_errors(void **state)
{
    (void)state;
    static const struct {
        int http;
        const char *body;
        ft_status code;
        uint64_t line, column;
    } cases[] = {
        {400, "{\"code\": \"malformed-input\", \"detail\": \"no\", \"line\": 3, \"column\": 7}",
         FT_INPUT, 3, 7},
        {413, "{\"code\": \"limit-exceeded\", \"detail\": \"too long\"}", FT_LIMIT, 0, 0},
        {422, "{\"code\": \"something-new\", \"detail\": \"no\"}", FT_USAGE, 0, 0},
        {429, "{\"title\": \"later\"}", FT_IO, 0, 0},
        {503, "{\"code\": \"usage\"}", FT_IO, 0, 0},
        {500, "null", FT_IO, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *body = json_loads(cases[i].body, JSON_DECODE_ANY, NULL);
        ft_error err = FT_ERROR_INIT;
        assert_int_equal(ft_problem_error(cases[i].http, body, &err), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
        assert_true(err.message[0] != '\0');
        json_decref(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries),
        cmocka_unit_test(a_finding_says_what_where_and_how),
        cmocka_unit_test(quiet_is_the_summary_alone),
        cmocka_unit_test(threads_have_columns),
        cmocka_unit_test(colours_only_when_wanted),
        cmocka_unit_test(long_stretches_are_folded),
        cmocka_unit_test(short_stretches_are_not_folded),
        cmocka_unit_test(order_tells_the_difference),
        cmocka_unit_test(explanations_say_the_cycle_and_the_counts),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(witness_files_do_not_collide),
        cmocka_unit_test(problems_become_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
