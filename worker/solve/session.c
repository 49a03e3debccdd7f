#include "solve/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

#include "base/map.h"
#include "base/memory.h"
#include "solve/order_graph.h"

typedef struct order_atom {
    ft_lit literal;
    uint32_t a, b;
} order_atom;

struct ft_session {
    Z3_context z3;
    Z3_solver solver;
    Z3_params params;
    Z3_model model;
    Z3_sort boolean, integer;
    FT_VEC(Z3_ast) variables; /* variables.data[v]; 0 unused, 1 is true */
    FT_VEC(Z3_ast) scratch;
    int8_t *cached; /* per variable, in the last model: 0 not asked yet, 1 true, -1 false */
    size_t cached_cap;
    ft_order_graph *order;    /* NULL: no order */
    FT_VEC(order_atom) atoms; /* by the propagator's id */
    FT_VEC(uint32_t) scopes;  /* edges at each push */
    FT_VEC(unsigned) conflict;
    uint32_t timeout;
    char trouble[160];
};

static const struct {
    unsigned phase, arith, split;
} SETUP[FT_SESSION_KINDS] = {
#define FT_ROW(symbol, doc, phase, arith, split) [FT_SESSION_##symbol] = {phase, arith, split},
    FT_SESSION_TABLE(FT_ROW)
#undef FT_ROW
};

/* Z3 errors never abort: the session remembers the first and answers unknown from then on. The
 * handler has no user pointer, and a worker has one thread. */
static char last_trouble[160];

static void on_error(Z3_context z3, Z3_error_code code)
{
    snprintf(last_trouble, sizeof last_trouble, "%s", Z3_get_error_msg(z3, code));
}

static void configure(ft_session *s, ft_session_kind kind)
{
    Z3_params params = s->params;
    Z3_params_set_bool(s->z3, params, Z3_mk_string_symbol(s->z3, "auto_config"), false);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "phase_selection"),
                       SETUP[kind].phase);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "arith.solver"),
                       SETUP[kind].arith);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "case_split"), SETUP[kind].split);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "random_seed"), 7);
    Z3_solver_set_params(s->z3, s->solver, params);
}

ft_session *ft_session_open(ft_session_kind kind)
{
    ft_session *s = ft_calloc(1, sizeof *s);
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "auto_config", "false");
    s->z3 = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(s->z3, on_error);
    last_trouble[0] = 0;
    s->solver = Z3_mk_simple_solver(s->z3);
    Z3_solver_inc_ref(s->z3, s->solver);
    s->params = Z3_mk_params(s->z3);
    Z3_params_inc_ref(s->z3, s->params);
    configure(s, kind);
    s->boolean = Z3_mk_bool_sort(s->z3);
    s->integer = Z3_mk_int_sort(s->z3);
    ft_vec_push(&s->variables, (Z3_ast)NULL);
    ft_vec_push(&s->variables, Z3_mk_true(s->z3));
    return s;
}

void ft_session_close(ft_session *s)
{
    if (!s) return;
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
    free(s->cached);
    free(s);
}

ft_lit ft_session_variable(ft_session *s)
{
    Z3_ast variable = Z3_mk_fresh_const(s->z3, "b", s->boolean);
    ft_vec_push(&s->variables, variable);
    return (ft_lit)s->variables.len - 1;
}

ft_expr ft_session_literal(ft_session *s, ft_lit literal)
{
    if (literal == FT_LIT_FALSE) return Z3_mk_false(s->z3);
    Z3_ast variable = s->variables.data[abs(literal)];
    return literal > 0 ? variable : Z3_mk_not(s->z3, variable);
}

void ft_session_clause(ft_session *s, const ft_lit *literals, uint32_t count)
{
    s->scratch.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (literals[i] == FT_LIT_TRUE) return;
        if (literals[i] == FT_LIT_FALSE) continue;
        Z3_ast literal = ft_session_literal(s, literals[i]);
        ft_vec_push(&s->scratch, literal);
    }
    Z3_ast clause = s->scratch.len == 1
                        ? s->scratch.data[0]
                        : Z3_mk_or(s->z3, (unsigned)s->scratch.len, s->scratch.data);
    Z3_solver_assert(s->z3, s->solver, clause);
}

