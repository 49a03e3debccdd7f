/* usage: limits WHAT [SECONDS]: waits with a time limit, again and again until another thread has
 * done its part. condition, semaphore, pipe    such a loop once                          one such
 * wait; the program fails if its limit passes sleep                         no wait: it fails if
 * its sleep ends first */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t posted;
static int done, ends[2], seconds;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    sem_post(&posted);
    return write(ends[1], "x", 1) == 1 ? unused : NULL;
}

static struct timespec in_a_while(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += seconds;
    t.tv_nsec += 10000000;
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

static int condition(int only_once)
{
    int result = 0;
    pthread_mutex_lock(&lock);
    while (!done && !result) {
        struct timespec until = in_a_while();
        int passed = pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT;
        if (only_once) result = passed;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void semaphore(void)
{
    struct timespec until;
    do until = in_a_while();
    while (sem_timedwait(&posted, &until) && errno == ETIMEDOUT);
}

static int slept(void)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = seconds}, NULL);
    pthread_mutex_lock(&lock);
    int there = done;
    pthread_mutex_unlock(&lock);
    return there;
}

static void pipe_end(void)
{
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};
    while (!poll(&fd, 1, 10)) continue;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int result = 0;
    if (argc > 2) seconds = (int)strtol(argv[2], NULL, 10);
    if (argc < 2 || pipe(ends) || sem_init(&posted, 0, 0)) return 2;
    pthread_create(&thread, NULL, work, NULL);
    if (!strcmp(argv[1], "condition")) result = condition(0);
    if (!strcmp(argv[1], "once")) result = condition(1);
    if (!strcmp(argv[1], "semaphore")) semaphore();
    if (!strcmp(argv[1], "pipe")) pipe_end();
    if (!strcmp(argv[1], "sleep")) result = !slept();
    pthread_join(thread, NULL);
    return result;
}
