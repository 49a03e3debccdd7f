/* A number from standard input is added twice, and an update may be lost: exit code 1. With -DFIXED
 * it is not. With an argument a thread reads the number, else main does before there are threads.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total, added;

static void *add(void *unused)
{
    pthread_mutex_lock(&m);
    int seen = total;
#ifndef FIXED
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
#endif
    total = seen + added;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *ask(void *unused)
{
    if (scanf("%d", &added) != 1) added = 0;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2], asking;
    (void)argv;
    if (argc > 1) {
        pthread_create(&asking, NULL, ask, NULL);
        pthread_join(asking, NULL);
    } else {
        ask(NULL);
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return total != 2 * added;
}
