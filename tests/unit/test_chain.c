/* Delta chains against the brute-force oracle: programs of threads that add to a variable under a
 * lock, with and without what breaks the rule, and an assertion of a sum at the end. What the chain
 * proves, no schedule violates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/generate.h"
#include "values/chain.h"
#include "verdict/checker.h"

#define PROGRAMS 3000

typedef struct maker {
    ft_builder *b;
    ft_random random;
    uint32_t thread, root, x, a, locks[2];
    bool branches;
} maker;

static uint32_t below(maker *m, uint32_t bound)
{
    return ft_random_below(&m->random, bound);
}

static ft_term symbol(maker *m, ft_symbol s)
{
    return ft_term_symbol(ft_builder_terms(m->b), s, FT_INT_SORT);
}

static ft_term number(maker *m, int64_t value)
{
    return ft_term_literal(ft_builder_terms(m->b), (ft_value){FT_INT_SORT, (uint64_t)value});
}

static ft_term apply(maker *m, ft_op op, ft_term left, ft_term right)
{
    ft_term children[2] = {left, right};
    ft_term result;
    assert_int_equal(ft_term_apply(ft_builder_terms(m->b), op, children, 2, NULL, &result, NULL),
                     FT_OK);
    return result;
}

static void event(maker *m, ft_event_kind kind, uint32_t object)
{
    ft_builder_event(m->b, kind, m->thread, object, FT_NO_LOC, FT_NO_VALUE, 0);
}

static void assign(maker *m, ft_symbol target, ft_term term)
{
    ft_assignment one = {target, term};
    ft_builder_action(m->b, FT_EVENT_ASSIGN, m->thread, FT_NO_LOC, FT_NO_TERM, &one, 1, 0);
}

/* One in forty of each: the other lock, no lock, two sections, a factor, a constant, one event,
 * twice from what was read once. */
static void increment(maker *m, int64_t by)
{
    uint32_t defect = below(m, 40), lock = m->locks[defect == 0];
    ft_term sum, x = symbol(m, FT_SYM_SHARED(m->x)), a = symbol(m, FT_SYM_LOCAL(m->a));
    if (defect == 5 || defect == 6) { /* in one atomic event, locked or not */
        if (defect == 5) event(m, FT_EVENT_ACQUIRE, lock);
        assign(m, FT_SYM_SHARED(m->x), apply(m, FT_OP_ADD, x, number(m, by)));
        if (defect == 5) event(m, FT_EVENT_RELEASE, lock);
        return;
    }
    if (defect != 1) event(m, FT_EVENT_ACQUIRE, lock);
    assign(m, FT_SYM_LOCAL(m->a), x);
    if (defect == 2) event(m, FT_EVENT_RELEASE, lock);
    if (defect == 2) event(m, FT_EVENT_ACQUIRE, lock);
    sum = by < 0 ? apply(m, FT_OP_SUB, a, number(m, -by)) : apply(m, FT_OP_ADD, a, number(m, by));
    if (defect == 3) sum = apply(m, FT_OP_ADD, sum, a);
    if (defect == 4) sum = number(m, by);
    if (defect == 7) assign(m, FT_SYM_SHARED(m->x), apply(m, FT_OP_ADD, a, number(m, 1)));
    assign(m, FT_SYM_SHARED(m->x), sum);
    if (defect != 1) event(m, FT_EVENT_RELEASE, lock);
}

/* One in 25 is in an arm: of an if that always, sometimes or never holds. x is `sum`. Returns what
 * the run adds. */
static int64_t maybe_increment(maker *m, int64_t by, int64_t sum)
{
    if (below(m, 25) != 0) {
        increment(m, by);
        return by;
    }
    int64_t limit = (int64_t)below(m, 3) * 6 - 6 + sum;
    bool negated = below(m, 2) == 0;
    ft_term condition = apply(m, FT_OP_LE, number(m, limit), symbol(m, FT_SYM_SHARED(m->x)));
    bool holds = (limit <= sum) != negated;
    if (negated)
        assert_int_equal(
            ft_term_apply(ft_builder_terms(m->b), FT_OP_NOT, &condition, 1, NULL, &condition, NULL),
            FT_OK);
    ft_builder_action(m->b, FT_EVENT_IF, m->thread, FT_NO_LOC, condition, NULL, 0, 0);
    increment(m, by);
    if (below(m, 2) == 0) event(m, FT_EVENT_ELSE, 0);
    event(m, FT_EVENT_END_IF, 0);
    m->branches = true;
    return holds ? by : 0;
}

