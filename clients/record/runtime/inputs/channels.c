/* Descriptors by number, and the order that their use gives to threads. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "inputs/needs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "raw/raw.h"
#include "replay/needs.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

enum { DESCRIPTORS = 1 << 16, CHAIN = 1 };
#define NUMBER_BIT (1ull << 61) /* channels of numbers; no other has it, nor bits 60 and 62 */
#define EMPTY_BIT  (1ull << 59) /* from a reader that found it empty to later writers */
#define LOCK_BIT   (1ull << 56) /* from the previous holder of a file's lock to the next */
#define FILE_BIT   (1ull << 55) /* the content of a file, by its number on the disk */
#define NAME_BIT   (1ull << 54) /* a name in a directory */
#define CHILDREN   (FT_RAW_CHANNEL_TAKEN | NAME_BIT) /* processes: they make and change files */
#define FILES      (FT_RAW_CHANNEL_TAKEN | FILE_BIT | NAME_BIT) /* all changes of files */
#define ROOM_BIT   (1ull << 57) /* from a reader that made room to the writer that waited for it */

typedef struct descriptor {
    uint64_t in, out; /* even: channels that reads take from and writes put into */
    uint64_t end;     /* even; the odd number after it orders the readers */
    uint64_t put;     /* bytes, ever */
    ft_rt_fd kind;
    bool mirrored, mixed;
    bool escaped; /* to another process, or to a descriptor that is not known */
    bool locks;   /* the file, or did: closing it may give that up */
} descriptor;

static struct {
    descriptor *known;
    uint64_t channels; /* so many were made */
    int end;           /* above the highest known number */
} fds;

static descriptor *at(int fd)
{
    if (fd < 0 || fd >= DESCRIPTORS) return NULL;
    if (!fds.known) fds.known = ft_rt_map(DESCRIPTORS * sizeof *fds.known);
    return &fds.known[fd];
}

ft_rt_fd ft_rt_fd_kind(int fd)
{
    const descriptor *d = at(fd);
    return d ? d->kind : FT_RT_FD_UNKNOWN;
}

bool ft_rt_fd_is_mirrored(int fd)
{
    const descriptor *d = at(fd);
    return d && d->mirrored;
}

bool ft_rt_fd_is_mixed(int fd)
{
    const descriptor *d = at(fd);
    return d && d->mixed;
}

void ft_rt_fd_mirror(int fd, bool there)
{
    if (at(fd)) at(fd)->mirrored = there;
}

void ft_rt_fd_mix(int fd)
{
    if (at(fd)) at(fd)->mixed = true;
}

bool ft_rt_fd_may_sleep(int fd)
{
    return ft_rt_fd_kind(fd) != FT_RT_FD_FILE;
}

bool ft_rt_fd_is_own(int fd)
{
    const descriptor *d = at(fd);
    return d && (d->kind == FT_RT_FD_PIPE || d->kind == FT_RT_FD_EVENT) && !d->escaped;
}

uint64_t ft_rt_fd_new_channel(void)
{
    assert(fds.channels < LOCK_BIT / 2 - 1); /* the bits above tell kinds of channels apart */
    return ++fds.channels * 2;
}

void ft_rt_fd_set(int fd, ft_rt_fd kind)
{
    descriptor *d = at(fd);
    if (!d) return;
    FT_REQUIRE(kind <= FT_RT_FD_SIGNAL);
    uint64_t own = ft_rt_fd_new_channel();
    if (kind >= FT_RT_FD_PIPE) ft_rt_feed_virtual();
    *d = (descriptor){.kind = kind, .in = own, .out = own, .end = own};
    if (fd >= fds.end) fds.end = fd + 1;
}

void ft_rt_fd_join(int fd, uint64_t in, uint64_t out)
{
    descriptor *d = at(fd);
    if (!d) return;
    if (in) d->in = in;
    if (out) d->out = out;
}

bool ft_rt_fd_is_joined(int fd)
{
    const descriptor *d = at(fd);
    return !d || d->in != d->end || d->out != d->end;
}

