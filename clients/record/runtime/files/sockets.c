/* Sockets, pipes, event descriptors and epoll sets: the calls that make them, and those that only
 * they have. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "files/files.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "inputs/mirror.h"
#include "inputs/needs.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

enum { PUTS = FT_RAW_CHANNEL_IN | FT_RAW_CHANNEL_OUT | FT_RAW_CHANNEL_PUT };

/* ---- files */

static uint64_t hash(uint64_t from, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) from = (from ^ at[i]) * 0x100000001B3u;
    return from;
}

enum { SEED = 0x2545F491 };
#define CHANNEL_BIT  (1ull << 62) /* no channel of ft_rt_fd_set has it */
#define CHANNEL_HASH ((1ull << 56) - 2)

static uint64_t channel_of(const void *key, size_t size)
{
    return (hash(SEED, key, size) & CHANNEL_HASH) | CHANNEL_BIT;
}

static ft_rt_fd kind_of(int fd)
{
    struct stat file;
    if (fd < 0 || FT_REAL(fstat)(fd, &file)) return FT_RT_FD_UNKNOWN;
    if (S_ISFIFO(file.st_mode)) return FT_RT_FD_PIPE;
    return S_ISREG(file.st_mode) ? FT_RT_FD_FILE : FT_RT_FD_UNKNOWN;
}

/* Of a pipe that has a name; 0: it is none. */
static uint64_t pipe_of(int folder, const char *path)
{
    struct stat file;
    if (!path || FT_REAL(fstatat)(folder, path, &file, *path ? 0 : AT_EMPTY_PATH)) return 0;
    const uint64_t key[] = {file.st_dev, file.st_ino};
    return S_ISFIFO(file.st_mode) ? channel_of(key, sizeof key) : 0;
}

static int opened(ft_rt_input *in, int real, uint64_t named)
{
    uint64_t kind = ft_rt_input_number(in, in->fed ? 0 : named ? FT_RT_FD_PIPE : kind_of(real));
    ft_rt_fd_made(in, (int)in->result, real);
    ft_rt_fd_set((int)in->result, (ft_rt_fd)kind);
    if (named && !in->fed) ft_rt_fd_join(real, named, named);
    if (named) ft_rt_fd_escape((int)in->result); /* the name is there for other processes too */
    return (int)ft_rt_input_end(in);
}

/* A pipe of this process, opened again. */
static bool is_by_number(const char *path)
{
    return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5);
}

/* A name that may be made by the call comes after nothing, unless that decides its result. */
static void follow_name(const char *path, int flags, const void *pc)
{
    if (!(flags & O_CREAT) || flags & O_EXCL) ft_rt_name_in(path, pc);
    if (flags & O_CREAT)
        ft_rt_name_out(path, pc);
    else
        ft_rt_file_changes(pc);
}

/* A thread that opens one end of a named pipe waits for a thread that opens the other end. */
static uint64_t open_pipe(ft_rt_input *in, int folder, const char *path)
{
    bool given = in->fed && in->left && *in->content == FT_RT_FD_PIPE;
    uint64_t named = in->fed ? given * CHANNEL_BIT : pipe_of(folder, path);
    if (!named) return 0;
    if (is_by_number(path)) ft_rt_fd_escape_all();
    ft_rt_channel(named, FT_RAW_CHANNEL_OUT, in->pc);
    if (!in->fed) ft_rt_input_outside(in, true);
    return named;
}

/* A file that is not there any more can still be read in a replay: from the record. */
#define OPENS(call, name, parameters, arguments, folder)                                           \
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
        FT_RT_EXPLORED(ft_rt_world_open(folder, path, flags, mode, #name, CODE));                  \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        follow_name(path, flags, CODE);                                                            \
        uint64_t named = open_pipe(&in, folder, path);                                             \
        int real = named && in.fed ? -1 : FT_REAL(name) arguments;                                 \
        if (!in.fed) {                                                                             \
            ft_rt_input_did(&in, real);                                                            \
            in.result = real = ft_rt_fd_apart(real);                                               \
        }                                                                                          \
        ft_rt_channel(named, FT_RAW_CHANNEL_IN, CODE);                                             \
        return opened(&in, real, named);                                                           \
    }

OPENS(OPEN, open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(OPEN, open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(OPENAT, openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode),
      folder)
OPENS(OPENAT, openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode),
      folder)

int creat(const char *path, mode_t mode)
{
    ft_rt_input in;
    FT_RT_EXPLORED(
        ft_rt_world_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, "creat", CODE));
    if (!ft_rt_input_begin(&in, FT_INPUT_CREAT, CODE)) return FT_REAL(creat)(path, mode);
    follow_name(path, O_CREAT, CODE);
    int real = FT_REAL(creat)(path, mode);
    if (!in.fed) ft_rt_input_did(&in, real = ft_rt_fd_apart(real));
    return opened(&in, real, 0);
}

