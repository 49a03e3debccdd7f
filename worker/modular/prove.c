#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "modular/atoms.h"
#include "modular/modular.h"
#include "solve/session.h"

#ifdef FT_FAULTS
mod_fault_kind mod_fault = MOD_FAULT_NONE;
#endif

enum { MOST_PREMISES = 6, MOST_NAMED = 150, MOST_VARIABLES = 64, SOLVER_MS = 1000 };

typedef struct premise {
    const mod_invariant *of;
    uint32_t role[2]; /* of its two sides */
} premise;

/* Where a side of the state behind a step stands: in a role, or as the step leaves it. */
typedef enum source { IN_ROLE_1 = 1, IN_ROLE_2, STEPPED, CREATED } source;

typedef struct side {
    uint32_t location;
    source from;
} side;

/* A step from states of the premises leads into the target. */
typedef struct clause {
    premise premises[MOST_PREMISES];
    uint32_t n;
    const mod_outcome *step;
    mod_invariant *target;
    side sides[2];
    uint64_t key;
} clause;

typedef struct prover {
    modular m;
    mod_constants constants;
    mod_invariant *first; /* by location of the first thread: it, whatever the others do */
    mod_invariant *pairs; /* by two locations, the smaller number first */
    ft_map checked;       /* key of a clause -> the versions of its premises */
    ft_session *session;
    ft_map named; /* term -> literal */
    FT_VEC(ft_expr) unknowns;
    FT_VEC(uint64_t) model;
    mod_terms assumed, near;
    ft_term guard;       /* of what is assumed */
    FT_VEC(bool) marked; /* symbols */
    bool outside;
    bool open; /* no proof */
    const char *why;
} prover;

static void give_up(prover *p, const char *why)
{
    if (!p->open) p->why = why;
    p->open = true;
}

static bool is_late(prover *p)
{
    if (mod_now() > p->m.until) give_up(p, "the time was over");
    return p->open;
}

/* ---- the solver ---- */

static void close_session(prover *p)
{
    ft_session_close(p->session);
    p->session = NULL;
    ft_map_release(&p->named);
    p->unknowns.len = 0;
}

static ft_sort sort_of(uint8_t width)
{
    return width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
}

static ft_expr unknown_of(void *context, ft_symbol symbol)
{
    prover *p = context;
    while (p->unknowns.len <= symbol) {
        ft_sort sort = sort_of(p->m.symbols.data[p->unknowns.len].width);
        ft_expr made = ft_session_constant(p->session, sort);
        ft_vec_push(&p->unknowns, made);
    }
    return p->unknowns.data[symbol];
}

/* Where a division by 0 is in the term, the literal is false. */
static ft_lit literal_of(prover *p, ft_term term)
{
    uint64_t known;
    if (ft_map_get(&p->named, term, &known)) return (ft_lit)(int64_t)known;
    ft_expr parts[2] = {0};
    parts[0] = ft_session_term(p->session, p->m.pool, term, unknown_of, p, &parts[1]);
    ft_lit name = ft_session_name(p->session, ft_session_and(p->session, parts, 2));
    ft_map_put(&p->named, term, (uint64_t)(int64_t)name);
    return name;
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const prover *p = context;
    uint64_t bits = symbol < p->model.len ? p->model.data[symbol] : 0;
    *value = (ft_value){sort_of(p->m.symbols.data[symbol].width), bits};
    return true;
}

static bool eval(prover *p, ft_term term, uint64_t *bits)
{
    ft_value value = {.bits = 0};
    ft_eval_status status = ft_term_eval(p->m.pool, term, look_up, p, &value);
    *bits = value.bits;
    return status == FT_EVAL_OK;
}

/* A literal that says that one of the goals fails. */
static ft_lit some_fails(prover *p, const ft_term *goals, size_t n)
{
    FT_VEC(ft_lit) literals = {0};
    ft_lit some = ft_session_variable(p->session);
    ft_vec_push(&literals, -some);
    for (size_t i = 0; i < n; i++) {
        ft_lit goal = literal_of(p, goals[i]);
        ft_vec_push(&literals, -goal);
    }
    ft_session_clause(p->session, literals.data, (uint32_t)literals.len);
    ft_vec_release(&literals);
    return some;
}

