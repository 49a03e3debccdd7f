/* Calls on file descriptors: read, write, poll, select, close, fcntl and the like.
 *
 * Content that comes from outside is an input; content that passes from thread to thread orders
 * them. Calls that may sleep let other threads run meanwhile. The watchdog notices a call without a
 * hook that sleeps, but only some milliseconds later. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "files/files.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "inputs/mirror.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "raw/inputs.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

static size_t count_of(const ft_rt_input *in, size_t most)
{
    if (in->result <= 0) return 0;
    return (size_t)in->result < most ? (size_t)in->result : most;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- reading */

/* The content that was read names the signals. */
static void took_signals(const ft_rt_input *in, int fd, const void *to)
{
    const struct signalfd_siginfo *all = in->fed ? (const void *)in->content : to;
    size_t n = in->result > 0 ? (size_t)in->result / sizeof *all : 0;
    if (ft_rt_fd_kind(fd) != FT_RT_FD_SIGNAL) return;
    for (size_t i = 0; i < n && (!in->fed || (i + 1) * sizeof *all <= in->left); i++) {
        uint32_t number;
        memcpy(&number, &all[i].ssi_signo, sizeof number);
        ft_rt_signal_taken((int)number, in->pc);
    }
}

static ssize_t got(ft_rt_input *in, int fd, void *to, size_t n)
{
    if (in->call != FT_INPUT_PREAD) ft_rt_fd_took(in, fd);
    if (in->call == FT_INPUT_PREAD) ft_rt_file_in(fd, in->pc);
    took_signals(in, fd, to);
    ft_rt_input_piece(in, to, count_of(in, n));
    return (ssize_t)ft_rt_input_end(in);
}

/* Fed content counts as read, since the program may write to the file at this position. */
static void move_on(const ft_rt_input *in, int fd)
{
    if (in->result > 0 && ft_rt_fd_kind(fd) == FT_RT_FD_FILE)
        FT_REAL(lseek)(fd, in->result, SEEK_CUR);
}

#define READS(call, name, parameters, arguments, fd, to, n, modelled)                              \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (ft_rt_world_has(fd)) return modelled;                                                  \
        ft_rt_world_reads(fd, #name, CODE);                                                        \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        ft_rt_fd_takes(fd, CODE);                                                                  \
        FT_RT_ASK(&in, fd, -1, FT_REAL(name) arguments);                                           \
        if (in.fed && FT_INPUT_##call != FT_INPUT_PREAD) move_on(&in, fd);                         \
        return got(&in, fd, to, n);                                                                \
    }
READS(READ, read, (int fd, void *to, size_t n), (fd, to, n), fd, to, n,
      ft_rt_world_read(fd, to, n, CODE))
READS(PREAD, pread, (int fd, void *to, size_t n, off_t from), (fd, to, n, from), fd, to, n,
      (errno = ESPIPE, -1))
READS(PREAD, pread64, (int fd, void *to, size_t n, off64_t from), (fd, to, n, from), fd, to, n,
      (errno = ESPIPE, -1))
READS(RECV, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), fd, to, n,
      ft_rt_world_receive(fd, &(struct iovec){to, n}, 1, flags, CODE))

int eventfd_read(int fd, eventfd_t *value)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_read(fd, value, sizeof *value, CODE) < 0 ? -1 : 0;
    if (!ft_rt_input_begin(&in, FT_INPUT_EVENTFD_READ, CODE))
        return FT_REAL(eventfd_read)(fd, value);
    FT_RT_ASK(&in, fd, -1, FT_REAL(eventfd_read)(fd, value));
    ft_rt_fd_took(&in, fd);
    ft_rt_input_piece(&in, value, in.result ? 0 : sizeof *value);
    return (int)ft_rt_input_end(&in);
}

static void take_pieces(ft_rt_input *in, const struct iovec *v, int n)
{
    size_t left = in->result > 0 ? (size_t)in->result : 0;
    for (int i = 0; i < n && left; i++) {
        size_t here = least(v[i].iov_len, left);
        ft_rt_input_piece(in, v[i].iov_base, here);
        left -= here;
    }
}

/* No more buffers at once than are kept: a longer read is cut short. */
static int few(int n)
{
    return n < FT_RT_PIECES - 4 ? n : FT_RT_PIECES - 4;
}

