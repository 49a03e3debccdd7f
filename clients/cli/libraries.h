/* The shared libraries that a program would be run with. */
#ifndef FT_CLI_LIBRARIES_H
#define FT_CLI_LIBRARIES_H

#include "base/status.h"
#include "trace/trace.h"

/* FT_USAGE where a library that events of the trace came from is another one now. */
ft_status ft_libraries_check(const ft_trace *trace, const char *program,
                             ft_error *err) FT_MUST_CHECK;

/* The same of those that the program has loaded in a run with the schedule at `at` of that file, by
 * itself (dlopen) too. */
ft_status ft_libraries_check_loaded(const ft_trace *trace, int fd, uint64_t at,
                                    ft_error *err) FT_MUST_CHECK;

/* As the first, and the program itself: its file is found as a shell does, and must have the
 * content that was recorded. *program (NULL before) is that file, heap, also where it is another
 * one. */
ft_status ft_build_check(const ft_trace *trace, const char *name, char **program,
                         ft_error *err) FT_MUST_CHECK;

#endif
