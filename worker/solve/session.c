#include "base/contract.h"
#include "solve/session_internal.h"

static const struct {
    ft_session *(*open)(unsigned phase, unsigned arith, unsigned split);
    unsigned phase, arith, split;
} SETUP[FT_SESSION_KINDS] = {
#define FT_ROW(symbol, doc, solver, phase, arith, split)                                           \
    [FT_SESSION_##symbol] = {ft_session_open_##solver, phase, arith, split},
    FT_SESSION_TABLE(FT_ROW)
#undef FT_ROW
};

/* Set before the test itself opens a session of the kind. */
static bool tested[FT_SESSION_KINDS];
static ft_error distrust = FT_ERROR_INIT;

ft_session *ft_session_open(ft_session_kind kind)
{
    FT_REQUIRE((unsigned)kind < FT_SESSION_KINDS);
    bool first = !tested[kind];
    tested[kind] = true;
    if (first) (void)!ft_session_self_test(kind, &distrust); /* the first failure is kept */
    ft_session *session = SETUP[kind].open(SETUP[kind].phase, SETUP[kind].arith, SETUP[kind].split);
    assert(session && session->backend);
    return session;
}

ft_status ft_session_trusted(ft_error *err)
{
    if (distrust.code != FT_OK && err) *err = distrust;
    return distrust.code;
}

void ft_session_close(ft_session *session)
{
    if (session) session->backend->close(session);
}

ft_lit ft_session_variable(ft_session *session)
{
    FT_REQUIRE(session);
    ft_lit variable = session->backend->variable(session);
    assert(variable > FT_LIT_TRUE);
    return variable;
}

void ft_session_clause(ft_session *session, const ft_lit *literals, uint32_t count)
{
    FT_REQUIRE(session && (literals || count == 0));
    session->backend->clause(session, literals, count);
}

void ft_session_at_most(ft_session *session, const ft_lit *literals, uint32_t count, uint32_t k)
{
    FT_REQUIRE(session && (literals || count == 0));
    session->backend->at_most(session, literals, count, k);
}

void ft_session_order_begin(ft_session *session, uint32_t n_nodes)
{
    FT_REQUIRE(session);
    session->backend->order_begin(session, n_nodes);
}

void ft_session_order_edge(ft_session *session, uint32_t a, uint32_t b)
{
    FT_REQUIRE(session);
    session->backend->order_edge(session, a, b);
}

void ft_session_order_atom(ft_session *session, ft_lit literal, uint32_t a, uint32_t b)
{
    FT_REQUIRE(session && literal > FT_LIT_TRUE && a != b);
    session->backend->order_atom(session, literal, a, b);
}

static bool core_is_assumed(const ft_session *session, const ft_lit *assumptions, uint32_t count)
{
    const ft_lit *core;
    uint32_t size = ft_session_core(session, &core);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t k = 0;
        while (k < count && assumptions[k] != core[i]) k++;
        if (k == count) return false;
    }
    return true;
}

static bool all_hold(ft_session *session, const ft_lit *literals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!ft_session_true(session, literals[i])) return false;
    return true;
}

ft_answer ft_session_check(ft_session *session, const ft_lit *assumptions, uint32_t count,
                           uint32_t timeout_ms)
{
    FT_REQUIRE(session && (assumptions || count == 0));
    if (distrust.code != FT_OK) return FT_ANSWER_UNKNOWN;
    ft_answer answer = session->backend->check(session, assumptions, count, timeout_ms);
    FT_CHECK(answer != FT_ANSWER_UNSAT || core_is_assumed(session, assumptions, count));
    FT_CHECK(answer != FT_ANSWER_SAT || all_hold(session, assumptions, count));
    return answer;
}

uint32_t ft_session_core(const ft_session *session, const ft_lit **core)
{
    FT_REQUIRE(session && core);
    return session->backend->core(session, core);
}

bool ft_session_true(ft_session *session, ft_lit literal)
{
    FT_REQUIRE(session && literal != 0);
    return session->backend->is_true(session, literal);
}

const char *ft_session_trouble(const ft_session *session)
{
    return session->backend->trouble(session);
}

ft_expr ft_session_constant(ft_session *session, ft_sort sort)
{
    return session->backend->constant(session, sort);
}

ft_expr ft_session_unknown(ft_session *session, const ft_unknown *known)
{
    FT_REQUIRE(session && known && !ft_range_is_empty(known->range));
    FT_REQUIRE(known->number == FT_NUMBER_BITS || known->sort.kind == FT_SORT_BITVEC);
    if (session->backend->unknown) return session->backend->unknown(session, known);
    return known->count ? ft_session_choice(session, known->sort, known->bits, known->count)
                        : ft_session_constant(session, known->sort);
}

ft_expr ft_session_choice(ft_session *session, ft_sort sort, const uint64_t *bits, uint32_t count)
{
    FT_REQUIRE(session && bits && count > 0);
    return session->backend->choice(session, sort, bits, count);
}

ft_expr ft_session_one_of(ft_session *session, ft_sort sort, const ft_expr *all, uint32_t count)
{
    FT_REQUIRE(session && (all || count == 0));
    return session->backend->one_of(session, sort, all, count);
}

ft_expr ft_session_value(ft_session *session, ft_value value)
{
    return session->backend->value(session, value);
}

ft_expr ft_session_literal(ft_session *session, ft_lit literal)
{
    FT_REQUIRE(session && literal != 0);
    return session->backend->literal(session, literal);
}

ft_expr ft_session_equal(ft_session *session, ft_expr a, ft_expr b)
{
    FT_REQUIRE(session && a && b);
    return session->backend->equal(session, a, b);
}

ft_expr ft_session_not(ft_session *session, ft_expr a)
{
    return session->backend->negation(session, a);
}

ft_expr ft_session_and(ft_session *session, const ft_expr *all, uint32_t count)
{
    FT_REQUIRE(session && (all || count == 0));
    return session->backend->conjunction(session, all, count);
}

ft_expr ft_session_or(ft_session *session, const ft_expr *all, uint32_t count)
{
    FT_REQUIRE(session && (all || count == 0));
    for (uint32_t i = 0; i < count; i++)
        if (!all[i]) return NULL;
    return count == 1 ? all[0] : session->backend->disjunction(session, all, count);
}

void ft_session_imply(ft_session *session, ft_lit premise, ft_expr formula)
{
    FT_REQUIRE(session && premise != 0);
    if (formula && premise != FT_LIT_FALSE) session->backend->imply(session, premise, formula);
}

ft_lit ft_session_name(ft_session *session, ft_expr formula)
{
    return formula ? session->backend->name(session, formula) : FT_LIT_TRUE;
}

ft_expr ft_session_term(ft_session *session, const ft_term_pool *pool, ft_term term,
                        ft_resolve resolve, void *context, ft_expr *defined)
{
    FT_REQUIRE(session && pool && resolve);
    return session->backend->term(session, pool, term, resolve, context, defined);
}

bool ft_session_gave_up(ft_session *session)
{
    return session->backend->gave_up(session);
}
