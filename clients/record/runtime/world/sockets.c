/* Sockets between the program's own threads: listening, connecting, accepting, messages.
 *
 * A listener is a channel whose messages are connections that wait. A connection is two channels of
 * bytes, made by the thread that connects. A socket of messages has one channel, which takes what
 * is sent to its address. What threads do to one address (listen, connect, close) is dependent, by
 * READ and WRITE on a model object of it.
 *
 * An address that no socket of the program has is the outside, if a socket of another process has
 * it; else nobody is there. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/overlay.h"

enum {
    SOCKETS = 256,
    PENDING = 1024, /* connections of one run */
    MAKER = 0x2001, /* of model objects */
    NUMBERS = 512,
    FIRST_PORT = 40000,
    PORTS = 256, /* of a thread */
    BACKLOG = 128
};

typedef union address {
    struct sockaddr plain;
    struct sockaddr_storage any;
    struct sockaddr_in internet;
    struct sockaddr_in6 internet6;
    struct sockaddr_un local;
} address;

typedef struct name {
    address a;
    socklen_t n; /* 0: none */
} name;

struct ft_rt_world_net {
    int domain, type, protocol;
    name own, peer;
    bool bound;
    int error;     /* SO_ERROR */
    int64_t ms[2]; /* SO_RCVTIMEO, SO_SNDTIMEO; 0: none */
};

typedef struct pending {
    ft_rt_world_channel *to_server, *to_client;
    name client, server;
} pending;

static ft_rt_world_net sockets[SOCKETS];
static ft_rt_world_description *bound[SOCKETS]; /* those that have an address of their own */
static pending pendings[PENDING];
static uint32_t n_sockets, n_pendings, n_bound, ports[FT_X_THREADS];

/* ---- addresses */

static bool is_internet(const address *a)
{
    return a->plain.sa_family == AF_INET || a->plain.sa_family == AF_INET6;
}

static in_port_t port_of(const address *a)
{
    return a->plain.sa_family == AF_INET ? a->internet.sin_port : a->internet6.sin6_port;
}

static void set_port(address *a, in_port_t port)
{
    if (a->plain.sa_family == AF_INET)
        a->internet.sin_port = port;
    else
        a->internet6.sin6_port = port;
}

/* This machine's own, or any. */
static bool is_loopback(const address *a)
{
    enum { LOOPBACK = 127, SHIFT = 24 };
    const struct in6_addr *six = &a->internet6.sin6_addr;
    if (a->plain.sa_family == AF_INET) {
        uint32_t host = ntohl(a->internet.sin_addr.s_addr);
        return !host || host >> SHIFT == LOOPBACK;
    }
    return IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_UNSPECIFIED(six) ||
           (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == LOOPBACK);
}

static bool read_name(const struct sockaddr *from, socklen_t n, name *to)
{
    if (!from || n < sizeof(sa_family_t) || n > sizeof to->a) return errno = EINVAL, false;
    memset(to, 0, sizeof *to);
    memcpy(&to->a, from, n);
    to->n = n;
    return true;
}

static void write_name(const name *from, struct sockaddr *to, socklen_t *n)
{
    if (!to || !n) return;
    memcpy(to, &from->a, *n < from->n ? *n : from->n);
    *n = from->n;
}

static size_t path_length(const name *x)
{
    size_t most = x->n - sizeof x->a.plain.sa_family;
    return x->a.local.sun_path[0] ? strnlen(x->a.local.sun_path, most) : most;
}

/* A socket that is bound to all addresses is reached by each: internet addresses are their ports.
 */
static bool same(const name *a, const name *b)
{
    if (is_internet(&a->a) != is_internet(&b->a)) return false;
    if (is_internet(&a->a)) return port_of(&a->a) == port_of(&b->a);
    size_t n = path_length(a);
    return a->a.plain.sa_family == b->a.plain.sa_family && path_length(b) == n &&
           !memcmp(a->a.local.sun_path, b->a.local.sun_path, n);
}

