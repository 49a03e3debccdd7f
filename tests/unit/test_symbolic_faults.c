/* Every planted fault of symbolic states (symbolic/faults.h) is noticed by the comparisons with
 * brute force, or by a contract. A fault is tried in a process of its own, which ends at the first
 * difference. FT_SEEDS=N: give a fault up after so many random programs; FT_FAULT=NAME: try that
 * one. */
#include "planted.h"
#include "symbolic/faults.h"
#include "symbolic_oracle.h"
#include "symbolic_polls.h"

enum { DEFAULT_SEEDS = 300, LIMIT = 500 };

static const char *const NAMES[SYM_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_SYMBOLIC_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static void compare_one(uint64_t seed, const inputs_program *p, totals *t)
{
    uint64_t copies = 0;
    (void)walks_of(seed, p, false, &copies);
    (void)walks_of(seed, p, true, &copies);
    compare_program(seed, p, LIMIT, t);
}

static void compare_all(uint64_t seeds)
{
    totals t = {0};
    polled_totals polled = {0};
    inputs_program p;
    const char *what;
    for (size_t n = 0; ft_inputs_directed(n, &p, &what); n++) {
        compare_one(n, &p, &t);
        ft_inputs_release(&p);
    }
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        ft_inputs_random(seed, &p);
        compare_one(seed, &p, &t);
        ft_inputs_release(&p);
        if (seed % 16 == 0) compare_polls(seed / 16, &polled);
    }
}

/* Ends badly where a comparison, or a contract, does not hold. */
static void attempt(int fault)
{
    symbolic_expects_differences = true;
    sym_fault = (sym_fault_kind)fault;
    compare_all(fault == SYM_FAULT_NONE ? 50 : number("FT_SEEDS", DEFAULT_SEEDS));
}

static void test_symbolic_faults_are_noticed(void **state)
{
    (void)state;
    each_is_noticed(NAMES, SYM_FAULTS, attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_symbolic_faults_are_noticed)};
    return cmocka_run_group_tests_name("symbolic_faults", tests, NULL, NULL);
}
