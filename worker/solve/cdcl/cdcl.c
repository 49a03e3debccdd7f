#include "solve/cdcl/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

enum { FIRST_REDUCTION = 4000, FIRST_CLEANING = 200000, GLUE_KEPT = 2 };

ft_cdcl *ft_cdcl_new(void)
{
    ft_cdcl *s = ft_calloc(1, sizeof *s);
    s->bump = 1;
    s->search = 1; /* focus 0: never */
    s->next_reduction = FIRST_REDUCTION;
    s->next_cleaning = FIRST_CLEANING;
    ft_vec_push(&s->arena, 0u); /* so that no clause has number 0 */
    ft_vec_push(&s->binaries, (ft_cdcl_link){0, 0});
    ft_vec_push(&s->limit_links, (ft_cdcl_link){0, 0});
    ft_cdcl_variable(s);
    ft_cdcl_variable(s);
    ft_cdcl_assign(s, ft_code_of(FT_LIT_TRUE), FT_BY_NONE);
    return s;
}

void ft_cdcl_free(ft_cdcl *s)
{
    if (!s) return;
    for (uint32_t p = 0; p < 2 * s->n_variables; p++) free(s->watches[p].data);
    free(s->phase), free(s->focus), free(s->heaped);
    free(s->level), free(s->reason), free(s->position), free(s->activity);
    free(s->seen), free(s->used), free(s->model), free(s->atom), free(s->supported);
    free(s->value), free(s->watches), free(s->implied), free(s->limited);
    ft_vec_release(&s->arena);
    ft_vec_release(&s->learnt);
    ft_vec_release(&s->binaries);
    ft_vec_release(&s->limit_links);
    ft_vec_release(&s->limits);
    ft_vec_release(&s->limit_literals);
    ft_vec_release(&s->trail);
    ft_vec_release(&s->levels);
    ft_vec_release(&s->pending);
    ft_vec_release(&s->heap);
    ft_vec_release(&s->conflict);
    ft_vec_release(&s->lesson);
    ft_vec_release(&s->why);
    ft_vec_release(&s->stack);
    ft_vec_release(&s->marked);
    ft_vec_release(&s->level_seen);
    ft_vec_release(&s->assumptions);
    ft_vec_release(&s->core);
    ft_order_graph_free(s->graph);
    free(s);
}

/* ---- variables ---- */

/* The arrays per variable and per literal grow together, their new part zeroed. */
static void grow(ft_cdcl *s)
{
    size_t old = s->variables_cap, cap = old ? 2 * old : 64;
#define GROW(array, per)                                                                           \
    (s->array = ft_realloc(s->array, cap * (per), sizeof *s->array),                               \
     memset(s->array + old * (per), 0, (cap - old) * (per) * sizeof *s->array))
    GROW(level, 1), GROW(reason, 1), GROW(position, 1), GROW(activity, 1), GROW(seen, 1);
    GROW(phase, 1), GROW(focus, 1), GROW(heaped, 1);
    GROW(used, 1), GROW(model, 1), GROW(atom, 1), GROW(supported, 1);
    GROW(value, 2), GROW(watches, 2), GROW(implied, 2), GROW(limited, 2);
#undef GROW
    s->variables_cap = cap;
}

ft_lit ft_cdcl_variable(ft_cdcl *s)
{
    if (s->n_variables == s->variables_cap) grow(s);
    assert(s->n_variables < FT_BY_BINARY / 2); /* codes share words with kinds of reasons */
    return (ft_lit)s->n_variables++;
}

/* ---- clauses ---- */

static void link_to(uint32_t *head, ft_cdcl_link *link, uint32_t number)
{
    link->next = *head;
    *head = number;
}

static void imply(ft_cdcl *s, ft_code premise, ft_code conclusion)
{
    ft_vec_push(&s->binaries, (ft_cdcl_link){conclusion, 0});
    uint32_t number = (uint32_t)s->binaries.len - 1;
    link_to(&s->implied[premise], &s->binaries.data[number], number);
}

