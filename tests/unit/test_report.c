/* Reports: fingerprints that survive, what is known of findings, content negotiation, the limits of
 * SARIF. The records are written by hand after docs/records.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/fingerprint.h"
#include "report/ledger.h"
#include "report/sarif.h"

/* ---- records --------------------------------------------------------------------------------- */

typedef struct spot {
    const char *thread, *word, *object, *location, *function, *text;
} spot;

static json_t *access_of(const spot *at)
{
    return json_pack("{s:i, s:s, s:s, s:s?, s:s?, s:s?, s:s, s:[]}", "event", 1, "thread",
                     at->thread, "access", at->word, "object", at->object, "location", at->location,
                     "function", at->function, "text", at->text, "locks");
}

static json_t *race_of(const spot *one, const spot *two)
{
    char print[FT_FINGERPRINT + 1];
    json_t *record = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s?, s:s, s:[o, o]}", "check", "race",
                               "kind", "write-write", "verdict", "violation", "count", 1, "status",
                               "predicted", "object", one->object, "message", "they race",
                               "accesses", access_of(one), access_of(two));
    ft_fingerprint(record, NULL, print);
    json_object_set_new(record, "fingerprint", json_string(print));
    return record;
}

static const char *print_of(const json_t *record)
{
    return ft_json_text(record, "fingerprint", "");
}

static const spot HERE = {"T1", "write", "x", "a.c:10", "pay", "write x = 5"},
                  THERE = {"T2", "write", "x", "a.c:20", "take", "write x = 7"};

static void expect_same(const spot *one, const spot *two, bool same)
{
    json_t *record = race_of(&HERE, &THERE), *other = race_of(one, two);
    if ((strcmp(print_of(record), print_of(other)) == 0) != same)
        fail_msg("%s and %s", print_of(record), print_of(other));
    json_decref(record);
    json_decref(other);
}

static spot changed(spot of, size_t member, const char *text)
{
    memcpy((char *)&of + member, &text, sizeof text);
    return of;
}
#define WITH(of, member, text) changed(of, offsetof(spot, member), text)

static void fingerprints_survive(void **state)
{
    (void)state;
    spot shifted = WITH(HERE, location, "a.c:110"), moved = WITH(HERE, location, "b/new.c:3:9"),
         renamed = WITH(HERE, thread, "worker-17"), valued = WITH(HERE, text, "write x = 6");
    expect_same(&shifted, &THERE, true);
    expect_same(&moved, &THERE, true);
    expect_same(&renamed, &THERE, true);
    expect_same(&valued, &THERE, true);
    expect_same(&THERE, &HERE, true);
}

static void fingerprints_tell_apart(void **state)
{
    (void)state;
    spot object = WITH(WITH(HERE, object, "y"), text, "write y = 5"),
         function = WITH(HERE, function, "refund"), word = WITH(HERE, word, "read"),
         text = WITH(HERE, text, "x := (+ x 1)");
    expect_same(&object, &THERE, false);
    expect_same(&function, &THERE, false);
    expect_same(&word, &THERE, false);
    expect_same(&text, &THERE, false);
}

