/* Tests that take time for an order: each case fails where a sleep or a time limit ends before
 * another thread has gone on. With FIXED they wait for what they need. Argument: the case. */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#ifdef FIXED
enum { fixed = 1 };
#else
enum { fixed = 0 };
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t filled;
static bool attached, quits;
static int level;

static struct timespec after(int ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    return t;
}

/* ---- a sleep until the worker "must be" there */

static void *attach(void *unused)
{
    pthread_mutex_lock(&lock);
    attached = true;
    pthread_cond_broadcast(&changed);
    while (!quits) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void sleeping(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, attach, NULL);
    if (!fixed) usleep(30000);
    pthread_mutex_lock(&lock);
    while (fixed && !attached) pthread_cond_wait(&changed, &lock);
    if (attached) quits = true, pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
}

/* ---- limits that are taken for success */

static void *fill(void *unused)
{
    pthread_mutex_lock(&lock);
    attached = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void condition(void)
{
    pthread_t worker;
    struct timespec until = after(3000);
    int error = 0;
    pthread_create(&worker, NULL, fill, NULL);
    pthread_mutex_lock(&lock);
    while (!attached && !error) error = pthread_cond_timedwait(&changed, &lock, &until);
    if (!fixed || !error) assert(attached);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
}

static void *raise_level(void *unused)
{
    level = 7;
    sem_post(&filled);
    return unused;
}

static void semaphore(void)
{
    pthread_t worker;
    struct timespec until = after(2000);
    sem_init(&filled, 0, 0);
    pthread_create(&worker, NULL, raise_level, NULL);
    if (!sem_timedwait(&filled, &until) || !fixed) printf("%d\n", level);
    pthread_join(worker, NULL);
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&lock);
    level++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void locked(void)
{
    pthread_t workers[2];
    struct timespec until = after(1000);
    for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, hold, NULL);
    int error = pthread_mutex_timedlock(&lock, &until);
    if (!error || !fixed) level++;
    if (!error) pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
}

static void *compute(void *unused)
{
    level = 3;
    return unused;
}

static void joined(void)
{
    pthread_t worker;
    struct timespec until = after(1000);
    pthread_create(&worker, NULL, compute, NULL);
    int error = pthread_timedjoin_np(worker, NULL, &until);
    if (!error || !fixed) printf("%d\n", level);
    if (error) pthread_join(worker, NULL);
}

/* ---- descriptors */

static int ends[2], set;

static void *send(void *unused)
{
    level = 5;
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}

/* Is there something to read within a second? */
static int by_poll(void)
{
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    return poll(&one, 1, 1000);
}

static int by_select(void)
{
    struct timeval limit = {.tv_sec = 1};
    fd_set one;
    FD_ZERO(&one);
    FD_SET(ends[0], &one);
    return select(ends[0] + 1, &one, NULL, NULL, &limit);
}

static int by_epoll(void)
{
    struct epoll_event event;
    return epoll_wait(set, &event, 1, 1000);
}

static void received(int (*wait)(void))
{
    pthread_t worker;
    struct epoll_event event = {.events = EPOLLIN};
    assert(pipe(ends) == 0);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    pthread_create(&worker, NULL, send, NULL);
    if (wait() == 1 || !fixed) printf("%d\n", level);
    pthread_join(worker, NULL);
}

static void polled(void)
{
    received(by_poll);
}

static void selected(void)
{
    received(by_select);
}

static void watched(void)
{
    received(by_epoll);
}

/* ---- the program's end is no join */

static void *audit(void *unused)
{
    pthread_mutex_lock(&lock);
    assert(level != 2);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void unjoined(void)
{
    pthread_t workers[3];
    pthread_create(&workers[0], NULL, audit, NULL);
    if (fixed) pthread_join(workers[0], NULL);
    for (int i = 1; i < 3; i++) pthread_create(&workers[i], NULL, hold, NULL);
    for (int i = 1; fixed && i < 3; i++) pthread_join(workers[i], NULL);
}

int main(int n, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"sleep", sleeping}, {"condition", condition}, {"semaphore", semaphore},
                 {"lock", locked},    {"join", joined},         {"unjoined", unjoined},
                 {"poll", polled},    {"select", selected},     {"epoll", watched}};
    for (size_t i = 0; n > 1 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(words[1], cases[i].name)) cases[i].run();
    return 0;
}
