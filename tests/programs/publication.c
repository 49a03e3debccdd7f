/* The pointer is published before what it points to is written. FIXED: after, and under a lock. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *config;
static int used;

static void *reader(void *unused)
{
    pthread_mutex_lock(&lock);
    int *mine = config;
    pthread_mutex_unlock(&lock);
    if (mine) used = *mine;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    int *made = malloc(sizeof *made);
#ifdef FIXED
    *made = 42;
#endif
    pthread_mutex_lock(&lock);
    config = made;
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    *made = 42;
#endif
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    used += *config;
    pthread_mutex_unlock(&lock);
    free(made);
    return 0;
}
