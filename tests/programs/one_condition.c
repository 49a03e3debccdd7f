/* A bounded buffer whose producers and consumers share one condition variable and signal: the
 * signal may wake the wrong one. FIXED: broadcast. */
#include <pthread.h>

enum { ROOM = 1, EACH = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count;

static void tell(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void *produce(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (count == ROOM) pthread_cond_wait(&changed, &lock);
        count++;
        tell();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0) pthread_cond_wait(&changed, &lock);
        count--;
        tell();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i < 2 ? consume : produce, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
