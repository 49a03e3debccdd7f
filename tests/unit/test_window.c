/* Windows against the brute-force oracle: at every cut of small random traces, a strict window's
 * schedule is a schedule of the trace, a relaxed window without one is a proof, and the strict
 * window at 0 is exact. FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reduce/relinearise.h"
#include "reduce/window.h"
#include "seeded.h"

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
    bool lifted;
    if (window->impossible) return FT_ANSWER_UNSAT;
    ft_decider *decider = ft_decider_new(&window->problem, NULL);
    ft_answer answer =
        ft_decider_decide(decider, &window->claim, false, FT_NO_BOUND, 0, witness, &stats, &lifted);
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
    ft_window *window = ft_window_new(s->windows, claim, cut, FT_WINDOW_STRICT);
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
    ft_window *window = ft_window_new(s->windows, claim, cut, FT_WINDOW_RELAXED);
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
    subject whole = {.seeded = base, .problem = &base->problem}, *s = &whole;
    ft_oracle_job job = {.model = s->problem->model};
    job.checks[FT_CHECK_RACE] = job.checks[FT_CHECK_ATOMICITY] = true;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows_agree_with_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
