#include "cover/invariants.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "symbolic/epoch.h"

enum { MOST_SYMBOLS = 24, MOST_CONSTANTS = 8, MOST_FACTS = 20000 };

/* A comparison of two unknowns, or of one and a constant. */
typedef struct fact {
    uint32_t epoch;
    ft_op op;
    ft_term kids[2], term;
    bool dropped, needed;
} fact;

typedef struct finding {
    cover_invariants *v;
    FT_VEC(ft_term) * symbols; /* by epoch: unknowns that conditions speak of, as terms */
    FT_VEC(ft_term) constants;
    FT_VEC(fact) facts;
    size_t *first;     /* by epoch: its first fact; one more at the end */
    ft_sym_state *ask; /* without conditions */
    bool gives_up;
} finding;

/* ---- terms ---- */

static ft_term_pool *pool_of(const finding *f)
{
    return f->v->world->pool;
}

static ft_term apply(const finding *f, ft_op op, const ft_term *kids, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(pool_of(f), op, kids, n, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

static ft_term truth(const finding *f, bool value)
{
    return ft_term_literal(pool_of(f), (ft_value){FT_BOOL_SORT, value});
}

static ft_term both(const finding *f, ft_term a, ft_term b)
{
    return apply(f, FT_OP_AND, (ft_term[2]){a, b}, 2);
}

static ft_term negated(const finding *f, ft_term a)
{
    return apply(f, FT_OP_NOT, &a, 1);
}

/* What the term, a constant or an unknown of the next epoch, is at the arrival; FT_NO_TERM: it has
 * no such place. */
static ft_term at_arrival(const finding *f, const ft_sym_state *arrival, ft_term term)
{
    ft_term_node node = ft_term_get(pool_of(f), term);
    if (node.op == FT_OP_LITERAL) return term;
    ft_sym_name name = ft_sym_world_input(f->v->world->world, node.symbol);
    return ft_sym_content(arrival, name.name, name.width);
}

/* The fact as the arrival says it, over the symbols of the epoch before. */
static ft_term image_of(const finding *f, const cover_passage *p, const fact *x)
{
    ft_term kids[2];
    for (int i = 0; i < 2; i++) {
        kids[i] = at_arrival(f, p->arrival, x->kids[i]);
        if (kids[i] == FT_NO_TERM) return truth(f, false);
    }
    return apply(f, x->op, kids, 2);
}

/* ---- candidates ---- */

typedef struct visiting {
    finding *f;
    uint32_t epoch;
    bool changed;
} visiting;

static void visit_symbol(void *context, ft_symbol symbol)
{
    visiting *v = context;
    finding *f = v->f;
    ft_sym_name name = ft_sym_world_input(f->v->world->world, symbol);
    if (name.thread != FT_NO_ID || name.width == 1) return;
    ft_term term = ft_term_symbol(pool_of(f), symbol, (ft_sort){FT_SORT_BITVEC, name.width});
    for (size_t i = 0; i < f->symbols[v->epoch].len; i++)
        if (f->symbols[v->epoch].data[i] == term) return;
    if (f->symbols[v->epoch].len == MOST_SYMBOLS) return;
    ft_vec_push(&f->symbols[v->epoch], term);
    v->changed = true;
}

/* Notes constants that are compared with something. */
static void visit_constants(finding *f, ft_term term, unsigned depth)
{
    ft_term_node node = ft_term_get(pool_of(f), term);
    ft_term kids[3];
    uint32_t n = node.n_children < 3 ? node.n_children : 3;
    if (node.op == FT_OP_LITERAL && node.sort.kind == FT_SORT_BITVEC) {
        for (size_t i = 0; i < f->constants.len; i++)
            if (f->constants.data[i] == term) return;
        if (f->constants.len < MOST_CONSTANTS) ft_vec_push(&f->constants, term);
    }
    for (uint32_t i = 0; i < n; i++) kids[i] = node.children[i];
    for (uint32_t i = 0; i < n && depth; i++) visit_constants(f, kids[i], depth - 1);
}

/* Unknowns of conditions, and those that decide at an epoch's end what the next one's are. */
static void find_symbols(finding *f)
{
    const cover_invariants *v = f->v;
    for (size_t i = 0; i < v->n_claims; i++) {
        visiting at = {f, v->claims[i].epoch, false};
        ft_term_symbols(pool_of(f), v->claims[i].condition, visit_symbol, &at);
        visit_constants(f, v->claims[i].condition, 4);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < v->n_passages; i++) {
            const cover_passage *p = &v->passages[i];
            visiting at = {f, p->from, false};
            for (size_t k = 0; p->from && k < f->symbols[p->to].len; k++) {
                ft_term content = at_arrival(f, p->arrival, f->symbols[p->to].data[k]);
                if (content) ft_term_symbols(pool_of(f), content, visit_symbol, &at);
            }
            changed |= at.changed;
        }
    }
}

static void add_fact(finding *f, uint32_t epoch, ft_op op, ft_term a, ft_term b)
{
    fact x = {
        .epoch = epoch, .op = op, .kids = {a, b}, .term = apply(f, op, (ft_term[2]){a, b}, 2)};
    if (f->facts.len == MOST_FACTS) f->gives_up = true;
    if (ft_term_get(pool_of(f), x.term).op != FT_OP_LITERAL && !f->gives_up)
        ft_vec_push(&f->facts, x);
}

/* The weaker one of a pair of comparisons comes last, so that a set of facts has the stronger. */
static void add_facts_of(finding *f, uint32_t epoch, ft_term a, ft_term b)
{
    static const ft_op OPS[] = {FT_OP_BVSLT, FT_OP_BVSLE, FT_OP_BVULT, FT_OP_BVULE};
    if (a == b || ft_term_sort(pool_of(f), a).width != ft_term_sort(pool_of(f), b).width) return;
    add_fact(f, epoch, FT_OP_EQ, a, b);
    for (size_t i = 0; i < sizeof OPS / sizeof OPS[0]; i++) {
        add_fact(f, epoch, OPS[i], a, b);
        add_fact(f, epoch, OPS[i], b, a);
    }
    add_fact(f, epoch, FT_OP_DISTINCT, a, b);
}

static void find_candidates(finding *f)
{
    for (uint32_t e = 0; e < f->v->n_epochs; e++) {
        f->first[e] = f->facts.len;
        for (size_t i = 0; e && i < f->symbols[e].len; i++) {
            ft_term a = f->symbols[e].data[i];
            for (size_t k = 0; k < f->constants.len; k++)
                add_facts_of(f, e, a, f->constants.data[k]);
            for (size_t k = i + 1; k < f->symbols[e].len; k++)
                add_facts_of(f, e, a, f->symbols[e].data[k]);
        }
    }
    f->first[f->v->n_epochs] = f->facts.len;
}

/* ---- questions ---- */

/* Can it hold? SAT: *model, the caller's, satisfies it. */
static ft_answer ask(finding *f, ft_term condition, ft_sym_state **model)
{
    const cover_world *w = f->v->world;
    *model = ft_sym_copy(f->ask);
    if (w->should_stop && w->should_stop(w->context)) return f->gives_up = true, FT_ANSWER_UNKNOWN;
    return ft_sym_assume(*model, condition);
}

static bool lookup(void *context, ft_symbol symbol, ft_value *value)
{
    const finding *f = ((const void *const *)context)[0];
    const ft_sym_state *model = ((const void *const *)context)[1];
    uint8_t width = ft_sym_world_input(f->v->world->world, symbol).width;
    value->sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    value->bits = ft_sym_input_at_hand(model, symbol);
    return true;
}

static bool holds_in(const finding *f, const ft_sym_state *model, ft_term term)
{
    const void *context[2] = {f, model};
    ft_value value;
    return ft_term_eval(pool_of(f), term, lookup, context, &value) == FT_EVAL_OK && value.bits;
}

/* The epoch's facts; `needed`: only those. */
static ft_term facts_of(const finding *f, uint32_t epoch, bool needed)
{
    FT_VEC(ft_term) all = {0};
    ft_vec_push(&all, truth(f, true));
    ft_vec_push(&all, truth(f, true));
    for (size_t i = f->first[epoch]; i < f->first[epoch + 1]; i++)
        if (!f->facts.data[i].dropped && (!needed || f->facts.data[i].needed))
            ft_vec_push(&all, f->facts.data[i].term);
    ft_term term = apply(f, FT_OP_AND, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
    return term;
}

/* ---- the inductive ones ---- */

/* Drops facts of the next epoch that the passage does not keep; true: some. */
static bool pass(finding *f, const cover_passage *p)
{
    ft_term begin = both(f, facts_of(f, p->from, false), p->condition);
    bool changed = false;
    size_t from = f->first[p->to], to = f->first[p->to + 1];
    for (bool more = true; more && !f->gives_up;) {
        FT_VEC(ft_term) images = {0};
        ft_vec_push(&images, truth(f, true));
        ft_vec_push(&images, truth(f, true));
        for (size_t i = from; i < to; i++)
            if (!f->facts.data[i].dropped) ft_vec_push(&images, image_of(f, p, &f->facts.data[i]));
        ft_term kept = apply(f, FT_OP_AND, images.data, (uint32_t)images.len);
        ft_sym_state *model;
        ft_answer answer = ask(f, both(f, begin, negated(f, kept)), &model);
        for (size_t i = from; i < to && answer != FT_ANSWER_UNSAT; i++) {
            fact *x = &f->facts.data[i];
            if (x->dropped) continue;
            x->dropped = answer == FT_ANSWER_UNKNOWN || !holds_in(f, model, image_of(f, p, x));
            changed |= x->dropped;
        }
        more = answer == FT_ANSWER_SAT;
        ft_sym_free(model);
        ft_vec_release(&images);
    }
    return changed;
}

static void drop_what_is_not_kept(finding *f)
{
    for (bool changed = true; changed && !f->gives_up;) {
        changed = false;
        for (size_t i = 0; i < f->v->n_passages; i++) changed |= pass(f, &f->v->passages[i]);
    }
}

/* ---- those that are needed ---- */

static bool is_refuted(finding *f, ft_term condition)
{
    ft_sym_state *model;
    bool refuted = ask(f, condition, &model) == FT_ANSWER_UNSAT;
    ft_sym_free(model);
    return refuted;
}

/* The fact that refutes the condition with the needed ones alone, among those that the model does
 * not satisfy; or the first of these. FT_NO_ID: there is none. */
static uint32_t next_needed(finding *f, uint32_t epoch, ft_term condition,
                            const ft_sym_state *model)
{
    uint32_t first = FT_NO_ID;
    for (size_t i = f->first[epoch]; i < f->first[epoch + 1]; i++) {
        const fact *x = &f->facts.data[i];
        if (x->dropped || x->needed || holds_in(f, model, x->term)) continue;
        if (is_refuted(f, both(f, condition, x->term))) return (uint32_t)i;
        if (first == FT_NO_ID) first = (uint32_t)i;
    }
    return first;
}

/* Marks facts that refute the condition where the epoch begins; how many are new. All of them do.
 */
static size_t need(finding *f, uint32_t epoch, ft_term condition)
{
    size_t n = 0;
    for (;;) {
        ft_term known = both(f, facts_of(f, epoch, true), condition);
        ft_sym_state *model;
        ft_answer answer = ask(f, known, &model);
        uint32_t next = answer == FT_ANSWER_SAT ? next_needed(f, epoch, known, model) : FT_NO_ID;
        ft_sym_free(model);
        if (answer == FT_ANSWER_UNSAT) return n;
        if (next == FT_NO_ID) return f->gives_up = true, n;
        f->facts.data[next].needed = true;
        n++;
    }
}

/* A fact that is needed needs those that make passages keep it. */
static void need_for_facts(finding *f)
{
    const cover_invariants *v = f->v;
    for (bool changed = true; changed && !f->gives_up;) {
        changed = false;
        for (size_t i = 0; i < v->n_passages && !f->gives_up; i++) {
            const cover_passage *p = &v->passages[i];
            for (size_t k = f->first[p->to]; k < f->first[p->to + 1]; k++) {
                const fact *x = &f->facts.data[k];
                if (!x->needed) continue;
                ft_term fails = negated(f, image_of(f, p, x));
                changed |= need(f, p->from, both(f, p->condition, fails)) > 0;
            }
        }
    }
}

static size_t refute_claims(finding *f)
{
    cover_invariants *v = f->v;
    size_t n = 0;
    for (size_t i = 0; i < v->n_claims && !f->gives_up; i++) {
        cover_claim *c = &v->claims[i];
        c->never = is_refuted(f, both(f, facts_of(f, c->epoch, false), c->condition));
        n += c->never;
    }
    for (size_t i = 0; i < v->n_claims && !f->gives_up; i++)
        if (v->claims[i].never) (void)need(f, v->claims[i].epoch, v->claims[i].condition);
    need_for_facts(f);
    return n;
}

/* ---- the whole ---- */

static void take(finding *f)
{
    cover_invariants *v = f->v;
    for (uint32_t e = 1; e < v->n_epochs; e++) {
        ft_term init = facts_of(f, e, true);
        if (init != truth(f, true)) v->init[e] = init;
    }
}

size_t cover_invariants_find(cover_invariants *v)
{
    FT_REQUIRE(v && v->world && v->init);
    finding f = {.v = v, .ask = ft_sym_new(v->world->world)};
    f.symbols = ft_calloc(v->n_epochs + 1, sizeof *f.symbols);
    f.first = ft_calloc(v->n_epochs + 1, sizeof *f.first);
    find_symbols(&f);
    find_candidates(&f);
    drop_what_is_not_kept(&f);
    size_t n = refute_claims(&f);
    if (f.gives_up) n = 0;
    if (n) take(&f);
    for (size_t i = 0; i < v->n_claims && !n; i++) v->claims[i].never = false;
    for (uint32_t e = 0; e < v->n_epochs; e++) ft_vec_release(&f.symbols[e]);
    free(f.symbols);
    free(f.first);
    ft_vec_release(&f.constants);
    ft_vec_release(&f.facts);
    ft_sym_free(f.ask);
    return n;
}
