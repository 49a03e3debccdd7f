/* Inside of the standstills: standstill.c has the claims, standstill_sums.c the semaphores,
 * standstill_flow.c the levels, standstill_states.c the states of monitors. */
#ifndef FT_REDUCE_STANDSTILL_INTERNAL_H
#define FT_REDUCE_STANDSTILL_INTERNAL_H

#include "base/map.h"
#include "reduce/standstill.h"

/* What is known of all standstills in which a thread came to a position, or further. */
typedef struct ft_standstill_state {
    uint32_t position;
    bool joins_only;   /* they are those of a claim whose event is a join (claim.h) */
    bool refuted;      /* there are none */
    uint32_t *reached; /* [threads] events that each thread has executed, at least; NULL: not asked
                          yet */
    uint32_t *closed;  /* [threads] of them, those whose needs are in `reached` */
} ft_standstill_state;

typedef struct ft_standstill_flow ft_standstill_flow;

/* A lock that waits for conditions give back. */
typedef struct ft_standstill_monitor {
    uint32_t lock;
    bool asked;
    bool *possible; /* [events] some standstill may have it next in its thread; NULL: any may be */
} ft_standstill_monitor;

struct ft_standstill {
    const ft_problem *problem;
    const ft_trace *trace;
    const ft_order *order;
    const ft_causality *causality;
    bool idle;
    bool *cut;        /* [threads] ft_trace_find_cut */
    ft_map rests;     /* lock, thread -> behind the last place where the thread may rest with it */
    bool *lock_rests; /* [locks] some thread may */
    bool *waited;     /* [semaphores] a thread may wait for it in the end */
    ft_map alarms_of; /* cond-wait -> its first in alarms */
    FT_VEC(uint32_t)
    alarms; /* signals that find it asleep and wake it, where they are executed;
               up to an FT_NO_EVENT */
    ft_standstill_state *states; /* [2 * threads] of each thread's last claims, joins apart */
    ft_standstill_state *now;    /* of the claim at hand */
    ft_standstill_flow *flow;
    FT_VEC(ft_standstill_monitor) monitors;
};

/* May a thread that is next at e wait there, as far as its kind and flags say? */
bool ft_standstill_may_wait(const ft_trace *trace, uint32_t e);
/* Likewise, and as far as the locks that others may rest with say. */
bool ft_standstill_may_rest(const ft_standstill *s, uint32_t e);

/* May its creator, or that one's, rest before it is forked? */
bool ft_standstill_may_be_unstarted(const ft_standstill *s, uint32_t thread);

/* May the thread be at its end with the lock? */
bool ft_standstill_ends_with(const ft_standstill *s, uint32_t thread, uint32_t lock);

/* Fills s->waited. */
void ft_standstill_sum_up(ft_standstill *s);

/* standstill_flow.c; s must outlive it, but for its states. */
ft_standstill_flow *ft_standstill_flow_new(const ft_standstill *s);
void ft_standstill_flow_free(ft_standstill_flow *flow); /* accepts NULL */
/* Is there no standstill with the event next in its thread, and all threads at least as far as
 * reached[thread]? */
bool ft_standstill_flow_refutes(ft_standstill_flow *flow, uint32_t event, const uint32_t *reached);

/* standstill_states.c: `possible` of the lock's monitor, for the caller to free. */
bool *ft_standstill_states_find(const ft_standstill *s, uint32_t lock);

#endif
