/* What stands behind a session: one table of functions per solver. */
#ifndef FT_SOLVE_SESSION_INTERNAL_H
#define FT_SOLVE_SESSION_INTERNAL_H

#include "solve/session.h"

typedef struct ft_backend {
    void (*close)(ft_session *session);
    ft_lit (*variable)(ft_session *session);
    void (*clause)(ft_session *session, const ft_lit *literals, uint32_t count);
    void (*at_most)(ft_session *session, const ft_lit *literals, uint32_t count, uint32_t k);
    void (*order_begin)(ft_session *session, uint32_t n_nodes);
    void (*order_edge)(ft_session *session, uint32_t a, uint32_t b);
    void (*order_atom)(ft_session *session, ft_lit literal, uint32_t a, uint32_t b);
    ft_answer (*check)(ft_session *session, const ft_lit *assumptions, uint32_t count,
                       uint32_t timeout_ms);
    uint32_t (*core)(const ft_session *session, const ft_lit **core);
    bool (*is_true)(const ft_session *session, ft_lit literal);
    const char *(*trouble)(const ft_session *session);
} ft_backend;

struct ft_session { /* the first member of each solver's own session */
    const ft_backend *backend;
};

ft_session *ft_session_open_z3(unsigned phase, unsigned arith, unsigned split);
ft_session *ft_session_open_order(unsigned phase, unsigned arith, unsigned split);

#endif
