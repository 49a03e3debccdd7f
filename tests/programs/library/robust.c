/* A robust mutex whose owner ends: the next one is told. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex;

static void *leave_locked(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    for (int consistent = 1; consistent >= 0; consistent--) {
        pthread_mutex_init(&mutex, &attributes);
        pthread_create(&thread, NULL, leave_locked, NULL);
        pthread_join(thread, NULL);
        printf("lock: %s\n", strerror(pthread_mutex_lock(&mutex)));
        if (consistent) printf("consistent: %s\n", strerror(pthread_mutex_consistent(&mutex)));
        pthread_mutex_unlock(&mutex);
        printf("again: %s\n", strerror(pthread_mutex_trylock(&mutex)));
        if (consistent) pthread_mutex_unlock(&mutex);
        pthread_mutex_destroy(&mutex);
    }
    return 0;
}
