/* Questions with known answers for each kind of session, asked before the first real one: each
 * covers a way in which a solver, or a version of it, has failed. The questions of one kind share a
 * session, as opening a session costs most of the time. */
#include "base/contract.h"
#include "solve/session.h"

enum { TIMEOUT_MS = 2000, NODES = 7 }; /* nodes 0 .. 3 are one question's, the rest another's */

static ft_answer ask(ft_session *s, const ft_lit *assumptions, uint32_t count)
{
    return ft_session_check(s, assumptions, count, TIMEOUT_MS);
}

/* The edge a -> b as a literal of its own. */
static ft_lit before(ft_session *s, uint32_t a, uint32_t b)
{
    ft_lit literal = ft_session_variable(s);
    ft_session_order_atom(s, literal, b, a);
    return literal;
}

static bool three_in_a_ring(ft_session *s)
{
    ft_expr x[3];
    for (int i = 0; i < 3; i++) x[i] = ft_session_order_variable(s);
    ft_lit closes = ft_session_variable(s);
    ft_session_imply(s, FT_LIT_TRUE, ft_session_less(s, x[0], x[1]));
    ft_session_imply(s, FT_LIT_TRUE, ft_session_less(s, x[1], x[2]));
    ft_session_imply(s, closes, ft_session_less(s, x[2], x[0]));
    if (ask(s, &closes, 1) != FT_ANSWER_UNSAT || ask(s, NULL, 0) != FT_ANSWER_SAT) return false;
    return ft_session_integer(s, x[0]) < ft_session_integer(s, x[1]) &&
           ft_session_integer(s, x[1]) < ft_session_integer(s, x[2]);
}

/* a, b in 0 .. 1, and a + 1 = b, b + 1 = a or a + 2 = b: possible is the first alone. With
 * auto_config on, Z3 4.8.12 forgot its arithmetic when a propagator was registered before. */
static bool sums(ft_session *s)
{
    ft_expr a = ft_session_constant(s, FT_INT_SORT), b = ft_session_constant(s, FT_INT_SORT);
    ft_expr low = ft_session_value(s, (ft_value){FT_INT_SORT, (uint64_t)-1});
    ft_expr high = ft_session_value(s, (ft_value){FT_INT_SORT, 2});
    ft_lit which[3];
    for (int i = 0; i < 3; i++) which[i] = ft_session_variable(s);
    ft_session_imply(s, FT_LIT_TRUE, ft_session_less(s, low, a));
    ft_session_imply(s, FT_LIT_TRUE, ft_session_less(s, low, b));
    ft_session_imply(s, FT_LIT_TRUE, ft_session_less(s, a, high));
    ft_session_imply(s, FT_LIT_TRUE, ft_session_less(s, b, high));
    ft_session_imply(s, which[0], ft_session_equal(s, ft_session_add(s, a, 1), b));
    ft_session_imply(s, which[1], ft_session_equal(s, ft_session_add(s, b, 1), a));
    ft_session_imply(s, which[2], ft_session_equal(s, ft_session_add(s, a, 2), b));
    if (ask(s, which, 2) != FT_ANSWER_UNSAT || ask(s, which + 2, 1) != FT_ANSWER_UNSAT)
        return false;
    return ask(s, which, 1) == FT_ANSWER_SAT && ft_session_integer(s, a) == 0 &&
           ft_session_integer(s, b) == 1;
}

static bool cycle(ft_session *s)
{
    ft_session_order_edge(s, 0, 1);
    ft_lit edges[3] = {before(s, 1, 2), before(s, 2, 3), before(s, 3, 0)};
    ft_session_clause(s, (ft_lit[2]){edges[0], FT_LIT_FALSE}, 2);
    ft_lit either[3] = {-edges[1], -edges[2], ft_session_variable(s)};
    ft_session_clause(s, either, 3);
    const ft_lit *core;
    if (ask(s, edges, 3) != FT_ANSWER_UNSAT || ft_session_core(s, &core) == 0) return false;
    return ask(s, edges, 2) == FT_ANSWER_SAT && !ft_session_true(s, edges[2]);
}

/* An atom that Z3 registers after a check was forgotten, or its number given to another one. */
static bool late_atom(ft_session *s)
{
    ft_lit edges[3] = {before(s, 4, 5), before(s, 5, 6), 0};
    ft_session_clause(s, edges, 1);
    if (ask(s, edges + 1, 1) != FT_ANSWER_SAT) return false;
    edges[2] = before(s, 6, 4);
    ft_session_clause(s, (ft_lit[2]){edges[1], edges[2]}, 2);
    if (ask(s, edges + 1, 2) != FT_ANSWER_UNSAT) return false;
    if (ask(s, edges + 2, 1) != FT_ANSWER_SAT) return false;
    return ft_session_true(s, edges[0]) && !ft_session_true(s, edges[1]);
}