/* Can the terms hold and one of the goals not? Leaves the model. n_goals 0: no goal. */
static ft_answer solve(prover *p, const mod_terms *terms, const ft_term *goals, size_t n_goals)
{
    FT_VEC(ft_lit) literals = {0};
    if (p->named.len > MOST_NAMED) close_session(p);
    if (!p->session) p->session = ft_session_open(FT_SESSION_VALUES);
    for (size_t i = 0; i < terms->len; i++) {
        ft_lit literal = literal_of(p, terms->data[i]);
        ft_vec_push(&literals, literal);
    }
    if (n_goals) {
        ft_lit some = some_fails(p, goals, n_goals);
        ft_vec_push(&literals, some);
    }
    ft_answer answer =
        ft_session_check(p->session, literals.data, (uint32_t)literals.len, SOLVER_MS);
    p->model.len = 0;
    for (size_t i = 0; i < p->unknowns.len && answer == FT_ANSWER_SAT; i++)
        ft_vec_push(&p->model, ft_session_bits(p->session, p->unknowns.data[i]));
    ft_vec_release(&literals);
    return answer;
}

static void mark(void *context, ft_symbol symbol)
{
    prover *p = context;
    p->marked.data[symbol] = true;
}

static void look_outside(void *context, ft_symbol symbol)
{
    prover *p = context;
    p->outside |= !p->marked.data[symbol];
}

/* The terms that are about symbols of the guard and the goals alone. */
static void collect_near(prover *p, const ft_term *goals, size_t n_goals)
{
    p->near.len = p->marked.len = 0;
    for (size_t i = 0; i < p->m.symbols.len; i++) ft_vec_push(&p->marked, false);
    if (p->guard != FT_NO_TERM) ft_term_symbols(p->m.pool, p->guard, mark, p);
    for (size_t i = 0; i < n_goals; i++) ft_term_symbols(p->m.pool, goals[i], mark, p);
    for (size_t i = 0; i < p->assumed.len; i++) {
        p->outside = false;
        ft_term_symbols(p->m.pool, p->assumed.data[i], look_outside, p);
        if (!p->outside) ft_vec_push(&p->near, p->assumed.data[i]);
    }
}

static bool model_holds(prover *p)
{
    uint64_t bits;
    for (size_t i = 0; i < p->assumed.len; i++)
        if (!eval(p, p->assumed.data[i], &bits) || !bits) return false;
    return true;
}

/* The same of all that is assumed. The near terms are asked first: they are few, and suffice for
 * most answers. */
static ft_answer ask(prover *p, const ft_term *goals, size_t n_goals)
{
    collect_near(p, goals, n_goals);
    if (p->near.len < p->assumed.len) {
        ft_answer answer = solve(p, &p->near, goals, n_goals);
        if (answer == FT_ANSWER_UNSAT || (answer == FT_ANSWER_SAT && model_holds(p))) return answer;
    }
    return solve(p, &p->assumed, goals, n_goals);
}

/* ---- clauses ---- */

static void variable_terms(prover *p, const premise *q, ft_term *terms)
{
    for (size_t i = 0; i < q->of->variables.len; i++) {
        mod_variable v = q->of->variables.data[i];
        terms[i] = v.who ? mod_slot_term(&p->m, q->role[v.who - 1], v.width, v.index)
                         : mod_cell_term(&p->m, v.index);
    }
}

static void assume_all(prover *p, const clause *c)
{
    ft_term terms[MOST_VARIABLES];
    p->assumed.len = 0;
    p->guard = c->step->guard;
    if (c->step->guard != FT_NO_TERM) ft_vec_push(&p->assumed, c->step->guard);
    for (uint32_t i = 0; i < c->n; i++) {
        const mod_invariant *v = c->premises[i].of;
        variable_terms(p, &c->premises[i], terms);
        for (size_t k = 0; k < v->needed.len; k++) {
            ft_term t = mod_atom_term(&p->m, v, &v->atoms.data[v->needed.data[k]], terms);
            ft_vec_push(&p->assumed, t);
        }
    }
}

static ft_term cell_after(prover *p, const mod_outcome *o, uint32_t cell)
{
    for (size_t i = 0; i < o->updates.len; i++)
        if (o->updates.data[i].cell == cell) return o->updates.data[i].term;
    return mod_cell_term(&p->m, cell);
}

