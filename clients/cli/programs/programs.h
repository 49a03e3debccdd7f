/* Programs as data (docs/programs.md) on the client: made from sources, told apart from other
 * files, and executed through a witness.
 *
 * Sources are lowered by foretell-lower, which alone knows LLVM. It is beside this program, in
 * ../lib/foretell where Foretell is installed, or on PATH. It prints its own messages to standard
 * error.
 *
 * This folder knows no traces: names of their events are names of the language too.
 *
 * Imports: options, terminal, common/base, common/program,
 * common/program/witness. */
#ifndef FT_CLI_PROGRAMS_H
#define FT_CLI_PROGRAMS_H

#include <jansson.h>
#include <stdio.h>

#include "options/options.h"

/* ---- lowering.c */

/* Is the file one that foretell-lower takes, by its ending (.c, .cpp, .bc, ...)? */
bool ft_lowering_takes(const char *path);
/* Is it a program, by its first bytes? */
bool ft_lowering_made(const char *path);

/* Lowers the options' arguments with its compiler options to `path` ("-": standard output), or,
 * where that is NULL, to the file, which is left at its start. FT_USAGE: there is no
 * foretell-lower. FT_INPUT with an empty message: it failed, and has said why. */
ft_status ft_lowering_run(const ft_options *options, const char *path, FILE *to,
                          ft_error *err) FT_MUST_CHECK;

/* ---- worker.c */

/* Starts a foretell-worker of this command's own (mode: its option), gives it the question and the
 * program, which the options' arguments are or are the sources of, and reads its answer (a new
 * reference). Errors as of ft_lowering_run. */
ft_status ft_worker_ask(const ft_options *options, const char *mode, const json_t *question,
                        json_t **answer, ft_error *err) FT_MUST_CHECK;

/* ---- verify.c */

/* Is it a witness of a program? */
bool ft_witness_is_of_program(const json_t *witness);
/* Executes the witness in the program, or source, that is the options' second argument. */
ft_exit ft_verify_program(const ft_options *options, const json_t *witness);

#endif
