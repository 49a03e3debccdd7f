#include "unit/reader_check.h"

#include <stdio.h>
#include <unistd.h>

static void test_every_op(void **state)
{
    (void)state;
    size_t pieces[] = {0, 1, 5};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        ft_trace *t =
            reader_accept("T1|begin()|0\nT1|fork(T2)|1\r\nT1|acq(l)|2\n\nT1|w(a.b[0])|f.c:3\n"
                          "T1|rel(l)|4|ignored\nT2|r(a.b[0])\nT2|end|\nT1|join(T2)|x)y",
                          pieces[i]);
        assert_int_equal(t->format, FT_FORMAT_STD);
        reader_expect_events(t, "T1 begin\nT1 fork T2\nT1 acquire l\nT1 write a.b[0]\n"
                                "T1 release l\nT2 read a.b[0]\nT2 end\nT1 join T2\n");
        assert_string_equal(ft_trace_location_text(t, t->loc[3]), "f.c:3");
        assert_string_equal(ft_trace_location_text(t, t->loc[4]), "4");
        assert_null(ft_trace_location_text(t, t->loc[5]));
        assert_null(ft_trace_location_text(t, t->loc[6]));
        assert_string_equal(ft_trace_location_text(t, t->loc[7]), "x)y");
        assert_int_equal(t->lock_kind[0], FT_LOCK_RECURSIVE);
        assert_int_equal(t->shared_info[0].initial, FT_NO_VALUE);
        assert_int_equal(t->n_notes, 0);
        ft_trace_free(t);
    }
}

static void test_objects_hold_anything(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|w(f(int, x).y)|1\nT1|w(a|b)|2\nT1|w(()|3\nT1|w( )|4\n", 0);
    reader_expect_events(t, "T1 write f(int, x).y\nT1 write a|b\nT1 write (\nT1 write  \n");
    ft_trace_free(t);
}

static void test_bare_numbers(void **state)
{
    (void)state;
    /* Whether the child acts before or after the fork, and whichever is written first. */
    static const char *const TEXTS[] = {"T1|fork(2)|0\nT2|w(x)|1\nT1|join(2)|2\n",
                                        "T1|w(y)|9\nT1|fork(2)|0\nT2|w(x)|1\nT1|join(2)|2\n"};
    for (size_t i = 0; i < 2; i++) {
        ft_trace *t = reader_accept(TEXTS[i], 0);
        assert_int_equal(t->threads.len, 2);
        uint32_t at = t->n_events - 3;
        assert_string_equal(ft_trace_object_name(t, at), "T2");
        assert_string_equal(ft_trace_object_name(t, at + 2), "T2");
        assert_int_equal(t->object[at], t->thread[at + 1]);
        assert_int_equal(reader_note(t, "thread-name"), 1);
        ft_trace_free(t);
    }
}

static void test_names_the_other_way_round(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("1|fork(T2)|0\n2|w(x)|1\n", 0);
    reader_expect_events(t, "1 fork 2\n2 write x\n");
    assert_int_equal(reader_note(t, "thread-name"), 1);
    ft_trace_free(t);
}

/* 2 acts only at the very end, so that only the whole trace tells that there are two threads. */
static void test_both_act(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|fork(2)|0\nT2|w(x)|1\n2|w(x)|2\n", 0);
    reader_expect_events(t, "T1 fork 2\nT2 write x\n2 write x\n");
    assert_int_equal(t->threads.len, 3);
    assert_int_equal(reader_note(t, "thread-name"), 0);
    assert_int_equal(reader_note(t, "thread-name-ambiguous"), 1);
    ft_trace_free(t);
}

static void test_neither_acts(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|fork(2)|0\nT1|w(x)|1\n", 0);
    reader_expect_events(t, "T1 fork 2\nT1 write x\n");
    assert_int_equal(reader_note(t, "thread-silent"), 1);
    ft_trace_free(t);
}

static void test_forked_twice(void **state)
{
    (void)state;
    ft_trace *t =
        reader_accept("T1|fork(2)|0\nT1|w(x)|1\nT1|fork(T2)|2\nT2|w(x)|3\nT1|fork(2)|4\n", 0);
    reader_expect_events(t, "T1 write x\nT1 fork T2\nT2 write x\n");
    assert_int_equal(reader_note(t, "forked-twice"), 2);
    ft_trace_free(t);
}

static void test_begin_and_end(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|begin|0\nT1|w(x)|1\nT2|w(x)|1\nT1|end|2\n", 0);
    reader_expect_events(t, "T1 begin\nT1 write x\nT2 write x\nT1 end\n");
    assert_int_equal(reader_note(t, "begin-end"), 0);
    ft_trace_free(t);
    t = reader_accept("T1|end|9\nT1|begin|0\nT1|w(x)|1\nT1|end|2\nT2|begin|0\nT2|w(x)|0\n", 0);
    reader_expect_events(t, "T1 tx-begin\nT1 write x\nT1 tx-end\nT2 tx-begin\nT2 write x\n");
    assert_int_equal(reader_note(t, "begin-end"), 3);
    assert_int_equal(reader_note(t, "transaction-unopened"), 1);
    ft_trace_free(t);
}

/* A begin that is logged before its thread's fork is the thread's: behind the fork, once. */
static void test_early_begin(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T0|begin|0\nT1|begin|0\nT0|fork(T1)|1\nT0|w(x)|2\nT1|begin|4\n"
                                "T1|w(x)|5\n",
                                0);
    reader_expect_events(t, "T0 begin\nT0 fork T1\nT0 write x\nT1 begin\nT1 write x\n");
    assert_int_equal(reader_note(t, "early-begin"), 1);
    assert_int_equal(reader_note(t, "begin-end"), 0);
    ft_trace_free(t);
    t = reader_accept("T1|begin|0\nT1|begin|0\nT0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|5\nT1|end|6\n", 0);
    reader_expect_events(t, "T0 fork T1\nT1 begin\nT0 write x\nT1 write x\nT1 end\n");
    assert_int_equal(reader_note(t, "early-begin"), 1);
    ft_trace_free(t);
}

