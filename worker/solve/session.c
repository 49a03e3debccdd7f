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

ft_session *ft_session_open(ft_session_kind kind)
{
    return SETUP[kind].open(SETUP[kind].phase, SETUP[kind].arith, SETUP[kind].split);
}

void ft_session_close(ft_session *session)
{
    if (session) session->backend->close(session);
}

ft_lit ft_session_variable(ft_session *session)
{
    return session->backend->variable(session);
}

void ft_session_clause(ft_session *session, const ft_lit *literals, uint32_t count)
{
    session->backend->clause(session, literals, count);
}

void ft_session_at_most(ft_session *session, const ft_lit *literals, uint32_t count, uint32_t k)
{
    session->backend->at_most(session, literals, count, k);
}

void ft_session_order_begin(ft_session *session, uint32_t n_nodes)
{
    session->backend->order_begin(session, n_nodes);
}

void ft_session_order_edge(ft_session *session, uint32_t a, uint32_t b)
{
    session->backend->order_edge(session, a, b);
}

void ft_session_order_atom(ft_session *session, ft_lit literal, uint32_t a, uint32_t b)
{
    session->backend->order_atom(session, literal, a, b);
}

ft_answer ft_session_check(ft_session *session, const ft_lit *assumptions, uint32_t count,
                           uint32_t timeout_ms)
{
    return session->backend->check(session, assumptions, count, timeout_ms);
}

uint32_t ft_session_core(const ft_session *session, const ft_lit **core)
{
    return session->backend->core(session, core);
}

bool ft_session_true(ft_session *session, ft_lit literal)
{
    return session->backend->is_true(session, literal);
}

const char *ft_session_trouble(const ft_session *session)
{
    return session->backend->trouble(session);
}
