/* What a recorded trace says of the calls around an event: the stack of an access, where a thread
 * was created, and the command that replays a witness (docs/records.md). All from the trace, so all
 * of it is bounded here: a trace may hold anything. */
#ifndef FT_ENGINE_CALLS_H
#define FT_ENGINE_CALLS_H

#include <jansson.h>

#include "order/order.h"
#include "trace/trace.h"

/* Calls of one stack in a record; those further out are counted. */
#define FT_CALLS_MAX 12

/* Sets "stack" and, where calls are left out, "more_calls" from the context of event e; nothing
 * where it has none. */
void ft_calls_add(const ft_trace *trace, uint32_t e, json_t *json);

/* Sets "created" where the trace has the fork of the thread that did event e. */
void ft_calls_add_creation(const ft_trace *trace, const ft_order *order, uint32_t e, json_t *json);

/* "foretell replay WITNESS TRACE -- ./prog args", quoted for a shell; NULL: the trace does not know
 * the command, or it is too long to show. New reference. */
json_t *ft_calls_replay(const ft_trace *trace);

#endif