static uint32_t object_of(const name *x)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    uint16_t port = is_internet(&x->a) ? port_of(&x->a) : 0;
    const unsigned char *at =
        port ? (const unsigned char *)&port : (const unsigned char *)x->a.local.sun_path;
    size_t n = port ? sizeof port : path_length(x);
    for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * UINT64_C(0x100000001B3);
    return ft_rt_x_model_object(FT_X_MEMORY, MAKER, (uint32_t)(h >> 32) % NUMBERS, 0);
}

static void act(bool writes, const name *x, const void *pc)
{
    ft_x_operation o = {
        .kind = writes ? FT_X_WRITE : FT_X_READ, .object = object_of(x), .value = FT_RT_X_OF_FILE};
    if (!ft_rt_x_has_begun()) return;
    ft_rt_explore_more(&o, pc);
    if (writes) ft_rt_x_edge_at(o.object, true);
    ft_rt_x_edge_at(o.object, false);
}

/* The socket that has the address; NULL: none. */
static ft_rt_world_description *owner_of(const name *x, int type)
{
    for (uint32_t i = 0; i < n_bound; i++) {
        const ft_rt_world_net *s = bound[i]->net;
        if (s->type == type && same(&s->own, x)) return bound[i];
    }
    return NULL;
}

/* ---- the outside */

static bool has_text(const char *path, const char *text)
{
    static char piece[1 << 14];
    size_t n = strlen(text), kept = 0;
    bool found = false;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && !found &&
                      (got = syscall(SYS_read, fd, piece + kept, sizeof piece - kept)) > 0;) {
        size_t all = kept + (size_t)got;
        found = memmem(piece, all, text, n) != NULL;
        kept = all < n ? all : n;
        memmove(piece, piece + all - kept, kept);
    }
    if (fd >= 0) syscall(SYS_close, fd);
    return found;
}

/* Does another process listen there? The system's tables of sockets say so: ":PORT ", a remote
 * address of zeros, and the state of listening. */
static bool is_taken(const name *x)
{
    static const char DIGITS[] = "0123456789ABCDEF";
    static const char *const ENDS[] = {" 00000000:0000 0A",
                                       " 00000000000000000000000000000000:0000 0A"};
    char text[64] = ":";
    if (!is_internet(&x->a))
        return x->a.local.sun_path[0] && has_text("/proc/net/unix", x->a.local.sun_path);
    uint16_t port = ntohs(port_of(&x->a));
    for (int i = 0; i < 4; i++) text[1 + i] = DIGITS[port >> (12 - 4 * i) & 15];
    memcpy(text + 5, ENDS[0], strlen(ENDS[0]) + 1);
    if (has_text("/proc/net/tcp", text)) return true;
    memcpy(text + 5, ENDS[1], strlen(ENDS[1]) + 1);
    return has_text("/proc/net/tcp6", text);
}

static void refuse_outside(const name *x, const char *call, const void *pc)
{
    if ((is_internet(&x->a) && !is_loopback(&x->a)) || is_taken(x))
        ft_rt_world_refuse(FT_RT_WORLD_SOCKET, call, pc);
}

/* ---- making them */

int ft_rt_world_socket(int domain, int type, int protocol, const void *pc)
{
    int plain = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    bool known = (domain == AF_UNIX || domain == AF_INET || domain == AF_INET6) &&
                 (plain == SOCK_STREAM || plain == SOCK_DGRAM ||
                  (plain == SOCK_SEQPACKET && domain == AF_UNIX));
    if (!known) ft_rt_world_refuse(FT_RT_WORLD_SOCKET, "socket", pc);
    if (n_sockets == SOCKETS) ft_rt_x_refuse("more sockets than one run may have", pc);
    ft_rt_world_description *d = ft_rt_world_description_new(FT_RT_WORLD_SOCKET_ALONE, pc);
    d->net = &sockets[n_sockets++];
    *d->net = (ft_rt_world_net){.domain = domain, .type = plain, .protocol = protocol};
    d->net->own.n = domain == AF_INET    ? sizeof(struct sockaddr_in)
                    : domain == AF_INET6 ? sizeof(struct sockaddr_in6)
                                         : sizeof(sa_family_t);
    d->net->own.a.plain.sa_family = (sa_family_t)domain;
    d->socket = true;
    d->waits_not = type & SOCK_NONBLOCK;
    if (plain == SOCK_DGRAM) {
        d->kind = FT_RT_WORLD_MAILBOX;
        d->in = ft_rt_world_channel_new(FT_RT_WORLD_MESSAGES, 1, true, 0, pc);
    }
    return ft_rt_world_number(d, pc);
}

