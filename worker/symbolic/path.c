#include "symbolic/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "symbolic/faults.h"

enum {
    MODELS = 24,      /* newest ones that are tried */
    CORES = 48,       /* likewise */
    MOST_NAMED = 400, /* conditions in a session, before it is opened anew */
    ROUNDS = 200      /* questions to find one smallest value */
};

/* The knowledge about a condition. */
typedef struct condition {
    uint64_t mask; /* of its symbols, modulo 64 */
    uint32_t first, n;
} condition;

typedef struct entry {
    size_t terms, model;
    uint32_t n_terms, n_model;
    ft_answer answer;
} entry;

typedef FT_VEC(ft_term) terms;

struct sym_path {
    ft_term_pool *pool;
    uint32_t timeout_ms;
    ft_session *session;
    ft_map named; /* term -> literal in the session */
    FT_VEC(ft_expr) constants;
    FT_VEC(uint8_t) widths; /* by symbol */
    ft_map by_term;         /* -> conditions */
    FT_VEC(condition) conditions;
    FT_VEC(ft_symbol) symbols;
    ft_map by_question; /* hash -> entries */
    FT_VEC(entry) entries;
    terms asked;
    FT_VEC(sym_assigned) models;
    uint32_t newest_models[MODELS], newest_cores[CORES]; /* entries + 1 */
    uint64_t n_models, n_cores;
    terms slice;             /* the question at hand, ascending */
    FT_VEC(bool) in;         /* scratch */
    FT_VEC(ft_lit) literals; /* scratch */
    terms more;              /* scratch of sym_path_values */
    FT_VEC(uint64_t) values; /* scratch: a model by symbol */
    ft_sym_counts counts;
};

sym_path *sym_path_new(ft_term_pool *pool, uint32_t timeout_ms)
{
    sym_path *p = ft_calloc(1, sizeof *p);
    p->pool = pool;
    p->timeout_ms = timeout_ms;
    return p;
}

static void close_session(sym_path *p)
{
    ft_session_close(p->session);
    p->session = NULL;
    ft_map_release(&p->named);
    p->constants.len = 0;
}

void sym_path_free(sym_path *p)
{
    if (!p) return;
    close_session(p);
    ft_vec_release(&p->constants);
    ft_vec_release(&p->widths);
    ft_map_release(&p->by_term);
    ft_vec_release(&p->conditions);
    ft_vec_release(&p->symbols);
    ft_map_release(&p->by_question);
    ft_vec_release(&p->entries);
    ft_vec_release(&p->asked);
    ft_vec_release(&p->models);
    ft_vec_release(&p->slice);
    ft_vec_release(&p->in);
    ft_vec_release(&p->literals);
    ft_vec_release(&p->more);
    ft_vec_release(&p->values);
    free(p);
}

void sym_path_declare(sym_path *p, ft_symbol symbol, uint8_t width)
{
    FT_REQUIRE(symbol == p->widths.len);
    ft_vec_push(&p->widths, width);
}

ft_sym_counts sym_path_counts(const sym_path *p)
{
    return p->counts;
}

/* ---- terms under inputs ---- */

typedef struct assignment {
    const sym_path *p;
    const uint64_t *inputs;
    size_t n;
} assignment;

static ft_value input_value(uint8_t width, uint64_t bits)
{
    if (width == 1) return (ft_value){FT_BOOL_SORT, bits & 1};
    return (ft_value){{FT_SORT_BITVEC, width}, bits};
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const assignment *a = context;
    assert(symbol < a->p->widths.len);
    *value = input_value(a->p->widths.data[symbol], symbol < a->n ? a->inputs[symbol] : 0);
    return true;
}

uint64_t sym_path_eval(const sym_path *p, ft_term term, const uint64_t *inputs, size_t n)
{
    ft_value value = {.bits = 0};
    assignment a = {p, inputs, n};
    (void)ft_term_eval(p->pool, term, look_up, &a, &value);
    return value.bits;
}

/* A term that is undefined does not hold: it is below a condition that does not. */
bool sym_path_holds(const sym_path *p, ft_term term, const uint64_t *inputs, size_t n)
{
    ft_value value;
    assignment a = {p, inputs, n};
    return ft_term_eval(p->pool, term, look_up, &a, &value) == FT_EVAL_OK && value.bits;
}

/* ---- slices ---- */

static void add_symbol(void *context, ft_symbol symbol)
{
    sym_path *p = context;
    ft_vec_push(&p->symbols, symbol);
}