static ft_term slot_after(prover *p, const clause *c, mod_variable v)
{
    const side *s = &c->sides[v.who - 1];
    if (s->from == STEPPED) return c->step->slots.data[v.index];
    if (s->from == CREATED) return c->step->argument;
    return mod_slot_term(&p->m, s->from, v.width, v.index);
}

static void terms_after(prover *p, const clause *c, ft_term *terms)
{
    for (size_t i = 0; i < c->target->variables.len; i++) {
        mod_variable v = c->target->variables.data[i];
        terms[i] = v.who ? slot_after(p, c, v) : cell_after(p, c->step, v.index);
        assert(terms[i] != FT_NO_TERM);
    }
}

static bool is_assumed(const prover *p, ft_term term)
{
    uint64_t bits;
    if (mod_is_literal(&p->m, term, &bits)) return bits;
    for (size_t i = 0; i < p->assumed.len; i++)
        if (p->assumed.data[i] == term) return true;
    return false;
}

/* The atoms of the target, behind the step, that are not plainly among the premises. */
static void collect_goals(prover *p, const clause *c, const ft_term *after, mod_terms *goals)
{
    const mod_invariant *v = c->target;
    goals->len = 0;
    for (size_t k = 0; k < v->needed.len; k++) {
        ft_term t = mod_atom_term(&p->m, v, &v->atoms.data[v->needed.data[k]], after);
        if (!is_assumed(p, t)) ft_vec_push(goals, t);
    }
}

/* The model's state behind the step goes into the target. */
static bool weaken(prover *p, const clause *c, const ft_term *after)
{
    uint64_t values[MOST_VARIABLES];
    for (size_t i = 0; i < c->target->variables.len; i++)
        if (!eval(p, after[i], &values[i])) return false;
    return mod_invariant_take(c->target, &p->constants, values);
}

static uint64_t versions_of(const clause *c)
{
    uint64_t sum = 1;
    for (uint32_t i = 0; i < c->n && !mod_fault_is(MOD_FAULT_CHECKED_ONCE); i++)
        sum += c->premises[i].of->version;
    return sum;
}

/* True: the target became weaker. */
static bool close_clause(prover *p, const clause *c)
{
    bool fresh, changed = false;
    ft_term after[MOST_VARIABLES];
    uint64_t versions = versions_of(c);
    uint64_t *checked = ft_map_slot(&p->checked, c->key, 0, &fresh);
    if (*checked == versions) return false;
    *checked = versions;
    mod_terms goals = {0};
    assume_all(p, c);
    terms_after(p, c, after);
    while (!p->open) {
        collect_goals(p, c, after, &goals);
        if (c->target->reached && !goals.len) break;
        if (is_late(p)) break;
        ft_answer answer = ask(p, goals.data, goals.len);
        if (answer == FT_ANSWER_UNSAT) break;
        if (answer == FT_ANSWER_UNKNOWN)
            give_up(p, "the solver gave no answer");
        else if (!weaken(p, c, after))
            give_up(p, "a model does not satisfy the question");
        else
            changed = true;
        if (mod_fault_is(MOD_FAULT_ONE_MODEL)) break;
    }
    ft_vec_release(&goals);
    return changed;
}

/* ---- which clauses there are ---- */

static mod_invariant *pair_of(prover *p, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    mod_invariant *v = &p->pairs[(size_t)low * p->m.locations.len + high];
    if (!v->variables.len && !v->reached) mod_invariant_init(v, &p->m, low, high);
    return v;
}

static uint32_t class_of(const prover *p, uint32_t location)
{
    return p->m.locations.data[location].class;
}

/* May two threads stand there? */
static bool are_apart(const prover *p, uint32_t a, uint32_t b)
{
    if (mod_fault_is(MOD_FAULT_SAME_PLACE) && a == b) return false;
    return class_of(p, a) != class_of(p, b) || p->m.classes.data[class_of(p, a)].many;
}

static void add_premise(clause *c, const mod_invariant *v, uint32_t first, uint32_t second)
{
    assert(c->n < MOST_PREMISES);
    c->premises[c->n++] = (premise){v, {first, second}};
}

/* What is known of two threads in these roles; of two at one location, both ways round. */
static void add_pair(prover *p, clause *c, uint32_t a, uint32_t role_a, uint32_t b, uint32_t role_b)
{
    const mod_invariant *v = pair_of(p, a, b);
    if (a <= b) add_premise(c, v, role_a, role_b);
    if (a >= b) add_premise(c, v, role_b, role_a);
}

