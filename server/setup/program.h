/* Where the daemon's helper programs are. */
#ifndef FT_PROGRAM_H
#define FT_PROGRAM_H

#include "base/status.h"

/* The path of a helper program: as configured, or, where that is empty, `name` beside foretelld, or
 * in ../lib/foretell of an installation. *path is heap text, set in any case. FT_IO: it is not
 * there, or cannot be run; `option` names what would set it. */
ft_status ft_program_path(const char *configured, const char *name, const char *option, char **path,
                          ft_error *err) FT_MUST_CHECK;

#endif
