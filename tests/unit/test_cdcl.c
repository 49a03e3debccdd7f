/* Sessions against enumeration: random clauses, limits and order atoms over few variables, added
 * between checks; every answer, model and core of each Boolean kind is compared. Over more
 * variables the two kinds are compared with each other, and every model with the constraints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solve/session.h"

enum { NODES = 8, FEW = 12, VARIABLES = 50, CONSTRAINTS = 250, LITERALS = 6, CHECKS = 100 };

typedef struct constraint {
    ft_lit literals[LITERALS]; /* of our own variables, v + 2 or its negation */
    uint32_t count;
    int limit; /* at most so many; -1: a clause */
} constraint;

typedef struct instance {
    uint64_t random;
    ft_session *session;
    uint32_t n_nodes, n_variables;
    ft_lit name[VARIABLES];             /* in the session */
    uint8_t edges[NODES];               /* static: bit b of edges[a] */
    uint8_t a[VARIABLES], b[VARIABLES]; /* the atom's pair; equal: an ordinary variable */
    constraint constraints[CONSTRAINTS];
    uint32_t n_constraints;
    bool enumerable; /* few variables; else the answers are compared with those expected */
    ft_answer *expected;
    uint32_t n_checks;
    ft_lit assumptions[LITERALS];
    uint32_t n_assumptions;
    uint64_t planted; /* many variables: values that satisfy all constraints */
    uint8_t place[NODES];
} instance;

static uint32_t pick(instance *t, uint32_t n)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->random >> 33) % n;
}

static bool holds(uint64_t values, ft_lit literal)
{
    if (literal == FT_LIT_TRUE || literal == FT_LIT_FALSE) return literal > 0;
    bool value = values >> (abs(literal) - 2) & 1;
    return value == (literal > 0);
}

static bool acyclic(const instance *t, uint64_t values)
{
    uint8_t after[NODES];
    memcpy(after, t->edges, sizeof after);
    for (uint32_t v = 0; v < t->n_variables; v++) {
        if (t->a[v] == t->b[v]) continue;
        if (values >> v & 1)
            after[t->b[v]] |= (uint8_t)(1 << t->a[v]);
        else
            after[t->a[v]] |= (uint8_t)(1 << t->b[v]);
    }
    for (uint32_t k = 0; k < NODES; k++)
        for (uint32_t i = 0; i < NODES; i++)
            if (after[i] >> k & 1) after[i] |= after[k];
    for (uint32_t i = 0; i < NODES; i++)
        if (after[i] >> i & 1) return false;
    return true;
}

static bool satisfies(const instance *t, uint64_t values)
{
    for (uint32_t i = 0; i < t->n_constraints; i++) {
        const constraint *c = &t->constraints[i];
        int count = 0;
        for (uint32_t k = 0; k < c->count; k++) count += holds(values, c->literals[k]);
        if (c->limit < 0 ? count == 0 : count > c->limit) return false;
    }
    return acyclic(t, values);
}

static bool satisfiable(const instance *t, const ft_lit *assumptions, uint32_t count)
{
    for (uint64_t values = 0; values < (uint64_t)1 << t->n_variables; values++) {
        bool fits = true;
        for (uint32_t i = 0; i < count && fits; i++) fits = holds(values, assumptions[i]);
        if (fits && satisfies(t, values)) return true;
    }
    return false;
}

/* In the session's variables; valid until the next call. */
static const ft_lit *renamed(const instance *t, const ft_lit *literals, uint32_t count)
{
    static ft_lit result[LITERALS];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = (uint32_t)abs(literals[i]) - 2;
        result[i] = literals[i] == FT_LIT_TRUE || literals[i] == FT_LIT_FALSE ? literals[i]
                    : literals[i] > 0                                         ? t->name[v]
                                                                              : -t->name[v];
    }
    return result;
}

static ft_lit any_literal(instance *t)
{
    if (pick(t, 40) == 0) return pick(t, 2) ? FT_LIT_TRUE : FT_LIT_FALSE;
    uint32_t v = pick(t, t->n_variables);
    return pick(t, 2) ? (ft_lit)v + 2 : -(ft_lit)v - 2;
}

