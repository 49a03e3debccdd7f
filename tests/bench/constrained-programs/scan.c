/* The first thread puts chunks into a queue, two others take and scan them. */
#include "work.h"

enum { CHUNKS = 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int queued, taken;
static unsigned long found[2];

static void *scan(void *number)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (queued == taken && taken < CHUNKS) pthread_cond_wait(&some, &lock);
        int mine = taken < CHUNKS ? taken++ : -1;
        pthread_mutex_unlock(&lock);
        if (mine < 0) return 0;
        found[(long)number] += work((unsigned long)mine);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    read_rounds(argc, argv);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, scan, (void *)i);
    for (int i = 0; i < CHUNKS; i++) {
        pthread_mutex_lock(&lock);
        queued++;
        pthread_cond_broadcast(&some);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
