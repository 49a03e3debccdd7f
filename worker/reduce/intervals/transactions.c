#include "reduce/intervals/transactions.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "ranges/faults.h"
#include "reduce/intervals/lattice.h"

typedef struct state_pair {
    uint32_t p, q;
} state_pair;

typedef struct building {
    ft_transactions *t;
    const ft_transactions_options *options;
    uint32_t n;        /* threads */
    uint8_t **is_edge; /* per thread, per control state: a boundary */
    uint64_t work;
    FT_VEC(ft_switch) all;
} building;

static bool is_late(const building *b)
{
    return b->work > b->options->work;
}

/* ---- one MAT --------------------------------------------------------------------------------- */

/* Both serial orders can run. */
static bool is_feasible(building *b, const ft_lattice *l, state_pair f, state_pair last)
{
    for (uint32_t p = f.p; p <= last.p; p++)
        if (!ft_lattice_reach(l, p + 1, f.q) || !ft_lattice_reach(l, p + 1, last.q + 1))
            return false;
    for (uint32_t q = f.q; q <= last.q; q++)
        if (!ft_lattice_reach(l, f.p, q + 1) || !ft_lattice_reach(l, last.p + 1, q + 1))
            return false;
    b->work += (uint64_t)(last.p - f.p) + (last.q - f.q) + 2;
    return true;
}

/* Does step p of i conflict with a step of j from `from` up to and without `to`? */
static bool conflicts_in_column(building *b, const ft_lattice *l, uint32_t p, uint32_t from,
                                uint32_t to)
{
    for (uint32_t q = from; q < to; q++)
        if (b->work++, ft_lattice_bit(l, l->conflict, p, q)) return true;
    return false;
}

static bool conflicts_in_row(building *b, const ft_lattice *l, uint32_t q, uint32_t from,
                             uint32_t to)
{
    uint32_t p = ft_lattice_next(l, l->conflict, from, q);
    b->work++;
    return p < to;
}

/* Does a run from f that stays in the rectangle execute a conflict in an order that neither serial
 * run has: a step of one thread that is not its last, before one of the other? */
static bool is_mixed(building *b, const ft_lattice *l, state_pair f, state_pair last)
{
    size_t width = last.p - f.p + 2, height = last.q - f.q + 2;
    uint8_t *seen = ft_calloc(width * height, 1);
    bool mixed = false;
    seen[0] = 1;
    for (size_t y = 0; y < height && !mixed; y++)
        for (size_t x = 0; x < width && !mixed; x++) {
            uint32_t p = f.p + (uint32_t)x, q = f.q + (uint32_t)y;
            b->work++;
            if (!seen[y * width + x] || is_late(b)) continue;
            if (ft_lattice_reach(l, p + 1, q)) {
                mixed |= conflicts_in_column(b, l, p, f.q, q);
                seen[y * width + x + 1] |= p + 1 <= last.p;
            }
            if (ft_lattice_reach(l, p, q + 1)) {
                mixed |= conflicts_in_row(b, l, q, f.p, p);
                seen[(y + 1) * width + x] |= q + 1 <= last.q;
            }
        }
    free(seen);
    return mixed;
}

/* GenMAT's choice; false: nothing is dependent. */
static bool first_dependent(building *b, const ft_lattice *l, state_pair f, state_pair *last)
{
    for (uint32_t q = f.q; q < l->m; q++) {
        uint32_t p = ft_lattice_next(l, l->dependent, f.p, q);
        b->work++;
        if (p == UINT32_MAX) continue;
        *last = (state_pair){p, q};
        return true;
    }
    return false;
}

/* The least feasible rectangle that contains the first one. */
static bool first_feasible(building *b, const ft_lattice *l, state_pair f, state_pair *last)
{
    bool loose = ft_interval_fault_is(FT_INTERVAL_FAULT_LOOSE);
    if (is_feasible(b, l, f, *last)) return true;
    for (uint32_t q = last->q; q < l->m && !is_late(b); q++)
        for (uint32_t p = ft_lattice_next(l, l->dependent, last->p, q);
             p != UINT32_MAX && !is_late(b); p = ft_lattice_next(l, l->dependent, p + 1, q)) {
            state_pair larger = {p, q};
            b->work++;
            if (!is_feasible(b, l, f, larger) || (!loose && is_mixed(b, l, f, larger))) continue;
            *last = larger;
            return true;
        }
    return false;
}

