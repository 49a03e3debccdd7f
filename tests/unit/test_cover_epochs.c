/* Epochs of covering schedules: where markers are placed (Bergan, figure 3.2 with the notes'
 * corrections), which epochs a program has (the golden counts were made by brute force), and the
 * notes' counterexamples about markers, against brute force and the certificates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/certify.h"
#include "cover/search.h"
#include "oracle/constrained.h"
#include "oracle/mini.h"
#include "program/text.h"

#define L(k) " lock " k "; unlock " k "; "

static ft_schedule_set *search(const ft_program *p, bool ordered, cover_search_counts *counts)
{
    cover_search_options options = {
        .world.prefix = true, .epochs = COVER_EPOCHS_MARKERS, .ordered = ordered};
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (cover_search(p, &options, &set, counts, &err) != FT_OK) fail_msg("%s", err.message);
    return set;
}

static void show(const ft_schedule_set *set)
{
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    print_message("%s", out.text);
    ft_strbuf_release(&out);
}

/* ---- markers ---- */

static const struct {
    const char *name, *program;
    unsigned markers;
} PLACES[] = {
    {"no loop", "T {" L("0") "}", 0},
    {"a loop that does not synchronise", "in n:2; T { while n { _a = 1; } lock 0; }", 0},
    {"a loop", "in n:2; T { while n {" L("0") "} }", 1},
    {"a loop in a loop that may run zero times: both",
     "in n:2 m:2; T { while n {" L("0") "while m {" L("1") "} } }", 2},
    {"a loop in a loop, which synchronises alone: both, it may run zero times",
     "in n:2 m:2; T { while n { while m {" L("1") "} } }", 2},
    {"a loop behind a loop", "in n:2; T { while n {" L("0") "} while n {" L("1") "} }", 2},
    {"a trivial loop", "var q; T { lock 0; while q == 0 { wait 0 0; } unlock 0; }", 0},
    {"a trivial loop in a loop",
     "in n:2; var q; T { while n { lock 0; while q == 0 { wait 0 0; } unlock 0; } }", 1},
    {"a loop that waits and signals", "var q; T { lock 0; while q == 0 { wait 0 0; signal 1; } }",
     1},
    {"a loop with a barrier: behind it", "in n:2; bar 0:1; T { while n { barrier 0; } }", 1},
    {"a loop with a barrier and locks: behind the barrier",
     "in n:2; bar 0:1; T { while n {" L("0") "barrier 0; } }", 1},
    {"a loop with a barrier on one side: the barrier does not cover it",
     "in n:2; bar 0:1; T { while n { if n == 2 { barrier 0; } else {" L("0") "} } }", 1},
    {"an explicit marker covers its loop", "in n:2; T { while n { marker;" L("0") "} }", 1},
    {"an explicit marker on one side does not",
     "in n:2; T { while n { if n == 2 { marker; } " L("0") "} }", 2},
};

static void test_epochs_markers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        ft_program *p = mini_program(PLACES[i].program);
        ft_flow *flow = ft_flow_new(p);
        cover_markers markers;
        cover_markers_init(&markers, flow);
        if (markers.all.len != PLACES[i].markers)
            fail_msg("%s: %zu markers, not %u", PLACES[i].name, markers.all.len, PLACES[i].markers);
        cover_markers_release(&markers);
        ft_flow_free(flow);
        ft_program_free(p);
    }
}

/* ---- golden counts ---- */

/* Threads of one function, whose handles nobody keeps, each with an input of its own:
 * `while (x) { marker 1; x-- } marker 3`, and then either the end or `marker 3` for ever. */
static ft_program *walkers(unsigned n, bool ends)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    ft_program *p = NULL;
    ft_strbuf_printf(&text,
                     "program 1\nobject @foretell_marker_cell 4 align 4 thread\n"
                     "function @walk(%%a: i64) -> i64 {\n  start:\n    %%x = input \"x\" i2\n"
                     "    jump head(%%x)\n  head(%%c: i2):\n    %%more = ne i2 %%c, 0\n"
                     "    branch %%more, body, rest\n  body:\n"
                     "    %%m1 = atomic_load seq_cst i32 @foretell_marker_cell\n"
                     "    %%d = sub i2 %%c, 1\n    jump head(%%d)\n  rest:\n"
                     "    %%m3 = atomic_load seq_cst i32 @foretell_marker_cell\n    %s\n}\n"
                     "function @main() -> i32 {\n  start:\n",
                     ends ? "return i64 0" : "jump rest");
    for (unsigned i = 0; i < n; i++) ft_strbuf_printf(&text, "    %%h%u = create @walk, 0\n", i);
    ft_strbuf_puts(&text, "    end 0\n}\n");
    if (ft_program_read_text(text.text, text.len, &p, &err) != FT_OK)
        fail_msg("line %u: %s", (unsigned)err.line, err.message);
    ft_strbuf_release(&text);
    return p;
}

