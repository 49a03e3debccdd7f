/* Reading and writing of modelled descriptors. An action decides how many units go in or come out;
 * the content follows at once, while no other thread runs. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/inner.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t length_of(const struct iovec *v, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++) all += v[i].iov_len;
    return all;
}

/* ---- content */

/* `size` bytes from the `from`-th byte of the buffers on. */
static void put_in(ft_rt_world_channel *c, const struct iovec *v, size_t n, size_t from,
                   size_t size)
{
    ft_rt_world_piece *p = ft_rt_libc()->malloc(sizeof *p + size);
    size_t done = 0;
    if (!p) ft_rt_x_refuse("memory for the content of a channel", NULL);
    *p = (ft_rt_world_piece){.size = size};
    for (size_t i = 0; i < n && done < size; i++) {
        size_t skipped = least(from, v[i].iov_len), here = v[i].iov_len - skipped;
        from -= skipped;
        here = least(here, size - done);
        if (here) memcpy(p->bytes + done, (const char *)v[i].iov_base + skipped, here);
        done += here;
    }
    if (c->last)
        c->last->next = p;
    else
        c->first = p;
    c->last = p;
}

static void drop_first(ft_rt_world_channel *c)
{
    ft_rt_world_piece *p = c->first;
    c->first = p->next;
    if (!c->first) c->last = NULL;
    ft_rt_libc()->free(p);
}

/* Copies up to `size` bytes of what lies in the channel (of a message: of the first one) into the
 * buffers; takes: they are gone then. */
static size_t take_out(ft_rt_world_channel *c, const struct iovec *v, size_t n, size_t size,
                       bool takes)
{
    size_t done = 0, buffer = 0, in_buffer = 0;
    for (ft_rt_world_piece *p = c->first; p && done < size;) {
        size_t at = p->taken;
        while (at < p->size && done < size && buffer < n) {
            size_t here = least(least(p->size - at, size - done), v[buffer].iov_len - in_buffer);
            if (here) memcpy((char *)v[buffer].iov_base + in_buffer, p->bytes + at, here);
            at += here;
            done += here;
            in_buffer += here;
            if (in_buffer == v[buffer].iov_len) buffer++, in_buffer = 0;
        }
        if (takes) p->taken = at;
        bool whole = at == p->size;
        if (c->messages || !whole) break;
        p = p->next;
        if (takes) drop_first(c);
    }
    if (takes && c->messages && c->first) drop_first(c);
    return done;
}

void ft_rt_world_put(ft_rt_world_channel *c, const struct iovec *v, size_t n, size_t size)
{
    put_in(c, v, n, 0, size);
}

size_t ft_rt_world_take(ft_rt_world_channel *c, const struct iovec *v, size_t n, size_t size)
{
    return take_out(c, v, n, size, true);
}

/* ---- reading */

/* Waits until the channel is ready, for the time limit of the socket; false: that has passed. */
static bool is_in_time(const ft_rt_world_description *d, const ft_rt_world_channel *c,
                       ft_x_ready bits, const void *pc)
{
    int64_t ms = ft_rt_world_limit(d, bits == FT_X_WRITABLE);
    const ft_x_operation o = {
        .kind = FT_X_TEST, .object = c->object, .value = bits, .value2 = ft_rt_world_room(c)};
    return ft_rt_x_wait_for(&(ft_x_attempt){.operation = o}, 1, (int)ms, pc);
}

static bool waits(const ft_rt_world_description *d, int flags)
{
    return !d->waits_not && !(flags & MSG_DONTWAIT);
}

/* Units that the action took; FT_X_WOULD_WAIT: it found none. 0: no writer is left. */
static uint64_t take_units(ft_rt_world_description *d, int64_t most, int flags, const void *pc)
{
    bool limited = ft_rt_world_limit(d, false) && waits(d, flags);
    if (limited && !is_in_time(d, d->in, FT_X_READABLE, pc)) return FT_X_WOULD_WAIT;
    ft_x_kind kind = waits(d, flags) && !limited ? FT_X_RECEIVE : FT_X_TRY_RECEIVE;
    return ft_rt_world_act(kind, d->in, most, 0, pc);
}

