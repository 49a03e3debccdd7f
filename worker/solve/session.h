/* A solver session: Boolean literals, clauses, values and terms, incremental checks.
 *
 * The encoder sees only this interface. Behind it is either Z3's SMT core or, for order and for
 * values out of few, the project's own solver (cdcl.h). Literals and expressions belong to one
 * session and are not mixed.
 *
 * Imports: ranges, solve/cdcl, common/base. */
#ifndef FT_SOLVE_SESSION_H
#define FT_SOLVE_SESSION_H

#include "ranges/interval.h"
#include "solve/cdcl/literal.h"

typedef struct ft_session ft_session;
typedef struct ft_expression *ft_expr; /* a value or formula, owned by the session; each solver has
                                          its own behind this type. NULL: true (guards) */

/* The solver's settings: one row per configuration. Columns: symbol, doc, solver; for Z3 also
 * preferred phase (0 false, 1 true), arith.solver, case_split (3: relevant clauses first, worth 10x
 * where values are computed beside order; 1: by activity. 3 goes round in circles on some questions
 * about values alone, also of four bits: Z3 4.8.12). */
#define FT_SESSION_TABLE(X)                                                                        \
    X(BOOLEAN, "order as booleans; the observed order is the preferred phase", z3, 0, 2, 1)        \
    X(BOOLEAN_VALUES, "likewise, beside computed values", z3, 0, 2, 3)                             \
    X(VALUES, "computed values alone", z3, 0, 2, 1)                                                \
    X(INTEGER, "order as integers: difference constraints alone", z3, 1, 1, 1)                     \
    X(INTEGER_SUMS, "order as integers beside sums of values", z3, 1, 2, 1)                        \
    X(ORDER, "order, Boolean constraints, and values out of few", order, 0, 0, 0)
typedef enum ft_session_kind {
#define FT_ROW(symbol, doc, solver, phase, arith, split) FT_SESSION_##symbol,
    FT_SESSION_TABLE(FT_ROW)
#undef FT_ROW
        FT_SESSION_KINDS
} ft_session_kind;

/* An unknown value with what is known of it. An ORDER session uses the list alone, a Z3 session
 * the range, as far as it is allowed to.
 *
 * Widths and numbers change how a Z3 session writes values, not what they are: an expression of
 * sort BitVec is kept in the bits that its range needs, or as an Int, and what terms compute from
 * it is kept in the bits, or as the Int, that follows from the ranges of their operands
 * (session_bits.c). Where two ways of writing meet, both are extended. So answers do not depend on
 * it, and schedules are read off literals: nothing has to be turned back. */
typedef struct ft_unknown {
    ft_sort sort;
    const uint64_t *bits; /* [count] it is one of these distinct values */
    uint32_t count;       /* 0: no list */
    ft_range range;       /* it lies in there; not empty */
    bool bounds;          /* the range is a constraint */
    bool width;           /* a BitVec has no more bits than the range needs */
    ft_number number;     /* a BitVec is this Int, in the range */
} ft_unknown;

ft_session *ft_session_open(ft_session_kind kind);
void ft_session_close(ft_session *session); /* accepts NULL */

ft_lit ft_session_variable(ft_session *session);
void ft_session_clause(ft_session *session, const ft_lit *literals, uint32_t count);
/* At most k of the literals are true. */
void ft_session_at_most(ft_session *session, const ft_lit *literals, uint32_t count, uint32_t k);

/* A strict total order over nodes 0 .. n-1, kept acyclic while solving (BOOLEAN and ORDER kinds;
 * once, before the first check). Static edges always hold. An atom's literal means b before a where
 * it is true, and a before b where it is false; it is a variable for this pair alone that no
 * constraint uses yet. In a session without such an order the caller must cut cycles itself. */
void ft_session_order_begin(ft_session *session, uint32_t n_nodes);
void ft_session_order_edge(ft_session *session, uint32_t a, uint32_t b);
void ft_session_order_atom(ft_session *session, ft_lit literal, uint32_t a, uint32_t b);

