/* Numbers: the BitVec variables that are Ints for a solver, because nothing that is computed from
 * them wraps.
 *
 * Variables and terms that meet (in an operator, a comparison, an assignment) are one component: as
 * Ints all of them are, or none. A component is numbers in a view, unsigned or signed, if each of
 * its operators is one that Int has (sums, differences, products with a constant, comparisons in
 * that view, choices, extensions) and, over the ranges of the reads, leaves the numbers of that
 * view nowhere. Components without a sum or product stay bits: copies alone are cheaper so. */
#ifndef FT_INTERVALS_NUMBERS_H
#define FT_INTERVALS_NUMBERS_H

#include "reduce/intervals/intervals.h"

typedef struct ft_numbers {
    const ft_intervals *intervals;
    uint8_t *shared; /* [shared variables] ft_number */
} ft_numbers;

/* The intervals must outlive them. */
ft_numbers *ft_numbers_new(const ft_intervals *intervals);
void ft_numbers_free(ft_numbers *numbers); /* accepts NULL */
ft_number ft_numbers_shared(const ft_numbers *numbers, uint32_t variable);

#endif