static ft_rt_world_description *socket_at(int fd)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (d->net) return d;
    errno = d->socket ? EOPNOTSUPP : ENOTSOCK;
    return NULL;
}

/* A port of the thread's own, the same in every run. */
static in_port_t next_port(void)
{
    uint32_t self = ft_rt_x_number();
    return htons((uint16_t)(FIRST_PORT + PORTS * self + ports[self]++ % PORTS));
}

static void add_bound(ft_rt_world_description *d, const void *pc)
{
    if (n_bound == SOCKETS) ft_rt_x_refuse("more sockets than one run may have", pc);
    bound[n_bound++] = d;
    d->net->bound = true;
}

static bool take_path(const name *x, const void *pc)
{
    char path[sizeof x->a.local.sun_path + 1] = "";
    if (x->a.plain.sa_family != AF_UNIX || !x->a.local.sun_path[0]) return true;
    memcpy(path, x->a.local.sun_path, path_length(x));
    return ft_rt_world_make_socket(path, pc) == 0 ||
           (errno = errno == EEXIST ? EADDRINUSE : errno, false);
}

int ft_rt_world_bind(int fd, const struct sockaddr *a, socklen_t n, const void *pc)
{
    name x;
    ft_rt_world_description *d = socket_at(fd);
    if (!d || !read_name(a, n, &x)) return -1;
    if (d->net->bound || x.a.plain.sa_family != d->net->domain) return ft_rt_world_error(EINVAL);
    if (is_internet(&x.a) && !port_of(&x.a)) set_port(&x.a, next_port());
    act(true, &x, pc);
    if (owner_of(&x, d->net->type)) return ft_rt_world_error(EADDRINUSE);
    if (!take_path(&x, pc)) return -1;
    d->net->own = x;
    add_bound(d, pc);
    return 0;
}

int ft_rt_world_listen(int fd, int backlog, const void *pc)
{
    ft_rt_world_description *d = socket_at(fd);
    if (!d) return -1;
    if (d->kind == FT_RT_WORLD_LISTENER) return 0;
    if (d->kind != FT_RT_WORLD_SOCKET_ALONE) return ft_rt_world_error(EINVAL);
    ft_rt_world_net *s = d->net;
    if (!s->bound && s->domain == AF_UNIX) return ft_rt_world_error(EINVAL);
    if (!s->bound) {
        set_port(&s->own.a, next_port());
        add_bound(d, pc);
    }
    act(true, &s->own, pc);
    int64_t most = backlog < 1 ? 1 : backlog > BACKLOG ? BACKLOG : backlog;
    d->kind = FT_RT_WORLD_LISTENER;
    d->in = ft_rt_world_channel_new(most + 1, 1, true, 0, pc);
    return 0;
}

/* ---- connections */

static int refuse_connection(ft_rt_world_description *d, int error)
{
    if (!d->waits_not || d->net->domain == AF_UNIX) return ft_rt_world_error(error);
    d->net->error = error;
    return ft_rt_world_error(EINPROGRESS);
}

static void become_end(ft_rt_world_description *d, ft_rt_world_channel *in,
                       ft_rt_world_channel *out)
{
    d->kind = FT_RT_WORLD_END;
    d->in = in;
    d->out = out;
}

static pending *new_pending(ft_rt_world_description *d, const ft_rt_world_description *listener,
                            const void *pc)
{
    if (n_pendings == PENDING) ft_rt_x_refuse("more connections than one run may make", pc);
    pending *p = &pendings[n_pendings++];
    bool messages = d->net->type != SOCK_STREAM;
    int64_t room = messages ? FT_RT_WORLD_MESSAGES : FT_RT_WORLD_STREAM;
    if (is_internet(&d->net->own.a) && !d->net->bound) {
        struct in_addr here = {htonl(INADDR_LOOPBACK)};
        set_port(&d->net->own.a, next_port());
        if (d->net->domain == AF_INET)
            d->net->own.a.internet.sin_addr = here;
        else
            d->net->own.a.internet6.sin6_addr = in6addr_loopback;
    }
    *p = (pending){.to_server = ft_rt_world_channel_new(room, 1, messages, 0, pc),
                   .to_client = ft_rt_world_channel_new(room, 1, messages, 0, pc),
                   .client = d->net->own,
                   .server = listener->net->own};
    return p;
}

