/* The shared libraries that a program would be run with. */
#ifndef FT_CLI_LIBRARIES_H
#define FT_CLI_LIBRARIES_H

#include "base/status.h"
#include "trace/trace.h"

/* FT_USAGE where a library that events of the trace came from is another one now. Libraries that
 * the program loads by itself while it runs are not looked at. */
ft_status ft_libraries_check(const ft_trace *trace, const char *program,
                             ft_error *err) FT_MUST_CHECK;

#endif