void ft_session_at_most(ft_session *s, const ft_lit *literals, uint32_t count, uint32_t k)
{
    if (count <= k) return;
    s->scratch.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        Z3_ast literal = ft_session_literal(s, literals[i]);
        ft_vec_push(&s->scratch, literal);
    }
    Z3_solver_assert(s->z3, s->solver, Z3_mk_atmost(s->z3, count, s->scratch.data, k));
}

static Z3_sort sort_of(ft_session *s, ft_sort sort)
{
    if (sort.kind == FT_SORT_BOOL) return s->boolean;
    if (sort.kind == FT_SORT_INT) return s->integer;
    return Z3_mk_bv_sort(s->z3, sort.width);
}

ft_expr ft_session_constant(ft_session *s, ft_sort sort)
{
    return Z3_mk_fresh_const(s->z3, "v", sort_of(s, sort));
}

ft_expr ft_session_order_variable(ft_session *s)
{
    return Z3_mk_fresh_const(s->z3, "o", s->integer);
}

ft_expr ft_session_value(ft_session *s, ft_value value)
{
    if (value.sort.kind == FT_SORT_BOOL) return value.bits ? Z3_mk_true(s->z3) : Z3_mk_false(s->z3);
    if (value.sort.kind == FT_SORT_INT) return Z3_mk_int64(s->z3, (int64_t)value.bits, s->integer);
    return Z3_mk_unsigned_int64(s->z3, value.bits, sort_of(s, value.sort));
}

ft_expr ft_session_less(ft_session *s, ft_expr a, ft_expr b)
{
    return Z3_mk_lt(s->z3, a, b);
}

ft_expr ft_session_equal(ft_session *s, ft_expr a, ft_expr b)
{
    return Z3_mk_eq(s->z3, a, b);
}

ft_expr ft_session_not(ft_session *s, ft_expr a)
{
    return a ? Z3_mk_not(s->z3, a) : Z3_mk_false(s->z3);
}

ft_expr ft_session_add(ft_session *s, ft_expr a, int addend)
{
    Z3_ast sum[2] = {a, Z3_mk_int(s->z3, addend, s->integer)};
    return Z3_mk_add(s->z3, 2, sum);
}

ft_expr ft_session_and(ft_session *s, const ft_expr *all, uint32_t count)
{
    FT_VEC(Z3_ast) kept = {0};
    for (uint32_t i = 0; i < count; i++)
        if (all[i]) ft_vec_push(&kept, all[i]);
    ft_expr result = kept.len == 0   ? NULL
                     : kept.len == 1 ? kept.data[0]
                                     : Z3_mk_and(s->z3, (unsigned)kept.len, kept.data);
    ft_vec_release(&kept);
    return result;
}

ft_expr ft_session_or(ft_session *s, const ft_expr *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!all[i]) return NULL;
    if (count == 1) return all[0];
    return Z3_mk_or(s->z3, count, all);
}

void ft_session_imply(ft_session *s, ft_lit premise, ft_expr formula)
{
    if (!formula || premise == FT_LIT_FALSE) return;
    if (premise != FT_LIT_TRUE)
        formula = Z3_mk_implies(s->z3, ft_session_literal(s, premise), formula);
    Z3_solver_assert(s->z3, s->solver, formula);
}

ft_lit ft_session_name(ft_session *s, ft_expr formula)
{
    if (!formula) return FT_LIT_TRUE;
    ft_lit name = ft_session_variable(s);
    Z3_solver_assert(s->z3, s->solver, Z3_mk_iff(s->z3, s->variables.data[name], formula));
    return name;
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
    ft_session *s = context;
    FT_SCOPE_UNUSED;
    uint32_t edges = s->order ? ft_order_graph_edges(s->order) : 0;
    ft_vec_push(&s->scopes, edges);
}