/* The connection waits at the listener; false: errno says why not. */
static bool queue(ft_rt_world_description *d, ft_rt_world_channel *at, uint32_t number,
                  const void *pc)
{
    const struct iovec v = {&number, sizeof number};
    bool waits = !d->waits_not;
    ft_x_operation o = {.kind = waits ? FT_X_SEND : FT_X_TRY_SEND,
                        .object = at->object,
                        .value = 1,
                        .value2 = waits ? at->capacity : FT_X_ROOM(at->capacity, 1)};
    uint64_t outcome = ft_rt_explore_more(&o, pc).outcome;
    if (ft_rt_world_state(at)->waits & FT_X_BROKEN) return errno = ECONNREFUSED, false;
    if (!waits && !outcome) return errno = EAGAIN, false;
    ft_rt_world_put(at, &v, 1, sizeof number);
    return true;
}

static int connect_stream(ft_rt_world_description *d, const name *x, const void *pc)
{
    if (d->kind == FT_RT_WORLD_END) return ft_rt_world_error(EISCONN);
    if (d->kind != FT_RT_WORLD_SOCKET_ALONE) return ft_rt_world_error(EINVAL);
    act(false, x, pc);
    const ft_rt_world_description *listener = owner_of(x, d->net->type);
    if (!listener) refuse_outside(x, "connect", pc);
    bool local = x->a.plain.sa_family == AF_UNIX;
    if (!listener && local && !ft_rt_world_is_there(x->a.local.sun_path))
        return ft_rt_world_error(x->a.local.sun_path[0] ? ENOENT : ECONNREFUSED);
    if (!listener || listener->kind != FT_RT_WORLD_LISTENER)
        return refuse_connection(d, ECONNREFUSED);
    pending *p = new_pending(d, listener, pc);
    if (!queue(d, listener->in, (uint32_t)(p - pendings), pc)) return refuse_connection(d, errno);
    become_end(d, p->to_client, p->to_server);
    d->net->peer = *x;
    if (!d->waits_not || local) return 0;
    return ft_rt_world_error(EINPROGRESS);
}

int ft_rt_world_connect(int fd, const struct sockaddr *a, socklen_t n, const void *pc)
{
    name x;
    ft_rt_world_description *d = socket_at(fd);
    if (!d || !read_name(a, n, &x)) return -1;
    if (d->kind != FT_RT_WORLD_MAILBOX) return connect_stream(d, &x, pc);
    d->net->peer = x;
    if (x.a.plain.sa_family == AF_UNSPEC) d->net->peer.n = 0;
    return 0;
}

int ft_rt_world_accept(int fd, struct sockaddr *a, socklen_t *n, int flags, const void *pc)
{
    uint32_t number;
    const struct iovec v = {&number, sizeof number};
    ft_rt_world_description *d = socket_at(fd);
    if (!d) return -1;
    if (d->kind != FT_RT_WORLD_LISTENER) return ft_rt_world_error(EINVAL);
    ft_x_kind kind = d->waits_not ? FT_X_TRY_RECEIVE : FT_X_RECEIVE;
    uint64_t got = ft_rt_world_act(kind, d->in, 1, 0, pc);
    if (got == FT_X_WOULD_WAIT) return ft_rt_world_error(EAGAIN);
    if (!got) return ft_rt_world_error(EINVAL);
    ft_rt_world_take(d->in, &v, 1, sizeof number);
    const pending *p = &pendings[number];
    if (n_sockets == SOCKETS) ft_rt_x_refuse("more sockets than one run may have", pc);
    ft_rt_world_description *made = ft_rt_world_description_new(FT_RT_WORLD_END, pc);
    made->net = &sockets[n_sockets++];
    *made->net = (ft_rt_world_net){.domain = d->net->domain,
                                   .type = d->net->type,
                                   .protocol = d->net->protocol,
                                   .own = p->server,
                                   .peer = p->client};
    made->socket = true;
    made->waits_not = flags & SOCK_NONBLOCK;
    become_end(made, p->to_server, p->to_client);
    write_name(&made->net->peer, a, n);
    return ft_rt_world_number(made, pc);
}

