/* The random program behind a generated trace. Private to the generator. */
#ifndef FT_TEST_PROGRAM_H
#define FT_TEST_PROGRAM_H

#include "oracle/generate.h"

#define FT_PROGRAM_OPS        64
#define FT_PROGRAM_THREADS    4
#define FT_PROGRAM_SHARED     3
#define FT_PROGRAM_LOCALS     2
#define FT_PROGRAM_LOCKS      3
#define FT_PROGRAM_EDGES      3
#define FT_PROGRAM_CONDITIONS 2
#define FT_PROGRAM_SEMAPHORES 2
#define FT_PROGRAM_BLOCKS     2
#define FT_PROGRAM_IFS        5

/* What a program is mostly about. */
typedef enum ft_flavour {
    FT_FLAVOUR_DATA,       /* accesses, sections, transactions; it may end stuck */
    FT_FLAVOUR_LOCKS,      /* nested sections in any order, attempts, read-write locks */
    FT_FLAVOUR_CONDITIONS, /* waiters and signallers */
    FT_FLAVOUR_SEMAPHORES, /* two semaphores, units taken and given back in any order */
    FT_FLAVOUR_BARRIERS,   /* phases, initialisers */
    FT_FLAVOUR_MEMORY,     /* blocks allocated and freed, variables published */
    FT_FLAVOUR_ANY         /* all of these */
} ft_flavour;

typedef struct ft_instruction {
    ft_event_kind kind;
    uint32_t object;
    uint32_t loc;
    uint8_t flags;
    bool valued;     /* READ, WRITE, RMW: the value is recorded */
    bool timed;      /* COND_WAKE: its time may be up */
    bool tests;      /* READ: a value other than 0 jumps as well */
    uint32_t skip;   /* instructions jumped over by an attempt that fails, a once that is done */
    uint64_t bits;   /* WRITE */
    ft_term guard;   /* ASSIGN, ASSUME, ASSERT, IF */
    uint32_t pinned; /* ASSERT, IF: 1 + the variable (shared ones, then locals) that must have the
                        value it has in the run (an IF: or must not have); 0: none */
    uint32_t n_assignments;
    ft_assignment assignments[2];
} ft_instruction;

enum { FT_FEW_UPDATES = 8, FT_MANY_UPDATES = 50 };

typedef struct ft_program {
    ft_random random;
    ft_grade grade;
    ft_flavour flavour;
    ft_builder *builder;
    uint32_t n_threads, n_shared, n_locals, n_locks, n_semaphores, n_edges;
    uint32_t n_conditions, n_barriers, n_onces, n_blocks; /* at most one barrier and once */
    uint32_t barrier_count;
    ft_sort shared_sort[FT_PROGRAM_SHARED], local_sort[FT_PROGRAM_LOCALS];
    uint64_t shared_initial[FT_PROGRAM_SHARED], local_initial[FT_PROGRAM_LOCALS];
    bool declared[FT_PROGRAM_SHARED]; /* its initial value is in the trace */
    bool plain[FT_PROGRAM_SHARED];    /* accessed by reads and writes without values only */
    uint32_t lock_kind[FT_PROGRAM_LOCKS];
    uint32_t semaphore_initial[FT_PROGRAM_SEMAPHORES];
    bool forks;            /* the first thread starts others */
    uint32_t discipline;   /* percent of accesses that keep to the locks */
    uint32_t transactions; /* percent of blocks that are marked */
    uint32_t assertions;   /* percent of conditions that are asserted */
    uint32_t ordered;      /* percent of nested locks taken in the order of their numbers */
    uint32_t guarded;      /* percent of nested locks taken under lock 0 */
    uint32_t careful;      /* percent of waits and signals that keep to the flag and the mutex */
    uint32_t branches;     /* percent of items that are ifs */
    uint32_t ignored;      /* percent of accesses that are no candidates */
    bool unborn;           /* variables of terms may have no initial value */
    bool tells;            /* threads that wait when the run ends say what for */
    uint32_t updates;      /* of a hundred accesses: FT_FEW_UPDATES or FT_MANY_UPDATES */
    bool rich; /* threads fork threads, two blocks, a mutex of its own for each condition */
    bool wide; /* terms as recordings have them: bytes of words, words of bytes */
    bool tidy; /* the block is allocated before the forks and freed after the joins */
    ft_instruction ops[FT_PROGRAM_THREADS][FT_PROGRAM_OPS];
    uint32_t n_ops[FT_PROGRAM_THREADS];
    /* while generating */
    uint32_t thread, budget;
    uint32_t held[FT_PROGRAM_LOCKS];
    bool held_shared[FT_PROGRAM_LOCKS];
    uint32_t edges_in, next_join;
    uint32_t n_ifs, arms; /* arms: those open around what is being made */
} ft_program;

uint32_t ft_program_below(ft_program *program, uint32_t bound);
bool ft_program_percent(ft_program *program, uint32_t percent);

/* Random terms over the program's variables. plain: variables without values may occur. */
ft_term ft_program_term(ft_program *program, ft_sort sort);
ft_term ft_program_condition(ft_program *program, bool plain);

/* Appends an instruction to the thread being made; the last one again when there is no room. */
ft_instruction *ft_program_add(ft_program *program, ft_event_kind kind, uint32_t object);
void ft_program_add_data(ft_program *program);
void ft_program_add_access(ft_program *program, uint32_t variable, bool write);
void ft_program_add_update(ft_program *program, uint32_t variable);
void ft_program_add_local(ft_program *program); /* an assignment; there is a local */
/* program_branch.c: an if with its condition; its arm or arms and the end-if are to follow. False:
 * the trace knows too little for it, or there are enough. */
bool ft_program_begin_if(ft_program *program);
bool ft_program_begin_if_zero(ft_program *program, uint32_t variable); /* of (= variable 0) */
void ft_program_end_if(ft_program *program);
/* program_sync.c: something of the program's flavour; false: its flavour has nothing here. */
bool ft_program_add_special(ft_program *program);
/* What programs elsewhere have less of: an update, an attempt, a signal, a local, memory. */
void ft_program_add_to_arm(ft_program *program);
/* Before the forks and after the joins of the first thread. */
void ft_program_add_first(ft_program *program);
void ft_program_add_last(ft_program *program);

/* Fills `ops`. */
void ft_program_make(ft_program *program);
/* Runs it under a random scheduler into the builder. */
typedef enum ft_run_end {
    FT_RUN_COMPLETE,
    FT_RUN_STUCK,        /* a thread has not ended */
    FT_RUN_STUCK_HOLDING /* likewise, and a lock is held */
} ft_run_end;
ft_run_end ft_program_run(ft_program *program);

#endif
