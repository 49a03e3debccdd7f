/* The driver: keeps an executor busy with the tasks of a search, and turns its runs into events.
 *
 * It is what the ways of searching share (search.c, levels.c): they say which task comes next and
 * take what comes back; the driver starts, waits, checks each action against the state of its
 * object, makes the events, counts, and stops at the search's bounds. */
#ifndef FT_EXPLORE_DRIVER_H
#define FT_EXPLORE_DRIVER_H

#include "explore/search.h"

typedef struct ft_x_driver ft_x_driver;

/* A way of searching. */
typedef struct ft_x_way {
    void *context;
    /* The next task: its prefix in *task, valid until the next call, and a number of its own.
     * False: none now (when nothing runs: none at all). */
    bool (*next)(void *context, ft_x_task *task, uint32_t *number);
    /* A run of the task has ended; its events, one a step. Not called after `stop`. */
    void (*take)(void *context, uint32_t number, const ft_x_run *run, const uint32_t *events);
} ft_x_way;

ft_x_driver *ft_x_driver_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts);
void ft_x_driver_free(ft_x_driver *driver);

ft_unfolding *ft_x_driver_unfolding(const ft_x_driver *driver);
/* Runs tasks until there are none, or it was stopped. */
ft_status ft_x_drive(ft_x_driver *driver, const ft_x_way *way, ft_error *err) FT_MUST_CHECK;

/* A new class: counts it and hands it on. */
void ft_x_driver_class(ft_x_driver *driver, const ft_x_run *run, const ft_configuration *c);
/* By a bound, by what was found, or because the program strayed: more tasks are wanted by nobody.
 */
bool ft_x_driver_stopped(const ft_x_driver *driver);

#endif
