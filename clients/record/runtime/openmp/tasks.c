/* Tasks: threads of their own, which the thread that created them joins. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "accesses/accesses.h"
#include "libc/libc.h"
#include "openmp/openmp.h"
#include "process/process.h"

#define CODE __builtin_return_address(0)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { TASKS = 500, DEPEND = 1 << 3, FINAL = 1 << 1, NOGROUP = 1 << 11 };

struct ft_omp_task {
    pthread_t thread;
    void (*run)(void *);
    void *block, *data;
    ft_omp_team *team;
    unsigned number;
    sem_t gate; /* the creator waits for its tasks: they may use its number */
    ft_omp_task *next;
};

static unsigned created;
static pthread_mutex_t omp_number[FT_OMP_MOST]; /* held by the task that uses the number */

static void *work(void *argument)
{
    ft_omp_task *task = argument;
    ft_omp_me = (ft_omp_self){.team = task->team, .number = task->number, .task = task};
    task->run(task->data);
    ft_omp_join_children();
    if (ft_omp_me.numbered) pthread_mutex_unlock(ft_omp_me.numbered);
    return NULL;
}

/* Data that tasks keep by the thread's number is used by one after another, and not while their
 * creator goes on. */
int omp_get_thread_num(void)
{
    if (!ft_omp_is_ours() || !ft_omp_me.team) return FT_REAL(omp_get_thread_num)();
    if (ft_omp_me.task && !ft_omp_me.numbered) {
        sem_wait(&ft_omp_me.task->gate);
        ft_omp_me.numbered = &omp_number[ft_omp_me.number];
        pthread_mutex_lock(ft_omp_me.numbered);
    }
    return (int)ft_omp_me.number;
}

void ft_omp_join_children(void)
{
    for (ft_omp_task *t = ft_omp_me.children; t; t = t->next) sem_post(&t->gate);
    while (ft_omp_me.children) {
        ft_omp_task *task = ft_omp_me.children;
        ft_omp_me.children = task->next;
        ft_rt_join(task->thread, NULL, CODE);
        free(task->block);
        free(task);
    }
}

static void copy_range(void *to, const void *from, size_t n)
{
    ft_rt_read_range(from, n, CODE);
    ft_rt_write_range(to, n, CODE);
    memcpy(to, from, n);
}

/* The task's copy of what it captured, in a block that *block names. */
static void *captured(void *data, void (*copy)(void *, void *), long size, long alignment,
                      void **block)
{
    uintptr_t unit = alignment > 1 ? (uintptr_t)alignment : 1;
    *block = malloc((size_t)size + unit);
    void *to = (void *)(((uintptr_t)*block + unit - 1) / unit * unit);
    if (copy)
        copy(to, data);
    else
        copy_range(to, data, (size_t)size);
    return to;
}

static void start(void (*run)(void *), void *block, void *data, bool deferred, const void *pc)
{
    ft_omp_task *task = deferred && created < TASKS ? calloc(1, sizeof *task) : NULL;
    if (!task) {
        run(data);
        free(block);
        return;
    }
    created++;
    *task = (ft_omp_task){.run = run,
                          .block = block,
                          .data = data,
                          .team = ft_omp_me.team,
                          .number = ft_omp_me.number,
                          .next = ft_omp_me.children};
    sem_init(&task->gate, 0, 0);
    ft_omp_me.children = task;
    if (ft_rt_create_from(&task->thread, NULL, work, task, (const void *)(uintptr_t)run, pc))
        abort();
}

void GOMP_task(void (*run)(void *), void *data, void (*copy)(void *, void *), long size,
               long alignment, bool deferred, unsigned flags, void **depends, int priority,
               void *detach)
{
    if (!ft_omp_is_ours()) {
        FT_REAL(GOMP_task)
        (run, data, copy, size, alignment, deferred, flags, depends, priority, detach);
        return;
    }
    if (flags & DEPEND) ft_omp_join_children(); /* some of them come before it */
    void *block, *own = captured(data, copy, size, alignment, &block);
    bool alone = !ft_omp_me.team || ft_omp_me.team->n == 1;
    start(run, block, own, deferred && !(flags & FINAL) && !alone, CODE);
}

/* The first two words of a task's data are its part of the loop. */
static void share_loop(void (*run)(void *), void *data, void (*copy)(void *, void *), long size,
                       long alignment, unsigned flags, unsigned long n, long from, long end,
                       long step, const void *pc)
{
    long count = step > 0 ? (end - from + step - 1) / step : (from - end - step - 1) / -step;
    bool alone = !ft_omp_me.team || ft_omp_me.team->n == 1;
    if (count <= 0) return;
    long tasks = n ? (long)n : ft_omp_me.team ? (long)ft_omp_me.team->n : 1;
    if (flags & 1 << 9 && n) tasks = (count + (long)n - 1) / (long)n; /* grainsize */
    if (tasks > count) tasks = count;
    for (long i = 0; i < tasks; i++) {
        void *block;
        long *own = captured(data, copy, size, alignment, &block);
        own[0] = from + count * i / tasks * step;
        own[1] = from + count * (i + 1) / tasks * step;
        start(run, block, own, !alone && !(flags & FINAL), pc);
    }
    if (!(flags & NOGROUP)) ft_omp_join_children();
}

void GOMP_taskloop(void (*run)(void *), void *data, void (*copy)(void *, void *), long size,
                   long alignment, unsigned flags, unsigned long n, int priority, long from,
                   long end, long step)
{
    if (!ft_omp_is_ours()) FT_REAL(GOMP_taskloop)
    (run, data, copy, size, alignment, flags, n, priority, from, end, step);
    else share_loop(run, data, copy, size, alignment, flags, n, from, end, step, CODE);
}

#define WAITS(name)                                                                                \
    void name(void)                                                                                \
    {                                                                                              \
        if (!ft_omp_is_ours())                                                                     \
            FT_REAL(name)();                                                                       \
        else                                                                                       \
            ft_omp_join_children();                                                                \
    }
WAITS(GOMP_taskwait)
WAITS(GOMP_taskgroup_end)

#define IS_NOTHING(name)                                                                           \
    void name(void)                                                                                \
    {                                                                                              \
        if (!ft_omp_is_ours()) FT_REAL(name)();                                                    \
    }
IS_NOTHING(GOMP_taskyield)
IS_NOTHING(GOMP_taskgroup_start)
