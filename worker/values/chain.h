/* Delta chains: what commuting increments leave in a variable, without their order.
 *
 * Where every write of x that can come before an event adds a constant to what it reads of x, the
 * read and the write in one section of a lock that all of them hold (or both in one atomic event),
 * each sees what the one before it left, whichever that is: when all of them have been executed, x
 * is what it was before the first, plus the sum of the constants. The solver would otherwise look
 * for the sum in every order of the sections. */
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

/* The value of the variable when `done`, and so all that the hard order puts before it, is executed
 * and `next`, which may be the same event, is not. False: it is not the same in every schedule, or
 * for a reason that is not looked for. writes: all that can be executed. Under ctp alone. */
bool ft_chain_value(const ft_problem *problem, const ft_writes *writes, uint32_t done,
                    uint32_t next, uint32_t variable, ft_value *value);

/* Is the claim's term, over shared variables, true in every schedule that comes to it? */
bool ft_chain_proves(const ft_problem *problem, const ft_writes *writes, const ft_claim *claim);

#endif