/* Four into three places: every one needs a place, no place takes two. */
static bool places(ft_session *s)
{
    enum { GUESTS = 4, PLACES = 3 };
    ft_lit taken[PLACES][GUESTS], open = ft_session_variable(s);
    for (int p = 0; p < PLACES; p++)
        for (int g = 0; g < GUESTS; g++) taken[p][g] = ft_session_variable(s);
    for (int g = 0; g < GUESTS; g++) {
        ft_lit choice[PLACES + 1] = {taken[0][g], taken[1][g], taken[2][g],
                                     g ? -FT_LIT_TRUE : open};
        ft_session_clause(s, choice, PLACES + 1);
    }
    for (int p = 0; p < PLACES; p++) ft_session_at_most(s, taken[p], GUESTS, 1);
    const ft_lit *core;
    ft_lit closed[2] = {taken[0][1], -open};
    if (ask(s, closed, 2) != FT_ANSWER_UNSAT) return false;
    if (ft_session_core(s, &core) == 0 || ask(s, closed, 1) != FT_ANSWER_SAT) return false;
    return ft_session_true(s, open) && ft_session_true(s, taken[0][1]) &&
           !ft_session_true(s, taken[0][2]);
}

/* a in 1 .. 3, b in 3 .. 5: equal at 3 alone. A constraint on an unknown value is left out, which
 * gave_up reports. */
static bool few_values(ft_session *s)
{
    const uint64_t low[3] = {1, 2, 3}, high[3] = {3, 4, 5};
    ft_expr a = ft_session_choice(s, FT_INT_SORT, low, 3);
    ft_expr b = ft_session_choice(s, FT_INT_SORT, high, 3);
    ft_expr three = ft_session_value(s, (ft_value){FT_INT_SORT, 3});
    ft_lit same = ft_session_name(s, ft_session_equal(s, a, b));
    ft_lit at_three = ft_session_name(s, ft_session_equal(s, a, three));
    ft_lit not_three = ft_session_name(s, ft_session_not(s, ft_session_equal(s, b, three)));
    if (ask(s, (ft_lit[2]){same, -at_three}, 2) != FT_ANSWER_UNSAT) return false;
    if (ask(s, (ft_lit[2]){same, not_three}, 2) != FT_ANSWER_UNSAT) return false;
    if (ask(s, &same, 1) != FT_ANSWER_SAT || !ft_session_true(s, at_three)) return false;
    if (ft_session_gave_up(s)) return false;
    ft_expr unknown = ft_session_constant(s, FT_INT_SORT);
    ft_session_imply(s, same, ft_session_equal(s, a, unknown));
    return ft_session_gave_up(s) && ask(s, &same, 1) == FT_ANSWER_SAT;
}

/* Which kinds answer which question: by what the columns of FT_SESSION_TABLE promise. */
enum { ORDERED = 1, SUMS = 2, INTEGERS = 4, FEW = 8 };
static const unsigned FEATURES[FT_SESSION_KINDS] = {
    [FT_SESSION_BOOLEAN] = ORDERED | SUMS | INTEGERS,
    [FT_SESSION_BOOLEAN_VALUES] = ORDERED | SUMS | INTEGERS,
    [FT_SESSION_VALUES] = SUMS | INTEGERS,
    [FT_SESSION_INTEGER] = INTEGERS,
    [FT_SESSION_INTEGER_SUMS] = SUMS | INTEGERS,
    [FT_SESSION_ORDER] = ORDERED | FEW,
};

static const struct {
    bool (*passes)(ft_session *s);
    unsigned needs;
    const char *doc;
} QUESTIONS[] = {
    {places, 0, "limits, clauses and cores"},
    {cycle, ORDERED, "a cycle of order atoms"},
    {late_atom, ORDERED, "order atoms registered after a check"},
    {three_in_a_ring, INTEGERS, "a ring of integer differences"},
    {sums, SUMS, "sums of integers"},
    {few_values, FEW, "values out of few"},
};

static const char *const NAMES[FT_SESSION_KINDS] = {
#define FT_ROW(symbol, doc, solver, phase, arith, split) [FT_SESSION_##symbol] = #symbol,
    FT_SESSION_TABLE(FT_ROW)
#undef FT_ROW
};

/* The question that this kind fails, or NULL. */
static const char *first_failure(ft_session_kind kind)
{
    const char *failure = NULL;
    assert(FEATURES[kind]); /* every kind has a row */
    ft_session *s = ft_session_open(kind);
    if (FEATURES[kind] & ORDERED) ft_session_order_begin(s, NODES);
    for (size_t q = 0; q < sizeof QUESTIONS / sizeof *QUESTIONS && !failure; q++) {
        if (QUESTIONS[q].needs & ~FEATURES[kind]) continue;
        if (!QUESTIONS[q].passes(s) || ft_session_trouble(s)) failure = QUESTIONS[q].doc;
    }
    ft_session_close(s);
    return failure;
}

ft_status ft_session_self_test(ft_session_kind kind, ft_error *err)
{
    FT_REQUIRE((unsigned)kind < FT_SESSION_KINDS);
    const char *failure = first_failure(kind);
    if (!failure) return FT_OK;
    return ft_error_set(err, FT_INTERNAL,
                        "solver self-test: a session of kind %s fails the question about %s; "
                        "this version of the solver cannot be used, install another one",
                        NAMES[kind], failure);
}
