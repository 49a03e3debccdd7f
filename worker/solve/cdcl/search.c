#include "solve/cdcl/internal.h"

#include <string.h>

#include "base/clock.h"
#include "base/contract.h"

enum { RESTART_UNIT = 64, CLOCK_EVERY = 128, REDUCTION_STEP = 4000, FOCUS_AFTER = 32 };

/* 1 1 2 1 1 2 4 1 1 2 ... (Luby, Sinclair and Zuckerman, Optimal speedup of Las Vegas algorithms,
 * 1993) */
static uint64_t luby(uint64_t i)
{
    uint64_t size = 1;
    while (size < i + 1) size = 2 * size + 1;
    while (size - 1 != i) {
        size = (size - 1) / 2;
        i %= size;
    }
    return (size + 1) / 2;
}

/* ---- decisions ---- */

/* Does the literal's edge agree with the graph's present order? Then it costs nothing. */
static bool agrees(const ft_cdcl *s, ft_code p)
{
    ft_cdcl_atom atom = s->atom[FT_VARIABLE(p)];
    bool reversed = ft_order_graph_place(s->graph, atom.b) < ft_order_graph_place(s->graph, atom.a);
    return reversed == !FT_NEGATIVE(p);
}

/* The cost of making p true: reversed edges, and other variables that become true with it. */
static uint32_t cost(const ft_cdcl *s, ft_code p)
{
    enum { REVERSAL = 1000 };
    if (ft_is_atom(s, FT_VARIABLE(p))) return agrees(s, p) ? 0 : REVERSAL;
    uint32_t total = 0;
    for (uint32_t i = s->implied[p]; i; i = s->binaries.data[i].next) {
        ft_code q = s->binaries.data[i].what;
        if (s->value[q]) continue;
        if (ft_is_atom(s, FT_VARIABLE(q)))
            total += agrees(s, q) ? 0 : REVERSAL;
        else
            total += !FT_NEGATIVE(q);
    }
    return total;
}

/* The clause's cheapest open literal to make true; 0: the clause is satisfied. Of several without
 * cost it is the last, as the sources of a read are in observed order. */
static ft_code best_literal(const ft_cdcl *s, uint32_t clause)
{
    const uint32_t *words = s->arena.data + clause;
    ft_code best = 0;
    uint32_t least = UINT32_MAX;
    double activity = 0;
    for (uint32_t i = 0; i < words[FT_SIZE]; i++) {
        ft_code p = words[FT_HEAD + i];
        if (s->value[p] > 0) return 0;
        if (s->value[p] < 0) continue;
        uint32_t price = cost(s, p);
        double mine = s->activity[FT_VARIABLE(p)];
        if (best && price > least) continue;
        if (best && price == least && price > 0 && mine <= activity) continue;
        best = p;
        least = price;
        activity = mine;
    }
    assert(best); /* all false: propagation would have found the conflict */
    return best;
}

/* The most active variable of the conflicts so far, with its last value. */
static ft_code decide_focused(ft_cdcl *s)
{
    uint32_t v = ft_cdcl_heap_pop(s);
    ft_code p = v << 1;
    return s->phase[v] > 0 ? p : FT_NOT(p);
}

/* An easy search satisfies the pending clauses one by one; after many conflicts it decides the
 * variables of these conflicts instead. */
static ft_code decide(ft_cdcl *s)
{
    if (s->conflicts >= s->search_began + FOCUS_AFTER) {
        ft_code p = decide_focused(s);
        if (FT_VARIABLE(p)) return p;
    }
    for (; s->head < s->pending.len; s->head++) {
        ft_code p = best_literal(s, s->pending.data[s->head]);
        if (p) return p;
    }
    return 0;
}

/* ---- answers ---- */

static void keep_model(ft_cdcl *s)
{
    for (uint32_t v = 1; v < s->n_variables; v++) {
        ft_code p = v << 1;
        s->model[v] = s->value[p];
        if (s->value[p] == 0) s->model[v] = ft_is_atom(s, v) && agrees(s, p) ? 1 : -1;
    }
    s->model_size = s->n_variables;
    FT_CHECK(ft_cdcl_model_holds(s));
}

bool ft_cdcl_true(const ft_cdcl *s, ft_lit literal)
{
    FT_REQUIRE(s && literal != 0);
    uint32_t v = FT_VARIABLE(ft_code_of(literal));
    if (v == FT_LIT_TRUE) return literal > 0;
    if (v >= s->model_size) return literal < 0; /* made after the model: free, so false */
    return (s->model[v] > 0) == (literal > 0);
}

uint32_t ft_cdcl_core(const ft_cdcl *s, const ft_lit **core)
{
    FT_REQUIRE(s && core);
    *core = s->core.data;
    return (uint32_t)s->core.len;
}

