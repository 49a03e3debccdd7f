/* Places from which a thread goes on for ever, whatever its registers hold. */
#ifndef FT_PROGRAM_ENDLESS_H
#define FT_PROGRAM_ENDLESS_H

#include "program/program.h"

/* Does every way from the instruction lead through jumps, choices and arithmetic that cannot fail
 * alone, so that the thread neither leaves the function nor concerns memory, inputs or other
 * threads? False says nothing. */
bool ft_program_is_endless(const ft_function *function, uint32_t instruction);

#endif
