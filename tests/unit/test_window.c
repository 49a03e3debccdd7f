/* Windows against the brute-force oracle: at every cut of small random traces, a strict window's
 * schedule is a schedule of the trace, a relaxed window without one is a proof, and the strict
 * window at 0 is exact. FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "causality/causality.h"
#include "reduce/window.h"
#include "seeded.h"
#include "witness/relinearise.h"

#define DEFAULT_SEEDS 20000

typedef struct subject {
    const seeded *seeded;
    const ft_problem *problem;
    ft_windows *windows;
} subject;

typedef struct tally {
    uint64_t claims, violated, found, proved,
        needed;                     /* at cuts after 0, but for claims, violated */
    uint64_t relinearised, refused; /* refused: for want of a signal */
} tally;

static void fail_at(const subject *s, const ft_claim *claim, uint32_t cut, const char *what)
{
    seeded_report(s->seeded, claim, what);
    fail_msg("at the cut %u", cut);
}

static ft_answer ask(const ft_window *window, ft_witness *witness)
{
    ft_decide_stats stats = {0};
    const ft_question question = {.claim = &window->claim, .bound = FT_NO_BOUND};
    if (window->impossible) return FT_ANSWER_UNSAT;
    ft_decider *decider = ft_decider_new(&window->problem, NULL);
    ft_answer answer = ft_decider_decide(decider, &question, witness, &stats);
    ft_decider_free(decider);
    return answer;
}

/* The restored schedule, and the same with fewer switches, execute. */
static void confirm(const subject *s, const ft_claim *claim, uint32_t cut, ft_witness *witness,
                    tally *all)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_checker_check(s->seeded->checker, witness, NULL, &err) != FT_OK)
        fail_at(s, claim, cut, err.message);
    ft_witness other = *witness;
    other.steps = ft_calloc((size_t)other.n_steps + 1, sizeof *other.steps);
    ft_relinearise(s->problem->order, witness->steps, witness->n_steps, other.steps);
    if (ft_checker_check(s->seeded->checker, &other, NULL, &err) != FT_OK)
        fail_at(s, claim, cut, err.message);
    all->relinearised += ft_witness_switches(s->problem->trace, &other) <
                         ft_witness_switches(s->problem->trace, witness);
    ft_witness_release(&other);
}

/* Windows leave out what wakes a waiter: the same schedule with spurious wake-ups is right. */
static bool lacks_a_signal(const subject *s, ft_witness *witness)
{
    if (ft_windows_exact(s->windows)) return false;
    bool refused = ft_checker_check(s->seeded->checker, witness, NULL, NULL) != FT_OK;
    ft_wakeups wakeups = witness->wakeups;
    witness->wakeups = FT_WAKEUPS_SPURIOUS;
    bool lacks = refused && ft_checker_check(s->seeded->checker, witness, NULL, NULL) == FT_OK;
    witness->wakeups = wakeups;
    return lacks;
}

static void compare_strict(const subject *s, const ft_oracle_answer *answer, uint32_t cut,
                           tally *all)
{
    const ft_claim *claim = &answer->claim;
    ft_window *window = ft_window_new(s->windows, claim, cut, FT_WINDOW_STRICT, HUGE_VAL);
    if (!window) return;
    ft_witness witness = {0};
    ft_answer got = ask(window, &witness);
    if (got == FT_ANSWER_SAT) {
        ft_window_restore(window, claim, &witness);
        if (lacks_a_signal(s, &witness)) {
            all->refused++;
        } else {
            confirm(s, claim, cut, &witness, all);
            if (!answer->violated && !answer->unknown)
                fail_at(s, claim, cut, "found what the oracle does not");
            all->found += cut > 0;
        }
    } else if (cut == 0 && answer->violated) {
        fail_at(s, claim, cut, "the whole cone has no schedule, the oracle has");
    } else if (window->impossible && answer->violated) {
        fail_at(s, claim, cut, "impossible, but not for the oracle");
    } else {
        all->needed += answer->violated;
    }
    ft_witness_release(&witness);
    ft_window_free(window);
}

static void compare_relaxed(const subject *s, const ft_oracle_answer *answer, uint32_t cut,
                            tally *all)
{
    const ft_claim *claim = &answer->claim;
    ft_window *window = ft_window_new(s->windows, claim, cut, FT_WINDOW_RELAXED, HUGE_VAL);
    if (!window) return;
    ft_witness witness = {0};
    if (ask(window, &witness) == FT_ANSWER_UNSAT) {
        if (answer->violated) fail_at(s, claim, cut, "refuted, but not for the oracle");
        all->proved += cut > 0;
    }
    ft_witness_release(&witness);
    ft_window_free(window);
}

