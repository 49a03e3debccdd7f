/* The world of an explored run: what the kernel would keep for the program, in memory of the run.
 *
 * Runs are copies of one process, or one process whose memory is copied back, so whatever the
 * kernel keeps (content of pipes, counts, positions) would pass from run to run. Descriptors that
 * the program makes for its own threads are therefore modelled: each direction is a *channel* of
 * the search (FT_X_CHANNEL of explore/action.h), whose content lies in the program's memory.
 *
 *   descriptors.c   numbers, copies, close, flags        channels.c   reading and writing
 *   ready.c         poll, select, epoll sets             sockets.c    listening, connecting
 *   inner.h         what they share
 *   overlay.h       files and folders that the program changes
 *   signals.c       signals that threads send to each other and wait for
 *   begin.c         the system's descriptors at the begin and the end of a run
 *   outside.c       descriptors and calls that leave the program, and what is done with them
 *
 * A hook asks ft_rt_world_has() and calls the function here in place of the system's:
 *
 *   if (ft_rt_world_has(fd)) return ft_rt_world_read(fd, to, n, CODE);
 *
 * Numbers of modelled descriptors are far above those that the system gives. A thread has its own,
 * so that they do not depend on the schedule.
 *
 * Imports: exploring, libc, raw, rewinding. */
#ifndef FT_RECORD_WORLD_H
#define FT_RECORD_WORLD_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "exploring/exploring.h"

#pragma GCC visibility push(hidden)

/* Is the calling thread explored? */
static inline bool ft_rt_world_runs(void)
{
    return __builtin_expect(ft_rt_exploring, 0) && ft_rt_x_self;
}

bool ft_rt_world_models(int fd);
bool ft_rt_world_has_made(void); /* any of them */
/* And is the descriptor modelled? Then a call on it begins. */
static inline bool ft_rt_world_has(int fd)
{
    if (!ft_rt_world_runs() || !ft_rt_world_models(fd)) return false;
    ft_rt_x_call_begins();
    return true;
}

/* ---- descriptors.c: as the calls of these names; pc: of the call in the program */
int ft_rt_world_pipe(int fds[2], int flags, const void *pc);
int ft_rt_world_socketpair(int domain, int type, int protocol, int fds[2], const void *pc);
int ft_rt_world_eventfd(unsigned count, int flags, const void *pc);
/* A copy with that number; -1: with any. */
int ft_rt_world_copy(int fd, int number, const void *pc);
int ft_rt_world_close(int fd, const void *pc);
int ft_rt_world_fcntl(int fd, int command, long argument, const void *pc);
int ft_rt_world_ioctl(int fd, unsigned long request, void *argument, const void *pc);
int ft_rt_world_shutdown(int fd, int how, const void *pc);

/* ---- sockets.c */
int ft_rt_world_socket(int domain, int type, int protocol, const void *pc);
int ft_rt_world_bind(int fd, const struct sockaddr *a, socklen_t n, const void *pc);
int ft_rt_world_listen(int fd, int backlog, const void *pc);
int ft_rt_world_connect(int fd, const struct sockaddr *a, socklen_t n, const void *pc);
int ft_rt_world_accept(int fd, struct sockaddr *a, socklen_t *n, int flags, const void *pc);
ssize_t ft_rt_world_send_to(int fd, const struct iovec *v, size_t n, int flags,
                            const struct sockaddr *a, socklen_t length, const void *pc);
ssize_t ft_rt_world_receive_from(int fd, const struct iovec *v, size_t n, int flags,
                                 struct sockaddr *a, socklen_t *length, const void *pc);
int ft_rt_world_own_name(int fd, struct sockaddr *a, socklen_t *n);
int ft_rt_world_peer_name(int fd, struct sockaddr *a, socklen_t *n);
int ft_rt_world_set_option(int fd, int level, int option, const void *from, socklen_t n);
int ft_rt_world_option(int fd, int level, int option, void *to, socklen_t *n);

/* ---- channels.c */
ssize_t ft_rt_world_read(int fd, void *to, size_t n, const void *pc);
ssize_t ft_rt_world_write(int fd, const void *from, size_t n, const void *pc);
/* The same with flags of recv and send. */
ssize_t ft_rt_world_receive(int fd, const struct iovec *v, size_t n, int flags, const void *pc);
ssize_t ft_rt_world_send(int fd, const struct iovec *v, size_t n, int flags, const void *pc);

struct msghdr;
ssize_t ft_rt_world_receive_message(int fd, struct msghdr *m, int flags, const void *pc);
ssize_t ft_rt_world_send_message(int fd, const struct msghdr *m, int flags, const void *pc);

/* ---- ready.c */
/* Is there a modelled one among them? */
bool ft_rt_world_has_any(struct pollfd *fds, nfds_t n);
int ft_rt_world_poll(struct pollfd *fds, nfds_t n, int ms, const void *pc);
int ft_rt_world_select(int n, fd_set *r, fd_set *w, fd_set *e, int ms, const void *pc);
bool ft_rt_world_has_sets(int n, const fd_set *r, const fd_set *w, const fd_set *e);
int ft_rt_world_epoll_create(const void *pc);
int ft_rt_world_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event,
                          const void *pc);
int ft_rt_world_epoll_wait(int epoll, struct epoll_event *events, int n, int ms, const void *pc);

/* ---- overlay.c: calls on paths and files as the program knows them (overlay.h), from its start
 * on; as the calls of these names, the calling thread is explored */
struct stat;
struct _IO_FILE;
int ft_rt_world_open(int folder, const char *path, int flags, mode_t mode, const char *name,
                     const void *pc);