/* The numbers in a symbolic event's text are those of one call. */
static void numbers_of_one_call_do_not_count(void **state)
{
    (void)state;
    spot thirty = WITH(HERE, text, "x := (- balance 30)"),
         twenty = WITH(HERE, text, "x := (- balance #x00000014)"),
         local = WITH(HERE, text, "x := (- balance2 30)");
    json_t *a = race_of(&thirty, &THERE), *b = race_of(&twenty, &THERE),
           *c = race_of(&local, &THERE);
    assert_string_equal(print_of(a), print_of(b));
    assert_string_not_equal(print_of(a), print_of(c));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

static void a_renamed_thread_is_forked_alike(void **state)
{
    (void)state;
    spot join = {"M", "join", "T9", "a.c:4", "main", "join T9"},
         other = {"M", "join", "helper", "a.c:5", "main", "join helper"};
    json_t *a = race_of(&join, &THERE), *b = race_of(&other, &THERE);
    assert_string_equal(print_of(a), print_of(b));
    json_decref(a);
    json_decref(b);
}

/* Two bugs on one line, which only columns tell apart, and the same two ten lines further down. */
static void two_bugs_on_one_line(void **state)
{
    (void)state;
    const char *const places[2][2] = {{"a.c:10:3", "a.c:10:9"}, {"a.c:20:3", "a.c:20:9"}};
    char prints[2][2][FT_FINGERPRINT + 1];
    for (size_t run = 0; run < 2; run++) {
        spot one = WITH(HERE, location, places[run][0]), two = WITH(HERE, location, places[run][1]);
        /* In either order: numbers go by the place. */
        json_t *records = json_pack("[o, o]", race_of(run ? &two : &one, &THERE),
                                    race_of(run ? &one : &two, &THERE));
        ft_fingerprints_settle(records, "fingerprint");
        for (size_t i = 0; i < 2; i++)
            snprintf(prints[run][i], sizeof prints[run][i], "%s",
                     print_of(json_array_get(records, run ? 1 - i : i)));
        json_decref(records);
    }
    assert_string_not_equal(prints[0][0], prints[0][1]);
    assert_string_equal(prints[0][0], prints[1][0]);
    assert_string_equal(prints[0][1], prints[1][1]);
}

static void findings_at_one_place_are_one(void **state)
{
    (void)state;
    json_t *records = json_pack("[o, o]", race_of(&HERE, &THERE), race_of(&THERE, &HERE));
    ft_fingerprints_settle(records, "fingerprint");
    assert_string_equal(print_of(json_array_get(records, 0)), print_of(json_array_get(records, 1)));
    json_decref(records);
}

/* ---- what is known --------------------------------------------------------------------------- */

/* A report of `count` races, in functions f0, f1, ... */
static json_t *races(size_t first, size_t count)
{
    json_t *findings = json_array();
    for (size_t i = first; i < first + count; i++) {
        char function[16], location[32];
        snprintf(function, sizeof function, "f%zu", i);
        snprintf(location, sizeof location, "src/a.c:%zu", i + 2);
        spot one = WITH(WITH(HERE, function, function), location, location);
        json_array_append_new(findings, race_of(&one, &THERE));
    }
    return json_pack("{s:s, s:s, s:{}, s:o}", "state", "done", "job", "j1", "checks", "findings",
                     findings);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text++) count++;
    return count;
}

static ft_report *judged(ft_ledger *ledger, json_t *json)
{
    ft_report *report = ft_report_new(json, "t");
    json_decref(json);
    ft_ledger_apply(ledger, report);
    return report;
}

static size_t failing(const ft_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->findings.len; i++) count += report->findings.data[i].fails;
    return count;
}

static void a_baseline_leaves_what_is_new(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    ft_strbuf list = {0};
    ft_ledger *none = ft_ledger_new("2026-01-31"), *ledger = ft_ledger_new("2026-01-31");
    ft_report *old = judged(none, races(0, 5));
    assert_int_equal(failing(old), 5);
    ft_ledger_write_baseline(old, &list);
    assert_int_equal(ft_ledger_add_baseline(ledger, list.text, list.len, "in b", &err), FT_OK);
    ft_report *same = judged(ledger, races(0, 5)), *more = judged(ledger, races(0, 6));
    assert_int_equal(failing(same), 0);
    assert_int_equal(failing(more), 1);
    assert_int_equal(more->findings.data[5].standing, FT_STANDING_NEW);
    assert_string_equal(more->findings.data[0].why, "in b");
    ft_report_free(old);
    ft_report_free(same);
    ft_report_free(more);
    ft_ledger_free(none);
    ft_ledger_free(ledger);
    ft_strbuf_release(&list);
}

static void a_report_is_a_baseline(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    json_t *old = races(0, 5);
    char *text = json_dumps(old, 0);
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    assert_int_equal(ft_ledger_add_baseline(ledger, text, strlen(text), "in b", &err), FT_OK);
    ft_report *report = judged(ledger, races(3, 4));
    assert_int_equal(failing(report), 2);
    ft_report_free(report);
    ft_ledger_free(ledger);
    json_decref(old);
    free(text);
}

