/* Small random monitors, a run of each, and every state that some schedule of the run's events
 * reaches (maximal, a signal wakes any waiter): sections of a lock or two that wait for a condition
 * while a variable is so, change variables, and signal, broadcast or forget to. */
#ifndef FT_TEST_MONITOR_H
#define FT_TEST_MONITOR_H

#include "problem/problem.h"

enum {
    FT_MONITOR_THREADS = 4,
    FT_MONITOR_LOCKS = 2,
    FT_MONITOR_EVENTS = 66 /* of a thread; longer runs are left out */
};

typedef struct ft_monitor_run {
    ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
    bool *stuck;   /* [events] somebody is next at it in a state in which nobody goes on */
    uint8_t *both; /* ft_monitor_both */
} ft_monitor_run;

/* False: the seed has no run to the end, or one with too many states. Else the caller releases it.
 */
bool ft_monitor_make(ft_monitor_run *monitor, uint64_t seed);
void ft_monitor_release(ft_monitor_run *monitor);

/* Is there a state with both threads next at these places (as many events executed)? */
bool ft_monitor_both(const ft_monitor_run *monitor, uint32_t thread, uint32_t position,
                     uint32_t other, uint32_t other_position);

/* Whom it is told to: FT_SEEDS of the environment, or `otherwise`. */
uint64_t ft_monitor_seeds(uint64_t otherwise);

/* monitor_states.c: fills stuck and both; false: too many states. */
bool ft_monitor_walk(ft_monitor_run *monitor);

#endif
