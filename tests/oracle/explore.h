/* Every reachable state of a machine, each visited once. Private to the oracle. */
#ifndef FT_TEST_EXPLORE_H
#define FT_TEST_EXPLORE_H

#include "oracle/state.h"

/* Visits every state that steps reach from the initial one, itself included; returns how many. */
uint64_t ft_explore(const ft_machine *machine, const ft_monitor *monitor,
                    void (*visit)(void *context, const ft_state *state), void *context);

#endif
