/* The compiler wrappers foretell-cc and foretell-c++: they add the recorder to what a compiler
 * does.
 *
 * request.h reads what the compiler's command line asks for; main.c and link.h make the commands
 * that the wrapper runs instead, symbolic.h those of --symbolic. This header has a command line
 * that is put together.
 *
 * Imports: raw, common/base. */
#ifndef FT_WRAPPER_COMMAND_H
#define FT_WRAPPER_COMMAND_H

/* Zero-initialise. Arguments are borrowed; it is needed until the process ends, and never freed. */
typedef struct ft_command {
    const char **data; /* ends with NULL, as execvp wants it */
    unsigned long n, room;
} ft_command;

/* Where there is no memory left the process ends with a message. */
void ft_command_add(ft_command *command, const char *argument);
ft_command ft_command_copy(const ft_command *command);
void ft_command_add_all(ft_command *command, const char *const *arguments); /* up to a NULL */

#endif