#define SEEKS(name, type)                                                                          \
    type name(int fd, type offset, int whence)                                                     \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (!ft_rt_input_begin(&in, FT_INPUT_LSEEK, CODE))                                         \
            return FT_REAL(name)(fd, offset, whence);                                              \
        type real = FT_REAL(name)(fd, offset, whence);                                             \
        if (!in.fed) ft_rt_input_did(&in, real);                                                   \
        ft_rt_fd_sought(fd, CODE);                                                                 \
        return (type)ft_rt_input_end(&in);                                                         \
    }
SEEKS(lseek, off_t)
SEEKS(lseek64, off64_t)

/* ---- copies */

int dup(int fd)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_copy(fd, -1, CODE);
    FT_RT_EXPLORED(ft_rt_world_copied(fd, FT_REAL(dup)(fd)));
    if (!ft_rt_input_begin(&in, FT_INPUT_DUP, CODE)) return FT_REAL(dup)(fd);
    int real = FT_REAL(dup)(fd);
    if (!in.fed) ft_rt_input_did(&in, real = ft_rt_fd_apart(real));
    ft_rt_fd_made(&in, (int)in.result, real);
    ft_rt_fd_copy(fd, (int)in.result);
    return (int)ft_rt_input_end(&in);
}

/* The descriptor that had the number is closed. */
static void close_before(int from, int to, const void *pc)
{
    ft_rt_thread *self = from == to ? NULL : ft_rt_enter_call(pc);
    if (!self) return;
    ft_rt_fd_close(to, pc);
    self->inside = false;
}

static int copied(int result, int from, int to)
{
    ft_rt_thread *self = ft_rt_self;
    if (result >= 0 && self && !self->inside) ft_rt_fd_copy(from, to);
    return result;
}

int dup2(int from, int to)
{
    if (ft_rt_world_has(from)) return ft_rt_world_copy(from, to, CODE);
    if (ft_rt_world_has(to)) ft_rt_world_close(to, CODE);
    FT_RT_EXPLORED(ft_rt_world_copied(from, FT_REAL(dup2)(from, to)));
    close_before(from, to, CODE);
    return copied(FT_REAL(dup2)(from, to), from, to);
}

