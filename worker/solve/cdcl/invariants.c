/* The solver's invariants between its steps, for FT_CHECK: each walks the whole structure. */
#include "solve/cdcl/internal.h"

#include <string.h>

static bool trail_is_sound(const ft_cdcl *s)
{
    size_t assigned = 0;
    uint32_t level = 0;
    for (size_t i = 0; i < s->trail.len; i++) {
        ft_code p = s->trail.data[i];
        uint32_t v = FT_VARIABLE(p);
        while (level < s->levels.len && s->levels.data[level].trail <= i) level++;
        if (v == 0 || v >= s->n_variables) return false;
        if (s->value[p] != 1 || s->value[FT_NOT(p)] != -1) return false;
        if (s->position[v] != i || s->level[v] != level) return false;
    }
    for (uint32_t p = 2; p < 2 * s->n_variables; p++) assigned += s->value[p] > 0;
    return assigned == s->trail.len;
}

static bool levels_are_sound(const ft_cdcl *s)
{
    ft_level last = {0, 0, 0, 0};
    uint32_t edges = s->graph ? ft_order_graph_edges(s->graph) : 0;
    for (size_t i = 0; i < s->levels.len; i++) {
        ft_level l = s->levels.data[i];
        if (l.trail < last.trail || l.edges < last.edges || l.pending < last.pending) return false;
        if (l.head > l.pending) return false;
        last = l;
    }
    return last.trail <= s->trail.len && last.edges <= edges && s->propagated <= s->trail.len &&
           s->ordered <= s->propagated && s->head <= s->pending.len;
}

static bool heap_is_sound(const ft_cdcl *s)
{
    size_t placed = 0;
    for (size_t i = 0; i < s->heap.len; i++) {
        uint32_t v = s->heap.data[i];
        if (s->heaped[v] != i + 1) return false;
        if (i > 0 && s->activity[s->heap.data[(i - 1) / 2]] < s->activity[v]) return false;
    }
    for (uint32_t v = 0; v < s->n_variables; v++) placed += s->heaped[v] != 0;
    return placed == s->heap.len;
}

static bool limits_are_sound(const ft_cdcl *s)
{
    for (size_t i = 0; i < s->limits.len; i++) {
        const ft_cdcl_limit *limit = &s->limits.data[i];
        uint32_t holding = 0;
        for (uint32_t k = 0; k < limit->count; k++)
            holding += s->value[s->limit_literals.data[limit->first + k]] > 0;
        if (holding != limit->holding) return false;
    }
    return true;
}

/* Each clause is watched at its first two literals, and nowhere else. */
static bool watches_are_sound(const ft_cdcl *s)
{
    size_t watchers = 0, clauses = 0;
    for (ft_code p = 2; p < 2 * s->n_variables; p++) {
        const ft_watch_list *list = &s->watches[p];
        for (uint32_t i = 0; i < list->len; i++) {
            const uint32_t *literals = s->arena.data + list->data[i].clause + FT_HEAD;
            if (literals[0] != FT_NOT(p) && literals[1] != FT_NOT(p)) return false;
        }
        watchers += list->len;
    }
    size_t at = 1;
    for (; at < s->arena.len; at += FT_HEAD + s->arena.data[at + FT_SIZE], clauses++)
        if (s->arena.data[at + FT_SIZE] < 2) return false;
    return at == s->arena.len && watchers == 2 * clauses;
}

bool ft_cdcl_is_sound(const ft_cdcl *s)
{
    return trail_is_sound(s) && levels_are_sound(s) && heap_is_sound(s) && limits_are_sound(s) &&
           watches_are_sound(s) && s->marked.len == 0 &&
           (!s->graph || ft_order_graph_is_sound(s->graph));
}

/* ---- models and lessons ---- */

static bool holds(const ft_cdcl *s, ft_code p)
{
    return ft_cdcl_true(s, ft_lit_of(p));
}

static bool clauses_hold(const ft_cdcl *s)
{
    for (size_t at = 1; at < s->arena.len; at += FT_HEAD + s->arena.data[at + FT_SIZE]) {
        const uint32_t *words = s->arena.data + at;
        uint32_t i = 0;
        while (i < words[FT_SIZE] && !holds(s, words[FT_HEAD + i])) i++;
        if (i == words[FT_SIZE]) return false;
    }
    for (ft_code p = 2; p < 2 * s->n_variables; p++)
        for (uint32_t i = s->implied[p]; i; i = s->binaries.data[i].next)
            if (holds(s, p) && !holds(s, s->binaries.data[i].what)) return false;
    return true;
}

static bool limits_hold(const ft_cdcl *s)
{
    for (size_t i = 0; i < s->limits.len; i++) {
        const ft_cdcl_limit *limit = &s->limits.data[i];
        uint32_t holding = 0;
        for (uint32_t k = 0; k < limit->count; k++)
            holding += holds(s, s->limit_literals.data[limit->first + k]);
        if (holding > limit->k) return false;
    }
    return true;
}

/* One total order, the graph's, gives every order atom its value. */
static bool atoms_hold(const ft_cdcl *s)
{
    for (uint32_t v = 0; v < s->n_variables; v++) {
        ft_cdcl_atom atom = s->atom[v];
        if (atom.a == atom.b) continue;
        bool reversed =
            ft_order_graph_place(s->graph, atom.b) < ft_order_graph_place(s->graph, atom.a);
        if (holds(s, v << 1) != reversed) return false;
    }
    return true;
}

bool ft_cdcl_model_holds(const ft_cdcl *s)
{
    for (size_t i = 0; i < s->assumptions.len; i++)
        if (!holds(s, s->assumptions.data[i])) return false;
    return clauses_hold(s) && limits_hold(s) && atoms_hold(s);
}

bool ft_cdcl_core_is_assumed(const ft_cdcl *s)
{
    for (size_t i = 0; i < s->core.len; i++) {
        size_t k = 0;
        while (k < s->assumptions.len && s->assumptions.data[k] != ft_code_of(s->core.data[i])) k++;
        if (k == s->assumptions.len) return false;
    }
    return true;
}

bool ft_cdcl_lesson_asserts(const ft_cdcl *s)
{
    for (size_t i = 0; i < s->lesson.len; i++) {
        ft_code p = s->lesson.data[i];
        bool here = s->level[FT_VARIABLE(p)] == ft_current_level(s);
        if (s->value[p] >= 0 || here != (i == 0)) return false;
    }
    return s->lesson.len > 0;
}
