#include "solve/session_z3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"

static const ft_backend Z3_BACKEND;

ft_z3_session *ft_z3_of(ft_session *session)
{
    FT_REQUIRE(session && session->backend == &Z3_BACKEND);
    return (ft_z3_session *)session;
}

/* ---- expressions ---- */

const ft_z3_expr *ft_z3_expr_of(ft_expr expression)
{
    FT_REQUIRE(expression);
    return (const ft_z3_expr *)expression;
}

ft_expr ft_z3_keep(ft_z3_session *s, ft_z3_expr expression)
{
    ft_z3_expr *kept = ft_arena_alloc(s->arena, sizeof *kept);
    *kept = expression;
    return (ft_expr)kept;
}

ft_expr ft_z3_plain(ft_z3_session *s, ft_sort sort, Z3_ast ast)
{
    return ft_z3_keep(s, (ft_z3_expr){ast, sort, FT_Z3_PLAIN, sort.width, ft_range_any(sort)});
}

static ft_expr formula(ft_z3_session *s, Z3_ast ast)
{
    return ft_z3_plain(s, FT_BOOL_SORT, ast);
}

/* ---- life ---- */

/* Z3 errors never abort: the session remembers the first and answers unknown from then on. The
 * handler has no user pointer, so the session is found by its context; a worker has one thread. */
static ft_z3_session *all_open;

static void on_error(Z3_context z3, Z3_error_code code)
{
    for (ft_z3_session *s = all_open; s; s = s->next_open)
        if (s->z3 == z3 && !s->trouble[0])
            snprintf(s->trouble, sizeof s->trouble, "%s", Z3_get_error_msg(z3, code));
}

static void configure(ft_z3_session *s, unsigned phase, unsigned arith, unsigned split)
{
    Z3_params params = s->params;
    Z3_params_set_bool(s->z3, params, Z3_mk_string_symbol(s->z3, "auto_config"), false);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "phase_selection"), phase);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "arith.solver"), arith);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "case_split"), split);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "random_seed"), 7);
    Z3_solver_set_params(s->z3, s->solver, params);
}

ft_session *ft_session_open_z3(unsigned phase, unsigned arith, unsigned split)
{
    ft_z3_session *s = ft_calloc(1, sizeof *s);
    s->base.backend = &Z3_BACKEND;
    s->next_open = all_open;
    all_open = s;
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "auto_config", "false");
    s->z3 = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(s->z3, on_error);
    s->solver = Z3_mk_simple_solver(s->z3);
    Z3_solver_inc_ref(s->z3, s->solver);
    s->params = Z3_mk_params(s->z3);
    Z3_params_inc_ref(s->z3, s->params);
    configure(s, phase, arith, split);
    s->boolean = Z3_mk_bool_sort(s->z3);
    s->integer = Z3_mk_int_sort(s->z3);
    s->arena = ft_arena_new();
    ft_vec_push(&s->variables, (Z3_ast)NULL);
    ft_vec_push(&s->variables, Z3_mk_true(s->z3));
    return &s->base;
}

static void z3_close(ft_session *session)
{
    ft_z3_session *s = ft_z3_of(session), **link = &all_open;
    while (*link != s) {
        assert(*link); /* every open session is listed */
        link = &(*link)->next_open;
    }
    *link = s->next_open;
    if (s->model) Z3_model_dec_ref(s->z3, s->model);
    Z3_params_dec_ref(s->z3, s->params);
    Z3_solver_dec_ref(s->z3, s->solver);
    Z3_del_context(s->z3);
    ft_vec_release(&s->variables);
    ft_vec_release(&s->scratch);
    ft_order_graph_free(s->order);
    ft_vec_release(&s->atoms);
    ft_vec_release(&s->scopes);
    ft_vec_release(&s->conflict);
    ft_vec_release(&s->core);
    ft_vec_release(&s->cached);
    ft_arena_free(s->arena);
    free(s);
}

