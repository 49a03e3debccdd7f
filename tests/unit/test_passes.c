/* Each pass before the solver, and each way of deciding, alone against the brute-force oracle:
 * asked about every candidate of small random programs, whatever another pass would have said. What
 * refutes never refutes what the oracle finds; what accepts is confirmed by the oracle; what
 * decides agrees. The causality graph, windows and chains have such tests of their own, on programs
 * made for them. FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "causality/causality.h"
#include "encode/decide.h"
#include "engine/engine.h"
#include "engine/passes.h"
#include "oracle/generate.h"
#include "problem/slice.h"
#include "reduce/cone.h"
#include "reduce/window.h"
#include "values/chain.h"
#include "values/domain.h"
#include "verdict/checker.h"
#include "witness/prefix.h"

#define DEFAULT_SEEDS 200

/* What refutes beside the passes of the engine's table (engine/passes.h), which are all asked. */
#define PASS_TABLE(X)                                                                              \
    X(LOCKSET, "common lock")                                                                      \
    X(ORDER, "must happen before")                                                                 \
    X(CLOSURE, "closure, also where causality covers it")                                          \
    X(WINDOW, "relaxed window")
typedef enum pass_kind {
#define FT_ROW(symbol, name) PASS_##symbol,
    PASS_TABLE(FT_ROW)
#undef FT_ROW
        PASSES
} pass_kind;
static const char *const PASS_NAMES[PASSES] = {
#define FT_ROW(symbol, name) name,
    PASS_TABLE(FT_ROW)
#undef FT_ROW
};

/* What a decider is given. */
#define WAY_TABLE(X)                                                                               \
    X(NOTHING, "nothing")                                                                          \
    X(SLICE, "the slice")                                                                          \
    X(CONE, "the cone of the claim")                                                               \
    X(DOMAINS, "domains")                                                                          \
    X(EDGES, "edges of the causality graph")                                                       \
    X(RANGES, "ranges, for sources and as bounds")                                                 \
    X(WIDTHS, "bit-vectors in fewer bits")                                                         \
    X(NUMBERS, "bit-vectors as integers")                                                          \
    X(NARROW, "all that ranges say")                                                               \
    X(Z3, "Z3 alone")                                                                              \
    X(LITERAL, "the literal encoding")
typedef enum way {
#define FT_ROW(symbol, name) WAY_##symbol,
    WAY_TABLE(FT_ROW)
#undef FT_ROW
        WAYS
} way;
static const char *const WAY_NAMES[WAYS] = {
#define FT_ROW(symbol, name) name,
    WAY_TABLE(FT_ROW)
#undef FT_ROW
};

typedef struct tally {
    uint64_t refuted[PASSES][2];                /* without branches, with */
    uint64_t rows[FT_PASSES][2];                /* likewise, by the engine's passes */
    uint64_t accepted[2], refused, observed[2]; /* prefixes; the run itself */
    uint64_t decided[WAYS][2][2], late;         /* by branches, by answer; in time or not */
} tally;

typedef struct subject {
    uint64_t seed;
    ft_random random;
    ft_problem problem;
    ft_prefix *prefix;
    ft_writes writes;
    ft_domains *domains;
    ft_slice *slice;
    ft_causality *causality;
    ft_windows *windows;
    ft_problem asked; /* the problem that the engine's passes are asked about */
    ft_analyses *analyses;
    ft_checker *checker;
    ft_oracle_result oracle;
    bool branches;
    tally *all;
} subject;

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void fail_on(const subject *s, const ft_oracle_answer *answer, const char *who,
                    const char *what)
{
    char *dump = ft_oracle_dump(s->problem.trace);
    fprintf(stderr, "seed %llu, model %s, wakeups %s, %s %u %u %u: %s %s\n%s\n",
            (unsigned long long)s->seed, ft_model_name(s->problem.model),
            ft_wakeups_name(s->problem.wakeups), ft_claim_kind_name(answer->claim.kind),
            answer->claim.events[0] + 1, answer->claim.events[1] + 1, answer->claim.events[2] + 1,
            who, what, dump);
    free(dump);
    fail();
}

/* ---- what refutes --------------------------------------------------------------------------- */