static void order_pop(void *context FT_SCOPE_ARGUMENT, unsigned count)
{
    ft_session *s = context;
    FT_SCOPE_UNUSED;
    s->scopes.len -= count;
    if (s->order) ft_order_graph_undo(s->order, s->scopes.data[s->scopes.len]);
}

static void *order_fresh(void *context, Z3_context fresh)
{
    (void)fresh;
    return context;
}

/* The edge that the atom's value stands for; false: it closes a cycle, and `conflict` lists the
 * atoms (their indices in s->atoms) that cannot hold together. */
static bool order_fixed(ft_session *s, uint32_t id, bool value)
{
    order_atom atom = s->atoms.data[id];
    const uint32_t *labels;
    uint32_t count;
    uint32_t from = value ? atom.b : atom.a, to = value ? atom.a : atom.b;
    if (ft_order_graph_add(s->order, from, to, id + 1, &labels, &count)) return true;
    s->conflict.len = 0;
    ft_vec_push(&s->conflict, id);
    for (uint32_t i = 0; i < count; i++) ft_vec_push(&s->conflict, labels[i] - 1);
    return false;
}

#ifdef FT_Z3_EXPRESSION_CALLBACKS
static void on_fixed(void *context, Z3_solver_callback callback, Z3_ast atom, Z3_ast value)
{
    ft_session *s = context;
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
    ft_session *s = context;
    if (order_fixed(s, id, Z3_get_bool_value(s->z3, value) == Z3_L_TRUE)) return;
    Z3_solver_propagate_consequence(s->z3, callback, (unsigned)s->conflict.len, s->conflict.data, 0,
                                    NULL, NULL, Z3_mk_false(s->z3));
}
#endif

void ft_session_order_begin(ft_session *s, uint32_t n_nodes)
{
    s->order = ft_order_graph_new(n_nodes);
    Z3_solver_propagate_init(s->z3, s->solver, s, order_push, order_pop, order_fresh);
    Z3_solver_propagate_fixed(s->z3, s->solver, on_fixed);
}

void ft_session_order_edge(ft_session *s, uint32_t a, uint32_t b)
{
    const uint32_t *labels;
    uint32_t count;
    /* Only a trace whose observed order is broken has a cycle here; the schedule will show it. */
    if (!ft_order_graph_add(s->order, a, b, 0, &labels, &count)) return;
}

void ft_session_order_atom(ft_session *s, ft_lit literal, uint32_t a, uint32_t b)
{
    ft_vec_push(&s->atoms, (order_atom){literal, a, b});
    /* An assertion before takes the solver back to its base level: what is registered deeper is
     * forgotten with that level, and its number given to another atom (4.8.12). Without one after
     * it, the next check can hang. */
    Z3_solver_assert(s->z3, s->solver, Z3_mk_true(s->z3));
    Z3_solver_propagate_register(s->z3, s->solver, s->variables.data[literal]);
    Z3_solver_assert(s->z3, s->solver, Z3_mk_true(s->z3));
}

/* ---- terms -------------------------------------------------------------------------------------
 */

typedef struct pair {
    ft_expr value, defined; /* defined NULL: always */
} pair;

typedef struct translation {
    ft_session *s;
    const ft_term_pool *pool;
    ft_resolve resolve;
    void *context;
    ft_map done; /* term -> index in pairs */
    FT_VEC(pair) pairs;
} translation;

typedef Z3_ast (*make_unary)(Z3_context, Z3_ast);
typedef Z3_ast (*make_binary)(Z3_context, Z3_ast, Z3_ast);
typedef Z3_ast (*make_nary)(Z3_context, unsigned, Z3_ast const *);