static void add_variable(instance *t, bool ordered)
{
    if (t->n_variables == (t->enumerable ? FEW : VARIABLES)) return;
    ft_lit literal = ft_session_variable(t->session);
    uint32_t v = t->n_variables++;
    t->name[v] = literal;
    t->a[v] = t->b[v] = 0;
    t->planted |= (uint64_t)pick(t, 2) << v;
    if (!ordered) return;
    uint8_t a = (uint8_t)pick(t, t->n_nodes), b = (uint8_t)pick(t, t->n_nodes);
    if (a == b) return;
    t->a[v] = a;
    t->b[v] = b;
    t->planted &= ~((uint64_t)1 << v);
    if (t->place[b] < t->place[a]) t->planted |= (uint64_t)1 << v;
    ft_session_order_atom(t->session, literal, a, b);
}

/* Makes room for the planted values. */
static void respect(const instance *t, constraint *c)
{
    int count = 0;
    for (uint32_t k = 0; k < c->count; k++) count += holds(t->planted, c->literals[k]);
    if (c->limit >= 0 && c->limit < count) c->limit = count;
    if (c->limit < 0 && count == 0) c->literals[0] = -c->literals[0];
}

static void add_constraint(instance *t)
{
    if (t->n_constraints == CONSTRAINTS || t->n_variables == 0) return;
    constraint *c = &t->constraints[t->n_constraints++];
    bool limit = pick(t, 4) == 0;
    c->count = limit ? 2 + pick(t, LITERALS - 1) : pick(t, 12) == 0 ? 1 : 2 + pick(t, 3);
    c->limit = limit ? (int)pick(t, c->count) : -1;
    for (uint32_t i = 0; i < c->count; i++) c->literals[i] = any_literal(t);
    if (!t->enumerable) respect(t, c);
    if (limit)
        ft_session_at_most(t->session, renamed(t, c->literals, c->count), c->count,
                           (uint32_t)c->limit);
    else
        ft_session_clause(t->session, renamed(t, c->literals, c->count), c->count);
}

static void check_model(instance *t, const ft_lit *assumptions, uint32_t count)
{
    uint64_t values = 0;
    for (uint32_t v = 0; v < t->n_variables; v++)
        if (ft_session_true(t->session, t->name[v])) values |= (uint64_t)1 << v;
    assert_true(satisfies(t, values));
    for (uint32_t i = 0; i < count; i++) assert_true(holds(values, assumptions[i]));
}

static void check_core(instance *t, const ft_lit *assumptions, uint32_t count)
{
    const ft_lit *core;
    ft_lit copy[LITERALS];
    uint32_t size = ft_session_core(t->session, &core);
    const ft_lit *names = renamed(t, assumptions, count);
    assert_true(size <= count);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t k = 0;
        while (k < count && names[k] != core[i]) k++;
        assert_true(k < count);
        copy[i] = assumptions[k];
    }
    if (t->enumerable) assert_false(satisfiable(t, copy, size));
    ft_answer again = ft_session_check(t->session, renamed(t, copy, size), size, 0);
    assert_int_equal(again, FT_ANSWER_UNSAT);
}

/* New ones, or some or all of the last check's: what a solver keeps between checks is then used. */
static void choose_assumptions(instance *t)
{
    if (t->n_variables == 0) return;
    if (pick(t, 2)) t->n_assumptions = pick(t, LITERALS + 1);
    uint32_t kept = pick(t, 2 * LITERALS);
    for (uint32_t i = kept; i < LITERALS; i++) t->assumptions[i] = any_literal(t);
}

static void check(instance *t)
{
    choose_assumptions(t);
    const ft_lit *assumptions = t->assumptions;
    uint32_t count = t->n_assumptions;
    ft_answer answer = ft_session_check(t->session, renamed(t, assumptions, count), count, 0);
    ft_answer *expected = &t->expected[t->n_checks++];
    if (t->enumerable)
        *expected = satisfiable(t, assumptions, count) ? FT_ANSWER_SAT : FT_ANSWER_UNSAT;
    else if (*expected == FT_ANSWER_UNKNOWN)
        *expected = answer;
    assert_int_equal(answer, *expected);
    if (answer == FT_ANSWER_SAT)
        check_model(t, assumptions, count);
    else
        check_core(t, assumptions, count);
}