/* Kahlon and Wang, TACAS 2010, §5: the column lsa; of triplets there is no such rule here. */
static bool by_lockset(subject *s, const ft_claim *claim)
{
    const ft_order *order = s->problem.order;
    const uint32_t *e = claim->events;
    if (claim->kind == FT_CLAIM_RACE)
        return ft_order_common_lock(order, ft_order_lockset(order, e[0]),
                                    ft_order_lockset(order, e[1])) != UINT32_MAX;
    for (uint32_t i = 0; claim->kind == FT_CLAIM_DEADLOCK && i < claim->n_events; i++)
        for (uint32_t k = 0; k < i; k++)
            if (ft_order_common_lock(order, ft_order_lockset(order, e[i]),
                                     ft_order_lockset(order, e[k])) != UINT32_MAX)
                return true;
    return false;
}

static bool by_order(subject *s, const ft_claim *claim)
{
    const ft_order *order = s->problem.order;
    const uint32_t *e = claim->events;
    bool cycle = claim->kind == FT_CLAIM_DEADLOCK;
    if (claim->kind == FT_CLAIM_ATOMICITY)
        return ft_order_before(order, e[1], e[0]) || ft_order_before(order, e[2], e[1]);
    if (claim->kind != FT_CLAIM_RACE && claim->kind != FT_CLAIM_CO_ENABLED && !cycle) return false;
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        for (uint32_t k = 0; k < ft_claim_events(claim); k++)
            if (cycle ? ft_order_before_next(order, e[i], e[k])
                      : ft_order_before(order, e[i], e[k]))
                return true;
    return false;
}

static bool by_closure(subject *s, const ft_claim *claim)
{
    return ft_prefix_refutes(s->prefix, s->problem.model, claim);
}

static ft_answer ask(const ft_problem *problem, const uint8_t *cone, const ft_claim *claim,
                     ft_witness *witness)
{
    ft_decide_stats stats = {0};
    const ft_question question = {.claim = claim, .bound = FT_NO_BOUND};
    ft_decider *decider = ft_decider_new(problem, cone);
    ft_answer answer = ft_decider_decide(decider, &question, witness, &stats);
    ft_decider_free(decider);
    return answer;
}

/* At one cut, chosen at random. */
static bool by_window(subject *s, const ft_claim *claim)
{
    if (s->problem.wakeups != FT_WAKEUPS_ANY || !ft_windows_serve(s->windows, claim)) return false;
    uint32_t cut = ft_random_below(&s->random, ft_windows_cut(claim, 0) + 1);
    ft_window *window = ft_window_new(s->windows, claim, cut, FT_WINDOW_RELAXED, HUGE_VAL);
    if (!window) return false;
    ft_witness witness = {0};
    bool refuted = window->impossible ||
                   ask(&window->problem, NULL, &window->claim, &witness) == FT_ANSWER_UNSAT;
    ft_witness_release(&witness);
    ft_window_free(window);
    return refuted;
}

static void compare_rows(subject *s, const ft_oracle_answer *answer)
{
    for (int p = 0; p < FT_PASSES; p++) {
        const ft_pass *row = ft_pass_get((ft_pass_id)p);
        if (row->effect != FT_EFFECT_REFUTES ||
            !ft_pass_serves((ft_pass_id)p, s->analyses, &answer->claim) ||
            !ft_pass_refutes_claim((ft_pass_id)p, s->analyses, &answer->claim, NULL))
            continue;
        s->all->rows[p][s->branches]++;
        if (answer->violated) fail_on(s, answer, row->name, "refutes what the oracle finds");
    }
}

static void compare_refuting(subject *s, const ft_oracle_answer *answer)
{
    static bool (*const passes[PASSES])(subject *, const ft_claim *) = {
        [PASS_LOCKSET] = by_lockset,
        [PASS_ORDER] = by_order,
        [PASS_CLOSURE] = by_closure,
        [PASS_WINDOW] = by_window,
    };
    for (int p = 0; p < PASSES; p++) {
        if (!passes[p](s, &answer->claim)) continue;
        s->all->refuted[p][s->branches]++;
        if (answer->violated) fail_on(s, answer, PASS_NAMES[p], "refutes what the oracle finds");
    }
}

