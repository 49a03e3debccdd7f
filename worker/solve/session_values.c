#include "solve/session_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

typedef struct root {
    uint32_t n;
    const ft_lit *literals; /* at most one is true; exactly one where the value is used */
} root;

/* VALUE is a table; the other kinds are conditions without a clause or literal as yet. BEYOND: too
 * large, so constraints on it are left out. */
typedef enum few_kind { VALUE, EQUAL, ALL, ANY, ROWS, BEYOND } few_kind;

typedef enum outcome { FALSE_ROW, TRUE_ROW, UNDEFINED_ROW } outcome;

typedef struct few {
    few_kind kind;
    ft_sort sort;
    bool negated; /* EQUAL, ROWS */
    const root *root;
    const uint64_t *bits;   /* VALUE: for each of the root's */
    const uint32_t *sorted; /* VALUE: the root's indices by the value, NULL until needed */
    const struct few *const *parts;
    const root *const *roots; /* ROWS: outcome of each combination, the first root's fastest */
    const uint8_t *outcomes;
    uint32_t n_parts; /* or roots */
} few;

static ft_order_session *of(ft_session *session)
{
    return (ft_order_session *)session;
}

static void *take(ft_order_session *s, size_t size)
{
    if (!s->arena) s->arena = ft_arena_new();
    return ft_arena_alloc(s->arena, size);
}

static void *copy(ft_order_session *s, const void *data, size_t size)
{
    void *place = take(s, size + 1);
    return size ? memcpy(place, data, size) : place;
}

static const few *few_of(ft_expr e)
{
    return (const few *)e;
}

/* The entries of a table are what its kind promises. */
static bool few_is_sound(const few *f)
{
    for (uint32_t i = 0; f->kind != VALUE && f->kind != BEYOND && f->kind != ROWS && i < f->n_parts;
         i++)
        if (!f->parts[i]) return false;
    if (f->kind == EQUAL)
        return f->n_parts == 2 && f->parts[0]->kind == VALUE && f->parts[1]->kind == VALUE;
    if (f->kind == ROWS) return f->n_parts >= 2 && f->roots && f->outcomes;
    for (uint32_t i = 0; f->kind == VALUE && f->sort.kind == FT_SORT_BOOL && i < f->root->n; i++)
        if (f->bits[i] > 1) return false;
    return f->kind != VALUE || (f->root->n <= FT_VALUES_MOST_ROWS && f->bits);
}

static ft_expr keep(ft_order_session *s, few f)
{
    FT_CHECK(few_is_sound(&f));
    return (ft_expr)copy(s, &f, sizeof f);
}

static ft_expr beyond(ft_order_session *s)
{
    return keep(s, (few){.kind = BEYOND});
}

/* ---- values ---- */

static ft_expr value_of(ft_order_session *s, ft_sort sort, const root *r, const uint64_t *bits)
{
    return keep(s, (few){.kind = VALUE, .sort = sort, .root = r, .bits = bits});
}

static const root *new_root(ft_order_session *s, uint32_t n)
{
    ft_lit *literals = take(s, (n + 1) * sizeof *literals);
    if (n == 1) literals[0] = FT_LIT_TRUE;
    if (n == 2) {
        literals[1] = ft_cdcl_variable(s->solver);
        literals[0] = -literals[1];
    }
    for (uint32_t i = 0; n > 2 && i < n; i++) literals[i] = ft_cdcl_variable(s->solver);
    if (n > 2) ft_cdcl_at_most(s->solver, literals, n, 1);
    root *r = take(s, sizeof *r);
    *r = (root){n, literals};
    return r;
}

static ft_expr choice(ft_order_session *s, ft_sort sort, const uint64_t *bits, uint32_t count)
{
    if (count == 0 || count > FT_VALUES_MOST) return beyond(s);
    return value_of(s, sort, new_root(s, count), copy(s, bits, count * sizeof *bits));
}

ft_expr ft_values_choice(ft_session *session, ft_sort sort, const uint64_t *bits, uint32_t count)
{
    return choice(of(session), sort, bits, count);
}

