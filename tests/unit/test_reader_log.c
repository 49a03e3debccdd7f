#include "unit/reader_check.h"

#include <stdio.h>
#include <unistd.h>

static void test_both_spellings(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "1,LK,1,nil,1\n1,WR,1,a.c:1:1,2\n1,UK,1,nil,0\n1,SIG,5,nil,5\n2,WT,5,nil,5\n2,RD,1,a,b.c:2,"
        "3",
        "1,LOCK,1,nil,1\r\n1,WRITE,1,a.c:1:1,2\r\n\r\n1,UNLOCK,1,nil,0\r\n1,SIGNAL,5,nil,5\r\n"
        "2,WAIT,5,nil,5\r\n2,READ,1,a,b.c:2,-3\r\n"};
    static const char *const SIGNALS[] = {"SIG 5 (line 4)", "SIGNAL 5 (line 5)"};
    for (size_t i = 0; i < 2; i++) {
        ft_trace *t = reader_accept(TEXTS[i], i);
        char expected[256];
        snprintf(expected, sizeof expected,
                 "1 acquire 1\n1 write 1\n1 release 1\n1 edge-out %s\n2 edge-in %s\n2 read 1\n",
                 SIGNALS[i], SIGNALS[i]);
        reader_expect_events(t, expected);
        assert_int_equal(t->format, FT_FORMAT_LOG);
        assert_null(ft_trace_location_text(t, t->loc[0]));
        assert_string_equal(ft_trace_location_text(t, t->loc[1]), "a.c:1:1");
        assert_string_equal(ft_trace_location_text(t, t->loc[5]), "a,b.c:2");
        assert_int_equal(t->data[1], FT_NO_VALUE);
        assert_int_equal(t->lock_kind[0], FT_LOCK_RECURSIVE);
        assert_int_equal(t->n_notes, 0);
        ft_trace_free(t);
    }
}

static void test_signals(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("2,WAIT,7,nil,0\n1,SIGNAL,7,nil,0\n2,WAIT,7,nil,0\n3,WAIT,7,nil,0\n"
                                "1,SIGNAL,7,nil,0\n3,WAIT,7,nil,0\n2,WAIT,8,nil,0\n2,RD,1,nil,0\n",
                                0);
    reader_expect_events(t, "1 edge-out SIGNAL 7 (line 2)\n2 edge-in SIGNAL 7 (line 2)\n"
                            "3 edge-in SIGNAL 7 (line 2)\n1 edge-out SIGNAL 7 (line 5)\n"
                            "2 edge-in SIGNAL 7 (line 5)\n3 edge-in SIGNAL 7 (line 5)\n2 read 1\n");
    assert_int_equal(reader_note(t, "wait-without-signal"), 1);
    assert_int_equal(reader_note(t, "early-edge"), 2);
    ft_trace_free(t);
}

/* A thread that acts before the signal did not wait for it; one that does not did. */
static void test_early_wait(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("1,WT,7\n2,WR,1\n2,SIG,7\n1,RD,1\n", 2);
    reader_expect_events(
        t, "2 write 1\n2 edge-out SIG 7 (line 3)\n1 edge-in SIG 7 (line 3)\n1 read 1\n");
    ft_trace_free(t);
    t = reader_accept("1,WT,7\n1,RD,1\n2,WR,1\n2,SIG,7\n3,WT,7\n", 0);
    reader_expect_events(
        t, "1 read 1\n2 write 1\n2 edge-out SIG 7 (line 4)\n3 edge-in SIG 7 (line 4)\n");
    assert_int_equal(reader_note(t, "wait-without-signal"), 1);
    ft_trace_free(t);
    /* Beside a WAITJOIN whose signal never comes. */
    t = reader_accept("1,WAITJOIN,9\n2,WAIT,7\n3,WAIT,7\n3,WR,1\n4,SIGNAL,7\n2,WR,2\n", 0);
    reader_expect_events(t, "3 write 1\n4 edge-out SIGNAL 7 (line 5)\n"
                            "2 edge-in SIGNAL 7 (line 5)\n2 write 2\n");
    assert_int_equal(reader_note(t, "wait-without-signal"), 1);
    assert_int_equal(reader_note(t, "join-without-signal"), 1);
    ft_trace_free(t);
}

