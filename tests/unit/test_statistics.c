/* The plan's statistics against candidate after candidate of the oracle's list: what locks alone,
 * the hard order alone and both with the causality graph leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate/candidate.h"
#include "causality/causality.h"
#include "engine/engine.h"
#include "oracle/generate.h"
#include "oracle/oracle.h"

#define SEEDS 3000

typedef struct counts {
    json_int_t pairs, locks, order, causality;
} counts;

typedef struct subject {
    ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
    ft_causality *graph;
} subject;

static subject subject_of(ft_trace *trace, ft_model model)
{
    subject s = {.trace = trace, .order = ft_order_new(trace), .run = ft_run_new(trace)};
    s.problem = (ft_problem){.trace = trace, .order = s.order, .run = s.run, .model = model};
    s.graph = ft_causality_new(&s.problem, FT_CAUSALITY_ALL);
    return s;
}

static void subject_release(subject *s)
{
    ft_causality_free(s->graph);
    ft_run_free(s->run);
    ft_order_free(s->order);
}

/* ---- by definition ---- */

static const ft_section *held(const subject *s, uint32_t e, uint32_t lock)
{
    uint32_t section = ft_order_section_at(s->order, e, lock);
    return section == FT_NO_SECTION ? NULL : &s->order->sections.data[section];
}

/* A race: a lock held at both events. A triplet: one that t_r holds and that is held without a
 * break from t_c to t_c'. Not if both are shared. */
static bool locks_refute(const subject *s, const ft_claim *claim)
{
    const uint32_t *e = claim->events;
    for (uint32_t lock = 0; lock < s->trace->locks.len; lock++) {
        const ft_section *first = held(s, e[0], lock), *other = held(s, e[1], lock);
        if (!first || !other || (first->shared && other->shared)) continue;
        if (claim->kind == FT_CLAIM_RACE || held(s, e[2], lock) == first) return true;
    }
    return false;
}

static bool order_refutes(const subject *s, const ft_claim *claim)
{
    const uint32_t *e = claim->events;
    if (claim->kind == FT_CLAIM_RACE)
        return ft_order_before(s->order, e[0], e[1]) || ft_order_before(s->order, e[1], e[0]);
    return ft_order_before(s->order, e[1], e[0]) || ft_order_before(s->order, e[2], e[1]);
}

static counts by_definition(const subject *s, ft_check check)
{
    ft_oracle_job job = {.model = s->problem.model};
    ft_oracle_result result;
    counts n = {0};
    job.checks[check] = true;
    ft_oracle_candidates(s->trace, &job, &result);
    for (size_t i = 0; i < result.answers.len; i++) {
        const ft_claim *claim = &result.answers.data[i].claim;
        bool locks = locks_refute(s, claim), order = order_refutes(s, claim);
        n.pairs++;
        n.locks += !locks;
        n.order += !order;
        n.causality += !locks && !order && !ft_causality_refutes(s->graph, claim, NULL);
    }
    ft_oracle_release(&result);
    return n;
}

/* ---- by the plan ---- */

