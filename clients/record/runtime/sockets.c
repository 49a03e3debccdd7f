/* Calls that make descriptors, and what else is asked of sockets and event descriptors. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "input.h"

#define CODE __builtin_return_address(0)

/* ---- files */

static ft_rt_fd kind_of(int fd)
{
    struct stat file;
    if (fd < 0 || FT_REAL(fstat)(fd, &file)) return FT_RT_FD_OTHER;
    return S_ISREG(file.st_mode) ? FT_RT_FD_FILE : FT_RT_FD_OTHER;
}

/* A file that is not there any more can still be read in a replay: from the record. */
#define OPENS(call, name, parameters, arguments)                                                   \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
            va_list rest;                                                                          \
            va_start(rest, flags);                                                                 \
            mode = va_arg(rest, mode_t);                                                           \
            va_end(rest);                                                                          \
        }                                                                                          \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        return opened(&in, FT_REAL(name) arguments);                                               \
    }

static int opened(ft_rt_input *in, int real)
{
    if (!in->fed) ft_rt_input_did(in, real);
    uint64_t kind = ft_rt_input_number(in, in->fed ? 0 : kind_of(real));
    ft_rt_fd_made(in, (int)in->result, real);
    ft_rt_fd_set((int)in->result, (ft_rt_fd)kind, 0);
    return (int)ft_rt_input_end(in);
}

OPENS(OPEN, open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(OPEN, open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(OPENAT, openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENS(OPENAT, openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

int creat(const char *path, mode_t mode)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_CREAT, CODE)) return FT_REAL(creat)(path, mode);
    return opened(&in, FT_REAL(creat)(path, mode));
}

/* The name is the one of the recording, and so is the file. */
int mkstemp(char *name)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_MKSTEMP, CODE)) return FT_REAL(mkstemp)(name);
    if (!in.fed) ft_rt_input_did(&in, FT_REAL(mkstemp)(name));
    ft_rt_input_own(&in, name, strlen(name));
    ft_rt_fd_made(&in, (int)in.result,
                  in.fed ? FT_REAL(open)(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1);
    ft_rt_fd_set((int)in.result, FT_RT_FD_FILE, 0);
    return (int)ft_rt_input_end(&in);
}

int close(int fd)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(close)(fd);
    int before = errno;
    ft_rt_fd_close(fd, CODE);
    errno = before;
    int result = FT_REAL(close)(fd), error = errno;
    ft_rt_leave(self);
    errno = error;
    return result;
}

#define SEEKS(name, type)                                                                          \
    type name(int fd, type offset, int whence)                                                     \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (!ft_rt_input_begin(&in, FT_INPUT_LSEEK, CODE))                                         \
            return FT_REAL(name)(fd, offset, whence);                                              \
        type real = FT_REAL(name)(fd, offset, whence);                                             \
        if (!in.fed) ft_rt_input_did(&in, real);                                                   \
        return (type)ft_rt_input_end(&in);                                                         \
    }
SEEKS(lseek, off_t)
SEEKS(lseek64, off64_t)

/* ---- copies */

int dup(int fd)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_DUP, CODE)) return FT_REAL(dup)(fd);
    int real = FT_REAL(dup)(fd);
    if (!in.fed) ft_rt_input_did(&in, real);
    ft_rt_fd_made(&in, (int)in.result, real);
    ft_rt_fd_copy(fd, (int)in.result);
    return (int)ft_rt_input_end(&in);
}

static int copied(int result, int from, int to)
{
    ft_rt_thread *self = ft_rt_self;
    if (result >= 0 && self && !self->inside) ft_rt_fd_copy(from, to);
    return result;
}

int dup2(int from, int to)
{
    return copied(FT_REAL(dup2)(from, to), from, to);
}

int dup3(int from, int to, int flags)
{
    return copied(FT_REAL(dup3)(from, to, flags), from, to);
}

