/* Schedules without a solver against the brute-force oracle and the checker, over small random
 * traces: one that is accepted executes and reaches a claim that the oracle reaches; a reduced one
 * executes, and no last step of a thread can be dropped from it. FT_SEEDS=N and FT_SEED_START=N in
 * the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "seeded.h"
#include "witness/schedule.h"

#define DEFAULT_SEEDS 10000

typedef struct subject {
    const seeded *seeded;
    const ft_problem *problem;
    ft_schedules *schedules;
    ft_decider *decider;
} subject;

typedef struct tally {
    uint64_t claims, violated, accepted, reduced, shorter, fewer_switches;
} tally;

static void fail_at(const subject *s, const ft_claim *claim, const char *what)
{
    seeded_report(s->seeded, claim, what);
    fail();
}

static bool executes(const subject *s, const ft_witness *witness, ft_error *err)
{
    return ft_checker_check(s->seeded->checker, witness, NULL, err) == FT_OK;
}

static bool is_last_of_its_thread(const subject *s, const ft_witness *witness, uint32_t step)
{
    const uint16_t *thread = s->problem->trace->thread;
    for (uint32_t i = step + 1; i < witness->n_steps; i++)
        if (thread[witness->steps[i]] == thread[witness->steps[step]]) return false;
    return true;
}

static void confirm_minimal(const subject *s, const ft_witness *witness)
{
    ft_witness less = *witness;
    less.steps = ft_calloc((size_t)witness->n_steps + 1, sizeof *less.steps);
    for (uint32_t drop = 0; drop < witness->n_steps; drop++) {
        ft_error err = FT_ERROR_INIT;
        if (!is_last_of_its_thread(s, witness, drop)) continue;
        less.n_steps = 0;
        for (uint32_t i = 0; i < witness->n_steps; i++)
            if (i != drop) less.steps[less.n_steps++] = witness->steps[i];
        if (executes(s, &less, &err)) fail_at(s, &witness->claim, "a step can be dropped");
    }
    ft_witness_release(&less);
}

/* Where guards or undefined terms are about, it is for the checker to say. */
static bool has_guards(const subject *s, const ft_claim *claim)
{
    bool guards = ft_run_symbolic(s->problem->run);
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        guards |= ft_trace_compares(s->problem->trace, claim->events[i]);
    return guards;
}

static void compare_accepted(const subject *s, const ft_oracle_answer *answer, tally *all)
{
    ft_witness witness;
    ft_error err = FT_ERROR_INIT;
    if (!ft_schedules_accept(s->schedules, &answer->claim, &witness)) return;
    bool good = executes(s, &witness, &err);
    if (!good && s->problem->model == FT_MODEL_OBSERVED && !has_guards(s, &answer->claim))
        fail_at(s, &answer->claim, err.message);
    if (good && !answer->violated && !answer->unknown)
        fail_at(s, &answer->claim, "accepted, but not by the oracle");
    if (good && s->problem->model == FT_MODEL_OBSERVED) confirm_minimal(s, &witness);
    all->accepted += good;
    ft_witness_release(&witness);
}

static void compare_reduced(const subject *s, const ft_oracle_answer *answer, tally *all)
{
    ft_witness witness = {0};
    ft_decide_stats stats = {0};
    ft_error err = FT_ERROR_INIT;
    const ft_question question = {.claim = &answer->claim, .bound = FT_NO_BOUND};
    if (ft_decider_decide(s->decider, &question, &witness, &stats) != FT_ANSWER_SAT) return;
    ft_witness less = witness;
    if (ft_schedules_reduce(s->schedules, &less)) {
        bool good = executes(s, &less, &err);
        if (!good && !has_guards(s, &answer->claim)) fail_at(s, &answer->claim, err.message);
        if (good) confirm_minimal(s, &less);
        all->reduced++;
        all->shorter += less.n_steps < witness.n_steps;
        all->fewer_switches += ft_witness_switches(s->problem->trace, &less) <
                               ft_witness_switches(s->problem->trace, &witness);
        ft_witness_release(&less);
    } else if (s->problem->model == FT_MODEL_OBSERVED) {
        fail_at(s, &answer->claim, "its schedule cannot be reduced");
    }
    ft_witness_release(&witness);
}

static void compare_model(const seeded *base, void *context)
{
    tally *all = context;
    subject whole = {.seeded = base, .problem = &base->problem}, *s = &whole;
    ft_oracle_job job = {.model = s->problem->model};
    job.checks[FT_CHECK_RACE] = job.checks[FT_CHECK_ATOMICITY] = true;
    ft_oracle_result oracle;
    ft_oracle_enumerate(s->problem->trace, &job, &oracle);
    s->schedules = ft_schedules_new(s->problem);
    s->decider = ft_decider_new(s->problem, NULL);
    for (size_t i = 0; i < oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &oracle.answers.data[i];
        if (!ft_schedules_serve(s->schedules, &answer->claim)) continue;
        all->claims++;
        all->violated += answer->violated;
        compare_accepted(s, answer, all);
        if (s->problem->model == FT_MODEL_OBSERVED) compare_reduced(s, answer, all);
    }
    ft_decider_free(s->decider);
    ft_schedules_free(s->schedules);
    ft_oracle_release(&oracle);
}

static void test_schedules_agree_with_oracle(void **state)
{
    (void)state;
    uint64_t seeds = seeded_number("FT_SEEDS", DEFAULT_SEEDS);
    uint64_t start = seeded_number("FT_SEED_START", 1);
    tally all = {0};
    for (uint64_t seed = start; seed < start + seeds; seed++)
        seeded_each_model(seed, compare_model, &all);
    print_message("%llu claims, %llu violated, %llu accepted without a solver; of %llu schedules "
                  "reduced %llu had steps to spare, %llu switches\n",
                  (unsigned long long)all.claims, (unsigned long long)all.violated,
                  (unsigned long long)all.accepted, (unsigned long long)all.reduced,
                  (unsigned long long)all.shorter, (unsigned long long)all.fewer_switches);
    if (seeds < 1000) return;
    assert_true(all.violated * 10 > all.claims && all.violated < all.claims);
    assert_true(all.accepted * 2 > all.violated && all.accepted < all.violated);
    assert_true(all.shorter > 0 && all.fewer_switches > seeds / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schedules_agree_with_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