ssize_t readv(int fd, const struct iovec *v, int n)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_receive(fd, v, (size_t)n, 0, CODE);
    ft_rt_world_reads(fd, "readv", CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_READV, CODE)) return FT_REAL(readv)(fd, v, n);
    ft_rt_fd_takes(fd, CODE);
    FT_RT_ASK(&in, fd, -1, FT_REAL(readv)(fd, v, few(n)));
    if (in.fed) move_on(&in, fd);
    ft_rt_fd_took(&in, fd);
    take_pieces(&in, v, few(n));
    return (ssize_t)ft_rt_input_end(&in);
}

ssize_t recvfrom(int fd, void *restrict to, size_t n, int flags, struct sockaddr *restrict from,
                 socklen_t *restrict length)
{
    ft_rt_input in;
    socklen_t room = length ? *length : 0;
    if (ft_rt_world_has(fd))
        return ft_rt_world_receive_from(fd, &(struct iovec){to, n}, 1, flags, from, length, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_RECVFROM, CODE))
        return FT_REAL(recvfrom)(fd, to, n, flags, from, length);
    ft_rt_fd_takes(fd, CODE);
    FT_RT_ASK(&in, fd, -1, FT_REAL(recvfrom)(fd, to, n, flags, from, length));
    ft_rt_fd_took(&in, fd);
    if (in.result >= 0 && from && length) {
        ft_rt_input_piece(&in, length, sizeof *length);
        ft_rt_input_piece(&in, from, least(room, *length));
    }
    ft_rt_input_piece(&in, to, count_of(&in, n));
    return (ssize_t)ft_rt_input_end(&in);
}

/* Does that for all descriptors in the message. */
static void each_descriptor(struct msghdr *m, void (*one)(void *context, int fd), void *context)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            one(context, fd);
        }
    }
}

static void send_one(void *context, int fd)
{
    (void)context;
    ft_rt_fd_send(fd);
}

static void receive_one(void *context, int fd)
{
    ft_rt_fd_receive(context, fd);
}

static void receive_descriptors(ft_rt_input *in, struct msghdr *m)
{
    if (!m->msg_control) return;
    ft_rt_input_own(in, m->msg_control, m->msg_controllen);
    each_descriptor(m, receive_one, in);
}

static ssize_t received(int fd, struct msghdr *m, int flags, const void *pc)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_receive_message(fd, m, flags, pc);
    if (!ft_rt_input_begin(&in, FT_INPUT_RECVMSG, pc)) return FT_REAL(recvmsg)(fd, m, flags);
    if (m->msg_iovlen > (size_t)few(FT_RT_PIECES)) m->msg_iovlen = (size_t)few(FT_RT_PIECES);
    ft_rt_fd_takes(fd, pc);
    FT_RT_ASK(&in, fd, -1, FT_REAL(recvmsg)(fd, m, flags));
    ft_rt_fd_took(&in, fd);
    if (in.result >= 0) {
        ft_rt_input_own(&in, &m->msg_namelen, sizeof m->msg_namelen);
        ft_rt_input_own(&in, &m->msg_controllen, sizeof m->msg_controllen);
        ft_rt_input_own(&in, &m->msg_flags, sizeof m->msg_flags);
        receive_descriptors(&in, m);
        ft_rt_input_piece(&in, m->msg_name, m->msg_name ? m->msg_namelen : 0);
        take_pieces(&in, m->msg_iov, (int)m->msg_iovlen);
    }
    return (ssize_t)ft_rt_input_end(&in);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    return received(fd, m, flags, CODE);
}

/* One at a time: a call may always give fewer than were asked for. */
int recvmmsg(int fd, struct mmsghdr *all, unsigned n, int flags, struct timespec *time)
{
    if (!n || ((!ft_rt_self || ft_rt_self->inside) && !ft_rt_world_has(fd)))
        return FT_REAL(recvmmsg)(fd, all, n, flags, time);
    ssize_t got = received(fd, &all->msg_hdr, flags & ~MSG_WAITFORONE, CODE);
    if (got >= 0) all->msg_len = (unsigned)got;
    return got < 0 ? -1 : 1;
}

/* ---- writing: the result is an input only if a replay does not really write */

/* A thread that follows an order waits for its turn, though a write to a file is not an event. */
static void follow(const void *pc)
{
    ft_rt_thread *self = ft_rt_following ? ft_rt_enter_call(pc) : NULL;
    if (self) self->inside = false;
}

