/* A queue with room for one: a producer and two consumers, who wait for conditions. */
#include <pthread.h>

enum { CONSUMERS = 2, ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int held, taken;

static void *consume(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!held) pthread_cond_wait(&changed, &lock);
    held = 0;
    taken++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++) pthread_create(&threads[i], NULL, consume, NULL);
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (held) pthread_cond_wait(&changed, &lock);
        held = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < CONSUMERS; i++) pthread_join(threads[i], NULL);
    return taken != ITEMS;
}