static bool close_pair(prover *p, clause *c, side a, side b, uint64_t kind)
{
    bool changed = false;
    c->target = pair_of(p, a.location, b.location);
    for (uint32_t turn = 0; turn < 2; turn++) {
        bool fits = turn ? a.location >= b.location : a.location <= b.location;
        uint64_t words[] = {c->key, kind, turn, a.location, b.location, a.from, b.from};
        clause own = *c;
        if (!fits || (turn && mod_fault_is(MOD_FAULT_ONE_WAY) && a.location == b.location))
            continue;
        own.key = ft_hash_bytes(words, sizeof words, 5);
        own.sides[0] = turn ? b : a;
        own.sides[1] = turn ? a : b;
        changed |= close_clause(p, &own);
    }
    return changed;
}

static bool close_first(prover *p, clause *c, side a, uint64_t kind)
{
    uint64_t words[] = {c->key, kind, a.location, a.from};
    clause own = *c;
    own.key = ft_hash_bytes(words, sizeof words, 6);
    own.target = &p->first[a.location];
    own.sides[0] = a;
    return close_clause(p, &own);
}

static bool is_first(const prover *p, uint32_t location)
{
    return class_of(p, location) == 0;
}

static uint64_t key_of(uint32_t a, size_t step, uint32_t b, uint32_t c)
{
    uint64_t words[] = {a, step, b, c};
    return ft_hash_bytes(words, sizeof words, 4);
}

static uint32_t entry_of(const prover *p, const mod_outcome *o)
{
    return p->m.classes.data[o->created].entry;
}

/* The first thread steps, whatever the others do. */
static bool close_alone(prover *p, uint32_t a, size_t k)
{
    const mod_outcome *o = &p->m.locations.data[a].outcomes.data[k];
    clause c = {.step = o, .key = key_of(a, k, MOD_NOWHERE, MOD_NOWHERE)};
    add_premise(&c, &p->first[a], 0, 0);
    side stepped = {o->target, STEPPED};
    bool changed = close_first(p, &c, stepped, 0);
    if (o->created != MOD_NOWHERE && !mod_fault_is(MOD_FAULT_NEW_BESIDE_MAKER))
        changed |= close_pair(p, &c, stepped, (side){entry_of(p, o), CREATED}, 1);
    return changed;
}

/* A thread that is waited for has ended. */
static bool is_let(const prover *p, const mod_outcome *o, uint32_t b)
{
    if (o->joined == MOD_NOWHERE || class_of(p, b) != o->joined) return true;
    bool many = p->m.classes.data[o->joined].many && !mod_fault_is(MOD_FAULT_JOINED_ALL);
    return many || p->m.locations.data[b].ended;
}

/* A thread at a steps beside one at b. */
static bool close_beside(prover *p, uint32_t a, size_t k, uint32_t b)
{
    const mod_outcome *o = &p->m.locations.data[a].outcomes.data[k];
    clause c = {.step = o, .key = key_of(a, k, b, MOD_NOWHERE)};
    if (!is_let(p, o, b)) return false;
    add_pair(p, &c, a, 0, b, 1);
    if (is_first(p, a)) add_premise(&c, &p->first[a], 0, 0);
    if (is_first(p, b)) add_premise(&c, &p->first[b], 1, 1);
    side stepped = {o->target, STEPPED}, other = {b, IN_ROLE_1};
    bool changed = close_pair(p, &c, stepped, other, 2);
    if (is_first(p, b) && !mod_fault_is(MOD_FAULT_FIRST_ALONE))
        changed |= close_first(p, &c, other, 3);
    if (o->created == MOD_NOWHERE) return changed;
    side created = {entry_of(p, o), CREATED};
    if (!mod_fault_is(MOD_FAULT_NEW_BESIDE_OTHERS)) changed |= close_pair(p, &c, other, created, 4);
    if (!is_first(p, a) && !mod_fault_is(MOD_FAULT_NEW_BESIDE_MAKER))
        changed |= close_pair(p, &c, stepped, created, 5);
    return changed;
}

