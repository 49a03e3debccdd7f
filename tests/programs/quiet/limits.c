/* Attempts and waits with a time limit: whatever comes first, nobody waits for ever. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t tried, timed, *named;
static long total;

static struct timespec soon(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 1;
    return t;
}

static void *post(void *unused)
{
    pthread_mutex_lock(&m);
    sem_post(&tried);
    sem_post(&timed);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&m);
    sem_wait(named);
    total++;
    sem_post(named);
    return unused;
}

static void *wait_a_while(void *unused)
{
    struct timespec end = soon();
    pthread_mutex_lock(&m);
    sem_trywait(&tried);
    sem_timedwait(&timed, &end);
    pthread_mutex_unlock(&m);
    sem_wait(named);
    total++;
    sem_post(named);
    return unused;
}

static void *sleep_a_while(void *unused)
{
    struct timespec end = soon();
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&changed, &m, &end);
    pthread_mutex_unlock(&m);
    return unused;
}

/* A semaphore with a name is made by no call of ours: its first unit is there all the same. */
static void open_named(void)
{
    char name[40];
    snprintf(name, sizeof name, "/foretell-limits-%d", (int)getpid());
    named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    sem_unlink(name);
}

int main(void)
{
    pthread_t threads[3];
    struct timespec end = soon();
    open_named();
    sem_init(&tried, 0, 0);
    sem_init(&timed, 0, 0);
    pthread_create(&threads[2], NULL, sleep_a_while, NULL);
    pthread_create(&threads[0], NULL, post, NULL);
    pthread_create(&threads[1], NULL, wait_a_while, NULL);
    pthread_mutex_lock(&m);
    int late = pthread_timedjoin_np(threads[0], NULL, &end);
    int busy = pthread_tryjoin_np(threads[1], NULL);
    pthread_mutex_unlock(&m);
    if (late) pthread_join(threads[0], NULL);
    if (busy) pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    sem_close(named);
    return total != 2;
}