/* How an operator folds over its arguments. Chains (a < b < c) become conjunctions of pairs. */
static const struct {
    make_unary unary;
    make_binary fold, chain;
    make_nary nary;
    bool divides;
} MAKE[FT_OP_COUNT] = {
    [FT_OP_NOT] = {.unary = Z3_mk_not},
    [FT_OP_AND] = {.nary = Z3_mk_and},
    [FT_OP_OR] = {.nary = Z3_mk_or},
    [FT_OP_XOR] = {.fold = Z3_mk_xor},
    [FT_OP_EQ] = {.chain = Z3_mk_eq},
    [FT_OP_DISTINCT] = {.nary = Z3_mk_distinct},
    [FT_OP_ADD] = {.nary = Z3_mk_add},
    [FT_OP_SUB] = {.unary = Z3_mk_unary_minus, .nary = Z3_mk_sub},
    [FT_OP_MUL] = {.nary = Z3_mk_mul},
    [FT_OP_DIV] = {.fold = Z3_mk_div, .divides = true},
    [FT_OP_MOD] = {.fold = Z3_mk_mod, .divides = true},
    [FT_OP_LT] = {.chain = Z3_mk_lt},
    [FT_OP_LE] = {.chain = Z3_mk_le},
    [FT_OP_GT] = {.chain = Z3_mk_gt},
    [FT_OP_GE] = {.chain = Z3_mk_ge},
    [FT_OP_BVNOT] = {.unary = Z3_mk_bvnot},
    [FT_OP_BVNEG] = {.unary = Z3_mk_bvneg},
    [FT_OP_BVADD] = {.fold = Z3_mk_bvadd},
    [FT_OP_BVSUB] = {.fold = Z3_mk_bvsub},
    [FT_OP_BVMUL] = {.fold = Z3_mk_bvmul},
    [FT_OP_BVUDIV] = {.fold = Z3_mk_bvudiv, .divides = true},
    [FT_OP_BVUREM] = {.fold = Z3_mk_bvurem, .divides = true},
    [FT_OP_BVSDIV] = {.fold = Z3_mk_bvsdiv, .divides = true},
    [FT_OP_BVSREM] = {.fold = Z3_mk_bvsrem, .divides = true},
    [FT_OP_BVAND] = {.fold = Z3_mk_bvand},
    [FT_OP_BVOR] = {.fold = Z3_mk_bvor},
    [FT_OP_BVXOR] = {.fold = Z3_mk_bvxor},
    [FT_OP_BVSHL] = {.fold = Z3_mk_bvshl},
    [FT_OP_BVLSHR] = {.fold = Z3_mk_bvlshr},
    [FT_OP_BVASHR] = {.fold = Z3_mk_bvashr},
    [FT_OP_BVULT] = {.chain = Z3_mk_bvult},
    [FT_OP_BVULE] = {.chain = Z3_mk_bvule},
    [FT_OP_BVUGT] = {.chain = Z3_mk_bvugt},
    [FT_OP_BVUGE] = {.chain = Z3_mk_bvuge},
    [FT_OP_BVSLT] = {.chain = Z3_mk_bvslt},
    [FT_OP_BVSLE] = {.chain = Z3_mk_bvsle},
    [FT_OP_BVSGT] = {.chain = Z3_mk_bvsgt},
    [FT_OP_BVSGE] = {.chain = Z3_mk_bvsge},
    [FT_OP_CONCAT] = {.fold = Z3_mk_concat},
};

static Z3_ast zero_of(ft_session *s, ft_sort sort)
{
    return ft_session_value(s, (ft_value){sort, 0});
}

