/* What every read and every local use can be, in any schedule: the finite sets of values that flow
 * through the terms of the program (constant propagation, but with sets: Wang et al. §9 fold
 * constants likewise), under `ctp`.
 *
 * A read can return what any write can write that the hard order lets it see. Sets are least
 * fixpoints of that. Where values feed back into themselves (x := x + 1 in a loop of reads and
 * writes), the fixpoint may be without end; but a value is computed along a chain of distinct
 * events, so as many rounds as there are writes in the circle are enough. Guards and locks are not
 * looked at: the sets are too large at most, never too small. */
#ifndef FT_VALUES_DOMAIN_H
#define FT_VALUES_DOMAIN_H

#include "values/chain.h"

/* Larger sets are not kept. */
enum { FT_DOMAIN_MOST = 256 };

typedef struct ft_domain {
    uint64_t *bits; /* ascending, distinct */
    uint32_t count;
    bool any; /* nothing is known; else `bits` */
} ft_domain;

typedef struct ft_domains ft_domains;

/* NULL: not under ctp, or too many reads and writes to look at. writes: all of the trace. */
ft_domains *ft_domains_new(const ft_problem *problem, const ft_writes *writes);
void ft_domains_free(ft_domains *domains); /* accepts NULL */

/* The i-th access of event e, a symbolic read whose value can matter (else: any). */
const ft_domain *ft_domains_read(const ft_domains *domains, uint32_t e, uint32_t i);

/* Can the claim's term, an assertion's or a condition's, be false in no state that can be when its
 * event is next? */
bool ft_domains_prove(ft_domains *domains, const ft_claim *claim);

#endif
