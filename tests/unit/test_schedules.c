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
                          "input x 32 \"x\" 0 1\n"
                          "input flag 1 \"a \\22flag\\22\" 0.1 2\n"
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
                          "epoch second\n"
                          "stands 0 at @main 12\n"
                          "take a\n"
                          "schedule a ended\n"
                          "  0:1 signal @c+0 wakes nobody at @main 12\n"
                          "  0:2 end\n";

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

static void test_schedules_wrong(void **state)
{
    (void)state;
#define HEAD "schedules 1\ninput x 8 \"x\" 0 1\nepoch e\n"
    static const struct {
        const char *text, *message;
        unsigned line, column;
    } rows[] = {
        {"", "begins with", 1, 1},
        {"schedules 2\n", "version 2", 1, 11},
        {"schedules 1\nfoo\n", "'foo'", 2, 1},
        {"schedules 1\n", "no epoch", 2, 1},
        {"schedules 1\ninput x 65 \"x\" 0 1\n", "1 to 64", 2, 9},
        {"schedules 1\ninput x 8 \"x\" 0 1\ninput x 8 \"y\" 0 1\n", "label", 3, 7},
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
        {HEAD "none\nschedule a ended\nschedule a ended\n", "two schedules", 0, 0},
        {HEAD "none\nepoch e\nnone\n", "two epochs", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules_round_trip), cmocka_unit_test(test_schedules_select),
        cmocka_unit_test(test_schedules_condition),  cmocka_unit_test(test_schedules_order),
        cmocka_unit_test(test_schedules_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
