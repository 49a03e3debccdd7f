/* foretelld limit: what projects may have. */
#ifndef FT_LIMIT_COMMAND_H
#define FT_LIMIT_COMMAND_H

/* The arguments after "limit"; the exit code. */
int ft_limit_command(int count, char **arguments);

#endif