static ft_lit z3_variable(ft_session *session)
{
    ft_z3_session *s = ft_z3_of(session);
    Z3_ast variable = Z3_mk_fresh_const(s->z3, "b", s->boolean);
    ft_vec_push(&s->variables, variable);
    assert(s->variables.len > FT_LIT_TRUE + 1 && s->variables.len <= INT32_MAX);
    return (ft_lit)s->variables.len - 1;
}

static Z3_ast literal_of(const ft_z3_session *s, ft_lit literal)
{
    FT_REQUIRE(literal != 0 && (size_t)abs(literal) < s->variables.len);
    if (literal == FT_LIT_FALSE) return Z3_mk_false(s->z3);
    Z3_ast variable = s->variables.data[abs(literal)];
    return literal > 0 ? variable : Z3_mk_not(s->z3, variable);
}

static ft_expr z3_literal(ft_session *session, ft_lit literal)
{
    ft_z3_session *s = ft_z3_of(session);
    return formula(s, literal_of(s, literal));
}

static void z3_clause(ft_session *session, const ft_lit *literals, uint32_t count)
{
    ft_z3_session *s = ft_z3_of(session);
    s->scratch.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (literals[i] == FT_LIT_TRUE) return;
        if (literals[i] == FT_LIT_FALSE) continue;
        Z3_ast literal = literal_of(s, literals[i]);
        ft_vec_push(&s->scratch, literal);
    }
    Z3_ast clause = s->scratch.len == 1
                        ? s->scratch.data[0]
                        : Z3_mk_or(s->z3, (unsigned)s->scratch.len, s->scratch.data);
    Z3_solver_assert(s->z3, s->solver, clause);
}

static void z3_at_most(ft_session *session, const ft_lit *literals, uint32_t count, uint32_t k)
{
    ft_z3_session *s = ft_z3_of(session);
    if (count <= k) return;
    s->scratch.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        Z3_ast literal = literal_of(s, literals[i]);
        ft_vec_push(&s->scratch, literal);
    }
    Z3_solver_assert(s->z3, s->solver, Z3_mk_atmost(s->z3, count, s->scratch.data, k));
}

Z3_sort ft_z3_sort(const ft_z3_session *s, ft_sort sort)
{
    if (sort.kind == FT_SORT_BOOL) return s->boolean;
    if (sort.kind == FT_SORT_INT) return s->integer;
    return Z3_mk_bv_sort(s->z3, sort.width);
}

static ft_expr z3_constant(ft_session *session, ft_sort sort)
{
    ft_z3_session *s = ft_z3_of(session);
    return ft_z3_plain(s, sort, Z3_mk_fresh_const(s->z3, "v", ft_z3_sort(s, sort)));
}

/* The constraints imply which values are possible: Z3 does not need the list. */
static ft_expr z3_choice(ft_session *session, ft_sort sort, const uint64_t *bits, uint32_t count)
{
    (void)bits, (void)count;
    return z3_constant(session, sort);
}

static ft_expr z3_one_of(ft_session *session, ft_sort sort, const ft_expr *all, uint32_t count)
{
    ft_z3_session *s = ft_z3_of(session);
    if (s->narrows && sort.kind == FT_SORT_BITVEC && count > 0)
        return ft_z3_bits_one_of(s, sort, all, count);
    return z3_constant(session, sort);
}

ft_expr ft_session_order_variable(ft_session *session)
{
    ft_z3_session *s = ft_z3_of(session);
    return ft_z3_plain(s, FT_INT_SORT, Z3_mk_fresh_const(s->z3, "o", s->integer));
}

static ft_expr z3_value(ft_session *session, ft_value value)
{
    ft_z3_session *s = ft_z3_of(session);
    Z3_ast ast;
    if (value.sort.kind == FT_SORT_BOOL)
        ast = value.bits ? Z3_mk_true(s->z3) : Z3_mk_false(s->z3);
    else if (value.sort.kind == FT_SORT_INT)
        ast = Z3_mk_int64(s->z3, (int64_t)value.bits, s->integer);
    else
        ast = Z3_mk_unsigned_int64(s->z3, value.bits, ft_z3_sort(s, value.sort));
    return ft_z3_keep(
        s, (ft_z3_expr){ast, value.sort, FT_Z3_PLAIN, value.sort.width, ft_range_single(value)});
}