static void test_fewer_fields(void **state)
{
    (void)state;
    ft_trace *t = reader_accept("# thread, op, object\n1,LK,5\n 1 , WR , 8 , a.c:3 , 4 \n"
                                "1,UK,5,b.c:4\n// end\n",
                                3);
    reader_expect_events(t, "1 acquire 5\n1 write 8\n1 release 5\n");
    assert_null(ft_trace_location_text(t, t->loc[0]));
    assert_string_equal(ft_trace_location_text(t, t->loc[1]), "a.c:3");
    assert_string_equal(ft_trace_location_text(t, t->loc[2]), "b.c:4");
    ft_trace_free(t);
}

/* Logged one line early, as in the corpus: the edge holds all the same. */
static void test_early_join(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(
        "1,WR,1,nil,0\n1,WAITJOIN,9,nil,0\n2,WR,2,nil,0\n2,SIGNALJOIN,9,nil,0\n1,RD,2,nil,0\n", 0);
    reader_expect_events(t, "1 write 1\n2 write 2\n2 edge-out SIGNALJOIN 9 (line 4)\n"
                            "1 edge-in SIGNALJOIN 9 (line 4)\n1 read 2\n");
    ft_trace_free(t);
}

/* The waiting thread acts in between: the edge is kept where it is logged, for the checker to see.
 */
static void test_early_join_with_events(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(
        "1,WAITJOIN,9,nil,0\n1,WR,1,nil,0\n2,WR,2,nil,0\n2,SIGNALJOIN,9,nil,0\n1,RD,2,nil,0\n", 0);
    reader_expect_events(t, "1 edge-in SIGNALJOIN 9 (line 4)\n1 write 1\n2 write 2\n"
                            "2 edge-out SIGNALJOIN 9 (line 4)\n1 read 2\n");
    ft_trace_free(t);
}

static void test_joins(void **state)
{
    (void)state;
    /* In order; twice for one thread; never signalled; a second pair on the same object. */
    ft_trace *t = reader_accept("2,SIGNALJOIN,9,nil,0\n1,WAITJOIN,9,nil,0\n3,WAITJOIN,9,nil,0\n"
                                "3,RD,1,nil,0\n1,WAITJOIN,4,nil,0\n1,RD,1,nil,0\n",
                                0);
    reader_expect_events(t, "2 edge-out SIGNALJOIN 9 (line 1)\n1 edge-in SIGNALJOIN 9 (line 1)\n"
                            "3 edge-in SIGNALJOIN 9 (line 1)\n3 read 1\n1 read 1\n");
    assert_int_equal(reader_note(t, "join-without-signal"), 1);
    ft_trace_free(t);
    t = reader_accept("2,SIGNALJOIN,9,nil,0\n1,WAITJOIN,9,nil,0\n1,WAITJOIN,9,nil,0\n"
                      "3,SIGNALJOIN,9,nil,0\n",
                      0);
    reader_expect_events(t, "2 edge-out SIGNALJOIN 9 (line 1)\n1 edge-in SIGNALJOIN 9 (line 1)\n"
                            "3 edge-out SIGNALJOIN 9 (line 4)\n1 edge-in SIGNALJOIN 9 (line 4)\n");
    ft_trace_free(t);
}

static void test_monitor(void **state)
{
    (void)state;
    /* Thread 1 holds lock 5 and, inside, lock 6 twice; it waits on 6's monitor, called 0. */
    ft_trace *t = reader_accept("1,LOCK,5,nil,0\n1,LOCK,6,nil,0\n1,LOCK,6,nil,0\n"
                                "1,WAITNOTIFY,0,w.c:1,0\n2,LOCK,6,nil,0\n2,SIGNALNOTIFY,0,nil,0\n"
                                "2,UNLOCK,6,nil,0\n1,WR,1,nil,0\n1,UNLOCK,6,nil,0\n"
                                "1,UNLOCK,6,nil,0\n2,LOCK,6,nil,0\n",
                                0);
    reader_expect_events(t, "1 acquire 5\n1 acquire 6\n1 acquire 6\n1 release 6\n2 acquire 6\n"
                            "2 edge-out SIGNALNOTIFY 0 (line 6)\n2 release 6\n"
                            "1 edge-in SIGNALNOTIFY 0 (line 6)\n1 acquire 6\n1 write 1\n"
                            "1 release 6\n1 release 6\n2 acquire 6\n");
    static const uint8_t FLAGS[] = {
        0, 0, FT_FLAG_NESTED, FT_FLAG_CONDITION, 0, 0, 0, 0, FT_FLAG_CONDITION, 0, FT_FLAG_NESTED,
        0, 0};
    for (uint32_t e = 0; e < t->n_events; e++) assert_int_equal(t->flags[e], FLAGS[e]);
    assert_string_equal(ft_trace_location_text(t, t->loc[3]), "w.c:1");
    assert_int_equal(reader_note(t, "condition-wait"), 1);
    assert_int_equal(reader_note(t, "stranger-release"), 0);
    ft_trace_free(t);
}