/* Where the other begins and ends enclose transactions it is none of them; where the thread acts
 * before its fork the log is wrong in another way, and the begin stays. */
static void test_early_begin_apart(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|begin|0\nT0|fork(T1)|1\nT1|w(y)|2\nT1|begin|4\nT1|w(x)|5\n"
                                "T1|end|6\nT1|r(x)|7\n",
                                0);
    reader_expect_events(t,
                         "T0 fork T1\nT1 write y\nT1 tx-begin\nT1 write x\nT1 tx-end\nT1 read x\n");
    assert_int_equal(reader_note(t, "early-begin"), 1);
    ft_trace_free(t);
    t = reader_accept("T1|begin|0\nT1|w(y)|2\nT0|fork(T1)|1\nT1|w(x)|5\n", 0);
    reader_expect_events(t, "T1 begin\nT1 write y\nT0 fork T1\nT1 write x\n");
    assert_int_equal(reader_note(t, "early-begin"), 0);
    ft_trace_free(t);
}

static void test_requests(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|req(a)|1\nT1|acq(a)|1\nT2|req(b)|2\nT2|acq(b)|2\nT1|req(c)|3\n"
                                "T1|w(x)|4\nT2|req(a)|5\nT3|req(c)|6\n",
                                0);
    reader_expect_events(t, "T1 acquire a\nT2 acquire b\nT1 write x\nT2 acquire a\n");
    assert_int_equal(t->flags[3] & FT_FLAG_BLOCKED, FT_FLAG_BLOCKED);
    assert_string_equal(ft_trace_location_text(t, t->loc[3]), "5");
    assert_int_equal(reader_note(t, "request-unanswered"), 2); /* both of c */
    ft_trace_free(t);
    /* A thread that was joined does not wait. */
    t = reader_accept("T1|acq(a)|1\nT2|req(a)|2\nT1|join(T2)|3\n", 0);
    reader_expect_events(t, "T1 acquire a\nT1 join T2\n");
    ft_trace_free(t);
}

