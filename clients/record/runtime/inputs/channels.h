/* Channels: what stands behind a file descriptor, and the order of what threads pass through it. */
#ifndef FT_RECORD_CHANNELS_H
#define FT_RECORD_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct ft_rt_input ft_rt_input;

/* Flags as in raw/raw.h, CHANNEL; channel 0: none. */
void ft_rt_channel(uint64_t channel, uint32_t flags, const void *pc);
/* A signal is sent, armed or given a handler (in: false), or handled: the earlier events come
 * before the handler. With the baton. */
void ft_rt_signal_channel(int number, bool in, const void *pc);
void ft_rt_signal_taken(int number, const void *pc); /* by the thread that waits for it */

/* ---- descriptors */
typedef enum ft_rt_fd {
    FT_RT_FD_OTHER, /* inherited, or not known */
    FT_RT_FD_FILE,
    FT_RT_FD_PIPE, /* or a socket pair; from here on: virtual in a replay, which says what the
                      recording says. Behind them stands /dev/null or, mirrored, another one */
    FT_RT_FD_SOCKET,
    FT_RT_FD_EVENT,
    FT_RT_FD_EPOLL,
    FT_RT_FD_SIGNAL
} ft_rt_fd;

ft_rt_fd ft_rt_fd_kind(int fd);
static inline bool ft_rt_fd_is_virtual(int fd)
{
    return ft_rt_fd_kind(fd) >= FT_RT_FD_PIPE;
}
bool ft_rt_fd_is_mirrored(int fd); /* virtual, but there is one (mirror.c) */
bool ft_rt_fd_is_mixed(int fd);    /* a set, mirrored, with virtual ones that are not */
void ft_rt_fd_mirror(int fd, bool there);
void ft_rt_fd_mix(int fd);
int ft_rt_fd_step_aside(int real); /* the same under a number far above, or as it is */
bool ft_rt_fd_may_sleep(int fd);
void ft_rt_fd_set(int fd, ft_rt_fd kind); /* both its channels are one of its own */
uint64_t ft_rt_fd_new_channel(void);
/* Takes from there, puts there; 0: its own. So the steps are those of a replay, which joins none.
 */
void ft_rt_fd_join(int fd, uint64_t in, uint64_t out);
bool ft_rt_fd_is_joined(int fd);
void ft_rt_fd_copy(int from, int to);
void ft_rt_fd_close(int fd, const void *pc);
/* The call gave that descriptor (or -1): behind whoever closed the number before. Fed: it is made
 * so, `real` (-1: /dev/null) behind it. */
void ft_rt_fd_made(ft_rt_input *in, int number, int real);
/* The same for what is really opened, fed or not: the order of that, and its number then. */
int ft_rt_fd_numbered(ft_rt_input *in, int number, int real);
void ft_rt_fd_freed(int number, const void *pc); /* the order of that alone */
/* What a call has just opened, or -1, under a number that no other thread closed last, where there
 * is one: to be called before anybody knows the number. errno stays. */
int ft_rt_fd_apart(int fd);
/* The numbers that a thread closed last are the other's, who joined it. */
void ft_rt_fd_inherit(uint32_t from, uint32_t to);
void ft_rt_fd_keeps_locks(void); /* the program locks files by fcntl: no copies from here on */
/* What threads send each other through it is an order between them: something (or its end) was
 * taken; it could be, and was not; nothing was there, so what is sent comes later; it is put in. */
void ft_rt_fd_takes(int fd, const void *pc); /* before that: there will be room */
void ft_rt_fd_in(int fd, const void *pc);
void ft_rt_fd_took(const ft_rt_input *in, int fd); /* one of these, as the call's result says */
void ft_rt_fd_last(int fd, const void *pc);        /* it watches less from here on */
void ft_rt_fd_ends(int fd, const void *pc);        /* nothing more can be taken */
void ft_rt_fd_ready(int fd, const void *pc);
void ft_rt_fd_empty(int fd, const void *pc);
/* The place in a file is asked for, or set; before the program writes there. */
void ft_rt_fd_sought(int fd, const void *pc);
void ft_rt_fd_moves(int fd, const void *pc);
void ft_rt_fd_out(int fd, const void *pc);
/* A lock on the file: taken, or about to be given up. */
void ft_rt_fd_locked(int fd, bool taken, const void *pc);
/* Before so many bytes are put in: they may have to wait for those who take; and they have. */
bool ft_rt_fd_fills(int fd, size_t size);
void ft_rt_fd_room(int fd, const void *pc);

#pragma GCC visibility pop

#endif