struct _IO_FILE *ft_rt_world_fopen(const char *path, const char *mode, const void *pc);
struct _IO_FILE *ft_rt_world_freopen(const char *path, const char *mode, struct _IO_FILE *stream,
                                     const void *pc);
struct _IO_FILE *ft_rt_world_tmpfile(void);
int ft_rt_world_mkstemp(char *path, int ending, int flags, const void *pc);
char *ft_rt_world_mkdtemp(char *path, const void *pc);
int ft_rt_world_mkdir(int folder, const char *path, mode_t mode, const void *pc);
int ft_rt_world_unlink(int folder, const char *path, const void *pc);
int ft_rt_world_rmdir(int folder, const char *path, const void *pc);
int ft_rt_world_remove(const char *path, const void *pc);
int ft_rt_world_rename(int folder, const char *from, int to_folder, const char *to, const void *pc);
int ft_rt_world_link(int folder, const char *from, int to_folder, const char *to, const void *pc);
int ft_rt_world_symlink(const char *target, int folder, const char *path, const void *pc);
ssize_t ft_rt_world_readlink(int folder, const char *path, char *to, size_t n, const void *pc);
bool ft_rt_world_lists(const char *path, const void *pc); /* false: errno says why not */
int ft_rt_world_stat(int folder, const char *path, struct stat *to, int flags, const void *pc);
int ft_rt_world_fstat(int fd, struct stat *to);
int ft_rt_world_access(int folder, const char *path, int mode, int flags, const void *pc);
int ft_rt_world_truncate(const char *path, off_t size, const void *pc);
int ft_rt_world_chmod(int folder, const char *path, mode_t mode, const void *pc);
mode_t ft_rt_world_umask(mode_t wanted);
int ft_rt_world_fchmod(int fd, mode_t mode);
int ft_rt_world_changes_nothing(int folder, const char *path, const void *pc);
/* The call writes to the descriptor, or reads it, next. */
void ft_rt_world_writes(int fd, const void *pc);
void ft_rt_world_reads_file(int fd, const void *pc);
void ft_rt_world_closes(int fd);
int ft_rt_world_copied(int from, int to); /* the descriptor `to` is a copy; returns it */

/* ---- signals.c */
void ft_rt_world_masked(void); /* the calling thread may have changed its mask */
int ft_rt_world_signal_thread(uint32_t thread, int number, const char *call, const void *pc);
int ft_rt_world_signal_process(int number, const char *call, const void *pc); /* this one */
int ft_rt_world_pthread_kill(pthread_t to, int number, const void *pc);
int ft_rt_world_raise(int number, const void *pc);
bool ft_rt_world_blocks(int number); /* does the calling thread? */
/* As sigtimedwait, with -1 for no limit; info may be NULL. */
int ft_rt_world_signal_wait(const sigset_t *set, int ms, siginfo_t *info, const void *pc);

int ft_rt_world_suspend(const sigset_t *mask, const void *pc); /* as sigsuspend */

/* ---- outside.c */
/* The kinds of calls that an exploration does not do as they are.
 *  symbol   what the calls are                                what is done */
#define FT_RT_WORLD_TABLE(X)                                                                       \
    X(PROCESS, "starts another process", REFUSED)                                                  \
    X(SIGNAL, "sends a signal to another process", REFUSED)                                        \
    X(HANDLER, "has a signal handled in another thread, which does not block it", REFUSED)         \
    X(SOCKET, "makes a socket to the outside", REFUSED)                                            \
    X(MOVE, "moves content between descriptors in the kernel", REFUSED)                            \
    X(MESSAGE, "passes descriptors in messages", REFUSED)                                          \
    X(TIMER, "arms a timer of the system", REFUSED)                                                \
    X(CHANGE, "changes what is not a regular file or folder", REFUSED)                             \
    X(SHARED, "shares memory with other processes", REFUSED)                                       \
    X(MAPPED, "maps a file that the program writes", REFUSED)                                      \
    X(WATCHES, "waits for changes of files or signals by a descriptor", REFUSED)                   \
    X(KERNEL, "waits in the kernel, where no other thread is let go on", REFUSED)                  \
    X(UNKNOWN, "is a system call that the recorder does not know to be harmless", REFUSED)         \
    X(INPUT, "reads a terminal, pipe, socket or random device", REFUSED)

typedef enum ft_rt_world_call {
#define FT_ROW(symbol, doc, done) FT_RT_WORLD_##symbol,
    FT_RT_WORLD_TABLE(FT_ROW)
#undef FT_ROW
        FT_RT_WORLD_CALLS
} ft_rt_world_call;

/* Ends the run, if the calling thread is explored: "NAME starts another process". Before the first
 * choice, which comes once, a process may be started that gets no modelled descriptors. */
void ft_rt_world_refuse(ft_rt_world_call call, const char *name, const void *pc);
/* Before a signal is sent to a process: to another one than this. */
void ft_rt_world_signals(pid_t to, const char *name, const void *pc);
/* The flags that memory is mapped with: what is shared would pass from run to run. */
int ft_rt_world_maps(int protection, int flags, int fd, const char *name, const void *pc);
/* Before a system call that no hook stands for. */
void ft_rt_world_calls(long number, const void *pc);
/* Before the call reads a descriptor of the system: only files and the like may be read. */
void ft_rt_world_reads(int fd, const char *name, const void *pc);
void ft_rt_world_streams(const struct _IO_FILE *from, const char *name, const void *pc);
/* Before the call sleeps in the system for so long (-1: for ever): an exploration has no time to
 * pass, so it sleeps for ever or not at all. */
void ft_rt_world_sleeps(const char *name, int ms, const void *pc);

#pragma GCC visibility pop

#endif