void ft_rt_fd_copy(int from, int to)
{
    const descriptor *d = at(from);
    descriptor *copy = at(to);
    if (copy) *copy = d ? *d : (descriptor){.kind = FT_RT_FD_UNKNOWN};
    if (copy && to >= fds.end) fds.end = to + 1;
}

static bool is_file(int fd);

void ft_rt_fd_close(int fd, const void *pc)
{
    descriptor *d = at(fd);
    if (!d) return;
    bool ends = d->kind == FT_RT_FD_PIPE || d->kind == FT_RT_FD_SOCKET;
    if (ends || ft_rt_fd_is_unknown(fd)) ft_rt_fd_out(fd, pc);
    if (is_file(fd)) ft_rt_file_changes(pc);
    if (d->locks) ft_rt_fd_locked(fd, false, pc);
    ft_rt_fd_freed(fd, pc);
    *d = (descriptor){.kind = FT_RT_FD_UNKNOWN};
}

/* ---- order between threads */

enum { IN = FT_RAW_CHANNEL_IN, OUT = FT_RAW_CHANNEL_OUT, PUT = FT_RAW_CHANNEL_PUT };

void ft_rt_signal_channel(int number, bool in, const void *pc)
{
    uint64_t flag = in ? FT_RAW_CHANNEL_IN : FT_RAW_CHANNEL_OUT, site = ft_rt_site(pc);
    FT_RT_LOG(CHANNEL, flag, FT_RAW_CHANNEL_SIGNAL | (uint64_t)(unsigned)number, site);
    if (in && (number == SIGCHLD || number == SIGIO)) ft_rt_unknown_in(pc);
}

/* All signals that were taken before decide which thread takes which signal. */
void ft_rt_signal_taken(int number, const void *pc)
{
    uint64_t site = ft_rt_site(pc);
    ft_rt_signal_channel(number, true, pc);
    FT_RT_LOG(CHANNEL, IN | OUT, FT_RAW_CHANNEL_SIGNAL, site);
}

void ft_rt_channel(uint64_t channel, uint32_t flags, const void *pc)
{
    if (!channel) return;
    FT_REQUIRE(flags && !(flags & ~(uint32_t)(IN | OUT | PUT)));
    bool ordered = !(channel & FT_RAW_CHANNEL_TAKEN); /* fed inputs are ordered by thread already */
    if (ordered && ft_rt_feed_records()) channel = ft_rt_feed_channel(ft_rt_self, channel, flags);
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(CHANNEL, flags, channel, site);
}

/* ---- what is not known: all of it is one channel */

void ft_rt_unknown_out(const void *pc)
{
    ft_rt_channel(FT_RAW_CHANNEL_UNKNOWN, OUT | PUT, pc);
}

void ft_rt_unknown_in(const void *pc)
{
    ft_rt_channel(FT_RAW_CHANNEL_UNKNOWN, IN, pc);
    ft_rt_channel(FILES, IN, pc); /* another process may have read one */
}

/* /dev/null, /dev/zero, /dev/full, /dev/random and the like */
static bool is_memory_device(const struct stat *file)
{
    enum { MEMORY_DEVICES = 1 };
    return S_ISCHR(file->st_mode) && major(file->st_rdev) == MEMORY_DEVICES;
}

bool ft_rt_fd_is_unknown(int fd)
{
    struct stat file;
    int error = errno;
    bool none = fd < 0 || ft_rt_fd_kind(fd) != FT_RT_FD_UNKNOWN || FT_REAL(fstat)(fd, &file);
    errno = error;
    if (none) return false;
    return !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode) && !is_memory_device(&file);
}

void ft_rt_child_begins(const void *pc)
{
    ft_rt_unknown_out(pc);
    ft_rt_channel(CHILDREN, OUT | PUT, pc);
}

void ft_rt_fd_escape(int fd)
{
    if (ft_rt_fd_is_virtual(fd)) at(fd)->escaped = true;
}

void ft_rt_fd_escape_all(void)
{
    for (int fd = 0; fd < fds.end; fd++) ft_rt_fd_escape(fd);
}