static void test_comments_and_blanks(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("# a, b | c\n T1 | acq(l) | f.c:1 \nT1|rel(l)|2\n\t// T9|w(x)|3\n"
                                "T2\t|begin\t|\nT2 |acq(l)\nT1|branch|9\n",
                                1);
    reader_expect_events(t, "T1 acquire l\nT1 release l\nT2 begin\nT2 acquire l\n");
    assert_string_equal(ft_trace_location_text(t, t->loc[0]), "f.c:1");
    ft_trace_free(t);
}

static void test_refused(void **state)
{
    (void)state;
    reader_refuse("T1|w(x)|1\nT1@@", "'|'");
    reader_refuse("T1|w(x)|1\n1,WR,1,nil,1@@", "a log has");
    reader_refuse("T1|w(x)|1\nT1|w(x)y|1@@", "')' is missing");
    reader_refuse("T1|w(x)|1\n@@|w(x)|1", "thread before");
    reader_refuse("T1|w(x)|1\nT1|@@W(x)|1", "'W': use r, w, acq");
    reader_refuse("T1|w(x)|1\nT1|@@|1", "missing");
    reader_refuse("T1|w(x)|1\nT1|@@write|1", "r, w, acq");
    reader_refuse("T1|w(x)|1\nT1|w(@@)|1", "object");
    reader_refuse("T1|w(x)|1\nT1|w@@|1", "object");
    reader_refuse("T1|w(x)|1\nT1|w(x|1@@", "')'");
    reader_refuse("T1|w(x)|1\nT1|fork(@@T1)|1", "itself");
    reader_refuse("T1|w(x)|1\nT1|join(@@T1)|1", "itself");
    reader_refuse("T1|w(x)|1\nT1|w(x@@\xff)|1", "UTF-8");
}

static void test_own_number(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("T1|fork(1)|0\nT1|w(x)|1\n", 0);
    reader_expect_events(t, "T1 write x\n");
    assert_int_equal(reader_note(t, "self-fork"), 1);
    ft_trace_free(t);
}

/* ../shared/corpus/README.md and `sort | uniq -c` over the file. */
static void test_corpus(void **state)
{
    (void)state;
    static const char PATH[] = FT_SOURCE_DIR "/../shared/corpus/raceinjector/treeset_orig";
    if (access(PATH, R_OK) != 0) {
        print_message("skipped: %s is not here\n", PATH);
        skip();
    }
    ft_error err = FT_ERROR_INIT;
    ft_trace *t = NULL;
    if (ft_trace_read_file(PATH, &t, &err) != FT_OK) fail_msg("%s", err.message);
    uint32_t counts[FT_EVENT_KINDS] = {0}, children = 0;
    for (uint32_t e = 0; e < t->n_events; e++) {
        counts[t->kind[e]]++;
        children += t->kind[e] == FT_EVENT_FORK && ft_trace_object_name(t, e)[0] == 'T';
    }
    assert_int_equal(t->threads.len, 22);
    assert_int_equal(counts[FT_EVENT_READ], 421);
    assert_int_equal(counts[FT_EVENT_WRITE], 257);
    assert_int_equal(counts[FT_EVENT_FORK], 21);
    assert_int_equal(counts[FT_EVENT_ACQUIRE], 28);
    assert_int_equal(children, 21);
    ft_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op),
        cmocka_unit_test(test_objects_hold_anything),
        cmocka_unit_test(test_bare_numbers),
        cmocka_unit_test(test_names_the_other_way_round),
        cmocka_unit_test(test_both_act),
        cmocka_unit_test(test_neither_acts),
        cmocka_unit_test(test_forked_twice),
        cmocka_unit_test(test_begin_and_end),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_own_number),
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_early_begin),
        cmocka_unit_test(test_early_begin_apart),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_comments_and_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