static unsigned entries_of_entry(const ft_schedule_set *set)
{
    unsigned n = 0;
    const ft_epoch *e = &set->epochs.data[0];
    for (size_t i = 0; i < e->choices.len; i++)
        n += e->choices.data[i].term == FT_NO_TERM && e->choices.data[i].schedule != FT_NO_SCHEDULE;
    return n;
}

static void check_ids(unsigned n, bool ends, bool ordered, unsigned epochs)
{
    cover_search_counts counts;
    ft_program *p = walkers(n, ends);
    ft_schedule_set *set = search(p, ordered, &counts);
    if (counts.epochs - 1 != epochs || entries_of_entry(set) != 1u << n || counts.open) {
        if (n < 3) show(set);
        fail_msg("%u threads, %s, %s: %u epochs, not %u; %u entries at first, %u open: %s", n,
                 ends ? "which end" : "for ever", ordered ? "ordered" : "symbolic",
                 (unsigned)counts.epochs - 1, epochs, entries_of_entry(set), (unsigned)counts.open,
                 counts.reason);
    }
    ft_schedule_set_free(set);
    ft_program_free(p);
}

static void test_epochs_golden_ids(void **state)
{
    static const unsigned ORDERED[] = {2, 4, 8, 16}, SYMBOLIC[] = {2, 3, 4, 5};
    static const unsigned ENDING[] = {2, 8, 26, 80}, ENDING_SYMBOLIC[] = {2, 5, 9, 14};
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        check_ids(n, false, true, ORDERED[n - 1]);
        check_ids(n, false, false, SYMBOLIC[n - 1]);
        check_ids(n, true, true, ENDING[n - 1]);
        check_ids(n, true, false, ENDING_SYMBOLIC[n - 1]);
    }
}

/* ---- programs ---- */

static cover_certificates certify(const ft_program *p, ft_schedule_set *set)
{
    cover_certify_options options = {.max_leaves = 5000};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    if (cover_certify(p, set, &options, &found, &err) != FT_OK) fail_msg("%s", err.message);
    return found;
}

static const char *why(const cover_certificates *found)
{
    for (size_t i = 0; i < found->all.len; i++)
        if (found->all.data[i].answer != COVER_PROVED) return found->all.data[i].text;
    return "all are proved";
}

/* refuted: the one certificate that is; COVER_CERTIFICATES: all six are proved. */
static const struct {
    const char *name, *program;
    cover_certificate_kind refuted;
} PROGRAMS[] = {
    {"a marker on one side", "in x:1; T { if x { marker; } lock 0; unlock 0; }",
     COVER_CERTIFICATES},
    {"what is decided before a marker",
     "in x:1; var g; T { if x { g = 1; } marker; if g { lock 0; unlock 0; } }", COVER_CERTIFICATES},
    {"the holder of a lock at a marker", "T { lock 0; marker; unlock 0; } T { lock 0; unlock 0; }",
     COVER_CERTIFICATES},
    {"a timed wait that is over, and needs the lock of a thread at a marker",
     "T { lock 0; _a = timedwait[0,0]; unlock 0; } T { lock 0; signal 0; marker; unlock 0; }",
     COVER_CERTIFICATES},
    {"a cycle of locks beside a thread that goes on for ever",
     "T { lock 0; marker; lock 1; } T { lock 1; marker; lock 0; } T { while 1 { marker; } }",
     COVER_CHECK_DEADLOCK},
    {"one thread without end", "var g; T { while 1 { lock 0; g = g + 1; unlock 0; } }",
     COVER_CERTIFICATES},
    {"two threads without end",
     "var g; T { while 1 { lock 0; g = g + 1; unlock 0; } }"
     "T { while 1 { lock 0; g = g + 2; unlock 0; } }",
     COVER_CERTIFICATES},
    {"two counting loops",
     "in n:2 m:2; T { _i = 0; while _i < n {" L("0") "_i = _i + 1; } }"
                                                     "T { _i = 0; while _i < m {" L(
                                                         "0") "_i = _i + 1; } }",
     COVER_CERTIFICATES},
    {"a loop that may run zero times in one without end",
     "in n:2; T { while 1 { _i = 0; while _i < n {" L("0") "_i = _i + 1; }" L("1") "} }",
     COVER_CERTIFICATES},
    {"a stop flag",
     "in n:2; var stop; T { _s = 0; while _s == 0 { lock 0; _s = stop; unlock 0; } }"
     "T { _i = 0; while _i < n {" L("1") "_i = _i + 1; } lock 0; stop = 1; unlock 0; }",
     COVER_CERTIFICATES},
    {"a queue of one without end",
     "var q; T { while 1 { lock 0; while q == 1 { wait 0 0; } q = 1; signal 1; unlock 0; } }"
     "T { while 1 { lock 0; while q == 0 { wait 1 0; } q = 0; signal 0; unlock 0; } }",
     COVER_CERTIFICATES},
    {"rounds of a barrier",
     "in n:2; bar 0:2; T { _i = 0; while _i < n { barrier 0; _i = _i + 1; } }"
     "T { _i = 0; while _i < n { barrier 0; _i = _i + 1; } }",
     COVER_CERTIFICATES},
    {"rounds of a barrier that one thread leaves early",
     "in n:2; bar 0:2; T { _i = 0; while _i < n { barrier 0; _i = _i + 1; } }"
     "T { _i = 0; while _i + 1 < n { barrier 0; _i = _i + 1; } }",
     COVER_CHECK_DEADLOCK},
};