static ssize_t read_event(ft_rt_world_description *d, const struct iovec *v, const void *pc)
{
    if (v->iov_len < sizeof(uint64_t)) return ft_rt_world_error(EINVAL);
    uint64_t count = take_units(d, d->semaphore ? 1 : INT64_MAX, 0, pc);
    if (count == FT_X_WOULD_WAIT) return ft_rt_world_error(EAGAIN);
    memcpy(v->iov_base, &count, sizeof count);
    return sizeof count;
}

/* Looks at the content without taking it. */
static ssize_t peek(ft_rt_world_description *d, const struct iovec *v, size_t n, int flags,
                    const void *pc)
{
    ft_rt_world_channel *c = d->in;
    ft_x_operation o = {.kind = FT_X_TEST,
                        .object = c->object,
                        .value = FT_X_READABLE,
                        .value2 = ft_rt_world_room(c)};
    if (waits(d, flags)) ft_rt_x_wait_for(&(ft_x_attempt){.operation = o}, 1, -1, pc);
    if (!ft_rt_explore(&o, pc).outcome) return ft_rt_world_error(EAGAIN);
    return (ssize_t)take_out(c, v, n, length_of(v, n), false);
}

ssize_t ft_rt_world_receive(int fd, const struct iovec *v, size_t n, int flags, const void *pc)
{
    const ft_rt_world_description *d = ft_rt_world_of(fd);
    if (d->kind == FT_RT_WORLD_MAILBOX)
        return ft_rt_world_receive_from(fd, v, n, flags, NULL, NULL, pc);
    if (d->kind == FT_RT_WORLD_SOCKET_ALONE || d->kind == FT_RT_WORLD_LISTENER)
        return ft_rt_world_error(ENOTCONN);
    return ft_rt_world_receive_plainly(fd, v, n, flags, pc);
}

ssize_t ft_rt_world_receive_plainly(int fd, const struct iovec *v, size_t n, int flags,
                                    const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    size_t size = length_of(v, n), done = 0;
    if (!d->in || d->kind == FT_RT_WORLD_EPOLL) return ft_rt_world_error(EBADF);
    if (d->kind == FT_RT_WORLD_EVENT) return read_event(d, v, pc);
    if (d->closes_not || (!size && !d->in->messages)) return 0;
    if (flags & MSG_PEEK) return peek(d, v, n, flags, pc);
    struct iovec rest = *v;
    do {
        uint64_t units = take_units(d, d->in->messages ? 1 : (int64_t)(size - done), flags, pc);
        if (units == FT_X_WOULD_WAIT) return done ? (ssize_t)done : ft_rt_world_error(EAGAIN);
        if (!units && !done && d->reset) return ft_rt_world_error(ECONNRESET);
        if (!units) break;
        if (d->in->messages) return (ssize_t)take_out(d->in, v, n, size, true);
        size_t got = take_out(d->in, done ? &rest : v, done ? 1 : n, (size_t)units, true);
        assert(got == units);
        done += got;
        rest = (struct iovec){(char *)v->iov_base + done, v->iov_len - done};
    } while (flags & MSG_WAITALL && n == 1 && done < size);
    return (ssize_t)done;
}

ssize_t ft_rt_world_read(int fd, void *to, size_t n, const void *pc)
{
    return ft_rt_world_receive(fd, &(struct iovec){to, n}, 1, 0, pc);
}

/* ---- writing */

/* Over TCP the first one goes out, and comes back as a reset. */
static ssize_t broken(ft_rt_world_description *d, size_t size, int flags)
{
    if (ft_rt_world_is_tcp(d) && !d->reset) {
        d->reset = true;
        return (ssize_t)size;
    }
    if (!(flags & MSG_NOSIGNAL)) raise(SIGPIPE);
    return ft_rt_world_error(EPIPE);
}

static bool is_broken(const ft_rt_world_channel *c)
{
    return ft_rt_world_state(c)->waits & FT_X_BROKEN;
}

static ssize_t write_event(ft_rt_world_description *d, const struct iovec *v, const void *pc)
{
    uint64_t count;
    if (v->iov_len < sizeof count) return ft_rt_world_error(EINVAL);
    memcpy(&count, v->iov_base, sizeof count);
    if (count == UINT64_MAX) return ft_rt_world_error(EINVAL);
    if (count >= UINT64_C(1) << 42) ft_rt_x_refuse("an event count above 2^42", pc);
    if (!count) return sizeof count;
    if (!d->waits_not)
        ft_rt_world_act(FT_X_SEND, d->out, (int64_t)count, d->out->capacity, pc);
    else if (!ft_rt_world_act(FT_X_TRY_SEND, d->out, (int64_t)count, FT_X_ROOM(d->out->capacity, 1),
                              pc))
        return ft_rt_world_error(EAGAIN);
    return sizeof count;
}

