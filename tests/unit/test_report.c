/* Reports: fingerprints that survive, what is known of findings, the source that they point at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/ledger.h"
#include "report_records.h"

/* ---- fingerprints ---------------------------------------------------------------------------- */

static void expect_same(const spot *one, const spot *two, bool same)
{
    json_t *record = race_of(&HERE, &THERE), *other = race_of(one, two);
    if ((strcmp(print_of(record), print_of(other)) == 0) != same)
        fail_msg("%s and %s", print_of(record), print_of(other));
    json_decref(record);
    json_decref(other);
}

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

/* Which time memory was given out is a matter of the run. */
static void memory_given_out_again_is_the_same(void **state)
{
    (void)state;
    spot first = WITH(WITH(HERE, object, "heap(a.c:4)+8"), text, "write heap(a.c:4)+8 = 1");
    spot second = WITH(WITH(HERE, object, "heap(a.c:4)+8#2"), text, "write heap(a.c:4)+8#2 = 1");
    spot other = WITH(WITH(HERE, object, "heap(b.c:4)+8"), text, "write heap(b.c:4)+8 = 1");
    spot called = WITH(WITH(HERE, object, "heap(a.c:4 for m.c:9)+8"), text,
                       "write heap(a.c:4 for m.c:9)+8 = 1");
    json_t *a = race_of(&first, &THERE), *b = race_of(&second, &THERE),
           *c = race_of(&other, &THERE), *d = race_of(&called, &THERE);
    assert_string_equal(print_of(a), print_of(b));
    assert_string_equal(print_of(a), print_of(d));
    assert_string_not_equal(print_of(a), print_of(c));
    json_decref(d);
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

/* Where both places read and write, the schedule says which one reads. */
static void either_of_a_race_may_read(void **state)
{
    (void)state;
    spot reads_here = WITH(WITH(HERE, word, "read"), text, "read x = 5"),
         writes_here = WITH(WITH(HERE, word, "write"), text, "write x = 6"),
         reads_there = WITH(WITH(THERE, word, "read"), text, "read x = 5"),
         writes_there = WITH(WITH(THERE, word, "write"), text, "write x = 6");
    json_t *a = race_of(&reads_here, &writes_there), *b = race_of(&writes_here, &reads_there),
           *c = race_of(&writes_here, &writes_there);
    assert_string_equal(print_of(a), print_of(b));
    assert_string_not_equal(print_of(a), print_of(c));
    json_decref(a);
    json_decref(b);
    json_decref(c);
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
        ft_report_number(report, CASES[i].counts);
        assert_int_equal(failing(report), CASES[i].failing);
        assert_int_equal(report->findings.data[2].standing, CASES[i].standing);
        ft_report_render(report, FT_REPORT_TEXT, &view, &text);
        assert_int_equal(occurrences(text.text, "Fingerprint: "), CASES[i].shown);
        assert_int_equal(strstr(text.text, "2 atomicity violations that the program allows are") !=
                             0,
                         CASES[i].standing == FT_STANDING_APART);
        ft_strbuf_release(&text);
        ft_report_free(report);
        ft_ledger_free(ledger);
    }
}

/* Twenty runs of one program have the same notes: they are printed once. */
static void notes_of_several_traces_are_printed_once(void **state)
{
    static const char REPORTS[] =
        "{\"reports\": [{\"trace\": \"a\", \"notes\": [{\"text\": \"one\"}, {\"text\": \"two\"}]}, "
        "{\"trace\": \"b\", \"notes\": [{\"text\": \"one\"}, {\"text\": \"three\"}]}]}";
    ft_view view = {.columns = FT_VIEW_COLUMNS};
    ft_intern printed = {0};
    (void)state;
    for (int again = 0; again < 2; again++) {
        ft_strbuf text = {0};
        json_t *json = json_loads(REPORTS, 0, NULL);
        ft_report *report = ft_report_new(json, NULL);
        ft_report_render(report, FT_REPORT_TEXT, &view, &text);
        assert_int_equal(occurrences(text.text, "note: one\n"), 1);
        assert_int_equal(occurrences(text.text, "note: two\n"), 1);
        assert_int_equal(occurrences(text.text, "note: three\n"), 1);
        ft_strbuf_release(&text);
        view.notes = &printed; /* from the second time on, of a caller's */
        ft_report_free(report);
        json_decref(json);
    }
    ft_intern_release(&printed);
}

