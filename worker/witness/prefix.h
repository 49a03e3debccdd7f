/* Prefixes in observed order: accept easy claims and refute impossible ones in linear time.
 *
 * The closure of a claim is the least set of events that holds the program-order predecessors of
 * its final events and all that its members need. There are two:
 *  - To refute: members need hard order, reads-from (of reads that the model ties to their observed
 *    write), and releases that a lock open at a final event makes necessary. Every prefix that
 *    reaches the claim contains this closure, so a final event inside refutes the claim.
 *  - To accept: members also need observed reads-from, closed earlier sections, semaphore tokens in
 *    FIFO order, the signals of cond-wakes and the holders that make attempts fail. This closure
 *    executes in observed order with the observed values, so it is a witness if no final event is
 *    inside (the idea of sync-preserving races: Mathur, Pavlogiannis, Viswanathan, POPL 2021, here
 *    for every claim). */
#ifndef FT_WITNESS_PREFIX_H
#define FT_WITNESS_PREFIX_H

#include "base/contract.h"
#include "order/order.h"
#include "order/run.h"
#include "verdict/claim.h"

typedef struct ft_prefix ft_prefix; /* scratch for one trace */

ft_prefix *ft_prefix_new(const ft_trace *trace, const ft_order *order, const ft_run *run);
void ft_prefix_free(ft_prefix *prefix); /* accepts NULL */

/* Is the claim impossible because one of its final events is in its closure? */
bool ft_prefix_refutes(ft_prefix *prefix, ft_model model, const ft_claim *claim);

/* A schedule in observed order that should reach the claim; the caller lets the checker confirm.
 * False: none of this simple kind. steps is heap memory owned by the witness. */
bool ft_prefix_accepts(ft_prefix *prefix, ft_model model, const ft_claim *claim,
                       ft_witness *witness);

/* Are those schedules 1-minimal: no single last event of a thread can be dropped from one? */
bool ft_prefix_is_minimal(ft_prefix *prefix, ft_model model);

/* The schedule of the observed run itself, if the claim held in it: racing accesses adjacent, t_r
 * between t_c and t_c', an assertion that failed. To be confirmed by the checker likewise. */
bool ft_prefix_observed(const ft_order *order, ft_model model, const ft_claim *claim,
                        ft_witness *witness);

#endif
