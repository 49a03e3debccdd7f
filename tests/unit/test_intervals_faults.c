/* Every planted fault of the interval analysis (ranges/faults.h) is noticed by the
 * comparison with brute force, and without one there is nothing to notice. FT_SEEDS=N: give up a
 * fault after so many. */
#include "interval_operators.h"
#include "interval_programs.h"

#include "ranges/faults.h"

enum { MOST_SEEDS = 2000 };

static const char *const NAMES[FT_INTERVAL_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_INTERVAL_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static bool is_noticed_at(uint64_t seed, char *why, size_t size)
{
    program_counts counts = {0};
    return !operator_compare_seed(seed, why, size) ||
           !program_compare_classes(seed, &counts, why, size) ||
           !program_compare_ranges(seed, &counts, why, size) ||
           !interval_compare_seed(seed, &counts.ranges, why, size);
}

static void test_faults_are_noticed(void **state)
{
    (void)state;
    uint64_t most = interval_number("FT_SEEDS", MOST_SEEDS);
    unsigned missed = 0;
    for (int f = FT_INTERVAL_FAULT_NONE + 1; f < FT_INTERVAL_FAULTS; f++) {
        char why[400] = "";
        uint64_t seed = 1;
        ft_interval_fault = (ft_interval_fault_kind)f;
        while (seed <= most && !is_noticed_at(seed, why, sizeof why)) seed++;
        ft_interval_fault = FT_INTERVAL_FAULT_NONE;
        print_message("%s: %s, %llu: %s\n", NAMES[f], seed > most ? "MISSED" : "noticed",
                      (unsigned long long)seed, why);
        missed += seed > most;
        if (seed <= most) assert_false(is_noticed_at(seed, why, sizeof why));
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