static bool copies(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

int dup3(int from, int to, int flags)
{
    if (ft_rt_world_has(from)) return ft_rt_world_copy(from, to, CODE);
    if (ft_rt_world_has(to)) ft_rt_world_close(to, CODE);
    FT_RT_EXPLORED(ft_rt_world_copied(from, FT_REAL(dup3)(from, to, flags)));
    close_before(from, to, CODE);
    return copied(FT_REAL(dup3)(from, to, flags), from, to);
}

/* As by flock (calls.c). */
static int lock_file(int fd, int command, struct flock *lock, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    bool given = lock->l_type == F_UNLCK;
    if (self && given) ft_rt_fd_locked(fd, false, pc);
    if (self) ft_rt_outside(self);
    int result = FT_REAL(fcntl)(fd, command, lock), error = errno;
    if (self && ft_rt_enter()) {
        if (!given && !result) ft_rt_fd_locked(fd, true, pc);
        ft_rt_leave(self);
    }
    errno = error;
    return result;
}

#define FCNTL(name)                                                                                \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        va_list rest;                                                                              \
        va_start(rest, command);                                                                   \
        void *argument = va_arg(rest, void *);                                                     \
        va_end(rest);                                                                              \
        if (ft_rt_world_has(fd)) return ft_rt_world_fcntl(fd, command, (long)argument, CODE);      \
        if (copies(command))                                                                       \
            FT_RT_EXPLORED(ft_rt_world_copied(fd, FT_REAL(name)(fd, command, argument)));          \
        if (command == F_OFD_SETLK || command == F_OFD_SETLKW)                                     \
            return lock_file(fd, command, argument, CODE);                                         \
        if (command == F_SETLK || command == F_SETLKW) ft_rt_fd_keeps_locks();                     \
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

/* The number of bytes that a request on a real descriptor writes where its argument points. */
static size_t answer_of(unsigned long request)
{
    static const struct {
        unsigned long request;
        size_t size;
    } rows[] = {{FIONREAD, sizeof(int)},
                {TIOCOUTQ, sizeof(int)},
                {TIOCGPGRP, sizeof(pid_t)},
                {TIOCGSID, sizeof(pid_t)},
                {TIOCGWINSZ, sizeof(struct winsize)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].request == request) return rows[i].size;
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    ft_rt_input in;
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (ft_rt_world_has(fd)) return ft_rt_world_ioctl(fd, request, argument, CODE);
    if (!ft_rt_fd_is_virtual(fd) || !ft_rt_input_begin(&in, FT_INPUT_IOCTL, CODE)) {
        int result = FT_REAL(ioctl)(fd, request, argument);
        if (!result) ft_rt_write_range(argument, answer_of(request), CODE);
        return result;
    }
    FT_RT_TELL(&in, fd, 0, FT_REAL(ioctl)(fd, request, argument));
    if (request == FIONREAD) {
        bool some = in.fed ? in.left && *in.content : *(int *)argument > 0;
        (some ? ft_rt_fd_ready : ft_rt_fd_empty)(fd, CODE);
        ft_rt_input_piece(&in, argument, sizeof(int));
    }
    return (int)ft_rt_input_end(&in);
}

/* ---- new ones that are virtual in a replay */

static bool can_be_mirrored(ft_rt_fd kind)
{
    return kind == FT_RT_FD_PIPE || kind == FT_RT_FD_EVENT || kind == FT_RT_FD_EPOLL;
}

/* Under its number: its mirror, if there is any, behind it. */
static void made_one(ft_rt_input *in, int number, ft_rt_fd kind, int mirror)
{
    ft_rt_fd_made(in, number, mirror);
    ft_rt_fd_set(number, kind);
    if (mirror >= 0 || (can_be_mirrored(kind) && ft_rt_mirror_is_live(in)))
        ft_rt_fd_mirror(number, true);
}

static int made(ft_rt_input *in, ft_rt_fd kind, int mirror)
{
    made_one(in, (int)in->result, kind, mirror);
    return (int)ft_rt_input_end(in);
}

#define MAKES(call, name, parameters, arguments, kind, modelled)                                   \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        FT_RT_EXPLORED(modelled);                                                                  \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        bool mirrored = can_be_mirrored(kind) && ft_rt_mirrors(&in);                               \
        if (!in.fed) ft_rt_input_did(&in, ft_rt_fd_apart(FT_REAL(name) arguments));                \
        return made(&in, kind, mirrored ? FT_REAL(name) arguments : -1);                           \
    }
#define REFUSED(kind, name) (ft_rt_world_refuse(FT_RT_WORLD_##kind, name, CODE), -1)

MAKES(EVENTFD, eventfd, (unsigned count, int flags), (count, flags), FT_RT_FD_EVENT,
      ft_rt_world_eventfd(count, flags, CODE))
MAKES(TIMERFD, timerfd_create, (clockid_t clock, int flags), (clock, flags), FT_RT_FD_EVENT,
      REFUSED(TIMER, "timerfd_create"))
MAKES(SIGNALFD, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags),
      FT_RT_FD_SIGNAL, REFUSED(WATCHES, "signalfd"))
MAKES(SOCKET, socket, (int domain, int type, int protocol), (domain, type, protocol),
      FT_RT_FD_SOCKET, ft_rt_world_socket(domain, type, protocol, CODE))
MAKES(EPOLL_CREATE, epoll_create, (int size), (size), FT_RT_FD_EPOLL,
      ft_rt_world_epoll_create(CODE))
MAKES(EPOLL_CREATE, epoll_create1, (int flags), (flags), FT_RT_FD_EPOLL,
      ft_rt_world_epoll_create(CODE))

#define WATCHES(name, parameters, arguments)                                                       \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_world_refuse(FT_RT_WORLD_WATCHES, #name, CODE);                                      \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        int fd = FT_REAL(name) arguments, error = errno;                                           \
        if (self && fd >= 0) ft_rt_fd_set(fd, FT_RT_FD_WATCH);                                     \
        if (self) ft_rt_leave(self);                                                               \
        errno = error;                                                                             \
        return fd;                                                                                 \
    }
