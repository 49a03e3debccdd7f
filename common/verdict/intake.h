/* Taking a trace in: reads it in any format, normalises it, executes the observed run, and writes
 * its canonical binary form to a sink, while it comes. What is kept are the trace's tables and a
 * block of its events.
 *
 * A few traces cannot be taken in so (trace/follow.h): then all has to come once more, and is kept
 * whole. A trace of one block is kept anyway. */
#ifndef FT_VERDICT_INTAKE_H
#define FT_VERDICT_INTAKE_H

#include "trace/reader.h"

enum { FT_INTAKE_BLOCK = 1 << 16 }; /* events; at most those of a frame (trace/binary.h) */

typedef struct ft_intake ft_intake;

/* block: events that are kept, at most FT_INTAKE_BLOCK; 0: all. */
ft_intake *ft_intake_new(uint32_t block, ft_sink sink, void *context);
void ft_intake_free(ft_intake *intake); /* accepts NULL */

/* Feeds a chunk. After a failure every further call fails the same way. */
ft_status ft_intake_feed(ft_intake *intake, const void *data, size_t length,
                         ft_error *err) FT_MUST_CHECK;
/* The trace has to come once more, to a new intake that keeps all; what the sink was given is void.
 * To be asked after each chunk and after the end. */
bool ft_intake_again(const ft_intake *intake);
/* Ends the input. On FT_OK the sink has all of it, unless it has to come again. */
ft_status ft_intake_finish(ft_intake *intake, ft_error *err) FT_MUST_CHECK;

/* What is known of the trace then. */
typedef struct ft_intake_trace {
    const ft_trace *trace; /* its tables, notes and `broken`; whole: its events too */
    uint32_t n_events;
    bool whole;
    bool valued, symbolic; /* unless whole: as worker/order/run.h says */
} ft_intake_trace;
ft_intake_trace ft_intake_result(const ft_intake *intake);

#endif