void ft_rt_fd_begin(void)
{
    enum { STANDARD_AND_MORE = 256 };
    struct pollfd all[STANDARD_AND_MORE];
    for (int fd = 0; fd < STANDARD_AND_MORE; fd++) all[fd] = (struct pollfd){.fd = fd};
    if (FT_REAL(poll)(all, STANDARD_AND_MORE, 0) < 0) return;
    for (int fd = 0; fd < STANDARD_AND_MORE; fd++)
        if (!(all[fd].revents & POLLNVAL)) at(fd)->kind = FT_RT_FD_OUTSIDE;
}

/* ---- descriptors in messages: who sends them is known if it is this process */

enum { SENT = 256 };
static struct {
    descriptor all[SENT];
    uint32_t types[SENT]; /* S_IFMT */
    uint32_t n;
} sent;

static uint32_t type_of(int fd)
{
    struct stat file;
    return FT_REAL(fstat)(fd, &file) ? 0 : file.st_mode & S_IFMT;
}

void ft_rt_fd_send(int fd)
{
    ft_rt_fd_escape(fd);
    if (!at(fd) || sent.n == SENT) return;
    sent.types[sent.n] = type_of(fd);
    sent.all[sent.n++] = *at(fd);
}

void ft_rt_fd_receive(ft_rt_input *in, int fd)
{
    uint32_t i = 0, type = in->fed ? 0 : type_of(fd);
    while (!in->fed && i < sent.n && sent.types[i] != type) i++;
    bool own = !in->fed && i < sent.n;
    uint64_t kind = ft_rt_input_number(in, own ? sent.all[i].kind : FT_RT_FD_UNKNOWN);
    ft_rt_fd_made(in, fd, -1);
    ft_rt_fd_set(fd, (ft_rt_fd)kind);
    ft_rt_fd_escape(fd);
    if (!own) return;
    ft_rt_fd_join(fd, sent.all[i].in, sent.all[i].out);
    at(fd)->end = sent.all[i].end;
    for (sent.n--; i < sent.n; i++) {
        sent.all[i] = sent.all[i + 1];
        sent.types[i] = sent.types[i + 1];
    }
}

/* ---- files: in a replay they may have other numbers, so a step is made whether they are there or
 * not */

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return ((a ^ b << 32) * UINT64_C(0x9E3779B97F4A7C15) >> 12) & ~UINT64_C(1);
}

static uint64_t content_of(int fd)
{
    struct stat file;
    int error = errno;
    uint64_t own = FT_REAL(fstat)(fd, &file) ? 0 : mixed(file.st_ino, file.st_dev);
    errno = error;
    return FT_RAW_CHANNEL_TAKEN | FILE_BIT | own;
}

void ft_rt_file_out(int fd, const void *pc)
{
    ft_rt_channel(content_of(fd), OUT | PUT, pc);
    ft_rt_file_changes(pc);
}

void ft_rt_file_in(int fd, const void *pc)
{
    ft_rt_channel(content_of(fd), IN, pc);
    ft_rt_channel(CHILDREN, IN, pc);
}

void ft_rt_file_changes(const void *pc)
{
    ft_rt_channel(FILES, OUT | PUT, pc);
}

/* Directories may have several names, so the last part of the path is the name. */
static uint64_t channel_of_name(const char *path)
{
    uint64_t own = 0;
    for (const char *c = path; c && *c; c++) own = *c == '/' ? 0 : mixed(own + 2, (uint64_t)*c);
    return FT_RAW_CHANNEL_TAKEN | NAME_BIT | (own & (NAME_BIT - 1));
}

void ft_rt_name_out(const char *path, const void *pc)
{
    ft_rt_channel(channel_of_name(path), OUT | PUT, pc);
    ft_rt_file_changes(pc);
}

void ft_rt_name_in(const char *path, const void *pc)
{
    ft_rt_channel(channel_of_name(path), IN, pc);
    ft_rt_channel(CHILDREN, IN, pc);
}

void ft_rt_names_in(const void *pc)
{
    ft_rt_channel(FILES, IN, pc);
    ft_rt_channel(CHILDREN, IN, pc);
}

