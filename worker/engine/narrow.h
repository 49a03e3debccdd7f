/* What intervals (reduce/intervals/intervals.h) narrow for the solvers. Each returns how much
 * became smaller; *looked: of how much. */
#ifndef FT_ENGINE_NARROW_H
#define FT_ENGINE_NARROW_H

#include "engine/analyses.h"

/* Sets of values: any, or with values outside of their read's range. */
uint64_t ft_narrow_domains(const ft_intervals *intervals, ft_domains *domains, uint64_t *looked);
/* Sources of reads that ft_intervals_may_read excludes; looked at as far as they are few. */
uint64_t ft_narrow_sources(const ft_intervals *intervals, const ft_writes *writes,
                           uint64_t *looked);
/* Reads with a bound. */
uint64_t ft_narrow_reads(const ft_intervals *intervals, uint64_t *looked);
/* Of the BitVec reads: those that are Ints, and those with fewer bits than their sort has. */
uint64_t ft_narrow_numbers(const ft_numbers *numbers, uint64_t *looked);
uint64_t ft_narrow_widths(const ft_intervals *intervals, uint64_t *looked);

#endif