/* The MAT from f. False: there is none. */
static bool find_mat(building *b, const ft_lattice *l, state_pair f, ft_mat *mat)
{
    state_pair last;
    if (!ft_lattice_reach(l, f.p, f.q) || f.p >= l->n || f.q >= l->m) return false;
    *mat = (ft_mat){.i = l->i, .j = l->j, .from = {f.p, f.q}};
    if (!first_dependent(b, l, f, &last)) {
        if (b->options->no_ends || ft_interval_fault_is(FT_INTERVAL_FAULT_NO_ENDS)) return false;
        last = (state_pair){l->n - 1, l->m - 1};
        mat->is_open = true;
    } else if (b->options->kind == FT_MAT_FEASIBLE && !first_feasible(b, l, f, &last)) {
        if (b->options->no_fallback || ft_interval_fault_is(FT_INTERVAL_FAULT_NO_FALLBACK))
            return false;
        mat->is_fallback = true;
    }
    mat->to[0] = last.p + 1;
    mat->to[1] = last.q + 1;
    return true;
}

/* ---- two threads ----------------------------------------------------------------------------- */

static void add_switch(building *b, uint32_t i, uint32_t p, uint32_t j, uint32_t q)
{
    ft_vec_push(&b->all, (ft_switch){i, p, j, q});
}

static void mark(building *b, const ft_mat *mat)
{
    b->is_edge[mat->i][mat->from[0]] = b->is_edge[mat->i][mat->to[0]] = 1;
    b->is_edge[mat->j][mat->from[1]] = b->is_edge[mat->j][mat->to[1]] = 1;
}

/* Appendix A, lines 13 to 16. */
static void corners_of(const ft_lattice *l, const ft_mat *mat, state_pair *next, uint32_t *count)
{
    bool last_p = mat->to[0] == l->n, last_q = mat->to[1] == l->m;
    *count = 0;
    if (!last_p && !last_q) next[(*count)++] = (state_pair){mat->to[0], mat->to[1]};
    if (!last_p) next[(*count)++] = (state_pair){mat->to[0], mat->from[1]};
    if (!last_q) next[(*count)++] = (state_pair){mat->from[0], mat->to[1]};
}

static void walk_pair(building *b, const ft_lattice *l)
{
    FT_VEC(state_pair) queue = {0};
    ft_map done = {0};
    ft_vec_push(&queue, (state_pair){0, 0});
    for (size_t at = 0; at < queue.len && !is_late(b); at++) {
        state_pair f = queue.data[at], next[3];
        ft_mat mat;
        bool fresh;
        uint32_t count;
        ft_map_slot(&done, (uint64_t)f.p << 32 | f.q, 1, &fresh);
        if (!fresh || !find_mat(b, l, f, &mat)) continue;
        ft_vec_push(&b->t->mats, mat);
        mark(b, &mat);
        add_switch(b, l->i, mat.to[0], l->j, f.q);
        add_switch(b, l->j, mat.to[1], l->i, f.p);
        corners_of(l, &mat, next, &count);
        for (uint32_t k = 0; k < count; k++) ft_vec_push(&queue, next[k]);
    }
    ft_vec_release(&queue);
    ft_map_release(&done);
}

/* ---- closed boundaries ----------------------------------------------------------------------- */

static ft_lattice *lattice_of(const ft_transactions *t, uint32_t i, uint32_t j)
{
    return t->lattices[(size_t)i * t->steps->n_threads + j];
}

/* From each pair of boundaries of i and j that is new. Returns whether there was any. */
static bool close_pair(building *b, uint32_t i, uint32_t j, ft_map *done)
{
    const ft_lattice *l = lattice_of(b->t, i, j);
    bool any = false;
    for (uint32_t p = 0; p < l->n; p++) {
        if (!b->is_edge[i][p]) continue;
        for (uint32_t q = 0; q < l->m && !is_late(b); q++) {
            bool fresh;
            ft_mat mat;
            b->work++;
            if (!b->is_edge[j][q]) continue;
            ft_map_slot(done, (uint64_t)p << 32 | q, 1, &fresh);
            any |= fresh;
            if (!fresh || !find_mat(b, l, (state_pair){p, q}, &mat)) continue;
            ft_vec_push(&b->t->mats, mat);
            mark(b, &mat);
        }
    }
    return any;
}