/* The first that is listed is the first, whatever stands before it. */
static void numbers_count_what_is_listed(void **state)
{
    (void)state;
    ft_view view = {.columns = FT_VIEW_COLUMNS};
    ft_strbuf text = {0};
    json_t *json = races(0, 3), *list = json_object_get(json, "findings");
    for (size_t k = 0; k < 2; k++)
        json_object_set_new(json_array_get(list, k), "apart", json_true());
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_report *report = judged(ledger, json);
    ft_report_render(report, FT_REPORT_TEXT, &view, &text);
    assert_int_equal(occurrences(text.text, "\n[1] ") + !strncmp(text.text, "[1] ", 4), 1);
    assert_null(strstr(text.text, "[3] "));
    ft_report_number(report, true);
    for (size_t k = 0; k < 3; k++) assert_int_equal(report->findings.data[k].number, k + 1);
    ft_strbuf_release(&text);
    ft_report_free(report);
    ft_ledger_free(ledger);
}

/* Predicted and observed findings are counted each without those of them that are apart. */
static void the_summary_counts_what_is_listed(void **state)
{
    (void)state;
    ft_view view = {.columns = FT_VIEW_COLUMNS};
    ft_strbuf text = {0};
    json_t *json = races(0, 4), *record, *list = json_object_get(json, "findings");
    size_t i;
    json_array_foreach(list, i, record)
    {
        json_object_set_new(record, "check", json_string("atomicity"));
        if (i >= 1) json_object_set_new(record, "apart", json_true());
        if (i >= 3) json_object_set_new(record, "status", json_string("observed"));
    }
    json_object_set_new(json, "checks",
                        json_pack("{s:{s:i, s:i}}", "atomicity", "candidates", 4, "violation", 4));
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_report *report = judged(ledger, json);
    ft_report_render(report, FT_REPORT_TEXT, &view, &text);
    assert_non_null(strstr(text.text, "SUMMARY: foretell: 1 atomicity violation predicted, 3 "
                                      "atomicity violations set apart, in "));
    ft_strbuf_release(&text);
    ft_report_free(report);
    ft_ledger_free(ledger);
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

/* A race as a recorded program has it: at b.c:2, whose file is under the root at src/b.c. */
static json_t *recorded_race(const char *path, const char *line)
{
    spot one = WITH(HERE, location, "b.c:2"), two = WITH(THERE, location, "b.c:9");
    json_t *record = race_of(&one, &two), *accesses = json_object_get(record, "accesses");
    json_object_set_new(json_array_get(accesses, 0), "line", json_string(line));
    json_object_set_new(json_array_get(accesses, 1), "line", json_string("x = 7;"));
    json_object_set_new(record, "sources", json_pack("{s:s, s:n}", "b.c", path, "c.c"));
    return json_pack("{s:[o]}", "findings", record);
}

static void check_recorded(const char *path, const char *line, const char *shown, bool fails)
{
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_ledger_set_root(ledger, root);
    ft_report *report = judged(ledger, recorded_race(path, line));
    const ft_finding *finding = &report->findings.data[0];
    assert_string_equal(finding->accesses.data[0].line, line);
    assert_string_equal(ft_finding_path(finding, "b.c"), shown);
    assert_string_equal(ft_finding_path(finding, "c.c"), "c.c");
    assert_non_null(finding->source_fingerprint);
    assert_int_equal(failing(report), fails);
    ft_report_free(report);
    ft_ledger_free(ledger);
}

/* The lines are the recording's; a comment counts beside the very line. */
static void what_a_recording_has_of_its_source(void **state)
{
    (void)state;
    char path[128], outside[128], out[128];
    snprintf(path, sizeof path, "%s/src/a.c", root);
    snprintf(outside, sizeof outside, "%s-2/src/a.c", root);
    snprintf(out, sizeof out, "%s/../etc/passwd", root);
    write_source("src/a.c", "// foretell: ignore race -- counts only\n  x =\t5;\n");
    check_recorded(path, "x = 5;", "src/a.c", false);
    check_recorded(path, "x = 6;", "src/a.c", true);
    check_recorded(outside, "x = 5;", "b.c", true);
    check_recorded(out, "x = 5;", "b.c", true);
}

static void views_lead_to_the_source(void **state)
{
    (void)state;
    static const struct {
        ft_report_format format;
        const char *text;
    } CASES[] = {{FT_REPORT_TEXT, "          2 | y = 1;\n"},
                 {FT_REPORT_MARKDOWN, "y = 1;"},
                 {FT_REPORT_HTML, "y = 1;"},
                 {FT_REPORT_GITHUB, ",file=lib/b.c,line=2"},
                 {FT_REPORT_GITLAB, "\"path\": \"lib/b.c\""},
                 {FT_REPORT_SARIF, "\"uri\":\"lib/b.c\""},
                 {FT_REPORT_SARIF, "\"text\":\"y = 1;\""}};
    ft_view view = {.columns = FT_VIEW_COLUMNS};
    json_t *json = recorded_race("/src/app/lib/b.c", "y = 1;");
    ft_report *report = ft_report_new(json, "a");
    ft_ledger *ledger = ft_ledger_new("2026-01-31");
    ft_ledger_set_root(ledger, "/src/app/");
    ft_ledger_apply(ledger, report);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf out = {0};
        ft_report_render(report, CASES[i].format, &view, &out);
        if (!strstr(out.text, CASES[i].text)) fail_msg("no %s in %s", CASES[i].text, out.text);
        ft_strbuf_release(&out);
    }
    ft_ledger_free(ledger);
    ft_report_free(report);
    json_decref(json);
}

