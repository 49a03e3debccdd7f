/* Schedules with one delay: the observed order, but one thread stops at one of its events until no
 * other thread can continue (delay-bounded scheduling: Emmi, Qadeer and Rakamaric, POPL 2011,
 * around the observed run instead of a fixed scheduler). Each is executed and its values computed.
 * They find stale values and lost updates that a solver would have to search for among sums.
 *
 * A schedule that is found is a witness; none found proves nothing. */
#ifndef FT_WITNESS_DELAY_H
#define FT_WITNESS_DELAY_H

#include "problem/problem.h"
#include "verdict/checker.h"

/* For ASSERTION and CONDITION under ctp, in traces without branches. most_steps bounds the work.
 * True: witness is filled, and the checker has confirmed it. */
bool ft_delay_find(const ft_problem *problem, ft_checker *checker, const ft_claim *claim,
                   uint64_t most_steps, ft_witness *witness);

#endif
