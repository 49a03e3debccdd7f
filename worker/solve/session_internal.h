/* The backends of sessions: one table of functions per solver. */
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
    /* expressions */
    ft_expr (*constant)(ft_session *session, ft_sort sort);
    ft_expr (*choice)(ft_session *session, ft_sort sort, const uint64_t *bits, uint32_t count);
    ft_expr (*one_of)(ft_session *session, ft_sort sort, const ft_expr *all, uint32_t count);
    ft_expr (*unknown)(ft_session *session, const ft_unknown *known); /* NULL: by the list */
    ft_expr (*value)(ft_session *session, ft_value value);
    ft_expr (*literal)(ft_session *session, ft_lit literal);
    ft_expr (*equal)(ft_session *session, ft_expr a, ft_expr b);
    ft_expr (*negation)(ft_session *session, ft_expr a);
    ft_expr (*conjunction)(ft_session *session, const ft_expr *all, uint32_t count);
    ft_expr (*disjunction)(ft_session *session, const ft_expr *all, uint32_t count);
    void (*imply)(ft_session *session, ft_lit premise, ft_expr formula);
    ft_lit (*name)(ft_session *session, ft_expr formula);
    ft_expr (*term)(ft_session *session, const ft_term_pool *pool, ft_term term, ft_resolve resolve,
                    void *context, ft_expr *defined);
    bool (*gave_up)(ft_session *session);
} ft_backend;

struct ft_session { /* the first member of each solver's own session */
    const ft_backend *backend;
};

ft_session *ft_session_open_z3(unsigned phase, unsigned arith, unsigned split);
ft_session *ft_session_open_order(unsigned phase, unsigned arith, unsigned split);

#endif
