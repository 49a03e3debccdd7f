/* Schedules with one delay: the observed order, but one thread stops at one of its events until
 * nobody else can go on (delay-bounded scheduling: Emmi, Qadeer and Rakamaric, POPL 2011, around
 * the observed run instead of a fixed scheduler). Executed as they come, with whatever values that
 * gives, they find the stale value and the lost update that a solver has to search for among sums.
 *
 * Finds or does not find; proves nothing. */
#ifndef FT_WITNESS_DELAY_H
#define FT_WITNESS_DELAY_H

#include "problem/problem.h"
#include "verdict/checker.h"

/* For ASSERTION and CONDITION under ctp, in traces without branches. most_steps bounds the work.
 * True: witness is filled, and the checker has confirmed it. */
bool ft_delay_find(const ft_problem *problem, ft_checker *checker, const ft_claim *claim,
                   uint64_t most_steps, ft_witness *witness);

#endif
