/* Internals of the states: steps.c cuts threads into steps, idle_loops.c finds steps that are taken
 * again and again, wait_loops.c finds those at which states need not keep sleeping threads apart,
 * states.c enumerates the states. */
#ifndef FT_PROOFS_STUCK_STATES_INTERNAL_H
#define FT_PROOFS_STUCK_STATES_INTERNAL_H

#include "proofs/stuck/internal.h"

enum {
    FT_STEPS_VARIABLES = 32,
    FT_STEPS_THREADS = 64,
    FT_STEPS_COUNTED = 8, /* conditions */
    FT_STEPS_WIDTH = FT_STEPS_THREADS + FT_STEPS_VARIABLES + FT_STEPS_COUNTED
};
#define FT_STEPS_AWAKE    UINT32_MAX
#define FT_STEPS_NO_COUNT UINT32_MAX
#define FT_STEPS_UNKNOWN  UINT32_MAX /* a value: it equals no known one (checker.c) */

typedef enum ft_step_does {
    FT_STEP_READS,
    FT_STEP_WRITES,
    FT_STEP_SIGNALS,
    FT_STEP_BROADCASTS
} ft_step_does;

/* An effect of a step that other threads can see. */
typedef struct ft_step_act {
    ft_step_does does;
    uint32_t object; /* index in variables, or condition */
    uint32_t value;  /* equal bits have equal numbers; of a signal: 1: it may be lost */
} ft_step_act;

typedef struct ft_step_need {
    uint32_t thread, step; /* that thread has come to its step of that number, or further */
} ft_step_need;

/* A thread's events from one at which it may have to wait up to the next such event. */
typedef struct ft_step {
    uint32_t event;           /* its first: its thread is next at it */
    uint32_t first_act, acts; /* accesses, then signals by condition, broadcasts first */
    uint32_t first_need, needs;
    uint32_t held_to; /* position of its last event that the lock is still held at; its own, if it
                         holds none */
    uint32_t asleep;  /* the condition that the thread sleeps at before it, FT_STEPS_AWAKE: none */
    bool takes;       /* its first event takes the lock */
    bool inside;      /* the thread holds the lock before it */
    bool stuck;       /* the thread may rest before it */
    bool certain;     /* it does not rest there where its needs are met */
    uint32_t next;    /* of its thread's steps the one behind it */
    uint32_t place; /* the one that stands for it in states: of steps that a thread takes again and
                       again, without changing a variable, the first */
    uint32_t wait_loop; /* the number of the condition in whose wait loop its thread is before it;
                         FT_STEPS_NO_COUNT: none */
    uint32_t first_other, others; /* what the thread does from there instead of it: slice of others;
                                     0: nothing else */
} ft_step;

/* Steps are counted within their thread. */
typedef struct ft_steps {
    const ft_stuck *s;
    uint32_t lock;
    FT_VEC(ft_step) all; /* by thread, in its order */
    uint32_t *first;     /* [threads + 1] slices of all */
    bool *ends_inside;   /* [threads] */
    FT_VEC(ft_step_act) acts;
    FT_VEC(ft_step_need) needs;
    FT_VEC(uint32_t) others; /* steps of the thread */
    uint32_t n_variables, initial[FT_STEPS_VARIABLES];
    uint32_t n_counted, counted[FT_STEPS_COUNTED]; /* conditions with wait loops */
    uint32_t first_awake;                          /* in a state: of these, how many are awake */
} ft_steps;

/* A state: of each thread the step that it is at, of each variable its value, of each condition
 * with a wait loop how many of the threads in it are awake, at least. */

/* The step that the thread is at; NULL: it is at its end. */
static inline const ft_step *ft_steps_next(const ft_steps *steps, const uint32_t *state,
                                           uint32_t thread)
{
    uint32_t at = steps->first[thread] + state[thread];
    return at < steps->first[thread + 1] ? &steps->all.data[at] : NULL;
}

static inline bool ft_steps_are_met(const ft_steps *steps, const uint32_t *state,
                                    const ft_step *step)
{
    const ft_step_need *needs = steps->needs.data + step->first_need;
    for (uint32_t i = 0; i < step->needs; i++)
        if (state[needs[i].thread] < needs[i].step) return false;
    return true;
}

/* The states of a lock. Places: a step of the thread that it is at, or at its end the
 * number of its steps; of steps that loops put together, the first. */
struct ft_monitor_states {
    ft_steps *steps;
    bool all;             /* they are not too many */
    bool *stuck;          /* [steps] its thread is at rest there in some final state */
    uint32_t *low, *high; /* [places of all threads * threads] between which places the other thread
                             is while one is there; low above high: never. NULL: not told */
};

/* Of a thread's place, in `low` and `high`. */
static inline size_t ft_states_row(const ft_monitor_states *states, uint32_t thread, uint32_t place)
{
    return ((size_t)states->steps->first[thread] + thread + place) *
           states->steps->s->order->n_threads;
}

/* Does the step take the lock and no more than read? */
bool ft_steps_looks_only(const ft_steps *steps, const ft_step *step);
/* idle_loops.c: gives steps that are taken again and again one place. */
void ft_steps_find_loops(ft_steps *steps);
/* [steps + 1], on the heap: another thread's step needs the one before it. */
bool *ft_steps_needed(const ft_steps *steps);

/* wait_loops.c: finds wait loops, whose sleeping threads states need not keep apart. Are there any?
 */
bool ft_steps_merge_sleepers(ft_steps *steps);
/* Is a thread that is at that step, of that number, in a wait loop? step NULL: at its end. */
static inline bool ft_wait_loop_at(const ft_step *step, uint32_t at)
{
    return step && step->wait_loop != FT_STEPS_NO_COUNT && at == step->place;
}
/* Threads that arrive at a wait loop's first look are counted from now on, as awake. Are there any?
 */
bool ft_wait_loops_enter(const ft_steps *steps, uint32_t *state);
/* Where the values let one thread sleep, all threads in the loops of its condition may be asleep.
 */
void ft_wait_loops_sleep(const ft_steps *steps, uint32_t *state);
/* A signal or broadcast of the step. False: the condition has no wait loop. */
bool ft_wait_loops_wake(const ft_steps *steps, uint32_t *state, const ft_step *step,
                        const ft_step_act *signal);
/* NULL: the lock, or the traces, are not of the kind that is served. */
ft_steps *ft_steps_new(const ft_stuck *s, uint32_t lock);
void ft_steps_free(ft_steps *steps); /* accepts NULL */
/* The invariant: a thread's steps are in program order; slices, places and successors exist. */
bool ft_steps_are_sound(const ft_steps *steps);

#endif
