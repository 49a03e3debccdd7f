/* Private to the observed run: the checks that observe.c (a whole trace) and observer.c (a trace
 * that is being read) share. */
#ifndef FT_VERDICT_OBSERVE_INTERNAL_H
#define FT_VERDICT_OBSERVE_INTERNAL_H

#include "verdict/machine.h"

/* The value id that a plain event says it read, FT_NO_VALUE: it says none, or reads nothing. */
uint32_t ft_observe_stated_read(const ft_trace *trace, uint32_t e);

/* FT_INPUT, and why: the events before it do not explain this event. */
ft_status ft_observe_read(const ft_machine *machine, const ft_trace *trace, uint32_t e,
                          ft_error *why) FT_MUST_CHECK;
/* Flags an assertion that failed. */
ft_status ft_observe_outcome(ft_trace *trace, uint32_t e, ft_outcome outcome,
                             ft_error *why) FT_MUST_CHECK;
/* runner: per once object, the thread that began it + 1, 0: none did. */
ft_status ft_observe_once(const ft_trace *trace, uint32_t e, uint32_t *runner,
                          ft_error *why) FT_MUST_CHECK;
/* Notes e as the first such event, and why. flushed: number of events before the current block, so
 * that e is event `flushed + e` of the trace. */
void ft_observe_break(ft_trace *trace, uint32_t e, uint32_t flushed, const ft_error *why);

#endif