WATCHES(inotify_init, (void), ())
WATCHES(inotify_init1, (int flags), (flags))
WATCHES(fanotify_init, (unsigned flags, unsigned events), (flags, events))

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_TIMERFD_SETTIME, CODE))
        return FT_REAL(timerfd_settime)(fd, flags, when, old);
    ft_rt_timers = true;
    ft_rt_fd_out(fd, CODE);
    FT_RT_TELL(&in, fd, 0, FT_REAL(timerfd_settime)(fd, flags, when, old));
    ft_rt_input_piece(&in, old, old && !in.result ? sizeof *old : 0);
    return (int)ft_rt_input_end(&in);
}

int timerfd_gettime(int fd, struct itimerspec *left)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_TIMERFD_GETTIME, CODE))
        return FT_REAL(timerfd_gettime)(fd, left);
    FT_RT_TELL(&in, fd, 0, FT_REAL(timerfd_gettime)(fd, left));
    ft_rt_input_piece(&in, left, in.result ? 0 : sizeof *left);
    return (int)ft_rt_input_end(&in);
}

#define MAKES_TWO(call, name, parameters, arguments, kind, modelled)                               \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        FT_RT_EXPLORED(modelled);                                                                  \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        bool mirrored = ft_rt_mirrors(&in) && !FT_REAL(name) arguments;                            \
        if (!in.fed) ft_rt_input_did(&in, FT_REAL(name) arguments);                                \
        return made_two(&in, fds, kind, mirrored);                                                 \
    }

/* Each end takes the content that is put into the other. A pipe passes one fact back: that no
 * reader is left. */
static void join_two(int first, int second)
{
    uint64_t there = ft_rt_fd_new_channel(), back = ft_rt_fd_new_channel();
    ft_rt_fd_join(first, there, back);
    ft_rt_fd_join(second, back, there);
}

/* Mirrored: `fds` are the mirrors. */
static int made_two(ft_rt_input *in, int *fds, ft_rt_fd kind, bool mirrored)
{
    const void *pc = in->pc;
    int mirrors[2] = {-1, -1};
    if (in->result) return (int)ft_rt_input_end(in);
    for (int i = 0; i < 2 && mirrored; i++) mirrors[i] = ft_rt_fd_step_aside(fds[i]);
    if (!in->fed) {
        fds[0] = ft_rt_fd_apart(fds[0]);
        fds[1] = ft_rt_fd_apart(fds[1]);
    }
    int first = (int)ft_rt_input_number(in, (uint64_t)(unsigned)fds[0]);
    int second = (int)ft_rt_input_number(in, (uint64_t)(unsigned)fds[1]);
    made_one(in, first, kind, mirrors[0]);
    made_one(in, second, kind, mirrors[1]);
    join_two(first, second);
    int result = (int)ft_rt_input_end(in);
    ft_rt_write_range(fds, 2 * sizeof *fds, pc);
    fds[0] = first;
    fds[1] = second;
    return result;
}
MAKES_TWO(PIPE, pipe, (int fds[2]), (fds), FT_RT_FD_PIPE, ft_rt_world_pipe(fds, 0, CODE))
MAKES_TWO(PIPE, pipe2, (int fds[2], int flags), (fds, flags), FT_RT_FD_PIPE,
          ft_rt_world_pipe(fds, flags, CODE))
MAKES_TWO(SOCKETPAIR, socketpair, (int domain, int type, int protocol, int fds[2]),
          (domain, type, protocol, fds), FT_RT_FD_PIPE,
          ft_rt_world_socketpair(domain, type, protocol, fds, CODE))

/* ---- sockets: the two addresses identify the channel between two ends. */

typedef union address {
    struct sockaddr plain;
    struct sockaddr_storage any;
    struct sockaddr_in internet;
    struct sockaddr_in6 internet6;
    struct sockaddr_un local;
} address;

/* Of internet addresses the port: a socket that is bound to any address is reached by each. */
static uint64_t name_of(const address *a, socklen_t length)
{
    const uint64_t internet = SEED * 3;
    if (length < sizeof a->plain.sa_family) return 0;
    if (a->plain.sa_family == AF_INET)
        return hash(internet, &a->internet.sin_port, sizeof(in_port_t));
    if (a->plain.sa_family == AF_INET6)
        return hash(internet, &a->internet6.sin6_port, sizeof(in_port_t));
    if (a->plain.sa_family != AF_UNIX) return hash(SEED, a, length);
    size_t most = length - sizeof a->plain.sa_family, n = most;
    if (a->local.sun_path[0]) n = strnlen(a->local.sun_path, most);
    return n ? hash(SEED, a->local.sun_path, n) : 0;
}