static const condition *condition_of(sym_path *p, ft_term term)
{
    bool fresh;
    uint64_t at = *ft_map_slot(&p->by_term, term, p->conditions.len, &fresh);
    if (!fresh) return &p->conditions.data[at];
    condition c = {.first = (uint32_t)p->symbols.len};
    ft_term_symbols(p->pool, term, add_symbol, p);
    c.n = (uint32_t)p->symbols.len - c.first;
    uint32_t counted = sym_fault_is(SYM_FAULT_SHORT_MASK) && c.n ? 1 : c.n;
    for (uint32_t i = 0; i < counted; i++)
        c.mask |= UINT64_C(1) << p->symbols.data[c.first + i] % 64;
    ft_vec_push(&p->conditions, c);
    return &p->conditions.data[at];
}

static int by_number(const void *a, const void *b)
{
    ft_term x = *(const ft_term *)a, y = *(const ft_term *)b;
    return (x > y) - (x < y);
}

static void sort_once(terms *all)
{
    size_t kept = 0;
    qsort(all->data, all->len, sizeof *all->data, by_number);
    for (size_t i = 0; i < all->len; i++)
        if (!kept || all->data[kept - 1] != all->data[i]) all->data[kept++] = all->data[i];
    all->len = kept;
}

static void make_slice(sym_path *p, const ft_term *conditions, uint32_t n, ft_term asked)
{
    uint64_t mask = condition_of(p, asked)->mask;
    bool grew = true;
    p->slice.len = p->in.len = 0;
    ft_vec_push(&p->slice, asked);
    for (uint32_t i = 0; i < n; i++) ft_vec_push(&p->in, false);
    while (grew) {
        grew = false;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t own = p->in.data[i] ? 0 : condition_of(p, conditions[i])->mask;
            if (!(own & mask) || sym_fault_is(SYM_FAULT_EMPTY_SLICE)) continue;
            p->in.data[i] = true;
            if (!sym_fault_is(SYM_FAULT_DIRECT_SLICE)) mask |= own;
            grew = true;
            ft_vec_push(&p->slice, conditions[i]);
        }
    }
    sort_once(&p->slice);
    assert(p->slice.len && p->slice.len <= n + 1);
}

static uint64_t hash_of(const terms *t)
{
    if (sym_fault_is(SYM_FAULT_SAME_QUESTION)) return t->len;
    return ft_hash_bytes(t->data, t->len * sizeof *t->data, 11);
}

static bool is_entry(const sym_path *p, const entry *e, const terms *t)
{
    return e->n_terms == t->len &&
           (sym_fault_is(SYM_FAULT_SAME_QUESTION) ||
            memcmp(p->asked.data + e->terms, t->data, t->len * sizeof *t->data) == 0);
}

/* The question's entry; NULL: it was not asked. *key: where it belongs. */
static const entry *find(const sym_path *p, uint64_t *key)
{
    uint64_t at;
    for (*key = hash_of(&p->slice); ft_map_get(&p->by_question, *key, &at); ++*key)
        if (is_entry(p, &p->entries.data[at], &p->slice)) return &p->entries.data[at];
    return NULL;
}

/* ---- answers without the solver ---- */

static void load_model(sym_path *p, const entry *e)
{
    memset(p->values.data, 0, p->values.len * sizeof *p->values.data);
    for (uint32_t i = 0; i < e->n_model; i++) {
        const sym_assigned *a = &p->models.data[e->model + i];
        p->values.data[a->symbol] = a->bits;
    }
}

static bool slice_holds(const sym_path *p)
{
    for (size_t i = 0; i < p->slice.len; i++)
        if (!sym_path_holds(p, p->slice.data[i], p->values.data, p->values.len)) return false;
    return true;
}

static void clear_values(sym_path *p)
{
    ft_vec_reserve(&p->values, p->widths.len + 1);
    p->values.len = p->widths.len;
    memset(p->values.data, 0, p->values.len * sizeof *p->values.data);
}

/* The zeros first, then the newest. */
static bool some_model_holds(sym_path *p)
{
    clear_values(p);
    if (slice_holds(p)) return true;
    for (uint64_t i = 0; i < MODELS && i < p->n_models; i++) {
        load_model(p, &p->entries.data[p->newest_models[(p->n_models - 1 - i) % MODELS] - 1]);
        if (slice_holds(p) || sym_fault_is(SYM_FAULT_ANY_MODEL)) return true;
    }
    return false;
}

static bool contains(const terms *all, const ft_term *part, uint32_t n)
{
    size_t k = 0;
    for (uint32_t i = 0; i < n; i++, k++) {
        while (k < all->len && all->data[k] < part[i]) k++;
        if (k == all->len || all->data[k] != part[i]) return false;
    }
    return true;
}

static bool some_core_is_in(const sym_path *p)
{
    for (uint64_t i = 0; i < CORES && i < p->n_cores; i++) {
        const entry *e = &p->entries.data[p->newest_cores[i] - 1];
        uint32_t n = sym_fault_is(SYM_FAULT_ANY_CORE) ? 1 : e->n_terms;
        if (contains(&p->slice, p->asked.data + e->terms, n)) return true;
    }
    return false;
}