/* ---- what accepts --------------------------------------------------------------------------- */

/* Whether it is a witness: the checker, which has the last word in the engine, says what the oracle
 * says, and the oracle has the claim for violated. */
static ft_status confirm(subject *s, const ft_oracle_answer *answer, ft_witness *witness,
                         const char *who)
{
    ft_error err = FT_ERROR_INIT;
    witness->model = s->problem.model;
    witness->wakeups = s->problem.wakeups;
    witness->bound = FT_NO_BOUND;
    witness->claim = answer->claim;
    ft_judgement judgement = ft_oracle_judge(s->problem.trace, witness);
    ft_status status = ft_checker_check(s->checker, witness, NULL, &err);
    ft_witness_release(witness);
    if (status == FT_OK && judgement == FT_JUDGED_WRONG)
        fail_on(s, answer, who, "has a schedule that is wrong for the oracle");
    if (status == FT_INPUT && judgement == FT_JUDGED_RIGHT)
        fail_on(s, answer, who, "has a schedule that is wrong for the checker");
    if (judgement == FT_JUDGED_RIGHT && !answer->violated)
        fail_on(s, answer, who, "has a schedule that the oracle did not find");
    return status;
}

static void compare_accepting(subject *s, const ft_oracle_answer *answer)
{
    ft_witness witness = {0};
    if (ft_prefix_accepts(s->prefix, s->problem.model, &answer->claim, &witness)) {
        if (confirm(s, answer, &witness, "prefix") == FT_OK)
            s->all->accepted[s->branches]++;
        else
            s->all->refused++;
    }
    if (ft_prefix_observed(s->problem.order, s->problem.model, &answer->claim, &witness))
        s->all->observed[s->branches] += confirm(s, answer, &witness, "observed run") == FT_OK;
}

/* ---- what decides --------------------------------------------------------------------------- */

#define LATE_MS 3000

/* The literal encoding alone may be late. A schedule that rests on an unknown initial value is
 * none that the checker decides, though there may be another one. */
static void compare_answer(subject *s, const ft_oracle_answer *answer, way w, ft_answer got,
                           ft_witness *witness)
{
    if (got == FT_ANSWER_UNSAT && answer->violated)
        fail_on(s, answer, WAY_NAMES[w], "finds no schedule, the oracle does");
    if (got == FT_ANSWER_UNKNOWN && w != WAY_LITERAL)
        fail_on(s, answer, WAY_NAMES[w], "leaves the claim undecided");
    if (got == FT_ANSWER_UNKNOWN) {
        s->all->late++;
        return;
    }
    s->all->decided[w][s->branches][got == FT_ANSWER_SAT]++;
    if (got != FT_ANSWER_SAT) return;
    if (!answer->violated && !answer->unknown)
        fail_on(s, answer, WAY_NAMES[w], "finds a schedule, the oracle none");
    if (confirm(s, answer, witness, WAY_NAMES[w]) == FT_INPUT && !answer->unknown &&
        s->problem.model == FT_MODEL_CTP)
        fail_on(s, answer, WAY_NAMES[w], "has a schedule that the checker refuses");
}

static void decide_all(subject *s, way w, const ft_problem *problem)
{
    ft_decider *decider = ft_decider_new(problem, NULL);
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        ft_decide_stats stats = {0};
        ft_witness witness = {0};
        const ft_question question = {.claim = &answer->claim, .bound = FT_NO_BOUND};
        ft_answer got = ft_decider_decide(decider, &question, &witness, &stats);
        compare_answer(s, answer, w, got, &witness);
        ft_witness_release(&witness);
    }
    ft_decider_free(decider);
}

static void decide_in_cones(subject *s, const ft_oracle_answer *answer, uint8_t *cone)
{
    ft_witness witness = {0};
    ft_cone_compute(&s->problem, &answer->claim, cone);
    compare_answer(s, answer, WAY_CONE, ask(&s->problem, cone, &answer->claim, &witness), &witness);
    ft_witness_release(&witness);
}