static ft_expr z3_unknown(ft_session *session, const ft_unknown *known)
{
    ft_z3_session *s = ft_z3_of(session);
    if (known->sort.kind == FT_SORT_BITVEC) return ft_z3_bits_unknown(s, known);
    ft_expr unknown = z3_constant(session, known->sort);
    if (known->sort.kind != FT_SORT_INT || !known->bounds) return unknown;
    Z3_ast ast = ft_z3_ast(s, unknown);
    if (known->range.low != INT64_MIN)
        Z3_solver_assert(s->z3, s->solver,
                         Z3_mk_ge(s->z3, ast, Z3_mk_int64(s->z3, known->range.low, s->integer)));
    if (known->range.high != INT64_MAX)
        Z3_solver_assert(s->z3, s->solver,
                         Z3_mk_le(s->z3, ast, Z3_mk_int64(s->z3, known->range.high, s->integer)));
    return unknown;
}

ft_expr ft_session_less(ft_session *session, ft_expr a, ft_expr b)
{
    ft_z3_session *s = ft_z3_of(session);
    return formula(s, Z3_mk_lt(s->z3, ft_z3_ast(s, a), ft_z3_ast(s, b)));
}

static ft_expr z3_equal(ft_session *session, ft_expr a, ft_expr b)
{
    ft_z3_session *s = ft_z3_of(session);
    if (s->narrows && ft_z3_expr_of(a)->sort.kind == FT_SORT_BITVEC)
        return formula(s, ft_z3_bits_equal(s, a, b));
    return formula(s, Z3_mk_eq(s->z3, ft_z3_ast(s, a), ft_z3_ast(s, b)));
}

static ft_expr z3_not(ft_session *session, ft_expr a)
{
    ft_z3_session *s = ft_z3_of(session);
    return formula(s, a ? Z3_mk_not(s->z3, ft_z3_ast(s, a)) : Z3_mk_false(s->z3));
}

ft_expr ft_session_add(ft_session *session, ft_expr a, int addend)
{
    ft_z3_session *s = ft_z3_of(session);
    Z3_ast sum[2] = {ft_z3_ast(s, a), Z3_mk_int(s->z3, addend, s->integer)};
    return ft_z3_plain(s, FT_INT_SORT, Z3_mk_add(s->z3, 2, sum));
}

/* Into `scratch`, but for those that are true. */
static void take_formulas(ft_z3_session *s, const ft_expr *all, uint32_t count)
{
    s->scratch.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i]) continue;
        Z3_ast ast = ft_z3_ast(s, all[i]);
        ft_vec_push(&s->scratch, ast);
    }
}

static ft_expr z3_and(ft_session *session, const ft_expr *all, uint32_t count)
{
    ft_z3_session *s = ft_z3_of(session);
    take_formulas(s, all, count);
    if (s->scratch.len == 0) return NULL;
    if (s->scratch.len == 1) return formula(s, s->scratch.data[0]);
    return formula(s, Z3_mk_and(s->z3, (unsigned)s->scratch.len, s->scratch.data));
}

static ft_expr z3_or(ft_session *session, const ft_expr *all, uint32_t count)
{
    ft_z3_session *s = ft_z3_of(session);
    take_formulas(s, all, count);
    assert(s->scratch.len == count); /* none is true */
    return formula(s, Z3_mk_or(s->z3, count, s->scratch.data));
}

static void z3_imply(ft_session *session, ft_lit premise, ft_expr conclusion)
{
    ft_z3_session *s = ft_z3_of(session);
    Z3_ast ast = ft_z3_ast(s, conclusion);
    if (premise != FT_LIT_TRUE) ast = Z3_mk_implies(s->z3, literal_of(s, premise), ast);
    Z3_solver_assert(s->z3, s->solver, ast);
}

