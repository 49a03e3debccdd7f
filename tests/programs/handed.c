/* One thread fills a place and says so; the other one waits for that without taking anything (poll,
 * select, epoll, how much is there), or for the end of a stream, for room in a pipe, for a signal.
 * The wrong order fills behind the word. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    POLL,
    SELECT,
    EPOLL,
    NESTED,
    LEFT,
    SHUT,
    POLLED_EVENT,
    EVENT,
    TIMER,
    ROOM,
    MESSAGE,
    SENT,
    WAYS
};

static int places[WAYS], sum;
static int ends[WAYS][2], event[3], watch[WAYS];
static pthread_t waiter;

static void say(int way)
{
    char c = 'x', page[4096];
    struct iovec piece = {&c, 1};
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};
    struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
    int bad = 0;
    switch (way) {
    case SHUT:
        bad = shutdown(ends[way][1], SHUT_WR);
        break;
    case POLLED_EVENT:
    case EVENT:
        bad = eventfd_write(event[way == EVENT], 1);
        break;
    case TIMER:
        bad = timerfd_settime(event[2], 0, &soon, NULL);
        break;
    case ROOM:
        bad = read(ends[way][0], page, sizeof page) != sizeof page;
        break;
    case MESSAGE:
        bad = sendmmsg(ends[way][1], &m, 1, 0) != 1;
        break;
    case SENT:
        bad = pthread_kill(waiter, SIGUSR1);
        break;
    default:
        bad = write(ends[way][1], &c, 1) != 1;
        break;
    }
    if (bad) exit(3);
}

static void wait_for(int way)
{
    struct pollfd p = {.fd = way == POLLED_EVENT ? event[0]
                             : way == NESTED     ? watch[NESTED]
                                                 : ends[way][0],
                       .events = POLLIN};
    struct epoll_event e;
    eventfd_t count;
    sigset_t set;
    fd_set r;
    char c;
    int n = 0;
    switch (way) {
    case POLL:
    case NESTED:
    case POLLED_EVENT:
        poll(&p, 1, -1);
        break;
    case SELECT:
        FD_ZERO(&r);
        FD_SET(p.fd, &r);
        select(p.fd + 1, &r, NULL, NULL, NULL);
        break;
    case EPOLL:
        epoll_wait(watch[EPOLL], &e, 1, -1);
        break;
    case LEFT:
        while (!n) ioctl(p.fd, FIONREAD, &n), usleep(100);
        break;
    case EVENT:
        eventfd_read(event[1], &count);
        break;
    case TIMER:
        if (read(event[2], &count, sizeof count) != sizeof count) exit(3);
        break;
    case ROOM:
        if (write(ends[way][1], "y", 1) != 1) exit(3);
        break;
    case SENT:
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigwait(&set, &n);
        break;
    default:
        if (read(p.fd, &c, 1) < 0) exit(3);
        break;
    }
}

static void *give(void *unused)
{
    for (int way = 0; way < WAYS; way++) {
#ifdef FIXED
        places[way] = way;
        say(way);
#else
        say(way);
        places[way] = way;
#endif
    }
    return unused;
}

static void *get(void *unused)
{
    for (int way = 0; way < WAYS; way++) {
        wait_for(way);
        sum += places[way];
    }
    return unused;
}

static void open_all(void)
{
    char page[4096] = "";
    sigset_t set;
    for (int way = 0; way < WAYS; way++) {
        int bad = way == SHUT || way == MESSAGE ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends[way])
                                                : pipe(ends[way]);
        struct epoll_event e = {.events = EPOLLIN};
        if (bad) exit(2);
        watch[way] = epoll_create1(0);
        epoll_ctl(watch[way], EPOLL_CTL_ADD, ends[way][0], &e);
    }
    for (int i = 0; i < 2; i++) event[i] = eventfd(0, 0);
    event[2] = timerfd_create(CLOCK_MONOTONIC, 0);
    fcntl(ends[ROOM][1], F_SETPIPE_SZ, sizeof page);
    if (write(ends[ROOM][1], page, sizeof page) != sizeof page) exit(2);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int main(void)
{
    pthread_t giver;
    open_all();
    pthread_create(&waiter, NULL, get, NULL);
    pthread_create(&giver, NULL, give, NULL);
    pthread_join(giver, NULL);
    pthread_join(waiter, NULL);
    printf("%d\n", sum);
    return 0;
}
