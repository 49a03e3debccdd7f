/* Programs that a command runs. */
#ifndef FT_CLI_PROGRAM_H
#define FT_CLI_PROGRAM_H

#include "base/memory.h"
#include "base/strbuf.h"

/* The exit code of a program that could not be started. */
enum { FT_PROGRAM_NOT_STARTED = 127 };

/* Runs argv with the variable set to that path and waits for it; a signal to us goes on to it, a
 * second one kills it; it is to be reraised afterwards (signals.h). Returns its wait status. */
int ft_program_run(char *const *argv, const char *variable, const char *path);

/* "exit code 3", "killed by signal 11 (Segmentation fault)". */
void ft_program_end(int status, ft_strbuf *out);

/* The file that a shell would run for the name; heap. NULL: there is none. */
char *ft_program_find(const char *name);
/* What is said of one that ran and in which the recorder did not come up. Static. */
const char *ft_program_absent(const char *name);

#endif
