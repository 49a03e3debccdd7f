/* Inside of the observed run: what executing all of it (observe.c) and executing it while it is
 * read (observer.c) share. Not for others. */
#ifndef FT_VERDICT_OBSERVE_INTERNAL_H
#define FT_VERDICT_OBSERVE_INTERNAL_H

#include "verdict/machine.h"

/* The value id that a plain event says it read, FT_NO_VALUE: it says none, or reads nothing. */
uint32_t ft_observe_stated_read(const ft_trace *trace, uint32_t e);

/* FT_INPUT, and why, where an event is not what the run before it explains. */
ft_status ft_observe_read(const ft_machine *machine, const ft_trace *trace, uint32_t e,
                          ft_error *why) FT_MUST_CHECK;
/* Flags an assertion that failed. */
ft_status ft_observe_outcome(ft_trace *trace, uint32_t e, ft_outcome outcome,
                             ft_error *why) FT_MUST_CHECK;
/* runner: per once object, the thread that began it + 1, 0: none did. */
ft_status ft_observe_once(const ft_trace *trace, uint32_t e, uint32_t *runner,
                          ft_error *why) FT_MUST_CHECK;
/* Says that e is the first such event. flushed: number of events that stood before those the trace
 * has, so that e is the trace's event `flushed + e`. */
void ft_observe_break(ft_trace *trace, uint32_t e, uint32_t flushed, const ft_error *why);

#endif
