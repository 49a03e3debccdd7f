/* Two threads count in memory of their own and add up under a lock: a tight loop over few cells. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 1000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, mine[2][8];
static long batches;

static void *count(void *argument)
{
    long *own = argument;
    for (long b = 0; b < batches; b++) {
        for (long i = 0; i < BATCH; i++) *own = *own + 1;
        pthread_mutex_lock(&lock);
        total += BATCH;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    batches = (argc > 1 ? strtol(argv[1], NULL, 10) : 20000000) / BATCH / 2;
    for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, count, mine[t]);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    printf("%ld\n", total - mine[0][0] - mine[1][0]);
    return total != mine[0][0] + mine[1][0];
}
