/* Which thread comes to a barrier last: barrier_wait gives that thread another result than the
 * others. Most programs do not look at it, and then the arrivals of a round have no order. */
#ifndef FT_PROGRAM_ARRIVALS_H
#define FT_PROGRAM_ARRIVALS_H

#include <stdbool.h>

#include "program/program.h"

/* May what the program does depend on it? */
bool ft_program_orders_arrivals(const ft_program *program);

#endif