/* True: the call goes through *in; else it is done plainly. */
static bool begin_write(ft_rt_input *in, ft_input_call call, int fd, const void *pc)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || self->inside) return false;
    if (ft_rt_fd_is_virtual(fd)) return ft_rt_input_begin(in, call, pc);
    follow(pc);
    if (ft_rt_fd_is_unknown(fd) && ft_rt_enter()) {
        ft_rt_fd_out(fd, pc);
        self->inside = false; /* the turn goes on until the write */
    }
    return false;
}

/* The call may wait for room, which readers make. */
static bool may_wait(const ft_rt_input *in, int fd, size_t size)
{
    return in->fed ? in->left > 0 : !ft_rt_input_is_silent(fd) && ft_rt_fd_fills(fd, size);
}

static ssize_t end_write(ft_rt_input *in, int fd, bool full)
{
    if (full) {
        ft_rt_input_number(in, 1);
        ft_rt_fd_room(fd, in->pc);
    }
    if (in->result < 0 && in->error != EAGAIN && in->error != EINTR) ft_rt_fd_ready(fd, in->pc);
    return (ssize_t)ft_rt_input_end(in);
}

/* The call writes into a file that memory may share. */
#define INTO_FILE(fd, at, n, call)                                                                 \
    ({                                                                                             \
        ft_rt_file_write into = ft_rt_file_begin((fd), (at), (size_t)(n), CODE);                   \
        ssize_t put = (call);                                                                      \
        ft_rt_file_end(&into, put, CODE);                                                          \
        put;                                                                                       \
    })

#define WRITES_TO(call, type, name, parameters, arguments, fd, reads, n, out, modelled)            \
    type name parameters                                                                           \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (ft_rt_world_has(fd)) return modelled;                                                  \
        reads;                                                                                     \
        if (ft_rt_world_runs()) ft_rt_world_writes(fd, CODE);                                      \
        ft_rt_fd_moves(fd, CODE);                                                                  \
        if (!begin_write(&in, FT_INPUT_##call, fd, CODE))                                          \
            return (type)INTO_FILE(fd, -1, n, FT_REAL(name) arguments);                            \
        out;                                                                                       \
        bool full = may_wait(&in, fd, (size_t)(n));                                                \
        FT_RT_TELL(&in, fd, (type)(n), FT_REAL(name) arguments);                                   \
        return (type)end_write(&in, fd, full);                                                     \
    }
#define WRITES(call, name, parameters, arguments, fd, reads, n, modelled)                          \
    WRITES_TO(call, ssize_t, name, parameters, arguments, fd, reads, n, ft_rt_fd_out(fd, CODE),    \
              modelled)

static size_t read_pieces(const struct iovec *v, size_t n, const void *pc)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++) {
        ft_rt_read_outgoing(v[i].iov_base, v[i].iov_len, pc);
        all += v[i].iov_len;
    }
    return all;
}

/* One buffer of the program's. */
static struct iovec buffer(const void *from, size_t n)
{
    return (struct iovec){(void *)(uintptr_t)from, n};
}

WRITES(WRITE, write, (int fd, const void *from, size_t n), (fd, from, n), fd,
       ft_rt_read_outgoing(from, n, CODE), n, ft_rt_world_write(fd, from, n, CODE))
WRITES(SEND, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags), fd,
       ft_rt_read_outgoing(from, n, CODE), n,
       ft_rt_world_send(fd, (struct iovec[]){buffer(from, n)}, 1, flags, CODE))
WRITES_TO(SENDTO, ssize_t, sendto,
          (int fd, const void *from, size_t n, int flags, const struct sockaddr *a,
           socklen_t length),
          (fd, from, n, flags, a, length), fd, ft_rt_read_outgoing(from, n, CODE), n,
          ft_rt_sockets_to(fd, a, length, CODE),
          ft_rt_world_send_to(fd, (struct iovec[]){buffer(from, n)}, 1, flags, a, length, CODE))
WRITES(WRITEV, writev, (int fd, const struct iovec *v, int n), (fd, v, n), fd,
       size_t all = read_pieces(v, (size_t)n, CODE), all,
       ft_rt_world_send(fd, v, (size_t)n, 0, CODE))

