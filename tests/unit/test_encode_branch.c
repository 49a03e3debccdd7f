/* Branches in the encodings (Wang et al. §8): hand-made traces whose answers follow from the
 * definitions, and random ones, where the cone of a claim must tell what the whole trace tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "encode/decide.h"
#include "oracle/generate.h"
#include "oracle/oracle.h"
#include "reduce/cone.h"
#include "trace/reader.h"
#include "verdict/checker.h"

#define SEEDS 600

typedef struct row {
    const char *name, *trace;
    ft_model model;
    ft_claim claim; /* events 1-based */
    uint32_t bound; /* context switches it may have */
    bool reachable;
} row;

#define HEADER                "{\"format\":\"foretell\",\"version\":1,"
#define T(thread, kind, rest) "{\"thread\":\"" thread "\",\"kind\":\"" kind "\"" rest "}\n"
#define SET(target, term)     ",\"set\":{\"" target "\":" term "}"
#define TERM(term)            ",\"term\":\"" term "\""
#define LOCK(name)            ",\"lock\":\"" name "\""
#define INSIDE(name)          ",\"lock\":\"" name "\",\"condition\":true"

/* T1's trace ends in an arm that the run did not take: T1 has ended all the same. */
#define ENDS_IN_ARM                                                                                \
    HEADER "\"threads\":[\"T0\",\"T1\"],\"variables\":{\"x\":0,\"y\":0}}\n" T("T0", "fork",        \
                                                                              ",\"child\":\"T1\"") \
        T("T1", "if", TERM("(= x 1)")) T("T1", "assign", SET("y", "1"))                            \
            T("T0", "join", ",\"child\":\"T1\"") T("T0", "assert", TERM("(= y 1)"))

/* T1 waits for c in an arm, under a lock that it took before: not taken, the arm leaves the section
 * open up to event 10. */
#define WAITS_IN_ARM(condition)                                                                    \
    HEADER "\"threads\":[\"T1\",\"T2\",\"T3\"],\"variables\":{\"x\":0,\"y\":0},"                   \
           "\"locals\":{\"b\":0},\"locks\":{\"m\":\"mutex\"},\"conditions\":[\"c\"]}\n" T(         \
               "T1", "acquire", LOCK("m")) T("T1", "if", TERM("(= x 1)"))                          \
               T("T1", "cond-wait", ",\"cond\":\"c\"") T("T1", "release", INSIDE("m"))             \
                   T("T1", "cond-wake", ",\"cond\":\"c\"") T("T1", "acquire", INSIDE("m"))         \
                       T("T1", "end-if", "") T("T1", "assign", SET("y", "1"))                      \
                           T("T1", "assign", SET("y", "2")) T("T1", "release", LOCK("m"))          \
                               T("T2", "acquire", LOCK("m")) T("T2", "assign", SET("b", "\"y\""))  \
                                   T("T2", "assert", TERM(condition))                              \
                                       T("T2", "release", LOCK("m"))                               \
                                           T("T3", "signal", ",\"cond\":\"c\"")

#define TRANSACTION                                                                                \
    HEADER                                                                                         \
    "\"threads\":[\"T1\",\"T2\"],\"variables\":{\"x\":0,\"y\":0},\"locals\":{\"b\":0}}\n" T(       \
        "T1", "tx-begin", "") T("T1", "if", TERM("(= x 1)")) T("T1", "assign", SET("y", "1"))      \
        T("T1", "else", "") T("T1", "assign", SET("y", "2")) T("T1", "end-if", "")                 \
            T("T1", "assign", SET("y", "3")) T("T1", "tx-end", "")                                 \
                T("T2", "assign", SET("b", "\"y\""))

/* T0 joins T1 under a lock that T1 takes in an arm. */
#define JOINS                                                                                      \
    HEADER "\"threads\":[\"T0\",\"T1\",\"T2\"],\"variables\":{\"x\":0},"                           \
           "\"locks\":{\"m\":\"mutex\"}}\n" T("T0", "acquire", LOCK("m"))                          \
               T("T0", "fork", ",\"child\":\"T1\"") T("T1", "if", TERM("(= x 1)"))                 \
                   T("T1", "acquire", LOCK("m")) T("T1", "release", LOCK("m"))                     \
                       T("T1", "end-if", "") T("T0", "join", ",\"child\":\"T1\"")                  \
                           T("T0", "release", LOCK("m"))
#define JOINS_AND_WRITES JOINS T("T2", "assign", SET("x", "1"))

