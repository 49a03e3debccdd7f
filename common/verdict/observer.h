/* The observed run (checker.h, ft_observe_run) of a trace that goes by: executed block by block,
 * while it is read, and without branches. */
#ifndef FT_VERDICT_OBSERVER_H
#define FT_VERDICT_OBSERVER_H

#include "trace/trace.h"

typedef struct ft_observer ft_observer;

/* When the trace has its first events. They must come as ft_follower_take leaves them: joins behind
 * what they wait for, forks before it, edge-outs before their edge-ins. */
ft_observer *ft_observer_new(ft_trace *trace);
void ft_observer_free(ft_observer *observer); /* accepts NULL; before the trace is freed */
/* Executes the events that the trace has now: flags assertions that fail, sets initial values.
 * flushed: number of events before these, which the trace has no more. False: the trace has to be
 * observed whole. */
bool ft_observer_take(ft_observer *observer, uint32_t flushed) FT_MUST_CHECK;

/* Behind the last ones: sets trace->broken and broken_text. */
typedef struct ft_observer_facts {
    bool valued, symbolic; /* as ft_run_valued and ft_run_symbolic (worker/order/run.h) say */
} ft_observer_facts;
ft_observer_facts ft_observer_end(ft_observer *observer);

#endif