/* Operators outside the table: those with indices or a shape of their own. */
static Z3_ast make_special(ft_session *s, const ft_term_node *node, const Z3_ast *args)
{
    Z3_context z3 = s->z3;
    if (node->op == FT_OP_EXTRACT)
        return Z3_mk_extract(z3, node->index[0], node->index[1], args[0]);
    if (node->op == FT_OP_ZERO_EXTEND) return Z3_mk_zero_ext(z3, node->index[0], args[0]);
    if (node->op == FT_OP_SIGN_EXTEND) return Z3_mk_sign_ext(z3, node->index[0], args[0]);
    if (node->op == FT_OP_ABS)
        return Z3_mk_ite(z3, Z3_mk_lt(z3, args[0], zero_of(s, FT_INT_SORT)),
                         Z3_mk_unary_minus(z3, args[0]), args[0]);
    Z3_ast result = args[node->n_children - 1]; /* => is right-associative */
    for (uint32_t i = node->n_children - 1; i > 0; i--)
        result = Z3_mk_implies(z3, args[i - 1], result);
    return result;
}

static Z3_ast make(ft_session *s, const ft_term_node *node, const Z3_ast *args)
{
    uint32_t n = node->n_children;
    if (n == 1 && MAKE[node->op].unary) return MAKE[node->op].unary(s->z3, args[0]);
    if (MAKE[node->op].nary) return MAKE[node->op].nary(s->z3, n, args);
    if (MAKE[node->op].fold) {
        Z3_ast result = args[0];
        for (uint32_t i = 1; i < n; i++) result = MAKE[node->op].fold(s->z3, result, args[i]);
        return result;
    }
    if (!MAKE[node->op].chain) return make_special(s, node, args);
    if (n == 2) return MAKE[node->op].chain(s->z3, args[0], args[1]);
    FT_VEC(Z3_ast) links = {0};
    for (uint32_t i = 1; i < n; i++) {
        Z3_ast link = MAKE[node->op].chain(s->z3, args[i - 1], args[i]);
        ft_vec_push(&links, link);
    }
    Z3_ast result = Z3_mk_and(s->z3, (unsigned)links.len, links.data);
    ft_vec_release(&links);
    return result;
}

static pair translate(translation *t, ft_term term);

static pair translate_ite(translation *t, const ft_term_node *node)
{
    pair c = translate(t, node->children[0]);
    pair a = translate(t, node->children[1]);
    pair b = translate(t, node->children[2]);
    Z3_context z3 = t->s->z3;
    ft_expr branch = NULL;
    if (a.defined || b.defined) {
        Z3_ast yes = a.defined ? a.defined : Z3_mk_true(z3);
        Z3_ast no = b.defined ? b.defined : Z3_mk_true(z3);
        branch = Z3_mk_ite(z3, c.value, yes, no);
    }
    ft_expr both[2] = {c.defined, branch};
    return (pair){Z3_mk_ite(z3, c.value, a.value, b.value), ft_session_and(t->s, both, 2)};
}

static pair translate_apply(translation *t, const ft_term_node *node)
{
    FT_VEC(ft_expr) args = {0};
    FT_VEC(ft_expr) defined = {0};
    for (uint32_t i = 0; i < node->n_children; i++) {
        pair child = translate(t, node->children[i]);
        ft_vec_push(&args, child.value);
        ft_vec_push(&defined, child.defined);
        if (i == 0 || !MAKE[node->op].divides) continue;
        Z3_ast zero = zero_of(t->s, ft_term_sort(t->pool, node->children[i]));
        Z3_ast nonzero = Z3_mk_not(t->s->z3, Z3_mk_eq(t->s->z3, child.value, zero));
        ft_vec_push(&defined, nonzero);
    }
    pair result = {make(t->s, node, args.data),
                   ft_session_and(t->s, defined.data, (uint32_t)defined.len)};
    ft_vec_release(&args);
    ft_vec_release(&defined);
    return result;
}

