/* Intake of a trace: reads it in any format, normalises it, executes the observed run and writes
 * its canonical binary form to a sink, all while the input arrives. Only the trace's tables and a
 * block of its events are kept in memory.
 *
 * A few traces do not allow that (trace/follow.h): the input then has to be fed once more, to an
 * intake that keeps the whole trace. A trace of one block is kept anyway. */
#ifndef FT_VERDICT_INTAKE_H
#define FT_VERDICT_INTAKE_H

#include "trace/reader.h"

enum { FT_INTAKE_BLOCK = 1 << 16 }; /* events; at most those of a frame (trace/binary.h) */

typedef struct ft_intake ft_intake;

/* block: number of events to keep, at most FT_INTAKE_BLOCK; 0: all. */
ft_intake *ft_intake_new(uint32_t block, ft_sink sink, void *context);
void ft_intake_free(ft_intake *intake); /* accepts NULL */

/* Feeds a chunk. After a failure every further call returns the same failure. */
ft_status ft_intake_feed(ft_intake *intake, const void *data, size_t length,
                         ft_error *err) FT_MUST_CHECK;
/* True: the input has to be fed again, to a new intake that keeps all events; the sink's bytes are
 * void. To be asked after each chunk and after the end. */
bool ft_intake_again(const ft_intake *intake);
/* Ends the input. FT_OK: the sink has the whole trace, unless the input has to be fed again. */
ft_status ft_intake_finish(ft_intake *intake, ft_error *err) FT_MUST_CHECK;

/* The result, after a successful finish. */
typedef struct ft_intake_trace {
    const ft_trace *trace; /* its tables, notes and `broken`; whole: its events too */
    uint32_t n_events;
    bool whole;
    bool valued, symbolic; /* unless whole: as worker/order/run.h says */
} ft_intake_trace;
ft_intake_trace ft_intake_result(const ft_intake *intake);

#endif