typedef struct ends {
    uint64_t own, peer; /* names, 0: none */
    bool streams;       /* connected ones; else each message has an address */
    bool listens;
} ends;

static bool look_at(int fd, ends *e)
{
    address own = {.plain = {0}}, peer = {.plain = {0}};
    socklen_t n = sizeof own, m = sizeof peer, size = sizeof(int);
    int type = 0, listens = 0;
    if (FT_REAL(getsockopt)(fd, SOL_SOCKET, SO_TYPE, &type, &size)) return false;
    FT_REAL(getsockopt)(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
    e->streams = type == SOCK_STREAM || type == SOCK_SEQPACKET;
    e->listens = listens;
    e->own = FT_REAL(getsockname)(fd, &own.plain, &n) ? 0 : name_of(&own, n);
    e->peer = FT_REAL(getpeername)(fd, &peer.plain, &m) ? 0 : name_of(&peer, m);
    return true;
}

enum { TO = 1, LISTEN };

static uint64_t channel_between(uint64_t from, uint64_t to)
{
    const uint64_t key[] = {from, to};
    return to ? channel_of(key, sizeof key) : 0;
}

void ft_rt_sockets_settle(int fd)
{
    ends e;
    if (ft_rt_fd_kind(fd) != FT_RT_FD_SOCKET || ft_rt_fd_is_joined(fd) || !look_at(fd, &e)) return;
    if (e.listens)
        ft_rt_fd_join(fd, channel_between(LISTEN, e.own), 0);
    else if (!e.streams && e.own)
        ft_rt_fd_join(fd, channel_between(TO, e.own), channel_between(TO, e.peer));
    else if (e.own && e.peer)
        ft_rt_fd_join(fd, channel_between(e.peer, e.own), channel_between(e.own, e.peer));
}

void ft_rt_sockets_to(int fd, const struct sockaddr *to, socklen_t length, const void *pc)
{
    address a = {.plain = {0}};
    bool addressed = to && length && ft_rt_fd_kind(fd) == FT_RT_FD_SOCKET;
    if (!addressed) {
        ft_rt_fd_out(fd, pc);
        return;
    }
    memcpy(&a, to, length < sizeof a ? length : sizeof a);
    ft_rt_channel(channel_between(TO, name_of(&a, length)), PUTS, pc);
}

/* Ends of connections without names: they are accepted in the order in which they came. */
enum { PENDING = 1 << 10 };

static struct {
    struct pending {
        uint64_t name, there, back;
    } all[PENDING];
    uint32_t n;
} pendings;

static void add_pending(int fd, uint64_t name)
{
    uint64_t there = ft_rt_fd_new_channel(), back = ft_rt_fd_new_channel();
    ft_rt_fd_join(fd, back, there);
    if (pendings.n == PENDING) pendings.n = 0;
    pendings.all[pendings.n++] = (struct pending){name, there, back};
}

static void take_pending(int fd, uint64_t name)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    uint32_t i = 0;
    if (FT_REAL(getsockopt)(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) return;
    while (i < pendings.n && pendings.all[i].name != name) i++;
    if (peer.pid != FT_REAL(getpid)() || i == pendings.n) return;
    ft_rt_fd_join(fd, pendings.all[i].there, pendings.all[i].back);
    memmove(&pendings.all[i], &pendings.all[i + 1], (--pendings.n - i) * sizeof *pendings.all);
}

static int accepted(ft_rt_input *in, int listener, struct sockaddr *a, socklen_t *length,
                    socklen_t room)
{
    if (!in->fed) in->result = ft_rt_fd_apart((int)in->result);
    int fd = (int)in->result;
    ft_rt_fd_took(in, listener);
    if (fd >= 0) {
        ends e;
        ft_rt_fd_made(in, fd, -1);
        ft_rt_fd_set(fd, FT_RT_FD_SOCKET);
        if (!in->fed && look_at(fd, &e) && !e.peer) take_pending(fd, e.own);
    }
    if (fd >= 0 && a && length) {
        ft_rt_input_piece(in, length, sizeof *length);
        ft_rt_input_piece(in, a, room < *length ? room : *length);
    }
    return (int)ft_rt_input_end(in);
}

#define ACCEPTS(name, parameters, arguments, flags)                                                \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        socklen_t room = length ? *length : 0;                                                     \
        if (ft_rt_world_has(fd)) return ft_rt_world_accept(fd, a, length, flags, CODE);            \
        if (!ft_rt_input_begin(&in, FT_INPUT_ACCEPT, CODE)) return FT_REAL(name) arguments;        \
        FT_RT_ASK(&in, fd, -1, FT_REAL(name) arguments);                                           \
        return accepted(&in, fd, a, length, room);                                                 \
    }
