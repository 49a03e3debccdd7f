/* What tests over random traces share: their number from the environment, a trace under each model
 * that it supports, and what is said of a seed that fails. */
#ifndef FT_TESTS_SEEDED_H
#define FT_TESTS_SEEDED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "encode/decide.h"
#include "oracle/generate.h"
#include "verdict/checker.h"

typedef struct seeded {
    uint64_t seed;
    ft_problem problem; /* of the trace, under one model */
    ft_checker *checker;
} seeded;

/* FT_SEEDS, FT_SEED_START. */
static inline uint64_t seeded_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Prints the trace; the caller fails the test. */
static inline void seeded_report(const seeded *s, const ft_claim *claim, const char *what)
{
    char *dump = ft_oracle_dump(s->problem.trace);
    fprintf(stderr, "seed %llu, %s, claim %u %u %u: %s\n%s\n", (unsigned long long)s->seed,
            ft_model_name(s->problem.model), claim->events[0], claim->events[1], claim->events[2],
            what, dump);
    free(dump);
}

/* The models without terms: `compare` is called under each that the seed's trace supports. */
static inline void seeded_each_model(uint64_t seed, void (*compare)(const seeded *s, void *context),
                                     void *context)
{
    ft_trace *trace = ft_generate(seed);
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    seeded s = {.seed = seed, .checker = ft_checker_new(trace)};
    for (int model = FT_MODEL_OBSERVED; model <= FT_MODEL_MAXIMAL; model++) {
        if (model == FT_MODEL_MAXIMAL && !ft_run_valued(run)) continue;
        s.problem =
            (ft_problem){.trace = trace, .order = order, .run = run, .model = (ft_model)model};
        compare(&s, context);
    }
    ft_checker_free(s.checker);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(trace);
}

#endif