static ssize_t sent(int fd, const struct msghdr *m, int flags, const void *pc)
{
    ft_rt_input in;
    if (ft_rt_world_has(fd)) return ft_rt_world_send_message(fd, m, flags, pc);
    size_t all = read_pieces(m->msg_iov, m->msg_iovlen, pc);
    if (!begin_write(&in, FT_INPUT_SENDMSG, fd, pc)) return FT_REAL(sendmsg)(fd, m, flags);
    struct msghdr message = *m;
    each_descriptor(&message, send_one, NULL);
    ft_rt_sockets_to(fd, m->msg_name, m->msg_namelen, pc);
    bool full = may_wait(&in, fd, all);
    FT_RT_TELL(&in, fd, (ssize_t)all, FT_REAL(sendmsg)(fd, m, flags));
    return end_write(&in, fd, full);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    return sent(fd, m, flags, CODE);
}

int sendmmsg(int fd, struct mmsghdr *all, unsigned n, int flags)
{
    if (!n || ((!ft_rt_self || ft_rt_self->inside) && !ft_rt_world_has(fd)))
        return FT_REAL(sendmmsg)(fd, all, n, flags);
    ssize_t put = sent(fd, &all->msg_hdr, flags, CODE);
    if (put >= 0) all->msg_len = (unsigned)put;
    return put < 0 ? -1 : 1;
}

WRITES_TO(EVENTFD_WRITE, int, eventfd_write, (int fd, eventfd_t value), (fd, value), fd, (void)0, 0,
          ft_rt_fd_out(fd, CODE), ft_rt_world_write(fd, &value, sizeof value, CODE) < 0 ? -1 : 0)

static void begin_write_at(int fd, const void *pc)
{
    if (ft_rt_world_runs()) ft_rt_world_writes(fd, pc);
    ft_rt_thread *self = ft_rt_enter_call(pc);
    if (!self) return;
    ft_rt_file_out(fd, pc);
    self->inside = false; /* the turn goes on until the write */
}

