/* The lattice of two threads: which pairs of their control states can be reached, and which steps
 * are dependent (transactions.h). A bit for each point. */
#ifndef FT_INTERVALS_LATTICE_H
#define FT_INTERVALS_LATTICE_H

#include "reduce/intervals/steps.h"

typedef struct ft_lattice {
    const ft_stepping *steps;
    uint32_t i, j, n, m; /* threads, and their steps */
    size_t row;          /* words of a row: the points of one q */
    uint64_t *reachable; /* [m + 1][row]: bit p of row q */
    uint64_t *dependent; /* [m][row] */
    uint64_t *conflict;  /* [m][row], whether reachable or not */
} ft_lattice;

ft_lattice *ft_lattice_new(const ft_stepping *steps, uint32_t i, uint32_t j);
void ft_lattice_free(ft_lattice *lattice); /* accepts NULL */

static inline bool ft_lattice_bit(const ft_lattice *l, const uint64_t *bits, uint32_t p, uint32_t q)
{
    return bits[q * l->row + p / 64] >> p % 64 & 1;
}
static inline bool ft_lattice_reach(const ft_lattice *l, uint32_t p, uint32_t q)
{
    return ft_lattice_bit(l, l->reachable, p, q);
}
/* The first p at or behind `from` whose bit in row q is set; UINT32_MAX: none. */
uint32_t ft_lattice_next(const ft_lattice *lattice, const uint64_t *bits, uint32_t from,
                         uint32_t q);

#endif
