/* Internals of the causality graph: the indexes that are prepared once (causality.c, cut.c,
 * needs.c, ties.c), the window of one claim (window.c, rules.c, cycle.c), and the checkers of both
 * (invariants.c). */
#ifndef FT_CAUSALITY_INTERNAL_H
#define FT_CAUSALITY_INTERNAL_H

#include "base/map.h"
#include "causality/causality.h"

/* ---- prepared once ---- */

/* Positions of the posts, waits or signals of each object, by thread. */
typedef struct ft_user_thread {
    uint32_t thread, first, count; /* slice of positions, ascending */
} ft_user_thread;
typedef struct ft_users {
    uint32_t *first; /* [objects + 1] slices of `threads` */
    FT_VEC(ft_user_thread) threads;
    uint32_t *positions;
} ft_users;

/* The events that must be executed with an event if all are to be executed in observed order: hard
 * sources, earlier conflicting tied accesses, earlier events on its semaphore or condition. Kept
 * per pair of threads as the steps at which their number grows. */
typedef struct ft_cut_step {
    uint32_t position, value; /* from this event on: this many events of the source */
} ft_cut_step;
typedef struct ft_cut_log {
    uint32_t thread, source;                 /* how much of `source` an event of `thread` needs */
    uint32_t next_of_thread, next_of_source; /* chains of logs, UINT32_MAX: end */
    FT_VEC(ft_cut_step) steps;
} ft_cut_log;

typedef struct ft_cut {
    FT_VEC(ft_cut_log) logs;
    ft_map index;                    /* thread << 32 | source -> log */
    ft_map asleep;                   /* events after a cond-wait, its wake included -> the wait */
    uint32_t *of_thread, *of_source; /* [threads] heads of chains */
    uint32_t *known;                 /* [threads] events that were looked at (a limit stops it) */
    size_t steps;
    uint32_t *at;             /* [threads] the cut of the claim in hand: events before the window */
    FT_VEC(uint32_t) lowered; /* scratch */
} ft_cut;

/* ---- the window of one claim ---- */

typedef struct ft_row {
    uint32_t event, position, lane;
    uint32_t out;   /* first link from here, UINT32_MAX: none */
    uint32_t reads; /* first of its tied reads in window.reads */
    uint32_t n_reads;
    bool queued;
} ft_row;

typedef struct ft_causality_link {
    uint32_t from, to, next; /* rows; next link of `from` */
    ft_causality_edge edge;
} ft_causality_link;

/* A thread with events in the window. */
typedef struct ft_causality_lane {
    uint32_t thread;
    uint32_t low;          /* position: earlier events are below the window */
    uint32_t node;         /* next static node to enter, index in causality.nodes */
    uint32_t limit;        /* position of its final event, UINT32_MAX: none */
    FT_VEC(uint32_t) rows; /* in program order */
} ft_causality_lane;

/* Events of one lane on one object, in program order. */
typedef enum ft_track_kind {
    FT_TRACK_SECTIONS,
    FT_TRACK_WRITES,
    FT_TRACK_READS,
    FT_TRACK_KINDS
} ft_track_kind;
typedef struct ft_track {
    uint32_t lane, next;    /* next track of the same kind and object, UINT32_MAX */
    FT_VEC(uint32_t) items; /* sections; rows; indices in window.reads */
} ft_track;

typedef struct ft_tied_read {
    uint32_t row, variable;
    uint32_t source; /* event, FT_NO_EVENT: the initial value */
} ft_tied_read;

/* A section that stays open, or the final acquire that must be possible: comes after all others. */
typedef struct ft_held_section {
    uint32_t event, lock, thread; /* event: its acquire */
    bool shared;
} ft_held_section;

typedef struct ft_lowering {
    uint32_t thread, position;
} ft_lowering;

typedef struct ft_causality_window {
    uint32_t finals[FT_CLAIM_MAX_EVENTS], n_finals;   /* next when the prefix is over */
    bool executed;                                    /* the finals could also be executed then */
    uint32_t roots[FT_CLAIM_MAX_EVENTS + 2], n_roots; /* members for the claim's own sake */
    uint32_t extras[2], n_extras; /* members of the claim that need a row of their own */
    uint32_t remote;              /* t_r, FT_NO_EVENT: none. Its reads are free */
    bool remote_bound; /* unless its thread goes on: then it is a member like any other */
    FT_VEC(ft_row) rows;
    FT_VEC(ft_causality_link) links;
    FT_VEC(ft_causality_lane) lanes; /* reused between claims: n_lanes are in use */
    uint32_t n_lanes, width;
    uint32_t *clock; /* [rows * width] events of each lane's thread that come before */
    size_t clock_capacity;
    FT_VEC(ft_track) tracks; /* reused likewise */
    uint32_t n_tracks;
    uint32_t *track_of[FT_TRACK_KINDS];    /* [objects] first track, valid if stamped with */
    uint32_t *track_epoch[FT_TRACK_KINDS]; /* this epoch */
    FT_VEC(ft_tied_read) reads;
    FT_VEC(ft_held_section) held;
    FT_VEC(uint32_t) waits, wakes; /* rows */
    FT_VEC(uint32_t) queue;        /* rows whose clock changed: a heap by event */
    FT_VEC(ft_causality_edge) pending;
    FT_VEC(ft_lowering) lowerings; /* the window must reach at least this far down */
    bool lower_again, abandoned, refuted;
    ft_causality_edges last; /* edges into final events that could be executed */
    ft_causality_edges cycle;
} ft_causality_window;