ACCEPTS(accept, (int fd, struct sockaddr *restrict a, socklen_t *restrict length), (fd, a, length),
        0)
ACCEPTS(accept4, (int fd, struct sockaddr *restrict a, socklen_t *restrict length, int flags),
        (fd, a, length, flags), flags)

/* A local connection is made at once unless too many wait, so connections are told apart by their
 * order. */
static int connect_local(int fd, const struct sockaddr *a, socklen_t length, uint64_t name)
{
    int flags = FT_REAL(fcntl)(fd, F_GETFL);
    FT_REAL(fcntl)(fd, F_SETFL, flags | O_NONBLOCK);
    int result = FT_REAL(connect)(fd, a, length), error = errno;
    FT_REAL(fcntl)(fd, F_SETFL, flags);
    if (!result) add_pending(fd, name);
    errno = error;
    return result;
}

int connect(int fd, const struct sockaddr *a, socklen_t length)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_connect(fd, a, length, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_CONNECT, CODE)) return FT_REAL(connect)(fd, a, length);
    address to = {.plain = {0}};
    ends e = {.own = 0};
    memcpy(&to, a, length < sizeof to ? length : sizeof to);
    uint64_t name = name_of(&to, length);
    ft_rt_channel(channel_between(LISTEN, name), PUTS, CODE);
    bool local = !in.fed && !ft_rt_input_is_silent(fd) && to.plain.sa_family == AF_UNIX &&
                 look_at(fd, &e) && e.streams && !e.own;
    int result = local ? connect_local(fd, a, length, name) : -1;
    if (local && (!result || errno != EAGAIN))
        ft_rt_input_did(&in, result);
    else
        FT_RT_ASK(&in, fd, -1, FT_REAL(connect)(fd, a, length));
    return (int)ft_rt_input_end(&in);
}

#define ASKS(call, name, parameters, arguments, modelled, ...)                                     \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (ft_rt_world_has(fd)) return modelled;                                                  \
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

/* Nothing is bound where descriptors are virtual. The name in the file system is there all the
 * same: the program gives it another mode, owner or name, and is told whether that went well. */
static void leave_name(const ft_rt_input *in, int fd, const struct sockaddr *a, socklen_t n)
{
    address to = {.plain = {0}};
    char path[sizeof to.local.sun_path + 1] = "";
    if (in->result || !ft_rt_input_is_silent(fd) || n > sizeof to) return;
    memcpy(&to, a, n);
    if (to.plain.sa_family == AF_UNIX) memcpy(path, to.local.sun_path, sizeof to.local.sun_path);
    if (*path) FT_REAL(mknod)(path, S_IFSOCK | 0777, 0);
}

ASKS(BIND, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n),
     ft_rt_world_bind(fd, a, n, CODE), leave_name(&in, fd, a, n))
ASKS(LISTEN, listen, (int fd, int n), (fd, n), ft_rt_world_listen(fd, n, CODE))
ASKS(SETSOCKOPT, setsockopt, (int fd, int level, int name, const void *from, socklen_t n),
     (fd, level, name, from, n), ft_rt_world_set_option(fd, level, name, from, n))
ASKS(GETSOCKNAME, getsockname, (int fd, struct sockaddr *restrict a, socklen_t *restrict n),
     (fd, a, n), ft_rt_world_own_name(fd, a, n), take_sized(&in, a, n, *n))
ASKS(GETPEERNAME, getpeername, (int fd, struct sockaddr *restrict a, socklen_t *restrict n),
     (fd, a, n), ft_rt_world_peer_name(fd, a, n), take_sized(&in, a, n, *n))