static void close_boundaries(building *b)
{
    ft_map *done = ft_calloc((size_t)b->n * b->n + 1, sizeof *done);
    bool again = b->n > 1;
    while (again && !is_late(b)) {
        again = false;
        for (uint32_t i = 0; i < b->n; i++)
            for (uint32_t j = i + 1; j < b->n; j++)
                again |= close_pair(b, i, j, &done[(size_t)i * b->n + j]);
    }
    for (size_t k = 0; k < (size_t)b->n * b->n; k++) ft_map_release(&done[k]);
    free(done);
}

/* Between any two boundaries, but from no start and to no end. */
static void switch_everywhere(building *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = 0; j < b->n; j++)
            for (uint32_t p = 1; i != j && p <= b->t->steps->threads[i].n; p++)
                for (uint32_t q = 0; b->is_edge[i][p] && q < b->t->steps->threads[j].n; q++) {
                    b->work++;
                    if (b->is_edge[j][q]) add_switch(b, i, p, j, q);
                    if (is_late(b)) return;
                }
}

/* ---- results --------------------------------------------------------------------------------- */

bool ft_transactions_reach(const ft_transactions *t, uint32_t i, uint32_t p, uint32_t j, uint32_t q)
{
    return i < j ? ft_lattice_reach(lattice_of(t, i, j), p, q)
                 : ft_lattice_reach(lattice_of(t, j, i), q, p);
}

static bool is_possible(const ft_transactions *t, const ft_switch *s)
{
    bool skip = ft_interval_fault_is(FT_INTERVAL_FAULT_NEXT_SWITCH);
    uint32_t n = t->steps->threads[s->to].n;
    if (s->from_state == 0 || s->to_state >= n) return false;
    if (skip && s->to_state + 2 <= n &&
        !ft_transactions_reach(t, s->from, s->from_state, s->to, s->to_state + 2))
        return false;
    return ft_transactions_reach(t, s->from, s->from_state - 1, s->to, s->to_state) &&
           ft_transactions_reach(t, s->from, s->from_state, s->to, s->to_state) &&
           ft_transactions_reach(t, s->from, s->from_state, s->to, s->to_state + 1);
}

static int by_states(const void *x, const void *y)
{
    const ft_switch *a = x, *b = y;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->from_state != b->from_state) return a->from_state < b->from_state ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return (a->to_state > b->to_state) - (a->to_state < b->to_state);
}

static void keep_switches(building *b)
{
    ft_transactions *t = b->t;
    if (b->all.len) qsort(b->all.data, b->all.len, sizeof *b->all.data, by_states);
    for (size_t k = 0; k < b->all.len; k++) {
        if (k && by_states(&b->all.data[k - 1], &b->all.data[k]) == 0) continue;
        t->n_switches++;
        if (is_possible(t, &b->all.data[k])) ft_vec_push(&t->switches, b->all.data[k]);
    }
}

static void keep_boundaries(building *b)
{
    ft_transactions *t = b->t;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t n = t->steps->threads[i].n;
        t->boundaries[i] = ft_alloc((n + 2) * sizeof **t->boundaries);
        for (uint32_t p = 0; p <= n; p++)
            if (b->is_edge[i][p]) t->boundaries[i][t->n_boundaries[i]++] = p;
    }
}

static void start_boundaries(building *b)
{
    b->is_edge = ft_calloc((size_t)b->n + 1, sizeof *b->is_edge);
    for (uint32_t i = 0; i < b->n; i++) {
        const ft_step_thread *t = &b->t->steps->threads[i];
        b->is_edge[i] = ft_calloc((size_t)t->n + 1, 1);
        if (b->options->kind == FT_MAT_NONE) memset(b->is_edge[i], 1, t->n + 1);
        b->is_edge[i][0] = b->is_edge[i][t->n] = 1;
        for (uint32_t k = 0; k < t->n; k++) b->is_edge[i][k + 1] |= t->steps[k].cut;
    }
}

