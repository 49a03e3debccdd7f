/* Domains: the finite set of values that each read and each use of a local can have in any
 * schedule, under `ctp`. Values flow through the terms of the program: constant propagation with
 * sets (Wang et al. §9 fold constants).
 *
 * A read can return the value of any write that the hard order lets it see. The sets are the least
 * fixpoints of that. Where values feed back into themselves (x := x + 1 in a cycle of reads and
 * writes), the fixpoint may be infinite; but a value is computed along a chain of distinct events,
 * so as many rounds as the cycle has writes are enough. Guards and locks are ignored: a set may be
 * too large, but never too small. */
#ifndef FT_VALUES_DOMAIN_H
#define FT_VALUES_DOMAIN_H

#include "values/chain.h"

/* Larger sets become `any`. */
enum { FT_DOMAIN_MOST = 256 };

typedef struct ft_domain {
    uint64_t *bits; /* ascending, distinct */
    uint32_t count;
    bool any; /* any value is possible, and `bits` is NULL */
} ft_domain;
bool ft_domain_is_sound(const ft_domain *domain); /* the invariant: ascending, distinct */

typedef struct ft_domains ft_domains;

/* NULL: not under ctp, or the trace has too many reads and writes. writes: all of the trace. */
ft_domains *ft_domains_new(const ft_problem *problem, const ft_writes *writes);
void ft_domains_free(ft_domains *domains); /* accepts NULL */

/* The i-th access of event e, a symbolic read whose value can matter (else: any). */
const ft_domain *ft_domains_read(const ft_domains *domains, uint32_t e, uint32_t i);

/* More that is known of reads: whether one can return a value; and every value that it can return,
 * ascending, if they are no more than FT_DOMAIN_MOST (0: they are more). */
typedef struct ft_domain_filter {
    const void *context;
    bool (*holds)(const void *context, uint32_t e, uint32_t i, uint64_t bits);
    uint32_t (*list)(const void *context, uint32_t e, uint32_t i, uint64_t bits[FT_DOMAIN_MOST]);
} ft_domain_filter;
/* Cuts the sets of reads down. Returns how many became smaller; *looked: of how many. */
uint64_t ft_domains_cut(ft_domains *domains, const ft_domain_filter *filter, uint64_t *looked);

/* Is the claim's term, an assertion's or a condition's, true in every state in which its event is
 * next? */
bool ft_domains_prove(ft_domains *domains, const ft_claim *claim);

#endif
