/* usage: explore_core THREADS SECTIONS [WORKERS [LANES]]
 *
 * The search core alone: so many threads with so many sections of one lock each, whose schedules an
 * executor of a few lines runs. Prints the classes, the runs, what a class takes (processor time,
 * the executor's own apart; wall clock), and the events: all, the most at a time, bytes for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore/forest.h"

enum { MOST_SLOTS = 64 };

typedef struct sections {
    uint32_t threads, each;
    ft_x_operation first[FT_X_THREADS];
    ft_x_task tasks[MOST_SLOTS];
    FT_VEC(ft_x_pick) prefixes[MOST_SLOTS];
    bool busy[MOST_SLOTS];
    double took[MOST_SLOTS];
    ft_x_run runs[MOST_SLOTS];
} sections;

static double clock_of(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    (void)err;
    sections *s = context;
    s->prefixes[slot].len = 0;
    for (size_t i = 0; i < task->n; i++) ft_vec_push(&s->prefixes[slot], task->prefix[i]);
    s->tasks[slot] = *task;
    s->busy[slot] = true;
    return FT_OK;
}

static uint32_t next_thread(const sections *s, const uint32_t *done, const ft_x_task *task,
                            uint32_t running)
{
    uint32_t owner = FT_X_THREADS, avoided = FT_X_THREADS;
    for (uint32_t t = 0; t < s->threads; t++)
        if (done[t] % 2) owner = t;
    for (uint32_t i = 0; i < s->threads; i++) {
        uint32_t t = (running + i) % s->threads;
        if (done[t] == 2 * s->each || (owner != FT_X_THREADS && owner != t)) continue;
        if (task->avoid[t] != done[t] + 1) return t;
        avoided = t;
    }
    return avoided;
}

static void run(sections *s, uint32_t slot, ft_x_run *made)
{
    uint32_t done[FT_X_THREADS] = {0}, running = 0;
    for (size_t i = 0;; i++) {
        bool along = i < s->prefixes[slot].len;
        running = along ? s->prefixes[slot].data[i].thread
                        : next_thread(s, done, &s->tasks[slot], running);
        if (running == FT_X_THREADS) break;
        ft_x_operation o = {.kind = done[running]++ % 2 ? FT_X_UNLOCK : FT_X_LOCK};
        ft_vec_push(&made->steps, (ft_x_action){.operation = o, .thread = (uint16_t)running});
    }
    made->end = FT_X_DONE;
}

static void run_timed(sections *s, uint32_t slot, ft_x_run *made)
{
    double began = clock_of(CLOCK_THREAD_CPUTIME_ID);
    run(s, slot, made);
    s->took[slot] += clock_of(CLOCK_THREAD_CPUTIME_ID) - began;
    s->busy[slot] = false;
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *made, ft_error *err)
{
    (void)err;
    sections *s = context;
    for (*slot = 0; !s->busy[*slot];) ++*slot;
    run_timed(s, *slot, made);
    return FT_OK;
}

static ft_status await(void *context, uint32_t first, uint32_t step, uint32_t *slot, ft_error *err)
{
    (void)step, (void)err;
    sections *s = context;
    s->runs[first] = (ft_x_run){0};
    run_timed(s, first, &s->runs[first]);
    *slot = first;
    return FT_OK;
}

static ft_status collect(void *context, uint32_t slot, ft_x_run *made, ft_error *err)
{
    (void)err;
    *made = ((sections *)context)->runs[slot];
    return FT_OK;
}

int main(int argc, char **argv)
{
    static sections s;
    if (argc < 3) return 2;
    s.threads = (uint32_t)strtoul(argv[1], NULL, 10);
    s.each = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t workers = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    if (!s.threads || s.threads > FT_X_THREADS || !workers || workers > MOST_SLOTS) return 2;
    for (uint32_t t = 0; t < s.threads; t++) s.first[t].kind = FT_X_LOCK;
    ft_x_executor executor = {.context = &s,
                              .world = {.n_threads = s.threads, .first = s.first},
                              .width = workers,
                              .start = start,
                              .finish = finish,
                              .threads = workers,
                              .lanes = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0,
                              .await = await,
                              .collect = collect};
    ft_x_counts counts;
    bool finished;
    ft_error err = FT_ERROR_INIT;
    ft_x_options options = {0};
    double wall = clock_of(CLOCK_MONOTONIC), busy = clock_of(CLOCK_PROCESS_CPUTIME_ID), own = 0;
    if (ft_x_search(&executor, &options, &counts, &finished, &err) != FT_OK || !finished) return 1;
    wall = clock_of(CLOCK_MONOTONIC) - wall;
    busy = clock_of(CLOCK_PROCESS_CPUTIME_ID) - busy;
    for (uint32_t i = 0; i < workers; i++) own += s.took[i];
    double classes = (double)counts.classes;
    printf("%.0f classes, %llu runs: %.1f us a class, its run %.1f us, wall %.1f us; %llu events, "
           "at most %llu of %.0f bytes\n",
           classes, (unsigned long long)counts.runs, (busy - own) / classes * 1e6,
           own / classes * 1e6, wall / classes * 1e6, (unsigned long long)counts.events,
           (unsigned long long)counts.most_events,
           (double)counts.most_bytes / (double)counts.most_events);
    return 0;
}
