/* One thread reads x, the other writes it, both under a lock: what is computed from the reads
 * depends on the schedule, and nothing else does. */
#ifndef FT_QUIET_READ_X_H
#define FT_QUIET_READ_X_H

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x = 1;

static int read_x(void)
{
    pthread_mutex_lock(&lock);
    int seen = x;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *write_x(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 5;
    pthread_mutex_unlock(&lock);
    return unused;
}

static int run_beside_write(void *(*reader)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, write_x, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}

#endif
