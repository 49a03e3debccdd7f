/* Windows: decide a claim over the part of the run's end that matters to it.
 *
 * A window begins at a cut of the observed order. The events before the cut are executed in
 * observed order. The events after it that are in the claim's cone become a trace of its own, small
 * whatever the length of the whole trace, that any decider answers. There are two windows for a
 * cut:
 *  - strict: begins in the state that the cut leaves (last writes, open sections, semaphore
 *    counts). The events before the cut, followed by a schedule of the window, are a schedule of
 *    the trace.
 *  - relaxed: has only the constraints that the events after the cut obey in every prefix that
 *    reaches the claim, in whatever order the events before the cut are executed, if at all.
 *    If it has no schedule, no prefix reaches the claim: a proof that does not depend on the cut.
 * Where neither decides, the cut moves back; at 0 the strict window is the claim's cone, and exact
 * (ft_windows_exact).
 *
 * Only for races, atomicity and uses after a free over plain traces: no computed values, no
 * synchronisation beyond locks, semaphores, condition waits, forks, joins, initialisers that run
 * once, and edges. Both windows ignore that a waiter needs a signal to wake: a waiter just releases
 * its mutex and takes it again. So a relaxed window still has every schedule of the trace, the
 * checker has to confirm one of a strict window, and with conditions a strict window at cut 0 is
 * not exact. */
#ifndef FT_REDUCE_WINDOW_H
#define FT_REDUCE_WINDOW_H

#include "problem/problem.h"

/* Indexes of one trace, for all its windows. */
typedef struct ft_windows ft_windows;
ft_windows *ft_windows_new(const ft_problem *problem); /* the problem must outlive it */
void ft_windows_free(ft_windows *windows);             /* accepts NULL */
/* May the claim be decided in windows? Linear in the trace the first time. */
bool ft_windows_serve(ft_windows *windows, const ft_claim *claim);
/* The strict window at cut 0 is exact: the trace has no conditions. For windows that serve. */
bool ft_windows_exact(const ft_windows *windows);
/* The cut with at least `events` events of the trace behind it and all of the claim's. */
uint32_t ft_windows_cut(const ft_claim *claim, uint32_t events);

typedef enum ft_window_kind { FT_WINDOW_STRICT, FT_WINDOW_RELAXED } ft_window_kind;

typedef struct ft_window {
    bool impossible; /* the claim's events need one of themselves: no other field is set */
    ft_trace trace;  /* the window's own; shares values with the whole trace's */
    ft_order *order;
    ft_run *run;
    ft_problem problem; /* of these three */
    ft_claim claim;     /* in the window's events */
    uint32_t cut;
    uint32_t *event;      /* per event of the window: the trace's, FT_NO_EVENT: made up */
    ft_block_cells cells; /* AFTER_FREE: the only block, with the accessed variable alone */
    uint32_t accessed;
} ft_window;

/* NULL: there is none of that kind at this cut, or the deadline (ft_now_ms) passed. `cut` must be
 * at most ft_windows_cut(.., 0). */
ft_window *ft_window_new(ft_windows *windows, const ft_claim *claim, uint32_t cut,
                         ft_window_kind kind, double deadline);
void ft_window_free(ft_window *window); /* accepts NULL */
/* Its events ascend in the trace after the cut, each in its own thread's order, and the claim is
 * that of the trace in the window's numbers. For FT_CHECK. */
bool ft_window_is_sound(const ft_window *window, const ft_trace *trace, const ft_claim *claim);

/* Turns a witness of a strict window into one of the trace, in place. */
void ft_window_restore(const ft_window *window, const ft_claim *claim, ft_witness *witness);

#endif
