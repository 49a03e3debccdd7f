/* Normalising a trace that goes by (trace.h, ft_builder_finish): block by block, without the events
 * that are gone and without those to come.
 *
 * In most traces every event is where it belongs. What needs the others is refused: an event that
 * comes after a join that waits for it (or an edge-out after its edge-in, or a fork after what it
 * forks), a lock taken while another thread has it, a branch, a condition wait that is marked by
 * halves. Such a trace has to be read whole. */
#ifndef FT_TRACE_FOLLOW_H
#define FT_TRACE_FOLLOW_H

#include "trace/trace.h"

typedef struct ft_follower ft_follower;

ft_follower *ft_follower_new(ft_builder *builder); /* which gives its events away */
void ft_follower_free(ft_follower *follower);      /* accepts NULL */
/* Normalises the events that the builder has now. False: the trace has to be read whole. */
bool ft_follower_take(ft_follower *follower) FT_MUST_CHECK;
/* Behind the last ones: adds the notes. *whole as above; else FT_INPUT as ft_builder_finish. */
ft_status ft_follower_end(ft_follower *follower, bool *whole, ft_error *err) FT_MUST_CHECK;

#endif
