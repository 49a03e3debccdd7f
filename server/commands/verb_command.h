/* Commands of foretelld beside the daemon itself: `foretelld token` and `foretelld limit`. Both
 * have verbs; this header has what they share: their arguments and how they end.
 *
 * Imports: setup, store, common/base. */
#ifndef FT_VERB_COMMAND_H
#define FT_VERB_COMMAND_H

#include "setup/config.h"

/* A command line that was read: VERB [WORD] [--json] [--OPTION VALUE]... */
typedef struct ft_verb_call {
    ft_config config; /* --config, --state and the other options of the daemon */
    const char *verb; /* NULL: there is none */
    const char *word; /* NULL: there is none */
    bool json, help;
} ft_verb_call;

/* own: of the command. */
typedef struct ft_verb_command {
    void (*print_help)(void);
    /* Takes an option of the command's own; *status says how that went. False: it is none. */
    bool (*set)(void *own, const char *name, const char *value, ft_status *status, ft_error *err);
    ft_status (*run)(void *own, const ft_verb_call *call, ft_error *err);
} ft_verb_command;

/* arguments: what follows the command's name. Only the owner of the state folder may run it.
 * Results go to standard output, the rest to standard error. The exit code: 0, 2 usage, 4 the state
 * folder cannot be used. */
int ft_verb_command_main(const ft_verb_command *command, void *own, int count, char **arguments);

/* The same for a command that is its own verb and has none but the daemon's options: its word,
 * --help, and they, in any order. FT_USAGE. */
ft_status ft_verb_parse(ft_verb_call *call, int count, char **arguments,
                        ft_error *err) FT_MUST_CHECK;

/* Commands that only read must not make a state folder. FT_NOT_FOUND: there is no database. */
ft_status ft_verb_needs_database(const ft_verb_call *call, ft_error *err) FT_MUST_CHECK;

/* The value of an option --NAME that is a number of at most 15 digits. FT_USAGE. */
ft_status ft_verb_number(const char *name, const char *value, uint64_t *number,
                         ft_error *err) FT_MUST_CHECK;

#endif
