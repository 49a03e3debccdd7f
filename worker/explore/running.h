/* The inside of the executor of symbolic states, for the files of this folder alone: a run as far
 * as it is, which is also what a snapshot keeps. */
#ifndef FT_WORKER_EXPLORE_RUNNING_H
#define FT_WORKER_EXPLORE_RUNNING_H

#include "base/map.h"
#include "explore/symbolic.h"
#include "symbolic/state.h"

/* A step that was taken. Runs that begin alike share their steps. */
typedef struct taken {
    uint32_t refs;
    struct taken *before; /* the step before, of any thread */
    struct taken *own;    /* the thread's step before */
    ft_x_action action;
    ft_x_pick step;   /* for the interpreter; thread UINT16_MAX: none of its own */
    uint64_t changed; /* in the state's fingerprint */
    uint32_t depth;   /* of all steps, from 1 */
    uint32_t width;
    uint32_t clock[]; /* by thread: how many of its steps are causes, itself included */
} taken;

typedef struct tracked {
    bool met;
    uint8_t bytes;     /* of an atomic, the most that an instruction used; 0: none did */
    uint64_t arrivals; /* at a barrier */
    int64_t first, content;
} tracked;

/* How often a thread took an arm. */
typedef struct arm_count {
    uint32_t thread, arm, count;
    ft_sym_place place;
} arm_count;

typedef struct begun {
    uint64_t address;
    uint32_t n;     /* how often it was initialised */
    uint64_t count; /* of a semaphore: with how much, which inputs may decide */
} begun;

/* An attempt of a thread (kind NONE: it took a lock, or gave it back), and where the thread stood
 * before it; NULL: that is not known. */
typedef struct visit {
    ft_sym_mark *mark;
    ft_x_attempt attempt;
    uint64_t address;
    uint8_t width; /* of an atomic's content */
    ft_sym_place place;
} visit;

/* What a thread did since it last changed anything, and the poll before which it stands. */
typedef struct poller {
    FT_VEC(visit) visits;
    uint64_t changes;
    ft_x_operation poll; /* NONE: it stands before none */
    uint32_t first;      /* of the poll: its first attempt */
    bool holds;          /* its round takes locks: it may go on all the same (polls.c) */
} poller;

/* How long the newest thread has been alone: how often it came back to a place of its own. */
typedef struct stay {
    ft_sym_place at;
    uint32_t steps, next, times;
    bool yields; /* its newest step was a yield */
} stay;

typedef struct running {
    ft_symbolic *c;
    ft_sym_state *m;
    taken *newest; /* NULL: none */
    taken *last[FT_X_THREADS];
    FT_VEC(tracked) objects;
    FT_VEC(begun) lives; /* of addresses that were initialised */
    FT_VEC(arm_count) arms;
    uint32_t made[FT_X_THREADS]; /* children so far */
    uint32_t steps[FT_X_THREADS];
    int64_t round[FT_X_THREADS];
    stay stay;
    poller *pollers[FT_X_THREADS]; /* NULL: it made no attempt yet */
    uint64_t print;                /* with cutoffs: the state's fingerprint */
} running;

typedef struct snapshot {
    uint64_t key; /* of its picks */
    size_t bytes;
    running r;
} snapshot;

typedef struct wanted_run {
    bool is;
    FT_VEC(ft_x_pick) prefix;
    uint32_t avoid[FT_X_THREADS];
} wanted_run;