static void forget_bound(const ft_rt_world_description *d)
{
    for (uint32_t i = 0; i < n_bound; i++)
        if (bound[i] == d) bound[i--] = bound[--n_bound];
}

/* The last descriptor is closed. Connections that wait end. */
void ft_rt_world_socket_ends(ft_rt_world_description *d, const void *pc)
{
    if (!d->net || !d->net->bound) return;
    act(true, &d->net->own, pc);
    forget_bound(d);
    if (d->kind != FT_RT_WORLD_LISTENER) return;
    ft_rt_world_act(FT_X_CLOSE, d->in, FT_X_READABLE, 0, pc);
    for (ft_rt_world_piece *p = d->in->first; p; p = p->next) {
        uint32_t number;
        memcpy(&number, p->bytes, sizeof number);
        ft_rt_world_act(FT_X_CLOSE, pendings[number].to_server, FT_X_READABLE, 0, pc);
        ft_rt_world_act(FT_X_CLOSE, pendings[number].to_client, FT_X_WRITABLE, 0, pc);
    }
    d->in->first = d->in->last = NULL;
}

/* ---- messages with addresses: each begins with its sender's */

ssize_t ft_rt_world_send_to(int fd, const struct iovec *v, size_t n, int flags,
                            const struct sockaddr *a, socklen_t length, const void *pc)
{
    enum { MOST = 64 };
    struct iovec all[MOST];
    ft_rt_world_description *d = ft_rt_world_of(fd);
    name x = d->net ? d->net->peer : (name){.n = 0};
    if (d->kind != FT_RT_WORLD_MAILBOX) return ft_rt_world_send(fd, v, n, flags, pc);
    if (a && length && !read_name(a, length, &x)) return -1;
    if (!x.n) return ft_rt_world_error(EDESTADDRREQ);
    if (n + 1 > MOST) return ft_rt_world_error(EMSGSIZE);
    if (is_internet(&d->net->own.a) && !d->net->bound) {
        set_port(&d->net->own.a, next_port());
        add_bound(d, pc);
    }
    act(false, &x, pc);
    const ft_rt_world_description *to = owner_of(&x, SOCK_DGRAM);
    size_t size = 0;
    for (size_t i = 0; i < n; i++) size += v[i].iov_len;
    if (!to && is_internet(&x.a) && !is_loopback(&x.a)) refuse_outside(&x, "sendto", pc);
    if (!to) return is_internet(&x.a) ? (ssize_t)size : ft_rt_world_error(ECONNREFUSED);
    all[0] = (struct iovec){&d->net->own, sizeof d->net->own};
    memcpy(all + 1, v, n * sizeof *v);
    bool waits = !d->waits_not && !(flags & MSG_DONTWAIT) && !is_internet(&x.a);
    if (waits)
        ft_rt_world_act(FT_X_SEND, to->in, 1, to->in->capacity, pc);
    else if (!ft_rt_world_act(FT_X_TRY_SEND, to->in, 1, FT_X_ROOM(to->in->capacity, 1), pc))
        return is_internet(&x.a) ? (ssize_t)size : ft_rt_world_error(EAGAIN);
    ft_rt_world_put(to->in, all, n + 1, size + sizeof d->net->own);
    return (ssize_t)size;
}