static void malformed_lines_have_a_place(void **state)
{
    (void)state;
    static const struct {
        bool baseline;
        const char *text;
        uint64_t line, column;
    } CASES[] = {
        {true, "# one\n0123456789abcdef\n  nonsense\n", 3, 3},
        {true, "0123456789abcde\n", 1, 1},
        {true, "{\"findings\": ", 1, 13},
        {false, "# c\nignore race until=never\n", 2, 24},
        {false, "ignore race -- no date\n", 1, 1},
        {false, "ignore rice until=never -- x\n", 1, 8},
        {false, "ignore race until=2026-13-01 -- x\n", 1, 19},
        {false, "ignore race until=never --  \n", 1, 29},
        {false, "ignore race colour=red until=never -- x\n", 1, 13},
        {false, "ignore race at=a at=b until=never -- x\n", 1, 18},
        {false, "race until=never -- x\n", 1, 1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_error err = FT_ERROR_INIT;
        ft_ledger *ledger = ft_ledger_new("2026-01-31");
        size_t length = strlen(CASES[i].text);
        ft_status status =
            CASES[i].baseline
                ? ft_ledger_add_baseline(ledger, CASES[i].text, length, "b", &err)
                : ft_ledger_add_suppressions(ledger, CASES[i].text, length, "s", &err);
        if (status != FT_INPUT || err.line != CASES[i].line || err.column != CASES[i].column)
            fail_msg("%s: %d at %d:%d, %s", CASES[i].text, (int)status, (int)err.line,
                     (int)err.column, err.message);
        ft_ledger_free(ledger);
    }
}

static void suppressions_match_and_expire(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        size_t left; /* of three findings, in f0, f1 and f2 */
    } CASES[] = {
        {"ignore race function=f1 until=never -- r", 2},
        {"ignore all function=f[12] until=never -- r", 1},
        {"ignore race at=src/*.c until=never -- r", 0},
        {"ignore race at=src/a.c:3 until=never -- r", 2},
        {"ignore race at=src/a.c function=take until=never -- r", 3},
        {"ignore atomicity,deadlock function=f1 until=never -- r", 3},
        {"ignore race object=x until=2026-01-31 -- the last day", 0},
        {"ignore race object=x until=2026-01-30 -- a day late", 3},
        {"ignore race thread=T2 object=y until=never -- r", 3},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_error err = FT_ERROR_INIT;
        ft_ledger *ledger = ft_ledger_new("2026-01-31");
        assert_int_equal(
            ft_ledger_add_suppressions(ledger, CASES[i].line, strlen(CASES[i].line), "s", &err),
            FT_OK);
        ft_report *report = judged(ledger, races(0, 3));
        if (failing(report) != CASES[i].left)
            fail_msg("%s: %zu left", CASES[i].line, failing(report));
        assert_int_equal(report->notes.len, strstr(CASES[i].line, "late") ? 1 : 0);
        ft_report_free(report);
        ft_ledger_free(ledger);
    }
}

/* What is apart is said in one line, and counts where that is asked for; a suppression stands over
 * both. */
