/* foretelld migrate: moves a whole store to another database. */
#ifndef FT_MIGRATE_COMMAND_H
#define FT_MIGRATE_COMMAND_H

/* The arguments after "migrate"; the exit code. */
int ft_migrate_command(int count, char **arguments);

#endif
