/* Signs of life: a thread that writes PROGRESS once a second while a request is under way, so that
 * the server can tell a worker that is slow from one that is stuck or stopped.
 *
 * Frames of thread and answers must not mix: whoever writes to the same descriptor holds the lock.
 * A pulse of NULL is allowed everywhere and does nothing. */
#ifndef FT_SERVE_PULSE_H
#define FT_SERVE_PULSE_H

#include "base/status.h"

typedef struct ft_pulse ft_pulse;

/* NULL: no thread can be had. */
ft_pulse *ft_pulse_new(int out);
void ft_pulse_free(ft_pulse *pulse); /* ends the thread */

/* ends: an ending frame comes; no sign of life follows it. */
void ft_pulse_lock(ft_pulse *pulse, bool ends);
void ft_pulse_unlock(ft_pulse *pulse);

/* From now on until the end a request is under way; what: its kind. */
void ft_pulse_begin(ft_pulse *pulse, const char *what);
void ft_pulse_end(ft_pulse *pulse);
/* What of it is at hand, for people. */
void ft_pulse_say(ft_pulse *pulse, const char *format, ...) FT_PRINTF(2, 3);

#endif