static bool copies(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

#define FCNTL(name)                                                                                \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        va_list rest;                                                                              \
        va_start(rest, command);                                                                   \
        void *argument = va_arg(rest, void *);                                                     \
        va_end(rest);                                                                              \
        bool kept = copies(command) || ft_rt_fd_is_virtual(fd);                                    \
        if (!kept || !ft_rt_input_begin(&in, FT_INPUT_FCNTL, CODE))                                \
            return FT_REAL(name)(fd, command, argument);                                           \
        int real = FT_REAL(name)(fd, command, argument);                                           \
        return controlled(&in, fd, command, real);                                                 \
    }

static int controlled(ft_rt_input *in, int fd, int command, int real)
{
    if (!in->fed) ft_rt_input_did(in, real);
    if (copies(command)) {
        ft_rt_fd_made(in, (int)in->result, real);
        ft_rt_fd_copy(fd, (int)in->result);
    }
    return (int)ft_rt_input_end(in);
}
FCNTL(fcntl)
FCNTL(fcntl64)

int ioctl(int fd, unsigned long request, ...)
{
    ft_rt_input in;
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (!ft_rt_fd_is_virtual(fd) || !ft_rt_input_begin(&in, FT_INPUT_IOCTL, CODE))
        return FT_REAL(ioctl)(fd, request, argument);
    FT_RT_TELL(&in, fd, 0, FT_REAL(ioctl)(fd, request, argument));
    if (request == FIONREAD) ft_rt_input_piece(&in, argument, sizeof(int));
    return (int)ft_rt_input_end(&in);
}

/* ---- new ones that are virtual in a replay */

static int made(ft_rt_input *in, ft_rt_fd kind)
{
    ft_rt_fd_made(in, (int)in->result, -1);
    ft_rt_fd_set((int)in->result, kind, 0);
    return (int)ft_rt_input_end(in);
}

#define MAKES(call, name, parameters, arguments, kind)                                             \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        if (!in.fed) ft_rt_input_did(&in, FT_REAL(name) arguments);                                \
        return made(&in, kind);                                                                    \
    }
MAKES(EVENTFD, eventfd, (unsigned count, int flags), (count, flags), FT_RT_FD_EVENT)
MAKES(TIMERFD, timerfd_create, (clockid_t clock, int flags), (clock, flags), FT_RT_FD_EVENT)
MAKES(SOCKET, socket, (int domain, int type, int protocol), (domain, type, protocol),
      FT_RT_FD_SOCKET)
MAKES(EPOLL_CREATE, epoll_create, (int size), (size), FT_RT_FD_EPOLL)
MAKES(EPOLL_CREATE, epoll_create1, (int flags), (flags), FT_RT_FD_EPOLL)

#define MAKES_TWO(call, name, parameters, arguments, kind)                                         \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        if (!in.fed) ft_rt_input_did(&in, FT_REAL(name) arguments);                                \
        return made_two(&in, fds, kind);                                                           \
    }

static int made_two(ft_rt_input *in, int *fds, ft_rt_fd kind)
{
    const void *pc = in->pc;
    if (in->result) return (int)ft_rt_input_end(in);
    int first = (int)ft_rt_input_number(in, (uint64_t)(unsigned)fds[0]);
    int second = (int)ft_rt_input_number(in, (uint64_t)(unsigned)fds[1]);
    ft_rt_fd_made(in, first, -1);
    ft_rt_fd_made(in, second, -1);
    ft_rt_fd_set(first, kind, 0);
    ft_rt_fd_set(second, kind, ft_rt_fd_channel(first));
    int result = (int)ft_rt_input_end(in);
    ft_rt_write_range(fds, 2 * sizeof *fds, pc);
    fds[0] = first;
    fds[1] = second;
    return result;
}
MAKES_TWO(PIPE, pipe, (int fds[2]), (fds), FT_RT_FD_PIPE)
MAKES_TWO(PIPE, pipe2, (int fds[2], int flags), (fds, flags), FT_RT_FD_PIPE)
MAKES_TWO(SOCKETPAIR, socketpair, (int domain, int type, int protocol, int fds[2]),
          (domain, type, protocol, fds), FT_RT_FD_PIPE)

/* ---- sockets */

static uint64_t hash(uint64_t from, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) from = (from ^ at[i]) * 0x100000001B3u;
    return from;
}

typedef union address {
    struct sockaddr plain;
    struct sockaddr_storage any;
} address;