static bool make_lattices(building *b)
{
    ft_transactions *t = b->t;
    const ft_stepping *s = t->steps;
    t->lattices = ft_calloc((size_t)b->n * b->n + 1, sizeof *t->lattices);
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = i + 1; j < b->n; j++)
            b->work += (uint64_t)(s->threads[i].n + 1) * (s->threads[j].n + 1);
    if (is_late(b)) return false;
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = i + 1; j < b->n; j++)
            t->lattices[(size_t)i * b->n + j] = ft_lattice_new(s, i, j);
    return true;
}

/* Do the two threads run side by side, as in the paper? */
static bool is_plain_pair(const ft_stepping *s)
{
    return s->n_threads == 2 && !s->threads[0].waits && !s->threads[1].waits;
}

static void find_all(building *b)
{
    bool pairwise = b->options->pairwise || is_plain_pair(b->t->steps) ||
                    ft_interval_fault_is(FT_INTERVAL_FAULT_PAIRWISE);
    start_boundaries(b);
    if (b->options->kind == FT_MAT_NONE) {
        switch_everywhere(b);
    } else if (pairwise) {
        for (uint32_t i = 0; i < b->n; i++)
            for (uint32_t j = i + 1; j < b->n; j++) walk_pair(b, lattice_of(b->t, i, j));
    } else {
        close_boundaries(b);
        switch_everywhere(b);
    }
    keep_boundaries(b);
    keep_switches(b);
    for (uint32_t i = 0; i < b->n; i++) free(b->is_edge[i]);
    free(b->is_edge);
}

ft_transactions *ft_transactions_new(const ft_stepping *steps,
                                     const ft_transactions_options *options)
{
    FT_REQUIRE(steps && options);
    ft_transactions *t = ft_calloc(1, sizeof *t);
    building b = {.t = t, .options = options, .n = steps->n_threads};
    t->steps = steps;
    t->boundaries = ft_calloc((size_t)b.n + 1, sizeof *t->boundaries);
    t->n_boundaries = ft_calloc((size_t)b.n + 1, sizeof *t->n_boundaries);
    if (make_lattices(&b)) find_all(&b);
    ft_vec_release(&b.all);
    if (is_late(&b)) {
        ft_transactions_free(t);
        return NULL;
    }
    FT_CHECK(ft_transactions_are_sound(t));
    return t;
}

void ft_transactions_free(ft_transactions *t)
{
    if (!t) return;
    uint32_t n = t->steps->n_threads;
    for (size_t k = 0; t->lattices && k < (size_t)n * n; k++) ft_lattice_free(t->lattices[k]);
    for (uint32_t i = 0; i < n; i++) free(t->boundaries[i]);
    free(t->lattices);
    free(t->boundaries);
    free(t->n_boundaries);
    ft_vec_release(&t->mats);
    ft_vec_release(&t->switches);
    free(t);
}

static bool is_boundary(const ft_transactions *t, uint32_t i, uint32_t state)
{
    for (uint32_t k = 0; k < t->n_boundaries[i]; k++)
        if (t->boundaries[i][k] == state) return true;
    return false;
}

bool ft_transactions_are_sound(const ft_transactions *t)
{
    for (uint32_t i = 0; i < t->steps->n_threads; i++) {
        if (t->n_boundaries[i] == 0 || t->boundaries[i][0] != 0) return false;
        if (t->boundaries[i][t->n_boundaries[i] - 1] != t->steps->threads[i].n) return false;
        for (uint32_t k = 1; k < t->n_boundaries[i]; k++)
            if (t->boundaries[i][k - 1] >= t->boundaries[i][k]) return false;
    }
    for (size_t k = 0; k < t->switches.len; k++)
        if (!is_boundary(t, t->switches.data[k].from, t->switches.data[k].from_state) ||
            !is_boundary(t, t->switches.data[k].to, t->switches.data[k].to_state))
            return false;
    return true;
}
