/* Interruption (SIGINT, SIGQUIT, SIGTERM, SIGHUP): noted, so that the private daemon and its folder
 * are gone before the process ends by the same signal. Words to a program (SIGUSR1 ...): kept for
 * the program that a command runs. */
#ifndef FT_CLI_SIGNALS_H
#define FT_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on the signals are noted instead of ending the process, SIGHUP not where it was ignored;
 * SIGPIPE and SIGXFSZ are ignored. */
void ft_signals_catch(void);
/* The same; besides, from now on words do nothing to this process but wait until they are taken. */
void ft_signals_relay(void);
int ft_signals_take(void);       /* a word that waits, which it does no more; 0: none */
int ft_signals_caught(void);     /* the first signal noted, 0: none */
bool ft_signals_typed(void);     /* that came from the terminal: its foreground processes have it */
unsigned ft_signals_count(void); /* how many came */
int ft_signals_fd(void);         /* readable once a signal was noted; -1 before ft_signals_catch */
void ft_signals_default(void);   /* for a child between fork and exec: as before all that */
void ft_signals_forget(void);    /* an interruption was what ends the command well */
/* What follows is interrupted by a further signal only, not by the one noted, until it is brought
 * back. */
void ft_signals_set_aside(void);
void ft_signals_bring_back(void);
void ft_signals_reraise(void); /* ends the process by the noted signal, if there is one */

#endif