static void follow_unknown(int fd, const descriptor *d, bool in, const void *pc)
{
    if (in && d && d->kind == FT_RT_FD_WATCH) ft_rt_channel(FILES, IN, pc);
    if (!(d && d->escaped) && !ft_rt_fd_is_unknown(fd)) return;
    (in ? ft_rt_unknown_in : ft_rt_unknown_out)(pc);
}

/* Content comes out of a pipe in the order in which it went in, so the calls keep their order. The
 * first reader of an event descriptor takes the whole count; the order of its writers does not
 * matter. */
static void follow_reader(const descriptor *d, const void *pc)
{
    assert(d->end && !(d->end & CHAIN)); /* the odd number belongs to no other descriptor */
    ft_rt_channel(d->end + CHAIN, IN | OUT, pc);
}

/* All users of a descriptor share its position in the file, also of one that was open before the
 * program. */
static void follow_place(int fd, const descriptor *d, uint32_t put, const void *pc)
{
    uint64_t number = (uint64_t)(unsigned)fd * 2 + CHAIN, own = d && d->end ? d->end : number;
    ft_rt_channel(FT_RAW_CHANNEL_TAKEN | own, IN | OUT | put, pc);
}

static bool is_file(int fd)
{
    struct stat file;
    ft_rt_fd kind = ft_rt_fd_kind(fd);
    if (kind == FT_RT_FD_FILE) return true;
    return kind < FT_RT_FD_FILE && !FT_REAL(fstat)(fd, &file) && S_ISREG(file.st_mode);
}

void ft_rt_fd_sought(int fd, const void *pc)
{
    if (is_file(fd)) follow_place(fd, at(fd), 0, pc);
}

/* This step alone does not order threads: no thread may ever look at the position. */
void ft_rt_fd_moves(int fd, const void *pc)
{
    ft_rt_thread *self = is_file(fd) ? ft_rt_enter() : NULL;
    if (!self) return;
    follow_place(fd, at(fd), PUT, pc);
    ft_rt_file_out(fd, pc);
    self->inside = false; /* the turn goes on until the write */
}

static bool is_stream(const descriptor *d)
{
    return d && (d->kind == FT_RT_FD_PIPE || d->kind == FT_RT_FD_SOCKET);
}

void ft_rt_fd_in(int fd, const void *pc)
{
    ft_rt_sockets_settle(fd);
    const descriptor *d = at(fd);
    follow_unknown(fd, d, true, pc);
    if (!d || d->kind < FT_RT_FD_PIPE) {
        follow_place(fd, d, 0, pc);
        if (is_file(fd)) ft_rt_file_in(fd, pc);
        return;
    }
    ft_rt_channel(d->in, IN, pc);
    follow_reader(d, pc);
}

void ft_rt_fd_takes(int fd, const void *pc)
{
    ft_rt_sockets_settle(fd);
    const descriptor *d = at(fd);
    if (is_stream(d)) ft_rt_channel(FT_RAW_CHANNEL_TAKEN | ROOM_BIT | d->in, OUT | PUT, pc);
}

void ft_rt_fd_ready(int fd, const void *pc)
{
    ft_rt_sockets_settle(fd);
    const descriptor *d = at(fd);
    follow_unknown(fd, d, true, pc);
    if (d && d->kind == FT_RT_FD_UNKNOWN && !ft_rt_fd_is_unknown(fd)) ft_rt_unknown_in(pc);
    if (is_stream(d) || (d && d->kind == FT_RT_FD_EVENT)) ft_rt_channel(d->in, IN, pc);
}

void ft_rt_fd_empty(int fd, const void *pc)
{
    ft_rt_sockets_settle(fd);
    const descriptor *d = at(fd);
    bool event = d && d->kind == FT_RT_FD_EVENT;
    if (d && d->kind == FT_RT_FD_WATCH) return;
    if (!event && !is_stream(d)) return;
    if (event)
        ft_rt_channel(d->in | EMPTY_BIT, OUT, pc);
    else
        ft_rt_channel(d->in, IN | OUT, pc);
    follow_reader(d, pc);
}