/* ---- the solver ---- */

static ft_expr constant_of(void *context, ft_symbol symbol)
{
    sym_path *p = context;
    while (p->constants.len <= symbol) {
        uint8_t width = p->widths.data[p->constants.len];
        ft_expr made = ft_session_constant(p->session, input_value(width, 0).sort);
        ft_vec_push(&p->constants, made);
    }
    return p->constants.data[symbol];
}

static ft_lit literal_of(sym_path *p, ft_term term)
{
    uint64_t known;
    if (ft_map_get(&p->named, term, &known)) return (ft_lit)(int64_t)known;
    ft_expr parts[2] = {0};
    parts[0] = ft_session_term(p->session, p->pool, term, constant_of, p, &parts[1]);
    ft_lit name = ft_session_name(p->session, ft_session_and(p->session, parts, 2));
    ft_map_put(&p->named, term, (uint64_t)(int64_t)name);
    return name;
}

static void read_model(sym_path *p)
{
    clear_values(p);
    for (size_t i = 0; i < p->constants.len; i++)
        p->values.data[i] = ft_session_bits(p->session, p->constants.data[i]);
}

/* Leaves the model in `values`, and of UNSAT the core in `slice`. */
static ft_answer solve(sym_path *p)
{
    if (p->named.len > MOST_NAMED) close_session(p);
    if (!p->session) p->session = ft_session_open(FT_SESSION_VALUES);
    p->literals.len = 0;
    for (size_t i = 0; i < p->slice.len; i++) {
        ft_lit literal = literal_of(p, p->slice.data[i]);
        ft_vec_push(&p->literals, literal);
    }
    ft_answer answer =
        ft_session_check(p->session, p->literals.data, (uint32_t)p->literals.len, p->timeout_ms);
    p->counts.solved++;
    if (answer == FT_ANSWER_SAT) {
        read_model(p);
        if (!slice_holds(p)) answer = FT_ANSWER_UNKNOWN;
    }
    p->counts.unknown += answer == FT_ANSWER_UNKNOWN;
    return answer;
}

/* The conditions of the solver's core, ascending. */
static void make_core(const sym_path *p, terms *core)
{
    const ft_lit *literals;
    uint32_t n = ft_session_core(p->session, &literals);
    for (size_t i = 0; i < p->slice.len; i++)
        for (uint32_t k = 0; k < n; k++)
            if (literals[k] == p->literals.data[i]) {
                ft_vec_push(core, p->slice.data[i]);
                break;
            }
}

/* ---- questions ---- */

static uint32_t add_entry(sym_path *p, const terms *t, ft_answer answer)
{
    FT_REQUIRE(t->len);
    entry e = {.terms = p->asked.len,
               .n_terms = (uint32_t)t->len,
               .answer = answer,
               .model = p->models.len};
    for (size_t i = 0; i < t->len; i++) ft_vec_push(&p->asked, t->data[i]);
    ft_vec_push(&p->entries, e);
    return (uint32_t)p->entries.len - 1;
}

/* The values of the slice's symbols; the map is by symbol, so that each comes once. */
static void keep_model(sym_path *p, uint32_t number)
{
    ft_map seen = {0};
    for (size_t i = 0; i < p->slice.len; i++) {
        condition c = *condition_of(p, p->slice.data[i]);
        for (uint32_t k = 0; k < c.n; k++) {
            bool fresh;
            ft_symbol s = p->symbols.data[c.first + k];
            ft_map_slot(&seen, s, 0, &fresh);
            if (fresh) ft_vec_push(&p->models, (sym_assigned){s, p->values.data[s]});
        }
    }
    ft_map_release(&seen);
    entry *e = &p->entries.data[number];
    e->n_model = (uint32_t)(p->models.len - e->model);
}

static void keep_core(sym_path *p)
{
    terms core = {0};
    make_core(p, &core);
    assert(core.len <= p->slice.len);
    if (core.len) p->newest_cores[p->n_cores++ % CORES] = add_entry(p, &core, FT_ANSWER_UNSAT) + 1;
    ft_vec_release(&core);
}

static const entry *answer_anew(sym_path *p, uint64_t key)
{
    ft_answer answer;
    bool by_solver = false;
    if (some_core_is_in(p))
        answer = FT_ANSWER_UNSAT;
    else if (some_model_holds(p))
        answer = FT_ANSWER_SAT;
    else
        answer = solve(p), by_solver = true;
    p->counts.cached += !by_solver;
    uint32_t number = add_entry(p, &p->slice, answer);
    if (answer == FT_ANSWER_SAT) {
        keep_model(p, number);
        if (by_solver) p->newest_models[p->n_models++ % MODELS] = number + 1;
    }
    if (answer == FT_ANSWER_UNSAT && by_solver) keep_core(p);
    ft_map_put(&p->by_question, key, number);
    return &p->entries.data[number];
}