enum { SEED = 0x2545F491 };
#define CHANNEL_BIT  (1ull << 62) /* no channel of ft_rt_fd_set has it */
#define CHANNEL_HASH ((1ull << 56) - 2)

static uint64_t channel_of(const address *a, socklen_t length)
{
    return (hash(SEED, a, length < sizeof *a ? length : sizeof *a) & CHANNEL_HASH) | CHANNEL_BIT;
}

/* Both ends of a connection have the same channel. */
static void connected(int fd)
{
    address own = {.plain = {0}}, peer = {.plain = {0}};
    socklen_t n = sizeof own, m = sizeof peer;
    bool known = !FT_REAL(getsockname)(fd, &own.plain, &n) &&
                 !FT_REAL(getpeername)(fd, &peer.plain, &m) && own.plain.sa_family != AF_UNIX;
    ft_rt_fd_set(fd, FT_RT_FD_SOCKET,
                 known ? (channel_of(&own, n) ^ channel_of(&peer, m)) | CHANNEL_BIT : 0);
}

static int accepted(ft_rt_input *in, struct sockaddr *a, socklen_t *length, socklen_t room)
{
    int fd = (int)in->result;
    if (fd >= 0) {
        address own = {.plain = {0}};
        socklen_t n = sizeof own;
        if (!in->fed) FT_REAL(getsockname)(fd, &own.plain, &n);
        ft_rt_channel(channel_of(&own, in->fed ? 0 : n), true, false, in->pc);
        ft_rt_fd_made(in, fd, -1);
        if (in->fed)
            ft_rt_fd_set(fd, FT_RT_FD_SOCKET, 0);
        else
            connected(fd);
    }
    if (fd >= 0 && a && length) {
        ft_rt_input_piece(in, length, sizeof *length);
        ft_rt_input_piece(in, a, room < *length ? room : *length);
    }
    return (int)ft_rt_input_end(in);
}

#define ACCEPTS(name, parameters, arguments)                                                       \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        socklen_t room = length ? *length : 0;                                                     \
        if (!ft_rt_input_begin(&in, FT_INPUT_ACCEPT, CODE)) return FT_REAL(name) arguments;        \
        FT_RT_ASK(&in, fd, -1, FT_REAL(name) arguments);                                           \
        return accepted(&in, a, length, room);                                                     \
    }
ACCEPTS(accept, (int fd, struct sockaddr *restrict a, socklen_t *restrict length), (fd, a, length))
ACCEPTS(accept4, (int fd, struct sockaddr *restrict a, socklen_t *restrict length, int flags),
        (fd, a, length, flags))

int connect(int fd, const struct sockaddr *a, socklen_t length)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_CONNECT, CODE)) return FT_REAL(connect)(fd, a, length);
    address to = {.plain = {0}};
    memcpy(&to, a, length < sizeof to ? length : sizeof to);
    ft_rt_channel(channel_of(&to, length), false, true, CODE);
    FT_RT_ASK(&in, fd, -1, FT_REAL(connect)(fd, a, length));
    if (!in.fed) connected(fd);
    return (int)ft_rt_input_end(&in);
}

#define ASKS(call, name, parameters, arguments, ...)                                               \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        FT_RT_TELL(&in, fd, 0, FT_REAL(name) arguments);                                           \
        __VA_ARGS__;                                                                               \
        return (int)ft_rt_input_end(&in);                                                          \
    }

static void take_sized(ft_rt_input *in, void *to, socklen_t *length, socklen_t room)
{
    if (in->result < 0 || !length) return;
    ft_rt_input_piece(in, length, sizeof *length);
    ft_rt_input_piece(in, to, room < *length ? room : *length);
}