static void check_program(size_t i)
{
    cover_search_counts counts;
    constrained_counts runs = {0};
    ft_program *p = mini_program(PROGRAMS[i].program);
    ft_schedule_set *set = search(p, false, &counts);
    cover_certificates found = certify(p, set);
    constrained_fault fault = constrained_check(p, set, &runs);
    bool holds = PROGRAMS[i].refuted == COVER_CERTIFICATES;
    bool good = holds ? cover_certificates_hold(&found)
                      : cover_certificates_answer(&found, PROGRAMS[i].refuted) == COVER_REFUTED;
    if (!good || counts.open || (holds && fault.what)) {
        show(set);
        fail_msg("%s: %s; open %u: %s; brute force: %s (%s)", PROGRAMS[i].name, why(&found),
                 (unsigned)counts.open, counts.reason, fault.what ? fault.what : "good", fault.why);
    }
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

static void test_epochs_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++) check_program(i);
}

/* ---- what goes wrong in later epochs, with the inputs of a run that shows it ---- */

/* The answers of all certificates of a kind in later epochs: refuted, if one is. */
static const struct {
    const char *name, *program;
    cover_certificate_kind kind;
    cover_answer answer;
} LATE[] = {
    {"an assertion that only the last of some rounds fails",
     "in n:3; var g; T { _i = 0; while _i < n { lock 0; g = g + 1; unlock 0; _i = _i + 1; } lock 0;"
     " assert !(g == 5); unlock 0; }",
     COVER_CHECK_FAILURE, COVER_REFUTED},
    {"one that no number of rounds fails",
     "in n:3; var g; T { _i = 0; while _i < n { lock 0; g = g + 2; unlock 0; _i = _i + 1; } lock 0;"
     " assert !(g == 5); unlock 0; }",
     COVER_CHECK_FAILURE, COVER_UNKNOWN},
    {"one that a sum of inputs fails, each read in a round of its own",
     "late p:4; var g; T { _i = 0; while _i < 4 { read _p p; lock 0; g = g + _p; unlock 0;"
     " _i = _i + 1; } lock 0; assert !(g == 59); unlock 0; }",
     COVER_CHECK_FAILURE, COVER_REFUTED},
    {"the same of a thread that another one makes",
     "late p:4; var g; T { _i = 0; while _i < 3 { read _p p; lock 0; g = g + _p; unlock 0;"
     " _i = _i + 1; } } M { _k = 0; while _k < 2 { create 1; join 1; marker; _k = _k + 1; }"
     " lock 0; assert !(g == 89); unlock 0; }",
     COVER_CHECK_FAILURE, COVER_REFUTED},
    {"a deadlock in the fourth round",
     "in n:3; T { _i = 0; while _i < n { lock 0; if _i == 3 { lock 1; unlock 1; } unlock 0;"
     " _i = _i + 1; } } T { _k = 0; while _k < n { lock 1; marker; unlock 1; marker; lock 2;"
     " unlock 2; if _k == 3 { lock 1; marker; lock 0; } _k = _k + 1; } }",
     COVER_CHECK_DEADLOCK, COVER_REFUTED},
    {"a race in the third round",
     "in n:2 x:1; var g; T { _i = 0; while _i < n { if _i == 2 { if x { g = 1; } } lock 0; unlock "
     "0;"
     " _i = _i + 1; } } T { _k = 0; while _k < n { if _k == 2 { _r = g; } lock 1; unlock 1;"
     " _k = _k + 1; } }",
     COVER_CHECK_RACE, COVER_REFUTED},
    {"a loop that never ends, in the third round",
     "in n:2 x:1; T { _i = 0; while _i < n { lock 0; unlock 0; if _i == 2 { while x { _a = 1; } }"
     " _i = _i + 1; } }",
     COVER_CHECK_DIVERGENCE, COVER_REFUTED},
};