sym_reply sym_path_ask(sym_path *p, const ft_term *conditions, uint32_t n, ft_term asked)
{
    uint64_t key;
    FT_REQUIRE(asked != FT_NO_TERM);
    p->counts.questions++;
    make_slice(p, conditions, n, asked);
    const entry *e = find(p, &key);
    p->counts.cached += e != NULL;
    if (!e) e = answer_anew(p, key);
    return (sym_reply){e->answer, p->models.data + e->model, e->n_model};
}

/* ---- values ---- */

static ft_term compare(sym_path *p, ft_op op, ft_term term, uint64_t bits)
{
    ft_term made = FT_NO_TERM;
    ft_sort sort = ft_term_sort(p->pool, term);
    ft_term kids[2] = {term, ft_term_literal(p->pool, (ft_value){sort, bits})};
    ft_status status = ft_term_apply(p->pool, op, kids, 2, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

/* Asks with what is in `more`; the value of the term then. */
static ft_answer ask_value(sym_path *p, ft_term term, ft_term asked, uint64_t *bits)
{
    sym_reply r = sym_path_ask(p, p->more.data, (uint32_t)p->more.len, asked);
    if (r.answer != FT_ANSWER_SAT) return r.answer;
    clear_values(p);
    for (uint32_t i = 0; i < r.n_model; i++) p->values.data[r.model[i].symbol] = r.model[i].bits;
    *bits = sym_path_eval(p, term, p->values.data, p->values.len);
    return FT_ANSWER_SAT;
}

/* The smallest value from least on; *found: there is one. False: unknown. */
static bool smallest(sym_path *p, ft_term term, uint64_t least, uint64_t *bits, bool *found)
{
    ft_answer answer = ask_value(p, term, compare(p, FT_OP_BVUGE, term, least), bits);
    *found = answer == FT_ANSWER_SAT;
    if (answer != FT_ANSWER_SAT) return answer == FT_ANSWER_UNSAT;
    for (int i = 0; i < ROUNDS && least < *bits; i++) {
        uint64_t middle = least + (*bits - least) / 2;
        ft_vec_push(&p->more, compare(p, FT_OP_BVULE, term, middle));
        answer = ask_value(p, term, compare(p, FT_OP_BVUGE, term, least), bits);
        p->more.len--;
        if (answer == FT_ANSWER_UNKNOWN) return false;
        if (answer == FT_ANSWER_UNSAT) least = middle + 1;
    }
    return true;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool few_values(sym_path *p, ft_term term, uint64_t *values, uint32_t few, uint32_t *count)
{
    uint64_t least = 0, most = UINT64_MAX >> (64 - ft_term_sort(p->pool, term).width);
    for (*count = 0; *count < few; ++*count) {
        bool found;
        assert(!*count || values[*count - 1] < least);
        if (!smallest(p, term, least, &values[*count], &found)) return false;
        if (!found || values[*count] == most) return *count += found, true;
        least = values[*count] + 1;
    }
    return true;
}

bool sym_path_values(sym_path *p, const ft_term *conditions, uint32_t n, ft_term term,
                     uint64_t *values, uint32_t room, uint32_t few, uint32_t *count, bool *more)
{
    FT_REQUIRE(few <= room);
    p->more.len = 0;
    for (uint32_t i = 0; i < n; i++) ft_vec_push(&p->more, conditions[i]);
    ft_term asked = compare(p, FT_OP_BVUGE, term, 0);
    *more = false;
    for (*count = 0;; ++*count) {
        uint64_t bits;
        ft_answer answer = ask_value(p, term, asked, &bits);
        if (answer == FT_ANSWER_UNKNOWN) return false;
        if (answer == FT_ANSWER_UNSAT) break;
        *more = *count == room;
        if (*more) break;
        values[*count] = bits;
        if (*count) ft_vec_push(&p->more, asked);
        asked = compare(p, FT_OP_DISTINCT, term, bits);
    }
    if (!*more) {
        qsort(values, *count, sizeof *values, by_size);
        return true;
    }
    p->more.len = n;
    return few_values(p, term, values, few, count);
}

const ft_term *sym_path_open(const sym_path *p, size_t n, uint32_t *count)
{
    for (size_t i = 0; i < p->entries.len; i++) {
        const entry *e = &p->entries.data[i];
        if (e->answer != FT_ANSWER_UNKNOWN || n--) continue;
        *count = e->n_terms;
        return p->asked.data + e->terms;
    }
    return NULL;
}
