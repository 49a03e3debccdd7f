/* The random program behind a generated trace. Private to the generator. */
#ifndef FT_TEST_PROGRAM_H
#define FT_TEST_PROGRAM_H

#include "oracle/generate.h"

#define FT_PROGRAM_OPS     24
#define FT_PROGRAM_THREADS 4
#define FT_PROGRAM_SHARED  3
#define FT_PROGRAM_LOCALS  2
#define FT_PROGRAM_LOCKS   2
#define FT_PROGRAM_EDGES   3

typedef struct ft_instruction {
    ft_event_kind kind;
    uint32_t object;
    uint32_t loc;
    uint8_t flags;
    bool valued;     /* READ, WRITE: the value is recorded */
    uint64_t bits;   /* WRITE */
    ft_term guard;   /* ASSIGN, ASSUME, ASSERT */
    uint32_t pinned; /* ASSERT: 1 + the variable (shared ones, then locals) that must have the value
                        it has in the run; 0: none */
    uint32_t n_assignments;
    ft_assignment assignments[2];
} ft_instruction;

typedef struct ft_program {
    ft_random random;
    ft_grade grade;
    ft_builder *builder;
    uint32_t n_threads, n_shared, n_locals, n_locks, n_semaphores, n_edges;
    ft_sort shared_sort[FT_PROGRAM_SHARED], local_sort[FT_PROGRAM_LOCALS];
    uint64_t shared_initial[FT_PROGRAM_SHARED], local_initial[FT_PROGRAM_LOCALS];
    bool plain[FT_PROGRAM_SHARED];        /* accessed by reads and writes without values only */
    uint32_t guardian[FT_PROGRAM_SHARED]; /* lock that protects it in disciplined programs */
    uint32_t lock_kind[FT_PROGRAM_LOCKS];
    uint32_t semaphore_initial;
    uint32_t discipline;   /* percent of accesses that keep to the locks */
    uint32_t transactions; /* percent of blocks that are marked */
    uint32_t assertions;   /* percent of conditions that are asserted */
    ft_instruction ops[FT_PROGRAM_THREADS][FT_PROGRAM_OPS];
    uint32_t n_ops[FT_PROGRAM_THREADS];
    /* while generating */
    uint32_t thread, budget;
    uint32_t held[FT_PROGRAM_LOCKS];
    uint32_t edges_in, next_join;
} ft_program;

uint32_t ft_program_below(ft_program *program, uint32_t bound);
bool ft_program_percent(ft_program *program, uint32_t percent);

/* Random terms over the program's variables. plain: variables without values may occur. */
ft_term ft_program_term(ft_program *program, ft_sort sort);
ft_term ft_program_condition(ft_program *program, bool plain);

/* Fills `ops`. */
void ft_program_make(ft_program *program);
/* Runs it under a random scheduler into the builder. */
void ft_program_run(ft_program *program);

#endif
