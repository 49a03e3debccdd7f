/* The compiler wrappers foretell-cc and foretell-c++: the system's compiler, plus the recorder.
 *
 * main.c decides what is added to a compiler's command line, which request.h understands. link.h
 * has the additions to a link, symbolic.h the steps of --symbolic, process.h runs them. This header
 * has a command line that is being built.
 *
 * Imports: raw, common/base. */
#ifndef FT_WRAPPER_COMMAND_H
#define FT_WRAPPER_COMMAND_H

/* Zero-initialise. Arguments are borrowed. Never freed: the process ends with it. */
typedef struct ft_command {
    const char **data; /* ends with NULL, as execvp wants it */
    unsigned long n, room;
} ft_command;

/* Without memory the process ends with a message. */
void ft_command_add(ft_command *command, const char *argument);
ft_command ft_command_copy(const ft_command *command);
void ft_command_add_all(ft_command *command, const char *const *arguments); /* up to a NULL */

#endif
