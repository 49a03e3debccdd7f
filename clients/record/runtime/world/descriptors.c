/* Numbers of modelled descriptors, what they stand for, and the calls that make, copy and close
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "libc/contract.h"
#include "world/inner.h"

enum {
    CHANNELS = 1024,
    FIRST = 512, /* of the first thread; the system's numbers are below */
    OTHERS = 768,
    OF_ONE = 4, /* of the other threads, and how many each has */
    NEITHER = OTHERS + OF_ONE * (FT_X_THREADS - 1)
};

/* Of the run. */
static ft_rt_world_channel channels[CHANNELS];
static ft_rt_world_description descriptions[FT_RT_WORLD_DESCRIPTIONS];
static uint32_t n_channels, n_descriptions;
static uint16_t by_number[FT_RT_WORLD_DESCRIPTORS];     /* description + 1; 0: none */
static uint32_t made[FT_X_THREADS], used[FT_X_THREADS]; /* by thread: channels, numbers */

int ft_rt_world_error(int error)
{
    errno = error;
    return -1;
}

ft_rt_world_description *ft_rt_world_of(int fd)
{
    if (fd < 0 || fd >= FT_RT_WORLD_DESCRIPTORS || !by_number[fd]) return NULL;
    return &descriptions[by_number[fd] - 1];
}

bool ft_rt_world_models(int fd)
{
    return ft_rt_world_of(fd) != NULL;
}

bool ft_rt_world_has_made(void)
{
    return n_descriptions > 0;
}

ft_rt_world_channel *ft_rt_world_channel_new(int64_t capacity, int64_t least, bool messages,
                                             int64_t fresh, const void *pc)
{
    uint32_t self = ft_rt_x_number();
    if (n_channels == CHANNELS) ft_rt_x_refuse("more channels than one run may have", pc);
    ft_rt_world_channel *c = &channels[n_channels++];
    *c = (ft_rt_world_channel){
        .exists = true,
        .capacity = capacity,
        .least = least,
        .messages = messages,
        .object = ft_rt_x_model_object(FT_X_CHANNEL, self + 1, made[self]++, fresh)};
    return c;
}

ft_rt_world_description *ft_rt_world_description_new(ft_rt_world_kind kind, const void *pc)
{
    if (n_descriptions == FT_RT_WORLD_DESCRIPTIONS)
        ft_rt_x_refuse("more descriptors than one run may make", pc);
    ft_rt_world_description *d = &descriptions[n_descriptions++];
    *d = (ft_rt_world_description){.kind = kind};
    return d;
}

/* Numbers are not given twice while the thread has others. */
int ft_rt_world_number(ft_rt_world_description *d, const void *pc)
{
    uint32_t self = ft_rt_x_number(), most = self ? OF_ONE : OTHERS - FIRST;
    uint32_t first = self ? OTHERS + OF_ONE * (self - 1) : FIRST, n = first + used[self]++;
    if (n >= first + most) {
        n = first;
        while (n < first + most && by_number[n]) n++;
        if (n == first + most)
            for (n = NEITHER; n < FT_RT_WORLD_DESCRIPTORS && by_number[n];) n++;
    }
    if (n == FT_RT_WORLD_DESCRIPTORS) ft_rt_x_refuse("more descriptors than a thread may make", pc);
    by_number[n] = (uint16_t)(d - descriptions + 1);
    d->copies++;
    return (int)n;
}

uint64_t ft_rt_world_act(ft_x_kind kind, const ft_rt_world_channel *c, int64_t value,
                         int64_t value2, const void *pc)
{
    ft_x_operation o = {
        .kind = (uint16_t)kind, .object = c->object, .value = value, .value2 = value2};
    return ft_rt_explore(&o, pc).outcome;
}

ft_x_object *ft_rt_world_state(const ft_rt_world_channel *c)
{
    return ft_rt_x_state(c->object);
}

/* ---- making them */

int ft_rt_world_pipe(int fds[2], int flags, const void *pc)
{
    ft_rt_world_channel *c =
        ft_rt_world_channel_new(FT_RT_WORLD_PIPE, FT_RT_WORLD_PIECE, false, 0, pc);
    if (flags & ~(O_NONBLOCK | O_CLOEXEC)) return ft_rt_world_error(EINVAL);
    for (int i = 0; i < 2; i++) {
        ft_rt_world_description *d = ft_rt_world_description_new(FT_RT_WORLD_END, pc);
        d->waits_not = flags & O_NONBLOCK;
        if (i)
            d->out = c;
        else
            d->in = c;
        fds[i] = ft_rt_world_number(d, pc);
    }
    return 0;
}

