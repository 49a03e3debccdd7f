/* Schedules without a solver, for races and triplets over plain traces (no branches; locks, forks,
 * joins and edges are all that synchronises, so that nothing is needed by one of several).
 *
 * Of an order of events, the least members that reach a claim in just that order: closed under hard
 * order, observed reads-from, and releases of sections that a later section of their lock needs
 * closed. Where the model is `observed` none of them can be dropped (1-minimal). They are then
 * given another order that keeps what depends on each other as it is, with few context switches:
 * a thread runs for as long as it can. Only events that meet other threads are looked at one by
 * one; the checker still executes every step. */
#ifndef FT_WITNESS_SCHEDULE_H
#define FT_WITNESS_SCHEDULE_H

#include "problem/problem.h"

typedef struct ft_schedules ft_schedules; /* indexes of one trace, made when first needed */

ft_schedules *ft_schedules_new(const ft_problem *problem); /* the problem must outlive it */
void ft_schedules_free(ft_schedules *schedules);           /* accepts NULL */
bool ft_schedules_serve(ft_schedules *schedules, const ft_claim *claim);

/* A schedule of the observed order, but that a section open at the end comes last of its lock; the
 * caller lets the checker confirm. False: none of this simple kind. The steps belong to the
 * witness. */
bool ft_schedules_accept(ft_schedules *schedules, const ft_claim *claim, ft_witness *witness);

/* Cuts a schedule that reaches its claim down to the members that its order needs, and reorders
 * them. The witness's steps are replaced, the old ones stay the caller's; false: not touched. For
 * the model `observed`. */
bool ft_schedules_reduce(ft_schedules *schedules, ft_witness *witness);

#endif
