/* The cone of a claim: the events that can matter to a prefix that reaches it. The least set that
 * holds the program-order predecessors of the claim's events, closed under hard sources, every
 * write that a member read may read from under the model, releases of entered sections, posts of
 * awaited semaphores, signals that may wake a cond-wake and holders that may make an attempt fail,
 * without what the hard order puts after a final event. A witness cut down to the cone is still a
 * witness, so deciding over the cone is exact. */
#ifndef FT_REDUCE_CONE_H
#define FT_REDUCE_CONE_H

#include "problem/problem.h"

/* cone: room for n_events bytes, filled with 0 and 1. Returns the number of events in it. */
uint32_t ft_cone_compute(const ft_problem *problem, const ft_claim *claim, uint8_t *cone);

#endif