#define WRITES_AT(name, offset)                                                                    \
    ssize_t name(int fd, const void *from, size_t n, offset to)                                    \
    {                                                                                              \
        ft_rt_read_outgoing(from, n, CODE);                                                        \
        begin_write_at(fd, CODE);                                                                  \
        return INTO_FILE(fd, to, n, FT_REAL(name)(fd, from, n, to));                               \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

#define WRITES_PIECES_AT(name, offset)                                                             \
    ssize_t name(int fd, const struct iovec *v, int n, offset to)                                  \
    {                                                                                              \
        size_t all = read_pieces(v, (size_t)n, CODE);                                              \
        begin_write_at(fd, CODE);                                                                  \
        return INTO_FILE(fd, to, all, FT_REAL(name)(fd, v, n, to));                                \
    }
WRITES_PIECES_AT(pwritev, off_t)
WRITES_PIECES_AT(pwritev64, off64_t)

/* ---- moving content from one descriptor to another. Content is taken before it is put, so the
 * thread first waits until there is some. */

static void wait_for_content(ft_rt_input *in, int from)
{
    struct pollfd one = {.fd = from, .events = POLLIN};
    bool waits = !(FT_REAL(fcntl)(from, F_GETFL) & O_NONBLOCK);
    if (in->fed || !waits || !ft_rt_fd_may_sleep(from) || ft_rt_input_is_silent(from)) return;
    ft_rt_input_outside(in, true);
    FT_REAL(poll)(&one, 1, -1);
    ft_rt_input_did(in, 0);
}

/* keeps: what is moved stays in its source as well. */
static bool begin_move(ft_rt_input *in, int from, int to, bool keeps, const void *pc)
{
    if (!ft_rt_input_begin(in, FT_INPUT_MOVE, pc)) return false;
    wait_for_content(in, from);
    if (!keeps) ft_rt_fd_takes(from, pc);
    (keeps ? ft_rt_fd_ready : ft_rt_fd_in)(from, pc);
    ft_rt_fd_out(to, pc);
    if (!ft_rt_fd_is_virtual(to)) ft_rt_file_out(to, pc);
    return true;
}

#define MOVES(name, parameters, arguments, from, to, keeps, from_at, to_at)                        \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        if (ft_rt_world_has(from) || ft_rt_world_has(to))                                          \
            ft_rt_world_refuse(FT_RT_WORLD_MOVE, #name, CODE);                                     \
        if (!begin_move(&in, from, to, keeps, CODE)) return FT_REAL(name) arguments;               \
        bool real = in.fed && !ft_rt_fd_is_virtual(from) && !ft_rt_fd_is_virtual(to);              \
        if (!in.fed)                                                                               \
            FT_RT_LIVE(&in, FT_RT_SLEEPS, FT_REAL(name) arguments);                                \
        else if (real)                                                                             \
            FT_REAL(name) arguments;                                                               \
        ft_rt_input_piece(&in, from_at, from_at ? sizeof *from_at : 0);                            \
        ft_rt_input_piece(&in, to_at, to_at ? sizeof *to_at : 0);                                  \
        return (ssize_t)ft_rt_input_end(&in);                                                      \
    }
/* From memory into a pipe, or the other way: by its access mode. */
ssize_t vmsplice(int fd, const struct iovec *v, size_t n, unsigned flags)
{
    (void)flags; /* advice, but for SPLICE_F_NONBLOCK, which the pipe may have itself */
    bool in = (FT_REAL(fcntl)(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    return in ? readv(fd, v, (int)n) : writev(fd, v, (int)n);
}

/* Into this process's own memory: a write by the caller. */
ssize_t process_vm_writev(pid_t to, const struct iovec *from, unsigned long n,
                          const struct iovec *there, unsigned long m, unsigned long flags)
{
    bool own = ft_rt_process(to) == FT_REAL(getpid)();
    for (unsigned long i = 0; i < n; i++) ft_rt_read_range(from[i].iov_base, from[i].iov_len, CODE);
    for (unsigned long i = 0; i < m && own; i++)
        ft_rt_write_range(there[i].iov_base, there[i].iov_len, CODE);
    ft_rt_thread *self = own ? NULL : ft_rt_enter();
    if (self) {
        ft_rt_unknown_out(CODE);
        self->inside = false;
    }
    return FT_REAL(process_vm_writev)(ft_rt_process(to), from, n, there, m, flags);
}

static off64_t *const nowhere;
MOVES(sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n), from, to, false, at,
      nowhere)
MOVES(sendfile64, (int to, int from, off64_t *at, size_t n), (to, from, at, n), from, to, false, at,
      nowhere)
MOVES(splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
      (from, from_at, to, to_at, n, flags), from, to, false, from_at, to_at)
MOVES(tee, (int from, int to, size_t n, unsigned flags), (from, to, n, flags), from, to, true,
      nowhere, nowhere)
MOVES(copy_file_range,
      (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
      (from, from_at, to, to_at, n, flags), from, to, false, from_at, to_at)

/* Memory may share the file, and other threads may look at its size. */
#define SIZES(name, parameters, arguments, fd)                                                     \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_memory_may_go();                                                                     \
        begin_write_at(fd, CODE);                                                                  \
        return FT_REAL(name) arguments;                                                            \
    }
SIZES(ftruncate, (int fd, off_t size), (fd, size), fd)
SIZES(ftruncate64, (int fd, off64_t size), (fd, size), fd)
SIZES(fallocate, (int fd, int mode, off_t from, off_t size), (fd, mode, from, size), fd)
SIZES(fallocate64, (int fd, int mode, off64_t from, off64_t size), (fd, mode, from, size), fd)

/* ---- waiting for descriptors */

/* The first of those for which that holds, -1: none. */
static int any_of(const struct pollfd *fds, nfds_t n, bool (*holds)(int fd))
{
    for (nfds_t i = 0; i < n; i++)
        if (holds(fds[i].fd)) return fds[i].fd;
    return -1;
}

/* After a schedule's end, with descriptors of both kinds: the recording answers for virtual ones,
 * the real ones answer themselves. */
static bool is_of_both(const ft_rt_input *in, const struct pollfd *fds, nfds_t n)
{
    return in->fed && ft_rt_feed_is_behind() && any_of(fds, n, ft_rt_input_is_silent) >= 0 &&
           any_of(fds, n, ft_rt_fd_is_mirrored) >= 0;
}

static bool is_answer(const ft_rt_input *in)
{
    struct pollfd one;
    bool none = in->result <= 0; /* its time was up */
    for (size_t i = 0; !none && (i + 1) * sizeof one <= in->left; i++) {
        memcpy(&one, in->content + i * sizeof one, sizeof one);
        if (one.revents && !ft_rt_fd_is_mirrored(one.fd)) return true;
    }
    return none;
}

/* One of those that answer. */
static int choose_answer(ft_rt_input *in, struct pollfd *fds, nfds_t n)
{
    while (is_of_both(in, fds, n) && !is_answer(in)) {
        if (ft_rt_mirror_poll(fds, n, 0) > 0)
            ft_rt_mirror_answers(in);
        else
            ft_rt_input_ask(in);
    }
    int silent = any_of(fds, n, ft_rt_input_is_silent),
        mirrored = any_of(fds, n, ft_rt_fd_is_mirrored);
    return mirrored < 0 || (silent >= 0 && in->fed) ? silent : mirrored;
}

static int real_poll(struct pollfd *fds, nfds_t n, int ms)
{
    bool some = any_of(fds, n, ft_rt_input_is_silent) >= 0;
    return some ? ft_rt_mirror_poll(fds, n, ms) : FT_REAL(poll)(fds, n, ms);
}

static int real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
                      int ms)
{
    bool some = any_of(fds, n, ft_rt_input_is_silent) >= 0;
    return some ? ft_rt_mirror_poll(fds, n, ms) : FT_REAL(ppoll)(fds, n, t, mask);
}

enum { CAN_BE_TAKEN = POLLIN | POLLPRI | POLLRDNORM | POLLRDHUP | POLLHUP | POLLERR };

static void found(int fd, bool ready, const void *pc)
{
    if (ft_rt_fd_kind(fd) == FT_RT_FD_EPOLL && ready)
        ft_rt_epoll_ready(fd, NULL, pc);
    else
        (ready ? ft_rt_fd_ready : ft_rt_fd_empty)(fd, pc);
}

/* As the system said it: in the program's memory already, or not yet. */
static struct pollfd said(const ft_rt_input *in, const struct pollfd *fds, nfds_t i)
{
    struct pollfd one = fds[i];
    if (in->fed && (i + 1) * sizeof one <= in->left)
        memcpy(&one, in->content + i * sizeof one, sizeof one);
    return one;
}

static int leave_out_mirrored(struct pollfd *fds, nfds_t n)
{
    int left = 0;
    for (nfds_t i = 0; i < n; i++) {
        if (ft_rt_fd_is_mirrored(fds[i].fd)) fds[i].revents = 0;
        left += fds[i].revents != 0;
    }
    return left;
}

static int polled(ft_rt_input *in, struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n && in->result >= 0; i++) {
        struct pollfd one = said(in, fds, i);
        bool ready = one.revents & CAN_BE_TAKEN;
        if (ready || one.events & CAN_BE_TAKEN) found(one.fd, ready, in->pc);
        if (one.revents & POLLOUT) ft_rt_fd_room(one.fd, in->pc);
    }
    bool both = is_of_both(in, fds, n);
    ft_rt_input_piece(in, fds, n * sizeof *fds);
    if (both) in->result = leave_out_mirrored(fds, n);
    return (int)ft_rt_input_end(in);
}

