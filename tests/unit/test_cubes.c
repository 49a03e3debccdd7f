/* Cubes against the brute-force oracle, over small random traces: a claim is reached in some cube
 * where it can be reached, and in none where it cannot, whichever decider each cube is asked of.
 * FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "seeded.h"

#define DEFAULT_SEEDS 400

typedef struct subject {
    const seeded *seeded;
    ft_problem problem;
    ft_decider *deciders[2]; /* as of two workers */
    ft_cube cubes[FT_CUBES_MOST];
    uint32_t count;
} subject;

typedef struct tally {
    uint64_t claims, violated, split, cut;
} tally;

static ft_answer ask(subject *s, const ft_cube *cube, ft_decider *decider, const ft_claim *claim)
{
    ft_witness witness = {0};
    ft_decide_stats stats = {0};
    ft_error err = FT_ERROR_INIT;
    const ft_question question = {.claim = claim, .bound = FT_NO_BOUND};
    s->problem.cube = cube;
    ft_answer answer = ft_decider_decide(decider, &question, &witness, &stats);
    s->problem.cube = NULL;
    if (answer != FT_ANSWER_SAT) return answer;
    witness.wakeups = s->problem.wakeups;
    bool good = ft_checker_check(s->seeded->checker, &witness, NULL, &err) == FT_OK;
    ft_witness_release(&witness);
    return good ? answer : FT_ANSWER_UNKNOWN; /* it rests on a value that nobody knows */
}

static void compare_claim(subject *s, const ft_oracle_answer *answer, tally *all)
{
    uint32_t found = 0, refuted = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        ft_answer got = ask(s, &s->cubes[i], s->deciders[i % 2], &answer->claim);
        found += got == FT_ANSWER_SAT;
        refuted += got == FT_ANSWER_UNSAT;
    }
    const char *wrong = NULL;
    if (found > 0 && !answer->violated && !answer->unknown) wrong = "reached in a cube alone";
    if (refuted == s->count && answer->violated) wrong = "reached in no cube";
    if (refuted < s->count && found == 0 && !answer->violated && !answer->unknown)
        wrong = "not refuted in every cube";
    if (wrong) {
        seeded_report(s->seeded, &answer->claim, wrong);
        fail();
    }
    all->claims++;
    all->violated += answer->violated;
    all->cut += found > 0 && refuted > 0;
}

static void compare_model(const seeded *base, void *context)
{
    tally *all = context;
    subject s = {.seeded = base, .problem = base->problem};
    ft_oracle_job job = {.model = s.problem.model};
    job.checks[FT_CHECK_RACE] = job.checks[FT_CHECK_ATOMICITY] = job.checks[FT_CHECK_ASSERTION] =
        true;
    ft_oracle_result oracle;
    for (int i = 0; i < 2; i++) s.deciders[i] = ft_decider_new(&s.problem, NULL);
    s.count = ft_decider_split(s.deciders[0], s.cubes);
    if (s.count > 1) {
        ft_oracle_enumerate(s.problem.trace, &job, &oracle);
        for (size_t i = 0; i < oracle.answers.len; i++)
            compare_claim(&s, &oracle.answers.data[i], all);
        ft_oracle_release(&oracle);
        all->split++;
    }
    for (int i = 0; i < 2; i++) ft_decider_free(s.deciders[i]);
}

/* The terms are computed. */
static void compare_symbolic(uint64_t seed, tally *all)
{
    ft_trace *trace = ft_generate(seed);
    ft_model initial;
    bool supported[FT_MODELS];
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    seeded s = {.seed = seed, .checker = ft_checker_new(trace)};
    s.problem = (ft_problem){.trace = trace, .order = order, .run = run, .model = FT_MODEL_CTP};
    ft_engine_models(trace, supported, &initial);
    if (supported[FT_MODEL_CTP]) compare_model(&s, all);
    ft_checker_free(s.checker);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(trace);
}

static void test_cubes_are_the_whole(void **state)
{
    (void)state;
    uint64_t seeds = seeded_number("FT_SEEDS", DEFAULT_SEEDS);
    uint64_t start = seeded_number("FT_SEED_START", 1);
    tally all = {0}, symbolic = {0};
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        seeded_each_model(seed, compare_model, &all);
        compare_symbolic(seed, &symbolic);
    }
    print_message("%llu problems split, %llu claims, %llu violated, %llu of these not in every "
                  "cube; with terms %llu, %llu, %llu, %llu\n",
                  (unsigned long long)all.split, (unsigned long long)all.claims,
                  (unsigned long long)all.violated, (unsigned long long)all.cut,
                  (unsigned long long)symbolic.split, (unsigned long long)symbolic.claims,
                  (unsigned long long)symbolic.violated, (unsigned long long)symbolic.cut);
    if (seeds < DEFAULT_SEEDS) return;
    assert_true(all.cut > 100 && all.violated < all.claims);
    assert_true(symbolic.split > 10 && symbolic.cut > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cubes_are_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
