/* The inside of exploring/: the run at hand, its threads, and the grades that make runs. */
#ifndef FT_RECORD_RT_RUN_H
#define FT_RECORD_RT_RUN_H

#include "exploring/exploring.h"
#include "raw/exploring.h"

#pragma GCC visibility push(hidden)

struct ft_rt_x_thread {
    uint32_t number; /* the explorer's */
    uint32_t parent, nth, children;
    uint32_t steps;         /* done */
    ft_x_operation pending; /* that it stands before; NONE: not known yet, or it has ended */
    const void *pc;         /* of that */
    bool exists;            /* it was created */
    bool stands;            /* it came to its first action, or has ended */
    bool ended, joined;
    ft_rt_x_thread *creator; /* gets the turn back when the thread stands */
    void *(*start)(void *);
    void *argument;
    pthread_t handle;
    uintptr_t pointer;       /* its thread pointer; 0: not known yet */
    uintptr_t stack_end;     /* of the first thread, whose stack is not below its thread pointer */
    size_t stack;            /* bytes below the pointer (the end) that are its own */
    uint32_t ignores;        /* open regions whose accesses are ignored */
    uint32_t limit;          /* of the wait that it stands before, in ms; 0: none */
    uint32_t slept, longest; /* ms since its last action, and of the longest sleep */
    const void *slept_at;    /* where that was */
    uint32_t calls;          /* on modelled descriptors and futexes, begun so far */
    bool in_call;            /* all of its actions are of the last of them */
    ft_exploring_result failure; /* what its EXIT ends the run with */
    uint32_t go;                 /* of grades with kernel threads: futex, 1: it has the turn */
};

/* State of the run: what a grade that copies memory back has to copy. */
extern struct ft_rt_x_run {
    bool begun; /* the first choice was met */
    ft_exploring_slot *slot;
    ft_x_pick *prefix;
    ft_exploring_step *steps;
    ft_x_state state;
    uint32_t n_objects;
    ft_rt_x_thread threads[FT_X_THREADS]; /* by number */
    ft_rt_x_thread *running;
    ft_x_choice choice; /* of the thread that gets the turn */
} ft_rt_x;

/* The same in all runs. */
extern ft_exploring_header *ft_rt_x_header;
extern uint32_t ft_rt_x_only_slot; /* 1 + the slot of this process's only run; 0: it serves */

/* How runs are made, and how threads take turns in them. Only one thread runs at any moment, and
 * all of these are called by it. */
typedef struct ft_rt_x_grade {
    /* At the first choice, by the only thread that there is: returns once for each run, with its
     * slot, in whatever process; the memory is then as at the first choice. */
    ft_exploring_slot *(*serve)(void);
    /* Makes the thread. It runs ft_rt_x_thread_begins() when it gets its first turn. An errno. */
    int (*create)(ft_rt_x_thread *thread, const pthread_attr_t *attributes);
    /* The caller's turn ends, and `to`'s begins; returns when the caller gets a turn again. */
    void (*hand_over)(ft_rt_x_thread *from, ft_rt_x_thread *to);
    /* The same as the last act of a thread; it may return, and then the thread ends. */
    void (*leave)(ft_rt_x_thread *from, ft_rt_x_thread *to);
    /* Takes the result of a thread that has left. */
    int (*join)(ft_rt_x_thread *thread, void **result);
    /* Nobody will take it. */
    int (*detach)(ft_rt_x_thread *thread);
    /* The slot is complete: the run ends here. */
    void (*end_run)(void) __attribute__((noreturn));
} ft_rt_x_grade;

/* Of the runs of this process, since its first choice. */
extern const ft_rt_x_grade *ft_rt_x_grade_used;
extern const ft_rt_x_grade ft_rt_x_grade_fork, ft_rt_x_grade_anew; /* server.c */
extern const ft_rt_x_grade ft_rt_x_grade_rewind;                   /* rewind.c */

/* The text up to the room, with a zero behind it. */
static inline void ft_rt_x_copy_text(char *to, size_t room, const char *text)
{
    size_t i = 0;
    for (; text[i] && i + 1 < room; i++) to[i] = text[i];
    to[i] = 0;
}

/* ---- kernel.c: turns of kernel threads, for grades that have them */
int ft_rt_x_kernel_create(ft_rt_x_thread *thread, const pthread_attr_t *attributes);
void ft_rt_x_kernel_hand_over(ft_rt_x_thread *from, ft_rt_x_thread *to);
void ft_rt_x_kernel_leave(ft_rt_x_thread *from, ft_rt_x_thread *to);
int ft_rt_x_kernel_join(ft_rt_x_thread *thread, void **result);
int ft_rt_x_kernel_detach(ft_rt_x_thread *thread);