/* How long to wait, if nothing is ready now. */
static int limit_of(ft_rt_input *in, struct pollfd *fds, nfds_t n, int ms)
{
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].fd >= 0 && !ft_rt_fd_is_own(fds[i].fd)) return ms;
    bool idle = ms > 0 && !in->fed && FT_REAL(poll)(fds, n, 0) == 0;
    return idle && ft_rt_input_passes(in, ms) ? 0 : ms;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
    ft_rt_input in;
    if (ft_rt_world_has_any(fds, n)) return ft_rt_world_poll(fds, n, ms, CODE);
    ft_rt_world_sleeps("poll", ms, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_POLL, CODE)) return FT_REAL(poll)(fds, n, ms);
    int one = choose_answer(&in, fds, n);
    ms = limit_of(&in, fds, n, ms);
    FT_RT_ASK(&in, one, ms, real_poll(fds, n, ms));
    return polled(&in, fds, n);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
    ft_rt_input in;
    int ms = t ? (int)(t->tv_sec * 1000 + t->tv_nsec / 1000000) : -1;
    if (ft_rt_world_has_any(fds, n)) return ft_rt_world_poll(fds, n, ms, CODE);
    ft_rt_world_sleeps("ppoll", ms, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_POLL, CODE)) return FT_REAL(ppoll)(fds, n, t, mask);
    static const struct timespec none = {.tv_sec = 0};
    int one = choose_answer(&in, fds, n);
    if (!limit_of(&in, fds, n, ms)) t = &none;
    FT_RT_ASK(&in, one, ms, real_ppoll(fds, n, t, mask, ms));
    return polled(&in, fds, n);
}

