/* Each planted encoder fault is caught by the oracle within a bounded number of seeds; without one
 * the same seeds agree. Built against the engine with its faults compiled in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "encode/faults.h"
#include "oracle/compare.h"

#define SEEDS       250 /* the same ones for every fault */
#define CLEAN_SEEDS 60

static const char *const docs[FT_FAULT_KINDS] = {
#define FT_ROW(symbol, doc) doc,
    FT_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static bool agrees(uint64_t seed, ft_fault_kind fault, ft_strbuf *why)
{
    ft_fault = fault;
    bool ok = ft_compare_seed(seed, 1u << FT_COMPARE_EVENTS | 1u << FT_COMPARE_DECIDE, NULL, why);
    ft_fault = FT_FAULT_NONE;
    return ok;
}

static void test_no_fault_no_mismatch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CLEAN_SEEDS; seed++) {
        ft_strbuf why = {0};
        if (!agrees(seed, FT_FAULT_NONE, &why)) fail_msg("%s", ft_strbuf_text(&why));
        ft_strbuf_release(&why);
    }
}

/* The first seed whose verdicts differ because of the fault, 0: none. */
static uint64_t caught_at(ft_fault_kind fault)
{
    uint64_t caught = 0;
    for (uint64_t seed = 1; seed <= SEEDS && !caught; seed++) {
        ft_strbuf why = {0};
        if (!agrees(seed, fault, &why) && agrees(seed, FT_FAULT_NONE, &why)) caught = seed;
        ft_strbuf_release(&why);
    }
    return caught;
}

static void test_every_fault_is_caught(void **state)
{
    (void)state;
    for (int fault = FT_FAULT_NONE + 1; fault < FT_FAULT_KINDS; fault++) {
        uint64_t seed = caught_at((ft_fault_kind)fault);
        if (!seed) fail_msg("not caught: %s", docs[fault]);
        print_message("seed %u catches: %s\n", (unsigned)seed, docs[fault]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_fault_no_mismatch),
        cmocka_unit_test(test_every_fault_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