static ft_trace *make(uint64_t seed, bool *branches)
{
    maker m = {.b = ft_builder_new(FT_FORMAT_NDJSON)};
    ft_random_init(&m.random, seed);
    m.root = ft_builder_thread(m.b, "main", 4);
    m.x = ft_builder_shared(m.b, "x", 1, FT_INT_SORT);
    m.a = ft_builder_local(m.b, "a", 1, FT_INT_SORT);
    m.locks[0] = ft_builder_lock(m.b, "l", 1, FT_LOCK_MUTEX);
    m.locks[1] = ft_builder_lock(m.b, "m", 1, FT_LOCK_MUTEX);
    ft_builder_shared_initial(m.b, m.x, ft_builder_value(m.b, (ft_value){FT_INT_SORT, 5}));
    uint32_t children[3], n = 2 + below(&m, 2);
    int64_t sum = 5;
    m.thread = m.root;
    if (below(&m, 3) == 0) assign(&m, FT_SYM_SHARED(m.x), number(&m, sum = 9));
    for (uint32_t i = 0; i < n; i++) {
        char name[8];
        int length = snprintf(name, sizeof name, "T%u", i);
        children[i] = ft_builder_thread(m.b, name, (size_t)length);
        event(&m, FT_EVENT_FORK, children[i]);
    }
    if (below(&m, 12) == 0) assign(&m, FT_SYM_SHARED(m.x), number(&m, sum));
    for (uint32_t i = 0; i < n; i++) {
        m.thread = children[i];
        for (uint32_t k = 1 + (below(&m, 4) == 0); k > 0; k--) {
            int64_t by = (int64_t)below(&m, 7) - 3;
            sum += maybe_increment(&m, by, sum);
        }
    }
    m.thread = m.root;
    for (uint32_t i = below(&m, 10) == 0; i < n; i++) event(&m, FT_EVENT_JOIN, children[i]);
    if (below(&m, 6) == 0) sum++;
    ft_term condition = apply(&m, FT_OP_EQ, symbol(&m, FT_SYM_SHARED(m.x)), number(&m, sum));
    ft_builder_action(m.b, FT_EVENT_ASSERT, m.root, FT_NO_LOC, condition, NULL, 0, 0);
    *branches = m.branches;
    ft_trace *trace = NULL;
    assert_int_equal(ft_builder_finish(m.b, &trace, NULL), FT_OK);
    ft_observe_run(trace);
    return trace;
}

static void test_chains_agree_with_oracle(void **state)
{
    (void)state;
    uint32_t proved = 0, violated = 0, safe = 0, branching[2] = {0};
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        bool branches;
        ft_trace *trace = make(seed, &branches);
        ft_order *order = ft_order_new(trace);
        ft_run *run = ft_run_new(trace);
        ft_problem problem = {.trace = trace, .order = order, .run = run, .model = FT_MODEL_CTP};
        ft_writes writes = {0};
        ft_writes_init(&writes, trace);
        ft_oracle_job job = {.model = FT_MODEL_CTP};
        job.checks[FT_CHECK_ASSERTION] = true;
        ft_oracle_result oracle;
        ft_oracle_enumerate(trace, &job, &oracle);
        assert_int_equal(oracle.answers.len, 1);
        bool bad = oracle.answers.data[0].violated;
        bool says = ft_chain_proves(&problem, &writes, &oracle.answers.data[0].claim);
        if (says && bad) {
            char *dump = ft_oracle_dump(trace);
            fprintf(stderr, "program %u: proved, but not for the oracle\n%s\n", (unsigned)seed,
                    dump);
            free(dump);
        }
        assert_false(says && bad);
        violated += bad;
        safe += !bad;
        proved += says;
        if (branches) branching[bad]++;
        ft_oracle_release(&oracle);
        ft_writes_release(&writes);
        ft_order_free(order);
        ft_run_free(run);
        ft_trace_free(trace);
    }
    print_message("%u programs violated, %u not, %u of these proved by their chain\n",
                  (unsigned)violated, (unsigned)safe, (unsigned)proved);
    assert_true(violated > PROGRAMS / 10 && safe > PROGRAMS / 10);
    assert_true(4 * proved > 3 * safe);
    print_message("with branches: %u violated, %u not\n", (unsigned)branching[1],
                  (unsigned)branching[0]);
    assert_true(branching[0] > PROGRAMS / 60 && branching[1] > PROGRAMS / 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains_agree_with_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
