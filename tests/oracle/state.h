/* The oracle's machine: one state of a run and its steps. Private to the oracle. */
#ifndef FT_TEST_STATE_H
#define FT_TEST_STATE_H

#include "oracle/oracle.h"

typedef enum ft_tri { FT_TRI_NO, FT_TRI_YES, FT_TRI_MAYBE } ft_tri;

/* Compared and hashed byte for byte: always copied whole from a zeroed one. */
typedef struct ft_state {
    uint64_t shared[FT_ORACLE_SHARED];
    uint64_t local[FT_ORACLE_THREADS][FT_ORACLE_LOCALS];
    uint8_t shared_known[FT_ORACLE_SHARED];
    uint8_t writer[FT_ORACLE_SHARED]; /* event + 1, 0: the initial value */
    uint8_t local_known[FT_ORACLE_THREADS][FT_ORACLE_LOCALS];
    uint8_t pos[FT_ORACLE_THREADS]; /* events executed in each thread */
    uint8_t owner[FT_ORACLE_LOCKS]; /* thread + 1, 0: free */
    uint8_t count[FT_ORACLE_SEMAPHORES];
    uint8_t stopped;        /* thread + 1 of a t_r that departed */
    uint8_t remote_enabled; /* ft_tri: did t_r's */
    uint8_t maybe;          /* reached only if an unknown value is as guessed */
} ft_state;

/* What one read returned in the observed run. */
typedef struct ft_seen {
    uint8_t source; /* event + 1, 0: the initial value */
    bool known;
    uint64_t bits;
} ft_seen;

#define FT_MACHINE_ACCESSES 12

/* A trace made ready for exploration under one model. */
typedef struct ft_machine {
    const ft_trace *trace;
    ft_model model;
    uint32_t n_threads;
    uint8_t length[FT_ORACLE_THREADS];
    uint8_t events[FT_ORACLE_THREADS][FT_ORACLE_EVENTS];
    uint8_t index[FT_ORACLE_EVENTS];       /* position of an event in its thread */
    uint8_t forker[FT_ORACLE_THREADS];     /* event + 1 of its fork, 0: never forked */
    uint8_t edge_source[FT_ORACLE_EVENTS]; /* of an edge-in: event + 1 of its edge-out */
    ft_seen seen[FT_ORACLE_EVENTS][FT_MACHINE_ACCESSES];
} ft_machine;

void ft_machine_init(ft_machine *machine, const ft_trace *trace, ft_model model);
void ft_machine_start(const ft_machine *machine, ft_state *state);

/* The events of the claim being monitored, FT_NO_EVENT: none. */
typedef struct ft_monitor {
    uint32_t first, remote; /* t_c and t_r; t_r only runs after t_c */
    uint32_t avoid;         /* location no step may have, FT_NO_LOC: none */
} ft_monitor;

#define FT_NO_MONITOR       ((ft_monitor){FT_NO_EVENT, FT_NO_EVENT, FT_NO_LOC})
#define FT_MACHINE_BRANCHES 2

/* Successors of `state` when `thread` runs its next event; returns how many (0: it cannot; 2: an
 * unknown value decides a guard). */
uint32_t ft_machine_step(const ft_machine *machine, const ft_monitor *monitor,
                         const ft_state *state, uint32_t thread,
                         ft_state next[FT_MACHINE_BRANCHES]);

/* Is the event the next of its thread (started, not stopped)? */
bool ft_machine_is_next(const ft_machine *machine, const ft_state *state, uint32_t event);
bool ft_machine_complete(const ft_machine *machine, const ft_state *state);

/* Does its guard hold with all terms defined (assume, assert: the condition), on this state's
 * values? YES for events without terms. */
ft_tri ft_machine_enabled(const ft_machine *machine, const ft_state *state, uint32_t event);
/* Could it be executed from here, own reads exempt from the model (claim.h, CO_ENABLED)? */
ft_tri ft_machine_executable(const ft_machine *machine, const ft_state *state, uint32_t event);
/* The value of a condition for the thread of `event`: MAYBE when unknown; undefined counts as YES
 * (it is not definitely false). */
ft_tri ft_machine_holds(const ft_machine *machine, const ft_state *state, uint32_t event,
                        ft_term condition);

#endif