ASKS(GETSOCKOPT, getsockopt,
     (int fd, int level, int name, void *restrict to, socklen_t *restrict n),
     (fd, level, name, to, n), ft_rt_world_option(fd, level, name, to, n),
     take_sized(&in, to, n, *n))

/* Who takes from the other end finds that nothing more comes, and so does who takes or accepts
 * here. */
int shutdown(int fd, int how)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_shutdown(fd, how, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_SHUTDOWN, CODE)) return FT_REAL(shutdown)(fd, how);
    if (how != SHUT_RD) ft_rt_fd_out(fd, CODE);
    if (how != SHUT_WR) ft_rt_fd_ends(fd, CODE);
    FT_RT_TELL(&in, fd, 0, FT_REAL(shutdown)(fd, how));
    return (int)ft_rt_input_end(&in);
}

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

/* -1: any */
static void forget_watches(int epoll, int fd)
{
    for (uint32_t i = watches.n; i-- > 0;) {
        const struct watch *w = &watches.all[i];
        bool gone = (epoll < 0 || w->epoll == epoll) && (fd < 0 || w->fd == fd);
        if (gone) watches.all[i] = watches.all[--watches.n];
    }
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    ft_rt_input in;
    if (ft_rt_world_has(epoll)) return ft_rt_world_epoll_ctl(epoll, operation, fd, event, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_EPOLL_CTL, CODE))
        return FT_REAL(epoll_ctl)(epoll, operation, fd, event);
    struct watch *w = event && operation != EPOLL_CTL_DEL ? watch_of(epoll, fd) : NULL;
    if (w) w->data = event->data.u64;
    if (operation == EPOLL_CTL_DEL) ft_rt_fd_last(epoll, CODE);
    ft_rt_fd_out(epoll, CODE);
    if (operation == EPOLL_CTL_DEL) forget_watches(epoll, fd);
    if (operation == EPOLL_CTL_ADD) ft_rt_mirror_watches(epoll, fd);
    int told = ft_rt_input_is_silent(fd) ? fd : epoll;
    FT_RT_TELL(&in, told, 0, FT_REAL(epoll_ctl)(epoll, operation, fd, event));
    return (int)ft_rt_input_end(&in);
}

