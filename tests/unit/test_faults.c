/* Each planted encoder fault is caught by the oracle within a bounded number of seeds, or on a
 * golden trace; without the fault the engine agrees there. Built against the engine with its faults
 * compiled in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "oracle/compare.h"
#include "oracle/golden.h"
#include "problem/faults.h"

#define SEEDS       300 /* the same ones for every fault */
#define CLEAN_SEEDS 50

static const char *const docs[FT_FAULT_KINDS] = {
#define FT_ROW(symbol, doc) doc,
    FT_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

#define WANTED                                                                                     \
    (1u << FT_COMPARE_EVENTS | 1u << FT_COMPARE_DECIDE | 1u << FT_COMPARE_WAKEUPS |                \
     1u << FT_COMPARE_BOUND)

static bool agrees(uint64_t seed, ft_fault_kind fault)
{
    ft_strbuf why = {0};
    ft_fault = fault;
    bool ok = ft_compare_seed(seed, WANTED, NULL, &why);
    ft_fault = FT_FAULT_NONE;
    ft_strbuf_release(&why);
    return ok;
}

static void test_no_fault_no_mismatch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CLEAN_SEEDS; seed++)
        if (!agrees(seed, FT_FAULT_NONE)) fail_msg("seed %u", (unsigned)seed);
}

typedef struct catcher {
    ft_fault_kind fault;
    char by[80]; /* what caught it, "" while nothing did */
} catcher;

/* The first seed whose verdicts differ because of the fault. */
static void catch_by_seed(catcher *c)
{
    for (uint64_t seed = 1; seed <= SEEDS && !c->by[0]; seed++)
        if (!agrees(seed, c->fault) && agrees(seed, FT_FAULT_NONE))
            snprintf(c->by, sizeof c->by, "seed %u", (unsigned)seed);
}

static void catch_by_golden(void *context, const ft_golden *golden)
{
    catcher *c = context;
    if (c->by[0]) return;
    ft_strbuf why = {0};
    ft_fault = c->fault;
    bool ok = ft_compare_trace(golden->trace, WANTED, &why);
    ft_fault = FT_FAULT_NONE;
    if (!ok && ft_compare_trace(golden->trace, WANTED, &why))
        snprintf(c->by, sizeof c->by, "%s", golden->name);
    ft_strbuf_release(&why);
}

static void test_every_fault_is_caught(void **state)
{
    (void)state;
    for (int fault = FT_FAULT_NONE + 1; fault < FT_FAULT_KINDS; fault++) {
        catcher c = {.fault = (ft_fault_kind)fault};
        catch_by_seed(&c);
        if (!c.by[0]) ft_golden_each(FT_SOURCE_DIR "/tests/golden", catch_by_golden, &c);
        if (!c.by[0]) fail_msg("not caught: %s", docs[fault]);
        print_message("%s catches: %s\n", c.by, docs[fault]);
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
