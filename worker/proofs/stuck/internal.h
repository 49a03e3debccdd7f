/* Internals of stuck.h: stuck.c decides claims, semaphores.c counts units, flow.c bounds levels,
 * monitors.c uses the states of locks with conditions. */
#ifndef FT_PROOFS_STUCK_INTERNAL_H
#define FT_PROOFS_STUCK_INTERNAL_H

#include "base/map.h"
#include "proofs/stuck/stuck.h"

/* Facts about all final states in which a thread reached a position, or went further. */
typedef struct ft_stuck_state {
    uint32_t position;
    bool joins_only;   /* they are those of a claim whose event is a join (claim.h) */
    bool refuted;      /* there are none */
    uint32_t *reached; /* [threads] events that each thread has executed, at least; NULL: not asked
                          yet */
    uint32_t *closed;  /* [threads] of them, those whose needs are in `reached` */
} ft_stuck_state;

typedef struct ft_stuck_flow ft_stuck_flow;

/* Every state that the sections of a lock come to (states.c). */
typedef struct ft_monitor_states ft_monitor_states;

/* A lock that waits for conditions give back. */
typedef struct ft_monitor {
    uint32_t lock;
    bool asked;
    ft_monitor_states *states; /* NULL: it is not of the kind that is served */
} ft_monitor;

struct ft_stuck {
    const ft_problem *problem;
    const ft_trace *trace;
    const ft_order *order;
    const ft_causality *causality;
    bool idle;
    bool *cut;        /* [threads] ft_trace_find_cut */
    ft_map stuck;     /* lock, thread -> behind the last place where the thread may rest with it */
    bool *lock_stuck; /* [locks] some thread may */
    bool *waited;     /* [semaphores] a thread may wait for it in the end */
    ft_map alarms_of; /* cond-wait -> its first in alarms */
    FT_VEC(uint32_t)
    alarms;                 /* signals that find it asleep and wake it, where they are executed;
                               up to an FT_NO_EVENT */
    ft_stuck_state *states; /* [2 * threads] of each thread's last claims, joins apart */
    ft_stuck_state *now;    /* of the claim at hand */
    ft_stuck_flow *flow;
    FT_VEC(ft_monitor) monitors;
    bool merges;          /* states always merge sleeping threads, not only where there are too many
                             (tests) */
    ft_map alloc_of;      /* variable -> the alloc of its block; FT_NO_EVENT: there are several */
    uint32_t allocs_seen; /* events */
};

/* May a thread that is next at e wait there, by its kind and flags? */
bool ft_stuck_may_wait(const ft_trace *trace, uint32_t e);
/* Likewise, and by the locks that other threads may hold while they wait. */
bool ft_stuck_possible(const ft_stuck *s, uint32_t e);

/* May its creator, or that one's, rest before it is forked? */
bool ft_stuck_may_be_unstarted(const ft_stuck *s, uint32_t thread);

/* May the thread be at its end with the lock? */
bool ft_stuck_ends_with(const ft_stuck *s, uint32_t thread, uint32_t lock);

/* Fills s->waited. */
void ft_stuck_sum_up(ft_stuck *s);

/* flow.c; s must outlive it, but for its states. */
ft_stuck_flow *ft_stuck_flow_new(const ft_stuck *s);
void ft_stuck_flow_free(ft_stuck_flow *flow); /* accepts NULL */
/* Is there no final state with the event next in its thread, and all threads at least as far as
 * reached[thread]? */
bool ft_stuck_flow_refutes(ft_stuck_flow *flow, uint32_t event, const uint32_t *reached);

/* monitors.c */
void ft_stuck_find_monitors(ft_stuck *s);
void ft_stuck_release_monitors(ft_stuck *s);
/* Is there a monitor none of whose states has the event next in a final state? */
bool ft_stuck_is_in_no_state(ft_stuck *s, uint32_t event);
/* Likewise, as far as monitors were looked at before: a look-up. */
bool ft_stuck_is_in_no_known_state(const ft_stuck *s, uint32_t event);

/* states.c. NULL: the lock is not of the kind that is served. s must outlive it. */
ft_monitor_states *ft_monitor_states_new(const ft_stuck *s, uint32_t lock);
void ft_monitor_states_free(ft_monitor_states *states); /* accepts NULL */

/* coexistence.c. Has no final state the event next in its thread? */
bool ft_monitor_states_lack(const ft_monitor_states *states, uint32_t event);

/* A thread next at one of its events from `from` to `to` (positions; the number of its events: its
 * end). */
typedef struct ft_stretch {
    uint32_t thread, from, to;
} ft_stretch;
/* Has no schedule both threads there at once? */
bool ft_monitor_states_keep_apart(const ft_monitor_states *states, const ft_stretch *a,
                                  const ft_stretch *b);

#endif