static json_int_t number(const json_t *of, const char *name)
{
    const json_t *value = json_object_get(of, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static counts counts_in(const json_t *json)
{
    const json_t *left = json_object_get(json, "left");
    return (counts){number(json, "pairs"), number(left, "lockset"),
                    number(left, "must-happen-before"), number(left, "causality")};
}

static json_t *plan_of(ft_trace *trace, ft_model model, const char *per)
{
    ft_engine *engine;
    ft_error err = FT_ERROR_INIT;
    json_t *plan = NULL, *spec = json_pack("{s:[s, s], s:s, s:s}", "checks", "race", "atomicity",
                                           "model", ft_model_name(model), "per", per);
    assert_int_equal(ft_engine_new(trace, "0", spec, &engine, &err), FT_OK);
    assert_int_equal(ft_engine_plan(engine, &plan, &err), FT_OK);
    ft_engine_free(engine);
    json_decref(spec);
    return plan;
}

static void assert_same(counts a, counts b, const char *what, uint64_t seed)
{
    if (memcmp(&a, &b, sizeof a) != 0)
        fail_msg("seed %llu, %s: counted %lld %lld %lld %lld, planned %lld %lld %lld %lld",
                 (unsigned long long)seed, what, a.pairs, a.locks, a.order, a.causality, b.pairs,
                 b.locks, b.order, b.causality);
}

static void compare(ft_trace *trace, ft_model model, const char *per, uint64_t seed, counts *sum)
{
    static const ft_check CHECKS[] = {FT_CHECK_RACE, FT_CHECK_ATOMICITY};
    subject s = subject_of(trace, model);
    json_t *plan = plan_of(trace, model, per), *made = json_object_get(plan, "statistics");
    counts all = {0};
    for (int i = 0; i < 2; i++) {
        counts n = by_definition(&s, CHECKS[i]);
        const char *name = ft_check_name(CHECKS[i]);
        json_t *planned = json_object_get(json_object_get(made, "checks"), name);
        assert_same(n, counts_in(planned), name, seed);
        all = (counts){all.pairs + n.pairs, all.locks + n.locks, all.order + n.order,
                       all.causality + n.causality};
    }
    assert_same(all, counts_in(json_object_get(made, "all")), "all", seed);
    *sum = (counts){sum->pairs + all.pairs, sum->locks + all.locks, sum->order + all.order,
                    sum->causality + all.causality};
    json_decref(plan);
    subject_release(&s);
}

static void test_counts(void **state)
{
    (void)state;
    counts sum = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ft_trace *trace = ft_generate(seed);
        bool plain = trace->n_paths == 0; /* else a lock may be held on one path alone */
        if (plain) compare(trace, FT_MODEL_OBSERVED, "location", seed, &sum);
        if (plain) compare(trace, FT_MODEL_CONTROL, "event", seed, &sum);
        ft_trace_free(trace);
    }
    print_message("%lld pairs; left by locks %lld, by order %lld, by all %lld\n", sum.pairs,
                  sum.locks, sum.order, sum.causality);
    /* Each pass refutes what the others do not. */
    assert_true(sum.pairs > 2000 && sum.pairs - sum.locks > 500 && sum.pairs - sum.order > 500);
    assert_true(sum.causality > 500 && sum.causality + 100 < sum.locks);
}

/* ---- long traces ---- */

enum { SECTIONS = 40000, STEPS = 10 };

/* T1 and T2 in turns: "lock; ten times x = x + 1; unlock"; `bare`: T2 without the lock. */
static ft_trace *long_trace(bool bare)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace;
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    uint32_t x = ft_builder_shared(b, "x", 1, FT_INT_SORT);
    uint32_t m = ft_builder_lock(b, "m", 1, FT_LOCK_MUTEX);
    uint32_t loc = ft_builder_location(b, "count.c:1", 9, "", 0);
    uint32_t value = ft_builder_value(b, (ft_value){.sort = FT_INT_SORT, .bits = 1});
    uint32_t threads[] = {ft_builder_thread(b, "T1", 2), ft_builder_thread(b, "T2", 2)};
    for (uint32_t i = 0; i < SECTIONS; i++) {
        uint32_t t = threads[i % 2];
        bool locks = !bare || i % 2 == 0;
        if (locks) ft_builder_event(b, FT_EVENT_ACQUIRE, t, m, loc, 0, 0);
        for (uint32_t k = 0; k < STEPS; k++) {
            ft_builder_event(b, FT_EVENT_READ, t, x, loc, value, 0);
            ft_builder_event(b, FT_EVENT_WRITE, t, x, loc, value, 0);
        }
        if (locks) ft_builder_event(b, FT_EVENT_RELEASE, t, m, loc, 0, 0);
    }
    assert_int_equal(ft_builder_finish(b, &trace, &err), FT_OK);
    return trace;
}

static uint64_t undecided_in(const json_t *plan)
{
    uint64_t n = 0;
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(plan, "records"), i, record) n +=
        !strcmp(json_string_value(json_object_get(record, "verdict")), "unknown");
    return n;
}

/* However many pairs of accesses there are in critical sections that hold the same lock (here more
 * than are looked at one by one): that lock refutes all of them, and the plan counts them. */
static void test_guarded(void **state)
{
    (void)state;
    ft_trace *trace = long_trace(false);
    json_t *plan = plan_of(trace, FT_MODEL_OBSERVED, "location");
    counts n = counts_in(json_object_get(
        json_object_get(json_object_get(plan, "statistics"), "checks"), "atomicity"));
    assert_int_equal(undecided_in(plan), 0);
    assert_int_equal(json_array_size(json_object_get(plan, "subproblems")), 0);
    assert_true(n.pairs > (json_int_t)FT_MAX_LOCAL_PAIRS && n.locks == 0);
    json_decref(plan);
    ft_trace_free(trace);
}

/* Where one thread does without the lock, its accesses come between. */
static void test_unguarded(void **state)
{
    (void)state;
    ft_trace *trace = long_trace(true);
    json_t *plan = plan_of(trace, FT_MODEL_OBSERVED, "location");
    assert_int_equal(undecided_in(plan), 0);
    assert_true(json_array_size(json_object_get(plan, "subproblems")) > 0);
    json_decref(plan);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_guarded),
                                       cmocka_unit_test(test_unguarded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
