/* Two threads with SECTIONS sections of one lock each. */
#include <pthread.h>

#ifndef SECTIONS
#define SECTIONS 5
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *run(void *unused)
{
    (void)unused;
    for (int i = 0; i < SECTIONS; i++) {
        pthread_mutex_lock(&lock);
        done++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return done != 2 * SECTIONS;
}
