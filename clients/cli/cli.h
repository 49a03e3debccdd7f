/* `foretell`, the command line: a client of foretelld, and a recorder and replayer of programs.
 *
 * Folders, each of which uses only those before it: options (the command line), terminal
 * (interruptions, messages), files (reading and writing), remote (a server and its jobs), findings
 * (reports), recorded (programs that are recorded or replayed) and commands.
 *
 * Imports: cli/commands, cli/options, cli/terminal, common/base. */
#ifndef FT_CLI_CLI_H
#define FT_CLI_CLI_H

/* The whole program; main has nothing else. */
int ft_cli_main(int argc, char **argv);

#endif