static void addresses_are_told_as_such(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } CASES[] = {{"write x = 93824992821264", "write x = 0x5555555e4010"},
                 {"x := (+ 93824992821264 1)", "x := (+ 0x5555555e4010 1)"},
                 {"\"read p = 140737354129408\"", "\"read p = 0x7ffff7ffe000\""},
                 {"write x = 999999999999", "write x = 999999999999"},
                 {"write x = -93824992821264", "write x = -93824992821264"},
                 {"read a93824992821264.b", "read a93824992821264.b"},
                 {"write x = 93824992821264938249928212", "write x = 93824992821264938249928212"},
                 {"bell \a 7", "bell ? 7"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf out = {0};
        ft_view_event_text(CASES[i].text, &out);
        assert_string_equal(out.text, CASES[i].shown);
        ft_strbuf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingerprints_survive),
        cmocka_unit_test(fingerprints_tell_apart),
        cmocka_unit_test(memory_given_out_again_is_the_same),
        cmocka_unit_test(either_of_a_race_may_read),
        cmocka_unit_test(numbers_of_one_call_do_not_count),
        cmocka_unit_test(a_renamed_thread_is_forked_alike),
        cmocka_unit_test(two_bugs_on_one_line),
        cmocka_unit_test(findings_at_one_place_are_one),
        cmocka_unit_test(a_baseline_leaves_what_is_new),
        cmocka_unit_test(a_report_is_a_baseline),
        cmocka_unit_test(malformed_lines_have_a_place),
        cmocka_unit_test(suppressions_match_and_expire),
        cmocka_unit_test(what_is_apart_is_one_line),
        cmocka_unit_test(notes_of_several_traces_are_printed_once),
        cmocka_unit_test(numbers_count_what_is_listed),
        cmocka_unit_test(the_summary_counts_what_is_listed),
        cmocka_unit_test(only_some_checks_count),
        cmocka_unit_test(reviews_of_the_server_count),
        cmocka_unit_test(annotations_in_the_source),
        cmocka_unit_test(source_lines_make_fingerprints),
        cmocka_unit_test(files_outside_the_root_are_not_read),
        cmocka_unit_test(what_a_recording_has_of_its_source),
        cmocka_unit_test(views_lead_to_the_source),
        cmocka_unit_test(addresses_are_told_as_such),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