static void what_is_apart_is_one_line(void **state)
{
    (void)state;
    static const struct {
        bool counts, suppressed;
        size_t failing, shown;
        ft_standing standing;
    } CASES[] = {
        {false, false, 1, 1, FT_STANDING_APART},
        {true, false, 3, 3, FT_STANDING_NEW},
        {true, true, 0, 0, FT_STANDING_SUPPRESSED},
        {false, true, 0, 0, FT_STANDING_SUPPRESSED},
    };
    static const char LINE[] = "ignore all object=x until=never -- r";
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_error err = FT_ERROR_INIT;
        ft_strbuf text = {0};
        ft_view view = {.columns = FT_VIEW_COLUMNS};
        json_t *json = races(0, 3), *list = json_object_get(json, "findings");
        for (size_t k = 1; k < 3; k++)
            json_object_set_new(json_array_get(list, k), "apart", json_true());
        ft_ledger *ledger = ft_ledger_new("2026-01-31");
        if (CASES[i].counts) ft_ledger_count_apart(ledger);
        if (CASES[i].suppressed)
            assert_int_equal(ft_ledger_add_suppressions(ledger, LINE, strlen(LINE), "s", &err),
                             FT_OK);
        ft_report *report = judged(ledger, json);
        assert_int_equal(failing(report), CASES[i].failing);
        assert_int_equal(report->findings.data[2].standing, CASES[i].standing);
        ft_report_render(report, FT_REPORT_TEXT, &view, &text);
        assert_int_equal(occurrences(text.text, "Fingerprint: "), CASES[i].shown);
        assert_int_equal(strstr(text.text, "2 atomicity violations that the run itself had are") !=
                             0,
                         CASES[i].standing == FT_STANDING_APART);
        ft_strbuf_release(&text);
        ft_report_free(report);
        ft_ledger_free(ledger);
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

static void only_some_checks_count(void **state)
{
    (void)state;
    bool checks[FT_CHECKS] = {[FT_CHECK_DEADLOCK] = true};
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_ledger_fail_on(ledger, checks);
    ft_report *report = judged(ledger, races(0, 3));
    assert_int_equal(failing(report), 0);
    assert_int_equal(report->findings.data[0].standing, FT_STANDING_NEW);
    ft_report_free(report);
    ft_ledger_free(ledger);
}

static void reviews_of_the_server_count(void **state)
{
    (void)state;
    json_t *json = races(0, 3), *findings = json_object_get(json, "findings");
    json_object_set_new(
        json_array_get(findings, 0), "review",
        json_pack("{s:s, s:s, s:s}", "state", "false", "reason", "joined", "first_job", "j1"));
    json_object_set_new(json_array_get(findings, 1), "review",
                        json_pack("{s:s, s:s}", "state", "confirmed", "first_job", "j0"));
    ft_ledger *ledger = ft_ledger_new("2026-01-31"), *strict = ft_ledger_new("2026-01-31");
    ft_ledger_only_new(strict);
    ft_report *report = judged(ledger, json_deep_copy(json)), *newest = judged(strict, json);
    assert_int_equal(failing(report), 2);
    assert_int_equal(report->findings.data[0].standing, FT_STANDING_SUPPRESSED);
    assert_int_equal(failing(newest), 1);
    assert_int_equal(newest->findings.data[1].standing, FT_STANDING_KNOWN);
    ft_report_free(report);
    ft_report_free(newest);
    ft_ledger_free(ledger);
    ft_ledger_free(strict);
}

/* ---- source ---------------------------------------------------------------------------------- */

static char root[] = "/tmp/foretell-report-XXXXXX";

static void write_source(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static int make_root(void **state)
{
    char path[128];
    (void)state;
    if (!mkdtemp(root)) return -1;
    snprintf(path, sizeof path, "%s/src", root);
    return mkdir(path, 0700);
}

static int remove_root(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/src/a.c", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/a.c", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/src", root);
    rmdir(path);
    return rmdir(root);
}

/* Three findings, at src/a.c:2, 3 and 4. */
static size_t failing_with_source(const char *text, size_t notes)
{
    write_source("src/a.c", text);
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_ledger_set_source(ledger, root);
    ft_report *report = judged(ledger, races(0, 3));
    size_t left = failing(report);
    assert_int_equal(report->notes.len, notes);
    ft_report_free(report);
    ft_ledger_free(ledger);
    return left;
}

static void annotations_in_the_source(void **state)
{
    (void)state;
    assert_int_equal(failing_with_source("\nx = 1; // foretell: ignore race -- counts only\n", 0),
                     2);
    assert_int_equal(
        failing_with_source("\n/* foretell: ignore all -- statistics */\nx = 1;\nx = 2;\n", 0), 1);
    assert_int_equal(failing_with_source("\ny;\n# foretell: ignore deadlock -- no\nx = 1;\n", 0),
                     3);
    assert_int_equal(failing_with_source("\nx; // foretell: ignore race\n", 1), 3);
    assert_int_equal(
        failing_with_source("\nx; // foretell: ignore race until=2026-01-01 -- was\n", 1), 3);
    /* Code on the line above is not about this line. */
    assert_int_equal(
        failing_with_source("int y; // foretell: ignore race -- of y\nx = 1;\nx;\nx;\n", 0), 3);
}

static const char *source_print(ft_report *report)
{
    return report->findings.data[0].source_fingerprint;
}

/* With the source, the line's content is what counts, wherever it is. */
static void source_lines_make_fingerprints(void **state)
{
    (void)state;
    char first[FT_FINGERPRINT + 1];
    static const struct {
        const char *text;
        size_t line;
        bool same;
    } CASES[] = {{"\n\n  x = 5;\n\n\n\nx++;\n", 3, true},
                 {"\n\n\n\nx  =  5;\n\nx++;\n", 5, true},
                 {"\n\n\n\ny = x = 5;\n\nx++;\n", 5, false}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char location[32];
        snprintf(location, sizeof location, "a.c:%zu", CASES[i].line);
        write_source("a.c", CASES[i].text);
        spot one = WITH(HERE, location, location), two = WITH(THERE, location, "a.c:7");
        ft_ledger *ledger = ft_ledger_new("2026-01-31");
        ft_ledger_set_source(ledger, root);
        ft_report *report = judged(ledger, json_pack("{s:[o]}", "findings", race_of(&one, &two)));
        assert_non_null(source_print(report));
        if (i == 0) snprintf(first, sizeof first, "%s", source_print(report));
        assert_int_equal(strcmp(first, source_print(report)) == 0, CASES[i].same);
        ft_report_free(report);
        ft_ledger_free(ledger);
    }
}

static void files_outside_the_root_are_not_read(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"/etc/passwd:1", "../../etc/passwd:1", "src/../../x:1"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        spot one = WITH(HERE, location, PATHS[i]);
        ft_ledger *ledger = ft_ledger_new("2026-01-31");
        ft_ledger_set_source(ledger, root);
        ft_report *report = judged(ledger, json_pack("{s:[o]}", "findings", race_of(&one, &THERE)));
        assert_null(report->findings.data[0].accesses.data[0].line);
        ft_report_free(report);
        ft_ledger_free(ledger);
    }
}

/* ---- formats --------------------------------------------------------------------------------- */

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

/* Every format makes something of a report that has next to nothing in it. */
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
            ft_strbuf_release(&out);
        }
        ft_report_free(report);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingerprints_survive),
        cmocka_unit_test(fingerprints_tell_apart),
        cmocka_unit_test(numbers_of_one_call_do_not_count),
        cmocka_unit_test(a_renamed_thread_is_forked_alike),
        cmocka_unit_test(two_bugs_on_one_line),
        cmocka_unit_test(findings_at_one_place_are_one),
        cmocka_unit_test(a_baseline_leaves_what_is_new),
        cmocka_unit_test(a_report_is_a_baseline),
        cmocka_unit_test(malformed_lines_have_a_place),
        cmocka_unit_test(suppressions_match_and_expire),
        cmocka_unit_test(what_is_apart_is_one_line),
        cmocka_unit_test(one_reason_is_told_once),
        cmocka_unit_test(only_some_checks_count),
        cmocka_unit_test(reviews_of_the_server_count),
        cmocka_unit_test(annotations_in_the_source),
        cmocka_unit_test(source_lines_make_fingerprints),
        cmocka_unit_test(files_outside_the_root_are_not_read),
        cmocka_unit_test(formats_are_negotiated),
        cmocka_unit_test(long_schedules_are_cut_to_what_matters),
        cmocka_unit_test(logs_fit_the_size_limit),
        cmocka_unit_test(results_are_cut_too),
        cmocka_unit_test(groups_are_told_once),
        cmocka_unit_test(stacks_creations_and_replays),
        cmocka_unit_test(poor_reports_are_rendered),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
