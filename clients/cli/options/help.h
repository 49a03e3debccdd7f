/* The texts of the command line, and what prints them: --help, the reference and the manual page.
 *
 * The texts come from the tables of commands (commands.c) and options (options.c). They are running
 * text without line ends; the printers break them into lines. */
#ifndef FT_CLI_HELP_H
#define FT_CLI_HELP_H

#include "options.h"

const char *ft_command_name(ft_command command);
const char *ft_command_arguments(ft_command command); /* "FILE..." */
const char *ft_command_line(ft_command command);      /* what it does, one sentence, no capital */
const char *ft_command_details(ft_command command);   /* running text, may be empty */
const char *ft_command_examples(ft_command command);  /* one a line */

/* A row of the table of options. `commands` has a bit for each command that takes it. */
typedef struct ft_option_row {
    const char *name;    /* without the dashes */
    char letter;         /* short form or 0 */
    const char *value;   /* placeholder, NULL: it takes none */
    const char *choices; /* "a|b", NULL: anything */
    unsigned commands;
    const char *doc; /* running text */
} ft_option_row;

/* The index-th option (from 0) that the command takes, or any command takes (FT_COMMANDS); false:
 * there are no more. */
bool ft_options_at(ft_command command, size_t index, ft_option_row *row);

/* The index-th exit code and what it means; NULL: there are no more. */
const char *ft_exit_meaning(size_t index, int *code);

/* The index-th environment variable and what it is for; NULL: there are no more. */
const char *ft_environment_name(size_t index, const char **meaning);

const char *ft_help_purpose(void); /* what the program is for, running text */

void ft_help_overview(ft_strbuf *out);                    /* foretell --help */
void ft_help_command(ft_command command, ft_strbuf *out); /* foretell COMMAND --help */
void ft_help_manual(ft_strbuf *out);                      /* the reference in docs/cli.md */
void ft_help_page(ft_strbuf *out);                        /* docs/man/foretell.1, in man(7) */

#endif