static void compare_model(const seeded *base, void *context)
{
    tally *all = context;
    ft_problem problem = base->problem; /* as an engine has it */
    problem.causality = ft_causality_new(&base->problem, FT_CAUSALITY_ALL);
    subject whole = {.seeded = base, .problem = &problem}, *s = &whole;
    ft_oracle_job job = {.model = s->problem->model};
    job.checks[FT_CHECK_RACE] = job.checks[FT_CHECK_ATOMICITY] = job.checks[FT_CHECK_ORDER] = true;
    ft_oracle_result oracle;
    ft_oracle_enumerate(s->problem->trace, &job, &oracle);
    s->windows = ft_windows_new(s->problem);
    for (size_t i = 0; i < oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &oracle.answers.data[i];
        if (!ft_windows_serve(s->windows, &answer->claim)) continue;
        all->claims++;
        all->violated += answer->violated;
        for (uint32_t cut = ft_windows_cut(&answer->claim, 0) + 1; cut-- > 0;) {
            compare_strict(s, answer, cut, all);
            if (!answer->unknown) compare_relaxed(s, answer, cut, all);
        }
    }
    ft_windows_free(s->windows);
    ft_causality_free(problem.causality);
    ft_oracle_release(&oracle);
}

static void test_windows_agree_with_oracle(void **state)
{
    (void)state;
    uint64_t seeds = seeded_number("FT_SEEDS", DEFAULT_SEEDS);
    uint64_t start = seeded_number("FT_SEED_START", 1);
    tally all = {0};
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        ft_grade grade = ft_generate_grade(seed);
        if (grade != FT_GRADE_OBSERVED && grade != FT_GRADE_VALUED) continue;
        seeded_each_model(seed, compare_model, &all);
    }
    print_message("%llu claims, %llu violated; at cuts after 0: %llu schedules, %llu proofs, %llu "
                  "violated claims without a schedule\n",
                  (unsigned long long)all.claims, (unsigned long long)all.violated,
                  (unsigned long long)all.found, (unsigned long long)all.proved,
                  (unsigned long long)all.needed);
    if (seeds < 10000) return;
    assert_true(all.violated * 10 > all.claims && all.violated < all.claims);
    assert_true(all.found > seeds / 2 && all.proved > seeds / 2 && all.relinearised > 100);
    /* Where a strict window alone would have been wrong. */
    assert_true(all.needed > 50);
}

/* main allocates a block of so many cells, a child writes one, main frees it: the whole run. */
static ft_trace *trace_of_block(uint32_t cells)
{
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    uint32_t *variables = ft_calloc(cells, sizeof *variables);
    char name[16];
    for (uint32_t i = 0; i < cells; i++) {
        int length = snprintf(name, sizeof name, "v%u", i);
        variables[i] = ft_builder_shared(b, name, (size_t)length, (ft_sort){FT_SORT_INT, 0});
    }
    uint32_t block = ft_builder_block(b, "b", 1, variables, cells);
    uint32_t parent = ft_builder_thread(b, "main", 4), child = ft_builder_thread(b, "T1", 2);
    ft_builder_event(b, FT_EVENT_ALLOC, parent, block, FT_NO_LOC, 0, 0);
    ft_builder_event(b, FT_EVENT_FORK, parent, child, FT_NO_LOC, 0, 0);
    ft_builder_event(b, FT_EVENT_WRITE, child, variables[0], FT_NO_LOC, FT_NO_VALUE, 0);
    ft_builder_event(b, FT_EVENT_JOIN, parent, child, FT_NO_LOC, 0, 0);
    ft_builder_event(b, FT_EVENT_FREE, parent, block, FT_NO_LOC, 0, 0);
    free(variables);
    ft_trace *trace;
    ft_error err = FT_ERROR_INIT;
    if (ft_builder_finish(b, &trace, &err) != FT_OK) fail_msg("%s", err.message);
    return trace;
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Real programs free blocks of a million cells. With so many each cell once looked at all before
 * it: minutes. */
static void test_large_blocks_are_reordered_in_linear_time(void **state)
{
    (void)state;
    const uint32_t steps[] = {0, 1, 2, 3, 4};
    uint32_t out[5] = {0};
    ft_trace *trace = trace_of_block(300000);
    ft_order *order = ft_order_new(trace);
    double start = processor_seconds();
    ft_relinearise(order, steps, 5, out);
    double took = processor_seconds() - start;
    assert_memory_equal(out, steps, sizeof steps);
    if (took > 3) fail_msg("%.1f s of processor time", took);
    ft_order_free(order);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_agree_with_oracle),
        cmocka_unit_test(test_large_blocks_are_reordered_in_linear_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
