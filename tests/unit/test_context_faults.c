/* Every planted fault of the contexts' passes and paths (context/faults.h) is noticed by the
 * comparison with brute force, on the hand-written counterexamples or on random programs of either
 * writer. FT_SEEDS=N: give up a fault after so many. FT_FEATURES=1: on those of
 * context_features.h alone. */
#include "context_cases.h"
#include "context_features.h"

enum { MOST_SEEDS = 300 };

static const char *const NAMES[CTX_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_CONTEXT_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static bool is_noticed_by_text(const char *text, char *why, size_t size)
{
    oracle_counts counts = {0};
    bool used;
    return !oracle_compare(text, 0, &counts, &used, why, size);
}

/* By turns a program of each writer. */
static bool is_noticed_by_seed(uint64_t seed, bool features, char *why, size_t size)
{
    flow_random r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    ft_strbuf text = {0};
    if (features || seed % 2)
        features_write(&r, (uint32_t)(seed % FEATURES), &text);
    else
        oracle_write(&r, &text);
    bool noticed = is_noticed_by_text(ft_strbuf_text(&text), why, size);
    ft_strbuf_release(&text);
    return noticed;
}

static bool is_noticed(uint64_t most, bool features, const char *name)
{
    char why[700] = "";
    for (size_t i = 0; i < N_CASES && !features; i++)
        if (is_noticed_by_text(CASES[i].text, why, sizeof why)) {
            print_message("%s: noticed, %s: %s\n", name, CASES[i].name, why);
            return true;
        }
    for (uint64_t seed = 1; seed <= most; seed++)
        if (is_noticed_by_seed(seed, features, why, sizeof why)) {
            print_message("%s: noticed, seed %llu: %s\n", name, (unsigned long long)seed, why);
            return true;
        }
    print_message("%s: MISSED\n", name);
    return false;
}

static void test_faults_are_noticed(void **state)
{
    (void)state;
    const char *only = getenv("FT_FAULT");
    uint64_t most = oracle_number("FT_SEEDS", MOST_SEEDS);
    unsigned missed = 0;
    for (int f = CTX_FAULT_NONE + 1; f < CTX_FAULTS; f++) {
        if (only && strcmp(only, NAMES[f]) != 0) continue;
        ctx_fault = (ctx_fault_kind)f;
        missed += !is_noticed(most, getenv("FT_FEATURES") != NULL, NAMES[f]);
        ctx_fault = CTX_FAULT_NONE;
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