ft_expr ft_values_constant(ft_session *session, ft_sort sort)
{
    const uint64_t both[2] = {0, 1};
    if (sort.kind == FT_SORT_BOOL) return choice(of(session), sort, both, 2);
    return beyond(of(session));
}

ft_expr ft_values_value(ft_session *session, ft_value value)
{
    return choice(of(session), value.sort, &value.bits, 1);
}

ft_expr ft_values_literal(ft_session *session, ft_lit literal)
{
    ft_order_session *s = of(session);
    static const uint64_t both[2] = {0, 1};
    const ft_lit literals[2] = {-literal, literal};
    const root r = {2, copy(s, literals, sizeof literals)};
    return value_of(s, FT_BOOL_SORT, copy(s, &r, sizeof r), both);
}

/* A condition as a value, for tables that have it as an input. */
static const few *as_value(ft_order_session *s, ft_expr e)
{
    const few *f = few_of(e);
    if (!f) return few_of(ft_values_literal(&s->base, FT_LIT_TRUE));
    if (f->kind == VALUE || f->kind == BEYOND) return f;
    assert(f->sort.kind == FT_SORT_BOOL);
    /* From now on its name stands for it, wherever it is used. */
    *(few *)e = *few_of(ft_values_literal(&s->base, ft_values_name(&s->base, e)));
    assert(f->kind == VALUE);
    return f;
}

typedef struct entry {
    uint64_t bits;
    uint32_t index;
} entry;

static int by_bits(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->bits != b->bits) return a->bits < b->bits ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static const uint32_t *sorted(ft_order_session *s, const few *f)
{
    if (f->sorted) return f->sorted;
    uint32_t n = f->root->n, *indices = take(s, (n + 1) * sizeof *indices);
    entry *entries = ft_alloc((n + 1) * sizeof *entries);
    for (uint32_t i = 0; i < n; i++) entries[i] = (entry){f->bits[i], i};
    qsort(entries, n, sizeof *entries, by_bits);
    for (uint32_t i = 0; i < n; i++) indices[i] = entries[i].index;
    free(entries);
    ((few *)(uintptr_t)f)->sorted = indices;
    return indices;
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Sorts and drops repetitions. */
static uint32_t make_distinct(uint64_t *bits, size_t count)
{
    uint32_t kept = 0;
    if (count > 0) qsort(bits, count, sizeof *bits, by_number);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || bits[i] != bits[kept - 1]) bits[kept++] = bits[i];
    return kept;
}

ft_expr ft_values_one_of(ft_session *session, ft_sort sort, const ft_expr *all, uint32_t count)
{
    ft_order_session *s = of(session);
    FT_VEC(uint64_t) bits = {0};
    bool known = true;
    for (uint32_t i = 0; i < count && known; i++) {
        const few *f = as_value(s, all[i]);
        known = f->kind == VALUE;
        for (uint32_t k = 0; known && k < f->root->n; k++) ft_vec_push(&bits, f->bits[k]);
    }
    ft_expr result =
        known ? choice(s, sort, bits.data, make_distinct(bits.data, bits.len)) : beyond(s);
    ft_vec_release(&bits);
    return result;
}

/* ---- conditions ---- */

/* A condition on one root. */
static ft_expr table(ft_order_session *s, const root *r, const uint64_t *truth)
{
    return value_of(s, FT_BOOL_SORT, r, truth);
}

ft_expr ft_values_equal(ft_session *session, ft_expr a, ft_expr b)
{
    ft_order_session *s = of(session);
    const few *x = as_value(s, a), *y = as_value(s, b);
    if (x->kind == BEYOND || y->kind == BEYOND) return beyond(s);
    assert(x->sort.kind == y->sort.kind && x->sort.width == y->sort.width);
    if (x->root->n == 1 && y->root->n != 1) return ft_values_equal(session, b, a);
    if (y->root->n == 1 || x->root == y->root) {
        uint64_t *truth = take(s, (x->root->n + 1) * sizeof *truth);
        for (uint32_t i = 0; i < x->root->n; i++)
            truth[i] = x->bits[i] == y->bits[x->root == y->root ? i : 0];
        return table(s, x->root, truth);
    }
    const few *parts[2] = {x, y};
    return keep(s, (few){.kind = EQUAL,
                         .sort = FT_BOOL_SORT,
                         .parts = copy(s, parts, sizeof parts),
                         .n_parts = 2});
}