/* Of sets with descriptors of both kinds the recording says all as long as it fits; then those say
 * it that are there. */
static int any_in_sets(const ft_rt_input *in, int n, fd_set *r, fd_set *w, fd_set *e)
{
    fd_set *sets[] = {r, w, e};
    int any = -1;
    for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
        for (int i = 0; i < 3; i++) {
            if (!sets[i] || !FD_ISSET(fd, sets[i]) || !ft_rt_fd_is_virtual(fd)) continue;
            if (in->fed != ft_rt_fd_is_mirrored(fd)) return fd;
            any = fd;
        }
    return any;
}

static void leave_out_silent(int n, fd_set *set)
{
    for (int fd = 0; set && fd < n && fd < FD_SETSIZE; fd++)
        if (FD_ISSET(fd, set) && ft_rt_input_is_silent(fd)) FD_CLR(fd, set);
}

static int real_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
    fd_set *sets[] = {r, w, e};
    for (int i = 0; i < 3 && ft_rt_feeding; i++) leave_out_silent(n, sets[i]);
    return FT_REAL(select)(n, r, w, e, t);
}

static size_t set_size(int n)
{
    return (size_t)(n + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
}

/* Which of those that were asked for can be read. */
static void find_readable(const ft_rt_input *in, int n, const fd_set *asked, const fd_set *r)
{
    fd_set got;
    size_t size = set_size(n);
    if (!r || in->result < 0 || size > sizeof got) return;
    bool given = in->fed && size <= in->left;
    memcpy(&got, given ? (const void *)in->content : r, size);
    for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
        if (FD_ISSET(fd, asked)) found(fd, FD_ISSET(fd, &got), in->pc);
}

static void take_sets(ft_rt_input *in, int n, fd_set *r, fd_set *w, fd_set *e)
{
    size_t size = set_size(n);
    if (in->result < 0) return;
    ft_rt_input_piece(in, r, r ? size : 0);
    ft_rt_input_piece(in, w, w ? size : 0);
    ft_rt_input_piece(in, e, e ? size : 0);
}

static void keep_asked(fd_set *asked, int n, const fd_set *r)
{
    FD_ZERO(asked);
    if (r && set_size(n) <= sizeof *asked) memcpy(asked, r, set_size(n));
}

/* Nothing is ready now, and the limit passes before another thread goes on. */
static bool passes_in_sets(ft_rt_input *in, int n, const fd_set *r, const fd_set *w,
                           const fd_set *e, int ms)
{
    const fd_set *asked[] = {r, w, e};
    fd_set sets[3];
    struct timeval now = {.tv_sec = 0};
    if (ms <= 0 || in->fed || n < 0 || set_size(n) > sizeof *sets) return false;
    for (int fd = 0; fd < n; fd++)
        for (int i = 0; i < 3; i++)
            if (asked[i] && FD_ISSET(fd, asked[i]) && !ft_rt_fd_is_own(fd)) return false;
    for (int i = 0; i < 3; i++)
        if (asked[i]) memcpy(&sets[i], asked[i], set_size(n));
    int ready =
        FT_REAL(select)(n, r ? &sets[0] : NULL, w ? &sets[1] : NULL, e ? &sets[2] : NULL, &now);
    return ready == 0 && ft_rt_input_passes(in, ms);
}

int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
    ft_rt_input in;
    fd_set asked;
    int ms = t ? (int)(t->tv_sec * 1000 + t->tv_usec / 1000) : -1;
    if (ft_rt_world_has_sets(n, r, w, e)) return ft_rt_world_select(n, r, w, e, ms, CODE);
    ft_rt_world_sleeps("select", ms, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_SELECT, CODE)) return FT_REAL(select)(n, r, w, e, t);
    keep_asked(&asked, n, r);
    int one = any_in_sets(&in, n, r, w, e);
    if (passes_in_sets(&in, n, r, w, e, ms)) *t = (struct timeval){.tv_sec = 0};
    FT_RT_ASK(&in, one, ms, real_select(n, r, w, e, t));
    find_readable(&in, n, &asked, r);
    take_sets(&in, n, r, w, e);
    ft_rt_input_piece(&in, t, t ? sizeof *t : 0);
    return (int)ft_rt_input_end(&in);
}

int pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask)
{
    ft_rt_input in;
    fd_set asked;
    int ms = t ? (int)(t->tv_sec * 1000 + t->tv_nsec / 1000000) : -1;
    if (ft_rt_world_has_sets(n, r, w, e)) return ft_rt_world_select(n, r, w, e, ms, CODE);
    ft_rt_world_sleeps("pselect", ms, CODE);
    if (!ft_rt_input_begin(&in, FT_INPUT_SELECT, CODE))
        return FT_REAL(pselect)(n, r, w, e, t, mask);
    keep_asked(&asked, n, r);
    int one = any_in_sets(&in, n, r, w, e);
    static const struct timespec none = {.tv_sec = 0};
    if (passes_in_sets(&in, n, r, w, e, ms)) t = &none;
    FT_RT_ASK(&in, one, ms, FT_REAL(pselect)(n, r, w, e, t, mask));
    find_readable(&in, n, &asked, r);
    take_sets(&in, n, r, w, e);
    return (int)ft_rt_input_end(&in);
}

/* ---- locks on files, of one open file or another: threads have none of each other's by fcntl's
 * other commands */

static bool waits(int operation)
{
    return !(operation & LOCK_NB) && (operation & ~LOCK_NB) != LOCK_UN;
}

int flock(int fd, int operation)
{
    ft_rt_world_refuse(FT_RT_WORLD_KERNEL, "flock", CODE);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(flock)(fd, operation);
    bool given = (operation & ~LOCK_NB) == LOCK_UN;
    if (given) ft_rt_fd_locked(fd, false, CODE);
    if (waits(operation)) ft_rt_outside(self);
    int result = FT_REAL(flock)(fd, operation), error = errno;
    if (!self->inside) ft_rt_enter();
    if (!given && !result) ft_rt_fd_locked(fd, true, CODE);
    ft_rt_leave(self);
    errno = error;
    return result;
}

int lockf(int fd, int command, off_t size)
{
    ft_rt_fd_keeps_locks();
    return FT_REAL(lockf)(fd, command, size);
}

int lockf64(int fd, int command, off64_t size)
{
    ft_rt_fd_keeps_locks();
    return FT_REAL(lockf64)(fd, command, size);
}

/* ---- calls that only sleep, and processes: these are not fed, the children are real */

#define SLEEPS(result, name, parameters, arguments)                                                \
    result name parameters                                                                         \
    {                                                                                              \
        ft_rt_world_refuse(FT_RT_WORLD_KERNEL, #name, CODE);                                       \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        if (self) ft_rt_outside(self);                                                             \
        return FT_REAL(name) arguments;                                                            \
    }
SLEEPS(int, pause, (void), ())

int sigsuspend(const sigset_t *mask)
{
    FT_RT_EXPLORED(ft_rt_world_suspend(mask, CODE));
    ft_rt_thread *self = ft_rt_enter_call(CODE);
    if (self) ft_rt_outside(self);
    return FT_REAL(sigsuspend)(mask);
}

/* The status of a child is written by the thread that waited for it, once that goes on. Until then
 * the system's result lies in `ours`. */
#define WAITS(result, name, parameters, arguments, type, to, good)                                 \
    result name parameters                                                                         \
    {                                                                                              \
        type ours = {0};                                                                           \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        if (self) ft_rt_outside(self);                                                             \
        result got = FT_REAL(name) arguments;                                                      \
        int error = errno;                                                                         \
        if (self && (good) && ft_rt_enter()) {                                                     \
            ft_rt_unknown_in(CODE);                                                                \
            ft_rt_leave(self);                                                                     \
        }                                                                                          \
        if ((good) && (to)) {                                                                      \
            ft_rt_write_range((to), sizeof *(to), CODE);                                           \
            *(to) = ours;                                                                          \
        }                                                                                          \
        errno = error;                                                                             \
        return got;                                                                                \
    }
WAITS(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, &ours, options), int, status,
      got > 0)
WAITS(pid_t, wait, (int *status), (&ours), int, status, got > 0)
WAITS(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),
      (type, id, info ? &ours : NULL, options), siginfo_t, info, !got)

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    pid_t child = waitpid(pid, status, options);
    if (child > 0 && usage) {
        struct rusage ours;
        FT_REAL(getrusage)(RUSAGE_CHILDREN, &ours); /* of all children, at least as much */
        ft_rt_write_range(usage, sizeof *usage, CODE);
        *usage = ours;
    }
    return child;
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

int sched_yield(void)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(sched_yield)();
    ft_rt_yield(self);
    ft_rt_leave(self);
    return 0;
}
