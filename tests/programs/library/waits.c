/* Condition variables, semaphores, barriers and once, by every call. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static sem_t units;
static int ready, initialised, flagged, serial;

static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 10 * 1000000;
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

static void say(int result)
{
    int why = errno;
    printf("%d %s\n", result, strerror(why));
}

static void initialise(void)
{
    initialised++;
}

static void raise_flag(void)
{
    flagged++;
}

static void *work(void *unused)
{
    pthread_once(&once, initialise);
    call_once(&flag, raise_flag);
    pthread_mutex_lock(&mutex);
    while (!ready) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    sem_wait(&units);
    for (int i = 0; i < 2; i++)
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            pthread_mutex_lock(&mutex);
            serial++;
            pthread_mutex_unlock(&mutex);
        }
    return unused;
}

static void time_out(void)
{
    pthread_condattr_t attributes;
    pthread_cond_t steady;
    struct timespec a = soon(CLOCK_REALTIME), b = soon(CLOCK_MONOTONIC);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&steady, &attributes);
    pthread_mutex_lock(&mutex);
    printf("%s\n", strerror(pthread_cond_timedwait(&condition, &mutex, &a)));
    printf("%s\n", strerror(pthread_cond_timedwait(&steady, &mutex, &b)));
    b = soon(CLOCK_MONOTONIC);
    printf("%s\n", strerror(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &b)));
    pthread_mutex_unlock(&mutex);
    a = soon(CLOCK_REALTIME), b = soon(CLOCK_MONOTONIC);
    say(sem_trywait(&units));
    say(sem_timedwait(&units, &a));
    say(sem_clockwait(&units, CLOCK_MONOTONIC, &b));
    pthread_cond_destroy(&steady);
}

int main(void)
{
    pthread_t threads[3];
    int value;
    sem_init(&units, 0, 0);
    pthread_barrier_init(&barrier, NULL, 3);
    time_out();
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, NULL);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++) sem_post(&units);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    sem_getvalue(&units, &value);
    printf("%d %d %d %d\n", initialised, flagged, serial, value);
    return 0;
}