/* needs.c; made when first needed. */
typedef struct ft_needs {
    uint32_t width;          /* threads */
    uint32_t *row;           /* [n_events] rows of clocks: how many events of each other thread are
                                members wherever the event is */
    FT_VEC(uint32_t) clocks; /* [rows * width] */
    /* blocks with the variable: blocks[of_variable[v]] .. blocks[of_variable[v + 1] - 1] */
    uint32_t *of_variable, *blocks;
    uint32_t *of_block, *allocs; /* likewise the allocs of a block, in observed order */
} ft_needs;

struct ft_causality {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    ft_problem problem;
    unsigned rules;
    bool idle;            /* refutes nothing: broken, or with branches */
    uint32_t *node_first; /* [threads + 1] slices of nodes */
    uint32_t *nodes;      /* events that a graph can see, by thread, in program order */
    bool *lock_shared;    /* [locks] two threads take it */
    bool *tied;           /* [shared variables] the hard order leaves conflicting accesses open, and
                             a read is tied to a write */
    ft_map only_writer;   /* model maximal: variable << 32 | value -> its only writer */
    ft_map settled; /* likewise: event << 32 | access, a read -> the one that is left of several */
    struct ft_ties *ties; /* while they are looked for; else NULL */
    ft_users posts, waits, signals;
    ft_cut cut;
    uint32_t *lane_of, *lane_epoch; /* [threads], valid if stamped with this epoch */
    uint32_t epoch;                 /* one a window; the stamps are cleared where it wraps */
    ft_intern memo;                 /* what the graph sees of a claim, as bytes */
    FT_VEC(uint8_t) answers;        /* by id in memo */
    ft_causality_window window;
    ft_needs needs;
    ft_causality_stats stats;
};

/* causality.c */
bool ft_causality_has_several_writers(const ft_causality *c, uint32_t variable, ft_vid vid);
uint32_t ft_users_below(const ft_users *users, const ft_user_thread *in, uint32_t position);

/* cut.c */
void ft_cut_init(ft_causality *c);
void ft_cut_release(ft_cut *cut);
void ft_cut_place(ft_causality *c); /* fills cut.at for the window's claim */

/* window.c: builds the graph of the claim that shapes the window;
 * window.refuted and window.cycle are the answer. */
void ft_causality_window_build(ft_causality *c);
void ft_causality_window_release(ft_causality_window *window);
/* The row's clock has changed: its successors and its rules are visited again. */
void ft_causality_window_queue(ft_causality_window *window, uint32_t row);
/* Asks for an edge: `to` is a member (or a final event), so `from` must be one and come before. */
void ft_causality_window_demand(ft_causality_window *window, uint32_t from, uint32_t to,
                                ft_causality_why why, uint32_t object);
ft_causality_lane *ft_causality_window_lane(const ft_causality *c,
                                            uint32_t thread); /* NULL: not in the window */
uint32_t *ft_causality_window_clock(const ft_causality_window *window, uint32_t row);
/* The row of an event, UINT32_MAX: none. */
uint32_t ft_causality_window_row(const ft_causality *c, uint32_t event);
/* The first row of the lane at or after the position, UINT32_MAX: none. */
uint32_t ft_causality_window_row_from(const ft_causality_window *window,
                                      const ft_causality_lane *lane, uint32_t position);
ft_track *ft_causality_window_track(ft_causality *c, ft_track_kind kind, uint32_t object,
                                    uint32_t lane);
uint32_t ft_causality_window_tracks(const ft_causality *c, ft_track_kind kind, uint32_t object);

/* needs.c: do the claim's events need one of its final events? members: shape. */
bool ft_needs_refute(ft_causality *c, const ft_claim *claim, uint32_t members);
/* Does the event before `next` in its thread, or its fork, need e? */
bool ft_needs_before(ft_causality *c, uint32_t next, uint32_t e);
void ft_needs_find(ft_causality *c); /* fills c->needs */
/* How many events of that other thread e needs. */
uint32_t ft_needs_of(const ft_needs *needs, uint32_t e, uint32_t thread);
void ft_needs_release(ft_needs *needs);

/* ties.c: fills c->settled. */
void ft_ties_find(ft_causality *c);
/* While it does: settles that read where it can return one write only, by what it is known to need
 * so far. Returns what each write needs that it can return: [threads] events, valid until the next
 * call; NULL: nothing. */
const uint32_t *ft_ties_settle(ft_causality *c, uint32_t e, uint32_t i);

/* rules.c */
void ft_rules_start(ft_causality *c);               /* what the finals hold */
void ft_rules_enter(ft_causality *c, uint32_t row); /* a new member */
void ft_rules_apply(ft_causality *c, uint32_t row); /* its clock changed */
void ft_rules_sweep(ft_causality *c);               /* rules that depend on several clocks */

/* invariants.c, for FT_CHECK. The graph as far as it is built: clocks are monotone along each lane
 * and count no event of another lane that follows; unless it refutes the claim, no row comes before
 * itself, so its order is acyclic. */
bool ft_causality_window_is_sound(const ft_causality *c);
/* Nodes ascend along each thread; steps of the cut ascend in position and in value. */
bool ft_causality_is_sound(const ft_causality *c);
/* Every row of needs grows along its thread, and needs only events that the run executed before. */
bool ft_needs_is_sound(const ft_causality *c);
/* Each edge begins where the one before it ends, the first where the last ends. */
bool ft_causality_is_cycle(const ft_causality_edges *edges);

/* cycle.c: fill window.cycle; false: there is no such path. */
bool ft_cycle_through(ft_causality *c, uint32_t row);
/* The edge comes from an event at or after the final event of its thread. */
bool ft_cycle_outside(ft_causality *c, ft_causality_edge edge);

#endif