static ssize_t send_message(ft_rt_world_description *d, const struct iovec *v, size_t n, int flags,
                            const void *pc)
{
    ft_rt_world_channel *c = d->out;
    size_t size = length_of(v, n);
    if (waits(d, flags)) {
        if (ft_rt_world_act(FT_X_SEND, c, 1, c->capacity, pc)) return broken(d, size, flags);
    } else if (!ft_rt_world_act(FT_X_TRY_SEND, c, 1, FT_X_ROOM(c->capacity, 1), pc)) {
        c->shortages++;
        return is_broken(c) ? broken(d, size, flags) : ft_rt_world_error(EAGAIN);
    }
    put_in(c, v, n, 0, size);
    return (ssize_t)size;
}

/* Sends the part that fits at once and returns its size; -1: errno says why nothing fitted. */
static ssize_t send_some(ft_rt_world_description *d, const struct iovec *v, size_t n, size_t size,
                         int flags, const void *pc)
{
    ft_rt_world_channel *c = d->out;
    size_t together = c->least > 1 ? least(size, (size_t)c->least) : 1;
    uint64_t units =
        ft_rt_world_act(FT_X_TRY_SEND, c, (int64_t)size, FT_X_ROOM(c->capacity, together), pc);
    c->shortages += units < size;
    if (!units) return is_broken(c) ? broken(d, size, flags) : ft_rt_world_error(EAGAIN);
    put_in(c, v, n, 0, (size_t)units);
    return (ssize_t)units;
}

ssize_t ft_rt_world_send(int fd, const struct iovec *v, size_t n, int flags, const void *pc)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    size_t size = length_of(v, n), done = 0;
    if (d->kind == FT_RT_WORLD_MAILBOX) return ft_rt_world_send_to(fd, v, n, flags, NULL, 0, pc);
    if (d->kind == FT_RT_WORLD_SOCKET_ALONE || d->kind == FT_RT_WORLD_LISTENER)
        return ft_rt_world_error(ENOTCONN);
    if (!d->out || d->kind == FT_RT_WORLD_EPOLL) return ft_rt_world_error(EBADF);
    if (d->kind == FT_RT_WORLD_EVENT) return write_event(d, v, pc);
    if (d->out->messages) return send_message(d, v, n, flags, pc);
    if (!size) return 0;
    if (!waits(d, flags)) return send_some(d, v, n, size, flags, pc);
    if (ft_rt_world_limit(d, true))
        return is_in_time(d, d->out, FT_X_WRITABLE, pc) ? send_some(d, v, n, size, flags, pc)
                                                        : ft_rt_world_error(EAGAIN);
    while (done < size) {
        size_t piece = least(size - done, d->socket ? FT_RT_WORLD_PIPE : FT_RT_WORLD_PIECE);
        if (ft_rt_world_act(FT_X_SEND, d->out, (int64_t)piece, d->out->capacity, pc))
            return done ? (ssize_t)done : broken(d, size, flags);
        put_in(d->out, v, n, done, piece);
        done += piece;
    }
    return (ssize_t)done;
}

ssize_t ft_rt_world_write(int fd, const void *from, size_t n, const void *pc)
{
    return ft_rt_world_send(fd, &(struct iovec){(void *)(uintptr_t)from, n}, 1, 0, pc);
}

/* ---- messages with more than content */

ssize_t ft_rt_world_receive_message(int fd, struct msghdr *m, int flags, const void *pc)
{
    ssize_t got = ft_rt_world_receive_from(fd, m->msg_iov, m->msg_iovlen, flags, m->msg_name,
                                           &m->msg_namelen, pc);
    if (got < 0) return got;
    if (!m->msg_name) m->msg_namelen = 0;
    m->msg_controllen = 0;
    m->msg_flags = 0;
    return got;
}

ssize_t ft_rt_world_send_message(int fd, const struct msghdr *m, int flags, const void *pc)
{
    if (m->msg_controllen) ft_rt_world_refuse(FT_RT_WORLD_MESSAGE, "sendmsg", pc);
    return ft_rt_world_send_to(fd, m->msg_iov, m->msg_iovlen, flags, m->msg_name, m->msg_namelen,
                               pc);
}