/* ---- server.c: copies of the process at its first choice */
/* Returns in each copy: the slot whose task is next; a grade of forks has it taken already. */
ft_exploring_slot *ft_rt_x_serve_copies(void);
ft_exploring_slot *ft_rt_x_await_task(void); /* takes it; NULL: this process is being ended */
void ft_rt_x_report(ft_exploring_slot *s, int status);

/* ---- rewind.c */
void ft_rt_x_fall_back(const char *why); /* to the grade of forks, from the next run on */

/* ---- start.c */
void ft_rt_x_first_choice(ft_rt_x_thread *self); /* serves; returns in each run */

/* ---- explore.c */
void ft_rt_x_end_run(ft_x_end end) __attribute__((noreturn));
/* The thread that goes on now, with ft_rt_x.choice; ends the run if there is none. */
ft_rt_x_thread *ft_rt_x_pick(ft_rt_x_thread *self);

/* Announces the operation as it is: the thread is not looked at for polling. */
ft_x_choice ft_rt_x_announce(const ft_x_operation *operation, const void *pc);

/* ---- inputs.c */
void ft_rt_x_inputs_begin(void); /* at the first choice */

/* ---- polls.c */
/* Before an operation is announced. True: the thread polls and stands before *poll first; `polled`
 * gets the outcome. */
bool ft_rt_x_polls(const ft_x_operation *operation, const void *pc, ft_x_operation *poll);
void ft_rt_x_goes_on(void); /* in its place, where the call has announced an action before */
void ft_rt_x_polled(const ft_x_choice *choice);
void ft_rt_x_attempts(const ft_x_operation *operation); /* right before it is carried out */
void ft_rt_x_attempted(const ft_x_operation *operation, const void *pc, const ft_x_choice *choice);

/* ---- names.c */
bool ft_rt_x_has_object(ft_x_class class, const volatile void *address); /* known by now */
bool ft_rt_x_heap_address(uint32_t object, uintptr_t *address); /* false: it is elsewhere */
ft_x_object *ft_rt_x_states(void);                              /* of all objects, by number */
void ft_rt_x_names_begin(void);   /* at the first choice: what objects hold then is initial */
void ft_rt_x_names_to_slot(void); /* at the begin of a run */

/* ---- blocks.c */
/* The block with the address; false: none that was made in this run. */
bool ft_rt_x_block_of(uintptr_t address, uint32_t *maker, uint32_t *number, uint64_t *offset);

bool ft_rt_x_block_is_freed(uintptr_t address);

/* ---- lifetimes.c */
void ft_rt_x_uses(const ft_x_operation *operation, const void *pc); /* a call is about to */

/* ---- clocks.c */
bool ft_rt_x_clocks_begin(void);   /* at the first choice; false: there is no memory for them */
void ft_rt_x_clocks_new_run(void); /* at the begin of each run */
void ft_rt_x_clock_step(const ft_x_action *a);
uint32_t ft_rt_x_clock(uint32_t thread, uint32_t of); /* what it knows of the other one */
void ft_rt_x_clock_edge(uint32_t thread, uint32_t object, bool gives);
/* The thread writes memory: `to` gets what a reader learns. Its later accesses are not in that. */
void ft_rt_x_clock_write(uint32_t thread, uint32_t to[FT_X_THREADS]);
void ft_rt_x_clock_read(uint32_t thread, const uint32_t from[FT_X_THREADS]);

/* ---- races.c */
void ft_rt_x_races_begin(void);   /* at the first choice */
void ft_rt_x_races_new_run(void); /* at the begin of each run */
void ft_rt_x_atomic_access(const volatile void *address, size_t size, bool writes, const void *pc);
void ft_rt_x_freed(const void *memory, size_t size, const void *pc);
void ft_rt_x_fresh(const void *memory, size_t size);

/* ---- points.c */
void ft_rt_x_point(const volatile void *address, size_t size, bool writes, const void *pc);

/* ---- threads.c */
void *ft_rt_x_thread_begins(ft_rt_x_thread *self); /* in the new thread; its start's result */
void ft_rt_x_threads_start(void);                  /* the first thread, at the program's start */
ft_rt_x_thread *ft_rt_x_thread_of(pthread_t handle);

/* ---- mutexes.c */
/* The calling thread has just locked the mutex: the result of the call. */
int ft_rt_x_locked(uint32_t object, const void *pc);
void ft_rt_x_abandon(void); /* it is about to end: its robust mutexes */

/* ---- cycles.c */
/* Do threads wait for each other, whatever the others do? Then *result says where. */
bool ft_rt_x_find_cycle(ft_exploring_result *result);

/* ---- failures.c */
void ft_rt_x_failures_start(void);             /* at the first choice */
void ft_rt_x_failures_thread(uint32_t number); /* in each kernel thread: its stack for signals */
extern uint32_t ft_rt_x_crashed;               /* threads that stand in the handler of a crash */

#pragma GCC visibility pop

#endif
