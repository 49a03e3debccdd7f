/* A private foretelld for one command: a temporary folder with its state and its socket, and a
 * process that ends with this one. */
#ifndef FT_CLI_PRIVATE_DAEMON_H
#define FT_CLI_PRIVATE_DAEMON_H

#include <stdint.h>

#include "base/status.h"

typedef struct ft_private_daemon ft_private_daemon;

/* Starts the foretelld beside this program, else the one on PATH, and waits until it accepts
 * connections. workers 0: its default. FT_IO: it did not come up; the message holds what it said.
 */
ft_status ft_private_daemon_start(uint32_t workers, ft_private_daemon **daemon,
                                  ft_error *err) FT_MUST_CHECK;
const char *ft_private_daemon_server(const ft_private_daemon *daemon); /* "unix:PATH" */
void ft_private_daemon_stop(
    ft_private_daemon *daemon); /* ends it and removes the folder; accepts NULL */

#endif
