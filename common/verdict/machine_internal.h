/* The state of the machine, shared by its two files: machine.c holds data and order, machine_sync.c
 * what synchronisation needs and does. */
#ifndef FT_VERDICT_MACHINE_INTERNAL_H
#define FT_VERDICT_MACHINE_INTERNAL_H

#include "verdict/machine.h"

/* Each cell carries the epoch in which it was last changed: an older one holds its initial value,
 * so that a reset touches nothing. */
typedef struct thread_cell {
    uint32_t epoch, last, forks;
} thread_cell;
typedef struct value_cell {
    uint32_t epoch, time; /* time: of the last write */
    ft_held held;
} value_cell;
/* owner and depth: of the thread that holds it exclusively, depth 0: none; readers: threads that
 * hold it for reading. */
typedef struct lock_cell {
    uint32_t epoch, owner, depth, readers;
} lock_cell;
typedef struct semaphore_cell {
    uint32_t epoch;
    uint64_t count;
} semaphore_cell;
typedef struct edge_cell {
    uint32_t epoch, out;
} edge_cell;
/* A signal or broadcast that was executed, and whether a waiter went on by it. */
typedef struct ft_notice {
    uint32_t event, time;
    bool all, used;
} ft_notice;
typedef struct condition_cell {
    uint32_t epoch;
    FT_VEC(ft_notice) notices;
} condition_cell;
typedef struct block_cell {
    uint32_t epoch, last; /* its last alloc or free */
    uint32_t allocated;   /* when it was allocated last, 0: never */
} block_cell;
/* An if that was executed: the arm that its thread took. Open: either, until the thread goes on. */
typedef struct branch_cell {
    uint32_t epoch;
    bool open, taken;
} branch_cell;
typedef struct branch_choice {
    uint32_t path; /* an arm of the open if that is decided, 0: none has to be */
    bool taken;    /* for the arm of a condition that holds */
} branch_choice;
typedef FT_VEC(value_cell) value_cells;
typedef FT_VEC(ft_held) helds;

struct ft_machine {
    const ft_trace *trace;
    uint32_t epoch;
    uint32_t *previous; /* [n_events] event before it in its thread, FT_NO_EVENT: none */
    uint32_t *final;    /* [threads] last event of a thread, FT_NO_EVENT: it has none */
    uint32_t *forks;    /* [threads] fork events of a thread */
    thread_cell *threads;
    value_cell *shared;
    lock_cell *locks;
    semaphore_cell *semaphores;
    edge_cell *edges;
    condition_cell *conditions;
    block_cell *blocks;
    ft_map reading;          /* thread and lock -> epoch in which it holds it for reading, 0: not */
    ft_map waiting;          /* thread and condition -> epoch << 32 | time of its cond-wait */
    uint32_t *once_begin;    /* [onces] its first once-begin, FT_NO_EVENT: none */
    uint32_t *once_end;      /* [onces] its once-end, FT_NO_EVENT: none */
    uint32_t *arrival_first; /* [barriers + 1] slices of arrivals */
    uint32_t *arrivals;      /* barrier-arrive events by barrier, in observed order */
    ft_map round;            /* barrier-arrive or -leave event -> its round */
    ft_wakeups wakeups;
    uint32_t time;      /* events executed so far */
    ft_map local_slots; /* thread and local -> index in locals, made by the first write */
    value_cells locals;
    branch_cell *branches; /* [ifs] in the order of trace->paths */
    bool branches_open;    /* ifs go either way */
    ft_outcome condition;  /* of the event evaluated last */
    helds pending;         /* right-hand sides of the event evaluated last */
    uint8_t *partial;      /* [n_partial] terms that may divide by zero */
    uint32_t n_partial;
};

lock_cell ft_machine_lock(const ft_machine *machine, uint32_t lock);
semaphore_cell ft_machine_semaphore(const ft_machine *machine, uint32_t semaphore);
thread_cell ft_machine_thread(const ft_machine *machine, uint32_t thread);

/* machine_branch.c. FT_OK: e is what comes next in its thread, with this choice. */
ft_status ft_machine_reach(const ft_machine *machine, uint32_t e, branch_choice *choice,
                           ft_error *why) FT_MUST_CHECK;
/* Decides what the step to e decides, and, for an if evaluated just before, which arm is taken. */
void ft_machine_branch(ft_machine *machine, uint32_t e);

/* Sets up and releases what machine_sync.c keeps. */
void ft_machine_sync_open(ft_machine *machine);
void ft_machine_sync_close(ft_machine *machine);
/* Performs the event's synchronisation. */
void ft_machine_synchronise(ft_machine *machine, uint32_t e);

#endif
