/* Files: the C library's calls on descriptors, sockets, streams and directories.
 *
 * Each call that brings something from outside is an input (inputs/); each call that passes
 * something from thread to thread orders these threads by a channel (inputs/channels.c). Calls that
 * may sleep let other threads run meanwhile.
 *
 * Imports: accesses, inputs, libc, log, memory, raw, replay, scheduling, state, sync, world,
 * common/trace. */
#ifndef FT_RECORD_FILES_H
#define FT_RECORD_FILES_H

#include <sys/socket.h>

#pragma GCC visibility push(hidden)

/* ---- stdio.c */
void ft_rt_stdio_start(void); /* gives standard input and output buffers that are not on the heap */

/* ---- sockets.c */
/* Sent to that address by a socket that may be unconnected. */
void ft_rt_sockets_to(int fd, const struct sockaddr *to, socklen_t length, const void *pc);
/* Members are ready: all, or those with that data, which the system does not tell apart (NULL:
 * all). A set among them is ready by its own. */
void ft_rt_epoll_ready(int epoll, const uint64_t *data, const void *pc);

#pragma GCC visibility pop

#endif
