/* Channels: the order that threads get from content that they pass each other, and the descriptors
 * that it passes through.
 *
 * A channel has a number. Content that goes in comes before content that comes out later; each call
 * on a pipe, socket, event descriptor or file becomes such steps. Each descriptor has a channel
 * that its readers take from, one that its writers put into, and one that orders its readers.
 *
 * In a replay descriptors from FT_RT_FD_PIPE on are *virtual*: the recording answers for them, and
 * /dev/null stands behind the number, or a real descriptor if it is mirrored (inputs/mirror.h). */
#ifndef FT_RECORD_CHANNELS_H
#define FT_RECORD_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct ft_rt_input ft_rt_input;

/* One step on a channel. Flags as in raw/raw.h, CHANNEL; channel 0: nothing is done. */
void ft_rt_channel(uint64_t channel, uint32_t flags, const void *pc);
/* in: a handler of the signal runs. Otherwise the signal is sent, armed or given a handler, which
 * comes before each handler that runs later. The thread has the baton. */
void ft_rt_signal_channel(int number, bool in, const void *pc);
void ft_rt_signal_taken(int number, const void *pc); /* by a thread that waits for it */

/* ---- kinds of descriptors. Content of a kind that is not known may come from any thread that put
 * something into an object that is not known, so its readers come after all of these. Known objects
 * that other processes may have too (escaped) are ordered in both ways.
 *  symbol   in a replay  made by; what orders its readers */
#define FT_RT_FD_TABLE(X)                                                                          \
    X(UNKNOWN, real, "any other call; all earlier writers of unknown and escaped objects")         \
    X(OUTSIDE, real, "inherited, /dev/null, /dev/urandom; nothing: its content is from outside")   \
    X(FILE, real, "open, memfd_create; earlier writers of the file, users of the position")        \
    X(WATCH, real, "inotify_init, fanotify_init; earlier changes of any file")                     \
    X(PIPE, virtual, "pipe, socketpair, mkfifo; writers of the other end")                         \
    X(SOCKET, virtual, "socket, accept; writers of the connected end, by its address")             \
    X(EVENT, virtual, "eventfd, timerfd_create; earlier writers, who set the timer")               \
    X(EPOLL, virtual, "epoll_create; who watches, and what orders the watched descriptor")         \
    X(SIGNAL, virtual, "signalfd; who sent the signal")

typedef enum ft_rt_fd {
#define FT_RT_FD_ROW(symbol, replay, made) FT_RT_FD_##symbol,
    FT_RT_FD_TABLE(FT_RT_FD_ROW)
#undef FT_RT_FD_ROW
} ft_rt_fd;

ft_rt_fd ft_rt_fd_kind(int fd);
static inline bool ft_rt_fd_is_virtual(int fd)
{
    return ft_rt_fd_kind(fd) >= FT_RT_FD_PIPE;
}
/* Content goes into, or came out of, something that is not known: an object of the kernel, or a
 * process. */
void ft_rt_unknown_out(const void *pc);
void ft_rt_unknown_in(const void *pc);
void ft_rt_child_begins(const void *pc); /* before another process begins */
/* Not known, and not a regular file, directory or device whose content is from outside. */
bool ft_rt_fd_is_unknown(int fd);
/* Another process may use the object, or another descriptor of this one that is not known. */
void ft_rt_fd_escape(int fd);
void ft_rt_fd_escape_all(void);
/* A message takes the descriptor along; it came with one. */
void ft_rt_fd_send(int fd);
void ft_rt_fd_receive(ft_rt_input *in, int fd);
/* ---- files by name, and their content */
void ft_rt_name_out(const char *path, const void *pc); /* before the name is made or removed */
void ft_rt_name_in(const char *path, const void *pc);  /* the name was looked up */
void ft_rt_names_in(const void *pc);                   /* all names of a directory were */
void ft_rt_file_changes(const void *pc);               /* as WATCH reports it */
void ft_rt_file_out(int fd, const void *pc);           /* before content is written */
void ft_rt_file_in(int fd, const void *pc);
void ft_rt_fd_begin(void);         /* the descriptors that are open by now come from outside */
bool ft_rt_fd_is_mirrored(int fd); /* virtual, with a real descriptor behind the number */
bool ft_rt_fd_is_mixed(int fd);    /* a mirrored epoll set with members that are not mirrored */
void ft_rt_fd_mirror(int fd, bool there);
void ft_rt_fd_mix(int fd);
bool ft_rt_fd_may_sleep(int fd);          /* may a call on it sleep? */
void ft_rt_fd_set(int fd, ft_rt_fd kind); /* a new descriptor with one new channel for all steps */
uint64_t ft_rt_fd_new_channel(void);
/* Takes from `in` and puts into `out` from now on; 0: unchanged. The steps stay those of a replay,
 * which joins no channels. */
void ft_rt_fd_join(int fd, uint64_t in, uint64_t out);
bool ft_rt_fd_is_joined(int fd);
void ft_rt_fd_copy(int from, int to);
void ft_rt_fd_close(int fd, const void *pc);

/* ---- numbers. A number is given again once it is closed, so a thread that gets it comes after the
 * thread that closed it. */
/* The call returned that number (or -1). Fed: the descriptor is made with it, from `real` (-1:
 * /dev/null). */
void ft_rt_fd_made(ft_rt_input *in, int number, int real);
/* The same for a descriptor that is really opened, fed or not; returns its number then. */
int ft_rt_fd_numbered(ft_rt_input *in, int number, int real);
void ft_rt_fd_freed(int number, const void *pc); /* the number is free again */
int ft_rt_fd_step_aside(int real); /* moves it to a number far above; the same if that fails */
/* Moves a descriptor that was just opened (or -1) to a number that no other thread closed last, if
 * there is one. Called before the program learns the number; errno stays. */
int ft_rt_fd_apart(int fd);
/* Numbers that thread `from` closed last count as closed by `to`, which joined it. */
void ft_rt_fd_inherit(uint32_t from, uint32_t to);
/* The program locks files by fcntl, and closing any copy would give that up: no more copies. */
void ft_rt_fd_keeps_locks(void);

/* ---- content that threads pass through a descriptor */
void ft_rt_fd_takes(int fd, const void *pc); /* before content is taken: that will make room */
void ft_rt_fd_in(int fd, const void *pc);    /* content, or its end, was taken */
void ft_rt_fd_ready(int fd, const void *pc); /* content could be taken, and was not */
void ft_rt_fd_empty(int fd, const void *pc); /* there was no content: it comes later */
void ft_rt_fd_out(int fd, const void *pc);   /* content is put in */
void ft_rt_fd_took(const ft_rt_input *in, int fd); /* in, or empty, by the result of the call */
void ft_rt_fd_last(int fd, const void *pc);        /* an epoll set watches less from here on */
void ft_rt_fd_ends(int fd, const void *pc);        /* no more content can be taken */
/* Before that many bytes are put in. True: they may have to wait for a reader; then room is called
 * when they are in. */
bool ft_rt_fd_fills(int fd, size_t size);
void ft_rt_fd_room(int fd, const void *pc);
void ft_rt_fd_sought(int fd, const void *pc); /* the position in a file was read or set */
void ft_rt_fd_moves(int fd, const void *pc);  /* before the program writes to a file there */
void ft_rt_fd_locked(int fd, bool taken, const void *pc); /* else: about to be given up */

#pragma GCC visibility pop

#endif