struct ft_symbolic {
    const ft_program *program;
    ft_symbolic_options options;
    ft_sym_world *world;
    ft_map objects; /* hash of address and life -> number */
    uint32_t n_objects;
    FT_VEC(uint64_t) names; /* of objects from FIRST_OBJECT on: the same in every process */
    ft_map children;        /* parent and which of its children -> number */
    uint32_t n_threads;
    FT_VEC(ft_symbolic_maker) makers; /* of threads from 1 on */
    ft_x_operation first;
    wanted_run task, naming;      /* of the run; of a state that is named */
    FT_VEC(snapshot *) snapshots; /* the oldest first, from `kept` on */
    size_t kept, kept_bytes;
    ft_map by_key; /* -> index in snapshots */
    ft_map met;    /* how often the run at hand had a fingerprint */
    ft_symbolic_counts counts;
    ft_x_watches *watches;
    bool tries_locks;      /* the program has instructions that find a lock held, and go on */
    bool orders_arrivals;  /* the program uses which thread comes to a barrier last */
    bool too_many_threads; /* a run was refused for their number */
    bool counts_atomics;   /* an atomic's content is how often it was written: READ and WRITE */
    ft_symbolic_cut cuts[FT_SYMBOLIC_CUTS];
    size_t n_cuts;
    ft_sym_place overlap; /* the first instruction that was seen to; FT_NO_SYMBOL: none */
    ft_sym_place lingers; /* the first place in the program where a thread lingered */
    ft_interpreter_error error;
    FT_VEC(ft_symbolic_input) inputs;
    FT_VEC(ft_x_pick) picks;
};

enum { SECTIONS, NEVER, FIRST_OBJECT }; /* objects: atomic sections; what nobody ever gives */

/* ---- operations.c */
/* The number of the thread that this one makes as its child-th. */
uint32_t ft_running_child(struct ft_symbolic *c, uint32_t parent, uint32_t child);
/* The thread's next operation in the search's terms. */
ft_status ft_running_operation(running *r, uint32_t t, const ft_sym_operation *o, ft_x_operation *x,
                               ft_error *err) FT_MUST_CHECK;
/* What an atomic holds where a run meets it first, and later that nothing else changed it. Notes
 * atomics that overlap. */
ft_status ft_running_check_content(running *r, const ft_sym_operation *o, const ft_x_operation *x,
                                   ft_error *err) FT_MUST_CHECK;
uint64_t ft_running_outcome(const running *r, const ft_sym_operation *o, const ft_x_operation *x);
/* Updates the run's knowledge by the action. */
void ft_running_track(running *r, uint32_t t, const ft_sym_operation *o, const ft_x_action *a);

/* ---- polls.c: threads that poll (explore/watch.h) */
/* Before a step of the thread that is no poll: what is compared behind it. */
typedef struct polled {
    bool tries, holds; /* it takes or gives back a lock */
    visit v;
} polled;
polled ft_running_tries(running *r, uint32_t t, const ft_sym_operation *o, const ft_x_operation *x);
/* Behind it: does the thread stand before a poll now? */
void ft_running_tried(running *r, uint32_t t, const ft_sym_operation *o, const ft_x_action *a,
                      polled *p);
/* The poll before which the thread stands; NULL: none. */
const ft_x_operation *ft_running_poll(const running *r, uint32_t t);
/* Some thread stands before a poll and may go on, though no attempt would turn out otherwise. */
bool ft_running_may_poll_on(const running *r);
/* Would an attempt that it watches turn out otherwise? */
bool ft_running_differs(const running *r, uint32_t t);
void ft_running_polls_on(running *r, uint32_t t, bool late); /* the poll was carried out */
void ft_running_copy_polls(running *to, const running *from);
void ft_running_release_polls(running *r);

/* ---- states.c: states for cutoffs (explore/cutoffs.h) */
uint64_t ft_running_label(const struct ft_symbolic *c, const ft_x_action *a);
uint64_t ft_running_print(running *r);
/* False: the state is not to be compared. */
bool ft_running_name(running *r, ft_x_name *name);

/* ---- judge.c */
/* Has the interpreter execute the run as far as it is, and appends which accesses may still race
 * (ft_interpreter_order_bytes). What was judged before stays. False: it could not be done. */
bool ft_running_order(running *r, ft_strbuf *bytes);
/* Has the interpreter execute the run, which ended; its result, packed. False: it could not be
 * confirmed. */
bool ft_running_judge(running *r, bool stuck, uint64_t *result);
/* The same of a run that was cut: does it race? */
bool ft_running_races_along(running *r, uint64_t *result, bool *races);
/* Of a run that is stuck: does the interpreter find that no thread ever gets further? */
bool ft_running_is_stuck(running *r);
/* Is there a race before the assumption that discards the run? Then it is the run's result. */
bool ft_running_races_before(running *r, uint64_t *result);

#endif