#define SLEEP(t) t ",LOCK,1,nil,0\n" t ",WAITNOTIFY,0,nil,0\n"
#define NOTIFY   "9,SIGNALNOTIFY,0,nil,0\n"

/* The longest waiting is woken first; a notify wakes one. */
static void test_two_sleepers(void **state)
{
    (void)state;
    ft_trace *t =
        reader_accept(SLEEP("1") SLEEP("2") NOTIFY NOTIFY "1,RD,1,nil,0\n1,UNLOCK,1,nil,0\n"
                                                          "2,RD,1,nil,0\n",
                      0);
    reader_expect_events(t,
                         "1 acquire 1\n1 release 1\n2 acquire 1\n2 release 1\n"
                         "9 edge-out SIGNALNOTIFY 0 (line 5)\n9 edge-out SIGNALNOTIFY 0 (line 6)\n"
                         "1 edge-in SIGNALNOTIFY 0 (line 5)\n1 acquire 1\n1 read 1\n1 release 1\n"
                         "2 edge-in SIGNALNOTIFY 0 (line 6)\n2 acquire 1\n2 read 1\n");
    assert_int_equal(reader_note(t, "wake-without-notify"), 0);
    ft_trace_free(t);
}

/* One notify, and the thread that acts is not the longest waiting one: it was woken all the same.
 */
static void test_stolen_notify(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(SLEEP("1") SLEEP("2") NOTIFY "2,RD,1,nil,0\n2,UNLOCK,1,nil,0\n"
                                                             "1,RD,1,nil,0\n",
                                0);
    reader_expect_events(t,
                         "1 acquire 1\n1 release 1\n2 acquire 1\n2 release 1\n"
                         "9 edge-out SIGNALNOTIFY 0 (line 5)\n2 edge-in SIGNALNOTIFY 0 (line 5)\n"
                         "2 acquire 1\n2 read 1\n2 release 1\n1 acquire 1\n1 read 1\n");
    assert_int_equal(reader_note(t, "wake-without-notify"), 1);
    ft_trace_free(t);
}

/* A notify from before the wait wakes nobody; a thread that never acts again takes nothing back. */
static void test_sleep_to_the_end(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(NOTIFY SLEEP("1") "2,WAITNOTIFY,0,nil,0\n2,RD,1,nil,0\n", 0);
    reader_expect_events(
        t, "9 edge-out SIGNALNOTIFY 0 (line 1)\n1 acquire 1\n1 release 1\n2 read 1\n");
    assert_int_equal(reader_note(t, "wait-without-monitor"), 1);
    assert_int_equal(reader_note(t, "wake-without-notify"), 1);
    ft_trace_free(t);
}

static void test_refused(void **state)
{
    (void)state;
    reader_refuse("1,WR,1,nil,1\n1@@", "no comma");
    reader_refuse("1,WR,1,nil,1\nT1|w(x)|3@@", "RAPID STD");
    reader_refuse("1,WR,1,nil,1\n1,WR@@", "object");
    reader_refuse("1,WR,1,nil,1\n1,WR, @@", "object");
    reader_refuse("1,WR,1,nil,1\n1,WR,1,@@", "location");
    reader_refuse("1,WR,1,nil,1\n1,WR,1,nil,@@", "number");
    reader_refuse("1,WR,1,nil,1\n1,WR,1,nil,@@x", "number");
    reader_refuse("1,WR,1,nil,1\n1,WR,1,nil,@@-", "number");
    reader_refuse("1,WR,1,nil,1\n@@,WR,1,nil,1", "thread");
    reader_refuse("1,WR,1,nil,1\n1,WR,@@,nil,1", "object");
    reader_refuse("1,WR,1,nil,1\n1,WR,1,@@,1", "location");
    reader_refuse("1,WR,1,nil,1\n1,@@,1,nil,1", "operation");
    reader_refuse("1,WR,1,nil,1\n1,@@wr,1,nil,1", "RD, WR");
    reader_refuse("1,WR,1,nil,1\n1,@@SIGNALL,1,nil,1", "RD, WR");
    reader_refuse("1,WR,1,nil,1\n1,WR,@@\x80,nil,1", "UTF-8");
}

