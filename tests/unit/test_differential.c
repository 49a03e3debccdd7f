/* The engine against the brute-force oracle on random traces: all event kinds, models, checks,
 * options of wake-ups and context bounds.
 * FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs; FT_COMPARE=N (bits of
 * ft_comparison) asks for these comparisons of every seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "oracle/compare.h"
#include "trace/branch.h"

#define DEFAULT_SEEDS 2000

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Every seed gets the plain comparison; the dearer ones take turns. */
static unsigned wanted_for(uint64_t seed)
{
    unsigned wanted =
        1u << FT_COMPARE_EVENTS | 1u << FT_COMPARE_INCLUSION | 1u << FT_COMPARE_CHECKER;
    uint64_t only = from_environment("FT_COMPARE", 0);
    if (only) return (unsigned)only;
    if (seed % 4 == 0) wanted |= 1u << FT_COMPARE_LOCATIONS;
    if (seed % 4 == 2) wanted |= 1u << FT_COMPARE_LONG;
    if (seed % 7 == 0) wanted |= 1u << FT_COMPARE_DECIDE;
    if (seed % 3 == 0) wanted |= 1u << FT_COMPARE_REORDER;
    if (seed % 13 == 0) wanted |= 1u << FT_COMPARE_LITERAL;
    if (seed % 11 == 0) wanted |= 1u << FT_COMPARE_SOLVER;
    if (seed % 3 == 1) wanted |= 1u << FT_COMPARE_WAKEUPS;
    if (seed % 5 == 0) wanted |= 1u << FT_COMPARE_BOUND;
    if (seed % 5 == 1) wanted |= 1u << FT_COMPARE_IGNORED;
    return wanted;
}

static void check_balance(const ft_comparison_stats *stats)
{
    /* A lock error is reached by the run itself: its samples are all violated. */
    static const ft_check checks[] = {FT_CHECK_RACE,     FT_CHECK_ATOMICITY, FT_CHECK_ASSERTION,
                                      FT_CHECK_DEADLOCK, FT_CHECK_ORDER,     FT_CHECK_PROPERTY};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        uint64_t safe = stats->samples[checks[i]][0], violated = stats->samples[checks[i]][1];
        print_message("%s: %u samples violated, %u not\n", ft_check_name(checks[i]),
                      (unsigned)violated, (unsigned)safe);
        if (stats->traces < 1000) continue;
        assert_true(4 * violated >= safe + violated);
        assert_true(4 * safe >= safe + violated);
    }
}

/* Every kind of event and of claim, the latter with both answers. */
static void check_coverage(const ft_comparison_stats *stats)
{
    for (int k = 0; k < FT_CLAIM_KINDS; k++)
        print_message("%s: %u candidates violated, %u not\n", ft_claim_kind_name((ft_claim_kind)k),
                      (unsigned)stats->claims[k][1], (unsigned)stats->claims[k][0]);
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (ft_event_kind_waits((ft_event_kind)k))
            print_message("%s: %u blocked at the end\n", ft_event_kind_name((ft_event_kind)k),
                          (unsigned)stats->blocked[k]);
    for (int joins = 0; joins < 2; joins++)
        print_message("cycles through a once object%s: %u violated, %u not\n",
                      joins ? " and a join" : "", (unsigned)stats->once_cycles[joins][1],
                      (unsigned)stats->once_cycles[joins][0]);
    if (stats->traces < 1000) return;
    assert_true(stats->once_cycles[0][1] >= stats->traces / 200);
    assert_true(stats->once_cycles[0][0] >= stats->traces / 500);
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (stats->kinds[k] < stats->traces / 200)
            fail_msg("few events of kind %s: %u", ft_event_kind_name((ft_event_kind)k),
                     (unsigned)stats->kinds[k]);
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (ft_event_kind_waits((ft_event_kind)k) && stats->blocked[k] < stats->traces / 500)
            fail_msg("few blocked events of kind %s: %u", ft_event_kind_name((ft_event_kind)k),
                     (unsigned)stats->blocked[k]);
    for (int k = 0; k < FT_CLAIM_KINDS; k++) {
        /* How a recorded run ended is not up to an order: golden traces have it (failure_*). */
        if (k == FT_CLAIM_FAILURE) continue;
        if (stats->claims[k][1] < stats->traces / 100)
            fail_msg("few violated claims of kind %s", ft_claim_kind_name((ft_claim_kind)k));
        if (k != FT_CLAIM_LOCK_ERROR && stats->claims[k][0] < stats->traces / 100)
            fail_msg("few safe claims of kind %s", ft_claim_kind_name((ft_claim_kind)k));
    }
}