static void decide_literally(subject *s, const ft_oracle_answer *answer)
{
    ft_witness witness = {0};
    ft_decide_stats stats = {0};
    const ft_question question = {
        .claim = &answer->claim, .bound = FT_NO_BOUND, .deadline = ft_now_ms() + LATE_MS};
    ft_answer got = ft_literal_decide(&s->problem, &question, &witness, &stats);
    compare_answer(s, answer, WAY_LITERAL, got, &witness);
    ft_witness_release(&witness);
}

static const way WAYS_BY_SEED[] = {WAY_NOTHING, WAY_SLICE,  WAY_DOMAINS, WAY_EDGES, WAY_Z3,
                                   WAY_RANGES,  WAY_WIDTHS, WAY_NUMBERS, WAY_NARROW};

/* A few of the claims have an encoding of their own; one way a seed for the rest. */
static void compare_deciding(subject *s)
{
    uint8_t *cone = ft_alloc(s->problem.trace->n_events);
    ft_problem given[WAYS];
    for (int w = 0; w < WAYS; w++) given[w] = s->problem;
    given[WAY_SLICE].slice = s->slice;
    given[WAY_DOMAINS].domains = s->domains;
    given[WAY_EDGES].causality = s->causality;
    given[WAY_Z3].solver = FT_SOLVER_Z3;
    given[WAY_RANGES].solver = FT_SOLVER_Z3;
    given[WAY_RANGES].intervals = given[WAY_RANGES].bounds = ft_analyses_intervals(s->analyses);
    given[WAY_WIDTHS].solver = given[WAY_NUMBERS].solver = FT_SOLVER_Z3;
    given[WAY_WIDTHS].widths = ft_analyses_intervals(s->analyses);
    given[WAY_NUMBERS].numbers = ft_analyses_numbers(s->analyses);
    given[WAY_NARROW] = given[WAY_RANGES];
    given[WAY_NARROW].domains = s->domains;
    given[WAY_NARROW].widths = given[WAY_WIDTHS].widths;
    given[WAY_NARROW].numbers = given[WAY_NUMBERS].numbers;
    way w = WAYS_BY_SEED[s->seed % (sizeof WAYS_BY_SEED / sizeof *WAYS_BY_SEED)];
    decide_all(s, w, &given[w]);
    for (uint32_t k = 0; s->oracle.answers.len && k < 4; k++) {
        uint32_t n = (uint32_t)s->oracle.answers.len;
        decide_in_cones(s, &s->oracle.answers.data[ft_random_below(&s->random, n)], cone);
        if (k < 2) decide_literally(s, &s->oracle.answers.data[ft_random_below(&s->random, n)]);
    }
    free(cone);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void compare_model(subject *s, ft_oracle_job *job)
{
    ft_problem *p = &s->problem;
    FT_VEC(ft_term) conditions = {0};
    p->model = job->model;
    p->wakeups = job->wakeups;
    ft_oracle_enumerate(p->trace, job, &s->oracle);
    for (uint32_t i = 0; i < job->n_properties; i++)
        if (job->properties[i].kind == FT_ORACLE_ASSERTION_AT)
            ft_vec_push(&conditions, job->properties[i].condition);
    s->slice = ft_slice_new(p->trace, p->model, conditions.data, (uint32_t)conditions.len);
    s->domains = ft_domains_new(p, &s->writes);
    s->causality = ft_causality_new(p, FT_CAUSALITY_ALL);
    s->windows = ft_windows_new(p);
    s->asked = *p;
    s->analyses = ft_analyses_new(&s->asked, NULL);
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        compare_refuting(s, &s->oracle.answers.data[i]);
        compare_rows(s, &s->oracle.answers.data[i]);
        compare_accepting(s, &s->oracle.answers.data[i]);
    }
    compare_deciding(s);
    ft_windows_free(s->windows);
    ft_analyses_free(s->analyses);
    ft_causality_free(s->causality);
    ft_domains_free(s->domains);
    ft_slice_free(s->slice);
    ft_vec_release(&conditions);
    ft_oracle_release(&s->oracle);
}

