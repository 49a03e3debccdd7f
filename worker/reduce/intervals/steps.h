/* Steps: the threads of a trace as sequences of transitions (Ganai and Wang §2).
 *
 * A step is one event that threads contend for, with the events behind it in its thread that do not
 * matter to other threads: locals, and accesses that the hard order or a single thread keeps apart.
 * Two events contend where they access one object, at least one of them changes it, and the hard
 * order leaves them open. Objects are shared variables, locks and everything else that threads
 * synchronise with. An event at which its thread may end for good (a condition, a read whose value
 * is given) begins a step, because what the thread did before stays done. Unsliced, every event is
 * a step of its own.
 *
 * A control state of a thread is the number of its steps that are done: 0 .. n. An event that other
 * threads wait for (a fork, the end of a joined thread, an edge-out, a barrier's arrival) is the
 * last of its step, and a boundary of transactions lies behind it (`cut`). So the order between
 * threads needs no conflict: see transactions.h.
 *
 * Branches: the arms stand in line, one behind the other, and an event of an arm that is not taken
 * does nothing. What holds only if an arm is taken holds nowhere here: a lock that is acquired in
 * an arm excludes nobody. (Events that wait for other threads stand in no arm.)
 *
 * Threads that only fork, join and the like are left out. */
#ifndef FT_INTERVALS_STEPS_H
#define FT_INTERVALS_STEPS_H

#include "problem/problem.h"

/* A term whose value is wanted where the event is next in its thread: a step of its own in front of
 * the event, that reads the term's shared variables. */
typedef struct ft_probe {
    uint32_t event;
    ft_term term;
} ft_probe;

#define FT_NO_PROBE UINT32_MAX

typedef struct ft_step {
    uint32_t first, count;             /* events, by their place in the thread */
    uint32_t first_access, n_accesses; /* slice of ft_stepping.accesses: object << 1 | changes it,
                                          ascending */
    uint32_t first_held, n_held; /* slice of ft_stepping.held: locks held behind the step, lock << 1
                                    | shared, ascending */
    bool cut;                    /* a boundary lies behind it */
    uint32_t probe;              /* it is a probe, without events; FT_NO_PROBE: it is not */
} ft_step;

typedef struct ft_step_thread {
    uint32_t thread; /* of the trace */
    uint32_t n;      /* steps */
    ft_step *steps;  /* [n], in `list` */
    FT_VEC(ft_step) list;
    uint32_t *needs; /* [n * threads] what a step waits for: steps of the others that are done */
    bool waits;      /* a step needs something of another thread, or is waited for by one */
} ft_step_thread;

typedef struct ft_stepping {
    const ft_problem *problem;
    uint32_t n_threads;
    ft_step_thread *threads;
    uint32_t *index; /* [trace's threads] in `threads`; UINT32_MAX: left out */
    FT_VEC(uint32_t) accesses;
    FT_VEC(uint32_t) held;
    uint64_t n_contended; /* events */
} ft_stepping;

typedef struct ft_stepping_options {
    const uint8_t *cone; /* nonzero: the event belongs to it; NULL: all do. Closed under
                            predecessors in the thread and hard sources */
    bool whole;          /* unsliced */
    bool dummy;          /* each thread ends with a write of one variable that nothing else has */
    const ft_probe *probes;
    uint32_t n_probes;
    uint32_t most; /* steps */
} ft_stepping_options;

/* NULL: more steps than wanted. */
ft_stepping *ft_stepping_new(const ft_problem *problem, const ft_stepping_options *options);
void ft_stepping_free(ft_stepping *steps);            /* accepts NULL */
bool ft_stepping_are_sound(const ft_stepping *steps); /* the invariant, linear */

/* Do step p of thread i and step q of thread j, i != j, contend? */
bool ft_stepping_conflict(const ft_stepping *steps, uint32_t i, uint32_t p, uint32_t j, uint32_t q);
/* May the threads be at these control states at once, as far as locks say? */
bool ft_stepping_compatible(const ft_stepping *steps, uint32_t i, uint32_t p, uint32_t j,
                            uint32_t q);
/* The trace's event at a place of a thread. */
uint32_t ft_stepping_event(const ft_stepping *steps, uint32_t i, uint32_t place);
/* Event e is of the part that is analysed. */
bool ft_stepping_has(const ft_stepping *steps, uint32_t e);

#endif