static uint32_t count_kind(const ft_trace *t, ft_event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < t->n_events; e++) count += t->kind[e] == kind;
    return count;
}

/* Counts by `cut -d, -f2 | sort | uniq -c`. Each edge-in comes after its edge-out. */
static void test_corpus(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t reads, acquires, in;
    } LOGS[] = {{"account", 57, 0, 3},
                {"critical", 14, 0, 4},
                {"pingpong", 49, 0, 18},
                {"array", 5, 4, 1},
                {"bubblesort", 4793, 354, 25}};
    for (size_t i = 0; i < sizeof LOGS / sizeof *LOGS; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/../shared/corpus/ibm2003/%s.log", FT_SOURCE_DIR,
                 LOGS[i].name);
        if (access(path, R_OK) != 0) {
            print_message("skipped: %s is not here\n", path);
            skip();
        }
        ft_error err = FT_ERROR_INIT;
        ft_trace *t = NULL;
        if (ft_trace_read_file(path, &t, &err) != FT_OK) fail_msg("%s: %s", path, err.message);
        assert_int_equal(count_kind(t, FT_EVENT_READ), LOGS[i].reads);
        assert_int_equal(count_kind(t, FT_EVENT_ACQUIRE), LOGS[i].acquires);
        assert_int_equal(count_kind(t, FT_EVENT_EDGE_IN), LOGS[i].in);
        bool *done = ft_calloc(t->edges.len, sizeof *done);
        for (uint32_t e = 0; e < t->n_events; e++) {
            if (t->kind[e] == FT_EVENT_EDGE_OUT) done[t->object[e]] = true;
            if (t->kind[e] == FT_EVENT_EDGE_IN) assert_true(done[t->object[e]]);
        }
        free(done);
        ft_trace_free(t);
    }
}

/* The monitor is given back while its thread sleeps: nobody takes a lock that another holds. */
static void test_corpus_monitor(void **state)
{
    (void)state;
    static const char PATH[] = FT_SOURCE_DIR "/../shared/corpus/ibm2003/boundedbuffer.log";
    if (access(PATH, R_OK) != 0) {
        print_message("skipped: %s is not here\n", PATH);
        skip();
    }
    ft_error err = FT_ERROR_INIT;
    ft_trace *t = NULL;
    if (ft_trace_read_file(PATH, &t, &err) != FT_OK) fail_msg("%s", err.message);
    assert_int_equal(reader_note(t, "condition-wait"), 17);
    assert_int_equal(count_kind(t, FT_EVENT_RELEASE), 86 + 17);
    uint32_t *owner = ft_alloc(t->locks.len * sizeof *owner);
    for (uint32_t i = 0; i < t->locks.len; i++) owner[i] = FT_NO_ID;
    for (uint32_t e = 0; e < t->n_events; e++) {
        bool acquire = t->kind[e] == FT_EVENT_ACQUIRE, release = t->kind[e] == FT_EVENT_RELEASE;
        if ((!acquire && !release) || t->flags[e] & FT_FLAG_NESTED) continue;
        assert_int_equal(owner[t->object[e]], acquire ? FT_NO_ID : t->thread[e]);
        owner[t->object[e]] = acquire ? t->thread[e] : FT_NO_ID;
    }
    free(owner);
    ft_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_spellings),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_early_wait),
        cmocka_unit_test(test_fewer_fields),
        cmocka_unit_test(test_early_join),
        cmocka_unit_test(test_early_join_with_events),
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_monitor),
        cmocka_unit_test(test_two_sleepers),
        cmocka_unit_test(test_stolen_notify),
        cmocka_unit_test(test_sleep_to_the_end),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_corpus_monitor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