uint32_t ft_cdcl_attach(ft_cdcl *s, const ft_code *literals, uint32_t count, uint32_t glue)
{
    FT_REQUIRE(literals && count >= 2);
    assert(FT_VARIABLE(literals[0]) != FT_VARIABLE(literals[1]));
    /* Once its default literal is false the other one is implied: it is never pending. */
    if (count == 2 && (ft_is_default(s, literals[0]) || ft_is_default(s, literals[1]))) {
        imply(s, FT_NOT(literals[0]), literals[1]);
        imply(s, FT_NOT(literals[1]), literals[0]);
        return FT_BY_BINARY | literals[1];
    }
    uint32_t clause = (uint32_t)s->arena.len;
    assert(clause + FT_HEAD + count < FT_BY_BINARY);
    ft_vec_reserve(&s->arena, s->arena.len + FT_HEAD + count);
    uint32_t *words = s->arena.data + clause;
    words[FT_SIZE] = count;
    words[FT_GLUE] = glue;
    words[FT_SUPPORT] = words[FT_NEXT_SUPPORTED] = 0;
    memcpy(words + FT_HEAD, literals, count * sizeof *literals);
    s->arena.len += FT_HEAD + count;
    ft_cdcl_watch(s, literals[0], (ft_cdcl_watcher){clause, literals[1]});
    ft_cdcl_watch(s, literals[1], (ft_cdcl_watcher){clause, literals[0]});
    if (glue != FT_GLUE_ORIGINAL) ft_vec_push(&s->learnt, clause);
    ft_cdcl_support(s, clause);
    return clause;
}

/* Copies the clause to s->lesson, without repetitions and without literals that are false at level
 * 0. False: the clause always holds. */
static bool simplify(ft_cdcl *s, const ft_lit *literals, uint32_t count)
{
    bool open = true;
    s->lesson.len = 0;
    for (uint32_t i = 0; i < count && open; i++) {
        ft_code p = ft_code_of(literals[i]);
        uint32_t v = FT_VARIABLE(p);
        FT_REQUIRE(v > 0 && v < s->n_variables);
        uint8_t mine = FT_NEGATIVE(p) ? 2 : 1;
        bool known = s->value[p] && s->level[v] == 0;
        open = !(known && s->value[p] > 0) && !(s->seen[v] & (3 - mine));
        if (known || (s->seen[v] & mine)) continue;
        s->seen[v] |= mine;
        s->used[v] = 1;
        ft_vec_push(&s->lesson, p);
    }
    for (size_t i = 0; i < s->lesson.len; i++) s->seen[FT_VARIABLE(s->lesson.data[i])] = 0;
    return open;
}

/* How suitable a literal is to be watched: not false is best, then false at a late level. */
static uint32_t fitness(const ft_cdcl *s, ft_code p)
{
    return s->value[p] < 0 ? s->level[FT_VARIABLE(p)] : UINT32_MAX;
}

static void fittest_first(const ft_cdcl *s, ft_code *p, size_t count)
{
    for (size_t place = 0; place < 2; place++)
        for (size_t i = place + 1; i < count; i++) {
            if (fitness(s, p[i]) <= fitness(s, p[place])) continue;
            ft_code other = p[place];
            p[place] = p[i];
            p[i] = other;
        }
}

/* Backtracks until the clause is not a conflict. True: the clause implies its first literal. */
static bool make_room(ft_cdcl *s, const ft_code *p)
{
    uint32_t first = s->level[FT_VARIABLE(p[0])], second = s->level[FT_VARIABLE(p[1])];
    if (s->value[p[1]] >= 0) return false;
    if (s->value[p[0]] > 0 && first <= second) return false;
    if (s->value[p[0]] < 0 && first == second) {
        assert(second > 0); /* simplify left out what is false for good */
        ft_cdcl_back(s, second - 1);
        return false;
    }
    ft_cdcl_back(s, second);
    return true;
}

