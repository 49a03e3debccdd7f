/* A worker tells that it has finished while it still holds the lock; who waits for that destroys
 * the lock, and frees what it lies in, before the worker unlocks it. The corrected one tells it
 * last. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct counter {
    pthread_mutex_t lock;
    int n;
};

static struct counter *counter;
static atomic_int finished;

static void *count(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&counter->lock);
        counter->n++;
#ifndef FIXED
        if (i == 2) atomic_store(&finished, 1);
#endif
        pthread_mutex_unlock(&counter->lock);
    }
#ifdef FIXED
    atomic_store(&finished, 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t worker;
    counter = malloc(sizeof *counter);
    pthread_mutex_init(&counter->lock, NULL);
    counter->n = 0;
    pthread_create(&worker, NULL, count, NULL);
    while (!atomic_load(&finished)) sched_yield();
    int n = counter->n;
    pthread_mutex_destroy(&counter->lock);
    free(counter);
    pthread_join(worker, NULL);
    return n != 3;
}
