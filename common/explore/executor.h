/* Executors: who runs the program for the search.
 *
 * An executor runs the program from its start along a *prefix* of picks (which thread goes on, and
 * with which variant), then goes on by itself to the end, and reports every action and the end. By
 * itself it should let the running thread go on while it can (few preemptions) and, while another
 * can go on, leave alone a thread that stands at its `avoid`ed step: that action has been explored.
 * Both only save work; the search is right whatever the executor picks.
 *
 * A thread that polls stands before AWAIT or LINGER (watch.h), so that no run spins. Where no
 * thread can go on, the executor picks a late action (action.h) if there is one; it has its place
 * in prefixes, as variant 1.
 *
 * The same prefix must lead to the same actions. An executor may run several prefixes at once
 * (`width`); the search starts up to that many and takes them back in any order. */
#ifndef FT_EXPLORE_EXECUTOR_H
#define FT_EXPLORE_EXECUTOR_H

#include "base/memory.h"
#include "base/status.h"
#include "explore/pick.h"
#include "explore/unfolding.h"

/* 128 bits of a hash (names.h). */
typedef struct ft_x_name {
    uint64_t a, b;
} ft_x_name;

typedef struct ft_x_task {
    const ft_x_pick *prefix;
    size_t n;
    uint32_t avoid[FT_X_THREADS]; /* by thread: the step (from 1) to leave alone; 0: none */
} ft_x_task;

/* What an object holds before the first action on it: of objects that are not in the world's list
 * because the program makes them on the way. The same in every run that has the object. */
typedef struct ft_x_initial {
    uint32_t object;
    ft_x_object state;
} ft_x_initial;

typedef struct ft_x_run {
    FT_VEC(ft_x_action) steps;
    FT_VEC(uint64_t)
    prints; /* by step: what it changes in the state's fingerprint; empty: unknown */
    /* By step: twice the ms that it waited (delays.h), + 1 where a time limit passed. May be empty.
     */
    FT_VEC(uint64_t) delays;
    FT_VEC(ft_x_initial) initial;         /* where it is not 0 */
    ft_x_operation pending[FT_X_THREADS]; /* what each thread stands before at the end; NONE */
    ft_x_end end;
    bool is_news;    /* the executor saw something that no run before had: a failure, a race, ... */
    uint64_t output; /* the executor's own: equal where runs wrote the same; 0: it is not kept */
    uint64_t result; /* the executor's own: how the program ended (exit code, signal, ...) */
    uint64_t races;  /* the executor's own: which data races the run had; 0: none */
} ft_x_run;

const char *ft_x_end_name(ft_x_end end);
void ft_x_run_release(ft_x_run *run);

typedef struct ft_x_executor {
    void *context;
    ft_x_world world;
    uint32_t width; /* runs at once, at least 1 */
    /* Starts a run in the slot (below width), which is free. The task is the caller's. */
    ft_status (*start)(void *context, uint32_t slot, const ft_x_task *task, ft_error *err);
    /* Waits until some run has ended: its slot, and the run (cleared first, released by the
     * caller). */
    ft_status (*finish)(void *context, uint32_t *slot, ft_x_run *run, ft_error *err);
    /* How many of the slots first, first + step, first + 2 * step, ... may be taken now: fewer than
     * all where runs are long, so that a search that is to stop need not wait for many of them. At
     * least 1. NULL: all. */
    uint32_t (*room)(void *context, uint32_t first, uint32_t step);
    /* For a search by several threads; 0 or 1: one thread calls start and finish. Else each thread
     * has every threads-th slot, the i-th one from i on, and as many as the others. `start`,
     * `collect` and the search's callbacks never overlap; `await` may overlap with anything, but
     * with itself only for other slots. */
    uint32_t threads;
    /* How many subtrees are searched side by side (forest.h); 0: 32, which is the most. Fewer keep
     * runs alike that follow each other. */
    uint32_t lanes;
    /* Waits until a run of the slots first, first + step, ... has ended: its slot. At least one of
     * them is not free. */
    ft_status (*await)(void *context, uint32_t first, uint32_t step, uint32_t *slot, ft_error *err);
    /* The run of the slot, which has ended, as `finish` gives it. */
    ft_status (*collect)(void *context, uint32_t slot, ft_x_run *run, ft_error *err);
    /* For cutoffs (cutoffs.h); both may be NULL. The name of the state behind an execution: equal
     * names are equal states. *known false: the state is not to be compared. Does not overlap with
     * start, finish and collect. */
    ft_status (*state)(void *context, const ft_x_pick *picks, size_t n, ft_x_name *name,
                       bool *known, ft_error *err);
    /* A hash of the action that is the same in every process. NULL: its numbers are. */
    uint64_t (*label)(void *context, const ft_x_action *action);
} ft_x_executor;

#endif
