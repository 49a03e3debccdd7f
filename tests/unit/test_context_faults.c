/* Every planted fault of the contexts' passes (context/faults.h) is noticed by the comparison with
 * brute force, on the hand-written counterexamples or on random programs. FT_SEEDS=N: give up a
 * fault after so many. */
#include "context_cases.h"

enum { MOST_SEEDS = 100 };

static const char *const NAMES[CTX_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_CONTEXT_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static bool is_noticed_by_case(size_t i, char *why, size_t size)
{
    oracle_counts counts = {0};
    bool used;
    return !oracle_compare(CASES[i].text, 0, &counts, &used, why, size);
}

static bool is_noticed_by_seed(uint64_t seed, char *why, size_t size)
{
    oracle_counts counts = {0};
    bool used;
    flow_random r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    ft_strbuf text = {0};
    oracle_write(&r, &text);
    bool good = oracle_compare(ft_strbuf_text(&text), 0, &counts, &used, why, size);
    ft_strbuf_release(&text);
    return !good;
}

static void test_faults_are_noticed(void **state)
{
    (void)state;
    const char *limit = getenv("FT_SEEDS");
    uint64_t most = limit ? strtoull(limit, NULL, 10) : MOST_SEEDS;
    unsigned missed = 0;
    for (int f = CTX_FAULT_NONE + 1; f < CTX_FAULTS; f++) {
        char why[700] = "";
        uint64_t seed = 1;
        size_t i = 0;
        ctx_fault = (ctx_fault_kind)f;
        while (i < N_CASES && !is_noticed_by_case(i, why, sizeof why)) i++;
        while (i == N_CASES && seed <= most && !is_noticed_by_seed(seed, why, sizeof why)) seed++;
        ctx_fault = CTX_FAULT_NONE;
        bool noticed = i < N_CASES || seed <= most;
        print_message("%s: %s, %s %llu: %s\n", NAMES[f], noticed ? "noticed" : "MISSED",
                      i < N_CASES ? CASES[i].name : "seed", (unsigned long long)seed, why);
        missed += !noticed;
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