void ft_rt_fd_took(const ft_rt_input *in, int fd)
{
    bool none = in->result < 0;
    if (none && in->error == EINTR) return;
    (none && in->error == EAGAIN ? ft_rt_fd_empty : ft_rt_fd_in)(fd, in->pc);
}

/* A thread that got an event of a descriptor that the epoll set no longer watches gets it earlier
 * in every order. */
void ft_rt_fd_last(int fd, const void *pc)
{
    const descriptor *d = at(fd);
    if (d && d->kind == FT_RT_FD_EPOLL) follow_reader(d, pc);
}

/* A thread that has taken content before the end does so before it in every order. */
void ft_rt_fd_ends(int fd, const void *pc)
{
    ft_rt_sockets_settle(fd);
    const descriptor *d = at(fd);
    if (!is_stream(d)) return;
    ft_rt_channel(d->in, IN | OUT | PUT, pc);
    follow_reader(d, pc);
}

void ft_rt_fd_out(int fd, const void *pc)
{
    ft_rt_sockets_settle(fd);
    const descriptor *d = at(fd);
    follow_unknown(fd, d, false, pc);
    if (!d || d->kind < FT_RT_FD_PIPE) return;
    if (d->kind == FT_RT_FD_EVENT) ft_rt_channel(d->out | EMPTY_BIT, IN, pc);
    ft_rt_channel(d->out, is_stream(d) ? IN | OUT | PUT : OUT, pc);
}

void ft_rt_fd_locked(int fd, bool taken, const void *pc)
{
    struct stat file;
    if (FT_REAL(fstat)(fd, &file)) return;
    if (at(fd)) at(fd)->locks = true;
    uint64_t which = (file.st_ino * 0x9E3779B1u ^ file.st_dev) & (LOCK_BIT - 1);
    ft_rt_channel(FT_RAW_CHANNEL_TAKEN | LOCK_BIT | which, taken ? IN : OUT | PUT, pc);
}

/* May the content so far exceed the room? LEAST bytes always fit; a pipe has room for at least half
 * of the size that it reports. */
bool ft_rt_fd_fills(int fd, size_t size)
{
    enum { LEAST = 1 << 14 };
    descriptor *d = at(fd);
    if (!is_stream(d)) return false;
    int room = FT_REAL(fcntl)(fd, F_GETPIPE_SZ) / 2;
    d->put += size;
    return d->put > (room > 0 && room < LEAST ? (uint64_t)room : LEAST);
}

void ft_rt_fd_room(int fd, const void *pc)
{
    const descriptor *d = at(fd);
    if (is_stream(d)) ft_rt_channel(FT_RAW_CHANNEL_TAKEN | ROOM_BIT | d->out, IN, pc);
}

/* ---- numbers; fed descriptors get those of the recording */

/* A number is given again once it is closed, so data that the program keeps by number changes
 * owners. */
static void order_number(int number, bool made, const void *pc)
{
    ft_rt_channel(NUMBER_BIT | (uint64_t)(unsigned)number << 1, made ? IN : OUT, pc);
}

/* The system gives the least free number. A number that another thread has closed a moment ago
 * would order all earlier steps of that thread before this one's, for no reason in the program. So
 * each thread reuses numbers that it closed itself, not far above (a program may have a small table
 * by number). With an odd seed all threads share the numbers, as without the recorder, so that data
 * kept by number is used by one thread after another. */
enum { STANDARD = 3, FAR = 24, NUMBERS = 1 << 10 };

static struct {
    uint32_t closer[NUMBERS]; /* the thread that closed it last, counted from 1; 0: none */
    bool never;               /* closing a copy would give up a lock by fcntl on that file */
} numbers;

static bool is_others(int number)
{
    assert(ft_rt_self && number >= 0);
    uint32_t closer = number < NUMBERS ? numbers.closer[number] : 0;
    return closer && closer != ft_rt_self->id + 1;
}

void ft_rt_fd_keeps_locks(void)
{
    numbers.never = true;
}

