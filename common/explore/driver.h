/* The driver: keeps an executor busy with the tasks of a search, and takes its runs in order.
 *
 * It is what the ways of searching share (search.c, levels.c, sampling.c): they say which task
 * comes next and take what comes back; the driver starts, waits, counts, and stops at the bounds.
 *
 * Tasks are asked for `ahead` of the oldest run that was not taken yet, and runs are taken in the
 * order in which their tasks were asked for. So what is asked for depends on the way alone, never
 * on the executor's width or speed, and a search that is not ended by a clock has one result. */
#ifndef FT_EXPLORE_DRIVER_H
#define FT_EXPLORE_DRIVER_H

#include "explore/search.h"

typedef struct ft_x_driver ft_x_driver;

/* A way of searching. */
typedef struct ft_x_way {
    void *context;
    /* The next task: its prefix in *task, valid until the next call, and a number of its own.
     * False: none now (when no run is to be taken: none at all). */
    bool (*next)(void *context, ft_x_task *task, uint32_t *number);
    /* A run of the task has ended. */
    void (*take)(void *context, uint32_t number, const ft_x_run *run);
    uint32_t ahead; /* at least 1 */
} ft_x_way;

/* The options and counts are the caller's and outlive the driver; counts are not cleared. */
ft_x_driver *ft_x_driver_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts);
void ft_x_driver_free(ft_x_driver *driver);

/* Runs tasks until there are none, or it was stopped: then it goes on when called again. */
ft_status ft_x_drive(ft_x_driver *driver, const ft_x_way *way, ft_error *err) FT_MUST_CHECK;

/* Takes the newest task back that was asked for and not started: its number. False: there is none.
 * Not while ft_x_drive runs. */
bool ft_x_driver_withdraw(ft_x_driver *driver, uint32_t *number);

/* A new class: counts it and hands it on. u and c are NULL where the search keeps none. */
void ft_x_driver_class(ft_x_driver *driver, const ft_x_run *run, const ft_unfolding *u,
                       const ft_configuration *c);
/* The program did not do in the run what it did in another one with the same prefix: it depends on
 * something that the executor does not hold fixed. The search goes on without the run. */
void ft_x_driver_stray(ft_x_driver *driver, const ft_x_run *run, size_t step);
/* By a bound, or by what was found: tasks are left. */
bool ft_x_driver_stopped(const ft_x_driver *driver);

#endif
