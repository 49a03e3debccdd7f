/* What stands behind a file descriptor, and what goes through it from thread to thread. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "sync.h"
#include "trace/event.h"

enum { DESCRIPTORS = 1 << 16, CHAIN = 1 };
#define NUMBER_BIT (1ull << 61) /* channels of numbers; no other has it, nor bits 60 and 62 */
#define EMPTY_BIT  (1ull << 59) /* from who found an event descriptor empty to who writes later */

typedef struct descriptor {
    uint64_t channel; /* even; the odd one behind it orders the readers of a pipe */
    ft_rt_fd kind;
} descriptor;

static struct {
    descriptor *known;
    uint64_t channels; /* so many were made */
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
    return d ? d->kind : FT_RT_FD_OTHER;
}

bool ft_rt_fd_may_sleep(int fd)
{
    return ft_rt_fd_kind(fd) != FT_RT_FD_FILE;
}

void ft_rt_fd_set(int fd, ft_rt_fd kind, uint64_t channel)
{
    descriptor *d = at(fd);
    if (!d) return;
    if (!channel) channel = ++fds.channels * 2;
    if (kind >= FT_RT_FD_PIPE) ft_rt_feed_virtual();
    *d = (descriptor){.kind = kind, .channel = channel};
}

void ft_rt_fd_copy(int from, int to)
{
    const descriptor *d = at(from);
    descriptor *copy = at(to);
    if (copy) *copy = d ? *d : (descriptor){.kind = FT_RT_FD_OTHER};
}

uint64_t ft_rt_fd_channel(int fd)
{
    const descriptor *d = at(fd);
    return d ? d->channel : 0;
}

void ft_rt_fd_close(int fd, const void *pc)
{
    descriptor *d = at(fd);
    if (!d) return;
    if (d->kind == FT_RT_FD_PIPE || d->kind == FT_RT_FD_SOCKET) ft_rt_fd_out(fd, pc);
    ft_rt_fd_number(fd, false, pc);
    *d = (descriptor){.kind = FT_RT_FD_OTHER};
}

static void stand_in(ft_rt_input *in, int number, int real)
{
    if (number < 0) {
        if (real >= 0) FT_REAL(close)(real);
        return;
    }
    if (real < 0) real = FT_REAL(open)("/dev/null", O_RDWR | O_CLOEXEC);
    if (real == number || real < 0) return;
    if (FT_REAL(fcntl)(number, F_GETFD) < 0)
        FT_REAL(dup2)(real, number);
    else
        ft_rt_feed_number(in->self, in->call, in->pc);
    FT_REAL(close)(real);
}

void ft_rt_fd_made(ft_rt_input *in, int number, int real)
{
    if (number >= 0) ft_rt_fd_number(number, true, in->pc);
    if (in->fed) stand_in(in, number, real);
}

/* ---- order between threads */

void ft_rt_signal_channel(int number, bool in, const void *pc)
{
    uint64_t flag = in ? FT_RAW_CHANNEL_IN : FT_RAW_CHANNEL_OUT, site = ft_rt_site(pc);
    FT_RT_LOG(CHANNEL, flag, FT_RAW_CHANNEL_SIGNAL | (uint64_t)(unsigned)number, site);
}

void ft_rt_channel(uint64_t channel, bool in, bool out, const void *pc)
{
    uint32_t flags = (in ? FT_RAW_CHANNEL_IN : 0) | (out ? FT_RAW_CHANNEL_OUT : 0);
    if (!channel) return;
    bool ordered = !(channel & FT_RAW_CHANNEL_TAKEN); /* what is fed is, by thread */
    if (ordered && ft_rt_feed_records()) channel = ft_rt_feed_channel(ft_rt_self, channel, flags);
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(CHANNEL, flags, channel, site);
}

/* A number is given again once it is closed: so what was kept by that number changes hands. */
void ft_rt_fd_number(int number, bool made, const void *pc)
{
    ft_rt_channel(NUMBER_BIT | (uint64_t)(unsigned)number << 1, made, !made, pc);
}

/* What goes into a pipe comes out in that order: so do the calls. Who reads an event descriptor
 * first takes it all; who writes to it first is no matter. */
static void follow_reader(int fd, const void *pc)
{
    ft_rt_channel(ft_rt_fd_channel(fd) + CHAIN, true, true, pc);
}

/* A file's place in it is one for all; so is what was there before the program. */
static void follow_place(int fd, const void *pc)
{
    uint64_t own = ft_rt_fd_channel(fd), number = (uint64_t)(unsigned)fd * 2 + CHAIN;
    ft_rt_channel(FT_RAW_CHANNEL_TAKEN | (own ? own : number), true, true, pc);
}

void ft_rt_fd_in(int fd, const void *pc)
{
    ft_rt_fd kind = ft_rt_fd_kind(fd);
    if (kind < FT_RT_FD_PIPE) {
        follow_place(fd, pc);
        return;
    }
    ft_rt_channel(ft_rt_fd_channel(fd), true, false, pc);
    if (kind == FT_RT_FD_PIPE || kind == FT_RT_FD_EVENT) follow_reader(fd, pc);
}

void ft_rt_fd_empty(int fd, const void *pc)
{
    ft_rt_fd kind = ft_rt_fd_kind(fd);
    if (kind != FT_RT_FD_PIPE && kind != FT_RT_FD_EVENT) return;
    uint64_t bit = kind == FT_RT_FD_EVENT ? EMPTY_BIT : 0;
    ft_rt_channel(ft_rt_fd_channel(fd) | bit, kind == FT_RT_FD_PIPE, true, pc);
    follow_reader(fd, pc);
}

void ft_rt_fd_out(int fd, const void *pc)
{
    ft_rt_fd kind = ft_rt_fd_kind(fd);
    if (kind < FT_RT_FD_PIPE) return;
    if (kind == FT_RT_FD_EVENT) ft_rt_channel(ft_rt_fd_channel(fd) | EMPTY_BIT, true, false, pc);
    ft_rt_channel(ft_rt_fd_channel(fd), kind == FT_RT_FD_PIPE, true, pc);
}