static ft_expr several(ft_order_session *s, few_kind kind, const ft_expr *all, uint32_t count)
{
    return keep(s, (few){.kind = kind,
                         .sort = FT_BOOL_SORT,
                         .parts = copy(s, all, count * sizeof *all),
                         .n_parts = count});
}

ft_expr ft_values_not(ft_session *session, ft_expr a)
{
    ft_order_session *s = of(session);
    const few *f = few_of(a);
    if (!f) return ft_values_literal(session, FT_LIT_FALSE);
    if (f->kind == BEYOND) return a;
    if (f->kind == VALUE) {
        uint64_t *truth = take(s, (f->root->n + 1) * sizeof *truth);
        for (uint32_t i = 0; i < f->root->n; i++) truth[i] = !f->bits[i];
        return table(s, f->root, truth);
    }
    if (f->kind == EQUAL || f->kind == ROWS) {
        few other = *f;
        other.negated = !other.negated;
        return keep(s, other);
    }
    FT_VEC(ft_expr) parts = {0};
    for (uint32_t i = 0; i < f->n_parts; i++) {
        ft_expr part = ft_values_not(session, (ft_expr)(uintptr_t)f->parts[i]);
        ft_vec_push(&parts, part);
    }
    assert(f->kind == ALL || f->kind == ANY);
    ft_expr result = several(s, f->kind == ALL ? ANY : ALL, parts.data, f->n_parts);
    ft_vec_release(&parts);
    return result;
}

ft_expr ft_values_and(ft_session *session, const ft_expr *all, uint32_t count)
{
    FT_VEC(ft_expr) kept = {0};
    for (uint32_t i = 0; i < count; i++)
        if (all[i]) ft_vec_push(&kept, all[i]);
    ft_expr result = kept.len == 0   ? NULL
                     : kept.len == 1 ? kept.data[0]
                                     : several(of(session), ALL, kept.data, (uint32_t)kept.len);
    ft_vec_release(&kept);
    return result;
}

ft_expr ft_values_or(ft_session *session, const ft_expr *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (few_of(all[i])->kind == BEYOND) return all[i];
    return several(of(session), ANY, all, count);
}

/* ---- clauses ---- */

typedef FT_VEC(ft_lit) clause;

/* Always one or the other: one variable's two literals. */
static bool is_pair(const root *r)
{
    return r->n == 2 && r->literals[0] == -r->literals[1];
}

static void imply_value(ft_order_session *s, ft_lit premise, const few *f)
{
    clause some = {0};
    bool excludes = false;
    assert(f->sort.kind == FT_SORT_BOOL);
    ft_vec_push(&some, -premise);
    for (uint32_t i = 0; i < f->root->n; i++) {
        if (f->bits[i])
            ft_vec_push(&some, f->root->literals[i]);
        else
            excludes = true;
    }
    for (uint32_t i = 0; some.len > 1 && !is_pair(f->root) && i < f->root->n; i++)
        if (!f->bits[i]) ft_cdcl_clause(s->solver, (ft_lit[2]){-premise, -f->root->literals[i]}, 2);
    if (excludes || f->root->n == 0) ft_cdcl_clause(s->solver, some.data, (uint32_t)some.len);
    ft_vec_release(&some);
}

