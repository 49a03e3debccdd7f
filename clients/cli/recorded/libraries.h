/* The shared libraries that a program would be run with. */
#ifndef FT_CLI_LIBRARIES_H
#define FT_CLI_LIBRARIES_H

#include "base/status.h"
#include "trace/trace.h"

/* Before a run: the program's file is found as a shell does, and must have the content that was
 * recorded (FT_INPUT), and so must each library that it is linked with and that events of the trace
 * came from (FT_USAGE). *program (NULL before) is that file, heap, also where it is another one. */
ft_status ft_build_check(const ft_trace *trace, const char *name, char **program,
                         ft_error *err) FT_MUST_CHECK;

/* After it: the libraries that the program has loaded in a run with the schedule at `at` of that
 * file, by itself (dlopen) too. FT_USAGE as above. */
ft_status ft_libraries_check_loaded(const ft_trace *trace, int fd, uint64_t at,
                                    ft_error *err) FT_MUST_CHECK;

#endif
