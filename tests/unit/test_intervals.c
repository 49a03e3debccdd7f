/* The interval analysis against brute force. Ranges: every value that an event reads, writes or
 * assigns in any reachable state of a random trace lies in its range, for each graph, each way of
 * propagation and lookaheads of one to three transactions. Classes: every class of complete
 * interleavings of a random program has a member whose switches are permitted, for two threads
 * exactly one. FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include "interval_narrow.h"
#include "interval_solving.h"

enum {
    DEFAULT_SEEDS = 3000,
    DEFAULT_PROGRAMS = 2000,
    DEFAULT_OPERATORS = 4000,
    DEFAULT_NARROW = 1000,
    DEFAULT_SOLVING = 1200
};

/* Each combination was tried. */
static void expect_all_met(const interval_counts *counts, bool enough)
{
    for (int k = 0; k < INTERVAL_METS; k++) {
        print_message("%s%s %llu", k ? ", " : "", interval_words((interval_met)k),
                      (unsigned long long)counts->met[k]);
        if (enough && counts->met[k] == 0) fail_msg("never: %s", interval_words((interval_met)k));
    }
    print_message("\n");
}

static void test_ranges(void **state)
{
    (void)state;
    interval_counts counts = {0};
    uint64_t n = interval_number("FT_SEEDS", DEFAULT_SEEDS),
             start = interval_number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        char why[400];
        if (!interval_compare_seed(seed, &counts, why, sizeof why)) {
            ft_trace *trace = ft_generate(seed);
            char *dump = ft_oracle_dump(trace);
            fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)seed, why, dump);
            free(dump);
            ft_trace_free(trace);
            fail();
        }
    }
    print_message("%llu traces, %llu analyses, %llu left out, %llu values\n",
                  (unsigned long long)counts.traces, (unsigned long long)counts.analyses,
                  (unsigned long long)counts.left_out, (unsigned long long)counts.values);
    expect_all_met(&counts, n >= DEFAULT_SEEDS);
}

static void fail_on_program(uint64_t seed, const char *why)
{
    const program_shape shape = program_shape_of(seed);
    ft_trace *trace = program_trace(seed, &shape);
    char *dump = ft_oracle_dump(trace);
    fprintf(stderr, "program %llu: %s\n%s\n", (unsigned long long)seed, why, dump);
    free(dump);
    ft_trace_free(trace);
    fail();
}

static void test_programs(void **state)
{
    (void)state;
    program_counts counts = {0};
    uint64_t n = interval_number("FT_SEEDS", DEFAULT_PROGRAMS),
             start = interval_number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        char why[400];
        if (!program_compare_classes(seed, &counts, why, sizeof why) ||
            !program_compare_ranges(seed, &counts, why, sizeof why))
            fail_on_program(seed, why);
    }
    print_message("%llu programs, %llu classes, %llu sets of switches; %llu analyses, %llu left "
                  "out, %llu values\n",
                  (unsigned long long)counts.programs, (unsigned long long)counts.classes,
                  (unsigned long long)counts.compared, (unsigned long long)counts.ranges.analyses,
                  (unsigned long long)counts.ranges.left_out,
                  (unsigned long long)counts.ranges.values);
    expect_all_met(&counts.ranges, false);
}

static void test_operators(void **state)
{
    (void)state;
    uint64_t n = interval_number("FT_SEEDS", DEFAULT_OPERATORS),
             start = interval_number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        char why[400];
        if (!operator_compare_seed(seed, why, sizeof why))
            fail_msg("seed %llu: %s", (unsigned long long)seed, why);
    }
}

static void test_narrow_terms(void **state)
{
    (void)state;
    narrow_counts counts = {0};
    uint64_t n = interval_number("FT_SEEDS", DEFAULT_NARROW),
             start = interval_number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        char why[400];
        if (!narrow_compare_seed(seed, &counts, why, sizeof why))
            fail_msg("seed %llu: %s", (unsigned long long)seed, why);
    }
    print_message("%llu terms, %llu of them conditions, %llu checks, %llu integers, %llu narrow\n",
                  (unsigned long long)counts.terms, (unsigned long long)counts.conditions,
                  (unsigned long long)counts.checks, (unsigned long long)counts.integers,
                  (unsigned long long)counts.narrow);
    assert_true(counts.integers > n && counts.narrow > n / 2 && counts.checks > n);
}

static void test_narrow_programs(void **state)
{
    (void)state;
    solving_counts counts = {0};
    uint64_t n = interval_number("FT_SEEDS", DEFAULT_SOLVING),
             start = interval_number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        char why[400];
        if (!solving_compare_seed(seed, &counts, why, sizeof why)) fail_on_program(seed, why);
    }
    print_message(
        "%llu programs, assertions: %llu fail, %llu hold, %llu late; reads: %llu integers, "
        "%llu narrow\n",
        (unsigned long long)counts.programs, (unsigned long long)counts.found,
        (unsigned long long)counts.not_found, (unsigned long long)counts.late,
        (unsigned long long)counts.numbers, (unsigned long long)counts.widths);
    if (start != 1) return; /* a small sample of other seeds may have few of a kind */
    assert_true(counts.found > n / 20 && counts.not_found > n / 20 && counts.late < n / 20);
    assert_true(counts.numbers > n / 10 && counts.widths > n / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators), cmocka_unit_test(test_narrow_terms),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_programs),
        cmocka_unit_test(test_narrow_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
