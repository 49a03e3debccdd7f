/* The maker: from a recorded program's raw log to its trace. Start here.
 *
 * The runtime inside the program writes a log of all accesses and synchronisation (raw/raw.h). The
 * maker reads it twice. The first pass, while the program runs, learns what is there and which
 * memory threads share; the second appends the events of the trace, with names. Memory that one
 * thread alone used, or whose accesses forks and joins order, has no events. One folder an idea:
 *
 *   log/          reads the raw log, and keeps it for the second pass
 *   inventory/    modules, code sites, threads, objects and allocations that the log declares
 *   cells/        which pieces of memory threads share
 *   symbols/      names and source lines, from debug information and symbol tables
 *   annotations/  the user's file of accesses to ignore and orders to add
 *   names/        locations, contexts and names, as the trace has them
 *   order/        orders that no synchronisation object explains
 *   terms/        terms for what a program built with --symbolic computed
 *   passes/       the two passes
 *   replay/       the inputs that a trace keeps, and the plan of a replay
 *
 * Imports: maker/annotations, maker/passes, maker/symbols, common/base, common/trace. */
#ifndef FT_RECORD_MAKER_H
#define FT_RECORD_MAKER_H

#include <stdbool.h>

#include "base/status.h"
#include "maker/annotations/annotations.h"
#include "maker/passes/summary.h"
#include "maker/symbols/file_hash.h"
#include "trace/reader.h"
#include "trace/trace.h"

/* Makes the trace of the log at `path`. FT_INPUT: not a recorder's log, damaged or empty. */
ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err) FT_MUST_CHECK;

/* The same while the program runs: a thread of its own does the first pass. To be called before the
 * program starts; ended by one of the functions below after the program has ended. annotations:
 * those that will be applied to the trace, borrowed until then; NULL: none. */
typedef struct ft_recording ft_recording;
ft_recording *ft_record_begin(const char *path, const ft_annotations *annotations);
ft_status ft_record_end(ft_recording *recording, ft_trace **trace, ft_record_summary *summary,
                        ft_error *err) FT_MUST_CHECK; /* frees it, whatever the status */
/* The same of a recording without terms, but the trace goes into the sink while it is made
 * (trace/binary_stream.h), and never is in memory as a whole. The words are its command if the log
 * does not have the program's. */
ft_status ft_record_write(ft_recording *recording, const char *const *command, size_t n_command,
                          ft_sink sink, void *context, ft_record_summary *summary,
                          ft_error *err) FT_MUST_CHECK;
/* Before one of them: the run failed. kind: as of the check `failure` ("signal"); text: for people,
 * how it ended and what repeats it. Both are copied. */
void ft_record_failed(ft_recording *recording, const char *kind, const char *text);
/* Likewise: the run followed a schedule that was explored. What was observed in it has the status
 * `explored`. */
void ft_record_explored(ft_recording *recording, const char *text);
void ft_record_drop(ft_recording *recording); /* instead of these; accepts NULL */

#endif
