/* The user in front of a command: interruptions, messages and progress.
 *
 * An interruption (SIGINT, SIGQUIT, SIGTERM, SIGHUP) is noted and does not end the process at once:
 * the command first stops its private server, removes its files, and then ends by the same signal.
 * Words to a program (SIGUSR1 and the like) are kept for the program that a command runs. Errors
 * are one line on standard error. Progress goes there too: one line that is rewritten on a
 * terminal, one line for each change of state elsewhere.
 *
 * Imports: options, common/base. */
#ifndef FT_CLI_TERMINAL_H
#define FT_CLI_TERMINAL_H

#include <stdbool.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "options/options.h"

/* ---- signals.c: interruptions and words */

/* From now on the signals are noted instead of ending the process (SIGHUP only where it was not
 * ignored); SIGPIPE and SIGXFSZ are ignored. */
void ft_signals_catch(void);
/* The same, and words have no effect on this process: they wait until they are taken. */
void ft_signals_relay(void);
int ft_signals_take(void);       /* a waiting word, which is removed; 0: none */
int ft_signals_caught(void);     /* the first signal noted, 0: none */
bool ft_signals_typed(void);     /* it came from the terminal, whose foreground processes have it */
unsigned ft_signals_count(void); /* number of signals noted */
int ft_signals_fd(void);         /* readable once a signal was noted; -1 before ft_signals_catch */
void ft_signals_default(void);   /* in a child, between fork and exec: the actions from before */
void ft_signals_forget(void);    /* Ctrl-C was the normal end of the command */
/* Until ft_signals_bring_back only a further signal counts as an interruption, not the noted one.
 */
void ft_signals_set_aside(void);
void ft_signals_bring_back(void);
void ft_signals_reraise(void); /* ends the process by the noted signal, if there is one */

/* ---- messages.c: errors and exit codes */

/* Prints "FILE:LINE:COLUMN: text" on standard error, as far as the place is known. `file` may be
 * NULL. Prints nothing after an interruption. */
void ft_print_error(const char *file, const ft_error *err);
ft_exit ft_exit_of(const ft_error *err);
/* Prints the error and returns its exit code. An error of the server is not about the file. */
ft_exit ft_fail(const char *file, const ft_error *err);
/* "<stdin>" for "-", else the path. */
const char *ft_shown_path(const char *path);

/* ---- progress.c */

/* Embedded: ft_progress_init, then ft_progress_end before anything else is printed. */
typedef struct ft_progress {
    bool quiet, terminal;
    bool open;       /* a line is on the terminal */
    ft_strbuf state; /* the last state printed where it is no terminal */
} ft_progress;

void ft_progress_init(ft_progress *progress, bool quiet);
/* file: the file that is worked on; state: a word that changes seldom; details: text that changes
 * often, may be "". */
void ft_progress_say(ft_progress *progress, const char *file, const char *state,
                     const char *details);
void ft_progress_end(ft_progress *progress); /* clears the terminal's line */
void ft_progress_release(ft_progress *progress);

#endif
