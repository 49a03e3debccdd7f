/* Sessions of the project's own solver: order and Boolean constraints. */
#include <stdlib.h>

#include "base/contract.h"
#include "solve/session_values.h"

static const ft_backend ORDER_BACKEND;

static ft_cdcl *solver_of(const ft_session *session)
{
    assert(session->backend == &ORDER_BACKEND && ((const ft_order_session *)session)->solver);
    return ((const ft_order_session *)session)->solver;
}

static void order_close(ft_session *session)
{
    ft_cdcl_free(solver_of(session));
    ft_arena_free(((ft_order_session *)session)->arena);
    free(session);
}

static ft_lit order_variable(ft_session *session)
{
    return ft_cdcl_variable(solver_of(session));
}

static void order_clause(ft_session *session, const ft_lit *literals, uint32_t count)
{
    ft_cdcl_clause(solver_of(session), literals, count);
}

static void order_at_most(ft_session *session, const ft_lit *literals, uint32_t count, uint32_t k)
{
    ft_cdcl_at_most(solver_of(session), literals, count, k);
}

static void order_begin(ft_session *session, uint32_t n_nodes)
{
    ft_cdcl_order_begin(solver_of(session), n_nodes);
}

static void order_edge(ft_session *session, uint32_t a, uint32_t b)
{
    ft_cdcl_order_edge(solver_of(session), a, b);
}

static void order_atom(ft_session *session, ft_lit literal, uint32_t a, uint32_t b)
{
    ft_cdcl_order_atom(solver_of(session), literal, a, b);
}

static ft_answer order_check(ft_session *session, const ft_lit *assumptions, uint32_t count,
                             uint32_t timeout_ms)
{
    return ft_cdcl_check(solver_of(session), assumptions, count, timeout_ms);
}

static uint32_t order_core(const ft_session *session, const ft_lit **core)
{
    return ft_cdcl_core(solver_of(session), core);
}

static bool order_is_true(const ft_session *session, ft_lit literal)
{
    return ft_cdcl_true(solver_of(session), literal);
}

static const char *order_trouble(const ft_session *session)
{
    (void)session;
    return NULL;
}

static const ft_backend ORDER_BACKEND = {
    .close = order_close,
    .variable = order_variable,
    .clause = order_clause,
    .at_most = order_at_most,
    .order_begin = order_begin,
    .order_edge = order_edge,
    .order_atom = order_atom,
    .check = order_check,
    .core = order_core,
    .is_true = order_is_true,
    .trouble = order_trouble,
    .constant = ft_values_constant,
    .choice = ft_values_choice,
    .one_of = ft_values_one_of,
    .value = ft_values_value,
    .literal = ft_values_literal,
    .equal = ft_values_equal,
    .negation = ft_values_not,
    .conjunction = ft_values_and,
    .disjunction = ft_values_or,
    .imply = ft_values_imply,
    .name = ft_values_name,
    .term = ft_values_term,
    .gave_up = ft_values_gave_up,
};

ft_session *ft_session_open_order(unsigned phase, unsigned arith, unsigned split)
{
    (void)phase, (void)arith, (void)split;
    ft_order_session *s = ft_calloc(1, sizeof *s);
    s->base.backend = &ORDER_BACKEND;
    s->solver = ft_cdcl_new();
    s->arena = ft_arena_new();
    return &s->base;
}
