/* foretelld token create|list|revoke: who may use a daemon. */
#ifndef FT_TOKEN_COMMAND_H
#define FT_TOKEN_COMMAND_H

/* arguments: what follows "token". Results go to standard output, the rest to standard error. The
 * exit code: 0, 2 usage, 4 the state folder cannot be used. */
int ft_token_command(int count, char **arguments);

#endif