/* a is 5, or 7 where T2 wrote before the outer if and after the inner one looked. */
#define NESTED                                                                                     \
    HEADER "\"threads\":[\"T1\",\"T2\"],\"variables\":{\"x\":0},\"locals\":{\"a\":5}}\n" T(        \
        "T1", "if", TERM("(= x 1)")) T("T1", "assign", SET("a", "6"))                              \
        T("T1", "if", TERM("(= x 2)")) T("T1", "assign", SET("a", "7")) T("T1", "end-if", "")      \
            T("T1", "end-if", "") T("T1", "assert", TERM("(distinct a 7)"))                        \
                T("T1", "assert", TERM("(distinct a 8)")) T("T2", "assign", SET("x", "1"))         \
                    T("T2", "assign", SET("x", "2"))

#define ASSERTION(e)                                                                               \
    {                                                                                              \
        .kind = FT_CLAIM_ASSERTION, .events = { e }                                                \
    }
#define ENABLED(x, y)                                                                              \
    {                                                                                              \
        .kind = FT_CLAIM_CO_ENABLED, .events = { x, y }                                            \
    }
#define STUCK(e)                                                                                   \
    {                                                                                              \
        .kind = FT_CLAIM_STUCK, .events = { e }                                                    \
    }
#define TRIPLET(a, r, b)                                                                           \
    {                                                                                              \
        .kind = FT_CLAIM_ATOMICITY, .events = {a, r, b}, .variable = 1, .writes = {                \
            true,                                                                                  \
            false,                                                                                 \
            true                                                                                   \
        }                                                                                          \
    }
#define CTP     FT_MODEL_CTP
#define CONTROL FT_MODEL_CONTROL
#define RUN     FT_MODEL_OBSERVED
#define FREE    FT_NO_BOUND

static const row ROWS[] = {
    {"a child that ends by passing over", ENDS_IN_ARM, CTP, ASSERTION(5), FREE, true},
    {"its arm's write is no member", ENDS_IN_ARM, CTP, ENABLED(3, 4), FREE, false},
    {"forks, child, joins: two switches", ENDS_IN_ARM, CTP, ASSERTION(5), 2, true},
    {"the child is waited for", ENDS_IN_ARM, CTP, ASSERTION(5), 1, false},
    {"between two writes", WAITS_IN_ARM("(distinct b 1)"), CTP, ASSERTION(13), FREE, false},
    {"after both", WAITS_IN_ARM("(distinct b 2)"), CTP, ASSERTION(13), FREE, true},
    {"before both", WAITS_IN_ARM("(distinct b 0)"), CTP, ASSERTION(13), FREE, true},
    {"the lock while T1 writes", WAITS_IN_ARM("true"), CONTROL, ENABLED(9, 11), FREE, false},
    {"the lock while T1 waits", WAITS_IN_ARM("true"), CONTROL, ENABLED(6, 11), FREE, true},
    {"nobody waits: x is 0", WAITS_IN_ARM("true"), CTP, ENABLED(6, 11), FREE, false},
    {"nobody waits: x was 0", WAITS_IN_ARM("true"), RUN, ENABLED(6, 11), FREE, false},
    {"from arm to arm", TRANSACTION, CONTROL, TRIPLET(3, 9, 5), FREE, false},
    {"out of an arm that may be taken", TRANSACTION, CONTROL, TRIPLET(3, 9, 7), FREE, true},
    {"out of an arm never taken", TRANSACTION, CTP, TRIPLET(3, 9, 7), FREE, false},
    {"out of the arm of the run", TRANSACTION, CTP, TRIPLET(5, 9, 7), FREE, true},
    {"out of the arm of the run, departing", TRANSACTION, RUN, TRIPLET(5, 9, 7), FREE, true},
    {"out of an arm not taken then", TRANSACTION, RUN, TRIPLET(3, 9, 7), FREE, false},
    {"T1 ends: x is 0", JOINS, CTP, STUCK(7), FREE, false},
    {"T1 may ask for the lock", JOINS, CONTROL, STUCK(7), FREE, true},
    {"T1 asks for the lock", JOINS_AND_WRITES, CTP, STUCK(7), FREE, true},
    {"T1 ends: x was 0", JOINS_AND_WRITES, RUN, STUCK(7), FREE, false},
    {"phi of two levels", NESTED, CTP, ASSERTION(7), FREE, true},
    {"phi of nothing else", NESTED, CTP, ASSERTION(8), FREE, false},
    {"phi of the run", NESTED, RUN, ASSERTION(7), FREE, false},
};

typedef struct subject {
    ft_trace *trace;
    ft_problem problem;
    ft_order *order;
    ft_run *run;
    ft_checker *checker;
} subject;

static void subject_open(subject *s, ft_trace *trace)
{
    *s = (subject){.trace = trace,
                   .order = ft_order_new(trace),
                   .run = ft_run_new(trace),
                   .checker = ft_checker_new(trace)};
    s->problem = (ft_problem){.trace = trace, .order = s->order, .run = s->run};
}

static void subject_close(subject *s)
{
    ft_checker_free(s->checker);
    ft_run_free(s->run);
    ft_order_free(s->order);
    ft_trace_free(s->trace);
}

/* ---- hand-made traces ---- */

