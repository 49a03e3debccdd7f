/* Each planted encoder fault is caught within a bounded number of seeds, or on a golden trace,
 * where the engine without it agrees with the oracle. Three can catch it, and the test says which
 * one did: a contract   an assertion ended the process before there was a verdict the checker  it
 * refused the witness, so the engine had no verdict for a claim that has one the oracle   the
 * engine's verdict is wrong: nothing in the engine itself could tell Built against the engine with
 * its faults compiled in, and with FT_CHECKED. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/passes.h"
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

/* What noticed the fault. */
typedef enum notice { AGREES, BY_CONTRACT, BY_CHECKER, BY_ORACLE, NOTICES } notice;
static const char *const NOTICE_NAMES[NOTICES] = {"nothing", "a contract", "the checker",
                                                  "the oracle"};

/* One comparison under the fault, on a seed or on a golden trace. */
typedef struct comparison {
    ft_fault_kind fault;
    uint64_t seed;
    ft_trace *trace; /* NULL: the seed's */
} comparison;

static notice compare_here(const comparison *c)
{
    ft_strbuf why = {0};
    ft_fault = c->fault;
    ft_fault_refused = 0;
    bool ok = c->trace ? ft_compare_trace(c->trace, WANTED, &why)
                       : ft_compare_seed(c->seed, WANTED, NULL, &why);
    ft_fault = FT_FAULT_NONE;
    /* A witness that was refused says nothing if the comparison found a violation that is none. */
    bool missing = strstr(ft_strbuf_text(&why), "engine violation") == NULL;
    notice n = ok ? AGREES : missing && ft_fault_refused ? BY_CHECKER : BY_ORACLE;
    ft_strbuf_release(&why);
    return n;
}

/* In a process of its own, since a contract ends it. */
static notice compare(const comparison *c)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *quiet = freopen("/dev/null", "w", stderr);
        _exit(quiet ? (int)compare_here(c) : NOTICES);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGABRT);
        return BY_CONTRACT;
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < NOTICES);
    return (notice)WEXITSTATUS(status);
}

static bool agrees(uint64_t seed, ft_fault_kind fault)
{
    return compare(&(comparison){.fault = fault, .seed = seed}) == AGREES;
}

static void test_no_fault_no_mismatch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CLEAN_SEEDS; seed++)
        if (!agrees(seed, FT_FAULT_NONE)) fail_msg("seed %u", (unsigned)seed);
}

typedef struct catcher {
    ft_fault_kind fault;
    char on[80]; /* what it was caught on, "" while it was not */
    notice by;
} catcher;

/* The first seed on which something notices the fault, and nothing without it. */
static void catch_by_seed(catcher *c)
{
    for (uint64_t seed = 1; seed <= SEEDS && !c->on[0]; seed++) {
        c->by = compare(&(comparison){.fault = c->fault, .seed = seed});
        if (c->by != AGREES && agrees(seed, FT_FAULT_NONE))
            snprintf(c->on, sizeof c->on, "seed %u", (unsigned)seed);
    }
}

static void catch_by_golden(void *context, const ft_golden *golden)
{
    catcher *c = context;
    if (c->on[0]) return;
    c->by = compare(&(comparison){.fault = c->fault, .trace = golden->trace});
    if (c->by != AGREES && compare(&(comparison){.trace = golden->trace}) == AGREES)
        snprintf(c->on, sizeof c->on, "%s", golden->name);
}

static void test_every_fault_is_caught(void **state)
{
    (void)state;
    unsigned caught[NOTICES] = {0};
    for (int fault = FT_FAULT_NONE + 1; fault < FT_FAULT_KINDS; fault++) {
        catcher c = {.fault = (ft_fault_kind)fault};
        catch_by_seed(&c);
        if (!c.on[0]) ft_golden_each(FT_SOURCE_DIR "/tests/golden", catch_by_golden, &c);
        if (!c.on[0]) fail_msg("not caught: %s", docs[fault]);
        print_message("%s, on %s: %s\n", NOTICE_NAMES[c.by], c.on, docs[fault]);
        caught[c.by]++;
    }
    print_message("caught by contracts %u, by the checker %u, by the oracle alone %u\n",
                  caught[BY_CONTRACT], caught[BY_CHECKER], caught[BY_ORACLE]);
}

/* A pass that refutes every claim that it serves. */
static void test_every_wrong_pass_is_caught(void **state)
{
    (void)state;
    for (int pass = 0; pass < FT_PASSES; pass++) {
        const ft_pass *row = ft_pass_get((ft_pass_id)pass);
        if (row->effect != FT_EFFECT_REFUTES || row->from > 0) continue;
        uint64_t seed = 0;
        bool caught = false;
        while (!caught && seed < SEEDS) {
            ft_pass_fault = pass;
            caught = !agrees(++seed, FT_FAULT_NONE);
            ft_pass_fault = FT_NO_PASS;
            caught = caught && agrees(seed, FT_FAULT_NONE);
        }
        if (!caught) fail_msg("not caught: %s refutes whatever it is asked", row->name);
        print_message("seed %u catches: %s refutes whatever it is asked\n", (unsigned)seed,
                      row->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_fault_no_mismatch),
        cmocka_unit_test(test_every_fault_is_caught),
        cmocka_unit_test(test_every_wrong_pass_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
