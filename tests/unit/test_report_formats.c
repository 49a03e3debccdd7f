/* Reports in their formats: negotiation, what the text tells once, the limits of SARIF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "report/sarif.h"
#include "report_records.h"

static void formats_are_negotiated(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        int format; /* -1: none */
    } CASES[] = {
        {NULL, FT_REPORT_JSON},
        {"*/*", FT_REPORT_JSON},
        {"application/sarif+json", FT_REPORT_SARIF},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", FT_REPORT_HTML},
        {"text/*", FT_REPORT_TEXT},
        {"text/html;q=0.2, text/markdown;q=0.7", FT_REPORT_MARKDOWN},
        {"application/json;q=0, */*", FT_REPORT_TEXT},
        {"image/png", -1},
        {"application/json;q=0", -1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_report_format format = FT_REPORT_FORMATS;
        bool good = ft_report_format_accept(CASES[i].accept, FT_REPORT_JSON, &format);
        if (good != (CASES[i].format >= 0) || (good && (int)format != CASES[i].format))
            fail_msg("%s: %d", CASES[i].accept, (int)format);
    }
}

static void one_reason_is_told_once(void **state)
{
    (void)state;
    for (size_t count = 3; count < 6; count++) {
        ft_strbuf brief = {0}, full = {0};
        json_t *json = races(0, 0), *list = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "verdict",
                                                  "unknown", "check", "race", "message", "m",
                                                  "reason", "pass", "budget", "text", "too late"));
        json_object_set_new(json, "undecided", list);
        ft_report *report = ft_report_new(json, "t");
        json_decref(json);
        ft_view view = {.columns = FT_VIEW_COLUMNS}, explained = {.explain = true};
        ft_report_render(report, FT_REPORT_TEXT, &view, &brief);
        ft_report_render(report, FT_REPORT_TEXT, &explained, &full);
        assert_int_equal(occurrences(brief.text, "too late"), count > 3 ? 1 : count);
        assert_int_equal(strstr(brief.text, count == 4 ? "race, 3 more" : "race, 4 more") != NULL,
                         count > 3);
        assert_int_equal(occurrences(full.text, "unknown: race m"), count);
        ft_report_free(report);
        ft_strbuf_release(&brief);
        ft_strbuf_release(&full);
    }
}

/* Of a hundred event pairs at one place, one is told in full. */
static void groups_are_told_once(void **state)
{
    (void)state;
    json_t *json = json_pack("{s:[o, o, o]}", "findings", race_of(&HERE, &THERE),
                             race_of(&THERE, &HERE), race_of(&HERE, &HERE));
    ft_report *report = ft_report_new(json, "t");
    ft_strbuf text = {0};
    const ft_view view = {.columns = 100};
    assert_int_equal(report->findings.data[1].group, 1);
    assert_int_equal(report->findings.data[2].group, 3);
    ft_report_render(report, FT_REPORT_TEXT, &view, &text);
    assert_non_null(strstr(text.text, "[2] the same as [1]: Data race on x at a.c:20, a.c:10\n"));
    assert_non_null(strstr(text.text, "[3] Data race"));
    ft_strbuf_release(&text);
    ft_report_free(report);
    json_decref(json);
}

/* What later work adds to records is shown when it is there. */
static void stacks_creations_and_replays(void **state)
{
    (void)state;
    json_t *record = race_of(&HERE, &THERE);
    json_t *access = json_array_get(json_object_get(record, "accesses"), 0);
    json_object_set_new(access, "stack",
                        json_pack("[{s:s, s:s}]", "function", "pay_all", "location", "a.c:44"));
    json_object_set_new(access, "created",
                        json_pack("{s:s, s:s, s:s, s:[{s:s, s:s}]}", "thread", "main", "location",
                                  "m.c:7", "function", "start", "stack", "function", "main",
                                  "location", "m.c:30"));
    json_object_set_new(access, "more_calls", json_integer(3));
    json_object_set_new(record, "replay", json_string("foretell replay w.json -- ./bank"));
    json_t *json = json_pack("{s:[o]}", "findings", record);
    ft_report *report = ft_report_new(json, "t");
    ft_strbuf text = {0}, sarif = {0};
    const ft_view view = {.columns = 100};
    ft_report_render(report, FT_REPORT_TEXT, &view, &text);
    ft_report_render(report, FT_REPORT_SARIF, &view, &sarif);
    static const char *const PARTS[] = {
        "called by pay_all at a.c:44\n", "      and 3 more calls\n",
        "T1 was created by main at m.c:7 in start, called at m.c:30 in main",
        "Replay: foretell replay w.json"};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (!strstr(text.text, PARTS[i])) fail_msg("no \"%s\" in\n%s", PARTS[i], text.text);
    assert_non_null(strstr(sarif.text, "\"frames\""));
    assert_non_null(strstr(sarif.text, "T1 was created by main at m.c:7 in start"));
    ft_strbuf_release(&text);
    ft_strbuf_release(&sarif);
    ft_report_free(report);
    json_decref(json);
}

/* Every format makes something of a report that has next to nothing in it; documents are there even
 * of no finding, lines are not. */
