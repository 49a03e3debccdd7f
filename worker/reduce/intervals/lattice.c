#include "reduce/intervals/lattice.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"

static void set_bit(const ft_lattice *l, uint64_t *bits, uint32_t p, uint32_t q)
{
    bits[q * l->row + p / 64] |= (uint64_t)1 << p % 64;
}

static bool may_step(const ft_lattice *l, bool first, uint32_t p, uint32_t q)
{
    uint32_t mine = first ? p : q, other = first ? q : p;
    uint32_t me = first ? l->i : l->j, you = first ? l->j : l->i;
    const ft_step_thread *t = &l->steps->threads[me];
    if (mine >= t->n || t->needs[(size_t)mine * l->steps->n_threads + you] > other) return false;
    return ft_stepping_compatible(l->steps, me, mine + 1, you, other);
}

/* Row by row: both steps lead to a greater p or q. */
static void flood(ft_lattice *l)
{
    set_bit(l, l->reachable, 0, 0);
    for (uint32_t q = 0; q <= l->m; q++)
        for (uint32_t p = 0; p <= l->n; p++) {
            if (!ft_lattice_reach(l, p, q)) continue;
            if (may_step(l, true, p, q)) set_bit(l, l->reachable, p + 1, q);
            if (may_step(l, false, p, q)) set_bit(l, l->reachable, p, q + 1);
        }
}

static void find_dependent(ft_lattice *l)
{
    for (uint32_t q = 0; q < l->m; q++)
        for (uint32_t p = 0; p < l->n; p++) {
            if (!ft_stepping_conflict(l->steps, l->i, p, l->j, q)) continue;
            set_bit(l, l->conflict, p, q);
            if (ft_lattice_reach(l, p + 1, q + 1)) set_bit(l, l->dependent, p, q);
        }
}

ft_lattice *ft_lattice_new(const ft_stepping *steps, uint32_t i, uint32_t j)
{
    FT_REQUIRE(i < j && j < steps->n_threads);
    ft_lattice *l = ft_calloc(1, sizeof *l);
    *l = (ft_lattice){
        .steps = steps, .i = i, .j = j, .n = steps->threads[i].n, .m = steps->threads[j].n};
    l->row = l->n / 64 + 1;
    l->reachable = ft_calloc((l->m + 1) * l->row, sizeof *l->reachable);
    l->dependent = ft_calloc((l->m + 1) * l->row, sizeof *l->dependent);
    l->conflict = ft_calloc((l->m + 1) * l->row, sizeof *l->conflict);
    flood(l);
    find_dependent(l);
    return l;
}

void ft_lattice_free(ft_lattice *l)
{
    if (!l) return;
    free(l->reachable);
    free(l->dependent);
    free(l->conflict);
    free(l);
}

uint32_t ft_lattice_next(const ft_lattice *l, const uint64_t *bits, uint32_t from, uint32_t q)
{
    const uint64_t *row = bits + q * l->row;
    size_t word = from / 64;
    if (word >= l->row) return UINT32_MAX;
    uint64_t rest = row[word] & UINT64_MAX << from % 64;
    while (!rest && ++word < l->row) rest = row[word];
    return rest ? (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(rest) : UINT32_MAX;
}