int close(int fd)
{
    if (ft_rt_world_has(fd)) return ft_rt_world_close(fd, CODE);
    ft_rt_world_closes(fd);
    ft_rt_thread *self = ft_rt_enter_call(CODE);
    if (!self) return FT_REAL(close)(fd);
    int before = errno;
    ft_rt_fd_close(fd, CODE);
    forget_watches(-1, fd);
    forget_watches(fd, -1);
    errno = before;
    int result = FT_REAL(close)(fd), error = errno;
    ft_rt_leave(self);
    errno = error;
    return result;
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

void ft_rt_epoll_ready(int epoll, const uint64_t *data, const void *pc)
{
    for (uint32_t i = 0; i < watches.n; i++) {
        const struct watch *w = &watches.all[i];
        if (w->epoll != epoll || (data && w->data != *data)) continue;
        if (ft_rt_fd_kind(w->fd) == FT_RT_FD_EPOLL) ft_rt_epoll_ready(w->fd, NULL, pc);
        ft_rt_fd_ready(w->fd, pc);
    }
}

static int watched(int epoll, told *all)
{
    int n = 0;
    for (uint32_t i = 0; i < watches.n && n < EVENTS; i++)
        if (watches.all[i].epoll == epoll) all[n++] = (told){.fd = watches.all[i].fd};
    return n;
}

/* Reports the descriptors that were ready; else those that were watched and were not, since in a
 * replay another one may be ready sooner. Fed events are translated at once: at the next step other
 * threads go on, and one may end the watching. */
static int keep_told(ft_rt_input *in, int epoll, struct epoll_event *events, told *kept)
{
    bool none = !in->result;
    int n = in->result < 0 ? 0 : in->result > EVENTS ? EVENTS : (int)in->result;
    if (none) n = (int)ft_rt_input_number(in, in->fed ? 0 : (uint64_t)watched(epoll, kept));
    for (int i = 0; i < n && !in->fed && !none; i++) kept[i] = tell(epoll, &events[i]);
    if (n > 0) ft_rt_input_own(in, kept, (size_t)n * sizeof *kept);
    for (int i = 0; i < n && in->fed && !none; i++) events[i] = untell(epoll, &kept[i]);
    for (int i = 0; i < n; i++) {
        uint64_t data = untell(epoll, &kept[i]).data.u64;
        if (kept[i].fd < 0) continue;
        none ? ft_rt_fd_empty((int)kept[i].fd, in->pc) : ft_rt_epoll_ready(epoll, &data, in->pc);
    }
    return none ? 0 : n;
}

/* ---- after a schedule's end, for a set with descriptors of both kinds: the recording answers for
 * virtual ones, the real ones answer themselves */

static bool is_of_both(const ft_rt_input *in, int epoll)
{
    return in->fed && ft_rt_feed_is_behind() && ft_rt_fd_is_mixed(epoll);
}

static bool is_watched(int epoll, int64_t fd)
{
    for (uint32_t i = 0; i < watches.n; i++)
        if (watches.all[i].epoll == epoll && watches.all[i].fd == fd) return true;
    return false;
}

/* The answer names a virtual descriptor, or that the time limit has passed. */
static bool is_answer(const ft_rt_input *in, int epoll)
{
    told one;
    bool none = in->result <= 0;
    for (size_t i = 0; !none && (i + 1) * sizeof one <= in->left; i++) {
        memcpy(&one, in->content + i * sizeof one, sizeof one);
        if (!ft_rt_fd_is_mirrored((int)one.fd) && is_watched(epoll, one.fd)) return true;
    }
    return none;
}

static void choose_answer(ft_rt_input *in, int epoll)
{
    struct pollfd set = {.fd = epoll, .events = POLLIN};
    while (is_of_both(in, epoll) && !is_answer(in, epoll)) {
        if (FT_REAL(poll)(&set, 1, 0) > 0)
            ft_rt_mirror_answers(in);
        else
            ft_rt_input_ask(in);
    }
}

static int leave_out_mirrored(int epoll, struct epoll_event *events, const told *kept, int n)
{
    int left = 0;
    for (int i = 0; i < n; i++)
        if (!ft_rt_fd_is_mirrored((int)kept[i].fd) && is_watched(epoll, kept[i].fd))
            events[left++] = events[i];
    return left;
}

static int waited(ft_rt_input *in, int epoll, struct epoll_event *events)
{
    told kept[EVENTS];
    if (in->result > 0) ft_rt_fd_in(epoll, in->pc);
    int n = keep_told(in, epoll, events, kept);
    if (is_of_both(in, epoll) && n > 0) in->result = n = leave_out_mirrored(epoll, events, kept, n);
    const void *pc = in->pc;
    int result = (int)ft_rt_input_end(in);
    if (n > 0) ft_rt_write_range(events, (size_t)n * sizeof *events, pc);
    return result;
}

/* How long to wait, if nothing is ready now. */
static int limit_of(ft_rt_input *in, int epoll, int ms)
{
    struct pollfd whole = {.fd = epoll, .events = POLLIN};
    for (uint32_t i = 0; i < watches.n; i++)
        if (watches.all[i].epoll == epoll && !ft_rt_fd_is_own(watches.all[i].fd)) return ms;
    bool idle = ms > 0 && watches.n < WATCHED && !in->fed && FT_REAL(poll)(&whole, 1, 0) == 0;
    return idle && ft_rt_input_passes(in, ms) ? 0 : ms;
}

static int wait_in(int epoll, struct epoll_event *events, int n, int ms, const sigset_t *mask,
                   const void *pc)
{
    ft_rt_input in;
    if (ft_rt_world_has(epoll)) return ft_rt_world_epoll_wait(epoll, events, n, ms, pc);
    if (!ft_rt_input_begin(&in, FT_INPUT_EPOLL_WAIT, pc))
        return FT_REAL(epoll_pwait)(epoll, events, n, ms, mask);
    choose_answer(&in, epoll);
    ms = limit_of(&in, epoll, ms);
    FT_RT_ASK(&in, epoll, ms,
              FT_REAL(epoll_pwait)(epoll, events, n < EVENTS ? n : EVENTS, ms, mask));
    return waited(&in, epoll, events);
}

int epoll_wait(int epoll, struct epoll_event *events, int n, int ms)
{
    return wait_in(epoll, events, n, ms, NULL, CODE);
}

int epoll_pwait(int epoll, struct epoll_event *events, int n, int ms, const sigset_t *mask)
{
    return wait_in(epoll, events, n, ms, mask, CODE);
}
