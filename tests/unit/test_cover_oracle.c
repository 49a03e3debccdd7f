/* Sets of random programs against brute force (notes on Bergan §2): every input is covered, and
 * every run under the schedule that is selected follows it. Without prefix schedules as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/prefer.h"
#include "cover/search.h"
#include "oracle/constrained.h"
#include "oracle/mini.h"
#include "oracle/mini_random.h"
#include "unit/cover_rows.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static ft_schedule_set *search(const ft_program *p, bool prefix, cover_order order,
                               cover_search_counts *counts, const char *text)
{
    cover_search_options options = {.world = {.prefix = prefix, .order = order, .seed = 7}};
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (cover_search(p, &options, &set, counts, &err) != FT_OK)
        fail_msg("%s\n%s", err.message, text);
    return set;
}

static void report(const ft_schedule_set *set, const constrained_fault *fault, const char *text)
{
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    print_message("%s\n%s", text, out.text);
    ft_strbuf_release(&out);
    fail_msg("inputs %u %u %u %u, schedule s%u: %s", (unsigned)fault->inputs[0],
             (unsigned)fault->inputs[1], (unsigned)fault->inputs[2], (unsigned)fault->inputs[3],
             fault->schedule + 1, fault->what);
}

static void check(const char *text, bool prefix, cover_order order, constrained_counts *counts,
                  uint64_t *racy)
{
    cover_search_counts searched;
    ft_program *p = mini_program(text);
    ft_schedule_set *set = search(p, prefix, order, &searched, text);
    constrained_fault fault = constrained_check(p, set, counts);
    *racy += fault.races;
    if (fault.what && !fault.races && !searched.open) report(set, &fault, text);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

static void test_cover_oracle(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = number("FT_SEEDS", 300), racy = 0;
    constrained_counts counts = {0};
    for (uint64_t seed = first; seed < first + n; seed++) {
        ft_strbuf text = {0};
        mini_random(seed, mini_random_features(seed), &text);
        if (n == 1) print_message("%s\n", text.text);
        check(text.text, seed % 3 != 0, (cover_order)(seed % COVER_ORDERS), &counts, &racy);
        ft_strbuf_release(&text);
    }
    print_message("seeds %u, inputs %u, runs %u: same %u, prefix %u, stopped %u; racy %u\n",
                  (unsigned)n, (unsigned)counts.inputs, (unsigned)counts.runs,
                  (unsigned)counts.ends[FT_CONSTRAINED_SAME],
                  (unsigned)counts.ends[FT_CONSTRAINED_PREFIX],
                  (unsigned)counts.ends[FT_CONSTRAINED_STOPPED], (unsigned)racy);
}

/* The search that prefers the order of a set finds a set that is right, and the same one where all
 * inputs have one schedule. (Else a class of inputs may be found by an input whose schedule in the
 * first set is another one.) */
static void check_preferred(uint64_t seed, unsigned *same, unsigned *single)
{
    ft_strbuf text = {0}, first = {0}, second = {0};
    cover_search_counts counts;
    cover_preference *preference = NULL;
    ft_schedule_set *again = NULL;
    ft_error err = FT_ERROR_INIT;
    mini_random(seed, mini_random_features(seed), &text);
    ft_program *p = mini_program(text.text);
    ft_schedule_set *set = search(p, true, COVER_ORDER_SEED, &counts, text.text);
    ft_schedule_set_print(set, &first);
    cover_search_options options = {.world = {.prefix = true}};
    assert_int_equal(cover_preference_read(p, first.text, first.len, &preference, &err), FT_OK);
    options.world.preference = preference;
    assert_int_equal(cover_search(p, &options, &again, &counts, &err), FT_OK);
    ft_schedule_set_print(again, &second);
    constrained_counts runs = {0};
    constrained_fault fault = constrained_check(p, again, &runs);
    if (fault.what && !fault.races && !counts.open) report(again, &fault, text.text);
    bool equal = strcmp(first.text, second.text) == 0;
    bool one = set->epochs.data[0].choices.len == 1;
    *same += equal;
    *single += one;
    if (!equal && one)
        fail_msg("seed %u\n%s\n%s\npreferred:\n%s", (unsigned)seed, text.text, first.text,
                 second.text);
    cover_preference_free(preference);
    ft_schedule_set_free(again);
    ft_schedule_set_free(set);
    ft_program_free(p);
    ft_strbuf_release(&text);
    ft_strbuf_release(&first);
    ft_strbuf_release(&second);
}

static void test_cover_preferred(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = number("FT_SEEDS", 100);
    unsigned same = 0, single = 0;
    for (uint64_t seed = first; seed < first + n; seed++) check_preferred(seed, &same, &single);
    print_message("%u sets, %u of one schedule: %u are found again\n", (unsigned)n, single, same);
    assert_true(n < 100 || same > n / 2);
}

static void test_cover_counterexamples(void **state)
{
    (void)state;
    constrained_counts counts = {0};
    uint64_t racy = 0;
    for (int i = 0; i < COVER_N_ROWS; i++)
        for (int k = 0; k < 2 * COVER_ORDERS; k++)
            check(COVER_ROWS[i].program, k % 2, (cover_order)(k / 2), &counts, &racy);
    assert_int_equal(racy, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_oracle),
                                       cmocka_unit_test(test_cover_preferred),
                                       cmocka_unit_test(test_cover_counterexamples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