static void run_steps(instance *t, uint32_t steps)
{
    bool shuffled = pick(t, 2);
    t->n_nodes = t->enumerable ? 2 + pick(t, NODES - 1) : NODES;
    for (uint8_t i = 0; i < NODES; i++) t->place[i] = i;
    for (uint32_t i = NODES - 1; i > 0 && shuffled; i--) {
        uint32_t other = pick(t, i + 1);
        uint8_t place = t->place[i];
        t->place[i] = t->place[other];
        t->place[other] = place;
    }
    ft_session_order_begin(t->session, t->n_nodes);
    for (uint32_t i = pick(t, t->n_nodes); i > 0; i--) {
        uint32_t a = pick(t, t->n_nodes), b = pick(t, t->n_nodes);
        if (a >= b || (!t->enumerable && t->place[a] > t->place[b])) continue;
        t->edges[a] |= (uint8_t)(1 << b);
        ft_session_order_edge(t->session, a, b);
    }
    for (uint32_t step = 0; step < steps && t->n_checks < CHECKS - 1; step++) {
        uint32_t what = pick(t, 10);
        if (what < 3)
            add_variable(t, pick(t, 3) > 0);
        else if (what < 8)
            add_constraint(t);
        else
            check(t);
    }
    check(t);
}

typedef struct tally {
    uint32_t answers[3];
} tally;

/* expected: [CHECKS]; UNKNOWN where the first to be asked will say. */
static void run_instance(ft_session_kind kind, uint32_t seed, bool enumerable, ft_answer *expected,
                         tally *sum)
{
    instance t = {.random = seed * 2654435761u + 1,
                  .session = ft_session_open(kind),
                  .enumerable = enumerable,
                  .expected = expected};
    for (uint32_t i = 0; i < LITERALS; i++) t.assumptions[i] = FT_LIT_TRUE;
    run_steps(&t, pick(&t, enumerable ? 40 : 300));
    for (uint32_t i = 0; i < t.n_checks; i++) sum->answers[expected[i]]++;
    ft_session_close(t.session);
}

static uint32_t seeds(uint32_t usual)
{
    const char *more = getenv("FT_SEEDS");
    return more ? (uint32_t)strtoul(more, NULL, 10) : usual;
}

static void report(const tally *sum, uint32_t instances)
{
    uint32_t sat = sum->answers[FT_ANSWER_SAT], unsat = sum->answers[FT_ANSWER_UNSAT];
    print_message("%u satisfiable, %u not\n", sat, unsat);
    if (instances < 100) return; /* too few for a share */
    assert_true(sat > instances / 4 && unsat > instances / 4);
}

static void agree_with_enumeration(ft_session_kind kind, uint32_t instances)
{
    ft_answer expected[CHECKS];
    tally sum = {{0}};
    for (uint32_t seed = 1; seed <= instances; seed++)
        run_instance(kind, seed, true, expected, &sum);
    report(&sum, instances);
}

static void own_solver_agrees_with_enumeration(void **state)
{
    (void)state;
    agree_with_enumeration(FT_SESSION_ORDER, seeds(3000));
}

static void z3_agrees_with_enumeration(void **state)
{
    (void)state;
    agree_with_enumeration(FT_SESSION_BOOLEAN, seeds(1500) / 10);
}

static void solvers_agree(void **state)
{
    (void)state;
    tally sum = {{0}};
    uint32_t instances = seeds(1500) / 5;
    for (uint32_t seed = 1; seed <= instances; seed++) {
        ft_answer expected[CHECKS];
        for (uint32_t i = 0; i < CHECKS; i++) expected[i] = FT_ANSWER_UNKNOWN;
        run_instance(FT_SESSION_ORDER, seed, false, expected, &sum);
        run_instance(FT_SESSION_BOOLEAN, seed, false, expected, &sum);
    }
    report(&sum, instances);
}

static void self_test_passes(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    for (int kind = 0; kind < FT_SESSION_KINDS; kind++) {
        if (ft_session_self_test((ft_session_kind)kind, &err) != FT_OK) fail_msg("%s", err.message);
        ft_session_close(ft_session_open((ft_session_kind)kind));
    }
    if (ft_session_trusted(&err) != FT_OK) fail_msg("%s", err.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_solver_agrees_with_enumeration),
        cmocka_unit_test(self_test_passes),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(z3_agrees_with_enumeration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
