/* Cutoffs of programs with open inputs against brute force: the search that does not go on from a
 * state that it met before comes to every end that a random program has under all interleavings and
 * inputs, and finds a race where some execution has one; also where threads go round without end.
 * FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include "symbolic_cutoffs.h"

enum { DEFAULT_SEEDS = 80 };

static void expect_good(uint64_t seed, bool good)
{
    if (!good) fail_msg("seed %llu: %s", (unsigned long long)seed, cutoffs_why);
}

static void check(bool endless)
{
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++)
        expect_good(seed, cutoffs_of_seed(seed, endless, &t));
    print_message("%u programs (%u race, %u too large, %u searches too long), %u ends; %u runs (%u "
                  "cut off), %u without cutoffs\n",
                  (unsigned)t.programs, (unsigned)t.racing, (unsigned)t.skipped,
                  (unsigned)t.unfinished, (unsigned)t.ends, (unsigned)t.runs, (unsigned)t.cut_off,
                  (unsigned)t.plain_runs);
    assert_true(n < DEFAULT_SEEDS || (t.programs > n / 3 && t.cut_off > n / 20));
}

static void test_programs_that_end(void **state)
{
    (void)state;
    check(false);
}

static void test_programs_without_end(void **state)
{
    (void)state;
    check(true);
}

static void test_races_without_end(void **state)
{
    (void)state;
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++)
        expect_good(seed, cutoffs_races_of_seed(seed, &t));
    print_message("%u programs, %u race, %u runs cut off\n", (unsigned)t.programs,
                  (unsigned)t.racing, (unsigned)t.cut_off);
    assert_true(n < DEFAULT_SEEDS ||
                (t.programs > n / 2 && t.racing > n / 10 && t.racing < t.programs));
}

static void test_cases(void **state)
{
    (void)state;
    totals t = {0};
    for (size_t i = 0; i < CUTOFFS_N_CASES; i++)
        for (uint32_t place = 0; place < CUTOFFS_PLACES; place++)
            expect_good(i, cutoffs_of_case(i, place, &t));
    expect_good(0, cutoffs_of_endless_race());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases), cmocka_unit_test(test_programs_that_end),
        cmocka_unit_test(test_programs_without_end), cmocka_unit_test(test_races_without_end)};
    return cmocka_run_group_tests_name("symbolic_cutoffs", tests, NULL, NULL);
}
