/* Schedule sets: text form, validator, selectors, order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedules/schedules.h"

static const char SET[] = "schedules 1\n"
                          "program 5fe1\n"
                          "prefix yes\n"
                          "marker @main 6 \"queue.c\" 11 3\n"
                          "marker @\"odd name\" 2\n"
                          "input x 32 \"x\" 0 1\n"
                          "input flag 1 \"a \\22flag\\22\" 0.1 2 dynamic\n"
                          "epoch entry\n"
                          "init (bvult x #x00000004)\n"
                          "if (= x #x00000000)\n"
                          "  if flag\n"
                          "    take a\n"
                          "  else\n"
                          "    none\n"
                          "else\n"
                          "  take b\n"
                          "schedule a exited\n"
                          "  0:1 begin\n"
                          "  0:2 create 0.1 at @main 7 \"queue.c\" 12 3\n"
                          "  0.1:1 begin after 0:2\n"
                          "  0.1:2 wait @c+0 @m+0 at @\"odd name\" 3\n"
                          "  0:3 signal @c+0 wakes 0.1 at @main 9 after 0.1:2\n"
                          "  0.1:3 wake @c+0 @m+0 at @\"odd name\" 3 after 0:3\n"
                          "  0.1:4 end\n"
                          "  0:4 timed_lock heap:0#1+8 timed-out at @main 10\n"
                          "  0:5 exit at @main 11\n"
                          "schedule b epoch second\n"
                          "  0:1 begin\n"
                          "  0:2 create 0.1 at @main 7 \"queue.c\" 12 3\n"
                          "  0:3 create 0.2 at @main 8 \"queue.c\" 13 3\n"
                          "  next 0.2 0 0.1\n"
                          "epoch second\n"
                          "stands 0 wake at @cond_wait 0 at @\"odd name\" 3 \"queue.c\" 30 5\n"
                          "stands 1 leave last at @main 12\n"
                          "stands 2 ended detached\n"
                          "input x@1 8 \"x\" 1 1\n"
                          "input y@1 8 \"y\" 0 2 dynamic\n"
                          "loop i@1 8 \"@main head %i\" 1 1\n"
                          "unknown n 32 @n+0\n"
                          "unknown i 1 0/1%i.0\n"
                          "unknown own 16 1@own+2\n"
                          "object heap:#1 24\n"
                          "object stack:0/0%a#2 8 freed\n"
                          "cell heap:#1+8 64 stack:0/0%a#2+0\n"
                          "cell 0/0%a 64 heap:#1+8\n"
                          "cell stack:0/0%a#2+4 32 0xffffffff\n"
                          "sync @m+0 mutex recursive owner 1 count 2\n"
                          "sync @c+0 condition waiters 0 notified 0\n"
                          "sync @b+0 barrier total 3 arrived 1\n"
                          "sync @r+0 rwlock readers 0 1 1\n"
                          "sync @s+0 semaphore destroyed\n"
                          "local 0/1%i.0 \"i\" \"queue.c\" 28\n"
                          "local stack:0/0%b+0 \"a b\" \"queue.c\" 29\n"
                          "init (or i (bvult n #x00000004))\n"
                          "if (= (concat x@1 x@1) own)\n"
                          "  take a\n"
                          "else\n"
                          "  take b\n"
                          "schedule a blocked\n"
                          "  1:1 signal heap:#1+0 wakes nobody at @main 12\n"
                          "  1:2 end\n"
                          "schedule b epoch second\n"
                          "  1:1 create 1.1 at @main 13\n"
                          "  1.1:1 begin after 1:1\n"
                          "  next 0 1 1.1\n";

static ft_schedule_set *read_text(const char *text)
{
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_schedule_set_read(text, strlen(text), &set, &err);
    if (status != FT_OK)
        fail_msg("%u:%u: %s", (unsigned)err.line, (unsigned)err.column, err.message);
    return set;
}

static void test_schedules_round_trip(void **state)
{
    (void)state;
    ft_schedule_set *set = read_text(SET);
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    assert_string_equal(out.text, SET);
    ft_strbuf_release(&out);
    ft_schedule_set_free(set);
}

typedef struct given {
    bool x_known, flag_known;
    uint64_t x, flag;
} given;

static bool value(void *context, const ft_schedule_input *in, const char *name, const char *thread,
                  uint64_t *bits)
{
    const given *g = context;
    bool x = strcmp(name, "x") == 0;
    assert_string_equal(name, x ? "x" : "a \"flag\"");
    assert_string_equal(thread, x ? "0" : "0.1");
    assert_int_equal(in->n, x ? 1 : 2);
    *bits = x ? g->x : g->flag;
    return x ? g->x_known : g->flag_known;
}

static void test_schedules_select(void **state)
{
    (void)state;
    const struct {
        given given;
        ft_status status;
        uint32_t schedule;
    } rows[] = {
        {{true, true, 0, 1}, FT_OK, 0},
        {{true, true, 0, 0}, FT_OK, FT_NO_SCHEDULE},
        {{true, true, 1, 0}, FT_OK, 1},
        {{true, false, 1, 0}, FT_OK, 1}, /* its value is not needed */
        {{true, false, 0, 0}, FT_NOT_FOUND, 0},
        {{true, false, UINT64_C(1) << 32, 0}, FT_NOT_FOUND, 0}, /* cut to 32 bits: 0 */
    };
    ft_schedule_set *set = read_text(SET);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        given g = rows[i].given;
        ft_error err = FT_ERROR_INIT;
        uint32_t schedule = 7;
        assert_int_equal(ft_schedule_select(set, 0, value, &g, &schedule, &err), rows[i].status);
        if (rows[i].status == FT_OK)
            assert_int_equal(schedule, rows[i].schedule);
        else
            assert_non_null(strstr(err.message, "flag"));
    }
    ft_schedule_set_free(set);
}

