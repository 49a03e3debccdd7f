/* Schedules without a solver, for races and triplets over plain traces: no branches, and only
 * locks, forks, joins and edges synchronise, so that each member needs certain events and never one
 * of several.
 *
 * Of an order of events, the least members that reach a claim in just that order: closed under hard
 * order, observed reads-from, and releases of sections that a later section of their lock needs
 * closed. Where the model is `observed` none of them can be dropped (1-minimal). They are then
 * reordered for few context switches, with all dependences kept: a thread runs for as long as it
 * can. Only events that depend on other threads are visited one by one; the checker still executes
 * every step. */
#ifndef FT_WITNESS_SCHEDULE_H
#define FT_WITNESS_SCHEDULE_H

#include "problem/problem.h"

typedef struct ft_schedules ft_schedules; /* indexes of one trace, made when first needed */

ft_schedules *ft_schedules_new(const ft_problem *problem); /* the problem must outlive it */
void ft_schedules_free(ft_schedules *schedules);           /* accepts NULL */
bool ft_schedules_serve(ft_schedules *schedules, const ft_claim *claim);

/* A schedule in observed order, except that a section open at the end comes last of its lock; the
 * caller lets the checker confirm it. The claim must be served. False: none of this simple kind.
 * The steps belong to the witness. */
bool ft_schedules_accept(ft_schedules *schedules, const ft_claim *claim, ft_witness *witness);

/* Reduces a schedule that reaches its claim to the members that its order needs, and reorders them.
 * The claim must be served. The witness's steps are replaced, the old ones stay the caller's;
 * false: the witness is unchanged. For the model `observed`. */
bool ft_schedules_reduce(ft_schedules *schedules, ft_witness *witness);

#endif
