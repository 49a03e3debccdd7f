/* The owner frees, after a time that always was enough, what only its worker ever touched. FIXED:
 * it waits for the worker. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct counter {
    pthread_mutex_t lock;
    int value;
} counter;

static void *count(void *argument)
{
    counter *mine = argument;
    pthread_mutex_lock(&mine->lock);
    mine->value++;
    pthread_mutex_unlock(&mine->lock);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    counter *of_worker = calloc(1, sizeof *of_worker);
    pthread_mutex_init(&of_worker->lock, NULL);
    pthread_create(&worker, NULL, count, of_worker);
#ifdef FIXED
    pthread_join(worker, NULL);
#else
    usleep(20000);
#endif
    pthread_mutex_destroy(&of_worker->lock);
    free(of_worker);
#ifndef FIXED
    pthread_join(worker, NULL);
#endif
    return 0;
}
