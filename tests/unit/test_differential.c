/* The engine against the brute-force oracle on random traces, all models and checks.
 * FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "oracle/compare.h"

#define DEFAULT_SEEDS 2000

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Every seed gets the plain comparison; the dearer ones take turns. */
static unsigned wanted_for(uint64_t seed)
{
    unsigned wanted = 1u << FT_COMPARE_EVENTS | 1u << FT_COMPARE_INCLUSION;
    if (seed % 4 == 0) wanted |= 1u << FT_COMPARE_LOCATIONS;
    if (seed % 7 == 0) wanted |= 1u << FT_COMPARE_DECIDE;
    if (seed % 3 == 0) wanted |= 1u << FT_COMPARE_REORDER;
    if (seed % 13 == 0) wanted |= 1u << FT_COMPARE_LITERAL;
    return wanted;
}

static void check_balance(const ft_comparison_stats *stats)
{
    static const ft_check checks[] = {FT_CHECK_RACE, FT_CHECK_ATOMICITY, FT_CHECK_ASSERTION,
                                      FT_CHECK_PROPERTY};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        uint64_t safe = stats->samples[checks[i]][0], violated = stats->samples[checks[i]][1];
        print_message("%s: %u samples violated, %u not\n", ft_check_name(checks[i]),
                      (unsigned)violated, (unsigned)safe);
        if (stats->traces < 1000) continue;
        assert_true(10 * violated >= 3 * (safe + violated));
        assert_true(10 * safe >= 3 * (safe + violated));
    }
}

static void test_engine_agrees_with_oracle(void **state)
{
    (void)state;
    uint64_t seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS);
    uint64_t start = from_environment("FT_SEED_START", 1), mismatches = 0;
    ft_comparison_stats stats = {0};
    for (uint64_t seed = start; seed < start + seeds && mismatches < 20; seed++) {
        ft_strbuf why = {0};
        if (!ft_compare_seed(seed, wanted_for(seed), &stats, &why)) {
            mismatches++;
            fprintf(stderr, "%s\n", ft_strbuf_text(&why)); /* cmocka cuts long messages */
        }
        ft_strbuf_release(&why);
    }
    assert_int_equal(mismatches, 0);
    check_balance(&stats);
    print_message("%u traces, %u of them in another order too\n", (unsigned)stats.traces,
                  (unsigned)stats.reordered);
    if (seeds >= 1000) assert_true(stats.reordered >= seeds / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_engine_agrees_with_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