static ft_lit z3_name(ft_session *session, ft_expr named)
{
    ft_z3_session *s = ft_z3_of(session);
    ft_lit name = z3_variable(&s->base);
    Z3_solver_assert(s->z3, s->solver,
                     Z3_mk_iff(s->z3, s->variables.data[name], ft_z3_ast(s, named)));
    return name;
}

static bool z3_gave_up(ft_session *session)
{
    (void)session;
    return false;
}

/* ---- order ---- */

/* Z3 4.13 hands the callbacks of push and pop a callback object, fixes expressions instead of ids,
 * and returns a value from consequences; cmake/dependencies.cmake probes for it. */
#ifdef FT_Z3_EXPRESSION_CALLBACKS
#define FT_SCOPE_ARGUMENT , Z3_solver_callback callback
#define FT_SCOPE_UNUSED   (void)callback
#else
#define FT_SCOPE_ARGUMENT
#define FT_SCOPE_UNUSED (void)0
#endif

static void order_push(void *context FT_SCOPE_ARGUMENT)
{
    ft_z3_session *s = context;
    FT_SCOPE_UNUSED;
    uint32_t edges = s->order ? ft_order_graph_edges(s->order) : 0;
    ft_vec_push(&s->scopes, edges);
}

static void order_pop(void *context FT_SCOPE_ARGUMENT, unsigned count)
{
    ft_z3_session *s = context;
    FT_SCOPE_UNUSED;
    assert(count > 0 && count <= s->scopes.len);
    s->scopes.len -= count;
    if (s->order) ft_order_graph_undo(s->order, s->scopes.data[s->scopes.len]);
}

static void *order_fresh(void *context, Z3_context fresh)
{
    (void)fresh;
    return context;
}

/* Adds the edge that the atom's value means. False: it closes a cycle, and `conflict` lists the
 * atoms (indices in s->atoms) that cannot hold together. */
static bool order_fixed(ft_z3_session *s, uint32_t id, bool value)
{
    assert(s->order && id < s->atoms.len);
    ft_z3_atom atom = s->atoms.data[id];
    const uint32_t *labels;
    uint32_t count;
    uint32_t from = value ? atom.b : atom.a, to = value ? atom.a : atom.b;
    if (ft_order_graph_add(s->order, from, to, id + 1, &labels, &count)) return true;
    s->conflict.len = 0;
    ft_vec_push(&s->conflict, id);
    for (uint32_t i = 0; i < count; i++) {
        assert(labels[i] > 0 && labels[i] <= s->atoms.len);
        ft_vec_push(&s->conflict, labels[i] - 1);
    }
    return false;
}

#ifdef FT_Z3_EXPRESSION_CALLBACKS
static void on_fixed(void *context, Z3_solver_callback callback, Z3_ast atom, Z3_ast value)
{
    ft_z3_session *s = context;
    uint32_t id = 0;
    while (id < s->atoms.len && s->variables.data[s->atoms.data[id].literal] != atom) id++;
    if (id == s->atoms.len || order_fixed(s, id, Z3_get_bool_value(s->z3, value) == Z3_L_TRUE))
        return;
    s->scratch.len = 0;
    for (size_t i = 0; i < s->conflict.len; i++)
        ft_vec_push(&s->scratch, s->variables.data[s->atoms.data[s->conflict.data[i]].literal]);
    Z3_solver_propagate_consequence(s->z3, callback, (unsigned)s->scratch.len, s->scratch.data, 0,
                                    NULL, NULL, Z3_mk_false(s->z3));
}
#else
static void on_fixed(void *context, Z3_solver_callback callback, unsigned id, Z3_ast value)
{
    ft_z3_session *s = context;
    if (order_fixed(s, id, Z3_get_bool_value(s->z3, value) == Z3_L_TRUE)) return;
    Z3_solver_propagate_consequence(s->z3, callback, (unsigned)s->conflict.len, s->conflict.data, 0,
                                    NULL, NULL, Z3_mk_false(s->z3));
}
#endif