void ft_rt_fd_inherit(uint32_t from, uint32_t to)
{
    FT_REQUIRE(from != to && from < FT_RT_THREADS && to < FT_RT_THREADS);
    for (int i = 0; i < NUMBERS; i++)
        if (numbers.closer[i] == from + 1) numbers.closer[i] = to + 1;
}

int ft_rt_fd_apart(int fd)
{
    if (fd < STANDARD || !is_others(fd) || numbers.never || ft_rt_header->seed % 2) return fd;
    int error = errno, found = fd, end = fd + FAR < NUMBERS ? fd + FAR : NUMBERS;
    bool closes = FT_REAL(fcntl)(fd, F_GETFD) & FD_CLOEXEC;
    for (int least = fd + 1; least < end && found == fd; least++) {
        if (is_others(least)) continue;
        int copy = FT_REAL(fcntl)(fd, closes ? F_DUPFD_CLOEXEC : F_DUPFD, least);
        if (copy < 0) break;
        bool good = copy < end && !is_others(copy);
        FT_REAL(close)(good ? fd : copy);
        if (good) found = copy;
        least = copy;
    }
    errno = error;
    return found;
}

enum { INHERITED = 1 << 10, ASIDE = 600 };
static bool inherited[INHERITED]; /* by number: open since before the program began */

void ft_rt_fd_start(void)
{
    for (int fd = 0; fd < INHERITED; fd++)
        inherited[fd] = fd != ft_rt_out.fd && FT_REAL(fcntl)(fd, F_GETFD) >= 0;
}

/* If the recorded program got that number, it had not inherited it, or had closed it. */
static bool is_free(int number)
{
    bool ours = number >= 0 && number < INHERITED && inherited[number];
    return ours || FT_REAL(fcntl)(number, F_GETFD) < 0;
}

/* Real descriptors are opened before the order of numbers lets the thread go on; until then another
 * thread may want the number. */
int ft_rt_fd_step_aside(int real)
{
    bool closes = FT_REAL(fcntl)(real, F_GETFD) & FD_CLOEXEC;
    int aside = FT_REAL(fcntl)(real, closes ? F_DUPFD_CLOEXEC : F_DUPFD, ASIDE);
    if (aside < 0) return real;
    FT_REAL(close)(real);
    return aside;
}

static int move(ft_rt_input *in, int real, int number)
{
    bool closes = FT_REAL(fcntl)(real, F_GETFD) & FD_CLOEXEC;
    if (real == number) return real;
    if (!is_free(number)) {
        ft_rt_feed_number(in->self, in->call, in->pc);
        return real;
    }
    if (FT_REAL(dup3)(real, number, closes ? O_CLOEXEC : 0) < 0) return real;
    FT_REAL(close)(real);
    return number;
}

int ft_rt_fd_numbered(ft_rt_input *in, int number, int real)
{
    if (in->fed) real = ft_rt_fd_step_aside(real);
    order_number(number, true, in->pc);
    if (in->fed) real = move(in, real, number);
    if (number >= 0 && number < INHERITED) inherited[number] = false;
    if (number >= 0 && number < NUMBERS) numbers.closer[number] = 0;
    return real;
}

void ft_rt_fd_made(ft_rt_input *in, int number, int real)
{
    if (number < 0) {
        if (in->fed && real >= 0) FT_REAL(close)(real);
        return;
    }
    if (!in->fed)
        real = number;
    else if (real < 0)
        real = FT_REAL(open)("/dev/null", O_RDWR | O_CLOEXEC);
    int now = ft_rt_fd_numbered(in, number, real);
    bool other = now != number && now >= 0, only = in->result == number;
    if (other && only && ft_rt_feed_is_behind())
        in->result = now;
    else if (other)
        FT_REAL(close)(now);
}

void ft_rt_fd_freed(int number, const void *pc)
{
    if (number >= 0 && number < INHERITED) inherited[number] = false;
    if (number >= 0 && number < NUMBERS) numbers.closer[number] = ft_rt_self->id + 1;
    order_number(number, false, pc);
}
