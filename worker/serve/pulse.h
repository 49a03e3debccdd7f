/* Heartbeats: a thread writes PROGRESS once a second during a request, so that the server can
 * distinguish a slow worker from a stuck or stopped one.
 *
 * The lock keeps frames whole: each writer to the descriptor holds it for the length of a frame.
 * Every function accepts a pulse of NULL and then does nothing. */
#ifndef FT_SERVE_PULSE_H
#define FT_SERVE_PULSE_H

#include "base/status.h"

typedef struct ft_pulse ft_pulse;

/* NULL: the system refuses a thread. */
ft_pulse *ft_pulse_new(int out);
void ft_pulse_free(ft_pulse *pulse); /* ends the thread */

/* ends: the next frame ends the request; no heartbeat follows it. */
void ft_pulse_lock(ft_pulse *pulse, bool ends);
void ft_pulse_unlock(ft_pulse *pulse);

/* A request begins, of that kind; it lasts until ft_pulse_end. Requests do not overlap. */
void ft_pulse_begin(ft_pulse *pulse, const char *what);
void ft_pulse_end(ft_pulse *pulse);
/* The part of the request that is being worked on, for people: no quotes, backslashes or line
 * ends. */
void ft_pulse_say(ft_pulse *pulse, const char *format, ...) FT_PRINTF(2, 3);

#endif