/* The run of a refuted certificate is a witness that the judge executes. */
static void check_runs(const ft_program *p, const char *name, const cover_certificates *found)
{
    for (size_t i = 0; i < found->all.len; i++) {
        const cover_certificate *c = &found->all.data[i];
        ft_error err = FT_ERROR_INIT;
        bool refuted = c->answer == COVER_REFUTED;
        if (c->unconfirmed == refuted && c->unconfirmed) fail_msg("%s: both", name);
        if (refuted && c->epoch && !c->shown) fail_msg("%s: refuted without a run", name);
        if (!refuted) continue;
        if (!c->shown->witness) fail_msg("%s: the run is not a witness", name);
        if (ft_execution_check(p, &c->shown->execution, &err) != FT_OK)
            fail_msg("%s: %s", name, err.message);
    }
}

static cover_answer answer_of(const cover_certificates *found, cover_certificate_kind kind)
{
    cover_answer answer = COVER_PROVED;
    for (size_t i = 0; i < found->all.len; i++) {
        const cover_certificate *c = &found->all.data[i];
        if (c->kind != kind || !c->epoch || c->answer == COVER_PROVED) continue;
        if (answer != COVER_REFUTED) answer = c->answer;
    }
    return answer;
}

static void test_epochs_late(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof LATE / sizeof LATE[0]; i++) {
        cover_search_counts counts;
        ft_program *p = mini_program(LATE[i].program);
        ft_schedule_set *set = search(p, false, &counts);
        cover_certificates found = certify(p, set);
        cover_answer answer = answer_of(&found, LATE[i].kind);
        if (answer != LATE[i].answer) {
            show(set);
            fail_msg("%s: %s, %s", LATE[i].name, cover_answer_name(answer), why(&found));
        }
        check_runs(p, LATE[i].name, &found);
        cover_certificates_release(&found);
        ft_schedule_set_free(set);
        ft_program_free(p);
    }
}

/* A node names its object and its thread, so what is none has no schedule: an error with the place.
 */
static void test_epochs_no_object(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "program 1\nfunction @main() -> i32 {\n  b:\n    %r = lock 0\n    return i32 0\n}\n",
        "program 1\nfunction @main() -> i32 {\n  b:\n    %r = join 77\n    return i32 0\n}\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        ft_program *p = NULL;
        ft_schedule_set *set = NULL;
        cover_search_counts counts;
        ft_error err = FT_ERROR_INIT;
        if (ft_program_read_text(TEXTS[i], strlen(TEXTS[i]), &p, &err)) fail_msg("%s", err.message);
        cover_search_options options = {.world.prefix = true};
        assert_int_equal(cover_search(p, &options, &set, &counts, &err), FT_UNSUPPORTED);
        assert_non_null(strstr(err.message, "@main, instruction 0: an operation whose operand is"));
        ft_program_free(p);
    }
}

/* ---- questions ---- */

typedef struct names {
    char *all[200];
    size_t n;
} names;

static void note_name(void *context, const char *name, const char *text, size_t length)
{
    names *seen = context;
    assert_true(length == strlen(text) && seen->n < sizeof seen->all / sizeof *seen->all);
    for (size_t i = 0; i < seen->n; i++) assert_string_not_equal(seen->all[i], name);
    seen->all[seen->n++] = ft_strdup(name);
}

/* Every certificate's question has a file of its own, also those of later epochs. */
static void test_epochs_questions(void **state)
{
    (void)state;
    names seen = {0};
    cover_certify_options options = {.smt = note_name, .smt_context = &seen};
    cover_certificates found = {0};
    cover_search_counts counts;
    ft_program *p = mini_program("in n:2; T { _i = 0; while _i < n {" L("0") "_i = _i + 1; } }");
    ft_schedule_set *set = search(p, false, &counts);
    assert_true(set->epochs.len > 1);
    assert_int_equal(cover_certify(p, set, &options, &found, NULL), FT_OK);
    assert_int_equal(seen.n, found.all.len);
    for (size_t i = 0; i < seen.n; i++) free(seen.all[i]);
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs_markers),   cmocka_unit_test(test_epochs_golden_ids),
        cmocka_unit_test(test_epochs_programs),  cmocka_unit_test(test_epochs_late),
        cmocka_unit_test(test_epochs_no_object), cmocka_unit_test(test_epochs_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
