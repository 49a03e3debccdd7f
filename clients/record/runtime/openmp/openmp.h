/* OpenMP: gcc's libgomp orders threads by its own instructions and futex calls, which the recorder
 * does not see. In a recording these functions stand in front of its entry points and do the same
 * by the hooks of threads, mutexes, barriers and semaphores.
 *
 * A parallel region creates its threads and joins them. Loops, sections and single blocks are
 * shared by number, whatever the schedule clause says, so that no run decides which thread does
 * what. A task is a thread of its own; those beyond a limit are run by the thread that meets them,
 * as the standard allows.
 *
 * Imports: accesses, libc, process, state. */
#ifndef FT_RECORD_OPENMP_H
#define FT_RECORD_OPENMP_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum { FT_OMP_MOST = 256 }; /* threads of a team */

typedef struct ft_omp_task ft_omp_task;

typedef struct ft_omp_team {
    unsigned n, level;
    void (*run)(void *);
    void *data;
    pthread_barrier_t barrier;
    sem_t turns[FT_OMP_MOST]; /* by thread: its next chunk of an ordered loop may go on */
    void *copied;             /* by the thread that ran a single block with copyprivate */
} ft_omp_team;

/* A loop or sections, as one thread shares in it. Chunk i is that of thread i % n. */
typedef struct ft_omp_share {
    unsigned long start, count, step, chunk, at; /* at: the next chunk of this thread */
    bool ordered, waited;                        /* for its turn */
} ft_omp_share;

/* This thread's part in the innermost region. */
typedef struct ft_omp_self {
    ft_omp_team *team; /* NULL: outside */
    unsigned number, singles;
    ft_omp_share share;
    ft_omp_task *children, *task; /* tasks not yet joined; the task that this thread runs, NULL */
    pthread_mutex_t *numbered;    /* held by a task that knows its thread's number */
} ft_omp_self;

extern __thread ft_omp_self ft_omp_me;

bool ft_omp_is_ours(void);       /* the thread is recorded, or replayed */
void ft_omp_join_children(void); /* tasks: waits for those that this thread created */

#pragma GCC visibility pop

#endif
