/* Threads of which each opens something, counts that without a lock (FIXED: with one) and closes
 * it. The first one is through before the second begins, which would have the number that the first
 * one closed: that is no order of the program's. REUSED: what the program keeps by number is
 * there for one thread after the other. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { KEPT = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, kept[KEPT];

static void take_count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    count++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

/* 0: it was open, and is closed. */
static int use(int fd)
{
    if (fd < 0 || fd >= KEPT) return 1;
#ifdef REUSED
    kept[fd]++;
#endif
    take_count();
    return close(fd);
}

static int open_one(void)
{
#if defined STREAM
    FILE *file = fopen("/dev/null", "w");
    take_count();
    return !file || fclose(file);
#elif defined FOLDER
    DIR *folder = opendir("/");
    take_count();
    return !folder || closedir(folder);
#elif defined PIPE
    int ends[2];
    return pipe(ends) || close(ends[0]) || use(ends[1]);
#elif defined PAIR
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || close(ends[0]) || use(ends[1]);
#elif defined SOCKET
    return use(socket(AF_INET, SOCK_DGRAM, 0));
#elif defined EVENT
    return use(eventfd(0, EFD_CLOEXEC));
#elif defined EPOLL
    return use(epoll_create1(EPOLL_CLOEXEC));
#elif defined TIMER
    return use(timerfd_create(CLOCK_MONOTONIC, 0));
#elif defined COPY
    return use(dup(STDIN_FILENO));
#elif defined CREATED
    return use(creat("/dev/null", 0600));
#else
    return use(open("/dev/null", O_WRONLY | O_CLOEXEC));
#endif
}

static void *run(void *failed)
{
    *(int *)failed = open_one();
    return NULL;
}

int main(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    int failed[THREADS], bad = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, &failed[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        bad |= failed[i];
    }
    return bad || count != THREADS || pthread_mutex_lock(&lock);
}
