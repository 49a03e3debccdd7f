/* From a raw log to a trace: what never two threads touched is dropped, what is left gets names.
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

/* Makes the trace of the log at `path`. FT_INPUT: not a recording, damaged, or nothing in it. */
ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err) FT_MUST_CHECK;

/* The same while the program runs: begins before it starts, another thread reads meanwhile; ended
 * when it is over. annotations: those that will be applied to the trace, NULL: none; kept up to the
 * end. */
typedef struct ft_recording ft_recording;
ft_recording *ft_record_begin(const char *path, const ft_annotations *annotations);
ft_status ft_record_end(ft_recording *recording, ft_trace **trace, ft_record_summary *summary,
                        ft_error *err) FT_MUST_CHECK; /* frees it, whatever the status */
/* The same of a recording without terms, whose trace nobody wants in memory: it goes into the sink
 * while it is made (trace/binary_stream.h). These words are its command where the log does not say
 * what the program was started with. */
ft_status ft_record_write(ft_recording *recording, const char *const *command, size_t n_command,
                          ft_sink sink, void *context, ft_record_summary *summary,
                          ft_error *err) FT_MUST_CHECK;
void ft_record_drop(ft_recording *recording); /* instead; accepts NULL */

#endif
