/* What threads send each other goes on behind the end of a schedule: a pipe that is a lock, an
 * event descriptor and a pair of sockets that a set watches. All workers count without the lock
 * first of all; then each goes through the lock, in which nobody may find another one, and sends a
 * word to main, which waits for all of them, for the first one a second at most. With an argument
 * main then says a word to itself through sockets with addresses, which a replay does not have, and
 * where MORE is set waits for another one. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3, ROUNDS = 4 };
static int lock[2], words[2], wake;
static sem_t begun;
static int count, inside;
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

static void *work(void *unused)
{
    char token;
    add();
    struct pollfd none = {.fd = words[1], .events = POLLIN};
    must(!poll(&none, 1, 30)); /* it takes a while */
    sem_post(&begun);
    for (int i = 0; i < ROUNDS; i++) {
        must(read(lock[0], &token, 1) == 1);
        must(!inside);
        inside = 1;
        must(write(words[1], "word", 4) == 4);
        inside = 0;
        must(write(lock[1], "x", 1) == 1);
        uint64_t one = 1;
        must(write(wake, &one, sizeof one) == sizeof one);
    }
    return unused;
}

static void await_one(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    must(!sem_timedwait(&begun, &until));
}

static void await_all(void)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = wake}};
    must(!epoll_ctl(set, EPOLL_CTL_ADD, wake, &event));
    for (uint64_t all = 0, some; all < WORKERS * ROUNDS; all += some) {
        must(epoll_wait(set, &event, 1, -1) == 1 && event.data.fd == wake);
        must(read(wake, &some, sizeof some) == sizeof some);
    }
    char text[4];
    struct pollfd one = {.fd = words[0], .events = POLLIN};
    for (int i = 0; i < WORKERS * ROUNDS; i++)
        must(poll(&one, 1, -1) == 1 && read(words[0], text, 4) == 4);
    close(set);
}

/* Says a word to itself. */
static void ask(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof here;
    char text[8];
    int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
    must(!bind(to, (struct sockaddr *)&here, n) && !getsockname(to, (struct sockaddr *)&here, &n));
    must(sendto(from, "hello", 5, 0, (struct sockaddr *)&here, n) == 5);
    must(recv(to, text, sizeof text, 0) == 5);
    if (getenv("MORE")) recv(to, text, sizeof text, 0);
}

int main(int n, char **argument)
{
    pthread_t threads[WORKERS];
    (void)argument;
    must(!pipe(lock) && !socketpair(AF_UNIX, SOCK_STREAM, 0, words));
    must((wake = eventfd(0, 0)) >= 0 && write(lock[1], "x", 1) == 1);
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, NULL);
    await_one();
    await_all();
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    if (n > 1) ask();
    printf("%d\n", count);
    return 0;
}