ssize_t ft_rt_world_receive_from(int fd, const struct iovec *v, size_t n, int flags,
                                 struct sockaddr *a, socklen_t *length, const void *pc)
{
    enum { MOST = 64 };
    struct iovec all[MOST];
    name sender = {.n = 0};
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (d->kind != FT_RT_WORLD_MAILBOX) {
        ssize_t got = ft_rt_world_receive(fd, v, n, flags, pc);
        if (got >= 0 && d->net && d->net->type == SOCK_STREAM && length) *length = 0;
        return got;
    }
    if (n + 1 > MOST) return ft_rt_world_error(EMSGSIZE);
    all[0] = (struct iovec){&sender, sizeof sender};
    memcpy(all + 1, v, n * sizeof *v);
    ssize_t got = ft_rt_world_receive_plainly(fd, all, n + 1, flags, pc);
    if (got < 0) return got;
    write_name(&sender, a, length);
    return got >= (ssize_t)sizeof sender ? got - (ssize_t)sizeof sender : 0;
}

/* ---- questions and options */

int ft_rt_world_own_name(int fd, struct sockaddr *a, socklen_t *n)
{
    const ft_rt_world_description *d = socket_at(fd);
    if (!d) {
        const name plain = {.a.plain.sa_family = AF_UNIX, .n = sizeof(sa_family_t)};
        if (ft_rt_world_of(fd)->socket) return write_name(&plain, a, n), 0;
        return -1;
    }
    write_name(&d->net->own, a, n);
    return 0;
}

int ft_rt_world_peer_name(int fd, struct sockaddr *a, socklen_t *n)
{
    const ft_rt_world_description *d = socket_at(fd);
    if (!d) return ft_rt_world_own_name(fd, a, n);
    if (!d->net->peer.n || d->net->error) return ft_rt_world_error(ENOTCONN);
    write_name(&d->net->peer, a, n);
    return 0;
}

int ft_rt_world_set_option(int fd, int level, int option, const void *from, socklen_t n)
{
    enum { PER_S = 1000 };
    struct timeval t;
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (!d->socket) return ft_rt_world_error(ENOTSOCK);
    bool limit = level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO);
    if (!limit || !d->net || n < sizeof t) return 0;
    memcpy(&t, from, sizeof t);
    d->net->ms[option == SO_SNDTIMEO] = t.tv_sec * PER_S + (t.tv_usec + PER_S - 1) / PER_S;
    return 0;
}

int64_t ft_rt_world_limit(const ft_rt_world_description *d, bool sends)
{
    return d->net ? d->net->ms[sends] : 0;
}

static int number_of(ft_rt_world_description *d, int option)
{
    const ft_rt_world_net *s = d->net;
    switch (option) {
    case SO_TYPE:
        return s ? s->type : SOCK_STREAM;
    case SO_DOMAIN:
        return s ? s->domain : AF_UNIX;
    case SO_PROTOCOL:
        return s && s->domain != AF_UNIX ? s->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP : 0;
    case SO_ACCEPTCONN:
        return d->kind == FT_RT_WORLD_LISTENER;
    case SO_SNDBUF:
    case SO_RCVBUF:
        return FT_RT_WORLD_STREAM;
    case SO_REUSEADDR:
        return 1;
    default:
        return 0;
    }
}

int ft_rt_world_option(int fd, int level, int option, void *to, socklen_t *n)
{
    ft_rt_world_description *d = ft_rt_world_of(fd);
    if (!d->socket) return ft_rt_world_error(ENOTSOCK);
    if (level == SOL_SOCKET && option == SO_PEERCRED) {
        const struct ucred own = {ft_rt_x_pid(), getuid(), getgid()};
        memcpy(to, &own, *n < sizeof own ? *n : sizeof own);
        return 0;
    }
    int value =
        level == SOL_SOCKET ? number_of(d, option) : level == IPPROTO_TCP && option == TCP_NODELAY;
    if (level == SOL_SOCKET && option == SO_ERROR && d->net) {
        value = d->net->error;
        d->net->error = 0;
    }
    memset(to, 0, *n);
    memcpy(to, &value, *n < sizeof value ? *n : sizeof value);
    return 0;
}

bool ft_rt_world_is_tcp(const ft_rt_world_description *d)
{
    return d->net && d->net->type == SOCK_STREAM && d->net->domain != AF_UNIX;
}

bool ft_rt_world_has_failed(const ft_rt_world_description *d)
{
    return d->net && d->net->error;
}
