/* The function that channels call and that a folder above them defines. */
#ifndef FT_RECORD_INPUTS_NEEDS_H
#define FT_RECORD_INPUTS_NEEDS_H

#pragma GCC visibility push(hidden)

/* files/sockets.c: names the socket's channels, once its addresses are known. */
void ft_rt_sockets_settle(int fd);

#pragma GCC visibility pop

#endif