/* ---- the search ---- */

/* Keeps the part of the trail whose assumptions are the same as in the last check. */
static void set_assumptions(ft_cdcl *s, const ft_lit *assumptions, uint32_t count)
{
    uint32_t same = 0;
    while (same < count && same < s->assumptions.len &&
           s->assumptions.data[same] == ft_code_of(assumptions[same]))
        same++;
    if (same < count || same < s->assumptions.len) {
        ft_cdcl_back(s, same);
        ft_cdcl_heap_clear(s);
    }
    s->assumptions.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        ft_code p = ft_code_of(assumptions[i]);
        FT_REQUIRE(FT_VARIABLE(p) > 0 && FT_VARIABLE(p) < s->n_variables);
        ft_vec_push(&s->assumptions, p);
    }
}

static void learn(ft_cdcl *s)
{
    uint32_t glue, level = ft_cdcl_analyse(s, &glue), reason = FT_BY_NONE;
    assert(level < ft_current_level(s));
    ft_cdcl_back(s, level);
    if (s->lesson.len > 1)
        reason = ft_cdcl_attach(s, s->lesson.data, (uint32_t)s->lesson.len, glue);
    ft_cdcl_assign(s, s->lesson.data[0], reason);
    s->bump *= 1 / 0.95;
    s->conflicts++;
}

/* Between restarts: drops learnt clauses when there are many, and clauses that are satisfied at
 * level 0 once the propagation work since the last cleaning exceeds its cost. */
static void tidy(ft_cdcl *s)
{
    bool reduce = s->learnt.len > s->next_reduction;
    bool clean = s->work > s->next_cleaning && s->trail.len > s->cleaned;
    if (!reduce && !clean) return;
    if (ft_current_level(s) > 0) {
        if (!reduce) return;
        ft_cdcl_back(s, 0);
    }
    if (!ft_cdcl_propagate(s)) {
        s->impossible = true;
        return;
    }
    ft_cdcl_clean(s, reduce);
    if (reduce) s->next_reduction = s->learnt.len + REDUCTION_STEP + 300 * ++s->reductions;
    s->next_cleaning = s->work + 2 * (s->arena.len + s->n_variables);
}

/* Opens the next level. False: there is nothing to decide, or *answer is UNSAT. */
static bool descend(ft_cdcl *s, ft_answer *answer)
{
    ft_code p;
    uint32_t level = ft_current_level(s);
    if (level < s->assumptions.len) {
        p = s->assumptions.data[level];
        if (s->value[p] < 0) {
            ft_cdcl_explain_assumption(s, p);
            *answer = FT_ANSWER_UNSAT;
            return false;
        }
    } else {
        p = decide(s);
        *answer = FT_ANSWER_SAT;
        if (!p) return false;
    }
    assert(s->value[p] >= 0); /* propagation found no conflict with it */
    ft_cdcl_open_level(s);
    if (s->value[p] == 0) ft_cdcl_assign(s, p, FT_BY_NONE);
    return true;
}

static ft_answer search(ft_cdcl *s, double deadline)
{
    uint64_t steps = 0, restarts = 0, until = s->conflicts + RESTART_UNIT * luby(0);
    ft_answer answer = FT_ANSWER_UNKNOWN;
    for (;;) {
        if (!ft_cdcl_propagate(s)) {
            if (ft_current_level(s) == 0) s->impossible = true;
            if (s->impossible) return FT_ANSWER_UNSAT;
            learn(s);
        } else {
            if (s->conflicts >= until) {
                ft_cdcl_back(s, (uint32_t)s->assumptions.len);
                until = s->conflicts + RESTART_UNIT * luby(++restarts);
            }
            tidy(s);
            if (s->impossible) return FT_ANSWER_UNSAT;
            if (!descend(s, &answer)) return answer;
        }
        if (deadline > 0 && ++steps % CLOCK_EVERY == 0 && ft_now_ms() > deadline)
            return FT_ANSWER_UNKNOWN;
    }
}

ft_answer ft_cdcl_check(ft_cdcl *s, const ft_lit *assumptions, uint32_t count, uint32_t timeout_ms)
{
    FT_REQUIRE(s && (assumptions || count == 0));
    FT_CHECK(ft_cdcl_is_sound(s));
    s->core.len = 0;
    if (s->impossible) return FT_ANSWER_UNSAT;
    set_assumptions(s, assumptions, count);
    ft_answer answer = search(s, timeout_ms ? ft_now_ms() + timeout_ms : 0);
    if (answer == FT_ANSWER_SAT) {
        assert(s->propagated == s->trail.len && s->ordered == s->trail.len);
        assert(s->head == s->pending.len && ft_current_level(s) >= count);
        keep_model(s);
    }
    FT_CHECK(ft_cdcl_is_sound(s));
    return answer;
}
