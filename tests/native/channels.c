#define _GNU_SOURCE
/* usage: channels WHAT: threads that pass content through descriptors. Each ends with 0 in every
 * schedule, but `lost', `full' and `crossed', which are stuck in some. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], others[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(int fd, const char *text)
{
    assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static char take(int fd)
{
    char one = 0;
    assert(read(fd, &one, 1) == 1);
    return one;
}

static void *put_ab(void *fd)
{
    put(*(int *)fd, "a");
    put(*(int *)fd, "b");
    return NULL;
}

static void *put_then_close(void *fd)
{
    put(*(int *)fd, "xyz");
    close(*(int *)fd);
    return NULL;
}

static void *put_one(void *fd)
{
    put(*(int *)fd, "1");
    return NULL;
}

static void *close_it(void *fd)
{
    close(*(int *)fd);
    return NULL;
}

static void *answer(void *fd)
{
    char one = take(*(int *)fd);
    one++;
    assert(write(*(int *)fd, &one, 1) == 1);
    return NULL;
}

static void *count(void *fd)
{
    const uint64_t two = 2;
    assert(write(*(int *)fd, &two, sizeof two) == sizeof two);
    return NULL;
}

static void *fill(void *fd)
{
    char page[4096] = {0};
    assert(write(*(int *)fd, page, sizeof page) == sizeof page);
    return NULL;
}

static void *take_a_token(void *fd)
{
    for (int i = 0; i < 2; i++) {
        take(((int *)fd)[0]);
        put(((int *)fd)[1], "t");
    }
    return NULL;
}

static void fifo(void)
{
    pthread_t t;
    assert(!pipe(ends));
    pthread_create(&t, NULL, put_ab, &ends[1]);
    assert(take(ends[0]) == 'a');
    assert(take(ends[0]) == 'b');
    pthread_join(t, NULL);
}

static void end_of_file(void)
{
    pthread_t t;
    char all[8] = "";
    size_t n = 0;
    assert(!pipe(ends));
    pthread_create(&t, NULL, put_then_close, &ends[1]);
    for (ssize_t got; (got = read(ends[0], all + n, 2)) > 0; n += (size_t)got) continue;
    assert(n == 3 && !memcmp(all, "xyz", 3));
    pthread_join(t, NULL);
}

/* A copy keeps the pipe open. */
static void copies(void)
{
    pthread_t t;
    assert(!pipe(ends));
    int copy = dup(ends[1]);
    pthread_create(&t, NULL, close_it, &ends[1]);
    put(copy, "c");
    close(copy);
    pthread_join(t, NULL);
    assert(take(ends[0]) == 'c');
    char one;
    assert(read(ends[0], &one, 1) == 0);
}

static void broken(void)
{
    pthread_t t;
    signal(SIGPIPE, SIG_IGN);
    assert(!pipe(ends));
    pthread_create(&t, NULL, close_it, &ends[0]);
    ssize_t put = write(ends[1], "x", 1);
    assert(put == 1 || (put == -1 && errno == EPIPE));
    pthread_join(t, NULL);
    assert(write(ends[1], "x", 1) == -1 && errno == EPIPE);
}

static void pair(void)
{
    pthread_t t;
    assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    pthread_create(&t, NULL, answer, &ends[1]);
    put(ends[0], "p");
    assert(take(ends[0]) == 'q');
    pthread_join(t, NULL);
}

