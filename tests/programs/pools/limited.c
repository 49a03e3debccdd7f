/* Workers that wait for tasks with a time limit, and look again when it has passed; a sleep between
 * two looks orders nothing. Arguments: workers, tasks. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, MS = 1000000, SECOND = 1000000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int waiting_tasks, done;
static bool ends;

static struct timespec soon(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 20 * MS;
    if (t.tv_nsec >= SECOND) t.tv_sec++, t.tv_nsec -= SECOND;
    return t;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!ends || waiting_tasks) {
        struct timespec until = soon();
        if (!waiting_tasks) pthread_cond_timedwait(&some, &lock, &until);
        if (!waiting_tasks) continue;
        waiting_tasks--;
        done++;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int n, char **words)
{
    int workers = n > 1 ? atoi(words[1]) : 2, tasks = n > 2 ? atoi(words[2]) : 3;
    pthread_t threads[MOST];
    for (int i = 0; i < workers; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < tasks; i++) {
        pthread_mutex_lock(&lock);
        waiting_tasks++;
        pthread_cond_signal(&some);
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
    pthread_mutex_lock(&lock);
    ends = true;
    pthread_cond_broadcast(&some);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    return done != tasks;
}
