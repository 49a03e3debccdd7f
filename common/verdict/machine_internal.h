/* The state of the machine, shared by its files: machine.c (data and order), machine_sync.c
 * (synchronisation), machine_branch.c (branches), machine_flow.c (a trace that is being read). */
#ifndef FT_VERDICT_MACHINE_INTERNAL_H
#define FT_VERDICT_MACHINE_INTERNAL_H

#include "base/contract.h"
#include "verdict/machine.h"

/* Each cell carries the epoch in which it was last changed. A cell of an older epoch is in its
 * initial state, so that a reset only begins a new epoch. */
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
/* A signal or broadcast that was executed; used: a waiter was woken by this signal. */
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
/* An if that was executed, and the arm that its thread took. Open: the next step of the thread
 * decides the arm. */
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
    bool branches_open;    /* an if may take either arm */
    bool flowing;          /* the trace is being read: events are those of a block */
    uint32_t evaluated;    /* event evaluated last, which the next two are about */
    ft_outcome condition;  /* its guard's or condition's */
    helds pending;         /* its right-hand sides */
    uint8_t *partial;      /* [n_partial] terms that may divide by zero */
    uint32_t n_partial;
};

/* The invariant: what a cell says of the current epoch is possible. Threads stopped at events of
 * their own, locks have an owner or readers that the table of readers knows, values have the sorts
 * of their variables, sources are writes. Walks all cells; not for a machine whose trace is being
 * read, nor after events that were executed though they were blocked. */
bool ft_machine_is_sound(const ft_machine *machine);

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
bool ft_machine_sync_is_sound(const ft_machine *machine); /* its part of ft_machine_is_sound */
/* Performs the event's synchronisation. */
void ft_machine_synchronise(ft_machine *machine, uint32_t e);

#endif