ASKS(BIND, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
ASKS(LISTEN, listen, (int fd, int n), (fd, n))
ASKS(SHUTDOWN, shutdown, (int fd, int how), (fd, how))
ASKS(SETSOCKOPT, setsockopt, (int fd, int level, int name, const void *from, socklen_t n),
     (fd, level, name, from, n))
ASKS(GETSOCKNAME, getsockname, (int fd, struct sockaddr *restrict a, socklen_t *restrict n),
     (fd, a, n), take_sized(&in, a, n, *n))
ASKS(GETPEERNAME, getpeername, (int fd, struct sockaddr *restrict a, socklen_t *restrict n),
     (fd, a, n), take_sized(&in, a, n, *n))
ASKS(GETSOCKOPT, getsockopt,
     (int fd, int level, int name, void *restrict to, socklen_t *restrict n),
     (fd, level, name, to, n), take_sized(&in, to, n, *n))

/* ---- epoll: what a program hangs on a descriptor is often a pointer, which is another one in a
 * replay. So the descriptor is kept in its place. */

enum { WATCHED = 1 << 14 };

static struct {
    struct watch {
        int epoll, fd; /* epoll 0: free */
        uint64_t data;
    } * all;
    uint32_t n;
} watches;

static struct watch *watch_of(int epoll, int fd)
{
    if (!watches.all) watches.all = ft_rt_map(WATCHED * sizeof *watches.all);
    for (uint32_t i = 0; i < watches.n; i++)
        if (watches.all[i].epoll == epoll && watches.all[i].fd == fd) return &watches.all[i];
    if (watches.n == WATCHED) return NULL;
    struct watch *w = &watches.all[watches.n++];
    *w = (struct watch){.epoll = epoll, .fd = fd};
    return w;
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_EPOLL_CTL, CODE))
        return FT_REAL(epoll_ctl)(epoll, operation, fd, event);
    struct watch *w = event ? watch_of(epoll, fd) : NULL;
    if (w) w->data = event->data.u64;
    ft_rt_fd_out(epoll, CODE);
    FT_RT_TELL(&in, epoll, 0, FT_REAL(epoll_ctl)(epoll, operation, fd, event));
    return (int)ft_rt_input_end(&in);
}

typedef struct told {
    int64_t fd; /* -1: not known, then data says it */
    uint64_t data, events;
} told;

static told tell(int epoll, const struct epoll_event *event)
{
    told t = {.fd = -1, .data = event->data.u64, .events = event->events};
    for (uint32_t i = 0; i < watches.n; i++)
        if (watches.all[i].epoll == epoll && watches.all[i].data == t.data)
            t.fd = watches.all[i].fd;
    return t;
}

static struct epoll_event untell(int epoll, const told *t)
{
    struct epoll_event event = {.events = (uint32_t)t->events, .data = {.u64 = t->data}};
    struct watch *w = t->fd >= 0 ? watch_of(epoll, (int)t->fd) : NULL;
    if (w) event.data.u64 = w->data;
    return event;
}

enum { EVENTS = 256 };

static int waited(ft_rt_input *in, int epoll, struct epoll_event *events)
{
    told kept[EVENTS];
    int n = in->result > EVENTS ? EVENTS : (int)in->result;
    if (n > 0) ft_rt_fd_in(epoll, in->pc);
    for (int i = 0; i < n && !in->fed; i++) kept[i] = tell(epoll, &events[i]);
    if (n > 0) ft_rt_input_own(in, kept, (size_t)n * sizeof *kept);
    bool fed = in->fed;
    const void *pc = in->pc;
    int result = (int)ft_rt_input_end(in);
    if (n > 0) ft_rt_write_range(events, (size_t)n * sizeof *events, pc);
    for (int i = 0; i < n && fed; i++) events[i] = untell(epoll, &kept[i]);
    return result;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int epoll_wait(int epoll, struct epoll_event *events, int n, int ms)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_EPOLL_WAIT, CODE))
        return FT_REAL(epoll_wait)(epoll, events, n, ms);
    FT_RT_ASK(&in, epoll, ms, FT_REAL(epoll_wait)(epoll, events, least(n, EVENTS), ms));
    return waited(&in, epoll, events);
}

int epoll_pwait(int epoll, struct epoll_event *events, int n, int ms, const sigset_t *mask)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_EPOLL_WAIT, CODE))
        return FT_REAL(epoll_pwait)(epoll, events, n, ms, mask);
    FT_RT_ASK(&in, epoll, ms, FT_REAL(epoll_pwait)(epoll, events, least(n, EVENTS), ms, mask));
    return waited(&in, epoll, events);
}