static void z3_order_begin(ft_session *session, uint32_t n_nodes)
{
    ft_z3_session *s = ft_z3_of(session);
    FT_REQUIRE(!s->order); /* once */
    s->order = ft_order_graph_new(n_nodes);
    Z3_solver_propagate_init(s->z3, s->solver, s, order_push, order_pop, order_fresh);
    Z3_solver_propagate_fixed(s->z3, s->solver, on_fixed);
}

static void z3_order_edge(ft_session *session, uint32_t a, uint32_t b)
{
    ft_z3_session *s = ft_z3_of(session);
    const uint32_t *labels;
    uint32_t count;
    FT_REQUIRE(s->order);
    /* Only a trace whose observed order is broken has a cycle here; the schedule will show it. */
    if (!ft_order_graph_add(s->order, a, b, 0, &labels, &count)) return;
}

static void z3_order_atom(ft_session *session, ft_lit literal, uint32_t a, uint32_t b)
{
    ft_z3_session *s = ft_z3_of(session);
    FT_REQUIRE(s->order && (size_t)literal < s->variables.len);
    ft_vec_push(&s->atoms, (ft_z3_atom){literal, a, b});
    /* An assertion before takes the solver back to its base level: what is registered deeper is
     * forgotten with that level, and its number given to another atom (4.8.12). Without one after
     * it, the next check can hang. */
    Z3_solver_assert(s->z3, s->solver, Z3_mk_true(s->z3));
    Z3_solver_propagate_register(s->z3, s->solver, s->variables.data[literal]);
    Z3_solver_assert(s->z3, s->solver, Z3_mk_true(s->z3));
}

/* ---- checks ---- */

static void set_timeout(ft_z3_session *s, uint32_t timeout_ms)
{
    if (timeout_ms == s->timeout) return;
    s->timeout = timeout_ms;
    Z3_params_set_uint(s->z3, s->params, Z3_mk_string_symbol(s->z3, "timeout"),
                       timeout_ms ? timeout_ms : UINT32_MAX);
    Z3_solver_set_params(s->z3, s->solver, s->params);
}

/* The literals of the core's expressions: equal expressions are one object here. */
static void read_core(ft_z3_session *s, const ft_lit *assumptions, uint32_t count)
{
    Z3_ast_vector core = Z3_solver_get_unsat_core(s->z3, s->solver);
    Z3_ast_vector_inc_ref(s->z3, core);
    ft_map wanted = {0};
    unsigned size = Z3_ast_vector_size(s->z3, core);
    for (unsigned i = 0; i < size; i++)
        ft_map_put(&wanted, (uint64_t)(uintptr_t)Z3_ast_vector_get(s->z3, core, i), 1);
    Z3_ast_vector_dec_ref(s->z3, core);
    for (uint32_t i = 0; i < count && size > 0; i++) {
        uint64_t once, key = (uint64_t)(uintptr_t)literal_of(s, assumptions[i]);
        if (!ft_map_get(&wanted, key, &once) || !once) continue;
        ft_map_put(&wanted, key, 0);
        ft_vec_push(&s->core, assumptions[i]);
    }
    ft_map_release(&wanted);
}

static uint32_t z3_core(const ft_session *session, const ft_lit **core)
{
    const ft_z3_session *s = (const ft_z3_session *)session;
    *core = s->core.data;
    return (uint32_t)s->core.len;
}