/* Every shape of branches, every kind that an arm may hold in an arm of the run and in one passed
 * over, and claims in the latter with both answers. */
static void check_branches(const ft_comparison_stats *stats)
{
    static const char *const shapes[FT_SHAPES] = {
#define FT_ROW(symbol, name) name,
        FT_SHAPE_TABLE(FT_ROW)
#undef FT_ROW
    };
    print_message("%u traces with branches\n", (unsigned)stats->branching);
    for (int s = 0; s < FT_SHAPES; s++) {
        print_message("%s: %u\n", shapes[s], (unsigned)stats->shapes[s]);
        if (stats->traces >= 1000 && stats->shapes[s] < stats->traces / 200)
            fail_msg("few: %s", shapes[s]);
    }
    for (int k = 0; k < FT_EVENT_KINDS; k++) {
        if (!ft_branch_may_hold((ft_event_kind)k)) continue;
        const uint64_t *n = stats->in_arm[k];
        print_message("%s in arms: %u of the run, %u passed over\n",
                      ft_event_kind_name((ft_event_kind)k), (unsigned)n[0], (unsigned)n[1]);
        if (stats->traces >= 1000 && (n[0] < stats->traces / 2000 || n[1] < stats->traces / 2000))
            fail_msg("few in arms: %s", ft_event_kind_name((ft_event_kind)k));
    }
    for (int k = 0; k < FT_CLAIM_KINDS; k++) {
        const uint64_t *n = stats->passed_claims[k];
        print_message("%s with an event passed over in the run: %u violated, %u not\n",
                      ft_claim_kind_name((ft_claim_kind)k), (unsigned)n[1], (unsigned)n[0]);
    }
}

/* Nothing says that a proof must see that it needs no bound, but most should. */
static void check_lifting(const ft_comparison_stats *stats)
{
    print_message("under a bound: %u claims proved for all bounds, %u bounded, %u of these without "
                  "any witness\n",
                  (unsigned)stats->lifted, (unsigned)stats->bounded, (unsigned)stats->not_lifted);
    if (stats->traces < 1000) return;
    assert_true(stats->bounded - stats->not_lifted >= 100);
    assert_true(2 * stats->lifted >= stats->not_lifted);
}

/* Products of unknowns can take the literal encoding longer than a test waits: one claim in 500
 * may, on a busy machine. */
static void check_timeouts(const ft_comparison_stats *stats)
{
    print_message("literal encoding: %u claims, %u timeouts\n", (unsigned)stats->literal,
                  (unsigned)stats->literal_timeouts);
    print_message("%u answers left open for want of an initial value\n", (unsigned)stats->open);
    if (stats->traces >= 1000) assert_true(stats->literal >= 1000);
    assert_true(stats->literal_timeouts <= 2 + stats->literal / 500);
}

/* Every kind of property under a bound. */
static void check_bounded_properties(const ft_comparison_stats *stats)
{
    for (int k = 0; k < 4 && stats->traces >= 1000; k++)
        assert_true(stats->bounded_properties[k] >= stats->traces / 20);
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
    check_coverage(&stats);
    check_branches(&stats);
    check_lifting(&stats);
    check_timeouts(&stats);
    check_bounded_properties(&stats);
    print_message("%u traces, %u of them in another order too\n", (unsigned)stats.traces,
                  (unsigned)stats.reordered);
    if (seeds >= 1000) assert_true(stats.reordered >= seeds / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_engine_agrees_with_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
