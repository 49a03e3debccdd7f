#include <stdlib.h>

#include "symbolic/internal.h"

enum { PLACES = 256 };

typedef FT_VEC(ft_term) cases;

/* May another thread's access to the object conflict with this one? */
static bool conflicts(const ft_sym_state *m, const access *a)
{
    const object *o = &m->objects.data[a->object - 1];
    bool all = a->writes && !sym_fault_is(SYM_FAULT_DOUBT_READS);
    uint64_t others = all ? o->read | o->written : o->written;
    return others & ~(UINT64_C(1) << a->thread);
}

/* The access at each of its places, against those whose places are known. */
static bool add_places(ft_sym_state *m, const access *a, cases *all)
{
    uint64_t values[PLACES];
    uint32_t n, known = sym_all_known(m);
    bool more;
    if (!sym_path_values(m->world->path, m->world->scratch.data, known, a->offset, values, PLACES,
                         1, &n, &more) ||
        more)
        return false;
    for (uint32_t i = 0; i < n; i++) ft_vec_push(all, sym_is(m->world, a->offset, values[i]));
    return true;
}

/* Two of them where they overlap: a < b + n and b < a + n. */
static void add_pair(ft_sym_state *m, const access *a, const access *b, cases *all)
{
    ft_sym_world *w = m->world;
    value x = {.term = a->offset}, y = {.term = b->offset};
    value x_end = sym_binary(w, FT_CODE_ADD, 64, x, sym_number(a->n));
    value y_end = sym_binary(w, FT_CODE_ADD, 64, y, sym_number(b->n));
    ft_term meet = sym_and(w, sym_truth(w, sym_binary(w, FT_CODE_ULT, 64, x, y_end)),
                           sym_truth(w, sym_binary(w, FT_CODE_ULT, 64, y, x_end)));
    ft_vec_push(all, meet);
}

static bool list(ft_sym_state *m, cases *all)
{
    bool whole = true;
    if (sym_fault_is(SYM_FAULT_NO_DOUBTS)) return true;
    for (size_t i = 0; i < m->accesses.len; i++) {
        const access *a = &m->accesses.data[i];
        if (!conflicts(m, a)) continue;
        whole = add_places(m, a, all) && whole;
        for (size_t k = 0; k < i && !sym_fault_is(SYM_FAULT_DOUBT_PAIRS); k++) {
            const access *b = &m->accesses.data[k];
            if (a->object == b->object && a->thread != b->thread && (a->writes || b->writes))
                add_pair(m, a, b, all);
        }
    }
    return whole;
}

static int by_number(const void *a, const void *b)
{
    ft_term x = *(const ft_term *)a, y = *(const ft_term *)b;
    return (x > y) - (x < y);
}

bool ft_sym_next_doubt(ft_sym_state *m, ft_sym_doubts *d, bool *all)
{
    sym_path *path = m->world->path;
    if (!d->listed) {
        cases found = {0};
        *all = list(m, &found);
        d->listed = true;
        d->cases = found.data;
        d->n = found.len;
        if (d->n) qsort(d->cases, d->n, sizeof *d->cases, by_number);
    }
    for (; d->at < d->n; d->at++) {
        ft_term term = d->cases[d->at];
        if (d->at && term == d->cases[d->at - 1]) continue;
        if (sym_path_holds(path, term, m->inputs.data, m->inputs.len)) continue; /* was tried */
        uint32_t known = sym_all_known(m);
        sym_reply r = sym_path_ask(path, m->world->scratch.data, known, term);
        if (r.answer == FT_ANSWER_UNKNOWN) *all = false;
        if (r.answer != FT_ANSWER_SAT) continue;
        sym_take_model(m, &r);
        d->at++;
        return true;
    }
    return false;
}

void ft_sym_doubts_release(ft_sym_doubts *d)
{
    free(d->cases);
    *d = (ft_sym_doubts){0};
}