static pair translate(translation *t, ft_term term)
{
    uint64_t at;
    if (ft_map_get(&t->done, term, &at)) return t->pairs.data[at];
    ft_term_node node = ft_term_get(t->pool, term);
    pair result;
    if (node.op == FT_OP_LITERAL)
        result = (pair){ft_session_value(t->s, (ft_value){node.sort, node.bits}), NULL};
    else if (node.op == FT_OP_SYMBOL)
        result = (pair){t->resolve(t->context, node.symbol), NULL};
    else if (node.op == FT_OP_ITE)
        result = translate_ite(t, &node);
    else
        result = translate_apply(t, &node);
    ft_vec_push(&t->pairs, result);
    ft_map_put(&t->done, term, t->pairs.len - 1);
    return result;
}

ft_expr ft_session_term(ft_session *s, const ft_term_pool *pool, ft_term term, ft_resolve resolve,
                        void *context, ft_expr *defined)
{
    translation t = {.s = s, .pool = pool, .resolve = resolve, .context = context};
    pair result = translate(&t, term);
    ft_map_release(&t.done);
    ft_vec_release(&t.pairs);
    if (defined) *defined = result.defined;
    return result.value;
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static void set_timeout(ft_session *s, uint32_t timeout_ms)
{
    if (timeout_ms == s->timeout) return;
    s->timeout = timeout_ms;
    Z3_params_set_uint(s->z3, s->params, Z3_mk_string_symbol(s->z3, "timeout"),
                       timeout_ms ? timeout_ms : UINT32_MAX);
    Z3_solver_set_params(s->z3, s->solver, s->params);
}

ft_answer ft_session_check(ft_session *s, const ft_lit *assumptions, uint32_t count,
                           uint32_t timeout_ms)
{
    set_timeout(s, timeout_ms);
    s->scratch.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (assumptions[i] == FT_LIT_TRUE) continue;
        if (assumptions[i] == FT_LIT_FALSE) return FT_ANSWER_UNSAT;
        Z3_ast literal = ft_session_literal(s, assumptions[i]);
        ft_vec_push(&s->scratch, literal);
    }
    if (s->model) Z3_model_dec_ref(s->z3, s->model);
    s->model = NULL;
    Z3_lbool answer =
        Z3_solver_check_assumptions(s->z3, s->solver, (unsigned)s->scratch.len, s->scratch.data);
    if (last_trouble[0]) {
        memcpy(s->trouble, last_trouble, sizeof s->trouble);
        return FT_ANSWER_UNKNOWN;
    }
    if (answer == Z3_L_FALSE) return FT_ANSWER_UNSAT;
    if (answer == Z3_L_UNDEF) return FT_ANSWER_UNKNOWN;
    s->model = Z3_solver_get_model(s->z3, s->solver);
    if (!s->model) return FT_ANSWER_UNKNOWN;
    Z3_model_inc_ref(s->z3, s->model);
    s->cached = ft_vec_grow(s->cached, &s->cached_cap, s->variables.len, 1);
    memset(s->cached, 0, s->cached_cap);
    return FT_ANSWER_SAT;
}

bool ft_session_holds(ft_session *s, ft_expr formula)
{
    if (!formula) return true;
    Z3_ast value;
    if (!Z3_model_eval(s->z3, s->model, formula, true, &value)) return false;
    return Z3_get_bool_value(s->z3, value) == Z3_L_TRUE;
}

bool ft_session_true(ft_session *s, ft_lit literal)
{
    size_t variable = (size_t)abs(literal);
    if (variable == FT_LIT_TRUE) return literal > 0;
    if (variable >= s->cached_cap) return literal < 0; /* made after the model: free, so false */
    if (s->cached[variable] == 0)
        s->cached[variable] = ft_session_holds(s, s->variables.data[variable]) ? 1 : -1;
    return (s->cached[variable] > 0) == (literal > 0);
}

int64_t ft_session_integer(ft_session *s, ft_expr variable)
{
    Z3_ast value;
    int64_t number = 0;
    if (Z3_model_eval(s->z3, s->model, variable, true, &value))
        Z3_get_numeral_int64(s->z3, value, &number);
    return number;
}

const char *ft_session_trouble(const ft_session *s)
{
    return s->trouble[0] ? s->trouble : NULL;
}