int ft_rt_world_socketpair(int domain, int type, int protocol, int fds[2], const void *pc)
{
    ft_rt_world_channel *ways[2];
    bool messages = (type & 0xF) != SOCK_STREAM;
    if (domain != AF_UNIX) return ft_rt_world_error(EOPNOTSUPP);
    if (protocol && protocol != AF_UNIX) return ft_rt_world_error(EPROTONOSUPPORT);
    for (int i = 0; i < 2; i++)
        ways[i] = ft_rt_world_channel_new(messages ? FT_RT_WORLD_MESSAGES : FT_RT_WORLD_STREAM, 1,
                                          messages, 0, pc);
    for (int i = 0; i < 2; i++) {
        ft_rt_world_description *d = ft_rt_world_description_new(FT_RT_WORLD_END, pc);
        d->waits_not = type & SOCK_NONBLOCK;
        d->socket = true;
        d->in = ways[i];
        d->out = ways[!i];
        fds[i] = ft_rt_world_number(d, pc);
    }
    return 0;
}

int ft_rt_world_eventfd(unsigned count, int flags, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_description_new(FT_RT_WORLD_EVENT, pc);
    d->in = d->out = ft_rt_world_channel_new(INT64_C(1) << 42, 1, false, count, pc);
    d->waits_not = flags & EFD_NONBLOCK;
    d->semaphore = flags & EFD_SEMAPHORE;
    return ft_rt_world_number(d, pc);
}

/* ---- copies, and closing */

/* One more, or one less, of the ends. */
static void count_ends(ft_x_kind kind, const ft_rt_world_description *d, const void *pc)
{
    if (d->kind != FT_RT_WORLD_END) return; /* nobody finds out that none is left */
    if (d->in) ft_rt_world_act(kind, d->in, FT_X_READABLE, 0, pc);
    if (d->out) ft_rt_world_act(kind, d->out, FT_X_WRITABLE, 0, pc);
}

int ft_rt_world_copy(int fd, int number, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (number >= FT_RT_WORLD_DESCRIPTORS) return ft_rt_world_error(EBADF);
    if (number == fd) return fd;
    count_ends(FT_X_OPEN, d, pc);
    if (number < 0) return ft_rt_world_number(d, pc);
    if (ft_rt_world_of(number)) ft_rt_world_close(number, pc);
    by_number[number] = (uint16_t)(d - descriptions + 1);
    d->copies++;
    return number;
}

int ft_rt_world_close(int fd, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    by_number[fd] = 0;
    count_ends(FT_X_CLOSE, d, pc);
    if (!--d->copies) ft_rt_world_socket_ends(d, pc);
    return 0;
}

int ft_rt_world_shutdown(int fd, int how, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (!d->socket) return ft_rt_world_error(ENOTSOCK);
    if (d->kind == FT_RT_WORLD_LISTENER) {
        if (how != SHUT_WR) ft_rt_world_act(FT_X_CLOSE, d->in, FT_X_WRITABLE, 0, pc);
        return 0;
    }
    if (d->kind != FT_RT_WORLD_END) return ft_rt_world_error(ENOTCONN);
    if (how != SHUT_RD) {
        uint32_t more = ft_rt_world_state(d->out)->writers + 1;
        while (more--) ft_rt_world_act(FT_X_CLOSE, d->out, FT_X_WRITABLE, 0, pc);
    }
    if (how != SHUT_WR) {
        uint32_t more = ft_rt_world_state(d->in)->readers + 1;
        d->closes_not = true;
        while (more--) ft_rt_world_act(FT_X_CLOSE, d->in, FT_X_READABLE, 0, pc);
    }
    return 0;
}

/* ---- flags */

int ft_rt_world_fcntl(int fd, int command, long argument, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    switch (command) {
    case F_GETFD:
    case F_SETFD:
        return 0;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return ft_rt_world_copy(fd, -1, pc);
    case F_GETFL:
        if (d->socket) return (d->waits_not ? O_NONBLOCK : 0) | O_RDWR;
        return (d->waits_not ? O_NONBLOCK : 0) | (!d->out ? O_RDONLY : !d->in ? O_WRONLY : O_RDWR);
    case F_SETFL:
        d->waits_not = argument & O_NONBLOCK;
        return 0;
    case F_GETPIPE_SZ:
        return d->socket ? ft_rt_world_error(EBADF) : FT_RT_WORLD_PIPE;
    default:
        return ft_rt_world_error(EINVAL);
    }
}

int ft_rt_world_ioctl(int fd, unsigned long request, void *argument, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (request == FIONBIO) {
        d->waits_not = *(int *)argument;
        return 0;
    }
    if (request != FIONREAD || !d->in) return ft_rt_world_error(ENOTTY);
    ft_rt_world_act(FT_X_TEST, d->in, FT_X_READABLE, ft_rt_world_room(d->in), pc);
    const ft_rt_world_piece *first = d->in->first;
    if (d->in->messages)
        *(int *)argument = first ? (int)first->size : 0;
    else
        *(int *)argument = (int)ft_rt_world_state(d->in)->value;
    return 0;
}
