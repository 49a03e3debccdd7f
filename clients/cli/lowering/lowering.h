/* Sources to programs as data: runs foretell-lower, which alone knows LLVM.
 *
 * It is beside this program, in ../lib/foretell where Foretell is installed, or on PATH. It prints
 * its own messages to standard error.
 *
 * Imports: options, common/base. */
#ifndef FT_CLI_LOWERING_H
#define FT_CLI_LOWERING_H

#include <stdio.h>

#include "options/options.h"

/* Is the file one that foretell-lower takes, by its ending (.c, .cpp, .bc, ...)? */
bool ft_lowering_takes(const char *path);

/* Lowers the options' arguments with its compiler options to `path` ("-": standard output), or,
 * where that is NULL, to the file, which is left at its start. FT_USAGE: there is no
 * foretell-lower. FT_INPUT with an empty message: it failed, and has said why. */
ft_status ft_lowering_run(const ft_options *options, const char *path, FILE *to,
                          ft_error *err) FT_MUST_CHECK;

#endif