static ft_answer z3_check(ft_session *session, const ft_lit *assumptions, uint32_t count,
                          uint32_t timeout_ms)
{
    ft_z3_session *s = ft_z3_of(session);
    set_timeout(s, timeout_ms);
    s->scratch.len = s->core.len = 0;
    FT_CHECK(!s->order || ft_order_graph_is_sound(s->order));
    for (uint32_t i = 0; i < count; i++) {
        if (assumptions[i] == FT_LIT_TRUE) continue;
        if (assumptions[i] == FT_LIT_FALSE) {
            ft_vec_push(&s->core, FT_LIT_FALSE);
            return FT_ANSWER_UNSAT;
        }
        Z3_ast literal = literal_of(s, assumptions[i]);
        ft_vec_push(&s->scratch, literal);
    }
    if (s->model) Z3_model_dec_ref(s->z3, s->model);
    s->model = NULL;
    Z3_lbool answer =
        Z3_solver_check_assumptions(s->z3, s->solver, (unsigned)s->scratch.len, s->scratch.data);
    FT_CHECK(!s->order || ft_order_graph_is_sound(s->order));
    if (s->trouble[0]) return FT_ANSWER_UNKNOWN;
    if (answer == Z3_L_FALSE) {
        read_core(s, assumptions, count);
        return FT_ANSWER_UNSAT;
    }
    if (answer == Z3_L_UNDEF) return FT_ANSWER_UNKNOWN;
    s->model = Z3_solver_get_model(s->z3, s->solver);
    if (!s->model) return FT_ANSWER_UNKNOWN;
    Z3_model_inc_ref(s->z3, s->model);
    ft_vec_reserve(&s->cached, s->variables.len);
    s->cached.len = s->variables.len;
    memset(s->cached.data, 0, s->cached.len);
    return FT_ANSWER_SAT;
}

static bool z3_is_true(const ft_session *session, ft_lit literal)
{
    const ft_z3_session *s = (const ft_z3_session *)session;
    size_t variable = (size_t)abs(literal);
    if (variable == FT_LIT_TRUE) return literal > 0;
    if (variable >= s->cached.len) return literal < 0; /* made after the model: free, so false */
    assert(s->model);                                  /* the last answer was SAT */
    int8_t *value = &s->cached.data[variable];
    Z3_ast found;
    if (*value == 0)
        *value = Z3_model_eval(s->z3, s->model, s->variables.data[variable], true, &found) &&
                         Z3_get_bool_value(s->z3, found) == Z3_L_TRUE
                     ? 1
                     : -1;
    return (*value > 0) == (literal > 0);
}

int64_t ft_session_integer(ft_session *session, ft_expr variable)
{
    ft_z3_session *s = ft_z3_of(session);
    Z3_ast value;
    int64_t number = 0;
    assert(s->model); /* the last answer was SAT */
    if (Z3_model_eval(s->z3, s->model, ft_z3_ast(s, variable), true, &value))
        Z3_get_numeral_int64(s->z3, value, &number);
    return number;
}

uint64_t ft_session_bits(ft_session *session, ft_expr variable)
{
    ft_z3_session *s = ft_z3_of(session);
    Z3_ast value;
    uint64_t number = 0;
    assert(s->model); /* the last answer was SAT */
    if (!Z3_model_eval(s->z3, s->model, ft_z3_ast(s, variable), true, &value)) return 0;
    if (Z3_get_bool_value(s->z3, value) == Z3_L_TRUE) return 1;
    if (Z3_get_ast_kind(s->z3, value) == Z3_NUMERAL_AST)
        Z3_get_numeral_uint64(s->z3, value, &number);
    return number;
}

static const char *z3_trouble(const ft_session *session)
{
    const ft_z3_session *s = (const ft_z3_session *)session;
    return s->trouble[0] ? s->trouble : NULL;
}

static const ft_backend Z3_BACKEND = {
    .close = z3_close,
    .variable = z3_variable,
    .clause = z3_clause,
    .at_most = z3_at_most,
    .order_begin = z3_order_begin,
    .order_edge = z3_order_edge,
    .order_atom = z3_order_atom,
    .check = z3_check,
    .core = z3_core,
    .is_true = z3_is_true,
    .trouble = z3_trouble,
    .constant = z3_constant,
    .choice = z3_choice,
    .one_of = z3_one_of,
    .unknown = z3_unknown,
    .value = z3_value,
    .literal = z3_literal,
    .equal = z3_equal,
    .negation = z3_not,
    .conjunction = z3_and,
    .disjunction = z3_or,
    .imply = z3_imply,
    .name = z3_name,
    .term = ft_z3_term,
    .gave_up = z3_gave_up,
};
