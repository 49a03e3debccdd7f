/* One cell that two threads count in under a lock, an access at a time: everything is shared. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static long rounds;

static void *count(void *unused)
{
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        for (int k = 0; k < 10; k++) total = total + 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    rounds = (argc > 1 ? strtol(argv[1], NULL, 10) : 100000) / 2;
    for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, count, NULL);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    printf("%ld\n", total);
    return total != 20 * rounds;
}