/* Expressions. An ORDER session keeps a value as a choice out of the few that it can be, so it
 * leaves out a constraint on values that are too many (solve/session_values.h), and
 * ft_session_gave_up reports that. Not in an ORDER session: order variables, less, add, integer,
 * bits. */
ft_expr ft_session_constant(ft_session *session, ft_sort sort); /* a fresh unknown */
/* Likewise, with what is known of it. */
ft_expr ft_session_unknown(ft_session *session, const ft_unknown *known);
/* Likewise, known to be one of these distinct values (at least one). */
ft_expr ft_session_choice(ft_session *session, ft_sort sort, const uint64_t *bits, uint32_t count);
/* Likewise, known to be equal to one of these. */
ft_expr ft_session_one_of(ft_session *session, ft_sort sort, const ft_expr *all, uint32_t count);
ft_expr ft_session_value(ft_session *session, ft_value value);
ft_expr ft_session_order_variable(ft_session *session); /* a fresh integer */
ft_expr ft_session_less(ft_session *session, ft_expr a, ft_expr b);
ft_expr ft_session_equal(ft_session *session, ft_expr a, ft_expr b);
ft_expr ft_session_literal(ft_session *session, ft_lit literal);
ft_expr ft_session_not(ft_session *session, ft_expr a); /* NULL is true */
ft_expr ft_session_and(ft_session *session, const ft_expr *all, uint32_t count);
ft_expr ft_session_or(ft_session *session, const ft_expr *all, uint32_t count);
ft_expr ft_session_add(ft_session *session, ft_expr a, int addend);
/* The clause (not premise or formula); premise FT_LIT_TRUE: the formula alone. */
void ft_session_imply(ft_session *session, ft_lit premise, ft_expr formula);
/* A literal equivalent to the formula. */
ft_lit ft_session_name(ft_session *session, ft_expr formula);

/* Translates a term; resolve gives the expression of a symbol. *defined (NULL: always) holds where
 * no division by zero is evaluated (term/term.h). */
typedef ft_expr (*ft_resolve)(void *context, ft_symbol symbol);
ft_expr ft_session_term(ft_session *session, const ft_term_pool *pool, ft_term term,
                        ft_resolve resolve, void *context, ft_expr *defined);

/* timeout in milliseconds of wall time, 0: none. Z3 does not always honour it: only the
 * supervisor's budget is certain. */
ft_answer ft_session_check(ft_session *session, const ft_lit *assumptions, uint32_t count,
                           uint32_t timeout_ms);
/* After UNSAT: assumptions that cannot hold together, not always a least set; none: unsatisfiable
 * without any. Valid until the next call. */
uint32_t ft_session_core(const ft_session *session, const ft_lit **core);
bool ft_session_true(ft_session *session, ft_lit literal);         /* in the last SAT model */
int64_t ft_session_integer(ft_session *session, ft_expr variable); /* likewise */
uint64_t ft_session_bits(ft_session *session, ft_expr variable);   /* of a Bool or BitVec */
/* Was a constraint left out since the last call, because this kind of session cannot express it?
 * Then SAT is not an answer while that constraint's premise is assumed. */
bool ft_session_gave_up(ft_session *session);
const char *ft_session_trouble(const ft_session *session); /* the solver's own error, or NULL */

/* Asks a kind of session questions with known answers; a few milliseconds for Z3's. FT_INTERNAL
 * names the kind and the question: no answer of this solver can be trusted. */
ft_status ft_session_self_test(ft_session_kind kind, ft_error *err) FT_MUST_CHECK;
/* The first session of a kind in a process is opened after its self-test. FT_INTERNAL: a kind that
 * was opened failed it; from then on every check of every session answers UNKNOWN. */
ft_status ft_session_trusted(ft_error *err) FT_MUST_CHECK;

#endif
