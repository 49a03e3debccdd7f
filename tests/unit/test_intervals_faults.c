/* Every planted fault of the interval analysis (ranges/faults.h) is noticed by the
 * comparison with brute force, and without one there is nothing to notice. FT_SEEDS=N: give up a
 * fault after so many. */
#include "interval_narrow.h"
#include "interval_solving.h"

#include "ranges/faults.h"

enum { MOST_SEEDS = 6000 };

static const char *const NAMES[FT_INTERVAL_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_INTERVAL_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

/* Faults from NARROW_RESULT on are of what a solver is given. */
static bool is_noticed_at(ft_interval_fault_kind fault, uint64_t seed, char *why, size_t size)
{
    program_counts counts = {0};
    narrow_counts terms = {0};
    solving_counts solved = {0};
    if (fault >= FT_INTERVAL_FAULT_NARROW_RESULT)
        return !narrow_compare_seed(seed, &terms, why, size) ||
               !solving_compare_seed(seed, &solved, why, size);
    /* One in some 500 programs with an arm shows it. */
    if (fault == FT_INTERVAL_FAULT_ARM_LOCKS)
        return !program_compare_ranges(seed * PROGRAM_SHAPES + PROGRAM_ARMS, &counts, why, size);
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
        const ft_interval_fault_kind fault = (ft_interval_fault_kind)f;
        ft_interval_fault = fault;
        while (seed <= most && !is_noticed_at(fault, seed, why, sizeof why)) seed++;
        ft_interval_fault = FT_INTERVAL_FAULT_NONE;
        print_message("%s: %s, %llu: %s\n", NAMES[f], seed > most ? "MISSED" : "noticed",
                      (unsigned long long)seed, why);
        missed += seed > most;
        if (seed <= most) assert_false(is_noticed_at(fault, seed, why, sizeof why));
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