static void compare_seed(uint64_t seed, tally *all)
{
    ft_trace *trace = ft_generate(seed);
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    subject s = {.seed = seed,
                 .problem = {.trace = trace, .order = order, .run = run},
                 .prefix = ft_prefix_new(trace, order, run),
                 .checker = ft_checker_new(trace),
                 .branches = trace->n_paths > 0,
                 .all = all};
    ft_oracle_property properties[3];
    ft_oracle_job job = {.properties = properties};
    bool supported[FT_MODELS];
    ft_model most;
    ft_random_init(&s.random, seed ^ 0x706173736573u);
    ft_writes_init(&s.writes, trace);
    job.n_properties = ft_generate_properties(trace, seed, properties, 3);
    for (int c = 0; c < FT_CHECKS; c++) job.checks[c] = true;
    ft_engine_models(trace, supported, &most);
    for (int m = 0; m < FT_MODELS; m++)
        for (int w = 0; w < FT_WAKEUPS_KINDS; w++) {
            job.model = (ft_model)m;
            job.wakeups = (ft_wakeups)w;
            if (!supported[m] || (w != FT_WAKEUPS_ANY && trace->conditions.len == 0)) continue;
            compare_model(&s, &job);
        }
    ft_writes_release(&s.writes);
    ft_checker_free(s.checker);
    ft_prefix_free(s.prefix);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(trace);
}

static void print_tally(const tally *all)
{
    for (int p = 0; p < PASSES; p++)
        print_message("%s: refuted %u without branches, %u with\n", PASS_NAMES[p],
                      (unsigned)all->refuted[p][0], (unsigned)all->refuted[p][1]);
    for (int p = 0; p < FT_PASSES; p++)
        if (ft_pass_get((ft_pass_id)p)->effect == FT_EFFECT_REFUTES)
            print_message("%s: refuted %u without branches, %u with\n",
                          ft_pass_get((ft_pass_id)p)->name, (unsigned)all->rows[p][0],
                          (unsigned)all->rows[p][1]);
    print_message("prefixes: %u and %u accepted, %u refused by the checker; observed run: %u and "
                  "%u\n",
                  (unsigned)all->accepted[0], (unsigned)all->accepted[1], (unsigned)all->refused,
                  (unsigned)all->observed[0], (unsigned)all->observed[1]);
    for (int w = 0; w < WAYS; w++)
        print_message("with %s: %u found, %u not; with branches %u and %u\n", WAY_NAMES[w],
                      (unsigned)all->decided[w][0][1], (unsigned)all->decided[w][0][0],
                      (unsigned)all->decided[w][1][1], (unsigned)all->decided[w][1][0]);
    print_message("%u late\n", (unsigned)all->late);
}

/* Seeds on which a pass was wrong. */
static const uint64_t WRONG_ONCE[] = {
    38064874, /* swaps that miss: t_r reads for the claim, and its write is what t_c' finds */
};

static void test_each_pass_alone(void **state)
{
    (void)state;
    tally all = {0};
    uint64_t seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS),
             start = from_environment("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + seeds; seed++) compare_seed(seed, &all);
    for (size_t i = 0; i < sizeof WRONG_ONCE / sizeof *WRONG_ONCE; i++)
        compare_seed(WRONG_ONCE[i], &all);
    print_tally(&all);
    if (seeds < DEFAULT_SEEDS)
        return; /* few, or others than those that these bounds were made for */
    assert_true(all.late <= 2 + seeds / 100);
    for (int branches = 0; branches < 2; branches++) {
        for (int w = 0; w < WAYS; w++)
            assert_true(all.decided[w][branches][0] > 50 && all.decided[w][branches][1] > 50);
        assert_true(all.accepted[branches] > 500 && all.observed[branches] > 50);
        assert_true(all.refuted[PASS_LOCKSET][branches] > 50);
        assert_true(all.refuted[PASS_ORDER][branches] > 50);
        assert_true(all.refuted[PASS_CLOSURE][branches] > 50);
        assert_true(all.rows[FT_PASS_DOMAIN][branches] > 5);
    }
    assert_true(all.rows[FT_PASS_WRITTEN][0] > 2);
    if (seeds >= 2000) assert_true(all.rows[FT_PASS_SWAP][0] > 10);
    assert_true(all.rows[FT_PASS_CAUSALITY][0] > 500 && all.refuted[PASS_WINDOW][0] > 25);
    assert_true(all.rows[FT_PASS_STUCK][0] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_pass_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