static void expect(const subject *s, const row *r, const char *how, ft_answer answer,
                   ft_witness *witness)
{
    ft_error err = FT_ERROR_INIT;
    if (answer != (r->reachable ? FT_ANSWER_SAT : FT_ANSWER_UNSAT))
        fail_msg("%s, %s: answer %d", r->name, how, (int)answer);
    if (answer != FT_ANSWER_SAT) return;
    if (ft_checker_check(s->checker, witness, NULL, &err))
        fail_msg("%s, %s: %s", r->name, how, err.message);
    ft_witness_release(witness);
}

static ft_answer decide(const subject *s, const uint8_t *cone, const ft_claim *claim,
                        uint32_t bound, ft_witness *witness)
{
    ft_decide_stats stats = {0};
    const ft_question question = {.claim = claim, .bound = bound};
    ft_decider *decider = ft_decider_new(&s->problem, cone);
    ft_answer answer = ft_decider_decide(decider, &question, witness, &stats);
    ft_decider_free(decider);
    return answer;
}

static void check_row(const row *r)
{
    subject s;
    ft_trace *trace;
    ft_error err = FT_ERROR_INIT;
    ft_witness witness = {0};
    ft_decide_stats stats = {0};
    ft_claim claim = r->claim;
    const ft_question question = {.claim = &claim, .bound = r->bound};
    for (uint32_t i = 0; i < ft_claim_events(&claim); i++) claim.events[i]--;
    if (ft_trace_read_memory(r->trace, strlen(r->trace), &trace, &err))
        fail_msg("%s: %s", r->name, err.message);
    ft_observe_run(trace);
    if (trace->broken != FT_NO_EVENT) fail_msg("%s: %s", r->name, trace->broken_text);
    subject_open(&s, trace);
    s.problem.model = r->model;
    uint8_t *cone = ft_calloc(trace->n_events, 1);
    ft_cone_compute(&s.problem, &claim, cone);
    expect(&s, r, "whole trace", decide(&s, NULL, &claim, r->bound, &witness), &witness);
    expect(&s, r, "cone", decide(&s, cone, &claim, r->bound, &witness), &witness);
    ft_answer answer = ft_literal_decide(&s.problem, &question, &witness, &stats);
    expect(&s, r, "literal", answer, &witness);
    free(cone);
    subject_close(&s);
}

static void test_claims(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) check_row(&ROWS[i]);
}

/* ---- cones of random traces ---- */

typedef struct tally {
    unsigned claims, reachable, smaller;
} tally;

static void compare_cone(const subject *s, const ft_claim *claim, uint64_t seed, tally *count)
{
    ft_witness witness = {0};
    uint8_t *cone = ft_calloc(s->trace->n_events, 1);
    count->smaller += ft_cone_compute(&s->problem, claim, cone) < s->trace->n_events;
    ft_answer whole = decide(s, NULL, claim, FT_NO_BOUND, &witness);
    ft_witness_release(&witness);
    ft_answer part = decide(s, cone, claim, FT_NO_BOUND, &witness);
    ft_witness_release(&witness);
    if (whole != part)
        fail_msg("seed %u, %s of event %u under %s: whole trace %d, cone %d", (unsigned)seed,
                 ft_claim_kind_name(claim->kind), claim->events[0] + 1,
                 ft_model_name(s->problem.model), (int)whole, (int)part);
    count->claims++;
    count->reachable += whole == FT_ANSWER_SAT;
    free(cone);
}

static void compare_cones(subject *s, uint64_t seed, tally *count)
{
    static const ft_model models[] = {CTP, CONTROL, RUN};
    ft_oracle_job job = {.checks = {[FT_CHECK_RACE] = true,
                                    [FT_CHECK_ATOMICITY] = true,
                                    [FT_CHECK_ASSERTION] = true,
                                    [FT_CHECK_DEADLOCK] = true,
                                    [FT_CHECK_ORDER] = true}};
    ft_oracle_result all = {0};
    s->problem.model = job.model = models[seed % 3];
    if (job.model == CTP && !(ft_run_valued(s->run) && ft_run_arms_computed(s->run))) return;
    ft_oracle_candidates(s->trace, &job, &all);
    for (size_t i = seed % 5; i < all.answers.len; i += 5)
        compare_cone(s, &all.answers.data[i].claim, seed, count);
    ft_oracle_release(&all);
}

static void test_cones(void **state)
{
    (void)state;
    tally count = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        subject s;
        subject_open(&s, ft_generate(seed));
        if (s.trace->n_paths) compare_cones(&s, seed, &count);
        subject_close(&s);
    }
    print_message("%u claims, %u reachable, %u with a smaller cone\n", count.claims,
                  count.reachable, count.smaller);
    assert_true(count.claims > 400);
    assert_true(count.reachable > 100 && count.claims - count.reachable > 100);
    assert_true(count.smaller > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_cones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