static void messages(void)
{
    pthread_t t;
    char text[8];
    assert(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    pthread_create(&t, NULL, put_then_close, &ends[1]);
    assert(recv(ends[0], text, 2, 0) == 2 && text[0] == 'x');
    pthread_join(t, NULL);
    assert(recv(ends[0], text, 2, MSG_DONTWAIT) <= 0); /* the rest of the message is gone */
}

static void event(void)
{
    pthread_t t, u;
    uint64_t all = 0, got;
    ends[0] = eventfd(1, 0);
    pthread_create(&t, NULL, count, &ends[0]);
    pthread_create(&u, NULL, count, &ends[0]);
    while (all < 5) {
        assert(read(ends[0], &got, sizeof got) == sizeof got && got);
        all += got;
    }
    assert(all == 5);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}

static void waits_for_two(bool by_select)
{
    pthread_t t, u;
    int left = 2;
    assert(!pipe(ends) && !pipe(others));
    pthread_create(&t, NULL, put_one, &ends[1]);
    pthread_create(&u, NULL, put_one, &others[1]);
    while (left) {
        struct pollfd fds[] = {{.fd = ends[0], .events = POLLIN},
                               {.fd = others[0], .events = POLLIN}};
        fd_set set;
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        FD_SET(others[0], &set);
        int n = ends[0] > others[0] ? ends[0] : others[0];
        int found = by_select ? select(n + 1, &set, NULL, NULL, NULL) : poll(fds, 2, -1);
        assert(found > 0);
        for (int i = 0; i < 2; i++) {
            bool there = by_select ? FD_ISSET(fds[i].fd, &set) : fds[i].revents & POLLIN;
            if (!there) continue;
            assert(take(fds[i].fd) == '1');
            left--;
        }
    }
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}

static void watches(void)
{
    pthread_t t;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 7}, got[2];
    assert(!pipe(ends));
    int set = epoll_create1(0);
    assert(set >= 0 && !epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
    assert(epoll_wait(set, got, 2, 0) == 0);
    pthread_create(&t, NULL, put_one, &ends[1]);
    assert(epoll_wait(set, got, 2, -1) == 1 && got[0].data.u32 == 7);
    assert(take(ends[0]) == '1');
    pthread_join(t, NULL);
    assert(epoll_wait(set, got, 2, 10) == 0);
}

static void tries(void)
{
    pthread_t t;
    char one;
    assert(!pipe2(ends, O_NONBLOCK));
    pthread_create(&t, NULL, put_one, &ends[1]);
    while (read(ends[0], &one, 1) < 0) assert(errno == EAGAIN);
    assert(one == '1');
    pthread_join(t, NULL);
}

/* A pipe of two tokens as a lock. */
static void tokens(void)
{
    pthread_t t, u;
    assert(!pipe(ends));
    put(ends[1], "tt");
    pthread_create(&t, NULL, take_a_token, ends);
    pthread_create(&u, NULL, take_a_token, ends);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    assert(take(ends[0]) == 't' && take(ends[0]) == 't');
}

static void *take_under_lock(void *fd)
{
    pthread_mutex_lock(&lock);
    take(*(int *)fd);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Waits for content under the lock that the writer needs. */
static void lost(void)
{
    pthread_t t;
    assert(!pipe(ends));
    pthread_create(&t, NULL, take_under_lock, &ends[0]);
    pthread_mutex_lock(&lock);
    put(ends[1], "x");
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
}

/* A pipe of 65,536 bytes has room for one more page, not for two. */
static void full(void)
{
    pthread_t t;
    char most[15 * 4096] = {0};
    assert(!pipe(ends));
    assert(write(ends[1], most, sizeof most) == sizeof most);
    pthread_create(&t, NULL, fill, &ends[1]);
    fill(&ends[1]);
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "fifo")) fifo();
    if (!strcmp(what, "end")) end_of_file();
    if (!strcmp(what, "copies")) copies();
    if (!strcmp(what, "broken")) broken();
    if (!strcmp(what, "pair")) pair();
    if (!strcmp(what, "messages")) messages();
    if (!strcmp(what, "event")) event();
    if (!strcmp(what, "poll")) waits_for_two(false);
    if (!strcmp(what, "select")) waits_for_two(true);
    if (!strcmp(what, "epoll")) watches();
    if (!strcmp(what, "tries")) tries();
    if (!strcmp(what, "tokens")) tokens();
    if (!strcmp(what, "lost")) lost();
    if (!strcmp(what, "full")) full();
    return 0;
}
