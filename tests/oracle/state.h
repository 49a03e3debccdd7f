/* The oracle's machine: one state of a run and its steps. Private to the oracle. */
#ifndef FT_TEST_STATE_H
#define FT_TEST_STATE_H

#include "oracle/oracle.h"

typedef enum ft_tri { FT_TRI_NO, FT_TRI_YES, FT_TRI_MAYBE } ft_tri;

/* Wang et al. §8: the ifs on whose arms an event stands, each a bit. */
typedef struct ft_arms {
    uint16_t then[FT_ORACLE_EVENTS], other[FT_ORACLE_EVENTS];
    uint16_t bit[FT_ORACLE_EVENTS]; /* of an if: its own; else 0 */
} ft_arms;
void ft_arms_init(ft_arms *arms, const ft_trace *trace);
/* Can never both execute: they stand in different arms of one if. */
bool ft_arms_exclude(const ft_arms *arms, uint32_t a, uint32_t b);

/* Compared and hashed byte for byte: always copied whole from a zeroed one. */
typedef struct ft_state {
    uint64_t shared[FT_ORACLE_SHARED];
    uint64_t local[FT_ORACLE_THREADS][FT_ORACLE_LOCALS];
    uint16_t held, failed; /* the ifs executed, by how their condition came out */
    uint8_t shared_known[FT_ORACLE_SHARED];
    uint8_t writer[FT_ORACLE_SHARED];  /* event + 1, 0: the initial value */
    uint8_t written[FT_ORACLE_SHARED]; /* by a step, since the last alloc of its block; kept for
                                          variables without an initial value */
    uint8_t local_known[FT_ORACLE_THREADS][FT_ORACLE_LOCALS];
    uint8_t pos[FT_ORACLE_THREADS];   /* events executed or passed over in each thread; what it
                                         stands before is never passed over */
    uint8_t owner[FT_ORACLE_LOCKS];   /* thread + 1 that holds it exclusively, 0: none */
    uint8_t readers[FT_ORACLE_LOCKS]; /* threads that hold it shared, as bits */
    uint8_t count[FT_ORACLE_SEMAPHORES];
    uint8_t waits[FT_ORACLE_THREADS]; /* condition + 1 that the thread waits for, 0: none */
    uint8_t woken[FT_ORACLE_THREADS]; /* a waiter: a signal or broadcast has found it */
    uint8_t block[FT_ORACLE_BLOCKS];  /* its last alloc or free: event + 1 */
    uint8_t stopped;                  /* thread + 1 of a t_r that departed */
    uint8_t remote_enabled;           /* ft_tri: did t_r's */
    uint8_t last;                     /* thread + 1 of the last step; 0: none, or not asked for */
    uint8_t maybe;                    /* reached only if an unknown value is as guessed */
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
    ft_wakeups wakeups;
    uint32_t n_threads;
    uint8_t length[FT_ORACLE_THREADS];
    uint8_t events[FT_ORACLE_THREADS][FT_ORACLE_EVENTS];
    uint8_t index[FT_ORACLE_EVENTS];       /* position of an event in its thread */
    uint8_t forker[FT_ORACLE_THREADS];     /* event + 1 of its fork, 0: never forked */
    uint8_t edge_source[FT_ORACLE_EVENTS]; /* of an edge-in: event + 1 of its edge-out */
    uint8_t once_begin[FT_ORACLE_ONCES];   /* event + 1 of its once-begin, 0: none */
    uint8_t once_end[FT_ORACLE_ONCES];     /* likewise of its once-end */
    uint8_t round[FT_ORACLE_EVENTS];       /* of a barrier-arrive or -leave: 1, 2, ...; 0: none */
    uint8_t waker[FT_ORACLE_EVENTS]; /* of a cond-wake: event + 1 of what woke it in the run */
    ft_arms arms;
    bool observing;                /* the run itself is being executed: its values are given */
    uint16_t held;                 /* ifs whose condition held in the run */
    bool passed[FT_ORACLE_EVENTS]; /* passed over in the run */
    ft_seen seen[FT_ORACLE_EVENTS][FT_MACHINE_ACCESSES];
} ft_machine;

void ft_machine_init(ft_machine *machine, const ft_trace *trace, ft_model model,
                     ft_wakeups wakeups);
void ft_machine_start(const ft_machine *machine, ft_state *state);

/* The events of the claim being monitored, FT_NO_EVENT: none. */
typedef struct ft_monitor {
    uint32_t first, remote; /* t_c and t_r; t_r only runs after t_c */
    uint32_t avoid;         /* location no step may have, FT_NO_LOC: none */
} ft_monitor;

#define FT_NO_MONITOR       ((ft_monitor){FT_NO_EVENT, FT_NO_EVENT, FT_NO_LOC})
#define FT_MACHINE_BRANCHES FT_ORACLE_THREADS

/* Successors of `state` when `thread` runs its next event; returns how many (0: it cannot; more
 * than 1: an unknown value decides a guard, a signal may wake several waiters, or an if under
 * control may go either way). */
uint32_t ft_machine_step(const ft_machine *machine, const ft_monitor *monitor,
                         const ft_state *state, uint32_t thread,
                         ft_state next[FT_MACHINE_BRANCHES]);

/* Is the event the next of its thread (started, not stopped)? */
bool ft_machine_is_next(const ft_machine *machine, const ft_state *state, uint32_t event);
bool ft_machine_has_executed(const ft_machine *machine, const ft_state *state, uint32_t event);
/* Do the ifs that were executed lead to the event's arms? */
bool ft_machine_on_path(const ft_machine *machine, const ft_state *state, uint32_t event);
bool ft_machine_complete(const ft_machine *machine, const ft_state *state);
bool ft_machine_thread_ended(const ft_machine *machine, const ft_state *state, uint32_t thread);

/* Does its guard hold with all terms defined (assume, assert: the condition; if: is it defined), on
 * this state's values? YES for events without terms, and under control. */
ft_tri ft_machine_enabled(const ft_machine *machine, const ft_state *state, uint32_t event);
/* Could it be executed from here, own reads exempt from the model (claim.h, CO_ENABLED)? */
ft_tri ft_machine_executable(const ft_machine *machine, const ft_state *state, uint32_t event);
/* The value of a condition for the thread of `event`: MAYBE when unknown; undefined counts as YES
 * (it is not definitely false). Under control only the literal `true` holds. */
ft_tri ft_machine_holds(const ft_machine *machine, const ft_state *state, uint32_t event,
                        ft_term condition);

/* ---- sync.c: what synchronisation alone says ---- */

/* Rounds of barriers, runners of once objects, wake-ups of the observed run. */
void ft_sync_init(ft_machine *machine);
/* May the event, the next of its thread, execute as far as synchronisation goes? */
bool ft_sync_ready(const ft_machine *machine, const ft_state *state, uint32_t event);
/* Its effects; next[0] is the state with the thread moved on. Returns how many successors. */
uint32_t ft_sync_step(const ft_machine *machine, uint32_t event,
                      ft_state next[FT_MACHINE_BRANCHES]);
/* Is its thread waiting there, maybe for ever (claim.h, STUCK)? Not true of events that fail
 * rather than wait (a try-failed, a time-out). */
bool ft_sync_blocked(const ft_machine *machine, const ft_state *state, uint32_t event);
/* Has `thread` what `request`, next in its own thread, asks for: its lock in a mode that keeps it
 * waiting, the initialiser of its once-pass, its child's end? */
bool ft_sync_held_against(const ft_machine *machine, const ft_state *state, uint32_t request,
                          uint32_t thread);

#endif
