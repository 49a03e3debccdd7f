/* The state of schedules without a solver, shared by its two files: schedule.c finds the members,
 * schedule_order.c gives them an order. */
#ifndef FT_WITNESS_SCHEDULE_INTERNAL_H
#define FT_WITNESS_SCHEDULE_INTERNAL_H

#include "base/contract.h"
#include "witness/schedule.h"

/* A step waits for earlier accesses of a cell: a read for the writes before it, a write for all
 * accesses before it. Sections are writes of their lock. */
typedef struct ft_schedule_need {
    uint32_t cell, before;
    bool write;
} ft_schedule_need;

typedef struct ft_schedule_cell {
    uint32_t epoch, accesses, writes;
} ft_schedule_cell;

/* Member sections of one lock. Later: in the order of the schedule. */
typedef struct ft_schedule_lock {
    uint32_t epoch;
    uint32_t last, last_exclusive; /* latest acquires, by rank + 1; 0: none */
    uint32_t open;                 /* first of those that need not be closed yet, by next_open */
    uint32_t held;                 /* section open at the end, FT_NO_SECTION: none */
    uint32_t yields;               /* the one before it, that of t_r, FT_NO_SECTION: none */
    /* in any order: sections expected, entered, open, and not closed yet but to be */
    uint32_t expected, entered, inside, to_close;
    bool taken; /* an open one is exclusive */
} ft_schedule_lock;

/* In any order: the value of a variable, by its source. */
typedef struct ft_schedule_value {
    uint32_t epoch, source, initial_readers;
} ft_schedule_value;

/* The part of one thread in a schedule. */
typedef struct ft_schedule_lane {
    uint32_t members; /* its first events */
    uint32_t steps;   /* likewise; one more than members for t_r, which no member needs */
    uint32_t next;    /* in busy: the next event whose needs to include, or to execute */
    uint32_t at;      /* steps executed */
    bool queued;
} ft_schedule_lane;

struct ft_schedules {
    const ft_problem *problem;
    const ft_trace *trace;
    const ft_order *order;
    int plain;            /* -1: not looked at yet */
    uint32_t *busy_first; /* [threads + 1] slices of busy */
    uint32_t *busy;       /* events that depend on other threads, by thread, in program order */
    uint32_t *by_time;    /* indexes of busy, in observed order */
    uint32_t *busy_index; /* [n_events] index in busy, FT_NO_EVENT */
    uint32_t n_busy;
    bool *variable_met;  /* accessed by several threads and written by one */
    uint32_t *rank;      /* [n_events] place in the schedule at hand; observed order at rest */
    uint32_t *next_open; /* [sections] */
    ft_schedule_lane *lanes;
    ft_schedule_lock *locks;
    ft_schedule_cell *cells; /* variables, then locks */
    uint32_t epoch;          /* of locks */
    uint32_t cell_epoch;     /* of cells */
    uint32_t *need_first;    /* [n_busy] slice of needs; in any order: an acquire's turn */
    uint32_t *need_count;
    bool any_order;              /* steps keep reads-from, not the order of all accesses */
    ft_schedule_value *holdings; /* [shared] */
    uint32_t *readers;           /* [n_busy] steps to come that read what it writes */
    bool early;                  /* t_r's sections come as soon as they can, else last */
    uint32_t after, only;        /* the step `only` waits for the step `after` (t_r for t_c) */
    FT_VEC(ft_schedule_need) needs;
    FT_VEC(uint32_t) dirty;      /* threads */
    FT_VEC(uint32_t) live;       /* threads with steps left */
    FT_VEC(uint32_t) used_locks; /* of this schedule */
    FT_VEC(uint32_t) held;       /* acquires of sections open at the end */
    bool stuck;                  /* a section open at the end would have to be closed */
};

static inline bool ft_schedules_is_member(const ft_schedules *s, uint32_t e)
{
    return s->order->position[e] < s->lanes[s->trace->thread[e]].members;
}

static inline bool ft_schedules_is_step(const ft_schedules *s, uint32_t e)
{
    return s->order->position[e] < s->lanes[s->trace->thread[e]].steps;
}

/* The latest step in observed order. */
uint32_t ft_schedules_last_step(const ft_schedules *schedules);
/* The state of the lock in this schedule so far. */
ft_schedule_lock *ft_schedules_lock(ft_schedules *schedules, uint32_t lock);

/* Adds the accesses that the event busy[index] waits for; called in the order that is to be kept.
 */
void ft_schedules_add_needs(ft_schedules *schedules, uint32_t index);
/* Executes all steps of the lanes, `total` of them, into the witness (heap). False: their needs
 * form a cycle. */
bool ft_schedules_run(ft_schedules *schedules, uint32_t total, ft_witness *witness);

#endif
