/* usage: sockets WHAT [FOLDER]: a program that speaks to itself.
 *   tcp, tcp6, unix      a thread serves two clients, one after the other; they send and get back
 *   late                 the client may come before the server listens: it is refused, or served
 *   pieces               a long message comes in pieces, as large as they are there
 *   gone                 the server closes at once: the client reads the end
 *   edges, level         an event loop without blocking calls, by epoll
 *   forgets              the same with edges, and it reads too little: it waits for ever
 *   datagrams            messages with addresses
 *   limit                SO_RCVTIMEO passes when nobody sends
 *   stop                 shutdown of the listener wakes accept
 *   names                addresses, options and errors */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *what, *folder;
static struct sockaddr_storage address;
static socklen_t length = sizeof address;
static int listener, family = AF_INET, clients = 2;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static int listen_at_any(void)
{
    int fd = socket(family, SOCK_STREAM, 0), one = 1;
    assert(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
    address.ss_family = (sa_family_t)family;
    if (family == AF_UNIX) {
        struct sockaddr_un *to = (struct sockaddr_un *)&address;
        length = sizeof *to;
        snprintf(to->sun_path, sizeof to->sun_path, "%s/socket", folder);
    } else if (family == AF_INET) {
        ((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        length = sizeof(struct sockaddr_in);
    } else {
        ((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
        length = sizeof(struct sockaddr_in6);
    }
    assert(!bind(fd, (struct sockaddr *)&address, length) && !listen(fd, 4));
    socklen_t n = sizeof address;
    assert(!getsockname(fd, (struct sockaddr *)&address, &n) && n <= sizeof address);
    return fd;
}

static int call(void)
{
    int fd = socket(family, SOCK_STREAM, 0);
    assert(fd >= 0);
    if (!connect(fd, (struct sockaddr *)&address, length)) return fd;
    close(fd);
    return -1;
}

static void *client(void *text)
{
    char got[8] = "";
    int fd = call();
    assert(fd >= 0 && write(fd, text, 3) == 3);
    assert(recv(fd, got, 3, MSG_WAITALL) == 3 && !memcmp(got, text, 3));
    assert(read(fd, got, 1) == 0);
    close(fd);
    return NULL;
}

static void serve_all(void)
{
    for (int i = 0; i < clients; i++) {
        char got[8];
        int fd = accept(listener, NULL, NULL);
        assert(fd >= 0 && recv(fd, got, 3, MSG_WAITALL) == 3 && write(fd, got, 3) == 3);
        close(fd);
    }
}

/* ---- an event loop */

static void *send_twice(void *unused)
{
    int fd = call();
    assert(write(fd, "ab", 2) == 2 && write(fd, "cd", 2) == 2 && !shutdown(fd, SHUT_WR));
    close(fd);
    return unused;
}

static void watch(int epoll, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    assert(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e));
}

/* At most `most` bytes at a time, until there are none (or once). True: the end has come. */
static int drain(int fd, int most, int *got)
{
    char text[8];
    ssize_t n;
    while ((n = read(fd, text, (size_t)most)) > 0) {
        *got += (int)n;
        if (is("forgets")) return 0;
    }
    assert(!n || errno == EAGAIN);
    return !n;
}

static void loop(void)
{
    uint32_t edge = is("level") ? 0 : EPOLLET;
    int epoll = epoll_create1(0), got = 0, ended = 0;
    assert(!fcntl(listener, F_SETFL, O_NONBLOCK));
    watch(epoll, listener, EPOLLIN | edge);
    while (!ended) {
        struct epoll_event e[4];
        int n = epoll_wait(epoll, e, 4, -1);
        assert(n > 0);
        for (int i = 0; i < n; i++) {
            int fd = e[i].data.fd == listener ? accept4(listener, NULL, NULL, SOCK_NONBLOCK) : -1;
            if (fd >= 0) watch(epoll, fd, EPOLLIN | edge);
            if (e[i].data.fd != listener) ended = drain(e[i].data.fd, 2, &got);
        }
    }
    assert(got == 4);
}

/* ---- others */

static void *come_late(void *unused)
{
    int fd = call();
    assert(fd >= 0 || errno == ECONNREFUSED);
    if (fd >= 0) assert(write(fd, "x", 1) == 1);
    close(fd);
    return unused;
}

static void late(void)
{
    char got;
    pthread_t thread;
    listener = listen_at_any();
    struct sockaddr_storage kept = address;
    close(listener);
    pthread_create(&thread, NULL, come_late, NULL);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert(!bind(listener, (struct sockaddr *)&kept, length) && !listen(listener, 1));
    pthread_join(thread, NULL);
    int fd = accept(listener, NULL, NULL);
    assert(fd >= 0 ? read(fd, &got, 1) == 1 : errno == EAGAIN);
}

static void *send_long(void *unused)
{
    int fd = call();
    assert(write(fd, "abcd", 4) == 4 && write(fd, "efgh", 4) == 4);
    close(fd);
    return unused;
}

static void pieces(void)
{
    char got[8];
    int all = 0, fd = accept(listener, NULL, NULL);
    for (ssize_t n; (n = read(fd, got, sizeof got)) > 0; all += (int)n) assert(n == 4 || n == 8);
    assert(all == 8);
}

static void *read_end(void *unused)
{
    char got;
    int fd = call();
    assert(fd >= 0 && read(fd, &got, 1) == 0);
    return unused;
}

static void *send_datagram(void *to)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert(sendto(fd, to, 2, 0, (struct sockaddr *)&address, length) == 2);
    return NULL;
}

static void datagrams(void)
{
    pthread_t threads[2];
    char got[2][3] = {"", ""};
    struct sockaddr_in from[2];
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    length = sizeof own;
    assert(!bind(fd, (struct sockaddr *)&own, length));
    assert(!getsockname(fd, (struct sockaddr *)&address, &length));
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, send_datagram, i ? "cd" : "ab");
    for (int i = 0; i < 2; i++) {
        socklen_t n = sizeof from[i];
        assert(recvfrom(fd, got[i], 2, 0, (struct sockaddr *)&from[i], &n) == 2 && n == sizeof own);
    }
    assert(strcmp(got[0], got[1]) && from[0].sin_port != from[1].sin_port);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void *connect_only(void *unused)
{
    int fd = call();
    assert(fd >= 0);
    return unused;
}

static void limit(void)
{
    char got;
    struct timeval t = {.tv_usec = 100000};
    int fd = accept(listener, NULL, NULL);
    assert(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
    assert(read(fd, &got, 1) < 0 && errno == EAGAIN);
}

static void *stop(void *unused)
{
    assert(!shutdown(listener, SHUT_RDWR));
    return unused;
}

static void names(void)
{
    struct sockaddr_storage peer;
    socklen_t n = sizeof peer, size = sizeof(int);
    int fd = call(), type = 0, error = 1, other = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert(!getpeername(fd, (struct sockaddr *)&peer, &n) && !memcmp(&peer, &address, length));
    assert(!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM);
    assert(getpeername(other, (struct sockaddr *)&peer, &n) && errno == ENOTCONN);
    assert(bind(other, (struct sockaddr *)&address, length) && errno == EADDRINUSE);
    close(listener);
    int result = connect(other, (struct sockaddr *)&address, length);
    struct pollfd one = {.fd = other, .events = POLLOUT};
    assert(result && (errno == EINPROGRESS || errno == ECONNREFUSED));
    if (errno == EINPROGRESS) {
        assert(poll(&one, 1, -1) == 1 && one.revents & POLLOUT);
        assert(!getsockopt(other, SOL_SOCKET, SO_ERROR, &error, &size) && error == ECONNREFUSED);
    }
    assert(send(other, "x", 1, MSG_NOSIGNAL) < 0);
}

static void run_with(void *(*start)(void *), void (*then)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, start, NULL);
    then();
    pthread_join(thread, NULL);
}

static void close_at_once(void)
{
    close(accept(listener, NULL, NULL));
}

static void accept_nothing(void)
{
    assert(accept(listener, NULL, NULL) < 0 && errno == EINVAL);
}

static void *nothing(void *unused)
{
    return unused;
}

static void serve(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, client, i ? "abc" : "def");
    serve_all();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    what = argv[1];
    folder = argc > 2 ? argv[2] : ".";
    if (is("tcp6")) family = AF_INET6;
    if (is("unix")) family = AF_UNIX;
    if (!is("late") && !is("datagrams")) listener = listen_at_any();
    if (is("tcp") || is("tcp6") || is("unix")) serve();
    if (is("edges") || is("level") || is("forgets")) run_with(send_twice, loop);
    if (is("late")) late();
    if (is("pieces")) run_with(send_long, pieces);
    if (is("gone")) run_with(read_end, close_at_once);
    if (is("datagrams")) datagrams();
    if (is("limit")) run_with(connect_only, limit);
    if (is("stop")) run_with(stop, accept_nothing);
    if (is("names")) run_with(nothing, names);
    return 0;
}