static void poor_reports_are_rendered(void **state)
{
    (void)state;
    static const char *const POOR[] = {"{}", "{\"findings\": [{}]}", "{\"reports\": []}",
                                       "{\"findings\": [{\"accesses\": [{}], \"witness\": {}}]}",
                                       "{\"reports\": [{\"checks\": {\"race\": {}}}]}"};
    for (size_t i = 0; i < sizeof POOR / sizeof *POOR; i++) {
        json_t *json = json_loads(POOR[i], 0, NULL);
        ft_report *report = ft_report_new(json, NULL);
        for (unsigned f = 0; f < FT_REPORT_FORMATS; f++) {
            ft_strbuf out = {0};
            const ft_view view = {.columns = 80};
            ft_report_render(report, (ft_report_format)f, &view, &out);
            bool lines = f == FT_REPORT_TEXT || f == FT_REPORT_GITHUB || f == FT_REPORT_MARKDOWN;
            if (!out.len && (!lines || report->findings.len > 0))
                fail_msg("%s: nothing in format %u", POOR[i], f);
            ft_strbuf_release(&out);
        }
        ft_report_free(report);
        json_decref(json);
    }
}

/* ---- SARIF ----------------------------------------------------------------------------------- */

/* A race whose schedule has `count` quiet steps, then the two accesses. */
static json_t *long_race(size_t count)
{
    json_t *record = race_of(&HERE, &THERE), *steps = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(steps,
                              json_pack("{s:I, s:s, s:s, s:s?, s:s, s:s}", "event",
                                        (json_int_t)i + 10, "thread", i % 3 ? "T1" : "T2", "kind",
                                        i == 4 ? "write" : "read", "object", i == 4 ? "x" : "quiet",
                                        "text", "read quiet", "location", "a.c:5"));
    json_object_set_new(
        record, "witness",
        json_pack("{s:{s:s, s:[i, i]}, s:o, s:[{s:i, s:s, s:s, s:s}, {s:i, s:s, s:s, s:s}]}",
                  "claim", "kind", "race", "events", 1, 2, "steps", steps, "final", "event", 1,
                  "thread", "T1", "kind", "write", "text", "write x", "event", 2, "thread", "T2",
                  "kind", "write", "text", "write x"));
    return record;
}

static size_t count_steps(const json_t *log, bool *has_object, size_t *essential)
{
    size_t count = 0, i, k;
    json_t *flow, *step;
    const json_t *result = json_array_get(
        json_object_get(json_array_get(json_object_get(log, "runs"), 0), "results"), 0);
    const json_t *code = json_array_get(json_object_get(result, "codeFlows"), 0);
    *has_object = false;
    *essential = 0;
    json_array_foreach(json_object_get(code, "threadFlows"), i, flow)
    {
        json_array_foreach(json_object_get(flow, "locations"), k, step)
        {
            count++;
            *has_object |= json_integer_value(json_object_get(step, "executionOrder")) == 5;
            *essential += strcmp(ft_json_text(step, "importance", ""), "essential") == 0;
        }
    }
    return count;
}

static void long_schedules_are_cut_to_what_matters(void **state)
{
    (void)state;
    json_t *json = json_pack("{s:[o]}", "findings", long_race(5000));
    ft_report *report = ft_report_new(json, "t");
    ft_sarif_limits limits = {FT_SARIF_RESULTS, FT_SARIF_FLOW_LOCATIONS, FT_SARIF_LOCATIONS,
                              FT_SARIF_BYTES};
    json_t *log = ft_sarif_log(report, &limits);
    bool has_object;
    size_t essential;
    assert_int_equal(count_steps(log, &has_object, &essential), 1000);
    assert_true(has_object);
    assert_int_equal(essential, 2);
    json_decref(log);
    ft_report_free(report);
    json_decref(json);
}

static void logs_fit_the_size_limit(void **state)
{
    (void)state;
    json_t *findings = json_array();
    for (size_t i = 0; i < 40; i++) json_array_append_new(findings, long_race(300));
    json_t *json = json_pack("{s:o}", "findings", findings);
    ft_report *report = ft_report_new(json, "t");
    ft_strbuf whole = {0}, cut = {0};
    ft_sarif_limits limits = {25000, 1000, 100, 1u << 30};
    ft_sarif_write(report, limits, &whole);
    limits.bytes = 4000;
    ft_sarif_write(report, limits, &cut);
    assert_true(cut.len < whole.len / 4);
    json_t *log = json_loads(cut.text, 0, NULL);
    bool has_object;
    size_t essential;
    assert_true(count_steps(log, &has_object, &essential) >= 2);
    assert_int_equal(essential, 2);
    json_decref(log);
    ft_strbuf_release(&whole);
    ft_strbuf_release(&cut);
    ft_report_free(report);
    json_decref(json);
}

static void results_are_cut_too(void **state)
{
    (void)state;
    json_t *json = races(0, 9);
    ft_report *report = ft_report_new(json, "t");
    ft_sarif_limits limits = {4, 10, 100, 1u << 30};
    json_t *log = ft_sarif_log(report, &limits);
    const json_t *run = json_array_get(json_object_get(log, "runs"), 0);
    assert_int_equal(json_array_size(json_object_get(run, "results")), 4);
    json_decref(log);
    ft_report_free(report);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_negotiated),
        cmocka_unit_test(one_reason_is_told_once),
        cmocka_unit_test(groups_are_told_once),
        cmocka_unit_test(stacks_creations_and_replays),
        cmocka_unit_test(poor_reports_are_rendered),
        cmocka_unit_test(long_schedules_are_cut_to_what_matters),
        cmocka_unit_test(logs_fit_the_size_limit),
        cmocka_unit_test(results_are_cut_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
