/* Programs as data (docs/programs.md) on the client: made from sources, told apart from other
 * files, and executed through a witness.
 *
 * Sources are lowered by foretell-lower, which alone knows LLVM. It is beside this program, in
 * ../lib/foretell where Foretell is installed, or on PATH. It prints its own messages to standard
 * error.
 *
 * This folder knows no traces: names of their events are names of the language too.
 *
 * Imports: options, terminal, record/maker/symbols, record/raw, common/base, common/explore,
 * common/program, common/program/witness, common/schedules. */
#ifndef FT_CLI_PROGRAMS_H
#define FT_CLI_PROGRAMS_H

#include <jansson.h>
#include <stdio.h>

#include "options/options.h"

struct ft_program; /* its header has names that events have, too */

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

/* Reads the program that the options' first argument is, or that the arguments are the sources of.
 * Errors as of ft_lowering_run and ft_program_read; FT_USAGE: the file cannot be read. */
ft_status ft_lowering_read(const ft_options *options, struct ft_program **program,
                           ft_error *err) FT_MUST_CHECK;

/* ---- worker.c */

/* Starts a foretell-worker of this command's own (mode: its option), gives it the question and the
 * program, which the options' arguments are or are the sources of, and reads its answer (a new
 * reference). Errors as of ft_lowering_run. */
ft_status ft_worker_ask(const ft_options *options, const char *mode, const json_t *question,
                        json_t **answer, ft_error *err) FT_MUST_CHECK;

/* ---- native.c: a native build of the same source goes through a witness */

typedef FT_VEC(uint32_t) ft_entry_steps;

/* Appends the order of actions (record/raw/follow.h) by which the native program, built with
 * foretell-cc from the same source, executes the witness; *steps: of each entry the step of the
 * witness's schedule, from 0. Operations match by thread, kind, object and FILE:LINE. FT_INPUT: the
 * witness is not whole, or the program has no debug information or no code for one of its places.
 */
ft_status ft_witness_order(const json_t *witness, const char *program, ft_strbuf *out,
                           ft_entry_steps *steps, ft_error *err) FT_MUST_CHECK;
/* "lock at queue.c:12" of a step; false: it is none. */
bool ft_witness_place(const json_t *witness, size_t step, char *out, size_t room);

/* ---- verify.c */

/* Is it a witness of a program? */
bool ft_witness_is_of_program(const json_t *witness);
/* Executes the witness in the program, or source, that is the options' second argument. */
ft_exit ft_verify_program(const ft_options *options, const json_t *witness);

#endif
