/* Symbolic exploration against brute force: the ends of a random program under every interleaving
 * and every input of a few bits are those of the explorer's classes, and no execution races where
 * no class does. And step by step: a symbolic state whose inputs are given, as numbers or as
 * conditions on terms, does what the interpreter does. FT_SEEDS=N and FT_SEED_START=N make longer
 * runs. */
#include "symbolic_oracle.h"

enum { LIMIT = 6000, DEFAULT_SEEDS = 250 };

static void test_ends(void **state)
{
    (void)state;
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) compare_seed(seed, LIMIT, &t);
    printf("%u programs (%u race, %u too large), %u inputs, %u schedules; %u classes, %u runs (%u "
           "infeasible, %u discarded); with cutoffs %u classes, %u runs (%u cut off)\n",
           (unsigned)t.programs, (unsigned)t.racing, (unsigned)t.skipped, (unsigned)t.inputs,
           (unsigned)t.schedules, (unsigned)t.classes, (unsigned)t.runs, (unsigned)t.infeasible,
           (unsigned)t.discarded, (unsigned)t.cutoff_classes, (unsigned)t.cutoff_runs,
           (unsigned)t.cut_off);
    for (int k = 1; k < FT_PROGRAM_ERRORS; k++)
        if (t.errors[k])
            printf("%s: %u ", ft_program_error_name((ft_program_error)k), (unsigned)t.errors[k]);
    puts("");
    if (n < 2 * DEFAULT_SEEDS) return;
    assert_true(t.programs > n / 2 && t.racing < t.programs / 4 && t.infeasible > 0);
    for (int k = 0; k < FT_CODES; k++)
        if (!t.codes[k]) print_message("never: %s\n", ft_instruction_row_of((ft_code)k)->name);
}

static void walk_all(bool open)
{
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1), steps = 0,
             copies = 0;
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        ft_inputs_random(seed, &p);
        steps += walks_of(seed, &p, open, &copies);
        ft_inputs_release(&p);
    }
    printf("%u steps of %u executions are equal\n", (unsigned)steps, (unsigned)(2 * copies));
}

static void test_steps(void **state)
{
    (void)state;
    walk_all(false);
}

static void test_steps_on_terms(void **state)
{
    (void)state;
    walk_all(true);
}

static void test_directed(void **state)
{
    (void)state;
    totals t = {0};
    inputs_program p;
    const char *what;
    uint64_t copies = 0;
    for (size_t n = 0; ft_inputs_directed(n, &p, &what); n++) {
        compare_program(n, &p, LIMIT, &t);
        (void)walks_of(n, &p, false, &copies);
        (void)walks_of(n, &p, true, &copies);
        ft_inputs_release(&p);
    }
    assert_int_equal(t.skipped, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_directed), cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_steps_on_terms)};
    return cmocka_run_group_tests_name("symbolic_oracle", tests, NULL, NULL);
}