/* A third thread, at a, steps beside those at b and c. */
static bool close_third(prover *p, uint32_t a, size_t k, uint32_t b, uint32_t c)
{
    const mod_outcome *o = &p->m.locations.data[a].outcomes.data[k];
    clause q = {.step = o, .key = key_of(a, k, b, c)};
    if (!is_let(p, o, b) || !is_let(p, o, c)) return false;
    add_pair(p, &q, b, 1, c, 2);
    add_premise(&q, pair_of(p, a, b), a <= b ? 0 : 1, a <= b ? 1 : 0);
    add_premise(&q, pair_of(p, a, c), a <= c ? 0 : 2, a <= c ? 2 : 0);
    if (is_first(p, a)) add_premise(&q, &p->first[a], 0, 0);
    if (is_first(p, b))
        add_premise(&q, &p->first[b], 1, 1);
    else if (is_first(p, c))
        add_premise(&q, &p->first[c], 2, 2);
    return close_pair(p, &q, (side){b, IN_ROLE_1}, (side){c, IN_ROLE_2}, 6);
}

/* ---- the fixpoint ---- */

static bool is_pair(prover *p, uint32_t a, uint32_t b)
{
    return are_apart(p, a, b) && pair_of(p, a, b)->reached;
}

/* An assertion that may fail, as far as the invariants say, stays one: they only become weaker. */
static void check_failure(prover *p, uint32_t a, const mod_outcome *o)
{
    clause c = {.step = o};
    uint32_t n = (uint32_t)p->m.locations.len;
    if (is_first(p, a)) {
        if (!p->first[a].reached) return;
        add_premise(&c, &p->first[a], 0, 0);
        assume_all(p, &c);
        if (ask(p, NULL, 0) != FT_ANSWER_UNSAT) give_up(p, "an assertion is not implied");
        return;
    }
    if (mod_fault_is(MOD_FAULT_FIRST_FAILS)) return;
    for (uint32_t b = 0; b < n && !is_late(p); b++) {
        if (!is_first(p, b) || !is_pair(p, a, b)) continue;
        c.n = 0;
        add_pair(p, &c, a, 0, b, 1);
        add_premise(&c, &p->first[b], 1, 1);
        assume_all(p, &c);
        if (ask(p, NULL, 0) != FT_ANSWER_UNSAT) give_up(p, "an assertion is not implied");
    }
}

static bool close_others(prover *p, uint32_t a, size_t k)
{
    bool changed = false;
    uint32_t n = (uint32_t)p->m.locations.len;
    bool writes = p->m.locations.data[a].outcomes.data[k].updates.len > 0;
    for (uint32_t b = 0; b < n && !is_late(p); b++) {
        if (!is_pair(p, a, b)) continue;
        changed |= close_beside(p, a, k, b);
        writes &= !mod_fault_is(MOD_FAULT_NO_THIRD);
        for (uint32_t c = b; c < n && writes && !p->open; c++)
            if (is_pair(p, a, c) && is_pair(p, b, c)) changed |= close_third(p, a, k, b, c);
    }
    return changed;
}

static bool pass(prover *p)
{
    bool changed = false;
    for (uint32_t a = 0; a < p->m.locations.len && !p->open; a++)
        for (size_t k = 0; k < p->m.locations.data[a].outcomes.len && !p->open; k++) {
            const mod_outcome *o = &p->m.locations.data[a].outcomes.data[k];
            if (o->fails) continue;
            if (is_first(p, a) && p->first[a].reached) changed |= close_alone(p, a, k);
            changed |= close_others(p, a, k);
        }
    for (uint32_t a = 0; a < p->m.locations.len && !p->open; a++)
        for (size_t k = 0; k < p->m.locations.data[a].outcomes.len && !p->open; k++)
            if (p->m.locations.data[a].outcomes.data[k].fails)
                check_failure(p, a, &p->m.locations.data[a].outcomes.data[k]);
    return changed;
}

/* ---- how many threads of a class ---- */

static bool leads_back(const modular *m, uint32_t from)
{
    bool found = false;
    FT_VEC(uint32_t) open = {0};
    ft_map seen = {0};
    ft_vec_push(&open, from);
    while (open.len && !found) {
        const mod_location *l = &m->locations.data[open.data[--open.len]];
        for (size_t k = 0; k < l->outcomes.len; k++) {
            bool fresh;
            uint32_t to = l->outcomes.data[k].target;
            if (to == MOD_NOWHERE) continue;
            found |= to == from;
            ft_map_slot(&seen, to, 0, &fresh);
            if (fresh) ft_vec_push(&open, to);
        }
    }
    ft_map_release(&seen);
    ft_vec_release(&open);
    return found;
}

