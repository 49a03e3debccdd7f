/* Driving a recorded program through a witness. */
#ifndef FT_CLI_REPLAY_H
#define FT_CLI_REPLAY_H

#include <jansson.h>

#include "options/options.h"

/* `foretell replay` with these options, for whoever prints what came of it: the line for people
 * goes to `said`, without its end; where the witness, the trace or the program was no good, the
 * error is printed and `said` stays empty. Silent: what the program prints goes nowhere. *outside
 * (may be NULL): behind the schedule it had to do with what is not there in a replay. */
ft_exit ft_replay(const ft_options *options, bool silent, ft_strbuf *said, bool *outside);

/* The same of a witness of a program (program/witness/witness.h): the native build of its source
 * goes through it, and is recorded. */
ft_exit ft_replay_program(const ft_options *options, const json_t *witness, char *const *argv,
                          bool silent, ft_strbuf *said);

#endif
