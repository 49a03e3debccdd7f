/* Every planted fault of the states that cutoffs compare (symbolic/cutoff_faults.h) is noticed by
 * the comparison with brute force. FT_SEEDS=N: give up a fault after so many. */
#include "symbolic_cutoffs.h"

#include "symbolic/cutoff_faults.h"

enum { MOST_SEEDS = 60 };

static const char *const NAMES[FT_SYM_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_SYM_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static bool are_cases_good(void)
{
    totals t = {0};
    for (size_t i = 0; i < CUTOFFS_N_CASES; i++)
        for (uint32_t place = 0; place < CUTOFFS_PLACES; place++)
            if (!cutoffs_of_case(i, place, &t)) return false;
    return cutoffs_of_endless_race();
}

static bool is_good(uint64_t seed)
{
    totals t = {0};
    if (!seed) return are_cases_good();
    return cutoffs_of_seed(seed, true, &t) && cutoffs_of_seed(seed, false, &t) &&
           cutoffs_races_of_seed(seed, &t);
}

static void test_faults_are_noticed(void **state)
{
    (void)state;
    uint64_t most = number("FT_SEEDS", MOST_SEEDS);
    unsigned missed = 0;
    for (int f = FT_SYM_FAULT_NONE + 1; f < FT_SYM_FAULTS; f++) {
        uint64_t seed = 0;
        ft_sym_fault = (ft_sym_fault_kind)f;
        while (seed <= most && is_good(seed)) seed++;
        ft_sym_fault = FT_SYM_FAULT_NONE;
        bool noticed = seed <= most;
        print_message("%s: %s, seed %llu: %s\n", NAMES[f], noticed ? "noticed" : "MISSED",
                      (unsigned long long)seed, cutoffs_why);
        missed += !noticed;
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
