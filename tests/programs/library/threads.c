/* C11 threads with their mutexes, conditions and storage; detached threads; destructors of
 * thread-specific data, which run as their thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex, timed, recursive;
static cnd_t condition;
static tss_t storage;
static pthread_key_t key;
static sem_t gone;
static int counter, destroyed, ready;

static void destroy(void *value)
{
    mtx_lock(&mutex);
    destroyed += *(int *)value;
    mtx_unlock(&mutex);
    free(value);
}

static int work(void *number)
{
    int *mine = malloc(sizeof *mine);
    *mine = *(int *)number;
    tss_set(storage, mine);
    mtx_lock(&mutex);
    while (!ready) cnd_wait(&condition, &mutex);
    counter += *mine;
    mtx_unlock(&mutex);
    if (*mine == 2) thrd_exit(20);
    return *mine;
}

static void *detached(void *unused)
{
    int *mine = malloc(sizeof *mine);
    *mine = 100;
    pthread_setspecific(key, mine);
    if (unused) pthread_detach(pthread_self());
    sem_post(&gone);
    return NULL;
}

static void try_mutexes(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    t.tv_nsec = t.tv_nsec + 10000000 < 1000000000 ? t.tv_nsec + 10000000 : t.tv_nsec;
    printf("%d %d\n", mtx_trylock(&timed) == thrd_success,
           mtx_timedlock(&recursive, &t) == thrd_success);
    printf("%d\n", mtx_lock(&recursive) == thrd_success);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    mtx_lock(&mutex);
    printf("%d\n", cnd_timedwait(&condition, &mutex, &t) == thrd_timedout);
    mtx_unlock(&mutex);
    mtx_unlock(&timed);
}

int main(void)
{
    thrd_t threads[2];
    pthread_t one;
    pthread_attr_t attributes;
    int numbers[] = {1, 2}, results[2];
    mtx_init(&mutex, mtx_plain);
    mtx_init(&timed, mtx_timed);
    mtx_init(&recursive, mtx_timed | mtx_recursive);
    cnd_init(&condition);
    tss_create(&storage, destroy);
    pthread_key_create(&key, free);
    sem_init(&gone, 0, 0);
    try_mutexes();
    for (int i = 0; i < 2; i++) thrd_create(&threads[i], work, &numbers[i]);
    mtx_lock(&mutex);
    ready = 1;
    cnd_broadcast(&condition);
    mtx_unlock(&mutex);
    thrd_yield();
    for (int i = 0; i < 2; i++) thrd_join(threads[i], &results[i]);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&one, &attributes, detached, NULL);
    pthread_create(&one, NULL, detached, &one);
    sem_wait(&gone);
    sem_wait(&gone);
    thrd_create(&threads[0], work, &numbers[0]);
    thrd_detach(threads[0]);
    for (int n = 0; n < 4;) {
        mtx_lock(&mutex);
        n = counter;
        mtx_unlock(&mutex);
        thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    printf("%d %d %d\n", results[0], results[1], thrd_equal(thrd_current(), thrd_current()) != 0);
    mtx_lock(&mutex);
    printf("%d %d\n", counter, destroyed >= 3);
    mtx_unlock(&mutex);
    return 0;
}