void ft_cdcl_clause(ft_cdcl *s, const ft_lit *literals, uint32_t count)
{
    FT_REQUIRE(s && (literals || count == 0));
    if (!simplify(s, literals, count) || s->impossible) return;
    ft_code *p = s->lesson.data;
    size_t size = s->lesson.len;
    if (size == 0) {
        s->impossible = true;
    } else if (size == 1) {
        ft_cdcl_back(s, 0);
        ft_cdcl_assign(s, p[0], FT_BY_NONE);
    } else {
        fittest_first(s, p, size);
        bool implies = make_room(s, p);
        uint32_t reason = ft_cdcl_attach(s, p, (uint32_t)size, FT_GLUE_ORIGINAL);
        assert(s->value[p[0]] >= 0); /* room was made: the clause is not a conflict */
        if (implies) ft_cdcl_assign(s, p[0], reason);
    }
}

/* ---- limits ---- */

/* A positive literal of a plain variable that is true where p is: only plain variables are false
 * until a clause needs them. */
static ft_code stand_in(ft_cdcl *s, ft_code p)
{
    if (!FT_NEGATIVE(p) && !ft_is_atom(s, FT_VARIABLE(p))) return p;
    ft_lit y = ft_cdcl_variable(s);
    ft_cdcl_clause(s, (ft_lit[2]){-ft_lit_of(p), y}, 2);
    return ft_code_of(y);
}

static void add_limit(ft_cdcl *s, uint32_t first, uint32_t k)
{
    uint32_t count = (uint32_t)s->limit_literals.len - first;
    assert(ft_current_level(s) == 0 && count > k);
    ft_vec_push(&s->limits, (ft_cdcl_limit){first, count, k, 0});
    for (uint32_t i = first; i < first + count; i++) {
        ft_code p = s->limit_literals.data[i];
        assert(s->value[p] == 0 && !ft_is_default(s, p));
        s->used[FT_VARIABLE(p)] = 1;
        ft_vec_push(&s->limit_links, (ft_cdcl_link){(uint32_t)s->limits.len - 1, 0});
        uint32_t number = (uint32_t)s->limit_links.len - 1;
        link_to(&s->limited[p], &s->limit_links.data[number], number);
    }
}

void ft_cdcl_at_most(ft_cdcl *s, const ft_lit *literals, uint32_t count, uint32_t k)
{
    uint32_t first = (uint32_t)s->limit_literals.len, holding = 0;
    FT_REQUIRE(s && (literals || count == 0));
    ft_cdcl_back(s, 0);
    for (uint32_t i = 0; i < count; i++) {
        ft_code p = ft_code_of(literals[i]);
        FT_REQUIRE(FT_VARIABLE(p) > 0 && FT_VARIABLE(p) < s->n_variables);
        holding += s->value[p] > 0;
        if (s->value[p]) continue;
        p = stand_in(s, p);
        ft_vec_push(&s->limit_literals, p);
    }
    uint32_t open = (uint32_t)s->limit_literals.len - first;
    if (holding > k) s->impossible = true;
    if (holding < k && open > k - holding) {
        add_limit(s, first, k - holding);
        return;
    }
    s->limit_literals.len = first;
    if (holding != k) return;
    for (uint32_t i = first; i < first + open; i++) { /* cutting the length left the data */
        ft_lit none = -ft_lit_of(s->limit_literals.data[i]);
        ft_cdcl_clause(s, &none, 1);
    }
}

/* ---- order ---- */

void ft_cdcl_order_begin(ft_cdcl *s, uint32_t n_nodes)
{
    FT_REQUIRE(s && !s->graph); /* once */
    s->graph = ft_order_graph_new(n_nodes);
}

void ft_cdcl_order_edge(ft_cdcl *s, uint32_t a, uint32_t b)
{
    const uint32_t *labels;
    uint32_t count;
    FT_REQUIRE(s && s->graph);
    ft_cdcl_back(s, 0);
    if (ft_order_graph_add(s->graph, a, b, 0, &labels, &count)) return;
    /* Only a trace whose observed order is broken has a static cycle; the schedule will show it. */
    if (count > 0) s->impossible = true;
}

