/* The trace model: locks that are not plain mutexes, condition waits, updates and blocks. */
#include "trace_words.h"

static void test_error_checking(void **state)
{
    (void)state;
    assert_becomes("A acquire e;A acquire e;A release e;A release e;A acquire e",
                   "A acquire e; A acquire e!; A release e; A release e!; A acquire e");
    assert_note("A acquire e;A acquire e;A release e", "failed-acquire", 1, 1);
    /* The failed acquire does not keep the first section from being closed: nothing is implied. */
    assert_becomes("A acquire e;A acquire e;B acquire e;A release e;B release e",
                   "A acquire e; A acquire e!; B acquire e; A release e; B release e");
    /* A try that succeeded is no error, whatever the holder: the checker calls it broken. */
    assert_becomes("A acquire e;A acquire e try", "A acquire e; A try-acquire e");
}

static void test_read_write(void **state)
{
    (void)state;
    assert_becomes("A acquire-shared w;A acquire-shared w;A release w;A release w;A release w",
                   "A acquire-shared w; (A acquire-shared w); (A release w); A release w; "
                   "A release w!");
    /* Readers do not make each other give the lock back, a writer makes all of them. */
    assert_unchanged("A acquire-shared w;B acquire-shared w");
    assert_becomes("A acquire-shared w;A acquire-shared w;B acquire-shared w;C acquire w",
                   "A acquire-shared w; (A acquire-shared w); (A release w)*; A release w*; "
                   "B acquire-shared w; B release w*; C acquire w");
    assert_becomes("A acquire w;B acquire-shared w;B release w",
                   "A acquire w; A release w*; B acquire-shared w; B release w");
    /* Its own other mode is no inner acquire: a thread that waits for itself. */
    assert_unchanged("A acquire-shared w;A acquire w");
}

static void test_condition_waits_are_marked(void **state)
{
    (void)state;
    const char *program = "A acquire m;A cond-wait c;A release m;A acquire n;A cond-wake c;"
                          "A acquire m;B cond-wait c;B begin;B release m;C cond-wait c;"
                          "C release m;C acquire m;C cond-wake c;D cond-wait c;D release m;"
                          "D cond-wake c;D acquire m;D acquire m";
    static const uint32_t MARKED[] = {10, 11, 14, 16};
    ft_builder *b = ft_builder_new(FT_FORMAT_STD);
    char *text = ft_strdup(program), *rest = text, *part;
    while ((part = strsep(&rest, ";")) != NULL) add_word_event(b, part + (*part == ' '));
    free(text);
    ft_builder_mark_waits(b);
    const ft_trace *trace = ft_builder_peek(b);
    for (uint32_t e = 0, i = 0; e < trace->n_events; e++) {
        bool marked = i < 4 && MARKED[i] == e;
        i += marked;
        assert_int_equal(trace->flags[e], marked ? FT_FLAG_CONDITION : 0);
    }
    assert_int_equal(find_note(trace, "condition-wait")->event, 10);
    assert_int_equal(find_note(trace, "condition-wait")->count, 4);
    ft_builder_free(b);
}

static void test_updates(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    uint32_t t = ft_builder_thread(b, "T", 1);
    uint32_t x = ft_builder_shared(b, "x", 1, FT_INT_SORT);
    uint32_t y = ft_builder_shared(b, "y", 1, FT_INT_SORT);
    uint32_t one = ft_builder_value(b, (ft_value){FT_INT_SORT, 1});
    uint32_t two = ft_builder_value(b, (ft_value){FT_INT_SORT, 2});
    ft_builder_update(b, t, x, FT_NO_LOC, one, two, false);
    ft_builder_update(b, t, y, FT_NO_LOC, one, two, false);
    ft_builder_update(b, t, x, FT_NO_LOC, FT_NO_VALUE, FT_NO_VALUE, false);
    ft_builder_update(b, t, x, FT_NO_LOC, one, two, false);
    ft_trace *trace = finish_trace(b);
    ft_access scratch;
    uint32_t count;
    assert_int_equal(trace->n_updates, 3); /* equal ones are one */
    const ft_access *list = ft_trace_accesses(trace, 1, &scratch, &count);
    assert_int_equal(count, 2);
    assert_access(&list[0], y, false, false);
    assert_access(&list[1], y, true, false);
    assert_int_equal(trace->flags[1], FT_FLAG_ATOMIC);
    assert_prints(trace, 0, "rmw x = 1 -> 2");
    assert_prints(trace, 2, "rmw x");
    ft_trace_free(trace);
}

static void test_blocks(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    ft_builder_thread(b, "T", 1);
    for (char name = 'a'; name < 'e'; name++) ft_builder_shared(b, &name, 1, FT_INT_SORT);
    uint32_t m = ft_builder_block(b, "m", 1, (const uint32_t[]){3, 1, 3, 0, 1}, 5);
    assert_int_equal(ft_builder_block(b, "m", 1, NULL, 0), m); /* declared once */
    ft_builder_event(b, FT_EVENT_ALLOC, 0, m, 0, 0, 0);
    ft_trace *trace = finish_trace(b);
    assert_int_equal(trace->block_cells[m].count, 3);
    assert_int_equal(trace->block_cells[m].variables[0], 0);
    assert_int_equal(trace->block_cells[m].variables[1], 1);
    assert_int_equal(trace->block_cells[m].variables[2], 3);
    assert_prints(trace, 0, "alloc m");
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_checking),
        cmocka_unit_test(test_read_write),
        cmocka_unit_test(test_condition_waits_are_marked),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
