/* A server thread that waits for connections, which a replay has from the recording alone, and for
 * an event descriptor, which is there: by poll, select or epoll, as the argument says. Behind the
 * end of a schedule it still serves all three clients before it is stopped. Both threads count
 * without the lock first of all. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 3 };
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int listener, stop, set, count;
#ifdef FIXED
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

static void must(int good)
{
    if (!good) abort();
}

static void add(void)
{
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
    count++;
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *ask(void *unused)
{
    char text[4];
    uint64_t one = 1;
    add();
    for (int i = 0; i < CLIENTS; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        must(!connect(fd, (struct sockaddr *)&address, sizeof address));
        must(write(fd, "ping", 4) == 4 && read(fd, text, 4) == 4);
        close(fd);
    }
    must(write(stop, &one, sizeof one) == sizeof one);
    return unused;
}

static void serve(void)
{
    char text[4];
    int fd = accept(listener, NULL, NULL);
    must(fd >= 0 && read(fd, text, 4) == 4 && write(fd, "pong", 4) == 4);
    close(fd);
}

/* Whether a client is there; else it is to stop. */
static int poll_them(void)
{
    struct pollfd both[] = {{.fd = listener, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    must(poll(both, 2, -1) > 0);
    return both[0].revents != 0;
}

static int select_them(void)
{
    fd_set both;
    FD_ZERO(&both);
    FD_SET(listener, &both);
    FD_SET(stop, &both);
    must(select((listener > stop ? listener : stop) + 1, &both, NULL, NULL, NULL) > 0);
    return FD_ISSET(listener, &both);
}

static void watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    must(!epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
}

static int wait_for_them(void)
{
    struct epoll_event event;
    must(epoll_wait(set, &event, 1, -1) == 1);
    return event.data.fd == listener;
}

int main(int n, char **words)
{
    const char *how = n > 1 ? words[1] : "poll";
    pthread_t thread;
    int served = 0;
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/served.%d", (int)getpid());
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    must(!bind(listener, (struct sockaddr *)&address, sizeof address) &&
         !listen(listener, CLIENTS));
    must((stop = eventfd(0, 0)) >= 0 && (set = epoll_create1(0)) >= 0);
    watch(listener);
    watch(stop);
    pthread_create(&thread, NULL, ask, NULL);
    add();
    while (!strcmp(how, "poll") ? poll_them() : *how == 's' ? select_them() : wait_for_them()) {
        serve();
        served++;
    }
    pthread_join(thread, NULL);
    unlink(address.sun_path);
    must(served == CLIENTS);
    printf("%d\n", count);
    return 0;
}
