/* The observed run (checker.h, ft_observe_run) of a trace without branches that is being read: it
 * is executed block by block. */
#ifndef FT_VERDICT_OBSERVER_H
#define FT_VERDICT_OBSERVER_H

#include "trace/trace.h"

typedef struct ft_observer ft_observer;

/* To be called when the trace has its first events. Events must come as ft_follower_take leaves
 * them: joins after the events of their thread, forks before them, edge-outs before their edge-ins.
 */
ft_observer *ft_observer_new(ft_trace *trace);
void ft_observer_free(ft_observer *observer); /* accepts NULL; before the trace is freed */
/* Executes the events of the current block: flags assertions that fail, sets initial values.
 * flushed: number of events in earlier blocks. False: the whole trace has to be observed at once
 * (ft_observe_run). */
bool ft_observer_take(ft_observer *observer, uint32_t flushed) FT_MUST_CHECK;

/* After the last block: sets trace->broken and broken_text. */
typedef struct ft_observer_facts {
    bool valued, symbolic; /* as ft_run_valued and ft_run_symbolic (worker/order/run.h) say */
} ft_observer_facts;
ft_observer_facts ft_observer_end(ft_observer *observer);

#endif