void ft_cdcl_order_atom(ft_cdcl *s, ft_lit literal, uint32_t a, uint32_t b)
{
    FT_REQUIRE(s && s->graph && literal > FT_LIT_TRUE && (uint32_t)literal < s->n_variables);
    FT_REQUIRE(a != b && !s->used[literal]);
    assert(!ft_is_atom(s, (uint32_t)literal));             /* one pair a variable */
    if (s->value[ft_code_of(literal)]) ft_cdcl_back(s, 0); /* assumed before */
    s->atom[literal] = (ft_cdcl_atom){a, b};
}

/* ---- cleaning ---- */

static int worst_first(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? 1 : a > b ? -1 : 0;
}

enum { DROPPED = UINT32_MAX };

/* Marks the worse half of the learnt clauses; of equal ones the older. */
static void choose_dropped(ft_cdcl *s)
{
    FT_VEC(uint64_t) ranked = {0};
    for (size_t i = 0; i < s->learnt.len; i++) {
        uint64_t glue = s->arena.data[s->learnt.data[i] + FT_GLUE];
        if (glue > GLUE_KEPT) ft_vec_push(&ranked, glue << 32 | (uint32_t)(UINT32_MAX - i));
    }
    if (ranked.len > 0) qsort(ranked.data, ranked.len, sizeof *ranked.data, worst_first);
    for (size_t i = 0; i < ranked.len / 2; i++) {
        uint32_t learnt = UINT32_MAX - (uint32_t)ranked.data[i];
        s->arena.data[s->learnt.data[learnt] + FT_GLUE] = DROPPED;
    }
    ft_vec_release(&ranked);
}

static void clean_binaries(ft_cdcl *s)
{
    FT_VEC(ft_cdcl_link) old = {s->binaries.data, s->binaries.len, s->binaries.cap};
    s->binaries.data = NULL;
    s->binaries.len = s->binaries.cap = 0;
    ft_vec_push(&s->binaries, (ft_cdcl_link){0, 0});
    for (ft_code p = 2; p < 2 * s->n_variables; p++) {
        uint32_t i = s->implied[p];
        s->implied[p] = 0;
        if (s->value[p]) continue; /* the clause is satisfied, or its other literal has a value */
        for (; i; i = old.data[i].next)
            if (!s->value[old.data[i].what]) imply(s, p, old.data[i].what);
    }
    ft_vec_release(&old);
}

/* Copies the clause's open literals to s->lesson; false: the clause is satisfied. */
static bool open_literals(ft_cdcl *s, const uint32_t *words)
{
    s->lesson.len = 0;
    for (uint32_t i = 0; i < words[FT_SIZE]; i++) {
        ft_code p = words[FT_HEAD + i];
        if (s->value[p] > 0) return false;
        if (s->value[p] == 0) ft_vec_push(&s->lesson, p);
    }
    return true;
}

void ft_cdcl_clean(ft_cdcl *s, bool reduce)
{
    assert(ft_current_level(s) == 0 && s->propagated == s->trail.len);
    if (reduce) choose_dropped(s);
    clean_binaries(s);
    uint32_t *old = s->arena.data;
    size_t end = s->arena.len;
    s->arena.data = NULL;
    s->arena.len = s->arena.cap = 0;
    ft_vec_push(&s->arena, 0u);
    s->learnt.len = s->pending.len = s->head = 0;
    memset(s->supported, 0, s->n_variables * sizeof *s->supported);
    for (uint32_t p = 0; p < 2 * s->n_variables; p++) s->watches[p].len = 0;
    for (size_t at = 1; at < end; at += FT_HEAD + old[at + FT_SIZE]) {
        uint32_t glue = old[at + FT_GLUE];
        if (glue == DROPPED || !open_literals(s, old + at)) continue;
        assert(s->lesson.len >= 2); /* all units are propagated */
        ft_cdcl_attach(s, s->lesson.data, (uint32_t)s->lesson.len, glue);
    }
    free(old);
    for (size_t i = 0; i < s->trail.len; i++) s->reason[FT_VARIABLE(s->trail.data[i])] = FT_BY_NONE;
    s->cleaned = (uint32_t)s->trail.len;
    FT_CHECK(ft_cdcl_is_sound(s));
}