/* b has a's value: the premise and each value of a imply one of b's entries with that value. */
static void imply_same(ft_order_session *s, ft_lit premise, const few *a, const few *b)
{
    const uint32_t *in_a = sorted(s, a), *in_b = sorted(s, b);
    uint32_t from = 0;
    clause c = {0};
    for (uint32_t i = 0; i < a->root->n; i++) {
        uint64_t bits = a->bits[in_a[i]];
        while (from < b->root->n && b->bits[in_b[from]] < bits) from++;
        c.len = 0;
        ft_vec_push(&c, -premise);
        ft_vec_push(&c, -a->root->literals[in_a[i]]);
        for (uint32_t k = from; k < b->root->n && b->bits[in_b[k]] == bits; k++)
            ft_vec_push(&c, b->root->literals[in_b[k]]);
        ft_cdcl_clause(s->solver, c.data, (uint32_t)c.len);
    }
    ft_vec_release(&c);
}

static void imply_different(ft_order_session *s, ft_lit premise, const few *a, const few *b)
{
    const uint32_t *in_a = sorted(s, a), *in_b = sorted(s, b);
    uint32_t from = 0;
    for (uint32_t i = 0; i < a->root->n; i++) {
        uint64_t bits = a->bits[in_a[i]];
        while (from < b->root->n && b->bits[in_b[from]] < bits) from++;
        for (uint32_t k = from; k < b->root->n && b->bits[in_b[k]] == bits; k++)
            ft_cdcl_clause(
                s->solver,
                (ft_lit[3]){-premise, -a->root->literals[in_a[i]], -b->root->literals[in_b[k]]}, 3);
    }
}

static void imply_some_value(ft_order_session *s, ft_lit premise, const few *f)
{
    clause c = {0};
    ft_vec_push(&c, -premise);
    for (uint32_t i = 0; i < f->root->n; i++) ft_vec_push(&c, f->root->literals[i]);
    if (!is_pair(f->root)) ft_cdcl_clause(s->solver, c.data, (uint32_t)c.len);
    ft_vec_release(&c);
}

/* The clause that excludes the combination, unless the literal `unless` is true. */
static void exclude(ft_order_session *s, const few *f, uint32_t row, ft_lit premise, ft_lit unless)
{
    ft_lit c[16];
    uint32_t n = 0;
    assert(f->n_parts + 2 <= sizeof c / sizeof *c);
    c[n++] = -premise;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        c[n++] = -f->roots[i]->literals[row % f->roots[i]->n];
        row /= f->roots[i]->n;
    }
    assert(row == 0); /* it was one of the combinations */
    c[n++] = unless;
    ft_cdcl_clause(s->solver, c, n);
}

static uint32_t count_rows(const root *const *roots, uint32_t n)
{
    uint64_t rows = 1;
    for (uint32_t i = 0; i < n && rows <= FT_VALUES_MOST_ROWS; i++) rows *= roots[i]->n;
    return rows > FT_VALUES_MOST_ROWS ? UINT32_MAX : (uint32_t)rows;
}

static void imply_rows(ft_order_session *s, ft_lit premise, const few *f)
{
    uint32_t rows = count_rows(f->roots, f->n_parts);
    assert(rows != UINT32_MAX);
    outcome wrong = f->negated ? TRUE_ROW : FALSE_ROW;
    for (uint32_t row = 0; row < rows; row++)
        if (f->outcomes[row] == wrong) exclude(s, f, row, premise, FT_LIT_FALSE);
}

static void imply_any(ft_order_session *s, ft_lit premise, const few *f)
{
    clause c = {0};
    ft_vec_push(&c, -premise);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        ft_lit part = ft_values_name(&s->base, (ft_expr)(uintptr_t)f->parts[i]);
        ft_vec_push(&c, part);
    }
    ft_cdcl_clause(s->solver, c.data, (uint32_t)c.len);
    ft_vec_release(&c);
}

