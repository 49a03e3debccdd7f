/* Delta chains: what commuting increments leave in a variable, without their order.
 *
 * Assume that every write of x that can come before an event adds a constant to a value of x that
 * it has read, with read and write in one section of a lock that all of them hold (or in one atomic
 * event). Then each increment sees the result of the one before it, in any order: once all are
 * executed, x is its value before the first plus the sum of the constants. Without this the solver
 * searches for the sum in every order of the sections. */
#ifndef FT_VALUES_CHAIN_H
#define FT_VALUES_CHAIN_H

#include "problem/problem.h"

/* Writes by variable, in observed order: slices first[variable] .. first[variable + 1] of events.
 */
typedef struct ft_writes {
    uint32_t *first, *events;
} ft_writes;
void ft_writes_init(ft_writes *writes, const ft_trace *trace);
void ft_writes_release(ft_writes *writes);
/* The invariant: slices follow each other, and are events that write the variable, ascending. */
bool ft_writes_are_sound(const ft_writes *writes, const ft_trace *trace);

/* The value of the variable where `done` is executed, with all that the hard order has before it,
 * and `next`, which may be the same event, is not. False: the value depends on the schedule, or
 * this analysis cannot exclude that. writes: all that can be executed. Under ctp alone. */
bool ft_chain_value(const ft_problem *problem, const ft_writes *writes, uint32_t done,
                    uint32_t next, uint32_t variable, ft_value *value);

/* Is the claim's term, over shared variables, true in every schedule that reaches its event? */
bool ft_chain_proves(const ft_problem *problem, const ft_writes *writes, const ft_claim *claim);

#endif