static void test_schedules_condition(void **state)
{
    (void)state;
    ft_schedule_set *set = read_text(SET);
    ft_strbuf out = {0};
    ft_schedule_term_print(set, ft_schedule_condition(set, 0, 1), &out);
    assert_string_equal(out.text, "(not (= x #x00000000))");
    ft_strbuf_release(&out);
    ft_schedule_set_free(set);
}

static void test_schedules_order(void **state)
{
    (void)state;
    ft_schedule_set *set = read_text(SET);
    const ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    ft_schedule_order order;
    ft_schedule_order_init(&order, s);
    /* nodes: 0 0:1, 1 0:2, 2 0.1:1, 3 0.1:2, 4 0:3, 5 0.1:3, 6 0.1:4, 7 0:4, 8 0:5 */
    const struct {
        uint32_t a, b;
        bool before;
    } rows[] = {{0, 1, true},  {1, 0, false}, {0, 2, true}, {2, 1, false},
                {3, 4, true},  {4, 5, true},  {3, 7, true}, {5, 7, false},
                {7, 5, false}, {6, 8, false}, {1, 6, true}, {4, 4, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(ft_schedule_is_before(&order, s, rows[i].a, rows[i].b), rows[i].before);
    ft_schedule_order_release(&order);
    ft_schedule_set_free(set);
}

typedef struct wrong_row {
    const char *text, *message;
    unsigned line, column;
} wrong_row;

static void check_wrong(const wrong_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ft_schedule_set *set = NULL;
        ft_error err = FT_ERROR_INIT;
        ft_status status = ft_schedule_set_read(rows[i].text, strlen(rows[i].text), &set, &err);
        if (status == FT_OK || set) fail_msg("row %zu is read", i);
        if (!strstr(err.message, rows[i].message) || err.line != rows[i].line ||
            err.column != rows[i].column)
            fail_msg("row %zu: %u:%u: %s", i, (unsigned)err.line, (unsigned)err.column,
                     err.message);
    }
}

static void test_schedules_wrong(void **state)
{
    (void)state;
#define HEAD  "schedules 1\ninput x 8 \"x\" 0 1\nepoch e\n"
#define LATER HEAD "none\nepoch f\nstands 0 lock at @f 1\nstands 1 lock at @f 1\n"
    static const wrong_row rows[] = {
        {"", "begins with", 1, 1},
        {"schedules 2\n", "version 2", 1, 11},
        {"schedules 1\nfoo\n", "'foo'", 2, 1},
        {"schedules 1\n", "no epoch", 2, 1},
        {"schedules 1\ninput x 65 \"x\" 0 1\n", "1 to 64", 2, 9},
        {"schedules 1\ninput x 8 \"x\" 0 1\ninput x 8 \"y\" 0 1\n", "label", 3, 7},
        {LATER "input y 1 \"y\" 0 1 dynamic\ninit y\nnone\n", "not known when it begins", 0, 0},
        {LATER "input y 8 \"y\" 0 1 late\n", "dynamic or nothing", 8, 19},
        {HEAD "if (= x y)\n", "y", 4, 9},
        {HEAD "if x\n", "Bool", 4, 4},
        {HEAD "if (= x #x00)\n  take a\n", "not complete", 6, 1},
        {HEAD "if (= x #x00)\n  none\n  none\n", "else", 6, 3},
        {HEAD "take a\n", "no schedule 'a'", 4, 6},
        {HEAD "none\nnone\n", "schedule must begin", 5, 1},
        {HEAD "none\nschedule a over\n", "'over'", 5, 12},
        {HEAD "none\nschedule a ended\n 0:2 begin\n", "number 1", 6, 2},
        {HEAD "none\nschedule a ended\n 0:1 lock\n", "missing", 6, 10},
        {HEAD "none\nschedule a ended\n 0:1 lokc @m+0\n", "'lokc'", 6, 6},
        {HEAD "none\nschedule a ended\n 0:1 begin after 0.1:1\n", "no node", 6, 18},
        {HEAD "none\nschedule a ended\n 0:1 lock m\n", "not an object", 0, 0},
        {HEAD "none\nschedule a ended\n 0.0:1 begin\n", "not a thread", 0, 0},
        {HEAD "none\nschedule a ended\n 0:1 end\n 0:2 end\n", "after its end", 0, 0},
        {HEAD "none\nschedule a epoch f\n", "epoch f", 0, 0},
        {HEAD "none\nschedule a ended\n 0:1 exit\n", "its end is 'exited' or 'failed'", 0, 0},
        {HEAD "none\nschedule a exited\n 0:1 end\n", "it is not 'exited'", 0, 0},
        {HEAD "none\nschedule a ended\n 0:1 begin\n", "it is not 'ended'", 0, 0},
        {HEAD "none\nschedule a blocked\n 0:1 end\n", "its end is 'ended'", 0, 0},
        {LATER "none\nschedule a ended\n 0:1 end\n", "it is not 'ended'", 0, 0},
        {HEAD "none\nschedule a ended\nschedule a ended\n", "two schedules", 0, 0},
        {HEAD "none\nepoch e\nnone\n", "two epochs", 0, 0},
        {HEAD "stands 0 lock at @f 1\nnone\n", "the program's entry", 0, 0},
        {HEAD "none\nepoch f\nnone\n", "where its threads stand", 0, 0},
        {HEAD "none\nschedule a epoch e\n", "ends at the program's entry", 0, 0},
        {HEAD "none\nschedule a ended\n next 0\n", "only a schedule that ends at an epoch", 6, 2},
        {LATER "stands 1 ended\n", "number 2", 8, 8},
        {LATER "stands 2 sleep at @f 1\n", "'sleep'", 8, 10},
        {LATER "stands 2 lock in @f 1\n", "at, detached or last", 8, 15},
        {LATER "stands 2 ended at @f 1\nnone\n", "thread 2 does not stand", 0, 0},
        {LATER "stands 2 lock last at @f 1\nnone\n", "thread 2 does not stand", 0, 0},
        {LATER "unknown x 8 @x+0\n", "label", 8, 9},
        {LATER "unknown y 8 x\n", "'x' is not a place", 8, 13},
        {LATER "unknown y 8 2/0%x\nnone\n", "input 'y'", 0, 0},
        {LATER "unknown y 7 @x+0\nnone\n", "input 'y'", 0, 0},
        {LATER "object heap:1 8\nnone\n", "object 'heap:1'", 0, 0},
        {LATER "object @g 8\nnone\n", "object '@g'", 0, 0},
        {LATER "object heap:#1 8\nobject heap:#1 8\nnone\n", "'heap:#1' is there twice", 0, 0},
        {LATER "object heap:#1 8 lost\n", "freed", 8, 18},
        {LATER "cell @g+0 8 0x100\nnone\n", "'@g+0' is not a cell", 0, 0},
        {LATER "cell @g+0 32 @h+0\nnone\n", "'@g+0' is not a cell", 0, 0},
        {LATER "cell @g+0 64 1/0%r\nnone\n", "'@g+0' is not a cell", 0, 0},
        {LATER "cell @g+0 65 1\n", "1 to 64", 8, 11},
        {LATER "cell @g+0 64 0x10000000000000000\n", "too large", 8, 14},
        {LATER "cell @g+0 64 1f\n", "not a number", 8, 14},
        {LATER "cell 1/0%r+ 8 1\nif (= x #x00)\n  none\nelse\n  none\n",
         "that the epoch does not have", 0, 0},
        {LATER "sync @m+0 lock\n", "'lock' is not a kind", 8, 11},
        {LATER "sync @m+0 mutex held\n", "'held'", 8, 17},
        {LATER "sync @m+0 mutex owner 2\nnone\n", "'@m+0'", 0, 0},
        {LATER "sync @c+0 condition waiters 0 64\n", "no thread 64", 8, 31},
        {LATER "sync @c+0 condition waiters 2\nnone\n", "'@c+0'", 0, 0},
        {LATER "sync @c+0 condition\nsync @c+0 mutex\nnone\n", "'@c+0' is there twice", 0, 0},
        {LATER "local 0/0%i \"i\"\n", "the file", 8, 16},
        {LATER "local @m+0 \"m\" \"f.c\" 1\nnone\n", "'@m+0' is there twice, or not", 0, 0},
        {LATER "local 2/0%i \"i\" \"f.c\" 1\nnone\n", "'2/0%i' is there", 0, 0},
        {LATER "local 0/0%i \"i\" \"f.c\" 1\nlocal 0/0%i \"k\" \"f.c\" 1\nnone\n",
         "'0/0%i' is there twice", 0, 0},
        {LATER "none\nschedule a epoch f\n  next 0\n", "1 threads for the 2", 0, 0},
        {LATER "none\nschedule a epoch f\n  next 0 0\n", "or another's", 0, 0},
        {LATER "none\nschedule a epoch f\n  next 0 2\n", "not a thread's name", 0, 0},
        {LATER "none\nschedule a epoch f\n  next 0 1\n  0:1 end\n", "must begin here", 11, 3},
        {LATER "none\nschedule a ended\n 2:1 end\n", "not a thread's name", 0, 0},
    };
    check_wrong(rows, sizeof rows / sizeof rows[0]);
}

/* Only a thread that has ended has a result, of 64 bits, and it has no address. */
static void test_schedules_wrong_results(void **state)
{
    (void)state;
    static const wrong_row rows[] = {
        {LATER "cell 1/result 64 1\nnone\n", "'1/result' is not a cell", 0, 0},
        {LATER "stands 2 ended\ncell 2/result 32 1\nnone\n", "'2/result' is not a cell", 0, 0},
        {LATER "stands 2 ended\ncell 3/result 64 1\nnone\n", "'3/result' is not a cell", 0, 0},
        {LATER "stands 2 ended\ncell @g+0 64 2/result\nnone\n", "'@g+0' is not a cell", 0, 0},
        {LATER "stands 2 ended\nsync 2/result mutex\nnone\n", "'2/result' is there twice", 0, 0},
        {LATER "stands 2 ended\nunknown r 8 2/result\nnone\n", "input 'r'", 0, 0},
        {LATER "stands 2 ended\ncell 2/results 64 1\n", "'2/results' is not a place", 9, 6},
    };
    check_wrong(rows, sizeof rows / sizeof rows[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules_round_trip), cmocka_unit_test(test_schedules_select),
        cmocka_unit_test(test_schedules_condition),  cmocka_unit_test(test_schedules_order),
        cmocka_unit_test(test_schedules_wrong),      cmocka_unit_test(test_schedules_wrong_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