void ft_values_imply(ft_session *session, ft_lit premise, ft_expr formula)
{
    ft_order_session *s = of(session);
    FT_REQUIRE(formula && premise != 0);
    const few *f = few_of(formula);
    switch (f->kind) {
    case VALUE:
        imply_value(s, premise, f);
        break;
    case EQUAL:
        if (f->negated) {
            imply_different(s, premise, f->parts[0], f->parts[1]);
            break;
        }
        imply_some_value(s, premise, f->parts[0]);
        imply_some_value(s, premise, f->parts[1]);
        imply_same(s, premise, f->parts[0], f->parts[1]);
        imply_same(s, premise, f->parts[1], f->parts[0]);
        break;
    case ALL:
        for (uint32_t i = 0; i < f->n_parts; i++)
            ft_session_imply(session, premise, (ft_expr)(uintptr_t)f->parts[i]);
        break;
    case ANY:
        imply_any(s, premise, f);
        break;
    case ROWS:
        imply_rows(s, premise, f);
        break;
    case BEYOND:
        s->gave_up = true;
        break;
    }
}

/* A literal that is equivalent to the condition, 0: none. */
static ft_lit known_literal(const few *f)
{
    uint32_t yes = 0, no = 0, last_yes = 0, last_no = 0;
    for (uint32_t i = 0; i < f->root->n; i++) {
        if (f->bits[i])
            yes++, last_yes = i;
        else
            no++, last_no = i;
    }
    if (yes == 0) return FT_LIT_FALSE;
    if (no == 0) return FT_LIT_TRUE;
    return yes == 1 ? f->root->literals[last_yes] : no == 1 ? -f->root->literals[last_no] : 0;
}

ft_lit ft_values_name(ft_session *session, ft_expr formula)
{
    ft_order_session *s = of(session);
    const few *f = few_of(formula);
    if (!f) return FT_LIT_TRUE;
    ft_lit known = f->kind == VALUE ? known_literal(f) : 0;
    if (known) return known;
    ft_lit name = ft_cdcl_variable(s->solver);
    ft_values_imply(session, name, formula);
    ft_session_imply(session, -name, ft_values_not(session, formula));
    return name;
}

bool ft_values_gave_up(ft_session *session)
{
    bool gave_up = of(session)->gave_up;
    of(session)->gave_up = false;
    return gave_up;
}

/* ---- terms ---- */

enum { MOST_ROOTS = 8 };

typedef struct leaf {
    ft_symbol symbol;
    const few *value;
    uint32_t at; /* its root's place in roots */
} leaf;

typedef struct application {
    ft_order_session *s;
    const ft_term_pool *pool;
    ft_term term;
    ft_resolve resolve;
    void *context;
    FT_VEC(leaf) leaves;
    const root *roots[MOST_ROOTS];
    uint32_t n_roots, rows;
    uint32_t index[MOST_ROOTS]; /* the combination at hand */
    bool beyond;
    uint64_t *bits; /* per row */
    uint8_t *undefined;
    bool partial; /* some row is undefined */
} application;

static void add_leaf(void *context, ft_symbol symbol)
{
    application *a = context;
    if (a->beyond) return;
    const few *value = as_value(a->s, a->resolve(a->context, symbol));
    uint32_t at = 0;
    a->beyond = value->kind == BEYOND;
    if (a->beyond) return;
    while (at < a->n_roots && a->roots[at] != value->root) at++;
    if (value->root->n != 1 && at == a->n_roots) {
        a->beyond = a->n_roots == MOST_ROOTS;
        if (a->beyond) return;
        a->roots[a->n_roots++] = value->root;
    }
    ft_vec_push(&a->leaves, (leaf){symbol, value, value->root->n == 1 ? UINT32_MAX : at});
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const application *a = context;
    for (size_t i = 0; i < a->leaves.len; i++) {
        const leaf *l = &a->leaves.data[i];
        if (l->symbol != symbol) continue;
        uint32_t at = l->at == UINT32_MAX ? 0 : a->index[l->at];
        assert(at < l->value->root->n);
        *value = (ft_value){l->value->sort, l->value->bits[at]};
        return true;
    }
    return false;
}

static void step(application *a)
{
    for (uint32_t i = 0; i < a->n_roots; i++) {
        if (++a->index[i] < a->roots[i]->n) return;
        a->index[i] = 0;
    }
}

