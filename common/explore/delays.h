/* Delays: which sleeps and time limits a run needs to be over before other threads go on.
 *
 * No time passes in an exploration: a sleep orders nothing, and a time limit may pass while other
 * threads could go on. A schedule that comes about only if the machine stops another thread for
 * that long is less likely than others, and a report says so.
 *
 * The run is given times: an action takes none, and comes as late as its thread's delays and the
 * actions that enabled it make it. Two dependent actions whose order was open, the second one
 * enabled before the first one too, are in *inverted* order if the first is later than the second
 * could have been. The run then needs the delay that made the first one late. */
#ifndef FT_EXPLORE_DELAYS_H
#define FT_EXPLORE_DELAYS_H

#include "explore/names.h"

/* Of a step: the milliseconds that its thread slept before it, or the time limit that passed. */
typedef struct ft_x_delay {
    uint32_t ms;
    bool is_limit;
} ft_x_delay;

/* The steps whose delays the run needs, each once, at most `room`; returns how many there are.
 * delays: one for each step of the run. The walk is the caller's, and begun anew. Takes the square
 * of the number of steps; of a run of more than FT_X_DELAYED steps every delay counts as needed. */
enum { FT_X_DELAYED = 2000 };
size_t ft_x_delays_needed(const ft_x_world *world, ft_x_walk *walk, const ft_x_run *run,
                          const ft_x_delay *delays, uint32_t *steps, size_t room);

#endif
