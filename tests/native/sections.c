/* usage: sections THREADS SECTIONS: each thread has so many sections of one lock; (nk)!/(k!)^n. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sections;

static void *run(void *unused)
{
    (void)unused;
    for (int i = 0; i < sections; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2;
    sections = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    return 0;
}