static void evaluate(application *a)
{
    assert(a->rows <= FT_VALUES_MOST_ROWS);
    a->bits = take(a->s, (a->rows + 1) * sizeof *a->bits);
    a->undefined = take(a->s, a->rows + 1);
    for (uint32_t row = 0; row < a->rows && !a->beyond; row++) {
        ft_value value = {.bits = 0};
        ft_eval_status status = ft_term_eval(a->pool, a->term, look_up, a, &value);
        a->beyond = status == FT_EVAL_OVERFLOW || status == FT_EVAL_UNKNOWN;
        a->undefined[row] = status == FT_EVAL_UNDEFINED;
        a->bits[row] = a->undefined[row] ? 0 : value.bits;
        a->partial |= a->undefined[row];
        step(a);
    }
}

/* The application as a table over its only root; one without roots is a constant. */
static ft_expr on_one_root(application *a, ft_sort sort, ft_expr *defined)
{
    const root *r = a->n_roots ? a->roots[0] : new_root(a->s, 1);
    assert(a->rows == r->n);
    if (a->partial) {
        uint64_t *truth = take(a->s, (a->rows + 1) * sizeof *truth);
        for (uint32_t i = 0; i < a->rows; i++) truth[i] = !a->undefined[i];
        *defined = table(a->s, r, truth);
    }
    return value_of(a->s, sort, r, a->bits);
}

static ft_expr condition(application *a, bool of_definedness)
{
    few f = {.kind = ROWS, .sort = FT_BOOL_SORT, .n_parts = a->n_roots};
    uint8_t *outcomes = take(a->s, a->rows + 1);
    for (uint32_t row = 0; row < a->rows; row++) {
        bool undefined = a->undefined[row];
        outcomes[row] = of_definedness ? (undefined ? FALSE_ROW : TRUE_ROW)
                        : undefined    ? UNDEFINED_ROW
                        : a->bits[row] ? TRUE_ROW
                                       : FALSE_ROW;
    }
    f.roots = copy(a->s, a->roots, a->n_roots * sizeof *a->roots);
    f.outcomes = outcomes;
    return keep(a->s, f);
}

/* The application gets a root of its own: a clause for each combination gives its value. */
static ft_expr on_new_root(application *a, ft_sort sort)
{
    FT_VEC(uint64_t) found = {0};
    for (uint32_t row = 0; row < a->rows; row++)
        if (!a->undefined[row]) ft_vec_push(&found, a->bits[row]);
    uint32_t n = make_distinct(found.data, found.len);
    ft_expr result = choice(a->s, sort, found.data, n);
    few f = {.roots = a->roots, .n_parts = a->n_roots};
    for (uint32_t row = 0; few_of(result)->kind == VALUE && row < a->rows; row++) {
        if (a->undefined[row]) continue;
        const uint64_t *at = bsearch(&a->bits[row], found.data, n, sizeof *at, by_number);
        assert(at);
        exclude(a->s, &f, row, FT_LIT_TRUE, few_of(result)->root->literals[at - found.data]);
    }
    ft_vec_release(&found);
    return result;
}

static ft_expr apply(application *a, ft_expr *defined)
{
    ft_sort sort = ft_term_sort(a->pool, a->term);
    *defined = NULL;
    ft_term_symbols(a->pool, a->term, add_leaf, a);
    if (!a->beyond) a->rows = count_rows(a->roots, a->n_roots);
    a->beyond |= a->rows == UINT32_MAX;
    if (!a->beyond) evaluate(a);
    if (a->beyond) return *defined = beyond(a->s);
    if (a->n_roots <= 1) return on_one_root(a, sort, defined);
    if (a->partial) *defined = condition(a, true);
    return sort.kind == FT_SORT_BOOL ? condition(a, false) : on_new_root(a, sort);
}

ft_expr ft_values_term(ft_session *session, const ft_term_pool *pool, ft_term term,
                       ft_resolve resolve, void *context, ft_expr *defined)
{
    application a = {
        .s = of(session), .pool = pool, .term = term, .resolve = resolve, .context = context};
    ft_expr unused;
    ft_expr result = apply(&a, defined ? defined : &unused);
    ft_vec_release(&a.leaves);
    return result;
}
