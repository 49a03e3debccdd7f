/* States of objects: which actions a thread's operation can become, and what they change.
 *
 * A state is what one configuration leaves behind: for each object a few numbers, and nothing of
 * the program. It says of every pending operation whether it is enabled and with which outcomes, so
 * the search can ask "what could this thread have done there?" without an execution. The executor's
 * own answers are compared with it at every step (search.h).
 *
 * An object that no action has touched holds its initial value: 0, or what the executor declared (a
 * semaphore's count, an atomic's content, the owner of a mutex that was taken before). */
#ifndef FT_EXPLORE_OBJECTS_H
#define FT_EXPLORE_OBJECTS_H

#include "explore/watch.h"

typedef struct ft_x_object {
    /* semaphore, atomic, channel's units, arrivals at a barrier, writes of memory, once: done,
     * writers that are queued at a lock */
    int64_t value;
    /* condition: bits of waiters, and of those notified and not resumed; channel: ENDED, BROKEN;
     * and how often something arrived */
    uint64_t waits, wakes;
    uint32_t owner;            /* mutex, lock held for writing, once begun: thread + 1; 0: nobody */
    uint32_t count;            /* depth of a mutex, readers of a lock */
    uint32_t readers, writers; /* channel: descriptors of its ends, besides one each */
} ft_x_object;

typedef struct ft_x_state {
    ft_x_object *objects; /* owned by the caller */
    uint32_t n_objects;
    uint64_t ended;              /* bits of the threads that have ended */
    bool exited;                 /* the process has: nothing is enabled */
    const ft_x_watches *watches; /* NULL: no thread polls */
} ft_x_state;

/* One way in which an operation can go on. */
typedef struct ft_x_choice {
    uint64_t variant, outcome;
} ft_x_choice;

/* The choices of the thread's operation in the state, at most FT_X_THREADS; returns how many, 0:
 * it is blocked (or NONE). Of CHOOSE at most FT_X_THREADS arms count. Late ones (action.h), which
 * depend on what other threads stand before, are left out. */
uint32_t ft_x_choices(const ft_x_state *state, uint32_t thread, const ft_x_operation *operation,
                      ft_x_choice choices[FT_X_THREADS]);

/* Does the operation have one choice, with outcome 0, whatever the state? Unless the process has
 * ended. */
bool ft_x_is_always_enabled(ft_x_kind kind);

/* May the operation, which has no choice in the state, be carried out late there (action.h)? */
bool ft_x_may_be_late(const ft_x_state *state, uint32_t thread, const ft_x_operation *operation);

/* Is the action one of the choices of its operation in the state, or late where no choice is? */
bool ft_x_is_choice(const ft_x_state *state, const ft_x_action *action);

/* The content that an UPDATE makes of the old one; value2: FT_X_UPDATE_OF. */
int64_t ft_x_updated(int64_t old, int64_t value, int64_t value2);

/* Carries the action out. It has to be one of the choices. */
void ft_x_apply(ft_x_state *state, const ft_x_action *action);

#endif
