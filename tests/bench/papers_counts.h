/* The columns of static warnings in Kahlon and Wang's table 1: all candidates of a check, those
 * that locks alone leave (lsa), those that the hard order alone leaves (mhb), those that the
 * universal causality graph leaves (ucg). */
#ifndef FT_BENCH_PAPERS_COUNTS_H
#define FT_BENCH_PAPERS_COUNTS_H

#include "trace/trace.h"
#include "verdict/claim.h"

typedef struct ft_counts {
    uint64_t total, lockset, order, causality;
} ft_counts;

ft_counts ft_counts_race(const ft_trace *trace, ft_model model);
ft_counts ft_counts_atomicity(const ft_trace *trace, ft_model model);

#endif