static bool makes(const mod_location *l, uint32_t class)
{
    for (size_t k = 0; k < l->outcomes.len; k++)
        if (l->outcomes.data[k].created == class) return true;
    return false;
}

/* One thread: one place makes it, in a class of one, and is passed once. */
static bool is_one(const modular *m, uint32_t class)
{
    uint32_t sites = 0;
    for (uint32_t i = 0; i < m->locations.len; i++) {
        const mod_location *l = &m->locations.data[i];
        if (!makes(l, class)) continue;
        sites++;
        if (m->classes.data[l->class].many && !mod_fault_is(MOD_FAULT_MANY_MAKERS)) return false;
        if (l->class == class) return false;
        if (leads_back(m, i) && !mod_fault_is(MOD_FAULT_LEADS_BACK)) return false;
    }
    return sites == 1 || mod_fault_is(MOD_FAULT_TWO_SITES);
}

static void count_threads(modular *m)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t c = 1; c < m->classes.len; c++)
            if (!m->classes.data[c].many && !is_one(m, c)) changed = m->classes.data[c].many = true;
    }
}

/* ---- the whole ---- */

static bool is_small(const prover *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->m.locations.len; i++)
        if (p->m.locations.data[i].widths.len > most) most = p->m.locations.data[i].widths.len;
    return p->m.cells.len + 2 * most <= MOST_VARIABLES;
}

static void begin(prover *p)
{
    uint64_t values[MOST_VARIABLES] = {0};
    size_t n = p->m.locations.len;
    mod_constants_init(&p->constants, &p->m);
    p->first = ft_calloc(n, sizeof *p->first);
    p->pairs = ft_calloc(n * n, sizeof *p->pairs);
    for (uint32_t i = 0; i < n; i++)
        if (is_first(p, i)) mod_invariant_init(&p->first[i], &p->m, i, MOD_NOWHERE);
    for (uint32_t i = 0; i < p->m.cells.len; i++) values[i] = p->m.cells.data[i].initial;
    mod_invariant_take(&p->first[p->m.classes.data[0].entry], &p->constants, values);
}

static void release(prover *p)
{
    size_t n = p->m.locations.len;
    for (size_t i = 0; i < n && p->first; i++) mod_invariant_release(&p->first[i]);
    for (size_t i = 0; i < n * n && p->pairs; i++) mod_invariant_release(&p->pairs[i]);
    free(p->first);
    free(p->pairs);
    mod_constants_release(&p->constants);
    ft_map_release(&p->checked);
    close_session(p);
    ft_vec_release(&p->unknowns);
    ft_vec_release(&p->model);
    ft_vec_release(&p->assumed);
    ft_vec_release(&p->near);
    ft_vec_release(&p->marked);
    ft_term_pool_free(p->m.pool);
    mod_release(&p->m);
}

static bool has_assertion(const ft_program *program)
{
    for (size_t i = 0; i < program->functions.len; i++) {
        const ft_function *f = &program->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++) {
            uint8_t code = f->instructions.data[k].code;
            if (code == FT_CODE_ASSERT || code == FT_CODE_FAIL) return true;
        }
    }
    return false;
}

ft_modular_answer ft_modular_prove(const ft_program *program, const ft_modular_options *options,
                                   ft_strbuf *why)
{
    FT_REQUIRE(program && options && why);
    if (!has_assertion(program)) {
        ft_strbuf_puts(why, "the program has none");
        return FT_MODULAR_PROVED;
    }
    ft_modular_answer answer = FT_MODULAR_REFUSED;
    prover p = {.m = {.program = program,
                      .pool = ft_term_pool_new(),
                      .until = mod_now() + options->seconds}};
    if (mod_make_steps(&p.m) && !is_small(&p))
        mod_refuse(&p.m, "more variables than a proof may have");
    if (!p.m.refused) {
        count_threads(&p.m);
        begin(&p);
        while (!p.open && pass(&p)) continue;
        answer = p.open ? FT_MODULAR_OPEN : FT_MODULAR_PROVED;
    }
    if (answer == FT_MODULAR_PROVED)
        ft_strbuf_printf(why, "invariants of pairs of %zu places", p.m.locations.len);
    else
        ft_strbuf_puts(why, p.m.refused ? p.m.refused : p.why);
    release(&p);
    return answer;
}
