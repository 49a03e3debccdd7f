/* Programs that the wrapper runs and waits for, because it has something to do after them.
 *
 * An interruption (Ctrl-C in a make) goes on to the running program; the wrapper removes its own
 * files and then ends by the same signal. */
#ifndef FT_WRAPPER_PROCESS_H
#define FT_WRAPPER_PROCESS_H

#include "command.h"

/* From here on SIGINT, SIGQUIT, SIGTERM and SIGHUP are noted and passed on. */
void ft_process_catch(void);
/* Runs the command and waits for it: its exit code, 2 where it cannot be started or was killed, and
 * where a signal was noted before. */
int ft_process_run(const ft_command *command);
/* Ends this process by the signal that was noted, if there is one. */
void ft_process_reraise(void);
/* Prints the message and ends the process with exit code 2. */
_Noreturn void ft_process_die(const char *message);

#endif
