/* How many units of a semaphore are left after the last member, whatever the order of the schedule:
 * a matter of counting, where matching units with waits one by one has as many ways as there are
 * permutations.
 *
 * Where each thread takes a unit and gives it back before it takes the next one, as with a lock,
 * the threads that are between the two are counted. Elsewhere waits and posts are, in unary: a
 * thread's own come one after the other, so that each thread is a number already and they are added
 * up. */
#ifndef FT_ENCODE_UNITS_H
#define FT_ENCODE_UNITS_H

#include "encode/partial.h"

/* Is the semaphore one of those that are counted: few events, no branches in the trace? */
bool ft_units_are_counted(const ft_trace *trace, uint32_t semaphore);
/* For such a semaphore: a literal that implies that it is at 0 after the last member. With it goes
 * what every prefix keeps to and the solver need not find out: it is not below 0. The same literal
 * for all queries. */
ft_lit ft_units_all_out(ft_decider *d, uint32_t semaphore);

#endif
