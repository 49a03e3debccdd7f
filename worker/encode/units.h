/* The number of units that a semaphore has left after the last member.
 *
 * It does not depend on the order of the schedule, so it is counted: to match units with waits one
 * by one would have as many ways as there are permutations. Where each thread takes a unit and
 * returns it before it takes the next one, as with a lock, the encoding counts the threads that
 * hold one. Elsewhere it counts waits and posts, as unary numbers: a thread's members are a prefix
 * of its events, so each thread is such a number already, and these are added up. */
#ifndef FT_ENCODE_UNITS_H
#define FT_ENCODE_UNITS_H

#include "encode/partial.h"

/* Is the semaphore one of those that are counted: few events, no branches in the trace? */
bool ft_units_are_counted(const ft_trace *trace, uint32_t semaphore);
/* For such a semaphore: a literal that implies that its count is 0 after the last member, the same
 * for all queries. Also adds the constraint that the count is not below 0, which holds in every
 * prefix, so that the solver need not derive it. */
ft_lit ft_units_all_out(ft_decider *d, uint32_t semaphore);

#endif
