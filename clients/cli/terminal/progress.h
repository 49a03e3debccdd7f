/* Progress on standard error: one line rewritten on a terminal, a line per change of state in a
 * pipe, nothing when told to be quiet. */
#ifndef FT_CLI_PROGRESS_H
#define FT_CLI_PROGRESS_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Embedded: ft_progress_init, then ft_progress_end before anything else is printed. */
typedef struct ft_progress {
    bool quiet, terminal;
    bool open;       /* a line is on the terminal */
    ft_strbuf state; /* last state said in a pipe */
} ft_progress;

void ft_progress_init(ft_progress *progress, bool quiet);
/* file: whose progress; state: a word that changes seldom; details: what changes often, may be "".
 */
void ft_progress_say(ft_progress *progress, const char *file, const char *state,
                     const char *details);
void ft_progress_end(ft_progress *progress); /* clears the terminal's line */
void ft_progress_release(ft_progress *progress);

#endif
